from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from averment.oracle.checks.template_tool_names import CHECK
from averment.oracle.findings import Failure
from averment.oracle.model.pack import Pack

Handmade = Callable[..., Pack]

FINE: dict[str, Any] = {
    "turn_policy": "single_turn",
    "assistant_milestones": [{"type": "tool_call", "tool": "get_book"}, {"type": "final_answer"}],
}


def failures(pack: Pack) -> list[Failure]:
    bench: Any = SimpleNamespace(pack=pack)
    return list(CHECK.run(bench))


def test_the_check_has_its_id_and_every_reason_has_a_mend() -> None:
    """As the report has them."""
    assert (CHECK.id, CHECK.name) == ("1", "template_tool_names")
    assert sorted(CHECK.reasons) == ["invalid_conversation_plan", "missing_tool"]
    assert all(reason.about.endswith(".") and reason.mend.endswith(".") for reason in CHECK.reasons.values())


def test_a_template_whose_tools_exist_and_that_can_be_planned_passes(handmade: Handmade) -> None:
    """Nothing is reported."""
    fields = {**FINE, "required_tools": ["get_book"], "tools_present": ["get_book", "lend_book"]}
    assert failures(handmade([fields])) == []


@pytest.mark.parametrize(
    ("fields", "field", "path"),
    [
        (
            {"required_tools": ["get_book", "get_boks"], "tools_present": None},
            "required_tools",
            "$[0].required_tools[1]",
        ),
        ({"tools_present": ["get_boks"]}, "tools_present", "$[0].tools_present[0]"),
        (
            {"assistant_milestones": [{"type": "tool_call", "tool": "get_boks"}]},
            "assistant_milestones",
            "$[0].assistant_milestones[0].tool",
        ),
    ],
)
def test_a_name_that_the_catalog_lacks_is_a_missing_tool(
    handmade: Handmade, fields: dict[str, Any], field: str, path: str
) -> None:
    """With its place and the name that was probably meant; it is no reason to refuse the plan as well."""
    (failure,) = failures(handmade([{**FINE, **fields}]))
    assert failure.reason == "missing_tool"
    assert failure.message == "the catalog has no tool `get_boks`"
    assert failure.mend == "Did you mean `get_book`?"
    assert (failure.file, failure.path) == ("task_templates.yaml", path)
    assert failure.line
    assert failure.column
    assert failure.facts == {"template_id": "t0", "field": field, "tool": "get_boks"}


def test_every_reason_why_there_is_no_plan_is_a_failure(handmade: Handmade) -> None:
    """At its place in the file, with what to do."""
    text = (
        "- turn_policy: multi_tool\n"
        "  assistant_milestones:\n"
        "    - {type: ask_confirm}\n"
        "    - {type: tool_call, tool: get_book}\n"
        "  user_simulator_turns:\n"
        "    - {after: tool_call, content_template: {en: x}, slot_updates: {a: {source: b.c}}}\n"
    )
    found = failures(handmade(text))
    assert {failure.reason for failure in found} == {"invalid_conversation_plan"}
    assert [(failure.line, failure.column, failure.path) for failure in found] == [
        (3, 7, "$[0].assistant_milestones[0]"),
        (6, 67, "$[0].user_simulator_turns[0].slot_updates"),
        (3, 5, "$[0].assistant_milestones"),
    ]
    assert found[2].message == "the policy is `multi_tool`, and one tool is called once; expected two calls"
    assert str(found[0].mend).startswith("Add a turn to `user_simulator_turns` with `after: ask_confirm`")


def test_templates_are_reported_in_the_order_of_the_file(handmade: Handmade) -> None:
    """Each with its id; one that fails does not hide another."""
    bad = {**FINE, "turn_policy": "multi_tool"}
    assert [each.facts["template_id"] for each in failures(handmade([bad, FINE, bad]))] == ["t0", "t2"]
