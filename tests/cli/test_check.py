from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from averment.cli.main import main
from averment.documents.lint import CODES

ODD = """\
version: 1
assertions:
  - {id: done, kind: tool_call, name: refund, count: {min: 0}}
  - {id: said, kind: phrase, regex: 'x*', role: agnet}
"""
_PAGE = Path(__file__).parents[2] / "docs" / "check-a-document.md"


class Said:
    """What a command said, and its exit code."""

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code = code
        self.out = out.decode()
        self.err = err.decode()


@pytest.fixture
def averment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Any:
    """Runs a command in a folder with an odd document."""
    (tmp_path / "odd.yaml").write_text(ODD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> Said:
        with pytest.raises(SystemExit) as done:
            main([*args])
        assert isinstance(done.value.code, int)
        return Said(int(done.value.code), *capfdbinary.readouterr())

    return run


def test_warnings_are_told_and_do_no_harm(averment: Any) -> None:
    """Each has its place on standard error; the document is right, and the exit code says so."""
    said = averment("check", "odd.yaml")
    assert said.code == 0
    assert said.out == "odd.yaml: ok, 2 assertions, 3 warnings\n"
    assert re.findall(r"^odd\.yaml:(\d+):(\d+): (\w+)\[(\w+)\]", said.err, re.MULTILINE) == [
        ("3", "54", "warning", "cannot_fail"),
        ("4", "37", "warning", "matches_everything"),
        ("4", "49", "warning", "unknown_role"),
    ]
    assert "did you mean `agent`?" in said.err


def test_strict_makes_them_mistakes(averment: Any) -> None:
    """The same as errors, counted, and the exit code is that of a document with mistakes."""
    said = averment("check", "odd.yaml", "--strict")
    assert said.code == 2
    assert "ok" not in said.out
    assert said.err.count(": error[") == 3
    assert "warning" not in said.err
    assert said.err.endswith("3 mistakes in 1 document\n")


@pytest.mark.parametrize("strict", [False, True])
def test_programs_get_the_same(averment: Any, strict: bool) -> None:
    """As JSON, severity tells warnings from mistakes, and `ok` what came of them."""
    said = averment("check", "odd.yaml", "--format", "json", *(["--strict"] if strict else []))
    (report,) = json.loads(said.out)["documents"]
    assert said.code == (2 if strict else 0)
    assert said.err == ""
    assert report["ok"] is not strict
    assert report["assertions"] == 2
    assert [problem["code"] for problem in report["problems"]] == [
        "cannot_fail",
        "matches_everything",
        "unknown_role",
    ]
    severities = {problem.get("severity", "error") for problem in report["problems"]}
    assert severities == {"error" if strict else "warning"}


def test_strict_finds_nothing_in_a_good_document(averment: Any) -> None:
    """Without warnings it changes nothing."""
    Path("good.yaml").write_text("version: 1\nassertions:\n- {id: a, kind: phrase, regex: refund}\n")
    said = averment("check", "good.yaml", "--strict")
    assert (said.code, said.out, said.err) == (0, "good.yaml: ok, 1 assertion\n", "")


def test_a_run_is_silent_about_them(averment: Any) -> None:
    """Whoever judges a conversation has checked the document before."""
    Path("call.json").write_text(json.dumps({"transcript": [{"role": "agnet", "text": "hi"}], "spans": []}))
    said = averment("run", "odd.yaml", "call.json")
    assert said.code == 0
    assert "warning[" not in said.out + said.err


def test_every_warning_is_explained() -> None:
    """The page on checking has a row for every code, and for no other."""
    section = _PAGE.read_text(encoding="utf-8").partition("\n## What check warns about\n")[2]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(CODES)


def test_names_of_files_command_neither_a_terminal_nor_a_runner(averment: Any) -> None:
    """A file may be called anything: what can't be seen is escaped, and no line is one of GitHub's commands."""
    good = "version: 1\nassertions:\n- {id: a, kind: phrase, regex: refund}\n"
    name = "a\x1b[2J\n::error::b ##[group]\u202e.yaml"
    Path(name).write_text(good)
    said = averment("check", name)
    assert said.out == "a\\u001b[2J\\u000a::error::b ##\\[group]\\u202e.yaml: ok, 1 assertion\n"
    Path(name).write_text(good.replace("regex", "rgex"))
    said = averment("check", name)
    assert said.err.startswith("a\\x1b[2J\\n::error::b ##\\[group]\\u202e.yaml:3:3: error[missing_field]: ")
    said = averment("run", name, name)
    assert said.err.startswith("a\\x1b[2J\\n::error::b ##\\[group]\\u202e.yaml:3:3: error[missing_field]: ")
    said = averment("check", name, "--format", "json")
    assert said.out.replace("\n", "").isprintable()
    assert "##[" not in said.out
    assert json.loads(said.out)["documents"][0]["document"] == name
