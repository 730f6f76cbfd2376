# SPDX-License-Identifier: GPL-2.0
"""The one screen at the end of a run."""
from __future__ import annotations

from collections import Counter

from ..base.text import relative
from .results import FAIL, PASS, SKIPPED, TEXT_LINES, Leaf, Report, interesting
from .runner import Results
from .session import Request, Session

FAILURES = 12       # failed cases shown


def asked_for(request: Request) -> str:
    """The configuration and the policies of a run, as the verdict names them."""
    config = f".kunitconfig{''.join(f' + {name}' for name in request.config)}"
    return config + (f"\npolicy     {', '.join(request.policies)}" if request.policies else "")


def verdict(session: Session, results: Results, report: Report) -> str:
    """The screen's text; its last line is the closing line."""
    lines = ["", f"kernel     Linux {session.kernel.version}, {session.kernel.origin}",
             f"config     {asked_for(session.request)}"]
    lines += suite_table(results, report)
    lines += failures([leaf for leaf in report.leaves if leaf.status == FAIL and not leaf.known])
    lines += known_bug_lines(report)
    lines += [f"fixed here {text}" for text in report.fixed]
    lines += skips(report)
    if results.interrupted:
        lines.append(f"stopped    before the end: {results.missing} cases were not run")
    lines.append(f"time       {session.stages.line()} ({results.umls} UMLs)")
    lines += [f"{what:<10} {relative(session.layout.out / name)}" for what, name in (
        ("log", "ktap.log"), ("results", "results.json"), ("", "junit.xml"), ("decisions", "decisions.txt"),
        ("consoles", "logs"))]
    return "\n".join([*lines, report.closing_line()])


def suite_table(results: Results, report: Report) -> list[str]:
    """One line a suite: counts and seconds."""
    lines = []
    width = max((len(suite.name) for suite in results.suites), default=0)
    for suite in results.suites:
        mine = Report([leaf for leaf in report.leaves if leaf.suite == suite.name])
        counts = [f"{mine.count(status):4} {status}" for status in (PASS, FAIL, SKIPPED)]
        bugs = sum(bool(leaf.known) for leaf in mine.leaves)
        line = f"{suite.name:<{width}} {', '.join(counts)}{f', {bugs} known' if bugs else ''}"
        lines.append(f"suite      {line}  {suite.seconds:5.1f} s")
    return lines


def failures(leaves: list[Leaf]) -> list[str]:
    """The failed cases with the first lines of their text: crashes first, equal texts once."""
    groups: dict[tuple[str, ...], list[Leaf]] = {}
    for leaf in sorted(leaves, key=lambda leaf: not leaf.fate):
        text = [line[:150] for line in interesting(leaf.text)[:TEXT_LINES]]
        groups.setdefault((leaf.fate or "failed", leaf.name.partition("[")[0], *text), []).append(leaf)
    lines = []
    for fate, case, *text in list(groups)[:FAILURES]:
        parameters = [leaf.name.partition("[")[2][:-1] for leaf in groups[fate, case, *text]]
        lines.append(f"{fate:<10} {case}" + (f"[{', '.join(parameters)}]" if any(parameters) else ""))
        lines += [f"             {line}" for line in text]
    more = Counter(leaf.suite for key in list(groups)[FAILURES:] for leaf in groups[key])
    if more:
        lines.append(f"failed     and {sum(more.values())} more, all in the log: "
                     + ", ".join(f"{number} in {suite}" for suite, number in more.items()))
    return lines


def known_bug_lines(report: Report) -> list[str]:
    """Each known bug that was seen, and the cases that show it."""
    titles: dict[str, list[str]] = {}
    for leaf in report.leaves:
        if leaf.known:
            titles.setdefault(leaf.known, []).append(leaf.name)
    lines = []
    for title, names in titles.items():
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        lines += [f"known bug  {title}", f"             {', '.join(names[:2])}{more}"]
    return lines


def skips(report: Report) -> list[str]:
    """Why cases were skipped, counted."""
    reasons = Counter(leaf.reason or "no reason given" for leaf in report.leaves
                      if leaf.status == SKIPPED)
    return [f"skipped    {reason}: {number} case{'s' * (number > 1)}"
            for reason, number in reasons.most_common()]
