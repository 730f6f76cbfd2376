# SPDX-License-Identifier: GPL-2.0
"""Policies and patches: applied in the overlay, the source unchanged, and removed again."""
from __future__ import annotations

from pathlib import Path
from unittest import mock

from swapkunit.build import patches
from swapkunit.base.errors import SwapKunitError
from swapkunit.build.patches import DoesNotApply
from swapkunit.build.overlay import STALE, Overlay

from .support import fingerprint, write
from .test_tree import OverlayCase


def change(path: str, old: str, new: str, header: str = "") -> str:
    """A patch that replaces path's one line."""
    return f"{header}--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n"


NEW_FILE = "--- /dev/null\n+++ b/mm/new/deep.c\n@@ -0,0 +1 @@\n+int deep;\n"
GONE = "--- a/lib/deep/down/file.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-int deep;\n"


class Laid(OverlayCase):
    """Patches in an overlay."""

    def patch(self, name: str, text: str) -> Path:
        """A patch file."""
        return write(self.top / "patches" / name, text)

    def lay(self, *texts: str) -> Overlay:
        """Sync an overlay with these patches."""
        files = [self.patch(f"{number}.patch", text) for number, text in enumerate(texts)]
        overlay = Overlay(self.kernel, self.tree, self.repo, patches=files)
        overlay.sync()
        return overlay

    def test_the_overlay_is_changed_and_the_source_is_not(self) -> None:
        before = fingerprint(self.kernel)
        self.lay(change("mm/swapfile.c", "int swapfile;", "int changed;"))
        self.assertEqual(self.text("mm/swapfile_real.c"), "int changed;\n")
        self.assertEqual(self.text("mm/swapfile.c"), '#include "swapfile_real.c"\n')
        self.assertEqual(fingerprint(self.kernel), before)

    def test_a_later_patch_builds_on_an_earlier_one(self) -> None:
        self.lay(change("mm/page_io.c", "int page_io;", "int one;"), change("mm/page_io.c", "int one;", "int two;"))
        self.assertEqual(self.text("mm/page_io.c"), "int two;\n")

    def test_taken_off_again_the_object_is_stale(self) -> None:
        self.lay(change("mm/swapfile.c", "int swapfile;", "int changed;"))
        result = self.sync()
        self.assertEqual(self.text("mm/swapfile_real.c"), "int swapfile;\n")
        self.assertIn("mm/swapfile_real.c", result.stale)
        self.assertFalse((self.tree / ".patched").exists())

    def test_a_copy_that_stays_right_keeps_its_time(self) -> None:
        one = change("mm/swapfile.c", "int swapfile;", "int changed;")
        self.lay(one)
        copy = self.tree / ".patched/mm/swapfile.c"
        before = copy.stat().st_mtime_ns
        self.lay(one, change("mm/page_io.c", "int page_io;", "int two;"))
        self.assertEqual(copy.stat().st_mtime_ns, before)
        self.assertEqual(self.text("mm/page_io.c"), "int two;\n")
        self.lay(one)
        self.assertEqual(self.text("mm/page_io.c"), "int page_io;\n")

    def test_an_edit_of_the_source_shows_through(self) -> None:
        write(self.kernel / "mm/page_io.c", "int page_io;\n\n\n\n\n\nint below;\n")
        text = "--- a/mm/page_io.c\n+++ b/mm/page_io.c\n@@ -1,3 +1,3 @@\n-int page_io;\n+int changed;\n \n \n"
        self.lay(text)
        write(self.kernel / "mm/page_io.c", "int page_io;\n\n\n\n\n\nint edited;\n")
        self.lay(text)
        self.assertEqual(self.text("mm/page_io.c"), "int changed;\n\n\n\n\n\nint edited;\n")

    def test_new_and_deleted_files_and_directories(self) -> None:
        self.lay(NEW_FILE, GONE)
        self.assertEqual(self.text("mm/new/deep.c"), "int deep;\n")
        self.assertFalse((self.tree / "lib/deep/down/file.c").is_symlink())
        self.sync()
        self.assertFalse((self.tree / "mm/new").exists())
        self.assertEqual(self.text("lib/deep/down/file.c"), "int deep;\n")

    def test_a_new_file_with_a_wrapper_of_ours_is_wrapped(self) -> None:
        self.lay("--- /dev/null\n+++ b/mm/swap_slots.c\n@@ -0,0 +1 @@\n+int slots;\n")
        self.assertEqual(self.text("mm/swap_slots_real.c"), "int slots;\n")
        self.assertEqual(self.text("mm/swap_slots.c"), '#include "swap_slots_real.c"\n')

    def test_kunit_py_is_patched_as_a_copy(self) -> None:
        name = "tools/testing/kunit/configs/arch_uml.config"
        self.lay(f"--- a/{name}\n+++ b/{name}\n@@ -0,0 +1 @@\n+CONFIG_X=y\n")
        self.assertEqual(self.text(name), "CONFIG_X=y\n")
        self.sync()
        self.assertEqual(self.text(name), "")

    def test_a_hunk_that_does_not_fit_is_named_and_nothing_is_left(self) -> None:
        with self.assertRaisesRegex(DoesNotApply, r"cannot apply 0.patch: its hunk at mm/swapfile.c:1 ") as caught:
            self.lay(change("mm/swapfile.c", "int other;", "int changed;"))
        self.assertEqual((caught.exception.file, caught.exception.line), ("mm/swapfile.c", 1))
        self.assertEqual([path.name for path in self.tree.iterdir() if path.name.startswith(".patched")], [])

    def test_a_sync_that_is_stopped_loses_no_stale_object(self) -> None:
        self.lay(change("mm/swapfile.c", "int swapfile;", "int changed;"))
        for where in ("_lay_own", "_save"):
            (self.tree / STALE).unlink(missing_ok=True)
            self.lay(change("mm/swapfile.c", "int swapfile;", "int changed;"))
            with mock.patch.object(Overlay, where, side_effect=KeyboardInterrupt), \
                    self.assertRaises(KeyboardInterrupt):
                self.sync()
            self.assertIn("mm/swapfile_real.c", self.sync().stale, where)
            self.assertIn("mm/swapfile_real.c", self.sync().stale, f"{where}: not dropped yet")

    def test_a_sync_that_is_stopped_leaves_no_link_to_nothing(self) -> None:
        self.sync()
        with mock.patch.object(Overlay, "_lay_own", side_effect=KeyboardInterrupt), \
                self.assertRaises(KeyboardInterrupt):
            self.lay(change("lib/deep/down/file.c", "int deep;", "int changed;"))
        self.sync()
        self.assertEqual(self.text("lib/deep/down/file.c"), "int deep;\n")

    def test_a_mode_alone_is_a_patch(self) -> None:
        self.lay("diff --git a/mm/swapfile.c b/mm/swapfile.c\nold mode 100644\nnew mode 100755\n")
        self.assertEqual(self.text("mm/swapfile_real.c"), "int swapfile;\n")

    def test_a_file_in_the_place_of_a_directory(self) -> None:
        for name, why in (("lib/deep", "lib/deep is a directory"), ("mm/page_io.c/x.c", "mm/page_io.c is a file")):
            with self.assertRaisesRegex(DoesNotApply, f"it changes {name}, but {why} in this tree"):
                self.lay(f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+x\n")

    def test_a_directory_that_becomes_a_file(self) -> None:
        self.lay(NEW_FILE)
        self.lay("--- /dev/null\n+++ b/mm/new\n@@ -0,0 +1 @@\n+x\n")
        self.assertEqual(self.text("mm/new"), "x\n")
        self.lay(NEW_FILE)
        self.assertEqual(self.text("mm/new/deep.c"), "int deep;\n")

    def test_no_diff(self) -> None:
        for text in ("From: A <a@b.c>\nSubject: Re: [PATCH] mm\n\nLooks good.\n-- \nA\n", "junk\n"):
            with self.assertRaisesRegex(DoesNotApply, "^cannot apply 0.patch: it has no diff that git can read; give a "
                                                      "patch of git format-patch, or the raw mail"):
                self.lay(text)

    def test_a_patch_of_a_file_that_is_not_there(self) -> None:
        with self.assertRaisesRegex(DoesNotApply, "mm/nowhere.c: No such file"):
            self.lay(change("mm/nowhere.c", "int other;", "int changed;"))

    def test_a_patch_that_leaves_the_tree_is_refused(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, r"writes to \.\./evil, outside of the kernel tree"):
            self.lay("--- /dev/null\n+++ b/../evil\n@@ -0,0 +1 @@\n+x\n")


class Policies(OverlayCase):
    """Policies by name."""

    def policies(self, **files: str) -> list[list[Path]]:
        """The steps of policy "one" among these files (with - for _)."""
        for name, text in files.items():
            write(self.top / "policies" / f"{name.replace('_', '-')}.patch", text)
        return patches.steps_of("one", self.top / "policies")

    def test_steps_go_by_number(self) -> None:
        steps = self.policies(one_2_b="", one_1_a="", one_10_c="", one_more_1_a="")
        self.assertEqual([[path.stem for path in step] for step in steps], [["one-1-a"], ["one-2-b"], ["one-10-c"]])
        self.assertEqual(patches.known(self.top / "policies"), ["one", "one-more"])

    def test_policies_in_each_others_way(self) -> None:
        one = self.policies(one_1_a=change("mm/swapfile.c", "int swapfile;", "int one;"),
                            two_1_b=change("mm/swapfile.c", "int swapfile;", "int two;"))
        two = patches.steps_of("two", self.top / "policies")
        with self.assertRaisesRegex(DoesNotApply, "two-1-b.patch after one-1-a.patch: .* one of these policies at a"):
            Overlay(self.kernel, self.tree, self.repo, one + two).sync()

    def test_which_kernel_a_policy_is_for(self) -> None:
        one = self.policies(one_1_a=change("mm/swapfile.c", "int other;", "int one;", "Made-for: Linux 9.x\n\n"))
        with self.assertRaisesRegex(DoesNotApply, "swapfile.c:1 does not apply .* it was made for Linux 9.x"):
            Overlay(self.kernel, self.tree, self.repo, one).sync()

    def test_unknown_policy(self) -> None:
        self.policies(one_1_a="")
        with self.assertRaisesRegex(SwapKunitError, "no policy 'two': .* choose one of one"):
            patches.steps_of("two", self.top / "policies")

    def test_the_first_alternative_that_applies_is_taken(self) -> None:
        steps = self.policies(one_1_a=change("mm/swapfile.c", "int older;", "int a;"),
                              one_1_b=change("mm/swapfile.c", "int swapfile;", "int b;"))
        Overlay(self.kernel, self.tree, self.repo, steps).sync()
        self.assertEqual(self.text("mm/swapfile_real.c"), "int b;\n")

    def test_what_a_tree_has_already_is_said_and_left_out(self) -> None:
        steps = self.policies(one_1_a=change("mm/swapfile.c", "int swapfile;", "int b;",
                                             "Not-needed-if: mm/page_io.c: page_io\n\n"))
        result = Overlay(self.kernel, self.tree, self.repo, steps).sync()
        self.assertEqual(self.text("mm/swapfile_real.c"), "int swapfile;\n")
        self.assertEqual(result.notes, [
            "one-1-a.patch is left out: this tree already has it (page_io in mm/page_io.c)"])
