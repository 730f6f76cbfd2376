# SPDX-License-Identifier: GPL-2.0
"""Fetching kernels, from an unsigned apt repository made here."""
from __future__ import annotations

import contextlib
import hashlib
import io
import shutil
import subprocess
import threading
import unittest
from pathlib import Path
from unittest import mock

from swapkunit.source import apt, kernels
from swapkunit.source.apt import Mirror, Package
from swapkunit.base.errors import SwapKunitError
from swapkunit.base.kernel import Kernel

from .support import Scratch, make_kernel, write

KERNELS = kernels.Known("7", ["sid"], {"7": ["backports", "sid"], "6.12": ["stable-security", "stable"]})


@unittest.skipUnless(shutil.which("apt-get") and shutil.which("dpkg-deb"), "no apt here")
class Fetching(Scratch):
    """provide() against a repository in a directory."""

    def setUp(self) -> None:
        super().setUp()
        self.repository = self.top / "repository"
        self.mirror = Mirror(f"file:{self.repository}", f"file:{self.repository}", "trusted=yes")
        patch = mock.patch("swapkunit.source.kernels.known_kernels", return_value=KERNELS)
        patch.start()
        self.addCleanup(patch.stop)
        self.said = io.StringIO()
        for suite in ("backports", "sid", "stable", "stable-security"):
            self.serve(suite)

    def serve(self, suite: str, *versions: str) -> None:
        """Give suite linux-source packages of these Debian versions."""
        index = self.repository / f"dists/{suite}/main/binary-{self.architecture()}/Packages"
        write(index, "".join(self.package(version) for version in versions))
        content = index.read_bytes()
        write(self.repository / f"dists/{suite}/Release",
              f"Origin: Test\nSuite: {suite}\nCodename: {suite}\nComponents: main\n"
              f"Architectures: {self.architecture()}\nDate: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n"
              f" {hashlib.sha256(content).hexdigest()} {len(content)} {index.relative_to(index.parents[2])}\n")

    @staticmethod
    def architecture() -> str:
        """This machine's architecture in dpkg."""
        return subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip()

    def package(self, version: str) -> str:
        """Build a .deb with a miniature kernel; its stanza for Packages."""
        upstream = version.partition("-")[0]
        name = "linux-source-" + ".".join(upstream.split(".")[:2])
        deb = self.repository / f"pool/{name}_{version}_all.deb"
        if not deb.exists():
            numbers = upstream.split(".")
            kernel = make_kernel(self.top / f"made/{version}/{name}", Makefile="".join(
                f"{word} = {number}\n" for word, number in zip(("VERSION", "PATCHLEVEL", "SUBLEVEL"), numbers)))
            root = self.top / f"made/{version}/root"
            (root / "usr/src").mkdir(parents=True)
            subprocess.check_call(["tar", "-cJf", root / f"usr/src/{name}.tar.xz", "-C", kernel.parent, name])
            write(root / "DEBIAN/control", f"Package: {name}\nVersion: {version}\nArchitecture: all\n"
                                           "Maintainer: T <t@t>\nDescription: miniature\n")
            deb.parent.mkdir(parents=True, exist_ok=True)
            subprocess.check_call(["dpkg-deb", "-b", root, deb], stdout=subprocess.DEVNULL)
        return (f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: T <t@t>\n"
                f"Filename: pool/{deb.name}\nSize: {deb.stat().st_size}\nDescription: miniature\n"
                f"SHA256: {hashlib.sha256(deb.read_bytes()).hexdigest()}\n\n")

    def provide(self, wanted: str | None = None, **options: bool) -> Kernel:
        """kernels.provide() from the repository, without output."""
        with contextlib.redirect_stdout(self.said):
            return kernels.provide(wanted, mirror=self.mirror, **options)

    def break_mirror(self) -> None:
        """Make all suites unreachable."""
        shutil.rmtree(self.repository / "dists")

    def test_newest_of_the_default_series(self) -> None:
        self.serve("backports", "7.2.9-1~bpo1", "7.10.1-1~bpo1", "7.3.4-1~bpo1")
        kernel = self.provide()
        self.assertEqual((kernel.version, kernel.given), ("7.10.1", False))
        self.assertIn("linux-source-7.10 7.10.1-1~bpo1", kernel.origin)
        self.assertTrue((kernel.path / "mm/swapfile.c").exists())
        self.assertEqual(list((self.top / "cache").rglob("*.deb")), [])

    def test_next_suite_where_the_first_has_none(self) -> None:
        self.serve("sid", "7.4-1")
        self.assertEqual(self.provide("7.4").version, "7.4.0")

    def test_cached_kernel_needs_no_mirror(self) -> None:
        self.serve("stable", "6.12.1-1")
        first = self.provide("6.12")
        self.break_mirror()
        with mock.patch("swapkunit.base.commands.run", side_effect=AssertionError("a command was run")):
            self.assertEqual(self.provide("6.12"), first)

    def test_fetch_looks_for_a_newer_one(self) -> None:
        self.serve("stable", "6.12.1-1")
        self.provide("6.12")
        self.serve("stable", "6.12.9-1")
        self.assertEqual(self.provide("6.12").version, "6.12.1")
        self.assertEqual(self.provide("6.12", ask_mirror=True).version, "6.12.9")
        self.assertEqual(self.provide("6.12").version, "6.12.9")

    def test_version_no_longer_served(self) -> None:
        self.serve("stable", "6.12.9-1")
        self.assertEqual(self.provide("6.12.5").version, "6.12.9")
        self.assertIn("the mirror no longer has 6.12.5: using 6.12.9-1", self.said.getvalue())

    def test_version_newer_than_all_is_an_error(self) -> None:
        self.serve("backports", "7.3.4-1")
        for cached in (False, True):
            for asked in ("7.9", "7.3.9"):
                with self.assertRaisesRegex(SwapKunitError, f"cannot fetch Linux {asked}: "):
                    self.provide(asked)
            self.assertEqual(self.provide("7").version, "7.3.4", cached)
        self.serve("backports", "7.5.1-1")
        with self.assertRaisesRegex(SwapKunitError, "cannot fetch Linux 7.3.9: no release on the mirror has it"):
            self.provide("7.3.9")

    def test_version_served_in_a_newer_series_of_the_same_entry(self) -> None:
        self.serve("backports", "7.4.1-1", "7.5.2-1")
        self.assertEqual(self.provide("7.3").version, "7.5.2")
        self.assertIn("the mirror no longer has 7.3: using 7.5.2-1, the newest of its series",
                      self.said.getvalue())

    def test_series_in_the_cache_goes_before_a_newer_one(self) -> None:
        self.serve("backports", "7.3.4-1")
        self.provide("7.3")
        self.serve("backports", "7.5.2-1")
        self.assertEqual(self.provide("7.3", ask_mirror=True).version, "7.3.4")
        self.assertIn("no release on the mirror has it: using 7.3.4-1 from the cache", self.said.getvalue())
        self.assertEqual(self.provide().version, "7.3.4")
        self.assertEqual(self.provide(ask_mirror=True).version, "7.5.2")
        self.assertEqual(self.provide().version, "7.5.2")

    def test_long_term_series_gone_is_no_other_one(self) -> None:
        self.serve("stable", "6.18.1-1")
        with self.assertRaisesRegex(SwapKunitError, "cannot fetch Linux 6.12: no release on the mirror has it"):
            self.provide("6.12")

    def test_default_series_gone(self) -> None:
        self.serve("sid", "8.1.2-1", "8.2.1-1")
        self.assertEqual(self.provide().version, "8.2.1")
        self.assertIn("the mirror no longer has 7.x: using 8.2.1-1, its newest", self.said.getvalue())
        self.assertNotIn("of its series", self.said.getvalue())
        self.break_mirror()
        self.assertEqual(self.provide().version, "8.2.1")
        with self.assertRaisesRegex(SwapKunitError, "unreachable"):
            self.provide("7.3")

    def test_exact_version_names_a_cached_kernel(self) -> None:
        self.serve("stable", "6.12.1-1", "6.12.9-1")
        kernel = self.provide("6.12.1")
        self.provide("6.12.9")
        self.assertEqual(kernels.exact_version(kernel), "6.12.1-1")
        self.break_mirror()
        self.assertEqual(self.provide(kernels.exact_version(kernel)), kernel)

    def test_no_network(self) -> None:
        self.break_mirror()
        with self.assertRaisesRegex(SwapKunitError, "cannot fetch Linux 7: the mirror is unreachable"):
            self.provide()
        self.assertEqual(kernels.cached(), [])

    def test_no_network_but_a_kernel_of_the_series(self) -> None:
        self.serve("stable", "6.12.1-1")
        self.provide("6.12")
        self.break_mirror()
        self.assertEqual(self.provide("6.12", ask_mirror=True).version, "6.12.1")
        self.assertEqual(self.provide("6.12.7").version, "6.12.1")
        self.assertIn("using 6.12.1-1 from the cache", self.said.getvalue())

    def test_damaged_package_is_refused(self) -> None:
        self.serve("stable", "6.12.1-1")
        deb = next(self.repository.glob("pool/*.deb"))
        deb.write_bytes(deb.read_bytes()[:-10] + b"0123456789")
        with self.assertRaises(SwapKunitError):
            self.provide("6.12")
        self.assertEqual(kernels.cached(), [])

    def test_unpacking_that_fails_leaves_nothing_half(self) -> None:
        deb = write(self.top / "broken.deb", "no package")
        package = Package("linux-source-7.3", "7.3.4-1", "sid")
        with self.assertRaisesRegex(SwapKunitError, "cannot unpack broken.deb"), \
                contextlib.redirect_stdout(self.said):
            kernels.unpack(deb, package)
        self.assertEqual(list((self.top / "cache/kernels").iterdir()), [])

    def test_unpacking_that_is_stopped_leaves_nothing_half(self) -> None:
        deb = write(self.top / "good.deb", "package")
        with mock.patch("swapkunit.base.commands.run", side_effect=KeyboardInterrupt), \
                self.assertRaises(KeyboardInterrupt), contextlib.redirect_stdout(self.said):
            kernels.unpack(deb, Package("linux-source-7.3", "7.3.4-1", "sid"))
        self.assertEqual(list((self.top / "cache/kernels").iterdir()), [])
        self.assertTrue(deb.exists())

    def test_full_disk_is_reported_beforehand(self) -> None:
        self.serve("stable", "6.12.1-1")
        with mock.patch("swapkunit.source.kernels.ROOM_TO_FETCH", 1 << 60), \
                self.assertRaisesRegex(SwapKunitError, "GB needed"):
            self.provide("6.12")

    def test_two_fetches_at_once(self) -> None:
        self.serve("stable", "6.12.1-1")
        found: list[Kernel] = []
        threads = [threading.Thread(target=lambda: found.append(kernels.provide("6.12", mirror=self.mirror)))
                   for _ in range(3)]
        with contextlib.redirect_stdout(self.said):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual({kernel.version for kernel in found}, {"6.12.1"})
        self.assertEqual(self.said.getvalue().count("unpacking linux-source"), 1)

    def test_system_is_not_touched(self) -> None:
        before = {path: path.stat().st_mtime_ns for path in Path("/var/lib/apt/lists").rglob("*")}
        self.serve("stable", "6.12.1-1")
        self.provide("6.12")
        self.assertEqual({path: path.stat().st_mtime_ns for path in Path("/var/lib/apt/lists").rglob("*")}, before)


class MirrorOfThisMachine(unittest.TestCase):
    """The output of apt-get indextargets."""

    def find(self, *lines: str) -> Mirror:
        """find_mirror() with these lines from apt."""
        done = mock.Mock(output="\n".join(lines))
        with mock.patch("swapkunit.base.commands.run", return_value=done), \
                mock.patch("swapkunit.source.apt.keyring", return_value=Path("/k.gpg")):
            return apt.find_mirror()

    def test_others_archives_are_passed_over(self) -> None:
        mirror = self.find("https://other.example/x nodistro Other", "http://m.example/debian bookworm Debian",
                           "http://s.example/debian-security bookworm-security Debian")
        self.assertEqual((mirror.main, mirror.security),
                         ("http://m.example/debian", "http://s.example/debian-security"))
        self.assertEqual(mirror.source_line("bookworm-security"),
                         "deb [signed-by=/k.gpg] http://s.example/debian-security bookworm-security main\n")

    def test_before_the_first_update_and_without_security(self) -> None:
        mirror = self.find("http://m.example/debian bookworm ")
        self.assertEqual(mirror.security, "http://m.example/debian-security")

    def test_none(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, "apt on this machine has no Debian mirror; add one"):
            self.find("https://other.example/x nodistro Other")


class Project(unittest.TestCase):
    """The project's own list of kernels."""

    def test_every_series_has_suites_and_no_host_is_named(self) -> None:
        known = kernels.known_kernels()
        self.assertEqual(known.suites_of("6.12.117"), known.suites["6.12"])
        self.assertEqual(known.suites_of("7.9"), known.suites["7"])
        self.assertEqual(known.suites_of("6.18"), known.other_suites)
        top = Path(kernels.__file__).parent.parent
        for path in [*top.glob("swapkunit/*.py"), *top.glob("configs/*"), top / "Makefile"]:
            if path.is_file():
                self.assertNotRegex(path.read_text(), r"https?://|debian\.org", str(path))

    def test_versions(self) -> None:
        self.assertTrue(kernels.matches("7", "7.3.4-1~bpo13+1"))
        self.assertTrue(kernels.matches("7.3", "7.3-1"))
        self.assertFalse(kernels.matches("7.3", "7.30.1-1"))
        self.assertLess(kernels.order("7.3.4-1"), kernels.order("7.10.1-1"))


if __name__ == "__main__":
    unittest.main()
