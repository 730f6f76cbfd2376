# SPDX-License-Identifier: GPL-2.0
"""Parse the notation of decisions.txt, which kunit/fixture/decisions.h explains.

    log = parse_log(text)               # {"suite.case[parameter]": Scenario}
    log[name].decisions[0].letter       # "A"
    log[name].rule_at(0)                # the rule in force at the first decision
"""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

ALLOCATION, READAHEAD, IO = KINDS = ("allocation", "readahead", "I/O")
KIND_OF = {"A": ALLOCATION, "F": ALLOCATION, "R": READAHEAD, "L": READAHEAD, "W": IO, "S": IO, "D": IO}
MEANING = {"A": "allocated", "F": "freed", "R": "read", "W": "written", "D": "discarded",
           "S": "stored in zswap", "L": "loaded from zswap"}
CLUSTER = 256       # slots, unless a note of the area gives another size
FIRST_AREA = "a"

LINE = re.compile(r"([^\s.]+\.[^\s.\[]+(?:\[.*?\])?) (.*)")
TOKEN = re.compile(r'"(?P<rule>[^"]*)"|\{(?P<note>[^}]*)\}|(?P<word>\S+)')
FAULT = re.compile(r"(?:([a-z])/)?!(-?\d+):(\d+)")
WORD = re.compile(r"(?:(?P<area>[a-z])/)?(?P<letter>[AFRWDSL])(?P<cluster>-?\d+):"
                  r"(?:(?P<whole>\*)|(?P<slot>\d+)(?:(?P<rest>\.\.)|\+(?P<count>\d+)"
                  r"|\^(?P<order>\d+)(?:x(?P<times>\d+))?)?)"
                  r"(?:!(?P<target>\d+))?(?P<failed>x)?")
AREA = re.compile(r"([a-z]) (-?\d+)x(\d+)(?:\+(\d+))?(?: bad ([\d:,-]+))?")
LISTS = re.compile(r"([a-z]) ((?:[a-z]+(?:\^\d+)?:[\d,]+ ?)*)")


@dataclass(frozen=True)
class Decision:
    """A letter and a run of slots; count is None for a run to the end of its cluster."""

    letter: str
    cluster: int
    slot: int
    count: int | None = 1
    order: int = 0
    target: int | None = None
    failed: bool = False
    area: str = FIRST_AREA

    @property
    def kind(self) -> str:
        """ALLOCATION, READAHEAD or IO."""
        return KIND_OF[self.letter]

    def slots(self, cluster: int = CLUSTER) -> int:
        """The number of slots; cluster: slots of a cluster."""
        return cluster - self.slot if self.count is None else self.count

    def text(self, areas: bool = False) -> str:
        """The decision in the notation; areas: start it with its area."""
        if self.order:
            times = (self.count or 0) >> self.order
            run = f"{self.slot}^{self.order}" + (f"x{times}" if times > 1 else "")
        elif self.count is None:
            run = f"{self.slot}.." if self.slot else "*"
        else:
            run = f"{self.slot}" + (f"+{self.count}" if self.count > 1 else "")
        return (f"{self.area}/" if areas else "") + f"{self.letter}{self.cluster}:{run}" \
            + ("" if self.target is None else f"!{self.target}") + "x" * self.failed


@dataclass(frozen=True)
class Fault:
    """A fault, or another reader, needs this slot; a read that follows is a decision of its own."""

    area: str
    cluster: int
    slot: int


@dataclass(frozen=True)
class Rule:
    """The rule that the decisions from here on show."""

    name: str


@dataclass(frozen=True)
class Area:
    """Swapon of an area: whole clusters of size slots, and tail slots after them; bad: (cluster, slot)."""

    name: str
    clusters: int
    size: int = CLUSTER
    tail: int = 0
    bad: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Lists:
    """The cluster lists of an area at this point: "nonfull" or "nonfull^4" -> clusters."""

    area: str
    lists: dict[str, list[int]]

    def of(self, cluster: int) -> str:
        """The list a cluster is on; "" for none."""
        return next((name for name, clusters in self.lists.items() if cluster in clusters), "")


Item = Decision | Fault | Rule | Area | Lists


@dataclass
class Scenario:
    """The log of one case, or of one parameter of it, in order."""

    name: str
    items: list[Item] = field(default_factory=list)

    @cached_property
    def decisions(self) -> list[Decision]:
        """The decisions alone."""
        return [item for item in self.items if isinstance(item, Decision)]

    @property
    def case(self) -> str:
        """suite.case, without the parameter."""
        return self.name.partition("[")[0]

    @property
    def areas(self) -> bool:
        """Whether it uses another area than the first: then each decision names its area."""
        return any(decision.area != FIRST_AREA for decision in self.decisions)

    def words(self, areas: bool = False) -> list[str]:
        """Its decisions in the notation, with their areas if it has several, or if areas is set."""
        return [decision.text(areas or self.areas) for decision in self.decisions]

    def position(self, index: int) -> int:
        """The position in items of decision number index; the end if there are fewer."""
        places = (place for place, item in enumerate(self.items) if isinstance(item, Decision))
        return next((place for number, place in enumerate(places) if number == index), len(self.items))

    def rule_at(self, index: int) -> str:
        """The rule in force at decision number index, else the next one; "" if the log names none."""
        place = self.position(index)
        before = [item.name for item in self.items[:place] if isinstance(item, Rule)]
        after = [item.name for item in self.items[place:] if isinstance(item, Rule)]
        return (before[-1:] or after[:1] or [""])[0]


def parse_log(text: str) -> dict[str, Scenario]:
    """decisions.txt by scenario, in order. Raises ValueError naming the line or word that is wrong."""
    texts: dict[str, list[str]] = {}
    for line in text.splitlines():
        found = LINE.fullmatch(line)
        if not found:
            raise ValueError(f"'{line[:80]}' is not a line of decisions.txt")
        texts.setdefault(found[1], []).append(found[2])
    return {name: Scenario(name, parse(" ".join(pieces))) for name, pieces in texts.items()}


def parse(text: str) -> list[Item]:
    """The items of one scenario's text. Raises ValueError naming the word that is wrong."""
    items: list[Item] = []
    for token in TOKEN.finditer(text):
        if token["rule"] is not None:
            items.append(Rule(token["rule"]))
        elif token["note"] is not None:
            items.append(parse_note(token["note"]))
        else:
            items.append(parse_word(token["word"]))
    return items


@lru_cache(maxsize=1 << 16)     # a log has few different words, and two logs nearly the same
def parse_word(word: str) -> Decision | Fault:
    """One decision, or one fault. Raises ValueError."""
    fault = FAULT.fullmatch(word)
    if fault:
        return Fault(fault[1] or FIRST_AREA, int(fault[2]), int(fault[3]))
    found = WORD.fullmatch(word)
    if not found:
        raise ValueError(f"'{word}' is not a decision")
    order = int(found["order"] or 0)
    count: int | None = int(found["count"] or 1)
    if order:
        count = int(found["times"] or 1) << order
    if found["whole"] or found["rest"]:
        count = None
    return Decision(found["letter"], int(found["cluster"]), int(found["slot"] or 0), count, order,
                    int(found["target"]) if found["target"] else None, bool(found["failed"]),
                    found["area"] or FIRST_AREA)


def parse_note(note: str) -> Area | Lists:
    """The text in braces: an area, or its lists. Raises ValueError."""
    found = AREA.fullmatch(note)
    if found:
        bad = tuple((int(cluster), int(slot)) for cluster, slot in re.findall(r"(-?\d+):(\d+)", found[5] or ""))
        return Area(found[1], int(found[2]), int(found[3]), int(found[4] or 0), bad)
    found = LISTS.fullmatch(note)
    if not found:
        raise ValueError(f"'{{{note}}}' is not a note")
    words = [word.split(":") for word in found[2].split()]
    return Lists(found[1], {name: [int(number) for number in clusters.split(",")] for name, clusters in words})
