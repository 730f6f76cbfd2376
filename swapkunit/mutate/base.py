# SPDX-License-Identifier: GPL-2.0
"""The kernel with no mutant active: what every case gives, and which guards it evaluates."""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Iterable

from ..run.console import PARAM_END, SKIP, Case, Console, alike

REACHED = re.compile(r"^swap_guards: (.+) (\d+) ([0-9a-f,]+)$")
BOOT = "boot"       # what was evaluated before a case


def results_of(case: Case) -> dict[str, str]:
    """suite.case, and suite.case[parameter] for each: ok, not ok or skipped."""
    found = {case.full_name: case.result()}
    for line in case.lines:
        ended = PARAM_END.match(line)
        if ended:
            result = "skipped" if SKIP.search(line) else ended[1]
            found[f"{case.full_name}[{SKIP.sub('', ended[2])}]"] = result
    return found


def lines_of(case: Case, name: str) -> list[str]:
    """What a case, or one of its parameters, printed, without KTAP's marks."""
    lines, parameter = case.lines, name[len(case.full_name) + 1:-1]
    if parameter:
        ends = [(at, ended[2]) for at, ended in enumerate(map(PARAM_END.match, lines)) if ended]
        mine = next((at for at, label in ends if SKIP.sub("", label) == parameter), len(lines))
        lines = lines[max([-1, *(at for at, _ in ends if at < mine)]) + 1:mine + 1]
    return [line.strip().removeprefix("# ") for line in lines]


def failures_of(case: Case) -> dict[str, list[str]]:
    """What failed in a case, and what it said: parameters, or the case itself if none of them did."""
    failed = [name for name, result in results_of(case).items() if result == "not ok"]
    return {name: lines_of(case, name) for name in failed[1:] or failed}


def plain(name: str) -> str:
    """suite.case of suite.case[parameter]."""
    return name.partition("[")[0]


@dataclass
class Base:
    """What the suites give. reached: suite -> case or BOOT -> numbers of mutants; seconds: of each suite's UML.

    failed: what the cases and parameters say that fail without a mutant; unstable: cases that do not always decide
    alike; fates: of cases that crash or hang: the others of their suites run alone.
    """

    results: dict[str, str] = field(default_factory=dict)
    failed: dict[str, list[str]] = field(default_factory=dict)
    decisions: dict[str, list[str]] = field(default_factory=dict)
    reports: set[str] = field(default_factory=set)
    unstable: set[str] = field(default_factory=set)
    fates: dict[str, str] = field(default_factory=dict)
    reached: dict[str, dict[str, set[int]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def take(self, suite: str, console: Console, lines: Iterable[str], seconds: float) -> None:
        """Add what one UML printed."""
        for case in console.done:
            self.results.update(results_of(case))
            self.failed.update(failures_of(case))
        for line in console.decisions:
            self.decisions.setdefault(plain(line.split(" ")[0]), []).append(line)
        self.reports |= {alike(line) for line in console.reports}
        self.seconds[suite] = seconds
        for found in filter(None, map(REACHED.match, lines)):
            bits = int(found[3].replace(",", ""), 16)
            numbers = {int(found[2]) + at for at in range(bits.bit_length()) if bits >> at & 1}
            name = BOOT if found[1] == BOOT else plain(found[1])
            self.reached.setdefault(suite, {}).setdefault(name, set()).update(numbers)

    def compare(self, again: Base) -> None:
        """Learn from a second run what is not stable."""
        for name in self.results.keys() | again.results.keys():
            case = plain(name)
            if self.results.get(name) != again.results.get(name) or \
                    self.decisions.get(case) != again.decisions.get(case):
                self.unstable.add(case)
        self.failed.update(again.failed)
        self.fates.update(again.fates)

    def is_split(self, suite: str) -> bool:
        """Whether the cases of a suite run alone."""
        return any(name.startswith(f"{suite}.") for name in self.fates)

    @cached_property
    def cases_of(self) -> dict[int, dict[str, list[str]]]:
        """Mutant -> suite -> the cases that reach it, those that reach the least first; BOOT alone if none does."""
        found: dict[int, dict[str, list[str]]] = {}
        for suite, cases in self.reached.items():
            for is_boot, _, name in sorted((name == BOOT, len(numbers), name) for name, numbers in cases.items()):
                for number in cases[name]:
                    names = found.setdefault(number, {}).setdefault(suite, [])
                    if not is_boot or not names:
                        names.append(name)
        return {number: {suite: names for suite, names in suites.items() if names != [BOOT]} or suites
                for number, suites in found.items()}

    def nearest(self, number: int) -> list[str]:
        """The cases that reach a mutant, those that reach the least else first."""
        found = [(len(self.reached[suite][name]), name) for suite, names in self.cases_of.get(number, {}).items()
                 for name in names if name != BOOT]
        return [name for _, name in sorted(found)]
