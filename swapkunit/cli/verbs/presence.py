# SPDX-License-Identifier: GPL-2.0
"""presence: which mechanisms a kernel has."""
from __future__ import annotations

import argparse
import contextlib
import json
import sys
from dataclasses import asdict

from ...base.errors import FAILED, GOOD
from ...run import mechanisms
from .. import options
from ..options import option, request_of
from ..verb import Verb, statuses


def presence(args: argparse.Namespace) -> int:
    """Print the mechanisms that the probe finds; FAILED if a known kernel lacks a required one."""
    with contextlib.redirect_stdout(sys.stderr if args.json else sys.stdout):
        kernel = request_of(args).find_kernel()
    found = mechanisms.find(kernel, args.policy)
    if args.json:
        print(json.dumps({"kernel": kernel.version, "origin": kernel.origin, "policies": args.policy,
                          "mechanisms": [asdict(entry) for entry in found]}, indent=1))
    else:
        policies = f", with {', '.join(args.policy)}" if args.policy else ""
        print(f"Linux {kernel.version}, {kernel.origin}{policies}\n\n{mechanisms.table(found)}")
    return FAILED if any(entry.missing for entry in found) else GOOD


VERB = Verb("presence", presence,
            "print which mechanisms a kernel has, and so what the suites assert, without building it",
            (options.KSRC, options.KERNEL, options.POLICY,
             option("--json", make="JSON", action="store_true", help="print JSON")),
            statuses("the mechanisms are printed", "a kernel in configs/kernels.toml lacks one that it should have",
                     unbuilt=""))
