# SPDX-License-Identifier: GPL-2.0
"""decisions: which decisions differ between two kernels."""
from __future__ import annotations

import argparse

from ...base import deps, layout
from ...base.errors import FAILED, GOOD
from ...base.text import relative
from ...decisions import diff, sides, text
from ...decisions.diff import SIDES
from .. import options
from ..options import CONFIG, VERBOSE, option, request_of
from ..verb import Verb, statuses


def decisions(args: argparse.Namespace) -> int:
    """Run both sides, print and write what differs; FAILED if anything does."""
    both = [sides.parse_side(letter, asked) for letter, asked in zip(SIDES, (args.a, args.b))]
    request = request_of(args)
    request.check()
    sides.check(both)
    deps.require({**deps.BUILD, **deps.PAGES})
    top = layout.top_of(args.out)
    located = sides.locate_both(both, args.config, top)
    difference = diff.compare(*sides.record_both(located, request))
    print()
    for what, path in zip(("text", "json", "page"), sides.write(difference, located, top)):
        print(f"{what:<5} {relative(path)}")
    print(f"\n{text.render(difference)}", flush=True)
    return GOOD if difference.same else FAILED


SIDE = "a kernel tree or a version such as 7.3; + adds a policy, as in 7.3+free-first"
VERB = Verb("decisions", decisions, "show which decisions differ between two kernels; builds and runs both",
            (*options.BUILD, *options.CASES, CONFIG, VERBOSE,
             option("a", make="A", metavar="A", help=SIDE), option("b", make="B", metavar="B", help=SIDE),
             option("--out", make="O", metavar="DIR", type=options.path,
                    help="directory for decisions/ and both output directories; default out")),
            statuses("no decision differs",
                     "decisions differ, or a case fails, crashes or is missing on one side"))
