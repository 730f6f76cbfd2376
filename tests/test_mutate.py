# SPDX-License-Identifier: GPL-2.0
"""mutate: sites, mutants in one text, a campaign with a fake UML, stored verdicts, reports."""
from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import unittest
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

from swapkunit.base import deps
from swapkunit.base.errors import SwapKunitError, UntestableKernel
from swapkunit.base.kernel import Kernel
from swapkunit.base.layout import Layout
from swapkunit.build.fragments import KunitConfig
from swapkunit.mutate import equivalent, kernel, report as reports
from swapkunit.mutate.base import Base
from swapkunit.mutate.campaign import (
    CAUGHT, EQUIVALENT, HANG, MOVED, PANIC, SURVIVED, UNREACHED, WARN, Campaign, Verdict, trial_of)
from swapkunit.mutate.choice import Choice, changed_in_range, changed_lines
from swapkunit.mutate.report import Outcome, Report
from swapkunit.mutate.schemata import Mutant, Schemata, positions
from swapkunit.mutate.store import Store
from swapkunit.presubmit.mutants import judged
from swapkunit.presubmit.report import NOTE, PASS, SKIP
from swapkunit.run.runner import RunOptions
from swapkunit.run.session import Request
from swapkunit.source import kernels

from .support import REPO, Scratch, git, make_kernel, processes_with, write

CODE = """\
#define likely(x)\t__builtin_expect(!!(x), 1)
#define SWAB\t__SWAB
#define __SWAB(x)\t(x ? (x) + 1 : 0)
#define lockdep_same(a, b)\tdo { if (a != b) trap(); } while (0)
extern void trap(void), put(int n), pr_err(int n), spin_unlock(int n);
extern void list_add(int n, int head);
enum { true = 1, false = 0, FIRST = 3 };
static int last = 7;

int f(int a, int b, unsigned flags)
{
\tint sum[2 + 1], *end = sum + 3;
\tstatic int calls = 5;

\tlockdep_same(a, a);
\tif (b < 0)
\t\tpr_err(a);
\tif (likely(a < b &&
\t\t   /* never */ flags & 4))
\t\tput(a);
\telse
\t\tcalls++;
\tfor (sum[0] = 0; a < 10; a++) {
\t\tif (!b)
\t\t\tcontinue;
\t\tsum[0] += SWAB(a + 1);
\t}
\tlist_add(a, b);
\tspin_unlock(a);
\tif (end - sum == b)
\t\tgoto out;
\tswitch (a) {
\tcase 4 + 1:
\t\tbreak;
\t}
\treturn sum[0];
out:
\treturn flags | FIRST | 8 ? true : last;
}
"""
PROGRAM = """\
#include <stdlib.h>
#include <stdio.h>
int f(int a, int b, unsigned flags);
static int log;
void trap(void) { exit(9); }
void put(int n) { log = log * 31 + n; }
void pr_err(int n) { }
void spin_unlock(int n) { log = log * 31 + 5; }
void list_add(int n, int head) { log = log * 31 + n * 3 + head; }
void list_add_tail(int n, int head) { log = log * 31 + n * 5 + head; }
int swap_mutant_active;
unsigned char swap_mutants_reached[1 << 15];
int main(int argc, char **argv)
{
\tint a, b, n;
\tswap_mutant_active = atoi(argv[1]);
\tfor (a = -2; a < 12; a++)
\t\tfor (b = 0; b < 4; b++)
\t\t\tfor (n = 0; n < 8; n++)
\t\t\t\tput(f(a, b, n));
\tprintf("%d\\n", log);
\treturn 0;
}
"""
UML = '''\
#!/usr/bin/python3 -S
import os, sys, time
given = dict(word.partition("=")[::2] for word in sys.argv[1:])
number, glob = int(given.get("swap_kunit_mutant", 0)), given["kunit.filter_glob"]
suite, _, only = glob.partition(".")
def say(text):
    sys.stdout.write(text + "\\n"); sys.stdout.flush()
if number:
    say(f"swap_mutant: {number} active")
say("KTAP version 1\\n    KTAP version 1\\n    # Subtest: " + suite + "\\n    1..2")
if "swap_kunit_guards" in given:
    say("swap_guards: boot 0 00000200")
for at, case in enumerate(("first", "second"), 1):
    if only not in ("", case):
        continue
    say(f"swap_case: {suite}.{case}")
    bad = case == "second" and (number == 1 or suite == "swap_old")
    if number == 2:
        say("Kernel panic - not syncing: BUG!"); os.abort()
    if number == 3:
        if os.fork() == 0:
            time.sleep(1000)
        while True:
            pass
    if bad:
        say(f"    # {case}: EXPECTATION FAILED at mm/kunit/suites/swap_a_kunit.c:7\\n    rule: two is second")
    if number == 4:
        say(f"    # {case}: EXPECTATION FAILED at mm/kunit/x.c:7\\n    kernel report: WARNING: at mm/swapfile.c:8")
    say(f"swap_decision: {suite}.{case} A0:{'1' if number == 5 else '0'}")
    if "swap_kunit_guards" in given:
        say(f"swap_guards: {suite}.{case} 0 0000000{'0,000001f' if case == 'second' else '0,0000004'}e")
    say(f"    {'not ' * (bad or number == 4)}ok {at} {case}")
say("ok 1 " + suite)
'''


def pattern_of(line: str) -> str:
    """A pattern for a line, whatever its blanks."""
    return rf"^\s*{re.escape(line)}$".replace(r"\ ", r"\s+")


def mutant(number: int, line: int = 3, file: str = "mm/zswap.c", function: str = "load", **other: Any) -> Mutant:
    """A mutant with these."""
    values = {"operator": "< to <=", "before": "a < b", "after": "a <= b", "source": "if (a < b)", "key": str(number)}
    return Mutant(number, file, line, function, **{**values, **other})


@unittest.skipIf(deps.missing(deps.MUTANTS), "libclang is not installed (Debian: python3-clang)")
class Sites(Scratch):
    """The mutants of a small file, all compiled into one program."""

    def setUp(self) -> None:
        super().setUp()
        self.code = write(self.top / "mm/code.c", CODE)
        done = subprocess.run([sys.executable, kernel.SITES, self.code, "code.c"], check=True, capture_output=True,
                              text=True)
        self.found = json.loads(done.stdout)
        self.schemata = Schemata("mm/code.c", CODE, self.found, 1)
        write(self.top / "linux/types.h", "typedef _Bool bool;\ntypedef unsigned char u8;\n")
        write(self.top / "linux/compiler.h", "#define unlikely(x)\t(x)\n#define __always_inline\tinline\n")
        self.gcc = ["gcc", "-w", "-fdiagnostics-column-unit=byte", "-I.", "-include",
                    str(REPO / "kunit/fixture/mutants.h")]

    def edits(self) -> list[tuple[int, str]]:
        """Line and edit of every mutant."""
        return [(one.line, one.edit) for one in self.schemata.mutants]

    def test_operators(self) -> None:
        edits = self.edits()
        for expected in (
                (18, "a < b && flags & 4 -> a < b || flags & 4"), (18, "a < b && flags & 4 -> !!(a < b)"),
                (18, "a < b -> a >= b"), (18, "a < b -> a <= b"), (19, "flags & 4 -> flags | 4"), (19, "4 -> 4 + 1"),
                (20, "without put(a);"), (22, "without calls++;"), (22, "calls++ -> calls--"),
                (23, "0 -> 0 - 1"), (23, "a++ -> a--"), (24, "!b -> !!(b)"),
                (25, "without continue;"), (25, "continue; -> break;"), (26, "without sum[0] += SWAB(a + 1);"),
                (26, "sum[0] += SWAB(a + 1) -> sum[0] -= SWAB(a + 1)"),
                (28, "list_add(a, b) -> list_add_tail(a, b)"), (28, "list_add(a, b) -> list_add(b, a)"),
                (29, "without spin_unlock(a);"), (30, "end - sum == b -> end - sum != b"), (31, "without goto out;"),
                (34, "without break;"), (36, "sum[0] -> 0"), (38, "flags | FIRST | 8 -> flags | FIRST"),
                (38, "true -> false"), (12, "3 -> 3 + 1")):
            self.assertIn(expected, edits)
        self.assertEqual([one for one in self.schemata.mutants if one.operator == "lock dropped"][0].line, 29)

    def test_what_cannot_be_mutated_is_counted(self) -> None:
        lines = {line for line, _ in self.edits()}
        self.assertFalse(lines & {8, 13, 15, 16, 17, 33}, "an initialiser, an assertion or a case label")
        for start, why in (("2 + 1", "array size"), ("a + 1", "a macro"), ("SWAB", "a macro"), ("1 ->", "both"),
                           ("end - sum ->", "pointers")):
            self.assertEqual([edit for _, edit in self.edits() if edit.startswith(start)], [], why)
        for reason in ("#define", "static initialiser", "array size", "case label", "enum", "in a macro's arguments",
                       "assertion, message or hint"):
            self.assertGreater(self.found["left_out"].get(reason, 0), 0, reason)

    def test_one_program_has_them_all(self) -> None:
        text, _ = self.schemata.render()
        self.assertEqual(text.count("\n"), CODE.count("\n"))
        self.assertTrue(text.splitlines()[37].lstrip().startswith("return"), "lines keep their numbers")
        write(self.top / "mm/mutated.c", text)
        write(self.top / "main.c", PROGRAM)
        for name, source in (("plain", "mm/code.c"), ("mutated", "mm/mutated.c")):
            subprocess.run([*self.gcc, "-o", name, source, "main.c"], cwd=self.top, check=True)

        def answer(program: str, number: int) -> str:
            try:
                done = subprocess.run([self.top / program, str(number)], capture_output=True, text=True, check=False,
                                      timeout=1)
            except subprocess.TimeoutExpired:
                return "hang"
            return f"{done.returncode} {done.stdout}"

        original = answer("plain", 0)
        self.assertRegex(original, r"^0 -?\d+")
        self.assertEqual(answer("mutated", 0), original)
        alike = [one.edit for one in self.schemata.mutants if answer("mutated", one.number) == original]
        # Of calls nothing is seen, and 8 is set besides.
        self.assertEqual([edit for edit in alike if "calls" not in edit and "8" not in edit and "FIRST" not in edit
                          and edit not in ("without break;", "without goto out;")], [])

    def test_errors_of_the_compiler_are_about_mutants(self) -> None:
        bad = next(one for one in self.schemata.mutants if one.edit == "a < b -> a <= b")
        for piece in self.schemata.pieces:
            piece.mutants = [mutant(bad.number, after="a <= nothing") if one == bad else one for one in piece.mutants]
        write(self.top / "mm/code_real.c", self.schemata.render()[0])
        done = subprocess.run([*self.gcc, "-c", "-o", "/dev/null", "mm/code_real.c"], cwd=self.top,
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual([one.number for one in self.schemata.faulty(done.stderr)], [bad.number])

    def test_keys_are_by_content(self) -> None:
        moved = Schemata("mm/code.c", "\n" + CODE, {**self.found, "sites": [
            {**site, "start": site["start"] + 1, "end": site["end"] + 1} for site in self.found["sites"]],
            "functions": {"f": [at + 1 for at in self.found["functions"]["f"]]}}, 100)
        self.assertEqual([one.key for one in moved.mutants], [one.key for one in self.schemata.mutants])
        self.assertEqual(len({one.key for one in moved.mutants}), len(moved.mutants))


class Compiler(unittest.TestCase):
    """What is read from the compiler and its command line."""

    def test_positions(self) -> None:
        output = ("../mm/zswap_real.c:12:7: error: lvalue required\n../mm/zswap_real.c:13:1: note: here\n"
                  "In function 'low',\n    inlined from 'high' at ../mm/zswap_real.c:20:9:\n"
                  "../include/linux/bug.h:3:2: error: call to 'never' declared with attribute error\n"
                  "../include/linux/bug.h:3:2: error: in a macro\n"
                  "../mm/zswap_real.c:30:3: note: in expansion of macro 'BUG_ON'\n"
                  "mm/swapfile.c:5:6: error: not ours\n")
        self.assertEqual(positions(output, "mm/zswap.c"), [(12, 7), (20, 9), (30, 3)])

    def test_arguments(self) -> None:
        words = "gcc -Wall -nostdinc -I../include -include ../x.h -O2 -DA=1 -std=gnu11 -I a -fno-common".split()
        self.assertEqual(kernel.meaning(words[1:]),
                         ["-nostdinc", "-I../include", "-include", "../x.h", "-DA=1", "-std=gnu11", "-I", "a"])

    def test_patch(self) -> None:
        one = Schemata("mm/zswap.c", "a\nb\n", {"sites": [
            {"start": 0, "end": 1, "kind": "expression", "function": "f", "text": "a", "mutants": [["x", "z"]]}],
            "functions": {"f": [0, 3]}}, 1)
        with mock.patch.object(Path, "write_bytes") as written:
            kernel.write_patch(Path("x"), [one])
        self.assertEqual(written.call_args[0][0].decode(), "--- a/mm/zswap.c\n+++ b/mm/zswap.c\n@@ -1,2 +1,2 @@\n"
                         "-a\n-b\n+(swap_mutant(1) ? (z) : (a))\n+b\n"
                         "--- /dev/null\n+++ b/mm/zswap_plain.c\n@@ -0,0 +1,2 @@\n+a\n+b\n")


class FakeSession:
    """What kernel.make() needs of a Session; it counts builds."""

    def __init__(self, top: Path, source: Path):
        self.layout = Layout(top)
        self.request = Request()
        self.kernel = Kernel(source, "7.3.4", "here", True)
        self.config = KunitConfig()
        self.built: list[int] = []      # how many patches each build had
        self.broken = False

    def read_config(self) -> None:
        """Nothing is asked for."""

    def lay_tree(self) -> None:
        """Nothing is laid."""

    def build_kernel(self) -> None:
        """Make a vmlinux."""
        self.built.append(len(self.request.patches))
        if self.broken and self.request.patches:
            self.broken = False
            raise UntestableKernel("it does not link")
        write(self.layout.vmlinux, "")


class Kernels(Scratch):
    """When a kernel is built with mutants, and what is left out."""

    def setUp(self) -> None:
        super().setUp()
        write(self.top / "linux/mm/zswap.c", "a\nb\n")
        (self.top / "out").mkdir()
        found = {"left_out": {}, "errors": [], "functions": {"f": [0, 3]}, "sites": [
            {"start": at, "end": at + 1, "kind": "expression", "function": "f", "text": "ab"[at // 2],
             "mutants": [["x", "z"]]} for at in (0, 2)]}
        self.output = ""
        for name, value in (("sites_of", lambda *_: found), ("undefined", lambda *_: {"gone", "there"}),
                            ("compile_all", lambda *_: self.compiler()),
                            ("learn", lambda one, _: kernel.Known(kernel.key_of(one), {"mm/zswap.c": []}, ["there"]))):
            patch = mock.patch.object(kernel, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def compiler(self) -> str:
        """The compiler's output; the error is there as long as the mutant is."""
        patch = (self.top / "out/mutants/mutants.patch").read_text()
        return self.output if "swap_mutant(2)" in patch else ""

    def make(self, broken: bool = False) -> tuple[kernel.MutantKernel, list[int]]:
        """A kernel, and the builds."""
        session = FakeSession(self.top / "out", self.top / "linux")
        session.broken = broken
        return kernel.make(session), session.built      # type: ignore[arg-type]

    def test_one_build_if_the_configuration_is_known(self) -> None:
        self.assertEqual(self.make()[1], [0, 1])
        self.assertEqual(self.make()[1], [1])
        self.assertEqual(self.make(broken=True)[1], [1, 0, 1], "something else in the tree has changed")

    def test_what_does_not_compile_is_left_out_and_remembered(self) -> None:
        self.output = "mm/zswap_real.c:2:20: error: lvalue required\n"
        for _ in range(2):
            made, _ = self.make()
            self.assertEqual(([one.number for one in made.mutants], made.left_out[kernel.UNCOMPILED]), ([1], 1))

    def test_calls_of_what_does_not_exist_end_in_a_trap(self) -> None:
        self.make()
        patch = (self.top / "out/mutants/mutants.patch").read_text()
        self.assertEqual((".weak gone" in patch, ".weak there" in patch), (True, False))


CASES = ["swap_a.first", "swap_a.second", "swap_old.first", "swap_old.second"]


class Campaigns(Scratch):
    """Trials with a fake UML."""

    def setUp(self) -> None:
        super().setUp()
        self.uml = write(self.top / "uml", UML)
        self.uml.chmod(0o755)
        self.base = Base()
        self.campaign = Campaign(self.uml, RunOptions(jobs=2), self.base)
        self.campaign.run_base(CASES)

    def verdicts(self, *numbers: int) -> dict[int, Verdict]:
        """The verdicts on some mutants."""
        found: dict[int, Verdict] = {}
        self.campaign.run([trial_of(mutant(number), self.base) for number in numbers],
                          lambda number, verdict: found.update({number: verdict}), lambda: "")
        return found

    def test_base(self) -> None:
        self.assertEqual(self.base.results["swap_a.second"], "ok")
        self.assertEqual(list(self.base.failed), ["swap_old.second"])
        self.assertIn("rule: two is second", self.base.failed["swap_old.second"])
        self.assertEqual(self.base.cases_of[8], {"swap_a": ["swap_a.second"], "swap_old": ["swap_old.second"]})
        self.assertEqual(self.base.cases_of[9], {"swap_a": ["boot"], "swap_old": ["boot"]})
        self.assertEqual(self.base.nearest(3), [f"{suite}.{case}" for case in ("first", "second")
                                                for suite in ("swap_a", "swap_old")])
        self.assertNotIn(20, self.base.cases_of)

    def test_every_kind(self) -> None:
        with mock.patch("swapkunit.mutate.campaign.CPU", 1):
            found = self.verdicts(1, 2, 3, 4, 5, 7)
        self.assertEqual({number: one.kind for number, one in found.items()},
                         {1: CAUGHT, 2: PANIC, 3: HANG, 4: WARN, 5: MOVED, 7: SURVIVED})
        self.assertEqual((found[1].by, found[1].rule), ("swap_a.second", "two is second"))
        self.assertEqual(found[2].rule, "Kernel panic - not syncing: BUG!")
        self.assertIn("WARNING: at mm/swapfile.c:8", found[4].rule)
        self.assertEqual(found[7].boots, 2, "all suites that reach it")
        self.assertEqual(processes_with(str(self.top)), [])

    def test_only_the_case_that_reaches_it(self) -> None:
        self.assertEqual([glob for glob, _ in trial_of(mutant(8), self.base).left],
                         ["swap_a.second", "swap_old.second"])
        self.assertEqual([glob for glob, _ in trial_of(mutant(1), self.base).left], ["swap_a", "swap_old"])

    def test_a_kernel_without_the_mutant(self) -> None:
        write(self.uml, UML.replace('say(f"swap_mutant:', 'str(f"'))
        self.uml.chmod(0o755)
        with self.assertRaisesRegex(SwapKunitError, "does not say that it is active"):
            self.verdicts(7)

    def test_what_does_not_always_decide_alike_is_not_moved(self) -> None:
        again = Campaign(self.uml, RunOptions(jobs=2), Base())
        again.run_base(CASES)
        self.base.compare(again.base)
        self.assertEqual(self.base.unstable, set())
        again.base.decisions["swap_a.first"] = again.base.decisions["swap_old.first"] = ["another"]
        self.base.compare(again.base)
        self.assertEqual(self.base.unstable, {"swap_a.first", "swap_old.first"})
        self.assertEqual(self.verdicts(5)[5], Verdict(MOVED, "swap_a.second", boots=4))

    def test_suite_that_crashes_without_a_mutant(self) -> None:
        write(self.uml, UML.replace("if number == 2:", "if number == 2 or glob[:6] == 'swap_a' and case == 'first':"))
        self.uml.chmod(0o755)
        self.base = Base()
        self.campaign = Campaign(self.uml, RunOptions(jobs=2), self.base)
        self.campaign.run_base(CASES)
        self.assertEqual(self.base.fates, {"swap_a.first": "crashed"})
        self.assertEqual(self.base.results["swap_a.second"], "ok", "it ran alone")
        self.assertEqual([glob for glob, _ in trial_of(mutant(1), self.base).left], ["swap_old", "swap_a.second"])
        self.assertEqual(self.verdicts(1)[1].by, "swap_a.second")

    def test_case_that_decides_otherwise_alone(self) -> None:
        self.base.decisions["swap_a.second"] = ["swap_a.second A0:1"]
        write(self.uml, UML.replace("if number == 5", "if only == ''"))
        self.uml.chmod(0o755)
        self.base.decisions["swap_a.first"] = ["swap_a.first A0:1"]
        self.base.decisions["swap_old.second"] = ["swap_old.second A0:1"]
        self.base.decisions["swap_old.first"] = ["swap_old.first A0:1"]
        self.assertEqual(self.verdicts(8)[8], Verdict(SURVIVED, boots=4))

    def test_what_there_is_no_time_for(self) -> None:
        found: list[int] = []
        self.campaign.run([trial_of(mutant(3), self.base)] * 3, lambda number, _: found.append(number), lambda: "", 0.3)
        self.assertEqual(found, [])
        self.assertEqual(processes_with(str(self.top)), [])

    def test_interrupt_leaves_nothing(self) -> None:
        started = time.monotonic()

        def stop() -> str:
            if time.monotonic() - started > 0.3:
                raise KeyboardInterrupt
            return ""
        with self.assertRaises(KeyboardInterrupt):
            self.campaign.run([trial_of(mutant(3), self.base)], lambda *_: None, stop)
        self.assertEqual(processes_with(str(self.top)), [])


class Stored(Scratch):
    """Verdicts of earlier campaigns."""

    def test_kept_by_key_and_suites(self) -> None:
        path = self.top / "verdicts.jsonl"
        Store(path, "suites").put("a", Verdict(CAUGHT, "swap_a.first", "a rule", 2))
        with open(path, "a", encoding="utf-8") as file:
            file.write('{"key": "b-suites", "ki')
        self.assertEqual(Store(path, "suites").get("a"), Verdict(CAUGHT, "swap_a.first", "a rule", 2))
        self.assertIsNone(Store(path, "suites").get("b"))
        self.assertIsNone(Store(path, "other suites").get("a"))


class Choices(Scratch):
    """Which mutants are tried."""

    def test_choice(self) -> None:
        every = [mutant(1), mutant(2, file="mm/swapfile.c"), mutant(3, function="zswap_store"), mutant(4, line=9)]

        def numbers(**given: Any) -> list[int]:
            return [one.number for one in Choice(**given).of(every)]

        self.assertEqual(numbers(), [1, 2, 3, 4])
        self.assertEqual(numbers(files=["zswap.c"]), [1, 3, 4])
        self.assertEqual(numbers(functions=["zswap_*"]), [3])
        self.assertEqual(numbers(changed={"mm/zswap.c": {9}}), [4])
        self.assertEqual(numbers(sample=2, seed=3), numbers(sample=2, seed=3))
        self.assertEqual(len(numbers(sample=2)), 2)
        with self.assertRaisesRegex(SwapKunitError, "no function .* zswap_stor; did you mean zswap_store"):
            numbers(functions=["zswap_stor"])

    def test_names_are_refused_before_a_build(self) -> None:
        tree = make_kernel(self.top / "linux")
        write(tree / "mm/zswap.c", "bool zswap_store(struct folio *folio)\n{\n}\n")
        patch = write(self.top / "one.patch", "+static void zswap_new(void)\n")
        Choice(["zswap.c", "mm/swap*"], ["zswap_store", "zswap_n*"]).check(tree, [patch, self.top / "none"])
        for given, text in ((Choice(["zswp.c"]), "no file .* is called zswp.c"), (Choice(["vmscan.c"]), "no file .*"),
                            (Choice([], ["zswap_new"]), "no function .* is called zswap_new; did you mean zswap_")):
            with self.assertRaisesRegex(SwapKunitError, text):
                given.check(tree, [])
        done = self.program("mutate", "--ksrc", tree, "--out", self.top / "out", "--function", "nosuch")
        self.assertEqual((done.status, (self.top / "out").exists()), (2, False), done.output)
        self.assertIn("swap-kunit: no function with mutants is called nosuch", done.output)

    def test_changed_lines(self) -> None:
        self.assertEqual(changed_lines("a\nb\nc\n", "a\nx\ny\nc\nd\n"), {2, 3, 5})

    def test_range(self) -> None:
        git(self.top, "init", "-q")
        texts = {"mm/zswap.c": "a\nlonger\n"}
        for text in ("a\nb\n", "a\nlonger\n"):
            write(self.top / "mm/zswap.c", text)
            git(self.top, "add", ".")
            git(self.top, "commit", "-qm", "x")
        self.assertEqual(changed_in_range(self.top, "HEAD~1..HEAD", texts), {"mm/zswap.c": {2}})
        with self.assertRaisesRegex(SwapKunitError, "check that commit out"):
            changed_in_range(self.top, "HEAD~1..HEAD~1", texts)
        with self.assertRaisesRegex(SwapKunitError, "cannot read mm/zswap.c of nowhere"):
            changed_in_range(self.top, "HEAD..nowhere", texts)


class Equivalents(unittest.TestCase):
    """coverage/equivalent.toml."""

    def test_entries_have_all_they_need(self) -> None:
        entries = equivalent.load()
        self.assertEqual([one for one in entries if not all(vars(one).values())], [])
        edits = Counter((one.file, one.function, one.line, edit) for one in entries for edit in one.edits)
        self.assertEqual([edit for edit, times in edits.items() if times > 1], [])

    @unittest.skipUnless(kernels.cached(), "no kernel is in the cache")
    def test_each_fits_a_line_of_a_kernel_at_hand(self) -> None:
        texts: dict[str, list[str]] = {}
        for one in equivalent.load():
            if one.file not in texts:
                texts[one.file] = [(entry.path / one.file).read_text() for entry in kernels.cached()
                                   if (entry.path / one.file).exists()]
            self.assertTrue(any(one.function in text and re.search(pattern_of(one.line), text, re.M)
                                for text in texts[one.file]), f"{one.file} {one.function}: {one.line}")



class Entries(Scratch):
    """One entry of equivalent.toml."""

    def test_what_an_entry_covers(self) -> None:
        path = write(self.top / "e.toml", '[[mutant]]\nfile = "mm/zswap.c"\nfunction = "load"\nline = "if (a < b)"\n'
                     'edits = ["a < b -> a <= b"]\nreason = "never equal"\n')
        entry, = equivalent.load(path)
        self.assertTrue(entry.covers(mutant(1)))
        self.assertTrue(entry.covers(mutant(1, line=70)), "whatever its number")
        for other in ({"after": "a > b"}, {"source": "if (a < b) {"}, {"function": "store"}):
            self.assertFalse(entry.covers(mutant(1, **other)))
        with self.assertRaisesRegex(SwapKunitError, "every .* needs file"):
            equivalent.load(write(path, '[[mutant]]\nfile = "mm/zswap.c"\n'))


class Reports(Scratch):
    """What is printed and written."""

    def setUp(self) -> None:
        super().setUp()
        self.report = Report("7.3.4", [], [
            Outcome(mutant(1), Verdict(CAUGHT, "swap_a.first", "a rule"), ["swap_a.first"]),
            Outcome(mutant(2), Verdict(SURVIVED), ["swap_b.far", "swap_a.near"]),
            Outcome(mutant(3, 4, "mm/swapfile.c", "free<b>"), Verdict(MOVED, "swap_a.first"), ["swap_a.first"]),
            Outcome(mutant(4, 5), Verdict(UNREACHED)), Outcome(mutant(5, 5), Verdict(EQUIVALENT), [], "why")],
            Counter({"enum": 2}))

    def test_table_and_gaps(self) -> None:
        rows = reports.table(self.report, lambda one: one.file).splitlines()
        self.assertEqual([row.split()[:2] for row in rows[1:]],
                         [["mm/zswap.c", "4"], ["mm/swapfile.c", "1"], ["all", "5"]])
        self.assertEqual(self.report.closing_line(),
                         "1 of 3 mutants noticed, 1 only move decisions, 1 survive (33.3 %)")
        self.assertEqual(reports.gaps(self.report).splitlines()[:3],
                         ["mm/zswap.c load(): 1 mutant of 4", "  mm/zswap.c:3: a < b -> a <= b",
                          "      near: swap_b.far, swap_a.near"])
        self.assertIn("a <= b (moved)", reports.gaps(self.report))

    @unittest.skipIf(deps.missing(deps.PAGES), "jinja2 is not installed")
    def test_pages_and_json(self) -> None:
        reports.write(self.report, self.top,
                      {"mm/zswap.c": "1\n2\nif (a < b)\n4 <i>\n5\n", "mm/swapfile.c": "1\n2\n3\n4\n"})
        page = (self.top / "mutants.html").read_text()
        self.assertIn('<tr class="missed" id="mm/zswap.c:3"><td>3</td>\n<td>1/2</td><td>2</td>', page)
        self.assertIn("a &lt; b -&gt; a &lt;= b", page)
        self.assertNotIn("<i>", page)
        self.assertNotIn("<b>", page)
        found = json.loads((self.top / "mutants.json").read_text())
        self.assertEqual(found["counts"], {CAUGHT: 1, SURVIVED: 1, MOVED: 1, UNREACHED: 1, EQUIVALENT: 1})
        self.assertEqual(found["mutants"][4]["reason"], "why")

    def test_step_of_presubmit(self) -> None:
        step = judged(self.report)
        self.assertEqual((step.status, step.cell), (NOTE, "2/3"))
        self.assertEqual(step.findings[0].text, "of 3 ways to get the changed lines wrong 2 are noticed; not noticed: "
                         "mm/zswap.c:3: a < b -> a <= b")
        self.assertEqual(step.findings[0].evidence, ["mm/zswap.c:3: a < b -> a <= b", "  near: swap_b.far"])
        self.report.outcomes = [one for one in self.report.outcomes if one.kind != SURVIVED]
        self.assertEqual(judged(self.report).status, PASS)
        self.report.outcomes = self.report.outcomes[2:]
        self.assertEqual(judged(self.report).status, SKIP)


if __name__ == "__main__":
    unittest.main()
