"""Oracles that are HTTPS services: a session of the service is an episode.

| step | request | answer |
|---|---|---|
| `EndpointOracle.metadata` | `GET /v1/metadata` | the identity |
| `EndpointOracle.conformance` | the identity, then `GET /v1/conformance` | the attestation document |
| `reset` | `POST /v1/sessions` with `context` and `fixtures` | `{"session_id", "oracle": identity}` |
| `list_tools` | the identity, then `GET /v1/tools` | `{"tools": [names]}` |
| `call` | `POST /v1/sessions/{id}/calls` with `name`, `arguments`, `turn_index` | the tool's result |
| `state` | `GET /v1/sessions/{id}/state` | an object |
| leaving | `DELETE /v1/sessions/{id}` | 204, or JSON |

The identity must be the one that the pack pins, exactly. Nothing is ever sent twice. After a step that failed, a reset by
another service among them, the episode is over: whatever is asked next fails as that step did, and only the session is
still deleted. A session whose creation was not answered can't be: the service must forget it in time.

Every step has a deadline for the whole of it, however slowly the bytes come; so has the episode. Secrets are sent as
`averment.oracle.endpoint.credentials` says. The two ambient conditions are the same to a service: its clock, its locale
and its hash seed are its own.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

from averment.oracle.endpoint.conversation import Conversation
from averment.oracle.endpoint.credentials import Credentials
from averment.oracle.endpoint.exchange import ExchangeError
from averment.oracle.endpoint.tls import trust
from averment.oracle.model.endpoint import Endpoint
from averment.oracle.model.options import Options
from averment.oracle.oracles import Condition, Context, OracleError
from averment.oracle.worker.deadline import Deadline

__all__ = ["EndpointEpisode", "EndpointOracle"]

T = TypeVar("T")


class EndpointOracle:
    """A service as an oracle.

    Nothing is sent, and no secret is read, before the first episode or question. Episodes may run in parallel: each has
    a connection of its own.
    """

    kind: Literal["backend", "endpoint"] = "endpoint"

    def __init__(
        self,
        config: Endpoint,
        *,
        pack_root: Path,
        fixtures: Mapping[str, Any],
        options: Options | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """Take what episodes need.

        Args:
            config: `endpoint_config.yaml`.
            pack_root: the pack's directory, where the bundle of certificates is.
            fixtures: what every session is created with.
            options: the deadlines; the defaults apply without.
            environ: where secrets and their grants come from.
        """
        self._config = config
        self._pack_root = pack_root
        self._fixtures = fixtures
        self._options = options or Options()
        self._environ = environ

    def metadata(self) -> dict[str, Any]:
        """What the service says that it is, which is what the pack pins.

        Raises:
            OracleError: of the step `import`.
        """
        return self._ask("import", self._options.import_timeout_s, lambda talk, by: talk.metadata(by))

    def conformance(self) -> Any:
        """The attestation document, as the service gives it; whether to believe it is not decided here.

        Raises:
            OracleError: of the step `inspect`.
        """
        return self._ask("inspect", self._options.tool_timeout_s, lambda talk, by: talk.conformance(by))

    @contextmanager
    def episode(self, context: Context, condition: Condition = "plain") -> Iterator[EndpointEpisode]:
        """A new episode, not yet reset; leaving it deletes its session.

        Raises:
            OracleError: of the step `import` when no connection can be thought of: a secret is missing, say; of the
                step `close` when all went well but the session can't be deleted.
        """
        del condition  # a service has an ambient world of its own
        episode = EndpointEpisode(
            _guarded("import", self._conversation), context, self._fixtures, self._options
        )
        try:
            yield episode
        except BaseException:
            with suppress(OracleError):
                episode.close()
            raise
        else:
            episode.close()

    def _ask(self, op: str, seconds: float, ask: Callable[[Conversation, Deadline], T]) -> T:
        def asked() -> T:
            talk = self._conversation()
            try:
                return ask(talk, Deadline(seconds))
            finally:
                talk.close()

        return _guarded(op, asked, f"within {seconds:g} s")

    def _conversation(self) -> Conversation:
        return Conversation(self._config, Credentials(self._config, self._environ), self._trusted)

    @cached_property
    def _trusted(self) -> ssl.SSLContext:
        return trust(self._config.tls.ca_bundle_path, self._pack_root)


class EndpointEpisode:
    """A session of the service, from its creation to its end."""

    def __init__(
        self, talk: Conversation, context: Context, fixtures: Mapping[str, Any], options: Options
    ) -> None:
        self._talk = talk
        self._context = context
        self._fixtures = fixtures
        self._options = options
        self._deadline = Deadline(options.episode_timeout_s)
        self._session: str | None = None
        self._failed: OracleError | None = None

    def reset(self) -> None:
        """Create a session, after the one before is deleted.

        Raises:
            OracleError: when there is none, or it is not the pinned service's.
        """

        def create(deadline: Deadline) -> None:
            if self._session is not None:
                self._delete(deadline)
            told = self._context
            context = {
                "clock": told.clock,
                "seed": told.seed,
                "timeout_s": told.timeout_s,
                "task_id": told.task_id,
            }
            body = {"context": context, "fixtures": self._fixtures}
            self._session, identity = self._talk.create(body, deadline)
            self._talk.verify(identity)  # another service's session is deleted when the episode is left

        self._step("reset", self._options.reset_timeout_s, create)

    def list_tools(self) -> Any:
        """The value of `tools`, as the service gives it."""
        return self._step("list_tools", self._options.tool_timeout_s, self._talk.tools)

    def call(self, name: str, arguments: Mapping[str, Any], *, turn_index: int = 0) -> Any:
        """Call a tool, once whatever happens."""
        body = {"name": name, "arguments": arguments, "turn_index": turn_index}
        return self._step(
            "call_tool",
            self._options.tool_timeout_s,
            lambda deadline: self._talk.call(self._known(), body, deadline),
        )

    def state(self) -> dict[str, Any]:
        """The whole state."""
        return self._step(
            "get_state",
            self._options.tool_timeout_s,
            lambda deadline: self._talk.state(self._known(), deadline),
        )

    def close(self) -> None:
        """Delete the session and close the connection; the episode's own deadline doesn't count any more.

        Raises:
            OracleError: when the session can't be deleted, and no step before it failed.
        """
        seconds = self._options.tool_timeout_s
        try:
            if self._session is not None:
                _guarded("close", lambda: self._delete(Deadline(seconds)), f"within {seconds:g} s")
        except OracleError:
            if self._failed is None:
                raise
        finally:
            self._talk.close()

    def _delete(self, deadline: Deadline) -> None:
        session, self._session = self._known(), None
        self._talk.delete(session, deadline)

    def _known(self) -> str:
        if self._session is None:
            raise ExchangeError("protocol", "the episode has no session: it must be reset first")
        return self._session

    def _step(self, op: str, seconds: float, work: Callable[[Deadline], T]) -> T:
        """Do the work of a step by its own deadline and the episode's, whichever is first."""
        if self._failed is not None:
            raise self._failed
        remaining = self._deadline.remaining()
        whole = self._options.episode_timeout_s
        limit = (
            f"within {seconds:g} s" if seconds <= remaining else f"before the episode's {whole:g} s were over"
        )
        try:
            return _guarded(op, lambda: work(Deadline(min(seconds, remaining))), limit)
        except OracleError as error:
            self._failed = error
            raise


def _guarded(op: str, work: Callable[[], T], limit: str = "") -> T:
    """Do the work of a step; what goes wrong in it is the step's failure."""
    try:
        return work()
    except ExchangeError as error:
        message = error.message
        if error.trouble == "timeout":
            message = f"the service gave no whole answer {limit}"
        failed = OracleError(error.trouble, op, message)
    # Outside the handler, so that nothing hangs on it that could say more than it does.
    raise failed
