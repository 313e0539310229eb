"""What the static scan of a pack's Python files warns of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from averment.errors import Problem
from averment.oracle.child.scan_names import CODES

__all__ = ["scan_warnings"]


def scan_warnings(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Problem]:
    """A warning for everything that was found, by file; `found` is what `child.scan.scan` says of each."""
    for file in sorted(found):
        for entry in found[file]:
            yield Problem(
                code=entry["code"],
                message=entry["message"],
                file=file,
                line=entry["line"],
                column=entry["column"],
                mend=CODES[entry["code"]]["mend"],
                severity="warning",
            )
