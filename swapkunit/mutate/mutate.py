# SPDX-License-Identifier: GPL-2.0
"""A campaign: build, run without a mutant, then with each."""
from __future__ import annotations

import math
import random
import sys
import time
from collections import Counter

from ..base.errors import FAILED, SwapKunitError
from ..base.layout import CONFIGS
from ..build.fit import left_out
from ..run import known_bugs, runner
from ..run.results import FAIL, TestResult
from ..run.session import Session
from . import equivalent, kernel
from .base import Base, plain
from .campaign import EQUIVALENT, MOVED, NOTICED, SURVIVED, UNREACHED, Campaign, Verdict, trial_of, verdict_on
from .choice import LOCK, NEEDED_FOR_LOCKS, Choice
from .report import Outcome, Report
from .schemata import Mutant
from .store import Store

STORE = "verdicts.jsonl"


class FailsWithout(SwapKunitError):
    """Cases fail with no mutant active."""

    code = FAILED


def prepare(session: Session, base: Base, tolerant: bool) -> Campaign:
    """Run the suites with no mutant; what fails now and then decides nothing.

    Raises SwapKunitError if more fails than known bugs explain; tolerant: that decides nothing, either.
    """
    options = session.run_options()
    cases = session.list_cases(options)
    chosen = runner.select(cases, [], left_out(session.layout))
    campaign, again = (Campaign(session.layout.vmlinux, options, one) for one in (base, Base()))
    with session.stage("base"), session.confined():
        for one in (campaign, again):
            one.run_base(chosen)
    both = base.failed.keys() & again.base.failed.keys()
    base.compare(again.base)
    failed = {} if tolerant else unexplained(base, session.kernel.version)
    for name in failed:
        if name in both:
            why = verdict_on(name, failed[name]).rule
            raise FailsWithout(f"cannot judge mutants: {name} fails without one: {why}; see "
                               f"`swap-kunit run --filter {plain(name)}` first")
        print(f"swap-kunit: {name} fails now and then, and decides nothing", file=sys.stderr)
    return campaign


def unexplained(base: Base, version: str) -> dict[str, list[str]]:
    """What fails without a mutant though Linux version has no known bug that explains it."""
    bugs, tested = known_bugs.load(CONFIGS / "known_bugs.toml")
    tests = [TestResult(name, FAIL, said, fate=base.fates.get(plain(name), "")) for name, said in base.failed.items()]
    known_bugs.apply(tests, bugs, tested, version)
    return {test.name: test.text for test in tests if not test.known}


class Judge:
    """Verdicts on the chosen mutants: those that are known, and those that a campaign gives."""

    def __init__(self, session: Session, chosen: list[Mutant], base: Base, left: Counter[str]):
        self.session, self.base = session, base
        self.verdicts: dict[int, Verdict] = {}
        self.reasons: dict[int, str] = {}
        self.store = Store(session.layout.out / kernel.FRAGMENT / STORE,
                           kernel.suites_key(session))
        if not set(session.request.config) & set(NEEDED_FOR_LOCKS):
            left[f"{LOCK}: only with {' or '.join(NEEDED_FOR_LOCKS)}"] = sum(one.operator == LOCK for one in chosen)
            chosen = [one for one in chosen if one.operator != LOCK]
        self.chosen = {mutant.number: mutant for mutant in chosen}
        self.entries = equivalent.load()

    def known(self) -> list[Mutant]:
        """Note the verdicts that need no run; returns the mutants that need one."""
        left = []
        for number, mutant in self.chosen.items():
            reason = next((entry.reason for entry in self.entries if entry.covers(mutant)), "")
            stored = self.store.get(mutant.key)
            if reason:
                self.verdicts[number], self.reasons[number] = Verdict(EQUIVALENT), reason
            elif number not in self.base.cases_of:
                self.verdicts[number] = Verdict(UNREACHED)
            elif stored:
                self.verdicts[number] = stored
            else:
                left.append(mutant)
        return left

    def run(self, campaign: Campaign, seconds: float) -> bool:
        """Run what is left, or as much as there is time for; False if it was stopped."""
        left = self.known()
        if seconds < math.inf:      # what there is no time for is not all at the end
            random.Random(len(left)).shuffle(left)
        started, before = time.monotonic(), len(self.verdicts)

        def done(number: int, verdict: Verdict) -> None:
            self.verdicts[number] = verdict
            self.store.put(self.chosen[number].key, verdict)

        def status() -> str:
            counts = Counter(verdict.kind for verdict in self.verdicts.values())
            new = len(self.verdicts) - before
            rate = 60 * new / (time.monotonic() - started + 1e-3)
            time_left = f", {(len(left) - new) / rate:.0f} min left" if new else ""
            noticed = sum(counts[kind] for kind in NOTICED)
            return (f"mutants: {len(self.verdicts)} of {len(self.chosen)}, {noticed} noticed, {counts[MOVED]} moved, "
                    f"{counts[SURVIVED]} survive, {rate:.0f} a minute{time_left}")

        try:
            with self.session.stage("mutants"), self.session.confined():
                campaign.run([trial_of(mutant, self.base) for mutant in left], done, status, seconds)
        except KeyboardInterrupt:
            return False
        return True

    def outcomes(self) -> list[Outcome]:
        """In the order of the source."""
        return [Outcome(mutant, self.verdicts[number], self.base.nearest(number), self.reasons.get(number, ""))
                for number, mutant in sorted(self.chosen.items()) if number in self.verdicts]


def mutate(session: Session, built: kernel.MutantKernel, choice: Choice, seconds: float = math.inf,
           tolerant: bool = False) -> tuple[Report, bool]:
    """Judge the chosen mutants of a kernel that was built; False: it was stopped. Raises SwapKunitError.

    seconds: for the trials; tolerant: cases may fail without a mutant.
    """
    base = Base()
    left = Counter(built.left_out)
    judge = Judge(session, choice.of(built.mutants), base, left)
    campaign = prepare(session, base, tolerant)
    complete = judge.run(campaign, seconds)
    outcomes = judge.outcomes()
    config = [name for name in session.request.config if name != kernel.FRAGMENT]
    return Report(session.kernel.version, config, outcomes, left, len(judge.chosen) - len(outcomes),
                  session.stages.seconds.get("mutants", 0.0), campaign.umls), complete
