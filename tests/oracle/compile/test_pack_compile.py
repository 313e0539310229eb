from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from averment.cli import pack_compile
from averment.cli.parser import Parser, parse
from averment.errors import AvermentError

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("lend_book", "find_book", "remove_book")
]


def spec(id_: str, predicate: str, target: str, **more: Any) -> dict[str, Any]:
    fields = {"subject": "trace", "rationale": "Why.", "blocked_on": [], **more}
    return {"assertion_id": id_, "predicate": predicate, "target": target, **fields}


SPECS = [
    spec("lent", "tool_called", "lend_book"),
    spec("found_first", "tool_called_after", "lend_book", tool="find_book"),
]


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def compile_(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Any:
    """Runs the command in a folder with specs and a catalog."""
    (tmp_path / "specs.json").write_text(json.dumps(SPECS))
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    monkeypatch.chdir(tmp_path)

    def run(*args: str) -> Said:
        parser = Parser("averment pack compile", "")
        pack_compile.configure(parser)
        complaint = ""
        try:
            code = pack_compile.execute(parse(parser, args))
        except AvermentError as error:
            code, complaint = 2, str(error)
        out, err = capfdbinary.readouterr()
        return Said(code, out.decode(), err.decode() + complaint)

    return run


def test_the_file_is_written_and_coverage_is_told(compile_: Any) -> None:
    """Which assertions there are, and for each published tool those that say directly that it is called."""
    said = compile_("specs.json", "--tools", "tools.json")
    assert said == Said(
        0,
        "assertions.py: 2 assertions\n"
        "  assert_found_first  tool_called_after  find_book -> lend_book\n"
        "  assert_lent         tool_called        lend_book\n"
        "tools with a `tool_called` of their own: 1 of 3\n"
        "  find_book    none\n"
        "  lend_book    assert_lent\n"
        "  remove_book  none\n",
        "",
    )
    assert "def assert_lent(*, state, trace, task, ctx):" in Path("assertions.py").read_text()


def test_the_report_is_json_when_asked(compile_: Any) -> None:
    """The same facts for programs."""
    report = json.loads(compile_("specs.json", "--tools", "tools.json", "--format", "json").out)
    assert report == {
        "ok": True,
        "output": "assertions.py",
        "assertions": [
            {
                "name": "assert_found_first",
                "predicate": "tool_called_after",
                "tools": ["find_book", "lend_book"],
            },
            {"name": "assert_lent", "predicate": "tool_called", "tools": ["lend_book"]},
        ],
        "coverage": {"find_book": [], "lend_book": ["assert_lent"], "remove_book": []},
        "uncovered": ["find_book", "remove_book"],
        "problems": [],
    }


def test_without_a_catalog_it_says_that_names_were_not_checked(compile_: Any) -> None:
    """And there is no coverage to tell."""
    assert "were not checked" in compile_("specs.json").out
    report = json.loads(compile_("specs.json", "--format", "json").out)
    assert (report["coverage"], report["uncovered"]) == (None, None)


@pytest.mark.parametrize("format_", ["text", "json"])
def test_on_any_refusal_nothing_is_written(compile_: Any, format_: str) -> None:
    """One right spec beside wrong ones is not compiled either; every refusal has its place."""
    wrong = [SPECS[0], spec("aa", "tool_called", "lend_bok"), spec("later", "field_present", "x")]
    Path("specs.json").write_text(json.dumps(wrong))
    said = compile_("specs.json", "--tools", "tools.json", "--format", format_)
    assert said.code == 2
    assert not Path("assertions.py").exists()
    codes = ["malformed_assertion_id", "unknown_tool", "wrong_subject", "not_compiled"]
    if format_ == "json":
        report = json.loads(said.out)
        assert not report["ok"]
        assert sorted(problem["code"] for problem in report["problems"]) == sorted(codes)
        assert all(problem["line"] and problem["mend"] for problem in report["problems"])
    else:
        assert said.err.count("specs.json:1:") == len(codes)
        assert all(f"[{code}]" in said.err for code in codes)


def test_a_file_that_says_something_else_is_replaced_by_force_alone(compile_: Any) -> None:
    """One that says the same already is left as it is."""
    target = Path("assertions.py")
    target.write_text("# mine\n")
    said = compile_("specs.json")
    assert (said.code, target.read_text()) == (2, "# mine\n")
    assert "[output_exists]" in said.err
    assert compile_("specs.json", "--force").code == 0
    before = target.stat()
    assert compile_("specs.json").code == 0
    assert target.stat().st_mtime_ns == before.st_mtime_ns
    assert target.stat().st_ino == before.st_ino


def test_standard_input_and_output_can_be_used(compile_: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code is all of standard output then, and the report goes to standard error."""
    stdin = io.TextIOWrapper(io.BytesIO(json.dumps(SPECS).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    said = compile_("-", "--out", "-")
    assert said.code == 0
    assert said.out.startswith('"""Assertions about which tools were called')
    assert said.err.startswith("-: 2 assertions\n")
    assert compile_("specs.json", "--out", "-", "--format", "json").code == 2


def test_what_is_resolved_can_be_said_on_the_command_line(compile_: Any) -> None:
    """Then all else is open; a name that is no unknown is told with the nearest."""
    assert "[undeclared_unknown]" in compile_("specs.json", "--resolved", "").err
    assert compile_("specs.json", "--resolved", "state_deltas, tool_dependencies").code == 0
    assert "did you mean `state_deltas`?" in compile_("specs.json", "--resolved", "state_delta").err


def test_the_catalog_of_a_pack_is_found_by_its_manifest(compile_: Any) -> None:
    """Where the manifest says, else `tools.json`; never outside the pack."""
    pack = Path("pack")
    pack.mkdir()
    manifest = pack / "manifest.yaml"
    manifest.write_text("pack_id: p\n")
    (pack / "tools.json").write_text(json.dumps(TOOLS[:1]))
    assert "there is no published tool" in compile_("specs.json", "--pack", "pack").err
    manifest.write_text("paths: {tools: all.json}\n")
    (pack / "all.json").write_text(json.dumps(TOOLS))
    assert compile_("specs.json", "--pack", "pack").code == 0
    manifest.write_text("paths: {tools: ../tools.json}\n")
    assert "[path_outside_pack]" in compile_("specs.json", "--pack", "pack").err


def test_files_that_can_not_be_read_are_told_together(compile_: Any) -> None:
    """The catalog and the specs, each by its name."""
    said = compile_("no.json", "--tools", "gone.json")
    assert said.code == 2
    assert "gone.json: error[file_unreadable]" in said.err
    assert "no.json: error[file_unreadable]" in said.err


def test_names_of_tools_are_shown_as_they_may_be(compile_: Any) -> None:
    """A catalog can't write control sequences to a terminal."""
    Path("tools.json").write_text(json.dumps([*TOOLS, {"function": {"name": "\x1b[31mred"}}]))
    said = compile_("specs.json", "--tools", "tools.json")
    assert "\x1b" not in said.out
    assert "\\u001b[31mred" in said.out
