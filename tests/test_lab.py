# SPDX-License-Identifier: GPL-2.0
"""lab: experiments as files, what a boot prints, and the tables made of it."""
from __future__ import annotations

import re
import unittest
from pathlib import Path
from typing import Any, Sequence

from swapkunit.base.errors import SwapKunitError
from swapkunit.base.kernel import Kernel
from swapkunit.lab import curves, experiment as experiments, figures, page, table
from swapkunit.lab.experiment import Comparison, Experiment, Plan
from swapkunit.lab.measure import Side
from swapkunit.presubmit import experiments as experiments_step
from swapkunit.presubmit.report import NOTE, PASS, WARN, Step

from .support import REPO, Scratch, write

MODELS = {"disk": {"kind": "spindle", "rpm": 7200, "source": "a  data\nsheet"},
          "nvme": {"kind": "flash", "read_ns": 66, "servers": 33},
          "zstd": {"kind": "zswap", "zswap_load_ns": 5}}
PRINTED = ["        # faults: lab: figure elapsed_ns 2000000", "    # faults: lab: figure pswpin 30",
           "    # faults: lab: figure swap_ra 20", "    # faults: lab: figure swap_ra_hit 15",
           "    # faults: lab: figure major_nr 10", "    # faults: lab: figure fault_nr 25",
           "    # faults: lab: figure fault_max_ns 57400000", "    # faults: lab: figure fault_mean_ns 2000000",
           "    # faults: lab: bucket fault 1000 20",
           "    # faults: lab: bucket fault 57000000 5", "    # faults: something else", "    ok 1 faults"]


def described(**more: Any) -> dict[str, Any]:
    """An experiment's file."""
    return {"title": "a title", "device": ["disk"], "side": [{"name": "one"}, {"name": "other"}], **more}


def made(**more: Any) -> Experiment:
    """The experiment of that file."""
    return experiments.made_of("mine", described(**more), MODELS)


def side(name: str, *runs: figures.Measured) -> Side:
    """A measured side."""
    return Side(Plan(name, "swap_lab"), Kernel(Path("/k"), "7.3.4", "a package", given=False),
                dict(enumerate(runs, 1)))


def run(**values: float) -> figures.Measured:
    """One boot with these figures."""
    return figures.Measured(dict(values), {"fault": [(1000, 20), (57000000, 5)]})


class Files(Scratch):
    """What is read from a file, and what is refused."""

    def test_those_of_this_project(self) -> None:
        self.assertGreaterEqual(len(experiments.known()), 7)
        for name in experiments.known():
            one = experiments.load(name)
            self.assertEqual((one.config[0] in ("lab", "fragmentation"), len(one.sides)), (True, 2), name)
            self.assertTrue(one.compare, name)

    def test_the_example_of_the_manual(self) -> None:
        block = (REPO / "docs/lab.rst").read_text().partition("random::\n")[2].partition("\nTo compare")[0]
        path = self.top / "my.toml"
        write(path, re.sub(r"^\t", "", block, flags=re.M))
        one = experiments.load(str(path))
        self.assertEqual([plan.name for plan in one.sides], ["windows of 8 pages", "windows of 32 pages"])
        self.assertIn("swap_lab.page_cluster=5", one.sides[1].args)
        self.assertNotIn("swap_lab.page_cluster=5", one.sides[0].args)

    def test_arguments(self) -> None:
        one = made(device=["disk", "nvme", "zstd"], model={"depth": 32}, workload={"threads": 4, "zswap": True},
                   side=[{"name": "a", "policy": ["free-first"]}, {"name": "b", "workload": {"threads": 8}}])
        first, second = ([arg.removeprefix("swap_lab.") for arg in plan.args] for plan in one.sides)
        self.assertEqual(set(first), {"workload=faults", "threads=4", "zswap=1", "kind=spindle,flash", "rpm=7200,0",
                                      "read_ns=0,66", "servers=0,33", "depth=32,32", "zswap_load_ns=5"})
        self.assertEqual((first[1], second[1], one.sides[0].policies), ("threads=4", "threads=8", ["free-first"]))
        self.assertEqual(one.devices["disk"], "a data sheet")

    def test_fragmentation_is_a_suite_of_its_own(self) -> None:
        one = made(workload={"workload": "fragmentation", "steps": 5}, config=["thp"])
        self.assertEqual((one.sides[0].suite, one.sides[0].args, one.config),
                         ("swap_lab_fragmentation", ["swap_lab_fragmentation.steps=5"], ["fragmentation", "thp"]))

    def test_errors_name_what_was_meant(self) -> None:
        cases: tuple[tuple[dict[str, Any], str], ...] = (
                ({"titel": "x"}, r"unknown key titel; did you mean title\?"),
                ({"side": [{"name": "one"}]}, r"it has 1 \[\[side\]\], and two are compared"),
                ({"side": [{"name": "one", "polcy": []}, {}]}, "unknown key polcy; did you mean policy"),
                ({"side": [{"name": "one", "policy": ["fre-first"]}, {}]}, "free-first"),
                ({"device": ["nvm"]}, "no device 'nvm'; did you mean nvme"),
                ({"device": "nvme"}, r"device must be a list of names"),
                ({"workload": {"thread": 1}}, "unknown key thread; did you mean threads"),
                ({"workload": {"pattern": "a b"}}, "pattern = 'a b' must be a number"),
                ({"workload": {"threads": -1}}, "threads = -1 must be a number"),
                ({"model": {"dept": 1}}, "unknown key dept; did you mean depth"),
                ({"config": ["tph"]}, "did you mean thp"),
                ({"seeds": [0]}, "seeds must be positive"),
                ({"compare": [{"figure": "x", "expect": "les"}]}, "neither \"more\" nor \"less\""),
                ({"compare": [{"name": "x"}]}, "has no figure"),
                ({"compare": [{"figure": "x", "published": [1]}]}, "published must be the figures of both sides"))
        for more, message in cases:
            with self.subTest(more), self.assertRaisesRegex(SwapKunitError, message):
                made(**more)

    def test_unknown_experiment(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, "no experiment 'congestoin'; did you mean congestion"):
            experiments.load("congestoin")
        with self.assertRaisesRegex(SwapKunitError, "no experiment /nowhere.toml: there is no such file"):
            experiments.load("/nowhere.toml")
        write(self.top / "bad.toml", "title = \n")
        with self.assertRaisesRegex(SwapKunitError, "cannot read the experiment .*docs/lab.rst"):
            experiments.load(str(self.top / "bad.toml"))

    def test_program(self) -> None:
        done = self.program("lab", "congestoin")
        self.assertEqual(done.status, 2, done.output)
        self.assertIn("did you mean congestion?", done.output)


class Printed(unittest.TestCase):
    """Rows, and what follows from them."""

    def test_rows(self) -> None:
        measured = figures.parse(PRINTED)
        self.assertEqual(len(measured.rows), 10)
        self.assertEqual(measured.buckets, {"fault": [(1000, 20), (57000000, 5)]})
        self.assertEqual([measured.figures[name] for name in (
            "elapsed_ms", "fault_max_ms", "wasted", "reads_per_fault", "swapin_kbps")], [2, 57.4, 5, 3, 50000])

    def test_fallbacks(self) -> None:
        measured = figures.parse(["lab: figure a_o4_swpout 30", "lab: figure a_o4_fallback 10"])
        self.assertEqual(measured.figures["a_o4_fallback_rate"], 0.25)

    def test_unknown_figure(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, "does not measure fault_maxx_ms; did you mean fault_max_ms"):
            figures.values([figures.parse(PRINTED)], "fault_maxx_ms")

    def test_histograms_are_summed(self) -> None:
        self.assertEqual(figures.histogram([run(), run()], "fault"), [(1000, 40), (57000000, 10)])


class Tables(unittest.TestCase):
    """Both sides next to the published figures."""

    compare = [Comparison("fault_max_ms", "worst fault, ms", "less", (57.4, 9.9), "a mail", "another disk"),
               Comparison("wasted", "wasted")]
    one = Experiment("mine", "a title", "about it", ["lab"], [1, 2, 3], [], compare, {"disk": "a data sheet"})

    def sides(self, *second: float) -> list[Side]:
        """A first side with a median of 50, and a second one."""
        return [side("before", *(run(fault_max_ms=value, wasted=7) for value in (50, 40, 60))),
                side("after", *(run(fault_max_ms=value, wasted=7) for value in second))]

    def test_medians_spread_and_ratios(self) -> None:
        text = table.text(self.one, self.sides(5, 10, 20))
        self.assertRegex(text, r"worst fault, ms +50 \(40 to 60\) +10 \(5 to 20\) +x0\.2 +57\.4 +9\.9 +x0\.172 +"
                               "as expected")
        self.assertRegex(text, r"wasted +7 +7 +x1 +- +- +-\n")
        self.assertIn("worst fault, ms: a mail; another disk", text)
        self.assertIn("disk: a data sheet", text)
        self.assertEqual(table.wrong(self.one, self.sides(5, 10, 20)), [])

    def test_another_direction_is_wrong(self) -> None:
        self.assertEqual(table.wrong(self.one, self.sides(50, 50, 50)),
                         ["worst fault, ms: 50 and 50, less expected of the second side"])
        self.assertIn("NOT as expected: less", table.text(self.one, self.sides(50, 51, 52)))

    def test_repetitions_that_differ_are_wrong(self) -> None:
        sides = self.sides(1, 1, 1)
        sides[0].changed = [2, 3]
        self.assertEqual(table.wrong(self.one, sides), ["before: not the same each time with seed 2, 3"])

    def test_page(self) -> None:
        text = page.render([(self.one, self.sides(50, 50, 50))])
        self.assertEqual(text.count("<svg"), 2)
        self.assertIn("NOT as expected", text)
        self.assertNotIn("http", text)

    def test_curves(self) -> None:
        self.assertEqual(curves.cumulative([(1, 1), (10, 3)]), [(1, 0.25), (10, 1.0)])
        self.assertEqual(curves.bars([(1, 1), (2, 3)]), {0: 1, 4: 3})
        self.assertEqual(curves.time_text(1e5), "100 us")


class Presubmit(unittest.TestCase):
    """The base and a series, measured with the settings of both sides."""

    compare = [Comparison("fault_max_ms", "worst fault, ms", better="less"), Comparison("wasted", "wasted"),
               Comparison("swapin_kbps", "throughput", better="more")]

    def step(self, old: Sequence[float], new: Sequence[float]) -> Step:
        """The step for these worst faults; all other figures are the same."""
        one = Experiment("mine", "a title", "", ["lab"], [1, 2], [], self.compare, {})
        base, series = (side("x", *(run(fault_max_ms=value, wasted=7, swapin_kbps=1) for value in values))
                        for values in (old, new))
        return experiments_step.judged(one, [(base, series)])

    def test_same(self) -> None:
        step = self.step([50, 60], [50, 60])
        self.assertEqual((step.name, step.status, step.summary, step.cell),
                         ("lab mine", PASS, "the same figures (3)", "same"))

    def test_better_is_a_note_and_worse_with_every_seed_a_warning(self) -> None:
        for new, status in (([10, 20], NOTE), ([40, 70], NOTE), ([70, 80], WARN)):
            self.assertEqual(self.step([50, 60], new).status, status, new)
        self.assertEqual(self.step([50, 60], [10, 20]).summary,
                         "worst fault, ms: 55 (50 to 60) -> 15 (10 to 20), x0.273")

    def test_settings(self) -> None:
        one = made(side=[{"name": "a", "policy": ["free-first"]}, {"name": "b"}])
        self.assertEqual([(plan.name, plan.policies) for plan in experiments_step.settings(one)], [("a", [])])
        one = made(side=[{"name": "a"}, {"name": "b", "workload": {"threads": 8}}])
        self.assertEqual([plan.name for plan in experiments_step.settings(one)], ["a", "b"])


if __name__ == "__main__":
    unittest.main()
