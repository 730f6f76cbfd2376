# SPDX-License-Identifier: GPL-2.0
"""clean: remove the files of builds and runs."""
from __future__ import annotations

import argparse
import contextlib
import shutil

from ...base.errors import GOOD, SwapKunitError
from ...base.layout import REPO, Layout, cache_dir
from ...coverage import lcov
from .. import options
from ..options import option
from ..verb import Verb, statuses


def clean(args: argparse.Namespace) -> int:
    """Remove output directories, and on request fetched kernels."""
    targets = [args.out] if args.out else [REPO / "out", cache_dir() / "out"]
    if args.cache:
        targets.append(cache_dir())
    for target in (target for target in targets if target.exists()):
        if args.out and not (target / ".lock").exists():
            raise SwapKunitError(f"cannot clean {target}: it is not an output directory of swap-kunit "
                                 "(it has no .lock); remove it yourself if you mean it")
        with contextlib.ExitStack() as held:
            for lock in (*target.glob(".lock"), *target.glob("*/*/.lock")):
                held.enter_context(Layout(lock.parent).lock())
            print(f"removing {target}", flush=True)
            shutil.rmtree(target)
    lcov.drop_latest()
    return GOOD


VERB = Verb("clean", clean, "remove the files of builds and runs",
            (option("--out", make="O", metavar="DIR", type=options.path, help="remove only this output directory"),
             option("--cache", action="store_true", help="remove fetched kernels as well")),
            statuses("everything is removed", unbuilt=""))
