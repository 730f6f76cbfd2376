# SPDX-License-Identifier: GPL-2.0
"""junit.xml, of a run and of presubmit."""
from __future__ import annotations

import shutil
import subprocess
import unittest
from pathlib import Path
from xml.etree import ElementTree

from swapkunit.base.layout import Layout
from swapkunit.presubmit import files
from swapkunit.presubmit.report import FAIL, NOTE, PASS, SKIP, Finding, PatchReport, PresubmitReport, Step
from swapkunit.run import results
from swapkunit.run.console import Case, Console, Suite
from swapkunit.run.results import TestResult
from swapkunit.run.runner import Results

from .support import TESTS, Scratch

TEXT = ["Adding 32k swap on /swapkunit7.  Priority:-1", "c: EXPECTATION FAILED at mm/kunit/suites/swap_io_kunit.c:7",
        "Expected a == 2, but", "a == 1 (0x1)", "rule: x"]


class Junit(Scratch):
    """Names, times, files and messages."""

    def of_a_run(self) -> Path:
        """junit.xml of a run with a result of each kind."""
        tests = [TestResult("swap_io.a[\x01odd]", "passed"), TestResult("swap_io.a[x]", "skipped", reason="no disk"),
                 TestResult("swap_io.c", "failed", TEXT), TestResult("swap_io.d", "failed", ["x"], known="an old bug"),
                 TestResult("mechanism.e", "failed", ["it is missing"])]
        cases = [Case("swap_io", name, [], seconds=seconds) for name, seconds in (("a", 0.5), ("c", 0.25), ("d", 0.0))]
        results.write_junit(Layout(self.top), tests, Results([Suite("swap_io", [], cases)], []))
        return self.top / "junit.xml"

    def of_a_check(self) -> Path:
        """junit.xml of presubmit."""
        steps = [Step("applies", PASS, "applies", seconds=0.1), Step("sparse", SKIP, "no sparse"),
                 Step("suites", PASS, "1 passed").having([Finding(NOTE, "odd"),
                                                          Finding(FAIL, "2 new failures", ["s.a"])])]
        patch = PatchReport(1, 1, "mm: <x>", steps=[step.clean() for step in steps])
        files.write(PresubmitReport("mm: x", 1, "7.3.4", "here", "none", ["applies", "suites"], self.top,
                                    patches=[patch]))
        return self.top / "junit.xml"

    def test_run(self) -> None:
        suite, other = ElementTree.parse(self.of_a_run()).getroot()
        self.assertEqual((suite.attrib, other.get("file")), ({
            "name": "swap_io", "tests": "4", "failures": "1", "errors": "0", "skipped": "2", "time": "0.750",
            "file": "kunit/suites/swap_io_kunit.c"}, None))
        self.assertEqual([(case.get("classname"), case.get("name"), case.get("time")) for case in suite], [
            ("swap_io", "a[?odd]", "0.250"), ("swap_io", "a[x]", "0.250"), ("swap_io", "c", "0.250"),
            ("swap_io", "d", "0.000")])
        self.assertEqual([case[0].attrib for case in suite if len(case)], [
            {"message": "no disk"}, {"type": "failed", "message": " ".join(TEXT[1:])}, {"message": "an old bug"}])

    def test_presubmit(self) -> None:
        suite = ElementTree.parse(self.of_a_check()).getroot()[0]
        self.assertEqual((suite.get("name"), suite.get("failures")), ("1/1 mm: <x>", "1"))
        failure = suite[2][0]
        self.assertEqual((failure.attrib, failure.text), ({"type": "ERROR", "message": "2 new failures"},
                                                          "NOTE: odd\nERROR: 2 new failures\n  s.a"))

    @unittest.skipUnless(shutil.which("xmllint"), "xmllint is not installed (Debian: libxml2-utils)")
    def test_schema(self) -> None:
        for path in (self.of_a_run(), self.of_a_check()):
            done = subprocess.run(["xmllint", "--noout", "--schema", TESTS / "junit.xsd", path], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_case_takes_the_time_since_the_one_before(self) -> None:
        console = Console(since=-1e6)
        for line in ("KTAP version 1", "    # Subtest: s", "    1..2", "    ok 1 a", "    ok 2 b"):
            console.feed(line)
        seconds = [case.seconds for case in console.done]
        self.assertTrue(seconds[0] > 1e6 - 1 and 0 <= seconds[1] < 60, seconds)


if __name__ == "__main__":
    unittest.main()
