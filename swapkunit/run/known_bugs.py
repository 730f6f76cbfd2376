# SPDX-License-Identifier: GPL-2.0
"""Known bugs of released kernels, which the suites find; see configs/known_bugs.toml.

A bug is expected on a kernel between kernels that have it. Next to one of them, such as on a later kernel than all, a
failure with its text is the bug as well, with a note. Anywhere else it is a failure: the bug has come back.
"""
from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ..base.errors import SwapKunitError
from ..base.kernel import version_key
from .kernel_reports import MARK
from .results import FAIL, PASS, Report, TestResult

FAULT = re.compile(rf"EXPECTATION FAILED|ASSERTION FAILED|{MARK}")


class Reach(Enum):
    """Whether a kernel may have a bug: it is among those that do, next to one, or neither."""

    WITHIN, NEXT, OUTSIDE = range(3)


@dataclass(frozen=True)
class KnownBug:
    """One entry. A case may end in [*] for all parameters; the rest is described in known_bugs.toml."""

    title: str
    cases: tuple[str, ...]
    expect: str
    seen: tuple[str, ...]
    also: tuple[str, ...] = ()
    weak: str = ""

    def shown_by(self, test: TestResult) -> bool:
        """Whether test failed in just this way: its faults contain the expected text, or one of also."""
        if test.fate in ("crashed", "hung"):
            return self.expect == test.fate or self.expect in test.text[0]
        faults = split_faults(test.text)
        others = [fault for fault in faults if self.expect not in fault]
        return len(others) < len(faults) and all(any(text in fault for text in self.also) for fault in others)

    def reach(self, version: str, tested: list[str]) -> Reach:
        """Whether Linux version may have it; tested: the kernels that seen is about, oldest first.

        A later release of a tested series is judged like it, an earlier one by its neighbours: a fix may have been
        backported in between.
        """
        number = version_key(version)
        older = [kernel for kernel in tested if version_key(kernel) <= number][-1:]
        newer = [kernel for kernel in tested if version_key(kernel) >= number][:1]
        if older and version_key(older[0])[:2] == number[:2]:
            newer = older
        beside = [".".join(kernel.split(".")[:2]) in self.seen for kernel in older + newer]
        if older and newer and all(beside):
            return Reach.WITHIN
        return Reach.NEXT if any(beside) else Reach.OUTSIDE

    @property
    def span(self) -> str:
        """'in 7.3', 'from 6.1 to 7.3'."""
        return f"in {self.seen[0]}" if len(self.seen) == 1 else f"from {self.seen[0]} to {self.seen[-1]}"


def split_faults(text: list[str]) -> list[str]:
    """A failure's text cut into its single faults; one when none is marked."""
    faults: list[list[str]] = []
    for line in text:
        announced = faults and len(faults[-1]) == 1 and line.startswith(MARK)     # by the line before
        if FAULT.search(line) and not announced:
            faults.append([])
        if faults:
            faults[-1].append(line)
    return ["\n".join(lines) for lines in faults] or (["\n".join(text)] if text else [])


def covers(case: str, test: TestResult) -> bool:
    """Whether test is the case of an entry, or one of its parameters."""
    return test.name.startswith(case[:-2]) if case.endswith("[*]") else test.name == case


def load(path: Path) -> tuple[list[KnownBug], list[str]]:
    """The known bugs, and the kernels they are about, oldest first. Raises SwapKunitError."""
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
        bugs = [KnownBug(entry["title"], tuple(entry["cases"]), entry["expect"], tuple(entry["seen"]),
                         tuple(entry.get("also", [])), entry.get("weak", "")) for entry in found["bug"]]
        return bugs, found["tested"]
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise SwapKunitError(f"cannot use the known bugs in {path}: {error}; it needs tested, and every [[bug]] "
                             "needs title, cases, expect and seen") from error


def apply(tests: list[TestResult], bugs: list[KnownBug], tested: list[str], version: str) -> Report:
    """Mark the tests that show a bug that Linux version may have; note the bugs that are fixed there.

    None is noted as fixed where a test fails: what broke that one may be why another passes.
    """
    report = Report(tests)
    for bug in bugs:
        reach = bug.reach(version, tested)
        for case in bug.cases if reach != Reach.OUTSIDE else ():
            mine = [test for test in tests if covers(case, test)]
            for test in mine:
                if test.failed and bug.shown_by(test):
                    test.known = bug.title if reach == Reach.WITHIN else f"{bug.title} (known {bug.span}, also here)"
            if mine and reach == Reach.WITHIN and not bug.weak and all(test.status == PASS for test in mine):
                report.fixed.append(f"{bug.title} ({case} passes)")
    if report.count(FAIL):
        report.fixed.clear()
    return report
