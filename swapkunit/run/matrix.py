# SPDX-License-Identifier: GPL-2.0
"""Run every combination of kernels and configs, and print one table.

Each cell is a `run` in that verb's output directory, so that only changes are built. Its
output goes to run.log there. A kernel that cannot be fetched, built or booted is a row like
the others.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from ..base import commands, deps, interrupts, layout, toolchain
from ..base.errors import FAILED, GOOD, KSRC, UNTESTABLE, WRONG_USE, Interrupted, SwapKunitError, advising
from ..base.kernel import Kernel, examine
from ..base.text import relative
from ..build import fragments
from ..source import kernels
from . import results
from .session import Request

CELL_CPUS = 4               # CPUs that the build and the UMLs of a cell can use
CELL_MEMORY = 2 << 30       # bytes for the build and the UMLs of a cell
LOG = "run.log"
KERNELS = "with --kernels (make: KERNELS=)"
TIME_TO_END = 30.0          # seconds for a cell to kill its processes after ^C
PLAIN = ("plain", "default")
NOT_RUN, STOPPED, BROKE_OFF, NO_KERNEL, LEFT_OUT = "not run", "stopped", "broke off", "no kernel", "skipped"
STATES = {GOOD: "good", FAILED: "failed", WRONG_USE: "cannot run", UNTESTABLE: "does not build or boot"}


@dataclass
class Cell:
    """One kernel with one config, and its outcome."""

    asked: str | Path
    config: list[str]
    kernel: Kernel | None = None
    out: Path | None = None
    state: str = NOT_RUN
    status: int = GOOD
    why: str = ""
    seconds: float = 0.0
    summary: results.Json = field(default_factory=dict)

    @property
    def kernel_name(self) -> str:
        """The kernel's version; for a given tree, its directory's name too."""
        if self.kernel is None:
            return str(self.asked)
        return f"{self.kernel.version} {self.kernel.path.name}" if self.kernel.given else self.kernel.version

    @property
    def config_name(self) -> str:
        """plain, or the fragments joined with +."""
        return "+".join(self.config) or PLAIN[0]

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.kernel_name} {self.config_name}"

    def end(self, status: int, why: str = "", state: str = "") -> None:
        """Set the outcome."""
        self.status, self.why = status, why
        self.state = state or STATES.get(status, f"ended with status {status}")

    def count(self, what: str) -> int:
        """A number of the summary; a cell that could not run counts as one failure, or one skipped."""
        if not self.summary and self.state not in (NOT_RUN, STOPPED):
            return int(what == (results.SKIPPED if self.state == LEFT_OUT else results.FAIL))
        return int(self.summary.get(what, 0))

    def to_json(self) -> results.Json:
        """The entry in matrix.json."""
        found: results.Json = {"kernel": str(self.asked), "version": self.kernel.version if self.kernel else None,
                 "config": self.config_name, "state": self.state, "status": self.status,
                 "seconds": round(self.seconds, 1), "out": str(self.out) if self.out else None}
        if self.why:
            found["why"] = self.why
        return {**found, **{key: value for key, value in self.summary.items() if key not in ("kernel", "config")}}


# -- which cells -------------------------------------------------------------


def plan(asked: list[str], configs: list[str], ksrc: Path | None) -> list[Cell]:
    """The cells asked for, kernel by kernel. Raises SwapKunitError for an unknown fragment."""
    wanted: list[str | Path] = [ksrc] if ksrc is not None else []
    wanted += [Path(os.path.expanduser(text)) if text[0] in "~./" or "/" in text else text for text in asked]
    if not wanted:
        wanted = list(kernels.known_kernels().suites)
    sets = [config_of(text) for text in configs or PLAIN[:1]]
    for name in (name for names in sets for name in names):
        fragments.find(name, layout.CONFIGS)
    return [Cell(kernel, names) for kernel in wanted for names in sets]


def config_of(text: str) -> list[str]:
    """The fragments of one config: "kasan+smp"; none for "plain"."""
    if "/" in text:
        return [text]
    return [name for name in text.split("+") if name and name not in PLAIN]


def find_kernels(cells: list[Cell], top: Path, every: bool) -> None:
    """Find or fetch the kernels, each once; the cells of one that cannot be had end here.

    Raises SwapKunitError instead if every kernel is needed.
    """
    found: dict[str | Path, Kernel | SwapKunitError] = {}
    taken: dict[Path, tuple[Cell, Kernel]] = {}
    for cell in list(cells):
        if cell.asked not in found:
            found[cell.asked] = get_kernel(cell.asked)
        kernel = found[cell.asked]
        if isinstance(kernel, SwapKunitError):
            if every:
                raise kernel
            print(f"swap-kunit: {kernel}", file=sys.stderr)
            cell.end(kernel.code, str(kernel), NO_KERNEL)
            continue
        cell.kernel, cell.out = kernel, layout.default_out(kernel, cell.config, top=top)
        other, its_kernel = taken.setdefault(cell.out, (cell, kernel))
        if other is cell:
            continue
        if its_kernel.path == kernel.path:
            print(f"swap-kunit: {cell.asked} and {other.asked} are the same kernel: {cell.name} runs once")
            cells.remove(cell)
        else:
            cell.end(WRONG_USE, f"cannot run {cell.name}: {other.name} uses its output directory "
                                f"{cell.out}; give one kernel of a series at a time")


def get_kernel(asked: str | Path) -> Kernel | SwapKunitError:
    """The kernel, or the error."""
    try:
        with advising(KERNELS):
            return examine(asked) if isinstance(asked, Path) else kernels.provide(asked)
    except SwapKunitError as error:
        return error


# -- running them ------------------------------------------------------------


def at_once(cells: int, jobs: int, memory: int) -> tuple[int, int]:
    """The number of cells to run at a time, and the jobs for each."""
    number = max(1, min(cells, jobs // CELL_CPUS, memory // CELL_MEMORY))
    return number, max(1, jobs // number)


def available_memory() -> int:
    """Bytes available without swapping."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def command_of(kernel: Kernel, config: list[str], out: Path, request: Request, jobs: int) -> list[str | Path]:
    """The `run` command of a cell; a fetched kernel is given by its exact version, so that no mirror is asked again."""
    command: list[str | Path] = [sys.executable, layout.REPO / "swap-kunit", "run", "--out", out, "--quiet",
                                 f"--jobs={jobs}", f"--timeout={request.timeout:g}", f"--hangs={request.hangs}"]
    command += ["--ksrc", kernel.path] if kernel.given else ["--kernel", kernels.exact_version(kernel)]
    command += ["--config", ",".join(config)] if config else []
    command += ["--kunitconfig", request.kunitconfig] if request.kunitconfig else []
    command += ["--filter", ",".join(request.filters)] if request.filters else []
    command += [f"--kernel-arg={arg}" for arg in request.kernel_args]
    return command + [f"--make-option={option}" for option in request.make_options]


class Running:
    """A running cell, in a session of its own: stop() ends it after ^C."""

    def __init__(self, cell: Cell, out: Path, command: list[str | Path]):
        self.cell, self.out, self.started = cell, out, time.monotonic()
        layout.Layout(out).make()
        commands.show(command)
        with open(out / LOG, "wb") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def settle(self) -> None:
        """Read the outcome of the run."""
        cell, status = self.cell, self.process.returncode
        cell.seconds = time.monotonic() - self.started
        if status in (GOOD, FAILED, Interrupted.code):
            cell.summary = results.read_summary(layout.Layout(self.out))
        if cell.summary:
            cell.end(status)
        elif status in (WRONG_USE, UNTESTABLE):
            cell.end(status, last_message(self.out / LOG))
        else:
            cell.end(FAILED, last_message(self.out / LOG), BROKE_OFF)

    def stop(self) -> None:
        """End it: the run kills its processes and keeps its results."""
        self.process.terminate()
        try:
            self.process.wait(TIME_TO_END)
        except subprocess.TimeoutExpired:
            commands.kill_group(self.process)
        self.settle()
        if self.cell.summary.get("interrupted") or not self.cell.summary:
            self.cell.end(Interrupted.code, state=STOPPED)


def last_message(log: Path) -> str:
    """The last message of this program in a run's output, or the last line."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    messages = [line.removeprefix("swap-kunit: ") for line in lines if line.startswith("swap-kunit: ")]
    return (messages or lines or ["it ended without a message"])[-1]


def run_cells(cells: list[Cell], request: Request, keep: Path) -> None:
    """Run all cells that have a kernel, several at a time; matrix.json is updated as they end."""
    queue = [(cell, cell.kernel, cell.out) for cell in cells if cell.state == NOT_RUN and cell.kernel and cell.out]
    total, (number, jobs) = len(queue), at_once(len(queue), request.jobs, available_memory())
    running: list[Running] = []
    try:
        while queue or running:
            while queue and len(running) < number:
                cell, kernel, out = queue.pop(0)
                with interrupts.held():
                    running.append(Running(cell, out, command_of(kernel, cell.config, out, request, jobs)))
            time.sleep(0.1)
            commands.status_line(f"matrix: {total - len(queue) - len(running)} of {total} cells done, now "
                                 + ", ".join(f"{one.cell.name} {time.monotonic() - one.started:.0f} s"
                                             for one in running))
            for one in [one for one in running if one.process.poll() is not None]:
                running.remove(one)
                one.settle()
                commands.status_line("")
                print(line_of(one.cell), flush=True)
                write_json(cells, keep)
    finally:
        with interrupts.held():
            commands.status_line("")
            for one in running:
                one.stop()


# -- reporting ---------------------------------------------------------------


def line_of(cell: Cell) -> str:
    """The outcome of a cell, printed when it ends."""
    if not cell.summary:
        return f"{cell.name}: {cell.state}: {cell.why} ({cell.seconds:.1f} s)"
    return (f"{cell.name}: " + ", ".join(f"{cell.count(what)} {what}" for what in
                                         (results.PASS, results.FAIL, results.SKIPPED))
            + f", {cell.count('known_bugs')} known bugs ({cell.seconds:.1f} s)")


def write_json(cells: list[Cell], path: Path) -> None:
    """matrix.json: an object for each cell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    layout.write_whole(path, json.dumps({"cells": [cell.to_json() for cell in cells]}, indent=1) + "\n")


def table(cells: list[Cell]) -> str:
    """A line for each cell; below, failures and why some cells have no numbers."""
    wide = max(len(cell.kernel_name) for cell in cells + [Cell("kernel", [])])
    wide_config = max(len(cell.config_name) for cell in cells + [Cell("", ["config"])])
    lines = [f"{'kernel':<{wide}}  {'config':<{wide_config}}  passed  failed  known bugs  skipped      time"]
    for cell in cells:
        numbers = [str(cell.count(what)) if cell.summary else "-" for what in
                   (results.PASS, results.FAIL, "known_bugs", results.SKIPPED)]
        spent = "-" if cell.state == NOT_RUN else f"{cell.seconds:.1f} s"
        state = "" if cell.state in (STATES[GOOD], STATES[FAILED]) else f"  {cell.state}"
        cells_text = "  ".join(f"{text:>{size}}" for text, size in zip([*numbers, spent], (6, 6, 10, 7, 8)))
        lines.append(f"{cell.kernel_name:<{wide}}  {cell.config_name:<{wide_config}}  {cells_text}{state}")
    return "\n".join(lines + details(cells))


def details(cells: list[Cell]) -> list[str]:
    """Failures and reasons, which do not fit into the table."""
    lines = []
    for cell in cells:
        names = cell.summary.get("failures", [])
        if names:
            more = f" and {len(names) - 6} more" if len(names) > 6 else ""
            lines.append(f"{cell.name}: failed {', '.join(names[:6])}{more}")
        lost = cell.summary.get("not_built", [])
        if lost:
            lines.append(f"{cell.name}: {len(lost)} of {cell.summary['cases']} cases are not built on this tree")
        if cell.why:
            lines.append(f"{cell.name}: {cell.why}")
        if (names or cell.why) and cell.out and (cell.out / LOG).exists() and cell.seconds:
            lines.append(f"    its output: {relative(cell.out / LOG)}")
    return ["", *lines] if lines else []


def runs_everywhere(_cell: Cell) -> str:
    """For a matrix that leaves nothing out."""
    return ""


def matrix(request: Request, asked: list[str], configs: list[str],
           lacking: Callable[[Cell], str] = runs_everywhere) -> int:
    """Run every cell; returns the highest exit status.

    request: how to build and run each. lacking: what a cell's kernel lacks for its config, which is then left out.
    """
    cells = plan(asked, configs, request.ksrc)
    request.check()
    for cell in cells:
        with advising(KSRC if cell.asked == request.ksrc else KERNELS):
            if isinstance(cell.asked, Path):
                examine(cell.asked)
            else:
                kernels.check(cell.asked)
    deps.require({**deps.BUILD, **toolchain.programs(request.make_options)})
    top = layout.top_of(request.out)
    keep, stopped = top / "matrix.json", False
    try:
        find_kernels(cells, top, every=bool(asked))
        for cell in cells:
            why = lacking(cell) if cell.state == NOT_RUN else ""
            if why:
                cell.end(GOOD, why, LEFT_OUT)
        run_cells(cells, request, keep)
    except KeyboardInterrupt:
        stopped = True
    write_json(cells, keep)
    print(f"\n{table(cells)}\n")
    if stopped:
        left = sum(cell.state in (NOT_RUN, STOPPED) for cell in cells)
        print(f"stopped    before the end: {left} of {len(cells)} cells are missing or incomplete; "
              "run it again to continue")
    print(f"results    {relative(keep)}, and a directory for each cell below {relative(top)}")
    print(", ".join(f"{sum(cell.count(what) for cell in cells)} {what}"
                    for what in (results.PASS, results.FAIL, results.SKIPPED)), flush=True)
    return max([Interrupted.code if stopped else GOOD, *(cell.status for cell in cells)])
