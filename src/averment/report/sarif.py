"""Not there yet."""

from __future__ import annotations

from collections.abc import Sequence

from averment.verdicts.judged import Judged

__all__ = ["render"]


def render(entries: Sequence[Judged]) -> str:
    """Renders nothing yet."""
    raise NotImplementedError(len(entries))
