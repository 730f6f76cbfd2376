# SPDX-License-Identifier: GPL-2.0
"""Run the suites that reach a mutant, one UML each, until one of them notices it."""
from __future__ import annotations

import math
import os
import re
import resource
import selectors
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterable

from ..base import commands, interrupts
from ..base.errors import SwapKunitError
from ..run.console import alike
from ..run.kernel_reports import MARK
from ..run.runner import RunOptions, suite_arguments
from ..run.uml import Uml, kernel_arguments, memory_bytes, memory_directory
from .base import BOOT, Base, failures_of, plain, results_of
from .schemata import GUARD, Mutant

CAUGHT, PANIC, HANG, WARN = "caught", "panic", "hang", "WARN"
MOVED, SURVIVED, UNREACHED, EQUIVALENT = "moved", "survived", "not reached", "equivalent"
NOTICED = (CAUGHT, PANIC, HANG, WARN)
SILENT = 15.0       # seconds without output after which a UML hangs
SLOWEST = 60.0      # the same, if it would go on if the machine let it
QUIET = 1.0         # seconds without output after which a UML may be waiting, and another one starts
MOST_WAITING = 6
CPU = 2             # seconds that a UML may use, besides FACTOR times what its suite takes
FACTOR = 5
RULE = re.compile(r"\b(?:swap )?rule: (.*)$")
FAILED = re.compile(r"(?:EXPECTATION|ASSERTION) FAILED at (\S+)")


@dataclass
class Verdict:
    """What became of a mutant. by: the case; rule: what it says; boots: how many UMLs it took."""

    kind: str
    by: str = ""
    rule: str = ""
    boots: int = 0


@dataclass
class Trial:
    """A mutant under test. left: the globs to run, with their suites; glob: the one that runs."""

    mutant: int
    left: list[tuple[str, str]]
    glob: str = ""
    moved: str = ""
    boots: int = 0
    seen: int = 0       # cases of the running UML that were looked at


def trial_of(mutant: Mutant, base: Base) -> Trial:
    """The suites that reach a mutant, or the one case that does; the most specific first."""
    order = []
    for suite, names in base.cases_of.get(mutant.number, {}).items():
        whole = not base.is_split(suite) and (len(names) > 1 or names[0] == BOOT)
        for glob in [suite] if whole else [name for name in names if name not in (*base.fates, BOOT)]:
            order.append((len(base.reached[suite][names[0] if whole else glob]), glob, suite))
    return Trial(mutant.number, [(glob, suite) for _, glob, suite in sorted(order)])


class Campaign:
    """Runs trials, several UMLs at a time."""

    def __init__(self, binary: Path, options: RunOptions, base: Base):
        self.binary, self.options, self.base = binary, options, base
        self.running: dict[Uml, tuple[Trial, str]] = {}
        self.cases: list[str] = []
        self.umls = 0
        args = kernel_arguments(options.kernel_args)
        self._scratch = memory_directory(memory_bytes(args) * (options.jobs + MOST_WAITING))

    # -- without a mutant ----------------------------------------------------

    def run_base(self, cases: Iterable[str]) -> None:
        """Fill in what the suites of cases, suite.case each, give with no mutant."""
        self.cases = list(cases)
        queue = [Trial(0, [(suite, suite)]) for suite in dict.fromkeys(case.split(".")[0] for case in self.cases)]
        self._loop(queue, self._base_ended, lambda: f"running without mutants: {len(self.base.seconds)} suites")

    def _base_ended(self, uml: Uml, trial: Trial, suite: str, ended_by: str) -> Verdict | None:
        """After a crash or hang, the rest of the suite goes on, each case alone."""
        console = uml.console
        self.base.take(suite, console, uml.lines, time.monotonic() - uml.started)
        if ended_by or console.panic or not console.suite_ended:
            case = f"{suite}.{console.running}" if console.running else trial.glob
            self.base.fates[case] = "hung" if ended_by else "crashed"
            name = f"{case}[{console.parameter}]" if console.parameter else case
            self.base.failed[name] = [ended_by or console.panic or "it ended early"]
            if trial.glob == suite:
                trial.left += [(one, suite) for one in self.cases if one.startswith(f"{suite}.")
                               and one != case and one not in self.base.results]
        return None if trial.left else Verdict(SURVIVED)

    # -- with one ------------------------------------------------------------

    def run(self, trials: list[Trial], done: Callable[[int, Verdict], None], status: Callable[[], str],
            seconds: float = math.inf) -> None:
        """Call done(mutant, verdict) for each trial, until the seconds are over; status(): for the progress line."""
        self._loop(list(trials), self._ended, status, done, time.monotonic() + seconds)

    def _ended(self, uml: Uml, trial: Trial, suite: str, ended_by: str) -> Verdict | None:
        """The verdict after a UML has ended, or None if more are to run."""
        console = uml.console
        if console.started and not any(f"{GUARD}: {trial.mutant} active" in line for line in uml.lines):
            raise SwapKunitError(f"cannot judge mutant {trial.mutant}: the kernel does not say that it is active; "
                                 "remove the output directory and run again")
        place = f"{suite}.{console.running}" if console.running else suite
        if ended_by:
            return Verdict(HANG, place, ended_by.removeprefix("hung: "))
        if uml.process.returncode in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
            return Verdict(HANG, place, "it runs on and on")
        if not console.suite_ended:
            return Verdict(PANIC, place, "the kernel ended without a message")
        if console.suite_failed and not console.done:
            return Verdict(CAUGHT, suite, "the suite does not start")
        moved = self._moved(uml)
        # Alone, a case may decide otherwise than after others.
        if moved and trial.glob != suite and not self.base.is_split(suite):
            trial.left.insert(0, (suite, suite))
        else:
            trial.moved = trial.moved or moved
        if trial.left:
            return None
        return Verdict(MOVED, trial.moved) if trial.moved else Verdict(SURVIVED)

    def _moved(self, uml: Uml) -> str:
        """The first case that decides something else, or is skipped, though nothing failed; or ""."""
        decisions: dict[str, list[str]] = {}
        for line in uml.console.decisions:
            decisions.setdefault(plain(line.split(" ")[0]), []).append(line)
        for case in uml.console.done:
            name = case.full_name
            if name in self.base.unstable:
                continue
            same = all(self.base.results.get(one) == result for one, result in results_of(case).items())
            if not same or decisions.get(name, []) != self.base.decisions.get(name, []):
                return name
        return ""

    def _noticed(self, uml: Uml, trial: Trial) -> Verdict | None:
        """What a UML that is still running has noticed so far."""
        console = uml.console
        new, trial.seen = console.done[trial.seen:], len(console.done)
        for case in new:
            for name, said in failures_of(case).items():
                if name not in self.base.failed:
                    return verdict_on(name, said)
        place = f"{console.suite}.{console.running}" if console.running else console.suite or BOOT
        if console.panic:
            return Verdict(PANIC, place, console.panic)
        report = next((line for line in console.reports if alike(line) not in self.base.reports), "")
        return Verdict(WARN, place, report) if report else None

    # -- UMLs ----------------------------------------------------------------

    def _loop(self, queue: list[Trial], ended: Callable[[Uml, Trial, str, str], Verdict | None],
              status: Callable[[], str], done: Callable[[int, Verdict], None] = lambda *_: None,
              until: float = math.inf) -> None:
        """Run the UMLs of all trials; no UML is left running."""
        with selectors.DefaultSelector() as selector:
            try:
                while (queue or self.running) and time.monotonic() < until:
                    while queue and self._room():
                        selector.register(self._start(queue.pop(0)), selectors.EVENT_READ)
                    # A UML that has ended may leave a child that keeps its console open.
                    gone = {uml for uml in self.running if uml.process.poll() is not None}
                    ready = {key.fileobj for key, _ in selector.select(0.1)}
                    for uml, (trial, suite) in list(self.running.items()):
                        over, why = self._look(uml, uml in ready, uml in gone)
                        verdict = self._noticed(uml, trial) if trial.mutant else None
                        if not verdict and not over:
                            continue
                        selector.unregister(uml)
                        self._close(uml)
                        verdict = verdict or ended(uml, trial, suite, why)
                        if verdict is None:
                            queue.insert(0, trial)
                        else:
                            verdict.boots = trial.boots
                            done(trial.mutant, verdict)
                    commands.status_line(status())
            finally:
                commands.status_line("")
                for uml in list(self.running):
                    self._close(uml)

    def _room(self) -> bool:
        now = time.monotonic()
        working = sum(now - uml.spoke < QUIET for uml in self.running)
        return working < self.options.jobs and len(self.running) < self.options.jobs + MOST_WAITING

    @staticmethod
    def _look(uml: Uml, ready: bool, gone: bool) -> tuple[bool, str]:
        """Read; whether the UML is over, and why it must be killed if so."""
        if gone and not ready or ready and not uml.read():
            return True, ""
        why = uml.stuck(SILENT)
        if why and time.monotonic() - uml.spoke < SLOWEST and runs(uml.process.pid):
            return False, ""        # a loaded machine, or a loop that its limit of CPU time ends
        return bool(why), "" if why == "panic" else why

    def _start(self, trial: Trial) -> Uml:
        trial.glob, suite = trial.left.pop(0)
        chosen = f"swap_kunit_mutant={trial.mutant}" if trial.mutant else "swap_kunit_guards"
        args = kernel_arguments([*suite_arguments(suite), *self.options.kernel_args, chosen,
                                 f"kunit.filter_glob={trial.glob}"])
        with interrupts.held():
            uml = Uml(self.binary, args, Path(os.devnull), self._scratch)
            self.running[uml] = trial, suite
        if trial.mutant:
            limit = CPU + int(FACTOR * self.base.seconds.get(suite, 0))
            with suppress(ProcessLookupError):
                resource.prlimit(uml.process.pid, resource.RLIMIT_CPU, (limit, limit + 5))
        trial.boots += 1
        trial.seen = 0
        self.umls += 1
        return uml

    def _close(self, uml: Uml) -> None:
        with interrupts.held():
            self.running.pop(uml)
            uml.close()


def runs(pid: int) -> bool:
    """Whether a process runs, or waits for nothing but a CPU."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(") ")[2][:1] == "R"
    return False


def verdict_on(name: str, said: list[str]) -> Verdict:
    """The verdict when a case or a parameter fails, from what it says."""
    report = next((line.partition(MARK)[2] for line in said if MARK in line), "")
    if report:
        return Verdict(WARN, name, report)
    rule = next((found[1] for found in map(RULE.search, said) if found), "")
    place = next((found[1] for found in map(FAILED.search, said) if found), "")
    return Verdict(CAUGHT, name, rule or place)
