"""`averment.yaml`: tests of recordings and of what commands produce, known before anything runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

DOCUMENT = """\
version: 1
assertions:
  - id: issued
    kind: tool_call
    name: issue_refund
    args_subset: {order: "{{order}}"}
  - id: polite
    kind: phrase
    regex: thank you
"""
AGENT = """\
import json, os, sys

order, out = sys.argv[1:]
with open("runs.txt", "a", encoding="utf-8") as file:
    file.write(f"{order}\\n")
if order == "A-3":
    sys.exit("the agent fell over")
called = "A-1" if order == "A-2" else order
call = {"type": "tool_call", "name": "issue_refund", "arguments": {"order": called}}
turn = {"role": "agent", "text": "thank you"}
with open(out, "w", encoding="utf-8") as file:
    json.dump({"transcript": [turn], "spans": [call]}, file)
"""
SUITE = f"""\
version: 1
suite:
  - name: refunds
    document: refunds.yaml
    produce: ["{sys.executable}", agent.py, "{{order}}", "{{out}}"]
    cases: cases.csv
    inconclusive_policy: fail
  - name: recorded
    document: policy.yaml
    conversations: recorded/*
"""


@pytest.fixture
def ran(pytester: pytest.Pytester) -> Callable[[], list[str]]:
    """Writes a suite of three cases and a recorded entry into `desk/`; says which cases were produced since it was asked."""
    files = {
        "averment.yaml": SUITE,
        "refunds.yaml": DOCUMENT.replace("version: 1\n", "version: 1\nvars: {order: A-0}\n"),
        "policy.yaml": "version: 1\nassertions: [{id: calm, kind: phrase, regex: idiot, absent: true}]\n",
        "agent.py": AGENT,
        "cases.csv": "case,order\nfirst,A-1\nwrong,A-2\nfalls,A-3\n",
        "recorded/a.json": '{"transcript": [{"role": "agent", "text": "hello"}]}',
        "recorded/b.jsonl": '{"conversation_id": "x", "transcript": [{"role": "agent", "text": "hello"}]}\n'
        '{"conversation_id": "y", "transcript": [{"role": "agent", "text": "you idiot"}]}\n'
        '{"conversation_id": "z", "transcript": [{"role": "agent", "text": "an idiot"}]}\n',
    }
    for name, text in files.items():
        path = pytester.path / "desk" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def asked() -> list[str]:
        runs = pytester.path / "desk/runs.txt"
        found = runs.read_text(encoding="utf-8").split() if runs.exists() else []
        runs.unlink(missing_ok=True)
        return sorted(found)

    return asked


Ran = Callable[[], list[str]]


def test_tests_of_a_suite_are_known_before_anything_runs(pytester: pytest.Pytester, ran: Ran) -> None:
    """Entries, then cases or recordings, then assertions; collecting runs no command."""
    done = pytester.runpytest_inprocess("--collect-only", "-q")
    assert [line for line in done.outlines if "::" in line] == [
        f"desk/averment.yaml::{name}"
        for name in (
            "refunds::first::issued",
            "refunds::first::polite",
            "refunds::wrong::issued",
            "refunds::wrong::polite",
            "refunds::falls::issued",
            "refunds::falls::polite",
            "recorded::recorded/a.json::calm",
            "recorded::recorded/b.jsonl::calm",
        )
    ]
    assert ran() == []
    assert not (pytester.path / "desk/.averment").exists()


def test_each_case_is_produced_once_and_judged_with_its_values(pytester: pytest.Pytester, ran: Ran) -> None:
    """A command that fails leaves its case INCONCLUSIVE, under the entry's policy; what it wrote is kept."""
    done = pytester.runpytest_inprocess("-rA")
    done.assert_outcomes(passed=4, failed=4)
    assert ran() == ["A-1", "A-2", "A-3"]
    done.stdout.fnmatch_lines(
        [
            "FAIL  issued  tool_call · desk/refunds.yaml:4",
            "INCONCLUSIVE  issued  tool_call · desk/refunds.yaml:4",
            "    *the agent fell over*",
            "    inconclusive_policy: fail",
            "FAILED desk/averment.yaml::refunds::falls::polite - INCONCLUSIVE [[]not_produced]: *",
        ]
    )
    assert [*(pytester.path / "desk/.averment/produced").glob("refunds/*/*.json")]


def test_only_cases_whose_tests_run_are_produced(pytester: pytest.Pytester, ran: Ran) -> None:
    """Selecting tests, by id or with -k, selects what is run for them; the setting wins over the entry's policy."""
    pytester.runpytest_inprocess("desk/averment.yaml::refunds::first::polite").assert_outcomes(passed=1)
    assert ran() == ["A-1"]
    pytester.runpytest_inprocess("-k", "wrong and issued").assert_outcomes(failed=1)
    assert ran() == ["A-2"]
    pytester.runpytest_inprocess("-k", "falls", "-o", "averment_inconclusive_policy=report").assert_outcomes(
        skipped=2
    )
    pytester.runpytest_inprocess("-k", "recorded").assert_outcomes(passed=1, failed=1)
    assert ran() == ["A-3"]


def test_several_conversations_of_a_trial_are_one_test(pytester: pytest.Pytester, ran: Ran) -> None:
    """The worst verdict counts, and every conversation with it is explained."""
    done = pytester.runpytest_inprocess("desk/averment.yaml::recorded::recorded/b.jsonl")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "*over desk/recorded/b.jsonl [[]y]",
            "*you idiot*",
            "*over desk/recorded/b.jsonl [[]z]",
            "*an idiot*",
        ]
    )
    assert "[x]" not in done.stdout.str()
    assert ran() == []


@pytest.mark.parametrize("dist", ["load", "loadscope"])
def test_processes_produce_into_folders_of_their_own(pytester: pytest.Pytester, ran: Ran, dist: str) -> None:
    """Under pytest-xdist all comes out the same; kept in one process, each case is produced once."""
    done = pytester.runpytest_subprocess("-n", "2", "--dist", dist)
    done.assert_outcomes(passed=4, failed=4)
    assert set(ran()) == {"A-1", "A-2", "A-3"}
    folders = {path.name for path in (pytester.path / "desk/.averment").iterdir()}
    assert folders <= {"produced-gw0", "produced-gw1", ".gitignore"}
    if dist == "loadscope":
        kept = (pytester.path / "desk/.averment").glob("produced-gw*/refunds/*/1.log")
        assert len([*kept]) == 3
    assert (pytester.path / "desk/.averment/.gitignore").read_text() == "*\n"


def test_mistakes_of_a_suite_are_told_without_a_traceback(pytester: pytest.Pytester, ran: Ran) -> None:
    """All of them, with their places; nothing runs."""
    text = SUITE.replace("cases.csv", "cases.tsv").replace("recorded/*", "nowhere/*")
    (pytester.path / "desk/averment.yaml").write_text(text)
    done = pytester.runpytest_inprocess()
    assert done.ret == pytest.ExitCode.INTERRUPTED
    done.stdout.fnmatch_lines(
        ["*cases.tsv*", "*the glob `*` matches nothing*", "ERROR desk/averment.yaml - error[[]*(and * more)"]
    )
    assert "Traceback" not in done.stdout.str()
    assert ran() == []


def test_a_suite_in_pyproject_is_not_collected(pytester: pytest.Pytester, ran: Ran) -> None:
    """A file's name says whether pytest collects it: `averment.yaml` alone does for suites."""
    os.rename(pytester.path / "desk/averment.yaml", pytester.path / "desk/suite.yaml")
    (pytester.path / "desk/pyproject.toml").write_text(
        '[tool.averment]\nversion = 1\n[[tool.averment.suite]]\ndocument = "policy.yaml"\nconversations = "recorded/*"\n'
    )
    result: Any = pytester.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert ran() == []
