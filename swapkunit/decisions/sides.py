# SPDX-License-Identifier: GPL-2.0
"""Two kernels side by side: build and run both, and write down which decisions differ.

A side is a directory, or a version to fetch, and policies behind it: 7.3+free-first.
Each is built and run where `run` does it; what differs is put beside them, in
decisions/A--B.
"""
from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import diff, page, text
from .diff import SIDES, Difference, Recorded
from ..base import layout
from ..base.errors import Interrupted, SwapKunitError
from ..base.kernel import Kernel, examine
from ..build import patches
from ..run import session as sessions
from ..run.session import Request
from ..source import kernels

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
    side.kernel = examine(side.tree) if side.tree else kernels.provide(side.version)
    side.out = layout.default_out(side.kernel, config, side.policies, top)


def request_of(side: Side, asked: Request) -> Request:
    """A located side's run, for the rest as asked; a fetched kernel is named exactly, so that no mirror is asked again."""
    given = side.kernel.given
    return replace(asked, ksrc=side.kernel.path if given else None, kernel=None if given else kernels.exact_version(side.kernel),
                   policies=side.policies, out=side.out, quiet=True)


def parse_side(letter: str, asked: str) -> Side:
    """DIR[+POLICY...] or VERSION[+POLICY...]. Raises SwapKunitError.

    A + may be part of a directory's name, and of a Debian version.
    """
    version = VERSION.fullmatch(asked)
    if version:
        side = Side(letter, asked, None, version[1], version[2].split("+")[1:])
    else:
        parts = asked.split("+")
        splits = [("+".join(parts[:end]), parts[end:]) for end in range(len(parts), 0, -1)]
        base, names = next((split for split in splits if Path(split[0]).expanduser().is_dir()), splits[-1])
        side = Side(letter, asked, Path(base).expanduser(), None, names)
    if not asked.strip("+"):
        raise SwapKunitError(f"cannot tell which kernel {letter}='{asked}' is; give a tree or a version, such as "
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
        second.out = second.out.parent.with_name(kernels.exact_version(second.kernel)) / second.out.name


def record(side: Side, asked: Request) -> Recorded:
    """Build and run one side."""
    started = time.monotonic()
    print(f"{side.letter}  {side.asked}: Linux {side.kernel.version}, {side.kernel.origin}", flush=True)
    session = sessions.open_session(request_of(side, asked))
    with session.layout.lock():
        sessions.build_kernel(session)
        results = sessions.run_suites(session)
        report = sessions.make_report(session, results)
        if results.interrupted:
            raise KeyboardInterrupt
        print(f"{side.letter}  {report.closing_line()} ({time.monotonic() - started:.1f} s)", flush=True)
        return diff.load(session.layout.out, side.name)


def record_both(sides: list[Side], asked: Request) -> list[Recorded]:
    """Run both; one that is the other is run once. Errors name the side."""
    recorded: dict[tuple, Recorded] = {}
    for side in sides:
        if side.identity in recorded:
            print(f"{side.letter}  {side.asked}: the same tree as {sides[0].asked}, which is run once")
            continue
        try:
            recorded[side.identity] = record(side, asked)
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
    texts = {"txt": "\n".join([*head, "", text.render(difference)]) + "\n",
             "json": json.dumps(difference.to_json(), indent=1) + "\n",
             "html": page.render(difference)}
    for kind, content in texts.items():
        (where / f"{NAME}.{kind}").write_text(content, errors="backslashreplace")
    return [where / f"{NAME}.{kind}" for kind in texts]
