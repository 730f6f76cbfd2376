# SPDX-License-Identifier: GPL-2.0
"""tree and fetch: make a tree for plain kunit.py; fetch a kernel."""
from __future__ import annotations

import argparse

from ...base.errors import GOOD, SwapKunitError, advising
from ...build.overlay import MANIFEST, check_tree_path
from ...run.session import open_session
from ...source import kernels
from .. import options
from ..options import option, request_of
from ..verb import Verb, statuses


def tree(args: argparse.Namespace) -> int:
    """Make a complete tree for plain kunit.py."""
    session = open_session(request_of(args))
    target = args.tree.absolute()
    with advising("with --tree (make: TREE=)", instead="with --out (make: O=)"):
        check_tree_path(target)
    if target.exists() and any(target.iterdir()) and not (target / MANIFEST).exists():
        raise SwapKunitError(f"cannot make a tree in {target}: it contains files that are not from "
                             "swap-kunit; give a new or empty directory with --tree (make: TREE=)")
    result = session.overlay(target).sync()
    for note in result.notes:
        print(f"swap-kunit: {note}")
    print(f"{target}: Linux {session.kernel.version} with mm/kunit added, "
          f"{result.directories} directories ({result.seconds:.1f} s)")
    print(f"$ cd {target} && ./tools/testing/kunit/kunit.py run --kunitconfig=mm/kunit")
    return GOOD


def fetch(args: argparse.Namespace) -> int:
    """Fetch and unpack the newest version that the mirror has."""
    kernel = kernels.provide(args.kernel, ask_mirror=True)
    print(f"Linux {kernel.version}, {kernel.origin}: {kernel.path}")
    return GOOD


VERBS = (
    Verb("tree", tree, "make a tree in which plain kunit.py runs the suites",
         (*options.kernel(), option("--tree", make="TREE", metavar="DIR", type=options.path, required=True,
                                    help="directory for the tree; new or empty")),
         statuses("the tree is complete", unbuilt="")),
    Verb("fetch", fetch, "fetch the newest kernel source of a series from Debian",
         (option("--kernel", make="KERNEL", metavar="VERSION", help="such as 7.3 or 6.12; default: the newest 7.x"),),
         statuses("the source is fetched and unpacked", unbuilt="")),
)
