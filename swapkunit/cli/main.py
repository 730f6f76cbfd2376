# SPDX-License-Identifier: GPL-2.0
"""The command line: verbs, options, exit codes."""
from __future__ import annotations

import argparse
import os
import random
import shlex
import sys
from pathlib import Path

from ..base import interrupts, toolchain
from ..base.errors import FAILED, GOOD, UNTESTABLE, WRONG_USE, Interrupted, SwapKunitError, explained

EPILOG = """exit status: 0 all good; 1 a test failed, crashed or hung; 2 wrong use, or something
is missing on this machine; 125 the kernel does not build, or does not reach the first case;
130 it was stopped"""

OTHERS = "2 wrong use, or something is missing on this machine; 125"
EPILOGS = {     # of the verbs whose result is another
    "presubmit": f"exit status: 0 all good; 1 findings; {OTHERS} the base does not build, or does not reach "
                 "the first case; 130 it was stopped",
    "decisions": f"exit status: 0 no decision differs; 1 differences; {OTHERS} a kernel does not build, or does not "
                 "reach the first case; 130 it was stopped",
    "b4-check": "exit status: 0 the mail was looked at, and findings are in what is printed; 2 wrong use; 130 it was "
                "stopped",
}
OUTPUT = {"presubmit": "out/KERNEL/presubmit", "b4-check": "out/KERNEL/presubmit"}


def add_kernel_options(parser: argparse.ArgumentParser, output: str = "out/KERNEL/CONFIG[@POLICY]") -> None:
    """Which kernel, how configured, where to put what is made of it: by default into output."""
    parser.add_argument("--ksrc", metavar="DIR", type=Path,
                        help="kernel tree to test; it is only read (make: KSRC=)")
    parser.add_argument("--kernel", metavar="VERSION",
                        help="kernel to fetch from Debian, such as 7.3 or 6.12; without it and --ksrc "
                             "the newest 7.x (make: KERNEL=)")
    parser.add_argument("--config", metavar="A,B", default="", type=comma_list,
                        help="Kconfig fragments of configs/ to lay over .kunitconfig (make: CONFIG=)")
    parser.add_argument("--policy", metavar="A,B", default="", type=comma_list,
                        help="policies of mm/policies to lay over the kernel; your tree stays as it is "
                             "(make: POLICY=)")
    parser.add_argument("--out", metavar="DIR", type=Path,
                        help=f"output directory; default {output} (make: O=)")
    parser.add_argument("-v", "--verbose", action="store_true",
                        help="show the whole build (make: V=1)")
    add_build_options(parser)


def add_build_options(parser: argparse.ArgumentParser) -> None:
    """How a kernel is built, whichever it is."""
    parser.add_argument("--kunitconfig", metavar="PATH", type=Path,
                        help="another file or directory in place of this project's .kunitconfig")
    parser.add_argument("-j", "--jobs", metavar="N", type=positive, default=len(os.sched_getaffinity(0)),
                        help="make jobs and UMLs at a time; default: the CPUs (make: J=)")
    parser.add_argument("--make-option", metavar="X=Y", action="append", default=[],
                        help="for the kernel's make, such as LLVM=1 or CC=gcc-12; may be repeated")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Which cases, and what is shown of them."""
    add_case_options(parser)
    parser.add_argument("--shuffle", metavar="SEED", type=int, nargs="?",
                        const=random.SystemRandom().randrange(1 << 32),
                        help="each case in a UML of its own, in a random order; the seed is printed "
                             "(make: SHUFFLE=SEED)")
    parser.add_argument("-q", "--quiet", action="store_true",
                        help="only the verdict, without kunit.py's own results")


def add_case_options(parser: argparse.ArgumentParser) -> None:
    """Which cases, and how long they may be silent."""
    parser.add_argument("--filter", metavar="GLOB", default="", type=comma_list,
                        help="cases to run, such as 'swap_alloc.*' or 'swap_io.read*,swap_swapon' "
                             "(make: FILTER=)")
    parser.add_argument("--timeout", metavar="SECONDS", type=seconds, default=60.0,
                        help="a UML silent for so long hangs; default 60")
    parser.add_argument("--kernel-arg", metavar="ARG", action="append", default=[],
                        help="for the UML's command line, such as mem=512M; may be repeated "
                             "(make: KUNIT_ARGS='mem=512M ...')")


def comma_list(text: str) -> list[str]:
    """'a,b' as ['a', 'b']."""
    return [part for part in text.replace(",", " ").split() if part]


def positive(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds above 0")
    return value


class Parser(argparse.ArgumentParser):
    """argparse with this program's form of error message."""

    def error(self, message: str) -> None:
        print(f"swap-kunit: cannot understand the command line: {message}; "
              f"see `{self.prog} --help`", file=sys.stderr)
        raise SystemExit(WRONG_USE)


def make_parser() -> Parser:
    """All verbs. A module with more verbs has a VERBS of its own."""
    from ..presubmit import b4, check as presubmit
    from ..coverage import measure as coverage_verbs
    from ..decisions import sides as decisions_verb, fragmentation
    from ..run import matrix, mechanisms as presence
    from . import verbs
    parser = Parser(prog="swap-kunit", epilog=EPILOG, allow_abbrev=False,
                    description="Run KUnit suites against the real swap code of a Linux kernel, "
                                "built for ARCH=um.")
    commands = parser.add_subparsers(dest="verb", metavar="VERB", required=True,
                                     parser_class=Parser)
    every = {**verbs.VERBS, **matrix.VERBS, **presence.VERBS, **coverage_verbs.VERBS,
             **decisions_verb.VERBS, **presubmit.VERBS, **b4.VERBS, **fragmentation.VERBS}
    for name, (function, parts, text) in every.items():
        verb = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".",
                                   epilog=EPILOGS.get(name, EPILOG), allow_abbrev=False)
        if "kernel" in parts:
            add_kernel_options(verb, *([OUTPUT[name]] if name in OUTPUT else []))
        if "build" in parts:
            add_build_options(verb)
        if "run" in parts:
            add_run_options(verb)
        if "cases" in parts:
            add_case_options(verb)
        for part in parts:
            if callable(part):
                part(verb)
        verb.set_defaults(function=function)
    return parser


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that completes a command line, through Debian's python3-argcomplete."""
    import argcomplete      # only there when the shell has loaded it
    from ..base import layout
    from ..build import patches
    from ..source import kernels as source

    def each(prefix: str, names: list[str]) -> list[str]:
        head = prefix.rpartition(",")[0]
        return [f"{head},{name}" if head else name for name in names]

    values = {
        "config": lambda: sorted(path.stem for path in layout.CONFIGS.glob("*.config")),
        "policy": lambda: patches.known(layout.POLICIES),
        "kernel": lambda: list(source.known_kernels().suites),
    }
    verbs = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for verb in verbs.choices.values():
        for action in verb._actions:
            if action.dest in values:
                action.completer = lambda prefix, names=values[action.dest], **_: each(prefix, names())
    argcomplete.autocomplete(parser)


def open_streams() -> None:
    """Give a program that was started with stdin, stdout or stderr closed /dev/null in their place."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))


def main(argv: list[str]) -> int:
    """Run a verb; returns the exit status."""
    interrupts.catch()
    open_streams()
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        parser = make_parser()
        if "_ARGCOMPLETE" in os.environ:
            complete(parser)
        args = parser.parse_args(argv)
        if hasattr(args, "make_option"):
            args.make_option = toolchain.from_environment(args.make_option)
        status = args.function(args)
        sys.stdout.flush()
        return status
    except SwapKunitError as error:
        sys.stdout.flush()
        print(f"swap-kunit: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print(f"\nswap-kunit: stopped during `{shlex.join(argv)}`: what it had started is ended; "
              "run it again to go on", file=sys.stderr)
        return Interrupted.code
    except BrokenPipeError:
        drop_output()
        return FAILED
    except OSError as error:
        drop_output()
        print(f"swap-kunit: cannot go on with `{shlex.join(argv)}`: {explained(error)}", file=sys.stderr)
        return WRONG_USE


def drop_output() -> None:
    """Let what stdout still holds go nowhere, when it cannot be written where it should."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


__all__ = ["main", "GOOD", "UNTESTABLE"]
