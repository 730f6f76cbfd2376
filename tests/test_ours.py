# SPDX-License-Identifier: GPL-2.0
"""Output directories: nothing of others is taken or removed."""
from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from swapkunit.base import ours
from swapkunit.base.errors import SwapKunitError
from swapkunit.base.layout import Layout
from swapkunit.cli.verbs import clean

from .support import REPO, Scratch, make_kernel, write


class Taken(Scratch):
    """What becomes an output directory."""

    def setUp(self) -> None:
        super().setUp()
        self.kernel = make_kernel(self.top / "src/linux")
        write(self.top / "home/letter", "dear\n")
        (self.top / "new home").mkdir()

    def test_of_others_is_refused_by_every_verb_before_anything_else(self) -> None:
        for words in (["run"], ["coverage"], ["presubmit", REPO / "Makefile"], ["matrix"],
                      ["decisions", self.kernel, self.kernel], ["lab", "congestion"]):
            ksrc = [] if self.kernel in words else ["--ksrc", self.kernel]
            done = self.program(*words, *ksrc, "--out", self.top / "home", env={"PATH": str(self.top)})
            self.assertEqual((done.status, len(done.output.splitlines())), (2, 1), done.output)
            self.assertIn(f"cannot write to the output directory {self.top}/home: it contains letter, which is not "
                          "from swap-kunit; give a new or empty one", done.output)
        self.assertEqual(os.listdir(self.top / "home"), ["letter"])

    def test_kernel_tree_and_all_above_it(self) -> None:
        for place, why in ((self.kernel, "it is a kernel tree"), (self.kernel.parent, "it contains linux, "),
                           (Path("/"), "it contains ")):
            with self.assertRaisesRegex(SwapKunitError, why):
                ours.claim(place)

    def test_an_empty_home(self) -> None:
        with mock.patch.dict(os.environ, HOME=str(self.top / "new home")), \
                self.assertRaisesRegex(SwapKunitError, "it is your home directory"):
            ours.claim(self.top / "new home")

    def test_empty_and_earlier_ones_are_taken(self) -> None:
        ours.claim(self.top / "new home")
        write(self.top / "new home/letter", "dear\n")
        ours.claim(self.top / "new home")
        write(self.top / "old/kunitconfig", "").with_name("build").symlink_to("tree/.kunit")
        ours.claim(self.top / "old")


class Removed(Scratch):
    """What `clean` removes."""

    def clean(self, place: Path) -> tuple[int, str]:
        """The status and output of clean --out place."""
        done = self.program("clean", "--out", place)
        return done.status, done.output

    def made(self, place: Path) -> Path:
        """An output directory with something in it."""
        with Layout(place).lock():
            write(place / "tree/.kunit/vmlinux", "")
            write(place / "ktap.log", "")
        return place

    def test_all_of_ours_with_the_parents_that_were_made(self) -> None:
        (self.top / "mine").mkdir()
        self.made(self.top / "mine/a/b")
        self.assertEqual(self.clean(self.top / "mine/a/b")[0], 0)
        self.assertEqual(os.listdir(self.top), ["mine"])
        self.assertEqual(os.listdir(self.top / "mine"), [])

    def test_nothing_of_others(self) -> None:
        place = self.made(self.top / "a")
        write(place / "notes/today", "")
        write(place / "notes/logs/mine", "")
        write(place / "letter", "")
        status, output = self.clean(place)
        self.assertEqual(status, 0)
        self.assertRegex(output, "left .*a: it contains .*letter.*, not from swap-kunit")
        self.assertEqual(sorted(path.name for path in place.rglob("*")), ["letter", "logs", "mine", "notes", "today"])
        self.assertEqual(self.clean(place)[0], 2)

    def test_several_in_one(self) -> None:
        ours.claim(self.top / "all")
        self.made(self.top / "all/7.3/thp")
        self.made(self.top / "all/7.3/coverage")
        self.made(self.top / "all/7.3/presubmit")
        self.made(self.top / "all/7.3/presubmit/plain")
        write(self.top / "all/matrix.json", "")
        self.assertEqual((self.clean(self.top / "all")), (0, "".join(f"removing {self.top}/all{place}\n" for place in (
            "/7.3/thp", "/7.3/presubmit/plain", "/7.3/presubmit", "/7.3/coverage", ""))))
        self.assertEqual(os.listdir(self.top), [])

    def test_what_only_has_a_name_of_ours(self) -> None:
        ours.claim(self.top / "all")
        for name in ("patches/mine", "logs/mine", "7.3/report/mine"):
            write(self.top / "all" / name, "")
        self.made(self.top / "all/7.3/thp")
        self.assertEqual(self.clean(self.top / "all")[0], 0)
        self.assertEqual(sorted(path.name for path in self.top.rglob("*") if path.is_file()), ["mine"] * 3)

    def test_a_removal_that_was_stopped_goes_on(self) -> None:
        place = self.made(self.top / "a")
        with mock.patch("shutil.rmtree", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            ours.remove(place)
        self.assertFalse((place / "tree").exists())
        self.assertEqual(self.clean(place)[0], 0)
        self.assertFalse(place.exists())

    def test_neither_other_clones_nor_a_run_at_work(self) -> None:
        theirs = self.made(self.top / "cache/out/0ther000/7.3/default")
        mine = self.made(self.top / "cache/out/mine/7.3/default")
        args = mock.Mock(out=None, cache=False)
        code = ("import sys; from pathlib import Path; from swapkunit.base.layout import Layout\n"
                f"with Layout(Path({str(mine)!r})).lock(): print('held', flush=True); sys.stdin.read()")
        holder = subprocess.Popen([sys.executable, "-c", code], cwd=REPO, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        with mock.patch.object(clean, "own_tops", return_value=[mine.parents[1]]), mock.patch("builtins.print"):
            try:
                self.assertEqual(holder.stdout.readline(), "held\n")
                with self.assertRaisesRegex(SwapKunitError, f"in use by process {holder.pid}"):
                    clean.clean(args)
            finally:
                holder.communicate("")
            self.assertTrue((mine / "tree").exists())
            clean.clean(args)
        self.assertEqual(os.listdir(self.top / "cache/out"), ["0ther000"])
        self.assertTrue((theirs / "tree").exists())

    def test_cache(self) -> None:
        write(self.top / "cache/letter", "")
        make_kernel(self.top / "cache/kernels/linux-source-7.3_7.3.4-1")
        args = mock.Mock(out=None, cache=True)
        code = "import sys; from swapkunit.source import kernels; kernels.provide('7.3'); print(1, flush=True); input()"
        user = subprocess.Popen([sys.executable, "-c", code], cwd=REPO, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with mock.patch.object(clean, "own_tops", return_value=[]), mock.patch("builtins.print"):
            user.stdout.readline()
            with self.assertRaisesRegex(SwapKunitError, "another swap-kunit uses it"):
                clean.clean(args)
            user.communicate(b"\n")
            clean.clean(args)
        self.assertEqual(os.listdir(self.top / "cache"), ["letter"])


if __name__ == "__main__":
    unittest.main()
