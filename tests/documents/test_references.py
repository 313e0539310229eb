"""The order in which assertions are decided, and the cycles that make one impossible."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from averment.documents.references import cycles, decision_order


def test_each_comes_after_what_it_reads_and_otherwise_in_the_order_given() -> None:
    """A forward reference moves its target before it; unrelated assertions keep their places."""
    assert decision_order({"a": ["c"], "b": [], "c": [], "d": ["b"]}) == ["c", "a", "b", "d"]


def test_a_cycle_is_told_without_those_that_merely_depend_on_it() -> None:
    """Only the ids on the cycle are listed; an innocent dependant is not."""
    needs = {"innocent": ["a"], "a": ["b"], "b": ["c"], "c": ["a"], "free": []}
    assert cycles(needs) == [["a", "b", "c"]]
    assert decision_order(needs) == ["free"]


def test_two_separate_cycles_are_both_told() -> None:
    """Every mistake is reported at once."""
    assert cycles({"a": ["b"], "b": ["a"], "x": ["y"], "y": ["x"]}) == [["a", "b"], ["x", "y"]]


def test_a_chain_of_a_hundred_thousand_is_ordered() -> None:
    """Chains are followed without recursion and in linear time, backwards too."""
    size = 100_000
    needs = {str(number): [str(number + 1)] if number + 1 < size else [] for number in range(size)}
    assert decision_order(needs) == [str(number) for number in reversed(range(size))]
    assert cycles(needs) == []


@given(
    st.dictionaries(
        st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefgh"), max_size=3), max_size=8
    )
)
def test_the_order_holds_exactly_what_no_cycle_keeps_waiting(raw: dict[str, list[str]]) -> None:
    """An id is ordered after its needs, or it reaches a cycle; and there is a cycle iff something is left out."""
    needs = {name: [other for other in others if other in raw] for name, others in raw.items()}
    order = decision_order(needs)
    assert len(set(order)) == len(order)
    for place, name in enumerate(order):
        assert all(other in order[:place] for other in needs[name])
    found = cycles(needs)
    assert bool(found) == (len(order) < len(needs))
    for cycle in found:
        assert all(
            after in needs[before] for before, after in zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        )
