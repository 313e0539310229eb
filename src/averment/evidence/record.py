"""`Evidence`: what was recorded of one conversation, whole and unchangeable.

Every way in (Python values, files, bytes, records) ends in the same model, and the digest is over what was recorded,
not over how it was delivered: the same conversation has the same digest in a file, in a batch and as an object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from averment.errors import EvidenceError, Problem
from averment.evidence import load as files
from averment.evidence.draft import Draft, Part, refusal
from averment.evidence.model import EvidenceModel, Note, Source, Span, ToolCall, Turn
from averment.evidence.plain import plain
from averment.evidence.readers import conversation, state_json
from averment.text import jsontext

__all__ = ["Evidence"]

_Placed = TypeVar("_Placed", Turn, ToolCall, Span, Note)


class Evidence:
    """What was recorded of one conversation.

    Every part may be missing: None is absent, about which nothing can be said; an empty list is a part in which
    nothing happened. Python values are copied.

    Args:
        transcript: turns, `[{role, text, start, end}]`, times in seconds since the start of the conversation.
        trace: spans, `[{type, start_sec, end_sec, ...}]`; those of type `tool_call` have name, arguments, result.
        timing: timing events, a list or an object.
        state: records of the systems of record, `{resource: rows}` or `{resource: {before: rows, after: rows}}`.
        metadata: facts about the conversation, an object.
        labels: labels of the conversation, an object.
        conversation_id: its id.

    Raises:
        EvidenceError: naming everything that can't be read.

    Example:
        >>> Evidence(transcript=[{"role": "agent", "text": "hello"}], trace=[])
        <Evidence: 1 turns, 0 tool calls, 0 spans>
    """

    __slots__ = ("_model", "_sha256")

    def __init__(
        self,
        *,
        transcript: Any = None,
        trace: Any = None,
        timing: Any = None,
        state: Any = None,
        metadata: Mapping[str, Any] | None = None,
        labels: Mapping[str, Any] | None = None,
        conversation_id: str | None = None,
    ) -> None:
        record = {
            "conversation_id": conversation_id,
            "transcript": transcript,
            "trace": trace,
            "timing": timing,
            "state": state,
            "metadata": metadata,
            "labels": labels,
        }
        self._model = _record_model(record)
        self._sha256: str | None = None

    @classmethod
    def load(
        cls,
        path: files.Input | None = None,
        *,
        transcript: files.Input | None = None,
        trace: files.Input | None = None,
        timing: files.Input | None = None,
        state: files.Input | None = None,
        from_format: files.Reading | None = None,
    ) -> Evidence:
        """The conversation in a file, and in files that hold one part each.

        Args:
            path: a file, or something open for reading bytes, that holds one conversation in any format that is read.
            transcript: a transcript in any format, where the conversation has none.
            trace: a trace in any format, where it has none.
            timing: timing events, where it has none.
            state: state records as JSON or a SQLite database, where it has none.
            from_format: the name of the format of `path`, or a mapping; by default it is recognised.

        Raises:
            EvidenceError: a file can't be read, or `path` holds several conversations.
        """
        draft = Draft()
        if path is not None:
            data, name = files.read_input(path)
            draft = _only(files.drafts_of(data, name, form=from_format), name)
        files.add_parts(draft, {"transcript": transcript, "trace": trace, "timing": timing, "state": state})
        if not draft.sources:
            raise EvidenceError(
                Problem(
                    code="no_evidence",
                    message="no file is given",
                    mend="Give a conversation, or a part of one.",
                )
            )
        return cls._of(draft.model())

    @classmethod
    def load_all(cls, path: files.Input, *, from_format: files.Reading | None = None) -> list[Evidence]:
        """All conversations in a file, in order.

        Args:
            path: a file, or something open for reading bytes.
            from_format: the name of its format, or a mapping; by default it is recognised.

        Raises:
            EvidenceError: naming every line that can't be read.
        """
        data, name = files.read_input(path)
        return cls._all(files.drafts_of(data, name, form=from_format))

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Evidence:
        """The conversation in one record: `{conversation_id, transcript, spans, timing, state, metadata, labels}`.

        Raises:
            EvidenceError: naming everything that can't be read, and every key that a record doesn't have.
        """
        return cls._of(_record_model(record))

    @classmethod
    def from_value(
        cls,
        value: Any,
        *,
        from_format: files.Reading | None = None,
        conversation_id: str | None = None,
        state: Any = None,
        metadata: Mapping[str, Any] | None = None,
        labels: Mapping[str, Any] | None = None,
    ) -> Evidence:
        """The conversation in a Python value: what a file in any format would hold.

        Objects of SDKs are opened by their fields; `averment.sdk` knows where in them a conversation is.

        Args:
            value: JSON values, or objects that hold them; copied.
            from_format: the name of its format, or a mapping; by default it is recognised.
            conversation_id: its id, whatever the value says.
            state: records of the systems of record, where the value has none.
            metadata: facts to add to those that the value has.
            labels: labels to add.

        Raises:
            EvidenceError: the value can't be read, holds several conversations, or something that is no JSON value.
        """
        draft = _only(files.drafts_of_value(value, form=from_format), None)
        _add(
            draft,
            {"conversation_id": conversation_id, "state": state, "metadata": metadata, "labels": labels},
        )
        return cls._of(draft.model())

    @classmethod
    def from_bytes(
        cls, data: bytes, *, name: str | None = None, from_format: files.Reading | None = None
    ) -> Evidence:
        """The conversation that bytes hold: what a file would hold, such as the bytes of `to_json`.

        Args:
            data: the bytes of a file in any format that is read.
            name: what to call it in problems.
            from_format: the name of its format, or a mapping; by default it is recognised.

        Raises:
            EvidenceError: the bytes can't be read, or hold several conversations.
        """
        drafts = files.drafts_of(files.checked(data, name), name, form=from_format)
        return cls._of(_only(drafts, name).model())

    @classmethod
    def all_from_bytes(
        cls, data: bytes, *, name: str | None = None, from_format: files.Reading | None = None
    ) -> list[Evidence]:
        """All conversations that bytes hold, in order; `from_format` as in `from_bytes`.

        Raises:
            EvidenceError: naming every line that can't be read.
        """
        return cls._all(files.drafts_of(files.checked(data, name), name, form=from_format))

    def joined(
        self,
        *,
        transcript: files.Input | None = None,
        trace: files.Input | None = None,
        timing: files.Input | None = None,
        state: files.Input | None = None,
    ) -> Evidence:
        """This conversation with the parts that it lacks, from files.

        Raises:
            EvidenceError: a file can't be read, or the conversation has that part already.
        """
        draft = Draft()
        draft.take(self._model)
        files.add_parts(draft, {"transcript": transcript, "trace": trace, "timing": timing, "state": state})
        return self._of(draft.model())

    def merged(self, *others: Evidence, clock_offset: float | None = None) -> Evidence:
        """This conversation with what other records of it add.

        Records belong together by the conversation's id, or by ids of tool calls that both have; or because an offset
        between their clocks is declared. Where two say different things, a note says so.

        Args:
            others: records, each of one conversation.
            clock_offset: when the others' clock reads zero, in seconds on this one's clock.

        Raises:
            EvidenceError: a record shares no id with this one, and no offset is given; or an offset relates nothing.
        """
        from averment.evidence.merge import Records, merged
        from averment.evidence.times import SECOND, scaled

        model = self._model
        offset = None if clock_offset is None else scaled(clock_offset, SECOND)
        if clock_offset is not None and offset is None:
            raise EvidenceError(_no_offset())
        for other in others:
            if offset is None and Records([other.model]).partner(model) is None:
                raise EvidenceError(_unrelated(other.model))
            model = merged(model, other.model, offset_ns=offset)
        return self._of(model)

    @classmethod
    def _all(cls, drafts: list[Draft]) -> list[Evidence]:
        problems = [problem for draft in drafts for problem in draft.problems]
        if problems:
            raise refusal(problems)
        return [cls._of(draft.model()) for draft in drafts]

    @classmethod
    def _of(cls, model: EvidenceModel) -> Evidence:
        self = cls.__new__(cls)
        self._model = model
        self._sha256 = None
        return self

    @property
    def model(self) -> EvidenceModel:
        """Turns, tool calls, spans and all else that was recorded."""
        return self._model

    @property
    def sha256(self) -> str:
        """The digest `sha256:...` of what was recorded: the model as canonical JSON, without `sources` and `loc`."""
        if self._sha256 is None:
            self._sha256 = jsontext.sha256(jsontext.canonical_known(_content(self._model)))
        return self._sha256

    def to_json(self) -> bytes:
        """The evidence as canonical JSON, schema averment.evidence.v1; reading it back gives the same bytes."""
        return jsontext.canonical_known(self._model)

    def __reduce__(self) -> tuple[Any, ...]:
        # Structs leave out fields that are the very object of their default, which a pickle would not restore.
        return _revived, (_values(self._model),)

    def __repr__(self) -> str:
        model = self._model
        counts = ((model.turns, "turns"), (model.calls, "tool calls"), (model.spans, "spans"))
        described = ", ".join(f"{'no' if items is None else len(items)} {name}" for items, name in counts)
        return f"<Evidence: {described}>"


def _record_model(record: Any) -> EvidenceModel:
    if isinstance(record, Mapping):
        record = dict(record)
    draft = Draft()
    draft.sources.append(Source(id="src_0", format="conversation", reader=conversation.__name__))
    value, draft.nesting = plain(record)
    conversation.read(Part(value), draft)
    return draft.model()


def _add(draft: Draft, facts: Mapping[str, Any]) -> None:
    """Add what the caller knows of a conversation beside what was read of it."""
    given, nesting = plain({key: _dict(fact) for key, fact in facts.items() if fact is not None})
    if not given:
        return
    draft.nesting = max(draft.nesting, nesting)
    source = Source(id=draft.next_source(), format="conversation", reader=conversation.__name__)
    draft.sources.append(source)
    part = Part(given, source.id)
    if "state" in given and draft.states is not None:
        draft.problems.append(
            part.problem("given_twice", "the conversation has a state already", mend="Leave out one state.")
        )
    elif "state" in given:
        state_json.read(part.at("state"), draft)
    rest = Draft()
    conversation.read(Part({key: fact for key, fact in given.items() if key != "state"}, source.id), rest)
    draft.problems += rest.problems
    draft.conversation_id = rest.conversation_id or draft.conversation_id
    for name in ("metadata", "labels"):
        if getattr(rest, name) is not None:
            setattr(draft, name, (getattr(draft, name) or {}) | getattr(rest, name))


def _dict(fact: Any) -> Any:
    return dict(fact) if isinstance(fact, Mapping) else fact


def _only(drafts: list[Draft], name: str | None) -> Draft:
    if len(drafts) == 1:
        return drafts[0]
    what, mend = "the file", "Choose one with `--conversation ID`, or take all with `--all`."
    if name is None:
        what, mend = "this", "Give the conversations one by one, or take all with `Evidence.all_from_bytes`."
    raise EvidenceError(
        Problem(
            code="several_conversations",
            message=f"{what} holds {len(drafts)} conversations",
            file=name,
            expected="one conversation",
            mend=mend,
        )
    )


def _no_offset() -> Problem:
    message, expected = "the clock offset is no time", "a number of seconds, of 292 years at most"
    return Problem(code="out_of_range", message=message, expected=expected)


def _unrelated(other: EvidenceModel) -> Problem:
    name = other.sources[0].name if other.sources else None
    return Problem(
        code="no_join_key",
        message="nothing says that this is the same conversation",
        file=name,
        expected="the same conversation id, or a tool call with the same id, in both",
        mend="Give the file that belongs to it, or declare how their clocks relate with `--clock-offset SECONDS`.",
    )


def _values(model: EvidenceModel) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.to_builtins(model, builtin_types=(jsontext.NonFinite,))
    return values


def _revived(values: dict[str, Any]) -> Evidence:
    return Evidence._of(msgspec.convert(values, EvidenceModel))  # noqa: SLF001 - the other half of `__reduce__`


def _content(model: EvidenceModel) -> EvidenceModel:
    """What was recorded, without where it stood: fields that are unset are not written."""

    def placeless(items: tuple[_Placed, ...]) -> tuple[_Placed, ...]:
        return tuple([replace(item, loc=UNSET) for item in items])

    return replace(
        model,
        sources=(),
        turns=model.turns and placeless(model.turns),
        calls=model.calls and placeless(model.calls),
        spans=model.spans and placeless(model.spans),
        notes=placeless(model.notes),
    )
