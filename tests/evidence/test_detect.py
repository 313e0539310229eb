from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.detect import detect, matches
from averment.evidence.draft import Draft
from averment.evidence.formats import FORMATS, NATIVE, by_name

TOOL_MESSAGES = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": None, "tool_calls": []}]
RESPONSE_ITEMS = [
    {"type": "function_call", "name": "x", "arguments": "{}"},
    {"type": "message", "role": "user", "content": []},
]
PARTS = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]


def code(data: bytes) -> str:
    """The code of the problem that these bytes raise."""
    with pytest.raises(EvidenceError) as error:
        Evidence.from_bytes(data, name="input")
    assert all(problem.file == "input" for problem in error.value.problems)
    return error.value.problems[0].code


@pytest.mark.parametrize(
    ("value", "format_name"),
    [
        ([{"role": "agent", "text": "a"}], "transcript"),
        ([{"speaker": "a", "content": [{"type": "text", "text": "a"}]}], "transcript"),
        ({"segments": []}, "transcript"),
        ({"transcript": {"segments": []}}, "conversation"),
        ({"conversation_id": "c", "spans": []}, "conversation"),
        ([{"type": "tool_call", "name": "x"}], "voice_trace"),
        ([{"type": "anything", "start_sec": 1}], "voice_trace"),
        ({"schema": "hotato.voice_trace.v1", "spans": []}, "voice_trace"),
        ({"schema": "averment.evidence.v1"}, "evidence"),
        ([{"call_id": "c", "transcript": []}, {"call_id": "d", "transcript": []}], "conversation"),
        (TOOL_MESSAGES, "openai_chat"),
        ({"messages": TOOL_MESSAGES}, "openai_chat"),
        (RESPONSE_ITEMS, "openai_responses"),
        (PARTS, "anthropic"),
        ([{"type": "human", "content": "x"}], "langchain"),
        ({"resourceSpans": []}, "otlp"),
        ({"segments": [{"start": 0.0, "end": 1.0, "text": "x"}], "language": "en"}, "whisper"),
    ],
)
def test_a_shape_is_recognised_by_what_it_holds(value: Any, format_name: str) -> None:
    """Each shape fits one reader, and the reason for it is given; one with words of its own goes before a loose one."""
    detected = detect(value, None)
    assert detected.format.name == format_name
    assert detected.why


@pytest.mark.parametrize(
    "value",
    [
        {"messages": []},
        [{"type": "telegram", "name": "x"}],
        {"spans": 5, "version": 2, "more": [], "other": 1},
        [1],
        5,
        {},
    ],
)
def test_what_no_reader_fits_is_refused_and_not_guessed(value: Any) -> None:
    """Lists of nothing known, exports of unknown tools and scraps are not read as something they are not."""
    assert code(json.dumps(value).encode()) == "unsupported_format"


@pytest.mark.parametrize(
    ("value", "near"),
    [({"transcipt": []}, "transcript"), ({"messages": []}, None), ({"orchestra": []}, None), ({}, None)],
)
def test_a_misspelt_key_that_stands_alone_is_told_with_the_nearest_name(value: Any, near: str | None) -> None:
    """One key off is a typing mistake; the keys of other formats are near to none."""
    with pytest.raises(EvidenceError) as error:
        Evidence.from_bytes(json.dumps(value).encode())
    assert [(p.code, p.nearest) for p in error.value.problems] == [("unsupported_format", near)]


def test_the_refusal_lists_what_can_be_read() -> None:
    """Somebody with the wrong file learns which files would be right, by the names that `--from` has for them."""
    with pytest.raises(EvidenceError) as error:
        Evidence.from_bytes(b'{"orchestra": []}')
    problem = error.value.problems[0]
    assert (problem.expected or "").removeprefix("one of the formats ").split(", ") == list(by_name)
    assert "averment evidence formats" in (problem.mend or "")


def test_a_doubt_names_the_candidates_and_how_to_choose() -> None:
    """Each with why it fits; what was asked for is then read without a doubt, and says so."""
    data = b'{"segments": [], "transcript": []}'
    with pytest.raises(EvidenceError) as error:
        Evidence.from_bytes(data)
    problem = error.value.problems[0]
    assert problem.code == "ambiguous_format"
    assert "transcript (it has a list of segments)" in problem.message
    assert "conversation (it has `transcript`)" in problem.message
    assert problem.mend == "Say which: `--from conversation`."
    source = Evidence.from_bytes(data, from_format="transcript").model.sources[0]
    assert (source.format, source.why) == ("transcript", "it was asked for")


def test_a_format_of_that_name_there_must_be() -> None:
    """A misspelt one is told with the nearest."""
    with pytest.raises(EvidenceError) as error:
        Evidence.from_bytes(b"[]", from_format="open_ai_chat")
    problem = error.value.problems[0]
    assert (problem.code, problem.nearest) == ("unknown_format", "openai_chat")


def test_what_was_asked_for_is_asked_of_every_item_of_a_list() -> None:
    """A list of conversations is several of them, also where the format was said."""
    records = [{"call_id": "a", "spans": []}, {"call_id": "b", "spans": []}]
    found = Evidence.all_from_bytes(json.dumps(records).encode(), from_format="conversation")
    assert [each.model.conversation_id for each in found] == ["a", "b"]


def test_formats_do_not_fit_what_others_do() -> None:
    """No shape above is told by two readers that are not averment's own, whatever its marks."""
    value: Any
    for value in (TOOL_MESSAGES, RESPONSE_ITEMS, PARTS, {"messages": TOOL_MESSAGES}):
        fitting = [form.name for form in FORMATS if form not in NATIVE and form.fits(value) is not None]
        assert len(fitting) == 1


def test_the_marks_of_a_format_stand_in_all_that_it_fits() -> None:
    """Marks only spare the import of a reader: they decide nothing."""
    value: Any
    for value in (TOOL_MESSAGES, RESPONSE_ITEMS, PARTS, {"messages": TOOL_MESSAGES}, {"resourceSpans": []}):
        fitting = {form.name for form in FORMATS if form not in NATIVE and form.fits(value) is not None}
        assert fitting <= {each.format.name for each in matches(value)}


@pytest.mark.parametrize(
    "filler", [1, "x", [], {}, {"type": "x"}, {"role": "user", "content": "x"}, {"a": [{}]}]
)
def test_huge_lists_are_told_in_linear_time(filler: Any) -> None:
    """Ten times the items take about ten times as long, whatever they are."""

    def seconds(count: int) -> float:
        value = [filler] * count
        start = time.process_time()
        matches(value)
        return time.process_time() - start

    seconds(10)
    assert min(seconds(1_000_000) for _ in range(3)) < 40 * max(seconds(100_000), 0.002)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "empty_input"),
        (b" \n", "empty_input"),
        (b"[]", "ambiguous_format"),
        (b'{"segments": [], "transcript": []}', "ambiguous_format"),
        (b"\x1f\x8b\x08", "damaged_archive"),
        (b"PK\x03\x04", "damaged_archive"),
        (b'{"version": 1, "assertions": []}', "swapped_arguments"),
        (b"version: 1\nassertions:\n- id: a\n", "swapped_arguments"),
    ],
)
def test_bytes_that_are_no_evidence_say_what_they_are(data: bytes, expected: str) -> None:
    """Nothing, scraps of archives and assertion documents are each told as such."""
    assert code(data) == expected


def test_broken_lines_are_all_named_by_line() -> None:
    """Every line of a JSONL file that is no JSON is reported with its number."""
    data = b'{"_meta": true, "schema": "hotato.voice_trace.v1"}\n{"type": \n\n{"type": "a"}\nerror\n'
    with pytest.raises(EvidenceError) as error:
        Evidence.from_bytes(data)
    assert [problem.line for problem in error.value.problems] == [2, 5]


def test_a_broken_document_is_named_by_its_own_place() -> None:
    """JSON over several lines that breaks is no JSONL: the place of the mistake counts."""
    with pytest.raises(EvidenceError) as error:
        Evidence.from_bytes(b'{\n "transcript": [},\n "spans": []\n}')
    assert error.value.problems[0].line == 2


def test_a_byte_order_mark_is_no_obstacle() -> None:
    """A mark before the text is passed over."""
    record = b'{"conversation_id": "c", "transcript": []}'
    assert Evidence.from_bytes(b"\xef\xbb\xbf" + record).sha256 == Evidence.from_bytes(record).sha256


def test_lines_of_turns_and_of_spans_are_lists_of_them() -> None:
    """JSONL of turns or spans without a meta line is the list of its lines."""
    assert (
        len(
            Evidence.from_bytes(b'{"role": "a", "text": "x"}\n{"role": "b", "text": "y"}\n').model.turns or ()
        )
        == 2
    )
    assert len(Evidence.from_bytes(b'{"type": "tool_call"}\n{"type": "dtmf"}\n').model.spans or ()) == 2


@settings(deadline=None, max_examples=200)
@given(
    st.binary(max_size=60)
    | st.sampled_from(
        [
            b'{"type": "a"}\n',
            b"[[",
            b"SQLite format 3\x00",
            b"\xff\xfe[\x00",
            b'{"a":1,"a":2}',
            b"NaN",
            b'[{"role":',
        ]
    ).flatmap(lambda start: st.binary(max_size=20).map(lambda rest: start + rest))
)
def test_random_bytes_raise_nothing_but_evidence_errors(data: bytes) -> None:
    """Whatever the bytes are, the answer is evidence or a refusal."""
    for read in (Evidence.from_bytes, Evidence.all_from_bytes):
        try:
            read(data)
        except EvidenceError as error:
            assert error.problems  # noqa: PT017 - bytes that happen to be evidence raise nothing


def test_depth_is_limited_in_text() -> None:
    """Text that nests deeper than evidence may is refused, however deep."""
    for levels in (250, 100_000):
        code_of_deep = code(b'{"conversation_id": "c", "timing": ' + b"[" * levels + b"]" * levels + b"}")
        assert code_of_deep == "evidence_too_deep"


def test_repeated_keys_and_numbers_that_json_does_not_have_are_noted() -> None:
    """The last value of a repeated key counts and NaN is kept as text; both are told, with their places."""
    model = Evidence.from_bytes(
        b'{"transcript": [{"role": "a", "text": "x", "text": "y", "start": NaN}],'
        b' "spans": [{"type": "tool_call", "arguments": "{\\"a\\": 1, \\"a\\": 1e999}"}]}'
    ).model
    assert [turn.text for turn in model.turns or ()] == ["y"]
    assert [each.args for each in model.calls or ()] == [{"a": "1e999"}]
    assert [(note.code, note.loc) for note in model.notes] == [
        ("duplicate_key", "src_0#$.transcript[0].text"),
        ("non_finite", "src_0#$.transcript[0].start"),
        ("time_unreadable", "src_0#$.transcript[0]"),
        ("duplicate_key", "src_0#$.spans[0].arguments.a"),
        ("non_finite", "src_0#$.spans[0].arguments.a"),
    ]


def test_what_is_odd_in_many_conversations_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of many conversations with something to note is told of its own, and of no other's, text."""
    noted: list[int] = []
    note_text = Draft.note_text

    def counted(self: Draft, place: str, text: Any) -> None:
        noted.append(len(text.duplicates))
        note_text(self, place, text)

    monkeypatch.setattr(Draft, "note_text", counted)
    records = [b'{"call_id": "a", "call_id": "c%d", "spans": []}' % number for number in range(50)]
    for data in (b"\n".join(records), b"[" + b",".join(records) + b"]"):
        noted.clear()
        found = Evidence.all_from_bytes(data)
        assert [len(each.model.notes) for each in found] == [1] * 50
        assert noted == [1] * 50


def test_notes_stay_with_their_conversation() -> None:
    """In a file of several conversations, and in a list of them, each has the notes on its own text only."""
    one, other = b'{"call_id": "a", "call_id": "a", "spans": []}', b'{"call_id": "b", "spans": []}'
    for data in (other + b"\n" + one, b"[" + other + b"," + one + b"]"):
        first, second = Evidence.all_from_bytes(data)
        assert first.model.notes == ()
        assert [note.code for note in second.model.notes] == ["duplicate_key"]
        assert second.sha256 == Evidence.from_bytes(one).sha256
