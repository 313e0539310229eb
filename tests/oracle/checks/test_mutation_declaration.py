from __future__ import annotations

from pathlib import Path

import pytest
from small_packs import CASES, LOOK, PUT, Smallest, assert_earned, failures, write

from averment.oracle.checks.mutation_declaration import CHECK

SMALLEST = {
    "undeclared_mutation": Smallest(
        {"tools": [LOOK, {**PUT, "x-mutates": False}]},
        "tools.json",
        "$[1]",
        {"tool": "put", "cases": ["puts"]},
    ),
    "declared_mutation_not_observed": Smallest(
        {"tools": [{**LOOK, "x-mutates": True}, PUT]}, "tools.json", "$[0].x-mutates", {"tool": "look"}
    ),
}


@pytest.mark.parametrize("reason", SMALLEST)
def test_each_reason_has_its_smallest_pack(tmp_path: Path, reason: str) -> None:
    """One mistake is one failure, at its place."""
    smallest = SMALLEST[reason]
    root = write(tmp_path / "pack", **smallest.change)
    found = failures(root, "M1")
    path = smallest.path.replace("$[0].x-mutates", '$[0]["x-mutates"]')
    assert_earned(found, reason, smallest._replace(path=path), root)


@pytest.mark.parametrize("answer", ["{'error': {'code': 'x'}}", "{'status': 'awaiting_confirmation'}"])
def test_a_change_behind_a_refusal_is_a_change_and_proves_nothing(tmp_path: Path, answer: str) -> None:
    """It must be declared, and a success must have been seen to do it."""
    also = f"""
        def look(arguments, ctx):
            state["looks"] = state.get("looks", 0) + 1
            return {answer}
        """
    undeclared = failures(write(tmp_path / "undeclared", also=also), "M1")
    assert [failure.reason for failure in undeclared] == ["undeclared_mutation"]
    assert undeclared[0].facts["cases"] == ["found", "none"]
    declared = failures(
        write(tmp_path / "declared", also=also, tools=[{**LOOK, "x-mutates": True}, PUT]), "M1"
    )
    assert [failure.reason for failure in declared] == ["declared_mutation_not_observed"]


def test_a_value_of_another_type_is_a_change(tmp_path: Path) -> None:
    """`1` and `1.0` are two states."""
    also = """
        _reset = reset

        def reset(*, ctx, fixtures=None):
            _reset(ctx=ctx, fixtures=fixtures)
            state["count"] = 1

        def look(arguments, ctx):
            state["count"] = 1.0
            return {}
        """
    (failure,) = failures(write(tmp_path / "pack", also=also), "M1")
    assert (failure.reason, failure.facts["cases"]) == ("undeclared_mutation", ["found", "none"])


def test_a_call_that_writes_what_was_there_changes_nothing(tmp_path: Path) -> None:
    """Nor does another order of keys."""
    also = """
        def look(arguments, ctx):
            state["boxes"] = [dict(reversed(box.items())) for box in state["boxes"]]
            return {}
        """
    assert failures(write(tmp_path / "pack", also=also, cases=CASES), "M1") == []


def test_every_reason_is_tested_here() -> None:
    """None is left without a test."""
    assert set(CHECK.reasons) == set(SMALLEST)
    assert (CHECK.id, CHECK.name) == ("M1", "mutation_declaration")


def test_the_good_pack_passes(tmp_path: Path) -> None:
    """Nothing is reported."""
    assert failures(write(tmp_path / "pack"), "M1") == []
