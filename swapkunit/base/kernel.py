# SPDX-License-Identifier: GPL-2.0
"""Kernel trees: their version, and whether they can be tested."""
from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from .errors import SwapKunitError

OLDEST = (5, 10)
READ = ("", "Makefile", "mm", "mm/swapfile.c")     # tell an unreadable file from a missing one
NEEDED = ("mm/swapfile.c", "arch/um", "tools/testing/kunit")


@dataclass(frozen=True)
class Kernel:
    """A kernel tree: its path, version, and origin (for messages)."""

    path: Path
    version: str
    origin: str
    given: bool     # True for KSRC, False for a tree fetched by us

    @property
    def series(self) -> str:
        """VERSION.PATCHLEVEL, such as "7.3"."""
        return ".".join(self.version.split(".")[:2])


def read_version(path: Path) -> str | None:
    """VERSION.PATCHLEVEL.SUBLEVEL-EXTRA of the kernel Makefile in path; None if there is none."""
    try:
        text = (path / "Makefile").read_text(errors="replace")[:4000]
    except OSError:
        return None
    found = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *= *(\S*)", text, re.M))
    if not (found.get("VERSION", "").isdigit() and found.get("PATCHLEVEL", "").isdigit()):
        return None
    return (f"{found['VERSION']}.{found['PATCHLEVEL']}.{found.get('SUBLEVEL') or 0}"
            f"{found.get('EXTRAVERSION', '')}")


def version_key(version: str) -> tuple[int, ...]:
    """The leading numbers of a version, for comparison."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def examine(path: Path, origin: str | None = None) -> Kernel:
    """Check that path is a kernel tree we can test. Raises SwapKunitError."""
    asked = f"cannot test the kernel in '{path}'"
    if not os.path.isdir(path):
        hidden = any(os.path.isdir(above) and not os.access(above, os.X_OK) for above in path.absolute().parents)
        what = "it is a file, not a directory" if os.path.exists(path) else \
            "this user may not access it" if hidden else "there is no such directory"
        raise SwapKunitError(f"{asked}: {what}; "
                             "give an unpacked kernel tree with --ksrc (make: KSRC=)")
    for name in READ:
        if os.path.lexists(path / name) and not os.access(path / name, os.R_OK):
            raise SwapKunitError(f"{asked}: this user may not read {path / name}; check its permissions")
    version = read_version(path)
    if version is None:
        raise SwapKunitError(f"{asked}: it is not a kernel tree (no Makefile with VERSION and "
                             "PATCHLEVEL); give the top directory of a kernel tree")
    if version_key(version)[:2] < OLDEST:
        raise SwapKunitError(f"{asked}: it is Linux {version}, but KUnit on UML needs "
                             "5.10 or newer; give a newer tree")
    for needed in NEEDED:
        if not (path / needed).exists():
            raise SwapKunitError(f"{asked}: Linux {version} there lacks {needed}; "
                                 "give a complete tree (not a sparse checkout or headers only)")
    return Kernel(path.absolute(), version, origin or f"given directory {path}", origin is None)
