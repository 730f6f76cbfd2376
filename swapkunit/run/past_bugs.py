# SPDX-License-Identifier: GPL-2.0
"""Put past bugs back into a kernel, one at a time: the suites must fail. See configs/past_bugs.toml."""
from __future__ import annotations

import difflib
import io
import re
import tempfile
import tomllib
from collections import Counter
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Sequence

from ..base.errors import FAILED, GOOD, Interrupted, SwapKunitError, UntestableKernel
from ..base.layout import CONFIGS, Layout, default_out
from ..base.text import plural, relative
from .results import Report, TestResult
from .session import Request, Session, open_session

CAUGHT, MISSED, ABSENT, EXCUSED, BROKEN = "caught", "missed", "not here", "impossible", "no build"


@dataclass(frozen=True)
class PastBug:
    """One entry, described in past_bugs.toml."""

    title: str
    file: str
    pattern: str
    replacement: str
    after: str = ""
    caught: str = ""
    config: str = ""
    kernels: Sequence[str] = ()
    impossible: str = ""

    def edited(self, text: str) -> str:
        """text with the bug in it, or "" if it has no place for it."""
        start = 0
        if self.after:
            place = re.search(self.after, text)
            if not place:
                return ""
            start = place.end()
        edited, times = re.subn(self.pattern, self.replacement, text[start:], count=1)
        return text[:start] + edited if times else ""

    def patch_for(self, tree: Path, version: str) -> str:
        """The unified diff that puts it into a kernel tree, or "" if there is no place for it."""
        path = tree / self.file
        if self.kernels and not any(version.startswith(f"{series}.") for series in self.kernels) or not path.exists():
            return ""
        text = path.read_text(errors="surrogateescape")
        edited = self.edited(text)
        return "".join(difflib.unified_diff(text.splitlines(True), edited.splitlines(True), f"a/{self.file}",
                                            f"b/{self.file}")) if edited else ""

    def shown_in(self, failed: list[TestResult]) -> str:
        """The first of the failures that show it, as "failed suite.case: rule", or ""."""
        for test in failed:
            head = f"{test.fate or 'failed'} {test.name}"
            if re.search(self.caught, "\n".join([head, *test.text])):
                rules = [line.strip() for line in test.text if "rule: " in line]
                return f"{head}: {(rules or test.text or [''])[0]}"
        return ""


def load(path: Path = CONFIGS / "past_bugs.toml") -> list[PastBug]:
    """All entries. Raises SwapKunitError."""
    try:
        with open(path, "rb") as file:
            return [PastBug(**entry) for entry in tomllib.load(file)["bug"]]
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise SwapKunitError(f"cannot use the past bugs in {path}: {error}") from error


def replay(request: Request, wanted: str = "") -> int:
    """Replay the bugs whose titles match the regular expression wanted; returns the exit status."""
    try:
        bugs = [bug for bug in load() if re.search(wanted, bug.title, re.I)]
    except re.error as error:
        raise SwapKunitError(f"cannot replay '{wanted}': it is no regular expression: {error}") from error
    if not bugs:
        raise SwapKunitError(f"cannot replay '{wanted}': no title in configs/past_bugs.toml matches it")
    session = open_session(request)
    session.layout = Layout(request.out or default_out(session.kernel, [*request.config, "bugs"], request.policies))
    session.announce()
    done: Counter[str] = Counter()
    print(f"{plural(len(bugs), 'bug')}, each with an incremental build and a run; first a run without any", flush=True)
    with session.layout.lock():
        failed = next(iter(failures(run_with(session, ""))), None)
        if failed:
            raise SwapKunitError(f"cannot judge bugs: {failed.name} fails without one; see `swap-kunit run` first")
        for bug in bugs:
            patch = bug.patch_for(session.kernel.path, session.kernel.version)
            outcome, why = judge(session, bug, patch) if patch else (ABSENT, "")
            done[outcome] += 1
            print(f"{outcome:<10} {bug.title}" + f"\n{'':<11}{why}" * bool(why), flush=True)
    print(", ".join(f"{done[outcome]} {outcome}" for outcome in (CAUGHT, MISSED, EXCUSED, BROKEN, ABSENT)))
    print(f"time       {session.stages.line()}")
    print(f"log        {relative(session.layout.out / 'ktap.log')}: of the last run", flush=True)
    print(f"{done[CAUGHT]} passed, {done[MISSED] + done[BROKEN]} failed, {done[EXCUSED] + done[ABSENT]} skipped")
    return FAILED if done[MISSED] or done[BROKEN] else GOOD


def judge(session: Session, bug: PastBug, patch: str) -> tuple[str, str]:
    """What came of one bug, and why."""
    if bug.config and bug.config not in session.request.config:
        return ABSENT, f"only with --config {bug.config} (make: CONFIG={bug.config})"
    if bug.impossible:
        return EXCUSED, bug.impossible
    try:
        failed = failures(run_with(session, patch))
    except UntestableKernel as error:
        return BROKEN, str(error)
    shown = bug.shown_in(failed)
    if failed and not shown:
        return MISSED, f"{failed[0].fate or 'failed'} {failed[0].name}, but nothing shows {bug.caught}"
    return (CAUGHT, shown) if shown else (MISSED, "")


def run_with(session: Session, patch: str) -> Report:
    """Build and run all suites with a patch; what they print is in the output directory."""
    with tempfile.TemporaryDirectory() as directory, redirect_stdout(io.StringIO()):
        path = Path(directory) / "bug.patch"
        path.write_text(patch, errors="surrogateescape")
        session.request = replace(session.request, patches=[path] if patch else [])
        session.build_kernel()
        results = session.run_suites()
        if results.interrupted:
            raise Interrupted("stopped; what was judged stands above")
        return session.make_report(results)


def failures(report: Report) -> list[TestResult]:
    """The tests that fail, without known bugs."""
    return [test for test in report.tests if test.failed]
