"""HAR archives (HTTP Archive 1.1 and 1.2): `{log: {entries: [...]}}`, as browsers, proxies and Polly.JS write them.

Each entry is a span of type `http_exchange`, with its method, address, status code and response; `time` is its
latency, and `startedDateTime` its start. Bodies in base64 and gzip and streams of server-sent events are read, and
exchanges with the APIs of OpenAI, Anthropic and Gemini become a conversation (`exchanges`).

Known gaps: headers, cookies, timings, pages and caches are not read; parameters and keys of bodies that are secrets by
their names are replaced. Packed bodies other than gzip, and binary streams such as those of Amazon Bedrock, are not
read. Tools that an agent called by HTTP are exchanges, and no calls. What the model said has the times of its
exchange, what others said has none.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.readers.exchanges import Bodies, Exchange, converse
from averment.evidence.times import instant

__all__ = ["fits", "read"]

_KNOWN_LOG = frozenset({"version", "creator", "browser", "entries", "pages", "comment", "_recordingName"})
_KNOWN_ENTRY = frozenset(
    {"startedDateTime", "time", "request", "response", "cache", "timings", "pageref", "serverIPAddress"}
    | {"connection", "comment", "_id", "_order"}
)
_MAX_MS = 1e12


def fits(value: Any) -> str | None:
    """Why this looks like a HAR archive, or None."""
    log = value.get("log") if isinstance(value, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(log, dict) or not isinstance(entries, list) or "version" not in log:
        return None
    if entries and not (isinstance(entries[0], dict) and isinstance(entries[0].get("request"), dict)):
        return None
    return "it has a `log` with `entries`"


def read(part: Part, draft: Draft) -> None:
    """Read the exchanges of an archive."""
    log = part.value.get("log") if isinstance(part.value, dict) else None
    if not isinstance(log, dict) or not isinstance(log.get("entries"), list):
        expected, found = "an object with `log.entries`", kind_of(part.value)
        draft.problems.append(
            part.problem("wrong_type", "this is no HAR archive", expected=expected, found=found)
        )
        return
    draft.drop_rest(log, _KNOWN_LOG, f"{part.loc()}.log")
    entries = part.at("log").at("entries")
    bodies = Bodies(draft)
    exchanges = []
    for index, entry in enumerate(entries.value):
        place = entries.item(index)
        exchange = _exchange(entry, place, bodies, draft)
        if exchange is not None:
            exchanges.append(exchange)
    converse(exchanges, part, draft)
    draft.account(part.source, records=len(entries.value), read=len(exchanges))


def _exchange(entry: Any, part: Part, bodies: Bodies, draft: Draft) -> Exchange | None:
    loc = part.loc()
    request = entry.get("request") if isinstance(entry, dict) else None
    if not isinstance(request, dict) or not isinstance(request.get("url"), str):
        draft.note("exchange_unreadable", loc, "the entry has no request with an address")
        return None
    draft.drop_rest(entry, _KNOWN_ENTRY, loc)
    response = entry.get("response")
    response = response if isinstance(response, dict) else {}
    posted, content = request.get("postData"), response.get("content")
    posted = posted if isinstance(posted, dict) else {}
    content = content if isinstance(content, dict) else {}
    start = instant(entry.get("startedDateTime"))
    if start is None and entry.get("startedDateTime") is not None:
        draft.note("time_unreadable", loc, "`startedDateTime` is no ISO 8601 text; it is left out")
    took, method, status = entry.get("time"), request.get("method"), response.get("status")
    is_number = type(took) in (int, float) and 0 < took < _MAX_MS
    is_status = type(status) is int and status > 0  # browsers write 0 for a request that failed
    if not is_status:
        draft.note("no_response", loc, "the request had no response")
    return Exchange(
        method=method if isinstance(method, str) else None,
        url=request["url"],
        status=status if is_status else None,
        request=bodies.read(
            posted.get("text"),
            _kind(posted),
            f"{loc}.request.postData.text",
            is_base64=posted.get("encoding") == "base64",
        ),
        response=bodies.read(
            content.get("text"),
            _kind(content),
            f"{loc}.response.content.text",
            is_base64=content.get("encoding") == "base64",
        ),
        start_ns=start,
        latency_ms=took if is_number else None,
        loc=loc,
        request_path=(*part.path, "request", "postData", "text"),
        response_path=(*part.path, "response", "content", "text"),
    )


def _kind(body: dict[str, Any]) -> str:
    kind = body.get("mimeType")
    return kind.lower() if isinstance(kind, str) else ""
