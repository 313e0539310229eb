from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from mutants import mutants, survives
from otel import START, answers, asks, chat, flat, message, otlp, span, tool

from averment.errors import EvidenceError
from averment.evidence import Evidence
from samples import all_counts, real, sample


def read(value: Any) -> list[Evidence]:
    """The conversations in a JSON value."""
    return Evidence.all_from_bytes(json.dumps(value).encode())


def only(value: Any) -> Evidence:
    """The one conversation in a JSON value."""
    (found,) = read(value)
    return found


ASK = message("user", "Refund order 7.")
DONE = message("assistant", "Done.")
CALL = message("assistant", asks("c1", "refund", {"order": 7}))


def request() -> dict[str, Any]:
    """A request of two model calls and a tool's execution."""
    return otlp(
        chat(1, [ASK], [CALL]),
        tool(2, "refund", own="c1", arguments={"order": 7}, result={"ok": True}, at=2),
        chat(3, [ASK, CALL, message("tool", answers("c1", {"ok": True}))], [DONE], at=4),
        **{"service.name": "desk"},
    )


SAID = [("user", "Refund order 7."), ("refund", {"order": 7}, "ok"), ("agent", "Done.")]


def test_a_request_is_a_conversation() -> None:
    """Values of all types; resource and scope go along."""
    evidence = only(request())
    assert flat(evidence) == SAID
    first = (evidence.model.spans or ())[0]
    assert (first.fields["resource"], first.fields["scope"]) == ({"service.name": "desk"}, "desk")
    assert first.loc == "src_0#$.resourceSpans[0].scopeSpans[0].spans[0]"
    assert evidence.model.sources[0].why == "it has `resourceSpans`"
    assert evidence.model.metadata is not None
    assert evidence.model.metadata["services"] == ["desk"]


def test_the_sample_is_read_to_its_last_span() -> None:
    """A booking made by hand, with an agent, an MCP client, a failed call and HTTP."""
    evidence = Evidence.load(sample("otlp/booking.json"))
    assert flat(evidence) == [
        ("system", "You book tables."),
        ("user", "A table for two tonight, please."),
        ("find_table", {"seats": 2}, "ok"),
        ("book_table", {"table": "T4"}, "error"),
        ("agent", "I'm sorry, that table has just gone."),
    ]
    assert evidence.model.notes == ()
    errors = [call.error for call in evidence.model.calls or () if call.status == "error"]
    assert errors == [{"type": "conflict", "message": "taken"}]


def test_lines_of_the_collector_are_one_file() -> None:
    """A trace can be spread over lines; a place names the line."""
    spans = [chat(1, [ASK], [CALL]), tool(2, "refund", own="c1", result="ok", at=2)]
    lines = "\n".join(json.dumps(otlp(each)) for each in spans)
    (evidence,) = Evidence.all_from_bytes(lines.encode())
    assert [call.status for call in evidence.model.calls or ()] == ["ok"]
    assert (evidence.model.spans or ())[1].loc == "src_0#line 2.resourceSpans[0].scopeSpans[0].spans[0]"


@pytest.mark.parametrize("style", ["snake", "library", "batches", "trace", "result"])
def test_every_spelling_is_read(style: str) -> None:
    """Snake case, the older name of scopes, and the envelopes of Tempo and Jaeger."""
    value: Any = request()
    if style == "snake":
        value = {"resource_spans": value["resourceSpans"]}
        value["resource_spans"][0]["scope_spans"] = value["resource_spans"][0].pop("scopeSpans")
    elif style in ("library", "batches"):
        batch = value["resourceSpans"][0]
        batch["instrumentationLibrarySpans"] = batch.pop("scopeSpans")
        for scope in batch["instrumentationLibrarySpans"]:
            scope["instrumentationLibrary"] = scope.pop("scope")
        value = {"batches": value["resourceSpans"]} if style == "batches" else value
    else:
        value = {style: value}
    evidence = only(value)
    assert flat(evidence) == SAID
    assert (evidence.model.spans or ())[0].fields["scope"] == "desk"


def spans_of(value: Any) -> Any:
    """The spans in a request."""
    return value["resourceSpans"][0]["scopeSpans"][0]["spans"]


def test_ids_in_base64_or_upper_case_become_lower_hex() -> None:
    """Tricky input 2: protobuf's own JSON has base64; the standard has hex, of either case."""
    base64_ids, upper = request(), request()
    for each in spans_of(base64_ids):
        for key in ("traceId", "spanId"):
            each[key] = base64.b64encode(bytes.fromhex(each[key])).decode()
    for each in spans_of(upper):
        each["traceId"] = each["traceId"].upper()
    plain, converted, lower = (only(value).model for value in (request(), base64_ids, upper))
    assert converted.conversation_id == lower.conversation_id == plain.conversation_id
    assert [each.id for each in converted.spans or ()] == [each.id for each in plain.spans or ()]
    assert [(note.code, note.severity) for note in converted.notes] == [("id_converted", "info")]


@pytest.mark.parametrize("time", [None, 0, "0", ""])
def test_a_time_that_is_not_set_is_no_time(time: Any) -> None:
    """Tricky input 2: protobuf writes nothing or zero, which is not 1970."""
    value = request()
    for each in spans_of(value):
        each["startTimeUnixNano"] = each["endTimeUnixNano"] = time
    model = only(value).model
    assert [each.start_ns for each in model.spans or ()] == [None] * 3
    assert flat(only(value)) == SAID
    assert model.notes == ()


def test_times_as_numbers_are_exact() -> None:
    """Tricky input 3: integers beyond 2^53 don't go through a float; a float is noted."""
    value = request()
    spans_of(value)[0]["startTimeUnixNano"] = START + 1
    assert (only(value).model.spans or ())[0].start_ns == START + 1
    text = json.dumps(value).replace(str(START + 1), "1.7e18")
    (rounded,) = Evidence.all_from_bytes(text.encode())
    assert "time_rounded" in {note.code for note in rounded.model.notes}


@pytest.mark.parametrize("code", [2, "STATUS_CODE_ERROR", "ERROR", "Error", "2"])
def test_codes_are_numbers_or_names(code: Any) -> None:
    """Tempo writes names."""
    value = request()
    spans_of(value)[1]["status"] = {"code": code, "message": "no"}
    (call,) = only(value).model.calls or ()
    assert (call.status, call.error) == ("error", {"message": "no"})


def test_attributes_of_every_type() -> None:
    """Nested lists and objects, 64-bit integers as text, bytes as they are written."""
    kv = {
        "kvlistValue": {
            "values": [{"key": "a", "value": {"arrayValue": {"values": [{"intValue": "9007199254740993"}]}}}]
        }
    }
    value: Any = otlp(span(1, "x"))
    spans_of(value)[0]["attributes"] = [
        {"key": "nested", "value": kv},
        {"key": "bytes", "value": {"bytesValue": "AAE="}},
        {"key": "none", "value": {}},
        {"key": "nested", "value": {"doubleValue": 0.5}},
    ]
    (made,) = only(value).model.spans or ()
    assert made.attrs == {"nested": 0.5, "bytes": "AAE=", "none": None}
    spans_of(value)[0]["attributes"].pop()
    (made,) = only(value).model.spans or ()
    assert made.attrs["nested"] == {"a": [9007199254740993]}


def logs(*records: dict[str, Any]) -> dict[str, Any]:
    """A request of log records."""
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}


def record(name: str, body: dict[str, Any], number: int = 1) -> dict[str, Any]:
    """A log record of a GenAI event."""
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in body.items()]
    return {
        "traceId": "a" * 32,
        "spanId": f"{number:016x}",
        "timeUnixNano": str(START + number),
        "eventName": name,
        "body": {"kvlistValue": {"values": pairs}},
    }


def test_log_records_of_events_are_a_conversation() -> None:
    """Without the spans, the messages are there all the same; executions are not."""
    evidence = only(
        logs(
            record("gen_ai.user.message", {"content": "Refund order 7."}),
            record("gen_ai.choice", {"message": "Done."}),
        )
    )
    assert flat(evidence) == [("user", "Refund order 7."), ("agent", "Done.")]
    assert evidence.model.coverage.executions.state == "absent"


def test_log_records_belong_to_their_spans() -> None:
    """Traces and logs in one file, as lines of the collector."""
    call = chat(1, None, None)
    call["trace_id"] = "a" * 32
    said = logs(record("gen_ai.user.message", {"content": "Refund order 7."}))
    text = f"{json.dumps(otlp(call))}\n{json.dumps(said)}"
    (evidence,) = Evidence.all_from_bytes(text.encode())
    assert flat(evidence) == [("user", "Refund order 7.")]
    assert len(evidence.model.spans or ()) == 1


def test_metrics_and_plain_logs_are_refused_with_a_reason() -> None:
    """They hold no conversation."""
    metrics: dict[str, Any] = {"resourceMetrics": [{"scopeMetrics": []}]}
    for value in (metrics, logs({"body": {"stringValue": "started"}})):
        with pytest.raises(EvidenceError) as refused:
            read(value)
        (problem,) = refused.value.problems
        assert (problem.code, problem.mend) == (
            "no_spans",
            "Export the traces of the agent, not its metrics or plain logs.",
        )


def test_whatever_stands_in_it_is_read_or_refused() -> None:
    """Every value of a log record replaced by values of other types."""
    for changed in mutants(logs(record("gen_ai.user.message", {"content": "Hello."}))):
        survives(changed)


# What `jq` shows in the files themselves.
REAL = {
    # batches[2]…spans: `openai.chat` twice; gen_ai.prompt.0 system, .1 user; completion.0.tool_calls of the first, its
    # answer in prompt.3 of the second; one `execute_tool helm_list_releases`, status 0, with a tool_response. Nine
    # spans name parents that are not in the file, such as cbd1b46f7435c01a: the note.
    "tempo/agentevals__samples__tempo_export_with_batches.json": [
        {"turns": 3, "calls": 1, "results": 1, "errors": 0, "notes": 1}
    ],
    # one span, `tools/call read_file`, status 1; neither arguments nor result
    "otlp-json/assay__fixtures__otel-mcp-ingest-v0__mcp_client_tools_call.json": [
        {"turns": 0, "calls": 1, "results": 0, "errors": 0, "notes": 0}
    ],
    # spans[0] `execute_tool read_file`; spans[1] in another trace is `create_agent`: the one note
    "otlp-json/assay__slice3-arm-c__run_arm_c_20260524T220633Z_1__trace.json": [
        {"turns": 0, "calls": 1, "results": 0, "errors": 0, "notes": 1}
    ],
    # one span of a server, nothing of an agent
    "otlp-json/opentelemetry-proto__examples__trace.json": [
        {"turns": 0, "calls": 0, "results": 0, "errors": 0, "notes": 0}
    ],
}


@pytest.mark.parametrize("name", REAL)
def test_real_files_hold_what_they_hold(name: str) -> None:
    """Counted in the file."""
    assert all_counts(real(name)) == REAL[name]


def test_a_real_export_of_tempo_has_one_model_call_where_three_tell_of_it() -> None:
    """Tricky input 3: two model calls, each `openai.chat` in `generate_content` in `call_llm`; exact times."""
    model = Evidence.load(real("tempo/agentevals__samples__tempo_export_with_batches.json")).model
    assert len(model.spans or ()) == 86  # 1 + 18 + 67 spans in the three batches
    calls = [each for each in model.spans or () if each.type == "llm"]
    assert [each.name for each in calls] == ["openai.chat", "openai.chat"]
    assert calls[0].start_ns == 1777555053809433900  # `startTimeUnixNano` of 0e5deee1c91f77f8, beyond 2^53
    (call,) = model.calls or ()
    assert (call.id, call.name, call.status) == ("call_w0eKlvnaE7S9GQJeSSs0gn05", "helm_list_releases", "ok")
    assert model.conversation_id == "ctx-eff35888-55ab-4eb0-b90d-7b21f711f91f"
    assert model.metadata is not None
    assert model.metadata["input_tokens"] == 2256 + 2392


def test_a_real_export_in_upper_case() -> None:
    """Tricky input 2: the standard's own example."""
    model = Evidence.load(real("otlp-json/opentelemetry-proto__examples__trace.json")).model
    assert model.conversation_id == "5b8efff798038103d269b633813fc60c"
    assert [each.id for each in model.spans or ()] == ["eee19b7ec3c1b174"]


def test_hostile_files_do_no_harm() -> None:
    """One has no spans and is refused; the other's span has nothing but a name."""
    start = "otlp-json/assay__fixtures__otel-mcp-ingest-v0__hostile"
    with pytest.raises(EvidenceError) as refused:
        Evidence.load(real(f"{start}_deep_nesting.json"))
    assert [problem.code for problem in refused.value.problems] == ["no_spans"]
    model = Evidence.load(real(f"{start}_missing_required_fields.json")).model
    assert [(each.id, each.name, each.start_ns) for each in model.spans or ()] == [
        ("s_0", "incomplete-span", None)
    ]


def test_an_attribute_beyond_all_limits_is_kept() -> None:
    """A megabyte in one attribute of a span that says nothing else."""
    value = otlp(tool(1, "refund", result="x" * 2**20))
    (call,) = only(value).model.calls or ()
    assert len(call.result) == 2**20
