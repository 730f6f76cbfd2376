# SPDX-License-Identifier: GPL-2.0
"""A few SVG shapes; their classes are styled by base/style.css."""
from __future__ import annotations

from html import escape
from typing import Iterable


class Picture:
    """A drawing that grows downward; y is relative to the position that down() sets. All lengths are pixels."""

    def __init__(self, width: float):
        self.width, self.top = width, 0.0
        self.shapes: list[str] = []

    def down(self, pixels: float) -> None:
        """Move the position down."""
        self.top += pixels

    def rect(self, x: float, y: float, width: float, height: float, kind: str, title: str = "",
             opacity: float = 1.0) -> None:
        """A rectangle; title is its tooltip."""
        faded = f' fill-opacity="{opacity:.2f}"' if opacity < 1 else ""
        inside = f"><title>{escape(title)}</title></rect>" if title else "/>"
        self.shapes.append(f'<rect class="{kind}" x="{x:.1f}" y="{self.top + y:.1f}" width="{width:.1f}" '
                           f'height="{height:.1f}"{faded}{inside}')

    def label(self, x: float, y: float, text: str, kind: str) -> None:
        """A line of text, its baseline at y."""
        if text:
            self.shapes.append(f'<text class="{kind}" x="{x:.1f}" y="{self.top + y:.1f}">{escape(text)}</text>')

    def line(self, x: float, y: float, length: float, kind: str) -> None:
        """A vertical line that starts at y."""
        self.shapes.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{self.top + y:.1f}" '
                           f'y2="{self.top + y + length:.1f}"/>')

    def path(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """A line through points."""
        steps = " ".join(f"{x:.1f} {self.top + y:.1f}" for x, y in points)
        self.shapes.append(f'<path class="{kind}" d="M{steps}"/>')

    def marker(self, x: float, y: float, kind: str) -> None:
        """A triangle that points down, its tip at x, y."""
        y += self.top
        self.shapes.append(f'<path class="{kind}" d="M{x - 4:.1f} {y - 6:.1f}h8l-4 6z"/>')

    def text(self) -> str:
        """The SVG element."""
        return (f'<svg width="{self.width:.0f}" height="{self.top:.0f}" '
                f'viewBox="0 0 {self.width:.0f} {self.top:.0f}" role="img">' + "".join(self.shapes) + "</svg>")


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """(first, end) of each run of consecutive numbers, ascending; end is exclusive."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number:
            found[-1] = (found[-1][0], number + 1)
        else:
            found.append((number, number + 1))
    return found
