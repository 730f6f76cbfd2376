# SPDX-License-Identifier: GPL-2.0
"""Running UMLs: crashes, hangs and loops are failed cases, and leave no process."""
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

from swapkunit.base import commands
from swapkunit.run import runner, symbols
from swapkunit.base.errors import WRONG_USE, SwapKunitError, UntestableKernel
from swapkunit.run.console import AFTER_LAST, REPORT, WHOLE, Case, Console, alike, join
from swapkunit.base.layout import Layout
from swapkunit.run.results import parameter_tests
from swapkunit.run.runner import RunOptions
from swapkunit.run.uml import kernel_arguments, memory_bytes

from .support import MAKEFILE, REPO, TESTS, Scratch, make_kernel, processes_with, write

FAKE = TESTS / "fake_linux"


class RunCase(Scratch):
    """Runs the fake UML."""

    def setUp(self) -> None:
        super().setUp()
        self.layout = Layout(self.top / "out")
        self.layout.make()

    def run_suites(self, suites: dict[str, list[str]], *filters: str, timeout: float = 5.0,
                   jobs: int = 2, hangs: int = 3) -> runner.Results:
        """Run suites; checks that no process of a UML is left."""
        os.environ["FAKE_SUITES"] = json.dumps(suites)
        options = RunOptions(list(filters), timeout, jobs, hangs=hangs)
        with contextlib.redirect_stdout(io.StringIO()):
            cases = runner.list_cases(self.layout, options, FAKE)
            results = runner.run(self.layout, cases, options, FAKE)
        left = [pid for pid in processes_with(self.top.name) if pid != os.getpid()]
        self.assertEqual(left, [], "processes left behind")
        return results

    def fates(self, results: runner.Results) -> dict[str, str]:
        """case -> ok, not ok, crashed, hung, ..."""
        return {case.full_name: case.fate or ("ok" if case.passed() else "not ok")
                for suite in results.suites for case in suite.cases}


class Fates(RunCase):
    """The outcome of each case."""

    def test_all_good_in_the_kernels_order(self) -> None:
        results = self.run_suites({"swap_b": ["pass_2", "pass_1"], "swap_a": ["pass_1", "skip_1"]})
        self.assertEqual(list(self.fates(results).items()), [
            ("swap_b.pass_2", "ok"), ("swap_b.pass_1", "ok"), ("swap_a.pass_1", "ok"), ("swap_a.skip_1", "ok")])
        self.assertEqual(results.umls, 2)

    def test_crash_fails_its_case_and_the_rest_goes_on(self) -> None:
        results = self.run_suites({"swap_a": ["pass_1", "crash_2", "pass_3", "crash_4", "pass_5"]})
        self.assertEqual(list(self.fates(results).values()), ["ok", "crashed", "ok", "crashed", "ok"])
        reason = results.suites[0].cases[1].reason
        self.assertEqual(reason, "Kernel panic - not syncing: fake panic")

    def test_silent_end_is_a_crash(self) -> None:
        results = self.run_suites({"swap_a": ["exit_1", "pass_2"]})
        self.assertEqual(self.fates(results), {"swap_a.exit_1": "crashed", "swap_a.pass_2": "ok"})
        self.assertIn("status 3", results.suites[0].cases[0].reason)

    def test_hang_is_named_and_killed(self) -> None:
        results = self.run_suites({"swap_a": ["pass_1", "hang_2", "pass_3"]}, timeout=0.5)
        self.assertEqual(list(self.fates(results).values()), ["ok", "hung", "ok"])

    def test_loop_that_prints_is_a_hang(self) -> None:
        results = self.run_suites({"swap_a": ["loop_1", "pass_2"]}, timeout=0.5)
        self.assertEqual(list(self.fates(results).values()), ["hung", "ok"])
        self.assertIn("it prints", results.suites[0].cases[0].reason)

    def test_a_suite_that_hangs_again_and_again_is_given_up(self) -> None:
        results = self.run_suites({"swap_a": [f"hang_{n}" for n in range(6)], "swap_b": ["pass_1"]},
                                  timeout=0.5, jobs=1)
        self.assertEqual(list(self.fates(results).values()), ["hung"] * 6 + ["ok"])
        self.assertEqual([case.reason.startswith("not run") for case in results.suites[0].cases],
                         [False] * 3 + [True] * 3)

    def test_what_a_loop_prints_is_shortened(self) -> None:
        lines = runner.shortened([f"line {n}" for n in range(1000)])
        self.assertEqual((len(lines), lines[0], lines[-1]), (2 * runner.SHOWN + 1, "line 0", "line 999"))
        self.assertEqual(runner.shortened(["a"]), ["a"])

    def test_suite_that_does_not_start_fails_its_cases(self) -> None:
        results = self.run_suites({"swap_noinit": ["pass_1", "pass_2"]})
        self.assertEqual(list(self.fates(results).values()), ["failed", "failed"])
        self.assertIn("failed to initialize", results.suites[0].cases[0].reason)

    def test_suite_that_is_skipped_whole(self) -> None:
        results = self.run_suites({"swap_wholeskip": ["pass_1", "pass_2"]})
        self.assertEqual(self.fates(results), {"swap_wholeskip.pass_1": "ok", "swap_wholeskip.pass_2": "ok"})
        self.assertTrue(results.suites[0].cases[1].lines[-1].endswith("# SKIP nothing to test here"))

    def test_crash_in_a_parameter_names_it(self) -> None:
        console = Console()
        for line in ("KTAP version 1", "    # Subtest: swap_a", "swap_case: swap_a.ra[ssd + discard]"):
            console.feed(line)
        self.assertEqual((console.running, console.parameter), ("ra", "ssd + discard"))

    def test_crash_of_a_parameter_costs_that_parameter_only(self) -> None:
        results = self.run_suites({"swap_a": ["pass_1", "crashparam_2", "pass_3"]})
        self.assertEqual(list(self.fates(results).values()), ["ok", "not ok", "ok"])
        case = results.suites[0].cases[1]
        self.assertEqual([line for line in case.lines if "ok " in line], [
            "        ok 1 zram", "        not ok 2 ssd", "        not ok 3 hdd", "        ok 4 file",
            "    not ok 1 crashparam_2"])
        tests = parameter_tests({"test_cases": [{"name": name, "status": status} for name, status in (
            ("zram", "PASS"), ("ssd", "FAIL"), ("hdd", "FAIL"), ("file", "PASS"))]}, case)
        self.assertEqual([(test.name, test.fate) for test in tests], [
            ("swap_a.crashparam_2[zram]", ""), ("swap_a.crashparam_2[ssd]", "crashed"),
            ("swap_a.crashparam_2[hdd]", "crashed"), ("swap_a.crashparam_2[file]", "")])
        self.assertEqual(tests[2].text[0], "crashed: Kernel panic - not syncing: fake panic")
        self.assertEqual(results.umls, 4)

    def test_hung_parameter_of_a_suite_that_is_given_up(self) -> None:
        results = self.run_suites({"swap_a": ["hangparam_1", "pass_2"]}, timeout=0.5, hangs=1)
        self.assertEqual(list(self.fates(results).values()), ["not ok", "hung"])
        self.assertEqual(results.suites[0].cases[0].lines[-4:], [
            "        ok 1 zram", "        not ok 2 ssd",
            "        # hangparam_1: not run: 1 case of this run hung, 1 of this suite", "    not ok 1 hangparam_1"])
        self.assertEqual(results.abandoned, {"swap_a": 2})

    def test_hangs_are_counted_over_all_suites(self) -> None:
        suites = {"swap_a": ["hang_1", "hang_2"], "swap_b": ["hang_1", "pass_2"], "swap_c": ["pass_1"]}
        results = self.run_suites(suites, timeout=0.5, jobs=1, hangs=2)
        self.assertEqual(list(self.fates(results).values()), ["hung", "hung", "hung", "hung", "ok"])
        self.assertEqual(results.abandoned, {"swap_b": 1})

    def test_parameter_skipped_without_a_word_of_kunit(self) -> None:
        console = Console()
        for line in ("KTAP version 1", "    # Subtest: swap_a", "swap_case: swap_a.ra[zram]",
                     "swap_skipped: no large folios", "        ok 1 zram",
                     "swap_case: swap_a.ra[ssd]", "        ok 2 ssd",
                     "swap_case: swap_a.ra[hdd]", "swap_skipped: no such disk",
                     "        ok 3 hdd # SKIP no such disk", "    ok 1 ra"):
            console.feed(line)
        self.assertEqual(console.done[0].lines,
                         ["        ok 1 zram # SKIP no large folios", "        ok 2 ssd",
                          "        ok 3 hdd # SKIP no such disk", "    ok 1 ra"])

    def test_crash_after_the_last_case_is_not_lost(self) -> None:
        results = self.run_suites({"swap_lateend": ["pass_1"]})
        self.assertEqual(self.fates(results), {"swap_lateend.pass_1": "ok",
                                               f"swap_lateend.{AFTER_LAST}": "crashed"})

    def test_two_results_of_a_case_that_contradict_each_other(self) -> None:
        results = self.run_suites({"swap_a": ["pass_1", "twice_2", "pass_3"]})
        self.assertEqual(list(self.fates(results).values()), ["ok", "failed", "ok"])
        self.assertEqual(results.suites[0].cases[1].reason, "two results: ok, then not ok")

    def test_suite_that_failed_without_a_case_that_did(self) -> None:
        results = self.run_suites({"swap_badend": ["pass_1", "skip_2"], "swap_a": ["fail_1", "pass_2"]})
        self.assertEqual(self.fates(results), {
            "swap_badend.pass_1": "ok", "swap_badend.skip_2": "ok", f"swap_badend.{WHOLE}": "failed",
            "swap_a.fail_1": "not ok", "swap_a.pass_2": "ok"})
        self.assertEqual(results.suites[0].cases[2].reason, 'the suite ended with "not ok"')

    def test_reports_outside_of_the_cases(self) -> None:
        console = Console()
        for line in ("WARNING: CPU: 0 PID: 1 at arch/um/drivers/virt-pci.c:886 um_pci_init+0x1/0x2",
                     "BUG: at boot", "KTAP version 1", "    KTAP version 1", "    # Subtest: swap_a",
                     "    1..2", "WARNING: before the first", "swap_case: swap_a.ra[zram]", "WARNING: expected",
                     "swap_decision: swap_a.ra[zram] A0:0", "UBSAN: between parameters", "        ok 1 zram",
                     "swap_case: swap_a.ra[ssd]", "WARNING: expected", "        ok 2 ssd", "BUG: after a parameter",
                     "    ok 1 ra", "swap_case: swap_a.b", "WARNING: expected", "    ok 2 b",
                     "WARNING: suspicious RCU usage", "ok 1 swap_a", "Oops at halt"):
            console.feed(line)
        self.assertEqual(console.reports, [
            "BUG: at boot", "WARNING: before the first", "UBSAN: between parameters", "BUG: after a parameter",
            "WARNING: suspicious RCU usage", "Oops at halt"])

    def test_marks_of_reports_are_those_of_the_fixture(self) -> None:
        source = (REPO / "kunit/fixture/kernel_reports.c").read_text()
        marks = re.findall(r'"([^"]+)"', source.split("swap_report_marks[] = {")[1].split("};")[0])
        self.assertEqual(REPORT.pattern.replace("\\", "").split("|"), marks)

    def test_report_of_every_kernel_is_told_once(self) -> None:
        os.environ["FAKE_BOOT"] = "warn"
        results = self.run_suites({"swap_a": ["pass_1"], "swap_b": ["pass_1"], "swap_c": ["pass_1"]})
        self.assertEqual(len(results.reports), 1)
        self.assertRegex(results.reports[0], "^WARNING: .* at mm/swap_state.c:7 swap_init")
        self.assertEqual(set(self.fates(results).values()), {"ok"})

    def test_kernel_that_does_not_boot_is_untestable(self) -> None:
        os.environ["FAKE_BOOT"] = "panic"
        with self.assertRaisesRegex(UntestableKernel, "does not reach its first case: .*fake panic"):
            self.run_suites({"swap_a": ["pass_1"]})

    def test_arguments_the_kernel_does_not_boot_with_are_the_users(self) -> None:
        options = RunOptions(kernel_args=["mem=1M"], given=["mem=1M"])
        with contextlib.redirect_stdout(io.StringIO()), \
                self.assertRaisesRegex(SwapKunitError, "with mem=1M on its command line, .* without") as caught:
            runner.list_cases(self.layout, options, FAKE)
        self.assertEqual(caught.exception.code, WRONG_USE)
        os.environ["FAKE_BOOT"] = "panic"
        with contextlib.redirect_stdout(io.StringIO()), self.assertRaises(UntestableKernel):
            runner.list_cases(self.layout, options, FAKE)


class Reports(unittest.TestCase):
    """Which reports count as the same."""

    def test_alike(self) -> None:
        one = "WARNING: CPU: 0 PID: 12 at mm/swapfile.c:7 swapoff+0x1/0x2"
        self.assertEqual(alike(one), alike("WARNING: CPU: 1 PID: 3 at mm/swapfile.c:19 swapoff+0x3/0x4"))
        self.assertNotEqual(alike(one), alike(one.replace("swapoff", "swapon")))
        self.assertEqual(alike("WARNING: mm/swap.h:7 at f+0x1/0x2, CPU#0: kunit_try_catch/523"),
                         alike("WARNING: mm/swap.h:8 at f+0x3/0x2, CPU#1: kunit_try_catch/5"))


class Arguments(RunCase):
    """Kernel arguments of suites."""

    def test_from_the_suites_source(self) -> None:
        write(self.top / "swap_a_kunit.c", "/*\n * About a.\n */\n/* swap-kunit: a.b=0 c */\nint x;\n")
        write(self.top / "swap_b_kunit.c", "/* About swap-kunit: nothing */\n")
        self.assertEqual(runner.suite_arguments("swap_a", self.top), ["a.b=0", "c"])
        self.assertEqual(runner.suite_arguments("swap_b", self.top), [])
        self.assertEqual(runner.suite_arguments("swap_c", self.top), [])

    def test_late_zswap_boots_without(self) -> None:
        self.assertEqual(runner.suite_arguments("swap_zswap_late"), ["zswap.enabled=0"])


class Choosing(RunCase):
    """Filters."""

    SUITES = {"swap_a": ["pass_1", "pass_2", "skip_3"], "swap_b": ["pass_1"]}

    def test_globs(self) -> None:
        for filters, expected in ((["swap_a.pass*"], ["swap_a.pass_1", "swap_a.pass_2"]),
                                  (["swap_b"], ["swap_b.pass_1"]),
                                  (["swap_a.skip_3", "swap_b.*"], ["swap_a.skip_3", "swap_b.pass_1"]),
                                  (["swap_a.pass_1", "swap_a.skip_3"], ["swap_a.pass_1", "swap_a.skip_3"])):
            with self.subTest(filters):
                self.assertEqual(list(self.fates(self.run_suites(self.SUITES, *filters))), expected)

    def test_no_match_names_what_is_like_it(self) -> None:
        for word, near in (("swap_x", "swap_b or swap_a"), ("swap_x.pass_1", "swap_b or swap_a"),
                           ("swap_a.pass", "swap_a.pass_2 or swap_a.pass_1 or swap_a.skip_3")):
            with self.assertRaisesRegex(SwapKunitError, f"no case matches the filter {word}; did you mean {near}[?] "
                                                        "`swap-kunit list` .make list. prints all suites and cases$"):
                self.run_suites(self.SUITES, word)

    def test_case_that_was_not_built(self) -> None:
        lost = {"misfits": [{"file": "mm/kunit/fixture/a.c", "line": 3, "text": "no member 'x'", "symbol": "x"}],
                "cases": 2, "lost": ["swap_c.reads", "swap_c.writes"]}
        write(self.layout.tree / ".fitted.json", json.dumps({"left_out": lost}))
        with self.assertRaisesRegex(SwapKunitError, r"not built on this tree: swap_c\.reads; .*"
                                                    r"kunit/fixture/a\.c:3: no member 'x'"):
            self.run_suites(self.SUITES, "swap_c.r*")
        self.assertEqual(list(self.fates(self.run_suites(self.SUITES, "swap_b"))), ["swap_b.pass_1"])

    def test_list_is_asked_again_only_for_a_new_kernel(self) -> None:
        binary = write(self.top / "linux", FAKE.read_text())
        binary.chmod(0o755)
        os.environ["FAKE_SUITES"] = json.dumps({"swap_a": ["pass_1"]})
        self.assertEqual(runner.list_cases(self.layout, RunOptions(), binary), ["swap_a.pass_1"])
        os.environ["FAKE_SUITES"] = json.dumps({"swap_a": ["pass_2"]})
        self.assertEqual(runner.list_cases(self.layout, RunOptions(), binary), ["swap_a.pass_1"])
        os.utime(binary)
        self.assertEqual(runner.list_cases(self.layout, RunOptions(), binary), ["swap_a.pass_2"])

    def test_delay_loop_is_calibrated_once(self) -> None:
        options = RunOptions()
        runner.list_cases(self.layout, options, FAKE)
        self.assertEqual(options.kernel_args, ["lpj=4711"])
        fixed = RunOptions(kernel_args=["time-travel=inf-cpu"])
        runner.list_cases(self.layout, fixed, FAKE)
        self.assertEqual(fixed.kernel_args, ["time-travel=inf-cpu"])

    def test_longest_suite_first_unknown_before_it(self) -> None:
        cases = ["a.x", "b.x", "c.x"]
        jobs = runner.plan(cases, cases, [], {"a": 1.0, "b": 2.0})
        self.assertEqual([job.suite for job in jobs], ["c", "b", "a"])

    def test_shuffled_cases_are_alone_and_the_seed_decides(self) -> None:
        cases = [f"a.c{n}" for n in range(20)]
        jobs = runner.plan_alone(cases, 7)
        self.assertEqual(sorted(job.glob for job in jobs), sorted(cases))
        self.assertNotEqual([job.glob for job in jobs], cases)
        self.assertEqual(jobs, runner.plan_alone(cases, 7))

    def test_kernel_arguments(self) -> None:
        self.assertIn("mem=256M", kernel_arguments([]))
        self.assertNotIn("mem=256M", kernel_arguments(["mem=1G"]))
        self.assertEqual(memory_bytes(kernel_arguments(["mem=1G"])), 1 << 30)


class Output(RunCase):
    """Logs and decisions."""

    def test_decisions_are_in_the_kernels_order_whatever_ends_first(self) -> None:
        suites = {"swap_b": ["pass_1", "crash_2", "pass_3"], "swap_a": ["pass_1"]}
        first = self.run_suites(suites, jobs=1).decisions
        self.assertEqual([line.split()[0] for line in first],
                         ["swap_b.pass_1", "swap_b.crash_2", "swap_b.pass_3", "swap_a.pass_1"])
        self.assertEqual(self.run_suites(suites, jobs=3).decisions, first)

    def test_joined_log_is_the_same_every_time_and_numbered_through(self) -> None:
        suites = {"swap_b": ["pass_1", "crash_2", "skip_3"], "swap_a": ["param_1"]}
        log = join(self.run_suites(suites).suites)
        self.assertEqual(join(self.run_suites(suites).suites), log)
        self.assertNotIn("swap_decision", log)
        self.assertIn("    ok 3 skip_3 # SKIP this kernel", log)
        self.assertIn("    not ok 2 crash_2\n", log)
        self.assertTrue(log.startswith("KTAP version 1\n1..2\n    KTAP version 1\n    # Subtest: swap_b\n"))

    def test_joined_log_of_a_passed_case_has_no_kernel_messages(self) -> None:
        lines = ["    # c: a diagnostic", "page 00000000eca17f3a", " 6044f405 70803c90", "    ok 1 c"]
        self.assertEqual(Case("s", "c", lines).ktap(2), ["    # c: a diagnostic", "    ok 2 c"])
        failed = Case("s", "c", [*lines[:-1], "    not ok 1 c"])
        self.assertEqual(len(failed.ktap(1)), 4)

    @unittest.skipUnless(list(Path.home().glob(".cache/swap-kunit/kernels/*7*")), "no kernel in the cache")
    def test_kernels_own_kunit_py_finds_no_error_in_the_joined_log(self) -> None:
        kernel = next(iter(Path.home().glob(".cache/swap-kunit/kernels/*7*")))
        suites = {"swap_b": ["pass_1", "crash_2", "skip_3", "hang_4"], "swap_a": ["param_1"],
                  "swap_noinit": ["pass_1"]}
        (self.top / "log").write_text(join(self.run_suites(suites, timeout=0.5).suites))
        done = subprocess.run([sys.executable, kernel / "tools/testing/kunit/kunit.py", "parse",
                               self.top / "log"], capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertIn("Ran 8 tests: passed: 2, failed: 4, skipped: 2", done.stdout)
        self.assertNotIn("ERROR", done.stdout)


class Stopping(RunCase):
    """^C: no process is left, and the results so far are reported."""

    def test_interrupt(self) -> None:
        kernel = make_kernel(self.top / "linux")
        suites = {"swap_a": ["pass_1", "hang_2"], "swap_b": ["pass_1"]}
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                with open(self.top / "printed", "w+", encoding="utf-8") as sink:
                    process = subprocess.Popen(
                        [sys.executable, REPO / "swap-kunit", "run", "--ksrc", kernel, "--out", self.layout.out],
                        env={**os.environ, "FAKE_SUITES": json.dumps(suites)}, stdout=sink, stderr=sink)
                    self.addCleanup(process.kill)
                    self.wait_for(self.layout.out / "logs/swap_a.log", "swap_case: swap_a.hang_2")
                    self.wait_for(self.layout.out / "logs/swap_b.log", "System halted")
                    time.sleep(0.2)
                    process.send_signal(number)
                    self.assertEqual(process.wait(timeout=10), 130)
                    sink.seek(0)
                    printed = sink.read()
                self.assertEqual(printed.splitlines()[-1], "2 passed, 0 failed, 0 skipped", printed)
                self.assertIn("before the end: 1 case", printed)
                self.assertEqual(processes_with(self.top.name), [])
                for name in ("swap_a", "swap_b"):
                    (self.layout.out / f"logs/{name}.log").unlink()

    def test_impatient_interrupts(self) -> None:
        kernel = make_kernel(self.top / "linux")
        suites = {f"swap_{letter}": ["hang_1"] for letter in "abcdef"}
        for pause in (0.0, 0.001, 0.01):
            with self.subTest(pause), open(self.top / "printed", "w+", encoding="utf-8") as sink:
                process = subprocess.Popen(
                    [sys.executable, REPO / "swap-kunit", "run", "-j6", "--ksrc", kernel, "--out", self.layout.out],
                    env={**os.environ, "FAKE_SUITES": json.dumps(suites)}, stdout=sink, stderr=sink)
                self.addCleanup(process.kill)
                for name in suites:
                    self.wait_for(self.layout.out / f"logs/{name}.log", "hang_1")
                for _ in range(12):
                    process.send_signal(signal.SIGINT)
                    time.sleep(pause)
                self.assertEqual(process.wait(timeout=10), 130)
                sink.seek(0)
                self.assertIn("before the end: 6 cases", sink.read())
                self.assertEqual(processes_with(self.top.name), [])
            for name in suites:
                (self.layout.out / f"logs/{name}.log").unlink()

    def test_interrupt_is_put_off(self) -> None:
        code = ("import os, signal\nfrom swapkunit.base import interrupts\ninterrupts.catch()\ndone = []\n"
                "try:\n    with interrupts.held():\n        os.kill(os.getpid(), signal.SIGTERM)\n"
                "        done.append('held')\n    done.append('not reached')\n"
                "except KeyboardInterrupt:\n    os.kill(os.getpid(), signal.SIGINT)\n"
                "    done.append('stopped once')\nprint(done)")
        done = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "['held', 'stopped once']\n", done.stderr)

    def test_interrupt_while_building(self) -> None:
        slow = MAKEFILE.replace("\t@echo vmlinux", "\t@touch $(O)/begun; sleep 100 & sleep 100; echo vmlinux")
        kernel = make_kernel(self.top / "linux", Makefile=slow)
        with open(self.top / "printed", "w+", encoding="utf-8") as sink:
            process = subprocess.Popen(
                [sys.executable, REPO / "swap-kunit", "run", "--ksrc", kernel, "--out", self.layout.out],
                stdout=sink, stderr=sink)
            self.addCleanup(process.kill)
            self.wait_for(self.layout.out / "build/begun", "")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=10), 130)
            sink.seek(0)
            self.assertIn("swap-kunit: stopped during `run", sink.read())
        self.assertEqual(processes_with(self.top.name), [])

    def test_killed_it_leaves_nothing_either(self) -> None:
        slow = MAKEFILE.replace("\t@echo vmlinux", "\t@touch $(O)/begun; sleep 100 & sleep 100; echo vmlinux")
        for makefile, path in ((slow, "build/begun"), (MAKEFILE, "logs/swap_a.log")):
            kernel = make_kernel(self.top / "linux", Makefile=makefile)
            process = subprocess.Popen(
                [sys.executable, REPO / "swap-kunit", "run", "--ksrc", kernel, "--out", self.layout.out],
                env={**os.environ, "FAKE_SUITES": json.dumps({"swap_a": ["hang_1"]})}, stdout=subprocess.DEVNULL)
            self.addCleanup(process.wait)
            self.wait_for(self.layout.out / path, "hang_1" if path.endswith("log") else "")
            process.kill()
            for _ in range(500):
                if not processes_with(self.top.name):
                    break
                time.sleep(0.02)
            self.assertEqual(processes_with(self.top.name), [])

    def wait_for(self, path: Path, text: str) -> None:
        """Wait until path contains text."""
        for _ in range(500):
            if path.exists() and text in path.read_text():
                return
            time.sleep(0.02)
        self.fail(f"{path} never held {text}")


NM = """\
0000000060001000 T _stext
0000000060001000 T do_one
0000000060001040 t do_two
0000000060001100 T _etext
0000000060002000 D data
"""


class Names(RunCase):
    """A kernel without kallsyms prints addresses."""

    def test_addresses_in_functions_get_names(self) -> None:
        binary = write(self.top / "vmlinux", "")
        with mock.patch.object(commands, "run", return_value=commands.Finished(0, NM)) as run:
            found = [symbols.Symbols(binary).name(line) for line in (
                " [<60001044>] ? 0x0000000060001044", "at 0x60001000, CPU#0", "0x60002010 0x7f0000001044 0x60000fff")]
        self.assertEqual(found, [" [<60001044>] ? do_two+0x4/0xc0", "at do_one+0x0/0x40, CPU#0",
                                 "0x60002010 0x7f0000001044 0x60000fff"])
        run.assert_called_once()

    def test_the_console_and_its_log_have_the_names(self) -> None:
        with mock.patch.object(symbols, "functions", return_value=([0x60001000, 0x60002000], ["do_one", "end"])):
            results = self.run_suites({"swap_a": ["warn_1"]})
        self.assertIn("    kernel report: WARNING at do_one+0x4/0x1000", results.suites[0].cases[0].lines)
        self.assertIn("WARNING at do_one+0x4/0x1000\n", (self.layout.out / "logs/swap_a.log").read_text())


if __name__ == "__main__":
    unittest.main()
