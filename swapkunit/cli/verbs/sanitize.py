# SPDX-License-Identifier: GPL-2.0
"""sanitize: the suites under each of the kernel's sanitizers."""
from __future__ import annotations

from ...run.sanitize import SANITIZERS, sanitize
from .. import options
from ..options import comma_list, option, request_of
from ..verb import Verb, statuses
from .matrix import OUT, TREE, kernels

VERB = Verb("sanitize", lambda args: sanitize(request_of(args), args.kernels, args.sanitizer, args.turn),
            "run the suites under each sanitizer of the kernel",
            (*options.BUILD, *options.CASES, options.CONFIG,
             option("--sanitizer", make="SANITIZER", metavar="A,B", default=[], type=comma_list,
                    names=lambda: list(SANITIZERS),
                    help="only these, in one kernel if joined with +, as in kasan+ubsan; default: "
                         + ", ".join(SANITIZERS)),
             option("--turn", make="TURN", metavar="N", type=int,
                    help="only one of them, the Nth, counted round and round: for a CI, by the number of commits"),
             kernels("the newest 7.x"), TREE, OUT),
            statuses("no sanitizer reported anything, and all cases passed",
                     "a sanitizer reported something, or a case failed, crashed or hung"))
