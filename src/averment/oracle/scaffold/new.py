"""A new pack, from nothing or from a list of tools, as the bytes of its files."""

from __future__ import annotations

import msgspec

from averment.oracle.scaffold.draft.lacking import Lack
from averment.oracle.scaffold.given.tools import Given
from averment.oracle.scaffold.identity import Identity

__all__ = ["NewPack", "new_pack"]


class NewPack(msgspec.Struct, frozen=True):
    """A pack to be written.

    Attributes:
        files: the bytes of each file by its name, sorted.
        lacks: what it lacks for gold, in a good order.
    """

    files: dict[str, bytes]
    lacks: list[Lack] = []


def new_pack(identity: Identity, given: Given | None = None) -> NewPack:
    """The pack of that identity: the starter, or a draft from the tools that are given.

    Raises:
        UsageError: the tools are too large for a pack.
    """
    if given is None:
        from averment.oracle.scaffold.layers import starter

        texts, lacks = starter(identity), _of_starter(identity)
    else:
        from averment.oracle.scaffold.draft.draft import draft

        drafted = draft(given, identity)
        texts, lacks = drafted.texts, drafted.lacks
    if identity.is_translated:
        lacks = [
            *lacks,
            Lack(f"Translate the texts: they stand under `{identity.language}` and are in English"),
        ]
    return NewPack({name: text.encode() for name, text in texts.items()}, lacks)


def _of_starter(identity: Identity) -> list[Lack]:
    if identity.transport == "python":
        return []
    return [
        Lack("Fill in `endpoint_config.yaml`: all of it is placeholders"),
        Lack("Have the service implement the tools"),
    ]
