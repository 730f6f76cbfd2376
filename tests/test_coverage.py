# SPDX-License-Identifier: GPL-2.0
"""Coverage: merging and reading the counters of small programs, figures, floors, covers, lcov 1 and 2."""
from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from swapkunit.base import deps
from swapkunit.base.errors import SwapKunitError
from swapkunit.cli.main import main
from swapkunit.cli.verbs.coverage import is_standard
from swapkunit.coverage import counters, covers, figures, floors, lcov
from swapkunit.coverage.counters import FileCounts, Tools, watched_name
from swapkunit.coverage.figures import Gap, Ratio
from swapkunit.coverage.places import Places, counter_directory, forget, keep_notes, pack
from swapkunit.run.session import Request

from .support import REPO, Scratch, write

HEADER = """\
/* swap.h */
static inline __attribute__((always_inline)) int low(int slot)
{
\treturn slot ? 1 : 7;
}
"""
SOURCE = """\
#include "swap.h"

/* only for high slots */
static int high(int slot)
{
\treturn slot * 3;
}

int never(void)
{
\treturn 1;
}

int take(int slot)
{
\tif (slot > 2)
\t\treturn high(slot);
\treturn low(slot);
}
"""
WRAPPER = '#include "swapfile_real.c"\n\n\n\nint ours(void)\n{\n\treturn 1;\n}\n'
MAIN = """\
#include <stdlib.h>
int take(int slot);
int main(int argc, char **argv)
{
\twhile (--argc)
\t\ttake(atoi(argv[argc]));
\treturn 0;
}
"""
CASES = {"boot": ["0"], "swap_a.low": ["1", "1"], "swap_a.high[ssd+discard]": ["5"], "swap_b.low": ["1"]}


class Counted(Scratch):
    """A miniature overlay, compiled with counters, after a run of CASES."""

    def setUp(self) -> None:
        super().setUp()
        self.source = self.top / "my tree"
        self.places = Places(self.top / "out/coverage")
        self.raw = self.top / "raw"
        write(self.source / "mm/swapfile.c", SOURCE)
        write(self.source / "mm/swap.h", HEADER)
        self.build()
        for case, slots in CASES.items():
            self.run_case(case, *slots)
        keep_notes(self.places, self.top / "build/mm")

    def build(self, *maps: str) -> None:
        """Compile the wrapper as the kernel's makefile does."""
        tree = self.top / "tree"
        write(tree / "mm/swapfile.c", WRAPPER)
        write(tree / "main.c", MAIN)
        for name, real in (("swapfile_real.c", "swapfile.c"), ("swap.h", "swap.h")):
            (tree / "mm" / name).symlink_to(self.source / "mm" / real)
        (self.top / "build/mm").mkdir(parents=True)
        maps = maps or ("-ffile-prefix-map=mm/swapfile.c=mm/kunit/swapfile_access.c",
                        "-ffile-prefix-map=mm/swapfile_real.c=mm/swapfile.c")
        self.compile(tree, "--coverage", *maps, "-c", "mm/swapfile.c", "-o", "../build/mm/swapfile.o")
        self.compile(tree, "-c", "main.c", "-o", "../build/main.o")
        self.compile(tree, "../build/main.o", "../build/mm/swapfile.o", "--coverage", "-o", "../build/program")

    @staticmethod
    def compile(cwd: Path, *words: str) -> None:
        """Run gcc -O2."""
        subprocess.run(["gcc", "-O2", *words], cwd=cwd, check=True)

    def run_case(self, case: str, *slots: str) -> None:
        """Run the program; it writes its counters where the kernel would."""
        env = {**os.environ, "GCOV_PREFIX": str(self.raw / case), "GCOV_PREFIX_STRIP": "99"}
        subprocess.run([self.top / "build/program", *slots], env=env, check=True)

    def collect(self) -> dict[str, counters.Counts]:
        """The counts of each suite."""
        return figures.collect(self.raw, self.places.notes, self.source, Tools(), 2)

    def write_report(self) -> covers.Run:
        """Write coverage.json, and open the run."""
        suites = self.collect()
        report = figures.to_json(figures.total_of(suites), suites, "7.3.4", self.source, [])
        pack(self.raw, self.places.cases)
        self.places.json.write_text(json.dumps(report))
        return covers.open_run(self.places, "make coverage")


class MergingTest(Counted):
    """From raw counters to counts."""

    def test_counters_of_a_suite_are_added_up(self) -> None:
        suites = self.collect()
        self.assertEqual(sorted(suites), ["boot", "swap_a", "swap_b"])
        swapfile = suites["swap_a"]["mm/swapfile.c"]
        self.assertEqual(swapfile.lines[16], 3)     # if (slot > 2): twice low, once high
        self.assertEqual(swapfile.lines[17], 1)
        self.assertEqual(sorted(swapfile.branches[16]), [1, 2])
        self.assertEqual(swapfile.functions["take"], [14, 19, 3])
        self.assertEqual(suites["swap_b"]["mm/swapfile.c"].lines[16], 1)
        self.assertEqual(sorted(path.name for path in self.raw.iterdir()), sorted(CASES))

    def test_all_suites_together_and_only_watched_files(self) -> None:
        total = figures.total_of(self.collect())
        self.assertEqual(list(total), ["mm/swapfile.c", "mm/swap.h"])
        self.assertEqual(total["mm/swapfile.c"].lines[16], 5)
        self.assertEqual(set(total["mm/swapfile.c"].functions), {"high", "never", "take"})

    def test_a_compiler_that_does_not_map_names_gives_the_same(self) -> None:
        mapped = figures.total_of(self.collect())
        for name in ("tree", "build", "raw"):
            shutil.rmtree(self.top / name)
        self.build("-DUNMAPPED")
        self.run_case("swap_a.low", "1")
        keep_notes(self.places, self.top / "build/mm")
        found = figures.total_of(self.collect())
        for name, counts in mapped.items():
            self.assertEqual(set(found[name].lines), set(counts.lines))
            self.assertEqual(set(found[name].functions), set(counts.functions))

    def test_functions_inlined_everywhere_are_counted_by_their_lines(self) -> None:
        header = figures.total_of(self.collect())["mm/swap.h"]
        self.assertEqual(header.functions["low"], [2, 5, 4])
        self.assertEqual(header.function_at(4), "low")

    def test_no_counters_is_an_error_that_says_where_to_look(self) -> None:
        shutil.rmtree(self.raw)
        self.run_case("boot", "1")
        with self.assertRaisesRegex(figures.NoCounters, "no case wrote counters; the consoles"):
            self.collect()

    def test_build_without_counters_names_the_command(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, "not built for coverage; run `swap-kunit coverage`"):
            keep_notes(self.places, self.top / "tree/mm")

    def test_notes_of_another_build_are_refused(self) -> None:
        write(self.source / "mm/swapfile.c", SOURCE.replace("slot * 3", "slot > 8 ? slot : 2"))
        for name in ("tree", "build"):
            shutil.rmtree(self.top / name)
        self.build()
        keep_notes(self.places, self.top / "build/mm")
        with self.assertRaisesRegex(SwapKunitError, "mismatch.*run `swap-kunit coverage` again"):
            self.collect()


class NameTest(unittest.TestCase):
    """Names of files in gcov's output."""

    def test_names(self) -> None:
        for name, wanted in (("mm/swapfile.c", "mm/swapfile.c"), ("../mm/swap.h", "mm/swap.h"),
                             ("/a b/out/tree/mm/zswap_real.c", "mm/zswap.c"),
                             ("mm/kunit/swapfile_access.c", None), ("../include/linux/swap.h", None),
                             ("mm/swap_kunit.h", None), ("mm/memory.c", None), ("mm/swapfile.h", None)):
            self.assertEqual(watched_name(name), wanted, name)

    def test_gcov_goes_with_the_compiler(self) -> None:
        for option, wanted in (("CC=gcc-12", "gcov-12"), ("CC=ccache gcc", "gcov"), ("LLVM=1", "gcov"),
                               ("CC=/opt/bin/x86_64-linux-gnu-gcc-14", "x86_64-linux-gnu-gcov-14")):
            self.assertEqual(counters.tools_for([option]).gcov, wanted)
        self.assertEqual(counters.tools_for(["CC=gcc-12"]).gcov_tool, "gcov-tool-12")


class FiguresTest(unittest.TestCase):
    """Table and unreached lines."""

    def setUp(self) -> None:
        self.counts = FileCounts({10: 3, 11: 0, 14: 0, 15: 1, 16: 0, 30: 0, 31: 0},
                                 {"f": [10, 20, 3], "g": [30, 33, 0]}, {10: [1, 2], 15: [0, 1]})

    def test_table(self) -> None:
        rows = figures.table({"mm/swapfile.c": self.counts, "mm/swap.h": FileCounts({1: 1})}).splitlines()
        self.assertRegex(rows[0], r"lines +functions +branches")
        self.assertRegex(rows[1], r"^mm/swapfile.c +2/7 +28.6 % +1/2 +50.0 % +3/4 +75.0 %$")
        self.assertRegex(rows[2], r"^mm/swap.h +1/1 +100.0 % +0/0 +100.0 % +0/0 +100.0 %$")
        self.assertRegex(rows[3], r"^all +3/8 +37.5 % +1/2 ")
        self.assertEqual(Ratio(0, 0).percent, 100.0)

    def test_gaps_span_lines_without_code_but_no_function_or_reached_line(self) -> None:
        self.assertEqual(figures.gaps(self.counts), [Gap(11, 14, 2, "f"), Gap(16, 16, 1, "f"),
                                                      Gap(30, 31, 2, "g")])

    def test_uncovered_is_grouped_by_function(self) -> None:
        text = figures.uncovered({"mm/swapfile.c": self.counts}, Path("/nowhere"))
        self.assertEqual(text.splitlines(), [
            "mm/swapfile.c f(): 3 of 5 lines", "  mm/swapfile.c:11-14", "  mm/swapfile.c:16",
            "mm/swapfile.c g(): 2 of 2 lines (never called)", "  mm/swapfile.c:30-31"])

    def test_function_by_coding_style(self) -> None:
        text = ("int a;\n\nstatic inline bool\nfoo(int x,\n    int y)\n{\n\treturn x;\n}\nEXPORT(foo);\n"
                "int b(void);\n\nstatic struct x *bar(void)\n{\n\n}\n").splitlines()
        self.assertEqual(counters.function_in_source(text, 7), ("foo", 4, 8))
        self.assertEqual(counters.function_in_source(text, 14), ("bar", 12, 15))
        self.assertEqual(counters.function_in_source(text, 1), ("", 0, 0))
        self.assertEqual(counters.function_in_source(text, 10), ("", 0, 0))
        declared = ["int foo(int a,", "\tint b);", "static int bar(void);", "", "struct one {", "\tint x;", "};"]
        self.assertEqual([counters.function_in_source(declared, line)[0] for line in range(1, 8)], [""] * 7)
        self.assertEqual(counters.function_in_source([], 10), ("", 0, 0))

    def test_json_is_machine_readable(self) -> None:
        report = json.loads(json.dumps(figures.to_json({"mm/swapfile.c": self.counts},
                                                        {"boot": {}, "swap_a": {}}, "7.3.4", Path("/k"), ["x"])))
        entry = report["files"]["mm/swapfile.c"]
        self.assertEqual(entry["lines"], {"hit": 2, "total": 7, "percent": 28.57})
        self.assertEqual(entry["uncovered"][1], {"first": 16, "last": 16, "function": "f"})
        self.assertEqual(report["suites"], ["swap_a"])
        self.assertEqual(report["filters"], ["x"])


class FloorsTest(Scratch):
    """coverage/floor.json."""

    def setUp(self) -> None:
        super().setUp()
        self.path = self.top / "coverage/floor.json"

    def test_below_names_file_floor_and_reached(self) -> None:
        known = {"7.3": {"mm/swapfile.c": 85.0, "mm/zswap.c": 40.0, "mm/swap_slots.c": 10.0}}
        self.assertEqual(floors.below(known, "7.3", {"mm/swapfile.c": 84.999, "mm/zswap.c": 40.0}),
                         ["mm/swapfile.c: 85.00 % of its lines are reached; its floor for Linux 7.3 is 85.0 %",
                          "mm/swap_slots.c: not counted, but its floor for Linux 7.3 is 10.0 %"])
        self.assertEqual(floors.below(known, "6.12", {}), [])

    def test_floors_rise_and_never_fall(self) -> None:
        known = {"7.3": {"mm/swapfile.c": 85.0, "mm/zswap.c": 40.0}}
        rose = floors.raise_floors(known, "7.3", {"mm/swapfile.c": 90.55, "mm/zswap.c": 39.0})
        self.assertEqual(known, {"7.3": {"mm/swapfile.c": 90.0, "mm/zswap.c": 40.0}})
        self.assertEqual(rose, ["mm/swapfile.c: floor for Linux 7.3 raised from 85.0 to 90.0 %"])
        self.assertEqual(floors.below(known, "7.3", {"mm/swapfile.c": 90.55, "mm/zswap.c": 40.0}), [])
        floors.raise_floors(known, "6.12", {"mm/zswap.c": 12.34, "mm/swap.h": 0.0})
        self.assertEqual(known["6.12"], {"mm/zswap.c": 11.0})

    def test_kept_in_a_file(self) -> None:
        self.assertEqual(floors.load(self.path), {})
        floors.save({"7.3": {"mm/swapfile.c": 85.0}}, self.path)
        self.assertEqual(floors.load(self.path), {"7.3": {"mm/swapfile.c": 85.0}})

    def test_broken_files_are_named(self) -> None:
        for text in ("{", "[]", '{"7.3": 5}', '{"7.3": {"mm/memory.c": 5}}', '{"7.3": {"mm/zswap.c": "x"}}',
                     '{"7.3": {"mm/zswap.c": 101}}', '{"7.3": {"mm/zswap.c": true}}'):
            write(self.path, text)
            with self.assertRaisesRegex(SwapKunitError, "floor.json.*correct the file"):
                floors.load(self.path)

    def test_the_projects_own_floors_are_good(self) -> None:
        floors.load()


class CoversTest(Counted):
    """Which test reaches a line."""

    def setUp(self) -> None:
        super().setUp()
        self.run_ = self.write_report()

    def ask(self, text: str) -> str:
        """The answer of `covers`."""
        place = covers.parse_place(text, self.run_.report)
        found = covers.index(self.run_, place.file, Tools(), 2)
        return covers.render(covers.answer(self.run_, found, place), len(found.cases) - 1)

    def test_line_names_tests_and_how_often(self) -> None:
        lines = self.ask("mm/swapfile.c:16").splitlines()
        self.assertEqual(lines[0], "mm/swapfile.c:16 in take(): reached 4 times by 3 of 3 tests")
        self.assertEqual(lines[1], "    if (slot > 2)")
        self.assertIn("the most specific comes first", lines[2])
        self.assertEqual([line.split()[:2] for line in lines[3:6]],
                         [["swap_a.low", "2"], ["swap_b.low", "1"], ["swap_a.high[ssd+discard]", "1"]])
        breadth = [int(line.split()[2]) for line in lines[3:6]]
        self.assertTrue(breadth[0] == breadth[1] < breadth[2], breadth)
        self.assertEqual(lines[6], "(and 1 time at boot, before the first test)")

    def test_function_and_short_file_name(self) -> None:
        text = self.ask("swapfile.c:take()")
        self.assertIn("mm/swapfile.c:take() in lines 14 to 19: reached 4 times by 3 of 3 tests", text)
        self.assertIn("mm/swap.h:low() in lines 2 to 5: reached 3 times by 2 of 3", self.ask("mm/swap.h:low"))

    def test_line_no_test_reaches(self) -> None:
        self.assertEqual(self.ask("mm/swapfile.c:11").splitlines()[0],
                         "mm/swapfile.c:11 in never(): not reached by any of 3 tests")

    def test_line_without_code_stands_for_the_next_with_code(self) -> None:
        lines = self.ask("mm/swapfile.c:3").splitlines()
        self.assertRegex(lines[0], r"mm/swapfile.c:3 has no code; the next line with code is [46]$")

    def test_wrong_places(self) -> None:
        for place, message in (("mm/swapfile.c:999", "mm/swapfile.c:999: the file has 19 lines"),
                               ("mm/swapfile.c:0", "swapfile.c:0: the file has"),
                               ("mm/swapfile.c:tak", "did you mean take"),
                               ("mm/swapfile.c:low", "it is in mm/swap.h"),
                               ("mm/swapfile.c:zork", "a function 'zork'.*check its name"),
                               ("mm/memory.c:5", "does not count that file; choose one of mm/swapfile.c, mm/swap.h"),
                               ("mm/zswap.c:5", "does not include that file"), ("17", "not a place in the code"),
                               ("", "not a place in the code"), ("mm/swapfile.c", "not a place in the code")):
            with self.assertRaisesRegex(SwapKunitError, message):
                self.ask(place)

    def test_index_is_kept_until_the_next_run(self) -> None:
        self.ask("mm/swapfile.c:16")
        self.run_case("swap_c.new", "1")
        pack(self.raw, self.places.cases)
        self.assertIn("reached 4 times", self.ask("mm/swapfile.c:16"))
        os.utime(self.places.json, (1, 1))
        self.assertIn("swap_c.new", self.ask("mm/swapfile.c:16"))

    def test_files_of_the_last_run_are_removed(self) -> None:
        self.ask("mm/swapfile.c:16")
        forget(self.places)
        self.assertEqual(list(self.places.top.iterdir()), [])
        with counter_directory(self.places) as raw:
            self.assertEqual(list(raw.iterdir()), [])
        self.assertFalse(raw.exists())

    def test_no_run_names_the_command(self) -> None:
        self.places.cases.unlink()
        with self.assertRaisesRegex(SwapKunitError, "counters .* are gone; .*: make coverage"):
            covers.open_run(self.places, "make coverage")
        self.places.json.write_text("{")
        with self.assertRaisesRegex(SwapKunitError, "no coverage run in .*: make coverage"):
            covers.open_run(self.places, "make coverage")


@unittest.skipUnless(shutil.which("lcov") and shutil.which("genhtml"), "lcov is not installed")
class LcovTest(Counted):
    """Our tracefile compared with lcov's own; pages by the installed genhtml."""

    def records(self, text: str, name: str) -> dict[str, set[str]]:
        """DA and BRDA records of file name, summed over all sections."""
        found: dict[str, dict[str, int]] = {"DA": {}, "BRDA": {}}
        current = ""
        for line in text.splitlines():
            kind, _, rest = line.partition(":")
            if kind == "SF":
                current = rest
            elif kind in found and current.endswith(name):
                key, _, count = rest.rpartition(",") if kind == "BRDA" else rest.partition(",")
                count = count.split(",")[0]
                found[kind][key] = found[kind].get(key, 0) + (int(count) if count != "-" else 0)
        return {kind: {f"{key}={count}" for key, count in values.items()} for kind, values in found.items()}

    def test_tracefile_equals_that_of_lcov(self) -> None:
        suites = self.collect()
        mine = lcov.tracefile(suites, self.source)
        parts = [path for group in counters.counter_dirs(self.raw).values() for path in group]
        counters.merge(parts, self.top / "all", Tools())
        counters.add_notes(self.top / "all", self.places.notes)
        two = lcov.major_version() >= 2
        setting = "branch_coverage=1" if two else "lcov_branch_coverage=1"
        more = ["--ignore-errors", "source,range,gcov,inconsistent"] if two else []
        done = subprocess.run(["geninfo", "--rc", setting, *more, self.top / "all", "-o", self.top / "theirs.info"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        theirs = (self.top / "theirs.info").read_text()
        for name in ("mm/swapfile.c", "mm/swap.h"):
            wanted = self.records(theirs, name)
            self.assertTrue(wanted["DA"])
            self.assertEqual(self.records(mine, name), wanted, name)
        self.assertEqual(re.findall("^TN:(.*)$", mine, re.M)[::2], ["boot", "swap_a", "swap_b"])

    def test_pages_show_the_users_file(self) -> None:
        info, pages = self.top / "coverage.info", self.top / "html"
        suites = self.collect()
        info.write_text(lcov.tracefile(suites, self.source))
        with contextlib.redirect_stdout(io.StringIO()) as stdout:
            lcov.make_pages(info, pages, self.source, "the title")
        lcov.name_suites(pages, {**suites, 'swap_"<c>': suites["swap_b"]})
        self.assertIn("$ genhtml ", stdout.getvalue())
        self.assertIn("the title", (pages / "index.html").read_text())
        page = next(pages.rglob("swapfile.c.gcov.html")).read_text()
        self.assertIn("only for high slots", page)
        self.assertRegex(page, "Branch")
        self.assertRegex(page, 'title="boot 1, swap_a 3, swap_b 1, swap_&quot;&lt;c&gt; 1"> *16 ?</span>')
        self.assertRegex(page, 'class="lineNum"> *11 ?</span>')

    def test_genhtml_that_fails_is_quoted(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()), \
                self.assertRaisesRegex(SwapKunitError, "(?s)genhtml failed: .*its input is "):
            lcov.make_pages(self.top / "none.info", self.top / "html", self.source, "t")


class LcovOptionsTest(Scratch):
    """Differences between lcov 1 and 2."""

    def test_options_by_version(self) -> None:
        one, two = (lcov.genhtml_command(version, Path("i"), Path("t"), Path("s"), "x") for version in (1, 2))
        self.assertIn("lcov_branch_coverage=1", one)
        self.assertNotIn("lcov_branch_coverage=1", two)
        self.assertIn("inconsistent,inconsistent", two)
        self.assertNotIn("inconsistent,inconsistent", one)
        for command in (one, two):
            self.assertIn("--branch-coverage", command)

    def test_version(self) -> None:
        for text, wanted in (("LCOV version 1.16", 1), ("LCOV version 2.3.1-1", 2), ("LCOV version 2.0-1", 2)):
            fake = write(self.top / "genhtml", f"#!/bin/sh\necho 'genhtml: {text}'\n")
            fake.chmod(0o755)
            self.assertEqual(lcov.major_version(str(fake)), wanted)
        write(self.top / "genhtml", "#!/bin/sh\necho broken\n").chmod(0o755)
        with self.assertRaisesRegex(SwapKunitError, "prints no version"):
            lcov.major_version(str(self.top / "genhtml"))

    def test_latest_leads_to_the_last_pages(self) -> None:
        latest = self.top / "coverage/html"
        latest.parent.mkdir()
        for number in ("one", "two"):
            write(self.top / number / "index.html", number)
            self.assertTrue(lcov.point_latest(self.top / number, latest))
            self.assertEqual((latest / "index.html").read_text(), number)
        self.assertFalse(lcov.point_latest(self.top / "one", self.top / "missing/html"))


class VerbTest(Scratch):
    """The verbs, as far as they need no kernel."""

    def call(self, *words: str) -> tuple[int, str]:
        """Exit status and stderr of the program."""
        done = subprocess.run([sys.executable, REPO / "swap-kunit", *words], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr

    def test_covers_before_any_run(self) -> None:
        status, error = self.call("covers", "--out", str(self.top), "mm/swapfile.c:5")
        self.assertEqual(status, 2)
        self.assertRegex(error, "no coverage run in .*; make one with: ./swap-kunit coverage --out ")

    def test_covers_of_a_kernel_never_fetched(self) -> None:
        with mock.patch.dict(os.environ, SWAP_KUNIT_CACHE=str(self.top)):
            status, error = self.call("covers", "--kernel", "6.12", "mm/swapfile.c:5")
        self.assertEqual(status, 2)
        self.assertRegex(error, "6.12 was never fetched.*: ./swap-kunit coverage --kernel 6.12")

    def test_missing_lcov_is_reported_by_deps(self) -> None:
        missing = SwapKunitError("this machine lacks lcov")
        with mock.patch.object(deps, "require", side_effect=missing) as require, \
                contextlib.redirect_stderr(io.StringIO()) as stderr:
            self.assertEqual(main(["coverage"]), 2)
        require.assert_called_once_with(deps.COVERAGE)
        self.assertIn("lacks lcov", stderr.getvalue())

    def test_gcov_of_the_compiler_missing(self) -> None:
        with mock.patch.object(deps, "require"), contextlib.redirect_stderr(io.StringIO()) as stderr:
            self.assertEqual(main(["coverage", "--make-option", "CC=gcc-99"]), 2)
        self.assertIn("gcov-99, which belongs to the compiler, is missing", stderr.getvalue())

    def test_floors_are_for_all_suites_in_the_standard_configuration(self) -> None:
        self.assertTrue(is_standard(Request()))
        self.assertTrue(is_standard(Request(config=["coverage"])))
        for request in (Request(filters=["swap_io"]), Request(config=["kasan"]),
                        Request(kunitconfig=Path("x")),
                        Request(kernel_args=["mem=1G"])):
            self.assertFalse(is_standard(request))


if __name__ == "__main__":
    unittest.main()
