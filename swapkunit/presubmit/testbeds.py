# SPDX-License-Identifier: GPL-2.0
"""The testbeds of one check: the plain one, one for each further configuration, one with counters."""
from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from .. import sandbox
from ..base.layout import REPO
from ..coverage.counters import WATCHED, tools_for
from ..coverage.places import FRAGMENT
from ..series.bases import Base
from ..series.series import Patch, Series
from . import experiments, mutants
from .changed_lines import State, added
from .request import FULL, QUICK, CheckRequest
from .store import Store, identity_of_kernel, identity_of_project, identity_of_tools, key
from .testbed import OWN, Tested, Testbed, snapshot

PLAIN = "plain"
LOCKDEP, MEMCG_OFF = "lockdep", "memcg off"
DEBUGGING = ("debug_vm", LOCKDEP, "kasan")
SWAP_HEADERS = re.compile(r"include/(linux|trace/events)/z?swap\w*\.h")
BUILD_FILES = ("Makefile", "Kbuild", "Kconfig")


class Testbeds:
    """Builds and tests the base and the states of a series."""

    def __init__(self, request: CheckRequest, base: Base, series: Series, top: Path):
        run = request.run
        self.request, self.kernel, self.top = request, base.kernel, top
        self.log = top / "log.txt"
        self.store = Store(top / "steps")
        snapshot(REPO, top / OWN)
        self.base_key = key(identity_of_kernel(base.kernel, base.commit), identity_of_project(top / OWN),
                            identity_of_tools(run.make_options), run.make_options, run.filters, run.kernel_args,
                            run.config, run.policies, run.timeout)
        self.series_key = key([patch.diff for patch in series.patches])
        self.plain = self.make(PLAIN, [])
        self.others = {name: self.make(name, [name])
                       for name in (*request.configs, *(DEBUGGING if request.depth == FULL else ()))}
        touched = [name for patch in series.patches for name in patch.touched]
        thorough = request.depth != QUICK and not request.last_only and any(map(is_swap_code, touched))
        self.last = self.for_the_last_patch() if thorough else {}
        self.experiments = {experiments.name_of(one): one for one in request.lab}
        self.last.update({name: self.make("+".join(one.config), one.config) for name, one in self.experiments.items()})
        self.bases: dict[str, Tested] = {}

    def make(self, name: str, config: list[str]) -> Testbed:
        """The testbed of a configuration."""
        run = self.request.run
        request = replace(run, ksrc=self.kernel.path if self.kernel.given else None, config=[*run.config, *config])
        return Testbed(request, self.top, name, self.request.sandbox, self.base_key, self.series_key, self.store,
                       self.log)

    def for_the_last_patch(self) -> dict[str, Testbed]:
        """Testbeds for the last patch alone: with mutants, lockdep, and the plain kernel without memory controller."""
        request = self.plain.request
        boot = replace(request, kernel_args=[*request.kernel_args, "cgroup_disable=memory"])
        found = {mutants.STEP: self.make(mutants.STEP, [mutants.STEP]),
                 MEMCG_OFF: replace(self.plain, name=MEMCG_OFF, place=PLAIN, request=boot)}
        return found if LOCKDEP in self.others else {**found, LOCKDEP: self.make(LOCKDEP, [LOCKDEP])}

    def box(self) -> sandbox.Sandbox | None:
        """The sandbox for checkpatch and the like; None without one."""
        if not self.request.sandbox:
            return None
        return sandbox.make([self.kernel.path, REPO, self.top], self.request.run.make_options, self.request.run.jobs)

    def base(self, testbed: Testbed) -> Tested:
        """The base's result in a testbed; tested at most once, even if the sandbox killed it."""
        if testbed.name not in self.bases:
            self.bases[testbed.name] = testbed.test([], [])
        return self.bases[testbed.name]

    def test(self, testbed: Testbed, patches: list[Patch], touched: list[str]) -> Tested:
        """The result with these patches in a testbed."""
        return testbed.test([patch.file for patch in patches], touched, changes_the_build(patches))

    def counting_state(self, patches: list[Patch], out: Path) -> State | None:
        """The state to measure coverage in; None if the series touches and adds no swap file. out: the report's."""
        new = added(patches)
        if not {name for patch in patches for name in patch.touched} & {*WATCHED, *new}:
            return None
        counting = self.make(FRAGMENT, [FRAGMENT])
        names = [Path(name).stem for name in new if name.endswith(".c")]
        counting.request.make_options = [*counting.request.make_options,
                                         *[f"SWAP_KUNIT_COUNTED={' '.join(names)}"] * bool(names)]
        tools = replace(tools_for(self.request.run.make_options), watched=(*WATCHED, *new))
        return State(counting, self.plain, self.kernel.path, [patch.file for patch in patches], out / "source",
                     out / "coverage", tools)


def is_swap_code(name: str) -> bool:
    """Whether a file is part of the swap code."""
    return name in WATCHED or bool(SWAP_HEADERS.fullmatch(name))


def changes_the_build(patches: list[Patch]) -> bool:
    """Whether patches change how files are built, so that commands and objects of the base no longer count."""
    return any(os.path.basename(name).startswith(BUILD_FILES) or name.startswith("scripts/")
               for patch in patches for name in patch.touched)
