# SPDX-License-Identifier: GPL-2.0
"""The command line: finds the verb, runs it, and turns what goes wrong into one line and an exit status."""
from __future__ import annotations

import argparse
import os
import shlex
import sys
from typing import NoReturn

from . import make
from .verbs import VERBS
from ..base import interrupts, toolchain
from ..base.errors import FAILED, WRONG_USE, Interrupted, SwapKunitError, explained

MAKE = "--make"     # the Makefile calls `swap-kunit --make VERB NAME=VALUE ...`
EPILOG = """exit status: 0 all good; 1 a test failed, crashed or hung, or a check found something; 2 wrong use, or
something is missing on this machine; 125 the kernel does not build, or does not reach the first case; 130 stopped.
`swap-kunit VERB --help` lists the statuses of a verb."""


class Parser(argparse.ArgumentParser):
    """argparse with this program's form of error message."""

    def error(self, message: str) -> NoReturn:
        print(f"swap-kunit: cannot understand the command line: {message}; "
              f"see `{self.prog} --help`", file=sys.stderr)
        raise SystemExit(WRONG_USE)


def make_parser() -> Parser:
    """The parser of all verbs."""
    parser = Parser(prog="swap-kunit", epilog=EPILOG, allow_abbrev=False,
                    description="Run KUnit suites against the real swap code of a Linux kernel, "
                                "built for ARCH=um.")
    commands = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Parser)
    for verb in VERBS.values():
        verb.add_to(commands.add_parser(verb.name, help=verb.help, description=verb.help[0].upper() + verb.help[1:] + ".",
                                        epilog=verb.exit_statuses, allow_abbrev=False,
                                        formatter_class=argparse.RawDescriptionHelpFormatter))
    return parser


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
        if argv[:1] == [MAKE]:
            argv = make.command_line(argv[1:], os.environ, VERBS)
        parser = make_parser()
        if "_ARGCOMPLETE" in os.environ:
            import argcomplete      # pylint: disable=import-outside-toplevel  # optional, and only for a shell's Tab
            argcomplete.autocomplete(parser)
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
