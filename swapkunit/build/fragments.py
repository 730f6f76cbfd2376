# SPDX-License-Identifier: GPL-2.0
"""Kconfig fragments: configs/NAME.config, applied over the .kunitconfig.

Comment lines of a fragment may give arguments for the kernel command line:

    # swap-kunit: mem=1G
    # swap-kunit: seccomp=on ncpus=2

and patches of mm/policies that it needs:

    # swap-kunit-patches: uml-thp

Below the .kunitconfig are the wishes of configs/lean.defaults.
"""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Collection

from ..base.errors import SwapKunitError
from ..base.text import did_you_mean

ARGUMENTS = re.compile(r"^#\s*swap-kunit(?:-args)?:\s*(.+)$", re.M)
PATCHES = re.compile(r"^#\s*swap-kunit-patches:\s*(.+)$", re.M)
LEAN = "configs/lean.defaults"
SET = re.compile(r"^CONFIG_(\w+)=(.*)$|^# CONFIG_(\w+) is not set$")


@dataclass
class KunitConfig:
    """The requested options: symbol -> value ("n" for not set), and the file that requests it."""

    wanted: dict[str, str] = field(default_factory=dict)
    asked_by: dict[str, str] = field(default_factory=dict)
    kernel_args: list[str] = field(default_factory=list)

    def add(self, text: str, name: str) -> None:
        """Add a fragment's text; the last value of a symbol wins."""
        for line in text.splitlines():
            found = SET.match(line.strip())
            if found:
                symbol = found[1] or found[3]
                self.wanted[symbol] = found[2] if found[1] else "n"
                self.asked_by[symbol] = name
        for line in ARGUMENTS.findall(text):
            self.kernel_args += line.split()

    def text(self, without: Collection[str] = ()) -> str:
        """As a .kunitconfig file, without some symbols."""
        return "".join(f"CONFIG_{symbol}={value}\n" if value != "n"
                       else f"# CONFIG_{symbol} is not set\n"
                       for symbol, value in self.wanted.items() if symbol not in without)

    def wishes(self) -> set[str]:
        """The symbols that may have another value."""
        return {symbol for symbol, name in self.asked_by.items() if name == LEAN}


def find(name: str, configs: Path) -> Path:
    """The file of a fragment, given by name or as a path with a slash. Raises SwapKunitError."""
    path = Path(name) if "/" in name else configs / f"{name}.config"
    if not path.is_file():
        known = sorted(entry.stem for entry in configs.glob("*.config"))
        raise SwapKunitError(f"no Kconfig fragment '{name}': there is no {path}; {did_you_mean(name, known)}choose one "
                             f"of {', '.join(known)}, or give a path with a slash in it")
    return path


def gather(base: Path, names: list[str], configs: Path, lean: bool = False) -> KunitConfig:
    """The .kunitconfig at base (a file or its directory) and the fragments; lean: over the wishes.

    Raises SwapKunitError.
    """
    path = base / ".kunitconfig" if base.is_dir() else base
    config = KunitConfig()
    if lean:
        config.add((configs.parent / LEAN).read_text(encoding="utf-8"), LEAN)
    try:
        config.add(path.read_text(encoding="utf-8"), ".kunitconfig")
    except (OSError, UnicodeError) as error:
        raise SwapKunitError(f"cannot read the kunitconfig {path}: {why(error)}; "
                             "give a file or a directory with a .kunitconfig") from error
    for name in names:
        path = find(name, configs)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise SwapKunitError(f"cannot read the Kconfig fragment {path}: {why(error)}; "
                                 "fix it, or leave it out") from error
        config.add(text, name if "/" in name else f"configs/{path.name}")
    return config


def why(error: OSError | UnicodeError) -> str:
    """Why a file could not be read."""
    return error.strerror if isinstance(error, OSError) else "it is not text"


def patches_of(names: list[str], configs: Path) -> list[str]:
    """The policies that the fragments need, in order."""
    found = (PATCHES.findall(find(name, configs).read_text(encoding="utf-8", errors="replace")) for name in names)
    return [policy for lines in found for line in lines for policy in line.split()]


def read_dot_config(path: Path) -> dict[str, str]:
    """Symbol -> value of a .config, without symbols that are not set."""
    try:
        return dict(re.findall(r"^CONFIG_(\w+)=(.*)$", path.read_text(), re.M))
    except FileNotFoundError:
        return {}


def unmet(config: KunitConfig, result: dict[str, str]) -> list[str]:
    """The symbols that have another value in the .config."""
    return [symbol for symbol, value in config.wanted.items()
            if result.get(symbol, "n") != value]


def in_the_way(config: KunitConfig, result: dict[str, str]) -> set[str]:
    """The wishes to give up: those not met, or all of them if a requested symbol is not met."""
    wishes, missing = config.wishes(), set(unmet(config, result))
    return wishes if missing - wishes else missing
