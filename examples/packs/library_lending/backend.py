"""The library's oracle: which books there are, who has them, and until when.

Everything comes from the caller: rows from `reset`, the day from `ctx.clock`. A request that the library turns down
is an answer, `{"error": {"code": ...}}`; raising would mean that the oracle itself is broken.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import timedelta
from typing import Any

LOAN_DAYS = 21

Row = dict[str, Any]


class RefusalError(Exception):
    """The library turns a request down; `call_tool` answers with it."""

    def __init__(self, code: str, **details: Any) -> None:
        super().__init__(code)
        self.error = {"code": code, **details}


class Library:
    """The rows of one episode, and the tools that read and change them."""

    def __init__(self) -> None:
        self.fixtures: dict[str, list[Row]] | None = None
        self.books: list[Row] = []
        self.patrons: list[Row] = []

    def reset(self, fixtures: dict[str, list[Row]] | None) -> None:
        """Start from the given rows, or without any from those of the reset before."""
        if fixtures is not None:
            self.fixtures = copy.deepcopy(fixtures)
        if self.fixtures is None:
            raise ValueError("the first reset needs the rows of fixtures.json")
        tables = copy.deepcopy(self.fixtures)
        self.books = tables.get("books", [])
        self.patrons = tables.get("patrons", [])

    def find_book(self, arguments: Row, ctx: Any) -> Row:
        """The books whose title contains the words."""
        del ctx
        words = text(arguments, "title").casefold()
        found = [book for book in self.books if words in book["title"].casefold()]
        if not words or not found:
            raise RefusalError("not_found", entity="book", field="title", id=arguments["title"])
        shown = ("book_id", "title", "author", "branch", "status")
        return {"books": [{key: book[key] for key in shown} for book in found]}

    def get_loan_status(self, arguments: Row, ctx: Any) -> Row:
        """Whether a book is available; who has it is nobody else's business."""
        del ctx
        book = row(self.books, "book", arguments)
        return {key: book[key] for key in ("book_id", "title", "branch", "status", "due_on")}

    def list_loans(self, arguments: Row, ctx: Any) -> Row:
        """What a patron has now."""
        del ctx
        patron = row(self.patrons, "patron", arguments)
        loans = self._loans_of(patron)
        return {
            "patron_id": patron["patron_id"],
            "loans": [{key: book[key] for key in ("book_id", "title", "due_on")} for book in loans],
            "may_borrow": patron["loan_limit"] - len(loans),
        }

    def borrow_book(self, arguments: Row, ctx: Any) -> Row:
        """Lend a book; without `confirm` say what would be lent."""
        patron = row(self.patrons, "patron", arguments)
        book = row(self.books, "book", arguments)
        confirmed = flag(arguments, "confirm")
        if book["status"] != "available":
            raise RefusalError("already_lent", entity="book", id=book["book_id"])
        if len(self._loans_of(patron)) >= patron["loan_limit"]:
            raise RefusalError("limit_reached", entity="patron", id=patron["patron_id"])
        loan = {
            "patron_id": patron["patron_id"],
            "book_id": book["book_id"],
            "due_on": (ctx.clock.date() + timedelta(days=LOAN_DAYS)).isoformat(),
        }
        if not confirmed:
            return {"status": "awaiting_confirmation", **loan}
        book.update(status="lent", lent_to=loan["patron_id"], due_on=loan["due_on"])
        return {"status": "lent", **loan}

    def _loans_of(self, patron: Row) -> list[Row]:
        return [book for book in self.books if book["lent_to"] == patron["patron_id"]]


def text(arguments: Row, field: str) -> str:
    """The text argument of that name."""
    value = arguments.get(field)
    if not isinstance(value, str):
        raise RefusalError("invalid_argument", field=field, message=f"{field} must be a string")
    return value


def flag(arguments: Row, field: str) -> bool:
    """The boolean argument of that name, false if it isn't there."""
    value = arguments.get(field, False)
    if not isinstance(value, bool):
        raise RefusalError("invalid_argument", field=field, message=f"{field} must be true or false")
    return value


def row(table: list[Row], entity: str, arguments: Row) -> Row:
    """The row that the argument `<entity>_id` names."""
    field = f"{entity}_id"
    wanted = text(arguments, field)
    for candidate in table:
        if candidate[field] == wanted:
            return candidate
    raise RefusalError("not_found", entity=entity, field=field, id=wanted)


LIBRARY = Library()

TOOLS: dict[str, Callable[[Row, Any], Row]] = {
    "find_book": LIBRARY.find_book,
    "get_loan_status": LIBRARY.get_loan_status,
    "list_loans": LIBRARY.list_loans,
    "borrow_book": LIBRARY.borrow_book,
}


def list_tools() -> list[str]:
    """The tools that this oracle implements."""
    return list(TOOLS)


def reset(*, ctx: Any, fixtures: dict[str, list[Row]] | None = None) -> None:
    """Forget what happened and start from the rows."""
    del ctx
    LIBRARY.reset(fixtures)


def call_tool(name: str, arguments: Row, *, ctx: Any) -> Row:
    """Answer one call."""
    if name not in TOOLS:
        return {"error": {"code": "unknown_tool", "id": name}}
    try:
        return copy.deepcopy(TOOLS[name](arguments, ctx))
    except RefusalError as refusal:
        return {"error": refusal.error}


def get_state() -> dict[str, list[Row]]:
    """Every row as it stands; the caller may do with it what they like."""
    return copy.deepcopy({"books": LIBRARY.books, "patrons": LIBRARY.patrons})
