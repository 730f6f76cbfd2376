# SPDX-License-Identifier: GPL-2.0
"""bugs: where a past bug goes, and what shows it."""
from __future__ import annotations

import json
import os
from dataclasses import replace

from swapkunit.base.errors import SwapKunitError
from swapkunit.run import past_bugs
from swapkunit.run.past_bugs import PastBug
from swapkunit.run.results import FAIL, TestResult
from swapkunit.source import kernels

from .support import Scratch, make_kernel, write

BUG = PastBug("one is two", "mm/swapfile.c", r"return 1;", "return 2;", after=r"\nint one")
TEXT = "int other(void) { return 1; }\n\nint one(void)\n{\n\treturn 1;\n}\n"


class PastBugs(Scratch):
    """One bug at a time."""

    def test_place(self) -> None:
        tree = self.top / "linux"
        self.assertEqual(BUG.patch_for(tree, "7.3.4"), "")
        write(tree / "mm/swapfile.c", TEXT)
        self.assertIn("\n-\treturn 1;\n+\treturn 2;\n", BUG.patch_for(tree, "7.3.4"))
        for other in (replace(BUG, after="int two"), replace(BUG, pattern="return 3"),
                      replace(BUG, kernels=("6.12", "7"))):
            self.assertEqual(bool(other.patch_for(tree, "7.3.4")), bool(other.kernels))
        self.assertEqual(replace(BUG, kernels=("7",)).patch_for(tree, "71.0.1"), "")

    def test_failure_that_shows_it(self) -> None:
        failed = [TestResult("swap_a.x", FAIL, ["Expected 1 == 2, but", "rule: one is one"]),
                  TestResult("swap_b.y", FAIL, ["panic"], fate="crashed")]
        for caught, shown in (("", "failed swap_a.x: rule: one is one"), ("crashed swap_b", "crashed swap_b.y: panic"),
                              ("one is one", "failed swap_a.x: rule: one is one"), ("swap_c", "")):
            self.assertEqual(replace(BUG, caught=caught).shown_in(failed), shown)

    def test_entries(self) -> None:
        bugs = past_bugs.load()
        self.assertEqual(len({bug.title for bug in bugs}), len(bugs))
        newest = {".".join(one.version.split(".")[:2]): one.kernel() for one in reversed(kernels.cached())}
        if "7.3" in newest:     # the kernel that they were written for
            self.assertEqual([bug.title for bug in bugs if not bug.kernels
                              and not bug.patch_for(newest["7.3"].path, newest["7.3"].version)], [])
        with self.assertRaisesRegex(SwapKunitError, "cannot use the past bugs in .*bugs.toml"):
            past_bugs.load(write(self.top / "bugs.toml", '[[bug]]\ntitle = "t"\n'))

    def test_verb(self) -> None:
        kernel = make_kernel(self.top / "linux")
        write(kernel / "mm/swapfile.c", "free_swap_zswap:\n\tzswap_swapoff(si->type);\n")
        for suites, title, status, said in (
                (["pass_1"], "refused .* zswap's tree", 1, "missed     a refused swapon leaves zswap's tree\n"),
                (["pass_1"], "encrypted", 0, "0 caught, 0 missed, 0 impossible, 0 no build, 1 not here\n"),
                (["fail_1"], "encrypted", 2, "cannot judge bugs: swap_a.fail_1 fails without one"),
                (["pass_1"], "foo(", 2, "cannot replay 'foo(': it is no regular expression: missing )"),
                (["pass_1"], "nonesuch", 2, "no title in configs/past_bugs.toml matches it")):
            os.environ["FAKE_SUITES"] = json.dumps({"swap_a": suites})
            done = self.program("bugs", "--ksrc", kernel, "--out", self.top / "out", "--title", title)
            self.assertEqual(done.status, status, done.output)
            self.assertIn(said, done.output)
            if status < 2:
                self.assertRegex(done.output, r"\ntime       kernel .* s\nlog        .*/ktap.log: of the last run\n")
