# SPDX-License-Identifier: GPL-2.0
"""How much of the swap code the suites reach: totals, a table, unreached lines."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable

from . import counters
from .counters import BOOT, WATCHED, Counts, FileCounts, Tools
from ..base.errors import FAILED, SwapKunitError


class NoCounters(SwapKunitError):
    """No case finished, so none has written its counters."""

    code = FAILED


def collect(raw: Path, notes: Path, source: Path, tools: Tools, jobs: int) -> dict[str, Counts]:
    """Suite -> its counts, from the counters in raw; source: the kernel tree. Raises NoCounters."""
    suites = counters.counts_by_suite(raw, notes, tools, jobs)
    if not suites.keys() - {BOOT}:
        raise NoCounters("cannot read coverage: no case wrote counters; the consoles of the run show why none finished")
    text = {name: source_lines(source / name) for name in tools.watched}
    for counts in suites.values():
        for name, file_counts in counts.items():
            file_counts.settle_functions(text[name])
    return suites


def total_of(suites: dict[str, Counts], watched: Iterable[str] = WATCHED) -> Counts:
    """The sum of all suites."""
    total: Counts = {}
    for counts in suites.values():
        counters.add_counts(total, counts)
    return {name: total[name] for name in watched if name in total}


def source_lines(path: Path) -> list[str]:
    """The lines of a source file; none if it cannot be read."""
    try:
        return path.read_text(errors="replace").splitlines()
    except OSError:
        return []


# -- figures -----------------------------------------------------------------


@dataclass(frozen=True)
class Ratio:
    """hit out of total."""

    hit: int
    total: int

    @property
    def percent(self) -> float:
        """100 if there is nothing to hit."""
        return 100.0 * self.hit / self.total if self.total else 100.0

    def __str__(self) -> str:
        return f"{self.hit:5}/{self.total:<5}{self.percent:6.1f} %"


def ratios(counts: FileCounts) -> tuple[Ratio, Ratio, Ratio]:
    """Lines, functions, branches."""
    def ratio(values: list[int]) -> Ratio:
        return Ratio(sum(map(bool, values)), len(values))

    return (ratio(list(counts.lines.values())), ratio([calls for _, _, calls in counts.functions.values()]),
            ratio([count for line in counts.branches.values() for count in line]))


def table(total: Counts) -> str:
    """Lines, functions and branches of each file, and of all files together."""
    width = max(map(len, WATCHED))
    rows = [f"{'':{width}}  {'lines':^18}   {'functions':^18}   {'branches':^18}"]
    sums = [[0, 0] for _ in range(3)]
    for name, counts in total.items():
        found = ratios(counts)
        rows.append(f"{name:<{width}}  {'   '.join(map(str, found))}")
        for pair, ratio in zip(sums, found):
            pair[0] += ratio.hit
            pair[1] += ratio.total
    rows.append(f"{'all':<{width}}  {'   '.join(str(Ratio(*pair)) for pair in sums)}")
    return "\n".join(row.rstrip() for row in rows)


@dataclass(frozen=True)
class Gap:
    """Consecutive lines of one function that no case reaches; code: how many of them have code."""

    first: int
    last: int
    code: int
    function: str


def gaps(counts: FileCounts) -> list[Gap]:
    """The unreached lines of a file, as ranges that may include lines without code."""
    found: list[Gap] = []
    open_gap = False
    for line in sorted(counts.lines):
        if counts.lines[line]:
            open_gap = False
            continue
        function = counts.function_at(line)
        if open_gap and found[-1].function == function:
            found[-1] = Gap(found[-1].first, line, found[-1].code + 1, function)
        else:
            found.append(Gap(line, line, 1, function))
        open_gap = True
    return found


def uncovered(total: Counts, source: Path) -> str:
    """The unreached ranges by file and function, each with the text of its first line."""
    rows = []
    for name, counts in total.items():
        text = source_lines(source / name)
        by_function: dict[str, list[Gap]] = {}
        for gap in gaps(counts):
            by_function.setdefault(gap.function, []).append(gap)
        for function, mine in by_function.items():
            first, last, calls = counts.functions.get(function, [0, 0, 1])
            code = sum(gap.code for gap in mine)
            never = " (never called)" if not calls else ""
            rows.append(f"{name} {function or 'outside functions'}{'()' * bool(function)}: {code} of "
                        f"{sum(first <= line <= last for line in counts.lines) or code} lines{never}")
            whole = Gap(mine[0].first, mine[-1].last, code, function)
            rows += [gap_line(name, gap, text) for gap in ([whole] if never else mine)]
    return "\n".join(rows)


def gap_line(name: str, gap: Gap, text: list[str]) -> str:
    """FILE:FIRST-LAST and the text of the first line."""
    where = f"{name}:{gap.first}{f'-{gap.last}' if gap.last != gap.first else ''}"
    shown = text[gap.first - 1].strip()[:70] if gap.first <= len(text) else ""
    return f"  {where:<28} {shown}".rstrip()


def to_json(total: Counts, suites: dict[str, Counts], kernel: str, source: Path,
            filters: list[str]) -> dict[str, Any]:
    """coverage.json, for `covers` and other programs."""
    files = {}
    for name, counts in total.items():
        lines, functions, branches = ratios(counts)
        files[name] = {
            **{what: {"hit": ratio.hit, "total": ratio.total, "percent": round(ratio.percent, 2)}
               for what, ratio in (("lines", lines), ("functions", functions), ("branches", branches))},
            "uncovered": [{"first": gap.first, "last": gap.last, "function": gap.function}
                          for gap in gaps(counts)],
            "function_counts": {function: {"first": first, "last": last, "calls": calls}
                                  for function, (first, last, calls) in counts.functions.items()},
            "line_counts": counts.lines,
            "branch_counts": counts.branches,
        }
    return {"kernel": kernel, "source": str(source), "filters": filters,
            "suites": sorted(suites.keys() - {BOOT}), "files": files}
