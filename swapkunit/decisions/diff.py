# SPDX-License-Identifier: GPL-2.0
"""Compare the decisions of two runs.

    difference = compare(Path("out/7.3/default"), Path("out/6.12/default"))
    difference.moved        # scenarios of both runs whose decisions differ
    difference.same         # no decision differs, and every case could be compared

A scenario is a case, or one parameter of it, with decisions in decisions.txt. Where one side has none,
its result there says why: a case skipped because a mechanism is missing does not count as a difference.
A case that crashed never counts as equal.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from typing import Any

from .notation import IO, KINDS, READAHEAD, Decision, Lists, Scenario, parse_log
from ..base.errors import SwapKunitError
from ..base.layout import Layout
from ..run import results
from ..run.results import FAIL, SKIPPED, TestResult

SIDES = ("A", "B")
BROKEN = ("crashed", "hung")


@dataclass
class Recorded:
    """The scenarios and results of one run, by name. name, of the run itself, is for people."""

    name: str
    scenarios: dict[str, Scenario] = field(default_factory=dict)
    outcomes: dict[str, TestResult] = field(default_factory=dict)
    kernel: str = ""

    def outcome(self, name: str) -> TestResult | None:
        """The result of a scenario, or of its case when parameters have no results of their own."""
        return self.outcomes.get(name) or self.outcomes.get(name.partition("[")[0])


@dataclass
class Moved:
    """A scenario whose decisions differ from number first on.

    kinds: all kinds that differ; kind: that of the first difference.
    """

    name: str
    a: Scenario
    b: Scenario
    first: int
    kind: str
    kinds: list[str]

    @property
    def rules(self) -> tuple[str, str]:
        """The rules in force at the first difference, of A and of B; "" for none."""
        return self.a.rule_at(self.first), self.b.rule_at(self.first)

    @property
    def words(self) -> tuple[list[str], list[str]]:
        """The decisions of A and of B in the notation."""
        areas = self.a.areas or self.b.areas
        return self.a.words(areas), self.b.words(areas)


@dataclass
class Alone:
    """A scenario that only one side has, and why the other has none."""

    name: str
    side: str
    why: str


@dataclass
class FailedCase:
    """A case that failed, crashed or hung; texts: its message, by side.

    broken: it crashed or hung, so its decisions cannot be compared. known: a known bug on every side where it fails.
    """

    name: str
    texts: dict[str, str]
    broken: bool
    known: bool

    @property
    def counts(self) -> bool:
        """Whether the sides count as different because of it."""
        return self.broken and not self.known or len(self.texts) < 2


@dataclass
class Difference:
    """Two runs, scenario by scenario. compared: how many scenarios both have."""

    a: Recorded
    b: Recorded
    compared: int = 0
    moved: list[Moved] = field(default_factory=list)
    alone: list[Alone] = field(default_factory=list)
    failed: list[FailedCase] = field(default_factory=list)
    lists_only: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether both runs have the same scenarios, with the same decisions, and no case fails on one side only."""
        return not self.moved and not self.alone and not any(one.counts for one in self.failed)

    def count(self, kind: str) -> int:
        """How many scenarios differ in this kind first."""
        return sum(one.kind == kind for one in self.moved)

    def to_json(self) -> dict[str, Any]:
        """decisions-diff.json."""
        return {
            "a": {"name": self.a.name, "kernel": self.a.kernel},
            "b": {"name": self.b.name, "kernel": self.b.kernel},
            "same": self.same, "scenarios": self.compared, "differ": len(self.moved),
            **{kind: self.count(kind) for kind in KINDS},
            "moved": [{"scenario": one.name, "kind": one.kind, "kinds": one.kinds, "rule": list(one.rules),
                       "first": one.first, "a": " ".join(one.words[0]), "b": " ".join(one.words[1])}
                      for one in self.moved],
            "alone": [{"scenario": one.name, "only_in": one.side, "why": one.why} for one in self.alone],
            "trouble": [{"case": one.name, "cannot_be_compared": one.broken, "known_bug": one.known,
                         **{side.lower(): text for side, text in one.texts.items()}} for one in self.failed],
            "lists_only": self.lists_only,
        }


# -- reading -----------------------------------------------------------------


def load(out: Path, name: str = "") -> Recorded:
    """The run in an output directory. Raises SwapKunitError if there is none, or it did not finish."""
    layout = Layout(out)
    summary = results.read_summary(layout)
    if not summary or summary.get("interrupted"):
        raise SwapKunitError(f"cannot compare the run in {out}: there is no finished run; run it again")
    try:
        tests = results.read_outcomes(layout)
        scenarios = parse_log((out / "decisions.txt").read_text())
    except (OSError, ValueError, TypeError) as error:
        raise SwapKunitError(f"cannot compare the run in {out}: {error}; run it again with this swap-kunit") \
            from error
    return Recorded(name or str(out), scenarios, {test.name: test for test in tests}, summary.get("kernel", ""))


# -- comparing ---------------------------------------------------------------


def compare(a: Path | Recorded, b: Path | Recorded) -> Difference:
    """What differs between two runs, given as output directories or loaded. Raises SwapKunitError."""
    a = load(a) if isinstance(a, Path) else a
    b = load(b) if isinstance(b, Path) else b
    found = Difference(a, b, failed=failed_cases(a, b))
    broken = {one.name for one in found.failed if one.broken}
    for name in in_order(list(a.scenarios), list(b.scenarios)):
        compare_scenario(found, name, broken)
    return found


def in_order(first: list[str], second: list[str]) -> list[str]:
    """All names; one of second alone comes right after the name it follows there."""
    names, known, behind = list(first), set(first), -1
    for name in second:
        if name in known:
            behind = names.index(name)
        else:
            behind += 1
            names.insert(behind, name)
    return names


def compare_scenario(found: Difference, name: str, broken: set[str]) -> None:
    """Compare one scenario, and add the outcome to found. broken: cases that crashed or hung."""
    a, b = found.a.scenarios.get(name), found.b.scenarios.get(name)
    absent = {side: why_absent(run, name) for side, run in zip(SIDES, (found.a, found.b))}
    if name in broken or name.partition("[")[0] in broken and not (a and b):
        return
    if all(absent.values()):
        return
    for side, why in absent.items():
        if why:
            found.alone.append(Alone(name, SIDES[side == "A"], why))
            return
    found.compared += 1
    a, b = a or Scenario(name), b or Scenario(name)
    if a.decisions == b.decisions:
        if last_lists(a) != last_lists(b):
            found.lists_only.append(name)
        return
    first = first_difference(a.decisions, b.decisions)
    kinds = [kind for kind in KINDS if of_kind(a.decisions, kind) != of_kind(b.decisions, kind)]
    found.moved.append(Moved(name, a, b, first, kind_at(a.decisions, b.decisions, first, kinds), kinds))


def why_absent(run: Recorded, name: str) -> str:
    """Why a run does not have this scenario; "" if it has, or ran it without any decision."""
    outcome = run.outcome(name)
    if outcome is None:
        return "" if name in run.scenarios else "no such case"
    if outcome.status == SKIPPED:
        return outcome.reason or "skipped, no reason given"
    return ""


def failed_cases(a: Recorded, b: Recorded) -> list[FailedCase]:
    """Cases that failed, crashed or hung on either side; known bugs only if they crash or hang."""
    found = []
    for name in in_order(list(a.outcomes), list(b.outcomes)):
        bad = {side: test for side, test in ((side, run.outcomes.get(name)) for side, run in zip(SIDES, (a, b)))
               if test and test.status == FAIL and (not test.known or test.fate in BROKEN)}
        if bad:
            found.append(FailedCase(name, {side: message(test) for side, test in bad.items()},
                                    any(test.fate in BROKEN for test in bad.values()),
                                    all(test.known for test in bad.values())))
    return found


def message(test: TestResult) -> str:
    """The first line of a failure."""
    text = (test.text or ["no message"])[0]
    return text if test.fate or text.startswith("failed: ") else f"failed: {text}"


def first_difference(a: list[Decision], b: list[Decision]) -> int:
    """The number of the first decision that differs."""
    return next((number for number, (one, other) in enumerate(zip(a, b)) if one != other), min(len(a), len(b)))


def of_kind(decisions: list[Decision], kind: str) -> list[object]:
    """The decisions of one kind. Which slots are read is readahead; whether the read fails is I/O."""
    if kind == READAHEAD:
        return [(one.letter, one.area, one.cluster, one.slot, one.count, one.target)
                for one in decisions if one.kind == kind]
    if kind == IO:
        return [one for one in decisions if one.kind == kind or one.failed]
    return [one for one in decisions if one.kind == kind]


def kind_at(a: list[Decision], b: list[Decision], first: int, kinds: list[str]) -> str:
    """The kind of the first difference. If only the order of two kinds differs, it is the later of KINDS."""
    there = [one[first].kind for one in (a, b) if first < len(one)]
    likely = [kind for kind in kinds if kind in there] or kinds or sorted(there, key=KINDS.index)
    return likely[0] if kinds else likely[-1]


def last_lists(scenario: Scenario) -> dict[str, Lists]:
    """The last cluster lists that the log has of each area."""
    return {item.area: item for item in scenario.items if isinstance(item, Lists)}
