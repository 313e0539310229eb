"""What a conversation that was read can't show after all, whatever its format: what readers of dialogues share.

Something of a type that a reader does not know, a call of no name, a text that was taken out: each may be what an
assertion asks for, so nothing that is not there proves that it did not happen.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from averment.evidence.draft import OF_CALLS, Draft
from averment.evidence.model import ToolCall, Turn

__all__ = [
    "NOT_TRANSCRIBED",
    "UNKNOWN_TYPE",
    "identified",
    "limit_redacted",
    "limit_speakers",
    "limit_unknown",
]

UNKNOWN_TYPE = "unknown_type"
"""The code of a note on something of a type that its reader does not know."""

NOT_TRANSCRIBED = "not_transcribed"
"""The code of a note on speech of which the source has no text."""


def limit_unknown(draft: Draft, calls: Sequence[ToolCall], *, how_arguments: str | None) -> None:
    """Say what may have been said or called, since something is not shown or not known."""
    noted = {note.code for note in draft.notes}
    if any(call.args_state != "recorded" for call in calls):
        reason = "the source does not show the arguments of every call"
        draft.limit("arguments", "partial", reason, how_arguments or _RECORD_ARGUMENTS)
    if any(call.name is None for call in calls):
        reason = "the source does not show which tool some calls are of"
        for channel in ("requests", "executions"):
            draft.limit(channel, "partial", reason, _NAME_TOOLS)
    if UNKNOWN_TYPE in noted:
        reason = (
            "some of what is in the source has a type that is not known, and may be a call or an utterance"
        )
        for channel in ("transcript", *OF_CALLS):
            draft.limit(channel, "partial", reason, _NEWER)
    if NOT_TRANSCRIBED in noted:
        reason = "some of what was said is there as audio alone"
        draft.limit("transcript", "partial", reason, "Record the transcripts of audio in the source.")


def identified(turns: Sequence[Turn]) -> Sequence[Turn]:
    """The turns, with nobody in a role of their own where the agent or the user is not among those that are known.

    `virtual_assistant`, `Agent 1` and `SPEAKER_00` may well be the one who is missing; a document can say who they are.
    """
    spoken = {turn.role for turn in turns if turn.said}
    if "other" not in spoken or {"agent", "user"} <= spoken:
        return turns
    return [
        msgspec.structs.replace(turn, role="unknown") if turn.said and turn.role == "other" else turn
        for turn in turns
    ]


def limit_speakers(draft: Draft, turns: Sequence[Turn]) -> None:
    """Say that the source does not tell who some speakers are."""
    if any(turn.role == "unknown" for turn in turns):
        reason = "the source labels speakers, and does not say who is the agent"
        draft.limit("speakers", "partial", reason, _NAME_SPEAKERS)


def limit_redacted(draft: Draft) -> None:
    """Say that texts were taken out of the transcript."""
    draft.limit("transcript", "redacted", "texts were redacted in the source", _UNMASK)


_NAME_SPEAKERS = "Say in the document who is who, as with `roles: {agent: [speaker_0], caller: [speaker_1]}`."
_RECORD_ARGUMENTS = "Export the calls with their arguments, in whatever made this file."
_NAME_TOOLS = "Export the conversation from its beginning, with the names of the tools in it."
_NEWER = "See the notes on `unknown_type`; a newer version of averment may know it."
_UNMASK = "Export the conversation without redaction, or add another record of what was said."
