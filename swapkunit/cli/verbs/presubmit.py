# SPDX-License-Identifier: GPL-2.0
"""presubmit: check a patch series before it is posted."""
from __future__ import annotations

import argparse
import glob
import os
import shlex
from pathlib import Path

from ...base.errors import SwapKunitError
from ...base.text import relative
from ...lab import experiment as experiments
from ...presubmit import report as reports
from ...presubmit.check import check
from ...presubmit.request import FULL, QUICK, CheckRequest
from .. import options
from ..options import comma_list, given, option, request_of
from ..verb import Verb, statuses

OUT = "out/KERNEL/presubmit"
FAIL_ON = {name.lower(): weight for weight, name in reports.WEIGHTS.items()}


def presubmit(args: argparse.Namespace) -> int:
    """Check a series and print the report."""
    report = check(check_request_of(args))
    print(f"\n{reports.text(report)}", end="")
    for name in ("report.txt", "report.html", "report.json", "junit.xml"):
        print(f"{name if name != 'junit.xml' else 'junit':<12} {relative(report.out / name)}")
    failed = [name for patch in report.patches for step in patch.steps for name in step.data.get("failed", ())]
    if failed:
        print(f"again        {args.again(failed)}")
    print(f"time         {report.seconds:.0f} s")
    print(report.totals())
    return report.exit_code


def is_range(word: str) -> bool:
    """Whether an argument is base..tip, not a file."""
    return ".." in word and ".." not in word.split("/") and not Path(word).exists()


def check_request_of(args: argparse.Namespace) -> CheckRequest:
    """The CheckRequest in the verb's arguments. Raises SwapKunitError for contradictions."""
    ranges = [word for word in args.patches if is_range(word)]
    files = [Path(word) for word in args.patches if word not in ranges]
    if args.range:
        ranges.append(args.range)
    if len(ranges) > 1 or (ranges and files):
        raise SwapKunitError(f"cannot check {' and '.join(args.patches)} together: give one range base..tip, or files")
    if ranges and args.ksrc is None:
        raise SwapKunitError(f"cannot check {ranges[0]}: a range needs a git tree, and none was given; give it "
                             "with --ksrc (make: KSRC=)")
    depth = QUICK if args.quick else FULL if args.full else "default"
    return CheckRequest(request_of(args), files, ranges[0] if ranges else "", None, args.configs, depth,
                        args.partial, not args.no_sandbox, fail_on=FAIL_ON[args.fail_on],
                        whole=args.long, lab=[experiments.load(name) for name in args.lab])


def patch_words(_name: str, value: str) -> list[str]:
    """Split PATCHES as a shell does: quotes, ~, patterns; a file of that very name is one word."""
    if Path(value).expanduser().exists():
        return [os.path.expanduser(value)]
    try:
        words = [os.path.expanduser(word) for word in shlex.split(value)]
    except ValueError as error:
        raise SwapKunitError(f"cannot split PATCHES={value} into file names: {error}; quote names with special "
                             "characters as for a shell") from error
    return [found for word in words for found in sorted(glob.glob(word)) or [word]]


NO_SANDBOX = option("--no-sandbox", make="SANDBOX", action="store_true",
                    words=lambda _name, value: ["--no-sandbox"] if value == "0" else [],
                    help="build and run the patches with your own rights")
QUICKLY = option("--quick", make="QUICK", action="store_true",
                 help="run only the steps applies, checkpatch, build, suites, reports and decisions")
VERB = Verb("presubmit", presubmit, "check a patch series before it is posted, patch by patch, in a sandbox",
            (*options.kernel(OUT), *options.CASES,
             option("patches", make="PATCHES", nargs="*", metavar="FILE", type=given, words=patch_words,
                    help="saved mails, mboxes, saved archive pages, patches from git format-patch, or directories of "
                         "them. Or BASE..TIP, as with --range"),
             option("--range", make="RANGE", metavar="BASE..TIP", type=given,
                    help="commits of the git tree --ksrc; none of them needs to be checked out"),
             option("--configs", make="CONFIGS", metavar="A,B", default=[], type=comma_list,
                    help="also run the suites with these fragments, such as kasan,lockdep"),
             option("--lab", make="LAB", metavar="A,B", default=[], type=comma_list, names=experiments.known,
                    help="also compare the base and the series in these experiments of the verb lab, or .toml files"),
             option("--partial", make="PARTIAL", action="store_true",
                    help="check the series even if some of its patches are missing"),
             option("--fail-on", make="FAIL_ON", choices=list(FAIL_ON), default="warning",
                    help="the least weight of a finding with which the status is 1 (default: warning)"),
             option("--long", make="LONG", action="store_true", help="leave nothing out of report.txt"),
             NO_SANDBOX),
            statuses("no finding weighs as much as --fail-on", "one does",
                     "the base does not build, or does not reach the first case"),
            exclusive=(QUICKLY,
                       option("--full", make="FULL", action="store_true",
                              help="also run the suites with debug_vm, lockdep and kasan")))
