# SPDX-License-Identifier: GPL-2.0
"""All mutants of a file in one text: a guard, evaluated when the code runs, chooses the original or a mutant.

    (swap_mutant(17) ? (a <= b) : (a < b))
    { if (swap_mutant(18)) { } else { put(x); } }

Lines keep their numbers. A mutant inside of another one is in the latter's original only.
"""
from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, Iterable

from ..base.errors import SwapKunitError

MOST = 1 << 15      # SWAP_MUTANTS of kunit/fixture/mutants.h
GUARD = "swap_mutant"
BEFORE_LINK = '\nasm(".pushsection .text\\n.weak {0}\\n{0}: ud2\\n.popsection");'
PLACE = re.compile(r"(?:^|[\s/])mm/(\w+?)(?:_real)?\.c:(\d+):(\d+)\b")


@dataclass(frozen=True)
class Mutant:
    """One wrong version of a piece of code.

    file: such as mm/swapfile.c; before: the text that it replaces, on one line; key: stands for it and its function.
    """

    number: int
    file: str
    line: int
    function: str
    operator: str
    before: str
    after: str
    source: str     # the line's text, with single blanks
    key: str

    @property
    def edit(self) -> str:
        """What is done: "a < b" to "a <= b"."""
        return f"{self.before} -> {self.after}" if self.after else f"without {self.before}"


@dataclass
class Piece:
    """A site of sites.py with its mutants."""

    start: int
    end: int
    kind: str
    mutants: list[Mutant]


class Schemata:
    """One file: text, its pieces with mutants, and the text that has them all."""

    def __init__(self, file: str, text: str, found: dict[str, Any], first: int):
        self.file, self.text = file, text
        self.starts = [0, *(one.end() for one in re.finditer("\n", text))]
        self.pieces: list[Piece] = []
        self.functions: dict[str, list[int]] = found["functions"]
        self.stubs: list[str] = []
        lines, ends = text.split("\n"), [len(text)]
        for site in sorted(found["sites"], key=lambda site: (site["start"], -site["end"])):
            while site["start"] >= ends[-1]:
                ends.pop()
            if site["end"] > ends[-1]:      # a macro has a part of both
                continue
            ends.append(site["end"])
            line = bisect_right(self.starts, site["start"])
            mutants = []
            for operator, after in site["mutants"]:
                mutants.append(Mutant(first, file, line, site["function"], operator, site["text"], after,
                                      " ".join(lines[line - 1].split()), self.key(site, operator, after)))
                first += 1
            self.pieces.append(Piece(site["start"], site["end"], site["kind"], mutants))
        if first >= MOST:
            raise SwapKunitError(f"cannot have {first} mutants in one kernel, the most is {MOST}; choose a file with "
                                 "--file")

    def key(self, site: dict[str, Any], operator: str, after: str) -> str:
        """What a stored verdict is found by: the text of the function, the place in it, and the mutant."""
        start, end = self.functions[site["function"]]
        what = (self.file, self.text[start:end], site["start"] - start, site["end"] - start, operator, after)
        return hashlib.sha256(repr(what).encode()).hexdigest()[:16]

    @property
    def mutants(self) -> list[Mutant]:
        """All, in order."""
        return [mutant for piece in self.pieces for mutant in piece.mutants]

    def keep(self, wanted: Iterable[Mutant]) -> None:
        """Drop the others."""
        numbers = {mutant.number for mutant in wanted}
        for piece in self.pieces:
            piece.mutants = [mutant for mutant in piece.mutants if mutant.number in numbers]
        self.pieces = [piece for piece in self.pieces if piece.mutants]

    def render(self) -> tuple[str, list[tuple[int, int, list[Mutant]]]]:
        """The text with all mutants, and the ranges in it: of each mutant, and of each piece, with its mutants."""
        parts: list[str] = []
        ranges: list[tuple[int, int, list[Mutant]]] = []
        around: list[tuple[Piece, int]] = []
        at = length = 0

        def put(text: str) -> None:
            nonlocal length
            parts.append(text)
            length += len(text)

        def close(until: int) -> None:
            nonlocal at
            while around and around[-1][0].end <= until:
                piece, begun = around.pop()
                put(self.text[at:piece.end])
                at = piece.end
                put(" } }" if piece.kind == "statement" else "))")
                ranges.append((begun, length, piece.mutants))

        for piece in self.pieces:
            close(piece.start)
            put(self.text[at:piece.start])
            at = piece.start
            around.append((piece, length))
            put("{ " if piece.kind == "statement" else "(")
            for mutant in piece.mutants:
                put(f"if ({GUARD}({mutant.number})) {{ " if piece.kind == "statement" else
                    f"{GUARD}({mutant.number}) ? (")
                ranges.append((length, length + len(mutant.after), [mutant]))
                put(mutant.after)
                put(" } else " if piece.kind == "statement" else ") : ")
            put("{ " if piece.kind == "statement" else "!!(" if piece.kind == "condition" else "(")
        close(len(self.text))
        put(self.text[at:])
        put("".join(map(BEFORE_LINK.format, self.stubs)))
        return "".join(parts), ranges

    def faulty(self, output: str) -> list[Mutant]:
        """The mutants that the compiler's errors are about: by their place, or by their line."""
        text, ranges = self.render()
        starts = [0, *(one.end() for one in re.finditer("\n", text))]
        found: dict[int, Mutant] = {}
        for line, column in positions(output, self.file):
            place = starts[line - 1] + column - 1
            inside = [(end - start, mutants) for start, end, mutants in ranges if start <= place <= end]
            near = min(inside, key=lambda one: one[0])[1] if inside else \
                [mutant for mutant in self.mutants if mutant.line == line]
            found.update((mutant.number, mutant) for mutant in near)
        return list(found.values())


def positions(output: str, file: str) -> list[tuple[int, int]]:
    """The lines and columns in file of a compiler's errors; of one in a header, where file uses that."""
    found: list[tuple[int, int]] = []
    inlined: list[tuple[int, int]] = []
    elsewhere = False       # the last error is in a header, and may be that of a macro
    for line in output.splitlines():
        match = PLACE.search(line)
        place = [(int(match[2]), int(match[3]))] if match and f"mm/{match[1]}.c" == file else []
        if "inlined from" in line:
            inlined += place
        elif "error: " in line:
            found += place or inlined
            elsewhere = not (place or inlined)
            inlined = []
        elif elsewhere and "in expansion of macro" in line and place:
            found += place
            elsewhere = False
    return found
