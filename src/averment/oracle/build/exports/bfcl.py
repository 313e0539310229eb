"""Rows as the question and possible-answer files of the Berkeley Function-Calling Leaderboard (BFCL), version 4.

Its single-turn categories ask for one message of a model and look at the calls in it. That is the whole of a task whose
user speaks once and whose calls are all of one message; where nothing must be called because no tool helps, it is the
category `irrelevance`, which has no answers. Everything else is left out, with the reason, because half a task would
be another task. In particular, BFCL's conversations of several turns run on Python classes of its own.

| tools that the agent sees | calls | category |
|---|---|---|
| one | one | `simple_python` |
| several | one | `multiple` |
| one | several | `parallel` |
| several | several | `parallel_multiple` |
| any | none, policy `irrelevant` | `irrelevance` |

BFCL tells categories by its ids, `simple_python_0`, so that a task's own id stands in `tasks.jsonl`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from averment.oracle.build.exports.bfcl_answers import possible_answer
from averment.oracle.build.exports.bfcl_functions import Function, NotExpressibleError, functions_of
from averment.text.jsontext import decode

__all__ = [
    "CATEGORIES",
    "PREFIX",
    "REASONS",
    "TASKS",
    "Entry",
    "NotExpressibleError",
    "bfcl_lines",
    "entry_of",
]

Row = Mapping[str, Any]

PREFIX: Final = "BFCL_v4"
"""What the names of BFCL's files begin with."""

TASKS: Final = "tasks.jsonl"
"""The file that says of every task which entry it is, or why it is none."""

CATEGORIES: Final = ("simple_python", "multiple", "parallel", "parallel_multiple", "irrelevance")
"""The categories that rows can be of."""

REASONS: Final[dict[str, str]] = {
    "multi_turn": "The user speaks more than once, and BFCL's conversations run on tools of its own.",
    "several_call_groups": "Calls follow on the results of others, and BFCL gives no results to a single answer.",
    "text_before_calls": "The agent says something of its own before it calls, and BFCL looks at its first message.",
    "no_call_expected": "Nothing is to be called although a tool helps, and `irrelevance` is for tools that don't.",
    "name_not_expressible": "A tool or a parameter has a name that Python can't call, or that BFCL can't tell apart.",
    "schema_not_expressible": "A tool that the agent sees has a parameter that BFCL's types can't describe.",
    "value_not_expressible": "BFCL's checker would refuse the gold call, or can't tell it from a wrong one.",
}
"""Why a row is left out."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A row as an entry of BFCL, but for its id.

    Attributes:
        category: one of `CATEGORIES`.
        question: the messages of the only turn.
        function: the functions as BFCL describes them.
        ground_truth: the accepted calls, in the order of gold; None where nothing is to be called.
        renamed: what parameters are called, as `tool.parameter`, where BFCL calls them otherwise.
    """

    category: str
    question: list[dict[str, str]]
    function: list[dict[str, Any]]
    ground_truth: list[dict[str, Any]] | None
    renamed: dict[str, str]


def entry_of(row: Row) -> Entry:
    """A row as an entry.

    Raises:
        NotExpressibleError: BFCL's files can't hold it; the first reason is told.
    """
    calls = row["expected_tool_calls"]
    said = _question(row)
    functions = _functions(row["tools"])
    if isinstance(functions, NotExpressibleError):
        raise NotExpressibleError(functions.reason, functions.detail)
    answers = [
        possible_answer(
            functions[call["function_name"]],
            {name: decode(text).value for name, text in call["arguments"].items()},
        )
        for call in calls
    ]
    return Entry(
        category=_category(len(functions), len(calls)),
        question=said,
        function=[function.doc for function in functions.values()],
        ground_truth=answers or None,
        renamed={
            f"{function.name}.{name}": shown
            for function in functions.values()
            for name, shown in function.names.items()
            if name != shown
        },
    )


def bfcl_lines(rows: Iterable[Row]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of all files, as they come: which file, and the value of its next line.

    A row gives at most one line in each of three files: its question, its possible answer, and `TASKS`. Files that no
    row is for are not there.
    """
    counts: Counter[str] = Counter()
    for row in rows:
        try:
            entry = entry_of(row)
        except NotExpressibleError as error:
            yield TASKS, {"task_id": row["task_id"], "reason": error.reason, "detail": error.detail}
            continue
        name = f"{entry.category}_{counts[entry.category]}"
        counts[entry.category] += 1
        file = f"{PREFIX}_{entry.category}.json"
        yield file, {"id": name, "question": [entry.question], "function": entry.function}
        if entry.ground_truth is not None:
            yield f"possible_answer/{file}", {"id": name, "ground_truth": entry.ground_truth}
        told = {"task_id": row["task_id"], "id": name, "category": entry.category}
        yield TASKS, told | ({"renamed": entry.renamed} if entry.renamed else {})


def _question(row: Row) -> list[dict[str, str]]:
    """The messages before the agent's only answer."""
    calls, messages = row["expected_tool_calls"], row["messages"]
    if row["is_multi_turn"] or sum(message["role"] == "user" for message in messages) != 1:
        raise NotExpressibleError("multi_turn", "the user speaks more than once")
    if not calls and row["turn_policy"] != "irrelevant":
        detail = f"a task of the policy `{row['turn_policy']}` without calls asks for words"
        raise NotExpressibleError("no_call_expected", detail)
    groups = len({call["call_group"] for call in calls})
    if groups > 1:
        raise NotExpressibleError("several_call_groups", f"the calls are of {groups} messages")
    answer = next(index for index, message in enumerate(messages) if message["role"] == "assistant")
    if calls and not messages[answer]["tool_calls"]:
        detail = "the agent's first message is words, its second is calls"
        raise NotExpressibleError("text_before_calls", detail)
    return [{"role": message["role"], "content": message["content"]} for message in messages[:answer]]


def _category(functions: int, calls: int) -> str:
    if not calls:
        return "irrelevance"
    if calls == 1:
        return "simple_python" if functions == 1 else "multiple"
    return "parallel" if functions == 1 else "parallel_multiple"


@lru_cache(maxsize=64)
def _functions(tools: str) -> dict[str, Function] | NotExpressibleError:
    """The functions of a row's tools, which are the same for all tasks of a template, or why there are none."""
    try:
        return functions_of(decode(tools).value)
    except NotExpressibleError as error:
        return error
