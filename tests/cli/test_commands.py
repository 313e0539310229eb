"""The command line, through a real shell: exit codes, streams, files, errors a stranger meets."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from averment.cli.schema import NAMES as SCHEMAS

DOCUMENT = "version: 1\nassertions:\n  - {id: said, kind: phrase, regex: refund}\n  - {id: done, kind: tool_call, name: issue_refund}\n"
GOOD = {
    "transcript": [{"role": "agent", "text": "refund sent"}],
    "spans": [{"type": "tool_call", "name": "issue_refund"}],
}
BAD = {"transcript": [{"role": "agent", "text": "refund sent"}], "spans": []}
BLIND = {"transcript": [{"role": "agent", "text": "refund sent"}]}

Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Runs a line in `sh`, in a folder with a document and three conversations."""
    (tmp_path / "d.yaml").write_text(DOCUMENT, encoding="utf-8")
    for name, conversation in (("good", GOOD), ("bad", BAD), ("blind", BLIND)):
        (tmp_path / f"{name}.json").write_text(json.dumps(conversation), encoding="utf-8")
    binary = Path(sys.executable).parent
    assert (binary / "averment").exists(), "averment is not installed in this environment"
    path = f"{binary}{os.pathsep}{os.environ['PATH']}"

    def run(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["sh", "-c", line],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PATH": path, **environment},
            timeout=300,
        )
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("averment run d.yaml good.json", 0),
        ("averment run d.yaml bad.json", 1),
        ("averment run d.yaml blind.json", 0),
        ("averment run d.yaml blind.json --inconclusive-policy fail", 1),
        ("averment run d.yaml blind.json --inconclusive-policy refuse", 2),
        ("averment run d.yaml good.json bad.json", 1),
        ("averment run d.yaml bad.json blind.json --inconclusive-policy refuse", 2),
        ("averment check d.yaml", 0),
        ("averment kinds", 0),
        ("averment kinds phrase", 0),
        ("averment --version", 0),
        ("averment --help", 0),
        ("averment run --help", 0),
        ("averment", 2),
        ("averment nonsense", 2),
        ("averment run", 2),
        ("averment run d.yaml", 2),
        ("averment run nowhere.yaml good.json", 2),
        ("averment run d.yaml nowhere.json", 2),
        ("averment run d.yaml good.json --format xml", 2),
        ("averment run d.yaml good.json --inconclusive-policy maybe", 2),
        ("averment run d.yaml good.json --output /nowhere/at/all.json", 2),
        ("averment run good.json d.yaml", 2),
        ("averment run d.yaml d.yaml", 2),
        ("averment run - - < d.yaml", 2),
        ("averment kinds nonsense", 2),
        ("averment schema nonsense", 2),
        ("averment check", 2),
        ("averment check good.json", 2),
        ("printf '' | averment run d.yaml -", 2),
        ("printf '{\"transcript\": [' | averment run d.yaml -", 2),
        ("printf '\\377\\376\\000' | averment run d.yaml -", 2),
        ("averment run d.yaml . ", 2),
        ("averment run d.yaml good.json --output .", 2),
        ("averment run d.yaml - <&-", 2),
    ],
)
def test_exit_codes(shell: Shell, line: str, code: int) -> None:
    """0 yes, 1 no, 2 no verdict; every refusal says an error code on standard error."""
    done = shell(line)
    assert done.returncode == code, done.stderr
    if code == 2 and "refuse" not in line:
        assert "error[" in done.stderr
        assert not done.stdout


def test_an_internal_error_exits_3_without_a_traceback(shell: Shell, tmp_path: Path) -> None:
    """Whatever breaks inside is told as a defect of ours; a traceback is shown only on request."""
    (tmp_path / "sitecustomize.py").write_text(
        "import averment.documents.document as d\n"
        "def broken(*a, **k): raise RuntimeError('secret 4111 1111 1111 1111')\n"
        "d.Document.load = broken\n",
        encoding="utf-8",
    )
    done = shell("averment run d.yaml good.json", PYTHONPATH=str(tmp_path))
    assert done.returncode == 3
    assert "error[internal_error]: RuntimeError" in done.stderr
    assert "4111" not in done.stderr


def test_text_says_what_failed_with_its_line_and_the_evidence(shell: Shell) -> None:
    """The report leads with the failure, its place in the document, and what was called instead."""
    out = shell("averment run d.yaml bad.json").stdout
    assert "FAIL  done  tool_call · d.yaml:4" in out
    assert "`issue_refund` was not called; tools called: none" in out
    assert "exit 1: the gate says no" in out


def test_nothing_decided_is_the_headline_whatever_the_policy(shell: Shell, tmp_path: Path) -> None:
    """When every result is INCONCLUSIVE the report says so first."""
    (tmp_path / "t.yaml").write_text(
        "version: 1\nassertions: [{id: a, kind: tool_call, name: x}]\n", encoding="utf-8"
    )
    for policy in ("report", "fail", "refuse"):
        assert (
            "NOTHING WAS DECIDED"
            in shell(f"averment run t.yaml blind.json --inconclusive-policy {policy}").stdout
        )


def test_json_on_standard_output_is_the_envelope_and_nothing_else(shell: Shell) -> None:
    """Programs read standard output; the bytes are those that --output writes."""
    done = shell("averment run d.yaml bad.json --format json --output e.json && echo never; cat e.json >&2")
    assert json.loads(done.stdout)["exit_code"] == 1
    assert done.stdout == done.stderr


def test_several_conversations_give_one_envelope_each_in_order(shell: Shell) -> None:
    """The envelopes follow one another, each with the bytes of a run of its own."""
    together = shell("averment run d.yaml good.json bad.json blind.json --format json").stdout
    alone = [
        shell(f"averment run d.yaml {name}.json --format json").stdout for name in ("good", "bad", "blind")
    ]
    assert together == "".join(alone)


def test_a_file_of_many_conversations_asks_which(shell: Shell, tmp_path: Path) -> None:
    """Nothing is guessed: the error says how many there are and names the two options."""
    lines = [{"conversation_id": name, **record} for name, record in (("g", GOOD), ("b", BAD))]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    refused = shell("averment run d.yaml many.jsonl")
    assert refused.returncode == 2
    assert "2 conversations" in refused.stderr
    assert "--conversation" in refused.stderr
    assert "--all" in refused.stderr
    assert shell("averment run d.yaml many.jsonl --all").returncode == 1
    assert shell("averment run d.yaml many.jsonl --conversation g").returncode == 0
    assert shell("averment run d.yaml --all - < many.jsonl").returncode == 1
    assert "error[conversation_not_found]" in shell("averment run d.yaml many.jsonl --conversation x").stderr


def test_parts_come_from_files_of_their_own(shell: Shell, tmp_path: Path) -> None:
    """Transcript, trace, timing and state, each from its file or standard input."""
    parts: dict[str, Any] = {
        "t.json": GOOD["transcript"],
        "s.json": {"orders": [{"id": 1}]},
        "m.json": {"events": [{"x": 1}]},
    }
    for name, value in parts.items():
        (tmp_path / name).write_text(json.dumps(value), encoding="utf-8")
    (tmp_path / "trace.jsonl").write_text(
        '{"_meta": true, "schema": "hotato.voice_trace.v1"}\n{"type": "tool_call", "name": "issue_refund"}\n',
        encoding="utf-8",
    )
    (tmp_path / "all.yaml").write_text(
        DOCUMENT
        + "  - {id: state, kind: state, resource: orders, expect: {id: 1}}\n"
        + "  - {id: timing, kind: outcome, all_of: [{field_present: x}]}\n",
        encoding="utf-8",
    )
    options = "--transcript t.json --state s.json --timing m.json"
    done = shell(f"averment run all.yaml {options} --trace - < trace.jsonl")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 pass · 0 fail · 0 inconclusive" in done.stdout


def test_swapped_arguments_are_told_not_misread(shell: Shell) -> None:
    """Documents are recognisable, so the message names the right order."""
    assert "`d.yaml` is an assertion document" in shell("averment run good.json d.yaml").stderr
    assert "error[swapped_arguments]" in shell("averment run d.yaml d.yaml").stderr


def test_every_mistake_of_every_document_is_reported(shell: Shell, tmp_path: Path) -> None:
    """`check` reads all documents, tells every mistake with its place, and says how many."""
    (tmp_path / "x.yaml").write_text(
        "version: 1\nassertions:\n  - {id: a, kind: phrase, regx: y}\n", encoding="utf-8"
    )
    done = shell("averment check d.yaml x.yaml nowhere.yaml")
    assert done.returncode == 2
    assert "d.yaml: ok, 2 assertions" in done.stdout
    assert "x.yaml:3:27: error[unknown_field]" in done.stderr
    assert "did you mean `regex`?" in done.stderr
    assert "error[file_not_found]" in done.stderr
    report = json.loads(shell("averment check d.yaml x.yaml --format json").stdout)
    assert [entry["ok"] for entry in report["documents"]] == [True, False]
    assert report["documents"][1]["problems"][0]["line"] == 3


def test_hostile_text_reaches_no_terminal(shell: Shell, tmp_path: Path) -> None:
    """Control sequences of evidence are escaped, personal data is redacted before anything is cut."""
    text = "refund \x1b[2J\u202e 4111 1111 1111 1111 " + "x" * 140 + " jane@example.com"
    (tmp_path / "h.json").write_text(
        json.dumps({"transcript": [{"role": "a\x07gent", "text": text}]}), encoding="utf-8"
    )
    (tmp_path / "h.yaml").write_text(
        "version: 1\nassertions: [{id: a, kind: phrase, regex: refund, absent: true}]\n", encoding="utf-8"
    )
    out = shell("averment run h.yaml h.json").stdout
    assert "turn 0" in out
    assert not {"\x1b", "\u202e", "\x07"} & set(out)
    assert "4111" not in out
    assert "jane@" not in out


def test_output_is_written_whole_or_not_at_all(shell: Shell, tmp_path: Path) -> None:
    """A refused run leaves an older file as it was, and no half-written one behind."""
    (tmp_path / "e.json").write_text("older", encoding="utf-8")
    shell("averment run d.yaml nowhere.json --output e.json")
    assert (tmp_path / "e.json").read_text(encoding="utf-8") == "older"
    shell("averment run d.yaml good.json --output e.json")
    assert json.loads((tmp_path / "e.json").read_bytes())["exit_code"] == 0
    assert not list(tmp_path.glob("*.part"))


def test_dash_as_output_keeps_standard_output_for_the_envelope(shell: Shell) -> None:
    """With `--output -` the text goes to standard error."""
    done = shell("averment run d.yaml bad.json --output -")
    assert json.loads(done.stdout)["exit_code"] == 1
    assert "FAIL  done" in done.stderr


def test_compat_repeats_the_redacted_transcript(shell: Shell, tmp_path: Path) -> None:
    """The contract's spelling of a pii result is one option away."""
    (tmp_path / "p.yaml").write_text(
        "version: 1\nassertions: [{id: a, kind: pii, mode: must_not_leak, detectors: [ssn]}]\n",
        encoding="utf-8",
    )
    result = json.loads(shell("averment run p.yaml good.json --format json --compat").stdout)["results"][0]
    assert result["redacted_transcript"] == [{"role": "agent", "text": "refund sent"}]


def test_a_reader_that_goes_away_is_no_yes(shell: Shell) -> None:
    """A broken pipe gives no traceback, and not the code of a gate that said yes."""
    line = "(averment schema document; echo code $? >&2) | true"
    assert shell(line).stderr.strip() in {"code 0", "code 2"}


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_that_is_closed_changes_no_exit_code(shell: Shell, closed: str) -> None:
    """A process that begins without standard output or standard error answers as if it were the null device."""
    assert shell(f"averment run d.yaml good.json {closed}").returncode == 0
    assert shell(f"averment run d.yaml bad.json {closed}").returncode == 1
    assert shell(f"averment run d.yaml nowhere.json {closed}").returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_no_defect_of_ours(shell: Shell) -> None:
    """What can't be printed is no verdict, and the message says why."""
    done = shell("averment run d.yaml good.json > /dev/full")
    assert done.returncode == 2
    assert "error[output_unwritable]" in done.stderr
    assert shell("averment run d.yaml nowhere.json 2> /dev/full").returncode == 2


@pytest.mark.parametrize(
    ("command", "argument"),
    [
        ("schema", f"NAME (one of {', '.join(SCHEMAS)})"),
        ("completion", "SHELL (one of bash, zsh, fish)"),
    ],
)
def test_a_missing_argument_is_named_with_its_choices(shell: Shell, command: str, argument: str) -> None:
    """As the usage line names it."""
    done = shell(f"averment {command}")
    assert done.returncode == 2
    assert f"the following arguments are required: {argument}\n" in done.stderr


def test_the_demo_overwrites_nothing_that_was_changed(shell: Shell, tmp_path: Path) -> None:
    """Whoever tries things out in the demo's document keeps them; running it again without changes is fine."""
    assert shell("averment demo").returncode == 0
    assert shell("averment demo").returncode == 0
    document = tmp_path / "averment-demo" / "refunds.yaml"
    document.write_text("version: 1\n", encoding="utf-8")
    done = shell("averment demo")
    assert done.returncode == 2
    assert "error[output_exists]" in done.stderr
    assert "--into" in done.stderr
    assert document.read_text(encoding="utf-8") == "version: 1\n"
    assert shell("averment demo --into other").returncode == 0


def test_the_demo_catches_the_agent_and_shows_where_the_envelope_is(shell: Shell, tmp_path: Path) -> None:
    """One command: the claim's turn, the call that is missing, the path of the envelope; its files run again."""
    done = shell("averment demo")
    assert done.returncode == 0
    assert "FAIL  refund-is-real" in done.stdout
    assert "`issue_refund` was never called" in done.stdout
    assert 'turn 3, agent: "Done! Your refund of 42 dollars' in done.stdout
    assert json.loads((tmp_path / "averment-demo" / "envelope.json").read_bytes())["exit_code"] == 1
    assert shell("averment run averment-demo/refunds.yaml averment-demo/conversation.json").returncode == 1


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_scripts_know_commands_and_options(shell: Shell, name: str) -> None:
    """Each shell's script names every command and its options."""
    script = shell(f"averment completion {name}").stdout
    assert "completion" in script
    assert "inconclusive-policy" in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize(
    ("words", "expected"),
    [("averment ru", "run"), ("averment run --form", "--format"), ("averment schema env", "envelope")],
)
def test_words_complete_in_bash(shell: Shell, words: str, expected: str) -> None:
    """The script, sourced, completes commands, options and choices."""
    line = (
        f"COMP_WORDS=({words}); COMP_CWORD={len(words.split()) - 1}; _shtab_averment; echo ${{COMPREPLY[@]}}"
    )
    assert (
        shell(f"averment completion bash > c.sh && bash -c 'source ./c.sh; {line}'").stdout.strip()
        == expected
    )


def test_a_mistyped_option_or_command_names_the_nearest(shell: Shell) -> None:
    """Usage mistakes are problems like any other."""
    assert "did you mean `--format`?" in shell("averment run d.yaml good.json --fromat json").stderr
    assert "did you mean `run`?" in shell("averment rnu").stderr
    assert "required: DOC\n" in shell("averment run").stderr


def test_options_stand_anywhere(shell: Shell) -> None:
    """Before, between or after the files."""
    for line in (
        "--format json d.yaml good.json",
        "d.yaml --format json good.json",
        "d.yaml good.json --format json",
    ):
        assert json.loads(shell(f"averment run {line}").stdout)["exit_code"] == 0


@pytest.mark.parametrize("name", ["document", "envelope", "evidence", "pack-templates"])
def test_schemas_are_valid_json_schemas(shell: Shell, name: str) -> None:
    """Each published schema is itself valid, and the same every time."""
    import jsonschema

    text = shell(f"averment schema {name}").stdout
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    assert shell(f"averment schema {name}", PYTHONHASHSEED="99").stdout == text


@pytest.mark.parametrize(
    ("words", "said", "near"),
    [
        ((), "a command is missing", None),
        (("rnu",), "there is no command `rnu`", "run"),
        (("pack",), "`pack` is half a command", None),
        (("pack", "chek"), "there is no command `pack chek`", "pack check"),
        (("pack", "frob"), "there is no command `pack frob`", None),
    ],
)
def test_a_command_that_is_none_is_told_with_those_that_are_meant(
    words: tuple[str, ...], said: str, near: str | None
) -> None:
    """Half of a command of two words lists the other halves; a misspelled one has its nearest."""
    done = subprocess.run(
        [sys.executable, "-m", "averment", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert f"error[usage]: {said}\n" in done.stderr
    assert ("did you mean" in done.stderr) is (near is not None)
    assert near is None or f"did you mean `{near}`?" in done.stderr
    assert "pack new" in done.stderr
    assert ("policies" in done.stderr) is (words[:1] != ("pack",))
