from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from averment.oracle.tasks.identity import Identity, contract_json, task_id, task_seed
from averment.oracle.tasks.task import Correction, Task, task_argument

REFS = ['["boats","B-2"]', '["berths","7"]']
BINDINGS: dict[str, Any] = {"boat": "B-2", "berth": 7, "boat@correction0": "Ø-9"}


def identity(**changed: Any) -> Identity:
    known: dict[str, Any] = {
        "pack_id": "harbour",
        "pack_version": "0.1.0",
        "template_id": "moor",
        "fixture_refs": REFS,
        "slot_bindings": BINDINGS,
    }
    return Identity(**known | changed)


def task(**changed: Any) -> Task:
    known: dict[str, Any] = {
        "task_id": "harbour__moor__0",
        "base_task_id": "harbour__moor__0",
        "template_id": "moor",
        "pack_id": "harbour",
        "pack_version": "0.1.0",
        "intent": "moor_boat",
        "category": "berths",
        "difficulty": None,
        "turn_policy": "correction",
        "call_order": "strict",
        "call_order_prefix": None,
        "variant_index": 0,
        "seed": 2**64 - 1,
        "mutates": True,
        "required_tools": ("moor",),
        "tools_present": ("moor", "cast_off"),
        "success_assertions": ("assert_moored",),
        "edge_signatures": (),
        "fixture_refs": tuple(sorted(REFS)),
        "slots": {"boat": "Ø-9"},
        "slots_initial": {"boat": "B-2"},
        "slot_updates": (Correction(0, {"boat": "Ø-9"}, {"other": "Ø-9"}),),
        "is_multi_turn": True,
        "num_tool_calls": 1,
        "has_user_confirmation": True,
        "confirmed_call_turns": (1,),
    }
    return Task(**known | changed)


def test_an_id_is_the_digest_of_what_the_task_is_made_of() -> None:
    """The bits are pinned, and derived here a second time from the contract's words."""
    text = (
        '{"fixture_refs":["[\\"berths\\",\\"7\\"]","[\\"boats\\",\\"B-2\\"]"],'
        '"pack_id":"harbour","pack_version":"0.1.0",'
        '"slot_bindings":{"berth":7,"boat":"B-2","boat@correction0":"Ø-9"},'
        '"template_id":"moor","variant_index":0}'
    )
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert task_id(identity()) == f"harbour__moor__{digest[:16]}" == "harbour__moor__651c3d194f0ae436"


def test_a_seed_is_the_start_of_a_digest_that_has_the_runs_seed_in_it() -> None:
    """Big-endian, unsigned: the first 8 bytes over the same object with `global_seed`."""
    parts = {
        "pack_id": "harbour",
        "pack_version": "0.1.0",
        "template_id": "moor",
        "fixture_refs": sorted(REFS),
        "slot_bindings": BINDINGS,
        "variant_index": 0,
        "global_seed": 7,
    }
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    expected = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    assert task_seed(identity(), 7) == expected == 724130605774847314


def test_neither_depends_on_the_order_of_references_or_of_values() -> None:
    """What is found first in a file is no part of a task."""
    other = identity(fixture_refs=REFS[::-1], slot_bindings=dict(reversed(BINDINGS.items())))
    assert task_id(other) == task_id(identity())
    assert task_seed(other, 3) == task_seed(identity(), 3)


@pytest.mark.parametrize(
    "changed",
    [
        {"variant_index": 1},
        {"pack_version": "0.1.1"},
        {"fixture_refs": REFS[:1]},
        {"slot_bindings": {**BINDINGS, "berth": "7"}},
        {"slot_bindings": {**BINDINGS, "berth": 7.0}},
        {"slot_bindings": {**BINDINGS, "boat@correction1": "Ø-9"}},
    ],
)
def test_both_depend_on_everything_else(changed: dict[str, Any]) -> None:
    """A wording, a version, a row, a value or its type makes another task."""
    assert task_id(identity(**changed)) != task_id(identity())
    assert task_seed(identity(**changed), 0) != task_seed(identity(), 0)


def test_the_runs_seed_changes_seeds_and_no_ids() -> None:
    """A task keeps its name in every run."""
    assert len({task_seed(identity(), seed) for seed in range(20)}) == 20
    assert re.fullmatch(r"harbour__moor__[0-9a-f]{16}", task_id(identity()))


@given(st.integers(0, 2**64 - 1), st.text(max_size=5))
def test_seeds_have_64_bits_and_no_sign(seed: int, value: str) -> None:
    """Whatever they are made of."""
    assert 0 <= task_seed(identity(slot_bindings={"x": value}), seed) < 2**64


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ([1e16, 1e-5, 0.1, 5.0], "[1e+16,1e-05,0.1,5.0]"),
        ("thẻ\u2028/", '"thẻ\u2028/"'),
        ("\ud800", '"\\ud800"'),
        (10**30, "1" + "0" * 30),
    ],
)
def test_the_json_of_digests_is_that_of_the_contract(value: Any, text: str) -> None:
    """Floats are spelled as Python spells them, or ids of packs with small or large ones would differ."""
    assert contract_json(value) == text.encode()


def test_a_number_that_json_lacks_has_no_digest() -> None:
    """Infinities and NaN are refused."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        contract_json([float("nan")])


def test_a_seed_has_a_form_for_readers_with_53_bits() -> None:
    """Sixteen digits, leading zeros kept."""
    assert task().seed_hex == "f" * 16
    assert task(seed=10).seed_hex == "000000000000000a"


def test_assertions_get_the_contracts_fields_and_no_others() -> None:
    """Section 2.1: lists and mappings of JSON values, whatever a task keeps them in."""
    shown = task_argument(task())
    assert sorted(shown) == sorted(
        [
            "task_id",
            "template_id",
            "slots",
            "slots_initial",
            "slot_updates",
            "fixture_refs",
            "seed",
            "variant_index",
            "intent",
            "category",
            "difficulty",
            "turn_policy",
            "call_order",
            "call_order_prefix",
            "required_tools",
            "tools_present",
            "success_assertions",
            "edge_signatures",
            "mutates",
            "pack_id",
            "pack_version",
            "is_multi_turn",
            "num_tool_calls",
            "has_user_confirmation",
            "confirmed_call_turns",
        ]
    )
    assert shown["slot_updates"] == [
        {"entry_index": 0, "values": {"boat": "Ø-9"}, "aliases": {"other": "Ø-9"}}
    ]
    assert shown["confirmed_call_turns"] == [1]
    assert shown["difficulty"] is None
    assert json.loads(json.dumps(shown)) == shown == msgspec.json.decode(msgspec.json.encode(shown))
