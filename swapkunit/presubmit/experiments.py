# SPDX-License-Identifier: GPL-2.0
"""The steps `lab NAME`: what a series changes in an experiment, in virtual time."""
from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from ..base.errors import SwapKunitError
from ..lab import measure, table
from ..lab.experiment import LESS, Comparison, Experiment, Plan
from ..lab.figures import values
from ..run.session import Session
from .report import NOTE, PASS, SKIP, WARN, Finding, Step
from .testbed import PRISTINE, Testbed, limit_of, quiet

SHOWN = 3       # figures in the one line of the table


def name_of(experiment: Experiment) -> str:
    """The name of its step and of its column."""
    return f"lab {experiment.name}"


@dataclass(frozen=True)
class Compared:
    """What to compare. files: the patches of the series."""

    experiment: Experiment
    testbed: Testbed
    plain: Testbed
    files: list[Path]


def step_of(compared: Compared) -> Step:
    """The step of a series, for its last patch."""
    testbed, one = compared.testbed, compared.experiment
    key = testbed.key(compared.files, repr(one))
    known = testbed.store.get(key)
    if known:
        return Step.stored(known)
    with quiet(testbed.log):
        step = try_to_compare(compared)
    if step.status != SKIP:
        testbed.store.put(key, asdict(step))
    return step


def try_to_compare(compared: Compared) -> Step:
    """Build the base and the series, and measure both."""
    testbed, one = compared.testbed, compared.experiment
    session = testbed.session(compared.files)
    try:
        testbed.build_base(compared.plain)
        with session.layout.lock():
            testbed.take_over(session, compared.files)
            session.build_kernel()
            return judged(one, both_of(session, one, testbed.out / PRISTINE / "vmlinux"))
    except SwapKunitError as error:
        return Step(name_of(one), SKIP, limit_of(session.sandbox) or str(error))


def settings(experiment: Experiment) -> list[Plan]:
    """The sides without their policies and kernels, each once: the series takes the place of these."""
    found = {tuple(plan.args): Plan(plan.name, plan.suite, args=plan.args) for plan in reversed(experiment.sides)}
    return list(reversed(found.values()))


def both_of(session: Session, experiment: Experiment, base: Path) -> list[tuple[measure.Side, measure.Side]]:
    """The base and the series, measured with each setting. base: its kernel."""
    found: list[tuple[measure.Side, measure.Side]] = []
    boots: list[measure.Boot] = []
    for plan in settings(experiment):
        pair = measure.Side(plan, session.kernel), measure.Side(plan, session.kernel)
        for letter, side, binary in zip("ab", pair, (base, session.layout.vmlinux)):
            boots += measure.boots_of(side, session, experiment, f"{letter}{len(found)}", binary=binary)
        found.append(pair)
    with session.confined():
        measure.run_all(boots, session.request.jobs)
    return found


def judged(experiment: Experiment, found: list[tuple[measure.Side, measure.Side]]) -> Step:
    """The step of two measured kernels: a warning for a figure that is worse with every seed, a note for another."""
    findings, alike = [], 0
    for base, series in found:
        for asked in experiment.compare:
            old, new = (values(side.measured, asked.figure) for side in (base, series))
            if old == new:
                alike += 1
                continue
            setting = f"{base.plan.name}: " if len(found) > 1 else ""
            findings.append(Finding(WARN if worse(asked, old, new) else NOTE, setting + line_of(asked, old, new)))
    # The weightier ones first, since a table shows few.
    findings.sort(key=lambda one: one.weight != WARN)
    summary = "; ".join(one.text for one in findings[:SHOWN]) or f"the same figures ({alike})"
    return Step(name_of(experiment), PASS, summary, str(len(findings)) if findings else "same").having(findings)


def line_of(asked: Comparison, old: list[float], new: list[float]) -> str:
    """"worst fault, ms: 57.4 -> 9.9, x0.172"."""
    row = table.row(asked, old, new)
    before, after = (table.with_spread(value, spread) for value, spread in zip(row.ours, row.spread))
    return f"{asked.name}: {before} -> {after}, {table.times(row.ratio)}"


def worse(asked: Comparison, old: list[float], new: list[float]) -> bool:
    """Whether the new figures are all worse than all old ones."""
    if not asked.better:
        return False
    return min(new) > max(old) if asked.better == LESS else max(new) < min(old)
