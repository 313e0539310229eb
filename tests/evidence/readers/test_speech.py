from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mutants import mutants, survives

from averment.evidence import Evidence
from samples import sample

Judge = Callable[..., Any]
SAMPLES = (
    *("whisper/whisperx.json", "whisper/openai.json", "deepgram/utterances.json", "deepgram/channels.json"),
    *("assemblyai/utterances.json", "aws_transcribe/job.json", "aws_transcribe/contact_lens.json"),
    "aws_transcribe/bda.json",
)
LABELLED = {
    "whisper/whisperx.json": "SPEAKER_00",
    "deepgram/utterances.json": "speaker_0",
    "assemblyai/utterances.json": "A",
    "aws_transcribe/job.json": "spk_0",
    "aws_transcribe/bda.json": "spk_1",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_transcript_of_speech_shows_no_calls(judge: Judge, name: str) -> None:
    """That no tool was called can't be told from it, and the message says what to add."""
    evidence = Evidence.load(sample(name))
    assert evidence.model.calls is None
    result = judge({"kind": "tool_call", "name": "book", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")
    assert "--trace FILE" in result["evidence_gap"]["how"]


@pytest.mark.parametrize("name", LABELLED)
def test_a_label_is_no_role(judge: Judge, name: str) -> None:
    """Who said nothing can't be told by a label; what was said at all can."""
    evidence = Evidence.load(sample(name))
    first = (evidence.model.turns or ())[0]
    assert (first.role_raw, first.role, first.speaker) == (LABELLED[name], "unknown", LABELLED[name])
    assert evidence.model.coverage.speakers.state == "partial"
    asked = {"kind": "phrase", "regex": "weber"}
    assert judge(asked, evidence)["status"] == "PASS"
    assert judge({**asked, "role": "agent"}, evidence)["status"] == "INCONCLUSIVE"


@pytest.mark.parametrize("name", LABELLED)
def test_a_document_says_who_is_who(envelope_of: Judge, name: str) -> None:
    """Its roles name the label."""
    evidence = Evidence.load(sample(name))
    roles = {"agent": [LABELLED[name]]}
    asked = [{"kind": "phrase", "regex": "weber", "role": "agent"}]
    written = envelope_of(asked, evidence, document={"roles": roles})
    assert written["results"][0]["status"] == "PASS"


@pytest.mark.parametrize("name", SAMPLES)
def test_times_count_from_the_start(name: str) -> None:
    """On a clock of the call, in nanoseconds."""
    turns = Evidence.load(sample(name)).model.turns or ()
    assert all(turn.clock == "call_relative" and turn.start_ns is not None for turn in turns)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_value_breaks_a_reader(name: str) -> None:
    """Whatever stands in place of a part of a sample, it is read or refused."""
    for mutant in mutants(json.loads(sample(name).read_text())):
        survives(mutant)
