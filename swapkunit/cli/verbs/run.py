# SPDX-License-Identifier: GPL-2.0
"""run, build and list."""
from __future__ import annotations

import argparse
import contextlib
import sys

from ...base.errors import FAILED, GOOD, STOPPED
from ...base.text import relative
from ...build import compile_commands
from ...build.fit import left_out
from ...run.runner import select
from ...run.session import open_session
from ...run.verdict import verdict
from .. import options
from ..options import option, request_of
from ..verb import Verb, statuses


def run(args: argparse.Namespace) -> int:
    """Build, run, report."""
    session = open_session(request_of(args))
    session.announce()
    with session.layout.lock():
        session.build_kernel()
        results = session.run_suites()
        report = session.make_report(results)
        failed = [test.name for test in report.tests if test.failed
                  and any(test.suite == suite.name for suite in results.suites)]
        print(verdict(session, results, report, args.again(failed) if failed else ""), flush=True)
    if results.interrupted:
        return STOPPED
    incomplete = args.complete and report.left_out.misfits
    return FAILED if report.count("failed") or incomplete else GOOD


def build(args: argparse.Namespace) -> int:
    """Build the kernel."""
    session = open_session(request_of(args))
    session.announce()
    with session.layout.lock():
        session.build_kernel()
        if args.compile_commands:
            where = relative(compile_commands.write(session.layout).parent)
            print(f"compile_commands.json is in {where}: clangd --compile-commands-dir={where}")
    print(f"built {session.layout.vmlinux} ({session.stages.line()})")
    return GOOD


def print_cases(args: argparse.Namespace) -> int:
    """Build the kernel if necessary, and print the cases."""
    with contextlib.redirect_stdout(sys.stderr):    # only the cases go to stdout
        session = open_session(request_of(args))
        with session.layout.lock():
            session.build_kernel()
            cases = session.list_cases()
    print("\n".join(select(cases, args.filter, left_out(session.layout))))
    return GOOD


VERBS = (
    Verb("run", run, "build a kernel, run the suites, and report the results",
         (*options.kernel(), *options.RUN,
          option("--complete", make="COMPLETE", action="store_true",
                 help="fail if a case cannot be built on this tree")),
         statuses("all cases passed", "a case failed, crashed or hung, or could not be built, with --complete")),
    Verb("build", build, "build the kernel only",
         (*options.kernel(),
          option("--compile-commands", make="COMPILE_COMMANDS", action="store_true",
                 help="also write compile_commands.json, for clangd, into the output directory")),
         statuses("the kernel is built")),
    Verb("list", print_cases, "print all cases as suite.case", (*options.kernel(), *options.CASES),
         statuses("the cases are printed")),
)
