from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mappings import (
    CALLS,
    EVERY_CALL_CHANNEL,
    SAMPLES,
    TURNS,
    call,
    loaded,
    mapping,
    notes,
    read,
    state,
    turn,
)
from msgspec import UNSET
from mutants import mutants

from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.mapping import (
    Mapping,
    mapped,
)
from samples import counts, sample

Judge = Callable[..., Any]


# Conversations


def test_an_export_of_sessions_is_a_conversation_each() -> None:
    """`conversations` points to their list; ids, labels and metadata are theirs; places are those of the file."""
    found = loaded("acme")
    assert [each.model.conversation_id for each in found] == ["s-100", "s-101"]
    model = found[0].model
    assert model.labels == {"language": "en"}
    assert model.metadata == {"cost": 0.12, "agent": "desk"}
    assert model.sources[0].format == "mapping:acme"
    assert [each.loc for each in model.turns or ()] == [
        "src_0#$.sessions[0].events[0]",
        "src_0#$.sessions[0].events[4]",
    ]


def test_lines_of_many_conversations_are_sorted_by_group() -> None:
    """`group_by` names the id that each item has; items without one are read into no conversation, and noted."""
    found = loaded("rows")
    assert [each.model.conversation_id for each in found] == ["k-1", "k-2"]
    assert [each.loc for each in found[0].model.turns or ()] == ["src_0#line 1", "src_0#line 7"]
    assert notes(found[0], "item_without_conversation") == [
        "items that name no conversation are not read (1 times)"
    ]


def test_each_line_can_be_a_conversation() -> None:
    """By default the lines of a file are its conversations, each here a list of items."""
    found = loaded("messages")
    assert [counts(each)["turns"] for each in found] == [3, 2]
    assert (found[1].model.turns or ())[0].loc == "src_0#line 2[0]"


def test_one_line_of_items_is_one_conversation_of_one_item() -> None:
    """A JSONL file of one line looks like an object; `lines: items` says what it is."""
    assert counts(read(turn(), turns=TURNS))["turns"] == 1


def test_pages_of_an_export_are_read_one_after_the_other() -> None:
    """In a JSONL file `conversations` is looked for in each line."""
    lines = [{"data": [{"log": [turn()]}, {"log": [turn(), turn()]}]}, {"data": {"log": []}}]
    data = "\n".join(json.dumps(line) for line in lines).encode()
    form = mapped(mapping(lines="conversations", conversations="/data", turns={"items": "/log", **TURNS}))
    found = Evidence.all_from_bytes(data, from_format=form)
    assert [counts(each)["turns"] for each in found] == [1, 2, 0]
    assert (found[1].model.turns or ())[1].loc == "src_0#line 1.data[1].log[1]"


@pytest.mark.parametrize("fields", [{"conversations": "/session"}, {"group_by": "/session"}])
def test_a_file_without_conversations_where_the_mapping_says_is_refused(fields: dict[str, Any]) -> None:
    """Nothing at all at the place of the conversations is no empty evidence."""
    with pytest.raises(EvidenceError) as caught:
        read([turn()], turns=TURNS, **fields)
    assert [problem.code for problem in caught.value.problems] == ["pointer_matches_nothing"]


# Turns


def test_turns_have_what_is_mapped() -> None:
    """Role by the source's words, time and duration, id, interruption."""
    first, second = loaded("acme")[0].model.turns or ()
    assert (first.id, first.role_raw, first.role) == ("e1", "user", "user")
    assert (first.start_ns, first.end_ns) == (1_772_445_600 * 10**9, 1_772_445_601_500_000_000)
    assert first.clock == "epoch"
    assert (second.role, second.interrupted, second.seq) == ("agent", True, 5)


def test_text_parts_are_joined_and_instructions_are_not_said() -> None:
    """A list of text parts is one text; a system prompt is not said, unless the mapping says so."""
    turns = loaded("messages")[0].model.turns or ()
    assert [(each.text, each.said) for each in turns] == [
        ("Be polite.", False),
        ("Book me in\nfor noon.", True),
        ("Done.", True),
    ]
    said = read([turn("system")], turns={**TURNS, "said": True}).model.turns or ()
    assert [each.said for each in said] == [True]


def test_a_role_that_nobody_knows_decides_nothing(judge: Judge) -> None:
    """A label such as `spk_0` is no role; the verdict waits until the document or the mapping says who it is."""
    evidence = read([turn("spk_0", "I refunded it.")], turns=TURNS)
    assert notes(evidence, "role_not_known")
    assertion = {"kind": "phrase", "regex": "refunded", "role": "agent"}
    assert judge(assertion, evidence)["status"] == "INCONCLUSIVE"
    words = {"pointer": "/who", "values": {"spk_0": "agent"}}
    evidence = read([turn("spk_0", "I refunded it.")], turns={**TURNS, "role": words})
    assert judge(assertion, evidence)["status"] == "PASS"


def test_a_text_that_is_missing_leaves_the_transcript_incomplete(judge: Judge) -> None:
    """What must not be said may have been said in the utterance that has no text."""
    evidence = read([turn(text="hello"), {"is": "turn", "who": "agent"}], turns=TURNS)
    result = judge({"kind": "phrase", "regex": "never", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "transcript")
    assert "exists: true" in result["evidence_gap"]["how"]


def test_an_item_can_be_an_utterance_and_a_call() -> None:
    """The utterance comes first; an item with a call and no text is no utterance, and nothing is missing."""
    items = [
        {"who": "agent", "text": "One moment.", "tool": "find"},
        {"who": "agent", "tool": "find"},
        {"who": "user", "text": "ok"},
    ]
    evidence = read(
        items,
        turns={"role": "/who", "text": "/text"},
        calls={"where": {"/tool": {"exists": True}}, "name": "/tool"},
    )
    assert [each.seq for each in evidence.model.turns or ()] == [0, 3]
    assert [each.seq for each in evidence.model.calls or ()] == [1, 2]
    assert state(evidence, "transcript") == "present"


def test_the_first_pointer_with_a_value_counts_and_constants_stand_for_all() -> None:
    """A list of pointers, a constant and a default."""
    fields = {
        "where": {"/is": "turn"},
        "role": {"const": "agent"},
        "text": ["/none", "/text", "/who"],
        "speaker": {"pointer": "/name", "default": "desk"},
    }
    turns = read([turn(name="Ana"), turn(text=None, none=None)], turns=fields).model.turns or ()
    assert [(each.role, each.text, each.speaker) for each in turns] == [
        ("agent", "hello", "Ana"),
        ("agent", "user", "desk"),
    ]


# Times


@pytest.mark.parametrize(
    ("fields", "written", "expected"),
    [
        ({"clock": "call_relative", "unit": "s"}, 1.5, 1_500_000_000),
        ({"clock": "call_relative", "unit": "ms"}, "1500", 1_500_000_000),
        ({"clock": "monotonic", "unit": "us"}, 1_500_000, 1_500_000_000),
        ({"clock": "epoch", "unit": "ns"}, 1_772_445_600_000_000_001, 1_772_445_600_000_000_001),
        ({"unit": "iso"}, "2026-03-02T10:00:00Z", 1_772_445_600 * 10**9),
    ],
)
def test_times_are_read_in_the_unit_that_is_said(fields: dict[str, Any], written: Any, expected: int) -> None:
    """Numbers and texts, as integer nanoseconds on the clock that is said."""
    turns = read([turn(at=written)], turns={**TURNS, "start": "/at"}, **fields).model.turns or ()
    assert (turns[0].start_ns, turns[0].clock) == (expected, fields.get("clock", "epoch"))


@pytest.mark.parametrize(
    ("written", "code"),
    [
        (1_772_445_600, "time_implausible"),  # seconds where milliseconds are said
        ("noon", "time_unreadable"),
        (True, "time_unreadable"),
        ([], "time_unreadable"),
    ],
)
def test_a_time_in_another_unit_is_left_out(written: Any, code: str) -> None:
    """A time of day in January 1970 was written in seconds: no time is better than a wrong one."""
    fields = {"turns": {**TURNS, "start": "/at"}, "clock": "epoch", "unit": "ms"}
    evidence = read([turn(at=written)], **fields)
    assert (evidence.model.turns or ())[0].start_ns is None
    assert notes(evidence, code)


def test_a_duration_has_its_own_unit_and_zero_is_none() -> None:
    """A latency beside ISO times says its unit; zero is no measurement."""
    calls = {**CALLS, "start": "/at", "latency": {"pointer": "/took", "unit": "s"}}
    items = [call(at="2026-03-02T10:00:00Z", took=0.25), call(at="2026-03-02T10:00:01Z", took=0)]
    evidence = read(items, calls=calls, unit="iso")
    assert [each.latency_ms for each in evidence.model.calls or ()] == [250, None]
    assert notes(evidence, "zero_duration")


# Calls and answers


def test_a_call_with_its_answer_in_the_same_item() -> None:
    """Arguments that are JSON text are read; the status by the source's words, the error as written."""
    first, second = loaded("acme")[0].model.calls or ()
    assert (first.name, first.args, first.result, first.status) == (
        "find_order",
        {"order": "A-17"},
        {"paid": 30},
        "ok",
    )
    assert (first.latency_ms, first.id) == (250.5, "e2")
    assert (second.args, second.args_raw) == (
        {"order": "A-17", "amount": 30},
        '{"order": "A-17", "amount": 30}',
    )
    assert (second.status, second.error, second.result) == ("error", "the ledger is closed", UNSET)


def test_answers_find_their_calls_by_id() -> None:
    """In whatever order they come, and with ids of any JSON type."""
    calls = loaded("rows")[0].model.calls or ()
    assert [(each.id, each.name, each.status, each.result) for each in calls] == [
        ("7", "check_table", "error", "no such table"),
        ("8", "check_hours", "ok", {"open": True}),
    ]


def test_lists_inside_of_items_hold_calls_and_answers() -> None:
    """`each` is a list in each item, `outer` a value of the item around it."""
    calls = loaded("messages")[0].model.calls or ()
    assert [(each.id, each.status, each.result, each.error) for each in calls] == [
        ("a", "ok", {"booked": True}, UNSET),
        ("b", "error", UNSET, "no phone number"),
    ]
    assert calls[1].loc == "src_0#line 1[2].actions[1]"


def test_answers_without_ids_are_paired_within_a_step() -> None:
    """By name and order; a call of the next step is not answered by them."""
    answers = {"where": {"/is": "answer"}, "name": "/tool", "result": "/gave"}
    items = [call(), {"is": "answer", "tool": "refund", "gave": 1}, call(), turn("agent"), call()]
    evidence = read(items, turns=TURNS, calls=CALLS, answers=answers)
    assert [each.status for each in evidence.model.calls or ()] == ["executed", "unanswered", "unanswered"]


def test_a_result_without_an_id_belongs_to_its_own_item() -> None:
    """Also where the same tool is called several times."""
    items = [call(gave={"n": 1}), call(gave={"n": 2}), call(gave={"n": 3})]
    evidence = read(items, calls={**CALLS, "result": "/gave"})
    assert [each.result for each in evidence.model.calls or ()] == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_calls_alone_are_requests(judge: Judge) -> None:
    """Nothing says that they ran, so nothing is decided about it."""
    evidence = read([call()], calls=CALLS)
    assert [state(evidence, channel) for channel in EVERY_CALL_CHANNEL] == [
        "present",
        "absent",
        "absent",
        "absent",
    ]
    assert [each.status for each in evidence.model.calls or ()] == ["requested"]
    result = judge({"kind": "tool_call", "name": "refund"}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")
    assert "`result`, `failed` or `status`" in result["evidence_gap"]["how"]


def test_arguments_that_are_not_mapped_are_not_empty() -> None:
    """A call without recorded arguments has none that could be checked."""
    evidence = read([call(gave=1)], calls={"name": "/tool", "result": "/gave"})
    assert [each.args_state for each in evidence.model.calls or ()] == ["absent"]
    assert state(evidence, "arguments") == "partial"
    declared = {**CALLS, "arguments": {"pointer": "/params", "default": {}}}
    assert [
        each.args for each in read([call(), call("x", params={"a": 1})], calls=declared).model.calls or ()
    ] == [
        {},
        {"a": 1},
    ]


def test_a_result_that_is_missing_is_not_an_unanswered_call(judge: Judge) -> None:
    """Where the answer would stand in the call's own item, null may mean anything; the mapping can say more."""
    calls = {**CALLS, "result": "/gave"}
    items = [call("find", gave={"n": 1}), call("refund", gave=None)]
    evidence = read(items, calls=calls)
    assert [each.status for each in evidence.model.calls or ()] == ["executed", "requested"]
    assertion = {"kind": "tool_call", "name": "refund"}
    assert judge(assertion, evidence)["status"] == "INCONCLUSIVE"
    evidence = read(items, calls=calls, shows=["requests", "executions", "results"])
    assert [each.status for each in evidence.model.calls or ()] == ["executed", "unanswered"]
    assert judge(assertion, evidence)["code"] == "call_unanswered"


@pytest.mark.parametrize("odd", ["FAILED", 7, []])
@pytest.mark.parametrize("name", ["status", "failed"])
def test_a_status_that_nobody_knows_is_no_success(judge: Judge, name: str, odd: Any) -> None:
    """A word without a meaning leaves open how the call went."""
    evidence = read([call(gave=1, state=odd)], calls={**CALLS, "result": "/gave", name: "/state"})
    assert [each.status for each in evidence.model.calls or ()] == ["executed"]
    result = judge({"kind": "tool_error", "name": "refund", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "errors")


def test_an_error_that_no_call_mentions_is_not_known_to_be_absent(judge: Judge) -> None:
    """A misspelt `/eror` would find nothing just so; `shows` says that the source tells of errors only."""
    calls = {**CALLS, "result": "/gave", "error": "/eror"}
    assertion = {"kind": "tool_error", "name": "refund", "absent": True}
    evidence = read([call(gave=1)], calls=calls)
    result = judge(assertion, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "errors")
    shown = read([call(gave=1)], calls=calls, shows=list(EVERY_CALL_CHANNEL))
    assert judge(assertion, shown)["status"] == "PASS"
    null = read([call(gave=1, eror=None)], calls=calls)
    assert judge(assertion, null)["status"] == "PASS"


def test_errors_alone_do_not_say_that_the_other_calls_ran() -> None:
    """A source of failures knows that these calls ran, and of the others nothing."""
    evidence = read([call(), call(wrong="no")], calls={**CALLS, "error": "/wrong"})
    assert [each.status for each in evidence.model.calls or ()] == ["requested", "error"]
    assert [state(evidence, channel) for channel in EVERY_CALL_CHANNEL] == [
        "present",
        "partial",
        "absent",
        "partial",
    ]


@pytest.mark.parametrize("word", ["cancelled", "denied", "timeout", "unanswered", "ok", "executed"])
def test_a_status_is_taken_as_it_is(word: str) -> None:
    """Words of the model need no translation."""
    evidence = read([call(state=word)], calls={**CALLS, "status": "/state"})
    assert [each.status for each in evidence.model.calls or ()] == [word]


def test_who_called_can_be_said() -> None:
    """A simulated user may call tools."""
    evidence = read([call(by="user"), call(by="nobody")], calls={**CALLS, "requestor": "/by"})
    assert [each.requestor for each in evidence.model.calls or ()] == ["user", "agent"]
    assert notes(evidence, "requestor_not_known")


# Other events


def test_events_become_spans_that_kinds_read(judge: Judge) -> None:
    """Handoffs, keyed digits, HTTP exchanges and ends, in the words of a native trace."""
    events = [
        {"type": "handoff", "where": {"/is": "pass"}, "fields": {"to": "/queue"}},
        {"type": "dtmf", "where": {"/is": "key"}, "fields": {"digits": "/keys"}},
        {
            "type": "http_exchange",
            "where": {"/is": "http"},
            "fields": {"method": {"const": "POST"}, "url": "/url", "status_code": "/code"},
        },
        {"type": "call_ended", "where": {"/is": "end"}, "fields": {"reason": "/why"}},
    ]
    items = [
        call(gave=1),
        {"is": "key", "keys": "12#"},
        {"is": "http", "url": "https://a.example/refunds", "code": 201},
        {"is": "pass", "queue": "billing"},
        {"is": "end", "why": "done"},
    ]
    evidence = read(items, calls={**CALLS, "result": "/gave"}, spans=events)
    assertions = [
        {"kind": "handoff", "to": "billing"},
        {"kind": "dtmf", "digits": "12#"},
        {"kind": "http_result", "method": "POST", "url_matches": "refunds", "status": [201]},
        {"kind": "termination", "reason": "done"},
    ]
    assert [result["status"] for result in judge(assertions, evidence)] == ["PASS"] * 4


def test_what_is_not_mapped_is_absent_and_says_how_to_map_it(judge: Judge) -> None:
    """A source of which nobody said where its handoffs stand may have some."""
    evidence = read([call(gave=1)], calls={**CALLS, "result": "/gave"})
    result = judge({"kind": "handoff", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "handoff")
    assert "spans of type `handoff` in the mapping" in result["evidence_gap"]["how"]
    assert result["evidence_gap"]["source_format"] == "mapping:m"


def test_timing_events_are_kept() -> None:
    """`timing` points to a list or an object."""
    value = {"log": [turn()], "timing": [{"gap": 1}]}
    fields = {"lines": "conversations", "turns": {"items": "/log", **TURNS}, "timing": "/timing"}
    evidence = read(value, **fields)
    assert evidence.model.timing == [{"gap": 1}]
    assert state(evidence, "timing") == "present"


# Hostile values


@pytest.mark.parametrize("name", SAMPLES)
def test_any_value_at_any_place_is_read_or_refused(name: str) -> None:
    """Whatever stands where something else is expected, there is evidence or a refusal, and never a crash."""
    form = mapped(Mapping.load(sample(f"mapping/{name}.yaml")))
    text = sample(f"mapping/{SAMPLES[name]}").read_text()
    value = json.loads(text) if name == "acme" else [json.loads(line) for line in text.splitlines()]
    for mutant in mutants(value):
        is_lines = name != "acme" and isinstance(mutant, list)
        data = "\n".join(map(json.dumps, mutant)) if is_lines else json.dumps(mutant)
        _survives(data.encode(), form)


def _survives(data: bytes, form: Any) -> None:
    try:
        found = Evidence.all_from_bytes(data, from_format=form)
    except EvidenceError:
        return
    for evidence in found:
        assert Evidence.from_bytes(evidence.to_json()).sha256 == evidence.sha256


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["is", "text", "who", "tool", "args", "each", "at", "x"]), inner)
    ),
    max_leaves=20,
)


@given(_JSON)
@settings(max_examples=150, deadline=None)
def test_any_json_is_read_or_refused(value: Any) -> None:
    """The same for any file at all."""
    form = mapped(
        mapping(
            clock="epoch",
            unit="ms",
            turns=[{"text": "/text", "role": "/who", "start": "/at"}, {"each": "/each", "text": ""}],
            calls={"each": "/tool", "name": "/tool", "arguments": "/args", "status": "/is", "result": "/x"},
            answers={"where": {"/x": {"not": [1, None]}}, "error": "/x", "failed": "/is", "name": "/who"},
            spans={"type": "dtmf", "fields": {"digits": "/x"}, "id": "/is", "duration": "/at"},
            timing="/x",
            metadata={"a": "/0/x"},
        )
    )
    _survives(json.dumps(value).encode(), form)


def test_the_source_says_which_mapping_it_was_read_by() -> None:
    """By the digest of what the mapping says, since names of files say nothing."""
    mapping = Mapping.of({"version": 1, "name": "acme", "turns": {"items": "/said", "text": "/t"}})
    evidence = Evidence.from_value({"said": [{"t": "hello"}]}, from_format=mapped(mapping))
    assert evidence.model.sources[0].why == f"a mapping was given: {mapping.sha256}"
