# SPDX-License-Identifier: GPL-2.0
"""animate: the decisions of one case as a page to step through."""
from __future__ import annotations

import argparse
import re

from ...base import deps, layout
from ...base.errors import GOOD, SwapKunitError
from ...base.layout import write_whole
from ...base.text import did_you_mean, relative
from ...decisions import animate as pages
from ...decisions.notation import parse_log
from ...run.session import open_session
from .. import options
from ..options import option, request_of
from ..verb import Verb, statuses

NAME = "animate"


def animate(args: argparse.Namespace) -> int:
    """Run one case, and write a page for each of its parameters."""
    request = request_of(args)
    case = args.case.partition("[")[0]
    request.filters, request.quiet = [case], True
    request.check()
    deps.require({**deps.BUILD, **deps.PAGES})
    session = open_session(request)
    with session.layout.lock():
        session.announce()
        session.build_kernel()
        results = session.run_suites()
    if results.interrupted:
        raise KeyboardInterrupt
    found = parse_log("\n".join(results.decisions))
    chosen = [one for name, one in found.items() if args.case in (name, one.case)]
    if not chosen:
        raise SwapKunitError(f"no decisions of {args.case}: {did_you_mean(args.case, found)}the case may be skipped on "
                             "this kernel, or log none; `make list` prints all cases")
    where = layout.default_top() / NAME
    where.mkdir(parents=True, exist_ok=True)
    for one in chosen:
        path = where / f"{re.sub(r'[^a-zA-Z0-9_.-]+', '-', one.name).strip('-')}.html"
        write_whole(path, pages.render(one, session.kernel.version))
        print(f"page     {relative(path)}")
    return GOOD


VERB = Verb(NAME, animate, "make a page that steps through the decisions of one case",
            (*options.kernel(), options.TIMEOUT, options.KERNEL_ARG,
             option("case", make="CASE", metavar="CASE",
                    help="a case such as swap_alloc.some_case, or with a parameter: 'swap_alloc.some_case[zram]'")),
            statuses("there is a page"))
