# SPDX-License-Identifier: GPL-2.0
"""Which mechanisms a kernel has, as kunit/probe.py finds them in its source.

configs/kernels.toml lists those that a kernel of a known series must have. One
missing fails a run: the suites would assert another rule, or skip, and stay green.
"""
from __future__ import annotations

import argparse
import contextlib
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from . import commands, source
from .errors import FAILED, GOOD, SwapKunitError
from .kernel import Kernel, examine
from .layout import REPO
from .results import FAIL, Leaf

PROBE = REPO / "kunit" / "probe.py"


@dataclass(frozen=True)
class Mechanism:
    """A mechanism of the swap code; wanted where kernels.toml says this kernel must have it."""

    name: str
    there: bool
    meaning: str
    wanted: bool = False

    @property
    def missing(self) -> bool:
        """Whether it should be there and is not."""
        return self.wanted and not self.there

    def mark(self) -> str:
        """The word for it in the table."""
        return "MISSING" if self.missing else "yes" if self.there else "-"


def find(kernel: Kernel) -> list[Mechanism]:
    """What the probe finds in kernel, which need not be built. Raises SwapKunitError."""
    command = [sys.executable, PROBE, "--srctree", kernel.path, "--presence"]
    done = commands.run(command, env=commands.kernel_environment())
    try:
        found = json.loads(done.output)
    except ValueError:
        print(commands.tail(done.output), file=sys.stderr)
        raise SwapKunitError(f"cannot tell which mechanisms Linux {kernel.version} has: {PROBE} failed as "
                             "shown above; put it right") from None
    wanted = [] if kernel.given else source.known_kernels().mechanisms_of(kernel.series)
    unknown = set(wanted) - {entry["name"] for entry in found}
    if unknown:
        raise SwapKunitError(f"cannot tell whether Linux {kernel.version} has {', '.join(sorted(unknown))}: "
                             "configs/kernels.toml wants it and kunit/probe.py does not know it; "
                             "put one of them right")
    return [Mechanism(entry["name"], entry["there"], entry["meaning"], entry["name"] in wanted)
            for entry in found]


def missing_leaves(kernel: Kernel) -> list[Leaf]:
    """A failed result for each mechanism that a kernel known by name lacks; none for KSRC."""
    if kernel.given or not source.known_kernels().mechanisms_of(kernel.series):
        return []
    return [Leaf(f"mechanism.{entry.name}", FAIL, [
        f"failed: the probe does not find it in Linux {kernel.version}: {entry.meaning}",
        "configs/kernels.toml says that this series has it: take it out there where the kernel has",
        "dropped it, or teach kunit/probe.py its new name"]) for entry in find(kernel) if entry.missing]


# -- the verb ----------------------------------------------------------------


def presence(args: argparse.Namespace) -> int:
    """Print what the probe finds; FAILED when a known kernel lacks what it must have."""
    if args.ksrc is not None and args.kernel:
        raise SwapKunitError(f"cannot look at both the tree {args.ksrc} and the kernel {args.kernel}: "
                             "--ksrc and --kernel exclude each other; give one of them")
    with contextlib.redirect_stdout(sys.stderr if args.json else sys.stdout):
        kernel = examine(args.ksrc) if args.ksrc is not None else source.provide(args.kernel)
    found = find(kernel)
    if args.json:
        print(json.dumps({"kernel": kernel.version, "origin": kernel.origin,
                          "mechanisms": [asdict(entry) for entry in found]}, indent=1))
    else:
        print(f"Linux {kernel.version}, {kernel.origin}\n\n{table(found)}")
    return FAILED if any(entry.missing for entry in found) else GOOD


def table(found: list[Mechanism]) -> str:
    """One line a mechanism: those that are there, then the others."""
    width = max(len(entry.name) for entry in found)
    rows = sorted(found, key=lambda entry: not (entry.there or entry.missing))
    return "\n".join([f"{'mechanism':<{width}}  {'there':<7}  what it means",
                      *(f"{entry.name:<{width}}  {entry.mark():<7}  {entry.meaning}" for entry in rows)])


def presence_options(parser: argparse.ArgumentParser) -> None:
    """presence's own arguments."""
    parser.add_argument("--ksrc", metavar="DIR", type=Path,
                        help="kernel tree to look at; it is only read (make: KSRC=)")
    parser.add_argument("--kernel", metavar="VERSION",
                        help="kernel to fetch from Debian, such as 7.3 or 6.12; without it and --ksrc "
                             "the newest 7.x (make: KERNEL=)")
    parser.add_argument("--json", action="store_true", help="as JSON (make: JSON=1)")


VERBS = {
    "presence": (presence, (presence_options,),
                 "tell which mechanisms a kernel has, and so what the suites assert; nothing is built"),
}
