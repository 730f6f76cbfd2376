# SPDX-License-Identifier: GPL-2.0
"""Which mechanisms a kernel has, as kunit/mechanisms.py finds them in its source.

configs/kernels.toml lists those that a kernel of a known series must have. One
missing fails a run: the suites would assert another rule, or skip, and stay green.
"""
from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from ..base import commands
from ..build import patches
from ..source import kernels as source
from ..base.errors import SwapKunitError
from ..base.kernel import Kernel
from ..base.layout import POLICIES, REPO
from .results import FAIL, Leaf

PROBE = REPO / "kunit" / "mechanisms.py"
BUILT = "mm/swap_mechanisms.json"   # in a build directory, for the tree as it was built


@dataclass(frozen=True)
class Mechanism:
    """A mechanism of the swap code; wanted where kernels.toml says this kernel must have it.

    by_policy: a policy brings it, or takes it away.
    """

    name: str
    there: bool
    meaning: str
    wanted: bool = False
    by_policy: bool = False

    @property
    def missing(self) -> bool:
        """Whether it should be there and is not."""
        return self.wanted and not self.there and not self.by_policy

    def mark(self) -> str:
        """The word for it in the table."""
        if self.by_policy:
            return "added" if self.there else "removed"
        return "MISSING" if self.missing else "yes" if self.there else "-"


def find(kernel: Kernel, policies: list[str] | None = None) -> list[Mechanism]:
    """What the probe finds in kernel, which need not be built. Raises SwapKunitError."""
    entries = ask_probe(kernel)
    before = {entry.name: entry.there for entry in entries}
    if policies:
        with tempfile.TemporaryDirectory(prefix="swap-kunit-") as name:
            steps = [step for policy in policies for step in patches.steps_of(policy, POLICIES)]
            patches.lay(kernel.path, Path(name, "patched"), steps, [])
            entries = ask_probe(kernel, "--patched", Path(name, "patched"))
    wanted = [] if kernel.given else source.known_kernels().mechanisms_of(kernel.series)
    unknown = set(wanted) - before.keys()
    if unknown:
        raise SwapKunitError(f"cannot tell whether Linux {kernel.version} has {', '.join(sorted(unknown))}: "
                             "configs/kernels.toml wants it and kunit/mechanisms.py does not know it; "
                             "put one of them right")
    return [replace(entry, wanted=entry.name in wanted, by_policy=entry.there != before[entry.name])
            for entry in entries]


def built_into(build: Path) -> list[str]:
    """The names of what the probe found when it was run in this build; none where it did not get so far."""
    try:
        return [entry.name for entry in parse((build / BUILT).read_text(errors="replace")) if entry.there]
    except (OSError, ValueError, TypeError):     # a patch under test may have written it
        return []


def parse(text: str) -> list[Mechanism]:
    """Mechanisms as kunit/mechanisms.py writes them. Raises ValueError or TypeError."""
    return [Mechanism(**entry) for entry in json.loads(text)]


def ask_probe(kernel: Kernel, *options: str | Path) -> list[Mechanism]:
    """What kunit/mechanisms.py finds in a kernel. Raises SwapKunitError."""
    done = commands.run([sys.executable, PROBE, "--srctree", kernel.path, *options], env=commands.kernel_environment())
    try:
        return parse(done.output)
    except (ValueError, TypeError):
        print(commands.tail(done.output), file=sys.stderr)
        raise SwapKunitError(f"cannot tell which mechanisms Linux {kernel.version} has: {PROBE} failed as "
                             "shown above; put it right") from None


def missing_leaves(kernel: Kernel) -> list[Leaf]:
    """A failed result for each mechanism that a kernel known by name lacks; none for KSRC."""
    if kernel.given or not source.known_kernels().mechanisms_of(kernel.series):
        return []
    return [Leaf(f"mechanism.{entry.name}", FAIL, [
        f"failed: the probe does not find it in Linux {kernel.version}: {entry.meaning}",
        "configs/kernels.toml says that this series has it: take it out there where the kernel has",
        "dropped it, or teach kunit/mechanisms.py its new name"]) for entry in find(kernel) if entry.missing]


def table(found: list[Mechanism]) -> str:
    """One line a mechanism: those a policy changes, those that are there, then the others."""
    width = max(len(entry.name) for entry in found)
    rows = sorted(found, key=lambda entry: (not entry.by_policy, not (entry.there or entry.missing)))
    return "\n".join([f"{'mechanism':<{width}}  {'there':<7}  what it means",
                      *(f"{entry.name:<{width}}  {entry.mark():<7}  {entry.meaning}" for entry in rows)])
