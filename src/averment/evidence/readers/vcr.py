"""VCR cassettes, of vcrpy and of Ruby's VCR, in YAML or JSON: `interactions`, or `http_interactions`.

Each interaction is a span of type `http_exchange`. A body is a text, `{string}`, `{base64_string}`, or a `parsed_body`
that the recorder has read; gzip and streams of server-sent events are read. Exchanges with the APIs of OpenAI,
Anthropic and Gemini become a conversation (`exchanges`): also of runs that left the content out of their traces.

Known gaps: a cassette has no times and no durations (but for Ruby's `recorded_at`, in whole seconds, which is not
read). Headers are not read; parameters and keys of bodies that are secrets by their names are replaced. Bodies packed
in other ways than gzip are not read. An interaction that was played back twice stands once.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.readers.exchanges import Bodies, Body, Exchange, converse

__all__ = ["fits", "read"]

_LISTS = ("interactions", "http_interactions")
_KNOWN_TOP = frozenset({*_LISTS, "version", "recorded_with"})
_KNOWN = frozenset({"request", "response", "recorded_at"})
_HOW_TIMES = "Record the agent's spans (OpenTelemetry), or a HAR archive: a cassette has no times."


def fits(value: Any) -> str | None:
    """Why this looks like a cassette, or None."""
    for key in _LISTS:
        items = value.get(key) if isinstance(value, dict) else None
        if isinstance(items, list) and items:
            first = items[0]
            if isinstance(first, dict) and isinstance(first.get("request"), dict) and "response" in first:
                return f"it has `{key}` with a request and a response"
    return None


def read(part: Part, draft: Draft) -> None:
    """Read the interactions of a cassette."""
    value = part.value
    key = next((key for key in _LISTS if isinstance(value, dict) and isinstance(value.get(key), list)), None)
    if key is None:
        expected, found = "an object with `interactions`", kind_of(value)
        draft.problems.append(
            part.problem("wrong_type", "this is no cassette", expected=expected, found=found)
        )
        return
    draft.drop_rest(value, _KNOWN_TOP, part.loc())
    interactions = part.at(key)
    bodies = Bodies(draft)
    found_ = [
        exchange
        for index in range(len(interactions.value))
        if (exchange := _exchange(interactions.item(index), bodies, draft)) is not None
    ]
    converse(found_, part, draft)
    draft.limit("timing", "absent", "a cassette has no times", _HOW_TIMES)
    draft.account(part.source, records=len(interactions.value), read=len(found_))


def _exchange(part: Part, bodies: Bodies, draft: Draft) -> Exchange | None:
    item, loc = part.value, part.loc()
    request = item.get("request") if isinstance(item, dict) else None
    url = request.get("uri", request.get("url")) if isinstance(request, dict) else None
    if not isinstance(request, dict) or not isinstance(url, str):
        draft.note("exchange_unreadable", loc, "the interaction has no request with an address")
        return None
    draft.drop_rest(item, _KNOWN, loc)
    response = item.get("response")
    response = response if isinstance(response, dict) else {}
    status = response.get("status")
    if isinstance(status, dict):
        status = status.get("code")
    elif status is None:
        status = response.get("status_code")
    method = request.get("method")
    sent, sent_path = _body(request, (*part.path, "request"), part, bodies)
    got, got_path = _body(response, (*part.path, "response"), part, bodies)
    return Exchange(
        method=method.upper() if isinstance(method, str) else None,
        url=url,
        status=status if type(status) is int else None,
        request=sent,
        response=got,
        loc=loc,
        request_path=sent_path,
        response_path=got_path,
    )


def _body(
    message: dict[str, Any], path: tuple[str | int, ...], part: Part, bodies: Bodies
) -> tuple[Body, tuple[str | int, ...]]:
    """A body, and where it stands."""
    loc = f"{part.loc()}.{path[-1]}"
    if message.get("parsed_body") is not None:
        return Body(message["parsed_body"]), (*path, "parsed_body")
    body = message.get("body", message.get("content"))
    inner: tuple[str | int, ...] = (*path, "body")
    is_base64 = False
    if isinstance(body, dict) and not body.keys().isdisjoint({"string", "base64_string"}):
        key = "base64_string" if body.get("base64_string") is not None else "string"
        body, inner, is_base64 = body.get(key), (*inner, key), key == "base64_string"
        if isinstance(body, dict) and isinstance(body.get("base64_string"), str):
            body, is_base64 = body["base64_string"], True  # bytes of the YAML that are no text
    return bodies.read(body, _kind(message), f"{loc}.body", is_base64=is_base64), inner


def _kind(message: dict[str, Any]) -> str:
    """The content type, the one header that is looked at."""
    headers = message.get("headers")
    if not isinstance(headers, dict):
        return ""
    for name, value in headers.items():
        if name.lower() == "content-type":
            first = value[0] if isinstance(value, list) and value else value
            return first.lower() if isinstance(first, str) else ""
    return ""
