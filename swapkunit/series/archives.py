# SPDX-License-Identifier: GPL-2.0
"""Repairs what archives, lists and mail programs do to mails, so that git mailinfo can read them.

Such as a subject that an archive moved to the body, junk above the header, a missing or
wrong Content-Transfer-Encoding; and mails inside of mails: digests, attached patches, a
maintainer's notice about a queued patch.
"""
from __future__ import annotations

import base64
import binascii
import email
import email.message
import html
import re
import textwrap
from datetime import datetime

JUNK_LINES = 40         # lines that may precede a header or a subject
HEADER = re.compile(rb"[!-9;-~]+[ \t]*:|>?From ")
SUBJECT_HEADER = re.compile(rb"(?i)^\W*subject(?:\W*:|\t)")
TITLE = re.compile(rb"(?i)^\W{0,4}\[[^\]\n]*\b(?:PATCH|RFC)[^\]\n]*\]\s*\S")
BYLINE = re.compile(rb"^\[([^\]\n]+)\]\s*$")
QUEUED = re.compile(rb"(?s)\nThe patch titled\n.*?\n-{40,}\n(?=From: )")
PASTED = re.compile(rb"^>?From [0-9a-f]{40} Mon Sep 17 00:00:00 2001\n(?=[\w-]+:)", re.M)
REVIEW = re.compile(rb"(?s)(?<=\n\n)[\w.]+-stable review patch\..*?\n-{10,}\n\n(?=From: )")
CUT = re.compile(rb"^(?=[-\s]*(?:[-\s]*(?:>8|8<|>%|%<)[-\s]*)+$)(?=.*-.*-).*\n\s*(?:From|Subject):", re.M)
NAVIGATION = re.compile(rb"(?m)^\[(?:Date Prev|Thread Prev|prev in list|Download )[^\n]*\n")
JOINED = re.compile(rb"(?<=\n)\n(?=(?:(?:[A-Z][\w-]*:[ \t].*\n(?:[ \t].*\n)*)*?Subject:[ \t]+)?"
                    rb"\[[^\]\n]*\bPATCH\b[^\]\n]*\] )")
COVER = re.compile(rb"^(?:Subject:[ \t]+)?\[[^\]\n]*\b0+/\d+[^\]\n]*\] ", re.M)
COMMIT = re.compile(rb"^(?=commit [0-9a-f]{40}\b.*\n(?:Merge: .*\n)?Author: )", re.M)
COMMIT_DATE = re.compile(rb"^Date:\s+\w+ (\w+ \d+ [\d:]+ \d{4})", re.M)
DIGESTED = re.compile(rb"(?m)^Message: \d+\n(?=(?:[\w-]+:.*\n(?:[ \t].*\n)*)*?Subject:)")
OWN_HEADER = re.compile(rb"(?:>?From .*\n)?(?:[\w-]+:.*\n(?:[ \t].*\n)*)*?Subject:")
PAGE = re.compile(rb"(?:.*\n){0,20}?author\t(.*?)\t\d{4}-.*\n"
                  rb"(?:(?:committer|commit|tree|parent|download)\t.*\n)+(.*)\n")
SHOWN = re.compile(rb"commit [0-9a-f]{7,40}\b.*\n(?:Merge: .*\n)?Author: (.*)\n(?:.*\n)*?\n((?: {4}.*\n|\n)+)")
LORE_PAGE = re.compile(rb"(?s)\A.*?^From: (.*?) @ \d{4}-.*?^ *To: [^\n]*\n", re.M)
DIFF_STARTS = re.compile(rb"^(?:diff --git |--- \S|Index: )", re.M)
ENCODED = re.compile(rb"=[0-9A-F]{2}|=\r?$", re.M)
BARE_EQUAL = re.compile(rb"=(?![0-9A-F]{2}|\r?$)", re.M)


def enclosed(raw: bytes) -> list[bytes]:
    """The mails in a mail: of a digest, forwarded, or attached with headers; else [raw]."""
    digest = DIGESTED.split(raw.replace(b"\r\n", b"\n"))[1:]
    if len(digest) > 1:
        return digest
    if not re.search(rb"(?im)^content-type:\s*multipart/", raw.partition(b"\n\n")[0].replace(b"\r", b"")):
        return commits(raw) or joined(raw)
    found = []
    for part in email.message_from_bytes(raw).walk():
        if part.get_content_type() == "message/rfc822":
            found.append(part.get_payload(0).as_bytes())
        elif not part.is_multipart() and (part.get_filename() or part.get_content_type() != "text/plain"):
            text = (part.get_payload(decode=True) or b"").replace(b"\r\n", b"\n")
            found += [text] if OWN_HEADER.match(text) else []
    return found if any(DIFF_STARTS.search(one) or b"base64" in one for one in found) else [raw]


def commits(raw: bytes) -> list[bytes]:
    """Several commits as git log -p and git show print them, oldest first; [] for anything else."""
    found = COMMIT.split(raw)
    if found[0].strip() or len(found) < 3:
        return []
    dates = [datetime.strptime(match[1].decode(), "%b %d %H:%M:%S %Y") for match in map(COMMIT_DATE.search, found[1:])
             if match]
    return found[:0:-1] if dates and dates[0] > dates[-1] else found[1:]


def joined(raw: bytes) -> list[bytes]:
    """Mails pasted into one text, each with a header or a title and a diff."""
    found: list[bytes] = []
    for part in JOINED.split(raw):
        if found and DIFF_STARTS.search(part) and (DIFF_STARTS.search(found[-1]) or COVER.search(found[-1])):
            found.append(part)
        else:
            found = [*found[:-1], b"\n".join([*found[-1:], part])]
    return found


def dedented(data: bytes) -> bytes:
    """data without the white space that all lines begin with."""
    return textwrap.dedent(data.decode("latin-1")).encode("latin-1") if data[:1] in (b" ", b"\t") else data


def text_of_page(data: bytes) -> bytes:
    """The text of a page if data is HTML; else data."""
    if not re.match(rb"(?i)\s*<(?:!doctype html|html)\b", data):
        return data
    text = re.sub(r"(?is)<(script|style|head)\b.*?</\1>", "", data.decode("utf-8", "surrogateescape"))
    return html.unescape(re.sub(r"<[^>]*>", "", text)).lstrip().encode("utf-8", "surrogateescape")


def on_one_line(data: bytes) -> bool:
    """Whether a patch has lost its line ends."""
    return bool(re.search(rb"diff --git a/\S+ b/\S+ index [0-9a-f]+\.\.", data)) and not DIFF_STARTS.search(data)


def cut_below(raw: bytes) -> bool:
    """Whether a mail has a scissors line with the patch's own header below it."""
    return bool(CUT.search(raw.replace(b"\r\n", b"\n")))


def prepared(raw: bytes) -> bytes:
    """raw with a header that git mailinfo understands, and the right transfer encoding."""
    raw = text_part(raw.lstrip(b"\xef\xbb\xbf \t\r\n"))
    raw = REVIEW.sub(b"", NAVIGATION.sub(b"", raw), count=1)
    queued, shown, page = QUEUED.search(raw), SHOWN.match(raw), PAGE.match(raw)
    pasted = PASTED.search(raw, 1)
    if queued:                      # a notice that a patch was queued
        raw = raw[queued.end():]
    elif pasted and not DIFF_STARTS.search(raw, 0, pasted.start()):     # git format-patch below other text
        raw = raw[pasted.end():]
    commit = shown or page          # git show or git log -p; a commit as cgit shows it
    if commit:
        text = re.sub(rb"(?m)^    ", b"", commit[2]) if shown else commit[2] + b"\n"
        raw = b"From: " + commit[1] + b"\nSubject: " + text + raw[commit.end():]
    if raw.startswith(b"From "):
        first, _, rest = raw.partition(b"\n")
        return first + b"\n" + with_encoding(with_subject(rest))
    return with_encoding(with_subject(raw))


def text_part(raw: bytes) -> bytes:
    """Only the plain text of a mail that has text and HTML."""
    if not re.search(rb"(?im)^content-type:\s*multipart/alternative", raw.partition(b"\n\n")[0]):
        return raw
    mail = email.message_from_bytes(raw)
    text = next((part for part in mail.walk() if part.get_content_type() == "text/plain"), None)
    if text is None:
        return raw
    for name in ("Content-Type", "Content-Transfer-Encoding"):
        del mail[name]
        if name in text:
            mail[name] = text[name]
    mail.set_payload(text.get_payload())
    return mail.as_bytes(unixfrom=raw.startswith(b"From "))


def with_subject(raw: bytes) -> bytes:
    """Move a subject from the body, or from below junk, to the header."""
    lines = raw.split(b"\n")
    end = header_end(lines)
    if any(SUBJECT_HEADER.match(line) for line in lines[:end]) and HEADER.match(lines[0]):
        return raw
    number = next((number for number, line in enumerate(lines[:JUNK_LINES])
                   if SUBJECT_HEADER.match(line) or TITLE.match(line)), None)
    diff = DIFF_STARTS.search(raw)
    if number is None or (diff and raw[:diff.start()].count(b"\n") < number):
        return raw if end else b"Subject: \n\n" + raw
    if re.match(rb"(?i)subject\t", lines[number]):
        return tabbed(lines, number)
    if SUBJECT_HEADER.match(lines[number]):
        return below_junk(lines, number)
    title = re.sub(rb"^[^\[]*", b"", lines[number]).strip()
    kept = [line for line in lines[:end] if line.strip()]
    author, body = byline(lines[number + 1:])
    page = LORE_PAGE.match(b"\n".join(body[:JUNK_LINES]))
    if page:
        author, body = page[1], b"\n".join(body)[page.end():].split(b"\n")
    if author and not any(line.lower().startswith(b"from:") for line in kept):
        kept.append(b"From: " + author)
    return b"\n".join([*kept, b"Subject: " + title, b"", *body])


def header_end(lines: list[bytes]) -> int:
    """How many of the first lines are a header; 0 if there is none."""
    for number, line in enumerate(lines):
        if not HEADER.match(line) and not (number and line[:1] in (b" ", b"\t")):
            return number if not line.strip() else 0
    return 0


def below_junk(lines: list[bytes], number: int) -> bytes:
    """The mail from the header around line number ("Subject: .."), without the bullets of a web page."""
    start = number
    while start and lines[start - 1].strip() and re.match(rb"\W*[A-Za-z-]+\W*:", lines[start - 1]):
        start -= 1
    header, rest = [], lines[start:]
    while rest and rest[0].strip():
        header.append(re.sub(rb"^\W*([A-Za-z-]+)\W*?:\W*?[ \t]", rb"\1: ", rest.pop(0)))
    return b"\n".join([*header, *(rest or [b""])])


def tabbed(lines: list[bytes], number: int) -> bytes:
    """The mail from a header that a page shows as a table, "Subject<tab>..", around line number."""
    row = re.compile(rb"([A-Z][A-Za-z-]*)\t(?=\S)")
    start = end = number
    while start and row.match(lines[start - 1]):
        start -= 1
    while end < len(lines) and row.match(lines[end]):
        end += 1
    header = [row.sub(rb"\1: ", line, count=1) for line in lines[start:end]]
    end += end < len(lines) and bool(re.match(rb"share \d+\s*$", lines[end]))
    return b"\n".join([*header, b"", *lines[end:]])


def byline(lines: list[bytes]) -> tuple[bytes, list[bytes]]:
    """The author that an archive put below the title as "[Name <address>]", and the other lines."""
    for number, line in enumerate(lines[:4]):
        match = BYLINE.match(line)
        if match:
            return match[1].strip(), lines[number + 1:]
        if line.strip():
            break
    return b"", lines


def with_encoding(raw: bytes) -> bytes:
    """Correct Content-Transfer-Encoding and format=flowed in the header to what the text really is."""
    parts = re.match(rb"(?s)(.*?)(\r?\n\r?\n|\Z)(.*)", raw)
    assert parts        # the pattern matches any text
    head, blank, body = parts.groups()
    if re.search(rb"(?im)^content-type:\s*multipart", head):
        return raw
    if DIFF_STARTS.search(body) and re.search(rb"(?m)^ [^ ]", body):    # flowed text has no such line
        head = re.sub(rb"(?i);\s*format=\"?flowed\"?", b"", head)
    if re.search(rb"(?i)format=\"?flowed", head):                       # or git would join the next line to it
        body = re.sub(rb"(?m)^ +(?=\r?$)", b"", body)
    header = re.search(rb"(?im)^content-transfer-encoding:[ \t]*(\S*).*\n?", head)
    true = encoding_of(body)
    if header and header[1].lower() in (b"quoted-printable", b"base64") and header[1].lower() != true:
        head = head[:header.start()] + head[header.end():]
    if true and (not header or header[1].lower() != true):
        head += b"\nContent-Transfer-Encoding: " + true
    return head.rstrip(b"\r\n") + (blank or b"\n\n") + body


def encoding_of(body: bytes) -> bytes:
    """The encoding of body, or b"". Quoted-printable text has no bare "=", but C code has."""
    if DIFF_STARTS.search(body):
        return b"quoted-printable" if ENCODED.search(body) and not BARE_EQUAL.search(body) else b""
    if re.fullmatch(rb"[A-Za-z0-9+/=\s]+", body) and len(body) > 60:
        try:
            return b"base64" if DIFF_STARTS.search(base64.b64decode(body)) else b""
        except binascii.Error:
            return b""
    return b"quoted-printable" if ENCODED.search(body) and not BARE_EQUAL.search(body) else b""
