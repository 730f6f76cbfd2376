# SPDX-License-Identifier: GPL-2.0
"""The verb `presubmit`: a patch series in, a verdict a maintainer believes out.

    report = check(CheckRequest(Request(kernel="7.3"), [Path("series.mbox")]))

Each patch goes through its steps on top of those before it, in a sandbox. What was
found is kept by the content it was found out about: the base is not tested twice, and
a check that was stopped goes on where it was.
"""
from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ContextManager

from ..series import applying
from . import files, testbed as bench, lines as changed_lines
from ..base import commands, deps
from ..build import fragments
from ..run import session as sessions
from . import steps
from .. import sandbox as boxes
from ..series import series as inputs
from ..series.applying import Applied, Base, Outcome
from .testbed import Bench, Tested
from .compile_ahead import Ahead, Task
from .compile import STEPS, Checks, users_of
from ..coverage.counters import WATCHED, tools_for
from ..coverage.report import FRAGMENT
from ..base.errors import SwapKunitError, UntestableKernel
from ..base.layout import CONFIGS, REPO, Layout, default_out
from .progress import Progress
from .report import PASS, SKIP, PatchReport, PresubmitReport, Step, worst
from .store import Store, identity_of_kernel, identity_of_project, identity_of_tools, key
from ..series.series import Patch, Series
from ..run.session import Request

PLACE = "presubmit"         # the directory beside those of the configurations
PLAIN = "plain"
QUICK, FULL = "quick", "full"
DEBUGGING = ("debug_vm", "lockdep", "kasan")
BUILD_FILES = ("Makefile", "Kbuild", "Kconfig")


@dataclass
class CheckRequest:
    """What is to be checked, and how.

    run: kernel, jobs and so on as for `run`. files or spec (base..tip) or series: the
    patches. last_only: the ones before it are laid, but only the last is looked at.
    """

    run: Request
    files: list[Path] = field(default_factory=list)
    spec: str = ""
    series: Series | None = None
    configs: list[str] = field(default_factory=list)
    depth: str = "default"
    partial: bool = False
    sandbox: bool = True
    last_only: bool = False
    quiet: bool = False


def check(request: CheckRequest) -> PresubmitReport:
    """Check a series; the reports are written. Raises SwapKunitError or UntestableKernel."""
    lines = {} if request.depth == QUICK else {**deps.COVERAGE, "sparse": "sparse"}
    deps.require({**deps.BUILD, **deps.PATCHES, **deps.PAGES, **inputs.NEEDED, **lines})
    for name in (*request.run.config, *request.configs):
        fragments.find(name, CONFIGS)
    sessions.policy_steps(request.run)
    base = applying.base_of(request.run.ksrc, request.run.kernel, request.spec)
    with contextlib.closing(base):
        return check_on(base, request)


def check_on(base: Base, request: CheckRequest) -> PresubmitReport:
    """The same, on a base that is at hand."""
    top = request.run.out or default_out(base.kernel, [PLACE])
    layout = Layout(top.absolute())
    with layout.lock():
        work = layout.out / "patches"
        work.mkdir(parents=True, exist_ok=True)
        found = request.series or read_series(request, work)
        for patch in found.patches:     # where the sandbox sees it
            if patch.file.parent != work:
                patch.file = Path(shutil.copy(patch.file, work))
        with Progress(quiet=request.quiet) as progress:
            checker = Checker(request, base, found, layout.out, progress)
            try:
                return checker.run()
            except KeyboardInterrupt:
                checker.report.stopped = True
                checker.finish()
                raise


def read_series(request: CheckRequest, work: Path) -> Series:
    """The patches, as clean files in work."""
    if request.spec:
        return inputs.read_range(request.run.ksrc, request.spec, work)
    return inputs.read_inputs(request.files, work, request.partial)


class Checker:
    """Takes a series through its steps; report grows as it goes."""

    def __init__(self, request: CheckRequest, base: Base, series: Series, top: Path, progress: Progress):
        self.request, self.base, self.series, self.top, self.progress = request, base, series, top, progress
        self.started = time.monotonic()
        self.store = Store(top / "steps")
        self.kernel = base.kernel
        self.base_key = key(identity_of_kernel(base.kernel, base.commit), identity_of_project(),
                            identity_of_tools(request.run.make_options),
                            request.run.make_options, request.run.filters, request.run.kernel_args, request.run.config,
                            request.run.policies, request.run.timeout)
        self.series_key = key([patch.diff for patch in series.patches])
        self.reports: dict[int, PatchReport] = {}      # by id() of their patches
        self.box = self.make_box()
        self.bench = self.make_bench(PLAIN, [])
        self.bases: dict[str, Tested] = {}
        self.before: dict[str, Tested] = {}     # in other configurations, the state before the next patch
        self.heard: set[str] = set()
        self.ahead: Ahead | None = None
        self.checks = None if request.depth == QUICK else Checks(
            base.kernel, request.run, top, request.sandbox, self.base_key, self.store)
        self.benches = {name: self.make_bench(name, [name]) for name in self.configs()}
        columns = ["applies", "checkpatch", "build", *(STEPS if self.checks else ()), "suites", "reports", "decisions",
                   *self.benches, *([changed_lines.STEP] if self.checks else ())]
        self.report = PresubmitReport(series.title, series.version, base.kernel.version, base.kernel.origin,
                                      boxes.describe(self.box), columns, top / "report" / self.series_key[:8],
                                      [*series.notes], depth=request.depth, configs=[*self.benches],
                                      config=[*request.run.config, *(f"@{name}" for name in request.run.policies)])

    def configs(self) -> list[str]:
        """The fragments to run the suites under besides."""
        return list(dict.fromkeys([*self.request.configs, *(DEBUGGING if self.request.depth == FULL else ())]))

    def make_box(self) -> boxes.Sandbox | None:
        """What checkpatch and the like run in; None without a sandbox."""
        if not self.request.sandbox:
            return None
        return boxes.make([self.kernel.path, REPO, self.top], self.request.run.make_options, self.request.run.jobs)

    def make_bench(self, name: str, config: list[str]) -> Bench:
        """The place where the series is built in a configuration."""
        run = self.request.run
        asked = replace(run, ksrc=self.kernel.path if self.kernel.given else None, config=[*run.config, *config])
        return Bench(asked, self.top, name, self.request.sandbox, self.base_key, self.series_key,
                     self.store, self.top / "log.txt")

    # -- all of it ----------------------------------------------------------

    def run(self) -> PresubmitReport:
        """Base, patches, reports."""
        self.progress.say(f"Linux {self.kernel.version}, {self.kernel.origin}")
        self.progress.say(f"sandbox: {self.report.sandbox}")
        with tempfile.TemporaryDirectory(prefix="try-", dir=self.top) as scratch:
            outcomes = applying.try_apply(self.kernel.path, self.series.patches, Path(scratch) / "applied")
            self.apply_all(outcomes, Path(scratch))
        self.take_through(outcomes)
        return self.finish()

    def take_through(self, outcomes: list[Outcome]) -> None:
        """All steps but the first."""
        todo = list(zip(self.report.patches, self.series.patches, outcomes))
        applied = [patch for _, patch, outcome in todo if isinstance(outcome, Applied)]
        states = [applied[:number] for number in range(1, len(applied) + 1)]
        if self.request.last_only:      # the state before it is what it is compared with
            todo, self.report.patches = todo[-1:], self.report.patches[-1:]
            states = states[-2:] if isinstance(todo[0][2], Applied) else []
        if states:
            self.tested_base()
        laid = [*states[0]] if len(states) > len(todo) else []
        with self.going_ahead(states) as self.ahead:
            before = self.before_last(laid) if laid else None
            for report, patch, outcome in todo:
                if isinstance(outcome, Applied):
                    laid.append(patch)
                    before = self.check_patch(report, patch, laid, before)
                else:
                    self.add(report, self.checkpatch(patch))
                    self.skip_rest(report, "it does not apply")
            if self.ahead and all(map(self.builds, laid)):
                self.progress.at("the series", "coverage of the changed lines")
                self.ahead.counted()
        if self.checks:
            self.look_at_lines(laid)

    def before_last(self, laid: list[Patch]) -> Tested | None:
        """What the last patch is compared with, when the others are not looked at themselves."""
        self.progress.at("the patches before", "build and suites")
        tested = self.test_at(laid, self.series.patches[-1].touched)
        self.hear(tested)
        self.compiled("the patches before")
        return tested if tested.built else None

    def finish(self) -> PresubmitReport:
        """Write what there is."""
        self.report.seconds = time.monotonic() - self.started
        files.write(self.report)
        return self.report

    def tested_base(self) -> Tested:
        """The base's own results. Raises UntestableKernel, or SwapKunitError when the sandbox was too small for it."""
        self.progress.at("the base", "build and suites")
        earlier = self.bench.known([], []) is not None
        tested = self.base_in(self.bench)
        if tested.limit:
            raise SwapKunitError(f"cannot check the series: while its base, Linux {self.kernel.version}, was built and "
                                 f"tested, {tested.limit}; {boxes.advice(tested.limit)}")
        if not tested.built:
            print("\n".join(tested.said[-40:]), file=sys.stderr)
            raise UntestableKernel(f"cannot check the series: its base, Linux {self.kernel.version}, does not build "
                                   "or boot without it, as shown above; put the base right, or give another")
        self.hear(tested)
        self.progress.done("the base", Step("build+suites", PASS, tested.closing + ", found earlier" * earlier,
                                            seconds=self.progress.since()))
        return tested

    def base_in(self, place: Bench) -> Tested:
        """The base's results there; asked for once, also where the sandbox ended it."""
        if place.name not in self.bases:
            self.bases[place.name] = place.test([], [])
        return self.bases[place.name]

    # -- one patch ----------------------------------------------------------

    def apply_all(self, outcomes: list[Outcome], scratch: Path) -> None:
        """The first step, of all patches at once; a series that does not apply is tried elsewhere."""
        elsewhere: list[list[str]] = [[] for _ in outcomes]
        if not all(isinstance(outcome, Applied) for outcome in outcomes):
            elsewhere = steps.kernels_that_take(self.series.patches, scratch, self.kernel)
        for patch, outcome, others in zip(self.series.patches, outcomes, elsewhere):
            report = PatchReport(patch.number, patch.total, patch.subject, patch.author, patch.message_id,
                                 patch.touched)
            self.report.patches.append(report)
            self.reports[id(patch)] = report
            self.add(report, steps.applies(patch, outcome, others))

    def check_patch(self, report: PatchReport, patch: Patch, laid: list[Patch], before: Tested | None) -> Tested | None:
        """The steps of one patch on top of those before it; what its kernel showed."""
        self.add(report, self.checkpatch(patch))
        self.progress.at(self.where(report), "build and suites")
        base = self.base_in(self.bench)
        tested = self.test_at(laid, patch.touched)
        self.progress.at(self.where(report), "reading the results")
        self.add(report, steps.builds(tested, self.heard, patch.touched))
        self.hear(tested)
        if tested.built:
            self.add(report, steps.suites(tested, base, before))
            self.add(report, steps.reports(tested, base, before))
            self.add(report, steps.decisions(tested, before or base))
        for step in self.compiled(self.where(report)):
            self.add(report, step)
        if tested.built:
            for bench_of_config in self.benches.values():
                self.add(report, self.test_config(bench_of_config, report, patch, laid))
        else:
            self.skip_rest(report, "its build was ended" if tested.limit else "there is no kernel to test")
        return tested if tested.built else before

    def test_config(self, other: Bench, report: PatchReport, patch: Patch, laid: list[Patch]) -> Step:
        """The suites under another configuration, and what its kernel reports."""
        self.progress.at(self.where(report), f"suites, {other.name}")
        try:
            base = self.base_in(other)
            if base.limit:
                return Step(other.name, SKIP,
                            f"while the base was built and tested, {base.limit}; {boxes.advice(base.limit)}")
            if not base.built:
                return Step(other.name, SKIP, "the base does not build or boot in this configuration")
            tested = other.test([one.file for one in laid], patch.touched, self.changes_the_build(laid))
        except SwapKunitError as error:
            return Step(other.name, SKIP, str(error))
        if not tested.built:
            return replace(steps.builds(tested, set(), []), name=other.name)
        before, self.before[other.name] = self.before.get(other.name), tested
        found, reported = steps.suites(tested, base, before), steps.reports(tested, base, before)
        return Step(other.name, worst([found, reported]), f"{found.summary}; {reported.summary}", found.cell,
                    found.details + reported.details, self.progress.since(), found.data)

    def last_state(self, laid: list[Patch]) -> changed_lines.State | None:
        """The state whose lines are looked at; None where the series changes none of the swap files."""
        if not laid or not {name for patch in laid for name in patch.touched} & set(WATCHED):
            return None
        return changed_lines.State(self.make_bench(FRAGMENT, [FRAGMENT]), self.bench, self.kernel.path,
                                   [patch.file for patch in laid], self.report.out / "source",
                                   self.report.out / "coverage", tools_for(self.request.run.make_options))

    def look_at_lines(self, laid: list[Patch]) -> None:
        """Coverage of what the patches changed, once for all of them, in the last state that builds."""
        while laid and not self.builds(laid[-1]):
            laid = laid[:-1]
        state = self.last_state(laid)
        self.progress.at("the series", "coverage of the changed lines")
        found = changed_lines.reached(state) if state else changed_lines.Reached()
        owned = state.owners() if state else {}
        self.report.pages = "coverage" if found.counts else ""
        for number, patch in enumerate(laid, 1):
            if self.reports[id(patch)] in self.report.patches and self.builds(patch):
                step = changed_lines.step_of(number, patch.touched, owned, found, self.report.out / "source")
                self.add(self.reports[id(patch)], replace(step, seconds=found.seconds / len(laid)))

    def builds(self, patch: Patch) -> bool:
        """Whether the build of its state did."""
        step = self.reports[id(patch)].step("build")
        return step is None or step.data.get("built", True)

    def test_at(self, laid: list[Patch], touched: list[str]) -> Tested:
        """What the kernel shows with these patches."""
        return self.bench.test([one.file for one in laid], touched, self.changes_the_build(laid))

    def changes_the_build(self, laid: list[Patch]) -> bool:
        """Whether these patches change how something is built: what make does then is theirs to say."""
        return any(os.path.basename(name).startswith(BUILD_FILES) or name.startswith("scripts/")
                   for one in laid for name in one.touched)

    def hear(self, tested: Tested) -> None:
        """What the compiler has said is no news any more."""
        self.heard |= {steps.without_numbers(line) for line in tested.said}

    def compiled(self, where: str) -> list[Step]:
        """What the single compilations say, which go on beside the build."""
        if self.ahead is None:
            return []
        self.progress.at(where, "touched files in other configurations (the first time the base's are made ready)")
        return self.ahead.steps()

    def going_ahead(self, states: list[list[Patch]]) -> ContextManager[Ahead | None]:
        """The single compilations at these states of the series, begun."""
        if self.checks is None or not states:
            return contextlib.nullcontext()
        touched = list(dict.fromkeys(name for patch in self.series.patches for name in patch.touched))
        headers = [name for name in touched if name.endswith(".h")]
        return Ahead(self.checks, touched, users_of(headers, Layout(self.bench.out).build),
                     [self.task(laid) for laid in states], self.last_state(states[-1]), self.top / "log.txt")

    def task(self, laid: list[Patch]) -> Task:
        """A state to compile at."""
        files = [one.file for one in laid]
        touched = (self.series.patches if self.request.last_only else laid)[-1].touched
        return Task(files, touched, self.changes_the_build(laid), self.bench.key(files, "compiled", touched))

    def checkpatch(self, patch: Patch) -> Step:
        """checkpatch.pl, in the sandbox."""
        self.progress.at(f"{patch.number}/{patch.total}", "checkpatch")
        with bench.quiet(self.top / "log.txt"), commands.confined(self.box):
            return steps.checkpatch(patch, self.kernel.path)

    def add(self, report: PatchReport, step: Step) -> None:
        """Note a step that was made, and say so."""
        if step.seconds < 0:
            step.seconds = self.progress.since()
        report.steps.append(step.clean())
        self.progress.done(self.where(report), step)

    def skip_rest(self, report: PatchReport, why: str) -> None:
        """The steps that make no sense any more."""
        there = {step.name for step in report.steps}
        report.steps += [Step(name, SKIP, why).clean() for name in self.report.columns if name not in there]

    def where(self, patch: PatchReport | Patch) -> str:
        """patch 2 of 3"""
        return f"patch {patch.number} of {patch.total}"
