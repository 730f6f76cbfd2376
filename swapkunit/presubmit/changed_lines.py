# SPDX-License-Identifier: GPL-2.0
"""The step `lines`: which lines of the swap files each patch changes, and which of these the suites reach.

A line like `if (x) return 0;` is reached even if x is never true, so the branches of conditions count as well. Files
that the series adds to mm/ are counted like the swap files.
"""
from __future__ import annotations

import difflib
import re
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from .. import sandbox
from ..base.errors import SwapKunitError, UntestableKernel
from ..base.text import plural
from ..build import patches
from ..coverage import lcov
from ..coverage.counters import WATCHED, Tools, function_in_source
from ..coverage.figures import collect, source_lines, total_of
from ..coverage.measure import run_counting
from ..coverage.places import Places, counter_directory, forget, keep_notes
from ..run.session import Session
from ..series.series import Patch
from .report import PASS, SKIP, WARN, Finding, Step
from .testbed import Testbed, limit_of, quiet

STEP = "lines"
ADDED = re.compile(r"^--- /dev/null\n\+\+\+ b/(mm/[\w-]+\.[ch])$", re.M)
# A condition; not a loop, whose body has lines of its own, and not a macro such as WARN_ON(), with branches of its own.
CONDITION = re.compile(r"\bif \(|&&|\|\|| \? ")
LEAVES = re.compile(r"\b(return|goto|break|continue)\b[^;]*;$")
OPEN = re.compile(r"(&&|\|\||[(,?=|&+-])$")       # at the end of a line: the statement goes on
LABEL = re.compile(r"\w+:$|\}")
ONE_WAY = "goes only one way"
FAR = 8         # lines after a condition in which to look for the next one of code
NO_CONDITION = re.compile(r"^\s*(for|while|do|switch|case|\w*for_each\w*)\b|\b[A-Z_]{4,}\(")


@dataclass
class Reached:
    """The lines that the suites reach in a state of the series.

    counts: file -> line -> times, only lines of code; branches: file -> line -> times of each branch.
    why_not: why there are no counts; status: the step's status in that case. seconds: how long the measurement took.
    """

    counts: dict[str, dict[int, int]] = field(default_factory=dict)
    branches: dict[str, dict[int, list[int]]] = field(default_factory=dict)
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
        return owners(self.tree, self.files, self.source, self.tools.watched)


# -- which patch a line comes from -------------------------------------------


def added(patches_of: list[Patch]) -> list[str]:
    """The files that patches add to mm/."""
    return [name for patch in patches_of for name in ADDED.findall(patch.diff) if name not in WATCHED]


def owners(source: Path, files: list[Path], scratch: Path, watched: tuple[str, ...] = WATCHED) -> dict[str, list[int]]:
    """Swap file -> for each line of its last state the patch (from 1) it comes from, 0 for the base.

    Afterwards scratch holds the swap files of that state.
    """
    found: dict[str, list[int]] = {}
    scratch.parent.mkdir(parents=True, exist_ok=True)
    texts = {name: read(source / name) for name in watched}
    for number in range(1, len(files) + 1):
        with tempfile.TemporaryDirectory(prefix="state-", dir=scratch.parent) as name:
            state = Path(name) / "files"
            patched = patches.lay(source, state, [], files[:number])
            for path in watched:
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
        counts, branches = ({path: {int(line): value for line, value in found.items()}
                             for path, found in known[what].items()} for what in ("counts", "branches"))
        return Reached(counts, branches, seconds=known["seconds"])
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
        total = total_of(suites, state.tools.watched).items()
        return Reached({name: dict(counts.lines) for name, counts in total},
                       {name: dict(counts.branches) for name, counts in total})


def without_counts(text: list[str], changed: list[int], counts: dict[int, int]) -> list[str]:
    """The functions with changed lines but without counters: not compiled, or dropped by the compiler."""
    found = (function_in_source(text, line) for line in changed)
    return list(dict.fromkeys(name for name, first, last in found
                              if name and not any(line in counts for line in range(first, last + 1))))


def one_way(text: list[str], line: int, counts: dict[int, int], branches: dict[int, list[int]]) -> str:
    """How the condition on a line that is reached goes one way only, such as "never true"; "" if it goes both.

    gcov has two branches for each operand of && and ||, and the same again for each copy of an inlined function.
    """
    code, ways = text[line - 1].rstrip(), branches.get(line, [])
    above = text[line - 2].rstrip() if line > 1 else ""
    if not counts.get(line) or len(ways) < 2 or NO_CONDITION.search(code) or not (
            CONDITION.search(code) or above.endswith(("&&", "||"))):
        return ""
    operands = len(re.findall(r"&&|\|\|", code.removesuffix("&&").removesuffix("||"))) + 1
    if len(ways) % (2 * operands):
        operands = 1
    for place in range(operands):
        one, other = (sum(ways[2 * place + way::2 * operands]) for way in (0, 1))
        if bool(one) != bool(other):
            return f"operand {place + 1} of {operands} {ONE_WAY}" if operands > 1 else which_way(text, line, counts)
    return ""


def which_way(text: list[str], line: int, counts: dict[int, int]) -> str:
    """The way that a condition never goes, as the lines around it show: gcov does not say which branch is the true one.

    "" if its body has a line of its own that is not reached, which says as much.
    """
    code, following = text[line - 1].rstrip(), line + 1
    if code.count("(") != code.count(")"):
        return ONE_WAY
    body = code
    if code.endswith((")", "{")):
        if following in counts:
            return "never false" if counts[following] else ""
        body, following = "".join(text[line:line + 1]), line + 2
    after = next((number for number in range(following, min(following + FAR, len(text) + 1))
                  if number in counts or LABEL.match(text[number - 1])), 0)
    if LEAVES.search(body) and after in counts and not LABEL.match(text[after - 1]):
        return "never true" if counts[after] else "never false"
    return ONE_WAY


def condition_of(text: list[str], line: int) -> str:
    """The whole statement that a line is part of, if it has others: " in: if (a && b)"."""
    first = last = line - 1
    while first and OPEN.search(text[first - 1].rstrip()):
        first -= 1
    while last + 1 < len(text) and OPEN.search(text[last].rstrip()):
        last += 1
    return f" in: {' '.join(part.strip() for part in text[first:last + 1])}" * (first < last)


@dataclass
class Looked:
    """What of a patch's lines has code, is reached, and is not; shown: file -> line -> times and text."""

    code: int = 0
    hit: int = 0
    missed: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    uncounted: list[str] = field(default_factory=list)
    shown: dict[str, dict[int, tuple[int | None, str]]] = field(default_factory=dict)

    def look_at(self, name: str, text: list[str], lines: list[int], found: Reached) -> None:
        """Add lines of a file."""
        counts = found.counts.get(name, {})
        self.uncounted += [f"{name}: {function}()" for function in without_counts(text, lines, counts)]
        for line in lines:
            times, where = counts.get(line), f"{name}:{line}: {text[line - 1].strip()}"
            self.code, self.hit = self.code + (times is not None), self.hit + bool(times)
            way = one_way(text, line, counts, found.branches.get(name, {}))
            self.shown.setdefault(name, {})[line] = times, text[line - 1] + f"  <- {way}" * bool(way)
            self.missed += [where] if times == 0 else []
            self.odd += [f"{way}: {where}{condition_of(text, line)}"] if way else []

    def findings(self) -> list[Finding]:
        """What no case reaches."""
        return [Finding(WARN, what, lines) for what, lines in (
            (f"{plural(len(self.missed), 'changed line')} of {self.code} not reached", self.missed),
            (f"{plural(len(self.odd), 'changed condition')} only ever one way", self.odd),
            (f"{plural(len(self.uncounted), 'changed function')} not compiled, or never called", self.uncounted))
            if lines]


def step_of(number: int, touched: list[str], owned: dict[str, list[int]], found: Reached, source: Path,
            not_compiled: list[str]) -> Step:
    """The step of patch number: which of its lines no case reaches. not_compiled: files that no configuration has."""
    lost = [Finding(WARN, f"{name} is not compiled in any configuration tried") for name in not_compiled]
    if not set(touched) & {*WATCHED, *owned}:
        return Step(STEP, PASS if lost else SKIP, "changes none of the swap files", "none" * bool(lost)).having(lost)
    if found.why_not:
        return Step(STEP, found.status, found.why_not)
    looked = Looked()
    for name, owner in owned.items():
        text = source_lines(source / name)
        looked.look_at(name, text, [line for line, whose in enumerate(owner, 1) if whose == number
                                    and line <= len(text)], found)
    lost += looked.findings()
    summary = f"the suites reach {looked.hit} of {looked.code} changed lines of code" if looked.code else \
        "changes no line of code that the last patch tests"
    return Step(STEP, PASS, "; ".join([summary, *(one.text for one in lost)]),
                f"{looked.hit}/{looked.code}" if looked.code else "none", data={"lines": looked.shown}).having(lost)
