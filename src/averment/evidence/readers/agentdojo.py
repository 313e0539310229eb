"""AgentDojo runs: `{suite_name, pipeline_name, messages, ...}`, as its task suites and their forks write them.

Messages have a role and a content, which is text or a list of parts `{type: text, content}`. Assistant messages hold
`tool_calls` `{function, args, id}`; an answer is a message of role `tool` with `tool_call_id` and an `error` that is
null when the call went well. The text that it answered with is often YAML, and is kept as text. Verdicts of the
benchmark (`utility`, `security`, `evaluation`) and the attack are metadata.

Known gaps: nothing has a time. `placeholder_args`, which ground truth has, are not read. Forks add keys of their own
that repeat the messages (`trace`, `final_answer`); they are dropped, and the messages count.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.texts import objects_in, text_of

__all__ = ["fits", "read"]

_METADATA = (
    *("suite_name", "pipeline_name", "user_task_id", "injection_task_id", "attack_type", "injections"),
    *("utility", "security", "duration", "error", "benchmark_version", "evaluation_timestamp"),
    *("agentdojo_package_version", "domain", "task_id", "condition", "seed", "evaluation"),
)
_RUN_KEYS = frozenset({"run_id", "messages", *_METADATA})
_MESSAGE_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id", "tool_call", "error"})
_CALL_KEYS = frozenset({"function", "args", "id"})


def fits(value: Any) -> str | None:
    """Why this is an AgentDojo run."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        names = ("suite_name", "pipeline_name")
        if all(isinstance(value.get(name), str) for name in names):
            return "it has `suite_name`, `pipeline_name` and `messages`"
    return None


def read(part: Part, draft: Draft) -> None:
    """Read one run."""
    run = part.value
    messages = run.get("messages") if isinstance(run, dict) else None
    if not isinstance(run, dict) or not isinstance(messages, list):
        problem = part.problem("wrong_type", "a run must have a list of `messages`", found=kind_of(run))
        draft.problems.append(problem)
        return
    if type(run.get("run_id")) is str and run["run_id"]:
        draft.conversation_id = run["run_id"]
    draft.metadata = {key: run[key] for key in _METADATA if run.get(key) is not None}
    if run.get("error") is not None:
        draft.note(
            "run_failed", part.at("error").loc(), "the run ended with an error before the agent was done"
        )
    draft.drop_rest(run, _RUN_KEYS, part.loc())
    _Messages(part.at("messages"), draft).read()


class _Messages:
    """The messages of one run, read in order."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._dialogue = Dialogue(draft, part)
        self._has_flags = True

    def read(self) -> None:
        read = 0
        for message, loc in objects_in(self._part.value, self._part.locs(), self._draft):
            self._read_message(message, loc)
            read += 1
        self._dialogue.finish(flags_failures=self._has_flags, writes_arguments=True)
        self._draft.account(self._part.source, records=len(self._part.value), read=read)

    def _read_message(self, message: dict[str, Any], loc: str) -> None:
        self._draft.drop_rest(message, _MESSAGE_KEYS, loc)
        role = message.get("role")
        text = text_of(message.get("content"), loc, self._draft)
        if role == "tool":
            self._read_answer(message, text, loc)
            return
        if type(role) is not str:
            self._draft.note("role_not_text", loc, f"the role is {kind_of(role)}, so it is unknown")
            role = None
        if role == "assistant":
            self._dialogue.step()
        if text:
            self._dialogue.turn(role, text, loc, said=role != "system")
        calls = message.get("tool_calls")
        if type(calls) is list:
            for index, call in enumerate(calls):
                place = f"{loc}.tool_calls[{index}]"
                if type(call) is not dict:
                    found = kind_of(call)
                    self._draft.note("call_not_object", place, f"a tool call is {found}, and is not read")
                    continue
                self._draft.drop_rest(call, _CALL_KEYS, place)
                self._dialogue.request(call.get("function"), call.get("args"), place, own=call.get("id"))
        elif calls is not None:
            self._draft.note("calls_not_list", loc, f"`tool_calls` is {kind_of(calls)}, and is not read")

    def _read_answer(self, message: dict[str, Any], text: str | None, loc: str) -> None:
        call, error = message.get("tool_call"), message.get("error")
        name = call.get("function") if type(call) is dict else None
        own = message.get("tool_call_id")
        if own is None and type(call) is dict:
            own = call.get("id")
        if "error" not in message:
            self._has_flags = False
        failed = None if "error" not in message else error is not None
        self._dialogue.answer(
            None if failed and not text else text,
            loc,
            own=own,
            name=name if type(name) is str else None,
            failed=failed,
            error=error,
        )
