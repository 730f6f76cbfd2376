# SPDX-License-Identifier: GPL-2.0
"""The parts of one run, in the order in which every verb calls them.

    session = open_session(request)              # find or fetch the kernel, settle the options
    with session.layout.lock():
        session.build_kernel()                   # overlay, Kconfig, vmlinux
        results = session.run_suites()           # UMLs
        report = session.make_report(results)
"""
from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Iterator

from ..base import commands, deps, ours, toolchain
from ..base.kernel import Kernel, examine, version_key
from ..base.layout import CONFIGS, POLICIES, REPO, Layout, check_room, default_out
from ..build import build, fit, fragments, patches
from ..build.build import BuildOptions
from ..build.fragments import KunitConfig
from ..build.overlay import MANIFEST, Overlay, check_tree_path
from ..sandbox import Sandbox
from ..source import kernels
from . import known_bugs, mechanisms, runner
from .results import (
    SUMMARY, Report, parse, with_known_bugs, write_decisions, write_junit, write_outcomes, write_summary)
from .runner import Results, RunOptions

OLDEST_PARSER = (6, 12)     # kunit.py of older trees counts skipped cases as passed
ROOM_FOR_TREE = 200 << 20   # bytes that a new overlay needs


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
    hangs: int = 3

    def check(self) -> None:
        """Raise SwapKunitError for whatever is wrong before packages are installed and kernels fetched."""
        if self.out is not None:
            ours.check(self.out.absolute())
            check_tree_path(self.out.absolute())
        fragments.gather(self.kunitconfig or REPO, self.config, CONFIGS)
        self.policy_steps()
        runner.check_arguments(self.kernel_args)
        if self.ksrc is not None:
            examine(self.ksrc)
        else:
            kernels.check(self.kernel)

    def find_kernel(self) -> Kernel:
        """The given tree, or a fetched one. Raises SwapKunitError."""
        return examine(self.ksrc) if self.ksrc is not None else kernels.provide(self.kernel)

    def policy_steps(self) -> list[list[Path]]:
        """The patches of the requested fragments and policies. Raises SwapKunitError."""
        names = dict.fromkeys([*fragments.patches_of(self.config, CONFIGS), *self.policies])
        return [step for name in names for step in patches.steps_of(name, POLICIES)]


@dataclass
class Stages:
    """Seconds per stage, in the order they ran."""

    seconds: dict[str, float] = field(default_factory=dict)

    def line(self) -> str:
        """kernel 0.1, tree 0.0, ...: 7.2 s"""
        parts = ", ".join(f"{name} {spent:.1f}" for name, spent in self.seconds.items())
        return f"{parts}: {sum(self.seconds.values()):.1f} s"


@dataclass
class Session:
    """A kernel, its output directory, and what to do with it.

    sandbox: make and the UMLs run inside. Laying the tree and reading results is our own code and does not.
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
        """Run programs inside the block in the sandbox, if there is one; they may write to writable only."""
        with commands.confined(self.sandbox.writing(*writable) if self.sandbox else None):
            yield

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent inside the block to stage name."""
        started = time.monotonic()
        try:
            yield
        finally:
            spent = time.monotonic() - started
            self.stages.seconds[name] = self.stages.seconds.get(name, 0.0) + spent

    def run_options(self) -> RunOptions:
        """How to start the UMLs: the fragments' arguments, then the user's."""
        args = [*self.config.kernel_args, *self.request.kernel_args]
        return RunOptions(self.request.filters, self.request.timeout, self.request.jobs, args,
                          self.request.kernel_args, self.request.shuffle, self.request.hangs)

    def build_options(self) -> BuildOptions:
        """How to call make."""
        return BuildOptions(self.request.jobs, self.request.make_options, self.request.verbose)

    def overlay(self, where: Path) -> Overlay:
        """The session's kernel with our files and all patches, to be laid in where."""
        return Overlay(self.kernel.path, where, self.layout.own, self.request.policy_steps(), self.request.patches)

    def lay_tree(self) -> list[str]:
        """Sync the overlay; returns the files whose objects are stale."""
        with self.stage("tree"):
            if not (self.layout.tree / MANIFEST).exists():
                check_room(self.layout.out, ROOM_FOR_TREE)
                print(f"laying the tree of Linux {self.kernel.version} in {self.layout.tree}", flush=True)
            synced = self.overlay(self.layout.tree).sync()
            stale = [*synced.stale, *fit.forget_when_changed(self.layout)]
            if len(stale) > len(synced.stale):
                self.overlay(self.layout.tree).sync()
        for note in synced.notes:
            print(f"swap-kunit: {note}", flush=True)
        return stale

    def build_kernel(self) -> None:
        """Overlay, Kconfig and vmlinux. Raises SwapKunitError or UntestableKernel."""
        (self.layout.out / SUMMARY).unlink(missing_ok=True)
        self._build(build.build)

    def _build(self, how: Callable[[Layout, KunitConfig, BuildOptions, list[str]], None]) -> None:
        stale = self.lay_tree()
        with self.stage("build"):
            self.read_config()
            self.layout.build.mkdir(exist_ok=True)
            with self.confined(self.layout.build):
                how(self.layout, self.config, self.build_options(), stale)

    def read_config(self) -> None:
        """Read the .kunitconfig and the fragments. Raises SwapKunitError."""
        base = self.request.kunitconfig or self.layout.own
        self.config = fragments.gather(base, self.request.config, CONFIGS, lean=not self.request.kunitconfig)

    def build_own_code(self) -> None:
        """Overlay, Kconfig and this project's own objects; what does not fit is left out. Raises as build_kernel()."""
        self._build(build.build_own_code)

    def list_cases(self, options: RunOptions | None = None) -> list[str]:
        """All suite.case names of the kernel just built."""
        with self.stage("list"), self.confined():
            return runner.list_cases(self.layout, options or self.run_options())

    def run_suites(self) -> Results:
        """Run the chosen suites; the results tell of crashes and hangs too."""
        options = self.run_options()
        cases = self.list_cases(options)
        with self.stage("run"), self.confined():
            return runner.run(self.layout, cases, options)

    def make_report(self, results: Results) -> Report:
        """Parse the results, apply the known bugs, and write the files of the output directory."""
        with self.stage("results"):
            tests, printed = parse(self.layout, results, self.kernel, self._parser())
            bugs, tested = known_bugs.load(CONFIGS / "known_bugs.toml")
            report = known_bugs.apply(tests + mechanisms.missing_tests(self.kernel), bugs, tested, self.kernel.version)
            if self.request.verbose and not self.request.quiet:
                print(with_known_bugs(printed, report.tests))
            report.left_out = fit.left_out(self.layout)
            if report.left_out.misfits:     # what failed may not be looked at here
                report.fixed.clear()
            write_decisions(self.layout, results)
            write_outcomes(self.layout, report.tests)
            write_junit(self.layout, report.tests, results)
            write_summary(self.layout, self.kernel, self.request.config, self.request.policies, report,
                          results.interrupted)
        return report

    def _parser(self) -> Path:
        """kunit.py of this tree, or of the newest one in the cache where this one is too old."""
        if version_key(self.kernel.version) < OLDEST_PARSER:
            newest = next(iter(kernels.cached()), None)
            if newest and version_key(newest.version) >= OLDEST_PARSER:
                return newest.path / "tools/testing/kunit/kunit.py"
            print("swap-kunit: kunit.py of this old kernel counts skipped cases as passed, and the cache has no newer "
                  "one; `swap-kunit fetch` gets one", file=sys.stderr)
        # Do not run a kunit.py that a patch under test may have changed: take the one of the kernel it is for.
        top = self.kernel.path if self.sandbox else self.layout.tree
        return top / "tools/testing/kunit/kunit.py"


def open_session(request: Request) -> Session:
    """Find or fetch the kernel and settle the output directory. Raises SwapKunitError."""
    started = time.monotonic()
    request.check()
    patched = request.policy_steps() or request.patches
    deps.require({**deps.BUILD, **(deps.PATCHES if patched else {}), **toolchain.programs(request.make_options)})
    toolchain.check(request.make_options)
    kernel = request.find_kernel()
    layout = Layout((request.out or default_out(kernel, request.config, request.policies)).absolute())
    return Session(request, kernel, layout, Stages({"kernel": time.monotonic() - started}))
