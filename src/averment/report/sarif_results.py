"""One result of SARIF: what is wrong with an assertion's line, and the turns, calls and spans that show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from averment.evidence.model import Source, Span, ToolCall
from averment.report.identity import file_path
from averment.report.wording import brief, calls_of, details, gates, headline
from averment.text.pii import redact
from averment.text.shown import printable
from averment.verdicts.judged import Judged, shown_file

__all__ = ["ROOT", "Finding", "Grounds", "document_location", "message", "result_of"]

ROOT = "%SRCROOT%"
"""What URIs are relative to: the working folder, which is the root of the repository where code scanning runs."""

_LEVELS = {"error": "error", "warning": "warning", "note": "note"}
_GROUNDS = 10
_NAME = 200
_TEXT = 1_000
_TAGS = 20


class Finding(Struct, frozen=True):
    """A result that is told.

    Attributes:
        entry: the conversation's index.
        result: the result.
        file: the file in which its assertion stands.
        fingerprint: by what it is known again.
    """

    entry: int
    result: Mapping[str, Any]
    file: str
    fingerprint: str


class _Ground(Struct, frozen=True):
    """A turn, call or span that a result rests on.

    Attributes:
        kind: which of them it is.
        name: what it is called: `turn 3`, `call c_0 issue_refund`.
        told: what it was, redacted.
        place: where it stands in its source, where that is known.
        file: the file that it stands in, where that is known.
        line: its line there, where records are lines.
    """

    kind: str
    name: str
    told: str | None = None
    place: str | None = None
    file: str | None = None
    line: int | None = None


class Grounds:
    """The turns, calls and spans of one conversation, by what results call them.

    Args:
        entry: the conversation; without its evidence there are only names.
    """

    def __init__(self, entry: Judged) -> None:
        self._evidence = entry.evidence
        first = next(iter(() if entry.evidence is None else entry.evidence.sources), None)
        self._first = None if first is None else first.id
        self._file = _file_of(entry, first)

    def of(self, result: Mapping[str, Any]) -> list[_Ground]:
        """Those that a result rests on: turns, then calls, then spans that are no calls."""
        calls = calls_of(result)
        executed = {redact(call.span_id or "") for id_ in calls if (call := self._calls.get(id_)) is not None}
        return [
            *map(self._turn, result.get("turns") or ()),
            *map(self._call, calls),
            *(self._span(id_) for id_ in result.get("span_ids") or () if id_ not in executed),
        ]

    def _turn(self, index: int) -> _Ground:
        turns = () if self._evidence is None else self._evidence.turns or ()
        name = f"turn {index}"
        if index >= len(turns):
            return _Ground("turn", name)
        turn = turns[index]
        told = f'{printable(turn.role_raw or "nobody", 40)}: "{printable(turn.text)}"'
        return self._placed("turn", name, told, turn.loc)

    def _call(self, id_: str) -> _Ground:
        call = self._calls.get(id_)
        name = f"call {brief(id_, _NAME)}"
        if call is None:
            return _Ground("call", name)
        span = self._span_of(call)
        loc = call.loc or (None if span is None else span.loc)
        return self._placed("call", f"{name} {printable(call.name or '?', 60)}", call.status, loc)

    def _span(self, id_: str) -> _Ground:
        span = self._spans.get(id_)
        name = f"span {brief(id_, _NAME)}"
        if span is None:
            return _Ground("span", name)
        told = printable(f"{span.type} {span.name or ''}".strip(), 120)
        return self._placed("span", name, told, span.loc)

    def _span_of(self, call: ToolCall) -> Span | None:
        spans = () if self._evidence is None else self._evidence.spans or ()
        if call.position is not None and call.position < len(spans):
            return spans[call.position]
        return None if call.span_id is None else self._spans.get(redact(call.span_id))

    def _placed(self, kind: str, name: str, told: str, loc: str | None) -> _Ground:
        if loc is None:
            return _Ground(kind, name, told)
        source, _, place = loc.partition("#")
        line = _LINE.match(place)
        return _Ground(
            kind,
            name,
            told,
            brief(place, _NAME),
            self._file if source == self._first else None,
            None if line is None else int(line[1]),
        )

    # Envelopes name calls and spans as they may be shown: redacted.

    @cached_property
    def _calls(self) -> Mapping[str, ToolCall]:
        calls = () if self._evidence is None else self._evidence.calls or ()
        return {redact(call.id): call for call in reversed(calls)}

    @cached_property
    def _spans(self) -> Mapping[str, Span]:
        spans = () if self._evidence is None else self._evidence.spans or ()
        return {redact(span.id): span for span in reversed(spans)}


def _file_of(entry: Judged, source: Source | None) -> str | None:
    """The conversation's file: a source has its name without folders, which the conversation's own name begins with."""
    if source is None or not source.name:
        return None
    found = re.match(
        rf"(?:.*/)?{re.escape(source.name)}(?= \[|\Z)", shown_file(entry.conversation), re.DOTALL
    )
    return None if found is None else found[0]


_LINE = re.compile(r"line ([1-9][0-9]{0,8})(?![0-9])")


def result_of(
    finding: Finding, entry: Judged, grounds: Grounds, *, rule: tuple[str, int | None], parent: int
) -> dict[str, Any]:
    """The `result` object.

    Args:
        finding: what is told.
        entry: the conversation.
        grounds: its turns, calls and spans.
        rule: the id of the rule, and its index.
        parent: the index of the conversation in the run's logical locations.
    """
    result = finding.result
    label = brief(entry.label, _NAME)
    found = grounds.of(result)
    shown = found[:_GROUNDS]
    in_files = [each for each in shown if each.file is not None]
    related = [
        {
            "id": number,
            "physicalLocation": _physical(each.file or "", each.line, None),
            "logicalLocations": [_logical(each, label, parent)],
            "message": message(f"{each.name}, {each.told}"),
        }
        for number, each in enumerate(in_files, 1)
    ]
    location = document_location(result, finding.file)
    location["logicalLocations"] = [
        {"index": parent, "name": label, "fullyQualifiedName": label, "kind": "conversation"},
        *(_logical(each, label, parent) for each in shown if each.file is None),
    ]
    is_fail = result["status"] == "FAIL"
    links = [f"[{_link_text(each.name)}]({number})" for number, each in enumerate(in_files, 1)]
    told = message("\n".join(_told(result, label)))
    if links:
        more = f" and {len(found) - len(links)} more" if len(found) > len(links) else ""
        told["text"] += f"\nSee {', '.join(links)}{more}."
    return {
        "ruleId": rule[0],
        **({} if rule[1] is None else {"ruleIndex": rule[1]}),
        "kind": "fail" if is_fail else "open",
        "level": _LEVELS[result.get("severity", "error")] if is_fail else "none",
        "message": told,
        "locations": [location],
        **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {"avermentAssertion/v1": finding.fingerprint},
        "properties": _properties(result, entry, label),
    }


def message(text: str) -> dict[str, Any]:
    """A plain text message, in which nothing that is quoted is a link or a placeholder (SARIF 3.11.5 and 3.11.6)."""
    return {"text": text.replace("](", "] (").replace("{", "{{").replace("}", "}}")}


def _artifact(name: str) -> dict[str, Any]:
    """The location of a file: a relative URI in which every character stands for itself."""
    path = file_path(name)
    try:
        data = path.encode("utf-8", "surrogateescape")  # a name that is not UTF-8 has its own bytes
    except UnicodeEncodeError:
        data = path.encode("utf-8", "surrogatepass")
    return {"uri": quote(data, safe="/~"), "uriBaseId": ROOT}


def document_location(result: Mapping[str, Any], file: str) -> dict[str, Any]:
    """Where the assertion stands; without a file if the document was none."""
    if file == "the document":
        return {}
    at = result.get("at") or {}
    return {"physicalLocation": _physical(file, at.get("line"), at.get("column"))}


def _physical(file: str, line: int | None, column: int | None) -> dict[str, Any]:
    region = {"startLine": line, "startColumn": column}
    known = {name: value for name, value in region.items() if value is not None}
    return {"artifactLocation": _artifact(file), **({"region": known} if known else {})}


def _logical(ground: _Ground, label: str, parent: int) -> dict[str, Any]:
    return {
        "name": ground.name,
        "fullyQualifiedName": f"{label}#{ground.place or ground.name}",
        "kind": ground.kind,
        "parentIndex": parent,
    }


def _link_text(text: str) -> str:
    escaped = re.sub(r"([\\\[\]])", r"\\\1", text)
    return escaped.replace("{", "{{").replace("}", "}}")


def _told(result: Mapping[str, Any], label: str) -> Iterator[str]:
    """The message's lines; the first is what is shown where there is little room."""
    id_ = brief(result["id"], _NAME)
    lead = f"{id_}: " if result["status"] == "FAIL" else f"{id_} is INCONCLUSIVE: "
    code = result.get("code")
    first = brief(lead + headline(result), _TEXT)
    yield f"{first} ({brief(code, 60)})." if code else f"{first}."
    yield f"In {label}."
    yield from list(details(result))[:_GROUNDS]


def _properties(result: Mapping[str, Any], entry: Judged, label: str) -> dict[str, Any]:
    told = {
        "assertion": brief(result["id"], _NAME),
        "status": result["status"],
        "code": result.get("code"),
        "severity": result.get("severity", "error"),
        "gates": gates(result, entry.envelope["inconclusive_policy"]),
        "deterministic": True,
        "dimension": result.get("dimension"),
        "owner": result.get("owner"),
        "description": result.get("description"),
        "conversation": label,
        "tags": _tags(result.get("tags") or ()),
    }
    return {
        name: brief(value, _TEXT) if isinstance(value, str) else value
        for name, value in told.items()
        if value is not None and value != []
    }


def _tags(tags: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(brief(tag, 100) for tag in tags[:_TAGS]))
