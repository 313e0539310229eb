"""What the pack's code sees where reserved rows are kept from it: fixtures without them, and a copy of the pack.

With `policy.fixtures_in_backend_state: false` (contract, section 1.7) no reset is given a reserved row, and the code runs
in a copy of the pack whose file of fixtures has none either, so that reading the file oneself shows no more. It is no
sandbox: what another file of the pack says of a reserved row stays.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from averment.oracle.model.held_out import HeldOut
from averment.oracle.model.keys import primary_key
from averment.oracle.model.pack import Pack
from averment.oracle.model.tree import MAX_TREE_BYTES, read_bytes

__all__ = ["seen_fixtures", "seen_tree"]


def seen_fixtures(pack: Pack) -> dict[str, Any] | None:
    """The fixtures that every reset is given; None where the pack has no file of them."""
    if "fixtures" not in pack.files:
        return None
    held_out = _kept_away(pack)
    if held_out is None:
        return pack.fixtures
    return {name: _seen(pack, held_out, name, rows) for name, rows in pack.fixtures.items()}


@contextmanager
def seen_tree(pack: Pack) -> Iterator[Path]:
    """The folder that the pack's code runs in: its own, or a copy that is gone afterwards."""
    if "fixtures" not in pack.files or _kept_away(pack) is None:
        yield pack.root
        return
    with tempfile.TemporaryDirectory(prefix="averment-pack-") as made:
        root = Path(made).resolve()
        for name in (digest.removeprefix("tree/") for digest in pack.digests):
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(read_bytes(pack.root, name, MAX_TREE_BYTES))
        written = json.dumps(seen_fixtures(pack), ensure_ascii=False, indent=2)
        (root / pack.files["fixtures"]).write_text(written + "\n", encoding="utf-8")
        yield root


def _kept_away(pack: Pack) -> HeldOut | None:
    """The reservations, where their rows are not to be seen."""
    held_out = pack.held_out
    return None if held_out is None or held_out.policy.fixtures_in_backend_state else held_out


def _seen(pack: Pack, held_out: HeldOut, collection: str, rows: Any) -> Any:
    reserved = {str(item) for item in held_out.fixtures.get(collection, ())}
    if not reserved:
        return rows
    name = primary_key(collection, rows, pack.manifest.primary_keys.get(collection))
    return [row for row in rows if str(row[name]) not in reserved]
