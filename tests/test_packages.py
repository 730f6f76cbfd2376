# SPDX-License-Identifier: GPL-2.0
"""The map of the packages in swapkunit/__init__.py is true."""
from __future__ import annotations

import ast
import re
import unittest
from pathlib import Path

import swapkunit

from .support import REPO

TOP = REPO / "swapkunit"


def module_of(path: Path) -> str:
    """base.errors for swapkunit/base/errors.py."""
    return ".".join(path.relative_to(TOP).with_suffix("").parts)


def imports_of(path: Path, names: set[str]) -> set[str]:
    """The modules of this project that a module imports."""
    package = module_of(path).split(".")[:-1]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            start = package[:len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
            places = [".".join([*start, alias.name]) for alias in node.names] + [".".join(start)]
            found |= {place for place in places if place in names}
    return found


class Packages(unittest.TestCase):
    """Arrows go one way."""

    def setUp(self) -> None:
        paths = {module_of(path): path for path in TOP.rglob("*.py") if path.name != "__init__.py"}
        self.arrows = {name: imports_of(path, set(paths)) for name, path in paths.items()}

    def test_packages_import_only_those_above(self) -> None:
        order = re.findall(r"^([a-z]+)  ", swapkunit.__doc__ or "", re.M)
        self.assertEqual({name.split(".")[0] for name in self.arrows}, set(order))
        wrong = [f"{one} -> {other}" for one, others in self.arrows.items() for other in others
                 if order.index(one.split(".")[0]) < order.index(other.split(".")[0])]
        self.assertEqual(wrong, [])

    def test_no_circles(self) -> None:
        left = dict(self.arrows)
        while True:
            done = [name for name, others in left.items() if not others & left.keys()]
            if not done:
                break
            for name in done:
                del left[name]
        self.assertEqual(left, {})

    def test_verbs_are_imported_by_the_command_line_alone(self) -> None:
        wrong = [f"{one} -> {other}" for one, others in self.arrows.items() for other in others
                 if other.startswith("cli.") and not one.startswith("cli.")]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
