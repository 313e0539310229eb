from __future__ import annotations

from typing import Any

import pytest

from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.model import MAX_TEXT_BYTES, Turn


def turns(transcript: Any) -> tuple[Turn, ...]:
    """The turns read from a transcript."""
    found = Evidence(transcript=transcript).model.turns
    assert found is not None
    return found


def notes(transcript: Any) -> list[tuple[str, str]]:
    """Code and place of every note on a transcript."""
    return [(note.code, note.loc) for note in Evidence(transcript=transcript).model.notes]


@pytest.mark.parametrize(
    "transcript",
    [[{"text": "a"}], {"segments": [{"text": "a"}]}, {"transcript": {"segments": [{"text": "a"}]}}],
)
def test_three_shapes_are_read(transcript: Any) -> None:
    """A list, an object with segments, and one inside another are the same transcript."""
    assert [turn.text for turn in turns(transcript)] == ["a"]


@pytest.mark.parametrize("transcript", [{"turns": []}, "text", 5, {"segments": 5}, {"transcript": None}])
def test_other_shapes_are_refused(transcript: Any) -> None:
    """Anything else is no transcript."""
    with pytest.raises(EvidenceError):
        turns(transcript)


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        ({"text": "a"}, "a"),
        ({"content": "a"}, "a"),
        ({"message": "a"}, "a"),
        ({"text": None, "content": "a"}, "a"),
        ({"text": "a", "content": "b"}, "a"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "content": "b"}, "c"]}, "a\nb\nc"),
        ({"content": [{"type": "image", "url": "x"}]}, ""),
        ({"text": None}, ""),
        ({}, ""),
    ],
)
def test_text_is_found_under_its_three_names(turn: dict[str, Any], text: str) -> None:
    """The first of text, content and message that is not null is the text; none is an empty text."""
    assert turns([turn])[0].text == text


@pytest.mark.parametrize("text", [5, True, {"a": 1}, ["x"]])
def test_a_text_that_is_no_string_is_an_error_that_names_the_turn(text: Any) -> None:
    """No other type is turned into text."""
    with pytest.raises(EvidenceError) as error:
        turns([{"text": "fine"}, {"text": text}])
    assert [(problem.code, problem.path) for problem in error.value.problems] == [
        ("text_not_string", "$.transcript[1].text")
    ]


@pytest.mark.parametrize(
    ("turn", "role_raw", "role"),
    [
        ({"role": "agent"}, "agent", "agent"),
        ({"role": " Assistant "}, " Assistant ", "agent"),
        ({"speaker": "CUSTOMER"}, "CUSTOMER", "user"),
        ({"role": "bot", "speaker": "Ann"}, "bot", "agent"),
        ({"role": "developer"}, "developer", "system"),
        ({"role": "function"}, "function", "tool"),
        ({"role": "narrator"}, "narrator", "other"),
        ({}, None, "unknown"),
        ({"speaker": 0}, None, "unknown"),
    ],
)
def test_roles_are_kept_as_written_beside_their_reading(
    turn: dict[str, Any], role_raw: str | None, role: str
) -> None:
    """The source's role is kept exactly; the reading of it knows the usual names in any case."""
    read = turns([turn])[0]
    assert (read.role_raw, read.role) == (role_raw, role)


def test_times_are_nanoseconds_since_the_start() -> None:
    """Seconds become nanoseconds by their decimal form, on the clock of the call."""
    turn = turns([{"text": "a", "start": 0.1, "end": 3}])[0]
    assert (turn.start_ns, turn.end_ns, turn.clock) == (100_000_000, 3_000_000_000, "call_relative")
    assert turns([{"text": "a"}])[0].clock is None


@pytest.mark.parametrize("start", ["0.5", True, 1e18, 1_700_000_000, [1]])
def test_a_time_that_is_no_number_of_seconds_is_noted_and_left_out(start: Any) -> None:
    """Text, booleans and times of day are not guessed at."""
    transcript = [{"text": "a", "start": start, "end": 2}]
    assert turns(transcript)[0].start_ns is None
    assert turns(transcript)[0].end_ns == 2_000_000_000
    assert notes(transcript) == [("time_unreadable", "src_0#$.transcript[0]")]


def test_a_turn_that_ends_before_it_starts_is_noted() -> None:
    """Both times are kept as written, and the contradiction is told."""
    assert notes([{"text": "a", "start": 2, "end": 1}]) == [("ends_before_start", "src_0#$.transcript[0]")]


def test_what_is_not_read_is_counted_once_per_key() -> None:
    """One note tells how many turns carried a key that is dropped."""
    transcript = [{"text": "a", "words": [], "confidence": 1}, {"text": "b", "words": [], "content": "c"}]
    found = Evidence(transcript=transcript).model.notes
    assert [note.detail for note in found] == [
        "`confidence` is not read (in 1 turns)",
        "`content` beside `text` is not read (in 1 turns)",
        "`words` is not read (in 2 turns)",
    ]
    assert all(note.severity == "info" for note in found)


def test_notes_on_dropped_keys_are_bounded() -> None:
    """A transcript of a thousand different keys gives few notes."""
    assert len(notes([{"text": "a", f"k{n}": 1} for n in range(1000)])) == 51


def test_ids_are_the_sources_own_where_they_are_unique() -> None:
    """An id that is taken, or could be that of another turn, is replaced by the position."""
    ids = [turn.id for turn in turns([{"id": "a"}, {"id": "a"}, {"id": "t_0"}, {"id": 5}, {}, {"id": "t_5"}])]
    assert ids == ["a", "t_1", "t_2", "t_3", "t_4", "t_5"]


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("x" * MAX_TEXT_BYTES, False),
        ("x" * (MAX_TEXT_BYTES + 1), True),
        ("é" * (MAX_TEXT_BYTES // 2 + 1), True),
    ],
)
def test_the_text_of_a_turn_is_limited(text: str, refused: bool) -> None:
    """One megabyte of UTF-8 is the most that one turn may hold."""
    for key in ("text", "content"):
        if refused:
            with pytest.raises(EvidenceError) as error:
                turns([{key: text}])
            assert error.value.problems[0].code == "text_too_long"
        else:
            assert len(turns([{key: text}])[0].text) == MAX_TEXT_BYTES


def test_interruption_and_finality_are_kept() -> None:
    """A turn that was cut off, or that a later one replaces, says so."""
    read = turns([{"text": "a", "interrupted": True, "final": False}, {"text": "b"}])
    assert [(turn.interrupted, turn.final) for turn in read] == [(True, False), (None, True)]
