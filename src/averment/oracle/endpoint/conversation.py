"""The routes of the protocol, and which answers each may have."""

from __future__ import annotations

import ssl
from typing import Any

from averment.oracle.endpoint.credentials import Credentials
from averment.oracle.endpoint.exchange import ExchangeError
from averment.oracle.endpoint.identity import verify
from averment.oracle.endpoint.service import Service
from averment.oracle.model.endpoint import Endpoint
from averment.oracle.worker.deadline import Deadline

__all__ = ["Conversation"]

_MAX_SESSION = 1024


class Conversation:
    """A connection on which the routes of the protocol are asked for; every method but `close` raises `ExchangeError`."""

    def __init__(self, config: Endpoint, credentials: Credentials, trusted: ssl.SSLContext) -> None:
        self._config = config
        self._credentials = credentials
        self._service = Service(config, credentials, trusted)

    def close(self) -> None:
        """Close the connection."""
        self._service.close()

    def verify(self, identity: Any) -> None:
        """Hold an identity against the pin."""
        verify(identity, self._config, self._credentials.betrayed_by)

    def metadata(self, deadline: Deadline) -> dict[str, Any]:
        """The identity, verified."""
        identity: dict[str, Any] = self._service.ask("GET", "/v1/metadata", deadline)
        self.verify(identity)
        return identity

    def conformance(self, deadline: Deadline) -> Any:
        """The attestation document of a verified service."""
        self.metadata(deadline)
        return self._service.ask("GET", "/v1/conformance", deadline)

    def tools(self, deadline: Deadline) -> Any:
        """The value of `tools` of a verified service."""
        self.metadata(deadline)
        answer = self._service.ask("GET", "/v1/tools", deadline)
        return _member(answer, "tools", "GET /v1/tools")

    def create(self, body: Any, deadline: Deadline) -> tuple[str, Any]:
        """Create a session: its id, and the identity that the service gives, not verified yet."""
        answer = self._service.ask("POST", "/v1/sessions", deadline, body=body)
        session = _session_id(_member(answer, "session_id", "POST /v1/sessions"))
        return session, answer.get("oracle")

    def call(self, session: str, body: Any, deadline: Deadline) -> Any:
        """The result of a call."""
        return self._service.ask("POST", "/v1/sessions/{id}/calls", deadline, session=session, body=body)

    def state(self, session: str, deadline: Deadline) -> dict[str, Any]:
        """The state."""
        state = self._service.ask("GET", "/v1/sessions/{id}/state", deadline, session=session)
        if not isinstance(state, dict):
            raise ExchangeError("protocol", "`GET /v1/sessions/{id}/state`: the state is no object")
        return state

    def delete(self, session: str, deadline: Deadline) -> None:
        """Delete a session."""
        self._service.ask("DELETE", "/v1/sessions/{id}", deadline, session=session, may_be_empty=True)


def _member(answer: Any, name: str, request: str) -> Any:
    """A member of an answer; further ones, which a later version may add, are passed over."""
    if not isinstance(answer, dict) or name not in answer:
        raise ExchangeError("protocol", f"`{request}`: the answer is no object with `{name}`")
    return answer[name]


def _session_id(value: Any) -> str:
    """The id of a session, which becomes a part of a path."""
    # A dot or two is, escaped or not, the way up for whatever normalises paths between here and the service.
    # Surrogates, which no path can hold, are not printable.
    fits = isinstance(value, str) and 0 < len(value) <= _MAX_SESSION and value.isprintable()
    if fits and value not in {".", ".."}:
        return str(value)
    raise ExchangeError(
        "protocol",
        f"`POST /v1/sessions`: `session_id` must be 1 to {_MAX_SESSION} printable characters, and not `.` or `..`",
    )
