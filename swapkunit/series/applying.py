# SPDX-License-Identifier: GPL-2.0
"""Whether a series applies to a tree; if not, which hunk, and what the tree has in its place.

Only copies of the files a patch names are patched, in a scratch directory.
"""
from __future__ import annotations

import dataclasses
import fcntl
import os
import re
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ..base import commands
from ..build import patches as laying
from ..source import kernels as source
from ..base.errors import SwapKunitError
from ..base.kernel import Kernel, examine
from ..base.layout import cache_dir, check_room, short_hash
from .mails import bare_git, printable
from .whynot import IS_IN, compare, header_of, seems_in_already, strayed
from .series import Patch, reading_git, resolve

if TYPE_CHECKING:
    import unidiff

REJECTED = re.compile(r"^(?:Applying patch (?P<file>.+) with \d+ rejects?\.\.\.|Rejected hunk #(?P<hunk>\d+)\.)$", re.M)
AMISS = re.compile(r"^error: ((?P<file>.+): (?:No such file or directory|already exists in working directory))$", re.M)
MOVED = re.compile(r"^(?:Checking patch (?P<file>.+?)(?: => .+)?\.\.\.|Hunk #(?P<hunk>\d+) succeeded at (?P<line>\d+) "
                   r"\(offset -?(?P<offset>\d+) lines?\)\.)$", re.M)
ROOM = 2200 << 20       # bytes of a kernel checked out


@dataclass
class Applied:
    """A patch that applies. moved: "file: hunk 2 at line 930, 22 off"; strayed: those of them in another function."""

    patch: Patch
    moved: list[str] = field(default_factory=list)
    strayed: list[str] = field(default_factory=list)


@dataclass
class Failed:
    """A patch that does not: its first such hunk, and what the tree has there ("930: text").

    already: the tree has all of it. needs: patches before it that do not apply and change the same files.
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

    def where(self) -> str:
        """The hunk as a person finds it in the mail."""
        if not self.hunk:
            return self.file
        return f"{self.file}: hunk {self.number} of {self.of}, {self.hunk}"

    def lines(self) -> list[str]:
        """Why, first; then what the tree has there, and which other hunks do not fit."""
        more = [f"nor {'do' if len(self.others) > 1 else 'does'} {', '.join(self.others)}"] if self.others else []
        if self.needs:
            more.append(f"it may need patch {', '.join(self.needs)} of the series, which did not apply")
        return [self.reason, *(f"  {self.file}:{text}" for text in self.there), *more]


Outcome = Applied | Failed


# -- the base ----------------------------------------------------------------


@dataclass
class Base:
    """The tree a series is laid on. It is read only. holder keeps others from
    changing a checkout; the process's end releases it too."""

    kernel: Kernel
    commit: str = ""
    holder: IO[str] | None = None

    @property
    def path(self) -> Path:
        """Where the tree lies."""
        return self.kernel.path

    def close(self) -> None:
        """Let others check out another commit in this tree."""
        if self.holder:
            self.holder.close()


def base_of(ksrc: Path | None, kernel: str | None, spec: str = "") -> Base:
    """KSRC as it stands, a known kernel, or the commit the range spec starts from."""
    if ksrc is None:
        return Base(source.provide(kernel))
    if not spec:
        return Base(examine(ksrc))
    commit, _ = resolve(ksrc, spec)
    tree, holder = checkout(ksrc, commit)
    found = examine(tree, f"commit {commit[:12]} of {ksrc}")
    return Base(dataclasses.replace(found, given=True), commit, holder)


def checkout(repository: Path, commit: str) -> tuple[Path, IO[str]]:
    """A tree of ours that holds commit, sharing the repository's objects; it is kept, and updated.

    git rewrites only the files that differ from what was there, so that builds of it stay
    warm. The second value holds a lock: while it lives no other process changes the tree.
    """
    found = reading_git(repository, "rev-parse", "--path-format=absolute", "--git-path", "objects", "--git-path",
                        "shallow").output.splitlines()
    if len(found) != 2 or not Path(found[0]).is_dir():
        raise SwapKunitError(f"cannot check out {commit[:12]} of {repository}: it is no git repository; give one, "
                             "or patches as files")
    top = cache_dir() / "bases" / short_hash(os.path.realpath(found[0]))
    tree = top / "linux"
    source.check_cache_writable()
    top.mkdir(parents=True, exist_ok=True)
    holder = open(top / "lock", "w", encoding="utf-8")
    try:
        fcntl.flock(holder, fcntl.LOCK_SH)
        if head_of(tree) != commit:
            take_alone(holder, repository)
            update(tree, Path(found[0]), Path(found[1]), commit, repository)
            fcntl.flock(holder, fcntl.LOCK_SH)
    except BaseException:
        holder.close()
        raise
    return tree, holder


def take_alone(holder: IO[str], repository: Path) -> None:
    """Make the lock an exclusive one. Raises SwapKunitError when another process uses the tree."""
    try:
        fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise SwapKunitError(f"cannot check out another base of {repository}: another swap-kunit is at work on "
                             "one; wait for it") from error


def head_of(tree: Path) -> str:
    """The commit checked out in a tree of ours; "" when there is none, or it is incomplete."""
    try:
        return (tree / ".git/swap-kunit-complete").read_text().strip()
    except OSError:
        return ""


def update(tree: Path, objects: Path, shallow: Path, commit: str, repository: Path) -> None:
    """Check commit out in tree, whose .git borrows objects. Raises SwapKunitError."""
    own = tree / ".git"
    (own / "swap-kunit-complete").unlink(missing_ok=True)
    (own / "index.lock").unlink(missing_ok=True)
    env = bare_git(tree.parent) | {"GIT_NO_LAZY_FETCH": "1"}
    if not (own / "HEAD").exists():
        shutil.rmtree(tree, ignore_errors=True)
        check_room(tree.parent, ROOM)
        tree.mkdir(parents=True)
        commands.run(["git", "init", "-q", tree], env=env)
    (own / "objects/info/alternates").write_text(f"{objects}\n")
    if shallow.exists():
        shutil.copyfile(shallow, own / "shallow")
    done = commands.run(["git", "-C", tree, "-c", "core.hooksPath=/dev/null", "-c", "checkout.workers=0", "checkout",
                         "-q", "--force", "--detach", commit], env=env,
                        progress=lambda spent: f"checking out {commit[:12]}: {spent:.0f} s")
    if done.status:
        partial = not reading_git(repository, "config", "--get-regexp", r"^remote\..*\.promisor$").status
        see = f"it is a partial clone: `git checkout {commit[:12]}` there gets what it lacks" if partial else "see to that"
        raise SwapKunitError(f"cannot check out {commit[:12]} of {repository}: {commands.tail(done.output, 1)}; "
                             f"{see}, or give the patches as files")
    (own / "swap-kunit-complete").write_text(commit + "\n")


# -- applying ----------------------------------------------------------------


def try_apply(base_dir: Path, patches: list[Patch], scratch: Path) -> list[Outcome]:
    """Each patch on base_dir and those before it that applied; one that fails is passed over.

    scratch then holds the patched copies.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    copied: set[str] = set()
    outcomes: list[Outcome] = []
    for patch in patches:
        outcome = try_one(base_dir, patch, scratch, copied)
        if isinstance(outcome, Failed) and not outcome.already:
            outcome.needs = [str(one.patch.number) for one in outcomes if isinstance(one, Failed) and not one.already
                             and {*one.patch.touched} & {*patch.touched}]
        outcomes.append(outcome)
    return outcomes


def try_one(base_dir: Path, patch: Patch, scratch: Path, copied: set[str]) -> Outcome:
    """Apply one patch to the copies in scratch."""
    for name in patch.touched:
        link = link_on_the_way(base_dir, name)
        if link:
            return Failed(patch, name, f"{link} is a symbolic link in this tree")
    try:
        laying.apply(base_dir, scratch, copied, patch.file)
        return moved(patch, scratch)
    except laying.DoesNotApply as error:
        return diagnose(patch, scratch, error)


def moved(patch: Patch, scratch: Path) -> Applied:
    """Where the hunks of a patch that is in scratch went, when not to the lines they name."""
    output = commands.run(["git", "apply", "-R", "--check", "--verbose", patch.file.absolute()], cwd=scratch,
                          env=bare_git(scratch)).output
    file, found = "", Applied(patch)
    for match in MOVED.finditer(output):
        file = match["file"] or file
        if match["hunk"]:
            place = f"{file}: hunk {match['hunk']} at line {match['line']}, {match['offset']} off"
            changed = hunks_of(patch, file)
            text = (scratch / file).read_text(errors="surrogateescape").split("\n") if changed else []
            elsewhere = strayed(changed[int(match["hunk"]) - 1], int(match["line"]), text) if text else ""
            found.moved.append(place + elsewhere)
            found.strayed += [place + elsewhere] if elsewhere else []
    return found


def hunks_of(patch: Patch, file: str) -> unidiff.PatchedFile | None:
    """What a patch changes in a file; None when that is not to be read."""
    import unidiff      # only here: a machine without it can do all the rest
    try:
        return next((one for one in unidiff.PatchSet(patch.diff) if one.source_file.endswith(f"/{file}")
                     or one.target_file.endswith(f"/{file}")), None) if file else None
    except unidiff.UnidiffParseError:       # it is stricter than git
        return None


def link_on_the_way(base_dir: Path, name: str) -> str:
    """The part of a path that is a symbolic link to a place elsewhere in the tree, or ""."""
    parts = Path(name).parts
    for length in range(1, len(parts) + 1):
        part = Path(*parts[:length])
        if (base_dir / part).is_symlink() and not os.path.isabs(os.readlink(base_dir / part)):
            return str(part)
    return ""


def which_kernels_take(patches: list[Patch], scratch: Path) -> list[tuple[Kernel, list[Outcome]]]:
    """Try the series on every kernel in the cache, newest first."""
    found = []
    for entry in source.cached():
        with tempfile.TemporaryDirectory(prefix="try-", dir=scratch) as name:
            found.append((entry.kernel(), try_apply(entry.path, patches, Path(name))))
    return found


# -- why not -----------------------------------------------------------------


def diagnose(patch: Patch, scratch: Path, error: laying.DoesNotApply) -> Failed:
    """Find the first hunk that does not fit, and what is in its place."""
    already, rejected, output, loosely = rehearse(patch, scratch)
    amiss = AMISS.search(output)
    if amiss:
        return Failed(patch, amiss["file"], plain_reason(output, error), others=named(rejected))
    file, number = rejected[0] if rejected else ("", 0)
    changed = hunks_of(patch, file)
    if already or changed is None or number > len(changed):
        reason = "the tree has this change already" if already else plain_reason(output, error)
        reason = f"hunk {number} does not fit" if number and not already else reason
        return Failed(patch, file or error.file or next(iter(patch.touched), ""), reason, already=already)
    hunk = changed[number - 1]
    text = (scratch / file).read_text(errors="surrogateescape").split("\n")
    reason, there = compare(hunk, text, file, patch.suspicions)
    if reason != IS_IN:
        reason += seems_in_already(changed, text) or loosely
    return Failed(patch, file, printable(reason), hunk.source_start, printable(header_of(hunk)), number, len(changed),
                  named(rejected[1:]), there)


def named(rejected: list[tuple[str, int]]) -> list[str]:
    """Hunks as a person calls them."""
    return [f"hunk {number} of {name}" for name, number in rejected]


def rehearse(patch: Patch, scratch: Path) -> tuple[bool, list[tuple[str, int]], str, str]:
    """On a copy: whether the patch applies backwards, which hunks are rejected, git's words, and a
    word when it would apply with less context."""
    with tempfile.TemporaryDirectory(prefix="rehearse-", dir=scratch.parent) as name:
        copy = Path(name) / "copy"
        shutil.copytree(scratch, copy, symlinks=True)
        env = bare_git(copy)
        already = not commands.run(["git", "apply", "-R", "--check", patch.file.absolute()], cwd=copy, env=env).status
        loosely = not commands.run(["git", "apply", "-C2", "--check", patch.file.absolute()], cwd=copy, env=env).status
        output = commands.run(["git", "apply", "--reject", "--verbose", "--whitespace=nowarn",
                               patch.file.absolute()], cwd=copy, env=env).output
    file, rejected = "", []
    for match in REJECTED.finditer(output):
        file = match["file"] or file
        if match["hunk"]:
            rejected.append((file, int(match["hunk"])))
    return already, rejected, output, "; with less context (git apply -C2) it would fit" if loosely else ""


def plain_reason(output: str, error: laying.DoesNotApply) -> str:
    """git's own words for what is no matter of hunks."""
    said = AMISS.search(output) or re.search(r"^error: (.*)$", output, re.M)
    text = said[1] if said else str(error)
    text = re.sub(r"^(.+): No such file or directory$", r"this tree has no \1", text)
    return re.sub(r"^(.+): already exists in working directory$", r"this tree has \1 already", text)
