# SPDX-License-Identifier: GPL-2.0
"""b4-check: presubmit as b4 calls its check commands."""
from __future__ import annotations

import argparse
import sys

from ...base.errors import GOOD
from ...presubmit.b4 import Asked, answer, only_answer
from .. import options
from ..options import option, request_of
from ..verb import Verb, statuses
from .presubmit import NO_SANDBOX, OUT, QUICKLY


def b4_check(args: argparse.Namespace) -> int:
    """Check the mail on stdin; only the answer goes to stdout, and nothing to stderr."""
    asked = Asked(request_of(args), args.series, args.lines, args.quick, not args.no_sandbox)
    with only_answer() as give:
        give(answer(asked, sys.stdin.buffer))
    return GOOD


VERB = Verb("b4-check", b4_check, "check the patch mail on stdin, as b4 calls its check commands",
            (*options.kernel(OUT), *options.CASES,
             option("--series", make="SERIES", action="store_true",
                    help="check the whole series, for b4.review-series-check-cmd"),
             option("--lines", make="LINES", action="store_true",
                    help="print a line for each finding, not JSON, for b4.prep-perpatch-check-cmd and "
                         "b4.am-perpatch-check-cmd"),
             QUICKLY, NO_SANDBOX),
            statuses("the answer is printed, whatever the findings", unbuilt=""))
