# SPDX-License-Identifier: GPL-2.0
"""The files of a report: report.txt, .json, .html and junit.xml."""
from __future__ import annotations

import json
from dataclasses import replace

from ..base import junit
from ..base.layout import write_whole
from . import page
from .report import SKIP, WEIGHTS, PresubmitReport, Step, text


def write(report: PresubmitReport) -> None:
    """All files of the report, into report.out."""
    report.out.mkdir(parents=True, exist_ok=True)
    for name, content in (("report.txt", text(report)), ("report.json", json.dumps(report.to_json(), indent=1) + "\n"),
                          ("report.html", page.render(report)), ("junit.xml", junit_of(report))):
        write_whole(report.out / name, content)


def junit_of(report: PresubmitReport) -> str:
    """junit.xml: a suite for each patch, a case for each step."""
    suites = [junit.Suite(f"{patch.name} {patch.subject}", [case_of(step, report.fails(step.status))
                                                            for step in patch.steps]) for patch in report.patches]
    return junit.render(suites, "swap-kunit presubmit")


def case_of(step: Step, failed: bool) -> junit.Case:
    """A step in junit.xml."""
    case = junit.Case("presubmit", step.name, seconds=max(step.seconds, 0.0))
    if failed:
        worst = next(one for one in step.findings if one.weight == step.status)
        return replace(case, failed=worst.text, text="\n".join(step.lines()), kind=WEIGHTS[step.status])
    return replace(case, skipped=step.summary) if step.status == SKIP else case
