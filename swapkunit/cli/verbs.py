# SPDX-License-Identifier: GPL-2.0
"""What each verb does. A verb is a function of the parsed arguments giving the exit status."""
from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from ..base import commands, layout
from ..coverage import lcov
from ..run import session as sessions
from ..source import kernels as source
from ..base.errors import FAILED, GOOD, STOPPED, SwapKunitError
from ..run.session import Request, Session
from ..run.verdict import asked_for, verdict


def request_of(args: argparse.Namespace) -> Request:
    """The Request in a verb's arguments. Raises SwapKunitError for contradictions."""
    if args.ksrc is not None and args.kernel:
        raise SwapKunitError(f"cannot test both the tree {args.ksrc} and the kernel {args.kernel}: "
                             "--ksrc and --kernel exclude each other; give one of them")
    return Request(ksrc=args.ksrc, kernel=args.kernel, config=args.config or [], policies=args.policy or [],
                   out=args.out,
                   jobs=args.jobs, verbose=args.verbose, kunitconfig=args.kunitconfig,
                   make_options=args.make_option, filters=getattr(args, "filter", None) or [],
                   timeout=getattr(args, "timeout", 60.0),
                   shuffle=getattr(args, "shuffle", None), quiet=getattr(args, "quiet", False),
                   kernel_args=[word for arg in getattr(args, "kernel_arg", []) for word in arg.split()])


def announce(session: Session) -> None:
    """Say which kernel is used."""
    print(f"Linux {session.kernel.version}, {session.kernel.origin}", flush=True)


def run(args: argparse.Namespace) -> int:
    """Build, run, report."""
    session = sessions.open_session(request_of(args))
    announce(session)
    with session.layout.lock():
        sessions.build_kernel(session)
        results = sessions.run_suites(session)
        report = sessions.make_report(session, results)
        print(verdict(session.kernel, asked_for(session.request), session.layout, results, report,
                      session.stages), flush=True)
    if results.interrupted:
        return STOPPED
    return FAILED if report.count("failed") else GOOD


def build(args: argparse.Namespace) -> int:
    """Build only."""
    session = sessions.open_session(request_of(args))
    announce(session)
    with session.layout.lock():
        sessions.build_kernel(session)
    print(f"built {layout.Layout(session.layout.out).vmlinux} ({session.stages.line()})")
    return GOOD


def list_cases(args: argparse.Namespace) -> int:
    """Build when needed, then print suite.case lines."""
    session = sessions.open_session(request_of(args))
    with session.layout.lock():
        sessions.build_kernel(session)
        cases = sessions.list_cases(session)
    from ..run.runner import select
    print("\n".join(select(cases, args.filter or [])))
    return GOOD


def tree(args: argparse.Namespace) -> int:
    """A complete tree for plain kunit.py."""
    session = sessions.open_session(request_of(args))
    from ..build.overlay import MANIFEST, check_tree_path
    target = args.tree.absolute()
    check_tree_path(target)
    if target.exists() and any(target.iterdir()) and not (target / MANIFEST).exists():
        raise SwapKunitError(f"cannot lay a tree in {target}: it has files in it that are not from "
                             "swap-kunit; give a new or empty directory")
    result = sessions.overlay(session, target).sync()
    for note in result.notes:
        print(f"swap-kunit: {note}")
    print(f"{target}: Linux {session.kernel.version} with mm/kunit laid in, "
          f"{result.directories} directories ({result.seconds:.1f} s)")
    print(f"$ cd {target} && ./tools/testing/kunit/kunit.py run --kunitconfig=mm/kunit")
    return GOOD


def fetch(args: argparse.Namespace) -> int:
    """Ask the mirror for the newest version, fetch and unpack it."""
    kernel = source.provide(args.kernel, ask_mirror=True)
    print(f"Linux {kernel.version}, {kernel.origin}: {kernel.path}")
    return GOOD


def clean(args: argparse.Namespace) -> int:
    """Remove output directories, on request the fetched kernels too."""
    targets = [args.out] if args.out else [layout.REPO / "out", layout.cache_dir() / "out"]
    if args.cache:
        targets.append(layout.cache_dir())
    for target in (target for target in targets if target.exists()):
        if args.out and not (target / ".lock").exists():
            raise SwapKunitError(f"cannot clean {target}: it is no output directory of swap-kunit "
                                 "(it has no .lock); remove it yourself if you mean it")
        with contextlib.ExitStack() as held:
            for lock in (*target.glob(".lock"), *target.glob("*/*/.lock")):
                held.enter_context(layout.Layout(lock.parent).lock())
            print(f"removing {target}", flush=True)
            shutil.rmtree(target)
    lcov.drop_latest()
    return GOOD


def test(args: argparse.Namespace) -> int:
    """The project's own tests, then the suites on the default kernel; one closing line."""
    command = [sys.executable, "-m", "unittest", "discover", "-s", "tests", "-t", "."]
    commands.show(command, layout.REPO)
    done = commands.run(command, cwd=layout.REPO, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    print(done.output, end="", flush=True)
    totals, own_status = unittest_counts(done.output), FAILED if done.status else GOOD
    run_command = [str(layout.REPO / "swap-kunit"), "run", *args.run_args]
    commands.show(run_command)
    suites = subprocess.run(run_command, capture_output=False, stdout=subprocess.PIPE, text=True,
                            errors="replace", check=False)
    print(suites.stdout, end="", flush=True)
    lines = suites.stdout.splitlines()
    counts = closing_counts(lines[-1] if lines else "")
    if counts is None:
        print("swap-kunit: the suites gave no closing line; see above", file=sys.stderr)
        counts = [0, 1, 0]
    print(f"own tests: {', '.join(map(str, totals))} passed, failed, skipped; suites: {lines[-1:]}")
    print("{} passed, {} failed, {} skipped".format(*(a + b for a, b in zip(totals, counts))))
    return suites.returncode or own_status


def unittest_counts(output: str) -> list[int]:
    """[passed, failed, skipped] from what `python3 -m unittest` prints last."""
    import re
    ran = re.search(r"^Ran (\d+) tests?", output, re.M)
    number = {name: int(count) for name, count in
              re.findall(r"(failures|errors|skipped|unexpected successes)=(\d+)", output.rpartition("\n\n")[2])}
    if not ran:
        return [0, 1, 0]
    failed = sum(number.get(name, 0) for name in ("failures", "errors", "unexpected successes"))
    skipped = number.get("skipped", 0)
    return [max(int(ran[1]) - failed - skipped, 0), failed, skipped]


def closing_counts(line: str) -> list[int] | None:
    """The three numbers of a closing line; None when it is none."""
    import re
    found = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", line)
    return [int(number) for number in found.groups()] if found else None


def tree_options(parser: argparse.ArgumentParser) -> None:
    """tree's own argument."""
    parser.add_argument("--tree", metavar="DIR", type=Path, required=True,
                        help="where to lay it; a new or empty directory (make: TREE=)")


def fetch_options(parser: argparse.ArgumentParser) -> None:
    """fetch's own argument."""
    parser.add_argument("--kernel", metavar="VERSION", help="such as 7.3 or 6.12; default: newest 7.x")


def clean_options(parser: argparse.ArgumentParser) -> None:
    """clean's own arguments."""
    parser.add_argument("--out", metavar="DIR", type=Path, help="only this output directory (make: O=)")
    parser.add_argument("--cache", action="store_true", help="the fetched kernels as well")


def test_options(parser: argparse.ArgumentParser) -> None:
    """test passes the rest on to run."""
    parser.add_argument("run_args", nargs=argparse.REMAINDER, metavar="-- RUN OPTION",
                        help="options for the run of the suites")


VERBS = {
    "run": (run, ("kernel", "run"), "build a kernel, run the suites, report"),
    "build": (build, ("kernel",), "build the kernel only"),
    "list": (list_cases, ("kernel", "run"), "print the suites' cases as suite.case"),
    "tree": (tree, ("kernel", tree_options), "lay a tree in which plain kunit.py runs the suites"),
    "fetch": (fetch, (fetch_options,), "fetch the newest kernel source of a series from Debian"),
    "test": (test, (test_options,), "run this project's own tests, then the suites"),
    "clean": (clean, (clean_options,), "remove what builds and runs have made"),
}
