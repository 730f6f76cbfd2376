# SPDX-License-Identifier: GPL-2.0
"""Names for the addresses that a kernel without CONFIG_KALLSYMS prints."""
from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from pathlib import Path

from ..base import commands

ADDRESS = re.compile(r"\b0x0*([1-9a-f][0-9a-f]{7,15})\b")
TEXT = "TtWw"               # nm's letters for functions, the preferred one of two at an address first


class Symbols:
    """The functions of a vmlinux, which is read at the first address."""

    def __init__(self, binary: Path):
        self.binary = binary

    def name(self, line: str) -> str:
        """The line with function+0xOFFSET/0xSIZE, as kallsyms prints it, for each address in a function."""
        return ADDRESS.sub(self._name, line) if "0x" in line else line

    def _name(self, found: re.Match[str]) -> str:
        info, address = self.binary.stat(), int(found[1], 16)
        starts, names = functions(self.binary, info.st_mtime_ns, info.st_size)
        at = bisect_right(starts, address) - 1
        if not 0 <= at < len(starts) - 1:
            return found[0]
        return f"{names[at]}+{address - starts[at]:#x}/{starts[at + 1] - starts[at]:#x}"


@lru_cache(maxsize=4)
def functions(binary: Path, _mtime: int, _size: int) -> tuple[list[int], list[str]]:
    """The addresses and names of all functions, in order; none if nm cannot read the file."""
    done = commands.run(["nm", binary], env=commands.kernel_environment())
    found: dict[int, tuple[int, bool, str]] = {}
    for address, kind, name in re.findall(rf"^([0-9a-f]+) ([{TEXT}]) (\S+)$", done.output, re.M):
        rank = (TEXT.index(kind), name.startswith("_"), name)
        found[int(address, 16)] = min(rank, found.get(int(address, 16), rank))
    starts = sorted(found)
    return starts, [found[start][2] for start in starts]
