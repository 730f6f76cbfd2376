# SPDX-License-Identifier: GPL-2.0
"""A diff from a mail: where it ends, how it was damaged, which files it touches.

Patches are untrusted, so refusals() is strict: it looks at every line that git could take
for a name or a mode, and at the names that git itself reads.
"""
from __future__ import annotations

import re
from pathlib import Path

from ..base import git
from ..base.layout import REPO

HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
HEADING = re.compile(r"(?:diff --git |index [0-9a-f]+\.\.|old mode|new mode|new file mode|deleted file mode|"
                     r"similarity index|dissimilarity index|rename (?:from|to) |copy (?:from|to) |"
                     r"GIT binary patch|Binary files )")
MODE = re.compile(r"^(?:old mode|new mode|new file mode|deleted file mode|index [0-9a-f.]+) (\d{6})$", re.M)
RENAMED = re.compile(r"^(?:rename|copy) (?:from|to) (.*)$", re.M)
NAMES = re.compile(r"^--- ([^\t\n]*)(?:\t.*)?\n\+\+\+ ([^\t\n]*)(?:\t.*)?\n(?=@@ -)", re.M)
GIT_NAMES = re.compile(r"^diff --git (\S+) (\S+)$", re.M)
TOP_DIRECTORIES = ("mm", "include", "kernel", "fs", "lib", "arch", "block", "drivers", "init", "security", "scripts",
                   "Documentation", "tools", "net", "ipc", "crypto", "io_uring", "virt", "sound", "samples", "rust")
BARE_NAMES = re.compile(r"^--- \S.*\n\+\+\+ ((?:b/)?\S+).*\n(?!@@ -)", re.M)
BINARY = re.compile(r"^(?:GIT binary patch|Binary files .* differ)$", re.M)
SPECIAL = {"120000": "a symbolic link", "160000": "a submodule"}
SIGNATURE = "-- "       # starts what a mail program, or git, puts below a mail
AFTER_HUNK = re.compile(r"$|-- ?$|_+$|diff |@@ -|--- |Index: |index |From |=+$|\\")
OVERLAY = re.compile(r"mm/kunit(/|$)|mm/([^/]*_real\.[^/]*|[^/]*\.real|\.kunitconfig)$|"
                     r"\.(kunit|kunitconfig|overlay|src)(/|$)")
ENTITY = re.compile(r"^[-+ ].*&(?:lt|gt|amp|quot|nbsp);", re.M)


class DamagedDiff(Exception):
    """A diff that cannot be used; the message says why and where."""


def trimmed(diff: str) -> str:
    """diff up to the end of its last hunk. Raises DamagedDiff if a hunk does not have the size in its header."""
    bare = BARE_NAMES.search(diff)
    if bare and "@@ -" not in diff:
        raise DamagedDiff(f"it has no hunk (no line @@ -.. +.. @@) for {bare[1]}")
    lines = diff.removesuffix("\n").split("\n")
    number = end = 0
    while number < len(lines):
        match = HUNK.match(lines[number])
        number += 1
        if match:
            number = end = hunk_end(lines, number, int(match[1] or 1), int(match[2] or 1))
            check_end(lines, number)
        elif HEADING.match(lines[number - 1]):
            end = number
    return "\n".join(lines[:end]) + "\n" if end else ""


def hunk_end(lines: list[str], start: int, old: int, new: int) -> int:
    """The line after a hunk of old and new lines. Raises DamagedDiff."""
    number = start
    while old or new:
        if number >= len(lines) or lines[number] in (SIGNATURE, "_"):
            raise DamagedDiff(miscounted(lines, start, number) or
                              f"it ends in the middle of the hunk {lines[start - 1]}")
        kind = lines[number][:1]
        old -= kind in (" ", "", "-")
        new -= kind in (" ", "", "+")
        if kind not in (" ", "", "-", "+", "\\") or min(old, new) < 0:
            raise DamagedDiff(miscounted(lines, start, number) or
                              f"line {number - start + 1} of the hunk {lines[start - 1]} {guess(lines, start, number)}")
        number += 1
    return number + (number < len(lines) and lines[number].startswith("\\"))


def check_end(lines: list[str], number: int) -> None:
    """Refuse a hunk that continues at line number, beyond the size in its header. Raises DamagedDiff."""
    line = lines[number] if number < len(lines) else ""
    if re.match(r"\+(?!\+\+ )|-(?![-\s]|$)", line):
        start = next(at for at in range(number, 0, -1) if HUNK.match(lines[at - 1]))
        raise DamagedDiff(miscounted(lines, start, number) or f"'{line[:40]}' comes after the last line of the hunk "
                          f"{lines[start - 1]}")


def miscounted(lines: list[str], start: int, number: int) -> str:
    """A remark if the hunk from start on is complete, but its header has another size; number: the wrong line."""
    end = next((at for at in range(start, len(lines)) if lines[at] == SIGNATURE or not re.match(r"[-+ \\]|$", lines[at])
                or re.match(r"--- \S", lines[at])), len(lines))
    while end > start and not lines[end - 1]:
        end -= 1
    kinds = [line[:1] or " " for line in lines[start:end]]
    header = HUNK.match(lines[start - 1])
    assert header
    old, new = (sum(kind in (" ", sign) for kind in kinds) for sign in "-+")
    following = lines[end] if end < len(lines) else ""
    cut_off = end == len(lines) and old <= int(header[1] or 1) and new <= int(header[2] or 1)
    if cut_off or number > end or not AFTER_HUNK.match(following):
        return ""
    return (f"the hunk {lines[start - 1]} has {old} old and {new} new lines: it was edited by hand "
            "(recountdiff of patchutils corrects the numbers), or lines were lost or joined")


def guess(lines: list[str], start: int, number: int) -> str:
    """How line number may have been damaged, which cannot be part of the hunk from start on."""
    line, hunk = lines[number], lines[start:number + 12]
    if SIGNATURE in lines[start:number] or line[:1] in (" ", "", "-", "+", "\\"):
        return f"is not part of it, '{line[:40]}': lines were lost or joined above it"
    if line.startswith(">"):
        return f"is quoted, '{line[:40]}': the mail is a reply"
    cause = "the mail program wrapped a long line"
    if not any(re.match(r" ", text) for text in hunk):
        cause = "the space at the start of context lines was lost, as on some web pages"
    return f"starts with no ' ', '+' or '-': '{line[:40].strip()}': {cause}"


def suspicions(diff: str, flowed: bool = False) -> list[str]:
    """How a mail program seems to have changed the white space and characters of diff."""
    found = []
    body = [line for line in diff.split("\n") if line[:1] in (" ", "+", "-") and line[:3] not in ("---", "+++")]
    indented = [line for line in body if re.match(r"[-+ ](?: {4}|\t)", line)]
    if len(indented) > 2 and not any("\t" in line for line in body):
        found.append("its tabs became spaces")
    stuffed = [line for line in body if line.startswith("  \t")]
    if flowed or stuffed:
        found.append("it was sent as format=flowed" if flowed else "its context lines begin with two spaces, "
                     "as in format=flowed")
    if "\u00a0" in diff:
        found.append("it contains no-break spaces")
    if ENTITY.search(diff):
        found.append("it contains HTML's &lt; or &amp;")
    return found


# -- the files it touches -----------------------------------------------------


def touched(diff: str, scratch: Path) -> list[str]:
    """Every file that diff names, as git reads it. Raises DamagedDiff if git cannot."""
    patch = scratch / "vetted.diff"
    patch.write_bytes(diff.encode("utf-8", "surrogateescape"))
    done = git.in_scratch(scratch, "apply", "--numstat", "-z", patch.name)
    patch.unlink()
    if done.status:
        message = (done.output.strip().splitlines() or ["no message"])[0]
        raise DamagedDiff(f"git cannot read it: {message.removeprefix('error: ')}")
    names = [entry.split("\t", 2)[2] for entry in done.output.split("\0") if entry.count("\t") >= 2]
    return list(dict.fromkeys(names + RENAMED.findall(diff)))


def canonical(diff: str) -> str:
    """diff with names as a/PATH and b/PATH; some tools write linux.orig/PATH, or no prefix."""
    bare = any(first == second for first, second in GIT_NAMES.findall(diff))
    pairs = [name for pair in NAMES.findall(diff) for name in pair if name != "/dev/null"]
    bare = bare or bool(pairs) and all("/" not in name or name.partition("/")[0] in TOP_DIRECTORIES
                                          for name in pairs)
    if not bare and all(name.startswith(("a/", "b/")) for name in pairs):
        return diff

    def path(name: str, side: str) -> str:
        return name if name == "/dev/null" else side + (name if bare else name.partition("/")[2])

    diff = GIT_NAMES.sub(lambda match: f"diff --git {path(match[1], 'a/')} {path(match[2], 'b/')}", diff)
    return NAMES.sub(lambda match: f"--- {path(match[1], 'a/')}\n+++ {path(match[2], 'b/')}\n", diff)


def refusals(diff: str, names: list[str]) -> list[str]:
    """Why diff must not be applied to any tree; [] if it may."""
    raw = [name for pair in NAMES.findall(diff) for name in pair if name != "/dev/null"]
    found = [f"it writes to {name}, outside of the kernel tree" for name in [*names, *raw]
             if {"", ".."} & {*name.split("/")}]
    found += [f"it touches '{name.encode('unicode_escape').decode()}', a file name with special characters"
              for name in [*names, *raw] if re.search(r'[\x00-\x1f\x7f"\\]', name)]
    found += [f"it writes to {name}, which belongs to git" for name in names
              if any(part.casefold() == ".git" for part in name.split("/"))]
    found += [f"it touches {name}, which is swap-kunit's own" for name in names if is_ours(name)]
    found += [f"it creates or changes {SPECIAL[mode]}" for mode in MODE.findall(diff) if mode in SPECIAL]
    if BINARY.search(diff):
        found.append("it is binary")
    return list(dict.fromkeys(found))


def is_ours(name: str) -> bool:
    """Whether name is a file of ours in the overlay, or a file that a wrapper includes."""
    if OVERLAY.match(name):
        return True
    return name.startswith("mm/") and name.count("/") == 1 and (REPO / name).suffix == ".h" and (REPO / name).exists()
