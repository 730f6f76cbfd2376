# SPDX-License-Identifier: GPL-2.0
"""Configure and build the UML kernel: the first time with kunit.py, then with make.

kunit.py always builds `all compile_commands.json scripts_gdb`; later builds here build only
vmlinux. Kconfig runs again only if the requested options, the compiler, or a Kconfig file of
the tree have changed.
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

from ..base import commands, toolchain
from ..base.errors import SwapKunitError, UntestableKernel
from ..base.layout import LITTLE, REPO, WRAPPED, Layout, check_room, full_disk, no_room
from ..base.text import plural
from . import fragments
from .fragments import KunitConfig
from .kconfig import explain
from .fit import PROBED, Fitting, left_out, misfit_lines, wrappers
from .overlay import OWN_DIR, STALE, real_name
from .sources import OWN, named, openable

ROOM_TO_BUILD = 2 << 30     # bytes that a first build needs
ROOM_TO_LINK = 1 << 30      # bytes that a failed program may have used and freed again
KUNIT_PY = Path("tools/testing/kunit/kunit.py")     # in the tree
STAMP = "configured.json"      # in the build directory: a copy of that has it, too
MOST_FITS = 5       # builds that fail because of own code before it is given up
ASKS = "Restart config..."      # make asks about options that are new in the tree
UNFINISHED = "building"     # a file that exists while make runs, and until it succeeds
NOISE = re.compile(r"^(make(\[\d+\])?: |\[\d\d:\d\d:\d\d\]|\$ |(Populating config|Building) with:|"
                   r"\d+ (warning|error)s? generated|  PROBE   |$)")
MESSAGE = re.compile(r": (warning|(fatal )?error): ")
MAKE_ITSELF = re.compile(r"^make(\[\d+\])?: \*\*\* (?!\[.*\] (Error|Terminated)|Waiting for)")
ERROR = re.compile(r": (fatal )?error: ")
NO_SOURCE = re.compile(r"No rule to make target '(?:\.\./)?(mm/\S+)\.[co]'")
OPTIONAL = {"swap_slots.c"}     # wrapped files that not every kernel has
OWN_FAULT = "swap-kunit's own code does not build with this kernel"
BEFORE_MESSAGE = re.compile(r"^In file included from |: In function ")


@dataclass
class BuildOptions:
    """jobs: for make. make_options: such as "LLVM=1". verbose: show every command."""

    jobs: int
    make_options: list[str] = field(default_factory=list)
    verbose: bool = False


def takes_kunitconfig(layout: Layout) -> bool:
    """Whether the tree's kunit.py has --kunitconfig; older ones read BUILD/.kunitconfig."""
    return "--kunitconfig" in (layout.tree / KUNIT_PY).read_text()


# -- configuring -------------------------------------------------------------


def configure(layout: Layout, config: KunitConfig, options: BuildOptions) -> bool:
    """Make a .config for config, unless it is up to date; returns whether it was made.

    Raises SwapKunitError or UntestableKernel, with the dependency that is not met.
    """
    request = request_digest(config, options)
    if (layout.build / ".config").exists() and read_stamp(layout) == [request, kconfig_digest(layout)]:
        return False
    layout.build.mkdir(exist_ok=True)
    done = run_kconfig(layout, config.text(), options)
    wishes = fragments.in_the_way(config, fragments.read_dot_config(layout.build / ".config"))
    if wishes:
        done = run_kconfig(layout, config.text(without=wishes), options)
    (layout.out / "build.log").write_text(done.output)
    check_config(layout, config, done)
    return True


def run_kconfig(layout: Layout, text: str, options: BuildOptions) -> commands.Finished:
    """Make a .config for the text of a .kunitconfig."""
    kunitconfig = layout.out / "kunitconfig"
    kunitconfig.write_text(text)
    (layout.build / ".config").unlink(missing_ok=True)
    command: list[str | Path] = [sys.executable, KUNIT_PY, "config", f"--build_dir={layout.build.name}"]
    if takes_kunitconfig(layout):
        command.append(f"--kunitconfig={kunitconfig}")
    else:
        (layout.build / ".kunitconfig").write_text(text)
    command += [f"--make_options={option}" for option in options.make_options]
    commands.show(command, layout.tree)
    return commands.run(command, cwd=layout.tree, env=commands.kernel_environment())


def check_config(layout: Layout, config: KunitConfig, done: commands.Finished) -> None:
    """Raise an error if the configuration failed or lacks requested options."""
    result = fragments.read_dot_config(layout.build / ".config")
    missing = [symbol for symbol in fragments.unmet(config, result) if symbol not in config.wishes()]
    if missing and "CC_VERSION_TEXT" in result:
        for line in explain(layout.tree, missing, config, result):
            print(f"swap-kunit: {line}", file=sys.stderr)
        ours = [symbol for symbol in missing if config.asked_by[symbol] != ".kunitconfig"]
        error = SwapKunitError if ours else UntestableKernel
        raise error(f"cannot configure this kernel: {len(missing)} of {len(config.wanted)} requested "
                    "options are not available on ARCH=um; leave them out, or add what they depend "
                    "on to the fragment")
    if done.status:
        print(commands.tail(done.output), file=sys.stderr)
        raise_if_disk_full(layout, done.output)
        raise UntestableKernel("cannot configure this kernel: its `make olddefconfig` failed as shown "
                               "above; fix the tree's Kconfig files")


def request_digest(config: KunitConfig, options: BuildOptions) -> str:
    """A digest of everything that needs a new .config when it changes."""
    path = commands.kernel_environment()["PATH"].replace(f"{commands.CCACHE}:", "", 1)
    where = shutil.which(toolchain.compiler(options.make_options), path=path) or ""
    info = os.stat(where) if where else None
    text = repr([config.text(), options.make_options, where, info and (info.st_size, info.st_mtime_ns)])
    return hashlib.sha256(text.encode()).hexdigest()


def kconfig_digest(layout: Layout) -> str:
    """A digest of the mtimes of the Kconfig files that the last configuration read."""
    digest = hashlib.sha256()
    try:
        listed = (layout.build / "include/config/auto.conf.cmd").read_text()
    except FileNotFoundError:
        return ""
    for name in re.findall(r"^\t(\S*Kconfig\S*) ", listed, re.M):
        # The names are relative to the tree.
        try:
            info = os.stat(layout.tree / name)
        except OSError:
            digest.update(f"{name} is gone\n".encode())
            continue
        digest.update(f"{name} {info.st_mtime_ns} {info.st_size}\n".encode())
    return digest.hexdigest()


def read_stamp(layout: Layout) -> list[str]:
    """What write_stamp() wrote, or an empty list."""
    try:
        return list(json.loads((layout.build / STAMP).read_text()))
    except (OSError, ValueError, TypeError):
        return []


def write_stamp(layout: Layout, config: KunitConfig, options: BuildOptions) -> None:
    """Remember that the .config is right for config."""
    stamp = [request_digest(config, options), kconfig_digest(layout)]
    if stamp != read_stamp(layout):
        (layout.build / STAMP).write_text(json.dumps(stamp))


# -- building ----------------------------------------------------------------


def build(layout: Layout, config: KunitConfig, options: BuildOptions, stale: list[str]) -> None:
    """Configure and build vmlinux. Raises SwapKunitError or UntestableKernel."""
    cold = not layout.vmlinux.exists()
    prepare(layout, config, options, stale)
    done = make_own(layout, options) if cold else None
    finish(layout, done if done and done.status else make_kernel(layout, options, cold), layout.vmlinux)
    write_stamp(layout, config, options)
    refresh_link(layout)


def build_own_code(layout: Layout, config: KunitConfig, options: BuildOptions, stale: list[str]) -> None:
    """Configure, and compile this project's own code only. Raises SwapKunitError or UntestableKernel."""
    prepare(layout, config, options, stale)
    finish(layout, make_own(layout, options), layout.build / PROBED)
    write_stamp(layout, config, options)


def prepare(layout: Layout, config: KunitConfig, options: BuildOptions, stale: list[str]) -> None:
    """All that comes before make."""
    (layout.out / "build.log").unlink(missing_ok=True)
    check_wrapped(layout)
    if not layout.vmlinux.exists():
        check_room(layout.out, ROOM_TO_BUILD)
    drop_objects(layout.build, stale)
    (layout.tree / STALE).unlink(missing_ok=True)
    unfinished = layout.out / UNFINISHED
    if unfinished.exists():
        drop_half_written(layout.build)
    configure(layout, config, options)
    unfinished.touch()


def finish(layout: Layout, done: commands.Finished, made: Path) -> None:
    """All that comes after make. Raises SwapKunitError or UntestableKernel if it failed."""
    if done.status == 0:        # else it may have been killed, or have lacked room
        (layout.out / UNFINISHED).unlink()
    (layout.out / "build.log").write_text(done.output)
    check_build(layout, done, made)


def make_own(layout: Layout, options: BuildOptions) -> commands.Finished:
    """Compile this project's own code first: it is soon said what does not fit."""
    objects = [str(Path(name).with_suffix(".o")) for name in wrappers(layout)]
    command: list[str | Path] = ["make", "ARCH=um", f"O={layout.build}", f"--jobs={options.jobs}", "-k", "-s",
                                 *options.make_options, *objects, f"{OWN_DIR}/"]
    commands.show(command, layout.tree)
    return make_fitting(layout, options, command)


def make_kernel(layout: Layout, options: BuildOptions, cold: bool) -> commands.Finished:
    """Build vmlinux, without what of this project's code does not fit."""
    command = build_command(layout, options, cold)
    commands.show(command, layout.tree)
    return make_fitting(layout, options, command, echo=options.verbose)


def make_fitting(layout: Layout, options: BuildOptions, command: list[str | Path],
                 echo: bool = False) -> commands.Finished:
    """Run make, and again each time something that does not fit could be left out."""
    fitting: Fitting | None = None      # it reads all of this project's C code: only after a failure
    for _ in range(MOST_FITS):
        done = commands.run(command, cwd=layout.tree, env=commands.kernel_environment(), echo=echo,
                            progress=ObjectCount(layout.build))
        if not done.status:
            break
        if ASKS in done.output:         # a new option that configure() did not see coming
            commands.run(["make", "ARCH=um", f"O={layout.build}", "-s", *options.make_options, "olddefconfig"],
                         cwd=layout.tree, env=commands.kernel_environment())
            continue
        fitting = fitting or Fitting(layout, options.jobs)
        if not fit_to(layout, fitting, done.output):
            break
    return done


def fit_to(layout: Layout, fitting: Fitting, output: str) -> bool:
    """Leave out what does not fit, if that is why make failed, which printed output; True to try again.

    Raises UntestableKernel if no case is left.
    """
    again = fitting.concerned(output) and (fitting.unresolved(output) or fitting.run())
    drop_objects(layout.build, fitting.reverted)
    found = left_out(layout)
    if again and found.cases == len(found.lost):
        print("\n".join(misfit_lines(layout.tree, found)), file=sys.stderr)
        raise not_ours("it does not fit in the places above, and no case can do without them")
    return again


def build_command(layout: Layout, options: BuildOptions, cold: bool) -> list[str | Path]:
    """kunit.py for a first build; make vmlinux for later ones, and for verbose ones."""
    if cold and not options.verbose and takes_kunitconfig(layout):
        return [sys.executable, KUNIT_PY, "build", f"--build_dir={layout.build.name}",
                f"--kunitconfig={layout.out / 'kunitconfig'}", f"--jobs={options.jobs}",
                *(f"--make_options={option}" for option in options.make_options)]
    return ["make", "ARCH=um", f"O={layout.build}", f"--jobs={options.jobs}",
            "V=1" if options.verbose else "-s", *options.make_options, "vmlinux"]


def check_build(layout: Layout, done: commands.Finished, made: Path) -> None:
    """Show the compiler's messages; raise UntestableKernel or SwapKunitError if made does not exist."""
    lines = [line.removeprefix("ERROR:root:") for line in done.output.splitlines()]
    messages = once_each([line for line in lines if not NOISE.match(line) or MAKE_ITSELF.match(line)])
    shown = [openable(line, layout.tree) for line in messages]
    if done.status == 0 and made.exists():
        if messages:
            print("\n".join(shown))
        return
    print("\n".join(shown[-60:]) or commands.tail(done.output), file=sys.stderr)
    raise_if_disk_full(layout, done.output)
    raise_for_missing_source(done.output)
    if own_fault([named(line) for line in messages]):
        raise not_ours("something that it uses is gone or has another name, as shown above")
    raise UntestableKernel("the kernel under test does not build: make failed as shown above "
                           f"(whole output: {layout.out / 'build.log'}); fix that and run again")


def first_error(lines: list[str]) -> int:
    """Where the first error is in a compiler's lines, or else make's own first; len(lines) if there is none."""
    return next((number for pattern in (ERROR, MAKE_ITSELF) for number, line in enumerate(lines)
                 if pattern.search(line)), len(lines))


def raise_for_missing_source(output: str) -> None:
    """Raise SwapKunitError if a Makefile of ours names an object without a source."""
    for match in NO_SOURCE.finditer(output):
        top, name = ("kunit", match[1].removeprefix(f"{OWN_DIR}/")) if match[1].startswith(f"{OWN_DIR}/") \
            else ("mm", match[1].removeprefix("mm/"))
        if f"{name}.o" in (REPO / top / "Makefile").read_text():
            raise SwapKunitError(f"cannot build the suites: {top}/Makefile lists {name}.o, but there is no "
                                 f"{top}/{name}.c; add that file, or take it out of the list")


def own_fault(lines: list[str]) -> bool:
    """Whether all errors are in our own code; lines as named() returns them."""
    errors = [line for line in lines if ERROR.search(line)]
    return bool(errors) and all(line.startswith(OWN) for line in errors)


def not_ours(why: str) -> UntestableKernel:
    """The error for a kernel that our code does not fit."""
    return UntestableKernel(f"{OWN_FAULT}: {why}; the kernel may be fine: look for a newer swap-kunit")


def check_wrapped(layout: Layout) -> None:
    """Raise UntestableKernel if the kernel lacks a file that a wrapper includes."""
    for name in WRAPPED:
        if name not in OPTIONAL and not (layout.tree / "mm" / real_name(name)).exists():
            raise not_ours(f"it includes mm/{name}, which does not exist")


def once_each(lines: list[str]) -> list[str]:
    """The messages, each once: those of a header come with every file that includes it."""
    blocks: list[list[str]] = [[]]
    complete = False
    for line in lines:
        message = bool(MESSAGE.search(line))
        if complete and (message or BEFORE_MESSAGE.search(line)):
            blocks.append([])
            complete = False
        blocks[-1].append(line)
        complete = complete or message
    alike: dict[str, list[list[str]]] = {}
    for block in blocks:
        alike.setdefault(next(filter(MESSAGE.search, block), "\n".join(block)), []).append(block)
    return [line for same in alike.values()
            for line in [*same[0], *([f"(and {plural(len(same) - 1, 'more time')})"] if len(same) > 1 else [])]]


class ObjectCount:
    """The status line of a build: object files so far, counted every few seconds."""

    def __init__(self, build_dir: Path):
        self.build_dir, self.counted_at, self.objects = build_dir, -9.0, 0

    def __call__(self, seconds: float) -> str:
        if seconds - self.counted_at > 3:
            self.counted_at = seconds
            self.objects = sum(name.endswith(".o") for _, _, names in os.walk(self.build_dir)
                               for name in names)
        return f"building: {self.objects} objects, {seconds:.0f} s"


def refresh_link(layout: Layout) -> None:
    """Update .kunit/linux, a hard link to vmlinux made by `make all`."""
    linux = layout.build / "linux"
    if linux.exists() and not linux.samefile(layout.vmlinux):
        linux.unlink()
        os.link(layout.vmlinux, linux)


def drop_objects(build_dir: Path, stale: list[str]) -> None:
    """Delete objects of files that were replaced by older ones, which make does not notice."""
    names = [f"../{path}".encode() for path in stale]
    for cmd, made in command_files(build_dir) if stale else ():
        content = cmd.read_bytes()
        if any(name in content for name in names):
            cmd.unlink()
            made.unlink(missing_ok=True)


def drop_half_written(build_dir: Path) -> None:
    """Delete incomplete files of a build that was killed, which kbuild would use.

    kbuild writes .NAME.cmd after NAME: an object that is newer than its .cmd is incomplete, and
    so is a .cmd without its last lines, at which every later make fails.
    """
    for cmd, made in command_files(build_dir):
        text = cmd.read_text(encoding="utf-8", errors="replace")
        whole = text.endswith("\n") and ("\ndeps_" not in text or text.rstrip().endswith("):"))
        if not whole or (made.exists() and made.stat().st_mtime_ns > cmd.stat().st_mtime_ns):
            cmd.unlink()
            made.unlink(missing_ok=True)


def command_files(build_dir: Path) -> Iterator[tuple[Path, Path]]:
    """kbuild's .NAME.cmd and NAME, for every file that it has made."""
    for parent, _, files in os.walk(build_dir):
        for name in files:
            if name.startswith(".") and name.endswith(".cmd"):
                yield Path(parent, name), Path(parent, name[1:-4])


# -- disk space --------------------------------------------------------------


def raise_if_disk_full(layout: Layout, output: str) -> None:
    """Raise SwapKunitError if a build failed because a disk was full.

    Its message alone is no proof: a patch may have printed it. Free space alone is not either: programs remove
    what they could not write.
    """
    place = full_disk(layout.out, ROOM_TO_LINK if "No space left on device" in output else LITTLE)
    if place:
        raise no_room(place)
