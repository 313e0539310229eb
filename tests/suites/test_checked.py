from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from averment.errors import Problem, UsageError
from averment.report.schemas import schema
from averment.suites import Suite, find_suite

Refused = Callable[..., list[Problem]]
Write = Callable[..., None]

RIGHT: list[dict[str, Any]] = [
    {"document": "d.yaml", "conversations": "recordings/*.json"},
    {
        "name": "n",
        "documents": ["d.yaml"],
        "conversations": ["recordings/a.json"],
        "inconclusive_policy": "fail",
    },
    {"document": "d.yaml", "produce": "true {out}", "repeat": 2, "timeout": 0.5},
    {"document": "d.yaml", "produce": ["true", "{out}", "{repeat}"]},
    {"document": "d.yaml", "produce": ["true", "{out}{case}{x}"], "cases": "c.csv"},
    {"document": "d.yaml", "conversations": "recordings/{x}.json", "cases": "c.csv", "repeat": 1},
    {"document": "d.yaml", "conversations": "recordings/*.json", "repeat": 2},
    {"document": "d.yaml", "conversations": "recordings/*.json", "from": "transcript"},
]
WRONG: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["missing_field", "missing_field"]),
    ({"document": "d.yaml"}, ["missing_field"]),
    ({"document": "d.yaml", "documents": ["d.yaml"], "conversations": "*.yaml"}, ["given_twice"]),
    ({"document": "d.yaml", "conversations": "*.yaml", "produce": "true {out}"}, ["given_twice"]),
    ({"document": "d.yaml", "produce": "true {out}", "repeat": 0}, ["out_of_range"]),
    ({"document": "d.yaml", "produce": "true {out}", "repeat": 10_001}, ["out_of_range"]),
    ({"document": "d.yaml", "produce": "true {out}", "repeat": 1.5}, ["wrong_type"]),
    ({"document": "d.yaml", "produce": "true {out}", "timeout": 0}, ["out_of_range"]),
    ({"document": "d.yaml", "produce": "true {out}", "timeout": 86_401}, ["out_of_range"]),
    ({"document": "", "produce": ["true", "{out}"]}, ["empty_value"]),
    ({"documents": [], "produce": []}, ["empty_value", "empty_value"]),
    ({"document": "d.yaml", "produce": "true {out}", "inconclusive_policy": "maybe"}, ["not_allowed"]),
    ({"document": "d.yaml", "prodce": "true {out}"}, ["unknown_field"]),
]


@pytest.fixture(autouse=True)
def _cases(folder: Path) -> None:
    (folder / "c.csv").write_text("case,x\nA,a\nB,b\n", encoding="utf-8")


def _codes(problems: list[Problem]) -> list[str]:
    return [problem.code for problem in problems]


@pytest.mark.parametrize("entry", RIGHT, ids=json.dumps)
def test_a_suite_that_is_right_fits_its_schema(write: Write, folder: Path, entry: dict[str, Any]) -> None:
    """What is published for editors says the same as we do."""
    write(entry)
    assert len(Suite.load("averment.yaml").entries) == 1
    jsonschema.validate(json.loads((folder / "averment.yaml").read_bytes()), schema("suite"))


@pytest.mark.parametrize(("entry", "codes"), WRONG, ids=lambda each: json.dumps(each)[:60])
def test_a_suite_that_is_wrong_fits_neither(
    write: Write, refused: Refused, folder: Path, entry: dict[str, Any], codes: list[str]
) -> None:
    """Each mistake has its place."""
    write(entry)
    problems = refused()
    assert _codes(problems) == codes
    assert all(problem.file == "averment.yaml" and problem.line and problem.column for problem in problems)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads((folder / "averment.yaml").read_bytes()), schema("suite"))


def test_all_mistakes_of_all_entries_are_told_at_once(refused: Refused, folder: Path) -> None:
    """Of the file, of documents, globs, tables and commands, each with its place and the nearest name."""
    (folder / "bad.yaml").write_text("version: 1\nassertions: [{id: a, kind: phrse}]\n", encoding="utf-8")
    (folder / "bad.csv").write_text("x,x\n", encoding="utf-8")
    (folder / "averment.yaml").write_text(
        "version: 1\n"
        "suite:\n"
        "  - {document: bad.yaml, conversations: ['none/*.json', 'recordings/*.json', 'nowhere.json']}\n"
        "  - {name: e, document: d.yaml, produce: [python, '{ot}'], tmeout: 3}\n"
        "  - {name: f, document: d.yaml, produce: [no-such-program, '{cse}', '{out}'], cases: c.csv}\n"
        "  - {name: g, document: d.yaml, produce: [no-such-program, '{out}']}\n"
        "  - {name: h, document: d.yaml, produce: ['true', '{out}'], cases: bad.csv}\n"
        '  - {name: g, document: d.yaml, produce: "true \'{out}"}\n',
        encoding="utf-8",
    )
    told = [
        (problem.code, problem.file, problem.line, problem.column, problem.nearest) for problem in refused()
    ]
    assert told == [
        ("unknown_field", "averment.yaml", 4, 60, "timeout"),
        ("duplicate_name", "averment.yaml", 8, 12, None),
        ("unknown_kind", "bad.yaml", 2, 28, "phrase"),
        ("no_conversations", "averment.yaml", 3, 42, None),
        ("no_conversations", "averment.yaml", 3, 78, None),
        ("unknown_placeholder", "averment.yaml", 5, 61, "case"),
        ("program_not_found", "averment.yaml", 6, 42, None),
        ("duplicate_column", "bad.csv", 1, None, None),
        ("bad_command", "averment.yaml", 8, 42, None),
    ]


def test_a_command_must_be_told_where_to_write(write: Write, refused: Refused) -> None:
    """`{out}` is required, and the nearest name of a misspelled placeholder is told."""
    write(document="d.yaml", produce=["true", "--out", "{ot}"])
    problems = refused()
    assert _codes(problems) == ["unknown_placeholder", "no_output"]
    assert problems[0].nearest == "out"


def test_placeholders_of_cases_need_cases(write: Write, refused: Refused) -> None:
    """`{case}` without a table is a mistake that says so."""
    write(document="d.yaml", produce="true {out} {case}")
    (problem,) = refused()
    assert problem.code == "unknown_placeholder"
    assert problem.mend == "Give the entry `cases`; for braces write `{{` and `}}`."


def test_braces_in_globs_are_placeholders(write: Write, refused: Refused) -> None:
    """What other shells read as alternatives is told, with its offset in the text."""
    write(document="d.yaml", conversations="recordings/{a,b}.json")
    (problem,) = refused()
    assert problem.code == "unknown_placeholder"
    assert problem.column is not None
    assert problem.path == "$.suite[0].conversations"


def test_a_program_is_looked_for_where_it_is_started(write: Write, refused: Refused, folder: Path) -> None:
    """On the PATH, or relative to the suite's folder; a file that may not be executed is none."""
    agent = folder / "agent"
    agent.write_text("#!/bin/sh\n", encoding="utf-8")
    write(document="d.yaml", produce=["./agent", "{out}"])
    (problem,) = refused()
    assert problem.code == "program_not_found"
    assert (
        problem.mend == "The file may not be executed: allow it (`chmod +x`), or name the interpreter first."
    )
    agent.chmod(0o755)
    assert Suite.load(folder / "averment.yaml").entries[0].production is not None
    for name, mend in (
        ("agent", "The file beside the suite is `./agent`."),
        ("./recordings", "Install it, or mend its name."),
    ):
        write(document="d.yaml", produce=[name, "{out}"])
        (problem,) = refused()
        assert (problem.code, problem.mend) == ("program_not_found", mend)


@pytest.mark.parametrize(
    ("fields", "path", "near"),
    [
        ({"document": "dd.yaml", "conversations": "recordings/*"}, "$.suite[0].document", "d.yaml"),
        ({"documents": ["d.yaml", "none"], "conversations": "recordings/*"}, "$.suite[0].documents[1]", None),
        (
            {"document": "d.yaml", "conversations": "recordings/*", "cases": "cc.csv"},
            "$.suite[0].cases",
            "c.csv",
        ),
        (
            {"document": "d.yaml", "conversations": "recordings/*", "mapping": "recordings/a.jsn"},
            "$.suite[0].mapping",
            "recordings/a.json",
        ),
    ],
)
def test_a_file_that_is_not_there_is_told_where_the_suite_names_it(
    write: Write, refused: Refused, fields: dict[str, Any], path: str, near: str | None
) -> None:
    """With the nearest name beside it; paths are relative to the suite, not to the working folder."""
    write(fields)
    (problem,) = refused()
    assert (problem.code, problem.file, problem.path, problem.nearest) == (
        "file_not_found",
        "averment.yaml",
        path,
        near,
    )
    assert problem.line is not None
    assert problem.expected == "a path relative to the suite file"


def test_no_placeholder_is_offered_twice(write: Write, refused: Refused) -> None:
    """Also where the table has a column for names, which is a placeholder anyway."""
    write(document="d.yaml", produce=["true", "{out}", "{y}"], cases="c.csv")
    (problem,) = refused()
    assert problem.expected == "one of `{case}`, `{out}`, `{repeat}`, `{x}`"


def test_an_argument_holds_no_null(write: Write, refused: Refused, folder: Path) -> None:
    """Told before anything runs, with the line of the case."""
    (folder / "n.jsonl").write_text('{"x": "a"}\n{"x": "a\\u0000b"}\n', encoding="utf-8")
    write(document="d.yaml", produce=["true", "{out}", "{x}"], cases="n.jsonl")
    (problem,) = refused()
    assert (problem.code, problem.file, problem.line) == ("bad_argument", "n.jsonl", 2)


def test_a_glob_that_matches_only_what_another_matches_is_no_mistake(write: Write) -> None:
    """Every recording is judged once, at the first glob that matches it."""
    write(document="d.yaml", conversations=["recordings/b.json", "recordings/*.json", "recordings/a.*"])
    trials = list(Suite.load("averment.yaml").entries[0].trials())
    assert [trial.file for trial in trials] == ["recordings/b.json", "recordings/a.json"]


def test_a_case_without_a_recording_is_told(write: Write, refused: Refused, folder: Path) -> None:
    """A gap is never passed over; the case's line says which."""
    (folder / "c.csv").write_text("case,x\nA,a\nB,none\nC,b\n", encoding="utf-8")
    write(document="d.yaml", conversations="recordings/{x}.json", cases="c.csv")
    (problem,) = refused()
    assert (problem.code, problem.file, problem.line) == ("no_conversations", "c.csv", 3)
    assert problem.message == "the case `B` has no recording"


def test_cases_without_recordings_are_bounded(write: Write, refused: Refused, folder: Path) -> None:
    """Twenty are named."""
    (folder / "c.csv").write_text("x\na\n" + "none\n" * 50, encoding="utf-8")
    write(document="d.yaml", conversations="recordings/{x}.json", cases="c.csv")
    problems = refused()
    assert len(problems) == 21
    assert problems[-1].message == "the same holds of 30 more cases"


def test_recordings_are_repetitions_where_the_suite_says_so(
    write: Write, refused: Refused, folder: Path
) -> None:
    """As many as it says, for every case; what they are is never guessed."""
    for name in ("A-1", "A-2", "B-1"):
        (folder / f"{name}.json").write_text("{}", encoding="utf-8")
    write(document="d.yaml", conversations="{case}-*.json", cases="c.csv", repeat=2)
    (problem,) = refused()
    assert (problem.code, problem.line, problem.found) == ("repeat_mismatch", 3, "1")
    (folder / "B-2.json").write_text("{}", encoding="utf-8")
    cases = [trial.case for trial in Suite.load("averment.yaml").entries[0].trials()]
    assert [(case.name, case.repeat, case.repeats) for case in cases] == [
        ("A", 1, 2),
        ("A", 2, 2),
        ("B", 1, 2),
        ("B", 2, 2),
    ]


def test_names_are_unique_and_default_to_the_document(write: Write, refused: Refused) -> None:
    """Its name without folders and extension."""
    one = {"document": "d.yaml", "conversations": "recordings/*.json"}
    write(one, {**one, "name": "d"})
    (problem,) = refused()
    assert problem.code == "duplicate_name"
    write(one, {**one, "document": "policy:pii-leak"}, {**one, "name": "x"})
    assert [entry.name for entry in Suite.load("averment.yaml").entries] == ["d", "pii-leak", "x"]


def test_the_format_of_conversations_is_checked(write: Write, refused: Refused, folder: Path) -> None:
    """By name, or by a mapping file; with the nearest name and every mistake of the mapping."""
    write(document="d.yaml", conversations="recordings/*.json", **{"from": "transcrpt"})
    (problem,) = refused()
    assert (problem.code, problem.file, problem.line) == ("unknown_format", "averment.yaml", 7)
    assert problem.nearest == "transcript"
    (folder / "m.yaml").write_text("version: 2\n", encoding="utf-8")
    write(document="d.yaml", conversations="recordings/*.json", mapping="m.yaml")
    assert {problem.file for problem in refused()} == {"m.yaml"}
    write(document="d.yaml", conversations="recordings/*.json", mapping="m.yaml", **{"from": "transcript"})
    assert "given_twice" in _codes(refused())


def test_only_what_is_chosen_is_checked_and_kept(write: Write, refused: Refused) -> None:
    """By name of entry or case, as patterns; what chooses nothing is told with the nearest name."""
    write(
        {"name": "recorded", "document": "d.yaml", "conversations": "nowhere/*.json"},
        {"name": "agent", "document": "d.yaml", "produce": ["true", "{out}"], "cases": "c.csv", "repeat": 2},
    )

    def chosen(*only: str) -> list[str]:
        return [
            trial.name for entry in Suite.load("averment.yaml", only=only).entries for trial in entry.trials()
        ]

    assert chosen("agent") == ["A", "A #2", "B", "B #2"]
    assert chosen("B") == chosen("agent/B") == chosen("[B]") == ["B", "B #2"]
    assert chosen("A", "B") == chosen("ag*")
    problems = refused(only=["agnt", "Z", "agent"])
    assert [(problem.code, problem.nearest) for problem in problems] == [
        ("nothing_chosen", "agent"),
        ("nothing_chosen", None),
    ]
    assert _codes(refused(only=["recorded"])) == ["no_conversations"]


def test_pyproject_holds_a_suite_as_well(folder: Path, refused: Refused) -> None:
    """As `[tool.averment]`; mistakes have paths and no lines."""
    text = '[project]\nname = "x"\n[tool.averment]\nversion = 1\n'
    entry = '[[tool.averment.suite]]\ndocument = "d.yaml"\nconversations = "recordings/*.json"\n'
    (folder / "pyproject.toml").write_text(text + entry, encoding="utf-8")
    assert find_suite() == "pyproject.toml"
    assert [entry.name for entry in Suite.load(".").entries] == ["d"]
    (folder / "pyproject.toml").write_text(
        text + entry.replace("conversations", "conversatons"), encoding="utf-8"
    )
    problem = refused("pyproject.toml")[0]
    assert (problem.code, problem.line, problem.nearest) == ("unknown_field", None, "conversations")
    assert problem.path == "$.tool.averment.suite[0].conversatons"


def test_a_suite_is_found_by_its_name(folder: Path) -> None:
    """averment.yaml before pyproject.toml; one without the table, or that is no TOML, is none."""
    assert find_suite() is None
    (folder / "pyproject.toml").write_text("[tool.other]\n", encoding="utf-8")
    assert find_suite() is None
    (folder / "pyproject.toml").write_text("[tool", encoding="utf-8")
    assert find_suite() is None
    (folder / "pyproject.toml").write_text("[tool.averment]\n", encoding="utf-8")
    assert find_suite() == "pyproject.toml"
    (folder / "averment.yaml").write_text("", encoding="utf-8")
    assert find_suite() == "averment.yaml"
    assert find_suite("sub") is None


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("none.yaml", None, ("file_not_found", None)),
        ("averment.yaml", "a: [", ("yaml_syntax", 1)),
        ("averment.yaml", "", ("empty_document", 1)),
        ("averment.yaml", "version: 2\nsuite: []\n", ("not_allowed", 1)),
        ("averment.yaml", "version: 1\nsuite: []\n", ("empty_value", 2)),
        ("averment.yaml", "[1]", ("wrong_type", 1)),
        ("s.toml", "a = ]", ("toml_syntax", 1)),
        ("s.toml", "a = ", ("toml_syntax", None)),
        ("s.toml", b"\xff", ("invalid_encoding", None)),
        ("s.toml", "[tool]\n", ("no_suite", None)),
        ("s.toml", "[tool.averment]\nversion = 1979-05-27\n", ("not_json_like", None)),
        ("recordings", None, ("no_suite", None)),
    ],
)
def test_a_file_that_holds_no_suite_is_refused(
    folder: Path, refused: Refused, name: str, text: str | bytes | None, told: tuple[str, int | None]
) -> None:
    """With its place, and what to do."""
    if text is not None:
        (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    problem = refused(name)[0]
    assert (problem.code, problem.line) == told
    assert (problem.file or "").endswith(name)


def test_a_suite_elsewhere_is_relative_to_its_file(folder: Path, write: Write) -> None:
    """Documents, recordings, tables and programs."""
    write(document="d.yaml", conversations="recordings/{x}.json", cases="c.csv")
    inner = folder / "inner"
    inner.mkdir()
    for name in ("averment.yaml", "d.yaml", "c.csv", "recordings"):
        (folder / name).rename(inner / name)
    (entry,) = Suite.load("inner").entries
    assert [trial.file for trial in entry.trials()] == ["inner/recordings/a.json", "inner/recordings/b.json"]


def test_nothing_runs_while_a_suite_is_checked(folder: Path, write: Write) -> None:
    """Loading is free of effects: no file appears, and no folder."""
    write(document="d.yaml", produce=[sys.executable, "-c", "open('ran', 'w')", "{out}"])
    before = sorted(folder.rglob("*"))
    assert [trial.name for trial in Suite.load("averment.yaml").entries[0].trials()] == ["d"]
    with pytest.raises(UsageError):
        Suite.load("averment.yaml", only=["nothing"])
    assert sorted(folder.rglob("*")) == before


def test_a_step_back_out_of_a_link_is_where_it_leads(write: Write, folder: Path) -> None:
    """Paths are shortened only where that leads to the same file."""
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "x.json").write_text("{}", encoding="utf-8")
    (folder / "link").symlink_to("deep/er")
    write(document="d.yaml", conversations=["link/../x.json", "./recordings/./a.json"])
    trials = list(Suite.load("averment.yaml").entries[0].trials())
    assert [trial.file for trial in trials] == ["link/../x.json", "recordings/a.json"]
