# SPDX-License-Identifier: GPL-2.0
"""Patches laid over a kernel tree without touching it: our policies, or a series under test.

A policy NAME is what lies in mm/policies as NAME-1-what.patch, NAME-2-what.patch and
so on, applied in this order. Two files with the same NAME-N are alternatives for
different kernels: the first that applies is taken. A header line

    Not-needed-if: arch/um/Kconfig: HAVE_ARCH_TRANSPARENT_HUGEPAGE

tells by an identifier in a file that a tree has the change already, and

    Made-for: Linux 7.x

what to say where it does not apply.

The patched copies of the files a patch touches are kept in a directory of their own,
PATCHED of the overlay. A copy is written anew only when its content changes, so that
make builds no more than the change asks for.
"""
from __future__ import annotations

import os
import re
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ..base import git
from ..base.errors import SwapKunitError

FILE = re.compile(r"(?P<name>[a-z][\w-]*?)-(?P<step>\d+)-[\w.-]+\.patch")
NOT_NEEDED = re.compile(r"^Not-needed-if:\s*(?P<path>[^\s:]+):\s*(?P<identifier>\w+)\s*$", re.M)
MADE_FOR = re.compile(r"^Made-for:\s*(.+?)\s*$", re.M)
NAMES = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+?)(?:\t.*)?$|^(?:rename|copy) (?:from|to) (.+)$"
                   r"|^diff --git a/(\S+) b/\S+$", re.M)
FAILED_HUNK = re.compile(r"^error: patch failed: (.+):(\d+)$", re.M)


class DoesNotApply(SwapKunitError):
    """A patch that does not fit. file and line: of the first hunk that does not, where git says."""

    def __init__(self, message: str, file: str = "", line: int = 0):
        super().__init__(message)
        self.file, self.line = file, line


@dataclass
class Patched:
    """The files that differ from the source (False: deleted), and what is to be said about it."""

    files: dict[str, bool] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def known(directory: Path) -> list[str]:
    """The policies there are."""
    found = (FILE.fullmatch(path.name) for path in directory.glob("*.patch"))
    return sorted({match["name"] for match in found if match})


def steps_of(name: str, directory: Path) -> list[list[Path]]:
    """The patches of policy name in order, each with its alternatives. Raises SwapKunitError."""
    steps: dict[int, list[Path]] = {}
    for path in sorted(directory.glob("*.patch")):
        match = FILE.fullmatch(path.name)
        if match and match["name"] == name:
            steps.setdefault(int(match["step"]), []).append(path)
    if not steps:
        raise SwapKunitError(f"no policy '{name}': there is no {directory}/{name}-1-*.patch; "
                             f"known are {', '.join(known(directory)) or 'none'}")
    return [steps[number] for number in sorted(steps)]


def lay(source: Path, target: Path, policies: list[list[Path]], patches: list[Path]) -> Patched:
    """Make target hold the patched copies of source's files, and nothing else.

    policies: steps with their alternatives; patches: applied after them, as they are.
    source is read only. Raises DoesNotApply naming the patch and the hunk.
    """
    patched = Patched()
    if not policies and not patches:
        shutil.rmtree(target, ignore_errors=True)
        return patched
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{target.name}-", dir=target.parent) as name:
        scratch, copied = Path(name), set()
        laid: list[str] = []
        for alternatives in policies:
            try:
                apply_one_of(source, scratch, copied, alternatives, patched.notes)
            except DoesNotApply as error:
                raise in_the_way(error, alternatives, laid, differing(source, scratch, copied)) from error
            laid.append(alternatives[0].name)
        for patch in patches:
            apply(source, scratch, copied, patch)
        patched.files = differing(source, scratch, copied)
        adopt(scratch, target, [path for path, there in patched.files.items() if there])
    return patched


def apply_one_of(source: Path, scratch: Path, copied: set[str], alternatives: list[Path],
                 notes: list[str]) -> None:
    """Apply the first of the alternatives that applies, unless the tree has the change already."""
    for patch in alternatives:
        reason = not_needed(source, patch)
        if reason:
            notes.append(f"{patch.name} is left out: this tree has it ({reason})")
            return
    first: DoesNotApply | None = None
    for patch in alternatives:
        try:
            return apply(source, scratch, copied, patch)
        except DoesNotApply as error:
            first = first or error
    raise first


def in_the_way(error: DoesNotApply, alternatives: list[Path], laid: list[str],
               changed: dict[str, bool]) -> DoesNotApply:
    """error, or, where policies laid before have changed the file, that they are in the way."""
    own = FILE.fullmatch(alternatives[0].name)["name"]
    others = [name for name in laid if FILE.fullmatch(name)["name"] != own]
    if error.file not in changed or not others:
        return error
    return DoesNotApply(f"cannot apply {alternatives[0].name} after {', '.join(others)}: its hunk at "
                        f"{error.file}:{error.line} does not fit what that makes of the file; give one of these "
                        "policies at a time", error.file, error.line)


def not_needed(source: Path, patch: Path) -> str:
    """Where source has what patch brings, by the patch's own Not-needed-if; else ""."""
    match = NOT_NEEDED.search(patch.read_text(errors="replace"))
    if not match:
        return ""
    try:
        text = (source / match["path"]).read_text(errors="replace")
    except OSError:
        return ""
    there = re.search(rf"\b{re.escape(match['identifier'])}\b", text)
    return f"{match['identifier']} in {match['path']}" if there else ""


def touched(text: str) -> set[str]:
    """The files a patch names, old names and new."""
    return {name for found in NAMES.findall(text) for name in found if name and name != "/dev/null"}


def apply(source: Path, scratch: Path, copied: set[str], patch: Path) -> None:
    """git apply patch in scratch, with the files it names copied there from source first."""
    try:
        text = patch.read_text(errors="surrogateescape")
    except OSError as error:
        raise SwapKunitError(f"cannot read the patch {patch}: {error.strerror}; give another one") from error
    for name in touched(text) - copied:
        if os.path.isabs(name) or ".." in Path(name).parts:
            raise SwapKunitError(f"cannot apply {patch.name}: it writes to {name}, outside of the kernel tree; "
                                 "look where it comes from")
        blocked = clash(source, name)
        if blocked:
            raise DoesNotApply(f"cannot apply {patch.name}: it has a file {name}, and {blocked} in this tree; "
                               "use the kernel it was made for")
        if (source / name).is_file():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, scratch / name)
        copied.add(name)
    done = git.in_scratch(scratch, "apply", "--whitespace=nowarn", patch.absolute())
    if done.status:
        raise explain(patch, done.output)


def clash(source: Path, name: str) -> str:
    """What in source keeps name from being a file; "" for nothing."""
    if (source / name).is_dir():
        return f"{name} is a directory"
    parent = next((parent for parent in Path(name).parents if (source / parent).is_file()), None)
    return f"{parent} is a file" if parent else ""


def explain(patch: Path, output: str) -> DoesNotApply:
    """What git apply said, as an error of ours."""
    match = FAILED_HUNK.search(output)
    said = output.strip().splitlines() or ["git apply says nothing"]
    made_for = MADE_FOR.search(patch.read_text(errors="replace"))
    advice = f"it was made for {made_for[1]}" if made_for else "use the kernel it was made for"
    if match:
        return DoesNotApply(f"cannot apply {patch.name}: its hunk at {match[1]}:{match[2]} does not fit this "
                            f"tree; see what the tree has there: {advice}", match[1], int(match[2]))
    return DoesNotApply(f"cannot apply {patch.name}: {said[0].removeprefix('error: ')}; {advice}")


def differing(source: Path, scratch: Path, copied: set[str]) -> dict[str, bool]:
    """Which of the copied files are not as in source any more; False where they are gone."""
    files = {}
    for name in sorted(copied):
        here, there = scratch / name, source / name
        if not here.is_file():
            if there.is_file():
                files[name] = False
        elif not there.is_file() or here.read_bytes() != there.read_bytes():
            files[name] = True
    return files


def adopt(scratch: Path, target: Path, names: list[str]) -> None:
    """Bring target's files in line with scratch's, leaving those alone that are right."""
    for parent, subdirs, files in os.walk(target, topdown=False):
        for name in files:
            path = Path(parent, name)
            if str(path.relative_to(target)) not in names:
                path.unlink()
        for name in subdirs:
            if not os.listdir(os.path.join(parent, name)):
                os.rmdir(os.path.join(parent, name))
    for name in names:
        new, old = scratch / name, target / name
        if old.is_file() and old.read_bytes() == new.read_bytes():
            continue
        old.parent.mkdir(parents=True, exist_ok=True)
        os.utime(new)
        os.replace(new, old)
