"""Pins the rows of the library's benchmark: `python pin.py FOLDER_OF_A_BUILD`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from averment.text.jsontext import pretty, sha256

HERE = Path(__file__).parent
IN_FULL = ("lib_status_single", "lib_borrow", "lib_irrelevant_reservation")
"""A call, a confirmation, and no call at all."""


def pin(folder: Path) -> None:
    """Write the two golden files."""
    written = (folder / "benchmark.jsonl").read_bytes().splitlines()
    rows = [json.loads(line) for line in written]
    first = {row["template_id"]: row for row in reversed(rows)}
    kept = {first[name]["task_id"] for name in IN_FULL}
    full = [row for row in rows if row["task_id"] in kept]
    digests = {row["task_id"]: sha256(line) for row, line in zip(rows, written, strict=True)}
    (HERE / "library_rows.json").write_bytes(pretty(full))
    (HERE / "library_digests.json").write_bytes(pretty(digests))


if __name__ == "__main__":
    pin(Path(sys.argv[1]))
