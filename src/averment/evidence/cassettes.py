"""The YAML of cassettes, as vcrpy and Ruby's VCR write it, to plain values.

Only JSON's types come out: `!!binary` is what its bytes say as UTF-8, or `{base64_string}` of other bytes, and tags
that make objects are refused. Aliases share what they repeat, so they cost nothing here; what a file would hold with
them written out is bounded, because whoever walks the values walks them all.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from averment.errors import EvidenceError, Problem
from averment.evidence.model import MAX_DEPTH
from averment.text.reading import NotTextError, decode_text

__all__ = ["MAX_VALUES", "read_yaml"]

MAX_VALUES = 10_000_000
"""How many values a file may hold, each alias counted as what it repeats."""

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,30}|[0-9]{1,30}\.[0-9]{0,30})(?:[eE][-+]?[0-9]{1,3})?")
_YAML = "tag:yaml.org,2002:"
_TEXTS = frozenset({"!", f"{_YAML}str", f"{_YAML}python/unicode", f"{_YAML}python/str", "!str"})
_BINARIES = frozenset({f"{_YAML}binary", f"{_YAML}python/bytes", "!binary"})
_PLAIN = frozenset({f"{_YAML}{kind}" for kind in ("int", "float", "bool", "null", "seq", "map", "timestamp")})


class _Refusal(Exception):  # noqa: N818 - it becomes a problem, and is called like one
    def __init__(self, code: str, message: str, event: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.mark = event.start_mark


def read_yaml(data: bytes, name: str | None) -> tuple[Any, int]:
    """The value of one YAML document, and how deep it nests.

    Raises:
        EvidenceError: with the place where it can't be read.
    """
    from yaml.error import YAMLError

    try:
        text, _, _ = decode_text(data)
    except NotTextError as problem:
        line, column = problem.place
        raise EvidenceError(
            Problem(code="invalid_encoding", message=problem.message, file=name, line=line, column=column)
        ) from None
    builder = _Builder()
    try:
        value = builder.build(text)
    except _Refusal as refusal:
        raise EvidenceError(_problem(refusal.code, refusal.message, name, refusal.mark)) from None
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        raise EvidenceError(_problem("yaml_syntax", "the file is not valid YAML", name, mark)) from None
    return value, builder.deepest


def _problem(code: str, message: str, name: str | None, mark: Any) -> Problem:
    place = {} if mark is None else {"line": mark.line + 1, "column": mark.column + 1}
    return Problem(code=code, message=message, file=name, expected="the YAML of a cassette", **place)


def _parser(text: str) -> Any:
    try:
        from yaml._yaml import CParser
    except ImportError:
        from averment.text.yamlscan import PythonParser

        return PythonParser(text)
    return CParser(text)


class _Builder:
    """Values from the events of a parser, in one pass and without recursion."""

    def __init__(self) -> None:
        self.deepest = 0
        self._anchors: dict[str, tuple[Any, int, int]] = {}
        """By the anchor's name: the value, how many values it holds, and how deep it nests."""
        self._open: list[_Level] = []
        self._root: Any = None
        self._documents = 0

    def build(self, text: str) -> Any:
        from yaml import events

        next_event = _parser(text).get_event
        while True:
            event = next_event()
            kind = type(event)
            if kind is events.ScalarEvent:
                self._put(_scalar(event), 1, 0, event)
                if event.anchor is not None and not self._is_key():
                    self._anchors[event.anchor] = (self._last, 1, 0)
            elif kind is events.MappingStartEvent or kind is events.SequenceStartEvent:
                self._begin({} if kind is events.MappingStartEvent else [], event)
            elif kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
                self._end()
            elif kind is events.AliasEvent:
                if event.anchor not in self._anchors:
                    raise _Refusal("yaml_alias", "an alias repeats what has no end yet", event)
                value, size, depth = self._anchors[event.anchor]
                self._put(value, size, depth, event)
            elif kind is events.DocumentStartEvent:
                self._documents += 1
                if self._documents > 1:
                    raise _Refusal("yaml_documents", "the file holds several documents", event)
            elif kind is events.StreamEndEvent:
                return self._root

    def _is_key(self) -> bool:
        return bool(self._open) and self._open[-1].has_key

    def _begin(self, container: Any, event: Any) -> None:
        if event.tag is not None and event.tag not in _PLAIN:
            raise _Refusal("yaml_tag", "the file has a tag that stands for an object", event)
        if len(self._open) >= MAX_DEPTH:
            raise _Refusal("evidence_too_deep", f"the file nests more than {MAX_DEPTH} levels deep", event)
        if self._open and isinstance(self._open[-1].value, dict) and not self._open[-1].has_key:
            raise _Refusal("yaml_key", "a key is no text", event)
        self._open.append(_Level(container, event))

    def _end(self) -> None:
        level = self._open.pop()
        if level.event.anchor is not None:
            self._anchors[level.event.anchor] = (level.value, level.size, level.depth)
        self._put(level.value, level.size, level.depth, level.event)

    def _put(self, value: Any, size: int, depth: int, event: Any) -> None:
        """Add a finished value to the container that is open."""
        self._last = value
        if len(self._open) + depth > MAX_DEPTH:
            raise _Refusal("evidence_too_deep", f"the file nests more than {MAX_DEPTH} levels deep", event)
        self.deepest = max(self.deepest, len(self._open) + depth)
        if not self._open:
            self._root = value
            return
        level = self._open[-1]
        level.size += size
        level.depth = max(level.depth, depth + 1)
        if level.size > MAX_VALUES:
            raise _Refusal("too_many_values", f"the file holds more than {MAX_VALUES:,} values", event)
        if isinstance(level.value, list):
            level.value.append(value)
        elif level.has_key:
            level.value[level.key] = value
            level.has_key = False
        else:
            key = event.value if hasattr(event, "value") else value
            if not isinstance(key, str):
                raise _Refusal("yaml_key", "a key is no text", event)
            if key in level.value:
                raise _Refusal("duplicate_key", "a key stands twice in one mapping", event)
            level.key, level.has_key = key, True


class _Level:
    """A container that is not finished."""

    __slots__ = ("depth", "event", "has_key", "key", "size", "value")

    def __init__(self, value: Any, event: Any) -> None:
        self.value = value
        self.event = event
        self.key = ""
        self.has_key = False
        self.size = 1
        self.depth = 1


def _scalar(event: Any) -> Any:
    text, tag = event.value, event.tag
    if tag in _BINARIES:
        return _binary(text, event)
    if tag is not None and tag not in _TEXTS | _PLAIN:
        raise _Refusal("yaml_tag", "the file has a tag that stands for an object", event)
    if tag in _TEXTS or not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) and abs(float(text)) < 1e300 else text


def _binary(text: str, event: Any) -> Any:
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise _Refusal("yaml_binary", "a binary value is no base64", event) from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64_string": base64.b64encode(data).decode("ascii")}
