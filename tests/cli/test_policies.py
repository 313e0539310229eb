"""Several documents in one run, bundled policies among them, through a real shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

DOCUMENT = "version: 1\nassertions:\n  - {id: said, kind: phrase, regex: refund}\n"
CALL = {"transcript": [{"role": "agent", "text": "refund sent"}]}
LEAK = {"transcript": [{"role": "agent", "text": "refund sent to 4111 1111 1111 1111"}]}

Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Runs a line in `sh`, in a folder with documents and conversations."""
    (tmp_path / "d.yaml").write_text(DOCUMENT, encoding="utf-8")
    (tmp_path / "e.json").write_text(
        '{"version": 1, "assertions": [{"id": "e", "kind": "phrase", "regex": "sent"}]}', encoding="utf-8"
    )
    (tmp_path / "call.json").write_text(json.dumps(CALL), encoding="utf-8")
    (tmp_path / "leak.json").write_text(json.dumps(LEAK), encoding="utf-8")
    (tmp_path / "t.json").write_text(json.dumps(CALL["transcript"]), encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def run(line: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["sh", "-c", line],
            capture_output=True,
            encoding="utf-8",
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            timeout=300,
        )
        assert "Traceback" not in done.stderr
        return done

    return run


def ids(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [result["id"] for result in json.loads(done.stdout)["results"]]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("d.yaml call.json --pack pii-leak", ["said", "pii-leak.no-pii"]),
        ("e.json call.json --pack pii-leak", ["e", "pii-leak.no-pii"]),
        ("--pack pii-leak call.json", ["pii-leak.no-pii"]),
        ("--pack pii-leak --transcript t.json", ["pii-leak.no-pii"]),
        ("d.yaml --pack pii-leak --transcript t.json", ["said", "pii-leak.no-pii"]),
        ("policy:pii-leak call.json", ["pii-leak.no-pii"]),
        ("-d d.yaml -d e.json call.json", ["said", "e"]),
        ("-d e.json call.json -d policy:pii-leak", ["e", "pii-leak.no-pii"]),
        ("--pack pii-leak - < call.json", ["pii-leak.no-pii"]),
        ("- call.json --pack pii-leak < d.yaml", ["said", "pii-leak.no-pii"]),
        ("policy:pii-leak call.json --pack required-disclosure", None),
    ],
)
def test_documents_and_packs_are_judged_together(shell: Shell, line: str, expected: list[str] | None) -> None:
    """Packs follow the documents, and may stand alone."""
    done = shell(f"averment run {line} --format json")
    assert done.returncode in {0, 1}, done.stderr
    found = ids(done)
    assert found == expected or (expected is None and found[0] == "pii-leak.no-pii" and len(found) == 3)


def test_a_bundled_policy_can_say_no(shell: Shell) -> None:
    """A leaked number fails, and the report names the policy's line."""
    done = shell("averment run --pack pii-leak call.json leak.json; echo $?")
    assert done.stdout.endswith("\n1\n")
    assert "policy:pii-leak:8" in done.stdout
    assert "4111 1111" not in done.stdout


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("averment run -d d.yaml -d d.yaml call.json", "duplicate_id"),
        ("averment run d.yaml call.json --pack pii-leak --pack pii-leak", "duplicate_id"),
        ("averment run d.yaml call.json --pack pii-lek", "unknown_policy"),
        ("averment run policy:default call.json", "unknown_policy"),
        ("averment run -d d.yaml", "nothing_to_evaluate"),
        ("averment run --pack pii-leak", "nothing_to_evaluate"),
        ("averment run --transcript t.json", "usage"),
        ("averment run -d - - < d.yaml", "stdin_twice"),
        ("averment run -d nowhere.yaml -d no.yaml call.json", "file_not_found"),
        ("averment policies pii-lek", "unknown_policy"),
        ("averment check policy:pii-lek", "unknown_policy"),
    ],
)
def test_what_makes_no_sense_is_refused(shell: Shell, line: str, code: str) -> None:
    """Exit 2, with the code on standard error."""
    done = shell(line)
    assert done.returncode == 2
    assert f"error[{code}]" in done.stderr
    assert not done.stdout


def test_the_mistakes_of_all_documents_are_told(shell: Shell) -> None:
    """One run tells what is wrong with every document."""
    done = shell("averment run -d nowhere.yaml -d no.yaml call.json")
    assert done.stderr.count("error[file_not_found]") == 2


def test_policies_are_listed_and_shown(shell: Shell, tmp_path: Path) -> None:
    """The list says what each is; the text of one is a document that can be run as it is."""
    listed = shell("averment policies")
    assert [line.split()[:2] for line in listed.stdout.splitlines()] == [
        ["identity-verification-order", "assertions"],
        ["pii-leak", "assertions"],
        ["prohibited-language", "assertions"],
        ["required-disclosure", "assertions"],
        ["default", "rules"],
    ]
    assert shell("averment policies pii-leak > mine.yaml && averment check mine.yaml").returncode == 0
    assert (tmp_path / "mine.yaml").read_text(encoding="utf-8").startswith("#")
    assert "no-profanity" in shell("averment policies default").stdout


def test_check_knows_bundled_policies(shell: Shell) -> None:
    """`policy:NAME` is a document there too."""
    done = shell("averment check policy:pii-leak d.yaml")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("policy:pii-leak: ok, 1 assertion")
