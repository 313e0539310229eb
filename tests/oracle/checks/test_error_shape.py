from __future__ import annotations

from pathlib import Path

import pytest
from small_packs import CASES, Smallest, assert_earned, case, failures, write

from averment.oracle.checks.error_shape import CHECK

SECOND_WORLD = "__import__('os').environ['LANG'].startswith('tr')"
"""Whether this is the repetition, which differs in its language among other things."""


def look(body: str) -> str:
    """`look`, whose body is this for the box B-0."""
    return f"""
        _look = look

        def look(arguments, ctx):
            if arguments["box_id"] == "B-0":
                {body}
            return _look(arguments, ctx)
        """


NONE = {"case": "none", "tool": "look"}
SMALLEST = {
    "missing_error_object": Smallest(
        {"also": look(f"return {{}} if {SECOND_WORLD} else {{'error': {{'code': 'x'}}}}")},
        "validation_cases.yaml",
        "$[1]",
        NONE,
    ),
    "error_without_code": Smallest(
        {"also": look("return {'error': {'message': 'there is none'}}")},
        "validation_cases.yaml",
        "$[1]",
        NONE,
    ),
    "raised": Smallest(
        {"also": look(f"return {{'error': {{'code': 'a' if not {SECOND_WORLD} else 1 / 0}}}}")},
        "backend.py",
        "return {'error'",
        {**NONE, "trouble": "raised", "op": "call_tool"},
    ),
}


@pytest.mark.parametrize("reason", SMALLEST)
def test_each_reason_has_its_smallest_pack(tmp_path: Path, reason: str) -> None:
    """One mistake is one failure, at its place."""
    smallest = SMALLEST[reason]
    root = write(tmp_path / "pack", **smallest.change)
    assert_earned(failures(root, "D2"), reason, smallest, root)


@pytest.mark.parametrize(
    ("code", "count"), [("''", 1), ("' '", 1), ("404", 1), ("None", 1), ("['x']", 1), ("'x'", 0)]
)
def test_a_code_is_a_text_that_says_something(tmp_path: Path, code: str, count: int) -> None:
    """Numbers are none; what is wrong in both runs is told once."""
    found = failures(write(tmp_path / "pack", also=look(f"return {{'error': {{'code': {code}}}}}")), "D2")
    assert [failure.reason for failure in found] == count * ["error_without_code"]


def test_a_code_that_is_lost_in_the_repetition_is_found(tmp_path: Path) -> None:
    """Both runs are looked at."""
    body = f"return {{'error': {{'code': 0 if {SECOND_WORLD} else 'x'}}}}"
    (failure,) = failures(write(tmp_path / "pack", also=look(body)), "D2")
    assert failure.reason == "error_without_code"
    assert "found 0" in failure.message


def test_an_error_is_asked_for_with_the_chain_before_it(tmp_path: Path) -> None:
    """Here it comes only in the second call of an episode."""
    also = """
        def look(arguments, ctx):
            state["looks"] = state.get("looks", 0) + 1
            return {"error": {}} if state["looks"] == 2 else {}
        """
    chain = [case("first"), case("second", reset_before=False), *CASES[2:]]
    (failure,) = failures(write(tmp_path / "pack", also=also, cases=chain), "D2")
    assert (failure.reason, failure.facts["case"]) == ("error_without_code", "second")


@pytest.mark.parametrize("answer", ["{'error': 'a text'}", "{'status': 'awaiting_confirmation'}", "{}"])
def test_what_is_no_structured_error_has_no_shape_to_keep(tmp_path: Path, answer: str) -> None:
    """A text in `error` is a success that says odd things."""
    assert failures(write(tmp_path / "pack", also=look(f"return {answer}")), "D2") == []


def test_every_reason_is_tested_here() -> None:
    """None is left without a test."""
    assert set(CHECK.reasons) == set(SMALLEST)
    assert (CHECK.id, CHECK.name) == ("D2", "error_shape")


def test_the_good_pack_passes(tmp_path: Path) -> None:
    """Nothing is reported."""
    assert failures(write(tmp_path / "pack"), "D2") == []
