# SPDX-License-Identifier: GPL-2.0
"""The single compilations of a series, by a process of their own: it goes ahead of the builds, and gives way to them.

    with Ahead(checks, touched, users, tasks, log) as ahead:
        for _ in tasks:
            build_and_test()
            steps = ahead.steps()
        ahead.counted()

A build leaves one CPU idle while it links, and the suites' kernels do now and then. After the compilations the
lines are counted that the series changes, for the likely case that all its patches build.
"""
from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from . import testbed as bench, lines as changed_lines
from ..base import commands, interrupts
from .lines import State
from .compile import FORMAT, Checks
from ..base.errors import SwapKunitError
from ..base.layout import REPO
from .report import Step
from .store import key


@dataclass(frozen=True)
class Task:
    """A state of the series. files: its patches; touched: by the last of them; name: stands for it.

    stale: the patches change how something is compiled.
    """

    files: list[Path]
    touched: list[str]
    stale: bool
    name: str


class Ahead:
    """Runs tasks in order in another process."""

    def __init__(self, checks: Checks, touched: list[str], users: list[str], tasks: list[Task],
                 last: State | None, log: Path):
        self.work = pickle.dumps((checks, touched, users, tasks, last, log))
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Ahead:
        with interrupts.held():
            self.process = subprocess.Popen([sys.executable, "-m", __name__], cwd=REPO, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        assert self.process.stdin
        with contextlib.suppress(BrokenPipeError):      # steps() tells
            self.process.stdin.write(self.work)
            self.process.stdin.flush()      # left open: its end tells that we have come to ours
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process
        with contextlib.suppress(BrokenPipeError), interrupts.held(), self.process:
            self.process.terminate()    # it ends what it has started

    def steps(self) -> list[Step]:
        """The steps of the next task, when they are known. Raises SwapKunitError."""
        return self._next()

    def counted(self) -> None:
        """Wait for the lines to be counted: changed_lines.reached() knows them then. Raises SwapKunitError."""
        self._next()

    def _next(self) -> list[Step]:
        assert self.process and self.process.stdout and self.process.stderr
        try:
            found = pickle.load(self.process.stdout)
        except (EOFError, pickle.UnpicklingError):
            said = self.process.stderr.read().decode(errors="replace")
            raise SwapKunitError("cannot compile the touched files one by one: what does it came to an end: "
                                 f"{commands.tail(said, 1) or 'it was killed'}; run it again, or use --quick") from None
        if isinstance(found, SwapKunitError):
            raise found
        return found


def take(checks: Checks, task: Task) -> list[Step]:
    """One task's steps."""
    name = key(task.name, FORMAT, checks.to_be_had())
    said = checks.store.get(name)
    if said is None:
        said = checks.said_at(task.files, task.touched, task.stale)
        if checks.lasting():
            checks.store.put(name, said)
    return checks.steps(said)


def work(checks: Checks, touched: list[str], users: list[str], tasks: list[Task],
         last: State | None) -> Iterator[list[Step]]:
    """The steps of every task, then nothing, when the lines are counted."""
    checks.prepare(touched, users, any(task.stale for task in tasks))
    for task in tasks:
        yield take(checks, task)
    if last:
        last.owners()
        changed_lines.reached(last)
    yield []


def stop_with_parent() -> None:
    """Wait for the end of stdin, and stop: whoever wrote there was killed, or asks for it."""
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """The other process: work on stdin, what it comes to on stdout."""
    interrupts.catch()
    out = sys.stdout.buffer
    *given, log = pickle.load(sys.stdin.buffer)
    threading.Thread(target=stop_with_parent, daemon=True).start()
    try:
        with bench.quiet(log), commands.giving_way():
            for steps in work(*given):
                pickle.dump(steps, out)
                out.flush()
    except SwapKunitError as error:
        pickle.dump(error, out)
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    interrupts.ignore()


if __name__ == "__main__":
    main()
