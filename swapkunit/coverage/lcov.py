# SPDX-License-Identifier: GPL-2.0
"""lcov's tracefile, and genhtml's pages of it, for lcov 1.x and 2.x."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import partial
from html import escape
from pathlib import Path
from typing import Iterator

from ..base import commands
from .counters import Counts, FileCounts
from ..base.errors import SwapKunitError
from ..base.layout import REPO

LATEST = REPO / "coverage/html"
RC = REPO / "coverage/lcovrc"
LINE_NUMBER = re.compile(r'(<span class="lineNum")(> *(\d+) ?</span>)')
# Errors of lcov 2 that are harmless here: a function inlined everywhere has lines but no calls, and the counter of a
# thread may be off by one.
IGNORED_BY_2 = ("inconsistent", "unused", "corrupt", "category", "range", "source",
                "unsupported")


def tracefile(suites: dict[str, Counts], source: Path) -> str:
    """The tracefile of all suites: a section for each suite (lcov's test name) and file."""
    return "\n".join(line for suite, counts in suites.items() for name, file_counts in counts.items()
                     for line in section(re.sub(r"\W", "_", suite), source / name, file_counts)) + "\n"


def section(test: str, path: Path, counts: FileCounts) -> Iterator[str]:
    """The records of one file."""
    yield from (f"TN:{test}", f"SF:{path}")
    functions = sorted(counts.functions.items(), key=lambda item: (item[1][0], item[0]))
    yield from (f"FN:{first},{name}" for name, (first, _, _) in functions)
    yield from (f"FNDA:{calls},{name}" for name, (_, _, calls) in functions)
    yield from (f"FNF:{len(functions)}", f"FNH:{sum(bool(entry[2]) for _, entry in functions)}")
    hit = total = 0
    for line, ways in sorted(counts.branches.items()):
        reached = counts.lines.get(line, 0) > 0
        for number, count in enumerate(ways):
            yield f"BRDA:{line},0,{number},{count if reached else '-'}"
        hit, total = hit + sum(map(bool, ways)), total + len(ways)
    yield from (f"BRF:{total}", f"BRH:{hit}")
    yield from (f"DA:{line},{count}" for line, count in sorted(counts.lines.items()))
    yield from (f"LF:{len(counts.lines)}", f"LH:{sum(map(bool, counts.lines.values()))}", "end_of_record")


def major_version(genhtml: str = "genhtml") -> int:
    """1 for "genhtml: LCOV version 1.16"."""
    done = subprocess.run([genhtml, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\d+)", done.stdout)
    if not found:
        raise SwapKunitError(f"cannot make coverage pages: `{genhtml} --version` prints no version; "
                             "reinstall lcov: apt-get install --reinstall lcov")
    return int(found[1])


def genhtml_command(version: int, info: Path, target: Path, source: Path, title: str) -> list[str]:
    """The genhtml command of lcov version 1 or 2."""
    command = ["genhtml", "--quiet", "--config-file", str(RC), "--branch-coverage", "--show-details",
               "--legend", "--prefix", str(source), "--title", title, "--output-directory", str(target)]
    if version >= 2:
        # Given twice, neither an error nor a warning.
        for name in IGNORED_BY_2:
            command += ["--ignore-errors", f"{name},{name}"]
    else:
        command += ["--ignore-errors", "source", "--rc", "lcov_branch_coverage=1"]
    return [*command, str(info)]


def make_pages(info: Path, target: Path, source: Path, title: str) -> None:
    """Make the pages in target, replacing old ones, from the tracefile info. Raises SwapKunitError if genhtml fails."""
    shutil.rmtree(target, ignore_errors=True)
    command = genhtml_command(major_version(), info, target, source, title)
    commands.show(command)
    done = commands.run(command, env={**os.environ, "LC_ALL": "C"})
    if done.status:
        raise SwapKunitError(f"cannot make coverage pages: genhtml failed: {commands.tail(done.output, 5)}; "
                             f"its input is {info}")


def name_suites(pages: Path, suites: dict[str, Counts]) -> None:
    """Give every line number in the pages a tooltip: which suites reached the line, and how often."""
    for page in pages.rglob("*.gcov.html"):
        name = f"mm/{page.name.removesuffix('.gcov.html')}"
        lines: dict[int, list[str]] = {}
        for suite, counts in suites.items():
            for line, count in counts[name].lines.items() if name in counts else ():
                if count:
                    lines.setdefault(line, []).append(f"{suite} {count}")
        page.write_text(LINE_NUMBER.sub(partial(with_tooltip, lines), page.read_text(errors="surrogateescape")),
                        errors="surrogateescape")


def with_tooltip(lines: dict[int, list[str]], found: re.Match[str]) -> str:
    """A line number of a page with its suites as tooltip."""
    reached = escape(", ".join(lines.get(int(found[3]), [])))
    return f'{found[1]} title="{reached}"{found[2]}' if reached else found[0]


def point_latest(target: Path, latest: Path = LATEST) -> bool:
    """Point the link coverage/html to target; False if the repository is not writable."""
    try:
        new = latest.with_name(f"{latest.name}.new")
        new.unlink(missing_ok=True)
        new.symlink_to(os.path.relpath(target, latest.parent.resolve()))
        os.replace(new, latest)
    except OSError:
        return False
    return True


def drop_latest(latest: Path = LATEST) -> None:
    """Remove the link coverage/html if its target is gone."""
    if latest.is_symlink() and not latest.exists():
        latest.unlink()
