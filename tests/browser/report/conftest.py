"""Conversations to show: the demo's, every kind of assertion, a long call, hostile strings, and a suite's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

import averment
from averment.report.html import render
from averment.text.shown import visible
from averment.verdicts.judged import Case, Judged, Produced, judged

Fields = Mapping[str, Any]

KINDS: Mapping[str, tuple[Fields, Fields]] = {
    "phrase": ({"regex": "recorded for quality"}, {"regex": "anything else"}),
    "pii": ({"detectors": ["ssn"]}, {"detectors": ["email", "card_luhn"]}),
    "policy": ({"pack": "default", "rule_ids": ["recording-disclosure"]}, {"pack": "default"}),
    "tool_call": ({"name": "lookup_order"}, {"name": "issue_refund", "args_subset": {"amount": 42}}),
    "tool_result": (
        {"name": "lookup_order", "result_subset": {"total": 42}},
        {"name": "issue_refund", "result_subset": {"status": "ok", "receipt": {"$len": 6}}},
    ),
    "tool_error": ({"name": "issue_refund"}, {"name": "issue_refund", "absent": True}),
    "http_result": (
        {"method": "GET", "url_matches": "/orders/", "status": 200},
        {"method": "POST", "url_matches": "/refunds$", "status": [200, 201], "response_subset": {"ok": True}},
    ),
    "outcome": (
        {"any_of": [{"tool_called": "lookup_order"}, {"phrase": "never"}]},
        {"all_of": [{"tool_called": "lookup_order"}, {"phrase": "goodbye"}, {"tool_called": "wave"}]},
    ),
    "state": (
        {"resource": "orders", "filters": {"order_id": "A-3090"}, "expect": {"total": 42}},
        {"resource": "orders", "expect": {"refund.status": "done", "total": {"$gt": 50}}},
    ),
    "state_change": (
        {"resource": "orders", "field": "total", "changed": False},
        {"resource": "orders", "field": "refund.status", "to": "done", "changed": True},
    ),
    "handoff": ({"to": "billing"}, {"to": "sales"}),
    "dtmf": ({"digits": "2#"}, {"digits": "9"}),
    "termination": ({"reason": "completed"}, {"by": "agent"}),
    "latency": ({"tool": "lookup_order", "max_ms": 500}, {"measure": "response_gap", "max_ms": 300}),
    "entity_accuracy": (
        {"reference": {"order_id": "a-3090"}},
        {"reference": {"amount": 42, "order_id": "A-3090"}, "tool": "issue_refund"},
    ),
    "sequence": (
        {"steps": [{"tool": "lookup_order"}, {"tool": "issue_refund"}]},
        {"steps": [{"tool": "issue_refund"}, {"phrase": "refund"}, {"tool": "lookup_order"}]},
    ),
    "count": ({"tool": "issue_refund", "count": 2}, {"phrase": "refund", "count": {"min": 4, "max": 5}}),
    "order": ({"before": "sorry", "after": "refund of"}, {"before": "refund of", "after": "sorry"}),
    "claim": (
        {"says": "look up order (?P<order>A-3090)", "tool": "lookup_order", "timing": "anywhere"},
        {
            "says": r"refund of (?P<sum>\d+) dollars",
            "tool": "issue_refund",
            "matches": {"sum": "arguments.amount"},
        },
    ),
    "formula": ({"expr": "phrase-pass or phrase-fail"}, {"expr": "'phrase-pass' and 'phrase-fail'"}),
    "timing_contract": ({"bundle": "barge-in.hotato"}, {"bundle": "other.hotato"}),
    "human_rubric": ({"criterion": "Was the caller at ease?"}, {"criterion": "Was it kind?"}),
    "judge_rubric": ({"criterion": "Was the caller at ease?"}, {"criterion": "Was it kind?"}),
}
"""For every kind of assertion what holds of the conversation below, and what does not."""

DEMO = files("averment.demo")

CONVERSATION: Fields = {
    "conversation_id": "call-3090",
    "transcript": [
        {"role": "agent", "text": "Hello! This call may be recorded for quality.", "start": 0.5, "end": 2.5},
        {
            "role": "caller",
            "text": "Hi, order A-3090 never arrived. Write to jo@example.com.",
            "start": 3.0,
            "end": 6.5,
        },
        {"role": "agent", "text": "I'm sorry. Let me look up order A-3090.", "start": 7.5, "end": 9.5},
        {
            "role": "caller",
            "text": "I'd like my 42 dollars back; I guarantee it was new.",
            "start": 12.0,
            "end": 14.0,
        },
        {
            "role": "agent",
            "text": "I guarantee it. Your refund of 42 dollars has been sent.",
            "start": 15.0,
            "end": 19.0,
        },
    ],
    "spans": [
        {"type": "caller_audio_active", "start_sec": 3.0, "end_sec": 6.5},
        {
            "type": "tool_call",
            "name": "lookup_order",
            "arguments": {"order_id": "A-3090"},
            "result": {"found": True, "total": 42},
            "start_sec": 9.6,
            "end_sec": 9.9,
            "latency_ms": 300,
        },
        {
            "type": "http_exchange",
            "method": "GET",
            "url": "https://api.example/orders/A-3090",
            "status_code": 200,
            "response": {"total": 42},
            "start_sec": 9.65,
            "end_sec": 9.85,
        },
        {
            "type": "tool_call",
            "name": "issue_refund",
            "arguments": {"order_id": "A-3090", "amount": 24},
            "result": {"status": "declined", "receipt": None},
            "start_sec": 14.1,
            "end_sec": 14.6,
        },
        {
            "type": "http_exchange",
            "method": "POST",
            "url": "https://api.example/refunds",
            "status_code": 422,
            "response": {"ok": False},
            "start_sec": 14.2,
            "end_sec": 14.5,
        },
        {
            "type": "tool_call",
            "name": "issue_refund",
            "arguments": {"order_id": "A-3090", "amount": 24},
            "error": {"message": "Over the limit."},
            "start_sec": 14.7,
            "end_sec": 14.9,
        },
        {"type": "dtmf", "digits": "2#", "start_sec": 16.0, "end_sec": 16.2},
        {"type": "handoff", "to": "billing", "start_sec": 19.1, "end_sec": 19.1},
        {"type": "call_ended", "reason": "completed", "by": "caller", "start_sec": 20.0, "end_sec": 20.0},
    ],
    "state": {
        "orders": {
            side: [{"order_id": "A-3090", "total": 42, "refund": {"status": "none"}}]
            for side in ("before", "after")
        }
    },
    "labels": {"language": "en"},
    "metadata": {"line": "support"},
}

HOSTILE = (
    "</script><script>alert('ran')</script>",
    "<img src=x onerror=alert('ran')>",
    '"><svg onload=alert(1)><a href="javascript:alert(2)">go</a>',
    "' onmouseover='alert(3)' style='position:fixed",
    "]]> --> <!-- <![CDATA[ <style>*{display:none}</style>",
    "&lt;b&gt; &amp; &#60;i&#62; ${7*7} #{7*7}",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "\u202eright to left\u202c \u2066isolated\u2069 \u200bzero\ufeff",
    "nul\x00 bell\x07 feed\x0c\r\nline\u2028separator\x85",
)
"""Strings that break pages which don't escape them; a document may hold all of them."""
HOSTILE_EVIDENCE = (*HOSTILE, "{{7*7}} {%raw%}", "half \ud83d of a pair", "mega" * 2**18)
"""Strings that only evidence may hold: documents give a meaning to double braces, and refuse halves of pairs."""


def document(assertions: Sequence[Fields], name: str) -> averment.Document:
    """A document with lines, as a file of that name would be."""
    return averment.Document.parse(written(assertions), name=name)


def written(assertions: Sequence[Fields]) -> str:
    """The text of a document."""
    return json.dumps({"version": 1, "assertions": assertions}, indent=1)


def judge(checked: averment.Document, evidence: averment.Evidence, conversation: str, **about: Any) -> Judged:
    """The conversation, judged."""
    envelope = averment.run(checked, evidence)
    return judged(envelope, checked, conversation=conversation, evidence=evidence.model, **about)


def refunds(conversation: Fields, name: str, **about: Any) -> Judged:
    """A conversation, judged by the demo's document."""
    text = DEMO.joinpath("refunds.yaml").read_bytes()
    checked = averment.Document.parse(text, name="refunds.yaml")
    return judge(checked, averment.Evidence.from_record(conversation), name, **about)


def refunded(conversation: Fields) -> Fields:
    """The demo's conversation with an agent that does what it says."""
    good = json.loads(json.dumps(conversation))
    good["spans"][1] |= {"name": "issue_refund", "arguments": {"order_id": "A-3090", "amount": 42}}
    good["state"]["orders"][0]["refund_status"] = "refunded"
    return dict(good)


def demo() -> list[Judged]:
    """The bundled conversation, and the document that catches its agent."""
    return [refunds(json.loads(DEMO.joinpath("conversation.json").read_bytes()), "conversation.json")]


def mixed() -> list[Judged]:
    """The demo's conversation, one in which all is well, and one of which little was recorded; worst last."""
    bad = json.loads(DEMO.joinpath("conversation.json").read_bytes())
    blind = {"transcript": bad["transcript"]}
    return [
        refunds(each, name)
        for each, name in ((refunded(bad), "good.json"), (blind, "blind.json"), (bad, "bad.json"))
    ]


def every_kind() -> list[Fields]:
    """Assertions of which every kind passes, fails and stays undecided over the conversation above."""
    dimensions = ("outcome", "policy", "conversation", "reliability", "speech", None)
    severities = ("error", "error", "error", "warning", "note")
    assertions: list[Fields] = []
    for number, (kind, (holds, fails)) in enumerate(KINDS.items()):
        common: dict[str, Any] = {
            "kind": kind,
            "description": f"What a card of the kind {kind} looks like.",
            "tags": ["even" if number % 2 == 0 else "odd", kind],
            "severity": severities[number % len(severities)],
        }
        if kind == "pii":
            common["mode"] = "must_not_leak"
        if (dimension := dimensions[number % len(dimensions)]) is not None:
            common["dimension"] = dimension
        if number % 3 == 0:
            common["owner"] = "support team"
        assertions += [
            {"id": f"{kind}-pass", **common, **holds},
            {"id": f"{kind}-fail", **common, **fails},
            {"id": f"{kind}-undecided", **common, **holds, "when": "phrase-fail"},
        ]
    return assertions


def kinds() -> list[Judged]:
    """Every kind of assertion, in all three verdicts where the kind has them."""
    return [
        judge(
            document(every_kind(), "every-kind.yaml"),
            averment.Evidence.from_record(CONVERSATION),
            "call-3090.json",
        )
    ]


def long_call() -> list[Judged]:
    """500 assertions over a call of two hours: 1,500 turns, 600 tool calls, 2,000 spans."""
    words = (
        "the",
        "order",
        "and",
        "its",
        "refund",
        "were",
        "looked",
        "at",
        "by",
        "somebody",
        "who",
        "knows",
        "parcels",
    )
    turns: list[Fields] = [
        {
            "role": ("agent", "caller")[index % 2],
            "text": f"Point {index}: "
            + " ".join(words[(index * 7 + at) % len(words)] for at in range(6 + index % 14)),
            "start": index * 4.8,
            "end": index * 4.8 + 4.1,
        }
        for index in range(1500)
    ]
    calls: list[Fields] = [
        {
            "type": "tool_call",
            "name": ("lookup_order", "issue_refund", "send_mail")[index % 3],
            "arguments": {"order_id": f"A-{index}", "amount": index % 97},
            "result": {"status": "ok", "receipt": f"R{index:05d}"},
            "start_sec": index * 12.0 + 1,
            "end_sec": index * 12.0 + 1.4,
        }
        for index in range(600)
    ]
    sounds: list[Fields] = [
        {"type": "caller_audio_active", "start_sec": index * 5.1, "end_sec": index * 5.1 + 2}
        for index in range(1400)
    ]
    assertions: list[Fields] = []
    for index in range(100):
        common = {
            "dimension": ("outcome", "policy")[index % 2],
            "tags": [f"batch-{index % 10}"],
            "description": "D.",
        }
        kept: list[Fields] = [
            {"kind": "phrase", "regex": f"Point {index * 14}: "},
            {"kind": "tool_call", "name": "lookup_order", "args_subset": {"order_id": f"A-{index * 6}"}},
            {"kind": "tool_call", "name": "issue_refund", "args_subset": {"amount": 100 + index}},
            {"kind": "count", "phrase": f"Point {index}", "count": {"max": 3 + index % 20}},
            {"kind": "latency", "measure": "response_gap", "max_ms": 650 + index},
        ]
        assertions += [
            {"id": f"check-{index:02d}-{at}", **common, **fields} for at, fields in enumerate(kept)
        ]
    spans = sorted([*calls, *sounds], key=lambda span: span["start_sec"])
    evidence = averment.Evidence(transcript=turns, trace=spans, conversation_id="two-hours")
    return [judge(document(assertions, "long.yaml"), evidence, "two-hours.json")]


def hostile(spoken: Callable[[str], str] = str) -> list[Judged]:
    """Hostile strings in every field of a document and of evidence.

    Args:
        spoken: what becomes of each string; the twin of the report has harmless ones.
    """
    said, typed = [[spoken(text) for text in texts] for texts in (HOSTILE_EVIDENCE, HOSTILE)]
    assertions: list[Fields] = []
    for number, text in enumerate(typed):
        common = {
            "description": f"{number} {text}",
            "tags": [f"{number} {text}"],
            "owner": f"{number} {text}",
            "dimension": ("outcome", "policy")[number % 2],
        }
        assertions += [
            {
                "id": f"{number} {text}",
                **common,
                "kind": "tool_call",
                "name": text,
                "args_subset": {text: text + "!"},
            },
            {
                "id": f"{number} said {text}",
                **common,
                "kind": "phrase",
                "regex": re.escape(printed(text)),
                "absent": True,
            },
            {
                "id": f"{number} kept {text}",
                **common,
                "kind": "state",
                "resource": text,
                "expect": {text: {"$in": [text]}},
            },
            {"id": f"{number} ended {text}", **common, "kind": "handoff", "to": text + "!"},
            {"id": f"{number} asked {text}", **common, "kind": "human_rubric", "criterion": text},
            {
                "id": f"{number} when {text}",
                **common,
                "kind": "phrase",
                "regex": "never",
                "when": f"{number} {text}",
            },
        ]
    assertions.append({"id": "clean", "kind": "pii", "detectors": ["email"], "mode": "must_not_leak"})
    evidence = averment.Evidence(
        conversation_id=said[0],
        transcript=[
            {"role": text[:200], "text": text, "speaker": text, "start": index * 2.0, "end": index * 2.0 + 1}
            for index, text in enumerate(said)
        ],
        trace=[
            span
            for index, text in enumerate(said)
            for span in (
                {
                    "type": "tool_call",
                    "id": text,
                    "name": text,
                    "arguments": {text: text},
                    "result": {text: [text]},
                    "error": text if index % 2 else None,
                    "start_sec": index * 2.0,
                    "end_sec": index * 2.0 + 1,
                },
                {
                    "type": text,
                    "name": text,
                    text: text,
                    "start_sec": index * 2.0,
                    "end_sec": index * 2.0 + 1,
                },
                {"type": "handoff", "to": text},
            )
        ],
        state={text: [{text: text}] for text in said},
        metadata={text: text for text in said},
        labels={text: text for text in said},
    )
    checked = document(assertions, f"{spoken(HOSTILE[1])}.yaml")
    about = Case(suite=said[0], name=said[1]), Produced(file=said[2])
    return [judge(checked, evidence, said[5], case=about[0], produced=about[1])]


def tampered(spoken: Callable[[str], str] = str) -> list[Judged]:
    """A stored envelope whose every free text was replaced: what `averment report` may be given."""
    kept = ("schema", "status", "kind", "severity", "inconclusive_policy", "sha256", "evidence_sha256")
    texts = [spoken(text) for text in HOSTILE_EVIDENCE]
    numbers = count()

    def replaced(value: Any) -> Any:
        if isinstance(value, str):
            number = next(numbers)
            return f"{number} {texts[number % len(texts)]}"
        if isinstance(value, Mapping):
            return {key: item if key in kept else replaced(item) for key, item in value.items()}
        return [replaced(item) for item in value] if isinstance(value, list) else value

    (entry,) = kinds()
    return [msgspec.structs.replace(entry, envelope=replaced(entry.envelope), evidence=None, assertions=())]


def printed(text: str) -> str:
    """The longest part of a text that a pattern may hold as it is."""
    return max(re.split(r"[^ -~]", text), key=len)


def harmless(text: str) -> str:
    """A text that is as long on a page, and holds nothing but letters, digits and spaces."""
    return re.sub(r"[^A-Za-z0-9 ]", "x", visible(text))


def suite() -> list[Judged]:
    """Several conversations: two cases in three repeats, two of which are as they should be, and one of little evidence."""
    bad = json.loads(DEMO.joinpath("conversation.json").read_bytes())
    told = {("calm caller", 1): refunded(bad), ("angry caller", 2): refunded(bad)}
    told["angry caller", 3] = {"transcript": bad["transcript"]}
    found = []
    for case in ("calm caller", "angry caller"):
        for repeat in (1, 2, 3):
            file = f"refunds/{case.replace(' ', '-')}-{repeat}.json"
            about = {
                "case": Case(suite="refunds", name=case, repeat=repeat, repeats=3),
                "produced": Produced(file=file, sha256="0" * 64),
            }
            found.append(refunds(told.get((case, repeat), bad), file, **about))
    return found


SAMPLES: Mapping[str, Callable[[], list[Judged]]] = {
    "demo": demo,
    "kinds": kinds,
    "long": long_call,
    "hostile": hostile,
    "harmless": lambda: hostile(harmless),
    "tampered": tampered,
    "untampered": lambda: tampered(harmless),
    "suite": suite,
    "mixed": mixed,
    "bare": lambda: [msgspec.structs.replace(entry, evidence=None) for entry in kinds()],
}


@pytest.fixture(scope="session")
def sample() -> Iterator[Callable[[str], Sequence[Judged]]]:
    """`sample(name)`: the conversations of a sample, judged once."""
    made = cache(lambda name: SAMPLES[name]())
    yield made
    made.cache_clear()


@pytest.fixture(scope="session")
def report(sample: Callable[[str], Sequence[Judged]]) -> Callable[[str], str]:
    """`report(name)`: the page about a sample, rendered once."""
    return cache(lambda name: render(sample(name)))


@pytest.fixture(scope="session")
def hostile_texts() -> Sequence[str]:
    """The hostile strings."""
    return HOSTILE_EVIDENCE


@pytest.fixture(scope="session")
def write_kinds() -> Callable[[Path], None]:
    """`write_kinds(folder)`: the files of the sample `kinds`, for the command line."""

    def write(folder: Path) -> None:
        (folder / "every-kind.yaml").write_text(written(every_kind()), encoding="utf-8")
        (folder / "call-3090.json").write_text(json.dumps(CONVERSATION), encoding="utf-8")

    return write
