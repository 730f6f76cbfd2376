# SPDX-License-Identifier: GPL-2.0
"""mutate: which wrong versions of the swap code no suite notices."""
from __future__ import annotations

import argparse

from ...base import deps, git
from ...base.errors import FAILED, GOOD, STOPPED, SwapKunitError
from ...base.text import relative
from ...mutate import kernel, report as reports
from ...mutate.campaign import MOVED, SURVIVED
from ...mutate.choice import Choice, changed_by_patches, changed_in_range
from ...mutate.mutate import mutate as judge
from ...run.session import open_session
from .. import options
from ..options import given, given_list, option, positive, request_of
from ..verb import Verb, statuses
from .presubmit import is_range, patch_words


def mutate(args: argparse.Namespace) -> int:
    """Build the kernel with all mutants, try the chosen ones, report."""
    request = request_of(args)
    if kernel.FRAGMENT not in request.config:
        request.config = [*request.config, kernel.FRAGMENT]
    ranges = [word for word in [*args.patches, *([args.range] if args.range else [])] if is_range(word)]
    request.patches = [options.path(word) for word in args.patches if word not in ranges]
    if len(ranges) > 1 or ranges and (request.patches or args.ksrc is None):
        raise SwapKunitError(f"cannot mutate {ranges[0]}: give one range of commits and its git tree with --ksrc "
                             "(make: KSRC=), and no patches beside it")
    if args.range and not is_range(args.range):
        raise SwapKunitError(f"cannot mutate {args.range}: --range (make: RANGE=) takes BASE..TIP")
    for commit in (one or "HEAD" for word in ranges for one in word.split("..")):
        if not git.bytes_of(args.ksrc, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"):
            raise SwapKunitError(f"cannot mutate {ranges[0]}: there is no commit {commit} in {args.ksrc}; give a git "
                                 "tree with it, or the series as patches")
    request.check()
    session = open_session(request)
    Choice(args.file, args.functions).check(session.kernel.path, request.patches)
    deps.require({**deps.MUTANTS, **deps.PAGES})
    session.announce()
    with session.layout.lock():
        patched = bool(request.patches)
        built = kernel.make(session)
        lines = changed_in_range(session.kernel.path, ranges[0], built.texts) if ranges else \
            changed_by_patches(session.kernel.path, built.texts) if patched else None
        choice = Choice(args.file, args.functions, lines, args.sample, args.seed)
        report, complete = judge(session, built, choice)
        places = session.layout.out / kernel.FRAGMENT
        reports.write(report, places, built.texts)
    print(f"\n{reports.table(report, lambda mutant: mutant.file)}")
    left_out = ", ".join(f"{reason} {number}" for reason, number in sorted(report.left_out.items()) if number)
    print(f"\nleft out   {left_out}")
    if args.gaps:
        print(f"\n{reports.gaps(report)}")
    if report.seconds:
        print(f"time       {session.stages.line()} ({report.umls} UMLs)")
    print(f"pages      {relative(places / 'mutants.html')}\nJSON       {relative(places / 'mutants.json')}")
    if not complete:
        print(f"stopped    before the end: {report.untried} mutants not tried; run it again to go on")
    print(report.closing_line(), flush=True)
    return STOPPED if not complete else FAILED if report.of(SURVIVED, MOVED) else GOOD


VERB = Verb("mutate", mutate, "change the swap code in many small ways, and report which no suite notices",
            (*options.kernel("out/KERNEL/CONFIG+mutants"),
             option("patches", make="PATCHES", nargs="*", metavar="FILE", type=given, words=patch_words,
                    help="patches to apply first; then only the lines that they change are mutated. Or BASE..TIP, as "
                         "with --range"),
             option("--range", make="RANGE", metavar="BASE..TIP", type=given,
                    help="commits of the git tree --ksrc, which has TIP checked out; only the lines that they change "
                         "are mutated"),
             option("--file", make="FILE", metavar="A,B", default=[], type=given_list,
                    help="only these files, such as swapfile.c"),
             option("--function", make="FUNCTION", dest="functions", metavar="A,B", default=[],
                    type=given_list, help="only these functions; globs work"),
             option("--sample", make="SAMPLE", metavar="N", type=positive, default=0,
                    help="try only N mutants, drawn at random"),
             option("--seed", make="SEED", metavar="N", type=positive, default=1, help="seed of the sample; default 1"),
             option("--gaps", make="GAPS", action="store_true",
                    help="print the survivors by function, with the cases that reach them")),
            statuses("every mutant that is reached is noticed", "some are not, or a case fails without a mutant"))
