# SPDX-License-Identifier: GPL-2.0
"""index.html above the output directories: links to all pages below it."""
from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path

from . import deps, pages
from .layout import write_whole

NAME = "index.html"
# What a page is of -> where below the top it lies.
PLACES = {"lab": "lab/lab.html", "decisions": "decisions/*/decisions-diff.html", "step by step": "animate/*.html",
          "coverage": "*/*/coverage/html/index.html", "mutants": "*/*/mutants/mutants.html",
          "presubmit": "*/presubmit/report/*/report.html"}
TITLE = re.compile(r"<title>(.*?)</title>", re.S)
HEAD = 1 << 12      # characters in which a title is


@dataclass(frozen=True)
class Link:
    """A page. path: relative to the index."""

    path: str
    title: str


def links(top: Path) -> dict[str, list[Link]]:
    """The pages below top, by what they are of."""
    found = {what: [Link(str(path.relative_to(top)), title_of(path)) for path in sorted(top.glob(place))]
             for what, place in PLACES.items()}
    return {what: list for what, list in found.items() if list}


def title_of(path: Path) -> str:
    """The title of a page, or its name."""
    with open(path, encoding="utf-8", errors="replace") as file:
        title = TITLE.search(file.read(HEAD))
    return " ".join(html.unescape(title[1]).split()) if title else path.name


def update(top: Path) -> Path | None:
    """Write the index if there is a page and jinja2; returns its path."""
    found = links(top) if top.is_dir() and not deps.missing(deps.PAGES) else {}
    if not found:
        return None
    write_whole(top / NAME, pages.render(Path(__file__).with_name("index.html"), found=found))
    return top / NAME
