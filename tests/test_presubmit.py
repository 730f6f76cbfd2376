# SPDX-License-Identifier: GPL-2.0
"""presubmit: a series goes through its steps, on a miniature kernel."""
from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

from swapkunit import sandbox
from swapkunit.base.errors import SwapKunitError
from swapkunit.base.kernel import Kernel
from swapkunit.base.layout import Layout
from swapkunit.build.build import OWN_FAULT, not_ours
from swapkunit.cli.main import main
from swapkunit.cli.verbs import presubmit
from swapkunit.presubmit import check as checking, files, page, report as reports, steps, testbed, times
from swapkunit.presubmit.check import check
from swapkunit.presubmit.progress import Progress
from swapkunit.presubmit.report import FAIL, NOTE, PASS, SKIP, WARN, Finding, PatchReport, PresubmitReport, Step
from swapkunit.presubmit.request import CheckRequest
from swapkunit.presubmit.store import Store, identity_of_kernel
from swapkunit.presubmit.testbed import Testbed, Tested, snapshot
from swapkunit.presubmit.testbeds import is_swap_code
from swapkunit.run.results import TestResult
from swapkunit.run.session import Request
from swapkunit.series.applying import Applied
from swapkunit.series.series import Patch, read_inputs

from .support import MAKEFILE, REPO, Scratch, git, make_kernel, processes_with, write

PLAIN = "int swapfile;\n"
_rmtree = shutil.rmtree
WARNED = """\
------------[ cut here ]------------
WARNING: mm/swapfile.c:514 at swap_cluster_assert_empty+0x15b/0x1a0, CPU#0: kunit_try_catch/{}
Call Trace:
[<60052d60>] ? um_set_signals+0x0/0x60
[<600441f4>] ? dump_stack_lvl+0x76/0x85
[<6017f87b>] ? swap_cluster_assert_empty+0x15b/0x1a0
[<6001fe7f>] ? warn_slowpath_fmt.cold+0x52/0x9b
[<6017f87b>] ? swap_cluster_assert_empty+0x15b/0x1a0
[<6016df60>] ? kfree+0x0/0x310
[<601802da>] ? free_swap_cluster_info+0x9a/0x140
[<6018452e>] ? sys_swapoff+0xede/0x10c0
[<601a1fb1>] ? swap_area_undo+0x171/0x210
[<60302b7a>] ? kunit_try_run_case_cleanup+0x2a/0x40
---[ end trace 0000000000000000 ]---
x: EXPECTATION FAILED at mm/kunit/fixture/kernel_reports.c:81
kernel report: WARNING: mm/swapfile.c:514 at swap_cluster_assert_empty+0x15b/0x1a0, CPU#0: kunit_try_catch/{}"""
USED_MEMORY = "it used 9.0 GB of memory; its sandbox allows 5.0"


class SeriesCase(Scratch):
    """A miniature kernel in git, and patches to it."""

    def setUp(self) -> None:
        super().setUp()
        self.kernel = make_kernel(self.top / "linux")
        git(self.kernel, "init", "-q")
        git(self.kernel, "add", "-f", ".")
        git(self.kernel, "commit", "-qm", "base")
        self.base = git(self.kernel, "rev-parse", "HEAD").strip()
        self.out = self.top / "out"

    def patch(self, title: str, **files: str) -> None:
        """Commit files (__ for /)."""
        for name, text in files.items():
            path = self.kernel / name.replace("__", "/").replace("_c", ".c")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        git(self.kernel, "add", "-f", ".")
        git(self.kernel, "commit", "-qm", title)

    def series(self) -> list[Path]:
        """The commits as files, and the tree back at its base."""
        git(self.kernel, "format-patch", "-q", "-o", str(self.top / "series"), self.base)
        git(self.kernel, "checkout", "-q", self.base)
        return sorted((self.top / "series").iterdir())

    def presubmit(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run the verb."""
        return subprocess.run([sys.executable, REPO / "swap-kunit", "presubmit", "--ksrc", self.kernel, "--out",
                               self.out, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, check=False, timeout=120)

    def report(self) -> dict:
        """report.json of the only check."""
        return json.loads(next(self.out.glob("report/*/report.json")).read_text())

    def cells(self) -> list[dict[str, str]]:
        """Step -> status, by patch."""
        return [{step["name"]: step["status"] for step in patch["steps"]} for patch in self.report()["patches"]]


class Packages(SeriesCase):
    """Nothing is installed for input that cannot be used."""

    def test_files_are_looked_at_first(self) -> None:
        def install(wanted: dict[str, str]) -> None:
            if wanted != checking.NEEDED:
                raise SwapKunitError("not now")
        pipe = self.top / "pipe"
        os.mkfifo(pipe)
        for file, said in ((write(self.top / "junk", "no diff\n"), "cannot find a patch"), (pipe, "not now")):
            with mock.patch.object(checking.deps, "missing", return_value=["sparse"]), \
                    mock.patch.object(checking.deps, "require", side_effect=install), \
                    mock.patch.object(checking.mails, "check"), self.assertRaisesRegex(SwapKunitError, said):
                check(CheckRequest(Request(ksrc=self.kernel, out=self.out), [file]))


class Series(SeriesCase):
    """From patches to a report."""

    def test_clean(self) -> None:
        self.patch("mm: say more", mm__swapfile_c=PLAIN + "/* more */\n")
        done = self.presubmit(*self.series())
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"\n  the base       build\+suites +\d+\.\d s  \d+ passed, .* skipped\n")
        self.assertEqual(self.cells()[0], {"applies": PASS, "checkpatch": SKIP, "build": PASS, "W=1": SKIP,
                                           "sparse": SKIP, "configs": SKIP, "suites": PASS, "reports": PASS,
                                           "decisions": PASS, "lines": SKIP, "mutants": SKIP, "memcg off": PASS,
                                           "lockdep": PASS})
        self.assertEqual((self.kernel / "mm/swapfile.c").read_text(), PLAIN, "the tree is only read")
        for name in ("report.txt", "report.html", "junit.xml"):
            self.assertTrue(next(self.out.glob(f"report/*/{name}")).read_text())

    def test_last_patch_of_swap_code_is_booted_in_other_ways(self) -> None:
        self.patch("mm: say more", mm__swapfile_c=PLAIN + "/* more */\n")
        self.patch("fs: say more", fs__a_c="/* more */\n")
        self.presubmit(*self.series())
        first, last = self.cells()
        self.assertEqual([name in first for name in ("lockdep", "memcg off")], [False, False])
        self.assertEqual((last["lockdep"], last["memcg off"]), (PASS, PASS))
        self.assertEqual((self.out / "plain/build/made").read_text(), "vmlinux\n" * 5, "never from the start again")
        self.assertFalse((self.out / "memcg off").exists(), "the other boot has no kernel of its own")
        self.presubmit("--quick", *self.top.glob("series/*"))
        self.assertFalse([cell for cells in self.cells() for cell in cells if cell in ("lockdep", "memcg off")])

    def test_only_swap_code_gets_more(self) -> None:
        names = ("mm/swapfile.c", "include/linux/swap.h", "include/linux/zswap.h", "mm/vmscan.c", "include/linux/mm.h")
        self.assertEqual([is_swap_code(name) for name in names], [True, True, True, False, False])

    def test_patch_that_does_not_build(self) -> None:
        self.patch("mm: break it", mm__swapfile_c=PLAIN + "BROKEN\n")
        self.patch("mm: mend it", mm__swapfile_c=PLAIN + "int mended;\n")
        done = self.presubmit(*self.series())
        self.assertEqual(done.returncode, 1, done.stdout)
        broken, mended = self.cells()
        self.assertEqual((broken["build"], broken["suites"], mended["build"], mended["suites"]),
                         (FAIL, SKIP, PASS, PASS))
        self.assertIn("expected identifier before BROKEN", done.stdout)

    def test_base_that_does_not_build_is_remembered(self) -> None:
        self.patch("mm: say more", mm__zswap_c="int zswap, more;\n")
        files = self.series()
        (self.kernel / "mm/swapfile.c").write_text("BROKEN\n")
        for again in (False, True):
            done = self.presubmit("--quick", *files)
            self.assertEqual(done.returncode, 125, done.stdout)
            self.assertEqual("as shown above, from an earlier check; fix the base" in done.stdout, again, done.stdout)
            self.assertIn("expected identifier before BROKEN", done.stdout)
        self.assertEqual((self.out / "log.txt").read_text().count("kunit.py build"), 1)

    def test_new_base_says_how_long_it_takes(self) -> None:
        self.patch("mm: say more", mm__zswap_c="int zswap, more;\n")
        files = self.series()
        said = []
        for out, *depth in (("out", "--quick"), ("other", "--quick"), ("other",), ("other",)):
            self.out = self.top / out
            done = self.presubmit(*depth, *files)
            found = re.search(r"the first time on this base: (.*); a later", done.stdout)
            said.append(found and re.sub(r"\d+ s", "N s", found[1]))
        self.assertEqual((said[:2], "lockdep" in said[3]), ([
            "build and suites (not timed on this machine yet)", "build and suites about N s"], False))
        self.assertRegex(said[2], "; after the first report: mutants, lockdep .not timed on this machine yet.$")

    def test_time_of_one_slow_run_does_not_count(self) -> None:
        for seconds in (80.0, 400.0, 80.0):
            times.remember(times.BASE, seconds)
        self.assertIn("about 80 s; after the first report: lockdep (not timed on this machine yet: lockdep);",
                      times.expected([times.BASE], ["lockdep"]))

    def test_report_is_there_before_the_slow_boots(self) -> None:
        at = "case \"$$PWD\" in */lockdep/*) touch $(O)/begun; sleep 77.4;; esac"
        (self.kernel / "Makefile").write_text(MAKEFILE.replace("\t@echo vmlinux", f"\t@{at}\n\t@echo vmlinux"))
        git(self.kernel, "commit", "-qam", "slow")
        self.base = git(self.kernel, "rev-parse", "HEAD").strip()
        self.patch("mm: say more", mm__swapfile_c=PLAIN + "/* more */\n")
        with subprocess.Popen([sys.executable, REPO / "swap-kunit", "presubmit", "--ksrc", self.kernel, "--out",
                               self.out, *self.series()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            self.addCleanup(process.kill)
            for _ in range(3000):
                if (self.out / "lockdep/build/begun").exists() or process.poll() is not None:
                    break
                time.sleep(0.02)
            first = next(self.out.glob("report/*/report.txt")).read_text()
            self.assertRegex(first, r"later\n(.*\n)*mutants, memcg off, lockdep later: still to come\n")
            self.assertRegex(first, r"steps, \d+ skipped, \d still to come\n")
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=20)[0].decode()
        self.assertEqual(process.returncode, 130)
        self.assertIn(first, said)
        self.assertRegex(said, r"\nstopped: the report is complete but for lockdep: .*report.txt\n")
        self.assertEqual((self.report()["stopped"], self.cells()[0]["memcg off"], self.cells()[0]["lockdep"]),
                         (False, PASS, SKIP))
        self.assertIn("lockdep -: stopped before its end", next(self.out.glob("report/*/report.txt")).read_text())

    def test_command_for_the_failed_cases(self) -> None:
        step = Step("suites", PASS, "", data={"failed": ["swap_a.b[zram]"], "totals": "1 passed"})
        report = PresubmitReport("", 1, "", "", "", [], self.out, patches=[PatchReport(1, 1, "s", steps=[step])])
        with mock.patch.object(presubmit, "check", return_value=report), \
                contextlib.redirect_stdout(io.StringIO()) as said:
            main(["presubmit", "--kernel=7.3", "a.patch"])
        self.assertRegex(said.getvalue(), r"\nagain .* presubmit --kernel=7.3 a.patch --filter=swap_a.b\n"
                                          r"time .*\n1 passed\n$")

    def test_quick_says_that_a_new_option_is_not_tried(self) -> None:
        (self.kernel / "mm/Kconfig").write_text("menu x\n\nendmenu\n")
        git(self.kernel, "commit", "-qam", "menu")
        self.base = git(self.kernel, "rev-parse", "HEAD").strip()
        self.patch("mm: add an option", mm__Kconfig='menu x\n\nconfig SWAP_FANCY\n\tbool "fancy"\n\nendmenu\n')
        self.presubmit("--quick", *self.series())
        self.assertIn("not compiled with and without SWAP_FANCY, which the series adds: --quick (make: QUICK=1) leaves "
                      "that out", self.report()["notes"])

    def test_last_line_counts_cases(self) -> None:
        self.patch("mm: say more", mm__zswap_c="int zswap, more;\n")
        self.patch("mm: break it", mm__swapfile_c=PLAIN + "BROKEN\n")
        done = self.presubmit("--quick", *self.series())
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 0 failed, 0 skipped")
        self.assertNotIn("\nagain ", done.stdout)
        self.assertEqual(reports.PresubmitReport("", 1, "", "", "", [], self.out).totals(), "no case was run")

    def test_own_files_are_those_of_the_start(self) -> None:
        self.patch("mm: say more", mm__zswap_c="int zswap, more;\n")
        self.assertEqual(self.presubmit("--quick", *self.series()).returncode, 0)
        for name in ("mm/zswap.c", "mm/kunit/Makefile"):
            link = self.out / "plain/tree" / name
            self.assertEqual(link.resolve(), self.out / "own" / name.replace("mm/kunit", "kunit"))
            self.assertEqual(link.read_text(), (REPO / name.replace("mm/kunit", "kunit")).read_text())

    def test_snapshot(self) -> None:
        repo, copy = self.top / "repo", self.top / "copy"
        for name in ("kunit/a.c", "kunit/suites/b.c", "mm/c.h", ".kunitconfig"):
            write(repo / name, name)
        snapshot(repo, copy)
        before = (copy / "kunit/a.c").stat().st_ino
        (repo / "mm/c.h").unlink()
        (repo / "kunit/suites/b.c").write_text("new")
        snapshot(repo, copy)
        self.assertEqual(sorted(str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()),
                         [".kunitconfig", "kunit/a.c", "kunit/suites/b.c"])
        self.assertEqual(((copy / "kunit/suites/b.c").read_text(), (copy / "kunit/a.c").stat().st_ino), ("new", before))

    def test_depths_have_reports_of_their_own(self) -> None:
        self.patch("mm: say more", mm__zswap_c="int zswap, more;\n")
        files = self.series()
        for words in (["--quick"], []):
            self.assertEqual(self.presubmit(*words, *files).returncode, 0)
        self.assertEqual(len(list(self.out.glob("report/*/report.json"))), 2)

    def test_patch_that_removes_a_wrapped_file(self) -> None:
        git(self.kernel, "mv", "mm/swap_state.c", "mm/swap_cache.c")
        self.patch("mm: rename swap_state.c")
        done = self.presubmit("--quick", *self.series())
        self.assertEqual((done.returncode, self.cells()[0]["build"]), (1, WARN), done.stdout)
        step = self.report()["patches"][0]["steps"][2]
        self.assertIn("it includes mm/swap_state.c, which does not exist", step["findings"][0]["evidence"][0])

    def test_patch_that_does_not_apply(self) -> None:
        self.patch("mm: further", mm__swapfile_c="int elsewhere;\n")
        files = self.series()
        (self.kernel / "mm/swapfile.c").write_text("int other;\n")
        done = self.presubmit(*files)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(self.cells()[0]["applies"], FAIL)
        self.assertFalse((self.out / "plain/tree").exists(), "nothing is built for it")

    def test_base_that_does_not_build(self) -> None:
        self.patch("mm: say more", mm__page_io_c="int page_io;\n/* more */\n")
        files = self.series()
        (self.kernel / "mm/swapfile.c").write_text("BROKEN\n")
        done = self.presubmit(*files)
        self.assertEqual(done.returncode, 125, done.stdout)
        self.assertIn("its base, Linux 7.3.4, does not build", done.stdout)

    def test_range_starts_from_its_base(self) -> None:
        self.patch("mm: break it", mm__swapfile_c=PLAIN + "BROKEN\n")
        done = self.presubmit(f"{self.base}..HEAD")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(self.cells()[0]["build"], FAIL)

    def test_last_patch_alone(self) -> None:
        self.patch("mm: say more", mm__swapfile_c=PLAIN + "/* more */\n")
        self.patch("mm: break it", mm__swapfile_c=PLAIN + "/* more */\nBROKEN\n")
        request = CheckRequest(Request(ksrc=self.kernel, out=self.out), spec=f"{self.base}..HEAD", depth="quick",
                               last_only=True, quiet=True)
        report = check(request)
        self.assertEqual([patch.subject for patch in report.patches], ["mm: break it"])
        self.assertEqual(report.patches[0].step("build").status, FAIL)

    def test_unusable_input(self) -> None:
        (self.top / "mail").write_text("Subject: hello\n\nno patch here\n")
        for words in (["HEAD~1..HEAD", str(self.top / "mail")], [str(self.top / "mail")], [str(self.top / "none")]):
            done = self.presubmit(*words)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertEqual(done.stdout.count("swap-kunit: "), 1, done.stdout)

    def test_wrong_options_are_refused_before_any_work(self) -> None:
        self.patch("mm: say more", mm__swapfile_c=PLAIN + "/* more */\n")
        files = self.series()
        for words, message in ((["--config", "nosuch"], "no Kconfig fragment 'nosuch'"),
                            (["--configs", "nosuch"], "no Kconfig fragment 'nosuch'"),
                            (["--policy", "nosuch"], "no policy 'nosuch'"),
                            (["--quick", "--full"], "not allowed with")):
            done = self.presubmit(*words, *files)
            self.assertEqual((done.returncode, len(done.stdout.splitlines())), (2, 1), done.stdout)
            self.assertIn(message, done.stdout)
        self.assertFalse(self.out.exists())

    def test_second_check_uses_the_stored_results(self) -> None:
        self.patch("mm: say more", mm__swapfile_c=PLAIN + "/* more */\n")
        files = self.series()
        self.presubmit(*files)
        made = self.out / "plain/build/made"
        before = made.read_text()
        done = self.presubmit("--quick", *files)
        self.assertRegex(done.stdout, r"\n  the base       build\+suites +\d+\.\d s  \d+ passed, .*, from an earlier "
                                      r"check\n")
        self.assertEqual((done.returncode, made.read_text()), (0, before), done.stdout)
        self.program("clean", "--out", self.out)
        self.assertFalse(self.out.exists())

    def test_base_is_tested_again_after_the_tree_changes(self) -> None:
        kernel = Kernel(self.kernel, "7.3.4", "here", True)
        before = identity_of_kernel(kernel)
        self.assertEqual(identity_of_kernel(kernel), before)
        (self.kernel / "mm/zswap.c").write_text("int other;\n")
        self.assertNotEqual(identity_of_kernel(kernel), before)

    def test_old_build_directory_is_not_waited_for(self) -> None:
        testbed = Testbed(Request(), self.top, "plain", False, "", "", Store(self.top / "store"), self.top / "log")
        left = write(testbed.out / ".removing-x/a/file", "left by a killed check")
        build = write(testbed.out / "build/file", "")
        held = threading.Event()
        with mock.patch("shutil.rmtree", side_effect=lambda path, **_: held.wait(20) and _rmtree(path)):
            testbed.discard(build.parent)
            self.assertEqual((build.parent.exists(), left.exists()), (False, True))
            held.set()
            for thread in threading.enumerate():
                if thread is not threading.current_thread():
                    thread.join(20)
        self.assertEqual(list(testbed.out.iterdir()), [])

    def test_other_series_start_from_the_base_as_built(self) -> None:
        self.patch("mm: say more", mm__swapfile_c=PLAIN + "/* more */\n")
        files = self.series()
        self.presubmit(*files)
        planted = self.out / "plain/build/planted"
        planted.write_text("by the first series")
        self.presubmit(*files)
        self.assertTrue(planted.exists(), "its own directory")
        git(self.kernel, "checkout", "-q", "-B", "other", self.base)
        self.patch("mm: say less", mm__swapfile_c=PLAIN + "/* less */\n")
        done = self.presubmit(f"{self.base}..other")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertFalse(planted.exists(), "no file of one series reaches another")

    def test_makefile_cannot_write_outside(self) -> None:
        precious = self.top / "precious"
        precious.write_text("x")
        hostile = f"\t@rm -f {precious} {self.kernel}/mm/zswap.c\n\t@echo vmlinux"
        self.patch("kbuild: be hostile", Makefile=MAKEFILE.replace("\t@echo vmlinux", hostile))
        self.presubmit(*self.series())
        self.assertTrue(precious.exists() and (self.kernel / "mm/zswap.c").exists())

    def test_without_a_sandbox(self) -> None:
        self.patch("mm: say more", mm__swapfile_c=PLAIN + "/* more */\n")
        done = self.presubmit("--no-sandbox", "--quick", *self.series())
        self.assertEqual(done.returncode, 0, done.stdout)
        line = next(line for line in done.stdout.splitlines() if line.startswith("sandbox: none: "))
        for name in ("report.txt", "report.html", "report.json"):
            text = next(self.out.glob(f"report/*/{name}")).read_text()
            self.assertIn(line.replace(": ", '": "', 1) if name == "report.json" else line, " ".join(text.split()))

    def killed_by_the_sandbox(self, base: bool, why: str = USED_MEMORY) -> CheckRequest:
        """A request whose base, or whose patch, makes make wait until it is killed."""
        sleep = "touch $(O)/begun; sleep 66.5"
        slow = sleep if base else f"if grep -q SLOW mm/swapfile_real.c; then {sleep}; fi"
        (self.kernel / "Makefile").write_text(MAKEFILE.replace("\t@echo vmlinux", f"\t@{slow}\n\t@echo vmlinux"))
        git(self.kernel, "commit", "-qam", "slow")
        self.base = git(self.kernel, "rev-parse", "HEAD").strip()
        self.patch("mm: take much", mm__swapfile_c=PLAIN + "/* SLOW */\n")
        begun = self.out / "plain/build/begun"
        patcher = mock.patch.object(sandbox.Watcher, "__call__", lambda _: why if begun.exists() else "")
        patcher.start()
        self.addCleanup(patcher.stop)
        return CheckRequest(Request(ksrc=self.kernel, out=self.out), files=self.series(), depth="quick", quiet=True)

    def test_base_that_the_sandbox_kills(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, "its base.* it used 9.0 GB of memory.*; use fewer jobs") as caught:
            check(self.killed_by_the_sandbox(base=True))
        self.assertEqual(caught.exception.code, 2)

    def test_patch_that_the_sandbox_kills(self) -> None:
        report = check(self.killed_by_the_sandbox(base=False))
        build, suites = (report.patches[0].step(name) for name in ("build", "suites"))
        self.assertEqual((build.status, build.summary),
                         (FAIL, f"killed: {USED_MEMORY}"))
        self.assertEqual((suites.status, suites.summary), (SKIP, "the build was killed"))

    def test_full_disk_is_not_the_fault_of_a_patch(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, "test of patch 1 was killed: .* nearly full; make room") as caught:
            check(self.killed_by_the_sandbox(base=False, why="the disk of /small became nearly full"))
        self.assertEqual(caught.exception.code, 2)
        self.assertFalse(list(self.out.glob("report/*/report.json")))

    def test_build_directory_is_copied_completely_or_not_at_all(self) -> None:
        testbed = Testbed(Request(), self.top, "plain", False, "", "", Store(self.top), self.top / "log")
        for name in ("a", "b", "c"):
            write(testbed.out / f"pristine/deep/{name}", name)
        full = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch("shutil.copy2", side_effect=[None, full]), \
                self.assertRaisesRegex(SwapKunitError, "the disk of .*/plain/copying/deep is full"):
            testbed.copy(testbed.out / "pristine", testbed.out / "build")
        self.assertEqual([path.name for path in testbed.out.iterdir()], ["pristine"])
        testbed.copy(testbed.out / "pristine", testbed.out / "build")
        self.assertEqual((testbed.out / "build/deep/c").read_text(), "c")

    def test_stopped_and_started_again(self) -> None:
        hurry = self.kernel / ".git/hurry"
        slow = MAKEFILE.replace("\t@echo vmlinux", f"\t@if grep -q SLOW mm/swapfile_real.c && [ ! -e {hurry} ]; then "
                                "touch $(O)/begun; sleep 77.5; fi\n\t@echo vmlinux")
        (self.kernel / "Makefile").write_text(slow)
        git(self.kernel, "commit", "-qam", "slow")
        self.base = git(self.kernel, "rev-parse", "HEAD").strip()
        self.patch("mm: say more", mm__swapfile_c=PLAIN + "/* more */\n")
        self.patch("mm: take long", mm__swapfile_c=PLAIN + "/* SLOW */\n")
        files = self.series()
        process = subprocess.Popen([sys.executable, REPO / "swap-kunit", "presubmit", "--quick", "--ksrc", self.kernel,
                                    "--out", self.out, *files], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        made = self.out / "plain/build/made"
        for _ in range(3000):
            if (self.out / "plain/build/begun").exists():
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=20), 130)
        time.sleep(0.2)
        self.assertEqual(processes_with("77.5"), [])
        self.assertTrue(self.report()["stopped"])
        self.assertEqual(made.read_text(), "vmlinux\n" * 2, "the base and the first patch")
        hurry.touch()
        done = self.presubmit("--quick", *files)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(made.read_text(), "vmlinux\n" * 2, "only the second patch, in a copy of the base's directory")
        self.assertFalse(self.report()["stopped"])


class Steps(Scratch):
    """Each step."""

    def state(self, *tests: TestResult, decisions: tuple[str, ...] = (), **more: object) -> Tested:
        """A state of a kernel."""
        return Tested(True, results={test.name: test for test in tests}, closing=f"{len(tests)} passed",
                      decisions=list(decisions), **more)

    def test_new_failures_only(self) -> None:
        old, new = TestResult("s.old", "failed", ["x"]), TestResult("s.new", "failed", ["rule: broken"])
        passed = TestResult("s.new", "passed")
        step = steps.suites(self.state(old, new), self.state(old, passed), None)
        self.assertEqual((step.status, step.data["failed"]), (FAIL, ["s.new"]))
        self.assertEqual(step.findings, [Finding(FAIL, "1 new failure", ["failed     s.new",
                                                                         "             rule: broken"])])
        step = steps.suites(self.state(old, passed), self.state(old, passed), None)
        self.assertEqual(step.status, PASS)

    def test_failure_of_an_earlier_patch(self) -> None:
        new = self.state(TestResult("s.new", "failed", ["x"]))
        step = steps.suites(new, self.state(TestResult("s.new", "passed")), new)
        self.assertEqual((step.status, step.summary), (NOTE, "1 passed; 1 failure since an earlier patch"))
        self.assertEqual(step.cell, "1 still", "the total of those that pass is not all there is")

    def test_cases_that_no_longer_run(self) -> None:
        base = self.state(TestResult("s.a", "passed"), TestResult("s.b", "passed"))
        step = steps.suites(self.state(TestResult("s.a", "skipped", reason="this kernel lacks it")), base, None)
        self.assertEqual(step.status, WARN)
        self.assertEqual(step.findings[0].evidence, ["s.a: this kernel lacks it", "gone: s.b"])

    def test_cases_that_a_patch_makes_impossible(self) -> None:
        base = self.state(TestResult("s.a[x]", "passed"), TestResult("s.b", "passed"),
                          decisions=("s.a[x] A0:0", "s.b A0:0"))
        tested = self.state(TestResult("s.b", "passed"), decisions=("s.b A0:0",), not_built=["s.a"],
                            misfits=["mm/swapfile.c:9: no member"])
        step = steps.suites(tested, base, None)
        self.assertEqual(step.status, NOTE)
        self.assertIn("1 passed; 1 case not built: swap-kunit needs an update", step.summary)
        self.assertEqual(step.findings[0].evidence, ["s.a", "mm/swapfile.c:9: no member"])
        self.assertEqual(steps.decisions(tested, base).status, PASS)
        self.assertEqual(steps.suites(tested, tested, None).summary, "1 passed")

    def test_known_bug_is_not_a_failure(self) -> None:
        bug = self.state(TestResult("s.a", "failed", ["x"], known="old bug"))
        self.assertEqual(steps.suites(bug, bug, None).status, PASS)

    def test_what_a_patch_changes_for_the_better(self) -> None:
        cases = [TestResult(f"s.{name}", "failed", ["x"]) for name in "abcd"]
        cases[0].known = "old bug"
        before, after = self.state(*cases), self.state(*(TestResult(case.name, "passed") for case in cases))
        self.assertEqual(steps.better(after, before, None, True, ["s.b", "s.z"]),
                         ["known bug gone: old bug: s.a", "passes now: s.b, s.c, s.d",
                          "decisions differ in s.b, as shown below"])
        self.assertEqual(steps.better(after, after, None, True, []), ["no case sees this fix"])
        self.assertEqual(steps.better(after, after, None, False, []), [])
        before.unstable = ["s.b", "s.c", "s.d"]
        self.assertEqual(steps.better(after, before, None, False, ["s.b"]), ["known bug gone: old bug: s.a"])
        after.misfits = ["mm/swapfile.c:9: no member"]
        self.assertEqual(steps.better(after, before, None, False, []), [], "what failed may not be looked at")
        self.assertTrue(steps.FIXES.search("Why.\n\nFixes: 123456789abc (\"mm: x\")\n"))
        self.assertFalse(steps.FIXES.search("Fixes: the bug\n"))

    def test_no_kernel_to_test(self) -> None:
        error = "mm/swapfile.c:7:3: error: no ';'"
        own = str(not_ours("x"))
        for tested, found in ((Tested(False, [error]), (FAIL, "no")), (Tested(False, [error, own]), (WARN, "own")),
                              (Tested(False, [own, error]), (FAIL, "no")), (Tested(False), (FAIL, "no")),
                              (Tested(False, seconds={"build": 1.0, "list": 1.0}), (FAIL, "boot")),
                              (Tested(False, limit="x"), (FAIL, "killed"))):
            step = steps.builds(tested, set(), ["mm/swapfile.c"])
            self.assertEqual((step.status, step.cell), found)
            self.assertEqual(step.data, {"built": False})

    def test_case_that_crashes_is_not_compared(self) -> None:
        passed, crashed = TestResult("s.a", "passed"), TestResult("s.a", "failed", ["crashed: panic"], fate="crashed")
        before, after = self.state(passed, decisions=("s.a A0:0",)), self.state(crashed, decisions=("s.a A0:0",))
        step = steps.decisions(after, before)
        self.assertEqual((step.status, step.cell), (NOTE, "-1"))
        self.assertIn("1 case crashed or hung and cannot be compared", step.summary)

    def test_crash_of_the_base_is_said_once(self) -> None:
        crashed = TestResult("s.a", "failed", ["crashed: Kernel panic - not syncing: BUG!"], fate="crashed")
        base = self.state(crashed, decisions=("s.a A0:0",))
        for step in (steps.suites(base, base, None), steps.reports(base, base, None), steps.decisions(base, base)):
            self.assertEqual((step.status, step.findings), (PASS, []))
            self.assertNotIn("crash", step.summary)
        self.assertEqual(steps.crashes(base), ["the base itself crashes or hangs in 1 case, which no patch is blamed "
                                               "for: s.a"])
        self.assertEqual(steps.crashes(self.state()), [])

    def test_what_differs_between_two_runs_of_the_base_is_not_compared(self) -> None:
        case = TestResult("s.b[x y]", "passed")
        base = self.state(case, decisions=("s.a A0:0", "s.b[x y] A0:1"), unstable=["s.b[x y]"])
        for changed in (case, TestResult("s.b[x y]", "failed", ["x"]), TestResult("s.b[x y]", "skipped")):
            tested = self.state(changed, decisions=("s.a A0:0", "s.b[x y] A1:2"))
            self.assertEqual(steps.decisions(tested, base, base.unstable).status, PASS)
            self.assertEqual(steps.suites(tested, base, None).findings, [])
        self.assertEqual(steps.decisions(tested, base).status, WARN)
        self.assertEqual(steps.unstable(base), ["not stable here, and compared no more: s.b[x y]"])
        self.assertEqual(steps.unstable(tested), [])

    def test_decisions(self) -> None:
        cases = TestResult("s.a[zram]", "passed"), TestResult("s.b", "passed")
        base = self.state(*cases, decisions=("s.a[zram] A0:0", "s.b A0:1 A0:2"))
        self.assertEqual(steps.decisions(base, base).status, PASS)
        step = steps.decisions(self.state(*cases, decisions=("s.a[zram] A0:0", "s.b A0:1 A1:2")), base)
        self.assertEqual((step.status, step.data["changed"]), (WARN, ["s.b"]))
        self.assertIn("A1:2", "\n".join(step.findings[0].evidence))

    def test_mechanism_that_is_added_or_removed(self) -> None:
        step = steps.decisions(self.state(mechanisms=["NEW"]), self.state(mechanisms=["OLD"]))
        self.assertEqual(step.findings, [Finding(NOTE, "mechanism added: NEW"),
                                         Finding(WARN, "mechanism removed: OLD")])

    def test_new_scenarios_lose_nothing(self) -> None:
        one, two = TestResult("s.a", "passed"), TestResult("s.b", "skipped", reason="no thing")
        with_both = self.state(one, replace(two, status="passed"), decisions=("s.a A0:0", "s.b A0:1"))
        with_one = self.state(one, two, decisions=("s.a A0:0",))
        for before, tested, weight, where in ((with_one, with_both, NOTE, "with"),
                                              (with_both, with_one, WARN, "before")):
            self.assertEqual(steps.decisions(tested, before).findings,
                             [Finding(weight, f"1 scenario only {where} the patch", ["s.b: no thing"])])

    def test_reports_of_the_kernel(self) -> None:
        def warned(address: str) -> TestResult:
            return TestResult("s.a", "failed", [f"kernel report: WARNING at mm/swapfile.c:7 swapoff+0x{address}/0x100"])
        none = self.state()
        self.assertEqual(steps.reports(self.state(warned("12")), self.state(warned("34")), None).status, PASS)
        self.assertEqual(steps.reports(self.state(warned("12")), none, self.state(warned("34"))).status, PASS)
        self.assertEqual(steps.reports(self.state(warned("12")), none, none).status, WARN)

    def test_reports_outside_of_all_cases(self) -> None:
        base = self.state(reports=["WARNING: CPU: 0 PID: 1 at mm/swap_state.c:7 swap_init+0x1/0x2"])
        moved = "WARNING: CPU: 0 PID: 9 at mm/swap_state.c:11 swap_init+0x3/0x2"
        self.assertEqual(steps.reports(self.state(reports=[moved]), base, None).status, PASS)
        step = steps.reports(self.state(reports=[moved, "BUG: KASAN: use-after-free in swap_init"]), base, None)
        self.assertEqual((step.status, step.summary), (FAIL, "1 new kernel report"))
        self.assertEqual(step.findings[0].text, "BUG: KASAN: use-after-free in swap_init: outside of all cases")

    def test_report_of_many_cases_is_one_finding(self) -> None:
        warned = self.state(*(TestResult(f"s.{number}", "failed", WARNED.replace("{}", str(number)).split("\n"))
                              for number in range(850)))
        step = steps.reports(warned, self.state(), None)
        self.assertEqual(step.findings, [Finding(
            WARN, "WARNING: mm/swapfile.c:514 at swap_cluster_assert_empty: in 850 cases",
            ["stack: swap_cluster_assert_empty < free_swap_cluster_info < sys_swapoff",
             "cases: s.0, s.1, s.2 and 847 more"])])
        suites = steps.suites(warned, self.state(), None)
        self.assertEqual((suites.status, suites.cell), (NOTE, "850 new"), "its cause is one finding, and not of suites")
        fewer = self.state(*list(warned.results.values())[:848])
        self.assertIn("in 2 more cases", steps.reports(warned, fewer, None).summary
                      + steps.reports(warned, fewer, None).findings[0].text)
        worse = TestResult("s.0", "failed", ["# 0: EXPECTATION FAILED at mm/kunit/suites/s_kunit.c:7", "rule: x",
                                             *WARNED.split("\n")])
        self.assertEqual(steps.suites(self.state(worse), self.state(), None).findings[0].text, "1 new failure")

    def test_panic_is_named_by_what_led_to_it(self) -> None:
        text = ["crashed: Kernel panic - not syncing: BUG!", "BUG: failure at mm/swapfile.c:7/swapoff()!",
                "Kernel panic - not syncing: BUG!"]
        states = self.state(TestResult("s.a", "failed", text, fate="crashed")), self.state(TestResult("s.a", "passed"))
        self.assertEqual(steps.reports(*states, None).findings,
                         [Finding(FAIL, "BUG: failure at mm/swapfile.c:7/swapoff()!: in 1 case", ["cases: s.a"])])
        self.assertEqual([one.weight for one in steps.suites(*states, None).findings], [NOTE])

    def test_old_compiler_warnings(self) -> None:
        old = "mm/swapfile.c:10:2: warning: unused variable 'a' [-Wunused-variable]"
        known = {steps.without_numbers(old)}
        self.assertEqual(steps.builds(self.state(messages=[old.replace("10", "12")]), known, []).status, PASS)
        step = steps.builds(self.state(messages=[old.replace("'a'", "'b'")]), known, [])
        self.assertEqual((step.status, step.summary), (WARN, "1 new warning"))

    def test_change_to_a_judge_is_a_finding(self) -> None:
        patch = Patch(1, 1, 1, "x", "A", "", "", self.top / "p", ["lib/kunit/test.c", "mm/swapfile.c"], "", "")
        step = steps.applies(patch, Applied(patch), [])
        self.assertEqual((step.status, step.summary),
                         (WARN, "applies, but modifies KUnit or checkpatch, which judge it: lib/kunit/test.c"))

    def test_file_that_is_not_compiled_is_named(self) -> None:
        step = steps.builds(self.state(objects=["mm/swapfile.c"]), set(), ["mm/swapfile.c", "fs/nfs/file.c"])
        self.assertEqual(step.details, ["not compiled for ARCH=um in this configuration: fs/nfs/file.c"])

    def test_later_patch_is_not_blamed(self) -> None:
        step = steps.builds(Tested(False, ["mm/a.c:7:9: error: 'helper' undeclared"]), set(), [])
        diff = "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n int old;\n+int helper;\n"
        lost = Patch(1, 3, 1, "x", "A", "", diff, Path(), [], "", "")
        before = replace(step, summary=step.summary.replace(":7:9", ":6:9"))
        for given, weight, begins in ((([lost], [], None), NOTE, "without patch 1, which does not apply: "),
                                      (([replace(lost, diff="+other")], ["2"], None), WARN,
                                       "without patch 2, which is missing: "),
                                      (([], ["1", "2", "4"], None), WARN,
                                       "without patches 1-2, 4, which are missing: "),
                                      (([], [], before), NOTE, "as before this patch: "), (([], [], None), FAIL, "")):
            found = steps.not_its_fault(step, *given)
            said = f"{begins}does not build: mm/a.c:7:9: error: 'helper' undeclared"
            self.assertEqual((found.status, found.summary, found.data), (weight, said, {"built": False}))

    def test_failed_build_says_what_the_tree_lacks(self) -> None:
        write(self.top / "include/linux/a.h", "struct old_desc { int x; };\n")
        for error, name, told in (("undefined type 'struct old_desc'", "old_desc", 0),
                                  ("undefined type 'struct new_desc'", "new_desc", 1),
                                  ("'desc' undeclared; did you mean 'disc'?", "desc", 1),
                                  ("unused variable 'desc'", "desc", 0)):
            step = Step("build", FAIL, f"does not build: mm/a.c:7:9: error: {error}", details=["mm/a.c:7:9: error"])
            found = steps.with_what_the_tree_lacks(step, self.top)
            self.assertEqual(found.details, [f"this kernel has no {name}: is it the one that the patch is for?"] * told
                             + step.details)

    def test_failed_build_names_no_file_of_this_machine(self) -> None:
        session = mock.MagicMock(layout=Layout(self.top))
        session.stages.seconds = {}
        failed = SwapKunitError(f"make failed as shown above (whole output: {self.top}/build.log)")
        for log, said in (("mm/a.c:7:9: error: odd\n", ["mm/a.c:7:9: error: odd"]), ("", [str(failed)])):
            write(self.top / "build.log", log)
            self.assertEqual(testbed.failure_lines(session, failed), said)
        own = SwapKunitError(f"{OWN_FAULT}: x")
        write(self.top / "build.log", "mm/kunit/a.c:7:9: error: odd\n")
        self.assertEqual(testbed.failure_lines(session, own)[-1], str(own))

    def test_first_error_comes_first(self) -> None:
        lines = ["mm/a.c:1: warning: odd", *["more"] * 50, "mm/a.c:7: error: 'x' undeclared", "make: *** [x] Error 2"]
        step = steps.builds(Tested(False, [*lines, *["later"] * 50]), set(), [])
        self.assertEqual((step.status, step.summary), (FAIL, "does not build: mm/a.c:7: error: 'x' undeclared"))
        self.assertEqual((step.details[0], len(step.details)), ("mm/a.c:7: error: 'x' undeclared", steps.MESSAGES))

    def test_checkpatch(self) -> None:
        script = self.top / "scripts/checkpatch.pl"
        script.parent.mkdir()
        script.write_text('print "$ARGV[-1]:$_: CHECK: odd\\n" for 2, 5, 6, 8, 9, 10, 11, 12, 14; exit 1')
        (self.top / "0001.patch").write_text(
            "Subject: x\nwords  that say why\n\n---\n\ndiff --git a/mm/a.c b/mm/a.c\n--- a/mm/a.c\n+++ b/mm/a.c\t2026\n"
            "@@ -7,2 +8,2 @@ int x;\n a\n-b\n+c\n-- \n2.0\n")
        patch = Patch(1, 1, 1, "x", "A", "", "", self.top / "0001.patch", [], "", "")
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        step = steps.checkpatch(patch, self.top)
        self.assertEqual((step.status, step.summary, step.cell), (NOTE, "9 checks", ""))
        self.assertEqual([line.removesuffix(": CHECK: odd") for line in step.findings[0].evidence],
                         ['the mail, "words that say why"', "the mail", "mm/a.c", "mm/a.c", "mm/a.c",
                          "mm/a.c:8", "mm/a.c:8", "mm/a.c:9", "the mail"])
        script.write_text('die "no such module"')
        self.assertEqual(steps.checkpatch(patch, self.top).status, FAIL)

    def test_checkpatch_weighs_and_folds(self) -> None:
        """Style is a note, a missing sign-off more; lines that are moved, or that the base has too, do not count."""
        write(self.top / "mm/a.c", "int there_already;\n")
        write(self.top / "scripts/checkpatch.pl", r"""
            open F, $ARGV[-1];
            while (<F>) {
                my $kind = /new_error/ ? "ERROR" : "WARNING";
                print "$ARGV[-1]:$.: $kind: bad $1\n" if /^\+?int.*(new|moved|there)/;
            }
            print "$ARGV[-1]:1: WARNING: asked $ENV{GIT_DIR}\n";
            print "$ARGV[-1]:1: ERROR: Missing Signed-off-by: line(s) of @ARGV[4, 5]\n";
            exit 1""")
        hunk = "-\tint moved_here;\n+int moved_here;\n+int there_already;\n+int new_error;\n+int new_one;\n"
        diff = f"diff --git a/mm/a.c b/mm/a.c\n--- a/mm/a.c\n+++ b/mm/a.c\n@@ -1,1 +1,4 @@\n{hunk}"
        write(self.top / "1.patch", f"Subject: x\n\n---\n{diff}-- \n2.0\n")
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        step = steps.checkpatch(Patch(1, 1, 1, "x", "A", "", diff, self.top / "1.patch", [], "", ""), self.top)
        unsigned = 'the mail, "Subject: x": ERROR: Missing Signed-off-by: line(s) of --ignore UNKNOWN_COMMIT_ID'
        self.assertEqual([(one.weight, one.text, one.evidence) for one in step.findings],
                         [(WARN, "Missing Signed-off-by", [unsigned]),
                          (NOTE, "1 error", ["mm/a.c:3: ERROR: bad new"]),
                          (NOTE, "2 warnings", ["mm/a.c:4: WARNING: bad new",
                                                'the mail, "Subject: x": WARNING: asked /nonexistent'])])
        self.assertEqual(step.details, ["2 remarks on lines that the patch only moves or repeats"])

    def test_a_diff_alone_needs_no_sign_off(self) -> None:
        write(self.top / "scripts/checkpatch.pl", r"""
            open F, $ARGV[-1];
            while (<F>) { print "$ARGV[-1]:$.: ERROR: odd\n" if /^\+b/; }
            print "$ARGV[-1]:1: ERROR: Missing Signed-off-by: line(s)\n"; exit 1""")
        diff = "diff --git a/mm/a.c b/mm/a.c\n--- a/mm/a.c\n+++ b/mm/a.c\n@@ -1,1 +1,2 @@\n a\n+b\n"
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        for text, found in ((diff, ["1 error"]),
                            (f"From: A <a@b.c>\nSubject: x\n\n{diff}", [steps.UNSIGNED, "1 error"]),
                            (f"Subject: x\n\nwhy\n---\n{diff}", [steps.UNSIGNED, "1 error"])):
            patch = read_inputs([write(self.top / "x.patch", text)], self.top / "work").patches[0]
            step = steps.checkpatch(patch, self.top)
            self.assertEqual(sorted(one.text for one in step.findings), sorted(found), text)

    def test_suspicions_are_a_finding(self) -> None:
        patch = Patch(1, 1, 1, "x", "A", "", "", self.top / "p", [], "", "", ["its tabs became spaces"])
        self.assertEqual(steps.applies(patch, Applied(patch), []).status, WARN)


class Report(Scratch):
    """The files of a report."""

    def made(self, *found: Step) -> PresubmitReport:
        """A report of one patch."""
        patch = PatchReport(1, 1, "mm: <b>x</b>", steps=[step.clean() for step in found])
        return PresubmitReport("mm: x", 1, "7.3.4", "here", "bubblewrap", ["build", "suites"], self.top,
                               patches=[patch])

    def test_fits_a_mail(self) -> None:
        text = reports.text(self.made(Step("build", FAIL, "word " * 40, details=["d" * 300] * 20)))
        self.assertTrue(all(len(line) <= 72 for line in text.splitlines()))
        self.assertIn("15 more lines in report.html", text)
        self.assertFalse([line for line in text.splitlines() if line.startswith(("---", "diff ", "@@"))],
                         "git would take it for a patch")

    def test_base_and_depth_are_named(self) -> None:
        made = self.made(Step("build", PASS, ""))
        made.origin, made.depth, made.configs = "commit f2541de38d23 of ../git", "full", ["kasan", "lockdep"]
        made.config = ["thp", "@free-first"]
        asked = ("base: commit f2541de38d23 of ../git; depth: full; configured with thp, @free-first; "
                 "also tested with kasan, lockdep")
        lines = reports.text(made).partition("\n\n")[0].splitlines()[1:]
        self.assertEqual(" ".join(line.strip() for line in lines), asked.replace(" of ../git", ""))
        self.assertEqual(reports.anywhere("given directory /home/me/linux"), "the given tree")
        self.assertIn(asked, page.render(made))
        self.assertEqual((made.to_json()["depth"], made.to_json()["configs"]), ("full", ["kasan", "lockdep"]))

    def test_long_details_are_wrapped_and_code_is_cut_off_with_a_mark(self) -> None:
        detail = "hunk 1 does not apply; " + "word " * 20 + "the tree seems to have this change already: it has 4"
        code = "  mm/swapfile.c:930: " + "x" * 200
        step = Step("applies", FAIL, "no", details=[detail, code, "  indented " + "word " * 30])
        lines = reports.finding_lines(step, step.clean().findings[0], 9)[1:]
        at = next(place for place, line in enumerate(lines) if "mm/swapfile.c" in line)
        self.assertEqual(" ".join(line.strip() for line in lines[:at]), detail)
        self.assertTrue(all(line.startswith("      ") for line in lines[1:at]) and at > 1)
        self.assertEqual((len(lines[at]), lines[at][-1]), (72, "…"))
        self.assertTrue(lines[at + 1].startswith("      indented") and lines[at + 2].startswith("        word"))

    def long(self, number: int, findings: int) -> PresubmitReport:
        """A report of many patches, with findings of all weights and notes."""
        made = self.made()
        made.patches, made.notes = [], [f"note {at}" for at in range(9)]
        for at in range(1, number + 1):
            found = [Finding((NOTE, WARN, FAIL)[one % 3], f"finding {one} of patch {at}", [f"line {line}" for line in
                     range(30)]) for one in range(findings if at % 2 else 0)]
            made.patches.append(PatchReport(at, number, f"mm: patch {at}", steps=[
                Step("build", PASS, "builds").clean(), Step("suites", PASS, "7 passed", "7").having(found).clean()]))
        return made

    def test_at_most_40_lines_of_72_columns(self) -> None:
        for number, findings in ((1, 0), (1, 2), (1, 40), (3, 3), (30, 0), (30, 2), (60, 9)):
            made = self.long(number, findings)
            made.seconds, lines = 123.0, reports.text(made).splitlines()
            self.assertLessEqual(len(lines), reports.LINES, (number, findings))
            self.assertTrue(all(len(line) <= reports.WIDTH for line in lines))
            self.assertNotIn("123", " ".join(lines))
            made.whole = True
            self.assertEqual(reports.text(made).count("ERROR suites"), number * findings and made.weights()[FAIL])
        lines = reports.text(self.long(9, 40))
        self.assertIn("more findings in report.html", lines)
        self.assertLess(lines.index("ERROR suites"), lines.index("more findings"), "the weightiest are kept")
        self.assertNotIn("WARNING suites", lines)

    def test_table_that_is_too_wide_is_in_blocks(self) -> None:
        rows = [["patch", *(f"heading{number}" for number in range(9))], ["1/1", *"123456789"]]
        lines = reports.blocks(rows)
        self.assertEqual([line.split()[0] for line in lines], ["patch", "1/1"] * 2)
        self.assertTrue(all(len(line) <= reports.WIDTH for line in lines))
        self.assertEqual(" ".join(lines).split().count("9"), 1)

    def test_every_cell_is_explained(self) -> None:
        made = self.made(Step("build", PASS, "builds"), Step("W=1", PASS, "not checked: 32 bit: no multilib", "part"),
                         Step("sparse", SKIP, "none of the files"), Step("configs", SKIP, "none of the files"),
                         Step("suites", PASS, "7 passed, 0 failed", "7"), Step("decisions", PASS, "x", "same"),
                         Step("lines", PASS, "x", "3/3"), Step("reports", NOTE, "1 odd thing", "1 still"))
        made.columns = [*(step.name for step in made.patches[0].steps), "lockdep"]
        self.assertEqual(reports.legend(made), [
            "W=1 part: not checked: 32 bit: no multilib", "sparse, configs -: none of the files",
            "suites N: N cases passed", "decide same: no decision differs",
            "lines N/M: the suites reach N of M changed lines of code",
            "reports 1 still: 1 odd thing (a note, see report.html)", "empty: done for the last patch only"])
        made.patches[0].steps = [Step("suites", SKIP, "no kernel", "-")]
        self.assertEqual(reports.legend(made)[0], "suites -: no kernel")
        made.patches[0].steps = [Step("configs", PASS, "word " * 40, "part")]
        *lines, _ = reports.legend(made)
        self.assertTrue(len(lines) < 5 and max(map(len, lines)) <= reports.WIDTH and lines[-1].endswith("…"), lines)

    def test_what_is_better_is_said_without_findings_too(self) -> None:
        made = self.made(Step("build", PASS, "builds"))
        made.patches[0].better = ["known bug gone: old: s.a"]
        self.assertIn("\n1/1 mm: <b>x</b>\n  better: known bug gone: old: s.a\n", reports.text(made))

    def test_first_screen(self) -> None:
        moved = Step("decisions", WARN, "1 differs", data={
            "changed": ["s.a[x y]"], "before": ["s.a[x y] A0:0 A0:1"], "with": ["s.a[x y] A0:0 A1:1"]})
        made = self.made(Step("build", PASS, "builds"), moved, Step("suites", FAIL, "9 new failures"),
                         Step("lines", WARN, "2 not reached"), Step("reports", WARN, "1 new report"))
        shown = page.render(made)
        places = [shown.index(text) for text in (
            "1 error, 3 warnings; 5 steps, 0 skipped", "9 new failures", "1 differs", "2 not reached", "<svg width=\"",
            '<table class="steps">', "✓ clean: build")]
        self.assertEqual(places, sorted(places))
        self.assertNotIn("1 new report", shown[:shown.index("<svg")], "three findings and no more")
        self.assertIn('<summary><code>s.a</code>', shown)

    def test_progress_is_cut_off_only_on_a_terminal(self) -> None:
        step = Step("applies", FAIL, "word " * 60 + "end", seconds=1.0)
        stream = io.StringIO()
        with mock.patch("sys.stdout", stream), Progress() as progress:
            progress.done("patch 1 of 1", step)
        self.assertTrue(stream.getvalue().endswith("end\n"))
        stream.isatty = lambda: True
        with mock.patch("sys.stdout", stream), Progress() as progress:
            progress.done("patch 1 of 1", step)
        self.assertIn("…\n", stream.getvalue())

    def test_progress_is_not_silent_without_a_terminal(self) -> None:
        stream = io.StringIO()
        with mock.patch("sys.stdout", stream), mock.patch("swapkunit.presubmit.progress.BEAT", 0.01), \
                Progress() as progress:
            progress.at("the base", "build and suites")
            while "so far" not in stream.getvalue():
                time.sleep(0.01)
        self.assertIn("  the base: build and suites: 0:00 so far\n", stream.getvalue())

    def test_output_of_patches_cannot_control_the_terminal(self) -> None:
        made = self.made(Step("build", FAIL, "x\x1b[2J", details=["\x1b]0;owned\x07", "ok\u202e"]))
        self.assertNotIn("\x1b", reports.text(made))
        self.assertNotIn("\u202e", reports.text(made))

    def test_page(self) -> None:
        lines = {"mm/swapfile.c": {7: [3, "\tif (a < b)"], 8: [0, "x();"], 9: [None, "/* <script> */"]}}
        made = self.made(Step("lines", WARN, "1 of 2", details=["<img>"], data={"lines": lines}))
        made.pages, made.patches[0].author = "coverage", "A\x1b[2J\u202e <a@b>"
        (self.top / "coverage").mkdir()
        (self.top / "coverage/index.html").touch()
        shown = page.render(made)
        for wanted in ("mm: &lt;b&gt;x&lt;/b&gt;", '<tr class="hit">', '<tr class="missed">', '<tr class="nocode">',
                       "\tif (a &lt; b)", 'href="coverage/mm/swapfile.c.gcov.html#', "&lt;img&gt;"):
            self.assertIn(wanted, shown)
        self.assertNotRegex(shown, "<script|<img|<b>|\x1b|\u202e")
        self.assertNotRegex(shown, r'(src|href)="(?!coverage/|#)', "self-contained")

    def test_junit_counts_findings(self) -> None:
        made = self.made(Step("build", PASS, ""), Step("suites", WARN, "\x01odd"), Step("lines", SKIP, "not asked"))
        files.write(made)
        suite = ElementTree.parse(self.top / "junit.xml").find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("skipped")), ("3", "1", "1"))

    def test_exit_code(self) -> None:
        self.assertEqual(self.made(Step("build", PASS, ""), Step("suites", SKIP, "")).exit_code, 0)
        self.assertEqual(self.made(Step("build", WARN, "")).exit_code, 1)
        noted = self.made(Step("checkpatch", NOTE, "1 check"))
        self.assertEqual((noted.exit_code, noted.counts()), (0, (1, 0, 0)))
        noted.fail_on = NOTE
        self.assertEqual((noted.exit_code, noted.counts()), (1, (0, 1, 0)))
        warned = self.made(Step("build", WARN, ""))
        warned.fail_on = FAIL
        self.assertEqual(warned.exit_code, 0)

    def test_heaviest_finding_is_the_status(self) -> None:
        step = Step("suites", PASS, "9 passed").having([Finding(NOTE, "odd", ["a"]), Finding(FAIL, "bad")])
        self.assertEqual((step.status, step.lines()), (FAIL, ["NOTE: odd", "  a", "ERROR: bad"]))
        text = reports.text(self.made(step))
        self.assertIn("1 error, 1 note; 1 step, 0 skipped", text)
        self.assertIn("\n  ERROR suites: bad\n", text)
        self.assertNotIn("odd", text)
        self.assertEqual(Step("suites", PASS, "").having([]).status, PASS)

    def test_half_written_value_of_the_store(self) -> None:
        store = Store(self.top / "store")
        self.assertIsNone(store.get("a"))
        store.put("a", {"x": 1})
        self.assertEqual(store.get("a"), {"x": 1})
        (self.top / "store/b.json").write_text('{"x":')
        self.assertIsNone(store.get("b"))


if __name__ == "__main__":
    import unittest
    unittest.main()
