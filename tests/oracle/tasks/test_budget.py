from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from averment.errors import PackError, Problem
from averment.oracle.model.held_out import HeldOut
from averment.oracle.model.pack import Pack
from averment.oracle.tasks.budget import Bound, Share, bind, budget_of, category_of, round_robin
from averment.oracle.tasks.plan import plan

Handmade = Callable[..., Pack]
BOOKS = {"books": [{"book_id": f"B-{number}", "pages": 100} for number in range(1, 6)]}


def template(name: str, source: str = "fixture:books.book_id", **fields: Any) -> dict[str, Any]:
    return {
        "template_id": name,
        "turn_policy": "single_turn",
        "category": "loans",
        "slots": {"x": {"source": source, "visible_in_first_turn": True}},
        "user_turn_templates": {"en": "{x}?"},
        "assistant_milestones": [{"type": "tool_call", "tool": "get_book"}, {"type": "final_answer"}],
        **fields,
    }


def reserving(pack: Pack, *templates: str, books: Sequence[str] = ()) -> Pack:
    held_out = HeldOut(version="1", fixtures={"books": list(books)}, templates=list(templates))
    return msgspec.structs.replace(pack, held_out=held_out)


def bound(pack: Pack, size: int | None = None, **options: Any) -> Bound:
    plans = {each.template_id: plan(each) for each in pack.templates}
    return bind(pack, plans, budget_of(pack, tasks_per_category=size), **options)


def refused(pack: Pack, size: int | None = None) -> list[Problem]:
    with pytest.raises(PackError) as caught:
        bound(pack, size)
    for problem in caught.value.problems:
        assert problem.mend or problem.nearest
        assert problem.file == "task_templates.yaml"
        assert problem.line
    return list(caught.value.problems)


def test_a_budget_of_three_is_shared_by_two_templates(handmade: Handmade) -> None:
    """Two of one and one of the other, turn by turn."""
    tasks = bound(handmade([template("a"), template("b")]), 3).tasks
    assert [task.template_id for task in tasks] == ["a", "b", "a"]


def test_a_budget_below_the_number_of_templates_is_refused(handmade: Handmade) -> None:
    """Every such category is told."""
    pack = handmade(
        [
            template("a"),
            template("b"),
            template("c", category="x"),
            template("d", category="x"),
            template("e"),
        ]
    )
    problems = refused(pack, 1)
    assert [problem.code for problem in problems] == ["budget_too_small"] * 2
    assert problems[0].message == "the category `loans` has 3 templates, and may have 1 task"
    assert problems[0].expected == "3 or more"
    assert [problem.path for problem in problems] == ["$[0].category", "$[2].category"]


def test_without_a_number_the_widest_category_says_it(handmade: Handmade) -> None:
    """Templates that are held out do not count."""
    pack = handmade([template("a"), template("b"), template("c"), template("d", category="x")])
    assert budget_of(pack) == budget_of(pack, tasks_per_category=None)
    assert (budget_of(pack).size, budget_of(pack).asked) == (3, False)
    assert budget_of(reserving(pack, "b")).size == 2
    assert budget_of(reserving(pack, "a", "b", "c", "d")).size == 1
    assert budget_of(handmade()).size == 1


def test_candidates_may_be_more_than_tasks(handmade: Handmade) -> None:
    """The number of candidates is what is bound, where it is given."""
    budget = budget_of(handmade(), tasks_per_category=2, candidate_tasks_per_category=9)
    assert (budget.size, budget.asked) == (9, True)


@pytest.mark.parametrize(
    ("category", "name"), [("loans", "loans"), (None, "a"), ("", "a"), (0, "a"), (7, "7"), (True, "True")]
)
def test_a_category_is_a_text(handmade: Handmade, category: Any, name: str) -> None:
    """A template without one is a category of its own."""
    assert category_of(handmade([template("a", category=category)]).templates[0]) == name


def test_categories_come_in_the_order_of_the_file(handmade: Handmade) -> None:
    """Each has a budget of its own."""
    pack = handmade([template("a"), template("b", category="x"), template("c")], fixtures=BOOKS)
    found = bound(pack, 4)
    assert [task.template_id for task in found.tasks] == ["a", "c", "a", "c", "b", "b", "b", "b"]
    assert found.shares == (Share("loans", 4), Share("x", 4))
    assert found.notes == ()


@given(st.lists(st.integers(0, 6), max_size=6), st.integers(0, 40))
def test_pools_take_turns(lengths: list[int], size: int) -> None:
    """As many as there are, at most `size`; no pool is two ahead of one that has more."""
    taken = list(round_robin(lengths, size))
    assert len(taken) == min(size, sum(lengths))
    assert len(set(taken)) == len(taken)
    assert taken == sorted(taken, key=lambda pair: (pair[1], pair[0]))
    assert all(place < lengths[pool] for pool, place in taken)


def test_a_category_that_falls_short_is_a_note(handmade: Handmade) -> None:
    """The tasks are made; the number that is missing can be told from the message."""
    found = bound(handmade([template("a")]), 9)
    assert len(found.tasks) == 2
    (note,) = found.notes
    assert (note.code, note.severity) == ("category_short", "warning")
    assert note.message == "the category `loans` has 2 of 9 tasks"
    assert note.mend


def test_what_is_held_out_is_never_bound(handmade: Handmade) -> None:
    """Neither templates nor rows."""
    pack = reserving(handmade([template("a"), template("b")], fixtures=BOOKS), "b", books=["B-2", "B-4"])
    found = bound(pack, 3)
    assert {task.template_id for task in found.tasks} == {"a"}
    assert {task.slots["x"] for task in found.tasks} == {"B-1", "B-3", "B-5"}


def test_a_category_that_reservations_leave_short_is_refused(handmade: Handmade) -> None:
    """Where the number was asked for: fewer tasks would be another mix than the run says."""
    pack = reserving(handmade([template("a")], fixtures=BOOKS), books=["B-2"])
    (problem,) = refused(pack, 5)
    assert problem.code == "reservations_leave_too_few"
    assert problem.message == (
        'the category `loans` has 4 of 5 tasks, and `fixture:["books","B-2"]` is held out'
    )
    pack = reserving(handmade([template("a", "literal:1"), template("b", "literal:2")]), "a")
    (problem,) = refused(pack, 2)
    assert problem.message == "the category `loans` has 1 of 2 tasks, and `template:a` is held out"


def test_a_category_that_would_be_short_anyway_is_a_note(handmade: Handmade) -> None:
    """It names what is held out all the same."""
    pack = reserving(handmade([template("a")], fixtures=BOOKS), books=["B-2", "B-3"])
    found = bound(pack, 6)
    assert found.shares == (Share("loans", 3, ('fixture:["books","B-2"]', 'fixture:["books","B-3"]')),)
    assert found.notes[0].message.endswith(
        'of 6 tasks, and `fixture:["books","B-2"]`, `fixture:["books","B-3"]` are held out'
    )


def test_nobody_asked_for_the_default_budget(handmade: Handmade) -> None:
    """Reservations that leave a category below it are a note, unless they leave nothing."""
    wide = [template(name, "literal:[1, 2]", category="x") for name in "abcde"]
    pack = reserving(handmade([template("t"), *wide], fixtures=BOOKS), books=["B-1"])
    assert [note.code for note in bound(pack).notes] == ["category_short"]
    (problem,) = refused(reserving(pack, "t"))
    assert problem.message == "the category `loans` has 0 of 5 tasks, and `template:t` is held out"


def test_a_held_out_template_that_could_not_be_bound_is_no_mistake(handmade: Handmade) -> None:
    """It leaves nobody short."""
    pack = reserving(handmade([template("a"), template("b", "fixture:none.id")]), "b")
    assert [note.code for note in bound(pack, 3).notes] == ["category_short"]


def test_a_value_that_a_source_has_twice_makes_two_tasks_of_one_id(handmade: Handmade) -> None:
    """Told once for a template."""
    pack = handmade([template("a", "literal:[1, 1, 1]"), template("b", "literal:[2, 2]")])
    problems = refused(pack, 5)
    assert [problem.code for problem in problems] == ["duplicate_task"] * 2
    assert [problem.path for problem in problems] == ["$[0].template_id", "$[1].template_id"]


def test_two_rows_with_one_value_are_two_tasks(handmade: Handmade) -> None:
    """They are of different rows."""
    tasks = bound(handmade([template("a", "fixture:books.pages")], fixtures=BOOKS), 5).tasks
    assert len({task.task_id for task in tasks}) == 5


def test_everything_is_told_at_once(handmade: Handmade) -> None:
    """Sources without values, budgets, duplicates and reservations, in the order of the file."""
    pack = handmade(
        [
            template("a", "fixture:boks.id", category="s"),
            template("b", "literal:[1, 1]", category="d"),
            template("c", category="r"),
            *(template(name, category="w") for name in "efghijk"),
        ],
        fixtures=BOOKS,
    )
    problems = refused(reserving(pack, books=["B-5"]), 5)
    assert [(problem.code, problem.path) for problem in problems] == [
        ("unknown_collection", "$[0].slots.x.source"),
        ("duplicate_task", "$[1].template_id"),
        ("reservations_leave_too_few", "$[2].category"),
        ("budget_too_small", "$[3].category"),
    ]


def test_the_seed_of_the_run_reaches_the_tasks(handmade: Handmade) -> None:
    """Ids stay, seeds change, where all tasks fit."""
    pack = handmade([template("a")])
    one, other = bound(pack, 2, seed=1).tasks, bound(pack, 2, seed=2).tasks
    assert [task.task_id for task in one] == [task.task_id for task in other]
    assert not {task.seed for task in one} & {task.seed for task in other}


def test_thousands_of_tasks_have_ids_of_their_own(handmade: Handmade) -> None:
    """Five thousand of a million times a million."""
    wide = {"source": "range:{min: 1, max: 1000000}", "visible_in_first_turn": True}
    tasks = bound(handmade([template("a", slots={"x": wide, "y": wide})]), 5000).tasks
    assert len({task.task_id for task in tasks}) == 5000


TINY: dict[str, Any] = {
    "books": [
        {"book_id": "BK-100", "status": "available"},
        {"book_id": "BK-200", "status": "available"},
        {"book_id": "BK-300", "status": "on_loan"},
    ],
    "patrons": [{"patron_id": "P-1"}, {"patron_id": "P-2"}],
}
"""The rows of the contract's tiny pack, as far as ids depend on them."""


def tiny(name: str, **slots: tuple[str, str | None]) -> dict[str, Any]:
    sources = {
        slot: {"source": f"fixture:{source}", "filter": condition, "visible_in_first_turn": True}
        for slot, (source, condition) in slots.items()
    }
    return template(name, slots=sources, category="circulation")


def test_the_contracts_tiny_pack_has_four_tasks(handmade: Handmade) -> None:
    """One for each template, at its budget of 4 and with its seed; ids and seeds are what every implementation has."""
    free, lent = "status == 'available'", "status == 'on_loan'"
    pack = handmade(
        [
            tiny("lib_status_single", book_id=("books.book_id", free)),
            tiny(
                "lib_checkout_confirm", book_id=("books.book_id", free), patron_id=("patrons.patron_id", None)
            ),
            tiny("lib_status_parallel", book_a=("books.book_id", free), book_b=("books.book_id", lent)),
            tiny("lib_irrelevant_renew"),
        ],
        fixtures=TINY,
        manifest={"pack_id": "tiny_library", "version": "0.1.0"},
    )
    assert [(task.task_id, task.seed) for task in bound(pack, 4, seed=7).tasks] == [
        ("tiny_library__lib_status_single__384d86204babf1a4", 13507390372400860766),
        ("tiny_library__lib_checkout_confirm__b4a2d80229d354aa", 13873730617840153281),
        ("tiny_library__lib_status_parallel__1ae8e9373e0aaac8", 10144330903714429929),
        ("tiny_library__lib_irrelevant_renew__882ae0f89cd3930a", 16379516783451878448),
    ]
