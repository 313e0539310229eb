"""`averment report`: reports of verdicts that were kept, and what it refuses."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from averment.cli.main import main

DOCUMENT = "version: 1\nassertions: [{id: said, kind: phrase, regex: refund}]\n"


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Averment = Callable[..., Ended]


@pytest.fixture
def averment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Averment:
    """Runs a command line in a folder with a document, two conversations, and their verdicts in both forms."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    Path("d.yaml").write_text(DOCUMENT, encoding="utf-8")
    for name, text in (("good", "refund sent"), ("bad", "no")):
        record = {"transcript": [{"role": "agent", "text": text}]}
        Path(f"{name}.json").write_text(json.dumps(record), encoding="utf-8")

    def run(line: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as caught:
            main(line.split())
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert isinstance(caught.value.code, int)
        return Ended(caught.value.code, out, err)

    run("run d.yaml good.json bad.json --output e.json --results r.jsonl")
    return run


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("report e.json", "usage"),
        ("report --html x.html", "usage"),
        ("report e.json --no-github", "usage"),
        ("report e.json --htm x.html", "usage"),
        ("report nowhere.json --junit -", "file_not_found"),
        ("report . --junit -", "not_a_file"),
        ("report d.yaml --junit -", "not_an_envelope"),
        ("report good.json --junit -", "not_an_envelope"),
        ("report e.json --junit - --markdown -", "stdout_twice"),
        ("report - - --junit x.xml", "stdin_twice"),
        ("report - --evidence - --junit x.xml", "stdin_twice"),
        ("report e.json --junit nowhere/x.xml", "output_unwritable"),
        ("report e.json --junit x.xml --evidence nowhere.json", "file_not_found"),
        ("report e.json --junit x.xml --document nowhere.yaml", "file_not_found"),
        ("report e.json --junit x.xml --document good.json", "not_a_document"),
    ],
)
def test_what_makes_no_sense_is_refused(averment: Averment, line: str, code: str) -> None:
    """With exit code 2 and nothing written."""
    ended = averment(line)
    assert (ended.code, ended.out) == (2, "")
    assert f"error[{code}]" in ended.err
    assert not any(name.startswith("x.") for name in os.listdir())


def test_without_a_report_it_is_said_which_there_are(averment: Averment) -> None:
    """The message names the options."""
    err = averment("report e.json").err
    for option in ("--html FILE", "--markdown FILE", "--junit FILE", "--sarif FILE", "--github"):
        assert option in err


def test_the_report_says_what_the_run_said_and_exits_0(averment: Averment) -> None:
    """The gate has spoken when the run was judged; making a report says nothing new."""
    reports = "--junit {0}.xml --sarif {0}.sarif --markdown {0}.md"
    averment(f"run d.yaml good.json bad.json {reports.format('run')}")
    ended = averment(
        f"report r.jsonl --evidence good.json bad.json --document d.yaml {reports.format('kept')}"
    )
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    for kind in ("xml", "sarif", "md"):
        assert Path(f"kept.{kind}").read_bytes() == Path(f"run.{kind}").read_bytes(), kind


def test_several_files_are_one_report_in_their_order(averment: Averment) -> None:
    """Lines of results and envelopes alike."""
    ended = averment("report r.jsonl e.json --junit -")
    assert ended.code == 0
    order = [ended.out.index(name) for name in ('"good.json', '"bad.json', '"e.json', "e.json #2")]
    assert order == sorted(order)


@pytest.mark.parametrize("name", ["e.json", "r.jsonl"])
def test_standard_input_can_be_reported(averment: Averment, name: str) -> None:
    """And standard output written."""
    ended = averment("report - --junit -", stdin=Path(name).read_bytes())
    assert ended.code == 0
    assert ended.out.startswith("<?xml")


def test_every_file_that_is_wrong_is_told(averment: Averment) -> None:
    """Not the first alone, and nothing is written."""
    Path("broken.json").write_text("{", encoding="utf-8")
    err = averment("report broken.json e.json good.json --junit x.xml").err
    assert err.count("error[not_an_envelope]") == 2
    assert "broken.json:1" in err
    assert "good.json:1" in err


def test_evidence_and_documents_that_were_not_judged_are_refused(averment: Averment) -> None:
    """They are known by their digests: a changed word makes another conversation, a space in YAML no other document."""
    Path("other.yaml").write_text(DOCUMENT.replace("refund", "refunds"), encoding="utf-8")
    Path("same.yaml").write_text(DOCUMENT.replace("[{", "[ {"), encoding="utf-8")
    Path("other.json").write_text(
        '{"transcript": [{"role": "agent", "text": "refund sent!"}]}', encoding="utf-8"
    )
    both = averment("report e.json --evidence other.json --document other.yaml --junit x.xml")
    assert both.code == 2
    assert "other.json: error[other_evidence]" in both.err
    assert "other.yaml: error[other_document]" in both.err
    assert not Path("x.xml").exists()
    assert averment("report e.json --evidence bad.json --document same.yaml --junit x.xml").code == 0


def test_a_report_of_an_absolute_path_names_no_folder(averment: Averment, tmp_path: Path) -> None:
    """Reports are the same wherever they are made."""
    text = averment(f"report {tmp_path / 'e.json'} --junit -").out
    assert "e.json" in text
    assert str(tmp_path) not in text
    averment(f"run {tmp_path / 'd.yaml'} {tmp_path / 'good.json'} --results abs.jsonl")
    assert str(tmp_path) not in Path("abs.jsonl").read_text(encoding="utf-8")
