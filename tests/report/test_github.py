from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from averment.report.github import render
from averment.text.shown import inert
from averment.verdicts.judged import Case, Judged

HOSTILE = [
    "a\n::error::forged",
    "a\r\n  ::warning file=x::forged",
    "a\r##[add-mask]e",
    "##[stop-commands]token",
    ",line=1::forged",
    "100% %0A::error::forged %250A",
    "::set-output name=exit-code::0",
    "\u2028::error::x\u202e\x1b[31m\x00\ud800",
    "x" * 100_000,
    "",
]
COMMANDS = {"error", "warning", "notice", "add-mask", "stop-commands", "set-output", "group", "debug"}


class Command(NamedTuple):
    """A command as the runner understands it."""

    name: str
    properties: Mapping[str, str]
    data: str


def _runner(output: str) -> list[Command]:
    """What the runner takes for commands (`ActionCommand.TryParseV2` and `TryParse`): .NET ends lines at CR and LF."""
    found = []
    for line in output.replace("\r", "\n").split("\n"):
        text = line.lstrip()
        if text.startswith("::") and (end := text.find("::", 2)) >= 0:
            name, _, rest = text[2:end].partition(" ")
            if name in COMMANDS:
                pairs = (part.partition("=") for part in rest.strip().split(",") if part)
                properties = {key: _plain(value, ":,") for key, _, value in pairs if value}
                found.append(Command(name, properties, _plain(text[end + 2 :])))
                continue
        start = line.find("##[")
        if start >= 0 and (end := line.find("]", start)) >= 0:
            name = line[start + 3 : end].partition(" ")[0]
            if name in COMMANDS:
                found.append(Command(name, {}, line[end + 1 :]))
    return found


def _plain(text: str, more: str = "") -> str:
    for char in f"\r\n{more}%":
        text = text.replace(f"%{ord(char):02X}", char)
    return text


def _result(status: str = "FAIL", **fields: Any) -> dict[str, Any]:
    return {
        "id": "refunded",
        "kind": "state",
        "deterministic": True,
        "at": {"line": 8, "column": 5},
        "status": status,
        "reason": "it is not so",
        **fields,
    }


def _judged(*results: Mapping[str, Any], policy: str = "report", **fields: Any) -> Judged:
    envelope = {"exit_code": 1, "inconclusive_policy": policy, "results": list(results)}
    named = {
        "conversation": "call.json",
        "document": "refunds.yaml",
        "files": ["refunds.yaml"] * len(results),
    }
    return Judged(envelope=envelope, **{**named, **fields})


def test_a_failure_is_an_error_at_its_line() -> None:
    """The runner reads file, line, title and the reason."""
    assert render([_judged(_result())]) == (
        "::error file=refunds.yaml,line=8,title=FAIL refunded (state)::it is not so\n"
    )


def test_what_passes_or_is_not_applicable_is_not_told() -> None:
    """Nothing to tell is no output at all."""
    assert not render([_judged(_result("PASS"), _result("INCONCLUSIVE", code="not_applicable"))])
    assert not render([])


@pytest.mark.parametrize(
    ("status", "severity", "policy", "code", "level"),
    [
        ("FAIL", "error", "report", "not_found", "error"),
        ("FAIL", "warning", "refuse", "not_found", "warning"),
        ("FAIL", "note", "fail", "not_found", "notice"),
        ("INCONCLUSIVE", "error", "report", "trace_absent", "warning"),
        ("INCONCLUSIVE", "error", "fail", "trace_absent", "error"),
        ("INCONCLUSIVE", "error", "refuse", "trace_absent", "error"),
        ("INCONCLUSIVE", "warning", "refuse", "trace_absent", "notice"),
        ("INCONCLUSIVE", "note", "report", "trace_absent", "notice"),
        ("INCONCLUSIVE", "note", "report", "internal_error", "error"),
    ],
)
def test_levels(status: str, severity: str, policy: str, code: str, level: str) -> None:
    """Errors are what a gate says no for; lesser severities and what stayed undecided are less."""
    (command,) = _runner(render([_judged(_result(status, severity=severity, code=code), policy=policy)]))
    assert command.name == level
    assert command.properties["title"] == f"{status} refunded (state)"


def test_the_undecided_say_what_would_decide_them() -> None:
    """The evidence that is missing comes with what would supply it."""
    gap = {"channel": "state", "how": "pass the orders with --state"}
    (command,) = _runner(render([_judged(_result("INCONCLUSIVE", evidence_gap=gap))]))
    assert command.data == "it is not so\nTo decide it: pass the orders with --state"
    told = _result("INCONCLUSIVE", evidence_gap=gap, reason="absent: pass the orders with --state")
    (command,) = _runner(render([_judged(told)]))
    assert command.data == "absent: pass the orders with --state"


def test_the_reason_is_the_best_there_is() -> None:
    """Without a reason there is the public one, or the code."""
    told = [
        {"reason": "r", "public_reason": "p", "code": "c"},
        {"public_reason": "p", "code": "c"},
        {"code": "c"},
    ]
    for fields, expected in zip([*told, {}], ["r", "p", "c", "no reason is given"], strict=True):
        result = {key: value for key, value in _result().items() if key != "reason"}
        assert render([_judged({**result, **fields})]).endswith(f"::{expected}\n")


def test_an_assertion_is_told_once_for_all_conversations() -> None:
    """One annotation says in how many it fails, names the first, and that there are other reasons."""
    entries = [
        _judged(
            _result("FAIL" if index % 2 else "PASS", reason=f"reason {index % 4}"),
            case=Case(suite="desk", name=f"case {index}", repeat=2, repeats=2),
        )
        for index in range(20)
    ]
    (command,) = _runner(render(entries))
    names = ", ".join(f"desk: case {index} #2" for index in (1, 3, 5, 7, 9))
    assert command.data == (
        f"reason 1\n(1 other reason in other conversations)\nIn 10 of 20 conversations: {names} and 5 more"
    )


def test_one_id_at_two_places_is_two_findings() -> None:
    """Documents that are not related may use the same id."""
    entries = [_judged(_result(), files=["a.yaml"]), _judged(_result(), files=["b.yaml"])]
    assert [command.properties["file"] for command in _runner(render(entries))] == ["a.yaml", "b.yaml"]


def test_the_gravest_come_first() -> None:
    """Errors, then warnings, then notices; failures before the undecided; what shows more often before the rest."""
    rare = [
        _result(id=name, severity=severity)
        for severity in ("note", "warning", "error")
        for name in severity[0]
    ]
    skipped = _result("INCONCLUSIVE", id="skipped", code="skipped")
    open_ = _result("INCONCLUSIVE", id="open", code="trace_absent")
    often = _result(id="often")
    commands = _runner(
        render([_judged(*rare, skipped, open_, often, policy="fail"), _judged(often, open_, open_)])
    )
    told = [(command.name, command.properties["title"].split()[1]) for command in commands]
    assert told == [
        *(("error", name) for name in ("often", "e", "open", "skipped")),
        *(("warning", "w"), ("notice", "n")),
    ]


@pytest.mark.parametrize(("count", "shown", "left"), [(10, 10, None), (11, 9, 2), (40, 9, 31)])
def test_more_than_github_shows_are_counted(count: int, shown: int, left: int | None) -> None:
    """GitHub drops what is above ten of a level; the tenth says how many there are besides."""
    results = [_result(id=f"a{n}") for n in range(count)] + [_result(id="w", severity="warning")]
    commands = _runner(render([_judged(*results)]))
    errors = [command for command in commands if command.name == "error"]
    assert len(errors) == shown + (left is not None)
    assert [command.name for command in commands].count("warning") == 1
    if left is not None:
        assert errors[-1].properties == {"title": f"{left} more of these"}
        assert errors[-1].data.startswith(f"{left} more are not shown here.")


@pytest.mark.parametrize("file", ["policy:pii-leak", "the document", "-"])
def test_what_stands_in_no_file_has_none(file: str) -> None:
    """A bundled document, or one from standard input, is no file of the repository."""
    (command,) = _runner(render([_judged(_result(), files=[file])]))
    assert set(command.properties) == {"title"}


def test_a_file_without_a_known_line_is_named_alone() -> None:
    """A document that was no text has no lines."""
    (command,) = _runner(render([_judged(_result(at=None))]))
    assert command.properties == {"file": "refunds.yaml", "title": "FAIL refunded (state)"}


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: repr(hostile[:20]))
def test_nothing_hostile_is_a_command_or_a_property(hostile: str) -> None:
    """Whatever stands in any field, the runner sees one annotation for each finding, with our properties only."""
    gap = {"how": hostile}
    fields = dict.fromkeys(("id", "kind", "reason", "description"), hostile)
    results = [_result(status, **fields, evidence_gap=gap) for status in ("FAIL", "INCONCLUSIVE")]
    entries = [_judged(*results, files=[hostile] * 2, conversation=hostile)] * 2
    text = render(entries)
    commands = _runner(text)
    assert [command.name for command in commands] == ["error", "warning"]
    assert text.count("\n") == 2
    for command in commands:
        assert set(command.properties) <= {"file", "line", "title"}
        assert command.properties.get("line") == "8" or not hostile
        assert "2 of 2 conversations" in command.data
        assert len(command.data) < 2_000
        assert len(command.properties["title"]) < 255


def test_what_is_escaped_is_read_as_it_was() -> None:
    """Per cent signs, commas and colons come back, also where they look like an escape."""
    (command,) = _runner(render([_judged(_result(id="a,b:c%2Cd", reason="100%0A, 5%25: x"))]))
    assert command.properties["title"] == "FAIL a,b:c%2Cd (state)"
    assert command.data == "100%0A, 5%25: x"


def test_personal_data_stands_nowhere() -> None:
    """Names of files and conversations are redacted too."""
    fields = dict.fromkeys(("id", "reason"), "card 4111 1111 1111 1111")
    entries = [
        _judged(_result(**fields), conversation="jane@example.org", files=["jane@example.org.yaml"])
    ] * 2
    text = render(entries)
    assert "4111" not in text
    assert "jane" not in text


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: repr(hostile[:20]))
def test_what_else_is_printed_can_be_made_inert(hostile: str) -> None:
    """A report for people may begin a line with anything; with a backslash it is no command, and nothing else changes."""
    text = f"{hostile}\n  {hostile} ##[error]x ###[group]\n\t::debug::x\n"
    assert _runner(text)
    assert not _runner(inert(text))
    assert inert(text).replace("\\::", "::").replace("##\\[", "##[") == text
    assert inert("a :: b # [c] d::\n") == "a :: b # [c] d::\n"


def test_a_run_in_actions_prints_annotations_and_no_command_of_others(tmp_path: Path) -> None:
    """In GitHub Actions nothing has to be asked for; descriptions and evidence that look like commands are not."""
    (tmp_path / "d.yaml").write_text(
        'version: 1\nassertions:\n  - {id: "a", kind: phrase, regex: refund, absent: true, '
        'description: "::error::forged"}\n',
        encoding="utf-8",
    )
    said = [{"role": "agent", "text": "refund ##[add-mask]e"}]
    (tmp_path / "c.json").write_text(json.dumps({"transcript": said}), encoding="utf-8")

    def run(*options: str, **environment: str) -> str:
        line = [sys.executable, "-m", "averment", "run", "d.yaml", "c.json", *options]
        clean = {name: value for name, value in os.environ.items() if name != "GITHUB_ACTIONS"}
        done = subprocess.run(
            line, capture_output=True, text=True, check=False, cwd=tmp_path, env={**clean, **environment}
        )
        assert done.returncode == 1, done.stderr
        return done.stdout

    assert not _runner(run())
    for printed in (run("--github"), run(GITHUB_ACTIONS="true")):
        assert [command[:2] for command in _runner(printed)] == [
            ("error", {"file": "d.yaml", "line": "3", "title": "FAIL a (phrase)"})
        ]
        assert "\\::error::forged" in printed
    assert not _runner(run("--no-github", GITHUB_ACTIONS="true"))
