# SPDX-License-Identifier: GPL-2.0
"""Output directories: only what is empty or ours becomes one, and only what we wrote is removed from it."""
from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Iterator

from .errors import SwapKunitError
from .kernel import read_version

MARK = ".swap-kunit"    # a file in every output directory, with the number of directories above it that we made
LOCK = ".lock"
LINK = "build"          # in the output directory of a run
# What a run or presubmit writes into its output directory, and what verbs write into the parent of several.
WRITTEN = re.compile(
    r"tree|build|build\.log|building|kunitconfig|fit\.mk|(configured|cases|durations|outcomes|summary|results)\.json"
    r"|ktap\.log|run\.log|logs|junit\.xml|decisions(\.txt)?|coverage|mutants|compile_commands\.json"
    r"|log\.txt|own|patches|report|steps|checks|try-.*|pristine(-of)?|unfinished-test|series|copying"
    rf"|{re.escape(LOCK)}|\.removing-.*|{re.escape(MARK)}|\..*\.\d+")
IN_PARENT = re.compile(r"mypy|matrix\.json|decisions|animate|lab|index\.html|swap-kunit\.1"
                       rf"|\.removing-.*|{re.escape(MARK)}|\..*\.\d+")
LAST = (LINK, LOCK, MARK)       # removed last: until then no run may begin, and a removal that was stopped can go on
DEEPEST = 3             # levels of output directories: out/7.3/presubmit/plain


def is_ours(directory: Path) -> bool:
    """Whether swap-kunit made it an output directory; earlier versions left no mark, but the link `build`."""
    link = directory / LINK
    return (directory / MARK).is_file() or (link.is_symlink() and os.readlink(link) == "tree/.kunit")


def obstacle(directory: Path) -> str:
    """Why directory cannot become an output directory, or ""."""
    if directory.resolve() == Path.home().resolve():
        return "it is your home directory"
    if not directory.is_dir() or is_ours(directory):
        return ""
    if read_version(directory):
        return "it is a kernel tree"
    found = sorted(path.name for path in directory.iterdir())
    return f"it contains {found[0]}, which is not from swap-kunit" if found else ""


def check(directory: Path) -> None:
    """Raise SwapKunitError if directory cannot become an output directory."""
    trouble = obstacle(directory)
    if trouble:
        raise SwapKunitError(f"cannot write to the output directory {directory}: {trouble}; give a new or empty one "
                             "with --out (make: O=)")


def claim(directory: Path) -> None:
    """Make and mark an output directory. Raises SwapKunitError or OSError."""
    check(directory)
    made = sum(not path.exists() for path in (directory, *directory.parents))
    directory.mkdir(parents=True, exist_ok=True)
    if not (directory / MARK).exists():
        (directory / MARK).write_text(f"{made}\n")


def below(top: Path, depth: int = DEEPEST) -> Iterator[Path]:
    """The output directories in top, itself included."""
    if is_ours(top):
        yield top
    for path in sorted(top.iterdir()) if depth else ():
        if path.is_dir() and not path.is_symlink() and (is_ours(path) or not WRITTEN.fullmatch(path.name)):
            yield from below(path, depth - 1)


def remove(directory: Path) -> None:
    """Remove what we wrote in an output directory, and the directory if it is empty then."""
    try:
        made = int((directory / MARK).read_text())
    except (OSError, ValueError):
        made = 1
    names = WRITTEN if any(os.path.lexists(directory / name) for name in (LINK, LOCK)) else IN_PARENT
    found = [path for path in directory.iterdir() if names.fullmatch(path.name)]
    for path in sorted(found, key=lambda path: LAST.index(path.name) if path.name in LAST else -1):
        if path.is_symlink() or not path.is_dir():
            path.unlink()
        else:       # half a tree would look like somebody else's
            shutil.rmtree(path.rename(directory / f".removing-{path.name.removeprefix('.removing-')}"))
    remove_empty(directory, made)


def remove_empty(directory: Path, levels: int) -> None:
    """Remove an empty directory and those above it, as far as they are empty."""
    for path in (directory, *directory.parents)[:levels]:
        try:
            path.rmdir()
        except OSError:
            return
