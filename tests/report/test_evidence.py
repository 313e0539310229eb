from __future__ import annotations

import json
import time
from typing import Any

import pytest

from averment.evidence import Evidence
from averment.report.evidence import as_object, as_text, listed, timeline
from averment.text.jsontext import canonical

SECRETS = ("4111 1111 1111 1111", "123-45-6789", "jane@example.com", "415-555-0123")
SECRET = " ".join(SECRETS)
ESCAPE = "\x1b[2J\u202e"


def made(**fields: Any) -> Evidence:
    record = {"schema": "averment.evidence.v1", "coverage": {}, **fields}
    return Evidence.from_bytes(json.dumps(record).encode())


def turn(text: str, **fields: Any) -> dict[str, Any]:
    return {"id": f"t{text}", "role": "user", "role_raw": "user", "text": text, "loc": "src_0#$", **fields}


def call(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "name": name, "status": "ok", "args": {}, **fields}


CHAT = [
    {"role": "user", "content": "a refund"},
    {
        "role": "assistant",
        "content": "one moment",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "pay", "arguments": '{"n": 1}'}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "paid"},
    {"role": "assistant", "content": "done", "extra": 1},
]


def test_a_summary_says_what_was_read_and_how() -> None:
    """Format and why, digest, counts, coverage with what to switch on, the timeline in order, notes, and how much."""
    evidence = Evidence.from_bytes(json.dumps(CHAT).encode(), name="chat.json")
    lines = as_text(evidence, "chat.json").splitlines()
    assert lines[0] == "chat.json"
    assert lines[1].split() == ["format", "openai_chat", *lines[1].split()[2:]]
    assert "(" in lines[1]
    assert "  read          4 of 4 records" in lines
    assert f"  evidence      {evidence.sha256}" in lines
    assert "  holds         3 turns, 1 tool call (1 executed), 1 result" in lines
    coverage = lines[lines.index("coverage") + 1 :]
    assert coverage[0].split() == ["transcript", "present"]
    errors = next(index for index, line in enumerate(coverage) if line.split()[:1] == ["errors"])
    assert coverage[errors].split()[1] == "partial:"
    assert coverage[errors + 1].strip().startswith("> ")
    happened = lines[lines.index("timeline") + 1 : lines.index("timeline") + 5]
    assert [line.split()[1] for line in happened] == ["user", "assistant", "call", "assistant"]
    assert 'pay {"n":1} -> "paid"  [executed]' in happened[2]
    assert lines[-1].strip().startswith("info dropped_key  src_0#$[3]: `extra` is not read")


def test_a_summary_for_programs_says_the_same() -> None:
    """Canonical JSON, with the places of things."""
    evidence = Evidence.from_bytes(json.dumps(CHAT).encode(), name="chat.json")
    summary = json.loads(canonical(as_object(evidence, "chat.json")))
    assert (summary["schema"], summary["name"]) == ("averment.evidence_summary.v1", "chat.json")
    assert summary["evidence_sha256"] == evidence.sha256
    source = summary["sources"][0]
    assert (source["format"], source["records"], source["records_read"]) == ("openai_chat", 4, 4)
    assert source["why"]
    assert source["sha256"].startswith("sha256:")
    assert summary["counts"]["tool_calls"] == 1
    assert summary["coverage"]["errors"].keys() == {"state", "reason", "how"}
    assert "speakers" not in summary["coverage"], "it speaks of gaps alone"
    assert ["tool_call" in entry for entry in summary["timeline"]] == [False, False, True, False]
    assert [note["code"] for note in summary["notes"]] == ["dropped_key"]


def test_nothing_is_something_to_say() -> None:
    """Evidence that holds nothing has a summary, too."""
    text = as_text(made(), "x")
    assert "  (nothing)" in text
    assert "notes" not in text


def everywhere(text: str) -> Evidence:
    """Evidence that holds the text wherever an evidence file can."""
    return made(
        conversation_id=text,
        turns=[turn(text, role_raw=text, speaker=text)],
        calls=[
            call(text, result=text, error=text, span_id=text, position=0, loc=text),
            call("x", args={text: text}),
        ],
        spans=[
            {"id": text, "type": text, "name": text, "loc": text},
            {"id": "y", "type": text, "name": text, "loc": text},
        ],
        coverage={"transcript": {"state": "partial", "reason": text, "how": text}},
        notes=[{"code": text, "severity": "info", "loc": text, "detail": text}],
        sources=[
            {
                "id": text,
                "format": text,
                "reader": text,
                "name": text,
                "why": text,
                "sha256": text,
                "bytes": 1,
            }
        ],
    )


def test_personal_data_is_in_no_summary() -> None:
    """Whatever field it stands in."""
    evidence = everywhere(SECRET)
    shown = [as_text(evidence, "x"), listed([evidence], "x"), canonical(as_object(evidence, "x")).decode()]
    for text in shown:
        for secret in SECRETS:
            assert secret not in text


def test_what_steers_a_terminal_is_in_no_text() -> None:
    """Control characters and changes of direction are escaped."""
    evidence = everywhere(ESCAPE)
    for text in (as_text(evidence, "x"), listed([evidence], "x")):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert all(char.isprintable() or char == "\n" for char in text)


def test_long_conversations_are_cut_for_people_and_whole_for_programs() -> None:
    """With how many are left out, of events and of notes."""
    notes = [{"code": "n", "severity": "info", "loc": "src_0#$", "detail": "d"}] * 50
    evidence = made(turns=[turn(str(number)) for number in range(300)], notes=notes)
    text = as_text(evidence, "x")
    assert "  ... and 100 more; `--format json` has them all" in text
    assert "  ... and 10 more; `--format json` has them all" in text
    assert "and 100 more" not in as_text(evidence, "x", events=None)
    summary = as_object(evidence, "x")
    assert (len(summary["timeline"]), len(summary["notes"])) == (300, 50)


def test_a_list_names_every_conversation_and_how_to_see_one() -> None:
    """By its id, or by `#` and its index; of very many the first ones."""
    text = listed([made(conversation_id="c"), made(turns=[turn("a")])], "many.jsonl")
    assert text.splitlines() == [
        "many.jsonl holds 2 conversations; `--conversation ID` shows one, `--all` every one",
        "  c  nothing",
        "  #1  1 turn",
    ]
    assert listed([made()] * 250, "x").splitlines()[-1] == "  ... and 50 more"


@pytest.mark.parametrize(
    ("start", "clock", "shown"),
    [
        (1_500_000_000, "call_relative", "1.500"),
        (-1_500_000_000, "call_relative", "-1.500"),
        (1_704_067_199_999_000_000, "epoch", "23:59:59.9"),
        (0, "epoch", "00:00:00.0"),
        (-1, "epoch", "23:59:59.9"),
        (-(2**63), "epoch", "00:12:43.1"),
        (2**63 - 1, "monotonic", "9223372036.855"),
    ],
)
def test_times_are_shown_by_their_clocks(start: int, clock: str, shown: str) -> None:
    """Seconds since the start, or the time of day in UTC; a minute has no sixtieth second."""
    text = as_text(made(turns=[turn("a", start_ns=start, clock=clock)]), "x")
    assert f"{shown:>10}  user" in text


def test_a_timeline_follows_the_order_or_the_clock_and_nothing_else() -> None:
    """Where there is neither: turns, calls, then spans that show no call."""

    def order(**fields: Any) -> list[str]:
        return [thing.id for thing in timeline(made(**fields).model)]

    spans = [{"id": "s", "type": "tool_call", "loc": "l"}, {"id": "d", "type": "dtmf", "loc": "l"}]
    shown = call("c", span_id="s", position=0)
    assert order(turns=[turn("a")], calls=[shown], spans=spans) == ["ta", "c", "d"]
    assert order(turns=[turn("a", seq=1)], calls=[call("c", seq=0)]) == ["c", "ta"]
    timed: dict[str, Any] = {"start_ns": 5, "clock": "epoch"}
    late = [{**spans[1], "start_ns": 1, "clock": "epoch"}]
    assert order(turns=[turn("a", **timed)], calls=[call("c", start_ns=3, clock="epoch")], spans=late) == [
        "d",
        "c",
        "ta",
    ]
    assert order(turns=[turn("a", **timed)], calls=[call("c", start_ns=3, clock="monotonic")]) == ["ta", "c"]


def test_marks_of_turns_and_of_calls_are_shown() -> None:
    """A prompt, an interruption, who asked, and arguments that are not known."""
    text = as_text(
        made(
            turns=[turn("a", said=False), turn("b", interrupted=True)],
            calls=[
                {
                    "id": "x",
                    "name": "pay",
                    "status": "unanswered",
                    "requestor": "user",
                    "args_state": "absent",
                },
                {"id": "y", "status": "error", "args_raw": "{", "args_error": "json_truncated", "error": "e"},
            ],
        ),
        "x",
    )
    assert '"a" (prompt)' in text
    assert '"b" (interrupted)' in text
    assert "pay (arguments not recorded)  [unanswered by user]" in text
    assert '? (arguments that can\'t be read: {), error "e"  [error]' in text


def test_a_summary_takes_linear_time() -> None:
    """Ten times the turns take about ten times as long."""

    def seconds(count: int) -> float:
        evidence = made(turns=[turn(str(number)) for number in range(count)])
        start = time.process_time()
        as_text(evidence, "x", events=None)
        as_object(evidence, "x")
        return time.process_time() - start

    assert min(seconds(10_000) for _ in range(3)) < 40 * max(seconds(1_000), 0.005)
