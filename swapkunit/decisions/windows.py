# SPDX-License-Identifier: GPL-2.0
"""Readahead windows and other I/O drawn against the faults, from top to bottom as they came."""
from __future__ import annotations

from dataclasses import dataclass

from . import svg
from .diff import SIDES, Moved
from .notation import ALLOCATION, CLUSTER, MEANING, Area, Decision, Fault, Scenario

LABEL, PLOT, GAP, ROW, BAR = 118, 300, 24, 18, 11       # pixels
BEFORE, AFTER = 5, 20       # rows shown before the first difference, and from it on
TICKS = 8                   # at most, on the axis of slots


@dataclass(frozen=True)
class Row:
    """One step: a fault, I/O, or a fault and the read it led to. Slots are counted through."""

    number: int         # of the decision; of the next one, for a fault alone
    text: str
    kind: str
    start: int
    end: int
    fault: int | None = None


def rows_of(scenario: Scenario, areas: bool) -> list[Row]:
    """All faults and I/O of a scenario."""
    size = size_of(scenario)
    rows: list[Row] = []
    number = 0
    waiting: tuple[int, Row, Fault] | None = None       # a fault that has not read yet, and its place
    for item in scenario.items:
        if isinstance(item, Fault):
            settle(rows, waiting)
            waiting = len(rows), lone_fault(item, number, size), item
        elif isinstance(item, Decision):
            if item.target is not None:
                if waiting and waiting[2] != Fault(item.area, item.cluster, item.target):
                    settle(rows, waiting)
                waiting = None
            if item.kind != ALLOCATION:
                rows.append(io_row(item, number, size, areas))
            number += 1
    settle(rows, waiting)
    return rows


def settle(rows: list[Row], waiting: tuple[int, Row, Fault] | None) -> None:
    """Put a fault that read nothing where it came."""
    if waiting:
        rows.insert(waiting[0], waiting[1])


def size_of(scenario: Scenario) -> int:
    """Slots of a cluster."""
    return next((item.size for item in scenario.items if isinstance(item, Area)), CLUSTER)


def lone_fault(fault: Fault, number: int, size: int) -> Row:
    """A fault that read nothing: the slot was in the swap cache, say."""
    position = fault.cluster * size + fault.slot
    return Row(number, f"fault {fault.cluster}:{fault.slot}, no read", "none", position, position, position)


def io_row(decision: Decision, number: int, size: int, areas: bool) -> Row:
    """A read, a write, a discard."""
    start = decision.cluster * size + decision.slot
    fault = None if decision.target is None else decision.cluster * size + decision.target
    return Row(number, decision.text(areas), decision.letter, start, start + decision.slots(size), fault)


def around(rows: list[Row], first: int) -> list[Row]:
    """The rows near decision number first."""
    place = next((place for place, row in enumerate(rows) if row.number >= first), len(rows))
    return rows[max(place - BEFORE, 0):place + AFTER]


@dataclass(frozen=True)
class Scale:
    """From slots to pixels."""

    low: int
    high: int
    size: int

    def x(self, left: float, slot: float) -> float:
        """Where slot starts, in a plot that starts at left."""
        return left + (slot - self.low) * PLOT / (self.high - self.low)

    def ticks(self) -> list[int]:
        """Round slots to name on the axis."""
        step = next(step for step in (2 ** power for power in range(40))
                    if (self.high - self.low) / step <= TICKS)
        return [slot for slot in range(self.low - self.low % step, self.high, step) if slot >= self.low]

    def name(self, slot: int) -> str:
        """cluster:slot"""
        return f"{slot // self.size}:{slot % self.size}"


def draw(moved: Moved) -> str:
    """The SVG of one scenario, A beside B on one scale; "" where there is no I/O near the difference."""
    areas = moved.a.areas or moved.b.areas
    sides = [around(rows_of(scenario, areas), moved.first) for scenario in (moved.a, moved.b)]
    rows = [row for side in sides for row in side]
    if not rows:
        return ""
    low, high = min(row.start for row in rows), max(max(row.end, row.start + 1) for row in rows)
    scale = Scale(low - low % 8, max(high + -high % 8, low + 16), size_of(moved.a))
    picture = svg.Picture(2 * (LABEL + PLOT) + GAP + 8)
    height = max(map(len, sides)) * ROW
    for index, side in enumerate(sides):
        left = index * (LABEL + PLOT + GAP)
        picture.label(left, 14, SIDES[index], "title")
        axis(picture, scale, left + LABEL, height)
        for number, row in enumerate(side):
            marked = row.number >= moved.first and not any(one.number >= moved.first for one in side[:number])
            draw_row(picture, scale, left, 40 + number * ROW, row, marked)
    picture.down(46 + height)
    return picture.text()


def axis(picture: svg.Picture, scale: Scale, left: float, height: float) -> None:
    """Lines at round slots, with their names."""
    for slot in scale.ticks():
        picture.line(scale.x(left, slot), 32, height + 6, "grid")
        picture.label(scale.x(left, slot), 28, scale.name(slot), "tick")


def draw_row(picture: svg.Picture, scale: Scale, left: float, y: float, row: Row, marked: bool) -> None:
    """One step: its notation, its bar, and where the fault was."""
    if marked:
        picture.rect(left - 4, y - 2, LABEL + PLOT + 8, ROW, "first", "first difference")
    picture.label(left, y + BAR, row.text, "name")
    x = scale.x(left + LABEL, row.start)
    if row.end > row.start:
        picture.rect(x, y + 2, max(scale.x(left + LABEL, row.end) - x - 0.5, 1.5), BAR, row.kind,
                     f"{row.text}: {MEANING[row.kind]}")
    if row.fault is not None:
        picture.marker(scale.x(left + LABEL, row.fault + 0.5), y + 5, "fault" if row.end > row.start else "fault lone")
