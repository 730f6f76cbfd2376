# SPDX-License-Identifier: GPL-2.0
"""Leave out of this project's C code what does not compile in a tree, and nothing more.

A compiler's error leads to the smallest thing around it that can go: a function, a declaration, an element of an
array, an #include, a seam. Its lines are made empty, so that all others keep their numbers. What used it is the next
compilation's error: the compiler decides what depends on what.
"""
from __future__ import annotations

import fnmatch
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Iterable, Iterator

ERROR = re.compile(r"^(?P<file>[^:\s]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.M)
CASE = re.compile(r"^\s*[A-Z]\w*\((\w+)", re.M)     # an element of the array; suites have macros of their own
SUITE = re.compile(r"^SWAP_KUNIT_SUITE\((\w+),\s*(\w+)\)", re.M)
FOR = re.compile(r"/\* for: ([\w*\[\] ]+) \*/")
DEFINE = re.compile(r"^\s*#\s*define\s+(\w+)")
DIRECTIVE = re.compile(r"^\s*#\s*(\w+)")
UNSEEN = re.compile(r'#\s*error "not seen: ([\w ]+)"')
# Seams that see what a case can only expect, and how suites write it: a letter of the notation, and its enumerator.
SEEN = {"swap_seam_allocated": r"A(?:\d+|%u|%d)[:^]|\bSWAP_ALLOC\b",
        "swap_seam_zswap_stored": r"S(?:\d+|%u|%d)[:^]|\bSWAP_ZSWAP_STORE\b",
        "swap_seam_zswap_loaded": r"L(?:\d+|%u|%d)[:^]|\bSWAP_ZSWAP_LOAD\b"}
FAILS = re.compile(r"\bSWAP_FAIL_\w+")
QUOTED = re.compile(r'"(?:\\.|[^"\\])*"' + r"|'(?:\\.|[^'\\])*'")


@dataclass(frozen=True)
class Complaint:
    """An error of the compiler: where (a path as the compiler has it, a line from 1 on), and what."""

    file: str
    line: int
    text: str

    @property
    def symbol(self) -> str:
        """The name that it is about, or ""."""
        text = self.text.partition("; did you mean")[0]
        names: list[str] = re.findall(r"[‘'](?:struct |union |enum )?(\w+)[’']", text)
        if "has no member named" in self.text:
            return names[-1] if names else ""
        return names[0] if names else ""


def complaints(output: str) -> list[Complaint]:
    """The errors in what a compiler printed, each once."""
    return list(dict.fromkeys(Complaint(match["file"], int(match["line"]), match["text"])
                              for match in ERROR.finditer(output)))


@dataclass(frozen=True)
class Item:
    """A function, declaration or definition at file scope: lines first to last, counted from 0; name may be ""."""

    first: int
    last: int
    name: str
    static: bool


class Source:
    """A C file of this project, from which things go."""

    def __init__(self, text: str):
        self.original = text
        self.lines = text.split("\n")
        self._bare, self._depths, self._directives = scan(self.lines)
        self.items = list(find_items(self._bare, self._depths, self._directives))

    @property
    def text(self) -> str:
        """What is left of it."""
        return "\n".join(self.lines)

    @property
    def changed(self) -> bool:
        """Whether something has gone."""
        return self.text != self.original

    def drop(self, line: int) -> list[str] | None:
        """Leave out the smallest thing around a line (from 1 on).

        Returns the names that are known in other files and have gone, and for an element with a comment "for: GLOB ..."
        those globs, of suites; None when there is nothing to leave out.
        """
        at = line - 1
        if at >= len(self.lines) or not self.lines[at].strip():
            return None
        if self._directives[at]:
            if not re.match(r"\s*#\s*(?:include|error)\b", self.lines[at]):
                return None
            self.lines[at] = ""
            return []
        item = next((one for one in self.items if one.first <= at <= one.last), None)
        if item is None:
            return None
        element = self._element(item, at)
        first, last = element or (item.first, item.last)
        needed = FOR.search("\n".join(self.lines[first:last + 1])) if element else None
        self._empty(first, last)
        if element:
            return needed[1].split() if needed else []
        return [] if item.static or not item.name else [item.name]

    def lines_calling(self, name: str) -> list[int]:
        """The lines, from 1 on, that call a function."""
        return [at for at, code in enumerate(self._bare, 1)
                if self.lines[at - 1] and re.search(rf"\b{name}\s*\(", code)]

    def drop_suite(self, pattern: str) -> None:
        """Leave out the suites whose names match pattern."""
        for match in SUITE.finditer(self.text):
            if fnmatch.fnmatchcase(match[1], pattern):
                self.drop(self.text.count("\n", 0, match.start()) + 1)

    def drop_name(self, name: str) -> bool:
        """Leave out the declarations of a name; False when there is none left."""
        found = [item for item in self.items if item.name == name and self.has_code(item, self.lines)]
        for item in found:
            self._empty(item.first, item.last)
        return bool(found)

    def defined(self) -> list[str]:
        """The macros that it defines."""
        return [match[1] for match in map(DEFINE.match, self.lines) if match]

    def drop_seam(self, code: str) -> str:
        """Leave out the #define of a name that stands in code; its text and that of what it uses here, or ""."""
        for at, line in enumerate(self.lines):
            match = DEFINE.match(line)
            if match and re.search(rf"\b{match[1]}\b", code):
                first = at
                while self.lines[at].endswith("\\"):
                    at += 1
                text = "\n".join(self.lines[first:at + 1])
                self.lines[first:at + 1] = [""] * (at + 1 - first)
                return text + self._used_by(text)
        return ""

    def drop_uses(self, pattern: str) -> None:
        """Leave out the functions and tables in which pattern matches."""
        for item in self.items:
            if re.search(pattern, "\n".join(self.lines[item.first:item.last + 1])):
                self._empty(item.first, item.last)

    def _used_by(self, text: str) -> str:
        """The text, as it was, of the functions of this file that stand in text."""
        lines = self.original.split("\n")
        return "\n".join(line for item in self.items if item.name and re.search(rf"\b{item.name}\b", text)
                         for line in lines[item.first:item.last + 1])

    def has_code(self, item: Item, lines: list[str]) -> bool:
        """Whether something is left of an item in this file's lines."""
        return any(lines[at].strip() and not self._directives[at] for at in range(item.first, item.last + 1))

    def _empty(self, first: int, last: int) -> None:
        """Make lines empty; directives stay, since they are balanced only together."""
        for at in range(first, last + 1):
            if not self._directives[at]:
                self.lines[at] = ""

    def _element(self, item: Item, at: int) -> tuple[int, int] | None:
        """The lines of the element of an initialiser that at is in, where it has lines of its own."""
        opening = next((line for line in range(item.first, item.last + 1)
                        if self._bare[line].rstrip().endswith("= {")), None)
        if opening is None or not opening < at < item.last:
            return None
        inside = self._depths[opening][1]
        first = at
        while first > opening + 1 and not (self._depths[first - 1][1] == inside
                                           and ends_element(self._bare[first - 1])):
            first -= 1
        last = at
        while last < item.last and not (self._depths[last][1] == inside and self._bare[last].rstrip().endswith(",")):
            last += 1
        if last == item.last:
            last = item.last - 1
        return (first, last) if first <= at <= last else None


def ends_element(bare: str) -> bool:
    """Whether a line of an initialiser is the last one of an element, or not code."""
    return not bare.strip() or bare.rstrip().endswith(",")


def scan(lines: list[str]) -> tuple[list[str], list[tuple[int, int]], list[bool]]:
    """For each line: its code without comments and strings, the depth of brackets before and after it, and whether it
    belongs to a preprocessor directive. The branches of an #if start at the same depth."""
    bare, depths, directives = [], [], []
    depth, comment, continued = 0, False, False
    branches: list[tuple[int, int | None]] = []     # the depth at #if, and at the end of its first branch
    for line in lines:
        code, comment = without_comments(line, comment)
        directive = continued or bool(DIRECTIVE.match(code))
        before = depth
        if directive:
            depth = depth if continued else after_directive(code, depth, branches)
            continued = code.rstrip().endswith("\\")
        else:
            depth += sum(map(code.count, "({[")) - sum(map(code.count, ")}]"))
        bare.append("" if directive else code)
        depths.append((before, depth))
        directives.append(directive)
    return bare, depths, directives


def after_directive(code: str, depth: int, branches: list[tuple[int, int | None]]) -> int:
    """The depth behind a directive."""
    match = DIRECTIVE.match(code)
    kind = match[1] if match else ""
    if kind in ("if", "ifdef", "ifndef"):
        branches.append((depth, None))
    elif kind in ("else", "elif") and branches:
        start, end = branches[-1]
        branches[-1] = (start, depth if end is None else end)
        return start
    elif kind == "endif" and branches:
        _, end = branches.pop()
        return depth if end is None else end
    return depth


def without_comments(line: str, comment: bool) -> tuple[str, bool]:
    """A line's code, its strings emptied; comment: whether a comment is open before it, and then after it."""
    code = ""
    rest = line if comment else QUOTED.sub('""', line)
    while rest:
        if comment:
            _, end, rest = rest.partition("*/")
            comment = not end
            continue
        head, start, rest = rest.partition("/*")
        code += head
        comment = bool(start)
    return code.partition("//")[0], comment


def find_items(bare: list[str], depths: list[tuple[int, int]], directives: list[bool]) -> Iterator[Item]:
    """What stands at file scope."""
    first: int | None = None
    for at, code in enumerate(bare):
        if directives[at] or (first is None and not code.strip()):
            continue
        first = at if first is None else first
        end = code.rstrip()
        if depths[at][1] == 0 and (end.endswith(";") or end.endswith("}")):
            head = " ".join(bare[first:at + 1]).partition("{")[0]
            yield Item(first, at, name_in(head), bool(re.match(r"\s*static\b", head)))
            first = None


def name_in(head: str) -> str:
    """The name that a declaration or definition gives, from its text before any {; "" of a call of a macro."""
    head = re.sub(r"__printf\([^)]*\)|__attribute__\(\(.*?\)\)", "", head)
    before = re.split(r"[(\[=;]", head, maxsplit=1)[0]
    names: list[str] = re.findall(r"\w+", before)
    macro = len(names) == 1 and head[len(before):].startswith("(")
    return names[-1] if names and not macro else ""


# -- all files of the project ------------------------------------------------


@dataclass(frozen=True)
class Misfit:
    """Something that does not compile in a tree. file and line: of this project, or of the kernel for a seam."""

    file: str
    line: int
    text: str
    symbol: str


@dataclass
class OwnCode:
    """The C files of this project by the name they have in an overlay, and what does not fit in."""

    files: dict[str, Source]
    misfits: list[Misfit] = field(default_factory=list)
    blamed: dict[str, Misfit] = field(default_factory=dict)     # names and suite.case that have gone, and for what

    @classmethod
    def of(cls, texts: dict[str, str]) -> OwnCode:
        """From the text of each file."""
        return cls({name: Source(text) for name, text in texts.items()})

    def leave_out(self, found: Iterable[Complaint], kernel_line: dict[tuple[str, int], str], cause: bool) -> bool:
        """Leave out what the compiler complains of; False when it complains of something else.

        Paths are those of the overlay. kernel_line: the text of lines of the kernel's files. cause: these are
        misfits, not what follows from leaving something out.
        """
        done = False
        found = list(found)
        kernels = {(one.file, one.line): one for one in found if one.file not in self.files}
        for place, one in kernels.items():
            with self.blaming(misfit_of(one) if cause else None):
                seams = "".join(source.drop_seam(kernel_line.get(place, "")) for source in self.files.values())
                if not seams:
                    return False    # the kernel's own
                self._lose(seams)
            done = True
            self.misfits += [misfit_of(one)] if cause else []
        for one in found:
            with self.blaming(misfit_of(one) if cause else self.blamed.get(one.symbol)):
                dropped = one.file in self.files and self._drop(one)
            done = done or dropped
            self.misfits += [misfit_of(one)] if dropped and cause else []
        return done

    @contextmanager
    def blaming(self, misfit: Misfit | None) -> Iterator[None]:
        """What goes inside goes because of a misfit."""
        before = {name: source.lines.copy() for name, source in self.files.items()} if misfit else {}
        yield
        for name, lines in before.items():
            source = self.files[name]
            if misfit and source.lines != lines:
                gone = [item.name for item in source.items if item.name and source.has_code(item, lines)
                        and not source.has_code(item, source.lines)]
                left = cases_in(source.text)
                for one in (*gone, *(case for case in cases_in("\n".join(lines)) if case not in left)):
                    self.blamed.setdefault(one, misfit)

    def _drop(self, one: Complaint) -> bool:
        """Leave out what an error in a file of this project is about."""
        source = self.files[one.file]
        lines = [one.line]
        if "implicit declaration" in one.text:      # a compiler says so of the first call only
            lines += source.lines_calling(one.symbol)
        unseen = UNSEEN.search(source.lines[one.line - 1]) if one.line <= len(source.lines) else None
        self._lose(unseen[1] if unseen else "")
        dropped = [source.drop(line) for line in lines]
        for name in {name for names in dropped for name in names or ()}:
            for other in self.files.values():
                other.drop_name(name)
                other.drop_suite(name)
        return any(names is not None for names in dropped)

    def _lose(self, seams: str) -> None:
        """Leave out of the suites what expects to see, or to make fail, a call that has no seam any more."""
        patterns = [pattern for name, pattern in SEEN.items() if re.search(rf"\b{name}\b", seams)]
        patterns += [rf"\b{point}\b" for point in set(FAILS.findall(seams))]
        for name, source in self.files.items():
            if patterns and name.endswith("_kunit.c"):
                source.drop_uses("|".join(patterns))

    def changed(self) -> dict[str, str]:
        """The files from which something has gone, with what is left."""
        return {name: source.text for name, source in self.files.items() if source.changed}

    def cases(self) -> tuple[list[str], list[str]]:
        """suite.case of all cases, and of those that have gone; a suite's cases go with it."""
        every = [case for source in self.files.values() for case in cases_in(source.original)]
        left = {case for source in self.files.values() for case in cases_in(source.text)}
        return every, [case for case in every if case not in left]


def misfit_of(one: Complaint) -> Misfit:
    """The misfit that a compiler complains of."""
    return Misfit(one.file, one.line, one.text, one.symbol)


def cases_in(text: str) -> list[str]:
    """suite.case of the cases that a suite's file registers."""
    match = SUITE.search(text)
    if not match:
        return []
    array = re.search(rf"\b{match[2]}\[\]\s*=\s*\{{(.*?)\}};", text, re.S | re.M)
    return [f"{match[1]}.{name}" for name in CASE.findall(array[1] if array else "")]
