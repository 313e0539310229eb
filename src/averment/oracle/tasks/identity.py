"""Ids and seeds of tasks: digests of what a task is made of, and of nothing else.

Neither the pack's folder nor the order in which tasks or values were found is part of them (contract, section 6.4).
They are the same bits that any implementation of the contract computes, and so the JSON that is digested is the
contract's: floats are spelled as Python spells them, `1e-05`, unlike in the canonical JSON of averment's own files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from averment.text.jsontext import sha256

__all__ = ["Identity", "contract_json", "task_id", "task_seed"]

_ID_DIGITS = 16
_SEED_DIGITS = 16
_write = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What a task is made of.

    Attributes:
        fixture_refs: the rows that its values are of, in any order.
        slot_bindings: the values, by slot, and those of corrections as `SLOT@correctionINDEX`.
        variant_index: 0 for the template's own wording.
    """

    pack_id: str
    pack_version: str
    template_id: str
    fixture_refs: Iterable[str]
    slot_bindings: Mapping[str, Any]
    variant_index: int = 0


def task_id(identity: Identity) -> str:
    """The id: the pack, the template, and 16 hexadecimal digits of the digest."""
    digits = _digits(_parts(identity))[:_ID_DIGITS]
    return f"{identity.pack_id}__{identity.template_id}__{digits}"


def task_seed(identity: Identity, global_seed: int) -> int:
    """The seed of the task in a run with that seed: the first 64 bits of the digest, unsigned."""
    return int(_digits({**_parts(identity), "global_seed": global_seed})[:_SEED_DIGITS], 16)


def contract_json(value: Any) -> bytes:
    """The contract's canonical JSON of a JSON value, over which its digests are made.

    Raises:
        ValueError: JSON has no form for a number in it.
    """
    return _write(value).encode("utf-8", "backslashreplace")


def _parts(identity: Identity) -> dict[str, Any]:
    return {
        "pack_id": identity.pack_id,
        "pack_version": identity.pack_version,
        "template_id": identity.template_id,
        "fixture_refs": sorted(identity.fixture_refs),
        "slot_bindings": identity.slot_bindings,
        "variant_index": identity.variant_index,
    }


def _digits(parts: dict[str, Any]) -> str:
    return sha256(contract_json(parts)).removeprefix("sha256:")
