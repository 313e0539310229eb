"""What assertions ask of one conversation, answered from indexes that are built once.

Nothing here knows what an assertion is; a check asks for turns of a role, hits of a pattern or calls of a tool,
and each is worked out on the first question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from averment.evidence.model import ABSENT, ChannelCoverage, EvidenceModel, Span, ToolCall, Turn
from averment.state import Fixture
from averment.text.patterns import Pattern, PatternSet
from averment.text.pii import redact, suspects

__all__ = ["ROLE_ALIASES", "Event", "Roles", "View"]

ROLE_ALIASES: Mapping[str, Sequence[str]] = {
    "agent": ("assistant", "bot", "ai", "model", "robot"),
    "caller": ("user", "customer", "human"),
}
"""Role names that mean the same (difference 14 of assert-v1.md); a document's `roles:` replaces the table."""

_SECOND = 1_000_000_000
_MISSING = frozenset({"absent", "unreadable"})
_INCOMPLETE = frozenset({"truncated", "partial", "redacted"})


class Roles:
    """An alias table for role names; names match in any case."""

    __slots__ = ("_canonical",)

    def __init__(self, aliases: Mapping[str, Sequence[str]] = ROLE_ALIASES) -> None:
        self._canonical = {
            alias.casefold(): name.casefold() for name, others in aliases.items() for alias in (name, *others)
        }

    def canonical(self, name: str | None) -> str | None:
        """The one name for a role and its aliases; a role that no table knows is its own name, casefolded."""
        if name is None:
            return None
        folded = name.casefold()
        return self._canonical.get(folded, folded)

    def knows(self, name: str) -> bool:
        """Whether the table has the name."""
        return name.casefold() in self._canonical


class Event(msgspec.Struct, frozen=True, gc=False):
    """One thing that happened: a turn or a span, by its index, with the tool call that the span is."""

    turn: int | None
    span: int | None
    call: ToolCall | None


class View:
    """One conversation, as the checks of one plan see it.

    Args:
        model: the evidence.
        patterns: every pattern of the plan; only these may be asked for.
        roles: the plan's alias table.
    """

    def __init__(
        self, model: EvidenceModel, patterns: PatternSet, order: Sequence[Pattern], roles: Roles
    ) -> None:
        self.model = model
        self._patterns = patterns
        self._order = order
        self._roles = roles
        self._turns_of: dict[str, list[int]] = {}
        self._events: dict[tuple[bool, bool], Sequence[Event]] = {}

    @property
    def turns(self) -> Sequence[Turn]:
        """All turns; empty when the transcript is absent, which the engine has asked about before."""
        return self.model.turns or ()

    @property
    def spans(self) -> Sequence[Span]:
        """All spans, in trace order."""
        return self.model.spans or ()

    @cached_property
    def trace(self) -> Sequence[int]:
        """Indexes of the spans in trace order: by time when every span has one on the same clock, else as recorded.

        A mixed order would be a guess (difference 15 of assert-v1.md; `spec/evidence.md`, section 0, rule 7).
        """
        spans = self.spans
        indexes = range(len(spans))
        if _common_clock(spans) is None:
            return indexes
        starts = [span.start_ns or 0 for span in spans]
        ordered = sorted(indexes, key=starts.__getitem__)
        return indexes if ordered == [*indexes] else ordered

    @cached_property
    def _of_type(self) -> dict[str, list[int]]:
        of_type: dict[str, list[int]] = {}
        for index in self.trace:
            of_type.setdefault(self.spans[index].type, []).append(index)
        return of_type

    def spans_of(self, span_type: str) -> Sequence[int]:
        """Indexes of the spans of that type, in trace order."""
        return self._of_type.get(span_type, ())

    @cached_property
    def calls(self) -> Sequence[ToolCall]:
        """All tool calls, in trace order; calls that no span shows come last, in theirs by the same rule."""
        calls = self.model.calls or ()
        if calls and self.is_sequenced and all(call.position is None for call in calls):
            return sorted(calls, key=lambda call: call.seq or 0)
        shown = [call for call in calls if call.position is not None]
        bare = [call for call in calls if call.position is None]
        if _common_clock(bare) is not None:
            bare.sort(key=lambda call: call.start_ns or 0)
        if isinstance(self.trace, range):
            shown.sort(key=lambda call: call.position or 0)
        else:
            rank = {index: place for place, index in enumerate(self.trace)}
            shown.sort(key=lambda call: rank[call.position or 0])
        return [*shown, *bare]

    def events(self, *, turns: bool, spans: bool) -> Sequence[Event]:
        """What happened: the turns, then the trace (spans, and behind them the calls that no span shows)."""
        if (turns, spans) not in self._events:
            self._events[turns, spans] = self._happened(turns=turns, spans=spans)
        return self._events[turns, spans]

    def _happened(self, *, turns: bool, spans: bool) -> list[Event]:
        said = [Event(index, None, None) for index in range(len(self.turns))] if turns else []
        if not spans:
            return said
        by_span: dict[int | None, list[ToolCall]] = {}
        for call in self.calls:
            by_span.setdefault(call.position, []).append(call)
        bare = [Event(None, None, call) for call in by_span.pop(None, ())]
        done: list[Event] = []
        for index in self.trace:
            if index in by_span:
                done += [Event(None, index, call) for call in by_span[index]]
            else:
                done.append(Event(None, index, None))
        return [*said, *done, *bare]

    def timeline(self, *, turns: bool, spans: bool) -> Sequence[Event] | None:
        """What happened, in order: turns, the trace, or both.

        Both have a common order only when the source gives them one, or everything in them has a start time on the
        same clock; None when not.
        """
        events = self.events(turns=turns, spans=spans)
        if not (turns and spans) or len({event.turn is None for event in events}) < 2:
            return events
        if self.is_sequenced and all(self._sequel(event).seq is not None for event in events):
            return sorted(events, key=lambda event: self._sequel(event).seq or 0)
        clock = _common_clock([self._thing(event) for event in events])
        # What a monotonic clock calls zero is known to its own source alone.
        if clock is None or (clock == "monotonic" and len(self.model.sources) > 1):
            return None
        return sorted(events, key=lambda event: self._thing(event).start_ns or 0)

    @cached_property
    def is_sequenced(self) -> bool:
        """Whether the source has turns and tool calls in one order: then `seq` tells which came before which."""
        things: list[Turn | ToolCall] = [*self.turns, *(self.model.calls or ())]
        return bool(things) and all(thing.seq is not None for thing in things)

    def _sequel(self, event: Event) -> Turn | ToolCall | Span:
        """The turn, the call or, where it is neither, the span that the event is."""
        return self._thing(event) if event.call is None else event.call

    def _thing(self, event: Event) -> Turn | Span | ToolCall:
        """The turn, span or call that the event is."""
        if event.turn is not None:
            return self.turns[event.turn]
        if event.span is not None:
            return self.spans[event.span]
        assert event.call is not None  # noqa: S101 - an event is at least one of the three
        return event.call

    @property
    def timing(self) -> Any:
        """The timing evidence as it was supplied."""
        return self.model.timing

    @cached_property
    def all_hits(self) -> Mapping[Pattern, list[int]]:
        """For every pattern of the plan, indexes of the turns in which it is found, ascending."""
        found = self._patterns.hits([turn.text for turn in self.turns])
        return dict(zip(self._order, found, strict=True))

    def hits(self, pattern: Pattern, role: str | None = None) -> list[int]:
        """Indexes of the turns in which the pattern is found, ascending: what `role` said, or what was said at all."""
        return self._of_role(self.all_hits[pattern], role)

    def suspects(self, role: str | None = None) -> list[int]:
        """Indexes of the turns that may hold personal data, ascending; in the others no detector can find any.

        Those of `role`, or of all that was said.
        """
        return self._of_role(self._suspects, role)

    def _of_role(self, indexes: list[int], role: str | None) -> list[int]:
        if not indexes:
            return indexes
        if role is None:
            return indexes if self._unsaid is None else [i for i in indexes if i not in self._unsaid]
        role_at = self._role_at
        return [index for index in indexes if role_at[index] == role]

    @cached_property
    def _unsaid(self) -> frozenset[int] | None:
        """Indexes of the turns that are no utterances, such as system prompts; None where there are none."""
        return frozenset(index for index, turn in enumerate(self.turns) if not turn.said) or None

    @cached_property
    def _suspects(self) -> list[int]:
        return suspects([turn.text for turn in self.turns])

    @cached_property
    def _role_at(self) -> list[str | None]:
        """The canonical role of each turn."""
        named = [turn.role_raw for turn in self.turns]
        canonical = {name: self._roles.canonical(name) for name in set(named)}
        return [canonical[name] for name in named]

    def turns_of(self, role: str | None) -> Sequence[int]:
        """Indexes of the turns of a role, by its canonical name; for None of every turn that was said."""
        if role is None and self._unsaid is None:
            return range(len(self.turns))
        if role is None:
            return [index for index in range(len(self.turns)) if index not in (self._unsaid or ())]
        if role not in self._turns_of:
            self._turns_of[role] = [index for index, name in enumerate(self._role_at) if name == role]
        return self._turns_of[role]

    @cached_property
    def _called(self) -> dict[str, list[ToolCall]]:
        called: dict[str, list[ToolCall]] = {}
        for call in self.calls:
            if call.name is not None:
                called.setdefault(call.name, []).append(call)
        return called

    def called(self, name: str) -> Sequence[ToolCall]:
        """The calls of the tool of that name, in trace order."""
        return self._called.get(name, ())

    @property
    def tool_names(self) -> Sequence[str]:
        """The names of the tools that were called, in the order of their first calls."""
        return tuple(self._called)

    @cached_property
    def store(self) -> Fixture:
        """The system of record."""
        return Fixture(self.model.states or ())

    @cached_property
    def redacted_transcript(self) -> list[dict[str, Any]]:
        """Every turn as `{role, text, start?, end?}` (seconds), with all personal data removed."""
        role = {name: name and redact(name) for name in {turn.role_raw for turn in self.turns}}
        redacted = []
        for turn in self.turns:
            entry: dict[str, Any] = {"role": role[turn.role_raw], "text": turn.text}
            if (start := turn.start_ns) is not None:
                entry["start"] = start / _SECOND if start % _SECOND else start // _SECOND
            if (end := turn.end_ns) is not None:
                entry["end"] = end / _SECOND if end % _SECOND else end // _SECOND
            redacted.append(entry)
        for index in self._suspects:
            redacted[index]["text"] = redact(self.turns[index].text)
        return redacted

    def coverage(self, channel: str) -> tuple[str, str | None]:
        """The state of a channel, and why, as the reader reported it."""
        entry: ChannelCoverage = getattr(self.model.coverage, channel)
        return entry.state, entry.reason

    @cached_property
    def lacks_bodies(self) -> bool:
        """Whether an HTTP exchange has no response because its source does not record it."""
        if self.model.coverage.bodies == ABSENT:
            return False
        keys = ("response", "response_body", "result")
        return any(self.spans[index].field(*keys) is None for index in self.spans_of("http_exchange"))

    @cached_property
    def unanswered(self) -> frozenset[str]:
        """The names of the tools that the agent asked for without an answer, where the source records answers."""
        return frozenset(
            call.name
            for call in self.model.calls or ()
            if call.status == "unanswered" and call.requestor == "agent" and call.name is not None
        )

    def how(self, channel: str) -> str | None:
        """What to switch on in the source so that it records the channel, as its reader says."""
        entry: ChannelCoverage = getattr(self.model.coverage, channel)
        return entry.how

    @cached_property
    def has_unknown_speakers(self) -> bool:
        """Whether somebody spoke of whom neither the source nor the alias table says who it is."""
        if not self.is_incomplete("speakers"):
            return False
        named = {turn.role_raw for turn in self.turns if turn.role == "unknown"}
        return any(name is None or not self._roles.knows(name) for name in named)

    def source_format(self, channel: str) -> str | None:
        """The format of the source that shows the channel, or fails to; None where no source does."""
        if self.coverage(channel) == ("absent", None):
            return None
        # An evidence file may write anything there.
        return redact(self.model.sources[0].format) if len(self.model.sources) == 1 else None

    def is_missing(self, channel: str) -> bool:
        """Whether the channel can answer nothing at all: absent or unreadable."""
        return getattr(self.model.coverage, channel).state in _MISSING

    def is_incomplete(self, channel: str) -> bool:
        """Whether the channel may lack things that happened, so that not finding one proves nothing."""
        return getattr(self.model.coverage, channel).state in _INCOMPLETE


def _common_clock(things: Sequence[Turn | Span | ToolCall]) -> str | None:
    """The clock by which all of them start, or None when one has no time, or there are several clocks or none."""
    clocks = {thing.clock for thing in things}
    if len(clocks) != 1 or None in [thing.start_ns for thing in things]:
        return None
    return clocks.pop()
