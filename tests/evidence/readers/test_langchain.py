from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives

from averment.evidence import Evidence
from averment.evidence.readers import langchain
from samples import counts, real, sample

Judge = Callable[..., Any]

STATE = json.loads(sample("langchain/state.json").read_text())


def read(value: Any) -> Evidence:
    """The evidence of one value."""
    return Evidence.from_bytes(json.dumps(value).encode())


def constructor(name: str, **kwargs: Any) -> dict[str, Any]:
    """A message as `dumps` writes it."""
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": kwargs}


def test_a_state_is_turns_and_calls() -> None:
    """The raw copy of a call and the part that stands for it don't count again; `status` says how it went."""
    model = Evidence.load(sample("langchain/state.json")).model
    assert [(t.id, t.role_raw, t.role, t.text, t.said) for t in model.turns or ()] == [
        ("t_0", "system", "system", "You run a cinema desk.", False),
        ("h-1", "human", "user", "Two seats for the late film.", True),
        ("ai-1", "ai", "agent", "I check.", True),
        ("ai-2", "ai", "agent", "Row 4 is free.", True),
    ]
    assert [(c.id, c.name, c.args, c.status) for c in model.calls or ()] == [
        ("lc_1", "find_seats", {"film": "late", "seats": 2}, "ok"),
        ("lc_2", "book", UNSET, "error"),
    ]
    assert (model.calls or ())[1].args_error is not None
    assert model.metadata == {"stage": "done"}
    assert (model.sources[0].records, model.sources[0].records_read) == (6, 6)


def test_a_tool_message_without_a_status_tells_nothing_of_failure(judge: Judge) -> None:
    """Older versions wrote none."""
    messages = [{key: value for key, value in item.items() if key != "status"} for item in STATE["messages"]]
    evidence = read(messages)
    result = judge({"kind": "tool_error", "name": "find_seats", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "errors")
    flagged = Evidence.load(sample("langchain/state.json"))
    assert judge({"kind": "tool_error", "name": "find_seats", "absent": True}, flagged)["status"] == "PASS"


def test_the_constructor_form_is_the_same() -> None:
    """The class names the kind of message."""
    call = {"name": "find", "args": {"a": 1}, "id": "x"}
    model = read(
        [
            constructor("HumanMessage", content="hi", type="human"),
            constructor("AIMessageChunk", content="", tool_calls=[call]),
            constructor("ToolMessage", content="ok", tool_call_id="x", status="success"),
            constructor("AIMessage", content="done", id="run-1"),
        ]
    ).model
    assert [(t.role_raw, t.role, t.text) for t in model.turns or ()] == [
        ("human", "user", "hi"),
        ("ai", "agent", "done"),
    ]
    assert [(c.name, c.args, c.result, c.status) for c in model.calls or ()] == [
        ("find", {"a": 1}, "ok", "ok")
    ]
    assert [c.loc for c in model.calls or ()] == ["src_0#$[1].kwargs.tool_calls[0]"]


def test_the_stored_form_and_the_raw_calls() -> None:
    """`{type, data}`; calls that stand in `additional_kwargs` alone."""
    raw = {"tool_calls": [{"id": "x", "function": {"name": "find", "arguments": '{"a": 1}'}}]}
    model = read(
        [
            {"type": "human", "data": {"content": "hi", "type": "human"}},
            {"type": "ai", "data": {"content": "", "additional_kwargs": raw}},
        ]
    ).model
    assert [(c.name, c.args, c.status) for c in model.calls or ()] == [("find", {"a": 1}, "unanswered")]


def test_messages_that_say_nothing_of_calls_show_none(judge: Judge) -> None:
    """AI messages without `tool_calls`: whether one was asked for is open."""
    evidence = read([{"type": "human", "content": "hi"}, {"type": "ai", "content": "ho"}])
    result = judge({"kind": "tool_call", "name": "find", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")


@pytest.mark.parametrize(
    "value",
    [
        [{"type": "user", "content": "hi"}, {"type": "assistant", "content": "ho"}],
        [{"type": "system", "content": "hi", "uuid": "u", "sessionId": "s"}],
        [{"type": "message", "role": "user", "content": "hi"}],
        [{"role": "user", "content": "hi"}],
        [{"type": "tool_call", "name": "x"}],
        {"messages": [{"role": "user", "content": "hi"}]},
        {"toolSpans": [], "llmSpans": [], "output": "text"},
        [{"lc": 1, "id": ["langchain", "prompts", "PromptTemplate"], "kwargs": {}}],
        7,
    ],
)
def test_what_others_write_does_not_fit(value: Any) -> None:
    """The words must be LangChain's own."""
    assert langchain.fits(value) is None


SCHEMAS = "langgraph-messages/deepeval__test_langgraph__schemas__langgraph"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # $.output.messages: human [0], [4], [8], [12], ai texts [3], [7], [11], [15]; one call in each of [1], [5],
        # [9], [13], answered by [2], [6], [10], [14]; notes: base, agent, LLM and tool spans
        ("full_flow", {"turns": 8, "calls": 4, "results": 4, "errors": 0, "notes": 4}),
        # human [0], ai text [13]; 11 calls in [1], answered by [2] to [12]
        ("async_parallel_heavy", {"turns": 2, "calls": 11, "results": 11, "errors": 0, "notes": 4}),
        # human [0], ai text [3]; the call of [1], answered by [2]
        ("conditional_summarize", {"turns": 2, "calls": 1, "results": 1, "errors": 0, "notes": 4}),
    ],
)
def test_real_files(name: str, expected: dict[str, int]) -> None:
    """Traces of DeepEval, of which the messages of the final state count; counted by hand."""
    assert counts(Evidence.load(real(f"{SCHEMAS}_{name}_schema.json"))) == expected


def test_tool_spans_date_the_calls() -> None:
    """By the id of the call in their output; a span without a length is no duration."""
    heavy = Evidence.load(real(f"{SCHEMAS}_async_parallel_heavy_schema.json")).model
    times = {str((c.args or {}).get("city")): (c.start_ns, c.end_ns) for c in heavy.calls or ()}
    # $.toolSpans[10]: 07:54:51.957 to 07:54:51.958 (Tokyo), [7]: 07:54:51.960 to 07:54:51.960 (Sydney)
    assert times["Tokyo"] == (1773906891_957000000, 1773906891_958000000)
    assert times["Sydney"] == (1773906891_960000000, None)


def test_hostile_values_are_read_or_refused() -> None:
    """Whatever stands in the place of a value, nothing but a refusal is raised."""
    trace = {
        "uuid": "u",
        "llmSpans": [],
        "toolSpans": [{"output": {"tool_call_id": "lc_1"}, "startTime": "2026-03-01T09:00:00Z"}],
        "output": {"messages": STATE["messages"][:2]},
    }
    for value in (STATE, trace, [constructor("HumanMessage", content="hi")]):
        for mutant in mutants(value):
            survives(mutant)


def test_a_call_that_only_the_content_has_decides_nothing(judge: Judge) -> None:
    """Tools that a provider runs stand in no `tool_calls`; LangChain passes their blocks on as they are."""
    block = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
    messages = [
        {"type": "human", "content": "hi"},
        {"type": "ai", "content": [block, {"type": "text", "text": "Here."}], "tool_calls": []},
    ]
    result = judge({"kind": "tool_call", "name": "web_search", "absent": True}, read({"messages": messages}))
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")


def test_success_of_a_tool_message_gives_way_to_what_it_answered() -> None:
    """`success` is the default of every tool message that was made by hand."""
    call = {"name": "refund", "args": {}, "id": "1"}
    messages = [
        {"type": "human", "content": "hi"},
        {"type": "ai", "content": "", "tool_calls": [call]},
        {"type": "tool", "tool_call_id": "1", "content": '{"error": "no"}', "status": "success"},
    ]
    assert [each.status for each in read({"messages": messages}).model.calls or ()] == ["error"]
