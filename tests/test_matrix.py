# SPDX-License-Identifier: GPL-2.0
"""Kernels x configs: rows, totals, exit statuses, ^C."""
from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

from swapkunit.run import matrix, results
from swapkunit.base.errors import SwapKunitError
from swapkunit.base.kernel import Kernel
from swapkunit.run.matrix import Cell

from .support import MAKEFILE, REPO, Scratch, make_kernel, processes_with, write


class Plan(unittest.TestCase):
    """The cells."""

    def names(self, *args: object) -> list[str]:
        """kernel config of each cell."""
        return [f"{cell.asked} {cell.config_name}" for cell in matrix.plan(*args)]

    def test_default_is_all_known_kernels_plain(self) -> None:
        self.assertEqual(self.names([], [], None), ["7 plain", "7.2 plain", "6.12 plain", "6.1 plain", "5.10 plain"])

    def test_kernels_times_configs(self) -> None:
        self.assertEqual(self.names(["7", "6.1"], ["plain", "kasan+smp"], None),
                         ["7 plain", "7 kasan+smp", "6.1 plain", "6.1 kasan+smp"])

    def test_trees(self) -> None:
        cells = matrix.plan(["7", "~/linux", "../x"], [], Path("mine"))
        self.assertEqual([cell.asked for cell in cells],
                         [Path("mine"), "7", Path.home() / "linux", Path("../x")])
        self.assertEqual(self.names([], [], Path("mine")), ["mine plain"])

    def test_unknown_fragment_is_wrong_use_at_once(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, "no Kconfig fragment 'nothing'"):
            matrix.plan(["7"], ["plain", "nothing"], None)

    def test_as_many_at_a_time_as_there_is_room(self) -> None:
        plenty = 64 << 30
        self.assertEqual(matrix.at_once(8, 2, plenty), (1, 2))
        self.assertEqual(matrix.at_once(8, 16, plenty), (4, 4))
        self.assertEqual(matrix.at_once(2, 16, plenty), (2, 8))
        self.assertEqual(matrix.at_once(8, 16, 5 << 30), (2, 8))
        self.assertEqual(matrix.at_once(0, 16, 0), (1, 16))
        self.assertGreater(matrix.available_memory(), 0)


class Table(unittest.TestCase):
    """The table."""

    def test_rows(self) -> None:
        kernel = Kernel(Path("/k"), "7.3.4", "here", False)
        good = Cell("7", [], kernel, seconds=12.34, state="good",
                    summary={"passed": 190, "failed": 0, "skipped": 7, "known_bugs": 5, "failures": []})
        bad = Cell("6.12", ["kasan", "smp"], seconds=1, state="does not build or boot", status=125, why="no vmlinux")
        lines = matrix.table([good, bad, Cell("6.1", [])]).splitlines()
        self.assertEqual([re.split(r"  +", line) for line in lines[:4]], [
            ["kernel", "config", "passed", "failed", "known bugs", "skipped", "time"],
            ["7.3.4", "plain", "190", "0", "5", "7", "12.3 s"],
            ["6.12", "kasan+smp", "-", "-", "-", "-", "1.0 s", "does not build or boot"],
            ["6.1", "plain", "-", "-", "-", "-", "-", "not run"]])
        self.assertEqual(lines[-1], "6.12 kasan+smp: no vmlinux")

    def test_a_cell_without_numbers_counts_as_one_failure(self) -> None:
        cell = Cell("7", [])
        self.assertEqual(cell.count(results.FAIL), 0)
        cell.end(125, "no vmlinux")
        self.assertEqual((cell.count(results.PASS), cell.count(results.FAIL)), (0, 1))


class Running(Scratch):
    """./swap-kunit matrix on miniature kernels."""

    def setUp(self) -> None:
        super().setUp()
        self.one, self.two = make_kernel(self.top / "one"), make_kernel(self.top / "two")
        os.environ["FAKE_SUITES"] = json.dumps({"swap_a": ["pass_1", "skip_2"]})
        self.out = self.top / "out"

    def matrix(self, *words: str | Path) -> tuple[int, list[str]]:
        """The exit status and output lines of a matrix of both kernels."""
        done = self.program("matrix", "--kernels", f"{self.one},{self.two}", "--out", self.out, *words)
        return done.status, done.output.splitlines()

    def cells(self) -> dict[str, dict]:
        """matrix.json by kernel directory and config."""
        cells = json.loads((self.out / "matrix.json").read_text())["cells"]
        return {f"{Path(cell['kernel']).name} {cell['config']}": cell for cell in cells}

    def test_all_good_and_nothing_built_twice(self) -> None:
        fragment = write(self.top / "net.config", "CONFIG_NET=y\n")
        for _ in range(2):
            status, lines = self.matrix("--configs", f"plain,{fragment}")
            self.assertEqual((status, lines[-1]), (0, "4 passed, 0 failed, 4 skipped"), lines)
            rows = [line for line in lines if line.startswith("7.3.4 ") and ":" not in line]
            self.assertEqual(len(rows), 4, lines)
            self.assertEqual(sum(line.startswith("$ ") for line in lines), 4)
        log = next(self.out.glob("one-*/default/run.log")).read_text()
        self.assertEqual(log.splitlines()[-1], "1 passed, 0 failed, 1 skipped")
        configured = [path.read_text() for path in self.out.glob("*/*/build/configured")]
        self.assertEqual(configured, ["once\n"] * 4)
        self.assertEqual({name: cell["state"] for name, cell in self.cells().items()}, {
            "one plain": "good", f"one {fragment}": "good", "two plain": "good", f"two {fragment}": "good"})

    def test_a_cell_that_does_not_build_is_a_row(self) -> None:
        write(self.one / "mm/swapfile.c", "BROKEN\n")
        os.environ["FAKE_SUITES"] = json.dumps({"swap_a": ["pass_1", "fail_2"]})
        status, lines = self.matrix()
        self.assertEqual((status, lines[-1]), (125, "1 passed, 2 failed, 0 skipped"), lines)
        cells = self.cells()
        self.assertEqual((cells["one plain"]["status"], cells["two plain"]["status"]), (125, 1))
        self.assertIn("does not build", cells["one plain"]["why"])
        self.assertEqual(cells["two plain"]["failures"], ["swap_a.fail_2"])
        self.assertIn("7.3.4 two plain: failed swap_a.fail_2", lines)

    def test_an_old_result_is_not_taken_for_a_new_one(self) -> None:
        self.assertEqual(self.matrix()[0], 0)
        write(self.one / "mm/swapfile.c", "BROKEN\n")
        self.assertEqual(self.matrix()[1][-1], "1 passed, 1 failed, 1 skipped")
        self.assertNotIn("passed", self.cells()["one plain"])

    def test_kernels_that_are_named_are_all_needed(self) -> None:
        for words, text in ((["--ksrc", self.top / "nowhere"], "there is no such directory"),
                            (["--kernels", "7,6.x"], "'6.x' is not a kernel version; did you mean 6?")):
            status, lines = self.matrix(*words)
            self.assertEqual((status, len(lines)), (2, 1), lines)
            self.assertIn(text, lines[0])
        self.assertFalse(self.out.exists())

    def test_a_known_kernel_that_is_gone_is_a_row(self) -> None:
        cells = [Cell("7", []), Cell("6.1", [])]
        with mock.patch("swapkunit.source.kernels.provide", side_effect=SwapKunitError("no longer served")), \
                contextlib.redirect_stderr(io.StringIO()):
            matrix.find_kernels(cells, self.out, every=False)
            self.assertEqual([(cell.state, cell.why) for cell in cells], [("no kernel", "no longer served")] * 2)
            with self.assertRaisesRegex(SwapKunitError, "no longer served"):
                matrix.find_kernels(cells, self.out, every=True)

    def test_fetched_kernels_are_named_exactly(self) -> None:
        make_kernel(self.top / "cache/kernels/linux-source-7.3_7.3.4-1~bpo1")
        make_kernel(self.top / "cache/kernels/linux-source-6.18_6.18.9-1",
                    Makefile=MAKEFILE.replace("= 7", "= 6").replace("= 3", "= 18").replace("= 4", "= 9"))
        done = self.program("matrix", "--kernels", "6.18,7,7.3", "--out", self.out)
        self.assertIn("--kernel 7.3.4-1~bpo1", done.output.replace("'", ""))
        self.assertIn("7.3 and 7 are the same kernel", done.output)
        self.assertEqual([(cell["version"], cell["status"]) for cell in self.cells().values()],
                         [("6.18.9", 0), ("7.3.4", 1)], done.output)
        self.assertTrue((self.out / "6.18/default/results.json").exists())

    def test_two_kernels_of_one_series_are_not_mixed(self) -> None:
        for version in ("7.3.4-1", "7.3.9-1"):
            make_kernel(self.top / f"cache/kernels/linux-source-7.3_{version}")
        self.program("matrix", "--kernels", "7.3.4,7.3.9", "--out", self.out)
        self.assertEqual([cell["status"] for cell in self.cells().values()], [1, 2])
        self.assertIn("give one kernel of a series at a time", self.cells()["7.3.9 plain"]["why"])

    def test_one_kernel_named_twice_is_run_once(self) -> None:
        status, lines = self.matrix("--ksrc", self.two)
        self.assertEqual((status, len(self.cells())), (0, 2), lines)

    def test_stopped_keeps_what_is_done(self) -> None:
        write(self.two / "Makefile", (self.two / "Makefile").read_text().replace(
            "\t@echo vmlinux", "\t@touch building; sleep 100\n\t@echo vmlinux"))
        process = subprocess.Popen([sys.executable, REPO / "swap-kunit", "matrix", "--kernels",
                                    f"{self.one},{self.two}", "--out", self.out, "-j1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        deadline = time.monotonic() + 30
        while not list(self.out.glob("two-*/default/tree/building")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=30)[0]
        lines = output.splitlines()
        self.assertEqual((process.returncode, lines[-1]), (130, "1 passed, 0 failed, 1 skipped"), output)
        self.assertIn("stopped    before the end: 1 of 2 cells", output)
        self.assertEqual([cell["state"] for cell in self.cells().values()], ["good", "stopped"])
        self.assertEqual([pid for pid in processes_with(self.top.name) if pid != os.getpid()], [])

    def test_make(self) -> None:
        done = subprocess.run(["make", "-sC", REPO, "matrix", f"KERNELS={self.one}", "CONFIGS=plain",
                               f"KSRC={self.two}", f"O={self.out}", "FILTER=swap_a.pass*", "J=1"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], "2 passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    unittest.main()
