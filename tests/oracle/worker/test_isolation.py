from __future__ import annotations

import itertools

import pytest

from averment.oracle.worker.isolation import _MEANINGS, LEVELS, isolation

ALL = tuple(_MEANINGS)


def test_all_three_mechanisms_make_a_worker_confined() -> None:
    """The strongest level is all or nothing."""
    found = isolation(ALL)
    assert found.level == "confined"
    assert found.enforced == list(_MEANINGS.values())
    assert found.not_enforced == []


@pytest.mark.parametrize(
    "enforced", [each for count in range(3) for each in itertools.combinations(ALL, count)], ids=str
)
def test_whatever_is_missing_is_said_and_makes_it_guarded(enforced: tuple[str, ...]) -> None:
    """A platform that lacks one mechanism has the weaker level, and the report says what is not enforced."""
    found = isolation(enforced)
    assert found.level == "guarded"
    assert {*found.enforced, *found.not_enforced} == set(_MEANINGS.values())
    assert len(found.not_enforced) == 3 - len(enforced)


def test_a_level_meets_itself_and_weaker_ones() -> None:
    """Levels are ordered, from the weaker to the stronger."""
    confined, guarded = isolation(ALL), isolation(())
    assert [confined.meets(level) for level in LEVELS] == [True, True]
    assert [guarded.meets(level) for level in LEVELS] == [True, False]


def test_what_no_one_knows_counts_for_nothing() -> None:
    """A word that has no meaning here is not said to be enforced."""
    assert isolation(("magic",)).enforced == []
