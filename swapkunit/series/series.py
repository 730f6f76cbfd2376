# SPDX-License-Identifier: GPL-2.0
"""Reads a patch series from mails, mboxes, patch files, or a range of commits.

Replies, older versions and duplicates are left out, and the rest is sorted by [n/m];
Series.notes lists what was left out. Each patch is written to a clean file that git am and
git apply accept.
"""
from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from . import choosing, diffs, mails
from ..base import commands, deps, git
from ..base.text import plural
from .choosing import Candidate
from ..base.errors import SwapKunitError, UnusableInput
from .mails import Mail

NEEDED = {"git": "git", "/usr/lib/python3/dist-packages/unidiff": "python3-unidiff"}
MOST = 300      # commits in a range


@dataclass
class Patch:
    """One patch of a series. file: a clean copy for git am or git apply; diff: its diff."""

    number: int
    total: int
    version: int
    subject: str
    author: str
    message: str
    diff: str
    file: Path
    touched: list[str]
    message_id: str
    source: str
    suspicions: list[str] = field(default_factory=list)
    commit: str = ""

    @property
    def name(self) -> str:
        """For messages: 'patch 2/3 "mm: swap: ..."'."""
        return f'patch {self.number}/{self.total} "{self.subject}"'

    @property
    def bare(self) -> bool:
        """Whether it is a diff alone, as of git diff, without author and description."""
        return self.author == mails.NOBODY and not self.message


@dataclass
class Series:
    """Patches in order. missing: those of its [n/m] that were not given, for messages."""

    patches: list[Patch]
    title: str
    version: int
    cover: str | None = None
    notes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def read_inputs(files: list[Path], work: Path, partial: bool = False) -> Series:
    """The series in files (mails, mboxes, patches, directories of them). Raises SwapKunitError.

    Writes clean copies to work. partial: accept a series with missing patches.
    """
    deps.require(NEEDED)
    if not files:
        raise SwapKunitError("cannot check a series: no patch was given; give mails, an mbox, patches of "
                             "git format-patch, or a range base..tip with --ksrc")
    return arrange(mails.read_mails(files, work), ", ".join(map(str, files)), work, partial)


def read_mail(stream: BinaryIO, work: Path) -> Series:
    """The one mail on stream. Raises SwapKunitError."""
    deps.require(NEEDED)
    data = stream.read(mails.LARGEST)
    if not data.strip():
        raise UnusableInput("cannot check a mail: stdin is empty; pipe a patch mail into it")
    return arrange(mails.split(data, "stdin", work), "the mail on stdin", work, partial=True)


# -- which mails are the series ----------------------------------------------


def arrange(found: list[Mail], asked: str, work: Path, partial: bool) -> Series:
    """Make a Series from mails. Raises SwapKunitError."""
    candidates = [choosing.candidate(mail) for mail in found]
    notes: list[str] = []
    covers = [one for one in candidates if not one.mail.diff and not one.reply and one.total]
    chosen = choosing.patches_of(candidates, notes)
    if not chosen:
        raise UnusableInput(f"cannot find a patch in {asked}: {choosing.explain_nothing(candidates)}")
    groups = choosing.groups_of(chosen, covers, notes)
    if not partial:
        choosing.check_holes(groups, asked)
    holes = choosing.missing(groups)
    notes += [f"missing: {text}" for text in holes]
    series = [one for group in groups for one in group]
    cover = choosing.cover_of(groups[0], covers)
    choosing.number_loose(groups)
    patches = [finish(one, place, work) for place, one in enumerate(series, 1)]
    title = choosing.title_of(series if len(groups) > 1 else groups[0], cover)
    return Series(patches, title, max(one.version for one in series),
                  cover.mail.message if cover else None, notes, holes)


# -- a clean patch -----------------------------------------------------------


def finish(one: Candidate, place: int, work: Path) -> Patch:
    """Check a patch and write it to a file of its own. Raises SwapKunitError."""
    mail = one.mail
    name = f'patch {one.number}/{one.total} "{one.title}"'
    try:
        raw = diffs.trimmed(mail.diff)
        diff = diffs.canonical(raw)
        touched = diffs.touched(diff, work)
    except diffs.DamagedDiff as error:
        more = "".join(f"; {text}" for text in diffs.suspicions(mail.diff, mail.flowed))
        raise UnusableInput(f"cannot use {name} in {mail.source}: its diff is damaged: "
                             f"{mails.printable(f'{error}{more}')}; "
                            "save the raw mail, or ask its author to send it again") from error
    reasons = diffs.refusals(raw, []) or diffs.refusals(diff, touched)
    if reasons:
        raise UnusableInput(f"refuse to use {name} in {mail.source}: {mails.printable('; '.join(reasons[:3]))}; "
                            "check where it comes from")
    slug = re.sub(r"[^A-Za-z0-9_.]+", "-", one.title).strip("-.")[:52] or "patch"
    file = work / f"{place:04}-{slug}.patch"
    file.write_bytes(as_mail(one, diff).encode("utf-8", "surrogateescape"))
    return Patch(one.number, one.total, one.version, one.title, mail.author, mail.message, diff, file, touched,
                 mail.message_id, mail.source, diffs.suspicions(diff, mail.flowed))


def as_mail(one: Candidate, diff: str) -> str:
    """The patch as git format-patch would write it; the text does not depend on the rest of the series."""
    mail = one.mail
    head = ["From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001", f"From: {mail.author}"]
    head += [f"Date: {mail.date}"] if mail.date else []
    head += [f"Subject: [PATCH] {one.title}"]
    head += [f"Message-ID: <{mail.message_id}>"] if mail.message_id else []
    head += ["MIME-Version: 1.0", "Content-Type: text/plain; charset=UTF-8", "Content-Transfer-Encoding: 8bit"]
    comment = mail.comment.strip("\n")
    return "\n".join([*head, "", mail.message, "---", *([comment, ""] if comment else [""]), diff + "-- ", "2.0", ""])


# -- a range of commits ------------------------------------------------------


def read_range(ksrc: Path, spec: str, work: Path) -> Series:
    """The commits of spec (base..tip, or base for base..HEAD) in the repository ksrc. Raises SwapKunitError."""
    deps.require(NEEDED)
    base, tip = resolve(ksrc, spec)
    count = int(git.in_repository(ksrc, "rev-list", "--count", f"{base}..{tip}").output.strip() or 0)
    if count > MOST:
        raise SwapKunitError(f"cannot check {spec} of {ksrc}: it has {count} commits, too many for a series; give a "
                             "base closer to the tip")
    target = work / "range"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    done = git.in_repository(ksrc, "-c", "format.useAutoBase=false", "format-patch", "-o", target, "--no-attach",
                             "--no-thread", "--no-cover-letter", "--no-signature", "--no-ext-diff", "--no-textconv",
                             "--no-color", "--numbered", "--no-notes", "--subject-prefix=PATCH", "--src-prefix=a/",
                             "--dst-prefix=b/", "--no-relative", *without_empty(f"{base}..{tip}"))
    if done.status:
        raise SwapKunitError(f"cannot read the commits {spec} of {ksrc}: {commands.tail(done.output, 1)}; "
                             "give another range")
    files = sorted(target.iterdir())
    if not files:
        what = "none of its commits changes a file" if count else "it has no commits"
        raise SwapKunitError(f"cannot check {spec} of {ksrc}: {what}; give base..tip")
    series = arrange(mails.read_mails(files, work), f"{spec} of {ksrc}", work, partial=False)
    commits = {int(file.name.partition("-")[0]): file.read_text(errors="replace").split()[1] for file in files}
    for patch in series.patches:
        patch.commit, patch.source = commits.get(patch.number, ""), spec
    series.notes += empty_ones(ksrc, f"{base}..{tip}")
    merges = git.in_repository(ksrc, "rev-list", "--count", "--merges", f"{base}..{tip}").output.strip()
    if merges not in ("", "0"):
        series.notes.append(f"left out: {plural(int(merges), 'merge')}")
    return series


def without_empty(span: str) -> list[str]:
    """Arguments of git for the commits of span that change a file; the cover letter of b4 prep does not."""
    return ["--full-history", span, "--", ":/"]


def empty_ones(ksrc: Path, span: str) -> list[str]:
    """A note for each commit of span that was left out because it changes nothing."""
    log = ("log", "--no-merges", "--no-show-signature", "--no-color", "--no-notes", "--format=%H %s")
    changing = set(git.in_repository(ksrc, *log, *without_empty(span)).output.splitlines())
    every = git.in_repository(ksrc, *log, "--reverse", span, "--").output.splitlines()
    return [f'left out: an empty commit, "{mails.printable(line.partition(" ")[2])}"'
            for line in every if line not in changing]


def resolve(ksrc: Path, spec: str) -> tuple[str, str]:
    """The first and last commit of a range: the merge base and the tip. Raises SwapKunitError."""
    asked = f"cannot check the range {spec} of {ksrc}"
    base, _, tip = spec.partition("..")
    if spec.startswith("-"):
        raise SwapKunitError(f"{asked}: a range cannot begin with a dash; give base..tip")
    ends = []
    for name in (base or "HEAD", tip.removeprefix(".") or "HEAD"):
        done = git.in_repository(ksrc, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if done.status:
            why = commands.tail(done.output, 1).strip().removeprefix("fatal: ") or f"it has no commit {name}"
            why = f"it belongs to another user; if you trust it, run: {why}" if "safe.directory" in why else why
            raise SwapKunitError(f"{asked}: {why}; give base..tip of that repository")
        ends.append(done.output.split()[-1])
    done = git.in_repository(ksrc, "merge-base", *ends)
    if done.status:
        raise SwapKunitError(f"{asked}: its ends have no common ancestor; give another base")
    return done.output.strip(), ends[1]
