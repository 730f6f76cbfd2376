# SPDX-License-Identifier: GPL-2.0
"""coverage/equivalent.toml: mutants that no test can notice, each with the reason."""
from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import SwapKunitError
from ..base.layout import REPO
from .schemata import Mutant

FILE = REPO / "coverage/equivalent.toml"


@dataclass(frozen=True)
class Equivalent:
    """One entry. line: the text of the line; edits: as --gaps prints them, or "*" for every mutant of the line."""

    file: str
    function: str
    line: str
    edits: tuple[str, ...]
    reason: str

    def covers(self, mutant: Mutant) -> bool:
        """Whether it is about a mutant."""
        return (self.file, self.function, self.line) == (mutant.file, mutant.function, mutant.source) \
            and ("*" in self.edits or mutant.edit in self.edits)


def load(path: Path = FILE) -> list[Equivalent]:
    """The entries. Raises SwapKunitError."""
    try:
        with open(path, "rb") as file:
            return [Equivalent(entry["file"], entry["function"], entry["line"], tuple(entry["edits"]), entry["reason"])
                    for entry in tomllib.load(file)["mutant"]]
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise SwapKunitError(f"cannot use the equivalent mutants in {path}: {error}; every [[mutant]] needs file, "
                             "function, line, edits and reason") from error
