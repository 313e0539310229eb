"""Which reader fits a value, and why: decided by what it holds, never by the name of a file.

A wrong guess here would become a wrong verdict with good grounds. So the readers' rules are strict and must not
overlap: where none fits, or two do, the input is refused with the list of what can be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from averment.errors import EvidenceError, Problem, nearest
from averment.evidence.decode import document_problem
from averment.evidence.draft import kind_of
from averment.evidence.formats import FORMATS, LISTS, NATIVE, TEXT, Format, by_name
from averment.evidence.readers import conversation

__all__ = ["Detected", "asked", "detect", "matches", "named", "refuse_document"]


class Detected(msgspec.Struct, frozen=True):
    """The format of a value, and the reason for thinking so; `several` when the value is a list of conversations."""

    format: Format
    why: str
    several: bool = False


_KEYS_TRIED = 20
"""Of an object that nothing fits, as many keys are compared with those of a conversation record."""

_ITEMS_TRIED = 20
"""In so many items of a list, marks are looked for; the first lines of a log may be about the log."""


def matches(value: Any) -> list[Detected]:
    """Every format that a value fits; averment's own loose shapes only when no other format does."""
    found = _fitting(value)
    if found or not isinstance(value, list) or not value:
        return found
    return [
        Detected(each.format, f"in its first item {each.why}", several=True)
        for each in _fitting(value[0])
        if each.format.whole
    ]


def _fitting(value: Any) -> list[Detected]:
    marks = set(_marks(value))
    found = [
        Detected(form, why)
        for form in FORMATS
        if (not form.marks or not form.marks.isdisjoint(marks)) and (why := form.fits(value)) is not None
    ]
    if len(found) > 1:
        return [each for each in found if each.format not in NATIVE] or found
    return found


def _marks(value: Any) -> Iterator[str]:
    """The keys by which formats are told apart, at the top of a value and in the first items of a list."""
    if isinstance(value, dict):
        yield from value
        for key in LISTS & value.keys():
            items = value[key]
            for item in items[:_ITEMS_TRIED] if isinstance(items, list) else ():
                yield from (f"{key}.{inner}" for inner in item) if isinstance(item, dict) else ()
    elif isinstance(value, list):
        for item in value[:_ITEMS_TRIED]:
            if isinstance(item, dict):
                yield from item
            elif isinstance(item, list):
                for inner in item[:_ITEMS_TRIED]:
                    yield from inner if isinstance(inner, dict) else ()
    elif isinstance(value, str):
        yield TEXT


def named(name: str) -> Format:
    """The format of that name.

    Raises:
        EvidenceError: there is none.
    """
    form = by_name.get(name)
    if form is None:
        raise EvidenceError(
            Problem(
                code="unknown_format",
                message="there is no format of that name",
                found=f"`{name[:60]}`",
                nearest=nearest(name, list(by_name)),
                mend="See `averment evidence formats`.",
            )
        )
    return form


def asked(form: Format, value: Any) -> Detected:
    """A value as what it was said to be, whatever it looks like."""
    is_list = isinstance(value, list) and len(value) > 0 and form.whole
    several = is_list and form.fits(value) is None and form.fits(value[0]) is not None
    return Detected(form, form.asked, several)


def detect(value: Any, name: str | None) -> Detected:
    """The one format that a value fits.

    Raises:
        EvidenceError: no format fits, several do, or the value is an assertion document.
    """
    refuse_document(value, name)
    found = matches(value)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"{detected.format.name} ({detected.why})" for detected in found)
        raise EvidenceError(
            Problem(
                code="ambiguous_format",
                message=f"this fits more than one format: {names}",
                file=name,
                mend=f"Say which: `--from {found[0].format.name}`.",
            )
        )
    if value == []:
        message, mend = (
            "an empty list can be a transcript or a trace",
            "Say which: pass it as the transcript or as the trace.",
        )
        raise EvidenceError(Problem(code="ambiguous_format", message=message, file=name, mend=mend))
    keys = [str(key) for key in value] if isinstance(value, dict) else []
    near = [known for key in keys[:_KEYS_TRIED] if (known := nearest(key, conversation.KEYS))]
    raise EvidenceError(
        Problem(
            code="unsupported_format",
            nearest=near[0] if near else None,
            message="no reader fits this: it is malformed, or in a format that this version doesn't read",
            file=name,
            expected=f"one of the formats {', '.join(by_name)}",
            found=kind_of(value),
            mend="See `averment evidence formats`; give a conversation record at least one of its keys, describe "
            "another format with `--mapping`, or convert the file.",
        )
    )


def refuse_document(value: Any, name: str | None) -> None:
    """Tell an assertion document that stands where evidence should.

    Raises:
        EvidenceError: with code `swapped_arguments`.
    """
    if isinstance(value, dict) and "version" in value and "assertions" in value:
        raise EvidenceError(document_problem(name))
