from __future__ import annotations

import json
from typing import Any

import pytest

from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.readers.whisper import fits
from samples import all_counts, real, sample

MS = 1_000_000


def read(*segments: Any, **fields: Any) -> Evidence:
    """The evidence of these segments."""
    return Evidence.from_bytes(
        json.dumps({"segments": segments, "language": "en", "text": "", **fields}).encode()
    )


def test_segments_are_turns() -> None:
    """With times in seconds, and the speaker where WhisperX names one."""
    model = Evidence.load(sample("whisper/whisperx.json")).model
    assert [(turn.speaker, turn.text, turn.start_ns, turn.end_ns) for turn in model.turns or ()] == [
        ("SPEAKER_00", "Good morning, garage Weber.", 500 * MS, 2040 * MS),
        ("SPEAKER_01", "My brakes squeal. Oh?", 2500 * MS, 4000 * MS),
        (None, "Can I come today?", 4100 * MS, 5000 * MS),
    ]
    assert (model.turns or ())[1].loc == "src_0#$.segments[1]"
    assert model.metadata == {"language": "en"}


def test_a_segment_of_several_speakers_is_told() -> None:
    """The second segment holds a word of the other speaker."""
    notes = Evidence.load(sample("whisper/whisperx.json")).model.notes
    assert [note.loc for note in notes if note.code == "several_speakers"] == ["src_0#$.segments[1]"]


def test_openai_files_are_read() -> None:
    """Nobody is named in them."""
    model = Evidence.load(sample("whisper/openai.json")).model
    assert [(turn.role_raw, turn.text) for turn in model.turns or ()] == [
        (None, "Hello."),
        (None, "I'd like a table."),
    ]
    assert model.metadata == {"language": "english", "duration": 6.0, "task": "transcribe"}


def test_silence_is_an_empty_transcript() -> None:
    """No segments, and no speech."""
    model = read().model
    assert (model.turns, model.sources[0].format) == ((), "whisper")


def test_odd_segments_are_noted() -> None:
    """What has no text is not read; a time that is no number is left out."""
    model = read({"start": 0, "end": 1, "text": "a"}, 5, {"text": None}, {"text": "b", "start": "x"}).model
    assert [note.code for note in model.notes] == ["item_not_read", "text_not_string", "time_unreadable"]
    assert (model.sources[0].records, model.sources[0].records_read) == (4, 2)


@pytest.mark.parametrize(
    "value",
    [
        *(None, 5, "x", [], {}, {"segments": 1}, {"segments": []}, {"segments": [1], "language": "en"}),
        {"segments": [{"role": "agent", "text": "a", "start": 0, "end": 1}], "language": "en"},
        {"segments": [{"speaker": "A", "text": "a", "start": 0, "end": 1}]},
    ],
)
def test_other_segments_are_not_whispers(value: Any) -> None:
    """A plain transcript has segments too."""
    assert fits(value) is None


def test_a_file_without_segments_is_refused() -> None:
    """Text alone is no transcript with turns."""
    with pytest.raises(EvidenceError):
        Evidence.from_bytes(b'{"text": "hello", "language": "en"}')


REAL = {
    "deepgram-python-captions__test__whisper_timestamped.json": 4,  # `.segments | length`, each with a text
    "whisper-timestamped__expected__corner_cases.cpu__large_apollo11.mp3.words.json": 43,
    "whisper-timestamped__expected__tiny_auto__smartphone.mp3.words.json": 52,
    "whisper-timestamped__tests__data__no_punctuations.mp3.words.json": 1,
}


@pytest.mark.parametrize("name", REAL)
def test_real_files(name: str) -> None:
    """Counts by hand with jq; there are no calls."""
    (found,) = all_counts(real(f"whisper/{name}"))
    assert (found["turns"], found["calls"]) == (REAL[name], 0)
