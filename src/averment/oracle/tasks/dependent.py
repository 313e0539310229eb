"""Gold calls whose arguments are read from the results of earlier ones, made in one episode as they become known.

A marker's path leads from the result to a scalar: keys of objects, indexes of lists, which may count from the end. The
call that it reads must have worked: a result that contains `error` is read by nobody.

What one task's results lack drops that task. A path that can lead nowhere in any result, because it names an item of a
list by a text, is the template's fault and stops the run; so does a template all of whose tasks are dropped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final

import msgspec

from averment.oracle.findings import Reason
from averment.oracle.oracles import Episode, OracleError
from averment.oracle.tasks.argument_tree import FromResult
from averment.oracle.tasks.task import Task
from averment.oracle.tasks.trace import CallScript, GoldCall, values_in_force
from averment.oracle.tasks.trace_faults import TraceError
from averment.text.jsonvalue import cut, show
from averment.text.structs import Mistake

__all__ = [
    "REASONS",
    "VERDICT",
    "Derived",
    "NotDerivedError",
    "calls_as_bound",
    "derive",
    "nothing_derived",
    "value_at",
]

VERDICT: Final = "trace_not_derived"
"""Why a task is dropped whose gold calls can't be derived; `REASONS` has the particulars."""

REASONS: Final[dict[str, Reason]] = {
    "result_field_missing": Reason(
        "The result of an earlier call has nothing where an argument is read from it.",
        "Correct the path, or draw the slots from values for which the call finds something.",
    ),
    "result_index_out_of_range": Reason(
        "A list in the result of an earlier call is shorter than an argument that is read from it expects.",
        "Draw the slots from values for which the list is long enough.",
    ),
    "result_not_scalar": Reason(
        "An argument is read from a result and is a list or an object there.",
        "Lead the path on to one value in it.",
    ),
    "producer_error": Reason(
        "An argument is read from the result of a call that was refused.",
        "Draw the slots from values for which the call works.",
    ),
    "call_failed": Reason(
        "The oracle gave no answer to a call whose result an argument may be read from.",
        "Mend the oracle: what it refuses has to be a result.",
    ),
}
"""Why a task has no gold calls."""

_INDEX: Final = re.compile(r"-?[0-9]+")
_DIGITS: Final = 10
"""Digits of an index; no list is as long as one with more."""


class Derived(msgspec.Struct, frozen=True):
    """Gold calls, and the result of each."""

    calls: list[GoldCall]
    results: list[Any]


class NotDerivedError(Exception):
    """A task has no gold calls, and is dropped.

    Attributes:
        code: one of `REASONS`.
        message: one sentence without a full stop.
        facts: what programs read: `call`, the id of the call whose result is read, `path`, `place` in the template.
    """

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.facts = facts


def calls_as_bound(of: CallScript, task: Task) -> Generator[GoldCall, Any, None]:
    """The gold calls of a task, each when it is known: send its result to have the next.

    Raises:
        NotDerivedError: an argument can't be read from the results.
        TraceError: `invalid_result_path`.
    """
    values = values_in_force(task)
    results: dict[str, Any] = {}

    def read(marker: FromResult) -> Any:
        return value_at(results[marker.call], marker)

    for call in of.calls:
        result = yield call.bound(values(call.corrections), read)
        if call.id is not None:
            results[call.id] = result


def derive(of: CallScript, task: Task, episode: Episode) -> Derived:
    """The gold calls of a task and their results, made in one episode from its reset on.

    Raises:
        NotDerivedError: an argument can't be read from the results, or a call got no answer.
        TraceError: `invalid_result_path`.
        OracleError: the oracle can't be used at all.
    """
    found = Derived([], [])
    pending = calls_as_bound(of, task)
    episode.reset()
    call = next(pending, None)
    while call is not None:
        try:
            result = episode.call(call.function_name, call.arguments, turn_index=call.turn_index)
        except OracleError as error:
            if not error.is_of_the_task:
                raise
            message = f"the call of `{call.function_name}` got no answer: {error.message}"
            raise NotDerivedError("call_failed", message, trouble=error.trouble) from error
        found.calls.append(call)
        found.results.append(result)
        try:
            call = pending.send(result)
        except StopIteration:
            break
    return found


def value_at(result: Any, marker: FromResult) -> Any:
    """What a marker reads from a result, a scalar.

    Raises:
        NotDerivedError: `producer_error`, `result_field_missing`, `result_index_out_of_range`, `result_not_scalar`.
        TraceError: `invalid_result_path`.
    """
    if isinstance(result, dict) and "error" in result:
        message = f"the result of `{marker.call}` contains an error: {show(result['error'])}"
        raise _not_derived("producer_error", message, marker)
    value = result
    for depth, step in enumerate(marker.steps):
        if isinstance(value, list):
            value = _item(value, step, depth, marker)
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            lead = "" if isinstance(value, dict) else f"is {show(value)} and "
            message = f"{_at(marker, depth)} {lead}has no `{cut(step, 60)}`"
            raise _not_derived("result_field_missing", message, marker)
    if isinstance(value, dict | list):
        kind = "a list" if isinstance(value, list) else "an object"
        message = f"{_at(marker, len(marker.steps))} is {kind}, and an argument is one value"
        raise _not_derived("result_not_scalar", message, marker)
    return value


def nothing_derived(dropped: Sequence[NotDerivedError]) -> TraceError:
    """What to raise where every task of a template was dropped: why each was, one at least."""
    counts = Counter(each.code for each in dropped)
    reasons = ", ".join(f"{count} by `{code}`" for code, count in sorted(counts.items()))
    message = (
        f"no task of the template has gold calls: {len(dropped)} dropped, {reasons}; {dropped[0].message}"
    )
    places = [tuple(each.facts["place"]) for each in dropped if "place" in each.facts]
    path = places[0] if places else ("assistant_milestones",)
    return TraceError([Mistake("no_trace_derived", message, path)])


def _item(items: list[Any], step: str, depth: int, marker: FromResult) -> Any:
    if _INDEX.fullmatch(step) is None:
        message = f"{_at(marker, depth)} is a list, and `{cut(step, 60)}` is no index"
        raise TraceError([Mistake("invalid_result_path", message, (*marker.place, "from_result", "path"))])
    index = int(step) if len(step) <= _DIGITS else len(items)
    if not -len(items) <= index < len(items):
        count = f"{len(items)} item{'' if len(items) == 1 else 's'}"
        message = f"{_at(marker, depth)} has {count}, and none at {cut(step, 60)}"
        raise _not_derived("result_index_out_of_range", message, marker)
    return items[index]


def _at(marker: FromResult, depth: int) -> str:
    """What part of the result is spoken of."""
    path = cut(".".join(marker.steps[:depth]), 100)
    return f"`{path}` of the result of `{marker.call}`" if path else f"the result of `{marker.call}`"


def _not_derived(code: str, message: str, marker: FromResult) -> NotDerivedError:
    facts: Mapping[str, Any] = {
        "call": marker.call,
        "path": ".".join(marker.steps),
        "place": list(marker.place),
    }
    return NotDerivedError(code, message, **facts)
