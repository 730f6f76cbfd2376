# SPDX-License-Identifier: GPL-2.0
"""Build and run two kernels, and write down which decisions differ.

A side is a directory or a version to fetch, followed by policies: 7.3+free-first. Each is built and run in the
output directory that `run` uses; the difference goes to decisions/A--B beside them.
"""
from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ContextManager, Iterable

from . import diff, page, text
from .diff import SIDES, Difference, Recorded
from ..base import layout
from ..base.errors import Interrupted, SwapKunitError, advising
from ..base.kernel import Kernel, examine
from ..build import patches
from ..run.session import Request, open_session
from ..source import kernels

NAME = "decisions-diff"
# A version, where a + is followed by a digit (7.3.4-1~bpo13+1); then the policies.
VERSION = re.compile(r"(\d[^+/]*(?:\+\d[^+/]*)*)((?:\+[a-z][\w-]*)*)")


@dataclass(frozen=True)
class Wanted:
    """A side as asked for, taken apart: a tree, or else a version, and policies."""

    letter: str
    asked: str
    tree: Path | None
    version: str | None
    policies: list[str]

    def named(self) -> ContextManager[None]:
        """Errors inside name this side."""
        return advising(f"as {self.letter} (make: {self.letter}=)", f"{self.letter}={self.asked}")


@dataclass(frozen=True)
class Side:
    """A side whose kernel was found; out: its output directory."""

    wanted: Wanted
    kernel: Kernel
    out: Path

    @property
    def identity(self) -> tuple[str, tuple[str, ...]]:
        """Equal for two sides that build the same code."""
        return os.path.realpath(self.kernel.path), tuple(self.wanted.policies)

    @property
    def name(self) -> str:
        """For people: what was asked for, and its version."""
        return f"{self.wanted.asked} (Linux {self.kernel.version})"

    def request(self, asked: Request) -> Request:
        """How to build and run this side. A fetched kernel is named exactly, so that no mirror is asked again."""
        given = self.kernel.given
        return replace(asked, ksrc=self.kernel.path if given else None,
                       kernel=None if given else kernels.exact_version(self.kernel),
                       policies=self.wanted.policies, out=self.out, quiet=True)


def parse_side(letter: str, asked: str) -> Wanted:
    """DIR[+POLICY...] or VERSION[+POLICY...]. Raises SwapKunitError.

    A + may be part of a directory's name, and of a Debian version.
    """
    if not asked.strip("+"):
        raise SwapKunitError(f"cannot tell which kernel {letter}='{asked}' is; give a tree or a version, such as "
                             "~/linux, 7.3 or 7.3+free-first")
    version = VERSION.fullmatch(asked)
    if version:
        wanted = Wanted(letter, asked, None, version[1], version[2].split("+")[1:])
    else:
        parts = asked.split("+")
        splits = [("+".join(parts[:end]), parts[end:]) for end in range(len(parts), 0, -1)]
        base, names = next((split for split in splits if os.path.isdir(os.path.expanduser(split[0]))), splits[-1])
        wanted = Wanted(letter, asked, Path(os.path.expanduser(base)), None, names)
    with wanted.named():
        if version:
            kernels.check(version[1])
        for name in wanted.policies:
            patches.steps_of(name, layout.POLICIES)
    return wanted


def check(wanted: Iterable[Wanted]) -> None:
    """Raise SwapKunitError for a tree that cannot be tested."""
    for one in wanted:
        with one.named():
            if one.tree:
                examine(one.tree)


def locate(wanted: Wanted, config: list[str], top: Path) -> Side:
    """Find or fetch a side's kernel; its output directory is below top. Raises SwapKunitError."""
    with wanted.named():
        kernel = examine(wanted.tree) if wanted.tree else kernels.provide(wanted.version)
    return Side(wanted, kernel, layout.default_out(kernel, config, wanted.policies, top))


def locate_both(both: list[Wanted], config: list[str], top: Path) -> list[Side]:
    """Both sides; two different kernels of one series get different output directories."""
    first, second = (locate(wanted, config, top) for wanted in both)
    if first.out == second.out and first.identity != second.identity:
        series = second.out.parent.with_name(kernels.exact_version(second.kernel))
        second = replace(second, out=series / second.out.name)
    return [first, second]


def record(side: Side, asked: Request) -> Recorded:
    """Build and run one side."""
    started = time.monotonic()
    letter = side.wanted.letter
    print(f"{letter}  {side.wanted.asked}: Linux {side.kernel.version}, {side.kernel.origin}", flush=True)
    session = open_session(side.request(asked))
    with session.layout.lock():
        session.build_kernel()
        results = session.run_suites()
        report = session.make_report(results)
        if results.interrupted:
            raise KeyboardInterrupt
        print(f"{letter}  {report.closing_line()} ({time.monotonic() - started:.1f} s)", flush=True)
        return diff.load(session.layout.out, side.name)


def record_both(sides: list[Side], asked: Request) -> list[Recorded]:
    """Run both sides, or one if they are the same. Errors name the side."""
    recorded: dict[tuple[str, tuple[str, ...]], Recorded] = {}
    for side in sides:
        wanted = side.wanted
        if side.identity in recorded:
            print(f"{wanted.letter}  {wanted.asked}: the same tree as {sides[0].wanted.asked}, not run again")
            continue
        try:
            recorded[side.identity] = record(side, asked)
        except Interrupted:
            raise
        except SwapKunitError as error:
            raise type(error)(f"cannot tell what {wanted.letter}={wanted.asked} decides: {error}") from error
    return [recorded[side.identity] for side in sides]


def write(difference: Difference, sides: list[Side], top: Path) -> list[Path]:
    """Write the text, the JSON and the page below top; returns their paths."""
    where = top / "decisions" / "--".join("-".join(side.out.relative_to(top).parts) for side in sides)
    where.mkdir(parents=True, exist_ok=True)
    head = [f"{side}  {run.name}" for side, run in zip(SIDES, (difference.a, difference.b))]
    texts = {"txt": "\n".join([*head, "", text.render(difference)]) + "\n",
             "json": json.dumps(difference.to_json(), indent=1) + "\n",
             "html": page.render(difference)}
    for kind, content in texts.items():
        (where / f"{NAME}.{kind}").write_text(content, errors="backslashreplace")
    return [where / f"{NAME}.{kind}" for kind in texts]
