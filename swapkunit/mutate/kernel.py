# SPDX-License-Identifier: GPL-2.0
"""One kernel with all mutants: find them, compile them, leave out those that do not compile.

    OUT/mutants/kernel.json     what a build without mutants told: commands and symbols; what does not compile
    OUT/mutants/plain/          the files as they are without mutants
    OUT/mutants/mutants.patch   what makes the mutated files of them
"""
from __future__ import annotations

import hashlib
import json
import re
import shlex
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Callable

from ..base import commands
from ..base.errors import SwapKunitError, UntestableKernel
from ..base.layout import write_whole
from ..base.text import plural
from ..build import patches
from ..build.fit import wrappers
from ..build.overlay import own_files, real_name
from ..run.session import Session
from .schemata import GUARD, Mutant, Schemata

FRAGMENT = "mutants"
SITES = Path(__file__).with_name("sites.py")
ROUNDS = 20         # of compiling and leaving out
# Of the compiler's arguments, those that decide what the text means; each may be one word or two.
PAIRED = re.compile(r"-(include|isystem|iquote|I|D|U)")
MEANING = re.compile(r"-(I|D|U|std=|nostdinc|fms-extensions|fshort-wchar|funsigned-char|m64|m32).*")
AS_GCC = ("-U__clang__", "-fgnuc-version=12.2.0")
UNCOMPILED = "does not compile"
KNOWN = "kernel.json"


@dataclass
class MutantKernel:
    """The kernel that was built. left_out: reason -> how many places or mutants."""

    mutants: list[Mutant]
    left_out: Counter[str]
    texts: dict[str, str]       # file -> without mutants


@dataclass
class Known:
    """What a build without mutants told. arguments: of the compiler, by file; symbols: that vmlinux defines.

    dropped: keys of mutants that do not compile.
    """

    key: str = ""
    arguments: dict[str, list[str]] = field(default_factory=dict)
    symbols: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


def suites_key(session: Session) -> str:
    """Stands for this project's code and the configuration: what a verdict depends on besides the function."""
    digest = hashlib.sha256(session.config.text().encode())
    for top in ("kunit", "mm"):
        for name in own_files(session.layout.own / top):
            digest.update(f"{name}\0".encode() + (session.layout.own / top / name).read_bytes())
    return digest.hexdigest()[:16]


def make(session: Session, wanted: Callable[[Mutant], bool] = lambda _: True,
         unmutated: Path | None = None) -> MutantKernel:
    """Build the kernel with the wanted mutants. Raises SwapKunitError or UntestableKernel.

    unmutated: a build directory of nearly the same tree without mutants, if there is one.
    """
    places, given = session.layout.out / FRAGMENT, session.request.patches
    places.mkdir(exist_ok=True)
    session.read_config()
    known = load(places / KNOWN)
    if known.key != key_of(session) and unmutated:
        known = learn(session, unmutated)
    if known.key == key_of(session) and session.layout.vmlinux.exists():
        try:
            return build(session, known, wanted)
        except UntestableKernel:        # something has moved in the rest of the tree
            session.request.patches = given
    (places / KNOWN).unlink(missing_ok=True)
    session.build_kernel()
    return build(session, learn(session, session.layout.build), wanted)


def key_of(session: Session) -> str:
    """Stands for what a kernel without mutants depends on, besides its tree."""
    return repr([session.config.text(), session.request.make_options, session.kernel.version])


def load(path: Path) -> Known:
    """What is known from an earlier build."""
    try:
        return Known(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return Known()


def learn(session: Session, build_dir: Path) -> Known:
    """What a build without mutants tells."""
    output = symbols_of(session, build_dir / "vmlinux")
    return Known(key_of(session), {file: arguments_of(build_dir, file) for file in wrappers(session.layout)},
                 re.findall(r"^[0-9a-f]+ [A-Za-z] (\S+)$", output, re.M))


def build(session: Session, known: Known, wanted: Callable[[Mutant], bool]) -> MutantKernel:
    """Build with mutants what was built without. Raises SwapKunitError or UntestableKernel."""
    places = session.layout.out / FRAGMENT
    texts = plain_texts(session, known, places / "plain")
    schemata, left_out = find(session, known, texts)
    for one in schemata:
        one.keep([mutant for mutant in one.mutants if wanted(mutant)])
    patch = places / "mutants.patch"
    session.request.patches = [*session.request.patches, patch]
    for _ in range(ROUNDS):
        left_out[UNCOMPILED] += drop(schemata, known.dropped)
        write_patch(patch, schemata)
        session.lay_tree()
        output = compile_all(session, list(texts))
        if not output:
            break
        faulty = [mutant.key for one in schemata for mutant in one.faulty(output)]
        if not faulty:
            raise UntestableKernel(f"cannot compile the mutants: {commands.tail(output, 3)}; check that the kernel "
                                   "builds: `swap-kunit build`")
        known.dropped += faulty
    for one in schemata:
        one.stubs = sorted(undefined(session, one.file) - set(known.symbols))
    write_patch(patch, schemata)
    session.build_kernel()
    write_whole(places / KNOWN, json.dumps(asdict(known)))
    return MutantKernel([mutant for one in schemata for mutant in one.mutants], left_out, texts)


def plain_texts(session: Session, known: Known, target: Path) -> dict[str, str]:
    """The files with the policies and patches but without mutants; also written to target."""
    patched = patches.lay(session.kernel.path, target, session.request.policy_steps(), session.request.patches).files
    texts = {}
    for file in known.arguments:
        origin = target if patched.get(file) else session.kernel.path
        texts[file] = (origin / file).read_bytes().decode("latin-1")
    for file, text in texts.items():
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        (target / file).write_bytes(text.encode("latin-1"))
    return texts


# -- finding -----------------------------------------------------------------


def find(session: Session, known: Known, texts: dict[str, str]) -> tuple[list[Schemata], Counter[str]]:
    """The schemata of the files, and what has no mutants: reason -> number."""
    schemata: list[Schemata] = []
    left_out = Counter[str]()
    for file, text in texts.items():
        commands.status_line(f"looking for mutants of {file}")
        found = sites_of(session, file, known.arguments[file])
        left_out.update(found["left_out"])
        schemata.append(Schemata(file, text, found, sum(len(one.mutants) for one in schemata) + 1))
    commands.status_line("")
    return schemata, left_out


def sites_of(session: Session, file: str, arguments: list[str]) -> dict[str, Any]:
    """What sites.py finds in a file of the tree."""
    build_dir = session.layout.build
    plain = session.layout.out / FRAGMENT / "plain" / file
    with session.confined(build_dir):
        done = commands.run([sys.executable, SITES, plain, in_overlay(file), *arguments], cwd=build_dir,
                            env=commands.kernel_environment())
    try:
        found: dict[str, Any] = json.loads(done.output)
    except ValueError:
        raise SwapKunitError(f"cannot find mutants of {file}: {commands.tail(done.output, 1)}; check that the file "
                             "compiles") from None
    if found["errors"]:
        print(f"swap-kunit: clang misunderstands {plural(len(found['errors']), 'place')} of {file}, the first is line "
              f"{found['errors'][0]}; mutants there may be missing", file=sys.stderr)
    return found


def in_overlay(file: str) -> str:
    """The kernel's own file, as the build directory names it."""
    return f"../{Path(file).parent}/{real_name(Path(file).name)}"


def arguments_of(build_dir: Path, file: str) -> list[str]:
    """The compiler's arguments in the build of a file."""
    path = Path(file)
    try:
        command = (build_dir / path.parent / f".{path.stem}.o.cmd").read_text().split("\n")[0]
    except FileNotFoundError:
        raise SwapKunitError(f"cannot find mutants of {file}: its build left no command; remove the output directory "
                             "and run again") from None
    return [*meaning(shlex.split(command.partition(":= ")[2].split(" ; ")[0])[1:]), *AS_GCC]


def meaning(words: list[str]) -> list[str]:
    """The compiler's arguments that decide what the text means."""
    kept, rest = [], iter(words)
    for word in rest:
        if PAIRED.fullmatch(word):
            kept += [word, next(rest)]
        elif MEANING.fullmatch(word):
            kept.append(word)
    return kept


# -- building ----------------------------------------------------------------


def drop(schemata: list[Schemata], keys: list[str]) -> int:
    """Drop the mutants with these keys; returns how many."""
    before = sum(len(one.mutants) for one in schemata)
    for one in schemata:
        one.keep([mutant for mutant in one.mutants if mutant.key not in keys])
    return before - sum(len(one.mutants) for one in schemata)


def write_patch(patch: Path, schemata: list[Schemata]) -> None:
    """The mutated files as one patch, with one hunk for each; beside them NAME_plain.c, for the mechanisms.
    """
    parts = []
    for one in schemata:
        old, new = (text.removesuffix("\n").split("\n") for text in (one.text, one.render()[0]))
        if old != new:
            parts += [f"--- a/{one.file}", f"+++ b/{one.file}", f"@@ -1,{len(old)} +1,{len(new)} @@",
                      *(f"-{line}" for line in old), *(f"+{line}" for line in new),
                      "--- /dev/null", f"+++ b/{one.file.removesuffix('.c')}_plain.c", f"@@ -0,0 +1,{len(old)} @@",
                      *(f"+{line}" for line in old)]
    patch.write_bytes(("\n".join(parts) + "\n").encode("latin-1"))


def compile_all(session: Session, files: list[str]) -> str:
    """Compile the files alone; returns the compiler's messages if it fails."""
    layout, options = session.layout, session.build_options()
    objects = [str(Path(file).with_suffix(".o")) for file in files]
    command = ["make", "ARCH=um", f"O={layout.build}", f"--jobs={options.jobs}", "-k", "-s", "--output-sync=target",
               *options.make_options, *objects]
    with session.stage("build"), session.confined(layout.build):
        done = commands.run(command, cwd=layout.tree, env=commands.kernel_environment(),
                            progress=lambda seconds: f"compiling the mutants: {seconds:.0f} s")
    return done.output if done.status else ""


def undefined(session: Session, file: str) -> set[str]:
    """The symbols that the object of a file takes from others, without those of the guards."""
    output = symbols_of(session, session.layout.build / Path(file).with_suffix(".o"))
    return {name for name in re.findall(r"^\s+U (\S+)$", output, re.M) if GUARD not in name}


def symbols_of(session: Session, path: Path) -> str:
    """The symbols of an object."""
    with session.confined():
        return commands.run(["nm", path], env=commands.kernel_environment()).output
