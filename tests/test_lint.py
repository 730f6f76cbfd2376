# SPDX-License-Identifier: GPL-2.0
"""Which findings of checkpatch are excused."""
from __future__ import annotations

import unittest
from unittest import mock

from swapkunit import lint

from .support import Scratch, write


class Excuses(Scratch):
    """A finding is excused by its kind, its file and its line."""

    def test_excuse(self) -> None:
        write(self.top / "mm/zswap.c", "#if __has_include(<linux/a.h>)\nint a =1;\n")
        brackets = lint.Excuse("SPACING", "*", r"__has_include\(<", "brackets, not operators")
        with mock.patch("swapkunit.lint.REPO", self.top), mock.patch("swapkunit.lint.EXCUSES", (brackets,)):
            for finding, excused in (
                    ("mm/zswap.c:1: ERROR:SPACING: spaces required around that '<'", True),
                    ("mm/zswap.c:2: ERROR:SPACING: spaces required around that '='", False),
                    ("mm/zswap.c:1: WARNING:LONG_LINE: line length of 120", False),
                    ("perl: cannot open file", False)):
                with self.subTest(finding):
                    self.assertEqual(bool(lint.excuse_for(finding)), excused)


if __name__ == "__main__":
    unittest.main()
