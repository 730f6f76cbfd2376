# SPDX-License-Identifier: GPL-2.0
"""Colors on a terminal: never the only sign of anything."""
from __future__ import annotations

import os
import sys

RED, GREEN, YELLOW = "31", "32", "33"
WHEN = ("auto", "always", "never")


class _State:
    when = WHEN[0]


def choose(when: str) -> None:
    """Set when to use colors, one of WHEN."""
    _State.when = when


def paint(text: str, color: str) -> str:
    """text in a color, if colors are wanted: by default on a terminal, unless NO_COLOR is set."""
    wanted = _State.when == "always" or (_State.when == "auto" and sys.stdout.isatty()
                                         and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")
    return f"\033[{color}m{text}\033[m" if wanted else text
