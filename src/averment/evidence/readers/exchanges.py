"""Recorded HTTP, from HAR archives and VCR cassettes alike: exchanges, and the conversations with models in them.

Each exchange is a span of type `http_exchange`. Where it is one with the API of a model (chat completions, Anthropic
messages, Responses, Gemini), its bodies are read by that format's reader, and united with those before it, since later
requests repeat the history. Headers are never taken over, and neither are secrets in addresses and bodies.
"""

from __future__ import annotations

import binascii
import re
import zlib
from collections.abc import Sequence
from types import ModuleType
from typing import Any
from urllib.parse import SplitResult, urlsplit, urlunsplit

import msgspec

from averment.evidence.draft import Draft, Part
from averment.evidence.model import MAX_BYTES, Span
from averment.evidence.readers import anthropic, gemini, openai_chat, openai_responses
from averment.evidence.readers.calls import parsed
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.histories import Histories, Recorder
from averment.evidence.readers.messages import Limits, finish, limit_history

__all__ = ["Bodies", "Body", "Exchange", "converse"]

_HOW_MODELS = "Record the HTTP of the agent's model calls too, with their bodies, or add the messages."
_LIMITS = Limits(
    tools="Record requests with their `tools`, and the requests that carry the tools' answers.",
    failures="HTTP between agent and model can't flag a failed tool: add the trace of the tools.",
    writes_arguments=True,
)
_VENDORS: tuple[tuple[re.Pattern[str], ModuleType, str], ...] = (
    (re.compile(r"/chat/completions/?\Z"), openai_chat, "messages"),
    (re.compile(r"/v1/messages/?\Z"), anthropic, "messages"),
    (re.compile(r"/responses(?:/[^/]{1,200})?/?\Z"), openai_responses, "input"),
    (re.compile(r":(?:stream)?generateContent\Z", re.IGNORECASE), gemini, "contents"),
)
"""The path of an API, the reader of its bodies, and the key of what a request says."""

_SECRET = re.compile(
    r"(?:api[-_]?key|(?:access|refresh|id|auth|bearer|session|csrf|security)[-_]?token|token|.*secret|.*password|passwd"
    r"|authorization|proxy-authorization|private[-_]?key|session[-_]?key|(?:set-)?cookie|credentials?)\Z",
    re.IGNORECASE,
)
"""Keys of bodies whose texts are secrets."""
_SECRET_PARAMETER = re.compile(r"(?:key|code|sig|signature|auth|sid|jwt|x-amz-.*|x-goog-.*)\Z", re.IGNORECASE)
"""Names of parameters in addresses that are, beside those."""
_REDACTED = "[redacted]"
_GZIP = 31
"""For zlib: a gzip header, and the largest window."""


class Body(msgspec.Struct, frozen=True):
    """The body of a request or a response.

    Attributes:
        value: the JSON value, the text, or None.
        events: the data of a stream's events.
        is_cut: whether the stream ends within an event.
    """

    value: Any = None
    events: list[Any] | None = None
    is_cut: bool = False


_SAVE_BODIES = "Save the exchanges with content: `Save all as HAR with content`, or a cassette with bodies."


class Exchange(msgspec.Struct, kw_only=True):
    """One request and its response.

    Attributes:
        method: the method.
        url: the address, as written.
        status: the status code, where there was a response.
        request: the request's body.
        response: the response's body.
        start_ns: when the request began, since 1970.
        latency_ms: how long the whole took.
        loc: where the exchange stands.
        request_path: where the request's body stands in the file.
        response_path: where the response's body stands.
    """

    method: str | None
    url: str
    status: int | None
    request: Body
    response: Body
    start_ns: int | None = None
    latency_ms: float | None = None
    loc: str
    request_path: tuple[str | int, ...]
    response_path: tuple[str | int, ...]


class Bodies:
    """Reads bodies, which may be packed, within a bound for all of them."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._left = MAX_BYTES

    def read(self, content: Any, kind: str, loc: str, *, is_base64: bool = False) -> Body:
        """A body as it was recorded, as what it says.

        Args:
            content: its text, base64 of its bytes, or a value that was read by the recorder.
            kind: the content type that it was sent with.
            loc: where it stands.
            is_base64: whether the text is base64.
        """
        if isinstance(content, (dict, list)):
            return Body(content)
        if not isinstance(content, str) or not content:
            return Body()
        if is_base64:
            text = self._unpacked(content, loc)
            if text is None:
                return Body()
            content = text
        start = content.lstrip()
        if "event-stream" in kind or start.startswith(("event:", "data:", ":")):
            return self._stream(content, loc)
        if start[:1] in ("{", "[", '"'):
            value, problem = parsed(content, loc, self._draft)
            if problem is None:
                return Body(value)
            self._draft.note("body_unreadable", loc, f"the body begins like JSON, and is none: {problem}")
        return Body(content)

    def _unpacked(self, content: str, loc: str) -> str | None:
        try:
            data = binascii.a2b_base64(content)
            if data.startswith(b"\x1f\x8b"):
                inflater = zlib.decompressobj(_GZIP)
                data = inflater.decompress(data, self._left)
                if inflater.unconsumed_tail:
                    self._draft.note("body_too_large", loc, "the body unpacks to more than may be read")
                    return None
            self._left = max(1, self._left - len(data))
            return data.decode("utf-8")
        except (binascii.Error, ValueError, zlib.error):
            detail = "the body is binary, or packed in a way that is not read"
            self._draft.note("body_not_text", loc, detail, "info")
            return None

    def _stream(self, text: str, loc: str) -> Body:
        """The data of server-sent events, what says that they end apart."""
        events: list[Any] = []
        data: list[str] = []
        is_cut = False
        for line in [*text.splitlines(), ""]:
            if line.startswith("data:"):
                data.append(line[5:].lstrip(" "))
            elif not line.strip() and data:
                joined, data = "\n".join(data), []
                if joined.strip() == "[DONE]":
                    continue
                value, problem = parsed(joined, loc, self._draft)
                if problem is None:
                    events.append(value)
                else:
                    is_cut = True
        if is_cut:
            self._draft.note("event_unreadable", loc, "an event of the stream is no JSON, as when it is cut")
        return Body(events=events, is_cut=is_cut)


def converse(exchanges: Sequence[Exchange], part: Part, draft: Draft) -> None:
    """Write what the exchanges show to the draft."""
    _Wire(exchanges, part, draft).read()


class _Wire:
    def __init__(self, exchanges: Sequence[Exchange], part: Part, draft: Draft) -> None:
        timed = all(each.start_ns is not None for each in exchanges)
        self._exchanges = sorted(exchanges, key=lambda each: each.start_ns or 0) if timed else list(exchanges)
        self._part = part
        self._draft = draft
        self._spans: list[Span] = []
        self._histories = Histories(draft, part)
        self._ids: set[str] = set()
        self._shows_tools = False
        self._misses_history = False
        self._is_cut = False

    def read(self) -> None:
        draft = self._draft
        asked = [self._exchange(each) for each in self._exchanges]
        dialogue = Dialogue(draft, self._part)
        self._histories.tell(dialogue, [])
        finish(dialogue, draft, _LIMITS, shows_tools=self._shows_tools, is_last_word=False)
        draft.spans = self._spans
        draft.cover("http", len(self._spans))
        if any("response" not in span.fields for span in self._spans):
            draft.limit(
                "bodies", "partial", "some exchanges were saved without their responses", _SAVE_BODIES
            )
        if not any(asked):
            draft.turns = draft.calls = None
            reason = "no exchange is one with a model's API that is known"
            for channel in ("transcript", "requests", "executions", "results", "errors"):
                draft.limit(channel, "absent", reason, _HOW_MODELS)
        elif self._misses_history:
            limit_history(
                draft, "a request continues a history that the recording does not hold", _HOW_MODELS
            )
        if self._is_cut:
            reason = "a response that was streamed is cut"
            for channel in ("transcript", "requests", "executions", "results"):
                if draft.coverage[channel].state != "absent":
                    draft.limit(channel, "truncated", reason, "Record the stream until its end.")

    def _exchange(self, each: Exchange) -> bool:
        """Read one exchange; whether it is one with a model."""
        recorder, scratch = self._histories.recorder()
        found = _vendor_of(each)
        given = 0
        if found is not None:
            vendor, key = found
            self._request(each, vendor, key, recorder, scratch)
            given = len(recorder.deeds)
            self._response(each, vendor, recorder, scratch)
        self._note_ids(each)
        end = None
        if each.start_ns is not None and each.latency_ms is not None:
            end = each.start_ns + round(each.latency_ms * 1_000_000)
        self._histories.add(
            recorder,
            scratch,
            given=given,
            start_ns=each.start_ns,
            end_ns=end,
            mark=lambda place: self._add_span(each, end, place, is_model=found is not None),
        )
        return found is not None

    def _at(self, body: Any, path: tuple[str | int, ...]) -> Part:
        return msgspec.structs.replace(self._part, value=body, lines=None, path=path)

    def _request(self, each: Exchange, vendor: Any, key: str, recorder: Recorder, scratch: Draft) -> None:
        body = each.request.value
        if not isinstance(body, dict):
            return
        part = self._at(body, each.request_path)
        if vendor is not openai_chat:
            vendor.prompt(part, recorder, scratch)
        if key in body:
            vendor.converse(part.at(key), recorder, scratch)
        tools = body.get("tools", body.get("functions"))
        self._shows_tools = self._shows_tools or isinstance(tools, list)

    def _response(self, each: Exchange, vendor: Any, recorder: Recorder, scratch: Draft) -> None:
        part = self._at(each.response.value, each.response_path)
        if each.status is not None and each.status >= 400:
            self._draft.note("model_error", part.loc(), "the model's API answered with an error")
            return
        body = part.value
        if each.response.events is not None:
            body = vendor.assembled(each.response.events)
        elif vendor is gemini and isinstance(body, list):
            body = gemini.assembled(body)
        if not isinstance(body, dict):
            self._draft.note("response_missing", part.loc(), "the response has no body that can be read")
            self._is_cut = True
            return
        vendor.reply(self._at(body, each.response_path), recorder, scratch)
        if each.response.is_cut or any(note.code == "stream_cut" for note in scratch.notes):
            self._is_cut = True

    def _note_ids(self, each: Exchange) -> None:
        """Tell whether a request continues what the recording does not hold."""
        body, response = each.request.value, each.response.value
        if isinstance(body, dict):
            continued = [body.get("previous_response_id"), body.get("conversation")]
            known = [one for one in continued if isinstance(one, str) and one]
            self._misses_history |= any(one not in self._ids for one in known)
            self._ids.update(known)
        events = each.response.events or []
        for holder in (response, *(_inner(event) for event in events)):
            if isinstance(holder, dict) and isinstance(holder.get("id"), str):
                self._ids.add(holder["id"])

    def _add_span(self, each: Exchange, end: int | None, place: int, *, is_model: bool) -> None:
        fields: dict[str, Any] = {"url": _clean_url(each.url)}
        if each.method is not None:
            fields["method"] = each.method
        if each.status is not None:
            fields["status_code"] = each.status
        if each.latency_ms is not None:
            fields["latency_ms"] = each.latency_ms
        if not is_model and isinstance(each.request.value, (dict, list)):  # a form may hold a password
            fields["request"] = _without_secrets(each.request.value)
        response = each.response.value
        if each.response.events is not None:
            found = _vendor_of(each)
            events = each.response.events
            response = events if found is None else found[0].assembled(events)
        if response is not None:
            fields["response"] = _without_secrets(response)
        self._spans.append(
            Span(
                id=f"s_{len(self._spans)}",
                type="http_exchange",
                start_ns=each.start_ns,
                end_ns=end if end is not None else each.start_ns,
                clock=None if each.start_ns is None else "epoch",
                status="unset" if each.status is None else "error" if each.status >= 400 else "ok",
                fields=fields,
                seq=place,
                loc=each.loc,
            )
        )


def _inner(event: Any) -> Any:
    return event.get("response") if isinstance(event, dict) else None


def _vendor_of(each: Exchange) -> tuple[ModuleType, str] | None:
    """The reader of the bodies and the key of what a request says, for an exchange with a model's API."""
    path = _split(each.url)[2]
    for pattern, vendor, key in _VENDORS:
        if pattern.search(path) is None:
            continue
        body = each.request.value
        if isinstance(body, dict) and key in body:
            return vendor, key
        # A response that is fetched later, by its id.
        is_fetched = each.method is not None and each.method.upper() == "GET"
        if vendor is openai_responses and is_fetched and not path.rstrip("/").endswith("/responses"):
            return vendor, key
    return None


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


def _clean_url(url: str) -> str:
    """An address without who asks: no user, and no value of a parameter that is a secret by its name."""
    split = _split(url)
    if not split.query and "@" not in split.netloc and not split.fragment:
        return url if split.path or split.netloc else ""
    pairs = []
    for pair in split.query.split("&") if split.query else ():
        name, sign, _ = pair.partition("=")
        is_secret = _SECRET.match(name) is not None or _SECRET_PARAMETER.match(name) is not None
        pairs.append(f"{name}={_REDACTED}" if sign and is_secret else pair)
    return urlunsplit((split.scheme, split.netloc.rpartition("@")[2], split.path, "&".join(pairs), ""))


def _without_secrets(value: Any) -> Any:
    """A JSON value in which texts are replaced that are secrets by their key."""
    if isinstance(value, dict):
        return {
            key: _REDACTED if isinstance(each, str) and _SECRET.match(key) else _without_secrets(each)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_without_secrets(each) for each in value]
    return value
