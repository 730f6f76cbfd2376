# SPDX-License-Identifier: GPL-2.0
"""report.html: verdict, weightiest findings and decisions first, then the table, then the steps of each patch.

Changed lines are colored by whether a case reaches them.
"""
from __future__ import annotations

from pathlib import Path

from .report import FAIL, NOTE, PASS, SHORT, SKIP, WARN, WEIGHTS, PatchReport, PresubmitReport, Step, asked, closing
from ..base import pages
from ..coverage import lcov
from ..decisions import page as decisions
from ..decisions.diff import Recorded, compare
from ..decisions.notation import parse_log

SIGNS = {PASS: "✓", SKIP: "–", NOTE: "i", WARN: "!", FAIL: "✗"}     # color is never the only sign
FOLDED = {PASS: "clean", SKIP: "skipped"}
TOP = 3         # findings on the first screen
DRAWN = 40      # scenarios of a patch; report.txt and report.json name the others


def render(report: PresubmitReport) -> str:
    """The page. Needs jinja2, which deps.PAGES names."""
    covered = bool(report.pages) and (report.out / report.pages / "index.html").exists()
    drawn = {patch.name: drawings(patch) for patch in report.patches}
    return pages.render(
        Path(__file__).with_suffix(".html"), report=report, asked=asked(report, report.origin), closing=closing(report),
        weights=WEIGHTS, signs=SIGNS, folds=FOLDED, folded=folded, short=SHORT, top=report.heavy()[:TOP], drawn=drawn,
        most=DRAWN, legend=decisions.legend(),
        first=next(((name, parts[0], len(parts)) for name, parts in drawn.items() if parts), None),
        address=f"{report.pages}/{{}}.gcov.html" if covered else "",
        anchor="L" if covered and lcov.major_version() >= 2 else "")


def folded(patch: PatchReport) -> list[tuple[str, str, list[Step]]]:
    """The steps of a patch that have nothing to show at once, by status: sign, word, steps."""
    groups = [(SIGNS[status], word, [step for step in patch.steps if step.status == status
                                     and not step.data.get("lines")]) for status, word in FOLDED.items()]
    return [group for group in groups if group[2]]


def drawings(patch: PatchReport) -> list[str]:
    """The scenarios whose decisions a patch moves, drawn, in the order of the page of `make decisions`."""
    step = patch.step("decisions")
    if not step or not step.data.get("changed"):
        return []
    before, after = (Recorded("", parse_log("\n".join(step.data[side]))) for side in ("before", "with"))
    found = [section for sections in decisions.sections(compare(before, after)).values() for section in sections]
    return [decisions.scenario(section, number == 0) for number, section in enumerate(found[:DRAWN])]
