# SPDX-License-Identifier: GPL-2.0
"""The exit codes, and the exceptions that carry them to main()."""
from __future__ import annotations

import errno

GOOD = 0
FAILED = 1      # a test failed, crashed or hung, or a check found something
WRONG_USE = 2   # wrong use, or a prerequisite is missing
UNTESTABLE = 125  # the kernel does not build, or does not reach the first case
STOPPED = 130   # by ^C or a signal: `git bisect run` stops, too, instead of calling a commit bad


class SwapKunitError(Exception):
    """One line for the user: what was asked, what stood in the way, what to do.

    code is the program's exit status.
    """

    code = WRONG_USE


class UnusableInput(SwapKunitError):
    """What is to be checked is at fault itself: there is no patch in it, it is damaged, or it is refused."""


class UntestableKernel(SwapKunitError):
    """The kernel under test does not build or boot: `git bisect run` skips it."""

    code = UNTESTABLE


class Interrupted(SwapKunitError):
    """Somebody pressed ^C, or sent SIGTERM or SIGHUP."""

    code = STOPPED


def explained(error: OSError) -> str:
    """An OSError that nobody expected: what stood in the way, and what to do."""
    if error.errno == errno.ENOSPC:
        advice = "make room on that disk, or use another one with --out (make: O=)"
    else:
        advice = "see to that file, and run it again"
    return f"{error.strerror or error} ({error.filename or 'no file'}); {advice}"
