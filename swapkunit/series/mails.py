# SPDX-License-Identifier: GPL-2.0
"""Reads saved mails; git mailsplit and git mailinfo decode them.

archives first repairs what git needs and saved mails often lack.
"""
from __future__ import annotations

import bz2
import email.errors
import email.header
import email.parser
import email.policy
import email.utils
import gzip
import io
import lzma
import re
import tempfile
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Callable

from . import archives
from ..base import commands, git
from ..base.errors import SwapKunitError, UnusableInput

NOBODY = "unknown <unknown>"    # the author of a diff without a mail
LARGEST = 64 << 20      # bytes of one file, uncompressed
# By the first bytes of a file.
PACKED: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
DIFF = re.compile(r"^(?:diff --git .*|--- \S.*\n\+\+\+ \S.*\n@@ .*)$", re.M)
REPLY = re.compile(rb"(?i)(?:[!-9;-~]+:.*\n(?:[ \t].*\n)*|From .*\n)*?subject:\s*(?:re|aw):")
ENCODED_WORD = re.compile(rb"=\?[^?\s]*\?[qQbB](?:\?|$)", re.M)


@dataclass
class Mail:
    """A decoded mail. diff: "" if it has none; comment: the text between --- and the diff.

    reply: it was sent as an answer, even if the patch within it has a subject of its own.
    """

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
    reply: bool = False


# -- files -------------------------------------------------------------------


def read_mails(files: list[Path], work: Path) -> list[Mail]:
    """Every mail in files, which may be directories. Raises SwapKunitError."""
    mails: list[Mail] = []
    for path in (found for file in files for found in expand(file)):
        mails += split(content(path), str(path), work, len(mails))
    return mails


def check(files: list[Path]) -> None:
    """Raise SwapKunitError for a file that cannot be read; pipes are not read."""
    for path in (found for file in files for found in expand(file)):
        if not path.is_fifo() and str(path) != "-":
            content(path)


def expand(path: Path) -> list[Path]:
    """path, or the files of a directory or maildir in the order of their names."""
    try:
        if not path.is_dir():
            return [path]
        parts = [path / name for name in ("cur", "new") if (path / name).is_dir()] or [path]
        found = [entry for part in parts for entry in part.iterdir()
                 if entry.is_file() and not entry.name.startswith(".")]
    except OSError as error:
        raise SwapKunitError(f"cannot read patches from {path}: {error.strerror}; give mails, an mbox, or patches "
                             "of git format-patch") from error
    if not found:
        raise SwapKunitError(f"cannot read patches from {path}: the directory has no files; give mails, "
                             "an mbox, or patches of git format-patch")
    return sorted(found, key=lambda entry: [int(part) if part.isdigit() else part
                                            for part in re.split(r"(\d+)", entry.name)])


def content(path: Path) -> bytes:
    """A file's content, uncompressed. Raises SwapKunitError."""
    asked = f"cannot read patches from {path}"
    try:
        # Nobody may ever write to it; the pipes of a shell's <(..) are in /dev/fd.
        if path.is_fifo() and path.absolute().parts[1] not in ("dev", "proc"):
            raise SwapKunitError(f"{asked}: it is a named pipe; give a file, or - for stdin")
        with open(0 if str(path) == "-" else path, "rb", closefd=str(path) != "-") as file:
            data = file.read(LARGEST + 1)
        for magic, unpack in PACKED.items():
            if data.startswith(magic):
                with unpack(io.BytesIO(data)) as packed:
                    data = packed.read(LARGEST + 1)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise SwapKunitError(f"{asked}: {getattr(error, 'strerror', None) or error}; give a mail, an mbox, or "
                             "a patch of git format-patch") from error
    if len(data) > LARGEST:
        raise SwapKunitError(f"{asked}: it is larger than {LARGEST >> 20} MiB; give only the mails of one series")
    if not data.strip():
        raise SwapKunitError(f"{asked}: it is empty; save the mail again")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", "replace").encode()
    if re.search(rb"^\x1b\[[0-9;]*m(?:diff --git |@@ )", data, re.M):
        data = re.sub(rb"\x1b\[[0-9;]*[mK]", b"", data)       # terminal colors
    if b"\0" in data[:8192]:
        raise SwapKunitError(f"{asked}: it is not text; give a mail, an mbox, or a patch of git format-patch")
    return data


def split(data: bytes, source: str, work: Path, start: int = 0) -> list[Mail]:
    """The mails in data, by git mailsplit and mailinfo. Raises SwapKunitError."""
    data = archives.text_of_page(data)
    if archives.on_one_line(data):
        raise UnusableInput(f"cannot find a patch in {source}: all its lines were joined, as on some web pages; "
                            "save the raw mail")
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mails-", dir=work) as name:
        top = Path(name)
        parts = mbox(data, source, top) if data.lstrip().startswith(b"From ") else [
            archives.dedented(data.replace(b"\r\n", b"\n"))]
        raw = [one for part in parts for one in archives.enclosed(part)]
        return [decode(one, top / "one", source, start + number) for number, one in enumerate(raw)]


def mbox(data: bytes, source: str, top: Path) -> list[bytes]:
    """The mails of an mbox, by git mailsplit, which writes to top. Raises SwapKunitError."""
    whole = top / "mbox"
    whole.write_bytes(data)
    done = git.in_scratch(top, "mailsplit", "-d6", f"-o{top}", "-b", "--", whole)
    if done.status:
        raise UnusableInput(f"cannot split the mails in {source}: {commands.tail(done.output, 1)}; "
                            "give an mbox, or one file for each mail")
    return [path.read_bytes() for path in sorted(top.iterdir()) if path.name.isdigit()]


# -- one mail ----------------------------------------------------------------


def decode(raw: bytes, path: Path, source: str, position: int) -> Mail:
    """A mail, decoded by git mailinfo, which uses path. Raises SwapKunitError."""
    reply = bool(REPLY.match(raw))
    raw = archives.prepared(raw)
    message, rest = path.with_suffix(".message"), path.with_suffix(".rest")
    scissors = "--scissors" if archives.cut_below(raw) else "--no-scissors"
    for encoding, text in (("-u", raw), ("-n", raw),                    # -n: without conversion, for an unknown charset
                           ("-n", ENCODED_WORD.sub(b"", raw))):         # and without words that claim a wrong charset
        path.write_bytes(text)
        done = mailinfo(path, "-k", "--quoted-cr=strip", scissors, encoding, message, rest)
        if not done.status:
            break
    else:
        raise UnusableInput(f"cannot decode the mail in {source}: {commands.tail(done.output, 1)}; save it "
                            "again unchanged, with its headers")
    return replace(assemble(raw, done.output, (text_of(message), text_of(rest)), source, position), reply=reply)


def mailinfo(path: Path, *words: str | Path) -> commands.Finished:
    """Run git mailinfo with the mail in path as its stdin."""
    return commands.run(["sh", "-c", 'exec "$@" <"$0"', path, *git.git(), "mailinfo", *words], cwd=path.parent,
                        env=git.environment(path.parent))


def text_of(path: Path) -> str:
    """A file's text; invalid UTF-8 and carriage returns survive a round trip."""
    if not path.exists():
        return ""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def assemble(raw: bytes, printed: str, written: tuple[str, str], source: str, position: int) -> Mail:
    """A Mail from the fields (Author:, Email:, Subject:, Date:) that mailinfo printed and the texts it wrote."""
    message, rest = written
    fields = dict(line.split(": ", 1) for line in reversed(printed.splitlines()) if ": " in line)
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
    """A decoded header; unchanged if its encoding is invalid."""
    try:
        return str(email.header.make_header(email.header.decode_header(text)))
    except (LookupError, ValueError, email.errors.HeaderParseError):
        return text


def printable(text: str) -> str:
    """Untrusted text on one line, without control characters and invalid ones."""
    return "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))


def author_of(fields: dict[str, str], header: email.message.Message, message: str) -> str:
    """"Name <address>"; a missing part is taken from the sign-offs."""
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
    return f"{name or address} <{address}>"     # NOBODY if there is neither
