"""`averment pack build` as a shell sees it: exit codes, files, streams, signals."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import jsonschema
import pytest
from small_builds import ASSERTION, counting, files, lines
from small_packs import CASES, write

from averment.cli import pack_build
from averment.oracle.build.production import Progress
from averment.report.schemas import schema

BINARY = str(Path(sys.executable).parent / "averment")
ENVIRONMENT = {**os.environ, "NO_COLOR": "1"}
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs the command in a folder with a pack of many tasks, a flawed one, a broken one, and what is none."""
    counting(tmp_path / "gold", 400)
    write(tmp_path / "flawed", cases=CASES[1:])
    write(tmp_path / "broken", tools="[")
    (tmp_path / "file").write_text("x")

    def ran(*args: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [BINARY, "pack", "build", *args],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            cwd=tmp_path,
            env=ENVIRONMENT,
            timeout=300,
        )
        assert "Traceback" not in done.stderr
        return done

    return ran


def test_a_benchmark_is_exit_0_and_the_same_command_again_is_quick_and_says_so(
    run: Run, tmp_path: Path
) -> None:
    """The summary names the folder as it was given, the rows and the tier; nothing is on standard error."""
    command = ("gold", "--out", "out", "--tasks-per-category", "4", "--seed", "7", "-j", "2")
    done = run(*command)
    assert (done.returncode, done.stdout, done.stderr) == (0, "out: 4 rows of tier gold\n", "")
    before = files(tmp_path / "out")
    assert json.loads(before["run_manifest.json"])["seeds"]["global"] == 7
    again = run(*command, "--export", "chat")
    assert (again.returncode, again.stdout) == (0, "out: 4 rows of tier gold, complete already\n")
    assert len(lines(tmp_path / "out", "chat.jsonl")) == 4
    assert files(tmp_path / "out")["benchmark.jsonl"] == before["benchmark.jsonl"]


def test_a_pack_below_the_tier_is_exit_1_unless_silver_is_allowed(run: Run, tmp_path: Path) -> None:
    """The manifest is printed with `--format json`, and fits its schema."""
    done = run("flawed", "--out", "out")
    assert (done.returncode, done.stdout) == (1, "")
    assert "error[tier_too_low]: the pack is silver, and gold is asked for; in the way: 5 " in done.stderr
    assert "--allow-tier silver" in done.stderr
    assert not (tmp_path / "out").exists()
    done = run("flawed", "--out", "out", "--allow-tier", "silver", "--format", "json")
    assert done.returncode == 0
    assert done.stdout == (tmp_path / "out" / "run_manifest.json").read_text("utf-8")
    manifest = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema("pack-run-manifest")).validate(manifest)
    assert (manifest["tier"], manifest["gold_eligible"]) == ("silver", False)


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("broken", "--out", "out"), "yaml_syntax"),
        (("nowhere", "--out", "out"), "pack_not_found"),
        (("gold", "--out", "file"), "output_unwritable"),
        (("gold", "--out", "gold/out"), "output_inside_pack"),
        (("gold",), "usage"),
        (("gold", "--out", "out", "--seed", "-1"), "usage"),
        (("gold", "--out", "out", "--seed", str(2**64)), "usage"),
        (("gold", "--out", "out", "--tasks-per-category", "0"), "usage"),
        (("gold", "--out", "out", "--language", "xx"), "language_not_available"),
        (("gold", "--out", "out", "--config", "none.yaml"), "options_unreadable"),
    ],
)
def test_what_can_not_be_built_is_exit_2_and_leaves_no_folder(
    run: Run, tmp_path: Path, args: tuple[str, ...], code: str
) -> None:
    """A code stands on standard error, nothing on standard output."""
    done = run(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"error[{code}]" in done.stderr
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "file").read_text() == "x"


def test_drops_and_short_categories_are_told(run: Run, tmp_path: Path) -> None:
    """The summary has the reasons with their templates; options come from a file as well."""
    counting(tmp_path / "odd", 5, assertions=f'{ASSERTION}    assert task["slots"]["box_id"] % 2\n')
    (tmp_path / "options.yaml").write_text("{tasks_per_category: 9, oops: 1}\n")
    done = run("odd", "--out", "out", "--config", "options.yaml")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "out: 3 rows of tier gold",
        "  dropped 2: assertion_failed (look_up 2)",
        "  dropped.jsonl says why of each",
    ]
    assert "warning[unknown_key]" in done.stderr
    assert "warning[category_short]: the category `look_up` has 5 of 9 tasks" in done.stderr


def test_what_was_interrupted_goes_on(run: Run, tmp_path: Path) -> None:
    """By Ctrl-C, in the middle of its tasks: it says how many there are, and the same command has the same bytes."""
    for count in (25, 100, 400):
        command = ("gold", "--out", "out", "--tasks-per-category", str(count), "-j", "2")
        code, printed, told = _interrupted(tmp_path, command)
        if code != 0:
            break
        shutil.rmtree(tmp_path / "out")  # it was done before it could be interrupted
    assert (code, printed) == (3, "")
    known = (tmp_path / "out" / ".journal.jsonl").read_bytes().count(b"\n") - 1
    counted = [f"stopped after {count} tasks; the same command goes on" for count in (known - 1, known)]
    assert any(line in told for line in counted), told
    assert "error[interrupted]" in told
    assert not (tmp_path / "out" / "run_manifest.json").exists()
    done = run(*command)
    assert done.returncode == 0
    assert (
        done.stdout == f"out: {count} rows of tier gold\n  {known} tasks were there from an earlier start\n"
    )
    run("gold", "--out", "whole", "--tasks-per-category", str(count))
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def _interrupted(folder: Path, command: Sequence[str]) -> tuple[int, str, str]:
    """What becomes of a build that gets a Ctrl-C once it has made a few tasks: exit code, output and errors."""
    journal = folder / "out" / ".journal.jsonl"
    with subprocess.Popen(
        [BINARY, "pack", "build", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=ENVIRONMENT,
        # A suite that a shell has started in the background ignores Ctrl-C, and so would all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - no thread runs
    ) as process:
        while not journal.exists() or journal.read_bytes().count(b"\n") < 6:
            if process.poll() is not None:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate(timeout=300)
    return process.returncode, printed, told


def test_progress_is_one_line_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many tasks, how quick, what was dropped; it is gone in the end."""
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    bar = pack_build._Bar()
    bar.task(Progress(12, 600, {"assertion_failed": 2, "gold_call_errs": 1}, 41.7))
    bar.clear()
    shown = "12 of 600 tasks, 42 tasks/s, dropped: assertion_failed 2, gold_call_errs 1"
    assert terminal.getvalue() == f"\r\x1b[K{shown}\r\x1b[K"


def test_progress_is_written_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log stays short."""
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    bar = pack_build._Bar()
    bar.task(Progress(12, 600, {}))
    bar.clear()
    assert log.getvalue() == ""
