# SPDX-License-Identifier: GPL-2.0
"""Small pieces of text for people."""
from __future__ import annotations

import os
from pathlib import Path


def relative(path: Path) -> str:
    """path as seen from the current directory, when that is shorter."""
    return min(str(path), os.path.relpath(path), key=len)


def plural(number: int, word: str) -> str:
    """'1 mail', '2 mails'."""
    return f"{number} {word}" + ("" if number == 1 else "s")
