"""Rules about fixtures and absent ids: what nothing uses, and what is declared absent and is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from averment.oracle.lint.noting import Found, Rule
from averment.oracle.model.keys import AmbiguousKeyError, primary_key
from averment.oracle.model.pack import Pack
from averment.oracle.tasks.candidates import absent_ids
from averment.oracle.tasks.naming import near
from averment.oracle.tasks.sources import (
    AbsentSource,
    FixtureSource,
    SlotSource,
    SourceError,
    declared_sources,
    parse_source,
)
from averment.text.structs import Mistake

__all__ = ["RULES"]


def _absent(pack: Pack) -> Iterator[Found]:
    """Absent ids that exist, that nothing proves absent, or that nothing uses."""
    drawn = {source.collection for source in _sources(pack) if isinstance(source, AbsentSource)}
    probed = _probed(pack)
    for collection in pack.manifest.absent_ids:
        ids = absent_ids(pack, collection)
        path = ("absent_ids", collection)
        if collection not in drawn and not any(str(each) in probed for each in ids):
            message = f"no slot and no probe uses an absent id of `{collection}`"
            yield Found("manifest", Mistake("unused_absent_ids", message, path, key=True))
        if not isinstance(pack.fixtures.get(collection), list):
            message = f"the fixtures have no collection `{collection}`"
            close = near(collection, pack.fixtures)
            mistake = Mistake("absent_collection_unknown", message, path, key=True, nearest=close)
            yield Found("manifest", mistake)
            continue
        keys = _keys(pack, collection)
        declared = pack.manifest.absent_ids[collection]
        for index, each in enumerate(ids):
            if str(each) in keys:
                inner = (*path, index) if isinstance(declared, list) else path
                message = (
                    f"`{each}` is declared absent, and row {keys[str(each)]} of `{collection}` is `{each}`"
                )
                yield Found("manifest", Mistake("absent_id_exists", message, inner))


def _collections(pack: Pack) -> Iterator[Found]:
    """Collections that nothing in the pack uses; a service may use what no file of the pack says, so not for those."""
    if "backend" not in pack.files:
        return
    drawn = {source.collection for source in _sources(pack) if isinstance(source, FixtureSource)}
    candidates = [
        name for name, rows in pack.fixtures.items() if name not in drawn and isinstance(rows, list) and rows
    ]
    if not candidates:
        return
    probed = _probed(pack)
    code = _code(pack)
    for name in candidates:
        if name not in code and probed.isdisjoint(_keys(pack, name)):
            message = f"nothing in the pack uses the collection `{name}`"
            yield Found("fixtures", Mistake("unused_collection", message, (name,), key=True))


def _sources(pack: Pack) -> Iterator[SlotSource]:
    """The sources of all slots and corrections that can be read."""
    for template in pack.templates:
        for declared in declared_sources(template):
            try:
                yield parse_source(declared.definition.source)
            except SourceError:
                continue  # check 2 tells why


def _keys(pack: Pack, collection: str) -> dict[str, int]:
    """The rows of a collection by their ids as text; none where nothing says which field holds them."""
    rows = pack.fixtures[collection]
    try:
        key = primary_key(collection, rows, pack.manifest.primary_keys.get(collection))
    except AmbiguousKeyError:
        return {}
    return {
        str(row[key]): index
        for index, row in reversed(list(enumerate(rows)))
        if isinstance(row, dict) and row.get(key) is not None
    }


def _probed(pack: Pack) -> set[str]:
    """Every scalar in the arguments of a probe, as text."""
    found: set[str] = set()
    pending: list[Any] = [case.arguments for case in pack.cases]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
        else:
            found.add(str(value))
    return found


def _code(pack: Pack) -> str:
    """The text of all modules of the pack."""
    paths = {pack.files["backend"], pack.files.get("assertions", pack.files["backend"])}
    paths |= {name.removeprefix("tree/") for name in pack.digests if name.startswith("tree/")}
    texts = []
    for path in sorted(paths):
        if path.endswith(".py"):
            try:
                texts.append((pack.root / path).read_text(encoding="utf-8", errors="replace"))
            except OSError:
                continue  # it was there when the pack was loaded; a changed tree is told by its fingerprint
    return "\n".join(texts)


RULES: tuple[Rule, ...] = (_absent, _collections)
