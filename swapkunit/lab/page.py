# SPDX-License-Identifier: GPL-2.0
"""Experiments as an HTML page."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from . import curves, table
from .experiment import Experiment
from .figures import histogram
from .measure import Side
from ..base import pages


@dataclass(frozen=True)
class Section:
    """One experiment."""

    experiment: Experiment
    sides: list[Side]
    rows: list[table.Row]

    @property
    def drawings(self) -> list[str]:
        """SVG of the latencies that both sides have."""
        names = dict.fromkeys(name for run in self.sides[0].measured for name in run.buckets)
        found = []
        for name in names:
            both = [histogram(side.measured, name) for side in self.sides]
            if all(both):
                found += [curves.cdf(both), curves.counts(both)]
        return found

    @property
    def good(self) -> bool:
        """Whether all is as expected."""
        return not table.wrong(self.experiment, self.sides)


def render(found: list[tuple[Experiment, list[Side]]]) -> str:
    """The page. Needs jinja2, which deps.PAGES names."""
    sections = [Section(one, sides, table.rows(one, sides)) for one, sides in found]
    return pages.render(Path(__file__).with_suffix(".html"), sections=sections, number=table.number,
                        times=table.times, spread=table.with_spread)
