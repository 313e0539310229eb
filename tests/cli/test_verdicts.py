from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from averment.cli import outputs

DOCUMENT = """\
version: 1
assertions:
  - {id: greets, kind: phrase, regex: hello, description: A conversation begins with a word of welcome to whoever calls.}
"""
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
BOX = re.compile("[\u2500-\u257f]")


def lines(*texts: str) -> str:
    records = [
        {"id": f"c{number}", "messages": [{"role": "assistant", "content": text}]}
        for number, text in enumerate(texts)
    ]
    return "".join(f"{json.dumps(record)}\n" for record in records)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    """A document, and files with one and with several conversations."""
    (tmp_path / "d.yaml").write_text(DOCUMENT)
    (tmp_path / "one.jsonl").write_text(lines("bye"))
    (tmp_path / "good.jsonl").write_text(lines("hello"))
    (tmp_path / "three.jsonl").write_text(lines("hello", "bye", "hello"))
    return tmp_path


def plain(folder: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs averment with pipes."""
    return subprocess.run(
        [sys.executable, "-m", "averment", "run", "d.yaml", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=folder,
        env={"PATH": "", "PYTHONDONTWRITEBYTECODE": "1", **environment},
        timeout=300,
    )


def test_a_terminal_gets_colours_tables_and_lines_of_its_width(terminal: Callable[..., Any]) -> None:
    """And what gates stands there as everywhere."""
    seen = terminal("run", "d.yaml", "three.jsonl", "--all", width=60)
    assert seen.code == 1
    assert "\x1b[31;1mFAIL\x1b[0m" in seen.terminal
    assert BOX.search(seen.terminal)
    bare = ANSI.sub("", seen.terminal)
    assert "    A conversation begins with a word of welcome to whoever\n      calls.\n" in bare
    assert bare.endswith("3 conversations: 2 exit 0 · 1 exit 1\nexit 1: the gate says no\n")


def test_a_pipe_gets_plain_lines(folder: Path, terminal: Callable[..., Any]) -> None:
    """Neither colours nor boxes, nothing wrapped; the same bytes whoever looks at standard error."""
    done = plain(folder, "three.jsonl", "--all")
    assert done.returncode == 1
    assert not done.stderr
    assert "\x1b" not in done.stdout
    assert not BOX.search(done.stdout)
    assert "    A conversation begins with a word of welcome to whoever calls.\n" in done.stdout
    assert "  three.jsonl [c1]     0     1             0    0     1\n" in done.stdout
    seen = terminal("run", "d.yaml", "three.jsonl", "--all", piped="stdout")
    assert seen.pipe == done.stdout


@pytest.mark.parametrize(
    ("environment", "is_colored", "is_drawn"),
    [
        ({"NO_COLOR": "1"}, False, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, True),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "0"}, False, True),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": "dumb", "CLICOLOR_FORCE": "1"}, True, False),
    ],
)
def test_a_terminal_is_what_its_user_says(
    terminal: Callable[..., Any], environment: dict[str, str], is_colored: bool, is_drawn: bool
) -> None:
    """NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE and TERM=dumb mean what they mean elsewhere."""
    seen = terminal("run", "d.yaml", "three.jsonl", "--all", **environment)
    assert ("\x1b[" in seen.terminal) is is_colored
    assert bool(BOX.search(seen.terminal)) is is_drawn


@pytest.mark.parametrize(
    ("environment", "is_colored"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"CLICOLOR_FORCE": "0"}, False),
        ({"FORCE_COLOR": "false", "CLICOLOR_FORCE": "1"}, False),
        ({"FORCE_COLOR": "3", "NO_COLOR": "1"}, False),
    ],
)
def test_colours_can_be_asked_for_without_a_terminal(
    folder: Path, environment: dict[str, str], is_colored: bool
) -> None:
    """As logs of CI show them; nothing else changes."""
    done = plain(folder, "three.jsonl", "--all", **environment)
    assert ("\x1b[31;1mFAIL" in done.stdout) is is_colored
    assert ANSI.sub("", done.stdout) == plain(folder, "three.jsonl", "--all").stdout


def test_one_conversation_at_a_terminal_imports_nothing_that_draws(terminal: Callable[..., Any]) -> None:
    """Neither rich nor jinja2: the first verdict comes as fast as in a pipe."""
    seen = terminal("run", "d.yaml", "one.jsonl", PYTHONPROFILEIMPORTTIME="1")
    assert "averment.report.terminal" in seen.terminal
    assert not re.search(r"\b(rich|jinja2|averment\.report\.(summary|tables|html))\b", seen.terminal)


def test_quiet_says_nothing_of_what_passes(folder: Path) -> None:
    """The exit code says it; and of several conversations only what is open is shown."""
    done = plain(folder, "good.jsonl", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = plain(folder, "three.jsonl", "--all", "--quiet")
    assert "c0" not in done.stdout
    assert "FAIL  greets" in done.stdout
    both = plain(folder, "good.jsonl", "-q", "--verbose")
    assert both.returncode == 2
    assert "error[usage]" in both.stderr


def test_what_was_judged_before_an_error_is_shown(folder: Path) -> None:
    """A second file that can't be read takes nothing away from the first; there is no verdict over both."""
    done = plain(folder, "one.jsonl", "missing.jsonl")
    assert done.returncode == 2
    assert "FAIL  greets" in done.stdout
    assert "file_not_found" in done.stderr
    assert "conversations:" not in done.stdout


def test_a_large_file_of_lines_is_judged_like_a_small_one(folder: Path) -> None:
    """Read in parts, with the same names; what is wrong in a late line is told with its line, and no verdict."""
    whole = lines(*("hello " + "x" * 3000 if number % 7 else "bye" for number in range(500)))
    (folder / "big.jsonl").write_text(whole)
    (folder / "small.jsonl").write_text(lines(*("hello" if number % 7 else "bye" for number in range(500))))
    big, small = (plain(folder, f"{name}.jsonl", "--all") for name in ("big", "small"))
    assert big.returncode == small.returncode == 1
    assert big.stdout.replace("big.jsonl", "small.jsonl") == small.stdout
    assert "500 conversations: 428 exit 0 · 72 exit 1" in big.stdout
    (folder / "big.jsonl").write_text(whole + '{"messages": broken\n')
    done = plain(folder, "big.jsonl", "--all", "--output", "kept.json")
    assert done.returncode == 2
    assert "big.jsonl:501:14: error[json_syntax]" in done.stderr
    assert not (folder / "kept.json").exists()


def test_a_large_file_with_one_conversation_has_the_same_name_as_a_small_one(folder: Path) -> None:
    """The id is told where there are several."""
    messages = [{"role": "assistant", "content": "bye " + "x" * 900_000}] * 2
    (folder / "one.jsonl").write_text(json.dumps({"id": "c", "messages": messages}) + "\n")
    assert "d.yaml over one.jsonl\n" in plain(folder, "one.jsonl", "--all").stdout


def test_text_for_people_goes_aside_where_standard_output_is_a_report(folder: Path) -> None:
    """As it does for one conversation."""
    done = plain(folder, "three.jsonl", "--all", "--junit", "-")
    assert done.stdout.startswith("<?xml")
    assert "3 conversations: 2 exit 0 · 1 exit 1" in done.stderr


def test_nothing_that_a_run_prints_is_a_command_in_a_workflow(folder: Path) -> None:
    """Within GitHub Actions and elsewhere: only the annotations are."""
    (folder / "evil.jsonl").write_text(lines("::stop-commands::x", "##[error]x", "hello"))
    (folder / "d.yaml").write_text(DOCUMENT + "  - {id: '::error::x', kind: phrase, regex: no}\n")
    for environment in ({}, {"GITHUB_ACTIONS": "true"}):
        done = plain(folder, "evil.jsonl", "--all", "--verbose", **environment)
        commands = [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")]
        assert all(re.match("::(error|warning|notice) ", line) for line in commands)
        assert bool(commands) is bool(environment)
        assert "##[" not in done.stdout
        assert "\\::error::x" in done.stdout


def test_nothing_judged_is_no_verdict() -> None:
    """Whoever takes no conversation can't say yes."""
    from argparse import Namespace

    from averment.cli.verdicts import REPORTS, verdicts

    args = Namespace(
        format="text", compat=False, verbose=False, quiet=False, output=None, results=None, github=False,
        **dict.fromkeys(REPORTS),
    )  # fmt: skip
    with verdicts(args) as taken:
        assert taken.finish() == 2


def test_the_width_is_that_of_the_terminal_or_what_columns_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal there is none."""
    assert outputs.look().width is None
    monkeypatch.setattr(outputs, "is_terminal", lambda _: True)
    monkeypatch.setenv("COLUMNS", "55")
    assert outputs.look().width == 55
