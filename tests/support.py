# SPDX-License-Identifier: GPL-2.0
"""A miniature kernel tree with a fake make, kunit.py and UML."""
from __future__ import annotations

import hashlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from swapkunit.base import commands

TESTS = Path(__file__).resolve().parent
REPO = TESTS.parent

MAKEFILE = """\
VERSION = 7
PATCHLEVEL = 3
SUBLEVEL = 4
EXTRAVERSION =
NAME = miniature

mm/%.o:
\t@:
vmlinux:
\t@if grep -n 'BROKEN' mm/swapfile_real.c; then \\
\t\techo 'mm/swapfile.c:1:1: error: expected identifier before BROKEN' >&2; exit 1; fi
\t@echo vmlinux >> $(O)/made
\t@cp fake_linux $(O)/vmlinux
"""

KCONFIG = """\
config KUNIT
\tbool "kunit"
config NET
\tbool "net"
config SPECIAL
\tbool "special"
\tdepends on NET
"""

FILES = {
    "Kconfig": KCONFIG,
    "Kbuild": "",
    "mm/swapfile.c": "int swapfile;\n",
    "mm/swap_state.c": "int swap_state;\n",
    "mm/page_io.c": "int page_io;\n",
    "mm/zswap.c": "int zswap;\n",
    "mm/Makefile": "obj-y += swapfile.o\n",
    "mm/Kconfig": "",
    "arch/um/Makefile": "",
    "include/linux/swap.h": "/* swap.h */\n",
    "lib/deep/down/file.c": "int deep;\n",
    "tools/testing/kunit/configs/arch_uml.config": "",
    ".gitignore": ".*\n*.o\n*.lex.c\n/vmlinux\n/include/generated/\n!.keep\n",
    ".keep": "",
    "lib/.gitignore": "/crc32table.h\n",
}


def make_kernel(path: Path, **files: str) -> Path:
    """A miniature kernel tree at path; files (with / for __) are added or replaced."""
    for name, text in {**FILES, "Makefile": MAKEFILE, **files}.items():
        write(path / name, text)
    for name, target in (("fake_kunit.py", "tools/testing/kunit/kunit.py"), ("fake_linux", "fake_linux")):
        (path / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TESTS / name, path / target)
        (path / target).chmod(0o755)
    return path


def write(path: Path, text: str) -> Path:
    """Write text to path, with its directories; sets an old mtime."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    age(path)
    return path


def age(path: Path, seconds: int = 3600) -> None:
    """Make path's mtime older."""
    now = path.stat().st_mtime
    os.utime(path, (now - seconds, now - seconds))


def age_directories(top: Path) -> None:
    """Make the mtime of every directory older, as in a tree that has not changed for long."""
    for parent, _, _ in os.walk(top, topdown=False):
        age(Path(parent))


def fingerprint(top: Path) -> str:
    """Names, modes, mtimes, link targets and contents of everything below top."""
    digest = hashlib.sha256()
    for parent, subdirs, names in os.walk(top):
        subdirs.sort()
        for name in sorted([*names, *subdirs, "."]):
            path = Path(parent, name)
            info = path.lstat()
            digest.update(repr((str(path), info.st_mode, info.st_mtime_ns, info.st_uid)).encode())
            if stat.S_ISLNK(info.st_mode):
                digest.update(os.readlink(path).encode())
            elif stat.S_ISREG(info.st_mode):
                digest.update(path.read_bytes())
    return digest.hexdigest()


def git(top: Path, *words: str) -> str:
    """Run git in top with a user's name and address."""
    return subprocess.run(["git", "-C", str(top), "-c", "user.name=t", "-c", "user.email=t@t", *words],
                          check=True, capture_output=True, text=True).stdout


def processes_with(text: str) -> list[int]:
    """The processes, except this one, with text in their command line, environment or working directory."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            told = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            told += os.fsencode(os.readlink(entry / "cwd"))
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if text.encode() in told and state != "Z":
            found.append(int(entry.name))
    return found


class Scratch(unittest.TestCase):
    """A test with a directory of its own, self.top, and a cache in it."""

    def setUp(self) -> None:
        self.top = Path(tempfile.mkdtemp(prefix="swap-kunit-test-"))
        self.addCleanup(self._remove)
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ["SWAP_KUNIT_CACHE"] = str(self.top / "cache")
        signal.signal(signal.SIGINT, signal.default_int_handler)    # a job in the background ignores it

    def _remove(self) -> None:
        for parent, _, _ in os.walk(self.top):
            os.chmod(parent, 0o755)
        shutil.rmtree(self.top)

    def program(self, *words: str | Path, env: dict[str, str] | None = None) -> commands.Finished:
        """Run ./swap-kunit with words to its end."""
        done = subprocess.run([sys.executable, REPO / "swap-kunit", *words], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              env={**os.environ, **(env or {})}, timeout=60)
        return commands.Finished(done.returncode, done.stdout)
