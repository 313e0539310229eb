"""`fixtures.json`: the state that every reset restores, and the stock that slots draw their values from."""

from __future__ import annotations

from typing import Any

from averment.oracle.model.problems import Problems
from averment.text.source import Source

__all__ = ["EXAMPLE", "read_fixtures"]

EXAMPLE = """\
{
  "books": [
    {"book_id": "BK-1", "title": "Algorithms", "status": "available"},
    {"book_id": "BK-2", "title": "Networks", "status": "on_loan"}
  ],
  "opening_hours": {"weekdays": "9-17"}
}
"""


def read_fixtures(source: Source, problems: Problems) -> dict[str, Any]:
    """The fixtures: an object from names of collections to lists of rows, each row an object.

    Whatever stands here is what `reset` gets. A value that is no list is legal and reaches `reset` too; it is no
    collection, so `fixture:` slots and reservations can't name it. The file may be absent where no slot needs it.
    """
    if not problems.root(source, dict, "collections, each a list of rows"):
        return {}
    fixtures: dict[str, Any] = source.value
    return fixtures
