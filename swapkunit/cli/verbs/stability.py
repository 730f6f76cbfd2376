# SPDX-License-Identifier: GPL-2.0
"""stability: do several runs of one build give the same?"""
from __future__ import annotations

from ...decisions.stability import stability
from .. import options
from ..options import option, positive, request_of
from ..verb import Verb, statuses

VERB = Verb("stability", lambda args: stability(request_of(args), args.runs),
            "run the suites of one build several times, and list the decisions and results that differ",
            (*options.kernel(), *options.CASES,
             option("--runs", make="RUNS", metavar="N", type=positive, default=5, help="number of runs; default 5")),
            statuses("all runs gave the same", "decisions or results differ between the runs"))
