from __future__ import annotations

import json
from typing import Any

import pytest
from mutants import mutants, survives

import averment
from averment.evidence import Evidence
from averment.evidence.model import EvidenceModel
from samples import all_counts, real, sample

REFUNDS: dict[str, Any] = json.loads(sample("langfuse/refunds.json").read_bytes())


def read(value: Any) -> EvidenceModel:
    """The one conversation of a value."""
    (found,) = Evidence.all_from_bytes(json.dumps(value).encode())
    return found.model


def observation(own: str, kind: str, **fields: Any) -> dict[str, Any]:
    """An observation of the trace `t`."""
    start = fields.pop("start", "2026-01-05T10:00:00Z")
    return {"id": own, "traceId": "t", "type": kind, "name": "chat", "startTime": start, **fields}


def codes(found: EvidenceModel) -> list[str]:
    """The codes of the notes."""
    return [note.code for note in found.notes]


@pytest.fixture(scope="module")
def refunds() -> EvidenceModel:
    """The sample: two traces of one session, the later one first."""
    return read(REFUNDS)


def test_histories_that_repeat_are_one_conversation(refunds: EvidenceModel) -> None:
    """Each model call sends all that came before; traces of a session continue each other."""
    assert [(turn.role_raw, turn.said, turn.text) for turn in refunds.turns or ()] == [
        ("system", False, "Help with refunds."),
        ("user", True, "Where is A-17?"),
        ("assistant", True, "It is in Turin."),
        ("user", True, "Refund it."),
        ("assistant", True, "That did not work."),
    ]
    assert refunds.conversation_id == "session-4"


def test_a_tool_is_the_execution_of_its_request(refunds: EvidenceModel) -> None:
    """One call each, with the id of the request, and the times, the result and the level of the observation."""
    assert [(call.id, call.name, call.status) for call in refunds.calls or ()] == [
        ("call_1", "find_order", "ok"),
        ("call_2", "refund", "error"),
    ]
    first, second = refunds.calls or ()
    assert first.result == {"place": "Turin"}
    assert (first.start_ns, first.end_ns) == (1_767_607_201_500_000_000, 1_767_607_202_250_000_000)
    assert second.error == "The card has expired"
    assert second.args == {"order": "A-17"}


def test_a_wrapper_is_not_a_second_model_call() -> None:
    """Tricky input 5: outer and inner generation hold the same, and a tool that starts when it ends has no duration."""
    found = Evidence.load(
        real("langfuse/langfuse__chatml__framework-traces__vercel-aisdk-2025-11-17.trace.json")
    )
    model = found.model
    assert [turn.text for turn in model.turns or ()] == ["What is the weather like today in San Francisco?"]
    assert [(call.name, call.result) for call in model.calls or ()] == [
        ("getWeather", {"location": "San Francisco", "temperature": 64})
    ]
    document = averment.Document.of(
        {
            "version": 1,
            "assertions": [{"id": "fast", "kind": "latency", "tool": "getWeather", "max_ms": 5000}],
        }
    )
    assert averment.run(document, found).to_dict()["results"][0]["code"] == "no_measurement"


def test_a_wrapper_without_another_twin_counts_like_it(refunds: EvidenceModel) -> None:
    """The sample's `generateText` wraps `generateText.doGenerate`."""
    assert sum(turn.text == "Where is A-17?" for turn in refunds.turns or ()) == 1
    assert any("a model call that wraps" in note.detail for note in refunds.notes)


def test_what_is_said_twice_stays_twice() -> None:
    """A user who repeats himself is heard twice where the history says so."""
    messages = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Yes?"}]
    found = read(
        [
            observation("a", "GENERATION", input=messages[:1], output=messages[1]),
            observation(
                "b",
                "GENERATION",
                start="2026-01-05T10:00:01Z",
                input=[*messages, messages[0]],
                output="What?",
            ),
        ]
    )
    assert [turn.text for turn in found.turns or ()] == ["Hello?", "Yes?", "Hello?", "What?"]


def test_only_what_a_model_said_has_times(refunds: EvidenceModel) -> None:
    """They are those of its call."""
    assert [turn.start_ns for turn in refunds.turns or ()] == [
        None,
        None,
        1_767_607_202_500_000_000,
        None,
        1_767_607_262_000_000_000,
    ]


def test_a_text_as_input_is_no_speech() -> None:
    """A whole dialogue may be in one text; who said what in it would be a guess."""
    found = read([observation("a", "GENERATION", input="user: hi\nassistant: hello", output="Bye")])
    assert [(turn.role, turn.said) for turn in found.turns or ()] == [("other", False), ("agent", True)]
    assert found.coverage.transcript.state == "partial"


def test_content_that_was_not_recorded_is_redacted() -> None:
    """What was masked can't be said not to have been said, and the gap says what to record."""
    data = json.dumps([observation("a", "GENERATION", input=None, output=None)]).encode()
    evidence = Evidence.from_bytes(data)
    assert evidence.model.coverage.transcript.state == "redacted"
    document = averment.Document.of(
        {"version": 1, "assertions": [{"id": "never", "kind": "tool_call", "name": "refund", "absent": True}]}
    )
    result = averment.run(document, evidence).to_dict()["results"][0]
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")
    assert "Record inputs and outputs in Langfuse" in result["evidence_gap"]["how"]


def test_a_page_without_its_parents_is_partial() -> None:
    """An export of one page holds some of the observations."""
    found = read([observation("a", "TOOL", parentObservationId="gone", input={"n": 1}, output="x")])
    assert found.coverage.executions.state == "partial"
    assert "parent_missing" in codes(found)


@pytest.mark.parametrize(
    ("given", "gave"),
    [
        ({"system": "s", "messages": [{"role": "user", "content": "q"}]}, {"content": [{"type": "text", "text": "a"}]}),
        ({"contents": [{"role": "user", "parts": [{"text": "q"}]}]}, {"candidates": [{"content": {"parts": [{"text": "a"}]}}]}),
        ({"input": "q"}, {"output": [{"type": "message", "content": [{"type": "output_text", "text": "a"}]}]}),
        ([{"role": "user", "parts": [{"type": "text", "content": "q"}]}], [{"role": "assistant", "parts": [{"type": "text", "content": "a"}]}]),
        ([{"type": "human", "content": "q"}], {"type": "ai", "content": "a"}),
        ({"prompt": "q"}, "a"),
    ],
)  # fmt: skip
def test_messages_of_any_vendor_are_read(given: Any, gave: Any) -> None:
    """Anthropic, Gemini, Responses, OpenTelemetry parts, LangChain, plain."""
    found = read(
        [observation("a", "GENERATION", input=json.dumps(given), output=json.dumps(json.dumps(gave)))]
    )
    assert [(turn.role, turn.text) for turn in found.turns or () if turn.said] == [
        ("user", "q"),
        ("agent", "a"),
    ]
    assert "model_call_unreadable" not in codes(found)


def test_a_trace_without_model_calls_speaks_for_itself() -> None:
    """Its own input and output are all that is there, so nothing else can be ruled out."""
    trace = {"id": "t", "timestamp": "2026-01-05T10:00:00Z", "sessionId": None, "observations": ["a", "b"]}
    found = read({**trace, "input": "Where is it?", "output": "In Turin."})
    assert [(turn.role, turn.text) for turn in found.turns or ()] == [
        ("user", "Where is it?"),
        ("agent", "In Turin."),
    ]
    assert found.coverage.transcript.state == "partial"
    assert codes(found).count("observation_missing") == 2


def test_odd_values_are_noted_or_refused() -> None:
    """No value at any place stops the reader."""
    for wrong in mutants({"data": REFUNDS["data"][:1]}):
        survives(wrong)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "koog-2025-08-26",
            # llm.chat [9] has a system and a user message and asks for HelloTool and ByeTool, printed as content;
            # [3] repeats them and says one thing. SPANs tool.HelloTool and tool.ByeTool answer. Notes: AGENT, SPAN.
            {"turns": 3, "calls": 2, "results": 2, "errors": 0, "notes": 2},
        ),
        (
            "openai-agents-2025-09-30",
            # [3] is given one user message and asks for get_weather; TOOL [1] ran; [2] says one thing. Notes: AGENT,
            # and .trace.scores, which is not empty.
            {"turns": 2, "calls": 1, "results": 1, "errors": 0, "notes": 2},
        ),
        (
            "google-adk-2025-08-28",
            # call_llm twice: a system instruction, `hi`, a function_call of say_hello, and one text. TOOL ran with {}
            # and gave {}. Notes: AGENT, CHAIN, .trace.scores.
            {"turns": 3, "calls": 1, "results": 1, "errors": 0, "notes": 3},
        ),
        (
            "vercel-aisdk-2025-11-17",
            # One question; one call, which ran. Notes: the wrapper, .trace.scores.
            {"turns": 1, "calls": 1, "results": 1, "errors": 0, "notes": 2},
        ),
    ],
)
def test_real_traces_hold_what_a_person_counts(name: str, expected: dict[str, int]) -> None:
    """Counted by hand in the files."""
    path = real(f"langfuse/langfuse__chatml__framework-traces__{name}.trace.json")
    assert all_counts(path) == [expected]


SAID = {"input": [{"role": "user", "content": "hi"}], "output": {"role": "assistant", "content": "hello"}}


def test_one_page_of_several_is_not_the_whole_trace() -> None:
    """The API answers with pages; what is not on this one may be on the next."""
    page = {
        "data": [
            observation("g", "GENERATION", **SAID),
            observation("x", "TOOL", input={"n": 1}, output="ok"),
        ]
    }
    assert read(page).coverage.executions.state == "present"
    last = {"page": 1, "limit": 50, "totalItems": 2, "totalPages": 1}
    assert read({**page, "meta": last}).coverage.executions.state == "present"
    found = read({**page, "meta": {"page": 1, "limit": 50, "totalItems": 80, "totalPages": 2}})
    assert "more_pages" in codes(found)
    assert [found.coverage.transcript.state, found.coverage.executions.state] == ["partial", "partial"]


def test_a_tool_without_an_output_may_have_answered_anything() -> None:
    """Decorators that don't capture outputs leave it null; an empty one is one."""
    found = read({"id": "t", "observations": [observation("x", "TOOL", input={"n": 1}, output=None)]})
    assert [call.result_state for call in found.calls or ()] == ["absent"]
    assert found.coverage.results.state == "partial"
    found = read({"id": "t", "observations": [observation("x", "TOOL", input={"n": 1}, output="")]})
    assert [call.result_state for call in found.calls or ()] == ["recorded"]


def test_what_a_mask_left_is_not_known() -> None:
    """A mask puts one text in the place of all others."""
    masked = observation("x", "TOOL", input="<redacted>", output="***")
    found = read(
        {"id": "t", "observations": [observation("g", "GENERATION", input="***", output="***"), masked]}
    )
    assert [(call.args_state, call.result_state) for call in found.calls or ()] == [("redacted", "redacted")]
    assert found.coverage.transcript.state == "redacted"
    assert "Langfuse" in str(found.coverage.arguments.how)


def test_a_chunk_of_langchains_is_the_agents() -> None:
    """`AIMessageChunk` is what streamed answers are called; a check of what the agent said must see it."""
    chunk = {"type": "AIMessageChunk", "content": "Refunds take a day.", "id": "x"}
    said = {"input": [{"type": "human", "content": "hi"}], "output": chunk}
    found = read({"id": "t", "observations": [observation("g", "GENERATION", **said)]})
    assert [(turn.role_raw, turn.role) for turn in found.turns or ()] == [("human", "user"), ("ai", "agent")]


def test_a_tool_that_never_ended_did_not_go_well() -> None:
    """An observation without an end and an output was begun; nobody knows how it went."""
    begun = observation("x", "TOOL", input={"n": 1}, output=None, endTime=None)
    found = read({"id": "t", "observations": [begun]})
    assert [call.status for call in found.calls or ()] == ["executed"]
    assert [found.coverage.executions.state, found.coverage.errors.state] == ["present", "partial"]
