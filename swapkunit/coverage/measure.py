# SPDX-License-Identifier: GPL-2.0
"""Run the suites with coverage counters, and write the files of the run."""
from __future__ import annotations

import json
from pathlib import Path

from . import figures, lcov
from .counters import Counts, Tools
from .places import Places, keep_notes, pack
from ..run import runner
from ..run.session import Session


def run_counting(session: Session, raw: Path) -> runner.Results:
    """Run the suites; every case writes its counters to a directory in raw."""
    cases = session.list_cases()
    options = session.run_options()
    options.kernel_args.append(f"swap_kunit_coverage={raw}")
    with session.stage("run"):
        return runner.run(session.layout, cases, options)


def measure(session: Session, places: Places, raw: Path, tools: Tools) -> Counts:
    """Read the counters in raw, and write all files of places."""
    kernel = session.kernel
    keep_notes(places, session.layout.build / "mm")
    suites = figures.collect(raw, places.notes, kernel.path, tools, session.request.jobs)
    pack(raw, places.cases)
    total = figures.total_of(suites)
    places.info.write_text(lcov.tracefile(suites, kernel.path))
    report = figures.to_json(total, suites, kernel.version, kernel.path, session.request.filters)
    places.json.write_text(json.dumps(report) + "\n")
    title = f"swap code of Linux {kernel.version} reached by KUnit"
    lcov.make_pages(places.info, places.html, kernel.path, title)
    lcov.name_suites(places.html, suites)
    return total
