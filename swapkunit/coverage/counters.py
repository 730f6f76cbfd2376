# SPDX-License-Identifier: GPL-2.0
"""Read the counters of a coverage kernel: hits by line, function and branch.

At the end of each case the kernel writes the counters of that case to a directory named suite.case[parameter];
counters from before the first case are in `boot`. gcov-tool adds counters up, gcov translates them.
"""
from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tempfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Iterable

from ..base import commands
from ..base.errors import SwapKunitError
from ..base.layout import WRAPPED

WATCHED = (*(f"mm/{name}" for name in WRAPPED), "mm/swap.h", "mm/swap_table.h")
BOOT = "boot"       # the directory for counters from before the first case
# The kernel's own file is compiled as mm/NAME_real.c and mapped back to mm/NAME.c, but gcc before 12 does not map
# names in the notes.
STEMS = "|".join(sorted({Path(name).stem for name in WATCHED}))
WATCHED_END = re.compile(rf"(?:^|/)(mm/(?:{STEMS}))(?:_real)?(\.[ch])$")
DEFINITION = re.compile(r"(?:[A-Za-z_][\w\s*]*?\b)??(\w+)\(")     # a function's first line, kernel style
DECLARED = 12   # lines that a function's parameters may take
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)")


@dataclass
class FileCounts:
    """How often each line, function and branch of one source file was reached.

    functions: name -> [first line, last line, calls]; branches: line -> a count for each branch.
    """

    lines: dict[int, int] = field(default_factory=dict)
    functions: dict[str, list[int]] = field(default_factory=dict)
    branches: dict[int, list[int]] = field(default_factory=dict)

    def add(self, other: FileCounts) -> None:
        """Add the counts of other."""
        for line, count in other.lines.items():
            self.lines[line] = self.lines.get(line, 0) + count
        for name, (first, last, calls) in other.functions.items():
            mine = self.functions.setdefault(name, [first, last, 0])
            mine[2] += calls
        for line, ways in other.branches.items():
            mine = self.branches.get(line, [])
            self.branches[line] = [a + b for a, b in zip_longest(mine, ways, fillvalue=0)]

    def settle_functions(self, text: list[str]) -> None:
        """Complete the functions that gcc inlines before gcov counts; text: the source.

        A line outside all functions belongs to a function that is inlined everywhere; it is looked up in the source.
        A function that is reached only where it is inlined counts as called that often.
        """
        for line in self.lines:
            if not self.function_at(line):
                name, first, last = function_in_source(text, line)
                if name:
                    self.functions[name] = [first, last, 0]
        for function in self.functions.values():
            if not function[2]:
                inside = range(function[0], function[1] + 1)
                function[2] = max((self.lines.get(line, 0) for line in inside), default=0)

    def function_at(self, line: int) -> str:
        """The innermost function that contains line, or ""."""
        around = [(last - first, first, name) for name, (first, last, _) in self.functions.items()
                  if first <= line <= last]
        return min(around, key=lambda entry: (entry[0], entry[1], len(entry[2])))[2] if around else ""


def function_in_source(text: list[str], line: int) -> tuple[str, int, int]:
    """(name, first line, last line) of the function that contains line, by coding style; else ("", 0, 0)."""
    for first in range(min(line, len(text)), 0, -1):
        start = ATTRIBUTE.sub("", text[first - 1])
        if start.startswith("}") and first != line:
            break
        found = DEFINITION.match(start)
        if found and next(iter(re.findall("[{;]", "".join(text[first - 1:first + DECLARED]))), "") == "{":
            last = first + 1
            while last < len(text) and not text[last - 1].startswith("}"):
                last += 1
            return (found[1], first, last) if last >= line else ("", 0, 0)
    return "", 0, 0


Counts = dict[str, FileCounts]


def add_counts(total: Counts, other: Counts) -> None:
    """Add other to total, file by file."""
    for name, counts in other.items():
        total.setdefault(name, FileCounts()).add(counts)


def watched_name(name: str, watched: Iterable[str] = WATCHED) -> str | None:
    """The name in the kernel tree, such as mm/swapfile.c, for a name in gcov's output; None if not in watched."""
    found = WATCHED_END.search(name)
    whole = found[1] + found[2] if found else name
    return next((one for one in watched if whole == one or whole.endswith(f"/{one}")), None)


# -- the tools ---------------------------------------------------------------


@dataclass(frozen=True)
class Tools:
    """The gcov and gcov-tool that belong to the compiler; watched: the files whose counts are read."""

    gcov: str = "gcov"
    gcov_tool: str = "gcov-tool"
    watched: tuple[str, ...] = WATCHED


def tools_for(make_options: Iterable[str]) -> Tools:
    """The tools of the compiler that CC= names, or of the default compiler."""
    for option in make_options:
        name, _, value = option.partition("=")
        found = re.search(r"(?:^|[/ ])([^/ ]*)gcc(-[\d.]+)?$", value) if name == "CC" else None
        if found:
            prefix, version = found[1], found[2] or ""
            return Tools(f"{prefix}gcov{version}", f"{prefix}gcov-tool{version}")
    return Tools()


def counter_dirs(raw: Path) -> dict[str, list[Path]]:
    """Suite -> the directories of its cases in raw."""
    suites: dict[str, list[Path]] = {}
    for path in sorted(raw.iterdir()) if raw.is_dir() else []:
        if not path.name.startswith(".") and any(path.glob("*.gcda")):
            suites.setdefault(path.name.split(".")[0], []).append(path)
    return suites


def add_notes(directory: Path, notes: Path) -> None:
    """Link the compiler's notes to the counters in directory, where gcov expects them."""
    for counters in directory.glob("*.gcda"):
        link = directory / f"{counters.stem}.gcno"
        if not link.is_symlink():
            link.symlink_to(notes.absolute() / link.name)


def merge(parts: list[Path], target: Path, tools: Tools) -> None:
    """Add up the counters of all parts into target, a new directory."""
    if len(parts) == 1:
        target.mkdir()
        for counters in parts[0].glob("*.gcda"):
            shutil.copyfile(counters, target / counters.name)
        return
    steps, before = [], parts[0]
    for number, part in enumerate(parts[1:], 1):
        step = target if number == len(parts) - 1 else target.with_name(f"{target.name}.{number}")
        steps.append(shlex.join([tools.gcov_tool, "merge", str(before), str(part), "-o", str(step)]))
        steps += [shlex.join(["rm", "-r", str(before)])] if before != parts[0] else []
        before = step
    # One shell for all steps: starting a sandbox for each takes longer than adding up.
    command, env = commands.wrapped(["sh", "-e"], None, None)
    done = subprocess.run(command, env=env, input="\n".join(steps), capture_output=True, text=True, errors="replace",
                          check=False)
    if done.returncode:
        raise SwapKunitError(f"cannot add up the coverage counters of {parts[0]} and {len(parts) - 1} others: "
                             f"{done.stderr.strip()}; run `swap-kunit coverage` again")


def read_counts(directory: Path, tools: Tools, unit: str = "*", branches: bool = True) -> Counts:
    """The counts of WATCHED files from the counters and notes in directory.

    unit: one compiled file, such as "swapfile"; without branches gcov is faster.
    """
    paths = sorted(str(path) for path in directory.glob(f"{unit}.gcda"))
    if not paths:
        return {}
    command = [tools.gcov, *["--branch-probabilities"] * branches, "--json-format", "--stdout", *paths]
    command, env = commands.wrapped(command, None, None)
    done = subprocess.run(command, env=env, capture_output=True, check=False)
    if done.returncode or b"mismatch" in done.stderr:
        message = done.stderr.decode(errors="replace").strip()
        raise SwapKunitError(f"cannot read the coverage counters in {directory}: {tools.gcov}: {message}; "
                             "run `swap-kunit coverage` again")
    total: Counts = {}
    for line in done.stdout.splitlines():
        add_counts(total, unit_counts(json.loads(line)["files"], tools.watched))
    return total


def unit_counts(entries: list[dict[str, Any]], watched: Iterable[str]) -> Counts:
    """The counts of one compiled file, from gcov's JSON.

    If the kernel's file is still called mm/NAME_real.c, mm/NAME.c is our wrapper.
    """
    wrappers = {entry["file"].replace("_real.c", ".c") for entry in entries
                if entry["file"].endswith("_real.c")}
    found: Counts = {}
    for entry in entries:
        name = watched_name(entry["file"], watched)
        if name and entry["file"] not in wrappers:
            found.setdefault(name, FileCounts()).add(file_counts(entry))
    return found


def file_counts(entry: dict[str, Any]) -> FileCounts:
    """The counts of one source file, from gcov's JSON."""
    counts = FileCounts()
    for line in entry["lines"]:
        number = line["line_number"]
        counts.lines[number] = counts.lines.get(number, 0) + line["count"]
        if line["branches"]:
            counts.branches.setdefault(number, []).extend(way["count"] for way in line["branches"])
    for function in entry["functions"]:
        counts.functions[function["name"]] = [function["start_line"], function["end_line"],
                                              function["execution_count"]]
    return counts


# -- suites and cases --------------------------------------------------------


def counts_by_suite(raw: Path, notes: Path, tools: Tools, jobs: int) -> dict[str, Counts]:
    """Suite -> its counts, with BOOT as one suite. Temporary sums are kept in raw."""
    suites = counter_dirs(raw)

    def one(suite: str) -> Counts:
        with tempfile.TemporaryDirectory(prefix=".sum-", dir=raw) as scratch:
            total = Path(scratch, "total")
            merge(suites[suite], total, tools)
            add_notes(total, notes)
            return read_counts(total, tools)

    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip(suites, pool.map(one, suites)))


Hits = dict[str, dict[int, int]]    # file -> line -> count, reached lines only


def hits_of(directory: Path, notes: Path, unit: str, tools: Tools) -> Hits:
    """The lines that one case reached in the code compiled as unit."""
    add_notes(directory, notes)
    return {name: {line: count for line, count in counts.lines.items() if count}
            for name, counts in read_counts(directory, tools, unit, branches=False).items()}


def hits_by_case(raw: Path, notes: Path, unit: str, tools: Tools, jobs: int) -> dict[str, Hits]:
    """Case -> the lines that it reached in the code compiled as unit; takes 10 ms a case."""
    paths = [path for group in counter_dirs(raw).values() for path in group]
    same = [[value] * len(paths) for value in (notes, unit, tools)]
    with ProcessPoolExecutor(jobs) as pool:
        return {path.name: hits for path, hits
                in zip(paths, pool.map(hits_of, paths, *same, chunksize=8))}
