# SPDX-License-Identifier: GPL-2.0
"""A kernel in one configuration, moved from one state of a series to the next, built and tested there.

A series builds untrusted code in its build directory, so no other series may use that
directory. The base's build directory is kept as built; each series starts from a copy.
"""
from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tempfile
import threading
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Iterator

from .. import sandbox
from ..base.commands import Watch
from ..base.errors import SwapKunitError, UntestableKernel
from ..base.layout import REPO, no_room, write_whole
from ..build import build, sources
from ..build.fit import misfit_lines
from ..decisions.stability import differing, what_was_seen
from ..run import mechanisms
from ..run.results import FAIL, Report, TestResult
from ..run.runner import Results
from ..run.session import Request, Session, open_session
from .store import Store, key

PRISTINE = "pristine"       # a copy of the base's build directory
PRISTINE_OF = "pristine-of"     # the base it was copied from
UNFINISHED_TEST = "unfinished-test"     # exists while test() runs: the messages of this build are not stored yet
OWNER = "series"            # the series that uses the build directory
NOBODY = "nobody"           # the owner while the directory is copied
OLD = ".removing-"          # directories to be removed begin with this
OWN = "own"     # a copy of kunit/ and mm/ of this project, which may be edited during the check
BOOT = "list"               # the first stage that boots the kernel
PANIC_LINES, LAST_LINES = 38, 7     # console lines shown: from a panic on; without a panic, at the end
WRAPPED = re.compile(rf"In file included from {sources.OWN}mm/\w+\.c:\d+[:,]$")    # in every message about a file of mm
KBUILD = re.compile(r"^  [A-Z]\w+ +\S")      # such as "  CC      mm/swapfile.o"
KILLED = re.compile(r"internal compiler error|Killed|No space left on device|\bcannot (?:fork|allocate)")
SHADOWED = ("kasan",)       # fragments whose kernels reserve terabytes of address space


@dataclass
class Tested:
    """One state of a kernel: how it built, and what its suites found.

    messages: the compiler's, or why there is no kernel to test; results: by name; objects:
    the touched files that were compiled; seconds: by stage; limit: why the sandbox ended it,
    or ""; reports: kernel reports outside of all cases; misfits: where this project's code
    does not fit, and not_built: suite.case of the cases that are left out for that; unstable:
    results and scenarios of the base that differ between two runs.
    """

    built: bool
    messages: list[str] = field(default_factory=list)
    results: dict[str, TestResult] = field(default_factory=dict)
    closing: str = ""
    decisions: list[str] = field(default_factory=list)
    mechanisms: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    limit: str = ""
    reports: list[str] = field(default_factory=list)
    misfits: list[str] = field(default_factory=list)
    not_built: list[str] = field(default_factory=list)
    unstable: list[str] = field(default_factory=list)

    def left_out(self, name: str) -> bool:
        """Whether a test, or a scenario of the decisions, is of a case that is not built."""
        return name.partition("[")[0] in self.not_built

    def failed(self) -> dict[str, TestResult]:
        """The failures, known bugs excluded."""
        return {name: test for name, test in self.results.items() if test.failed}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Tested:
        """The reverse of asdict()."""
        results = {name: TestResult(**test) for name, test in value["results"].items()}
        return replace(cls(**value), results=results)


@dataclass(frozen=True)
class RecordingSandbox(sandbox.Sandbox):
    """A sandbox that records why it ended programs."""

    ended: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, box: sandbox.Sandbox) -> RecordingSandbox:
        """The same sandbox, with a record."""
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


def limit_of(box: sandbox.Sandbox | None) -> str:
    """Why the sandbox ended the last program it ended; "" if it ended none."""
    return box.ended[-1] if isinstance(box, RecordingSandbox) and box.ended else ""


@dataclass
class Testbed:
    """The build and tests of one configuration. place: its directory in top, if that is not name.

    One with a place shares the kernel of the testbed there, and boots it in another way.
    """

    request: Request
    top: Path
    name: str
    confine: bool
    base_key: str
    series_key: str
    store: Store
    log: Path
    place: str = ""

    @property
    def out(self) -> Path:
        """Its output directory."""
        return self.top / (self.place or self.name)

    def key(self, patches: list[Path], *more: object) -> str:
        """Identifies the base with these patches in this configuration."""
        return key(self.base_key, self.name, [path.read_bytes() for path in patches], *more)

    def session(self, patches: list[Path]) -> Session:
        """A session on the base with these patches."""
        request = replace(self.request, patches=patches, out=self.out, quiet=True)
        session = open_session(request)
        session.layout = replace(session.layout, own=self.top / OWN)
        session.layout.make()
        if self.confine:
            shadowed = any(name in SHADOWED for name in request.config)
            shown = [session.kernel.path, REPO, session.layout.own, self.out]
            session.sandbox = RecordingSandbox.of(sandbox.make(shown, request.make_options, request.jobs, shadowed))
        return session

    def test(self, patches: list[Path], touched: list[str], fresh: bool = False) -> Tested:
        """Build and run the suites, or return the stored result. touched: files whose objects to look for.

        fresh: start from a copy of the base's build directory even if the series has one.
        """
        known = self.known(patches, touched)
        if known:
            return known
        with quiet(self.log):
            tested = self._test(self.session(patches), patches, touched, fresh)
        if patches and sandbox.machines_fault(tested.limit):
            raise SwapKunitError(f"cannot go on with the series: the build or test of patch {len(patches)} was killed: "
                                 f"{tested.limit}; {sandbox.advice(tested.limit)}")
        # A failure may be due to a signal, or a lack of memory or disk space; of the base, an error in code is lasting.
        if not tested.limit and (tested.built or not patches and errs(tested.messages)):
            self.store.put(self.key(patches, touched), asdict(tested))
        (self.out / UNFINISHED_TEST).unlink(missing_ok=True)
        return tested

    def known(self, patches: list[Path], touched: list[str]) -> Tested | None:
        """The stored result of an earlier test()."""
        found = self.store.get(self.key(patches, touched))
        return Tested.from_json(found) if found else None

    def build_base(self, like: Testbed | None = None) -> None:
        """Build the base and keep its build directory, unless that was done.

        like: a testbed in which most objects are the same; the first build starts from its copy.
        """
        mark = self.out / PRISTINE_OF
        if mark.exists() and mark.read_text() == self.base_key:
            return
        session = self.session([])
        with session.layout.lock():
            self.take_over(session, [])
            if like and not session.layout.build.exists() and (like.out / PRISTINE).exists():
                session.lay_tree()
                self.copy(like.out / PRISTINE, session.layout.build)
            session.build_kernel()
            self.keep_pristine(session)

    def _test(self, session: Session, patches: list[Path], touched: list[str], fresh: bool) -> Tested:
        with session.layout.lock():
            self.take_over(session, patches, fresh)
            (self.out / UNFINISHED_TEST).touch()
            try:
                session.build_kernel()
                if not patches and not self.place:
                    self.keep_pristine(session)
                run = session.run_suites()
            except SwapKunitError as error:
                limit = limit_of(session.sandbox)
                if not limit and not isinstance(error, UntestableKernel):
                    raise
                return Tested(False, compiler_lines(session) if limit else failure_lines(session, error),
                              seconds=session.stages.seconds, limit=limit)
            if run.interrupted:
                raise KeyboardInterrupt
            report = session.make_report(run)
            unstable = self.unstable(session, run, report) if not patches else []
        results = {test.name: test if test.status == FAIL else replace(test, text=[]) for test in report.tests}
        objects = [name for name in touched if name.endswith(".c")
                   and (session.layout.build / name).with_suffix(".o").exists()]
        return Tested(True, compiler_lines(session), results, report.closing_line(), run.decisions,
                      mechanisms.built_into(session.layout.build), objects, session.stages.seconds,
                      limit_of(session.sandbox), run.reports, misfit_lines(session.layout.tree, report.left_out),
                      report.left_out.lost, unstable)

    def unstable(self, session: Session, run: Results, report: Report) -> list[str]:
        """Run the suites of the base again: the results and scenarios that are not the same."""
        again = session.run_suites()
        if again.interrupted:
            raise KeyboardInterrupt
        differ = differing([what_was_seen(run, report), what_was_seen(again, session.make_report(again))])
        return sorted({name.partition(" of ")[2] for name in differ})

    # -- who uses the build directory ---------------------------------------

    def take_over(self, session: Session, patches: list[Path], fresh: bool = False) -> None:
        """Start from the base's build directory, unless this series owns the directory and its last test finished."""
        owner = session.layout.out / OWNER
        now = owner.read_text() if owner.exists() else ""
        wanted = self.series_key if patches else ""
        pristine = session.layout.out / PRISTINE
        if now and (now != wanted or fresh or (self.out / UNFINISHED_TEST).exists()):
            now = NOBODY
            write_whole(owner, NOBODY)
            self.discard(session.layout.build)
            if pristine.exists():
                self.copy(pristine, session.layout.build)
            owner.unlink()
        if wanted and now != wanted:
            write_whole(owner, wanted)

    def keep_pristine(self, session: Session) -> None:
        """Keep a copy of the base's build directory."""
        pristine = session.layout.out / PRISTINE
        (self.out / PRISTINE_OF).unlink(missing_ok=True)
        self.discard(pristine)
        self.copy(session.layout.build, pristine)
        write_whole(self.out / PRISTINE_OF, self.base_key)

    def discard(self, directory: Path) -> None:
        """Remove a directory without waiting for it: that takes three times as long as the copy in its place."""
        if os.path.lexists(directory):
            directory.rename(Path(tempfile.mkdtemp(prefix=OLD, dir=self.out)) / directory.name)
        for one in self.out.glob(f"{OLD}*"):       # also what a check left that was killed
            threading.Thread(target=shutil.rmtree, args=[one], kwargs={"ignore_errors": True}).start()

    def copy(self, source: Path, target: Path) -> None:
        """Copy a directory completely or not at all."""
        new = self.out / "copying"
        shutil.rmtree(new, ignore_errors=True)
        try:
            shutil.copytree(source, new, symlinks=True, copy_function=copy_file)
            new.rename(target)
        except shutil.Error as error:
            raise SwapKunitError(f"cannot copy {source}: {error.args[0][0][2]}; fix that and run it again") from error
        finally:
            shutil.rmtree(new, ignore_errors=True)


def snapshot(repo: Path, target: Path) -> None:
    """Make target the same as kunit/, mm/ and .kunitconfig of repo, and leave equal files untouched."""
    wanted = {path.relative_to(repo) for top in ("kunit", "mm") for path in (repo / top).rglob("*")
              if path.is_file() and path.suffix != ".pyc"} | {Path(".kunitconfig")}
    for path in [path for path in target.rglob("*") if path.is_file() and path.relative_to(target) not in wanted]:
        path.unlink()
    for name in sorted(wanted):
        new, old = repo / name, target / name
        if not old.exists() or old.read_bytes() != new.read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            copy_file(str(new), str(old))


def copy_file(source: str, target: str) -> None:
    """For copytree(), which would try all other files after the disk is full."""
    try:
        shutil.copy2(source, target)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise no_room(Path(target).parent) from error
        raise


@contextlib.contextmanager
def quiet(log: Path) -> Iterator[None]:
    """Redirect stdout and stderr to log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "a", encoding="utf-8", errors="backslashreplace") as file, \
            contextlib.redirect_stdout(file), contextlib.redirect_stderr(file):
        yield


def errs(messages: list[str]) -> bool:
    """Whether a compiler found an error in code, and was not killed."""
    return build.first_error(messages) < len(messages) and not any(KILLED.search(line) for line in messages)


def compiler_lines(session: Session) -> list[str]:
    """The compiler's messages of the last build, each once."""
    try:
        text = (session.layout.out / "build.log").read_text(errors="replace")
    except OSError:
        return []
    lines = [sources.named(line) for line in text.splitlines()]
    return build.once_each([line for line in lines if build.MAKE_ITSELF.match(line) or not (
        build.NOISE.match(line) or KBUILD.match(line) or WRAPPED.match(line))])


def failure_lines(session: Session, error: SwapKunitError) -> list[str]:
    """What to show of a kernel that does not build or boot: the compiler's messages or the console."""
    console = session.layout.out / "logs/list.log"
    if BOOT not in session.stages.seconds or not console.exists():
        lines = compiler_lines(session)     # the error only points at them, and at a file of this machine
        pointless = build.first_error(lines) < len(lines) and not str(error).startswith(build.OWN_FAULT)
        return lines if pointless else [*lines, str(error)]
    lines = console.read_text(errors="backslashreplace").splitlines()
    panic = next((number for number, line in enumerate(lines) if "Kernel panic" in line), len(lines))
    return [str(error), *(lines[panic:] or lines[-LAST_LINES:])[:PANIC_LINES]]
