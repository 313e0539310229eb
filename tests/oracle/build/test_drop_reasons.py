"""One build of one pack, in which every reason drops a task: each template is the smallest that earns its reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from small_builds import lines
from small_packs import BACKEND, FIXTURES, TOOLS, write

from averment.oracle.build.building import Built, build
from averment.oracle.build.schemas import build_schema
from averment.oracle.gold.reasons import REASONS, STAGES
from averment.oracle.model.options import Options

BOTH = 'literal:["B-1", "B-2"]'


def template(name: str, *milestones: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A template with one task whose user names a box, and one call that looks into it."""
    said = more.pop("user_turn_templates", {"en": "What is in {box_id}?"})
    return {
        "template_id": name,
        "category": name,
        "turn_policy": "single_turn",
        "required_tools": ["look"],
        "slots": {"box_id": {"source": 'literal:["B-1"]', "visible_in_first_turn": True}},
        "user_turn_templates": said,
        "assistant_milestones": [*(milestones or (LOOK,)), {"type": "final_answer"}],
        "success_assertions": ["assert_looked"],
        **more,
    }


LOOK = {"type": "tool_call", "tool": "look"}
FIRST = {**LOOK, "id": "first"}
READ = {**LOOK, "args": {"box_id": {"from_result": {"call": "first", "path": "next"}}}}

SMALLEST = {
    # What the user says lacks the value that the call needs.
    "surface_guard_violation": template("guarded", user_turn_templates={"en": "What is in it?"}),
    # Of two boxes, one leads on to another; the template is kept, the task of the other is dropped.
    "trace_not_derived": template(
        "derived",
        FIRST,
        READ,
        turn_policy="dependent_call",
        slots={"box_id": {"source": BOTH, "visible_in_first_turn": True}},
        success_assertions=["assert_looked_twice"],
    ),
    # The schema wants a text.
    "expected_trace_schema_mismatch": template("mistyped", {**LOOK, "args": {"box_id": 7}}),
    # Nobody says which box.
    "gold_not_realizable": template(
        "guessed", {**LOOK, "args": {"box_id": "B-2"}}, success_assertions=["assert_called"]
    ),
    # There is no such box, and the template does not say that there is none.
    "gold_call_errs": template(
        "refused", slots={"box_id": {"source": 'literal:["B-0"]', "visible_in_first_turn": True}}
    ),
    # The backend raises.
    "executable_replay_failed": template(
        "raising", slots={"box_id": {"source": 'literal:["raise"]', "visible_in_first_turn": True}}
    ),
    # The backend reads the clock.
    "nondeterministic_replay": template(
        "reading", slots={"box_id": {"source": 'literal:["now"]', "visible_in_first_turn": True}}
    ),
    "assertion_failed": template("failing", success_assertions=["assert_false"]),
    "assertion_not_applicable_on_gold": template("elsewhere", success_assertions=["assert_elsewhere"]),
    # It asks for a call, and passes without one.
    "trivially_passable": template("lax", success_assertions=["assert_true"]),
}
ASSERTIONS = """\
def assert_looked(*, state, trace, task, ctx):
    assert [call["arguments"] for call in trace] == [{"box_id": task["slots"]["box_id"]}]


def assert_looked_twice(*, state, trace, task, ctx):
    assert [call["arguments"]["box_id"] for call in trace] == ["B-1", "B-2"]


def assert_called(*, state, trace, task, ctx):
    assert trace


def assert_false(*, state, trace, task, ctx):
    assert not trace, "looked"


def assert_elsewhere(*, state, trace, task, ctx):
    return {"status": "not_applicable", "detail": "no put"}


def assert_true(*, state, trace, task, ctx):
    assert state
"""
LOOKED = """\
import time


def look(arguments, ctx):
    if arguments.get("box_id") == "raise":
        raise OSError("the shelf fell")
    if arguments.get("box_id") == "now":
        return {"year": time.gmtime().tm_year}
    return find(arguments) or {"error": {"code": "not_found"}}
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drops") / "out"


@pytest.fixture(scope="module")
def built(out: Path) -> Built:
    """The build of all of them, and of one template that is as it should be."""
    fixtures = {"boxes": [{"box_id": "B-1", "next": "B-2"}, {"box_id": "B-2", "item": "screw"}]}
    pack = write(
        out.parent / "pack",
        backend=BACKEND,
        also=LOOKED,
        fixtures={**FIXTURES, **fixtures},
        tools=TOOLS,
        templates=[template("good"), *SMALLEST.values()],
        assertions=ASSERTIONS,
    )
    return build(pack, out, Options(tasks_per_category=2), allow="silver")


def test_every_reason_has_its_example() -> None:
    """A reason without one could be misspelled for ever."""
    assert SMALLEST.keys() == REASONS.keys()


@pytest.mark.parametrize("reason", SMALLEST)
def test_a_task_is_dropped_for_its_reason(built: Built, out: Path, reason: str) -> None:
    """Its row tells the stage, the reason and what to do, in words and for programs, and where the template stands."""
    name = SMALLEST[reason]["template_id"]
    (row,) = [row for row in lines(out, "dropped.jsonl") if row["template_id"] == name]
    assert (row["reason"], row["stage"]) == (reason, STAGES[reason])
    assert row["detail"]
    assert row["mend"] == REASONS[reason].mend
    assert (row["file"], row["user_turns"] != []) == ("task_templates.yaml", True)
    written = (out.parent / "pack" / "task_templates.yaml").read_text("utf-8").splitlines()
    assert written[row["line"] - 1].strip() == f'"template_id": "{name}",'
    assert built.manifest.drops[reason].by_template == {name: 1}


def test_every_row_fits_its_schema(built: Built, out: Path) -> None:
    """The published one, closed."""
    assert not built.was_complete
    validator = jsonschema.Draft202012Validator(build_schema("pack-dropped-row"))
    for row in lines(out, "dropped.jsonl"):
        validator.validate(row)
        assert not validator.is_valid({**row, "extra": 1})
    for row in lines(out):
        jsonschema.Draft202012Validator(build_schema("pack-row")).validate(row)


def test_what_is_left_is_gold_but_for_its_tier(built: Built, out: Path) -> None:
    """The rest of the tasks are rows, and say that the pack was silver when it was built."""
    rows = lines(out)
    assert sorted(row["template_id"] for row in rows) == ["derived", "good"]
    assert {(row["tier"], row["gold_eligible"]) for row in rows} == {("silver", False)}
    assert any(reason.startswith("7 ") for reason in built.manifest.gold_ineligibility_reasons)


def test_the_counts_are_those_of_the_stages(built: Built) -> None:
    """Each stage has what the one before it left."""
    counts = built.manifest.stage_counts
    assert counts.expanded == 12
    assert counts.surface_passed == 11
    assert counts.trace_derived == 10
    assert counts.schema_passed == 8
    assert counts.replay_passed == counts.published == 2


@pytest.mark.parametrize(
    ("reason", "facts"),
    [
        ("surface_guard_violation", {"guard": "must_preserve", "slot": "box_id"}),
        ("trace_not_derived", {"reason": "result_field_missing", "call": "first", "path": "next"}),
        ("executable_replay_failed", {"trouble": "raised", "op": "call_tool", "error_type": "OSError"}),
        ("nondeterministic_replay", {"what": "results", "differs_at": "$[0].year"}),
    ],
)
def test_particulars_are_for_programs(built: Built, out: Path, reason: str, facts: dict[str, Any]) -> None:
    """Which guard, which call, which trouble, where it differs."""
    assert built.manifest.drops
    (row,) = [row for row in lines(out, "dropped.jsonl") if row["reason"] == reason]
    (found,) = row["failures"]
    assert {name: found[name] for name in facts} == facts


def test_a_replayed_task_keeps_its_results_and_what_the_assertions_said(built: Built, out: Path) -> None:
    """What there was to see before it was dropped, is there to see."""
    assert built.manifest.drops
    (row,) = [row for row in lines(out, "dropped.jsonl") if row["reason"] == "assertion_failed"]
    assert [call["arguments"] for call in row["expected_tool_calls"]] == [{"box_id": '"B-1"'}]
    assert row["tool_results"] == ['{"box_id":"B-1","next":"B-2"}']
    assert row["assertions"] == [{"name": "assert_false", "status": "failed", "detail": "looked"}]
