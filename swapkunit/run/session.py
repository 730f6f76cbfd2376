# SPDX-License-Identifier: GPL-2.0
"""One run's parts tied together; every verb is a few calls of these.

    session = open_session(request)      # kernel found or fetched, options settled
    with session.layout.lock():
        build_kernel(session)            # overlay, Kconfig, vmlinux
        results = run_suites(session)    # UMLs
        report = make_report(session, results)
"""
from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

from ..build import build, fragments, patches, overlay as tree
from ..base import commands, deps, toolchain
from . import known_bugs, mechanisms as presence, results as results_module, runner as run
from ..source import kernels as source
from ..build.build import BuildOptions
from ..build.fragments import KunitConfig
from ..base.kernel import Kernel, examine, version_key
from ..base.layout import CONFIGS, POLICIES, REPO, Layout, check_room, default_out
from .results import Report
from .runner import Results, RunOptions
from ..sandbox import Sandbox

OLDEST_PARSER = (6, 12)     # kunit.py of older trees counts skipped cases as passed


@dataclass
class Request:
    """What the user asked for, as the command line gives it.

    policies: names in mm/policies; patches: files of any origin, applied after them.
    """

    ksrc: Path | None = None
    kernel: str | None = None
    config: list[str] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)
    patches: list[Path] = field(default_factory=list)
    filters: list[str] = field(default_factory=list)
    out: Path | None = None
    jobs: int = 1
    timeout: float = 60.0
    verbose: bool = False
    quiet: bool = False
    kunitconfig: Path | None = None
    make_options: list[str] = field(default_factory=list)
    kernel_args: list[str] = field(default_factory=list)
    shuffle: int | None = None


@dataclass
class Stages:
    """Seconds by stage, in the order they ran."""

    seconds: dict[str, float] = field(default_factory=dict)

    def line(self) -> str:
        """kernel 0.1 s, tree 0.0 s, ... = 7.2 s"""
        parts = ", ".join(f"{name} {spent:.1f}" for name, spent in self.seconds.items())
        return f"{parts}: {sum(self.seconds.values()):.1f} s"


@dataclass
class Session:
    """A kernel, where its output goes, and what is to be done with it.

    sandbox: make and the UMLs run in there. Laying the tree and reading results is our own code.
    """

    request: Request
    kernel: Kernel
    layout: Layout
    stages: Stages
    config: KunitConfig = field(default_factory=KunitConfig)
    sandbox: Sandbox | None = None

    def announce(self) -> None:
        """Print which kernel is used."""
        print(f"Linux {self.kernel.version}, {self.kernel.origin}", flush=True)

    @contextmanager
    def confined(self, *writable: Path) -> Iterator[None]:
        """What is started inside the block runs in the sandbox, if there is one, and writes there."""
        with commands.confined(self.sandbox.writing(*writable) if self.sandbox else None):
            yield

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time spent inside under name."""
        started = time.monotonic()
        try:
            yield
        finally:
            spent = time.monotonic() - started
            self.stages.seconds[name] = self.stages.seconds.get(name, 0.0) + spent

    def run_options(self) -> RunOptions:
        """How the UMLs are started: the fragments' arguments, then the user's."""
        args = [*self.config.kernel_args, *self.request.kernel_args]
        return RunOptions(self.request.filters, self.request.timeout, self.request.jobs, args,
                          self.request.kernel_args, self.request.shuffle)

    def build_options(self) -> BuildOptions:
        """How make is called."""
        return BuildOptions(self.request.jobs, self.request.make_options, self.request.verbose)


def open_session(request: Request) -> Session:
    """Find or fetch the kernel and settle the output directory. Raises SwapKunitError."""
    started = time.monotonic()
    for name in request.config:
        fragments.find(name, CONFIGS)
    laid = policy_steps(request) or request.patches
    deps.require({**deps.BUILD, **(deps.PATCHES if laid else {}), **toolchain.programs(request.make_options)})
    toolchain.check(request.make_options)
    kernel = find_kernel(request)
    layout = Layout((request.out or default_out(kernel, request.config, request.policies)).absolute())
    tree.check_tree_path(layout.tree)
    return Session(request, kernel, layout, Stages({"kernel": time.monotonic() - started}))


def find_kernel(request: Request) -> Kernel:
    """The tree that was given, or a fetched one. Raises SwapKunitError."""
    return examine(request.ksrc) if request.ksrc is not None else source.provide(request.kernel)


def policy_steps(request: Request) -> list[list[Path]]:
    """The patches of the fragments and of the policies asked for. Raises SwapKunitError."""
    names = dict.fromkeys([*fragments.patches_of(request.config, CONFIGS), *request.policies])
    return [step for name in names for step in patches.steps_of(name, POLICIES)]


def overlay(session: Session, where: Path) -> tree.Overlay:
    """The session's overlay at where."""
    request = session.request
    return tree.Overlay(session.kernel.path, where, REPO, policy_steps(request), request.patches)


def lay_tree(session: Session) -> list[str]:
    """Sync the overlay; returns the files whose objects are stale."""
    with session.stage("tree"):
        if not (session.layout.tree / tree.MANIFEST).exists():
            check_room(session.layout.out, 200 << 20)
            print(f"laying the tree of Linux {session.kernel.version} in {session.layout.tree}", flush=True)
        synced = overlay(session, session.layout.tree).sync()
    for note in synced.notes:
        print(f"swap-kunit: {note}", flush=True)
    return synced.stale


def build_kernel(session: Session) -> None:
    """Overlay, Kconfig and vmlinux. Raises SwapKunitError or UntestableKernel."""
    (session.layout.out / results_module.SUMMARY).unlink(missing_ok=True)
    stale = lay_tree(session)
    with session.stage("build"):
        base = session.request.kunitconfig or session.layout.tree / tree.OWN_DIR
        session.config = fragments.gather(base, session.request.config, CONFIGS)
        session.layout.build.mkdir(exist_ok=True)
        with session.confined(session.layout.build):
            build.build(session.layout, session.config, session.build_options(), stale)


def list_cases(session: Session) -> list[str]:
    """All suite.case names of the kernel just built."""
    with session.stage("list"), session.confined():
        return run.list_cases(session.layout, session.run_options())


def run_suites(session: Session) -> Results:
    """Run the chosen suites; a crash or hang is in the results."""
    options = session.run_options()
    with session.stage("list"), session.confined():
        cases = run.list_cases(session.layout, options)
    with session.stage("run"), session.confined():
        return run.run(session.layout, cases, options)


def make_report(session: Session, results: Results) -> Report:
    """Parse, apply the known bugs, and write the files of the output directory."""
    with session.stage("results"):
        leaves = results_module.parse(session.layout, results, session.kernel,
                                      parser_of(session), session.request.quiet)
        bugs = known_bugs.load(CONFIGS / "known_bugs", session.kernel.series)
        leaves += presence.missing_leaves(session.kernel)
        report = known_bugs.apply(leaves, bugs)
        results_module.write_decisions(session.layout, results)
        results_module.write_outcomes(session.layout, report.leaves)
        results_module.write_junit(session.layout, report.leaves)
        results_module.write_summary(session.layout, session.kernel, session.request.config,
                                     session.request.policies, report, results.interrupted)
    return report


def parser_of(session: Session) -> Path:
    """kunit.py of this tree, or of the newest one in the cache where this one's is too old."""
    if version_key(session.kernel.version) < OLDEST_PARSER:
        newest = source.newest_cached()
        if newest and version_key(newest.version) >= OLDEST_PARSER:
            return newest.path / "tools/testing/kunit/kunit.py"
        print("swap-kunit: kunit.py of this old kernel counts skipped cases as passed, and no newer "
              "one is in the cache; `swap-kunit fetch` gets one", file=sys.stderr)
    # A patch's own kunit.py is a stranger's; the one of the kernel it is for will do.
    top = session.kernel.path if session.sandbox else session.layout.tree
    return top / "tools/testing/kunit/kunit.py"
