# SPDX-License-Identifier: GPL-2.0
"""One UML: start it in a session of its own, read its console, and clean up after it."""
from __future__ import annotations

import ctypes
import fcntl
import glob
import os
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Iterator

from ..base import commands
from .console import Console
from .symbols import Symbols

MAX_CONSOLE = 8 << 20      # bytes; a UML that prints more is looping
DEFAULT_MEMORY = "mem=256M"
# As kunit.py; printk.time=0 keeps logs comparable.
KERNEL_ARGS = ("console=tty", "kunit_shutdown=halt", "kunit.enable=1", "printk.time=0")
BESIDE_MEMORY = 64 << 20    # bytes of its directory for everything but its memory
PIPE = 1 << 20              # bytes; a UML that halts does not wait for the reader: output beyond this is lost
SHM = "/dev/shm"
PREFIX = "swap-kunit-uml-"  # of the directories of UMLs
AFTER_PANIC = 2.0           # seconds for a panicked UML to print its trace and end
ADDR_NO_RANDOMIZE = 0x0040000       # <sys/personality.h>
THIS_PERSONALITY = 0xffffffff


def kernel_arguments(extra: list[str]) -> list[str]:
    """The command line of a UML; extra arguments come last and win."""
    memory = [] if any(arg.startswith("mem=") for arg in extra) else [DEFAULT_MEMORY]
    return [*memory, *KERNEL_ARGS, *extra]


def memory_bytes(args: list[str]) -> int:
    """The memory size, in bytes, that a command line sets."""
    found = re.findall(r"(?:^| )mem=(\d+)([KMG]?)", " ".join(args), re.I)
    number, unit = found[-1] if found else ("256", "M")
    return int(number) << {"": 0, "K": 10, "M": 20, "G": 30}[unit.upper()]


def memory_directory(needed: int) -> str:
    """The directory for UMLs' memory: /dev/shm if it has needed bytes free. Removes what killed runs have left."""
    for place in dict.fromkeys((SHM, tempfile.gettempdir())):
        remove_left(place)
    try:
        info = os.statvfs(SHM)
    except OSError:
        return tempfile.gettempdir()
    roomy = info.f_bavail * info.f_frsize >= needed
    usable = not info.f_flag & os.ST_NOEXEC and os.access(SHM, os.W_OK)
    return SHM if roomy and usable else tempfile.gettempdir()


def locked_directory(scratch: str) -> tuple[str, int]:
    """A new directory in scratch for one UML, and the descriptor that locks it for as long as this process lives."""
    made = tempfile.mkdtemp(prefix=f".{PREFIX}", dir=scratch)
    lock = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
    with suppress(OSError):     # such as NFS, which locks no directories: there it is never removed
        fcntl.flock(lock, fcntl.LOCK_EX)
    directory = os.path.join(scratch, os.path.basename(made)[1:])
    os.rename(made, directory)      # now remove_left() sees it
    return directory, lock


def remove_left(scratch: str) -> None:
    """Remove directories of UMLs in scratch whose runs were killed: nobody locks them any more."""
    for one in glob.glob(f"{glob.escape(scratch)}/{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(one, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(lock).st_uid == os.getuid():
                    shutil.rmtree(one, ignore_errors=True)
            finally:
                os.close(lock)


@contextmanager
def same_addresses() -> Iterator[bool]:
    """Start programs inside the block at the same addresses each time; yields whether this machine allows that.

    A UML's memory is what the host's layout leaves, and kernels before 7 do not see to this themselves.
    """
    personality = ctypes.CDLL(None).personality
    before = personality(THIS_PERSONALITY)
    allowed = personality(before | ADDR_NO_RANDOMIZE) != -1
    try:
        yield allowed
    finally:
        personality(before)


class Uml:
    """A running UML. log: the file for its whole console output."""

    def __init__(self, binary: Path, args: list[str], log: Path, scratch: str):
        self.directory, self._lock = locked_directory(scratch)
        self.args = args
        self.console = Console()
        self._symbols = Symbols(binary)
        self.lines: list[str] = []
        self.log = open(log, "wb", buffering=0)
        self.started = self.spoke = self.advanced = time.monotonic()
        self.panicked = 0.0
        self._bytes = 0
        self._rest = b""
        command = [str(binary), *args, f"uml_dir={self.directory}/", "umid=uml"]
        command, env = commands.wrapped(
            command, Path(self.directory), {**os.environ, "TMPDIR": self.directory},
            Path(self.directory), memory_bytes(args) + BESIDE_MEMORY)
        with same_addresses():
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env=env, cwd=self.directory, start_new_session=True, pipesize=PIPE)
        commands.guard("+", self.process.pid)
        self._watch = commands.watch(self.process)
        assert self.process.stdout
        self._stdout = self.process.stdout
        os.set_blocking(self.fileno(), False)

    def fileno(self) -> int:
        """The file descriptor of the console output."""
        return self._stdout.fileno()

    def read(self) -> bool:
        """Read the available console output; returns False at its end."""
        try:
            data = os.read(self.fileno(), 1 << 16)
        except BlockingIOError:
            return True
        if not data:
            self._take([self._rest] if self._rest else [])
            self._rest = b""
            return False
        self._bytes += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._take(lines)
        return True

    def _take(self, lines: list[bytes]) -> None:
        self.spoke = time.monotonic()
        logged = []
        for raw in lines:
            printed = raw.rstrip(b"\r").decode(errors="backslashreplace")
            line = self._symbols.name(printed)
            logged.append(raw if line == printed else line.encode())
            self.lines.append(line)
            if self.console.feed(line):
                self.advanced = self.spoke
        self.log.write(b"".join(line + b"\n" for line in logged))
        if self.console.panic and not self.panicked:
            self.panicked = self.spoke

    def stuck(self, timeout: float) -> str:
        """Why this UML must be killed now, or ""."""
        now = time.monotonic()
        broken = self._watch() if self._watch else ""
        if broken:
            return f"hung: {broken}"
        if self.panicked and now - self.panicked > AFTER_PANIC:
            return "panic"
        if now - self.spoke > timeout:
            return f"hung: it printed nothing for {timeout:g} s"
        if now - self.advanced > 2 * timeout:
            return f"hung: it prints, but no case has ended for {2 * timeout:g} s"
        if self._bytes > MAX_CONSOLE:
            return f"hung: it printed {MAX_CONSOLE >> 20} MB"
        return ""

    def close(self) -> None:
        """Kill the whole session (even a UML that ended leaves a stopped child) and remove its files."""
        commands.kill_group(self.process)
        commands.guard("-", self.process.pid)
        commands.tidy()
        self._stdout.close()
        self.log.write(self._rest)
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)
        os.close(self._lock)
