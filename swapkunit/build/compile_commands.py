# SPDX-License-Identifier: GPL-2.0
"""compile_commands.json for clangd: of the kernel tree's files and of this project's, not of the overlay's links."""
from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

from ..base import commands
from ..base.errors import SwapKunitError
from ..base.layout import REPO, Layout, write_whole
from .overlay import OWN_DIR
from .sources import OWN, find

SCRIPT = Path("scripts/clang-tools/gen_compile_commands.py")    # in the tree


def write(layout: Layout) -> Path:
    """Write compile_commands.json for the kernel just built; returns its path. Raises SwapKunitError."""
    target = layout.out / "compile_commands.json"
    command: list[str | Path] = [sys.executable, SCRIPT, "-d", layout.build, "-o", target]
    commands.show(command, layout.tree)
    done = commands.run(command, cwd=layout.tree, env=commands.kernel_environment())
    if done.status:
        raise SwapKunitError(f"cannot write {target}: {SCRIPT} of the kernel failed: {commands.tail(done.output, 1)}; "
                             "leave out --compile-commands (make: COMPILE_COMMANDS=)")
    entries = json.loads(target.read_text())
    write_whole(target, json.dumps([new for entry in entries for new in of_sources(entry, layout.tree)], indent=1))
    return target


def of_sources(entry: dict[str, str], tree: Path) -> list[dict[str, str]]:
    """An entry about a file of the overlay as entries about the file it leads to; a wrapper stands for two."""
    command, _, last = entry["command"].rpartition(" ")
    name = os.path.relpath(os.path.join(entry["directory"], last), tree)
    ours = name.startswith(f"{OWN_DIR}/") or (REPO / name).is_file()
    files = [find(tree, OWN + name)] * ours + [find(tree, name)] * (not name.startswith(f"{OWN_DIR}/"))
    beside = f" -iquote {os.path.dirname(os.path.join(tree, name))}"      # what a wrapper includes lies there
    return [{"directory": entry["directory"], "file": str(file),
             "command": f"{command}{beside} {shlex.quote(str(file))}"} for file in files if file]
