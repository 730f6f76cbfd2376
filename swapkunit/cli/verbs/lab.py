# SPDX-License-Identifier: GPL-2.0
"""lab: experiments in virtual time."""
from __future__ import annotations

import argparse
import json
import time

from ...base import deps, layout
from ...base.errors import FAILED, GOOD
from ...base.text import relative
from ...lab import experiment as experiments
from ...lab import page, table
from ...lab.measure import measure
from .. import options
from ..options import comma_list, option, positive, request_of
from ..verb import Verb, statuses

NAME = "lab"


def lab(args: argparse.Namespace) -> int:
    """Measure experiments, print a table for each, and write them to files."""
    request = request_of(args)
    chosen = [experiments.load(name).with_seeds(args.seeds) for name in args.experiments or experiments.known()]
    top = layout.top_of(request.out)
    request.check()
    deps.require(deps.BUILD | deps.PAGES)
    where = top / NAME
    wrong, found, texts = [], [], []
    for one in chosen:
        started = time.monotonic()
        sides = measure(one, request, top, args.runs)
        found.append((one, sides))
        texts.append(table.text(one, sides))
        print(f"\n{texts[-1]}\n\ntime     {time.monotonic() - started:.1f} s, of which "
              f"{sum(side.seconds for side in sides):.1f} s in UMLs\n", flush=True)
        wrong += [f"{one.name}: {what}" for what in table.wrong(one, sides)]
    where.mkdir(parents=True, exist_ok=True)
    files = {"txt": "\n\n".join(texts) + "\n", "html": page.render(found),
             "json": json.dumps(table.as_json(found), indent=1) + "\n"}
    for kind, text in files.items():
        (where / f"{NAME}.{kind}").write_text(text)
    for what, kind in (("table", "txt"), ("page", "html"), ("numbers", "json")):
        print(f"{what:<8} {relative(where / f'{NAME}.{kind}')}")
    for line in wrong:
        print(f"wrong    {line}")
    print(f"{len(chosen)} experiments, {len(wrong)} not as expected" + f", each run {args.runs} times" *
          (args.runs > 1))
    return FAILED if wrong else GOOD


VERB = Verb(NAME, lab, "compare two kernels or settings under a workload, in virtual time",
            (*options.kernel("out"), options.KERNEL_ARG,
             option("experiments", make="EXPERIMENT", nargs="*", metavar="EXPERIMENT", names=experiments.known,
                    words=lambda _name, value: comma_list(value),
                    help=f"experiments: {', '.join(experiments.known())}, or .toml files; default: all"),
             option("--seeds", make="SEED SEEDS", metavar="A,B", default=[],
                    type=lambda text: [positive(word) for word in comma_list(text)],
                    help="seeds of the workload, instead of the experiment's own"),
             option("--runs", make="RUNS", metavar="N", type=positive, default=1,
                    help="run each N times, and check that it prints the same each time")),
            statuses("the directions are as expected", "one is not, or an experiment failed"))
