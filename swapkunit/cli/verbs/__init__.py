# SPDX-License-Identifier: GPL-2.0
"""The verbs. Nothing but the command line imports them."""
from __future__ import annotations

from . import (
    animate, b4_check, bugs, clean, coverage, decisions, doctor, kernels, lab, lint, man, matrix, mutate, presence,
    presubmit, run, sanitize, stability, test)
from ..verb import Verb

VERBS: dict[str, Verb] = {verb.name: verb for verb in (
    *run.VERBS, stability.VERB, *kernels.VERBS, matrix.VERB, sanitize.VERB, presence.VERB, doctor.VERB,
    *coverage.VERBS, mutate.VERB, bugs.VERB, decisions.VERB, animate.VERB, presubmit.VERB, b4_check.VERB,
    lab.VERB, test.VERB, lint.VERB,
    man.verb_for(lambda: list(VERBS.values())), clean.VERB)}
