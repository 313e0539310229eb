"""Which field of a collection's rows is their primary key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["AmbiguousKeyError", "primary_key"]


class AmbiguousKeyError(Exception):
    """Nothing says which field is the key; the message is one sentence without a full stop."""


def primary_key(collection: str, rows: Sequence[object], declared: str | None = None) -> str:
    """The field that tells the rows of a collection apart (contract, section 6.3).

    The first of these that the first row has: the declared field, and nothing else where one is declared;
    `<singular>_id`, the singular being the name without one `s` at its end; `id`; the only field that ends in `_id`.
    Later rows may lack the field; that is for the reader of the rows to say.

    Args:
        collection: its name in the fixtures.
        rows: its rows.
        declared: what the manifest's `primary_keys` says of it.

    Raises:
        AmbiguousKeyError: the declared field is none of the first row, or no rule or several fields fit.
    """
    first = rows[0] if rows else None
    fields = list(first) if isinstance(first, Mapping) else []
    if declared is not None:
        if declared in fields:
            return declared
        raise AmbiguousKeyError(
            f"the declared primary key `{declared}` of `{collection}` is no field of its first row"
        )
    for name in (f"{collection.removesuffix('s')}_id", "id"):
        if name in fields:
            return name
    endings = [name for name in fields if isinstance(name, str) and name.endswith("_id")]
    if len(endings) == 1:
        return endings[0]
    if not fields:
        raise AmbiguousKeyError(f"the collection `{collection}` has no first row to read a key from")
    several = ", ".join(f"`{name}`" for name in endings[:5]) or "no field that ends in `_id`"
    raise AmbiguousKeyError(f"the primary key of `{collection}` can't be told: its first row has {several}")
