# SPDX-License-Identifier: GPL-2.0
"""Which mutants to try."""
from __future__ import annotations

import difflib
import fnmatch
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from ..base import git
from ..base.errors import SwapKunitError
from ..base.layout import WRAPPED
from ..base.text import did_you_mean
from .schemata import Mutant

LOCK = "lock dropped"
CALLED = re.compile(r"\b(\w+)\(")        # what may be a function
NEEDED_FOR_LOCKS = ("lockdep", "smp")       # fragments


@dataclass
class Choice:
    """files, functions: names or globs; none: all. changed: file -> lines; None: all. sample: how many, 0 for all."""

    files: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    changed: dict[str, set[int]] | None = None
    sample: int = 0
    seed: int = 1

    def check(self, tree: Path, patches: list[Path]) -> None:
        """Raise SwapKunitError, before anything is built, for a name that cannot be in a tree with patches."""
        files = {f"mm/{name}": tree / "mm" / name for name in WRAPPED if (tree / "mm" / name).exists()}
        texts = [path.read_text(errors="replace") for path in (*files.values(), *patches) if path.is_file()]
        self.check_names(set(files), set(CALLED.findall("\n".join(texts))))

    def check_names(self, files: set[str], functions: set[str]) -> None:
        """Raise SwapKunitError for a name that fits none of these."""
        for what, wanted, names in (("file", self.files, files), ("function", self.functions, functions)):
            for glob in wanted:
                if not any(fits(name, [glob]) for name in names):
                    raise SwapKunitError(f"no {what} with mutants is called {glob}; "
                                         f"{did_you_mean(glob, names)}--{what} takes names or globs")

    def of(self, mutants: list[Mutant]) -> list[Mutant]:
        """The chosen mutants, in order. Raises SwapKunitError for a name that fits none."""
        self.check_names({mutant.file for mutant in mutants}, {mutant.function for mutant in mutants})
        chosen = [mutant for mutant in mutants
                  if fits(mutant.file, self.files) and fits(mutant.function, self.functions)
                  and (self.changed is None or mutant.line in self.changed.get(mutant.file, ()))]
        if self.sample and self.sample < len(chosen):
            picked = random.Random(self.seed).sample(chosen, self.sample)
            chosen = sorted(picked, key=lambda mutant: mutant.number)
        return chosen


def fits(name: str, globs: list[str]) -> bool:
    """Whether a name, or the last part of a path, fits one of globs; anything fits none."""
    return not globs or any(fnmatch.fnmatchcase(one, glob) for one in (name, Path(name).name) for glob in globs)


def changed_lines(before: str, after: str) -> set[int]:
    """The lines of after, from 1, that before does not have."""
    old, new = before.splitlines(), after.splitlines()
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return {line + 1 for kind, _, _, first, last in blocks if kind != "equal" for line in range(first, last)}


def changed_by_patches(tree: Path, texts: dict[str, str]) -> dict[str, set[int]]:
    """The lines of each file that differ from tree's; texts: with the patches."""
    return {file: changed_lines((tree / file).read_bytes().decode("latin-1"), text) for file, text in texts.items()}


def changed_in_range(tree: Path, span: str, texts: dict[str, str]) -> dict[str, set[int]]:
    """The lines of each file that the commits base..tip changed; texts: of the tree, which must have tip checked out.

    Raises SwapKunitError.
    """
    base, _, tip = span.partition("..")
    tip = tip or "HEAD"
    found = {}
    for file, text in texts.items():
        old, new = (git.bytes_of(tree, "show", f"{commit}:{file}").decode("latin-1") for commit in (base, tip))
        if not new:
            raise SwapKunitError(f"cannot read {file} of {tip} in {tree}; give a range base..tip of that tree")
        if new != text:
            raise SwapKunitError(f"cannot mutate {span}: {file} in {tree} is not that of {tip}; check that "
                                 "commit out, or give the series as patches")
        found[file] = changed_lines(old, new)
    return found
