from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives

import averment
from averment.evidence import Evidence
from averment.evidence.model import EvidenceModel
from samples import all_counts, real, sample


def model(*messages: Any) -> EvidenceModel:
    """The evidence of a log of these messages."""
    return Evidence.from_bytes(json.dumps(messages).encode()).model


def call(own: Any, name: str = "find", **arguments: Any) -> dict[str, Any]:
    """A `tools/call` request."""
    return {
        "jsonrpc": "2.0",
        "id": own,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }


def answer(own: Any, text: str = "done", **fields: Any) -> dict[str, Any]:
    """The response with a tool's result."""
    return {"jsonrpc": "2.0", "id": own, "result": {"content": [{"type": "text", "text": text}], **fields}}


def codes(found: EvidenceModel) -> list[str]:
    """The codes of the notes."""
    return [note.code for note in found.notes]


@pytest.fixture(scope="module")
def bookings() -> EvidenceModel:
    """The sample: four kinds of endings, and a call that nobody answered."""
    return Evidence.load(sample("mcp/bookings.jsonl")).model


def test_each_tools_call_is_one_call_with_the_result_of_its_id(bookings: EvidenceModel) -> None:
    """Success, an error inside a success, a JSON-RPC error, a cancelled call and an unanswered one."""
    assert [(each.id, each.name, each.status) for each in bookings.calls or ()] == [
        ("1", "find_table", "ok"),
        ("2", "book_table", "error"),
        ("3", "book_bar", "error"),
        ("4", "wait_list", "cancelled"),
        ("5", "say_goodbye", "unanswered"),
    ]
    calls = bookings.calls or ()
    assert calls[0].args == {"people": 4}
    assert calls[0].result["structuredContent"] == {"table": 7}
    assert calls[1].result["isError"] is True
    assert calls[2].args == {}  # the protocol lets a call without arguments leave them out
    assert (calls[2].error["code"], calls[2].result) == (-32602, UNSET)
    assert calls[3].result is UNSET


def test_times_in_milliseconds_are_epoch_times(bookings: EvidenceModel) -> None:
    """A call runs from its request to its response."""
    first = (bookings.calls or ())[0]
    assert (first.start_ns, first.end_ns, first.clock) == (
        1_760_000_001_000_000_000,
        1_760_000_001_250_000_000,
        "epoch",
    )


def test_what_both_sides_say_of_themselves_is_metadata(bookings: EvidenceModel) -> None:
    """`initialize` is no call."""
    assert bookings.metadata == {
        "client": {"name": "desk", "version": "1.2"},
        "server": {"name": "bookings", "version": "0.9"},
        "protocol_version": "2025-06-18",
    }


def test_every_message_is_read_or_noted(bookings: EvidenceModel) -> None:
    """Thirteen messages; the notification and the late answer are named."""
    assert (bookings.sources[0].records, bookings.sources[0].records_read) == (13, 11)
    assert codes(bookings) == ["answer_after_cancel", "dropped_key"]


def test_a_log_holds_no_speech(bookings: EvidenceModel) -> None:
    """A phrase can't be looked for, and the gap says what to record."""
    assert bookings.turns is None
    document = averment.Document.of(
        {
            "version": 1,
            "assertions": [
                {"id": "said", "kind": "phrase", "regex": "booked", "role": "agent"},
                {"id": "called", "kind": "tool_call", "name": "find_table"},
            ],
        }
    )
    said, called = averment.run(document, Evidence.load(sample("mcp/bookings.jsonl"))).to_dict()["results"]
    assert (said["status"], called["status"]) == ("INCONCLUSIVE", "PASS")
    assert said["evidence_gap"]["channel"] == "transcript"
    assert "pass it as the transcript" in said["evidence_gap"]["how"]


def test_a_number_and_its_text_are_two_ids() -> None:
    """Tricky input 1: `1` and `"1"` are both open, and are answered in the other order."""
    found = model(call(1, n=1), call("1", n=2), answer("1", "of the text"), answer(1, "of the number"))
    assert [(each.args["n"], each.result["content"][0]["text"]) for each in found.calls or ()] == [
        (1, "of the number"),
        (2, "of the text"),
    ]


def test_a_server_that_asks_under_the_same_id_takes_no_result_from_a_call() -> None:
    """Both sides count from one; a result that looks like a tool's is the call's, whatever the order."""
    ask = {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}}
    told = {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"role": "assistant", "content": {"type": "text", "text": "x"}},
    }
    found = model(call(1), ask, told, answer(1, "found"))
    assert [each.result["content"][0]["text"] for each in found.calls or ()] == ["found"]
    found = model(call(1), ask, {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}})
    assert [each.status for each in found.calls or ()] == ["unanswered"]
    assert "ambiguous_response" in codes(found)


def test_an_unfinished_result_is_no_success() -> None:
    """A server that asks for more input has run, and nobody knows how it went."""
    found = model(call(1), answer(1, resultType="input_required"))
    assert [each.status for each in found.calls or ()] == ["executed"]
    assert codes(found) == ["unfinished_result"]
    assert [each.status for each in model(call(1), answer(1, resultType="complete")).calls or ()] == ["ok"]


def test_a_response_to_a_request_that_is_not_there_leaves_the_log_partial() -> None:
    """A call before the log's first line is not shown, so none can be ruled out."""
    found = model(answer(9), call(1), answer(1))
    assert codes(found) == ["response_without_request"]
    assert found.coverage.executions.state == "partial"
    assert len(found.calls or ()) == 1


def test_a_response_without_an_id_belongs_to_nothing() -> None:
    """Neither to the only call."""
    found = model(call(1), {"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}})
    assert [each.status for each in found.calls or ()] == ["unanswered"]
    assert codes(found) == ["response_without_id"]


def test_another_protocol_over_json_rpc_shows_no_calls() -> None:
    """That no tool of MCP was called would be no finding."""
    found = model({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {}})
    assert found.coverage.executions.state == "absent"


def test_ids_are_used_again_after_their_answer() -> None:
    """A reconnected client counts from one again."""
    found = model(call(1, n=1), answer(1, "a"), call(1, n=2), answer(1, "b"))
    assert [each.result["content"][0]["text"] for each in found.calls or ()] == ["a", "b"]


def test_batches_and_wrapped_messages_are_read() -> None:
    """A batch is a list of messages; a wrapper holds one under `message`."""
    found = model([call(1, n=1), call(2, "other")], {"ts": "2026-01-05T10:00:00Z", "message": answer(1)}, 5)
    assert [each.status for each in found.calls or ()] == ["ok", "unanswered"]
    assert codes(found) == ["not_a_message"]
    assert (found.sources[0].records, found.sources[0].records_read) == (4, 3)


@pytest.mark.parametrize(
    ("first", "second", "clock"), [(1000, 1001, "monotonic"), (1000, 1_760_000_000_000, None)]
)
def test_small_times_have_a_clock_of_their_own(first: int, second: int, clock: str | None) -> None:
    """A log that counts from its own start says nothing of the time of day; a mixture says nothing at all."""
    entries = [{"timestamp_ms": first, "request": call(1)}, {"timestamp_ms": second, "response": answer(1)}]
    found = Evidence.from_bytes(json.dumps({"entries": entries}).encode()).model
    assert [each.clock for each in found.calls or ()] == [clock]
    assert ("mixed_times" in codes(found)) is (clock is None)


def test_headers_never_become_evidence() -> None:
    """What a transport carries may be a secret."""
    log = {
        "transport": "streamable-http",
        "transport_context": {"headers": {"Authorization": "Bearer sesame"}},
        "entries": [{"timestamp_ms": 1, "request": call(1), "headers": {"Cookie": "sesame"}}],
    }
    assert b"sesame" not in Evidence.from_bytes(json.dumps(log).encode()).to_json()


def test_odd_values_are_noted_or_refused() -> None:
    """No value at any place stops the reader."""
    lines = sample("mcp/bookings.jsonl").read_text(encoding="utf-8").splitlines()
    for wrong in mutants([json.loads(line) for line in lines[:7]]):
        survives(wrong)


def test_many_requests_of_one_id_take_linear_time() -> None:
    """A hostile log opens one id over and over."""
    messages: list[Any] = [call(1, n=number) for number in range(20_000)]
    messages.append({"jsonrpc": "2.0", "id": 1, "method": "roots/list"})
    assert len(model(*messages, *[answer(1)] * 20_000).calls or ()) == 20_000


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "mcp-jsonrpc/assay__fixtures__mcp__edge_case.json",
            # $[1], $[3], $[5] are tools/call; $[2] and $[6] answer "1" and "4"; $[4] is an error of "3", which no
            # request has, and a note, like the notification $[0].
            {"turns": 0, "calls": 3, "results": 2, "errors": 0, "notes": 2},
        ),
        (
            "mcp-jsonrpc/assay__mcp-era-parity-v0__vectors__multi-hop-input-required.json",
            # .entries[0] and [2] are tools/call, [1] and [3] answer them with `input_required`: a note each;
            # `transport_context` is a note. That both calls have `{}` as arguments is what was sent.
            {"turns": 0, "calls": 2, "results": 2, "errors": 0, "notes": 3},
        ),
        (
            "mcp-jsonrpc/assay__mcp-jsonrpc-id-conformance__vectors__mcp-error-with-omitted-id.json",
            # .message is an error without an id; .id and .expected are no part of a log.
            {"turns": 0, "calls": 0, "results": 0, "errors": 0, "notes": 3},
        ),
        (
            "mcp-jsonrpc/assay__mcp-era-parity-v0__vectors__unknown-era.json",
            # .entries[0] is a tools/call, [1] its answer; there is nothing else.
            {"turns": 0, "calls": 1, "results": 1, "errors": 0, "notes": 0},
        ),
    ],
)
def test_real_logs_hold_what_a_person_counts(name: str, expected: dict[str, int]) -> None:
    """Counted by hand in the files."""
    assert all_counts(real(name)) == [expected]


def test_a_task_is_no_result() -> None:
    """A server that answers with a task tells later what came of it, and the log may not have that."""
    found = model(
        call(1, n=1), {"jsonrpc": "2.0", "id": 1, "result": {"task": {"taskId": "t", "status": "working"}}}
    )
    assert [(each.status, each.result_state) for each in found.calls or ()] == [("executed", "absent")]
    assert [found.coverage.results.state, found.coverage.errors.state] == ["partial", "partial"]
    assert "unfinished_result" in codes(found)


def test_calls_without_arguments_are_just_that() -> None:
    """A log of messages has what was sent, and the protocol lets a call without arguments leave them out."""
    found = model(call(1), answer(1), call(2), answer(2))
    assert [each.args for each in found.calls or ()] == [{}, {}]
    assert codes(found) == []
