# SPDX-License-Identifier: GPL-2.0
"""The exit codes, and the exceptions that carry them to main()."""
from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import Iterator

GOOD = 0
FAILED = 1      # a test failed, crashed or hung, or a check found something
WRONG_USE = 2   # wrong use, or a prerequisite is missing
UNTESTABLE = 125  # the kernel does not build, or does not reach its first case
KSRC = "with --ksrc (make: KSRC=)"
STOPPED = 130   # by ^C or a signal; `git bisect run` then stops instead of calling a commit bad


class SwapKunitError(Exception):
    """One line for the user: what was asked, what prevented it, what to do.

    code is the program's exit status.
    """

    code = WRONG_USE


class UnusableInput(SwapKunitError):
    """The input itself is bad: it has no patch, is damaged, or is refused."""


class UntestableKernel(SwapKunitError):
    """The kernel under test does not build or boot; `git bisect run` skips it."""

    code = UNTESTABLE


class Interrupted(SwapKunitError):
    """Stopped by ^C, SIGTERM or SIGHUP."""

    code = STOPPED


@contextmanager
def advising(how: str, what: str = "", instead: str = KSRC) -> Iterator[None]:
    """Errors inside begin with what, and advise the option that the user gave: how is "with --x" or the like."""
    try:
        yield
    except SwapKunitError as error:
        named = f"{what}: " if what else ""
        raise type(error)(named + str(error).replace(instead, how)) from error


def explained(error: OSError) -> str:
    """The message for an unexpected OSError, with advice."""
    if error.errno == errno.ENOSPC:
        advice = "make room on that disk, or use another one with --out (make: O=)"
    else:
        advice = "fix that and run it again"
    return f"{error.strerror or error} ({error.filename or 'no file'}); {advice}"
