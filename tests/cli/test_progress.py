from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from averment.cli.progress import MANY, progress

DOCUMENT = "version: 1\nassertions:\n  - {id: greets, kind: phrase, regex: hello}\n"
COUNTED = re.compile(r"\d[\d,]*(?: of \d+)? conversations")
HIDES_CURSOR, SHOWS_CURSOR, CLEARS_LINE = "\x1b[?25l", "\x1b[?25h", "\x1b[2K"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    """A document, and conversations by the hundred in one file, and in some files."""
    (tmp_path / "d.yaml").write_text(DOCUMENT)
    records = [{"id": f"c{n}", "messages": [{"role": "assistant", "content": "hello"}]} for n in range(300)]
    (tmp_path / "many.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    (tmp_path / "few.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records[: MANY - 1]))
    for number in range(3):
        (tmp_path / f"{number}.json").write_text(json.dumps(records[number]))
    return tmp_path


def test_many_conversations_show_how_far_they_are(terminal: Callable[..., Any]) -> None:
    """On standard error, how many are done and how many fail; gone at the end, with the cursor back."""
    seen = terminal("run", "d.yaml", "many.jsonl", "--all", piped="stdout")
    assert COUNTED.search(seen.terminal)
    assert "0 failing" in seen.terminal
    assert seen.terminal.count(HIDES_CURSOR) == seen.terminal.count(SHOWS_CURSOR) > 0
    assert seen.terminal.rstrip().endswith(CLEARS_LINE)
    assert "300 conversations: 300 exit 0" in seen.pipe
    assert "\x1b" not in seen.pipe


def test_a_known_number_is_shown_from_the_beginning(terminal: Callable[..., Any]) -> None:
    """A suite of three commands may take minutes."""
    seen = terminal("run", "d.yaml", "0.json", "1.json", "2.json", piped="stdout")
    assert "0 of 3 conversations" in re.sub(r"\x1b\[[0-9;]*m", "", seen.terminal)


def test_what_is_printed_does_not_mix_with_it(terminal: Callable[..., Any]) -> None:
    """Where both go to one terminal, the line is taken away before anything is printed."""
    seen = terminal("run", "d.yaml", "many.jsonl", "--all", "--verbose")
    printed = seen.terminal.split(SHOWS_CURSOR)
    assert len(printed) > 200
    assert all(each.startswith("\r\x1b[1A\x1b[2K") for each in printed[1:])


@pytest.mark.parametrize(
    ("args", "how"),
    [
        (("many.jsonl", "--all"), {"piped": "stderr"}),
        (("many.jsonl", "--all"), {"CI": "true"}),
        (("many.jsonl", "--all"), {"TERM": "dumb"}),
        (("few.jsonl", "--all"), {}),
        (("0.json",), {}),
        (("many.jsonl", "--all", "--format", "json"), {}),
    ],
    ids=["a pipe", "CI", "a dumb terminal", "a few", "one", "JSON at the terminal"],
)
def test_nothing_is_drawn_where_nobody_looks_or_little_is_to_do(
    terminal: Callable[..., Any], args: tuple[str, ...], how: dict[str, str]
) -> None:
    """Logs hold what was found, not what was drawn while it was looked for."""
    seen = terminal("run", "d.yaml", *args, **how)
    assert seen.code == 0
    assert HIDES_CURSOR not in seen.terminal + seen.pipe
    assert "failing" not in seen.terminal + seen.pipe


def test_json_into_a_pipe_shows_progress_beside_it(terminal: Callable[..., Any]) -> None:
    """There is nothing else to look at."""
    seen = terminal("run", "d.yaml", "many.jsonl", "--all", "--format", "json", piped="stdout")
    assert COUNTED.search(seen.terminal)
    assert seen.pipe.count('"schema": "assert.v1"') == 300


def test_an_error_takes_the_line_away_as_well(terminal: Callable[..., Any], folder: Path) -> None:
    """What went wrong stands in a line of its own."""
    with open(folder / "many.jsonl", "a") as file:
        file.write("x" * 2**20 + "\n")
    seen = terminal("run", "d.yaml", *(["many.jsonl"] * 3), "missing.json", "--all", piped="stdout")
    assert seen.code == 2
    assert seen.terminal.count(HIDES_CURSOR) == seen.terminal.count(SHOWS_CURSOR)
    assert re.search(r"(\x1b\[2K|^)many\.jsonl:301:1: error\[", seen.terminal, re.MULTILINE)


def test_steps_are_counted_without_a_terminal_too() -> None:
    """It is the same to whoever tells them, and rich is not imported for it."""
    before = "rich.progress" in sys.modules
    with progress(500) as steps:
        for number in range(500):
            steps.advance(failing=number % 2 == 0)
        steps.pause()
        assert steps._drawn is None
    assert ("rich.progress" in sys.modules) is before
