# SPDX-License-Identifier: GPL-2.0
"""Whether a series applies, and the reason if it does not."""
from __future__ import annotations

import os
import subprocess
import sys
import unittest
from dataclasses import replace

from swapkunit.base.errors import SwapKunitError
from swapkunit.build import patches
from swapkunit.presubmit import steps
from swapkunit.series import applying, series
from swapkunit.series.applying import Applied, Failed
from swapkunit.series.bases import Base, base_of

from .support import REPO, Scratch, fingerprint, git, make_kernel, write
from .test_series import SWAPFILE, repository

HEADING = "static int swap_thing(struct page *page)"


class Applying(Scratch):
    """A tree, and patches made by diff."""

    def setUp(self) -> None:
        super().setUp()
        self.kernel = repository(self.top)
        git(self.kernel, "checkout", "-q", "master~2")
        self.patches = series.read_range(self.kernel, "master~2..master", self.top / "work").patches

    def patch(self, diff: str) -> series.Patch:
        """One patch with this diff."""
        file = self.top / "given.patch"
        file.write_text(f"From: a <a@a>\nSubject: [PATCH] given\n\nx\n---\n{diff}")
        return series.read_inputs([file], self.top / "work2").patches[0]

    def attempt(self, *patches: series.Patch) -> list[applying.Outcome]:
        """try_apply in a new scratch directory."""
        scratch = self.top / "scratch"
        subprocess.run(["rm", "-rf", scratch], check=True)
        return applying.try_apply(self.kernel, list(patches), scratch)

    def failure(self, patch: series.Patch) -> Failed:
        """How patch fails."""
        outcome = self.attempt(patch)[0]
        self.assertIsInstance(outcome, Failed)
        return outcome


class Outcomes(Applying):
    """Applied, or Failed with a reason."""

    def test_series_applies_and_the_tree_is_only_read(self) -> None:
        before = fingerprint(self.kernel)
        self.assertEqual([type(one) for one in self.attempt(*self.patches)], [Applied, Applied])
        self.assertEqual(fingerprint(self.kernel), before)
        self.assertEqual((self.top / "scratch/mm/swapfile.c").read_text(),
                         git(self.kernel, "show", "master:mm/swapfile.c"))

    def test_configuration_of_the_user_does_not_matter(self) -> None:
        os.environ["HOME"] = str(self.top)
        os.environ.pop("GIT_CONFIG_GLOBAL", None)
        write(self.top / ".gitconfig", "[apply]\n\tignoreWhitespace = change\n")
        patch = self.hunk("", " int  line_2 = 2;", "+int more;", " int line_3 = 3;", " int line_4 = 4;", start=2)
        self.assertEqual(self.failure(patch).reason, "only white space differs")

    def test_scratch_in_another_repository(self) -> None:
        git(self.top, "init", "-q")
        self.assertEqual([type(one) for one in self.attempt(*self.patches)], [Applied, Applied])

    def test_goes_on_after_a_patch_that_fails(self) -> None:
        lost = self.patch("--- a/mm/swapfile.c\n+++ b/mm/swapfile.c\n@@ -1,2 +1,2 @@\n-no such thing\n+x\n"
                          " int line_2 = 2;\n")
        self.assertEqual([type(one) for one in self.attempt(self.patches[0], lost, self.patches[1])],
                         [Applied, Failed, Applied])

    def test_patch_that_needs_one_that_failed(self) -> None:
        first = self.hunk("", " int nowhere;", "+int new;", " int line_3 = 3;")
        second = self.hunk("", " int new;", "+int newer;", " int line_3 = 3;")
        elsewhere = self.patch("--- a/mm/zswap.c\n+++ b/mm/zswap.c\n@@ -1 +1 @@\n-lost\n+x\n")
        found = self.attempt(first, elsewhere, second)
        self.assertEqual([one.needs for one in found], [[], [], ["1"]])
        self.assertEqual(found[2].lines()[-1], "may need patch 1 of the series, which did not apply")

    def test_patch_that_may_need_a_missing_one(self) -> None:
        lost = replace(self.patch("--- a/mm/zswap.c\n+++ b/mm/zswap.c\n@@ -1 +1 @@\n-lost\n+x\n"), number=3, total=3)
        found = self.attempt(replace(self.patches[0], number=1, total=3), lost)[1]
        self.assertEqual(found.lines()[-1], "may need patch 2 of the series, which is missing")
        self.assertEqual([steps.applies(lost, replace(found, **more), []).status for more in
                          ({}, {"needs": ["1"]}, {"missing": []})], ["warn", "note", "fail"])

    def test_parts_without_code_do_not_stop_the_code(self) -> None:
        write(self.kernel / "MAINTAINERS", "one\n")
        for git_line in ("diff --git {0} {1}\n", ""):
            files = (("MAINTAINERS", "other"), ("mm/zswap.c", "int zswap;"), ("Documentation/x.rst", "gone"))
            diff = "".join(git_line.format(f"a/{name}", f"b/{name}")
                           + f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-{old}\n+new\n" for name, old in files)
            write(self.kernel / "mm/zswap.c", "int zswap;\n")
            outcome = self.attempt(self.patch(diff))[0]
            self.assertEqual((outcome.left_out, outcome.patch.touched),
                             (["MAINTAINERS", "Documentation/x.rst"], ["mm/zswap.c"]))
            step = steps.applies(outcome.patch, outcome, [])
            self.assertEqual((step.status, step.findings[0].text), (
                "note", "applies without its change to MAINTAINERS, Documentation/x.rst, which does not"))
            again = patches.lay(self.kernel, self.top / "laid", [], [outcome.patch.file])
            self.assertEqual(again.files, {"mm/zswap.c": True})
            write(self.kernel / "mm/zswap.c", "int other;\n")
            self.assertEqual(self.attempt(self.patch(diff))[0].file, "Documentation/x.rst")

    def test_first_hunk_and_the_others_are_named(self) -> None:
        write(self.kernel / "mm/swapfile.c", SWAPFILE.replace("line_55 =", "line_fifty_five ="))
        found = self.failure(self.patches[1])
        self.assertEqual((found.file, found.number, found.of), ("mm/swapfile.c", 1, 1))
        self.assertIn("the hunk expects 'int line_55 = 55;' where the tree has something else", found.reason)
        self.assertIn("55: int line_fifty_five = 55;", found.there)
        self.assertTrue(found.where().startswith("mm/swapfile.c: hunk 1 of 1, @@ -53,7 +53,8 @@"), found.where())

    def test_line_in_between(self) -> None:
        write(self.kernel / "mm/swapfile.c", SWAPFILE.replace("int line_53", "int in_between;\nint line_53"))
        found = self.failure(self.patches[1])
        self.assertIn("the tree has other lines between 'int line_52 = 52;' and 'int line_53 = 53;'", found.reason)
        self.assertIn("53: int in_between;", found.there)

    def test_offset(self) -> None:
        write(self.kernel / "mm/swapfile.c", "/* one more line */\n" * 30 + SWAPFILE)
        outcome = self.attempt(self.patches[1])[0]
        self.assertIsInstance(outcome, Applied)
        self.assertEqual(outcome.moved, ["mm/swapfile.c: hunk 1 at line 82, offset 29"])

    def test_hunk_that_applies_in_another_function(self) -> None:
        bodies = "".join(f"int {name}(void)\n{{\n\t{name}_();\n\tloop();\n\treturn 0;\n}}\n" for name in ("one", "two"))
        write(self.kernel / "mm/swapfile.c", bodies.replace("two_();\n\tloop", "two_();\n\tother"))
        for heading, remark in (("int two(void)", ", in one() instead of two()"), ("int one(void)", ""),
                              ("int gone(void)", "")):
            outcome = self.attempt(self.hunk(heading, " \tloop();", "+\tmore();", " \treturn 0;", start=9))[0]
            self.assertEqual(outcome.moved, [f"mm/swapfile.c: hunk 1 at line 4, offset 5{remark}"])
            self.assertEqual(outcome.strayed, outcome.moved if remark else [])
            self.assertEqual(steps.applies(outcome.patch, outcome, []).status, "warn" if remark else "pass")

    def test_hunk_after_others_and_between_functions(self) -> None:
        """Places are looked up by old lines; the function that ends above a comment is not the one it is about."""
        bodies = [f"/*\n * About {name}.\n */\nint {name}(void)\n{{\n\t{name}_();\n\tloop();\n\treturn 0;\n}}\n\n"
                  for name in ("one", "two", "six")]
        write(self.kernel / "mm/swapfile.c", "".join(bodies))
        more = "".join(f"+int more_{number};\n" for number in range(9))
        patch = self.patch("--- a/mm/swapfile.c\n+++ b/mm/swapfile.c\n@@ -101,3 +101,12 @@\n"
                           f"{more} /*\n  * About one.\n  */\n"
                           "@@ -115,3 +124,4 @@ int two(void)\n \ttwo_();\n+\tmore();\n \tloop();\n \treturn 0;\n"
                           "@@ -121,5 +131,5 @@ int one(void)\n /*\n- * About six.\n+ * Of six.\n  */\n"
                           " int six(void)\n {\n")
        outcome = self.attempt(patch)[0]
        self.assertEqual((len(outcome.moved), outcome.strayed), (3, []))

    def test_already_there(self) -> None:
        git(self.kernel, "checkout", "-q", "master")
        self.assertEqual(self.failure(self.patches[1]).reason, "the tree already has this change")

    def test_change_that_the_tree_seems_to_have(self) -> None:
        lines = "".join(f"\tnew_line_{number}();\n" for number in range(5))
        write(self.kernel / "mm/swapfile.c", SWAPFILE.replace("int line_15 = 15;\n", lines + "int line_15 = 0xf;\n"))
        hunk = "@@ -12,4 +12,9 @@\n int line_12 = 12;\n int line_13 = 13;\n int line_14 = 14;\n"
        hunk += "".join(f"+{line}\n" for line in lines.splitlines()) + " int line_15 = 15;\n"
        reason = self.failure(self.patch(f"--- a/mm/swapfile.c\n+++ b/mm/swapfile.c\n{hunk}")).reason
        self.assertIn("the tree seems to have this change already: it has 5 of the 5 lines that the patch adds", reason)
        self.assertNotIn("seems", self.failure(self.patch(
            f"--- a/mm/swapfile.c\n+++ b/mm/swapfile.c\n{hunk.replace('new_line', 'other')}")).reason)

    def function(self, *lines: str) -> None:
        """Give the tree a function, far down."""
        body = "".join(f"\t{line}\n" for line in lines)
        write(self.kernel / "mm/swapfile.c", f"{SWAPFILE}static int swap_thing(struct page *page)\n{{\n{body}}}\n")

    def hunk(self, heading: str, *lines: str, start: int = 3) -> series.Patch:
        """A patch of one hunk."""
        old, new = (sum(line[:1] in (" ", sign) for line in lines) for sign in "-+")
        return self.patch(f"--- a/mm/swapfile.c\n+++ b/mm/swapfile.c\n@@ -{start},{old} +{start},{new} @@ {heading}\n"
                          + "".join(f"{line}\n" for line in lines))

    def test_change_that_the_tree_has_in_a_later_form(self) -> None:
        self.function("prepare();", "struct inode *inode = area->file->host;",
                      "if (likely(area->flags & (DISK | FILE)))", "if (is_congested(inode))", "goto skip;",
                      "proceed();")
        added = ("+\tinode = area->file->host;", "+\tif (area->flags & (DISK | FILE))", "+\tif (is_congested(inode))")
        found = self.failure(self.hunk(HEADING, " \tprepare();", *added, " \tproceed();"))
        self.assertIn("already: it has 3 of the 3 lines that the patch adds, or similar lines", found.reason)
        removed = "-\tinode = area->path->host;"
        found = self.failure(self.hunk(HEADING, " \tprepare();", removed, *added, " \tproceed();"))
        self.assertNotIn("seems", found.reason, "similar lines count only for a patch that removes none")

    def test_single_line_that_the_tree_has(self) -> None:
        self.function("prepare();", "folio_add_anon_rmap_pte(folio, page);", "other();")
        change = ("-\tpage_add_anon_rmap(page);", "+\tfolio_add_anon_rmap_pte(folio, page);")
        found = self.failure(self.hunk(HEADING, " \tprepare();", *change, " \tproceed();"))
        self.assertIn("it has what the patch adds, and not what it removes", found.reason)
        line = "extern bool a_rather_long_name_of_a_single_line;"
        self.function("prepare();", line, "other();")
        for added, seems in ((line, True), ("goto some_other_label_that_is_there;", False)):
            found = self.failure(self.hunk(HEADING, " \tprepare();", f"+\t{added}", " \tproceed();"))
            self.assertEqual("seems to have this change already" in found.reason, seems)
        self.function("prepare();", "folio_add_anon_rmap_pte(folio, page);", "page_add_anon_rmap(page);")
        found = self.failure(self.hunk(HEADING, " \tprepare();", *change, " \tproceed();"))
        self.assertNotIn("seems", found.reason)

    def test_function_without_any_of_the_lines(self) -> None:
        self.function("one();", "two();")
        for heading in (HEADING, "static struct a_rather_long_name *swap_thi"):
            found = self.failure(self.hunk(heading, " \tthree();", "-\tfour();", " \tint line_99 = 99;", " \tfive();"))
            self.assertEqual(found.reason, "swap_thing() has none of the lines this hunk expects")
            self.assertEqual(found.there[0], "101: static int swap_thing(struct page *page)")

    def test_other_lines_at_the_end(self) -> None:
        self.function("one();", "two();")
        patch = self.hunk("", " \tone();", "-\ttwo();", "+\tthree();", " }", " ", " /*")
        found = self.failure(patch)
        self.assertIn("the tree has other lines after 'two();'", found.reason)
        self.assertIn("104: \ttwo();", found.there)

    def test_less_context_would_help(self) -> None:
        lines = [f" int line_{number} = {number};" for number in range(51, 57)]
        patch = self.hunk("", " int changed = 50;", *lines[:2], "+int more;", *lines[2:5])
        self.assertIn("with less context (git apply -C2) it would apply", self.failure(patch).reason)
        patch = self.hunk("", " int changed = 50;", " int changed = 51;", *lines[1:2], "+int more;", *lines[2:5])
        self.assertNotIn("less context", self.failure(patch).reason)

    def test_damage_of_the_mail_is_mentioned(self) -> None:
        self.function("one(a,\tb);", "two(&a);", "other();")
        patch = self.hunk(HEADING, "         one(a,  b);", "-        two(&a);", "+        two(&b);",
                          "         three();")
        found = self.failure(patch)
        self.assertIn("the hunk expects 'three();'", found.reason)
        self.assertIn("(its tabs became spaces; save the raw mail)", found.reason)

    def test_lacking_function(self) -> None:
        hunk = ("@@ -3,3 +3,4 @@ static int swap_thing(struct page *page)\n"
                " \tif (page)\n+\t\twait();\n \t\tgo();\n \tstop();\n")
        found = self.failure(self.patch(f"--- a/mm/swapfile.c\n+++ b/mm/swapfile.c\n{hunk}"))
        self.assertEqual((found.reason, found.there), ("this file has no swap_thing() in this tree", []))

    def test_white_space(self) -> None:
        diff = git(self.kernel, "diff", "-U1", "master", "master~1").replace("\t", "        ")
        diff = diff.replace(" int line_54 = 54;", " int  line_54 = 54;")
        git(self.kernel, "checkout", "-q", "master")
        found = self.failure(self.patch(diff))
        self.assertIn("only white space differs", found.reason)

    def test_files_that_are_not_as_expected(self) -> None:
        new = "--- /dev/null\n+++ b/mm/zswap.c\n@@ -0,0 +1 @@\n+x\n"
        self.assertEqual(self.failure(self.patch(new)).reason, "this tree already has mm/zswap.c")
        both = "".join(f"--- a/mm/{name}.c\n+++ b/mm/{name}.c\n@@ -1 +1 @@\n-lost\n+x\n" for name in ("swapfile", "no"))
        found = self.failure(self.patch(both))
        self.assertEqual((found.file, found.reason, found.others),
                         ("mm/no.c", "this tree has no mm/no.c", ["hunk 1 of mm/swapfile.c"]))
        gone = "--- a/mm/gone.c\n+++ b/mm/gone.c\n@@ -1 +1 @@\n-a\n+b\n"
        self.assertEqual(self.failure(self.patch(gone)).reason, "this tree has no mm/gone.c")
        self.assertEqual(self.failure(self.patch(gone.replace("gone.c", "a gone.c"))).reason,
                         "this tree has no mm/a gone.c")
        self.assertEqual(self.failure(self.patch(gone.replace("a/mm/", "").replace("b/mm/", ""))).reason,
                         "this tree has no gone.c")

    def test_git_refuses_the_hunk_although_its_lines_are_there(self) -> None:
        for lines, reason in ((("-int line_55 = 55;", "+int x;"), "the hunk has no context, which git apply needs"),
                            ((" int line_54 = 54;", "-int line_55 = 55;"), "expects it at the end of the file"),
                            (("-int line_55 = 55;", " int line_56 = 56;"), "expects it at the start of the file")):
            with self.subTest(reason):
                start = 1 if lines[-1][0] == " " else 54
                self.assertIn(reason, self.failure(self.hunk("", *lines, start=start)).reason)
        twice = self.patch(git(self.kernel, "diff", "master~2", "master~1") * 2)
        self.assertIn("another hunk of the patch changes them first", self.failure(twice).reason)

    def test_renames_copies_and_deletions(self) -> None:
        git(self.kernel, "checkout", "-qb", "moves")
        git(self.kernel, "mv", "mm/swapfile.c", "mm/swap_moved.c")
        git(self.kernel, "rm", "-q", "mm/zswap.c")
        write(self.kernel / "mm/new.c", "int new;\n")
        git(self.kernel, "add", "mm")
        git(self.kernel, "commit", "-qm", "mm: moves")
        patch = series.read_range(self.kernel, "moves~1..moves", self.top / "work3").patches[0]
        self.assertEqual(sorted(patch.touched), ["mm/new.c", "mm/swap_moved.c", "mm/swapfile.c", "mm/zswap.c"])
        git(self.kernel, "checkout", "-q", "master~2")
        self.assertIsInstance(self.attempt(patch)[0], Applied)
        self.assertEqual(sorted(path.name for path in (self.top / "scratch/mm").iterdir()), ["new.c", "swap_moved.c"])

    def test_through_a_symbolic_link_of_the_tree(self) -> None:
        (self.kernel / "lib/link").symlink_to("../mm")
        (self.kernel / "mm/alias.c").symlink_to("zswap.c")
        for name, link in (("lib/link/swapfile.c", "lib/link"), ("mm/alias.c", "mm/alias.c")):
            found = self.failure(self.patch(f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-int zswap;\n+b\n"))
            self.assertEqual(found.reason, f"{link} is a symbolic link in this tree")


class Kernels(Applying):
    """The kernels in the cache."""

    def test_which_take_it(self) -> None:
        good = make_kernel(self.top / "cache/kernels/linux-source-7.3_7.3.4-1")
        write(good / "mm/swapfile.c", SWAPFILE)
        make_kernel(self.top / "cache/kernels/linux-source-6.1_6.1.9-1")
        found = applying.which_kernels_take(self.patches, self.top)
        self.assertEqual([(kernel.path.name, [type(one) for one in outcomes]) for kernel, outcomes in found],
                         [("linux-source-7.3_7.3.4-1", [Applied, Applied]),
                          ("linux-source-6.1_6.1.9-1", [Failed, Failed])])


class Bases(Applying):
    """The tree a series is applied to."""

    def base(self, spec: str) -> Base:
        """The base of a range, closed when the test ends."""
        found = base_of(self.kernel, None, spec)
        self.addCleanup(found.close)
        return found

    def test_range_gives_its_first_commits_parent(self) -> None:
        git(self.kernel, "checkout", "-q", "master")
        write(self.kernel / "mm/zswap.c", "int edited;\n")
        before = fingerprint(self.kernel)
        base = self.base("master~1..master")
        self.assertEqual(base.commit, git(self.kernel, "rev-parse", "master~1").strip())
        self.assertEqual((base.path / "mm/swapfile.c").read_text(), git(self.kernel, "show", "master~1:mm/swapfile.c"))
        self.assertEqual((base.path / "mm/zswap.c").read_text(), "int zswap;\n")
        self.assertTrue(base.kernel.given)
        self.assertEqual(fingerprint(self.kernel), before)

    def test_another_base_rewrites_only_what_differs(self) -> None:
        first = self.base("master~1..master")
        stamps = {name: (first.path / name).stat().st_mtime_ns for name in ("mm/swapfile.c", "mm/zswap.c", "Makefile")}
        first.close()
        second = self.base("master~2..master")
        changed = [name for name, stamp in stamps.items() if (second.path / name).stat().st_mtime_ns != stamp]
        self.assertEqual((first.path, changed), (second.path, ["mm/swapfile.c"]))

    def test_partial_clone(self) -> None:
        git(self.kernel, "config", "uploadpack.allowFilter", "true")
        git(self.top, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{self.kernel}", "partial")
        with self.assertRaisesRegex(SwapKunitError, "; run `git checkout .* fetches what this partial clone lacks, or"):
            base_of(self.top / "partial", None, "origin/master~1..origin/master")

    def test_another_process_using_another_base(self) -> None:
        code = ("import sys; from pathlib import Path; from swapkunit.series.bases import base_of\n"
                f"base = base_of(Path({str(self.kernel)!r}), None, sys.argv[1])\n"
                "print('held', flush=True); sys.stdin.read()")
        holder = subprocess.Popen([sys.executable, "-c", code, "master~1..master"], cwd=REPO, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.assertEqual(holder.stdout.readline(), "held\n")
            same = self.base("master~1..master")
            same.close()
            with self.assertRaisesRegex(SwapKunitError, "another swap-kunit is using the current one; wait for it"):
                self.base("master~2..master")
        finally:
            holder.communicate("")
        self.assertTrue(self.base("master~2..master").commit)

    def test_given_trees(self) -> None:
        self.assertEqual(base_of(self.kernel, None).path, self.kernel)
        kernel = make_kernel(self.top / "cache/kernels/linux-source-7.3_7.3.4-1")
        self.assertEqual(base_of(None, "7.3").path, kernel)
        with self.assertRaisesRegex(SwapKunitError, "not a git repository"):
            base_of(kernel, None, "a..b")


if __name__ == "__main__":
    unittest.main()
