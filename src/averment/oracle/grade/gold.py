"""A task with its gold calls, as a row of a benchmark has it (contract, 7.1); columns that grading has no use for are free."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from averment.errors import PackError, Problem, path_text
from averment.oracle.tasks.trace import GoldCall
from averment.text import jsontext
from averment.text.structs import describe, fit

__all__ = ["MAX_GOLD_CALLS", "GoldTask", "GoldTurn", "gold_rows", "gold_task", "gold_tasks"]

MAX_GOLD_CALLS = 100
"""How many calls one task may expect: pairing takes time in the square of it."""

_MAX_PROBLEMS = 100


class GoldTurn(msgspec.Struct, frozen=True, kw_only=True):
    """What a right assistant does before it hears from the tools or the user again: calls, or a text.

    Attributes:
        calls: indexes into the task's calls; none is a text.
        text: what is said; with calls, what is said before them.
        heard_user: whether the user spoke since the turn before, or since the beginning.
    """

    calls: tuple[int, ...] = ()
    text: str | None = None
    heard_user: bool = False


class GoldTask(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of one task is compared with.

    Attributes:
        task_id, template_id, turn_policy, success_assertions, required_tools, call_order, call_order_prefix: as the
            row has them.
        calls: in the order in which they are made.
        turns: of the assistant, in order. A text right before calls, with no turn of the user between, is of one turn
            with them, as it is in the run.
        tools: `parameters` by the name of each tool that the assistant has.
    """

    task_id: str
    template_id: str = ""
    turn_policy: str = ""
    calls: tuple[GoldCall, ...] = ()
    turns: tuple[GoldTurn, ...] = ()
    tools: dict[str, Any] = {}
    success_assertions: tuple[str, ...] = ()
    required_tools: tuple[str, ...] = ()
    call_order: Literal["strict", "any", "prefix"] = "strict"
    call_order_prefix: int | None = None

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The indexes of the calls of each group, in order."""
        groups: dict[int, list[int]] = {}
        for index, call in enumerate(self.calls):
            groups.setdefault(call.call_group, []).append(index)
        return tuple(tuple(groups[group]) for group in sorted(groups))


class _Function(msgspec.Struct, frozen=True):
    name: str
    arguments: Any = None


class _MessageCall(msgspec.Struct, frozen=True):
    function: _Function


class _Message(msgspec.Struct, frozen=True):
    role: str
    content: str | None = None
    tool_calls: list[_MessageCall] | None = None


class _Expected(msgspec.Struct, frozen=True):
    turn_index: int
    call_group: int
    position_in_group: int
    function_name: str
    arguments: dict[str, str]


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    task_id: str
    messages: list[_Message]
    tools: str
    expected_tool_calls: list[_Expected]
    template_id: str = ""
    turn_policy: str = ""
    success_assertions: list[str] = []
    required_tools: list[str] = []
    call_order: Literal["strict", "any", "prefix"] = "strict"
    call_order_prefix: int | None = None


Path = tuple[str | int, ...]


class _RowError(Exception):
    """A mistake at a path of a row."""

    def __init__(self, code: str, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.path = path


def gold_tasks(data: bytes, *, file: str | None = None) -> list[GoldTask]:
    """The tasks of a benchmark in JSON Lines, in order; raises as `gold_rows` does."""
    return [task for task, _ in gold_rows(data, file=file)]


def gold_rows(data: bytes, *, file: str | None = None) -> list[tuple[GoldTask, dict[str, Any]]]:
    """The tasks of a benchmark in JSON Lines, in order, each with the whole row that it was read from.

    Raises:
        PackError: with every line that is no row, each with its mistakes, and every task that stands there twice.
    """
    tasks: list[tuple[GoldTask, dict[str, Any]]] = []
    problems: list[Problem] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = jsontext.decode(line).value
            task = gold_task(row, file=file, line=number)
        except jsontext.JSONProblem as problem:
            problems.append(
                Problem(
                    code=problem.code, message=problem.message, file=file, line=number, column=problem.column
                )
            )
        except PackError as error:
            problems += error.problems
        else:
            if task.task_id in lines:
                message = f"the task `{task.task_id}` stands here twice"
                found = f"the same task in line {lines[task.task_id]}"
                problems.append(
                    Problem(code="duplicate_task", message=message, file=file, line=number, found=found)
                )
            lines.setdefault(task.task_id, number)
            tasks.append((task, row))
        if len(problems) >= _MAX_PROBLEMS:
            break
    if problems:
        raise PackError(problems)
    return tasks


def gold_task(row: object, *, file: str | None = None, line: int | None = None) -> GoldTask:
    """The task that a row of a benchmark holds.

    Args:
        row: the row as JSON: `tools` is JSON text, and so is every argument of an expected call.
        file: for problems.
        line: for problems.

    Raises:
        PackError: the row has mistakes.
    """
    read, mistakes = fit(row, _Row)
    if read is None:
        raise PackError(
            [
                Problem(
                    code=mistake.code,
                    message=mistake.message,
                    file=file,
                    line=line,
                    path=path_text(mistake.path),
                    expected=mistake.expected,
                    found=mistake.found,
                )
                # Rows have more columns than are read here.
                for mistake in mistakes
                if mistake.code != "unknown_field"
            ]
        )
    try:
        calls = tuple(_calls(read))
        return GoldTask(
            task_id=read.task_id,
            template_id=read.template_id,
            turn_policy=read.turn_policy,
            calls=calls,
            turns=tuple(_turns(read, calls)),
            tools=_tools(read.tools),
            success_assertions=tuple(read.success_assertions),
            required_tools=tuple(read.required_tools),
            call_order=read.call_order,
            call_order_prefix=read.call_order_prefix,
        )
    except _RowError as error:
        raise PackError(
            [
                Problem(
                    code=error.code, message=error.message, file=file, line=line, path=path_text(error.path)
                )
            ]
        ) from None


def _calls(row: _Row) -> Iterator[GoldCall]:
    if len(row.expected_tool_calls) > MAX_GOLD_CALLS:
        message = (
            f"a task may expect {MAX_GOLD_CALLS} calls, and this one expects {len(row.expected_tool_calls)}"
        )
        raise _RowError("too_many_gold_calls", message, "expected_tool_calls")
    for index, call in enumerate(row.expected_tool_calls):
        place = ("expected_tool_calls", index, "arguments")
        yield GoldCall(
            turn_index=call.turn_index,
            call_group=call.call_group,
            position_in_group=call.position_in_group,
            function_name=call.function_name,
            arguments={name: _value(text, *place, name) for name, text in call.arguments.items()},
        )


def _value(text: str, *path: str | int) -> Any:
    try:
        decoded = jsontext.decode(text)
    except jsontext.JSONProblem as problem:
        raise _RowError(problem.code, f"this must be JSON text: {problem.message}", *path) from None
    if decoded.duplicates or decoded.non_finite:
        raise _RowError("not_strict_json", "this JSON text has a key twice, or a number that is none", *path)
    return decoded.value


def _tools(text: str) -> dict[str, Any]:
    entries = _value(text, "tools")
    tools: dict[str, Any] = {}
    for index, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        function = entry.get("function") if isinstance(entry, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(function, dict) or not isinstance(name, str):
            message = f"a tool must have a `function` with a `name`, and this is {describe(entry)}"
            raise _RowError("tool_function_not_object", message, "tools", index)
        tools[name] = function.get("parameters", {})
    return tools


def _turns(row: _Row, calls: tuple[GoldCall, ...]) -> Iterator[GoldTurn]:
    """The assistant's turns, by the messages; the expected calls must be those that the messages make."""
    said: str | None = None
    place = 0
    heard = False  # since the last turn that was yielded
    for index, message in enumerate(row.messages):
        if message.role == "assistant" and message.tool_calls:
            made = range(place, place + len(message.tool_calls))
            _compare_made(message, calls[place : made.stop], index)
            yield GoldTurn(calls=tuple(made), text=said, heard_user=heard)
            place, said, heard = made.stop, None, False
        elif message.role in {"assistant", "user"}:
            if said is not None:
                yield GoldTurn(text=said, heard_user=heard)
                heard = False
            heard = heard or message.role == "user"
            said = message.content or "" if message.role == "assistant" else None
    if said is not None:
        yield GoldTurn(text=said, heard_user=heard)
    if place != len(calls):
        raise _RowError(
            "gold_row_inconsistent",
            f"the messages make {place} calls, and {len(calls)} are expected",
            "expected_tool_calls",
        )


def _compare_made(message: _Message, expected: tuple[GoldCall, ...], index: int) -> None:
    made = [call.function.name for call in message.tool_calls or ()]
    if made != [call.function_name for call in expected] or len({call.call_group for call in expected}) != 1:
        raise _RowError(
            "gold_row_inconsistent",
            "the calls of this message are not the expected calls of one group",
            "messages",
            index,
            "tool_calls",
        )
