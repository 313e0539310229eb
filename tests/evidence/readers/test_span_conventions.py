"""What the attributes of spans mean, by each of the conventions that instrumentations follow."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET
from otel import asks, chat, flat, message, only, span, tool

BOOK = {"guest": "Ana", "seats": 2}
SAID = [("user", "A table, please."), ("agent", "Booked."), ("user", "And parking?"), ("agent", "Sure.")]


def model_call(attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A span with these attributes."""
    return span(1, more.pop("name", "model call"), attributes=attributes, **more)


def text(said: str) -> dict[str, Any]:
    """An OpenAI or Anthropic text part."""
    return {"type": "text", "text": said}


def test_structured_messages_are_read_like_their_json() -> None:
    """Attributes that hold lists, as events and newer SDKs can have them; system instructions are not said."""
    evidence = only(
        model_call(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.system_instructions": [{"type": "text", "content": "Be kind."}],
                "gen_ai.input.messages": [message("user", "A table, please.")],
                "gen_ai.output.messages": [message("assistant", "Booked.")],
            }
        )
    )
    assert flat(evidence) == [("system", "Be kind."), ("user", "A table, please."), ("agent", "Booked.")]
    assert [turn.said for turn in evidence.model.turns or ()] == [False, True, True]


def test_messages_stand_on_the_event_of_the_details() -> None:
    """So the standard has it for content that is not to be on spans."""
    details = {
        "event_name": "gen_ai.client.inference.operation.details",
        "attributes": {
            "gen_ai.input.messages": json.dumps([message("user", "A table, please.")]),
            "gen_ai.output.messages": json.dumps([message("assistant", "Booked.")]),
        },
    }
    evidence = only(model_call({"gen_ai.operation.name": "chat"}, span_events=[details]))
    assert flat(evidence) == SAID[:2]


def test_parts_that_are_no_text_are_named() -> None:
    """An image, a thought and a blob are counted; texts of one message are joined by line breaks."""
    parts = [{"type": "reasoning", "content": "hm"}, {"type": "blob", "modality": "image"}]
    evidence = only(chat(1, [message("user", "One", "two", *parts)], [message("assistant", "Fine.")]))
    assert flat(evidence)[0] == ("user", "One\ntwo")
    assert sorted(note.detail for note in evidence.model.notes) == [
        "a part of a message that is no text is not read",
        "a reasoning part is not read",
    ]


def test_each_message_is_an_event() -> None:
    """Conventions 1.28 to 1.36, on the span's events."""
    call = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": json.dumps(BOOK)}}
    events = [
        {"name": "gen_ai.system.message", "attributes": {"content": "Be kind."}},
        {"name": "gen_ai.user.message", "attributes": {"content": "A table, please."}},
        {"name": "gen_ai.assistant.message", "attributes": {"tool_calls": json.dumps([call])}},
        {"name": "gen_ai.tool.message", "attributes": {"id": "c1", "content": "T4"}},
        {"name": "gen_ai.choice", "attributes": {"message": json.dumps({"content": "Booked."}), "index": 0}},
    ]
    evidence = only(model_call({"gen_ai.system": "openai"}, events=events))
    assert flat(evidence) == [
        ("system", "Be kind."),
        ("user", "A table, please."),
        ("book", BOOK, "executed"),
        ("agent", "Booked."),
    ]


def test_events_without_content_show_that_content_is_not_recorded() -> None:
    """They are written either way."""
    events = [{"name": "gen_ai.user.message", "attributes": {"gen_ai.system": "openai"}}]
    model = only(model_call({"gen_ai.operation.name": "chat"}, events=events)).model
    assert (model.turns, model.coverage.transcript.state) == (None, "redacted")


def test_strands_tells_a_tool_its_arguments_in_a_message() -> None:
    """Both events stand on the tool's span; a model's choice holds blocks as JSON text."""
    events = [
        {
            "name": "gen_ai.tool.message",
            "attributes": {"role": "tool", "content": json.dumps(BOOK), "id": "c1"},
        },
        {"name": "gen_ai.choice", "attributes": {"message": '[{"text": "T4"}]', "id": "c1"}},
    ]
    asked = json.dumps(
        [{"text": "One moment."}, {"toolUse": {"toolUseId": "c1", "name": "book", "input": BOOK}}]
    )
    said = [
        {"name": "gen_ai.user.message", "attributes": {"content": '[{"text": "A table, please."}]'}},
        {"name": "gen_ai.choice", "attributes": {"message": asked, "finish_reason": "tool_use"}},
    ]
    spans = [
        model_call({"gen_ai.operation.name": "chat"}, events=said),
        tool(2, "book", at=2, events=events),
    ]
    evidence = only(*spans)
    assert flat(evidence) == [SAID[0], ("agent", "One moment."), ("book", BOOK, "ok")]
    assert [call.result for call in evidence.model.calls or ()] == ["T4"]


def test_traceloop_numbers_prompts_and_completions() -> None:
    """Attributes `gen_ai.prompt.N.…`; definitions of functions are no calls."""
    attributes = {
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "A table, please.",
        "gen_ai.prompt.1.role": "assistant",
        "gen_ai.prompt.1.tool_calls.0.id": "c1",
        "gen_ai.prompt.1.tool_calls.0.name": "book",
        "gen_ai.prompt.1.tool_calls.0.arguments": json.dumps(BOOK),
        "gen_ai.prompt.2.role": "tool",
        "gen_ai.prompt.2.tool_call_id": "c1",
        "gen_ai.prompt.2.content": "T4",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "Booked.",
        "llm.request.functions.0.name": "cancel",
    }
    assert flat(only(model_call(attributes))) == [SAID[0], ("book", BOOK, "executed"), SAID[1]]


def test_traceloop_s_content_can_be_parts_as_text() -> None:
    """Several parts are written as JSON."""
    attributes = {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": json.dumps([text("A table,"), text("please.")]),
    }
    assert flat(only(model_call(attributes))) == [("user", "A table,\nplease.")]


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"inputs": BOOK, "tags": [], "input_str": "{}"}, BOOK),
        ({"args": [], "kwargs": BOOK}, BOOK),
        ({"args": ["Ana"], "kwargs": {}}, {"args": ["Ana"], "kwargs": {}}),
    ],
)
def test_traceloop_s_tools_have_entities(given: Any, arguments: Any) -> None:
    """Input and output are wrapped by the framework."""
    attributes = {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "book",
        "traceloop.entity.input": json.dumps(given),
        "traceloop.entity.output": json.dumps({"output": "T4", "kwargs": {}}),
    }
    evidence = only(model_call(attributes, name="book.tool"))
    assert flat(evidence) == [("book", arguments, "ok")]
    assert [call.result for call in evidence.model.calls or ()] == ["T4"]


def test_openinference_numbers_messages_and_parts() -> None:
    """`llm.input_messages.N.message.…`, with content as text or as parts."""
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.contents.0.message_content.type": "text",
        "llm.input_messages.0.message.contents.0.message_content.text": "A table, please.",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "One moment.",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "book",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": json.dumps(BOOK),
    }
    executed = {
        "openinference.span.kind": "TOOL",
        "tool.name": "book",
        "tool_call.id": "c1",
        "tool.parameters": json.dumps(BOOK),
        "input.value": "{'guest': 'Ana', 'seats': 2}",
        "output.value": '{"type": "tool", "content": "T4", "tool_call_id": "c1"}',
    }
    evidence = only(model_call(attributes), span(2, "book", at=2, attributes=executed))
    assert flat(evidence) == [SAID[0], ("agent", "One moment."), ("book", BOOK, "ok")]
    assert [call.result for call in evidence.model.calls or ()] == ["T4"]


def test_openinference_lists_without_numbers_are_read_too() -> None:
    """Some exports nest what the attributes' names mean."""
    attributes = {
        "openinference": {"span": {"kind": "LLM"}},
        "llm": {"input_messages": [{"message": {"role": "user", "content": "A table, please."}}]},
    }
    assert flat(only(model_call(attributes))) == SAID[:1]


def test_an_agent_s_plain_input_and_output_are_what_was_said() -> None:
    """Where no model call shows any."""
    attributes = {
        "openinference.span.kind": "AGENT",
        "input.value": "A table, please.",
        "input.mime_type": "text/plain",
        "output.value": "Booked.",
    }
    assert flat(only(model_call(attributes))) == SAID[:2]


def test_hidden_payloads_are_redacted() -> None:
    """OpenInference writes a word in their place, Logfire a sentence."""
    attributes = {
        "openinference.span.kind": "TOOL",
        "input.value": "__REDACTED__",
        "output.value": "__REDACTED__",
    }
    (call,) = only(model_call(attributes, name="book")).model.calls or ()
    assert (call.args_state, call.result_state) == ("redacted", "redacted")
    scrubbed = tool(1, "book", arguments="[Scrubbed due to 'password']")
    (call,) = only(scrubbed).model.calls or ()
    assert (call.args, call.args_state) == (UNSET, "redacted")


def test_arguments_in_python_s_words_are_no_json() -> None:
    """They are kept as text, and not guessed at."""
    attributes = {"openinference.span.kind": "TOOL", "input.value": "{'guest': 'Ana'}"}
    (call,) = only(model_call(attributes, name="book")).model.calls or ()
    assert (call.args, call.args_raw, call.args_error) == (UNSET, "{'guest': 'Ana'}", "json_syntax")


def test_adk_has_requests_and_responses_as_json() -> None:
    """Gemini contents; a tool's answer stands in a user's message; the span of merged tools is none."""
    request = {
        "config": {"system_instruction": "Be kind."},
        "contents": [
            {"role": "user", "parts": [{"text": "A table, please."}]},
            {"role": "model", "parts": [{"function_call": {"id": "c1", "name": "book", "args": BOOK}}]},
            {
                "role": "user",
                "parts": [{"function_response": {"id": "c1", "name": "book", "response": {"t": 4}}}],
            },
        ],
    }
    response = {"content": {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "Booked."}]}}
    attributes = {
        "gcp.vertex.agent.llm_request": json.dumps(request),
        "gcp.vertex.agent.llm_response": json.dumps(response),
    }
    merged = span(3, "execute_tool (merged tools)", attributes={"gen_ai.tool.name": "(merged tools)"})
    executed = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "book",
        "gen_ai.tool.call.id": "c1",
        "gcp.vertex.agent.tool_call_args": json.dumps(BOOK),
        "gcp.vertex.agent.tool_response": '{"t": 4}',
        "gcp.vertex.agent.llm_request": "{}",
    }
    evidence = only(
        model_call(attributes, name="call_llm"), span(2, "execute_tool book", attributes=executed), merged
    )
    assert flat(evidence) == [("system", "Be kind."), SAID[0], ("book", BOOK, "ok"), SAID[1]]


def test_adk_s_empty_objects_are_no_arguments_where_content_is_off() -> None:
    """It writes them in place of arguments and results; a tool really called without any is told by the messages."""
    attributes = {"gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.llm_response": "{}"}
    executed = {"gcp.vertex.agent.tool_call_args": "{}", "gcp.vertex.agent.tool_response": "{}"}
    model = only(
        model_call(attributes, name="call_llm"), span(2, "execute_tool book", at=2, attributes=executed)
    ).model
    (call,) = model.calls or ()
    assert (call.name, call.args_state, call.result_state) == ("book", "redacted", "redacted")
    assert (
        model.coverage.transcript.how
        == "Set ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true in the agent's process."
    )


def test_langfuse_s_observations_are_spans_too() -> None:
    """As its SDK sends them."""
    spans = [
        model_call(
            {
                "langfuse.observation.type": "generation",
                "langfuse.observation.input": json.dumps([{"role": "user", "content": "A table, please."}]),
                "langfuse.observation.output": json.dumps({"role": "assistant", "content": "Booked."}),
            }
        ),
        span(
            2,
            "book",
            at=2,
            attributes={
                "langfuse.observation.type": "tool",
                "langfuse.observation.input": json.dumps(BOOK),
                "langfuse.observation.output": "T4",
            },
        ),
    ]
    assert flat(only(*spans)) == [*SAID[:2], ("book", BOOK, "ok")]


def test_answers_without_ids_that_are_too_few_answer_nothing() -> None:
    """Two calls of a tool, one answer: whose it is would be a guess."""
    asked = message("assistant", asks(None, "find", {"t": 1}), asks(None, "find", {"t": 2}))
    told = message("tool", {"type": "tool_call_response", "response": "free"})
    model = only(chat(1, [message("user", "Hi."), asked, told], [message("assistant", "Yes.")])).model
    assert [call.status for call in model.calls or ()] == ["requested", "requested"]
    assert "ambiguous_result" in {note.code for note in model.notes}


def test_gemini_s_calls_without_ids_are_paired_by_name() -> None:
    """In order, and every model call repeats them."""
    asked = {"role": "model", "parts": [{"function_call": {"name": "book", "args": BOOK}}]}
    told = {"role": "user", "parts": [{"function_response": {"name": "book", "response": {"t": 4}}}]}
    user = {"role": "user", "parts": [{"text": "A table, please."}]}

    def call(number: int, contents: list[Any], content: Any) -> dict[str, Any]:
        attributes = {
            "gcp.vertex.agent.llm_request": json.dumps({"contents": contents}),
            "gcp.vertex.agent.llm_response": json.dumps({"content": content}),
        }
        return span(number, "call_llm", at=number, attributes=attributes)

    done = {"role": "model", "parts": [{"text": "Booked."}]}
    evidence = only(
        call(1, [user], asked),
        call(3, [user, asked, told], done),
        call(5, [user, asked, told, done, user], done),
    )
    assert [call.result for call in evidence.model.calls or ()] == [{"t": 4}]


def test_the_ai_sdk_wraps_each_model_call() -> None:
    """`ai.generateText` around `doGenerate` is one model call; tools have spans of their own."""
    prompt = [{"role": "user", "content": [text("A table, please.")]}]
    asked = [{"toolCallId": "c1", "toolName": "book", "input": BOOK}]
    spans = [
        span(
            1,
            "ai.generateText",
            took=9,
            attributes={
                "ai.operationId": "ai.generateText",
                "ai.prompt": json.dumps({"prompt": "A table, please."}),
                "ai.response.text": "",
            },
        ),
        span(
            2,
            "ai.generateText.doGenerate",
            within=1,
            attributes={
                "ai.operationId": "ai.generateText.doGenerate",
                "ai.prompt.messages": json.dumps(prompt),
                "ai.response.toolCalls": json.dumps(asked),
            },
        ),
        span(
            3,
            "ai.toolCall",
            within=1,
            at=2,
            attributes={
                "ai.operationId": "ai.toolCall",
                "ai.toolCall.name": "book",
                "ai.toolCall.id": "c1",
                "ai.toolCall.args": json.dumps(BOOK),
                "ai.toolCall.result": '{"t": 4}',
            },
        ),
    ]
    evidence = only(*spans)
    assert flat(evidence) == [SAID[0], ("book", BOOK, "ok")]
    assert [each.type for each in evidence.model.spans or ()] == ["other", "llm", "tool_call"]


def test_the_ai_sdk_s_results_say_what_they_are() -> None:
    """A part with a typed output; an error's type begins with that word."""
    prompt = [
        {"role": "user", "content": "A table, please."},
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "book", "input": BOOK}],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "toolName": "book",
                    "output": {"type": "error-text", "value": "full"},
                }
            ],
        },
    ]
    attributes = {
        "ai.operationId": "ai.streamText.doStream",
        "ai.prompt.messages": json.dumps(prompt),
        "ai.response.text": "Sorry.",
    }
    (call,) = only(model_call(attributes)).model.calls or ()
    assert (call.name, call.args, call.result, call.status) == ("book", BOOK, "full", "error")


def test_pydantic_ai_s_spans_have_changed_their_names() -> None:
    """`running tool` with `tool_arguments`; the whole run's messages stand on the agent's span."""
    events = [
        {"event.name": "gen_ai.user.message", "role": "user", "content": "A table, please."},
        {"event.name": "gen_ai.choice", "message": {"role": "assistant", "content": "Booked."}},
    ]
    spans = [
        span(1, "agent run", took=9, attributes={"all_messages_events": json.dumps(events)}),
        span(
            2,
            "running tool",
            within=1,
            at=2,
            attributes={
                "gen_ai.tool.name": "book",
                "gen_ai.tool.call.id": "c1",
                "tool_arguments": json.dumps(BOOK),
                "tool_response": "T4",
            },
        ),
        span(3, "running tool: book", within=1, attributes={"logfire.span_type": "pending_span"}),
    ]
    evidence = only(*spans)
    assert [thing for thing in flat(evidence) if thing[0] in ("user", "agent")] == SAID[:2]
    assert [(call.name, call.args, call.result) for call in evidence.model.calls or ()] == [
        ("book", BOOK, "T4")
    ]
    assert [note.code for note in evidence.model.notes] == ["pending_span"]


def test_mcp_s_calls_are_executions_and_its_other_methods_are_not() -> None:
    """The request's number is no id of the call."""
    attributes = {"mcp.method.name": "tools/call", "jsonrpc.request.id": "1"}
    listed = span(2, "tools/list", attributes={"mcp.method.name": "tools/list"})
    (call,) = only(model_call(attributes, name="tools/call book"), listed).model.calls or ()
    assert (call.id, call.name) == ("c_0", "book")


def test_handoffs_by_openinference_are_no_tools() -> None:
    """The instrumentation of the OpenAI Agents SDK calls them tools, with agents as input and output."""
    attributes = {"openinference.span.kind": "TOOL", "input.value": "desk", "output.value": "billing"}
    (made,) = only(model_call(attributes, name="handoff to billing")).model.spans or ()
    assert (made.type, made.fields["to"], made.fields["from"]) == ("handoff", "billing", "desk")


def test_calls_written_as_python_objects_are_not_said() -> None:
    """An instrumentation wrote the object's `repr` as text: that is no utterance, and a request is missing."""
    wrong = message("assistant", "ResponseFunctionToolCall(arguments='{}', name='book')")
    model = only(chat(1, [message("user", "A table, please.")], [wrong]), tool(2, "book", at=2)).model
    assert [turn.role for turn in model.turns or ()] == ["user"]
    assert model.coverage.requests.state == "partial"


def test_adot_moves_messages_to_bodies_of_events() -> None:
    """What the output is tells what the span is."""

    def body(given: Any, gave: Any) -> list[dict[str, Any]]:
        content = gave if isinstance(gave, str) else json.dumps(gave)
        inner = {
            "input": {"messages": [{"role": "user", "content": given}]},
            "output": {"messages": [{"role": "assistant", "content": content}]},
        }
        return [{"event_name": "openinference.instrumentation.langchain", "body": inner}]

    asked = {"text": "One moment.", "message": {"tool_calls": [{"id": "c1", "name": "book", "args": BOOK}]}}
    answered = {"type": "tool", "name": "book", "tool_call_id": "c1", "content": "T4", "status": "success"}
    spans = [
        model_call({}, span_events=body("A table, please.", {"generations": [[asked]]})),
        span(2, "langchain", at=2, span_events=body("{'guest': 'Ana'}", answered)),
        span(
            3,
            "langchain",
            at=4,
            span_events=body("A table, please.", {"generations": [[{"text": "Booked."}]]}),
        ),
    ]
    evidence = only(*spans)
    assert flat(evidence) == [SAID[0], ("agent", "One moment."), ("book", BOOK, "ok"), SAID[1]]


def test_what_a_history_repeats_is_told_with_each_call() -> None:
    """A message is read once; what isn't read of it counts with each model call that was given it."""
    asked = message("user", "A table, please.", {"type": "reasoning", "content": "hm"})
    booked, sure = message("assistant", "Booked."), message("assistant", "Sure.")
    evidence = only(
        chat(1, [asked], [booked]),
        chat(2, [asked, booked, message("user", "And parking?")], [sure], at=2),
    )
    assert flat(evidence) == SAID
    assert [note.detail for note in evidence.model.notes] == ["a reasoning part is not read (2 times)"]
    assert [turn.loc for turn in evidence.model.turns or ()] == ["src_0#$[0]"] * 2 + ["src_0#$[1]"] * 2


def test_messages_that_differ_in_a_type_are_not_the_same() -> None:
    """One and true are equal in Python, and no repetition of each other; nor are a number and its text."""
    seats = (1, True, 1.5, "1.5")
    spans = [
        chat(n, [], [message("assistant", asks(None, "book", {"n": seat}))]) for n, seat in enumerate(seats)
    ]
    calls = only(*spans).model.calls or ()
    assert [repr(call.args["n"]) for call in calls] == ["1", "True", "1.5", "'1.5'"]


def test_attributes_stay_as_they_were_written() -> None:
    """Messages in which parts stand as JSON text are read from a copy."""
    content = json.dumps([text("A table, please.")])
    attributes = {
        "gen_ai.prompt": [{"role": "user", "content": content}],
        "gen_ai.completion.0.content": "Booked.",
    }
    evidence = only(model_call(attributes))
    assert flat(evidence) == SAID[:2]
    (written,) = evidence.model.spans or ()
    assert written.attrs == attributes
