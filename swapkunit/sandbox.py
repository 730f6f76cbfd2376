# SPDX-License-Identifier: GPL-2.0
"""A patch is a stranger's code, and make and UML run it: in here, by bubblewrap.

What runs inside sees the system's programs, the kernel tree, this project and its own
output directory, and nothing of a home; it writes into the directories it is given and
into a /tmp of its own; it has no network, no other processes and no capabilities. Limits
that the kernel keeps for a process (address space, size of a file) are set inside; those
over all processes together (memory, their number, time, disk) are looked after from
outside, since a normal user has no cgroup to ask for them.

The caller puts it around all that is started:

    with commands.confined(sandbox):
        build_kernel(session)
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
# What a build may know of the environment: there are tokens and keys in the rest.
ENVIRONMENT = re.compile(r"PATH|LANG|LC_\w+|TERM|TZ|LLVM|CC|KBUILD_BUILD_\w+|SOURCE_DATE_EPOCH|"
                         r"PYTHON(DONTWRITEBYTECODE|UNBUFFERED)|GCOV_\w+")
KBUILD_LINKS = re.compile(r"source|(scripts/gdb/(linux/)?)?[\w-]+\.py")   # in a build directory; nothing here reads them
LOOK_EVERY = 0.3            # seconds between two looks at what runs inside
MEMORY_TO_SPARE = 0.04      # of the machine's: less than that free, and what runs inside is ended
DISK_TO_SPARE = GB // 8     # bytes


@dataclass(frozen=True)
class Limits:
    """How much what runs inside may take; bytes and seconds.

    memory, processes and seconds are of one program with all it starts; address_space
    (None: any, KASAN reserves terabytes) and file_size of each of its processes.
    """

    memory: int = 4 * GB
    address_space: int | None = 8 * GB
    file_size: int = 2 * GB
    processes: int = 400
    seconds: float = 3600.0
    temporary: int = GB


@dataclass(frozen=True)
class Sandbox:
    """What is seen inside besides the system, and what may be written; see the module."""

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
            # Objects of a stranger's compiler run must not come up in a later build.
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
        """The same one, in which these places alone may be written."""
        return replace(self, writable=places)

    def rlimits(self) -> list[str]:
        """What the kernel keeps for every process; set inside, where other processes do not count."""
        limits = self.limits
        words = ["prlimit", "--core=0", f"--fsize={limits.file_size}", f"--nproc={2 * limits.processes}"]
        return [*words, *([f"--as={limits.address_space}"] if limits.address_space else []), "--"]

    def watch(self, pid: int) -> commands.Watch:
        """See commands.Confinement."""
        places = [path for path in self.writable if path.exists()]
        return Watcher(pid, self.limits, places)


    def tidy(self) -> None:
        """See commands.Confinement: no links, pipes and sockets stay in what may be written.

        Outside, a link would be followed to a file the sandbox kept safe, and a pipe waits for ever.
        """
        for place in self.writable:
            remove_traps(place, place)


def remove_traps(place: Path, top: Path) -> None:
    """Remove what is neither file nor directory, but for the links that Kbuild makes itself."""
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
    """The system's programs, read-only; /proc and /dev of its own."""
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
    """/tmp and /dev/shm of its own."""
    return ["--size", str(size), "--tmpfs", "/tmp", "--size", str(size), "--tmpfs", "/dev/shm"]


# -- making one --------------------------------------------------------------


def make(readable: list[Path], make_options: list[str], jobs: int, shadowed: bool = False) -> Sandbox:
    """A sandbox that was tried; nothing may be written yet. shadowed: KASAN. Raises SwapKunitError when there is none to be had."""
    try:
        deps.require(PROGRAM)
    except SwapKunitError as error:
        raise SwapKunitError(f"{error}; or, if you trust the series as your own code, give --no-sandbox "
                             "(make: SANDBOX=0)") from error
    seen = [path for place in readable for path in places_of(place)]
    limits = Limits(memory=min(memory_of_machine() * 3 // 4, (3 + jobs) * GB),
                    address_space=None if shadowed else Limits.address_space)
    made = Sandbox(tuple(dict.fromkeys([*seen, *programs(make_options)])), (), limits, ccache_directory())
    probe(made)
    return made


def probe(made: Sandbox) -> None:
    """Start something in it. Raises SwapKunitError with what bwrap says."""
    command, env = made.wrap(["true"], None, None, None, 0)
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", check=False)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        raise SwapKunitError(f"cannot run a stranger's code in a sandbox: {said.rstrip('.')}; let this user make user "
                             "namespaces (kernel.unprivileged_userns_clone, user.max_user_namespaces), or, if "
                             "you trust the series as your own code, give --no-sandbox (make: SANDBOX=0)")


def describe(made: Sandbox | None) -> str:
    """One line for people."""
    if made is None:
        return "none: the patches run with your rights"
    said = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    limits = made.limits
    return (f"{said}: no network, nothing of your home, {limits.memory / GB:.1f} GB, {limits.processes} "
            f"processes, {limits.seconds / 60:.0f} min a program")


def advice(limit: str) -> str:
    """What to do about a base that the sandbox ended, by what Watcher said."""
    if "the disk of" in limit:
        return "make room (`swap-kunit clean` removes old builds), or use another disk with --out (make: O=)"
    if " s in its sandbox" in limit:
        return "try again when the machine has less to do, or, if you trust the series as your own code, give " \
               "--no-sandbox (make: SANDBOX=0)"
    if "the machine had" in limit:
        return "end what else takes memory, or have fewer jobs (-j, make: J=)"
    return "have fewer jobs (-j, make: J=), or, if you trust the series as your own code, give --no-sandbox " \
           "(make: SANDBOX=0)"


def machines_fault(limit: str) -> bool:
    """Whether what Watcher said is about the machine, which others use too, and not about what ran inside."""
    return "the disk of" in limit or "the machine had" in limit


def places_of(path: Path) -> list[Path]:
    """A directory by its name; and where its files lie, when it is a farm of links."""
    found = [path]
    for name in ("", "Makefile", "mm/swapfile.c"):
        real = Path(os.path.realpath(path / name))
        top = real if not name else real.parents[name.count("/")]
        if (path / name).exists() and top not in found and path not in top.parents:
            found.append(top)
    return found


def programs(make_options: list[str]) -> list[Path]:
    """Where a compiler lies, or this Python, that is none of the system's."""
    named = [toolchain.compiler(make_options).split(" ")[-1], *toolchain.programs(make_options)]
    found = [*(shutil.which(name) for name in named), sys.executable, os.path.realpath(sys.executable)]
    prefixes = (Path(os.path.abspath(name)).parents[1] for name in found if name)
    return [path for path in dict.fromkeys(prefixes)
            if path != Path("/") and not any(str(path).startswith(known) for known in SYSTEM)]


def ccache_directory() -> Path | None:
    """The user's ccache, for reading; None when there is none yet."""
    if shutil.which("ccache") is None:
        return None
    done = subprocess.run(["ccache", "--get-config", "cache_dir"], capture_output=True, text=True, check=False)
    path = Path(done.stdout.strip() or "/nonexistent")
    return path if path.is_dir() else None


def memory_of_machine() -> int:
    """Bytes of RAM."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


# -- looking after it --------------------------------------------------------


class Watcher:
    """Called often; looks now and then at what runs below pid, and tells why it must be ended."""

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
            return f"it started {len(inside)} processes, and its sandbox allows {self.limits.processes}"
        memory = sum(map(memory_of, inside))
        if memory > self.limits.memory:
            return f"it took {memory / GB:.1f} GB of memory, and its sandbox allows {self.limits.memory / GB:.1f}"
        if memory_free() < MEMORY_TO_SPARE:
            return "the machine had hardly any memory left"
        full = next((path for path in self.places if disk_free(path) < DISK_TO_SPARE), None)
        if full:
            return f"the disk of {full} became nearly full"
        return ""


def descendants(pid: int) -> list[int]:
    """pid and all below it."""
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
    """The bytes a process has for itself; tmpfs, which is shared, has its own limit."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            _, resident, shared = file.read().split()[:3]
    except (OSError, ValueError):
        return 0
    return max(int(resident) - int(shared), 0) * os.sysconf("SC_PAGE_SIZE")


def memory_free() -> float:
    """The part of the machine's memory that is to be had."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            told = dict(re.findall(r"^(\w+): +(\d+)", file.read(), re.M))
        return int(told["MemAvailable"]) / int(told["MemTotal"])
    except (OSError, KeyError):
        return 1.0
