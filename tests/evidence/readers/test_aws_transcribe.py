from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from averment.evidence import Evidence
from averment.evidence.readers.aws_transcribe import fits
from samples import real, sample

Judge = Callable[..., Any]
MS = 1_000_000


def job(**changes: Any) -> Evidence:
    """The evidence of the sample job, with changed results."""
    value = json.loads(sample("aws_transcribe/job.json").read_text())
    value["results"] |= changes
    return Evidence.from_bytes(json.dumps(value).encode())


def said(evidence: Evidence) -> list[Any]:
    """Who said what, and from when to when."""
    return [(turn.speaker, turn.text, turn.start_ns, turn.end_ns) for turn in evidence.model.turns or ()]


TURNS = [
    ("spk_0", "Garage Weber.", 100 * MS, 900 * MS),
    ("spk_1", "My brakes squeal.", 2000 * MS, 3000 * MS),
]


def test_items_are_joined_with_their_speakers() -> None:
    """By their start time; punctuation has none, and belongs to the word before it."""
    evidence = job()
    assert said(evidence) == TURNS
    assert evidence.model.conversation_id == "garage-1"
    assert (evidence.model.sources[0].records, evidence.model.sources[0].records_read) == (7, 7)


def test_items_may_name_the_speaker_themselves() -> None:
    """As newer jobs do, and lists of items."""
    items = json.loads(sample("aws_transcribe/job.json").read_text())["results"]["items"]
    for index, item in enumerate(items):
        if item["type"] == "pronunciation":
            item["speaker_label"] = "spk_0" if index < 2 else "spk_1"
    assert said(job(items=items, speaker_labels=None)) == TURNS
    assert said(Evidence.from_bytes(json.dumps(items).encode())) == TURNS


def test_without_speakers_the_transcript_is_one_turn() -> None:
    """As AWS wrote it."""
    assert said(job(speaker_labels=None)) == [(None, "Garage Weber. My brakes squeal.", 100 * MS, 3000 * MS)]


def test_channels_are_speakers() -> None:
    """Each has items of its own, which are put in the order of time."""
    items = json.loads(sample("aws_transcribe/job.json").read_text())["results"]["items"]
    late = [
        {
            "start_time": "4.0",
            "end_time": "4.5",
            "alternatives": [{"content": "Come"}],
            "type": "pronunciation",
        }
    ]
    channels = [
        {"channel_label": "ch_0", "items": [*items[:3], *late]},
        {"channel_label": "ch_1", "items": items[3:]},
    ]
    evidence = job(channel_labels={"channels": channels, "number_of_channels": 2}, speaker_labels=None)
    assert said(evidence) == [
        ("ch_0", "Garage Weber.", 100 * MS, 900 * MS),
        ("ch_1", "My brakes squeal.", 2000 * MS, 3000 * MS),
        ("ch_0", "Come", 4000 * MS, 4500 * MS),
    ]


def test_contact_lens_names_roles(judge: Judge) -> None:
    """So that what an agent said can be asked for."""
    evidence = Evidence.load(sample("aws_transcribe/contact_lens.json"))
    model = evidence.model
    assert [(turn.id, turn.role_raw, turn.role, turn.start_ns) for turn in model.turns or ()] == [
        ("t-1", "AGENT", "agent", 100 * MS),
        ("t-2", "CUSTOMER", "user", 2000 * MS),
    ]
    assert model.conversation_id == "contact-9"
    assert model.metadata is not None
    assert model.metadata["ConversationCharacteristics"]["TotalConversationDurationMillis"] == 3000
    assert judge({"kind": "phrase", "regex": "weber", "role": "agent"}, evidence)["status"] == "PASS"
    assert judge({"kind": "phrase", "regex": "weber", "role": "user"}, evidence)["status"] == "FAIL"


def test_a_participant_without_a_role_is_unknown() -> None:
    """An id is a label."""
    value = json.loads(sample("aws_transcribe/contact_lens.json").read_text())
    del value["Participants"], value["Transcript"][0]["ParticipantRole"]
    turns = Evidence.from_bytes(json.dumps(value).encode()).model.turns or ()
    assert [(turn.role_raw, turn.role) for turn in turns] == [("p1", "unknown"), ("p2", "unknown")]


def test_segments_of_data_automation_are_turns() -> None:
    """With the label of the speaker, or of the channel."""
    assert said(Evidence.load(sample("aws_transcribe/bda.json"))) == [
        ("spk_1", "Garage Weber.", 100 * MS, 900 * MS),
        ("ch_0", "My brakes squeal.", 2000 * MS, 3000 * MS),
    ]


def test_a_redacted_job_proves_no_absence(judge: Judge) -> None:
    """What was taken out could be what is looked for."""
    value = json.loads(sample("aws_transcribe/job.json").read_text()) | {"isRedacted": True}
    evidence = Evidence.from_bytes(json.dumps(value).encode())
    result = judge({"kind": "phrase", "regex": "refund", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["state"]) == ("INCONCLUSIVE", "redacted")


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        [],
        [1],
        {},
        {"results": {"items": []}},
        {"Transcript": []},
        {"Transcript": [1]},
        [{"type": "x"}],
    ],
)
def test_other_values_are_not_of_aws(value: Any) -> None:
    """Shape decides, down to the first item."""
    assert fits(value) is None


def test_the_real_job() -> None:
    """By hand: 1,960 items (1,791 words, 169 marks) without speakers; the first word begins at 13.03."""
    name = "aws-transcribe/react-transcript-editor__amazon-transcribe__sample__amazonTranscribe.sample.json"
    model = Evidence.load(real(name)).model
    (turn,) = model.turns or ()
    assert (turn.start_ns, turn.end_ns) == (13_030 * MS, 705_995 * MS)  # the last word ends at 705.995
    assert len(turn.text) == 9982  # `.results.transcripts[0].transcript`
    assert model.sources[0].records == 1960


def test_the_real_words() -> None:
    """By hand: four words, of `spk_0`, `spk_1` twice, and `spk_0`."""
    name = "aws-transcribe/react-transcript-editor__amazon-transcribe__sample__todayinfocuswords.sample.json"
    assert said(Evidence.load(real(name))) == [
        ("spk_0", "one", 8650 * MS, 8980 * MS),
        ("spk_1", "of the", 8980 * MS, 9150 * MS),
        ("spk_0", "worst", 9150 * MS, 9760 * MS),
    ]


def test_the_real_segments() -> None:
    """By hand: 51 segments, 28 of `spk_0` and 23 of `spk_1`, from 1,620 ms."""
    name = "aws-transcribe/amazon-transcribe-output-word-document__sample-data__bda-standard.json"
    turns = Evidence.load(real(name)).model.turns or ()
    assert Counter(turn.speaker for turn in turns) == {"spk_0": 28, "spk_1": 23}
    assert turns[0].start_ns == 1620 * MS


def test_a_redacted_contact_proves_no_absence() -> None:
    """Contact Lens says in its metadata that the file is the redacted one."""
    value = json.loads(sample("aws_transcribe/contact_lens.json").read_text())
    for output, state in (("Raw", "present"), ("Redacted", "redacted")):
        evidence = Evidence.from_bytes(json.dumps(value | {"ContentMetadata": {"Output": output}}).encode())
        assert evidence.model.coverage.transcript.state == state
