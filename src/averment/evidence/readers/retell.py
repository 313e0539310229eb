"""Retell: webhooks `{event, call}`, call objects, and pages `{items, has_more, pagination_key}` of the call list.

`transcript_with_tool_calls` is read: utterances, keypad digits (`dtmf`), changes of the node of a flow
(`node_transition`), and tool calls, which are joined to their results by `tool_call_id`. An utterance begins with its
first word and ends with its last, in seconds since the start of the call. `transfer_destination` is a handoff,
`disconnection_reason` the end of the call. Where only the `scrubbed_` twin is there, it is read as redacted evidence.

Known gaps: tool calls have no times, so their latency can't be told; the platform calls its word times approximate.
Whether a tool failed is recorded only where the result says `successful`. The latencies that Retell measures are
metadata. Chats and the text `transcript` are not read.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import OF_CALLS, Draft, Part, kind_of, nanoseconds
from averment.evidence.model import CoverageState
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.shortfalls import UNKNOWN_TYPE
from averment.evidence.readers.texts import text_of
from averment.evidence.readers.voice_call import VoiceCall, items_in, object_in, text_in

__all__ = ["fits", "read", "split"]

_TRANSCRIPTS = ("transcript_with_tool_calls", "transcript_object")
_SCRUBBED = tuple(f"scrubbed_{key}" for key in _TRANSCRIPTS)
_CALL_KEYS = frozenset({*_TRANSCRIPTS, *_SCRUBBED, "call_status", "disconnection_reason"})

_FACTS = (
    *("call_type", "call_status", "direction", "from_number", "to_number", "agent_id", "agent_name"),
    *("agent_version", "start_timestamp", "end_timestamp", "duration_ms", "disconnection_reason", "metadata"),
    *("transfer_destination", "latency", "call_analysis", "call_cost", "llm_token_usage"),
    *("retell_llm_dynamic_variables", "collected_dynamic_variables", "telephony_identifier"),
    *("recording_url", "recording_multi_channel_url", "public_log_url"),
    *("opt_out_sensitive_data_storage", "data_storage_setting"),
)
_KNOWN = frozenset({*_FACTS, *_TRANSCRIPTS, "call_id"})
_WEBHOOK = frozenset({"event", "call"})
_SPEAKERS = frozenset({"agent", "user", "transfer_target", "system"})
_TURN_KEYS = frozenset({"role", "content", "words"})
_CALL_ITEM_KEYS = frozenset({"role", "tool_call_id", "name", "arguments", "content", "words", "successful"})
_NODE_KEYS = ("former_node_id", "former_node_name", "new_node_id", "new_node_name")
_ENDED_BY = {"user_hangup": "caller", "agent_hangup": "agent"}
_OVER = frozenset({"ended", "error", "not_connected"})

_AFTER_END = "Export the call after its end: by the call_analyzed webhook or Get Call."
_WITH_TOOLS = "Export `transcript_with_tool_calls`: by the call_ended webhook or Get Call."
_STORE = "Set the agent's data storage to everything, and export the call before its data is removed."
_SAY_SUCCESS = (
    "Have the tools say in their answers whether they succeeded, as `success` or `error` of an object."
)
_TOLERANCE_MS = 1_000


def fits(value: Any) -> str | None:
    """Why this looks like Retell's, or None."""
    if type(value) is not dict:
        return None
    call = value.get("call")
    if type(value.get("event")) is str and type(call) is dict and "call_id" in call:
        return "it has `event`, and `call` with a `call_id`"
    if _is_call(value):
        return "it has a `call_id`, and keys of a Retell call"
    items = value.get("items")
    if type(items) is list and items and _is_call(items[0]) and value.keys() & {"has_more", "pagination_key"}:
        return "its `items` are Retell calls"
    return None


def _is_call(value: Any) -> bool:
    return type(value) is dict and "call_id" in value and not _CALL_KEYS.isdisjoint(value)


def split(part: Part) -> list[Part]:
    """The calls of a page, or the one call."""
    if type(part.value) is dict and type(part.value.get("items")) is list:
        items = part.at("items")
        return [items.item(index) for index in range(len(items.value))]
    return [part]


def read(part: Part, draft: Draft) -> None:
    """Read one call."""
    if type(part.value) is dict and type(part.value.get("call")) is dict:
        draft.drop_rest(part.value, _WEBHOOK, part.loc())
        part = part.at("call")
    if type(part.value) is not dict:
        found = kind_of(part.value)
        draft.problems.append(
            part.problem("wrong_type", "a call must be an object", expected="an object", found=found)
        )
        return
    _Call(part, draft).read()


class _Call:
    """One call of Retell's."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._call = VoiceCall(part, draft)
        self._dialogue: Dialogue = self._call.dialogue

    def read(self) -> None:
        call, draft, loc = self._part.value, self._draft, self._part.loc()
        draft.conversation_id = text_in(call, "call_id")
        self._call.facts(call, _FACTS)
        key = next((key for key in (*_TRANSCRIPTS, *_SCRUBBED) if type(call.get(key)) is list), None)
        draft.drop_rest(call, {*_KNOWN, *([key] if key else [])}, loc)
        if key is not None:
            self._read_items(key)
        self._read_end(call, loc)
        self._check_duration(call, loc)
        has_tools = key is not None and key.endswith("with_tool_calls")
        self._call.finish(
            records_answers=True,
            shows=("handoff", "dtmf") if has_tools else ("handoff",),
            platform="Retell",
            how_failures=_SAY_SUCCESS,
            how_arguments=_STORE,
        )
        self._limit(call, key, has_tools=has_tools)

    def _read_items(self, key: str) -> None:
        items = items_in(self._part, key, self._draft)
        self._call.records += len(self._part.value[key])
        for item, loc in items:
            self._call.read += self._read_item(item, loc)

    def _read_item(self, item: dict[str, Any], loc: str) -> bool:
        role = item.get("role")
        if role == "tool_call_invocation":
            own = item.get("tool_call_id") or object_in(item, "metadata").get("tool_call_id")
            self._dialogue.request(item.get("name"), item.get("arguments"), loc, own=own)
            self._draft.drop_rest(item, _CALL_ITEM_KEYS, loc)
        elif role == "tool_call_result":
            succeeded = item.get("successful")
            failed = not succeeded if type(succeeded) is bool else None
            own = item.get("tool_call_id")
            self._dialogue.answer(
                item.get("content"),
                loc,
                own=own,
                failed=failed,
                state="recorded" if "content" in item else "absent",
            )
            self._draft.drop_rest(item, _CALL_ITEM_KEYS, loc)
        elif role == "dtmf":
            self._call.event("dtmf", loc, digits=item.get("digit"))
            self._draft.drop_rest(item, {"role", "digit"}, loc)
        elif role == "node_transition":
            self._call.event("node_transition", loc, fields={key: item.get(key) for key in _NODE_KEYS})
            self._draft.drop_rest(item, {"role", *_NODE_KEYS}, loc)
        else:
            return self._read_turn(item, role, loc)
        return True

    def _read_turn(self, item: dict[str, Any], role: Any, loc: str) -> bool:
        text = text_of(item.get("content"), loc, self._draft)
        if type(role) is str and role not in _SPEAKERS:
            self._draft.note(UNKNOWN_TYPE, loc, "an item is of a role that is not known")
        if text is None:
            self._draft.drop("an utterance without a text", loc)
            return False
        if role == "agent":
            self._dialogue.step()
        start, end = _span_of(item.get("words"))
        role_raw = role if type(role) is str else None
        self._dialogue.turn(role_raw, text, loc, start_ns=start, end_ns=end, clock="call_relative")
        self._draft.drop_rest(item, _TURN_KEYS, loc)
        return True

    def _read_end(self, call: dict[str, Any], loc: str) -> None:
        target, reason = text_in(call, "transfer_destination"), text_in(call, "disconnection_reason")
        if target is not None or reason == "call_transfer":
            self._call.event("handoff", loc, to=target)
        if reason is not None:
            self._call.event("call_ended", loc, reason=reason, by=_ENDED_BY.get(reason))

    def _check_duration(self, call: dict[str, Any], loc: str) -> None:
        start, end, stated = (call.get(key) for key in ("start_timestamp", "end_timestamp", "duration_ms"))
        if type(start) is not int or type(end) is not int or type(stated) not in {int, float}:
            return
        if abs(end - start - (stated or 0)) > _TOLERANCE_MS:
            detail = "`duration_ms` is not the time from `start_timestamp` to `end_timestamp`"
            self._draft.note("duration_conflict", loc, detail)

    def _limit(self, call: dict[str, Any], key: str | None, *, has_tools: bool) -> None:
        limit = self._call.limit
        if key is None:
            self._draft.turns = None
            limit(("transcript",), "absent", "the call has no list of utterances", _WITH_TOOLS)
        if not has_tools:
            self._draft.calls = None
            # What ended the call is in evidence all the same, and `absent` would say that nothing is.
            state: CoverageState = "absent" if self._draft.spans is None else "partial"
            limit(OF_CALLS, state, "the call has no `transcript_with_tool_calls`", _WITH_TOOLS)
        status = call.get("call_status")
        if type(status) is str and status not in _OVER:
            limit(_ALL, "partial", "the call had not ended", _AFTER_END)
        storage = call.get("data_storage_setting")
        is_reduced = call.get("opt_out_sensitive_data_storage") is True or (
            type(storage) is str and storage != "everything"
        )
        if key in _SCRUBBED or is_reduced:
            limit(_CONTENT, "redacted", "Retell removed personal data from the call", _STORE)


_ALL = ("transcript", *OF_CALLS, "handoff", "dtmf")
_CONTENT = ("transcript", "executions", "results")


def _span_of(words: Any) -> tuple[int | None, int | None]:
    """From the first word's start to the last word's end."""
    if type(words) is not list or not words:
        return None, None
    first, last = words[0], words[-1]
    start = nanoseconds(first.get("start")) if type(first) is dict else None
    end = nanoseconds(last.get("end")) if type(last) is dict else None
    if start is not None and end is not None and end <= start:
        end = None
    return start, end
