# SPDX-License-Identifier: GPL-2.0
"""report.html: changed lines are colored by whether a case reaches them."""
from __future__ import annotations

from pathlib import Path

from .report import WEIGHTS, PresubmitReport, asked, closing
from ..base import pages
from ..coverage import lcov


def render(report: PresubmitReport) -> str:
    """The page. Needs jinja2, which deps.PAGES names."""
    covered = bool(report.pages) and (report.out / report.pages / "index.html").exists()
    return pages.render(
        Path(__file__).with_suffix(".html"), report=report, asked=asked(report), closing=closing(report),
        weights=WEIGHTS, address=f"{report.pages}/{{}}.gcov.html" if covered else "",
        anchor="L" if covered and lcov.major_version() >= 2 else "")
