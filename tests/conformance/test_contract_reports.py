"""`build_report_html` and `build_report_md`: the contract's names for reports."""

from __future__ import annotations

from typing import Any

import pytest

from averment.assert_v1 import build_context, build_report_html, build_report_md, run_assertions
from averment.errors import UsageError

TURNS = [
    {"role": "agent", "text": "The card is 4111 1111 1111 1111."},
    {"role": "caller", "text": "Thanks a lot."},
]
DOCUMENT = {
    "version": 1,
    "assertions": [
        {"id": "no-cards", "kind": "pii", "detectors": ["card_luhn"], "mode": "must_not_leak"},
        {"id": "thanks", "kind": "phrase", "regex": "thanks"},
    ],
}


def made() -> tuple[dict[str, Any], Any]:
    context = build_context(transcript=TURNS, spans=[])
    return run_assertions(DOCUMENT, context), context


def test_the_page_is_made_of_an_envelope() -> None:
    """An envelope alone gives cards, the redacted transcript that it carries, and a sentence on what is missing."""
    envelope, _ = made()
    page = build_report_html(assertions=envelope)
    assert 'id="r-no-cards"' in page
    assert "The card is [REDACTED]." in page
    assert "4111" not in page
    assert "made without the evidence" in page


def test_the_conversation_may_be_evidence_or_its_parts() -> None:
    """What was judged is known again by its digest, however it is given."""
    envelope, context = made()
    page = build_report_html(assertions=envelope, conversation=context)
    assert page == build_report_html(assertions=envelope, conversation=TURNS, trace=[])
    assert "made without the evidence" not in page
    assert 'id="t-1"' in page


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"assertions": {"schema": "assert.v2"}}, "not_an_envelope"),
        ({"assertions": {}}, "not_an_envelope"),
        ({"assertions": {"schema": "assert.v1", "results": 3}}, "envelope_malformed"),
        ({"conversation": [{"role": "agent", "text": "Another one."}]}, "other_evidence"),
        ({"rubric": {}}, "not_supported"),
        ({"reliability": {}}, "not_supported"),
        ({"conversation": build_context(transcript=TURNS, spans=[]), "trace": []}, "given_twice"),
    ],
)
def test_what_is_no_envelope_or_of_another_conversation_is_refused(
    arguments: dict[str, Any], code: str
) -> None:
    """Whatever does not belong together raises a ValueError that says what is wrong."""
    envelope, _ = made()
    with pytest.raises(UsageError) as caught:
        build_report_html(**{"assertions": envelope, **arguments})
    assert isinstance(caught.value, ValueError)
    assert [problem.code for problem in caught.value.problems] == [code]


def test_the_same_as_markdown() -> None:
    """`build_report_md` takes the same, and gives Markdown."""
    envelope, context = made()
    text = build_report_md(assertions=envelope, conversation=context)
    assert "no-cards" in text
    assert "4111" not in text
