"""averment's own evidence files: the model, as `Evidence.to_json` writes it.

Such a file can come from anywhere, so what code relies on is checked: ids are unique, references lead somewhere, and
the limits hold.
"""

from __future__ import annotations

from typing import Any

import msgspec

from averment.errors import Problem
from averment.evidence.draft import Draft, Part, too_long
from averment.evidence.model import MAX_SPANS, SCHEMA, EvidenceModel

__all__ = ["fits", "read"]


def fits(value: Any) -> str | None:
    """Why this is an evidence file, or None."""
    return f"its schema is {SCHEMA}" if isinstance(value, dict) and value.get("schema") == SCHEMA else None


def read(part: Part, draft: Draft) -> None:
    """Take the model over as it is."""
    try:
        model = msgspec.convert(part.value, EvidenceModel)
    except msgspec.ValidationError as error:
        draft.problems.append(_problem(part, str(error)))
        return
    for name in ("turns", "calls", "spans"):
        items = getattr(model, name)
        if items is not None and len({item.id for item in items}) != len(items):
            draft.problems.append(part.problem("duplicate_id", f"two {name} have the same id", name))
    _check_references(part, draft, model)
    if len(model.spans or ()) > MAX_SPANS:
        draft.problems.append(
            part.problem("too_many_spans", f"there are more than {MAX_SPANS:,} spans", "spans")
        )
    for index, turn in enumerate(model.turns or ()):
        if too_long(turn.text):
            draft.problems.append(
                part.problem("text_too_long", "a turn's text is too long", "turns", index, "text")
            )
    draft.take(model)


def _check_references(part: Part, draft: Draft, model: EvidenceModel) -> None:
    spans = {span.id for span in model.spans or ()}
    calls = {call.id for call in model.calls or ()}
    for index, call in enumerate(model.calls or ()):
        if call.span_id is not None and call.span_id not in spans:
            draft.problems.append(
                part.problem("unknown_id", "there is no such span", "calls", index, "span_id")
            )
        if call.position is not None and not 0 <= call.position < len(spans):
            draft.problems.append(
                part.problem("unknown_id", "there is no such span", "calls", index, "position")
            )
        if call.retry_of is not None and call.retry_of not in calls:
            draft.problems.append(
                part.problem("unknown_id", "there is no such call", "calls", index, "retry_of")
            )


def _problem(part: Part, message: str) -> Problem:
    """What msgspec found, without the value it found."""
    what, _, place = message.partition(" - at `")
    if what.startswith("Invalid"):  # it goes on with the value
        what = "Expected another value"
    path = f"${place.removesuffix('`').removeprefix('$')}"
    return Problem(
        code="wrong_evidence",
        message=what,
        file=part.file,
        path=path,
        mend="Write the file with `Evidence.to_json`.",
    )
