# SPDX-License-Identifier: GPL-2.0
"""coverage and covers: how much of the swap code the suites reach, and which tests reach a line."""
from __future__ import annotations

import argparse
import shlex
import shutil
from pathlib import Path

from ...base import deps, toolchain
from ...base.errors import FAILED, GOOD, STOPPED, SwapKunitError
from ...base.kernel import examine
from ...base.layout import default_out
from ...base.text import relative
from ...coverage import covers, figures, floors, lcov
from ...coverage.counters import BOOT, Counts, Tools, tools_for
from ...coverage.measure import measure, run_counting
from ...coverage.places import FRAGMENT, Places, counter_directory, forget
from ...run.session import Request, Session, open_session
from ...run.verdict import verdict
from ...source import kernels
from .. import options
from ..options import option, request_of
from ..verb import Verb, statuses


def count(args: argparse.Namespace) -> int:
    """Build with counters, run, report."""
    if toolchain.is_clang(args.make_option):
        raise SwapKunitError(f"cannot count coverage with {toolchain.compiler(args.make_option)}: the counters are "
                             "those of gcc's libgcov (CONFIG_SWAP_KUNIT_COVERAGE depends on CC_IS_GCC); leave out "
                             "LLVM= and CC=, or give a gcc with CC=")
    request = request_of(args)
    standard = is_standard(request)
    request.config = with_fragment(request.config)
    request.check()
    deps.require(deps.COVERAGE)
    tools = installed_tools(args)
    session = open_session(request)
    places = Places(session.layout.out / "coverage")
    session.announce()
    with session.layout.lock(), counter_directory(places) as raw:
        session.build_kernel()
        forget(places)
        results = run_counting(session, raw)
        report = session.make_report(results)
        print(verdict(session, results, report), flush=True)
        if results.interrupted:
            return STOPPED
        total = measure(session, places, raw, tools)
    if args.uncovered:
        print(f"\n{figures.uncovered(total, session.kernel.path)}")
    latest = lcov.LATEST if lcov.point_latest(places.html) else places.html
    print(f"\n{figures.table(total)}\n\n"
          f"pages      {relative(latest / 'index.html')} (the tooltip of a line number names its suites)\n"
          f"lcov       {relative(places.info)}\n"
          f"JSON       {relative(places.json)}\n"
          "which tests reach a line: swap-kunit covers mm/swapfile.c:LINE (make covers LINE=...)", flush=True)
    if standard:
        status = check_floors(session, total, args.raise_floors)
    else:
        print("floors     not checked: they apply to all suites in the standard configuration")
        status = FAILED if args.raise_floors else GOOD
    return FAILED if report.count("failed") else status


def installed_tools(args: argparse.Namespace) -> Tools:
    """The gcov and gcov-tool of the compiler. Raises SwapKunitError if one is missing."""
    tools = tools_for(args.make_option)
    for tool in (tools.gcov, tools.gcov_tool):
        if shutil.which(tool) is None:
            raise SwapKunitError(f"cannot read coverage counters: {tool}, which belongs to the compiler, is "
                                 "missing; install the package of that compiler, or leave out CC=")
    return tools


def with_fragment(config: list[str]) -> list[str]:
    """config, with the coverage fragment added if necessary."""
    return config if FRAGMENT in config else [*config, FRAGMENT]


def is_standard(request: Request) -> bool:
    """Whether all suites run in the configuration that the floors apply to."""
    return not (request.filters or request.kunitconfig or request.kernel_args
                or request.policies or set(request.config) - {FRAGMENT})


def check_floors(session: Session, total: Counts, lift: bool) -> int:
    """Compare with coverage/floor.json; lift: raise its floors. Returns the exit status."""
    series = session.kernel.series
    reached = {name: figures.ratios(counts)[0].percent for name, counts in total.items()}
    known = floors.load()
    found = floors.below(known, series, reached)
    for text in found:
        print(f"below      {text}")
    if lift:
        rose = floors.raise_floors(known, series, reached)
        if rose:
            floors.save(known)
        print("\n".join(f"raised     {text}" for text in rose) or "floors     none can be raised")
    elif not found:
        print(f"floors     no file is below its floor ({relative(floors.FLOORS)})" if series in known else
              f"floors     {relative(floors.FLOORS)} has none for Linux {series}; --raise (make: RAISE=1) sets them")
    return FAILED if found else GOOD


# -- covers ------------------------------------------------------------------


def look_up(args: argparse.Namespace) -> int:
    """Print the tests that reach a line in the last coverage run; FAILED if none does."""
    how = coverage_command(args)
    run = covers.open_run(Places(out_of(args, how) / "coverage"), how)
    place = covers.parse_place(args.place, run.report)
    found = covers.index(run, place.file, installed_tools(args), args.jobs)
    result = covers.answer(run, found, place)
    if run.report.get("filters"):
        result.notes.append(f"the last coverage run was limited to {','.join(run.report['filters'])}; "
                            f"for all tests: {how}")
    if edited_since(run, place.file):
        result.notes.append(f"{place.file} was edited after the coverage run; line numbers refer to the "
                            f"old version; to update them: {how}")
    print(covers.render(result, sum(case != BOOT for case in found.cases)))
    return GOOD if any(case != BOOT for case, *_ in result.reached) else FAILED


def edited_since(run: covers.Run, name: str) -> bool:
    """Whether the user's file is newer than the run."""
    try:
        return (run.source / name).stat().st_mtime > run.places.json.stat().st_mtime
    except OSError:
        return False


def out_of(args: argparse.Namespace, how: str) -> Path:
    """The output directory of `coverage` with the same options; fetches nothing."""
    if args.out is not None:
        return Path(args.out).absolute()
    config = with_fragment(args.config)
    if args.ksrc is not None:
        return default_out(examine(args.ksrc), config, args.policy)
    asked = args.kernel or kernels.known_kernels().default
    here = next((entry for entry in kernels.cached() if kernels.matches(asked, entry.debian_version)), None)
    if here is None:
        raise SwapKunitError(f"cannot tell which tests reach a line: Linux {asked} was never fetched, so "
                             f"there is no coverage run of it; make one with: {how}")
    return default_out(here.kernel(), config, args.policy)


def coverage_command(args: argparse.Namespace) -> str:
    """The `coverage` command with the same options."""
    given = {"ksrc": args.ksrc, "kernel": args.kernel, "config": ",".join(args.config),
             "policy": ",".join(args.policy), "out": args.out}
    words = ["./swap-kunit", "coverage", *(word for name, value in given.items() if value
                                           for word in (f"--{name}", str(value)))]
    variables = [f"{'O' if name == 'out' else name.upper()}={shlex.quote(str(value))}"
                 for name, value in given.items() if value]
    return f"{shlex.join(words)} ({' '.join(['make coverage', *variables])})"


VERBS = (
    Verb("coverage", count, "run the suites with coverage counters, and report which swap code they reach",
         (*options.kernel(), *options.RUN,
          option("--uncovered", make="UNCOVERED", action="store_true",
                 help="print the lines that no case reaches, by function"),
          option("--raise", make="RAISE", dest="raise_floors", action="store_true",
                 help="raise the floors in coverage/floor.json to just below what is reached")),
         statuses("all cases passed, and no file is below its floor",
                  "a case failed, crashed or hung, or a file is below its floor")),
    Verb("covers", look_up, "print the tests that reached a line in the last coverage run",
         (*options.kernel(),
          option("place", make="LINE", metavar="FILE:LINE", help="such as mm/swapfile.c:1137, or FILE:FUNCTION")),
         statuses("a test reaches the line", "no test reaches it", unbuilt="")),
)
