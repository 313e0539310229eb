from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from small_packs import ASSERTIONS, BACKEND, CASES, LOOK, PLANTED, PUT, TEMPLATES, write

import averment.oracle.certify as certification
import averment.oracle.report as reports
from averment.errors import PackError
from averment.oracle.certify import CHECKS, PARTS, Certification, certify, check, tier
from averment.oracle.checks.base import Check
from averment.oracle.findings import Failure, Row
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.worker.backend import Workers
from averment.oracle.worker.nursery import Nursery
from averment.report.packs import render_certification
from averment.text.jsontext import pretty

FLAWED = (
    BACKEND
    + """

import datetime

_put = put

def look(arguments, ctx):
    return {"today": str(datetime.date.today()), "words": list({"one", "two", "three", "four"}), "at": __file__}

def put(arguments, ctx):
    print("putting", arguments, __file__)
    if arguments.get("item") == "bolt":
        open("/etc/passwd")
    return _put(arguments, ctx)
"""
)
"""A backend in which several checks find something, with words about the machine in what it says."""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """The good pack."""
    return write(tmp_path / "pack")


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Certification:
    """The good pack, certified."""
    return certify(write(tmp_path_factory.mktemp("gold") / "pack"))


def statuses(found: Certification) -> dict[str, str]:
    return {row.id: row.status for row in found.rows}


def test_rows_come_in_the_order_of_the_checks_with_their_names(gold: Certification) -> None:
    """A1 is for endpoints only."""
    assert [row.id for row in gold.rows] == [name for name in CHECKS if name != "A1"]
    assert {row.id: row.name for row in gold.rows} == {
        "1": "template_tool_names",
        "2": "template_slot_sources",
        "3": "backend_schema_alignment",
        "4": "assertions_importable",
        "5": "declared_validation_cases",
        "6": "confirmation_policy",
        "7": "representative_generation_contract",
        "M1": "mutation_declaration",
        "D1": "determinism_check",
        "D2": "error_shape",
        "T1": "timeout_wiring",
        "I1": "gold_isolation",
    }
    assert reports.report(gold)["checks_absent"] == []


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_knows_its_id_and_every_reason_has_a_mend(name: str) -> None:
    """And says what it means."""
    found = check(name)
    assert found.id == name
    for reason in found.reasons.values():
        assert reason.about
        assert reason.mend.endswith((".", "?"))


def test_a_pack_whose_every_row_passes_is_gold(gold: Certification) -> None:
    """With a template and an exported assertion."""
    assert set(statuses(gold).values()) == {"pass"}
    assert (gold.tier, gold.passed, gold.assertions) == ("gold", True, 1)


def test_the_report_has_what_each_assertion_made_of_the_mutants(gold: Certification, tmp_path: Path) -> None:
    """Killed and of, by kind; nothing where no task was made."""
    assert reports.report(gold)["kill_table"] == {
        "assert_looked": {
            "call_dropped": (1, 1),
            "call_duplicated": (1, 1),
            "argument_altered": (1, 1),
            "call_added": (1, 1),
            "result_corrupted": (1, 2),
        }
    }
    changes: list[dict[str, Any]] = [
        {"templates": []},
        {"also": "del reset"},
        {"manifest": {"assistant_turn_templates": {}}},
    ]
    for change in changes:
        found = certify(write(tmp_path / "pack", **change))
        assert reports.report(found)["kill_table"] == {}


PASS, FAIL = Row("1", "a", "pass"), Row("2", "b", "fail", (Failure(reason="x", message="x"),))
SKIPPED = Row("3", "c", "skipped", (Failure(reason="not_run", message="x"),))
ODD = Row("4", "d", "pass", (Failure(reason="x", message="x"),))


@pytest.mark.parametrize(
    ("rows", "change", "assertions", "expected"),
    [
        ([PASS], {}, 1, "gold"),
        ([PASS], {}, 0, "silver"),
        ([PASS, FAIL], {}, 1, "silver"),
        ([PASS, SKIPPED], {}, 1, "silver"),
        ([PASS, ODD], {}, 1, "silver"),
        ([], {}, 1, "silver"),
        ([PASS], {"templates": []}, 1, "prototype"),
        ([PASS, FAIL], {"templates": []}, 1, "prototype"),
        ([FAIL], {"tools": []}, 1, "prototype"),
    ],
)
def test_the_tier_follows_from_the_rows(
    tmp_path: Path, rows: list[Row], change: dict[str, Any], assertions: int, expected: str
) -> None:
    """A row that is skipped, or that has failures whatever its status, is in the way of gold."""
    assert tier(rows, load_pack(write(tmp_path / "pack", **change)), assertions) == expected


def test_a_pack_without_templates_is_a_prototype(tmp_path: Path) -> None:
    """Though nothing is wrong with it."""
    found = certify(write(tmp_path / "pack", templates=[]))
    assert set(statuses(found).values()) == {"pass"}
    assert (found.tier, found.passed) == ("prototype", False)


def test_a_pack_without_assertions_is_silver(tmp_path: Path) -> None:
    """Its templates name none that there is, so that no task passes any."""
    found = certify(write(tmp_path / "pack", assertions=""))
    assert {name for name, status in statuses(found).items() if status != "pass"} == {"4", "7"}
    assert (found.tier, found.assertions) == ("silver", 0)


def test_without_a_catalog_that_is_the_oracles_no_probe_is_run(tmp_path: Path) -> None:
    """The rows that rest on probes say so; all others are there."""
    root = write(tmp_path / "pack", also="def list_tools():\n    return ['look']")
    found = certify(root)
    skipped = ["5", "6", "7", "M1", "D1", "D2"]
    assert {name for name, status in statuses(found).items() if status == "skipped"} == set(skipped)
    assert statuses(found)["3"] == "fail"
    for row in found.rows:
        if row.id in skipped:
            assert [failure.reason for failure in row.failures] == ["not_run"]
    shown = next(row for row in reports.report(found)["checks"] if row["id"] == "5")
    assert shown["failures"][0]["detail"] == shown["failures"][0]["message"]
    assert shown["failures"][0]["detail"].startswith("check 3 did not pass")


def test_a_failure_without_a_mend_of_its_own_has_that_of_its_reason(tmp_path: Path) -> None:
    """So every failure says what to do."""
    found = certify(write(tmp_path / "pack", cases=[]), only="cases")
    failures = [failure for row in found.rows for failure in row.failures]
    assert failures
    for row in found.rows:
        for failure in row.failures:
            assert failure.mend == check(row.id).reasons[failure.reason].mend


@pytest.mark.parametrize(
    ("part", "checks"),
    [
        ("manifest", []),
        ("tools", ["3"]),
        ("templates", ["1", "2"]),
        ("assertions", ["4"]),
        ("cases", ["5", "6", "M1", "D1", "D2"]),
        ("tasks", ["7"]),
    ],
)
def test_a_part_is_checked_alone(pack: Path, part: str, checks: list[str]) -> None:
    """It has no tier, and passes when its rows do; what is told of progress is what was run."""
    told: list[Check] = []
    found = certify(pack, only=part, progress=told.append)
    assert [row.id for row in found.rows] == [each.id for each in told] == checks
    assert found.passed
    shown = reports.report(found)
    assert (shown["only"], shown["passed"]) == (part, True)
    assert not {"tier", "gold_eligible"} & set(shown)


def test_the_parts_are_checks_that_there_are() -> None:
    """Each in one part at most."""
    named = [name for names in PARTS.values() for name in names]
    assert len(named) == len(set(named))
    assert set(named) < set(CHECKS)


@pytest.mark.parametrize("part", ["manifest", "templates"])
def test_what_only_reads_files_starts_no_process(
    pack: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """However broken the pack's code is."""
    write(pack, backend="while True: pass", assertions="1 / 0")

    def refuse(*_: Any) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(Nursery, "_zygote", refuse)
    found = certify(pack, only=part)
    assert (found.passed, found.isolation) == (True, None)


def test_a_part_that_needs_one_world_starts_one(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one takes as long to begin as the first."""
    started: set[str] = set()
    real = Nursery._zygote

    def noting(self: Nursery, condition: Any) -> Any:
        started.add(condition)
        return real(self, condition)

    monkeypatch.setattr(Nursery, "_zygote", noting)
    assert certify(pack, only="assertions").passed
    assert started == {"plain"}
    assert certify(pack, only="cases").passed
    assert started == {"plain", "shifted"}


def test_a_failure_of_a_part_fails_it(tmp_path: Path) -> None:
    """And no other part."""
    root = write(tmp_path / "pack", assertions=ASSERTIONS.replace("*, state", "*, stat"))
    assert not certify(root, only="assertions").passed
    assert certify(root, only="tools").passed


def test_strict_takes_oddities_for_mistakes(tmp_path: Path) -> None:
    """Nothing is certified then."""
    root = write(tmp_path / "pack", manifest={"pakc_id": "x"})
    assert [warning.code for warning in certify(root, only="manifest").warnings] == ["unknown_key"]
    with pytest.raises(PackError) as caught:
        certify(root, only="manifest", strict=True)
    assert [problem.code for problem in caught.value.problems] == ["unknown_key"]


def test_options_reach_the_pack(tmp_path: Path) -> None:
    """Clock, seed and deadline, with the probe's name as the task."""
    also = """
        def look(arguments, ctx):
            return {"told": [ctx.clock.isoformat(), ctx.seed, ctx.timeout_s, ctx.task_id, ctx.turn_index]}
        """
    told = ["2027-01-01T00:00:00+02:00", 7, 3.5, "probe:found", 0]
    cases = [{**CASES[0], "expect": {"told": told}}, {**CASES[1], "coverage": "negative"}, *CASES[2:]]
    options = Options(clock="2027-01-01T00:00:00+02:00", random_seed=7, tool_timeout_s=3.5)
    found = certify(write(tmp_path / "pack", also=also, cases=cases), options, only="cases")
    assert [failure for row in found.rows for failure in row.failures] == []


@pytest.mark.parametrize(("required", "refused"), [(None, False), ("guarded", False), ("confined", True)])
def test_isolation_weaker_than_required_is_refused(
    pack: Path, monkeypatch: pytest.MonkeyPatch, required: str | None, refused: bool
) -> None:
    """Before any of the pack's code runs; what can't be enforced is named."""
    monkeypatch.setattr(Workers, "probe", lambda _: ["limits"])
    if refused:
        monkeypatch.setattr(certification, "_rows", lambda *_: pytest.fail("code was run"))
        with pytest.raises(PackError, match="no network") as caught:
            certify(pack, only="cases", require=required)
        assert [problem.code for problem in caught.value.problems] == ["isolation_too_weak"]
    else:
        found = certify(pack, only="cases", require=required)
        assert found.isolation is not None
        assert (found.isolation.level, found.isolation.enforced[0][:6]) == ("guarded", "limits")
        assert len(found.isolation.not_enforced) == 2


def test_a_pack_that_changes_meanwhile_gets_no_verdict(pack: Path) -> None:
    """Every file that came, went or changed is named."""

    def meddle(each: Check) -> None:
        if each.id == "4":
            (pack / "new.txt").write_text("x")
            (pack / "tools.json").write_text("[]")
            (pack / "fixtures.json").unlink()

    with pytest.raises(PackError) as caught:
        certify(pack, only="assertions", progress=meddle)
    found = [(problem.code, problem.file) for problem in caught.value.problems]
    assert found == [("pack_changed", name) for name in ("fixtures.json", "new.txt", "tools.json")]


def test_a_file_that_goes_while_it_is_needed_is_no_crash(pack: Path) -> None:
    """It is a change like others."""
    with pytest.raises(PackError) as caught:
        certify(pack, only="assertions", progress=lambda _: (pack / "assertions.py").unlink())
    assert [(problem.code, problem.file) for problem in caught.value.problems] == [
        ("pack_changed", "assertions.py")
    ]


def test_fixtures_reach_the_reset_as_the_file_has_them(tmp_path: Path) -> None:
    """In the order of the file, as YAML too, whatever its numbers."""
    fixtures = "z: 1\na: 123456789012345678901234567890\nboxes: [{box_id: B-1, item: nail}]\n"
    also = """
        def look(arguments, ctx):
            return {"keys": list(state), "a": str(state["a"])}
        """
    expected = {"keys": ["z", "a", "boxes"], "a": "123456789012345678901234567890"}
    cases = [{**CASES[0], "expect": expected}, *CASES[2:]]
    root = write(tmp_path / "pack", also=also, fixtures=fixtures, cases=cases)
    found = certify(root, only="cases")
    reasons = [failure.reason for row in found.rows for failure in row.failures]
    assert reasons == ["incomplete_validation_coverage"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"backend": FLAWED, "tools": [LOOK, {**PUT, "description": 1}]},
            (b'"nondeterministic"', b'"outside_read_attempted"'),
        ),
        (PLANTED, (b'"nondeterministic_replay"', b'"gold_not_realizable"', b'"vacuous_assertion"')),
    ],
    ids=["code", "tasks"],
)
def test_the_same_pack_is_the_same_report(
    tmp_path: Path, change: dict[str, Any], told: tuple[bytes, ...]
) -> None:
    """Under any hash seed, for any number of jobs, wherever it lies and whatever its folder is called."""
    first = write(tmp_path / "pack", **change)
    second = tmp_path / "deep" / "er" / "another name"
    shutil.copytree(first, second)
    program = (
        "import sys; from averment.oracle.certify import certify; from averment.oracle.report import report\n"
        "from averment.text.jsontext import pretty\n"
        "sys.stdout.buffer.write(pretty(report(certify(sys.argv[1], jobs=int(sys.argv[2])))))\n"
    )
    runs = [("0", first, "1"), ("1", second, "4"), ("2", first, "4")]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(root), jobs],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
        )
        for seed, root, jobs in runs
    ]
    written = [process.communicate(timeout=300)[0] for process in processes]
    assert [word for word in told if word not in written[0]] == []
    assert written[0] == written[1] == written[2]


def test_nothing_of_the_machine_is_in_a_report(tmp_path: Path) -> None:
    """Neither the pack's folder nor the workers' own, though the pack prints them and raises with them; nor in its text."""
    also = """
        import os, tempfile

        def look(arguments, ctx):
            print(__file__, os.getcwd(), os.environ["HOME"])
            open(__file__ + ".none")
        """
    root = write(tmp_path / "pack", also=also)
    found = certify(root)
    written = pretty(reports.report(found)).decode() + render_certification(found)
    for own in (tmp_path, Path.cwd(), Path.home(), Path(sys.prefix), "averment-", "/tmp"):  # noqa: S108
        assert str(own) not in written
    assert "backend.py" in written


HOSTILE = "\x1b[31mred\x07\u202egnp.exe\u200b" + "x" * 3000


def test_hostile_words_in_a_pack_are_words(tmp_path: Path) -> None:
    """In names, in results and in what is raised and printed."""
    also = f"""
        WORDS = {HOSTILE!r}

        def look(arguments, ctx):
            print(WORDS)
            raise KeyError(WORDS)
        """
    cases = [*CASES, {"id": HOSTILE, "tool": HOSTILE, "expect": {HOSTILE: HOSTILE}}]
    templates = [{**TEMPLATES[0], "template_id": HOSTILE, "required_tools": [HOSTILE]}]
    root = write(
        tmp_path / "pack", also=also, cases=cases, templates=templates, manifest={"pack_id": HOSTILE}
    )
    found = certify(root)
    assert statuses(found)["1"] == statuses(found)["5"] == "fail"
    text = render_certification(found)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert max(map(len, text.splitlines())) < 600
    assert msgspec.json.decode(pretty(reports.report(found)))["pack_id"] == HOSTILE
