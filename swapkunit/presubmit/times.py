# SPDX-License-Identifier: GPL-2.0
"""How long the steps of a new base take: the median of their last runs on this machine."""
from __future__ import annotations

import contextlib
from statistics import median

from ..base.layout import cache_dir
from .store import Store

BASE, CONFIGURATIONS, LINES = "build and suites", "other configurations", "coverage"
RUNS = 5            # kept of each step
NAME = "seconds"    # the file: step -> seconds of its last runs


def expected(steps: list[str], later: list[str]) -> str:
    """The steps that are done for the first time, later ones after the first report, in a line for the user."""
    known: dict[str, list[float]] = Store(cache_dir()).get(NAME) or {}
    new = [step for step in (*steps, *later) if step not in known]
    now, then = (", ".join(f"{step} about {readable(median(known[step]))}" if step in known else step
                           for step in names) for names in (steps, later))
    parts = [now] * bool(now) + [f"after the first report: {then}"] * bool(then)
    which = f": {', '.join(new)}" if len(new) < len(steps + later) else ""
    untimed = f" (not timed on this machine yet{which})"
    return f"the first time on this base: {'; '.join(parts)}{untimed * bool(new)}; a later series on it takes much less"


def remember(step: str, seconds: float) -> None:
    """A step of a new base took so long."""
    store = Store(cache_dir())
    with contextlib.suppress(OSError):      # such as a cache of somebody else's
        known = store.get(NAME) or {}
        store.put(NAME, {**known, step: [*known.get(step, []), round(seconds, 1)][-RUNS:]})


def readable(seconds: float) -> str:
    """90 as "90 s", 400 as "7 min"."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
