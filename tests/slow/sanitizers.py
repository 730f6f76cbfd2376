# SPDX-License-Identifier: GPL-2.0
"""Faults that only a sanitizer sees fail the case in which they happen, and no other.

Slow (a full build for each sanitizer), so not part of `make test`:

    /usr/bin/python3 -m unittest tests.slow.sanitizers
"""
from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import unittest
from dataclasses import dataclass
from typing import Any

from swapkunit.base.layout import REPO
from swapkunit.source import kernels

FILE = "mm/swapfile.c"
# Where a fault is planted: in the text of /proc/swaps, and in a worker.
SHOW = r"static int swap_show\(.*?\n\{\n(?:\t(?:struct|int|unsigned) [^\n]*\n)+"
WORKER = r"static void swap_discard_work\(.*?\n\{\n(?:\t[^\n]*;\n|\n)+?(?=\n\tswap_do_scheduled_discard)"
SHOWN_BY = {"swap_swapon.file_is_listed_as_a_file", "swap_swapon.proc_swaps_lists_the_areas"}


@dataclass(frozen=True)
class Fault:
    """sanitizer: its name. after: the pattern of the place behind which the fault is put. code: the fault.

    report: what fails the case. suite: which is run. every: it is reported in each case, not only in the first.
    """

    sanitizer: str
    after: str
    code: str
    report: str
    suite: str = "swap_swapon"
    every: bool = True


FAULTS = (
    Fault("kasan", SHOW, "\t{ char *gone = kmalloc(40, GFP_KERNEL); kfree(gone); READ_ONCE(*gone); }\n",
          r"BUG: KASAN: slab-use-after-free in swap_show"),
    Fault("kasan", SHOW, "\t{ char *end = kmalloc(40, GFP_KERNEL); READ_ONCE(end[40]); kfree(end); }\n",
          r"BUG: KASAN: slab-out-of-bounds in swap_show"),
    Fault("kasan", WORKER, "\t{ char *gone = kmalloc(40, GFP_KERNEL); kfree(gone); READ_ONCE(*gone); }\n",
          r"BUG: KASAN: slab-use-after-free in swap_discard_work", suite="swap_discard"),
    Fault("ubsan", SHOW, "\t{ static volatile int by = 40, one = 1; one = one << by; }\n",
          r"UBSAN: shift-out-of-bounds in mm/swapfile", every=False),
    Fault("ubsan", SHOW, "\t{ static volatile int nth = 3; static volatile int of[3]; (void)of[nth]; }\n",
          r"UBSAN: array-index-out-of-bounds in mm/swapfile", every=False),
    Fault("lockdep", SHOW, "\tif (v != SEQ_START_TOKEN) {\n\t\tspin_lock(&si->lock);\n\t\tspin_lock(&swap_lock);\n"
          "\t\tspin_unlock(&swap_lock);\n\t\tspin_unlock(&si->lock);\n\t}\n",
          r"WARNING: possible circular locking dependency detected", every=False),
    Fault("debug_objects", SHOW, "\t{\n\t\tstatic struct timer_list twice;\n"
          "\t\ttimer_setup(&twice, (void (*)(struct timer_list *))kfree, 0);\n\t\tmod_timer(&twice, jiffies + HZ);\n"
          "\t\ttimer_setup(&twice, (void (*)(struct timer_list *))kfree, 0);\n\t}\n",
          r"ODEBUG: init active|WARNING: .*debug_print_object", every=False),
    Fault("kmemleak", SHOW, "\t{ static void * volatile lost; lost = kmalloc(40, GFP_KERNEL); lost = NULL; }\n",
          r"kmemleak: unreferenced object 0x\w+ \(size (40|64)\)"),
)


class Sanitizers(unittest.TestCase):
    """The newest kernel with one fault at a time; its links lead to the fetched one."""

    def setUp(self) -> None:
        self.kernel = kernels.provide("7").path
        self.top = REPO / "out" / "sanitizers"
        self.tree = self.top / "linux"
        if not self.tree.is_dir():
            self.top.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-rs", self.kernel, self.tree], check=True)
        (self.tree / FILE).unlink()

    def tearDown(self) -> None:
        shutil.rmtree(self.tree)

    def run_under(self, fault: Fault) -> tuple[int, dict[str, Any], str]:
        """The exit status, the cell of matrix.json, and the KTAP of the suite with the fault in it."""
        text = (self.kernel / FILE).read_text()
        edited, times = re.subn(rf"(?s){fault.after}", lambda found: found[0] + fault.code, text, count=1)
        self.assertEqual(times, 1, "no place for the fault")
        (self.tree / FILE).write_text(edited)
        done = subprocess.run([sys.executable, REPO / "swap-kunit", "sanitize", "--ksrc", self.tree, "--out", self.top,
                               "--sanitizer", fault.sanitizer, "--filter", fault.suite], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        cell = json.loads((self.top / "matrix.json").read_text())["cells"][0]
        self.assertIn(done.returncode, (0, 1), done.stdout[-4000:])
        return done.returncode, cell, (self.top / cell["out"] / "ktap.log").read_text()

    def test_each_is_caught_in_its_case(self) -> None:
        for fault in FAULTS:
            with self.subTest(fault.report):
                status, cell, log = self.run_under(fault)
                self.assertEqual(status, 1)
                failed = {name.partition("[")[0] for name in cell["failures"]}
                self.assertRegex(log, f"kernel report: .*({fault.report})")
                if fault.after == SHOW:
                    self.assertEqual(failed, SHOWN_BY if fault.every else SHOWN_BY & failed)
                self.assertTrue(failed and all(name.startswith(f"{fault.suite}.") for name in failed), failed)
                self.assertGreater(cell["passed"], 0)


if __name__ == "__main__":
    unittest.main()
