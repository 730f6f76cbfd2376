# SPDX-License-Identifier: GPL-2.0
"""Variables of make as options: `make run KSRC=~/linux` is `swap-kunit run --ksrc=...`."""
from __future__ import annotations

import difflib
from typing import Mapping

from .verb import Verb
from ..base.errors import SwapKunitError

OF_MAKE = ("PYTHON", "SHELL", "V")      # for the Makefile itself, and by habit for every verb


def command_line(words: list[str], environment: Mapping[str, str], verbs: Mapping[str, Verb]) -> list[str]:
    """The arguments of the program for [VERB, NAME=VALUE, ...] of make's command line.

    A variable of the environment counts where the verb has it and make was not given it. Raises SwapKunitError for
    a variable that the verb does not have.
    """
    name, *given = words
    verb = verbs[name]
    asked = dict(word.split("=", 1) for word in given)
    passed = verbs[verb.passes_to] if verb.passes_to else verb
    own = {variable for option in (*passed.options, *passed.exclusive) for variable in option.variables}
    for variable in asked.keys() - own - set(OF_MAKE):
        raise unknown(variable, name, sorted(own), verbs)
    values = {**{variable: environment[variable] for variable in own if variable in environment}, **asked}
    return [name, *(["--"] if verb.passes_to else []), *arguments(passed, values)]


def arguments(verb: Verb, values: Mapping[str, str]) -> list[str]:
    """The options, then the arguments, that stand for make's variables; one that is empty is not given."""
    before: list[str] = []
    behind: list[str] = []
    for option in (*verb.options, *verb.exclusive):
        given = [variable for variable in option.variables if values.get(variable, "").strip()]
        for variable in given if option.how.get("action") == "append" else given[:1]:
            place = before if option.flags[0].startswith("-") else behind
            place += option.given(variable, values[variable])
    return [*before, *(["--"] if behind else []), *behind]


def unknown(variable: str, name: str, own: list[str], verbs: Mapping[str, Verb]) -> SwapKunitError:
    """That the verb does not have the variable, and which was meant."""
    users = [other.name for other in verbs.values() for option in (*other.options, *other.exclusive)
             if variable in option.variables]
    near = difflib.get_close_matches(variable, own, 1)
    if near:
        advice = f"did you mean {near[0]}=?"
    elif users:
        advice = f"it belongs to `make {users[0]}`"
    else:
        advice = f"it takes {', '.join(own)}" if own else "it takes none"
    return SwapKunitError(f"cannot run `make {name}` with {variable}=: it does not have that variable; {advice}")
