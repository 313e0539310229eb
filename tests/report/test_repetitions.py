from __future__ import annotations

from collections.abc import Sequence

import pytest

from averment.report import html, markdown
from averment.report.repetitions import Rows, repetitions
from averment.verdicts.judged import Case, Judged


def conversation(case: Case | None, *verdicts: str) -> Judged:
    """A conversation with the assertions a0, a1 ... and these verdicts."""
    results = [
        {
            "id": f"a{index}",
            "kind": "phrase",
            "deterministic": True,
            "at": {"line": 3, "column": 5},
            "status": status,
        }
        for index, status in enumerate(verdicts)
    ]
    counts = {name: verdicts.count(name.upper()) for name in ("pass", "fail", "inconclusive")}
    envelope = {
        "schema": "assert.v1",
        "exit_code": 1 if "FAIL" in verdicts else 0,
        "inconclusive_policy": "report",
        "document": {"sha256": "sha256:0"},
        "evidence_sha256": "sha256:1",
        "results": results,
        "summary": {
            "deterministic": counts,
            "warnings": dict.fromkeys(counts, 0),
            "not_applicable": 0,
            "note": "",
        },
    }
    return Judged(
        envelope=envelope,
        conversation="f.json",
        document="d.yaml",
        files=["d.yaml"] * len(results),
        case=case,
    )


def repeated(name: str, *runs: Sequence[str], suite: str = "agent") -> list[Judged]:
    return [
        conversation(Case(suite=suite, name=name, repeat=number, repeats=len(runs)), *verdicts)
        for number, verdicts in enumerate(runs, 1)
    ]


SHAKY = [
    *repeated("fine", ("PASS", "PASS"), ("PASS", "PASS")),
    *repeated("<late>|`", ("PASS", "PASS"), ("FAIL", "PASS")),
]


def test_what_did_not_pass_every_time_is_tabled_with_the_cases_that_failed() -> None:
    """pass@k and pass^k are means over cases; of a case they stand with their exact intervals."""
    (found,) = repetitions(SHAKY)
    assert (found.suite, found.times) == ("agent", 2)
    head = ("assertion", "always", "sometimes", "never", "undecided", "pass^1", "pass@2", "pass^2")
    assert found.over == Rows(1, head, [["a0", "1", "1", "0", "0", "75 %", "100 %", "50 %"]])
    assert found.cases.rows == [
        ["<late>|`", "a0", "1 of 2", "0", "50 % (1.2-98.8)", "100 % (2.4-100)", "0 % (0-97.6)"]
    ]


def test_what_is_not_repeated_has_no_table() -> None:
    """Conversations outside of suites, and cases that are run once."""
    once = [conversation(None, "FAIL"), conversation(Case(suite="s", name="c"), "FAIL")]
    assert repetitions(once) == []
    assert "Repeats" not in markdown(once)
    assert "Repeats" not in html(once)


def test_entries_have_tables_of_their_own() -> None:
    """With the number of repeats that each asks for."""
    both = [*SHAKY, *repeated("c", ("FAIL",), ("FAIL",), ("FAIL",), suite="other")]
    assert [(each.suite, each.times, len(each.over.rows)) for each in repetitions(both)] == [
        ("agent", 2, 1),
        ("other", 3, 1),
    ]


def test_long_tables_say_what_they_leave_out() -> None:
    """After twenty rows."""
    many = [each for number in range(23) for each in repeated(f"c{number}", ("FAIL",), ("FAIL",))]
    (found,) = repetitions(many)
    assert (len(found.cases.rows), found.cases.more) == (20, 3)
    assert "... and 3 more." in markdown(many)
    assert "and 3 more</p>" in html(many)


@pytest.mark.parametrize("render", [markdown, html])
def test_reports_in_files_tell_of_repeats(render: object) -> None:
    """Each with what the columns mean; names are text there."""
    assert callable(render)
    text = render(SHAKY)
    for told in ("Repeats", "each case 2 times", "75 %", "50 % (1.2-98.8)", "exact at 95 %"):
        assert told in text, told
    assert ("&lt;late&gt;" if render is html else "`` <late>\\|` ``") in text
    steady = render(repeated("fine", ("PASS",), ("PASS",)))
    assert "each case 2 times: whatever an assertion is about, it passed in every repeat." in steady
    assert "exact at 95 %" not in steady
