# SPDX-License-Identifier: GPL-2.0
"""Compiles the touched files in other ways: W=1, sparse, kernel-doc, and the configurations that mm patches break.

Also the selftests of mm, which are no part of a kernel, and pages of documentation.

One object at a time, in a tree without wrappers, by the commands that Kbuild would use.
`make -n` prints them once for the base, and again after a patch that touches a Makefile or
Kconfig. A patch answers only for messages that the state before it did not have.
"""
from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import ContextManager

from .. import sandbox
from ..base import commands
from ..base.errors import SwapKunitError
from ..base.kernel import Kernel
from ..base.layout import CONFIGS, POLICIES, REPO, full_disk, no_room
from ..build import fragments
from ..build.build import UNFINISHED
from ..build.overlay import Overlay
from ..build.patches import DoesNotApply, steps_of
from ..run.session import Request
from .file_steps import (
    DOCUTILS, KILLED, MAKE, SELFTEST, SPARSE, JobResult, Messages, Results, messages, results_of, verdicts)
from .report import Step
from .store import Store, key
from .testbed import RecordingSandbox, limit_of
from .variants import (CHECK, ODD, PLAIN, Ready, Variant, commands_of, compiles_32_bit, complaint, configuration,
                       lacking, of_new_options)

PARALLEL = Path(__file__).with_name("parallel.py")
# Which users of a header to compile: these first, and at most MOST_USERS. Without SWAP all of them: there the
# header has stubs, and a stub may have a single user.
USERS = ("mm/swapfile.c", "mm/swap_state.c", "mm/memory.c", "mm/shmem.c", "mm/page_io.c", "mm/zswap.c", "mm/vmscan.c",
         "mm/madvise.c", "mm/memcontrol.c", "mm/swap.c", "mm/util.c", "mm/page_alloc.c")
MOST_USERS = 4
SELFTESTS = ("tools/testing/selftests/mm/", "tools/testing/selftests/vm/")
RST = Path(__file__).with_name("rst.py")
FORMAT = 3      # of the stored results; after a change all files are compiled again
FOREIGN = "made-by-a-series"    # exists when a patch's own Makefiles have prepared the directories

Job = tuple[str, list[str]]     # id and command


class FileChecks:
    """The compilations for one series; creates its trees when first needed."""

    def __init__(self, kernel: Kernel, request: Request, top: Path, confine: bool, base_key: str, store: Store):
        self.kernel, self.request, self.top = kernel, request, top / "checks"
        self.confine, self.base_key, self.store = confine, base_key, store
        self.messages: Messages = {}            # of each job's last run
        self.broken: set[str] = set()           # jobs that fail in the base
        self.wanted: tuple[Variant, ...] = ()   # () if no touched file may be compiled
        self.options: tuple[Variant, ...] = ()      # variants for options that the series adds; the base has none
        self.base: dict[Variant, Ready] = {}
        self.variants: dict[Variant, Ready] = {}    # in the current state of the series
        self.apart: list[str] = []              # touched files that are no part of a kernel
        self.users: list[str] = []
        self.directories: list[str] = []
        self.box: RecordingSandbox | None = None    # the last sandbox
        self.killed = ""                        # why the sandbox killed the last run()

    # -- trees and configurations -------------------------------------------

    def tree(self, variant: Variant) -> Path:
        """The tree a variant is compiled in; variants that need patches of ours have their own."""
        return self.top / (f"tree-{variant.policies}" if variant.policies else "tree")

    def lay(self, variant: Variant, patches: list[Path]) -> None:
        """Update its tree to a state of the series."""
        nothing = self.top / "nothing"
        nothing.mkdir(parents=True, exist_ok=True)
        names = fragments.patches_of([variant.policies], CONFIGS) if variant.policies else []
        steps = [step for name in names for step in steps_of(name, POLICIES)]
        Overlay(self.kernel.path, self.tree(variant), nothing, steps, patches).sync()

    def confined(self, *writable: Path) -> ContextManager[None]:
        """A sandbox with these directories writable."""
        self.box = None
        if self.confine:
            box = sandbox.make([self.kernel.path, REPO, self.top], self.request.make_options, self.request.jobs)
            self.box = RecordingSandbox.of(box.writing(*writable))
        return commands.confined(self.box)

    def check_limits(self) -> None:
        """Raise SwapKunitError if the last sandbox killed its program for a lack of the machine, not of the patch."""
        self.killed = limit_of(self.box)
        if sandbox.machines_fault(self.killed):
            raise SwapKunitError("cannot go on compiling the touched files one by one: meanwhile "
                                 f"{self.killed}; {sandbox.advice(self.killed)}")

    def ready(self, variant: Variant, directories: list[str], patches: list[Path], stale: bool) -> Ready:
        """Configure a variant and get its commands from make. stale: the patches change these."""
        name = key(self.base_key, "ready", FORMAT, variant, directories,
                   [path.read_bytes() for path in patches] if stale else [],
                   bool(variant.make) and compiles_32_bit())
        known, state = self.store.get(name), self.top / f"{variant.name}.state"
        if known and (self.top / variant.name / ".config").exists() and state.exists() and state.read_text() == name:
            return Ready(**known)
        if stale:
            (self.top / FOREIGN).touch()
        state.unlink(missing_ok=True)
        mark = self.top / variant.name / UNFINISHED
        if mark.exists():       # the last attempt was interrupted and may have left incomplete files
            shutil.rmtree(mark.parent)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        try:
            self.lay(variant, patches)
            made = self._make_ready(variant, directories)
        except DoesNotApply as error:
            made = Ready(lacking=str(error), ours=True)
        if not made.failed:
            mark.unlink()
            state.write_text(name)
            self.store.put(name, vars(made))
        return made

    def _make_ready(self, variant: Variant, directories: list[str]) -> Ready:
        if variant.make and not compiles_32_bit():
            return Ready(lacking="gcc cannot build 32-bit programs here: apt-get install gcc-multilib")
        out = self.top / variant.name
        (out / ".config").unlink(missing_ok=True)
        (out / ".config").write_text(configuration(variant))
        with self.confined(out):
            for target in ("olddefconfig", "prepare"):
                done = self.make(variant, target)
                if done.status:
                    return Ready(lacking=f"make {target} failed: {commands.tail(done.output, 3)}", failed=True)
                why = lacking(variant, fragments.read_dot_config(out / ".config"))
                if why:
                    return Ready(lacking=why)
            words = ["W=1", "C=2", f"CHECK={CHECK}"] if variant == PLAIN else []
            done = self.make(variant, "-n", *words, *(f"{name}/" for name in directories))
            if self.killed:
                return Ready(lacking=f"make was {KILLED}{self.killed}", failed=True)
            made = commands_of(done.output, self.tree(variant))
            made.trouble = complaint(done.output, self.top) if done.status else ""
            return made

    def make(self, variant: Variant, *words: str) -> commands.Finished:
        """Run the kernel's make in a variant's directory."""
        how = ["--no-print-directory", "-k"] if "-n" in words else ["-s", f"--jobs={self.request.jobs}"]
        command = ["make", *how, "ARCH=um", f"O={self.top / variant.name}", *variant.make, *self.request.make_options,
                   *words]
        commands.show(command, self.tree(variant))
        done = commands.run(command, cwd=self.tree(variant), env=commands.kernel_environment())
        self.check_limits()
        place = full_disk(self.top) if done.status else None
        if place:
            raise no_room(place)
        return done

    # -- what to compile ----------------------------------------------------

    def jobs(self, touched: list[str], users: list[str], variants: dict[Variant, Ready]) -> list[Job]:
        """Everything to run for a patch that touches these files."""
        found: list[Job] = []
        for variant, ready in variants.items():
            wanted = [name for name in touched if name in ready.compile]
            most = None if variant.off == "SWAP" else MOST_USERS
            wanted += [name for name in users if name in ready.compile and name not in wanted][:most]
            for name in wanted:
                found.append((f"{variant.label} {name}", in_directory(self.top / variant.name, ready.compile[name])))
                if name in ready.doc and name in touched:
                    found.append((f"kernel-doc {name}", in_directory(self.top / variant.name, ready.doc[name])))
                if name in ready.check:
                    found.append((f"{SPARSE} {name}", in_directory(self.top / variant.name, ready.check[name])))
            for name in touched if ready.doc else []:
                if name.endswith(".h"):
                    words = on_header(ready.doc, self.tree(variant) / name)
                    found.append((f"kernel-doc {name}", in_directory(self.top / variant.name, words)))
        return found + [(f"{SELFTEST if name.endswith('.c') else DOCUTILS} {name}", unless_gone(
            self.tree(PLAIN) / name, self.apart_command(name))) for name in touched if is_apart(name)]

    def apart_command(self, name: str) -> list[str]:
        """The command for a file that is no part of a kernel."""
        tree = self.tree(PLAIN)
        if not name.endswith(".c"):
            return [sys.executable, str(RST), str(tree / name)]
        return ["gcc", "-Wall", "-O2", "-D_GNU_SOURCE=", "-I", f"{tree}/tools/testing/selftests", "-I", str(tree),
                "-isystem", f"{self.top}/headers/usr/include", "-isystem", f"{tree}/tools/include/uapi", "-c",
                "-o", "OUTPUT", str(tree / name)]

    def make_headers(self) -> None:
        """The kernel's headers for programs, which selftests include. If make fails, so do they."""
        if any(name.startswith(SELFTESTS) for name in self.apart):
            out = self.top / "headers"
            out.mkdir(exist_ok=True)
            with self.confined(out):
                commands.run(["make", "-s", f"--jobs={self.request.jobs}", "ARCH=x86", f"O={out}", "headers"],
                             cwd=self.tree(PLAIN), env=commands.kernel_environment())
            self.check_limits()

    def run(self, jobs: list[Job]) -> Results:
        """Run jobs. If the sandbox kills them, that is the result of all."""
        if not jobs:
            return {}
        with tempfile.NamedTemporaryFile("w", dir=self.top, prefix="jobs-") as file:
            json.dump(jobs, file)
            file.flush()
            with self.confined():
                done = commands.run([sys.executable, PARALLEL, file.name, str(self.request.jobs)], cwd=self.top,
                                    env=commands.kernel_environment())
        self.check_limits()
        if self.killed:
            return {job: JobResult(1, f"{KILLED}{self.killed}", 0.0) for job, _ in jobs}
        try:
            return results_of(json.loads(done.output))
        except ValueError:
            raise SwapKunitError(f"cannot compile the touched files one by one: {commands.tail(done.output, 3)}; fix "
                                 "that, or use --quick (make: QUICK=1)") from None

    # -- a series -----------------------------------------------------------

    def prepare(self, touched: list[str], users: list[str], last: list[Path], stale: bool = False) -> None:
        """Configure all variants, and compile the files of the base. last: the whole series; stale: see ready()."""
        self.options = of_new_options([path.read_text(errors="replace") for path in last] if stale else [])
        mark = self.top / FOREIGN
        if mark.exists():
            for variant in (PLAIN, *ODD, *self.options):
                shutil.rmtree(self.top / variant.name, ignore_errors=True)
            mark.unlink()
        self.directories = sorted({"mm"} | {os.path.dirname(name) for name in touched
                                            if reachable(name) or self.is_makefile(name)})
        self.users, self.apart = users, list(filter(is_apart, touched))
        self.wanted = (PLAIN, *ODD) if users or stale or any(map(reachable, touched)) else ()
        self.base = {variant: self.ready(variant, self.directories, [], False) for variant in self.wanted}
        self.variants = dict(self.base)
        jobs = self.jobs(touched, users, self.variants)
        name = key(self.base_key, "results", jobs)
        stored = self.store.get(name)
        results = results_of(stored or {})
        if stored is None:
            self.lay_all([])
            results = self.run(jobs)
            if self.killed:
                raise SwapKunitError("cannot compile the touched files of the base one by one: meanwhile "
                                     f"{self.killed}; {sandbox.advice(self.killed)}")
            self.store.put(name, results)
        self.broken = {job for job, result in results.items() if result.status}
        self.remember(results)

    def cold(self) -> bool:
        """Whether the variants of the base are still to be configured."""
        return not all((self.top / f"{variant.name}.state").exists() for variant in (PLAIN, *ODD))

    def available(self) -> list[str]:
        """The variants that can be compiled here."""
        return [variant.name for variant, ready in self.base.items() if not ready.lacking]

    def is_makefile(self, name: str) -> bool:
        """Whether this is a Makefile whose directory make can be asked about."""
        directory, _, base = name.rpartition("/")
        return (base in ("Makefile", "Kbuild") and reachable(f"{directory}/any.c") and bool(directory)
                and (self.kernel.path / name).exists())

    def lay_all(self, patches: list[Path]) -> None:
        """Update all trees that files are compiled in."""
        trees = {self.tree(PLAIN): PLAIN} if self.apart else {}
        trees |= {self.tree(variant): variant for variant, ready in self.variants.items() if not ready.lacking}
        for variant in trees.values():
            try:
                self.lay(variant, patches)
            except DoesNotApply as error:      # on top of our own patches for this variant
                self.variants[variant] = Ready(lacking=str(error))
        self.make_headers()

    def remember(self, results: Results) -> None:
        """Keep the messages: they are not new in the next state."""
        for job, result in results.items():
            now = messages(result.output, self.top)
            # A compiler that gives up does not print all its warnings.
            self.messages[job] = now | self.messages.get(job, Counter()) if result.status else now

    def results_at(self, patches: list[Path], touched: list[str], stale: bool) -> Results:
        """Update the trees to a state of the series, and compile what its last patch touched."""
        if stale:
            there = of_new_options([path.read_text(errors="replace") for path in patches])
            self.variants = {variant: self.ready(variant, self.directories, patches, True)
                             for variant in (*self.wanted, *(one for one in self.options if one in there))}
        self.lay_all(patches)
        headers = any(name.endswith(".h") for name in touched)
        results = self.run(self.jobs(touched, self.users if headers else [], self.variants))
        return {**self.made(), **results} if stale else results

    def made(self) -> Results:
        """make's result in each variant that the base can be configured as: "", or why that is no longer so."""
        found: Results = {}
        for variant, base in self.base.items():
            ready = self.variants[variant]
            if not base.lacking and not ready.ours:
                why = ready.lacking or (ready.trouble if not base.trouble else "")
                found[f"{variant.label}{MAKE}"] = JobResult(int(bool(why)), why, 0.0)
        return found

    def lasting(self) -> bool:
        """Whether the next start would get the same results."""
        return not self.killed and not any(ready.failed for ready in self.variants.values())

    def steps(self, results: Results) -> list[Step]:
        """The steps of a patch."""
        without = {variant.label: ready.lacking for variant, ready in self.variants.items() if ready.lacking}
        no_sparse = [ready.no_sparse for ready in self.variants.values() if ready.no_sparse]
        found = verdicts(results, self.messages, self.broken, without, no_sparse, self.top)
        tried = [variant.title for variant in self.options if variant in self.variants and variant.label not in without]
        found[-1].details += [f"new option: compiled {' and '.join(tried)}"] if tried else []
        self.remember(results)
        return found


def reachable(name: str) -> bool:
    """Whether ARCH=um may compile a file."""
    return name.endswith(".c") and (not name.startswith(("arch/", "tools/", "scripts/", "samples/", "Documentation/"))
                                    or name.startswith(("arch/um/", "arch/x86/um/")))


def in_directory(directory: Path, words: list[str]) -> list[str]:
    """A command that runs words in directory."""
    return ["env", "-C", str(directory), "CCACHE_DISABLE=1", *words]


def on_header(doc: dict[str, list[str]], header: Path) -> list[str]:
    """A command that runs kernel-doc on a header as make does on C files, if the header exists in this state."""
    *words, _ = next(iter(doc.values()))
    return unless_gone(header, [*words, str(header)])


def is_apart(name: str) -> bool:
    """Whether a file is checked though it is no part of a kernel."""
    return name.endswith(".rst") or name.endswith(".c") and name.startswith(SELFTESTS)


def unless_gone(file: Path, words: list[str]) -> list[str]:
    """A command that runs words if file exists in this state."""
    return ["sh", "-c", 'test ! -e "$0" || exec "$@"', str(file), *words]


def users_of(header_names: list[str], build: Path) -> list[str]:
    """The files of mm/ that include any of these headers, from the dependencies in the build directory."""
    if not header_names:
        return []
    found = []
    for name in sorted(build.glob("mm/.*.o.cmd")):
        text = name.read_text(errors="replace")
        if any(f"/{header}" in text for header in header_names):
            found.append(f"mm/{name.name[1:-6]}.c")
    return sorted(found, key=lambda name: (USERS.index(name) if name in USERS else len(USERS), name))
