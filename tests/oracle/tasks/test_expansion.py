from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.oracle.model.held_out import HeldOut
from averment.oracle.model.loading import load_pack
from averment.oracle.model.pack import Pack
from averment.oracle.tasks.candidates import Candidate
from averment.oracle.tasks.cycle import cycle_of
from averment.oracle.tasks.expansion import ExpansionError, expand, reserved_rows
from averment.oracle.tasks.growth import Replacements, grow
from averment.oracle.tasks.plan import plan
from averment.oracle.tasks.sources import LiteralSource, RangeSource
from averment.oracle.tasks.task import Correction, Task

Handmade = Callable[..., Pack]
EXAMPLES = Path(__file__).parents[3] / "examples" / "packs"

CALL: dict[str, Any] = {"type": "tool_call", "tool": "get_book"}
CONFIRM = {"type": "ask_confirm"}
FINAL = {"type": "final_answer"}
PINNED = [
    ("library__find__77cafc959658f0e7", 13271196307645810503),
    ("library__find__7ade04adfe11575a", 8493579471162403702),
    ("library__find__231782a24b224fbd", 6770746264478934548),
    ("library__find__ad8e95ae144481bb", 6202632944209099558),
]


def slot(source: str, **fields: Any) -> dict[str, Any]:
    return {"source": source, "visible_in_first_turn": True, **fields}


def single(slots: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "template_id": "find",
        "turn_policy": "single_turn",
        "slots": slots,
        "user_turn_templates": {"en": "?"},
        "assistant_milestones": [CALL, FINAL],
        **fields,
    }


def correcting(slots: dict[str, Any], *turns: tuple[str, dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """A template whose user corrects slots after milestones called `a` and `b`, which come in this order."""
    said = [
        {"after": after, "content_template": {"en": "No!"}, "slot_updates": updates}
        for after, updates in turns
    ]
    unanswered = {"a", "b"} - {after for after, _ in turns}
    said += [{"after": name, "content_template": {"en": "Yes."}} for name in sorted(unanswered)]
    asking = [{"type": "ask_confirm", "id": name} for name in "ab"]
    return single(
        slots,
        turn_policy="correction",
        assistant_milestones=[*asking, CALL, FINAL],
        user_simulator_turns=said,
        **fields,
    )


def expanded(pack: Pack, limit: int = 100, **options: Any) -> list[Task]:
    return expand(pack.templates[0], plan(pack.templates[0]), pack, limit=limit, **options)


def values(tasks: Sequence[Task], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(task.slots_initial[name] for name in names) for task in tasks]


def mistakes(pack: Pack, **options: Any) -> list[tuple[str, tuple[str | int, ...]]]:
    with pytest.raises(ExpansionError) as caught:
        expanded(pack, **options)
    assert str(caught.value)
    return [(mistake.code, mistake.path) for mistake in caught.value.mistakes]


def test_a_template_without_slots_has_one_task(handmade: Handmade) -> None:
    """Whatever the limit."""
    assert [task.slots for task in expanded(handmade([single({})]))] == [{}]


def test_slots_take_values_in_the_order_of_their_names(handmade: Handmade) -> None:
    """The last name changes fastest, in whatever order the file has them."""
    slots = {"b": slot("literal:[1, 2]"), "a": slot("literal:['x', 'y']")}
    assert values(expanded(handmade([single(slots)])), "a", "b") == [("x", 1), ("x", 2), ("y", 1), ("y", 2)]


def test_a_task_says_what_its_template_and_plan_say(handmade: Handmade) -> None:
    """The labels as they are, the whole catalog where no tools are chosen, the rows sorted."""
    template = single(
        {"book_id": slot("books.book_id", filter="pages > 200"), "n": slot("literal:3")},
        turn_policy="confirmation",
        intent="lend",
        difficulty=2,
        category="loans",
        mutates=True,
        call_order="prefix",
        call_order_prefix=1,
        required_tools=["lend_book"],
        success_assertions=["assert_lent"],
        edge_signatures=["late"],
        assistant_milestones=[CONFIRM, {"type": "tool_call", "tool": "lend_book"}, FINAL],
        user_simulator_turns=[{"after": "ask_confirm", "content_template": {"en": "Yes."}}],
    )
    (task,) = expanded(handmade([template]), seed=5)
    said = msgspec.structs.asdict(task)
    assert said.pop("seed") == task.seed > 0
    assert said.pop("task_id") == said.pop("base_task_id") == task.task_id
    assert said == {
        "template_id": "find",
        "pack_id": "library",
        "pack_version": "1",
        "intent": "lend",
        "category": "loans",
        "difficulty": 2,
        "turn_policy": "confirmation",
        "call_order": "prefix",
        "call_order_prefix": 1,
        "variant_index": 0,
        "mutates": True,
        "required_tools": ("lend_book",),
        "tools_present": ("get_book", "lend_book"),
        "success_assertions": ("assert_lent",),
        "edge_signatures": ("late",),
        "fixture_refs": ('["books","B-2"]',),
        "slots": {"book_id": "B-2", "n": 3},
        "slots_initial": {"book_id": "B-2", "n": 3},
        "slot_updates": (),
        "is_multi_turn": True,
        "num_tool_calls": 1,
        "has_user_confirmation": True,
        "confirmed_call_turns": (1,),
    }


def test_chosen_tools_are_kept_in_their_order(handmade: Handmade) -> None:
    """Also when none is chosen."""
    assert expanded(handmade([single({}, tools_present=["lend_book", "get_book"])]))[0].tools_present == (
        "lend_book",
        "get_book",
    )
    assert expanded(handmade([single({}, tools_present=[])]))[0].tools_present == ()


def digest_of(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()


def test_the_ids_of_a_pack_are_pinned(handmade: Handmade) -> None:
    """A change of these bits renames every task that anybody has."""
    slots = {"book_id": slot("fixture:books.book_id"), "pages": slot("literal:[1, 2.5]")}
    pack = handmade([correcting(slots, ("b", {"pages": {"source": "literal:[3]", "bind_as": "new"}}))])
    tasks = expanded(pack, seed=7)
    assert [(task.task_id, task.seed) for task in tasks] == PINNED
    for task, (book, page) in zip(tasks, product(["B-1", "B-2"], [1, 2.5]), strict=True):
        parts = {
            "pack_id": "library",
            "pack_version": "1",
            "template_id": "find",
            "fixture_refs": [f'["books","{book}"]'],
            "slot_bindings": {"book_id": book, "pages": page, "pages@correction0": 3},
            "variant_index": 0,
        }
        assert task.task_id == f"library__find__{digest_of(parts).hex()[:16]}"
        assert task.seed == int.from_bytes(digest_of({**parts, "global_seed": 7})[:8], "big")


def test_few_tasks_show_many_values_of_every_slot(handmade: Handmade) -> None:
    """Four of sixteen combinations are not the first four."""
    slots = {name: slot("literal:[1, 2, 3, 4]") for name in "ab"}
    tasks = expanded(handmade([single(slots)]), 4)
    assert len({task.task_id for task in tasks}) == 4
    assert len({task.slots["a"] for task in tasks}) == 4
    assert len({task.slots["b"] for task in tasks}) > 1


def test_which_tasks_are_made_depends_on_the_seed_and_the_template(handmade: Handmade) -> None:
    """And on nothing else: the same run makes the same ones."""
    slots = {"a": slot("range:{min: 1, max: 1000}"), "b": slot("range:{min: 1, max: 1000}")}
    one, other = handmade([single(slots)]), handmade([single(slots, template_id="seek")])
    chosen = values(expanded(one, 8), "a", "b")
    assert chosen == values(expanded(one, 8, seed=0), "a", "b")
    assert chosen != values(expanded(one, 8, seed=1), "a", "b")
    assert chosen != values(expanded(other, 8), "a", "b")


@pytest.mark.parametrize("limit", [0, -3, 1])
def test_there_is_always_one_task(handmade: Handmade, limit: int) -> None:
    """A limit below one counts as one."""
    assert len(expanded(handmade([single({"a": slot("literal:[1, 2]")})]), limit)) == 1


def test_wide_slots_cost_what_is_kept_of_them(handmade: Handmade) -> None:
    """A million values times a million times a million, corrected among a million: none is made but for 200."""
    wide = "range:{min: 1, max: 1000000}"
    slots = {name: slot(wide) for name in "abc"}
    pack = handmade([correcting(slots, ("a", {"a": {"source": wide}}), ("b", {"a": {"source": wide}}))])
    tracemalloc.start()
    tracemalloc.clear_traces()  # of who has started it before
    try:
        tasks = expanded(pack, 200)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len({task.task_id for task in tasks}) == 200
    assert len({task.slots["a"] for task in tasks}) > 100
    assert peak < 3_000_000


def ring(size: int, material: Any) -> list[int]:
    """The contract's order of the places of a list, all of it."""
    if size < 2:
        return list(range(size))
    digest = digest_of(material)
    first = int.from_bytes(digest[8:16], "big") % size
    step = next(each for each in (*range(first, size), *range(1, first)) if math.gcd(each, size) == 1)
    places = [int.from_bytes(digest[:8], "big") % size]
    while len(places) < size:
        places.append((places[-1] + step) % size)
    return places


@given(st.integers(0, 300), st.integers())
def test_an_order_visits_every_place_once(size: int, seed: int) -> None:
    """Step and size have no common divisor."""
    cycle = cycle_of(size, {"seed": seed})
    places = [cycle.at(ordinal) for ordinal in range(size)]
    assert sorted(places) == list(range(size))
    assert places == ring(size, {"seed": seed})


@settings(max_examples=200)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 60), st.integers(0, 9))
def test_growth_takes_turns_by_the_contract(widths: list[int], limit: int, seed: int) -> None:
    """Compared with all rounds written out: combinations in one order, the values of each in an order of its own."""
    combinations = [(Candidate(f"c{index}"),) for index in range(len(widths))][:limit]
    usable = [[Candidate((index, place)) for place in range(width)] for index, width in enumerate(widths)][
        :limit
    ]
    grown = grow(combinations, usable, limit=limit, material=seed)
    every = [(index, place) for index, width in enumerate(widths[:limit]) for place in range(width)]
    if len(every) > limit:
        order = ring(len(combinations), {"seed": seed, "kind": "combinations"})
        rings = {
            index: ring(widths[index], {"seed": seed, "kind": "candidates", "combination": index})
            for index in order
        }
        rounds = [
            (index, rings[index][turn]) for turn in range(9) for index in order if turn < len(rings[index])
        ]
        every = rounds[:limit]
    assert [(kept.value, new.value) for kept, new in grown] == [(f"c{i}", (i, place)) for i, place in every]


@given(st.lists(st.sampled_from([1, 1.0, True, "1", None, [1], [1.0]]), min_size=1, max_size=12), st.data())
def test_replacements_differ_from_the_value_in_force(candidates: list[Any], data: st.DataObject) -> None:
    """As JSON: `1`, `1.0`, `true` and `"1"` are four values. Their order is kept; where none differs, all are left."""
    value = data.draw(st.sampled_from(candidates))
    found = Replacements(LiteralSource(candidates), [Candidate(each) for each in candidates]).of(value)
    differing = [each for each in candidates if json.dumps(each) != json.dumps(value)]
    assert [repr(each.value) for each in found] == [repr(each) for each in differing or candidates]
    assert [repr(each.value) for each in found[::2]] == [
        repr(each) for each in (differing or candidates)[::2]
    ]
    with pytest.raises(IndexError):
        found[len(found)]


@pytest.mark.parametrize(
    ("value", "left"), [(4, [2, 6]), (3, [2, 4, 6]), (True, [2, 4, 6]), ("4", [2, 4, 6])]
)
def test_replacements_from_a_range_leave_one_integer_out(value: Any, left: list[int]) -> None:
    """Without looking at the others."""
    candidates = [Candidate(each) for each in range(2, 7, 2)]
    found = Replacements(RangeSource(range(2, 7, 2)), candidates).of(value)
    assert [each.value for each in found] == left


def test_a_correction_takes_another_value_than_the_one_in_force(handmade: Handmade) -> None:
    """The second correction replaces what the first one said, not what the slot had."""
    source = {"source": "literal:[1, 2]"}
    pack = handmade([correcting({"n": slot("literal:[1, 2]")}, ("a", {"n": source}), ("b", {"n": source}))])
    told = [
        (task.slots_initial["n"], *(update.values["n"] for update in task.slot_updates), task.slots["n"])
        for task in expanded(pack)
    ]
    assert told == [(1, 2, 1, 1), (2, 1, 2, 2)]


def test_corrections_come_in_the_order_of_the_conversation(handmade: Handmade) -> None:
    """The turn that is declared first is said last here, and its value is the one that stays."""
    pack = handmade(
        [
            correcting(
                {"n": slot("literal:[0]")},
                ("b", {"n": {"source": "literal:[1]", "bind_as": "late"}}),
                ("a", {"n": {"source": "literal:[2]"}}),
            )
        ]
    )
    (task,) = expanded(pack)
    assert task.slot_updates == (Correction(1, {"n": 2}, {}), Correction(0, {"n": 1}, {"late": 1}))
    assert (task.slots_initial, task.slots) == ({"n": 0}, {"n": 1})


def test_one_changed_slot_of_a_turn_is_a_correction(handmade: Handmade) -> None:
    """The other one is said again as it was."""
    slots = {"m": slot("literal:[0]"), "n": slot("literal:[0]")}
    updates = {"m": {"source": "literal:[0]"}, "n": {"source": "literal:[0, 1]"}}
    (task,) = expanded(handmade([correcting(slots, ("a", updates))]))
    assert task.slot_updates == (Correction(0, {"m": 0, "n": 1}, {}),)


def test_tasks_whose_corrections_change_nothing_are_left_out(handmade: Handmade) -> None:
    """Those of other values are made."""
    pack = handmade([correcting({"n": slot("literal:[0, 1]")}, ("a", {"n": {"source": "literal:[1]"}}))])
    assert [task.slots_initial["n"] for task in expanded(pack)] == [0]


def test_a_template_whose_corrections_never_change_anything_is_refused(handmade: Handmade) -> None:
    """At its first correction."""
    pack = handmade([correcting({"n": slot("literal:[1]")}, ("a", {"n": {"source": "literal:[1]"}}))])
    path = ("user_simulator_turns", 0, "slot_updates", "n")
    assert mistakes(pack) == [("correction_changes_nothing", path)]


def test_rows_of_corrections_are_rows_of_the_task(handmade: Handmade) -> None:
    """Each row once, sorted."""
    source = "fixture:books.book_id"
    pack = handmade([correcting({"n": slot(source)}, ("a", {"n": {"source": source}}))])
    assert [task.fixture_refs for task in expanded(pack)] == [('["books","B-1"]', '["books","B-2"]')] * 2


def test_every_source_without_values_is_told(handmade: Handmade) -> None:
    """With the reasons of check 2, and beside them corrections that correct nothing."""
    slots = {"x": slot("fixture:boks.id"), "y": slot("books.book_id", filter="pages > 999")}
    updates = {"x": {"source": "literal:["}, "z": {"source": "literal:1"}}
    pack = handmade([correcting(slots, ("a", updates))])
    turn = ("user_simulator_turns", 0, "slot_updates")
    assert mistakes(pack) == [
        ("invalid_slot_update", (*turn, "x", "source")),
        ("invalid_slot_update", (*turn, "z")),
        ("unknown_collection", ("slots", "x", "source")),
        ("filter_matches_zero", ("slots", "y", "filter")),
        ("invalid_source", (*turn, "x", "source")),
    ]


def test_rows_that_are_held_out_are_never_bound(handmade: Handmade) -> None:
    """Neither in slots nor in corrections; a slot with no other row is refused."""
    source = "fixture:books.book_id"
    pack = handmade([correcting({"n": slot(source)}, ("a", {"n": {"source": source}}))])
    pack = msgspec.structs.replace(pack, held_out=HeldOut(version="1", fixtures={"books": ["B-1"]}))
    assert reserved_rows(pack) == {'["books","B-1"]'}
    assert mistakes(pack, reserved=reserved_rows(pack)) == [
        ("correction_changes_nothing", ("user_simulator_turns", 0, "slot_updates", "n"))
    ]
    pack = handmade([single({"n": slot(source)})])
    assert values(expanded(pack, reserved={'["books","B-1"]'}), "n") == [("B-2",)]
    both = {'["books","B-1"]', '["books","B-2"]'}
    assert mistakes(pack, reserved=both) == [("rows_reserved", ("slots", "n", "source"))]


def test_a_pack_without_reservations_has_no_reserved_rows(handmade: Handmade) -> None:
    """Ids are texts in references, whatever they are in the file."""
    pack = handmade()
    assert reserved_rows(pack) == frozenset()
    held_out = HeldOut(version="1", fixtures={"shelves": [7]})
    assert reserved_rows(msgspec.structs.replace(pack, held_out=held_out)) == {'["shelves","7"]'}


SCRIPT = """
import sys
from averment.oracle.model.loading import load_pack
from averment.oracle.tasks.expansion import expand
from averment.oracle.tasks.plan import plan
pack = load_pack(sys.argv[1])
for template in pack.templates:
    for task in expand(template, plan(template), pack, limit=7, seed=3):
        print(task.task_id, task.seed, task.slots)
"""


def test_a_copy_in_another_folder_has_the_same_tasks_under_any_hash_seed(tmp_path: Path) -> None:
    """Bit for bit, values and order included."""
    printed = set()
    for seed, folder in [("0", "one"), ("1", "two/deeper"), ("4711", "three")]:
        copy = tmp_path / folder / "pack"
        shutil.copytree(EXAMPLES / "bilingual_clinic", copy)
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(copy)],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
            cwd=tmp_path,
        )
        printed.add(done.stdout)
    assert len(printed) == 1
    assert printed.pop().count("bilingual_clinic__") > 100


@pytest.mark.parametrize("name", ["library_lending", "bilingual_clinic"])
def test_every_example_template_has_tasks_with_ids_of_their_own(name: str) -> None:
    """Without the rows that are held out, whose tasks nobody may see."""
    pack = load_pack(EXAMPLES / name)
    reserved = reserved_rows(pack)
    tasks = [
        task
        for template in pack.templates
        for task in expand(template, plan(template), pack, limit=50, reserved=reserved)
    ]
    assert {task.template_id for task in tasks} == {template.template_id for template in pack.templates}
    assert len({task.task_id for task in tasks}) == len(tasks)
    assert not {ref for task in tasks for ref in task.fixture_refs} & reserved
