from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import averment

Fixture = Callable[..., Any]

SAID = [{"role": "agent", "text": "yes"}]
LEAVES: Mapping[str, dict[str, Any]] = {
    "p": {"id": "p", "kind": "phrase", "regex": "yes"},
    "q": {"id": "q", "kind": "phrase", "regex": "yes"},
    "f": {"id": "f", "kind": "phrase", "regex": "no"},
    "u": {"id": "u", "kind": "tool_call", "name": "t"},
}


def judged(judge: Fixture, expr: str, **fields: Any) -> Any:
    """The result of a formula over `p`, `q` (PASS), `f` (FAIL) and `u` (INCONCLUSIVE)."""
    formula = {"id": "formula", "kind": "formula", "expr": expr, **fields}
    return judge([formula, *LEAVES.values()], transcript=SAID)[0]


@pytest.mark.parametrize(
    ("expr", "status", "refs", "met"),
    [
        ("p", "PASS", ["p"], 1),
        ("f", "FAIL", ["f"], 0),
        ("not f", "PASS", ["f"], 0),
        ("p and q", "PASS", ["p", "q"], 2),
        ("q and f", "FAIL", ["q", "f"], 1),
        ("f or p", "PASS", ["f", "p"], 1),
        ("f or not p", "FAIL", ["f", "p"], 1),
        ("p and p", "PASS", ["p"], 1),
        ("p + q + f >= 2", "PASS", ["p", "q", "f"], 2),
        ("p + q + f >= 3", "FAIL", ["p", "q", "f"], 2),
        ("2*p + f >= 2", "PASS", ["p", "f"], 1),
    ],
)
def test_pass_is_true_and_fail_is_false(
    judge: Fixture, expr: str, status: str, refs: list[str], met: int
) -> None:
    """`refs` are the assertions in the order of their first mention, `met` of `of` those that passed."""
    result = judged(judge, expr)
    assert (result["status"], result["refs"], result["met"], result["of"]) == (status, refs, met, len(refs))


def test_a_false_formula_lists_what_passed_and_what_did_not(judge: Fixture) -> None:
    """The reason can be worked out again from it."""
    result = judged(judge, "p and f and not q")
    assert (result["code"], result["reason"]) == ("formula_false", "passed: p, q; not passed: f")
    assert result["public_reason"] == "2 of 3 referenced assertions passed"
    assert judged(judge, "f")["reason"] == "passed: none; not passed: f"


@pytest.mark.parametrize("expr", ["u", "p or u", "f and u", "not u", "p + u >= 1"])
def test_an_inconclusive_reference_makes_the_formula_inconclusive(judge: Fixture, expr: str) -> None:
    """Kept as in the reference, even where the others would decide."""
    result = judged(judge, expr)
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "reference_inconclusive")
    assert result["reason"] == "INCONCLUSIVE itself: u"
    assert result["public_reason"] == "required referenced-result evidence was missing"
    assert "u" in result["refs"]
    assert "met" not in result


def test_weights_are_exact_decimals(judge: Fixture) -> None:
    """Fault 9 of the reference: 0.6 + 0.3 + 0.1 fell short of 1 in binary fractions."""
    assertions = [
        {"id": "x", "kind": "formula", "expr": "0.6*p + 0.3*q + 0.1*r >= 1"},
        *({"id": name, "kind": "phrase", "regex": "yes"} for name in "pqr"),
    ]
    assert judge(assertions, transcript=SAID)[0]["status"] == "PASS"
    assert judged(judge, "0.1*p + 0.2*q >= 0.3")["status"] == "PASS"
    assert judged(judge, "0.1*p + 0.2*q >= 0.30000000000000001")["status"] == "FAIL"


def test_ids_outside_the_name_grammar_are_quoted(judge: Fixture) -> None:
    """Difference 18: an id with spaces, or one that is a keyword, can be named."""
    assertions = [
        {"id": "x", "kind": "formula", "expr": "'my id' and 'not' and 'it''s'"},
        *({"id": name, "kind": "phrase", "regex": "yes"} for name in ("my id", "not", "it's")),
    ]
    result = judge(assertions, transcript=SAID)[0]
    assert (result["status"], result["refs"]) == ("PASS", ["my id", "not", "it's"])


def test_formulas_read_formulas_and_are_skipped_like_others(judge: Fixture) -> None:
    """They are decided after what they read, wherever they stand; a skipped one is INCONCLUSIVE."""
    assertions = [
        {"id": "top", "kind": "formula", "expr": "low and p"},
        {"id": "low", "kind": "formula", "expr": "not f"},
        {"id": "off", "kind": "formula", "expr": "p", "when": "f"},
        {"id": "on_off", "kind": "formula", "expr": "off or p"},
        *LEAVES.values(),
    ]
    results = judge(assertions, transcript=SAID)
    assert [result["status"] for result in results[:4]] == ["PASS", "PASS", "INCONCLUSIVE", "INCONCLUSIVE"]
    assert [result.get("code") for result in results[2:4]] == ["skipped", "reference_inconclusive"]


def test_a_finding_that_gaps_made_inconclusive_counts_as_such(judge: Fixture, gapped: Fixture) -> None:
    """A formula reads the verdict that is reported, not one from before the gaps were weighed."""
    assertions = [LEAVES["f"], {"id": "x", "kind": "formula", "expr": "not f"}]
    results = judge(assertions, gapped({"transcript": "truncated"}, transcript=SAID))
    assert [result["status"] for result in results] == ["INCONCLUSIVE", "INCONCLUSIVE"]


@pytest.mark.parametrize(
    ("expr", "code"),
    [
        ("", "empty_value"),
        (" \t", "bad_formula"),
        ("p &", "bad_formula"),
        ("p\nand q", "bad_formula"),
        ("p * 2 >= 1", "bad_formula"),
        ("0.5*p", "bad_formula"),
        ("p > 1", "bad_formula"),
        ("(" * 3000 + "p" + ")" * 3000, "bad_formula"),
        ("not " * 3000 + "p", "bad_formula"),
        (5, "wrong_type"),
        (None, "wrong_type"),
    ],
)
def test_what_is_no_formula_is_refused(problems_of: Fixture, expr: Any, code: str) -> None:
    """Mistakes are told before anything runs; three thousand parentheses are no crash."""
    assert problems_of([{"kind": "formula", "expr": expr}, *LEAVES.values()]) == [(code, "expr")]


def test_references_must_exist(problems_of: Fixture) -> None:
    """Unknown names and the formula's own are refused where they stand."""
    assert problems_of([{"kind": "formula", "expr": "p and missing or a0"}, LEAVES["p"]]) == [
        ("unknown_reference", "expr"),
        ("self_reference", "expr"),
    ]
    assert problems_of([{"kind": "formula"}]) == [("missing_field", "")]


def test_a_cycle_is_told_without_those_that_merely_depend_on_it() -> None:
    """Difference 25: the reference listed innocent dependants."""
    items = [
        {"id": "innocent", "kind": "formula", "expr": "a"},
        {"id": "a", "kind": "formula", "expr": "b"},
        {"id": "b", "kind": "formula", "expr": "a", "when": "c"},
        {"id": "c", "kind": "phrase", "regex": "x"},
    ]
    with pytest.raises(averment.DocumentError) as caught:
        averment.Document.of({"version": 1, "assertions": items})
    (problem,) = caught.value.problems
    assert problem.code == "reference_cycle"
    assert problem.message.endswith("a -> b -> a")


_formulas = st.recursive(
    st.sampled_from(["p", "q", "f"]),
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner),
    ),
    max_leaves=8,
)


def _text(tree: Any) -> str:
    if isinstance(tree, str):
        return tree
    if tree[0] == "not":
        return f"not ({_text(tree[1])})"
    return f"({_text(tree[1])}) {tree[0]} ({_text(tree[2])})"


def _truth(tree: Any, truth: Mapping[str, bool]) -> bool:
    if isinstance(tree, str):
        return truth[tree]
    if tree[0] == "not":
        return not _truth(tree[1], truth)
    left, right = _truth(tree[1], truth), _truth(tree[2], truth)
    return (left and right) if tree[0] == "and" else (left or right)


@settings(max_examples=80, deadline=None)
@given(tree=_formulas)
def test_a_formula_holds_exactly_when_its_logic_does(tree: Any) -> None:
    """Held against a direct reading of the tree, for all verdicts of its assertions."""
    for values in product([True, False], repeat=3):
        truth = dict(zip("pqf", values, strict=True))
        items = [
            {"id": name, "kind": "phrase", "regex": "yes" if holds else "no"} for name, holds in truth.items()
        ]
        document = averment.Document.of(
            {"version": 1, "assertions": [{"id": "x", "kind": "formula", "expr": _text(tree)}, *items]}
        )
        status = averment.run(document, averment.Evidence(transcript=SAID)).results[0].status
        assert status == ("PASS" if _truth(tree, truth) else "FAIL")
