# SPDX-License-Identifier: GPL-2.0
"""Which mechanisms a kernel has, as kunit/mechanisms.py finds them in its source.

configs/kernels.toml lists those that a kernel of a known series must have. A missing
one fails the run: the suites would silently skip, or assert another rule.
"""
from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from ..base import commands
from ..base.errors import SwapKunitError
from ..base.kernel import Kernel
from ..base.layout import POLICIES, REPO
from ..build import patches
from ..source import kernels
from .results import FAIL, TestResult

PROBE = REPO / "kunit" / "mechanisms.py"
BUILT = "mm/swap_mechanisms.json"   # in a build directory: those of the tree that was built


@dataclass(frozen=True)
class Mechanism:
    """A mechanism of the swap code.

    there: the kernel has it; None if that cannot be told. meaning: completes "a kernel where ...". wanted: kernels.toml
    lists it for this kernel. by_policy: a policy adds or removes it.
    """

    name: str
    there: bool | None
    meaning: str
    wanted: bool = False
    by_policy: bool = False

    @property
    def missing(self) -> bool:
        """Whether it is wanted, absent, and not removed by a policy."""
        return self.wanted and not self.there and not self.by_policy

    def mark(self) -> str:
        """Its state as a word for the table."""
        if self.by_policy:
            return "unknown" if self.there is None else "added" if self.there else "removed"
        return "MISSING" if self.missing else {True: "yes", False: "-", None: "unknown"}[self.there]


def find(kernel: Kernel, policies: list[str] | None = None) -> list[Mechanism]:
    """The mechanisms of a kernel, with policies applied; nothing is built. Raises SwapKunitError."""
    entries = ask_probe(kernel)
    before = {entry.name: entry.there for entry in entries}
    if policies:
        with tempfile.TemporaryDirectory(prefix="swap-kunit-") as name:
            steps = [step for policy in policies for step in patches.steps_of(policy, POLICIES)]
            patches.lay(kernel.path, Path(name, "patched"), steps, [])
            entries = ask_probe(kernel, "--patched", Path(name, "patched"))
    wanted = [] if kernel.given else kernels.known_kernels().mechanisms_of(kernel.series)
    unknown = set(wanted) - before.keys()
    if unknown:
        raise SwapKunitError(f"cannot tell whether Linux {kernel.version} has {', '.join(sorted(unknown))}: "
                             "configs/kernels.toml lists it, but kunit/mechanisms.py does not know it; "
                             "correct one of them")
    return [replace(entry, wanted=entry.name in wanted, by_policy=entry.there != before[entry.name])
            for entry in entries]


def built_into(build: Path) -> list[str]:
    """Names of the mechanisms of the tree in this build directory; empty if the build did not get that far.

    One that is there or not, which cannot be told, has " (unknown)" behind its name.
    """
    try:
        return [f"{entry.name}{'' if entry.there else ' (unknown)'}"
                for entry in parse((build / BUILT).read_text(errors="replace")) if entry.there is not False]
    except (OSError, ValueError, TypeError):     # a patch under test may have written it
        return []


def parse(text: str) -> list[Mechanism]:
    """Read the JSON that kunit/mechanisms.py writes. Raises ValueError or TypeError."""
    return [Mechanism(**entry) for entry in json.loads(text)]


def ask_probe(kernel: Kernel, *options: str | Path) -> list[Mechanism]:
    """Run kunit/mechanisms.py on a kernel. Raises SwapKunitError."""
    done = commands.run([sys.executable, PROBE, "--srctree", kernel.path, *options], env=commands.kernel_environment())
    try:
        return parse(done.output)
    except (ValueError, TypeError):
        print(commands.tail(done.output), file=sys.stderr)
        raise SwapKunitError(f"cannot tell which mechanisms Linux {kernel.version} has: {PROBE} failed as "
                             "shown above; fix it") from None


def missing_tests(kernel: Kernel) -> list[TestResult]:
    """A failed result for each mechanism that a known kernel lacks; none for a given tree."""
    if kernel.given or not kernels.known_kernels().mechanisms_of(kernel.series):
        return []
    return [TestResult(f"mechanism.{entry.name}", FAIL, [
        f"failed: the probe does not find it in Linux {kernel.version}: {entry.meaning}",
        "configs/kernels.toml lists it for this series: remove it there if the kernel dropped it,",
        "or teach kunit/mechanisms.py its new name"]) for entry in find(kernel) if entry.missing]


def table(found: list[Mechanism]) -> str:
    """One line per mechanism: first those that a policy changes, then those present, then the others."""
    width = max(len(entry.name) for entry in found)
    rows = sorted(found, key=lambda entry: (not entry.by_policy, not (entry.there is not False or entry.missing)))
    return "\n".join([f"{'mechanism':<{width}}  {'there':<7}  what it means",
                      *(f"{entry.name:<{width}}  {entry.mark():<7}  {entry.meaning}" for entry in rows)])
