# SPDX-License-Identifier: GPL-2.0
"""report.html: one self-contained page."""
from __future__ import annotations

from html import escape

from .presubmit_report import PresubmitReport, closing


def page(report: PresubmitReport) -> str:
    """The page."""
    return f"<!DOCTYPE html><title>{escape(report.title)}</title><p>{escape(closing(report))}"
