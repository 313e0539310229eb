"""gzip and zip files, unpacked in memory and within bounds.

A small archive can hold terabytes; so not more is unpacked than may be read, whatever its headers promise. The
archive of an Inspect log (`.eval`) is one log in many files, and becomes the value that its `.json` twin would be.
"""

from __future__ import annotations

import io
import struct
import zlib
from typing import TYPE_CHECKING

from averment.errors import EvidenceError, Problem
from averment.evidence.model import MAX_BYTES
from averment.text.shown import printable

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

__all__ = ["MAX_GZIP_MEMBERS", "MAX_MEMBERS", "gunzipped", "unzipped"]

MAX_MEMBERS = 10_000
"""How many files one zip archive may hold."""

MAX_GZIP_MEMBERS = 100_000
"""How many members one gzip file may have; a log that was packed piece by piece has many."""

_STEP = 2**20
_FED = 2**14
_GZIP = 31  # zlib's code for a gzip header and the largest window
_ENTRY = b"PK\x01\x02"
_PACKED = (b"\x1f\x8b", b"PK\x03\x04")
_STORED, _DEFLATED = 0, 8
_OF_FINDER = ("__MACOSX/", ".DS_Store")
"""What the macOS Finder adds to the archives that it makes: the names of folders, and of files anywhere."""


def gunzipped(data: bytes, name: str | None) -> bytes:
    """What a gzip file holds, of one or more members (RFC 1952).

    Raises:
        EvidenceError: it is damaged, cut short, or holds more than may be read.
    """
    parts: list[bytes] = []
    size = at = members = 0
    while at < len(data):
        members += 1
        if members > MAX_GZIP_MEMBERS:
            message = f"the gzip file has more than {MAX_GZIP_MEMBERS:,} members"
            raise EvidenceError(_too_many(message, MAX_GZIP_MEMBERS, name))
        inflater = zlib.decompressobj(_GZIP)
        try:
            while not inflater.eof:
                # Fed in pieces: what zlib leaves over, it copies each time.
                fed = inflater.unconsumed_tail or data[at : at + _FED]
                if not inflater.unconsumed_tail:
                    at += len(fed)
                part = inflater.decompress(fed, _STEP)
                size += len(part)
                if size > MAX_BYTES:
                    raise EvidenceError(_too_large(name))
                if not fed and not part and not inflater.eof:
                    raise EvidenceError(_damaged("the gzip file is cut short", name))
                parts.append(part)
        except zlib.error:
            raise EvidenceError(_damaged("the gzip file is damaged", name)) from None
        at -= len(inflater.unused_data)
        at = _behind_zeros(data, at)
    return _not_packed(b"".join(parts), name)


def _behind_zeros(data: bytes, at: int) -> int:
    """Tape drives pad with zeros, and so does gzip accept it."""
    while at < len(data) and data[at] == 0:
        rest = data[at : at + _FED]
        at += len(rest) - len(rest.lstrip(b"\0"))
    return at


def unzipped(data: bytes, name: str | None) -> list[tuple[str | None, bytes]]:
    """The files in a zip archive, in the order of their names, each with the name to show for it.

    Raises:
        EvidenceError: the archive is damaged, encrypted, or holds too many files or too much.
    """
    from zipfile import BadZipFile, ZipFile

    if data.count(_ENTRY) > MAX_MEMBERS:  # before an object is made of each
        message = f"the zip archive holds more than {MAX_MEMBERS:,} files"
        raise EvidenceError(_too_many(message, MAX_MEMBERS, name))
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            members = _files_of(archive, name)
            names = {each.filename for each in members}
            if not names.isdisjoint(("header.json", "_journal/start.json")):
                from averment.evidence.readers.inspect import LOG_MEMBERS, log_of

                members = [each for each in members if LOG_MEMBERS.fullmatch(each.filename)]
                return [(name, log_of(_unpack_all(archive, members, name)))]
            files = _unpack_all(archive, members, name)
    except EvidenceError:  # which is a ValueError
        raise
    except (BadZipFile, NotImplementedError, EOFError, struct.error, zlib.error, ValueError, OSError):
        raise EvidenceError(_damaged("the zip archive is damaged", name)) from None
    if not files:
        raise EvidenceError(Problem(code="empty_input", message="the zip archive holds no file", file=name))
    start = "" if name is None else f"{name}/"
    shown = {member: start + printable(member) for member in files}  # whoever packed it chose the names
    return [(shown[member], _not_packed(content, shown[member])) for member, content in files.items()]


def _files_of(archive: ZipFile, name: str | None) -> list[ZipInfo]:
    members = sorted(filter(_is_file, archive.infolist()), key=_filename)
    if len({each.filename for each in members}) != len(members):
        raise EvidenceError(_damaged("two files in the zip archive have one name", name))
    return members


def _unpack_all(archive: ZipFile, members: list[ZipInfo], name: str | None) -> dict[str, bytes]:
    files = {}
    size = 0
    for member in members:
        if member.flag_bits & 1:
            message, mend = "the zip archive is encrypted", "Unpack it first."
            raise EvidenceError(Problem(code="encrypted_archive", message=message, file=name, mend=mend))
        if member.compress_type not in (_STORED, _DEFLATED):
            message, mend = "the zip archive is packed in an unusual way", "Pack it with plain `zip`."
            raise EvidenceError(Problem(code="unusual_archive", message=message, file=name, mend=mend))
        with archive.open(member) as file:
            content = file.read(MAX_BYTES + 1 - size)
        size += len(content)
        if size > MAX_BYTES:
            raise EvidenceError(_too_large(name))
        files[member.filename] = content
    return files


def _is_file(member: ZipInfo) -> bool:
    folder, file = _OF_FINDER
    return not (
        member.filename.endswith("/")
        or member.filename.startswith(folder)
        or member.filename.rpartition("/")[2] == file
    )


def _filename(member: ZipInfo) -> str:
    return member.filename


def _not_packed(data: bytes, name: str | None) -> bytes:
    if data.startswith(_PACKED):
        message, mend = "this is an archive inside an archive", "Unpack the outer one first."
        raise EvidenceError(Problem(code="nested_archive", message=message, file=name, mend=mend))
    return data


def _damaged(message: str, name: str | None) -> Problem:
    return Problem(code="damaged_archive", message=message, file=name, mend="Fetch or pack it again.")


def _too_many(message: str, limit: int, name: str | None) -> Problem:
    expected, mend = f"at most {limit:,}", "Unpack it first, and split it."
    return Problem(code="too_many_files", message=message, file=name, expected=expected, mend=mend)


def _too_large(name: str | None) -> Problem:
    return Problem(
        code="file_too_large",
        message="what the archive holds is too large",
        file=name,
        expected=f"at most {MAX_BYTES:,} bytes unpacked",
        mend="Split it.",
    )
