# SPDX-License-Identifier: GPL-2.0
"""bench-fragmentation: how often large folios find no slots, on several kernels.

The workload is kunit/suites/swap_bench_fragmentation_kunit.c; it takes the same steps on every kernel, given the
same seed. There is a column for each kernel. One that uses nonfull clusters before free ones has a second column
for a device that discards, where free clusters come first.
"""
from __future__ import annotations

import csv
import io
import re
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import sides
from .sides import Side
from ..base import deps, layout
from ..base.errors import FAILED, SwapKunitError
from ..run.runner import Results
from ..run.session import Request, open_session

SUITE = "swap_bench_fragmentation"
NAME = "bench-fragmentation"
CONFIG = ["thp"]
KERNELS = ["6.12", "7"]
STEPS = 600000
SEED = 0x5357a94b
LINE = re.compile(r"# .*?: fragmentation: (.*?): order (\d+): swpout (\d+) fallback (\d+)")
TOTALS = re.compile(r"# .*?: fragmentation: (.*?): pages (\d+) peak (\d+) started (\d+) full (\d+)")
DISCARD = ", discard"
NOTE = """A 2 MB folio never comes from a nonfull cluster. It needs a whole free one, and more of these are left
if nonfull clusters are used up first."""
# The figures published with the change from free first to nonfull first (8 GB and 10 GB of zram, make -j96):
# (swpout, fallback) of free first, then of nonfull first.
PUBLISHED = {
    ("64 kB, tight", 4): ((1659757, 139503), (1689470, 56147)),
    ("64 kB, roomy", 4): ((1791142, 17676), (1811598, 0)),
    ("all sizes, roomy", 5): ((451599, 54525), (502710, 870)),
    ("all sizes, roomy", 6): ((63652, 2708), (65913, 20)),
    ("all sizes, roomy", 7): ((11663, 1767), (14480, 6)),
    ("all sizes, roomy", 9): ((24, 1442), (1329, 7)),
}


@dataclass
class Column:
    """The figures of one kernel with one kind of device; counts: (workload, order) -> (swpout, fallback)."""

    name: str
    version: str
    discard: bool = False
    counts: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    totals: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The heading of the column."""
        return self.name + (DISCARD if self.discard else "")


class BenchmarkFailed(SwapKunitError):
    """The workload did not run to its end."""

    code = FAILED


# -- measuring ---------------------------------------------------------------


def measure(side: Side, asked: Request) -> list[Column]:
    """Build one kernel and run the workload. Raises SwapKunitError."""
    started = time.monotonic()
    print(f"{side.wanted.asked}: Linux {side.kernel.version}, {side.kernel.origin}", flush=True)
    session = open_session(side.request(asked))
    with session.layout.lock():
        session.build_kernel()
        results = session.run_suites()
    if results.interrupted:
        raise KeyboardInterrupt
    print(f"{side.wanted.asked}: measured ({time.monotonic() - started:.1f} s)", flush=True)
    return columns(side, results)


def columns(side: Side, results: Results) -> list[Column]:
    """The columns that the workload's output makes. Raises SwapKunitError if it failed."""
    lines = [line for suite in results.suites for case in suite.cases for line in case.lines]
    if not all(case.passed() for suite in results.suites for case in suite.cases):
        print("\n".join(lines[-20:]))
        raise BenchmarkFailed(f"cannot measure {side.wanted.asked}: the benchmark failed as shown above; its "
                              f"console is in {side.out / 'logs'}")
    name = "+".join([side.kernel.version, *side.wanted.policies])
    found = {flag: Column(name, side.kernel.version, flag) for flag in (False, True)}
    for line in lines:
        count, total = LINE.search(line), TOTALS.search(line)
        if count:
            column = found[count[1].endswith(DISCARD)]
            column.counts[count[1].removesuffix(DISCARD), int(count[2])] = (int(count[3]), int(count[4]))
        elif total:
            column = found[total[1].endswith(DISCARD)]
            column.totals[total[1].removesuffix(DISCARD)] = (
                f"{total[4]} compilers, at most {int(total[3]) / int(total[2]):.1%} of the slots in use"
                + (f", none left {total[5]} times" if int(total[5]) else ""))
    if not found[False].counts:
        raise SwapKunitError(f"cannot measure {side.wanted.asked}: its swap code has no cluster lists by order, or "
                             "does not swap large folios; use a newer kernel")
    return [column for column in (found[True], found[False]) if column.counts]


# -- tables ------------------------------------------------------------------


def size(order: int) -> str:
    """The size of a folio: "64 kB"."""
    kilobytes = 4 << order
    return f"{kilobytes} kB" if kilobytes < 1024 else f"{kilobytes >> 10} MB"


def factor(before: tuple[int, int], after: tuple[int, int]) -> str:
    """fallbacks before / after, such as "2.5"; "7:0" if none is left, "-" if there were none."""
    if not after[1]:
        return f"{before[1]}:0" if before[1] else "-"
    return f"{before[1] / after[1]:.1f}"


def table(measured: list[Column], head: str) -> str:
    """The columns side by side, each compared with the last, and the published figures."""
    last, others = measured[-1], measured[:-1]
    wide = [max(9, len(column.title)) for column in others]
    titles = "".join(f"  {column.title:^24}" for column in measured)
    against = "".join(f"  {column.title:>{width}}" for column, width in zip(others, wide))
    lines = [head, "", f"{'':8}{titles}  fallbacks / those of {last.title}",
             f"{'':8}" + f"  {'swpout':>8} {'fallback':>8} {'':6}" * len(measured) + against + "  published"]
    for workload in dict.fromkeys(name for name, _ in last.counts):
        lines += ["", f"{workload}: {totals(measured, workload)}"]
        for key in (key for key in last.counts if key[0] == workload):
            counts = [column.counts.get(key, (0, 0)) for column in measured]
            cells = "".join(f"  {done:>8} {fell:>8} {fell / max(done + fell, 1):>6.1%}" for done, fell in counts)
            factors = "".join(f"  {factor(pair, last.counts[key]):>{width}}" for pair, width in zip(counts, wide))
            known = f"  {factor(*PUBLISHED[key]):>9}" if key in PUBLISHED else ""
            lines.append(f"{size(key[1]):>8}{cells}{factors}{known}".rstrip())
    return "\n".join([*lines, "", NOTE])


def totals(measured: list[Column], workload: str) -> str:
    """How full the areas were; once if it is the same for all columns."""
    used = {column.title: column.totals.get(workload, "") for column in measured}
    if len(set(used.values())) == 1:
        return next(iter(used.values()))
    return "; ".join(f"{title}: {text}" for title, text in used.items())


def as_csv(measured: list[Column]) -> str:
    """A line for each column, workload and order."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["kernel", "discard", "workload", "order", "size_kb", "swpout", "swpout_fallback"])
    for column in measured:
        for (workload, order), counts in column.counts.items():
            writer.writerow([column.name, int(column.discard), workload, order, 4 << order, *counts])
    return text.getvalue()


def bench(kernels: list[str], request: Request, steps: int, seed: int) -> list[Path]:
    """Measure every kernel, print the table, and write table and figures; returns their paths.

    request: how to build and run each.
    """
    top = layout.top_of(request.out)
    words = [f"{SUITE}.steps={steps}", f"{SUITE}.seed={seed}"]
    asked = replace(request, config=CONFIG, filters=[SUITE], kernel_args=[*words, *request.kernel_args])
    wanted = [sides.parse_side("kernel", text) for text in kernels]
    request.check()
    sides.check(wanted)
    deps.require(deps.BUILD)
    found = [sides.locate(one, CONFIG, top) for one in wanted]
    measured = [column for side in found for column in measure(side, asked)]
    head = f"Large folios that found no contiguous slots: {steps} steps of a build, seed {seed}"
    files = {"txt": table(measured, head) + "\n", "csv": as_csv(measured)}
    for kind, text in files.items():
        (top / f"{NAME}.{kind}").write_text(text)
    print(f"\n{files['txt']}")
    return [top / f"{NAME}.{kind}" for kind in files]
