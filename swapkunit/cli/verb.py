# SPDX-License-Identifier: GPL-2.0
"""What a verb is: a function of its parsed arguments, its options, and its exit statuses."""
from __future__ import annotations

import argparse
import textwrap
from dataclasses import dataclass
from typing import Callable, Mapping

from .options import Option
from ..base.errors import FAILED, GOOD, STOPPED, UNTESTABLE, WRONG_USE

COMMON = {WRONG_USE: "wrong use, or something is missing on this machine", STOPPED: "stopped by ^C or a signal"}
UNBUILT = "the kernel does not build, or does not reach the first case"
# Of the program as a whole.
STATUSES = dict(sorted({GOOD: "all good", FAILED: "a test failed, crashed or hung, or a check found something",
                        UNTESTABLE: UNBUILT, **COMMON}.items()))


@dataclass(frozen=True)
class Verb:
    """A verb of the program.

    run returns the exit status. statuses: their meanings, apart from COMMON. exclusive: options that exclude each
    other. passes_to: the verb that gets the arguments after "--".
    """

    name: str
    run: Callable[[argparse.Namespace], int]
    help: str
    options: tuple[Option, ...]
    statuses: dict[int, str]
    exclusive: tuple[Option, ...] = ()
    passes_to: str = ""

    @property
    def every_option(self) -> tuple[Option, ...]:
        """All of its options and arguments."""
        return (*self.options, *self.exclusive)

    @property
    def sentence(self) -> str:
        """Its help as a sentence."""
        return f"{self.help[0].upper()}{self.help[1:]}."

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add the verb's options to parser."""
        for one in self.options:
            one.add_to(parser)
        if self.exclusive:
            group = parser.add_mutually_exclusive_group()
            for one in self.exclusive:
                one.add_to(group)
        parser.set_defaults(function=self.run)

    def every_status(self) -> dict[int, str]:
        """All exit statuses and their meanings."""
        return dict(sorted({**COMMON, **self.statuses}.items()))


def statuses(good: str, failed: str = "", unbuilt: str = UNBUILT) -> dict[int, str]:
    """The meanings of 0, 1 and 125; a status without a meaning does not occur."""
    return {status: meaning for status, meaning in ((GOOD, good), (FAILED, failed), (UNTESTABLE, unbuilt)) if meaning}


def status_lines(meanings: Mapping[int, str]) -> str:
    """Exit statuses for the end of a help text."""
    lines = [textwrap.fill(f"{status:>3}  {meaning}", 78, initial_indent="  ", subsequent_indent=" " * 7)
             for status, meaning in meanings.items()]
    return "\n".join(["exit status:", *lines])
