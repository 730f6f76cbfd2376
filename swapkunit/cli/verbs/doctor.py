# SPDX-License-Identifier: GPL-2.0
"""doctor: how well this project's code fits a tree, in a minute."""
from __future__ import annotations

import argparse
import re
import textwrap
from collections import Counter

from ...base.errors import FAILED, GOOD
from ...base.text import plural
from ...build.fit import left_out, misfit_lines
from ...run import mechanisms
from ...run.session import open_session
from .. import options
from ..options import request_of
from ..verb import Verb, statuses

WIDTH = 100
SHAPE = re.compile(r"^#define SWAP_API_(\w+) ([01])$", re.M)


def doctor(args: argparse.Namespace) -> int:
    """Compile this project's own code only, and print what the tree has and what does not fit."""
    session = open_session(request_of(args))
    session.announce()
    with session.layout.lock():
        session.build_own_code()
        header = (session.layout.build / "mm/swap_api.h").read_text()
        found = left_out(session.layout)
        misfits = plural(len(found.misfits), "misfit")
        print(f"\n{len(found.lost)} of {found.cases} cases would not be built, for {misfits}" if found.misfits else
              "\nno misfits: all of this project's code compiles")
        print("".join(f"{line}\n" for line in misfit_lines(session.layout.tree, found)), end="")
        for suite, number in Counter(case.split(".")[0] for case in found.lost).items():
            names = [case.split(".")[1] for case in found.lost if case.startswith(f"{suite}.")]
            print(paragraph(f"not built  {suite}: {plural(number, 'case')}: {', '.join(names)}"))
        print(of_this_tree(mechanisms.find(session.kernel, args.policy), SHAPE.findall(header), args.verbose))
    return FAILED if found.misfits else GOOD


def of_this_tree(found: list[mechanisms.Mechanism], shapes: list[tuple[str, str]], whole: bool) -> str:
    """Which mechanisms and API shapes the tree has; all by name, or only how many."""
    there = [name for name, answer in shapes if answer == "1"]
    about = "forms of kernel functions and structures, from kunit/probe_questions.h"
    if not whole:
        return (f"mechanisms: {sum(bool(one.there) for one in found)} of {len(found)}\n"
                f"shapes:     {len(there)} of {len(shapes)}, {about}\n"
                "--verbose (make: V=1) lists both")
    lists = (("shapes this tree has", there), ("shapes it does not have", [name for name, _ in shapes
                                                                          if name not in there]))
    return "\n\n".join(["", mechanisms.table(found), f"Shapes are {about}.",
                        *(paragraph(f"{what}: {' '.join(names)}") for what, names in lists)]).lstrip("\n")


def paragraph(text: str) -> str:
    """text in lines that fit a terminal."""
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


VERB = Verb("doctor", doctor, "compile only this project's code on a tree, and print what does not fit",
            options.kernel(), statuses("all of it fits", "something does not, and would be left out"))
