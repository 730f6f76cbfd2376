# SPDX-License-Identifier: GPL-2.0
"""lint: run the linters on this project's own files."""
from __future__ import annotations

import argparse

from ...base import deps
from ...base.errors import FAILED, GOOD
from ...lint import NEEDED, lint as run_linters
from ...source import kernels
from ..verb import Verb, statuses


def lint(_args: argparse.Namespace) -> int:
    """Run all; the closing line counts linters."""
    deps.require(NEEDED)
    found = run_linters(kernels.provide().path)
    clean = sum(one.clean for one in found)
    print(", ".join(f"{one.name} {len(one.findings)}" for one in found))
    print(f"{clean} passed, {len(found) - clean} failed, 0 skipped")
    return GOOD if clean == len(found) else FAILED


VERB = Verb("lint", lint,
            "run checkpatch, kernel-doc, mypy, pylint, shellcheck and docutils on this project's own files", (),
            statuses("no linter finds anything", "a linter finds something", unbuilt=""))
