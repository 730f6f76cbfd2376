# SPDX-License-Identifier: GPL-2.0
"""The verbs. Nothing but the command line imports them."""
from __future__ import annotations

from . import b4_check, clean, coverage, decisions, fragmentation, kernels, lint, matrix, presence, presubmit, run, test

VERBS = {verb.name: verb for verb in (
    *run.VERBS, *kernels.VERBS, matrix.VERB, presence.VERB, *coverage.VERBS, decisions.VERB, presubmit.VERB, b4_check.VERB,
    fragmentation.VERB, test.VERB, lint.VERB, clean.VERB)}
