# SPDX-License-Identifier: GPL-2.0
"""b4-check, as b4 calls it."""
from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import subprocess
import sys
import unittest
from unittest import mock

from swapkunit.base.errors import SwapKunitError, UntestableKernel, UnusableInput
from swapkunit.cli import main as cli
from swapkunit.cli.verbs.b4_check import b4_check
from swapkunit.presubmit.report import FAIL, PASS, WARN, PatchReport, PresubmitReport, Step
from swapkunit.presubmit.request import CheckRequest

from .support import REPO, Scratch, git, write
from .test_series import FIRST, SECOND, repository


class Check(Scratch):
    """b4-check with a presubmit that only records its requests."""

    def setUp(self) -> None:
        super().setUp()
        self.kernel = repository(self.top)
        self.mails = git(self.kernel, "format-patch", "--stdout", "--cover-letter", "--thread", "master~2")
        self.cover, self.first, self.second = ["From " + part for part in self.mails.split("\nFrom ")]
        self.cover = self.cover.removeprefix("From ")
        self.asked: list[CheckRequest] = []
        self.steps = [Step("applies", PASS, "applies"), Step("suites", FAIL, "2 new failures", details=["failed a.b"]),
                      Step("decisions", WARN, "3 cases decide differently")]

    def check(self, request: CheckRequest) -> PresubmitReport:
        """Stands in for presubmit.check()."""
        self.asked.append(request)
        patches = [PatchReport(1, 2, FIRST, steps=[Step("applies", PASS, "applies")]),
                   PatchReport(2, 2, SECOND, steps=self.steps)]
        return PresubmitReport("title", 1, "7.3.4", "given", "none", [], self.top, patches=patches)

    def ask(self, mail: str, *words: str, branch: str = "master") -> str:
        """The output of b4-check for mail, run at the top of the tree."""
        git(self.kernel, "checkout", "-q", branch)
        args = cli.make_parser().parse_args(["b4-check", "--ksrc", str(self.kernel), *words])
        stdin = io.TextIOWrapper(io.BytesIO(mail.encode()))
        with mock.patch("swapkunit.presubmit.check.check", self.check), mock.patch("sys.stdin", stdin), \
                contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(b4_check(args), 0)
        return printed.getvalue()

    def sha(self, name: str) -> str:
        """The id of a commit."""
        return git(self.kernel, "rev-parse", name).strip()


class Answers(Check):
    """The output of b4-check."""

    def test_json(self) -> None:
        found = json.loads(self.ask(self.second))
        self.assertEqual([sorted(entry) for entry in found], [["details", "status", "summary", "tool"]])
        self.assertEqual((found[0]["tool"], found[0]["status"], found[0]["summary"]),
                         ("swap-kunit", "fail", "suites: 2 new failures; decisions: 3 cases decide differently"))
        self.assertIn("  failed a.b", found[0]["details"])

    def test_clean_patch(self) -> None:
        self.steps = [Step("applies", PASS, "applies"), Step("build", PASS, "builds")]
        found = json.loads(self.ask(self.second))
        self.assertEqual((found[0]["status"], found[0]["summary"]), ("pass", "passed: applies, build"))
        self.assertEqual(self.ask(self.second, "--lines"), "")

    def test_lines_for_prep(self) -> None:
        self.assertEqual(self.ask(self.second, "--lines"), "ERROR: suites: 2 new failures\n"
                         "WARNING: decisions: 3 cases decide differently\n")

    def test_link_to_the_report(self) -> None:
        write(self.top / "report.html", "<html>")
        self.assertEqual(json.loads(self.ask(self.second))[0]["url"], f"file://{self.top}/report.html")

    def test_errors(self) -> None:
        full = OSError(errno.ENOSPC, "No space left on device", "/small")
        for error, status, summary in ((UnusableInput("refuse it: because; do"), "fail", "refuse it: because; do"),
                                    (SwapKunitError("cannot: because; do"), "warn", "not checked: cannot: because; do"),
                                    (UntestableKernel("the base; mend it"), "warn", "not checked: the base; mend it"),
                                    (full, "warn", "not checked: No space left on device (/small); make room on that "
                                     "disk, or use another one with --out (make: O=)"),
                                    (TypeError("oh\nno"), "warn", "not checked: internal error, a bug of "
                                     "swap-kunit: TypeError: oh\nno")):
            with mock.patch.object(self, "check", side_effect=error):
                found = json.loads(self.ask(self.second))
                self.assertEqual((found[0]["status"], found[0]["summary"]), (status, summary))
                kind = "ERROR" if status == "fail" else "WARNING"
                self.assertEqual(self.ask(self.second, "--lines"), f"{kind}: {summary}\n".replace("oh\n", "oh "))

    def test_mails_without_a_usable_patch(self) -> None:
        found = json.loads(self.ask("hello"))
        self.assertEqual(found, [])
        self.assertIn("stdin is empty", json.loads(self.ask(""))[0]["summary"])
        with mock.patch("swapkunit.presubmit.b4.LARGEST", 100):
            self.assertIn("it is larger than", json.loads(self.ask(self.second))[0]["summary"])
        refused = json.loads(self.ask(self.second.replace("b/mm/swapfile.c", "b/../swapfile.c")))[0]
        self.assertEqual((refused["status"], refused["summary"][:6]), ("fail", "refuse"))

    def test_only_the_answer_is_printed(self) -> None:
        code = ("import os, sys; from swapkunit.presubmit import b4\n"
                "with b4.only_answer() as give:\n"
                "    print('noise'); os.write(1, b'noise'); os.write(2, b'noise'); give('answer')\n")
        done = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=True)
        self.assertEqual((done.stdout, done.stderr), ("answer", ""))
        done = subprocess.run([sys.executable, "-c", code.replace("give('answer')", "1 / 0")], cwd=REPO,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.returncode), ("", 1))
        self.assertIn("ZeroDivisionError", done.stderr)


class Places(Check):
    """The commits that are checked for a mail."""

    def test_patch_without_a_commit(self) -> None:
        self.ask(self.first, branch="master~2")
        request = self.asked[0]
        self.assertEqual((request.spec, [patch.subject for patch in request.series.patches]), ("", [FIRST]))

    def test_patch_with_a_commit_in_the_branch(self) -> None:
        self.ask(self.second)
        self.assertEqual((self.asked[0].spec, self.asked[0].last_only),
                         (f"{self.sha('master')}~1..{self.sha('master')}", True))

    def test_commit_with_the_same_title_but_another_change(self) -> None:
        self.ask(self.second.replace("+int line_56b = (x=5);", "+int line_56b = (x=6);"))
        self.assertEqual(self.asked[0].spec, "")

    def prepared(self) -> None:
        """A branch like b4 prep's."""
        git(self.kernel, "checkout", "-qb", "b4/topic", "master~2")
        git(self.kernel, "commit", "--allow-empty", "-qm", "Cover\n\n--- b4-submit-tracking ---\n# {}")
        git(self.kernel, "cherry-pick", "master~1", "master")

    def test_branch_of_b4_prep(self) -> None:
        self.prepared()
        self.ask(self.second, "--lines", branch="b4/topic")
        self.assertEqual(self.asked[0].spec, f"{self.sha('b4/topic~2')}..{self.sha('b4/topic')}")

    def tracked(self) -> None:
        """A branch like b4 review's, with the tracking file b4 gives."""
        git(self.kernel, "checkout", "-qb", "b4/review/some-id", "master")
        git(self.kernel, "commit", "--allow-empty", "-qm", "tracking")
        os.environ["B4_TRACKING_FILE"] = str(write(self.top / "tracking.json", json.dumps(
            {"series": {"first-patch-commit": self.sha("master~1"), "change-id": "some-id"}})))

    def test_series_under_review(self) -> None:
        self.tracked()
        found = json.loads(self.ask(self.cover, "--series", branch="master~2"))
        self.assertEqual((self.asked[0].spec, self.asked[0].last_only),
                         (f"{self.sha('master~2')}..{self.sha('master')}", False))
        self.assertEqual(found[0]["tool"], "swap-kunit series")
        self.ask(self.first, branch="master~2")
        self.assertEqual((self.asked[1].spec, self.asked[1].last_only),
                         (f"{self.sha('master~2')}..{self.sha('master~1')}", True))

    def test_cover_letter_alone(self) -> None:
        self.assertEqual(json.loads(self.ask(self.cover)), [])
        found = json.loads(self.ask(self.cover, "--series"))[0]
        self.assertIn("only the cover letter was given", found["summary"])
        self.assertEqual((found["tool"], found["status"]), ("swap-kunit series", "warn"))
        self.assertEqual(self.asked, [])


# What b4's review window does with the thread in the mbox argv[1].
REVIEW = """
import argparse, email, email.policy, json, mailbox, sys, b4
from b4.review import checks
b4.setup_config(argparse.Namespace(config={}, profile=None, offline_mode=True), b4.git_get_toplevel())
perpatch, series = checks.load_check_cmds()
policy = email.policy.EmailPolicy(utf8=True, cte_type="8bit")
cover, *patches = [(mail["message-id"], email.message_from_bytes(mail.as_bytes(), policy=policy))
                   for mail in mailbox.mbox(sys.argv[1])]
found = checks.run_perpatch_checks(patches, perpatch, b4.git_get_toplevel())
print(json.dumps([*found.values(), checks.run_series_checks(cover, series, b4.git_get_toplevel())]))
"""


class RealB4(Check):
    """The checks started by the real b4 on the miniature kernel; skipped without a b4 that has them."""

    def setUp(self) -> None:
        super().setUp()
        os.environ |= {"FAKE_SUITES": json.dumps({"swap_a": ["pass_1"]}), "XDG_DATA_HOME": str(self.top / "data"),
                       "XDG_CACHE_HOME": str(self.top / "b4cache"), "LC_ALL": "C.UTF-8"}
        command = f"{REPO}/swap-kunit b4-check --quick --no-sandbox --out {self.top}/out"
        for key, words in (("prep-perpatch-check-cmd", " --lines"), ("review-perpatch-check-cmd", ""),
                           ("review-series-check-cmd", " --series")):
            git(self.kernel, "config", f"b4.{key}", command + words)
        for key, text in (("user.name", "t"), ("user.email", "t@t")):
            git(self.kernel, "config", key, text)

    def b4(self, *words: str) -> str:
        """Run python with b4 at the top of the tree."""
        done = subprocess.run([sys.executable, *words], cwd=self.kernel, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def need(self, statement: str) -> None:
        """Skip unless b4 has this."""
        done = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True, check=False)
        if done.returncode:
            self.skipTest(f"{statement}: {done.stderr.splitlines()[-1]}")

    def plant(self) -> None:
        """Make the second patch one that does not build."""
        git(self.kernel, "checkout", "-q", "master")
        path = self.kernel / "mm/swapfile.c"
        write(path, path.read_text().replace("line_56b", "BROKEN"))
        git(self.kernel, "commit", "-qa", "--amend", "--no-edit")

    def test_review(self) -> None:
        self.need("import b4.review.checks")
        self.plant()
        mbox = write(self.top / "mbox", git(self.kernel, "format-patch", "--stdout", "--cover-letter", "--thread",
                                            "master~2"))
        first, second, series = json.loads(self.b4("-c", REVIEW, str(mbox)).splitlines()[-1])
        self.assertEqual([(one["tool"], one["status"]) for one in [*first, *second, *series]],
                         [("swap-kunit", "pass"), ("swap-kunit", "fail"), ("swap-kunit series", "warn")])
        self.assertIn("build: ", second[0]["summary"])

    def test_prep(self) -> None:
        self.need("from b4.ez import get_check_cmds")
        self.plant()
        self.b4("-m", "b4.command", "--offline-mode", "prep", "-n", "topic", "-f", "master~2")
        git(self.kernel, "cherry-pick", "master~1", "master")
        output = self.b4("-m", "b4.command", "--offline-mode", "prep", "--check")
        self.assertRegex(output, r"Success: 1, Warning: 0, Error: 1")
        self.assertRegex(output, r"swap-kunit: ERROR: build: ")


if __name__ == "__main__":
    unittest.main()
