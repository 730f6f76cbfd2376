# SPDX-License-Identifier: GPL-2.0
"""HTML pages from jinja2 templates: self-contained, with one stylesheet, and safe for untrusted text.

A template lies beside the module that renders it and extends frame.html of this package.
"""
from __future__ import annotations

from pathlib import Path
from typing import Any

from .text import without_controls

SHARED = Path(__file__).parent


def finish(value: Any) -> Any:
    """The text that a template prints for value; a drawing is marked as safe, and unchanged."""
    return value if hasattr(value, "__html__") else without_controls(str(value))


def render(template: Path, **values: object) -> str:
    """The page that template makes of values. Needs jinja2: callers require deps.PAGES first."""
    # Here, because verbs that make no page must run without it.
    from jinja2 import (    # pylint: disable=import-outside-toplevel
        Environment, FileSystemLoader, StrictUndefined)
    environment = Environment(loader=FileSystemLoader([template.parent, SHARED]), autoescape=True, finalize=finish,
                              undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template(template.name).render(values)
