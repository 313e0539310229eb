"""One request to the service and its answer: sizes, statuses, and JSON that leaves no doubt."""

from __future__ import annotations

import re
import ssl
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, urlsplit

from msgspec import UNSET

from averment.oracle.endpoint.credentials import Credentials
from averment.oracle.endpoint.exchange import ExchangeError
from averment.oracle.endpoint.transport import Request, Transport
from averment.oracle.model.endpoint import Endpoint
from averment.oracle.worker.deadline import Deadline
from averment.text import jsontext

__all__ = ["Origin", "Service", "origin"]

Method = Literal["GET", "POST", "DELETE"]

_VISIBLE = re.compile(r"[!-~]{1,2000}")


class Origin(NamedTuple):
    """Where the service is: a host, a port, and what stands before every route."""

    host: str
    port: int
    prefix: str


def origin(base_url: str) -> Origin:
    """The parts of a `base_url`; the loader has said what is wrong with it, here it only must not do harm.

    Raises:
        ExchangeError: `unreachable` unless it is an HTTPS URL of visible ASCII without user, query and fragment.
    """
    wrong = ExchangeError(
        "unreachable", "`base_url` must be an HTTPS URL of ASCII without a user, a query or a fragment"
    )
    if not _VISIBLE.fullmatch(base_url) or set(base_url) & set("?#@\\"):
        raise wrong
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme != "https" or not host or port == 0:
        raise wrong
    return Origin(host, port or 443, parts.path.rstrip("/"))


class Service:
    """Requests to the one service that a pack pins, over one connection."""

    def __init__(self, config: Endpoint, credentials: Credentials, trusted: ssl.SSLContext) -> None:
        """Prepare requests; nothing is sent.

        Raises:
            ExchangeError: as `origin` does.
        """
        self._config = config
        self._credentials = credentials
        host, port, self._prefix = origin(config.base_url)
        self._transport = Transport(host, port, trusted)

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()

    def ask(
        self,
        method: Method,
        route: str,
        deadline: Deadline,
        *,
        session: str = "",
        body: Any = UNSET,
        may_be_empty: bool = False,
    ) -> Any:
        """Send a request and give the JSON value of its answer.

        Args:
            method: the method.
            route: the path under `base_url`, `{id}` standing for the session.
            deadline: when all of it must be over.
            session: the session's id, as the service gave it.
            body: a JSON value to send.
            may_be_empty: whether an answer may be a 204 without a body, which gives None.

        Raises:
            ExchangeError: when there is no such answer; the message names the request.
        """
        try:
            sent = None if body is UNSET else self._written(body)
            headers = {
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": "averment",
                **({} if sent is None else {"Content-Type": "application/json"}),
                **self._credentials.headers(),
            }
            path = self._prefix + route.replace("{id}", quote(session, safe=""))
            status, received = self._transport.exchange(
                Request(method, path, headers, sent), deadline=deadline, limit=self._config.max_response_bytes
            )
            _succeeded(status)
            return None if may_be_empty and status == 204 else _read(received)
        except ExchangeError as error:
            explained = ExchangeError(error.trouble, f"`{method} {route}`: {error.message}")
        raise explained

    def _written(self, body: Any) -> bytes:
        """Canonical JSON, so that equal requests are equal bytes."""
        try:
            written = jsontext.canonical(body)
        except jsontext.JSONProblem as problem:
            raise ExchangeError("protocol", f"the request can't be sent: {problem.message}") from None
        if len(written) > self._config.max_request_bytes:
            limit = self._config.max_request_bytes
            raise ExchangeError(
                "protocol", f"the request is longer than `max_request_bytes`, {limit} bytes, and was not sent"
            )
        return written


def _succeeded(status: int) -> None:
    if 300 <= status < 400:
        raise ExchangeError("unreachable", f"the answer is a redirect, {status}, and none is followed")
    if status >= 400:
        raise ExchangeError("raised", f"the answer is the error {status}")
    if status < 200:
        raise ExchangeError("protocol", f"the answer has the status {status}")


def _read(body: bytes) -> Any:
    try:
        decoded = jsontext.decode(body)
    except jsontext.JSONProblem as problem:
        place = f" at line {problem.line}, column {problem.column}" if problem.line is not None else ""
        raise ExchangeError(
            "result_not_json", f"the answer can't be read as JSON: {problem.message}{place}"
        ) from None
    if decoded.non_finite:
        raise ExchangeError("result_not_json", "the answer holds a number that JSON doesn't have, like NaN")
    if decoded.duplicates:
        raise ExchangeError("result_not_json", "the answer has an object with the same key twice")
    return decoded.value
