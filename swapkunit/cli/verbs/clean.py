# SPDX-License-Identifier: GPL-2.0
"""clean: remove the files of builds and runs."""
from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import shutil
from pathlib import Path

from ...base import ours
from ...base.errors import GOOD, SwapKunitError
from ...base.layout import Layout, cache_dir, own_tops
from ...base.text import relative
from ...coverage import lcov
from ...source import kernels
from .. import options
from ..options import option
from ..verb import Verb, statuses

NAMED = 3       # files that are named because they stay
CACHED = ("kernels", "apt", "bases")


def clean(args: argparse.Namespace) -> int:
    """Remove this clone's output directories or the given one, and on request what is in the cache."""
    if args.out and not ours.is_ours(args.out):
        raise SwapKunitError(f"cannot clean {args.out}: it is not an output directory of swap-kunit "
                             f"(it has no {ours.MARK}); remove it yourself if you mean it")
    tops = [args.out.absolute()] if args.out else [top for top in own_tops() if top.is_dir()]
    found = [(top, directory) for top in tops for directory in ours.below(top)]
    with contextlib.ExitStack() as held:
        for _, directory in found:
            if (directory / ours.LOCK).exists():
                held.enter_context(Layout(directory).lock())
        for top in tops:
            remove(top, [directory for its_top, directory in found if its_top == top])
    if args.cache and cache_dir().exists():
        empty_cache()
    lcov.drop_latest()
    return GOOD


def remove(top: Path, directories: list[Path]) -> None:
    """Remove the output directories in top, the innermost first, and top; name what is not ours."""
    root = next((own for own in own_tops() if own in top.parents), top)
    for directory in filter(Path.exists, dict.fromkeys((*reversed(directories), top))):
        print(f"removing {relative(directory)}", flush=True)
        ours.remove(directory)
        ours.remove_empty(directory.parent, len(directory.relative_to(root).parts))
    left = [Path(parent, name) for parent, _, names in os.walk(top) for name in names]
    if top.exists():
        print(f"left {relative(top)}: it contains {', '.join(map(relative, left[:NAMED])) or 'directories'}"
              f"{' and more' * (len(left) > NAMED)}, not from swap-kunit")


def empty_cache() -> None:
    """Remove fetched kernels, and what comes with them."""
    print(f"removing {', '.join(CACHED)} in {cache_dir()}", flush=True)
    with kernels.locked_cache():
        used = [entry.path for entry in kernels.cached() if not kernels.hold(entry.path, fcntl.LOCK_EX)]
        if used:
            raise SwapKunitError(f"cannot remove {used[0]}: another swap-kunit uses it; wait for it to end")
        for name in CACHED:
            shutil.rmtree(cache_dir() / name, ignore_errors=True)
        (cache_dir() / "lock").unlink()
    ours.remove_empty(cache_dir(), 1)


VERB = Verb("clean", clean, "remove the files of builds and runs",
            (option("--out", make="O", metavar="DIR", type=options.path, help="remove only this output directory"),
             option("--cache", action="store_true", help="remove fetched kernels as well")),
            statuses("everything is removed", unbuilt=""))
