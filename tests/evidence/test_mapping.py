from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from mutants import mutants

from averment.errors import DocumentError, EvidenceError
from averment.evidence import Evidence
from averment.evidence.mapping import (
    Answers,
    Calls,
    Channel,
    Mapping,
    Rule,
    Spans,
    Turns,
    mapped,
    mapping_schema,
)
from averment.evidence.pointers import ABSENT, Pointer, fault_in
from averment.text.source import read_source
from samples import counts, sample

Judge = Callable[..., Any]
SAMPLES = {"acme": "acme.json", "rows": "rows.jsonl", "messages": "messages.jsonl"}
SCHEMA = jsonschema.Draft202012Validator(mapping_schema())

TURNS = {"where": {"/is": "turn"}, "role": "/who", "text": "/text"}
CALLS = {"where": {"/is": "call"}, "name": "/tool", "arguments": "/args"}
EVERY_CALL_CHANNEL = ("requests", "executions", "results", "errors")


def mapping(**fields: Any) -> Mapping:
    """A mapping with these fields, of a list of items."""
    return Mapping.of({"version": 1, "name": "m", "lines": "items", **fields})


def read(items: Any, **fields: Any) -> Evidence:
    """The evidence of one conversation of these items, by a mapping with these fields."""
    return Evidence.from_bytes(json.dumps(items).encode(), from_format=mapped(mapping(**fields)))


def turn(who: str = "user", text: Any = "hello", **more: Any) -> dict[str, Any]:
    """An item that is an utterance."""
    return {"is": "turn", "who": who, "text": text, **more}


def call(tool: str = "refund", **more: Any) -> dict[str, Any]:
    """An item that is a call."""
    return {"is": "call", "tool": tool, "args": {"order": "A-17"}, **more}


def loaded(name: str) -> list[Evidence]:
    """The conversations of a sample, by its mapping."""
    form = mapped(Mapping.load(sample(f"mapping/{name}.yaml")))
    return Evidence.load_all(sample(f"mapping/{SAMPLES[name]}"), from_format=form)


def state(evidence: Evidence, channel: str) -> str:
    """The state of a channel."""
    found: str = getattr(evidence.model.coverage, channel).state
    return found


def notes(evidence: Evidence, code: str) -> list[str]:
    """What notes of that code say."""
    return [note.detail for note in evidence.model.notes if note.code == code]


def refusals(text: str) -> list[tuple[str, str | None]]:
    """The mistakes of a mapping, as code and path."""
    with pytest.raises(DocumentError) as caught:
        Mapping.parse(text, "m.yaml")
    return [(problem.code, problem.path) for problem in caught.value.problems]


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


# What can be shown


def test_an_item_that_no_rule_takes_leaves_open_what_it_is(judge: Judge) -> None:
    """An unknown event may be the call that must not be there: it is mapped, ignored or declared away."""
    assertion = {"kind": "tool_call", "name": "refund", "absent": True}
    rules: dict[str, Any] = {"turns": TURNS, "calls": {**CALLS, "result": "/gave"}}
    items = [turn(), {"is": "call2", "tool": "refund"}]
    evidence = read(items, **rules)
    result = judge(assertion, evidence)
    assert (result["status"], result["evidence_gap"]["state"]) == ("INCONCLUSIVE", "partial")
    assert "`ignore`" in result["evidence_gap"]["how"]
    assert notes(evidence, "item_not_taken") == ["no rule of the mapping takes an item"]
    assert judge(assertion, read(items, ignore={"/is": "call2"}, **rules))["status"] == "PASS"
    shows = ["transcript", "requests", "executions", "results"]
    assert judge(assertion, read(items, shows=shows, **rules))["status"] == "PASS"


def test_what_is_mapped_and_not_declared_proves_only_what_it_shows(judge: Judge) -> None:
    """With `shows`, a channel that it leaves out can have what is there, and never lacks anything for sure."""
    rules: dict[str, Any] = {
        "turns": TURNS,
        "calls": {**CALLS, "result": "/gave"},
        "spans": {"type": "handoff", "where": {"/is": "pass"}, "fields": {"to": "/to"}},
    }
    shows = ["transcript", "requests", "executions", "results"]
    evidence = read([turn(), {"is": "pass", "to": "desk"}], shows=shows, **rules)
    assert state(evidence, "handoff") == "partial"
    assert judge({"kind": "handoff", "to": "desk"}, evidence)["status"] == "PASS"
    assert judge({"kind": "handoff", "to": "boss"}, evidence)["status"] == "INCONCLUSIVE"


def test_a_list_that_is_not_there_is_absent_and_not_empty() -> None:
    """Null and nothing are not recorded; an empty list is recorded."""
    fields = {"lines": "conversations", "turns": {"items": "/log", **TURNS}}
    missing: list[dict[str, Any]] = [{"other": 1}, {"log": None}, {"log": {}}]
    for value in missing:
        evidence = read(value, **fields)
        assert (evidence.model.turns, state(evidence, "transcript")) == (None, "absent")
        assert notes(evidence, "pointer_matches_nothing")
    evidence = read({"log": []}, **fields)
    assert (evidence.model.turns, state(evidence, "transcript")) == ((), "empty")


def test_a_misspelt_pointer_is_noted() -> None:
    """A pointer that leads nowhere in any of the items that its rule takes."""
    evidence = read([turn(), turn()], turns={**TURNS, "role": "/wo"})
    assert notes(evidence, "pointer_matches_nothing") == [
        "`turns`: `role` is not at `/wo` in any of the 2 items that the rule takes"
    ]
    evidence = read([turn()], turns=TURNS, calls={**CALLS, "where": {"/si": "call"}})
    assert "`calls`: `where` finds nothing at `/si` in any item" in notes(evidence, "pointer_matches_nothing")
    assert state(evidence, "requests") == "partial"


def test_a_list_that_no_item_has_is_open_until_it_is_declared(judge: Judge) -> None:
    """A conversation without calls has no `/calls` in its items, and so has one whose pointer is misspelt."""
    rules: dict[str, Any] = {
        "turns": TURNS,
        "calls": {"each": "/calls", "name": "/tool", "result": "/gave"},
    }
    assertion = {"kind": "tool_call", "name": "refund", "absent": True}
    assert judge(assertion, read([turn()], **rules))["status"] == "INCONCLUSIVE"
    shows = ["transcript", "requests", "executions", "results"]
    assert judge(assertion, read([turn()], shows=shows, **rules))["status"] == "PASS"
    assert judge(assertion, read([turn(calls=[])], **rules))["status"] == "PASS"


def test_turns_and_calls_of_several_lists_have_no_order_but_that_of_times() -> None:
    """Which came first can't be told from two lists."""
    value = {"said": [turn()], "done": [call(gave=1)]}
    evidence = read(
        value,
        lines="conversations",
        turns={"items": "/said", **TURNS},
        calls={"items": "/done", **CALLS, "result": "/gave"},
    )
    assert [each.seq for each in evidence.model.turns or ()] == [None]
    assert [each.seq for each in evidence.model.calls or ()] == [None]


def test_a_declared_channel_is_absent_where_its_list_is_not_there() -> None:
    """`shows` speaks of the source; a conversation without the list was cut, or the pointer is misspelt."""
    evidence = read(
        {"log": [turn()]},
        lines="conversations",
        turns={"items": "/log", **TURNS},
        calls={"items": "/lg", "each": "/calls", "name": "/tool", "result": "/gave"},
        shows=["transcript", "requests", "executions", "results"],
    )
    assert evidence.model.calls is None
    assert [state(evidence, channel) for channel in EVERY_CALL_CHANNEL] == ["absent"] * 4


def test_an_answer_without_a_call_is_a_call_at_its_place() -> None:
    """Its arguments are not recorded; in the same list it has its place among turns."""
    answers = {"where": {"/is": "answer"}, "id": "/id", "name": "/tool", "result": "/gave"}
    items = [turn(), {"is": "answer", "id": 3, "tool": "refund", "gave": 1}, turn("agent")]
    evidence = read(items, turns=TURNS, calls={**CALLS, "id": "/id"}, answers=answers)
    (found,) = evidence.model.calls or ()
    assert (found.name, found.args_state, found.seq) == ("refund", "absent", 1)
    assert notes(evidence, "result_without_call")


def test_a_conversation_reads_alike_in_a_file_of_its_own_and_in_a_batch() -> None:
    """What is decided about a conversation hangs on nothing else."""
    form = mapped(Mapping.load(sample("mapping/acme.yaml")))
    sessions = json.loads(sample("mapping/acme.json").read_text())["sessions"]
    for whole, session in zip(loaded("acme"), sessions, strict=True):
        alone = Evidence.from_bytes(json.dumps({"sessions": [session]}).encode(), from_format=form)
        assert alone.sha256 == whole.sha256


@pytest.mark.parametrize("name", SAMPLES)
def test_every_record_is_accounted_for(name: str) -> None:
    """Records that are not read stand in a note: ignored, or taken by no rule."""
    for evidence in loaded(name):
        source = evidence.model.sources[0]
        assert source.records is not None
        assert source.records_read is not None
        unread = len(notes(evidence, "item_not_taken"))
        unread += sum("ignores" in detail for detail in notes(evidence, "dropped_key"))
        assert source.records - source.records_read == unread


def test_what_stands_beside_the_mapped_is_counted() -> None:
    """Keys of items that no pointer looks at; an item that is taken whole has none."""
    evidence = read([turn(extra=1), turn(extra=2)], turns=TURNS)
    assert notes(evidence, "dropped_key") == ["`extra` is not read (2 times)"]
    evidence = read([call(extra=1)], calls={**CALLS, "arguments": ""})
    assert notes(evidence, "dropped_key") == []


# Mapping files


def test_a_mapping_is_read_from_yaml_and_json_and_has_one_digest(tmp_path: Path) -> None:
    """The digest is of what it says."""
    path = tmp_path / "acme.json"
    path.write_text(json.dumps(read_source(sample("mapping/acme.yaml").read_bytes()).value))
    assert Mapping.load(path).sha256 == Mapping.load(sample("mapping/acme.yaml")).sha256
    assert Mapping.load(path).sha256 != mapping(turns=TURNS).sha256


def test_all_mistakes_are_reported_at_once() -> None:
    """With line and column, what was expected and found, and the nearest name."""
    text = (
        "version: 1\nname: acme\nturns:\n  items: events\n  text: /text\n  start: /at\n"
        "  role: {pointer: /who, values: {bot: agnet}}\nshows: [timing]\n"
    )
    with pytest.raises(DocumentError) as caught:
        Mapping.parse(text, "acme.yaml")
    found = [(each.code, each.line, each.column, each.path, each.nearest) for each in caught.value.problems]
    assert found == [
        ("wrong_pointer", 4, 10, "$.turns.items", "/events"),
        ("missing_field", 6, 10, "$.turns.start", None),
        ("not_allowed", 7, 39, "$.turns.role.values.bot", "agent"),
        ("not_allowed", 8, 9, "$.shows[0]", None),
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("{}", ("missing_field", "$")),
        ("turn: {text: /t}", ("unknown_field", "$.turn")),
        ("turns: {text: /t, starts: /at}", ("unknown_field", "$.turns.starts")),
        ("turns: {role: /r}", ("missing_field", "$.turns")),
        ("turns: {text: 5}", ("wrong_type", "$.turns.text")),
        ("turns: {text: []}", ("empty_value", "$.turns.text")),
        ("turns: {text: [/a, b]}", ("wrong_pointer", "$.turns.text[1]")),
        ("turns: {text: /a~2}", ("wrong_pointer", "$.turns.text")),
        ("turns: {text: {const: 5}}", ("not_allowed", "$.turns.text.const")),
        ("turns: {text: {}}", ("fields_exclude", "$.turns.text")),
        ("turns: {text: {pointer: /a, const: b}}", ("fields_exclude", "$.turns.text")),
        ("turns: {text: {const: b, values: {}}}", ("fields_exclude", "$.turns.text.values")),
        ("turns: {text: {outer: /a}}", ("fields_exclude", "$.turns.text.outer")),
        ("turns: {text: {pointer: /a, unit: ms}}", ("unknown_field", "$.turns.text.unit")),
        ("turns: {text: /t, final: {const: 1}}", ("not_allowed", "$.turns.final.const")),
        ("turns: {text: /t, where: {a: 1}}", ("wrong_pointer", "$.turns.where.a")),
        ("turns: {text: /t, where: {/a: []}}", ("empty_value", '$.turns.where["/a"]')),
        ("turns: {text: /t, where: {/a: {}}}", ("fields_exclude", '$.turns.where["/a"]')),
        ("turns: {text: /t, start: /s}\nunit: ms", ("missing_field", "$.turns.start")),
        ("turns: {text: /t, start: /s}\nclock: epoch", ("missing_field", "$.turns.start")),
        ("turns: {text: /t, duration: /s}\nunit: iso", ("missing_field", "$.turns.duration")),
        ("turns: {text: /t}\nunit: iso\nclock: monotonic", ("fields_exclude", "$.clock")),
        ("calls: {name: /n, status: {const: fine}}", ("not_allowed", "$.calls.status.const")),
        ("calls: {name: /n, requestor: {const: bot}}", ("not_allowed", "$.calls.requestor.const")),
        ("answers: {id: /i, result: /r}", ("missing_field", "$.answers")),
        (
            "calls: {name: /n, id: /i}\nanswers: {items: /o, result: /r}",
            ("missing_field", "$.answers"),
        ),
        ("spans: {type: handof}", ("not_allowed", "$.spans.type")),
        ("spans: {type: handoff, fields: {to: x}}", ("wrong_pointer", "$.spans.fields.to")),
        ("turns: {text: /t}\nignore: {}", ("empty_value", "$.ignore")),
        ("turns: {text: /t}\ngroup_by: ''", ("empty_value", "$.group_by")),
        ("turns: {text: /t}\nmetadata: {a: b}", ("wrong_pointer", "$.metadata.a")),
        ("turns: {text: /t}\nshows: [results]", ("not_allowed", "$.shows[0]")),
    ],
)
def test_mistakes_are_refused(fields: str, expected: tuple[str, str]) -> None:
    """Each mistake at its place."""
    text = "version: 1\nname: m\n" + ("" if fields == "{}" else fields)
    code, path = expected
    assert refusals(text) == [(code, None if path == "$" else path)]


def test_a_name_that_can_not_be_one_of_a_format_is_refused() -> None:
    """It stands in every source and every gap."""
    assert refusals("version: 1\nname: a b\nturns: {text: /t}") == [("wrong_value", "$.name")]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_schema_takes_what_the_check_takes(name: str) -> None:
    """An editor accepts what is accepted."""
    SCHEMA.validate(read_source(sample(f"mapping/{name}.yaml").read_bytes()).value)


@pytest.mark.parametrize(
    "fields",
    [
        {"turn": {}},
        {"turns": {"text": "t"}},
        {"turns": {"text": "/t", "where": {"a": 1}}},
        {"turns": {"text": "/t", "txt": "/t"}},
        {"spans": {"type": "handof"}},
        {"shows": ["calls"]},
        {"name": "a b"},
    ],
)
def test_the_schema_marks_what_the_check_refuses(fields: dict[str, Any]) -> None:
    """An editor marks misspelt names, pointers that are none, and values that are not allowed."""
    value = {"version": 1, "name": "m", "turns": {"text": "/t"}, **fields}
    assert not SCHEMA.is_valid(value)
    with pytest.raises(DocumentError):
        Mapping.of(value)


def test_every_field_has_a_description() -> None:
    """Editors show what a field is for."""
    schema = mapping_schema()
    for name, definition in {"Mapping": schema, **schema["$defs"]}.items():
        bare = [key for key, field in definition["properties"].items() if not field.get("description")]
        assert not bare, name


def test_the_page_on_mapping_names_every_field_note_and_channel() -> None:
    """Whatever can be written, and whatever is noted, is explained."""
    page = (Path(__file__).parents[2] / "docs" / "map-a-format.md").read_text(encoding="utf-8")
    fields = {name for kind in (Mapping, Turns, Calls, Answers, Spans) for name in kind.__struct_fields__}
    assert [name for name in sorted(fields) if f"`{name}`" not in page] == []
    assert [
        name for name in ("pointer", "outer", "const", "values", "default", "unit") if name not in page
    ] == []
    assert [channel for channel in get_args(Channel) if channel not in page] == []


def test_rules_name_what_they_map() -> None:
    """What is no value of an item is no field that can be found."""
    assert Rule.field_names() == ()


# Pointers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "whole"),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/i\\j", 5),
        ('/k"l', 6),
        ("/ ", 7),
        ("/m~0n", 8),
        ("/~01", 9),
        ("/foo/2", ABSENT),
        ("/foo/-", ABSENT),
        ("/foo/00", ABSENT),
        ("/foo/bar", ABSENT),
        ("/foo/0/x", ABSENT),
        ("/none", ABSENT),
        ("/null", None),
        ("/null/x", ABSENT),
    ],
)
def test_pointers_are_those_of_rfc_6901(text: str, expected: Any) -> None:
    """The examples of its section 5, and what is not there."""
    value = {
        "foo": ["bar", "baz"],
        "": 0,
        "a/b": 1,
        "c%d": 2,
        "i\\j": 5,
        'k"l': 6,
        " ": 7,
        "m~n": 8,
        "~1": 9,
        "null": None,
    }
    assert fault_in(text) is None
    found = Pointer.of(text).find(value)
    assert found == (value if expected == "whole" else expected)
    if found is not ABSENT:
        inner: Any = value
        for step in Pointer.of(text).path(value):
            inner = inner[step]
        assert inner == found


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


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["/a", "", "a", "~", "iso", "agent"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["items", "text", "where", "pointer", "const", "values", "/a", "type", "name", "id"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(Mapping.__struct_fields__), _PLAIN, max_size=6))
@settings(max_examples=200, deadline=None)
def test_any_mapping_is_taken_or_refused(fields: dict[str, Any]) -> None:
    """Whatever stands in a mapping file, its mistakes are reported; and what the schema marks, the check refuses."""
    value = {"version": 1, "name": "m", "turns": {"text": "/t"}, **fields}
    try:
        found = Mapping.of(value)
    except DocumentError:
        return
    assert SCHEMA.is_valid(value)
    assert msgspec.convert(msgspec.to_builtins(found), Mapping) == found


def test_the_source_says_which_mapping_it_was_read_by() -> None:
    """By the digest of what the mapping says, since names of files say nothing."""
    mapping = Mapping.of({"version": 1, "name": "acme", "turns": {"items": "/said", "text": "/t"}})
    evidence = Evidence.from_value({"said": [{"t": "hello"}]}, from_format=mapped(mapping))
    assert evidence.model.sources[0].why == f"a mapping was given: {mapping.sha256}"
