# SPDX-License-Identifier: GPL-2.0
"""The overlay: a kernel tree of links, with our files beside the kernel's.

It has real directories and a link for each file. The links are relative and go through
TREE/.src, a link to the kernel tree: so they are short enough to be stored in the inode, and
make does not see a space in the kernel's path.

    repo mm/X      -> TREE/mm/X; the kernel's own mm/X lies beside it as
                      foo_real.c, Makefile.real or Kconfig.real
    repo kunit/    -> TREE/mm/kunit/
    .kunitconfig   -> TREE/mm/kunit/.kunitconfig
    tools/testing/kunit is copied, because kunit.py finds its kernel by realpath().
    TREE/.patched  -> patched copies of files, linked instead of the kernel's

TREE/.overlay stores every directory's mtime, so that the next sync reads only what has
changed. TREE/.stale lists files whose objects are stale without make noticing, until these
are deleted. The kernel tree is never written to.
"""
from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from ..base.errors import SwapKunitError
from .ignore import Artefacts
from .patches import lay

FORMAT = 1
SRC = ".src"
MANIFEST = ".overlay"
BUILD = ".kunit"
PATCHED = ".patched"
FITTED = ".fitted"      # copies of our files from which something is left out, see fit.py
STALE = ".stale"
COPIED = "tools/testing/kunit"
OWN_DIR = "mm/kunit"
# Directories of the overlay that must not be links, because they get files of ours.
REAL = frozenset(("mm", "tools", "tools/testing"))
# Checked at every sync for files that were replaced by older ones, which make does not notice.
WATCHED = ("mm/", "include/linux/")
# A directory that changed this shortly before a sync may change again without a new time stamp.
RACY_NS = 2_000_000_000


@dataclass
class SyncResult:
    """What a sync did. stale: files (relative to the tree) whose objects must be rebuilt; notes: for the user."""

    directories: int = 0
    links_made: int = 0
    links_removed: int = 0
    stale: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    fresh: bool = False
    seconds: float = 0.0


class Overlay:
    """An overlay of source and repo in tree.

    policies, patches: applied to the source's files, see patches.lay().
    """

    def __init__(self, source: Path, tree: Path, repo: Path,
                 policies: list[list[Path]] | None = None, patches: list[Path] | None = None):
        self.source, self.tree, self.repo = Path(os.path.abspath(source)), tree, repo
        self.policies, self.patches = policies or [], patches or []
        self.patched: dict[str, bool] = {}
        self._was_patched: list[str] = []
        self.artefacts = Artefacts(self.source)
        self.mtimes: dict[str, int] = {}
        self.last_sync = 0
        self.stamps: dict[str, list[int]] = {}      # of the files in WATCHED: inode, size, mtime
        self._changed: set[str] = set()
        self._laid: set[str] = set()
        self.result = SyncResult()
        self._own_mm: dict[str, Path] = {}
        self._hidden = self._paths_of_ours_in_source()

    # -- its content --------------------------------------------------------

    def _paths_of_ours_in_source(self) -> set[str]:
        """Our clone and output directory, if they are inside the kernel tree."""
        top = os.path.realpath(self.source) + os.sep
        ours = (os.path.realpath(path) for path in (self.repo, self.tree, self.tree.parent))
        return {path[len(top):] for path in ours if path.startswith(top)}

    def wanted(self, directory: str) -> tuple[dict[str, str], list[str]]:
        """The links (name -> target) and subdirectories that directory ("" or "mm/") must have."""
        up = "../" * directory.count("/") + f"{SRC}/{directory}"
        links, subdirs, kinds, symlinks = {}, [], {}, {}
        here = self.source / directory
        with os.scandir(here) if here.is_dir() else nullcontext(()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    symlinks[entry.name] = os.readlink(entry.path)
                kinds[entry.name] = entry.is_dir(follow_symlinks=directory + entry.name in REAL)
                if directory in WATCHED or directory in self._changed:
                    self._note_replaced(directory + entry.name, entry)
        skipped = self.artefacts.of(directory, kinds)
        for name, is_dir in kinds.items():
            path = directory + name
            if name in skipped or path in self._hidden or path in (COPIED, OWN_DIR):
                continue
            if is_dir:
                subdirs.append(name)
            elif name in symlinks and stays_inside(directory, symlinks[name]):
                links[name] = symlinks[name]
            else:
                links[name] = up + name
        self._add_patched(directory, links, subdirs)
        if directory == "mm/":
            add_own(links, {name: self._fitted(f"mm/{name}", path, "..") for name, path in self._own_mm.items()})
        return links, subdirs

    def _add_patched(self, directory: str, links: dict[str, str], subdirs: list[str]) -> None:
        """Add directory's patched files to links, and its new directories to subdirs."""
        for path, there in self.patched.items():
            name, _, below = path[len(directory):].partition("/")
            if not path.startswith(directory) or path.startswith(f"{COPIED}/"):
                continue
            if below:
                if name not in subdirs and there:
                    subdirs.append(name)
            elif there:
                links[name] = "../" * directory.count("/") + f"{PATCHED}/{path}"
            else:
                links.pop(name, None)

    def _note_replaced(self, path: str, entry: os.DirEntry[str]) -> None:
        """Remember a file that was put in place after the last sync but is older.

        The ctime alone is no sign: a copy of the tree by `cp -al` changes it.
        """
        if not entry.is_file():
            return
        info = entry.stat()
        stamp = [info.st_ino, info.st_size, info.st_mtime_ns]
        known, self.stamps[path] = self.stamps.get(path), stamp
        if self.last_sync and stamp != known and info.st_ctime_ns > self.last_sync > info.st_mtime_ns:
            if path.startswith("mm/") and entry.name in self._own_mm:
                path = f"mm/{real_name(entry.name)}"
            self._note_stale(path)

    def _note_stale(self, path: str) -> None:
        """Remember path on disk, before its link is changed: the sync may be interrupted."""
        self.result.stale.append(path)
        with open(self.tree / STALE, "a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(f"{path}\n")

    # -- syncing ------------------------------------------------------------

    def sync(self) -> SyncResult:
        """Update the tree from source and repo. Raises SwapKunitError."""
        started = time.time_ns()
        clock = time.monotonic()
        try:
            if not self._load():
                self._start_over()
            self.result.stale += stale_in(self.tree)
            self._patch()
            self._changed = self._changed_directories() | self._patched_directories()
            for directory in sorted(self._changed | {*WATCHED}):
                if directory in self.mtimes and directory not in self._laid:
                    self._lay(directory, started)
            self._lay_own()
            copy_tree(self.source / COPIED, self.tree / COPIED)
            self._patch_copied()
            self._save(started, list(self.patched))
        except OSError as error:
            raise SwapKunitError(overlay_trouble(self.source, self.tree, error)) from error
        self.result.directories = len(self.mtimes)
        self.result.seconds = time.monotonic() - clock
        return self.result

    def _patch(self) -> None:
        """Make the patched copies, and find out which of our files this kernel needs."""
        result = lay(self.source, self.tree / PATCHED, self.policies, self.patches)
        self.patched, self.result.notes = result.files, result.notes
        self._own_mm = own_mm_files(self.repo / "mm", self._has_mm)
        if not self.result.fresh and set(self.patched) != set(self._was_patched):
            # If this sync is interrupted, the next one must know both lists.
            self._save(self.last_sync, [*self._was_patched, *self.patched])

    def _has_mm(self, name: str) -> bool:
        """Whether the kernel under test has mm/NAME."""
        return self.patched.get(f"mm/{name}", (self.source / "mm" / name).exists())

    def _patched_directories(self) -> set[str]:
        """The known directories that have or had a patched file, and all above them."""
        found = set()
        for path in (*self.patched, *self._was_patched):
            parts = path.split("/")[:-1]
            found |= {"".join(f"{part}/" for part in parts[:depth]) for depth in range(len(parts) + 1)}
        return found & self.mtimes.keys()

    def _patch_copied(self) -> None:
        """Copy patched files of the directory that is copied."""
        for path, there in self.patched.items():
            if path.startswith(f"{COPIED}/"):
                (self.tree / path).unlink(missing_ok=True)
                if there:
                    (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(self.tree / PATCHED / path, self.tree / path)

    def _load(self) -> bool:
        """Read the manifest; returns False if there is none, or if it is about another tree."""
        try:
            head, _, body = (self.tree / MANIFEST).read_text().partition("\n")
            header = json.loads(head)
        except (OSError, ValueError):
            return False
        if header.get("identity") != self._identity():
            return False
        self.last_sync, self._was_patched = header["synced"], header.get("patched", [])
        self.stamps = header.get("stamps", {})
        for line in body.splitlines():
            mtime, _, directory = line.partition(" ")
            self.mtimes[directory] = int(mtime)
        return True

    def _identity(self) -> list[str | int]:
        info = os.stat(self.source)
        return [FORMAT, str(self.source), str(self.repo), info.st_dev, info.st_ino]

    def _start_over(self) -> None:
        """Point the tree to its source, and prepare to go through all of it; delete the build.

        Correct links stay: ext4 without a journal takes minutes to create many files soon
        after many were deleted, because it skips recently freed inodes.
        """
        link = self.tree / SRC
        if self.tree.exists() and not link.is_symlink() and any(self.tree.iterdir()):
            raise SwapKunitError(f"cannot lay a kernel tree in {self.tree}: it contains files that are not "
                                 "from swap-kunit; give another directory")
        self.tree.mkdir(parents=True, exist_ok=True)
        if (self.tree / BUILD).exists():
            shutil.rmtree(self.tree / BUILD)
        link.unlink(missing_ok=True)
        (self.tree / MANIFEST).unlink(missing_ok=True)
        (self.tree / STALE).unlink(missing_ok=True)
        link.symlink_to(self.source)
        self.mtimes, self.last_sync, self.stamps = {"": 0}, 0, {}
        self.result.fresh = True

    def _changed_directories(self) -> set[str]:
        """The known directories whose mtime differs from the manifest."""
        changed = set()
        top = os.open(self.source, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for directory, mtime in self.mtimes.items():
                try:
                    if os.stat(directory or ".", dir_fd=top).st_mtime_ns != mtime:
                        changed.add(directory)
                except (FileNotFoundError, NotADirectoryError):
                    changed.add(directory)
        finally:
            os.close(top)
        return changed

    def _lay(self, directory: str, started: int) -> None:
        """Update one directory, and create its new subdirectories with their content."""
        try:
            mtime = os.stat(self.source / directory).st_mtime_ns
        except (FileNotFoundError, NotADirectoryError):
            if not any(there and path.startswith(directory) for path, there in self.patched.items()):
                return self._forget(directory)
            mtime = 0
        links, subdirs = self.wanted(directory)
        here = f"{self.tree}/{directory}"
        present = self._present(here)
        for name in present.keys() - links.keys() - set(subdirs):
            self._remove(directory, name, present[name])
        for name, target in links.items():
            if present.get(name) == target:
                continue
            if name in present:
                self._note_stale(directory + name)
                self._remove(directory, name, present[name])
            os.symlink(target, here + name)
            self.result.links_made += 1
        self.mtimes[directory] = mtime if mtime < started - RACY_NS else 0
        self._laid.add(directory)
        for name in subdirs:
            if directory + name + "/" not in self.mtimes or present.get(name, "") is not None:
                if present.get(name) is not None:
                    self._remove(directory, name, present[name])
                if present.get(name, "") is not None:
                    os.mkdir(here + name)
                self._lay(f"{directory}{name}/", started)
        return None

    def _present(self, here: str) -> dict[str, str | None]:
        """The overlay's entries: link target, "" for a plain file, None for a directory."""
        keep = {SRC, MANIFEST, BUILD, PATCHED, STALE, FITTED, f"{FITTED}.json"} if here == f"{self.tree}/" else set()
        if here == f"{self.tree}/mm/":
            keep = {"kunit"}
        if here == f"{self.tree}/tools/testing/":
            keep = {"kunit"}
        found: dict[str, str | None] = {}
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.name in keep:
                    continue
                if entry.is_symlink():
                    found[entry.name] = os.readlink(entry.path)
                else:
                    found[entry.name] = None if entry.is_dir() else ""
        return found

    def _remove(self, directory: str, name: str, kind: str | None) -> None:
        path = self.tree / directory / name
        if kind is None:
            shutil.rmtree(path)
            self._forget(f"{directory}{name}/")
        else:
            path.unlink()
        self.result.links_removed += 1

    def _forget(self, directory: str) -> None:
        for known in [path for path in self.mtimes if path.startswith(directory)]:
            del self.mtimes[known]

    def _lay_own(self) -> None:
        """Link kunit/ and .kunitconfig of the repo in TREE/mm/kunit."""
        wanted = {f"{OWN_DIR}/{path}": str(self.repo / "kunit" / path)
                  for path in own_files(self.repo / "kunit")}
        if (self.repo / ".kunitconfig").exists():
            wanted[f"{OWN_DIR}/.kunitconfig"] = str(self.repo / ".kunitconfig")
        present = set(own_files(self.tree / OWN_DIR)) if (self.tree / OWN_DIR).is_dir() else set()
        for path in present - {name[len(OWN_DIR) + 1:] for name in wanted}:
            (self.tree / OWN_DIR / path).unlink()
            self.result.links_removed += 1
        for path, original in wanted.items():
            link, target = self.tree / path, self._fitted(path, original, "../" * path.count("/") + ".")
            if link.is_symlink() and os.readlink(link) == target:
                continue
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            os.symlink(target, link)
            self.result.links_made += 1

    def _fitted(self, path: str, original: str | Path, up: str) -> str:
        """What the link at path leads to: our file, or what is left of it."""
        return f"{os.path.normpath(up)}/{FITTED}/{path}" if (self.tree / FITTED / path).exists() else str(original)

    def _save(self, synced: int, patched: list[str]) -> None:
        head = json.dumps({"identity": self._identity(), "synced": synced, "patched": patched,
                           "stamps": self.stamps})
        body = "\n".join(f"{mtime} {directory}" for directory, mtime in self.mtimes.items())
        temporary = self.tree / (MANIFEST + ".new")
        temporary.write_text(f"{head}\n{body}\n")
        temporary.rename(self.tree / MANIFEST)


def stale_in(tree: Path) -> list[str]:
    """The stale files whose objects are not deleted yet."""
    try:
        return (tree / STALE).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except FileNotFoundError:
        return []


# -- our files ---------------------------------------------------------------


def own_files(top: Path) -> list[str]:
    """Every file below top as a sorted relative path, without backup files of editors."""
    found = []
    for parent, subdirs, names in os.walk(top):
        subdirs[:] = [name for name in subdirs if name != "__pycache__"]
        base = os.path.relpath(parent, top)
        found += [name if base == "." else f"{base}/{name}" for name in names
                  if not name.endswith(("~", ".pyc", ".orig", ".rej")) and not name.startswith(".#")]
    return sorted(found)


def real_name(name: str) -> str:
    """The name for the kernel's own mm/NAME beside ours: foo_real.c, Makefile.real."""
    stem, dot, suffix = name.rpartition(".")
    return f"{stem}_real.{suffix}" if dot else f"{name}.real"


def own_mm_files(ours: Path, has: Callable[[str], bool]) -> dict[str, Path]:
    """Our mm/ files: all except wrappers (*.c) of files that this kernel does not have."""
    return {path.name: path for path in sorted(ours.glob("[!.]*"))
            if path.is_file() and (path.suffix != ".c" or has(path.name))}


def add_own(links: dict[str, str], own: dict[str, str]) -> None:
    """Add our mm/ files to links, and rename the kernel's."""
    for name, path in own.items():
        if name in links:
            links[real_name(name)] = links[name]
        links[name] = path


# -- small things ------------------------------------------------------------


def stays_inside(directory: str, target: str) -> bool:
    """Whether a link in directory ("mm/") is relative and leads to a file of the same tree."""
    if os.path.isabs(target):
        return False
    return not os.path.normpath(f"{directory}{target}").startswith("..")


def copy_tree(source: Path, target: Path) -> None:
    """Make target a copy of source; only files that differ in size or mtime are copied."""
    target.mkdir(parents=True, exist_ok=True)
    names = {entry.name: entry for entry in os.scandir(source) if entry.name != "__pycache__"}
    for entry in list(os.scandir(target)):
        if entry.name not in names and entry.name != "__pycache__":
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry)
            else:
                os.unlink(entry)
    for name, entry in names.items():
        copy = target / name
        if entry.is_dir():
            copy_tree(Path(entry.path), copy)
        elif not same_file(entry, copy):
            copy.unlink(missing_ok=True)
            shutil.copy2(entry.path, copy)
            copy.chmod(copy.stat().st_mode | stat.S_IWUSR)


def same_file(entry: os.DirEntry[str], copy: Path) -> bool:
    """Whether copy is a regular file with entry's size and mtime."""
    try:
        there = copy.lstat()
    except FileNotFoundError:
        return False
    here = entry.stat()
    return (stat.S_ISREG(there.st_mode)
            and (there.st_size, there.st_mtime_ns) == (here.st_size, here.st_mtime_ns))


def check_tree_path(tree: Path) -> None:
    """Raise SwapKunitError if make does not support this path."""
    if re.search(r"[\s:]", str(tree)):
        raise SwapKunitError(
            f"cannot lay the kernel tree in '{tree}': the kernel build does not support spaces or colons "
            "in paths; give another directory with --out (make: O=)")


def overlay_trouble(source: Path, tree: Path, error: OSError) -> str:
    """The message for an OSError while laying the overlay."""
    if error.errno == errno.ENOSPC:
        return (f"cannot lay the kernel tree in {tree}: the disk is full; make room "
                "(about 150 MB and 105,000 inodes), or give another directory with --out (make: O=)")
    return (f"cannot lay the kernel tree {source} in {tree}: {error.strerror} "
            f"({error.filename}); check the permissions, or give another directory with --out (make: O=)")
