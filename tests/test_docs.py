# SPDX-License-Identifier: GPL-2.0
"""README.rst and docs/: valid, complete, and true to the files they speak of."""
from __future__ import annotations

import io
import re
import runpy
import textwrap
import unittest

from swapkunit.cli.verbs import VERBS

from .support import REPO

try:
    from docutils.core import publish_doctree
except ImportError:
    publish_doctree = None

PAGES = (REPO / "README.rst", *sorted((REPO / "docs").glob("*.rst")))
README_LINES = 150
EXAMPLE = REPO / "kunit/suites/swap_example_kunit.c"
TOPS = tuple(f"{path.name}/" for path in REPO.iterdir() if path.is_dir() and path.name not in (".git", "out"))
# Of a kernel tree, or made by a run.
NOT_OURS = re.compile(r"mm/(kunit|\w+_real\.c|swap_api\.h)|tools/.*|coverage/html|.*[<*].*|.*[A-Z]{4}.*")


def page(name: str) -> str:
    """The text of a page of docs/."""
    return (REPO / "docs" / name).read_text()


def literals(text: str) -> list[str]:
    """What stands in double backticks."""
    return re.findall(r"``(.+?)``", text)


def blocks(text: str) -> list[str]:
    """The literal blocks, which are indented by a tab."""
    return [textwrap.dedent(found).strip("\n") for found in re.findall(r"::\n\n((?:\t.*\n|\n)+)", text)]


class Pages(unittest.TestCase):
    """All of them."""

    @unittest.skipUnless(publish_doctree, "docutils is not installed (Debian: python3-docutils)")
    def test_every_page_parses_without_a_word(self) -> None:
        for path in PAGES:
            said = io.StringIO()
            publish_doctree(path.read_text(), source_path=str(path), settings_overrides={
                "report_level": 1, "halt_level": 5, "warning_stream": said})
            self.assertEqual(said.getvalue(), "")

    def test_readme_is_short(self) -> None:
        self.assertLessEqual(len((REPO / "README.rst").read_text().splitlines()), README_LINES)

    def test_files_that_are_named_exist(self) -> None:
        for path in PAGES:
            names = [word.split(":")[0] for word in literals(path.read_text()) if " " not in word]
            self.assertEqual([name for name in names if name.startswith(TOPS) and not NOT_OURS.fullmatch(name)
                              and not (REPO / name).exists()], [], path.name)

    def test_links_lead_to_pages_and_sections(self) -> None:
        for path in PAGES:
            for target in re.findall(r"<([^<>\s]+\.rst(?:#[\w-]+)?)>`__", path.read_text()):
                name, _, section = target.partition("#")
                text = (path.parent / name).read_text()
                titles = [re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") for title in
                          re.findall(r"^(\S.*)\n[=-]{3,}$", text, re.M)]
                self.assertIn(section, ["", *titles], f"{path.name}: {target}")


class Verbs(unittest.TestCase):
    """docs/verbs.rst and README.rst against the table of options and .ci/run."""

    def test_every_verb_and_exit_status(self) -> None:
        statuses = {status for verb in VERBS.values() for status in verb.statuses}
        self.assertEqual([name for name in VERBS if f"\n``{name}``\n" not in page("verbs.rst")], [])
        self.assertEqual([status for status in statuses if f"\n{status} " not in page("verbs.rst")], [])

    def test_every_variable_option_and_fragment(self) -> None:
        options = [option for verb in VERBS.values() for option in verb.every_option]
        variables = {variable for option in options for variable in option.variables}
        self.assertEqual(set(re.findall(r"``([A-Z_]+)=", page("verbs.rst"))) - {"PYTHON"}, variables)
        words = re.split(r"[^\w-]+", " ".join(literals(page("verbs.rst"))))
        names = [flag for option in options for flag in option.flags if flag.startswith("--")]
        names += [path.stem for path in (REPO / "configs").glob("*.config")]
        self.assertEqual([name for name in names if name not in words], [])

    def test_readme_names_every_verb_and_what_ci_runs(self) -> None:
        text, script = (REPO / "README.rst").read_text(), (REPO / ".ci/run").read_text()
        self.assertEqual([name for name in VERBS if name not in literals(text)], [])
        runs = next(block for block in blocks(text) if "make coverage" in block).splitlines()
        self.assertEqual([line for line in runs if line.removeprefix("make ") not in script], [])


class Packages(unittest.TestCase):
    """docs/how-it-works.rst against swapkunit/."""

    def test_every_package(self) -> None:
        packages = [path.stem for path in (REPO / "swapkunit").iterdir() if path.name[0] != "_"]
        self.assertEqual([name for name in packages if f"\n``{name}`` " not in page("how-it-works.rst")], [])


class Suites(unittest.TestCase):
    """docs/writing-a-suite.rst and docs/rules.rst against kunit/ and mm/."""

    def test_listings_are_the_example(self) -> None:
        text = EXAMPLE.read_text()
        listed = [block for block in blocks(page("writing-a-suite.rst")) if block in text]
        self.assertEqual("\n\n".join(listed) + "\n", text)

    def test_every_header_and_disk_of_the_fixture(self) -> None:
        named, fixture = literals(page("writing-a-suite.rst")), REPO / "kunit/fixture"
        names = re.findall(r"extern const struct fake_disk_profile (\w+);", (fixture / "fake_disk.h").read_text())
        names += [path.name for path in fixture.glob("*.h")]
        self.assertEqual([name for name in names if name not in named], [])

    def test_functions_and_macros_that_are_named_exist(self) -> None:
        tops = (REPO / "kunit", REPO / "kunit/fixture", REPO / "mm")
        sources = [path.read_text() for top in tops for path in top.glob("*.[hp]*")]
        known = {*re.findall(r"\w+", " ".join(sources)), "SWAP_API_NAME"}
        words = " ".join(literals(page("writing-a-suite.rst") + page("rules.rst")))
        named = re.findall(r"\b(?:[a-z]\w+(?=\(\))|(?:SWAP|FAKE|USER)_[A-Z_]*[A-Z])\b", words)
        self.assertEqual([name for name in named if name not in known], [])

    def test_every_suite(self) -> None:
        suites = [path.name.removesuffix("_kunit.c") for path in (REPO / "kunit/suites").glob("*_kunit.c")]
        self.assertEqual([name for name in suites if f"\n``{name}`` " not in page("rules.rst")], [])

    def test_invariants_are_those_that_are_checked(self) -> None:
        rules = re.findall(r"\n\n([^\s`].*)\n\t", page("rules.rst").partition("\nThe four")[0])[:-1]
        checked = "".join(path.read_text().lower() for path in (REPO / "kunit/fixture").glob("*.c"))
        self.assertGreaterEqual(len(rules), 4)
        self.assertEqual([rule for rule in rules if rule.lower() not in checked], [])

    def test_mechanisms_that_are_named_exist(self) -> None:
        known = [entry.name for entry in runpy.run_path(str(REPO / "kunit/mechanisms.py"))["MECHANISMS"]]
        named = literals(" ".join(re.findall(r":Mechanisms: (.*)", page("rules.rst"))))
        self.assertEqual([name for name in named if name not in known], [])

    def test_titles_of_fixes_are_quoted_in_their_suites(self) -> None:
        for names, title in re.findall(r"^\* (``swap_\w+``.*): \"(.*)\"$", page("rules.rst"), re.M):
            for suite in literals(names):
                text = re.sub(r"\s*\n \* ?", " ", (REPO / f"kunit/suites/{suite}_kunit.c").read_text())
                self.assertTrue(title in text, f"{suite}: {title}")


if __name__ == "__main__":
    unittest.main()
