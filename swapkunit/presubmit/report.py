# SPDX-License-Identifier: GPL-2.0
"""The report of a check, as objects and as text."""
from __future__ import annotations

import re
import textwrap
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..base.errors import FAILED, GOOD
from ..base.text import plural, without_controls

PASS, SKIP, NOTE, WARN, FAIL = "pass", "skip", "note", "warn", "fail"
WEIGHTS = {NOTE: "NOTE", WARN: "WARNING", FAIL: "ERROR"}    # of findings
LINES, WIDTH = 40, 72   # of report.txt: it goes into a mail
EVIDENCE = (20, 12, 8, 5, 3, 2, 1, 0)   # most lines of each finding's evidence; the first number that fits is used
UNLIMITED = 1 << 30
ROWS, NOTES = 12, 4     # most patches in the table, and most notes
LATER = "still to come"     # the summary of a step that is done after the first report
NARROW = 9              # columns of a table that is one block
CELL = 3 * (WIDTH - 2)  # most characters that explain a cell
MEANINGS = {"same": "no decision differs", "offset": "some hunks apply at other lines",
            "lists": "the same decisions, but clusters end up on other lists"}
SHORT = {"applies": "apply", "checkpatch": "style", "decisions": "decide"}      # headings of the table
ORDER = (PASS, SKIP, *WEIGHTS)
# Code, a diff, a decision: text whose columns matter.
EXCERPT = re.compile(r"\s+[^\s:]+:\d+: (?!(?:warning|error|note|fatal error): )|\s*\d* \||\s+[AB]  |\s+\^|[-+@]")


def plain(text: str) -> str:
    """Output of untrusted code, without control characters that a terminal would obey."""
    return without_controls(text.expandtabs())


@dataclass
class Finding:
    """One fault. weight: one of WEIGHTS; text: what it is, in one line; evidence: lines that show it.

    FAIL: it does not build, a rule is broken, data is lost, it crashes. WARN: a new report, a decision that differs,
    code that is not reached or not compiled. NOTE: style, and what swap-kunit itself lacks.
    """

    weight: str
    text: str
    evidence: list[str] = field(default_factory=list)


@dataclass
class Step:
    """One step. cell: its text in the table; details: lines for the reader; data: for programs.

    The status of a step with findings is their greatest weight; see having().
    """

    name: str
    status: str
    summary: str
    cell: str = ""
    details: list[str] = field(default_factory=list)
    seconds: float = -1.0       # not measured yet
    data: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @classmethod
    def stored(cls, value: dict[str, Any]) -> Step:
        """The step whose asdict() is value."""
        rest = {name: one for name, one in value.items() if name != "findings"}
        return cls(**rest, findings=[Finding(**one) for one in value["findings"]])

    def clean(self) -> Step:
        """The same, safe to print; without findings, its summary and details are the finding of its status."""
        if self.status in WEIGHTS and not self.findings:
            self.findings, self.details = [Finding(self.status, self.summary, self.details)], []
        self.findings = [Finding(one.weight, plain(one.text), [plain(line) for line in one.evidence])
                         for one in self.findings]
        self.summary, self.details = plain(self.summary), [plain(line) for line in self.details]
        self.cell = plain(self.cell) or {PASS: "ok", SKIP: "-"}.get(self.status, self.status)
        return self

    def lines(self) -> list[str]:
        """Its findings with their evidence, then its details."""
        found = [line for one in self.findings
                 for line in (f"{WEIGHTS[one.weight]}: {one.text}", *(f"  {line}" for line in one.evidence))]
        return found + self.details

    def having(self, findings: list[Finding]) -> Step:
        """A step that passes, with these findings added."""
        heaviest = max((one.weight for one in findings), key=ORDER.index, default=self.status)
        return replace(self, status=heaviest, findings=[*self.findings, *findings])


@dataclass
class PatchReport:
    """One patch and its steps, in order. better: what it changes for the better."""

    number: int
    total: int
    subject: str
    author: str = ""
    message_id: str = ""
    touched: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    better: list[str] = field(default_factory=list)

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
    as well; stopped: interrupted by ^C; fail_on: the least weight that makes the check fail;
    whole: leave nothing out of report.txt.
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
    fail_on: str = WARN
    whole: bool = False

    @property
    def status(self) -> str:
        """The worst of all steps."""
        return worst([step for patch in self.patches for step in patch.steps])

    @property
    def exit_code(self) -> int:
        """GOOD, or FAILED if there are findings that weigh enough or the check was interrupted."""
        return FAILED if self.stopped or self.fails(self.status) else GOOD

    def fails(self, status: str) -> bool:
        """Whether a status makes the check fail."""
        return ORDER.index(status) >= ORDER.index(self.fail_on)

    def counts(self) -> tuple[int, int, int]:
        """Steps that passed, that failed, that were skipped."""
        steps = [step.status for patch in self.patches for step in patch.steps]
        bad, skipped = sum(map(self.fails, steps)), steps.count(SKIP)
        return len(steps) - bad - skipped, bad, skipped

    def totals(self) -> str:
        """How many cases passed, failed and were skipped with the last patch that could be tested."""
        tested = [step.data["totals"] for patch in self.patches for step in patch.steps if step.name == "suites"
                  and "totals" in step.data]
        return str(tested[-1]) if tested else "no case was run"

    def heavy(self) -> list[tuple[PatchReport, Step, Finding]]:
        """The findings that are more than notes, the weightiest first."""
        found = [(patch, step, one) for patch in self.patches for step in patch.steps for one in step.findings
                 if one.weight != NOTE]
        return sorted(found, key=lambda entry: -ORDER.index(entry[2].weight))

    def weights(self) -> Counter[str]:
        """How many findings there are of each weight."""
        return Counter(one.weight for patch in self.patches for step in patch.steps for one in step.findings)

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
    """report.txt: the table and the findings, to paste below the --- of a mail.

    At most LINES lines unless report.whole. Nothing of this machine is in it, no path and no time. Notes are counted.
    """
    version, whole = f" (v{report.version})" if report.version > 1 else "", report.whole
    head = [*wrap(f"swap-kunit presubmit: {report.title}{version}, {patches(len(report.patches))} on "
                  f"Linux {report.kernel}"), *wrap(asked(report, anywhere(report.origin)))]
    head += wrap(f"sandbox: {report.sandbox}") if report.sandbox.startswith("none") else []
    head += ["", *table(report, None if whole else ROWS), *legend(report)]
    head += ["", *wrap(closing(report))] if report.patches else []
    head += [line for note in report.notes[:None if whole else NOTES] for line in wrap(f"note: {note}")]
    head += wrap(f"note: {plural(len(report.notes) - NOTES, 'more note')} in report.html") \
        if len(report.notes) > NOTES and not whole else []
    number = len(report.heavy())
    sizes = [(number, UNLIMITED)] if whole else [*((number, most) for most in EVIDENCE),
                                                 *((most, 0) for most in range(number - 1, -1, -1))]
    lines: list[str] = []
    for size in sizes:
        lines = [*head, *finding_blocks(report, *size)]
        if len(lines) <= LINES:
            break
    return "\n".join(line.rstrip() for line in lines) + "\n"


def anywhere(origin: str) -> str:
    """A base's origin without what only this machine knows."""
    return re.sub("^given directory .*", "the given tree", re.sub(r"^(commit \w+) of .*", r"\1", origin))


def asked(report: PresubmitReport, origin: str) -> str:
    """The base, and what was checked."""
    parts = [f"base: {origin}", f"depth: {report.depth}"]
    parts += [f"configured with {', '.join(report.config)}"] if report.config else []
    parts += [f"also tested with {', '.join(report.configs)}"] if report.configs else []
    return "; ".join(parts)


def patches(number: int) -> str:
    """1 patch, 2 patches"""
    return f"{number} patch{'es' * (number != 1)}"


def table(report: PresubmitReport, most: int | None = None) -> list[str]:
    """A row for each patch, a column for each step; of more patches than most, those with the weightiest findings."""
    rows = [["patch", *(SHORT.get(name, name) for name in report.columns)]]
    most = most // 2 if most and len(rows[0]) > NARROW else most
    ranked = sorted(report.patches, key=lambda patch: -ORDER.index(patch.status))[:most]
    for patch in report.patches:
        if patch in ranked:
            rows.append([patch.name, *(step.cell if step else "" for step in map(patch.step, report.columns))])
    left = len(report.patches) - len(ranked)
    return blocks(rows) + ([f"and {patches(left)} more in report.html"] if left else [])


def blocks(rows: list[list[str]]) -> list[str]:
    """The rows in columns; those that do not fit in WIDTH are in a block of their own below, each with the first."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    groups: list[list[int]] = [[0]]
    for column in range(1, len(widths)):
        if sum(widths[one] + 2 for one in groups[-1]) + widths[column] > WIDTH:
            groups.append([0])
        groups[-1].append(column)
    return ["  ".join(f"{row[column]:<{widths[column]}}" for column in group).rstrip()
            for group in groups for row in rows]


def legend(report: PresubmitReport) -> list[str]:
    """What the cells of the table mean that no finding explains."""
    means: dict[tuple[str, str], list[str]] = {}
    blank = False
    for patch in report.patches:
        for column in report.columns:
            step, heading = patch.step(column), SHORT.get(column, column)
            blank = blank or step is None
            if step and step.status not in (WARN, FAIL) and step.cell != "ok":
                names = means.setdefault(meaning(step), [])
                names += [heading] if heading not in names else []
    lines = [f"{', '.join(names)} {cell}: {why}" for (cell, why), names in means.items()]
    lines += ["empty: done for the last patch only"] if blank and not report.stopped else []
    return [part for line in lines for part in wrap(shortened(line, CELL))]


def meaning(step: Step) -> tuple[str, str]:
    """A cell, and what it means; cells with numbers are explained once."""
    if step.status == NOTE:
        return step.cell, f"{step.findings[0].text} (a note, see report.html)"
    if step.name == "suites" and step.cell.isdigit():
        return "N", "N cases passed"
    if "/" in step.cell and step.name == "lines":
        return "N/M", "the suites reach N of M changed lines of code"
    return step.cell, MEANINGS.get(step.cell, step.summary)


def finding_blocks(report: PresubmitReport, most: int, evidence: int) -> list[str]:
    """The weightiest findings, with the first lines of their evidence, patch by patch."""
    heavy = report.heavy()
    kept = [id(one) for _, _, one in heavy[:most]]
    lines = []
    for patch in report.patches:
        mine = [(step, one) for step in patch.steps for one in step.findings if id(one) in kept]
        lines += ["", *wrap(f"{patch.name} {patch.subject}")] if mine or patch.better else []
        lines += [line for better in patch.better for line in wrap(f"better: {better}", "  ")]
        for step, one in mine:
            lines += finding_lines(step, one, evidence)
    left = len(heavy) - most
    return lines + (["", f"and {plural(left, 'more finding')} in report.html"] if left > 0 else [])


def finding_lines(step: Step, finding: Finding, most: int) -> list[str]:
    """A finding and the first lines of its evidence."""
    lines = wrap(f"{WEIGHTS[finding.weight]} {step.name}: {finding.text}", "  ")
    for line in finding.evidence[:most]:
        lines += wrap_detail(line)
    left = len(finding.evidence) - most
    return lines + ([f"    {plural(left, 'more line')} in report.html"] if left > 0 else [])


def wrap_detail(detail: str) -> list[str]:
    """A line below its finding: code is cut off with a mark, the rest is wrapped."""
    if EXCERPT.match(detail):
        return [shortened(f"    {detail}", WIDTH)]
    indent = " " * (4 + len(detail) - len(detail.lstrip()))
    return textwrap.wrap(detail.strip(), WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ",
                         break_on_hyphens=False) or [""]


def shortened(line: str, width: int) -> str:
    """line in width columns, with a mark if it was cut off."""
    return line if len(line) <= width else f"{line[:width - 1]}…"


def wrap(line: str, indent: str = "") -> list[str]:
    """line in WIDTH columns."""
    return textwrap.wrap(line, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ",
                         break_on_hyphens=False)


def closing(report: PresubmitReport) -> str:
    """The line that sums up the check."""
    good, bad, skipped = report.counts()
    weights = report.weights()
    later = sum(step.summary == LATER for patch in report.patches for step in patch.steps)
    parts = [plural(weights[weight], name.lower()) for weight, name in reversed(WEIGHTS.items()) if weights[weight]]
    return ("interrupted: " * report.stopped + f"{', '.join(parts) or 'no findings'}; {plural(good + bad, 'step')}, "
            f"{skipped - later} skipped" + (f", {later} {LATER}" if later else ""))
