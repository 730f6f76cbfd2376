# SPDX-License-Identifier: GPL-2.0
"""Apply patches to copies of a kernel tree's files: our policies, or a series under test.

A policy NAME is the files NAME-1-what.patch, NAME-2-what.patch and so on in mm/policies,
applied in this order. Files with the same NAME-N are alternatives for different kernels;
the first that applies is used. The header line

    Not-needed-if: arch/um/Kconfig: HAVE_ARCH_TRANSPARENT_HUGEPAGE

names a file and an identifier in it that shows that a tree already has the change;

    Made-for: Linux 7.x

is part of the error message if no alternative applies.

The patched copies are in the overlay's directory PATCHED. A copy is rewritten only if its
content changes, so that make rebuilds only what is necessary.
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
from ..base.text import did_you_mean

FILE = re.compile(r"(?P<name>[a-z][\w-]*?)-(?P<step>\d+)-[\w.-]+\.patch")
NOT_NEEDED = re.compile(r"^Not-needed-if:\s*(?P<path>[^\s:]+):\s*(?P<identifier>\w+)\s*$", re.M)
MADE_FOR = re.compile(r"^Made-for:\s*(.+?)\s*$", re.M)
NAMES = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+?)(?:\t.*)?$|^(?:rename|copy) (?:from|to) (.+)$"
                   r"|^diff --git a/(\S+) b/\S+$", re.M)
NO_DIFF = "No valid patches in input"       # git's advice for this is --allow-empty
FAILED_HUNK = re.compile(r"^error: patch failed: (.+):(\d+)$", re.M)


class DoesNotApply(SwapKunitError):
    """A patch does not apply. file and line: of the first hunk that fails, if git says."""

    def __init__(self, message: str, file: str = "", line: int = 0):
        super().__init__(message)
        self.file, self.line = file, line


@dataclass
class Patched:
    """The files that differ from the source (False: deleted), and notes for the user."""

    files: dict[str, bool] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def known(directory: Path) -> list[str]:
    """The names of all policies."""
    found = (FILE.fullmatch(path.name) for path in directory.glob("*.patch"))
    return sorted({match["name"] for match in found if match})


def steps_of(name: str, directory: Path) -> list[list[Path]]:
    """The steps of a policy in order, each with its alternatives. Raises SwapKunitError."""
    steps: dict[int, list[Path]] = {}
    for path in sorted(directory.glob("*.patch")):
        match = FILE.fullmatch(path.name)
        if match and match["name"] == name:
            steps.setdefault(int(match["step"]), []).append(path)
    if not steps:
        raise SwapKunitError(f"no policy '{name}': there is no {directory}/{name}-1-*.patch; "
                             f"{did_you_mean(name, known(directory))}choose one of "
                             f"{', '.join(known(directory)) or 'none'}")
    return [steps[number] for number in sorted(steps)]


def lay(source: Path, target: Path, policies: list[list[Path]], patches: list[Path]) -> Patched:
    """Make target contain exactly the files of source that the patches change.

    policies: steps with their alternatives; patches: applied after them. source is not
    written to. Raises DoesNotApply.
    """
    patched = Patched()
    if not policies and not patches:
        shutil.rmtree(target, ignore_errors=True)
        return patched
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{target.name}-", dir=target.parent) as name:
        scratch = Path(name)
        copied: set[str] = set()
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
    """Apply the first alternative that applies, unless the tree already has the change. Raises DoesNotApply."""
    for patch in alternatives:
        reason = not_needed(source, patch)
        if reason:
            notes.append(f"{patch.name} is left out: this tree already has it ({reason})")
            return
    errors: list[DoesNotApply] = []
    for patch in alternatives:
        try:
            apply(source, scratch, copied, patch)
            return
        except DoesNotApply as error:
            errors.append(error)
    raise errors[0]


def in_the_way(error: DoesNotApply, alternatives: list[Path], laid: list[str],
               changed: dict[str, bool]) -> DoesNotApply:
    """error; or a better one, if other policies have changed the file before."""
    others = [name for name in laid if policy_of(name) != policy_of(alternatives[0].name)]
    if error.file not in changed or not others:
        return error
    return DoesNotApply(f"cannot apply {alternatives[0].name} after {', '.join(others)}: its hunk at "
                        f"{error.file}:{error.line} conflicts with their changes; use one of these policies "
                        "at a time", error.file, error.line)


def policy_of(name: str) -> str:
    """The policy that a file of mm/policies belongs to, "" for other files."""
    match = FILE.fullmatch(name)
    return match["name"] if match else ""


def not_needed(source: Path, patch: Path) -> str:
    """Where source already has the change, by Not-needed-if of the patch; otherwise ""."""
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
    """The files that a patch names, with old and new names."""
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
                                 "check where it comes from")
        blocked = clash(source, name)
        if blocked:
            raise DoesNotApply(f"cannot apply {patch.name}: it changes {name}, but {blocked} in this tree; "
                               "use the kernel it was made for")
        if (source / name).is_file():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, scratch / name)
        copied.add(name)
    done = git.in_scratch(scratch, "apply", "--whitespace=nowarn", patch.absolute())
    if done.status:
        raise explain(patch, done.output)


def clash(source: Path, name: str) -> str:
    """Why name cannot be a file in source, or ""."""
    if (source / name).is_dir():
        return f"{name} is a directory"
    parent = next((parent for parent in Path(name).parents if (source / parent).is_file()), None)
    return f"{parent} is a file" if parent else ""


def explain(patch: Path, output: str) -> DoesNotApply:
    """The error for a message of git apply."""
    match = FAILED_HUNK.search(output)
    if NO_DIFF in output:
        return DoesNotApply(f"cannot apply {patch.name}: it has no diff that git can read; give a patch of git "
                            "format-patch, or the raw mail with the patch in its text")
    message = (output.strip().splitlines() or ["git apply gave no reason"])[0]
    made_for = MADE_FOR.search(patch.read_text(errors="replace"))
    advice = f"it was made for {made_for[1]}" if made_for else "use the kernel it was made for"
    if match:
        return DoesNotApply(f"cannot apply {patch.name}: its hunk at {match[1]}:{match[2]} does not apply to "
                            f"this tree; {advice}", match[1], int(match[2]))
    return DoesNotApply(f"cannot apply {patch.name}: {message.removeprefix('error: ')}; {advice}")


def differing(source: Path, scratch: Path, copied: set[str]) -> dict[str, bool]:
    """The copied files that differ from source; False: deleted."""
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
    """Move the files of scratch to target; remove others, and leave equal ones untouched."""
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
