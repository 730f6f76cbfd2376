# SPDX-License-Identifier: GPL-2.0
"""Text for people."""
from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from typing import Iterable

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def relative(path: Path) -> str:
    """path as seen from the current directory, when that is shorter."""
    return min(str(path), os.path.relpath(path), key=len)


def did_you_mean(word: str, known: Iterable[str], most: int = 1) -> str:
    """'did you mean kasan? ' if known words, most at the most, are like word, for an error message; otherwise ""."""
    near = difflib.get_close_matches(word, list(known), most)
    return f"did you mean {' or '.join(near)}? " if near else ""


def plural(number: int, word: str) -> str:
    """'1 mail', '2 mails'."""
    return f"{number} {word}" + ("" if number == 1 else "s")


def without_controls(text: str) -> str:
    """Untrusted text with "?" for characters that control a terminal or reorder a line; tabs and newlines stay."""
    return CONTROL.sub("?", text)
