# SPDX-License-Identifier: GPL-2.0
"""The command line: find the verb and run it; turn errors into one line and an exit status."""
from __future__ import annotations

import argparse
import functools
import io
import os
import re
import shlex
import sys
from typing import NoReturn

from . import make
from .verb import STATUSES, status_lines
from .verbs import VERBS
from ..base import colors, index, interrupts, toolchain
from ..base.errors import FAILED, WRONG_USE, Interrupted, SwapKunitError, explained
from ..base.layout import default_top
from ..base.text import did_you_mean

WITH_PAGES = ("lab", "animate", "decisions", "coverage", "mutate", "presubmit")
DESCRIPTION = """\
Run KUnit suites against the real swap code of a Linux kernel, built for ARCH=um.

`make VERB NAME=value` is the same as `swap-kunit VERB --option=value`. The help
of each verb, `swap-kunit VERB --help`, lists its options, their variables for
make, and its exit statuses."""


class Parser(argparse.ArgumentParser):
    """argparse with this program's form of error messages."""

    def error(self, message: str) -> NoReturn:
        verb = VERBS.get(self.prog.split(" ")[-1])
        for one in verb.every_option if verb else ():
            name = "/".join(one.flags) if one.flags[0].startswith("-") else str(one.how.get("metavar", one.flags[0]))
            if one.variables and re.search(rf"(argument |required: (.*, )?){re.escape(name)}(:|,|$)", message):
                message = f"{message} (make: {', '.join(one.assignments)})"
        found = re.match(r"argument VERB: invalid choice: '(.*?)' ", message)
        if found:
            message = f"there is no verb '{found[1]}'; {did_you_mean(found[1], VERBS)}".rstrip("; ")
        print(f"swap-kunit: cannot understand the command line: {message}; "
              f"see `{self.prog} --help`", file=sys.stderr)
        raise SystemExit(WRONG_USE)


def make_parser() -> Parser:
    """The parser of all verbs."""
    parser = Parser(prog="swap-kunit", description=DESCRIPTION, epilog=status_lines(STATUSES), allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Parser)
    for verb in VERBS.values():
        verb.add_to(commands.add_parser(
            verb.name, help=verb.help, description=verb.sentence, epilog=status_lines(verb.every_status()),
            allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter))
    return parser


def open_streams() -> None:
    """Open /dev/null as stdin, stdout or stderr if the program was started with that stream closed."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))


def run_verb(argv: list[str], given: list[str]) -> int:
    """Parse the arguments and run the verb; returns its exit status. given: those of the program itself."""
    parser = make_parser()
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete      # pylint: disable=import-outside-toplevel  # optional, for completion in a shell
        argcomplete.autocomplete(parser)
    try:
        args, unknown = parser.parse_known_args(argv)
        if unknown:
            flags = [flag for one in VERBS[args.verb].every_option for flag in one.flags if flag.startswith("--")]
            near = did_you_mean(unknown[0].partition("=")[0], flags)
            parser.prog += f" {args.verb}"
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{'; ' * bool(near)}{near.rstrip()}")
    finally:
        sys.stdout.flush()      # the help text; argparse exits after it
    colors.choose(getattr(args, "color", colors.WHEN[0]))
    if hasattr(args, "make_option"):
        args.make_option = toolchain.from_environment(args.make_option)
    args.again = functools.partial(make.again, given, os.environ)
    status: int = args.function(args)
    if args.verb in WITH_PAGES:
        index.update(default_top())
    sys.stdout.flush()
    return status


def main(argv: list[str]) -> int:
    """Run a verb; returns the exit status."""
    interrupts.catch()
    open_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    given = argv
    try:
        if argv[:1] == [make.MAKE] and argv[1:2]:
            argv = make.command_line(argv[1:], os.environ, VERBS)
        return run_verb(argv, given)
    except SwapKunitError as error:
        sys.stdout.flush()
        print(f"swap-kunit: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print(f"\nswap-kunit: stopped during `{shlex.join(argv)}`: its processes have ended; run it again to continue",
              file=sys.stderr)
        return Interrupted.code
    except BrokenPipeError:
        drop_output()
        return FAILED
    except OSError as error:
        drop_output()
        print(f"swap-kunit: cannot finish `{shlex.join(argv)}`: {explained(error)}", file=sys.stderr)
        return WRONG_USE


def drop_output() -> None:
    """Discard what stdout still buffers if it cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
