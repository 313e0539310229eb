"""An envelope for a person at a terminal: what failed, the evidence that shows it, then counts.

Evidence can hold anything, terminal control sequences too: what is quoted is redacted first, then made printable,
then cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from averment.assertions.base import Status
from averment.documents import Document
from averment.engine.envelope import Envelope, Result
from averment.evidence.model import EvidenceModel, ToolCall
from averment.text.jsontext import canonical
from averment.text.pii import redact
from averment.text.shown import printable

__all__ = ["call_text", "card", "render"]

_SHOWN = 3
_CODES = {"PASS": "32", "FAIL": "31;1", "INCONCLUSIVE": "33", "dim": "2", "bold": "1"}
_VERDICTS = {
    0: "the gate says yes",
    1: "the gate says no",
    2: "no verdict: evidence is missing, and the policy is to refuse",
    3: "internal error: a check failed, please report it",
}


def render(
    envelope: Envelope,
    document: Document,
    evidence: EvidenceModel,
    *,
    source: str | None = None,
    color: bool = False,
    verbose: bool = False,
) -> str:
    """The report on one conversation, ending in a newline.

    Args:
        envelope: the results.
        document: the document they come from; its lines are named as editors understand them.
        evidence: the conversation, for the excerpts.
        source: the conversation's name, as the user gave it.
        color: whether to use ANSI colours.
        verbose: whether to show the grounds of passes as well.
    """
    paint = _painter(color)
    lines = [paint("bold", f"{document.display_name} over {source or 'the conversation'}"), ""]
    if all(result.status is Status.INCONCLUSIVE for result in envelope.results):
        lines += [paint("INCONCLUSIVE", "NOTHING WAS DECIDED: every assertion is INCONCLUSIVE."), ""]
    results = {result.id: result for result in envelope.results}
    for index in _worst_first(envelope.results):
        result = envelope.results[index]
        premises = [results[name] for name in document.assertions[index].premises()]
        lines += [*_card(result, premises, document.file_name(index), evidence, paint), ""]
    lines += _tally(envelope, paint)
    return "\n".join(lines) + "\n"


def card(envelope: Envelope, document: Document, evidence: EvidenceModel, index: int) -> str:
    """What the report says of one result, whatever its verdict is, without an end of line.

    Args:
        envelope: the results.
        document: the document they come from.
        evidence: the conversation, for the excerpts.
        index: which result is meant.
    """
    results = {result.id: result for result in envelope.results}
    premises = [results[name] for name in document.assertions[index].premises()]
    lines = _card(
        envelope.results[index], premises, document.file_name(index), evidence, _painter(color=False)
    )
    return "\n".join(lines)


def _worst_first(results: Sequence[Result]) -> list[int]:
    """Indexes of what is not PASS: failures that gate, then other failures, then what stayed undecided."""
    rank = {Status.FAIL: 0, Status.INCONCLUSIVE: 1}
    open_results = [
        index
        for index, result in enumerate(results)
        if result.status is not Status.PASS and result.is_applicable
    ]
    return sorted(
        open_results,
        key=lambda index: (rank[results[index].status], results[index].severity != "error", index),
    )


def _card(
    result: Result,
    premises: Sequence[Result],
    file: str,
    evidence: EvidenceModel,
    paint: Callable[[str, str], str],
) -> Iterator[str]:
    place = f"{file}:{result.at.line}" if result.at else file
    about = " · ".join(
        part
        for part in (
            result.kind,
            result.dimension,
            None if result.severity == "error" else result.severity,
            place,
        )
        if part
    )
    yield f"{paint(result.status, result.status)}  {paint('bold', result.id)}  {paint('dim', about)}"
    if result.common.get("description"):
        yield f"    {result.common['description']}"
    if result.reason:
        yield f"    {printable(result.reason, 600)}"
    for line in _grounds(result, evidence):
        yield f"    {line}"
    for premise in premises:
        for line in _grounds(premise, evidence):
            yield f"    {line}  {paint('dim', f'({premise.id}: {premise.status})')}"
    if result.code:
        yield paint("dim", f"    code: {result.code}")


def _grounds(result: Result, evidence: EvidenceModel) -> Iterator[str]:
    turns = evidence.turns or ()
    for index in result.turns[:_SHOWN]:
        yield f'turn {index}, {printable(turns[index].role_raw or "nobody", 40)}: "{printable(turns[index].text)}"'
    if len(result.turns) > _SHOWN:
        yield f"... and {len(result.turns) - _SHOWN} more turns"
    wanted = set(result.tool_calls)
    miss = result.details.get("nearest_miss")
    if isinstance(miss, Mapping):
        wanted.add(miss["tool_call"])
    calls = [call for call in evidence.calls or () if redact(call.id) in wanted]
    for call in calls[:_SHOWN]:
        yield f"call {printable(call.id, 40)}: {call_text(call)}"
    if len(calls) > _SHOWN:
        yield f"... and {len(calls) - _SHOWN} more calls"


def call_text(call: ToolCall) -> str:
    """A call in one line: its name, arguments, result and error."""
    if call.args_error is not None:
        args = f"(arguments that can't be read: {printable(call.args_raw or '')})"
    else:
        is_shown = call.args_state == "recorded" or _is_set(call.args)
        args = _json(call.args) if is_shown else "(arguments not recorded)"
    result = "" if not _is_set(call.result) else f" -> {_json(call.result)}"
    error = "" if not _is_set(call.error) else f", error {_json(call.error)}"
    return f"{printable(call.name or '?', 60)} {args}{result}{error}"


def _is_set(value: Any) -> bool:
    from msgspec import UNSET

    return value is not UNSET


def _json(value: Any) -> str:
    return printable(canonical(value).decode()) if _is_set(value) else "{}"


def _tally(envelope: Envelope, paint: Callable[[str, str], str]) -> Iterable[str]:
    counts = envelope.counts()
    yield " · ".join(
        paint(name.upper() if count else "dim", f"{count} {name}") for name, count in counts.items()
    )
    lesser = envelope.counts(errors=False)
    if any(lesser.values()):
        yield "warnings and notes, which never gate: " + " · ".join(
            f"{count} {name}" for name, count in lesser.items()
        )
    inapplicable = [result.id for result in envelope.results if not result.is_applicable]
    if inapplicable:
        yield f"not applicable: {', '.join(inapplicable)}"
    for result in envelope.results:
        if "not_scanned" in result.details:
            parts = ", ".join(name.replace("_", " ") for name in result.details["not_scanned"])
            yield paint("dim", f"{result.id} did not look at: {parts}")
    dimensions: dict[str, list[Result]] = {}
    for result in envelope.results:
        dimensions.setdefault(result.dimension or "no dimension", []).append(result)
    if set(dimensions) != {"no dimension"}:
        width = max(len(name) for name in dimensions)
        for name, results in dimensions.items():
            statuses = [result.status for result in results]
            told = " · ".join(
                f"{statuses.count(status)} {status.lower()}" for status in Status if status in statuses
            )
            yield f"  {name:<{width}}  {told}"
    policy = f" (inconclusive_policy: {envelope.inconclusive_policy})" if counts["inconclusive"] else ""
    yield f"exit {int(envelope.exit_code)}: {_VERDICTS[int(envelope.exit_code)]}{policy}"


def _painter(color: bool) -> Callable[[str, str], str]:
    def paint(style: str, text: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if color else text

    return paint
