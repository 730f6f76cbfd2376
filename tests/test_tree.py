# SPDX-License-Identifier: GPL-2.0
"""The overlay: the source stays untouched, build artefacts are left out, edits are seen."""
from __future__ import annotations

import os
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from swapkunit.base.errors import SwapKunitError
from swapkunit.base.layout import REPO, WRAPPED
from swapkunit.build.overlay import Overlay, SyncResult, check_tree_path, real_name

from .support import Scratch, age, age_directories, fingerprint, git, make_kernel, write

ARTEFACTS = (".config", ".config.old", "vmlinux", "System.map", "mm/swapfile.o", "mm/.swapfile.o.cmd",
             "mm/built-in.a", "include/generated/autoconf.h", "include/config/auto.conf",
             "arch/x86/include/generated/asm/x.h", "lib/crc32table.h", "scripts/kconfig/lexer.lex.c",
             ".tmp_versions/x", "mm/swapfile.gcda", "modules.order", "mm/modules.order",
             ".checked-atomic-long.h", ".tmp_missing-syscalls", "mm/__pycache__/x.pyc")


class OverlayCase(Scratch):
    """A miniature kernel, a miniature repo, and an overlay of them."""

    def setUp(self) -> None:
        super().setUp()
        self.kernel = make_kernel(self.top / "linux")
        self.repo = self.top / "repo"
        write(self.repo / "mm/swapfile.c", '#include "swapfile_real.c"\n')
        write(self.repo / "mm/Makefile", "include Makefile.real\n")
        write(self.repo / "mm/swap_slots.c", '#include "swap_slots_real.c"\n')
        write(self.repo / "mm/swap_kunit.h", "")
        write(self.repo / "mm/policies/thp.patch", "")
        write(self.repo / "kunit/suites/swap_alloc_kunit.c", "")
        write(self.repo / ".kunitconfig", "CONFIG_KUNIT=y\n")
        age_directories(self.kernel)
        self.tree = self.top / "tree"

    def sync(self) -> SyncResult:
        """One sync with a new Overlay, as in every run."""
        return Overlay(self.kernel, self.tree, self.repo).sync()

    def text(self, name: str) -> str:
        """A file's content through the overlay."""
        return (self.tree / name).read_text()


class Laying(OverlayCase):
    """The first sync."""

    def test_own_files_lie_beside_the_kernels(self) -> None:
        self.sync()
        self.assertEqual(self.text("mm/swapfile.c"), '#include "swapfile_real.c"\n')
        self.assertEqual(self.text("mm/swapfile_real.c"), "int swapfile;\n")
        self.assertEqual(self.text("mm/Makefile.real"), "obj-y += swapfile.o\n")
        self.assertEqual(self.text("mm/page_io.c"), "int page_io;\n")
        self.assertEqual(self.text("mm/kunit/.kunitconfig"), "CONFIG_KUNIT=y\n")
        self.assertTrue((self.tree / "mm/kunit/suites/swap_alloc_kunit.c").exists())
        self.assertTrue((self.tree / "mm/swap_kunit.h").exists())

    def test_wrapper_of_a_file_the_kernel_lacks_is_left_out(self) -> None:
        self.sync()
        self.assertFalse((self.tree / "mm/swap_slots.c").exists())
        self.assertFalse((self.tree / "mm/policies").exists())
        write(self.kernel / "mm/swap_slots.c", "int slots;\n")
        self.sync()
        self.assertEqual(self.text("mm/swap_slots_real.c"), "int slots;\n")

    def test_kunit_py_is_a_real_file_that_finds_the_overlay(self) -> None:
        self.sync()
        path = self.tree / "tools/testing/kunit/kunit.py"
        self.assertEqual(path.resolve(), path)

    def test_artefacts_of_a_build_in_the_source_stay_out(self) -> None:
        for name in ARTEFACTS:
            write(self.kernel / name, "x86\n")
        self.sync()
        laid = [name for name in ARTEFACTS if os.path.lexists(self.tree / name)]
        self.assertEqual(laid, [])
        self.assertTrue((self.tree / ".keep").exists())
        self.assertTrue((self.tree / "mm/swap_state.c").exists())

    def test_tracked_file_that_looks_like_an_artefact_is_laid(self) -> None:
        write(self.kernel / "lib/firmware.o", "tracked\n")
        write(self.kernel / "lib/built.o", "not tracked\n")
        git(self.kernel, "init", "-q")
        git(self.kernel, "add", "-f", "lib/firmware.o", "Makefile")
        self.sync()
        self.assertTrue((self.tree / "lib/firmware.o").exists())
        self.assertFalse((self.tree / "lib/built.o").exists())
        self.assertFalse((self.tree / ".git").exists())

    def test_output_directory_inside_the_source_is_not_laid_into_itself(self) -> None:
        self.tree = self.kernel / "out/tree"
        self.sync()
        self.assertFalse((self.tree / "out").exists())

    def test_links_inside_the_source_still_resolve(self) -> None:
        os.symlink("../mm/swapfile.c", self.kernel / "lib/relative.c")
        os.symlink(self.top / "elsewhere", self.kernel / "lib/absolute.c")
        os.symlink("../include", self.kernel / "lib/directory")
        write(self.top / "elsewhere", "elsewhere\n")
        self.sync()
        self.assertEqual(self.text("lib/relative.c"), '#include "swapfile_real.c"\n')
        self.assertEqual(self.text("lib/absolute.c"), "elsewhere\n")
        self.assertEqual(self.text("lib/directory/linux/swap.h"), "/* swap.h */\n")

    def test_mm_that_is_a_link_does_not_lead_our_files_into_the_source(self) -> None:
        (self.kernel / "mm").rename(self.top / "real_mm")
        os.symlink(self.top / "real_mm", self.kernel / "mm")
        before = fingerprint(self.top / "real_mm")
        self.sync()
        self.assertEqual(self.text("mm/swapfile_real.c"), "int swapfile;\n")
        self.assertEqual(fingerprint(self.top / "real_mm"), before)

    def test_space_in_the_source_path(self) -> None:
        self.kernel = self.kernel.rename(self.top / "my linux: new")
        self.sync()
        self.assertEqual(self.text("lib/deep/down/file.c"), "int deep;\n")
        made = subprocess.run(["make", "-s", "-C", self.tree, f"O={self.top}", "vmlinux"], check=False,
                              capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stderr)

    def test_space_in_the_overlay_path_is_refused(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, "does not support spaces or colons"):
            check_tree_path(Path("/tmp/my out/tree"))

    def test_real_names(self) -> None:
        self.assertEqual([real_name(name) for name in ("swapfile.c", "Makefile", "Kconfig")],
                         ["swapfile_real.c", "Makefile.real", "Kconfig.real"])

    def test_every_c_file_of_mm_is_a_wrapper_of_its_namesake(self) -> None:
        """Build, coverage and the kernel's Makefile take their lists of wrapped files from this."""
        self.assertIn("swapfile.c", WRAPPED)
        for name in WRAPPED:
            self.assertIn(f'#include "{real_name(name)}"\n', (REPO / "mm" / name).read_text())


class Untouched(OverlayCase):
    """The source is byte-identical afterwards, mtimes and git status included."""

    def test_after_sync_and_resync(self) -> None:
        git(self.kernel, "init", "-q")
        git(self.kernel, "add", ".")
        git(self.kernel, "commit", "-qm", "all")
        write(self.kernel / "mm/swapfile.c", "int edited;\n")
        status = git(self.kernel, "status", "--porcelain")
        before = fingerprint(self.kernel)
        self.sync()
        self.sync()
        self.assertEqual(fingerprint(self.kernel), before)
        self.assertEqual(git(self.kernel, "status", "--porcelain"), status)

    def test_read_only_source(self) -> None:
        for parent, _, names in os.walk(self.kernel, topdown=False):
            for name in names:
                os.chmod(Path(parent, name), 0o444)
            os.chmod(parent, 0o555)
        before = fingerprint(self.kernel)
        self.sync()
        self.sync()
        self.assertEqual(fingerprint(self.kernel), before)
        copy = self.tree / "tools/testing/kunit/kunit.py"
        self.assertTrue(copy.stat().st_mode & 0o200)


class Resync(OverlayCase):
    """The second sync."""

    def setUp(self) -> None:
        super().setUp()
        self.assertTrue(self.sync().fresh)

    def test_nothing_to_do(self) -> None:
        again = self.sync()
        self.assertEqual((again.fresh, again.links_made, again.links_removed, again.stale),
                         (False, 0, 0, []))

    def test_edit_in_place_is_seen(self) -> None:
        (self.kernel / "mm/swapfile.c").write_text("int edited;\n")
        self.sync()
        self.assertEqual(self.text("mm/swapfile_real.c"), "int edited;\n")

    def test_added_removed_and_renamed(self) -> None:
        write(self.kernel / "lib/deep/new/more.c", "int more;\n")
        (self.kernel / "lib/deep/down/file.c").rename(self.kernel / "lib/deep/down/moved.c")
        (self.kernel / "mm/zswap.c").unlink()
        self.sync()
        self.assertEqual(self.text("lib/deep/new/more.c"), "int more;\n")
        self.assertEqual(self.text("lib/deep/down/moved.c"), "int deep;\n")
        self.assertFalse(os.path.lexists(self.tree / "lib/deep/down/file.c"))
        self.assertFalse(os.path.lexists(self.tree / "mm/zswap.c"))

    def test_directory_removed_and_made_again(self) -> None:
        (self.kernel / "lib/deep/down/file.c").unlink()
        (self.kernel / "lib/deep/down").rmdir()
        self.sync()
        self.assertFalse((self.tree / "lib/deep/down").exists())
        write(self.kernel / "lib/deep/down/again.c", "int again;\n")
        self.sync()
        self.assertEqual(self.text("lib/deep/down/again.c"), "int again;\n")

    def test_file_becomes_a_directory_and_back(self) -> None:
        (self.kernel / "lib/deep/down/file.c").unlink()
        write(self.kernel / "lib/deep/down/file.c/inner.c", "int inner;\n")
        self.sync()
        self.assertEqual(self.text("lib/deep/down/file.c/inner.c"), "int inner;\n")
        (self.kernel / "lib/deep/down/file.c/inner.c").unlink()
        (self.kernel / "lib/deep/down/file.c").rmdir()
        write(self.kernel / "lib/deep/down/file.c", "int file;\n")
        self.sync()
        self.assertEqual(self.text("lib/deep/down/file.c"), "int file;\n")

    def test_change_within_the_same_time_stamp_is_seen(self) -> None:
        directory = self.kernel / "lib/deep"
        write(directory / "one.c", "")
        stamp = time.time_ns()
        os.utime(directory, ns=(stamp, stamp))
        self.sync()
        write(directory / "two.c", "")
        os.utime(directory, ns=(stamp, stamp))
        self.sync()
        self.assertTrue((self.tree / "lib/deep/two.c").exists())

    def test_file_replaced_by_an_older_one_makes_its_objects_stale(self) -> None:
        old = write(self.top / "old.c", "int old;\n")
        age(old, 90000)
        time.sleep(0.02)
        old.rename(self.kernel / "mm/swapfile.c")
        self.assertIn("mm/swapfile_real.c", self.sync().stale)

    def test_a_copy_by_links_makes_nothing_stale(self) -> None:
        time.sleep(0.02)
        os.link(self.kernel / "mm/swapfile.c", self.top / "copy.c")     # as cp -al
        self.assertEqual(self.sync().stale, [])

    def test_file_we_begin_to_wrap_is_stale(self) -> None:
        write(self.repo / "mm/page_io.c", '#include "page_io_real.c"\n')
        self.assertEqual(self.sync().stale, ["mm/page_io.c"])
        self.assertEqual(self.text("mm/page_io_real.c"), "int page_io;\n")

    def test_own_file_removed_gives_the_kernels_back(self) -> None:
        (self.repo / "mm/swapfile.c").unlink()
        (self.repo / "kunit/suites/swap_alloc_kunit.c").unlink()
        self.sync()
        self.assertEqual(self.text("mm/swapfile.c"), "int swapfile;\n")
        self.assertFalse(os.path.lexists(self.tree / "mm/swapfile_real.c"))
        self.assertFalse(os.path.lexists(self.tree / "mm/kunit/suites/swap_alloc_kunit.c"))

    def test_another_source_begins_anew(self) -> None:
        write(self.tree / ".kunit/vmlinux", "of the other kernel")
        self.kernel = make_kernel(self.top / "other", **{"mm/only_here.c": "int other;\n"})
        shutil.rmtree(self.kernel / "lib/deep/down")
        self.assertTrue(self.sync().fresh)
        self.assertEqual(self.text("mm/only_here.c"), "int other;\n")
        self.assertFalse(os.path.lexists(self.tree / "lib/deep/down/file.c"))
        self.assertFalse((self.tree / ".kunit/vmlinux").exists())

    def test_directory_that_is_not_ours_is_left_alone(self) -> None:
        self.tree = self.top / "precious"
        write(self.tree / "thesis.tex", "")
        with self.assertRaisesRegex(SwapKunitError, "files that are not from swap-kunit"):
            self.sync()
        self.assertEqual([path.name for path in self.tree.iterdir()], ["thesis.tex"])

    def test_half_laid_tree_begins_anew(self) -> None:
        (self.tree / ".overlay").unlink()
        (self.tree / "lib/deep/down/file.c").unlink()
        self.assertTrue(self.sync().fresh)
        self.assertEqual(self.text("lib/deep/down/file.c"), "int deep;\n")

    def test_build_directory_survives(self) -> None:
        write(self.tree / ".kunit/vmlinux", "built")
        write(self.kernel / "top.c", "")
        self.sync()
        self.assertEqual(self.text(".kunit/vmlinux"), "built")


if __name__ == "__main__":
    unittest.main()
