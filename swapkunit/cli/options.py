# SPDX-License-Identifier: GPL-2.0
"""Options that verbs share, and the variables of make that stand for them."""
from __future__ import annotations

import argparse
import os
import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

from ..base.colors import WHEN
from ..base.errors import SwapKunitError
from ..base.layout import CONFIGS, POLICIES
from ..build import patches
from ..run.session import Request
from ..source import kernels


OF_BUILD = ("ARCH", "SUBARCH", "O", "KBUILD_OUTPUT")     # variables of make that the build gives


@dataclass(frozen=True)
class Option:
    """An option or argument of a verb.

    variables: those of make that stand for it; the first one that is set counts. how: for add_argument().
    words: the arguments for make's NAME=VALUE, if it is not the option with that value. names: values for completion.
    """

    flags: tuple[str, ...]
    help: str
    variables: tuple[str, ...] = ()
    how: dict[str, Any] = field(default_factory=dict)
    words: Callable[[str, str], list[str]] | None = None
    names: Callable[[], list[str]] | None = None

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add it to parser, with make's variables in its help."""
        make = f" (make: {', '.join(self.assignments)})" if self.variables else ""
        action = parser.add_argument(*self.flags, help=self.help + make, **self.how)
        if self.names:
            setattr(action, "completer", self.complete)

    @property
    def assignments(self) -> list[str]:
        """make's variables as one writes them: ["KSRC="], or ["V=1"] for an option without a value."""
        value = next((value for value in "10" if self.given("", value)), "") if self.is_switch else ""
        return [f"{name}={value}" for name in self.variables]

    @property
    def is_switch(self) -> bool:
        """Whether it has no value."""
        return self.how.get("action") == "store_true"

    def complete(self, prefix: str, **_kwargs: object) -> list[str]:
        """The completions of a comma-separated list that starts with prefix, for argcomplete."""
        head, comma, _ = prefix.rpartition(",")
        return [f"{head}{comma}{name}" for name in self.names()] if self.names else []

    def given(self, name: str, value: str) -> list[str]:
        """The arguments for make's NAME=VALUE."""
        if self.words:
            return self.words(name, value)
        flag = next((flag for flag in self.flags if flag.startswith("--")), "")
        if self.is_switch:
            return [] if value == "0" else [flag]
        return [f"{flag}={value}"] if flag else [value]


def option(*flags: str, make: str = "", help: str,     # pylint: disable=redefined-builtin
           words: Callable[[str, str], list[str]] | None = None, names: Callable[[], list[str]] | None = None,
           **how: Any) -> Option:
    """An Option; make: its variables, separated by spaces."""
    return Option(flags, help, tuple(make.split()), how, words, names)


# -- types of values ---------------------------------------------------------


def comma_list(text: str) -> list[str]:
    """'a,b' as ['a', 'b']; ~ is expanded, since a shell does so only at the start of an argument."""
    words = list(dict.fromkeys(os.path.expanduser(word) for word in text.replace(",", " ").split()))
    if text.strip() and not words:
        raise argparse.ArgumentTypeError(f"'{text}' names nothing")
    return words


def given(text: str) -> str:
    """Text that is not empty: an unset variable of a script does not mean everything."""
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty: that does not mean all there is")
    return text


def given_list(text: str) -> list[str]:
    """A comma_list() that is not empty."""
    return comma_list(given(text))


def positive(text: str) -> int:
    """A positive integer. The kernel ignores values that do not fit in 32 bits, so they are refused."""
    if not text.isdigit() or not 0 < int(text) < 1 << 32:
        raise argparse.ArgumentTypeError(f"must be a positive integer below {1 << 32}, not '{text}'")
    return int(text)


def seconds(text: str) -> float:
    """A positive number of seconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"must be a positive number of seconds, not '{text}'")
    return value


def make_variable(text: str) -> str:
    """NAME=VALUE for the kernel's make; not those that the build itself gives."""
    name, equals, _ = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name) or name in OF_BUILD:
        raise argparse.ArgumentTypeError(f"must be a variable of the kernel's make and its value, such as LLVM=1 or "
                                         f"CC=gcc-12, and none of {', '.join(OF_BUILD)}; not '{text}'")
    return text


def path(text: str) -> Path:
    """A path; ~ is expanded here, since dash does not do so in make's NAME=~/linux."""
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    named = Path(os.path.expanduser(text))
    try:
        named.resolve()
    except (OSError, RuntimeError) as error:
        raise argparse.ArgumentTypeError(f"cannot follow {text}: {error}") from None
    return named


# -- shared options ----------------------------------------------------------


KSRC = option("--ksrc", make="KSRC", metavar="DIR", type=path, help="kernel tree to test; it is never written to")
KERNEL = option("--kernel", make="KERNEL", metavar="VERSION", names=lambda: list(kernels.known_kernels().suites),
                help="kernel to fetch from Debian, such as 7.3 or 6.12; default without --ksrc: the newest 7.x")
CONFIG = option("--config", make="CONFIG", metavar="A,B", default=[], type=comma_list,
                names=lambda: sorted(file.stem for file in CONFIGS.glob("*.config")),
                help="Kconfig fragments from configs/ to add to .kunitconfig")
POLICY = option("--policy", make="POLICY", metavar="A,B", default=[], type=comma_list,
                names=lambda: patches.known(POLICIES),
                help="policies from mm/policies to apply to the kernel; your tree is not changed")
VERBOSE = option("-v", "--verbose", make="V", action="store_true",
                 help="print the whole build, and kunit.py's own results")
BUILD = (
    option("--kunitconfig", metavar="PATH", type=path,
           help="file or directory to use instead of this project's .kunitconfig"),
    option("-j", "--jobs", make="J", metavar="N", type=positive, default=len(os.sched_getaffinity(0)),
           help="run N make jobs, or N UMLs, at a time; default: the number of CPUs"),
    option("--make-option", make="LLVM CC", metavar="X=Y", action="append", default=[], type=make_variable,
           words=lambda name, value: [f"--make-option={name}={value}"],
           help="variable for the kernel's make, such as LLVM=1 or CC=gcc-12; may be repeated"))
TIMEOUT = option("--timeout", metavar="SECONDS", type=seconds, default=60.0,
                 help="kill a UML that prints nothing for SECONDS; default 60")
KERNEL_ARG = option("--kernel-arg", make="KUNIT_ARGS", metavar="ARG", action="append", default=[],
                    help="argument for the UML kernel, such as mem=512M; may be repeated")
CASES = (
    option("--filter", make="FILTER", metavar="GLOB", default=[], type=comma_list,
           help="cases to run, such as 'swap_alloc.*' or 'swap_io.read*,swap_swapon'"),
    TIMEOUT, KERNEL_ARG,
    option("--hangs", make="HANGS", metavar="N", type=positive, default=3,
           help="after N hung cases abandon each suite that hangs; default 3"))
RUN = (*CASES,
       option("--shuffle", make="SHUFFLE", metavar="SEED", type=int, nargs="?",
              const=random.SystemRandom().randrange(1 << 32),
              help="run each case in a UML of its own, in random order; prints the seed"),
       option("-q", "--quiet", action="store_true", help="leave out kunit.py's own results, also with --verbose"),
       option("--color", make="COLOR", metavar="WHEN", choices=WHEN, default=WHEN[0],
              help="color the summary: always, never, or auto: on a terminal, unless NO_COLOR is set"))


def out(where: str) -> Option:
    """--out; where: its default, for the help."""
    return option("--out", make="O", metavar="DIR", type=path, help=f"output directory; default {where}")


def kernel(where: str = "out/KERNEL/CONFIG[@POLICY]") -> tuple[Option, ...]:
    """The options that choose a kernel, its configuration, and the output directory; where: default of --out."""
    return KSRC, KERNEL, CONFIG, POLICY, out(where), VERBOSE, *BUILD


def request_of(args: argparse.Namespace) -> Request:
    """The Request in a verb's arguments; options that the verb does not have keep their defaults.

    Raises SwapKunitError for contradictions.
    """
    if getattr(args, "ksrc", None) is not None and getattr(args, "kernel", None):
        raise SwapKunitError(f"cannot test both the tree {args.ksrc} and the kernel {args.kernel}: "
                             "--ksrc (make: KSRC=) and --kernel (make: KERNEL=) exclude each other; give one of them")
    names = {"ksrc": "ksrc", "kernel": "kernel", "config": "config", "policy": "policies", "out": "out", "jobs": "jobs",
             "verbose": "verbose", "kunitconfig": "kunitconfig", "make_option": "make_options", "filter": "filters",
             "timeout": "timeout", "hangs": "hangs", "shuffle": "shuffle", "quiet": "quiet"}
    given = {ours: getattr(args, name) for name, ours in names.items() if hasattr(args, name)}
    words = [word for arg in getattr(args, "kernel_arg", []) for word in arg.split()]
    return Request(**given, kernel_args=words)
