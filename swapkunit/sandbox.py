# SPDX-License-Identifier: GPL-2.0
"""Building an untrusted patch runs its code, so builds and tests run in a bubblewrap sandbox.

A program inside sees the system's programs, the kernel tree, this project and its output
directory, but no home. It can write to the given directories and to a /tmp of its own. It has
no network, sees no other processes and has no capabilities. Limits of a single process (address
space, file size) are set inside with prlimit. Limits of all processes together (memory, number,
time, disk) are watched from outside, because a normal user may have no cgroup of his own.

The caller puts it around all programs:

    with commands.confined(sandbox):
        session.build_kernel()
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Mapping

from .base import commands, deps, toolchain
from .base.errors import SwapKunitError
from .base.layout import disk_free

GB = 1 << 30
PROGRAM = {"bwrap": "bubblewrap", "prlimit": "util-linux"}
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "passwd", "group", "nsswitch.conf",
       "localtime", "debian_version", "os-release", "perl", "python3")
# The variables that programs inside see; others may hold tokens and keys.
ENVIRONMENT = re.compile(r"PATH|LD_LIBRARY_PATH|LANG|LC_\w+|TERM|PYTHONDONTWRITEBYTECODE|GCOV_\w+")
KBUILD_LINKS = re.compile(r"source|(scripts/gdb/(linux/)?)?[\w-]+\.py")   # in a build directory; we do not read them
LOOK_EVERY = 0.3            # seconds between two checks of the limits
MEMORY_TO_SPARE = 0.04      # of the machine's memory must stay free
DISK_TO_SPARE = GB // 8     # bytes
UNCONFINED = "if you trust the series like your own code, give --no-sandbox (make: SANDBOX=0)"     # as advice


@dataclass(frozen=True)
class Limits:
    """Limits for a program inside, in bytes and seconds.

    memory, processes and seconds: for the program and its children together. address_space
    (None: unlimited, KASAN reserves terabytes) and file_size: for each process.
    """

    memory: int = 4 * GB
    address_space: int | None = 8 * GB
    file_size: int = 2 * GB
    processes: int = 400
    seconds: float = 3600.0
    temporary: int = GB


@dataclass(frozen=True)
class Sandbox:
    """The paths that are visible inside besides the system, and the writable ones; see the module."""

    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    limits: Limits = field(default_factory=Limits)
    ccache: Path | None = None
    keep: re.Pattern[str] = ENVIRONMENT

    def wrap(self, command: list[str], cwd: Path | None, env: Mapping[str, str] | None,
             scratch: Path | None, room: int) -> tuple[list[str], dict[str, str]]:
        """See commands.Confinement."""
        env = os.environ if env is None else env
        inside = {name: value for name, value in env.items() if self.keep.fullmatch(name)}
        inside |= {"HOME": "/tmp", "TMPDIR": str(scratch or "/tmp")}
        if self.ccache:
            # A later build must not get objects that an untrusted patch has put into the cache.
            inside |= {"CCACHE_DIR": str(self.ccache), "CCACHE_READONLY": "1", "CCACHE_TEMPDIR": "/tmp/ccache",
                       "CCACHE_NOSTATS": "1"}
        words = [*NAMESPACES, *system(), *temporary(self.limits.temporary)]
        for path in (*self.readable, *([self.ccache] if self.ccache else [])):
            words += ["--ro-bind", str(path), str(path)]
        for path in self.writable:
            words += ["--bind", str(path), str(path)]
        if scratch:
            words += ["--size", str(room), "--tmpfs", str(scratch)]
        words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(cwd or "/tmp"), "--"]
        return [*words, *self.rlimits(), *command], inside

    def writing(self, *places: Path) -> Sandbox:
        """A copy in which only these places are writable."""
        return replace(self, writable=places)

    def rlimits(self) -> list[str]:
        """The prlimit command for limits of each process; inside, --nproc does not count other processes."""
        limits = self.limits
        words = ["prlimit", "--core=0", f"--fsize={limits.file_size}", f"--nproc={2 * limits.processes}"]
        return [*words, *([f"--as={limits.address_space}"] if limits.address_space else []), "--"]

    def watch(self, pid: int) -> commands.Watch:
        """See commands.Confinement."""
        places = [path for path in self.writable if path.exists()]
        return Watcher(pid, self.limits, places)

    def tidy(self) -> None:
        """See commands.Confinement: remove links, pipes and sockets from the writable places.

        Outside, a link could lead to a file that the sandbox hid, and reading a pipe could block forever.
        """
        for place in self.writable:
            remove_traps(place, place)


def remove_traps(place: Path, top: Path) -> None:
    """Remove everything but files, directories and the links that Kbuild itself makes."""
    try:
        entries = list(os.scandir(place))
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            remove_traps(Path(entry.path), top)
        elif not entry.is_file(follow_symlinks=False) \
                and not (entry.is_symlink() and KBUILD_LINKS.fullmatch(os.path.relpath(entry.path, top))):
            os.unlink(entry.path)


NAMESPACES = ("bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
              "--unshare-cgroup-try", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent")


def system() -> list[str]:
    """Arguments for the system's programs, read-only, and new /proc and /dev."""
    words: list[str] = []
    for name in SYSTEM:
        if os.path.islink(name):
            words += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            words += ["--ro-bind", name, name]
    for name in ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return [*words, "--proc", "/proc", "--dev", "/dev"]


def temporary(size: int) -> list[str]:
    """Arguments for new /tmp and /dev/shm."""
    return ["--size", str(size), "--tmpfs", "/tmp", "--size", str(size), "--tmpfs", "/dev/shm"]


# -- making one --------------------------------------------------------------


def make(readable: list[Path], make_options: list[str], jobs: int, shadowed: bool = False) -> Sandbox:
    """A tested sandbox without writable places. shadowed: for KASAN. Raises SwapKunitError."""
    try:
        deps.require(PROGRAM)
    except SwapKunitError as error:
        raise SwapKunitError(f"{error}; or {UNCONFINED}") from error
    seen = [path for place in readable for path in places_of(place)]
    limits = Limits(memory=min(memory_of_machine() * 3 // 4, (3 + jobs) * GB),
                    address_space=None if shadowed else Limits.address_space)
    made = Sandbox(tuple(dict.fromkeys([*seen, *programs(make_options)])), (), limits, ccache_directory())
    probe(made)
    return made


def probe(made: Sandbox) -> None:
    """Start a program in it. Raises SwapKunitError with the message of bwrap."""
    command, env = made.wrap(["true"], None, None, None, 0)
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        raise SwapKunitError(f"cannot make a sandbox for untrusted patches: {reason.rstrip('.')}; allow user "
                             "namespaces for this user (kernel.unprivileged_userns_clone, "
                             f"user.max_user_namespaces), or {UNCONFINED}")


def describe(made: Sandbox | None) -> str:
    """One line about the sandbox, for the user."""
    if made is None:
        return "none: the patches run with your permissions"
    version = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    limits = made.limits
    return (f"{version}: no network, no access to your home, {limits.memory / GB:.1f} GB, {limits.processes} "
            f"processes, {limits.seconds / 60:.0f} min a program")


def advice(limit: str) -> str:
    """What to do if the sandbox killed the build or test of a base, by the reason that Watcher gave."""
    if "the disk of" in limit:
        return "make room (`swap-kunit clean` removes old builds), or use another disk with --out (make: O=)"
    if " s in its sandbox" in limit:
        return f"try again when the machine is less busy, or {UNCONFINED}"
    if "the machine had" in limit:
        return "free some memory, or use fewer jobs (-j, make: J=)"
    return f"use fewer jobs (-j, make: J=), or {UNCONFINED}"


def machines_fault(limit: str) -> bool:
    """Whether the reason that Watcher gave is the state of the machine, not of the program inside."""
    return "the disk of" in limit or "the machine had" in limit


def places_of(path: Path) -> list[Path]:
    """A directory, and where its files really are if it consists of links."""
    found = [path]
    for name in ("", "Makefile", "mm/swapfile.c"):
        real = Path(os.path.realpath(path / name))
        top = real if not name else real.parents[name.count("/")]
        if (path / name).exists() and top not in found and path not in top.parents:
            found.append(top)
    return found


def programs(make_options: list[str]) -> list[Path]:
    """The directories of a compiler or a Python that are not the system's."""
    named = [toolchain.compiler(make_options).split(" ")[-1], *toolchain.programs(make_options)]
    found = [*(shutil.which(name) for name in named), sys.executable, os.path.realpath(sys.executable)]
    prefixes = (Path(os.path.abspath(name)).parents[1] for name in found if name)
    return [path for path in dict.fromkeys(prefixes)
            if path != Path("/") and not any(str(path).startswith(known) for known in SYSTEM)]


def ccache_directory() -> Path | None:
    """The user's ccache, to be read; None if there is none yet."""
    if shutil.which("ccache") is None:
        return None
    done = subprocess.run(["ccache", "--get-config", "cache_dir"], capture_output=True, text=True, check=False)
    path = Path(done.stdout.strip() or "/nonexistent")
    return path if path.is_dir() else None


def memory_of_machine() -> int:
    """The size of RAM in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


# -- watching it -------------------------------------------------------------


class Watcher:
    """Called often; checks pid and its descendants every LOOK_EVERY seconds; returns why they must be killed, or ""."""

    def __init__(self, pid: int, limits: Limits, places: list[Path]):
        self.pid, self.limits, self.places = pid, limits, places
        self.started = self.looked = time.monotonic()

    def __call__(self) -> str:
        now = time.monotonic()
        if now - self.looked < LOOK_EVERY:
            return ""
        self.looked = now
        if now - self.started > self.limits.seconds:
            return f"it ran for {self.limits.seconds:.0f} s in its sandbox"
        inside = descendants(self.pid)
        if len(inside) > self.limits.processes:
            return f"it started {len(inside)} processes; its sandbox allows {self.limits.processes}"
        memory = sum(map(memory_of, inside))
        if memory > self.limits.memory:
            return f"it used {memory / GB:.1f} GB of memory; its sandbox allows {self.limits.memory / GB:.1f}"
        if memory_free() < MEMORY_TO_SPARE:
            return "the machine had almost no memory left"
        full = next((path for path in self.places if disk_free(path) < DISK_TO_SPARE), None)
        if full:
            return f"the disk of {full} became nearly full"
        return ""


def descendants(pid: int) -> list[int]:
    """pid and all its descendants."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(name))
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop())
        todo += children.get(found[-1], [])
    return found


def memory_of(pid: int) -> int:
    """The private memory of a process in bytes; shared memory (tmpfs) has its own limit."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            _, resident, shared = file.read().split()[:3]
    except (OSError, ValueError):
        return 0
    return max(int(resident) - int(shared), 0) * os.sysconf("SC_PAGE_SIZE")


def memory_free() -> float:
    """The available part of the machine's memory, 0 to 1."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            sizes = dict(re.findall(r"^(\w+): +(\d+)", file.read(), re.M))
        return int(sizes["MemAvailable"]) / int(sizes["MemTotal"])
    except (OSError, KeyError):
        return 1.0
