from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.assertions.formula_expr import MAX_DEPTH, MAX_LENGTH, MAX_NUMBER, FormulaError, parse

VALID = [
    ("p", "p"),
    ("not not p", "p"),
    ("not q and p", "q p"),
    ("not (q or q2)", "q q2"),
    ("((p))", "p"),
    ("p and p and p", "p"),
    ("pack.rule-1", "pack.rule-1"),
    ("a-b and c", "a-b c"),
    ("order-1 and nothing and android", "order-1 nothing android"),
    ("0.6*p + 0.4*q >= 0.5", "p q"),
    ("2*p + 3*q + p2 >= 3", "p q p2"),
    (".5*p + .5*p2 >= 1", "p p2"),
    ("10*p >= 10.0", "p"),
    ("(p + q >= 1) and (p2 >= 1)", "p q p2"),
    ("p+q>=1 and(r)or\tnot(s)", "p q r s"),
    ("AND or Not", "AND Not"),
    ("'and'", "and"),
    ("0.5*'my' >= .5", "my"),
]


@pytest.mark.parametrize(("expr", "references"), VALID)
def test_a_formula_names_its_references_once_in_the_order_of_first_mention(
    expr: str, references: str
) -> None:
    """Each id stands once, in the order of its first mention."""
    assert parse(expr).references == tuple(references.split())


TRUE = {"p": True, "p2": True, "q": False, "q2": False}


@pytest.mark.parametrize(
    ("expr", "holds"),
    [
        ("p", True),
        ("q", False),
        ("not p", False),
        ("not q and p", True),
        ("not (p and q)", True),
        ("not p and not q", False),
        ("p or q and q2", True),
        ("(p or q) and q2", False),
        ("p and p2 + q >= 1", True),
        ("q and p2 + q >= 1", False),
        ("not p + q >= 2", True),
        ("p + p2 >= 2 and not q", True),
        ("p + q >= 2", False),
        ("0.5*p + 0.5*p >= 1", True),
        ("0.6*p + 0.4*q >= 0.7", False),
        ("0*p >= 0", True),
        ("q >= 0", True),
        ("0.6*p + 0.3*p2 + 0.1*p >= 1", True),
        ("0.6*p + 0.3*p2 + 0.1*p >= 1.0000000000000000000001", False),
        ("0.1*p + 0.2*p2 >= 0.3", True),
        ("0.1*p + 0.2*p2 >= 0.30000000000000004", False),
    ],
)
def test_logic_and_weighted_sums_hold_as_written(expr: str, holds: bool) -> None:
    """Logic binds as documented and weights are exact decimals."""
    assert parse(expr).evaluate(TRUE) is holds


def test_truth_may_be_a_function() -> None:
    """A callable serves as well as a mapping."""
    assert parse("a and b").evaluate(lambda name: name in {"a", "b"})


def test_a_quoted_id_may_hold_anything() -> None:
    """Spaces, keywords, digits first, line breaks and doubled quotes all stand in quotes."""
    formula = parse("'my id' and 'not' or '2nd' or 'the caller''s' or 'a\nb' or ''''")
    assert formula.references == ("my id", "not", "2nd", "the caller's", "a\nb", "'")


def test_positions_are_the_first_mentions() -> None:
    """Errors about a reference point at its first mention, at the quote of a quoted one."""
    assert parse("a and ('b' or a) and 2*c + b >= 1").positions() == {"a": 0, "b": 7, "c": 23}


BINARY_OR_END = "expected `and`, `or` or the end of the formula, found "
OPERAND = "expected an id, a number, `not` or `(`, found "
GLUED = "Put a space after the number, or single quotes round an id that starts with a digit."
MISTAKES = [
    ("", 0, "the formula is empty", "Name at least one"),
    (" \t", 0, "the formula is empty", "Name at least one"),
    ("p & q", 2, "`&` has no meaning in a formula", "Write `and`."),
    ("p && q", 2, "`&` has no meaning in a formula", "Write `and`."),
    ("p || q", 2, "`|` has no meaning in a formula", "Write `or`."),
    ("p | q", 2, "`|` has no meaning in a formula", "Write `or`."),
    ("!p", 0, "`!` has no meaning in a formula", "Write `not`."),
    ("p ∧ q", 2, "`∧` has no meaning in a formula", "Write `and`."),
    ("p, q", 1, "`,` has no meaning in a formula", "Write `and` or `or`."),
    ("p\nand p2", 1, "a line break has no meaning in a formula", "on one line, or use `>-`"),
    ("p and q\r\n", 7, "a line break has no meaning in a formula", "on one line, or use `>-`"),
    ("p\xa0q", 1, "'\\xa0' has no meaning in a formula", "single quotes"),
    ("p <= 1", 2, "`<` has no meaning in a formula", "Write `>=`"),
    ("p > 1", 2, "`>` has no meaning in a formula", "Write `>=`"),
    ("p == 1", 2, "`=` has no meaning in a formula", "Write `>=`"),
    ("p >= -1", 5, "`-` has no meaning in a formula", "no minus"),
    ('"my id"', 0, '`"` has no meaning in a formula', "Write single quotes"),
    ("größe", 2, "`ö` has no meaning in a formula", "single quotes"),
    ("a:b", 1, "`:` has no meaning in a formula", "single quotes"),
    ("'my id", 0, "a single quote is never closed", "doubled"),
    ("p or '", 5, "a single quote is never closed", "doubled"),
    ("p or 'a''", 5, "a single quote is never closed", "doubled"),
    ("''", 0, "an id in quotes is empty", None),
    ("0.5-a >= 1", 3, "`-` follows a number directly", GLUED),
    ("2nd", 1, "`n` follows a number directly", GLUED),
    ("1. >= 1", 1, "`.` follows a number directly", GLUED),
    ("1", 1, "expected `*`, found the end of the formula", None),
    ("0.30000000000000004 p", 20, "expected `*`, found `p`", None),
    ("0.5* >= 1", 5, "expected an id, found `>=`", None),
    ("p + (q) >= 1", 4, "expected an id, found `(`", None),
    ("(p) + q >= 1", 4, BINARY_OR_END + "`+`", "without parentheses"),
    ("p*0.5 >= 1", 1, BINARY_OR_END + "`*`", "weight first"),
    ("0.5*p + 0.5*q", 13, "expected `>=`, found the end of the formula", None),
    ("p >= q", 5, "expected a number, found `q`", None),
    ("p >= 1 >= 0", 7, BINARY_OR_END + "`>=`", "one `>=`"),
    ("p q", 2, BINARY_OR_END + "`q`", None),
    ("p AND p2", 2, BINARY_OR_END + "`AND`", "Write `and`: keywords are lower-case."),
    ("Not p", 4, BINARY_OR_END + "`p`", "Write `not`: keywords are lower-case."),
    ("p)", 1, BINARY_OR_END + "`)`", "Remove this `)`"),
    ("and p", 0, OPERAND + "`and`", None),
    ("p and", 5, OPERAND + "the end of the formula", None),
    ("p or or q", 5, OPERAND + "`or`", None),
    ("()", 1, OPERAND + "`)`", None),
    (
        "(p or (q)",
        9,
        "expected `and`, `or` or `)`, found the end of the formula",
        "Close the parenthesis at offset 0.",
    ),
    ("p q & r", 2, BINARY_OR_END + "`q`", None),
]


@pytest.mark.parametrize(("expr", "position", "message", "mend"), MISTAKES)
def test_a_mistake_is_told_with_its_place_and_its_mend(
    expr: str, position: int, message: str, mend: str | None
) -> None:
    """The first mistake in the text is reported: what, where, and what to write instead."""
    with pytest.raises(FormulaError) as caught:
        parse(expr)
    assert (caught.value.message, caught.value.position) == (message, position)
    assert mend is None or mend in (caught.value.mend or "")


@pytest.mark.parametrize("shape", ["{nots}p", "{opens}p{closes}"])
def test_depth_is_bounded(shape: str) -> None:
    """A formula of the greatest depth works, one level more is refused; Python's own stack is not used."""

    def nested(depth: int) -> str:
        return shape.format(nots="not " * depth, opens="(" * depth, closes=")" * depth)

    limit = sys.getrecursionlimit()
    deepest = nested(MAX_DEPTH)
    try:
        sys.setrecursionlimit(_frames() + 40)
        assert parse(deepest).evaluate({"p": True})
    finally:
        sys.setrecursionlimit(limit)
    with pytest.raises(FormulaError, match="nested more than 200 deep"):
        parse(nested(MAX_DEPTH + 1))
    with pytest.raises(FormulaError, match="nested more than 200 deep"):
        parse(nested(5_000))


def _frames() -> int:
    frame, count = sys._getframe(), 0
    while frame.f_back is not None:
        frame, count = frame.f_back, count + 1
    return count


def test_depth_counts_what_is_open_and_not_what_is_past() -> None:
    """Many shallow parentheses and negations side by side are not deep."""
    assert not parse(" and ".join(["not (p)"] * 1000)).evaluate({"p": True})


def test_length_is_bounded() -> None:
    """A formula of the greatest length is read, and one character more is refused."""
    expr = " and ".join(["p"] * 20_000)[:MAX_LENGTH].rstrip(" and")
    assert parse(expr.ljust(MAX_LENGTH)).evaluate({"p": True})
    with pytest.raises(FormulaError, match="longer than 100000 characters") as caught:
        parse(expr.ljust(MAX_LENGTH + 1))
    assert caught.value.position == MAX_LENGTH


def test_a_number_is_bounded() -> None:
    """Digits cost nothing to write: a number over its bound is refused at its start."""
    assert parse(f"{'9' * MAX_NUMBER}*p >= 1").evaluate({"p": True})
    with pytest.raises(FormulaError, match="a number is longer than 100 characters") as caught:
        parse(f"p or {'9' * (MAX_NUMBER + 1)}*p >= 1")
    assert caught.value.position == 5


NAMES = ["a", "b-c", "d.1", "my id", "and", "9", "o'clock"]
NUMBERS = st.sampled_from(["0", "1", "2", "0.1", ".3", "0.6", "0.25", "10.0", "0.30000000000000004"])
TERMS = st.tuples(st.none() | NUMBERS, st.sampled_from(NAMES))
Tree = Any
LEAVES: st.SearchStrategy[Tree] = st.sampled_from(NAMES).map(lambda name: ("id", name)) | st.tuples(
    st.just("sum"), st.lists(TERMS, min_size=1, max_size=4), NUMBERS
)
TREES: st.SearchStrategy[Tree] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner), st.tuples(st.sampled_from(["and", "or"]), inner, inner)
    ),
    max_leaves=12,
)


def _name(name: str) -> str:
    return name if name in {"a", "b-c", "d.1"} else "'" + name.replace("'", "''") + "'"


def _render(tree: Tree, tightness: int = 0) -> str:
    """The tree with as few parentheses as the grammar allows, left-associated."""
    match tree:
        case ("id", name):
            return _name(name)
        case ("sum", terms, threshold):
            written = [_name(name) if weight is None else f"{weight}*{_name(name)}" for weight, name in terms]
            return f"{' + '.join(written)} >= {threshold}"
        case ("not", inner):
            own, text = 3, "not " + _render(inner, 3)
        case (word, left, right):
            own = 1 if word == "or" else 2
            text = f"{_render(left, own)} {word} {_render(right, own + 1)}"
    return f"({text})" if own < tightness else text


def _holds(tree: Tree, truth: dict[str, bool]) -> bool:
    match tree:
        case ("id", name):
            return truth[name]
        case ("sum", terms, threshold):
            total = sum((Fraction(weight or "1") for weight, name in terms if truth[name]), Fraction(0))
            return total >= Fraction(threshold)
        case ("not", inner):
            return not _holds(inner, truth)
        case ("and", left, right):
            return _holds(left, truth) and _holds(right, truth)
        case (_, left, right):
            return _holds(left, truth) or _holds(right, truth)
    raise AssertionError(tree)


@settings(deadline=None, max_examples=200)
@given(TREES, st.fixed_dictionaries({name: st.booleans() for name in NAMES}))
def test_a_rendered_tree_evaluates_as_the_tree(tree: Tree, truth: dict[str, bool]) -> None:
    """Random formulas, written with minimal parentheses, mean what an independent evaluator says."""
    assert parse(_render(tree)).evaluate(truth) == _holds(tree, truth)


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="ab09 .-_()+*>='\"&\n\tandornotAND", max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    """No text raises anything but a FormulaError, whose position is in the text or at its end."""
    try:
        position = len(parse(text).references)
    except FormulaError as error:
        position = error.position
    assert 0 <= position <= len(text)
