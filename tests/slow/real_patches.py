# SPDX-License-Identifier: GPL-2.0
"""What presubmit says of real patches that were merged, for a person to judge: each finding is right, or a false alarm.

    /usr/bin/python3 -m tests.slow.real_patches DIRECTORY [--trees DIR,DIR] [--out DIR] [--cheap | --quick]
                                               [--sample NUMBER] [--seed NUMBER]

Every file of DIRECTORY, a mail or an mbox, is a series. It is checked on the newest kernel of the cache, or of
--trees, to which all of it applies. --cheap does only the steps applies and checkpatch, and compiles the touched
files one by one. --sample: no more than so many, drawn at random by --seed. No mail belongs into this repository.
"""
from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from unittest import mock

from swapkunit.base.errors import SwapKunitError
from swapkunit.base.kernel import Kernel, examine, version_key
from swapkunit.base.layout import REPO
from swapkunit.presubmit import file_checks, steps
from swapkunit.presubmit.background import Task, take
from swapkunit.presubmit.check import check
from swapkunit.presubmit.file_checks import FileChecks
from swapkunit.presubmit.report import FAIL, NOTE, WARN, WEIGHTS, Step
from swapkunit.presubmit.request import QUICK, CheckRequest
from swapkunit.presubmit.testbed import quiet
from swapkunit.presubmit.testbeds import Testbeds, changes_the_build
from swapkunit.run.session import Request
from swapkunit.series.applying import Applied, try_apply
from swapkunit.series.bases import Base
from swapkunit.series.series import Series, read_inputs
from swapkunit.source.kernels import cached

SHOWN = 6       # lines of a finding's evidence


def kernels(trees: list[Path]) -> list[Kernel]:
    """The kernels at hand, newest first."""
    found = [entry.kernel() for entry in cached()] + [replace(examine(tree), given=True) for tree in trees]
    return sorted(found, key=lambda kernel: version_key(kernel.version), reverse=True)


def taker(series: Series, candidates: list[Kernel], work: Path) -> Kernel | None:
    """The newest kernel to which the whole series applies."""
    for kernel in candidates:
        with tempfile.TemporaryDirectory(dir=work) as scratch:
            if all(isinstance(one, Applied) for one in try_apply(kernel.path, series.patches, Path(scratch))):
                return kernel
    return None


def cheap(kernel: Kernel, series: Series, request: CheckRequest, top: Path) -> list[tuple[str, Step]]:
    """The steps that need no kernel, for each patch."""
    with tempfile.TemporaryDirectory(dir=top) as scratch:
        outcomes = try_apply(kernel.path, series.patches, Path(scratch))
    beds = Testbeds(request, Base(kernel), series, top)
    checks = FileChecks(kernel, request.run, top, request.sandbox, beds.base_key, beds.store)
    files = [patch.file for patch in series.patches]
    found: list[tuple[str, Step]] = []
    with quiet(beds.log), mock.patch.object(file_checks, "ODD", ()):
        touched = list(dict.fromkeys(name for patch in series.patches for name in patch.touched))
        checks.prepare(touched, [], files, changes_the_build(series.patches))
        for number, (patch, outcome) in enumerate(zip(series.patches, outcomes), 1):
            task = Task(files[:number], patch.touched, changes_the_build(series.patches[:number]),
                        beds.plain.key(files[:number], "cheap", patch.touched))
            found += [(patch.subject, step) for step in (steps.applies(patch, outcome, []), steps.checkpatch(
                patch, kernel.path), *take(checks, task))]
    return found


def whole(kernel: Kernel, series: Series, request: CheckRequest) -> list[tuple[str, Step]]:
    """The steps of presubmit, for each patch."""
    run = replace(request.run, ksrc=kernel.path if kernel.given else None, kernel=kernel.version)
    report = check(replace(request, run=run, series=series))
    return [(patch.subject, step) for patch in report.patches for step in patch.steps]


def look_at(file: Path, args: argparse.Namespace, candidates: list[Kernel]) -> str:
    """Check one series; returns its row of the table, and prints its findings."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=args.out) as work:
        try:
            series = read_inputs([file], Path(work), partial=True)
            kernel = taker(series, candidates, Path(work))
            if kernel is None:
                return f"{series.title[:60]:<60}  applies to none"
            top = args.out / kernel.version
            top.mkdir(exist_ok=True)
            request = CheckRequest(Request(ksrc=kernel.path if kernel.given else None, out=top, jobs=args.jobs),
                                   depth=QUICK, quiet=True)
            found = [(subject, step.clean()) for subject, step in (
                cheap(kernel, series, request, top) if args.cheap else
                whole(kernel, series, request if args.quick else replace(request, depth="default")))]
        except SwapKunitError as error:
            return f"{file.name[:60]:<60}  {error}"
    counts = {weight: sum(one.weight == weight for _, step in found for one in step.findings)
              for weight in (FAIL, WARN, NOTE)}
    for subject, step in found:
        for one in step.findings:
            print("\n".join([f"{subject}\n  {WEIGHTS[one.weight]} {step.name}: {one.text}",
                             *(f"    {line}" for line in one.evidence[:SHOWN])]), flush=True)
    return (f"{series.title[:60]:<60}  {kernel.version:<9}" + "".join(f"{count:>5}" for count in counts.values())
            + f"{(time.monotonic() - started) / 60:>8.1f}")


def main() -> None:
    """Check all files, and print the table."""
    parser = argparse.ArgumentParser(description="what presubmit says of real patches")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--trees", type=lambda text: [Path(name) for name in text.split(",")], default=[])
    parser.add_argument("--out", type=Path, default=REPO / "out/real-patches")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cheap", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.out = args.out.resolve()
    args.out.mkdir(parents=True, exist_ok=True)
    candidates = kernels(args.trees)
    rows = []
    found = sorted(args.directory.iterdir())
    for file in random.Random(args.seed).sample(found, min(args.sample, len(found))) if args.sample else found:
        rows.append(look_at(file, args, candidates))
        print(rows[-1], file=sys.stderr, flush=True)
    print("\n".join([f"{'patch':<60}  {'kernel':<9}  err warn note minutes", *rows]))


if __name__ == "__main__":
    main()
