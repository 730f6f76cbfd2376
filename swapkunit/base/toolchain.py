# SPDX-License-Identifier: GPL-2.0
"""The compiler that make options select: LLVM=1, LLVM=-19, CC=gcc-12."""
from __future__ import annotations

import os
import re
import shutil
from typing import Iterable

from .errors import SwapKunitError

LLVM = re.compile(r"(1|-.+|.*/)?")


def from_environment(make_options: list[str]) -> list[str]:
    """make_options, with LLVM= from the environment, as the kernel's make reads it."""
    if not os.environ.get("LLVM") or any(option.startswith("LLVM=") for option in make_options):
        return make_options
    return [*make_options, f"LLVM={os.environ['LLVM']}"]


def settings(make_options: Iterable[str]) -> dict[str, str]:
    """NAME=VALUE options as a dict; the last one of a name wins."""
    return {name: value for name, _, value in (option.partition("=") for option in make_options)}


def compiler(make_options: Iterable[str]) -> str:
    """The compiler: CC= wins over LLVM=, as in the kernel's Makefile."""
    given = settings(make_options)
    if given.get("CC"):
        return given["CC"]
    llvm = given.get("LLVM", "")
    if not llvm:
        return "gcc"
    return f"{llvm}clang" if llvm.endswith("/") else f"clang{llvm}" if llvm.startswith("-") else "clang"


def is_clang(make_options: Iterable[str]) -> bool:
    """Whether the compiler is clang."""
    return bool(re.search(r"(^|[/ ])clang[^/]*$", compiler(make_options)))


def check(make_options: Iterable[str]) -> None:
    """Raise SwapKunitError if the compiler is not installed. Call this after deps.require(programs())."""
    asked = compiler(make_options)
    name = asked.split(" ")[-1]
    if shutil.which(name) is None:
        raise SwapKunitError(f"cannot compile with {asked}: {name} is not installed; install it, or choose "
                             "another with --make-option CC= or LLVM= (make: CC=, LLVM=)")


def programs(make_options: Iterable[str]) -> dict[str, str]:
    """The programs that the options need besides gcc: program -> Debian package. Raises SwapKunitError."""
    options = list(make_options)
    llvm, name = settings(options).get("LLVM", ""), compiler(options)
    if not LLVM.fullmatch(llvm):
        raise SwapKunitError(f"cannot compile with LLVM={llvm}: the kernel takes LLVM=1, LLVM=-VERSION or "
                             "LLVM=DIRECTORY/; give one of these")
    wanted = {}
    if llvm and not llvm.endswith("/"):
        suffix = llvm if llvm.startswith("-") else ""
        wanted = {f"ld.lld{suffix}": f"lld{suffix}", f"llvm-ar{suffix}": f"llvm{suffix}"}
    if re.fullmatch(r"(gcc|clang)(-\d+)?", name):
        wanted[name] = name
    return wanted
