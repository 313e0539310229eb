"""The same inputs give the same bytes, wherever and however averment is run; and no report names a folder of the machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

REPORTS = ("html", "markdown", "junit", "sarif")
DRIVER = """\
import json, sys
from contextlib import redirect_stdout, suppress
from averment.cli.main import main
with open(sys.argv[1], encoding="utf-8") as listed:
    asked = json.load(listed)
for name, *arguments in asked:
    with open(name, "w", encoding="utf-8") as file, redirect_stdout(file), suppress(SystemExit):
        main(arguments)
"""
"""Runs commands one after the other, in one process, with standard output in files."""

ENVIRONMENTS = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8", "COLUMNS": "200"},
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C", "COLUMNS": "40"},
    {"PYTHONHASHSEED": "4711", "TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8", "PYTHONUTF8": "0"},
)

Run = Callable[..., Mapping[str, bytes]]


def commands(where: str = "") -> list[Sequence[str]]:
    """Every command that makes a report, with its inputs in a folder."""
    doc, one, many = (f"{where}{name}" for name in ("d.json", "c.json", "many.jsonl"))
    kept = ["--output", "one.envelope", "--results", "one.results"]
    return [
        ("one.txt", "run", doc, one, "--verbose", "--github", *kept, *reports("one")),
        ("many.txt", "run", doc, many, "--all", "--github", *reports("many")),
        ("cards.txt", "report", "one.envelope", *reports("cards")),
        ("whole.txt", "report", "one.results", "-e", one, "-d", doc, "--github", *reports("whole")),
        (
            *("suite.txt", "run", "--suite", f"{where}suite/averment.yaml", "--keep", "kept", "--jobs", "3"),
            *("--results", "suite.results", *reports("suite")),
        ),
        ("diff.txt", "diff", "one.results", "one.results", "--verbose"),
        ("diff.json", "diff", "suite.results", "suite.results", "--format", "json"),
        ("diff.md", "diff", "suite.results", "suite.results", "--format", "markdown"),
        ("show.txt", "evidence", "show", one),
    ]


def reports(name: str) -> list[str]:
    """The options for all reports."""
    return [part for report in REPORTS for part in (f"--{report}", f"{name}.{report}")]


@pytest.fixture(scope="module")
def inputs(twin: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document, conversations and a suite, under plain names."""
    folder = tmp_path_factory.mktemp("inputs")
    for name, given in {"d.json": "Fdocument", "c.json": "Fcall", "many.jsonl": "Fcalls"}.items():
        shutil.copy(next(twin.folder.path.glob(f"{given} *")), folder / name)
    shutil.copytree(twin.folder.path / "suite", folder / "suite", ignore=shutil.ignore_patterns(".averment"))
    return folder


def run(folder: Path, asked: Sequence[Sequence[str]], environment: Mapping[str, str]) -> Mapping[str, bytes]:
    """Runs commands in a folder; the files that they wrote."""
    before = set(folder.iterdir())
    listed = folder / "commands"
    listed.write_text(json.dumps(asked), encoding="utf-8")
    subprocess.run(
        [sys.executable, "-c", DRIVER, listed.name],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **environment},
        check=True,
        timeout=120,
    )
    made = {path.name: path.read_bytes() for path in set(folder.iterdir()) - before if path.is_file()}
    del made["commands"]
    assert len(made) == len(asked) + 5 * len(REPORTS) + 3, sorted(made)
    return made


@pytest.fixture(scope="module")
def made(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    """What all commands write in the first environment."""
    folder = tmp_path_factory.mktemp("first")
    shutil.copytree(inputs, folder, dirs_exist_ok=True)
    return run(folder, commands(), ENVIRONMENTS[0])


@pytest.mark.parametrize("environment", ENVIRONMENTS[1:], ids=lambda each: each["LC_ALL"])
def test_reports_are_the_same_bytes_everywhere(
    environment: Mapping[str, str], inputs: Path, made: Mapping[str, bytes], tmp_path: Path
) -> None:
    """Neither the order of hashes, the time zone, the locale, the terminal nor the folder is in any output."""
    folder = tmp_path / "else where" / "é"
    shutil.copytree(inputs, folder)
    again = run(folder, commands(), environment)
    assert again.keys() == made.keys()
    assert [name for name in made if again[name] != made[name]] == []


def test_a_path_from_the_root_is_in_no_report(
    inputs: Path, made: Mapping[str, bytes], tmp_path: Path
) -> None:
    """Inputs from anywhere are told by name; those of the working folder as if they had been given from there."""
    away = run(tmp_path, commands(f"{inputs}/"), ENVIRONMENTS[0])
    assert away.keys() == made.keys()
    for name, data in away.items():
        if not name.endswith(".txt"):  # what people read names files as they did
            assert str(inputs.parent).encode() not in data, name
            assert str(tmp_path).encode() not in data, name
    folder = tmp_path / "folder"
    shutil.copytree(inputs, folder)
    inside = run(folder, commands(f"{folder}/"), ENVIRONMENTS[0])
    files = [name for name in made if not name.endswith(".txt") and not name.startswith("suite")]
    assert [name for name in files if inside[name] != made[name]] == []
