# SPDX-License-Identifier: GPL-2.0
"""Mails as archives, lists, queues and people forward them."""
from __future__ import annotations

import base64
import bz2
import html
import lzma
import os
import re
import subprocess
import sys
import unittest
from email.message import EmailMessage

from swapkunit.base.errors import SwapKunitError
from swapkunit.series import series

from .support import REPO, git
from .test_series import FIRST, SECOND, Reading

RULE = "-" * 30
QUEUED = ("From: a queue <q@q>\nSubject: Patch \"{title}\" has been added to the 6.1-stable tree\n\n"
          "A note about the patch titled\n\n    {title}\n\nIts file is some-name.patch\n\n\n")


class Containers(Reading):
    """Several mails in one, and compressed mails."""

    def headless(self) -> list[str]:
        """Cover letter and patches without their From_ line."""
        return [mail.partition("\n")[2] for mail in self.mails]

    def test_packed(self) -> None:
        mbox = "".join(self.mails).encode()
        for pack in (bz2.compress, lzma.compress):
            self.assert_both(self.read(pack(mbox)))
        self.assertIn("give a mail", self.error(lzma.compress(mbox)[:200]))

    def test_digest(self) -> None:
        parts = "".join(f"Message: {number}\n{mail}\n{RULE}\n\n" for number, mail in enumerate(self.headless(), 1))
        digest = f"From: l@l\nSubject: a-list Digest, Vol 1, Issue 2\n\nTopics:\n\n   1. {FIRST}\n\n{RULE}\n\n{parts}"
        for text in (digest, digest.replace("\n", "\r\n")):
            self.assert_both(self.read(text + f"Subject: Digest Footer\n\n{RULE}\n\nEnd of a-list Digest\n"))

    def test_one_below_the_other(self) -> None:
        titled = [f"[PATCH {number}/2] {title}\n\n[A Person]\n\n" + mail.partition("\n\n")[2]
                  for number, title, mail in zip((1, 2), (FIRST, SECOND), self.mails[1:])]
        for mails, author in ((self.headless(), "t <t@t>"), (titled, "A Person <t@t>")):
            for end in ("\n", "\r\n"):
                found = self.read("\n".join(mails).replace("\n", end))
                self.assert_both(found)
                self.assertEqual([patch.author for patch in found.patches], [author] * 2)

    def test_commits_as_git_shows_them(self) -> None:
        for words in (("log", "-p", "-2"), ("log", "-p", "-2", "--reverse"), ("show", "master~1", "master")):
            git(self.kernel, "commit", "-q", "--amend", "--no-edit", "--date=2030-01-01T00:00")
            found = self.read(git(self.kernel, *words, "master"))
            self.assertEqual([(patch.subject, patch.number) for patch in found.patches], [(FIRST, 1), (SECOND, 2)])

    def mail_with(self, *texts: str, kind: str, name: str = "") -> str:
        """A mail with other mails in it."""
        parts = "".join(f"--XX\nContent-Type: {kind}" + (f'; name="{number}{name}"' if name else "") + f"\n\n{text}\n"
                        for number, text in enumerate(texts))
        return ("From: B <b@b>\nSubject: look\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=XX\n\n"
                f"--XX\nContent-Type: text/plain\n\nSee below.\n\n{parts}--XX--\n")

    def test_mails_in_a_mail(self) -> None:
        self.assert_both(self.read(self.mail_with(*self.headless(), kind="message/rfc822")))
        self.assert_both(self.read(self.mail_with(*self.mails, kind="text/x-patch", name=".patch")))
        encoded = EmailMessage()
        encoded["From"], encoded["Subject"] = "B <b@b>", "look"
        encoded.set_content("See there.")
        for mail in self.mails:
            encoded.add_attachment(mail.encode(), "application", "octet-stream", filename="x.patch")
        self.assert_both(self.read(encoded.as_bytes()))

    def test_attached_diff_belongs_to_its_mail(self) -> None:
        diff = git(self.kernel, "diff", "master~2", "master~1")
        found = self.read(self.mail_with(diff, kind="text/x-diff", name=".diff"))
        self.assertEqual([(patch.subject, patch.touched) for patch in found.patches], [("look", ["mm/swapfile.c"])])


class PassedOn(Reading):
    """A patch below other text, and on a web page."""

    def forms(self) -> dict[str, str]:
        """The first patch in many forms."""
        mail = self.mails[1].replace("[PATCH v1 1/2] ", "[PATCH] ")
        head, body = mail.partition("\n\n")[::2]
        start = head.partition("\n")[0]
        bare = re.sub(r"(?m)^(?!From: |Subject: ).*\n", "", head.replace("[PATCH] ", "") + "\n")
        notice = QUEUED.format(title=FIRST)
        return {
            "queued": notice + mail.replace("[PATCH] ", ""),
            "queued, escaped": notice + ">" + mail.replace("[PATCH] ", ""),
            "under review": f"From: a queue <q@q>\nSubject: [PATCH] {FIRST}\n\n6.1-stable review patch.  Say what is "
                            f"wrong.\n\n{RULE}\n\nFrom: A Person <t@t>\n\n{body}",
            "scissors": f"From: B <b@b>\nSubject: Re: trouble\n\nLike this?\n\n-- >8 --\n{bare}\n{body}",
            "table of a page": f"lists\n[days] [months]\n\nFrom\tA Person <>\nSubject\t[PATCH] {FIRST}\nDate\tnow\n"
                               f"share 0\n{body}",
            "commit on a page": "author\tA Person <t@t>\t2026-01-02 03:04:05 +0000\ncommitter\tB <b@b>\t2026-01-02\n"
                                f"commit\t{start.split()[1]} (patch)\nparent\t1234567 (diff)\n{FIRST}\n"
                                + body.partition("---\n")[0] + "\nDiffstat\n" + body[body.index("diff --git"):],
            "links of a page": f"From: A Person <t@t>\nSubject: [PATCH] {FIRST}\n[Download message]\n\n{body}\n"
                               "[prev in list] [next in list]\n",
            "page": "<!DOCTYPE html>\n<html><head><title>x</title><style>a { }</style></head><body>\n<a href='x'>lists"
                    f"</a>\n<pre>From: A Person &lt;t@t&gt;\nSubject: <b>[PATCH] {FIRST}</b>\n\n"
                    + html.escape(body) + "</pre>\n<hr></body></html>\n",
            "indented": re.sub(r"(?m)^", "    ", mail.partition("\n")[2]),
        }

    def test_forms(self) -> None:
        wanted = re.sub(r"(?m)^index .*\n", "", git(self.kernel, "diff", "master~2", "master~1"))
        for name, text in self.forms().items():
            with self.subTest(name):
                found = self.read(text)
                patch = found.patches[0]
                self.assertEqual(re.sub(r"(?m)^index .*\n", "", patch.diff).replace("\n\n", "\n \n"), wanted)
                self.assertEqual((patch.subject, found.notes), (FIRST, []))
                self.assertIn(patch.author, ("A Person <t@t>", "t <t@t>"))
                self.assertTrue(patch.message.startswith("A reason"), patch.message)

    def test_charset_of_the_message(self) -> None:
        head, body = self.mails[1].partition("\n\n")[::2]
        head = re.sub(r"(?im)^(mime-version|content-[\w-]+):.*\n?", "", head).rstrip("\n")
        body = body.replace("A reason", "Gründe: a reason")
        text = f"{head}\nContent-Type: text/plain; charset=iso-8859-1\n\n{body}"
        self.assertIn("Gründe", self.read(text.encode("latin-1")).patches[0].message)

    def test_empty_context_line_of_a_flowed_text(self) -> None:
        diff = "--- a/mm/swapfile.c\n+++ b/mm/swapfile.c\n@@ -1,3 +1,4 @@\n int a;\n \n+int c;\n int b;\n"
        text = ("From: a <a@a>\nSubject: [PATCH] x\nContent-Type: text/plain; format=flowed\n\nwhy\n---\n"
                + re.sub("(?m)^ ", "  ", diff))
        self.assertEqual(self.read(text).patches[0].diff.replace("\n\n", "\n \n"), diff)


class Damage(Reading):
    """Damage that cannot be repaired is named."""

    def test_lines_joined(self) -> None:
        self.assertIn("all its lines were joined", self.error(" ".join(self.mails[1].split())))

    def test_white_space_at_the_start_of_lines_lost(self) -> None:
        self.assertIn("the space at the start of context lines was lost",
                      self.error(re.sub(r"(?m)^[ \t]+", "", self.mails[1])))

    def test_numbers_of_a_hunk(self) -> None:
        for sizes in ("8,8 +8,8", "8,7 +8,9", "8,9 +8,8", "8,8 +8,9", "8,7 +8,12"):
            with self.subTest(sizes):
                message = self.error(self.mails[1].replace("@@ -8,7 +8,8 @@", f"@@ -{sizes} @@"))
                self.assertIn("has 7 old and 8 new lines: it was edited by hand", message)

    def test_change_after_the_end_of_a_hunk(self) -> None:
        lines = "--- a/mm/zswap.c\n+++ b/mm/zswap.c\n@@ -1 +1,2 @@\n int zswap;\n+int a;\n+int b;\n"
        self.assertIn("has 1 old and 3 new lines", self.error(f"Subject: [PATCH] x\n\nx\n---\n{lines}"))

    def test_no_hunk(self) -> None:
        self.assertIn("it has no hunk (no line @@",
                      self.error(re.sub(r"(?m)^@@.*\n", "", self.mails[1])))


class Strange(Reading):
    """Files that are not mails."""

    def test_named_pipe(self) -> None:
        os.mkfifo(self.top / "pipe")
        with self.assertRaisesRegex(SwapKunitError, "it is a named pipe; give a file"):
            series.read_inputs([self.top / "pipe"], self.work)

    def test_pipe_of_a_shell(self) -> None:
        code = ("import sys; from pathlib import Path; from swapkunit.series import series\n"
                "print(len(series.read_inputs([Path(sys.argv[2])], Path(sys.argv[1])).patches))")
        (self.top / "mbox").write_text("".join(self.mails))
        done = subprocess.run(["bash", "-c", '"$0" -c "$1" "$2" <(cat "$3")', sys.executable, code, self.work,
                               self.top / "mbox"], cwd=REPO, capture_output=True, check=True)
        self.assertEqual(done.stdout, b"2\n")

    def test_encoded_garbage(self) -> None:
        self.assertIn("it has no diff", self.error(base64.encodebytes(os.urandom(3000))))


if __name__ == "__main__":
    unittest.main()
