# SPDX-License-Identifier: GPL-2.0
"""The linters that this project's own files must pass: the kernel's for C, mypy, pylint, shellcheck and docutils.

checkpatch and kernel-doc are those of the default kernel.
"""
from __future__ import annotations

import fnmatch
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from .base import commands, deps, git
from .base.layout import REPO, default_top

NEEDED = {"git": "git", "perl": "perl", "shellcheck": "shellcheck", "/usr/bin/mypy": "mypy",
          "/usr/bin/pylint": "pylint",
          "/usr/lib/python3/dist-packages/docutils/__init__.py": "python3-docutils",
          **deps.PAGES, **deps.MUTANTS}     # the last so that CI skips no test of mutants
RST = "import sys, docutils.core as core\n" \
      "for name in sys.argv[1:]:\n" \
      "    core.publish_file(source_path=name, destination_path='/dev/null', writer_name='null',\n" \
      "                      settings_overrides={'report_level': 1, 'halt_level': 5})\n"


@dataclass(frozen=True)
class Excuse:
    """Findings of checkpatch that are its own confusion, or that the kernel's rule does not mean.

    kind: of the finding; files: a glob; line: a pattern for the line it is about.
    """

    kind: str
    files: str
    line: str
    reason: str


EXCUSES: tuple[Excuse, ...] = (
    Excuse("SPACING", "kunit/fixture/*", r"typeof\(", "checkpatch takes the * after typeof(...) for a multiplication"),
    Excuse("COMPLEX_MACRO|MACRO_ARG_REUSE", "kunit/*", r"#define",
           "a list of initializers or parameters cannot be in parentheses; suites pass plain names"),
    Excuse("MACRO_ARG_UNUSED", "kunit/fixture/*.h", r"#define", "another form of the macro uses the argument"),
    Excuse("LONG_LINE_STRING", "*", r'"', "a message stays on one line, so that grep finds it"),
    Excuse("ALLOC_WITH_SIZEOF", "*", r"sizeof", "older kernels have no kmalloc_obj()"),
    Excuse("IN_ATOMIC", "kunit/*", r"in_atomic", "the tests ask in which context the swap code makes a call"),
    Excuse("YIELD", "kunit/suites/swap_reentry_kunit.c", r"yield", "the threads of a case take turns"),
    Excuse("NEW_TYPEDEFS", "kunit/fixture/fake_disk_compat.h", r"typedef", "the type is another one on older kernels"),
)
CHECKPATCH = re.compile(r"(?P<file>[^:]+):(?P<line>\d+): (?:ERROR|WARNING|CHECK):(?P<kind>\w+): ")


@dataclass(frozen=True)
class Linted:
    """What a linter printed of the project's files; status is its own."""

    name: str
    findings: list[str]
    status: int = 0

    @property
    def clean(self) -> bool:
        """Whether it found nothing, and came to its end."""
        return not self.findings and not self.status


def tracked(*patterns: str) -> list[str]:
    """The files of the project that match one of patterns, sorted; new ones count, ignored ones do not."""
    done = git.in_repository(REPO, "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate")
    return sorted(name for name in done.output.splitlines() if (REPO / name).is_file()
                  and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns))


def checkpatch(kernel: Path) -> Linted:
    """checkpatch.pl --strict on every C file; each of EXCUSES must still be needed."""
    done = run(["perl", kernel / "scripts/checkpatch.pl", "--no-tree", "--strict", "--terse", "--show-types", "--quiet",
                "-f", *tracked("kunit/*.[ch]", "mm/*.[ch]")])
    for cache in REPO.glob(".checkpatch-camelcase.*"):
        cache.unlink()
    found = [line for line in done.output.splitlines() if line.strip() and not line.startswith("total: ")]
    excuses = {line: excuse for line in found if (excuse := excuse_for(line))}
    return Linted("checkpatch", [line for line in found if line not in excuses]
                  + [f"no finding needs the excuse '{one.reason}'" for one in EXCUSES if one not in excuses.values()])


def excuse_for(finding: str) -> Excuse | None:
    """The one of EXCUSES that a finding of checkpatch falls under."""
    match = CHECKPATCH.match(finding)
    if not match:
        return None
    text = (REPO / match["file"]).read_text(encoding="utf-8").splitlines()[int(match["line"]) - 1]
    return next((one for one in EXCUSES if re.fullmatch(one.kind, match["kind"])
                 and fnmatch.fnmatchcase(match["file"], one.files) and re.search(one.line, text)), None)


def kernel_doc(kernel: Path) -> Linted:
    """kernel-doc's own warnings on every C file."""
    done = run([kernel / "scripts/kernel-doc", "-none", *tracked("kunit/*.[ch]", "mm/*.[ch]")])
    return Linted("kernel-doc", done.output.splitlines(), done.status)


def mypy() -> Linted:
    """Types, as pyproject.toml asks."""
    done = run(["/usr/bin/mypy", f"--cache-dir={default_top() / 'mypy'}", "--no-error-summary"])
    return Linted("mypy", done.output.splitlines(), done.status)


def pylint() -> Linted:
    """The rest of Python, as pyproject.toml asks."""
    done = run(["/usr/bin/pylint", "--score=n", "swapkunit", "swap-kunit", *tracked("kunit/*.py", "tests/*.py")])
    return Linted("pylint", [line for line in done.output.splitlines() if not line.startswith("***")], done.status)


def shellcheck() -> Linted:
    """Shell scripts."""
    done = run(["shellcheck", "-f", "gcc", *tracked("*.sh", "*.bash", ".ci/run")])
    return Linted("shellcheck", done.output.splitlines(), done.status)


def docutils() -> Linted:
    """The pages of the documentation."""
    done = run(["/usr/bin/python3", "-c", RST, *tracked("*.rst")])
    return Linted("docutils", done.output.splitlines(), done.status)


def run(command: list[str | Path]) -> commands.Finished:
    """Run a linter at the top of the project, and show its command without the files."""
    words = [str(word) for word in command]
    files = [word for word in words[1:] if not Path(word).is_absolute() and (REPO / word).is_file()]
    commands.show([*(word for word in words if word not in files), *(["..."] if files else [])], REPO)
    return commands.run(words, cwd=REPO, env=commands.kernel_environment())


def lint(kernel: Path) -> list[Linted]:
    """All linters, with the scripts of a kernel tree."""
    found = [checkpatch(kernel), kernel_doc(kernel), mypy(), pylint(), shellcheck(), docutils()]
    for one in found:
        for line in one.findings:
            print(f"{one.name}: {line}")
        if one.status and not one.findings:
            print(f"swap-kunit: {one.name} ended with status {one.status} and printed nothing", file=sys.stderr)
    return found
