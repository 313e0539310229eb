from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_packs import ASSERTIONS, TEMPLATES, bench, failures, write

from averment.oracle.certify import check
from averment.oracle.checks.base import NotRunError
from averment.oracle.checks.representative_generation import REASONS, WARNINGS, vacuous_assertions
from averment.oracle.findings import Failure, Row
from averment.oracle.gold.making import Made
from averment.oracle.gold.reasons import REASONS as DROPS
from averment.oracle.replay.twice import REASONS as REPLAYS

TEMPLATE: dict[str, Any] = {**TEMPLATES[0], "category": "boxes"}
CALL = {"type": "tool_call", "tool": "look"}
CONSTANT: dict[str, Any] = {
    "slots": {},
    "user_turn_templates": {"en": "What is in the first box?"},
    "assistant_milestones": [{**CALL, "args": {"box_id": "B-1"}}, {"type": "final_answer"}],
}
DEPENDENT: dict[str, Any] = {
    "turn_policy": "dependent_call",
    "required_tools": ["look"],
    "assistant_milestones": [
        {**CALL, "id": "first"},
        {**CALL, "args": {"box_id": {"from_result": {"call": "first", "path": "next"}}}},
        {"type": "final_answer"},
    ],
}
LINKED = {"boxes": [{"box_id": "B-1", "next": "B-2"}, {"box_id": "B-2", "next": "B-1"}]}
FOLLOWED = """\
def assert_looked(*, state, trace, task, ctx):
    first, second = (call["result"] for call in trace)
    assert first["next"] == second["box_id"]
"""


def template(name: str = "look_up", **changes: Any) -> dict[str, Any]:
    return {**TEMPLATE, "template_id": name, **changes}


def predicate(body: str) -> str:
    return f"import time\n\n\ndef assert_looked(*, state, trace, task, ctx):\n    {body}\n"


def held_out(rows: list[str], *, seen: bool, templates: list[str] | None = None) -> dict[str, Any]:
    """What `write` is given, so that rows and templates are held out."""
    policy = f"{{fixtures_in_backend_state: {str(seen).lower()}}}"
    text = f"version: '1'\nfixtures: {{boxes: {rows}}}\ntemplates: {templates or []}\npolicy: {policy}\n"
    return {"manifest": {"held_out": "held_out.yaml"}, "files": {"held_out.yaml": text}}


def the_one(root: Path, **options: Any) -> Failure:
    """The only failure; it says enough, and what to do."""
    (failure,) = failures(root, "7", **options)
    assert failure.message
    assert not failure.message.endswith(".")
    assert failure.mend
    assert (failure.file is None) == (failure.line is None)
    return failure


def test_a_task_of_each_template_that_is_gold_is_no_failure(tmp_path: Path) -> None:
    """The smallest pack; and one without templates, of which no task can be wrong."""
    assert failures(write(tmp_path / "pack"), "7") == []
    assert failures(write(tmp_path / "none", templates=[]), "7") == []


@pytest.mark.parametrize(
    ("change", "options", "code", "file"),
    [
        (
            {"templates": [template("a"), template("b")]},
            {"tasks_per_category": 1},
            "budget_too_small",
            "task_templates.yaml",
        ),
        ({"manifest": {"assistant_turn_templates": {}}}, {}, "missing_text", "task_templates.yaml"),
        ({}, {"language": "vi"}, "language_not_available", None),
        (
            {"templates": [template(user_turn_templates={"en": "What is in {box}?"})]},
            {},
            "unknown_placeholder",
            "task_templates.yaml",
        ),
        (
            {
                "fixtures": {"boxes": [{"box_id": " ", "item": "nail"}]},
                "templates": [template(user_turn_templates={"en": "{box_id}"})],
            },
            {},
            "blank_turn",
            "task_templates.yaml",
        ),
    ],
    ids=["budget", "text", "language", "placeholder", "turn"],
)
def test_what_stops_a_build_stops_the_check(
    tmp_path: Path, change: dict[str, Any], options: dict[str, Any], code: str, file: str | None
) -> None:
    """`run_contract_failed`, with the code and the place that the build would tell."""
    failure = the_one(write(tmp_path / "pack", **change), **options)
    assert (failure.reason, failure.facts["code"], failure.file) == ("run_contract_failed", code, file)


def test_every_fault_that_stops_a_build_is_told_at_once(tmp_path: Path) -> None:
    """Of every template, each at its place."""
    argument = {**CALL, "args": {"box_id": "{other}"}}
    faulty = [template(name, assistant_milestones=[argument, {"type": "final_answer"}]) for name in "ab"]
    found = failures(write(tmp_path / "pack", templates=faulty), "7")
    assert [failure.facts["code"] for failure in found] == ["unknown_placeholder"] * 2
    assert [failure.path for failure in found] == [
        "$[0].assistant_milestones[0].args.box_id",
        "$[1].assistant_milestones[0].args.box_id",
    ]


@pytest.mark.parametrize(
    ("change", "reason", "particular"),
    [
        (
            {"templates": [template(user_turn_templates={"en": "What is in it?"})]},
            "surface_guard_violation",
            {"guard": "must_preserve", "slot": "box_id"},
        ),
        (
            {"templates": [template(assistant_milestones=[{**CALL, "args": {"box_id": 5}}, CALL])]},
            "expected_trace_schema_mismatch",
            {"reason": "argument_type_mismatch", "call": 0, "argument": "box_id"},
        ),
        (
            {"also": "def look(arguments, ctx):\n    print('looking')\n    raise ValueError('broken')"},
            "executable_replay_failed",
            {"trouble": "raised", "op": "call_tool", "error_type": "ValueError", "file": "backend.py"},
        ),
        (
            {"assertions": predicate("raise SystemExit")},
            "executable_replay_failed",
            {"trouble": "raised", "op": "run_assertion"},
        ),
        (
            {"also": "import time\n\ndef look(arguments, ctx):\n    return {**find(arguments), 'at': time.time()}"},
            "nondeterministic_replay",
            {"what": "results", "differs_at": "$[0].at"},
        ),
        (
            {"also": "import time\n\ndef look(arguments, ctx):\n    state['at'] = time.time()\n    return find(arguments)"},
            "nondeterministic_replay",
            {"what": "state", "differs_at": "$.at"},
        ),
        (
            {"assertions": predicate("assert False, time.time()")},
            "nondeterministic_replay",
            {"what": "assertions", "differs_at": "$[0].detail"},
        ),
        (
            {"assertions": predicate("assert False, 'never'")},
            "assertion_failed",
            {"name": "assert_looked", "status": "failed", "detail": "never", "line": 5},
        ),
        (
            {"assertions": predicate("return True")},
            "assertion_failed",
            {"name": "assert_looked", "status": "infrastructure_error"},
        ),
        (
            {"assertions": predicate("return {'status': 'not_applicable', 'detail': 'no put'}")},
            "assertion_not_applicable_on_gold",
            {"status": "not_applicable", "detail": "no put"},
        ),
        ({"templates": [template(**DEPENDENT)]}, "trace_not_derived", {"reason": "result_field_missing"}),
        (
            {"templates": [template(**CONSTANT)], "assertions": predicate("assert len(trace) == 1 and trace[0]['arguments']['box_id'] == 'B-1'")},
            "gold_not_realizable",
            {"call": 0, "argument": "box_id"},
        ),
        (
            {
                "templates": [template(slots={"box_id": {"source": "literal:B-9", "visible_in_first_turn": True}})],
                "assertions": predicate("assert trace[0]['result']['error']"),
            },
            "gold_call_errs",
            {"call": 0},
        ),
        ({"assertions": predicate("pass")}, "trivially_passable", {"agent": "an agent that makes no call"}),
        (
            {"assertions": predicate("assert trace")},
            "trivially_passable",
            {"agent": "an agent that calls every tool once"},
        ),
    ],
)  # fmt: skip
def test_why_a_task_is_dropped_is_why_the_template_fails(
    tmp_path: Path, change: dict[str, Any], reason: str, particular: dict[str, Any]
) -> None:
    """Under the contract's reason, with the build's own; and its mend, place and particulars."""
    root = write(tmp_path / "pack", **change)
    failure = the_one(root)
    expected = {
        "surface_guard_violation": "representative_surface_guard_violation",
        "expected_trace_schema_mismatch": "representative_trace_schema_mismatch",
        **dict.fromkeys(REPLAYS, "representative_replay_failed"),
    }.get(reason, "representative_generation_failed")
    assert failure.reason == expected
    which = {
        "representative_replay_failed": {"replay_reason": reason},
        "representative_generation_failed": {"drop_reason": reason},
    }.get(expected, {})
    assert {name: each for name, each in failure.facts.items() if name.endswith("_reason")} == which
    assert failure.facts["template_id"] == "look_up"
    assert failure.facts["task_id"].startswith("boxes__look_up__")
    assert failure.message.startswith("the task of `look_up`: ")
    assert failure.mend == DROPS[reason].mend
    (first, *_) = failure.facts["particulars"]
    assert {**first, **particular} == first
    if first.get("file") is None:
        assert (failure.file, failure.path) == ("task_templates.yaml", "$[0]")


def test_where_the_backend_raised_is_the_place(tmp_path: Path) -> None:
    """With what it printed and who called whom."""
    also = "def look(arguments, ctx):\n    print('looking')\n    raise ValueError('broken')"
    root = write(tmp_path / "pack", also=also)
    failure = the_one(root)
    assert failure.file == "backend.py"
    assert failure.line is not None
    assert "raise ValueError" in (root / "backend.py").read_text().splitlines()[failure.line - 1]
    assert (failure.output or "").strip() == "looking"
    assert "ValueError: broken" in (failure.traceback or "")
    assert "ValueError: broken" in failure.message


@pytest.mark.parametrize(
    ("change", "suspects"),
    [
        (
            {"also": "import time\n\ndef look(arguments, ctx):\n    return {**find(arguments), 'at': time.time()}"},
            ["backend.py:45: time.time"],
        ),
        ({"assertions": predicate("assert False, time.time()")}, ["assertions.py:5: time.time"]),
    ],
)  # fmt: skip
def test_what_reads_the_world_is_named_with_what_diverged(
    tmp_path: Path, change: dict[str, Any], suspects: list[str]
) -> None:
    """In the backend for what the oracle says, in the assertions for what they say."""
    assert the_one(write(tmp_path / "pack", **change)).facts["suspects"] == suspects


def test_an_oracle_that_can_t_be_used_is_told_of_each_template(tmp_path: Path) -> None:
    """Where check 3 was not asked, which would have told it first."""
    root = write(tmp_path / "pack", backend="1 / 0\n", templates=[template("a"), template("b")])
    found = failures(root, "7")
    assert [failure.reason for failure in found] == ["representative_generation_failed"] * 2
    assert [(failure.facts["template_id"], failure.facts["op"]) for failure in found] == [
        ("a", "import"),
        ("b", "import"),
    ]
    assert all(failure.message.endswith("ZeroDivisionError: division by zero") for failure in found)
    assert {(failure.file, failure.line) for failure in found} == {("backend.py", 1)}


@pytest.mark.parametrize("name", ["1", "2", "3"])
@pytest.mark.parametrize("status", ["fail", "skipped"])
def test_without_plans_sources_and_tools_no_task_is_made(tmp_path: Path, name: str, status: Any) -> None:
    """The row says which check is in the way; check 4 is not."""
    with bench(write(tmp_path / "pack")) as made:
        made.rows |= {"4": Row("4", "x", "fail"), name: Row(name, "x", status)}
        with pytest.raises(NotRunError, match=f"check {name} did not pass"):
            list(check("7").run(made))


def test_templates_fail_each_for_itself_in_their_order(tmp_path: Path) -> None:
    """The others' tasks are made all the same."""
    silent = template("b", user_turn_templates={"en": "What is in it?"})
    broken = [template("a"), silent, template("c"), template("d", **CONSTANT)]
    found = failures(
        write(tmp_path / "pack", templates=broken, assertions=predicate("assert len(trace) == 1")), "7"
    )
    assert [failure.facts["template_id"] for failure in found] == ["b", "d"]


def test_a_template_that_is_held_out_is_sampled_too(tmp_path: Path) -> None:
    """No published task is made of it, and it has to be right nevertheless."""
    wrong = template("kept", user_turn_templates={"en": "What is in it?"})
    kept = held_out([], seen=True, templates=["kept"])
    failure = the_one(write(tmp_path / "pack", templates=[TEMPLATE, wrong], **kept))
    assert failure.facts["template_id"] == "kept"


def test_rows_that_are_held_out_are_used_where_the_oracle_has_them(tmp_path: Path) -> None:
    """Elsewhere no task could come to anything with them."""
    slot = {"source": "fixture:boxes.box_id", "filter": "box_id == 'B-1'", "visible_in_first_turn": True}
    templates = [TEMPLATE, template("kept", slots={"box_id": slot})]
    seen = held_out(["B-1"], seen=True, templates=["kept"])
    assert failures(write(tmp_path / "seen", templates=templates, **seen), "7") == []
    hidden = held_out(["B-1"], seen=False, templates=["kept"])
    failure = the_one(write(tmp_path / "hidden", templates=templates, **hidden))
    assert (failure.reason, failure.facts) == (
        "run_contract_failed",
        {"template_id": "kept", "code": "rows_reserved"},
    )


def test_a_template_whose_rows_are_held_out_in_part_has_the_others(tmp_path: Path) -> None:
    """So its task is about a row that the oracle has."""
    with bench(write(tmp_path / "pack", **held_out(["B-1"], seen=False))) as made:
        ((_, sample),) = made.samples
        assert isinstance(sample, Made)
        assert (sample.drop, sample.task.slots) == (None, {"box_id": "B-2"})


def test_both_attempts_have_the_context_of_the_task(tmp_path: Path) -> None:
    """Its id, its own seed, the clock of the run, and the turn of the call."""
    also = """
        def look(arguments, ctx):
            said = [ctx.task_id, ctx.seed, ctx.clock.isoformat(), ctx.timeout_s, ctx.turn_index]
            return {**find(arguments), "said": said}
        """
    with bench(write(tmp_path / "pack", also=also), clock="2027-05-06T07:08:09+01:00") as made:
        ((_, sample),) = made.samples
        assert isinstance(sample, Made)
        assert sample.drop is None
        assert sample.attempt is not None
        task = sample.task
        expected = [task.task_id, task.seed, "2027-05-06T07:08:09+01:00", made.options.tool_timeout_s, 0]
        assert sample.attempt.results[0]["said"] == expected


def test_assertions_are_run_without_the_backend(tmp_path: Path) -> None:
    """In workers of their own, in the order of the template."""
    assertions = (
        "import sys\n\n\n"
        "def assert_alone(*, state, trace, task, ctx):\n"
        "    assert not [name for name, each in list(sys.modules.items()) if hasattr(each, 'call_tool')]\n\n\n"
        + ASSERTIONS
    )
    names = ["assert_looked", "assert_alone"]
    root = write(tmp_path / "pack", assertions=assertions, templates=[template(success_assertions=names)])
    with bench(root) as made:
        ((_, sample),) = made.samples
        assert isinstance(sample, Made)
        assert sample.drop is None
        assert sample.attempt is not None
        assert [verdict["name"] for verdict in sample.attempt.verdicts] == names


def test_calls_that_read_earlier_results_are_made_and_replayed(tmp_path: Path) -> None:
    """A template of dependent calls is gold like any other."""
    root = write(tmp_path / "pack", fixtures=LINKED, templates=[template(**DEPENDENT)], assertions=FOLLOWED)
    with bench(root) as made:
        assert list(check("7").run(made)) == []
        ((_, sample),) = made.samples
        assert isinstance(sample, Made)
        first, second = (call.arguments["box_id"] for call in sample.calls)
        assert {first, second} == {"B-1", "B-2"}


def test_an_assertion_that_no_mutant_fails_is_warned_of_and_is_no_failure(tmp_path: Path) -> None:
    """With its file and its line; those that another one keeps company are not."""
    assertions = ASSERTIONS + "\n\ndef assert_fine(*, state, trace, task, ctx):\n    assert True\n"
    names = ["assert_looked", "assert_fine"]
    root = write(tmp_path / "pack", assertions=assertions, templates=[template(success_assertions=names)])
    with bench(root) as made:
        row = check("7")
        found = list(row.run(made))
        made.rows["7"] = Row("7", row.name, "pass")
        (warning,) = vacuous_assertions(made)
    assert found == []
    assert (warning.code, warning.severity) == ("vacuous_assertion", "warning")
    assert (warning.file, warning.line) == ("assertions.py", 5)
    assert warning.mend == WARNINGS["vacuous_assertion"].mend
    total = sum(of for _, of in made.kill_table["assert_fine"].by_kind.values())
    assert warning.message == f"`assert_fine` passes all of {total} mutants of the tasks that name it"
    assert list(made.kill_table) == ["assert_fine", "assert_looked"]


def test_an_assertion_that_dies_on_a_mutant_takes_nothing_with_it(tmp_path: Path) -> None:
    """Neither the check nor the tables of other templates; of its own task nothing is known."""
    assertions = ASSERTIONS + (
        "\n\ndef assert_leaving(*, state, trace, task, ctx):\n"
        "    if len(trace) != 1:\n        raise SystemExit\n    assert 'error' not in trace[0]['result']\n"
    )
    templates = [template("a", success_assertions=["assert_leaving"]), template("b")]
    with bench(write(tmp_path / "pack", assertions=assertions, templates=templates)) as made:
        row = check("7")
        assert list(row.run(made)) == []
        made.rows["7"] = Row("7", row.name, "pass")
        assert list(made.kill_table) == ["assert_looked"]


def test_there_is_a_reason_for_every_way_to_drop_a_task() -> None:
    """Each has a meaning, and what to do."""
    for reason in (*DROPS.values(), *REASONS.values(), *WARNINGS.values()):
        assert reason.about.endswith(".")
        assert reason.mend.endswith(".")
