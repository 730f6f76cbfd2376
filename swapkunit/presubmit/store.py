# SPDX-License-Identifier: GPL-2.0
"""Results, stored under a key of everything they depend on: a second check reuses those of the first."""
from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any, Mapping

from ..base import git, toolchain
from ..base.kernel import Kernel
from ..base.layout import REPO, write_whole


FORMAT = 3      # of the stored results; a change makes all of them unused


def key(*parts: object) -> str:
    """A hash of all parts."""
    return hashlib.sha256(repr(parts).encode(errors="surrogateescape")).hexdigest()[:24]


class Store:
    """JSON values by key, each in a file of its own that is written completely or not at all."""

    def __init__(self, directory: Path):
        self.directory = directory

    def get(self, name: str) -> dict[str, Any] | None:
        """The value of name, if there is one."""
        try:
            value: dict[str, Any] = json.loads((self.directory / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return value

    def put(self, name: str, value: Mapping[str, Any]) -> None:
        """Store value under name."""
        self.directory.mkdir(parents=True, exist_ok=True)
        write_whole(self.directory / f"{name}.json", json.dumps(value))


# -- what results depend on ---------------------------------------------------


def identity_of_project(own: Path = REPO) -> str:
    """Identifies our own files that affect a build, a run or its results; own: where kunit/ and mm/ are."""
    digest = hashlib.sha256(str(FORMAT).encode())
    for where, top in ((own, "kunit"), (own, "mm"), (REPO, "configs"), (own, ".kunitconfig"), (REPO, "swapkunit")):
        for path in sorted([where / top] if (where / top).is_file() else (where / top).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"{path.relative_to(where)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def identity_of_tools(make_options: list[str]) -> str:
    """Identifies the compiler and sparse: another version may print other messages."""
    return key([first_line(toolchain.compiler(make_options).split(" ")[-1]), first_line("sparse")])


def first_line(program: str) -> str:
    """The first line of program --version; "" if there is no such program."""
    try:
        done = subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", check=False)
    except OSError:
        return ""
    return done.stdout.partition("\n")[0]


def identity_of_kernel(kernel: Kernel, commit: str = "") -> str:
    """Identifies the content of a kernel tree."""
    if commit or not kernel.given:
        return key(commit or kernel.version, kernel.origin)
    if (kernel.path / ".git").exists():
        head = git.bytes_of(kernel.path, "rev-parse", "HEAD")
        if head:
            others = git.bytes_of(kernel.path, "ls-files", "-z", "--others", "--exclude-standard").split(b"\0")
            return key(head, git.bytes_of(kernel.path, "diff", "--binary", "--no-ext-diff", "--no-textconv", "HEAD"),
                       [stat_of(os.path.join(os.fsencode(kernel.path), name)) for name in others if name])
    return key(sorted(stat_of(os.path.join(parent, name)) for parent, _, names in
                      os.walk(os.fsencode(kernel.path)) for name in names))


def stat_of(path: bytes) -> tuple[bytes, int, int]:
    """A file's name, size and ctime, which nobody can set back."""
    try:
        info = os.stat(path)
    except OSError:
        return path, 0, 0
    return path, info.st_size, info.st_ctime_ns
