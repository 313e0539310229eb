"""The same verdicts give the same page, byte by byte, wherever and however it is made."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

Write = Callable[[Path], None]


def made(folder: Path, **environment: str) -> bytes:
    """The page that a process of its own makes in that folder."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "averment",
            "run",
            "every-kind.yaml",
            "call-3090.json",
            "--html",
            "report.html",
        ],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return (folder / "report.html").read_bytes()


def test_two_processes_write_the_same_bytes(tmp_path: Path, write_kinds: Write) -> None:
    """Neither the hash seed nor the time zone, the locale or the working folder can be told from a page."""
    here, there = tmp_path / "here", tmp_path / "over" / "there"
    for folder in (here, there):
        folder.mkdir(parents=True)
        write_kinds(folder)
    first = made(here, PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C", COLUMNS="40")
    second = made(there, PYTHONHASHSEED="2", TZ="Asia/Kathmandu", LC_ALL="C.UTF-8", COLUMNS="200")
    assert first == second
    assert str(tmp_path).encode() not in first


def test_the_command_writes_what_the_function_returns(
    tmp_path: Path, write_kinds: Write, report: Callable[[str], str]
) -> None:
    """`averment run --html` and `averment.report.html` make the same page."""
    write_kinds(tmp_path)
    assert made(tmp_path) == report("kinds").encode()
