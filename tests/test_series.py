# SPDX-License-Identifier: GPL-2.0
"""From saved files to an ordered list of patches; the same two patches in many forms."""
from __future__ import annotations

import atexit
import base64
import functools
import gzip
import io
import os
import quopri
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from swapkunit.base.errors import SwapKunitError
from swapkunit.series import choosing, series
from swapkunit.series.mails import Mail
from swapkunit.series.series import Series

from .support import REPO, Scratch, fingerprint, git, make_kernel, write

SWAPFILE = "".join(f"int line_{number} = {number};\n" if number % 10 else f"\tindented_{number}(a, b);\n"
                   for number in range(1, 101))
FIRST, SECOND = "mm: swap: first things first", "mm: swap: then the second, with an umlaut: ü"


@functools.cache
def template() -> Path:
    """The repository that repository() copies."""
    top = tempfile.TemporaryDirectory(prefix="swap-kunit-test-")
    atexit.register(top.cleanup)
    kernel = make_kernel(Path(top.name) / "linux")
    write(kernel / "mm/swapfile.c", SWAPFILE)
    git(kernel, "init", "-q", "-b", "master")
    git(kernel, "add", "-f", ".")
    git(kernel, "commit", "-qm", "base")
    for subject, old, new in ((FIRST, "int line_11 = 11;", "\tif (a == b)\n\t\tint line_11 = 111; /* <a@b> & c */"),
                              (SECOND, "int line_55 = 55;", "int line_55 = 0x55;\nint line_56b = (x=5);")):
        write(kernel / "mm/swapfile.c", (kernel / "mm/swapfile.c").read_text().replace(old, new))
        git(kernel, "commit", "-qam", f"{subject}\n\nA reason, with = signs and a longer line that says why it is "
            "done.\n\nSigned-off-by: A Person <t@t>")
    return kernel


def repository(top: Path) -> Path:
    """A kernel with two commits on top of its first; master~2 is the base."""
    shutil.copytree(template(), top / "linux", symlinks=True)
    git(top / "linux", "status")
    return top / "linux"


class Reading(Scratch):
    """A test with the two patches as git format-patch writes them, self.mails."""

    def setUp(self) -> None:
        super().setUp()
        self.kernel = repository(self.top)
        self.work = self.top / "work"
        self.mails = self.formatted("-v1")

    def formatted(self, *words: str) -> list[str]:
        """Cover letter and patches as mails."""
        target = self.top / f"formatted{len(os.listdir(self.top))}"
        git(self.kernel, "format-patch", "-q", "-o", str(target), "--cover-letter", "--thread", *words, "master~2")
        return [path.read_text() for path in sorted(target.iterdir())]

    def read(self, *texts: str | bytes, partial: bool = False) -> Series:
        """The series in these texts, each a file of its own."""
        files = []
        for number, text in enumerate(texts):
            path = self.top / f"given{number}.txt"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            files.append(path)
        return series.read_inputs(files, self.work, partial)

    def error(self, *texts: str | bytes) -> str:
        """The error for these texts: one line."""
        with self.assertRaises(SwapKunitError) as caught:
            self.read(*texts)
        self.assertNotIn("\n", str(caught.exception))
        self.assertIn(";", str(caught.exception))
        return str(caught.exception)

    def assert_both(self, found: Series) -> None:
        """found is the two patches, complete."""
        self.assertEqual([(patch.number, patch.total) for patch in found.patches], [(1, 2), (2, 2)])
        self.assertEqual([patch.subject for patch in found.patches], [FIRST, SECOND])
        for patch, end in zip(found.patches, ("master~1", "master")):
            wanted = git(self.kernel, "diff", f"{end}~1", end)
            self.assertEqual(re.sub(r"(?m)^index .*\n", "", patch.diff), re.sub(r"(?m)^index .*\n", "", wanted))
            self.assertEqual(patch.touched, ["mm/swapfile.c"])
            self.assertIn("Signed-off-by: A Person <t@t>", patch.message)


def body_of(mail: str) -> tuple[str, str]:
    """Header and body of a mail, without the From line."""
    header, _, body = mail.partition("\n\n")
    return header.partition("\n")[2], body


class Forms(Reading):
    """The forms in which mails are saved."""

    def test_files_of_format_patch(self) -> None:
        found = self.read(*self.mails)
        self.assert_both(found)
        self.assertIn("BLURB HERE", found.cover)
        self.assertEqual((found.version, found.notes, found.missing), (1, [], []))

    def test_clean_files_go_through_git_am(self) -> None:
        found = self.read(*self.mails)
        git(self.kernel, "checkout", "-q", "master~2")
        git(self.kernel, "am", *(str(patch.file) for patch in found.patches))
        self.assertEqual(git(self.kernel, "diff", "master"), "")
        self.assertEqual(git(self.kernel, "log", "-2", "--format=%s|%an|%ae|%b"),
                         git(self.kernel, "log", "-2", "--format=%s|%an|%ae|%b", "master"))

    def test_mbox(self) -> None:
        self.assert_both(self.read("".join(self.mails)))

    def test_mbox_out_of_order_and_compressed(self) -> None:
        self.assert_both(self.read(gzip.compress("".join(reversed(self.mails)).encode())))

    def test_stdin(self) -> None:
        code = ("import sys; from pathlib import Path; from swapkunit.series import series\n"
                "print(len(series.read_inputs([Path('-')], Path(sys.argv[1])).patches))")
        mbox = gzip.compress("".join(self.mails).encode())
        done = subprocess.run([sys.executable, "-c", code, self.work], input=mbox, cwd=REPO, capture_output=True,
                              check=True)
        self.assertEqual(done.stdout, b"2\n")

    def test_directory_and_maildir(self) -> None:
        for place in ("plain", "maildir/new"):
            for number, mail in enumerate(reversed(self.mails)):
                write(self.top / place / f"{number}.patch", mail)
            if "/" in place:
                (self.top / "maildir/cur").mkdir()
            self.assert_both(series.read_inputs([self.top / place.partition("/")[0]], self.work))

    def test_carriage_returns(self) -> None:
        self.assert_both(self.read(*(mail.replace("\n", "\r\n") for mail in self.mails)))

    def test_flowed_text(self) -> None:
        for stuffed in (True, False):
            mails = [re.sub(r"(?m)^(?= .*$)", " " if stuffed else "", body_of(mail)[1]) for mail in self.mails[1:]]
            self.assert_both(self.read(*(
                f"Subject: [PATCH {number}/2] {title}\nContent-Type: text/plain; charset=UTF-8; format=flowed\n\n{text}"
                for number, title, text in ((1, FIRST, mails[0]), (2, SECOND, mails[1])))))

    def encoded(self, mail: str, how: str, declared: bool, done: bool) -> bytes:
        """A mail whose body is encoded (done), and whose header says so (declared)."""
        header, body = body_of(mail)
        header = re.sub(r"(?im)^(mime-version|content-[\w-]+):.*\n?", "", header).rstrip("\n")
        header += "\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8"
        header += f"\nContent-Transfer-Encoding: {how}" if declared else ""
        encode = quopri.encodestring if how == "quoted-printable" else base64.encodebytes
        return f"{header}\n\n".encode() + (encode(body.encode()) if done else body.encode())

    def test_transfer_encodings(self) -> None:
        for how in ("quoted-printable", "base64"):
            for declared, done in ((True, True), (False, True), (True, False)):
                with self.subTest(how=how, declared=declared, done=done):
                    self.assert_both(self.read(*(self.encoded(mail, how, declared, done) for mail in self.mails[1:])))

    def test_encoded_carriage_returns(self) -> None:
        mails = [self.encoded(mail.replace("\n", "\r\n").replace("\r\n\r\n", "\n\n", 1), "base64", True, True)
                 for mail in self.mails[1:]]
        self.assert_both(self.read(*mails))

    def test_title_in_the_body(self) -> None:
        for line in ("[{who}]\n\n", "\n[{who}]\n\n", "[{who} <t () t>]\n\n", "From: {who} <t@t>\n\n", ""):
            with self.subTest(line):
                texts = [f"[PATCH {number}/2] {title}\n\n" + line.format(who="A Person") + body_of(mail)[1]
                         for number, title, mail in ((1, FIRST, self.mails[1]), (2, SECOND, self.mails[2]))]
                found = self.read(*texts)
                self.assert_both(found)
                self.assertTrue(found.patches[0].author.startswith("A Person <t"), found.patches[0].author)

    def test_junk_above_the_header(self) -> None:
        for junk in ("Thread overview (newest first)\n\n", "linux-mm archive\n[ prev ] [ next ]\n\n\n", "\n\n",
                     "Received-SPF: pass (some host)\n", "X-Status: RO\n\n"):
            with self.subTest(junk):
                self.assert_both(self.read(*(junk + mail.partition("\n")[2] for mail in self.mails[1:])))

    def test_bullets_of_a_web_page(self) -> None:
        texts = [f"Home\n\n * From: A Person <t@xxxx>\n * Subject: [PATCH {number}/2] {title}\n * Date: now\n\n"
                 + body_of(mail)[1] for number, title, mail in ((1, FIRST, self.mails[1]), (2, SECOND, self.mails[2]))]
        self.assert_both(self.read(*texts))

    def test_masked_and_missing_authors(self) -> None:
        text = re.sub(r"(?m)^From: .*$", "From: A Person <xxx@xxxxxx>", self.mails[1])
        self.assertEqual(self.read(text).patches[0].author, "A Person <xxx@xxxxxx>")
        text = re.sub(r"(?m)^From: .*\n", "", self.mails[1])
        self.assertEqual(self.read(text).patches[0].author, "A Person <t@t>")

    def test_work_directory_in_a_repository(self) -> None:
        git(self.top, "init", "-q")
        self.assert_both(self.read(*self.mails))

    def test_colours(self) -> None:
        self.assert_both(self.read(*(re.sub(r"(?m)^([-+@].*)$", "\x1b[32m\\1\x1b[m", mail) for mail in self.mails[1:])))

    def test_plain_diff(self) -> None:
        found = self.read(git(self.kernel, "diff", "master~2", "master~1"))
        self.assertEqual([(patch.name, patch.touched) for patch in found.patches],
                         [('patch 1/1 "given0"', ["mm/swapfile.c"])])

    def test_footer_of_a_list_is_not_part_of_the_diff(self) -> None:
        footer = "\n\n_______________________________________________\nlist@example.org\n- a dash\n+ a plus\n"
        self.assert_both(self.read(*(mail + footer for mail in self.mails[1:])))

    def forms_of_the_first(self) -> dict[str, str]:
        """The first patch in the forms of other tools and pages."""
        diff = git(self.kernel, "diff", "master~2", "master~1")
        hunk, text = diff[diff.index("@@"):], f"why\n\nSigned-off-by: A Person <t@t>\n---\n{diff}"
        parts = ("MIME-Version: 1.0\nContent-Type: multipart/{}; boundary=XX\n\n--XX\nContent-Type: text/plain\n\n"
                 "{}\n--XX\nContent-Type: {}\n\n{}\n--XX--\n")
        head = f"From: A Person <t@t>\nSubject: [PATCH] {FIRST}\n"
        return {
            "git show": git(self.kernel, "show", "master~1"),
            "git log -p": git(self.kernel, "log", "-p", "-1", "master~1"),
            "attachment": head + parts.format("mixed", "see there", "text/x-patch; name=a.patch", text),
            "text and HTML": head + parts.format("alternative", text, "text/html", f"<pre>{diff}</pre>"),
            "no prefix": f"{head}\nwhy\n---\n" + diff.replace("a/mm", "mm").replace("b/mm", "mm"),
            "quilt": f"{head}\nwhy\n---\n--- a/mm/swapfile.c~some-name\n+++ a/mm/swapfile.c\n{hunk}_\n\n"
                     "Patches of t\n",
            "other directories": f"{head}\nwhy\n---\nIndex: linux/mm/swapfile.c\n=====\n"
                                 f"--- linux.orig/mm/swapfile.c\n+++ linux/mm/swapfile.c\n{hunk}",
            "queued": "From: q@q\nSubject: + some-name.patch added\n\nThe patch titled\n     Subject: x\n"
                      "has been added\n\n" + "-" * 54 + f"\n{head.replace('[PATCH] ', '')}\n{text}",
            "spaced header": head.replace(": ", ":       ") + f"[Download message]\n\n{text}",
            "page of an archive": f"archive mirror\n help / color\n* [PATCH] {FIRST}\n@ 2025-08-06 16:17 A Person\n"
                                  "From: A Person @ 2025-08-06 16:17 UTC (permalink / raw)\n  To: list; +Cc: b\n\n"
                                  f"{text}-- \n2.1\n\n^ permalink raw reply\t[flat]\n",
            "strange charset": f"{head}Content-Type: text/plain; charset=x-nonsense\n\n{text}",
        }

    def test_forms_of_other_tools(self) -> None:
        wanted = re.sub(r"(?m)^(index|diff) .*\n", "", git(self.kernel, "diff", "master~2", "master~1"))
        for name, text in self.forms_of_the_first().items():
            with self.subTest(name):
                patch = self.read(text).patches[0]
                diff = re.sub(r"(?m)^(index|diff) .*\n", "", patch.diff)
                self.assertEqual(diff.replace("a/mm/swapfile.c~some-name\n+++ a/", "a/mm/swapfile.c\n+++ b/"), wanted)
                self.assertEqual((patch.touched, patch.subject), (["mm/swapfile.c"], FIRST))
                self.assertIn(patch.author, ("A Person <t@t>", "t <t@t>"))

    def test_one_mail_on_a_stream(self) -> None:
        found = series.read_mail(io.BytesIO(self.mails[2].encode()), self.work)
        self.assertEqual((found.patches[0].number, found.missing),
                         (2, [f'patch 1 of 2 in the series with "{SECOND}"']))
        with self.assertRaisesRegex(SwapKunitError, "stdin is empty"):
            series.read_mail(io.BytesIO(b"\n"), self.work)


class Subjects(unittest.TestCase):
    """The parsing of subjects."""

    def test_prefixes(self) -> None:
        for subject, wanted in (
                ("[PATCH] a", (1, 1, 0)), ("[PATCH 2/3] a", (1, 2, 3)), ("[v5 PATCH 1/2] a", (5, 1, 2)),
                ("[PATCH mm-unstable v2 0/3] a", (2, 0, 3)), ("[RFC PATCH] a", (1, 1, 0)),
                ("[RFC][PATCH 2/3] a", (1, 2, 3)), ("[PATCHv3 02/25] a", (3, 2, 25)),
                ("[linux-mm] [PATCH V2 1/10] a", (2, 1, 10)), ("[PATCH RESEND v4 1/2] a", (4, 1, 2)),
                ("[RFCv2 PATCH 1/2] a", (2, 1, 2)), ("[PATCH 6.12 1/2] a", (1, 1, 2)), ("a", (1, 1, 0)),
                ("[PATCH v2 1 / 2] a", (2, 1, 2)), ("[patch 095/145] a", (1, 95, 145)),
                ("[PATCH v2 1/99999999] a", (2, 1, 0)), ("[PATCH -next v3] a", (3, 1, 0))):
            with self.subTest(subject):
                one = choosing.candidate(mail_with(subject))
                self.assertEqual((one.version, one.number, one.total, one.title, one.reply), (*wanted, "a", False))

    def test_replies(self) -> None:
        for subject in ("Re: [PATCH 2/3] a", "RE: Re: [PATCH 2/3] a", "Re: a", "Fwd: [PATCH] a", "AW: a"):
            self.assertTrue(choosing.candidate(mail_with(subject)).reply, subject)
        self.assertFalse(choosing.candidate(mail_with("[PATCH] readahead: re: a")).reply)


def retitled(mail: str, title: str) -> str:
    """mail with another title but the same [PATCH ..]."""
    return re.sub(r"(?m)^Subject: (\[[^\]]*\]).*\n(?: .*\n)*", rf"Subject: \1 {title}\n", mail, count=1)


def mail_with(subject: str) -> Mail:
    """A mail with only a subject."""
    return Mail(subject, "", "", "", "", "", "", "x", 0)


class Choosing(Reading):
    """What is left out, and what is required."""

    def test_replies_and_talk(self) -> None:
        reply = "From: B <b@b>\nSubject: Re: [PATCH 1/2] x\n\n> diff --git a/x b/x\n\nReviewed-by: B <b@b>\n"
        found = self.read(*self.mails, reply, reply.replace("Re: ", "") + "\n> quoted\n")
        self.assert_both(found)
        self.assertIn("left out: 1 mail without a patch", found.notes)

    def test_fixlet_in_a_reply(self) -> None:
        """It has a subject of its own, and would come first."""
        parent = re.search(r"(?im)^message-id: (<.*>)", self.mails[2])
        fixlet = body_of(self.mails[2])[1].replace("0x55", "0x56")
        reply = (f"From: A <a@a>\nSubject: Re: [PATCH v1 2/2] x\nIn-Reply-To: {parent[1]}\n\nPlease fold this in:\n\n"
                 f"----8<----\nFrom: A <a@a>\nSubject: [PATCH] [fixlet] a fixlet\n\n{fixlet}")
        found = self.read(reply, *self.mails)
        self.assert_both(found)
        self.assertIn(f'left out: the patch in a reply, "[PATCH] [fixlet] a fixlet", which answers '
                      f'[PATCH 2/2] "{found.patches[1].subject}"', found.notes)

    def test_title_with_and_without_the_right_cover(self) -> None:
        cover = retitled(self.mails[0], "the title")
        other = "From: B <b@b>\nMessage-Id: <other@b>\nSubject: [PATCH 0/7] another one\n\nx\n"
        self.assertEqual(self.read(other, cover, *self.mails[1:]).title, "the title")
        for unfit in ([], [other], [retitled(cover, "*** SUBJECT HERE ***")]):
            self.assertEqual(self.read(*unfit, *self.mails[1:]).title, f"{FIRST}, and 1 more")
        self.assertEqual(self.read(self.mails[1]).title, FIRST)

    def test_patch_in_a_reply(self) -> None:
        fixup = self.mails[1].replace("Subject: [PATCH v1 1/2]", "Subject: Re: [PATCH v1 1/2]").replace("0x55", "5")
        found = self.read(*self.mails, fixup)
        self.assert_both(found)
        self.assertIn(f'left out: the patch in a reply, "Re: [PATCH v1 1/2] {FIRST}"', found.notes)
        self.assertEqual(len(self.read(fixup).patches), 1)

    def test_newer_version_wins(self) -> None:
        newer = self.formatted("-v3")
        for mails in ([*self.mails, *newer], [*newer, *self.mails]):
            found = self.read("".join(mails))
            self.assert_both(found)
            self.assertEqual(found.version, 3)
            self.assertIn(f'left out: [PATCH 1/2] "{FIRST}", replaced by v3', found.notes)

    def test_given_twice(self) -> None:
        found = self.read(*self.mails, *self.mails)
        self.assert_both(found)
        self.assertIn(f'left out: [PATCH 2/2] "{SECOND}", given twice', found.notes)
        lone = self.mails[1].replace("[PATCH v1 1/2]", "[PATCH]")
        self.assertEqual(self.read(lone, lone).notes, [f'left out: [PATCH] "{FIRST}", given twice'])

    def test_missing(self) -> None:
        git(self.kernel, "commit", "-qm", "mm: third", "--allow-empty")
        third = self.mails[2].replace("2/2", "3/3")
        self.assertIn("patch 2 of 3 is missing between the others",
                      self.error(self.mails[1].replace("1/2", "1/3"), third))
        found = self.read(self.mails[1].replace("1/2", "1/3"), third, partial=True)
        self.assertEqual([patch.number for patch in found.patches], [1, 3])
        self.assertIn("2 of 3", found.missing[0])
        lone = self.read(third)
        self.assertEqual(lone.missing, [f'patches 1-2 of 3 in the series with "{SECOND}"'])
        self.assertEqual(lone.notes, [f'missing: patches 1-2 of 3 in the series with "{SECOND}"'])

    def test_several_series_in_the_order_given(self) -> None:
        other = self.mails[1].replace("From: t <t@t>", "From: Other <o@o>").replace(FIRST, "mm: other")
        found = self.read(other.replace("v1 1/2", "v7 2/2"), *self.mails)
        self.assertEqual([(patch.subject, patch.number) for patch in found.patches],
                         [("mm: other", 2), (FIRST, 1), (SECOND, 2)])

    def test_several_authors(self) -> None:
        third = retitled(self.mails[2].replace("2/2", "3/3"), "mm: third")
        mails = [self.mails[1].replace("1/2", "1/3"), self.mails[2].replace("2/2", "2/3"), third]
        mails[1] = mails[1].replace("From: t <t@t>", "From: Other <o@o>")
        for given in (mails, [re.sub(r"(?m)^(Message-Id|In-Reply-To|References): .*\n", "", mail, flags=re.I)
                              for mail in mails]):
            found = self.read(*given)
            self.assertEqual([patch.number for patch in found.patches], [1, 2, 3])
            self.assertEqual(found.missing, [])

    def test_two_series_by_one_author(self) -> None:
        other = [retitled(mail.replace("v1 ", "v2 ").replace(".git.t@t", ".other"), title)
                 for mail, title in zip(self.mails, ("cover", "zram: something else", "zram: quite another thing"))]
        found = self.read("".join(self.mails), "".join(other))
        self.assertEqual([(patch.version, patch.number) for patch in found.patches], [(1, 1), (1, 2), (2, 1), (2, 2)])

    def test_new_version_with_another_title(self) -> None:
        newer = [retitled(mail, "mm: swap: then a second, without umlauts") for mail in self.formatted("-v2")]
        older = retitled(self.mails[2], "mm: swap: then a 2nd, without umlauts")
        lone = [re.sub(r"(?m)^(Message-Id|In-Reply-To|References): .*\n", "", mail, flags=re.I)
                for mail in (older, newer[2])]
        self.assertEqual([patch.version for patch in self.read(*lone).patches], [2])

    def test_new_version_of_other_patches_under_the_same_cover_letter(self) -> None:
        def named(mails: list[str], *titles: str) -> list[str]:
            return [re.sub(r"(?m)^(Message-Id|In-Reply-To|References): .*\n", "", retitled(mail, title), flags=re.I)
                    for mail, title in zip(mails, titles)]
        older = named(self.mails, "mm: a cover", "mm: alpha", "mm: beta")
        newer = named(self.formatted("-v2"), "mm: a cover", "swap: one at first", "zswap: another thing")
        self.assertEqual([patch.version for patch in self.read(*older, *newer).patches], [2, 2])
        self.assertEqual([patch.version for patch in self.read(*older[1:], *newer).patches], [1, 1, 2, 2])

    def test_request_for_comments_is_older(self) -> None:
        request = [mail.replace("[PATCH v1 ", "[RFC PATCH v2 ") for mail in self.mails]
        found = self.read(*self.mails, *request)
        self.assert_both(found)
        self.assertEqual(found.version, 1)
        self.assertIn(f'left out: [RFC PATCH v2 2/2] "{SECOND}", replaced by the one without RFC', found.notes)

    def test_loose_patches_in_the_order_given(self) -> None:
        mails = [re.sub(r"\[PATCH v1 \d/2\]", "[PATCH]", mail) for mail in self.mails[1:]]
        self.assertEqual([(patch.subject, patch.number, patch.total) for patch in self.read(*mails).patches],
                         [(FIRST, 1, 2), (SECOND, 2, 2)])


class Unusable(Reading):
    """Input that is refused with a reason."""

    def test_nothing_in_it(self) -> None:
        self.assertIn("it has no diff", self.error("From: a\nSubject: [PATCH] x\n\nhello\n"))
        self.assertIn("it has only the cover letter", self.error(self.mails[0]))
        self.assertIn("is quoted (>)", self.error(re.sub(r"(?m)^", "> ", self.mails[1])))
        self.assertIn("is indented", self.error("Subject: [PATCH] x\n\n" + re.sub(r"(?m)^", "    ", self.mails[1])))
        self.assertIn("a context diff", self.error("Subject: [PATCH] x\n\n*** a/x.c\tnow\n--- b/x.c\tnow\n"
                                                  "***************\n*** 1,2 ****\n  a\n! b\n--- 1,2 ----\n"))
        self.assertIn("it is empty", self.error(""))
        self.assertIn("it is not text", self.error(b"\x7fELF\0\0\0"))
        self.assertIn("No such file", str(self.error_of([self.top / "nowhere"])))
        (self.top / "hollow").mkdir()
        self.assertIn("has no files", str(self.error_of([self.top / "hollow"])))
        self.assertIn("no patch was given", str(self.error_of([])))

    def error_of(self, files: list[Path]) -> SwapKunitError:
        """The error of read_inputs."""
        with self.assertRaises(SwapKunitError) as caught:
            series.read_inputs(files, self.work)
        return caught.exception

    def test_damage_is_named(self) -> None:
        mail = self.mails[1]
        long = re.sub(r"(?m)^(\+.*111); ", r"\1;\n", mail)
        self.assertIn("the mail program wrapped a long line", self.error(long))
        self.assertIn("lines were lost or joined", self.error(mail.replace(" int line_8 = 8;\n", "")))
        self.assertIn("ends in the middle of the hunk", self.error(mail.partition("+\tif (a")[0]))
        self.assertIn("is quoted", self.error(mail.replace("\n int line_9", "\n> int line_9")))

    def test_white_space_is_suspected(self) -> None:
        for text, found in ((self.mails[1].expandtabs(8), "its tabs became spaces"),
                           (self.mails[1].replace("\n \t", "\n  \t"), "two spaces, as in format=flowed"),
                           (self.mails[1].replace("<a@b>", "&lt;a@b&gt;"), "HTML's &lt;"),
                           (self.mails[1].replace(" int line_9", " int\u00a0line_9"), "no-break spaces")):
            with self.subTest(found):
                self.assertIn(found, "; ".join(self.read(text).patches[0].suspicions))
        self.assertEqual(self.read(self.mails[1]).patches[0].suspicions, [])


class Refused(Reading):
    """Diffs that are never applied."""

    def refused(self, diff: str) -> str:
        """The refusal of a patch with this diff."""
        return self.error(f"From: a <a@a>\nSubject: [PATCH] evil\n\nx\n---\n{diff}-- \n2.1\n")

    def new_file(self, name: str, mode: str = "100644") -> str:
        """A diff that creates a file."""
        return (f"diff --git a/{name} b/{name}\nnew file mode {mode}\n--- /dev/null\n+++ b/{name}\n"
                "@@ -0,0 +1 @@\n+x\n")

    def test_places(self) -> None:
        for name, reason in (("../x", "outside of the kernel tree"), ("mm/../../x", "outside of the kernel tree"),
                           ("/etc/x", "outside of the kernel tree"), (".git/hooks/x", "belongs to git"),
                           ("mm/.GIT/x", "belongs to git"), ("mm/kunit/x.c", "swap-kunit's own"),
                           ("mm/swapfile_real.c", "swap-kunit's own"), ("mm/Makefile.real", "swap-kunit's own"),
                           (".kunit/vmlinux", "swap-kunit's own"), (".kunitconfig", "swap-kunit's own"),
                           (".overlay", "swap-kunit's own"), (".src", "swap-kunit's own"),
                           ("mm/swap_kunit.h", "swap-kunit's own")):
            with self.subTest(name):
                message = self.refused(self.new_file(name))
                self.assertIn(reason, message)
                self.assertTrue(message.startswith('refuse to use patch 1/1 "evil"'), message)

    def test_absolute_name_in_a_plain_diff(self) -> None:
        self.assertIn("outside", self.refused("--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n"))

    def test_links_and_submodules(self) -> None:
        self.assertIn("a symbolic link", self.refused(self.new_file("mm/x.c", "120000")))
        self.assertIn("a submodule", self.refused(self.new_file("mm/x", "160000")))
        self.assertIn("a symbolic link", self.refused(
            "diff --git a/mm/x b/mm/x\nindex 1234567..89abcde 120000\n--- a/mm/x\n+++ b/mm/x\n@@ -1 +1 @@\n-a\n+b\n"))

    def test_binary(self) -> None:
        self.assertRegex(self.refused("diff --git a/mm/x b/mm/x\nindex 1234567..89abcde 100644\n"
                                      "Binary files a/mm/x and b/mm/x differ\n"), "binary")

    def test_rename_out_of_the_tree(self) -> None:
        self.assertIn("outside", self.refused("diff --git a/mm/x b/../y\nsimilarity index 100%\n"
                                              "rename from mm/x\nrename to ../y\n"))

    def test_special_characters(self) -> None:
        self.assertIn("special characters", self.refused(
            'diff --git "a/mm/a\\nb" "b/mm/a\\nb"\nnew file mode 100644\n--- /dev/null\n+++ "b/mm/a\\nb"\n'
            "@@ -0,0 +1 @@\n+x\n"))

    def test_headers_with_control_characters_or_invalid_encodings(self) -> None:
        diff = self.new_file("mm/x.c")
        for sender in ("=?bad?b?!!?=", "=?utf-8?q?=ff=fe?= <a@a>", "=?utf-8?q?"):
            patch = self.read(f"From: {sender}\nSubject: [PATCH] \x1b[31mred \u202e\n\nx\n---\n{diff}").patches[0]
            self.assertEqual(patch.subject, "?[31mred ?")
            patch.file.read_text(encoding="utf-8")
            self.assertTrue((patch.author + patch.name).isprintable(), patch.author)

    def test_ordinary_names_pass(self) -> None:
        for name in ("mm/swap_kunitless.c", "lib/kunit/.kunitconfig", "mm/unreal.c", "mm/swap_slots.c", ".gitignore"):
            self.assertEqual(self.read(f"Subject: x\n\n{self.new_file(name)}").patches[0].touched, [name])


class Ranges(Reading):
    """Commits of a repository."""

    def test_range(self) -> None:
        before = fingerprint(self.kernel)
        for spec in ("master~2..master", "master~2..", "master~2"):
            found = series.read_range(self.kernel, spec, self.work)
            self.assert_both(found)
            self.assertEqual([patch.commit for patch in found.patches],
                             git(self.kernel, "rev-list", "--reverse", "master~2..master").split())
        self.assertEqual(fingerprint(self.kernel), before)

    def test_text_of_a_patch_does_not_depend_on_the_others(self) -> None:
        both = series.read_range(self.kernel, "master~2..master", self.work).patches[0].file.read_text()
        alone = series.read_range(self.kernel, "master~2..master~1", self.work).patches[0].file.read_text()
        self.assertEqual(both, alone)

    def test_configuration_of_the_user_does_not_matter(self) -> None:
        for key, value in (("diff.noprefix", "true"), ("diff.mnemonicPrefix", "true"), ("format.attach", "true"),
                           ("format.coverLetter", "true"), ("color.ui", "always"), ("diff.external", "false"),
                           ("format.subjectPrefix", "RFC v9"), ("format.from", "X <x@x>"), ("diff.renames", "copies")):
            git(self.kernel, "config", key, value)
        found = series.read_range(self.kernel, "master~2..master", self.work)
        shutil.copy(template() / ".git/config", self.kernel / ".git/config")
        self.assert_both(found)

    def test_configuration_in_the_home_directory_does_not_matter(self) -> None:
        os.environ["HOME"] = str(self.top)
        os.environ.pop("GIT_CONFIG_GLOBAL", None)
        write(self.top / ".gitconfig", "[diff]\n\tcontext = 1\n")
        diff = series.read_range(self.kernel, "master~2..master", self.work).patches[0].diff
        self.assertIn("@@ -8,7 +8,8 @@", diff)

    def test_wrong_ranges(self) -> None:
        for spec, reason in (("nowhere..master", "it has no commit nowhere"),
                             ("master..master", "it has no commits"),
                             ("-o/x..master", "cannot begin with a dash")):
            with self.assertRaisesRegex(SwapKunitError, reason):
                series.read_range(self.kernel, spec, self.work)
        with mock.patch.object(series, "MOST", 1), self.assertRaisesRegex(SwapKunitError, "2 commits, too many"):
            series.read_range(self.kernel, "master~2..master", self.work)
        with self.assertRaisesRegex(SwapKunitError, "not a git repository"):
            series.read_range(make_kernel(self.top / "plain"), "a..b", self.work)

    def test_empty_commits_are_left_out(self) -> None:
        tip = git(self.kernel, "rev-parse", "master").strip()
        git(self.kernel, "checkout", "-q", "-B", "covered", "master~2")
        git(self.kernel, "commit", "-q", "--allow-empty", "-m", "cover: of b4 prep")
        git(self.kernel, "cherry-pick", f"{tip}~2..{tip}")
        for where in (self.kernel, self.kernel / "mm"):
            found = series.read_range(where, "master~2..covered", self.work)
            self.assert_both(found)
            self.assertEqual(found.notes, ['left out: an empty commit, "cover: of b4 prep"'])
            self.assertEqual([patch.commit for patch in found.patches],
                             git(self.kernel, "rev-list", "--reverse", "covered~2..covered").split())
        with self.assertRaisesRegex(SwapKunitError, "none of its commits changes a file"):
            series.read_range(self.kernel, "master~2..covered~2", self.work)

    def test_merges_are_named(self) -> None:
        git(self.kernel, "checkout", "-qb", "side", "master~2")
        write(self.kernel / "lib/other.c", "int x;\n")
        git(self.kernel, "add", ".")
        git(self.kernel, "commit", "-qm", "lib: other")
        git(self.kernel, "merge", "-q", "-m", "merge", "master")
        found = series.read_range(self.kernel, "master~2..side", self.work)
        self.assertEqual((len(found.patches), found.notes), (3, ["left out: 1 merge"]))


if __name__ == "__main__":
    unittest.main()
