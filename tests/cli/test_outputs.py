from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from averment.cli.main import main
from averment.cli.outputs import refuse_overwriting
from averment.errors import UsageError

DOCUMENT = "version: 1\nassertions:\n  - {id: greets, kind: phrase, regex: hello}\n"
SUITE = "version: 1\nsuite:\n  - {document: d.yaml, conversations: calls/*.json, cases: c.csv}\n"


def ended(line: str) -> object:
    """The exit code of a command line."""
    with pytest.raises(SystemExit) as caught:
        main(line.split())
    return caught.value.code


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: a document, a conversation, its envelope, and a suite."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.yaml").write_text(DOCUMENT)
    (tmp_path / "calls").mkdir()
    (tmp_path / "calls/c.json").write_text('{"transcript": [{"role": "agent", "text": "hello"}]}')
    (tmp_path / "averment.yaml").write_text(SUITE)
    (tmp_path / "c.csv").write_text("case\none\n")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert ended("run d.yaml calls/c.json --output e.json") == 0
    return tmp_path


def codes(outputs: dict[str, str | None], *inputs: str | None) -> list[str]:
    try:
        refuse_overwriting(outputs, inputs)
    except UsageError as error:
        return [problem.code for problem in error.problems]
    return []


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("run d.yaml calls/c.json --html d.yaml", "d.yaml"),
        ("run d.yaml calls/c.json --results ./calls/../calls/c.json", "calls/c.json"),
        ("run d.yaml --transcript calls/c.json --junit calls/c.json", "calls/c.json"),
        ("run -d d.yaml calls/c.json --output d.yaml", "d.yaml"),
        ("run --sarif averment.yaml", "averment.yaml"),
        ("run --suite . --markdown d.yaml", "d.yaml"),
        ("run --html c.csv", "c.csv"),
        ("run --html calls/c.json", "calls/c.json"),
        ("report e.json --html e.json", "e.json"),
        ("report e.json --document d.yaml --html d.yaml", "d.yaml"),
        ("report e.json --evidence calls/c.json --html calls/c.json", "calls/c.json"),
    ],
)
def test_nothing_that_is_read_is_overwritten(
    line: str, file: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misplaced name must not cost anybody a document: the file stays as it is, and the option is named."""
    before = (folder / file).read_bytes()
    assert ended(line) == 2
    err = capsys.readouterr().err
    assert "error[output_is_input]: `--" in err
    assert "Name another file." in err
    assert (folder / file).read_bytes() == before


def test_two_outputs_are_two_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """However they are spelled; the second would replace the first."""
    assert ended("run d.yaml calls/c.json --html x.html --markdown ./x.html") == 2
    assert "error[output_twice]: `--html` and `--markdown` name the same file" in capsys.readouterr().err
    assert not (folder / "x.html").exists()


def test_a_link_leads_to_what_is_read(folder: Path) -> None:
    """Symbolic or hard."""
    (folder / "link").symlink_to("d.yaml")
    os.link(folder / "d.yaml", folder / "hard")
    assert codes({"--html": "link"}, "d.yaml") == ["output_is_input"]
    assert codes({"--html": "d.yaml"}, "link") == ["output_is_input"]
    assert codes({"--html": "hard"}, "d.yaml") == ["output_is_input"]
    assert codes({"--html": "link", "--junit": "d.yaml"}) == ["output_twice"]


def test_an_earlier_report_may_be_replaced(folder: Path) -> None:
    """As may what is no file at all; standard output and input are another matter."""
    (folder / "report.html").write_text("old")
    assert codes({"--html": "report.html", "--junit": None}, "d.yaml", "policy:pii-leak", None, "\0") == []
    assert codes({"--html": "-", "--junit": "-"}, "-") == []
    assert codes({"--html": os.devnull, "--junit": os.devnull}, os.devnull) == []
    assert codes({"--html": "new.html", "--junit": "nowhere/new.xml"}, "nowhere/new.json") == []


def test_every_clash_is_told(folder: Path) -> None:
    """At once."""
    found = codes({"--html": "d.yaml", "--junit": "c.csv", "--sarif": "d.yaml"}, "d.yaml", "c.csv", "d.yaml")
    assert found == ["output_twice", "output_is_input", "output_is_input"]
    assert json.loads((folder / "e.json").read_bytes())["schema"] == "assert.v1"


@pytest.mark.parametrize("action", ["show", "convert --to averment"])
def test_evidence_that_is_read_is_never_replaced(
    action: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`averment evidence` refuses to write its output over the recording, and the recording stays."""
    recording = tmp_path / "only-copy.json"
    recording.write_text('{"transcript": [{"role": "agent", "text": "hello"}]}', encoding="utf-8")
    before = recording.read_bytes()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["evidence", *action.split(), "only-copy.json", "--output", "only-copy.json"])
    assert ended.value.code == 2
    assert "error[output_is_input]" in capsys.readouterr().err
    assert recording.read_bytes() == before
