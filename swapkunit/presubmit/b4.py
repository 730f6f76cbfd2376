# SPDX-License-Identifier: GPL-2.0
"""presubmit as a check command of b4, with one mail on stdin.

    [b4]
        review-perpatch-check-cmd = /path/to/swap-kunit b4-check
        review-series-check-cmd   = /path/to/swap-kunit b4-check --series
        prep-perpatch-check-cmd   = /path/to/swap-kunit b4-check --lines

b4 runs it at the top of the git tree. A review check prints a JSON list of {tool,
status, summary, url, details}; a prep check prints a line for each finding, ERROR: or
WARNING:, and nothing for a clean patch. If the patch is a commit (on b4's review branch
or on the branch being prepared), it is checked on top of its parents.
"""
from __future__ import annotations

import io
import json
import os
import re
import sys
import tempfile
import traceback
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Callable, Iterator

from ..base import deps, git
from ..base.errors import SwapKunitError, UnusableInput, explained
from ..base.kernel import read_version
from ..run.session import Request
from ..series import mails
from ..series.series import NEEDED, Patch, read_mail
from . import check
from .report import FAIL, NOTE, PASS, SKIP, WARN, PresubmitReport, Step
from .request import QUICK, CheckRequest

TOOL = "swap-kunit"
PREP_COVER = "--- b4-submit-tracking ---"
LARGEST = 8 << 20   # bytes of a mail
SEARCHED = 500      # commits of the branch to search for the mail's patch


@dataclass(frozen=True)
class Asked:
    """How b4 calls it. series: check the whole series; lines: print a line for each finding, not JSON."""

    run: Request
    series: bool = False
    lines: bool = False
    quick: bool = False
    sandbox: bool = True


@dataclass
class Result:
    """One entry of the JSON list."""

    status: str
    summary: str
    details: str = ""
    url: str = ""

    def to_json(self, tool: str) -> dict[str, str]:
        """For b4, without empty fields. b4 keeps one result of each tool for a mail."""
        found = {"tool": tool, "status": self.status, "summary": self.summary, "url": self.url,
                 "details": self.details}
        return {name: text for name, text in found.items() if text}


# -- where the mail's patch is ----------------------------------------------


def tracked_range(repository: Path) -> str:
    """The series under review as a range, from b4's tracking data; "" without such data."""
    try:
        tracking = json.loads(Path(os.environ["B4_TRACKING_FILE"]).read_text(encoding="utf-8"))["series"]
        first, change = tracking["first-patch-commit"], tracking["change-id"]
    except (KeyError, TypeError, OSError, ValueError):
        return ""
    # b4's own commit with the tracking data is the last one of the branch.
    ends = [commit_of(repository, f"{first}~1"), commit_of(repository, f"b4/review/{change}~1")]
    return "..".join(ends) if all(ends) else ""


def prepared_range(repository: Path) -> str:
    """The commits after the cover letter of b4 prep; "" if the branch has none."""
    cover = git.in_repository(repository, "log", "-1", "--format=%H", "--fixed-strings", f"--grep={PREP_COVER}",
                              recent(repository)).output.split()
    return f"{cover[0]}..HEAD" if cover else ""


def recent(repository: Path) -> str:
    """The last commits of the current branch: searching all of a kernel's history takes too long."""
    start = commit_of(repository, f"HEAD~{SEARCHED}")
    return f"{start}..HEAD" if start else "HEAD"


def commit_of(repository: Path, name: str) -> str:
    """The id of a named commit, or ""."""
    done = git.in_repository(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    return "" if done.status else done.output.strip()


def range_up_to(repository: Path, patch: Patch) -> str:
    """The range of the current branch that ends with this patch's commit; "" if it has no such commit."""
    whole = tracked_range(repository) or prepared_range(repository)
    for place in filter(None, (whole, recent(repository))):
        listed = git.in_repository(repository, "log", "--no-merges", "--format=%H %s", place)
        for line in listed.output.splitlines() if not listed.status else []:
            commit, _, subject = line.partition(" ")
            if words_of(subject) == words_of(patch.subject) and same_change(repository, commit, patch):
                return f"{place.partition('..')[0] if place == whole else f'{commit}~1'}..{commit}"
    return ""


def words_of(title: str) -> list[str]:
    """A title, for comparing a commit's with a mail's."""
    return title.casefold().split()


def same_change(repository: Path, commit: str, patch: Patch) -> bool:
    """Whether a commit adds and removes the same lines as a mail's patch."""
    shown = git.in_repository(repository, "show", "--format=", "--no-ext-diff", "--no-textconv", "--no-color", commit)
    return changes(shown.output) == changes(patch.diff)


def changes(diff: str) -> list[str]:
    """The lines a diff adds and removes."""
    return [line for line in diff.split("\n") if re.match(r"[-+](?![-+]{2} )", line)]


# -- checking ----------------------------------------------------------------


def request_for(asked: Asked, stream: BinaryIO, work: Path) -> CheckRequest | Result | None:
    """What to check for the mail on stream; a Result if there is nothing to check but a warning; or None."""
    deps.require(NEEDED)
    run = asked.run
    if run.ksrc is None and not run.kernel and read_version(Path.cwd()):
        run = replace(run, ksrc=Path.cwd())
    base = CheckRequest(run, depth=QUICK if asked.quick else "default", quiet=True, sandbox=asked.sandbox)
    mail = read_all(stream)
    tracked = tracked_range(run.ksrc) if run.ksrc else ""
    if asked.series and tracked:
        return replace(base, spec=tracked)
    if is_cover(mail):
        return Result(WARN, "not checked: only the cover letter was given; check out the series for review first") \
            if asked.series else None
    found = read_mail(io.BytesIO(mail), work)
    spec = range_up_to(run.ksrc, found.patches[-1]) if run.ksrc else ""
    return replace(base, spec=spec, last_only=not asked.series) if spec else replace(base, series=found)


def read_all(stream: BinaryIO) -> bytes:
    """The mail on stream, read to its end so that b4 can write all of it. Raises UnusableInput."""
    if stream.isatty():
        raise UnusableInput("cannot check a mail: stdin is a terminal; pipe a patch mail into it")
    mail = stream.read(LARGEST + 1)
    if len(mail) > LARGEST:
        while stream.read(1 << 20):
            pass
        raise UnusableInput(f"cannot check the mail on stdin: it is larger than {LARGEST >> 20} MiB; pipe a patch "
                            "mail into it")
    return mail


def is_cover(mail: bytes) -> bool:
    """Whether a mail is [PATCH 0/n], or has no diff at all."""
    with tempfile.TemporaryDirectory(prefix="swap-kunit-b4-") as work:
        found = mails.split(mail, "stdin", Path(work))
    return bool(mail.strip()) and not any(one.diff for one in found)


def results(report: PresubmitReport, whole: bool) -> list[Result]:
    """A report as one result for b4, about the patch or about the series."""
    steps = [step for patch in (report.patches if whole else report.patches[-1:]) for step in patch.steps]
    if not steps or all(step.status == SKIP for step in steps):
        return []
    found = [step for step in steps if step.status in (WARN, FAIL)]
    status = FAIL if any(step.status == FAIL for step in found) else WARN if found else PASS
    shown = "; ".join(dict.fromkeys(f"{step.name}: {step.summary}" for step in found))
    summary = shown or "passed: " + ", ".join(dict.fromkeys(step.name for step in steps if step.status in (PASS, NOTE)))
    details = [f"Linux {report.kernel}, {report.origin}", *report.notes]
    for step in steps:
        details += [f"{step.name}: {step.status}: {step.summary}", *(f"  {line}" for line in step.lines())]
    page = report.out / "report.html"
    return [Result(status, summary, "\n".join(details), page.as_uri() if page.exists() else "")]


def by_step(report: PresubmitReport) -> list[Result]:
    """A result for each step of the last patch: b4 prep shows each on a line of its own."""
    steps: list[Step] = report.patches[-1].steps if report.patches else []
    return [Result(step.status, f"{step.name}: {step.summary}") for step in steps]


def checked(asked: Asked, stream: BinaryIO) -> list[Result]:
    """The results for the mail on stream. Raises SwapKunitError."""
    with tempfile.TemporaryDirectory(prefix="swap-kunit-b4-") as work:
        request = request_for(asked, stream, Path(work))
        if request is None or isinstance(request, Result):
            return [request] if request else []
        report = check.check(request)
        return by_step(report) if asked.lines else results(report, asked.series)


def answer(asked: Asked, stream: BinaryIO) -> str:
    """The text to print for the mail on stream. If it could not be checked, that is a warning, not a failure."""
    try:
        found = checked(asked, stream)
    except UnusableInput as error:
        found = [Result(FAIL, str(error))]
    except SwapKunitError as error:
        found = [Result(WARN, f"not checked: {error}")]
    except OSError as error:
        found = [Result(WARN, f"not checked: {explained(error)}")]
    except Exception as error:      # b4 cannot parse a traceback  # pylint: disable=broad-exception-caught
        found = [Result(WARN, f"not checked: internal error, a bug of swap-kunit: {type(error).__name__}: {error}",
                        traceback.format_exc())]
    if asked.lines:
        kinds = {FAIL: "ERROR", WARN: "WARNING"}
        return "".join(f"{kinds[one.status]}: {' '.join(one.summary.split())}\n" for one in found
                       if one.status in kinds)
    return json.dumps([one.to_json(f"{TOOL} series" if asked.series else TOOL) for one in found], indent=1) + "\n"


@contextmanager
def only_answer() -> Iterator[Callable[[str], None]]:
    """Print only the answer. b4 takes other output for findings, so it is dropped, unless there is no answer."""
    sys.stdout.flush()
    sys.stderr.flush()
    streams = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        answers: list[str] = []
        try:
            yield answers.append
        except Exception:
            traceback.print_exc()
            raise
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.dup2(streams[0], 1)
            os.dup2(streams[1], 2)
            if not answers:
                log.seek(0)
                os.write(2, log.read()[-4000:])
    print("".join(answers), end="", flush=True)
