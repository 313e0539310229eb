from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives

from averment.errors import EvidenceError
from averment.evidence import Evidence
from samples import all_counts, real, sample

Judge = Callable[..., Any]
PARALLEL = "gorilla_openfunctions_v1_test_parallel_multiple_function_result.json"


def row(result: Any) -> Evidence:
    """The evidence of one line with this result."""
    return Evidence.from_bytes(json.dumps({"id": "x", "result": result, "input_token_count": 1}).encode())


def test_every_line_is_a_conversation() -> None:
    """Named by its id; counts and the latency of the whole answer are metadata."""
    found = Evidence.load_all(sample("bfcl/prompting.json"))
    assert [each.model.conversation_id for each in found] == [f"parallel_multiple_{n}" for n in range(4)]
    assert found[0].model.metadata is not None
    assert found[0].model.metadata["latency"] == 1.25
    assert found[0].model.sources[0].why == "in its first item it has `id`, `result` and `input_token_count`"


def test_tricky_11_source_text_is_two_parallel_calls() -> None:
    """A `.json` file that is JSONL, and a result that is Python source: two calls, and no answer to either."""
    model = Evidence.load_all(sample("bfcl/prompting.json"))[0].model
    assert [(call.name, call.args, call.status, call.loc) for call in model.calls or ()] == [
        ("hotel.book", {"nights": 2, "guest": "Ana Ruiz"}, "requested", "src_0#line 1.result"),
        ("taxi.order", {"to": "airport", "at": [8, 30]}, "requested", "src_0#line 1.result"),
    ]
    assert {call.result for call in model.calls or ()} == {UNSET}
    assert model.coverage.results.state == "absent"
    assert model.turns == ()


def test_tricky_11_the_twin_keeps_its_own_names() -> None:
    """In function-calling mode the dot is an underscore, and arguments are text."""
    model = Evidence.load_all(sample("bfcl/calling.json"))[0].model
    assert [(call.name, call.args) for call in model.calls or ()] == [
        ("hotel_book", {"nights": 2, "guest": "Ana Ruiz"})
    ]


def test_nothing_says_that_a_call_was_executed(judge: Judge) -> None:
    """Also where it was asked for; and the reason says what to add."""
    evidence = Evidence.load_all(sample("bfcl/prompting.json"))[0]
    result = judge({"kind": "tool_call", "name": "hotel.book"}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")
    assert "--trace" in result["evidence_gap"]["how"]
    result = judge({"kind": "tool_error", "name": "hotel.book", "absent": True}, evidence)
    assert result["status"] == "INCONCLUSIVE"


def test_other_text_is_what_the_agent_said(judge: Judge) -> None:
    """The user's questions are elsewhere, so that the transcript is partial."""
    evidence = Evidence.load_all(sample("bfcl/prompting.json"))[1]
    assert [(turn.role, turn.text) for turn in evidence.model.turns or ()] == [
        ("agent", "I need to know the city first.")
    ]
    assert evidence.model.calls == ()
    result = judge({"kind": "phrase", "regex": "refund", "role": "user"}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "transcript")


def test_broken_calls_are_told() -> None:
    """They are text, and whether a call was asked for is open."""
    model = Evidence.load_all(sample("bfcl/prompting.json"))[2].model
    assert [note.code for note in model.notes] == ["calls_unreadable"]
    assert model.coverage.requests.state == "partial"


@pytest.mark.parametrize("text", ["Error", "Error during inference: 503"])
def test_a_model_that_was_asked_in_vain_said_nothing(text: str) -> None:
    """The benchmark's own word for it is no utterance."""
    model = row(text).model
    assert model.turns == ()
    assert [note.code for note in model.notes] == ["inference_failed"]
    assert model.coverage.requests.state == "partial"


def test_arguments_without_names_are_unknown() -> None:
    """The function's signature is not in the file."""
    model = Evidence.load_all(sample("bfcl/prompting.json"))[3].model
    assert [(call.name, call.args_state) for call in model.calls or ()] == [("hotel.book", "absent")]
    assert [note.code for note in model.notes] == ["arguments_unreadable"]


def test_arguments_that_are_no_json_are_kept_as_text() -> None:
    """And never become `{}`."""
    (call,) = Evidence.load_all(sample("bfcl/calling.json"))[1].model.calls or ()
    assert (call.args, call.args_raw, call.args_error) == (UNSET, "{nights: 2}", "json_syntax")


def test_lists_in_lists_are_turns_and_steps() -> None:
    """A multi-turn entry, in order."""
    model = Evidence.load_all(sample("bfcl/calling.json"))[2].model
    assert [call.name for call in model.calls or ()] == ["cd", "ls", "pwd"]
    assert [turn.text for turn in model.turns or ()] == ["Done."]


@pytest.mark.parametrize("result", [None, 5, {}, True])
def test_a_result_is_text_or_a_list(result: Any) -> None:
    """Other lines are not taken for results."""
    with pytest.raises(EvidenceError):
        row(result)


def test_every_line_is_accounted_for() -> None:
    """A line is one record."""
    source = row(["a", 5, None]).model.sources[0]
    assert (source.records, source.records_read) == (1, 1)
    assert [note.code for note in row([5]).model.notes] == ["result_not_read"]


def test_no_value_breaks_the_reader() -> None:
    """Whatever stands in place of a part of a sample, it is read or refused."""
    for name in ("prompting", "calling"):
        for line in sample(f"bfcl/{name}.json").read_text().splitlines():
            for mutant in mutants(json.loads(line)):
                survives(mutant)


def test_the_parallel_results_as_text() -> None:
    """Counts by hand: 200 lines, each a list; names before `(` inside no other bracket are 610."""
    found = all_counts(real(f"bfcl/BFCL-Result__result__claude-3-5-sonnet-20240620__{PARALLEL}"))
    assert len(found) == 200
    assert found[0]["calls"] == 2  # line 1: `math_toolkit.sum_of_multiples`, `math_toolkit.product_of_primes`
    assert sum(each["calls"] for each in found) == 610
    assert sum(each["results"] for each in found) == 0
    assert sum(each["turns"] for each in found) == 0


def test_the_executable_results_of_function_calling() -> None:
    """Counts by hand: of 100 lines, 97 are lists of one call, and three are prose."""
    name = "claude-3-5-sonnet-20240620-FC__gorilla_openfunctions_v1_test_executable_simple_result.json"
    found = all_counts(real(f"bfcl/BFCL-Result__result__{name}"))
    assert len(found) == 100
    assert sum(each["calls"] for each in found) == 97
    assert sum(each["turns"] for each in found) == 3


def test_the_executable_results_of_another_model() -> None:
    """Counts by hand: 100 lines without brackets, of which 98 are one call and two are `Error`."""
    name = "gorilla-openfunctions-v2__gorilla_openfunctions_v1_test_executable_simple_result.json"
    found = all_counts(real(f"bfcl/BFCL-Result__result__{name}"))
    assert sum(each["calls"] for each in found) == 98
    assert sum(each["turns"] for each in found) == 0
    assert sum(each["notes"] for each in found) == 2
