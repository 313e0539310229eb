"""One attempt at a task: an episode in which its calls are made, then its assertions over what came of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from averment.oracle.oracles import Condition, Context, Episode, Oracle, OracleError
from averment.oracle.worker.assertions import AssertionRunner, Jury

__all__ = [
    "Attempt",
    "Call",
    "Play",
    "Script",
    "attempt",
    "judged",
    "perform",
    "performed",
    "playing",
    "traced",
]


class Call(msgspec.Struct, frozen=True):
    """One call of a tool: `turn_index` is the assistant's turn that issues it, from 0."""

    tool: str
    arguments: dict[str, Any]
    turn_index: int = 0


Play = Callable[[Episode], tuple[Sequence[Call], Sequence[Any]]]
"""Makes the calls of a task in an episode; gives them with their results."""


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """What a task's attempts have in common.

    Attributes:
        play: makes its calls.
        assertions: the names of its success assertions, in order.
        task: what assertions are given as `task`.
        context: what `ctx` says, the same in every attempt.
    """

    play: Play
    assertions: Sequence[str]
    task: Mapping[str, Any]
    context: Context


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one attempt.

    Attributes:
        calls: as they were made.
        results: one for each call.
        before: the state after the reset.
        state: the state after the last call.
        verdicts: one for each assertion, `{"name", "status", "passed", "detail", "line"}`; empty before they are judged.
    """

    calls: tuple[Call, ...]
    results: tuple[Any, ...]
    before: Any
    state: Any
    verdicts: tuple[dict[str, Any], ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every assertion passed."""
        return all(verdict["status"] == "passed" for verdict in self.verdicts)


def playing(calls: Sequence[Call]) -> Play:
    """Makes these calls, whatever comes of them."""

    def play(episode: Episode) -> tuple[Sequence[Call], Sequence[Any]]:
        results = [episode.call(call.tool, call.arguments, turn_index=call.turn_index) for call in calls]
        return calls, results

    return play


def traced(calls: Sequence[Call], results: Sequence[Any]) -> list[dict[str, Any]]:
    """The trace as assertions get it (contract, 2.1)."""
    return [
        {
            "tool": call.tool,
            "arguments": call.arguments,
            "result": result,
            "turn_index": call.turn_index,
        }
        for call, result in zip(calls, results, strict=True)
    ]


def attempt(oracle: Oracle, runner: AssertionRunner, script: Script, condition: Condition) -> Attempt:
    """Make one attempt: the calls in an episode of their own, the assertions in a worker of theirs.

    Raises:
        OracleError: the oracle or an assertion gave no answer.
    """
    with oracle.episode(script.context, condition) as episode:
        played = perform(episode, script.play)
    if not script.assertions:
        return played
    with runner.jury(script.context, condition) as jury:
        return judged(played, script, jury)


def perform(episode: Episode, play: Play, last: Attempt | None = None) -> Attempt:
    """Reset, make the calls, and judge nothing.

    Args:
        episode: what answers.
        play: makes the calls.
        last: what came before it in the episode. Where that changed nothing, the state is what it was, and not asked for.

    Raises:
        OracleError: the oracle gave no answer; the episode is over.
    """
    episode.reset()
    before = episode.state() if last is None or last.state != last.before else last.before
    calls, results = play(episode)
    state = episode.state() if calls else before
    return Attempt(calls=tuple(calls), results=tuple(results), before=before, state=state)


def performed(oracle: Oracle, context: Context, plays: Iterable[Play]) -> Iterator[Attempt | OracleError]:
    """What comes of ways to play, one after the other and each from the beginning; the error where there is no answer.

    They share an episode, which is as good as one each while the oracle answers and a reset brings back what the first one
    brought. Where that ends, the next play has a new one.
    """
    pending = deque(plays)
    while pending:
        first: Attempt | None = None
        last: Attempt | None = None
        try:
            with oracle.episode(context, "plain") as episode:
                while pending:
                    last = perform(episode, pending[0], None if last is first else last)
                    first = first or last
                    if last.before != first.before:
                        break
                    pending.popleft()
                    yield last
        except OracleError as error:
            if first is None or error.op not in ("reset", "close"):  # which are no fault of the play
                pending.popleft()
                yield error


def judged(played: Attempt, script: Script, jury: Jury) -> Attempt:
    """The attempt with what the assertions say of it.

    Raises:
        OracleError: an assertion gave no answer.
    """
    verdicts = jury.judge(
        script.assertions,
        state=played.state,
        trace=traced(played.calls, played.results),
        task=script.task,
        turn_index=played.calls[-1].turn_index if played.calls else 0,
    )
    return msgspec.structs.replace(played, verdicts=tuple(verdicts))
