# SPDX-License-Identifier: GPL-2.0
"""Progress of a check: which patch, which step, the time."""
from __future__ import annotations

import shutil
import sys
import threading
import time

from .report import WEIGHTS, Step, shortened

TICK = 0.5      # seconds between updates of the status line
BEAT = 30.0     # seconds between lines of a step that goes on, without a terminal


class Progress:
    """Prints one line for each step, and on a terminal a status line with step and time; else a line now and then.

    It writes to the stdout of its start, which is redirected while steps run.
    """

    def __init__(self, quiet: bool = False):
        self.stream = None if quiet else sys.stdout
        self.started = self.step_started = time.monotonic()
        self.doing = ""
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._ticker: threading.Thread | None = None
        self._terminal = self.stream is not None and self.stream.isatty()

    def __enter__(self) -> Progress:
        if self.stream is not None:
            self._ticker = threading.Thread(target=self._tick if self._terminal else self._beat, daemon=True)
            self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._ticker:
            self._ticker.join()
            self._write("\r\033[K" if self._terminal else "")

    def _tick(self) -> None:
        while not self._ended.wait(TICK):
            now = time.monotonic()
            if self.doing:
                self._write(f"\r\033[K{self.doing}: {now - self.step_started:.0f} s "
                            f"({clock(now - self.started)} total)"[:110])

    def _beat(self) -> None:
        while not self._ended.wait(BEAT):
            spent = self.since()
            if self.doing and spent >= BEAT:
                self.say(f"  {self.doing}: {clock(spent)} so far")

    def _write(self, text: str) -> None:
        if self.stream is not None:
            with self._lock:
                self.stream.write(text)
                self.stream.flush()

    def say(self, line: str) -> None:
        """Print a line."""
        self._write(("\r\033[K" if self._terminal else "") + line + "\n")

    def at(self, where: str, step: str) -> None:
        """Start a step."""
        self.doing, self.step_started = f"{where}: {step}", time.monotonic()

    def since(self) -> float:
        """Seconds since the current step started."""
        return time.monotonic() - self.step_started

    def done(self, where: str, step: Step) -> None:
        """Print a finished step."""
        mark = WEIGHTS.get(step.status, " ")[0]
        line = f"{mark} {where:<14} {step.name:<12} {step.seconds:6.1f} s  {step.summary}"
        self.say(shortened(line, shutil.get_terminal_size().columns) if self._terminal else line)


def clock(seconds: float) -> str:
    """1:05"""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
