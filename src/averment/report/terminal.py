"""An envelope for a person at a terminal: what failed, the evidence that shows it, then counts.

Evidence can hold anything, terminal control sequences too, and so can documents: what is quoted of evidence is redacted
first, then made printable, then cut; what stems from a document is made printable and cut. No line that comes out is a
command for the runner of GitHub Actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from averment.assertions.base import Assertion, Status
from averment.assertions.codes import Code
from averment.documents import Document
from averment.engine.envelope import Envelope, Result
from averment.evidence.model import EvidenceModel, ToolCall
from averment.report.look import PLAIN, Look, cells
from averment.text.jsontext import canonical
from averment.text.pii import redact
from averment.text.shown import brief, inert, printable

__all__ = [
    "VERDICTS",
    "call_text",
    "card",
    "cards",
    "counted",
    "head",
    "is_unproduced",
    "open_results",
    "render",
]

_SHOWN = 3
_LONGEST_NAME = 240
VERDICTS = {
    0: "the gate says yes",
    1: "the gate says no",
    2: "no verdict: evidence is missing, and the policy is to refuse",
    3: "internal error: a check failed, please report it",
}
"""What an exit code says (definitions, "Exit codes")."""


def render(
    envelope: Envelope,
    document: Document,
    evidence: EvidenceModel,
    *,
    source: str | None = None,
    look: Look = PLAIN,
    verbose: bool = False,
) -> str:
    """The report on one conversation, ending in a newline.

    Args:
        envelope: the results.
        document: the document they come from; its lines are named as editors understand them.
        evidence: the conversation, for the excerpts.
        source: the conversation's name, as the user gave it.
        look: colours, and where lines end.
        verbose: whether to show the grounds of passes as well, after all that is open.
    """
    names = [brief(name, _LONGEST_NAME) for name in (document.display_name, source or "the conversation")]
    lines = [look.paint("bold", " over ".join(names)), ""]
    if all(result.status is Status.INCONCLUSIVE for result in envelope.results):
        lines += [look.paint("INCONCLUSIVE", "NOTHING WAS DECIDED: every assertion is INCONCLUSIVE."), ""]
    shown = open_results(envelope.results)
    if verbose:
        shown += [index for index, result in enumerate(envelope.results) if result.status is Status.PASS]
    for told in cards(envelope, document, evidence, shown, look):
        lines += [*told, ""]
    lines += _tally(envelope, look)
    return inert("\n".join(lines) + "\n")


def card(envelope: Envelope, document: Document, evidence: EvidenceModel, index: int) -> str:
    """What the report says of one result, whatever its verdict is, without an end of line.

    Args:
        envelope: the results.
        document: the document they come from.
        evidence: the conversation, for the excerpts.
        index: which result is meant.
    """
    return inert("\n".join(next(cards(envelope, document, evidence, [index], PLAIN))))


def cards(
    envelope: Envelope, document: Document, evidence: EvidenceModel, indexes: Iterable[int], look: Look
) -> Iterator[list[str]]:
    """The lines of one card after the other; not yet inert.

    Where no conversation was produced, one card says so for all assertions.
    """
    indexes = list(indexes)
    if len(indexes) > 1 and is_unproduced(envelope.results):
        yield list(_unproduced(envelope.results[0], len(envelope.results), look))
        return
    results = {result.id: result for result in envelope.results}
    for index in indexes:
        premises = [results[name] for name in document.assertions[index].premises()]
        lines = [*head(envelope.results[index], document.file_name(index), look)]
        lines += _body(envelope.results[index], document.assertions[index], premises, evidence, look)
        yield lines


def is_unproduced(results: Sequence[Result]) -> bool:
    """Whether a command gave no conversation, so that all assertions are undecided for the same reason."""
    return bool(results) and all(result.code == Code.NOT_PRODUCED for result in results)


def _unproduced(first: Result, count: int, look: Look) -> Iterator[str]:
    """The lines that say so once, for all assertions; not yet inert.

    Args:
        first: one of the results.
        count: how many assertions there are.
        look: colours and width.
    """
    yield f"{look.paint(first.status, first.status)}  {look.paint('bold', f'all {count} assertions')}"
    if first.reason:
        yield from look.lines(printable(first.reason, 600), indent=4)
    yield look.paint("dim", f"    code: {first.code}")


def open_results(results: Sequence[Result]) -> list[int]:
    """Indexes of what is not PASS: failures that gate, then other failures, then what stayed undecided."""
    rank = {Status.FAIL: 0, Status.INCONCLUSIVE: 1}
    found = [
        index
        for index, result in enumerate(results)
        if result.status is not Status.PASS and result.is_applicable
    ]
    return sorted(
        found, key=lambda index: (rank[results[index].status], results[index].severity != "error", index)
    )


def counted(counts: Mapping[str, int], look: Look, *, zeros: bool = True) -> str:
    """Counts by verdict, `12 pass · 1 fail`, in the colours of the verdicts.

    Args:
        counts: how many there are, by the verdict's name in lower case.
        look: the colours.
        zeros: whether to say of which there are none.
    """
    return " · ".join(
        look.paint(name.upper() if count else "dim", f"{count} {name}")
        for name, count in counts.items()
        if count or zeros
    )


def _body(
    result: Result, assertion: Assertion, premises: Sequence[Result], evidence: EvidenceModel, look: Look
) -> Iterator[str]:
    if result.common.get("description"):
        yield from look.lines(brief(result.common["description"], 400), indent=4)
    if result.reason:
        yield from look.lines(printable(result.reason, 600), indent=4)
    if result.status is Status.PASS:
        for line in _measures(result, assertion):
            yield from look.lines(line, indent=4)
    for line in _grounds(result, evidence):
        yield from look.lines(line, indent=4)
    for premise in premises:
        for line in _grounds(premise, evidence):
            *whole, last = look.lines(line, indent=4)
            yield from whole
            yield f"{last}  {look.paint('dim', f'({brief(premise.id, 80)}: {premise.status})')}"
    if result.code:
        yield look.paint("dim", f"    code: {result.code}")


def head(result: Result, file: str, look: Look, *, where: str | None = None) -> Iterator[str]:
    """The first line of a card: verdict and name, and what kind of assertion it is; in two lines where it is too long.

    Args:
        result: the result.
        file: the file in which its assertion stands.
        look: colours and width.
        where: in how many conversations.
    """
    place = f"{file}:{result.at.line}" if result.at else file
    severity = None if result.severity == "error" else result.severity
    about = " · ".join(
        brief(part, _LONGEST_NAME) for part in (where, result.kind, result.dimension, severity, place) if part
    )
    name = brief(result.id, 120)
    line = f"{look.paint(result.status, result.status)}  {look.paint('bold', name)}"
    if look.width is not None and len(result.status) + cells(name) + cells(about) + 4 > look.width:
        yield line
        yield from look.lines(about, indent=4, style="dim")
    else:
        yield f"{line}  {look.paint('dim', about)}"


def _measures(result: Result, assertion: Assertion) -> Iterator[str]:
    """What was counted or measured for a pass, beside what was asked."""
    details = result.details
    if details.get("vacuous"):
        yield "there was nothing in the conversation that it could have failed on"
    if "met" in details and "of" in details:
        yield f"{details['met']} of {details['of']} met"
    for name, limit, unit in (("measured_ms", "max_ms", " ms"), ("measured", "max", "")):
        if name in details:
            yield f"measured {details[name]}{unit}, and may be at most {getattr(assertion, limit, '?')}{unit}"
    if "observed" in details:
        yield f"observed {details['observed']}, and asked for {_bounds(getattr(assertion, 'count', None))}"


def _bounds(count: Any) -> str:
    if isinstance(count, int):
        return str(count)
    parts = [
        f"{words} {bound}"
        for words, name in (("at least", "min"), ("at most", "max"))
        if isinstance(bound := getattr(count, name, None), int)
    ]
    return " and ".join(parts) or "any number"


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
    calls = [call for call in evidence.calls or () if redact(call.id) in wanted] if wanted else []
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


def _tally(envelope: Envelope, look: Look) -> Iterator[str]:
    counts = envelope.counts()
    yield counted(counts, look)
    lesser = envelope.counts(errors=False)
    if any(lesser.values()):
        yield "warnings and notes, which never gate: " + counted(lesser, PLAIN)
    inapplicable = [brief(result.id, 80) for result in envelope.results if not result.is_applicable]
    if inapplicable:
        yield from look.lines(f"not applicable: {', '.join(inapplicable)}")
    for result in envelope.results:
        if "not_scanned" in result.details:
            parts = ", ".join(name.replace("_", " ") for name in result.details["not_scanned"])
            yield from look.lines(f"{brief(result.id, 80)} did not look at: {parts}", style="dim")
    yield from _dimensions(envelope.results)
    policy = f" (inconclusive_policy: {envelope.inconclusive_policy})" if counts["inconclusive"] else ""
    yield f"exit {int(envelope.exit_code)}: {VERDICTS[int(envelope.exit_code)]}{policy}"


def _dimensions(results: Sequence[Result]) -> Iterator[str]:
    """The counts under each heading, where the document has headings."""
    dimensions: dict[str, dict[str, int]] = {}
    for result in results:
        name = brief(result.dimension or "no dimension", 40)
        told = dimensions.setdefault(name, {**{s.lower(): 0 for s in Status}, "not applicable": 0})
        told[result.status.lower() if result.is_applicable else "not applicable"] += 1
    if set(dimensions) != {"no dimension"}:
        width = max(map(cells, dimensions))
        for name, counts in dimensions.items():
            yield f"  {name}{' ' * (width - cells(name))}  {counted(counts, PLAIN, zeros=False)}"
