# SPDX-License-Identifier: GPL-2.0
"""Known bugs of released kernels, which the suites find.

configs/known_bugs/SERIES.toml holds a list of

    [[bug]]
    title = "what is wrong, in one line"
    case = "suite.case" or "suite.case[parameter]" or "suite.case[*]", or a list of these
    expect = "text that its failure must show", or "crashed", or "hung"
    also = ["text it may show besides"], such as what a debugging kernel reports

A listed case that fails with that text is reported as a known bug and excluded
from the totals. With another text it fails; if it passes, it is reported as fixed.
"""
from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import SwapKunitError
from .results import FAIL, PASS, Report, TestResult

REPORT = "kernel report: "
FAULT = re.compile(rf"EXPECTATION FAILED|ASSERTION FAILED|{REPORT}")


@dataclass(frozen=True)
class KnownBug:
    """One case of an entry. It may end in [*] for all parameters."""

    title: str
    case: str
    expect: str
    also: tuple[str, ...] = ()

    def covers(self, test: TestResult) -> bool:
        """Whether test is the case of this entry."""
        if self.case.endswith("[*]"):
            return test.name.startswith(self.case[:-2])
        return test.name == self.case

    def shown_by(self, test: TestResult) -> bool:
        """Whether test failed in exactly this way: each fault holds the expected text or one of also, and one the former."""
        if test.fate in ("crashed", "hung"):
            return self.expect == test.fate or self.expect in test.text[0]
        faults = split_faults(test.text)
        others = [fault for fault in faults if self.expect not in fault]
        return len(others) < len(faults) and all(any(text in fault for text in self.also) for fault in others)


def split_faults(text: list[str]) -> list[str]:
    """A failure's text split into its faults; a single one if none is marked."""
    faults: list[list[str]] = []
    for line in text:
        announced = faults and len(faults[-1]) == 1 and line.startswith(REPORT)     # by the line before
        if FAULT.search(line) and not announced:
            faults.append([])
        if faults:
            faults[-1].append(line)
    return ["\n".join(lines) for lines in faults] or (["\n".join(text)] if text else [])


def load(directory: Path, series: str) -> list[KnownBug]:
    """The known bugs of a series, one per case; none if there is no file. Raises SwapKunitError."""
    path = directory / f"{series}.toml"
    try:
        with open(path, "rb") as file:
            entries = tomllib.load(file).get("bug", [])
        return [KnownBug(entry["title"], case, entry["expect"], tuple(entry.get("also", [])))
                for entry in entries
                for case in ([entry["case"]] if isinstance(entry["case"], str) else entry["case"])]
    except FileNotFoundError:
        return []
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise SwapKunitError(f"cannot use the known bugs in {path}: {error}; every [[bug]] needs "
                             "title, case and expect") from error


def apply(tests: list[TestResult], bugs: list[KnownBug]) -> Report:
    """Mark the tests that show a known bug; note the bugs that are fixed here."""
    report = Report(tests)
    for bug in bugs:
        mine = [test for test in tests if bug.covers(test)]
        for test in mine:
            if test.status == FAIL and not test.known and bug.shown_by(test):
                test.known = bug.title
        if mine and all(test.status == PASS for test in mine):
            report.fixed.append(f"{bug.title} ({bug.case} passes)")
    return report
