# SPDX-License-Identifier: GPL-2.0
"""A tree that nobody has seen costs the cases that cannot be built on it, and no more.

Slow (one full build and a few incremental ones), so not part of `make test`:

    /usr/bin/python3 -m unittest tests.slow.other_trees
"""
from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import unittest
from typing import Any

from swapkunit.base.layout import REPO
from swapkunit.source import kernels

# In a file of the kernel: text, what stands there on the other tree, and the suites that may lose cases.
RENAMED = (
    ("mm/swapfile.c", "full_clusters", "filled_clusters",
     {"swap_alloc", "swap_alloc_model", "swap_discard", "swap_file", "swap_fixture", "swap_mthp", "swap_mthp_alloc"}),
    ("mm/zswap.c", "zswap_reject_reclaim_fail", "zswap_reject_no_reclaim",
     {"swap_zswap", "swap_zswap_memcg", "swap_zswap_writeback"}),
    ("mm/swapfile.c", "swap_reclaim_full_clusters", "swap_reclaim_filled_clusters",
     {"swap_alloc", "swap_alloc_model", "swap_discard", "swap_mthp_alloc"}),
    ("mm/swapfile.c", "__swap_cache_add_folio", "__swap_cache_insert_folio",
     {path.name.removesuffix("_kunit.c") for path in REPO.glob("kunit/suites/*_kunit.c")} - {"swap_memcg"}),
)


class OtherTrees(unittest.TestCase):
    """The newest kernel, changed; its links lead to the fetched one."""

    def setUp(self) -> None:
        self.kernel = kernels.provide("7").path
        self.top = REPO / "out" / "other-trees"
        self.tree = self.top / "linux"
        shutil.rmtree(self.tree, ignore_errors=True)
        self.top.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-rs", self.kernel, self.tree], check=True)

    def change(self, name: str, before: str, after: str) -> None:
        """Change a file of the tree, and in mm/ all that use or declare what is changed."""
        near = [*self.kernel.glob("mm/*.[ch]"), self.kernel / "include/linux/swap.h"] if name.startswith("mm/") else []
        for path in {self.kernel / name: None, **dict.fromkeys(near)}:
            text = path.read_text()
            path = path.relative_to(self.kernel)
            self.assertTrue(str(path) != name or re.search(before, text), name)
            if not re.search(rf"\b{before}\b", text):
                continue
            (self.tree / path).unlink()
            (self.tree / path).write_text(re.sub(rf"\b{before}\b", after, text))

    def run_suites(self, *words: str) -> tuple[int, dict[str, Any]]:
        """The exit status and summary.json of a run."""
        command = [sys.executable, REPO / "swap-kunit", "run", "-q", "--ksrc", self.tree, "--out", self.top / "run"]
        done = subprocess.run([*command, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        self.assertIn(done.returncode, (0, 1), done.stdout[-4000:])
        return done.returncode, json.loads((self.top / "run/summary.json").read_text())

    def test_other_trees(self) -> None:
        self.change("Makefile", r"PATCHLEVEL = \d+", "PATCHLEVEL = 99")
        status, plain = self.run_suites()
        self.assertEqual((status, plain["failed"], plain["not_built"]), (0, 0, []))
        self.assertGreater(plain["known_bugs"], 0)
        for name, before, after, suites in RENAMED:
            self.change(name, before, after)
            with self.subTest(before):
                status, found = self.run_suites()
                self.assertEqual((status, found["failed"]), (0, 0))
                self.assertLessEqual({case.split(".")[0] for case in found["not_built"]}, suites)
                self.assertTrue(found["not_built"])
                self.assertEqual(self.run_suites("--complete")[0], 1)
            self.change(name, before, before)
        self.assertEqual(self.run_suites()[1]["passed"], plain["passed"])


if __name__ == "__main__":
    unittest.main()
