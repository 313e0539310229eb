"""tau2-bench: a results file `{simulations, tasks, info}`, or one simulation as voice runs store it.

A simulation has `messages`: the assistant's and the user's texts, `tool_calls` with a `requestor`, since the simulated
user has tools of its own, and answers of role `tool` whose `id` is that of the call and whose `error` says whether it
failed. Its `termination_reason` becomes the span `call_ended`, and a call of `transfer_to_human_agents` that went
well a span `handoff`. Message times are wall-clock times of the run. `reward_info` and the like are metadata: what
`db_check` holds is a verdict of the benchmark, not rows of its database.

A voice run may have `ticks` in place of messages (`tau2_ticks`).

Known gaps: times have no offset and are read as UTC; only their differences mean something. A call's time is that of
the message that asks for it, and nothing says how long it took. Text that streams in chunks is one turn a chunk. What
a user said in audio is read from `audio_script_gold`, the script it was spoken from. Where the user only writes
`###STOP###` or `###TRANSFER###`, nothing is said.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.model import Span
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.shortfalls import NOT_TRANSCRIBED
from averment.evidence.readers.tau2_ticks import Ticks
from averment.evidence.readers.tau_bench import CONTROL
from averment.evidence.readers.texts import objects_in, text_of
from averment.evidence.times import instant

__all__ = ["fits", "read", "split"]

_SIMULATION_KEYS = frozenset(
    {"id", "timestamp", "start_time", "end_time", "termination_reason", "messages", "ticks"}
)
_METADATA = (
    *("task_id", "trial", "seed", "mode", "start_time", "end_time", "duration", "termination_reason"),
    *("agent_cost", "user_cost", "reward_info"),
)
_MESSAGE_KEYS = frozenset(
    {
        *("role", "content", "tool_calls", "timestamp", "id", "requestor", "error", "tool_messages"),
        *("turn_idx", "is_audio", "audio_script_gold"),
        *("is_final_chunk", "contains_speech"),  # of whole messages, which these are, they say nothing
    }
)
_CALL_KEYS = frozenset({"id", "name", "arguments", "requestor"})
_TRANSFER = "transfer_to_human_agents"
_ENDED_BY = {"user_stop": "user", "agent_stop": "agent"}


class _Simulation(msgspec.Struct, frozen=True):
    """One simulation of a results file, with what the file says of all of them."""

    value: Any
    info: dict[str, Any]


def fits(value: Any) -> str | None:
    """Why this is a results file or a simulation of tau2-bench."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("simulations"), list) and "tasks" in value:
        return "it has `simulations` and `tasks`"
    if "termination_reason" in value:
        for key in ("messages", "ticks"):
            if isinstance(value.get(key), list):
                return f"it has `termination_reason` and `{key}`"
    if isinstance(value.get("tasks"), list) and "environment_info" in _dict(value.get("info")):
        return "it has `tasks`, and `info` with `environment_info`"
    return None


def split(part: Part) -> list[Part]:
    """The simulations of a results file."""
    value = part.value
    if not isinstance(value, dict) or not isinstance(value.get("simulations"), list):
        return [part]
    if not value["simulations"]:
        return [part]
    simulations, info = part.at("simulations"), _dict(value.get("info"))
    items = [simulations.item(index) for index in range(len(value["simulations"]))]
    return [msgspec.structs.replace(item, value=_Simulation(item.value, info)) for item in items]


def read(part: Part, draft: Draft) -> None:
    """Read one simulation."""
    info: dict[str, Any] = {}
    if isinstance(part.value, _Simulation):
        info = part.value.info
        part = msgspec.structs.replace(part, value=part.value.value)
    simulation = part.value
    if (
        not isinstance(simulation, dict)
        or "simulations" in simulation
        or "termination_reason" not in simulation
    ):
        draft.problems.append(
            part.problem(
                "no_conversation",
                "there is no simulation here",
                expected="a simulation with `messages` or `ticks`",
                found=kind_of(simulation),
                mend="A voice run stores its simulations beside its results, as `simulations/<id>.json`: give those.",
            )
        )
        return
    if type(simulation.get("id")) is str and simulation["id"]:
        draft.conversation_id = simulation["id"]
    draft.metadata = _metadata(simulation, info)
    draft.cover("termination", 1)
    draft.drop_rest(simulation, _SIMULATION_KEYS | frozenset(_METADATA), part.loc())
    messages, ticks = simulation.get("messages"), simulation.get("ticks")
    if isinstance(messages, list) and (messages or not ticks):
        if ticks is not None:
            draft.drop("`ticks` beside `messages`", part.loc())
        _Messages(part, draft).read()
    elif isinstance(ticks, list):
        config = _dict(info.get("audio_native_config"))
        Ticks(part.at("ticks"), draft, config.get("tick_duration_seconds")).read()
        draft.spans = [_ended(part)]
    else:
        draft.problems.append(
            part.problem("wrong_type", "`messages` must be a list", "messages", found=kind_of(messages))
        )


def _metadata(simulation: dict[str, Any], info: dict[str, Any]) -> dict[str, Any]:
    found = {key: simulation[key] for key in _METADATA if simulation.get(key) is not None}
    if "agent_info" in info:
        found["agent_info"] = info["agent_info"]
    domain = _dict(info.get("environment_info")).get("domain_name")
    if domain is not None:
        found["domain_name"] = domain
    return found


def _ended(part: Part) -> Span:
    """The end of the simulation, and why it ended."""
    reason = part.value["termination_reason"]
    fields = {} if reason is None else {"reason": reason}
    if type(reason) is str and reason in _ENDED_BY:
        fields["by"] = _ENDED_BY[reason]
    at = instant(part.value.get("end_time"))
    return Span(
        id="s_0",
        type="call_ended",
        start_ns=at,
        end_ns=at,
        clock=None if at is None else "epoch",
        fields=fields,
        loc=part.at("termination_reason").loc(),
    )


class _Messages:
    """The messages of one simulation, read in order."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._whole = part
        self._part = part.at("messages")
        self._draft = draft
        self._dialogue = Dialogue(draft, part)
        self._handoffs: list[Span] = []
        self._transfers: dict[str, tuple[int | None, str]] = {}
        self._has_flags = True

    def read(self) -> None:
        read = 0
        for message, loc in objects_in(self._part.value, self._part.locs(), self._draft):
            self._read_message(message, loc)
            read += 1
        self._dialogue.finish(flags_failures=self._has_flags, writes_arguments=True)
        ended = _ended(self._whole)
        ended = msgspec.structs.replace(ended, id=f"s_{len(self._handoffs)}", seq=self._dialogue.place())
        self._draft.spans = [*self._handoffs, ended]
        self._draft.cover("handoff", len(self._handoffs))
        self._draft.account(self._part.source, records=len(self._part.value), read=read)

    def _read_message(self, message: dict[str, Any], loc: str) -> None:
        self._draft.drop_rest(message, _MESSAGE_KEYS, loc)
        role = message.get("role")
        if role == "tool":
            several = message.get("tool_messages")
            if type(several) is list:
                for index, each in enumerate(several):
                    self._read_answer(each, f"{loc}.tool_messages[{index}]")
            else:
                self._read_answer(message, loc)
            return
        if type(role) is not str:
            self._draft.note("role_not_text", loc, f"the role is {kind_of(role)}, so it is unknown")
            role = None
        at = self._time(message, loc)
        text = self._text(message, loc)
        self._dialogue.step()
        if text:
            said = role != "system" and not (role == "user" and text.strip() in CONTROL)
            self._dialogue.turn(role, text, loc, said=said, start_ns=at, clock="epoch")
        calls = message.get("tool_calls")
        if type(calls) is list:
            for index, call in enumerate(calls):
                self._read_call(call, role, at, f"{loc}.tool_calls[{index}]")
        elif calls is not None:
            self._draft.note("calls_not_list", loc, f"`tool_calls` is {kind_of(calls)}, and is not read")

    def _text(self, message: dict[str, Any], loc: str) -> str | None:
        if message.get("is_audio") is not True:
            return text_of(message.get("content"), loc, self._draft)
        if message.get("content") is not None:
            self._draft.drop("the audio of a message", loc)
        if message.get("audio_script_gold") is None:
            self._draft.note(NOT_TRANSCRIBED, loc, "nothing says what was said in the audio")
        return text_of(message.get("audio_script_gold"), loc, self._draft)

    def _time(self, message: dict[str, Any], loc: str) -> int | None:
        written = message.get("timestamp")
        at = instant(written)
        if at is None and written is not None:
            self._draft.note("time_unreadable", loc, "`timestamp` is no date and time; it is left out")
        return at

    def _read_call(self, call: Any, role: str | None, at: int | None, loc: str) -> None:
        if type(call) is not dict:
            self._draft.note("call_not_object", loc, f"a tool call is {kind_of(call)}, and is not read")
            return
        self._draft.drop_rest(call, _CALL_KEYS, loc)
        requestor: Literal["agent", "user"] = "user" if call.get("requestor", role) == "user" else "agent"
        name, own = call.get("name"), call.get("id")
        if name == _TRANSFER and requestor == "agent" and type(own) is str:
            self._transfers[own] = (at, loc)
        self._dialogue.request(
            name, call.get("arguments"), loc, own=own, requestor=requestor, start_ns=at, clock="epoch"
        )

    def _read_answer(self, message: Any, loc: str) -> None:
        if type(message) is not dict:
            self._draft.note("message_not_object", loc, f"an answer is {kind_of(message)}, and is not read")
            return
        flag = message.get("error")
        if type(flag) is not bool:
            self._has_flags = False
            flag = None
        own = message.get("id")
        text = text_of(message.get("content"), loc, self._draft)
        self._dialogue.answer(text, loc, own=own, failed=flag, error=text if flag else None)
        if flag is False and type(own) is str and own in self._transfers:
            at, place = self._transfers.pop(own)
            self._handoffs.append(
                Span(
                    id=f"s_{len(self._handoffs)}",
                    type="handoff",
                    name=_TRANSFER,
                    start_ns=at,
                    end_ns=at,
                    clock=None if at is None else "epoch",
                    fields={"name": _TRANSFER},
                    seq=self._dialogue.place(),
                    loc=place,
                )
            )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
