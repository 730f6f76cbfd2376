# SPDX-License-Identifier: GPL-2.0
"""The program as its users run it: exit statuses, messages, files."""
from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from swapkunit.base.commands import Finished
from swapkunit.base.errors import SwapKunitError
from swapkunit.base.kernel import examine
from swapkunit.cli import make, man, options
from swapkunit.cli.verb import STATUSES, status_lines
from swapkunit.cli.verbs import VERBS
from swapkunit.cli.verbs.test import closing_counts, unittest_counts

from .support import REPO, Scratch, fingerprint, git, make_kernel, write

TIME = re.compile(rb'time="[0-9.]+"')     # of junit.xml, the one file with times


class CommandLine(Scratch):
    """Runs ./swap-kunit on the miniature kernel."""

    def setUp(self) -> None:
        super().setUp()
        self.kernel = make_kernel(self.top / "linux")
        self.out = self.top / "out"
        self.suites({"swap_a": ["pass_1", "pass_2"]})

    def suites(self, suites: dict[str, list[str]]) -> None:
        """Set the suites of the fake UML."""
        os.environ["FAKE_SUITES"] = json.dumps(suites)

    def run_it(self, *words: str | Path) -> tuple[int, str]:
        """Run `swap-kunit run` on the miniature kernel."""
        done = self.program("run", "--ksrc", self.kernel, "--out", self.out, *words)
        return done.status, done.output

    def made(self) -> int:
        """How often vmlinux was built."""
        return len((self.out / "build/made").read_text().splitlines())


class Statuses(CommandLine):
    """0, 1, 2, 125."""

    def test_good(self) -> None:
        status, output = self.run_it()
        self.assertEqual((status, output.splitlines()[-1]), (0, "2 passed, 0 failed, 0 skipped"), output)
        self.assertIn("kernel     Linux 7.3.4, given directory", output)
        self.assertIn("suite      swap_a    2 passed,    0 failed,    0 skipped", output)

    def test_failure_and_crash(self) -> None:
        self.suites({"swap_a": ["pass_1", "fail_2", "crash_3", "skip_4"]})
        status, output = self.run_it()
        self.assertEqual((status, output.splitlines()[-1]), (1, "1 passed, 2 failed, 1 skipped"), output)
        self.assertIn("failed     swap_a.fail_2", output)
        self.assertIn("the rule is broken", output)
        self.assertIn("crashed    swap_a.crash_3", output)
        self.assertRegex(output, r"\nagain      .*swap-kunit run .*--filter=swap_a.fail_2,swap_a.crash_3\n")
        self.assertIn("skipped    this kernel has no such thing: 1 case", output)

    def test_compile_error(self) -> None:
        write(self.kernel / "mm/swapfile.c", "BROKEN\n")
        status, output = self.run_it()
        self.assertEqual(status, 125, output)
        self.assertIn("error: expected identifier before BROKEN", output)
        self.assertIn("swap-kunit: the kernel under test does not build", output)

    def test_kernel_that_does_not_boot(self) -> None:
        os.environ["FAKE_BOOT"] = "panic"
        self.assertEqual(self.run_it()[0], 125)

    def test_closed_streams(self) -> None:
        command = f"unset PYTHONUNBUFFERED; exec {sys.executable} {REPO}/swap-kunit"
        for shell, text in (
                (f"{command} presence --ksrc {self.top}/no >&- <&-", "there is no such directory"),
                (f"{command} run --help >/dev/full", "No space left on device"),
                (f"{command} presence --ksrc {self.top}/no >&- 2>&- <&-", "")):
            with self.subTest(shell):
                done = subprocess.run(["bash", "-c", shell], stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(text, done.stderr)
                self.assertLessEqual(len(done.stderr.splitlines()), 1)

    def test_fragment_that_is_no_text(self) -> None:
        (self.top / "a.config").write_bytes(b"CONFIG_\xff=y\n")
        status, output = self.run_it("--config", self.top / "a.config")
        self.assertEqual(status, 2, output)
        self.assertIn("a.config: it is not text; fix it", output)
        self.assertNotIn("Traceback", output)

    def test_what_this_user_may_not_read(self) -> None:
        for name, said in (("mm/swapfile.c", "may not read .*/mm/swapfile.c"), ("Makefile", "may not read .*Makefile")):
            with mock.patch("os.access", lambda path, _mode, name=name: not str(path).endswith(name)), \
                    self.assertRaisesRegex(SwapKunitError, said):
                examine(self.kernel)
        with mock.patch("os.access", return_value=False), self.assertRaisesRegex(SwapKunitError, "may not access it"):
            examine(self.top / "nowhere")

    def test_wrong_use(self) -> None:
        old = make_kernel(self.top / "old", Makefile="VERSION = 5\nPATCHLEVEL = 4\nSUBLEVEL = 1\n")
        headers = write(self.top / "headers/Makefile", "VERSION = 7\nPATCHLEVEL = 3\n").parent
        for words, text in (
                (["--ksrc", self.top / "nowhere"], "there is no such directory"),
                (["--ksrc", self.top], "it is not a kernel tree"),
                (["--ksrc", old], "it is Linux 5.4.1, but KUnit on UML needs 5.10 or newer"),
                (["--ksrc", headers], "lacks mm/swapfile.c"),
                (["--ksrc", self.kernel, "--kernel", "7.3"], "exclude each other"),
                (["--kernel", "newest"], "'newest' is not a kernel version"),
                (["--kernel", "v7.3"], "'v7.3' is not a kernel version; did you mean 7.3[?]"),
                (["--ksrc", self.kernel, "--config", "kasn"], "no Kconfig fragment 'kasn': .*did you mean kasan[?]"),
                (["--ksrc", self.kernel, "--policy", "free-frst"], "no policy .*did you mean free-first[?]"),
                (["--ksrc", self.kernel, "--filter", "swap_a.*,swp_a"], "the filter swp_a; did you mean swap_a[?]"),
                (["--ksrc", self.kernel, "--filter", "swap_a.pass1"], "did you mean swap_a.pass_1 or"),
                (["--kernel-arg", "swap_alloc_model.sed=1"], "no suite has .*mean swap_alloc_model.seed[?]"),
                (["--make-option", "foo"], "must be a variable of the kernel's make .* not 'foo' .make: LLVM=, CC=."),
                (["--make-option", "O=x"], "none of ARCH, SUBARCH, O, KBUILD_OUTPUT; not 'O=x'"),
                (["--ksr", "x"], "arguments: --ksr x; did you mean --ksrc[?]; see `swap-kunit run --help`"),
                (["--kernel", "4.19"], "cannot test Linux 4.19"),
                (["--ksrc", self.kernel, "--config", "nothing"], "no Kconfig fragment 'nothing'"),
                (["--ksrc", self.kernel, "--filter", "swap_x"], "no case matches the filter swap_x"),
                (["--ksrc", self.kernel, "--out", self.top / "a b"], "does not support spaces or colons"),
                (["--ksrc", self.kernel, "--out", self.kernel / "Makefile/x"], "Not a directory"),
                (["--jobs", "none"], "must be a positive integer below 4294967296, not 'none' .make: J=."),
                (["--timeout", "0"], "must be a positive number of seconds, not '0'"),
                (["--make", "run"], "unrecognized arguments: --make run"),
                (["--no-such-option"], "unrecognized arguments: --no-such-option")):
            with self.subTest(words):
                out = [] if "--out" in words else ["--out", self.out]
                done = self.program("run", *words, *out)
                self.assertEqual(done.status, 2, done.output)
                self.assertRegex(done.output, f"swap-kunit: .*({text})")
                self.assertIn("; ", done.output)
                self.assertNotIn("Traceback", done.output)

    def test_option_that_was_given_is_advised(self) -> None:
        for words, text in ((["decisions", "7.3", "missing"], "B=missing: .* kernel tree as B .make: B=."),
                            (["matrix", "--kernels", "newest"], "tree of your own with --kernels .make: KERNELS=."),
                            (["decisions", "7.3+free-frst", "7.3"], "A=7.3.free-frst: no policy 'free-frst'"),
                            (["matrix", "--kernels", "/none"], "kernel tree with --kernels .make: KERNELS=."),
                            (["tree", "--ksrc", self.kernel, "--tree", self.top / "a b"],
                             "another directory with --tree .make: TREE=.")):
            done = self.program(*words)
            self.assertEqual(done.status, 2, done.output)
            self.assertRegex(done.output, f"swap-kunit: {'.*' * ('=' not in text[:9])}{text}")
            self.assertNotIn("--ksrc", done.output)

    def test_signal_during_the_imports(self) -> None:
        write(self.top / "slow/argparse.py", f"open({str(self.top / 'begun')!r}, 'w').close()\nimport time\n"
                                             "time.sleep(60)\n")
        for number in (signal.SIGTERM, signal.SIGINT):
            (self.top / "begun").unlink(missing_ok=True)
            with subprocess.Popen([sys.executable, REPO / "swap-kunit", "run"], stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "PYTHONPATH": str(self.top / "slow")}) as process:
                self.addCleanup(process.kill)
                while not (self.top / "begun").exists():
                    time.sleep(0.01)
                process.send_signal(number)
                self.assertEqual((process.communicate(timeout=20)[1], process.returncode),
                                 ("\nswap-kunit: stopped before it began\n", 130))

    def test_empty_argument_does_not_mean_everything(self) -> None:
        for words in (["bugs", "--title", ""], ["mutate", "--file="], ["mutate", "--function", " "],
                      ["mutate", "--range", ""], ["mutate", ""], ["presubmit", ""], ["presubmit", "--range="]):
            done = self.program(*words)
            self.assertEqual(done.status, 2, done.output)
            self.assertIn("must not be empty: that does not mean all", done.output)

    def test_unknown_verb_and_missing_argument(self) -> None:
        for words, text in ((["rnu"], "there is no verb 'rnu'; did you mean run?;"),
                            (["covers"], "the following arguments are required: FILE:LINE (make: LINE=);")):
            done = self.program(*words)
            self.assertEqual(done.status, 2)
            self.assertIn(text, done.output)

    def test_quiet_unless_asked(self) -> None:
        self.assertNotIn("Testing complete.", self.run_it()[1])
        self.assertIn("Testing complete.", self.run_it("-v")[1])
        self.assertNotIn("\033", self.run_it()[1])
        self.suites({"swap_a": ["fail_1"]})
        self.assertIn("\033[31mfailed    \033[m swap_a.fail_1", self.run_it("--color", "always")[1])

    def test_unmet_symbol_names_its_dependency(self) -> None:
        write(self.kernel / "fake_config_drops_special", "")
        fragment = write(self.top / "special.config", "CONFIG_SPECIAL=y\n")
        status, output = self.run_it("--config", str(fragment))
        self.assertEqual(status, 2, output)
        self.assertIn("CONFIG_SPECIAL=y", output)
        self.assertIn("it depends on NET=y (add CONFIG_NET=y to the fragment)", output)

    def test_every_verb_has_help(self) -> None:
        for name, verb in VERBS.items():
            done = self.program(name, "--help")
            self.assertEqual(done.status, 0)
            self.assertIn(status_lines(verb.every_status()), done.output)

    def test_jinja2_is_needed_for_pages_only(self) -> None:
        code = "import sys; sys.modules['jinja2'] = None; from swapkunit.cli import main; main.main(sys.argv[1:])"
        done = subprocess.run([sys.executable, "-c", code, "run", "--ksrc", self.kernel, "--out", self.out],
                              cwd=REPO, capture_output=True, text=True, check=False)
        self.assertIn("2 passed, 0 failed", done.stdout, done.stderr)


MAIL = "Subject: [PATCH] x\n\n--- a/mm/x.c\n+++ b/mm/x.c\n@@ -1 +1 @@\n-a\n+b\n"
# In place of Python: prints the arguments that the program makes of make's variables.
STUB = f"""import json, os, sys
sys.path.insert(0, {str(REPO)!r})
from swapkunit.cli import make
from swapkunit.cli.verbs import VERBS
print(json.dumps(make.command_line(sys.argv[3:], os.environ, VERBS)))
"""


class Variables(unittest.TestCase):
    """make's variables as options."""

    def words(self, verb: str, *assignments: str, **environment: str) -> list[str]:
        """The program's arguments for `make verb assignments`."""
        given = dict(one.split("=", 1) for one in assignments)
        return make.command_line([verb, *given], {**environment, **given}, VERBS)

    def test_options(self) -> None:
        self.assertEqual(self.words("run", "KSRC=a b", "V=0", "J=2", "LLVM=-19", "CC=gcc-12", "FILTER="),
                         ["run", "--ksrc=a b", "--jobs=2", "--make-option=LLVM=-19", "--make-option=CC=gcc-12"])
        self.assertEqual(self.words("covers", "LINE=mm/zswap.c:7", "V=1"),
                         ["covers", "--verbose", "--", "mm/zswap.c:7"])
        self.assertEqual(self.words("decisions", "A=7.3", "B=6.12"), ["decisions", "--", "7.3", "6.12"])
        self.assertEqual(self.words("test", "KERNEL=6.12"), ["test", "--", "--kernel=6.12"])
        self.assertEqual(self.words("test"), ["test"])
        self.assertEqual(self.words("presubmit", "PATCHES=a.patch -", "SANDBOX=0", "FULL=1"),
                         ["presubmit", "--no-sandbox", "--full", "--", "a.patch", "-"])

    def test_environment_and_fallback(self) -> None:
        self.assertEqual(self.words("run", "KERNEL=7", KERNEL="6.12", O="there", RANGE="a..b"),
                         ["run", "--kernel=7", "--out=there"])
        self.assertEqual(self.words("matrix", KERNEL="6.12"), ["matrix", "--kernels=6.12"])
        self.assertEqual(self.words("matrix", "KERNELS=7", KERNEL="6.12"), ["matrix", "--kernels=7"])
        self.assertEqual(self.words("matrix", "KERNEL=7", KERNELS="6.12"), ["matrix", "--kernels=7"])

    def test_command_for_the_failed_cases(self) -> None:
        failed = ["swap_a.b[zram]", "swap_a.b[ssd]", "swap_c.d"]
        self.assertEqual(make.again(["--make", "run", "KSRC", "FILTER", "V"], {
            "KSRC": "a b$", "FILTER": "swap_*", "V": "1", "KERNEL": "7.3"}, failed),
            "make run KSRC='a b$$' FILTER=swap_a.b,swap_c.d V=1")
        many = [f"swap_a.c{number}" for number in range(20)]
        with mock.patch.object(sys, "argv", ["./swap-kunit"]):
            self.assertEqual(make.again(["presubmit", "--quick", "--filter", "x", "--", "a.patch"], {}, many),
                             "./swap-kunit presubmit --quick --filter=swap_a -- a.patch")

    def test_patches_are_split_as_by_a_shell(self) -> None:
        self.assertEqual(self.words("presubmit", "PATCHES='a b.patch' ~/c.patch none/[c].patch"),
                         ["presubmit", "--", "a b.patch", str(Path.home() / "c.patch"), "none/[c].patch"])
        self.assertEqual(self.words("presubmit", f"PATCHES={REPO}/Make[f]ile")[2:], [f"{REPO}/Makefile"])
        with tempfile.TemporaryDirectory(prefix="it's a ") as name:
            self.assertEqual(self.words("presubmit", f"PATCHES={name}"), ["presubmit", "--", name])
        with self.assertRaisesRegex(SwapKunitError, "cannot split PATCHES=it's into file names: No closing quotation"):
            self.words("presubmit", "PATCHES=it's")

    def test_unknown(self) -> None:
        for words, text in ((["run", "KSR=x"], "KSR=.*did you mean KSRC="),
                            (["run", "ksrc=x"], "did you mean KSRC="),
                            (["run", "RANGE=x"], "it belongs to `make mutate`, `make presubmit`"),
                            (["list", "A=7"], "it belongs to `make decisions`"),
                            (["test", "A=7"], "`test` does not have that variable"),
                            (["fetch", "XYZ=1"], "its variables are KERNEL"),
                            (["lint", "XYZ=1"], "it has none")):
            with self.subTest(words), self.assertRaisesRegex(SwapKunitError, text):
                self.words(*words)
        self.assertEqual(self.words("fetch", "V=1", "SHELL=/bin/bash"), ["fetch"])

    def test_an_empty_ksrc_is_not_the_default_kernel(self) -> None:
        with self.assertRaisesRegex(SwapKunitError, "`make run` with an empty KSRC=: give a kernel tree, or leave"):
            self.words("run", "KSRC=")
        self.assertEqual(self.words("run", KSRC=""), ["run"])
        for verb, name in (("bugs", "TITLE"), ("mutate", "FILE"), ("mutate", "RANGE"), ("presubmit", "PATCHES")):
            with self.assertRaisesRegex(SwapKunitError, f"`make {verb}` with an empty {name}=: .*; give it a value"):
                self.words(verb, f"{name}=")
            self.assertEqual(self.words(verb, **{name: ""}), [verb])
        with self.assertRaises(argparse.ArgumentTypeError):
            options.path("")

    def test_makefile_has_every_verb(self) -> None:
        text = (REPO / "Makefile").read_text().replace("\\\n", " ")
        self.assertEqual(set(text.partition("verbs :=")[2].partition("\n")[0].split()), VERBS.keys())


class Makefile(Scratch):
    """Variables on their way through make."""

    def make(self, *words: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run make with only this environment, and given on stdin."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.top), "SWAP_KUNIT_CACHE": str(self.top), **environment}
        return subprocess.run(["make", "-sC", REPO, *words], input=given, capture_output=True, text=True, env=env,
                              check=False)

    def words(self, *words: str, **environment: str) -> list[str]:
        """The arguments that the program gets from `make words`."""
        stub = write(self.top / "python", f"#!{sys.executable}\n" + STUB)
        stub.chmod(0o755)
        done = self.make(*words, f"PYTHON={stub}", **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(json.loads(done.stdout))

    def test_any_character(self) -> None:
        for value in ("a b", "it's", 'say "x"', "a=b", "a\nb", "$$HOME", "`id`", "*", "#x", "\\", "a;b|c&d", "ü"):
            with self.subTest(value):
                self.assertEqual(self.words("run", f"KSRC={value}"), ["run", f"--ksrc={value.replace('$$', '$')}"])

    def test_from_another_directory(self) -> None:
        done = subprocess.run(["make", "-s", "-f", REPO / "Makefile", "man", f"O={self.top}/page"], cwd=self.top,
                              text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_home_environment_and_parallel_make(self) -> None:
        self.assertEqual(self.words("run", "KSRC=~/linux"), ["run", "--ksrc=~/linux"])
        self.assertEqual(options.path("~/linux"), Path.home() / "linux")
        self.assertEqual(options.comma_list("~/a.config,thp,thp"), [str(Path.home() / "a.config"), "thp"])
        self.assertEqual(self.words("run", KSRC="/a b"), ["run", "--ksrc=/a b"])
        self.assertEqual(self.words("-j2", "run", "V=1", "J=3"), ["run", "--verbose", "--jobs=3"])

    def test_lists_and_paths_that_name_nothing(self) -> None:
        with self.assertRaisesRegex(argparse.ArgumentTypeError, "',' names nothing"):
            options.comma_list(",")
        (self.top / "loop").symlink_to(self.top / "loop")
        with self.assertRaisesRegex(argparse.ArgumentTypeError, "cannot follow .*loop"):
            options.path(str(self.top / "loop"))

    def test_man_keeps_files_of_others(self) -> None:
        canary = write(self.top / "canary", "mine\n")
        done = self.make("man", f"O={canary}")
        self.assertEqual((done.returncode, canary.read_text()), (2, "mine\n"))
        self.assertIn("is no page of swap-kunit", done.stderr)
        for _ in range(2):
            self.assertEqual(self.make("man", f"O={self.top}/page.1").returncode, 0)

    def test_unknown_variable(self) -> None:
        done = self.make("run", "KSR=/x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("swap-kunit: cannot run `make run` with KSR=: `run` does not have that variable; "
                      "did you mean KSRC=?\n", done.stderr)

    def test_unknown_verb(self) -> None:
        done = self.make("rnu", "KSRC=/x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot run `make rnu`: there is no such verb; did you mean run? the verbs are", done.stderr)

    def test_help(self) -> None:
        for words in ([], ["help"]):
            self.assertIn("make VERB NAME=value", self.make(*words).stdout)

    def test_stdin_reaches_b4_check(self) -> None:
        done = self.make("b4-check", "LINES=1", "KSRC=/none", given=MAIL)
        self.assertIn("WARNING: ", done.stdout)


class Manual(unittest.TestCase):
    """swap-kunit(1)."""

    def test_it_has_every_verb_option_and_status(self) -> None:
        page = man.page(VERBS.values(), STATUSES)
        for verb in VERBS.values():
            start = page.index(f".SS {verb.name}".replace("-", "\\-"))
            section = page[start:page.index("\n.S", start)].replace("\\-", "-")
            for one in verb.every_option:
                named = one.flags[0].startswith("-")
                self.assertIn(f"\\fB{one.flags[-1]}\\fP" if named else f"\\fI{man.metavar(one)}\\fP", section)
                for variable in one.variables:
                    self.assertIn(f"{variable}=", section)
            for status in verb.statuses:
                self.assertIn(f".TP\n\\fB{status}\\fP\n", section)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_troff_accepts_it(self) -> None:
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z"], input=man.page(VERBS.values(), STATUSES),
                              text=True, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


# Tab in bash, after the line that README has.
TAB = """
eval "$(register-python-argcomplete swap-kunit)"
COMP_POINT=${#COMP_LINE} COMP_TYPE=9
read -ra COMP_WORDS <<< "$COMP_LINE"
_python_argcomplete "$0" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


@unittest.skipUnless(shutil.which("register-python-argcomplete"), "python3-argcomplete is not installed")
class Completion(unittest.TestCase):
    """Completion in bash."""

    def complete(self, line: str) -> list[str]:
        """The completions of line."""
        done = subprocess.run(["bash", "-c", TAB, REPO / "swap-kunit"], capture_output=True, text=True, check=True,
                              env={**os.environ, "COMP_LINE": f"swap-kunit {line}"})
        return done.stdout.split()

    def test_verbs_options_and_values(self) -> None:
        self.assertEqual(self.complete("cov"), ["coverage", "covers"])
        self.assertEqual(self.complete("run --config kasan,loc"), ["kasan,lockdep"])
        self.assertIn("6.12", self.complete("run --kernel 6"))
        self.assertEqual(self.complete("decisions --ti"), ["--timeout"])


class Files(CommandLine):
    """Files in the output directory; the source is not changed."""

    def test_source_is_untouched(self) -> None:
        git(self.kernel, "init", "-q")
        git(self.kernel, "add", ".")
        git(self.kernel, "commit", "-qm", "all")
        git(self.kernel, "status")
        before = fingerprint(self.kernel)
        for _ in range(2):
            self.assertEqual(self.run_it()[0], 0)
        self.assertEqual(fingerprint(self.kernel), before)

    def test_two_runs_give_the_same_files(self) -> None:
        self.suites({"swap_b": ["param_1", "crash_2"], "swap_a": ["pass_1", "fail_2"]})
        names = ("ktap.log", "results.json", "decisions.txt")
        self.run_it()
        first = [TIME.sub(b"", (self.out / name).read_bytes()) for name in names]
        self.run_it("-j", "1")
        self.assertEqual([TIME.sub(b"", (self.out / name).read_bytes()) for name in names], first)
        self.assertEqual((self.out / "decisions.txt").read_text().splitlines()[0], "swap_b.param_1[] A0:0 D1:*")
        self.assertEqual(json.loads(first[1])["kernel"], "7.3.4")

    def test_edit_is_built_and_seen(self) -> None:
        self.run_it()
        write(self.kernel / "mm/swapfile.c", "BROKEN\n")
        self.assertEqual(self.run_it()[0], 125)
        write(self.kernel / "mm/swapfile.c", "int mended;\n")
        self.assertEqual(self.run_it()[0], 0)

    def test_configured_again_only_when_asked_otherwise(self) -> None:
        configured = self.out / "build/configured"
        fragment = write(self.top / "some.config", "CONFIG_KUNIT=y\n")
        for words, times in (([], 1), ([], 1), (["--config", str(fragment)], 1)):
            self.run_it(*words)
            self.assertEqual(len(configured.read_text().splitlines()), times, words)
        write(fragment, "CONFIG_NET=y\n")
        self.run_it("--config", str(fragment))
        self.assertEqual(len(configured.read_text().splitlines()), 2)

    def test_other_kernel_in_the_same_output_directory(self) -> None:
        self.run_it()
        self.kernel = make_kernel(self.top / "other")
        write(self.kernel / "mm/swapfile.c", "BROKEN\n")
        self.assertEqual(self.run_it()[0], 125)

    def test_space_in_the_source_path(self) -> None:
        self.kernel = self.kernel.rename(self.top / "my linux")
        self.assertEqual(self.run_it()[0], 0)

    def test_outer_make_does_not_reach_the_kernels(self) -> None:
        done = subprocess.run(["make", "-C", REPO, "run", f"KSRC={self.kernel}", f"O={self.out}", "J=1",
                               "V=0", "FILTER=swap_a.pass_1"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("1 passed, 0 failed, 0 skipped\n", done.stdout)
        self.assertIn("vmlinux", (self.out / "build/made").read_text())

    def test_tree_verb(self) -> None:
        done = self.program("tree", "--ksrc", self.kernel, "--tree", self.top / "plain")
        self.assertEqual(done.status, 0, done.output)
        self.assertTrue((self.top / "plain/mm/kunit/.kunitconfig").exists())
        done = self.program("tree", "--ksrc", self.kernel, "--tree", self.kernel)
        self.assertEqual(done.status, 2)
        self.assertIn("contains files that are not from swap-kunit", done.output)

    def test_list_and_clean(self) -> None:
        done = subprocess.run([sys.executable, REPO / "swap-kunit", "list", "-v", "--ksrc", self.kernel, "--out",
                               self.out], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        self.assertEqual(done.stdout.splitlines(), ["swap_a.pass_1", "swap_a.pass_2"])
        self.assertEqual(self.program("clean", "--out", self.kernel).status, 2)
        self.assertEqual(self.run_it()[0], 0)
        self.assertEqual(self.program("clean", "--out", self.out).status, 0)
        self.assertFalse(self.out.exists())


class Locking(CommandLine):
    """Two runs in one output directory."""

    def test_second_run_names_the_first(self) -> None:
        code = ("import sys; from pathlib import Path; from swapkunit.base.layout import Layout\n"
                f"with Layout(Path({str(self.out)!r})).lock(): print('held', flush=True); sys.stdin.read()")
        holder = subprocess.Popen([sys.executable, "-c", code], cwd=REPO, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(holder.stdout.readline(), "held\n")
            status, output = self.run_it()
            self.assertEqual(status, 2)
            self.assertIn(f"process {holder.pid}", output)
            self.assertIn("in use by process", output)
            self.assertEqual(self.program("clean", "--out", self.out).status, 2)
            self.assertTrue(self.out.exists())
        finally:
            holder.communicate("")
        self.assertEqual(self.run_it()[0], 0)


class Counting(unittest.TestCase):
    """What `test` runs, and the totals that it prints."""

    def test_own_tests_do_not_see_the_variables_of_an_outer_make(self) -> None:
        done = mock.Mock(returncode=0, stdout="1 passed, 0 failed, 0 skipped\n")
        with mock.patch.dict(os.environ, MAKEFLAGS=" -- KERNEL=6.12", KERNEL="6.12"), \
                mock.patch("swapkunit.base.commands.run", return_value=Finished(0, "Ran 1 test\n")) as run, \
                mock.patch("subprocess.run", return_value=done), contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(VERBS["test"].run(argparse.Namespace(run_args=[])), 0)
        self.assertFalse({"MAKEFLAGS", "KERNEL"} & run.call_args.kwargs["env"].keys())

    def test_unittest_output(self) -> None:
        self.assertEqual(unittest_counts("..\nRan 12 tests in 1s\n\nOK\n"), [12, 0, 0])
        self.assertEqual(unittest_counts("Ran 12 tests in 1s\n\nFAILED (failures=2, errors=1, skipped=3)\n"),
                         [6, 3, 3])
        self.assertEqual(unittest_counts("Traceback"), [0, 1, 0])

    def test_closing_line(self) -> None:
        self.assertEqual(closing_counts("3 passed, 2 failed, 1 skipped"), [3, 2, 1])
        self.assertIsNone(closing_counts("log out/ktap.log"))


if __name__ == "__main__":
    unittest.main()
