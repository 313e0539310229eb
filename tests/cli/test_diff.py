"""`averment diff`: two runs that were kept, what the gate says of them, and what can't be compared."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import jsonschema
import pytest

from averment.cli.main import main
from averment.report.schemas import schema

DOCUMENT = (
    "version: 1\nassertions:\n"
    "  - {id: said, kind: phrase, regex: refund}\n"
    "  - {id: done, kind: tool_call, name: issue_refund}\n"
    "  - {id: kind, kind: phrase, regex: thanks, severity: warning}\n"
)


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Averment = Callable[..., Ended]


@pytest.fixture
def averment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Averment:
    """Runs a command line in a folder with a document; `stdin` is what it is given."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    Path("d.yaml").write_text(DOCUMENT, encoding="utf-8")

    def run(line: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as caught:
            main(line.split())
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert isinstance(caught.value.code, int)
        return Ended(caught.value.code, out, err)

    return run


def recorded(name: str, said: str, calls: Sequence[str] | None) -> str:
    """Writes a conversation."""
    value = {"transcript": [{"role": "agent", "text": said}]}
    if calls is not None:
        value["spans"] = [{"type": "tool_call", "name": call} for call in calls]
    Path(name).write_text(json.dumps(value), encoding="utf-8")
    return name


@pytest.fixture
def runs(averment: Averment) -> None:
    """Two runs: in `a` the refund is no longer issued, in `b` it now is, `c` is gone, `d` is new."""
    old = [("a.json", ["issue_refund"]), ("b.json", []), ("c.json", ["issue_refund"])]
    new = [("a.json", []), ("b.json", ["issue_refund"]), ("d.json", ["issue_refund"])]
    for run, conversations in (("old", old), ("new", new)):
        names = [recorded(name, "refund, thanks", calls) for name, calls in conversations]
        averment(f"run d.yaml {' '.join(names)} --results {run}.jsonl --output {run}.json")


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("", 0),
        ("--fail-on broken", 1),
        ("--fail-on fixed", 1),
        ("--fail-on missing", 1),
        ("--fail-on new", 1),
        ("--fail-on still_passing", 1),
        ("--fail-on still-passing", 1),
        ("--fail-on removed,added", 0),
        ("--fail-on inconclusive", 0),
        ("--fail-on removed, --fail-on added,broken", 2),
        ("--fail-on removed --fail-on added,broken", 1),
        ("--fail-on flaky --only broken", 0),
        ("--fail-on broken --only flaky", 1),
        ("--fail-on broken --format json", 1),
        ("--fail-on broken --format markdown", 1),
        ("--fail-on broken --output o.txt", 1),
        ("--fail-on nonsense", 2),
        ("--only nonsense", 2),
        ("--only", 2),
        ("--format html", 2),
        ("--output nowhere/o.txt", 2),
    ],
)
def test_exit_codes(averment: Averment, options: str, code: int) -> None:
    """1 only where what is named occurs, in whatever form it is told; 2 for what makes no sense."""
    ended = averment(f"diff old.jsonl new.jsonl {options}")
    assert ended.code == code, ended.err
    assert ("error[" in ended.err) == (code == 2)
    assert bool(ended.out) == (code != 2 and "--output" not in options)


@pytest.mark.usefixtures("runs")
def test_equal_totals_hide_nothing(averment: Averment) -> None:
    """Both runs have two PASS of `done` and one FAIL; one case broke, and is named with its reason and place."""
    out = averment("diff old.jsonl new.jsonl --fail-on broken").out
    assert (
        "BROKEN: never failed before, and fails now\n  done  tool_call · d.yaml:4\n    a.json: PASS before"
        in out
    )
    assert "      now: `issue_refund` was not called" in out
    assert "1 broken · 1 fixed · 2 still passing\n" in out
    assert "missing cases, which only the old run has: 1\n  c.json\n" in out
    assert out.endswith("exit 1: the gate says no: 1 broken\n")


@pytest.mark.usefixtures("runs")
def test_a_run_compared_with_itself_is_unchanged(averment: Averment) -> None:
    """Nothing is broken, fixed or missing."""
    ended = averment(
        "diff old.jsonl old.jsonl --fail-on broken,fixed,missing,new,flaky,added,removed,inconclusive"
    )
    assert ended.code == 0
    assert "1 still failing · 5 still passing\n" in ended.out


@pytest.mark.usefixtures("runs")
def test_warnings_never_gate(averment: Averment) -> None:
    """They are compared and shown, and counted on their own."""
    averment(f"run d.yaml {recorded('a.json', 'refund', ['issue_refund'])} --results new.jsonl")
    ended = averment("diff old.jsonl new.jsonl --fail-on broken")
    assert ended.code == 0
    assert "  kind  phrase · warning · d.yaml:5\n    a.json: PASS before, FAIL now" in ended.out
    assert "warnings and notes, which never gate: 1 broken\n" in ended.out


@pytest.mark.usefixtures("runs")
def test_what_can_no_longer_be_decided_is_told(averment: Averment) -> None:
    """Missing evidence is no failure, and can be gated by itself."""
    averment(f"run d.yaml {recorded('a.json', 'refund, thanks', None)} --results new.jsonl")
    assert averment("diff old.jsonl new.jsonl --fail-on broken").code == 0
    ended = averment("diff old.jsonl new.jsonl --fail-on inconclusive")
    assert ended.code == 1
    assert "NEWLY INCONCLUSIVE" in ended.out


@pytest.mark.usefixtures("runs")
def test_envelopes_are_matched_by_their_order(averment: Averment) -> None:
    """They have no names, which is said; `c` and `d` are then the same."""
    ended = averment("diff old.json new.json --fail-on broken,missing")
    assert ended.code == 1
    assert "matched by their order" in ended.out
    assert "conversation: PASS before, FAIL now" in ended.out
    assert "missing" not in ended.out
    mixed = averment("diff old.json new.jsonl")
    assert mixed.code == 2
    assert "error[not_comparable]" in mixed.err
    assert "--results" in mixed.err


@pytest.mark.usefixtures("runs")
def test_json_fits_its_schema_and_is_all_that_is_printed(averment: Averment) -> None:
    """Programs read standard output; a file gets the same bytes."""
    printed = averment("diff old.jsonl new.jsonl --format json").out
    jsonschema.Draft202012Validator(schema("diff")).validate(json.loads(printed))
    assert averment("diff old.jsonl new.jsonl --format json --output o.json").out == ""
    assert Path("o.json").read_text(encoding="utf-8") == printed
    assert averment("diff old.jsonl new.jsonl --format json --output -").out == printed


@pytest.mark.usefixtures("runs")
def test_lines_of_results_fit_their_schema() -> None:
    """What `--results` writes is published as well."""
    validator = jsonschema.Draft202012Validator(schema("results"))
    lines = Path("old.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    for line in lines:
        validator.validate(json.loads(line))
        assert not validator.is_valid({**json.loads(line), "overall_score": 1})


@pytest.mark.usefixtures("runs")
def test_markdown_is_printed_or_written(averment: Averment) -> None:
    """For a comment on a pull request."""
    printed = averment("diff old.jsonl new.jsonl --format markdown").out
    assert printed.startswith("<!-- averment diff -->\n## averment diff: 1 broken\n")
    averment("diff old.jsonl new.jsonl --format markdown --output c.md")
    assert Path("c.md").read_text(encoding="utf-8") == printed


@pytest.mark.usefixtures("runs")
def test_one_of_the_runs_may_be_standard_input(averment: Averment) -> None:
    """Not both."""
    data = Path("old.jsonl").read_bytes()
    ended = averment("diff - new.jsonl --fail-on broken", stdin=data)
    assert ended.code == 1
    assert ended.out.startswith("<stdin> -> new.jsonl: 2 cases in both\n")
    assert "error[stdin_twice]" in averment("diff - -", stdin=data).err


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("diff", "usage"),
        ("diff old.jsonl", "usage"),
        ("diff old.jsonl new.jsonl old.jsonl", "usage"),
        ("diff nowhere.jsonl new.jsonl", "file_not_found"),
        ("diff . new.jsonl", "not_a_file"),
        ("diff d.yaml new.jsonl", "not_an_envelope"),
        ("diff a.json new.jsonl", "not_an_envelope"),
        ("diff old.jsonl cut.jsonl", "not_an_envelope"),
        ("diff empty.jsonl new.jsonl", "not_an_envelope"),
        ("diff old.jsonl other.jsonl", "nothing_to_compare"),
        ("diff old.jsonl new.jsonl --fail-on ,", "unknown_change"),
    ],
)
def test_what_can_not_be_compared_is_refused(averment: Averment, line: str, code: str) -> None:
    """With exit code 2, nothing on standard output, and a code."""
    data = Path("old.jsonl").read_bytes()
    Path("cut.jsonl").write_bytes(data[:-100])
    Path("empty.jsonl").write_bytes(b"")
    Path("other.jsonl").write_bytes(data.replace(b'.json"', b'.txt"'))
    ended = averment(line)
    assert (ended.code, ended.out) == (2, "")
    assert f"error[{code}]" in ended.err


@pytest.mark.usefixtures("runs")
def test_an_unknown_change_is_told_with_the_nearest(averment: Averment) -> None:
    """All that are unknown, of both options."""
    err = averment("diff old.jsonl new.jsonl --fail-on brokn,mising --only flacky").err
    assert err.count("error[unknown_change]") == 3
    for name in ("broken", "missing", "flaky"):
        assert f"did you mean `{name}`?" in err


@pytest.mark.usefixtures("runs")
def test_an_output_that_can_not_be_made_leaves_no_part(averment: Averment) -> None:
    """A file appears whole or not at all."""
    assert averment("diff old.jsonl d.yaml --output o.txt").code == 2
    assert [name for name in os.listdir() if name.startswith("o.txt")] == []


@pytest.mark.usefixtures("runs")
def test_what_is_compared_is_never_replaced(averment: Averment) -> None:
    """An output that is one of the two runs is refused, and the run stays."""
    before = Path("old.jsonl").read_bytes()
    ended = averment("diff old.jsonl new.jsonl --output old.jsonl")
    assert ended.code == 2
    assert "error[output_is_input]" in ended.err
    assert Path("old.jsonl").read_bytes() == before


@pytest.mark.usefixtures("runs")
def test_nothing_printed_in_actions_is_a_command(averment: Averment, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that looks like one gets a backslash."""
    data = Path("old.jsonl").read_bytes() + Path("old.jsonl").read_bytes().replace(b"a.json", b"##[error]x")
    Path("old.jsonl").write_bytes(data)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    out = averment("diff old.jsonl new.jsonl --verbose").out
    assert "##\\[error]x" in out
    assert "##[error]x" not in out


@pytest.mark.usefixtures("runs")
def test_colours_are_for_those_who_ask(averment: Averment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain text where no terminal is, and in files."""
    assert "\x1b" not in averment("diff old.jsonl new.jsonl").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[31;1mBROKEN" in averment("diff old.jsonl new.jsonl").out
    averment("diff old.jsonl new.jsonl --output o.txt")
    assert "\x1b" not in Path("o.txt").read_text(encoding="utf-8")


@pytest.mark.usefixtures("runs")
def test_still_passing_is_listed_when_asked_for(averment: Averment) -> None:
    """By --verbose or --only, and else counted."""
    assert "STILL PASSING" not in averment("diff old.jsonl new.jsonl").out
    assert "STILL PASSING" in averment("diff old.jsonl new.jsonl --verbose").out
    only = averment("diff old.jsonl new.jsonl --only still_passing").out
    assert "STILL PASSING" in only
    assert "BROKEN" not in only


@pytest.mark.usefixtures("runs")
def test_the_same_runs_give_the_same_bytes_under_any_hash_seed(tmp_path: Path) -> None:
    """In a process of its own, in each form; and no library for pages is loaded."""
    code = (
        "import sys; from averment.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: print(sorted({'jinja2', 'rich', 'yaml', 'xml.sax'} & set(sys.modules)), file=sys.stderr)"
    )
    for form in ("text", "json", "markdown"):
        printed = set()
        for seed in ("0", "1", "2"):
            done = subprocess.run(
                [sys.executable, "-c", code, "diff", "old.jsonl", "new.jsonl", "--format", form],
                capture_output=True,
                check=True,
                cwd=tmp_path,
                env={**os.environ, "PYTHONHASHSEED": seed},
            )
            printed.add(done.stdout)
            assert done.stderr.strip() == b"[]"
        assert len(printed) == 1
