"""ATIF trajectories: `{schema_version: "ATIF-v…", session_id, agent, steps: [{source, message, tool_calls, …}]}`.

A step is of the user, the agent or the system; a system step is not said. `tool_calls` are requests, the results of
the step's `observation` answer them by `source_call_id`, or in order where they name none. An observation in a step
without calls is what the environment showed by itself, and answers nothing. An object of trajectories, such as
`{parent, child}`, holds one conversation for each.

Known gaps: no flag says that a call failed. The time of a step is that of its message; calls have none of their own.
Trajectories of sub-agents and continuations stand in other files, so that what is not here may be there; the coverage
is partial then. Reasoning, images and metrics of steps are not read; a note counts each.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.model import Role
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.messages import Limits, finish, keep, limit_history, result_of, text_or_none
from averment.evidence.times import instant

__all__ = ["fits", "read", "split"]

_LIMITS = Limits(
    tools="Have the agent write its calls to `tool_calls`, not into its messages.",
    failures="ATIF can't flag a failed call: have tools answer with what went wrong, or add their trace.",
    writes_arguments=True,
)
_ROLES: dict[str, Role] = {"user": "user", "agent": "agent", "system": "system"}
_KEYS = frozenset(
    {"schema_version", "session_id", "steps", "continued_trajectory_ref", "subagent_trajectories"}
)
_KEPT = ("agent", "final_metrics", "notes", "extra", "trajectory_id")
_STEP_KEYS = frozenset(
    {"step_id", "timestamp", "source", "message", "tool_calls", "observation", "reasoning_content"}
    | {"is_copied_context", "model_name", "llm_call_count"}
)
_CALL_KEYS = frozenset({"tool_call_id", "function_name", "arguments"})
_RESULT_KEYS = frozenset({"source_call_id", "content", "subagent_trajectory_ref"})


def fits(value: Any) -> str | None:
    """Why this looks like an ATIF trajectory, or None."""
    if _is_trajectory(value):
        return "its `schema_version` is one of ATIF"
    if isinstance(value, dict) and 0 < len(value) <= 100 and all(map(_is_trajectory, value.values())):
        return "its values are ATIF trajectories"
    return None


def _is_trajectory(value: Any) -> bool:
    version = value.get("schema_version") if isinstance(value, dict) else None
    return isinstance(version, str) and version.startswith("ATIF-")


def split(part: Part) -> list[Part]:
    """The trajectories that an object holds, or the one that it is."""
    value = part.value
    if isinstance(value, dict) and "schema_version" not in value and value:
        return [part.at(key) for key in value]
    return [part]


def read(part: Part, draft: Draft) -> None:
    """Read one trajectory."""
    value = part.value
    steps = value.get("steps") if isinstance(value, dict) else None
    if not isinstance(steps, list):
        draft.problems.append(
            part.problem(
                "wrong_type",
                "an ATIF trajectory must have a list of steps",
                expected="an object with a list `steps`",
                found=kind_of(value),
            )
        )
        return
    if type(value.get("session_id")) is str:
        draft.conversation_id = value["session_id"]
    keep(draft, value, _KEPT)
    draft.drop_rest(value, _KEYS | {*_KEPT}, part.loc())
    _Steps(part.at("steps"), draft).read()
    if value.get("continued_trajectory_ref") is not None:
        limit_history(draft, "the trajectory goes on in another file", "Read the continuation as well.")


class _Steps:
    """The steps of one trajectory."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._dialogue = Dialogue(draft, part)
        self._hides = False
        self._delegates = False

    def read(self) -> None:
        steps = self._part.value
        count = sum(self._step(step, loc) for step, loc in zip(steps, self._part.locs(), strict=True))
        finish(self._dialogue, self._draft, _LIMITS, shows_tools=not self._hides)
        if self._delegates:
            reason, how = "what sub-agents did stands in other files", "Read their trajectories as well."
            for channel in ("requests", "executions", "results"):
                if self._draft.coverage[channel].state in ("present", "empty"):
                    self._draft.limit(channel, "partial", reason, how)
        self._draft.account(self._part.source, records=len(steps), read=count)

    def _step(self, step: Any, loc: str) -> bool:
        draft = self._draft
        if type(step) is not dict:
            draft.note("message_unreadable", loc, f"a step is {kind_of(step)}, so it is left out")
            return False
        draft.drop_rest(step, _STEP_KEYS, loc)
        source = step.get("source")
        if type(source) is not str:
            draft.note("role_not_text", loc, "the step names no source, so its role is unknown")
            source = None
        role = "unknown" if source is None else _ROLES.get(source, "other")
        if role == "agent":
            self._dialogue.step()
        if step.get("is_copied_context") is True:
            draft.drop("that a step is copied from another trajectory", loc)
        if step.get("reasoning_content"):
            draft.drop("a reasoning part", loc)
        start = instant(step.get("timestamp"))
        if start is None and step.get("timestamp") is not None:
            draft.note("time_unreadable", loc, "the `timestamp` is no time; it is left out")
        calls = self._listed(step.get("tool_calls"), f"{loc}.tool_calls")
        text = text_or_none(step.get("message"), f"{loc}.message", draft)
        if text or not calls:
            said = role != "system"
            self._dialogue.turn(source, text or "", loc, role=role, start_ns=start, clock="epoch", said=said)
        for call, place in calls:
            draft.drop_rest(call, _CALL_KEYS, place)
            self._dialogue.request(
                call.get("function_name"), call.get("arguments"), place, own=call.get("tool_call_id")
            )
        self._observe(step.get("observation"), f"{loc}.observation", has_calls=bool(calls))
        return True

    def _observe(self, observation: Any, loc: str, *, has_calls: bool) -> None:
        if observation is None:
            return
        results = observation.get("results") if type(observation) is dict else None
        for result, place in self._listed(results, f"{loc}.results"):
            self._draft.drop_rest(result, _RESULT_KEYS, place)
            if result.get("subagent_trajectory_ref"):
                self._delegates = True
                self._draft.drop("a sub-agent's trajectory in another file", place)
            own = result.get("source_call_id")
            if own is None and not has_calls:
                # Something was done that the step doesn't list: in such a trajectory no call is no proof of none.
                self._hides = self._hides or result.get("content") is not None
                self._draft.drop("an observation that answers no call", place)
                continue
            self._dialogue.answer(
                result_of(result.get("content"), f"{place}.content", self._draft), place, own=own
            )

    def _listed(self, value: Any, loc: str) -> list[tuple[dict[str, Any], str]]:
        """The objects of a list, each with its place."""
        if value is None:
            return []
        if type(value) is not list:
            self._draft.note("calls_unreadable", loc, f"this should be a list, and is {kind_of(value)}")
            return []
        found = []
        for index, item in enumerate(value):
            if type(item) is dict:
                found.append((item, f"{loc}[{index}]"))
            else:
                self._draft.note("calls_unreadable", f"{loc}[{index}]", f"this is {kind_of(item)}")
        return found
