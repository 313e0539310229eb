"""What a recorded run shows of the agent: its calls by the turn that asked for them, its texts, and what is not shown.

An assistant's turn is all that the agent says and asks for before it hears from the tools or the user. Calls are of one
turn when they stand in one message, or when both were asked for before the first was answered; they are of two when
they stand in two messages, or somebody spoke between. Traces of executions often tell neither, and then the boundary
is unknown. What is said with calls, or right before them, is of their turn. What an agent says before the user has said
anything is a greeting, and answers nothing: it is left out.

What a call was given must be an object that strict JSON reads: nothing is repaired, no text is read twice, and the empty
text is no object.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from averment.evidence.model import EvidenceModel, ToolCall, Turn
from averment.evidence.redaction import holds_redacted
from averment.evidence.view import Event, Roles, View
from averment.text import jsontext
from averment.text.patterns import PatternSet

__all__ = ["MAX_TURNS", "Call", "Hidden", "RunTurn", "Shown", "Unfit", "shown"]

MAX_TURNS = 10_000
"""How many turns of one run are compared; what a run does after them is left out, and its texts are incomplete."""

Unfit = Literal["arguments_unreadable", "arguments_not_object"]
"""Why what a call was given can't be compared, by the agent's own fault."""

Hidden = Literal[
    "name_not_recorded",
    "arguments_not_recorded",
    "arguments_redacted",
    "arguments_truncated",
    "arguments_conflicting",
]
"""What the evidence does not show of a call."""

Gap = Literal[
    "calls_not_recorded",
    "calls_incomplete",
    "transcript_not_recorded",
    "transcript_incomplete",
    "speakers_unknown",
    "order_unknown",
]
"""What the evidence does not show of a run."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call that the agent asked for.

    Attributes:
        id: its id in the evidence.
        name: the tool; None where the evidence has none.
        arguments: the object that it was given; UNSET where there is none to see. Under `arguments_redacted` with
            marks in it.
        unfit: why it can't be compared, by the agent's fault.
        hidden: why it can't be compared, for lack of evidence.
        status: how far it came, as in the evidence.
        result: what the tool answered; UNSET for nothing that is shown, or not whole.
        turn: the index of its turn in the run's turns; None where the evidence has no order of calls and texts.
    """

    id: str
    name: str | None = None
    arguments: Any = UNSET
    unfit: Unfit | None = None
    hidden: Hidden | None = None
    status: str = "executed"
    result: Any = UNSET
    turn: int | None = None


class RunTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of the agent.

    Attributes:
        calls: indexes into the run's calls; none is a text.
        text: what is said; with calls, what is said with them.
        heard_user: whether the user spoke since the agent's turn before, or since the beginning.
        apart: whether it is known to be another turn than the one before.
    """

    calls: tuple[int, ...] = ()
    text: str | None = None
    heard_user: bool = False
    apart: bool = True


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What a run shows.

    Attributes:
        run: the id of the conversation; None where it has none.
        calls: of the agent, in the order of the trace.
        turns: of the agent, in order; empty where calls and texts have no common order.
        calls_gap: why there may be calls that are not shown.
        order_gap: why the order of the calls is not known.
        turns_gap: why turns are not known, or not all.
        finish_reason: why the model stopped, where the source says so.
        left_open: the call that the run ends with and nobody answered, where answers are recorded.
    """

    run: str | None = None
    calls: tuple[Call, ...] = ()
    turns: tuple[RunTurn, ...] = ()
    calls_gap: Gap | None = None
    order_gap: Gap | None = None
    turns_gap: Gap | None = None
    finish_reason: str | None = None
    left_open: str | None = None


_WHOLE = frozenset({"present", "empty"})
_NOTHING = frozenset({"absent", "unreadable"})
_OPEN = frozenset({"requested", "unanswered"})


def shown(evidence: EvidenceModel) -> Shown:
    """What the evidence of one conversation shows of its agent."""
    view = View(evidence, PatternSet(()), (), Roles())
    recorded = [call for call in view.calls if call.requestor == "agent"]
    order_gap: Gap | None = None if _is_ordered(evidence, recorded) else "order_unknown"
    turns_gap: Gap | None = _turns_gap(evidence)
    events = _events(view)
    if turns_gap in {None, "transcript_incomplete", "speakers_unknown"} and (
        events is None or order_gap is not None
    ):
        turns_gap = "order_unknown"
    turns: Sequence[_Draft] = ()
    if events is not None and turns_gap != "order_unknown" and evidence.turns is not None:
        turns = _gathered(view, events)
        if len(turns) > MAX_TURNS:
            turns, turns_gap = turns[:MAX_TURNS], "transcript_incomplete"
    index_of = {id(call): index for index, call in enumerate(recorded)}
    turn_of = {id(call): index for index, turn in enumerate(turns) for call in turn.calls}
    return Shown(
        run=evidence.conversation_id,
        calls=tuple(_call(call, turn_of.get(id(call))) for call in recorded),
        turns=tuple(
            RunTurn(
                calls=tuple(index_of[id(call)] for call in turn.calls),
                text="\n".join(turn.texts) if turn.texts else None,
                heard_user=turn.heard_user,
                apart=turn.apart,
            )
            for turn in turns
        ),
        calls_gap=_calls_gap(evidence),
        order_gap=order_gap,
        turns_gap=turns_gap,
        finish_reason=_finish_reason(evidence.metadata or {}),
        left_open=_left_open(evidence, events, recorded),
    )


def _events(view: View) -> Sequence[Event] | None:
    """Turns and calls, in their common order; None where they have none."""
    if not view.is_sequenced:
        return view.timeline(turns=True, spans=True)
    turns = [(turn.seq or 0, Event(index, None, None)) for index, turn in enumerate(view.turns)]
    calls = [(call.seq or 0, Event(None, None, call)) for call in view.calls]
    return [event for _, event in sorted([*turns, *calls], key=lambda each: each[0])]


def _calls_gap(evidence: EvidenceModel) -> Gap | None:
    """Whoever shows all that was asked for, or all that was executed, shows what the agent called."""
    states = {evidence.coverage.requests.state, evidence.coverage.executions.state}
    if evidence.calls is None or states <= _NOTHING:
        return "calls_not_recorded"
    return "calls_incomplete" if states.isdisjoint(_WHOLE) else None


def _turns_gap(evidence: EvidenceModel) -> Gap | None:
    state = evidence.coverage.transcript.state
    if evidence.turns is None or state in _NOTHING:
        return "transcript_not_recorded"
    if any(turn.role == "unknown" and turn.said for turn in evidence.turns):
        return "speakers_unknown"
    return None if state in _WHOLE else "transcript_incomplete"


def _is_ordered(evidence: EvidenceModel, calls: Sequence[ToolCall]) -> bool:
    """Whether the order of the calls is one that a source gives."""
    if len(calls) < 2:
        return True
    for marks in ([call.seq for call in calls], [call.position for call in calls]):
        if None not in marks:
            return True
    timed = all(call.start_ns is not None for call in calls) and len({call.clock for call in calls}) == 1
    return timed or (len(evidence.sources) == 1 and all(call.position is None for call in calls))


class _Draft(msgspec.Struct):
    """A turn in the making."""

    calls: list[ToolCall]
    texts: list[str]
    message: str | None
    seq: int | None
    heard_user: bool
    apart: bool


def _gathered(view: View, events: Iterable[Event]) -> list[_Draft]:
    """The agent's turns, in order."""
    turns: list[_Draft] = []
    heard_user = False
    greets = any(turn.role == "user" and turn.said for turn in view.turns)
    for event in events:
        if event.call is not None:
            if event.call.requestor == "agent":
                _add_call(turns, event.call, view, heard_user=heard_user)
                heard_user = greets = False
            continue
        turn = None if event.turn is None else view.turns[event.turn]
        if turn is None or not turn.said or not turn.final:
            continue
        if turn.role == "user":
            heard_user, greets = True, False
        elif turn.role == "agent" and not greets and turn.text.strip():
            _add_text(turns, turn, heard_user=heard_user)
            heard_user = False
    return turns


def _add_text(turns: list[_Draft], turn: Turn, *, heard_user: bool) -> None:
    last = turns[-1] if turns and not heard_user else None
    is_next = last is not None and turn.seq is not None and last.seq is not None and turn.seq == last.seq + 1
    if last is not None and is_next and last.message is not None and _is_in(turn.loc, last.message):
        last.texts.append(turn.text)
        last.seq = turn.seq
    else:  # of another message, or what was said when a tool that the model's vendor runs had answered
        turns.append(_Draft([], [turn.text], turn.loc, turn.seq, heard_user, apart=True))


def _add_call(turns: list[_Draft], call: ToolCall, view: View, *, heard_user: bool) -> None:
    last = turns[-1] if turns and not heard_user else None
    message = _message(call)
    if last is None:
        turns.append(_Draft([call], [], message, call.seq, heard_user, apart=True))
        return
    together = not last.calls or _together(last.calls[-1], call, view)
    if together:  # with other calls, or with what was said right before
        last.calls.append(call)
        last.message, last.seq = message, call.seq
    else:
        turns.append(_Draft([call], [], message, call.seq, heard_user, apart=together is False))


def _together(one: ToolCall, other: ToolCall, view: View) -> bool | None:
    """Whether two calls with nobody's words between them were asked for at once; None where nothing tells."""
    messages = _message(one), _message(other)
    if None not in messages:
        return messages[0] == messages[1]
    if one.seq is None or other.seq is None:
        return None
    # An answer has a place of its own in the order, so there is none between these, and the first was answered later.
    if other.seq == one.seq + 1 and one.status not in _OPEN:
        return True
    formats = {source.format for source in view.model.sources}
    if other.seq > one.seq + 1 and formats and formats <= _IN_ORDER:
        return False
    return None


_IN_ORDER = frozenset({"openai_responses", "livekit", "retell"})
"""Formats that are one list of requests, answers and texts in the order in which they came, without messages."""

_CALL_KEYS = r"tool_calls|toolCalls|invalid_tool_calls|function_call|content|parts"
_IN_MESSAGE = re.compile(rf"\.(?:{_CALL_KEYS})(?:\[\d+\](?:\.(?:{_CALL_KEYS}))?)?\Z")


def _message(call: ToolCall) -> str | None:
    """The place of the message in which a call stands; None where that is not known."""
    if call.loc is None:
        return None
    found = _IN_MESSAGE.search(call.loc)
    return call.loc[: found.start()] if found else None


def _is_in(loc: str, message: str) -> bool:
    return loc == message or loc.startswith((f"{message}.", f"{message}["))


def _left_open(
    evidence: EvidenceModel, events: Sequence[Event] | None, calls: Sequence[ToolCall]
) -> str | None:
    """The last thing that happened, where it is a call of the agent without an answer."""
    if not calls or calls[-1].status != "unanswered" or events is None:
        return None
    happened = [event for event in events if event.turn is None or (evidence.turns or ())[event.turn].said]
    return calls[-1].id if happened and happened[-1].call is calls[-1] else None


def _finish_reason(metadata: dict[str, Any]) -> str | None:
    """Why the model stopped, in the words of the vendors of models."""
    details = metadata.get("incomplete_details")
    reasons = (
        metadata.get("finish_reason"),
        metadata.get("stop_reason"),
        details.get("reason") if isinstance(details, dict) else None,
    )
    return next((reason for reason in reasons if isinstance(reason, str)), None)


_HIDDEN: dict[str, Hidden] = {
    "absent": "arguments_not_recorded",
    "redacted": "arguments_redacted",
    "truncated": "arguments_truncated",
    "conflicting": "arguments_conflicting",
}


def _call(call: ToolCall, turn: int | None) -> Call:
    arguments, unfit, hidden = _arguments(call)
    return Call(
        id=call.id,
        name=call.name,
        arguments=arguments,
        unfit=unfit,
        hidden="name_not_recorded" if call.name is None else hidden,
        status=call.status,
        result=call.result if call.result_state == "recorded" else UNSET,
        turn=turn,
    )


def _arguments(call: ToolCall) -> tuple[Any, Unfit | None, Hidden | None]:
    hidden = _HIDDEN.get(call.args_state)
    if hidden is not None:
        # What is left of arguments of which parts were taken out can still tell that a call is another one.
        is_left = hidden == "arguments_redacted" and isinstance(call.args, dict) and holds_redacted(call.args)
        return (call.args if is_left else UNSET), None, hidden
    if call.args_error is not None or (call.args_raw is not None and not _is_strict(call.args_raw)):
        return UNSET, "arguments_unreadable", None
    if _holds_non_finite(call.args):
        return UNSET, "arguments_unreadable", None
    if not isinstance(call.args, dict):
        return UNSET, "arguments_not_object", None
    return call.args, None, None


def _is_strict(text: str) -> bool:
    try:
        decoded = jsontext.decode(text)
    except jsontext.JSONProblem:
        return False
    return not decoded.duplicates and not decoded.non_finite


def _holds_non_finite(value: Any) -> bool:
    pending = [value]
    while pending:
        each = pending.pop()
        if type(each) is dict:
            pending += each.values()
        elif type(each) is list:
            pending += each
        elif type(each) is jsontext.NonFinite:
            return True
    return False
