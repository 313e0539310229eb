from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from averment.cli.init import FILES
from averment.report.schemas import schema
from averment.text.source import read_source

Averment = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def averment(tmp_path: Path) -> Averment:
    """Runs `averment` with arguments, in an empty folder."""

    def run(*words: str, folder: str = ".") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "averment", *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            cwd=tmp_path / folder,
        )

    return run


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_what_it_writes_is_right_and_passes(averment: Averment, tmp_path: Path) -> None:
    """The documents have no mistake and no warning, the suite fits its schema, and the gate says yes."""
    done = averment("init")
    assert done.returncode == 0, done.stderr
    assert _files(tmp_path) == sorted(FILES)
    assert all(f"  {name}\n" in done.stdout for name in FILES)
    checked = averment("check", "assertions/refunds.yaml")
    assert (checked.returncode, checked.stdout) == (0, "assertions/refunds.yaml: ok, 3 assertions\n")
    assert "warning" not in checked.stderr
    suite = read_source((tmp_path / "averment.yaml").read_bytes()).value
    jsonschema.validate(suite, schema("suite"))
    ran = averment("run")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 pass · 0 fail · 0 inconclusive" in ran.stdout


def test_its_gate_says_no_to_a_fail_and_to_what_cant_be_decided(averment: Averment, tmp_path: Path) -> None:
    """`inconclusive_policy: fail`: an agent that does nothing, and a recorder that records nothing, both stop."""
    averment("init")
    recording = tmp_path / "recordings" / "refund.json"
    text = recording.read_text(encoding="utf-8")
    recording.write_text(text.replace('"amount": 42', '"amount": 4'), encoding="utf-8")
    assert averment("run").returncode == 1
    recording.write_text(text.replace('"spans"', '"timing"'), encoding="utf-8")
    done = averment("run")
    assert done.returncode == 1
    assert "trace_absent" in done.stdout


def test_the_commented_entry_of_its_suite_is_right(averment: Averment, tmp_path: Path) -> None:
    """Whoever takes away the comment signs has a suite that produces."""
    averment("init")
    path = tmp_path / "averment.yaml"
    lines = path.read_text(encoding="utf-8").split("\n")
    start = lines.index("  # - name: agent")
    uncommented = [line.replace("  # ", "  ", 1) for line in lines[start:]]
    path.write_text(
        "\n".join([*lines[:start], *uncommented]).replace("python,", f"{sys.executable},"), encoding="utf-8"
    )
    (tmp_path / "cases.csv").write_text("order_id\nA-1\n", encoding="utf-8")
    (tmp_path / "agent.py").write_text(
        "import shutil, sys\nassert sys.argv[1:3] == ['--order', 'A-1']\nshutil.copy('recordings/refund.json', sys.argv[4])\n",
        encoding="utf-8",
    )
    done = averment("run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 conversations: 4 exit 0\n" in done.stdout


def test_its_workflow_runs_the_suite_and_gates(averment: Averment, tmp_path: Path) -> None:
    """It is YAML, needs no write permission, and no pipe hides the exit code."""
    averment("init")
    workflow = read_source((tmp_path / ".github/workflows/averment.yml").read_bytes()).value
    assert workflow["on"] == "pull_request"
    assert workflow["permissions"] == {"contents": "read"}
    commands = [step["run"] for step in workflow["jobs"]["verdicts"]["steps"] if "run" in step]
    (gate,) = [command for command in commands if command.startswith("averment run")]
    assert "|" not in gate
    words = gate.split()
    done = averment(*words[1:2], "--results", words[words.index("--results") + 1])
    assert done.returncode == 0
    assert {word for word in words if word.startswith("--")} == {
        "--html",
        "--junit",
        "--markdown",
        "--results",
    }


def test_it_overwrites_nothing_and_tells_every_conflict(averment: Averment, tmp_path: Path) -> None:
    """Where one file is there, none is written; a link that leads nowhere is there as well."""
    (tmp_path / "averment.yaml").write_text("mine", encoding="utf-8")
    (tmp_path / "recordings").mkdir()
    (tmp_path / "recordings/refund.json").symlink_to("nowhere")
    done = averment("init")
    assert done.returncode == 2
    assert done.stderr.count("error[output_exists]") == 2
    assert "averment.yaml: error[output_exists]: there is a suite already" in done.stderr
    assert _files(tmp_path) == ["averment.yaml"]
    assert (tmp_path / "averment.yaml").read_text(encoding="utf-8") == "mine"


def test_a_suite_in_pyproject_is_a_suite_already(averment: Averment, tmp_path: Path) -> None:
    """An averment.yaml beside it would silently take its place."""
    (tmp_path / "pyproject.toml").write_text("[tool.averment]\nversion = 1\n", encoding="utf-8")
    done = averment("init")
    assert done.returncode == 2
    assert "pyproject.toml: error[output_exists]: there is a suite already" in done.stderr
    assert _files(tmp_path) == ["pyproject.toml"]


def test_it_writes_to_another_folder(averment: Averment, tmp_path: Path) -> None:
    """Made where it is not there; the command that it names works from where one is."""
    done = averment("init", "--into", "new one/deep")
    assert done.returncode == 0, done.stderr
    assert "  averment run --suite 'new one/deep'\n" in done.stdout
    assert averment("run", "--suite", "new one/deep").returncode == 0
    assert averment("run", folder="new one/deep").returncode == 0
    assert _files(tmp_path / "new one/deep") == sorted(FILES)


def test_a_folder_that_cant_be_written_to_is_told(averment: Averment, tmp_path: Path) -> None:
    """As a problem with the file, and what to do."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = averment("init", "--into", f"file{os.sep}x")
    assert done.returncode == 2
    assert "error[output_unwritable]" in done.stderr
    assert "--into" in done.stderr
