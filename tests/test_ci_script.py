# SPDX-License-Identifier: GPL-2.0
"""ci/run-swap-kunit-tests.sh, as a CI calls it."""
from __future__ import annotations

import json
import os
import subprocess
import unittest
from pathlib import Path

from .support import REPO, Scratch, make_kernel, write


class CiScript(Scratch):
    """On the miniature kernel."""

    def script(self, **settings: str | Path) -> tuple[int, list[str]]:
        """Status and last line."""
        os.environ["FAKE_SUITES"] = json.dumps({"swap_a": ["pass_1", "pass_2", "fail_3"]})
        env = {**os.environ, "O": str(self.top / "out"), **{name: str(text) for name, text in settings.items()}}
        done = subprocess.run([REPO / "ci/run-swap-kunit-tests.sh"], env=env, capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout.splitlines()[-1]

    def test_tick_or_cross(self) -> None:
        kernel = make_kernel(self.top / "linux")
        self.assertEqual(self.script(LINUX_DIR=kernel, FILTER="swap_a.pass*"),
                         (0, "✓ Swap KUnit tests: 2 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.script(LINUX_DIR=kernel), (1, "✗ Swap KUnit tests failed"))
        self.assertEqual(self.script(LINUX_DIR=self.top), (2, "✗ Swap KUnit tests did not run"))
        write(kernel / "mm/swapfile.c", "BROKEN\n")
        self.assertEqual(self.script(LINUX_DIR=kernel),
                         (125, "✗ Kernel for the swap KUnit tests does not build or boot"))


if __name__ == "__main__":
    unittest.main()
