# SPDX-License-Identifier: GPL-2.0
"""bench-fragmentation: what the workload prints, and the tables made of it."""
from __future__ import annotations

import argparse
import contextlib
import csv
import io
import unittest
from pathlib import Path

from swapkunit.build.fit import LeftOut
from swapkunit.decisions import fragmentation as bench
from swapkunit.run import runner
from swapkunit.cli.options import positive
from swapkunit.decisions.fragmentation import BenchmarkFailed, Column
from swapkunit.decisions.sides import Side, Wanted
from swapkunit.base.errors import SwapKunitError
from swapkunit.base.kernel import Kernel
from swapkunit.run.console import Case, Suite
from swapkunit.run.runner import Results


PRINTED = [
    "        # large_folios_find_slots: fragmentation: 64 kB, tight: order 0: swpout 900 fallback 0",
    "        # large_folios_find_slots: fragmentation: 64 kB, tight: order 4: swpout 150 fallback 50",
    "        # large_folios_find_slots: fragmentation: 64 kB, tight: pages 1000 peak 975 started 12 full 3",
    "        ok 1 64 kB, tight",
    "        # large_folios_find_slots: fragmentation: 64 kB, tight, discard: order 4: swpout 190 fallback 10",
    "        ok 4 64 kB, tight, discard",
    "    ok 1 large_folios_find_slots",
]


def side(*policies: str) -> Side:
    """A located side."""
    kernel = Kernel(Path("/k"), "7.3.4", "a package", given=False)
    return Side(Wanted("kernel", "7.3", None, "7.3", list(policies)), kernel, Path("/out"))


def results(*lines: str) -> Results:
    """The results of one UML that printed lines."""
    return Results([Suite(bench.SUITE, [], [Case(bench.SUITE, "large_folios_find_slots", list(lines))])], [])


class Printed(unittest.TestCase):
    """Parsing the console."""

    def test_columns(self) -> None:
        discard, plain = bench.columns(side(), results(*PRINTED))
        self.assertEqual((plain.title, discard.title), ("7.3.4", "7.3.4, discard"))
        self.assertEqual(plain.counts, {("64 kB, tight", 0): (900, 0), ("64 kB, tight", 4): (150, 50)})
        self.assertEqual(discard.counts, {("64 kB, tight", 4): (190, 10)})
        self.assertEqual(plain.totals["64 kB, tight"],
                         "12 compilers, at most 97.5% of the slots in use, none left 3 times")

    def test_policies_are_in_the_name(self) -> None:
        self.assertEqual(bench.columns(side("free-first"), results(*PRINTED))[0].name, "7.3.4+free-first")

    def test_failed_or_empty_runs_are_no_numbers(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()), \
                self.assertRaisesRegex(BenchmarkFailed, "the benchmark failed as shown above"):
            bench.columns(side(), results(*PRINTED[:-1], "    not ok 1 large_folios_find_slots"))
        with self.assertRaisesRegex(SwapKunitError, "no cluster lists by order"):
            bench.columns(side(), results("    ok 1 large_folios_find_slots # SKIP"))


class Tables(unittest.TestCase):
    """Tables on the terminal and in files."""

    def setUp(self) -> None:
        key = ("64 kB, tight", 4)
        self.columns = [Column("6.12.1", "6.12.1", counts={key: (600, 400)}),
                        Column("7.3.4", "7.3.4", counts={key: (900, 100)})]

    def test_side_by_side(self) -> None:
        text = bench.table(self.columns, "head")
        self.assertRegex(text, r"64 kB +600 +400 +40\.0% +900 +100 +10\.0% +4\.0 +2\.5")
        self.assertTrue(text.endswith(bench.NOTE))

    def test_totals_once_where_they_are_the_same(self) -> None:
        for column, text in zip(self.columns, ("same", "same")):
            column.totals["64 kB, tight"] = text
        self.assertEqual(bench.totals(self.columns, "64 kB, tight"), "same")
        self.columns[1].totals["64 kB, tight"] = "other"
        self.assertEqual(bench.totals(self.columns, "64 kB, tight"), "6.12.1: same; 7.3.4: other")

    def test_no_fallback_left(self) -> None:
        self.assertEqual(bench.factor((5, 7), (5, 0)), "7:0")
        self.assertEqual(bench.factor((5, 0), (5, 0)), "-")

    def test_csv(self) -> None:
        rows = list(csv.DictReader(io.StringIO(bench.as_csv(self.columns))))
        self.assertEqual([(row["kernel"], row["size_kb"], row["swpout_fallback"]) for row in rows],
                         [("6.12.1", "64", "400"), ("7.3.4", "64", "100")])


class Options(unittest.TestCase):
    """Values that are refused."""

    def test_numbers_that_the_kernel_would_ignore(self) -> None:
        self.assertEqual(positive("4294967295"), 4294967295)
        for text in ("0", "-1", "x", "4294967296"):
            with self.assertRaisesRegex(argparse.ArgumentTypeError, "positive integer below 4294967296"):
                positive(text)


class Selected(unittest.TestCase):
    """When the benchmark runs."""

    CASES = ["swap_alloc.a", f"{bench.SUITE}.large_folios_find_slots"]

    def test_not_in_a_plain_run(self) -> None:
        self.assertEqual(runner.select(self.CASES, [], LeftOut()), self.CASES[:1])
        self.assertEqual(runner.select(self.CASES, [bench.SUITE], LeftOut()), self.CASES[1:])


if __name__ == "__main__":
    unittest.main()
