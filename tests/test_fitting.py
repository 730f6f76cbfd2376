# SPDX-License-Identifier: GPL-2.0
"""What goes from this project's code where a tree does not fit."""
from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import unittest
from unittest import mock

from swapkunit.base.errors import SwapKunitError
from swapkunit.base.layout import REPO, Layout
from swapkunit.build import fit
from swapkunit.build.fitting import Complaint, Misfit, OwnCode, Source, cases_in, complaints
from swapkunit.build.overlay import FITTED
from swapkunit.cli.verbs import doctor

from .support import Scratch, write

FIXTURE = """#include <linux/swap.h>
#include "a.h"

/* A comment; with { and "quotes. */
static const char * const names[] = {
	"one",
	[2] = "two",	/* } */
	{ .a = 1,
	  .b = gone },
};

#if SWAP_API_NEW
int reset(void)
#else
int reset(int old)
#endif
{
#if SWAP_API_NEW
	if (new_one()) {
#else
	if (old_one(old)) {
#endif
		return 1;
	}
	return '{';
}

void after(void)
{
	reset();
}
"""
HEADER = "struct x;\n__printf(1, 2)\nint reset(const char *fmt,\n\t  int more);\nvoid after(void);\n"
SUITE = """static void reads(struct kunit *test)
{
	after();
}

static void writes(struct kunit *test)
{
}

static struct kunit_case swap_x_cases[] = {
	KUNIT_CASE(reads),
	KUNIT_CASE_PARAM(writes, x_gen_params),
	{}
};

SWAP_KUNIT_SUITE(swap_x, swap_x_cases);
"""


class Dropping(unittest.TestCase):
    """The smallest thing around a line."""

    def left(self, line: int) -> str:
        """What is left of FIXTURE, without empty lines; all others keep their numbers."""
        source = Source(FIXTURE)
        source.drop(line)
        for before, after in zip(FIXTURE.split("\n"), source.lines, strict=True):
            self.assertIn(after, (before, ""))
        return "\n".join(filter(None, source.lines))

    def test_function_with_two_heads(self) -> None:
        left = self.left(19)
        self.assertNotIn("reset(void)", left)
        self.assertNotIn("return", left)
        self.assertEqual(left.count("#"), FIXTURE.count("#"))
        self.assertIn("void after(void)", left)

    def test_element(self) -> None:
        self.assertNotIn(".a = 1", self.left(9))
        self.assertIn('"one"', self.left(9))
        self.assertNotIn('"one"', self.left(6))
        self.assertIn("[2]", self.left(6))

    def test_include_and_nothing(self) -> None:
        self.assertNotIn("a.h", self.left(2))
        self.assertIsNone(Source(FIXTURE).drop(3))
        self.assertIsNone(Source(FIXTURE).drop(12))

    def test_names(self) -> None:
        self.assertEqual([item.name for item in Source(FIXTURE).items], ["names", "reset", "after"])
        self.assertEqual([item.name for item in Source(HEADER).items], ["x", "reset", "after"])
        self.assertEqual(Source("extern const struct a SWAP_B;\n").items[0].name, "SWAP_B")
        self.assertEqual(Source("SWAP_PARAMS(lack, lacks);\n").items[0].name, "")

    def test_call_of_a_macro_takes_no_other_with_it(self) -> None:
        own = OwnCode.of({f"mm/kunit/{name}.c": f"SWAP_PARAMS({name}, {name}s);\n" for name in "ab"})
        own.leave_out([Complaint("mm/kunit/a.c", 1, "'as' undeclared")], {}, True)
        self.assertEqual(list(own.changed()), ["mm/kunit/a.c"])

    def test_files_of_the_project(self) -> None:
        for path in [*REPO.glob("kunit/*/*.[ch]"), *REPO.glob("mm/*.[ch]")]:
            with self.subTest(path.name):
                source = Source(path.read_text())
                for one in source.items:
                    self.assertLess(one.last - one.first, 150, source.lines[one.first])
                if path.name.endswith("_kunit.c"):
                    bodies = re.findall(r"^static void (\w+)\(struct kunit \*test\)$", source.text, re.M)
                    cases = [case.split(".")[1] for case in cases_in(source.text)]
                    self.assertTrue(cases)
                    self.assertLessEqual(set(cases), set(bodies))
                    called = re.findall(r"\b(\w+)\(test\)", source.text)
                    self.assertLessEqual(set(bodies) - set(called), set(cases), "cases that are not counted")


class Leaving(unittest.TestCase):
    """From error to error."""

    def setUp(self) -> None:
        self.own = OwnCode.of({"mm/kunit/a.c": FIXTURE, "mm/kunit/a.h": HEADER, "mm/kunit/s.c": SUITE,
                               "mm/seams.h": "#define charge(x, ...) \\\n\t(fail() ? -1 : \\\n\t charge(x))\nint y;\n"})

    def test_from_accessor_to_case(self) -> None:
        steps = [("mm/kunit/a.c", 19, "implicit declaration of function 'new_one'"),
                 ("mm/kunit/a.c", 30, "implicit declaration of function 'reset'"),
                 ("mm/kunit/s.c", 3, "implicit declaration of function 'after'"),
                 ("mm/kunit/s.c", 11, "'reads' undeclared here (not in a function)")]
        for number, (file, line, text) in enumerate(steps):
            self.assertTrue(self.own.leave_out([Complaint(file, line, text)], {}, not number), text)
        self.assertEqual(self.own.cases(), (["swap_x.reads", "swap_x.writes"], ["swap_x.reads"]))
        self.assertEqual([(one.symbol, one.line) for one in self.own.misfits], [("new_one", 19)])
        self.assertEqual(self.own.changed()["mm/kunit/a.h"].split(), ["struct", "x;"])

    def test_which_misfit_took_a_case(self) -> None:
        for cause, *found in ((True, ("mm/kunit/a.c", 9, "'gone' undeclared"),
                               ("mm/kunit/a.c", 19, "implicit declaration of function 'new_one'")),
                              (False, ("mm/kunit/a.c", 30, "implicit declaration of function 'reset'")),
                              (False, ("mm/kunit/s.c", 3, "implicit declaration of function 'after'")),
                              (False, ("mm/kunit/s.c", 11, "'reads' undeclared here (not in a function)"))):
            self.own.leave_out([Complaint(*one) for one in found], {}, cause)
        self.assertEqual(self.own.blamed["swap_x.reads"].symbol, "new_one")
        left_out = fit.LeftOut(self.own.misfits, 2, ["swap_x.reads"], {"swap_x.reads": 1})
        self.assertEqual(left_out.cause_of(["swap_x.reads"]),
                         "kunit/a.c:19: implicit declaration of function 'new_one'")
        self.assertRegex(left_out.cause_of(["swap_x.writes"]), "^perhaps kunit/a.c:9: .*; kunit/a.c:19: ")

    def test_suite_goes_with_its_cases(self) -> None:
        self.own.leave_out([Complaint("mm/kunit/s.c", 16, "x")], {}, True)
        self.assertEqual(self.own.cases()[1], ["swap_x.reads", "swap_x.writes"])

    def test_suites_that_a_step_is_for(self) -> None:
        steps = "static void (* const steps[])(void) = {\n\tone,\n\ttwo,\t/* for: swap_[xy] swap_z */\n};\n"
        own = OwnCode.of({"a.c": steps, "s.c": SUITE})
        own.leave_out([Complaint("a.c", 2, "x")], {}, True)
        self.assertEqual(own.cases()[1], [])
        own.leave_out([Complaint("a.c", 3, "x")], {}, True)
        self.assertEqual(own.cases()[1], ["swap_x.reads", "swap_x.writes"])

    def test_all_calls_of_a_function_go_at_once(self) -> None:
        text = "".join(f"void f{number}(void)\n{{\n\tgone();\n}}\n" for number in range(3))
        own = OwnCode.of({"a.c": text})
        self.assertTrue(own.leave_out([Complaint("a.c", 3, "implicit declaration of function 'gone'")], {}, True))
        self.assertEqual(own.changed()["a.c"].split(), [])

    def test_error_of_the_kernel_itself(self) -> None:
        found = [Complaint("mm/swapfile_real.c", 7, "expected ';'"), Complaint("mm/kunit/s.c", 3, "x")]
        self.assertFalse(self.own.leave_out(found, {("mm/swapfile_real.c", 7): "int a"}, True))
        self.assertEqual(self.own.changed(), {})

    def test_seam(self) -> None:
        error = Complaint("mm/swapfile_real.c", 7, "too many arguments to function 'charge'")
        self.assertFalse(self.own.leave_out([error], {("mm/swapfile_real.c", 7): "int a = other(b);"}, True))
        self.assertTrue(self.own.leave_out([error], {("mm/swapfile_real.c", 7): "err = charge(folio);"}, True))
        self.assertEqual(self.own.changed()["mm/seams.h"], "\n\n\nint y;\n")

    def test_a_seam_goes_with_the_cases_that_expect_it(self) -> None:
        suite = "".join(f"static void {name}(struct kunit *test)\n{{\n\t{body}\n}}\n" for name, body in {
            "allocates": 'SWAP_EXPECT_DECISIONS(test, area, "a/A0:0+20 R1:5");', "reads": 'EXPECT("R0:0 W0:1");',
            "counts": "KUNIT_EXPECT_EQ(test, swap_decisions_count(area, SWAP_ALLOC), 8U);",
            "fails": "swap_fail(test, SWAP_FAIL_CHARGE, 1, 1);", "loads": 'EXPECT("L0:%u", 3);'}.items())
        seams = ("static int seam_take(struct folio *folio)\n{\n\tswap_seam_allocated(folio->swap, 1);\n}\n"
                 "#define take(folio) seam_take(folio)\n"
                 "#define charge(folio) \\\n\t(swap_seam_fail(SWAP_FAIL_CHARGE) ? -ENOMEM : charge(folio))\n"
                 "#if SWAP_API_ZSWAP\n#else\n#error \"not seen: swap_seam_zswap_loaded\"\n#endif\n")
        for line, lost in (("take(a, b);", {"allocates", "counts"}), ("err = charge(a, b);", {"fails"}),
                           ("", {"loads"})):
            own = OwnCode.of({"mm/swapfile.c": seams, "mm/kunit/suites/x_kunit.c": suite})
            error = (Complaint("mm/swapfile_real.c", 7, "macro passed 2 arguments") if line else
                     Complaint("mm/swapfile.c", 10, '#error "not seen: swap_seam_zswap_loaded"'))
            self.assertTrue(own.leave_out([error], {("mm/swapfile_real.c", 7): line}, True))
            left = own.files["mm/kunit/suites/x_kunit.c"].text
            self.assertEqual({name for name in ("allocates", "reads", "counts", "fails", "loads") if name not in left},
                             lost)

    def test_what_the_compiler_says(self) -> None:
        output = ("../mm/a.c:3:7: error: 'struct s' has no member named 'count'; did you mean 'counts'?\n"
                  "../mm/a.c:3:7: error: 'struct s' has no member named 'count'; did you mean 'counts'?\n"
                  "mm/b.h:9: fatal error: linux/x.h: No such file or directory\n"
                  "mm/b.c:4:1: warning: 'f' defined but not used [-Wunused-function]\n")
        self.assertEqual(complaints(output)[0].symbol, "count")
        self.assertEqual([(one.file, one.line) for one in complaints(output)], [("../mm/a.c", 3), ("mm/b.h", 9)])


class Linking(Scratch):
    """A linker's complaint."""

    def test_helper_that_goes_is_no_misfit_of_its_own(self) -> None:
        layout = Layout(self.top / "out", own=self.top / "own")
        text = "int helper(void)\n{\n\treturn gone();\n}\n\nint user(void)\n{\n\treturn helper();\n}\n"
        write(layout.own / "mm/a.h", text)      # any file of this project
        write(layout.build / fit.PROBED, "{}")
        with mock.patch.object(fit.Fitting, "_units", return_value=["mm/a.c"]), \
                mock.patch.object(fit.Fitting, "_record"), \
                mock.patch.object(fit.Fitting, "_compile", side_effect=[
                    "mm/a.c:8:9: error: implicit declaration of function 'helper'\n", ""] + [""] * 3):
            write(layout.tree / "mm/a.h", text)
            fitting = fit.Fitting(layout, 1)
            fitting.own.files["mm/a.c"] = fitting.own.files.pop("mm/a.h")
            fitting.originals["mm/a.c"] = fitting.originals.pop("mm/a.h")
            (layout.tree / "mm/a.c").symlink_to(fitting.originals["mm/a.c"])
            self.assertTrue(fitting.unresolved("in function `helper':\na.c:3: undefined reference to `gone'\n"))
        self.assertEqual([one.symbol for one in fitting.own.misfits], ["gone"])
        self.assertEqual(fitting.own.files["mm/a.c"].text.split(), [])


class Hints(Scratch):
    """What the tree has in the place of what is missed."""

    def test_only_what_the_name_stands_for(self) -> None:
        write(self.top / "include/linux/a.h", "struct other {\n\tint users;\n};\nstruct area *area_of(int nr);\n"
              "struct area {\n\tint flags;\n};\nint read_it(int nr,\n\t    int users);\n#define HAS_IT 1\n"
              "int all = 3;\n")
        for text, symbol, there in (
                ("'struct area' has no member named 'users'", "users", "no users in include/linux/a.h:5: struct area"),
                ("'struct gone' has no member named 'users'", "users", "no users in struct gone"),
                ("'area_t' {aka 'struct area'} has no member named 'users'", "users",
                 "no users in include/linux/a.h:5: struct area"),
                ("'users' undeclared (first use in this function)", "users", "no users"),
                ("too few arguments to function 'read_it'", "read_it", "include/linux/a.h:8: int read_it(int nr,"),
                ("'HAS_IT' redefined", "HAS_IT", "include/linux/a.h:10: #define HAS_IT 1"),
                ("conflicting types for 'all'", "all", "include/linux/a.h:11: int all = 3;"),
                ("invalid use of undefined type 'struct area'", "area", "include/linux/a.h:5: struct area {")):
            self.assertEqual(fit.misfit_lines(self.top, fit.LeftOut([Misfit("mm/a.c", 3, text, symbol)])),
                             [f"mm/a.c:3: {text}", f"    the tree has {there}"])


class Doctor(Scratch):
    """What the verb prints."""

    def test_verdict_comes_first(self) -> None:
        layout = Layout(self.top / "out")
        layout.make()
        write(layout.build / "mm/swap_api.h", "".join(f"#define SWAP_API_SHAPE_{nr} 1\n" for nr in range(40)))
        for lost, verdict in ((["swap_x.reads"], "1 of 9 cases would not be built, for 1 misfit"),
                              ([], "no misfits: all of this project's code compiles")):
            found = fit.LeftOut([Misfit("mm/a.c", 3, "no x", "")] if lost else [], 9, lost)
            with mock.patch.object(doctor, "open_session", return_value=mock.MagicMock(layout=layout)), \
                    mock.patch.object(doctor, "left_out", return_value=found), \
                    mock.patch.object(doctor.mechanisms, "table", return_value="mechanisms"), \
                    mock.patch.object(doctor.mechanisms, "find", return_value=[
                        doctor.mechanisms.Mechanism(name, name < "C", "") for name in "ABC"]):
                for whole in (True, False):
                    with contextlib.redirect_stdout(io.StringIO()) as said:
                        self.assertEqual(doctor.doctor(argparse.Namespace(policy=[], verbose=whole)), int(bool(lost)))
                    lines = said.getvalue().splitlines()
                    self.assertEqual(lines[1], verdict)
                    self.assertEqual("mechanisms" in lines, whole)
                    self.assertEqual(any(line.startswith("mechanisms: 2 of 3") for line in lines), not whole)
                    self.assertRegex(said.getvalue(), "(Shapes are|40 of 40,) forms of kernel functions")
                    self.assertLessEqual(max(map(len, lines)), doctor.WIDTH)


class Forgetting(Scratch):
    """What was left out is tried again when something that the compiler read has changed."""

    def test_any_file_that_was_read_counts(self) -> None:
        layout = Layout(self.top)
        for name in ("mm/x.c", "include/linux/x.h", "include/linux/sched/x.h", "include/kunit/x.h",
                     "arch/um/include/x.h", "include/linux/unread.h"):
            write(layout.tree / name, "")
        read = ["arch/um/include/x.h", "include/linux/x.h"]

        def left_out() -> list[str]:
            write(layout.tree / FITTED / "mm/zswap.c", "")
            write(layout.tree / fit.RECORD, json.dumps({"key": fit.key(layout, read), "read": read}))
            return fit.forget_when_changed(layout)
        self.assertEqual(left_out(), [])
        (layout.tree / "include/linux/unread.h").write_text("int edited;")
        self.assertEqual(fit.forget_when_changed(layout), [])
        for name in ("arch/um/include/x.h", "include/linux/x.h", "include/linux/new.h"):
            self.assertEqual(left_out(), [])
            (layout.tree / name).write_text("int edited;")
            self.assertEqual(fit.forget_when_changed(layout), ["mm/zswap.c"], name)


class Authors(Scratch):
    """A suite that does not compile for its author's fault is no misfit of the kernel."""

    def blamed(self, *texts: str, file: str = "mm/kunit/suites/swap_new_kunit.c", edited: str = "") -> str:
        """The error's message; "" for none."""
        layout = Layout(self.top)
        write(layout.tree / "include/linux/swap.h", "int of_the_kernel(void);\n")
        write(layout.tree / "mm/kunit/fixture/swap_area.h", "")
        fitting = fit.Fitting(layout, 1)
        found = [Complaint(file, 7, text) for text in texts]
        fitting.own.misfits = [Misfit(one.file, one.line, one.text, one.symbol) for one in found]
        with mock.patch("swapkunit.base.git.bytes_of", return_value=edited.encode()), \
                mock.patch("swapkunit.source.kernels.cached", return_value=[]), \
                contextlib.redirect_stderr(io.StringIO()) as said:
            try:
                fitting._raise_for_authors(found)       # pylint: disable=protected-access
            except SwapKunitError as error:
                self.assertRegex(said.getvalue(), r"(^|/)kunit/suites/swap_new_kunit.c:7: error: ")
                return str(error)
        return ""

    def test_whose_error_it_is(self) -> None:
        typo, kernel = "implicit declaration of function 'nobodys'", "too few arguments to function 'of_the_kernel'"
        semicolon, ours = "expected ';' before 'of_the_kernel'", "too few arguments to function 'swap_area_on'"
        for text in (typo, semicolon, ours):
            self.assertIn("kunit/suites/swap_new_kunit.c:7 does not compile, and nothing in that is the kernel's",
                          self.blamed(text))
        self.assertEqual(self.blamed(kernel), "")
        self.assertEqual(self.blamed(kernel, semicolon), "")
        self.assertEqual(self.blamed(typo, file="mm/kunit/fixture/swap_area.c"), "")
        self.assertIn("has changes that are not committed",
                      self.blamed(kernel, edited=" M kunit/suites/swap_new_kunit.c\n"))


if __name__ == "__main__":
    unittest.main()
