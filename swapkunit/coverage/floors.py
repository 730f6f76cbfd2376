# SPDX-License-Identifier: GPL-2.0
"""coverage/floor.json: the least percentage of lines to reach, by kernel series and file."""
from __future__ import annotations

import json
import math
from pathlib import Path

from .counters import WATCHED
from ..base.errors import SwapKunitError
from ..base.layout import REPO

FLOORS = REPO / "coverage/floor.json"
Floors = dict[str, dict[str, float]]    # series -> file -> percent


def load(path: Path = FLOORS) -> Floors:
    """The floors; none if the file does not exist. Raises SwapKunitError if it is broken."""
    try:
        floors: Floors = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SwapKunitError(f"cannot read the coverage floors {path}: {error}; correct the file") from error
    good = isinstance(floors, dict) and all(
        isinstance(files, dict) and all(name in WATCHED and type(value) in (int, float) and
                                        0 <= value <= 100 for name, value in files.items())
        for files in floors.values())
    if not good:
        raise SwapKunitError(f"cannot use the coverage floors {path}: they must be series -> file -> "
                             f"percent, with the files {', '.join(WATCHED)}; correct the file")
    return floors


def below(floors: Floors, series: str, reached: dict[str, float]) -> list[str]:
    """A sentence for each file below its floor, or no longer counted. reached: file -> percent."""
    found = []
    for name, floor in floors.get(series, {}).items():
        if name not in reached:
            found.append(f"{name}: not counted, but its floor for Linux {series} is {floor:.1f} %")
        elif reached[name] < floor:
            found.append(f"{name}: {reached[name]:.2f} % of its lines are reached; its floor for "
                         f"Linux {series} is {floor:.1f} %")
    return found


def raise_floors(floors: Floors, series: str, reached: dict[str, float]) -> list[str]:
    """Raise the floors of series to just below what is reached; returns a sentence for each that rose.

    The margin is at least half a percent, because another gcc finds code in a few other lines.
    """
    rose = []
    mine = floors.setdefault(series, {})
    for name, percent in reached.items():
        new = float(max(math.floor(percent - 0.5), 0))
        if new > mine.get(name, 0.0):
            rose.append(f"{name}: floor for Linux {series} raised from {mine.get(name, 0.0):.1f} to "
                        f"{new:.1f} %")
            mine[name] = new
    return rose


def save(floors: Floors, path: Path = FLOORS) -> None:
    """Write floors, sorted, so that changing one changes one line."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(floors, indent=2, sort_keys=True) + "\n")
