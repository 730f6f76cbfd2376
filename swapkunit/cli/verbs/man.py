# SPDX-License-Identifier: GPL-2.0
"""man: the manual page."""
from __future__ import annotations

import argparse
from typing import Callable, Iterable

from .. import man, options
from ..options import option
from ..verb import STATUSES, Verb, statuses
from ...base.errors import GOOD, SwapKunitError
from ...base.layout import default_top, write_whole
from ...base.text import relative


def verb_for(verbs: Callable[[], Iterable[Verb]]) -> Verb:
    """The verb; verbs() are those that the page describes."""
    def write(args: argparse.Namespace) -> int:
        target = args.out or default_top() / "swap-kunit.1"
        page = man.page(verbs(), STATUSES)
        if target.exists() and not (target.is_file() and target.read_bytes().startswith(man.MADE.encode())):
            raise SwapKunitError(f"cannot write the manual page to {target}: it exists, and is no page of swap-kunit; "
                                 "give another file with --out (make: O=)")
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, page)
        print(f"{relative(target)}: read it with `man -l {relative(target)}`, or copy it to "
              "~/.local/share/man/man1 for `man swap-kunit`")
        return GOOD

    return Verb("man", write, "write the manual page swap-kunit.1",
                (option("--out", make="O", metavar="FILE", type=options.path,
                        help="file to write; default out/swap-kunit.1"),),
                statuses("the page is written", unbuilt=""))
