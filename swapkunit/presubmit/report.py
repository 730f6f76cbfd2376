# SPDX-License-Identifier: GPL-2.0
"""The report of a check, as objects and as text."""
from __future__ import annotations

import re
import textwrap
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..base.errors import FAILED, GOOD
from ..base.text import plural, without_controls

PASS, WARN, FAIL, SKIP = "pass", "warn", "fail", "skip"
FINDINGS = (WARN, FAIL)
WIDTH = 74              # columns of report.txt: it goes into a mail
WIDEST = 120            # columns of lines that cannot be wrapped
SHOWN = 8               # details of a step in report.txt; report.json and report.html have all
SHOWN_DECISIONS = 20    # the same for decisions
SHORT = {"applies": "apply", "checkpatch": "style", "decisions": "decide"}      # headings of the table
ORDER = (PASS, SKIP, WARN, FAIL)
# Code, a diff, a decision: text whose columns matter.
EXCERPT = re.compile(r"\s+[^\s:]+:\d+: (?!(?:warning|error|note|fatal error): )|\s*\d* \||\s+[AB]  |\s+\^|[-+@]")


def plain(text: str) -> str:
    """Output of untrusted code, without control characters that a terminal would obey."""
    return without_controls(text.expandtabs())


@dataclass
class Step:
    """One step. cell: its text in the table; details: lines for the reader; data: for programs."""

    name: str
    status: str
    summary: str
    cell: str = ""
    details: list[str] = field(default_factory=list)
    seconds: float = -1.0       # not measured yet
    data: dict[str, Any] = field(default_factory=dict)

    def clean(self) -> Step:
        """The same, safe to print."""
        self.summary, self.details = plain(self.summary), [plain(line) for line in self.details]
        self.cell = plain(self.cell) or {PASS: "ok", SKIP: "-"}.get(self.status, self.status)
        return self


@dataclass
class PatchReport:
    """One patch and its steps, in order."""

    number: int
    total: int
    subject: str
    author: str = ""
    message_id: str = ""
    touched: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def status(self) -> str:
        """The worst of its steps."""
        return worst(self.steps)

    @property
    def name(self) -> str:
        """2/3"""
        return f"{self.number}/{self.total}"

    def step(self, name: str) -> Step | None:
        """The step of this name, if the patch got that far."""
        return next((step for step in self.steps if step.name == name), None)


@dataclass
class PresubmitReport:
    """The whole report. config: fragments and @policies of every build; configs: other configurations tested
    as well; stopped: interrupted by ^C.
    """

    title: str
    version: int
    kernel: str
    origin: str
    sandbox: str
    columns: list[str]
    out: Path
    notes: list[str] = field(default_factory=list)
    patches: list[PatchReport] = field(default_factory=list)
    stopped: bool = False
    seconds: float = 0.0
    pages: str = ""
    depth: str = "default"
    config: list[str] = field(default_factory=list)
    configs: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        """The worst of all steps."""
        return worst([step for patch in self.patches for step in patch.steps])

    @property
    def exit_code(self) -> int:
        """GOOD, or FAILED if there are findings or the check was interrupted."""
        return FAILED if self.stopped or self.status in FINDINGS else GOOD

    def counts(self) -> tuple[int, int, int]:
        """Steps that passed, that found something, that were skipped."""
        found = [step.status for patch in self.patches for step in patch.steps]
        return found.count(PASS), sum(status in FINDINGS for status in found), found.count(SKIP)

    def to_json(self) -> dict[str, Any]:
        """report.json."""
        return {"tool": "swap-kunit", "status": self.status, "title": self.title, "version": self.version,
                "kernel": self.kernel, "origin": self.origin, "depth": self.depth, "config": self.config,
                "configs": self.configs, "sandbox": self.sandbox, "stopped": self.stopped,
                "seconds": round(self.seconds, 1), "notes": self.notes,
                "patches": [{**asdict(patch), "status": patch.status} for patch in self.patches]}


def worst(steps: list[Step]) -> str:
    """The worst status among steps."""
    return max((step.status for step in steps), key=ORDER.index, default=PASS)


# -- text --------------------------------------------------------------------


def text(report: PresubmitReport) -> str:
    """report.txt: the table and the findings, to paste below the --- of a mail."""
    version = f" (v{report.version})" if report.version > 1 else ""
    number = len(report.patches)
    lines = [*wrap(f"swap-kunit presubmit: {report.title}{version}, {number} patch{'es' * (number != 1)} on "
                   f"Linux {report.kernel}"), *wrap(asked(report))]
    lines += wrap(f"sandbox: {report.sandbox}") if report.sandbox.startswith("none") else []
    lines += ["", *table(report)]
    lines += [""] + wrap(closing(report)) if report.patches else []
    for note in report.notes:
        lines += wrap(f"note: {note}")
    for patch in report.patches:
        found = [step for step in patch.steps if step.status in FINDINGS]
        lines += ["", *wrap(f"{patch.name} {patch.subject}")] if found else []
        for step in found:
            lines += step_lines(step)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def asked(report: PresubmitReport) -> str:
    """The base, and what was checked."""
    parts = [f"base: {report.origin}", f"depth: {report.depth}"]
    parts += [f"configured with {', '.join(report.config)}"] if report.config else []
    parts += [f"also tested with {', '.join(report.configs)}"] if report.configs else []
    return "; ".join(parts)


def table(report: PresubmitReport) -> list[str]:
    """A row for each patch, a column for each step."""
    rows = [["patch", *(SHORT.get(name, name) for name in report.columns)]]
    for patch in report.patches:
        cells = [step.cell if step else "" for step in map(patch.step, report.columns)]
        rows.append([patch.name, *cells])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    between = "  " if sum(widths) + 2 * len(widths) <= WIDTH else " "
    return [between.join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in rows]


def step_lines(step: Step) -> list[str]:
    """A step's summary and its first details."""
    lines = wrap(f"{step.name}: {step.summary}", "  ")
    number = SHOWN_DECISIONS if step.name == "decisions" else SHOWN
    for detail in step.details[:number]:
        lines += wrap_detail(detail)
    if len(step.details) > number:
        lines.append(f"    {plural(len(step.details) - number, 'more line')} in report.html")
    return lines


def wrap_detail(detail: str) -> list[str]:
    """A detail below its step: code is cut off with a mark, the rest is wrapped."""
    if EXCERPT.match(detail):
        return [shortened(f"    {detail}", WIDEST)]
    indent = " " * (4 + len(detail) - len(detail.lstrip()))
    return textwrap.wrap(detail.strip(), WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ",
                         break_on_hyphens=False) or [""]


def shortened(line: str, width: int) -> str:
    """line in width columns, with a mark if it was cut off."""
    return line if len(line) <= width else f"{line[:width - 1]}…"


def wrap(line: str, indent: str = "") -> list[str]:
    """line in WIDTH columns."""
    return textwrap.wrap(line, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ",
                         break_long_words=False, break_on_hyphens=False)


def closing(report: PresubmitReport) -> str:
    """The line that sums up the check."""
    good, found, skipped = report.counts()
    state = "interrupted: " if report.stopped else ""
    return f"{state}{plural(good, 'step')} clean, {found} with findings, {skipped} skipped ({report.seconds:.0f} s)"
