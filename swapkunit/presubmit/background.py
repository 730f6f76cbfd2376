# SPDX-License-Identifier: GPL-2.0
"""The file checks of a series in a process of their own, at low priority beside builds and tests.

    with BackgroundChecks(checks, touched, users, tasks, last, log) as background:
        for _ in tasks:
            build_and_test()
            steps = background.steps()
        background.steps()      # changed_lines.reached() has its counts now

A build leaves one CPU idle while it links, and so do the suites now and then. While the other side
waits, the process has the usual priority. The first time on a base, whose own files have to be
compiled too, it begins when it is waited for: the first verdict comes sooner. After the file checks
the process measures the coverage of the changed lines, in the hope that all patches build.
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
from typing import Any, Iterator

from . import changed_lines
from ..base import commands, interrupts
from ..base.errors import SwapKunitError
from ..base.layout import REPO
from .changed_lines import State
from .file_checks import FORMAT, FileChecks
from .report import Step
from .store import key
from .testbed import quiet


HURRY, GIVE_WAY = b"h", b"w"        # what the parent says while it waits, and afterwards
LENGTH = 8      # bytes before the pickled work that say how long it is


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
            self.process.stdin.write(len(self.work).to_bytes(LENGTH) + self.work)
            self.process.stdin.flush()      # left open: the process stops when this end closes
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process
        with contextlib.suppress(BrokenPipeError), interrupts.held(), self.process:
            self.process.terminate()    # it stops what it has started

    def steps(self) -> list[Step]:
        """Wait for the steps of the next task; after the last, until the lines are counted. Raises SwapKunitError."""
        assert self.process and self.process.stdout and self.process.stderr
        self.tell(HURRY)
        try:
            found: list[Step] | SwapKunitError = pickle.load(self.process.stdout)
        except (EOFError, pickle.UnpicklingError):
            error = commands.tail(self.process.stderr.read().decode(errors="replace"), 1)
            raise SwapKunitError("cannot compile the touched files one by one: the background process died: "
                                 f"{error or 'it was killed'}; run it again, or use --quick (make: QUICK=1)") from None
        finally:
            self.tell(GIVE_WAY)
        if isinstance(found, SwapKunitError):
            raise found
        return found


    def tell(self, word: bytes) -> None:
        """Say whether we wait."""
        assert self.process and self.process.stdin
        with contextlib.suppress(BrokenPipeError, ValueError):
            self.process.stdin.write(word)
            self.process.stdin.flush()


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


def read_work() -> list[Any]:
    """What the parent wrote first. Buffered reading would take the words after it, too."""
    data, size = b"", LENGTH
    while len(data) < size:
        data += os.read(0, size - len(data))
        size = LENGTH + int.from_bytes(data[:LENGTH]) if len(data) >= LENGTH else size
    return list(pickle.loads(data[LENGTH:]))


def obey_parent(asked: threading.Event) -> None:
    """Hurry while the parent waits; stop when it closes our stdin or dies."""
    for word in iter(lambda: os.read(0, 1), b""):
        commands.hurry(word == HURRY)
        asked.set()
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """The other process: reads its work from stdin and writes the steps to stdout."""
    interrupts.catch()
    out, asked = sys.stdout.buffer, threading.Event()
    *given, log = read_work()
    try:
        with quiet(log), commands.giving_way():
            threading.Thread(target=obey_parent, args=[asked], daemon=True).start()
            if given[0].cold():
                asked.wait()
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
