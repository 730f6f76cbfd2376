# SPDX-License-Identifier: GPL-2.0
"""Run git so that its answer depends on its input alone.

The configuration, attributes, ignore file, hooks and GIT_* environment of whoever runs
swap-kunit are left out: with apply.ignoreWhitespace or diff.context set, a patch would apply
here and not for its reviewer. Nothing is fetched, and nobody is asked for a password.
"""
from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path
from typing import Callable

from . import commands

# Hooks, a file system monitor and background maintenance run programs; the other two are files of the user's.
NEUTRAL = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null",
           "core.excludesFile=/dev/null", "gc.auto=0", "maintenance.auto=false")
PLAIN = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1",
         "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0",
         "LC_ALL": "C.UTF-8"}
KEPT = ("GIT_ALTERNATE_OBJECT_DIRECTORIES",)    # needed to find objects that a repository keeps elsewhere


def environment(scratch: Path | None = None) -> dict[str, str]:
    """The environment for git; with scratch, no repository around that directory is found."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in KEPT} | PLAIN
    return env | {"GIT_CEILING_DIRECTORIES": str(scratch.resolve().parent)} if scratch else env


def in_scratch(scratch: Path, *words: str | Path, progress: Callable[[float], str] | None = None) -> commands.Finished:
    """Run a git command in a directory of ours: apply, mailsplit, init."""
    return commands.run([*git(), *words], cwd=scratch, env=environment(scratch), progress=progress)


def in_repository(repository: Path, *words: str | Path) -> commands.Finished:
    """Run a git command that reads somebody's repository; it writes nothing there."""
    return commands.run([*git(*trusted()), "-C", repository, *words], env=environment())


def bytes_of(repository: Path, *words: str) -> bytes:
    """As in_repository(): what the command writes to stdout, or nothing when it fails."""
    try:
        done = subprocess.run([*git(*trusted()), "-C", repository, *words], env=environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError:
        return b""
    return done.stdout if done.returncode == 0 else b""


def git(*settings: str) -> list[str | Path]:
    """git with NEUTRAL and these settings, NAME=VALUE."""
    return ["git", *(word for setting in (*NEUTRAL, *settings) for word in ("-c", setting))]


@functools.cache
def trusted() -> tuple[str, ...]:
    """The user's safe.directory settings: without them git refuses to read another user's repository."""
    done = subprocess.run(["git", "config", "--null", "--get-all", "safe.directory"], cwd="/", stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="surrogateescape", check=False)
    return tuple(f"safe.directory={value}" for value in done.stdout.split("\0")[:-1])
