"""The fixture `averment`: what it is given, what it asserts, and how it explains what does not hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from averment import Document, DocumentError, Evidence, EvidenceError, UsageError
from averment.pytest_plugin import Averment, Verdicts

Lay = Callable[..., None]

DOCUMENT = {
    "version": 1,
    "assertions": [
        {"id": "issued", "kind": "tool_call", "name": "issue_refund"},
        {"id": "polite", "kind": "phrase", "regex": "thank you"},
        {"id": "warm", "kind": "phrase", "regex": "dear", "severity": "warning"},
        {"id": "gold", "kind": "phrase", "regex": "gold", "applies_if": {"labels": {"tier": "gold"}}},
    ],
}
SAID = [{"role": "agent", "text": "thank you"}]
DONE = [{"type": "tool_call", "name": "issue_refund"}]


@pytest.fixture
def holds(averment: Averment) -> Verdicts:
    """Verdicts on a conversation in which all that gates is PASS."""
    return averment.run(DOCUMENT, transcript=SAID, trace=DONE, labels={"tier": "silver"})


@pytest.fixture
def fails(averment: Averment) -> Verdicts:
    """Verdicts with a FAIL and an INCONCLUSIVE."""
    return averment.run(
        DOCUMENT, transcript=[{"role": "agent", "text": "go away"}], labels={"tier": "silver"}
    )


def test_verdicts_are_found_by_id(holds: Verdicts) -> None:
    """One result by its id, all in order, and the envelope."""
    assert holds["issued"].status == "PASS"
    assert [result.id for result in holds] == ["issued", "polite", "warm", "gold"]
    assert len(holds) == 4
    assert holds.envelope.exit_code == 0
    assert repr(holds) == "<Verdicts: issued PASS, polite PASS, warm FAIL, gold INCONCLUSIVE>"


def test_all_that_gates_passes(holds: Verdicts) -> None:
    """Warnings and what is not applicable are not asked, unless they are named."""
    holds.assert_passes()
    holds.assert_passes("polite", "issued")
    with pytest.raises(
        AssertionError, match=r"^warm is FAIL \[not_found\], not PASS: a required phrase is missing\n"
    ):
        holds.assert_passes("polite", "warm")
    with pytest.raises(AssertionError, match=r"^gold is INCONCLUSIVE \[not_applicable\], not PASS"):
        holds.assert_passes("gold")


def test_inconclusive_is_no_pass_and_no_failure(fails: Verdicts) -> None:
    """All that do not hold are explained, the first in the first line."""
    with pytest.raises(AssertionError) as caught:
        fails.assert_passes()
    first, *lines = str(caught.value).split("\n")
    assert first == (
        "issued is INCONCLUSIVE [trace_absent], not PASS: required trace evidence was missing (and 1 more)"
    )
    assert [line for line in lines if line and not line.startswith(" ")] == [
        "INCONCLUSIVE  issued  tool_call · the document",
        "FAIL  polite  phrase · the document",
    ]
    with pytest.raises(AssertionError, match=r"^issued is INCONCLUSIVE \[trace_absent\], not FAIL"):
        fails.assert_fails("issued")


def test_failures_are_asserted_with_their_code(fails: Verdicts) -> None:
    """`assert_fails` and `assert_inconclusive` take ids and a code; another verdict or code is explained."""
    fails.assert_fails("polite", "warm", code="not_found")
    fails.assert_inconclusive("issued", code="trace_absent")
    with pytest.raises(AssertionError, match=r"^polite is FAIL \[not_found\], not FAIL \[value_mismatch\]"):
        fails.assert_fails("polite", code="value_mismatch")
    with pytest.raises(AssertionError, match=r"^polite is FAIL \[not_found\], not INCONCLUSIVE"):
        fails.assert_inconclusive("issued", "polite")


def test_a_pass_that_should_fail_is_shown_with_its_grounds(holds: Verdicts) -> None:
    """The card says what made it pass."""
    with pytest.raises(
        AssertionError, match=r'(?s)^polite is PASS, not FAIL\n\nPASS  polite.*turn 0, agent: "thank you"'
    ):
        holds.assert_fails("polite")


def test_nothing_asserted_is_no_success(averment: Averment) -> None:
    """Where no assertion gates, `assert_passes()` would say nothing, so it says that."""
    only = {"version": 1, "assertions": DOCUMENT["assertions"][2:]}  # type: ignore[index]
    verdicts = averment.run(only, transcript=[{"role": "agent", "text": "dear"}], labels={"tier": "silver"})
    with pytest.raises(
        AssertionError, match=r"^nothing is asserted: no assertion is both applicable and of severity"
    ):
        verdicts.assert_passes()


@pytest.mark.parametrize(
    ("ask", "nearest"),
    [
        (lambda verdicts: verdicts["isued"], "issued"),
        (lambda verdicts: verdicts.assert_passes("polit"), "polite"),
        (lambda verdicts: verdicts.assert_fails("polite", "isued"), "issued"),
        (lambda verdicts: verdicts.assert_inconclusive("waarm"), "warm"),
        (lambda verdicts: verdicts.assert_fails("polite", code="not_fuond"), "not_found"),
    ],
)
def test_unknown_names_are_told_with_the_nearest(
    fails: Verdicts, ask: Callable[[Verdicts], object], nearest: str
) -> None:
    """A misspelled id or code is a mistake of the test, and no verdict."""
    with pytest.raises(UsageError) as caught:
        ask(fails)
    assert caught.value.problems[0].nearest == nearest


def test_a_document_is_a_path_a_document_or_a_mapping(tmp_path: Path) -> None:
    """Paths, of documents and of conversations, are relative to the test's folder, wherever pytest was started."""
    averment = Averment(tmp_path)
    (tmp_path / "d.yaml").write_text(
        "version: 1\nassertions: [{id: polite, kind: phrase, regex: thank you}]\n"
    )
    (tmp_path / "c.json").write_text('{"transcript": [{"role": "agent", "text": "thank you"}]}')
    loaded = Document.load(tmp_path / "d.yaml")
    recorded = Evidence.load(tmp_path / "c.json")
    for document in ("d.yaml", Path("d.yaml"), str(tmp_path / "d.yaml"), loaded):
        for evidence in ("c.json", Path("c.json"), recorded, {"transcript": SAID}):
            averment.run(document, evidence).assert_passes()
    averment.run("policy:pii-leak", "c.json").assert_passes()


def test_evidence_is_given_as_a_whole_or_in_parts(averment: Averment) -> None:
    """Every part reaches the evidence; `spans` is another word for `trace`."""
    verdicts = averment.run(
        DOCUMENT,
        transcript=SAID,
        spans=DONE,
        timing=[],
        state={"orders": []},
        metadata={"a": 1},
        labels={"b": 2},
        conversation_id="c",
    )
    same = Evidence(
        transcript=SAID,
        trace=DONE,
        timing=[],
        state={"orders": []},
        metadata={"a": 1},
        labels={"b": 2},
        conversation_id="c",
    )
    assert verdicts.evidence.sha256 == same.sha256


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "nothing_to_evaluate"),
        ({"transcript": None}, "nothing_to_evaluate"),
        ({"evidence": Evidence(), "transcript": []}, "ambiguous_parts"),
        ({"trace": [], "spans": []}, "given_twice"),
        ({"evidence": 5}, "wrong_type"),
        ({"document": 5, "transcript": []}, "wrong_type"),
    ],
)
def test_calls_that_make_no_sense_are_refused(
    averment: Averment, arguments: dict[str, Any], code: str
) -> None:
    """With what was expected instead."""
    with pytest.raises(UsageError) as caught:
        averment.run(**{"document": DOCUMENT, **arguments})
    assert caught.value.problems[0].code == code


def test_mistakes_in_documents_and_evidence_are_told_whole(averment: Averment) -> None:
    """The errors are averment's own, with every problem."""
    with pytest.raises(DocumentError) as caught:
        averment.run(
            {"version": 1, "assertions": [{"id": "a", "kind": "x"}, {"id": "b", "kind": "y"}]}, transcript=[]
        )
    assert len(caught.value.problems) == 2
    with pytest.raises(EvidenceError):
        averment.run(DOCUMENT, "no such file.json")


def test_a_failing_test_shows_its_own_line_and_the_explanation(pytester: pytest.Pytester, lay: Lay) -> None:
    """No line of averment's is shown: neither for a verdict nor for a mistake in the call."""
    calls = {
        "verdict": "averment.run('refunds.averment.yaml', 'refunds/bad.json').assert_passes('refund-issued')",
        "unknown": "averment.run('refunds.averment.yaml', transcript=[]).assert_passes('refund-isued')",
        "item": "averment.run('refunds.averment.yaml', transcript=[])['refund-isued']",
        "file": "averment.run('refunds.yaml', transcript=[])",
        "evidence": "averment.run('refunds.averment.yaml', transcript=5)",
    }
    tests = "".join(f"def test_{name}(averment):\n    {call}\n\n" for name, call in calls.items())
    lay(
        "bad", files={"deep/test_it.py": tests, "deep/refunds/bad.json": "", "deep/refunds.averment.yaml": ""}
    )
    for name in ("refunds.averment.yaml", "refunds/bad.json"):
        (pytester.path / name).replace(pytester.path / "deep" / name)
    done = pytester.runpytest_inprocess("deep/test_it.py")
    done.assert_outcomes(failed=5)
    shown = done.stdout.str().partition("FAILURES")[2]
    assert "src/averment" not in shown
    assert "fixture.py" not in shown
    done.stdout.fnmatch_lines(
        [
            "E *AssertionError: refund-issued is FAIL [[]not_found], not PASS: calls of issue_refund are not as required",
            "E *FAIL  refund-issued  tool_call · outcome · deep/refunds.averment.yaml:3",
            "E *`issue_refund` was not called; tools called: `look_up`",
            "deep/test_it.py:2: AssertionError",
            "E *did you mean `refund-issued`[?]",
            "deep/test_it.py:8: UsageError",
            "deep/test_it.py:11: DocumentError",
            "deep/test_it.py:14: EvidenceError",
        ]
    )


def test_a_call_of_the_wrong_type_is_refused_by_checkers_and_at_run_time(holds: Verdicts) -> None:
    """Strict mypy sees the types of what the fixture gives: without the comment it would complain, as it must."""
    with pytest.raises(UsageError, match="there is no assertion `5`"):
        holds.assert_passes(5)  # type: ignore[arg-type]
