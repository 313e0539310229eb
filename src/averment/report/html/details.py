"""What each kind has to show beside its verdict: one table from the keys of a result to how they are shown.

A key that stands in no row, or whose value has another shape, is shown as JSON: envelopes of other versions can hold
anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from averment.report.html.difference import Difference, differences
from averment.report.html.texts import Shown, json_text, short, shown

__all__ = ["COMMON", "Cell", "Fact", "Links", "facts"]

COMMON = frozenset(
    {
        *("id", "kind", "deterministic", "dimension", "severity", "tags", "owner", "description", "at"),
        *("turns", "tool_calls", "span_ids", "status", "code", "evidence_gap", "reason", "public_reason"),
    }
)
"""Keys that every card shows in its own places."""

_LONGEST = 2000
_ROWS = 40


class Cell(msgspec.Struct, frozen=True):
    """A piece of text, which may lead somewhere in the page."""

    text: str
    href: str | None = None


class Meter(msgspec.Struct, frozen=True):
    """A number against its limit; widths in percent of the drawing."""

    value: str
    limit: str
    filled: str
    mark: str
    over: bool


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a card shows, in one of several forms.

    Attributes:
        label: what it is.
        cells: a few words or links, one after the other.
        head, rows: a table.
        differences: expected against found.
        json: any value.
        meter: a number against its limit.
        pips: how many are met, of how many.
    """

    label: str
    cells: Sequence[Cell] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()
    more: int = 0
    differences: Sequence[Difference] = ()
    json: Shown | None = None
    meter: Meter | None = None
    pips: tuple[int, int] | None = None

    @property
    def is_wide(self) -> bool:
        """Whether it wants the whole width of a card."""
        return bool(self.rows or self.differences or (self.json and "\n" in self.json.text))


class Links(msgspec.Struct, frozen=True):
    """How to lead to what a result names."""

    turn: Callable[[int], Cell]
    call: Callable[[str], Cell]
    span: Callable[[str], Cell]
    result: Callable[[str], Cell]
    transcript: str | None


_Asked = Mapping[str, Any]
_Row = Callable[[Any, Mapping[str, Any], Links, _Asked], "Fact | None"]


def facts(result: Mapping[str, Any], links: Links, asked: Mapping[str, Any]) -> list[Fact]:
    """What a result has to show beside what all have, the most telling first.

    Args:
        result: the result as it stands in the envelope.
        links: how to lead to what it names.
        asked: the assertion's own fields, where the document is at hand; else empty.
    """
    given = [key for key in result if key not in COMMON]
    known = [key for key in _ROWS_BY_KEY if key in given]
    others = [key for key in given if key not in _ROWS_BY_KEY]
    found: list[Fact] = []
    for key in [*known, *others]:
        if key == "of" and isinstance(result.get("met"), int):
            continue
        row = _ROWS_BY_KEY.get(key)
        fact = None
        if row is not None:
            fact = row(result[key], result, links, asked)
        if fact is None:
            fact = Fact(label=_words(short(key, 60)), json=shown(json_text(result[key]), _LONGEST))
        found.append(fact)
    return found


def _mismatches(value: Any, *_: Any) -> Fact | None:
    found = differences(value)
    return None if found is None else Fact(label="Expected against found", differences=found)


def _nearest_miss(value: Any, _: Any, links: Links, __: Any) -> Fact | None:
    if not isinstance(value, Mapping) or not isinstance(value.get("tool_call"), str):
        return None
    found = differences(value.get("mismatches"))
    if found is None:
        return None
    cell = links.call(value["tool_call"])
    return Fact(label="Nearest miss, expected against found", cells=[cell], differences=found)


def _delta(value: Any, *_: Any) -> Fact | None:
    if not isinstance(value, Mapping) or not isinstance(value.get("field"), str):
        return None
    before, after = (short(value[side]) if side in value else "nothing" for side in ("before", "after"))
    rows = [[Cell(short(value["field"])), Cell(before), Cell(after)]]
    return Fact(label="Change", head=["field", "before", "after"], rows=rows)


def _measured(value: Any, result: Mapping[str, Any], _: Links, asked: _Asked) -> Fact | None:
    unit = " ms" if "measured_ms" in result else ""
    limit = asked.get("max_ms" if unit else "max")
    return _metered("Measured", value, limit, unit)


def _metered(label: str, value: Any, limit: Any, unit: str) -> Fact | None:
    if not _is_number(value):
        return None
    if not _is_number(limit):
        return Fact(label=label, cells=[Cell(f"{_number(value)}{unit}")])
    top = max(abs(float(value)), abs(float(limit)), 1e-9) * 1.08
    meter = Meter(
        f"{_number(value)}{unit}",
        f"{_number(limit)}{unit}",
        f"{max(0.0, float(value)) / top * 100:.1f}%",
        f"{max(0.0, float(limit)) / top * 100:.1f}%",
        value > limit,
    )
    return Fact(label=f"{label} against limit", meter=meter)


def _observed(value: Any, _: Any, __: Any, asked: _Asked) -> Fact | None:
    if not _is_number(value):
        return None
    bounds = asked.get("count")
    wanted = ""
    if isinstance(bounds, int):
        wanted = f", and must be {bounds}"
    elif isinstance(bounds, Mapping):
        low, high = bounds.get("min"), bounds.get("max")
        words = [f"at least {low}" if low is not None else "", f"at most {high}" if high is not None else ""]
        wanted = f", and must be {' and '.join(word for word in words if word)}" if any(words) else ""
    return Fact(
        label="Observed", cells=[Cell(f"{_number(value)} times{wanted}" if value != 1 else f"once{wanted}")]
    )


def _met(value: Any, result: Mapping[str, Any], *_: Any) -> Fact | None:
    total = result.get("of")
    if not isinstance(value, int) or not isinstance(total, int) or not 0 <= value <= total:
        return None
    pips = (value, total) if total <= 24 else None
    return Fact(label="Met", cells=[Cell(f"{value} of {total}")], pips=pips)


def _unbacked(value: Any, _: Any, links: Links, __: Any) -> Fact | None:
    if not _are_mappings(value):
        return None
    rows = [
        [
            links.turn(entry["turn"]) if isinstance(entry.get("turn"), int) else Cell("-"),
            Cell(
                ", ".join(f"{short(name, 60)} = {short(said)}" for name, said in _items(entry.get("values")))
                or "-"
            ),
        ]
        for entry in value[:_ROWS]
    ]
    return Fact(label="Said and not backed", head=["said in", "with"], rows=rows, more=len(value) - len(rows))


def _hits(value: Any, _: Any, links: Links, __: Any) -> Fact | None:
    if not _are_mappings(value):
        return None
    rows = [
        [
            Cell(short(entry.get("detector", "?"), 60)),
            links.turn(entry["turn"]) if isinstance(entry.get("turn"), int) else Cell("-"),
            Cell(short(entry.get("role") or "nobody", 60)),
        ]
        for entry in value[:_ROWS]
    ]
    head = ["detector", "turn", "said by"]
    return Fact(label="Personal data found", head=head, rows=rows, more=len(value) - len(rows))


def _matched_rules(value: Any, _: Any, links: Links, __: Any) -> Fact | None:
    if not _are_mappings(value):
        return None
    rows = []
    for entry in value[:_ROWS]:
        words = _RULES.get(entry.get("type"), short(entry.get("type", "?"), 60))
        turn = entry.get("turn")
        rows.append(
            [
                Cell(short(entry.get("rule", "?"))),
                Cell(words),
                links.turn(turn) if isinstance(turn, int) else Cell("nowhere"),
            ]
        )
    return Fact(label="Rules violated", head=["rule", "how", "where"], rows=rows, more=len(value) - len(rows))


_RULES: Mapping[Any, str] = {
    "banned": "banned, and said",
    "required_disclosure_missing": "required, and not said",
}


def _pack(value: Any, *_: Any) -> Fact | None:
    if not isinstance(value, Mapping) or "name" not in value:
        return None
    version = f", version {short(value['version'], 40)}" if value.get("version") is not None else ""
    cells = [Cell(f"{short(value['name'])}{version}")]
    if isinstance(value.get("sha256"), str):
        cells.append(Cell(short(value["sha256"].removeprefix("sha256:"), 13)))
    return Fact(label="Policy", cells=cells)


def _transcript(_: Any, __: Any, links: Links, ___: Any) -> Fact:
    if links.transcript is None:
        return Fact(label="Redacted transcript", cells=[Cell("not in this page")])
    return Fact(label="Redacted transcript", cells=[Cell("in the conversation", links.transcript)])


def _words_of(label: str) -> _Row:
    def row(value: Any, *_: Any) -> Fact | None:
        if not isinstance(value, Sequence) or not all(isinstance(each, str) for each in value):
            return None
        return Fact(
            label=label, cells=[Cell(", ".join(_words(short(each, 60)).lower() for each in value[:_ROWS]))]
        )

    return row


def _refs(value: Any, _: Any, links: Links, __: Any) -> Fact | None:
    if not isinstance(value, Sequence) or not all(isinstance(each, str) for each in value):
        return None
    return Fact(
        label="Refers to",
        cells=[links.result(each) for each in value[:_ROWS]],
        more=max(0, len(value) - _ROWS),
    )


def _turn_of(label: str) -> _Row:
    def row(value: Any, _: Any, links: Links, __: Any) -> Fact | None:
        return Fact(label=label, cells=[links.turn(value)]) if isinstance(value, int) else None

    return row


def _record(value: Any, *_: Any) -> Fact | None:
    return Fact(label="Record", cells=[Cell(f"index {value}")]) if isinstance(value, int) else None


def _records(value: Any, *_: Any) -> Fact | None:
    if not isinstance(value, Mapping):
        return None
    told = ", ".join(f"index {short(row, 20)} {short(side, 20)}" for side, row in value.items())
    return Fact(label="Records", cells=[Cell(told)])


def _said(label: str, sentence: str) -> _Row:
    return lambda value, *_: Fact(label=label, cells=[Cell(sentence)]) if value is True else None


def _number_of(label: str, unit: str = "") -> _Row:
    return lambda value, *_: (
        Fact(label=label, cells=[Cell(f"{_number(value)}{unit}")]) if _is_number(value) else None
    )


_ROWS_BY_KEY: Mapping[str, _Row] = {
    "mismatches": _mismatches,
    "nearest_miss": _nearest_miss,
    "unbacked": _unbacked,
    "hits": _hits,
    "matched_rules": _matched_rules,
    "measured_ms": _measured,
    "measured": _measured,
    "observed": _observed,
    "met": _met,
    "of": lambda *_: None,
    "delta": _delta,
    "before_turn": _turn_of("What must come first"),
    "after_turn": _turn_of("What must come after"),
    "refs": _refs,
    "row": _record,
    "rows": _records,
    "pack": _pack,
    "event": _number_of("Timing event, from 0"),
    "unmeasured": _number_of("Without a duration"),
    "grain_ms": _number_of("Times are told to", " ms"),
    "vacuous": _said("Vacuous", "what it is about never happened, so there was nothing to fail"),
    "skipped": _said("Skipped", "the check was not run"),
    "redacted_transcript": _transcript,
    "not_scanned": _words_of("Not looked at"),
}
"""By key of a result, in the order in which cards show them."""


def _words(name: str) -> str:
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]


def _items(value: Any) -> Sequence[tuple[Any, Any]]:
    return list(value.items())[:_ROWS] if isinstance(value, Mapping) else []


def _are_mappings(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and bool(value)
        and all(isinstance(entry, Mapping) for entry in value)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3f}".rstrip("0").rstrip(".") if 1e-3 <= abs(value) < 1e15 else repr(value)
