# SPDX-License-Identifier: GPL-2.0
"""A patch series out of what a person has: mails, mboxes, patch files, or a range of commits.

Replies and older versions are left out, duplicates too, the rest is put in the order
of its [n/m]; Series.notes says what was done. Each patch is written again as a clean
file that git am and git apply take.
"""
from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from . import commands, deps, diffs, mails
from .errors import SwapKunitError
from .mails import Mail

NEEDED = {"git": "git", "/usr/lib/python3/dist-packages/unidiff": "python3-unidiff"}
PREFIX = re.compile(r"^\s*(?:(?P<reply>re|aw|fwd?)\s*(?:\[\d+\])?:\s*)*(?P<tags>(?:\[[^\]]*\]\s*)*)(?P<title>.*)$",
                    re.I | re.S)
NUMBER = re.compile(r"(\d+)\s*/\s*(\d+)")
MOST = 300      # commits of a range
VERSION = re.compile(r"(?<![a-z])(?:v|patchv)(\d+)\b", re.I)


@dataclass
class Patch:
    """One patch of a series. file: a clean copy for git am or git apply; diff: what it applies."""

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
        """How a person calls it: 'patch 2/3 "mm: swap: ..."'."""
        return f'patch {self.number}/{self.total} "{self.subject}"'


@dataclass
class Series:
    """Patches in order. missing: those of [n/m] that were not given, by name."""

    patches: list[Patch]
    title: str
    version: int
    cover: str | None = None
    notes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


@dataclass
class Candidate:
    """A mail with what its subject says."""

    mail: Mail
    reply: bool
    number: int
    total: int
    version: int
    title: str

    @property
    def label(self) -> str:
        """Its [PATCH ..] and title, for notes."""
        version = f" v{self.version}" if self.version > 1 else ""
        return f'[PATCH{version} {self.number}/{self.total}] "{self.title}"'

    @property
    def who(self) -> str:
        """The author's name, to compare by."""
        return self.mail.author.partition("<")[0].strip(' "').casefold()


def read_inputs(files: list[Path], work: Path, partial: bool = False) -> Series:
    """The series in files (mails, mboxes, patches, directories of them). Raises SwapKunitError.

    Clean copies are written into work. partial allows holes in the series.
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
        raise SwapKunitError("cannot check a mail: there was nothing on stdin; pipe one patch mail into it")
    return arrange(mails.split(data, "stdin", work), "the mail on stdin", work, partial=True)


# -- which mails are the series ----------------------------------------------


def arrange(found: list[Mail], asked: str, work: Path, partial: bool) -> Series:
    """Make a Series of mails. Raises SwapKunitError."""
    candidates = [candidate(mail) for mail in found]
    notes: list[str] = []
    covers = [one for one in candidates if not one.mail.diff and not one.reply and one.total]
    chosen = patches_of(candidates, notes)
    if not chosen:
        raise SwapKunitError(f"cannot find a patch in {asked}: {explain_nothing(candidates)}")
    chosen = without_duplicates(newest(chosen, notes), notes)
    series = order(chosen)
    holes = missing(series)
    check_holes(series, asked, partial)
    notes += [f"not given: {text}" for text in holes]
    cover = next((one for one in covers if one.version == series[0].version), None)
    numbered(series)
    patches = [finish(one, place, work) for place, one in enumerate(series, 1)]
    title = cover.title if cover else series[0].title
    return Series(patches, title, max(one.version for one in series),
                  cover.mail.message if cover else None, notes, holes)


def candidate(mail: Mail) -> Candidate:
    """What the subject of mail says about its place."""
    match = PREFIX.match(mail.subject)
    tags = match["tags"]
    number = NUMBER.search(tags)
    version = VERSION.search(tags)
    title = match["title"].strip() or first_line(mail)
    return Candidate(mail, bool(match["reply"]), int(number[1]) if number else 1,
                     int(number[2]) if number else 0, int(version[1]) if version else 1, title)


def first_line(mail: Mail) -> str:
    """A title for what has no subject: the file's name."""
    return Path(mail.source).stem


def patches_of(candidates: list[Candidate], notes: list[str]) -> list[Candidate]:
    """The candidates that bring a diff; of replies only when there is nothing else."""
    with_diff = [one for one in candidates if one.mail.diff]
    chosen = [one for one in with_diff if not one.reply] or with_diff
    talk = [one for one in candidates if not one.mail.diff and (one.reply or not one.total)]
    if talk:
        notes.append(f"left out: {plural(len(talk), 'mail')} without a patch")
    notes += [f'left out: the patch in a reply, "{one.mail.subject}"' for one in with_diff if one not in chosen]
    return chosen


def explain_nothing(candidates: list[Candidate]) -> str:
    """Why there is no patch in the mails, and what to do."""
    if any(re.search(r"^>+ ?(?:diff --git|\+\+\+ )", one.mail.message + one.mail.comment, re.M)
           for one in candidates):
        return "its diff is quoted (>), it is a reply; give the mail it answers"
    if any(re.search(r"^[ \t]+diff --git", one.mail.message + one.mail.comment, re.M) for one in candidates):
        return "its diff is indented, as a web page shows it; save the raw mail"
    if any("@@ -" in one.mail.message + one.mail.comment for one in candidates):
        return "its diff has lost the names of its files (--- and +++); save the raw mail"
    if any(not one.number and one.total for one in candidates):
        return "it is a cover letter only; give the patches too"
    return "there is no diff in it; give the mails with the patches"


def newest(chosen: list[Candidate], notes: list[str]) -> list[Candidate]:
    """Of several versions of one series the newest."""
    kept = []
    for one in chosen:
        newer = [other for other in chosen if other.version > one.version and same_series(one, other)]
        if newer:
            best = max(newer, key=lambda other: other.version)
            notes.append(f"left out: {one.label}, since v{best.version} of it is there")
        else:
            kept.append(one)
    return kept


def same_series(one: Candidate, other: Candidate) -> bool:
    """Whether two patches of different versions belong to the same series."""
    if one.title.casefold() == other.title.casefold():
        return True
    if one.mail.source == other.mail.source and one.who == other.who:
        return True
    related = {*one.mail.parents, one.mail.message_id} & {*other.mail.parents, other.mail.message_id}
    return bool(related - {""}) and one.who == other.who


def without_duplicates(chosen: list[Candidate], notes: list[str]) -> list[Candidate]:
    """Each patch once; of two that claim the same place in a series, the later."""
    kept: dict[tuple, Candidate] = {}
    for one in chosen:
        key = (one.who, one.version, one.total, one.number) if one.total else (one.who, one.title, 0, 0)
        before = kept.pop(key, None)
        if before and one.total and before.title != one.title and not same_thread(before, one):
            kept[key] = before
            key = (*key, one.title)
            before = kept.pop(key, None)
        if before:
            same = before.mail.diff == one.mail.diff
            why = "given twice" if same else "since a later one like it is there"
            notes.append(f"left out: {before.label}, {why}")
        kept[key] = one
    return list(kept.values())


def same_thread(one: Candidate, other: Candidate) -> bool:
    """Whether two mails are in one thread."""
    return bool(({*one.mail.parents, one.mail.message_id} & {*other.mail.parents, other.mail.message_id}) - {""})


def group_of(one: Candidate, chosen: list[Candidate]) -> int:
    """The place of the first mail of one's series: series are laid in the order they were given."""
    if not one.total:
        return one.mail.position
    return min(other.mail.position for other in chosen
               if (other.who, other.version, other.total) == (one.who, one.version, one.total))


def order(chosen: list[Candidate]) -> list[Candidate]:
    """By series as given, in it by [n/m]."""
    return sorted(chosen, key=lambda one: (group_of(one, chosen), one.number, one.mail.position))


def groups(series: list[Candidate]) -> list[list[Candidate]]:
    """The series there are among the patches."""
    found: dict[int, list[Candidate]] = {}
    for one in series:
        found.setdefault(group_of(one, series), []).append(one)
    return list(found.values())


def missing(series: list[Candidate]) -> list[str]:
    """The patches of each series that were not given."""
    found = []
    for group in groups(series):
        there = {one.number for one in group}
        lost = [number for number in range(1, group[0].total + 1) if number not in there]
        if lost:
            version = f" in v{group[0].version}" if group[0].version > 1 else ""
            found.append(f"patch{'es' * (len(lost) > 1)} {ranges(lost)} of {group[0].total}{version}, the series of "
                         f'"{group[0].title}"')
    return found


def check_holes(series: list[Candidate], asked: str, partial: bool) -> None:
    """Refuse a series with a patch missing between two others. Raises SwapKunitError."""
    for group in groups(series):
        numbers = [one.number for one in group if one.total]
        lost = [number for number in range(min(numbers, default=0), max(numbers, default=0)) if number not in numbers]
        if lost and not partial:
            raise SwapKunitError(f"cannot check the series in {asked}: patch {ranges(lost)} of {group[0].total} "
                                 "is missing between the others; give it too, or --partial to do without")


def ranges(numbers: list[int]) -> str:
    """[1, 2, 3, 7] as "1-3, 7"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def plural(number: int, word: str) -> str:
    """'1 mail', '2 mails'."""
    return f"{number} {word}" + ("" if number == 1 else "s")


def numbered(series: list[Candidate]) -> None:
    """Give patches without [n/m] a place: 1/1, or their place among the others."""
    loose = [one for one in series if not one.total]
    for place, one in enumerate(loose, 1):
        one.number, one.total = (place, len(loose)) if len(loose) == len(series) else (1, 1)


# -- a clean patch -----------------------------------------------------------


def finish(one: Candidate, place: int, work: Path) -> Patch:
    """Vet a patch and write it as a file of its own. Raises SwapKunitError."""
    mail = one.mail
    called = f'patch {one.number}/{one.total} "{one.title}"'
    try:
        raw = diffs.trimmed(mail.diff)
        diff = diffs.canonical(raw)
        touched = diffs.touched(diff, work)
    except diffs.DamagedDiff as error:
        more = "".join(f"; {text}" for text in diffs.suspicions(mail.diff, mail.flowed))
        raise SwapKunitError(f"cannot use {called} of {mail.source}: its diff is damaged: "
                             f"{mails.printable(f'{error}{more}')}; "
                             "save the raw mail, or ask for it to be sent again") from error
    refused = diffs.refusals(raw, []) or diffs.refusals(diff, touched)
    if refused:
        raise SwapKunitError(f"refuse {called} of {mail.source}: {mails.printable('; '.join(refused[:3]))}; "
                             "look where it comes from")
    slug = re.sub(r"[^A-Za-z0-9_.]+", "-", one.title).strip("-.")[:52] or "patch"
    file = work / f"{place:04}-{slug}.patch"
    file.write_bytes(as_mail(one, diff).encode("utf-8", "surrogateescape"))
    return Patch(one.number, one.total, one.version, one.title, mail.author, mail.message, diff, file, touched,
                 mail.message_id, mail.source, diffs.suspicions(diff, mail.flowed))


def as_mail(one: Candidate, diff: str) -> str:
    """The patch in the form of git format-patch; the same text whatever else is in the series."""
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
    """The commits of spec (base..tip, or base for base..HEAD) in the repository ksrc, only read."""
    deps.require(NEEDED)
    base, tip = resolve(ksrc, spec)
    count = int(reading_git(ksrc, "rev-list", "--count", f"{base}..{tip}").output.strip() or 0)
    if count > MOST:
        raise SwapKunitError(f"cannot check {spec} of {ksrc}: it has {count} commits, which is no series; give a "
                             "base nearer to the tip")
    target = work / "range"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    done = reading_git(ksrc, "-c", "format.useAutoBase=false", "format-patch", "-o", target,
                       "--no-attach", "--no-thread", "--no-cover-letter", "--no-signature", "--no-ext-diff",
                       "--no-textconv", "--no-color", "--numbered", "--no-notes", "--subject-prefix=PATCH",
                       "--src-prefix=a/", "--dst-prefix=b/", "--no-relative", f"{base}..{tip}")
    if done.status:
        raise SwapKunitError(f"cannot read the commits {spec} of {ksrc}: {commands.tail(done.output, 1)}; "
                             "give another range")
    files = sorted(target.iterdir())
    if not files:
        raise SwapKunitError(f"cannot check {spec} of {ksrc}: there is no commit in it; give base..tip")
    series = arrange(mails.read_mails(files, work), f"{spec} of {ksrc}", work, partial=False)
    commits = {int(file.name.partition("-")[0]): file.read_text(errors="replace").split()[1] for file in files}
    for patch in series.patches:
        patch.commit, patch.source = commits.get(patch.number, ""), spec
    merges = reading_git(ksrc, "rev-list", "--count", "--merges", f"{base}..{tip}").output.strip()
    if merges not in ("", "0"):
        series.notes.append(f"left out: {plural(int(merges), 'merge')}")
    return series


def resolve(ksrc: Path, spec: str) -> tuple[str, str]:
    """The commits a range goes from and to: the merge base, and the tip. Raises SwapKunitError."""
    asked = f"cannot check the range {spec} of {ksrc}"
    base, _, tip = spec.partition("..")
    if spec.startswith("-"):
        raise SwapKunitError(f"{asked}: it begins with a dash; give base..tip")
    ends = []
    for name in (base or "HEAD", tip.removeprefix(".") or "HEAD"):
        done = reading_git(ksrc, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if done.status:
            why = commands.tail(done.output, 1).removeprefix("fatal: ") or f"it has no commit {name}"
            raise SwapKunitError(f"{asked}: {why}; give base..tip of that repository")
        ends.append(done.output.split()[-1])
    done = reading_git(ksrc, "merge-base", *ends)
    if done.status:
        raise SwapKunitError(f"{asked}: its ends have no commit in common; give another base")
    return done.output.strip(), ends[1]


def reading_git(repository: Path, *words: str | Path) -> commands.Finished:
    """Run git in somebody's repository without writing anything into it."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("GIT_") or name in ("GIT_CONFIG_GLOBAL", "GIT_ALTERNATE_OBJECT_DIRECTORIES")}
    env |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_PAGER": "cat", "LC_ALL": "C.UTF-8"}
    return commands.run(["git", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-C", repository, *words], env=env)
