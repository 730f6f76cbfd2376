# SPDX-License-Identifier: GPL-2.0
"""The step `mutants`: which ways to get the changed lines wrong would no suite notice?"""
from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from ..base import deps
from ..base.errors import SwapKunitError
from ..base.text import plural
from ..mutate import equivalent, kernel
from ..mutate.campaign import MOVED, NOTICED, SURVIVED
from ..mutate.choice import Choice
from ..mutate.mutate import mutate
from ..mutate.report import Report
from .report import NOTE, PASS, SKIP, Finding, Step
from .testbed import PRISTINE, Testbed, limit_of, quiet

STEP = "mutants"
SECONDS = 40.0      # for the trials of a series; the build and the run without mutants come on top
SHOWN = 2           # of those that are not noticed, in the one line of report.txt


@dataclass(frozen=True)
class Changed:
    """What a series changes. lines: file -> lines of the last state."""

    testbed: Testbed
    plain: Testbed
    files: list[Path]
    lines: dict[str, set[int]]


def step_of(changed: Changed) -> Step:
    """The step of a series, for its last patch."""
    testbed = changed.testbed
    if not any(changed.lines.values()):
        return Step(STEP, SKIP, "leaves no line of the swap files changed", "none")
    lost = deps.missing(deps.MUTANTS)
    if lost:
        return Step(STEP, SKIP, f"needs {', '.join(lost)}")
    name = testbed.key(changed.files, STEP, equivalent.FILE.read_text(),
                       sorted((file, sorted(lines)) for file, lines in changed.lines.items()))
    known = testbed.store.get(name)
    if known:
        return Step.stored(known)
    with quiet(testbed.log):
        step = try_all(changed)
    if step.status != SKIP and not step.data["untried"]:
        testbed.store.put(name, asdict(step))
    return step


def try_all(changed: Changed) -> Step:
    """Build with mutants of the changed lines, and try them."""
    testbed = changed.testbed
    session = testbed.session(changed.files)
    try:
        testbed.build_base(changed.plain)
        with session.layout.lock():
            testbed.take_over(session, changed.files)
            built = kernel.make(session, lambda mutant: mutant.line in changed.lines.get(mutant.file, ()),
                                session.layout.out / PRISTINE)
            report, complete = mutate(session, built, Choice(), SECONDS, tolerant=True)
    except SwapKunitError as error:
        return Step(STEP, SKIP, limit_of(session.sandbox) or str(error))
    if not complete:
        raise KeyboardInterrupt
    return judged(report)


def judged(report: Report) -> Step:
    """The step that a campaign gives."""
    noticed, lost = len(report.of(*NOTICED, MOVED)), report.of(SURVIVED)
    tried = noticed + len(lost)
    if not tried:
        return Step(STEP, SKIP, "the changed lines have no mutants that a case reaches", "none")
    summary = f"of {plural(tried, 'way')} to get the changed lines wrong {noticed} are noticed"
    details = [f"{plural(report.untried, 'way')} not tried in {SECONDS:.0f} s"] if report.untried else []
    step = Step(STEP, PASS, summary, f"{noticed}/{tried}", details, data={"untried": report.untried})
    if not lost:
        return step
    more = f"; and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
    text = f"{summary}; not noticed: {'; '.join(one.line() for one in lost[:SHOWN])}{more}"
    return step.having([Finding(NOTE, text, [line for one in lost for line in (
        one.line(), *(f"  near: {case}" for case in one.nearest[:1]))])])
