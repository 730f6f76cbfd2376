# SPDX-License-Identifier: GPL-2.0
"""^C, SIGTERM and SIGHUP: one KeyboardInterrupt, never where it would lose track of a child."""
from __future__ import annotations

import signal
import sys
import time
from contextlib import contextmanager
from typing import Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
REPEATED = 3.0      # seconds in which further signals are ignored


class _State:
    depth = 0
    waiting = False
    last = float("-inf")


def catch() -> None:
    """From now on the signals raise KeyboardInterrupt; ignored signals (nohup) stay ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _arrived)


def ignore() -> None:
    """From now on the signals do nothing: the rest takes no time."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _arrived(_number: int, _frame: object) -> None:
    if _State.depth:
        _State.waiting = True
    else:
        _interrupt()


def _interrupt() -> None:
    """Raise KeyboardInterrupt, unless the last one is so recent that we are still cleaning up."""
    now = time.monotonic()
    if now - _State.last < REPEATED:
        return
    _State.last = now
    raise KeyboardInterrupt


@contextmanager
def held() -> Iterator[None]:
    """Delay an interrupt to the end of the block, which starts and records a child, or ends one."""
    _State.depth += 1
    try:
        yield
    finally:
        _State.depth -= 1
        if _State.waiting and not _State.depth:
            _State.waiting = False
            if sys.exc_info()[0] is None:
                _interrupt()
