# SPDX-License-Identifier: GPL-2.0
"""Which of many mails form the series, and in which order: by subject, thread and author."""
from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import SwapKunitError
from ..base.text import plural
from .mails import Mail

PREFIX = re.compile(r"^\s*(?:(?P<reply>re|aw|fwd?)\s*(?:\[\d+\])?:\s*)*(?P<tags>(?:\[[^\]]*\]\s*)*)(?P<title>.*)$",
                    re.I | re.S)
NUMBER = re.compile(r"\b(\d{1,3})\s*/\s*(\d{1,3})\b")
VERSION = re.compile(r"(?<![a-z])(?:v|patchv|rfcv)(\d{1,3})\b", re.I)
PLACEHOLDER = "*** SUBJECT HERE ***"        # of git format-patch
ALIKE = 0.8         # the difflib ratio of two similar titles


@dataclass
class Candidate:
    """A mail and the fields of its subject."""

    mail: Mail
    reply: bool
    number: int
    total: int
    version: int
    title: str
    rfc: bool = False

    @property
    def label(self) -> str:
        """Its [PATCH ..] and title, for notes."""
        version = f" v{self.version}" if self.version > 1 else ""
        place = f" {self.number}/{self.total}" if self.total else ""
        return f'[{"RFC " * self.rfc}PATCH{version}{place}] "{self.title}"'

    @property
    def age(self) -> tuple[bool, int]:
        """For comparing versions; a patch is newer than an RFC."""
        return not self.rfc, self.version

    @property
    def ids(self) -> set[str]:
        """Its own message id and those of its parents."""
        return {*self.mail.parents, self.mail.message_id} - {""}

    @property
    def who(self) -> str:
        """The author's name, for comparisons."""
        return self.mail.author.partition("<")[0].strip(' "').casefold()


Group = list[Candidate]


def candidate(mail: Mail) -> Candidate:
    """Parse the subject of mail."""
    match = PREFIX.match(mail.subject)
    assert match        # PREFIX matches any text
    tags = match["tags"]
    number = NUMBER.search(tags)
    version = VERSION.search(tags)
    title = match["title"].strip() or Path(mail.source).stem
    return Candidate(mail, bool(match["reply"]) or mail.reply, int(number[1]) if number else 1,
                     int(number[2]) if number else 0, int(version[1]) if version else 1, title,
                     bool(re.search(r"(?<![a-z])rfc", tags, re.I)))


def patches_of(candidates: list[Candidate], notes: list[str]) -> list[Candidate]:
    """The candidates with a diff; replies only if there are no others."""
    with_diff = [one for one in candidates if one.mail.diff]
    chosen = [one for one in with_diff if not one.reply] or with_diff
    talk = [one for one in candidates if not one.mail.diff and (one.reply or not one.total)]
    if talk:
        notes.append(f"left out: {plural(len(talk), 'mail')} without a patch")
    notes += [f'left out: the patch in a reply, "{one.mail.subject}"{answered(one, chosen)}'
              for one in with_diff if one not in chosen]
    return chosen


def answered(reply: Candidate, chosen: list[Candidate]) -> str:
    """Which of the chosen patches a reply answers, for a note."""
    parent = next((one for name in reversed(reply.mail.parents) for one in chosen if one.mail.message_id == name), None)
    return f", which answers {parent.label}" if parent else ""


def cover_of(group: Group, covers: list[Candidate]) -> Candidate | None:
    """The cover letter of a series: of its version and length, and in its thread if the mails tell."""
    alike = [one for one in covers if (one.age, one.total, one.number) == (group[0].age, group[0].total, 0)]
    return next((one for one in alike if any(linked(one, other) for other in group)), None)


def title_of(group: Group, cover: Candidate | None) -> str:
    """The title of a series: its cover letter's, or that of its first patch and how many more there are."""
    if cover and cover.title and cover.title != PLACEHOLDER:
        return cover.title
    return group[0].title + (f", and {len(group) - 1} more" if len(group) > 1 else "")


def explain_nothing(candidates: list[Candidate]) -> str:
    """Why there is no patch in the mails, and what to do."""
    texts = [one.mail.message + one.mail.comment for one in candidates]
    for pattern, reason in (
            (r"^>+ ?(?:diff --git|\+\+\+ )", "its diff is quoted (>), it is a reply; give the mail it answers"),
            (r"^[ \t]+diff --git", "its diff is indented, as on a web page; save the raw mail"),
            (r"^\*{3} \d+(?:,\d+)? \*{4}", "its diff is a context diff, which git cannot apply; make a unified one "
                                           "(diff -u)"),
            ("@@ -", "the file names of its diff (--- and +++) were lost; save the raw mail")):
        if any(re.search(pattern, text, re.M) for text in texts):
            return reason
    if any(not one.number and one.total for one in candidates):
        return "it has only the cover letter; give the patches too"
    return "it has no diff; give the mails with the patches"


def groups_of(chosen: list[Candidate], covers: list[Candidate], notes: list[str]) -> list[Group]:
    """Group the patches into series, in the order given; each in the order of its [n/m]."""
    found: list[Group] = []
    for one in without_duplicates(chosen, notes):
        home = next((group for group in found if belongs(one, group)), None)
        if home is None:
            found.append([one])
        else:
            home.append(one)
    found = newest(completed(found), covers, notes)
    for group in found:
        group.sort(key=lambda one: one.number)
    return found


def without_duplicates(chosen: list[Candidate], notes: list[str]) -> list[Candidate]:
    """Each patch once; of two with the same place in a series, the later one."""
    kept: list[Candidate] = []
    for one in chosen:
        before = next((other for other in kept if same_place(one, other)), None)
        if before:
            same = before.mail.diff == one.mail.diff
            why = "given twice" if same else "replaced by a later one"
            notes.append(f"left out: {before.label}, {why}")
            kept[kept.index(before)] = one
        else:
            kept.append(one)
    return kept


def same_place(one: Candidate, other: Candidate) -> bool:
    """Whether two mails are the same patch, sent or saved twice."""
    if (one.age, one.total, one.number) != (other.age, other.total, other.number):
        return False
    same_thread = bool(one.total and one.ids & other.ids) and one.who == other.who
    return same_thread or one.title.casefold() == other.title.casefold()


def belongs(one: Candidate, group: Group) -> bool:
    """Whether a patch belongs to a series that lacks its number."""
    if not one.total or (one.age, one.total) != (group[0].age, group[0].total):
        return False
    return all(one.number != other.number for other in group) and any(linked(one, other) for other in group)


def linked(one: Candidate, other: Candidate) -> bool:
    """Whether two patches of the same version and length are of one series: by thread, else by author or file."""
    if one.mail.message_id and other.mail.message_id and (one.mail.parents or other.mail.parents):
        return bool(one.ids & other.ids)
    here, there = Path(one.mail.source), Path(other.mail.source)
    formatted = all(re.match(r"(v\d+-)?\d{4}-", path.name) for path in (here, there))
    return one.who == other.who or here == there or (formatted and here.parent == there.parent)


def completed(found: list[Group]) -> list[Group]:
    """Join groups that make a complete series together; it may have several authors."""
    whole: list[Group] = []
    for group in found:
        for other in whole:
            numbers = sorted(one.number for one in [*group, *other])
            if group[0].total and group[0].age == other[0].age and numbers == [*range(1, group[0].total + 1)]:
                other += group
                break
        else:
            whole.append(group)
    return whole


def newest(found: list[Group], covers: list[Candidate], notes: list[str]) -> list[Group]:
    """Keep only the newest version of each series."""
    kept = []
    for group in found:
        newer = [other[0].age for other in found if other[0].age > group[0].age and same_series(group, other, covers)]
        if newer:
            version = max(newer)[1]
            newest_one = f"v{version}" if version > group[0].version else "the one without RFC"
            notes += [f"left out: {one.label}, replaced by {newest_one}" for one in group]
        else:
            kept.append(group)
    return kept


def titles_of(group: Group, covers: list[Candidate]) -> set[str]:
    """The titles of a series: those of its patches and its cover letter."""
    names = {one.who for one in group}
    titles = {cover.title.casefold() for cover in covers
            if (cover.age, cover.total) == (group[0].age, group[0].total) and cover.who in names}
    return {one.title.casefold() for one in group} | titles - {PLACEHOLDER.casefold()}


def same_series(group: Group, other: Group, covers: list[Candidate]) -> bool:
    """Whether two groups are versions of one series: by title, thread, or a similar title."""
    titles, others = titles_of(group, covers), titles_of(other, covers)
    if titles & others:
        return True
    if not {one.who for one in group} & {one.who for one in other}:
        return False
    if any(one.ids & another.ids for one in group for another in other):
        return True
    return any(difflib.SequenceMatcher(None, title, another).ratio() > ALIKE for title in titles for another in others)


def missing(found: list[Group]) -> list[str]:
    """The missing patches of each series."""
    names = []
    for group in found:
        there = {one.number for one in group}
        lost = [number for number in range(1, group[0].total + 1) if number not in there]
        if lost:
            version = f"v{group[0].version} of " if group[0].version > 1 else ""
            names.append(f"patch{'es' * (len(lost) > 1)} {ranges(lost)} of {group[0].total} in {version}the series "
                         f'with "{group[0].title}"')
    return names


def check_holes(found: list[Group], asked: str) -> None:
    """Refuse a series that lacks a patch between two others. Raises SwapKunitError."""
    for group in found:
        numbers = {one.number for one in group if one.total}
        lost = [number for number in range(min(numbers, default=0), max(numbers, default=0)) if number not in numbers]
        if lost:
            raise SwapKunitError(f"cannot check the series in {asked}: patch {ranges(lost)} of {group[0].total} "
                                 "is missing between the others; give it too, or use --partial (make: "
                                 "PARTIAL=1)")


def number_loose(found: list[Group]) -> None:
    """Number patches without [n/m]: 1/1, or by their position if no patch has a number."""
    loose = [group[0] for group in found if not group[0].total]
    for place, one in enumerate(loose, 1):
        one.number, one.total = (place, len(loose)) if len(loose) == len(found) else (1, 1)


def ranges(numbers: list[int]) -> str:
    """[1, 2, 3, 7] as "1-3, 7"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)
