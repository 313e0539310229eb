"""The seam between checks and oracles: an oracle starts episodes, an episode answers calls.

A worker process that has loaded a `backend.py` and a session of an HTTPS service look the same from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Final, Literal, Protocol

import msgspec

__all__ = ["Condition", "Context", "Episode", "Oracle", "OracleError", "Trouble"]

Condition = Literal["plain", "shifted"]
"""The ambient world of a worker: everything that a pack must not read differs between the two."""

Trouble = Literal[
    "raised",  # the pack's code raised, or the service answered with an error status
    "timeout",  # no answer within the deadline; the worker and all in its group were killed
    "died",  # the worker ended by itself: an exit, a signal, out of memory
    "result_too_large",
    "result_not_json",  # not JSON at all, or NaN, infinities, keys that are no strings
    "load_failed",  # the module can't be imported
    "missing_symbol",  # the module has no such function
    "unreachable",  # no connection, a TLS failure, a redirect
    "protocol",  # an answer that the protocol does not know
    "identity_mismatch",  # the service is not the one that the pack pins
]

_OF_A_TASK: Final = frozenset({"raised", "timeout", "died", "result_too_large", "result_not_json"})


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What the pack's code is given as `ctx`, but for the turn.

    Attributes:
        clock: ISO 8601 with an offset.
        seed: an unsigned integer of 64 bits at most.
        timeout_s: the deadline of a tool, in seconds.
        task_id: the task, or a name for the probe.
    """

    clock: str = "2026-01-01T00:00:00+00:00"
    seed: int = 0
    timeout_s: float = 5.0
    task_id: str = ""


class OracleError(Exception):
    """A step of an episode gave no answer; the episode is over.

    Attributes:
        trouble: the kind of failure.
        op: the step: `import`, `reset`, `call_tool`, `get_state`, `list_tools`, `run_assertion`, `inspect`, `close`.
        message: one sentence without a full stop, the same on every run.
        error_type: the class of what was raised.
        traceback: frames of the pack's own files, paths inside the pack.
        output: the end of what was printed during the step.
        file: the pack's file where it was raised, and the line.
        line: 1-based.
    """

    def __init__(
        self,
        trouble: Trouble,
        op: str,
        message: str,
        *,
        error_type: str | None = None,
        traceback: str | None = None,
        output: str | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.op = op
        self.message = message
        self.error_type = error_type
        self.traceback = traceback
        self.output = output
        self.file = file
        self.line = line

    @property
    def is_of_the_task(self) -> bool:
        """Whether what was asked may have brought it about; else the oracle can't be used, whatever is asked of it."""
        return self.op != "import" and self.trouble in _OF_A_TASK


class Episode(Protocol):
    """One lifetime of an oracle's state: reset, then calls. Every method raises `OracleError`."""

    def reset(self) -> None:
        """Set the oracle to the pack's fixtures; clears the trace."""

    def list_tools(self) -> Any:
        """What the oracle says that it implements, as it says it."""

    def call(self, name: str, arguments: Mapping[str, Any], *, turn_index: int = 0) -> Any:
        """Call a tool; a refusal is a result, `{"error": {"code": ...}}`."""

    def state(self) -> Any:
        """The whole state, as JSON."""


class Oracle(Protocol):
    """What answers a pack's tool calls."""

    @property
    def kind(self) -> Literal["backend", "endpoint"]:
        """Whether it is the pack's own code or a service."""

    def episode(self, context: Context, condition: Condition = "plain") -> AbstractContextManager[Episode]:
        """A new episode, not yet reset; leaving it ends the process or the session."""
