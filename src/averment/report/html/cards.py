"""A card for every result: what failed first, then what stayed undecided, then what passed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from averment.assertions.base import Assertion
from averment.assertions.codes import Code
from averment.report.html.conversation import Anchors, Conversation
from averment.report.html.details import Cell, Fact, Links, facts
from averment.report.html.names import Names, slug
from averment.report.html.texts import Shown, short, yaml_text
from averment.verdicts.judged import Judged

__all__ = ["FOLDED", "GROUPS", "Card", "Grounds", "cards", "grounds_of", "group_of", "result_anchors"]

GROUPS: Mapping[str, str] = {
    "failed": "Failed",
    "undecided": "Undecided",
    "passed": "Passed",
    "lesser": "Warnings and notes, which never gate",
    "inapplicable": "Not applicable to this conversation",
}
"""The groups of a conversation's results, in the order in which they are shown."""
FOLDED = frozenset({"passed", "inapplicable"})
"""Those in which nothing asks to be looked at."""

_SHOWN_GROUNDS = 12
_MARKED = 100
"""Turns, calls and spans that are marked on a timeline."""
_SHOWN_PREMISES = 4
_COMMON = frozenset(
    {
        *("id", "kind", "when", "applies_if", "dimension"),
        *("severity", "tags", "owner", "description", "examples"),
    }
)
_MEANINGS = {code.value: code.meaning for code in Code}
_RANK = {"FAIL": 0, "INCONCLUSIVE": 1, "PASS": 2}


class Grounds(msgspec.Struct, frozen=True):
    """What a result rests on, by what it is.

    Attributes:
        label: what it is: calls or spans; empty for turns, whose links say so themselves.
        cells: links into the conversation, the first few.
        whose: the assertion that rests on it, where that is another one.
        more: how many there are beside them.
        others: where the next of those stand, for the timeline.
    """

    label: str
    cells: Sequence[Cell]
    whose: str | None = None
    more: int = 0
    others: Sequence[str] = ()


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """One result on the page; texts are as in the envelope, which has them redacted."""

    anchor: str
    status: str
    group: str
    id: str
    kind: str
    deterministic: bool
    place: str
    dimension: str | None
    severity: str
    tags: Sequence[str]
    owner: str | None
    description: str | None
    reason: str | None
    public_reason: str | None
    code: str | None
    meaning: str | None
    gap: Mapping[str, str]
    facts: Sequence[Fact]
    asked: Shown | None
    waits_for: Sequence[Cell]
    grounds: Sequence[Grounds]
    is_open: bool
    is_whole: bool


def group_of(result: Mapping[str, Any]) -> str:
    """The group of `GROUPS` in which a result is shown."""
    if result.get("code") == "not_applicable":
        return "inapplicable"
    if result.get("severity", "error") != "error":
        return "lesser"
    return {"FAIL": "failed", "INCONCLUSIVE": "undecided"}.get(result["status"], "passed")


def grounds_of(result: Mapping[str, Any], anchors: Anchors) -> list[str]:
    """The anchors of all that a result rests on, each once, those that its details name included."""
    found = [anchors.turns[turn] for turn in _turns(result) if turn in anchors.turns]
    for names, known in ((_calls(result), anchors.calls), (result.get("span_ids", ()), anchors.spans)):
        found += [anchor for name in names for anchor in known.get(name, ())]
    return list(dict.fromkeys(found))


def result_anchors(entry: Judged, key: str) -> list[str]:
    """The id of each result's card."""
    names = Names()
    dash = f"{key}-" if key else ""
    return [names.free(f"r-{dash}{slug(result['id'])}") for result in entry.results]


def cards(
    entry: Judged,
    key: str,
    conversation: Conversation | None,
    *,
    opened: int,
    asks: bool,
    every: bool = True,
) -> list[Card]:
    """The cards of a conversation's results, worst first.

    Args:
        entry: the conversation.
        key: its key in the page.
        conversation: what is shown of it; None when nothing is.
        opened: how many cards of failures are open from the start.
        asks: whether passes are shown whole; else without what was asserted, and what they rest on in few words.
        every: whether passes, and what is not applicable, have cards at all.
    """
    anchors = result_anchors(entry, key)
    results = entry.results
    order = sorted(range(len(results)), key=lambda index: (*_rank(results[index]), index))
    known = conversation.anchors if conversation is not None else Anchors()
    there = frozenset(item.anchor for item in conversation.items) if conversation is not None else frozenset()
    by_id: dict[str, Mapping[str, Any]] = {}
    cells: dict[str, Cell] = {}
    for result, anchor in zip(results, anchors, strict=True):
        by_id.setdefault(result["id"], result)
        has_card = every or group_of(result) not in FOLDED
        href = f"#{anchor}" if has_card else None
        cells.setdefault(result["id"], Cell(f"{short(result['id'], 80)} ({result['status']})", href))
    links = _links(known, there, cells, conversation)
    found = []
    for place, index in enumerate(order):
        result = results[index]
        if not every and group_of(result) in FOLDED:
            continue
        assertion = entry.assertions[index] if index < len(entry.assertions) else None
        is_open = place < opened and result["status"] == "FAIL"
        found.append(
            _card(
                result,
                anchors[index],
                entry.files[index] if index < len(entry.files) else entry.document,
                assertion,
                links,
                by_id=by_id,
                is_open=is_open,
                is_whole=asks or result["status"] != "PASS",
            )
        )
    return found


def _rank(result: Mapping[str, Any]) -> tuple[int, int, bool]:
    group = list(GROUPS).index(group_of(result))
    return group, _RANK.get(result["status"], 3), result.get("code") != "internal_error"


def _card(
    result: Mapping[str, Any],
    anchor: str,
    file: str,
    assertion: Assertion | None,
    links: Links,
    *,
    by_id: Mapping[str, Mapping[str, Any]],
    is_open: bool,
    is_whole: bool,
) -> Card:
    asked = {} if assertion is None else _asked(assertion)
    code = result.get("code")
    at = result.get("at") or {}
    gap = result.get("evidence_gap") or {}
    grounds = _grounds(result, links)
    for name in _premises(result, assertion)[:_SHOWN_PREMISES]:
        if name in by_id:
            grounds += _grounds(by_id[name], links, short(name, 60))
    return Card(
        anchor=anchor,
        status=result["status"],
        group=group_of(result),
        id=short(result["id"]),
        kind=short(result["kind"], 60),
        deterministic=result.get("deterministic") is True,
        place=short(f"{file}:{at['line']}" if "line" in at else file),
        dimension=_optional(result.get("dimension"), 60),
        severity=short(result.get("severity", "error"), 20),
        tags=[short(tag, 60) for tag in result.get("tags", ())[:_SHOWN_GROUNDS]],
        owner=_optional(result.get("owner"), 80),
        description=_optional(result.get("description"), 600),
        reason=_optional(result.get("reason"), 2400),
        public_reason=_optional(result.get("public_reason"), 300),
        code=_optional(code, 60),
        meaning=_MEANINGS.get(code) if isinstance(code, str) else None,
        gap={
            name: short(gap.get(name, ""), 400)
            for name in ("channel", "state", "source_format", "how")
            if gap
        },
        facts=facts(result, links, asked),
        asked=yaml_text(asked, 1200) if asked and is_whole else None,
        waits_for=_waits_for(assertion, links),
        grounds=grounds,
        is_open=is_open,
        is_whole=is_whole,
    )


def _asked(assertion: Assertion) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(assertion)
    return {name: value for name, value in fields.items() if name not in _COMMON}


def _premises(result: Mapping[str, Any], assertion: Assertion | None) -> list[str]:
    """The assertions that this one waits for or refers to; a stored envelope says only the latter."""
    if assertion is not None:
        return list(dict.fromkeys(assertion.premises()))
    refs = result.get("refs")
    return [ref for ref in refs if isinstance(ref, str)] if isinstance(refs, list) else []


def _waits_for(assertion: Assertion | None, links: Links) -> list[Cell]:
    if assertion is None or not isinstance(assertion.when, str | list):
        return []
    names = [assertion.when] if isinstance(assertion.when, str) else assertion.when
    return [links.result(name) for name in names[:_SHOWN_GROUNDS]]


def _optional(text: object, limit: int) -> str | None:
    return None if text is None else short(text, limit)


def _turns(result: Mapping[str, Any]) -> list[int]:
    """The turns that a result names, in its grounds and in its details."""
    found = list(result.get("turns", ()))
    for name in ("hits", "matched_rules", "unbacked"):
        entries = result.get(name, ())
        found += [entry.get("turn") for entry in entries if isinstance(entry, Mapping)]
    found += [result.get("before_turn"), result.get("after_turn")]
    return sorted({turn for turn in found if isinstance(turn, int) and not isinstance(turn, bool)})


def _calls(result: Mapping[str, Any]) -> list[str]:
    miss = result.get("nearest_miss")
    nearest = (
        [miss["tool_call"]] if isinstance(miss, Mapping) and isinstance(miss.get("tool_call"), str) else []
    )
    return list(dict.fromkeys([*result.get("tool_calls", ()), *nearest]))


def _grounds(result: Mapping[str, Any], links: Links, whose: str | None = None) -> list[Grounds]:
    named: list[tuple[str, Callable[[Any], Cell], Sequence[Any]]] = [
        ("", links.turn, _turns(result)),
        ("call", links.call, _calls(result)),
        ("span", links.span, result.get("span_ids", ())),
    ]
    found = []
    for label, to, names in named:
        if not names:
            continue
        cells = [to(name) for name in names[:_MARKED]]
        others = [cell.href[1:] for cell in cells[_SHOWN_GROUNDS:] if cell.href]
        several = f"{label}s" if label and len(names) > 1 else label
        more = max(0, len(names) - _SHOWN_GROUNDS)
        found.append(Grounds(several, cells[:_SHOWN_GROUNDS], whose, more, others))
    return found


def _links(
    known: Anchors, there: frozenset[str], cells: Mapping[str, Cell], conversation: Conversation | None
) -> Links:
    def to(anchor: str | None) -> str | None:
        return f"#{anchor}" if anchor in there else None

    def turn(index: int) -> Cell:
        return Cell(f"turn {index}", to(known.turns.get(index)))

    def call(name: str) -> Cell:
        return Cell(short(name, 60), to(next(iter(known.calls.get(name, ())), None)))

    def span(name: str) -> Cell:
        return Cell(short(name, 60), to(next(iter(known.spans.get(name, ())), None)))

    def result(name: str) -> Cell:
        return cells.get(name) or Cell(short(name, 80))

    return Links(turn, call, span, result, None if conversation is None else f"#{conversation.anchor}")
