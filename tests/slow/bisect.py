# SPDX-License-Identifier: GPL-2.0
"""git bisect run finds a planted fault in an artificial history, and skips commits that do not build.

Slow (one full build and a few incremental ones), so not part of `make test`:

    /usr/bin/python3 -m unittest tests.slow.bisect
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import unittest

from swapkunit.base import layout
from swapkunit.source import kernels

from ..support import git

COMMITS = 12
FAULT = 8           # the commit with the fault
BROKEN = (6, 9)     # commits that do not build
SUITE = "swap_swapon.*"


class Bisect(unittest.TestCase):
    """A history of mm/ in a tree of symbolic links to the newest kernel."""

    def setUp(self) -> None:
        kernel = kernels.provide("7")
        self.top = layout.REPO / "out" / "bisect"
        self.tree = self.top / "linux"
        shutil.rmtree(self.tree, ignore_errors=True)
        self.top.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-rs", kernel.path, self.tree], check=True)
        shutil.rmtree(self.tree / "mm")
        shutil.copytree(kernel.path / "mm", self.tree / "mm", symlinks=True)
        (self.tree / ".git").unlink(missing_ok=True)

    def edit(self, pattern: str, replacement: str) -> None:
        """Change mm/swapfile.c in one place."""
        path = self.tree / "mm/swapfile.c"
        text, times = re.subn(pattern, replacement, path.read_text(), count=1, flags=re.S)
        self.assertEqual(times, 1, pattern)
        path.write_text(text)

    def make_history(self) -> list[str]:
        """Commit 0 is the released kernel; returns all, oldest first."""
        git(self.tree, "init", "-q", "-b", "master")
        git(self.tree, "add", "-f", "mm")
        git(self.tree, "commit", "-qm", "base")
        for number in range(1, COMMITS + 1):
            self.edit(r"\Z", f"/* commit {number} */\n")
            if number in BROKEN:
                self.edit(r"\Z", "no such type;\n")
            elif number - 1 in BROKEN:
                self.edit(r"no such type;\n", "")
            if number == FAULT:
                # A refused swapon leaks its clusters.
                self.edit(r"(\nstatic int setup_swap_clusters_info.*?)"
                          r"free_swap_cluster_info\(cluster_info, maxpages\);", r"\1")
            git(self.tree, "commit", "-qam", f"mm: commit {number}")
        return git(self.tree, "rev-list", "--reverse", "master").split()

    def test_planted_fault_is_found(self) -> None:
        commits = self.make_history()
        git(self.tree, "bisect", "start", commits[-1], commits[0])
        command = [layout.REPO / "swap-kunit", "run", "--quiet", "--ksrc", ".", "--out", self.top / "build",
                   "--filter", SUITE]
        done = subprocess.run(["git", "bisect", "run", *command], cwd=self.tree, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env={**os.environ, "LC_ALL": "C"})
        steps = re.findall(r"(?m)^(Bisecting: .*|\d+ passed, .*|swap-kunit: .*|.* is the first bad commit)$",
                           done.stdout)
        print("\n".join(steps), flush=True)
        self.assertIn(f"{commits[FAULT]} is the first bad commit", done.stdout, done.stdout[-3000:])


if __name__ == "__main__":
    unittest.main()
