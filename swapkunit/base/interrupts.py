# SPDX-License-Identifier: GPL-2.0
"""^C, SIGTERM and SIGHUP: one KeyboardInterrupt, never where a child would be lost by it."""
from __future__ import annotations

import signal
import sys
import time
from contextlib import contextmanager
from typing import Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ONE_WISH = 3.0      # seconds in which signals after the first mean nothing new


class _State:
    depth = 0
    waiting = False
    last = float("-inf")


def catch() -> None:
    """From now on the signals raise KeyboardInterrupt; one that is ignored (nohup) stays so."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _arrived)


def ignore() -> None:
    """From now on the signals do nothing: what is left takes no time."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _arrived(_number: int, _frame: object) -> None:
    if _State.depth:
        _State.waiting = True
    else:
        _interrupt()


def _interrupt() -> None:
    """Raise, unless this is the second press of somebody impatient: cleaning up is under way."""
    now = time.monotonic()
    if now - _State.last < ONE_WISH:
        return
    _State.last = now
    raise KeyboardInterrupt


@contextmanager
def held() -> Iterator[None]:
    """Put off an interrupt to the end of the block: starting a child and noting it, or ending it."""
    _State.depth += 1
    try:
        yield
    finally:
        _State.depth -= 1
        if _State.waiting and not _State.depth:
            _State.waiting = False
            if sys.exc_info()[0] is None:
                _interrupt()
