# SPDX-License-Identifier: GPL-2.0
"""Touched files compiled otherwise than the suites' kernel: W=1, sparse, the configs that mm patches break.

In a tree without wrappers, one object at a time, by the commands that Kbuild would use:
`make -n` tells them once for the base, and after a patch that touches a Makefile or Kconfig. A patch is told
only what the state before it did not say.
"""
from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ContextManager

from ..base import commands
from ..build import fragments, patches as patching, overlay as tree
from .. import sandbox as boxes
from .testbed import Noticing, limit_of
from ..build.build import UNFINISHED
from ..base.errors import SwapKunitError
from ..base.kernel import Kernel
from ..base.layout import CONFIGS, POLICIES, REPO, full_disk, no_room
from .report import FAIL, PASS, SKIP, WARN, Step
from .steps import lines, without_numbers
from .store import Store, key
from ..run.session import Request

W1, SPARSE, CONFIGURATIONS = "W=1", "sparse", "configs"
STEPS = (W1, SPARSE, CONFIGURATIONS)
WORKER = Path(__file__).with_name("compile_worker.py")
# Of a header's many users, those that tell most of the swap code's; no more than this of them. Without SWAP all:
# there a header has stubs, and each of them may have a single user.
USERS = ("mm/swapfile.c", "mm/swap_state.c", "mm/memory.c", "mm/shmem.c", "mm/page_io.c", "mm/zswap.c", "mm/vmscan.c",
         "mm/madvise.c", "mm/memcontrol.c", "mm/swap.c", "mm/util.c", "mm/page_alloc.c")
MOST_USERS = 4
# sparse of before 2025 has not __typeof_unqual__, which it does not need to understand.
CHECK = "sparse -D__typeof_unqual__=__typeof__"
FORMAT = 2      # of what is kept of the compilations: another one makes them all anew
UNIT = re.compile(r" -c -o (\S+\.o) (\S+\.c)\s*$")
STRANGE = "made-by-a-series"    # marks directories that a patch's own Makefiles have prepared
TOO_OLD = "is not available or not up to date"
ENDED = "ended: "
MAKE = " (make)"                # ends the id of what stands for make in a variant, beside the compilations


@dataclass(frozen=True)
class Variant:
    """A configuration to compile in. off: a symbol that must not be set; make: for the kernel's make."""

    name: str
    title: str
    text: str = ""
    off: str = ""
    policies: str = ""
    make: tuple[str, ...] = ()


PLAIN = Variant("plain", "plain")
NO_ZSWAP = "# CONFIG_ZSWAP is not set\n# CONFIG_ZSWAP_DEFAULT_ON is not set\n"
ODD = (
    Variant("noswap", "no SWAP", "# CONFIG_SWAP is not set\n" + NO_ZSWAP, "SWAP"),
    Variant("nozswap", "no ZSWAP", NO_ZSWAP, "ZSWAP"),
    Variant("noshmem", "no SHMEM", "CONFIG_EXPERT=y\n# CONFIG_SHMEM is not set\n# CONFIG_TMPFS is not set\n", "SHMEM"),
    Variant("nomemcg", "no MEMCG", "# CONFIG_MEMCG is not set\n", "MEMCG"),
    Variant("thp", "THP", policies="thp"),
    Variant("32bit", "32 bit", make=("SUBARCH=i386",)),
)


@dataclass
class Ready:
    """A variant that is configured: for every C file, what to run. lacking: why there is none.

    failed: that was make's failure, which another start may not meet; ours: our patches do not fit there.
    trouble: what make complained of when it was asked for the commands, which may not be all.
    """

    compile: dict[str, list[str]] = field(default_factory=dict)
    check: dict[str, list[str]] = field(default_factory=dict)
    doc: dict[str, list[str]] = field(default_factory=dict)
    lacking: str = ""
    no_sparse: str = ""
    failed: bool = False
    ours: bool = False
    trouble: str = ""


Said = dict[str, list]      # job -> [status, output, seconds]
Heard = dict[str, "Counter[str]"]     # job -> how often each line was said, without its numbers


class Checks:
    """The compilations of one series; makes its trees when they are wanted first."""

    def __init__(self, kernel: Kernel, request: Request, top: Path, confine: bool, base_key: str, store: Store):
        self.kernel, self.request, self.top = kernel, request, top / "checks"
        self.confine, self.base_key, self.store = confine, base_key, store
        self.said: Heard = {}                   # what each job said when it ran last
        self.broken: set[str] = set()           # jobs that fail in the base
        self.wanted: tuple[Variant, ...] = ()   # none where no touched file may be compiled
        self.base: dict[Variant, Ready] = {}
        self.variants: dict[Variant, Ready] = {}    # as the series has them by now
        self.users: list[str] = []
        self.directories: list[str] = []
        self.noticing: Noticing | None = None   # the last sandbox
        self.ended = ""                         # why the sandbox ended the last run()

    # -- trees and configurations -------------------------------------------

    def tree(self, variant: Variant) -> Path:
        """The tree a variant is compiled in: those that need patches of ours have one of their own."""
        return self.top / (f"tree-{variant.policies}" if variant.policies else "tree")

    def lay(self, variant: Variant, patches: list[Path]) -> None:
        """Bring its tree to a state of the series."""
        nothing = self.top / "nothing"
        nothing.mkdir(parents=True, exist_ok=True)
        names = fragments.patches_of([variant.policies], CONFIGS) if variant.policies else []
        steps = [step for name in names for step in patching.steps_of(name, POLICIES)]
        tree.Overlay(self.kernel.path, self.tree(variant), nothing, steps, patches).sync()

    def confined(self, *writable: Path) -> ContextManager[None]:
        """A sandbox in which these places may be written."""
        self.noticing = None
        if self.confine:
            box = boxes.make([self.kernel.path, REPO, self.top], self.request.make_options, self.request.jobs)
            self.noticing = Noticing.of(box.writing(*writable))
        return commands.confined(self.noticing)

    def check_machine(self) -> None:
        """Raise SwapKunitError where the last sandbox was too small for the machine's fault, not for the patch's."""
        self.ended = limit_of(self.noticing)
        if boxes.machines_fault(self.ended):
            raise SwapKunitError("cannot go on with compiling the touched files one by one: while that was done, "
                                 f"{self.ended}; {boxes.advice(self.ended)}")

    def ready(self, variant: Variant, directories: list[str], patches: list[Path], stale: bool) -> Ready:
        """Configure a variant and ask make what it would run. stale: the patches change what that is."""
        name = key(self.base_key, "ready", FORMAT, variant, directories,
                   [path.read_bytes() for path in patches] if stale else [],
                   bool(variant.make) and compiles_32_bit())
        known, state = self.store.get(name), self.top / f"{variant.name}.state"
        if known and (self.top / variant.name / ".config").exists() and state.exists() and state.read_text() == name:
            return Ready(**known)
        if stale:
            (self.top / STRANGE).touch()
        state.unlink(missing_ok=True)
        mark = self.top / variant.name / UNFINISHED
        if mark.exists():       # whoever was at it was stopped, and may have left something half written
            shutil.rmtree(mark.parent)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        try:
            self.lay(variant, patches)
            made = self._make_ready(variant, directories)
        except patching.DoesNotApply as error:
            made = Ready(lacking=str(error), ours=True)
        if not made.failed:
            mark.unlink()
            state.write_text(name)
            self.store.put(name, vars(made))
        return made

    def _make_ready(self, variant: Variant, directories: list[str]) -> Ready:
        if variant.make and not compiles_32_bit():
            return Ready(lacking="gcc here makes no 32 bit programs: apt-get install gcc-multilib")
        out = self.top / variant.name
        (out / ".config").unlink(missing_ok=True)
        (out / ".config").write_text(configuration(variant))
        with self.confined(out):
            done = self.make(variant, "olddefconfig")
            values = fragments.read_dot_config(out / ".config")
            if done.status:
                return Ready(lacking=commands.tail(done.output, 3), failed=True)
            if variant.off and variant.off in values:
                return Ready(lacking=f"this kernel's UML cannot be configured without {variant.off}")
            if variant.policies and "TRANSPARENT_HUGEPAGE" not in values:
                return Ready(lacking="this kernel's UML has no THP, also with the patches in mm/policies")
            done = self.make(variant, "prepare")
            if done.status:
                return Ready(lacking=f"it cannot be prepared: {commands.tail(done.output, 3)}", failed=True)
            words = ["W=1", "C=2", f"CHECK={CHECK}"] if variant == PLAIN else []
            done = self.make(variant, "-n", *words, *(f"{name}/" for name in directories))
            if self.ended:
                return Ready(lacking=f"make was ended: {self.ended}", failed=True)
            made = commands_of(done.output, self.tree(variant))
            made.trouble = complaint(done.output, self.top) if done.status else ""
            return made

    def make(self, variant: Variant, *words: str) -> commands.Finished:
        """The kernel's make in a variant's directory."""
        command = ["make", "-s" if "-n" not in words else "--no-print-directory", "ARCH=um", f"O={self.top / variant.name}",
                   "-k" if "-n" in words else f"--jobs={self.request.jobs}", *variant.make, *self.request.make_options, *words]
        commands.show(command, self.tree(variant))
        done = commands.run(command, cwd=self.tree(variant), env=commands.kernel_environment())
        self.check_machine()
        place = full_disk(self.top) if done.status else None
        if place:
            raise no_room(place)
        return done

    # -- what is compiled ---------------------------------------------------

    def jobs(self, touched: list[str], users: list[str], variants: dict[Variant, Ready]) -> list[tuple[str, list[str]]]:
        """(id, words) of all there is to run for a patch that touches these files."""
        found: list[tuple[str, list[str]]] = []
        for variant, ready in variants.items():
            wanted = [name for name in touched if name in ready.compile]
            most = None if variant.off == "SWAP" else MOST_USERS
            wanted += [name for name in users if name in ready.compile and name not in wanted][:most]
            for name in wanted:
                step = W1 if variant == PLAIN else variant.title
                found.append((f"{step} {name}", in_directory(self.top / variant.name, ready.compile[name])))
                if name in ready.doc and name in touched:
                    found.append((f"kernel-doc {name}", in_directory(self.top / variant.name, ready.doc[name])))
                if name in ready.check:
                    found.append((f"{SPARSE} {name}", in_directory(self.top / variant.name, ready.check[name])))
            for name in touched if ready.doc else []:
                if name.endswith(".h"):
                    words = on_header(ready.doc, self.tree(variant) / name)
                    found.append((f"kernel-doc {name}", in_directory(self.top / variant.name, words)))
        return found

    def run(self, jobs: list[tuple[str, list[str]]]) -> Said:
        """What jobs say. Where the sandbox ended them, that is what they all say."""
        if not jobs:
            return {}
        with tempfile.NamedTemporaryFile("w", dir=self.top, prefix="jobs-") as file:
            json.dump(jobs, file)
            file.flush()
            with self.confined():
                done = commands.run([sys.executable, WORKER, file.name, str(self.request.jobs)], cwd=self.top,
                                    env=commands.kernel_environment())
        self.check_machine()
        return {job: [1, f"{ENDED}{self.ended}", 0.0] for job, _ in jobs} if self.ended else result_of(done)

    # -- a series -----------------------------------------------------------

    def prepare(self, touched: list[str], users: list[str], stale: bool = False) -> None:
        """Configure all variants, and hear what the base has to say of the files. stale: see ready(), of any state."""
        mark = self.top / STRANGE
        if mark.exists():
            for variant in (PLAIN, *ODD):
                shutil.rmtree(self.top / variant.name, ignore_errors=True)
            mark.unlink()
        self.directories = sorted({"mm"} | {os.path.dirname(name) for name in touched
                                            if reachable(name) or self.is_makefile(name)})
        self.users = users
        self.wanted = (PLAIN, *ODD) if users or stale or any(map(reachable, touched)) else ()
        self.base = {variant: self.ready(variant, self.directories, [], False) for variant in self.wanted}
        self.variants = dict(self.base)
        jobs = self.jobs(touched, users, self.variants)
        name = key(self.base_key, "said", jobs)
        said = self.store.get(name)
        if said is None:
            self.lay_all([])
            said = self.run(jobs)
            if self.ended:
                raise SwapKunitError("cannot hear what compilers have to say of the base: while they ran, "
                                     f"{self.ended}; {boxes.advice(self.ended)}")
            self.store.put(name, said)
        self.broken = {job for job, entry in said.items() if entry[0]}
        self.note(said)

    def to_be_had(self) -> list[str]:
        """The variants that can be compiled here."""
        return [variant.name for variant, ready in self.base.items() if not ready.lacking]

    def is_makefile(self, name: str) -> bool:
        """Whether make may be asked about this file's directory for the file's own sake."""
        directory, _, base = name.rpartition("/")
        return (base in ("Makefile", "Kbuild") and reachable(f"{directory}/any.c") and bool(directory)
                and (self.kernel.path / name).exists())

    def lay_all(self, patches: list[Path]) -> None:
        """All trees that something is compiled in."""
        trees = {self.tree(variant): variant for variant, ready in self.variants.items() if not ready.lacking}
        for variant in trees.values():
            try:
                self.lay(variant, patches)
            except patching.DoesNotApply as error:      # over patches of ours that this variant needs
                self.variants[variant] = Ready(lacking=str(error))

    def note(self, said: Said) -> None:
        """What was said is no news any more, until it is said no more."""
        for job, (status, output, _) in said.items():
            now = heard(output, self.top)
            # A compiler that gives up does not say all it had to say.
            self.said[job] = now | self.said.get(job, Counter()) if status else now

    def said_at(self, patches: list[Path], touched: list[str], stale: bool) -> Said:
        """Bring the trees to a state of the series, and compile there what its last patch touched."""
        if stale:
            self.variants = {variant: self.ready(variant, self.directories, patches, True)
                             for variant in self.wanted}
        self.lay_all(patches)
        headers = any(name.endswith(".h") for name in touched)
        said = self.run(self.jobs(touched, self.users if headers else [], self.variants))
        return {**self.made(), **said} if stale else said

    def made(self) -> Said:
        """What has become of the variants that the base can be configured as: nothing to say, or why it is gone."""
        found: Said = {}
        for variant, base in self.base.items():
            ready = self.variants[variant]
            if not base.lacking and not ready.ours:
                why = ready.lacking or (ready.trouble if not base.trouble else "")
                found[f"{W1 if variant == PLAIN else variant.title}{MAKE}"] = [int(bool(why)), why, 0.0]
        return found

    def lasting(self) -> bool:
        """Whether another start would hear the same."""
        return not self.ended and not any(ready.failed for ready in self.variants.values())

    def steps(self, said: Said) -> list[Step]:
        """The steps of what was said at a patch."""
        found = verdicts(said, self.said, self.broken, self.variants, self.top)
        self.note(said)
        return found


def result_of(done: commands.Finished) -> Said:
    """What the worker found out. Raises SwapKunitError."""
    try:
        return json.loads(done.output)
    except ValueError:
        raise SwapKunitError(f"cannot compile the touched files one by one: {commands.tail(done.output, 3)}; put that "
                             "right, or use --quick") from None


def reachable(name: str) -> bool:
    """Whether a file may be one that ARCH=um compiles."""
    return name.endswith(".c") and (not name.startswith(("arch/", "tools/", "scripts/", "samples/", "Documentation/"))
                                    or name.startswith(("arch/um/", "arch/x86/um/")))


def in_directory(directory: Path, words: list[str]) -> list[str]:
    """words run there."""
    return ["env", "-C", str(directory), "CCACHE_DISABLE=1", *words]


def on_header(doc: dict[str, list[str]], header: Path) -> list[str]:
    """kernel-doc for a header as make runs it for C files; nothing where the header is not there, or not yet."""
    *words, _ = next(iter(doc.values()))
    return ["sh", "-c", 'test ! -e "$0" || exec "$@"', str(header), *words, str(header)]


def configuration(variant: Variant) -> str:
    """The project's own, without its suites, and with the variant over it."""
    names = [variant.policies] if variant.policies else []
    config = fragments.gather(REPO / ".kunitconfig", names, CONFIGS)
    config.add("# CONFIG_SWAP_KUNIT_TEST is not set\n" + variant.text, variant.title)
    return config.text()


def commands_of(output: str, top: Path) -> Ready:
    """What `make -n` would run for each C file of the tree at top."""
    ready = Ready(no_sparse="sparse is not installed, or too old for this tree" if TOO_OLD in output else "")
    for line in output.splitlines():
        if ".c" not in line:
            continue
        for part in (part.rstrip("; ") for part in re.split(r";\s+", line)):
            found = UNIT.search(part)
            if found:
                words = [word for word in shlex.split(part) if not word.startswith(("-Wp,-MMD", "-Wp,-MD"))]
                words[words.index("-o") + 1] = "OUTPUT"
                ready.compile[relative_to(words[-1], top)] = words
            elif part.startswith(CHECK.split(" ", maxsplit=1)[0]):
                words = [word for word in shlex.split(part) if not word.startswith(("-Wp,-MMD", "-Wp,-MD"))]
                ready.check[relative_to(words[-1], top)] = words
            elif "kernel-doc -none" in part:
                words = shlex.split(part)
                ready.doc[relative_to(words[-1], top)] = ["env", *words]
    return ready


def complaint(output: str, top: Path) -> str:
    """Why make did not go on, of what it said."""
    found = re.search(r"^[^\s*]+: \*\*\* .*", output, re.MULTILINE)
    return " ".join(tidy(found[0] if found else commands.tail(output, 1), top))


def relative_to(name: str, top: Path) -> str:
    """A source file as the tree calls it."""
    return os.path.relpath(name, top) if os.path.isabs(name) else name.removeprefix("../")


def users_of(header_names: list[str], build: Path) -> list[str]:
    """The files of mm/ that include any of these headers, by what the built kernel noted."""
    if not header_names:
        return []
    found = []
    for name in sorted(build.glob("mm/.*.o.cmd")):
        text = name.read_text(errors="replace")
        if any(f"/{header}" in text for header in header_names):
            found.append(f"mm/{name.name[1:-6]}.c")
    return sorted(found, key=lambda name: (USERS.index(name) if name in USERS else len(USERS), name))


def compiles_32_bit() -> bool:
    """Whether gcc makes 32 bit programs with the C library, as UML for i386 is one."""
    command = ["gcc", "-m32", "-x", "c", "-", "-o", "/dev/null"]
    done = subprocess.run(command, input=b"#include <stdio.h>\nint main(void) { return 0; }\n", capture_output=True,
                          check=False)
    return done.returncode == 0


# -- what it comes to --------------------------------------------------------


def verdicts(said: Said, before: Heard, broken: set[str], variants: dict[Variant, Ready], top: Path) -> list[Step]:
    """The three steps, of what the compilers said now and what they had said before.

    broken: jobs that failed in the base.
    """
    found = []
    plain = {job.rpartition(" ")[2]: heard(entry[1], top) for job, entry in said.items() if job.startswith(f"{W1} ")}
    for step in STEPS:
        mine = {job: entry for job, entry in said.items() if step_of(job) == step and not job.endswith(MAKE)}
        makes = {job.removesuffix(MAKE): entry[1] for job, entry in said.items()
                 if step_of(job) == step and job.endswith(MAKE)}
        if step == CONFIGURATIONS:      # what a plain build says too is told there
            before = {job: before.get(job, Counter()) | plain.get(job.rpartition(" ")[2], Counter()) for job in mine}
        lacking = [f"{variant.title}: {ready.lacking}" for variant, ready in variants.items()
                   if ready.lacking and (variant == PLAIN) == (step != CONFIGURATIONS)
                   and not makes.get(W1 if variant == PLAIN else variant.title)]
        if step == SPARSE:
            lacking += [ready.no_sparse for ready in variants.values() if ready.no_sparse]
        found.append(with_makes(verdict(step, mine, before, broken, lacking, top), makes))
    return found


def with_makes(step: Step, makes: dict[str, str]) -> Step:
    """The step with what make said in each variant, "" where it can still be configured."""
    lost = [f"{name}: cannot be configured any more: {why}" for name, why in makes.items() if why]
    if lost:
        more = [step.summary] if step.status == FAIL else []
        return replace(step, status=FAIL, summary="; ".join(lost + more), cell="no")
    if makes and step.status == SKIP:
        said = f"{lines(len(makes), 'configuration')} can still be made; {step.summary}"
        return replace(step, status=PASS, summary=said)
    return step


def step_of(job: str) -> str:
    """The step a job belongs to."""
    kind = job.rpartition(" ")[0]
    return SPARSE if kind == SPARSE else W1 if kind in (W1, "kernel-doc") else CONFIGURATIONS


def verdict(step: str, mine: Said, before: Heard, broken: set[str], lacking: list[str], top: Path) -> Step:
    """One of the steps."""
    seconds = sum(entry[2] for entry in mine.values())
    if not mine:
        return Step(step, SKIP, "; ".join(lacking) or "no touched file is compiled for ARCH=um", seconds=0.0)
    ended = next((entry[1] for entry in mine.values() if entry[1].startswith(ENDED)), "")
    if ended:
        return Step(step, FAIL, f"it was {ended}", "ended", lacking, seconds)
    told: list[str] = []
    failed = [job for job, entry in mine.items() if entry[0] and job not in broken and "kernel-doc" not in job]
    warnings = 0
    for job, entry in mine.items():
        new, number = news(tidy(entry[1], top), before.get(job, Counter()))
        warnings += number
        if new:
            told += [f"{job}:", *(f"  {line}" for line in new)]
    what = f"{lines(len(mine), 'compilation')}" if step == CONFIGURATIONS else lines(len(mine), "run")
    if failed:
        return Step(step, FAIL, f"{len(failed)} of {what} fail: {', '.join(failed)}", "no", told + lacking, seconds)
    if told:
        return Step(step, WARN, lines(warnings, "new warning") if warnings else "something new is said",
                    str(warnings or 1), told + lacking, seconds)
    return Step(step, PASS, f"nothing new in {what}" + (f"; not looked at: {'; '.join(lacking)}" if lacking else ""),
                "", lacking, seconds)


def news(said: list[str], before: Counter[str]) -> tuple[list[str], int]:
    """The lines that were not said before, or not as often, and how many warnings more these are.

    Which one of several that read the same is the new one cannot be known: all are shown.
    """
    now = Counter(map(without_numbers, said))
    # The lines about a warning, such as the function it is in, are said once for several, or once for each.
    more = {line: now[line] - before[line] for line in now
            if now[line] > before[line] and (is_warning(line) or ": error: " in line or not before[line])}
    told = [line for line in said if without_numbers(line) in more]
    told += [f"(said {now[line]} times, before {before[line]}: {line})" for line in more if before[line]]
    return told, sum(number for line, number in more.items() if is_warning(line))


def is_warning(line: str) -> bool:
    """Whether a line of a compiler, of sparse or of kernel-doc is the one that warns."""
    return ": warning: " in line or "Warning: " in line


def heard(output: str, top: Path) -> Counter[str]:
    """How often each line was said."""
    return Counter(map(without_numbers, tidy(output, top)))


def tidy(output: str, top: Path) -> list[str]:
    """What a compiler said, with the tree's own names and without pictures of the code.

    Each line once: kernel-doc says all of a header twice.
    """
    text = re.sub(rf"{re.escape(str(top))}/tree[^/]*/", "", output)
    return [line for line in dict.fromkeys(text.splitlines()) if line.strip() and not re.match(r"\s*\d* \|", line)]
