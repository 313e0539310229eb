"""The bundled documents of assertions: each is right, and each assertion is proved able to pass and to fail."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from averment.documents import Document
from averment.engine.examples import try_examples
from averment.errors import DocumentError
from averment.policies import assertion_policy_names

NAMES = ("identity-verification-order", "pii-leak", "prohibited-language", "required-disclosure")


def test_the_four_of_the_contract_are_there() -> None:
    """They have the contract's names."""
    assert tuple(assertion_policy_names()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_assertion_is_proved_able_to_fail(name: str) -> None:
    """Each has examples on which it passes and fails, and does both; each says what it is for."""
    document = Document.load(f"policy:{name}")
    assert not try_examples(document)
    assert not document.warnings
    for assertion in document.assertions:
        assert assertion.id.startswith(f"{name}.")
        assert assertion.dimension == "policy"
        assert assertion.description
        assert assertion.examples is not UNSET
        assert assertion.examples.passing
        assert assertion.examples.failing


@pytest.mark.parametrize(
    ("name", "nearest", "mend"),
    [("pii-lek", "pii-leak", "See `averment policies`."), ("default", None, "`pack: default`")],
)
def test_a_policy_that_is_none_is_told(name: str, nearest: str | None, mend: str) -> None:
    """The nearest name is given, and for a set of rules how it is used."""
    with pytest.raises(DocumentError) as caught:
        Document.load(f"policy:{name}")
    (problem,) = caught.value.problems
    assert (problem.code, problem.nearest) == ("unknown_policy", nearest)
    assert mend in (problem.mend or "")
