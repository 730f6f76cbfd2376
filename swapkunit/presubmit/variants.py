# SPDX-License-Identifier: GPL-2.0
"""The configurations that file checks compile in, and the commands that Kbuild uses in each."""
from __future__ import annotations

import os
import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from ..base import commands
from ..base.layout import CONFIGS, REPO
from ..build import fragments
from .file_steps import W1, without_code

# sparse before 2025 does not know __typeof_unqual__; for its checks __typeof__ does as well.
CHECK = "sparse -D__typeof_unqual__=__typeof__"
UNIT = re.compile(r" -c -o (\S+\.o) (\S+\.c)\s*$")
NEW_OPTION = re.compile(r"^\+(?:menu)?config (\w+)\n(?:\+[ \t].*\n|\+\n)*?\+\s+(?:bool|tristate) \"", re.M)
MOST_OPTIONS = 3    # new ones that are tried
TOO_OLD = "is not available or not up to date"


@dataclass(frozen=True)
class Variant:
    """A configuration to compile in. off, on: symbols that must not, or must, be set; make: options for make."""

    name: str
    title: str
    text: str = ""
    off: str = ""
    on: str = ""
    policies: str = ""
    make: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What the ids of its jobs begin with."""
        return W1 if self == PLAIN else self.title


PLAIN = Variant("plain", "plain")
NO_ZSWAP = "# CONFIG_ZSWAP is not set\n# CONFIG_ZSWAP_DEFAULT_ON is not set\n"
ODD = (
    Variant("noswap", "no SWAP", "# CONFIG_SWAP is not set\n" + NO_ZSWAP, "SWAP"),
    Variant("nozswap", "no ZSWAP", NO_ZSWAP, "ZSWAP"),
    Variant("noshmem", "no SHMEM", "CONFIG_EXPERT=y\n# CONFIG_SHMEM is not set\n# CONFIG_TMPFS is not set\n", "SHMEM"),
    Variant("nomemcg", "no MEMCG", "# CONFIG_MEMCG is not set\n", "MEMCG"),
    Variant("thp", "THP", policies="thp"),
    Variant("32bit", "32 bit", make=("SUBARCH=i386",)),
)


def of_new_options(diffs: list[str]) -> tuple[Variant, ...]:
    """Two variants for each Kconfig option that these diffs add and a user can choose: with it and without."""
    names = dict.fromkeys(name for diff in diffs for name in NEW_OPTION.findall(diff)
                          if not re.search(rf"^-(?:menu)?config {name}$", diff, re.M))
    return tuple(variant for name in list(names)[:MOST_OPTIONS] for variant in (
        Variant(f"with-{name}", f"with {name}", f"CONFIG_{name}=y\n", on=name),
        Variant(f"without-{name}", f"without {name}", f"# CONFIG_{name} is not set\n", off=name)))


@dataclass
class Ready:
    """A configured variant: the commands for each C file. lacking: why it cannot be compiled.

    failed: make failed, and may not fail next time; ours: our own patches do not apply.
    trouble: make's error when asked for the commands, so that some may be missing.
    """

    compile: dict[str, list[str]] = field(default_factory=dict)
    check: dict[str, list[str]] = field(default_factory=dict)
    doc: dict[str, list[str]] = field(default_factory=dict)
    lacking: str = ""
    no_sparse: str = ""
    failed: bool = False
    ours: bool = False
    trouble: str = ""


def configuration(variant: Variant) -> str:
    """The project's own configuration without the suites, and the variant's settings on top."""
    names = [variant.policies] if variant.policies else []
    config = fragments.gather(REPO / ".kunitconfig", names, CONFIGS)
    config.add("# CONFIG_SWAP_KUNIT_TEST is not set\n" + variant.text, variant.title)
    return config.text()


def lacking(variant: Variant, values: dict[str, str]) -> str:
    """Why the values of its .config are not those of the variant; "" if they are."""
    if variant.off and variant.off in values:
        return f"ARCH=um of this kernel cannot be configured without {variant.off}"
    if variant.on and variant.on not in values:
        return f"{variant.on} cannot be set on ARCH=um in this configuration"
    if variant.policies and "TRANSPARENT_HUGEPAGE" not in values:
        return "ARCH=um of this kernel has no THP, even with the patches in mm/policies"
    return ""


def commands_of(output: str, top: Path) -> Ready:
    """The commands that `make -n` printed for each C file of the tree at top."""
    ready = Ready(no_sparse="sparse is not installed, or too old for this tree" if TOO_OLD in output else "")
    for line in output.splitlines():
        if ".c" not in line:
            continue
        for part in (part.rstrip("; ") for part in re.split(r";\s+", line)):
            if UNIT.search(part):
                words = [word for word in shlex.split(part) if not word.startswith(("-Wp,-MMD", "-Wp,-MD"))]
                words[words.index("-o") + 1] = "OUTPUT"
                ready.compile[relative_to(words[-1], top)] = words
            elif part.startswith(CHECK.split(" ", maxsplit=1)[0]):
                words = [word for word in shlex.split(part) if not word.startswith(("-Wp,-MMD", "-Wp,-MD"))]
                ready.check[relative_to(words[-1], top)] = words
            elif "kernel-doc -none" in part:
                words = shlex.split(part)
                ready.doc[relative_to(words[-1], top)] = ["env", *words]
    return ready


def complaint(output: str, top: Path) -> str:
    """make's error message in its output."""
    found = re.search(r"^[^\s*]+: \*\*\* .*", output, re.MULTILINE)
    return " ".join(without_code(found[0] if found else commands.tail(output, 1), top))


def relative_to(name: str, top: Path) -> str:
    """A source file's name relative to the tree."""
    return os.path.relpath(name, top) if os.path.isabs(name) else name.removeprefix("../")


def compiles_32_bit() -> bool:
    """Whether gcc can build 32-bit programs with the C library; UML for i386 is one."""
    command = ["gcc", "-m32", "-x", "c", "-", "-o", "/dev/null"]
    done = subprocess.run(command, input=b"#include <stdio.h>\nint main(void) { return 0; }\n", capture_output=True,
                          check=False)
    return done.returncode == 0
