# SPDX-License-Identifier: GPL-2.0
"""Draw readahead windows and other I/O beside the faults, in order from top to bottom."""
from __future__ import annotations

from dataclasses import dataclass

from . import svg
from .diff import SIDES, Moved
from .notation import ALLOCATION, CLUSTER, MEANING, Area, Decision, Fault, Scenario

LABEL, PLOT, GAP, ROW, BAR = 118, 300, 24, 18, 11       # pixels
BEFORE, AFTER = 5, 20       # rows shown before the first difference, and from it on
TICKS = 8                   # most labels on the axis


@dataclass(frozen=True)
class Row:
    """One step: a fault, I/O, or a fault with its read. Slots are numbered from the first of cluster 0."""

    number: int         # of the decision, or of the next one if the fault has none
    text: str
    kind: str
    start: int
    end: int
    fault: int | None = None


def rows_of(scenario: Scenario, areas: bool) -> list[Row]:
    """All faults and I/O of a scenario; areas: name the area of each."""
    size = size_of(scenario)
    rows: list[Row] = []
    number = 0
    waiting: tuple[int, Row, Fault] | None = None       # a fault without a read so far, and its place in rows
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
    """Insert the row of a fault that turned out to have no read."""
    if waiting:
        rows.insert(waiting[0], waiting[1])


def size_of(scenario: Scenario) -> int:
    """Slots of a cluster, as the scenario's first area has them."""
    return next((item.size for item in scenario.items if isinstance(item, Area)), CLUSTER)


def lone_fault(fault: Fault, number: int, size: int) -> Row:
    """The row of a fault without a read, because the slot was in the swap cache for example."""
    position = fault.cluster * size + fault.slot
    return Row(number, f"fault {fault.cluster}:{fault.slot}, no read", "none", position, position, position)


def io_row(decision: Decision, number: int, size: int, areas: bool) -> Row:
    """The row of a read, a write or a discard."""
    start = decision.cluster * size + decision.slot
    fault = None if decision.target is None else decision.cluster * size + decision.target
    return Row(number, decision.text(areas), decision.letter, start, start + decision.slots(size), fault)


def around(rows: list[Row], first: int) -> list[Row]:
    """The rows around decision number first."""
    place = next((place for place, row in enumerate(rows) if row.number >= first), len(rows))
    return rows[max(place - BEFORE, 0):place + AFTER]


@dataclass(frozen=True)
class Scale:
    """Converts slots to pixels; low, high: the slots shown; size: of a cluster."""

    low: int
    high: int
    size: int

    def x(self, left: float, slot: float) -> float:
        """The position of slot in a plot that starts at left."""
        return left + (slot - self.low) * PLOT / (self.high - self.low)

    def ticks(self) -> list[int]:
        """The slots to label on the axis."""
        step = next(step for step in (2 ** power for power in range(40))
                    if (self.high - self.low) / step <= TICKS)
        return [slot for slot in range(self.low - self.low % step, self.high, step) if slot >= self.low]

    def name(self, slot: int) -> str:
        """cluster:slot"""
        return f"{slot // self.size}:{slot % self.size}"


def draw(moved: Moved) -> str:
    """The SVG of one scenario, A beside B to the same scale; "" if there is no I/O near the difference."""
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
    """Vertical lines with labels."""
    for slot in scale.ticks():
        picture.line(scale.x(left, slot), 32, height + 6, "grid")
        picture.label(scale.x(left, slot), 28, scale.name(slot), "tick")


def draw_row(picture: svg.Picture, scale: Scale, left: float, y: float, row: Row, marked: bool) -> None:
    """One step: its notation, its bar, and a marker at the slot that faulted."""
    if marked:
        picture.rect(left - 4, y - 2, LABEL + PLOT + 8, ROW, "first", "first difference")
    picture.label(left, y + BAR, row.text, "name")
    x = scale.x(left + LABEL, row.start)
    if row.end > row.start:
        picture.rect(x, y + 2, max(scale.x(left + LABEL, row.end) - x - 0.5, 1.5), BAR, row.kind,
                     f"{row.text}: {MEANING[row.kind]}")
    if row.fault is not None:
        picture.marker(scale.x(left + LABEL, row.fault + 0.5), y + 5, "fault" if row.end > row.start else "fault lone")
