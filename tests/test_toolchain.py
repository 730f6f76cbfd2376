# SPDX-License-Identifier: GPL-2.0
"""LLVM= and CC=: the compiler and its packages; every step gets them."""
from __future__ import annotations

import os
import subprocess
import unittest
from unittest import mock

from swapkunit.base import toolchain
from swapkunit.build.build import KUNIT_PY, BuildOptions, build_command, request_digest
from swapkunit.base.errors import SwapKunitError
from swapkunit.build.fragments import KunitConfig
from swapkunit.base.layout import Layout

from .support import REPO, Scratch, make_kernel, write


class Compiler(unittest.TestCase):
    """The compiler that make options select."""

    def test_names(self) -> None:
        for options, name, clang in (
                ([], "gcc", False), (["CC=gcc-12"], "gcc-12", False), (["LLVM=1"], "clang", True),
                (["LLVM=-19"], "clang-19", True), (["LLVM=/opt/llvm/bin/"], "/opt/llvm/bin/clang", True),
                (["LLVM=1", "CC=gcc"], "gcc", False), (["CC=ccache clang-19"], "ccache clang-19", True),
                (["CC=/clang/bin/gcc"], "/clang/bin/gcc", False)):
            with self.subTest(options):
                self.assertEqual((toolchain.compiler(options), toolchain.is_clang(options)), (name, clang))

    def test_packages(self) -> None:
        self.assertEqual(toolchain.programs([]), {"gcc": "gcc"})
        self.assertEqual(toolchain.programs(["CC=gcc-11"]), {"gcc-11": "gcc-11"})
        self.assertEqual(toolchain.programs(["LLVM=-19"]), {
            "clang-19": "clang-19", "ld.lld-19": "lld-19", "llvm-ar-19": "llvm-19"})
        self.assertEqual(toolchain.programs(["LLVM=1"]), {"clang": "clang", "ld.lld": "lld", "llvm-ar": "llvm"})
        self.assertEqual(toolchain.programs(["LLVM=/opt/llvm/bin/"]), {})

    def test_one_that_is_not_there(self) -> None:
        toolchain.check(["CC=ccache gcc"])
        with self.assertRaisesRegex(SwapKunitError, "with nosuchcc: nosuchcc is not installed; install it"):
            toolchain.check(["CC=nosuchcc"])

    def test_no_value_that_the_kernel_knows(self) -> None:
        for value in ("9", "y", "clang-19"):
            with self.assertRaisesRegex(SwapKunitError,
                                        f"with LLVM={value}: the kernel takes LLVM=1, LLVM=-VERSION or"):
                toolchain.programs([f"LLVM={value}"])
        done = subprocess.run([REPO / "swap-kunit", "run", "--make-option", "LLVM=9"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)

    def test_environment(self) -> None:
        with mock.patch.dict(os.environ, LLVM="-19"):
            self.assertEqual(toolchain.from_environment(["V=1"]), ["V=1", "LLVM=-19"])
            self.assertEqual(toolchain.from_environment(["LLVM=1"]), ["LLVM=1"])


class Steps(Scratch):
    """Configuring, the first build, later ones, coverage."""

    def test_another_compiler_is_configured_anew(self) -> None:
        digests = {request_digest(KunitConfig(), BuildOptions(1, options))
                   for options in ([], ["LLVM=1"], ["LLVM=-19"], ["CC=gcc-12"])}
        self.assertEqual(len(digests), 4)

    def test_both_builds_get_the_options(self) -> None:
        options = BuildOptions(1, ["LLVM=-19"])
        layout = Layout(self.top / "out")
        write(layout.tree / KUNIT_PY, "add_argument('--kunitconfig')\n")
        self.assertIn("--make_options=LLVM=-19", build_command(layout, options, cold=True))
        self.assertIn("LLVM=-19", build_command(layout, options, cold=False))

    def test_make_passes_them_on_to_the_kernels_configuration(self) -> None:
        kernel = make_kernel(self.top / "linux")
        done = subprocess.run(["make", "-C", REPO, "run", f"KSRC={kernel}", f"O={self.top / 'out'}",
                               "CC=/usr/bin/gcc", "J=1"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("--make_options=CC=/usr/bin/gcc"), 2)

    def test_coverage_wants_gcc(self) -> None:
        for option in ("LLVM=-19", "CC=clang"):
            done = self.program("coverage", "--make-option", option)
            self.assertEqual(done.status, 2)
            self.assertIn("gcc's libgcov (CONFIG_SWAP_KUNIT_COVERAGE depends on CC_IS_GCC", done.output)


if __name__ == "__main__":
    unittest.main()
