# SPDX-License-Identifier: GPL-2.0
"""File checks (W=1, sparse, configs) and the lines a series changes."""
from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path

from swapkunit.base.kernel import examine
from swapkunit.coverage import counters
from swapkunit.presubmit import changed_lines, file_checks
from swapkunit.presubmit.file_checks import FileChecks
from swapkunit.presubmit.file_steps import CONFIGURATIONS, KILLED, SPARSE, W1, JobResult, Messages, messages, verdicts
from swapkunit.presubmit.report import FAIL, NOTE, PASS, SKIP, WARN, Finding, Step
from swapkunit.presubmit.store import Store
from swapkunit.presubmit.variants import ODD, PLAIN, Ready, commands_of, configuration
from swapkunit.run.session import Request
from swapkunit.series.series import Patch

from .support import MAKEFILE, Scratch, git, make_kernel, write

DRY_RUN = """\
make[2]: Nothing to be done for 'x'.
set -e;  echo '  CC      mm/swapfile.o';   trap 'rm -f mm/swapfile.o; trap - HUP; kill -s HUP $$' HUP; gcc \
-Wp,-MMD,mm/.swapfile.o.d -I./include -DKBUILD_MODFILE='"mm/swapfile"' -c -o mm/swapfile.o /k/tree/mm/swapfile.c  ; \
./tools/objtool x
set -e;  echo '  CHECK   /k/tree/mm/swapfile.c';   sparse -D__typeof_unqual__=__typeof__ -Wbitwise \
-Wp,-MMD,mm/.swapfile.o.d /k/tree/mm/swapfile.c;
set -e; PYTHONDONTWRITEBYTECODE=1 python3 /k/tree/tools/docs/kernel-doc -none   /k/tree/mm/swapfile.c
set -e; gcc -Wp,-MMD,mm/.page_io.o.d -c -o mm/page_io.o ../mm/page_io.c
"""
# Each condition with the way it never goes.
PROGRAM = """\
volatile int zero, one = 1;
static inline __attribute__((always_inline)) int inlined(int x)
{
\tif (x > 7)
\t\treturn 0;
\treturn 1;
}
__attribute__((noinline)) int f(int x)
{
\tif (zero) return 0; /* never true */
\tif (x && zero) return 0; /* operand 2 of 2 goes only one way */
\tif (zero || /* goes only one way */
\t    x > 100)
\t\treturn 0;
\tif (x > 50) /* never true */
\t\treturn 0;
\tif (one) return inlined(x); /* never false */
\treturn zero;
}
int main(void)
{
\tint i, sum = 0;

\tfor (i = 0; i < 9; i++)
\t\tsum += f(i) + inlined(i + 3);
\treturn !sum;
}
"""


class DryRun(Scratch):
    """The commands that make -n prints."""

    def test_commands(self) -> None:
        ready = commands_of(DRY_RUN, Path("/k/tree"))
        self.assertEqual(ready.compile["mm/swapfile.c"], ["gcc", "-I./include", '-DKBUILD_MODFILE="mm/swapfile"', "-c",
                                                          "-o", "OUTPUT", "/k/tree/mm/swapfile.c"])
        self.assertEqual(ready.compile["mm/page_io.c"][-1], "../mm/page_io.c")
        self.assertEqual(ready.check["mm/swapfile.c"][0], "sparse")
        self.assertEqual(ready.doc["mm/swapfile.c"][:3], ["env", "PYTHONDONTWRITEBYTECODE=1", "python3"])
        self.assertEqual(ready.no_sparse, "")

    def test_sparse_that_is_too_old(self) -> None:
        self.assertIn("sparse", commands_of("C=2 specified, but sparse is not available or not up to date",
                                                   Path("/k")).no_sparse)

    def test_a_failure_of_make_is_not_remembered(self) -> None:
        rule = "\nolddefconfig prepare:\n\t@test -e $(O)/../good\n"
        kernel = make_kernel(self.top / "linux", Makefile=MAKEFILE + rule)
        made = FileChecks(examine(kernel), Request(ksrc=kernel), self.top, False, "base", Store(self.top / "steps"))
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertTrue(made.ready(PLAIN, ["mm"], [], False).failed)
            write(self.top / "checks/plain/half_written.o", "x")
            write(self.top / "checks/good", "")
            self.assertEqual(made.ready(PLAIN, ["mm"], [], False).lacking, "")
        self.assertEqual([path.name for path in (self.top / "checks/plain").iterdir()], [".config"])

    def test_directories_prepared_by_a_series_are_marked(self) -> None:
        kernel = make_kernel(self.top / "linux", Makefile=MAKEFILE + "\nolddefconfig prepare mm/:\n\t@:\n")
        made = FileChecks(examine(kernel), Request(ksrc=kernel), self.top, False, "base", Store(self.top / "steps"))
        mark = self.top / "checks" / file_checks.FOREIGN
        seen = []
        with contextlib.redirect_stdout(io.StringIO()):
            for stale in (False, True, True, False):    # the third finds all done, the last starts again
                mark.unlink(missing_ok=True)
                made.ready(PLAIN, ["mm"] * (1 + stale), [], stale)
                seen.append((mark.exists(), (self.top / "checks/plain.state").read_text()))
        self.assertEqual([one for one, _ in seen], [False, True, False, False])
        self.assertTrue(seen[0][1] == seen[3][1] != seen[1][1] == seen[2][1])

    def test_make_that_cannot_print_the_commands(self) -> None:
        text = ("\nolddefconfig prepare mm/ all:\n\t@:\n"
                "ifneq ($(filter mm/,$(MAKECMDGOALS)),)\n$(error no good)\nendif\n")
        kernel = make_kernel(self.top / "linux", Makefile=MAKEFILE + text)
        made = FileChecks(examine(kernel), Request(ksrc=kernel), self.top, False, "base", Store(self.top / "steps"))
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertIn("*** no good", made.ready(PLAIN, ["mm"], [], False).trouble)
            self.assertEqual(made.ready(PLAIN, [], [], False).trouble, "")

    def test_variants_that_a_series_breaks(self) -> None:
        made = FileChecks(None, None, self.top, False, "base", None)
        made.base = {PLAIN: Ready(), ODD[0]: Ready(lacking="x"), ODD[1]: Ready(), ODD[2]: Ready(trouble="old")}
        made.variants = {PLAIN: Ready(trouble="bad"), ODD[0]: Ready(lacking="x"),
                         ODD[1]: Ready(lacking="ours", ours=True), ODD[2]: Ready(trouble="new")}
        self.assertEqual(made.made(), {"W=1 (make)": (1, "bad", 0.0), "no SHMEM (make)": (0, "", 0.0)})

    def test_new_options_are_tried_off_and_on(self) -> None:
        kernel = make_kernel(self.top / "linux", Makefile=MAKEFILE + "\nolddefconfig prepare mm/:\n\t@:\n")
        write(kernel / "mm/Kconfig", "config SWAP\n")
        hunk = "+config NEW_ONE\n+\tbool \"A new one\"\n+\n+config SILENT\n+\tbool\n"
        patch = write(self.top / "1.patch", "diff --git a/mm/Kconfig b/mm/Kconfig\n--- a/mm/Kconfig\n+++ b/mm/Kconfig\n"
                      f"@@ -1 +1,6 @@\n config SWAP\n{hunk}")
        made = FileChecks(examine(kernel), Request(ksrc=kernel), self.top, False, "base", Store(self.top / "steps"))
        with contextlib.redirect_stdout(io.StringIO()):
            made.prepare(["mm/Kconfig"], [], [patch], True)
            self.assertEqual([one.title for one in made.options], ["with NEW_ONE", "without NEW_ONE"])
            results = made.results_at([patch], ["mm/Kconfig"], True)
        self.assertIn("CONFIG_NEW_ONE=y", (self.top / "checks/with-NEW_ONE/.config").read_text())
        self.assertEqual(made.steps(results)[-1].details, ["new option: compiled with NEW_ONE and without NEW_ONE"])

    def test_parallel(self) -> None:
        jobs = [["a", ["sh", "-c", "echo printed; exit 3"]], ["b", ["sh", "-c", "echo x > $0; cat $0", "OUTPUT"]]]
        write(self.top / "jobs", json.dumps(jobs))
        done = subprocess.run([sys.executable, file_checks.PARALLEL, self.top / "jobs", "2"], capture_output=True,
                              text=True, check=True)
        found = json.loads(done.stdout)
        self.assertEqual((found["a"][:2], found["b"][:2]), ([3, "printed\n"], [0, "x\n"]))

    def test_every_configuration_is_without_the_suites(self) -> None:
        for variant in (PLAIN, *ODD):
            text = configuration(variant)
            self.assertIn("# CONFIG_SWAP_KUNIT_TEST is not set", text)
            if variant.off:
                self.assertIn(f"# CONFIG_{variant.off} is not set", text)

    def test_users_of_a_header(self) -> None:
        for name, header in (("memory", "include/linux/swap.h"), ("swapfile", "mm/swap.h"), ("slub", "mm/slab.h")):
            write(self.top / f"mm/.{name}.o.cmd", f"deps_mm/{name}.o := \\\n  ../{header} \\\n")
        self.assertEqual(file_checks.users_of(["include/linux/swap.h", "mm/swap.h"], self.top),
                         ["mm/swapfile.c", "mm/memory.c"])
        self.assertEqual(file_checks.users_of([], self.top), [])

    def test_all_users_of_a_header_where_it_has_stubs(self) -> None:
        made = FileChecks(None, None, self.top, False, "base", None)
        users = [f"mm/{number}.c" for number in range(9)]
        ready = Ready({name: ["gcc", name] for name in users})
        jobs = [job for job, _ in made.jobs(["mm/swap.h"], users, {ODD[0]: ready, ODD[1]: ready})]
        self.assertEqual(jobs, [*(f"no SWAP {name}" for name in users), *(f"no ZSWAP {name}" for name in users[:4])])

    def test_kernel_doc_of_a_header(self) -> None:
        made = FileChecks(None, None, self.top, False, "base", None)
        ready = Ready(doc={"mm/swap.c": ["env", "echo", "-none", "mm/swap.c"]})
        jobs = made.jobs(["mm/swap.h", "mm/Makefile"], [], {PLAIN: ready})
        self.assertEqual(len(jobs), 1)
        name, words = jobs[0]
        (self.top / "checks/plain").mkdir(parents=True)
        self.assertEqual((name, subprocess.check_output(words, text=True)), ("kernel-doc mm/swap.h", ""))
        header = self.top / "checks/tree/mm/swap.h"
        write(header, "")
        self.assertEqual(subprocess.check_output(words, text=True), f"-none {header}\n")

    def test_selftests_and_documentation(self) -> None:
        kernel = make_kernel(self.top / "linux", Makefile=MAKEFILE + "\nheaders:\n\t@mkdir -p $(O)/usr/include; "
                             "cp include/linux/swap.h $(O)/usr/include\n")
        test, page = "tools/testing/selftests/mm/a.c", "Documentation/mm/a.rst"
        write(kernel / test, "#include <swap.h>\nint main(void) { return 0; }\n")
        write(kernel / page, "A page\n======\n\n.. toctree::\n   b\n\nSee :ref:`b`.\n")
        git(kernel, "init", "-q")
        git(kernel, "add", "-f", ".")
        git(kernel, "commit", "-qm", "base")
        write(kernel / test, "#include <swap.h>\nint main(void) { return nosuch; }\n")
        write(kernel / page, "A page\n=====\n\n.. toctree::\n   b\n\nSee :ref:`b` and :ref:`c`.\n")
        patch = write(self.top / "1.patch", git(kernel, "diff"))
        git(kernel, "checkout", "-q", ".")
        made = FileChecks(examine(kernel), Request(ksrc=kernel), self.top, False, "base", Store(self.top / "steps"))
        with contextlib.redirect_stdout(io.StringIO()):
            made.prepare([test, page], [], [patch])
            same = made.steps(made.results_at([], [test, page], False))
            found = {step.name: step for step in made.steps(made.results_at([patch], [test, page], False))}
        self.assertEqual([step.status for step in same], [PASS, SKIP, PASS])
        self.assertEqual((found[W1].status, found[CONFIGURATIONS].status), (NOTE, FAIL))
        self.assertIn("docutils Documentation/mm/a.rst:\n  Documentation/mm/a.rst:2: warning: Title underline",
                      "\n".join(found[W1].details))
        self.assertIn("'nosuch' undeclared", "\n".join(found[CONFIGURATIONS].details))
        self.assertEqual((found[CONFIGURATIONS].data, same[2].data), ({"files": [test]},) * 2)

    def test_configuration_that_cannot_be_looked_at(self) -> None:
        found = verdicts({"no SWAP mm/swapfile.c": JobResult(0, "", 1.0)}, {}, set(), {"32 bit": "no multilib"}, [],
                         Path("/o/checks"))[2]
        self.assertEqual((found.status, found.cell), (PASS, "part"))
        self.assertIn("not checked: 32 bit: no multilib", found.summary)

    def test_files_of_other_architectures_are_left_out(self) -> None:
        names = ("mm/swapfile.c", "arch/um/kernel/tlb.c", "arch/arm64/mm/fault.c", "include/linux/swap.h")
        self.assertEqual([file_checks.reachable(name) for name in names], [True, True, False, False])


class Verdicts(Scratch):
    """The steps of what compilers printed."""

    warning = "/o/checks/tree/mm/swapfile.c:{}:5: warning: unused variable '{}' [-Wunused-variable]\n  12 | int x;\n"

    def steps(self, printed: dict[str, tuple[int, str]], before: Messages | None = None,
              broken: set[str] | None = None, lacking: str = "", no_sparse: str = "") -> dict[str, Step]:
        """The steps by name. printed: the status and output of each job."""
        results = {job: JobResult(*result, 1.0) for job, result in printed.items()}
        found = verdicts(results, before or {}, broken or set(), {"no SWAP": lacking} if lacking else {},
                         [no_sparse] if no_sparse else [], Path("/o/checks"))
        return {step.name: step for step in found}

    def test_nothing_new(self) -> None:
        old = {"W=1 mm/swapfile.c": messages(self.warning.format(7, "a"), Path("/o/checks"))}
        found = self.steps({"W=1 mm/swapfile.c": (0, self.warning.format(9, "a"))}, old)
        self.assertEqual(found[W1].status, PASS)
        self.assertEqual((found[SPARSE].status, found[CONFIGURATIONS].status), (SKIP, SKIP))

    def test_new_warning(self) -> None:
        found = self.steps({"W=1 mm/swapfile.c": (0, self.warning.format(9, "b"))})
        self.assertEqual((found[W1].status, found[W1].summary), (WARN, "1 new warning"))
        self.assertEqual(found[W1].details[1], "  mm/swapfile.c:9:5: warning: unused variable 'b' [-Wunused-variable]")

    def test_warning_that_reads_like_an_old_one(self) -> None:
        job, top = "sparse mm/swapfile.c", Path("/o/checks")
        once, twice = self.warning.format(7, "a"), self.warning.format(7, "a") + self.warning.format(90, "a")
        found = self.steps({job: (0, twice)}, {job: messages(once, top)})[SPARSE]
        self.assertEqual((found.status, found.summary), (WARN, "1 new warning"))
        self.assertIn("2 times now, 1 before", found.details[-1])
        self.assertEqual(self.steps({job: (0, twice)}, {job: messages(twice, top)})[SPARSE].status, PASS)

    def test_kernel_doc_prints_everything_twice(self) -> None:
        line = "Warning: /o/checks/tree/mm/swap.h:7 function parameter 'a' not described in 'f'\n"
        found = self.steps({"kernel-doc mm/swap.h": (0, line * 2)})[W1]
        self.assertEqual((found.summary, len(found.details)), ("1 new warning", 2))

    def test_file_that_does_not_compile_is_one_finding(self) -> None:
        broken = (1, "mm/a.c: In function 'f':\nmm/a.c:1:2: warning: odd\nmm/a.c:3:4: error: 'x' undeclared\n")
        found = self.steps({"W=1 mm/b.c": (0, ""), "W=1 mm/a.c": broken, "sparse mm/a.c": broken, "THP mm/a.c": broken,
                            "THP mm/b.c": (0, "")})
        self.assertEqual((found[W1].status, found[SPARSE].status, found[CONFIGURATIONS].status), (FAIL, SKIP, PASS))
        self.assertEqual(found[W1].details[:2], ["W=1 mm/a.c:", "  mm/a.c:3:4: error: 'x' undeclared"])
        self.assertEqual(found[SPARSE].summary, "does not compile: mm/a.c")

    def test_line_about_a_warning_is_not_counted(self) -> None:
        job, line = "W=1 mm/swapfile.c", "mm/swapfile.c:{}:5: note: in expansion of macro 'f'\n"
        self.assertEqual(self.steps({job: (0, line.format(7) + line.format(9))},
                                    {job: messages(line.format(7), Path("/o"))})[W1].status, PASS)

    def test_messages_of_the_state_before(self) -> None:
        """Reported once; again if it was gone in between; a compilation that fails forgets none."""
        made = FileChecks(None, None, Path("/o"), False, "base", None)
        job, warned = "W=1 mm/swapfile.c", JobResult(0, self.warning.format(7, "a"), 1.0)
        made.variants = {PLAIN: Ready()}
        results = (warned, warned, JobResult(1, "error", 1.0), warned, JobResult(0, "", 1.0), warned)
        seen = [made.steps({job: result})[0].status for result in results]
        self.assertEqual(seen, [WARN, PASS, FAIL, PASS, PASS, WARN])

    def test_configuration_that_breaks(self) -> None:
        printed = {"no SWAP mm/memory.c": (1, "/o/checks/tree/mm/memory.c:1:1: error: x\n")}
        found = self.steps(printed)
        self.assertEqual((found[CONFIGURATIONS].status, found[CONFIGURATIONS].summary),
                         (FAIL, "1 of 1 compilation failed: no SWAP mm/memory.c"))
        before = {"no SWAP mm/memory.c": messages("mm/memory.c:1:1: error: x", Path("/o"))}
        self.assertEqual(self.steps(printed, before, {"no SWAP mm/memory.c"})[CONFIGURATIONS].status, PASS)

    def test_configuration_that_is_gone(self) -> None:
        printed = {"W=1 (make)": (0, ""), "no SWAP (make)": (1, "mm/Makefile:9: *** no")}
        found = self.steps(printed, lacking="reported once")
        self.assertEqual((found[CONFIGURATIONS].status, found[CONFIGURATIONS].summary),
                         (FAIL, "no SWAP: can no longer be configured: mm/Makefile:9: *** no"))
        self.assertEqual(found[CONFIGURATIONS].details, [])
        self.assertEqual(found[W1].status, PASS)
        found = self.steps({**printed, "no ZSWAP mm/a.c": (1, "error")})[CONFIGURATIONS]
        self.assertIn("; 1 of 1 compilation failed", found.summary)

    def test_killed_by_the_sandbox(self) -> None:
        found = self.steps({"no SWAP mm/memory.c": (1, f"{KILLED}it took 9.9 GB of memory")})
        self.assertEqual((found[CONFIGURATIONS].status, found[CONFIGURATIONS].cell, found[CONFIGURATIONS].summary),
                         (FAIL, "killed", "killed: it took 9.9 GB of memory"))

    def test_warning_of_all_configurations_is_reported_once(self) -> None:
        printed = {name: (0, self.warning.format(9, "b")) for name in ("W=1 mm/swapfile.c", "no ZSWAP mm/swapfile.c")}
        found = self.steps(printed)
        self.assertEqual((found[W1].status, found[CONFIGURATIONS].status), (WARN, PASS))

    def test_what_was_not_checked_is_named(self) -> None:
        found = self.steps({"no ZSWAP mm/swapfile.c": (0, "")}, lacking="cannot be", no_sparse="too old")
        self.assertIn("no SWAP: cannot be", found[CONFIGURATIONS].summary)
        self.assertEqual((found[SPARSE].status, found[SPARSE].summary), (SKIP, "too old"))


class ChangedLines(Scratch):
    """Which patch a line comes from, and whether the suites reach it."""

    def test_inherited(self) -> None:
        self.assertEqual(changed_lines.inherited(["a", "b", "c"], ["a", "x", "b", "c"], [0, 1, 0], 2), [0, 2, 1, 0])
        self.assertEqual(changed_lines.inherited(["a", "b"], ["b"], [1, 0], 2), [0])

    def test_owners(self) -> None:
        kernel = make_kernel(self.top / "linux")
        git(kernel, "init", "-q")
        git(kernel, "add", "-f", ".")
        git(kernel, "commit", "-qm", "base")
        for number, text in enumerate(("int a;\nint swapfile;\n", "int a;\nint b;\nint swapfile;\n")):
            (kernel / "mm/swapfile.c").write_text(text)
            git(kernel, "commit", "-qam", f"step {number}")
        git(kernel, "format-patch", "-q", "-2", "-o", str(self.top / "series"))
        git(kernel, "checkout", "-q", "HEAD~2")
        owned = changed_lines.owners(kernel, sorted((self.top / "series").iterdir()), self.top / "last")
        self.assertEqual(owned, {"mm/swapfile.c": [1, 2, 0]})
        self.assertEqual((self.top / "last/mm/swapfile.c").read_text(), "int a;\nint b;\nint swapfile;\n")

    def test_step(self) -> None:
        write(self.top / "mm/swapfile.c", "int a;\n\tb();\n\tc();\nlast\n")
        found = changed_lines.Reached({"mm/swapfile.c": {2: 5, 3: 0, 4: 0}})
        step = changed_lines.step_of(1, ["mm/swapfile.c"], {"mm/swapfile.c": [1, 1, 1, 2]}, found, self.top, [])
        self.assertEqual((step.status, step.cell, step.findings), (WARN, "1/2", [
            Finding(WARN, "1 changed line of 2 not reached", ["mm/swapfile.c:3: c();"])]))
        step = changed_lines.step_of(1, ["mm/vmscan.c"], {}, found, self.top, [])
        self.assertEqual(step.status, SKIP)
        step = changed_lines.step_of(3, ["mm/swapfile.c"], {"mm/swapfile.c": [1, 1, 1, 2]}, found, self.top, [])
        self.assertEqual(step.status, PASS)

    def test_code_that_is_not_compiled(self) -> None:
        write(self.top / "mm/swapfile.c", "int a(void)\n{\n\treturn 1;\n}\n\nint b(void)\n{\n\treturn 2;\n}\n")
        found = changed_lines.Reached({"mm/swapfile.c": {1: 1, 3: 1}})
        touched, owned = ["mm/swapfile.c"], {"mm/swapfile.c": [0, 0, 1, 0, 0, 0, 0, 0, 0]}
        step = changed_lines.step_of(1, touched, owned, found, self.top, [])
        self.assertEqual(step.status, PASS)
        owned = {"mm/swapfile.c": [0, 0, 0, 0, 0, 0, 0, 1, 0]}
        step = changed_lines.step_of(1, touched, owned, found, self.top, [])
        self.assertEqual(step.findings, [Finding(WARN, "1 changed function not compiled, or never called",
                                                 ["mm/swapfile.c: b()"])])

    def test_file_that_no_configuration_compiles(self) -> None:
        step = changed_lines.step_of(1, ["mm/nommu.c"], {}, changed_lines.Reached(), self.top, ["mm/nommu.c"])
        self.assertEqual((step.cell, step.findings),
                         ("none", [Finding(WARN, "mm/nommu.c is not compiled in any configuration tried")]))

    def test_conditions_that_go_one_way_only(self) -> None:
        write(self.top / "mm/swapfile.c", PROGRAM)
        subprocess.run(["gcc", "-O2", "--coverage", "-o", "a", "mm/swapfile.c"], cwd=self.top, check=True)
        subprocess.run(["./a"], cwd=self.top, check=True)
        next(self.top.glob("*.gcda")).rename(self.top / "swapfile.gcda")
        next(self.top.glob("*.gcno")).rename(self.top / "swapfile.gcno")
        counts = counters.read_counts(self.top, counters.Tools())["mm/swapfile.c"]
        wanted = {number: line.partition("/* ")[2].partition(" */")[0]
                  for number, line in enumerate(PROGRAM.splitlines(), 1)}
        source = [line.partition(" /* ")[0] for line in PROGRAM.splitlines()]
        found = {number: changed_lines.one_way(source, number, counts.lines, counts.branches)
                 for number in wanted}
        self.assertEqual(found, wanted)
        reached = changed_lines.Reached({"mm/swapfile.c": counts.lines}, {"mm/swapfile.c": counts.branches})
        line = next(number for number, way in wanted.items() if way == "never true")
        owned = {"mm/swapfile.c": [number == line for number in wanted]}
        step = changed_lines.step_of(1, ["mm/swapfile.c"], owned, reached, self.top, [])
        self.assertEqual((step.status, step.cell, step.findings[0].text),
                         (WARN, "1/1", "1 changed condition only ever one way"), "its line is reached")
        line = PROGRAM.splitlines().index("\tif (zero || /* goes only one way */") + 1
        self.assertEqual(changed_lines.condition_of(source, line), " in: if (zero || x > 100)")
        self.assertEqual([changed_lines.condition_of(source, line + more) for more in (1, -1)],
                         [" in: if (zero || x > 100)", ""])

    def test_files_that_a_series_adds(self) -> None:
        diff = "--- /dev/null\n+++ b/mm/{}\n@@ -0,0 +1 @@\n+int a;\n"
        patches = [Patch(1, 1, 1, "x", "A", "", diff.format(name), self.top / "p", [], "", "")
                   for name in ("swap_tier.c", "damon/a.c", "swap_table.h")]
        self.assertEqual(changed_lines.added(patches), ["mm/swap_tier.c"])
        watched = (*counters.WATCHED, "mm/swap_tier.c")
        self.assertEqual(counters.watched_name("/x/tree/mm/swap_tier.c", watched), "mm/swap_tier.c")
        self.assertIsNone(counters.watched_name("/x/tree/mm/swap_tier.c"))
        kernel = make_kernel(self.top / "linux")
        write(self.top / "1.patch", "diff --git a/mm/swap_tier.c b/mm/swap_tier.c\nnew file mode 100644\n"
              + diff.format("swap_tier.c"))
        owned = changed_lines.owners(kernel, [self.top / "1.patch"], self.top / "last", watched)
        self.assertEqual(owned, {"mm/swap_tier.c": [1]})
        found = changed_lines.Reached({"mm/swap_tier.c": {1: 0}})
        step = changed_lines.step_of(1, ["mm/swap_tier.c"], owned, found, self.top / "last", [])
        self.assertEqual((step.status, step.cell), (WARN, "0/1"))


if __name__ == "__main__":
    import unittest
    unittest.main()
