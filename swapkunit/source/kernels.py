# SPDX-License-Identifier: GPL-2.0
"""Kernels from Debian's linux-source packages, unpacked once into the cache.

    CACHE/kernels/linux-source-7.3_7.3.4-1~bpo13+1/     an unpacked tree, complete
    CACHE/apt/SUITE/                                    apt's lists and downloads

A cached kernel is used without asking the mirror; `swap-kunit fetch` asks.
"""
from __future__ import annotations

import fcntl
import os
import re
import shutil
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

from ..base import commands, deps
from ..base.errors import SwapKunitError
from ..base.kernel import OLDEST, Kernel, examine, version_key
from ..base.layout import CONFIGS, cache_dir, check_room
from .apt import Apt, Mirror, Package, find_mirror

ROOM_TO_FETCH = 2600 << 20      # bytes for the package and its unpacked tree
UNPACK = ("dpkg-deb --fsys-tarfile {deb} | tar -xOf - --wildcards './usr/src/linux-source-*.tar.*'"
          " | xz -dc -T0 | tar -xf - -C {to}")


@dataclass(frozen=True)
class Known:
    """configs/kernels.toml."""

    default: str
    other_suites: list[str]
    suites: dict[str, list[str]]
    mechanisms: dict[str, list[str]] = field(default_factory=dict)

    def mechanisms_of(self, series: str) -> list[str]:
        """The mechanisms that a kernel of series ("7.3") must have."""
        return self.mechanisms.get(series) or self.mechanisms.get(series.split(".")[0]) or []

    def suites_of(self, wanted: str) -> list[str]:
        """The suites that may have wanted ("7", "6.12", "6.12.117")."""
        for length in (2, 1):
            found = self.suites.get(".".join(wanted.split(".")[:length]))
            if found:
                return found
        return self.other_suites


def known_kernels(path: Path = CONFIGS / "kernels.toml") -> Known:
    """Read kernels.toml. Raises SwapKunitError if it is invalid."""
    try:
        with open(path, "rb") as file:
            data = tomllib.load(file)
        suites = {entry["series"]: entry["suites"] for entry in data["kernel"]}
        mechanisms = {entry["series"]: entry.get("mechanisms", []) for entry in data["kernel"]}
        return Known(data["default"], data["other_suites"], suites, mechanisms)
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise SwapKunitError(f"cannot read the known kernels in {path}: {error}; fix it") from error


# -- the cache ---------------------------------------------------------------


@dataclass(frozen=True)
class Cached:
    """An unpacked package in the cache."""

    path: Path
    package: str
    debian_version: str

    @property
    def version(self) -> str:
        """The upstream version, "7.3.4"."""
        return self.debian_version.partition("-")[0]

    def kernel(self) -> Kernel:
        """The kernel to test; it stays while this process lives."""
        hold(self.path, fcntl.LOCK_SH)
        return examine(self.path, f"Debian package {self.package} {self.debian_version}")


def cached() -> list[Cached]:
    """Every kernel in the cache, newest first."""
    found = []
    for path in (cache_dir() / "kernels").glob("linux-source-*_*"):
        package, _, version = path.name.partition("_")
        found.append(Cached(path, package, version))
    return sorted(found, key=lambda entry: order(entry.debian_version), reverse=True)


def exact_version(kernel: Kernel) -> str:
    """The Debian version of a cached kernel, which identifies it."""
    return kernel.path.name.partition("_")[2]


def order(version: str) -> tuple[int, ...]:
    """A sort key for Debian versions of a package."""
    return tuple(int(number) for number in re.findall(r"\d+", version))


def matches(wanted: str, version: str) -> bool:
    """Whether an upstream or Debian version matches wanted ("7", "7.3", "7.3.4")."""
    return version == wanted or version.startswith((f"{wanted}.", f"{wanted}-"))


_held: dict[Path, int] = {}


def hold(path: Path, how: int) -> bool:
    """Lock a kernel of the cache until this process ends; False if another process has locked it otherwise."""
    try:
        if path not in _held:
            _held[path] = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(_held[path], how | fcntl.LOCK_NB)
    except OSError as error:        # not every file system has locks
        return not isinstance(error, BlockingIOError)
    return True


@contextmanager
def locked_cache() -> Iterator[None]:
    """Wait until no other process fetches, and lock the cache."""
    check_cache_writable()
    with open(cache_dir() / "lock", "w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another swap-kunit, which is fetching a kernel", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


# -- finding and fetching ----------------------------------------------------


def check(wanted: str | None) -> str:
    """The version wanted, or the default one. Raises SwapKunitError if it can be none that we test."""
    asked = wanted or known_kernels().default
    if not re.fullmatch(r"\d+(\.\d+)*(-\S+)?", asked):
        found = re.search(r"\d+(\.\d+)*", asked)
        raise SwapKunitError(f"'{asked}' is not a kernel version; {f'did you mean {found[0]}? ' if found else ''}"
                             "expected e.g. 7.3 or 6.12; give a tree of your own with --ksrc (make: KSRC=)")
    if version_key(asked) + (99,) < OLDEST:
        raise SwapKunitError(f"cannot test Linux {asked}: KUnit on UML needs 5.10 or newer; choose a newer one")
    return asked


def provide(wanted: str | None = None, ask_mirror: bool = False, mirror: Mirror | None = None) -> Kernel:
    """The kernel of version wanted, or the default one. Raises SwapKunitError.

    ask_mirror: look for a newer version even if one is cached.
    """
    known, asked = known_kernels(), check(wanted)
    here = next((entry for entry in cached() if matches(asked, entry.debian_version)), None)
    if here and not ask_mirror:
        return here.kernel()
    deps.require(deps.FETCH)
    with locked_cache():
        return fetch(asked, known, mirror)


def fetch(asked: str, known: Known, mirror: Mirror | None) -> Kernel:
    """Fetch and unpack the kernel asked for; use the cache, with a message, if the mirror cannot give it."""
    series = ".".join(asked.split("-")[0].split(".")[:2])
    mirror = mirror or find_mirror()
    served, trouble = ask(mirror, known.suites_of(asked), series)
    major = series.partition(".")[0]
    if not served and not trouble and major in known.suites and not cached_of(series):
        served, trouble = ask(mirror, known.suites_of(asked), major)
    if served and version_key(newest(served).upstream) < version_key(asked):
        raise SwapKunitError(f"cannot fetch Linux {asked}: the mirror's newest is {newest(served).upstream}; choose "
                             f"that, or one of {', '.join(known.suites)}")
    if served:
        chosen = choose(served, asked)
    elif not trouble and asked == known.default:
        served, trouble = ask(mirror, known.other_suites, "")
        if served:
            chosen = newest(served)
            print(f"swap-kunit: the mirror no longer has {asked}.x: using {chosen.version}, its newest",
                  flush=True)
    if not served:
        return from_cache(asked, series, trouble, later=asked == known.default)
    for entry in cached():
        if (entry.package, entry.debian_version) == (chosen.name, chosen.version):
            return entry.kernel()
    check_room(cache_dir(), ROOM_TO_FETCH)
    try:
        return unpack(download(mirror, chosen), chosen).kernel()
    except OSError as error:
        return from_cache(asked, series, error.strerror or str(error))


def ask(mirror: Mirror, suites: list[str], series: str) -> tuple[list[Package], str]:
    """The packages of series in the first suite that has any, and the last error if none has."""
    trouble = ""
    for suite in suites:
        try:
            offered = Apt(mirror, suite, cache_dir() / "apt").packages()
        except OSError as error:
            trouble = error.strerror or str(error)
            continue
        found = [package for package in offered if matches(series, package.series) or not series]
        if found:
            return found, ""
    return [], trouble


def choose(served: list[Package], asked: str) -> Package:
    """The newest package that matches; otherwise, with a message, the newest of the series."""
    wanted = [package for package in served if matches(asked, package.version)]
    chosen = newest(wanted or served)
    if not wanted:
        print(f"swap-kunit: the mirror no longer has {asked}: using {chosen.version}, the newest of its "
              "series", flush=True)
    return chosen


def newest(served: list[Package]) -> Package:
    """The package with the highest version."""
    return max(served, key=lambda package: order(package.version))


def cached_of(series: str) -> Cached | None:
    """The newest kernel of a series in the cache."""
    return next((entry for entry in cached() if matches(series, entry.version)), None)


def from_cache(asked: str, series: str, trouble: str, later: bool = False) -> Kernel:
    """The cached kernel of a series that the mirror did not give. Raises SwapKunitError.

    later: accept a kernel of a later series too.
    """
    entry = cached_of(series)
    if entry is None and later and cached() and version_key(cached()[0].version) > version_key(series):
        entry = cached()[0]
    if entry and not trouble and version_key(entry.version) < version_key(asked):
        entry = None
    why = f"the mirror is unreachable ({trouble})" if trouble else "no release on the mirror has it"
    if entry is None:
        raise SwapKunitError(f"cannot fetch Linux {asked}: {why}; check the network and this machine's apt sources, "
                             f"choose one of {', '.join(known_kernels().suites)}, or give a kernel tree with --ksrc "
                             "(make: KSRC=)")
    print(f"swap-kunit: {why}: using {entry.debian_version} from the cache", flush=True)
    return entry.kernel()


def download(mirror: Mirror, package: Package) -> Path:
    """Fetch the .deb of package."""
    print(f"fetching {package.name} {package.version} from {package.suite}", flush=True)
    return Apt(mirror, package.suite, cache_dir() / "apt").download(package)


def unpack(deb: Path, package: Package) -> Cached:
    """Unpack a .deb's kernel into the cache, completely or not at all, and remove the .deb.

    Raises SwapKunitError.
    """
    top = cache_dir() / "kernels"
    for leaving in top.glob(".new-*"):
        shutil.rmtree(leaving)
    target, fresh = top / f"{package.name}_{package.version}", top / f".new-{package.name}"
    try:
        return unpack_to(deb, package, fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def unpack_to(deb: Path, package: Package, fresh: Path, target: Path) -> Cached:
    """Unpack into fresh, and rename the tree to target."""
    fresh.mkdir(parents=True)
    print(f"unpacking {deb.name}", flush=True)
    script = "set -o pipefail; " + UNPACK.format(deb='"$1"', to='"$2"')
    done = commands.run(["bash", "-c", script, "unpack", deb, fresh],
                        progress=lambda spent: f"unpacking {package.name}: {spent:.0f} s")
    trees = [path for path in fresh.iterdir() if (path / "Makefile").exists()]
    if done.status or len(trees) != 1:
        if "No space left" in done.output:
            check_room(target.parent, 1 << 60)
        deb.unlink()
        raise SwapKunitError(f"cannot unpack {deb.name}: {commands.tail(done.output, 1) or 'no kernel in it'}; "
                             "it is removed from the cache; run again to fetch it once more")
    trees[0].rename(target)
    deb.unlink()
    return Cached(target, package.name, package.version)


def check_cache_writable() -> None:
    """Raise SwapKunitError if the cache is not writable."""
    place = cache_dir() / "kernels"
    try:
        place.mkdir(parents=True, exist_ok=True)
        why = "" if os.access(place, os.W_OK) and os.access(cache_dir(), os.W_OK) else "Permission denied"
    except OSError as error:
        why = error.strerror or str(error)
    if why:
        raise SwapKunitError(f"cannot store a kernel in {cache_dir()}: {why}; set SWAP_KUNIT_CACHE to a writable "
                             "directory")
