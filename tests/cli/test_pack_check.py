"""`averment pack check` as a shell sees it: exit codes, files, streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from small_packs import CASES, PLANTED, write

from averment.report.schemas import schema

REPORT = "oracle_validation_report.json"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs the command in a folder with the good pack, a broken one, and what is none."""
    write(tmp_path / "gold")
    write(tmp_path / "flawed", cases=CASES[1:])
    write(tmp_path / "broken", tools="[", manifest={"version": []})
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    binary = Path(sys.executable).parent / "averment"

    def ran(*args: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [binary, "pack", "check", *args],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1"},
            timeout=300,
        )
        assert "Traceback" not in done.stderr
        return done

    return ran


def reported(path: Path) -> dict[str, Any]:
    """The report in a file or a folder; it fits the published schema."""
    text = (path / REPORT if path.is_dir() else path).read_text("utf-8")
    written: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator(schema("pack-report")).validate(written)
    return written


def test_a_gold_pack_is_exit_0_and_its_report_lies_under_its_name(run: Run, tmp_path: Path) -> None:
    """In the working folder; the text says where."""
    done = run("gold")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"tier: gold\nreport: .averment/gold/{REPORT}\n")
    assert reported(tmp_path / ".averment" / "gold")["tier"] == "gold"
    assert str(tmp_path) not in done.stdout


def test_a_pack_that_is_not_gold_is_exit_1(run: Run, tmp_path: Path) -> None:
    """With `--format json` the report is printed, byte for byte that of the file."""
    done = run("./flawed/", "--output-dir", "out", "--format", "json")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == (tmp_path / "out" / REPORT).read_text("utf-8")
    assert reported(tmp_path / "out")["tier"] == "silver"
    assert not (tmp_path / ".averment").exists()


def test_a_pack_that_cannot_be_loaded_is_exit_2_and_has_a_report_all_the_same(
    run: Run, tmp_path: Path
) -> None:
    """Every mistake of every file, on standard error and in the file."""
    done = run("broken", "--format", "json")
    assert done.returncode == 2
    found = reported(tmp_path / ".averment" / "broken")
    assert json.loads(done.stdout) == found
    assert {finding["file"] for finding in found["findings"]} == {"manifest.yaml", "tools.json"}
    assert all(f"[{finding['code']}]" in done.stderr for finding in found["findings"])


@pytest.mark.parametrize(
    ("args", "code", "mend"),
    [
        (("nowhere",), "pack_not_found", "Give the folder that holds `manifest.yaml`."),
        (("file",), "not_a_directory", "Give the folder that holds `manifest.yaml`."),
        (("empty",), "manifest_missing", "or make one with `averment pack new`."),
        (("gold", "--config", "nowhere"), "options_unreadable", "."),
        (("gold", "--output-dir", "file"), "output_unwritable", "Give another with `--output-dir`."),
        (("gold", "--only", "tool"), "usage", "See `averment pack check --help`."),
        (("gold", "-j", "0"), "usage", "See `averment pack check --help`."),
        (("gold", "-j", "two"), "usage", "See `averment pack check --help`."),
        ((), "usage", "See `averment pack check --help`."),
    ],
)
def test_what_is_no_pack_and_no_option_is_exit_2(
    run: Run, tmp_path: Path, args: tuple[str, ...], code: str, mend: str
) -> None:
    """With what to do; nothing is printed, and no folder is left behind for what is no pack."""
    done = run(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"error[{code}]" in done.stderr
    assert mend in done.stderr
    assert (tmp_path / ".averment").exists() == (code == "options_unreadable")


@pytest.mark.parametrize("part", ["manifest", "tools", "templates", "assertions", "cases", "tasks"])
def test_a_part_is_checked_without_a_report(run: Run, tmp_path: Path, part: str) -> None:
    """Unless a folder is named."""
    done = run("gold", "--only", part)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"{part}: nothing wrong")
    assert not (tmp_path / ".averment").exists()


def test_a_part_with_failures_is_exit_1(run: Run, tmp_path: Path) -> None:
    """The report says which part."""
    done = run("flawed", "--only", "cases", "--output-dir", "out", "-j", "3")
    assert done.returncode == 1
    shown = reported(tmp_path / "out")
    assert (shown["only"], shown["passed"]) == ("cases", False)


def test_options_come_from_a_file_and_their_paths_are_relative_to_it(run: Run, tmp_path: Path) -> None:
    """Where the report goes among them; the command line wins. Oddities are told, and mistakes under `--strict`."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "run.yaml").write_text("random_seed: 7\noutput_dir: reports\nrandom_sed: 1\n")
    done = run("gold", "--config", "conf/run.yaml")
    assert done.returncode == 0
    assert "conf/run.yaml:3:1: warning[unknown_key]" in done.stderr
    shown = reported(tmp_path / "conf" / "reports")
    assert shown["options"]["random_seed"] == 7
    assert str(tmp_path) not in json.dumps(shown)
    strict = run("gold", "--config", "conf/run.yaml", "--strict", "--output-dir", "out")
    assert (strict.returncode, "error[unknown_key]" in strict.stderr) == (2, True)
    assert [finding["code"] for finding in reported(tmp_path / "out")["findings"]] == ["unknown_key"]


def test_isolation_can_be_required(run: Run) -> None:
    """Every platform has at least a process of its own; another word is no level."""
    assert run("gold", "--only", "tools", "--require-isolation", "guarded").returncode == 0
    assert run("gold", "--require-isolation", "perfect").returncode == 2


def test_words_of_a_pack_do_not_command_the_terminal(run: Run, tmp_path: Path) -> None:
    """In what is refused as in what is certified."""
    evil = "\x1b[31m\u202e"
    write(tmp_path / "evil", manifest={"pack_id": evil, evil: 1}, cases=[{"id": evil, "tool": evil}])
    write(tmp_path / "worse", manifest={"pack_id": [evil], "paths": {"tools": evil}})
    for name, code in (("evil", 1), ("worse", 2)):
        done = run(name, "--output-dir", "out")
        assert done.returncode == code
        assert "\x1b" not in done.stdout + done.stderr
        assert "\u202e" not in done.stdout + done.stderr


def test_what_is_planted_in_tasks_is_named(run: Run, tmp_path: Path) -> None:
    """A call that reads the date, one that asks for what nobody says, and an assertion that can't fail."""
    write(tmp_path / "planted", **PLANTED)
    done = run("planted", "--only", "tasks")
    assert (done.returncode, done.stderr) == (1, "")
    told = done.stdout.partition("\n\n")[2]  # how well workers are shut in depends on the machine
    assert (
        told
        == """\
   7  representative_generation_contract  FAIL  2 failures

7 representative_generation_contract
  task_templates.yaml:31:2: representative_replay_failed (nondeterministic_replay)
    the task of `put_in`: results diverged at $[0].on
    reads the world: backend.py:40: date.today
    -> Take time and chance from `ctx` only, and put what has no order in one.
  task_templates.yaml:77:2: representative_generation_failed (gold_not_realizable)
    the task of `look_beside`: `box_id` of the call of `look` is "B-1", which stands in the template, and neither a turn \
before the call nor the schema has it
    -> Let a turn of the user say the value before the call, or read it from the result of an earlier call.

1 warning
  assertions.py:5: warning[vacuous_assertion]: `assert_fine` passes all of 6 mutants of the tasks that name it
      Assert what the right calls bring about, or remove the assertion.

tasks: not right
"""
    )
