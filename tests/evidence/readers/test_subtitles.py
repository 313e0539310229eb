from __future__ import annotations

import codecs
import contextlib
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from averment.errors import EvidenceError, Problem
from averment.evidence import Evidence
from samples import all_counts, real, sample

Judge = Callable[..., Any]
MS = 1_000_000


def read(text: str) -> Evidence:
    """The evidence of a subtitle file."""
    return Evidence.from_bytes(text.encode())


def said(evidence: Evidence) -> list[Any]:
    """Who said what, and from when to when in milliseconds."""
    return [
        (turn.speaker, turn.text, (turn.start_ns or 0) // MS, (turn.end_ns or 0) // MS)
        for turn in evidence.model.turns or ()
    ]


def refused(data: bytes | str) -> tuple[Problem, ...]:
    """What is wrong with a file."""
    with pytest.raises(EvidenceError) as error:
        Evidence.from_bytes(data.encode() if isinstance(data, str) else data)
    return tuple(error.value.problems)


def test_cues_of_webvtt_are_turns() -> None:
    """One for each voice; tags, settings, notes and styles are no speech, and entities are characters."""
    evidence = Evidence.load(sample("subtitles/call.vtt"))
    assert said(evidence) == [
        ("Agent", "Garage Weber, good morning & welcome.", 500, 2000),
        ("Ana Ruiz", "My brakes squeal.", 2500, 5000),
        ("Agent", "Oh!", 2500, 5000),
        (None, "Come at three.", 6000, 7000),
    ]
    turns = evidence.model.turns or ()
    assert [turn.role for turn in turns] == ["agent", "unknown", "agent", "unknown"]
    assert (turns[1].id, turns[1].loc) == ("second", "src_0#line 15")
    assert evidence.model.sources[0].why == "it begins like WebVTT"
    assert [note.detail for note in evidence.model.notes] == [
        "a line of a header, style or note is not read (6 times)",
        "the settings of a cue is not read",
        "the word times of a cue is not read",
    ]


def test_cues_of_srt_are_turns() -> None:
    """Tags that players know are left out; other angle brackets are text."""
    assert said(Evidence.load(sample("subtitles/call.srt"))) == [
        (None, "Garage Weber, good morning.", 500, 2000),
        (None, "Is 3 < 4 > 2?", 2500, 5000),
    ]


def test_cues_of_sbv_are_turns() -> None:
    """YouTube's older format."""
    assert said(Evidence.load(sample("subtitles/call.sbv"))) == [
        (None, "Garage Weber, good morning.", 500, 2000),
        (None, "My brakes squeal.", 2500, 5000),
    ]


def test_tricky_8_roll_up_captions_count_once(judge: Judge) -> None:
    """Each line is shown two or three times; it was said once."""
    evidence = Evidence.load(sample("subtitles/rollup.vtt"))
    assert said(evidence) == [
        (None, "please cancel it", 1000, 3000),
        (None, "I said no", 3010, 5000),
        (None, "no", 5010, 6000),
    ]
    (note,) = [note for note in evidence.model.notes if note.code == "roll_up_merged"]
    assert note.detail == "4 cues show lines of the cue before again; they count once"
    asked = [{"phrase": "cancel"}, {"phrase": "cancel"}]
    assert judge({"kind": "sequence", "steps": asked}, evidence)["status"] == "FAIL"


def test_tricky_8_a_byte_order_mark_is_no_text() -> None:
    """And makes no difference."""
    text = sample("subtitles/call.vtt").read_bytes()
    assert said(Evidence.from_bytes(codecs.BOM_UTF8 + text)) == said(Evidence.from_bytes(text))


def test_tricky_8_another_encoding_is_refused() -> None:
    """What its bytes mean would be a guess; the message names the line."""
    (problem,) = refused("1\n00:00:01,000 --> 00:00:02,000\n你好\n".encode("gb2312"))
    assert (problem.code, problem.line) == ("invalid_encoding", 3)


def test_what_is_said_twice_counts_twice() -> None:
    """Without roll-up, equal cues are two utterances, also when the second begins where the first ends."""
    cues = "WEBVTT\n\n00:01.000 --> 00:02.000\nNo.\n\n00:02.000 --> 00:03.000\nNo.\n\n00:03.000 --> 00:04.000\nStop.\n\n"
    assert [turn[1] for turn in said(read(cues + "00:09.000 --> 00:10.000\nStop.\n"))] == [
        "No.",
        "No.",
        "Stop.",
        "Stop.",
    ]


def test_two_line_roll_up_without_word_times_is_told() -> None:
    """As converters of broadcast captions write it."""
    cues = [f"00:0{n}.000 --> 00:0{n + 1}.000\nline {n}\nline {n + 1}\n" for n in range(1, 5)]
    texts = [turn[1] for turn in said(read("WEBVTT\n\n" + "\n".join(cues)))]
    assert texts == ["line 1 line 2", "line 3", "line 4", "line 5"]


def test_times_behind_a_text_begin_a_cue() -> None:
    """In WebVTT no blank line is needed between them."""
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\nyes\n00:02.000 --> 00:03.000\nno\n"
    assert said(read(text)) == [(None, "yes", 1000, 2000), (None, "no", 2000, 3000)]


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("WEBVTT\n\n00:01.000 --> 00:0x.000\na\n", 3, "wrong_cue_times"),
        ("WEBVTT\n\n00:61.000 --> 01:02.000\na\n", 3, "wrong_cue_times"),
        ("WEBVTT\n\nid\n00:01.000 -> 00:02.000 --> x\na\n", 4, "wrong_cue_times"),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\na\n\nlost words\n", 6, "cue_without_times"),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\na\n00:03 --> \n", 5, "wrong_cue_times"),
        ("1\n00:00:01,000 --> 00:00:02,000\na\n\n2\nlost words\n", 5, "cue_without_times"),
        ("1\n00:00:01,000 --> 00:00:02\na\n", 2, "wrong_cue_times"),
        ("0:00:01.000,0:00:02.000\na\n\n0:00:0f.000,0:00:03.000\nb\n", 4, "wrong_cue_times"),
        ("0:00:01.000,0:00:02.000\na\n\nlost words\n", 4, "cue_without_times"),
    ],
)
def test_a_line_that_can_not_be_read_is_named(text: str, line: int, code: str) -> None:
    """Words would be lost, or stand at a time when they were not said."""
    (problem,) = refused(text)
    assert (problem.line, problem.code) == (line, code)


def test_every_wrong_line_is_named() -> None:
    """Up to a bound."""
    assert [problem.line for problem in refused("WEBVTT\n\na\n\nb\n\n00:01.000 --> x\nc\n")] == [3, 5, 7]
    assert len(refused("WEBVTT" + "\n\nx" * 1000)) <= 101


@pytest.mark.parametrize(
    "text", ["WEBVTTX\n", "some text", "1\nsome text\n", "some text\n00:00:00,500 --> 00:00:07,000\n"]
)
def test_other_texts_are_no_subtitles(text: str) -> None:
    """They are refused as what they are not."""
    assert refused(text)


def test_an_empty_file_has_no_turns() -> None:
    """A header alone is an empty transcript."""
    assert read("WEBVTT").model.turns == ()


def test_times_may_run_backwards() -> None:
    """Which is told, and kept."""
    model = read("WEBVTT\n\n00:02.000 --> 00:01.000\na\n").model
    assert [note.code for note in model.notes] == ["ends_before_start"]


def test_a_voice_is_no_role(judge: Judge, envelope_of: Judge) -> None:
    """Unless it is called by one, or the document says who it is."""
    evidence = Evidence.load(sample("subtitles/call.vtt"))
    asked = {"kind": "phrase", "regex": "brakes", "role": "caller"}
    result = judge(asked, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "speakers")
    roles = {"agent": ["Agent"], "caller": ["Ana Ruiz"]}
    assert envelope_of([asked], evidence, document={"roles": roles})["results"][0]["status"] == "PASS"


def test_subtitles_show_no_calls(judge: Judge) -> None:
    """That no tool was called can't be told from them."""
    result = judge(
        {"kind": "tool_call", "name": "x", "absent": True}, Evidence.load(sample("subtitles/call.srt"))
    )
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")
    assert "--trace FILE" in result["evidence_gap"]["how"]


def test_every_cue_is_accounted_for() -> None:
    """Also one without a text."""
    source = Evidence.load(sample("subtitles/call.vtt")).model.sources[0]
    assert (source.records, source.records_read) == (4, 4)


CUE = "00:00:01.000 --> 00:00:02.000\n"


@pytest.mark.parametrize(
    "text",
    [
        "WEBVTT\n\n" + CUE + "<" * 500_000,
        "WEBVTT\n\n" + CUE + "<v a>" * 100_000,
        "WEBVTT\n\n" + CUE + "<v " + "x" * 500_000,
        "WEBVTT\n\n" + CUE * 20_000,
        "WEBVTT\n\n" + (CUE + "a\n" * 3_000 + "\n") * 100,
        "WEBVTT\n\n" + " " * 1_000_000 + "-->",
        "WEBVTT\n\n" + CUE + "&" * 500_000,
        "WEBVTT" + "\n" * 1_000_000,
        "WEBVTT\n\n" + CUE + "{\\" * 300_000,
        "1\n00:00:01,000 --> 00:00:02,000\n" + "{\\" * 300_000,
        "1\n00:00:01,000 --> 00:00:02,000\n" + "<font" * 150_000,
    ],
)
def test_hostile_files_end_soon(text: str) -> None:
    """In time that grows with the file, not faster."""
    start = time.perf_counter()
    with contextlib.suppress(EvidenceError):
        Evidence.from_bytes(text.encode())
    assert time.perf_counter() - start < 10


LINES = st.sampled_from(
    [
        *("", " ", "a", "1", "WEBVTT", "NOTE x", "STYLE", "<v A>b", "</v>c", "00:01.000 --> 00:02.000"),
        *("00:00:01,000 --> 00:00:02,000", "0:00:01.000,0:00:02.000", "-->", "&amp;", "<00:01.000>", "\0"),
    ]
)


@given(
    st.sampled_from(["WEBVTT", "1\n00:00:01,000 --> 00:00:02,000", "0:00:01.000,0:00:02.000"]),
    st.lists(LINES),
)
def test_any_lines_are_read_or_refused(start: str, lines: list[str]) -> None:
    """Nothing but a refusal is raised, and what is read can be written."""
    try:
        evidence = Evidence.from_bytes("\n".join([start, *lines]).encode())
    except EvidenceError:
        return
    assert Evidence.from_bytes(evidence.to_json()).model.turns == evidence.model.turns


REAL = {
    "webvtt-py__tests__subtitles__netflix_chicas_del_cable.vtt": 865,  # `grep -c -- '-->'`, each with a text
    "webvtt-py__tests__subtitles__using_identifiers.vtt": 6,  # lines 3, 7, 10, 14, 17 and 20 have times
    "webvtt-py__tests__subtitles__missing_caption_text.vtt": 4,  # five cues, of which line 6 has no text
    "webvtt-py__tests__subtitles__invalid_timeframe_in_cue_text.vtt": 3,  # line 6 has times, and line 7 again
    "webvtt-py__tests__subtitles__sample.sbv": 5,
    "srt__tests__files__ascii.srt": 3,  # numbered 2, 4 and 6
}


@pytest.mark.parametrize("name", REAL)
def test_real_files(name: str) -> None:
    """Counts by hand; there are no calls."""
    (found,) = all_counts(real(f"webvtt-srt/{name}"))
    assert (found["turns"], found["calls"]) == (REAL[name], 0)


REAL_REFUSED = {
    "webvtt-py__tests__subtitles__invalid_timeframe.vtt": ("wrong_cue_times", 6),
    "webvtt-py__tests__subtitles__invalid_timeframe.sbv": ("wrong_cue_times", 7),
    "webvtt-py__tests__subtitles__missing_timeframe.srt": ("cue_without_times", 5),
    "srt__tests__files__gb2312.srt": ("invalid_encoding", 3),
}


@pytest.mark.parametrize("name", REAL_REFUSED)
def test_real_files_that_are_refused(name: str) -> None:
    """With the line."""
    problems = refused(real(f"webvtt-srt/{name}").read_bytes())
    assert [(problem.code, problem.line) for problem in problems] == [REAL_REFUSED[name]]
