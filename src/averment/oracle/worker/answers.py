"""The shapes of what workers answer.

An answer comes out of the process in which the pack's code runs, and that code can write into the pipe as well. So an
answer is believed in nothing but what the pack could have said in earnest: a shape that no worker gives is a failure of
the protocol, and nothing that an answer holds is longer than it may be. A forged answer of the right shape can't be told
from a real one, and gains nothing: a backend might as well have returned it, an assertion might as well have said it.
Whatever the pack must not judge is asked of workers that have no code of the pack, or kept by the parent: the trace of
calls, deadlines, isolation, the static scan.
"""

from __future__ import annotations

from typing import Literal, TypedDict

import msgspec

__all__ = ["Inspected", "Note", "Raised", "Symbol", "Verdict"]


class Symbol(TypedDict):
    """What `inspect` says of one function of a backend."""

    callable: bool
    line: int | None
    mismatch: str | None


class Verdict(TypedDict):
    """What `run_assertion` says."""

    name: str
    status: Literal["passed", "failed", "not_applicable", "infrastructure_error"]
    passed: bool
    detail: str | None
    line: int | None


class _Signature(TypedDict):
    valid: bool
    missing: list[str]
    extras: list[str]
    detail: str | None


class _Capabilities(TypedDict):
    category: str
    trace: bool
    executable: bool


class _Mistake(TypedDict):
    message: str
    line: int | None
    column: int | None


class _Export(TypedDict):
    line: int | None
    is_async: bool
    is_generator: bool
    signature: _Signature
    capabilities: _Capabilities | None
    capability_error: str | None
    capability_mistakes: list[_Mistake]


class _Oddity(TypedDict):
    code: Literal["assertion_not_callable", "assertion_not_exported"]
    name: str
    line: int | None
    message: str


class Inspected(TypedDict):
    """What `inspect_assertions` says."""

    exports: dict[str, _Export]
    capability_mistakes: list[_Mistake]
    oddities: list[_Oddity]


class Raised(msgspec.Struct, frozen=True):
    """What the pack's code raised, as its worker describes it.

    Attributes:
        trouble: one that a worker can tell of.
        type: the class.
        message: its text.
        file: the pack's file, and `line` its line, where it was raised.
        frames: those in the pack's files, innermost last.
    """

    trouble: Literal["raised", "missing_symbol", "result_not_json", "result_too_large"]
    type: str
    message: str
    file: str | None
    line: int | None
    frames: list[str]


class Note(msgspec.Struct, frozen=True):
    """A line of the audit log."""

    kind: str
    what: str
    file: str | None = None
    line: int | None = None
