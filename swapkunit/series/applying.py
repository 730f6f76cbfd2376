# SPDX-License-Identifier: GPL-2.0
"""Whether a series applies to a tree; if not, which hunk does not, and what the tree has there.

Patches are applied to copies of the files they name, in a scratch directory.
"""
from __future__ import annotations

import os
import re
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..base import commands, git
from ..base.kernel import Kernel
from ..base.layout import short_hash
from ..build.patches import DoesNotApply, apply, touched
from ..source.kernels import cached
from .choosing import ranges
from .mails import printable
from .mismatch import IS_IN, compare, header_of, lead_of, seems_in_already, strayed
from .series import Patch

if TYPE_CHECKING:
    import unidiff

REJECTED = re.compile(r"^(?:Applying patch (?P<file>.+) with \d+ rejects?\.\.\.|Rejected hunk #(?P<hunk>\d+)\.)$", re.M)
NO_FILE = re.compile(r"^error: ((?P<file>.+): (?:No such file or directory|already exists in working directory))$",
                     re.M)
MOVED = re.compile(r"^(?:Checking patch (?P<file>.+?)(?: => .+)?\.\.\.|Hunk #(?P<hunk>\d+) succeeded at (?P<line>\d+) "
                   r"\(offset -?(?P<offset>\d+) lines?\)\.)$", re.M)
NO_CODE = re.compile(r"^(?:MAINTAINERS|CREDITS|\.mailmap|Documentation/.*)$|(?:^|/)\.gitignore$")
HEADING = re.compile(r"^@@ -(\d+)\S* \S+ @@ ?(.*)$", re.M)


@dataclass
class Applied:
    """A patch that applies. moved: its hunks that apply with an offset; strayed: those in another function.

    left_out: files without code that it does not apply to; patch is without them.
    """

    patch: Patch
    moved: list[str] = field(default_factory=list)
    strayed: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


@dataclass
class Failed:
    """A patch that does not apply: its first hunk that fails, and what the tree has there ("930: text").

    others: its other hunks that fail; already: the tree has the whole change; needs: numbers of
    earlier patches that change the same files and do not apply; missing: of those that were not given.
    """

    patch: Patch
    file: str
    reason: str
    line: int = 0
    hunk: str = ""
    number: int = 0
    of: int = 0
    others: list[str] = field(default_factory=list)
    there: list[str] = field(default_factory=list)
    already: bool = False
    needs: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def where(self) -> str:
        """The hunk, so that a reader finds it in the mail."""
        if not self.hunk:
            return self.file
        return f"{self.file}: hunk {self.number} of {self.of}, {self.hunk}"

    def lines(self) -> list[str]:
        """The reason; then what the tree has there, and the other hunks that fail."""
        others = [f"{', '.join(self.others)}: {'do' if len(self.others) > 1 else 'does'} not apply either"] \
            if self.others else []
        needs = [f"may need {named(numbers)} of the series, which {why[len(numbers) > 1]}" for numbers, why in
                 ((self.needs, ["did not apply"] * 2), (self.missing, ["is missing", "are missing"])) if numbers]
        return [self.reason, *(f"  {self.file}:{text}" for text in self.there), *others, *needs]


Outcome = Applied | Failed


def try_apply(base_dir: Path, patches: list[Patch], scratch: Path) -> list[Outcome]:
    """Apply each patch to base_dir with those before it; one that fails is left out.

    Afterwards scratch holds the patched copies.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    copied: set[str] = set()
    outcomes: list[Outcome] = []
    for patch in patches:
        outcome = try_one(base_dir, patch, scratch, copied)
        if isinstance(outcome, Failed) and not outcome.already:
            needs = [str(one.patch.number) for one in outcomes if isinstance(one, Failed) and not one.already
                     and {*one.patch.touched} & {*patch.touched}]
            outcome = replace(outcome, needs=needs, missing=missing_before(patch, patches))
        outcomes.append(outcome)
    return outcomes


def named(numbers: list[str]) -> str:
    """patch 2, patches 1-61"""
    return f"patch{'es' * (len(numbers) > 1)} {ranges([int(number) for number in numbers])}"


def missing_before(patch: Patch, patches: list[Patch]) -> list[str]:
    """The numbers of the series before a patch that were not given."""
    given = {one.number for one in patches if one.total == patch.total}
    return [str(number) for number in range(1, patch.number) if number not in given]


def try_one(base_dir: Path, patch: Patch, scratch: Path, copied: set[str]) -> Outcome:
    """Apply one patch to the copies in scratch."""
    for name in patch.touched:
        link = link_in(base_dir, name)
        if link:
            return Failed(patch, name, f"{link} is a symbolic link in this tree")
    old = {name: bytes_in(scratch if name in copied else base_dir, name) for name in patch.touched}
    try:
        apply(base_dir, scratch, copied, patch.file)
        return with_offsets(patch, scratch, old)
    except DoesNotApply as error:
        tried = rehearse(patch, scratch)
        rest = without(patch, {name for name in tried.failing if NO_CODE.search(name)})
        if rest and not tried.reverse:
            outcome = try_one(base_dir, rest, scratch, copied)
            if isinstance(outcome, Applied):
                return replace(outcome, left_out=[name for name in patch.touched if name not in rest.touched])
        return diagnose(patch, scratch, error, tried)


def without(patch: Patch, names: set[str]) -> Patch | None:
    """The patch without its changes to these files, in a file of its own; None if nothing or all would be left out."""
    start = r"^(?=diff --git )" if patch.diff.startswith("diff --git ") else r"^(?=--- \S.*\n\+\+\+ )"
    parts = re.split(start, patch.diff, flags=re.M)
    kept = [part for part in parts if not names & touched(part)]
    if len(kept) == len(parts) or not "".join(kept).strip():
        return None
    diff = "".join(kept)
    file = patch.file.with_name(f"{patch.file.stem}-{short_hash(repr(diff))}.patch")
    file.write_bytes(patch.file.read_bytes().replace(patch.diff.encode("utf-8", "surrogateescape"),
                                                     diff.encode("utf-8", "surrogateescape")))
    return replace(patch, diff=diff, file=file, touched=[name for name in patch.touched if name in touched(diff)])


def bytes_in(top: Path, name: str) -> bytes:
    """A file's content; b"" if there is no such file."""
    return (top / name).read_bytes() if (top / name).is_file() else b""


def with_offsets(patch: Patch, scratch: Path, old: dict[str, bytes]) -> Applied:
    """An applied patch, and which of its hunks are not at the lines they name. old: its files before it."""
    # Undoing it, git counts lines as before the patch.
    output = git.in_scratch(scratch, "apply", "-R", "--check", "--verbose", patch.file.absolute()).output
    file, found = "", Applied(patch)
    for match in MOVED.finditer(output):
        file = match["file"] or file
        if match["hunk"]:
            place = f"{file}: hunk {match['hunk']} at line {match['line']}, offset {match['offset']}"
            changed, before = hunks_of(patch, file), old.get(file, b"")
            elsewhere = ""
            if changed and before:
                hunk, text = changed[int(match["hunk"]) - 1], before.decode(errors="surrogateescape").split("\n")
                here = headings(before, scratch / file, len(lead_of(hunk))).get(int(match["line"]), "")
                elsewhere = strayed(hunk, here, text)
            found.moved.append(place + elsewhere)
            found.strayed += [place + elsewhere] if elsewhere else []
    return found


def headings(old: bytes, new: Path, context: int) -> dict[int, str]:
    """What git writes after the @@ of each hunk between old and new, with so many lines of context, by old line."""
    with tempfile.TemporaryDirectory(prefix="headings-", dir=new.parent) as name:
        before, attributes = Path(name) / f"old{new.suffix}", Path(name) / "attributes"
        before.write_bytes(old)
        attributes.write_text("*.[ch] diff=cpp\n")     # as the kernel's own .gitattributes
        done = git.in_scratch(new.parent, "-c", f"core.attributesFile={attributes}", "diff", "--no-index", "--no-color",
                              f"-U{context}", before, new)
    return {int(line): heading for line, heading in HEADING.findall(done.output)}


def hunks_of(patch: Patch, file: str) -> unidiff.PatchedFile | None:
    """The hunks of a patch in a file; None if they cannot be parsed."""
    # Here, so that everything but presubmit works without python3-unidiff.
    import unidiff      # pylint: disable=import-outside-toplevel
    try:
        return next((one for one in unidiff.PatchSet(patch.diff) if one.source_file.endswith(f"/{file}")
                     or one.target_file.endswith(f"/{file}")), None) if file else None
    except unidiff.UnidiffParseError:       # it is stricter than git
        return None


def link_in(base_dir: Path, name: str) -> str:
    """The first part of a path that is a symbolic link within the tree, or ""."""
    parts = Path(name).parts
    for length in range(1, len(parts) + 1):
        part = Path(*parts[:length])
        if (base_dir / part).is_symlink() and not os.path.isabs(os.readlink(base_dir / part)):
            return str(part)
    return ""


def which_kernels_take(patches: list[Patch], scratch: Path) -> list[tuple[Kernel, list[Outcome]]]:
    """Try the series on every kernel in the cache, newest first."""
    found = []
    for entry in cached():
        with tempfile.TemporaryDirectory(prefix="try-", dir=scratch) as name:
            found.append((entry.kernel(), try_apply(entry.path, patches, Path(name))))
    return found


# -- why a patch does not apply ----------------------------------------------


@dataclass
class Rehearsal:
    """What git apply does with a patch on a copy. rejected: files and hunk numbers; reverse: whether the patch
    applies in reverse; loosely: whether it applies with less context.
    """

    output: str
    rejected: list[tuple[str, int]]
    reverse: bool
    loosely: bool

    @property
    def failing(self) -> set[str]:
        """The files that it does not apply to."""
        return {name for name, _ in self.rejected} | {match["file"] for match in NO_FILE.finditer(self.output)}


def rehearse(patch: Patch, scratch: Path) -> Rehearsal:
    """Try a patch on a copy of scratch."""
    with tempfile.TemporaryDirectory(prefix="rehearse-", dir=scratch.parent) as name:
        copy = Path(name) / "copy"
        shutil.copytree(scratch, copy, symlinks=True)

        def git_apply(*options: str) -> commands.Finished:
            return git.in_scratch(copy, "apply", *options, patch.file.absolute())

        reverse, loosely = (not git_apply(option, "--check").status for option in ("-R", "-C2"))
        output = git_apply("--reject", "--verbose", "--whitespace=nowarn").output
    file, rejected = "", []
    for match in REJECTED.finditer(output):
        file = match["file"] or file
        if match["hunk"]:
            rejected.append((file, int(match["hunk"])))
    return Rehearsal(output, rejected, reverse, loosely)


def diagnose(patch: Patch, scratch: Path, error: DoesNotApply, tried: Rehearsal) -> Failed:
    """Find the first hunk that does not apply, and why."""
    names = [f"hunk {number} of {name}" for name, number in tried.rejected]
    no_file = NO_FILE.search(tried.output)
    if no_file:
        return Failed(patch, no_file["file"], plain_reason(tried.output, error), others=names)
    file, number = tried.rejected[0] if tried.rejected else ("", 0)
    changed = hunks_of(patch, file)
    if tried.reverse or changed is None or number > len(changed):
        reason = "the tree already has this change" if tried.reverse else \
            f"hunk {number} does not apply" if number else plain_reason(tried.output, error)
        return Failed(patch, file or error.file or next(iter(patch.touched), ""), reason, already=tried.reverse)
    hunk = changed[number - 1]
    text = (scratch / file).read_text(errors="surrogateescape").split("\n")
    reason, there = compare(hunk, text, file, patch.suspicions)
    if reason != IS_IN:
        reason += seems_in_already(changed, text) or (
            "; with less context (git apply -C2) it would apply" if tried.loosely else "")
    return Failed(patch, file, printable(reason), hunk.source_start, printable(header_of(hunk)), number, len(changed),
                  names[1:], there)


def plain_reason(output: str, error: DoesNotApply) -> str:
    """git's own message, for what is not about a hunk."""
    message = NO_FILE.search(output) or re.search(r"^error: (.*)$", output, re.M)
    text = message[1] if message else str(error)
    text = re.sub(r"^(.+): No such file or directory$", r"this tree has no \1", text)
    return re.sub(r"^(.+): already exists in working directory$", r"this tree already has \1", text)
