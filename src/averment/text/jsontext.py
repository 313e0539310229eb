"""JSON of evidence in, canonical JSON out.

Evidence is whatever an exporter wrote: it may hold NaN, a key twice, half of a surrogate pair or a thousand nested
lists, and none of that may pass unseen or stop the run with a traceback. What is written is the other extreme: one
spelling for each value, because digests are made over it.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any, NoReturn

import msgspec

from averment.text.reading import NotTextError, Reading, decode_text

__all__ = [
    "MAX_EVIDENCE_BYTES",
    "MAX_EVIDENCE_DEPTH",
    "Decoded",
    "JSONProblem",
    "NonFinite",
    "canonical",
    "canonical_known",
    "decode",
    "digest",
    "pretty",
    "pretty_known",
    "sha256",
]

MAX_EVIDENCE_BYTES = 512 * 2**20
"""The longest evidence text, in bytes (in characters when it is given as `str`)."""

MAX_EVIDENCE_DEPTH = 200
"""How many objects and arrays may stand inside each other."""

Path = tuple[str | int, ...]

_LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
_CONTAINERS = (dict, list, tuple)
_NESTING = frozenset({dict, list})
_SMALL, _FEW = 2**20, 8
_digests = count()
# Strings, to pass over what they hold, and either brackets or integers.
_STRING = r'"(?:[^"\\]++|\\.)*+"?'
_BRACKETS = rf"(?s:{_STRING})|[\[{{}}\]]"
_CUT = r"\.|[eE][+-]?|u[0-9a-fA-F]{0,4}"  # a number or an escape without its end
_INTEGERS = rf"(?s:{_STRING})|[0-9]++(?![.eE])"


class JSONProblem(ValueError):  # noqa: N818 - it is reported like a `Problem`, and called one
    """Why a text is not JSON that can be used, or a value can't be written as JSON. The text is never quoted.

    Attributes:
        code: lower snake case: evidence_too_large, evidence_too_deep, invalid_encoding, json_syntax,
            json_truncated, json_extra_data, number_too_large, not_json_like.
        message: one sentence without a full stop.
        offset: where, counted from 0 in bytes of the input, or in characters when the input was `str`; None when
            the problem has no place.
        line: 1-based line, or None.
        column: 1-based column in code points, or None.
    """

    def __init__(
        self,
        code: str,
        message: str,
        offset: int | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.offset = offset
        self.line = line
        self.column = column


class NonFinite(str):
    """A number that JSON does not have, kept as its text: `NaN`, `Infinity`, `-Infinity`, or one like `1e999`.

    A string, so that whatever only passes values on needs no case for it, and a digest over it exists; a type of
    its own, so that a check that looks at the value can see that it is not known.
    """

    __slots__ = ()


class Decoded(msgspec.Struct, frozen=True):
    """A JSON text's value and what its reader must note.

    Attributes:
        value: dict, list, str, int, float, bool, None or `NonFinite`.
        duplicates: the path of every key that stands more than once in its object; its last value is kept.
        non_finite: the path of every `NonFinite`.
        nesting: how many objects and arrays stand inside each other, at most.
    """

    value: Any
    duplicates: tuple[Path, ...]
    non_finite: tuple[Path, ...]
    nesting: int


def decode(data: bytes | str) -> Decoded:
    """Read one JSON text (RFC 8259) that an exporter wrote.

    Integers stay integers of any size up to Python's limit on digits. Lone surrogates are kept.

    Args:
        data: UTF-8, or UTF-16 or UTF-32 with a byte order mark, or text.

    Raises:
        JSONProblem: with the place where the text can't be read.
    """
    if len(data) > MAX_EVIDENCE_BYTES:
        raise JSONProblem("evidence_too_large", f"the text is longer than {MAX_EVIDENCE_BYTES // 2**20} MB")
    return _read_usual(data) or _read_odd(data)


def _read_usual(data: bytes | str) -> Decoded | None:
    r"""The value of a text in which there is nothing to note; None for any other text.

    A colon stands behind every key, and besides only in strings. So a value that is written again has as many colons
    as its text just when no key was lost to a second one of its name; unless a string writes its colon as `\u003a`.
    The arguments of a call often have no colons but those of their own keys, and need not be written for it.
    """
    try:
        raw = data.encode() if isinstance(data, str) else data
        value = _decode(raw)
        colons = raw.count(b":")
        if colons != (len(value) if type(value) is dict else 0) and (
            colons != _write(value).count(b":") or (b"\\" in raw and b"\\u003" in raw)
        ):
            return None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    nesting = _nesting(value, raw.count(b"[") + raw.count(b"{"))
    return None if nesting > MAX_EVIDENCE_DEPTH else Decoded(value, (), (), nesting)


def _read_odd(data: bytes | str) -> Decoded:
    """Any text's value, with what is to be noted, by the standard library's reader."""
    import json

    text = _Text(data)
    repeated: list[tuple[dict[str, Any], list[tuple[str, Any]]]] = []
    non_finite: list[str] = []

    def make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            repeated.append((made, pairs))
        return made

    def make_real(written: str) -> float | NonFinite:
        number = float(written)
        return number if math.isfinite(number) else make_non_finite(written)

    def make_non_finite(written: str) -> NonFinite:
        non_finite.append(written)
        return NonFinite(written)

    decoder = json.JSONDecoder(
        object_pairs_hook=make_object, parse_float=make_real, parse_constant=make_non_finite
    )
    value, nesting = text.read(decoder.decode)
    if repeated or non_finite:
        return Decoded(value, *_notes(value, {id(made): pairs for made, pairs in repeated}), nesting)
    return Decoded(value, (), (), nesting)


def canonical(value: Any) -> bytes:
    r"""The one spelling of a JSON value that digests are made over.

    UTF-8 without insignificant space, keys sorted by code point, integers as digits, floats in the shortest form that
    reads back equal: decimal (`0.00001`, `42.0`) from 1e-5 up to 1e16, else with an exponent (`1e-6`, `1.5e16`).
    Characters stand as they are except `"`, `\` and control characters, lone surrogates as `\udXXX`.

    Raises:
        JSONProblem: for NaN and infinities, keys that are not strings, and what JSON has no form for.
    """
    return _checked(canonical_known, value)


def canonical_known(value: Any) -> bytes:
    """Canonical JSON of what is known to hold nothing but JSON values, and may be a struct of them."""
    try:
        return _write_sorted(value)
    except UnicodeEncodeError:
        if isinstance(value, msgspec.Struct):
            value = msgspec.to_builtins(value, builtin_types=(NonFinite,))
        return _bytes(_spelled(value, sort=True))


def sha256(data: bytes) -> str:
    """`sha256:` and the hexadecimal digest of the bytes."""
    # OpenSSL is much the faster, and takes 2.5 ms to load: too long for the few small inputs of a single run.
    if len(data) < _SMALL and next(_digests) < _FEW and (own := _own_sha256()) is not None:
        return f"sha256:{own(data).hexdigest()}"
    import hashlib

    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@cache
def _own_sha256() -> Callable[[bytes], Any] | None:
    """The interpreter's own implementation, as `random` takes it; None where it was built without one."""
    import importlib

    for name in ("_sha2", "_sha256"):  # since 3.12, and before
        try:
            own: Callable[[bytes], Any] = importlib.import_module(name).sha256
        except ImportError:
            continue
        return own
    return None


def digest(value: Any) -> str:
    """`sha256:` and the hexadecimal SHA-256 of the canonical JSON of `value`."""
    return sha256(canonical(value))


def pretty(value: Any) -> bytes:
    """JSON for people: as canonical JSON, but indented by two spaces, keys as given, and a line end at the end.

    Raises:
        JSONProblem: as `canonical` does.
    """
    return _checked(pretty_known, value)


def pretty_known(value: Any) -> bytes:
    """JSON for people, of what is known to hold nothing but JSON values."""
    try:
        return msgspec.json.format(_write(value), indent=2) + b"\n"
    except UnicodeEncodeError:
        return _bytes(_spelled(value, sort=False, line="\n")) + b"\n"


class _Text:
    """A text with the way back from its characters to the input's bytes."""

    def __init__(self, data: bytes | str) -> None:
        self.encoding: str | None = None
        self.skipped = 0
        if isinstance(data, str):
            self.text = data.removeprefix("\ufeff")
            self.skipped = len(data) - len(self.text)
            return
        try:
            self.text, self.encoding, self.skipped = decode_text(data)
        except NotTextError as problem:
            raise JSONProblem("invalid_encoding", problem.message, problem.offset, *problem.place) from None

    def read(self, decode: Callable[[str], Any]) -> tuple[Any, int]:
        """The decoded value and how deep it nests at most, or the problem that stands in the way."""
        from json import JSONDecodeError

        text = self.text
        try:
            value = decode(text)
        except JSONDecodeError as error:
            self._refuse_syntax(error.msg, error.pos)
        except ValueError:
            limit = sys.get_int_max_str_digits()
            index = next(
                found.start()
                for found in re.finditer(_INTEGERS, text)
                if found[0][0] != '"' and len(found[0]) > limit
            )
            self._refuse("number_too_large", f"an integer has more than {limit} digits", index)
        except RecursionError:
            self._refuse_depth()
            raise  # the caller's own stack was full
        nesting = _nesting(value, text.count("[") + text.count("{"))
        if nesting > MAX_EVIDENCE_DEPTH:
            self._refuse_depth()
        return value, nesting

    def _refuse_syntax(self, message: str, index: int) -> NoReturn:
        rest = self.text[index:].strip()
        if message.startswith("Extra data"):
            self._refuse("json_extra_data", "something stands after the end of the JSON value", index)
        if (
            message.startswith("Unterminated string")
            or any(word.startswith(rest) for word in _LITERALS)
            or re.fullmatch(_CUT, rest)
        ):
            self._refuse("json_truncated", "the text ends before its JSON value does", len(self.text))
        self._refuse("json_syntax", "the text is not JSON", index)

    def _refuse_depth(self) -> None:
        """Refuse the first bracket that stands too deep, if there is one."""
        depth = 0
        for found in re.finditer(_BRACKETS, self.text):
            if found[0] in ("[", "{"):
                depth += 1
                if depth > MAX_EVIDENCE_DEPTH:
                    levels = f"more than {MAX_EVIDENCE_DEPTH} objects and arrays"
                    self._refuse("evidence_too_deep", f"{levels} stand inside each other", found.start())
            elif found[0] in ("]", "}"):
                depth -= 1

    def _refuse(self, code: str, message: str, index: int) -> NoReturn:
        before = self.text[:index]
        offset = self.skipped + (len(before.encode(self.encoding)) if self.encoding else index)
        line, column = Reading(before).place(index)
        raise JSONProblem(code, message, offset, line, column)


def _nesting(value: Any, brackets: int) -> int:
    """At most how many objects and arrays stand inside each other; no more than the text has opening brackets."""
    if brackets <= MAX_EVIDENCE_DEPTH:
        return brackets
    level: list[Any] = [[value]]
    for depth in range(MAX_EVIDENCE_DEPTH + 1):
        level = [
            part
            for container in level
            for part in (container.values() if type(container) is dict else container)
            if type(part) in _NESTING
        ]
        if not level:
            return depth
    return MAX_EVIDENCE_DEPTH + 1


def _notes(
    value: Any, repeated: dict[int, list[tuple[str, Any]]]
) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The paths of repeated keys and of numbers that JSON doesn't have, in the order of the value."""
    duplicates: list[Path] = []
    non_finite: list[Path] = []
    rest: list[tuple[Path, Any]] = [((), value)]
    while rest:
        path, part = rest.pop()
        if type(part) is NonFinite:
            non_finite.append(path)
        elif type(part) is list:
            rest.extend(((*path, index), item) for index, item in reversed(list(enumerate(part))))
        elif type(part) is dict:
            counts = Counter(key for key, _ in repeated.get(id(part), ()))
            duplicates.extend((*path, key) for key, count in counts.items() if count > 1)
            rest.extend(((*path, key), item) for key, item in reversed(part.items()))
    return tuple(duplicates), tuple(non_finite)


def _checked(write: Callable[[Any], bytes], value: Any) -> bytes:
    try:
        written = write(value)
        _check(value)
    except TypeError:
        raise JSONProblem("not_json_like", "JSON has no form for a part of the value") from None
    except ValueError:
        raise JSONProblem(
            "not_json_like", "JSON has no form for NaN, infinities and integers of that size"
        ) from None
    except RecursionError:
        raise JSONProblem("not_json_like", "the value holds itself, or is nested too deep") from None
    return written


def _check(value: Any) -> None:
    """Refuse what the writer would write in some way: NaN and infinities, keys that are not strings, other types."""
    rest: list[Any] = [[value]]
    for container in rest:
        if isinstance(container, dict) and not set(map(type, container)) <= {str}:
            raise TypeError
        for part in container.values() if isinstance(container, dict) else container:
            if isinstance(part, _CONTAINERS):
                rest.append(part)
            elif isinstance(part, float):
                if not math.isfinite(part):
                    raise ValueError
            elif not isinstance(part, (str, int, type(None))):
                raise TypeError


def _spelled(value: Any, *, sort: bool, line: str = "") -> str:
    """The text of a value with lone surrogates; `line` is the line end with the indentation, if there is one."""
    if isinstance(value, dict):
        ends, items = "{}", sorted(value.items()) if sort else value.items()
        colon = ": " if line else ":"
        parts = [
            f"{_text(key)}{colon}{_spelled(part, sort=sort, line=line and line + '  ')}"
            for key, part in items
        ]
    elif isinstance(value, _CONTAINERS):
        ends, parts = "[]", [_spelled(part, sort=sort, line=line and line + "  ") for part in value]
    elif isinstance(value, str):
        return _text(value)
    else:
        return _write(value).decode()
    if not parts:
        return ends
    inside = line and line + "  "
    return f"{ends[0]}{inside}{f',{inside}'.join(parts)}{line}{ends[1]}"


def _bytes(text: str) -> bytes:
    # Nothing but a lone surrogate lacks a form in UTF-8, and `\udXXX` is JSON's escape for it.
    return text.encode("utf-8", "backslashreplace")


def _text(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)


def _own_text(value: Any) -> str:
    """What stands for a value that msgspec has no form for: the text of a subclass of `str`."""
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError


_decode = msgspec.json.Decoder().decode
_write = msgspec.json.Encoder(enc_hook=_own_text).encode
_write_sorted = msgspec.json.Encoder(enc_hook=_own_text, order="sorted").encode
