from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from example_episodes import InProcess
from example_packs import ROOT, ExamplePack
from small_tasks import Handmade, Made, Recorded, call, made, read, reply

from averment.errors import PackError
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.oracles import Context, OracleError, Trouble
from averment.oracle.tasks.argument_tree import FromResult
from averment.oracle.tasks.dependent import (
    REASONS,
    NotDerivedError,
    calls_as_bound,
    derive,
    nothing_derived,
    value_at,
)
from averment.oracle.tasks.expansion import expand
from averment.oracle.tasks.plan import plan
from averment.oracle.tasks.trace import GoldCall, call_script
from averment.oracle.tasks.trace_faults import FAULTS, TraceError
from averment.oracle.worker.backend import BackendOracle, Workers
from averment.oracle.worker.nursery import Nursery

ROWS: dict[str, Any] = {"rows": [{"id": "R-1"}, {"id": "R-2", "n": None}], "first": {"0": "zero"}, "n": 0}


def dependent(handmade: Handmade, path: str = "rows.0.id", **fields: Any) -> Made:
    """A call and one that reads its result."""
    milestones = [call(id="search"), call("take", {"book": read("search", path)})]
    return made(handmade, *milestones, turn_policy="dependent_call", **fields)


def at(path: str, result: Any = ROWS) -> Any:
    return value_at(
        result, FromResult("search", tuple(path.split(".")), ("assistant_milestones", 1, "args", "a"))
    )


def test_a_call_is_made_when_it_is_known(handmade: Handmade) -> None:
    """One episode, reset once: the result of the first call is an argument of the second."""
    of, episode = dependent(handmade), Recorded({"rows": [{"id": "R-9"}]}, {"status": "taken"})
    found = derive(of.script, of.task(), episode)
    assert episode.done == [("reset",), ("look", {}, 0), ("take", {"book": "R-9"}, 1)]
    assert found.calls == [GoldCall(0, 0, 0, "look", {}), GoldCall(1, 1, 0, "take", {"book": "R-9"})]
    assert found.results == [{"rows": [{"id": "R-9"}]}, {"status": "taken"}]


def test_calls_can_be_bound_without_an_oracle(handmade: Handmade) -> None:
    """Whoever has results sends them."""
    of = dependent(handmade)
    pending = calls_as_bound(of.script, of.task())
    assert next(pending).function_name == "look"
    assert pending.send(ROWS).arguments == {"book": "R-1"}
    with pytest.raises(StopIteration):
        pending.send({})


def test_a_marker_beats_a_slot_of_the_same_name(handmade: Handmade) -> None:
    """Also where the slot would have filled the parameter."""
    of = dependent(handmade, slots={"book": "SLOT"})
    assert derive(of.script, of.task(), Recorded(ROWS, {})).calls[1].arguments == {"book": "R-1"}


def test_any_call_of_a_batch_may_be_read_and_by_several(handmade: Handmade) -> None:
    """A batch is issued whole; what it returned is known from the next one on."""
    of = made(
        handmade,
        call(id="a", call_group=1),
        call(id="b", call_group=1),
        call("take", {"x": [read("b", "n")], "y": {"z": read("a", "n")}}),
        call("take", {"x": read("a", "n")}),
        turn_policy="dependent_call",
    )
    found = derive(of.script, of.task(), Recorded({"n": 1}, {"n": 2}, {}, {}))
    assert [each.arguments for each in found.calls[2:]] == [{"x": [2], "y": {"z": 1}}, {"x": 1}]


def test_slots_and_results_stand_beside_each_other(handmade: Handmade) -> None:
    """With the values that are in force; the turn that answers does not matter to the marker."""
    of = made(
        handmade,
        call(id="search", args={"shelf": "{shelf}"}),
        {"type": "ask_confirm"},
        call("take", {"book": read("search", "id"), "shelf": "{shelf}"}),
        slots={"shelf": "A"},
        user_simulator_turns=[reply("ask_confirm")],
        turn_policy="dependent_call",
    )
    found = derive(of.script, of.task(), Recorded({"id": 5}, {}))
    assert [(each.turn_index, each.arguments) for each in found.calls] == [
        (0, {"shelf": "A"}),
        (2, {"book": 5, "shelf": "A"}),
    ]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("n", 0),
        ("rows.0.id", "R-1"),
        ("rows.-1.id", "R-2"),
        ("rows.-2.id", "R-1"),
        ("rows.1.n", None),
        ("rows.00.id", "R-1"),
        ("first.0", "zero"),
    ],
)
def test_a_path_leads_through_keys_and_indexes_to_a_scalar(path: str, value: Any) -> None:
    """Indexes may count from the end; a key of digits is a key; null is a scalar."""
    assert at(path) == value


@pytest.mark.parametrize(
    ("path", "code", "says"),
    [
        ("row", "result_field_missing", "the result of `search` has no `row`"),
        ("rows.0.name", "result_field_missing", "`rows.0` of the result of `search` has no `name`"),
        ("rows.1.n.x", "result_field_missing", "`rows.1.n` of the result of `search` is null and has no `x`"),
        ("n.x", "result_field_missing", "is 0 and has no `x`"),
        ("first.-1", "result_field_missing", "has no `-1`"),
        ("rows..id", "invalid_result_path", "`rows` of the result of `search` is a list, and `` is no index"),
        ("rows.2.id", "result_index_out_of_range", "has 2 items, and none at 2"),
        ("rows.-3.id", "result_index_out_of_range", "has 2 items, and none at -3"),
        ("rows." + "9" * 5000, "result_index_out_of_range", "has 2 items, and none at 9"),
        ("rows", "result_not_scalar", "`rows` of the result of `search` is a list"),
        ("rows.0", "result_not_scalar", "`rows.0` of the result of `search` is an object"),
        ("rows.first.id", "invalid_result_path", "is a list, and `first` is no index"),
        ("rows.1_0.id", "invalid_result_path", "is a list, and `1_0` is no index"),
        ("rows.٣.id", "invalid_result_path", "is a list, and `٣` is no index"),
    ],
)
def test_a_path_that_leads_nowhere_drops_the_task_or_stops_the_run(path: str, code: str, says: str) -> None:
    """What other values may mend drops one task; an index that is none is the template's fault."""
    expected = TraceError if code in FAULTS else NotDerivedError
    with pytest.raises(expected) as caught:
        at(path)
    error: Exception = caught.value
    if isinstance(error, NotDerivedError):
        assert error.code == code
        assert error.facts == {
            "call": "search",
            "path": path,
            "place": ["assistant_milestones", 1, "args", "a"],
        }
    else:
        assert isinstance(error, TraceError)
        (mistake,) = error.mistakes
        assert mistake.code == code
        assert mistake.path == ("assistant_milestones", 1, "args", "a", "from_result", "path")
    assert says in str(error)
    assert len(str(error)) < 500


@pytest.mark.parametrize("error", [{"code": "not_found"}, "no", None])
def test_a_result_that_contains_an_error_is_not_read(error: Any) -> None:
    """Whatever else it contains, and whatever kind of error."""
    with pytest.raises(NotDerivedError, match="contains an error") as caught:
        at("n", {"error": error, "n": 1})
    assert caught.value.code == "producer_error"


def test_an_error_that_nobody_reads_drops_nothing(handmade: Handmade) -> None:
    """Only the producer has to have worked; that other gold calls work is another rule."""
    of = dependent(handmade)
    assert derive(of.script, of.task(), Recorded(ROWS, {"error": {"code": "x"}})).results[1]["error"]


def test_a_list_as_a_result_is_walked_too() -> None:
    """A result is any JSON."""
    assert at("0.id", [{"id": 1}]) == 1
    with pytest.raises(NotDerivedError, match="the result of `search` has 0 items, and none at 0"):
        at("0", [])


@pytest.mark.parametrize("trouble", ["raised", "timeout", "died", "result_too_large", "result_not_json"])
def test_a_call_without_an_answer_drops_the_task(handmade: Handmade, trouble: Trouble) -> None:
    """Other values of the slots may fare better."""
    of = dependent(handmade)
    with pytest.raises(NotDerivedError, match="the call of `look` got no answer: it broke") as caught:
        derive(of.script, of.task(), Recorded(OracleError(trouble, "call_tool", "it broke")))
    assert caught.value.code == "call_failed"
    assert caught.value.facts == {"trouble": trouble}


@pytest.mark.parametrize("trouble", ["load_failed", "unreachable", "identity_mismatch"])
def test_an_oracle_that_can_not_be_used_stops_the_run(handmade: Handmade, trouble: Trouble) -> None:
    """No task would fare better."""
    of = dependent(handmade)
    with pytest.raises(OracleError):
        derive(of.script, of.task(), Recorded(OracleError(trouble, "call_tool", "gone")))


def test_a_template_all_of_whose_tasks_are_dropped_stops_the_run(handmade: Handmade) -> None:
    """The refusal counts the reasons, shows the first, and points at the argument."""
    of = dependent(handmade)
    dropped = []
    results: list[dict[str, Any]] = [{"rows": []}, {"rows": []}, {}]
    for result in results:
        with pytest.raises(NotDerivedError) as caught:
            derive(of.script, of.task(), Recorded(result))
        dropped.append(caught.value)
    refusal = nothing_derived(dropped).refusal(of.pack, of.template)
    assert isinstance(refusal, PackError)
    (problem,) = refusal.problems
    assert problem.code == "no_trace_derived"
    assert problem.path == "$[0].assistant_milestones[1].args.book"
    assert "3 dropped, 1 by `result_field_missing`, 2 by `result_index_out_of_range`" in problem.message
    assert dropped[0].message in problem.message
    assert problem.mend == FAULTS["no_trace_derived"].mend


def test_a_template_whose_calls_all_fail_has_a_place_too() -> None:
    """That of its milestones."""
    error = nothing_derived([NotDerivedError("call_failed", "it broke", trouble="raised")])
    assert error.mistakes[0].path == ("assistant_milestones",)


def test_a_worker_answers_as_the_backend_does_in_this_process() -> None:
    """One worker makes all calls of a task; what they come to is the same."""
    name = "bilingual_clinic"
    pack, example = load_pack(ROOT / name, strict=True), ExamplePack(name)
    template = next(each for each in pack.templates if each.template_id == "clinic_refill_first_listed")
    planned = plan(template)
    of = call_script(template, planned, pack.tools)
    (task, *_) = expand(template, planned, pack, limit=1)
    fixtures = json.dumps(example.fixtures(with_held_out=False))
    with Nursery(pack.root, fixtures=fixtures) as nursery:
        oracle = BackendOracle(Workers(nursery, Options()), pack.files["backend"])
        with oracle.episode(Context(task_id=task.task_id, seed=task.seed)) as episode:
            found = derive(of, task, episode)
    assert found == derive(of, task, InProcess(example))
    listed = found.results[0]["prescriptions"][0]["prescription_id"]
    assert found.calls[1].arguments["prescription_id"] == listed


def test_every_reason_is_explained_and_tested() -> None:
    """In sentences; each code stands in a test of this file."""
    text = Path(__file__).read_text(encoding="utf-8")
    for code, reason in REASONS.items():
        assert reason.about.endswith(".")
        assert reason.mend.endswith(".")
        assert f'"{code}"' in text
