from __future__ import annotations

import codecs
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.errors import EvidenceError, Problem
from averment.evidence import Evidence
from averment.evidence.decode import decode
from averment.evidence.draft import MAX_NOTES, MAX_PROBLEMS, Draft
from averment.evidence.load import drafts_of

WIDE = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
MARKS = {
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
SRT = "1\n00:00:01,000 --> 00:00:02,000\nhello\n\n2\n00:00:03,000 --> 00:00:04,000\n42\n"
VTT = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Agent>hello\n"
SBV = "0:00:01.000,0:00:02.000\nhello\n"


def problems(data: bytes) -> list[Problem]:
    with pytest.raises(EvidenceError) as error:
        decode(data, "input")
    return list(error.value.problems)


def wide(text: str, encoding: str) -> bytes:
    return MARKS[encoding] + text.encode(encoding, "surrogatepass")


# Encodings.


@pytest.mark.parametrize("encoding", WIDE)
def test_a_mark_says_how_text_is_encoded(encoding: str) -> None:
    """JSON, JSON Lines and subtitles alike, as Windows writes them."""
    assert decode(wide('{"a": "é"}', encoding), None).value == {"a": "é"}
    lines = decode(wide('{"a": 1}\r\n\r\n{"a": 2}\r\n', encoding), None)
    assert (lines.value, lines.lines) == ([{"a": 1}, {"a": 2}], [1, 3])
    for text in (SRT, VTT, SBV):
        assert decode(wide(text, encoding), None).value == text


def test_a_mark_of_utf_8_is_passed_over() -> None:
    """In JSON, in subtitles, and before any line of files that were put together."""
    mark = codecs.BOM_UTF8
    assert decode(mark + b"[1]", None).value == [1]
    assert decode(mark + b"[1]\n" + mark + b"[2]\n", None).value == [[1], [2]]
    assert decode(mark + SRT.encode(), None).value == SRT


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe",
        b"\xff\xfe{",
        b"\xff\xfe \x00\n\x00",
        codecs.BOM_UTF8,
        wide('{"a": 1}\n\ud800', "utf-16-le"),
        '{"a": 1}\n{"b": 2}'.encode("utf-16-le"),
        b'{"a": "\xe9"}',
    ],
)
def test_text_that_is_not_in_its_encoding_is_refused(data: bytes) -> None:
    """And not guessed."""
    assert {problem.code for problem in problems(data)} <= {
        "json_truncated",
        "invalid_encoding",
        "json_syntax",
    }


def test_subtitles_in_another_encoding_say_how_to_convert_them() -> None:
    """Their words would be a guess."""
    found = problems(SRT.replace("hello", "你好").encode("gb18030"))[0]
    assert (found.code, found.line) == ("invalid_encoding", 3)
    assert "iconv" in (found.mend or "")


# JSON.


@settings(deadline=None)
@given(st.integers(1, 200))
def test_truncated_json_names_the_byte_at_which_it_ends(end: int) -> None:
    """Wherever it is cut: in a key, a number, an escape or between two characters of it."""
    text = json.dumps({"a": [1.5e10, -2, "x\\é\U0001f600", True, None, {"b": [[]]}], "é": "last"}, indent=1)
    data = text.encode()[:end]
    found = problems(data)[0] if end < len(text) else None
    if found is not None:
        assert found.code == "json_truncated"
        assert found.message.endswith(f"after byte {len(data):,}")


def test_truncated_json_names_the_byte_of_the_file_whatever_its_encoding() -> None:
    """Bytes are counted as they stand in the file, the mark included."""
    assert problems(wide('{"a": "é', "utf-16-le"))[0].message.endswith("after byte 18")
    assert problems(codecs.BOM_UTF8 + '{"a": "é'.encode())[0].message.endswith("after byte 12")


def test_a_cut_last_line_is_named_by_its_number() -> None:
    """The other lines are whole."""
    found = problems(b'{"a": 1}\n{"a": 2}\n{"a": ')
    assert [(problem.code, problem.line) for problem in found] == [("json_truncated", 3)]


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": 9007199254740993}', {"a": 9007199254740993}),
        (b'{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        (b'{"a": NaN, "b": -Infinity, "c": 1e999}', {"a": "NaN", "b": "-Infinity", "c": "1e999"}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'{"a": "\\ud800"}', {"a": "\ud800"}),
        (b'{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
    ],
)
def test_odd_json_keeps_what_it_says(data: bytes, value: Any) -> None:
    """Integers beyond 2^53 are exact, numbers JSON does not have are text, halves of surrogate pairs stay."""
    decoded = decode(data, None)
    assert decoded.value == value
    assert [line for line, _ in decoded.odd] == ([None] if b"NaN" in data or data.count(b'"a"') > 1 else [])


def test_half_a_surrogate_pair_goes_through_to_the_evidence_file() -> None:
    """It is written as an escape, and read back."""
    evidence = Evidence.from_bytes(b'[{"role": "agent", "text": "x\\ud800"}]')
    assert Evidence.from_bytes(evidence.to_json()).to_json() == evidence.to_json()
    assert b"\\ud800" in evidence.to_json()


# JSON Lines and other texts.


def test_lines_that_are_json_are_a_list() -> None:
    """Empty lines don't count, and the lines keep their numbers."""
    decoded = decode(b'\n{"a": 1}\n \n{"a": 1, "a": 2}\r\n', None)
    assert (decoded.value, decoded.lines) == ([{"a": 1}, {"a": 2}], [2, 4])
    assert [line for line, _ in decoded.odd] == [4]


@pytest.mark.parametrize("text", [SRT, VTT, SBV, SRT.replace("\n", "\r\n"), " \n" + VTT])
def test_subtitles_are_text(text: str) -> None:
    """Also where numbers in them are JSON by themselves."""
    assert decode(text.encode(), None).value == text


@pytest.mark.parametrize(
    "text", ["1\nhello\n2\n", "true\nfalse or not\n", '"quoted"\nand not\n', "WEBVTTX\n"]
)
def test_text_of_which_some_lines_are_json_is_not_json_lines(text: str) -> None:
    """A first line that is a number makes no record of it."""
    assert [problem.code for problem in problems(text.encode())] in (["json_extra_data"], ["json_syntax"])


def test_broken_lines_are_named_up_to_a_bound() -> None:
    """After that reading stops: a file of a million bad lines is not worth a million problems."""
    found = problems(b'{"a": 1}\n' + b"bad\n" * 100_000)
    assert [problem.line for problem in found[:3]] == [2, 3, 4]
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1].code == "more_problems"
    start = time.process_time()
    problems(b'{"a": 1}\n' + b"bad\n" * 1_000_000)
    assert time.process_time() - start < 30


@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from(["", "1\n", '{"a": 1}\n', "WEBVTT", "interactions:\n", "\n\x00", *MARKS]),
    st.text(max_size=30),
    st.binary(max_size=30),
)
def test_no_bytes_raise_anything_but_an_evidence_error(start: str, text: str, rest: bytes) -> None:
    """Whatever they begin with."""
    data = (
        MARKS[start] + text.encode(start, "replace")
        if start in MARKS
        else (start + text).encode("utf-8", "replace")
    )
    try:
        decode(data + rest, None)
    except EvidenceError as error:
        assert error.problems  # noqa: PT017 - bytes that happen to be JSON raise nothing


# What is odd in many conversations, and how often it is told.


@pytest.mark.parametrize("depth", [1, 190])
def test_odd_places_are_sorted_to_their_conversations_in_linear_time(depth: int) -> None:
    """However deep they stand."""

    def seconds(count: int) -> float:
        inside = b"[" * depth + b",".join([b'{"a": 1, "a": 1}'] * count) + b"]" * depth
        data = b'[{"call_id": "x", "spans": [], "timing": ' + inside + b'}, {"call_id": "y", "spans": []}]'
        start = time.process_time()
        assert len(drafts_of(data, None)) == 2
        return time.process_time() - start

    assert min(seconds(20_000) for _ in range(3)) < 40 * max(seconds(2_000), 0.01)


def test_notes_of_one_kind_are_bounded() -> None:
    """The first are kept, the rest counted; notes of other kinds are not touched."""
    draft = Draft()
    for number in range(MAX_NOTES + 20):
        draft.note("bad_record", f"src_0#line {number}", "the record is bad", "info")
        if number % 100 == 0:
            draft.note("rare", f"src_0#line {number}", "rare")
    notes = draft.model().notes
    assert sum(note.code == "rare" for note in notes) == 11
    bad = [note for note in notes if note.code == "bad_record"]
    assert len(bad) == MAX_NOTES + 1
    assert bad[-1].loc == f"src_0#line {MAX_NOTES}"
    assert bad[-1].detail.startswith("20 more notes")
    assert {note.severity for note in bad} == {"info"}
