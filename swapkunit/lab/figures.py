# SPDX-License-Identifier: GPL-2.0
"""What a boot of an experiment printed, and the figures made of it. kunit/fixture/lab_latency.c has the form."""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from statistics import median
from typing import Iterable

from ..base.errors import SwapKunitError
from ..base.text import did_you_mean

ROW = re.compile(r"lab: (?:figure (\S+) (\d+)|bucket (\S+) (\d+) (\d+))$")
PAGE_KB = 4
UNITS = {"_us": 1e3, "_ms": 1e6, "_s": 1e9}


@dataclass
class Measured:
    """One boot: figures by name, histograms as name -> [(lowest ns, number)], and the rows as printed."""

    figures: dict[str, float] = field(default_factory=dict)
    buckets: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    rows: list[str] = field(default_factory=list)


def parse(lines: Iterable[str]) -> Measured:
    """The rows in a console's lines."""
    found = Measured()
    for line in lines:
        row = ROW.search(line)
        if not row:
            continue
        found.rows.append(row[0])
        if row[1]:
            found.figures[row[1]] = int(row[2])
        else:
            found.buckets.setdefault(row[3], []).append((int(row[4]), int(row[5])))
    derive(found.figures)
    return found


def derive(figures: dict[str, float]) -> None:
    """Add what follows from other figures."""
    for name, value in list(figures.items()):
        if name.endswith("_ns"):
            figures.update({name[:-3] + unit: value / factor for unit, factor in UNITS.items()})
        if name.endswith("_fallback") and value + figures.get(name[:-9] + "_swpout", 0):
            figures[name + "_rate"] = value / (value + figures.get(name[:-9] + "_swpout", 0))
    if "swap_ra" in figures:
        figures["wasted"] = max(0, figures["swap_ra"] - figures.get("swap_ra_hit", 0))
    if figures.get("elapsed_ns") and "fault_nr" in figures:
        figures["swapin_kbps"] = figures["fault_nr"] * PAGE_KB / (figures["elapsed_ns"] / 1e9)
    if figures.get("major_nr"):
        figures["reads_per_fault"] = figures["pswpin"] / figures["major_nr"]


def values(runs: list[Measured], name: str) -> list[float]:
    """A figure in each run. Raises SwapKunitError if it was not measured."""
    for run in runs:
        if name not in run.figures:
            raise SwapKunitError(f"the experiment does not measure {name}; {did_you_mean(name, run.figures)}it "
                                 f"measures {', '.join(sorted(run.figures))}")
    return [run.figures[name] for run in runs]


def middle(numbers: list[float]) -> float:
    """The median."""
    return float(median(numbers))


def histogram(runs: list[Measured], name: str) -> list[tuple[int, int]]:
    """The buckets of all runs together, the lowest first."""
    sums: dict[int, int] = {}
    for run in runs:
        for lowest, number in run.buckets.get(name, []):
            sums[lowest] = sums.get(lowest, 0) + number
    return sorted(sums.items())
