"""`averment pack grade` as a shell sees it: exit codes, files, streams."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from graded_packs import chat, rows_of, steps_of, write_desk

from averment.cli.main import _guarded
from averment.oracle.grade.grading import Grader
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.running import running
from averment.report.schemas import schema
from averment.text.jsontext import pretty

Run = Callable[..., tuple[int, str, str]]
Rows = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The rows of the small pack, by template."""
    root = write_desk(tmp_path_factory.mktemp("rows") / "desk")
    with running(load_pack(root), Options()) as at_work:
        return {row["template_id"]: row for row in rows_of(at_work)}


@pytest.fixture
def run(
    tmp_path: Path, rows: Rows, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Run:
    """Runs the command in a folder with the pack, the rows of its benchmark, and runs of it."""
    write_desk(tmp_path / "desk")
    write_lines(tmp_path / "benchmark.jsonl", rows.values())
    write_lines(tmp_path / "good.jsonl", [gold(row) for row in rows.values()])
    write_lines(tmp_path / "bad.jsonl", [gold(rows["look_up"]), wrong(rows["look_two"])])
    (tmp_path / "open.json").write_text(json.dumps(untold(rows["decline"])))
    (tmp_path / "foreign.json").write_text(json.dumps(gold(rows["look_up"]) | {"metadata": {}}))
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "broken.jsonl").write_text("{")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def ran(*args: str) -> tuple[int, str, str]:
        code = _guarded(["pack", "grade", *args])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return ran


def write_lines(path: Path, values: Any) -> None:
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values))


def gold(row: dict[str, Any]) -> dict[str, Any]:
    return chat(row, steps_of(row), id=f"run of {row['template_id']}")


def wrong(row: dict[str, Any]) -> dict[str, Any]:
    """Without its calls."""
    return chat(row, [step for step in steps_of(row) if isinstance(step, str)], id="run that fails")


def untold(row: dict[str, Any]) -> dict[str, Any]:
    """A record that does not say that nothing was called."""
    record = chat(row, steps_of(row))
    del record["tools"]
    return record


def reported(text: str) -> dict[str, Any]:
    """The report; it fits the published schema, and is written as all reports are."""
    written: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator(schema("pack-grade")).validate(written)
    assert pretty(written).decode() == text
    return written


# Exit codes.


@pytest.mark.parametrize(
    ("files", "code", "summary"),
    [
        (("good.jsonl",), 0, "7 runs: 7 passed"),
        (("bad.jsonl",), 1, "2 runs: 1 passed, 1 failed"),
        (("open.json",), 2, "1 run: 1 undecided"),
        (("bad.jsonl", "open.json"), 2, "3 runs: 1 passed, 1 failed, 1 undecided"),
        (("bad.jsonl", "foreign.json"), 2, "3 runs: 1 passed, 1 failed, 1 not graded"),
        (("foreign.json",), 2, "1 run: 1 not graded"),
    ],
)
def test_the_worst_of_several_runs_is_the_exit_code(
    run: Run, files: tuple[str, ...], code: int, summary: str
) -> None:
    """2 before 1 before 0: what could not be decided is no answer to a gate."""
    found, out, err = run("desk", *files, "--benchmark", "benchmark.jsonl")
    assert (found, summary in out.splitlines()) == (code, True)
    assert ("error[unknown_task]" in err) == ("foreign.json" in files)


def test_an_oracle_that_breaks_is_no_verdict_on_an_agent(run: Run, tmp_path: Path) -> None:
    """The run has failed, by nobody's fault but the pack's: exit 2."""
    write_desk(tmp_path / "desk", also="def look(arguments):\n    raise RuntimeError('no')\n")
    code, out, _ = run(
        "desk", "good.jsonl", "--benchmark", "benchmark.jsonl", "--conversation", "run of look_up"
    )
    assert code == 2
    assert "FAIL (infrastructure)" in out
    assert "oracle_execution FAIL [oracle_failed]" in out


def test_gold_is_made_of_the_pack_without_a_benchmark(run: Run) -> None:
    """The same grades, but for where gold comes from."""
    made, built = run("desk", "bad.jsonl", "--format", "json"), None
    built = run("desk", "bad.jsonl", "--format", "json", "--benchmark", "benchmark.jsonl")
    here, there = reported(made[1]), reported(built[1])
    assert (here["benchmark"], made[0]) == (None, built[0])
    assert there["benchmark"]["content_hash"].startswith("sha256:")
    assert {**here, "benchmark": 0} == {**there, "benchmark": 0}


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("nowhere", "good.jsonl"), "pack_not_found"),
        (("desk", "nowhere.jsonl"), "file_not_found"),
        (("desk", "empty.jsonl"), "empty_input"),
        (("desk", "broken.jsonl"), "json_truncated"),
        (("desk", "desk"), "not_a_file"),
        (("desk", "good.jsonl", "--conversation", "x"), "conversation_not_found"),
        (("desk", "good.jsonl", "--task", "x"), "unknown_task"),
        (("desk", "good.jsonl", "--benchmark", "nowhere"), "benchmark_unreadable"),
        (("desk", "good.jsonl", "--benchmark", "empty.jsonl"), "benchmark_empty"),
        (("desk", "good.jsonl", "--benchmark", "good.jsonl"), "missing_field"),
        (("desk", "good.jsonl", "--config", "nowhere"), "options_unreadable"),
        (("desk", "good.jsonl", "--output", "desk"), "output_unwritable"),
        (("desk", "good.jsonl", "--from", "x"), "unknown_format"),
        (("desk", "-", "-"), "stdin_twice"),
        (("desk",), "usage"),
        (("desk", "good.jsonl", "-j", "0"), "usage"),
        (("desk", "good.jsonl", "--require-isolation", "perfect"), "usage"),
    ],
)
def test_what_cannot_be_read_is_exit_2(run: Run, args: tuple[str, ...], code: str) -> None:
    """With its code on standard error."""
    found, _, err = run(*args)
    assert (found, f"error[{code}]" in err) == (2, True), err


def test_a_file_that_cannot_be_read_stops_no_other(run: Run) -> None:
    """It is in the report, and so are the grades of the rest."""
    code, out, err = run("desk", "broken.jsonl", "bad.jsonl", "empty.jsonl", "--format", "json")
    shown = reported(out)
    assert code == 2
    assert [each["code"] for each in shown["not_graded"]] == ["json_truncated", "empty_input"]
    assert [each["file"] for each in shown["not_graded"]] == ["broken.jsonl", "empty.jsonl"]
    assert shown["summary"] == {
        "runs": 4,
        "passed": 1,
        "failed": 1,
        "undecided": 0,
        "not_applicable": 0,
        "not_graded": 2,
    }
    assert err.count("error[") == 2


# Options.


def test_one_conversation_of_many_is_graded(run: Run) -> None:
    """By its id."""
    code, out, _ = run("desk", "bad.jsonl", "--conversation", "run of look_up", "--format", "json")
    assert (code, [each["run"] for each in reported(out)["runs"]]) == (0, ["run of look_up"])


def test_a_task_that_is_not_there_is_told_once(run: Run) -> None:
    """Before any run is read, and with the nearest that there is."""
    code, out, err = run("desk", "good.jsonl", "--task", "desk__look_up__eaf384a78c6bb24", "--format", "json")
    assert (code, out, err.count("error[unknown_task]")) == (2, "", 1)


def test_nothing_is_measured_where_nothing_was_graded(run: Run) -> None:
    """Only how many runs there were."""
    assert run("desk", "foreign.json")[1] == "1 run: 1 not graded\n"
    assert "task_success_rate" in run("desk", "bad.jsonl")[1]


def test_the_task_can_be_named(run: Run, rows: Rows) -> None:
    """For a run that does not say it."""
    code, out, err = run("desk", "foreign.json", "--task", rows["look_up"]["task_id"])
    assert (code, err) == (0, "")
    assert rows["look_up"]["task_id"] in out


def test_nothing_is_made_again_where_that_is_asked_for(run: Run) -> None:
    """Assertions that need no more than the trace decide; the others leave their runs open."""
    code, out, _ = run("desk", "good.jsonl", "--trace-only", "--format", "json")
    shown = reported(out)
    assert (code, shown["mode"]) == (2, "trace")
    assert {each["outcome"]["mode"] for each in shown["runs"]} == {"trace"}
    assert (shown["summary"]["passed"], shown["summary"]["undecided"]) == (3, 4)


def test_how_runs_are_compared_is_said_and_told(run: Run, rows: Rows, tmp_path: Path) -> None:
    """Options of the comparison stand in the report."""
    text = json.dumps(gold(rows["look_up"])).replace('"name": "look"', '"name": "mcp_look"')
    (tmp_path / "prefixed.json").write_text(text)
    options = ("--tool-prefix", "mcp_", "--path", "never", "--text", "verbatim")
    code, out, _ = run("desk", "prefixed.json", *options, "--format", "json")
    policy = reported(out)["policy"]
    assert code == 0
    assert (policy["tool_prefix"], policy["path"], policy["text"]) == ("mcp_", "never", "verbatim")


def test_the_report_goes_to_a_file_too(run: Run, tmp_path: Path) -> None:
    """Whole, and the same as what is printed; a `-` prints it, and the text goes aside."""
    code, out, _ = run("desk", "bad.jsonl", "--format", "json", "--output", "report.json")
    assert (code, (tmp_path / "report.json").read_text("utf-8")) == (1, out)
    code, text, err = run("desk", "bad.jsonl", "--output", "-")
    assert (code, text) == (1, out)
    assert "2 runs: 1 passed, 1 failed" in err


def test_no_report_is_left_of_a_pack_that_changed_meanwhile(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can say which pack the grades are of."""
    grade = Grader.grade

    def graded(*args: Any, **more: Any) -> Any:
        (tmp_path / "desk" / "README.md").write_text("changed", encoding="utf-8")
        return grade(*args, **more)

    monkeypatch.setattr(Grader, "grade", graded)
    code, _, err = run("desk", "bad.jsonl", "--benchmark", "benchmark.jsonl", "--output", "report.json")
    assert (code, "error[pack_changed]" in err) == (2, True)
    assert list(tmp_path.glob("report*")) == []


def test_an_answer_from_another_world_is_noted(run: Run, rows: Rows, tmp_path: Path) -> None:
    """Under a run that does not pass: it may be why."""
    text = json.dumps(chat(rows["look_up"], steps_of(rows["look_up"])[:-1]))
    (tmp_path / "run.json").write_text(text.replace("nail", "hook"))
    code, out, _ = run("desk", "run.json")
    assert code == 1
    assert "    note: the answer to call 0 was another in the record, at $.kind" in out.splitlines()


def test_unknown_keys_are_mistakes_under_strict(run: Run, tmp_path: Path) -> None:
    """As for every command of packs."""
    write_desk(tmp_path / "desk", manifest={"pack_id": "desk", "version": "1", "vesion": "2"})
    code, _, err = run("desk", "good.jsonl", "--strict")
    assert (code, "error[unknown_key]" in err) == (2, True)


def test_isolation_can_be_required(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any code of the pack runs."""
    assert run("desk", "bad.jsonl", "--require-isolation", "guarded")[0] == 1
    from averment.oracle.worker.backend import Workers

    monkeypatch.setattr(Workers, "probe", lambda _: [])
    code, out, err = run("desk", "bad.jsonl", "--require-isolation", "confined")
    assert (code, out, "error[isolation_too_weak]" in err) == (2, "", True)


# The same, whatever varies.


def test_the_report_is_the_same_wherever_and_however_it_is_made(run: Run, tmp_path: Path) -> None:
    """Under other hash seeds, with other numbers of jobs, of a pack that was moved and renamed."""
    shutil.copytree(tmp_path / "desk", tmp_path / "a" / "moved")
    what = ("good.jsonl", "bad.jsonl", "open.json", "--benchmark", "benchmark.jsonl", "--format", "json")
    expected = run("desk", *what, "-j", "1")[1]
    binary = Path(sys.executable).parent / "averment"
    for seed, jobs, pack in (("1", "4", "desk"), ("2", "2", "a/moved")):
        done = subprocess.run(
            [binary, "pack", "grade", pack, *what, "-j", jobs],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo"},
            timeout=300,
        )
        assert (done.returncode, done.stderr, done.stdout) == (2, "", expected)
    assert str(tmp_path) not in expected


# Hostile runs.


EVIL = "\x1b[31m\u202e\x00\ud800</script>"


def test_words_of_a_run_do_not_command_the_terminal(run: Run, rows: Rows, tmp_path: Path) -> None:
    """Ids, names of tools and arguments, in what is graded and in what is not."""
    row = rows["look_up"]
    steps = [f">{EVIL}", [("look", {"id": EVIL, EVIL: EVIL}), (f"look{EVIL}", {})], EVIL]
    write_lines(
        tmp_path / "evil.jsonl",
        [chat(row, steps, id=EVIL), chat(row, steps, id=EVIL, metadata={"task_id": EVIL})],
    )
    code, out, err = run("desk", "evil.jsonl")
    assert code == 2
    assert "2 runs: 1 failed, 1 not graded" in out
    for char in ("\x1b", "\u202e", "\x00", "\ud800"):
        assert char not in out + err
    code, out, err = run("desk", "evil.jsonl", "--format", "json")
    assert (code, reported(out)["summary"]["failed"]) == (2, 1)
    assert "\x1b" not in out + err


def test_personal_data_of_a_run_is_not_repeated(run: Run, rows: Rows, tmp_path: Path) -> None:
    """Neither in sentences of averment's own, nor in those of the pack's assertions."""
    steps = [">What?", [("look", {"id": "ana.ruiz@example.com"})], "That."]
    (tmp_path / "run.json").write_text(json.dumps(chat(rows["look_up"], steps)))
    for args in ((), ("--format", "json")):
        code, out, err = run("desk", "run.json", *args)
        assert code == 1
        assert "ana.ruiz" not in out + err
        assert "[REDACTED]" in out


def test_a_run_of_very_many_calls_is_graded(run: Run, rows: Rows, tmp_path: Path) -> None:
    """In time."""
    steps = [">What?", [("look", {"id": f"I-{at}"}) for at in range(700)], "That."]
    (tmp_path / "run.json").write_text(json.dumps(chat(rows["look_up"], steps)))
    code, out, _ = run("desk", "run.json")
    assert code == 1
    assert "gold has no more calls of these: `look`, `look`, `look`, `look`, `look` and 694 more" in out


def test_a_reader_that_goes_away_is_no_defect(run: Run, rows: Rows, tmp_path: Path) -> None:
    """`| head`: what is being graded ends before the pack is put away, and nobody is told of an internal error."""
    assert run is not None
    write_lines(tmp_path / "many.jsonl", [gold(rows["look_up"]) | {"id": f"run {at}"} for at in range(300)])
    command = [sys.executable, "-m", "averment", "pack", "grade", "desk", "many.jsonl", "-j", "4"]
    with (
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            pipesize=4096,  # far less than it prints: it is not done before the reader has gone, however slow that one is
        ) as process
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(300) == 2
    assert b"internal_error" not in said
