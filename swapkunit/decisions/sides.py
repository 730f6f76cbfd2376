# SPDX-License-Identifier: GPL-2.0
"""`decisions`: build and run two kernels, and show what they decide otherwise.

A side is a directory, or a version to fetch, and policies behind it: 7.3+free-first.
Each is built and run where `run` does it; what differs is put beside them, in
decisions/A--B.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import diff as decisions, page as decisions_page, text as decisions_text
from ..base import deps, layout
from ..build import patches
from ..run import session as sessions
from ..source import kernels as source
from .diff import SIDES, Difference, Recorded
from ..base.errors import FAILED, GOOD, Interrupted, SwapKunitError
from ..base.kernel import Kernel, examine
from ..run.session import Request
from ..run.verdict import relative

NAME = "decisions-diff"
# A version, where a + is followed by a digit (7.3.4-1~bpo13+1); then the policies.
VERSION = re.compile(r"(\d[^+/]*(?:\+\d[^+/]*)*)((?:\+[a-z][\w-]*)*)")


@dataclass
class Side:
    """One of the two: as it was asked for, and what was found for it."""

    letter: str
    asked: str
    tree: Path | None
    version: str | None
    policies: list[str] = field(default_factory=list)
    kernel: Kernel | None = None
    out: Path | None = None

    @property
    def identity(self) -> tuple:
        """Equal for two sides that are one."""
        return os.path.realpath(self.kernel.path), tuple(self.policies)

    @property
    def name(self) -> str:
        """For people: what was asked for, with the version it came to."""
        return f"{self.asked} (Linux {self.kernel.version})"


def locate(side: Side, config: list[str], top: Path) -> None:
    """Find or fetch a side's kernel, and give it its output directory. Raises SwapKunitError."""
    side.kernel = examine(side.tree) if side.tree else source.provide(side.version)
    side.out = layout.default_out(side.kernel, config, side.policies, top)


def request_of(side: Side, args: argparse.Namespace, config: list[str], filters: list[str],
               kernel_args: list[str]) -> Request:
    """A located side's run; a fetched kernel is named exactly, so that no mirror is asked again."""
    kernel = {"ksrc": side.kernel.path} if side.kernel.given else {"kernel": source.exact_version(side.kernel)}
    return Request(**kernel, config=config, policies=side.policies, filters=filters, out=side.out, jobs=args.jobs,
                   timeout=args.timeout, verbose=args.verbose, quiet=True,
                   kunitconfig=getattr(args, "kunitconfig", None), make_options=args.make_option,
                   kernel_args=[*kernel_args, *(word for arg in args.kernel_arg for word in arg.split())])


def parse_side(letter: str, text: str) -> Side:
    """DIR[+POLICY...] or VERSION[+POLICY...]. Raises SwapKunitError.

    A + may be part of a directory's name, and of a Debian version.
    """
    version = VERSION.fullmatch(text)
    if version:
        side = Side(letter, text, None, version[1], version[2].split("+")[1:])
    else:
        parts = text.split("+")
        splits = [("+".join(parts[:end]), parts[end:]) for end in range(len(parts), 0, -1)]
        base, names = next((split for split in splits if Path(split[0]).expanduser().is_dir()), splits[-1])
        side = Side(letter, text, Path(base).expanduser(), None, names)
    if not text.strip("+"):
        raise SwapKunitError(f"cannot tell which kernel {letter}='{text}' is; give a tree or a version, such as "
                             "~/linux, 7.3 or 7.3+free-first")
    for name in side.policies:
        patches.steps_of(name, layout.POLICIES)
    return side


def find(sides: list[Side], config: list[str], top: Path) -> None:
    """Find or fetch the kernels, and give each side an output directory of its own."""
    for side in sides:
        locate(side, config, top)
    first, second = sides
    if first.out == second.out and first.identity != second.identity:
        second.out = second.out.parent.with_name(source.exact_version(second.kernel)) / second.out.name


def record(side: Side, args: argparse.Namespace) -> Recorded:
    """Build and run one side."""
    started = time.monotonic()
    print(f"{side.letter}  {side.asked}: Linux {side.kernel.version}, {side.kernel.origin}", flush=True)
    session = sessions.open_session(request_of(side, args, args.config, args.filter, []))
    with session.layout.lock():
        sessions.build_kernel(session)
        results = sessions.run_suites(session)
        report = sessions.make_report(session, results)
        if results.interrupted:
            raise KeyboardInterrupt
        print(f"{side.letter}  {report.closing_line()} ({time.monotonic() - started:.1f} s)", flush=True)
        return decisions.load(session.layout.out, side.name)


def record_both(sides: list[Side], args: argparse.Namespace) -> list[Recorded]:
    """Run both; one that is the other is run once. Errors name the side."""
    recorded: dict[tuple, Recorded] = {}
    for side in sides:
        if side.identity in recorded:
            print(f"{side.letter}  {side.asked}: the same tree as {sides[0].asked}, which is run once")
            continue
        try:
            recorded[side.identity] = record(side, args)
        except Interrupted:
            raise
        except SwapKunitError as error:
            raise type(error)(f"cannot tell what {side.letter}={side.asked} decides: {error}") from error
    return [recorded[side.identity] for side in sides]


def place(sides: list[Side], top: Path) -> Path:
    """Where the difference goes: named for both output directories."""
    names = ["-".join(side.out.relative_to(top).parts) for side in sides]
    return top / "decisions" / "--".join(names)


def write(difference: Difference, where: Path) -> list[Path]:
    """The text, the JSON and the page; returns them."""
    where.mkdir(parents=True, exist_ok=True)
    head = [f"{side}  {run.name}" for side, run in zip(SIDES, (difference.a, difference.b))]
    texts = {"txt": "\n".join([*head, "", decisions_text.render(difference)]) + "\n",
             "json": json.dumps(difference.to_json(), indent=1) + "\n",
             "html": decisions_page.render(difference)}
    for kind, text in texts.items():
        (where / f"{NAME}.{kind}").write_text(text, errors="backslashreplace")
    return [where / f"{NAME}.{kind}" for kind in texts]


def decisions_verb(args: argparse.Namespace) -> int:
    """Run both sides, show and keep what differs; FAILED when something does."""
    sides = [parse_side(letter, text) for letter, text in zip(SIDES, (args.a, args.b))]
    deps.require({**deps.BUILD, **deps.PAGES})
    top = args.out.absolute() if args.out else layout.default_top()
    find(sides, args.config, top)
    difference = decisions.compare(*record_both(sides, args))
    files = write(difference, place(sides, top))
    print()
    for what, path in zip(("text", "json", "page"), files):
        print(f"{what:<5} {relative(path)}")
    print(f"\n{decisions_text.render(difference)}", flush=True)
    return GOOD if difference.same else FAILED


def options(parser: argparse.ArgumentParser) -> None:
    """decisions' own arguments."""
    from ..cli.main import comma_list
    what = "a kernel tree, or a version such as 7.3; policies behind it with +, such as 7.3+free-first"
    parser.add_argument("a", metavar="A", help=f"{what} (make: A=)")
    parser.add_argument("b", metavar="B", help="likewise (make: B=)")
    parser.add_argument("--config", metavar="A,B", default=[], type=comma_list,
                        help="Kconfig fragments of configs/ for both (make: CONFIG=)")
    parser.add_argument("--out", metavar="DIR", type=Path,
                        help="where the sides' directories and decisions/ go; default out (make: O=)")
    parser.add_argument("-v", "--verbose", action="store_true", help="show the whole builds (make: V=1)")


VERBS = {
    "decisions": (decisions_verb, ("build", "cases", options),
                  "build and run two kernels, and show which decisions differ"),
}
