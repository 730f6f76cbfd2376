# SPDX-License-Identifier: GPL-2.0
"""The small reader of .gitignore files."""
from __future__ import annotations

import unittest

from swapkunit.build.ignore import parse_ignore_file


class Patterns(unittest.TestCase):
    """Which names a .gitignore in mm/ hides."""

    def hidden(self, text: str, *paths: str) -> list[str]:
        """The paths (directories end with a slash) that text hides."""
        rules = parse_ignore_file(text, "mm/")
        found = []
        for path in paths:
            bare = path.rstrip("/")
            if rules.hides(bare.rpartition("/")[2], bare, path.endswith("/")) and not (
                    rules.keep_regex and rules.keep_regex.fullmatch(bare)):
                found.append(path)
        return found

    def test_each_form(self) -> None:
        for text, paths, expected in (
                ("*.lex.c", ("mm/a.lex.c", "mm/sub/a.lex.c", "mm/lex.c"), ["mm/a.lex.c", "mm/sub/a.lex.c"]),
                ("/made.h", ("mm/made.h", "mm/sub/made.h"), ["mm/made.h"]),
                ("made.h", ("mm/made.h", "mm/sub/made.h"), ["mm/made.h", "mm/sub/made.h"]),
                ("sub/made.h", ("mm/made.h", "mm/sub/made.h"), ["mm/sub/made.h"]),
                ("gen/", ("mm/gen/", "mm/gen"), ["mm/gen/"]),
                ("/*/", ("mm/gen/", "mm/Makefile"), ["mm/gen/"]),
                ("/gen-*/", ("mm/gen-1/", "mm/gen-1", "mm/x/gen-1/"), ["mm/gen-1/"]),
                ("*.tab.[ch]", ("mm/x.tab.c", "mm/x.tab.o"), ["mm/x.tab.c"]),
                ("vdso*.lds", ("mm/vdso64.lds", "mm/vdso/x.lds"), ["mm/vdso64.lds"]),
                ("*.bc\n!keep.bc", ("mm/x.bc", "mm/keep.bc"), ["mm/x.bc"]),
                ("/*\n*\n.*\n# all\n", ("mm/x.c", "mm/.x"), [])):
            with self.subTest(text):
                self.assertEqual(self.hidden(text, *paths), expected)


if __name__ == "__main__":
    unittest.main()
