# SPDX-License-Identifier: GPL-2.0
"""The files of a report: report.txt, .json, .html and junit.xml."""
from __future__ import annotations

import json
from xml.etree import ElementTree as xml

from . import page
from .report import FINDINGS, SKIP, PresubmitReport, text
from ..base.layout import write_whole
from ..run.results import printable


def write(report: PresubmitReport) -> None:
    """All files of the report, into report.out."""
    report.out.mkdir(parents=True, exist_ok=True)
    for name, content in (("report.txt", text(report)), ("report.json", json.dumps(report.to_json(), indent=1) + "\n"),
                          ("report.html", page.render(report)), ("junit.xml", junit(report))):
        write_whole(report.out / name, content)


def junit(report: PresubmitReport) -> str:
    """junit.xml: a suite a patch, a case a step."""
    top = xml.Element("testsuites", name="swap-kunit presubmit")
    suites = [(f"{patch.name} {patch.subject}", patch.steps) for patch in report.patches]
    suites += [("the series", report.series)] if report.series else []
    for name, steps in suites:
        suite = xml.SubElement(top, "testsuite", name=printable(name), tests=str(len(steps)),
                               failures=str(sum(step.status in FINDINGS for step in steps)),
                               skipped=str(sum(step.status == SKIP for step in steps)))
        for step in steps:
            case = xml.SubElement(suite, "testcase", classname="presubmit", name=step.name,
                                  time=f"{max(step.seconds, 0.0):.1f}")
            if step.status in FINDINGS:
                kind = xml.SubElement(case, "failure", type=step.status, message=printable(step.summary))
                kind.text = printable("\n".join(step.details))
            elif step.status == SKIP:
                xml.SubElement(case, "skipped", message=printable(step.summary))
    xml.indent(top)
    return xml.tostring(top, encoding="unicode", xml_declaration=True)
