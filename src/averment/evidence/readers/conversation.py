"""The conversation record: all evidence of one conversation in one object (definitions.md, "Files").

`{conversation_id | call_id, transcript?, spans | trace?, timing?, state?, metadata?, labels?}`; a key that is missing
or null is absent, an empty list is empty. A key that is none of these is refused: a misspelt `transcipt` that was
passed over would make every verdict on the transcript a verdict on nothing.
"""

from __future__ import annotations

from typing import Any

from averment.errors import nearest
from averment.evidence.draft import Draft, Part, kind_of, quoted
from averment.evidence.readers import state_json, timing, transcript, voice_trace

__all__ = ["KEYS", "fits", "read"]


KEYS = ("conversation_id", "call_id", "transcript", "spans", "trace", "timing", "state", "metadata", "labels")

_READERS = {
    "transcript": transcript.read,
    "spans": voice_trace.read,
    "trace": voice_trace.read,
    "timing": timing.read,
    "state": state_json.read,
}


def fits(value: Any) -> str | None:
    """Why this looks like a conversation record, or None; misspelt keys don't keep it from being one."""
    if not isinstance(value, dict) or "schema" in value:
        return None
    known = value.keys() & set(KEYS)
    if known and len(known) * 2 >= len(value):
        return f"it has {', '.join(f'`{key}`' for key in KEYS if key in known)}"
    return None


def read(part: Part, draft: Draft) -> None:
    """Read every part of one record."""
    record = part.value
    if not isinstance(record, dict):
        draft.problems.append(
            part.problem(
                "wrong_type",
                "a conversation record must be an object",
                expected="an object",
                found=kind_of(record),
            )
        )
        return
    for key in record:
        if key not in KEYS:
            draft.problems.append(
                part.problem(
                    "unknown_key",
                    f"a conversation record has no {quoted(key)}",
                    key,
                    expected=", ".join(KEYS),
                    nearest=nearest(key[:60], KEYS),
                    mend="Put what belongs to no part of the conversation under `metadata`.",
                )
            )
    for one, other in (("conversation_id", "call_id"), ("spans", "trace")):
        if record.get(one) is not None and record.get(other) is not None:
            message = f"`{one}` and `{other}` are two names of one thing"
            draft.problems.append(part.problem("given_twice", message, mend="Give one of them."))
    for key in ("conversation_id", "call_id"):
        if record.get(key) is not None:
            draft.conversation_id = _typed(part, draft, key, str)
    draft.metadata = _typed(part, draft, "metadata", dict)
    draft.labels = _typed(part, draft, "labels", dict)
    for key, reader in _READERS.items():
        if record.get(key) is not None:
            reader(part.at(key), draft)


def _typed(part: Part, draft: Draft, key: str, kind: type) -> Any:
    value = part.value.get(key)
    if value is None or type(value) is kind:
        return value
    expected = "a string" if kind is str else "an object"
    draft.problems.append(
        part.problem(
            "wrong_type", f"`{key}` must be {expected}", key, expected=expected, found=kind_of(value)
        )
    )
    return None
