# SPDX-License-Identifier: GPL-2.0
"""What two runs decided otherwise.

    difference = compare(Path("out/7.3/default"), Path("out/6.12/default"))
    difference.moved        # scenarios of both with other decisions
    difference.same         # nothing differs, and nothing stood in the way of seeing it

A scenario is a case, or one parameter of it, that left decisions in decisions.txt. Where one
side has none of it, its outcome there says why: skipped for want of a mechanism, say, is no
moved decision; and a case that crashed is never taken for one that decides alike.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..run import results
from ..base.errors import SwapKunitError
from ..base.layout import Layout
from .notation import IO, KINDS, READAHEAD, Decision, Lists, Scenario, parse_log
from ..run.results import FAIL, SKIPPED, Leaf

SIDES = ("A", "B")
BROKEN = ("crashed", "hung")


@dataclass
class Recorded:
    """One run as its output directory tells it. name is for people."""

    name: str
    scenarios: dict[str, Scenario] = field(default_factory=dict)
    outcomes: dict[str, Leaf] = field(default_factory=dict)
    kernel: str = ""

    def outcome(self, name: str) -> Leaf | None:
        """What became of a scenario: its own result, or its case's where only that has one."""
        return self.outcomes.get(name) or self.outcomes.get(name.partition("[")[0])


@dataclass
class Moved:
    """A scenario of both sides that decides otherwise, from decision number first on.

    kinds are all that differ, kind the one the first difference is of.
    """

    name: str
    a: Scenario
    b: Scenario
    first: int
    kind: str
    kinds: list[str]

    @property
    def rules(self) -> tuple[str, str]:
        """The rule named at the first difference, on either side; "" for none."""
        return self.a.rule_at(self.first), self.b.rule_at(self.first)

    @property
    def words(self) -> tuple[list[str], list[str]]:
        """The decisions of A and of B in the notation."""
        areas = self.a.areas or self.b.areas
        return self.a.words(areas), self.b.words(areas)


@dataclass
class Alone:
    """A scenario that one side has and the other not, and why."""

    name: str
    side: str
    why: str


@dataclass
class Trouble:
    """A case that failed, crashed or hung; by side what it said. broken: it tells nothing of its decisions."""

    name: str
    texts: dict[str, str]
    broken: bool
    known: bool

    @property
    def counts(self) -> bool:
        """Whether the sides cannot be called alike for it."""
        return self.broken and not self.known or len(self.texts) < 2


@dataclass
class Difference:
    """Two runs, scenario by scenario. compared counts those of both."""

    a: Recorded
    b: Recorded
    compared: int = 0
    moved: list[Moved] = field(default_factory=list)
    alone: list[Alone] = field(default_factory=list)
    trouble: list[Trouble] = field(default_factory=list)
    lists_only: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether every scenario is in both, ended alike, and decides alike."""
        return not self.moved and not self.alone and not any(one.counts for one in self.trouble)

    def count(self, kind: str) -> int:
        """How many moved scenarios differ in kind first."""
        return sum(one.kind == kind for one in self.moved)

    def to_json(self) -> dict:
        """For scripts."""
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
                         **{side.lower(): text for side, text in one.texts.items()}} for one in self.trouble],
            "lists_only": self.lists_only,
        }


# -- reading -----------------------------------------------------------------


def load(out: Path, name: str = "") -> Recorded:
    """The run that an output directory holds. Raises SwapKunitError when it holds none that ended."""
    layout = Layout(out)
    summary = results.read_summary(layout)
    if not summary or summary.get("interrupted"):
        raise SwapKunitError(f"cannot compare the run in {out}: there is none that came to its end; run it again")
    try:
        leaves = results.read_outcomes(layout)
        scenarios = parse_log((out / "decisions.txt").read_text())
    except (OSError, ValueError, TypeError) as error:
        raise SwapKunitError(f"cannot compare the run in {out}: {error}; run it again with this swap-kunit") \
            from error
    return Recorded(name or str(out), scenarios, {leaf.name: leaf for leaf in leaves}, summary.get("kernel", ""))


# -- comparing ---------------------------------------------------------------


def compare(a: Path | Recorded, b: Path | Recorded) -> Difference:
    """What differs between two runs, given as output directories or loaded. Raises SwapKunitError."""
    a = load(a) if isinstance(a, Path) else a
    b = load(b) if isinstance(b, Path) else b
    found = Difference(a, b)
    found.trouble = troubles(a, b)
    broken = {one.name for one in found.trouble if one.broken}
    for name in in_order(list(a.scenarios), list(b.scenarios)):
        compare_scenario(found, name, broken)
    return found


def in_order(first: list[str], second: list[str]) -> list[str]:
    """All names, those of second alone put behind what they follow there."""
    names, known, behind = list(first), set(first), -1
    for name in second:
        if name in known:
            behind = names.index(name)
        else:
            behind += 1
            names.insert(behind, name)
    return names


def compare_scenario(found: Difference, name: str, broken: set[str]) -> None:
    """Put one scenario where it belongs in found."""
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
    kinds = kinds_of(a.decisions, b.decisions)
    found.moved.append(Moved(name, a, b, first, kind_at(a.decisions, b.decisions, first, kinds), kinds))


def why_absent(run: Recorded, name: str) -> str:
    """Why a run cannot have this scenario; "" where it has it, or had it and decided nothing."""
    outcome = run.outcome(name)
    if outcome is None:
        return "" if name in run.scenarios else "no such case there"
    if outcome.status == SKIPPED:
        return outcome.reason or "skipped there, for no reason given"
    return ""


def troubles(a: Recorded, b: Recorded) -> list[Trouble]:
    """What failed, crashed or hung on either side; a known bug only where it breaks off its case."""
    found = []
    for name in in_order(list(a.outcomes), list(b.outcomes)):
        bad = {side: leaf for side, leaf in ((side, run.outcomes.get(name)) for side, run in zip(SIDES, (a, b)))
               if leaf and leaf.status == FAIL and (not leaf.known or leaf.fate in BROKEN)}
        if bad:
            found.append(Trouble(name, {side: said(leaf) for side, leaf in bad.items()},
                                 any(leaf.fate in BROKEN for leaf in bad.values()),
                                 all(leaf.known for leaf in bad.values())))
    return found


def said(leaf: Leaf) -> str:
    """A failed leaf in a few words."""
    text = (leaf.text or ["it gave no text"])[0]
    return text if leaf.fate or text.startswith("failed: ") else f"failed: {text}"


def first_difference(a: list[Decision], b: list[Decision]) -> int:
    """The number of the first decision that is not the same in both."""
    return next((number for number, (one, other) in enumerate(zip(a, b)) if one != other), min(len(a), len(b)))


def of_kind(decisions: list[Decision], kind: str) -> list[object]:
    """What of decisions says something of kind. Whether a read succeeded is I/O; which slots, readahead."""
    if kind == READAHEAD:
        return [(one.letter, one.area, one.cluster, one.slot, one.count, one.target)
                for one in decisions if one.kind == kind]
    if kind == IO:
        return [one for one in decisions if one.kind == kind or one.failed]
    return [one for one in decisions if one.kind == kind]


def kinds_of(a: list[Decision], b: list[Decision]) -> list[str]:
    """The kinds in which a and b differ, each looked at by itself."""
    return [kind for kind in KINDS if of_kind(a, kind) != of_kind(b, kind)]


def kind_at(a: list[Decision], b: list[Decision], first: int, kinds: list[str]) -> str:
    """The kind of the first difference. Where only the order of two kinds differs, the later one moved."""
    there = [one[first].kind for one in (a, b) if first < len(one)]
    likely = [kind for kind in kinds if kind in there] or kinds or sorted(there, key=KINDS.index)
    return likely[0] if kinds else likely[-1]


def last_lists(scenario: Scenario) -> dict[str, Lists]:
    """The cluster lists of each area as the log saw them last."""
    return {item.area: item for item in scenario.items if isinstance(item, Lists)}
