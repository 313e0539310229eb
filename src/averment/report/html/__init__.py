"""A page in one file for people: two shelves of results, what failed first, and the conversation that shows it.

The page needs no network, and its security policy allows none. It can be read without its script, which filters,
follows links into what is folded, and shows in each card the part of the conversation that it is about.
"""

from __future__ import annotations

from collections.abc import Sequence

from averment.verdicts.judged import Judged

__all__ = ["render"]


def render(entries: Sequence[Judged]) -> str:
    """The page about these conversations; same conversations, same bytes."""
    from averment.report.html.page import page

    return page(entries)
