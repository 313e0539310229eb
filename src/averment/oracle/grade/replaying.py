"""Making a run's calls again on the oracle, and asking the pack's assertions what came of them.

The calls are made in the order of the record, each in the turn that asked for it, in an episode that begins in the pack's
state. A call that can't be made, because it was given no object, is not made; neither is one that says that the user has
agreed where the user has not. Where the record may lack calls, or what they were given, nothing is made again: the state
would be one that never was.

Without a replay, assertions whose pack says that they can be judged by the trace alone are asked about the recorded one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from averment.evidence.redaction import holds_redacted
from averment.oracle.catalog.canonical import key
from averment.oracle.catalog.divergence import first_difference
from averment.oracle.grade.calls import Call, Shown
from averment.oracle.grade.gates import Verdict, VerdictStatus
from averment.oracle.grade.replayed import Executed, Replay
from averment.oracle.oracles import Context, Episode, Oracle, OracleError
from averment.oracle.replay.attempt import Call as Made
from averment.oracle.replay.attempt import traced
from averment.oracle.worker.assertions import AssertionRunner

__all__ = ["Asking", "Replayed", "can_replay", "can_send", "replay_run", "trace_verdicts", "verdicts_of"]


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """What came of making a run's calls again.

    Attributes:
        facts: for the gates.
        calls: those that were made.
        results: what the oracle answered, one for each.
        by_call: the result of each call of the run that was made, by its index.
        state: the state at the end; UNSET where it can't be had.
    """

    facts: Replay
    calls: tuple[Made, ...] = ()
    results: tuple[Any, ...] = ()
    by_call: dict[int, Any] = {}
    state: Any = UNSET


def can_replay(run: Shown) -> bool:
    """Whether all that the agent called, and with what, and in which order, is known."""
    if run.calls_gap is not None or (run.order_gap is not None and len(run.calls) > 1):
        return False
    return all(call.hidden is None and call.name is not None for call in run.calls)


def replay_run(
    oracle: Oracle,
    run: Shown,
    context: Context,
    *,
    tools: Mapping[str, bool],
    forbidden: Callable[[int, Mapping[int, Any]], str | None] = lambda _index, _results: None,
) -> Replayed:
    """Make the calls of a run again.

    Args:
        oracle: what answers.
        run: a run that `can_replay`.
        context: what `ctx` says; that of the task.
        tools: by name, whether the tool may change the state.
        forbidden: why a call must not be made, by its index and the results of the calls before it; None where it may.
    """
    playing = _Playing(tools)
    has_begun = False
    try:
        with oracle.episode(context) as episode:
            episode.reset()
            playing.state = episode.state()
            has_begun = True
            for index, call in enumerate(run.calls):
                playing.play(episode, index, call, forbidden(index, playing.by_call))
            if playing.calls:
                playing.state = episode.state()
    except OracleError as error:
        playing.state = UNSET
        facts = Replay(calls=tuple(playing.executed), reset=has_begun, complete=False, detail=error.message)
        return playing.replayed(facts)
    return playing.replayed(Replay(calls=tuple(playing.executed)))


class _Playing:
    """A replay while it goes on."""

    def __init__(self, tools: Mapping[str, bool]) -> None:
        self._tools = tools
        self.executed: list[Executed] = []
        self.calls: list[Made] = []
        self.results: list[Any] = []
        self.by_call: dict[int, Any] = {}
        self.state: Any = UNSET

    def play(self, episode: Episode, index: int, call: Call, forbidden: str | None) -> None:
        """Make one call, and note what became of it."""
        mutates = self._tools.get(call.name or "", False)
        why = forbidden or _impossible(call, self._tools)
        if why is not None:
            self.executed.append(Executed(call=index, outcome="not_executed", mutates=mutates, detail=why))
            return
        made = Made(call.name or "", call.arguments, call.turn or 0)
        try:
            result = episode.call(made.tool, made.arguments, turn_index=made.turn_index)
            after = episode.state() if mutates else self.state
        except OracleError as error:
            commit: Literal["unknown", "unchanged"] = "unknown" if mutates else "unchanged"
            self.executed.append(
                Executed(
                    call=index,
                    outcome=_outcome_of(error),
                    mutates=mutates,
                    commit=commit,
                    detail=error.message,
                )
            )
            raise
        refused = isinstance(result, dict) and isinstance(result.get("error"), dict)
        self.executed.append(
            Executed(
                call=index,
                outcome="business_rejection" if refused else "completed",
                mutates=mutates,
                commit="unchanged" if key(after) == key(self.state) else "committed",
                differs_at=_differs_at(call.result, result),
            )
        )
        self.state = after
        self.calls.append(made)
        self.results.append(result)
        self.by_call[index] = result

    def replayed(self, facts: Replay) -> Replayed:
        """What it has come to."""
        return Replayed(
            facts=facts,
            calls=tuple(self.calls),
            results=tuple(self.results),
            by_call=self.by_call,
            state=self.state,
        )


def _differs_at(recorded: Any, result: Any) -> str | None:
    """Where the answer of now differs from the recorded one, as far as that is shown."""
    if recorded is UNSET or holds_redacted(recorded):
        return None
    return first_difference(recorded, result)


def _impossible(call: Call, tools: Mapping[str, bool]) -> str | None:
    if call.name not in tools:
        return f"the pack has no tool `{call.name}`"
    if not isinstance(call.arguments, dict):
        return f"`{call.name}` was given no object"
    if not can_send(call.arguments):
        return f"`{call.name}` was given text that is no Unicode"
    return None


def can_send(value: Any) -> bool:
    """Whether a value can be sent to a worker: a lone surrogate, which JSON can spell, is no character of any text."""
    try:
        msgspec.json.encode(value)
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def _outcome_of(error: OracleError) -> Literal["timeout", "malformed", "failed"]:
    if error.trouble == "timeout":
        return "timeout"
    return "malformed" if error.trouble in ("result_not_json", "result_too_large") else "failed"


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """What a run's assertions are asked with, whatever they are asked about.

    Attributes:
        runner: the pack's assertions.
        names: those of the task, in its order.
        categories: of each assertion of the pack.
        task: the bound task.
        context: what `ctx` says.
        unresolved: what is not known of the task.
    """

    runner: AssertionRunner
    names: Sequence[str]
    categories: Mapping[str, str]
    task: Mapping[str, Any]
    context: Context
    unresolved: Mapping[str, Any] = {}

    def verdict(self, name: str, status: VerdictStatus, detail: str | None = None) -> Verdict:
        """A verdict under the category that its assertion declares."""
        category = self.categories.get(name, "unclassified")
        return Verdict(name=name, status=status, category=category, detail=detail)

    def not_run(self, names: Sequence[str]) -> list[Verdict]:
        """The verdicts of assertions that there was nothing to run on."""
        return [self.verdict(name, "not_run") for name in names]


def verdicts_of(replayed: Replayed, asking: Asking) -> list[Verdict]:
    """What the assertions say of a replay; none was run where its end is not known."""
    if replayed.state is UNSET:
        return asking.not_run(asking.names)
    trace = traced(replayed.calls, replayed.results)
    return _judged(asking, asking.names, trace=trace, state=replayed.state)


def trace_verdicts(run: Shown, by_trace: frozenset[str], asking: Asking) -> list[Verdict]:
    """What the assertions that need no more than the trace (`by_trace`) say of the recorded one.

    The others were not run; neither was any where the trace may lack a call, what a call was given, or what it came to.
    """
    names = [name for name in asking.names if name in by_trace]
    is_whole = can_replay(run) and not any(
        UNSET in (call.arguments, call.result) or holds_redacted(call.result) for call in run.calls
    )
    is_whole = is_whole and can_send([[call.name, call.arguments, call.result] for call in run.calls])
    if not names or not is_whole:
        return asking.not_run(asking.names)
    trace = [
        {
            "tool": call.name,
            "arguments": call.arguments,
            "result": call.result,
            "turn_index": call.turn or 0,
        }
        for call in run.calls
    ]
    said = {verdict.name: verdict for verdict in _judged(asking, names, trace=trace, state={})}
    return [said.get(name) or asking.verdict(name, "not_run") for name in asking.names]


def _judged(
    asking: Asking, names: Sequence[str], *, trace: Sequence[Mapping[str, Any]], state: Any
) -> list[Verdict]:
    """The verdicts, each asked for by itself: one that ends its worker is told, and ends the asking."""
    turn = trace[-1]["turn_index"] if trace else 0
    said: list[Verdict] = []
    if not names:
        return said
    try:
        with asking.runner.jury(asking.context) as jury:
            jury.take(
                state=state, trace=trace, task=asking.task, turn_index=turn, unresolved=asking.unresolved
            )
            for name in names:
                found = jury.verdict(name)
                said.append(asking.verdict(name, found["status"], found["detail"]))
    except OracleError as error:  # it ended its worker: what comes after it was not run
        said.append(asking.verdict(names[len(said)], "infrastructure_error", error.message))
        said += asking.not_run(names[len(said) :])
    return said
