"""One conversation while it is being read: what every reader writes to, and what becomes the model.

A reader is given a `Part` (a JSON value and where it stands) and a `Draft`. It writes turns, spans, tool calls,
snapshots and coverage to the draft, a note for whatever it had to drop or change, and a problem for whatever can't
be read at all. All problems of all parts are raised together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any, Literal, TypeVar

import msgspec

from averment.errors import EvidenceError, Problem, path_text
from averment.evidence.model import (
    MAX_DEPTH,
    MAX_TEXT_BYTES,
    ChannelCoverage,
    Coverage,
    CoverageState,
    EvidenceModel,
    Note,
    Source,
    Span,
    StateSnapshot,
    ToolCall,
    Turn,
)
from averment.text import jsontext
from averment.text.pii import redact

__all__ = [
    "MAX_CALL_SECONDS",
    "MAX_NOTES",
    "MAX_PROBLEMS",
    "OF_ANSWERS",
    "OF_CALLS",
    "Draft",
    "Part",
    "kind_of",
    "nanoseconds",
    "own_id",
    "place_of",
    "refusal",
    "too_long",
]

MAX_PROBLEMS = 100
"""How many problems one refusal names; a file with a million bad turns is not worth a million lines."""

MAX_NOTES = 1_000
"""How many notes of one code are kept of one conversation."""

OF_CALLS = ("requests", "executions", "results", "errors")
"""The channels of tool calls."""
OF_ANSWERS = OF_CALLS[1:]
"""Those of them that show what became of a request."""

_MAX_NAMED = 50
"""How many different dropped things the notes name; the rest are counted."""

MAX_CALL_SECONDS = 1_000_000_000
"""No conversation lasts 31 years: a call-relative time beyond it is a time of day, or in another unit."""


_Item = TypeVar("_Item")


class Part(msgspec.Struct, frozen=True):
    """A JSON value to be read, and where it stands.

    Attributes:
        value: the value; its reader owns it and may take it apart.
        source: the id of its source.
        file: the file's name, for problems.
        path: where in the file, or in its line, the value stands.
        line: the 1-based line of a JSONL file that holds the value.
        lines: for a JSONL file as a whole, the line of each item of the value, which is then a list.
    """

    value: Any
    source: str = "src_0"
    file: str | None = None
    path: tuple[str | int, ...] = ()
    line: int | None = None
    lines: Sequence[int] | None = None

    def at(self, key: str) -> Part:
        """The part under a key of this one."""
        return msgspec.structs.replace(self, value=self.value[key], path=(*self.path, key))

    def item(self, index: int) -> Part:
        """The part that one item of this one is."""
        if self.lines is None:
            return msgspec.structs.replace(self, value=self.value[index], path=(*self.path, index))
        return msgspec.structs.replace(self, value=self.value[index], line=self.lines[index], lines=None)

    def loc(self) -> str:
        """Where this part stands, for `loc` fields and notes: `<source id>#<place>`."""
        return place_of(self.source, self.line, self.path)

    def locs(self) -> list[str]:
        """Where each item of this part stands, which is a list."""
        if self.lines is None:
            start = self.loc()
            return [f"{start}[{index}]" for index in range(len(self.value))]
        return [place_of(self.source, line) for line in self.lines]

    def problem(self, code: str, message: str, *inside: str | int, **fields: Any) -> Problem:
        """A problem with this part, or with what stands `inside` it."""
        path, line = (*self.path, *inside), self.line
        if self.lines is not None and inside:
            line, path = self.lines[int(inside[0])], inside[1:]
        return Problem(code=code, message=message, file=self.file, line=line, path=place_text(path), **fields)


def place_of(source: str, line: int | None, path: Sequence[str | int] = ()) -> str:
    """A place in a source as `loc` fields have it: `src_0#$.turns[3]`, or `src_0#line 4.turns[3]` in a JSONL file."""
    start = f"{source}#$" if line is None else f"{source}#line {line}"
    return f"{start}{place_text(path)[1:]}" if path else start


class Draft:
    """A conversation in the making; the attributes are those of the model."""

    def __init__(self) -> None:
        self.conversation_id: str | None = None
        self.turns: Sequence[Turn] | None = None
        self.calls: Sequence[ToolCall] | None = None
        self.spans: Sequence[Span] | None = None
        self.timing: list[Any] | dict[str, Any] | None = None
        self.states: Sequence[StateSnapshot] | None = None
        self.metadata: dict[str, Any] | None = None
        self.labels: dict[str, Any] | None = None
        self.coverage: dict[str, ChannelCoverage] = {}
        self.notes: list[Note] = []
        self.sources: list[Source] = []
        self.problems: list[Problem] = []
        self._dropped: dict[str, list[Any]] = {}
        self._dropped_keys: dict[str, list[Any]] = {}
        self._noted: Counter[str] = Counter()
        self._untold: dict[str, tuple[str, Literal["info", "warning"]]] = {}
        self.nesting = 0
        """How deep the evidence nests at most; readers say so by an upper bound."""

    def take(self, model: EvidenceModel) -> None:
        """Begin with all that a finished model holds."""
        for name in model.__struct_fields__:
            setattr(self, name, getattr(model, name))
        self.coverage = {name: getattr(model.coverage, name) for name in model.coverage.__struct_fields__}
        self.notes = list(model.notes)
        self.sources = list(model.sources)

    def note_text(self, place: str, text: jsontext.Decoded) -> None:
        """Note what the reader of a JSON text found odd in it; `place` is where the text stands."""
        if not text.duplicates and not text.non_finite:
            return
        found = [
            ("duplicate_key", "the key stands twice; the last value counts", path) for path in text.duplicates
        ]
        found += [
            ("non_finite", "a number that JSON does not have is kept as text", path)
            for path in text.non_finite
        ]
        for code, detail, path in found[:MAX_PROBLEMS]:
            self.note(code, f"{place}{place_text(path)[1:]}", detail)
        if len(found) > MAX_PROBLEMS:
            self.note("more_notes", place, f"{len(found) - MAX_PROBLEMS} more such places")

    def note(
        self, code: str, loc: str, detail: str, severity: Literal["info", "warning"] = "warning"
    ) -> None:
        """Record what was dropped, changed or not understood; `detail` quotes no evidence.

        Of a code that comes very often the first notes are kept, and one more counts the rest.
        """
        self._noted[code] += 1
        if self._noted[code] <= MAX_NOTES:
            self.notes.append(Note(code=code, severity=severity, loc=loc, detail=detail))
        elif self._noted[code] == MAX_NOTES + 1:
            self._untold[code] = (loc, severity)

    def next_source(self) -> str:
        """An id for one more source."""
        taken = {source.id for source in self.sources}
        return next(name for number in range(len(taken) + 1) if (name := f"src_{number}") not in taken)

    @property
    def is_native(self) -> bool:
        """Whether all was given in averment's own shapes, whose parts know nothing of each other and share a clock."""
        return all(source.format in _OWN for source in self.sources)

    def cover(self, channel: str, count: int) -> None:
        """Record that a source supplied a channel, with `count` things in it."""
        self.coverage[channel] = _PRESENT if count else _EMPTY

    def limit(self, channel: str, state: CoverageState, reason: str, how: str) -> None:
        """Record that a source can't show all of a channel: why, and what to switch on in it to record the rest."""
        self.coverage[channel] = ChannelCoverage(state, reason, how)

    def drop(self, what: str, loc: str) -> None:
        """Count something that is not taken over; one note tells of all that are called alike.

        Args:
            what: what it is, with no value of the evidence in it, such as a `quoted` key.
            loc: where it stands.
        """
        self._dropped.setdefault(what, [0, loc])[0] += 1

    def drop_rest(self, item: Mapping[str, Any], known: Container[str], loc: str) -> None:
        """Count the keys of an object that its reader doesn't know, those that are null apart."""
        for key, value in item.items():
            if key not in known and value is not None:
                self._dropped_keys.setdefault(key, [0, loc])[0] += 1

    def account(self, source: str, *, records: int, read: int) -> None:
        """Record how many records the source holds of this conversation, and how many are in the draft."""
        for index, each in enumerate(self.sources):
            if each.id == source:
                self.sources[index] = msgspec.structs.replace(each, records=records, records_read=read)

    def _note_dropped(self) -> None:
        for key, (count, loc) in self._dropped_keys.items():
            self._dropped.setdefault(quoted(key), [0, loc])[0] += count
        self._dropped_keys = {}
        for what in sorted(self._dropped)[:_MAX_NAMED]:
            count, loc = self._dropped[what]
            times = "" if count == 1 else f" ({count} times)"
            self.note("dropped_key", loc, f"{what} is not read{times}", "info")
        if len(self._dropped) > _MAX_NAMED:
            rest = sorted(self._dropped)[_MAX_NAMED:]
            self.note("dropped_key", self._dropped[rest[0]][1], f"{len(rest)} more are not read", "info")
        self._dropped = {}

    def _note_untold(self) -> None:
        for code, (loc, severity) in self._untold.items():
            detail = f"{self._noted[code] - MAX_NOTES:,} more notes like this are not kept; this is the first"
            self.notes.append(Note(code=code, severity=severity, loc=loc, detail=detail))
        self._untold = {}

    def model(self) -> EvidenceModel:
        """The finished model.

        Raises:
            EvidenceError: naming every problem met on the way.
        """
        self._note_dropped()
        self._note_untold()
        if self.nesting + _ADDED_LEVELS > MAX_DEPTH and self._is_too_deep():
            message = f"the evidence nests more than {MAX_DEPTH} levels deep"
            self.problems.append(Problem(code="evidence_too_deep", message=message))
        if self.problems:
            raise refusal(self.problems)
        return EvidenceModel(
            conversation_id=self.conversation_id,
            turns=_tuple(self.turns),
            calls=_tuple(self.calls),
            spans=_tuple(self.spans),
            timing=self.timing,
            states=_tuple(self.states and sorted(self.states, key=lambda each: (each.resource, each.side))),
            metadata=self.metadata,
            labels=self.labels,
            coverage=Coverage(**self.coverage),
            notes=tuple(self.notes),
            sources=tuple(self.sources),
        )

    def _is_too_deep(self) -> bool:
        """Whether the evidence file would be too deep to be read back: the model adds levels to its source."""
        payloads: dict[int, list[Any]] = {
            2: [self.timing, self.metadata, self.labels],
            4: [source.header for source in self.sources]
            + [payload for call in self.calls or () for payload in (call.args, call.result, call.error)]
            + [payload for span in self.spans or () for payload in (span.attrs, span.fields)],
            5: [row for snapshot in self.states or () for row in snapshot.rows],
        }
        inside: list[Any] = []
        for level in range(2, MAX_DEPTH + 1):
            if not inside and level > max(payloads):
                return False
            containers = [part for part in inside + payloads.get(level, []) if type(part) in (dict, list)]
            inside = [part for each in containers for part in (each.values() if type(each) is dict else each)]
        return any(type(part) in (dict, list) for part in inside)


_OWN = frozenset({"conversation", "transcript", "voice_trace", "timing", "state", "sqlite"})
_ADDED_LEVELS = 4
"""By how much the model nests a payload deeper than its source does, at most."""

_PRESENT = ChannelCoverage("present")
_EMPTY = ChannelCoverage("empty")


def place_text(path: Sequence[str | int]) -> str:
    """A path as people read it. Keys of evidence are evidence: personal data is removed from them."""
    return redact(path_text(path))


def quoted(name: str) -> str:
    """A key or name of the evidence, fit for a problem or a note: without personal data, and not too long."""
    return f"`{redact(name)[:60]}`"


def refusal(problems: list[Problem]) -> EvidenceError:
    """The error that names the problems, the first `MAX_PROBLEMS` of them."""
    if len(problems) <= MAX_PROBLEMS:
        return EvidenceError(problems)
    more = f"{len(problems) - MAX_PROBLEMS} more problems are not shown"
    return EvidenceError([*problems[:MAX_PROBLEMS], Problem(code="more_problems", message=more)])


def _tuple(items: Sequence[_Item] | None) -> tuple[_Item, ...] | None:
    return None if items is None else tuple(items)


def own_id(own: Any, position: str, taken: set[str]) -> str | None:
    """A source's own id for an item, or None when it can't serve: no text, taken, or the `position` of another item.

    Args:
        own: what the source has as the id.
        position: the id that the item's position gives it: `t_3`.
        taken: the ids of the items before; a good one is added.
    """
    if type(own) is not str or not own or own in taken:
        return None
    start = position[:2]
    if own != position and own.startswith(start) and own[2:].isdecimal():
        return None
    taken.add(own)
    return own


def kind_of(value: Any) -> str:
    """The JSON name of a value's type, for messages."""
    return _KINDS[type(value)]


_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
    jsontext.NonFinite: "a number that JSON does not have",
}


def too_long(text: str) -> bool:
    """Whether a turn's text is over the limit."""
    if len(text) * 4 <= MAX_TEXT_BYTES:
        return False
    return len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES


def nanoseconds(seconds: Any) -> int | None:
    """Call-relative seconds as nanoseconds, or None when they are no finite number within bounds.

    The shortest decimal form of the number is taken as what the source wrote, so 0.1 is 100000000; digits beyond
    the nanosecond are rounded half to even.
    """
    if type(seconds) is float:
        if -1e6 < seconds < 1e6:
            # Here floats are denser than nanoseconds, so the product is at most one rounding away from the decimal
            # number; when dividing leads back to the same float, it is that number.
            product = round(seconds * 1e9)
            if product / 1e9 == seconds:
                return product
        elif not -MAX_CALL_SECONDS <= seconds <= MAX_CALL_SECONDS:  # NaN is in no range
            return None
        from decimal import ROUND_HALF_EVEN, Decimal

        return int(Decimal(repr(seconds)).scaleb(9).to_integral_value(ROUND_HALF_EVEN))
    if type(seconds) is int and -MAX_CALL_SECONDS <= seconds <= MAX_CALL_SECONDS:
        return seconds * 1_000_000_000
    return None
