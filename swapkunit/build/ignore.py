# SPDX-License-Identifier: GPL-2.0
"""Which files of a kernel tree are the results of a build inside it.

A developer's tree often contains an x86 build. Its .config, generated headers and objects
would end up in the UML kernel through VPATH, so the overlay must not have them. The kernel's
.gitignore files tell what a build makes, except patterns that hide every dot file or the whole
content of a directory (Debian adds one at the top level): these are ignored. The small matcher
below reads the files, so that an unpacked tarball needs no git. In a git tree, tracked files
always count as source.
"""
from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from ..base import git

# Made by every kernel build, whatever the .gitignore files say.
SUFFIXES = (".o", ".ko", ".cmd", ".mod", ".mod.c", ".gcno", ".gcda", ".dwo", ".pyc", ".rlib")
NAMES = frozenset((
    "built-in.a", "lib.a", "modules.order", "modules.builtin", "modules.builtin.modinfo",
    "Module.symvers", "System.map", "vmlinux", "vmlinux.a", "vmlinux.symvers",
    "compile_commands.json"))
# Dot files that are source, besides those that git tracks; a build makes many others.
DOT_SOURCE = re.compile(r"\.(gitignore|gitattributes|kunitconfig.*|mailmap|keep|.*lint|.*ignore|.*\.txt"
                        r"|.*rc|clang-format|editorconfig|cocciconfig|.*\.toml)")
DIRECTORIES = re.compile(r"include/(config|generated)|arch/[^/]+/include/generated")
# Not part of a kernel build; their .gitignore patterns are too broad.
LOOSE = ("Documentation/", "tools/", "samples/")
SWALLOWING = frozenset(("*", "/*", "*.*", ".*", "/.*"))


def glob_regex(pattern: str) -> str:
    """A .gitignore glob as a regular expression; `*` does not match a slash."""
    out, at = "", 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
            continue
        char = pattern[at]
        end = pattern.find("]", at + 2) if char == "[" else -1
        if char == "*":
            out += "[^/]*"
        elif char == "?":
            out += "[^/]"
        elif end > 0:
            out += "[" + pattern[at + 1:end].replace("!", "^", 1) + "]"
            at = end
        elif char == "\\" and at + 1 < len(pattern):
            at += 1
            out += re.escape(pattern[at])
        else:
            out += re.escape(char)
        at += 1
    return out


def _any_of(parts: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(parts)) if parts else None


@dataclass
class IgnoreFile:
    """One .gitignore, sorted by how its patterns are looked up. Paths are relative to the tree."""

    names: set[str] = field(default_factory=set)
    suffixes: tuple[str, ...] = ()
    name_regex: re.Pattern[str] | None = None
    paths: set[str] = field(default_factory=set)
    path_regex: re.Pattern[str] | None = None
    keep_regex: re.Pattern[str] | None = None
    directories: set[str] = field(default_factory=set)
    directory_regex: re.Pattern[str] | None = None

    def hides(self, name: str, path: str, is_dir: bool) -> bool:
        """Whether a pattern matches, negations aside."""
        return (name in self.names or path in self.paths
                or (bool(self.suffixes) and name.endswith(self.suffixes))
                or (is_dir and (name in self.directories or path in self.directories))
                or (is_dir and bool(self.directory_regex and self.directory_regex.fullmatch(path)))
                or bool(self.name_regex and self.name_regex.fullmatch(name))
                or bool(self.path_regex and self.path_regex.fullmatch(path)))


def parse_ignore_file(text: str, directory: str) -> IgnoreFile:
    """Parse .gitignore text lying in directory ("" or "mm/")."""
    rules = IgnoreFile()
    suffixes, names, paths, keeps, directories = [], [], [], [], []
    for line in text.splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#") or pattern in SWALLOWING:
            continue
        negated, pattern = pattern.startswith("!"), pattern.lstrip("!")
        only_dir, pattern = pattern.endswith("/"), pattern.rstrip("/")
        anchored = "/" in pattern
        if anchored:
            pattern = directory + pattern.lstrip("/")
        plain = not re.search(r"[*?\[\\]", pattern)
        if negated:
            keeps.append(glob_regex(pattern if anchored else f"**/{pattern}"))
        elif only_dir and plain:
            rules.directories.add(pattern)
        elif only_dir:
            directories.append(glob_regex(pattern if anchored else f"**/{pattern}"))
        elif plain:
            (rules.paths if anchored else rules.names).add(pattern)
        elif anchored:
            paths.append(glob_regex(pattern))
        elif re.fullmatch(r"\*[\w.~-]+", pattern):
            suffixes.append(pattern[1:])
        else:
            names.append(glob_regex(pattern))
    rules.suffixes = tuple(suffixes)
    rules.name_regex, rules.path_regex, rules.keep_regex = map(_any_of, (names, paths, keeps))
    rules.directory_regex = _any_of(directories)
    return rules


class Artefacts:
    """Distinguishes build artefacts from source in one kernel tree."""

    def __init__(self, source: Path):
        self.source = source
        self._is_git = (source / ".git").exists()
        self._files: dict[str, list[IgnoreFile]] = {}

    def _chain(self, directory: str) -> list[IgnoreFile]:
        """The .gitignore files that apply to directory ("" or "mm/"), top first."""
        known = self._files.get(directory)
        if known is not None:
            return known
        head = directory.rstrip("/").rpartition("/")[0]
        chain = self._chain(head + "/" if head else "") if directory else []
        try:
            text = (self.source / directory / ".gitignore").read_text(errors="replace")
            chain = chain + [parse_ignore_file(text, directory)]
        except OSError:
            pass
        self._files[directory] = chain
        return chain

    def of(self, directory: str, entries: dict[str, bool]) -> set[str]:
        """The names in entries (name -> is a directory) that a build made.

        directory is "" or ends with a slash.
        """
        chain = [] if directory.startswith(LOOSE) else self._chain(directory)
        found = {name for name, is_dir in entries.items()
                 if self._made_by_build(chain, directory, name, is_dir)}
        if found and self._is_git:
            found -= self._tracked(directory, found)
        if ".config" in found and directory and "include" in entries:
            found |= entries.keys()     # somebody's O= directory inside the tree
        return found

    @staticmethod
    def _made_by_build(chain: list[IgnoreFile], directory: str, name: str, is_dir: bool) -> bool:
        path = directory + name
        if name.startswith(".") and not DOT_SOURCE.fullmatch(name) or name == "__pycache__":
            return True
        if is_dir and DIRECTORIES.fullmatch(path):
            return True
        if not is_dir and (name in NAMES or name.endswith(SUFFIXES)):
            return True
        if not any(rules.hides(name, path, is_dir) for rules in chain):
            return False
        return not any(rules.keep_regex and rules.keep_regex.fullmatch(path) for rules in chain)

    def _tracked(self, directory: str, names: set[str]) -> set[str]:
        """The names that git tracks; none without git."""
        asked = [f":(literal){name}" for name in sorted(names - {".git"})]
        listed = git.bytes_of(self.source / directory, "ls-files", "-z", "--", *asked) if asked else b""
        return {os.fsdecode(path).partition("/")[0] for path in listed.split(b"\0") if path}
