# SPDX-License-Identifier: GPL-2.0
"""Checks a patch series: takes a CheckRequest, writes and returns a PresubmitReport.

    report = check(CheckRequest(Request(kernel="7.3"), [Path("series.mbox")]))

Each patch goes through its steps on top of those before it, in a sandbox. Results are
stored under a key of everything they depend on, so that the base is tested only once and
an interrupted check continues where it stopped.
"""
from __future__ import annotations

import contextlib
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from ..base import deps
from ..base.layout import CONFIGS, Layout, default_out
from ..build import fragments
from ..series import mails
from ..series.bases import Base, base_of
from ..series.series import NEEDED, Series, read_inputs, read_range
from .checker import Checker
from .progress import Progress
from .report import PresubmitReport
from .request import QUICK, CheckRequest

PLACE = "presubmit"         # the output directory, beside those of the configurations


def check(request: CheckRequest) -> PresubmitReport:
    """Check a series and write the reports. Raises SwapKunitError or UntestableKernel."""
    if request.spec and request.run.ksrc and request.run.ksrc.is_dir():     # it may be a bare repository
        replace(request.run, ksrc=None).check()
    else:
        request.run.check()
    for name in request.configs:
        fragments.find(name, CONFIGS)
    mails.check(request.files)
    lines = {} if request.depth == QUICK else {**deps.COVERAGE, **deps.MULTILIB, **deps.DOCUTILS,
                                                     "sparse": "sparse"}
    wanted = {**deps.BUILD, **deps.PATCHES, **deps.PAGES, **NEEDED, **lines}
    if deps.missing(wanted):
        look_at_files(request)
    deps.require(wanted)
    base = base_of(request.run.ksrc, request.run.kernel, request.spec)
    with contextlib.closing(base):
        return check_on(base, request)


def look_at_files(request: CheckRequest) -> None:
    """Raise SwapKunitError for files without a series, before packages are installed; pipes are not read."""
    if request.files and not any(str(file) == "-" or file.is_fifo() for file in request.files):
        deps.require(NEEDED)
        with tempfile.TemporaryDirectory() as work:
            read_inputs(request.files, Path(work), request.partial)


def check_on(base: Base, request: CheckRequest) -> PresubmitReport:
    """The same on a given base."""
    top = request.run.out or default_out(base.kernel, [PLACE])
    layout = Layout(top.absolute())
    with layout.lock():
        work = layout.out / "patches"
        work.mkdir(parents=True, exist_ok=True)
        series = request.series or read_series(request, work)
        for patch in series.patches:    # the sandbox shows them to what runs inside
            if patch.file.parent != work:
                patch.file = Path(shutil.copy(patch.file, work))
        with Progress(quiet=request.quiet) as progress:
            checker = Checker(request, base, series, layout.out, progress)
            try:
                return checker.run()
            except KeyboardInterrupt:
                checker.stop()
                raise


def read_series(request: CheckRequest, work: Path) -> Series:
    """The patches, as clean files in work."""
    if request.spec and request.run.ksrc:
        return read_range(request.run.ksrc, request.spec, work)
    return read_inputs(request.files, work, request.partial)
