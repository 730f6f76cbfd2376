# SPDX-License-Identifier: GPL-2.0
"""Where things lie: the repo, the cache, and the output directory of a run."""
from __future__ import annotations

import fcntl
import hashlib
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Sequence

from .errors import SwapKunitError
from .kernel import Kernel

REPO = Path(__file__).resolve().parent.parent
CONFIGS = REPO / "configs"
POLICIES = REPO / "mm" / "policies"


def cache_dir() -> Path:
    """${SWAP_KUNIT_CACHE:-${XDG_CACHE_HOME:-~/.cache}/swap-kunit}."""
    own = os.environ.get("SWAP_KUNIT_CACHE")
    if own:
        return Path(own).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "swap-kunit"


def short_hash(text: str) -> str:
    """Eight hex digits that stand for text."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Layout:
    """The output directory of one kernel and config. Only one run writes in it at a time."""

    out: Path

    @property
    def tree(self) -> Path:
        """The overlay."""
        return self.out / "tree"

    @property
    def build(self) -> Path:
        """The kernel's O=. Directly in the tree: kbuild then uses relative paths, ccache hits."""
        return self.tree / ".kunit"

    @property
    def vmlinux(self) -> Path:
        """The UML kernel; it is started as it is."""
        return self.build / "vmlinux"

    def make(self) -> None:
        """Create the directory and its link `build`. Raises SwapKunitError."""
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            link = self.out / "build"
            if not link.is_symlink():
                link.symlink_to("tree/.kunit")
        except OSError as error:
            raise SwapKunitError(f"cannot write in the output directory {self.out}: "
                                 f"{error.strerror}; give another one with --out (make: O=)") from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the directory against other runs. Raises SwapKunitError naming the holder."""
        self.make()
        with open(self.out / ".lock", "a+", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                file.seek(0)
                holder = file.read().strip() or "another swap-kunit"
                raise SwapKunitError(f"cannot use the output directory {self.out}: {holder} is at "
                                     "work in it; wait for it, or give another one with --out "
                                     "(make: O=)") from error
            file.truncate(0)
            file.write(f"process {os.getpid()} (swap-kunit {' '.join(sys.argv[1:])})")
            file.flush()
            try:
                yield
            finally:
                file.truncate(0)


def default_top() -> Path:
    """out in the repo, or in the cache where make could not work there."""
    top = REPO / "out"
    if re.search(r"[\s:]", str(top)) or not os.access(REPO, os.W_OK):
        return cache_dir() / "out" / short_hash(str(REPO))
    return top


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
