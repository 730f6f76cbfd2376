# SPDX-License-Identifier: GPL-2.0
"""Both sides of an experiment next to each other, next to the published figures."""
from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from ..base.text import plural
from .experiment import LESS, MORE, Comparison, Experiment
from .figures import middle, values
from .measure import Side

WIDTH = 100


@dataclass(frozen=True)
class Row:
    """A figure of both sides: medians, lowest and highest over the seeds. good: as expected, or nothing is."""

    asked: Comparison
    ours: tuple[float, float]
    spread: tuple[tuple[float, float], tuple[float, float]]
    good: bool

    @property
    def ratio(self) -> float | None:
        """Second side / first side."""
        return quotient(self.ours)

    @property
    def published_ratio(self) -> float | None:
        """The same of the published figures."""
        return quotient(self.asked.published) if self.asked.published else None


def quotient(pair: tuple[float, float]) -> float | None:
    """Second / first; None if the first is 0."""
    return pair[1] / pair[0] if pair[0] else None


def rows(experiment: Experiment, sides: list[Side]) -> list[Row]:
    """A row for each comparison. Raises SwapKunitError for a figure that was not measured."""
    return [row(asked, *(values(side.measured, asked.figure) for side in sides)) for asked in experiment.compare]


def row(asked: Comparison, first: list[float], second: list[float]) -> Row:
    """The row of one comparison: the medians must differ as expected."""
    ours = (middle(first), middle(second))
    good = {LESS: ours[1] < ours[0], MORE: ours[1] > ours[0]}.get(asked.expect, True)
    return Row(asked, ours, ((min(first), max(first)), (min(second), max(second))), good)


def number(value: float) -> str:
    """At most four digits after small numbers: "57.4", "0.042", "94,663"."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def times(ratio: float | None) -> str:
    """A ratio, or "-"."""
    return "-" if ratio is None else f"x{ratio:.3g}"


def with_spread(value: float, spread: tuple[float, float]) -> str:
    """"57.4 (55.1 to 60.2)"; without the spread if there is none."""
    low, high = map(number, spread)
    return number(value) if low == high else f"{number(value)} ({low} to {high})"


def text(experiment: Experiment, sides: list[Side]) -> str:
    """The whole table."""
    found = rows(experiment, sides)
    lines = [f"{experiment.name}: {experiment.title}", ""]
    lines += wrapped(experiment.about) if experiment.about else []
    for letter, side in zip("AB", sides):
        lines.append(f"  {letter}  {side.plan.name}: Linux {side.kernel.version}"
                     + "".join(f" + {policy}" for policy in side.plan.policies))
    head = ["", "A", "B", "B/A", "published A", "B", "B/A", "direction"]
    cells = [head, *map(cells_of, found)]
    wide = [max(len(line[column]) for line in cells) for column in range(len(head))]
    lines.append("")
    for line in cells:
        lines.append("  ".join([line[0].ljust(wide[0]), *(cell.rjust(width) for cell, width in
                                                          zip(line[1:-1], wide[1:])), line[-1]]).rstrip())
    lines += ["", f"medians of {plural(len(experiment.seeds), 'seed')} (lowest to highest)"]
    for one in found:
        lines += notes(one)
    for device, source in experiment.devices.items():
        lines += wrapped(f"{device}: {source}")
    return "\n".join(lines)


def cells_of(one: Row) -> list[str]:
    """The cells of one row."""
    published = [*map(number, one.asked.published), times(one.published_ratio)] if one.asked.published else ["-"] * 3
    verdict = "" if not one.asked.expect else "as expected" if one.good else f"NOT as expected: {one.asked.expect}"
    return [one.asked.name, *(with_spread(value, spread) for value, spread in zip(one.ours, one.spread)),
            times(one.ratio), *published, verdict]


def notes(one: Row) -> list[str]:
    """Where the published figures are from, and why ours differ."""
    parts = [one.asked.source, one.asked.why]
    return wrapped(f"{one.asked.name}: " + "; ".join(part for part in parts if part)) if any(parts) else []


def wrapped(words: str) -> list[str]:
    """A paragraph."""
    return textwrap.wrap(words, WIDTH, subsequent_indent="  ")


def wrong(experiment: Experiment, sides: list[Side]) -> list[str]:
    """What is not as expected, and runs that are not the same each time."""
    found = [f"{one.asked.name}: {number(one.ours[0])} and {number(one.ours[1])}, {one.asked.expect} expected of the "
             f"second side" for one in rows(experiment, sides) if not one.good]
    return found + [f"{side.plan.name}: not the same each time with seed {', '.join(map(str, side.changed))}"
                    for side in sides if side.changed]


def as_json(found: list[tuple[Experiment, list[Side]]]) -> list[dict[str, Any]]:
    """All that was measured."""
    return [{"experiment": one.name, "title": one.title, "sides": [{
        "name": side.plan.name, "kernel": side.kernel.version, "policies": side.plan.policies,
        "arguments": side.plan.args,
        "runs": {str(seed): {"figures": run.figures, "histograms": run.buckets} for seed, run in side.runs.items()}}
        for side in sides]} for one, sides in found]
