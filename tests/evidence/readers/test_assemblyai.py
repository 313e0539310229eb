from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from averment.evidence import Evidence
from averment.evidence.readers.assemblyai import fits
from samples import real, sample

Judge = Callable[..., Any]
MS = 1_000_000


def read(**changes: Any) -> Evidence:
    """The evidence of the sample, changed."""
    value = json.loads(sample("assemblyai/utterances.json").read_text())
    return Evidence.from_bytes(json.dumps(value | changes).encode())


def test_utterances_are_turns() -> None:
    """With letters for speakers, and times in milliseconds."""
    model = read().model
    assert model.conversation_id == "tr-1"
    assert [(turn.speaker, turn.text, turn.start_ns, turn.end_ns) for turn in model.turns or ()] == [
        ("A", "Garage Weber.", 100 * MS, 900 * MS),
        ("B", "My brakes squeal.", 2000 * MS, 2600 * MS),
    ]


def test_words_make_the_turns_where_there_are_no_utterances() -> None:
    """Those in a row by one speaker."""
    model = read(utterances=None).model
    assert [(turn.speaker, turn.text, turn.start_ns, turn.end_ns) for turn in model.turns or ()] == [
        ("A", "Garage Weber.", 100 * MS, 900 * MS),
        ("B", "Squeal.", 2000 * MS, 2600 * MS),
    ]
    assert (model.sources[0].records, model.sources[0].records_read) == (3, 3)


def test_without_speakers_the_text_is_one_turn() -> None:
    """From the first word to the last."""
    words = [{"text": "a", "start": 5, "end": 6}, {"text": "b", "start": 6, "end": 9}]
    turns = read(utterances=None, words=words).model.turns or ()
    assert [(turn.role_raw, turn.text, turn.start_ns, turn.end_ns) for turn in turns] == [
        (None, "Garage Weber. My brakes squeal.", 5 * MS, 9 * MS)
    ]


def test_channels_are_speakers() -> None:
    """Of a recording with several."""
    turns = read(utterances=[{"text": "Hi", "channel": "1", "start": 0, "end": 9}]).model.turns or ()
    assert [turn.speaker for turn in turns] == ["1"]


def test_addresses_are_no_metadata() -> None:
    """They may hold a key to the recording."""
    metadata = read().model.metadata
    assert metadata is not None
    assert metadata["language_code"] == "en"
    assert "audio_url" not in metadata


def test_an_unfinished_transcript_is_none(judge: Judge) -> None:
    """Nothing was heard yet, which is not silence."""
    evidence = read(status="processing", text=None, words=None, utterances=None)
    result = judge({"kind": "phrase", "regex": "refund", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "transcript")
    assert "`completed`" in result["evidence_gap"]["how"]


def test_a_redacted_transcript_proves_no_absence(judge: Judge) -> None:
    """What was taken out could be what is looked for."""
    result = judge({"kind": "phrase", "regex": "refund", "absent": True}, read(redact_pii=True))
    assert (result["status"], result["evidence_gap"]["state"]) == ("INCONCLUSIVE", "redacted")


@pytest.mark.parametrize("value", [None, [], {}, {"words": []}, {"acoustic_model": "x"}])
def test_other_values_are_not_assemblyais(value: Any) -> None:
    """Words alone are not enough."""
    assert fits(value) is None


def test_the_real_file() -> None:
    """By hand: `.utterances` is null; the `.speaker` of all 60 words is `A`, from 170 ms to the last `.end`."""
    name = "assemblyai/deepgram-python-captions__test__assemblyai_transcription.json"
    path = real(name)
    model = Evidence.load(path).model
    (turn,) = model.turns or ()
    assert (turn.speaker, turn.start_ns) == ("A", 170 * MS)
    assert turn.end_ns == json.loads(path.read_text())["words"][-1]["end"] * MS
    assert model.sources[0].records == 60
    assert model.calls is None
