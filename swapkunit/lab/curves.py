# SPDX-License-Identifier: GPL-2.0
"""Latencies of both sides as SVG: the share of events within a time, and how many took how long."""
from __future__ import annotations

import math

from ..decisions.svg import Picture

Histogram = list[tuple[int, int]]
WIDTH, LEFT, PLOT, HEIGHT, BARS = 620.0, 64.0, 530.0, 170.0, 56.0
PER_OCTAVE = 4          # bars of a histogram
UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))


def time_text(nanoseconds: float) -> str:
    """"100 us"."""
    factor, unit = next((one for one in UNITS if nanoseconds >= one[0]), UNITS[-1])
    return f"{nanoseconds / factor:g} {unit}"


class Axis:
    """A logarithmic axis of times, from a power of ten to a power of ten."""

    def __init__(self, sides: list[Histogram]):
        times = [max(1, lowest) for side in sides for lowest, _ in side]
        self.first = math.floor(math.log10(min(times)))
        self.last = max(self.first + 1, math.ceil(math.log10(max(times) * 1.07)))

    def x(self, nanoseconds: float) -> float:
        """The place of a time; those below the first one are at its place."""
        part = (math.log10(max(1.0, nanoseconds)) - self.first) / (self.last - self.first)
        return LEFT + PLOT * min(1.0, max(0.0, part))

    def draw(self, picture: Picture, height: float, labels: bool) -> None:
        """A line for each power of ten."""
        for power in range(self.first, self.last + 1):
            picture.line(self.x(10.0 ** power), 0, height, "grid")
            if labels:
                picture.label(self.x(10.0 ** power) - 14, height + 12, time_text(10.0 ** power), "tick")


def cumulative(side: Histogram) -> list[tuple[int, float]]:
    """(time, share of the events that took less than the next bucket), ascending."""
    total, sum_ = sum(number for _, number in side), 0
    found = []
    for lowest, number in side:
        sum_ += number
        found.append((lowest, sum_ / total))
    return found


def cdf(sides: list[Histogram]) -> str:
    """Both curves; the first is solid and the second dashed, and each ends with its letter."""
    axis, picture = Axis(sides), Picture(WIDTH)
    picture.down(18)
    picture.label(0, -6, "share of events within a time", "title")
    axis.draw(picture, HEIGHT, True)
    for share in (0.0, 0.5, 0.9, 1.0):
        picture.label(LEFT - 34, HEIGHT * (1 - share) + 4, f"{share:.0%}", "tick")
    for letter, side in zip("AB", sides):
        points = [(axis.x(side[0][0]), HEIGHT)]
        for lowest, share in cumulative(side):
            points += [(axis.x(lowest), points[-1][1]), (axis.x(lowest), HEIGHT * (1 - share))]
        picture.path(points, f"curve {letter}")
        middle = next(point for point in points if point[1] <= HEIGHT * (0.5 if letter == "A" else 0.35))
        picture.label(middle[0] + 5, middle[1] + 10, letter, "title")
    picture.down(HEIGHT + 20)
    return picture.text()


def bars(side: Histogram) -> dict[int, int]:
    """Events by bar; PER_OCTAVE bars are a factor of two."""
    found: dict[int, int] = {}
    for lowest, number in side:
        place = math.floor(math.log2(max(1, lowest)) * PER_OCTAVE + 1e-9)
        found[place] = found.get(place, 0) + number
    return found


def counts(sides: list[Histogram]) -> str:
    """A histogram for each side, one below the other, with one axis."""
    axis, picture = Axis(sides), Picture(WIDTH)
    both = [bars(side) for side in sides]
    most = max(max(side.values()) for side in both)
    picture.down(18)
    picture.label(0, -6, "number of events by time", "title")
    for letter, side in zip("AB", both):
        axis.draw(picture, BARS, letter == "B")
        picture.label(0, BARS - 4, letter, "title")
        for place, number in side.items():
            low, high = 2 ** (place / PER_OCTAVE), 2 ** ((place + 1) / PER_OCTAVE)
            tall = max(1.0, (BARS - 6) * number / most)
            picture.rect(axis.x(low), BARS - tall, max(1.5, axis.x(high) - axis.x(low) - 0.5), tall, f"bar {letter}",
                         f"{time_text(round(low))} to {time_text(round(high))}: {number}")
        picture.down(BARS + 8)
    picture.down(14)
    return picture.text()
