# SPDX-License-Identifier: GPL-2.0
"""From the KTAP log to results: kunit.py parses it, we read its JSON and add what it omits.

Files in the output directory: ktap.log, results.json (KernelCI format, by kunit.py, with
the kernel filled in), junit.xml, decisions.txt, outcomes.json and summary.json. All but
junit.xml hold no times, so that equal runs give equal files.
"""
from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..base import commands, junit
from ..base.errors import SwapKunitError
from ..base.kernel import Kernel
from ..base.layout import REPO, Layout, write_whole
from ..base.text import without_controls
from ..build.fit import LeftOut
from .console import PARAM_END, SKIP, Case, Suite, join
from .faults import interesting
from .kernel_reports import ENTRY, frames
from .runner import Results

PASS, FAIL, SKIPPED = "passed", "failed", "skipped"
# The lines that show where a crash was; UML marks unreliable addresses with "?", on some kernels all of them.
TRACE = re.compile(r"FAILED at|kernel report: |(BUG|WARNING|KASAN)\b.*: |RIP: |^\[<[0-9a-f]+>\] (?!\? )")
BAD = "[FAILED]"
STATUS = {"PASS": PASS, "SKIP": SKIPPED}
SUMMARY = "summary.json"
OUTCOMES = "outcomes.json"

Json = dict[str, Any]


@dataclass
class TestResult:
    """The result of a case, or of one parameter of it.

    name: suite.case or suite.case[param]. text: its output. reason: why it was skipped.
    fate: crashed, hung or failed, if it did not end by itself. known: the title of the known bug it shows.
    """

    name: str
    status: str
    text: list[str] = field(default_factory=list)
    reason: str = ""
    fate: str = ""
    known: str = ""

    @property
    def suite(self) -> str:
        """The suite's name."""
        return self.name.split(".")[0]

    @property
    def failed(self) -> bool:
        """Whether it fails, and shows no known bug."""
        return self.status == FAIL and not self.known


@dataclass
class Report:
    """All tests of a run, in order, the known bugs seen fixed, and what could not be built."""

    tests: list[TestResult]
    fixed: list[str] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)

    def count(self, status: str) -> int:
        """The number of tests with status; those that show a known bug do not count."""
        return sum(test.status == status and not test.known for test in self.tests)

    def closing_line(self) -> str:
        """N passed, N failed, N skipped"""
        return ", ".join(f"{self.count(status)} {status}" for status in (PASS, FAIL, SKIPPED))


# -- parsing -----------------------------------------------------------------


def parse(layout: Layout, results: Results, kernel: Kernel, parser: Path) -> tuple[list[TestResult], str]:
    """Write ktap.log and let kunit.py parse it; returns the test results, and what kunit.py printed."""
    log, target = layout.out / "ktap.log", layout.out / "results.json"
    log.write_text(join(results.suites), errors="backslashreplace")
    target.unlink(missing_ok=True)
    command: list[str | Path] = [sys.executable, parser, "parse", f"--json={target}", log]
    commands.show(command)
    done = commands.run(command, env=commands.kernel_environment())
    for line in results.reports:
        print(f"kernel report outside of a case: {without_controls(line)}")
    if not target.exists():
        print(done.output)
        raise SwapKunitError(f"cannot parse the results: {parser} ended with status {done.status} and did not write "
                             f"{target}; see its output above, and its input {log}")
    tree = json.loads(target.read_text())
    complete_json(tree, kernel)
    target.write_text(json.dumps(tree, indent=2) + "\n")
    return tests_of(tree, results.suites), done.output


def with_known_bugs(output: str, tests: list[TestResult]) -> str:
    """What kunit.py printed, with [KNOWN BUG] in place of [FAILED] where that is all it is."""
    failed = iter([test for test in tests if test.status == FAIL])
    new = {name for test in tests if test.failed
           for name in (test.suite, re.split(r"[.\[]", test.name)[1])}

    def mark(match: re.Match[str]) -> str:
        name = match[1]
        if match[2]:        # the end of a suite, or of a case with parameters
            return match[0] if name in new else match[0].replace(BAD, "[KNOWN BUG]")
        test = next((test for test in failed if test.name.endswith((f".{name}", f"[{name}]"))), None)
        return match[0].replace(BAD, "[KNOWN BUG]") if test and test.known else match[0]

    return re.sub(r"\[FAILED\] (.+?)( =+)?$", mark, output, flags=re.M)


def complete_json(group: Json, kernel: Kernel) -> None:
    """Fill in the fields that kunit.py parse does not know."""
    group.update(arch="um", kernel=kernel.version)
    for inner in group["sub_groups"]:
        complete_json(inner, kernel)


def tests_of(tree: Json, suites: list[Suite]) -> list[TestResult]:
    """The tests in kunit.py's JSON, with their output."""
    groups = {group["name"]: group for group in tree["sub_groups"]}
    tests = []
    for suite in suites:
        group = groups.get(suite.name)
        if group:
            tests += suite_tests(group, suite)
    return tests


def suite_tests(group: Json, suite: Suite) -> list[TestResult]:
    """The tests of one suite, in the order of its cases."""
    plain = {case["name"]: case["status"] for case in group["test_cases"]}
    nested = {inner["name"]: inner for inner in group["sub_groups"]}
    tests = []
    for case in suite.cases:
        if case.name in nested:
            tests += parameter_tests(nested[case.name], case)
        else:
            reason = SKIP.search(case.lines[-1]) if case.lines else None
            tests.append(TestResult(case.full_name, STATUS.get(plain.get(case.name, ""), FAIL),
                               text_of(case), reason[1] if reason else "", case.fate))
    return tests


def parameter_tests(group: Json, case: Case) -> list[TestResult]:
    """The parameters of a case; the case itself too when only it failed."""
    texts, reasons = by_parameter(case)
    tests = []
    for item in group["test_cases"]:
        name, (fate, reason) = item["name"], case.broken.get(item["name"], ("", ""))
        text = texts.get(name, [])
        tests.append(TestResult(f"{case.full_name}[{name}]", STATUS.get(item["status"], FAIL),
                                how_it_ended(fate, reason, text) if fate else text, reasons.get(name, ""), fate))
    if not case.passed() and not any(test.status == FAIL for test in tests):
        tests.append(TestResult(case.full_name, FAIL, text_of(case), "", case.fate))
    return tests


def text_of(case: Case) -> list[str]:
    """A case's output without its result line; how it crashed or hung, and where."""
    lines = [clean(line) for line in (case.lines if case.fate else case.lines[:-1])]
    return [line for line in (how_it_ended(case.fate, case.reason, lines) if case.fate else lines) if line]


def how_it_ended(fate: str, reason: str, lines: list[str]) -> list[str]:
    """The text of a case that crashed or hung: why, and where."""
    trace = list(filter(TRACE.search, lines))
    trace += [] if any(map(ENTRY.match, trace)) else frames(lines)
    return [f"{fate}: {reason}", *(trace or lines[-12:])]


def by_parameter(case: Case) -> tuple[dict[str, list[str]], dict[str, str]]:
    """A case's output and skip reasons, by parameter."""
    texts: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    current: list[str] = []
    for line in case.lines:
        found = PARAM_END.match(line)
        if not found:
            current.append(clean(line))
            continue
        skip = SKIP.search(line)
        name = SKIP.sub("", found[2]) if skip else found[2]
        texts[name] = [text for text in current if text]
        if skip:
            reasons[name] = skip[1]
        current = []
    return texts, reasons


def clean(line: str) -> str:
    """A diagnostic line without indentation; "" for lines of KTAP's own."""
    text = re.sub(r"^\s*(# )?", "", line).rstrip()
    return "" if re.match(r"(KTAP version|Subtest: |1\.\.\d|module: )", text) else text


# -- files -------------------------------------------------------------------


def write_decisions(layout: Layout, results: Results) -> int:
    """decisions.txt: all decisions, in the kernel's order of cases; returns their number."""
    text = "".join(f"{line}\n" for line in results.decisions)
    (layout.out / "decisions.txt").write_text(text)
    return len(results.decisions)


def write_summary(layout: Layout, kernel: Kernel, config: list[str], policies: list[str],
                  report: Report, interrupted: bool) -> None:
    """summary.json: the run's totals, for comparing runs."""
    summary = {"kernel": kernel.version, "config": config, "policies": policies, "interrupted": interrupted,
               **{status: report.count(status) for status in (PASS, FAIL, SKIPPED)},
               "known_bugs": sum(bool(test.known) for test in report.tests),
               "failures": [test.name for test in report.tests if test.failed],
               "fixed": report.fixed, "not_built": report.left_out.lost, "cases": report.left_out.cases}
    (layout.out / SUMMARY).write_text(json.dumps(summary, indent=1) + "\n")


def read_summary(layout: Layout) -> Json:
    """What write_summary() wrote, or an empty dict."""
    try:
        return dict(json.loads((layout.out / SUMMARY).read_text()))
    except (OSError, ValueError, TypeError):
        return {}


def write_outcomes(layout: Layout, tests: list[TestResult]) -> None:
    """outcomes.json: the result of each test, for comparing runs case by case."""
    entries = [{**asdict(test), "text": interesting(test.text) if test.status == FAIL else []}
            for test in tests]
    (layout.out / OUTCOMES).write_text(json.dumps(entries, indent=1) + "\n")


def read_outcomes(layout: Layout) -> list[TestResult]:
    """What write_outcomes() wrote. Raises OSError or ValueError."""
    return [TestResult(**entry) for entry in json.loads((layout.out / OUTCOMES).read_text())]


def write_junit(layout: Layout, tests: list[TestResult], results: Results) -> None:
    """junit.xml: a testsuite for each suite; a known bug is skipped with its title. The one file with times."""
    seconds = {case.full_name: case.seconds for suite in results.suites for case in suite.cases}
    parameters = Counter(test.name.partition("[")[0] for test in tests)
    suites: dict[str, junit.Suite] = {}
    for test in tests:
        whole = test.name.partition("[")[0]
        case = junit.Case(test.suite, test.name.partition(".")[2], seconds=seconds.get(whole, 0.0) / parameters[whole])
        if test.known or test.status == SKIPPED:
            case = replace(case, skipped=test.known or test.reason)
        elif test.status == FAIL:
            case = replace(case, failed=" ".join(interesting(test.text)), text="\n".join(test.text),
                           kind=test.fate or "failed")
        file = f"kunit/suites/{test.suite}_kunit.c"
        suite = junit.Suite(test.suite, file=file if (REPO / file).exists() else "")
        suites.setdefault(test.suite, suite).cases.append(case)
    write_whole(layout.out / "junit.xml", junit.render(suites.values(), "swap-kunit"))
