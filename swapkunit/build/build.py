# SPDX-License-Identifier: GPL-2.0
"""Configure and build the UML kernel: cold through kunit.py, warm through make.

kunit.py makes `all compile_commands.json scripts_gdb` every time; a warm build here
asks make for vmlinux alone. Kconfig is gone through again only when what is asked
of it, the compiler, or a Kconfig file of the tree has changed.
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

from ..base import commands, toolchain
from . import fragments
from ..base.errors import SwapKunitError, UntestableKernel
from .fragments import KunitConfig
from .kconfig import explain
from ..base.layout import LITTLE, REPO, WRAPPED, Layout, check_room, full_disk, no_room
from .overlay import OWN_DIR, STALE, real_name

ROOM_TO_BUILD = 2 << 30     # bytes a first build wants free
ROOM_TO_LINK = 1 << 30      # bytes a program may have used and given back when it found no more
STAMP = "configured.json"
UNFINISHED = "building"     # there while make runs, and until it has come to a good end
NOISE = re.compile(r"^(make(\[\d+\])?: |\[\d\d:\d\d:\d\d\]|\$ |(Populating config|Building) with:|"
                   r"\d+ (warning|error)s? generated|$)")
MESSAGE = re.compile(r": (warning|(fatal )?error): ")
MAKE_ITSELF = re.compile(r"^make(\[\d+\])?: \*\*\* (?!\[.*\] (Error|Terminated)|Waiting for)")
ERROR = re.compile(r": (fatal )?error: ")
SOURCE = re.compile(r"\.\./((?:[\w-]+/)*[\w-]+?)(_real)?(\.[ch])(?=:)")
OPTIONAL = {"swap_slots.c"}     # wrapped files that not every kernel has
OWN_FAULT = "swap-kunit's own code does not build with this kernel"
OWN = "swap-kunit/"        # before the names of this project's files, where compilers speak of both
BEFORE_MESSAGE = re.compile(r"^In file included from |: In function ")


@dataclass
class BuildOptions:
    """jobs for make; make_options such as "LLVM=1"; verbose shows every command."""

    jobs: int
    make_options: list[str] = field(default_factory=list)
    verbose: bool = False


def kunit_py(layout: Layout) -> Path:
    """kunit.py of the tree that is built."""
    return Path("tools/testing/kunit/kunit.py")


def takes_kunitconfig(layout: Layout) -> bool:
    """Whether the tree's kunit.py has --kunitconfig; older ones read BUILD/.kunitconfig."""
    return "--kunitconfig" in (layout.tree / kunit_py(layout)).read_text()


# -- configuring -------------------------------------------------------------


def configure(layout: Layout, config: KunitConfig, options: BuildOptions) -> bool:
    """Make .config hold what config wants; True when there was something to do.

    Raises SwapKunitError or UntestableKernel naming the unmet symbol's dependency.
    """
    request = request_digest(config, options)
    if (layout.build / ".config").exists() and read_stamp(layout) == [request, kconfig_digest(layout)]:
        return False
    kunitconfig = layout.out / "kunitconfig"
    kunitconfig.write_text(config.text())
    layout.build.mkdir(exist_ok=True)
    (layout.build / ".config").unlink(missing_ok=True)
    command = [sys.executable, kunit_py(layout), "config", f"--build_dir={layout.build.name}"]
    if takes_kunitconfig(layout):
        command.append(f"--kunitconfig={kunitconfig}")
    else:
        (layout.build / ".kunitconfig").write_text(config.text())
    command += [f"--make_options={option}" for option in options.make_options]
    commands.show(command, layout.tree)
    done = commands.run(command, cwd=layout.tree, env=commands.kernel_environment())
    (layout.out / "build.log").write_text(done.output)
    check_config(layout, config, done)
    return True


def check_config(layout: Layout, config: KunitConfig, done: commands.Finished) -> None:
    """Raise for a configuration that failed, or that is not what was asked."""
    result = fragments.read_dot_config(layout.build / ".config")
    missing = fragments.unmet(config, result) if "CC_VERSION_TEXT" in result else []
    if missing:
        for line in explain(layout.tree, missing, config, result):
            print(f"swap-kunit: {line}", file=sys.stderr)
        ours = [symbol for symbol in missing if config.asked_by[symbol] != ".kunitconfig"]
        error = SwapKunitError if ours else UntestableKernel
        raise error(f"cannot configure this kernel as asked: {len(missing)} of {len(config.wanted)} "
                    "symbols are not to be had in its UML build; leave them out, or add what "
                    "they depend on to the fragment")
    if done.status:
        print(commands.tail(done.output), file=sys.stderr)
        raise_if_disk_full(layout, done.output)
        raise UntestableKernel("cannot configure this kernel: its `make olddefconfig` failed as shown "
                               "above; put the tree's Kconfig files right")


def request_digest(config: KunitConfig, options: BuildOptions) -> str:
    """Stands for everything that, when changed, needs a new .config."""
    path = commands.kernel_environment()["PATH"]
    where = shutil.which(toolchain.compiler(options.make_options), path=path.replace(commands.CCACHE + ":", "", 1)) or ""
    info = os.stat(where) if where else None
    text = repr([config.text(), options.make_options, where, info and (info.st_size, info.st_mtime_ns)])
    return hashlib.sha256(text.encode()).hexdigest()


def kconfig_digest(layout: Layout) -> str:
    """Stands for the mtimes of the Kconfig files the last configuration has read."""
    digest = hashlib.sha256()
    try:
        listed = (layout.build / "include/config/auto.conf.cmd").read_text()
    except FileNotFoundError:
        return ""
    for name in re.findall(r"^\t(\S*Kconfig\S*) ", listed, re.M):
        # Relative to the tree, whatever directory make runs in.
        try:
            info = os.stat(layout.tree / name)
        except OSError:
            digest.update(f"{name} is gone\n".encode())
            continue
        digest.update(f"{name} {info.st_mtime_ns} {info.st_size}\n".encode())
    return digest.hexdigest()


def read_stamp(layout: Layout) -> list[str]:
    """What write_stamp() left, or an empty list."""
    try:
        return json.loads((layout.out / STAMP).read_text())
    except (OSError, ValueError):
        return []


def write_stamp(layout: Layout, config: KunitConfig, options: BuildOptions) -> None:
    """Remember that the .config is what config wants."""
    stamp = [request_digest(config, options), kconfig_digest(layout)]
    if stamp != read_stamp(layout):
        (layout.out / STAMP).write_text(json.dumps(stamp))


# -- building ----------------------------------------------------------------


def build(layout: Layout, config: KunitConfig, options: BuildOptions, stale: list[str]) -> None:
    """Configure and build vmlinux. Raises SwapKunitError or UntestableKernel."""
    (layout.out / "build.log").unlink(missing_ok=True)
    check_wrapped(layout)
    cold = not layout.vmlinux.exists()
    if cold:
        check_room(layout.out, ROOM_TO_BUILD)
    drop_objects(layout.build, stale)
    (layout.tree / STALE).unlink(missing_ok=True)
    unfinished = layout.out / UNFINISHED
    if unfinished.exists():
        drop_half_written(layout.build)
    configure(layout, config, options)
    command = build_command(layout, options, cold)
    commands.show(command, layout.tree)
    unfinished.touch()
    done = commands.run(command, cwd=layout.tree, env=commands.kernel_environment(),
                        echo=options.verbose, progress=ObjectCount(layout.build))
    if done.status == 0:        # else it may have been killed, or have lacked room
        unfinished.unlink()
    (layout.out / "build.log").write_text(done.output)
    check_build(layout, done)
    write_stamp(layout, config, options)
    refresh_link(layout)


def build_command(layout: Layout, options: BuildOptions, cold: bool) -> list[str | Path]:
    """kunit.py for a first build, make for vmlinux alone afterwards (and when all is shown)."""
    if cold and not options.verbose and takes_kunitconfig(layout):
        return [sys.executable, kunit_py(layout), "build", f"--build_dir={layout.build.name}",
                f"--kunitconfig={layout.out / 'kunitconfig'}", f"--jobs={options.jobs}",
                *(f"--make_options={option}" for option in options.make_options)]
    return ["make", "ARCH=um", f"O={layout.build}", f"--jobs={options.jobs}",
            "V=1" if options.verbose else "-s", *options.make_options, "vmlinux"]


def check_build(layout: Layout, done: commands.Finished) -> None:
    """Show what the compiler said; raise when there is no kernel."""
    lines = [line.removeprefix("ERROR:root:") for line in done.output.splitlines()]
    said = once_each([line for line in lines if not NOISE.match(line) or MAKE_ITSELF.match(line)])
    if done.status == 0 and layout.vmlinux.exists():
        if said:
            print("\n".join(said))
        return
    print("\n".join(said[-60:]) or commands.tail(done.output), file=sys.stderr)
    raise_if_disk_full(layout, done.output)
    if own_fault([named(line) for line in said]):
        raise not_ours("something that it calls is gone, or is called otherwise, as shown above")
    raise UntestableKernel("the kernel under test does not build: make stopped at what is shown above "
                           f"(whole output: {layout.out / 'build.log'}); put it right and run again")


def named(line: str) -> str:
    """A compiler's line, with the kernel's files by their own names and ours told from them.

    The kernel's own mm/NAME.c lies beside a wrapper of ours that has its name.
    """
    def name(match: re.Match[str]) -> str:
        path = match[1] + match[3]
        ours = not match[2] and (path.startswith(f"{OWN_DIR}/") or (REPO / path).exists())
        return (OWN if ours else "") + path
    return SOURCE.sub(name, re.sub(r"\b(Kconfig|Makefile)\.real\b", r"\1", line))


def own_fault(lines: list[str]) -> bool:
    """Whether compilers complain of our own code alone; lines as named() gives them."""
    errors = [line for line in lines if ERROR.search(line)]
    return bool(errors) and all(line.startswith(OWN) for line in errors)


def not_ours(why: str) -> UntestableKernel:
    """That a kernel, which may be good, is none that our code fits."""
    return UntestableKernel(f"{OWN_FAULT}: {why}; the kernel may be good: see whether there is a newer swap-kunit")


def check_wrapped(layout: Layout) -> None:
    """Raise UntestableKernel if the kernel lacks a file that a wrapper includes."""
    for name in WRAPPED:
        if name not in OPTIONAL and not (layout.tree / "mm" / real_name(name)).exists():
            raise not_ours(f"it includes mm/{name}, which is not there")


def once_each(said: list[str]) -> list[str]:
    """What compilers said, every message once: a header's comes with each file that includes it."""
    blocks: list[list[str]] = [[]]
    complete = False
    for line in said:
        message = bool(MESSAGE.search(line))
        if complete and (message or BEFORE_MESSAGE.search(line)):
            blocks.append([])
            complete = False
        blocks[-1].append(line)
        complete = complete or message
    counted: dict[str, list] = {}
    for block in blocks:
        key = next((line for line in block if MESSAGE.search(line)), "\n".join(block))
        counted.setdefault(key, [block, 0])[1] += 1
    return [line for block, times in counted.values()
            for line in [*block, *([f"(the same {times - 1} times more)"] if times > 1 else [])]]


class ObjectCount:
    """The status line of a first build: objects made so far, counted every few seconds."""

    def __init__(self, build_dir: Path):
        self.build_dir, self.counted_at, self.objects = build_dir, -9.0, 0

    def __call__(self, seconds: float) -> str:
        if seconds - self.counted_at > 3:
            self.counted_at = seconds
            self.objects = sum(name.endswith(".o") for _, _, names in os.walk(self.build_dir)
                               for name in names)
        return f"building: {self.objects} objects, {seconds:.0f} s"


def refresh_link(layout: Layout) -> None:
    """Keep .kunit/linux, a hard link made by `make all`, at the vmlinux just made."""
    linux = layout.build / "linux"
    if linux.exists() and not linux.samefile(layout.vmlinux):
        linux.unlink()
        os.link(layout.vmlinux, linux)


def drop_objects(build_dir: Path, stale: list[str]) -> None:
    """Delete the objects that depend on files whose older content make cannot notice."""
    if not stale or not build_dir.is_dir():
        return
    names = [f"../{path}".encode() for path in stale]
    for parent, _, files in os.walk(build_dir):
        for name in files:
            if not (name.startswith(".") and name.endswith(".cmd")):
                continue
            path = Path(parent, name)
            content = path.read_bytes()
            if any(stale_name in content for stale_name in names):
                path.unlink()
                (path.parent / name[1:-4]).unlink(missing_ok=True)


def drop_half_written(build_dir: Path) -> None:
    """Delete what a build that was killed had only half written, and kbuild would take for good.

    kbuild writes .NAME.cmd after NAME: an object that is newer was not finished, and nor
    was a .cmd that ends in the middle, over which every later make stumbles.
    """
    for parent, _, files in os.walk(build_dir):
        for name in files:
            if not (name.startswith(".") and name.endswith(".cmd")):
                continue
            path, made = Path(parent, name), Path(parent, name[1:-4])
            text = path.read_text(errors="replace")
            whole = text.endswith("\n") and ("\ndeps_" not in text or text.rstrip().endswith("):"))
            if not whole or (made.exists() and made.stat().st_mtime_ns > path.stat().st_mtime_ns):
                path.unlink()
                made.unlink(missing_ok=True)


# -- disk space --------------------------------------------------------------


def raise_if_disk_full(layout: Layout, output: str) -> None:
    """Raise SwapKunitError when a build that failed has lacked room: by output, which a kernel may also lie in, and
    by what is free now, as programs remove what they could not write."""
    place = full_disk(layout.out, ROOM_TO_LINK if "No space left on device" in output else LITTLE)
    if place:
        raise no_room(place)
