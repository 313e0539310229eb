from __future__ import annotations

from collections.abc import Callable
from typing import Any

import averment
from averment.report.html import budget
from averment.report.html.budget import LEVELS, MANY, Budget
from averment.report.html.conversation import Conversation, Level, conversation, transcript_only
from averment.verdicts.judged import Judged

WHOLE = LEVELS[0]
PASSES = {"kind": "phrase", "regex": "hello"}
FAILS = {"kind": "count", "phrase": "turn 7 ", "count": 0}

Entries = Callable[..., Judged]


def made(level: Level = WHOLE, wanted: tuple[str, ...] = (), **record: Any) -> Conversation:
    return conversation(averment.Evidence.from_record(record).model, "", level, wanted)


def talk(turns: int, words: int = 1) -> list[dict[str, str]]:
    return [{"role": "agent", "text": f"turn {index} " + "hello " * words} for index in range(turns)]


def test_turns_calls_and_spans_stand_in_one_order() -> None:
    """By time where there is one clock; a span that is a call's execution stands as the call."""
    shown = made(
        transcript=[
            {"role": "caller", "text": "Hi.", "start": 0, "end": 1},
            {"role": "agent", "text": "Yes?", "start": 5, "end": 6},
        ],
        spans=[
            {
                "type": "tool_call",
                "span_id": "x1",
                "name": "look",
                "arguments": {"id": 1},
                "result": {"ok": True},
                "start_sec": 3,
                "end_sec": 4,
            },
            {"type": "handoff", "span_id": "x2", "to": "human", "start_sec": 7, "end_sec": 7},
        ],
    )
    assert [(item.anchor, item.lane, item.name, item.time) for item in shown.items] == [
        ("t-0", "other", "caller", "0:00"),
        ("c-0", "call", "look", "0:03"),
        ("t-1", "agent", "agent", "0:05"),
        ("s-1", "span", "handoff", "0:07"),
    ]
    assert shown.anchors.spans == {"x1": ["c-0"], "x2": ["s-1"]}
    assert shown.counts == "2 turns, 1 tool call, 1 other span"
    call, span = shown.items[1], shown.items[3]
    assert call.args is not None
    assert call.result is not None
    assert span.text is not None
    assert (call.args.text, call.result.text) == ('{ "id": 1 }', '{ "ok": true }')
    assert "human" in span.text.text


def test_long_texts_are_cut_and_say_by_how_much() -> None:
    """At most so many characters of each text, what is cut counted."""
    shown = made(transcript=[{"role": "a", "text": "x" * 5000}])
    text = shown.items[0].text
    assert text is not None
    assert (len(text.text), text.cut) == (4000, 1000)


def test_a_level_may_keep_only_what_results_rest_on() -> None:
    """With its neighbours, the others counted where they are left out."""
    shown = made(Level(text=100, spans=0, around=1), ("t-3",), transcript=talk(10))
    assert [(item.label, item.left_out) for item in shown.items] == [
        ("turn 2", 2),
        ("turn 3", 0),
        ("turn 4", 0),
    ]
    assert shown.left_out == 5


def test_a_transcript_alone_has_turns_only() -> None:
    """What an envelope carries, as far as it can be read."""
    turns = [{"role": "agent", "text": "Hi.", "start": 64.5}, "?", {"role": None, "text": "Yes."}]
    shown = transcript_only(turns, "k", WHOLE)
    assert shown is not None
    assert [(item.anchor, item.name, item.time) for item in shown.items] == [
        ("t-k-0", "agent", "1:04"),
        ("t-k-2", "nobody", None),
    ]
    assert shown.anchors.turns == {0: "t-k-0", 2: "t-k-2"}
    assert transcript_only("#/redacted_transcript", "", WHOLE) is None
    assert transcript_only([], "", WHOLE) is None


def size(shown: Conversation) -> int:
    return sum(100 + (len(item.text.text) if item.text else 0) for item in shown.items)


def test_where_there_is_room_everything_is_shown(entry_of: Entries) -> None:
    """One usual conversation is whole."""
    shown = Budget([entry_of([PASSES], transcript=talk(5))], [""], size).conversation(0)
    assert shown is not None
    assert len(shown.items) == 5


def test_a_conversation_too_large_is_shown_in_shorter_texts(entry_of: Entries, monkeypatch: Any) -> None:
    """First texts are cut shorter, then only what results rest on is kept; grounds are never lost while anything is."""
    entry = entry_of([FAILS], transcript=talk(50, words=400))
    found = []
    for room in (1_000_000, 60_000, 30_000, 6_000, 900, 100):
        monkeypatch.setattr(budget, "LARGEST", room)
        made_ = Budget([entry], [""], size)
        shown = made_.conversation(0)
        texts = 0 if shown is None else max(len(item.text.text) for item in shown.items if item.text)
        found.append((0 if shown is None else len(shown.items), texts))
        assert shown is None or "t-7" in {item.anchor for item in shown.items}
    assert found == [(50, 2408), (50, 1000), (50, 400), (5, 1000), (3, 200), (0, 0)]
    assert made_.dropped == 1
    assert "left out to keep the page small" in (made_.missing(0) or "")


def test_among_many_conversations_those_that_passed_give_way(entry_of: Entries) -> None:
    """Up to so many all are shown; beyond, those without a failure keep only their cards, and that is said."""
    passing = [entry_of([PASSES], transcript=talk(2), conversation=str(index)) for index in range(MANY)]
    failing = entry_of([FAILS], transcript=talk(9), conversation="bad")
    few = Budget(passing, [str(index) for index in range(MANY)], size)
    assert few.dropped == 0
    many = Budget([failing, *passing], [str(index) for index in range(MANY + 1)], size)
    assert many.dropped == MANY
    assert many.conversation(0) is not None
    assert many.missing(0) is None
    assert many.conversation(1) is None
    assert "Everything passed here" in (many.missing(1) or "")


def test_all_conversations_together_are_bounded(entry_of: Entries, monkeypatch: Any) -> None:
    """Room is shared by what is shown; what one does not need is left to the next."""
    monkeypatch.setattr(budget, "CONVERSATIONS", 20_000)
    entries = [entry_of([FAILS], transcript=talk(10, words=1 if index else 900)) for index in range(4)]
    made_ = Budget(entries, [str(index) for index in range(4)], size)
    shown = [made_.conversation(index) for index in range(4)]
    assert all(each is not None and len(each.items) == 10 for each in shown[1:])
    assert sum(size(each) for each in shown if each is not None) <= 20_000
