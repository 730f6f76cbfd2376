# SPDX-License-Identifier: GPL-2.0
"""The difference between two runs as an HTML page."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from . import slot_map, windows
from .diff import SIDES, Difference, Moved
from .notation import ALLOCATION, KINDS, MEANING
from .text import summary
from ..base import pages

RULE = "another rule"
LEADING, TRAILING = 12, 60      # decisions shown before the first difference, and from it on


@dataclass
class Section:
    """One scenario, with all parameters whose decisions are the same as its own."""

    name: str
    parameters: list[str]
    moved: Moved

    @property
    def lines(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """(side, [(word, CSS class)]) for A and B."""
        a, b = self.moved.words
        tail = alike_at_end(a[self.moved.first:], b[self.moved.first:])
        return [(side, marked(words, self.moved.first, tail)) for side, words in zip(SIDES, (a, b))]

    @property
    def drawings(self) -> list[tuple[str, str]]:
        """(title, SVG)."""
        found = []
        if ALLOCATION in self.moved.kinds:
            found.append(("slots", slot_map.draw(self.moved)))
        if self.moved.kinds != [ALLOCATION]:
            found.append(("faults and I/O", windows.draw(self.moved)))
        return [(title, drawing) for title, drawing in found if drawing]


def alike_at_end(a: list[str], b: list[str]) -> int:
    """The number of words at the end of a and b that are the same."""
    pairs = zip(reversed(a), reversed(b))
    return next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(a), len(b)))


def marked(words: list[str], first: int, tail: int) -> list[tuple[str, str]]:
    """Each word with its CSS class: alike, first or other; long stretches are left out, with a note."""
    shown = [(word, "first" if number == first else "other" if first < number < len(words) - tail else "alike")
             for number, word in enumerate(words)]
    if first == len(words):
        shown.append(("(nothing more)", "first"))
    before, after = shown[:first], shown[first:]
    if len(before) > LEADING:
        before = [(f"… {len(before) - LEADING} alike …", "muted"), *before[-LEADING:]]
    if len(after) > TRAILING:
        after = [*after[:TRAILING], (f"… {len(after) - TRAILING} more", "muted")]
    return before + after


def sections(difference: Difference) -> dict[str, list[Section]]:
    """By what differs, another rule first; parameters of a case with the same decisions and rules share a section."""
    found: dict[tuple[object, ...], Section] = {}
    for one in difference.moved:
        case, _, parameter = one.name.partition("[")
        key = (case, *(" ".join(words) for words in one.words), one.rules)
        section = found.setdefault(key, Section(case, [], one))
        section.parameters += [parameter[:-1]] if parameter else []
    groups: dict[str, list[Section]] = {heading: [] for heading in (RULE, *KINDS)}
    for section in found.values():
        rules = section.moved.rules
        groups[RULE if rules[0] != rules[1] else section.moved.kind].append(section)
    return {heading: list for heading, list in groups.items() if list}


def scenario(section: Section, opened: bool = False) -> str:
    """The part of the page about one section, for another page."""
    return pages.render(Path(__file__).with_name("scenario.html"), section=section, names_of_sides=SIDES, opened=opened,
                        ident="")


def legend() -> str:
    """What letters and shapes mean, for another page."""
    return pages.render(Path(__file__).with_name("legend.html"), meanings=MEANING)


def render(difference: Difference) -> str:
    """The page. Needs jinja2, which deps.PAGES names."""
    alone: dict[tuple[str, str], list[str]] = {}
    for one in difference.alone:
        alone.setdefault((one.side, one.why), []).append(one.name)
    return pages.render(
        Path(__file__).with_suffix(".html"), difference=difference,
        sides=list(zip(SIDES, (difference.a, difference.b))), names_of_sides=SIDES, kinds=KINDS,
        meanings=MEANING, summary=summary(difference), groups=sections(difference), alone=alone)
