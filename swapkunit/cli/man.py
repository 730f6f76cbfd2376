# SPDX-License-Identifier: GPL-2.0
"""The manual page swap-kunit(1), in troff, made of the same table as the help texts."""
from __future__ import annotations

from typing import Iterable, Iterator, Mapping

from .options import Option
from .verb import Verb

DESCRIPTION = """\
swap-kunit builds a Linux kernel for ARCH=um together with KUnit suites that drive its real swap code (mm/swapfile.c,
mm/swap_state.c, mm/page_io.c, mm/zswap.c), runs the suites, and reports the results. It never writes to the kernel
tree."""
MAKE = """\
In the project's directory, make VERB NAME=value is the same as swap-kunit VERB --option=value. The description of each
option names its variables. make turns every failure into exit status 2."""
ENVIRONMENT = {
    "SWAP_KUNIT_CACHE": "directory for fetched kernels; default ${XDG_CACHE_HOME:-~/.cache}/swap-kunit",
    "LLVM": "as for the kernel's make; --make-option overrides it; with make, CC counts too",
    "NO_COLOR": "no colors, if it is not empty",
}
FILES = {
    "out/KERNEL/CONFIG[@POLICY]/": "default output directory of a run: the build, ktap.log, results.json, junit.xml, "
                                   "decisions.txt",
    "configs/": "Kconfig fragments, and kernels.toml, the list of known kernels",
    "mm/policies/": "policies: patches for --policy",
    "coverage/floor.json": "the least coverage of each file",
}


# The first lines of a page, which tell it from files of others.
MADE = '.\\" SPDX-License-Identifier: GPL-2.0\n.\\" made by `swap-kunit man`\n'


def page(verbs: Iterable[Verb], statuses: Mapping[int, str]) -> str:
    """The whole page; statuses: the exit statuses of the program."""
    return MADE + "\n".join(lines(list(verbs), statuses)) + "\n"


def lines(verbs: list[Verb], statuses: Mapping[int, str]) -> Iterator[str]:
    """The lines of the page."""
    yield from (".TH SWAP\\-KUNIT 1", ".SH NAME",
                "swap\\-kunit \\- run KUnit suites against the real swap code of a Linux kernel",
                ".SH SYNOPSIS", "\\fBswap\\-kunit\\fP \\fIVERB\\fP [\\fIOPTION\\fP ...]", ".br",
                "\\fBmake\\fP \\fIVERB\\fP [\\fINAME\\fP=\\fIvalue\\fP ...]", ".SH DESCRIPTION", text(DESCRIPTION),
                ".PP", text(MAKE), ".SH VERBS")
    for verb in verbs:
        yield from (".SS " + text(synopsis(verb)), text(verb.sentence))
        for option in verb.every_option:
            yield from described(option)
        yield from (".PP", "Exit status, besides 2 and 130:")
        yield from definitions({str(status): meaning for status, meaning in verb.statuses.items()})
    yield ".SH EXIT STATUS"
    yield from definitions({str(status): meaning for status, meaning in statuses.items()})
    for heading, table in (("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)):
        yield f".SH {heading}"
        yield from definitions(table)


def text(words: str) -> str:
    """words as troff prints them; they must not start a request."""
    return "\\&" * words.startswith((".", "'")) + words.replace("\\", "\\e").replace("-", "\\-")


def definitions(table: Mapping[str, str]) -> Iterator[str]:
    """A list of terms and their meanings."""
    for term, meaning in table.items():
        yield from (".TP", f"\\fB{text(term)}\\fP", text(meaning))


def synopsis(verb: Verb) -> str:
    """The verb and its arguments: "covers [OPTION ...] FILE:LINE"."""
    arguments = [f"[{metavar(one)} ...]" if one.how.get("nargs") else metavar(one)
                 for one in verb.every_option if not one.flags[0].startswith("-")]
    has_options = len(arguments) < len(verb.every_option)
    return " ".join([verb.name, *["[OPTION ...]"] * has_options, *arguments])


def metavar(option: Option) -> str:
    """The name of the option's value."""
    return str(option.how.get("metavar") or option.flags[0])


def described(option: Option) -> Iterator[str]:
    """An option or argument, its variables for make, and its help."""
    named = option.flags[0].startswith("-")
    term = ", ".join(f"\\fB{text(flag)}\\fP" for flag in option.flags) if named else f"\\fI{text(metavar(option))}\\fP"
    if named and not option.is_switch:
        value = f"\\fI{text(metavar(option))}\\fP"
        term += f" [{value}]" if option.how.get("nargs") == "?" else f" {value}"
    yield from (".TP", term, text(option.help))
    if option.variables:
        yield text(f"(make: {', '.join(option.assignments)})")
