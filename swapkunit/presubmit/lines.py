# SPDX-License-Identifier: GPL-2.0
"""Which lines of the swap files a patch of a series has left in its last state, and which of them a case reaches."""
from __future__ import annotations

import difflib
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from ..coverage import measure as coverage_verbs, lcov
from ..build import patches as patching
from .. import sandbox as boxes
from ..run import session as sessions
from .testbed import Bench, limit_of, quiet
from ..coverage.report import Places, collect, counter_directory, forget, keep_notes, source_lines, total_of
from ..coverage.counters import WATCHED, Tools, function_in_source
from ..base.errors import SwapKunitError, UntestableKernel
from .report import PASS, SKIP, WARN, Step
from ..run.session import Session

STEP = "lines"


@dataclass
class Reached:
    """What the suites reach of a state of the series. counts: file -> line -> times, lines with code only.

    why_not: what stood in the way; status is that of the step then. seconds: that it took to find out.
    """

    counts: dict[str, dict[int, int]] = field(default_factory=dict)
    why_not: str = ""
    status: str = SKIP
    seconds: float = 0.0


@dataclass(frozen=True)
class State:
    """A state of the series to count at: its patches, and where to put its swap files and pages.

    counting: the bench that builds with counters; plain: one that has the same objects but for a few.
    """

    counting: Bench
    plain: Bench
    tree: Path
    files: list[Path]
    source: Path
    pages: Path
    tools: Tools

    def owners(self) -> dict[str, list[int]]:
        """See owners()."""
        return owners(self.tree, self.files, self.source)


# -- whose line is it --------------------------------------------------------


def owners(source: Path, files: list[Path], scratch: Path) -> dict[str, list[int]]:
    """Swap file -> for each line of its last state the patch (from 1) it comes from, 0 for the base.

    scratch then holds the swap files of that state.
    """
    found: dict[str, list[int]] = {}
    scratch.parent.mkdir(parents=True, exist_ok=True)
    texts = {name: read(source / name) for name in WATCHED}
    for number in range(1, len(files) + 1):
        with tempfile.TemporaryDirectory(prefix="state-", dir=scratch.parent) as name:
            state = Path(name) / "files"
            laid = patching.lay(source, state, [], files[:number])
            for path in WATCHED:
                new = read((state if path in laid.files else source) / path)
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
    """A file's lines with their ends; none when it is not there."""
    try:
        return path.read_text(errors="surrogateescape").splitlines(keepends=True)
    except OSError:
        return []


def inherited(old: list[str], new: list[str], owned: list[int], number: int) -> list[int]:
    """The owners of new's lines: as in old where they are old's, else number."""
    result = [number] * len(new)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for first, second, length in matcher.get_matching_blocks():
        result[second:second + length] = owned[first:first + length]
    return result


# -- which are reached -------------------------------------------------------


def reached(state: State) -> Reached:
    """Build with counters, run, count; pages of the state are made."""
    bench = state.counting
    name = bench.key(state.files, "coverage")
    known = bench.store.get(name)
    if known and (state.pages / "index.html").exists():
        return Reached({path: {int(line): count for line, count in counts.items()}
                        for path, counts in known["counts"].items()}, seconds=known["seconds"])
    started = time.monotonic()
    with quiet(bench.log):
        found = build_and_count(state)
    found.seconds = time.monotonic() - started
    if not found.why_not:
        bench.store.put(name, vars(found))
    return found


def build_and_count(state: State) -> Reached:
    """Build with counters and run, or tell why that was not done."""
    session = state.counting.session(state.files)
    status = SKIP
    try:
        state.counting.build_base(state.plain)
        status = WARN       # what stands in the way now is the series' own
        return count(state, session)
    except SwapKunitError as error:
        limit = limit_of(session.sandbox)
        if limit:
            return Reached(why_not=f"the build with counters was ended: {limit}",
                           status=SKIP if boxes.machines_fault(limit) else WARN)
        return Reached(why_not=str(error), status=status if isinstance(error, UntestableKernel) else SKIP)


def count(state: State, session: Session) -> Reached:
    """One counting run."""
    places = Places(session.layout.out / "coverage")
    with session.layout.lock(), counter_directory(places) as raw:
        state.counting.take_over(session, state.files)
        sessions.build_kernel(session)
        forget(places)
        with session.confined(raw):
            results = coverage_verbs.run_counting(session, raw)
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
    """The functions with changed lines of which the compiler has made nothing that counts."""
    found = (function_in_source(text, line) for line in changed)
    return list(dict.fromkeys(name for name, first, last in found
                              if name and not any(line in counts for line in range(first, last + 1))))


def step_of(number: int, touched: list[str], owned: dict[str, list[int]], found: Reached, source: Path) -> Step:
    """The step of patch number: which of its lines no case reaches."""
    if not set(touched) & set(WATCHED):
        return Step(STEP, SKIP, "it changes none of the swap files")
    if found.why_not:
        return Step(STEP, found.status, found.why_not)
    code = hit = 0
    missed: list[str] = []
    uncounted: list[str] = []
    shown: dict[str, dict[int, list]] = {}
    for name, owner in owned.items():
        text = source_lines(source / name)
        mine = [line for line, whose in enumerate(owner, 1) if whose == number]
        uncounted += [f"{name}: {function}()" for function in without_counts(text, mine, found.counts.get(name, {}))]
        for line in mine:
            times = found.counts.get(name, {}).get(line)
            code, hit = code + (times is not None), hit + bool(times)
            shown.setdefault(name, {})[line] = [times, text[line - 1] if line <= len(text) else ""]
            if times == 0:
                missed.append(f"{name}:{line}: {text[line - 1].strip()}")
    data = {"lines": shown}
    if uncounted:
        missed += [f"not compiled here, or called by nothing: {name}" for name in uncounted]
    if uncounted and not code:
        return Step(STEP, WARN, "the changed code is not compiled here, or called by nothing", "none", missed, data=data)
    if not code:
        return Step(STEP, PASS, "no line with code is changed, or a later patch changes it again", "none", data=data)
    summary = f"{hit} of {code} changed lines with code are reached"
    return Step(STEP, WARN if missed else PASS, summary, f"{hit}/{code}", missed, data=data)
