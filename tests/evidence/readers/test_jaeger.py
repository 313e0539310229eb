from __future__ import annotations

import json
from typing import Any

import pytest
from mutants import mutants, survives
from otel import START, flat

from averment.evidence import Evidence
from samples import all_counts, real, sample


def whole() -> Any:
    """The sample."""
    return json.loads(sample("jaeger/refund.json").read_text())


def only(value: Any) -> Evidence:
    """The one conversation in a JSON value."""
    (found,) = Evidence.all_from_bytes(json.dumps(value).encode())
    return found


def test_tags_are_attributes_and_times_are_microseconds() -> None:
    """The sample, made by hand: a model call, a tool, a queue of the framework that broke."""
    evidence = Evidence.load(sample("jaeger/refund.json"))
    assert flat(evidence) == [
        ("user", "Refund order 7."),
        ("refund", {"order": 7}, "ok"),
        ("agent", "It is on its way."),
    ]
    spans = {each.name: each for each in evidence.model.spans or ()}
    assert (spans["refund"].start_ns, spans["refund"].end_ns) == (
        START + 2_000_000_000,
        START + 2_250_000_000,
    )
    assert spans["refund"].fields["parent_id"] == "00000000000000a1"
    assert spans["refund"].fields["resource"] == {"service.name": "desk", "host.name": "desk-1"}
    assert spans["queue.get"].status == "error"
    assert [event["name"] for event in spans["queue.get"].fields["events"]] == ["exception"]


def test_a_status_description_is_a_message() -> None:
    """The only place that Jaeger has for one."""
    value = whole()
    tool = value["data"][0]["spans"][1]
    tool["tags"] += [
        {"key": "otel.status_code", "type": "string", "value": "ERROR"},
        {"key": "otel.status_description", "type": "string", "value": "no such order"},
    ]
    (call,) = only(value).model.calls or ()
    assert (call.status, call.error) == ("error", {"message": "no such order"})


def test_the_tag_error_is_a_status() -> None:
    """As clients other than OpenTelemetry's write it."""
    value = whole()
    value["data"][0]["spans"][1]["tags"].append({"key": "error", "type": "bool", "value": True})
    assert [call.status for call in only(value).model.calls or ()] == ["error"]


def test_a_trace_alone_and_a_list_of_traces_are_read() -> None:
    """As people cut them out."""
    trace = whole()["data"][0]
    assert flat(only(trace)) == flat(only([trace])) == flat(only(whole()))


def test_traces_are_conversations() -> None:
    """Those of a search, in its order."""
    value = whole()
    other = json.loads(json.dumps(value["data"][0]).replace(value["data"][0]["traceID"], "c" * 32))
    value["data"].append(other)
    found = Evidence.all_from_bytes(json.dumps(value).encode())
    assert [each.model.conversation_id for each in found] == [value["data"][0]["traceID"], "c" * 32]


def test_whatever_stands_in_it_is_read_or_refused() -> None:
    """Every value of the sample replaced by values of other types."""
    for changed in mutants(whole()):
        survives(changed)


REAL = {
    # data[0].spans: openai.chat twice; gen_ai.prompt.0 system, .1 user, the second one's completion.0.content; one
    # `execute_tool helm_list_releases` with a tool_response
    "jaeger/agentevals__samples__helm.json": [
        {"turns": 3, "calls": 1, "results": 1, "errors": 0, "notes": 0}
    ],
    # one openai.chat: gen_ai.prompt.0 system, .1 user, completion.0.content; no execute_tool
    "jaeger/agentevals__samples__helm_2.json": [
        {"turns": 3, "calls": 0, "results": 0, "errors": 0, "notes": 0}
    ],
}


@pytest.mark.parametrize("name", REAL)
def test_real_files_hold_what_they_hold(name: str) -> None:
    """Counted in the file."""
    assert all_counts(real(name)) == REAL[name]


def test_a_real_trace_of_96_spans_of_which_few_are_the_agent_s() -> None:
    """Tricky input 4: microseconds, not 1970; exceptions of queues are no errors of the tool; MCP's content is kept."""
    model = Evidence.load(real("jaeger/agentevals__samples__helm.json")).model
    assert len(model.spans or ()) == 96
    (call,) = model.calls or ()
    assert (call.id, call.name, call.args, call.status) == (
        "call_P09kjRKHTTJA02oB9HIe4u5t",
        "helm_list_releases",
        {},
        "ok",
    )
    assert (call.start_ns, call.end_ns) == (1771237536879614000, (1771237536879614 + 57091) * 1000)
    assert isinstance(call.result, dict)
    assert set(call.result) >= {"content"}
    assert [each.name for each in model.spans or () if each.type == "llm"] == ["openai.chat", "openai.chat"]
