from __future__ import annotations

import gzip
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.model import MAX_BYTES
from averment.evidence.readers import conversation

TRANSCRIPT = [{"role": "agent", "text": "hello"}]
TRACE = [{"type": "tool_call", "name": "x"}]


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """A function that writes a JSON value to a file of that name."""

    def write_file(name: str, value: Any) -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return write_file


def code(error: pytest.ExceptionInfo[EvidenceError]) -> str:
    return error.value.problems[0].code


def test_parts_are_put_together_from_files(write: Any) -> None:
    """A part in each file gives the same evidence as the values in them."""
    timing, state = {"events": [{"a": 1}]}, {"orders": [{"id": 1}]}
    paths = {
        name: write(name, value)
        for name, value in (("t", TRANSCRIPT), ("s", TRACE), ("m", timing), ("d", state))
    }
    evidence = Evidence.load(
        transcript=paths["t"], trace=str(paths["s"]), timing=paths["m"], state=paths["d"]
    )
    assert evidence.sha256 == Evidence(transcript=TRANSCRIPT, trace=TRACE, timing=timing, state=state).sha256
    assert [(source.id, source.name) for source in evidence.model.sources] == [
        ("src_0", "t"),
        ("src_1", "s"),
        ("src_2", "m"),
        ("src_3", "d"),
    ]


def test_a_part_fills_what_the_conversation_lacks(write: Any) -> None:
    """A trace beside a transcript is added, from `load` and from `joined` alike."""
    conversation, trace = write("c.json", TRANSCRIPT), write("s.json", TRACE)
    evidence = Evidence.load(conversation, trace=trace)
    assert (len(evidence.model.turns or ()), len(evidence.model.spans or ())) == (1, 1)
    assert Evidence.load(conversation).joined(trace=trace).to_json() == evidence.to_json()


def test_a_part_that_is_there_already_is_not_replaced(write: Any) -> None:
    """Two transcripts are a mistake, even when one is empty."""
    for there in (TRANSCRIPT, []):
        with pytest.raises(EvidenceError) as error:
            Evidence.load(write("c.json", {"transcript": there}), transcript=write("t.json", TRANSCRIPT))
        assert code(error) == "given_twice"


def test_a_part_given_as_another_is_told(write: Any) -> None:
    """A trace given as a transcript, a whole record as a part, and a document as anything are named for what they are."""
    record = {"conversation_id": "c", "transcript": TRANSCRIPT, "spans": TRACE}
    document = {"version": 1, "assertions": []}
    wrong: list[dict[str, Any]] = [
        {"transcript": TRACE},
        {"trace": TRANSCRIPT},
        {"transcript": record},
        {"trace": record},
        {"state": document},
        {"timing": document},
    ]
    for parts in wrong:
        with pytest.raises(EvidenceError) as error:
            Evidence.load(**{name: write("p.json", value) for name, value in parts.items()})
        assert code(error) == "swapped_arguments"


def test_objects_of_another_format_are_no_trace(write: Any) -> None:
    """Items with a type that a native trace doesn't know would make every call look missing."""
    with pytest.raises(EvidenceError) as error:
        Evidence.load(trace=write("t.json", [{"type": "telegram", "name": "x"}]))
    assert code(error) == "unsupported_format"


def test_an_empty_list_is_an_empty_part(write: Any) -> None:
    """What is ambiguous as a conversation is clear as a part."""
    path = write("e.json", [])
    model = Evidence.load(transcript=path, trace=path, timing=path, state=path).model
    assert (model.turns, model.spans, model.timing, model.states) == ((), (), [], ())


def test_several_conversations_are_never_reduced_to_one(tmp_path: Path) -> None:
    """A file of many conversations gives all of them or an error that says how to choose."""
    path = tmp_path / "many.jsonl"
    path.write_text(
        "".join(json.dumps({"call_id": name, "transcript": TRANSCRIPT}) + "\n" for name in "abc"), "utf-8"
    )
    assert [each.model.conversation_id for each in Evidence.load_all(path)] == ["a", "b", "c"]
    with pytest.raises(EvidenceError) as error:
        Evidence.load(path)
    problem = error.value.problems[0]
    assert (problem.code, "3 conversations" in problem.message) == ("several_conversations", True)
    assert "--conversation ID" in (problem.mend or "")
    assert "--all" in (problem.mend or "")


def test_a_conversation_has_one_digest_alone_and_among_others(tmp_path: Path) -> None:
    """What stands beside a conversation in a file plays no part in its digest."""
    record = {"call_id": "a", "transcript": TRANSCRIPT, "spans": TRACE}
    path = tmp_path / "many.jsonl"
    path.write_text("\n".join(json.dumps(each) for each in ({"call_id": "b", "spans": []}, record)), "utf-8")
    assert Evidence.load_all(path)[1].sha256 == Evidence.from_record(record).sha256


def test_bad_conversations_are_named_by_line(tmp_path: Path) -> None:
    """Every line that can't be read is told, not only the first."""
    path = tmp_path / "many.jsonl"
    records = [{"transcript": []}, {"transcript": [{"text": 5}]}, 7, {"transcript": []}, {"trnscript": []}]
    path.write_text("\n".join(json.dumps(record) for record in records), "utf-8")
    with pytest.raises(EvidenceError) as error:
        Evidence.load_all(path)
    assert [(problem.line, problem.path) for problem in error.value.problems] == [
        (2, "$.transcript[0].text"),
        (3, "$"),
        (5, "$.trnscript"),
    ]


def test_one_conversation_is_a_list_of_one(write: Any) -> None:
    """`load_all` reads a file with one conversation as well, in any format."""
    assert [len(each.model.turns or ()) for each in Evidence.load_all(write("c.json", TRANSCRIPT))] == [1]


def test_the_name_of_a_file_plays_no_part_in_the_digest(write: Any) -> None:
    """The same bytes under another name, and without one, are the same evidence."""
    one, other = Evidence.load(write("a.json", TRANSCRIPT)), Evidence.load(write("b.jsonl", TRANSCRIPT))
    assert one.sha256 == other.sha256
    assert one.model.sources[0].name == "a.json"
    assert one.model.sources[0].sha256 == other.model.sources[0].sha256


@pytest.mark.parametrize("entry", [Evidence.load, Evidence.load_all])
def test_files_that_can_not_be_read_are_evidence_errors(entry: Any, tmp_path: Path) -> None:
    """A missing file, a folder and what is no path are refused with the name as given."""
    for path, expected in (
        (tmp_path / "none.json", "file_not_found"),
        (tmp_path, "not_a_file"),
        ("a\0b", "bad_path"),
        (5, "bad_path"),
        (os.devnull, "not_a_file"),
    ):
        with pytest.raises(EvidenceError) as error:
            entry(path)
        assert code(error) == expected
    with pytest.raises(EvidenceError) as error:
        Evidence.load(transcript=tmp_path / "none.json")
    assert error.value.problems[0].file == str(tmp_path / "none.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    """Opening a named pipe that nobody writes to would block for ever."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(EvidenceError) as error:
        Evidence.load(tmp_path / "pipe")
    assert code(error) == "not_a_file"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything"
)
def test_a_file_without_permission_is_refused(write: Any) -> None:
    """A file that may not be read is told as such."""
    path = write("a.json", TRANSCRIPT)
    path.chmod(0)
    with pytest.raises(EvidenceError) as error:
        Evidence.load(path)
    assert code(error) == "file_not_readable"


def test_the_size_of_a_file_is_limited_before_it_is_read(tmp_path: Path) -> None:
    """A sparse file over the limit is refused at once."""
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(EvidenceError) as error:
        Evidence.load(path)
    assert code(error) == "file_too_large"


def test_nothing_to_load_is_an_error() -> None:
    """A call without any file is a mistake, not a conversation without evidence."""
    with pytest.raises(EvidenceError) as error:
        Evidence.load()
    assert code(error) == "no_evidence"


def test_only_bytes_are_read_as_bytes() -> None:
    """Text is refused rather than encoded by guess."""
    with pytest.raises(EvidenceError) as error:
        Evidence.from_bytes("[]")  # type: ignore[arg-type]
    assert code(error) == "wrong_type"


def test_an_open_file_is_read_like_its_path(write: Any) -> None:
    """Standard input is a file that is open already; a part can come from one as well."""
    conversation, trace = write("c.json", TRANSCRIPT), write("s.json", TRACE)
    with conversation.open("rb") as first, trace.open("rb") as second:
        assert Evidence.load(first, trace=second).sha256 == Evidence.load(conversation, trace=trace).sha256
    with conversation.open("rb") as file:
        assert len(Evidence.load_all(file)) == 1
    with conversation.open(encoding="utf-8") as text, pytest.raises(EvidenceError) as error:
        Evidence.load(text)
    assert code(error) == "wrong_type"


def test_a_database_is_not_read_from_a_stream() -> None:
    """SQLite needs a file to open."""
    with pytest.raises(EvidenceError) as error:
        Evidence.load(state=io.BytesIO(b"SQLite format 3\x00"))
    assert code(error) == "not_a_file"


@pytest.mark.parametrize("part", ["state", "timing"])
def test_a_conversation_given_as_state_or_timing_is_told(tmp_path: Path, part: str) -> None:
    """Nearly anything can be a state; what is surely a conversation or a trace is not taken for one."""
    whole = tmp_path / "whole.json"
    whole.write_text('{"transcript": [{"role": "agent", "text": "hi"}], "spans": []}', encoding="utf-8")
    trace = tmp_path / "trace.jsonl"
    trace.write_text(
        '{"_meta": true, "schema": "hotato.voice_trace.v1"}\n{"type": "handoff"}\n', encoding="utf-8"
    )
    for path in (whole, trace):
        given: Any = {part: path}
        with pytest.raises(EvidenceError) as caught:
            Evidence.load(**given)
        assert [problem.code for problem in caught.value.problems] == ["swapped_arguments"]


def test_a_resource_may_have_the_name_of_a_part(tmp_path: Path) -> None:
    """A state with a resource called `transcript` is a state."""
    path = tmp_path / "state.json"
    path.write_text('{"transcript": [{"id": 1}], "orders": []}', encoding="utf-8")
    assert Evidence.load(state=path).model.states is not None


CHAT = [
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "content": "there",
        "tool_calls": [{"id": "call_a", "function": {"name": "pay", "arguments": '{"n": 1}'}}],
    },
    {"role": "tool", "tool_call_id": "call_a", "content": "ok"},
]


def test_a_part_in_another_format_is_taken_for_what_it_is_given_as(write: Any) -> None:
    """The turns of a chat as the transcript, its calls as the trace."""
    chat = write("chat.json", CHAT)
    model = Evidence.load(transcript=chat).model
    assert (len(model.turns or ()), model.calls, model.coverage.executions.state) == (2, None, "absent")
    model = Evidence.load(trace=chat).model
    assert (model.turns, len(model.calls or ()), model.coverage.transcript.state) == (None, 1, "absent")
    assert model.coverage.executions.state == "present"


def test_a_trace_is_not_written_over_the_calls_of_a_conversation(write: Any) -> None:
    """Which calls are the same can't be told without ids; those of one source count, and a note says so."""
    chat, trace = write("chat.json", CHAT), write("trace.json", TRACE)
    model = Evidence.load(chat, trace=trace).model
    assert [call.name for call in model.calls or ()] == ["pay"]
    assert "calls_not_joined" in {note.code for note in model.notes}
    assert [source.format for source in model.sources] == ["openai_chat", "voice_trace"]
    assert (model.calls or ())[0].loc == "src_0#$[1].tool_calls[0]"


def test_a_part_of_several_conversations_is_refused(write: Any) -> None:
    """Which of them belongs here is told by ids, and for that there is another option."""
    lines = write("chats.json", [{"messages": CHAT}, {"messages": CHAT}])
    with pytest.raises(EvidenceError) as error:
        Evidence.load(transcript=lines)
    assert code(error) == "several_conversations"
    assert "--evidence" in (error.value.problems[0].mend or "")


def test_a_part_is_read_out_of_an_archive_of_one_file(tmp_path: Path) -> None:
    """Of several files none would be the part."""
    packed = tmp_path / "t.gz"
    packed.write_bytes(gzip.compress(json.dumps(TRANSCRIPT).encode()))
    assert len(Evidence.load(transcript=packed).model.turns or ()) == 1
    file = tmp_path / "t.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for name in "ab":
            archive.writestr(name, json.dumps(TRANSCRIPT))
    with pytest.raises(EvidenceError) as error:
        Evidence.load(transcript=file)
    assert code(error) == "several_files"


def test_a_part_without_an_end_of_its_own_clock_keeps_it(write: Any) -> None:
    """A transcript alone has the clock of its format; beside a trace of another source it is not the same one."""
    file, trace = write("call.vtt", None), write("trace.json", [{"type": "dtmf", "time_sec": 1}])
    file.write_text("WEBVTT\n\n00:09.000 --> 00:11.000\n<v Agent>hello\n", encoding="utf-8")
    model = Evidence.load(transcript=file).model
    assert [turn.clock for turn in model.turns or ()] == ["call_relative"]
    for model in (
        Evidence.load(transcript=file, trace=trace).model,
        Evidence.load(trace, transcript=file).model,
    ):
        assert {(model.turns or ())[0].clock, (model.spans or ())[0].clock} == {"call_relative", "monotonic"}


def test_a_format_that_finds_no_conversation_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty list of conversations would be judged without a word."""
    monkeypatch.setattr(conversation, "split", lambda _: [], raising=False)
    with pytest.raises(EvidenceError) as error:
        Evidence.all_from_bytes(b'{"conversation_id": "c"}')
    assert code(error) == "no_conversation"
