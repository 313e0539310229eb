"""What mapped items say of times and of how calls went, and notes that count."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET

from averment.evidence.draft import MAX_CALL_SECONDS, Draft, kind_of
from averment.evidence.mapping import Mapping
from averment.evidence.model import Clock, ToolCallStatus
from averment.evidence.pointers import ABSENT
from averment.evidence.readers.mapped_rules import AtWork
from averment.evidence.times import MICROSECOND, MILLISECOND, SECOND, instant, scaled

__all__ = ["Counted", "Outcome", "Times"]


class Counted:
    """Notes of which one tells of all places that are alike."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._notes: dict[tuple[str, str], list[Any]] = {}

    def note(self, code: str, detail: str, loc: str) -> None:
        """Count one place."""
        self._notes.setdefault((code, detail), [0, loc])[0] += 1

    def write(self) -> None:
        """Write the notes, each at the first of its places."""
        for (code, detail), (count, loc) in self._notes.items():
            times = "" if count == 1 else f" ({count} times)"
            self._draft.note(code, loc, f"{detail}{times}")


_DURATIONS = ("duration", "latency")
_UNITS = {"s": SECOND, "ms": MILLISECOND, "us": MICROSECOND, "ns": 1}
_EARLIEST, _LATEST = 631_152_000 * SECOND, 7_258_118_400 * SECOND
"""1990 and 2200: a time of day outside of them was written in another unit."""
_LONGEST = MAX_CALL_SECONDS * SECOND


class Times:
    """Reads times and durations on the clock and in the units that a mapping says."""

    def __init__(self, mapping: Mapping, counted: Counted) -> None:
        self._unit = mapping.unit
        self._counted = counted
        self.clock: Clock = "epoch" if mapping.clock is UNSET else mapping.clock
        """What times count from; ISO times need not say it."""

    def of(self, rule: AtWork, item: Any, outer: Any, loc: str) -> tuple[int | None, int | None]:
        """When it began and ended; where no end is recorded, by its duration."""
        start = self._read(rule, "start", item, outer, loc)
        end = self._read(rule, "end", item, outer, loc)
        if end is None and start is not None:
            duration = self._read(rule, "duration", item, outer, loc)
            end = None if duration is None else start + duration
        if start is not None and end is not None and end < start:
            self._counted.note("ends_before_start", "something ends before it starts", loc)
        return start, end

    def latency(self, rule: AtWork, item: Any, outer: Any, loc: str) -> float | None:
        """How many milliseconds the source says that a call took."""
        latency = self._read(rule, "latency", item, outer, loc)
        if latency is None:
            return None
        return latency / MILLISECOND if latency % MILLISECOND else latency // MILLISECOND

    def _read(self, rule: AtWork, name: str, item: Any, outer: Any, loc: str) -> int | None:
        value = rule.value(name)
        written = ABSENT if value is None else value.of(item, outer)
        if value is None or written is ABSENT or written is None:
            return None
        unit = self._unit if value.unit is UNSET else value.unit
        time = instant(written) if unit == "iso" else scaled(written, _UNITS[str(unit)])
        if time is None:
            self._counted.note(
                "time_unreadable", f"`{name}` is no time in the unit {unit}; it is left out", loc
            )
        elif time == 0 and name in _DURATIONS:
            self._counted.note(
                "zero_duration", f"`{name}` is zero, which is no measurement; it is left out", loc
            )
            return None
        elif not self._is_plausible(name, time):
            detail = f"`{name}` can't be right in the unit {unit} on this clock; it is left out"
            self._counted.note("time_implausible", detail, loc)
            return None
        return time

    def _is_plausible(self, name: str, time: int) -> bool:
        if name in _DURATIONS:
            return 0 < time <= _LONGEST
        if self.clock == "epoch":
            return _EARLIEST <= time < _LATEST
        return self.clock == "monotonic" or -_LONGEST <= time <= _LONGEST


_PENDING = frozenset({"requested", "unanswered", "cancelled", "denied"})
_OUTSTANDING = frozenset({"requested", "unanswered"})
_STATUSES = frozenset({*_PENDING, "executed", "ok", "error", "timeout"})


class Outcome(msgspec.Struct, frozen=True):
    """What an item says of how a call went."""

    result: Any
    error: Any
    failed: bool | None
    status: ToolCallStatus | None
    is_unclear: bool
    """Whether it says something that can't be understood."""

    @classmethod
    def of(cls, rule: AtWork, item: Any, outer: Any, loc: str, counted: Counted) -> Outcome:
        """What the item says of it."""
        result, error = rule.of("result", item, outer), rule.of("error", item, outer)
        failed, status = rule.of("failed", item, outer), rule.of("status", item, outer)
        is_unclear = False
        if failed is not ABSENT and failed is not None and type(failed) is not bool:
            counted.note("wrong_type", f"`failed` is {kind_of(failed)}; `values` can say what it means", loc)
            is_unclear = True
        if status is not ABSENT and status is not None and not (type(status) is str and status in _STATUSES):
            counted.note("status_not_known", "a status is none that is known; `values` can say which", loc)
            is_unclear = True
        return cls(
            result=UNSET if result is ABSENT or result is None else result,
            error=UNSET if _is_no_error(error) else error,
            failed=failed if type(failed) is bool else None,
            status=status if type(status) is str and status in _STATUSES else None,  # type: ignore[arg-type]
            is_unclear=is_unclear,
        )

    @property
    def pending(self) -> Literal["requested", "unanswered", "cancelled", "denied"] | None:
        """The status of a call that was not carried out."""
        return self.status if self.status in _PENDING else None  # type: ignore[return-value]

    @property
    def is_outstanding(self) -> bool:
        """Whether it says that there is no answer yet."""
        return self.status in _OUTSTANDING and not self.is_shown

    @property
    def is_shown(self) -> bool:
        """Whether it says that the call was carried out or answered."""
        if self.result is not UNSET or self.error is not UNSET or self.failed is not None:
            return True
        return self.status is not None and self.status not in _PENDING

    def fields(self) -> dict[str, Any]:
        """The same as an answer has it; what can't be understood never makes a success."""
        status = None if self.status in _OUTSTANDING else self.status
        if self.is_unclear and status is None and self.failed is None and self.error is UNSET:
            status = "executed"
        return {"result": self.result, "error": self.error, "failed": self.failed, "status": status}


def _is_no_error(error: Any) -> bool:
    return (
        error is ABSENT
        or error is None
        or error == ""
        or error is False
        or (type(error) in (int, float) and error == 0)
    )
