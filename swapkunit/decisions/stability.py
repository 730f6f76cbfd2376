# SPDX-License-Identifier: GPL-2.0
"""Run the suites of one build several times: what differs between the runs depends on chance."""
from __future__ import annotations

import os
from contextlib import nullcontext

from .notation import LINE
from ..base import commands
from ..base.errors import FAILED, GOOD, STOPPED
from ..base.text import plural
from ..run.results import Report
from ..run.runner import Results
from ..run.session import Request, open_session

Seen = dict[str, str]       # "decisions of swap_io.case[param]" or "result of ..." -> its text
SHOWN = 90                  # columns of a text that differs
BEFORE = 30                 # those before the first difference


def stability(request: Request, runs: int) -> int:
    """Run the suites runs times and print what differs; returns the exit status."""
    session = open_session(request)
    session.announce()
    seen: list[Seen] = []
    with session.layout.lock(), nullcontext() if request.verbose else commands.shown_once():
        session.build_kernel()
        for number in range(1, runs + 1):
            results = session.run_suites()
            report = session.make_report(results)
            print(f"run {number:<6} {report.closing_line()}", flush=True)
            if results.interrupted:
                return STOPPED
            seen.append(what_was_seen(results, report))
    unstable = differing(seen)
    for name, texts in unstable.items():
        print(f"differs    {name}: {len(texts)} versions", *(f"             {text}" for text in texts[:3]), sep="\n")
    print(f"{plural(runs, 'run')}, {len(unstable)} of {len(seen[0])} decisions and results differ", flush=True)
    return FAILED if unstable else GOOD


def what_was_seen(results: Results, report: Report) -> Seen:
    """The decisions of each case, and the result of each test."""
    found: Seen = {}
    for line in filter(None, map(LINE.fullmatch, results.decisions)):
        key = f"decisions of {line[1]}"
        found[key] = f"{found[key]} {line[2]}" if key in found else line[2]
    for test in report.tests:
        found[f"result of {test.name}"] = " ".join(filter(None, (test.status, test.fate, test.known, test.reason)))
    return found


def differing(runs: list[Seen]) -> dict[str, list[str]]:
    """What is not the same in all runs, and its texts, each from shortly before the first difference on."""
    found = {}
    for name in dict.fromkeys(name for seen in runs for name in seen):
        texts = list(dict.fromkeys(seen.get(name, "(none)") for seen in runs))
        if len(texts) > 1:
            start = max(0, len(os.path.commonprefix(texts)) - BEFORE)
            found[name] = ["..." * bool(start) + text[start:start + SHOWN] for text in texts]
    return found
