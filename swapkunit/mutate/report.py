# SPDX-License-Identifier: GPL-2.0
"""What became of the mutants: a table, the gaps, JSON, and pages with the source."""
from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable

from ..base import pages
from ..base.layout import write_whole
from ..base.text import plural
from .campaign import CAUGHT, EQUIVALENT, HANG, MOVED, NOTICED, PANIC, SURVIVED, UNREACHED, WARN, Verdict
from .schemata import Mutant

COLUMNS = (CAUGHT, PANIC, HANG, WARN, MOVED, SURVIVED, UNREACHED, EQUIVALENT)
NEAREST = 3     # cases named


@dataclass
class Outcome:
    """A mutant, its verdict, and the cases that reach it, nearest first; reason: why it is equivalent."""

    mutant: Mutant
    verdict: Verdict
    nearest: list[str] = field(default_factory=list)
    reason: str = ""

    @property
    def kind(self) -> str:
        """The kind of its verdict."""
        return self.verdict.kind

    def line(self) -> str:
        """file:line: the edit."""
        return f"{self.mutant.file}:{self.mutant.line}: {self.mutant.edit}"


@dataclass
class Report:
    """A campaign. left_out: reason -> how many places or mutants; untried: how many mutants a stop has left."""

    kernel: str
    config: list[str]
    outcomes: list[Outcome]
    left_out: Counter[str]
    untried: int = 0
    seconds: float = 0.0
    umls: int = 0

    def of(self, *kinds: str) -> list[Outcome]:
        """The outcomes of some kinds."""
        return [one for one in self.outcomes if one.kind in kinds]

    def closing_line(self) -> str:
        """N of N mutants noticed ..."""
        noticed, moved, survived = len(self.of(*NOTICED)), len(self.of(MOVED)), len(self.of(SURVIVED))
        tried = noticed + moved + survived
        share = f" ({100 * survived / tried:.1f} %)" if tried else ""
        return f"{noticed} of {plural(tried, 'mutant')} noticed, {moved} only move decisions, {survived} survive{share}"


def table(report: Report, by: Callable[[Mutant], str]) -> str:
    """Counts of every verdict by file, or by what by() says, and in all."""
    groups: dict[str, Counter[str]] = {}
    for one in report.outcomes:
        groups.setdefault(by(one.mutant), Counter())[one.kind] += 1
    if len(groups) > 1:
        groups["all"] = sum(groups.values(), Counter())
    width = max(map(len, groups), default=0)
    head = " ".join(f"{kind:>{max(len(kind), 6)}}" for kind in COLUMNS)
    rows = [f"{'':{width}} {'mutants':>7} {head}"]
    for name, counts in groups.items():
        cells = " ".join(f"{counts[kind] or '-':>{max(len(kind), 6)}}" for kind in COLUMNS)
        rows.append(f"{name:<{width}} {sum(counts.values()):>7} {cells}")
    return "\n".join(rows)


def gaps(report: Report) -> str:
    """The survivors by function, with the cases to extend."""
    lines = []
    for (file, function), found in by_function(report.of(SURVIVED, MOVED)).items():
        lines.append(f"{file} {function}(): {plural(len(found), 'mutant')} of "
                     f"{sum((one.mutant.file, one.mutant.function) == (file, function) for one in report.outcomes)}")
        for one in found:
            lines.append(f"  {one.mutant.file}:{one.mutant.line}: {one.mutant.edit}{' (moved)' * (one.kind == MOVED)}")
            if one.nearest:
                lines.append(f"      near: {', '.join(one.nearest[:NEAREST])}")
    return "\n".join(lines)


def by_function(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], list[Outcome]]:
    """(file, function) -> its outcomes."""
    found: dict[tuple[str, str], list[Outcome]] = {}
    for one in outcomes:
        found.setdefault((one.mutant.file, one.mutant.function), []).append(one)
    return found


def to_json(report: Report) -> dict[str, Any]:
    """mutants.json."""
    return {
        "kernel": report.kernel, "config": report.config, "untried": report.untried,
        "left_out": dict(report.left_out), "counts": dict(Counter(one.kind for one in report.outcomes)),
        "mutants": [{
            "file": one.mutant.file, "line": one.mutant.line, "function": one.mutant.function,
            "operator": one.mutant.operator, "source": one.mutant.source, "edit": one.mutant.edit,
            "number": one.mutant.number, "verdict": one.kind, "by": one.verdict.by, "rule": one.verdict.rule,
            "nearest": one.nearest[:NEAREST], "reason": one.reason} for one in report.outcomes]}


@dataclass
class Line:
    """A line of a page with source. tried, noticed: of its mutants; cases: how many reach one of them."""

    number: int
    text: str
    tried: int = 0
    noticed: int = 0
    cases: int = 0
    survivors: list[Outcome] = field(default_factory=list)

    @property
    def status(self) -> str:
        """Its CSS class."""
        return "nocode" if not self.tried else "missed" if self.survivors else "hit"


def source_lines(report: Report, file: str, text: str) -> list[Line]:
    """The lines of a file with what became of their mutants."""
    lines = [Line(number, one) for number, one in enumerate(text.split("\n"), 1)]
    for one in report.outcomes:
        if one.mutant.file == file:
            line = lines[one.mutant.line - 1]
            line.tried += one.kind in (*NOTICED, MOVED, SURVIVED)
            line.noticed += one.kind in NOTICED
            line.cases = max(line.cases, len(one.nearest))
            line.survivors += [one] if one.kind in (MOVED, SURVIVED) else []
    return lines


def write(report: Report, places: Path, texts: dict[str, str]) -> None:
    """mutants.json and the pages; needs jinja2."""
    write_whole(places / "mutants.json", json.dumps(to_json(report), indent=1) + "\n")
    functions = {name: Counter(one.kind for one in found) for name, found in by_function(report.outcomes).items()}
    source = {file: source_lines(report, file, text) for file, text in texts.items()
              if any(one.mutant.file == file for one in report.outcomes)}
    write_whole(places / "mutants.html", pages.render(
        Path(__file__).with_name("page.html"), report=report, table=table(report, lambda mutant: mutant.file),
        functions=functions, columns=COLUMNS, source=source, moved=MOVED, survived=SURVIVED, nearest=NEAREST))
