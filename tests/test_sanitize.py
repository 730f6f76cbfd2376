# SPDX-License-Identifier: GPL-2.0
"""Which sanitizers run, on which kernels, and what a kernel without one is."""
from __future__ import annotations

import json
import os
import unittest
from pathlib import Path

from swapkunit.base.errors import SwapKunitError
from swapkunit.base.kernel import Kernel
from swapkunit.base.layout import CONFIGS
from swapkunit.run import sanitize
from swapkunit.run.matrix import Cell

from .support import Scratch, make_kernel, write


class Choice(unittest.TestCase):
    """By name, and by turns."""

    def test_all_some_or_one_by_turns(self) -> None:
        every = list(sanitize.SANITIZERS)
        self.assertEqual(sanitize.choose([], None), every)
        self.assertEqual(sanitize.choose(["ubsan", "kasan"], None), ["ubsan", "kasan"])
        self.assertEqual([sanitize.choose([], turn)[0] for turn in range(len(every), 2 * len(every))], every)
        self.assertEqual(sanitize.choose(["ubsan", "kasan+lockdep"], 3), ["kasan+lockdep"])

    def test_unknown(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, "sanitizer 'kasn': did you mean kasan[?] .*kasan, ubsan"):
            sanitize.choose(["ubsan+kasn"], None)

    def test_each_is_a_fragment(self) -> None:
        self.assertEqual([name for name in sanitize.SANITIZERS if not (CONFIGS / f"{name}.config").is_file()], [])


class Kernels(Scratch):
    """On miniature kernels."""

    def test_what_a_kernel_lacks(self) -> None:
        kernel = Kernel(self.top, "6.1.2", "here", True)
        self.assertEqual(sanitize.lacking(Cell("6.1", ["kasan"], kernel)),
                         "ARCH=um of Linux 6.1.2 has no HAVE_ARCH_KASAN")
        write(self.top / "arch/um/Kconfig",
              "config UML\n\tselect HAVE_ARCH_KASAN if X86_64\n\tselect HAVE_ARCH_KASANS\n"
              "\tselect ARCH_HAS_UBSAN_SANITIZE_ALL\n")
        self.assertEqual(sanitize.lacking(Cell("6.1", ["kmemleak", "kasan", "kcsan"], kernel)),
                         "ARCH=um of Linux 6.1.2 has no HAVE_DEBUG_KMEMLEAK and no HAVE_ARCH_KCSAN")
        lacking = {name: bool(sanitize.lacking(Cell("6.1", ["thp", name], kernel))) for name in sanitize.SANITIZERS}
        self.assertEqual(lacking, {"kasan": False, "ubsan": False, "lockdep": False, "debug_objects": False,
                                   "kmemleak": True, "kcsan": True})

    def test_a_sanitizer_that_the_kernel_lacks_is_skipped(self) -> None:
        kernel, out = make_kernel(self.top / "linux"), self.top / "out"
        write(kernel / "arch/um/Kconfig", "")
        os.environ["FAKE_SUITES"] = json.dumps({"swap_a": ["pass_1", "skip_2"]})
        done = self.program("sanitize", "--ksrc", kernel, "--out", out, "--sanitizer", "lockdep,kcsan")
        lines = done.output.splitlines()
        self.assertEqual((done.status, lines[-1]), (0, "1 passed, 0 failed, 2 skipped"), lines)
        self.assertIn("ARCH=um of Linux 7.3.4 has no HAVE_ARCH_KCSAN", done.output)
        cells = json.loads((out / "matrix.json").read_text())["cells"]
        self.assertEqual([(cell["config"], cell["state"]) for cell in cells],
                         [("lockdep", "good"), ("kcsan", "skipped")])
        self.assertFalse(any(Path(out).glob("*/kcsan")))
        os.environ["FAKE_SUITES"] = json.dumps({"swap_a": ["fail_1"]})
        self.assertEqual(self.program("sanitize", "--ksrc", kernel, "--out", out, "--turn", "2").status, 1)


if __name__ == "__main__":
    unittest.main()
