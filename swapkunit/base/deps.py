# SPDX-License-Identifier: GPL-2.0
"""Find missing programs, and install their Debian packages."""
from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

from . import commands
from .errors import SwapKunitError

# Program or absolute path -> the package that has it.
BUILD = {
    "gcc": "gcc", "ld": "binutils", "make": "make", "flex": "flex", "bison": "bison", "bc": "bc",
    "perl": "perl", "cmp": "diffutils", "find": "findutils", "xz": "xz-utils",
    "/usr/include/stdio.h": "libc6-dev", "/usr/bin/ccache": "ccache",
}
FETCH = {
    "apt-get": "apt", "dpkg-deb": "dpkg", "tar": "tar", "xz": "xz-utils",
    "/usr/share/keyrings/debian-archive-keyring.*": "debian-archive-keyring",
}
PATCHES = {"git": "git"}
COVERAGE = {"lcov": "lcov", "genhtml": "lcov", "gcov": "gcc", "gcov-tool": "gcc"}
MULTILIB = {"/usr/include/x86_64-linux-gnu/gnu/stubs-32.h": "gcc-multilib"}
DOCUTILS = {"/usr/lib/python3/dist-packages/docutils/__init__.py": "python3-docutils"}
MUTANTS = {"/usr/lib/python3/dist-packages/clang/cindex.py": "python3-clang"}
PAGES = {"/usr/lib/python3/dist-packages/jinja2/__init__.py": "python3-jinja2"}


def missing(wanted: dict[str, str]) -> list[str]:
    """The packages of wanted that are not installed, each once."""
    return list(dict.fromkeys(package for what, package in wanted.items() if not present(what)))


def present(what: str) -> bool:
    """Whether a program, or a path (which may end in .*), exists."""
    if not what.startswith("/"):
        return shutil.which(what) is not None
    if what.endswith(".*"):
        return any(os.path.exists(what[:-1] + suffix) for suffix in ("gpg", "pgp"))
    return os.path.exists(what)


def require(wanted: dict[str, str]) -> None:
    """Install what is missing of wanted.

    Asks first on a terminal. Otherwise root installs; other users, and those who answer no,
    get a SwapKunitError with the exact command.
    """
    packages = missing(wanted)
    if not packages:
        return
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    if os.geteuid() != 0:
        install.insert(0, "sudo")
    shown = shlex.join(install)
    trouble = f"missing packages: {', '.join(packages)}"
    if shutil.which("apt-get") is None:
        raise SwapKunitError(f"{trouble}; there is no apt-get here: install your distribution's "
                             "packages of these programs")
    if sys.stdin.isatty() and sys.stdout.isatty():
        if input(f"Missing packages: {', '.join(packages)}. Run {shown}?  [Y/n] ").strip().lower() in ("n", "no"):
            raise SwapKunitError(f"{trouble}; install them with: {shown}")
    elif os.geteuid() != 0:
        raise SwapKunitError(f"{trouble}; only root can install them, run: {shown}")
    apt_install(install, wanted)


def apt_install(install: list[str], wanted: dict[str, str]) -> None:
    """Run install; if it fails, run `apt-get update` and try again. Raises SwapKunitError."""
    packages = missing(wanted)
    update = install[:install.index("apt-get") + 1] + ["update"]
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (install, update, install):
        commands.show(command)
        status = subprocess.run(command, env=env, check=False, stdout=sys.stdout, stdin=subprocess.DEVNULL
                                if os.geteuid() == 0 else None).returncode
        if status == 0 and command is install:
            lost = [what for what in wanted if not present(what)]
            if not lost:
                return
            raise SwapKunitError(f"installed {', '.join(packages)}, but {', '.join(lost)} is still "
                                 "not found; check PATH")
    raise SwapKunitError(f"cannot install {', '.join(packages)}: apt-get failed as shown above; fix that "
                         f"and run: {shlex.join(install)}")
