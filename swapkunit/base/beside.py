# SPDX-License-Identifier: GPL-2.0
"""Do something in a forked process meanwhile: it needs no new interpreter, and leaves the state of this one alone.

    with Beside(work) as beside:
        do_something_else()
        value = beside.value()      # of work(), or its exception
"""
# pylint: disable=protected-access  # os._exit() is documented
from __future__ import annotations

import os
import pickle
import signal
from contextlib import suppress
from typing import Callable, Generic, NoReturn, TypeVar

from . import interrupts
from .errors import SwapKunitError

T = TypeVar("T")


class Beside(Generic[T]):
    """Runs work in a child until value() or the end of the block."""

    def __init__(self, work: Callable[[], T]):
        self.work, self.pid, self.reading = work, 0, -1

    def __enter__(self) -> Beside[T]:
        with interrupts.held():
            self.reading, writing = os.pipe()
            self.pid = os.fork()
            if self.pid:
                os.close(writing)
        if not self.pid:
            self._child(writing)
        return self

    def _child(self, writing: int) -> NoReturn:
        """Do the work and write the result; never returns, and flushes nothing that the parent has not written yet."""
        found: object = None
        try:
            found = self.work()
        except SwapKunitError as error:
            found = error
        except BaseException:       # pylint: disable=broad-exception-caught  # the parent does it, and sees it then
            os._exit(1)
        with suppress(OSError), open(writing, "wb") as stream:
            pickle.dump(found, stream)
        os._exit(0)

    def value(self) -> T:
        """What work() returned. Raises its SwapKunitError; another failure is that of doing it here."""
        with open(os.dup(self.reading), "rb") as stream:
            try:
                found: T | SwapKunitError = pickle.load(stream)
            except (EOFError, pickle.UnpicklingError):
                return self.work()
        if isinstance(found, SwapKunitError):
            raise found
        return found

    def __exit__(self, *_: object) -> None:
        with interrupts.held():
            os.close(self.reading)
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)       # it stops what it has started
            os.waitpid(self.pid, 0)
