# SPDX-License-Identifier: GPL-2.0
"""One kernel with all mutants: find them, compile them, leave out those that do not compile.

    OUT/mutants/found.json      what sites.py found in each file, what does not compile, what the linker misses
    OUT/mutants/mutants.patch   the files with all mutants, as a patch to the kernel tree
"""
from __future__ import annotations

import hashlib
import json
import re
import shlex
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from ..base import commands
from ..base.errors import SwapKunitError
from ..base.layout import Layout
from ..base.text import plural
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


@dataclass
class MutantKernel:
    """The kernel that was built. left_out: reason -> how many places or mutants."""

    mutants: list[Mutant]
    left_out: Counter[str]
    texts: dict[str, str]       # file -> without mutants
    series: bool                # whether it has patches of the user's


def key(layout: Layout, config: str) -> str:
    """Stands for this project's code and the configuration: what a verdict depends on besides the function."""
    digest = hashlib.sha256(config.encode())
    for top in ("kunit", "mm"):
        for name in own_files(layout.own / top):
            digest.update(f"{name}\0".encode() + (layout.own / top / name).read_bytes())
    return digest.hexdigest()[:16]


def make(session: Session, wanted: Callable[[Mutant], bool] = lambda _: True) -> MutantKernel:
    """Build the kernel with the wanted mutants. Raises SwapKunitError or UntestableKernel."""
    layout, patches = session.layout, session.request.patches
    places = layout.out / FRAGMENT
    places.mkdir(exist_ok=True)
    session.build_kernel()
    files = wrappers(layout)
    texts = {file: (layout.tree / "mm" / real_name(Path(file).name)).read_bytes().decode("latin-1") for file in files}
    schemata, left_out = find(session, texts)
    for one in schemata:
        one.keep([mutant for mutant in one.mutants if wanted(mutant)])
    before = {one.file: undefined(layout, one.file) for one in schemata}
    patch = places / "mutants.patch"
    session.request.patches = [*patches, patch]
    for _ in range(ROUNDS):
        write_patch(patch, schemata)
        session.lay_tree()
        output = compile_all(session, files)
        faulty = [(one, one.faulty(output)) for one in schemata]
        if output and not any(bad for _, bad in faulty):
            raise SwapKunitError(f"cannot compile the mutants: {commands.tail(output, 3)}; choose files with --file")
        for one, bad in faulty:
            one.keep([mutant for mutant in one.mutants if mutant not in bad])
            left_out[UNCOMPILED] += len(bad)
        if not output:
            break
    for one in schemata:
        one.stubs = sorted(name for name in undefined(layout, one.file) - before[one.file] if GUARD not in name)
    write_patch(patch, schemata)
    session.build_kernel()
    return MutantKernel([mutant for one in schemata for mutant in one.mutants], left_out, texts, bool(patches))


# -- finding -----------------------------------------------------------------


def find(session: Session, texts: dict[str, str]) -> tuple[list[Schemata], Counter[str]]:
    """The schemata of the files, and what has no mutants: reason -> number."""
    schemata: list[Schemata] = []
    left_out = Counter[str]()
    for file, text in texts.items():
        commands.status_line(f"looking for mutants of {file}")
        found = sites_of(session, file)
        left_out.update(found["left_out"])
        schemata.append(Schemata(file, text, found, sum(len(one.mutants) for one in schemata) + 1))
    commands.status_line("")
    return schemata, left_out


def sites_of(session: Session, file: str) -> dict[str, Any]:
    """What sites.py finds in a file of the tree, with the arguments of its build."""
    build_dir = session.layout.build
    command = (build_dir / f"{Path(file).parent}/.{Path(file).stem}.o.cmd").read_text().split("\n")[0]
    words = shlex.split(command.partition(":= ")[2].split(" ; ")[0])[1:]
    real = f"../{Path(file).parent}/{real_name(Path(file).name)}"
    with session.confined(build_dir):
        done = commands.run([sys.executable, SITES, real, *meaning(words), *AS_GCC], cwd=build_dir,
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


def write_patch(patch: Path, schemata: list[Schemata]) -> None:
    """The mutated files as one patch, with one hunk for each."""
    parts = []
    for one in schemata:
        old, new = (text.removesuffix("\n").split("\n") for text in (one.text, one.render()[0]))
        if old != new:
            parts += [f"--- a/{one.file}", f"+++ b/{one.file}", f"@@ -1,{len(old)} +1,{len(new)} @@",
                      *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    patch.write_bytes(("\n".join(parts) + "\n").encode("latin-1"))


def objects(files: list[str]) -> list[str]:
    """The object of each file."""
    return [str(Path(file).with_suffix(".o")) for file in files]


def compile_all(session: Session, files: list[str]) -> str:
    """Compile the files alone; returns the compiler's messages if it fails."""
    layout, options = session.layout, session.build_options()
    command = ["make", "ARCH=um", f"O={layout.build}", f"--jobs={options.jobs}", "-k", "-s", "--output-sync=target",
               *options.make_options, *objects(files)]
    with session.confined(layout.build):
        done = commands.run(command, cwd=layout.tree, env=commands.kernel_environment(),
                            progress=lambda seconds: f"compiling the mutants: {seconds:.0f} s")
    return done.output if done.status else ""


def undefined(layout: Layout, file: str) -> set[str]:
    """The symbols that the object of a file takes from others."""
    done = commands.run(["nm", "-u", layout.build / objects([file])[0]], env=commands.kernel_environment())
    return set(re.findall(r"^\s+U (\S+)$", done.output, re.M))
