# SPDX-License-Identifier: GPL-2.0
"""The steps W=1, sparse and configs: what is new in the compilers' messages about the touched files."""
from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..base.text import plural
from ..build.build import first_error
from .report import FAIL, NOTE, PASS, SKIP, WARN, Step
from .steps import without_numbers

W1, SPARSE, CONFIGURATIONS = "W=1", "sparse", "configs"
STEPS = (W1, SPARSE, CONFIGURATIONS)
KILLED = "killed: "
SELFTEST, DOCUTILS, KERNEL_DOC = "selftest", "docutils", "kernel-doc"    # what the ids of their jobs begin with
MAKE = " (make)"        # ends the id of make's own result in a variant


class JobResult(NamedTuple):
    """A command that ended; kept as JSON."""

    status: int
    output: str
    seconds: float


Results = dict[str, JobResult]              # job -> its result
Messages = dict[str, "Counter[str]"]        # job -> how often it printed each line, without line numbers


def results_of(value: dict[str, Any]) -> Results:
    """Results read back from JSON."""
    return {job: JobResult(*entry) for job, entry in value.items()}


def verdicts(results: Results, before: Messages, broken: set[str], lacking: dict[str, str], no_sparse: list[str],
             top: Path) -> list[Step]:
    """The three steps. before: what the jobs printed earlier; broken: jobs that failed in the base.

    lacking: variants that cannot be compiled, by label, and why.
    """
    found = []
    plain = {file_of(job): messages(result.output, top) for job, result in results.items()
             if job.startswith(f"{W1} ")}
    lost = {file_of(job) for job, result in results.items() if job.startswith(f"{W1} ") and result.status
            and job not in broken}
    for step in STEPS:
        mine = {job: result for job, result in results.items() if step_of(job) == step and not job.endswith(MAKE)
                and (step == W1 or file_of(job) not in lost)}       # one error is one finding
        makes = {job.removesuffix(MAKE): result.output for job, result in results.items()
                 if step_of(job) == step and job.endswith(MAKE)}
        if step == CONFIGURATIONS:      # W=1 has already shown what the plain configuration prints too
            before = {job: before.get(job, Counter()) | plain.get(file_of(job), Counter()) for job in mine}
        reasons = [f"{'plain' if label == W1 else label}: {why}" for label, why in lacking.items()
                   if (label == W1) == (step != CONFIGURATIONS) and not makes.get(label)]
        if step == SPARSE:
            reasons += no_sparse
        if step != W1 and lost:
            reasons.append(f"does not compile: {', '.join(sorted(lost))}")
        found.append(with_makes(verdict(step, mine, before, broken, reasons, top), makes))
    return found


def with_makes(step: Step, makes: dict[str, str]) -> Step:
    """The step with make's error in each variant; "" if the variant can still be configured."""
    lost = [f"{name}: can no longer be configured: {why}" for name, why in makes.items() if why]
    if lost:
        more = [step.summary] if step.status == FAIL else []
        return replace(step, status=FAIL, summary="; ".join(lost + more), cell="no")
    if makes and step.status == SKIP:
        return replace(step, status=PASS,
                       summary=f"{plural(len(makes), 'configuration')} can still be made; {step.summary}")
    return step


def file_of(job: str) -> str:
    """The file that a job is about."""
    return job.rpartition(" ")[2]


def step_of(job: str) -> str:
    """The step a job belongs to."""
    kind = job.rpartition(" ")[0]
    return SPARSE if kind == SPARSE else W1 if kind in (W1, KERNEL_DOC, DOCUTILS) else CONFIGURATIONS


def verdict(step: str, mine: Results, before: Messages, broken: set[str], lacking: list[str], top: Path) -> Step:
    """One of the steps."""
    seconds = sum(result.seconds for result in mine.values())
    if not mine:
        return Step(step, SKIP, "; ".join(lacking) or "ARCH=um compiles none of the touched files", seconds=0.0)
    killed = next((result.output for result in mine.values() if result.output.startswith(KILLED)), "")
    if killed:
        return Step(step, FAIL, killed, "killed", lacking, seconds)
    details: list[str] = []
    status = PASS
    compiled = {"files": sorted({file_of(job) for job in mine if not job.startswith((KERNEL_DOC, DOCUTILS))})}
    failed = [job for job, result in mine.items() if result.status and job not in broken
              and not job.startswith((KERNEL_DOC, DOCUTILS))]
    warnings = 0
    for job, result in sorted(mine.items(), key=lambda entry: entry[0] not in failed):
        new, number = news(without_code(result.output, top), before.get(job, Counter()))
        if job in failed:
            new = new[first_error(new):] or new
        warnings += number
        if new:
            details += [f"{job}:", *(f"  {line}" for line in new)]
            status = NOTE if job.startswith(DOCUTILS) and status != WARN else WARN
    what = plural(len(mine), "compilation" if step == CONFIGURATIONS else "run")
    if failed:
        return Step(step, FAIL, f"{len(failed)} of {what} failed: {', '.join(failed)}", "no", details + lacking,
                    seconds, compiled)
    if details:
        return Step(step, status, plural(warnings, "new warning") if warnings else "new messages", str(warnings or 1),
                    details + lacking, seconds, compiled)
    return Step(step, PASS, f"no new message in {what}" + (f"; not checked: {'; '.join(lacking)}" if lacking else ""),
                "part" * bool(lacking), lacking, seconds, compiled)


def news(lines: list[str], before: Counter[str]) -> tuple[list[str], int]:
    """The lines that are new or more frequent than before, and how many of them are warnings.

    Which of several equal lines is the new one cannot be known, so all of them are shown.
    """
    now = Counter(map(without_numbers, lines))
    # Compilers print lines about a warning, such as its function, once for several warnings or once for each.
    more = {line: now[line] - before[line] for line in now
            if now[line] > before[line] and (is_warning(line) or ": error: " in line or not before[line])}
    found = [line for line in lines if without_numbers(line) in more]
    found += [f"({now[line]} times now, {before[line]} before: {line})" for line in more if before[line]]
    return found, sum(number for line, number in more.items() if is_warning(line))


def is_warning(line: str) -> bool:
    """Whether a line is a warning of a compiler, of sparse or of kernel-doc."""
    return ": warning: " in line or "Warning: " in line


def messages(output: str, top: Path) -> Counter[str]:
    """How often each line of a compiler's output occurs."""
    return Counter(map(without_numbers, without_code(output, top)))


def without_code(output: str, top: Path) -> list[str]:
    """The lines of a compiler's output with names relative to the tree, without the quoted code.

    Each line once: kernel-doc prints everything about a header twice.
    """
    text = re.sub(rf"{re.escape(str(top))}/tree[^/]*/", "", output)
    return [line for line in dict.fromkeys(text.splitlines()) if line.strip() and not re.match(r"\s*\d* \|", line)]
