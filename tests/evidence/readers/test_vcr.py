from __future__ import annotations

import json
from typing import Any

import pytest
from mutants import mutants, survives

import averment
from averment.evidence import Evidence
from averment.evidence.model import EvidenceModel
from samples import all_counts, real, sample

RESPONSES = "pydantic-ai__cassettes__test_openai_responses__"


def read(value: Any) -> EvidenceModel:
    """The one conversation of a value, as JSON, which vcrpy writes as well."""
    return Evidence.from_bytes(json.dumps(value).encode()).model


def interaction(
    body: Any, response: Any, uri: str = "https://api.openai.com/v1/chat/completions"
) -> dict[str, Any]:
    """An interaction whose bodies are texts."""
    return {
        "request": {"method": "POST", "uri": uri, "body": json.dumps(body), "headers": {}},
        "response": {"status": {"code": 200}, "body": {"string": json.dumps(response)}, "headers": {}},
    }


@pytest.fixture(scope="module")
def order() -> EvidenceModel:
    """The sample: a question, a tool, and an answer that is packed."""
    return Evidence.load(sample("vcr/order.yaml")).model


def test_a_cassette_is_one_conversation(order: EvidenceModel) -> None:
    """Bodies are texts or bytes, also packed; later requests repeat the history."""
    assert [(turn.role_raw, turn.said, turn.text) for turn in order.turns or ()] == [
        ("system", False, "Help with orders."),
        ("user", True, "Where is A-17?"),
        ("assistant", True, "It is in Turin."),
    ]
    assert [(call.id, call.name, call.args, call.result) for call in order.calls or ()] == [
        ("toolu_1", "find_order", {"order": "A-17"}, "Turin")
    ]


def test_each_interaction_is_an_http_exchange(order: EvidenceModel) -> None:
    """Without times: a cassette has none, and the gap says what to record."""
    assert [(span.fields["status_code"], span.start_ns) for span in order.spans or ()] == [(200, None)] * 2
    assert order.coverage.timing.state == "absent"
    assert (order.sources[0].records, order.sources[0].records_read) == (2, 2)
    document = averment.Document.of(
        {"version": 1, "assertions": [{"id": "a", "kind": "outcome", "any_of": [{"field_present": "x"}]}]}
    )
    result = averment.run(document, Evidence.load(sample("vcr/order.yaml"))).to_dict()["results"][0]
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "timing")
    assert "a cassette has no times" in result["reason"]


def test_headers_never_become_evidence() -> None:
    """They hold keys."""
    assert b"sesame" not in Evidence.load(sample("vcr/order.yaml")).to_json()


def test_a_run_that_traced_no_content_has_it_in_its_cassette() -> None:
    """Reserve: content capture was off for the spans; the HTTP side holds arguments and texts all the same."""
    asked = {"role": "user", "content": "Where is A-17?"}
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "find_order", "arguments": '{"order": "A-17"}'},
    }
    reply = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = {"object": "chat.completion", "choices": [{"message": reply, "finish_reason": "tool_calls"}]}
    tools = [{"type": "function", "function": {"name": "find_order"}}]
    found = read({"interactions": [interaction({"messages": [asked], "tools": tools}, body)], "version": 1})
    assert [each.args for each in found.calls or ()] == [{"order": "A-17"}]
    assert found.coverage.arguments.state == "absent"  # nothing is missing
    assert found.coverage.executions.state == "absent"  # the cassette ends before the tool answered


def test_a_call_without_an_id_gets_the_one_of_the_history() -> None:
    """Some servers give none, and the client makes one up for the next request."""
    function = {"name": "now", "arguments": '{"zone": "UTC"}'}
    asked, told = {"role": "user", "content": "When?"}, {"role": "assistant", "content": "Noon."}
    bare = {"role": "assistant", "tool_calls": [{"type": "function", "function": function}]}
    named = {"role": "assistant", "tool_calls": [{"id": "made-up", "type": "function", "function": function}]}
    result = {"role": "tool", "tool_call_id": "made-up", "content": "noon"}
    found = read(
        {
            "interactions": [
                interaction({"messages": [asked]}, {"object": "c", "choices": [{"message": bare}]}),
                interaction(
                    {"messages": [asked, named, result]}, {"object": "c", "choices": [{"message": told}]}
                ),
            ]
        }
    )
    assert [(call.id, call.result) for call in found.calls or ()] == [("made-up", "noon")]


def test_ruby_writes_http_interactions() -> None:
    """With another key for the list and for bytes."""
    text = b"""\
---
http_interactions:
- request:
    method: get
    uri: https://shop.example/orders/A-17?token=sesame
    body: {encoding: US-ASCII, string: ''}
  response:
    status: {code: 404, message: Not Found}
    body: {encoding: ASCII-8BIT, base64_string: eyJlcnJvciI6ICJub25lIn0=}
  recorded_at: Mon, 05 Jan 2026 10:00:00 GMT
recorded_with: VCR 6.0.0
"""
    (span,) = Evidence.from_bytes(text).model.spans or ()
    assert (span.fields["method"], span.fields["status_code"]) == ("GET", 404)
    assert span.fields["response"] == {"error": "none"}
    assert "sesame" not in span.fields["url"]


def test_odd_values_are_noted_or_refused() -> None:
    """No value at any place stops the reader."""
    message = {"role": "assistant", "content": "a"}
    whole = {"interactions": [interaction({"messages": [message]}, {"choices": [{"message": message}]})]}
    parsed = {
        "request": {"method": "POST", "uri": "u", "parsed_body": {"a": 1}},
        "response": {"parsed_body": [1]},
    }
    for wrong in mutants({**whole, "interactions": [*whole["interactions"], parsed]}):
        survives(wrong)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "chat-cassette/pydantic-ai__cassettes__test_openai__test_openai_tool_output",
            # [0].request one message; [0].response get_user_country; [1].request adds its answer; [1].response calls
            # final_result, which nothing answers. One note: `annotations` of the replies.
            {"turns": 1, "calls": 2, "results": 1, "errors": 0, "notes": 1},
        ),
        (
            "chat-cassette/pydantic-ai__cassettes__test_openai__test_image_url_tool_response",
            # [0].request one text; get_image, answered in [1].request, which adds a text of the user beside an image;
            # one reply. Notes: `annotations`, the image.
            {"turns": 3, "calls": 1, "results": 1, "errors": 0, "notes": 2},
        ),
        (
            f"responses-cassette/{RESPONSES}test_openai_conversation_id_tool_call_continuation",
            # [1] instructions, a text, a function_call; [2] its output and a reply. [0] and [3] make and delete.
            {"turns": 3, "calls": 1, "results": 1, "errors": 0, "notes": 0},
        ),
        (
            f"responses-cassette/{RESPONSES}test_background_mode_streaming_starting_after_vcr",
            # [0] one text and one streamed reply; [1] the same reply again, by its id.
            {"turns": 2, "calls": 0, "results": 0, "errors": 0, "notes": 0},
        ),
    ],
)
def test_real_cassettes_hold_what_a_person_counts(name: str, expected: dict[str, int]) -> None:
    """Counted by hand in the files."""
    assert all_counts(real(f"openai-{name}.yaml")) == [expected]
