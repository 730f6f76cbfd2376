# SPDX-License-Identifier: GPL-2.0
"""Debian's apt with a state directory of our own.

It uses the mirror of the machine's apt and suites of our choice. The system's sources, lists
and preferences are neither read nor changed. Signatures are checked with Debian's archive keyring.
"""
from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from ..base import commands
from ..base.errors import SwapKunitError

KEYRINGS = Path("/usr/share/keyrings")
PACKAGE = re.compile(r"^linux-source-\d+\.\d+$")


@dataclass(frozen=True)
class Mirror:
    """Debian's main and security archives, and the option for their source lines."""

    main: str
    security: str
    trust: str

    def source_line(self, suite: str) -> str:
        """The sources.list line of a suite."""
        site = self.security if suite.endswith("-security") else self.main
        return f"deb [{self.trust}] {site} {suite} main\n"


@dataclass(frozen=True)
class Package:
    """A linux-source package in a suite."""

    name: str
    version: str
    suite: str

    @property
    def series(self) -> str:
        """The kernel series in the package's name, "7.3"."""
        return self.name.removeprefix("linux-source-")

    @property
    def upstream(self) -> str:
        """The version without Debian's revision, "7.3.4"."""
        return self.version.partition("-")[0].partition("~")[0]


def find_mirror() -> Mirror:
    """The mirror of this machine's apt. Raises SwapKunitError if it has none."""
    done = commands.run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE) $(ORIGIN)",
                         "Created-By: Packages"], env={**os.environ, "LC_ALL": "C"})
    main = security = ""
    for line in done.output.splitlines():
        site, _, rest = line.partition(" ")
        release, _, origin = rest.partition(" ")
        if "://" not in site and not site.startswith("file:") or not debians_own(release, origin):
            continue
        if release.endswith("-security"):
            security = security or site
        else:
            main = main or site
    if not main and not security:
        raise SwapKunitError("cannot fetch a kernel: apt on this machine has no Debian mirror; add "
                             "one to its sources, or give a kernel tree with --ksrc (make: KSRC=)")
    main = main or re.sub(r"debian-security/?$", "debian", security)
    return Mirror(main, security or re.sub(r"/debian/?$", "/debian-security", main),
                  f"signed-by={keyring()}")


def debians_own(release: str, origin: str) -> bool:
    """Whether an index target is Debian's; the origin is empty before the first apt-get update."""
    if origin:
        return origin == "Debian"
    return bool(re.fullmatch(r"(bullseye|bookworm|trixie|forky|sid|(old)*stable|testing|unstable)"
                             r"(-\w+)?(/updates)?", release))


def keyring() -> Path:
    """Debian's archive keyring."""
    for suffix in ("gpg", "pgp"):
        path = KEYRINGS / f"debian-archive-keyring.{suffix}"
        if path.exists():
            return path
    raise SwapKunitError("cannot check the signatures of Debian's archive: its keyring is missing; install "
                         "debian-archive-keyring")


class Apt:
    """apt with one suite as its source; it writes only below state."""

    def __init__(self, mirror: Mirror, suite: str, state: Path):
        self.suite, self.state = suite, state / suite
        for part in ("lists/partial", "cache/archives/partial", "download"):
            (self.state / part).mkdir(parents=True, exist_ok=True)
        (self.state / "sources.list").write_text(mirror.source_line(suite))
        (self.state / "status").touch()

    def _options(self) -> list[str]:
        settings = {
            "Dir::Etc::SourceList": self.state / "sources.list", "Dir::Etc::SourceParts": "/dev/null",
            "Dir::Etc::Preferences": "/dev/null", "Dir::Etc::PreferencesParts": "/dev/null",
            "Dir::State": self.state, "Dir::State::Lists": self.state / "lists",
            "Dir::State::status": self.state / "status", "Dir::Cache": self.state / "cache",
            "Acquire::Languages": "none", "Acquire::Retries": "2", "Acquire::http::Timeout": "30",
            "Acquire::https::Timeout": "30", "APT::Update::Error-Mode": "any",
        }
        if os.geteuid() == 0:
            settings["APT::Sandbox::User"] = "root"     # user _apt cannot write to root's cache
        return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]

    def _run(self, program: str, *words: str, shown: bool = False,
             cwd: Path | None = None) -> commands.Finished:
        quiet = [] if shown else ["-q"]
        return commands.run([program, *quiet, *self._options(), *words], cwd=cwd, echo=shown,
                            env={**os.environ, "LC_ALL": "C"},
                            progress=lambda spent: f"asking the mirror for {self.suite}: {spent:.0f} s")

    def packages(self) -> list[Package]:
        """The suite's current linux-source packages. Raises OSError if the mirror is unreachable."""
        done = self._run("apt-get", "update")
        if done.status:
            raise OSError(done.status, reason(done.output))
        found = self._run("apt-cache", "search", "--names-only", "^linux-source-[0-9]+[.][0-9]+$")
        names = [line.split(" ")[0] for line in found.output.splitlines() if PACKAGE.match(line.split(" ")[0])]
        if not names:
            return []
        table = self._run("apt-cache", "madison", *names).output
        rows = [[cell.strip() for cell in line.split("|")] for line in table.splitlines()]
        return [Package(row[0], row[1], self.suite) for row in rows if len(row) == 3 and PACKAGE.match(row[0])]

    def download(self, package: Package) -> Path:
        """Fetch a package's .deb, resuming an earlier download. Raises OSError."""
        directory = self.state / "download"
        done = self._run("apt-get", "download", f"{package.name}={package.version}", cwd=directory,
                         shown=sys.stdout.isatty())
        found = sorted(directory.glob(f"{package.name}_*.deb"))
        if done.status or not found:
            raise OSError(done.status, reason(done.output))
        return found[-1]


def reason(output: str) -> str:
    """The most informative line of apt's output about a failure."""
    lines = [line.strip() for line in output.splitlines() if line.startswith(("E:", "Err:", "W:"))]
    for word in ("No space left", "Could not resolve", "Temporary failure", "Could not connect",
                 "Connection", "timed out", "signature", "NO_PUBKEY", "not signed"):
        for line in lines:
            if word in line:
                return line
    return lines[0] if lines else "apt-get failed without a message"
