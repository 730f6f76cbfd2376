# SPDX-License-Identifier: GPL-2.0
"""Which test reaches a line: an index made from the counters of every case, and looking things up in it."""
from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from ..base import commands
from . import counters
from .counters import BOOT, WATCHED, Tools
from .report import Places, counter_directory, source_lines, unpack
from ..base.errors import SwapKunitError

FORM = 1    # of the index; another one is made anew


@dataclass
class Index:
    """cases by number; hits: file -> line -> [[case number, count], ...]."""

    cases: list[str]
    hits: dict[str, dict[str, list[list[int]]]]


@dataclass
class Run:
    """The last coverage run: coverage.json of its places, and the tree it was of."""

    places: Places
    report: dict

    @property
    def source(self) -> Path:
        """The kernel tree."""
        return Path(self.report["source"])


def open_run(places: Places, how: str) -> Run:
    """The run in places. Raises SwapKunitError that says to run how when there is none."""
    try:
        report = json.loads(places.json.read_text())
        report["source"], report["files"]
    except (OSError, ValueError, KeyError) as error:
        raise SwapKunitError(f"cannot tell which tests reach a line: there is no coverage run in "
                             f"{places.top}; make one with: {how}") from error
    if not places.cases.is_file() or not places.notes.is_dir():
        raise SwapKunitError(f"cannot tell which tests reach a line: the counters of the coverage run in "
                             f"{places.top} are gone; make them again with: {how}")
    return Run(places, report)


def index(run: Run, name: str, tools: Tools, jobs: int) -> Index:
    """Who reaches what in the file called name: from the run's index files, which are made as needed."""
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
    """The index of one compiled file, read from the run's directory or made now and kept there."""
    kept = run.places.index / f"{unit}.json"
    stamp = [FORM, run.places.json.stat().st_mtime_ns]
    try:
        known = json.loads(kept.read_text())
        if known["stamp"] == stamp:
            return Index(known["cases"], known["hits"])
    except (OSError, ValueError, KeyError):
        pass
    commands.status_line(f"reading what every case reached in mm/{unit}.c")
    with counter_directory(run.places) as raw:
        unpack(run.places.cases, raw, unit)
        found = make_index(counters.hits_by_case(raw, run.places.notes, unit, tools, jobs))
    commands.status_line("")
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps({"stamp": stamp, "cases": found.cases, "hits": found.hits},
                               separators=(",", ":")))
    return found


def make_index(by_case: dict[str, counters.Hits]) -> Index:
    """Turn case -> file -> line -> count round."""
    result = Index(list(by_case), {})
    for number, files in enumerate(by_case.values()):
        for name, lines in files.items():
            by_line = result.hits.setdefault(name, {})
            for line, count in lines.items():
                by_line.setdefault(str(line), []).append([number, count])
    return result


# -- what is asked -----------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """A line, or a function, of a file."""

    file: str
    line: int = 0
    function: str = ""


def parse_place(text: str, report: dict) -> Place:
    """FILE:LINE or FILE:FUNCTION; `mm/` may be left out. Raises SwapKunitError."""
    found = re.fullmatch(r"(?:.*/)?([\w.]+):(?:(\d+)|([A-Za-z_]\w*)(?:\(\))?)", text.strip())
    if not found:
        raise SwapKunitError(f"'{text}' names no line: FILE:LINE or FILE:FUNCTION is meant, such as "
                             "mm/swapfile.c:1137 or mm/swapfile.c:swap_range_free")
    name = f"mm/{found[1]}"
    if name not in report["files"]:
        why = ("it was not compiled into the kernel that ran" if name in WATCHED else
               "it is none of the files whose coverage is counted")
        raise SwapKunitError(f"cannot tell which tests reach {text}: {why}; there are "
                             f"{', '.join(report['files'])}")
    return Place(name, int(found[2] or 0), found[3] or "")


@dataclass
class Answer:
    """Who reaches a place: what it is in words, [(case, count)] most first, and notes on the way."""

    place: str
    reached: list[tuple[str, int]]
    notes: list[str]
    text: str = ""


def answer(run: Run, found: Index, place: Place) -> Answer:
    """Look place up. Raises SwapKunitError for a line or function that is not there."""
    if place.function:
        return answer_function(run, found, place)
    entry = run.report["files"][place.file]
    text = source_lines(run.source / place.file)
    with_code = sorted(int(line) for line in entry["line_counts"])
    last = max(len(text), with_code[-1])
    if not 1 <= place.line <= last:
        raise SwapKunitError(f"there is no line {place.line} in {place.file}: it has {last} lines; "
                             "give one of them")
    notes, line = [], place.line
    if line not in with_code:
        line = next((code for code in with_code if code > line), 0)
        notes.append(f"{place.file}:{place.line} holds no code; "
                     + (f"the next line with code is {line}" if line else "nor does any line after it"))
    if not line:
        return Answer(f"{place.file}:{place.line}", [], notes)
    function = function_around(entry, line)
    return Answer(f"{place.file}:{line}{f' in {function}()' if function else ''}",
                  cases_of(found, place.file, [line]), notes,
                  text[line - 1].strip() if line <= len(text) else "")


def answer_function(run: Run, found: Index, place: Place) -> Answer:
    """Who reaches any line of a function; the count is that of its most often reached line."""
    functions = run.report["files"][place.file]["function_counts"]
    names = [place.function] if place.function in functions else \
        [name for name in functions if re.fullmatch(r"(__do_|__se_)?(sys_)?" + re.escape(place.function), name)]
    if not names:
        near = [name for name in functions if place.function in name]
        others = [name for name, entry in run.report["files"].items()
                  if place.function in entry["function_counts"]]
        hint = (f"it is in {' and '.join(others)}" if others else f"there are {', '.join(near[:8])}" if near
                else "it is misspelt, or not compiled in this configuration")
        raise SwapKunitError(f"no function '{place.function}' with code in {place.file}: {hint}")
    where = functions[names[0]]
    lines = list(range(where["first"], where["last"] + 1))
    return Answer(f"{place.file}:{names[0]}() in lines {lines[0]} to {lines[-1]}",
                  cases_of(found, place.file, lines), [])


def function_around(entry: dict, line: int) -> str:
    """The smallest function of coverage.json's file entry that spans line, or ""."""
    around = [(where["last"] - where["first"], len(name), name)
              for name, where in entry["function_counts"].items() if where["first"] <= line <= where["last"]]
    return min(around)[2] if around else ""


def cases_of(found: Index, name: str, lines: list[int]) -> list[tuple[str, int]]:
    """(case, count) of those that reach any of lines, the most frequent first."""
    most: dict[int, int] = {}
    for line in lines:
        times: dict[int, int] = {}
        for number, count in found.hits[name].get(str(line), []):
            times[number] = times.get(number, 0) + count
        for number, count in times.items():
            most[number] = max(count, most.get(number, 0))
    named = [(found.cases[number], count) for number, count in most.items()]
    return sorted(named, key=lambda item: (item[0] == BOOT, -item[1], item[0]))


def render(result: Answer, cases: int) -> str:
    """The answer in words."""
    lines = list(result.notes)
    tests = [(case, count) for case, count in result.reached if case != BOOT]
    booted = [count for case, count in result.reached if case == BOOT]
    total = sum(count for _, count in tests)
    lines.append(f"{result.place}: " + (f"reached {total} time{'s' * (total != 1)} by {len(tests)} of "
                                        f"{cases} tests" if tests else f"no test of {cases} reaches it"))
    if result.text:
        lines.append(f"    {result.text}")
    width = max((len(case) for case, _ in tests), default=0)
    lines += [f"{case:<{width}}  {count:>8}" for case, count in tests]
    lines += [f"(and {count} times before the first test, at boot)" for count in booted]
    return "\n".join(lines)
