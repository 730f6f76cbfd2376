# SPDX-License-Identifier: GPL-2.0
"""What a pre-submission check found, as objects and as text."""
from __future__ import annotations

import re
import textwrap
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ..base.errors import FAILED, GOOD
from ..base.text import without_controls

PASS, WARN, FAIL, SKIP = "pass", "warn", "fail", "skip"
FINDINGS = (WARN, FAIL)
WIDTH = 74              # columns of report.txt: it goes into a mail
WIDEST = 120            # of what cannot be wrapped
SHOWN = 8               # details of a step in report.txt; report.json and report.html have all
SHOWN_DECISIONS = 20    # some scenarios
SHORT = {"applies": "apply", "checkpatch": "style", "decisions": "decide"}      # headings of the table
ORDER = (PASS, SKIP, WARN, FAIL)
# Code, a diff, a decision: what is told by its columns.
EXCERPT = re.compile(r"\s+[^\s:]+:\d+: (?!(?:warning|error|note|fatal error): )|\s*\d* \||\s+[AB]  |\s+\^|[-+@]")


def plain(text: str) -> str:
    """text from a stranger's program, without what would steer a terminal."""
    return without_controls(text.expandtabs())


@dataclass
class Step:
    """One step: cell is what its column of the table shows, details are lines for a person.

    data: what other programs may want to know of it.
    """

    name: str
    status: str
    summary: str
    cell: str = ""
    details: list[str] = field(default_factory=list)
    seconds: float = -1.0       # not measured yet
    data: dict = field(default_factory=dict)

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
        """The step of this name, if it was reached."""
        return next((step for step in self.steps if step.name == name), None)


@dataclass
class PresubmitReport:
    """All of it. series: steps about the series as a whole; stopped: somebody pressed ^C.

    config: fragments and @policies laid over all that is built; configs: tested besides.
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
    series: list[Step] = field(default_factory=list)
    stopped: bool = False
    seconds: float = 0.0
    pages: str = ""
    depth: str = "default"
    config: list[str] = field(default_factory=list)
    configs: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        """The worst of all steps."""
        return worst([*self.series, *(step for patch in self.patches for step in patch.steps)])

    @property
    def exit_code(self) -> int:
        """GOOD, or FAILED when there is something to look at, or the check was stopped."""
        return FAILED if self.stopped or self.status in FINDINGS else GOOD

    def counts(self) -> tuple[int, int, int]:
        """Steps that passed, that found something, that were skipped."""
        steps = [*self.series, *(step for patch in self.patches for step in patch.steps)]
        found = [step.status for step in steps]
        return found.count(PASS), sum(status in FINDINGS for status in found), found.count(SKIP)

    def to_json(self) -> dict:
        """report.json."""
        return {"tool": "swap-kunit", "status": self.status, "title": self.title, "version": self.version,
                "kernel": self.kernel, "origin": self.origin, "depth": self.depth, "config": self.config,
                "configs": self.configs, "sandbox": self.sandbox, "stopped": self.stopped,
                "seconds": round(self.seconds, 1), "notes": self.notes,
                "patches": [{**asdict(patch), "status": patch.status} for patch in self.patches],
                "series": [asdict(step) for step in self.series]}


def worst(steps: list[Step]) -> str:
    """The worst status among steps."""
    return max((step.status for step in steps), key=ORDER.index, default=PASS)


# -- text --------------------------------------------------------------------


def text(report: PresubmitReport) -> str:
    """report.txt: the table, then what was found, for below the --- of a mail."""
    version = f" v{report.version}" if report.version > 1 else ""
    number = len(report.patches)
    lines = [*wrap(f"swap-kunit presubmit: {report.title}{version}, {number} patch{'es' * (number != 1)} on "
                   f"Linux {report.kernel}"), *wrap(asked(report))]
    lines += wrap(f"sandbox: {report.sandbox}") if report.sandbox.startswith("none") else []
    lines += ["", *table(report)]
    lines += [""] + wrap(f"{closing(report)}", "") if report.patches else []
    for note in report.notes:
        lines += wrap(f"note: {note}")
    for patch in report.patches:
        found = [step for step in patch.steps if step.status in FINDINGS]
        lines += ["", *wrap(f"{patch.name} {patch.subject}")] if found else []
        for step in found:
            lines += told(step)
    for step in report.series:
        if step.status in FINDINGS:
            lines += ["", *told(step)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def asked(report: PresubmitReport) -> str:
    """What the patches lie on, and how much was done with them."""
    parts = [f"base: {report.origin}", f"depth: {report.depth}"]
    parts += [f"configured with {', '.join(report.config)}"] if report.config else []
    parts += [f"tested under {', '.join(report.configs)} too"] if report.configs else []
    return "; ".join(parts)


def table(report: PresubmitReport) -> list[str]:
    """A row a patch, a column a step."""
    rows = [["patch", *(SHORT.get(name, name) for name in report.columns)]]
    for patch in report.patches:
        cells = [step.cell if step else "" for step in map(patch.step, report.columns)]
        rows.append([patch.name, *cells])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    between = "  " if sum(widths) + 2 * len(widths) <= WIDTH else " "
    return [between.join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in rows]


def told(step: Step) -> list[str]:
    """A step's summary and its first details."""
    lines = wrap(f"{step.name}: {step.summary}", "  ")
    number = SHOWN_DECISIONS if step.name == "decisions" else SHOWN
    for detail in step.details[:number]:
        lines += wrap_detail(detail)
    if len(step.details) > number:
        lines.append(f"    and {len(step.details) - number} more lines, in report.html")
    return lines


def wrap_detail(detail: str) -> list[str]:
    """A detail below its step: code is cut and says so, the rest is wrapped."""
    if EXCERPT.match(detail):
        return [shortened(f"    {detail}", WIDEST)]
    indent = " " * (4 + len(detail) - len(detail.lstrip()))
    return textwrap.wrap(detail.strip(), WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ",
                         break_on_hyphens=False) or [""]


def shortened(line: str, width: int) -> str:
    """line in width columns; its end shows whether there was more."""
    return line if len(line) <= width else f"{line[:width - 1]}…"


def wrap(line: str, indent: str = "") -> list[str]:
    """line in WIDTH columns."""
    return textwrap.wrap(line, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ",
                         break_long_words=False, break_on_hyphens=False)


def closing(report: PresubmitReport) -> str:
    """The line that says what it comes to."""
    good, found, skipped = report.counts()
    state = "stopped before the end: " if report.stopped else ""
    clean = f"{good} step{'s' * (good != 1)} clean"
    return f"{state}{clean}, {found} with findings, {skipped} skipped ({report.seconds:.0f} s)"
