# SPDX-License-Identifier: GPL-2.0
"""The file checks of a series in a process of their own, at low priority beside builds and tests.

    with BackgroundChecks(checks, touched, users, tasks, last, log) as background:
        for _ in tasks:
            build_and_test()
            steps = background.steps()
        background.steps()      # changed_lines.reached() has its counts now

A build leaves one CPU idle while it links, and so do the suites now and then. After the file
checks the process measures the coverage of the changed lines, in the hope that all patches build.
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

from . import changed_lines
from ..base import commands, interrupts
from ..base.errors import SwapKunitError
from ..base.layout import REPO
from .changed_lines import State
from .file_checks import FORMAT, FileChecks
from .report import Step
from .store import key
from .testbed import quiet


@dataclass(frozen=True)
class Task:
    """A state of the series. files: its patches; touched: by the last of them; name: identifies the state.

    stale: the patches change how files are compiled.
    """

    files: list[Path]
    touched: list[str]
    stale: bool
    name: str


class BackgroundChecks:
    """Runs tasks in order in another process."""

    def __init__(self, checks: FileChecks, touched: list[str], users: list[str], tasks: list[Task],
                 last: State | None, log: Path):
        self.work = pickle.dumps((checks, touched, users, tasks, last, log))
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> BackgroundChecks:
        with interrupts.held():
            self.process = subprocess.Popen([sys.executable, "-m", __name__], cwd=REPO, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        assert self.process.stdin
        with contextlib.suppress(BrokenPipeError):      # steps() reports it
            self.process.stdin.write(self.work)
            self.process.stdin.flush()      # left open: the process stops when this end closes
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process
        with contextlib.suppress(BrokenPipeError), interrupts.held(), self.process:
            self.process.terminate()    # it stops what it has started

    def steps(self) -> list[Step]:
        """Wait for the steps of the next task; after the last, until the lines are counted. Raises SwapKunitError."""
        assert self.process and self.process.stdout and self.process.stderr
        try:
            found: list[Step] | SwapKunitError = pickle.load(self.process.stdout)
        except (EOFError, pickle.UnpicklingError):
            error = commands.tail(self.process.stderr.read().decode(errors="replace"), 1)
            raise SwapKunitError("cannot compile the touched files one by one: the background process died: "
                                 f"{error or 'it was killed'}; run it again, or use --quick") from None
        if isinstance(found, SwapKunitError):
            raise found
        return found


def take(checks: FileChecks, task: Task) -> list[Step]:
    """One task's steps."""
    name = key(task.name, FORMAT, checks.available())
    results = checks.store.get(name)
    if results is None:
        results = checks.results_at(task.files, task.touched, task.stale)
        if checks.lasting():
            checks.store.put(name, results)
    return checks.steps(results)


def work(checks: FileChecks, touched: list[str], users: list[str], tasks: list[Task],
         last: State | None) -> Iterator[list[Step]]:
    """The steps of every task; then [] when the lines are counted."""
    checks.prepare(touched, users, tasks[-1].files, any(task.stale for task in tasks))
    for task in tasks:
        yield take(checks, task)
    if last:
        last.owners()
        changed_lines.reached(last)
    yield []


def stop_with_parent() -> None:
    """Stop this process when the parent closes our stdin or dies."""
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """The other process: reads its work from stdin and writes the steps to stdout."""
    interrupts.catch()
    out = sys.stdout.buffer
    *given, log = pickle.load(sys.stdin.buffer)
    threading.Thread(target=stop_with_parent, daemon=True).start()
    try:
        with quiet(log), commands.giving_way():
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
