# SPDX-License-Identifier: GPL-2.0
"""One UML: start it in a session of its own, read its console, leave nothing of it behind."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from ..base import commands
from .console import Console

MAX_CONSOLE = 8 << 20      # bytes; a case that prints more is looping
DEFAULT_MEMORY = "mem=256M"
# What kunit.py gives, and printk.time=0 so that no log differs by its times.
KERNEL_ARGS = ("console=tty", "kunit_shutdown=halt", "kunit.enable=1", "printk.time=0")
BESIDE_MEMORY = 64 << 20    # bytes of its directory for what is not its memory
PIPE = 1 << 20             # a UML that halts waits for no reader: what finds no room is lost
AFTER_PANIC = 2.0           # seconds a panicked UML gets to print its trace and end


def kernel_arguments(extra: list[str]) -> list[str]:
    """The command line every UML gets; extra ones come last and so win."""
    memory = [] if any(arg.startswith("mem=") for arg in extra) else [DEFAULT_MEMORY]
    return [*memory, *KERNEL_ARGS, *extra]


def memory_bytes(args: list[str]) -> int:
    """The memory a command line gives to its UML."""
    found = re.findall(r"(?:^| )mem=(\d+)([KMG]?)", " ".join(args), re.I)
    number, unit = found[-1] if found else ("256", "M")
    return int(number) << {"": 0, "K": 10, "M": 20, "G": 30}[unit.upper()]


def memory_directory(needed: int) -> str | None:
    """Where UMLs may keep their memory: /dev/shm when it has needed bytes, else the default."""
    try:
        info = os.statvfs("/dev/shm")
    except OSError:
        return None
    roomy = info.f_bavail * info.f_frsize >= needed
    usable = not info.f_flag & os.ST_NOEXEC and os.access("/dev/shm", os.W_OK)
    return "/dev/shm" if roomy and usable else None


class Uml:
    """A running UML. log is the file its whole console goes to."""

    def __init__(self, binary: Path, args: list[str], log: Path, scratch: str | None):
        self.directory = tempfile.mkdtemp(prefix="swap-kunit-", dir=scratch)
        self.args = args
        self.console = Console()
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
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=env, cwd=self.directory, start_new_session=True, pipesize=PIPE)
        commands.guard("+", self.process.pid)
        self._watch = commands.watch(self.process)
        os.set_blocking(self.process.stdout.fileno(), False)

    def fileno(self) -> int:
        """The descriptor to wait on for console output."""
        return self.process.stdout.fileno()

    def read(self) -> bool:
        """Take what the console has; False at its end."""
        try:
            data = os.read(self.fileno(), 1 << 16)
        except BlockingIOError:
            return True
        if not data:
            self._take([self._rest] if self._rest else [])
            return False
        self.log.write(data)
        self._bytes += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._take(lines)
        return True

    def _take(self, lines: list[bytes]) -> None:
        self.spoke = time.monotonic()
        for raw in lines:
            line = raw.rstrip(b"\r").decode(errors="backslashreplace")
            self.lines.append(line)
            if self.console.feed(line):
                self.advanced = self.spoke
        if self.console.panic and not self.panicked:
            self.panicked = self.spoke

    def stuck(self, timeout: float) -> str:
        """Why this UML must be ended now, or ""."""
        now = time.monotonic()
        broken = self._watch() if self._watch else ""
        if broken:
            return f"hung: {broken}"
        if self.panicked and now - self.panicked > AFTER_PANIC:
            return "panic"
        if now - self.spoke > timeout:
            return f"hung: nothing was printed for {timeout:g} s"
        if now - self.advanced > 2 * timeout:
            return f"hung: it prints, but no case ended for {2 * timeout:g} s"
        if self._bytes > MAX_CONSOLE:
            return f"hung: it printed {MAX_CONSOLE >> 20} MB"
        return ""

    def close(self) -> None:
        """Kill the whole session (a UML leaves a stopped child even after a clean end)."""
        commands.kill_group(self.process)
        commands.guard("-", self.process.pid)
        commands.tidy()
        self.process.stdout.close()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)
