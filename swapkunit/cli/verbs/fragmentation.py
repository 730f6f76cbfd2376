# SPDX-License-Identifier: GPL-2.0
"""bench-fragmentation: how often large folios find no slots."""
from __future__ import annotations

import argparse

from ...base.errors import GOOD
from ...base.text import relative
from ...decisions.fragmentation import KERNELS, SEED, STEPS, bench
from .. import options
from ..options import KERNEL_ARG, VERBOSE, comma_list, option, positive, request_of, seconds
from ..verb import Verb, statuses


def fragmentation(args: argparse.Namespace) -> int:
    """Measure every kernel, print the table, and write it to files."""
    files = bench(args.kernels or KERNELS, request_of(args), args.steps, args.seed)
    for what, path in zip(("table", "numbers"), files):
        print(f"{what:<8} {relative(path)}")
    return GOOD


VERB = Verb("bench-fragmentation", fragmentation, "measure how often large folios find no slots, on several kernels",
            (*options.BUILD, KERNEL_ARG, VERBOSE,
             option("--kernels", make="KERNELS KERNEL", metavar="A,B", default=[], type=comma_list,
                    help="versions such as 7.3, 6.12 or 7.3+free-first, or trees; each is compared with the last; "
                         f"default: {','.join(KERNELS)}"),
             option("--seed", make="SEED", metavar="N", type=positive, default=SEED,
                    help=f"seed of the workload, a simulated build; default {SEED}"),
             option("--steps", make="STEPS", metavar="N", type=positive, default=STEPS,
                    help=f"number of steps of the workload; default {STEPS}"),
             option("--timeout", metavar="SECONDS", type=seconds, default=120.0,
                    help="kill a UML that prints nothing for SECONDS; default 120"),
             option("--out", make="O", metavar="DIR", type=options.path,
                    help="directory for the tables and all output directories; default out")),
            statuses("the table is printed", "the benchmark failed on a kernel"))
