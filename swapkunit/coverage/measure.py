# SPDX-License-Identifier: GPL-2.0
"""A run of the suites that counts what they reach."""
from __future__ import annotations

import json
from pathlib import Path

from . import lcov, report as figures
from .counters import Counts, Tools
from .report import Places
from ..run import session as sessions
from ..run.runner import Results, run as run_cases
from ..run.session import Session


def run_counting(session: Session, raw: Path) -> Results:
    """Run the suites; every case writes its counters below raw."""
    cases = sessions.list_cases(session)
    options = session.run_options()
    options.kernel_args.append(f"swap_kunit_coverage={raw}")
    with session.stage("run"):
        return run_cases(session.layout, cases, options)


def measure(session: Session, places: Places, raw: Path, tools: Tools) -> Counts:
    """Read what the run wrote, and write all files that tell of it."""
    kernel = session.kernel
    figures.keep_notes(places, session.layout.build / "mm")
    suites = figures.collect(raw, places.notes, kernel.path, tools, session.request.jobs)
    figures.pack(raw, places.cases)
    total = figures.total_of(suites)
    places.info.write_text(lcov.tracefile(suites, kernel.path))
    report = figures.to_json(total, suites, kernel.version, kernel.path, session.request.filters)
    places.json.write_text(json.dumps(report) + "\n")
    title = f"swap code of Linux {kernel.version} reached by KUnit"
    lcov.make_pages(places.info, places.html, kernel.path, title)
    lcov.name_suites(places.html, suites)
    return total
