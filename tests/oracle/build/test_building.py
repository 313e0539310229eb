"""What a build comes to, in folders that are new, complete, spoiled, or hold another one. No worker is started here."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from example_packs import ROOT
from small_builds import InProcess, certified, counting, files, lines, with_no_workers
from small_packs import TEMPLATES

from averment.errors import PackError
from averment.oracle.build import building
from averment.oracle.build.building import build
from averment.oracle.build.exports.parquet import read_parquet
from averment.oracle.build.formats import FILES
from averment.oracle.certify import Certification
from averment.oracle.findings import Failure, Row
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.replay.mutants import Kills

OPTIONS = Options(tasks_per_category=3)
ODD = """\
def assert_looked(*, state, trace, task, ctx):
    assert [call["arguments"] for call in trace] == [{"box_id": task["slots"]["box_id"]}]
    assert task["slots"]["box_id"] % 2, "even"
"""


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with_no_workers(monkeypatch)
    return counting(tmp_path / "pack", 60)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[InProcess]:
    """The oracle of each build."""
    made: list[InProcess] = []

    def oracle(of: Any) -> InProcess:
        made.append(InProcess(of))
        return made[-1]

    with_no_workers(monkeypatch, oracle=oracle)
    return made


def test_the_folder_has_these_files_and_no_others(pack: Path, tmp_path: Path) -> None:
    """No part of a file, no journal."""
    built = build(pack, tmp_path / "out", OPTIONS)
    assert sorted(files(tmp_path / "out")) == [
        "benchmark.jsonl",
        "build_environment.json",
        "dropped.jsonl",
        "kill_table.json",
        "oracle_validation_report.json",
        "run_manifest.json",
    ]
    assert files(tmp_path / "out")["dropped.jsonl"] == b""
    assert sorted(built.manifest.artifacts) == ["benchmark.jsonl", "dropped.jsonl", "kill_table.json"]
    assert (built.resumed, built.was_complete) == (0, False)


def test_every_format_is_written_beside_the_rows(pack: Path, tmp_path: Path) -> None:
    """And each says what the rows say; what depends on a library is vouched for by the environment."""
    pytest.importorskip("pyarrow", reason="the extra `corpus`")
    out = tmp_path / "out"
    built = build(pack, out, OPTIONS, exports=["bfcl", "chat", "chat"], parquet=True)
    rows = lines(out)
    assert built.manifest.exports == ["bfcl", "chat", "parquet"]
    assert list(read_parquet(out / "benchmark.parquet")) == rows
    told = [line["metadata"]["task_id"] for line in lines(out, "chat.jsonl")]
    assert told == [row["task_id"] for row in rows]
    assert len(lines(out, "chat_prompts.jsonl")) == len(rows)
    tasks = {line["task_id"]: line["id"] for line in lines(out, "bfcl/tasks.jsonl")}
    answers = lines(out, "bfcl/possible_answer/BFCL_v4_multiple.json")
    assert [tasks[row["task_id"]] for row in rows] == [answer["id"] for answer in answers]
    written = set(files(out)) - {"benchmark.jsonl", "dropped.jsonl", "kill_table.json"}
    listed = {name for names in FILES.values() for name in names}
    assert {name for name in written if "/" in name or "chat" in name or "parquet" in name} <= listed
    environment = msgspec.json.decode((out / "build_environment.json").read_bytes())
    assert sorted(environment["artifacts"]) == ["benchmark.parquet", "oracle_validation_report.json"]


def test_the_same_command_again_leaves_a_complete_build_as_it_is(
    pack: Path, tmp_path: Path, asked: list[InProcess]
) -> None:
    """It asks the oracle for nothing, and touches no file."""
    out = tmp_path / "out"
    first = build(pack, out, OPTIONS)
    before = {name: os.stat(out / name).st_mtime_ns for name in files(out)}
    second = build(pack, out, OPTIONS)
    assert (second.was_complete, second.manifest) == (True, first.manifest)
    assert asked[-1].episodes == 0
    assert {name: os.stat(out / name).st_mtime_ns for name in files(out)} == before


@pytest.mark.parametrize("wanted", [{"exports": ("bfcl",)}, {}, {"exports": ("bfcl", "chat")}])
def test_other_formats_are_made_of_the_rows_that_are_there(
    pack: Path, tmp_path: Path, asked: list[InProcess], wanted: dict[str, Any]
) -> None:
    """The folder is as if it had been built so from the start: what is not asked for any more is gone."""
    build(pack, tmp_path / "out", OPTIONS, exports=("chat",))
    assert build(pack, tmp_path / "out", OPTIONS, **wanted).was_complete
    assert asked[-1].episodes == 0
    build(pack, tmp_path / "fresh", OPTIONS, **wanted)
    assert files(tmp_path / "out") == files(tmp_path / "fresh")
    assert not wanted or (tmp_path / "out" / "bfcl").is_dir()


@pytest.mark.parametrize(
    "name", ["benchmark.jsonl", "dropped.jsonl", "oracle_validation_report.json", "run_manifest.json"]
)
@pytest.mark.parametrize("how", ["changed", "gone"])
def test_a_folder_that_was_spoiled_is_built_anew(pack: Path, tmp_path: Path, name: str, how: str) -> None:
    """One changed byte is enough."""
    out = tmp_path / "out"
    build(pack, out, OPTIONS)
    before = files(out)
    if how == "gone":
        (out / name).unlink()
    else:
        (out / name).write_bytes(before[name] + b" x")
    assert not build(pack, out, OPTIONS).was_complete
    assert files(out) == before


def test_another_build_replaces_the_one_that_is_there(pack: Path, tmp_path: Path) -> None:
    """With its formats; files that are not ours stay."""
    out = tmp_path / "out"
    build(pack, out, OPTIONS, exports=("chat", "bfcl"))
    (out / "bfcl" / "mine.txt").write_text("mine")
    build(pack, out, msgspec.structs.replace(OPTIONS, random_seed=1))
    assert files(out).pop("bfcl/mine.txt") == b"mine"
    (out / "bfcl" / "mine.txt").unlink()
    (out / "bfcl").rmdir()
    build(pack, tmp_path / "fresh", msgspec.structs.replace(OPTIONS, random_seed=1))
    assert files(out) == files(tmp_path / "fresh")


def test_a_build_of_another_machine_is_made_anew(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`build_environment.json` is about the machine that made the rows."""
    build(pack, tmp_path / "out", OPTIONS)
    monkeypatch.setattr("platform.python_version", lambda: "3.99.0")
    assert not build(pack, tmp_path / "out", OPTIONS).was_complete
    told = msgspec.json.decode((tmp_path / "out" / "build_environment.json").read_bytes())
    assert told["python"] == "3.99.0"


def test_candidates_fill_a_category_that_loses_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first gold ones are taken, the rest is not even made; the number of jobs changes nothing."""
    with_no_workers(monkeypatch)
    pack = counting(tmp_path / "pack", 60, assertions=ODD)
    options = Options(tasks_per_category=5, candidate_tasks_per_category=40)
    built = build(pack, tmp_path / "out", options, jobs=1)
    counts = built.manifest.stage_counts
    assert (counts.expanded, counts.published) == (40, 5)
    assert 0 < built.manifest.drops["assertion_failed"].count < 35
    (share,) = built.manifest.categories
    assert (share.expanded, share.published) == (40, 5)
    build(pack, tmp_path / "wide", options, jobs=8)
    assert files(tmp_path / "wide") == files(tmp_path / "out")
    without = build(pack, tmp_path / "short", Options(tasks_per_category=5))
    assert without.manifest.stage_counts.published < 5


def test_fewer_candidates_than_tasks_are_as_many(pack: Path, tmp_path: Path) -> None:
    """Nobody has to keep the two numbers apart."""
    options = Options(tasks_per_category=4, candidate_tasks_per_category=2)
    assert build(pack, tmp_path / "out", options).manifest.stage_counts.published == 4


def test_a_category_that_is_short_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the manifest, with the place in the pack."""
    with_no_workers(monkeypatch)
    pack = counting(tmp_path / "pack", 2)
    (note,) = build(pack, tmp_path / "out", OPTIONS).manifest.notes
    assert (note.code, note.file, note.severity) == ("category_short", "task_templates.yaml", "warning")
    assert "2 of 3 tasks" in note.message


def test_a_build_without_gold_has_no_rows_but_the_reasons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No manifest, no benchmark; an older build in the folder is gone, for it is not what was asked for."""
    with_no_workers(monkeypatch)
    out = tmp_path / "out"
    build(counting(tmp_path / "pack", 60), out, OPTIONS)
    never = ODD.replace('task["slots"]["box_id"] % 2', "not trace")
    with pytest.raises(PackError) as caught:
        build(counting(tmp_path / "pack", 60, assertions=never), out, OPTIONS)
    (problem,) = caught.value.problems
    assert (problem.code, problem.found) == ("nothing_gold", "assertion_failed 3")
    assert sorted(files(out)) == [".journal.jsonl", "dropped.jsonl"]
    assert len(lines(out, "dropped.jsonl")) == 3


def test_a_template_none_of_whose_calls_can_be_worked_out_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contract, 6.7; with the place in the template, though other templates are gold."""
    with_no_workers(monkeypatch)
    call = {"type": "tool_call", "tool": "look"}
    marker = {"box_id": {"from_result": {"call": "first", "path": "other"}}}
    dependent = {
        **TEMPLATES[0],
        "template_id": "dependent",
        "turn_policy": "dependent_call",
        "slots": {"box_id": {"source": "literal:[1, 2]", "visible_in_first_turn": True}},
        "assistant_milestones": [{**call, "id": "first"}, {**call, "args": marker}, {"type": "final_answer"}],
    }
    slot = {"box_id": {"source": "literal:[1, 2]", "visible_in_first_turn": True}}
    pack = counting(tmp_path / "pack", 2, templates=[{**TEMPLATES[0], "slots": slot}, dependent])
    with pytest.raises(PackError) as caught:
        build(pack, tmp_path / "out", Options(tasks_per_category=4))
    (problem,) = caught.value.problems
    assert problem.code == "no_trace_derived"
    assert "2 dropped, 2 by `result_field_missing`" in problem.message
    assert problem.path is not None
    assert problem.path.startswith("$[1].assistant_milestones[1].args")
    assert sorted(files(tmp_path / "out")) == [".journal.jsonl", "dropped.jsonl"]


@pytest.mark.parametrize("status", ["fail", "skipped"])
def test_a_pack_below_the_tier_is_refused_and_the_folder_left_alone(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: Any
) -> None:
    """What is there stays; the refusal names the check and its first failure."""
    build(pack, tmp_path / "out", OPTIONS)
    before = files(tmp_path / "out")
    failure = Failure(reason="result_class_mismatch", message="it went wrong")

    def silver(path: str, options: Options, **_: Any) -> Certification:
        rows = (Row("5", "declared_validation_cases", status, (failure,)),)
        return Certification(pack=load_pack(path), options=options, rows=rows, assertions=1)

    monkeypatch.setattr(building, "certify", silver)
    (pack / "README.md").write_text("another pack")
    with pytest.raises(PackError) as caught:
        build(pack, tmp_path / "out", OPTIONS)
    (problem,) = caught.value.problems
    assert problem.code == "tier_too_low"
    assert "5 declared_validation_cases" in problem.message
    assert problem.found == "result_class_mismatch: it went wrong"
    assert "--allow-tier silver" in (problem.mend or "")
    assert files(tmp_path / "out") == before
    built = build(pack, tmp_path / "out", OPTIONS, allow="silver")
    assert (built.manifest.tier, built.manifest.gold_eligible) == ("silver", False)
    assert built.manifest.gold_ineligibility_reasons == [f"5 declared_validation_cases: {status}"]
    assert {row["tier"] for row in lines(tmp_path / "out")} == {"silver"}


def test_a_vacuous_assertion_is_named(pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the manifest; the table has the numbers."""

    def checked(path: str, options: Options, **_: Any) -> Certification:
        kills = {"assert_looked": Kills({"call_dropped": (0, 3), "call_added": (0, 2)})}
        return msgspec.structs.replace(certified(path, options), kills=kills)

    monkeypatch.setattr(building, "certify", checked)
    assert build(pack, tmp_path / "out", OPTIONS).manifest.vacuous_assertions == ["assert_looked"]
    table = msgspec.json.decode((tmp_path / "out" / "kill_table.json").read_bytes())
    assert table == {"assert_looked": {"call_dropped": [0, 3], "call_added": [0, 2]}}


def test_a_silver_build_is_not_complete_for_who_asks_for_gold(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is certified again, and refused or built anew."""
    gold = certified

    def silver(path: str, options: Options, **_: Any) -> Certification:
        return msgspec.structs.replace(gold(path, options), assertions=0)

    monkeypatch.setattr(building, "certify", silver)
    build(pack, tmp_path / "out", OPTIONS, allow="silver")
    assert build(pack, tmp_path / "out", OPTIONS, allow="silver").was_complete
    with pytest.raises(PackError, match="tier_too_low"):
        build(pack, tmp_path / "out", OPTIONS)
    monkeypatch.setattr(building, "certify", gold)
    assert build(pack, tmp_path / "out", OPTIONS).manifest.tier == "gold"


@pytest.mark.parametrize("below", [".", "out", "a/b"])
def test_a_build_inside_the_pack_is_refused(pack: Path, below: str) -> None:
    """It would change what it builds."""
    with pytest.raises(PackError) as caught:
        build(pack, pack / below, OPTIONS)
    assert caught.value.problems[0].code == "output_inside_pack"
    assert not (pack / "out").exists()


def test_mistakes_of_templates_are_told_before_the_pack_is_certified(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With their places, rather than as a tier that is too low; and no folder is made."""
    monkeypatch.setattr(building, "certify", None)
    two = [{**TEMPLATES[0], "template_id": name, "category": "c"} for name in ("one", "two")]
    slot = {"box_id": {"source": "literal:[1]", "visible_in_first_turn": True}}
    counting(pack, 2, templates=[{**each, "slots": slot} for each in two])
    with pytest.raises(PackError) as caught:
        build(pack, tmp_path / "out", Options(tasks_per_category=1))
    assert [each.code for each in caught.value.problems] == ["budget_too_small"]
    assert not (tmp_path / "out").exists()


def test_reserved_rows_are_in_no_row_and_the_manifest_says_what_is_held_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every row says that it holds none, and the counts are there to be checked."""
    with_no_workers(monkeypatch)
    pack = tmp_path / "clinic"
    shutil.copytree(ROOT / "bilingual_clinic", pack, ignore=shutil.ignore_patterns("__pycache__"))
    built = build(pack, tmp_path / "out", Options())
    held_out = load_pack(pack).held_out
    assert held_out is not None
    told = built.manifest.held_out
    assert told is not None
    assert told.fixtures == {name: len(ids) for name, ids in held_out.fixtures.items()}
    rows = lines(tmp_path / "out")
    assert {row["held_out_hit"] for row in rows} == {False}
    reserved = {str(each) for ids in held_out.fixtures.values() for each in ids}
    assert reserved
    assert not [row for row in rows for ref in row["fixture_refs"] if msgspec.json.decode(ref)[1] in reserved]


def test_five_thousand_tasks_are_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bound, rendered, guarded, replayed twice, journalled and written; the code of the pack runs in this process.

    `benchmarks/replays.py` does it with workers, and with their memory.
    """
    with_no_workers(monkeypatch)
    pack = counting(tmp_path / "pack", 5000)
    built = build(pack, tmp_path / "out", Options(tasks_per_category=5000))
    assert built.manifest.stage_counts.published == 5000
    with open(tmp_path / "out" / "benchmark.jsonl", "rb") as file:
        ids = {msgspec.json.decode(line, type=_Id).task_id for line in file}
    assert len(ids) == 5000


class _Id(msgspec.Struct):
    task_id: str
