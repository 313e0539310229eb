"""ElevenLabs: the `post_call_transcription` webhook, conversations as the API gives them, and simulated ones.

An item of `transcript` is a turn with the tools that were called in it: `tool_calls` are requests, `tool_results`
answer them by `request_id`, with `is_error`. `tool_calls: null` says that tools were not recorded, `[]` that none was
called. Where the agent was cut off, `message` is what was said and `original_message` what was meant. Successful
transfers are handoffs, `termination_reason` is the end of the call, dynamic variables and the analysis are metadata.

Known gaps: `time_in_call_secs` is in whole seconds, a moment and no duration, so no latency can be told from it; that
of a tool is `tool_latency_secs`. Keys that the caller presses, audio, and measurements of single turns are not read.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.draft import OF_ANSWERS, OF_CALLS, Draft, Part, kind_of, nanoseconds
from averment.evidence.model import ToolCall
from averment.evidence.readers.texts import text_of
from averment.evidence.readers.voice_call import VoiceCall, items_in, object_in, relative, text_in
from averment.evidence.times import MILLISECOND

__all__ = ["fits", "read"]

_ITEMS_TRIED = 20
_WEBHOOK = "post_call_transcription"
_TRANSCRIPTS = ("transcript", "simulated_conversation")

_FACTS = ("agent_id", "agent_name", "status", "user_id", "branch_id", "version_id", "analysis")
_CALL_FACTS = (
    *("start_time_unix_secs", "accepted_time_unix_secs", "call_duration_secs", "cost", "termination_reason"),
    *("error", "main_language", "phone_call", "charging", "text_only", "deletion_settings", "feedback"),
)
_KNOWN = frozenset(
    {*_FACTS, *_TRANSCRIPTS, "conversation_id", "metadata", "conversation_initiation_client_data"}
)
_ITEM_KEYS = frozenset(
    {"role", "message", "original_message", "interrupted", "tool_calls", "tool_results", "time_in_call_secs"}
)
_REQUEST_KEYS = frozenset({"request_id", "tool_name", "params_as_json", "tool_has_been_called", "type"})
_ANSWER_KEYS = frozenset(
    {
        *("request_id", "tool_name", "result_value", "result", "is_error", "tool_has_been_called"),
        *("tool_latency_secs", "error_type", "raw_error_message", "type"),
    }
)
_RUNNING = frozenset({"initiated", "in-progress", "in_progress", "processing"})

_WITH_TOOLS = (
    "Export the conversation with the API (GET /v1/convai/conversations/{conversation_id}), or give a trace."
)
_AFTER_END = "Export the conversation when its status is `done`."
_KEEP = "Let the agent keep transcripts: turn off zero retention and deletion, and export before they are removed."


def fits(value: Any) -> str | None:
    """Why this looks like ElevenLabs', or None."""
    if type(value) is not dict:
        return None
    if value.get("type") == _WEBHOOK and type(value.get("data")) is dict:
        return f"its type is `{_WEBHOOK}`"
    if type(value.get("simulated_conversation")) is list:
        return "it has a `simulated_conversation`"
    items = value.get("transcript")
    if type(items) is not list or "conversation_id" not in value:
        return None
    if any(type(item) is dict and "time_in_call_secs" in item for item in items[:_ITEMS_TRIED]):
        return "it has a `conversation_id`, and a `transcript` with `time_in_call_secs`"
    if not items and "agent_id" in value and "status" in value:
        return "it has `conversation_id`, `agent_id`, `status` and a `transcript`"
    return None


def read(part: Part, draft: Draft) -> None:
    """Read one conversation."""
    if type(part.value) is dict and type(part.value.get("data")) is dict:
        draft.drop_rest(part.value, {"type", "data", "event_timestamp"}, part.loc())
        part = part.at("data")
    if type(part.value) is not dict:
        found = kind_of(part.value)
        draft.problems.append(
            part.problem("wrong_type", "a conversation must be an object", expected="an object", found=found)
        )
        return
    _Conversation(part, draft).read()


class _Conversation:
    """One conversation of ElevenLabs'."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._call = VoiceCall(part, draft)
        self._dialogue = self._call.dialogue
        self._called: set[str] = set()
        self._lists: dict[str, list[bool]] = {"tool_calls": [], "tool_results": []}

    def read(self) -> None:
        value, draft, loc = self._part.value, self._draft, self._part.loc()
        draft.conversation_id = text_in(value, "conversation_id")
        draft.drop_rest(value, _KNOWN, loc)
        metadata = object_in(value, "metadata")
        self._call.facts(value, _FACTS)
        self._call.facts(metadata, _CALL_FACTS)
        self._call.facts(object_in(value, "conversation_initiation_client_data"), ("dynamic_variables",))
        draft.drop_rest(metadata, _CALL_FACTS, f"{loc}.metadata")
        key = next((key for key in _TRANSCRIPTS if type(value.get(key)) is list), None)
        if key is not None:
            items = items_in(self._part, key, draft)
            self._call.records = len(value[key])
            for item, place in items:
                self._call.read += self._item(item, place)
        self._call.finish(
            records_answers=any(self._lists["tool_results"]) or None,
            platform="ElevenLabs",
            how_failures=_WITH_TOOLS,
            how_arguments=_WITH_TOOLS,
        )
        self._execute()
        self._events(metadata, loc)
        self._limit(value, metadata, has_transcript=key is not None)

    def _item(self, item: dict[str, Any], loc: str) -> bool:
        role, draft = item.get("role"), self._draft
        draft.drop_rest(item, _ITEM_KEYS, loc)
        if role == "agent":
            self._dialogue.step()
        calls, results = item.get("tool_calls"), item.get("tool_results")
        if role != "user":
            self._lists["tool_calls"].append(type(calls) is list)
            self._lists["tool_results"].append(type(results) is list)
        text = text_of(item.get("message"), loc, draft)
        start = relative(item.get("time_in_call_secs"), loc, draft)
        original, interrupted = text_in(item, "original_message"), item.get("interrupted")
        if text:
            self._dialogue.turn(
                role if type(role) is str else None,
                text,
                loc,
                start_ns=start,
                clock="call_relative",
                interrupted=interrupted if type(interrupted) is bool else None,
                original=original if original != text else None,
            )
        part = Part(item, path=())
        for call, place in items_in(part, "tool_calls", draft):
            self._request(call, loc + place.partition("$")[2])
        for result, place in items_in(part, "tool_results", draft):
            self._answer(result, loc + place.partition("$")[2])
        if not text and not calls and not results:
            draft.drop("an item of the transcript with neither a message nor a tool", loc)
            return False
        return True

    def _request(self, call: dict[str, Any], loc: str) -> None:
        self._draft.drop_rest(call, _REQUEST_KEYS, loc)
        if call.get("tool_has_been_called") is True:
            self._called.add(loc)
        self._dialogue.request(
            call.get("tool_name"),
            call.get("params_as_json"),
            loc,
            own=call.get("request_id"),
            status="requested" if call.get("tool_has_been_called") is False else None,
        )

    def _answer(self, result: dict[str, Any], loc: str) -> None:
        self._draft.drop_rest(result, _ANSWER_KEYS, loc)
        value = result.get("result_value")
        if value is None or value == "":
            value = result.get("result", value)
        failed = result.get("is_error")
        failed = failed if type(failed) is bool else None
        error = text_in(result, "raw_error_message", "error_type") if failed else None
        self._dialogue.answer(
            value,
            loc,
            own=result.get("request_id"),
            name=text_in(result, "tool_name"),
            failed=failed,
            error=UNSET if error is None else error,
            state="absent" if value is None and not failed else "recorded",
            latency_ms=_milliseconds(result.get("tool_latency_secs")),
        )

    def _execute(self) -> None:
        """A call that is said to have been made was made, also where no result of it is there."""
        calls = list(self._draft.calls or ())
        silent = [
            index
            for index, call in enumerate(calls)
            if call.status in ("unanswered", "requested") and call.loc in self._called
        ]
        for index in silent:
            calls[index] = msgspec.structs.replace(calls[index], status="executed", result_state="absent")
        self._draft.calls = calls
        if not silent:
            return
        if (
            self._draft.coverage["executions"].state == "absent"
        ):  # no answer to any, and yet something was made
            self._draft.cover("executions", len(calls))
        reason = "of some calls that were made there is no result"
        for channel in ("results", "errors"):
            self._draft.limit(channel, "partial", reason, _WITH_TOOLS)

    def _events(self, metadata: dict[str, Any], loc: str) -> None:
        """Handoffs, which are calls of the platform's own tools that went well, and the end of the call."""
        calls = list(self._draft.calls or ())
        for index, call in enumerate(calls):
            if call.name not in _TRANSFERS or call.status != "ok":
                continue
            fields = _handed(call)
            if fields is not None:
                place = call.loc or loc
                position = self._call.event("handoff", place, name=call.name, seq=call.seq, fields=fields)
                calls[index] = msgspec.structs.replace(call, span_id=f"s_{position}", position=position)
        reason = text_in(metadata, "termination_reason")
        if reason is not None:
            hung_up = any(call.name == "end_call" and call.status == "ok" for call in calls)
            self._call.event("call_ended", loc, reason=reason, by="agent" if hung_up else None)
        self._draft.calls = calls
        self._call.write_spans(["handoff"] if any(self._lists["tool_calls"]) else [])

    def _limit(self, value: dict[str, Any], metadata: dict[str, Any], *, has_transcript: bool) -> None:
        limit, draft = self._call.limit, self._draft
        recorded = self._lists["tool_calls"]
        reason = "`tool_calls` is null, which says that calls were not recorded"
        if not any(recorded) and not draft.calls:
            draft.calls = None
            limit(OF_CALLS, "absent", reason, _WITH_TOOLS)
        elif not all(recorded):
            limit((*OF_CALLS, "handoff"), "partial", f"in some turns {reason}", _WITH_TOOLS)
        unanswered = any(call.status == "unanswered" for call in draft.calls or ())
        if unanswered and not all(self._lists["tool_results"]):
            reason = "in some turns `tool_results` is null, which says that results were not recorded"
            limit(OF_ANSWERS, "partial", reason, _WITH_TOOLS)
        lasted: Any = metadata.get("call_duration_secs")
        if has_transcript and not self._call.records and type(lasted) in (int, float) and lasted > 0:
            reason = "a call took place, and its transcript is empty"
            limit(("transcript",), "redacted", reason, _KEEP)
        if not has_transcript:
            draft.turns = None
            limit(("transcript",), "absent", "the conversation has no transcript", _AFTER_END)
        status = value.get("status")
        if type(status) is str and status in _RUNNING:
            limit(
                ("transcript", *OF_CALLS, "handoff"), "partial", "the conversation had not ended", _AFTER_END
            )
        deletion = object_in(metadata, "deletion_settings")
        if deletion.get("deleted_transcript_at_time_unix_secs") is not None:
            limit(("transcript", "executions", "results"), "redacted", "the transcript was deleted", _KEEP)


def _milliseconds(seconds: Any) -> float | None:
    """How long a tool took; none is measured as 0, so that is no measurement."""
    time = nanoseconds(seconds)
    return time / MILLISECOND if time is not None and time > 0 else None


_TRANSFERS = frozenset({"transfer_to_agent", "transfer_to_number"})
_TARGETS = ("to_agent", "to_agent_name", "agent_id", "transfer_number", "phone_number", "agent_number")


def _handed(call: ToolCall) -> dict[str, Any] | None:
    """From whom and to whom a transfer went; None where its answer says that it did not."""
    result = call.result if type(call.result) is dict else {}
    if result.get("status") in _FAILED or result.get("result_type") in _FAILED:
        return None
    arguments = call.args if type(call.args) is dict else {}
    to = next(
        (found[key] for found in (result, arguments) for key in _TARGETS if found.get(key) is not None), None
    )
    return {"to": to if to is None or type(to) is str else str(to), "from": result.get("from_agent")}


_FAILED = ("error", "failure", "failed", "transfer_to_agent_error", "transfer_to_number_error")
