from __future__ import annotations

import json
from typing import Any

import pytest

from averment.evidence import Evidence
from averment.evidence.readers.deepgram import fits
from samples import real, sample

MS = 1_000_000


def read(*channels: Any, **results: Any) -> Evidence:
    """The evidence of these channels."""
    return Evidence.from_bytes(json.dumps({"results": {"channels": channels, **results}}).encode())


def test_utterances_are_turns() -> None:
    """With their own ids and times, and a speaker's number as a label."""
    model = Evidence.load(sample("deepgram/utterances.json")).model
    assert model.conversation_id == "req-1"
    assert [(turn.id, turn.speaker, turn.text, turn.start_ns, turn.end_ns) for turn in model.turns or ()] == [
        ("utt-a", "speaker_0", "Garage Weber.", 80 * MS, 1500 * MS),
        ("utt-b", "speaker_1", "My brakes squeal.", 2000 * MS, 3250 * MS),
    ]
    assert model.metadata is not None
    assert model.metadata["duration"] == 6.5


def test_channels_are_put_in_order() -> None:
    """Of several channels each is a speaker, with several speakers each where they are told apart."""
    model = Evidence.load(sample("deepgram/channels.json")).model
    assert [(turn.speaker, turn.text, turn.start_ns) for turn in model.turns or ()] == [
        ("channel_0", "Garage Weber.", 100 * MS),
        ("channel_1_speaker_0", "My brakes", 2000 * MS),
        ("channel_1_speaker_1", "squeal.", 2600 * MS),
        ("channel_0", "Come at three. Goodbye.", 4000 * MS),
    ]
    assert "a further alternative is not read" in [note.detail for note in model.notes]


def test_channels_without_times_are_told() -> None:
    """Nothing says in which order they spoke."""
    channel = {"alternatives": [{"transcript": "Hello."}]}
    model = read(channel, channel).model
    assert [turn.speaker for turn in model.turns or ()] == ["channel_0", "channel_1"]
    assert [note.code for note in model.notes] == ["order_unknown"]


def test_a_text_alone_is_one_turn() -> None:
    """Where there are no words; without diarisation nobody is named."""
    turns = read({"alternatives": [{"transcript": "Hello."}]}).model.turns or ()
    assert [(turn.role_raw, turn.text, turn.clock) for turn in turns] == [(None, "Hello.", None)]


def test_odd_items_are_noted() -> None:
    """And counted as not read."""
    model = read({"alternatives": []}, utterances=[5, {"transcript": "Hi", "start": "x", "speaker": 0}]).model
    assert [note.code for note in model.notes] == ["item_not_read", "time_unreadable"]
    assert (model.sources[0].records, model.sources[0].records_read) == (2, 1)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"results": []},
        {"results": {}},
        {"results": {"channels": []}},
        {"results": {"channels": [5]}},
    ],
)
def test_other_results_are_not_deepgrams(value: Any) -> None:
    """Google and AWS have results too."""
    assert fits(value) is None


REAL = {
    # `.results.utterances | length` is 22; `.speaker` of the first four is 0, of the fifth 1
    "dg_speakers": (22, ["speaker_0"] * 4 + ["speaker_1"]),
    # no utterances; `.paragraphs.paragraphs` are 11, of the speakers 0, 1, 0, 1, 2 and so on
    "dg_speakers_no_utterances": (11, ["speaker_0", "speaker_1", "speaker_0", "speaker_1", "speaker_2"]),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files(name: str) -> None:
    """Counts by hand with jq."""
    model = Evidence.load(real(f"deepgram/deepgram-python-captions__test__{name}.json")).model
    turns = model.turns or ()
    assert (len(turns), [turn.speaker for turn in turns[:5]]) == REAL[name]
    assert turns[0].start_ns == 3040 * MS  # `.start` of the first is 3.04
