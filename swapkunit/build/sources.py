# SPDX-License-Identifier: GPL-2.0
"""The files that compilers and kernels name, as the user can open them: in the kernel tree, or in this project."""
from __future__ import annotations

import os
import re
from pathlib import Path

from ..base.layout import REPO
from ..base.text import relative
from .overlay import BUILD, OWN_DIR, PATCHED, SRC

OWN = "swap-kunit/"        # prefix for this project's files in compiler messages
MAPPED = re.compile(r"\.\./((?:[\w-]+/)*[\w-]+?)(_real)?(\.[ch])(?=:)")
FILE = re.compile(r"(?<![\w./-])(?:\./|\.\./)?((?:[\w.-]+/)+(?:[\w.-]+\.[chS]|Kconfig[\w.]*|Makefile))(?=:\d)")


def named(line: str) -> str:
    """A compiler message with the kernel's real file names, and OWN before those of ours.

    In the overlay the kernel's own mm/NAME.c is NAME_real.c, beside our wrapper of that name.
    """
    def name(match: re.Match[str]) -> str:
        path = match[1] + match[3]
        ours = not match[2] and (path.startswith(f"{OWN_DIR}/") or (REPO / path).exists())
        return (OWN if ours else "") + path
    return MAPPED.sub(name, re.sub(r"\b(Kconfig|Makefile)\.real\b", r"\1", line))


def find(tree: Path, name: str) -> Path | None:
    """The file that is called name in an overlay: this project's, a patched copy, or the user's; None if none is.

    The kernel calls our part of mm/swapfile.c mm/kunit/swapfile_access.c.
    """
    name = re.sub(rf"^{OWN_DIR}/(\w+)_access\.c$", rf"{OWN}mm/\1.c", name)
    if name.startswith((OWN, f"{OWN_DIR}/")):
        name = name.removeprefix(OWN)
        return REPO / (f"kunit/{name.removeprefix(OWN_DIR + '/')}" if name.startswith(f"{OWN_DIR}/") else name)
    source = os.readlink(tree / SRC) if (tree / SRC).is_symlink() else ""
    places = [tree / PATCHED, *([Path(source)] if source else []), tree / BUILD]
    return next((place / name for place in places if (place / name).is_file()), None)


def openable(line: str, tree: Path) -> str:
    """A compiler message as an editor finds its files from the current directory."""
    def path(match: re.Match[str]) -> str:
        found = find(tree, match[1])
        return relative(found) if found else match[0]
    return FILE.sub(path, named(line))
