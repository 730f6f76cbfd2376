# SPDX-License-Identifier: GPL-2.0
"""The tree that a series is applied to: a given one, a known kernel, or a commit, checked out in the cache."""
from __future__ import annotations

import dataclasses
import fcntl
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..base import commands, git
from ..base.errors import SwapKunitError
from ..base.kernel import Kernel, examine
from ..base.layout import cache_dir, check_room, short_hash
from ..source.kernels import check_cache_writable, provide
from .series import resolve

ROOM = 2200 << 20       # bytes of a kernel checked out


@dataclass
class Base:
    """The tree a series is applied to, only read. holder: a lock that keeps a checkout unchanged; closed at exit."""

    kernel: Kernel
    commit: str = ""
    holder: IO[str] | None = None

    @property
    def path(self) -> Path:
        """The tree."""
        return self.kernel.path

    def close(self) -> None:
        """Let others check out another commit in this tree."""
        if self.holder:
            self.holder.close()


def base_of(ksrc: Path | None, kernel: str | None, spec: str = "") -> Base:
    """The tree ksrc as it is, a known kernel, or the commit that the range spec starts from."""
    if ksrc is None:
        return Base(provide(kernel))
    if not spec:
        return Base(examine(ksrc))
    commit, _ = resolve(ksrc, spec)
    tree, holder = checkout(ksrc, commit)
    found = examine(tree, f"commit {commit[:12]} of {ksrc}")
    return Base(dataclasses.replace(found, given=True), commit, holder)


def checkout(repository: Path, commit: str) -> tuple[Path, IO[str]]:
    """A tree in the cache that holds commit and borrows the repository's objects.

    It is kept for later checks: git rewrites only the files that differ, so builds stay warm.
    The second value holds a lock; as long as it is open no other process changes the tree.
    """
    found = git.in_repository(repository, "rev-parse", "--path-format=absolute", "--git-path", "objects", "--git-path",
                              "shallow").output.splitlines()
    if len(found) != 2 or not Path(found[0]).is_dir():
        raise SwapKunitError(f"cannot check out {commit[:12]} of {repository}: it is not a git repository; give one, "
                             "or patches as files")
    top = cache_dir() / "bases" / short_hash(os.path.realpath(found[0]))
    tree = top / "linux"
    check_cache_writable()
    top.mkdir(parents=True, exist_ok=True)
    holder = open(top / "lock", "w", encoding="utf-8")
    try:
        fcntl.flock(holder, fcntl.LOCK_SH)
        if head_of(tree) != commit:
            lock_alone(holder, repository)
            update(tree, Path(found[0]), Path(found[1]), commit, repository)
            fcntl.flock(holder, fcntl.LOCK_SH)
    except BaseException:
        holder.close()
        raise
    return tree, holder


def lock_alone(holder: IO[str], repository: Path) -> None:
    """Make the lock exclusive. Raises SwapKunitError if another process uses the tree."""
    try:
        fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise SwapKunitError(f"cannot check out another base of {repository}: another swap-kunit is using the current "
                             "one; wait for it") from error


def head_of(tree: Path) -> str:
    """The commit checked out in a tree of ours; "" if there is none, or the checkout is incomplete."""
    try:
        return (tree / ".git/swap-kunit-complete").read_text().strip()
    except OSError:
        return ""


def update(tree: Path, objects: Path, shallow: Path, commit: str, repository: Path) -> None:
    """Check commit out in tree, whose .git borrows objects. Raises SwapKunitError."""
    own = tree / ".git"
    (own / "swap-kunit-complete").unlink(missing_ok=True)
    (own / "index.lock").unlink(missing_ok=True)
    if not (own / "HEAD").exists():
        shutil.rmtree(tree, ignore_errors=True)
        check_room(tree.parent, ROOM)
        tree.mkdir(parents=True)
        git.in_scratch(tree, "init", "-q")
    (own / "objects/info/alternates").write_text(f"{objects}\n")
    if shallow.exists():
        shutil.copyfile(shallow, own / "shallow")
    done = git.in_scratch(tree, "-c", "checkout.workers=0", "checkout", "-q", "--force", "--detach", commit,
                          progress=lambda spent: f"checking out {commit[:12]}: {spent:.0f} s")
    if done.status:
        partial = not git.in_repository(repository, "config", "--get-regexp", r"^remote\..*\.promisor$").status
        advice = f"run `git checkout {commit[:12]}` there once, which fetches what this partial clone lacks" \
            if partial else "fix that"
        raise SwapKunitError(f"cannot check out {commit[:12]} of {repository}: {commands.tail(done.output, 1)}; "
                             f"{advice}, or give the patches as files")
    (own / "swap-kunit-complete").write_text(commit + "\n")
