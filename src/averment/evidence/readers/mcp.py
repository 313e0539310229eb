"""MCP logs: the JSON-RPC messages between an MCP client and its servers, as a list, JSON Lines or `{entries: [...]}`.

An entry is a message, or an object that holds messages under `message`, `request`, `response` or `notification`,
beside its time (`timestamp_ms`, or an ISO text under `timestamp`, `time` or `ts`). Each `tools/call` is one call, and
the response of its id, compared with its JSON type, is its result: a failure where it is a JSON-RPC error or says
`isError: true`. `notifications/cancelled` cancels a call; what is still answered to it after that is noted and left
out. An `input_required` or other unfinished result leaves a call executed, and nobody knows how it went. What
`initialize` says of both sides goes to the metadata.

Known gaps: such a log holds no speech, and only tools of the servers that it covers. Sessions are not told apart, so
a log of several is paired by order. Both sides number their requests: where a request of the server and a call have
one id and are open together, a result that looks like a tool's is the call's, and an error is nobody's. A call that
goes on after `input_required` is a second call. Headers, progress and all other requests are not read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.draft import OF_CALLS, Draft, Part, kind_of, quoted
from averment.evidence.model import Clock
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.times import MILLISECOND, instant, scaled

__all__ = ["fits", "read"]

_HOLDERS = ("message", "request", "response", "notification")
_LISTS = ("entries", "messages", "events")
_TEXT_TIMES = ("timestamp", "time", "ts")
_KNOWN_ENTRY = frozenset({*_HOLDERS, *_TEXT_TIMES, "timestamp_ms", "direction"})
_KNOWN_TOP = frozenset({*_LISTS, "transport"})
_TRIED = 20

_FAMILIES = frozenset(
    {"initialize", "ping", "tools", "resources", "prompts", "notifications", "sampling", "logging"}
    | {"completion", "roots", "elicitation", "tasks", "server"}
)
"""What the methods of MCP begin with; other protocols run over JSON-RPC as well."""

_HOW_SPEECH = "Record the conversation itself beside the MCP log, and pass it as the transcript."
_HOW_CALLS = "Record the MCP messages of the agent: its `tools/call` requests and their responses."
_HOW_WHOLE = "Begin the log before the session's first message, and keep every message."


def fits(value: Any) -> str | None:
    """Why this looks like a log of JSON-RPC messages, or None."""
    if isinstance(value, dict):
        if _is_message(value):
            return "it is a JSON-RPC message: `jsonrpc`"
        for key in _LISTS:
            if isinstance(value.get(key), list) and _are_messages(value[key]):
                return f"its `{key}` are JSON-RPC messages"
        return "it holds a JSON-RPC message" if _holds_message(value) else None
    if isinstance(value, list) and _are_messages(value):
        return "its items are JSON-RPC messages"
    return None


def read(part: Part, draft: Draft) -> None:
    """Read the tool calls of a log."""
    entries: list[tuple[Any, str]]
    if isinstance(part.value, dict):
        key = next((key for key in _LISTS if isinstance(part.value.get(key), list)), None)
        if key is None:
            entries = [(part.value, part.loc())]
        else:
            draft.drop_rest(part.value, _KNOWN_TOP, part.loc())
            if type(part.value.get("transport")) is str:
                draft.metadata = {"transport": part.value["transport"]}
            inner = part.at(key)
            entries = list(zip(inner.value, inner.locs(), strict=True))
    elif isinstance(part.value, list):
        entries = list(zip(part.value, part.locs(), strict=True))
    else:
        problem = part.problem("wrong_type", "an MCP log is a list of messages", found=kind_of(part.value))
        draft.problems.append(problem)
        return
    _Log(part, draft, entries).read()


class _Open(msgspec.Struct):
    """The requests of one id that have no response yet: calls of tools, and the methods of the others."""

    calls: int = 0
    others: deque[str] = msgspec.field(default_factory=deque)


class _Log:
    """The messages of one log, in the order in which they stand."""

    def __init__(self, part: Part, draft: Draft, entries: Sequence[tuple[Any, str]]) -> None:
        self._part = part
        self._draft = draft
        self._entries = entries
        self._dialogue = Dialogue(draft, part)
        self._clock, self._times = _times([entry for entry, _ in entries], draft, part.loc())
        self._open: dict[tuple[type, Any], _Open] = {}
        self._cancelled: set[tuple[type, Any]] = set()
        self._is_mcp = False
        self._responses = 0
        self._strays = 0
        self._unfinished = False
        self._records = 0
        self._read = 0

    def read(self) -> None:
        for (entry, loc), time in zip(self._entries, self._times, strict=True):
            for message, place in self._messages(entry, loc):
                self._records += 1
                self._message(message, place, time)
        self._finish()

    def _messages(self, entry: Any, loc: str) -> Iterator[tuple[dict[str, Any], str]]:
        """The messages of an entry: itself, those of a batch, or those that it holds."""
        batch = entry if isinstance(entry, list) else [entry]
        for position, item in enumerate(batch):
            place = f"{loc}[{position}]" if batch is entry else loc
            if not isinstance(item, dict):
                self._records += 1
                self._draft.note("not_a_message", place, f"this is {kind_of(item)} and no JSON-RPC message")
            elif "jsonrpc" in item or "method" in item:
                yield item, place
            else:
                held = [key for key in _HOLDERS if isinstance(item.get(key), dict)]
                self._draft.drop_rest(item, _KNOWN_ENTRY, place)
                if not held:
                    self._records += 1
                    self._draft.note("not_a_message", place, "the entry holds no JSON-RPC message")
                yield from ((item[key], f"{place}.{key}") for key in held)

    def _message(self, message: dict[str, Any], loc: str, time: int | None) -> None:
        method = message.get("method")
        if type(method) is str:
            self._is_mcp = self._is_mcp or method.partition("/")[0] in _FAMILIES
            self._request(method, message, loc, time)
        elif "result" in message or "error" in message:
            self._responses += 1
            self._response(message, loc, time)
        else:
            self._draft.note(
                "not_a_message", loc, "the message has neither a method nor a result nor an error"
            )

    def _request(self, method: str, message: dict[str, Any], loc: str, time: int | None) -> None:
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        key = _key(message.get("id"))
        if key is not None:
            open_ = self._open.setdefault(key, _Open())
            self._cancelled.discard(key)
            if method == "tools/call":
                open_.calls += 1
            else:
                open_.others.append(method)
        if method == "tools/call":
            self._read += 1
            self._call(params, key, loc, time)
        elif method == "notifications/cancelled":
            self._cancel(_key(params.get("requestId")), loc, time)
        elif method == "initialize":
            self._read += 1
            self._describe("client", params.get("clientInfo"))
        else:
            self._draft.drop(f"a {quoted(method)} message", loc)

    def _call(self, params: dict[str, Any], key: tuple[type, Any] | None, loc: str, time: int | None) -> None:
        arguments = params.get("arguments", {})
        if not isinstance(arguments, dict):
            self._draft.note("arguments_not_object", loc, f"the arguments are {kind_of(arguments)}")
        own = None if key is None else key[1]
        if key is None:
            self._draft.note("call_without_id", loc, "the call has no id, so no response can belong to it")
        self._dialogue.request(
            params.get("name"), arguments, loc, own=own, start_ns=time, clock=self._clock, parse=False
        )

    def _cancel(self, key: tuple[type, Any] | None, loc: str, time: int | None) -> None:
        open_ = None if key is None else self._open.get(key)
        if key is None or open_ is None or not open_.calls:
            self._draft.drop("a `notifications/cancelled` message for what is no open call", loc)
            return
        self._read += 1
        open_.calls -= 1
        self._cancelled.add(key)
        self._dialogue.answer(
            UNSET, loc, own=key[1], failed=False, status="cancelled", end_ns=time, clock=self._clock
        )

    def _response(self, message: dict[str, Any], loc: str, time: int | None) -> None:
        key, result, error = _key(message.get("id")), message.get("result"), message.get("error")
        method = None if key is None else self._method_answered(key, result)
        if key is None:
            self._draft.note(
                "response_without_id", loc, "the response has no id, so it belongs to no request"
            )
        elif key in self._cancelled and method is None:
            self._draft.note(
                "answer_after_cancel", loc, "the call was cancelled before this, which is left out"
            )
        elif method is None:
            self._strays += 1
            self._draft.note("response_without_request", loc, "no request of this id is open in the log")
        elif method == "tools/call":
            self._read += 1
            self._answer(key[1], result, error, loc, time)
        elif method == "initialize":
            self._read += 1
            if isinstance(result, dict):
                self._describe("server", result.get("serverInfo"))
                self._describe("protocol_version", result.get("protocolVersion"))
        elif method:
            self._draft.drop(f"a response to {quoted(method)}", loc)
        else:
            self._draft.note("ambiguous_response", loc, "a call and a request of the server share this id")

    def _method_answered(self, key: tuple[type, Any], result: Any) -> str | None:
        """The method of the request that a response belongs to; the empty text when that would be a guess."""
        open_ = self._open.get(key)
        if open_ is None or not (open_.calls or open_.others):
            return None
        if open_.calls and open_.others and not isinstance(result, dict):
            return ""
        is_call = open_.calls > 0
        if is_call and open_.others:
            is_call = not _OF_TOOLS.isdisjoint(result) and "role" not in result
        if not is_call:
            return open_.others.popleft()
        open_.calls -= 1
        return "tools/call"

    def _answer(self, own: Any, result: Any, error: Any, loc: str, time: int | None) -> None:
        if error is not None:
            if result is not None:
                self._draft.note("error_beside_result", loc, "the response has an error and a result")
            self._dialogue.answer(
                UNSET, loc, own=own, error=error, failed=True, end_ns=time, clock=self._clock
            )
            return
        kind = result.get("resultType") if isinstance(result, dict) else None
        is_task = isinstance(result, dict) and "task" in result and _OF_TOOLS.isdisjoint(result)
        is_whole = kind == "complete" or (kind is None and not is_task)
        if not is_whole:
            self._unfinished = True
            self._draft.note(
                "unfinished_result",
                loc,
                "the result is of a type that does not end the call, such as a question",
            )
        self._dialogue.answer(
            result,
            loc,
            own=own,
            status=None if is_whole or result.get("isError") is True else "executed",
            state="recorded" if is_whole else "absent",
            end_ns=time,
            clock=self._clock,
        )

    def _describe(self, key: str, value: Any) -> None:
        if isinstance(value, (str, dict)):
            self._draft.metadata = {**(self._draft.metadata or {}), key: value}

    def _finish(self) -> None:
        draft = self._draft
        self._dialogue.finish(
            records_answers=self._responses > 0 or self._dialogue.answers > 0,
            writes_arguments=True,
        )
        if self._unfinished:
            reason = "some calls are answered by what does not end them, and nothing tells how they did"
            for channel in ("results", "errors"):
                draft.limit(channel, "partial", reason, _HOW_WHOLE)
        draft.turns = None
        draft.limit("transcript", "absent", "an MCP log holds no speech", _HOW_SPEECH)
        channels = OF_CALLS
        if not self._is_mcp:
            for channel in channels:
                draft.limit(channel, "absent", "no message of the log is a request of MCP", _HOW_CALLS)
        elif self._strays:
            for channel in channels:
                if draft.coverage[channel].state != "absent":
                    reason = "the log holds responses to requests that it does not show"
                    draft.limit(channel, "partial", reason, _HOW_WHOLE)
        draft.account(self._part.source, records=self._records, read=self._read)


_OF_TOOLS = frozenset({"content", "structuredContent", "isError"})
"""Keys of which the result of a tool has one; what a client answers its server has at most `content`, with `role`."""


def _times(entries: Sequence[Any], draft: Draft, loc: str) -> tuple[Clock | None, list[int | None]]:
    """The time of each entry, and the clock, which is one for the whole log.

    Milliseconds are those of 1970 from 1973 on, and else of a clock of the log's own.
    """
    numbers = [scaled(_at(entry, "timestamp_ms"), MILLISECOND) for entry in entries]
    texts = [
        next((time for key in _TEXT_TIMES if (time := instant(_at(entry, key))) is not None), None)
        for entry in entries
    ]
    known = [number for number in numbers if number is not None]
    if not known:
        return "epoch", texts
    are_late = {number >= _YEAR_1973 for number in known}
    if len(are_late) == 1:
        return ("epoch" if True in are_late else "monotonic"), numbers
    draft.note("mixed_times", loc, "some times count from 1970 and others can't, so none is read")
    return None, [None] * len(entries)


_YEAR_1973 = 100_000_000_000 * MILLISECOND


def _at(entry: Any, key: str) -> Any:
    return entry.get(key) if isinstance(entry, dict) else None


def _key(own: Any) -> tuple[type, Any] | None:
    return (type(own), own) if type(own) in (str, int) else None


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("jsonrpc") == "2.0"


def _holds_message(value: Any) -> bool:
    return isinstance(value, dict) and any(_is_message(value.get(key)) for key in _HOLDERS)


def _are_messages(items: list[Any]) -> bool:
    """Whether the first items that are objects are messages, hold messages, or begin batches of them."""
    first = [each for item in items[:_TRIED] for each in (item[:1] if isinstance(item, list) else [item])]
    flat = [item for item in first if isinstance(item, dict)]
    return bool(flat) and all(_is_message(item) or _holds_message(item) for item in flat)
