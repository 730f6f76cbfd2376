# SPDX-License-Identifier: GPL-2.0
"""How long a new base takes: as the last one did on this machine."""
from __future__ import annotations

import contextlib

from ..base.layout import cache_dir
from .store import Store

BASE, CONFIGURATIONS, LINES = "build and suites", "other configurations", "coverage"
BUILD = 180.0       # on two idle cores, for the first base of a machine
ON_TWO_CORES = {LINES: 90.0}    # what takes another time than a build
NAME = "times"


def expected(steps: list[str]) -> str:
    """The steps of a new base and how long each of them takes, in a line for the user."""
    known: dict[str, float] = Store(cache_dir()).get(NAME) or {}
    parts = [f"{step} about {readable(known.get(step, ON_TWO_CORES.get(step, BUILD)))}" for step in steps]
    how = "as the last time" if BASE in known else "on two idle cores"
    return f"new base: {', '.join(parts)} ({how}); a later series on it takes much less"


def remember(step: str, seconds: float) -> None:
    """A step of a new base took so long."""
    store = Store(cache_dir())
    with contextlib.suppress(OSError):      # such as a cache of somebody else's
        store.put(NAME, {**(store.get(NAME) or {}), step: round(seconds, 1)})


def readable(seconds: float) -> str:
    """90 as "90 s", 400 as "7 min"."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
