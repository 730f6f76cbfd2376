# SPDX-License-Identifier: GPL-2.0
"""matrix: several kernels and configurations in one table."""
from __future__ import annotations

from ...run.matrix import matrix
from .. import options
from ..options import Option, comma_list, option, request_of
from ..verb import Verb, statuses

TREE = option("--ksrc", make="KSRC", metavar="DIR", type=options.path,
              help="a kernel tree to test besides --kernels, or alone")
OUT = option("--out", make="O", metavar="DIR", type=options.path, help="parent of all output directories; default out")


def kernels(default: str) -> Option:
    """--kernels; default: for the help."""
    return option("--kernels", make="KERNELS KERNEL", metavar="A,B", default=[], type=comma_list,
                  help=f"versions to fetch, such as 7,6.12, or directories of kernel trees; default: {default}")


VERB = Verb("matrix", lambda args: matrix(request_of(args), args.kernels, args.configs),
            "run the suites on several kernels and configurations, and print one table",
            (*options.BUILD, *options.CASES,
             kernels("all kernels in configs/kernels.toml"),
             option("--configs", make="CONFIGS CONFIG", metavar="A,B", default=[], type=comma_list,
                    help="fragments from configs/, each a configuration of its own; + combines them, as in "
                         "kasan+lockdep; plain means none; default: plain"),
             TREE, OUT),
            statuses("all cases passed everywhere",
                     "a case failed, crashed or hung; if runs end with different statuses, the highest counts"))
