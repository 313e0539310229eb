from __future__ import annotations

import base64
import copy
import gzip
import json
from typing import Any

import pytest
from mutants import mutants, survives

import averment
from averment.evidence import Evidence
from averment.evidence.model import EvidenceModel
from samples import all_counts, real, sample

ORDER: dict[str, Any] = json.loads(sample("har/order.har").read_bytes())


def read(value: Any) -> EvidenceModel:
    """The one conversation of a value."""
    return Evidence.from_bytes(json.dumps(value).encode()).model


def entry(
    body: Any, response: str, url: str = "https://api.openai.com/v1/chat/completions", **content: Any
) -> Any:
    """An archive with one exchange."""
    request = {
        "method": "POST",
        "url": url,
        "postData": {"mimeType": "application/json", "text": json.dumps(body)},
    }
    answer = {"status": 200, "content": {"text": response, "mimeType": "application/json", **content}}
    return {"log": {"version": "1.2", "entries": [{"request": request, "response": answer}]}}


@pytest.fixture(scope="module")
def order() -> EvidenceModel:
    """The sample: two exchanges with a model, the second streamed, and one with a shop between them."""
    return read(ORDER)


def test_exchanges_with_a_model_are_one_conversation(order: EvidenceModel) -> None:
    """The second request repeats the history; the streamed answer is put together."""
    assert [(turn.role_raw, turn.text) for turn in order.turns or ()] == [
        ("user", "Where is A-17?"),
        ("assistant", "It is in Turin."),
    ]
    assert [(call.id, call.name, call.args, call.result, call.status) for call in order.calls or ()] == [
        ("call_1", "find_order", {"order": "A-17"}, {"place": "Turin"}, "executed")
    ]
    assert order.coverage.errors.state == "partial"


def test_each_entry_is_an_http_exchange(order: EvidenceModel) -> None:
    """With method, address, status, response and the time that it took."""
    spans = order.spans or ()
    assert [(span.type, span.fields["method"], span.fields["status_code"]) for span in spans] == [
        ("http_exchange", "POST", 200),
        ("http_exchange", "GET", 200),
        ("http_exchange", "POST", 200),
    ]
    shop = spans[1]
    assert (shop.start_ns, shop.end_ns) == (1_767_607_201_000_000_000, 1_767_607_201_120_000_000)
    assert shop.fields["latency_ms"] == 120
    assert shop.fields["response"]["place"] == "Turin"
    assert order.coverage.http.state == "present"
    assert (order.sources[0].records, order.sources[0].records_read) == (3, 3)


def test_turns_calls_and_exchanges_have_one_order(order: EvidenceModel) -> None:
    """The question, the first exchange, the call that it brought, the shop, the last exchange, the answer."""
    things: list[Any] = [*(order.turns or ()), *(order.calls or ()), *(order.spans or ())]
    ordered = sorted(things, key=lambda thing: thing.seq or 0)
    assert [thing.id for thing in ordered] == ["t_0", "s_0", "call_1", "s_1", "s_2", "t_1"]


def test_secrets_never_become_evidence() -> None:
    """Neither headers and cookies, nor users and keys in addresses, nor tokens in bodies."""
    text = Evidence.load(sample("har/order.har")).to_json()
    assert b"sesame" not in text
    assert b"page=2" in text
    assert b'"FOUND"' in text


def test_an_assertion_on_http_is_answered() -> None:
    """Of the exchanges that are there, and the gap of what is not says what to record."""
    document = averment.Document.of(
        {
            "version": 1,
            "assertions": [
                {
                    "id": "asked-the-shop",
                    "kind": "http_result",
                    "method": "GET",
                    "url_matches": "/orders/",
                    "status": 200,
                    "response_subset": {"place": "Turin"},
                },
                {"id": "said", "kind": "phrase", "regex": "Turin", "role": "agent"},
            ],
        }
    )
    whole = averment.run(document, Evidence.load(sample("har/order.har"))).to_dict()["results"]
    assert [result["status"] for result in whole] == ["PASS", "PASS"]
    archive = copy.deepcopy(ORDER)
    archive["log"]["entries"] = archive["log"]["entries"][1:2]
    bare = averment.run(document, Evidence.from_bytes(json.dumps(archive).encode())).to_dict()["results"]
    assert [result["status"] for result in bare] == ["PASS", "INCONCLUSIVE"]
    assert bare[1]["evidence_gap"]["channel"] == "transcript"
    assert "Record the HTTP of the agent's model calls" in bare[1]["evidence_gap"]["how"]


def test_a_stream_that_was_cut_is_truncated() -> None:
    """What the model would have said next is not known."""
    archive = copy.deepcopy(ORDER)
    content = archive["log"]["entries"][2]["response"]["content"]
    content["text"] = content["text"].split("data:")[1].join(["data:", ""])
    found = read(archive)
    assert found.coverage.transcript.state == "truncated"
    assert (found.turns or ())[-1].text == "It is "


@pytest.mark.parametrize("is_packed", [False, True])
def test_bodies_in_base64_and_gzip_are_read(is_packed: bool) -> None:
    """Proxies keep the bytes as they came."""
    data = json.dumps(
        {"object": "x", "choices": [{"message": {"role": "assistant", "content": "Hi"}}]}
    ).encode()
    text = base64.b64encode(gzip.compress(data) if is_packed else data).decode()
    found = read(entry({"messages": [{"role": "user", "content": "q"}]}, text, encoding="base64"))
    assert [turn.text for turn in found.turns or ()] == ["q", "Hi"]


def test_a_body_that_is_binary_is_noted() -> None:
    """And the answer that it may hold makes the conversation incomplete."""
    found = read(entry({"messages": [{"role": "user", "content": "q"}]}, "/////w==", encoding="base64"))
    assert {"body_not_text", "response_missing"} <= {note.code for note in found.notes}
    assert found.coverage.transcript.state == "truncated"


def test_bodies_of_other_vendors_are_read_by_their_path() -> None:
    """Gemini streams a list, or a body at once; Responses answer with items."""
    chunks = [{"candidates": [{"content": {"parts": [{"text": part}]}}]} for part in ("In ", "Turin.")]
    found = read(
        entry(
            {"contents": [{"role": "user", "parts": [{"text": "q"}]}]},
            json.dumps(chunks),
            "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?key=sesame",
        )
    )
    assert [turn.role for turn in found.turns or ()] == ["user", "agent"]
    assert "sesame" not in str(found)
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}
    answer = {"object": "response", "id": "r", "output": [item]}
    request: dict[str, Any] = {"input": "q", "previous_response_id": "elsewhere"}
    found = read(entry(request, json.dumps(answer), "https://api.openai.com/v1/responses"))
    assert [turn.text for turn in found.turns or ()] == ["q", "a"]
    assert found.coverage.transcript.state == "partial"


def test_an_error_of_the_api_is_no_answer() -> None:
    """It is an exchange with its status, and a note."""
    archive = entry({"messages": [{"role": "user", "content": "q"}]}, '{"error": {"message": "busy"}}')
    archive["log"]["entries"][0]["response"]["status"] = 529
    found = read(archive)
    assert [turn.text for turn in found.turns or ()] == ["q"]
    assert [span.status for span in found.spans or ()] == ["error"]
    assert "model_error" in [note.code for note in found.notes]


def test_odd_values_are_noted_or_refused() -> None:
    """No value at any place stops the reader, also in the bodies."""
    for wrong in mutants(ORDER):
        survives(wrong)
    body = json.loads(ORDER["log"]["entries"][2]["request"]["postData"]["text"])
    for wrong in mutants(body):
        survives(entry(wrong, '{"choices": []}'))
    for wrong in mutants({"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "a"}]}}]}):
        survives(entry(body, json.dumps(wrong)))


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        # .log.entries[0] alone: an agent of Bedrock, which answers with a binary stream, and a note says so.
        ("custom-trace-provider-unnamed-test_3593248847", 1),
        (
            "rag-bedrockagent-rag-instrumentation-attributes-and-api-recording-should-re_1063497518",
            0,
        ),  # a search
        ("rag-bedrockagent-rag-instrumentation-attributes-and-api-recording-should-re_4252281504", 0),
    ],
)
def test_real_archives_hold_what_a_person_counts(name: str, notes: int) -> None:
    """One exchange each, with no API of a model that is known."""
    path = real(f"har/openinference__recordings__bedrock-agent-{name}__recording.har")
    assert all_counts(path) == [{"turns": 0, "calls": 0, "results": 0, "errors": 0, "notes": notes}]
    model = Evidence.load(path).model
    assert [span.fields["status_code"] for span in model.spans or ()] == [200]
    assert model.coverage.transcript.state == "absent"


def test_an_answer_that_was_not_saved_decides_nothing_about_its_body() -> None:
    """A HAR without content has status codes and no responses: the status is decided, what was answered isn't."""
    archive = {
        "log": {
            "version": "1.2",
            "creator": {"name": "a browser", "version": "1"},
            "entries": [
                {
                    "startedDateTime": "2026-01-02T03:04:05.000Z",
                    "time": 12,
                    "request": {"method": "POST", "url": "https://shop.example/refunds", "headers": []},
                    "response": {
                        "status": 201,
                        "headers": [],
                        "content": {"size": 20, "mimeType": "application/json"},
                    },
                }
            ],
        }
    }
    evidence = Evidence.from_bytes(json.dumps(archive).encode())
    asked = {"id": "a", "kind": "http_result", "method": "POST", "url_matches": "/refunds", "status": 201}
    document = averment.Document.of(
        {"version": 1, "assertions": [asked, {**asked, "id": "b", "response": {"state": "issued"}}]}
    )
    status, body = averment.run(document, evidence).results
    assert (status.status.value, body.status.value, body.code) == (
        "PASS",
        "INCONCLUSIVE",
        "bodies_not_recorded",
    )
    assert body.evidence_gap is not None
    assert "HAR with content" in body.evidence_gap["how"]
