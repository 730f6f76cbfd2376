# SPDX-License-Identifier: GPL-2.0
"""Mails as people keep them, taken apart by git: mailsplit and mailinfo do the decoding.

What git needs and a saved mail often lacks is put right before: a subject that an
archive moved into the body, junk above the header, a transfer encoding whose header
is lost (or whose header is still there, while the text is decoded already).
"""
from __future__ import annotations

import base64
import binascii
import email
import email.errors
import email.header
import email.parser
import email.policy
import email.utils
import gzip
import io
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from . import commands
from .errors import SwapKunitError

LARGEST = 64 << 20      # bytes of one file, unpacked
JUNK_LINES = 40         # so many lines may stand above a header or a subject
HEADER = re.compile(rb"[!-9;-~]+[ \t]*:|>?From ")
SUBJECT_HEADER = re.compile(rb"(?i)^\W*subject\W*:")
TITLE = re.compile(rb"(?i)^\W{0,4}\[[^\]\n]*\b(?:PATCH|RFC)[^\]\n]*\]\s*\S")
BYLINE = re.compile(rb"^\[([^\]\n]+)\]\s*$")
QUEUED = re.compile(rb"(?s)\nThe patch titled\n.*?\n-{40,}\n(?=From: )")
SHOWN = re.compile(rb"commit [0-9a-f]{7,40}\b.*\n(?:Merge: .*\n)?Author: (.*)\n(?:.*\n)*?\n((?: {4}.*\n|\n)+)")
LORE_PAGE = re.compile(rb"(?s)\A.*?^From: (.*?) @ \d{4}-.*?^ *To: [^\n]*\n", re.M)
DIFF_STARTS = re.compile(rb"^(?:diff --git |--- \S|Index: )", re.M)
DIFF = re.compile(r"^(?:diff --git .*|--- \S.*\n\+\+\+ \S.*\n@@ .*)$", re.M)
ENCODED_WORD = re.compile(rb"=\?[^?\s]*\?[qQbB](?:\?|$)", re.M)
ENCODED = re.compile(rb"=[0-9A-F]{2}|=\r?$", re.M)
BARE_EQUAL = re.compile(rb"=(?![0-9A-F]{2}|\r?$)", re.M)


@dataclass
class Mail:
    """One mail, decoded. diff is "" where it brings none; comment stands between --- and the diff."""

    subject: str
    author: str
    date: str
    message_id: str
    message: str
    comment: str
    diff: str
    source: str
    position: int
    parents: list[str] = field(default_factory=list)
    flowed: bool = False


# -- files -------------------------------------------------------------------


def read_mails(files: list[Path], work: Path) -> list[Mail]:
    """Every mail in files, which may be directories too. Raises SwapKunitError."""
    mails: list[Mail] = []
    for path in (found for file in files for found in expand(file)):
        mails += split(content(path), str(path), work, len(mails))
    return mails


def expand(path: Path) -> list[Path]:
    """path, or the files of a directory (a maildir too) in the order of their names."""
    if not path.is_dir():
        return [path]
    parts = [path / name for name in ("cur", "new") if (path / name).is_dir()] or [path]
    found = [entry for part in parts for entry in part.iterdir()
             if entry.is_file() and not entry.name.startswith(".")]
    if not found:
        raise SwapKunitError(f"cannot read patches from {path}: the directory has no files in it; give mails, "
                             "an mbox, or patches of git format-patch")
    return sorted(found, key=lambda entry: [int(part) if part.isdigit() else part
                                            for part in re.split(r"(\d+)", entry.name)])


def content(path: Path) -> bytes:
    """What is in a file, gunzipped. Raises SwapKunitError."""
    asked = f"cannot read patches from {path}"
    try:
        with open(0 if str(path) == "-" else path, "rb", closefd=str(path) != "-") as file:
            data = file.read(LARGEST + 1)
        if data.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(data)) as packed:
                data = packed.read(LARGEST + 1)
    except (OSError, EOFError) as error:
        raise SwapKunitError(f"{asked}: {getattr(error, 'strerror', None) or error}; give a mail, an mbox, or "
                             "a patch of git format-patch") from error
    if len(data) > LARGEST:
        raise SwapKunitError(f"{asked}: it has more than {LARGEST >> 20} MiB; give the mails of one series only")
    if not data.strip():
        raise SwapKunitError(f"{asked}: it is empty; save the mail again")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", "replace").encode()
    if b"\0" in data[:8192]:
        raise SwapKunitError(f"{asked}: it is not text; give a mail, an mbox, or a patch of git format-patch")
    return data


def split(data: bytes, source: str, work: Path, start: int = 0) -> list[Mail]:
    """The mails in data, by git mailsplit and mailinfo. Raises SwapKunitError."""
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mails-", dir=work) as name:
        top = Path(name)
        whole = top / "mbox"
        whole.write_bytes(data if data.lstrip().startswith(b"From ") else prepared(data))
        done = commands.run(["git", "mailsplit", "-d6", f"-o{top}", "-b", "--", whole], cwd=top, env=bare_git(top))
        if done.status:
            raise SwapKunitError(f"cannot take the mails in {source} apart: {commands.tail(done.output, 1)}; "
                                 "give it as an mbox, or one mail a file")
        parts = sorted(path for path in top.iterdir() if path.name.isdigit())
        return [decode(part, source, start + number) for number, part in enumerate(parts)]


def bare_git(cwd: Path) -> dict[str, str]:
    """The environment for a git that knows of no repository and of nobody's configuration."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return env | {"GIT_CEILING_DIRECTORIES": str(cwd.resolve().parent), "GIT_CONFIG_NOSYSTEM": "1",
                  "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C.UTF-8"}


# -- one mail ----------------------------------------------------------------


def decode(path: Path, source: str, position: int) -> Mail:
    """The mail in path, by git mailinfo. Raises SwapKunitError."""
    raw = prepared(path.read_bytes())
    message, rest = path.with_suffix(".message"), path.with_suffix(".rest")
    for encoding, text in (("--encoding=UTF-8", raw), ("-n", raw),      # -n: as it is, when the charset is unknown
                           ("-n", ENCODED_WORD.sub(b"", raw))):         # words that are not in the charset they name
        path.write_bytes(text)
        done = mailinfo(path, "-k", "--quoted-cr=strip", encoding, message, rest)
        if not done.status:
            break
    else:
        raise SwapKunitError(f"cannot decode the mail in {source}: {commands.tail(done.output, 1)}; save it "
                             "again as it came, with its headers")
    return assemble(raw, done.output, text_of(message), text_of(rest), source, position)


def mailinfo(path: Path, *words: str | Path) -> commands.Finished:
    """git mailinfo, which reads the mail in path on its stdin."""
    return commands.run(["sh", "-c", 'exec git mailinfo "$@" <"$0"', path, *words], cwd=path.parent,
                        env=bare_git(path.parent))


def text_of(path: Path) -> str:
    """A file's text; bytes that are no UTF-8 survive a round trip, and so does a carriage return."""
    if not path.exists():
        return ""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def assemble(raw: bytes, told: str, message: str, rest: str, source: str, position: int) -> Mail:
    """A Mail of what mailinfo told (Author:, Email:, Subject:, Date:) and wrote."""
    fields = dict(line.split(": ", 1) for line in told.splitlines() if ": " in line)
    header = email.parser.BytesParser(policy=email.policy.compat32).parsebytes(raw, headersonly=True)
    match = DIFF.search(rest)
    diff = rest[match.start():] if match else ""
    comment = rest[:match.start()] if match else rest
    author = author_of(fields, header, message)
    references = str(header.get("References", "")) + " " + str(header.get("In-Reply-To", ""))
    message_id = printable(str(header.get("Message-Id", ""))).strip(" <>")
    return Mail(subject=printable(fields.get("Subject", "")), author=printable(author),
                date=printable(fields.get("Date", "")), message_id=message_id,
                message=message.strip("\n"), comment=comment.removeprefix("---\n"), diff=diff, source=source,
                position=position, parents=re.findall(r"<([^<>\s]+)>", references),
                flowed="format=flowed" in str(header.get("Content-Type", "")).lower().replace(" ", ""))


def decoded(text: str) -> str:
    """A header's text; as it is where its encoding is nonsense."""
    try:
        return str(email.header.make_header(email.header.decode_header(text)))
    except (LookupError, ValueError, email.errors.HeaderParseError):
        return text


def printable(text: str) -> str:
    """A stranger's text on one line, without what would steer a terminal or is no character."""
    return "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))


def author_of(fields: dict[str, str], header: email.message.Message, message: str) -> str:
    """"Name <address>"; a part that is lost is looked for in the sign-offs."""
    name, address = fields.get("Author", ""), fields.get("Email", "")
    if not name and not address:
        given = decoded(str(header.get("From", "")))
        name, address = email.utils.parseaddr(given)
        name = name or given.strip()
    signed = re.findall(r"^Signed-off-by:\s*(.*?)\s*<([^>\n]*)>", message, re.M)
    if not name and signed:
        name, address = signed[0]
    if "@" not in address:
        wanted = name.split("@")[0].strip().casefold()
        masked = address if " " in address else "unknown"
        address = next((where for who, where in signed if who.casefold() == wanted), masked)
    return f"{name or address} <{address}>"


# -- what archives do to mails -----------------------------------------------


def prepared(raw: bytes) -> bytes:
    """raw with a header that git mailinfo understands, and a transfer encoding that is true."""
    raw = text_part(raw.lstrip(b"\xef\xbb\xbf \t\r\n"))
    queued, shown = QUEUED.search(raw), SHOWN.match(raw)
    if queued:                      # a patch taken into a queue, mailed with a word about it
        raw = raw[queued.end():]
    if shown:                       # git show, or git log -p
        text = re.sub(rb"(?m)^    ", b"", shown[2])
        raw = b"From: " + shown[1] + b"\nSubject: " + text + raw[shown.end():]
    if raw.startswith(b"From "):
        first, _, rest = raw.partition(b"\n")
        return first + b"\n" + with_encoding(with_subject(rest))
    return with_encoding(with_subject(raw))


def text_part(raw: bytes) -> bytes:
    """Of a mail that is there as text and as HTML, the text."""
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
    """A mail whose subject stands in the body or below junk gets it into its header."""
    lines = raw.split(b"\n")
    end = header_end(lines)
    if any(SUBJECT_HEADER.match(line) for line in lines[:end]) and HEADER.match(lines[0]):
        return raw
    number = next((number for number, line in enumerate(lines[:JUNK_LINES])
                   if SUBJECT_HEADER.match(line) or TITLE.match(line)), None)
    diff = DIFF_STARTS.search(raw)
    if number is None or (diff and raw[:diff.start()].count(b"\n") < number):
        return raw if end else b"Subject: \n\n" + raw
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
    """How many of the first lines are a header; 0: there is none."""
    for number, line in enumerate(lines):
        if not HEADER.match(line) and not (number and line[:1] in (b" ", b"\t")):
            return number if not line.strip() else 0
    return 0


def below_junk(lines: list[bytes], number: int) -> bytes:
    """The header around line number ("Subject: .."), bullets of a web page dropped from it."""
    start = number
    while start and lines[start - 1].strip() and re.match(rb"\W*[A-Za-z-]+\W*:", lines[start - 1]):
        start -= 1
    header, rest = [], lines[start:]
    while rest and rest[0].strip():
        header.append(re.sub(rb"^\W*([A-Za-z-]+)\W*?:\W*?[ \t]", rb"\1: ", rest.pop(0)))
    return b"\n".join([*header, *(rest or [b""])])


def byline(lines: list[bytes]) -> tuple[bytes, list[bytes]]:
    """The author an archive put below the title as "[Name <address>]", and the lines without it."""
    for number, line in enumerate(lines[:4]):
        match = BYLINE.match(line)
        if match:
            return match[1].strip(), lines[number + 1:]
        if line.strip():
            break
    return b"", lines


def with_encoding(raw: bytes) -> bytes:
    """Say quoted-printable or base64 where the text is, and do not where it is not; format=flowed as well."""
    head, blank, body = re.match(rb"(?s)(.*?)(\r?\n\r?\n|\Z)(.*)", raw).groups()
    if re.search(rb"(?im)^content-type:\s*multipart", head):
        return raw
    if DIFF_STARTS.search(body) and re.search(rb"(?m)^ [^ ]", body):    # a flowed text has no such line
        head = re.sub(rb"(?i);\s*format=\"?flowed\"?", b"", head)
    told = re.search(rb"(?im)^content-transfer-encoding:[ \t]*(\S*).*\n?", head)
    true = encoding_of(body)
    if told and told[1].lower() in (b"quoted-printable", b"base64") and told[1].lower() != true:
        head = head[:told.start()] + head[told.end():]
    if true and (not told or told[1].lower() != true):
        head += b"\nContent-Transfer-Encoding: " + true
    return head.rstrip(b"\r\n") + (blank or b"\n\n") + body


def encoding_of(body: bytes) -> bytes:
    """What body is encoded with, from its looks: C code has signs of equality with spaces around them."""
    if DIFF_STARTS.search(body):
        return b"quoted-printable" if ENCODED.search(body) and not BARE_EQUAL.search(body) else b""
    if re.fullmatch(rb"[A-Za-z0-9+/=\s]+", body) and len(body) > 60:
        try:
            return b"base64" if DIFF_STARTS.search(base64.b64decode(body)) else b""
        except binascii.Error:
            return b""
    return b"quoted-printable" if ENCODED.search(body) and not BARE_EQUAL.search(body) else b""
