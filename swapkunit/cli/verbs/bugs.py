# SPDX-License-Identifier: GPL-2.0
"""bugs: do the suites notice the bugs that the swap code had?"""
from __future__ import annotations

from ...run.past_bugs import replay
from .. import options
from ..options import given, option, request_of
from ..verb import Verb, statuses

VERB = Verb("bugs", lambda args: replay(request_of(args), args.title),
            "put past bugs back into a kernel, one at a time, and list which the suites catch",
            (*options.kernel("out/KERNEL/CONFIG+bugs"), *options.CASES,
             option("--title", make="TITLE", metavar="REGEX", default="", type=given,
                    help="only bugs whose title matches")),
            statuses("all bugs were caught", "a bug was missed"))
