# SPDX-License-Identifier: GPL-2.0
"""Two runs compared: what differs, what only one side has, what cannot be compared."""
from __future__ import annotations

import json
import os
import subprocess
import unittest
from pathlib import Path

from swapkunit.base.errors import SwapKunitError
from swapkunit.base.layout import Layout
from swapkunit.decisions import sides
from swapkunit.decisions.diff import Difference, Recorded, compare, load
from swapkunit.decisions.notation import parse_log
from swapkunit.decisions.text import render, summary
from swapkunit.run import results
from swapkunit.run.results import FAIL, PASS, SKIPPED, TestResult

from .support import REPO, Scratch, make_kernel, write


def run_of(log: dict[str, str], *others: TestResult) -> Recorded:
    """A run with this log whose cases passed; others: further results, or replacements for them."""
    text = "".join(f"{name} {words}\n" for name, words in log.items())
    outcomes = {name: TestResult(name, PASS) for name in log}
    outcomes.update({test.name: test for test in others})
    return Recorded("run", parse_log(text), outcomes)


def difference_of(a: str, b: str) -> Difference:
    """The difference of one scenario, given its two logs."""
    return compare(run_of({"swap_x.case": a}), run_of({"swap_x.case": b}))


class Kinds(unittest.TestCase):
    """The kind of a difference follows from the letters."""

    def kind(self, a: str, b: str) -> tuple[str, list[str], int]:
        """(kind of the first difference, all kinds, its number)"""
        moved = difference_of(a, b).moved[0]
        return moved.kind, moved.kinds, moved.first

    def test_allocation(self) -> None:
        self.assertEqual(self.kind("A0:* A1:0", "A0:* A2:0"), ("allocation", ["allocation"], 1))
        self.assertEqual(self.kind("A0:1 W0:1", "A0:2 W0:2"), ("allocation", ["allocation", "I/O"], 0))
        self.assertEqual(self.kind("A0:1 F0:1", "A0:1"), ("allocation", ["allocation"], 1))

    def test_readahead(self) -> None:
        self.assertEqual(self.kind("A0:0+9 R0:0+8!3", "A0:0+9 R0:3!3"), ("readahead", ["readahead"], 1))
        self.assertEqual(self.kind("R0:3!3 F0:3", "F0:3"), ("readahead", ["readahead"], 0))
        self.assertEqual(self.kind("L0:3!3", "R0:3!3"), ("readahead", ["readahead"], 0))
        self.assertEqual(self.kind("R0:1 R0:2", "R0:2 R0:1"), ("readahead", ["readahead"], 0))

    def test_io(self) -> None:
        self.assertEqual(self.kind("A0:0 W0:0", "A0:0 S0:0"), ("I/O", ["I/O"], 1))
        self.assertEqual(self.kind("A0:0+2 W0:0+2", "A0:0+2 W0:0 W0:1"), ("I/O", ["I/O"], 1))
        self.assertEqual(self.kind("D0:* D1:*", "D1:* D0:*"), ("I/O", ["I/O"], 0))
        self.assertEqual(self.kind("R0:3!3", "R0:3!3x"), ("I/O", ["I/O"], 0))

    def test_only_the_order_of_two_kinds(self) -> None:
        self.assertEqual(self.kind("A0:0 W0:0 A0:1 W0:1", "A0:0 A0:1 W0:0 W0:1"), ("I/O", [], 1))

    def test_counts_add_up(self) -> None:
        found = compare(run_of({"s.a": "A0:1 W0:1", "s.b": "R0:1", "s.c": "W0:1", "s.d": "A0:3"}),
                        run_of({"s.a": "A0:2 W0:2", "s.b": "R0:2", "s.c": "W0:2", "s.d": "A0:3"}))
        self.assertEqual((found.compared, len(found.moved)), (4, 3))
        self.assertEqual([found.count(kind) for kind in ("allocation", "readahead", "I/O")], [1, 1, 1])


class Compare(unittest.TestCase):
    """The outcome for one scenario."""

    def test_alike(self) -> None:
        found = difference_of('"one rule" A0:0 !0:0 R0:0!0', '"another" A0:0 R0:0!0')
        self.assertTrue(found.same)
        self.assertEqual(render(found), "1 scenario, no decision differs")

    def test_areas_count(self) -> None:
        self.assertTrue(difference_of("a/A0:0", "A0:0").same)
        self.assertFalse(difference_of("b/A0:0", "A0:0").same)

    def test_lists_alone_are_no_decision(self) -> None:
        found = difference_of("A0:0 {a free:1 nonfull:0}", "A0:0 {a free:1 frag:0}")
        self.assertTrue(found.same)
        self.assertEqual(found.lists_only, ["swap_x.case"])
        self.assertIn("clusters end up on other lists: 1 scenario\n    swap_x.case", render(found))

    def test_skipped_counts_as_missing(self) -> None:
        lacking = TestResult("s.new", SKIPPED, reason="this kernel lacks: a thing")
        found = compare(run_of({"s.old": "A0:0"}, lacking), run_of({"s.old": "A0:0", "s.new": "A0:1"}))
        self.assertEqual([(one.name, one.side, one.why) for one in found.alone],
                         [("s.new", "B", "this kernel lacks: a thing")])
        self.assertEqual((found.moved, found.compared, found.same), ([], 1, False))
        self.assertIn("only in B: 1 scenario; A: this kernel lacks: a thing\n    s.new", render(found))

    def test_skipped_halfway_is_skipped(self) -> None:
        both = run_of({"s.c": "D0:*"}, TestResult("s.c", SKIPPED, reason="no thing"))
        found = compare(both, run_of({"s.c": "D0:* A0:1"}))
        self.assertEqual([(one.side, one.why) for one in found.alone], [("B", "no thing")])
        self.assertTrue(compare(both, run_of({"s.c": "D1:*"}, TestResult("s.c", SKIPPED))).same)

    def test_no_such_case(self) -> None:
        found = compare(run_of({"s.a": "A0:0", "s.b": "A0:0"}), run_of({"s.a": "A0:0"}))
        self.assertEqual([(one.name, one.side, one.why) for one in found.alone], [("s.b", "A", "no such case")])

    def test_passed_and_decided_nothing(self) -> None:
        found = compare(run_of({"s.c": "R0:5"}), run_of({}, TestResult("s.c", PASS)))
        self.assertEqual([(one.name, one.kind) for one in found.moved], [("s.c", "readahead")])
        self.assertIn("(nothing more)", render(found))

    def test_crashed_is_never_alike(self) -> None:
        crash = TestResult("s.c", FAIL, ["crashed: Kernel panic"], fate="crashed")
        for a, b in ((run_of({"s.c": "A0:0"}), run_of({}, crash)), (run_of({}, crash), run_of({}, crash))):
            found = compare(a, b)
            self.assertEqual((found.same, found.moved, found.alone), (False, [], []))
            self.assertIn("cannot be compared: s.c\n", render(found))
            self.assertIn("; 1 crashed or hung and cannot be compared", summary(found))

    def test_parameters_before_a_crash_are_compared(self) -> None:
        crash = TestResult("s.c", FAIL, ["crashed: [ssd] Kernel panic"], fate="crashed")
        a = run_of({"s.c[zram]": "A0:0", "s.c[ssd]": "A0:0"})
        b = Recorded("b", parse_log("s.c[zram] A0:1\n"), {"s.c": crash})
        found = compare(a, b)
        self.assertEqual([one.name for one in found.moved], ["s.c[zram]"])
        self.assertEqual((found.compared, found.alone), (1, []))

    def test_known_crash_on_both_sides_is_no_news(self) -> None:
        crash = TestResult("s.c", FAIL, ["crashed: Kernel panic"], fate="crashed", known="an old bug")
        self.assertTrue(compare(run_of({}, crash), run_of({}, crash)).same)
        self.assertFalse(compare(run_of({}, crash), run_of({"s.c": "A0:0"})).same)

    def test_failed(self) -> None:
        failed = TestResult("s.c", FAIL, ["x_kunit.c:7: decisions"])
        found = compare(run_of({"s.c": "A0:0"}, failed), run_of({"s.c": "A0:0"}))
        self.assertFalse(found.same)
        self.assertIn("failed: s.c\n    A: failed: x_kunit.c:7: decisions\n    B: good", render(found))
        self.assertTrue(compare(run_of({"s.c": "A0:0"}, failed), run_of({"s.c": "A0:0"}, failed)).same)
        known = TestResult("s.c", FAIL, ["x"], known="an old bug")
        self.assertTrue(compare(run_of({"s.c": "A0:0"}, known), run_of({"s.c": "A0:0"})).same)

    def test_json(self) -> None:
        found = json.loads(json.dumps(difference_of('"x" A0:1 A0:3', '"y" A0:1 A0:4').to_json()))
        self.assertEqual((found["same"], found["scenarios"], found["differ"], found["allocation"]), (False, 1, 1, 1))
        self.assertEqual(found["moved"][0], {
            "scenario": "swap_x.case", "kind": "allocation", "kinds": ["allocation"], "rule": ["x", "y"],
            "first": 1, "a": "A0:1 A0:3", "b": "A0:1 A0:4"})


class Text(unittest.TestCase):
    """The difference as plain text."""

    def test_first_difference_is_marked(self) -> None:
        shown = render(difference_of('A0:* "nonfull" A0:3 A1:*', 'A0:* "free" A1:* A0:3'))
        self.assertEqual(shown.splitlines(), [
            "swap_x", "  case: allocation", "    rule of A: nonfull", "    rule of B: free",
            "    A  A0:* A0:3 A1:*", "    B  A0:* A1:* A0:3", "            ^ first difference", "",
            "1 scenario, 1 differ: allocation 1, readahead 0, I/O 0"])

    def test_parameters_that_look_alike_are_one_paragraph(self) -> None:
        a = {f"s.c[{name}]": "A0:1" for name in ("zram", "ssd", "hdd")}
        b = {**{name: "A0:2" for name in a}, "s.c[hdd]": "A0:9"}
        lines = render(compare(run_of(a), run_of(b))).splitlines()
        self.assertEqual([line for line in lines if "c[" in line],
                         ["  c[zram, ssd]: allocation", "  c[hdd]: allocation"])

    def test_long_logs_are_cut_around_the_difference(self) -> None:
        before = " ".join(f"A0:{slot}" for slot in range(0, 200, 2))
        after = " ".join(f"A1:{slot}" for slot in range(0, 200, 2))
        lines = render(difference_of(f"{before} A2:0 {after}", f"{before} A3:0 {after}")).splitlines()
        self.assertTrue(lines[2].startswith("    A  ... A0:"), lines)
        self.assertTrue(lines[2].endswith(" in all"), lines)
        self.assertTrue(all(len(line) < 130 for line in lines), lines)
        mark = lines[4].index("^")
        self.assertEqual((lines[2][mark:][:4], lines[3][mark:][:4]), ("A2:0", "A3:0"))


class Reading(Scratch):
    """Output directories."""

    def test_load(self) -> None:
        layout = Layout(self.top)
        write(self.top / "decisions.txt", "s.c A0:0\n")
        write(self.top / results.SUMMARY, json.dumps({"kernel": "7.3.4", "interrupted": False}))
        broken = TestResult("s.d", FAIL, ["noise", "x_kunit.c:3: broken"])
        results.write_outcomes(layout, [TestResult("s.c", PASS), broken])
        run = load(self.top)
        self.assertEqual((run.kernel, list(run.scenarios), run.outcomes["s.d"].text),
                         ("7.3.4", ["s.c"], ["x_kunit.c:3: broken"]))
        self.assertTrue(compare(self.top, self.top).same)

    def test_what_cannot_be_loaded(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, "there is no finished run"):
            load(self.top)
        write(self.top / results.SUMMARY, json.dumps({"kernel": "7.3.4", "interrupted": True}))
        with self.assertRaisesRegex(SwapKunitError, "there is no finished run"):
            load(self.top)
        write(self.top / results.SUMMARY, json.dumps({"kernel": "7.3.4", "interrupted": False}))
        write(self.top / results.OUTCOMES, "[]")
        write(self.top / "decisions.txt", "s.c A0:0 Q9\n")
        with self.assertRaisesRegex(SwapKunitError, "'Q9' is not a decision; run it again"):
            load(self.top)


class Sides(Scratch):
    """Forms of A= and B=."""

    def side(self, text: str) -> tuple:
        """(tree, version, policies)"""
        side = sides.parse_side("A", text)
        return side.tree, side.version, side.policies

    def test_versions(self) -> None:
        self.assertEqual(self.side("7.3"), (None, "7.3", []))
        self.assertEqual(self.side("7.3.4-1~bpo13+1"), (None, "7.3.4-1~bpo13+1", []))
        found = sides.VERSION.fullmatch("7.3.4-1~bpo13+1+free-first+congestion")
        self.assertEqual(found.groups(), ("7.3.4-1~bpo13+1", "+free-first+congestion"))

    def test_trees(self) -> None:
        (self.top / "a+b").mkdir()
        self.assertEqual(self.side(f"{self.top}/a+b"), (self.top / "a+b", None, []))
        self.assertEqual(self.side("~"), (Path.home(), None, []))
        self.assertEqual(self.side("7.3/linux")[0], Path("7.3/linux"))

    def test_unknown_policy(self) -> None:
        for text in ("7.3+nonsense", f"{self.top}+nonsense"):
            with self.assertRaisesRegex(SwapKunitError, "no policy 'nonsense'"):
                self.side(text)
        with self.assertRaisesRegex(SwapKunitError, "cannot tell which kernel A='' is"):
            self.side("")


class Running(Scratch):
    """./swap-kunit decisions on miniature kernels."""

    def setUp(self) -> None:
        super().setUp()
        self.one, self.two = make_kernel(self.top / "x/linux"), make_kernel(self.top / "y/linux")
        os.environ["FAKE_SUITES"] = json.dumps({"swap_a": ["pass_1", "skip_2"]})
        self.out = self.top / "out"

    def decisions(self, *words: str | Path) -> tuple[int, list[str]]:
        """Exit status and lines."""
        done = self.program("decisions", *words, "--out", self.out)
        return done.status, done.output.splitlines()

    def test_alike(self) -> None:
        status, lines = self.decisions(self.one, self.two)
        self.assertEqual((status, lines[-1]), (0, "1 scenario, no decision differs"), lines)
        self.assertEqual(len(list(self.out.glob("linux-*/default/decisions.txt"))), 2)
        self.assertTrue(json.loads(next(self.out.glob("decisions/*/decisions-diff.json")).read_text())["same"])

    def test_different(self) -> None:
        fake = self.two / "fake_linux"
        fake.write_text(fake.read_text().replace("A0:0 D1:*", "A0:1 D1:*"))
        status, lines = self.decisions(self.one, self.two)
        self.assertEqual((status, lines[-1]), (1, "1 scenario, 1 differ: allocation 1, readahead 0, I/O 0"), lines)
        self.assertIn("    B  A0:1 D1:*", lines)
        text = next(self.out.glob("decisions/*/decisions-diff.txt")).read_text()
        self.assertTrue(text.startswith(f"A  {self.one} (Linux 7.3.4)\nB  {self.two} (Linux 7.3.4)\n\nswap_a\n"), text)

    def test_the_same_tree_is_run_once(self) -> None:
        (self.top / "link").symlink_to(self.one)
        status, lines = self.decisions(self.one, self.top / "link")
        self.assertEqual((status, lines[-1]), (0, "1 scenario, no decision differs"), lines)
        self.assertEqual(sum("filter_glob=SUITE" in line for line in lines), 1, lines)

    def test_two_kernels_of_one_series(self) -> None:
        for version in ("7.3.4-1", "7.3.9-1"):
            make_kernel(self.top / f"cache/kernels/linux-source-7.3_{version}")
        self.assertEqual(self.decisions("7.3.4", "7.3.9")[0], 0)
        self.assertTrue((self.out / "7.3/default/decisions.txt").exists())
        self.assertTrue((self.out / "7.3.9-1/default/decisions.txt").exists())

    def test_a_side_that_does_not_build(self) -> None:
        write(self.two / "mm/swapfile.c", "BROKEN\n")
        status, lines = self.decisions(self.one, self.two)
        self.assertEqual(status, 125, lines)
        self.assertIn(f"swap-kunit: cannot tell what B={self.two} decides: ", lines[-1])

    def test_wrong_use(self) -> None:
        self.assertEqual(self.decisions(self.one)[0], 2)
        self.assertEqual(self.decisions(self.one, self.top / "nowhere")[0], 2)
        self.assertEqual(self.decisions(self.one, f"{self.two}+nonsense")[0], 2)

    def test_crash(self) -> None:
        os.environ["FAKE_SUITES"] = json.dumps({"swap_a": ["pass_1", "crash_2"]})
        status, lines = self.decisions(self.one, self.two)
        self.assertEqual((status, lines[-1]), (
            1, "1 scenario, no decision differs; 1 crashed or hung and cannot be compared"), lines)

    def test_make(self) -> None:
        done = subprocess.run(["make", "-sC", REPO, "decisions", f"A={self.one}", f"B={self.two}", f"O={self.out}",
                               "FILTER=swap_a.pass*", "J=1"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], "1 scenario, no decision differs")


if __name__ == "__main__":
    unittest.main()
