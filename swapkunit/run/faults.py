# SPDX-License-Identifier: GPL-2.0
"""The faults in a failed case's output, each whole, and where they are."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator

from ..base.layout import REPO
from ..base.text import plural, relative
from ..build import sources
from ..build.fit import own_name
from .kernel_reports import MARK, PROCESS

BROKEN = ("crashed: ", "hung: ", "failed: ")     # a case that did not end by itself
TEXT_LINES = 6      # of each failed case's text, unless its first fault alone has more
# What the kernel says of any swapon or failed read, and the body of its reports.
CHATTER = re.compile(r"Adding \d+k swap on |Truncating oversized swap area|(Read|Write)-error on swap-device|printk: |"
                     r"-+\[ (cut here|end trace)|WARNING: |CPU: \d|Tainted: |Stack:$|Call Trace:$|([0-9a-f]{8}\b ?){2}|"
                     r"\[<[0-9a-f]+>\] \? ")
HEAD = re.compile(r"\S+: (?:EXPECTATION|ASSERTION) FAILED at (\S+?):(\d+)$")
PLACED = re.compile(r"(\w+_kunit\.c):(\d+): ")
SUITES = "mm/kunit/suites/"
IN_KERNEL = re.compile(r"\b((?:[\w-]+/)+[\w-]+\.[ch]):(\d+)")


def begins(line: str) -> bool:
    """Whether a fault begins with line."""
    return bool(HEAD.match(line) or PLACED.match(line)) or line.startswith((*BROKEN, MARK))


def in_fixture(line: str) -> bool:
    """Whether line only says that a check of the fixture failed."""
    head = HEAD.match(line)
    return bool(head and head[1].startswith("mm/kunit/fixture/"))


def faults_of(text: list[str]) -> list[list[str]]:
    """The faults in a failed case's output, without what comes before them and the kernel's own lines.

    A place in the fixture is left out of those that have more to say: their text names the place in the suite.
    """
    found: list[list[str]] = []
    for line in text:
        announced = found and len(found[-1]) == 1 and in_fixture(found[-1][0])
        if begins(line) and not announced:
            found.append([line])
        elif found and (found[-1][0].startswith(BROKEN) or not CHATTER.match(line)):
            found[-1].append(line)
    return [fault[in_fixture(fault[0]) and len(fault) > 1:] for fault in found]


def interesting(text: list[str]) -> list[str]:
    """The lines of a failed case's output that a summary shows: no fault is cut, except for a crash's trace."""
    found = faults_of(text) or [text[-TEXT_LINES:]]
    crashed = "".join(found[0][:1]).startswith(BROKEN)
    lines, left = found[0][:TEXT_LINES if crashed else None], found[1:]
    while left and sum(not HEAD.match(line) for line in lines + left[0]) <= TEXT_LINES:
        lines += left.pop(0)
    return lines + ([f"(and {plural(len(left), 'more fault')}; see the log)"] if left else [])


def located(name: str, text: list[str], tree: Path | None = None) -> Iterator[str]:
    """interesting(text) of the case suite.name, with "file:line: " before the first line of a fault, for editors.

    tree: the overlay that was built; without one, the names are those in the kernel and in this project.
    """
    where = place_of_case(name, tree)
    lines = [PROCESS.sub("", line) for line in interesting(text)]
    for number, line in enumerate(lines):
        head, placed, kernel = HEAD.match(line), PLACED.match(line), IN_KERNEL.search(line)
        if head:
            where = place(tree, head[1], head[2])
            if lines[number + 1:]:
                continue
        elif placed:
            where, line = place(tree, SUITES + placed[1], placed[2]), line[placed.end():]
        elif kernel:
            where = place(tree, kernel[1], kernel[2]) or where
        if "==" not in "".join(lines[number + 1:number + 2]):       # KUnit leaves out the values of literals
            line = line.removesuffix(", but")
        yield f"{where}: {line}" if where else f"             {line}"
        where = ""


def place(tree: Path | None, name: str, line: str | int) -> str:
    """file:line of what a kernel calls name, as seen from the current directory; "" if there is no such file."""
    if tree is None:
        return f"{own_name(name)}:{line}"
    file = sources.find(tree, name)
    return f"{relative(file)}:{line}" if file else ""


def place_of_case(name: str, tree: Path | None) -> str:
    """The file:line of a case, "" if it has none."""
    suite, _, case = name.partition("[")[0].partition(".")
    file = REPO / f"kunit/suites/{suite}_kunit.c"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    found = re.search(rf"^static void {re.escape(case)}\(", text, re.M)
    return place(tree, SUITES + file.name, text.count("\n", 0, found.start()) + 1) if found else ""
