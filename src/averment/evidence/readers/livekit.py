"""LiveKit Agents: session reports, chat histories, run results of its tests, and events of executed tools.

A report has `chat_history`, a history has `items`, a run result has `events`: messages, `function_call` and
`function_call_output`, joined by `call_id`, and `agent_handoff`. An event of executed tools has the parallel lists
`function_calls` and `function_call_outputs`; they are joined by `call_id` as well, and an output that is null is none.
Times are seconds since 1970. A message begins and ends with its speech where its metrics say when that was, else it
begins when it was made; a call runs from its making to that of its output. The first agent of a session is no
handoff. `developer` and `system` messages are not said.

Known gaps: images and metrics of single messages are not read, nor are the events of a report, which repeat its
history, but for the one of its end. Keys that the caller presses are not recorded.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from averment.evidence.draft import OF_CALLS, Draft, Part, kind_of
from averment.evidence.model import Clock, CoverageState, ToolCallStatus
from averment.evidence.readers.shortfalls import UNKNOWN_TYPE
from averment.evidence.readers.texts import text_of
from averment.evidence.readers.voice_call import VoiceCall, items_in, object_in, text_in
from averment.evidence.times import SECOND, scaled

__all__ = ["fits", "read"]

_ITEMS_TRIED = 20
_TYPES = frozenset(
    {"message", "function_call", "function_call_output", "agent_handoff", "agent_config_update"}
)
_OWN = frozenset({"interrupted", "created_at", "is_error", "old_agent_id", "new_agent_id", "new_agent"})
_FRAMEWORK = "livekit_agents"

_FACTS = (
    *("schema", "framework", "surface", "runtime_mode", "task_label", "outcome", "error_label", "timestamp"),
    *("job_id", "room_id", "room", "options", "usage", "duration", "started_at", "audio_recording_path"),
    *("audio_recording_started_at", "event_ref", "has_tool_reply"),
)
_KNOWN = frozenset(
    {*_FACTS, "chat_history", "items", "events", "history", "function_calls", "function_call_outputs", "type"}
    | {"created_at", "has_agent_handoff"}
)
_MESSAGE_KEYS = frozenset({"id", "type", "role", "content", "interrupted", "created_at", "metrics"})
_CALL_KEYS = frozenset(
    {"id", "type", "call_id", "name", "arguments", "created_at", "reply_required", "group_id"}
)
_OUTPUT_KEYS = frozenset({"id", "type", "call_id", "name", "output", "is_error", "status", "created_at"})
_HANDOFF_KEYS = frozenset(
    {"id", "type", "old_agent_id", "new_agent_id", "old_agent", "new_agent", "created_at"}
)

_WHOLE = "Export the session's report, or `session.history.to_dict()`, after the session has ended."
_OUTPUTS = "Export the outputs themselves, not references or states of them."


def fits(value: Any) -> str | None:
    """Why this looks like LiveKit's, or None."""
    if type(value) is list:
        tried = value[:_ITEMS_TRIED]
        return (
            "its items are those of a LiveKit chat history" if tried and _are_items(tried, own=True) else None
        )
    if type(value) is not dict:
        return None
    if type(value.get("function_calls")) is list and type(value.get("function_call_outputs")) is list:
        return "it has `function_calls` and `function_call_outputs`"
    for key in ("chat_history", "history"):
        history = value.get(key)
        if type(history) is dict and type(history.get("items")) is list and _are_items(history["items"]):
            return f"its `{key}` has items of a LiveKit session"
    items = value.get("items")
    if type(items) is list and items and _are_items(items):
        return "its `items` are those of a LiveKit chat history"
    events = value.get("events")
    if type(events) is list and _is_run(value) and _are_items(events):
        return "its `events` are those of a LiveKit run result"
    return None


def _is_run(value: dict[str, Any]) -> bool:
    schema = value.get("schema")
    return value.get("framework") == _FRAMEWORK or (type(schema) is str and schema.startswith("livekit."))


def _are_items(items: list[Any], *, own: bool = False) -> bool:
    """Whether the first items are a session's.

    With `own`, or where some are of types that are not known, one of them must have a key that only LiveKit has.
    """
    tried = items[:_ITEMS_TRIED]
    if not all(type(item) is dict and type(item.get("type")) is str for item in tried):
        return False
    known = sum(item["type"] in _TYPES for item in tried)
    own = own or known < len(tried)
    return (known > 0 or not tried) and (not own or any(not _OWN.isdisjoint(item) for item in tried))


def read(part: Part, draft: Draft) -> None:
    """Read one session, run or event."""
    value = part.value
    if type(value) is list:
        part = Part({"items": value}, part.source, part.file, part.path, part.line)
        _Session(part, draft).read()
    elif type(value) is dict:
        _Session(part, draft).read()
    else:
        expected = "an object, or a list of items"
        draft.problems.append(
            part.problem("wrong_type", "this is no session", expected=expected, found=kind_of(value))
        )


class _Session:
    """One session, or what is left of it."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._call = VoiceCall(part, draft)
        self._dialogue = self._call.dialogue
        self._is_session = self._is_run = False
        self._outputs = 0
        self._shown = 0

    def read(self) -> None:
        value, draft, loc = self._part.value, self._draft, self._part.loc()
        draft.conversation_id = text_in(value, "job_id", "room_id", "room")
        draft.drop_rest(value, _KNOWN, loc)
        self._call.facts(value, _FACTS)
        is_step = "function_calls" in value
        if is_step:
            self._step()
        else:
            self._items()
        handed = value.get("has_agent_handoff")
        if handed is True:
            self._call.event("handoff", loc)
        shows_handoff = not is_step or type(handed) is bool
        self._call.finish(
            records_answers=True,
            shows=["handoff"] if shows_handoff else [],
            platform="LiveKit",
            how_failures=_WHOLE,
            how_arguments=_WHOLE,
        )
        if is_step:
            draft.turns = None
            limit = self._call.limit
            limit(("transcript",), "absent", "an event of executed tools has no messages", _WHOLE)
            limit((*OF_CALLS, "handoff"), "partial", "the file shows one step of a session", _WHOLE)
        elif self._is_run and not any(turn.role == "user" for turn in draft.turns or ()):
            reason = "a run result does not hold what the user said"
            self._call.limit(("transcript",), "partial", reason, _WHOLE)
        if self._outputs > self._shown:
            state: CoverageState = "partial" if self._shown else "absent"
            self._call.limit(("results",), state, "not every output is in the file", _OUTPUTS)

    def _items(self) -> None:
        value = self._part.value
        self._is_session = True
        for key in ("chat_history", "history"):
            if type(value.get(key)) is dict:
                self._read_list(self._part.at(key), "items")
                break
        else:
            self._is_session = "items" in value
            self._is_run = not self._is_session
            self._read_list(self._part, "items" if "items" in value else "events")
            return
        for event, loc in items_in(self._part, "events", self._draft):
            if event.get("type") in ("close", "session_close"):
                at = scaled(event.get("created_at"), SECOND)
                reason = text_in(event, "reason")
                self._call.event("call_ended", loc, reason=reason, start_ns=at, clock="epoch")

    def _read_list(self, part: Part, key: str) -> None:
        items = items_in(part, key, self._draft)
        self._call.records += len(part.value[key]) if type(part.value.get(key)) is list else 0
        for item, loc in items:
            self._call.read += self._item(item, loc)

    def _item(self, item: dict[str, Any], loc: str) -> bool:
        kind = item.get("type")
        if kind == "message":
            self._message(item, loc)
        elif kind == "function_call":
            self._function_call(item, loc)
        elif kind == "function_call_output":
            self._output(item, loc)
        elif kind == "agent_handoff":
            self._handoff(item, loc)
        else:
            if kind not in _TYPES:
                detail = "an item is of a type that is not known, so it is left out"
                self._draft.note(UNKNOWN_TYPE, loc, detail)
            self._draft.drop("an item that is no message, call, output or handoff", loc)
            return False
        return True

    def _message(self, item: dict[str, Any], loc: str) -> None:
        _drop_rest(self._draft, item, _MESSAGE_KEYS, loc)
        role = item.get("role")
        if role == "assistant":
            self._dialogue.step()
        text = text_of(_spoken(item.get("content")), loc, self._draft)
        if text is None:
            self._draft.drop("a message without a text", loc)
            return
        metrics = object_in(item, "metrics")
        start, end = (self._time(metrics, key, loc) for key in ("started_speaking_at", "stopped_speaking_at"))
        if start is None:
            start, end = self._time(item, "created_at", loc), None
        interrupted = item.get("interrupted")
        self._dialogue.turn(
            role if type(role) is str else None,
            text,
            loc,
            own=item.get("id"),
            start_ns=start,
            end_ns=end if end is not None and start is not None and end > start else None,
            clock=_CLOCK,
            interrupted=interrupted if type(interrupted) is bool else None,
            said=role not in ("system", "developer"),
        )

    def _function_call(self, item: dict[str, Any], loc: str) -> None:
        _drop_rest(self._draft, item, _CALL_KEYS, loc)
        start = self._time(item, "created_at", loc)
        self._dialogue.request(
            item.get("name"),
            item.get("arguments"),
            loc,
            own=item.get("call_id"),
            start_ns=start,
            clock=_CLOCK,
        )

    def _output(self, item: dict[str, Any], loc: str) -> None:
        _drop_rest(self._draft, item, _OUTPUT_KEYS, loc)
        self._outputs += 1
        self._shown += "output" in item
        written, is_error = item.get("status"), item.get("is_error")
        status = _STATUSES.get(written) if type(written) is str else None
        self._dialogue.answer(
            item.get("output", UNSET),
            loc,
            own=item.get("call_id"),
            name=text_in(item, "name"),
            failed=is_error if type(is_error) is bool else None,
            status=None if is_error is True else status,
            state="recorded" if "output" in item else "absent",
            end_ns=self._time(item, "created_at", loc),
            clock=_CLOCK,
        )

    def _handoff(self, item: dict[str, Any], loc: str) -> None:
        _drop_rest(self._draft, item, _HANDOFF_KEYS, loc)
        before = text_in(item, "old_agent_id", "old_agent")
        to = text_in(item, "new_agent_id", "new_agent")
        is_first = self._is_session and before is None
        at = self._time(item, "created_at", loc)
        kind = "agent_started" if is_first else "handoff"
        self._call.event(kind, loc, to=to, start_ns=at, clock=_CLOCK, fields={"from": before})

    def _step(self) -> None:
        """The parallel lists of an event; what is null in them says that there is nothing."""
        for key, reader in (("function_calls", self._function_call), ("function_call_outputs", self._output)):
            value = self._part.value.get(key)
            if type(value) is list:
                self._call.records += len(value)
                nothing = [index for index, item in enumerate(value) if item is None]
                for index in nothing:
                    self._draft.drop(f"a null in `{key}`", f"{self._part.loc()}.{key}[{index}]")
                listed = [(i, item) for i, item in enumerate(value) if item is not None]
                for index, item in listed:
                    place = f"{self._part.loc()}.{key}[{index}]"
                    if type(item) is dict:
                        reader(item, place)
                        self._call.read += 1
                    else:
                        detail = f"this is {kind_of(item)} and not an object, so it is not read"
                        self._draft.note("item_not_object", place, detail)

    def _time(self, item: dict[str, Any], key: str, loc: str) -> int | None:
        value = item.get(key)
        time = scaled(value, SECOND) if type(value) in (int, float) else None
        if time is None and value is not None:
            self._draft.note("time_unreadable", loc, f"`{key}` is no number of seconds; it is left out")
        return time


_CLOCK: Clock = "epoch"
_STATUSES: dict[str, ToolCallStatus] = {
    **dict.fromkeys(("ok", "success", "completed"), "ok"),
    **dict.fromkeys(("error", "failed", "failure"), "error"),
    **dict.fromkeys(("timeout", "timed_out"), "timeout"),
    **dict.fromkeys(("cancelled", "canceled"), "cancelled"),
}


def _drop_rest(draft: Draft, item: dict[str, Any], known: frozenset[str], loc: str) -> None:
    """Count what is not read of an item; an `extra` without anything in it stands in every one."""
    if not item.keys() <= known:
        draft.drop_rest({key: each for key, each in item.items() if each != {}}, known, loc)


def _spoken(content: Any) -> Any:
    """The content with the words of its audio and instruction parts in the parts' place."""
    if type(content) is not list:
        return content
    return [_words_of(part) if type(part) is dict else part for part in content]


def _words_of(part: dict[str, Any]) -> Any:
    words = text_in(part, "transcript") if part.get("type") == "audio_content" else None
    if part.get("type") == "instructions":
        words = text_in(part, "audio", "text")
    return part if words is None else words
