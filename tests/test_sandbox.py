# SPDX-License-Identifier: GPL-2.0
"""The sandbox: its command line, access inside, and limits."""
from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from swapkunit.base import commands
from swapkunit import sandbox
from swapkunit.base.errors import SwapKunitError
from swapkunit.sandbox import Limits, Sandbox

from .support import Scratch, processes_with


def usable() -> bool:
    """Whether a sandbox works on this machine."""
    try:
        return shutil.which("bwrap") is not None and not sandbox.probe(Sandbox())
    except SwapKunitError:
        return False


class CommandLine(unittest.TestCase):
    """The command line of bwrap."""

    def words(self, made: Sandbox, **given: object) -> list[str]:
        """The command line for `true`."""
        defaults = {"cwd": Path("/work"), "env": {}, "scratch": None, "room": 0}
        return made.wrap(["true"], **{**defaults, **given})[0]

    def test_namespaces_and_capabilities(self) -> None:
        line = " ".join(self.words(Sandbox()))
        for wanted in ("--unshare-user", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--disable-userns",
                       "--cap-drop ALL", "--die-with-parent", "--proc /proc", "--dev /dev"):
            self.assertIn(wanted, line)

    def test_nothing_of_the_system_is_writable(self) -> None:
        words = self.words(Sandbox((Path("/tree"),), (Path("/out/build"),)))
        writable = [words[number + 1] for number, word in enumerate(words) if word == "--bind"]
        self.assertEqual(writable, ["/out/build"])
        self.assertIn("--remount-ro / --chdir /work --", " ".join(words))
        self.assertLess(words.index("/tree"), words.index("/out/build"), "the writable one lies over the tree")

    def test_no_home(self) -> None:
        words = self.words(Sandbox())
        self.assertFalse([word for word in words if word.startswith(("/home", "/root", "/run", "/var", "/etc/shadow"))])

    def test_limits_are_set_inside(self) -> None:
        words = self.words(Sandbox(limits=Limits(address_space=1000, file_size=2000, processes=30)))
        inside = words[words.index("--") + 1:]
        self.assertEqual(inside, ["prlimit", "--core=0", "--fsize=2000", "--nproc=60", "--as=1000", "--", "true"])
        self.assertNotIn("--as", " ".join(self.words(Sandbox(limits=Limits(address_space=None)))))

    def test_scratch_is_memory_of_its_own(self) -> None:
        line = " ".join(self.words(Sandbox(), scratch=Path("/dev/shm/uml"), room=4096))
        self.assertIn("--size 4096 --tmpfs /dev/shm/uml --remount-ro", line)

    def test_secrets_of_the_environment_stay_outside(self) -> None:
        given = {"PATH": "/bin", "AWS_SECRET": "x", "SSH_AUTH_SOCK": "/tmp/agent", "HOME": "/root", "LC_ALL": "C"}
        _, env = Sandbox().wrap(["true"], None, given, None, 0)
        self.assertEqual(env, {"PATH": "/bin", "LC_ALL": "C", "HOME": "/tmp", "TMPDIR": "/tmp"})

    def test_ccache_is_read_only(self) -> None:
        words, env = Sandbox(ccache=Path("/c")).wrap(["true"], None, {}, None, 0)
        self.assertIn("--ro-bind /c /c", " ".join(words))
        self.assertEqual((env["CCACHE_DIR"], env["CCACHE_READONLY"]), ("/c", "1"))

    def test_without_bubblewrap_nothing_is_run(self) -> None:
        with mock.patch.dict(os.environ, {"PATH": "/nonexistent"}), self.assertRaises(SwapKunitError) as raised:
            sandbox.make([], [], 1)
        self.assertIn("missing packages: bubblewrap", str(raised.exception))
        self.assertIn("--no-sandbox", str(raised.exception))

    def test_a_farm_of_links_is_seen_with_what_it_leads_to(self) -> None:
        with Farm() as farm:
            self.assertEqual(sandbox.places_of(farm.links), [farm.links, farm.real])
            self.assertEqual(sandbox.places_of(farm.real), [farm.real])


class Farm(Scratch):
    """A kernel tree, and one of links to it."""

    def setUp(self) -> None:
        super().setUp()
        self.real, self.links = self.top / "real", self.top / "links"

    def __enter__(self) -> Farm:
        self.setUp()
        for name in ("Makefile", "mm/swapfile.c"):
            for top in (self.real, self.links):
                (top / name).parent.mkdir(parents=True, exist_ok=True)
            (self.real / name).touch()
            (self.links / name).symlink_to(self.real / name)
        return self

    def __exit__(self, *_: object) -> None:
        self.doCleanups()


@unittest.skipUnless(usable(), "bubblewrap does not work here")
class Inside(Scratch):
    """What a program inside can do."""

    def setUp(self) -> None:
        super().setUp()
        self.out = self.top / "out"
        self.out.mkdir()
        self.box = Sandbox((), (self.out,))

    def run_inside(self, script: str, box: Sandbox | None = None) -> commands.Finished:
        """Run a Python script in the sandbox."""
        with commands.confined(box or self.box):
            return commands.run(["/usr/bin/python3", "-c", script])

    def test_writes_its_own_directory_only(self) -> None:
        done = self.run_inside(f"open('{self.out}/made', 'w')")
        self.assertEqual((done.status, (self.out / "made").exists()), (0, True), done.output)
        precious = self.top / "precious"
        precious.write_text("x")
        self.run_inside(f"open('{precious}', 'w')")     # perhaps into its own /tmp
        for place in ("/usr/lib/made", "/made", "/etc/made", "/dev/made", __file__):
            self.assertNotEqual(self.run_inside(f"open('{place}', 'w')").status, 0, place)
        self.assertEqual(precious.read_text(), "x")

    def test_no_network(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(0.2)
            port = listener.getsockname()[1]
            done = self.run_inside(f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)")
            self.assertNotEqual(done.status, 0)
            self.assertRaises(TimeoutError, listener.accept)

    def test_sees_no_process_of_ours(self) -> None:
        done = self.run_inside("import os; print(sum(name.isdigit() for name in os.listdir('/proc')))")
        self.assertLessEqual(int(done.output), 4)

    def test_too_many_processes(self) -> None:
        script = "import subprocess, time\nfor _ in range(40): subprocess.Popen(['sleep', '20.5'])\ntime.sleep(20)"
        done = self.run_inside(script, replace(self.box, limits=Limits(processes=20)))
        # A normal user is kept from it by the kernel already; root is not.
        self.assertRegex(done.output, "its sandbox allows 20|Resource temporarily unavailable")
        self.assertNotEqual(done.status, 0)
        time.sleep(0.2)
        self.assertEqual(processes_with("20.5"), [])

    def test_too_much_memory(self) -> None:
        script = "import time\nheld = [b'x' * (32 << 20) for _ in range(6)]\ntime.sleep(20)"
        done = self.run_inside(script, replace(self.box, limits=Limits(memory=64 << 20)))
        self.assertIn("GB of memory", done.output)
        done = self.run_inside(script, replace(self.box, limits=Limits(address_space=128 << 20)))
        self.assertIn("MemoryError", done.output)

    def test_too_long(self) -> None:
        done = self.run_inside("import time; time.sleep(20)", replace(self.box, limits=Limits(seconds=0.5)))
        self.assertIn("it ran for", done.output)

    def test_too_large_a_file(self) -> None:
        done = self.run_inside(f"open('{self.out}/big', 'wb').truncate(1 << 30)",
                               replace(self.box, limits=Limits(file_size=1 << 20)))
        self.assertNotEqual(done.status, 0)
        self.assertLessEqual((self.out / "big").stat().st_size, 1 << 20)

    def test_no_trap_is_left(self) -> None:
        precious = self.top / "precious"
        precious.write_text("x")
        self.run_inside(f"import os; os.chdir('{self.out}'); os.symlink('{precious}', 'vmlinux'); os.mkfifo('.a.cmd'); "
                        f"os.mkdir('d'); os.symlink('/dev/zero', 'd/swap_api.h'); os.symlink('..', 'source'); "
                        f"open('kept', 'w')")
        self.assertEqual(sorted(str(path.relative_to(self.out)) for path in self.out.rglob("*")),
                         ["d", "kept", "source"])

    def test_confinement_ends_with_its_block(self) -> None:
        with commands.confined(self.box):
            pass
        self.assertEqual(commands.run([sys.executable, "-c", f"open('{self.top}/free', 'w')"]).status, 0)

    def test_as_somebody_without_rights(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("every other test here runs as such a one")
        words, env = Sandbox().wrap(["id", "-u"], None, {"PATH": "/usr/bin:/bin"}, None, 0)
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words], env=env,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "65534\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
