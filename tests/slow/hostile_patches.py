# SPDX-License-Identifier: GPL-2.0
"""Hostile patches through presubmit: the sandbox contains them, and the report shows what they did.

Each is limited in number and time; without the sandbox it would damage only files and a
listener of this test. Its code leaves a mark to show that it ran.

Slow (a kernel build), so not part of `make test`:

    /usr/bin/python3 -m unittest tests.slow.hostile_patches
"""
from __future__ import annotations

import difflib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from swapkunit.base import layout
from swapkunit import sandbox
from swapkunit.source import kernels

from ..support import processes_with

REPO = Path(__file__).resolve().parents[2]
OUT = REPO / "out" / "hostile"
SWAPON = r"SYSCALL_DEFINE2\(swapon,[^{]*\{"
# System calls of the host, around everything that UML provides.
HOST = """
static inline long host_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 asm("r10") = d, r8 asm("r8") = e, r9 asm("r9") = f;
	long ret;

	asm volatile("syscall" : "=a" (ret) : "a" (number), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8), "r" (r9)
		     : "rcx", "r11", "memory");
	return ret;
}

static inline void host_sleep(long seconds, long nanoseconds)
{
	long spec[2] = { seconds, nanoseconds };

	host_call(35, (long)spec, 0, 0, 0, 0, 0);
}
"""
LOOP = """
	{
		/* Some minutes at most. */
		for (volatile unsigned long i = 0; i < 1UL << 38; i++)
			cpu_relax();
	}
"""
FORKS = """
	{
		/* 600 processes that sleep for five seconds; they share this stack, so they use only registers. */
		static const long five[2] = { 5, 0 };

		for (int i = 0; i < 600; i++)
			asm volatile("mov $57, %%eax; syscall; test %%eax, %%eax; jnz 1f;"
				     "mov $35, %%eax; mov %0, %%rdi; xor %%esi, %%esi; syscall;"
				     "mov $60, %%eax; xor %%edi, %%edi; syscall; 1:"
				     : : "b" (five) : "rax", "rdi", "rsi", "rcx", "r11", "memory");
		host_sleep(5, 0);
	}
"""
MEMORY = """
	{
		/* 6 GiB in steps, freed when this UML ends after some seconds. */
		for (int i = 0; i < 24; i++) {
			long held = host_call(9, 0, 256L << 20, 3, 0x22, -1, 0);

			for (long at = 0; held > 0 && at < 256L << 20; at += 4096)
				*(char *)(held + at) = 1;
			host_sleep(0, 50000000);
		}
	}
"""
HOSTFS = """
	{
		struct vfsmount *host = vfs_kern_mount(get_fs_type("hostfs"), 0, "hostfs", "%(directory)s");

		pr_info("hostile: hostfs is %%s\\n", IS_ERR(host) ? "not mounted" : "mounted");
		if (!IS_ERR(host)) {
			struct file *file = file_open_root_mnt(host, "precious", O_WRONLY | O_TRUNC, 0);

			pr_info("hostile: the file is %%s\\n", IS_ERR(file) ? "not opened" : "opened");
			if (!IS_ERR(file)) {
				loff_t at = 0;

				kernel_write(file, "owned", 5, &at);
				filp_close(file, NULL);
			}
		}
		host_call(87, (long)"%(directory)s/precious", 0, 0, 0, 0, 0);
	}
"""


@unittest.skipUnless(shutil.which("bwrap"), "bubblewrap is not installed")
class HostilePatches(unittest.TestCase):
    """Each is a series of one patch on the newest 7.x."""

    def setUp(self) -> None:
        self.kernel = kernels.provide("7").path
        self.top = Path(tempfile.mkdtemp(prefix="hostile-", dir=layout.cache_dir()))
        self.addCleanup(shutil.rmtree, self.top)
        self.precious = self.top / "precious"
        self.precious.write_text("mine")

    def patch(self, **edits: tuple[str, str]) -> Path:
        """A patch that inserts text after a pattern's match in mm/NAME (_ for .)."""
        parts = []
        for name, (pattern, added) in edits.items():
            path = f"mm/{name.replace('_', '.', 1)}"
            old = (self.kernel / path).read_text()
            new, times = re.subn(pattern, lambda found: found[0] + added, old, count=1)    # pylint: disable=W0640
            self.assertEqual(times, 1, f"{pattern} is not in {path}")
            parts += difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"a/{path}", f"b/{path}")
        file = self.top / "hostile.patch"
        file.write_text("From: Mallory <m@m>\nSubject: [PATCH] mm: be hostile\n\nTrust me.\n---\n" + "".join(parts))
        return file

    def presubmit(self, patch: Path) -> str:
        """Check it; returns what was printed."""
        command = [sys.executable, REPO / "swap-kunit", "presubmit", "--quick", "--kernel", "7", "--out", OUT, "-j2",
                   "--filter", "swap_swapon.*", "--timeout", "20", patch]
        started = time.monotonic()
        done = subprocess.run(command, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, timeout=3600, check=False)
        print(f"\n== {self._testMethodName}: status {done.returncode}, {time.monotonic() - started:.0f} s\n"
              + "\n".join(line for line in done.stdout.splitlines()
                          if line.startswith(("! ", "    hung", "    crash"))), flush=True)
        self.assertEqual(self.precious.read_text(), "mine")
        self.assertEqual(processes_with(str(OUT)), [], "a process survived")
        return done.stdout

    def ran(self) -> bool:
        """Whether a Makefile left its mark in the build directory."""
        return (OUT / "plain/build/hostile-ran").exists()

    def consoles(self) -> str:
        """What the UMLs printed."""
        return "".join(path.read_text(errors="replace") for path in (OUT / "plain/logs").glob("*.log"))

    def makefile(self, script: str) -> Path:
        """A patch whose mm/Makefile runs a shell script."""
        return self.patch(Makefile=("^", f"ignored := $(shell {script}; touch hostile-ran)\n"))

    def test_makefile_deletes_a_file_outside(self) -> None:
        script = f"rm -f {self.precious}; rm -f {self.kernel}/mm/none-of-yours; echo x > {self.top}/planted"
        self.presubmit(self.makefile(script))
        self.assertTrue(self.ran())
        self.assertFalse((self.top / "planted").exists())

    def test_makefile_connects_to_a_listener(self) -> None:
        accepted = []
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            listener.settimeout(0.2)
            over = threading.Event()

            def accept() -> None:
                while not over.is_set():
                    try:
                        accepted.append(listener.accept()[1])
                    except TimeoutError:
                        pass

            thread = threading.Thread(target=accept)
            thread.start()
            try:
                self.presubmit(self.makefile(f"timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'"))
            finally:
                over.set()
                thread.join()
        self.assertTrue(self.ran())
        self.assertEqual(accepted, [])

    def test_makefile_reads_a_secret(self) -> None:
        self.presubmit(self.makefile(f"cat {self.precious} $$HOME/.ssh/* /etc/shadow > stolen"))
        self.assertTrue(self.ran())
        self.assertEqual((OUT / "plain/build/stolen").read_text(), "")

    def test_kernel_loops(self) -> None:
        printed = self.presubmit(self.patch(swapfile_c=(SWAPON, LOOP)))
        self.assertIn("hung", printed)
        self.assertIn("new failure", printed)

    def test_kernel_forks(self) -> None:
        printed = self.presubmit(self.patch(swapfile_c=(SWAPON, FORKS), swap_h=(r"#define _MM_SWAP_H", HOST)))
        self.assertRegex(printed, r"it\s+started\s+\d+\s+processes;\s+its\s+sandbox\s+allows\s+\d+")

    def test_kernel_takes_memory(self) -> None:
        if sandbox.memory_of_machine() < 12 << 30:
            self.skipTest("this machine has too little memory to try it without harm")
        printed = self.presubmit(self.patch(swapfile_c=(SWAPON, MEMORY), swap_h=(r"#define _MM_SWAP_H", HOST)))
        self.assertRegex(printed, r"it\s+used\s+[\d.]+\s+GB\s+of\s+memory;\s+its\s+sandbox\s+allows")

    def test_kernel_writes_through_hostfs(self) -> None:
        code = HOSTFS % {"directory": self.top}
        include = "\n#include <linux/fs.h>\n#include <linux/mount.h>\n"
        self.presubmit(self.patch(Kconfig=(r"\nmenuconfig SWAP\n", "\tselect HOSTFS\n"),
                                  swapfile_c=(SWAPON, code), swap_h=(r"#define _MM_SWAP_H", include + HOST)))
        self.assertIn("hostile: ", self.consoles())
        self.assertNotIn("hostile: the file is opened", self.consoles())


if __name__ == "__main__":
    unittest.main()
