"""Bland: the call as the API and the webhook after a call give it, and lists `{calls: [...]}` of such calls.

`transcripts` are the turns: `user` is who speaks (`assistant` and `robot` are the agent), `created_at` is when, by
the clock. `transferred_to` is a handoff, `call_ended_by` tells who ended the call. `call_length` is in minutes and
`price` in US dollars; both are metadata, as written.

Known gaps: a call shows no tools and no keys; what the agent did stands in `agent-action` texts at best, which are no
speech, and in the logs of pathways, which are another export. Turns have no end, and often no time at all.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import OF_CALLS, Draft, Part, kind_of
from averment.evidence.model import Role
from averment.evidence.readers.texts import text_of
from averment.evidence.readers.transcript import role_of
from averment.evidence.readers.voice_call import VoiceCall, items_in, text_in
from averment.evidence.times import instant

__all__ = ["fits", "read", "split"]

_ITEMS_TRIED = 20
_FACTS = (
    *(
        "created_at",
        "started_at",
        "end_at",
        "call_length",
        "corrected_duration",
        "completed",
        "status",
        "price",
    ),
    *(
        "to",
        "from",
        "inbound",
        "queue_status",
        "answered_by",
        "call_ended_by",
        "error_message",
        "disposition_tag",
    ),
    *(
        "summary",
        "analysis",
        "variables",
        "metadata",
        "pathway_id",
        "batch_id",
        "recording_url",
        "max_duration",
    ),
    *("transferred_to", "transferred_at"),
)
_KNOWN = frozenset({*_FACTS, "call_id", "c_id", "transcripts", "concatenated_transcript"})
_TURN_KEYS = frozenset({"id", "user", "text", "created_at"})
_ROLES: dict[str, Role] = {"agent-action": "other"}
_ENDED_BY = {"ASSISTANT": "agent", "USER": "caller"}

_ELSEWHERE = (
    "Bland's calls show no tools: give a trace of the tools' own service, or the state of its system."
)


def fits(value: Any) -> str | None:
    """Why this looks like Bland's, or None."""
    if _is_call(value):
        return "it has `transcripts` with `user` and `text`"
    if type(value) is dict:
        calls = value.get("calls")
        if type(calls) is list and calls and _is_call(calls[0]):
            return "its `calls` have `transcripts` with `user` and `text`"
    return None


def _is_call(value: Any) -> bool:
    if type(value) is not dict or type(value.get("transcripts")) is not list:
        return False
    tried = value["transcripts"][:_ITEMS_TRIED]
    if not tried:
        return "call_length" in value and ("call_id" in value or "c_id" in value)
    return all(type(item) is dict and "user" in item and "text" in item for item in tried)


def split(part: Part) -> list[Part]:
    """The calls of a list, or the one call."""
    if type(part.value) is dict and "transcripts" not in part.value and type(part.value.get("calls")) is list:
        calls = part.at("calls")
        return [calls.item(index) for index in range(len(calls.value))]
    return [part]


def read(part: Part, draft: Draft) -> None:
    """Read one call."""
    value, loc = part.value, part.loc()
    if type(value) is not dict:
        draft.problems.append(
            part.problem("wrong_type", "a call must be an object", expected="an object", found=kind_of(value))
        )
        return
    call = VoiceCall(part, draft)
    draft.conversation_id = text_in(value, "call_id", "c_id")
    draft.drop_rest(value, _KNOWN, loc)
    call.facts(value, _FACTS)
    items = items_in(part, "transcripts", draft)
    transcripts = value.get("transcripts")
    call.records = len(transcripts) if type(transcripts) is list else 0
    for item, place in items:
        call.read += _turn(item, place, call)
    _events(value, loc, call)
    call.finish(
        shows=["handoff"] if "transferred_to" in value else [], platform="Bland", how_failures=_ELSEWHERE
    )
    draft.calls = None
    reason = "Bland's calls hold no tool calls"
    call.limit(OF_CALLS, "absent", reason, _ELSEWHERE)
    if type(transcripts) is not list:
        draft.turns = None
        call.limit(
            ("transcript",), "absent", "the call has no `transcripts`", "Export it with GET /v1/calls/{id}."
        )


def _turn(item: dict[str, Any], loc: str, call: VoiceCall) -> bool:
    call.draft.drop_rest(item, _TURN_KEYS, loc)
    text = text_of(item.get("text"), loc, call.draft)
    if text is None:
        call.draft.drop("an utterance without a text", loc)
        return False
    user, own = item.get("user"), item.get("id")
    role_raw = user if type(user) is str else None
    written = item.get("created_at")
    start = instant(written)
    if start is None and written is not None:
        call.draft.note("time_unreadable", loc, "`created_at` is no date and time; it is left out")
    call.dialogue.turn(
        role_raw,
        text,
        loc,
        role=_ROLES.get(role_raw or "") or role_of(role_raw),
        own=str(own) if type(own) is int else own,
        start_ns=start,
        clock="epoch",
        said=role_raw != "agent-action",
    )
    return True


def _events(value: dict[str, Any], loc: str, call: VoiceCall) -> None:
    target = text_in(value, "transferred_to")
    if target is not None:
        at = instant(value.get("transferred_at"))
        call.event("handoff", loc, to=target, start_ns=at, clock="epoch", placed=False)
    ended_by = text_in(value, "call_ended_by")
    if value.get("completed") is True or ended_by is not None or text_in(value, "end_at") is not None:
        at = instant(value.get("end_at"))
        by = None if ended_by is None else _ENDED_BY.get(ended_by.upper(), ended_by)
        call.event("call_ended", loc, reason=text_in(value, "status"), by=by, start_ns=at, clock="epoch")
