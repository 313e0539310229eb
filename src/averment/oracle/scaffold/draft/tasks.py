"""The templates and probes of a draft."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from averment.oracle.scaffold.draft.calls import CONFIRM, Call
from averment.oracle.scaffold.draft.code import assertion_name

__all__ = ["cases", "templates"]

_REQUESTS = ("Please take care of this for me", "I could use some help here", "Kindly assist")
"""What a user may say; which has no word that is the name of a tool."""

_IRRELEVANT: dict[str, Any] = {
    "template_id": "draft_irrelevant",
    "intent": "small_talk",
    "category": "out_of_scope",
    "difficulty": "easy",
    "turn_policy": "irrelevant",
    "success_assertions": ["assert_no_tool_called"],
}


def templates(calls: Iterable[Call], language: str) -> list[dict[str, Any]]:
    """A conversation for each call, and one that needs none."""
    drafted = list(calls)
    names = {call.tool.name.casefold() for call in drafted}
    irrelevant = {
        **_IRRELEVANT,
        "user_turn_templates": {language: "What do you think, will it rain tomorrow?"},
        "assistant_milestones": [{"type": "decline"}],
    }
    return [*(_template(call, language, names) for call in drafted), irrelevant]


def cases(calls: Iterable[Call]) -> list[dict[str, Any]]:
    """For each call a probe that succeeds and one that is refused, and one without the user's word where it waits."""
    found: list[dict[str, Any]] = []
    for call in calls:
        refusal = {"result_class": "structured_error", "state_unchanged": True}
        found.append(_case(call, "success", call.arguments, {"result_class": "success"}))
        found.append(_case(call, "refused", call.refused, refusal))
        if call.waits:
            waiting = {"result_class": "awaiting_confirmation", "state_unchanged": True}
            found.append(_case(call, "unconfirmed", {**call.arguments, CONFIRM: False}, waiting))
    return found


def _case(call: Call, what: str, arguments: dict[str, Any], expect: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"{call.name}_{what}", "tool": call.tool.name, "arguments": arguments, "expect": expect}


def _template(call: Call, language: str, names: set[str]) -> dict[str, Any]:
    template: dict[str, Any] = {
        "template_id": f"draft_{call.name}",
        "intent": call.name,
        "category": "drafted",
        "difficulty": "easy",
        "turn_policy": "confirmation" if call.waits else "single_turn",
    }
    if call.tool.mutates or call.waits:
        template["mutates"] = True
    template["required_tools"] = [call.tool.name]
    if call.slots:
        template["slots"] = {
            slot.name: {
                "source": slot.source,
                "visible_in_first_turn": True,
                "label": {language: _label(slot.argument)},
            }
            for slot in call.slots
        }
    template["success_assertions"] = [assertion_name(call)]
    template["user_turn_templates"] = {language: _request(call, names)}
    milestones: list[dict[str, Any]] = [{"type": "tool_call", "tool": call.tool.name, "args": call.args}]
    if call.waits:
        milestones.insert(0, {"type": "ask_confirm", "id": "ask"})
        template["user_simulator_turns"] = [{"after": "ask", "content_template": {language: "Yes, please."}}]
    template["assistant_milestones"] = [*milestones, {"type": "final_answer"}]
    return template


def _request(call: Call, names: set[str]) -> str:
    """What the user says first; users don't know what tools are called."""
    request = next((each for each in _REQUESTS if not _names_tool(each, names)), "…")
    said = []
    for slot in call.slots:
        label = _label(slot.argument)
        said.append(f"{{{slot.name}}}" if _names_tool(label, names) else f"{label} {{{slot.name}}}")
    return f"{request}: {', '.join(said)}." if said else f"{request}."


def _names_tool(text: str, names: set[str]) -> bool:
    folded = text.casefold()
    return not names.isdisjoint(re.findall(r"\w+", folded)) or any(
        name in folded for name in names if not name.replace("_", "").isalnum()
    )


def _label(argument: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", argument)
    return " ".join(re.sub(r"[^A-Za-z0-9]+", " ", spaced).split()).lower() or "value"
