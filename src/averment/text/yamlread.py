"""YAML text to plain values, in one pass over the parser's events.

PyYAML scans and parses; what the words mean is decided here, by the YAML 1.2 core schema
(https://yaml.org/spec/1.2.2/#103-core-schema). Its node graph, resolver and constructor are not used: they hold the
YAML 1.1 surprises (`no` is false, `017` is fifteen, `12:30` is 750) and need a second and third pass. What lets one
text mean two things to two readers is refused by name: anchors, aliases, tags, merge keys, keys that stand twice,
keys that are no scalars, several documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from averment.text.reading import MAX_DOCUMENT_DEPTH, Reading, is_whole

if TYPE_CHECKING:
    from yaml.error import Mark, MarkedYAMLError

__all__ = ["read_yaml"]

_unprintable_ascii = re.compile("[^\t\n\r\x20-\x7e]").search


@cache
def _unprintable() -> Callable[[str], re.Match[str] | None]:
    """Finds what may not stand in a text; compiled for texts with other than ASCII only, as it takes 5 ms.

    YAML 1.2 `c-printable` without the byte order mark, and without NEL, LS and PS: to YAML 1.2 these three are ordinary
    characters, to PyYAML they end a line, so a text that holds one would say something else than it shows.
    """
    return re.compile(
        "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
    ).search


_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_START = frozenset("+-.0123456789")
_number = re.compile(
    r"([-+]?[0-9]+)|0o([0-7]+)|0x([0-9a-fA-F]+)"
    r"|([-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
    r"|([-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
).fullmatch


def read_yaml(reading: Reading) -> int | None:
    """Read the text of `reading` as YAML into it.

    Returns:
        The index where the text stops being YAML, or None. Mistakes that are not of syntax don't stop it.
    """
    if _refuse_characters(reading):
        return min(mistake.at for mistake in reading.mistakes)
    from yaml.error import MarkedYAMLError

    try:
        _build(reading)
    except MarkedYAMLError as error:
        return _refuse_syntax(reading, error)
    return None


def _build(reading: Reading) -> None:
    """Turn the parser's events into values, keeping where each one starts.

    The parser is libyaml's when PyYAML was built with it, else PyYAML's own. Events are told apart by their classes, which
    are had from where the parser has them: were `yaml` imported anew, `yaml.events` would hold other ones.
    """
    events: Any
    try:
        import yaml._yaml as events

        next_event = events.CParser(reading.text).get_event
    except ImportError:
        from averment.text.yamlscan import PythonParser, events

        next_event = PythonParser(reading.text).get_event
    scalar, alias = events.ScalarEvent, events.AliasEvent
    mapping_start, mapping_end = events.MappingStartEvent, events.MappingEndEvent
    sequence_start, sequence_end = events.SequenceStartEvent, events.SequenceEndEvent
    document_start, stream_end = events.DocumentStartEvent, events.StreamEndEvent
    outer: list[tuple[Any, Any, str | None, int]] = []  # the containers around the current one
    container: Any = None
    marks: Any = None
    key: str | None = None  # the key that waits for its value
    key_start = 0
    started = empty = False
    while True:
        event = next_event()
        kind = type(event)
        if kind is scalar:
            index = event.start_mark.index
            value = event.value
            plain = event.implicit[0]
            if event.anchor is not None or event.tag is not None:
                _refuse_properties(reading, event)
            if key is None and type(container) is dict:
                if plain and value in ("<<", ""):
                    _refuse_key(reading, index, value)
                key, key_start = value, index
                continue
            if plain:
                if not value:  # it has the place of its key: the next token may be far away
                    index = index if key is None else key_start
                    empty = container is None
                if value in _WORDS:
                    value = _WORDS[value]
                elif value[0] in _NUMBER_START:
                    value = _plain_number(reading, index, value)
        elif kind is mapping_start or kind is sequence_start:
            index = event.start_mark.index
            value = {} if kind is mapping_start else []
            if event.anchor is not None or event.tag is not None:
                _refuse_properties(reading, event)
        elif kind is mapping_end or kind is sequence_end:
            container, marks, key, key_start = outer.pop()
            continue
        elif kind is alias:
            index = event.start_mark.index
            value = None
            _refuse_alias(reading, index, event.anchor)
        elif kind is document_start and started:
            return _refuse_document(reading, event.start_mark.index)
        elif kind is stream_end:
            return None if started and not empty else _refuse_empty(reading)
        else:
            started = started or kind is document_start
            continue

        if type(container) is list:
            container.append(value)
            marks.append(index)
        elif container is None:
            reading.value, reading.start = value, index
        elif key is not None:
            if key in container:
                reading.duplicate(key, marks[key][0], key_start)
            else:
                marks[key] = (key_start, index)
            container[key] = value
            key = None
        else:
            if kind is not alias:
                _refuse_complex_key(reading, index)
            key, key_start = f"?{index}", index  # a stand-in, to read on and find the other mistakes

        if kind is mapping_start or kind is sequence_start:
            if len(outer) == MAX_DOCUMENT_DEPTH:
                return reading.too_deep(index)
            outer.append((container, marks, key, key_start))
            container, marks, key = value, {} if kind is mapping_start else [], None
            reading.marks[id(container)] = marks


def _plain_number(reading: Reading, index: int, text: str) -> int | float | str:
    """The number that a plain scalar is by the core schema, else the text itself."""
    found = _number(text)
    if found is None:
        return text
    decimal, octal, hexadecimal, real, _ = found.groups()
    if decimal is not None:
        return reading.integer(index, decimal)
    if octal is not None:
        return reading.integer(index, octal, 8)
    if hexadecimal is not None:
        return reading.integer(index, hexadecimal, 16)
    if real is not None:
        return reading.real(index, real)
    reading.not_finite(index, text)
    return 0.0


def _refuse_characters(reading: Reading) -> bool:
    """Note characters that YAML can't hold as they are, each once; whether there are any."""
    unprintable = _unprintable_ascii if reading.text.isascii() else _unprintable()
    if unprintable(reading.text) is None:
        return False
    for character in sorted(filter(unprintable, set(reading.text))):
        code = f"U+{ord(character):04X}"
        reading.mistake(
            reading.text.index(character),
            "invalid_character",
            f"{code} can't stand in YAML as it is",
            expected="printable characters, spaces and line ends",
            found=code,
            mend=f'Delete it, or write it in double quotes as "{_escape(ord(character))}".'
            if is_whole(character)
            else "Delete it: half of a surrogate pair is no character.",
        )
    return True


def _escape(code: int) -> str:
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _refuse_properties(reading: Reading, event: Any) -> None:
    """Note an anchor, a tag, or both before a value."""
    index = event.start_mark.index
    if event.anchor is not None:
        reading.mistake(
            index,
            "anchor_not_allowed",
            "anchors are not read here",
            expected="a value without an anchor",
            found=f"`&{event.anchor}`",
            mend="Delete the anchor, and write the value out wherever it is needed.",
        )
    if event.tag is not None:
        reading.mistake(
            index,
            "tag_not_allowed",
            "tags are not read here",
            expected="a value without a tag",
            found=reading.excerpt(index),
            mend="Delete the tag; put a value in quotes to make it a string.",
        )


def _refuse_alias(reading: Reading, index: int, anchor: str) -> None:
    reading.mistake(
        index,
        "alias_not_allowed",
        "aliases are not read here",
        expected="the value itself",
        found=f"`*{anchor}`",
        mend="Write the value out, or put the text in quotes if it only starts with `*`.",
    )


def _refuse_key(reading: Reading, index: int, key: str) -> None:
    """Note a merge key, or a pair without a key."""
    if key:
        reading.mistake(
            index,
            "merge_key_not_allowed",
            "merge keys are not read here",
            expected="keys written out",
            found="`<<`",
            mend="Write the keys out where they are needed.",
        )
    else:
        reading.mistake(
            index,
            "yaml_syntax",
            "a key is missing",
            expected="`key: value`",
            found=reading.excerpt(index),
            mend='Write the key; an empty one is written `""`.',
        )


def _refuse_complex_key(reading: Reading, index: int) -> None:
    reading.mistake(
        index,
        "complex_key",
        "a key must be a single word or text",
        expected="a scalar as the key",
        found=reading.excerpt(index),
        mend="Put the key in quotes if its brackets or braces are text.",
    )


def _refuse_document(reading: Reading, index: int) -> None:
    reading.mistake(
        index,
        "several_documents",
        "a second YAML document starts here",
        expected="one document in a file",
        found=reading.excerpt(index),
        mend="Put each document in its own file, or delete the `---` line.",
    )


def _refuse_empty(reading: Reading) -> None:
    reading.mistake(
        0,
        "empty_document",
        "the text holds no document",
        expected="YAML or JSON",
        found="only comments" if "#" in reading.text else "nothing",
        mend="Write a document, or name the right file.",
    )


# What PyYAML and libyaml say, each in its own words, and what we say instead: a part of their message, our message,
# and the mend. The first row that fits is used.
_SYNTAX = (
    (
        ("mapping values are not allowed",),
        "a second `: ` stands in one line",
        'Put the value in quotes: `key: "text: more"`.',
    ),
    (
        ("found unexpected ':'",),
        "a `:` stands before a bracket, brace or comma",
        "Write a space after the `:` of a pair, or put the text in quotes.",
    ),
    (
        ("could not find expected ':'",),
        "a line is neither `key: value` nor an item",
        "Write `key: value`, and put texts of several lines in quotes or after `|`.",
    ),
    (
        ("',' or ']'",),
        "a list in brackets is not closed",
        "Close it with `]`, and put a comma between its items.",
    ),
    (
        ("',' or '}'",),
        "a mapping in braces is not closed",
        "Close it with `}`, and put a comma between its pairs.",
    ),
    (
        ("found unexpected end of stream", "found unexpected document"),
        "a text in quotes is not closed",
        "Close the quote; inside single quotes write `''` for one.",
    ),
    (
        (
            "entries are not allowed",
            "'-' indicator",
            "expected key",
            "block end",
            "document start",
            "mapping keys",
        ),
        "the line does not fit what stands before it",
        "Start keys, or the `-` of a list, in one column; put a text that begins with a quote or bracket in quotes.",
    ),
    (
        ("expected node content", "expected the node content"),
        "a value is missing",
        "Write the value, or `null`.",
    ),
    (
        ("block scalar",),
        "only `+`, `-`, a digit and a comment can stand after `|` or `>`",
        "Start the text on the next line, or put it in quotes.",
    ),
    (
        ("scanning an a",),
        "`&` and `*` start anchors and aliases, which are not read here",
        "Put the value in quotes.",
    ),
    (
        (" a tag",),
        "`!` starts a tag, and tags are not read here",
        "Put the value in quotes.",
    ),
)


def _refuse_syntax(reading: Reading, error: MarkedYAMLError) -> int:
    """Note where and why the text stops being YAML, in words of our own; the index where it does."""
    text, said = reading.text, f"{error.context}: {error.problem}"
    mark: Mark | None = error.problem_mark or error.context_mark
    index = min(mark.index, len(text)) if mark is not None else 0
    if "nesting depth" in said:
        reading.too_deep(index)
        return index
    if "quoted scalar" in said and ("escape" in said or "hexdecimal" in said):
        index = text.rfind("\\", 0, index + 1)
        message = "a backslash starts no known escape here"
        mend = "Use single quotes: in them a backslash is just a backslash."
    elif "directive" in said or "incompatible" in said:
        index = text.rfind("%", 0, index + 1)
        message, mend = (
            "only the directive `%YAML 1.2` is known",
            "Delete the line, or put the value in quotes.",
        )
    elif "tab character" in said or ("cannot start any token" in said and text[index] == "\t"):
        message, mend = "a tab stands where only spaces may", "Indent with spaces."
    elif "cannot start any token" in said:
        message, mend = f"a value can't start with `{text[index]}`", "Put the value in quotes."
    else:
        rows = (row for row in _SYNTAX if any(part in said for part in row[0]))
        _, message, mend = next(
            rows, ((), f"this is not YAML: {error.problem}", "Correct the text at this place.")
        )
    opened: Mark | None = error.context_mark
    if opened is not None and reading.place(opened.index).line != reading.place(index).line:
        message += f" (what it belongs to starts at {reading.say(opened.index)})"
    reading.mistake(index, "yaml_syntax", message, found=reading.excerpt(index), mend=mend)
    return index
