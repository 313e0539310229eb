"""What spans become, whatever file they came in: turns and calls. Coverage and carriers have tests of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives
from otel import (
    ASK,
    CALL,
    DONE,
    START,
    TOLD,
    answers,
    asks,
    chat,
    flat,
    message,
    only,
    otlp,
    read,
    refund,
    span,
    tool,
)

Judge = Callable[..., Any]


REFUND = [
    ("system", "Be kind."),
    ("user", "Refund order 7, please."),
    ("agent", "One moment."),
    ("refund", {"order": 7}, "ok"),
    ("agent", "It is refunded."),
]


def test_a_history_that_every_model_call_repeats_is_said_once() -> None:
    """Turns are what is new in each list; the request, the execution and the answer are one call."""
    evidence = only(*refund())
    assert flat(evidence) == REFUND
    (call,) = evidence.model.calls or ()
    assert (call.id, call.result, call.span_id, call.position) == ("c1", {"refunded": True}, f"{3:016x}", 2)
    assert evidence.model.notes == ()


def test_the_order_of_export_does_not_matter() -> None:
    """Spans are exported when they end, or in any order; their times tell."""
    one, two, three, four = refund()
    evidence = only(four, two, three, one)
    assert flat(evidence) == REFUND
    assert [each.id for each in evidence.model.spans or ()] == [f"{number:016x}" for number in (1, 2, 3, 4)]


def test_a_parent_comes_before_a_child_that_starts_with_it() -> None:
    """Times tie often; what is around comes first."""
    evidence = only(tool(2, "refund", within=1), span(1, "invoke_agent desk", took=2))
    assert [each.name for each in evidence.model.spans or ()] == ["invoke_agent desk", "refund"]


def test_the_same_words_again_are_said_again() -> None:
    """A second `yes` behind an answer is a second turn, not the first one repeated."""
    yes, what = message("user", "Yes."), message("assistant", "Sure?")
    evidence = only(chat(1, [yes], [what]), chat(2, [yes, what, yes], [message("assistant", "Done.")], at=2))
    assert flat(evidence) == [("user", "Yes."), ("agent", "Sure?"), ("user", "Yes."), ("agent", "Done.")]


def test_in_a_new_trace_without_history_words_are_new() -> None:
    """With the history kept on the server, each trace holds the new message alone."""
    first = chat(1, [message("user", "Yes.")], [message("assistant", "Which?")], attributes=SESSION)
    second = chat(2, [message("user", "Yes.")], [message("assistant", "Fine.")], at=9, attributes=SESSION)
    second["trace_id"] = "f" * 32
    evidence = only(first, second)
    assert flat(evidence) == [("user", "Yes."), ("agent", "Which?"), ("user", "Yes."), ("agent", "Fine.")]


SESSION = {"gen_ai.conversation.id": "visit-9"}


def test_a_session_over_several_traces_is_one_conversation() -> None:
    """With the history in each, nothing is said twice; the session is the conversation's id."""
    first = [chat(1, [ASK], [message("assistant", "Which?")], attributes=SESSION)]
    later = [ASK, message("assistant", "Which?"), message("user", "The red one.")]
    second = chat(2, later, [DONE], at=9, attributes=SESSION)
    second["trace_id"] = "f" * 32
    evidence = only(*first, second)
    assert [text for _, text in flat(evidence)] == [
        "Refund order 7, please.",
        "Which?",
        "The red one.",
        "It is refunded.",
    ]
    assert evidence.model.conversation_id == "visit-9"


def test_sessions_in_one_trace_are_conversations_of_their_own() -> None:
    """A span belongs to the session that it or its nearest ancestor names."""
    spans = [
        span(1, "batch", took=20),
        span(2, "invoke_agent desk", within=1, attributes={"session.id": "a"}),
        chat(3, [ASK], [DONE], within=2),
        chat(
            4,
            [message("user", "Hello.")],
            [message("assistant", "Hi.")],
            within=1,
            attributes={"session.id": "b"},
        ),
    ]
    found = read(*spans)
    assert [each.model.conversation_id for each in found] == ["a", "b"]
    assert flat(found[1]) == [("user", "Hello."), ("agent", "Hi.")]


def test_traces_without_a_session_are_conversations_each() -> None:
    """Nothing is put together by guess."""
    other = chat(2, [message("user", "Hello.")], [message("assistant", "Hi.")])
    other["trace_id"] = "e" * 32
    assert len(read(chat(1, [ASK], [DONE]), other)) == 2


def test_traces_of_no_conversation_are_left_out_and_told() -> None:
    """A health check is no conversation; since its request may matter, HTTP is not fully shown."""
    health = span(9, "GET /health", attributes={"http.request.method": "GET", "url.path": "/health"})
    health["trace_id"] = "d" * 32
    model = only(chat(1, [ASK], [DONE]), health).model
    assert [note.code for note in model.notes] == ["spans_left_out"]
    assert model.coverage.http.state == "partial"


def test_a_text_changed_in_the_history_is_no_new_turn() -> None:
    """An application may shorten what was said before it gives it to a model again."""
    changed = message("assistant", "One mom")
    evidence = only(
        chat(1, [ASK], [message("assistant", "One moment.")]), chat(2, [ASK, changed, ASK], [DONE], at=2)
    )
    assert [text for _, text in flat(evidence)] == [
        "Refund order 7, please.",
        "One moment.",
        "Refund order 7, please.",
        "It is refunded.",
    ]
    assert [note.code for note in evidence.model.notes] == ["history_differs"]


def test_what_was_said_before_the_recording_has_no_time() -> None:
    """The first model call can tell that it was said, and not when."""
    before = [message("user", "Hello."), message("assistant", "Hi."), ASK]
    turns = only(chat(1, before, [DONE])).model.turns or ()
    assert [(turn.start_ns, turn.end_ns) for turn in turns] == [
        (None, None),
        (None, None),
        (START, None),
        (START + 10**9, START + 10**9),
    ]


def test_an_agent_around_its_model_calls_says_nothing_twice() -> None:
    """Messages are taken from the innermost spans that show them."""
    spans = refund()
    spans[0]["attributes"] |= {
        "gen_ai.input.messages": json.dumps([ASK]),
        "gen_ai.output.messages": json.dumps([DONE]),
    }
    assert flat(only(*spans)) == REFUND


def test_an_agent_s_messages_count_where_those_inside_are_not_shown() -> None:
    """Content may be recorded for the run and not for each model call."""
    spans = [
        span(
            1,
            "invoke_agent desk",
            took=9,
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.input.messages": json.dumps([ASK]),
                "gen_ai.output.messages": json.dumps([DONE]),
            },
        ),
        chat(2, None, None, within=1, at=1),
    ]
    evidence = only(*spans)
    assert flat(evidence) == [("user", "Refund order 7, please."), ("agent", "It is refunded.")]
    assert evidence.model.coverage.transcript.state == "present"


def test_a_run_s_messages_stand_around_the_executions_they_speak_of() -> None:
    """Only the end of the run has a time; what was said before a call was said before it."""
    gave = [
        message("assistant", "One moment."),
        message("assistant", asks("c1", "refund", {"order": 7})),
        DONE,
    ]
    run = {"gen_ai.operation.name": "invoke_agent", "gen_ai.output.messages": json.dumps(gave)}
    spans = [
        span(1, "invoke_agent desk", took=9, attributes=run),
        tool(2, "refund", own="c1", arguments={"order": 7}, result="done", within=1, at=2),
        tool(3, "notify", result="sent", within=1, at=5),
    ]
    evidence = only(*spans)
    assert flat(evidence) == [
        ("agent", "One moment."),
        ("refund", {"order": 7}, "ok"),
        ("notify", UNSET, "ok"),
        ("agent", "It is refunded."),
    ]
    assert [turn.start_ns for turn in evidence.model.turns or ()] == [None, START + 9 * 10**9]


def test_one_model_call_seen_by_three_instrumentations_is_one() -> None:
    """`call_llm` around `generate_content` around `openai.chat`: one model call, its tokens counted once."""
    usage = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2}
    spans = [
        chat(1, [ASK], [DONE], took=3, attributes=usage),
        chat(2, None, None, within=1, took=2, attributes=usage),
        chat(3, [ASK], [DONE], within=2, took=1, attributes=usage),
    ]
    model = only(*spans).model
    assert [each.type for each in model.spans or ()] == ["other", "other", "llm"]
    assert [each.fields.get("same_as") for each in model.spans or ()] == [f"{3:016x}", f"{3:016x}", None]
    assert len(model.turns or ()) == 2
    assert model.metadata is not None
    assert (model.metadata["input_tokens"], model.metadata["output_tokens"]) == (10, 2)


def test_a_model_s_span_around_several_steps_is_an_agent_s() -> None:
    """What wraps two model calls is neither of them."""
    spans = [
        chat(1, [ASK], None, took=9),
        chat(2, [ASK], [CALL], within=1, at=1),
        chat(3, [ASK, CALL, TOLD], [DONE], within=1, at=4),
    ]
    model = only(*spans).model
    assert [each.type for each in model.spans or ()] == ["agent", "llm", "llm"]


@pytest.mark.parametrize("name", ["refund", "desk__refund", "desk.refund"])
def test_a_tool_s_span_inside_another_of_the_same_tool_is_one_attempt(name: str) -> None:
    """A framework's span around that of the MCP client: one call, with what either shows."""
    inner = tool(2, "refund", within=1, took=0.5, result="done", attributes={"mcp.method.name": "tools/call"})
    model = only(tool(1, name, arguments='{"order":7}'), inner).model
    (call,) = model.calls or ()
    assert (call.name, call.args, call.result, call.span_id) == (name, {"order": 7}, "done", f"{1:016x}")
    assert [each.type for each in model.spans or ()] == ["tool_call", "other"]


def test_a_tool_that_calls_another_makes_two_calls() -> None:
    """Another name, another call."""
    calls = only(tool(1, "refund"), tool(2, "find_order", within=1)).model.calls or ()
    assert [call.name for call in calls] == ["refund", "find_order"]


def test_the_same_tool_called_by_an_agent_inside_it_is_called_twice() -> None:
    """With a model between them, the inner one is a call of its own."""
    spans = [tool(1, "ask", took=5), chat(2, None, None, within=1, took=3), tool(3, "ask", within=2)]
    assert len(only(*spans).model.calls or ()) == 2


def test_two_executions_of_one_request_are_two_attempts() -> None:
    """They don't run inside each other, so the first failed and the second is a retry."""
    failed = tool(3, "refund", own="c1", at=3, status={"code": "ERROR"})
    spans = [chat(2, [ASK], [CALL], at=1), failed, tool(4, "refund", own="c1", at=5, result="done")]
    calls = only(*spans).model.calls or ()
    assert [(call.status, call.attempt, call.retry_of) for call in calls] == [
        ("error", 1, None),
        ("ok", 2, calls[0].id),
    ]


def test_an_execution_without_an_id_is_the_one_request_of_its_name_and_arguments() -> None:
    """Two parallel requests differ in their arguments, and so do the executions."""
    asked = message("assistant", asks("a", "find", {"order": 1}), asks("b", "find", {"order": 2}))
    spans = [
        chat(1, [ASK], [asked]),
        tool(2, "find", arguments='{"order": 2}', result="two", at=2),
        tool(3, "find", arguments='{"order": 1}', result="one", at=3),
    ]
    calls = only(*spans).model.calls or ()
    assert [(call.id, call.args, call.result) for call in calls] == [
        ("a", {"order": 1}, "one"),
        ("b", {"order": 2}, "two"),
    ]


def test_an_execution_that_could_be_of_two_requests_is_of_none() -> None:
    """Without id and arguments, which of two it is would be a guess."""
    asked = message("assistant", asks("a", "find", {"order": 1}), asks("b", "find", {"order": 2}))
    calls = only(chat(1, [ASK], [asked]), tool(2, "find", result="two", at=2)).model.calls or ()
    assert [(call.status, call.result) for call in calls] == [
        ("unanswered", UNSET),
        ("unanswered", UNSET),
        ("ok", "two"),
    ]


def test_an_execution_of_the_only_request_needs_no_arguments() -> None:
    """Content is not recorded on the tool's span, but in the messages."""
    calls = only(chat(1, [ASK], [CALL]), tool(2, "refund", at=2)).model.calls or ()
    assert [(call.args, call.status) for call in calls] == [({"order": 7}, "executed")]


def test_other_arguments_executed_than_requested_count_as_neither() -> None:
    """Which of them is true would be a guess."""
    spans = [chat(1, [ASK], [CALL]), tool(2, "refund", own="c1", arguments='{"order":8}', at=2)]
    model = only(*spans).model
    (call,) = model.calls or ()
    assert (call.args, call.args_state) == (UNSET, "conflicting")
    assert [note.code for note in model.notes] == ["arguments_conflict"]


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ('{"result":"555"}', "555"),
        ('{"content":[{"type":"text","text":"done"}],"isError":false}', "done"),
        ('{"refunded":true}', {"refunded": True}),
        ("12", 12),
    ],
)
def test_a_result_in_an_envelope_is_the_same_result(result: str, told: Any) -> None:
    """What the model is told is what the tool answered, without the words of a protocol around it."""
    spans = [
        chat(1, [ASK], [CALL]),
        tool(2, "refund", own="c1", result=result, at=2),
        chat(3, [ASK, CALL, message("tool", answers("c1", told))], [DONE], at=4),
    ]
    model = only(*spans).model
    assert [call.result_state for call in model.calls or ()] == ["recorded"]
    assert model.notes == ()


def test_two_results_of_one_call_that_differ_count_as_neither() -> None:
    """The span says one thing, the message another."""
    spans = refund()
    spans[2]["attributes"]["gen_ai.tool.call.result"] = '{"refunded":false}'
    model = only(*spans).model
    (call,) = model.calls or ()
    assert (call.result, call.result_state) == (UNSET, "conflicting")
    assert [note.code for note in model.notes] == ["result_conflict"]


def test_ids_that_differ_between_request_and_history_are_one_call() -> None:
    """The OpenAI Agents SDK repeats a call under the id of the item, while its answer keeps the call's."""
    again = message("assistant", asks("fc_9", "refund", {"order": 7}))
    spans = [chat(1, [ASK], [CALL]), chat(2, [ASK, again, TOLD], [DONE], at=2)]
    calls = only(*spans).model.calls or ()
    assert [(call.id, call.status) for call in calls] == [("c1", "executed")]


def test_an_id_used_again_is_another_call() -> None:
    """Some frameworks count ids anew in every step."""
    first, second = asks("call_0", "find", {"order": 1}), asks("call_0", "refund", {"order": 1})
    told = message("tool", answers("call_0", "found")), message("tool", answers("call_0", "refunded"))
    spans = [
        chat(1, [ASK], [message("assistant", first)]),
        chat(2, [ASK, message("assistant", first), told[0]], [message("assistant", second)], at=2),
        chat(
            3,
            [ASK, message("assistant", first), told[0], message("assistant", second), told[1]],
            [DONE],
            at=4,
        ),
    ]
    calls = only(*spans).model.calls or ()
    assert [(call.name, call.result) for call in calls] == [("find", "found"), ("refund", "refunded")]


def test_what_an_agent_tells_another_inside_a_tool_is_not_said_to_the_user() -> None:
    """The calls of the inner agent count; its texts are counted in a note."""
    inner = message("assistant", asks("c2", "lookup", {"q": "7"}))
    spans = [
        chat(1, [ASK], [CALL]),
        tool(2, "refund", own="c1", at=2, took=5),
        chat(3, [message("user", "Find 7")], [inner], within=2, at=3),
        tool(4, "lookup", own="c2", within=2, at=5, result="found"),
    ]
    evidence = only(*spans)
    assert [turn.text for turn in evidence.model.turns or ()] == ["Refund order 7, please.", "One moment."]
    assert [call.name for call in evidence.model.calls or ()] == ["refund", "lookup"]


def test_an_agent_that_runs_while_a_tool_does_is_inside_it() -> None:
    """Some instrumentations put the agent that a tool runs beside it."""
    agent = {"gen_ai.operation.name": "invoke_agent"}
    spans = [
        span(1, "workflow", took=20),
        chat(2, [ASK], [CALL], within=1),
        tool(3, "refund", own="c1", within=1, at=2, took=6),
        span(4, "invoke_agent clerk", within=1, at=3, took=4, attributes=agent),
        chat(5, [message("user", "Find 7")], [message("assistant", "Found.")], within=4, at=4),
    ]
    assert [turn.text for turn in only(*spans).model.turns or ()] == [
        "Refund order 7, please.",
        "One moment.",
    ]


def test_a_status_is_the_tool_s_own() -> None:
    """UNSET says nothing, but a result was given; an error on a span of the framework is no error of the tool."""
    broken = span(5, "queue", within=1, at=4, status={"code": "ERROR"}, events=[{"name": "exception"}])
    spans = [*refund(), broken]
    assert [call.status for call in only(*spans).model.calls or ()] == ["ok"]


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"status": {"code": "ERROR", "message": "no such order"}}, {"message": "no such order"}),
        ({"attributes": {"error.type": "timeout"}}, {"type": "timeout"}),
        (
            {"events": [{"name": "exception", "attributes": {"exception.type": "KeyError"}}]},
            {"type": "KeyError"},
        ),
    ],
)
def test_a_failed_execution_says_so_on_its_span(more: dict[str, Any], error: Any) -> None:
    """By status, by `error.type` or by an exception."""
    (call,) = only(tool(1, "refund", **more)).model.calls or ()
    assert (call.status, call.error) == ("error", error)


def test_an_exception_in_a_span_that_is_ok_was_dealt_with() -> None:
    """An explicit OK is the last word."""
    caught = [{"name": "exception", "attributes": {"exception.type": "KeyError"}}]
    (call,) = only(tool(1, "refund", status={"code": "OK"}, events=caught)).model.calls or ()
    assert call.status == "ok"


def test_an_error_inside_a_result_is_an_error() -> None:
    """MCP tells of it in the result, however the span ended."""
    result = '{"isError": true, "content": [{"type": "text", "text": "no"}]}'
    (call,) = only(tool(1, "refund", status={"code": "OK"}, result=result)).model.calls or ()
    assert call.status == "error"


def test_an_execution_that_says_nothing_is_only_executed() -> None:
    """Neither status nor result."""
    (call,) = only(tool(1, "refund")).model.calls or ()
    assert (call.status, call.args_state, call.result_state) == ("executed", "absent", "absent")


def test_a_span_without_duration_measures_nothing() -> None:
    """Start and end alike: when is known, how long is not."""
    model = only(tool(1, "refund", took=0)).model
    (call,) = model.calls or ()
    assert (call.start_ns, call.end_ns) == (START, None)
    assert [note.code for note in model.notes] == ["no_duration"]


def test_a_span_that_ends_before_it_starts_is_noted() -> None:
    """Clocks of two hosts; the call keeps no end."""
    model = only(tool(1, "refund", took=-1)).model
    (call,) = model.calls or ()
    assert (call.start_ns, call.end_ns) == (START, None)
    assert [note.code for note in model.notes] == ["ends_before_start"]


def test_a_failure_that_the_model_is_told_of_is_one() -> None:
    """The framework's span ended well, since the exception was dealt with; the message has it."""
    told = {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}
    spans = [
        chat(1, [ASK], [CALL]),
        tool(2, "refund", own="c1", at=2, status={"code": "OK"}),
        chat(3, [ASK, CALL, message("user", told)], [DONE], at=4),
    ]
    (call,) = only(*spans).model.calls or ()
    assert (call.status, call.result) == ("error", "no")


def test_a_conversation_inside_a_tool_is_none_with_the_user() -> None:
    """All that is recorded is what a tool's model was told."""
    model = only(tool(1, "ask", took=5), chat(2, [ASK], [DONE], within=1, at=1)).model
    assert (model.turns, model.coverage.transcript.state) == (None, "absent")


def test_spans_around_nothing_say_nothing() -> None:
    """A trace without an agent: one conversation, all channels absent but HTTP."""
    model = only(
        span(1, "GET", attributes={"http.request.method": "GET", "url.full": "https://x.test/a"})
    ).model
    assert (model.turns, model.calls) == (None, None)
    assert model.coverage.transcript.state == model.coverage.executions.state == "absent"
    assert model.coverage.http.state == "present"


def test_http_spans_of_both_generations_are_exchanges(judge: Judge) -> None:
    """Attributes before and since 2023; a server's span under its client's is the same exchange."""
    new = {
        "http.request.method": "POST",
        "url.full": "https://x.test/refunds",
        "http.response.status_code": 201,
    }
    old = {"http.method": "GET", "http.url": "https://x.test/orders/7", "http.status_code": "200"}
    served = {"http.method": "POST", "http.target": "/refunds", "http.status_code": 201}
    evidence = only(
        *refund(),
        span(5, "POST", within=3, at=3.1, kind="SpanKind.CLIENT", attributes=new),
        span(6, "POST /refunds", within=5, at=3.2, kind="SpanKind.SERVER", attributes=served),
        span(7, "GET", within=3, at=3.3, attributes=old),
    )
    exchanges = [each for each in evidence.model.spans or () if each.type == "http_exchange"]
    assert [each.fields["status_code"] for each in exchanges] == [201, 200]
    wanted = {"kind": "http_result", "method": "POST", "url_matches": "refunds$", "status": 201}
    assert judge(wanted, evidence)["status"] == "PASS"


def test_handoffs_are_spans_of_their_own(judge: Judge) -> None:
    """From one agent to another."""
    names = {"gen_ai.operation.name": "agent_handoff", "gen_ai.handoff.to_agent": "billing"}
    evidence = only(*refund(), span(5, "agent_handoff", at=7, attributes=names))
    assert judge({"kind": "handoff", "to": "billing"}, evidence)["status"] == "PASS"
    assert judge({"kind": "handoff", "to": "billing"}, only(*refund()))["status"] == "INCONCLUSIVE"


def test_what_was_said_and_what_was_called_have_one_order(judge: Judge) -> None:
    """By time: the refund was made before it was confirmed."""
    steps = [
        {"tool": "refund"},
        {"phrase": "It is refunded", "role": "agent"},
    ]
    assert judge({"kind": "sequence", "steps": steps}, only(*refund()))["status"] == "PASS"
    assert judge({"kind": "sequence", "steps": steps[::-1]}, only(*refund()))["status"] == "FAIL"


def test_a_span_exported_twice_counts_once() -> None:
    """Alike, it is dropped; else the later one that has ended counts, and a warning says so."""
    again = only(*refund(), refund()[2]).model
    assert [(note.code, note.severity) for note in again.notes] == [("duplicate_span", "info")]
    assert len(again.calls or ()) == 1
    changed = refund()[2]
    changed["status"] = {"code": "ERROR"}
    differs = only(*refund(), changed).model
    assert [note.code for note in differs.notes] == ["duplicate_span_differs"]
    assert [call.status for call in differs.calls or ()] == ["error"]


def test_clocks_of_two_hosts_that_differ_are_noted() -> None:
    """A child that starts before its parent, on another host."""
    hosts = [{"attributes": {"host.name": name}} for name in ("a", "b")]
    spans = [
        span(1, "agent", at=1, took=5, resource=hosts[0]),
        tool(2, "refund", within=1, resource=hosts[1]),
    ]
    assert [note.code for note in only(*spans).model.notes] == ["clocks_differ"]


def test_spans_that_are_inside_each_other_are_read_all_the_same() -> None:
    """A loop of parents, as only a broken export has it."""
    model = only(span(1, "a", within=2), span(2, "b", within=1), tool(3, "refund", within=3)).model
    assert len(model.spans or ()) == 3
    assert "parent_loop" in {note.code for note in model.notes}


def test_without_times_spans_keep_the_order_of_the_file() -> None:
    """And nothing has a time."""
    spans = [{key: value for key, value in each.items() if "time" not in key} for each in refund()]
    evidence = only(*spans)
    assert flat(evidence) == REFUND
    assert all(turn.start_ns is None for turn in evidence.model.turns or ())


def test_a_deep_chain_of_spans_takes_linear_time() -> None:
    """Each inside the one before it, and each with messages."""
    spans = [chat(1, [ASK], [DONE])]
    spans += [chat(number, [ASK], None, within=number - 1, at=number) for number in range(2, 3000)]
    assert len(only(*spans).model.spans or ()) == 2999


def test_whatever_stands_in_a_span_is_read_or_refused() -> None:
    """Every value replaced by values of other types, in flat spans and in OTLP."""
    for changed in mutants(refund()[1:3]):
        survives(changed)
    for changed in mutants(otlp(*refund()[1:3])):
        survives(changed)
