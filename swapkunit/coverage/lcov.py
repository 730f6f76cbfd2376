# SPDX-License-Identifier: GPL-2.0
"""lcov's tracefile, and genhtml's pages from it, with lcov 1.x and 2.x alike."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator

from ..base import commands
from .counters import Counts, FileCounts
from ..base.errors import SwapKunitError
from ..base.layout import REPO

LATEST = REPO / "coverage/html"
RC = REPO / "coverage/lcovrc"
LINE_NUMBER = re.compile(r'<span class="lineNum"> *(\d+) ?</span>')
# What lcov 2 makes errors of and what is no fault here: a function inlined everywhere has lines
# but no calls of its own; a counter of a thread may be off by one.
IGNORED_BY_2 = ("inconsistent", "unused", "corrupt", "category", "range", "source",
                "unsupported")


def tracefile(suites: dict[str, Counts], source: Path) -> str:
    """All suites' counts as .info text, one section per suite (its test name) and file."""
    return "\n".join(line for suite, counts in suites.items() for name, file_counts in counts.items()
                     for line in section(re.sub(r"\W", "_", suite), source / name, file_counts)) + "\n"


def section(test: str, path: Path, counts: FileCounts) -> Iterator[str]:
    """One file's records."""
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
    """1 or 2 (or later) of "genhtml: LCOV version 1.16"."""
    said = subprocess.run([genhtml, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"version (\d+)", said)
    if not found:
        raise SwapKunitError(f"cannot make coverage pages: `{genhtml} --version` does not name its "
                             "version; reinstall lcov: apt-get install --reinstall lcov")
    return int(found[1])


def genhtml_command(version: int, info: Path, target: Path, source: Path, title: str) -> list[str]:
    """The genhtml command of lcov version 1 or 2."""
    command = ["genhtml", "--quiet", "--config-file", str(RC), "--branch-coverage", "--show-details",
               "--legend", "--prefix", str(source), "--title", title, "--output-directory", str(target)]
    if version >= 2:
        # Named twice: neither an error nor a warning.
        for name in IGNORED_BY_2:
            command += ["--ignore-errors", f"{name},{name}"]
    else:
        command += ["--ignore-errors", "source", "--rc", "lcov_branch_coverage=1"]
    return [*command, str(info)]


def make_pages(info: Path, target: Path, source: Path, title: str) -> None:
    """Make target (anew) from info. Raises SwapKunitError with what genhtml said."""
    shutil.rmtree(target, ignore_errors=True)
    command = genhtml_command(major_version(), info, target, source, title)
    commands.show(command)
    done = commands.run(command, env={**os.environ, "LC_ALL": "C"})
    if done.status:
        raise SwapKunitError(f"cannot make coverage pages: genhtml failed: {commands.tail(done.output, 5)}; "
                             f"its input {info} is kept")


def name_suites(pages: Path, suites: dict[str, Counts]) -> None:
    """Let every line number of the pages tell, on hovering, which suites reached its line."""
    for page in pages.rglob("*.gcov.html"):
        name = f"mm/{page.name.removesuffix('.gcov.html')}"
        lines: dict[int, list[str]] = {}
        for suite, counts in suites.items():
            for line, count in counts[name].lines.items() if name in counts else ():
                if count:
                    lines.setdefault(line, []).append(f"{suite} {count}")

        def titled(found: re.Match) -> str:
            reached = lines.get(int(found[1]))
            return found[0].replace(">", f' title="{", ".join(reached)}">', 1) if reached else found[0]

        page.write_text(LINE_NUMBER.sub(titled, page.read_text(errors="surrogateescape")),
                        errors="surrogateescape")


def point_latest(target: Path, latest: Path = LATEST) -> bool:
    """Make the link coverage/html lead to target; False where the repo cannot be written."""
    try:
        new = latest.with_name(f"{latest.name}.new")
        new.unlink(missing_ok=True)
        new.symlink_to(os.path.relpath(target, latest.parent.resolve()))
        os.replace(new, latest)
    except OSError:
        return False
    return True


def drop_latest(latest: Path = LATEST) -> None:
    """Remove the link coverage/html when it leads nowhere any more."""
    if latest.is_symlink() and not latest.exists():
        latest.unlink()
