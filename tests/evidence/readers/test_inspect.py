from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from mutants import mutants, survives

from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.readers.inspect import LOG_MEMBERS, log_of
from samples import all_counts, counts, real, sample

Judge = Callable[..., Any]
SECOND = 1_000_000_000
NINE = 1_770_105_600 * SECOND  # 2026-02-03T09:00:00+01:00


def whole() -> Any:
    """The sample log as a value."""
    return json.loads(sample("inspect/log.json").read_text())


def archive(log: Any) -> bytes:
    """The archive that says the same as a log."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        header = {key: value for key, value in log.items() if key != "samples"}
        file.writestr("header.json", json.dumps(header))
        file.writestr("_journal/start.json", "{}")
        file.writestr("summaries.json", "[]")
        for each in log["samples"]:
            file.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
    return packed.getvalue()


def read(*messages: Any, **fields: Any) -> Evidence:
    """The evidence of one sample with these messages."""
    log = {"version": 2, "status": "success", "eval": {}, "samples": [{"messages": messages, **fields}]}
    return Evidence.from_bytes(json.dumps(log).encode())


def asks(**call: Any) -> dict[str, Any]:
    """A message that asks for one call."""
    return {"role": "assistant", "content": "", "tool_calls": [{"id": "k", "function": "f", **call}]}


def test_every_sample_is_a_conversation() -> None:
    """With its uuid as the id, or its own id and epoch; scores are metadata."""
    first, second = (each.model for each in Evidence.load_all(sample("inspect/log.json")))
    assert (first.conversation_id, second.conversation_id) == ("u-1", "two_epoch_1")
    assert first.metadata is not None
    assert first.metadata["scores"] == {"match": {"value": "C"}}
    assert (first.metadata["task"], first.metadata["status"]) == ("library_desk", "success")
    assert first.sources[0].why == "it has `version`, `status` and `eval`"


def test_attachments_are_put_back() -> None:
    """In texts and in arguments."""
    model = Evidence.load_all(sample("inspect/log.json"))[0].model
    assert [(turn.id, turn.role, turn.said, turn.text) for turn in model.turns or ()] == [
        ("m1", "system", False, "You help at a library desk."),
        ("m2", "user", True, "Is the atlas in?"),
        ("m3", "agent", True, "I look."),
        ("m6", "agent", True, "It is in."),
    ]
    assert (model.calls or ())[0].args == {"title": "The great atlas"}


def test_an_attachment_that_is_missing_leaves_the_transcript_partial(judge: Judge) -> None:
    """Nobody said `attachment://...`, and what was said is not known."""
    evidence = read({"role": "assistant", "content": "attachment://77"})
    assert evidence.model.turns == ()
    assert [note.code for note in evidence.model.notes] == ["attachment_missing"]
    result = judge({"kind": "phrase", "regex": "refund", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "transcript")
    assert "attachments" in result["evidence_gap"]["how"]


def test_attachments_are_bounded() -> None:
    """A small file can refer to one long text very often."""
    texts = [{"type": "text", "text": "attachment://a"}] * 100
    messages = [{"role": "assistant", "content": texts}] * 3
    model = read(*messages, attachments={"a": "x" * 10_000}).model
    assert [len(turn.text) for turn in model.turns or ()] == [1_000_099] * 3
    log = {"version": 2, "status": "s", "eval": {}}
    calls = [{"id": str(n), "function": "f", "arguments": {"t": "attachment://a"}} for n in range(100)]
    big = {"messages": [{"role": "assistant", "tool_calls": calls}], "attachments": {"a": "x" * 1_000_000}}
    found = Evidence.from_bytes(json.dumps({**log, "samples": [big]}).encode()).model
    assert {note.code for note in found.notes} == {"attachment_missing"}


def test_calls_have_times_from_their_events() -> None:
    """An event repeats the call of a message, and is the same call."""
    calls = Evidence.load_all(sample("inspect/log.json"))[0].model.calls or ()
    assert [(call.id, call.name, call.status) for call in calls] == [
        ("k1", "find_book", "ok"),
        ("z9", "ask_catalogue", "ok"),
        ("k2", "find_shelf", "error"),
    ]
    assert calls[0].result == {"in": True}
    assert (calls[0].start_ns, calls[0].end_ns) == (NINE + 2 * SECOND, NINE + 7 * SECOND // 2)
    assert calls[0].clock == "epoch"


def test_calls_of_sub_agents_are_calls() -> None:
    """They stand in events alone, between the calls of the messages."""
    call = (Evidence.load_all(sample("inspect/log.json"))[0].model.calls or ())[1]
    assert (call.args, call.result, call.loc) == ({"q": "atlas"}, "2 hits", "src_0#$.samples[0].events[2]")


def test_a_parse_error_leaves_the_arguments_unknown(judge: Judge) -> None:
    """The log writes `{}` for what it could not read; that is no call without arguments."""
    evidence = Evidence.load_all(sample("inspect/log.json"))[0]
    call = (evidence.model.calls or ())[2]
    assert call.args_state == "absent"
    assert call.error == {"type": "parsing", "message": "not JSON"}
    asked = {"kind": "tool_call", "name": "find_shelf", "args_subset": {"floor": 2}}
    assert judge(asked, evidence)["status"] == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("kind", "status"), [("timeout", "timeout"), ("approval", "denied"), ("permission", "error")]
)
def test_errors_have_types(kind: str, status: str) -> None:
    """A time limit and a refused approval are told apart."""
    error = {"type": kind, "message": "no"}
    answer = {"role": "tool", "tool_call_id": "k", "content": "", "error": error}
    (call,) = read(asks(arguments={"a": 1}), answer).model.calls or ()
    assert (call.status, call.error) == (status, error)


def test_calls_that_the_vendor_serves_are_calls() -> None:
    """A `tool_use` part has the call and its result in one."""
    part = {"type": "tool_use", "id": "w", "name": "web_search", "arguments": '{"q": "x"}', "result": "r"}
    model = read({"role": "assistant", "content": [part, {"type": "text", "text": "Found."}]}).model
    assert [(call.name, call.args, call.result) for call in model.calls or ()] == [
        ("web_search", {"q": "x"}, "r")
    ]
    assert [turn.text for turn in model.turns or ()] == ["Found."]


def test_an_image_is_no_text() -> None:
    """It is counted in a note."""
    model = Evidence.load_all(sample("inspect/log.json"))[1].model
    assert [turn.text for turn in model.turns or ()] == ["What is this?", "A stamp."]
    assert [note.detail for note in model.notes if note.code == "dropped_key"] == [
        "a part of type `image` is not read"
    ]


def test_reserve_numbers_that_json_does_not_have() -> None:
    """Inspect writes NaN for a score without a value; it is kept as text, and noted."""
    text = sample("inspect/log.json").read_text().replace('"value": "C"', '"value": NaN')
    first, second = Evidence.all_from_bytes(text.encode())
    assert [note.code for note in first.model.notes].count("non_finite") == 1
    assert "non_finite" not in [note.code for note in second.model.notes]
    assert len(first.model.turns or ()) == 4


def test_reserve_an_archive_is_its_log() -> None:
    """The same conversations, with the same digest of what was read but for the source."""
    log = whole()
    packed = Evidence.all_from_bytes(archive(log))
    plain = Evidence.all_from_bytes(json.dumps(log).encode())
    assert [each.model.turns for each in packed] == [each.model.turns for each in plain]
    assert [each.model.calls for each in packed] == [each.model.calls for each in plain]


def test_samples_of_an_archive_are_in_natural_order() -> None:
    """`2_epoch_1` stands before `10_epoch_1`; ids may have slashes."""
    files = {
        "samples/10_epoch_1.json": b"10",
        "header.json": b'{"version": 2}',
        "samples/2_epoch_1.json": b"2",
    }
    assert json.loads(log_of(files)) == {"version": 2, "samples": [2, 10]}
    assert json.loads(log_of({"header.json": b"{}"})) == {"samples": []}
    names = ("header.json", "samples/a/b_epoch_1.json", "summaries.json", "_journal/start.json")
    assert [LOG_MEMBERS.fullmatch(name) is not None for name in names] == [True, True, False, True]


def test_an_archive_of_a_run_that_broke_off_is_read() -> None:
    """Without a header its journal says which run it was; the samples that were finished are whole."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("_journal/start.json", '{"version": 2, "eval": {"task": "refunds"}, "plan": {}}')
        archive.writestr("_journal/summaries/1.json", "[]")
        sample = {"id": 1, "epoch": 1, "messages": [{"role": "user", "content": "Refund it."}]}
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample))
    (evidence,) = Evidence.all_from_bytes(packed.getvalue())
    assert [turn.text for turn in evidence.model.turns or ()] == ["Refund it."]
    assert evidence.model.sources[0].format == "inspect"


@pytest.mark.parametrize("header", [b"", b"[]", b"null", b'{"a": 1', b"\xff"])
def test_a_broken_archive_is_refused(header: bytes) -> None:
    """What is no header makes no log."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("header.json", header)
        file.writestr("samples/1_epoch_1.json", "{}")
    with pytest.raises(EvidenceError):
        Evidence.all_from_bytes(packed.getvalue())


@pytest.mark.parametrize("samples", [None, [], 5])
def test_a_log_without_samples_is_refused(samples: Any) -> None:
    """The header of a log has no conversation, and the message says what to give."""
    log = {"version": 2, "status": "success", "eval": {}, "samples": samples}
    with pytest.raises(EvidenceError) as error:
        Evidence.all_from_bytes(json.dumps(log).encode())
    assert error.value.problems[0].code == "no_samples"
    assert "--log-samples" in (error.value.problems[0].mend or "")


def test_events_alone_have_calls_and_no_transcript(judge: Judge) -> None:
    """Which of the models' texts were said is not known."""
    events = whole()["samples"][0]["events"]
    evidence = Evidence.from_bytes(json.dumps({"events": events}).encode())
    assert [call.name for call in evidence.model.calls or ()] == ["find_book", "ask_catalogue", "find_shelf"]
    result = judge({"kind": "phrase", "regex": "refund", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "transcript")
    assert "`messages`" in result["evidence_gap"]["how"]


def test_every_record_is_accounted_for() -> None:
    """Records are messages and events; events of other kinds stand in a note."""
    model = Evidence.load_all(sample("inspect/log.json"))[0].model
    assert (model.sources[0].records, model.sources[0].records_read) == (10, 9)
    assert "an event that is no call of a tool is not read" in [note.detail for note in model.notes]


def test_no_value_breaks_the_reader() -> None:
    """Whatever stands in place of a part of the sample, it is read or refused."""
    for mutant in mutants(whole()):
        survives(mutant)
    for mutant in mutants({"events": whole()["samples"][0]["events"]}):
        survives(mutant)


def test_the_deduplicated_log() -> None:
    """Counts by hand: `.messages` of the one sample are 12, of which 5 are answers.

    One user message, and six of the assistant, of which five have a text and a call each; the five `tool` events
    have the ids `hardcoded_0` to `hardcoded_4`, as the messages.
    """
    (found,) = Evidence.load_all(
        real("inspect/inspect_ai__log__test_eval_log__log_message_deduplication.eval")
    )
    assert counts(found) | {"notes": 0} == {"turns": 7, "calls": 5, "results": 5, "errors": 0, "notes": 0}
    assert all(call.start_ns is not None for call in found.model.calls or ())


def test_the_popularity_log() -> None:
    """Counts by hand: three samples, each of a system, a user and an assistant message; no tool event."""
    name = "inspect/inspect_ai__analysis__test_logs__2025-05-12T20-28-13-04-00_popularity.json"
    assert [(each["turns"], each["calls"]) for each in all_counts(real(name))] == [(3, 0)] * 3


def test_the_log_with_an_image() -> None:
    """Counts by hand: `$.samples[0].messages` are three; `[1].content[1]` is an image."""
    (found,) = Evidence.load_all(real("inspect/inspect_ai__log__test_eval_log__log_images_tc.json"))
    assert [turn.text[:10] for turn in found.model.turns or ()][1:] == ["What is th", "[hedgehog]"]
    assert "a part of type `image` is not read" in [note.detail for note in found.model.notes]


def test_the_twins_of_one_log() -> None:
    """The archive and the JSON of the same run have the same texts."""
    one, other = (
        Evidence.load_all(real(f"inspect/inspect_ai__log__test_eval_log__log_formats.{end}"))
        for end in ("eval", "json")
    )
    texts = [[turn.text for turn in each.model.turns or ()] for each in (*one, *other)]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 3


def test_the_header_of_a_log() -> None:
    """A log from 2024 without samples is refused, and so is one that is cut short."""
    for name, code in (("log_version_3", "no_samples"), ("log_invalid", "json_truncated")):
        with pytest.raises(EvidenceError) as error:
            Evidence.load_all(real(f"inspect/inspect_ai__log__test_eval_log__{name}.txt"))
        assert error.value.problems[0].code == code
