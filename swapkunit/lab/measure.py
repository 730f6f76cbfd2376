# SPDX-License-Identifier: GPL-2.0
"""Build the kernels of an experiment, and boot each side once for every seed."""
from __future__ import annotations

import contextlib
import os
import re
import selectors
import shutil
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..base import commands, interrupts
from ..base.errors import FAILED, SwapKunitError
from ..base.kernel import Kernel
from ..base.layout import Layout, default_out
from ..run.console import SKIP
from ..run.session import Request, Session, open_session
from ..run.uml import Uml, kernel_arguments, memory_bytes, memory_directory
from ..source import kernels
from .experiment import Experiment, Plan
from .figures import Measured, parse

SHOWN = 20      # lines of a console that failed
TIMEOUT = 120.0


class ExperimentFailed(SwapKunitError):
    """A side did not run to its end."""

    code = FAILED


@dataclass
class Side:
    """A side that was measured. runs: by seed; changed: seeds whose repetition printed something else."""

    plan: Plan
    kernel: Kernel
    runs: dict[int, Measured] = field(default_factory=dict)
    changed: list[int] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def measured(self) -> list[Measured]:
        """The runs."""
        return list(self.runs.values())


@dataclass(frozen=True, eq=False)
class Boot:
    """One UML to start."""

    side: Side
    binary: Path
    args: list[str]
    log: Path
    seed: int
    repetition: int


def kernel_of(plan: Plan, asked: Request, found: dict[str, Kernel]) -> Kernel:
    """The kernel of a side, found once. Raises SwapKunitError."""
    if plan.kernel not in found:
        request = replace(asked, ksrc=None, kernel=plan.kernel) if plan.kernel else asked
        found[plan.kernel] = request.find_kernel()
    return found[plan.kernel]


def request_for(plan: Plan, kernel: Kernel, asked: Request, config: list[str], top: Path) -> Request:
    """How to build a side."""
    policies = list(dict.fromkeys([*asked.policies, *plan.policies]))
    config = list(dict.fromkeys([*config, *asked.config]))
    return replace(asked, ksrc=kernel.path if kernel.given else None,
                   kernel=None if kernel.given else kernels.exact_version(kernel), config=config, policies=policies,
                   out=default_out(kernel, config, policies, top), quiet=True)


def measure(experiment: Experiment, asked: Request, top: Path, times: int = 1) -> list[Side]:
    """Build both sides and run them, times times for every seed. Raises SwapKunitError."""
    found: dict[str, Kernel] = {}
    sides = [Side(plan, kernel_of(plan, asked, found)) for plan in experiment.sides]
    requests = [request_for(side.plan, side.kernel, asked, experiment.config, top) for side in sides]
    with contextlib.ExitStack() as stack:
        built: dict[Path | None, Session] = {}
        # A kernel with policies starts from the objects of one without.
        for request in sorted(requests, key=lambda one: len(one.policies)):
            if request.out not in built:
                built[request.out] = build(request, stack, set(built))
        boots = [boot for side, request, letter in zip(sides, requests, "AB")
                 for boot in boots_of(side, built[request.out], experiment, letter, times)]
        run_all(boots, asked.jobs)
    return sides


def build(request: Request, stack: contextlib.ExitStack, held: set[Path | None]) -> Session:
    """Build one kernel; its directory is locked until the stack ends. held: directories that are locked already."""
    session = open_session(request)
    print(f"building Linux {session.kernel.version}{''.join(f' + {name}' for name in request.policies)}", flush=True)
    stack.enter_context(session.layout.lock())
    plain = Layout(session.layout.out.with_name(session.layout.out.name.partition("@")[0]))
    if request.policies and not session.layout.build.exists() and plain.vmlinux.exists():
        with contextlib.suppress(SwapKunitError), contextlib.nullcontext() if plain.out in held else plain.lock():
            session.lay_tree()
            shutil.copytree(plain.build, session.layout.build, symlinks=True)
    session.build_kernel()
    return session


def boots_of(side: Side, session: Session, experiment: Experiment, letter: str, times: int = 1,
             binary: Path | None = None) -> list[Boot]:
    """The UMLs to start for a side, one for each seed and repetition. letter: of the side, for the logs.

    binary: the kernel; by default the one that the session built.
    """
    logs = session.layout.out / "logs"
    logs.mkdir(exist_ok=True)
    plan = side.plan
    name = f"lab-{re.sub(r'[^a-zA-Z0-9_-]', '_', experiment.name)}-{letter}"
    return [Boot(side, binary or session.layout.vmlinux,
                 kernel_arguments([*session.run_options().kernel_args, *plan.args, f"{plan.suite}.seed={seed}",
                                   f"kunit.filter_glob={plan.suite}"]), logs / f"{name}-{seed}-{one}.log", seed, one)
            for one in range(times) for seed in experiment.seeds]


def run_all(boots: list[Boot], jobs: int) -> None:
    """Run the UMLs, some at a time, and give each side its runs in the order of the seeds."""
    queue, running = list(boots), dict[Uml, Boot]()
    results: dict[Boot, Measured] = {}
    scratch = memory_directory(max(memory_bytes(boot.args) for boot in boots) * jobs)
    with selectors.DefaultSelector() as selector:
        try:
            while queue or running:
                while queue and len(running) < jobs:
                    boot = queue.pop(0)
                    with interrupts.held():
                        uml = Uml(boot.binary, boot.args, boot.log, scratch)
                        running[uml] = boot
                    selector.register(uml, selectors.EVENT_READ)
                for uml in ended(selector, running):
                    selector.unregister(uml)
                    boot = running[uml]
                    boot.side.seconds += time.monotonic() - uml.started
                    with interrupts.held():
                        uml.close()
                        del running[uml]
                    results[boot] = result_of(uml, boot)
                commands.status_line(f"measuring: {len(results)} of {len(boots)} boots")
        finally:
            commands.status_line("")
            with interrupts.held():
                for uml in running:
                    uml.close()
    for boot in boots:
        sort_in(boot, results[boot])


def ended(selector: selectors.BaseSelector, running: dict[Uml, Boot]) -> list[Uml]:
    """The UMLs that have ended. Raises ExperimentFailed for one that is stuck."""
    ready = {key.fileobj for key, _ in selector.select(0.2)}
    done = [uml for uml in running if uml in ready and not uml.read()]
    for uml, boot in running.items():
        why = "" if uml in done else uml.stuck(TIMEOUT)
        if why:
            raise failed(uml, boot, why)
    return done


def result_of(uml: Uml, boot: Boot) -> Measured:
    """What a UML measured. Raises SwapKunitError if it did not run to the end."""
    lines = [line for case in uml.console.done for line in case.lines]
    if uml.console.panic or not uml.console.suite_ended or not all(case.passed() for case in uml.console.done):
        raise failed(uml, boot, uml.console.panic or "it failed")
    measured = parse(lines)
    if not measured.rows:
        skipped = [found[1] for line in lines if (found := SKIP.search(line))]
        raise SwapKunitError(f"cannot measure {boot.side.plan.name} on Linux {boot.side.kernel.version}: "
                             f"{skipped[-1] if skipped else 'it printed no figures'}; use another kernel")
    return measured


def failed(uml: Uml, boot: Boot, why: str) -> ExperimentFailed:
    """The error for a side that did not end well; prints the end of its console."""
    print("\n".join(uml.lines[-SHOWN:]))
    return ExperimentFailed(f"cannot measure {boot.side.plan.name}, seed {boot.seed}: {why}; the end of its console is "
                            f"shown above, all of it is in {os.path.relpath(boot.log)}")


def sort_in(boot: Boot, measured: Measured) -> None:
    """The first run of a seed counts; a later one must print the same."""
    side = boot.side
    if not boot.repetition:
        side.runs[boot.seed] = measured
    elif side.runs[boot.seed].rows != measured.rows and boot.seed not in side.changed:
        side.changed.append(boot.seed)
