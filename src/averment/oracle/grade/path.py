"""The gates of trace mode (contract, 9.3): a run's calls and texts against those of gold, one question each.

Two gates ask for the whole of gold: `tool_selection` and `arguments`, to which a call that was never made is missing.
The others ask about what the agent did. So a wrong tool fails the selection alone, a right call in a wrong place the
order alone. Calls are paired over the whole run, not turn by turn: an agent that takes one turn more is not wrong from
there on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import UNSET

from averment.evidence.redaction import holds_redacted
from averment.oracle.catalog.arguments import argument_failures
from averment.oracle.grade import gates
from averment.oracle.grade.calls import Call, Shown
from averment.oracle.grade.compare import Pairing, compare_call, pair_calls
from averment.oracle.grade.gates import Attribution, Gate
from averment.oracle.grade.gold import GoldTask
from averment.oracle.grade.policy import Policy
from averment.oracle.grade.shape import Grouping, aligned, grouped, says_confirmed, unearned

__all__ = ["CUT", "Compared", "Validity", "compared", "path_gates"]

CUT = frozenset({"length", "content_filter", "max_tokens", "max_output_tokens"})
"""Reasons for which a model stops before its answer is complete."""


class Validity(msgspec.Struct, frozen=True):
    """Whether a call's arguments fit the schema of its tool: its index; None where the evidence does not show it."""

    call: int
    valid: bool | None
    why: str | None = None
    detail: str | None = None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """A run beside the gold of its task: what the gates and the metrics are made from.

    Attributes:
        pairing: its calls with those of gold.
        turns: by the index of a turn of gold that of its counterpart in the run.
        groups: how the groups of gold were made, of those that were called.
        validity: of each call of a tool that the task has.
    """

    pairing: Pairing
    turns: dict[int, int]
    groups: tuple[Grouping, ...]
    validity: tuple[Validity, ...]


def compared(task: GoldTask, run: Shown, policy: Policy) -> Compared:
    """A run beside the gold of its task."""
    pairing = pair_calls(task.calls, run.calls, task.tools, policy)
    return Compared(
        pairing=pairing,
        turns=aligned(task, run, pairing, policy),
        groups=tuple(grouped(task, run, pairing)),
        validity=tuple(_validity(task, run)),
    )


def path_gates(
    task: GoldTask,
    run: Shown,
    found: Compared,
    policy: Policy,
    *,
    confirmations: Mapping[str, str] | None = None,
    stopped: bool = False,
) -> list[Gate]:
    """The gates of trace mode, in the order of the contract, and the one of the user's word.

    Args:
        task: the task.
        run: what the run shows.
        found: both, compared.
        policy: how.
        confirmations: by the name of each tool that asks for the user's word the parameter that says it was given.
        stopped: whether it was not the agent that ended the run; what it never came to is not its fault then.
    """
    blame: Attribution = "infrastructure" if stopped else "candidate"
    return [
        _tool_selection(task, run, found.pairing, blame),
        _arguments(task, run, found.pairing, blame),
        _schema_valid(run, found.validity),
        _call_grouping(task, run, found),
        _call_ordering(task, run, found.pairing, policy),
        _text_turn(task, run, found, blame),
        _trace_completion(run, blame),
        _confirmation(task, run, found, confirmations or {}),
    ]


def _tool_selection(task: GoldTask, run: Shown, pairing: Pairing, blame: Attribution) -> Gate:
    name = "tool_selection"
    if run.calls_gap == "calls_not_recorded":
        return gates.undecided(name, run.calls_gap)
    if pairing.instead:
        return gates.failed(
            name, "wrong_tool", _listed(pair.comparison.explanation for pair in pairing.instead)
        )
    if pairing.unexpected:
        extra = _named(run.calls[index] for index in pairing.unexpected)
        return gates.failed(name, "unexpected_call", f"gold has no more calls of these: {extra}")
    if pairing.missing and run.calls_gap is None:
        return gates.failed(name, "call_missing", _missing(task, pairing.missing), blame=blame)
    if run.calls_gap is not None:
        return gates.undecided(name, run.calls_gap)
    if any(pair.comparison.reason == "name_not_recorded" for pair in pairing.pairs):
        return gates.undecided(name, "name_not_recorded")
    return gates.passed(name)


def _arguments(task: GoldTask, run: Shown, pairing: Pairing, blame: Attribution) -> Gate:
    name = "arguments"
    if not task.calls:
        return gates.not_applicable(name, "no_expected_call")
    if run.calls_gap == "calls_not_recorded":
        return gates.undecided(name, run.calls_gap)
    differing = [pair.comparison for pair in pairing.pairs if pair.comparison.status == "differs"]
    if differing:
        return gates.failed(name, differing[0].reason, _listed(each.explanation for each in differing))
    # What stands in place of a call is another tool's, which the selection is about.
    missing = pairing.missing[len(pairing.instead) :]
    if missing and run.calls_gap is None:
        return gates.failed(name, "call_missing", _missing(task, missing), blame=blame)
    unknown = [pair.comparison for pair in pairing.pairs if pair.comparison.status == "unknown"]
    if unknown:
        return gates.undecided(name, unknown[0].reason, _listed(each.explanation for each in unknown))
    if missing and run.calls_gap is not None:
        return gates.undecided(name, run.calls_gap)
    return gates.passed(name) if pairing.pairs else gates.not_applicable(name, "nothing_to_compare")


def _validity(task: GoldTask, run: Shown) -> Iterator[Validity]:
    for index, call in enumerate(run.calls):
        if call.name is None or call.name not in task.tools:
            continue
        if call.unfit is not None:
            yield Validity(index, False, call.unfit, f"the arguments of {call.id} can't be read as an object")
            continue
        if call.arguments is UNSET:
            yield Validity(index, None, call.hidden or "arguments_not_recorded")
            continue
        failures = [
            failure
            for failure in argument_failures(task.tools[call.name], call.arguments)
            if call.hidden is None
            or not failure.steps
            or not holds_redacted(call.arguments.get(failure.steps[0]))
        ]
        if failures:
            detail = f"{call.id} calls `{call.name}`: {_listed(failure.message for failure in failures)}"
            yield Validity(index, False, "schema_violated", detail)
        else:
            yield Validity(index, True if call.hidden is None else None, call.hidden)


def _schema_valid(run: Shown, validity: Sequence[Validity]) -> Gate:
    name = "schema_valid"
    wrong = [each for each in validity if each.valid is False]
    if wrong:
        return gates.failed(
            name, wrong[0].why or "schema_violated", _listed(each.detail or "" for each in wrong)
        )
    if run.calls_gap is not None:
        return gates.undecided(name, run.calls_gap)
    unknown = [each for each in validity if each.valid is None]
    if unknown:
        return gates.undecided(name, unknown[0].why or "arguments_not_recorded")
    return gates.passed(name) if validity else gates.not_applicable(name, "no_attempted_call")


def _call_grouping(task: GoldTask, run: Shown, found: Compared) -> Gate:
    name = "call_grouping"
    if not task.calls:
        return gates.not_applicable(name, "no_expected_call")
    for group in found.groups:
        if group.status not in {None, "matched"}:
            calls = _named_gold(task, task.groups[group.group])
            return gates.failed(
                name, str(group.status), f"gold makes these at once, and nothing else: {calls}"
            )
    if run.calls_gap is not None:
        return gates.undecided(name, run.calls_gap)
    if any(group.status is None for group in found.groups):
        return gates.undecided(name, run.turns_gap or run.order_gap or "groups_unknown")
    return gates.passed(name) if found.groups else gates.not_applicable(name, "nothing_to_compare")


def _call_ordering(task: GoldTask, run: Shown, pairing: Pairing, policy: Policy) -> Gate:
    name = "call_ordering"
    if task.call_order == "any":
        return gates.not_applicable(name, "order_is_free")
    if len(task.calls) < 2:
        return gates.not_applicable(name, "one_call")
    differs = any(pair.comparison.status == "differs" for pair in pairing.pairs)
    if differs or pairing.unexpected or (pairing.missing and run.calls_gap is None):
        return gates.not_applicable(name, "calls_differ")
    if run.calls_gap is not None or run.order_gap is not None:
        return gates.undecided(name, run.calls_gap or run.order_gap or "order_unknown")
    if task.call_order == "prefix":
        return _prefix(task, run)
    unknown = next(
        (pair.comparison.reason for pair in pairing.pairs if pair.comparison.status == "unknown"), None
    )
    comparisons = [
        compare_call(gold, call, task.tools.get(gold.function_name), policy)
        for gold, call in zip(task.calls, run.calls, strict=True)
    ]
    if all(comparison.status == "equal" for comparison in comparisons):
        return gates.passed(name)
    if unknown is not None:
        return gates.undecided(name, unknown)
    place = {pair.call: pair.gold for pair in pairing.pairs}
    made = ", ".join(f"{place[index]} (`{call.name}`)" for index, call in enumerate(run.calls[:_MOST]))
    return gates.failed(name, "order_differs", f"the calls of gold, counted from 0, were made as {made}")


def _prefix(task: GoldTask, run: Shown) -> Gate:
    name = "call_ordering"
    if any(call.name is None for call in run.calls):
        return gates.undecided(name, "name_not_recorded")
    wanted = list(dict.fromkeys(task.required_tools))[: task.call_order_prefix]
    made = list(dict.fromkeys(call.name for call in run.calls if call.name in task.required_tools))
    if made[: len(wanted)] == wanted:
        return gates.passed(name)
    detail = f"the first calls are of {_ticked(made)}; the template has {_ticked(wanted)}"
    return gates.failed(name, "prefix_differs", detail)


def _text_turn(task: GoldTask, run: Shown, found: Compared, blame: Attribution) -> Gate:
    name = "text_turn"
    texts = [at for at, turn in enumerate(task.turns) if not turn.calls]
    if not texts:
        return gates.not_applicable(name, "no_text_milestone")
    missing = [at for at in texts if at not in found.turns]
    if not missing:
        return gates.passed(name)
    if run.turns_gap is not None:
        return gates.undecided(name, run.turns_gap)
    places = ", ".join(str(at) for at in missing)
    detail = f"{len(missing)} of {len(texts)} texts have no counterpart: turns {places} of gold"
    return gates.failed(name, "text_missing", detail, blame=blame)


def _trace_completion(run: Shown, blame: Attribution) -> Gate:
    name = "trace_completion"
    if run.finish_reason in CUT:
        return gates.failed(name, "answer_cut", f"the model stopped for the reason `{run.finish_reason}`")
    if run.left_open is not None:
        return gates.failed(name, "ended_open", f"nothing follows {run.left_open}", blame=blame)
    if run.calls or run.turns:
        return gates.passed(name)
    if run.calls_gap is not None or run.turns_gap is not None:
        return gates.undecided(name, run.turns_gap or run.calls_gap or "transcript_incomplete")
    return gates.failed(name, "nothing_done", blame=blame)


def _confirmation(task: GoldTask, run: Shown, found: Compared, confirmations: Mapping[str, str]) -> Gate:
    name = "confirmation"
    suspects = unearned(task, run, found.pairing, confirmations)
    surely = [run.calls[index] for index, is_unknown in suspects if not is_unknown]
    if surely:
        detail = f"these say that the user has agreed: {_named(surely)}"
        return gates.failed(name, "confirmation_not_earned", detail)
    if suspects:
        why = run.calls[suspects[0][0]].hidden or run.turns_gap or run.order_gap or "groups_unknown"
        return gates.undecided(name, why)
    if confirmations and run.calls_gap is not None:
        return gates.undecided(name, run.calls_gap)
    is_said = any(says_confirmed(call, confirmations) for call in run.calls)
    return gates.passed(name) if is_said else gates.not_applicable(name, "no_confirmation")


_MOST = 5
"""How many things a detail names."""


def _listed(sentences: Iterator[str] | Sequence[str]) -> str:
    told = list(sentences)
    more = f"; and {len(told) - _MOST} more" if len(told) > _MOST else ""
    return f"{'; '.join(told[:_MOST])}{more}"


def _ticked(names: Sequence[str | None]) -> str:
    told = [f"`{name}`" if name is not None else "a tool without a name" for name in names]
    more = f" and {len(told) - _MOST} more" if len(told) > _MOST else ""
    return f"{', '.join(told[:_MOST])}{more}" or "none"


def _named(calls: Iterator[Call] | Sequence[Call]) -> str:
    return _ticked([call.name for call in calls])


def _named_gold(task: GoldTask, indexes: Sequence[int]) -> str:
    return _ticked([task.calls[index].function_name for index in indexes])


def _missing(task: GoldTask, indexes: Sequence[int]) -> str:
    return f"gold calls these too: {_named_gold(task, indexes)}"
