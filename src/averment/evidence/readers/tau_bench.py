"""tau-bench trajectories: results `[{task_id, reward, info, traj, trial}]`, and few-shot lines `{messages_display}`.

`traj` is a list of chat messages. The system message is the policy; assistant messages hold `tool_calls` with their
arguments as text, tool messages the answers by `tool_call_id`. The environment has no flag for a failed call, and
says so in the answer: `Error: ...`, or `Unknown action ...`; both are read as errors. A user message that is nothing
but `###STOP###` is the simulator's word for the end, and not said. `reward`, `info` and the rest are metadata.

A few-shot line holds a conversation as one text, `user: ...`, `assistant: ...`, `tool: ...`: its turns and the
answers of tools are read, while which tool was asked for what is not in it.

Known gaps: nothing has a time. In a few-shot text, a line of an utterance that itself begins with `user: ` begins a
new turn. Agents that write their calls as text (the strategies `act` and `react`) have neither calls nor answers
here; such answers, in user messages that begin with `API output: `, are not taken for speech. A transfer to people is
the call of a tool, and no handoff.
"""

from __future__ import annotations

import re
from typing import Any

from averment.evidence.draft import OF_CALLS, Draft, Part, kind_of
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.texts import text_of

__all__ = ["CONTROL", "fits", "read"]

CONTROL = frozenset({"###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"})
"""What a simulated user writes to end the conversation, and says to nobody; tau2-bench has the same words."""

_RECORD_KEYS = frozenset({"task_id", "reward", "info", "traj", "trial"})
_MESSAGE_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})
_CALL_KEYS = frozenset({"id", "type", "function"})
_FUNCTION_KEYS = frozenset({"name", "arguments"})
_FAILED = ("Error:", "Unknown action ")
_API_OUTPUT = "API output: "
_SPEAKER = re.compile(r"^(system|user|assistant|tool): ?", re.MULTILINE)

_AS_TEXT = "this agent writes its calls as text, and is answered in user messages"
_HOW_CALLS = "Run tau-bench with `--agent-strategy tool-calling`."
_DISPLAY = "a few-shot text shows no calls, only the answers of tools"
_HOW_DISPLAY = "Give the results file of the run, which has `traj`."


def fits(value: Any) -> str | None:
    """Why this is one trajectory, or a few-shot line."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("traj"), list) and "reward" in value:
        return "it has `traj` and `reward`"
    if isinstance(value.get("messages_display"), str):
        return "it has `messages_display`"
    return None


def read(part: Part, draft: Draft) -> None:
    """Read one trajectory."""
    record = part.value
    if not isinstance(record, dict):
        problem = part.problem("wrong_type", "a trajectory must be an object", found=kind_of(record))
        draft.problems.append(problem)
        return
    if isinstance(record.get("messages_display"), str):
        draft.drop_rest(record, {"messages_display"}, part.loc())
        _read_display(part, draft)
        return
    task, trial = record.get("task_id"), record.get("trial")
    if type(task) in (str, int):
        draft.conversation_id = f"task_{task}" + (f"_trial_{trial}" if type(trial) in (str, int) else "")
    draft.metadata = {
        key: record[key] for key in ("task_id", "trial", "reward", "info") if record.get(key) is not None
    }
    draft.drop_rest(record, _RECORD_KEYS, part.loc())
    traj = record.get("traj")
    if not isinstance(traj, list):
        problem = part.problem("wrong_type", "`traj` must be a list of messages", found=kind_of(traj))
        draft.problems.append(problem)
        return
    _Trajectory(part.at("traj"), draft).read()


class _Trajectory:
    """One list of messages, read in order."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._dialogue = Dialogue(draft, part)
        self._has_text_answers = False

    def read(self) -> None:
        read = 0
        for loc, message in zip(self._part.locs(), self._part.value, strict=True):
            read += self._read_message(message, loc)
        self._dialogue.finish(writes_arguments=True)
        if self._has_text_answers:
            for channel in OF_CALLS:
                self._draft.limit(channel, "absent", _AS_TEXT, _HOW_CALLS)
        self._draft.account(self._part.source, records=len(self._part.value), read=read)

    def _read_message(self, message: Any, loc: str) -> bool:
        if type(message) is not dict:
            self._draft.note("message_not_object", loc, f"a message is {kind_of(message)}, and is not read")
            return False
        self._draft.drop_rest(message, _MESSAGE_KEYS, loc)
        role = message.get("role")
        text = text_of(message.get("content"), loc, self._draft)
        if role == "tool":
            self._read_answer(message, text, loc)
            return True
        if type(role) is not str:
            self._draft.note("role_not_text", loc, f"the role is {kind_of(role)}, so it is unknown")
            role = None
        if role == "assistant":
            self._dialogue.step()
        if text:
            self._dialogue.turn(role, text, loc, said=role != "system" and not self._is_meta(role, text))
        calls = message.get("tool_calls")
        if type(calls) is list:
            for index, call in enumerate(calls):
                self._read_call(call, f"{loc}.tool_calls[{index}]")
        elif calls is not None:
            self._draft.note("calls_not_list", loc, f"`tool_calls` is {kind_of(calls)}, and is not read")
        return True

    def _is_meta(self, role: str | None, text: str) -> bool:
        """Whether a user's message is no speech but the simulator's, or an answer of a tool."""
        if role != "user":
            return False
        if text.startswith(_API_OUTPUT):
            self._has_text_answers = True
            return True
        return text.strip() in CONTROL

    def _read_call(self, call: Any, loc: str) -> None:
        function = call.get("function") if type(call) is dict else None
        if type(function) is not dict:
            self._draft.note("call_not_object", loc, "a tool call has no function, and is not read")
            return
        self._draft.drop_rest(call, _CALL_KEYS, loc)
        self._draft.drop_rest(function, _FUNCTION_KEYS, loc)
        self._dialogue.request(function.get("name"), function.get("arguments"), loc, own=call.get("id"))

    def _read_answer(self, message: dict[str, Any], text: str | None, loc: str) -> None:
        name = message.get("name")
        failed = text is not None and text.startswith(_FAILED)
        self._dialogue.answer(
            text,
            loc,
            own=message.get("tool_call_id"),
            name=name if type(name) is str else None,
            failed=failed,
            error=text if failed else None,
        )


def _read_display(part: Part, draft: Draft) -> None:
    """Read a conversation that stands in one text, with the role before each utterance."""
    display, loc = part.value["messages_display"], part.at("messages_display").loc()
    dialogue = Dialogue(draft, part)
    starts = list(_SPEAKER.finditer(display))
    ends = [each.start() for each in starts[1:]] + [len(display)]
    if not starts or starts[0].start() > 0:
        draft.note("text_without_role", loc, "the text begins with no role; that part is not read")
    for found, end in zip(starts, ends, strict=False):
        role, text = found[1], display[found.end() : end].removesuffix("\n")
        if role == "tool":
            failed = text.startswith(_FAILED)
            dialogue.answer(text, loc, failed=failed, error=text if failed else None)
            dialogue.step()
        elif role == "assistant" and text == "None":
            draft.drop("an assistant's message without a text, of which a few-shot line shows no calls", loc)
        else:
            is_meta = role == "system" or (role == "user" and text.strip() in CONTROL)
            dialogue.turn(role, text, loc, said=not is_meta)
    dialogue.finish(records_answers=True)
    draft.limit("requests", "absent", _DISPLAY, _HOW_DISPLAY)
    draft.limit("executions", "partial", _DISPLAY, _HOW_DISPLAY)
    draft.limit("results", "partial", _DISPLAY, _HOW_DISPLAY)
    draft.limit("errors", "partial", _DISPLAY, _HOW_DISPLAY)
    draft.account(part.source, records=len(starts), read=len(starts))
