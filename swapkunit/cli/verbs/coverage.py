# SPDX-License-Identifier: GPL-2.0
"""The verbs `coverage` and `covers`."""
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
from ...coverage import counters, covers as lookup, floors, lcov, report as figures
from ...coverage.counters import BOOT, Counts, Tools
from ...coverage.measure import measure, run_counting
from ...coverage.report import FRAGMENT, Places
from ...run import session as sessions
from ...run.session import Request, Session
from ...run.verdict import verdict
from ...source import kernels as source
from .. import options
from ..options import option, request_of
from ..verb import Verb, statuses


def coverage(args: argparse.Namespace) -> int:
    """Build with counters, run, say what was reached."""
    if toolchain.is_clang(args.make_option):
        raise SwapKunitError(f"cannot count coverage with {toolchain.compiler(args.make_option)}: it needs gcc "
                             "(CONFIG_SWAP_KUNIT_COVERAGE depends on CC_IS_GCC: the counters are those of "
                             "gcc's libgcov); leave LLVM= and CC= out, or give a gcc with CC=")
    deps.require(deps.COVERAGE)
    tools = tools_of(args)
    request = request_of(args)
    standard = is_standard(request)
    request.config = with_fragment(request.config)
    session = sessions.open_session(request)
    places = Places(session.layout.out / "coverage")
    session.announce()
    with session.layout.lock(), figures.counter_directory(places) as raw:
        sessions.build_kernel(session)
        figures.forget(places)
        results = run_counting(session, raw)
        report = sessions.make_report(session, results)
        print(verdict(session, results, report), flush=True)
        if results.interrupted:
            return STOPPED
        total = measure(session, places, raw, tools)
    if args.uncovered:
        print(f"\n{figures.uncovered(total, session.kernel.path)}")
    print(f"\n{figures.table(total)}\n\n{where(places)}", flush=True)
    status = check_floors(session, total, args.raise_floors) if standard else not_checked(args)
    return FAILED if report.count("failed") else status


def tools_of(args: argparse.Namespace) -> Tools:
    """gcov and gcov-tool of the compiler asked for. Raises SwapKunitError when one is missing."""
    tools = counters.tools_for(args.make_option)
    for tool in (tools.gcov, tools.gcov_tool):
        if shutil.which(tool) is None:
            raise SwapKunitError(f"cannot read coverage counters: there is no {tool}, which belongs to the "
                                 "compiler asked for; install that compiler's package, or leave CC= out")
    return tools


def with_fragment(config: list[str]) -> list[str]:
    """config with the coverage fragment in it."""
    return config if FRAGMENT in config else [*config, FRAGMENT]


def is_standard(request: Request) -> bool:
    """Whether all suites run, in the configuration the floors are meant for."""
    return not (request.filters or request.kunitconfig or request.kernel_args
                or request.policies or set(request.config) - {FRAGMENT})


def where(places: Places) -> str:
    """Where the results lie."""
    latest = lcov.LATEST if lcov.point_latest(places.html) else places.html
    return (f"pages      {relative(latest / 'index.html')} (a line number tells its suites on hovering)\nlcov       {relative(places.info)}\n"
            f"JSON       {relative(places.json)}\n"
            "which tests reach a line: swap-kunit covers mm/swapfile.c:LINE (make covers LINE=...)")


def check_floors(session: Session, total: Counts, lift: bool) -> int:
    """Compare with coverage/floor.json, or lift its floors; the exit status."""
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
        print("\n".join(f"raised     {text}" for text in rose) or "floors     none rises")
    elif not found:
        print(f"floors     all kept ({relative(floors.FLOORS)})" if series in known else
              f"floors     none are set for Linux {series} in {relative(floors.FLOORS)}; --raise sets them")
    return FAILED if found else GOOD


def not_checked(args: argparse.Namespace) -> int:
    """Floors mean all suites in the standard configuration."""
    print("floors     not checked: they are meant for all suites without other options")
    return FAILED if args.raise_floors else GOOD


# -- covers ------------------------------------------------------------------


def covers(args: argparse.Namespace) -> int:
    """Name the tests that reach a line of the last coverage run; FAILED when none does."""
    how = coverage_command(args)
    run = lookup.open_run(Places(out_of(args, how) / "coverage"), how)
    place = lookup.parse_place(args.place, run.report)
    tools = tools_of(args)
    found = lookup.index(run, place.file, tools, args.jobs)
    result = lookup.answer(run, found, place)
    if run.report.get("filters"):
        result.notes.append(f"the last coverage run was of {','.join(run.report['filters'])} only; "
                            f"for all tests: {how}")
    if edited_since(run, place.file):
        result.notes.append(f"{place.file} was edited after the coverage run; line numbers are as they "
                            f"were then; for new ones: {how}")
    print(lookup.render(result, sum(case != BOOT for case in found.cases)))
    return GOOD if any(case != BOOT for case, _ in result.reached) else FAILED


def edited_since(run: lookup.Run, name: str) -> bool:
    """Whether the user's file is younger than the run."""
    try:
        return (run.source / name).stat().st_mtime > run.places.json.stat().st_mtime
    except OSError:
        return False


def out_of(args: argparse.Namespace, how: str) -> Path:
    """The output directory of `coverage` with the same options; nothing is fetched for that."""
    if args.out is not None:
        return args.out.absolute()
    config = with_fragment(args.config)
    if args.ksrc is not None:
        return default_out(examine(args.ksrc), config, args.policy)
    asked = args.kernel or source.known_kernels().default
    here = next((entry for entry in source.cached() if source.matches(asked, entry.debian_version)), None)
    if here is None:
        raise SwapKunitError(f"cannot tell which tests reach a line: Linux {asked} was never fetched, so "
                             f"there is no coverage run of it; make one with: {how}")
    return default_out(here.kernel(), config, args.policy)


def coverage_command(args: argparse.Namespace) -> str:
    """The `coverage` command that goes with the options of `covers`."""
    words = ["./swap-kunit", "coverage"]
    for option, value in (("--ksrc", args.ksrc), ("--kernel", args.kernel),
                          ("--config", ",".join(args.config)), ("--policy", ",".join(args.policy)),
                          ("--out", args.out)):
        words += [option, str(value)] if value else []
    return shlex.join(words)


VERBS = (
    Verb("coverage", coverage, "run the suites with coverage counters, and report which swap code they reach",
         (*options.kernel(), *options.RUN,
          option("--uncovered", make="UNCOVERED", action="store_true",
                 help="print the lines that no case reaches, by function"),
          option("--raise", make="RAISE", dest="raise_floors", action="store_true",
                 help="raise the floors of coverage/floor.json to what is reached")),
         statuses("all cases passed, and every floor is kept", "a case failed, crashed or hung, or a file is below its floor")),
    Verb("covers", covers, "name the tests that reached a line in the last coverage run",
         (*options.kernel(),
          option("place", make="LINE", metavar="FILE:LINE",
                 help="such as mm/swapfile.c:1137, or FILE:FUNCTION")),
         statuses("a test reaches the line", "no test reaches it", unbuilt=False)),
)
