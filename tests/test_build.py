# SPDX-License-Identifier: GPL-2.0
"""Building: environment, stale objects, disk space, missing packages."""
from __future__ import annotations

import errno
import json
import os
import shutil
import shlex
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from swapkunit.build import build, compile_commands, overlay, sources
from swapkunit.build.fragments import LEAN, KunitConfig
from swapkunit.base import commands, deps, layout as layouts
from swapkunit.base.errors import SwapKunitError, UntestableKernel, explained
from swapkunit.base.layout import Layout, default_out
from swapkunit.base.kernel import Kernel

from .support import MAKEFILE, REPO, Scratch, make_kernel, write


class Environment(unittest.TestCase):
    """The environment of the kernel's make."""

    def test_only_what_is_listed(self) -> None:
        given = ("ARCH", "CROSS_COMPILE", "KCFLAGS", "KBUILD_OUTPUT", "KCONFIG_CONFIG", "LLVM", "MAKEFLAGS", "O",
                 "V", "W", "CC", "PYTHONPATH", "ANYTHING")
        kept = ("HOME", "TMPDIR", "CCACHE_DIR", "DISTCC_HOSTS", "LD_LIBRARY_PATH")
        with mock.patch.dict(os.environ, dict.fromkeys((*given, *kept), "1")):
            env = commands.kernel_environment()
        self.assertEqual([name for name in given if name in env], [])
        self.assertEqual([name for name in kept if name not in env], [])
        self.assertEqual((env["LC_ALL"], env["PYTHONDONTWRITEBYTECODE"]), ("C", "1"))


class Stale(Scratch):
    """Objects of files that have changed without make noticing."""

    def test_only_dependents_are_dropped(self) -> None:
        for name, on in (("mm/swapfile.o", "../mm/swapfile_real.c"), ("mm/zswap.o", "../mm/zswap_real.c")):
            write(self.top / name, "")
            path = self.top / name
            write(path.with_name(f".{path.name}.cmd"), f"deps := \\\n  {on} \\\n")
        build.drop_objects(self.top, ["mm/swapfile_real.c"])
        self.assertFalse((self.top / "mm/swapfile.o").exists())
        self.assertTrue((self.top / "mm/zswap.o").exists())


# make as it is killed in the middle of writing a .cmd, at first; then one that stumbles over what it finds.
KILLED = MAKEFILE.replace("\t@echo vmlinux", """\
\t@if [ -e $(O)/.half.o.cmd ]; then echo '.half.o.cmd:1: *** unterminated call'; exit 1; fi
\t@if [ ! -e $(O)/begun ]; then touch $(O)/begun; printf 'deps_half.o := (wild' > $(O)/.half.o.cmd; sleep 60; fi
\t@echo vmlinux""")


# make that asks about an option until `make olddefconfig` has run.
ASKING = MAKEFILE.replace("\t@echo vmlinux", "\t@if [ ! -e $(O)/answered ]; then echo 'Restart config...'; exit 1; fi\n"
                          "\t@echo vmlinux") + "olddefconfig:\n\t@touch $(O)/answered\n"


class Asking(Scratch):
    """A build that asks about an option."""

    def test_it_is_answered(self) -> None:
        kernel = make_kernel(self.top / "linux", Makefile=ASKING)
        os.environ["FAKE_SUITES"] = json.dumps({"swap_a": ["pass_1"]})
        done = self.program("run", "--ksrc", kernel, "--out", self.top / "out")
        self.assertEqual(done.status, 0, done.output)


class Killed(Scratch):
    """A build after one that was killed."""

    def test_half_written_files_are_dropped(self) -> None:
        whole = "savedcmd_x.o := cc\n\ndeps_x.o := \\\n  a.h \\\n\nx.o: $(deps_x.o)\n\n$(deps_x.o):\n"
        for name, text in (("whole", whole), ("link", "savedcmd_x := ld\n"), ("cut", whole[:40]), ("line", whole[:-9]),
                           ("object", whole)):
            write(self.top / f"mm/{name}.o", "")
            write(self.top / f"mm/.{name}.o.cmd", text)
        (self.top / "mm/object.o").write_text("half of it")
        build.drop_half_written(self.top)
        self.assertEqual(sorted(path.name for path in (self.top / "mm").iterdir()),
                         [".link.o.cmd", ".whole.o.cmd", "link.o", "whole.o"])

    def test_second_start_after_a_kill(self) -> None:
        kernel = make_kernel(self.top / "linux", Makefile=KILLED)
        command = [sys.executable, REPO / "swap-kunit", "run", "--ksrc", kernel, "--out", self.top / "out"]
        os.environ["FAKE_SUITES"] = json.dumps({"swap_a": ["pass_1"]})
        first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(first.kill)
        end = time.monotonic() + 30
        while not (self.top / "out/build/.half.o.cmd").exists() and time.monotonic() < end:
            time.sleep(0.05)
        first.terminate()
        self.assertEqual(first.wait(timeout=10), 130)
        done = self.program("run", "--ksrc", kernel, "--out", self.top / "out")
        self.assertEqual(done.status, 0, done.output)


class Reconfigure(Scratch):
    """Kconfig runs again when one of its files has changed."""

    def test_any_kconfig_file_counts(self) -> None:
        place = Layout(self.top)
        write(place.tree / "mm/Kconfig", "config A\n")
        write(place.build / "include/config/auto.conf.cmd",
              "deps_config := \\\n\tmm/Kconfig \\\n\tscripts/Kconfig.include \\\n\n")
        before = build.kconfig_digest(place)
        self.assertEqual(build.kconfig_digest(place), before)
        (place.tree / "mm/Kconfig").write_text("config A\n\tbool\n")
        self.assertNotEqual(build.kconfig_digest(place), before)


    def test_a_copy_of_the_build_directory_has_its_record(self) -> None:
        """The base's copy takes the place of a patched build; the patched Kconfig is read again."""
        place, config, options = Layout(self.top), KunitConfig(), build.BuildOptions(jobs=1)
        write(place.tree / "mm/Kconfig", "config A\n")
        write(place.build / "include/config/auto.conf.cmd", "deps_config := \\\n\tmm/Kconfig \\\n\n")
        write(place.build / ".config", "")
        build.write_stamp(place, config, options)
        shutil.copytree(place.build, self.top / "pristine")
        (place.tree / "mm/Kconfig").write_text("config A\n\tbool\n")
        build.write_stamp(place, config, options)
        self.assertFalse(build.configure(place, config, options), "it is up to date")
        shutil.rmtree(place.build)
        (self.top / "pristine").rename(place.build)
        self.assertNotEqual(build.read_stamp(place)[1], build.kconfig_digest(place))


class Wishes(Scratch):
    """What configs/lean.defaults asks for is no error where it cannot be had."""

    def configure(self, config: KunitConfig, **given: str) -> list[str]:
        """The texts that are configured, for a kernel that always has given."""
        place, texts = Layout(self.top), []
        place.build.mkdir(parents=True, exist_ok=True)

        def kconfig(layout: Layout, text: str, _options: build.BuildOptions) -> commands.Finished:
            found = {**dict(line.split("=") for line in text.splitlines() if "=" in line),
                     **{f"CONFIG_{name}": value for name, value in given.items()}, "CONFIG_CC_VERSION_TEXT": "gcc"}
            write(layout.build / ".config", "".join(f"{name}={value}\n" for name, value in found.items()))
            texts.append(text)
            return commands.Finished(int(any(f"{name} is not set" in text for name in given)), "")
        with mock.patch.object(build, "run_kconfig", kconfig):
            build.configure(place, config, build.BuildOptions(jobs=1))
        return texts

    def test_only_what_is_not_met_is_given_up(self) -> None:
        config = KunitConfig()
        config.add("CONFIG_EXPERT=y\n# CONFIG_KALLSYMS is not set\n", LEAN)
        config.add("CONFIG_LOCKDEP=y\n", "configs/lockdep.config")
        self.assertEqual(len(self.configure(config)), 1)
        (self.top / "tree/.kunit/.config").unlink()
        self.assertEqual(self.configure(config, KALLSYMS="y")[1:], ["CONFIG_EXPERT=y\nCONFIG_LOCKDEP=y\n"])

    def test_a_request_that_is_not_met_is_an_error(self) -> None:
        config = KunitConfig()
        config.add("# CONFIG_KALLSYMS is not set\n", LEAN)
        config.add("CONFIG_SWAP=y\n", "x.config")
        with self.assertRaisesRegex(SwapKunitError, "1 of 2 requested options are not available"), \
                mock.patch("sys.stderr"):
            self.configure(config, SWAP="n")


class MissingSource(Scratch):
    """A Makefile of ours that lists a file which does not exist."""

    def test_it_is_its_authors_mistake(self) -> None:
        with mock.patch.object(build, "REPO", self.top):
            write(self.top / "kunit/Makefile", "obj-y += suites/swap_new_kunit.o\n")
            write(self.top / "mm/Makefile", "obj-y += new.o\n")
            suite = "suites/swap_new_kunit"
            for made, message in ((f"mm/kunit/{suite}.o", f"kunit/Makefile lists {suite}.o, but"),
                                  (f"../mm/kunit/{suite}.c", f"there is no kunit/{suite}.c; add"),
                                  ("mm/new.o", "mm/Makefile lists new.o, but there is no mm/new.c")):
                with self.assertRaisesRegex(SwapKunitError, message) as seen:
                    build.raise_for_missing_source(
                        f"make[4]: *** No rule to make target '{made}', needed by 'x'.  Stop.")
                self.assertEqual(seen.exception.code, 2)
            build.raise_for_missing_source("make: *** No rule to make target 'mm/theirs.o', needed by 'mm/built-in.a'.")


class OldKunit(Scratch):
    """A kunit.py without --kunitconfig reads BUILD/.kunitconfig, and its build does not configure."""

    def test_what_it_takes_is_read_from_it(self) -> None:
        place = Layout(self.top)
        write(place.tree / build.KUNIT_PY, "add_argument('--build_dir')\n")
        self.assertFalse(build.takes_kunitconfig(place))
        options = build.BuildOptions(jobs=1)
        self.assertEqual(build.build_command(place, options, cold=True)[0], "make")
        write(place.tree / build.KUNIT_PY, "add_argument('--kunitconfig')\n")
        self.assertEqual(build.build_command(place, options, cold=True)[2], "build")


class CompileCommands(Scratch):
    """compile_commands.json, for clangd."""

    def test_files_are_those_that_one_edits(self) -> None:
        kernel, tree = make_kernel(self.top / "my linux"), self.top / "tree"
        overlay.Overlay(kernel, tree, REPO).sync()
        for name, files in (("lib/deep/down/file.c", [kernel / "lib/deep/down/file.c"]),
                            ("mm/swapfile.c", [REPO / "mm/swapfile.c", kernel / "mm/swapfile.c"]),
                            ("mm/kunit/suites/swap_io_kunit.c", [REPO / "kunit/suites/swap_io_kunit.c"]),
                            ("mm/none.c", [])):
            made = compile_commands.of_sources({"directory": f"{tree}/.kunit", "file": "x",
                                                "command": f"gcc -c -o x.o ../{name}"}, tree)
            self.assertEqual(made, [{"directory": f"{tree}/.kunit", "file": str(file),
                                     "command": f"gcc -c -o x.o -iquote {(tree / name).parent} "
                                                f"{shlex.quote(str(file))}"} for file in files])

    def test_a_script_that_fails(self) -> None:
        layout = Layout(self.top / "out")
        overlay.Overlay(make_kernel(self.top / "linux"), layout.tree, REPO).sync()
        with self.assertRaisesRegex(SwapKunitError, "gen_compile_commands.py of the kernel failed"):
            compile_commands.write(layout)


class Disk(Scratch):
    """A full disk is reported in one line."""

    def test_beforehand(self) -> None:
        needed = r"1048576.0 GB needed, .* free; make room"
        with self.assertRaisesRegex(SwapKunitError, needed):
            layouts.check_room(self.top / "not/yet", 1 << 50)
        layouts.check_room(self.top, 1)

    def test_during_make(self) -> None:
        layout = Layout(self.top)
        full, other = "ld: final link failed: No space left on device\n", "x.c:1: error: y\n"
        for output, free, code in ((full, 1 << 20, 2), (full, 900 << 20, 2), (other, 1 << 10, 2),
                                   (other, 900 << 20, 125), (full, 9 << 30, 125)):     # anybody can print that
            with mock.patch("sys.stderr"), mock.patch("swapkunit.base.layout.disk_free", return_value=free), \
                    self.assertRaises(SwapKunitError) as seen:
                build.check_build(layout, commands.Finished(2, output), layout.vmlinux)
            self.assertEqual(seen.exception.code, code)
            self.assertEqual(f"the disk of {self.top} is full; make room" in str(seen.exception), code == 2)

    def test_whatever_is_written(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, f"the disk of {self.top} is full"), \
                mock.patch("swapkunit.base.layout.disk_free", return_value=0), Layout(self.top).lock():
            raise OSError(errno.ENOSPC, "No space left on device")
        with self.assertRaises(OSError), Layout(self.top).lock(), open("/dev/full", "w", encoding="ascii") as file:
            file.write("x")

    def test_where_programs_print(self) -> None:
        with mock.patch("swapkunit.base.commands.disk_free", return_value=0):
            self.assertEqual(commands.run(["true"]).status, 0)
            with self.assertRaises(OSError) as seen:
                commands.run(["false"])
        self.assertIn(f"({tempfile.gettempdir()}); make room", explained(seen.exception))

    def test_a_file_is_written_whole_or_not_at_all(self) -> None:
        path = self.top / "file"
        layouts.write_whole(path, "old")
        with mock.patch("pathlib.Path.replace", side_effect=OSError(errno.ENOSPC, "full")), self.assertRaises(OSError):
            layouts.write_whole(path, "new")
        self.assertEqual((path.read_text(), os.listdir(self.top)), ("old", ["file"]))

    def test_links_are_not_followed(self) -> None:
        precious, link = write(self.top / "precious", "theirs"), self.top / "link"
        for name in (link.name, f".{link.name}.{os.getpid()}"):
            link.unlink(missing_ok=True)
            (self.top / name).symlink_to(precious)
            layouts.write_whole(link, "ours")
            self.assertEqual((link.read_text(), link.is_symlink(), precious.read_text()), ("ours", False, "theirs"))

    def test_whose_code_does_not_build(self) -> None:
        ours = ["../mm/swap_state.c: In function 'swap_kunit_x':", "../mm/swap_state.c:9:1: error: no 'swap_ra'"]
        theirs = ["../mm/swap_state_real.c:7:3: error: no ';'", "../mm/memory-tiers.c:7:3: error: no ';'"]
        suite = "../mm/kunit/suites/swap_io_kunit.c:3:1: fatal error: x"
        self.assertEqual([sources.named(line) for line in (*ours, *theirs, suite)], [
            "swap-kunit/mm/swap_state.c: In function 'swap_kunit_x':",
            "swap-kunit/mm/swap_state.c:9:1: error: no 'swap_ra'",
            "mm/swap_state.c:7:3: error: no ';'", "mm/memory-tiers.c:7:3: error: no ';'",
            "swap-kunit/mm/kunit/suites/swap_io_kunit.c:3:1: fatal error: x"])
        for lines, said in ((ours, "swap-kunit's own code does not build with this kernel"),
                            ([*ours, suite], "swap-kunit's own code"), ([*ours, *theirs], "kernel under test does not"),
                            (["ld: undefined reference"], "kernel under test does not")):
            with mock.patch("sys.stderr"), self.assertRaisesRegex(UntestableKernel, said):
                build.check_build(Layout(self.top), commands.Finished(2, "\n".join(lines)), self.top)

    def test_make_may_say_why_itself(self) -> None:
        said = ["make[4]: *** No rule to make target 'mm/x.o', needed by 'mm/built-in.a'.  Stop.",
                "make[3]: *** [../scripts/Makefile.build:556: mm] Error 2",
                "make[3]: *** Waiting for unfinished jobs....", "make: Entering directory '/x'"]
        self.assertEqual([bool(build.MAKE_ITSELF.match(line)) for line in said], [True, False, False, False])
        self.assertEqual(sources.named("mm/Kconfig.real:23: syntax error"), "mm/Kconfig:23: syntax error")

    def test_a_headers_warning_is_shown_once(self) -> None:
        header = ["In file included from a.c:1:", "In file included from a.h:2:", "io.h:9:1: warning: null",
                  " 9 | x", "   | ^"]
        function = ["b.c: In function 'f':", "b.c:3:1: warning: unused", "b.c:4:1: error: bad"]
        again = ["In file included from c.c:1:", *header[2:]]
        self.assertEqual(build.once_each(["CC a.o", *header, *function, *again, *again]), [
            "CC a.o", *header, "(and 2 more times)", *function])
        self.assertEqual(build.once_each([]), [])

    def test_while_laying_the_tree(self) -> None:
        error = OSError(errno.ENOSPC, "No space left on device")
        self.assertIn("the disk is full; make room", overlay.overlay_trouble(self.top, self.top, error))
        self.assertIn("make room", explained(error))


class Packages(unittest.TestCase):
    """Missing packages, and installing them."""

    LACKING = {"no-such-program": "nosuch", "/no/such/file": "nosuch", "sh": "dash"}

    def require(self, root: bool, terminal: bool, answer: str = "n") -> mock.Mock:
        """deps.require() on a fake machine; returns the mocked apt_install."""
        with mock.patch("os.geteuid", return_value=0 if root else 1000), \
                mock.patch("sys.stdin.isatty", return_value=terminal, create=True), \
                mock.patch("sys.stdout.isatty", return_value=terminal, create=True), \
                mock.patch("builtins.input", return_value=answer), \
                mock.patch("swapkunit.base.deps.apt_install") as install:
            deps.require(self.LACKING)
        return install

    def test_missing_ones_once_each(self) -> None:
        self.assertEqual(deps.missing(self.LACKING), ["nosuch"])

    def test_root_without_a_terminal_installs(self) -> None:
        install = self.require(root=True, terminal=False)
        self.assertEqual(install.call_args[0][0][-1], "nosuch")

    def test_installed_and_still_not_found(self) -> None:
        with mock.patch("os.geteuid", return_value=0), mock.patch("subprocess.run") as run, \
                mock.patch("sys.stdin.isatty", return_value=False), mock.patch("swapkunit.base.commands.show"), \
                self.assertRaisesRegex(SwapKunitError, "installed nosuch, but no-such-program"):
            run.return_value.returncode = 0
            deps.require(self.LACKING)

    def test_user_without_a_terminal_gets_the_command(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, "run: sudo apt-get install .* nosuch"):
            self.require(root=False, terminal=False)

    def test_terminal_asks(self) -> None:
        self.assertTrue(self.require(root=True, terminal=True, answer="").called)
        with self.assertRaisesRegex(SwapKunitError, "install them with: apt-get install"):
            self.require(root=True, terminal=True, answer="n")


class Places(unittest.TestCase):
    """The default output directory."""

    def test_by_kernel_and_config(self) -> None:
        fetched = Kernel(Path("/c/linux"), "7.3.4", "Debian", False)
        self.assertEqual(default_out(fetched, []).parts[-2:], ("7.3", "default"))
        self.assertEqual(default_out(fetched, ["kasan", "smp"]).parts[-1], "kasan+smp")
        given = Kernel(Path("/home/me/my linux"), "7.3.4", "given", True)
        self.assertRegex(str(default_out(given, [])), r"/my_linux-[0-9a-f]{8}/default$")

    def test_clone_in_a_path_with_a_space(self) -> None:
        kernel = Kernel(Path("/c/linux"), "7.3.4", "Debian", False)
        with mock.patch("swapkunit.base.layout.REPO", Path("/home/me/my clone")):
            self.assertNotIn(" ", str(default_out(kernel, [])))


if __name__ == "__main__":
    unittest.main()
