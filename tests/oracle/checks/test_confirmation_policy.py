from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_packs import CASES, LOOK, PUT, Smallest, assert_earned, case, failures, write

from averment.oracle.checks.confirmation_policy import CHECK


def unconfirmed(body: str) -> str:
    """`put`, whose body is this unless it is confirmed."""
    return f"""
        _put = put

        def put(arguments, ctx):
            if arguments.get("confirm") is False:
                {body}
            return _put(arguments, ctx)
        """


def asks(name: str, **more: Any) -> dict[str, Any]:
    """A probe of `put` without confirmation."""
    return case(name, "put", arguments={"box_id": "B-1", "item": "bolt", "confirm": False}, **more)


def without(parameter: str) -> dict[str, Any]:
    """`put` as the catalog has it, without a parameter."""
    parameters = PUT["function"]["parameters"]
    properties = {name: schema for name, schema in parameters["properties"].items() if name != parameter}
    return {
        **PUT,
        "function": {**PUT["function"], "parameters": {**parameters, "properties": properties}},
    }


ASKS = {"case": "asks", "tool": "put"}
SMALLEST = {
    "missing_confirm_param": Smallest(
        {"tools": [LOOK, without("confirm")]}, "tools.json", "$[1].function.parameters", {"tool": "put"}
    ),
    "missing_confirm_false_case": Smallest(
        {"cases": [CASES[0], CASES[1], CASES[3]]}, "tools.json", "$[1]", {"tool": "put"}
    ),
    "confirm_false_mutated_state": Smallest(
        {"also": unconfirmed("state['asked'] = 1; return {'status': 'awaiting_confirmation'}")},
        "validation_cases.yaml",
        "$[2]",
        {**ASKS, "state_path": "$.asked"},
    ),
    "confirm_false_bad_status": Smallest(
        {"also": unconfirmed("return {'status': 'waiting'}")}, "validation_cases.yaml", "$[2]", ASKS
    ),
    "raised": Smallest(
        {"also": unconfirmed("raise ValueError")},
        "backend.py",
        "raise ValueError",
        {**ASKS, "trouble": "raised", "op": "call_tool"},
    ),
}


@pytest.mark.parametrize("reason", SMALLEST)
def test_each_reason_has_its_smallest_pack(tmp_path: Path, reason: str) -> None:
    """One mistake is one failure, at its place."""
    smallest = SMALLEST[reason]
    root = write(tmp_path / "pack", **smallest.change)
    assert_earned(failures(root, "6"), reason, smallest, root)


def test_every_probe_without_confirmation_is_looked_at_with_its_prefix(tmp_path: Path) -> None:
    """Not only the first one, and not only from a reset: here the third call of a chain forgets to ask."""
    careless = "if state['boxes'][0]['item'] == 'bolt': state['boxes'][0]['item'] = 'nut'; return {}"
    chain = [
        asks("first"),
        {**CASES[3], "id": "puts_it", "reset_before": False},
        asks("again", reset_before=False),
        asks("from_a_reset"),
    ]
    root = write(tmp_path / "pack", also=unconfirmed(careless), cases=[*CASES[:2], *chain])
    assert [(failure.reason, failure.facts["case"]) for failure in failures(root, "6")] == [
        ("confirm_false_mutated_state", "again"),
        ("confirm_false_bad_status", "again"),
    ]


def test_a_probe_that_was_blocked_is_left_to_check_5(tmp_path: Path) -> None:
    """It was not called."""
    also = "def look(arguments, ctx):\n    raise KeyError"
    cases = [asks("asks"), case("x"), asks("behind", reset_before=False)]
    assert failures(write(tmp_path / "pack", also=also, cases=cases), "6") == []


@pytest.mark.parametrize("value", [0, None, "false", "absent"])
def test_only_false_itself_counts_as_a_probe_without_confirmation(tmp_path: Path, value: Any) -> None:
    """Neither zero nor a parameter that is left out."""
    arguments = {"box_id": "B-1", "item": "bolt"} | ({} if value == "absent" else {"confirm": value})
    root = write(tmp_path / "pack", cases=[CASES[0], case("asks", "put", arguments=arguments)])
    assert [failure.reason for failure in failures(root, "6")] == ["missing_confirm_false_case"]


def test_the_manifest_names_the_parameter_the_field_and_the_status(tmp_path: Path) -> None:
    """All three by their own names."""
    words = {"parameter": "sure", "status_field": "phase", "pending_status": "ask"}
    parameters = PUT["function"]["parameters"]
    sure = {**parameters, "properties": {**parameters["properties"], "sure": {"type": "boolean"}}}
    root = write(
        tmp_path / "pack",
        also="def put(arguments, ctx):\n    return {'phase': 'ask'}",
        tools=[LOOK, {**PUT, "function": {**PUT["function"], "parameters": sure}}],
        cases=[CASES[0], case("asks", "put", arguments={"sure": False})],
        manifest={"confirmation": words},
    )
    assert failures(root, "6") == []


def test_a_parameter_may_be_declared_through_a_reference(tmp_path: Path) -> None:
    """The schema is what its parts say together."""
    parameters = {
        "type": "object",
        "allOf": [{"$ref": "#/$defs/asked"}],
        "$defs": {"asked": {"type": "object", "properties": {"confirm": {"type": "boolean"}}}},
    }
    put = {**PUT, "function": {**PUT["function"], "parameters": parameters}}
    assert failures(write(tmp_path / "pack", tools=[LOOK, put]), "6") == []


def test_tools_that_need_no_confirmation_are_not_asked(tmp_path: Path) -> None:
    """Whatever they do."""
    put = {**PUT, "x-requires-confirmation": False}
    also = unconfirmed("state['asked'] = 1; return {}")
    assert failures(write(tmp_path / "pack", tools=[LOOK, put], also=also), "6") == []


def test_every_reason_is_tested_here() -> None:
    """None is left without a test."""
    assert set(CHECK.reasons) == set(SMALLEST)
    assert (CHECK.id, CHECK.name) == ("6", "confirmation_policy")


def test_the_good_pack_passes(tmp_path: Path) -> None:
    """Nothing is reported."""
    assert failures(write(tmp_path / "pack"), "6") == []
