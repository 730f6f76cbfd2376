# SPDX-License-Identifier: GPL-2.0
"""Follow the console of a UML while its cases run, and join the logs of all UMLs.

This does not parse results: counts and verdicts come from the kernel's own kunit.py.
It only splits a console into cases, so that the runner knows in which case a UML
crashed, and so that kunit.py can parse the logs of several UMLs as one.
"""
from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace

START = re.compile(r"^K?TAP version \d+$")
SUBTEST = re.compile(r"^    # Subtest: (\S+)")
CASE_SUBTEST = re.compile(r"^        # Subtest: (\S+)")
PLAN = re.compile(r"^    1\.\.(\d+)")
CASE_END = re.compile(r"^    (ok|not ok) (\d+) (?:- )?([^#\s]+)(.*)$")
PARAM_END = re.compile(r"^        (ok|not ok) \d+ (?:- )?(.*?)(?: # (?!SKIP).*)?$")
SUITE_END = re.compile(r"^(ok|not ok) \d+ (?:- )?([^#\s]+)(?: # SKIP ?(.*))?")
CASE_MARK = re.compile(r"^swap_case: ([^\s.]+)\.([^\s\[]+)(?:\[(.*)\])?$")
DECISION = re.compile(r"^swap_decision: (.*)$")
SKIPPED_MARK = re.compile(r"^swap_skipped: (.*)$")
PANIC = re.compile(r"Kernel panic - not syncing: (?!VFS:)(.*)")
SKIP = re.compile(r" # SKIP ?(.*)$")
AFTER_LAST = "after_the_last_case"
WHOLE = "suite"             # stands for a suite in its own list of cases
# The same as swap_report_marks in kunit/fixture/kernel_reports.c, which checks the cases.
REPORT = re.compile(
    r"WARNING:|BUG:|KASAN:|UBSAN:|INFO: task|kernel BUG at|Oops|possible recursive locking|possible circular locking"
    r"|suspicious RCU usage|sleeping function called|scheduling while atomic|Bad page|Bad rss-counter|refcount_t:"
    r"|list_add corruption|list_del corruption|non-static key|unreferenced object|ODEBUG disabled"
    r"|leak detector disabled|\(Not tainted\)|\(Tainted:")
# Some kernels warn at every boot that UML has no PCI.
EXPECTED = re.compile(r"WARNING: .*\bum_pci_init\b")
VARIES = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{8,16}\b|(?<=CPU: )\d+|(?<=CPU#)\d+|(?<=PID: )\d+"
                    r"|(?<=[/:])\d+\b")


@dataclass
class Case:
    """One case as its UML printed it. The last line is its result, unless it never ended.

    fate: "" for a case that ended by itself, otherwise "crashed", "hung" or "failed". seconds: how long it took.
    broken: the fates and reasons of parameters that crashed or hung; the others have run.
    """

    suite: str
    name: str
    lines: list[str] = field(default_factory=list)
    fate: str = ""
    reason: str = ""
    seconds: float = 0.0
    broken: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """suite.case"""
        return f"{self.suite}.{self.name}"

    def ktap(self, number: int) -> list[str]:
        """The KTAP lines, with number in the result line."""
        if self.fate:
            body = [line for line in self.lines if not nested_ktap(line)]
            return [*body, f"    # {self.name}: {self.fate}: {self.reason}",
                    f"    not ok {number} {self.name}"]
        body = self.lines[:-1]
        if self.passed():       # kernel messages stay in logs/ only: they hold addresses, which vary
            body = [line for line in body if line.startswith("    ")]
        return [*body, CASE_END.sub(rf"    \1 {number} \3\4", self.lines[-1])]

    def passed(self) -> bool:
        """Whether it ended and its result line says ok."""
        return not self.fate and self.lines[-1].startswith("    ok ")

    def result(self) -> str:
        """ok, not ok or skipped, from the result line; not ok if there is none."""
        return "not ok" if not self.passed() else "skipped" if SKIP.search(self.lines[-1]) else "ok"


def alike(report: str) -> str:
    """A report without what varies between boots or when a patch moves lines, for comparison."""
    return VARIES.sub("X", report)


def parameters_in(lines: list[str]) -> int:
    """The number of parameters that ended."""
    return sum(bool(PARAM_END.match(line)) for line in lines)


def after_parameters(lines: list[str], number: int) -> list[str]:
    """The lines after the first number parameters."""
    ends = [0, *(at for at, line in enumerate(lines, 1) if PARAM_END.match(line))]
    return lines[ends[min(number, len(ends) - 1)]:]


def completed(begun: Case, lines: list[str]) -> Case:
    """A case of which a parameter crashed, with the lines of a later UML that ran those after it."""
    *rest, end = after_parameters(lines, parameters_in(begun.lines))
    return replace(begun, lines=[*begun.lines, *rest, re.sub(r"^    (not )?ok", "    not ok", end)])


def nested_ktap(line: str) -> bool:
    """Whether a line belongs to a parameter list, which is incomplete if the case never ended."""
    return bool(re.match(r"\s+(KTAP version|# Subtest:|1\.\.\d|(not )?ok \d)", line))


@dataclass
class Console:
    """What one UML has printed so far, split into cases. Feed it line by line."""

    started: bool = False
    suite: str = ""
    header: list[str] = field(default_factory=list)
    done: list[Case] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    running: str = ""           # the case that has started, "" between cases
    parameter: str = ""
    skipped: str = ""           # why the parameter that ends next was skipped
    suite_ended: bool = False
    suite_failed: bool = False          # by its result line
    suite_skipped: str | None = None    # why the whole suite was skipped
    panic: str = ""
    decisions: list[str] = field(default_factory=list)
    watched: bool = False       # the fixture is checking: it fails the case in which a report comes
    reports: list[str] = field(default_factory=list)    # first lines of kernel reports outside of all cases
    since: float = field(default_factory=time.monotonic)    # when the last case ended, or the boot began

    def feed(self, line: str) -> bool:
        """Take one line without its newline; returns whether it shows that the tests advance."""
        panic = PANIC.search(line)
        if panic and not self.panic:
            self.panic = panic[0]
        if not self.watched and REPORT.search(line) and not EXPECTED.search(line):
            self.reports.append(line.strip())
        if not self.started:
            self.started = bool(START.match(line))
            return self.started
        found = DECISION.match(line)
        if found:
            self.decisions.append(found[1])
            self.watched = False
            return False
        found = CASE_MARK.match(line)
        if found:
            self.running, self.parameter, self.skipped = found[2], found[3] or "", ""
            self.watched = True
            return True
        found = SKIPPED_MARK.match(line)
        if found:
            self.skipped = found[1]
            return False
        return self._feed_ktap(line)

    def _feed_ktap(self, line: str) -> bool:
        if self.skipped and line.startswith("        ok ") and not SKIP.search(line):
            line += f" # SKIP {self.skipped}"   # older kernels do not print the reason
        found = SUBTEST.match(line)
        if found:
            self.suite, self.pending = found[1], []
            return True
        found = CASE_END.match(line) if self.suite else None
        if found:
            before, self.since = self.since, time.monotonic()
            self.done.append(Case(self.suite, found[3], [*self.pending, line], seconds=self.since - before))
            self.pending, self.running, self.watched = [], "", False
            return True
        found = SUITE_END.match(line)
        if found and found[2] == (self.suite or found[2]):
            self.suite_ended, self.suite_skipped = True, found[3]
            self.suite_failed = self.suite_failed or found[1] == "not ok"
            return True
        if self.suite and not self.done and PLAN.match(line):
            self.header, self.pending = self.pending, []
            return True
        if self.suite and line.strip():
            self.pending.append(line)
        found = CASE_SUBTEST.match(line)
        if found:
            self.running = found[1]
        ended = PARAM_END.match(line)
        self.watched = self.watched and not ended
        return bool(found or ended)


@dataclass
class Suite:
    """A suite's cases in order, from one or several UMLs."""

    name: str
    header: list[str] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    seconds: float = 0.0

    def ktap(self, number: int) -> list[str]:
        """The suite's KTAP lines, with number in the result line."""
        lines = ["    KTAP version 1", f"    # Subtest: {self.name}", *self.header,
                 f"    1..{len(self.cases)}"]
        for index, case in enumerate(self.cases, 1):
            lines += case.ktap(index)
        good = all(case.passed() for case in self.cases)
        skipped = good and all(SKIP.search(case.lines[-1]) for case in self.cases)
        return [*lines, f"{'ok' if good else 'not ok'} {number} {self.name}"
                + (" # SKIP" if skipped else "")]


def join(suites: list[Suite]) -> str:
    """One KTAP log of all suites, as one kernel would have printed it."""
    suites = [suite for suite in suites if suite.cases]
    lines = ["KTAP version 1", f"1..{len(suites)}"]
    for number, suite in enumerate(suites, 1):
        lines += [line for line in suite.ktap(number) if not line.startswith("reboot: System halted")]
    return "\n".join(lines) + "\n"


def listed_cases(lines: list[str]) -> list[str]:
    """The suite.case names that kunit.action=list printed."""
    return [line for line in lines if re.fullmatch(r"[^\s.]+\.[^\s.]+", line)]
