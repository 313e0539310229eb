"""What must be true after a task of the library: of its rows, of what the tools answered, and of the way there.

Each assertion raises `AssertionError` with what it expected and what it found. They state the library's rules on their
own, from the task and the rows; none of them asks the backend.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

LOAN_DAYS = 21


def check(condition: object, message: str) -> None:
    """Raise unless the condition holds; an `assert` statement would vanish under `python -O`."""
    if not condition:
        raise AssertionError(message)


def calls_of(trace: Any, tool: str) -> list[Any]:
    """The calls of a tool, in order."""
    return [call for call in trace if call["tool"] == tool]


def only_call(trace: Any, tool: str, **arguments: Any) -> Any:
    """The result of the one call of a tool, which had these arguments."""
    calls = calls_of(trace, tool)
    check(len(calls) == 1, f"{tool} was called {len(calls)} times; once was expected")
    for name, value in arguments.items():
        given = calls[0]["arguments"].get(name)
        check(given == value, f"{tool} was called with {name} {given!r}; {value!r} was expected")
    return calls[0]["result"]


def book_of(state: Any, book_id: str) -> Any:
    """The row of a book."""
    rows = [book for book in state["books"] if book["book_id"] == book_id]
    check(len(rows) == 1, f"the library has {len(rows)} books {book_id}; one was expected")
    return rows[0]


def assert_titles_found(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The search for the user's title gave every book that has it, and no other."""
    del ctx
    title = task["slots"]["title"]
    result = only_call(trace, "find_book", title=title)
    expected = [book["book_id"] for book in state["books"] if title.casefold() in book["title"].casefold()]
    found = [book["book_id"] for book in result.get("books", [])]
    check(expected, f"no book of the library has {title!r} in its title")
    check(found == expected, f"the search found {found}; {expected} was expected")


def assert_loan_status_reported(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """Each book of the task was looked up once, no other was, and the answers agree with the rows."""
    del ctx
    slots = task["slots"]
    expected = [slots[name] for name in ("book_id", "first_book", "second_book") if name in slots]
    calls = calls_of(trace, "get_loan_status")
    asked = [call["arguments"].get("book_id") for call in calls]
    check(
        sorted(asked, key=str) == sorted(expected), f"books {asked} were looked up; {expected} was expected"
    )
    for call in calls:
        book = book_of(state, call["arguments"]["book_id"])
        for field in ("book_id", "status", "due_on"):
            said = call["result"].get(field)
            check(
                said == book[field], f"{field} of {book['book_id']} is {book[field]!r}; {said!r} was reported"
            )


def assert_loans_listed(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The patron's loans were listed, all of them and only theirs."""
    del ctx
    patron = task["slots"]["patron_id"]
    result = only_call(trace, "list_loans", patron_id=patron)
    expected = [book["book_id"] for book in state["books"] if book["lent_to"] == patron]
    listed = [loan["book_id"] for loan in result.get("loans", [])]
    check(result.get("patron_id") == patron, f"the loans of {result.get('patron_id')!r} were listed")
    check(listed == expected, f"loans {listed} were listed; {expected} was expected")


def assert_book_lent(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The book is with the patron, and due three weeks after the day of the loan."""
    del trace
    slots = task["slots"]
    book = book_of(state, slots["book_id"])
    due = (ctx.clock.date() + timedelta(days=LOAN_DAYS)).isoformat()
    check(book["status"] == "lent", f"{book['book_id']} is {book['status']}; lent was expected")
    check(book["lent_to"] == slots["patron_id"], f"{book['book_id']} is with {book['lent_to']!r}")
    check(book["due_on"] == due, f"{book['book_id']} is due on {book['due_on']}; {due} was expected")


def assert_borrowed_once(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """One loan was made, with the user's word, and no other was tried."""
    del state, ctx
    slots = task["slots"]
    result = only_call(
        trace, "borrow_book", patron_id=slots["patron_id"], book_id=slots["book_id"], confirm=True
    )
    check(result.get("status") == "lent", f"the loan came to {result}")


def assert_loan_refused(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The loan was tried once, with the user's word, and refused for the reason that holds, and a book that was in still is."""
    del ctx
    slots = task["slots"]
    result = only_call(
        trace, "borrow_book", patron_id=slots["patron_id"], book_id=slots["book_id"], confirm=True
    )
    book = book_of(state, slots["book_id"])
    expected = "limit_reached" if book["status"] == "available" else "already_lent"
    code = result.get("error", {}).get("code")
    check(code == expected, f"the loan came to {code!r}; {expected!r} was expected")


def assert_unknown_id_reported(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """The one call asked for the user's id, and the answer was that it belongs to nothing."""
    del state, ctx
    check(len(trace) == 1, f"{len(trace)} calls were made; one was expected")
    error = trace[0]["result"].get("error", {})
    check(error.get("code") == "not_found", f"the call came to {trace[0]['result']}")
    wanted = list(task["slots"].values())
    check(error.get("id") in wanted, f"{error.get('id')!r} was looked up; one of {wanted} was expected")


def assert_no_tool_called(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:
    """Nothing was called."""
    del state, task, ctx
    called = [call["tool"] for call in trace]
    check(not called, f"{called} were called; no call was expected")


ASSERTIONS = {
    "assert_titles_found": assert_titles_found,
    "assert_loan_status_reported": assert_loan_status_reported,
    "assert_loans_listed": assert_loans_listed,
    "assert_book_lent": assert_book_lent,
    "assert_borrowed_once": assert_borrowed_once,
    "assert_loan_refused": assert_loan_refused,
    "assert_unknown_id_reported": assert_unknown_id_reported,
    "assert_no_tool_called": assert_no_tool_called,
}

# Read from the source, not from the module: literals only. `trace: True` can be judged without the rows.
ASSERTION_CAPABILITIES = {
    "assert_titles_found": {"category": "result"},
    "assert_loan_status_reported": {"category": "result"},
    "assert_loans_listed": {"category": "result"},
    "assert_book_lent": {"category": "state"},
    "assert_borrowed_once": {"category": "path", "trace": True},
    "assert_loan_refused": {"category": "result"},
    "assert_unknown_id_reported": {"category": "result", "trace": True},
    "assert_no_tool_called": {"category": "path", "trace": True},
}
