# SPDX-License-Identifier: GPL-2.0
"""See to it that this project's own code compiles in a tree, by leaving out what does not.

    TREE/.fitted/           copies of own files from which something is left out, laid in the place of the originals
    TREE/.fitted.json       what was left out, and what that depends on
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Iterable

from ..base import commands, git
from ..base.errors import SwapKunitError
from ..base.layout import REPO, WRAPPED, Layout, write_whole
from ..base.text import relative
from ..source import kernels
from .fitting import Complaint, Misfit, OwnCode, Source, complaints
from .overlay import FITTED, OWN_DIR, own_files, real_name

RECORD = ".fitted.json"
PROBED = "mm/swap_api.probe.stamp"      # the compiler's command is in there
READ = ".fit"           # in the build directory: what the compiler reads, while it is at work
MOST_ROUNDS = 60
SOME = 3        # misfits in a line
UNDEFINED = re.compile(r"in function [`'‘](?P<function>\w+)['’]:\n(?P<lines>(?:.*undefined reference to .*\n)+)")
MEMBER = re.compile(r"[‘'](?:const |volatile )*((?:struct |union )?\w+)[’']\}? has no member named")
SYMBOL = re.compile(r"undefined reference to [`'‘](\w+)['’]")
FLAGS = ["-fsyntax-only", "-ftrack-macro-expansion=0", "-fmax-errors=0", "-Wno-error", "-Wno-format-zero-length",
         "-Werror=implicit-function-declaration"]


@dataclass
class LeftOut:
    """What of this project a tree cannot have. cases: how many there are; lost: suite.case of those left out.

    because: for some of these, the place in misfits of what they lack.
    """

    misfits: list[Misfit] = field(default_factory=list)
    cases: int = 0
    lost: list[str] = field(default_factory=list)
    because: dict[str, int] = field(default_factory=dict)

    def cause_of(self, lost: list[str]) -> str:
        """Which misfits cases were left out for, a few of them, in a line."""
        known = [self.misfits[place] for place in dict.fromkeys(self.because[case] for case in lost
                                                                if case in self.because)]
        text = "; ".join(f"{own_name(one.file)}:{one.line}: {one.text}" for one in (known or self.misfits)[:SOME])
        return text if known else f"perhaps {text}"


def left_out(layout: Layout) -> LeftOut:
    """What was left out of the build in an output directory."""
    try:
        found = json.loads((layout.tree / RECORD).read_text(encoding="utf-8"))["left_out"]
    except (OSError, ValueError):
        return LeftOut()
    return LeftOut([Misfit(**one) for one in found["misfits"]], found["cases"], found["lost"], found.get("because", {}))


def forget_when_changed(layout: Layout) -> list[str]:
    """Take back what was left out of files if the tree or this project has changed since; returns their names."""
    names = own_files(layout.tree / FITTED)
    try:
        record = json.loads((layout.tree / RECORD).read_text(encoding="utf-8"))
        if not names or record["key"] == key(layout, record["read"]):
            return []
    except (OSError, ValueError, KeyError):
        pass
    (layout.tree / RECORD).unlink(missing_ok=True)
    for name in names:
        (layout.tree / FITTED / name).unlink()
    return names


def key(layout: Layout, read: Iterable[str]) -> str:
    """Stands for the files that decide what fits: ours by content, the kernel's that were read by size and time.

    Of the kernel's others only the names count: one that is new may be what was missed.
    """
    digest = hashlib.sha256()
    for top in ("kunit", "mm"):
        for name in own_files(layout.own / top):
            digest.update(f"{name}\0".encode() + (layout.own / top / name).read_bytes())
    for directory in ("mm", "include/linux", "include/linux/sched", "include/kunit"):
        digest.update("\0".join(sorted(os.listdir(layout.tree / directory))).encode())
    for name in read:
        path = layout.tree / name
        info = path.stat() if path.exists() else None
        digest.update(f"{name} {info and (info.st_size, info.st_mtime_ns)}".encode())
    digest.update((layout.build / ".config").read_bytes() if (layout.build / ".config").exists() else b"")
    return digest.hexdigest()


def wrappers(layout: Layout) -> list[str]:
    """The wrapped files that the tree has and this configuration compiles, such as mm/zswap.c."""
    config = (layout.build / ".config").read_text(encoding="utf-8", errors="replace")
    makefile = layout.tree / "mm/Makefile.real"
    rules = makefile.read_text(encoding="utf-8", errors="replace") if makefile.exists() else ""
    found = []
    for name in WRAPPED:
        stem = Path(name).stem
        option = re.search(rf"^obj-\$\((CONFIG_\w+)\)\s*[+:]?=.*\b{stem}\.o\b", rules, re.M)
        if (layout.tree / "mm" / real_name(name)).exists() and (not option or f"\n{option[1]}=y\n" in f"\n{config}"):
            found.append(f"mm/{name}")
    return found


class Fitting:
    """One tree that does not take all of this project's code."""

    def __init__(self, layout: Layout, jobs: int):
        self.layout, self.jobs = layout, jobs
        self.originals = {**{f"mm/{path.name}": path for path in (layout.own / "mm").glob("*.[ch]")},
                          **{f"{OWN_DIR}/{name}": layout.own / "kunit" / name
                             for name in own_files(layout.own / "kunit") if name.endswith((".c", ".h"))}}
        self.own = OwnCode.of({name: path.read_text() for name, path in self.originals.items()
                               if (layout.tree / name).exists()})
        self.reverted: list[str] = []
        self.units: list[str] = []
        self.read: set[str] = set()     # files of the tree that the compiler read
        self._drop_wrappers_without_a_file()

    def _units(self) -> list[str]:
        """The files that are compiled in this configuration, relative to the tree."""
        command = ["make", "-s", "--no-print-directory", "--eval=include include/config/auto.conf",
                   "--eval=own: ; @echo $(obj-y)", "-f", f"../{OWN_DIR}/Makefile", "obj=mm/kunit", "own"]
        done = commands.run(command, cwd=self.layout.build, env=commands.kernel_environment())
        listed = [f"{OWN_DIR}/{name.removesuffix('.o')}.c" for name in done.output.split() if name.endswith(".o")]
        return [name for name in (*wrappers(self.layout), *listed) if name in self.own.files]

    def _drop_wrappers_without_a_file(self) -> None:
        """A kernel without a file that is wrapped has none of its accessors."""
        for path in (self.layout.own / "mm").glob("*.c"):
            if f"mm/{path.name}" in self.own.files:
                continue
            for item in Source(path.read_text()).items:
                for source in self.own.files.values():
                    if item.name and not item.static:
                        source.drop_name(item.name)

    def run(self, cause: bool = True) -> bool:
        """Leave out until all compiles; True if something was left out, and nothing else is at fault.

        cause: as in OwnCode.leave_out(), of the first compilation.
        """
        if not (self.layout.build / PROBED).exists():
            return False
        self.units = self._units()
        todo = self.units
        self._lay()
        for _ in range(MOST_ROUNDS):
            output = self._compile(todo)
            found = [self._named(one) for one in complaints(output)]
            if not found:
                if todo == self.units or not self.own.changed():
                    break
                todo = self.units
                continue
            before = self.own.changed()
            if not self.own.leave_out(found, self._kernel_lines(found), cause):
                self.own = OwnCode.of({name: source.original for name, source in self.own.files.items()})
                self._lay()
                return False
            if cause:
                self._raise_for_authors(found)
            cause = False
            todo = self._affected(before, {one.file for one in found})
            self._lay()
        self._record()
        return bool(self.own.changed())

    def concerned(self, output: str) -> bool:
        """Whether this project's code may be what a build failed for, which printed output."""
        found = [self._named(one) for one in complaints(output)]
        seams = {name for source in self.own.files.values() for name in source.defined()}
        return any(one.file in self.own.files for one in found) or bool(UNDEFINED.search(output)) \
            or any(seams & set(re.findall(r"\w+", line)) for line in self._kernel_lines(found).values())

    def unresolved(self, output: str) -> bool:
        """Leave out the functions of ours that a linker complains of; False when there is none."""
        found = False
        self.read |= {f"mm/{path.name}" for path in (self.layout.tree / "mm").glob("*.c")}      # may define it again
        for match in UNDEFINED.finditer(output):
            symbol = SYMBOL.search(match["lines"])
            missing = symbol[1] if symbol else ""
            places = [(name, item) for name, source in self.own.files.items() if name.endswith(".c")
                      for item in source.items if item.name == match["function"]]
            for name, item in places:
                misfit = Misfit(name, item.first + 1, f"undefined reference to {missing}", missing)
                with self.own.blaming(misfit):
                    if self.own.files[name].drop_name(item.name):
                        found = True
                        self.own.misfits.append(misfit)
                        for other in self.own.files.values():
                            other.drop_name(item.name)
        return found and self.run(cause=False)      # all compiled before

    def _compile(self, units: list[str]) -> str:
        """What the compiler says of units."""
        compiler = json.loads((self.layout.build / PROBED).read_text())["compiler"]
        words = [word for word in compiler if not word.startswith("-Wp,-M")]
        words += [*FLAGS, *(f"-I../{path}" for path in ("mm", f"{OWN_DIR}/fixture")), "-Imm"]
        line = shlex.join(words).replace("$", "$$")
        rules = [f"all: {' '.join(units)}", f".PHONY: {' '.join(units)}",
                 *(f"{name}: ; @{line} -I../{os.path.dirname(name)} -MD -MF {READ}/{name.replace('/', ':')} ../{name}"
                   for name in units)]
        (self.layout.build / READ).mkdir(exist_ok=True)
        makefile = self.layout.out / "fit.mk"
        makefile.write_text("\n".join(rules) + "\n")
        done = commands.run(["make", "-k", "-s", f"--jobs={self.jobs}", "--output-sync=target", "-f", makefile, "all"],
                            cwd=self.layout.build, env=commands.kernel_environment())
        makefile.unlink()
        for path in (self.layout.build / READ).iterdir():
            self.read.update(os.path.normpath(name[3:]) for name in path.read_text().split() if name.startswith("../"))
        shutil.rmtree(self.layout.build / READ)
        return done.output

    def _named(self, one: Complaint) -> Complaint:
        """With a path from the top of the tree."""
        return Complaint(os.path.normpath(one.file).removeprefix("../"), one.line, one.text)

    def _kernel_lines(self, found: list[Complaint]) -> dict[tuple[str, int], str]:
        """The text of the kernel's lines that are complained of."""
        lines = {}
        for one in found:
            if one.file not in self.own.files and (self.layout.tree / one.file).is_file():
                text = (self.layout.tree / one.file).read_text(errors="replace").split("\n")
                lines[one.file, one.line] = text[one.line - 1] if one.line <= len(text) else ""
        return lines

    def _affected(self, before: dict[str, str], failed: set[str]) -> list[str]:
        """The units to compile once more: those that failed, or all when a header has changed."""
        changed = {name for name, text in self.own.changed().items() if before.get(name) != text}
        if any(name.endswith(".h") for name in changed):
            return self.units
        return [name for name in self.units if name in changed | failed] or self.units

    def _lay(self) -> None:
        """Put what is left in the place of the originals."""
        changed = self.own.changed()
        for name in self.own.files:
            copy, link, target = self.layout.tree / FITTED / name, self.layout.tree / name, str(self.originals[name])
            if name not in changed:
                copy.unlink(missing_ok=True)
            else:
                target = "../" * name.count("/") + f"{FITTED}/{name}"
                copy.parent.mkdir(parents=True, exist_ok=True)
                if not copy.exists() or copy.read_text() != changed[name]:
                    write_whole(copy, changed[name])
            if not link.is_symlink() or os.readlink(link) != target:
                self.reverted += [name] if name not in changed else []
                link.unlink()
                link.symlink_to(target)

    def _raise_for_authors(self, found: list[Complaint]) -> None:
        """Raise SwapKunitError if what looks like a misfit is an error of a file's author.

        It is, if the file is being edited, or if only suites do not compile, for something that is not the kernel's.
        """
        status = git.bytes_of(REPO, "status", "--porcelain", "-uall", "kunit", "mm").decode()
        edited = {line[3:] for line in status.splitlines()}
        theirs = all(one.file.startswith(f"{OWN_DIR}/suites/") for one in found) \
            and not any(map(self._about_a_kernel, found))
        for one in self.own.misfits:
            name = own_name(one.file)
            if theirs or name in edited:
                why = "nothing in that is the kernel's" if theirs else "the file has changes that are not committed"
                print(f"{relative(REPO / name)}:{one.line}: error: {one.text}", file=sys.stderr)    # for editors
                raise SwapKunitError(f"cannot build the suites: {name}:{one.line} does not compile, and {why}: "
                                     f"{one.text}; fix it and run again")

    def _about_a_kernel(self, one: Complaint) -> bool:
        """Whether an error is about a name of this kernel, or of another in the cache, and none of this project's."""
        symbol = "" if one.text.startswith("expected ") else one.symbol
        if not symbol or any(item.name == symbol for source in self.own.files.values() for item in source.items):
            return False
        trees = [self.layout.tree, *(kernel.path for kernel in kernels.cached())]
        places = [path / place for path in trees for place in ("include/linux", "include/kunit", "mm", "block")]
        places = [path for path in places if path.exists()]
        command: list[str | Path] = ["grep", "-Rqw", f"--exclude-dir={Path(OWN_DIR).name}", "--include=*.[ch]", symbol]
        return commands.run([*command, *places]).status != 1

    def _record(self) -> None:
        """Keep what was left out."""
        every, lost = self.own.cases()
        because = {case: self.own.misfits.index(self.own.blamed[case]) for case in lost if case in self.own.blamed}
        found = LeftOut(self.own.misfits, len(every), lost, because)
        read = sorted(self.read - self.own.files.keys())
        record = {"key": key(self.layout, read), "read": read, "left_out": asdict(found)}
        write_whole(self.layout.tree / RECORD, json.dumps(record, indent=1))


def misfit_lines(tree: Path, found: LeftOut) -> list[str]:
    """What does not fit, for people: each misfit, and what the tree has under that name."""
    lines = []
    for one in found.misfits:
        lines.append(f"{own_name(one.file)}:{one.line}: {one.text}")
        if one.symbol:
            lines.append(f"    the tree has {hint(tree, one)}")
    return list(dict.fromkeys(lines))


def hint(tree: Path, one: Misfit) -> str:
    """What a tree has in the place of what is missed; a field of one structure is not that of another."""
    member = MEMBER.search(one.text)
    if not member:
        return declaration(tree, one.symbol) or f"no {one.symbol}"
    there = declaration(tree, member[1].split()[-1])
    return f"no {one.symbol} in {there.rstrip(' {') or member[1]}"


def own_name(name: str) -> str:
    """A file of an overlay by the name it has in this project, where it comes from there."""
    return f"kunit/{name.removeprefix(OWN_DIR + '/')}" if name.startswith(f"{OWN_DIR}/") else name


def declaration(tree: Path, symbol: str) -> str:
    """What a tree has under a name at file scope: file:line and the line, or ""."""
    if not symbol:
        return ""
    pattern = re.compile(rf"^(?:[a-z_][\w \t\*]*[ \t\*]{symbol}\s*(?:[({{\[=,]|;|$)|#\s*define\s+{symbol}\b).*$", re.M)
    wrapped = {f"mm/{path.name}": f"mm/{real_name(path.name)}" for path in (REPO / "mm").glob("*.c")}
    files = [*sorted(tree.glob("mm/*.h")), *sorted(tree.glob("include/linux/*.h")),
             *(tree / name for name in wrapped.values() if (tree / name).exists())]
    for path in files:
        text = path.read_text(errors="replace")
        match = pattern.search(text) if symbol in text else None
        if match:
            name = str(path.relative_to(tree)).replace("_real.c", ".c")
            return f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0].strip()}"
    return ""
