# SPDX-License-Identifier: GPL-2.0
"""What a check is asked to do."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..lab.experiment import Experiment
from ..run.session import Request
from ..series.series import Series
from .report import WARN

QUICK, DEFAULT, FULL = "quick", "default", "full"


@dataclass
class CheckRequest:
    """What to check, and how.

    run: kernel, jobs and so on, as for the verb `run`. files or spec (base..tip) or series: the
    patches. last_only: apply all of them, but check only the last. fail_on: the least weight that fails.
    whole: leave nothing out of report.txt. lab: experiments to compare the base and the series in.
    """

    run: Request
    files: list[Path] = field(default_factory=list)
    spec: str = ""
    series: Series | None = None
    configs: list[str] = field(default_factory=list)
    depth: str = DEFAULT
    partial: bool = False
    sandbox: bool = True
    last_only: bool = False
    quiet: bool = False
    fail_on: str = WARN
    whole: bool = False
    lab: list[Experiment] = field(default_factory=list)
