from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_packs import CASES, TOOLS, Smallest, assert_earned, case, failures, write

from averment.oracle.checks.validation_cases import CHECK
from averment.oracle.findings import Failure

HELD_OUT = '{"version": "1", "fixtures": {"boxes": ["B-2"]}, "policy": {"fixtures_in_backend_state": %s}}'


def look(body: str) -> str:
    """`look`, whose body is this, for any box whose id has an X in it."""
    return f"""
        _look = look

        def look(arguments, ctx):
            if "X" in str(arguments.get("box_id")):
                {body}
            return _look(arguments, ctx)
        """


def more(*cases: dict[str, Any]) -> list[dict[str, Any]]:
    return [*CASES, *cases]


def expecting(**expect: Any) -> list[dict[str, Any]]:
    """The good probes, and one that looks into B-1 and expects this."""
    return more(case("x", expect=expect))


X = {"case": "x", "tool": "look"}
SMALLEST = {
    "unknown_tool": Smallest(
        {"cases": more(case("x", "lookk"))},
        "validation_cases.yaml",
        "$[4].tool",
        {"case": "x", "tool": "lookk"},
    ),
    "reset_before_false_without_predecessor": Smallest(
        {"cases": [{**CASES[0], "reset_before": False}, *CASES[1:]]},
        "validation_cases.yaml",
        "$[0].reset_before",
        {"case": "found", "tool": "look"},
    ),
    "raised": Smallest(
        {"also": look("raise KeyError(ctx.seed)"), "cases": more(case("x", box="X"))},
        "backend.py",
        "raise KeyError",
        {**X, "trouble": "raised", "op": "call_tool"},
    ),
    "non_object_result": Smallest(
        {"also": look("return [1]"), "cases": more(case("x", box="X"))}, "validation_cases.yaml", "$[4]", X
    ),
    "successful_validation_case_schema_mismatch": Smallest(
        {"also": look("return {}"), "cases": more(case("x", box=["X"]))},
        "validation_cases.yaml",
        "$[4].arguments",
        {
            **X,
            "schema_failures": [
                {
                    "reason": "argument_type_mismatch",
                    "path": "box_id",
                    "message": '`box_id` must be of type string and is ["X"]',
                }
            ],
        },
    ),
    "result_class_mismatch": Smallest(
        {"cases": expecting(result_class="structured_error")},
        "validation_cases.yaml",
        "$[4].expect.result_class",
        {**X, "expected": "structured_error", "found": "success"},
    ),
    "error_code_mismatch": Smallest(
        {"cases": more(case("x", box="B-0", expect={"error_code": "gone"}))},
        "validation_cases.yaml",
        "$[4].expect.error_code",
        X,
    ),
    "result_field_mismatch": Smallest(
        {"cases": expecting(item="screw")},
        "validation_cases.yaml",
        "$[4].expect.item",
        {**X, "field": "item"},
    ),
    "state_changed": Smallest(
        {
            "also": look("state['seen'] = 1; return {}"),
            "cases": more(case("x", box="X", expect={"state_unchanged": True})),
        },
        "validation_cases.yaml",
        "$[4].expect.state_unchanged",
        {**X, "state_path": "$.seen"},
    ),
    "incomplete_validation_coverage": Smallest(
        {"cases": [CASES[0], *CASES[2:]]}, "tools.json", "$[0]", {"tool": "look", "missing": ["negative"]}
    ),
}


@pytest.mark.parametrize("reason", SMALLEST)
def test_each_reason_has_its_smallest_pack(tmp_path: Path, reason: str) -> None:
    """One mistake is one failure, at its place."""
    smallest = SMALLEST[reason]
    root = write(tmp_path / "pack", **smallest.change)
    assert_earned(failures(root, "5"), reason, smallest, root)


def test_no_probes_at_all_is_one_failure(tmp_path: Path) -> None:
    """That no tool is covered then goes without saying."""
    (failure,) = failures(write(tmp_path / "pack", cases=[]), "5")
    assert (failure.reason, failure.file) == ("validation_cases_empty", "validation_cases.yaml")


def test_what_is_behind_a_call_that_raised_is_blocked_by_it(tmp_path: Path) -> None:
    """Each probe of the chain by its own failure; the next chain runs."""
    chain = [
        case("x", box="X"),
        case("y", reset_before=False),
        case("z", reset_before=False, expect={"item": "?"}),
    ]
    root = write(
        tmp_path / "pack", also=look("raise KeyError"), cases=more(*chain, case("new", expect={"item": "?"}))
    )
    found = failures(root, "5")
    told = [(failure.reason, failure.facts["case"]) for failure in found]
    assert told == [
        ("raised", "x"),
        ("blocked_by", "y"),
        ("blocked_by", "z"),
        ("result_field_mismatch", "new"),
    ]
    assert found[1].facts == {"case": "y", "tool": "look", "blocked_by": "x"}
    assert (found[1].file, found[1].path) == ("validation_cases.yaml", "$[5]")


@pytest.mark.parametrize(
    ("body", "trouble", "message"),
    [
        ("raise SystemExit(3)", "raised", "call_tool raised SystemExit: 3"),
        (
            "import os; os._exit(3)",
            "died",
            "the worker ended itself with status 3 during call_tool, without an answer",
        ),
        ("return {'a': {1}}", "result_not_json", "what call_tool gave is not JSON: "),
        ("return {'a': float('nan')}", "result_not_json", "what call_tool gave is not JSON: "),
        ("return {'a': {1: 2}}", "result_not_json", "what call_tool gave is not JSON: "),
        ("while True: pass", "timeout", "call_tool did not end within its deadline, and was killed"),
    ],
)
def test_every_way_of_giving_no_answer_is_told(tmp_path: Path, body: str, trouble: str, message: str) -> None:
    """With the kind of trouble as a fact."""
    root = write(tmp_path / "pack", also=look(body), cases=more(case("x", box="X")))
    (failure,) = failures(root, "5", tool_timeout_s=2.0 if trouble == "timeout" else 60.0)
    assert (failure.reason, failure.facts["trouble"]) == ("raised", trouble)
    assert failure.message.startswith(message)


def test_a_failure_has_what_was_printed_and_where_it_was_raised(tmp_path: Path) -> None:
    """The end of it, with paths inside the pack."""
    body = "print('looking'); raise KeyError('x')"
    root = write(tmp_path / "pack", also=look(body), cases=more(case("x", box="X")))
    (failure,) = failures(root, "5")
    assert failure.output == "looking"
    assert failure.traceback is not None
    frames = failure.traceback.splitlines()
    assert [frame.partition(":")[0] for frame in frames[:-1]] == ["backend.py", "backend.py"]
    assert frames[-1] == "KeyError: 'x'"


def test_a_probe_of_an_unknown_tool_is_not_run_and_parts_its_chain_from_the_one_before(
    tmp_path: Path,
) -> None:
    """What goes on from it begins where it would have: at a reset."""
    chain = [
        case("lookk", "lookk"),
        case("after", reset_before=False, expect={"item": "nail"}),
    ]
    found = failures(write(tmp_path / "pack", cases=more(*chain)), "5")
    assert [failure.facts["case"] for failure in found] == ["lookk"]
    assert "did you mean `look`?" in found[0].message


COMPARED: list[tuple[str, dict[str, Any], list[str]]] = [
    ("{'error': {}}", {"error_code": None}, []),
    ("{}", {"error_code": None}, []),
    ("{'error': 'a text'}", {"error_code": None, "result_class": "success"}, []),
    ("{'error': {'code': 'x'}}", {"error_code": None}, ["error_code_mismatch"]),
    ("{}", {"error_code": "x"}, ["error_code_mismatch"]),
    (
        "{'error': {'code': 'x'}, 'status': 'awaiting_confirmation'}",
        {"result_class": "structured_error"},
        [],
    ),
    ("{'status': 'awaiting_confirmation'}", {"result_class": "awaiting_confirmation"}, []),
    ("{'a': 1}", {"a": 1}, []),
    ("{'a': 1}", {"a": 1.0}, ["result_field_mismatch"]),
    ("{'a': 1}", {"a": "1"}, ["result_field_mismatch"]),
    ("{'a': 1}", {"a": True}, ["result_field_mismatch"]),
    ("{'a': {'b': 1, 'c': 2}}", {"a": {"c": 2, "b": 1}}, []),
    ("{'a': {'b': 1, 'c': 2}}", {"a": {"b": 1}}, ["result_field_mismatch"]),
    ("{}", {"a": None}, ["result_field_mismatch"]),
    (
        "{'a': 1}",
        {"a": 2, "b": 3, "result_class": "structured_error"},
        ["result_class_mismatch", "result_field_mismatch", "result_field_mismatch"],
    ),
]
"""What `look` answers, what a probe expects, and what is found."""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> list[Failure]:
    """What is found in one pack with all of them, each by its index."""
    answers = ", ".join(answer for answer, _, _ in COMPARED)
    also = look(f"return [{answers}][int(arguments['box_id'].strip('X'))]")
    cases = [case(str(at), box=f"X{at}", expect=expect) for at, (_, expect, _) in enumerate(COMPARED)]
    return failures(write(tmp_path_factory.mktemp("compared"), also=also, cases=more(*cases)), "5")


@pytest.mark.parametrize("index", range(len(COMPARED)))
def test_what_a_probe_expects_is_compared_as_the_contract_says(compared: list[Failure], index: int) -> None:
    """A code that is null asks for none; every other key is a field of the result, equal in canonical form."""
    found = [failure.reason for failure in compared if failure.facts["case"] == str(index)]
    assert found == COMPARED[index][2]


@pytest.mark.parametrize(("unchanged", "count"), [(True, 1), (False, 0), (None, 0)])
def test_only_a_true_state_unchanged_is_checked(tmp_path: Path, unchanged: bool | None, count: int) -> None:
    """False says nothing, and loading warns of it."""
    root = write(
        tmp_path / "pack",
        also=look("state['boxes'][1]['item'] = 'x'; return {}"),
        cases=more(case("x", box="X", expect={"state_unchanged": unchanged})),
    )
    found = failures(root, "5")
    assert [failure.facts["state_path"] for failure in found] == count * ["$.boxes[1].item"]


def missing(tmp_path: Path, *cases: dict[str, Any]) -> list[str]:
    """The kinds of probes that `look` lacks, where only these are asked of it."""
    root = write(tmp_path / "pack", also=look("return {}"), cases=[*cases, *CASES[2:]])
    found = failures(root, "5")
    assert {failure.reason for failure in found} <= {"incomplete_validation_coverage"}
    return [kind for failure in found for kind in failure.facts["missing"]]


@pytest.mark.parametrize(
    ("cases", "lacking"),
    [
        ([CASES[0]], ["negative"]),
        ([CASES[1]], ["success"]),
        ([CASES[0], CASES[1]], []),
        ([case("a", coverage="negative")], []),
        ([case("a", box="B-0", coverage="negative")], ["success"]),
        ([CASES[0], case("a", arguments={"box_id": 7})], []),
        ([CASES[0], case("a", arguments={"shelf": [None]})], []),
    ],
)
def test_a_tool_needs_a_success_and_a_negative(
    tmp_path: Path, cases: list[dict[str, Any]], lacking: list[str]
) -> None:
    """A success that says `coverage: negative` is both; malformed arguments are no mistake of a negative."""
    assert missing(tmp_path, *cases) == lacking


def test_a_call_that_waits_is_a_negative(tmp_path: Path) -> None:
    """`put` has no error among its probes."""
    assert [name["id"] for name in CASES[2:]] == ["asks", "puts"]
    assert failures(write(tmp_path / "pack"), "5") == []


def test_arguments_that_are_no_object_are_handed_to_the_oracle(tmp_path: Path) -> None:
    """It may refuse them, and does so by an error."""
    body = """
        _look = look

        def look(arguments, ctx):
            if not isinstance(arguments, dict):
                return {"error": {"code": "invalid_argument", "found": arguments}}
            return _look(arguments, ctx)
        """
    probe = case("x", arguments=["B-1"], expect={"error_code": "invalid_argument"})
    assert failures(write(tmp_path / "pack", also=body, cases=more(probe)), "5") == []


@pytest.mark.parametrize("in_state", ["true", "false"])
def test_an_argument_that_is_a_reserved_row_is_told_with_what_was_not_found(
    tmp_path: Path, in_state: str
) -> None:
    """It explains a failure; where rows are kept from the oracle it says what to do."""
    also = look("return {'error': {'code': 'box_not_found'}}")
    probe = case("x", arguments={"box_id": "X", "near": ["B-1", "B-2"]}, expect={"result_class": "success"})
    root = write(
        tmp_path / "pack",
        also=also,
        cases=more(probe),
        manifest={"held_out": "held_out.yaml"},
        files={"held_out.yaml": HELD_OUT % in_state},
    )
    (failure,) = failures(root, "5")
    assert failure.facts["held_out_fixture_arguments"] == [
        {"argument": "near[1]", "value": "B-2", "collection": "boxes", "fixture_ref": '["boxes","B-2"]'}
    ]
    told = "`near[1]` names a reserved row of `boxes`, which the oracle is not given: probe another."
    assert failure.mend == (told if in_state == "false" else None)


def test_a_reserved_row_is_no_failure_by_itself(tmp_path: Path) -> None:
    """A probe may ask for it, and expect that it is not found."""
    root = write(
        tmp_path / "pack",
        cases=more(case("x", box="B-2")),
        manifest={"held_out": "held_out.yaml"},
        files={"held_out.yaml": HELD_OUT % "true"},
    )
    assert failures(root, "5") == []


def test_every_reason_is_tested_here() -> None:
    """None is left without a test."""
    assert set(CHECK.reasons) == {*SMALLEST, "validation_cases_empty", "blocked_by"}
    assert (CHECK.id, CHECK.name) == ("5", "declared_validation_cases")


def test_the_good_pack_passes(tmp_path: Path) -> None:
    """Nothing is reported, of the catalog without marks as well."""
    assert failures(write(tmp_path / "pack"), "5") == []
    assert (
        failures(write(tmp_path / "plain", tools=[{**tool, "x-mutates": False} for tool in TOOLS]), "5") == []
    )
