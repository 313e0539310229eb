"""`averment pack new` as a command: what it prints, what it refuses, and that it refuses everything at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from averment.cli import pack_new
from averment.cli.parser import Parser, parse
from averment.errors import UsageError

New = Callable[..., Path]


def _refused(*args: str) -> UsageError:
    parser = Parser("averment pack new", "")
    pack_new.configure(parser)
    with pytest.raises(UsageError) as refused:
        pack_new.execute(parse(parser, args))
    return refused.value


def test_it_prints_the_target_and_what_to_do_next(new: New, capfd: pytest.CaptureFixture[str]) -> None:
    """The target alone in the first line, the next command in the last."""
    folder = new("library loans")
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == str(folder)
    assert "`library_loans`, 8 files" in lines[1]
    assert lines[-2:] == ["Next:", f"  averment pack check {folder}"]
    assert "Missing for gold:" not in lines


def test_the_next_command_can_be_copied(new: New, capfd: pytest.CaptureFixture[str]) -> None:
    """A path with a space is quoted."""
    folder = new("a", target="my pack")
    assert f"  averment pack check '{folder}'" in capfd.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("options", "missing"),
    [(("--transport", "endpoint"), "endpoint_config.yaml"), (("--language", "vi"), "Translate the texts")],
)
def test_what_is_missing_is_printed(
    new: New, capfd: pytest.CaptureFixture[str], options: tuple[str, ...], missing: str
) -> None:
    """Placeholders, and texts in another language than the one asked for."""
    new("a", *options)
    assert missing in capfd.readouterr().out.partition("Missing for gold:\n")[2]


def test_a_long_list_is_cut_and_says_where_the_rest_is(new: New, capfd: pytest.CaptureFixture[str]) -> None:
    """All of it stands in README.md."""
    folder = new("a", tools=[{"type": "function", "name": f"tool_{index}"} for index in range(20)])
    printed = capfd.readouterr().out
    assert "20 tools from an OpenAI list of tools" in printed
    assert "tool_7, and 12 more (README.md)" in printed
    assert "tool_8" not in printed
    assert "`tool_19`" in (folder / "README.md").read_text(encoding="utf-8")


def test_what_was_changed_is_printed(new: New, capfd: pytest.CaptureFixture[str]) -> None:
    """Each kind of change once, with how often."""
    parameters = {"type": "object", "properties": {each: {"type": "integer", "not": {}} for each in "abc"}}
    new("a", tools=[{"type": "function", "name": "t", "parameters": parameters}])
    assert "`not` was left out (allows more than before): 3\n" in capfd.readouterr().out


def test_everything_wrong_is_told_at_once_and_nothing_is_written(tmp_path: Path) -> None:
    """The name, the version, the language, the target, the tools."""
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"type": "function", "name": ""}, {"type": "other"}]))
    target = str(tmp_path / "no" / "such")
    error = _refused(
        *("9", "--version", "", "--language", "", "--target", target),
        *("--tools", str(tools)),
    )
    assert [each.code for each in error.problems] == [
        "invalid_pack_name",
        "invalid_version",
        "invalid_language",
        "output_unwritable",
        "invalid_tool_name",
        "not_a_function",
    ]
    assert list(tmp_path.iterdir()) == [tools]


def test_an_existing_target_is_refused_and_stays(tmp_path: Path) -> None:
    """Even an empty folder."""
    (tmp_path / "pack").mkdir()
    error = _refused("a", "--target", str(tmp_path / "pack"))
    assert [each.code for each in error.problems] == ["target_exists"]
    assert list((tmp_path / "pack").iterdir()) == []


@pytest.mark.parametrize("name", ["missing.json", ".", "a\0b"])
def test_tools_that_can_t_be_read_are_refused(tmp_path: Path, name: str) -> None:
    """A file that isn't there, a folder, no path."""
    error = _refused("a", "--target", str(tmp_path / "pack"), "--tools", str(tmp_path / name))
    assert [each.code for each in error.problems] == ["file_unreadable"]


def test_tools_that_are_too_large_are_refused(tmp_path: Path) -> None:
    """No more is read of a file than of any document."""
    file = tmp_path / "tools.json"
    file.write_bytes(b" " * (10 * 2**20 + 10))
    error = _refused("a", "--target", str(tmp_path / "pack"), "--tools", str(file))
    assert [each.code for each in error.problems] == ["document_too_large"]


@pytest.mark.parametrize(
    "args",
    [
        ("--target", "x"),
        ("a",),
        ("a", "--target", "x", "--transport", "grpc"),
        ("a", "--target", "x", "--force"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused(
    args: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name and a target are needed; there is no way to overwrite."""
    monkeypatch.chdir(tmp_path)
    assert [each.code for each in _refused(*args).problems] == ["usage"]
    assert list(tmp_path.iterdir()) == []
