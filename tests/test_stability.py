# SPDX-License-Identifier: GPL-2.0
"""Several runs of one build: what differs is named."""
from __future__ import annotations

import ctypes
import json
import os
import subprocess
import tempfile
import unittest
from unittest import mock

from swapkunit.decisions.stability import differing, what_was_seen
from swapkunit.run import uml
from swapkunit.run.results import Report, TestResult
from swapkunit.run.runner import Results

from .support import Scratch, make_kernel, write


class Stability(Scratch):
    """stability on the miniature kernel."""

    def test_what_differs_is_named(self) -> None:
        kernel = make_kernel(self.top / "linux")
        for case, status, last in (("vary_2", 1, "3 runs, 1 of 4 decisions and results differ"),
                                   ("fail_2", 0, "3 runs, 0 of 4 decisions and results differ")):
            os.environ["FAKE_SUITES"] = json.dumps({"swap_a": ["pass_1", case]})
            done = self.program("stability", "--ksrc", kernel, "--out", self.top / "out", "--runs=3")
            self.assertEqual((done.status, done.output.splitlines()[-1]), (status, last), done.output)
            self.assertEqual("differs    decisions of swap_a.vary_2: 3 versions" in done.output, bool(status))
            self.assertEqual(done.output.count("kunit.filter_glob="), 1)
        done = self.program("stability", "--ksrc", kernel, "--out", self.top / "out", "--runs=2", "-v")
        self.assertEqual(done.output.count("kunit.filter_glob="), 2)

    def test_all_that_is_compared(self) -> None:
        def seen(decision: str, status: str) -> dict[str, str]:
            return what_was_seen(Results([], [f"s.a[one two] {{a}} {decision}", "s.a[one two] R0:1"]),
                                 Report([TestResult("s.a[one two]", status)]))
        self.assertEqual(differing([seen("A0:0", "passed"), seen("A0:0", "passed")]), {})
        self.assertEqual(differing([seen("A0:0", "passed"), seen("A0:3", "skipped"), {}]), {
            "decisions of s.a[one two]": ["{a} A0:0 R0:1", "{a} A0:3 R0:1", "(none)"],
            "result of s.a[one two]": ["passed", "skipped", "(none)"]})


class Directories(Scratch):
    """Where UMLs keep their memory."""

    def test_only_those_of_killed_runs_are_removed(self) -> None:
        ours, lock = uml.locked_directory(str(self.top))
        self.addCleanup(os.close, lock)
        killed, gone = uml.locked_directory(str(self.top))
        (self.top / "swap-kunit-uml-link").symlink_to(ours)
        write(self.top / "swap-kunit-b4/file", "")
        write(self.top / f"{killed}/uml/pid", "1")
        os.close(gone)
        for _ in range(2):
            uml.remove_left(str(self.top))
            self.assertEqual(sorted(path.name for path in self.top.iterdir()),
                             sorted([os.path.basename(ours), "swap-kunit-b4", "swap-kunit-uml-link"]))
        with mock.patch("os.getuid", return_value=12345):
            _, other = uml.locked_directory(str(self.top))
            os.close(other)
            uml.remove_left(str(self.top))
        self.assertEqual(len(list(self.top.iterdir())), 4)

    def test_run_removes_what_a_killed_one_left(self) -> None:
        left = write(self.top / "swap-kunit-uml-x/uml/pid", "1").parent.parent
        with mock.patch.object(uml, "SHM", str(self.top)):
            self.assertEqual([uml.memory_directory(1), left.exists()], [str(self.top), False])
            self.assertEqual(uml.memory_directory(1 << 60), tempfile.gettempdir())


class Addresses(unittest.TestCase):
    """A UML's memory depends on the addresses that the host gives it."""

    def personality_of_a_child(self) -> int:
        """What a program sees that is started now."""
        return int(subprocess.check_output(["cat", "/proc/self/personality"]), 16)

    def test_the_same_inside_the_block_only(self) -> None:
        before = self.personality_of_a_child()
        with uml.same_addresses() as allowed:
            self.assertEqual(bool(self.personality_of_a_child() & uml.ADDR_NO_RANDOMIZE), allowed)
        self.assertEqual(self.personality_of_a_child(), before)

    def test_where_it_is_not_allowed(self) -> None:
        with mock.patch.object(ctypes, "CDLL") as libc:
            libc.return_value.personality.side_effect = [0, -1, 0]
            with uml.same_addresses() as allowed:
                self.assertFalse(allowed)


if __name__ == "__main__":
    unittest.main()
