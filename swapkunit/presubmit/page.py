# SPDX-License-Identifier: GPL-2.0
"""report.html: one self-contained page; changed lines are coloured by whether a case reaches them."""
from __future__ import annotations

from html import escape
from urllib.parse import quote

from ..coverage import lcov
from .report import PatchReport, PresubmitReport, Step, asked, closing, plain

STYLE = """
body { font: 15px/1.4 sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse } th, td { padding: .2em .7em; text-align: left; border-bottom: 1px solid #ddd }
.pass { background: #dff3df } .warn { background: #fff0c0 } .fail { background: #ffd6d0 } .skip { color: #666 }
pre { background: #f6f6f6; padding: .6em; overflow-x: auto; margin: .4em 0 } summary { cursor: pointer }
.code td { border: 0; padding: 0 .6em; font: 13px monospace; white-space: pre; tab-size: 8 }
.hit td { background: #dff3df } .missed td { background: #ffd6d0 } .nocode td { color: #555 }
"""


def page(report: PresubmitReport) -> str:
    """The whole page."""
    version = f" v{report.version}" if report.version > 1 else ""
    anchor = anchors(report)
    parts = [f"<h1>{text(report.title)}{version}</h1>",
             f"<p>on Linux {text(report.kernel)}<br>{text(asked(report))}<br>sandbox: {text(report.sandbox)}<br>"
             f"{text(closing(report))}</p>", *(f"<p>note: {text(note)}</p>" for note in report.notes), overview(report)]
    parts += [section(patch, number, anchor) for number, patch in enumerate(report.patches)]
    parts += [step_part(step, anchor) for step in report.series]
    return (f"<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{text(report.title)}</title>"
            f"<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</html>\n")


def text(value: object) -> str:
    """Anything, safe to stand in the page: much of it is a stranger's."""
    return escape(plain(str(value)))


def anchors(report: PresubmitReport) -> str:
    """What stands before a line's number in the addresses of genhtml's pages; "" without pages."""
    if not report.pages or not (report.out / report.pages / "index.html").exists():
        return ""
    return f"{report.pages}/{{}}.gcov.html#" + ("L" if lcov.major_version() >= 2 else "")


def overview(report: PresubmitReport) -> str:
    """The table of all steps."""
    head = "".join(f"<th>{text(name)}" for name in ("patch", "subject", *report.columns))
    rows = []
    for number, patch in enumerate(report.patches):
        cells = "".join(f'<td class="{step.status}" title="{text(step.summary)}">{text(step.cell)}' if step else "<td>"
                        for step in map(patch.step, report.columns))
        rows.append(f'<tr><td><a href="#patch{number}">{patch.name}</a><td>{text(patch.subject)}{cells}')
    return f"<table><tr>{head}\n" + "\n".join(rows) + "</table>"


def section(patch: PatchReport, number: int, anchor: str) -> str:
    """One patch with all its steps."""
    return (f'<h2 id="patch{number}">{patch.name} {text(patch.subject)}</h2><p>{text(patch.author)}</p>'
            + "\n".join(step_part(step, anchor) for step in patch.steps))


def step_part(step: Step, anchor: str) -> str:
    """One step, open where it found something."""
    opened = " open" if step.status in ("warn", "fail") else ""
    took = f", {step.seconds:.1f} s" if step.seconds > 0 else ""
    inside = f"<pre>{chr(10).join(map(text, step.details))}</pre>" if step.details else ""
    lines = step.data.get("lines", {})
    inside += "".join(changed(name, lines[name], anchor) for name in lines)
    head = f'<span class="{step.status}">{text(step.name)}: {text(step.summary)}</span>{took}'
    return f"<details{opened}><summary>{head}</summary>{inside}</details>" if inside else f"<p>{head}</p>"


def changed(name: str, lines: dict, anchor: str) -> str:
    """The changed lines of one file."""
    rows = []
    for line, (times, code) in lines.items():
        kind = "nocode" if times is None else "hit" if times else "missed"
        number = f'<a href="{quote(anchor.format(name), safe="/#")}{line}">{line}</a>' if anchor else str(line)
        rows.append(f'<tr class="{kind}"><td>{number}<td>{"" if times is None else times}<td>{text_of_code(code)}')
    return f"<h4>{text(name)}</h4><table class=\"code\">" + "".join(rows) + "</table>"


def text_of_code(code: str) -> str:
    """A line of code with its tabs."""
    return "\t".join(map(text, code.split("\t")))
