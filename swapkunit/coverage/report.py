# SPDX-License-Identifier: GPL-2.0
"""What the suites reach of the swap code: figures, table, unreached lines."""
from __future__ import annotations

import shutil
import tarfile
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from . import counters
from .counters import WATCHED, Counts, FileCounts, Tools
from ..base.errors import FAILED, SwapKunitError
from ..run.uml import memory_directory

FRAGMENT = "coverage"
ROOM_FOR_COUNTERS = 256 << 20   # bytes; 1000 cases write 25 MB, and sums are made beside them


@dataclass(frozen=True)
class Places:
    """Where things of one coverage run lie, below the output directory."""

    top: Path

    @property
    def cases(self) -> Path:
        """What every case counted, packed."""
        return self.top / "cases.tar.gz"

    @property
    def notes(self) -> Path:
        """The compiler's notes of the kernel that ran."""
        return self.top / "notes"

    @property
    def info(self) -> Path:
        """lcov's form, one section per suite and file."""
        return self.top / "coverage.info"

    @property
    def json(self) -> Path:
        """Machine readable: totals, unreached lines, counts."""
        return self.top / "coverage.json"

    @property
    def html(self) -> Path:
        """genhtml's pages."""
        return self.top / "html"

    @property
    def index(self) -> Path:
        """Which case reaches which line, a file per compiled file; made by `covers`."""
        return self.top / "covers"


class NoCounters(SwapKunitError):
    """No case came to its end: none has written what it reached."""

    code = FAILED


# -- collecting --------------------------------------------------------------


@contextmanager
def counter_directory(places: Places) -> Iterator[Path]:
    """A directory for thousands of small files, in memory if there is room: ten times as fast."""
    places.top.mkdir(parents=True, exist_ok=True)
    where = memory_directory(ROOM_FOR_COUNTERS) or places.top
    with tempfile.TemporaryDirectory(prefix="swap-kunit-counters-", dir=where) as name:
        yield Path(name)


def forget(places: Places) -> None:
    """Remove what an earlier run left, so that nothing of it is taken for this one's."""
    for path in (places.cases, places.json, places.info):
        path.unlink(missing_ok=True)
    for path in (places.notes, places.index, places.html):
        shutil.rmtree(path, ignore_errors=True)


def pack(raw: Path, archive: Path) -> None:
    """Keep the counters of every case for `covers`."""
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        for path in sorted(raw.glob("*/*.gcda")):
            tar.add(path, str(path.relative_to(raw)))


def unpack(archive: Path, raw: Path, unit: str) -> None:
    """Lay the counters of one compiled file out again."""
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and Path(member.name).name == f"{unit}.gcda":
                target = raw / Path(member.name).parent.name / f"{unit}.gcda"
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(tar.extractfile(member).read())


def keep_notes(places: Places, build_mm: Path) -> None:
    """Copy the notes that belong to the counters: the next build overwrites them."""
    found = list(build_mm.glob("*.gcno"))
    if not found:
        raise SwapKunitError(f"cannot tell coverage: the build in {build_mm} has no .gcno files, so it "
                             "was not built for coverage; run `swap-kunit coverage`")
    places.notes.mkdir(parents=True, exist_ok=True)
    for path in found:
        shutil.copyfile(path, places.notes / path.name)


def collect(raw: Path, notes: Path, source: Path, tools: Tools, jobs: int) -> dict[str, Counts]:
    """Suite -> counts of the run of the tree source that wrote raw. Raises NoCounters."""
    suites = counters.counts_by_suite(raw, notes, tools, jobs)
    if not any(suite != counters.BOOT for suite in suites):
        raise NoCounters("cannot tell coverage: no case wrote counters; the consoles of the run tell why none "
                         "came to its end")
    text = {name: source_lines(source / name) for name in WATCHED}
    for counts in suites.values():
        for name, file_counts in counts.items():
            file_counts.settle_functions(text[name])
    return suites


def total_of(suites: dict[str, Counts]) -> Counts:
    """All suites together."""
    total: Counts = {}
    for counts in suites.values():
        counters.add_counts(total, counts)
    return {name: total[name] for name in WATCHED if name in total}


# -- figures -----------------------------------------------------------------


@dataclass(frozen=True)
class Ratio:
    """hit of total."""

    hit: int
    total: int

    @property
    def percent(self) -> float:
        """100 for nothing to hit."""
        return 100.0 * self.hit / self.total if self.total else 100.0

    def __str__(self) -> str:
        return f"{self.hit:5}/{self.total:<5}{self.percent:6.1f} %"


def ratios(counts: FileCounts) -> tuple[Ratio, Ratio, Ratio]:
    """Lines, functions, branches."""
    ways = [way for line in counts.branches.values() for way in line]
    calls = [calls for _, _, calls in counts.functions.values()]
    return tuple(Ratio(sum(map(bool, values)), len(values))
                 for values in (list(counts.lines.values()), calls, ways))


def table(total: Counts) -> str:
    """Lines, functions and branches by file, and of all."""
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
    """Neighbouring lines of one function that no case reaches; code: how many hold code."""

    first: int
    last: int
    code: int
    function: str


def gaps(counts: FileCounts) -> list[Gap]:
    """The unreached lines of a file, as ranges that may span lines without code."""
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
    """Every unreached range with its first line's text, by file and function."""
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
    """FILE:FIRST-LAST and the first line's text."""
    where = f"{name}:{gap.first}{f'-{gap.last}' if gap.last != gap.first else ''}"
    shown = text[gap.first - 1].strip()[:70] if gap.first <= len(text) else ""
    return f"  {where:<28} {shown}".rstrip()


def source_lines(path: Path) -> list[str]:
    """The lines of a source file; none when it cannot be read."""
    try:
        return path.read_text(errors="replace").splitlines()
    except OSError:
        return []


def to_json(total: Counts, suites: dict[str, Counts], kernel: str, source: Path,
            filters: list[str]) -> dict:
    """coverage.json: stable names, for other programs (and for `covers`)."""
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
            "suites": sorted(set(suites) - {counters.BOOT}), "files": files}
