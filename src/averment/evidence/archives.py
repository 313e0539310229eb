"""gzip and zip files, unpacked in memory and within bounds.

A small archive can hold terabytes; so not more is unpacked than may be read, whatever its headers promise. The
archive of an Inspect log (`.eval`) is one log in many files, and becomes the value that its `.json` twin would be.
"""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING

from averment.errors import EvidenceError, Problem
from averment.evidence.model import MAX_BYTES

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

__all__ = ["MAX_MEMBERS", "gunzipped", "unzipped"]

MAX_MEMBERS = 10_000
"""How many files one zip archive may hold."""

_STEP = 2**20
_GZIP = 31  # zlib's code for a gzip header and the largest window


def gunzipped(data: bytes, name: str | None) -> bytes:
    """What a gzip file holds, of one or more members (RFC 1952).

    Raises:
        EvidenceError: it is damaged, cut short, or holds more than may be read.
    """
    parts: list[bytes] = []
    size = 0
    while data:
        inflater = zlib.decompressobj(_GZIP)
        try:
            while not inflater.eof:
                part = inflater.decompress(data, _STEP)
                data = inflater.unconsumed_tail
                size += len(part)
                if size > MAX_BYTES:
                    raise EvidenceError(_too_large(name))
                if not part and not data and not inflater.eof:
                    raise EvidenceError(_damaged("the gzip file is cut short", name))
                parts.append(part)
        except zlib.error:
            raise EvidenceError(_damaged("the gzip file is damaged", name)) from None
        data = inflater.unused_data.lstrip(b"\0")  # tape drives pad with zeros, and so does gzip accept it
    return _not_packed(b"".join(parts), name)


def unzipped(data: bytes, name: str | None) -> list[tuple[str | None, bytes]]:
    """The files in a zip archive, in the order of their names, each with the name to show for it.

    Raises:
        EvidenceError: the archive is damaged, encrypted, or holds too many files or too much.
    """
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(io.BytesIO(data)) as archive:
            members = sorted((each for each in archive.infolist() if not each.is_dir()), key=_filename)
            if len(members) > MAX_MEMBERS:
                message = f"the zip archive holds {len(members):,} files"
                raise EvidenceError(
                    Problem(
                        code="too_many_files",
                        message=message,
                        file=name,
                        expected=f"at most {MAX_MEMBERS:,}",
                        mend="Split it.",
                    )
                )
            names = {each.filename for each in members}
            if "header.json" in names:
                from averment.evidence.readers.inspect import LOG_MEMBERS, log_of

                members = [each for each in members if LOG_MEMBERS.fullmatch(each.filename)]
                return [(name, log_of(_unpack_all(archive, members, name)))]
            files = _unpack_all(archive, members, name)
    except (BadZipFile, NotImplementedError, EOFError, zlib.error, ValueError, OSError):
        raise EvidenceError(
            _damaged("the zip archive is damaged, or packed in an unusual way", name)
        ) from None
    if not files:
        raise EvidenceError(Problem(code="empty_input", message="the zip archive holds no file", file=name))
    start = "" if name is None else f"{name}/"
    return [(start + member, _not_packed(content, start + member)) for member, content in files.items()]


def _unpack_all(archive: ZipFile, members: list[ZipInfo], name: str | None) -> dict[str, bytes]:
    files = {}
    size = 0
    for member in members:
        if member.flag_bits & 1:
            message, mend = "the zip archive is encrypted", "Unpack it first."
            raise EvidenceError(Problem(code="encrypted_archive", message=message, file=name, mend=mend))
        with archive.open(member) as file:
            content = file.read(MAX_BYTES + 1 - size)
        size += len(content)
        if size > MAX_BYTES:
            raise EvidenceError(_too_large(name))
        files[member.filename] = content
    return files


def _filename(member: ZipInfo) -> str:
    return member.filename


def _not_packed(data: bytes, name: str | None) -> bytes:
    if data.startswith((b"\x1f\x8b", b"PK\x03\x04")):
        message, mend = "this is an archive inside an archive", "Unpack the outer one first."
        raise EvidenceError(Problem(code="nested_archive", message=message, file=name, mend=mend))
    return data


def _damaged(message: str, name: str | None) -> Problem:
    return Problem(code="damaged_archive", message=message, file=name, mend="Fetch or pack it again.")


def _too_large(name: str | None) -> Problem:
    return Problem(
        code="file_too_large",
        message="what the archive holds is too large",
        file=name,
        expected=f"at most {MAX_BYTES:,} bytes unpacked",
        mend="Split it.",
    )
