# SPDX-License-Identifier: GPL-2.0
"""Failures as a summary shows them: whole, and where an editor finds them."""
from __future__ import annotations

import os
import shutil
import subprocess
import unittest
from unittest import mock

from swapkunit.base import colors
from swapkunit.base.text import relative
from swapkunit.build import sources
from swapkunit.build.overlay import Overlay
from swapkunit.run.faults import interesting, located
from swapkunit.run.results import FAIL, PASS, TestResult, with_known_bugs
from swapkunit.run.verdict import failures

from .support import REPO, Scratch, make_kernel, write

SUITE = "kunit/suites/swap_alloc_kunit.c"
HEAD = f"c: EXPECTATION FAILED at mm/{SUITE}:7"


class Whole(unittest.TestCase):
    """No fault is cut."""

    def test_begins_with_what_the_fixture_found(self) -> None:
        """And not with the kernel's output before it."""
        self.assertEqual(interesting(["Adding 32k swap", "x: EXPECTATION FAILED at mm/kunit/fixture/invariants.c:6",
                                      "every cluster is on the list its flag names: it is not"]),
                         ["every cluster is on the list its flag names: it is not"])

    def test_values_are_never_cut_off(self) -> None:
        fault = [HEAD, "Expected 1 == got, but", "got == 2 (0x2)", "rule: one", "rule: two"]
        self.assertEqual(interesting(fault * 2), [*fault, "(and 1 more fault; see the log)"])
        self.assertEqual(interesting([*fault, HEAD, "rule: x"]), [*fault, HEAD, "rule: x"])
        long = [HEAD, *(f"line {number} {'x' * 300}" for number in range(9))]
        self.assertEqual(interesting(long), long)

    def test_a_crash_shows_the_start_of_its_trace(self) -> None:
        text = ["crashed: Kernel panic", *(f"[<6{number}>] f+0x1/0x2" for number in range(20))]
        self.assertEqual(interesting(text), text[:6])


class Located(Scratch):
    """file:line at the start of a line."""

    def setUp(self) -> None:
        super().setUp()
        self.kernel = make_kernel(self.top / "linux")
        self.tree = self.top / "tree"
        Overlay(self.kernel, self.tree, REPO).sync()
        os.chdir(REPO)

    def test_faults_of_a_suite(self) -> None:
        rest = ["Expected a == 1, but", "a == 2 (0x2)", "rule: x"]
        shown = [f"{SUITE}:7: Expected a == 1, but", "             a == 2 (0x2)", "             rule: x"]
        for tree in (self.tree, None):
            self.assertEqual(list(located("swap_alloc.c", [HEAD, *rest], tree)), shown)
        self.assertEqual(list(located("swap_alloc.c", [HEAD, "Expected 1 == 2, but", "rule: x"])),
                         [f"{SUITE}:7: Expected 1 == 2", "             rule: x"])
        text = ["x: EXPECTATION FAILED at mm/kunit/fixture/a.c:450", "swap_alloc_kunit.c:9: decisions", "got: A"]
        self.assertEqual(list(located("swap_alloc.c", text, self.tree)),
                         [f"{SUITE}:9: decisions", "             got: A"])

    def test_where_no_place_is_named_it_is_the_case(self) -> None:
        name = "swap_alloc.one_free_slot_is_found_anywhere"
        line = next(number for number, text in enumerate((REPO / SUITE).read_text().splitlines(), 1)
                    if text.startswith(f"static void {name.partition('.')[2]}("))
        self.assertEqual(list(located(f"{name}[ssd]", ["hung: it printed nothing for 60 s"], self.tree)),
                         [f"{SUITE}:{line}: hung: it printed nothing for 60 s"])
        self.assertEqual(list(located("swap_x.y", ["failed: z"], self.tree)), ["             failed: z"])

    def test_places_in_the_kernel(self) -> None:
        mine = relative(self.kernel / "mm/swapfile.c")
        text = [HEAD, "rule: x", "kernel report: WARNING: mm/swapfile.c:5 at f+0x1/0x9, CPU#0: kunit_try_catch/1"]
        self.assertEqual(list(located("swap_alloc.c", text, self.tree)), [
            f"{SUITE}:7: rule: x", f"{mine}:5: kernel report: WARNING: mm/swapfile.c:5 at f"])
        text = ["crashed: BUG: failure at mm/zswap.c:1623/zswap_load()!"]
        self.assertEqual(list(located("swap_alloc.c", text, self.tree)),
                         [f"{relative(self.kernel / 'mm/zswap.c')}:1623: {text[0]}"])
        self.assertEqual(list(located("swap_alloc.c", text)), [f"mm/zswap.c:1623: {text[0]}"])

    def test_compiler_messages(self) -> None:
        mine = relative(self.kernel / "mm")
        for said, shown in (
                ("../mm/swap_state_real.c:7:3: error: x", f"{mine}/swap_state.c:7:3: error: x"),
                ("../mm/swap_state.c:7:3: error: x", "mm/swap_state.c:7:3: error: x"),
                ("In file included from ../mm/kunit/fixture/a.c:3:", "In file included from kunit/fixture/a.c:3:"),
                ("mm/Kconfig.real:3: syntax error", f"{mine}/Kconfig:3: syntax error"),
                ("arch/none.c:3: x", "arch/none.c:3: x")):
            self.assertEqual(sources.openable(said, self.tree), shown)
        write(self.tree / ".patched/mm/page_io.c", "")
        self.assertEqual(sources.find(self.tree, "mm/page_io.c"), self.tree / ".patched/mm/page_io.c")
        self.assertEqual(sources.find(self.tree, "mm/kunit/swapfile_access.c"), REPO / "mm/swapfile.c")

    def test_same_text_is_listed_once_whatever_the_kernel_says_between(self) -> None:
        def failed(number: int) -> TestResult:
            return TestResult(f"swap_alloc.c[{number}]", FAIL, [
                HEAD, f"Adding 32k swap on /swapkunit{number}.  Prio",
                f"CPU: 0 UID: 0 PID: {number} Comm: kunit_try_catch", f"[<6017f87{number}>] ? swapoff+0x1/0x2",
                "rule: x", f"kernel report: WARNING: mm/none.c:5 at f+0x{number}/0x9, CPU#0: kunit_try_catch/{number}"])
        self.assertEqual(failures([failed(1), failed(2)], self.tree), [
            "failed     swap_alloc.c[1, 2]", f"{SUITE}:7: rule: x",
            "             kernel report: WARNING: mm/none.c:5 at f"])

    @unittest.skipUnless(shutil.which("vim"), "vim is not installed")
    def test_vim_finds_them_by_default(self) -> None:
        screen = [*failures([TestResult("swap_alloc.c", FAIL, [HEAD, "rule: x", "got: A"])], self.tree),
                  sources.openable("../mm/zswap_real.c:1:5: error: y", self.tree)]
        write(self.top / "screen", "\n".join(screen))
        subprocess.run(["vim", "-Nes", "-u", "NONE", "-c", f"cgetfile {self.top}/screen", "-c",
                        "call writefile(map(filter(getqflist(), 'v:val.valid'), "
                        "{_, one -> fnamemodify(bufname(one.bufnr), ':p') .. ' ' .. one.lnum}), "
                        f"'{self.top}/found')", "-c", "qa!"], check=False, stdin=subprocess.DEVNULL)
        self.assertEqual((self.top / "found").read_text().splitlines(),
                         [f"{REPO / SUITE} 7", f"{(self.kernel / 'mm/zswap.c').resolve()} 1"])


class Shown(unittest.TestCase):
    """Colors, and kunit.py's own words."""

    def test_known_bugs_are_not_failures_in_what_kunit_py_prints(self) -> None:
        tests = [TestResult("swap_a.x[zram]", FAIL, known="k"), TestResult("swap_a.x[ssd]", PASS),
                 TestResult("swap_a.y", FAIL, known="k"), TestResult("swap_b.x[zram]", FAIL)]
        printed = ("[1:2:3] [FAILED] zram\n[PASSED] ssd\n==== [FAILED] x =====\n[FAILED] y\n"
                   "==== [FAILED] swap_a ====\n[FAILED] zram\n=== [FAILED] swap_b ===")
        self.assertEqual(with_known_bugs(printed, tests).replace("KNOWN BUG", "known").split("\n"), [
            "[1:2:3] [known] zram", "[PASSED] ssd", "==== [FAILED] x =====", "[known] y", "==== [known] swap_a ====",
            "[FAILED] zram", "=== [FAILED] swap_b ==="])

    def test_colors(self) -> None:
        self.addCleanup(colors.choose, "auto")
        for when, tty, no_color, painted in (("auto", True, "", True), ("auto", True, "1", False),
                                             ("auto", False, "", False), ("always", False, "1", True),
                                             ("never", True, "", False)):
            colors.choose(when)
            with mock.patch.dict(os.environ, NO_COLOR=no_color, TERM="xterm"), \
                    mock.patch("sys.stdout.isatty", return_value=tty):
                self.assertEqual(colors.paint("x", colors.RED), "\033[31mx\033[m" if painted else "x")


if __name__ == "__main__":
    unittest.main()
