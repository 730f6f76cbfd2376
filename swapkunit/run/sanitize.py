# SPDX-License-Identifier: GPL-2.0
"""Run the suites under each of the kernel's sanitizers; a report in a case fails that case."""
from __future__ import annotations

import re
from typing import Sequence

from ..base.errors import SwapKunitError
from ..base.text import did_you_mean
from ..source import kernels
from .matrix import Cell, matrix
from .session import Request

# Each is a fragment of configs/; what the Kconfig of ARCH=um must select or have for it.
SANITIZERS = {"kasan": "HAVE_ARCH_KASAN", "ubsan": "ARCH_HAS_UBSAN(_SANITIZE_ALL)?", "lockdep": "",
              "debug_objects": "", "kmemleak": "HAVE_DEBUG_KMEMLEAK", "kcsan": "HAVE_ARCH_KCSAN"}
KCONFIGS = ("arch/um/Kconfig", "arch/x86/um/Kconfig", "arch/um/Kconfig.debug")


def choose(asked: Sequence[str], turn: int | None) -> list[str]:
    """The sanitizers asked for, all without any; with a turn only the one whose turn it is.

    "kasan+ubsan" is both in one kernel. Raises SwapKunitError for an unknown one.
    """
    for name in (name for text in asked for name in text.split("+")):
        if name not in SANITIZERS:
            raise SwapKunitError(f"cannot run the sanitizer '{name}': {did_you_mean(name, SANITIZERS)}"
                                 f"the sanitizers are {', '.join(SANITIZERS)} (--sanitizer, make: SANITIZER=)")
    chosen = list(asked) or list(SANITIZERS)
    return chosen if turn is None else [chosen[turn % len(chosen)]]


def lacking(cell: Cell) -> str:
    """What the cell's kernel lacks for its sanitizers, or ""."""
    if cell.kernel is None:
        return ""
    text = "".join((cell.kernel.path / name).read_text(errors="replace")
                   for name in KCONFIGS if (cell.kernel.path / name).is_file())
    missing = [needed.partition("(")[0] for needed in (SANITIZERS.get(name, "") for name in cell.config)
               if needed and not re.search(rf"\b{needed}\b", text)]
    return f"ARCH=um of Linux {cell.kernel.version} has no {' and no '.join(missing)}" if missing else ""


def sanitize(request: Request, asked: list[str], names: list[str], turn: int | None) -> int:
    """Run the suites under the sanitizers on each kernel asked for; returns the exit status.

    asked: as for matrix(); without it the default kernel. names, turn: as for choose().
    """
    configs = ["+".join([*request.config, name]) for name in choose(names, turn)]
    if not asked and request.ksrc is None:
        asked = [kernels.known_kernels().default]
    return matrix(request, asked, configs, lacking)
