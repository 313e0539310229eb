"""From files and bytes to conversations.

Only regular files are opened: a pipe or a device would block or never end. Parts given beside a conversation fill
what it doesn't have; nothing is merged by guess.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, BinaryIO

import msgspec

from averment.errors import EvidenceError, Problem
from averment.evidence.decode import Decoded, Odd, decode, unpacked
from averment.evidence.detect import Detected, asked, detect, matches, named, refuse_document
from averment.evidence.draft import Draft, Part, place_of, refusal
from averment.evidence.formats import NATIVE, Format, by_name
from averment.evidence.model import MAX_BYTES, Source
from averment.evidence.readers import conversation, state_json, state_sqlite, timing, transcript, voice_trace
from averment.text import jsontext

__all__ = ["Input", "Reading", "add_parts", "checked", "drafts_of", "drafts_of_value", "read_input"]

Input = str | os.PathLike[str] | BinaryIO
"""What evidence is read from: the path of a file, or something open for reading bytes, such as standard input."""


Reading = str | Format
"""How a file is to be read: the name of a format, or a format of its own, such as a mapping describes."""


class _Channel(msgspec.Struct, frozen=True):
    """A part that can be given by itself: the draft's attribute, the format's name and the reader."""

    attribute: str
    format: str
    read: Callable[[Part, Draft], None]


_CHANNELS = {
    "transcript": _Channel("turns", "transcript", transcript.read),
    "trace": _Channel("spans", "voice_trace", voice_trace.read),
    "timing": _Channel("timing", "timing", timing.read),
    "state": _Channel("states", "state", state_json.read),
}


def read_input(source: Input) -> tuple[bytes, str]:
    """The bytes of a regular file or an open one, and the name to show for it: the path as given.

    Raises:
        EvidenceError: there is no such file, it can't be read, is not regular or is too large.
    """
    if isinstance(source, (str, os.PathLike)):
        return _read_file(source)
    if not hasattr(source, "read"):
        raise EvidenceError(_bad_path(source))
    name = getattr(source, "name", None)
    name = name if isinstance(name, str) else "<stream>"
    return checked(source.read(MAX_BYTES + 1), name), name


def _read_file(path: str | os.PathLike[str]) -> tuple[bytes, str]:
    try:
        name = os.fsdecode(path)
        file = open(name, "rb", opener=_open_at_once)  # noqa: SIM115 - pathlib takes no opener; closed below
    except OSError as error:
        raise EvidenceError(_unopened(path, error)) from None
    except (ValueError, TypeError):  # a null in the name; a path-like object that gives none
        raise EvidenceError(_bad_path(path)) from None
    with file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise EvidenceError(_not_a_file(name, "this is no regular file"))
        try:
            data = b"" if status.st_size > MAX_BYTES else file.read(MAX_BYTES + 1) or b""
        except OSError as error:
            raise EvidenceError(_unopened(path, error)) from None
        if max(status.st_size, len(data)) > MAX_BYTES:
            raise EvidenceError(_too_large(name))
    return data, name


def _not_a_file(name: str, message: str) -> Problem:
    mend = "Write what it holds to a file first."
    return Problem(code="not_a_file", message=message, file=name, expected="a regular file", mend=mend)


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def checked(data: object, name: str | None) -> bytes:
    """The bytes that a caller gave, if they are bytes and not too many.

    Raises:
        EvidenceError: they are something else, or over the limit.
    """
    if not isinstance(data, bytes):
        raise EvidenceError(
            Problem(
                code="wrong_type",
                message="evidence is read from bytes",
                file=name,
                expected="bytes",
                found=type(data).__name__,
            )
        )
    if len(data) > MAX_BYTES:
        raise EvidenceError(_too_large(name))
    return data


def _too_large(name: str | None) -> Problem:
    return Problem(
        code="file_too_large",
        message="the input is too large",
        file=name,
        expected=f"at most {MAX_BYTES:,} bytes",
    )


def _unopened(path: object, error: OSError) -> Problem:
    name = str(path)
    if isinstance(error, FileNotFoundError):
        mend = "Check the path; a relative one begins at the working folder."
        return Problem(code="file_not_found", message="there is no such file", file=name, mend=mend)
    if isinstance(error, PermissionError):
        mend = "Check its permissions."
        return Problem(code="file_not_readable", message="the file may not be read", file=name, mend=mend)
    if isinstance(error, IsADirectoryError):
        return _not_a_file(name, "this is a folder")
    reason = errno.errorcode.get(error.errno or 0, "an error")
    return Problem(code="file_not_readable", message=f"the file can't be read ({reason})", file=name)


def _bad_path(path: object) -> Problem:
    expected = "a string, an os.PathLike or an open binary file"
    return Problem(
        code="bad_path", message="this is no path of a file", expected=expected, found=type(path).__name__
    )


def drafts_of(data: bytes, name: str | None, *, form: Reading | None = None) -> list[Draft]:
    """The conversations that a file holds, read and not yet finished.

    Args:
        data: what the file holds, also packed by gzip or zip.
        name: what to call it.
        form: the name of its format, or a mapping, for a file that is not recognised, or wrongly.

    Raises:
        EvidenceError: the bytes can't be decoded, or no reader fits them.
    """
    drafts = [
        draft
        for member, content in unpacked(data, name)
        for draft in _drafts_of(content, data if member == name else content, member, form)
    ]
    if not drafts:
        message = "the file is of a known format, and holds no conversation"
        raise EvidenceError(Problem(code="no_conversation", message=message, file=name))
    return drafts


def drafts_of_value(value: Any, *, form: Reading | None = None) -> list[Draft]:
    """The conversations that a Python value holds, JSON values or objects of an SDK; read and not yet finished.

    Args:
        value: the value; it is copied.
        form: the name of its format, or a mapping, for a value that is not recognised, or wrongly.

    Raises:
        EvidenceError: something in it can't be told as a JSON value, or no reader fits it.
    """
    from averment.evidence.objects import opened
    from averment.evidence.plain import plain

    copied, nesting = plain(value, opened)
    return _read(Decoded(copied, nesting, []), _detected(copied, None, form), None, None)


def _drafts_of(data: bytes, packed: bytes, name: str | None, form: Reading | None) -> list[Draft]:
    decoded = decode(data, name)
    return _read(decoded, _detected(decoded.value, name, form), packed, name)


def _detected(value: Any, name: str | None, form: Reading | None) -> Detected:
    if form is None:
        return detect(value, name)
    return asked(named(form) if isinstance(form, str) else form, value)


def _read(decoded: Decoded, detected: Detected, packed: bytes | None, name: str | None) -> list[Draft]:
    whole = Part(decoded.value, file=name, lines=decoded.lines)
    parts = [whole.item(index) for index in range(len(decoded.value))] if detected.several else [whole]
    if detected.several and detected.format not in NATIVE:
        _refuse_mixed(detected.format, parts)
    parts = [part for each in parts for part in detected.format.split(each)]
    source = msgspec.structs.replace(
        _source("src_0", packed, name, detected.format.name, detected.format.module), why=detected.why
    )
    drafts = []
    for part, odd in zip(parts, _odd_by_part(decoded.odd, parts), strict=True):
        draft = Draft()
        draft.sources.append(source)
        _begin(draft, decoded.nesting, odd, part.source)
        detected.format.read(part, draft)
        drafts.append(draft)
    return drafts


def _refuse_mixed(form: Format, parts: Iterable[Part]) -> None:
    """Refuse a list of conversations that are not all of the format that the first of them is."""
    problems = [
        part.problem("mixed_formats", "not every conversation is of the same format", expected=form.title)
        for part in parts
        if form.fits(part.value) is None
    ]
    if problems:
        raise refusal(problems)


def add_parts(draft: Draft, inputs: Mapping[str, Input | None]) -> None:
    """Read files that hold one part each, into what the conversation doesn't have yet.

    Args:
        draft: the conversation.
        inputs: by the name of the part: transcript, trace, timing, state.

    Raises:
        EvidenceError: a file can't be opened or decoded, or holds something else.
    """
    for key, given in inputs.items():
        if given is None:
            continue
        channel = _CHANNELS[key]
        if getattr(draft, channel.attribute) is not None:
            message = f"the conversation has a {key} already"
            draft.problems.append(Problem(code="given_twice", message=message, mend=f"Leave out one {key}."))
            continue
        data, name = read_input(given)
        source = draft.next_source()
        if key == "state" and data.startswith(state_sqlite.HEADER):
            if not isinstance(given, (str, os.PathLike)):
                message, mend = "a database can't be read from a stream", "Put it into a file."
                raise EvidenceError(Problem(code="not_a_file", message=message, file=name, mend=mend))
            draft.sources.append(_source(source, data, name, "sqlite", state_sqlite.__name__))
            state_sqlite.read(name, source, draft)
            continue
        packed, data = data, _only_file(data, name)
        decoded = decode(data, name)
        detected = _foreign(decoded) if key in _FOREIGN else None
        if detected is not None:
            _take(draft, _read(decoded, detected, packed, name), _FOREIGN[key], name)
            continue
        _refuse_other(key, channel.format, decoded, name)
        is_beside = key in _FOREIGN and not draft.is_native
        into = Draft() if is_beside else draft
        into.sources.append(_source(source, packed, name, channel.format, channel.read.__module__))
        part = Part(decoded.value, source, name, lines=decoded.lines)
        _begin(into, decoded.nesting, decoded.odd, source)
        channel.read(part, into)
        if is_beside:
            _take(draft, [into], _FOREIGN[key], name)


_FOREIGN = {"transcript": ("turns",), "trace": ("calls", "spans")}
"""What is taken of a file that is given as a part of a conversation, and is a conversation of its own."""


def _only_file(data: bytes, name: str | None) -> bytes:
    members = unpacked(data, name)
    if len(members) == 1:
        return members[0][1]
    message = f"the archive holds {len(members)} files, and a part of a conversation is one"
    raise EvidenceError(
        Problem(
            code="several_files", message=message, file=name, expected="one file", mend="Unpack it first."
        )
    )


def _foreign(decoded: Decoded) -> Detected | None:
    """The format of a value, when it has one that is none of averment's own."""
    found = matches(decoded.value)
    return found[0] if len(found) == 1 and found[0].format not in NATIVE else None


def _take(draft: Draft, drafts: list[Draft], parts: Sequence[str], name: str | None) -> None:
    """Take parts of the one conversation in a file; that it belongs here was declared, not how its clock reads."""
    from averment.evidence.merge import merged

    if len(drafts) != 1:
        raise EvidenceError(
            Problem(
                code="several_conversations",
                message=f"the file holds {len(drafts)} conversations, of which one would be a part of another",
                file=name,
                expected="one conversation",
                mend="Give the file with `--evidence`, which finds the one that belongs to it by its ids.",
            )
        )
    nesting = max(draft.nesting, drafts[0].nesting)
    draft.take(merged(draft.model(), drafts[0].model(), parts=parts))
    draft.nesting = nesting


def _odd_by_part(odd: Iterable[Odd], parts: Sequence[Part]) -> list[list[Odd]]:
    """What is odd in each of the conversations that a file holds; what belongs to none of them goes to the first."""
    where = {(part.line, part.path): index for index, part in enumerate(parts)}
    by_part: list[list[Odd]] = [[] for _ in parts]
    depths = sorted({len(part.path) for part in parts}, reverse=True)
    for line, text in odd:
        paths: dict[int, tuple[list[jsontext.Path], list[jsontext.Path]]] = {}
        for which, found in enumerate((text.duplicates, text.non_finite)):
            for path in found:
                prefixes = ((line, path[:depth]) for depth in depths if depth <= len(path))
                index = next((where[prefix] for prefix in prefixes if prefix in where), 0)
                paths.setdefault(index, ([], []))[which].append(path)
        for index, (duplicates, non_finite) in paths.items() if parts else ():
            of_part = msgspec.structs.replace(
                text, duplicates=tuple(duplicates), non_finite=tuple(non_finite)
            )
            by_part[index].append((line, of_part))
    return by_part


def _begin(draft: Draft, nesting: int, odd: Iterable[Odd], source: str) -> None:
    """Tell a draft what is to be known of the text that it is read from."""
    draft.nesting = max(draft.nesting, nesting)
    for line, text in odd:
        draft.note_text(place_of(source, line), text)


def _refuse_other(key: str, expected: str, decoded: Decoded, name: str) -> None:
    """Tell a file that holds another kind of evidence than it was given as."""
    value = decoded.value
    refuse_document(value, name)
    if value == []:
        return
    found = [detected.format for detected in matches(value)]
    if key in ("state", "timing"):
        # Nearly anything can be a state or timing; only what is surely something else is told. One key of a
        # conversation may well be the name of a resource.
        several = isinstance(value, dict) and len(value.keys() & set(conversation.KEYS)) > 1
        sure = {"evidence", "voice_trace", *(["conversation"] if several else [])}
        found = [form for form in found if form.name in sure]
    if any(form.name == expected for form in found):
        return
    if found and not (key == "transcript" and isinstance(value, dict) and value.keys() == {"transcript"}):
        mend = "Give a whole conversation without naming a part."
        raise EvidenceError(
            Problem(
                code="swapped_arguments",
                message=f"this is no {key} but {found[0].title}",
                file=name,
                mend=mend,
            )
        )
    if (
        key == "trace"
        and isinstance(value, list)
        and any(isinstance(item, dict) and "type" in item for item in value)
    ):
        message = "these objects have a type, but are no spans of a native trace"
        raise EvidenceError(
            Problem(
                code="unsupported_format", message=message, file=name, expected=by_name["voice_trace"].title
            )
        )


def _source(source: str, data: bytes | None, name: str | None, form: str, reader: str) -> Source:
    return Source(
        id=source,
        name=None if name is None else os.path.basename(name),
        sha256=None if data is None else jsontext.sha256(data),
        bytes=None if data is None else len(data),
        format=form,
        reader=reader,
    )
