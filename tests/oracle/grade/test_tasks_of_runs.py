from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from graded_packs import ASSERTIONS, TEMPLATES, Desk, chat, evidence, grading, rows_of, steps_of, write_desk

from averment.errors import EvidenceError, PackError, Problem
from averment.oracle.gold.making import Maker
from averment.oracle.grade.benchmark import load_benchmark
from averment.oracle.grade.grading import Grader
from averment.oracle.grade.report import GradedRun
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.running import running


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with grading(write_desk(tmp_path_factory.mktemp("desk"))) as made:
        yield made


def problem(error: pytest.ExceptionInfo[PackError]) -> Problem:
    (found,) = error.value.problems
    return found


def record(desk: Desk, template: str = "look_up", **more: Any) -> dict[str, Any]:
    found = desk.row(template)
    return {**chat(found, steps_of(found)), **more}


# Which task.


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("id", "the task"),
        ("metadata", {"task_id": "the task"}),
        ("metadata", {"task_id": "the task", "conversation_id": "other"}),
    ],
)
def test_a_run_says_which_task_it_is_of(desk: Desk, place: str, value: Any) -> None:
    """By its own id, or in its metadata."""
    task_id = desk.row("look_up")["task_id"]
    said = json.loads(json.dumps(value).replace("the task", task_id))
    run = record(desk) | {"id": "run 1", "metadata": {}, place: said}
    graded = desk.grader.grade(evidence(run), label="run")
    assert (graded.task_id, graded.success) == (task_id, "passed")


def test_labels_say_it_too(desk: Desk) -> None:
    """Those of a conversation record; the first of id, metadata and labels that is a task counts."""
    task_id = desk.row("decline")["task_id"]
    run = {
        "conversation_id": "run 1",
        "transcript": [{"role": "user", "text": "Sing."}, {"role": "agent", "text": "No."}],
        "spans": [],
        "metadata": {"task_id": "17"},
        "labels": {"task_id": task_id},
    }
    assert desk.grader.grade(evidence(run, None), label="run").task_id == task_id


def test_a_task_that_is_named_is_the_one(desk: Desk) -> None:
    """Whatever the run says."""
    named = desk.row("look_two")["task_id"]
    graded = desk.grader.grade(evidence(record(desk)), label="run", task_id=named)
    assert (graded.task_id, graded.success) == (named, "failed")


@pytest.mark.parametrize(
    ("metadata", "message", "near"),
    [
        ({}, "the run does not say which task it is of", None),
        ({"task_id": 3}, "the run does not say which task it is of", None),
        ({"task_id": "{}x"}, "there is no task `{}x`", "{}"),
    ],
)
def test_a_run_of_no_task_is_told(desk: Desk, metadata: Any, message: str, near: str | None) -> None:
    """With the nearest id, and where the id may stand; numbers are no ids."""
    task_id = desk.row("look_up")["task_id"]
    said = json.loads(json.dumps(metadata).replace("{}x", f"{task_id}x"))
    with pytest.raises(PackError) as error:
        desk.grader.grade(evidence(record(desk, metadata=said)), label="runs.jsonl [a]")
    found = problem(error)
    assert (found.code, found.file) == ("unknown_task", "runs.jsonl [a]")
    assert found.message == message.replace("{}", task_id)
    assert found.nearest == (None if near is None else task_id)


# Where gold comes from.


def test_gold_is_made_of_the_pack_where_no_benchmark_is_given(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same as the rows of a build, once for all runs of a task, however many ask at once."""
    grader = Grader(desk.at_work)
    made: list[GradedRun] = []
    make, asked = Maker.make, Counter[str]()

    def counted(maker: Maker, task: Any) -> Any:
        asked[task.task_id] += 1
        return make(maker, task)

    monkeypatch.setattr(Maker, "make", counted)
    run = evidence(record(desk, "take_found"))
    threads = [threading.Thread(target=lambda: made.append(grader.grade(run, label="run"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4
    assert list(asked.values()) == [1]
    assert all(graded == desk.grader.grade(run, label="run") for graded in made)


def test_a_task_that_is_dropped_has_no_gold(tmp_path: Path) -> None:
    """Its drop is the reason, and the other tasks are graded."""
    assertions = ASSERTIONS.replace("    assert len(taken) == 1", "    assert len(taken) == 7")
    root = write_desk(tmp_path / "desk", assertions=assertions)
    with running(load_pack(root), Options()) as at_work:
        grader = Grader(at_work)
        (dropped,) = [name for name in grader._tasks.ids if "__take_it__" in name]
        run = evidence({"messages": [{"role": "user", "content": "x"}], "metadata": {"task_id": dropped}})
        for _ in range(2):
            with pytest.raises(PackError) as error:
                grader.grade(run, label="run")
            found = problem(error)
            assert (found.code, found.found) == ("task_not_gold", "assert_taken: 1 are taken")
            assert found.message == f"the task `{dropped}` has no gold: assertion_failed"


def test_a_row_of_another_builder_takes_its_values_from_the_pack(desk: Desk) -> None:
    """The contract's rows have no slots; a task of the same id has the same values."""
    rows = {row["task_id"]: _contract_row(row) for row in desk.rows}
    graded = Grader(desk.at_work, rows).grade(evidence(record(desk)), label="run")
    assert graded == desk.grade("look_up")


def test_values_that_nobody_knows_are_not_guessed(desk: Desk) -> None:
    """An assertion that reads one gives no verdict, one that doesn't is judged as ever (contract, 2.2)."""
    row = {**_contract_row(desk.row("look_up")), "task_id": "elsewhere"}
    other = {**_contract_row(desk.row("decline")), "task_id": "elsewhere 2"}
    grader = Grader(desk.at_work, {row["task_id"]: row, other["task_id"]: other})
    graded = grader.grade(evidence(record(desk)), label="run", task_id="elsewhere")
    (verdict,) = graded.outcome.assertions
    assert verdict.status == "infrastructure_error"
    assert "UnresolvedAssertionBinding" in (verdict.detail or "")
    assert (graded.success, graded.attribution) == ("failed", "infrastructure")
    blind = grader.grade(evidence(record(desk, "decline")), label="run", task_id="elsewhere 2")
    assert (blind.success, blind.outcome.assertions[0].status) == ("passed", "passed")


def _contract_row(row: dict[str, Any]) -> dict[str, Any]:
    ours = {"slots", "slots_initial", "slot_updates", "edge_signatures", "mutates", "seed_hex"}
    ours |= {"has_user_confirmation", "confirmed_call_turns", "schema_version"}
    return {name: value for name, value in row.items() if name not in ours}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"seed": "x", "seed_hex": None}, "invalid_seed"),
        ({"seed": 2**64, "seed_hex": "0x"}, "invalid_seed"),
        ({"seed": True, "seed_hex": None}, "invalid_seed"),
        ({"slots": {"id": "\ud800"}}, "not_unicode"),
        ({"success_assertions": ["assert_loked"]}, "missing_assertion"),
    ],
)
def test_a_row_that_cannot_be_used_is_told(desk: Desk, change: dict[str, Any], code: str) -> None:
    """When a run of its task is graded."""
    row = {**desk.row("look_up"), **change}
    with pytest.raises(PackError) as error:
        Grader(desk.at_work, {row["task_id"]: row}).grade(evidence(record(desk)), label="run")
    assert problem(error).code == code
    if code == "missing_assertion":
        assert problem(error).nearest == "assert_looked"


def test_a_seed_that_a_reader_rounded_is_read_from_its_text(desk: Desk) -> None:
    """`seed_hex` wins."""
    row = {**desk.row("look_up"), "seed": 1.2e18}
    graded = Grader(desk.at_work, {row["task_id"]: row}).grade(evidence(record(desk)), label="run")
    assert graded.success == "passed"


def test_a_row_of_a_template_that_has_changed_keeps_its_own_values(desk: Desk, tmp_path: Path) -> None:
    """What comes from what is known of the template's calls as they were, which these are not."""
    changed = json.loads(json.dumps([each for each in TEMPLATES if each["template_id"] == "take_found"]))
    changed[0]["assistant_milestones"].insert(0, {"type": "tool_call", "tool": "look", "args": {"id": "I-1"}})
    changed[0]["required_tools"].insert(0, "look")
    rows = {row["task_id"]: row for row in desk.rows}
    with running(load_pack(write_desk(tmp_path / "desk", templates=changed)), Options()) as at_work:
        graded = Grader(at_work, rows).grade(evidence(record(desk, "take_found")), label="run")
    gates = {gate.name: gate.why for gate in graded.gates}
    assert (graded.success, gates["dependency_resolution"]) == ("passed", "no_dependency")


def test_an_assertion_that_is_not_for_replays_is_asked_of_the_trace_alone(tmp_path: Path) -> None:
    """`executable: false` forbids a template to name it; a row that does can be graded by its trace."""
    sealed = ASSERTIONS.replace('"result", "trace": True', '"result", "trace": True, "executable": False')
    root = write_desk(tmp_path / "desk", assertions=sealed, templates=TEMPLATES[:1])
    with running(load_pack(root), Options()) as at_work:
        rows = {row["task_id"]: row for row in rows_of(at_work)}
        (row,) = rows.values()
        run = evidence(chat(row, steps_of(row)))
        assert Grader(at_work, rows, trace_only=True).grade(run, label="run").success == "passed"
        with pytest.raises(PackError) as error:
            Grader(at_work, rows).grade(run, label="run")
    assert problem(error).code == "assertion_not_executable_compatible"


def test_assertions_that_do_not_load_are_told_at_once(tmp_path: Path) -> None:
    """Before any run is read."""
    root = write_desk(tmp_path / "desk", assertions=ASSERTIONS + "\n\nraise RuntimeError('no')\n")
    with running(load_pack(root), Options()) as at_work, pytest.raises(PackError) as error:
        Grader(at_work)
    found = problem(error)
    assert (found.code, found.file) == ("assertions_import_failed", "assertions.py")
    assert found.line == len(ASSERTIONS.splitlines()) + 3


def test_an_oracle_that_never_begins_is_a_fault_of_the_set_up(tmp_path: Path) -> None:
    """Nothing was called, and nobody knows what the agent has done."""
    root = write_desk(
        tmp_path / "desk", also="def reset(*, ctx, fixtures=None):\n    raise RuntimeError('no')"
    )
    with grading(write_desk(tmp_path / "whole")) as desk, running(load_pack(root), Options()) as at_work:
        rows = {row["task_id"]: row for row in desk.rows}
        graded = Grader(at_work, rows).grade(evidence(record(desk)), label="run")
    failed = {gate.name: gate.why for gate in graded.gates if gate.status == "failed"}
    assert failed == {
        "oracle_execution": "oracle_reset_failed",
        "executable_completion": "oracle_reset_failed",
        "assertions": "assertion_state_unavailable",
    }
    assert (graded.success, graded.attribution) == ("failed", "fatal_setup")


# Side by side.


def test_runs_come_out_as_they_went_in(desk: Desk) -> None:
    """With any number at once; one that can't be graded, or was not read, stands in its place."""
    unread = EvidenceError(Problem(code="empty_input", message="there is nothing to read"))
    given: list[tuple[str, Any]] = [
        (f"run {at}", evidence(record(desk, row["template_id"]))) for at, row in enumerate(desk.rows)
    ]
    given[2:2] = [("unread", unread), ("foreign", evidence(record(desk, metadata={})))]
    alone = list(desk.grader.grade_all(given))
    assert [label for label, _ in alone] == [label for label, _ in given]
    assert alone[2] == ("unread", unread)
    assert isinstance(alone[3][1], PackError)
    assert [found.success for _, found in alone if isinstance(found, GradedRun)] == ["passed"] * len(
        desk.rows
    )
    for jobs in (2, 7):
        again = list(desk.grader.grade_all(given, jobs=jobs))
        assert [found for _, found in again if isinstance(found, GradedRun)] == [
            found for _, found in alone if isinstance(found, GradedRun)
        ]


def test_only_so_many_runs_are_held_at_once(desk: Desk) -> None:
    """The next is read when one is done."""
    read = 0

    def runs() -> Iterator[tuple[str, Any]]:
        nonlocal read
        for _ in range(20):
            read += 1
            yield "run", evidence(record(desk))

    ahead = []
    for done, _ in enumerate(desk.grader.grade_all(runs(), jobs=2), 1):
        ahead.append(read - done)
    assert len(ahead) == 20
    assert max(ahead) <= 4


# Benchmarks.


@pytest.fixture
def load(desk: Desk, tmp_path: Path) -> Callable[..., Any]:
    """Reads a benchmark from bytes, or from rows, for the pack."""

    def loaded(content: Any, *, manifest: Any = None, **options: Any) -> Any:
        path = tmp_path / "benchmark.jsonl"
        if not isinstance(content, bytes):
            content = b"".join(json.dumps(row).encode() + b"\n" for row in content)
        path.write_bytes(content)
        if manifest is not None:
            (tmp_path / "run_manifest.json").write_text(json.dumps(manifest))
        return load_benchmark(str(path), desk.at_work.pack, Options(**options))

    return loaded


def test_a_benchmark_is_read_whole(desk: Desk, load: Callable[..., Any]) -> None:
    """Row by row, in order, with the digest of its file."""
    found = load(desk.rows)
    assert list(found.rows.values()) == desk.rows
    assert found.content_hash.startswith("sha256:")


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        (b"", ["benchmark_empty"]),
        (b"\n\n", ["benchmark_empty"]),
        (b"{}\n[]\n", ["missing_field"] * 4 + ["wrong_type"]),
        (b"{", ["json_truncated"]),
    ],
)
def test_mistakes_in_a_benchmark_are_told_together(
    load: Callable[..., Any], content: bytes, codes: list[str]
) -> None:
    """Each with its line."""
    with pytest.raises(PackError) as error:
        load(content)
    assert [each.code for each in error.value.problems] == codes
    assert {each.file is not None for each in error.value.problems} == {True}


@pytest.mark.parametrize("change", [{"pack_id": "other"}, {"pack_version": "2"}, {"pack_id": None}])
def test_a_benchmark_of_another_pack_is_refused(
    desk: Desk, load: Callable[..., Any], change: dict[str, Any]
) -> None:
    """By what its rows say."""
    with pytest.raises(PackError) as error:
        load([{**row, **change} for row in desk.rows])
    assert (problem(error).code, problem(error).expected) == ("other_pack", "desk 1")


def test_a_benchmark_of_another_build_is_refused(desk: Desk, load: Callable[..., Any]) -> None:
    """Where the manifest of its build lies beside it: the pack has changed since, or the clock is another."""
    content_hash = load(desk.rows).content_hash
    manifest = {
        "pack": {"content_hash": desk.at_work.pack.fingerprint},
        "oracle_clock": Options().clock,
        "artifacts": {"benchmark.jsonl": {"content_hash": content_hash}},
    }
    assert load(desk.rows, manifest=manifest).content_hash == content_hash
    with pytest.raises(PackError) as error:
        load(desk.rows, manifest=manifest, clock="2027-01-01T00:00:00+00:00")
    assert problem(error).code == "other_options"
    changed = {**manifest, "pack": {"content_hash": "sha256:" + "0" * 64}}
    with pytest.raises(PackError) as error:
        load(desk.rows, manifest=changed)
    assert problem(error).code == "other_pack"
    assert (
        len(load(desk.rows[1:], manifest=changed).rows) == len(desk.rows) - 1
    )  # other rows than the manifest's
    assert load(desk.rows, manifest={"x": 1}).content_hash == content_hash


@pytest.mark.parametrize("name", ["nowhere", ".", "a\0b"])
def test_a_benchmark_that_cannot_be_read_is_told(desk: Desk, name: str, tmp_path: Path) -> None:
    """There is none, or it is no file."""
    with pytest.raises(PackError) as error:
        load_benchmark(f"{tmp_path}/{name}", desk.at_work.pack, Options())
    assert problem(error).code == "benchmark_unreadable"
