# SPDX-License-Identifier: GPL-2.0
"""Test results, known bugs, totals, and the files with them."""
from __future__ import annotations

import contextlib
import io
import unittest
from dataclasses import replace
from xml.etree import ElementTree

from swapkunit.run import known_bugs, results
from swapkunit.base.errors import SwapKunitError
from swapkunit.base.kernel import version_key
from swapkunit.base.layout import CONFIGS
from swapkunit.run.known_bugs import KnownBug
from swapkunit.base.kernel import Kernel
from swapkunit.run.console import Case, Suite
from swapkunit.base.layout import Layout
from swapkunit.run.results import FAIL, PASS, SKIPPED, TestResult
from swapkunit.run.runner import Results

from .support import Scratch, make_kernel, write

PARAMETERS = ["        KTAP version 1", "        # Subtest: ra", "    # ra: EXPECTATION FAILED at x.c:1",
              "    window of zram", "        not ok 1 zram", "        ok 2 ssd # SKIP no such disk",
              "        ok 3 hdd", "    not ok 1 ra"]
FAILED = ["fails: EXPECTATION FAILED at x.c:3", "expected 1, got 2"]


def json_group(name: str, cases: dict[str, str], *groups: dict) -> dict:
    """A group in kunit.py's JSON."""
    return {"name": name, "sub_groups": list(groups),
            "test_cases": [{"name": case, "status": status} for case, status in cases.items()]}


class Leaves(unittest.TestCase):
    """From kunit.py's JSON and the cases' lines."""

    def test_parameters_get_their_own_text_and_reason(self) -> None:
        tree = json_group("", {}, json_group("swap_a", {"plain": "PASS"}, json_group(
            "ra", {"zram": "FAIL", "ssd": "SKIP", "hdd": "PASS"})))
        suite = Suite("swap_a", [], [Case("swap_a", "ra", PARAMETERS),
                                     Case("swap_a", "plain", ["    ok 2 plain"])])
        tests = results.tests_of(tree, [suite])
        self.assertEqual([(test.name, test.status) for test in tests], [
            ("swap_a.ra[zram]", FAIL), ("swap_a.ra[ssd]", SKIPPED), ("swap_a.ra[hdd]", PASS),
            ("swap_a.plain", PASS)])
        self.assertEqual(tests[0].text, ["ra: EXPECTATION FAILED at x.c:1", "window of zram"])
        self.assertEqual(tests[1].reason, "no such disk")

    def test_case_that_fails_though_all_its_parameters_pass(self) -> None:
        tree = json_group("", {}, json_group("swap_a", {}, json_group("ra", {"zram": "PASS"})))
        suite = Suite("swap_a", [], [Case("swap_a", "ra", ["        ok 1 zram", "    not ok 1 ra"])])
        self.assertEqual([(test.name, test.status) for test in results.tests_of(tree, [suite])],
                         [("swap_a.ra[zram]", PASS), ("swap_a.ra", FAIL)])

    def test_case_the_parser_does_not_know_is_a_failure(self) -> None:
        tree = json_group("", {}, json_group("swap_a", {}))
        suite = Suite("swap_a", [], [Case("swap_a", "lost", ["    ok 1 lost"])])
        self.assertEqual(results.tests_of(tree, [suite])[0].status, FAIL)


class Parse(Scratch):
    """Output besides the results."""

    def test_reports_outside_of_the_cases(self) -> None:
        layout = Layout(self.top / "out")
        layout.make()
        kernel = Kernel(self.top, "7.3.4", "here", True)
        ran = Results([Suite("swap_a", ["    # Subtest: swap_a"], [Case("swap_a", "a", ["    ok 1 a"])])], [],
                      reports=["WARNING: at boot"])
        parser = make_kernel(self.top / "k") / "tools/testing/kunit/kunit.py"
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            tests = results.parse(layout, ran, kernel, parser)[0]
        self.assertIn("\nkernel report outside of a case: WARNING: at boot\n", told.getvalue())
        self.assertEqual([test.status for test in tests], [PASS])


class KnownBugs(Scratch):
    """Only the listed failure of a case is a known bug."""

    BUG = KnownBug("two is one", ("swap_a.fails",), "expected 1, got 2", ("6.1", "6.12"))
    TESTED = ["5.10.262", "6.1.192", "6.12.9", "7.3.4"]

    def report(self, *tests: TestResult, bug: KnownBug | None = None, version: str = "6.12.9") -> results.Report:
        """The report of tests with one known bug."""
        return known_bugs.apply(list(tests), [bug or self.BUG], self.TESTED, version)

    def test_kernels_that_may_have_it(self) -> None:
        for version, known in (("6.1.192", "two is one"), ("6.6.63", "two is one"),
                               ("5.15.1", "two is one (known from 6.1 to 6.12, also here)"),
                               ("6.1.50", "two is one (known from 6.1 to 6.12, also here)"), ("6.1.200", "two is one"),
                               ("6.12.8", "two is one"),
                               ("6.18.4", "two is one (known from 6.1 to 6.12, also here)"),
                               ("5.10.1", ""), ("5.10.262", ""), ("5.10.300", ""), ("7.3.4", ""), ("7.4.0-rc1", "")):
            with self.subTest(version):
                report = self.report(TestResult("swap_a.fails", FAIL, FAILED), version=version)
                self.assertEqual(report.tests[0].known, known)
                self.assertEqual(report.count(FAIL), int(not known))
                report = self.report(TestResult("swap_a.fails", PASS), version=version)
                self.assertEqual(bool(report.fixed), known == "two is one")
        bug = replace(self.BUG, seen=("7.3",))
        report = self.report(TestResult("swap_a.fails", FAIL, FAILED), bug=bug, version="7.4.0-rc1")
        self.assertEqual(report.tests[0].known, "two is one (known in 7.3, also here)")

    def test_weak_case_is_not_told_as_fixed(self) -> None:
        report = self.report(TestResult("swap_a.fails", PASS), bug=replace(self.BUG, weak="it sees the middle only"))
        self.assertEqual(report.fixed, [])

    def test_nothing_is_fixed_where_something_else_breaks(self) -> None:
        report = self.report(TestResult("swap_a.fails", PASS), TestResult("swap_b.other", FAIL, FAILED))
        self.assertEqual((report.fixed, report.count(FAIL)), ([], 1))
        other = replace(self.BUG, cases=("swap_b.other",))
        report = known_bugs.apply([TestResult("swap_a.fails", PASS), TestResult("swap_b.other", FAIL, FAILED)],
                                  [self.BUG, other], self.TESTED, "6.12.9")
        self.assertEqual(len(report.fixed), 1)

    def test_expected_failure_counts_nowhere(self) -> None:
        report = self.report(TestResult("swap_a.fails", FAIL, FAILED), TestResult("swap_a.other", PASS))
        self.assertEqual(report.closing_line(), "1 passed, 0 failed, 0 skipped")
        self.assertEqual(report.tests[0].known, "two is one")

    def test_other_text_still_fails(self) -> None:
        report = self.report(TestResult("swap_a.fails", FAIL, [FAILED[0], "expected 1, got 3"]))
        self.assertEqual(report.closing_line(), "0 passed, 1 failed, 0 skipped")

    def test_second_fault_beside_the_known_one_still_fails(self) -> None:
        second = ["fails: ASSERTION FAILED at x.c:9", "page is stale"]
        report = self.report(TestResult("swap_a.fails", FAIL, FAILED + second))
        self.assertEqual(report.count(FAIL), 1)

    def test_passing_is_told_as_fixed(self) -> None:
        report = self.report(TestResult("swap_a.fails", PASS))
        self.assertEqual(report.fixed, ["two is one (swap_a.fails passes)"])
        self.assertEqual(report.count(PASS), 1)

    def test_what_a_debugging_kernel_adds(self) -> None:
        reported = ["fails: EXPECTATION FAILED at case.c:147", "kernel report: WARNING: mm/swap_table.h:193 at x"]
        bug = replace(self.BUG, also=("WARNING: mm/swap_table.h:",))
        test = TestResult("swap_a.fails", FAIL, [*FAILED, *reported])
        self.assertEqual(self.report(test).count(FAIL), 1)
        self.assertEqual(self.report(test, bug=bug).count(FAIL), 0)
        self.assertEqual(self.report(TestResult("swap_a.fails", FAIL, reported), bug=bug).count(FAIL), 1)
        other = ["fails: EXPECTATION FAILED at case.c:147", "kernel report: WARNING: mm/memory.c:1 at x"]
        self.assertEqual(self.report(TestResult("swap_a.fails", FAIL, [*FAILED, *other]), bug=bug).count(FAIL), 1)

    def test_crash(self) -> None:
        crash = TestResult("swap_a.fails", FAIL, ["crashed: Kernel panic - not syncing: x"], fate="crashed")
        self.assertEqual(self.report(crash).count(FAIL), 1)
        bug = replace(self.BUG, expect="crashed")
        self.assertEqual(self.report(crash, bug=bug).count(FAIL), 0)

    def test_parameters(self) -> None:
        tests = [TestResult("swap_a.fails[zram]", FAIL, FAILED), TestResult("swap_a.fails[ssd]", FAIL, FAILED)]
        one = replace(self.BUG, cases=("swap_a.fails[zram]",))
        self.assertEqual(self.report(*tests, bug=one).count(FAIL), 1)
        self.assertEqual(self.report(*tests, bug=replace(self.BUG, cases=("swap_a.fails[*]",))).count(FAIL), 0)

    def test_file(self) -> None:
        path = write(self.top / "bugs.toml", 'tested = ["7.3"]\n[[bug]]\ntitle = "t"\ncases = ["a.b"]\nexpect = "e"\n'
                     'seen = ["7.3"]\n')
        self.assertEqual(known_bugs.load(path), ([KnownBug("t", ("a.b",), "e", ("7.3",))], ["7.3"]))
        write(path, 'tested = []\n[[bug]]\ntitle = "t"\n')
        with self.assertRaisesRegex(SwapKunitError, "needs title, cases, expect and seen"):
            known_bugs.load(path)

    def test_file_of_the_project(self) -> None:
        bugs, tested = known_bugs.load(CONFIGS / "known_bugs.toml")
        self.assertEqual(tested, sorted(tested, key=version_key))
        series = [kernel.rpartition(".")[0] for kernel in tested]
        for bug in bugs:
            self.assertEqual([one for one in series if one in bug.seen], list(bug.seen), bug.title)


class Junit(Scratch):
    """junit.xml."""

    def test_statuses(self) -> None:
        layout = Layout(self.top)
        results.write_junit(layout, [
            TestResult("swap_a.good", PASS), TestResult("swap_a.bad", FAIL, ["is \x1b[1m <bad>"]),
            TestResult("swap_a.known", FAIL, ["x"], known="old"), TestResult("swap_b.off", SKIPPED, reason="no disk")],
            Results([], []))
        suites = ElementTree.parse(self.top / "junit.xml").getroot()
        first = suites[0]
        self.assertEqual((first.get("name"), first.get("tests"), first.get("failures")), ("swap_a", "3", "1"))
        self.assertEqual([[child.tag for child in case] for case in first], [[], ["failure"], ["skipped"]])
        self.assertEqual(suites[1][0][0].get("message"), "no disk")


if __name__ == "__main__":
    unittest.main()
