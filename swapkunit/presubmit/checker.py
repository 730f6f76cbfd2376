# SPDX-License-Identifier: GPL-2.0
"""Takes a series through its steps, patch by patch."""
from __future__ import annotations

import contextlib
import re
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import ContextManager

from .. import sandbox
from ..base import commands
from ..base.beside import Beside
from ..base.errors import SwapKunitError, UntestableKernel
from ..base.layout import Layout
from ..base.text import relative
from ..coverage.places import FRAGMENT
from ..series.applying import Applied, Outcome, missing_before, try_apply
from ..series.bases import Base
from ..series.series import Patch, Series
from . import changed_lines, experiments, files, mutants, steps, times
from .background import BackgroundChecks, Task
from .file_checks import FileChecks, users_of
from .file_steps import STEPS
from .progress import Progress
from .report import LATER, PASS, SKIP, PatchReport, PresubmitReport, Step, text
from .request import DEFAULT, QUICK, CheckRequest
from .testbed import PRISTINE_OF, Testbed, Tested, quiet
from .testbeds import MEMCG_OFF, Testbeds, changes_the_build
from .variants import of_new_options

DELETED = re.compile(r"^--- a/(.+)\n\+\+\+ /dev/null$", re.M)


class Checker:
    """The check of one series; report grows with each step."""

    def __init__(self, request: CheckRequest, base: Base, series: Series, top: Path, progress: Progress):
        self.request, self.series, self.top, self.progress = request, series, top, progress
        self.started = time.monotonic()
        self.kernel = base.kernel
        self.testbeds = Testbeds(request, base, series, top)
        self.box = self.testbeds.box()
        self.reports: dict[int, PatchReport] = {}       # by id() of their patches
        self.before: dict[str, Tested] = {}     # in other configurations, the state before the next patch
        self.compiled: dict[int, set[str]] = {}         # by id() of patches, the files compiled in any configuration
        self.known_messages: set[str] = set()           # of the compiler, without_numbers()
        self.file_checks = None if request.depth == QUICK else FileChecks(
            base.kernel, request.run, top, request.sandbox, self.testbeds.base_key, self.testbeds.store)
        self.background: BackgroundChecks | None = None
        new = [variant.on for variant in of_new_options([patch.diff for patch in series.patches]) if variant.on]
        untried = [f"not compiled with and without {', '.join(new)}, which the series adds: --quick (make: QUICK=1) "
                   "leaves that out"] if new and not self.file_checks else []
        configs = list(self.testbeds.others)
        columns = ["applies", "checkpatch", "build", *(STEPS if self.file_checks else ()), "suites", "reports",
                   "decisions", *configs, *([changed_lines.STEP] if self.file_checks else ()), *self.testbeds.last]
        self.report = PresubmitReport(series.title, series.version, base.kernel.version, base.kernel.origin,
                                      sandbox.describe(self.box), columns,
                                      top / "report" / report_name(self.testbeds.series_key, request),
                                      [*series.notes, *untried],
                                      depth=request.depth, configs=configs, fail_on=request.fail_on,
                                      whole=request.whole,
                                      config=[*request.run.config, *(f"@{name}" for name in request.run.policies)])

    # -- the series ---------------------------------------------------------

    def run(self) -> PresubmitReport:
        """Check the base and all patches, and write the reports."""
        self.progress.say(f"Linux {self.kernel.version}, {self.kernel.origin}")
        self.progress.say(f"sandbox: {self.report.sandbox}")
        with tempfile.TemporaryDirectory(prefix="try-", dir=self.top) as scratch:
            outcomes = try_apply(self.kernel.path, self.series.patches, Path(scratch) / "applied")
            self.series.patches = [outcome.patch for outcome in outcomes]   # some without parts that do not apply
            self.apply_all(outcomes, Path(scratch))
        last = self.run_steps(outcomes)
        if last and self.testbeds.last:
            self.run_later(*last)
        return self.finish()

    def stop(self) -> None:
        """Write the reports after an interruption: incomplete ones, unless only later steps are left."""
        later = [step.name for step in self.report.patches[-1].steps if step.summary == LATER] \
            if self.report.patches else []
        self.report.stopped = not later
        for name in later:
            self.add(self.report.patches[-1], Step(name, SKIP, "stopped before its end", "-"))
        self.finish()
        if later:
            self.progress.say(f"stopped: the report is complete but for {', '.join(later)}: "
                              f"{relative(self.report.out / 'report.txt')}")

    def finish(self) -> PresubmitReport:
        """Write the reports; after an interruption they are incomplete."""
        self.report.seconds = time.monotonic() - self.started
        files.write(self.report)
        return self.report

    def apply_all(self, outcomes: list[Outcome], scratch: Path) -> None:
        """The first step of all patches; if one does not apply, try other kernels too."""
        elsewhere: list[list[str]] = [[] for _ in outcomes]
        if not all(isinstance(outcome, Applied) for outcome in outcomes):
            elsewhere = steps.applies_elsewhere(self.series.patches, scratch, self.kernel)
        for patch, outcome, others in zip(self.series.patches, outcomes, elsewhere):
            report = PatchReport(patch.number, patch.total, patch.subject, patch.author, patch.message_id,
                                 patch.touched)
            self.report.patches.append(report)
            self.reports[id(patch)] = report
            self.add(report, steps.applies(patch, outcome, others))

    def run_steps(self, outcomes: list[Outcome]) -> tuple[list[Patch], Tested] | None:
        """All steps but the first and those of run_later(). Returns the last patch's state, if it has one."""
        todo = list(zip(self.report.patches, self.series.patches, outcomes))
        applied = [patch for _, patch, outcome in todo if isinstance(outcome, Applied)]
        states = [applied[:number] for number in range(1, len(applied) + 1)]
        if self.request.last_only:      # the state before it is needed for comparison
            todo, self.report.patches = todo[-1:], self.report.patches[-1:]
            states = states[-2:] if isinstance(todo[0][2], Applied) else []
        if states:
            self.test_base()
        patches = [*states[0]] if len(states) > len(todo) else []
        with self.checks_in_background(states) as self.background:
            before = self.test_before_last(patches) if patches else None
            for report, patch, outcome in todo:
                if isinstance(outcome, Applied):
                    patches.append(patch)
                    before = self.check_patch(report, patches, before)
                else:
                    self.progress.at(place_of(report), "checkpatch")
                    self.add(report, self.checkpatch(patch))
                    self.skip_rest(report, "the patch does not apply")
            if self.background and all(map(self.builds, patches)):
                self.progress.at("the series", "coverage of the changed lines")
                cold = not (self.top / FRAGMENT / PRISTINE_OF).exists()
                if self.background.steps() == [] and cold:      # until the lines are counted
                    times.remember(times.LINES, self.progress.since())
        if self.file_checks:
            self.check_lines(patches)
        tested = before and todo and isinstance(todo[-1][2], Applied) and self.builds(todo[-1][1])
        return (patches, before) if before and tested else None

    def run_later(self, patches: list[Patch], before: Tested) -> None:
        """Boot the last patch in other ways. It may take long, and the reports are complete without."""
        report, where = self.report.patches[-1], relative(self.report.out / "report.txt")
        for name in self.testbeds.last:
            report.steps.append(Step(name, SKIP, LATER, "later", seconds=0.0).clean())
        self.finish()
        self.progress.say(f"\n{text(self.report)}report.txt   {where}\n")
        for name, testbed in self.testbeds.last.items():
            if name == mutants.STEP:
                self.add(report, self.mutants(testbed, patches))
            elif name in self.testbeds.experiments:
                self.add(report, self.experiment(name, testbed, patches))
            else:
                self.test_config(report, testbed, patches, before)

    def mutants(self, testbed: Testbed, patches: list[Patch]) -> Step:
        """Which ways to get the lines wrong that the series leaves changed no suite notices."""
        self.progress.at("the series", "mutants of the changed lines")
        cold = not Layout(testbed.out).vmlinux.exists()
        state = self.testbeds.counting_state(patches, self.report.out)
        lines = {file: {line for line, whose in enumerate(owner, 1) if whose}
                 for file, owner in (state.owners() if state else {}).items()}
        step = mutants.step_of(mutants.Changed(testbed, self.testbeds.plain, [patch.file for patch in patches], lines))
        if cold:
            times.remember(mutants.STEP, self.progress.since())
        return replace(step, seconds=self.progress.since())

    def experiment(self, name: str, testbed: Testbed, patches: list[Patch]) -> Step:
        """What the series changes in an experiment."""
        self.progress.at("the series", name)
        step = experiments.step_of(experiments.Compared(self.testbeds.experiments[name], testbed, self.testbeds.plain,
                                                        [patch.file for patch in patches]))
        return replace(step, seconds=self.progress.since())

    def say_how_long(self) -> None:
        """Say what is done for the first time on this base, and how long it takes."""
        others = {**self.testbeds.others, **self.testbeds.last}
        cold = [times.BASE] * (self.testbeds.plain.known([], []) is None)
        if self.file_checks:
            cold += [times.CONFIGURATIONS] * self.file_checks.cold()
            counts = self.testbeds.counting_state(self.series.patches, self.report.out)
            cold += [times.LINES] * bool(counts and not (counts.counting.out / PRISTINE_OF).exists())
        new = [name for name, one in others.items() if not one.place and not Layout(one.out).vmlinux.exists()]
        later = [name for name in new if name in self.testbeds.last]
        cold += [name for name in new if name not in later]
        if cold or later:
            self.progress.say(times.expected(cold, later))

    def test_base(self) -> None:
        """Test the base. Raises UntestableKernel, or SwapKunitError if the sandbox's limits are too low for it."""
        self.progress.at("the base", "build and suites")
        plain = self.testbeds.plain
        known, cold = plain.known([], []) is not None, not Layout(plain.out).vmlinux.exists()
        self.say_how_long()
        tested = self.testbeds.base(plain)
        base = f"its base, Linux {self.kernel.version},"
        if tested.limit:
            raise SwapKunitError(f"cannot check the series: the build or test of {base} was killed: {tested.limit}; "
                                 f"{sandbox.advice(tested.limit)}")
        if not tested.built:
            print("\n".join(tested.messages[-40:]), file=sys.stderr)
            raise UntestableKernel(f"cannot check the series: {base} does not build or boot even without the "
                                   f"series, as shown above{', from an earlier check' * known}; fix the base, or give "
                                   "another one")
        if cold and not known:
            times.remember(times.BASE, self.progress.since())
        self.remember(tested)
        self.report.notes += [*steps.crashes(tested), *steps.unstable(tested)]
        if MEMCG_OFF in self.testbeds.last and not known:   # later, a patch has its kernel there
            self.testbeds.base(self.testbeds.last[MEMCG_OFF])
        self.progress.done("the base", Step("build+suites", PASS, tested.closing + ", from an earlier check" * known,
                                            seconds=self.progress.since()))

    def test_before_last(self, patches: list[Patch]) -> Tested | None:
        """The state to compare the last patch with, if only the last one is checked."""
        self.progress.at("earlier patches", "build and suites")
        tested = self.testbeds.test(self.testbeds.plain, patches, self.series.patches[-1].touched)
        self.remember(tested)
        self.file_steps("earlier patches")
        return tested if tested.built else None

    # -- one patch ----------------------------------------------------------

    def check_patch(self, report: PatchReport, patches: list[Patch], before: Tested | None) -> Tested | None:
        """The steps of the last of patches; returns the state to compare the next patch with."""
        patch, where, plain = patches[-1], place_of(report), self.testbeds.plain
        self.progress.at(where, "build and suites")
        with Beside(lambda: self.checkpatch(patch)) as style:     # make leaves a CPU idle while it links
            base, tested = self.testbeds.base(plain), self.testbeds.test(plain, patches, patch.touched)
            self.add(report, style.value())
        self.progress.at(where, "reading the results")
        step = steps.builds(tested, self.known_messages, patch.touched)
        self.add(report, step if tested.built or tested.limit else self.excused(step, patches))
        self.remember(tested)
        if tested.built:
            self.add(report, steps.suites(tested, base, before))
            self.add(report, steps.reports(tested, base, before))
            decided = steps.decisions(tested, before or base, base.unstable)
            self.add(report, decided)
            report.better = steps.better(tested, base, before, bool(steps.FIXES.search(patch.message)),
                                         decided.data["changed"])
        compiled = self.compiled[id(patch)] = set(tested.objects)
        for step in self.file_steps(where):
            compiled.update(step.data.get("files", ()))
            self.add(report, step)
        if not tested.built:
            self.skip_rest(report, "the build was killed" if tested.limit else "there is no kernel to test")
            return before
        for testbed in self.testbeds.others.values():
            self.test_config(report, testbed, patches, tested)
        return tested

    def excused(self, step: Step, patches: list[Patch]) -> Step:
        """The step of a build that failed, with what earlier patches have to do with it."""
        before = self.reports[id(patches[-2])].step("build") if len(patches) > 1 else None
        lost = [patch for patch in self.series.patches if patch.number < patches[-1].number and patch not in patches]
        step = steps.with_what_the_tree_lacks(step, self.kernel.path)
        return steps.not_its_fault(step, lost, missing_before(patches[-1], self.series.patches), before)

    def test_config(self, report: PatchReport, testbed: Testbed, patches: list[Patch], plain: Tested) -> None:
        """Add the step of another configuration. plain: the same patches in the plain one."""
        self.progress.at(place_of(report), f"suites, {testbed.name}")
        cold = not Layout(testbed.out).vmlinux.exists()
        step = self.in_config(testbed, patches, plain)
        if cold:
            times.remember(testbed.name, self.progress.since())
        self.add(report, step)

    def in_config(self, testbed: Testbed, patches: list[Patch], plain: Tested) -> Step:
        """The suites and kernel reports in another configuration that the plain one does not show as well."""
        name = testbed.name
        try:
            base = self.testbeds.base(testbed)
            if base.limit:
                return Step(name, SKIP, f"the build or test of the base was killed: {base.limit}; "
                                        f"{sandbox.advice(base.limit)}")
            if not base.built:
                return Step(name, SKIP, "the base does not build or boot in this configuration")
            tested = self.testbeds.test(testbed, patches, patches[-1].touched)
        except SwapKunitError as error:
            return Step(name, SKIP, str(error))
        if not tested.built:
            return replace(steps.builds(tested, set(), []), name=name)
        before, self.before[name] = self.before.get(name), tested
        base = replace(base, results={**base.results, **plain.failed()})
        found, reported = steps.suites(tested, base, before), steps.reports(tested, base, before)
        return Step(name, PASS, f"{found.summary}; {reported.summary}", found.cell,
                    found.details + reported.details, self.progress.since(),
                    found.data).having(found.findings + reported.findings)

    def checkpatch(self, patch: Patch) -> Step:
        """checkpatch.pl, in the sandbox."""
        started = time.monotonic()
        with quiet(self.testbeds.log), commands.confined(self.box):
            step = steps.checkpatch(patch, self.kernel.path)
        return replace(step, seconds=time.monotonic() - started)

    # -- file checks and changed lines --------------------------------------

    def checks_in_background(self, states: list[list[Patch]]) -> ContextManager[BackgroundChecks | None]:
        """The process with the file checks of these states of the series."""
        if self.file_checks is None or not states:
            return contextlib.nullcontext()
        touched = list(dict.fromkeys(name for patch in self.series.patches for name in patch.touched))
        headers = [name for name in touched if name.endswith(".h")]
        return BackgroundChecks(self.file_checks, touched, users_of(headers, Layout(self.testbeds.plain.out).build),
                                [self.task(patches) for patches in states],
                                self.testbeds.counting_state(states[-1], self.report.out), self.testbeds.log)

    def task(self, patches: list[Patch]) -> Task:
        """The file checks of one state."""
        paths = [patch.file for patch in patches]
        touched = (self.series.patches if self.request.last_only else patches)[-1].touched
        return Task(paths, touched, changes_the_build(patches), self.testbeds.plain.key(paths, "compiled", touched))

    def file_steps(self, where: str) -> list[Step]:
        """The steps of the file checks of the next state; they run beside its build."""
        if self.background is None:
            return []
        self.progress.at(where, "other compilations of the touched files (after those of the base, the first time)")
        cold = self.file_checks is not None and self.file_checks.cold()
        found = self.background.steps()
        if cold:
            times.remember(times.CONFIGURATIONS, self.progress.since())
        return found

    def check_lines(self, patches: list[Patch]) -> None:
        """Coverage of the changed lines of all patches, measured once in the last state that builds."""
        while patches and not self.builds(patches[-1]):
            patches = patches[:-1]
        state = self.testbeds.counting_state(patches, self.report.out)
        self.progress.at("the series", "coverage of the changed lines")
        found = changed_lines.reached(state) if state else changed_lines.Reached()
        owned = state.owners() if state else {}
        self.report.pages = "coverage" if found.counts else ""
        for number, patch in enumerate(patches, 1):
            if self.reports[id(patch)] in self.report.patches and self.builds(patch):
                lost = [name for name in patch.touched if name.endswith(".c")
                        and name not in self.compiled.get(id(patch), ()) and name not in DELETED.findall(patch.diff)]
                step = changed_lines.step_of(number, patch.touched, owned, found, self.report.out / "source", lost)
                self.add(self.reports[id(patch)], replace(step, seconds=found.seconds / len(patches)))

    # -- the report ---------------------------------------------------------

    def builds(self, patch: Patch) -> bool:
        """Whether the kernel builds with the series up to this patch."""
        step = self.reports[id(patch)].step("build")
        return step is None or bool(step.data.get("built", True))

    def remember(self, tested: Tested) -> None:
        """Keep the compiler's messages: in later states they are not new."""
        self.known_messages |= {steps.without_numbers(line) for line in tested.messages}

    def add(self, report: PatchReport, step: Step) -> None:
        """Add a step to the report and print it."""
        if step.seconds < 0:
            step.seconds = self.progress.since()
        report.steps = [one for one in report.steps if one.name != step.name] + [step.clean()]
        self.progress.done(place_of(report), step)

    def skip_rest(self, report: PatchReport, why: str) -> None:
        """Mark the remaining steps as skipped."""
        there = {step.name for step in report.steps}
        report.steps += [Step(name, SKIP, why).clean() for name in self.report.columns if name not in there]


def report_name(series_key: str, request: CheckRequest) -> str:
    """The directory of a report: a check of another depth does not replace it."""
    return series_key[:8] + ("" if request.depth == DEFAULT else f"-{request.depth}")


def place_of(report: PatchReport) -> str:
    """patch 2 of 3"""
    return f"patch {report.number} of {report.total}"
