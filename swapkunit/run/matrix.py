# SPDX-License-Identifier: GPL-2.0
"""Kernels x configs: every cell is a `run` of its own, and one table tells of them all.

A cell is built and run in the output directory that `run` uses, so nothing is built
again that did not change. What a cell printed is in its run.log. A cell that does not
build, or whose kernel is not to be had, is a row like the others.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from ..base import commands, deps, interrupts, layout, toolchain
from ..build import fragments
from . import results
from ..source import kernels
from ..base.errors import FAILED, GOOD, UNTESTABLE, WRONG_USE, Interrupted, SwapKunitError
from ..base.kernel import Kernel, examine
from ..base.text import relative
from .session import Request

CELL_CPUS = 4               # a cell's build and its UMLs keep so many busy
CELL_MEMORY = 2 << 30       # bytes, with its builds and UMLs
LOG = "run.log"
TIME_TO_END = 30.0          # seconds a cell gets to end its processes after ^C
PLAIN = ("plain", "default")
NOT_RUN, STOPPED, BROKE_OFF, NO_KERNEL = "not run", "stopped", "broke off", "no kernel"
STATES = {GOOD: "good", FAILED: "failed", WRONG_USE: "cannot run", UNTESTABLE: "does not build or boot"}


@dataclass
class Cell:
    """One kernel with one config, and what became of it."""

    asked: str | Path
    config: list[str]
    kernel: Kernel | None = None
    out: Path | None = None
    state: str = NOT_RUN
    status: int = GOOD
    why: str = ""
    seconds: float = 0.0
    summary: dict = field(default_factory=dict)

    @property
    def kernel_name(self) -> str:
        """The kernel's version, and the directory's name for a given tree."""
        if self.kernel is None:
            return str(self.asked)
        return f"{self.kernel.version} {self.kernel.path.name}" if self.kernel.given else self.kernel.version

    @property
    def config_name(self) -> str:
        """plain, or fragments with + between."""
        return "+".join(self.config) or PLAIN[0]

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.kernel_name} {self.config_name}"

    def end(self, status: int, why: str = "", state: str = "") -> None:
        """Settle what became of it."""
        self.status, self.why = status, why
        self.state = state or STATES.get(status, f"ended with status {status}")

    def count(self, what: str) -> int:
        """A number of its summary; a cell that could not be run counts as one failure."""
        if not self.summary and self.state not in (NOT_RUN, STOPPED):
            return int(what == results.FAIL)
        return self.summary.get(what, 0)

    def to_json(self) -> dict:
        """As it stands in matrix.json."""
        found = {"kernel": str(self.asked), "version": self.kernel.version if self.kernel else None,
                 "config": self.config_name, "state": self.state, "status": self.status,
                 "seconds": round(self.seconds, 1), "out": str(self.out) if self.out else None}
        if self.why:
            found["why"] = self.why
        return {**found, **{key: value for key, value in self.summary.items() if key not in ("kernel", "config")}}


# -- which cells -------------------------------------------------------------


def plan(asked: list[str], configs: list[str], ksrc: Path | None) -> list[Cell]:
    """The cells asked for, kernel by kernel. Raises SwapKunitError for an unknown fragment."""
    wanted: list[str | Path] = [ksrc] if ksrc is not None else []
    wanted += [Path(text).expanduser() if text[0] in "~./" or "/" in text else text for text in asked]
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


def find_kernels(cells: list[Cell], top: Path) -> None:
    """Find or fetch each cell's kernel, once; a kernel that is not to be had ends its cells."""
    found: dict[str | Path, Kernel | SwapKunitError] = {}
    taken: dict[Path, Cell] = {}
    for cell in list(cells):
        if cell.asked not in found:
            found[cell.asked] = get_kernel(cell.asked)
        kernel = found[cell.asked]
        if isinstance(kernel, SwapKunitError):
            cell.end(kernel.code, str(kernel), NO_KERNEL)
            continue
        cell.kernel, cell.out = kernel, layout.default_out(kernel, cell.config, top=top)
        other = taken.setdefault(cell.out, cell)
        if other is cell:
            continue
        if other.kernel.path == kernel.path:
            print(f"swap-kunit: {cell.asked} and {other.asked} are one kernel: {cell.name} is run once")
            cells.remove(cell)
        else:
            cell.end(WRONG_USE, f"cannot run {cell.name}: its output directory {cell.out} is that of "
                                f"{other.name}; give one kernel of a series at a time")


def get_kernel(asked: str | Path) -> Kernel | SwapKunitError:
    """The kernel, or why there is none."""
    try:
        return examine(asked) if isinstance(asked, Path) else kernels.provide(asked)
    except SwapKunitError as error:
        print(f"swap-kunit: {error}", file=sys.stderr)
        return error


# -- running them ------------------------------------------------------------


def at_once(cells: int, jobs: int, memory: int) -> tuple[int, int]:
    """How many cells at a time, and the jobs of each."""
    number = max(1, min(cells, jobs // CELL_CPUS, memory // CELL_MEMORY))
    return number, max(1, jobs // number)


def available_memory() -> int:
    """Bytes that can be had without swapping."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def command_of(cell: Cell, request: Request, jobs: int) -> list[str | Path]:
    """The `run` of a cell; a fetched kernel is named exactly, so that no mirror is asked again."""
    which = (["--ksrc", cell.kernel.path] if cell.kernel.given
             else ["--kernel", kernels.exact_version(cell.kernel)])
    command = [sys.executable, layout.REPO / "swap-kunit", "run", *which, "--out", cell.out, "--quiet",
               f"--jobs={jobs}", f"--timeout={request.timeout:g}"]
    command += ["--config", ",".join(cell.config)] if cell.config else []
    command += ["--kunitconfig", request.kunitconfig] if request.kunitconfig else []
    command += ["--filter", ",".join(request.filters)] if request.filters else []
    command += [f"--kernel-arg={arg}" for arg in request.kernel_args]
    return command + [f"--make-option={option}" for option in request.make_options]


class Running:
    """A cell at work, in a session of its own: ^C reaches it through stop()."""

    def __init__(self, cell: Cell, command: list[str | Path]):
        self.cell, self.started = cell, time.monotonic()
        layout.Layout(cell.out).make()
        commands.show(command)
        with open(cell.out / LOG, "wb") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def settle(self) -> None:
        """Read what the run left."""
        cell, status = self.cell, self.process.returncode
        cell.seconds = time.monotonic() - self.started
        if status in (GOOD, FAILED, Interrupted.code):
            cell.summary = results.read_summary(layout.Layout(cell.out))
        if cell.summary:
            cell.end(status)
        elif status in (WRONG_USE, UNTESTABLE):
            cell.end(status, last_words(cell.out / LOG))
        else:
            cell.end(FAILED, last_words(cell.out / LOG), BROKE_OFF)

    def stop(self) -> None:
        """End it: it kills what it has started, and keeps what was run."""
        self.process.terminate()
        try:
            self.process.wait(TIME_TO_END)
        except subprocess.TimeoutExpired:
            commands.kill_group(self.process)
        self.settle()
        if self.cell.summary.get("interrupted") or not self.cell.summary:
            self.cell.end(Interrupted.code, state=STOPPED)


def last_words(log: Path) -> str:
    """The message of this program that a run ended with, or else its last line."""
    said = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    messages = [line.removeprefix("swap-kunit: ") for line in said if line.startswith("swap-kunit: ")]
    return (messages or said or ["it ended without a word"])[-1]


def run_cells(cells: list[Cell], request: Request, keep: Path) -> None:
    """Run all cells that have a kernel, some at a time; matrix.json grows as they end."""
    queue = [cell for cell in cells if cell.state == NOT_RUN]
    total, (number, jobs) = len(queue), at_once(len(queue), request.jobs, available_memory())
    running: list[Running] = []
    try:
        while queue or running:
            while queue and len(running) < number:
                cell = queue.pop(0)
                with interrupts.held():
                    running.append(Running(cell, command_of(cell, request, jobs)))
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


# -- telling -----------------------------------------------------------------


def line_of(cell: Cell) -> str:
    """What a cell came to, when it ends."""
    if not cell.summary:
        return f"{cell.name}: {cell.state}: {cell.why} ({cell.seconds:.1f} s)"
    return (f"{cell.name}: " + ", ".join(f"{cell.count(what)} {what}" for what in
                                         (results.PASS, results.FAIL, results.SKIPPED))
            + f", {cell.count('known_bugs')} known bugs ({cell.seconds:.1f} s)")


def write_json(cells: list[Cell], path: Path) -> None:
    """matrix.json: one object a cell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".json.new")
    fresh.write_text(json.dumps({"cells": [cell.to_json() for cell in cells]}, indent=1) + "\n")
    fresh.replace(path)


def table(cells: list[Cell]) -> str:
    """One line a cell; then why some have no numbers, and what failed in the others."""
    wide = max(len(cell.kernel_name) for cell in cells + [Cell("kernel", [])])
    wide_config = max(len(cell.config_name) for cell in cells + [Cell("", ["config"])])
    lines = [f"{'kernel':<{wide}}  {'config':<{wide_config}}  passed  failed  known bugs  skipped      time"]
    for cell in cells:
        numbers = [str(cell.count(what)) if cell.summary else "-" for what in
                   (results.PASS, results.FAIL, "known_bugs", results.SKIPPED)]
        spent = "-" if cell.state == NOT_RUN else f"{cell.seconds:.1f} s"
        state = "" if cell.state in (STATES[GOOD], STATES[FAILED]) else f"  {cell.state}"
        lines.append("{:<{}}  {:<{}}  {:>6}  {:>6}  {:>10}  {:>7}  {:>8}".format(
            cell.kernel_name, wide, cell.config_name, wide_config, *numbers, spent) + state)
    return "\n".join(lines + details(cells))


def details(cells: list[Cell]) -> list[str]:
    """What the table has no room for."""
    lines = []
    for cell in cells:
        names = cell.summary.get("failures", [])
        if names:
            more = f" and {len(names) - 6} more" if len(names) > 6 else ""
            lines.append(f"{cell.name}: failed {', '.join(names[:6])}{more}")
        if cell.why:
            lines.append(f"{cell.name}: {cell.why}")
        if (names or cell.why) and cell.out and (cell.out / LOG).exists() and cell.seconds:
            lines.append(f"    all it printed: {relative(cell.out / LOG)}")
    return ["", *lines] if lines else []


def matrix(request: Request, asked: list[str], configs: list[str]) -> int:
    """Run every cell; the exit status is the highest of theirs. request: how each is built and run."""
    cells = plan(asked, configs, request.ksrc)
    deps.require({**deps.BUILD, **toolchain.programs(request.make_options)})
    top = request.out.absolute() if request.out else layout.default_top()
    keep, stopped = top / "matrix.json", False
    try:
        find_kernels(cells, top)
        run_cells(cells, request, keep)
    except KeyboardInterrupt:
        stopped = True
    write_json(cells, keep)
    print(f"\n{table(cells)}\n")
    if stopped:
        left = sum(cell.state in (NOT_RUN, STOPPED) for cell in cells)
        print(f"stopped    before the end: {left} of {len(cells)} cells are missing or incomplete; "
              "run it again to go on")
    print(f"results    {relative(keep)}, and a directory for each cell below {relative(top)}")
    print(", ".join(f"{sum(cell.count(what) for cell in cells)} {what}"
                    for what in (results.PASS, results.FAIL, results.SKIPPED)), flush=True)
    return max([Interrupted.code if stopped else GOOD, *(cell.status for cell in cells)])
