# SPDX-License-Identifier: GPL-2.0
"""The files of a coverage run."""
from __future__ import annotations

import shutil
import tarfile
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from ..base.errors import SwapKunitError
from ..run.uml import memory_directory

FRAGMENT = "coverage"
ROOM_FOR_COUNTERS = 256 << 20   # bytes; 1000 cases write 25 MB, and sums are made beside them


@dataclass(frozen=True)
class Places:
    """The files of one coverage run; top: the directory `coverage` in the output directory."""

    top: Path

    @property
    def cases(self) -> Path:
        """The counters of every case."""
        return self.top / "cases.tar.gz"

    @property
    def notes(self) -> Path:
        """The compiler's notes (.gcno) of the kernel that ran."""
        return self.top / "notes"

    @property
    def info(self) -> Path:
        """lcov's tracefile: a section for each suite and file."""
        return self.top / "coverage.info"

    @property
    def json(self) -> Path:
        """Totals, unreached lines and counts, for other programs."""
        return self.top / "coverage.json"

    @property
    def html(self) -> Path:
        """genhtml's pages."""
        return self.top / "html"

    @property
    def index(self) -> Path:
        """An index for each compiled file: which case reaches which line; made by `covers`."""
        return self.top / "covers"


@contextmanager
def counter_directory(places: Places) -> Iterator[Path]:
    """A temporary directory for thousands of small files, in memory if there is room: that is ten times as fast."""
    places.top.mkdir(parents=True, exist_ok=True)
    where = memory_directory(ROOM_FOR_COUNTERS) or places.top
    with tempfile.TemporaryDirectory(prefix="swap-kunit-counters-", dir=where) as name:
        yield Path(name)


def forget(places: Places) -> None:
    """Remove the files of an earlier run, so that they cannot be mistaken for those of this one."""
    for path in (places.cases, places.json, places.info):
        path.unlink(missing_ok=True)
    for path in (places.notes, places.index, places.html):
        shutil.rmtree(path, ignore_errors=True)


def pack(raw: Path, archive: Path) -> None:
    """Archive the counters of every case for `covers`."""
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        for path in sorted(raw.glob("*/*.gcda")):
            tar.add(path, str(path.relative_to(raw)))


def unpack(archive: Path, raw: Path, unit: str) -> None:
    """Extract the counters of one compiled file."""
    with tarfile.open(archive) as tar:
        for member in tar:
            path = Path(member.name)
            if member.isfile() and path.name == f"{unit}.gcda" and (content := tar.extractfile(member)):
                target = raw / path.parent.name / path.name
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(content.read())


def keep_notes(places: Places, build_mm: Path) -> None:
    """Copy the compiler's notes that belong to the counters, since the next build overwrites them."""
    found = list(build_mm.glob("*.gcno"))
    if not found:
        raise SwapKunitError(f"cannot read coverage: the build in {build_mm} has no .gcno files, so it "
                             "was not built for coverage; run `swap-kunit coverage`")
    places.notes.mkdir(parents=True, exist_ok=True)
    for path in found:
        shutil.copyfile(path, places.notes / path.name)
