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
from .presubmit import NO_SANDBOX, OUT


def asked_of(args: argparse.Namespace) -> Asked:
    """What is asked in the verb's arguments."""
    return Asked(request_of(args), args.series, args.lines, args.quick, not args.no_sandbox)


def b4_check(args: argparse.Namespace) -> int:
    """Check the mail on stdin; only the answer goes to stdout, and nothing to stderr."""
    with only_answer() as give:
        give(answer(asked_of(args), sys.stdin.buffer))
    return GOOD


VERB = Verb("b4-check", b4_check, "check the patch mail on stdin, as b4 calls its check commands",
            (*options.kernel(OUT), *options.CASES,
             option("--series", make="SERIES", action="store_true", help="as b4.review-series-check-cmd: the whole series"),
             option("--lines", make="LINES", action="store_true",
                    help="as b4.prep-perpatch-check-cmd or am-perpatch-check-cmd: a line for each finding, no JSON"),
             option("--quick", make="QUICK", action="store_true", help="only the first steps of presubmit"), NO_SANDBOX),
            statuses("the mail was checked; the output has the findings", unbuilt=False))
