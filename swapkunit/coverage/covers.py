# SPDX-License-Identifier: GPL-2.0
"""Which cases reach a line: an index made from the counters of every case."""
from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import counters
from .counters import BOOT, WATCHED, Tools
from .figures import source_lines
from .places import Places, counter_directory, unpack
from ..base import commands
from ..base.errors import SwapKunitError
from ..base.text import plural

FORM = 1    # of the index; one of another form is replaced


@dataclass
class Index:
    """cases by number; hits: file -> line -> [[case number, count], ...]."""

    cases: list[str]
    hits: dict[str, dict[str, list[list[int]]]]


@dataclass
class Run:
    """The last coverage run; report: its coverage.json."""

    places: Places
    report: dict[str, Any]

    @property
    def source(self) -> Path:
        """The kernel tree."""
        return Path(self.report["source"])


def open_run(places: Places, how: str) -> Run:
    """The run in places. Raises SwapKunitError if there is none; how: the command that makes one."""
    try:
        report = json.loads(places.json.read_text())
    except (OSError, ValueError):
        report = None
    if not isinstance(report, dict) or not {"source", "files"} <= report.keys():
        raise SwapKunitError(f"cannot tell which tests reach a line: there is no coverage run in "
                             f"{places.top}; make one with: {how}")
    if not places.cases.is_file() or not places.notes.is_dir():
        raise SwapKunitError(f"cannot tell which tests reach a line: the counters of the coverage run in "
                             f"{places.top} are gone; run it again with: {how}")
    return Run(places, report)


def index(run: Run, name: str, tools: Tools, jobs: int) -> Index:
    """Which cases reach the lines of file name; the index files of the run are made as needed."""
    units = [Path(name).stem] if name.endswith(".c") else \
        sorted(path.stem for path in run.places.notes.glob("*.gcno"))
    total = Index([], {})
    for unit in units:
        found = unit_index(run, unit, tools, jobs)
        total.cases = found.cases
        by_line = total.hits.setdefault(name, {})
        for line, reached in found.hits.get(name, {}).items():
            by_line.setdefault(line, []).extend(reached)
    return total


def unit_index(run: Run, unit: str, tools: Tools, jobs: int) -> Index:
    """The index of one compiled file, from the run's directory; made there if it is missing or old."""
    file = run.places.index / f"{unit}.json"
    stamp = [FORM, run.places.json.stat().st_mtime_ns]
    try:
        known = json.loads(file.read_text())
        if known["stamp"] == stamp:
            return Index(known["cases"], known["hits"])
    except (OSError, ValueError, KeyError):
        pass
    commands.status_line(f"reading the counters of every case for mm/{unit}.c")
    with counter_directory(run.places) as raw:
        unpack(run.places.cases, raw, unit)
        found = make_index(counters.hits_by_case(raw, run.places.notes, unit, tools, jobs))
    commands.status_line("")
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"stamp": stamp, "cases": found.cases, "hits": found.hits},
                               separators=(",", ":")))
    return found


def make_index(by_case: dict[str, counters.Hits]) -> Index:
    """The index of case -> file -> line -> count."""
    result = Index(list(by_case), {})
    for number, files in enumerate(by_case.values()):
        for name, lines in files.items():
            by_line = result.hits.setdefault(name, {})
            for line, count in lines.items():
                by_line.setdefault(str(line), []).append([number, count])
    return result


# -- queries -----------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """A line, or a function, of a file."""

    file: str
    line: int = 0
    function: str = ""


def parse_place(text: str, report: dict[str, Any]) -> Place:
    """FILE:LINE or FILE:FUNCTION; `mm/` is optional. Raises SwapKunitError."""
    found = re.fullmatch(r"(?:.*/)?([\w.]+):(?:(\d+)|([A-Za-z_]\w*)(?:\(\))?)", text.strip())
    if not found:
        raise SwapKunitError(f"'{text}' is not a place in the code; expected FILE:LINE or FILE:FUNCTION (make: "
                             "LINE=), such as mm/swapfile.c:1137 or mm/swapfile.c:swap_range_free")
    name = f"mm/{found[1]}"
    if name not in report["files"]:
        why = ("the kernel that ran does not include that file" if name in WATCHED else
               "coverage does not count that file")
        raise SwapKunitError(f"cannot tell which tests reach {text}: {why}; choose one of "
                             f"{', '.join(report['files'])}")
    return Place(name, int(found[2] or 0), found[3] or "")


@dataclass
class Answer:
    """The cases that reach a place, with notes.

    place: its description; reached: cases_of() it; text: its source line.
    """

    place: str
    reached: list[tuple[str, int, int]]
    notes: list[str]
    text: str = ""


def answer(run: Run, found: Index, place: Place) -> Answer:
    """Look place up. Raises SwapKunitError if there is no such line or function."""
    if place.function:
        return answer_function(run, found, place)
    entry = run.report["files"][place.file]
    text = source_lines(run.source / place.file)
    with_code = sorted(int(line) for line in entry["line_counts"])
    last = max(len(text), with_code[-1])
    if not 1 <= place.line <= last:
        raise SwapKunitError(f"cannot tell which tests reach {place.file}:{place.line}: the file has {last} lines; "
                             "give one of them")
    notes, line = [], place.line
    if line not in with_code:
        line = next((code for code in with_code if code > line), 0)
        notes.append(f"{place.file}:{place.line} has no code; "
                     + (f"the next line with code is {line}" if line else "neither has any line after it"))
    if not line:
        return Answer(f"{place.file}:{place.line}", [], notes)
    function = function_around(entry, line)
    return Answer(f"{place.file}:{line}{f' in {function}()' if function else ''}",
                  cases_of(found, place.file, [line]), notes,
                  text[line - 1].strip() if line <= len(text) else "")


def answer_function(run: Run, found: Index, place: Place) -> Answer:
    """The cases that reach any line of a function; counts are those of the line reached most often."""
    functions = run.report["files"][place.file]["function_counts"]
    names = [place.function] if place.function in functions else \
        [name for name in functions if re.fullmatch(r"(__do_|__se_)?(sys_)?" + re.escape(place.function), name)]
    if not names:
        near = [name for name in functions if place.function in name]
        others = [name for name, entry in run.report["files"].items()
                  if place.function in entry["function_counts"]]
        hint = (f"it is in {' and '.join(others)}" if others else f"did you mean {' or '.join(near[:8])}?" if near
                else "check its name; this configuration may not compile it")
        raise SwapKunitError(f"cannot find a function '{place.function}' with code in {place.file}: {hint}")
    where = functions[names[0]]
    lines = list(range(where["first"], where["last"] + 1))
    return Answer(f"{place.file}:{names[0]}() in lines {lines[0]} to {lines[-1]}",
                  cases_of(found, place.file, lines), [])


def function_around(entry: dict[str, Any], line: int) -> str:
    """The innermost function around line in a file entry of coverage.json, or ""."""
    around = [(where["last"] - where["first"], len(name), name)
              for name, where in entry["function_counts"].items() if where["first"] <= line <= where["last"]]
    return str(min(around)[2]) if around else ""


def cases_of(found: Index, name: str, lines: list[int]) -> list[tuple[str, int, int]]:
    """(case, count, lines of the file that it reaches) of the cases that reach any of lines.

    The most specific comes first, which reaches the fewest lines of the file, BOOT last.
    """
    breadth = Counter(number for reached in found.hits[name].values() for number, _ in reached)
    most: dict[int, int] = {}
    for line in lines:
        times: dict[int, int] = {}
        for number, count in found.hits[name].get(str(line), []):
            times[number] = times.get(number, 0) + count
        for number, count in times.items():
            most[number] = max(count, most.get(number, 0))
    named = [(found.cases[number], count, breadth[number]) for number, count in most.items()]
    return sorted(named, key=lambda item: (item[0] == BOOT, item[2], -item[1], item[0]))


def render(result: Answer, cases: int) -> str:
    """The answer as text; cases: how many ran."""
    lines = list(result.notes)
    tests = [one for one in result.reached if one[0] != BOOT]
    booted = [count for case, count, _ in result.reached if case == BOOT]
    total = sum(count for _, count, _ in tests)
    lines.append(f"{result.place}: " + (f"reached {plural(total, 'time')} by {len(tests)} of {cases} tests" if tests
                                        else f"not reached by any of {cases} tests"))
    if result.text:
        lines.append(f"    {result.text}")
    width = max((len(case) for case, *_ in tests), default=0)
    if tests:
        lines.append(f"{'':<{width}}     times   lines of the file that it reaches: the most specific comes first")
    lines += [f"{case:<{width}}  {count:>8}  {breadth:>6}" for case, count, breadth in tests]
    lines += [f"(and {plural(count, 'time')} at boot, before the first test)" for count in booted]
    return "\n".join(lines)
