# SPDX-License-Identifier: GPL-2.0
"""The summary at the end of a run, one screen."""
from __future__ import annotations

from collections import Counter
from pathlib import Path

from ..base.colors import GREEN, RED, YELLOW, paint
from ..base.layout import REPO
from ..base.text import plural, relative
from ..build.fit import misfit_lines
from .faults import located
from .results import FAIL, PASS, SKIPPED, Report, TestResult
from .runner import Results
from .session import Request, Session

FAILURES = 12       # failed cases shown


def asked_for(request: Request) -> str:
    """The lines for the configuration and the policies of a run."""
    config = f".kunitconfig{''.join(f' + {name}' for name in request.config)}"
    return config + (f"\npolicy     {', '.join(request.policies)}" if request.policies else "")


def verdict(session: Session, results: Results, report: Report, again: str = "") -> str:
    """The text of the summary; its last line has the totals. again: the command that runs the failed cases again."""
    lines = ["", f"kernel     Linux {session.kernel.version}, {session.kernel.origin}",
             f"config     {asked_for(session.request)}"]
    lines += suite_table(results, report)
    lines += failures([test for test in report.tests if test.failed],
                      session.layout.tree)
    lines += [f"again      {again}"] * bool(again)
    lines += known_bug_lines(report)
    lines += [f"{paint('fixed here', GREEN)} {text}" for text in report.fixed]
    lines += skips(report)
    lines += not_built(report, session.layout.tree)
    lines += [f"abandoned  {suite}, which hung: {plural(number, 'case')} not run"
              for suite, number in results.abandoned.items()]
    if results.interrupted:
        lines.append(f"stopped    before the end: {plural(results.missing, 'case')} not run")
    lines.append(f"time       {session.stages.line()} ({results.umls} UML{'s' * (results.umls != 1)})")
    lines += [f"{what:<10} {relative(session.layout.out / name)}" for what, name in (
        ("log", "ktap.log"), ("results", "results.json"), ("", "junit.xml"), ("decisions", "decisions.txt"),
        ("consoles", "logs"))]
    return "\n".join([*lines, report.closing_line()])


def suite_table(results: Results, report: Report) -> list[str]:
    """A line for each suite: counts and seconds."""
    lines = []
    width = max((len(suite.name) for suite in results.suites), default=0)
    for suite in results.suites:
        mine = Report([test for test in report.tests if test.suite == suite.name])
        counts = [f"{mine.count(status):4} {status}" for status in (PASS, FAIL, SKIPPED)]
        bugs = sum(bool(test.known) for test in mine.tests)
        line = f"{suite.name:<{width}} {', '.join(counts)}{f', {bugs} known' if bugs else ''}"
        lines.append(f"suite      {line}  {suite.seconds:5.1f} s")
    return lines


def failures(tests: list[TestResult], tree: Path | None = None) -> list[str]:
    """Failed cases with their text and the places in the sources: crashes first, the same text once.

    tree: as of faults.located().
    """
    groups: dict[tuple[str, ...], list[TestResult]] = {}
    for test in sorted(tests, key=lambda test: not test.fate):
        key = (test.fate or "failed", test.name.partition("[")[0], *located(test.name, test.text, tree))
        groups.setdefault(key, []).append(test)
    order = spread(list(groups))
    lines = []
    for fate, case, *text in order[:FAILURES]:
        parameters = [test.name.partition("[")[2][:-1] for test in groups[fate, case, *text]]
        lines.append(paint(f"{fate:<10}", RED) + f" {case}" + (f"[{', '.join(parameters)}]" if any(parameters) else ""))
        lines += text
    more = Counter(test.suite for key in order[FAILURES:] for test in groups[key])
    if more:
        lines.append(f"failed     and {sum(more.values())} more; see the log: "
                     + ", ".join(f"{number} in {suite}" for suite, number in more.items()))
    return lines


def spread(failed: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Failures with one or two of each suite first, and the fixture's own last: few faults fail in one suite only."""
    places = Counter[str]()
    ranked = []
    for key in failed:
        suite = key[1].partition(".")[0]
        places[suite] += 1
        ranked.append((suite == "swap_fixture", places[suite] > 2, key))
    return [key for *_, key in sorted(ranked, key=lambda one: one[:2])]


def known_bug_lines(report: Report) -> list[str]:
    """The known bugs found, and the cases that show them."""
    titles: dict[str, list[str]] = {}
    for test in report.tests:
        if test.known:
            titles.setdefault(test.known, []).append(test.name)
    lines = []
    for title, names in titles.items():
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        lines += [paint("known bug", YELLOW) + f"  {title}", f"             {', '.join(names[:2])}{more}"]
    return lines


def not_built(report: Report, tree: Path) -> list[str]:
    """The cases left out because this project's code does not fit the tree, and why."""
    lost = report.left_out.lost
    if not report.left_out.misfits:
        return []
    suites = Counter(case.split(".")[0] for case in lost)
    lines = [f"not built  {len(lost)} of {report.left_out.cases} cases need what this tree lacks"
             + (f": {', '.join(f'{number} in {suite}' for suite, number in suites.items())}" if suites else "")]
    for line in misfit_lines(tree, report.left_out):
        name, *rest = line.split(":", 1)
        lines.append(f"{relative(REPO / name)}:{rest[0]}" if name[0] != " " else f"         {line}")
    return lines


def skips(report: Report) -> list[str]:
    """The reasons for skips, with numbers of cases."""
    reasons = Counter(test.reason or "no reason given" for test in report.tests
                      if test.status == SKIPPED)
    return [f"skipped    {reason}: {plural(number, 'case')}" for reason, number in reasons.most_common()]
