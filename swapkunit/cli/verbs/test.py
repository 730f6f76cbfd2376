# SPDX-License-Identifier: GPL-2.0
"""test: the project's own tests, then the suites on one kernel."""
from __future__ import annotations

import argparse
import re
import subprocess
import sys

from ...base import commands
from ...base.errors import FAILED, GOOD
from ...base.layout import REPO
from ..options import option
from ..verb import Verb, statuses


def test(args: argparse.Namespace) -> int:
    """Run both, and print one closing line for both."""
    command = [sys.executable, "-m", "unittest", "discover", "-s", "tests", "-t", "."]
    commands.show(command, REPO)
    # An outer make's variables must not reach the tests that call make themselves.
    done = commands.run(command, cwd=REPO, env=commands.kernel_environment())
    print(done.output, end="", flush=True)
    totals, own_status = unittest_counts(done.output), FAILED if done.status else GOOD
    run_command = [str(REPO / "swap-kunit"), "run", "--complete", *args.run_args]
    commands.show(run_command)
    suites = subprocess.run(run_command, stdout=subprocess.PIPE, text=True, errors="replace", check=False)
    print(suites.stdout, end="", flush=True)
    lines = suites.stdout.splitlines()
    counts = closing_counts(lines[-1] if lines else "")
    if counts is None:
        print("swap-kunit: the suites printed no closing line; see above", file=sys.stderr)
        counts = [0, 1, 0]
    print(f"own tests: {', '.join(map(str, totals))} passed, failed, skipped; suites: {lines[-1:]}")
    passed, failed, skipped = (ours + theirs for ours, theirs in zip(totals, counts))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return suites.returncode or own_status


def unittest_counts(output: str) -> list[int]:
    """[passed, failed, skipped] from the end of the output of `python3 -m unittest`."""
    ran = re.search(r"^Ran (\d+) tests?", output, re.M)
    number = {name: int(count) for name, count in
              re.findall(r"(failures|errors|skipped|unexpected successes)=(\d+)", output.rpartition("\n\n")[2])}
    if not ran:
        return [0, 1, 0]
    failed = sum(number.get(name, 0) for name in ("failures", "errors", "unexpected successes"))
    skipped = number.get("skipped", 0)
    return [max(int(ran[1]) - failed - skipped, 0), failed, skipped]


def closing_counts(line: str) -> list[int] | None:
    """The three numbers of a closing line; None if it is not one."""
    found = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", line)
    return [int(number) for number in found.groups()] if found else None


VERB = Verb("test", test, "run this project's own tests, then the suites on one kernel",
            (option("run_args", nargs=argparse.REMAINDER, metavar="-- RUN OPTION",
                    help="options for running the suites"),),
            statuses("all tests and cases passed", "a test or a case failed, crashed or hung"), passes_to="run")
