"""The contract of `assertions.py`: which predicates a file exports, whether each keeps it, and what a run comes to.

A predicate is a function `assert_x(*, state, trace, task, ctx)`. It passes by returning None, fails by raising
`AssertionError`, and says that it does not apply by returning `{"status": "not_applicable", "detail": why}`. Whatever
else happens is an error of the predicate, and says nothing about what it judges.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Mapping
from types import CoroutineType, GeneratorType, ModuleType, TracebackType
from typing import Any

from averment.oracle.child.capabilities import CapabilityMistake, read_capabilities
from averment.oracle.child.frozen import frozen
from averment.oracle.child.signatures import code_file, lines_of, read_signature
from averment.oracle.child.syntax import Tree, UnparsableError, parse
from averment.oracle.child.tracking import watched

__all__ = ["MOST_DETAIL", "exports", "inspect_exports", "run_assertion"]

MOST_DETAIL = 2000
"""The longest detail of an outcome, in characters."""

_MOST_SOURCE_LINE = 200
_PREFIX = "assert_"
_type_name: Callable[[type], str] = type.__dict__["__name__"].__get__  # a metaclass can't answer in its place


def exports(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """The predicates that a module exports, in the order in which it names them.

    Where `ASSERTIONS` is a dict, its callable entries, whatever their names; else every callable attribute whose name
    starts with `assert_`, imported ones included. A run looks names up here as well, so nothing else can be run.
    """
    table = vars(module).get("ASSERTIONS")
    if isinstance(table, dict):
        return {_text(key): value for key, value in table.items() if callable(value)}
    return {
        name: value for name, value in vars(module).items() if name.startswith(_PREFIX) and callable(value)
    }


def inspect_exports(module: ModuleType, source: str) -> dict[str, Any]:
    """What there is to know of a file's predicates without running one.

    Args:
        module: the imported module.
        source: its text.

    Returns:
        `exports`: by name, in the order of the module: `line`; `signature` (`valid, missing, extras, detail`, see
        `read_signature`); `is_async`, `is_generator`; `capabilities`, or None and `capability_error`, a sentence, with
        `capability_mistakes`, each `{message, line, column}`.
        `capability_mistakes`: those of the declaration as a whole; they stand with every export too.
        `oddities`: `{code, name, line, message}` for what looks like a predicate and is not exported:
        `assertion_not_callable`, an entry of `ASSERTIONS`; `assertion_not_exported`, a function `assert_...` that
        `ASSERTIONS` does not have.
    """
    functions = exports(module)
    tree: Tree | None
    try:
        tree = parse(source)
    except UnparsableError:
        tree = None
    lines = lines_of(module, functions, tree)
    has_it = "ASSERTION_CAPABILITIES" in vars(module)
    capabilities, mistakes = read_capabilities(source, functions, module_has_it=has_it)
    whole = mistakes.get(None, [])
    found = {}
    for name, function in functions.items():
        signature = read_signature(function)
        own = [*whole, *mistakes.get(name, [])]
        found[name] = {
            "line": lines[name],
            "is_async": signature.pop("is_async"),
            "is_generator": signature.pop("is_generator"),
            "signature": signature,
            "capabilities": None if own else capabilities[name],
            "capability_error": "; ".join(mistake.message for mistake in own) or None,
            "capability_mistakes": _plain(own),
        }
    return {
        "exports": found,
        "capability_mistakes": _plain(whole),
        "oddities": _oddities(module, functions, tree),
    }


def _plain(mistakes: list[CapabilityMistake]) -> list[dict[str, Any]]:
    return [mistake._asdict() for mistake in mistakes]


def _oddities(module: ModuleType, exported: Mapping[str, Any], tree: Tree | None) -> list[dict[str, Any]]:
    """What an author will have meant as a predicate and is none."""
    table = vars(module).get("ASSERTIONS")
    if not isinstance(table, dict):
        return []
    found: list[dict[str, Any]] = [
        {
            "code": "assertion_not_callable",
            "name": _text(key),
            "line": None,
            "message": f"the entry `{_text(key)}` of ASSERTIONS is of type {_type_name(type(value))}, and is ignored",
        }
        for key, value in table.items()
        if not callable(value)
    ]
    known = [id(value) for value in exported.values()]
    missed = {
        name: value
        for name, value in vars(module).items()
        if name.startswith(_PREFIX)
        and name not in exported
        and callable(value)
        and id(value) not in known
        and code_file(value) == getattr(module, "__file__", None)
    }
    found += [
        {
            "code": "assertion_not_exported",
            "name": name,
            "line": line,
            "message": f"`{name}` is not in ASSERTIONS, and so can't be named by a template",
        }
        for name, line in lines_of(module, missed, tree).items()
    ]
    return found


def run_assertion(
    function: Callable[..., Any],
    name: str,
    *,
    state: Any,
    trace: Any,
    task: Any,
    ctx: Any,
    unresolved: Mapping[str, Any] | None = None,
    file: str | None = None,
) -> dict[str, Any]:
    """Call a predicate, and say what came of it.

    Args:
        function: the predicate, from `exports`.
        name: its name.
        state: the state, JSON; copied and frozen, unless it is frozen already. `trace` and `task` likewise.
        trace: the calls since the last reset.
        task: the bound task.
        ctx: the run context, given as it is.
        unresolved: what is not known of the task, see `tracking.watched`.
        file: the file that lines are told of, as its code names it; None is the one that the predicate stands in.

    Returns:
        `name`; `status`, one of `passed`, `failed`, `not_applicable`, `infrastructure_error`; `passed`, a bool; `detail`,
        None where it passed, at most `MOST_DETAIL` characters; `line`, where in the predicate's file it was raised, or
        None.

    Raises:
        BaseException: what is no `Exception`. A predicate that calls `sys.exit` ends its episode, because code that
            means to end the process can't be trusted to have left it whole.
    """
    state, trace = frozen(state), frozen(trace)
    reads: set[str] = set()
    detail: str | None
    if unresolved and any(unresolved.values()):
        task, reads = watched(task, unresolved)
    else:
        task = frozen(task)
    try:
        returned = function(state=state, trace=trace, task=task, ctx=ctx)
    except Exception as error:  # noqa: BLE001 - each is an outcome
        status, detail, line = _raised(error, file or code_file(function))
    else:
        (status, detail), line = _returned(returned), None
    if reads:
        # Before anything else that happened: a verdict on a value that is not known is none.
        listed = ", ".join(f"`{path}`" for path in sorted(reads))
        status = "infrastructure_error"
        detail = f"UnresolvedAssertionBinding: it reads what could not be reconstructed of the task: {listed}"
    return {
        "name": name,
        "status": status,
        "passed": status == "passed",
        "detail": None if detail is None else _bounded(detail, MOST_DETAIL),
        "line": line,
    }


def _raised(error: Exception, file: str | None) -> tuple[str, str, int | None]:
    """Status, detail and line of what was raised and is being handled."""
    line, text = _raised_at(file)
    said = _said(error)
    if not isinstance(error, AssertionError):
        kind = _type_name(type(error))
        return "infrastructure_error", f"{kind}: {said}" if said.strip() else kind, line
    if said.strip():
        return "failed", said, line
    return "failed", f"`{text}` (line {line})" if text else "AssertionError", line


def _returned(returned: Any) -> tuple[str, str | None]:
    """Status and detail of what was returned."""
    if returned is None:
        return "passed", None
    try:
        detail = _not_applicable(returned)
        if detail is not None:
            return "not_applicable", detail
        broken = _contract_broken(returned)
    except Exception as error:  # noqa: BLE001 - a mapping of a pack can raise anything when it is read
        broken = f"what it returned can't be read ({_type_name(type(error))})"
    return "infrastructure_error", f"AssertionContractError: {broken}"


def _not_applicable(returned: Any) -> str | None:
    """The detail of a mapping that says so in full."""
    if not isinstance(returned, Mapping):
        return None
    status, detail = returned.get("status"), returned.get("detail")
    if not (isinstance(status, str) and isinstance(detail, str)):
        return None
    detail = str.__str__(detail)
    return detail if str.__str__(status) == "not_applicable" and detail.strip() else None


def _contract_broken(returned: Any) -> str:
    """What is wrong with a value that a predicate returned."""
    passes = "a predicate passes by returning None and fails by raising AssertionError"
    if isinstance(returned, Mapping):
        return (
            'it returned a mapping; the only one with a meaning is {"status": "not_applicable", "detail": ...}, '
            "where the detail is text that is not blank"
        )
    if returned is True or returned is False:
        return f"it returned {returned}; {passes}"
    if type(returned) in {CoroutineType, GeneratorType}:
        returned.close()  # nothing of it has run, and Python would warn that nothing did
        return f"it returned a {_type_name(type(returned))}, and nothing of it ran; write it with `def`, without `yield`"
    return f"it returned a value of type {_type_name(type(returned))}; {passes}"


def _raised_at(file: str | None) -> tuple[int | None, str]:
    """The innermost line of the file that what is being handled came through, and that line's text."""
    last: TracebackType | None = None
    trace = sys.exc_info()[2]
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            last = trace
        trace = trace.tb_next
    if last is None or file is None:
        return None, ""
    text = linecache.getline(file, last.tb_lineno, last.tb_frame.f_globals).strip()
    return last.tb_lineno, _bounded(text, _MOST_SOURCE_LINE)


def _said(error: Exception) -> str:
    try:
        return str.__str__(str(error))
    except Exception as second:  # noqa: BLE001 - an exception of a pack can refuse to be printed
        return f"its text can't be had ({_type_name(type(second))})"


def _text(key: object) -> str:
    try:
        return str.__str__(str(key))
    except Exception:  # noqa: BLE001 - a key of a pack can refuse to be printed
        return _type_name(type(key))


def _bounded(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
