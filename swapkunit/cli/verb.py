# SPDX-License-Identifier: GPL-2.0
"""What a verb is: a function of its parsed arguments, its options, and the exit statuses it may end with."""
from __future__ import annotations

import argparse
import textwrap
from dataclasses import dataclass
from typing import Callable

from ..base.errors import FAILED, GOOD, STOPPED, UNTESTABLE, WRONG_USE
from .options import Option

MISSING = {WRONG_USE: "wrong use, or something is missing on this machine"}
INTERRUPTED = {STOPPED: "stopped by ^C or a signal"}
UNBUILT = {UNTESTABLE: "the kernel does not build, or does not reach the first case"}


@dataclass(frozen=True)
class Verb:
    """A verb of the program.

    run gives the exit status. statuses: what the statuses but 2 and 130, which every verb has, mean.
    exclusive: options of which at most one may be given. passes_to: the verb that takes words behind "--".
    """

    name: str
    run: Callable[[argparse.Namespace], int]
    help: str
    options: tuple[Option, ...]
    statuses: dict[int, str]
    exclusive: tuple[Option, ...] = ()
    passes_to: str = ""

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Have parser know the verb's options."""
        for one in self.options:
            one.add_to(parser)
        if self.exclusive:
            group = parser.add_mutually_exclusive_group()
            for one in self.exclusive:
                one.add_to(group)
        parser.set_defaults(function=self.run)

    @property
    def exit_statuses(self) -> str:
        """For the end of its help."""
        every = sorted({**MISSING, **INTERRUPTED, **self.statuses}.items())
        lines = [textwrap.fill(f"{status:>3}  {meaning}", 78, initial_indent="  ", subsequent_indent=" " * 7)
                 for status, meaning in every]
        return "\n".join(["exit status:", *lines])


def statuses(good: str, failed: str = "", unbuilt: bool = True) -> dict[int, str]:
    """Meanings of 0, 1 (where there is one) and 125."""
    return {GOOD: good, **({FAILED: failed} if failed else {}), **(UNBUILT if unbuilt else {})}
