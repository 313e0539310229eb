"""What a gate says, and what follows from several of them.

A gate is passed, failed, not applicable, or undecided where the evidence does not show it: nothing is guessed. Each
says why in one code of `WHY`, and whose doing it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from averment.oracle.grade.policy import Policy

__all__ = [
    "ABOUT",
    "OUTCOME",
    "PATH",
    "RUN",
    "WHY",
    "Attribution",
    "Gate",
    "Side",
    "Status",
    "Verdict",
    "VerdictStatus",
    "failed",
    "not_applicable",
    "passed",
    "side_of",
    "status_of",
    "task_success",
    "undecided",
]

Status = Literal["passed", "failed", "not_applicable", "undecided"]
Attribution = Literal["success", "candidate", "infrastructure", "evidence", "fatal_setup", "not_applicable"]
Side = Literal["outcome", "path", "run"]
VerdictStatus = Literal["passed", "failed", "not_applicable", "infrastructure_error", "not_run"]

OUTCOME = ("assertions",)
"""Gates of what came of the run: its state, its results, its last word."""
PATH = ("tool_selection", "arguments", "schema_valid", "call_grouping", "call_ordering", "text_turn")
"""Gates of how it came about: the calls and texts of gold."""
RUN = (
    *("trace_completion", "confirmation", "oracle_execution", "dependency_resolution"),
    *("commit_state_known", "executable_completion"),
)
"""Gates of what any run owes, whatever its path and its outcome: it ends, it acts on the user's word, it can be judged."""

ABOUT: dict[str, str] = {
    "tool_selection": "The tools that gold calls were called, as often, and no others.",
    "arguments": "Every call of gold was made with its arguments, and none is missing.",
    "schema_valid": "What the agent's calls were given fits the schemas of their tools.",
    "call_grouping": "Calls that gold makes at once were made at once and alone; of those that were made.",
    "call_ordering": "The calls come in the order that the template states; asked where they are those of gold.",
    "text_turn": "Where gold says something, so did the agent.",
    "trace_completion": "The agent did something, and its last answer is complete.",
    "confirmation": "A call that says that the user has agreed stands right behind the user's word for that very call.",
    "oracle_execution": "The oracle answered every call; a refusal is an answer.",
    "dependency_resolution": "Values that come from earlier results could be read from this run's own.",
    "commit_state_known": "Of every call of a tool that changes the state it is known whether it did.",
    "executable_completion": "Nothing broke off the replay.",
    "assertions": "The assertions of the task hold for what the replay came to, or for the recorded trace.",
}
"""What each gate asks."""

WHY: dict[str, str] = {
    # failed, by the candidate
    "wrong_tool": "Another tool was called than gold calls.",
    "unexpected_call": "There is a call that gold does not have.",
    "call_missing": "A call of gold was not made.",
    "name_differs": "Another tool was called.",
    "arguments_unreadable": "The arguments of a call are no text that strict JSON reads.",
    "arguments_not_object": "The arguments of a call are no object.",
    "schema_violated": "The arguments of a call do not fit the tool's schema.",
    "arguments_differ": "The arguments of a call are not those of gold.",
    "group_split": "Calls that gold makes at once were made one after the other.",
    "group_joined": "Calls of several groups, or others, were made at once.",
    "order_differs": "The calls are those of gold, in another order.",
    "prefix_differs": "The first calls of the required tools come in another order.",
    "text_missing": "A text that gold has in this place was not said.",
    "nothing_done": "The agent said nothing and called nothing.",
    "answer_cut": "The model stopped before its answer was complete.",
    "ended_open": "The run ends with a call that nobody answered.",
    "confirmation_not_earned": "A call says that the user has agreed, and the user had not just done so.",
    "assertion_failed": "An assertion does not hold.",
    "call_not_executed": "A call was not executed.",
    "producer_not_called": "A value should come from the result of a call that was not made.",
    "producer_differs": "A value should come from the result of a call that was made with other arguments.",
    # failed, by others
    "oracle_failed": "The oracle gave no answer to a call, or none that can be used.",
    "oracle_reset_failed": "The oracle could not be reset.",
    "dependency_unresolved": "A value could not be read from the result that it should come from.",
    "commit_unknown": "Whether a call has changed the state is not known.",
    "assertion_infrastructure": "An assertion could not be run.",
    "assertion_state_unavailable": "There is no state for the assertions.",
    "replay_incomplete": "The calls were not all made again on the oracle.",
    # undecided
    "calls_not_recorded": "The evidence shows no calls, and not that there were none.",
    "calls_incomplete": "The evidence may lack calls.",
    "transcript_not_recorded": "The evidence has no transcript.",
    "transcript_incomplete": "The evidence may lack texts.",
    "speakers_unknown": "The evidence does not tell who is the agent.",
    "order_unknown": "The evidence does not tell what came before what.",
    "groups_unknown": "The evidence does not tell which calls were made at once.",
    "name_not_recorded": "The evidence does not show which tool was called.",
    "arguments_not_recorded": "The evidence does not show the arguments of a call.",
    "arguments_redacted": "Parts of the arguments were taken out.",
    "arguments_truncated": "The arguments of a call were cut.",
    "arguments_conflicting": "The evidence shows two payloads of one call that differ.",
    "schema_too_large": "A tool's schema takes too many steps to follow.",
    "not_replayed": "The calls were not made again on the oracle.",
    # not applicable
    "no_expected_call": "Gold has no call.",
    "no_attempted_call": "The run has no call of a tool of the task.",
    "nothing_to_compare": "No call of the run is one of a tool that gold calls.",
    "order_is_free": "The template asks for no order.",
    "one_call": "Gold has one call, or none.",
    "calls_differ": "The calls are not those of gold, so their order says nothing.",
    "no_text_milestone": "Gold has no text.",
    "no_confirmation": "No call says that the user has agreed.",
    "no_dependency": "No value comes from an earlier result.",
    "no_mutating_call": "No call of a tool that changes the state was executed.",
    "no_declared_assertion": "The template has no assertion.",
    "all_assertions_not_applicable": "No assertion applies to this run.",
}
"""What the codes mean; the keys are all there are."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an assertion of the pack said of a run.

    Attributes:
        name: the assertion.
        status: as of the contract, 2.2; `not_run` where there was nothing to run it on.
        category: what its pack declares: `state`, `path`, `result`, `final_answer` or `unclassified`.
        detail: its words.
    """

    name: str
    status: VerdictStatus
    category: str = "unclassified"
    detail: str | None = None


class Gate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one gate says of one run.

    Attributes:
        name: one of `OUTCOME`, `PATH` and `RUN`.
        side: what it is about.
        status: what it says.
        reason: `<name>.matched`, `.mismatch`, `.not_applicable` or `.undecided`.
        why: one of `WHY`; None when it is passed.
        attribution: whose doing it is.
        decides: whether the task hangs on it.
        detail: one sentence without a full stop, for people.
    """

    name: str
    side: Side
    status: Status
    reason: str
    why: str | None = None
    attribution: Attribution = "success"
    decides: bool = True
    detail: str | None = None


def side_of(name: str) -> Side:
    """What a gate is about."""
    return "outcome" if name in OUTCOME else "path" if name in PATH else "run"


def passed(name: str) -> Gate:
    """The gate holds."""
    return Gate(name=name, side=side_of(name), status="passed", reason=f"{name}.matched")


def failed(name: str, why: str, detail: str | None = None, *, blame: Attribution = "candidate") -> Gate:
    """The gate does not hold."""
    return Gate(
        name=name,
        side=side_of(name),
        status="failed",
        reason=f"{name}.mismatch",
        why=why,
        attribution=blame,
        detail=detail,
    )


def not_applicable(name: str, why: str) -> Gate:
    """There is nothing to ask."""
    return Gate(
        name=name,
        side=side_of(name),
        status="not_applicable",
        reason=f"{name}.not_applicable",
        why=why,
        attribution="not_applicable",
    )


def undecided(name: str, why: str, detail: str | None = None) -> Gate:
    """The evidence does not show it."""
    return Gate(
        name=name,
        side=side_of(name),
        status="undecided",
        reason=f"{name}.undecided",
        why=why,
        attribution="evidence",
        detail=detail,
    )


def status_of(gates: Iterable[Gate]) -> Status:
    """What several gates say together: a failure first, then what is undecided, then what is passed."""
    statuses = {gate.status for gate in gates}
    order: tuple[Status, ...] = ("failed", "undecided", "passed")
    return next((status for status in order if status in statuses), "not_applicable")


def task_success(gates: Iterable[Gate], policy: Policy) -> tuple[Status, Attribution]:
    """Whether a task is done, and whose doing it is that it is not.

    Undecided is never success. A failure of the candidate's own comes before one of the oracle, and a run that could
    not begin before both.
    """
    deciding = [gate for gate in gates if gate.decides]
    if policy.success == "assertions_only":
        troubles = [gate for gate in deciding if gate.attribution in _NOT_CANDIDATE]
        outcome = [gate for gate in deciding if gate.side == "outcome"]
        deciding = [*outcome, *(gate for gate in troubles if gate.side != "outcome")]
    status = status_of(deciding)
    if status == "passed":
        return status, "success"
    blamed = {gate.attribution for gate in deciding if gate.status == status}
    return status, next((name for name in _BLAME if name in blamed), "not_applicable")


_BLAME: tuple[Attribution, ...] = ("fatal_setup", "candidate", "infrastructure", "evidence")
_NOT_CANDIDATE = frozenset({"infrastructure", "evidence", "fatal_setup"})
