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
        print(f"\n{mechanisms.table(mechanisms.find(session.kernel, args.policy))}")
        shapes = SHAPE.findall(header)
        for there, what in (("1", "shapes this tree has"), ("0", "shapes it does not have")):
            print("\n" + paragraph(f"{what}: {' '.join(name for name, answer in shapes if answer == there)}"))
    return FAILED if found.misfits else GOOD


def paragraph(text: str) -> str:
    """text in lines that fit a terminal."""
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


VERB = Verb("doctor", doctor, "compile only this project's code on a tree, and print what does not fit",
            options.kernel(), statuses("all of it fits", "something does not, and would be left out"))
