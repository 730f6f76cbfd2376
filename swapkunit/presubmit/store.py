# SPDX-License-Identifier: GPL-2.0
"""What was found out already, by the content it was found out about: a second start goes on from there."""
from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path

from ..base import toolchain
from ..base.kernel import Kernel
from ..base.layout import REPO, write_whole


FORMAT = 2      # of what is kept: another one makes it all anew


def key(*parts: object) -> str:
    """Stands for all parts."""
    return hashlib.sha256(repr(parts).encode(errors="surrogateescape")).hexdigest()[:24]


class Store:
    """JSON values by key, each a file of its own that is there whole or not at all."""

    def __init__(self, directory: Path):
        self.directory = directory

    def get(self, name: str) -> dict | None:
        """The value put under name, if any."""
        try:
            return json.loads((self.directory / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def put(self, name: str, value: dict) -> dict:
        """Keep value under name; returns it."""
        self.directory.mkdir(parents=True, exist_ok=True)
        write_whole(self.directory / f"{name}.json", json.dumps(value))
        return value


# -- what a result depends on ------------------------------------------------


def identity_of_project() -> str:
    """Stands for every file of ours that is built into a kernel or says how."""
    digest = hashlib.sha256(str(FORMAT).encode())
    for top in ("kunit", "mm", "configs", ".kunitconfig", "swapkunit"):
        for path in sorted([REPO / top] if (REPO / top).is_file() else (REPO / top).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"{path.relative_to(REPO)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def identity_of_tools(make_options: list[str]) -> str:
    """Stands for the compiler and sparse: a new one may have other things to say."""
    return key([first_line(toolchain.compiler(make_options).split(" ")[-1]), first_line("sparse")])


def first_line(program: str) -> str:
    """What program --version says first; "" when there is no such program."""
    try:
        done = subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", check=False)
    except OSError:
        return ""
    return done.stdout.partition("\n")[0]


def identity_of_kernel(kernel: Kernel, commit: str = "") -> str:
    """Stands for the content of a kernel tree."""
    if commit or not kernel.given:
        return key(commit or kernel.version, kernel.origin)
    if (kernel.path / ".git").exists():
        head = git(kernel.path, "rev-parse", "HEAD")
        if head:
            others = git(kernel.path, "ls-files", "-z", "--others", "--exclude-standard").split(b"\0")
            return key(head, git(kernel.path, "diff", "--binary", "--no-ext-diff", "--no-textconv", "HEAD"),
                       [stat_of(os.path.join(os.fsencode(kernel.path), name)) for name in others if name])
    return key(sorted(stat_of(os.path.join(parent, name)) for parent, _, names in
                      os.walk(os.fsencode(kernel.path)) for name in names))


def git(repository: Path, *words: str) -> bytes:
    """What a reading git command says; nothing when it fails."""
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(repository), *words]
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout


def stat_of(path: bytes) -> tuple[bytes, int, int]:
    """A file's name, size and ctime, which nobody sets back."""
    try:
        info = os.stat(path)
    except OSError:
        return path, 0, 0
    return path, info.st_size, info.st_ctime_ns
