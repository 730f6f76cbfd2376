# SPDX-License-Identifier: GPL-2.0
"""Variables of make as options: `make run KSRC=~/linux` is `swap-kunit run --ksrc=...`."""
from __future__ import annotations

import shlex
import sys
from typing import Iterable, Mapping

from .verb import Verb
from ..base.errors import SwapKunitError
from ..base.text import did_you_mean

MAKE = "--make"     # the Makefile calls `swap-kunit --make VERB NAME ...`
MOST = 12           # cases in the filter of again(); of more, it has their suites
NARROWS = ("RANGE", "PATCHES", "TITLE", "FILE", "FUNCTION")     # empty, as of an unset variable, they are not "all"
OF_MAKE = ("PYTHON", "SHELL", "V")      # used by the Makefile itself; V is accepted by every verb, as in the kernel


def command_line(words: list[str], environment: Mapping[str, str], verbs: Mapping[str, Verb]) -> list[str]:
    """The program's arguments for [VERB, NAME ...], the variables on make's command line.

    make puts their values into environment. Another variable of the environment counts if the verb has it. Raises
    SwapKunitError for a variable on the command line that the verb does not have, and for an empty KSRC= or RANGE=.
    """
    name, *given = words
    if name not in verbs:
        raise SwapKunitError(f"cannot run `make {name}`: there is no such verb; {did_you_mean(name, verbs)}the verbs "
                             f"are {', '.join(verbs)}")
    verb = verbs[name]
    passed = verbs[verb.passes_to] if verb.passes_to else verb
    own = {variable for option in passed.every_option for variable in option.variables}
    for variable in given:
        if variable not in own and variable not in OF_MAKE:
            raise unknown(variable, name, sorted(own), verbs)
        if variable == "KSRC" and not environment.get(variable, "").strip():
            raise SwapKunitError(f"cannot run `make {name}` with an empty KSRC=: give a kernel tree, or leave KSRC= "
                                 "out to test a kernel of Debian")
        if variable in NARROWS and not environment.get(variable, "").strip():
            raise SwapKunitError(f"cannot run `make {name}` with an empty {variable}=: that does not mean all there "
                                 "is; give it a value, or leave it out")
    options: list[str] = []
    arguments: list[str] = []
    for option in passed.every_option:
        wanted = [variable for variable in option.variables if environment.get(variable, "").strip()]
        wanted.sort(key=lambda variable: variable not in given)
        for variable in wanted if option.how.get("action") == "append" else wanted[:1]:
            place = options if option.flags[0].startswith("-") else arguments
            place += option.given(variable, environment[variable])
    return [name, *(["--"] if verb.passes_to and options else []), *options, *(["--"] if arguments else []), *arguments]


def again(argv: list[str], environment: Mapping[str, str], failed: Iterable[str]) -> str:
    """The command that was given, for these cases only, to be pasted into a shell; argv: as main() got it."""
    names = list(dict.fromkeys(name.partition("[")[0] for name in failed))
    names = names if len(names) <= MOST else list(dict.fromkeys(name.partition(".")[0] for name in names))
    if argv[:1] == [MAKE]:
        given = {**{name: environment.get(name, "") for name in argv[2:]}, "FILTER": ",".join(names)}
        values = {name: shlex.quote(value.replace("$", "$$")) for name, value in given.items()}
        return " ".join(["make", argv[1], *(f"{name}={value}" for name, value in values.items())])
    kept = [word for before, word in zip(["", *argv], argv) if "--filter" not in (before, word.partition("=")[0])]
    end = kept.index("--") if "--" in kept else len(kept)
    return shlex.join([sys.argv[0], *kept[:end], f"--filter={','.join(names)}", *kept[end:]])


def unknown(variable: str, name: str, own: list[str], verbs: Mapping[str, Verb]) -> SwapKunitError:
    """The error that the verb called name does not have the variable, with a suggestion."""
    users = [f"`make {verb.name}`" for verb in verbs.values()
             if any(variable in option.variables for option in verb.every_option)]
    near = did_you_mean(f"{variable.upper()}=", [f"{known}=" for known in own])
    if users:
        advice = f"it belongs to {', '.join(users)}"
    elif near:
        advice = near.strip()
    else:
        advice = f"its variables are {', '.join(own)}" if own else "it has none"
    return SwapKunitError(f"cannot run `make {name}` with {variable}=: `{name}` does not have that variable; {advice}")
