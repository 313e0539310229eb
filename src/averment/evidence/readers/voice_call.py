"""What readers of voice platforms share: one recorded call, its turns and tools, and its events and facts beside them.

An event becomes a span in the words of the native trace: `call_ended`, `handoff`, `dtmf`. A fact is something that
the platform says of the call as a whole, such as its cost or how it was analysed; it is kept as written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from averment.evidence.draft import OF_CALLS, Draft, Part, kind_of, nanoseconds
from averment.evidence.model import Clock, CoverageState, Span
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.voice_trace import ENDS

__all__ = ["VoiceCall", "items_in", "object_in", "relative", "text_in"]


class VoiceCall:
    """One call in the making.

    Args:
        part: the call as a whole.
        draft: what it is written to, by `finish`.
    """

    def __init__(self, part: Part, draft: Draft) -> None:
        self.draft = draft
        self.dialogue = Dialogue(draft, part)
        self.records = 0
        """How many records the source holds."""
        self.read = 0
        """How many of them were read."""
        self._source = part.source
        self._spans: list[Span] = []

    def event(
        self,
        span_type: str,
        loc: str,
        *,
        name: str | None = None,
        start_ns: int | None = None,
        end_ns: int | None = None,
        clock: Clock | None = None,
        placed: bool = True,
        seq: int | None = None,
        fields: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> int:
        """Something that happened beside turns and tools; returns its position in the trace.

        Args:
            span_type: what it was.
            loc: where it stands.
            name: its name.
            start_ns: when it began.
            end_ns: when it ended, if it was more than a moment.
            clock: what these times count from.
            placed: whether it happened after the turns and calls so far, and before those to come.
            seq: its place among them, where that is known.
            fields: its fields; those that are None are left out.
            more: more of them.
        """
        timed = start_ns is not None or end_ns is not None
        given = {**(fields or {}), **more}
        span = Span(
            id=f"s_{len(self._spans)}",
            type=span_type,
            name=name,
            start_ns=start_ns,
            end_ns=start_ns if end_ns is None else end_ns,
            clock=clock if timed else None,
            fields={key: value for key, value in given.items() if value is not None},
            seq=self.dialogue.place() if placed and seq is None else seq,
            loc=loc,
        )
        self._spans.append(span)
        return len(self._spans) - 1

    def facts(self, item: Mapping[str, Any], keys: Iterable[str]) -> None:
        """Keep what the platform says of the whole call; of a fact that stands twice, the first."""
        facts = {key: item[key] for key in keys if item.get(key) is not None}
        if facts:
            self.draft.metadata = facts | (self.draft.metadata or {})

    def finish(
        self,
        *,
        records_answers: bool | None = None,
        shows: Iterable[str] = (),
        platform: str,
        how_failures: str,
        how_arguments: str | None = None,
    ) -> None:
        """Write the call to the draft.

        Args:
            records_answers: whether the source holds answers of tools at all; by default it does if there is one.
            shows: which of `handoff` and `dtmf` the source would show if there were any.
            platform: the platform's name.
            how_failures: how to record in the source whether a tool failed, where it doesn't say so of each.
            how_arguments: how to record arguments in it.
        """
        self.dialogue.finish(
            records_answers=records_answers,
            flags_failures=False,
            how_arguments=how_arguments,
        )
        if any(call.status == "executed" for call in self.draft.calls or ()):
            reason = f"{platform}'s tool results do not say whether they failed"
            self.limit(("errors",), "partial", reason, how_failures)
        if any(note.code == "result_without_call" for note in self.draft.notes):
            reason, how = "an answer stands there without its call", "Export the call from its beginning."
            self.limit(("transcript", *OF_CALLS), "partial", reason, how)
        self.write_spans(shows)
        self.draft.account(self._source, records=self.records, read=self.read)

    def happened(self, span_type: str) -> bool:
        """Whether there was an event of that type."""
        return any(span.type == span_type for span in self._spans)

    def write_spans(self, shows: Iterable[str] = ()) -> None:
        """Write the events to the draft; a call without any has no trace, for nothing says that one was kept."""
        self.draft.spans = self._spans or None
        for channel in shows:
            self.draft.cover(channel, sum(span.type == channel for span in self._spans))
        if any(span.type == "handoff" and "to" not in span.fields for span in self._spans):
            reason, how = "the source does not say of every handoff to whom it was", _NAME_TARGETS
            self.draft.limit("handoff", "partial", reason, how)
        if any(span.type in ENDS for span in self._spans):
            self.draft.cover("termination", 1)

    def limit(self, channels: Iterable[str], state: CoverageState, reason: str, how: str) -> None:
        """Record of several channels that the source can't show all of them; one that is absent stays absent."""
        for channel in channels:
            known = self.draft.coverage.get(channel)
            if state == "absent" or (known is not None and known.state != "absent"):
                self.draft.limit(channel, state, reason, how)


_NAME_TARGETS = "Export the platform's events of transfers as well, or add a trace that names the targets."


def text_in(item: Mapping[str, Any], *keys: str) -> str | None:
    """The first of the keys that holds a text which is not empty."""
    for key in keys:
        value = item.get(key)
        if type(value) is str and value:
            return value
    return None


def object_in(item: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The object under a key, or an empty one."""
    value = item.get(key)
    return value if type(value) is dict else {}


def items_in(part: Part, key: str, draft: Draft) -> list[tuple[dict[str, Any], str]]:
    """The objects of the list under a key, each with where it stands; what is no object is noted."""
    value = part.value.get(key)
    if value is None or value == []:
        return []
    inside = part.at(key)
    if type(value) is not list:
        draft.note(
            "list_expected", inside.loc(), f"this is {kind_of(value)} and not a list, so nothing is read"
        )
        return []
    items = []
    for item, loc in zip(value, inside.locs(), strict=True):
        if type(item) is dict:
            items.append((item, loc))
        else:
            draft.note(
                "item_not_object", loc, f"this is {kind_of(item)} and not an object, so it is not read"
            )
    return items


def relative(seconds: Any, loc: str, draft: Draft) -> int | None:
    """Seconds since the start of the call as nanoseconds; a time that can't be read is noted."""
    time = nanoseconds(seconds)
    if time is None and seconds is not None:
        draft.note("time_unreadable", loc, "a time is no number of seconds since the start; it is left out")
    return time
