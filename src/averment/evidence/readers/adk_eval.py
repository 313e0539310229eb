"""Eval cases of Google's ADK: the invocations that are expected of an agent, or those of an eval result."""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import OF_ANSWERS, Part, kind_of
from averment.evidence.model import CoverageState
from averment.evidence.readers.adk_parts import Contents, key_of, of, snake

__all__ = ["Case"]

_HOW_RUN = (
    "Export the session of a run (`adk web`, or the session service's `get_session`) instead of the eval set."
)
_REFERENCE = "an eval case holds what is expected of an agent, and no record of a run"
_KNOWN_INVOCATION = frozenset(
    {"invocation_id", "user_content", "final_response", "agent_content", "intermediate_data"}
    | {"creation_timestamp", "query", "reference", "expected_tool_use"}
    | {"expected_intermediate_agent_responses"}
)


class Case(Contents):
    """The invocations of one eval case, or the actual ones of an eval result."""

    def read(self, invocations: Part, *, is_reference: bool) -> None:
        """Read the invocations; with `is_reference` they are what is expected, and nothing was recorded."""
        count = 0
        for value, loc in zip(invocations.value, invocations.locs(), strict=True):
            invocation = value if is_reference else of(value, "actual_invocation")
            if not isinstance(invocation, dict):
                self.draft.note("invocation_unreadable", loc, f"the invocation is {kind_of(invocation)}")
                continue
            count += 1
            self._invocation(invocation, loc)
        draft = self.draft
        self.dialogue.finish(flags_failures=False)
        draft.limit("handoff", "absent", _REFERENCE if is_reference else "no events are recorded", _HOW_RUN)
        if is_reference:
            draft.metadata = {**(draft.metadata or {}), "reference": True}
            draft.note("reference_conversation", self.part.loc(), _REFERENCE)
            state: CoverageState = "partial" if self.dialogue.answers else "absent"
            for channel in OF_ANSWERS:
                draft.limit(channel, state, _REFERENCE, _HOW_RUN)
        draft.account(self.part.source, records=len(invocations.value), read=count)

    def _invocation(self, item: dict[str, Any], loc: str) -> None:
        draft = self.draft
        spelled = {snake(key): each for key, each in item.items()}
        draft.drop_rest(spelled, _KNOWN_INVOCATION, loc)
        for key in ("query", "user_content"):
            if key in spelled:
                self._said(item, key, "user", loc)
        self._intermediate(item, of(item, "intermediate_data"), loc)
        for key in ("reference", "final_response", "agent_content"):
            if key in spelled:
                self._said(item, key, "model", loc)

    def _said(self, item: dict[str, Any], key: str, author: str, loc: str) -> None:
        """What stands under one of the keys of an invocation."""
        content = of(item, key)
        if content is not None:
            self.content(_as_content(content), author, f"{loc}.{key_of(item, key)}")

    def _intermediate(self, item: dict[str, Any], data: Any, loc: str) -> None:
        """The calls between a question and its answer, and what agents said meanwhile."""
        inside = f"{loc}.{key_of(item, 'intermediate_data')}"
        for event, place in self._listed(data, "invocation_events", inside):
            author = of(event, "author")
            author = author if isinstance(author, str) else "model"
            self.content(of(event, "content"), author, f"{place}.content")
        self.dialogue.step()
        calls = self._listed(data, "tool_uses", inside) + self._listed(item, "expected_tool_use", loc)
        for call, place in calls:
            if not isinstance(call, dict):
                self.draft.note("call_unreadable", place, f"the call is {kind_of(call)}")
                continue
            old = {"name": call.get("tool_name"), "args": call.get("tool_input")}
            if "tool_name" in call:
                self.draft.drop_rest(call, {"tool_name", "tool_input"}, place)
            self.call(old if "tool_name" in call else call, place, {})
        for response, place in self._listed(data, "tool_responses", inside):
            if isinstance(response, dict):
                self.response(response, place, "model", None)
            else:
                self.draft.note("response_unreadable", place, f"the response is {kind_of(response)}")
        said = self._listed(data, "intermediate_responses", inside)
        said += self._listed(item, "expected_intermediate_agent_responses", loc)
        if said and calls:
            self.draft.note(
                "order_unknown", loc, "whether intermediate texts or calls came first is not recorded"
            )
        for each, place in said:
            pair = each if isinstance(each, list) else [of(each, "author"), of(each, "text")]
            author = pair[0] if pair and isinstance(pair[0], str) else "model"
            body = pair[1] if len(pair) > 1 else None
            content = {"parts": body} if isinstance(body, list) else _as_content(body)
            self.content(content, author, place)

    def _listed(self, holder: Any, key: str, loc: str) -> list[tuple[Any, str]]:
        items = of(holder, key)
        if items is None:
            return []
        if not isinstance(items, list):
            self.draft.note("wrong_type", loc, f"`{key}` is {kind_of(items)} and no list")
            return []
        start = f"{loc}.{key_of(holder, key)}"
        return [(item, f"{start}[{index}]") for index, item in enumerate(items)]


def _as_content(value: Any) -> Any:
    return {"parts": [{"text": value}]} if isinstance(value, str) else value
