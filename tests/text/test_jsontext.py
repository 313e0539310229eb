from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from averment.text import jsontext
from averment.text.jsontext import (
    MAX_EVIDENCE_DEPTH,
    JSONProblem,
    NonFinite,
    canonical,
    decode,
    digest,
    pretty,
)

any_text = st.text(st.characters(exclude_categories=[]), max_size=8)  # lone surrogates too
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


def nested(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | numbers | texts,
        lambda parts: st.lists(parts, max_size=4) | st.dictionaries(texts, parts, max_size=4),
        max_leaves=12,
    )


def spell(value: Any) -> str:
    """Canonical JSON, written down once more from its definition."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return repr(value)
    if isinstance(value, float):
        return spell_float(value)
    if isinstance(value, str):
        return '"' + "".join(map(spell_character, value)) + '"'
    if isinstance(value, list):
        return "[" + ",".join(map(spell, value)) + "]"
    return "{" + ",".join(f"{spell(key)}:{spell(value[key])}" for key in sorted(value)) + "}"


def spell_float(value: float) -> str:
    """The digits are those of `repr`, the shortest that read back equal; the exponent is written in our way."""
    digits, _, exponent = repr(value).partition("e")
    if exponent == "-05":
        sign = "-" if value < 0 else ""
        return f"{sign}0.0000{digits.lstrip('-').replace('.', '')}"
    return f"{digits}e{int(exponent)}" if exponent else digits


def spell_character(character: str) -> str:
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
    code = ord(character)
    if character in short:
        return short[character]
    return f"\\u{code:04x}" if code < 0x20 or 0xD800 <= code < 0xE000 else character


def refusal(data: bytes | str) -> JSONProblem:
    with pytest.raises(JSONProblem) as caught:
        decode(data)
    assert str(caught.value) == caught.value.message
    return caught.value


@given(nested(any_text))
@example({"b": ["\ud800", {}], "a": "\udc00x"})
@settings(max_examples=200, deadline=None)
def test_canonical_json_is_its_definition(value: Any) -> None:
    """The fast writer and a plain one from the definition agree to the byte."""
    assert canonical(value) == spell(value).encode()


@given(nested(st.text(max_size=8)))
@settings(max_examples=200, deadline=None)
def test_canonical_json_is_read_back_and_written_the_same(value: Any) -> None:
    """Reading what was written gives the value, and writing that gives the bytes."""
    read = decode(canonical(value)).value
    assert json.dumps(read, sort_keys=True) == json.dumps(value, sort_keys=True)
    assert canonical(read) == canonical(value)


@given(st.dictionaries(any_text, numbers, max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_the_order_of_keys_changes_no_digest(value: dict[str, Any], random: Any) -> None:
    """An object has one spelling, however it was put together."""
    keys = list(value)
    random.shuffle(keys)
    assert canonical({key: value[key] for key in keys}) == canonical(value)
    assert digest({key: value[key] for key in keys}) == digest(value)


@given(nested(any_text))
@example({"b": ["\ud800", {}], "a": "\udc00x"})
@settings(max_examples=200, deadline=None)
def test_pretty_json_is_the_standard_layout(value: Any) -> None:
    """Two spaces, keys as given, one line end, and the same strings and numbers as canonical JSON."""
    expected = json.dumps(written_floats(value), indent=2, ensure_ascii=False)
    unquoted = re.sub('"float ([^"]*)"', r"\1", expected)
    assert pretty(value) == unquoted.encode("utf-8", "backslashreplace") + b"\n"


def written_floats(value: Any) -> Any:
    """The value with a text `float 1.5e16` for each float, which the standard library spells differently."""
    if isinstance(value, float):
        return f"float {spell_float(value)}"
    if isinstance(value, list):
        return [written_floats(part) for part in value]
    return {key: written_floats(part) for key, part in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"b": 1, "a": [True, None], "é": 1.0}, '{"a":[true,null],"b":1,"é":1.0}'),
        ({"😀": 1, "\uffff": 2, "Z": 3, "a": 4}, '{"Z":3,"a":4,"\uffff":2,"😀":1}'),
        (
            [10**30, 1e16, 1e15, -1.5e-5, 1e-6, -0.0, 0.1 + 0.2],
            "[1000000000000000000000000000000,1e16,1000000000000000.0,-0.000015,1e-6,-0.0,0.30000000000000004]",
        ),
        ("\ud800\x00\x7f\u2028/", '"\\ud800\\u0000\x7f\u2028/"'),
        ((1, ("a",)), '[1,["a"]]'),
        ([NonFinite("NaN")], '["NaN"]'),
    ],
)
def test_canonical_json_by_example(value: Any, written: str) -> None:
    """Code point order, raw characters, shortest floats, whole integers, escaped halves of characters."""
    assert canonical(value) == written.encode()


def test_a_digest_names_its_algorithm() -> None:
    """A digest is the SHA-256 of the canonical bytes."""
    assert digest({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize("write", [canonical, pretty])
@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        [math.inf],
        {"a": -math.inf},
        {1: 2},
        {None: 1},
        [{"a": ({True: 1},)}],
        {"a": 1, 2: 3},
        b"x",
        {1, 2},
        [10**5000],
    ],
)
def test_what_json_cannot_hold_is_not_written(write: Any, value: Any) -> None:
    """NaN, keys that are no strings, other types and endless integers are refused, never spelled some way."""
    with pytest.raises(JSONProblem) as caught:
        write(value)
    assert caught.value.code == "not_json_like"
    assert caught.value.offset is None


def test_a_cycle_is_refused() -> None:
    """A value that holds itself has no spelling."""
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(JSONProblem, match="holds itself"):
        canonical(cycle)


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=500, deadline=None)
def test_floats_have_one_spelling(number: float) -> None:
    """The shortest digits, as defined, whether or not a lone surrogate stands beside them."""
    assert canonical(number) == spell_float(number).encode()
    assert canonical(["\ud800", number]) == b'["\\ud800",' + canonical(number) + b"]"
    assert decode(canonical(number)).value == number


json_texts = nested(any_text).flatmap(
    lambda value: st.sampled_from(
        [
            json.dumps(value),
            json.dumps(value, ensure_ascii=False),
            json.dumps(value, separators=(" : ", " , ")[::-1]),
            json.dumps(value, indent=1).replace(":", "\\u003A"),
        ]
    )
)


@given(json_texts | st.text('[]{}",:\\u003aAnul19.eE- ', max_size=20))
@example('{"a":1,"a":2}')
@example('{"a":"\\u003a","a":":"}')
@example('{"a" : 1, "b":"\\u003A", "b":2}')
@example('{"a":{"a":":"},"a":{"a":1}}')
@example("1e-999")
@example("[1.00000000000000011102230246251565]")
@settings(max_examples=400, deadline=None)
def test_the_fast_reader_gives_what_the_thorough_one_gives(text: str) -> None:
    """Values, types and notes are the same, or the fast reader leaves the text to the other."""
    for data in (text, text.encode("utf-8", "surrogatepass")):
        fast = jsontext._read_usual(data)
        if fast is not None:
            thorough = jsontext._read_odd(data)
            assert repr(fast) == repr(thorough)
            assert fast.duplicates == fast.non_finite == ()


def test_an_ordinary_text_is_read_fast() -> None:
    """Colons in strings, escapes and line ends are nothing odd; a second key of one name is."""
    text = b'{"a": "x: \\u00e9:", "b:": [1.5, {"c":\n":"}]}'
    assert jsontext._read_usual(text) is not None
    assert jsontext._read_usual(text.replace(b'"b:"', b'"a"')) is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-be", "utf-32-be"])
def test_marked_encodings_are_decoded(encoding: str) -> None:
    """A byte order mark decides the encoding."""
    mark = "\ufeff" if encoding.endswith("be") else ""
    assert decode((mark + '{"é": "😀"}').encode(encoding)).value == {"é": "😀"}
    assert decode('\ufeff{"é": "😀"}').value == {"é": "😀"}


def test_integers_stay_integers_and_halves_of_characters_stay() -> None:
    """Nothing passes through a float, and a lone surrogate is kept as it came."""
    read = decode(b'[12345678901234567890123, 1.0, -0, "\\ud800", "\\ud83d\\ude00"]')
    assert read.value == [12345678901234567890123, 1.0, 0, "\ud800", "😀"]
    assert [type(number) for number in read.value[:3]] == [int, float, int]
    assert read.duplicates == read.non_finite == ()


def test_numbers_that_json_does_not_have_are_marked_and_noted() -> None:
    """NaN and the like become texts of their own type, and their paths are told in order."""
    read = decode(b'{"a": [NaN, 1e999], "b": {"c": -Infinity, "d": "NaN"}, "e": -1e999}')
    assert read.value == {"a": ["NaN", "1e999"], "b": {"c": "-Infinity", "d": "NaN"}, "e": "-1e999"}
    assert read.non_finite == (("a", 0), ("a", 1), ("b", "c"), ("e",))
    assert type(read.value["a"][1]) is NonFinite
    assert type(read.value["b"]["d"]) is str
    assert decode("Infinity").non_finite == ((),)


def test_repeated_keys_are_noted_and_the_last_value_is_kept() -> None:
    """The path of every repeated key is told once; what was overwritten has no path."""
    read = decode(
        b'{"a": 1, "b": [{"c": 1, "c": 2, "c": 3}], "a": {"x": 1, "x": 1}, "d": 0, "d": {"y": 0, "y": 0}}'
    )
    assert read.value == {"a": {"x": 1}, "b": [{"c": 3}], "d": {"y": 0}}
    assert read.duplicates == (("a",), ("d",), ("a", "x"), ("b", 0, "c"), ("d", "y"))
    assert decode(b'{"a": {"x": 1, "x": NaN}, "a": 1}').duplicates == (("a",),)


@pytest.mark.parametrize(
    ("data", "code", "offset", "line", "column"),
    [
        (b'{"a": 1', "json_truncated", 7, 1, 8),
        (b'{"a":\n [1, ', "json_truncated", 11, 2, 6),
        (b'{"a": "\xc3\xa9', "json_truncated", 9, 1, 9),
        (b'{"a": tru', "json_truncated", 9, 1, 10),
        (b'{"a"', "json_truncated", 4, 1, 5),
        (b"", "json_truncated", 0, 1, 1),
        (b"{'a': 1}", "json_syntax", 1, 1, 2),
        (b'{"\xc3\xa9":\r\n 1 2}', "json_syntax", 11, 2, 4),
        (b'["a\tb"]', "json_syntax", 3, 1, 4),
        (b"[01]", "json_syntax", 2, 1, 3),
        (b"[          x", "json_syntax", 11, 1, 12),
        (b'{"a": 1}\n{"b": 2}\n', "json_extra_data", 9, 2, 1),
        (b'"\xff"', "invalid_encoding", 1, 1, 2),
        (b'\xef\xbb\xbf["\xff"]', "invalid_encoding", 5, 1, 3),
        (b"\xff\xfe[\x00x\x00]\x00", "json_syntax", 4, 1, 2),
        (b"\xef\xbb\xbf[x]", "json_syntax", 4, 1, 2),
        ("é[", "json_syntax", 0, 1, 1),
        ("\ufeff[é", "json_syntax", 2, 1, 2),
        (b'["' + b"1" * 5000 + b'", -' + b"1" * 4301 + b"]", "number_too_large", 5006, 1, 5007),
        (b"[" * 10**6, "evidence_too_deep", 200, 1, 201),
        (b'{"[": ' * 10**5, "evidence_too_deep", 1200, 1, 1201),
        (b"[[]," + b"[" * 200 + b"]" * 201, "evidence_too_deep", 203, 1, 204),
    ],
)  # fmt: skip
def test_a_text_that_cannot_be_read_is_refused_with_its_place(
    data: bytes | str, code: str, offset: int, line: int, column: int
) -> None:
    """Every refusal has its code, its byte (character, for text), and its line and column."""
    problem = refusal(data)
    assert (problem.code, problem.offset, problem.line, problem.column) == (code, offset, line, column)


def test_depth_within_the_limit_is_read() -> None:
    """As many levels as allowed are read, whatever stands beside them."""
    deep = b'{"a":' * MAX_EVIDENCE_DEPTH + b"1" + b"}" * MAX_EVIDENCE_DEPTH
    assert decode(deep).value["a"]["a"]
    assert refusal(b"[" + deep + b"]").code == "evidence_too_deep"
    assert decode(b'["' + b"[" * 1000 + b'"]').value == ["[" * 1000]
    assert len(decode(b"[" + b"[]," * 500 + b"{}]").value) == 501


def test_a_text_over_the_limit_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Size is checked before anything else."""
    monkeypatch.setattr(jsontext, "MAX_EVIDENCE_BYTES", 10)
    assert decode(b'"12345678"').value == "12345678"
    assert refusal(b"\xff" * 11).code == "evidence_too_large"


def test_a_full_stack_of_the_caller_is_not_blamed_on_the_text() -> None:
    """A RecursionError that the text did not cause stays one."""

    def overflow(_text: str) -> Any:
        raise RecursionError

    with pytest.raises(RecursionError):
        jsontext._Text("[1]").read(overflow)


@given(st.binary(max_size=30) | st.text('[]{}",:\\u0d8 19.eE-+aNInfty\n', max_size=30).map(str.encode))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Nothing but JSONProblem leaves the reader, and its offset is inside the input."""
    try:
        decode(data)
        offset: int | None = 0
    except JSONProblem as problem:
        offset = problem.offset
    assert offset is not None
    assert 0 <= offset <= len(data)


def test_every_way_to_a_digest_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter's own SHA-256, OpenSSL's, and large inputs agree with `hashlib`."""
    expected = "sha256:" + hashlib.sha256(b"x").hexdigest()
    monkeypatch.setattr(jsontext, "_digests", itertools.count())
    assert [jsontext.sha256(b"x") for _ in range(20)] == [expected] * 20
    monkeypatch.setattr(jsontext, "_own_sha256", lambda: None)
    monkeypatch.setattr(jsontext, "_digests", itertools.count())
    assert jsontext.sha256(b"x") == expected
    large = b"x" * 2**21
    assert jsontext.sha256(large) == "sha256:" + hashlib.sha256(large).hexdigest()
