from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from averment.documents import Document
from averment.engine import Envelope, compile_plan, run, unproduced
from averment.evidence import Evidence
from averment.report.look import PLAIN, Look
from averment.report.summary import Summary
from averment.report.terminal import card, render
from averment.verdicts.judged import Case

HOSTILE = {
    "a command": "::error file=x::stop",
    "a command after spaces": "   ::add-mask::secret",
    "an old command": "it says ##[error]stop",
    "a command on the next line": "first\n::stop-commands::x\r\n##[group]y",
    "ANSI": "\x1b]0;title\x07\x1b[2J\x1b[31mred\x9b1m",
    "bidi": "\u202egnp.exe\u2066 \u200f\u061c",
    "NUL": "a\0b\x08\x7f\x85",
    "separators": "a\u2028::error::b\u2029c\u00a0d\u3000e",
    "a lone surrogate": "a\ud800b",
    "markup": "[red]</script>]]><b>&amp;{7*7}",
    "a long word": "w" * 1_000_000,
}
ANSI = re.compile("\x1b\\[[0-9;]*m")
LOOKS = [PLAIN, Look(color=True), Look(width=60), Look(color=True, width=60)]


def document(text: str, **more: Any) -> Document:
    """Kinds of all sorts, with the text in every field that takes any."""
    text = text.replace("\ud800", "?")  # documents with halves of characters are refused
    common = {"description": text, "owner": text, "tags": [text]}
    assertions = [
        {"id": f"{text}1", "kind": "phrase", "regex": ".", **common},
        {"id": f"{text}2", "kind": "phrase", "regex": ".", "absent": True, "severity": "warning", **common},
        {"id": f"{text}3", "kind": "tool_call", "name": text, "args": {text: text}, "when": f"{text}1"},
        {"id": f"{text}4", "kind": "tool_call", "name": text, "args": {text: "other"}, **common},
        {"id": f"{text}5", "kind": "latency", "tool": text, "max_ms": 1},
        {"id": f"{text}6", "kind": "count", "tool": text, "count": {"min": 9}},
        {"id": f"{text}7", "kind": "state", "resource": "rows", "filters": {"a": 1}, "expect": {"b": text}},
        {"id": f"{text}8", "kind": "phrase", "regex": "never", "applies_if": {"labels": {"a": text}}},
        {"id": f"{text}10", "kind": "phrase", "regex": ".", "when": f"{text}4"},
        {"id": f"{text}9", "kind": "pii", "detectors": ["email"], "mode": "must_not_leak"},
    ]
    return Document.of({"version": 1, "assertions": assertions, **more})


def evidence(text: str) -> Evidence:
    """A conversation with the text in every field that takes any."""
    call = {"type": "tool_call", "span_id": text, "name": text, "id": text, "start_sec": 0, "end_sec": 1}
    record = {
        "conversation_id": text,
        "transcript": [{"role": text, "text": text}, {"role": "agent", "text": text}],
        "spans": [{**call, "arguments": {text: text}, "result": {text: text}}],
        "state": {"rows": [{"a": 1, "b": f"{text}?", text: text}]},
        "labels": {"a": text},
    }
    return Evidence.from_bytes(json.dumps(record).encode())


def assert_harmless(text: str) -> None:
    """Nothing in it does anything: to a terminal, or in a step of GitHub Actions."""
    text.encode("utf-8")
    bare = ANSI.sub("", text)
    assert all(char.isprintable() or char == "\n" for char in bare)
    for line in bare.split("\n"):
        assert not line.strip().startswith("::"), line
    assert "##[" not in bare
    assert "##[" not in text
    assert max(map(len, bare.split("\n"))) < 3000
    assert len(bare) < 40_000


@pytest.fixture(params=HOSTILE)
def hostile(request: pytest.FixtureRequest) -> str:
    return HOSTILE[request.param]


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_hostile_strings_come_out_as_text(hostile: str, look: Look) -> None:
    """In every field of a document and of evidence, and in names: visible, cut, and no command to anybody."""
    checked, recorded = document(hostile), evidence(hostile)
    envelope = run(checked, recorded)
    statuses = {result.status.value for result in envelope.results}
    assert statuses == {"PASS", "FAIL", "INCONCLUSIVE"}
    for verbose in (False, True):
        assert_harmless(render(envelope, checked, recorded.model, source=hostile, look=look, verbose=verbose))
    if look == PLAIN:
        for index in range(len(envelope.results)):
            assert_harmless(card(envelope, checked, recorded.model, index))


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_hostile_strings_come_out_as_text_of_many_conversations(hostile: str, look: Look) -> None:
    """In the closing summary too, for names of suites and cases as well."""
    checked, recorded = document(hostile), evidence(hostile)
    envelope = run(checked, recorded)
    for count in (3, 30):
        summary = Summary()
        for number in range(1, count + 1):
            case = Case(suite=hostile, name=hostile, repeat=number, repeats=count)
            summary.add(envelope, checked, hostile, case)
        summary.add(envelope, checked, hostile)
        for quiet in (False, True):
            assert_harmless(summary.render(look, quiet=quiet))


def test_what_is_hostile_can_still_be_read() -> None:
    """Escaped, not left out."""
    checked = document("a\x1b[2Jb")
    text = render(run(checked, evidence("c\0d")), checked, evidence("c\0d").model)
    assert "a\\u001b[2Jb1" in text
    assert "c\\u0000d" in text


def judged(*assertions: Mapping[str, Any], **record: Any) -> tuple[Envelope, Document, Evidence]:
    items = [{"id": f"a{index}", **assertion} for index, assertion in enumerate(assertions)]
    checked = Document.parse(json.dumps({"version": 1, "assertions": items}), name="d.json")
    recorded = Evidence.from_bytes(json.dumps(record).encode())
    return run(checked, recorded), checked, recorded


TURNS = [{"role": "agent", "text": "Hello.", "start": 0, "end": 1}, {"role": "user", "text": "Bye."}]


def test_the_grounds_of_passes_are_shown_when_they_are_asked_for() -> None:
    """After all that is open, and looking alike."""
    envelope, checked, recorded = judged(
        {"kind": "phrase", "regex": "hello", "description": "It greets."},
        {"kind": "phrase", "regex": "thanks"},
        transcript=TURNS,
    )
    short = render(envelope, checked, recorded.model)
    long = render(envelope, checked, recorded.model, verbose=True)
    assert "a0" not in short
    assert long.index("FAIL  a1") < long.index("PASS  a0  phrase · d.json:1")
    assert '    It greets.\n    turn 0, agent: "Hello."\n' in long
    assert long.endswith(short[short.index("1 pass") :])


@pytest.mark.parametrize(
    ("assertion", "told"),
    [
        ({"kind": "latency", "tool": "t", "max_ms": 900}, "measured 250 ms, and may be at most 900 ms"),
        (
            {"kind": "count", "tool": "t", "count": {"min": 1, "max": 2}},
            "observed 1, and asked for at least 1 and at most 2",
        ),
        ({"kind": "count", "tool": "t", "count": 1}, "observed 1, and asked for 1"),
        ({"kind": "formula", "expr": "a1", "id": "f"}, "1 of 1 met"),
    ],
)
def test_a_pass_says_what_was_measured(assertion: Mapping[str, Any], told: str) -> None:
    """Beside what was asked: a pass close to its limit is worth a look."""
    span = {"type": "tool_call", "name": "t", "call_id": "c", "latency_ms": 250, "result": 1}
    envelope, checked, recorded = judged(
        assertion, {"kind": "phrase", "regex": "hello"}, transcript=TURNS, spans=[span]
    )
    assert envelope.results[0].status == "PASS"
    assert f"    {told}\n" in render(envelope, checked, recorded.model, verbose=True)


def test_what_is_not_applicable_is_not_counted_as_undecided() -> None:
    """Under the headings of dimensions as little as in the counts."""
    envelope, checked, recorded = judged(
        {"kind": "phrase", "regex": "hello", "dimension": "policy"},
        {"kind": "phrase", "regex": "x", "dimension": "policy", "applies_if": {"labels": {"a": 1}}},
        transcript=TURNS,
        labels={"a": 2},
    )
    text = render(envelope, checked, recorded.model)
    assert "1 pass · 0 fail · 0 inconclusive\nnot applicable: a1\n" in text
    assert "  policy  1 pass · 1 not applicable\n" in text


def test_a_report_is_the_same_text_with_colours_and_without() -> None:
    """Colours add nothing and take nothing away."""
    envelope, checked, recorded = judged({"kind": "phrase", "regex": "thanks"}, transcript=TURNS)
    plain = render(envelope, checked, recorded.model)
    colored = render(envelope, checked, recorded.model, look=Look(color=True))
    assert "\x1b[31;1mFAIL\x1b[0m" in colored
    assert ANSI.sub("", colored) == plain
    assert "\x1b" not in plain


def test_a_long_head_takes_two_lines_at_a_narrow_terminal() -> None:
    """Verdict and name first; nothing is wider than the terminal."""
    envelope, checked, recorded = judged(
        {"id": "n" * 30, "kind": "phrase", "regex": "thanks", "description": "word " * 30}, transcript=TURNS
    )
    text = render(envelope, checked, recorded.model, look=Look(width=44))
    assert f"FAIL  {'n' * 30}\n    phrase · d.json:1\n" in text
    assert max(map(len, text.splitlines())) <= 44


def test_what_was_not_produced_is_told_once_for_all_assertions() -> None:
    """They are undecided for one reason; a single assertion, and a single card, have it to themselves."""
    several = document("x")
    envelope = unproduced(compile_plan(several), "the command ended with exit status 1")
    text = render(envelope, several, Evidence().model, source="c.json")
    assert text.count("the command ended with exit status 1") == 1
    assert (
        "INCONCLUSIVE  all 10 assertions\n    the command ended with exit status 1\n    code: not_produced\n"
        in text
    )
    assert "INCONCLUSIVE  x2  phrase" in card(envelope, several, Evidence().model, 1)
    one = Document.of({"version": 1, "assertions": [{"id": "a", "kind": "phrase", "regex": "."}]})
    text = render(unproduced(compile_plan(one), "it wrote nothing"), one, Evidence().model)
    assert "INCONCLUSIVE  a  phrase" in text
