# SPDX-License-Identifier: GPL-2.0
"""Run other programs, and kill them with all their children when we stop."""
from __future__ import annotations

import errno
import os
import select
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Callable, Iterator, Mapping, Protocol, Sequence

from . import interrupts
from .layout import LITTLE, disk_free

CCACHE = "/usr/lib/ccache"
NICE = 19
TRIES = 5       # times to set a priority
LOOKS = 200     # times to check whether killed processes are gone
MOST_OUTPUT = 64 << 20      # bytes kept of a program's output
# The variables that the kernel's make, compilers, ccache, distcc and Python scripts get. Settings that change the
# kernel (KCFLAGS, CC, ARCH, ...) are not among them: we could not tell which builds were made without them. They are
# given with --make-option, which is remembered with the build.
PASSED = re.compile(r"PATH|HOME|USER|LOGNAME|TMPDIR|TERM|LD_LIBRARY_PATH|XDG_(CACHE|CONFIG)_HOME|XDG_RUNTIME_DIR"
                    r"|(CCACHE|DISTCC)_\w+")


@dataclass
class Finished:
    """A program that ended: its exit status and its output (stdout and stderr)."""

    status: int
    output: str


# -- in a sandbox ------------------------------------------------------------

Watch = Callable[[], str]       # why the watched program must be killed, or ""


class Confinement(Protocol):
    """Wraps every program that is started; see sandbox.py."""

    def wrap(self, command: list[str], cwd: Path | None, env: Mapping[str, str] | None,
             scratch: Path | None, room: int) -> tuple[list[str], dict[str, str]]:
        """The command and environment to start instead of these.

        scratch: a directory for this program only, of room bytes.
        """

    def watch(self, pid: int) -> Watch:
        """A watch on the program started as pid, and its children."""

    def tidy(self) -> None:
        """A program has ended: remove what could trap readers of its files."""


class _State:
    confinement: Confinement | None = None
    gives_way = False
    running: int | None = None      # the program that runs, for hurry()
    guard: int | None = None        # the pipe to the guard process
    shown: set[str] | None = None   # lines of show(), inside shown_once()


@contextmanager
def confined(confinement: Confinement | None) -> Iterator[None]:
    """Start programs inside the block in confinement; without one if None."""
    before, _State.confinement = _State.confinement, confinement
    try:
        yield
    finally:
        _State.confinement = before


def wrapped(command: Sequence[str | Path], cwd: Path | None, env: Mapping[str, str] | None,
            scratch: Path | None = None, room: int = 0) -> tuple[list[str], Mapping[str, str] | None]:
    """The command to start: command itself, or the sandbox around it."""
    words = [str(word) for word in command]
    if _State.confinement is None:
        return words, env
    return _State.confinement.wrap(words, cwd, env, scratch, room)


def watch(process: subprocess.Popen[bytes]) -> Watch | None:
    """The confinement's watch on process; None without confinement."""
    return _State.confinement.watch(process.pid) if _State.confinement else None


def tidy() -> None:
    """Call this when a started program has ended."""
    if _State.confinement:
        _State.confinement.tidy()


@contextmanager
def giving_way() -> Iterator[None]:
    """Run programs inside the block at the lowest priority, unless hurry() says otherwise."""
    _State.gives_way = True
    try:
        yield
    finally:
        _State.gives_way = False


def hurry(urgent: bool) -> None:
    """Give the program that runs, and later ones, the usual priority, or the lowest again; any thread may call it."""
    _State.gives_way = not urgent
    if _State.running is not None:
        set_priority(_State.running, 0 if urgent else NICE)


def set_priority(session: int, nice: int) -> None:
    """The priority of a session's processes and, where the scheduler groups by session (autogroup), of the session.

    Not everybody may raise the first, but everybody the second.
    """
    for _ in range(TRIES):      # the scheduler refuses changes that follow each other too fast
        try:
            with open(f"/proc/{session}/autogroup", "w", encoding="ascii") as file:
                file.write(str(nice))
        except BlockingIOError:
            time.sleep(0.05)
            continue
        except OSError:
            pass
        break
    for pid, _, _, of in processes():
        if of == session:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, pid, nice)


def processes() -> Iterator[tuple[int, bytes, int, int]]:
    """Process id, state, group and session of every process."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
            state, _, group, session = file.read().rpartition(b") ")[2].split()[:4]
            yield int(name), state, int(group), int(session)


# -- killed with us ----------------------------------------------------------

# Reads "+pid" and "-pid"; at end of file we are gone, and the processes left are killed.
GUARD = """
import os, sys
held = set()
for line in sys.stdin:
    (held.add if line[0] == "+" else held.discard)(int(line[1:]))
for pid in held:
    try:
        os.killpg(pid, 9)
    except OSError:
        pass
"""


def guard(sign: str, pid: int) -> None:
    """"+": have the session that we started as pid killed if we are killed; "-": it has ended.

    A make left running would write to a directory that the next run uses. bwrap kills its own children.
    """
    if _State.confinement is not None:
        return
    if _State.guard is None:
        reading, _State.guard = os.pipe()
        no_variables: dict[str, str] = {}
        null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        os.posix_spawn(sys.executable, [sys.executable, "-I", "-S", "-c", GUARD], no_variables, setsid=True,
                       file_actions=[(os.POSIX_SPAWN_DUP2, reading, 0), *null])
        os.close(reading)
    with suppress(BrokenPipeError):
        os.write(_State.guard, f"{sign}{pid}\n".encode())


# -- starting them -----------------------------------------------------------


def kernel_environment() -> dict[str, str]:
    """The environment for the kernel's make and scripts: only PASSED, with ccache first in PATH."""
    env = {name: value for name, value in os.environ.items() if PASSED.fullmatch(name)}
    if os.path.isdir(CCACHE):
        env["PATH"] = f"{CCACHE}:{env.get('PATH', '/usr/bin:/bin')}"
    # The overlay's Python scripts are links: __pycache__ would appear in the user's tree.
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env["LC_ALL"] = "C"
    return env


def show(command: Sequence[str | Path], cwd: Path | None = None) -> None:
    """Print a command that is about to run, ready to paste into a shell."""
    line = shlex.join(str(word) for word in command)
    line = f"$ cd {shlex.quote(str(cwd))} && {line}" if cwd else f"$ {line}"
    if line not in (_State.shown or ()):
        print(line, flush=True)
    if _State.shown is not None:
        _State.shown.add(line)


@contextmanager
def shown_once() -> Iterator[None]:
    """Print each command that runs inside the block only the first time."""
    _State.shown = set()
    try:
        yield
    finally:
        _State.shown = None


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill process and all it started, and wait until they are gone; it leads a session of its own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for _ in range(LOOKS):
        if not at_work(process.pid):
            break
        time.sleep(0.005)


def at_work(group: int) -> bool:
    """Whether a process of a group is still running; zombies do not count."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return any(its == group and state not in (b"Z", b"X") for _, state, its, _ in processes())


def run(command: Sequence[str | Path], *, cwd: Path | None = None,
        env: Mapping[str, str] | None = None, echo: bool = False,
        progress: Callable[[float], str] | None = None) -> Finished:
    """Run command to its end and collect its output.

    echo: show the output instead of collecting it. progress(seconds) returns the text of
    a status line, drawn twice a second on a terminal. If we are stopped (^C), the command
    and all its children are killed.
    """
    words, env = wrapped(command, cwd, env)
    with tempfile.TemporaryFile() as sink:
        process, ended_by = None, ""
        try:
            with interrupts.held():
                process = subprocess.Popen(words, cwd=cwd, env=env,
                                           stdin=subprocess.DEVNULL, stdout=sys.stdout if echo else sink,
                                           stderr=None if echo else subprocess.STDOUT,
                                           start_new_session=True)
                guard("+", process.pid)
                _State.running = process.pid
                if _State.gives_way:
                    set_priority(process.pid, NICE)
                    if not _State.gives_way:        # hurry() came in between
                        set_priority(process.pid, 0)
            ended_by = _wait(process, progress if sys.stdout.isatty() and not echo else None,
                             watch(process))
        finally:
            if process and process.returncode is None:
                with interrupts.held():
                    kill_group(process)
            _State.running = None
            with interrupts.held():
                if process:
                    guard("-", process.pid)
                tidy()
        if process.returncode == -signal.SIGINT:    # ^C came before the child had left our session
            raise KeyboardInterrupt
        if process.returncode > 0 and disk_free(tempfile.gettempdir()) < LITTLE:    # there was no room for its message
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), tempfile.gettempdir())
        output = last_of(sink)
        return Finished(process.returncode or 1, f"{output}\nkilled: {ended_by}\n") if ended_by \
            else Finished(process.returncode, output)


def last_of(sink: IO[bytes]) -> str:
    """A program's output; only the last MOST_OUTPUT bytes if there is more."""
    sink.seek(max(sink.seek(0, os.SEEK_END) - MOST_OUTPUT, 0))
    return sink.read().decode(errors="replace")


def _wait(process: subprocess.Popen[bytes], progress: Callable[[float], str] | None,
          watched: Watch | None) -> str:
    """Wait for process to end; returns why it was killed, or ""."""
    started = time.monotonic()
    ended_by = ""
    while (progress or watched) and not ends_within(process, 0.5 if progress else 0.1):
        ended_by = watched() if watched else ""
        if ended_by:
            with interrupts.held():
                kill_group(process)
            break
        if progress:
            status_line(progress(time.monotonic() - started))
    process.wait()
    if progress:
        status_line("")
    return ended_by


def ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for the end of process, and notice it at once: Popen.wait() with a timeout looks 20 times a second."""
    try:
        ended = os.pidfd_open(process.pid)
    except OSError:     # ENOSYS in a sandbox, or no descriptors left
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=seconds)
        return process.returncode is not None
    try:
        return bool(select.select([ended], [], [], seconds)[0])
    finally:
        os.close(ended)


def status_line(text: str) -> None:
    """Draw text over the terminal's last line; does nothing if stdout is not a terminal."""
    if sys.stdout.isatty():
        sys.stdout.write(f"\r\033[K{text[:110]}")
        sys.stdout.flush()


def tail(output: str, lines: int = 40) -> str:
    """The last lines of output."""
    return "\n".join(output.rstrip().splitlines()[-lines:])
