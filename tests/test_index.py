# SPDX-License-Identifier: GPL-2.0
"""The index of all pages."""
from __future__ import annotations

import unittest

from swapkunit.base import index, ours

from .support import Scratch, write


class Index(Scratch):
    """Which pages are found, and how they are linked."""

    def test_pages_are_linked_by_their_titles(self) -> None:
        write(self.top / "lab/lab.html", "<head><title>Experiments &amp;\n more</title></head>")
        write(self.top / "7.3/default/coverage/html/index.html", "<p>no title</p>")
        write(self.top / "7.3/default/other.html", "<title>not ours</title>")
        self.assertEqual({what: [(link.path, link.title) for link in links]
                          for what, links in index.links(self.top).items()},
                         {"lab": [("lab/lab.html", "Experiments & more")],
                          "coverage": [("7.3/default/coverage/html/index.html", "index.html")]})
        path = index.update(self.top)
        assert path
        self.assertIn('<a href="lab/lab.html">Experiments &amp; more</a>', path.read_text())
        self.assertTrue(ours.IN_PARENT.fullmatch(path.name))

    def test_without_pages_there_is_none(self) -> None:
        self.assertIsNone(index.update(self.top))
        self.assertIsNone(index.update(self.top / "nowhere"))
        self.assertFalse((self.top / index.NAME).exists())


if __name__ == "__main__":
    unittest.main()
