"""The evidence model: what was recorded of one conversation, whatever the format it came from.

It keeps apart what verdicts must not mix up. A channel that was never supplied is *absent* (`None`), one that holds
nothing is *empty* (`()`), and `Coverage` says which, per channel, and why. A call that was *requested* is not yet
*executed*, and a call whose arguments the source can't show has `args` unset, never `{}`. Whatever a reader could
not take over stands in a `Note`. Absent keys are left out when a model is written; null is never written for one.

Times are integer nanoseconds on a declared clock. No struct is tracked by the garbage collector: JSON values hold no
cycles.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct

from averment.text import jsontext

__all__ = [
    "ABSENT",
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_SPANS",
    "MAX_TEXT_BYTES",
    "SCHEMA",
    "ArgsState",
    "ChannelCoverage",
    "Clock",
    "Coverage",
    "CoverageState",
    "EvidenceModel",
    "Milliseconds",
    "Nanoseconds",
    "Note",
    "Role",
    "Source",
    "Span",
    "StateSnapshot",
    "ToolCall",
    "ToolCallStatus",
    "Turn",
]

SCHEMA = "averment.evidence.v1"

MAX_BYTES = jsontext.MAX_EVIDENCE_BYTES
"""The largest source that is read, asked of the file system before reading: 512 MB."""
MAX_DEPTH = jsontext.MAX_EVIDENCE_DEPTH
"""How deep evidence may nest, in its source and as an evidence file: 200 objects and lists inside each other."""
MAX_SPANS = 1_000_000
"""How many spans one conversation may have."""
MAX_TEXT_BYTES = 2**20
"""The longest text of one turn, in bytes of UTF-8: 1 MB."""

Clock = Literal["epoch", "call_relative", "monotonic"]
"""What zero means: 1970, the start of the conversation, or nothing that another source shares."""

Nanoseconds = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""A time; 64 bits hold every time of day until the year 2262."""

Milliseconds = Annotated[int, Meta(ge=-(10**15), le=10**15)] | Annotated[float, Meta(ge=-1e15, le=1e15)]
"""A duration as a source states it, of at most 30,000 years."""

Role = Literal["user", "agent", "system", "tool", "other", "unknown"]
"""A reader's reading of the source's role; `unknown` when the source names none, `other` when nobody knows the name."""

ToolCallStatus = Literal[
    "requested", "executed", "ok", "error", "timeout", "cancelled", "unanswered", "denied"
]
"""How far a call came; `executed` means that it ran and the source doesn't say how it went."""

ArgsState = Literal["recorded", "absent", "redacted", "truncated", "conflicting"]
"""Whether the source shows a payload. `recorded` with nothing set means: recorded, and there was none.

`conflicting`: it shows two that differ, and which of them is true would be a guess.
"""

CoverageState = Literal["present", "empty", "absent", "redacted", "truncated", "partial", "unreadable"]


class Turn(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One utterance.

    Attributes:
        id: the source's id, else `t_<index>`.
        role_raw: the role exactly as the source writes it; None when it names none.
        role: the reader's reading of it.
        text: what was said; empty when nothing is recorded.
        start_ns, end_ns, clock: when; left out where the source doesn't say.
        speaker: the source's name or label of the speaker, when it has one beside or instead of a role.
        interrupted: whether the speaker was cut off, when the source says.
        final: False for an utterance that a later one replaces.
        said: False for a text that is no utterance, such as a system prompt; only an assertion that names its role
            looks at it.
        original: what was meant to be said, where the source has that beside what was.
        seq: its place in the one order that the source gives turns and tool calls, when it gives one.
        loc: where it stands, `<source id>#<place>`.
    """

    id: str
    role_raw: str | None = None
    role: Role = "unknown"
    text: str
    start_ns: Nanoseconds | None = None
    end_ns: Nanoseconds | None = None
    clock: Clock | None = None
    speaker: str | None = None
    interrupted: bool | None = None
    final: bool = True
    said: bool = True
    original: str | None = None
    seq: Annotated[int, Meta(ge=0)] | None = None
    loc: str


class ToolCall(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One call of one tool; a retry is a call of its own.

    Attributes:
        id: the source's id, else `c_<index>`.
        name: the tool's name, or None where the source has none.
        args: the arguments, any JSON value; UNSET when the source doesn't show them or they can't be read.
        args_raw: their text, where the source holds text.
        args_error: why that text can't be read.
        args_state: whether the source shows them.
        result: what the tool answered, any JSON value; UNSET when there is none to see.
        result_raw: its text, where the source holds JSON text.
        result_state: whether the source shows it.
        error: what went wrong, as the source writes it; UNSET when nothing did.
        status: how far the call came.
        requestor: who asked for it.
        span_id: the span in which it was executed.
        position: the index of that span in trace order.
        attempt: which attempt it is, from 1, when the source says.
        retry_of: the id of the call that it repeats.
        start_ns, end_ns, clock: when it ran.
        latency_ms: the duration that the source itself states, in milliseconds.
        seq: its place in the one order that the source gives turns and tool calls, when it gives one.
        loc: where it stands, when that is not its span: `<source id>#<place>`.
    """

    id: str
    name: str | None = None
    args: Any = UNSET
    args_raw: str | None = None
    args_error: str | None = None
    args_state: ArgsState = "recorded"
    result: Any = UNSET
    result_raw: str | None = None
    result_state: ArgsState = "recorded"
    error: Any = UNSET
    status: ToolCallStatus
    requestor: Literal["agent", "user", "system"] = "agent"
    span_id: str | None = None
    position: Annotated[int, Meta(ge=0)] | None = None
    attempt: Annotated[int, Meta(ge=1)] | None = None
    retry_of: str | None = None
    start_ns: Nanoseconds | None = None
    end_ns: Nanoseconds | None = None
    clock: Clock | None = None
    latency_ms: Milliseconds | None = None
    seq: Annotated[int, Meta(ge=0)] | None = None
    loc: str | None = None


class Span(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One timed event.

    Attributes:
        id: the source's id, else `s_<index>`.
        type: an open set of names; for native spans the type as written.
        name: the name, when it is text.
        start_ns, end_ns, clock: when; a point in time has both alike.
        status: what the source says of its outcome.
        attrs: the source's `attributes`.
        fields: every other key of the source's object but `type`, as written.
        seq: its place in the one order that the source gives turns, tool calls and it, when it gives one.
        loc: where it stands, `<source id>#<place>`.
    """

    id: str
    type: str
    name: str | None = None
    start_ns: Nanoseconds | None = None
    end_ns: Nanoseconds | None = None
    clock: Clock | None = None
    status: Literal["ok", "error", "unset"] = "unset"
    attrs: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    seq: Annotated[int, Meta(ge=0)] | None = None
    loc: str

    def field(self, *keys: str) -> Any:
        """The first value that is not null: for each key its field, then its attribute; None without one.

        This is the lookup of the assert.v1 reference, section 2.
        """
        fields, attrs = self.fields, self.attrs
        for key in keys:
            value = fields.get(key)
            if value is None and attrs:
                value = attrs.get(key)
            if value is not None:
                return value
        return None


class StateSnapshot(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """The rows of one resource of a system of record, at one moment.

    Attributes:
        resource: the resource's name.
        side: before or after the conversation, or the only snapshot there is.
        rows: its records, in the source's order.
        unreadable: why the rows, or some of them, can't be read.
    """

    resource: str
    side: Literal["before", "after", "only"] = "only"
    rows: tuple[dict[str, Any], ...]
    unreadable: str | None = None


class ChannelCoverage(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What a source can show of one channel.

    Attributes:
        state: how much of it.
        reason: why it can't show more.
        how: what to switch on in the source to record it.
    """

    state: CoverageState
    reason: str | None = None
    how: str | None = None


ABSENT = ChannelCoverage("absent")
"""A channel that no source supplied."""


class Coverage(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What the sources can and can't show, per channel.

    Three are said only where something is missing: `speakers`, where a transcript can't show who is the agent and who
    the caller, `arguments`, where calls lack theirs, and `bodies`, where HTTP exchanges lack their responses.
    """

    transcript: ChannelCoverage = ABSENT
    speakers: ChannelCoverage = ABSENT
    requests: ChannelCoverage = ABSENT
    arguments: ChannelCoverage = ABSENT
    executions: ChannelCoverage = ABSENT
    results: ChannelCoverage = ABSENT
    errors: ChannelCoverage = ABSENT
    timing: ChannelCoverage = ABSENT
    http: ChannelCoverage = ABSENT
    bodies: ChannelCoverage = ABSENT
    state: ChannelCoverage = ABSENT
    handoff: ChannelCoverage = ABSENT
    dtmf: ChannelCoverage = ABSENT
    termination: ChannelCoverage = ABSENT


class Note(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Something a reader dropped, changed or could not make out.

    Attributes:
        code: lower snake case.
        severity: `info` for what changes no answer, `warning` for what may.
        loc: where, `<source id>#<place>`.
        detail: in words that quote no evidence; names of keys and types only.
    """

    code: str
    severity: Literal["info", "warning"]
    loc: str
    detail: str


class Source(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Where evidence came from.

    Attributes:
        id: `src_<index>`; every `loc` begins with one.
        name: the file's name as given; it plays no part in the digest.
        sha256: the digest of the bytes that were read.
        bytes: how many they were.
        format: the format that was recognised.
        reader: the module that read it.
        why: how the format was recognised.
        header: what the file says about itself as a whole, as written.
        records: how many records of this conversation it holds: messages, spans, lines or whatever it is made of.
        records_read: how many of them are in the model; each other one stands in a note.
    """

    id: str
    name: str | None = None
    sha256: str | None = None
    bytes: int | None = None
    format: str
    reader: str
    why: str | None = None
    header: dict[str, Any] | None = None
    records: Annotated[int, Meta(ge=0)] | None = None
    records_read: Annotated[int, Meta(ge=0)] | None = None


class EvidenceModel(
    Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="schema",
    tag=SCHEMA,
):
    """All that was recorded of one conversation; `None` is absent, `()` is empty."""

    conversation_id: str | None = None
    turns: tuple[Turn, ...] | None = None
    calls: tuple[ToolCall, ...] | None = None
    spans: tuple[Span, ...] | None = None
    timing: list[Any] | dict[str, Any] | None = None
    states: tuple[StateSnapshot, ...] | None = None
    metadata: dict[str, Any] | None = None
    labels: dict[str, Any] | None = None
    coverage: Coverage
    notes: tuple[Note, ...] = ()
    sources: tuple[Source, ...] = ()
