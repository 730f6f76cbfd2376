# SPDX-License-Identifier: GPL-2.0
"""Run suites, each in a UML of its own; after a crash or hang the run goes on with the next case."""
from __future__ import annotations

import fnmatch
import json
import random
import re
import selectors
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..base import commands, interrupts
from ..base.errors import SwapKunitError, UntestableKernel
from ..base.layout import REPO, Layout
from ..base.text import did_you_mean, plural
from ..build.fit import LeftOut, left_out
from .console import (
    AFTER_LAST, WHOLE, Case, Console, Suite, after_parameters, alike, completed, listed_cases, parameters_in)
from .uml import Uml, kernel_arguments, memory_bytes, memory_directory, same_addresses

NEAR = 3            # names in "did you mean"
ASKED_FOR = ("swap_lab", "swap_stress.")     # slow suites, which run only if a filter or a verb names them
ARGUMENTS = re.compile(r"^\s*/\*\s*swap-kunit:\s*(.+?)\s*\*/", re.M)
PARAMETER = re.compile(r"^module_param(?:_array)?\((\w+),", re.M)
PARAMS_RUN = "swap_kunit_params_run"     # kernel argument: how many parameters of its case have run
SHOWN = 100             # lines kept of the start and of the end of a broken case's output
BOOT_TIMEOUT = 60.0     # seconds for the kernel to list its cases


@dataclass
class RunOptions:
    """filters: globs such as "swap_alloc.*". timeout: seconds without output until a UML is killed.

    hangs: hung cases after which suites that hang are abandoned.
    shuffle: a seed; each case then runs in its own UML, in random order.
    kernel_args: the whole command line; given: the arguments among them from the user.
    """

    filters: list[str] = field(default_factory=list)
    timeout: float = 60.0
    jobs: int = 1
    kernel_args: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    shuffle: int | None = None
    hangs: int = 3


@dataclass
class Results:
    """The output of all UMLs. interrupted: the run was stopped early; missing: cases that did not run.

    reports: first lines of kernel reports outside of all cases, each once.
    abandoned: suites that hung too often, and how many of their cases did not run.
    """

    suites: list[Suite]
    decisions: list[str]
    seconds: float = 0.0
    umls: int = 0
    interrupted: bool = False
    missing: int = 0
    reports: list[str] = field(default_factory=list)
    abandoned: dict[str, int] = field(default_factory=dict)


# -- which cases -------------------------------------------------------------


def list_cases(layout: Layout, options: RunOptions, binary: Path | None = None) -> list[str]:
    """All suite.case names of the kernel, in its order; cached per vmlinux.

    Raises UntestableKernel if the kernel does not list its cases.
    """
    binary = binary or layout.vmlinux
    info = binary.stat()
    key = [info.st_mtime_ns, info.st_size, options.kernel_args]
    memo = layout.out / "cases.json"
    try:
        known = json.loads(memo.read_text())
    except (OSError, ValueError):
        known = {}
    if known.get("key") != key:
        cases, calibrated = boot_to_list(layout, with_calibration(options, known), binary)
        known = {"key": key, "cases": cases, "lpj": calibrated or known.get("lpj")}
        memo.write_text(json.dumps(known))
    options.kernel_args = with_calibration(options, known).kernel_args
    return list(known["cases"])


def with_calibration(options: RunOptions, known: dict[str, Any]) -> RunOptions:
    """options with the lpj= of an earlier boot: calibrating the delay loop takes half of the boot time."""
    if not known.get("lpj") or any(arg.startswith(("lpj=", "time-travel")) for arg in options.kernel_args):
        return options
    return replace(options, kernel_args=[*options.kernel_args, f"lpj={known['lpj']}"])


def boot_to_list(layout: Layout, options: RunOptions, binary: Path) -> tuple[list[str], str]:
    """Boot once with kunit.action=list; returns the cases and the loops per jiffy.

    Raises UntestableKernel if no case is listed, or SwapKunitError if the user's kernel
    arguments are the reason.
    """
    try:
        return try_to_list(layout, options, binary)
    except UntestableKernel:
        if not options.given:
            raise
        others = [arg for arg in options.kernel_args if arg not in options.given]
        try_to_list(layout, replace(options, kernel_args=others), binary, quiet=True)
        raise SwapKunitError(f"the kernel does not reach its first case with {' '.join(options.given)} on its "
                             "command line, but does without; see the end of its console above, and change the "
                             "arguments (--kernel-arg, make: KUNIT_ARGS=)") from None


def try_to_list(layout: Layout, options: RunOptions, binary: Path, quiet: bool = False) -> tuple[list[str], str]:
    """One boot of boot_to_list(). Raises UntestableKernel."""
    args = kernel_arguments([*options.kernel_args, "kunit.action=list"])
    log = layout.out / "logs" / "list.log"
    log.parent.mkdir(exist_ok=True)
    uml, ended_by = None, ""
    try:
        with interrupts.held():
            uml = Uml(binary, args, log, memory_directory(memory_bytes(args)))
        with selectors.DefaultSelector() as selector:
            selector.register(uml, selectors.EVENT_READ)
            while not (selector.select(0.5) and not uml.read()):
                ended_by = uml.stuck(min(BOOT_TIMEOUT, options.timeout))
                if ended_by:
                    break
    finally:
        if uml:
            with interrupts.held():
                uml.close()
    cases = listed_cases(uml.lines)
    if not cases:
        if not quiet:
            print("\n".join(uml.lines[-40:]))
        why = uml.console.panic or ended_by or f"it ended with status {uml.process.returncode}"
        raise UntestableKernel(f"the kernel under test does not reach its first case: {why}; the end of its "
                               f"console is shown above, all of it is in {log}")
    calibrated = re.search(r"BogoMIPS \(lpj=(\d+)\)", "\n".join(uml.lines))
    return cases, calibrated[1] if calibrated else ""


def select(cases: list[str], filters: list[str], without: LeftOut) -> list[str]:
    """The cases that match one of filters; without filters, all except the slow ones.

    without: what the build left out, such as other cases. Raises SwapKunitError for a filter that matches none.
    """
    if not filters:
        return [case for case in cases if not case.startswith(ASKED_FOR)]
    suites = list(dict.fromkeys(case.split(".")[0] for case in cases))
    chosen: set[str] = set()
    for glob in filters:
        found = fnmatch.filter(cases, glob if "." in glob else f"{glob}.*")
        lost = fnmatch.filter(without.lost, glob if "." in glob else f"{glob}.*")
        if lost and not found:
            raise SwapKunitError(f"not built on this tree: {', '.join(lost)}; it lacks what they need: "
                                 f"{without.cause_of(lost)}; `swap-kunit doctor` prints all that does not fit")
        if not found:
            suite = glob.partition(".")[0]
            mine = [case for case in cases if case.startswith(f"{suite}.")]
            near = did_you_mean(glob, mine, NEAR) or did_you_mean(suite, suites, NEAR) * (not mine)
            raise SwapKunitError(f"no case matches the filter {glob}; {near}`swap-kunit list` (make list) prints "
                                 "all suites and cases")
        chosen.update(found)
    return [case for case in cases if case in chosen]


def check_arguments(args: list[str], suites: Path = REPO / "kunit" / "suites") -> None:
    """Raise SwapKunitError for an argument that looks like a suite's but is none's."""
    known = [f"{path.name.removesuffix('_kunit.c')}.{name}" for path in sorted(suites.glob("*_kunit.c"))
             for name in PARAMETER.findall(path.read_text())]
    for arg in args:
        name = arg.partition("=")[0]
        if name.startswith("swap_") and name not in known:
            raise SwapKunitError(f"no suite has the argument {name}; {did_you_mean(name, known)}the suites have "
                                 f"{', '.join(known)} (--kernel-arg, make: KUNIT_ARGS=)")


@dataclass
class Job:
    """One UML to start: the suite, its cases, and a glob that matches just these.

    begun: the only case, some parameters of which have run.
    """

    suite: str
    glob: str
    cases: list[str]
    begun: Case | None = None


def plan(cases: list[str], chosen: list[str], filters: list[str], durations: dict[str, float]) -> list[Job]:
    """One job per suite, longest known first; one per case where no glob matches just the chosen ones."""
    jobs = []
    for suite in dict.fromkeys(case.split(".")[0] for case in chosen):
        every = [case for case in cases if case.startswith(f"{suite}.")]
        wanted = [case for case in chosen if case.startswith(f"{suite}.")]
        names = [case.split(".")[1] for case in wanted]
        tails = [glob.partition(".")[2] or "*" for glob in filters
                 if fnmatch.fnmatchcase(suite, glob.partition(".")[0])]
        tail = next((t for t in tails if fnmatch.filter([c.split(".")[1] for c in every], t) == names), "")
        if wanted == every:
            jobs.append(Job(suite, suite, names))
        elif tail:
            jobs.append(Job(suite, f"{suite}.{tail}", names))
        else:
            jobs += [Job(suite, f"{suite}.{name}", [name]) for name in names]
    return sorted(jobs, key=lambda job: -durations.get(job.suite, 1e9))


def plan_alone(chosen: list[str], seed: int) -> list[Job]:
    """One job per case, in random order by seed."""
    jobs = [Job(case.split(".")[0], case, [case.split(".")[1]]) for case in chosen]
    random.Random(seed).shuffle(jobs)
    return jobs


def suite_arguments(suite: str, suites: Path = REPO / "kunit" / "suites") -> list[str]:
    """The kernel arguments that a suite asks for in a comment of its source:

    /* swap-kunit: zswap.enabled=0 */
    """
    try:
        text = (suites / f"{suite}_kunit.c").read_text()
    except OSError:
        return []
    return " ".join(ARGUMENTS.findall(text)).split()


# -- running them ------------------------------------------------------------


class Runner:
    """Run jobs, several UMLs at a time, and collect their cases."""

    def __init__(self, binary: Path, logs: Path, options: RunOptions):
        self.binary, self.logs, self.options = binary, logs, options
        self.cases: dict[str, Case] = {}
        self.headers: dict[str, list[str]] = {}
        self.decisions: dict[str, list[str]] = {}
        self.reports: dict[str, str] = {}
        self.seconds: dict[str, float] = {}
        self.umls = 0
        self.hangs = Counter[str]()         # by suite
        self.abandoned = Counter[str]()     # cases not run, by suite
        self._running: dict[Uml, Job] = {}
        args = kernel_arguments(options.kernel_args)
        self._scratch = memory_directory(memory_bytes(args) * options.jobs)

    def run(self, queue: list[Job]) -> bool:
        """Run all jobs; returns False if interrupted. No UML is left running."""
        queue = list(queue)
        total = sum(len(job.cases) for job in queue)
        with selectors.DefaultSelector() as selector:
            try:
                while queue or self._running:
                    while queue and len(self._running) < self.options.jobs:
                        job = queue.pop(0)
                        if not self._given_up(job):
                            selector.register(self._start(job), selectors.EVENT_READ)
                    for uml, ended_by in self._wait(selector):
                        selector.unregister(uml)
                        queue = self._finish(uml, ended_by) + queue
                    commands.status_line(f"running: {len(self.cases)} of {total} cases, "
                                         + ", ".join(job.glob for job in self._running.values()))
            except KeyboardInterrupt:
                return False
            finally:
                with interrupts.held():
                    commands.status_line("")
                    for uml in list(self._running):
                        self._collect(uml, self._running.pop(uml))
                        uml.close()
        return True

    def _given_up(self, job: Job) -> bool:
        """Whether so much hangs that the rest of the suite, if it hangs too, is not run; it is then marked as hung."""
        if not self.hangs[job.suite] or sum(self.hangs.values()) < self.options.hangs:
            return False
        why = (f"not run: {plural(sum(self.hangs.values()), 'case')} of this run hung, "
               f"{self.hangs[job.suite]} of this suite")
        for name in job.cases:
            case = Case(job.suite, name, [], "hung", why)
            if job.begun:
                case = completed(job.begun, [f"        # {name}: {why}", f"    not ok 1 {name}"])
            self.cases[case.full_name] = case
            self.abandoned[job.suite] += 1
        return True

    def _start(self, job: Job) -> Uml:
        run = parameters_in(job.begun.lines) if job.begun else 0
        args = kernel_arguments([*suite_arguments(job.suite), *self.options.kernel_args,
                                 f"kunit.filter_glob={job.glob}", *([f"{PARAMS_RUN}={run}"] if run else [])])
        name = re.sub(r"[^\w.-]", "_", job.glob) + (f".{run}" if run else "")
        with interrupts.held():
            uml = Uml(self.binary, args, self.logs / f"{name}.log", self._scratch)
            self._running[uml] = job
        self.umls += 1
        return uml

    def _wait(self, selector: selectors.BaseSelector) -> list[tuple[Uml, str]]:
        """The UMLs that ended ("") or must be killed (why)."""
        ready = {key.fileobj for key, _ in selector.select(0.2)}
        ended = [(uml, "") for uml in self._running if uml in ready and not uml.read()]
        gone = {uml for uml, _ in ended}
        for uml in self._running:
            reason = "" if uml in gone else uml.stuck(self.options.timeout)
            if reason:
                ended.append((uml, reason))
        return ended

    def _collect(self, uml: Uml, job: Job) -> None:
        console = uml.console
        for case in console.done:
            self._keep(completed(job.begun, case.lines) if job.begun else case)
        for line in console.reports:
            self.reports.setdefault(alike(line), line)
        if console.header:
            self.headers.setdefault(job.suite, console.header)
        for line in console.decisions:
            name = line.split(" ")[0].split("[")[0]
            self.decisions.setdefault(name, []).append(line)
        self.seconds[job.suite] = self.seconds.get(job.suite, 0) + time.monotonic() - uml.started

    def _keep(self, case: Case) -> None:
        """Add a case that ended. Two different results for it are a failure."""
        known = self.cases.setdefault(case.full_name, case)
        if not known.fate and known.result() != case.result():
            self.cases[case.full_name] = replace(
                known, lines=shortened([*known.lines, *case.lines]), fate="failed",
                reason=f"two results: {known.result()}, then {case.result()}")

    def _finish(self, uml: Uml, ended_by: str) -> list[Job]:
        """Close an ended UML; returns jobs for the cases that it did not run."""
        with interrupts.held():
            job = self._running.pop(uml)
            uml.close()
        self._collect(uml, job)
        if not uml.console.started:
            self._boot_failed(uml, ended_by)
        left = [name for name in job.cases if f"{job.suite}.{name}" not in self.cases]
        if uml.console.suite_ended and left:
            for name in left:
                self._without_a_run(job, name, uml.console)
            return []
        fault = describe_end(uml, ended_by)
        if not left:
            if fault:
                self._blame(job, AFTER_LAST, *fault, uml.console.pending)
            elif uml.console.suite_failed and all(case.passed() for case in uml.console.done):
                self._blame(job, WHOLE, "failed", "the suite ended with \"not ok\"", uml.console.pending)
            return []
        culprit = uml.console.running if uml.console.running in left else left[0]
        fate, reason = fault or ("crashed", "the kernel ended without a message")
        others = [Job(job.suite, f"{job.suite}.{name}", [name]) for name in left if name != culprit]
        if culprit == uml.console.running and uml.console.parameter:
            return [self._blame_parameter(job, uml.console, fate, reason), *others]
        self._blame(job, culprit, fate, reason, uml.console.pending)
        return others

    def _blame_parameter(self, job: Job, console: Console, fate: str, reason: str) -> Job:
        """Record a parameter that ended its UML; returns the job for those after it."""
        before = job.begun or Case(job.suite, console.running)
        lines = after_parameters(console.pending, parameters_in(before.lines))
        last = after_parameters(lines, parameters_in(lines))
        lines = [*before.lines, *lines[:len(lines) - len(last)], *shortened(last)]
        begun = replace(before, broken={**before.broken, console.parameter: (fate, reason)}, lines=[
            *lines, f"        not ok {parameters_in(lines) + 1} {console.parameter}"])
        self.hangs[job.suite] += fate == "hung"
        return Job(job.suite, begun.full_name, [begun.name], begun)

    def _boot_failed(self, uml: Uml, ended_by: str) -> None:
        """Note that a kernel which has listed its cases did not start KUnit this time."""
        uml.console.pending = uml.lines[-30:]
        uml.console.panic = uml.console.panic or ended_by or "the kernel ended before KUnit started"

    def _without_a_run(self, job: Job, name: str, console: Console) -> None:
        """Record a case whose suite ended without running it: skipped with the suite, or failed."""
        if console.suite_skipped is None:
            self._blame(job, name, "failed", suite_failure(console), [])
        else:
            line = f"    ok 1 {name} # SKIP {console.suite_skipped}"
            self.cases[f"{job.suite}.{name}"] = Case(job.suite, name, [line])

    def _blame(self, job: Job, name: str, fate: str, reason: str, lines: list[str]) -> None:
        case = Case(job.suite, name, shortened(lines), fate, reason)
        self.cases[case.full_name] = case
        self.hangs[job.suite] += fate == "hung"


def shortened(lines: list[str]) -> list[str]:
    """The first and last lines; the output of a loop in between says nothing new."""
    left_out = len(lines) - 2 * SHOWN
    if left_out <= 0:
        return list(lines)
    return [*lines[:SHOWN], f"... {left_out} lines left out; see the log of the console",
            *lines[-SHOWN:]]


def describe_end(uml: Uml, ended_by: str) -> tuple[str, str] | None:
    """(fate, reason) of a UML that crashed or hung; None if it ended properly."""
    if ended_by.startswith("hung"):
        return "hung", ended_by.partition(": ")[2]
    if uml.console.panic:
        return "crashed", uml.console.panic
    if not uml.console.suite_ended:
        return "crashed", f"the kernel ended with status {uml.process.returncode} without a panic"
    return None


def suite_failure(console: Console) -> str:
    """Why a suite ended before its cases, from its output."""
    messages = [line.strip() for line in console.pending if "fail" in line or "error" in line]
    return messages[0] if messages else "the suite ended before this case"


def run(layout: Layout, cases: list[str], options: RunOptions, binary: Path | None = None) -> Results:
    """Run the chosen cases. Only ^C ends this early; Results.interrupted is then set."""
    started = time.monotonic()
    chosen = select(cases, options.filters, left_out(layout))
    logs = layout.out / "logs"
    logs.mkdir(exist_ok=True)
    for old in logs.glob("*.log"):
        if old.name != "list.log":
            old.unlink()
    durations = read_durations(layout)
    runner = Runner(binary or layout.vmlinux, logs, options)
    if options.shuffle is None:
        jobs = plan(cases, chosen, options.filters, durations)
    else:
        print(f"each case in its own UML, in random order (seed {options.shuffle})", flush=True)
        jobs = plan_alone(chosen, options.shuffle)
    shown = kernel_arguments([*options.kernel_args, "kunit.filter_glob=SUITE"])
    commands.show([binary or layout.vmlinux, *shown])
    with same_addresses() as allowed:
        if not allowed:
            print("note: this machine randomises the addresses of UMLs: before 7.0 their memory, and so some "
                  "decisions, may differ between runs", flush=True)
    complete = runner.run(jobs)
    results = gather(runner, cases, chosen)
    results.interrupted = not complete
    results.seconds = time.monotonic() - started
    if complete and not options.filters and options.shuffle is None:
        (layout.out / "durations.json").write_text(json.dumps(runner.seconds))
    return results


def gather(runner: Runner, cases: list[str], chosen: list[str]) -> Results:
    """The runner's cases in the order in which the kernel lists them."""
    suites = []
    for name in dict.fromkeys(case.split(".")[0] for case in chosen):
        wanted = [case for case in chosen if case.startswith(f"{name}.")] \
            + [f"{name}.{WHOLE}", f"{name}.{AFTER_LAST}"]
        found = [runner.cases[case] for case in wanted if case in runner.cases]
        suites.append(Suite(name, runner.headers.get(name, []), found, runner.seconds.get(name, 0.0)))
    decisions = [line for case in cases for line in runner.decisions.get(case, [])]
    missing = sum(case not in runner.cases for case in chosen)
    return Results(suites, decisions, umls=runner.umls, missing=missing,
                   reports=[runner.reports[key] for key in sorted(runner.reports)],
                   abandoned=dict(runner.abandoned))


def read_durations(layout: Layout) -> dict[str, float]:
    """Seconds each suite took last time."""
    try:
        return dict(json.loads((layout.out / "durations.json").read_text()))
    except (OSError, ValueError, TypeError):
        return {}
