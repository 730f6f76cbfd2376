# SPDX-License-Identifier: GPL-2.0
"""Nobody's git configuration changes what git does for swap-kunit."""
from __future__ import annotations

import os
import unittest

from swapkunit.base import git
from swapkunit.build import patches

from .support import Scratch, git as somebody, write

# The line it removes has a tab where the file has eight spaces.
LOOSE = """--- a/mm/a.c
+++ b/mm/a.c
@@ -1,3 +1,3 @@
 int a;
-\tint b;
+\tint c;
 int d;
"""
CONFIG = """[apply]
\tignoreWhitespace = change
[core]
\thooksPath = {top}/hooks
\texcludesFile = {top}/ignored
[diff]
\tcontext = 0
[safe]
\tdirectory = /somewhere
"""


class Configuration(Scratch):
    """A user's configuration that would matter."""

    def setUp(self) -> None:
        super().setUp()
        write(self.top / "source/mm/a.c", "int a;\n        int b;\nint d;\n")
        self.repository = self.top / "repository"
        write(self.repository / "a.c", "1\n2\n")
        somebody(self.repository, "init", "-q")
        somebody(self.repository, "add", "a.c")
        somebody(self.repository, "commit", "-q", "-m", "two lines")
        write(self.repository / "a.c", "1\n2\n3\n")
        write(self.repository / "b.c", "")
        write(self.top / "ignored", "b.c\n")
        config = write(self.top / "home/.gitconfig", CONFIG.format(top=self.top))
        write(self.top / "home/.config/git/attributes", "*.c whitespace=trailing-space\n")
        os.environ |= {"HOME": str(self.top / "home"), "XDG_CONFIG_HOME": str(self.top / "home/.config"),
                       "GIT_CONFIG_GLOBAL": str(config)}
        git.trusted.cache_clear()
        self.addCleanup(git.trusted.cache_clear)

    def test_a_patch_that_does_not_apply_fails(self) -> None:
        patch = write(self.top / "loose.patch", LOOSE)
        with self.assertRaises(patches.DoesNotApply):
            patches.lay(self.top / "source", self.top / "patched", [], [patch])

    def test_diffs_have_their_context(self) -> None:
        self.assertIn("\n 2\n+3\n", git.in_repository(self.repository, "diff").output)

    def test_attributes(self) -> None:
        told = git.bytes_of(self.repository, "check-attr", "whitespace", "a.c")
        self.assertEqual(told, b"a.c: whitespace: unspecified\n")

    def test_ignored_files(self) -> None:
        self.assertEqual(git.bytes_of(self.repository, "ls-files", "--others", "--exclude-standard"), b"b.c\n")

    def test_the_environment(self) -> None:
        os.environ["GIT_DIR"] = "/nowhere"
        self.assertEqual(git.bytes_of(self.repository, "ls-files"), b"a.c\n")
        self.assertEqual(git.bytes_of(self.repository, "no-such-command"), b"")

    def test_trusted_directories_stay_trusted(self) -> None:
        self.assertEqual(git.trusted(), ("safe.directory=/somewhere",))


if __name__ == "__main__":
    unittest.main()
