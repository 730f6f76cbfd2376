# SPDX-License-Identifier: GPL-2.0
"""junit.xml, as CI systems read it: valid by the schema of Jenkins's xUnit plugin (junit-10.xsd).

That schema knows the file of a suite, but not of a case.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterable
from xml.etree import ElementTree as xml

from .text import without_controls


@dataclass(frozen=True)
class Case:
    """A testcase. failed or skipped: the message, if it is that; kind: of the failure; seconds < 0: unknown."""

    classname: str
    name: str
    failed: str | None = None
    text: str = ""
    kind: str = "failure"
    skipped: str | None = None
    seconds: float = -1.0


@dataclass
class Suite:
    """A testsuite. file: where its cases are."""

    name: str
    cases: list[Case] = field(default_factory=list)
    file: str = ""


def render(suites: Iterable[Suite], name: str) -> str:
    """The file's text. Control characters, which XML forbids, become "?"."""
    suites = list(suites)
    top = xml.Element("testsuites", {"name": name, **totals([case for suite in suites for case in suite.cases])})
    for suite in suites:
        counts = totals(suite.cases)
        element = xml.SubElement(top, "testsuite", {
            "name": without_controls(suite.name), **counts, **({"file": suite.file} if suite.file else {}),
            "skipped": str(sum(case.skipped is not None for case in suite.cases))})
        for case in suite.cases:
            add_case(element, case)
    xml.indent(top)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{xml.tostring(top, encoding='unicode')}\n"


def totals(cases: list[Case]) -> dict[str, str]:
    """The attributes that count cases. There are no errors: whatever goes wrong is a failure of a case."""
    return {"tests": str(len(cases)), "failures": str(sum(case.failed is not None for case in cases)), "errors": "0",
            "time": f"{sum(max(case.seconds, 0.0) for case in cases):.3f}"}


def add_case(suite: xml.Element, case: Case) -> None:
    """Add a testcase with its one failure, or why it was skipped."""
    element = xml.SubElement(suite, "testcase", {"classname": case.classname, "name": without_controls(case.name),
                                                 "time": f"{max(case.seconds, 0.0):.3f}"})
    if case.failed is not None:
        failure = xml.SubElement(element, "failure", type=case.kind, message=one_line(case.failed))
        failure.text = without_controls(case.text)
    elif case.skipped is not None:
        xml.SubElement(element, "skipped", message=one_line(case.skipped))


def one_line(text: str) -> str:
    """text in one line, as a message."""
    return without_controls(" ".join(text.split()))
