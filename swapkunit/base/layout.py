# SPDX-License-Identifier: GPL-2.0
"""Paths: the repository, the cache, and the output directory of a run."""
from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Iterator, Sequence

from . import ours
from .errors import SwapKunitError
from .kernel import Kernel

LITTLE = 1 << 20        # bytes; a disk with less is full
REPO = Path(__file__).resolve().parents[2]
CONFIGS = REPO / "configs"
POLICIES = REPO / "mm" / "policies"
# The kernel's files that this project wraps: each .c file of mm/ here has its namesake's name.
WRAPPED = tuple(sorted(path.name for path in (REPO / "mm").glob("*.c")))


def cache_dir() -> Path:
    """${SWAP_KUNIT_CACHE:-${XDG_CACHE_HOME:-~/.cache}/swap-kunit}."""
    own = os.environ.get("SWAP_KUNIT_CACHE")
    if own:
        return Path(own).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "swap-kunit"


def short_hash(text: str) -> str:
    """Eight hex digits that identify text."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


# -- room on disks -----------------------------------------------------------


def disk_free(path: Path | str) -> int:
    """Bytes free on the disk of path, which need not exist yet."""
    path = Path(path).absolute()
    while not path.exists():
        path = path.parent
    info = os.statvfs(path)
    return info.f_bavail * info.f_frsize


def temporary() -> list[Path]:
    """Where programs keep temporary files, and where Python does: it skips a full disk."""
    return [Path(os.environ.get("TMPDIR") or "/tmp"), Path(tempfile.gettempdir())]


def full_disk(out: Path, little: int = LITTLE) -> Path | None:
    """The fullest of out and the directories for temporary files, if it has less than little bytes free."""
    place = min((out, *temporary()), key=disk_free)
    return place if disk_free(place) < little else None


def check_room(directory: Path, wanted: int) -> None:
    """Raise SwapKunitError when directory's disk has less than wanted bytes free."""
    free = disk_free(directory)
    if free < wanted:
        raise SwapKunitError(
            f"not enough disk space in {directory}: {wanted / 2**30:.1f} GB needed, {free / 2**30:.1f} GB free; "
            "make room (`swap-kunit clean` removes old builds), or use another disk with --out (make: O=) "
            "and SWAP_KUNIT_CACHE")


def no_room(place: Path) -> SwapKunitError:
    """The error for a full disk."""
    another = "by TMPDIR" if place in temporary() else "with --out (make: O=)"
    return SwapKunitError(f"the disk of {place} is full; make room (`swap-kunit clean` removes old builds), "
                          f"or use another disk {another}")


def write_whole(path: Path, text: str) -> None:
    """Write or replace a file as a whole, or leave it unchanged, also when the disk is full.

    A symbolic link is replaced by the file, and what it points to stays as it is: a build may have made the link.
    """
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.unlink(missing_ok=True)
    try:
        with open(new, "x", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


@dataclass(frozen=True)
class Layout:
    """The output directory of one kernel and config. Only one run writes in it at a time.

    own: where kunit/ and mm/ of this project are taken from.
    """

    out: Path
    own: Path = REPO

    @property
    def tree(self) -> Path:
        """The overlay."""
        return self.out / "tree"

    @property
    def build(self) -> Path:
        """The kernel's O=. It lies directly in the tree so that kbuild uses relative paths, for ccache hits."""
        return self.tree / ".kunit"

    @property
    def vmlinux(self) -> Path:
        """The UML kernel."""
        return self.build / "vmlinux"

    def make(self) -> None:
        """Create the directory, its mark and its link `build`. Raises SwapKunitError."""
        try:
            ours.claim(self.out)
            link = self.out / ours.LINK
            if not link.is_symlink():
                link.symlink_to("tree/.kunit")
        except OSError as error:
            raise SwapKunitError(f"cannot write to the output directory {self.out}: "
                                 f"{error.strerror}; give another one with --out (make: O=)") from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the directory against other runs. Raises SwapKunitError naming the other run, or for a full disk."""
        self.make()
        try:
            with open(self.out / ours.LOCK, "a+", encoding="utf-8") as file:
                self._take(file)
                try:
                    yield
                finally:
                    file.truncate(0)
        except OSError as error:
            place = Path(error.filename) if error.filename else full_disk(self.out)
            if error.errno != errno.ENOSPC or place is None:
                raise
            raise no_room(place) from error

    def _take(self, file: IO[str]) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().strip() or "another swap-kunit"
            raise SwapKunitError(f"the output directory {self.out} is in use by {holder}; wait for it, or "
                                 "give another one with --out (make: O=)") from error
        file.truncate(0)
        file.write(f"process {os.getpid()} (swap-kunit {' '.join(sys.argv[1:])})")
        file.flush()


def default_top() -> Path:
    """out in the repository, or in the cache if the repository is read-only or make cannot handle its path."""
    here, cache = own_tops()
    return cache if re.search(r"[\s:]", str(here)) or not os.access(REPO, os.W_OK) else here


def own_tops() -> list[Path]:
    """Where this clone's output directories are, unless --out was given: the second if the first cannot be used."""
    return [REPO / "out", cache_dir() / "out" / short_hash(str(REPO))]


def top_of(out: Path | None) -> Path:
    """The parent of several output directories: the one given, or default_top(). Raises SwapKunitError."""
    if out is None or out.absolute() == default_top():
        return default_top()
    ours.claim(out.absolute())
    return out.absolute()


def default_out(kernel: Kernel, fragments: list[str], policies: Sequence[str] = (),
                top: Path | None = None) -> Path:
    """KERNEL/CONFIG[@POLICY] in top, or in default_top()."""
    name = kernel.series
    if kernel.given:
        base = re.sub(r"[^\w.+-]", "_", kernel.path.name)[:40]
        name = f"{base}-{short_hash(os.path.realpath(kernel.path))}"
    config = "+".join(re.sub(r"[^\w.+-]", "_", part) for part in fragments) or "default"
    if policies:
        config += "@" + "+".join(policies)
    return (top or default_top()) / name / config
