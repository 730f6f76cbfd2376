# SPDX-License-Identifier: GPL-2.0
"""The step `lines`: which lines of the swap files each patch changes, and which of these the suites reach."""
from __future__ import annotations

import difflib
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from .. import sandbox
from ..base.errors import SwapKunitError, UntestableKernel
from ..build import patches
from ..coverage import lcov
from ..coverage.counters import WATCHED, Tools, function_in_source
from ..coverage.figures import collect, source_lines, total_of
from ..coverage.measure import run_counting
from ..coverage.places import Places, counter_directory, forget, keep_notes
from ..run.session import Session
from .report import PASS, SKIP, WARN, Step
from .testbed import Testbed, limit_of, quiet

STEP = "lines"


@dataclass
class Reached:
    """The lines that the suites reach in a state of the series.

    counts: file -> line -> times, only lines of code. why_not: why there are no counts; status:
    the step's status in that case. seconds: how long the measurement took.
    """

    counts: dict[str, dict[int, int]] = field(default_factory=dict)
    why_not: str = ""
    status: str = SKIP
    seconds: float = 0.0


@dataclass(frozen=True)
class State:
    """A state of the series to measure: its patches, and where its swap files and coverage pages go.

    counting: the testbed that builds with counters; plain: one in which most objects are the same.
    """

    counting: Testbed
    plain: Testbed
    tree: Path
    files: list[Path]
    source: Path
    pages: Path
    tools: Tools

    def owners(self) -> dict[str, list[int]]:
        """See owners()."""
        return owners(self.tree, self.files, self.source)


# -- which patch a line comes from -------------------------------------------


def owners(source: Path, files: list[Path], scratch: Path) -> dict[str, list[int]]:
    """Swap file -> for each line of its last state the patch (from 1) it comes from, 0 for the base.

    Afterwards scratch holds the swap files of that state.
    """
    found: dict[str, list[int]] = {}
    scratch.parent.mkdir(parents=True, exist_ok=True)
    texts = {name: read(source / name) for name in WATCHED}
    for number in range(1, len(files) + 1):
        with tempfile.TemporaryDirectory(prefix="state-", dir=scratch.parent) as name:
            state = Path(name) / "files"
            patched = patches.lay(source, state, [], files[:number])
            for path in WATCHED:
                new = read((state if path in patched.files else source) / path)
                mine = found.get(path) or [0] * len(texts[path])
                if new != texts[path]:
                    found[path] = inherited(texts[path], new, mine, number)
                texts[path] = new
    for name, text in texts.items():
        if text:
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            (scratch / name).write_text("".join(text), errors="surrogateescape")
    return found


def read(path: Path) -> list[str]:
    """A file's lines with their ends; [] if there is no such file."""
    try:
        return path.read_text(errors="surrogateescape").splitlines(keepends=True)
    except OSError:
        return []


def inherited(old: list[str], new: list[str], owned: list[int], number: int) -> list[int]:
    """The owners of new's lines: unchanged lines keep their owner in old, the others belong to number."""
    result = [number] * len(new)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for first, second, length in matcher.get_matching_blocks():
        result[second:second + length] = owned[first:first + length]
    return result


# -- which lines are reached -------------------------------------------------


def reached(state: State) -> Reached:
    """Build with counters, run the suites and count; also makes the coverage pages."""
    testbed = state.counting
    name = testbed.key(state.files, "coverage")
    known = testbed.store.get(name)
    if known and (state.pages / "index.html").exists():
        return Reached({path: {int(line): times for line, times in counts.items()}
                        for path, counts in known["counts"].items()}, seconds=known["seconds"])
    started = time.monotonic()
    with quiet(testbed.log):
        found = build_and_count(state)
    found.seconds = time.monotonic() - started
    if not found.why_not:
        testbed.store.put(name, vars(found))
    return found


def build_and_count(state: State) -> Reached:
    """The counts, or why there are none."""
    session = state.counting.session(state.files)
    status = SKIP
    try:
        state.counting.build_base(state.plain)
        status = WARN       # the base builds with counters, so a failure from here on is the series' own
        return count(state, session)
    except SwapKunitError as error:
        limit = limit_of(session.sandbox)
        if limit:
            return Reached(why_not=f"the build with counters was stopped: {limit}",
                           status=SKIP if sandbox.machines_fault(limit) else WARN)
        return Reached(why_not=str(error), status=status if isinstance(error, UntestableKernel) else SKIP)


def count(state: State, session: Session) -> Reached:
    """Build, run and read the counters."""
    places = Places(session.layout.out / "coverage")
    with session.layout.lock(), counter_directory(places) as raw:
        state.counting.take_over(session, state.files)
        session.build_kernel()
        forget(places)
        with session.confined(raw):
            results = run_counting(session, raw)
            if results.interrupted:
                raise KeyboardInterrupt
            keep_notes(places, session.layout.build / "mm")
            suites = collect(raw, places.notes, state.source, state.tools, session.request.jobs)
        places.info.write_text(lcov.tracefile(suites, state.source))
        lcov.make_pages(places.info, state.pages, state.source,
                        f"swap code of Linux {session.kernel.version} with the series")
        lcov.name_suites(state.pages, suites)
        return Reached({name: dict(counts.lines) for name, counts in total_of(suites).items()})


def without_counts(text: list[str], changed: list[int], counts: dict[int, int]) -> list[str]:
    """The functions with changed lines but without counters: not compiled, or dropped by the compiler."""
    found = (function_in_source(text, line) for line in changed)
    return list(dict.fromkeys(name for name, first, last in found
                              if name and not any(line in counts for line in range(first, last + 1))))


def step_of(number: int, touched: list[str], owned: dict[str, list[int]], found: Reached, source: Path) -> Step:
    """The step of patch number: which of its lines no case reaches."""
    if not set(touched) & set(WATCHED):
        return Step(STEP, SKIP, "changes none of the swap files")
    if found.why_not:
        return Step(STEP, found.status, found.why_not)
    code = hit = 0
    missed: list[str] = []
    uncounted: list[str] = []
    shown: dict[str, dict[int, tuple[int | None, str]]] = {}
    for name, owner in owned.items():
        text = source_lines(source / name)
        mine = [line for line, whose in enumerate(owner, 1) if whose == number]
        uncounted += [f"{name}: {function}()" for function in without_counts(text, mine, found.counts.get(name, {}))]
        for line in mine:
            times = found.counts.get(name, {}).get(line)
            code, hit = code + (times is not None), hit + bool(times)
            shown.setdefault(name, {})[line] = times, text[line - 1] if line <= len(text) else ""
            if times == 0:
                missed.append(f"{name}:{line}: {text[line - 1].strip()}")
    data = {"lines": shown}
    missed += [f"not compiled, or never called: {name}" for name in uncounted]
    if uncounted and not code:
        return Step(STEP, WARN, "the changed code is not compiled, or never called", "none", missed, data=data)
    if not code:
        return Step(STEP, PASS, "changes no line of code that the last patch tests", "none", data=data)
    return Step(STEP, WARN if missed else PASS, f"the suites reach {hit} of {code} changed lines of code",
                f"{hit}/{code}", missed, data=data)
