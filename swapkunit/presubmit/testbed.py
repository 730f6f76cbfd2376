# SPDX-License-Identifier: GPL-2.0
"""A kernel in one configuration, brought from one state of a series to the next and tested.

The build directory of a series is a stranger's: no other series' verdict may come from
it. So the base's is kept as it was built, and each series starts from a copy of that.
"""
from __future__ import annotations

import contextlib
import errno
import re
import shutil
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Iterator

from ..build import build
from .. import sandbox as boxes
from ..run import mechanisms, session as sessions
from ..base.commands import Watch
from ..base.errors import SwapKunitError, UntestableKernel
from ..base.layout import REPO, no_room, write_whole
from .store import Store, key
from ..run.results import FAIL, Leaf, Report
from ..run.session import Request, Session

PRISTINE = "pristine"       # the base's build directory
PRISTINE_OF = "pristine-of"  # which base that is
UNHEARD = "unheard"         # there while a build's messages are not kept yet
OWNER = "series"            # whose build directory it is now
NOBODY = "nobody"           # it is being copied
BOOT = "list"               # the stage in which a kernel boots for the first time
LINES, FEW = 38, 7          # of a console: from a panic on, at its end
WRAPPED = re.compile(rf"In file included from {build.OWN}mm/\w+\.c:\d+[:,]$")    # in every message about a file of mm
KBUILD = re.compile(r"^  [A-Z]\w+ +\S")      # such as "  CC      mm/swapfile.o"
SHADOWED = ("kasan",)       # fragments whose kernels reserve terabytes of address space


@dataclass
class Tested:
    """What a kernel showed. said: what the compiler said, or why there was no kernel to test.

    results: by name; objects: the touched files that were compiled; seconds: by stage;
    limit: why the sandbox ended it, when it did; reports: those of the kernel that fell in no case.
    """

    built: bool
    said: list[str] = field(default_factory=list)
    results: dict[str, Leaf] = field(default_factory=dict)
    closing: str = ""
    decisions: list[str] = field(default_factory=list)
    mechanisms: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    limit: str = ""
    reports: list[str] = field(default_factory=list)

    def failed(self) -> dict[str, Leaf]:
        """The failures that are no known bugs."""
        return {name: leaf for name, leaf in self.results.items() if leaf.status == FAIL and not leaf.known}

    @classmethod
    def from_json(cls, value: dict) -> Tested:
        """The reverse of asdict()."""
        return cls(**{**value, "results": {name: Leaf(**leaf) for name, leaf in value["results"].items()}})


@dataclass(frozen=True)
class Noticing(boxes.Sandbox):
    """A sandbox that remembers why it ended programs."""

    ended: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, box: boxes.Sandbox) -> Noticing:
        """The same sandbox, with a memory."""
        return cls(**{one.name: getattr(box, one.name) for one in fields(box)})

    def watch(self, pid: int) -> Watch:
        """See commands.Confinement."""
        watcher = super().watch(pid)

        def look() -> str:
            why = watcher()
            if why:
                self.ended.append(why)
            return why
        return look


def limit_of(box: boxes.Sandbox | None) -> str:
    """Why a sandbox has ended what ran in it last, or ""."""
    return box.ended[-1] if isinstance(box, Noticing) and box.ended else ""


@dataclass
class Bench:
    """One configuration; name is its directory in top."""

    request: Request
    top: Path
    name: str
    confine: bool
    base_key: str
    series_key: str
    store: Store
    log: Path

    @property
    def out(self) -> Path:
        """Its output directory."""
        return self.top / self.name

    def key(self, patches: list[Path], *more: object) -> str:
        """Stands for the base with these patches, in this configuration."""
        return key(self.base_key, self.name, [path.read_bytes() for path in patches], *more)

    def session(self, patches: list[Path]) -> Session:
        """A session on the base with these patches."""
        request = replace(self.request, patches=patches, out=self.out, quiet=True)
        session = sessions.open_session(request)
        session.layout.make()
        if self.confine:
            shadowed = any(name in SHADOWED for name in request.config)
            session.sandbox = Noticing.of(boxes.make([session.kernel.path, REPO, self.out], request.make_options,
                                                     request.jobs, shadowed))
        return session

    def test(self, patches: list[Path], touched: list[str], afresh: bool = False) -> Tested:
        """Build and run, unless that was done. touched: files whose objects are looked for.

        afresh: start from the base's build directory, whatever is in this one.
        """
        known = self.known(patches, touched)
        if known:
            return known
        with quiet(self.log):
            tested = self._test(self.session(patches), patches, touched, afresh)
        if patches and boxes.machines_fault(tested.limit):
            raise SwapKunitError(f"cannot go on with the series: while patch {len(patches)} was built and tested, "
                                 f"{tested.limit}; {boxes.advice(tested.limit)}")
        if tested.built and not tested.limit:   # what does not may have been killed, or have lacked memory or room
            self.store.put(self.key(patches, touched), asdict(tested))
        (self.out / UNHEARD).unlink(missing_ok=True)
        return tested

    def known(self, patches: list[Path], touched: list[str]) -> Tested | None:
        """What an earlier test() of the same found."""
        found = self.store.get(self.key(patches, touched))
        return Tested.from_json(found) if found else None

    def build_base(self, like: Bench | None = None) -> None:
        """Have the base's build directory kept, where it is not the one of this base yet.

        like: a bench whose objects are the same but for a few; a first build starts from them.
        """
        mark = self.out / PRISTINE_OF
        if mark.exists() and mark.read_text() == self.base_key:
            return
        session = self.session([])
        with session.layout.lock():
            self.take_over(session, [])
            if like and not session.layout.build.exists() and (like.out / PRISTINE).exists():
                sessions.lay_tree(session)
                self.copy(like.out / PRISTINE, session.layout.build)
            sessions.build_kernel(session)
            self.keep_pristine(session)

    def _test(self, session: Session, patches: list[Path], touched: list[str], afresh: bool) -> Tested:
        with session.layout.lock():
            self.take_over(session, patches, afresh)
            (self.out / UNHEARD).touch()
            try:
                sessions.build_kernel(session)
                if not patches:
                    self.keep_pristine(session)
                run = sessions.run_suites(session)
            except SwapKunitError as error:
                limit = limit_of(session.sandbox)
                if not limit and not isinstance(error, UntestableKernel):
                    raise
                return Tested(False, compiler_lines(session) if limit else why_not(session, error),
                              seconds=session.stages.seconds, limit=limit)
            if run.interrupted:
                raise KeyboardInterrupt
            report = sessions.make_report(session, run)
        return Tested(True, compiler_lines(session), leaves(report), report.closing_line(), run.decisions,
                      mechanisms.built_into(session.layout.build), built_of(session, touched), session.stages.seconds,
                      limit_of(session.sandbox), run.reports)

    # -- whose build directory ----------------------------------------------

    def take_over(self, session: Session, patches: list[Path], afresh: bool = False) -> None:
        """Start from the base's build directory, unless it is this series' already, and as it was left."""
        owner = session.layout.out / OWNER
        now = owner.read_text() if owner.exists() else ""
        wanted = self.series_key if patches else ""
        pristine = session.layout.out / PRISTINE
        if now and (now != wanted or afresh or (self.out / UNHEARD).exists()):
            now = NOBODY
            write_whole(owner, NOBODY)      # until it is a whole one again
            shutil.rmtree(session.layout.build, ignore_errors=True)
            if pristine.exists():
                self.copy(pristine, session.layout.build)
            owner.unlink()
        if wanted and now != wanted:
            write_whole(owner, wanted)

    def keep_pristine(self, session: Session) -> None:
        """Keep the build directory of the base just built."""
        pristine = session.layout.out / PRISTINE
        (self.out / PRISTINE_OF).unlink(missing_ok=True)
        shutil.rmtree(pristine, ignore_errors=True)
        self.copy(session.layout.build, pristine)
        write_whole(self.out / PRISTINE_OF, self.base_key)

    def copy(self, source: Path, target: Path) -> None:
        """A copy of a directory that is there whole or not at all."""
        new = self.out / "copying"
        shutil.rmtree(new, ignore_errors=True)
        try:
            shutil.copytree(source, new, symlinks=True, copy_function=copy_file)
            new.rename(target)
        except shutil.Error as error:       # what it could not copy, and why
            raise SwapKunitError(f"cannot copy {source}: {error.args[0][0][2]}; see to that, and run it again") from error
        finally:
            shutil.rmtree(new, ignore_errors=True)


def copy_file(source: str, target: str) -> None:
    """For copytree(), which goes on to the last file where no more can be written."""
    try:
        shutil.copy2(source, target)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise no_room(Path(target).parent) from error
        raise


@contextlib.contextmanager
def quiet(log: Path) -> Iterator[None]:
    """What is printed inside the block goes into log, and there only."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "a", encoding="utf-8", errors="backslashreplace") as file, \
            contextlib.redirect_stdout(file), contextlib.redirect_stderr(file):
        yield


def compiler_lines(session: Session) -> list[str]:
    """What the compiler said in the last build, each message once."""
    try:
        text = (session.layout.out / "build.log").read_text(errors="replace")
    except OSError:
        return []
    said = [build.named(line) for line in text.splitlines()]
    return build.once_each([line for line in said if build.MAKE_ITSELF.match(line) or not (
        build.NOISE.match(line) or KBUILD.match(line) or WRAPPED.match(line))])


def why_not(session: Session, error: SwapKunitError) -> list[str]:
    """What there is to be seen of a kernel that does not build, or does not boot."""
    console = session.layout.out / "logs/list.log"
    if BOOT not in session.stages.seconds or not console.exists():
        return [*compiler_lines(session), str(error)]
    lines = console.read_text(errors="backslashreplace").splitlines()
    panic = next((number for number, line in enumerate(lines) if "Kernel panic" in line), len(lines))
    return [str(error), *(lines[panic:] or lines[-FEW:])[:LINES]]


def leaves(report: Report) -> dict[str, Leaf]:
    """All results by name; the text is kept of those that failed."""
    return {leaf.name: leaf if leaf.status == FAIL else replace(leaf, text=[]) for leaf in report.leaves}


def built_of(session: Session, touched: list[str]) -> list[str]:
    """The C files of touched that were compiled."""
    return [name for name in touched if name.endswith(".c")
            and (session.layout.build / name).with_suffix(".o").exists()]
