"""Calls written as Python source: `[hotel.book(nights=2), taxi(to="airport")]`, a tuple of calls, or one call.

The text is parsed and its tree is read; nothing is looked up or run. Only literals are values, so that reading needs
no judgement: names, arithmetic and calls inside arguments leave those arguments unread.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from typing import Any

import msgspec

__all__ = ["PythonCall", "looks_like_calls", "python_calls"]

_MAX_CHARACTERS = 2**16
"""The longest source that is parsed: Python's own parser takes memory many times its size."""
_MAX_DEPTH = 100
"""How deep an argument, or the name of a function, may nest."""

_CALLS = re.compile(r"\s*[\[(]?\s*[^\W\d]\w*(?:\.\w+)*\(")


class PythonCall(msgspec.Struct, frozen=True):
    """One call.

    Attributes:
        name: the function's name, with dots.
        arguments: its named arguments; None where they can't be read.
        problem: why not.
    """

    name: str
    arguments: dict[str, Any] | None
    problem: str | None = None


class _UnreadableError(Exception):
    """A value is no literal that JSON has."""


def looks_like_calls(text: str) -> bool:
    """Whether a text begins like calls, whatever follows."""
    return _CALLS.match(text) is not None


def python_calls(text: str) -> list[PythonCall] | None:
    """The calls that a text is, or None when it is something else."""
    text = text.strip()
    if len(text) > _MAX_CHARACTERS or text[-1:] not in (")", "]", ","):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know; the text is not ours
            body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = body.elts if isinstance(body, (ast.List, ast.Tuple)) else [body]
    calls = []
    for node in nodes:
        name = _name(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or name is None:
            return None
        calls.append(_call(name, node))
    return calls


def _name(node: ast.expr) -> str | None:
    """The dotted name that an expression is."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _MAX_DEPTH:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _call(name: str, node: ast.Call) -> PythonCall:
    if node.args:
        return PythonCall(name, None, "some of them have no names")
    arguments: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            return PythonCall(name, None, "some of them are spread from a value")
        try:
            arguments[keyword.arg] = _value(keyword.value, 0)
        except _UnreadableError as problem:
            return PythonCall(name, None, str(problem))
    return PythonCall(name, arguments)


def _value(node: ast.expr, depth: int) -> Any:
    """The JSON value of a literal."""
    if depth > _MAX_DEPTH:
        raise _UnreadableError("one nests too deep")
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = node.operand.value if isinstance(node.operand, ast.Constant) else None
        if type(value) in (int, float):
            value = _constant(value)
            return -value if isinstance(node.op, ast.USub) else value
    elif isinstance(node, (ast.List, ast.Tuple)):
        return [_value(each, depth + 1) for each in node.elts]
    elif isinstance(node, ast.Dict):
        return _object(node, depth)
    raise _UnreadableError("one is no literal")


def _object(node: ast.Dict, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or type(key.value) is not str:
            raise _UnreadableError("one has a key that is no text")
        found[key.value] = _value(value, depth + 1)
    return found


def _constant(value: Any) -> Any:
    if value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value)):
        return value
    raise _UnreadableError("one is a value that JSON does not have")
