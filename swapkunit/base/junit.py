# SPDX-License-Identifier: GPL-2.0
"""junit.xml, as CI systems read it."""
from __future__ import annotations

from dataclasses import dataclass
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
    kind: str = ""
    skipped: str | None = None
    seconds: float = -1.0


def render(suites: Iterable[tuple[str, list[Case]]], name: str = "") -> str:
    """The file's text: a testsuite for each name and its cases. Control characters, which XML forbids, become "?"."""
    top = xml.Element("testsuites", {"name": name} if name else {})
    for suite_name, cases in suites:
        suite = xml.SubElement(top, "testsuite", name=without_controls(suite_name), tests=str(len(cases)),
                               failures=str(sum(case.failed is not None for case in cases)),
                               skipped=str(sum(case.skipped is not None for case in cases)))
        for case in cases:
            element = xml.SubElement(suite, "testcase", {
                "classname": case.classname, "name": without_controls(case.name),
                **({"time": f"{case.seconds:.1f}"} if case.seconds >= 0 else {})})
            if case.failed is not None:
                failure = xml.SubElement(element, "failure", {**({"type": case.kind} if case.kind else {}),
                                                             "message": without_controls(case.failed)})
                failure.text = without_controls(case.text)
            elif case.skipped is not None:
                xml.SubElement(element, "skipped", message=without_controls(case.skipped))
    xml.indent(top)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{xml.tostring(top, encoding='unicode')}\n"
