"""Everything for which specs are refused, beside mistakes in the shape of their file."""

from __future__ import annotations

from typing import Final

from averment.oracle.findings import Reason

__all__ = ["REFUSALS"]

REFUSALS: Final[dict[str, Reason]] = {
    "no_specs": Reason("there is no spec to compile", "Write one object for each assertion."),
    "malformed_assertion_id": Reason(
        "the id is not 3 to 64 lower-case letters, digits and underscores that begin with a letter or a digit",
        "Write such an id, without the `assert_` that compiling puts before it.",
    ),
    "duplicate_assertion_id": Reason("two specs have the same id", "Give each an id of its own."),
    "wrong_subject": Reason(
        "the predicate is about something else than the subject", "Write the predicate's own subject."
    ),
    "unknown_tool": Reason("no published tool has this name", "Write the name as it stands in `tools.json`."),
    "missing_earlier_tool": Reason(
        "an order needs two tools", "Name in `tool` the tool that must be called before `target`."
    ),
    "order_with_itself": Reason(
        "a tool cannot be required to run after itself",
        "Name another tool in `tool`, or write `tool_called`.",
    ),
    "missing_tool": Reason("the predicate needs a tool", "Name in `tool` the tool whose argument is meant."),
    "missing_argument": Reason(
        "the predicate needs an argument", "Name in `argument` a parameter of the tool."
    ),
    "unknown_argument": Reason(
        "the tool declares no such parameter", "Write a name from its `parameters.properties`."
    ),
    "undeclared_unknown": Reason(
        "the predicate depends on something that is still unknown, and the spec does not say so",
        "Name it in `blocked_on`, or in `resolved` once it has been observed.",
    ),
    "resolved_unknown": Reason(
        "the spec waits for something that has been resolved", "Take it out of `blocked_on`."
    ),
    "blocked": Reason(
        "the spec waits for something that is unknown",
        "Observe it, name it in `resolved`, and take it out of `blocked_on`; or leave the spec out.",
    ),
    "not_compiled": Reason(
        "only predicates on the trace compile; those on results and state are for people to write",
        "Write it in `assertions.py` by hand, and leave the spec out.",
    ),
    "hidden_character": Reason(
        "a character that can't be seen, or that turns the direction of the text", "Delete it."
    ),
}
"""The codes of `read_specs`; mistakes of shape have those of every document (`unknown_field`, `wrong_type`, ...)."""
