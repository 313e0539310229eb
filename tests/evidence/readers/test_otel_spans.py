from __future__ import annotations

import json
from typing import Any

import pytest
from mutants import mutants, survives
from otel import START, asks, chat, flat, message, only, read, tool

from averment.evidence import Evidence
from samples import all_counts, real, sample

ASK = message("user", "Refund order 7.")
SAID = [("user", "Refund order 7."), ("refund", {"order": 7}, "ok")]


def spans() -> list[dict[str, Any]]:
    """A model call and the execution that it asked for."""
    asked = message("assistant", asks("c1", "refund", {"order": 7}))
    return [
        chat(1, [ASK], [asked]),
        tool(2, "refund", own="c1", arguments='{"order": 7}', result="done", within=1, at=2),
    ]


def test_lists_lines_and_wrapped_lists_are_the_same() -> None:
    """As an SDK's file exporter, ADOT and an API have them; one span alone is one too."""
    made = spans()
    lines = "\n".join(json.dumps(each) for each in made)
    for data in (json.dumps(made), lines, json.dumps({"session_id": "x", "spans": made})):
        (evidence,) = Evidence.all_from_bytes(data.encode())
        assert flat(evidence) == SAID
    (alone,) = Evidence.all_from_bytes(json.dumps(made[1]).encode())
    assert [call.name for call in alone.model.calls or ()] == ["refund"]


def test_the_python_sdk_s_console_exporter() -> None:
    """Ids with a prefix in `context`, ISO times, a status by name."""
    made = spans()
    for each in made:
        trace, own, parent = (each.pop(key) for key in ("trace_id", "span_id", "parent_span_id"))
        each["context"] = {"trace_id": f"0x{trace}", "span_id": f"0x{own}", "trace_state": "[]"}
        each["parent_id"] = parent and f"0x{parent}"
        each["kind"] = "SpanKind.INTERNAL"
        each["start_time"], each["end_time"] = "2023-11-14T22:13:20.000001Z", "2023-11-14T22:13:21.5Z"
        each["status"] = {"status_code": "ERROR", "description": "no such order"}
        each["resource"] = {"attributes": {"service.name": "desk"}, "schema_url": ""}
    evidence = only(*made)
    model = evidence.model
    (call,) = model.calls or ()
    assert (call.span_id, call.start_ns, call.end_ns) == (f"{2:016x}", START + 1000, START + 1_500_000_000)
    assert (call.status, call.error) == ("error", {"message": "no such order"})
    assert (model.spans or ())[1].fields["parent_id"] == f"{1:016x}"
    assert (model.spans or ())[1].fields["kind"] == "internal"


def test_phoenix_s_export() -> None:
    """The kind of OpenInference as `span_kind`, the status beside the span."""
    made: dict[str, Any] = {
        "id": "U3Bhbjox",
        "name": "refund",
        "span_kind": "TOOL",
        "context": {"trace_id": "a" * 32, "span_id": "b" * 16},
        "parent_id": None,
        "start_time": "2023-11-14T22:13:20+00:00",
        "end_time": "2023-11-14T22:13:21+00:00",
        "status_code": "ERROR",
        "status_message": "no",
        "attributes": {"tool.name": "refund", "input.value": '{"order": 7}', "tool_call": {"id": "c1"}},
        "events": [],
    }
    (call,) = only(made).model.calls or ()
    assert (call.id, call.name, call.args, call.status) == ("c1", "refund", {"order": 7}, "error")
    assert call.start_ns == START


def test_an_answer_of_phoenix_s_api_is_whole_unless_it_says_that_there_are_more_pages() -> None:
    """A page may end in the middle of a trace, so what it doesn't hold decides nothing."""
    page = json.loads(sample("otel_spans/phoenix.json").read_bytes())
    (whole,) = Evidence.all_from_bytes(json.dumps(page).encode())
    assert flat(whole) == [
        ("user", "Please refund order A-17."),
        ("issue_refund", {"order_id": "A-17"}, "error"),
        ("agent", "I have refunded it."),
    ]
    assert [whole.model.coverage.executions.state, whole.model.coverage.handoff.state] == ["present"] * 2
    (cut,) = Evidence.all_from_bytes(json.dumps(page | {"next_cursor": "U3Bhbjo3"}).encode())
    coverage = cut.model.coverage
    assert {getattr(coverage, each).state for each in ("transcript", "executions", "http")} == {"partial"}
    assert coverage.executions.how == "Fetch the other pages too, and put their spans into one list."


def test_log_records_among_the_spans_belong_to_them() -> None:
    """CloudWatch has both, of one shape, and messages in the records alone."""
    call = chat(1, None, None)
    record = {
        "traceId": call["trace_id"],
        "spanId": call["span_id"],
        "timeUnixNano": START,
        "attributes": {"event.name": "gen_ai.user.message"},
        "body": {"content": "Refund order 7."},
    }
    other = record | {"attributes": {}, "body": "started"}
    evidence = only(record, call, other)
    assert flat(evidence) == SAID[:1]
    assert len(evidence.model.spans or ()) == 1
    assert [note.code for note in evidence.model.notes] == ["not_read"]


def test_javascript_s_readable_spans() -> None:
    """Ids in `spanContext`, times as seconds and nanoseconds, codes as numbers."""
    made = spans()
    for each in made:
        each["spanContext"] = {"traceId": each.pop("trace_id"), "spanId": each.pop("span_id")}
        each["parentSpanContext"] = {"spanId": each.pop("parent_span_id")}
        each["startTime"], each["endTime"] = [1_700_000_000, 5], [1_700_000_001, 0]
        each["status"] = {"code": 2}
        del each["start_time"], each["end_time"]
    model = only(*made).model
    assert [each.start_ns for each in model.spans or ()] == [START + 5] * 2
    assert [call.status for call in model.calls or ()] == ["error"]
    assert (model.spans or ())[1].fields["parent_id"] == f"{1:016x}"


@pytest.mark.parametrize("unit", [1, 1_000, 1_000_000, 1_000_000_000])
def test_the_unit_of_numbers_is_that_of_the_whole_file(unit: int) -> None:
    """Nanoseconds by the standard, but exports have microseconds, milliseconds and seconds too."""
    made = spans()
    for each in made:
        each["start_time"] //= unit
        each["end_time"] //= unit
    assert [each.start_ns for each in only(*made).model.spans or ()] == [START, START + 2 * 10**9]


def test_numbers_of_different_size_are_no_times() -> None:
    """One of them would be read wrongly."""
    made = spans()
    made[1]["start_time"] //= 1000
    model = only(*made).model
    assert [each.start_ns for each in model.spans or ()] == [None, None]
    assert [note.code for note in model.notes] == ["time_unit_unknown"]


def test_the_sample_is_read_to_its_last_line() -> None:
    """JSON lines made by hand."""
    evidence = Evidence.load(sample("otel_spans/refund.jsonl"))
    assert flat(evidence) == [
        ("user", "I'd like my money back for order 7."),
        ("find_order", {"order": 7}, "ok"),
        ("refund", {"order": 7, "amount": 12.5}, "ok"),
        ("agent", "Done: 12.50 are on their way."),
    ]
    assert evidence.model.notes == ()


def test_other_lists_of_objects_are_no_spans() -> None:
    """Attributes and an id are what makes a span."""
    from averment.evidence.readers import otel_spans

    values: tuple[Any, ...] = (
        [],
        {},
        [{"attributes": {}}],
        [{"span_id": "x"}],
        {"spans": [{"type": "x"}]},
        "x",
        None,
        [[]],
    )
    for value in values:
        assert otel_spans.fits(value) is None


def test_a_list_with_other_things_is_read_as_far_as_it_goes() -> None:
    """What is no object is noted."""
    (evidence,) = read(*spans(), 7, None)
    assert flat(evidence) == SAID
    assert [note.code for note in evidence.model.notes] == ["not_an_object"]


def test_whatever_stands_in_it_is_read_or_refused() -> None:
    """Every value of the sample replaced by values of other types."""
    lines = [json.loads(line) for line in sample("otel_spans/refund.jsonl").read_text().splitlines()]
    for changed in mutants(lines[1:3]):
        survives(changed)


REAL = {
    # [0].gen_ai.input.messages[0] user; [1] and [4] span_events: two assistant texts; parts of type tool_call: two, with
    # `execute_tool` spans [2] and [3]; [2] has a result, [4]'s messages[3] answers the other; [3] has status ERROR
    "otel-genai-flat/evals__mappers__fixtures__otel_genai_convention_spans.json": [
        {"turns": 3, "calls": 2, "results": 2, "errors": 1, "notes": 0}
    ],
    # [0] and [2] chat: system, user, the text of [2]; [1] execute_tool with arguments and result
    "otel-genai-flat/evals__mappers__fixtures__pydantic_ai_live_spans.json": [
        {"turns": 3, "calls": 1, "results": 1, "errors": 0, "notes": 0}
    ],
    # [9] input.value and output_messages 0, 3 and 5; six spans of kind TOOL, [0] to [5], each with output.value
    "otel-genai-flat/evals__mappers__fixtures__claude_live_spans.json": [
        {"turns": 4, "calls": 6, "results": 6, "errors": 0, "notes": 0}
    ],
    # [0]: system and user; [14]: the text; spans [2], [5], [8], [10], [13] are execute_tool with results; the texts of
    # the two specialists, [1] to [3] and [7] to [11], are the note
    "otel-genai-flat/evals__mappers__fixtures__openai_agents_genai_live_spans.json": [
        {"turns": 3, "calls": 5, "results": 5, "errors": 0, "notes": 1}
    ],
    # two traces: spans [0] and [2] are of a model, [1] of a tool; [6] of a model
    "otel-genai-flat/evals__mappers__fixtures__openinference_adot_spans.json": [
        {"turns": 3, "calls": 1, "results": 1, "errors": 0, "notes": 0},
        {"turns": 2, "calls": 0, "results": 0, "errors": 0, "notes": 0},
    ],
    # span_id s02: system, user, assistant, user; s38: the answer. 18 spans of kind TOOL, call-02 to call-19, and call-01
    # in the history of s02 with the one result that no span contradicts; "{}" against "[tool result]" 18 times, one
    # `[tool result]` that is no JSON, arguments that are all "{}", and the texts of the sub-agent
    "openinference/phoenix__online_evals__fixtures__pxi_turn_subagent_trace.json": [
        {"turns": 5, "calls": 19, "results": 1, "errors": 0, "notes": 21}
    ],
    # ten spans in ten traces, [8] and [9] of embeddings: eight conversations of one prompt and one answer, but [2] and
    # [3] with five messages each; the note is of the embeddings
    "openinference/openinference____fixtures____v6-spans__all-spans.json": [
        {"turns": turns, "calls": 0, "results": 0, "errors": 0, "notes": 1}
        for turns in (2, 2, 5, 5, 2, 2, 2, 2)
    ],
}


@pytest.mark.parametrize("name", REAL)
def test_real_files_hold_what_they_hold(name: str) -> None:
    """Counted in the file."""
    assert all_counts(real(name)) == REAL[name]


def test_a_real_handoff_is_a_span_and_two_calls() -> None:
    """The model asked for two transfers: one was made, one ignored; the tools' own spans are one."""
    name = "otel-genai-flat/evals__mappers__fixtures__openai_agents_openinference_adot_spans.json"
    model = Evidence.load(real(name)).model
    assert [call.name for call in model.calls or ()] == [
        "transfer_to_math_specialist",
        "transfer_to_research_specialist",
        "multiply_numbers",
    ]
    handoffs = [each for each in model.spans or () if each.type == "handoff"]
    assert [each.fields["to"] for each in handoffs] == ["math_specialist"]
    # four spans named POST, `http.url` https://api.openai.com/v1/responses
    assert sum(each.type == "http_exchange" for each in model.spans or ()) == 4


def test_a_real_span_that_says_nothing_of_its_outcome() -> None:
    """AutoGen's `execute_tool` has a name and an id: executed, without arguments, result or status."""
    name = "otel-genai-flat/evals__mappers__fixtures__autogen_live_spans.json"
    (call,) = Evidence.load(real(name)).model.calls or ()
    assert (call.id, call.status, call.args_state) == (
        "toolu_bdrk_011nDreLrC9nv8NZs6iGrx6d",
        "executed",
        "absent",
    )
