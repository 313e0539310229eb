"""`ASSERTION_CAPABILITIES`: what each predicate says of itself, read from the source and never computed.

The declaration is a literal mapping, name of an exported predicate to `{trace, executable, category}`, so that it can
be read without running anything. It is the first assignment to the name at the top level of the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from averment.oracle.child.syntax import Tree, UnparsableError, parse

__all__ = ["CATEGORIES", "DEFAULTS", "CapabilityMistake", "read_capabilities"]

CATEGORIES = ("state", "path", "result", "final_answer", "unclassified")
"""What a verdict is about, and so which metric it counts for."""

DEFAULTS: Mapping[str, Any] = {"trace": False, "executable": True, "category": "unclassified"}
"""What holds for a predicate that declares nothing. `trace`: the trace alone is enough to judge; `executable`: it may
be run against an oracle, and so be named by a template."""

_NAME = "ASSERTION_CAPABILITIES"
_MOST_SHOWN = 80  # characters of a value


class CapabilityMistake(NamedTuple):
    """One mistake in the declaration.

    Attributes:
        message: one sentence without a full stop.
        line: 1-based; None where nothing stands in the file.
        column: 1-based, in code points.
    """

    message: str
    line: int | None = None
    column: int | None = None


def read_capabilities(
    source: str, exported: Iterable[str], *, module_has_it: bool
) -> tuple[dict[str, dict[str, Any]], dict[str | None, list[CapabilityMistake]]]:
    """What the predicates of a file declare.

    Args:
        source: the text of `assertions.py`.
        exported: the names of its predicates.
        module_has_it: the imported module has the attribute.

    Returns:
        The capabilities of each predicate whose declaration is right, defaults filled in; and the mistakes by
        predicate. Those under None concern the declaration as a whole, and then no predicate has capabilities.
    """
    names = list(exported)
    try:
        tree = parse(source)
    except UnparsableError as error:
        message = f"the file can't be parsed: {error.message}"
        return {}, {None: [CapabilityMistake(message, error.line, error.column)]}
    node = _declaration(tree.module)
    if node is None:
        if module_has_it:
            message = f"the module has `{_NAME}`, and no top-level statement `{_NAME} = {{...}}` in the file says so"
            return {}, {None: [CapabilityMistake(message)]}
        return {name: dict(DEFAULTS) for name in names}, {}
    whole = list(_whole(tree, node, names))
    if whole or not isinstance(node, ast.Dict):
        return {}, {None: whole}
    entries = {
        _text(key): value for key, value in _items(node)
    }  # of two with one name the later, as in Python
    mistakes: dict[str | None, list[CapabilityMistake]] = {}
    capabilities = {}
    for name in names:
        entry = entries.get(name)
        found = [] if entry is None else list(_entry_mistakes(tree, name, entry))
        if found:
            mistakes[name] = found
        else:
            capabilities[name] = {**DEFAULTS, **({} if entry is None else ast.literal_eval(entry))}
    return capabilities, mistakes


def _declaration(module: ast.Module) -> ast.expr | None:
    for node in module.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target: ast.expr = node.targets[0]
        elif isinstance(node, ast.AnnAssign):
            target = node.target
        else:
            continue
        if isinstance(target, ast.Name) and target.id == _NAME and node.value is not None:
            return node.value
    return None


def _whole(tree: Tree, node: ast.expr, names: list[str]) -> Iterator[CapabilityMistake]:
    """What is wrong with the declaration as a whole."""
    computed = list(_computed(node))
    for part in computed:
        yield CapabilityMistake(
            f"`{_NAME}` has a computed value; write it out as a literal", *tree.place(part)
        )
    if computed:
        return
    if not isinstance(node, ast.Dict):
        found = type(ast.literal_eval(node)).__name__
        yield CapabilityMistake(f"`{_NAME}` must be a mapping, and is of type {found}", *tree.place(node))
        return
    for key, _ in _items(node):
        name = _text(key)
        if name not in names:
            near = _nearest(name, names)
            hint = f"; did you mean `{near}`?" if near else ""
            message = f"`{_NAME}` names `{name}`, and the file exports no such assertion{hint}"
            yield CapabilityMistake(message, *tree.place(key))


def _computed(node: ast.expr) -> Iterator[ast.expr]:
    """The innermost parts of a value that are no literals."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if _is_literal(part):
            continue
        inner: list[ast.expr] = []
        if isinstance(part, ast.Dict):
            inner = [
                child for child in (*part.keys, *part.values) if child is not None and not _is_literal(child)
            ]
        elif isinstance(part, (ast.List, ast.Tuple, ast.Set)):
            inner = [child for child in part.elts if not _is_literal(child)]
        if inner:
            waiting += reversed(inner)
        else:
            yield part


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _items(node: ast.Dict) -> Iterator[tuple[ast.expr, ast.expr]]:
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            yield key, value


def _text(node: ast.expr) -> str:
    """A literal as text: a string as it is, anything else as it is written, and not at length."""
    value = ast.literal_eval(node)
    if isinstance(value, str):
        return value
    try:
        text = ast.unparse(node)
    except (ValueError, RecursionError):  # an integer of more digits than Python prints
        return type(value).__name__
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"


def _entry_mistakes(tree: Tree, name: str, entry: ast.expr) -> Iterator[CapabilityMistake]:
    if not isinstance(entry, ast.Dict):
        found = type(ast.literal_eval(entry)).__name__
        message = f"the entry of `{name}` must be a mapping, and is of type {found}"
        yield CapabilityMistake(message, *tree.place(entry))
        return
    for key_node, value_node in _items(entry):
        key, value = ast.literal_eval(key_node), ast.literal_eval(value_node)
        if key not in DEFAULTS:
            shown = _text(key_node)
            near = _nearest(shown, DEFAULTS)
            hint = f"; did you mean `{near}`?" if near else f"; the fields are {', '.join(DEFAULTS)}"
            yield CapabilityMistake(
                f"the entry of `{name}` has an unknown field `{shown}`{hint}", *tree.place(key_node)
            )
        elif key == "category" and not (isinstance(value, str) and value in CATEGORIES):
            near = _nearest(value, CATEGORIES) if isinstance(value, str) else None
            hint = f"did you mean `{near}`?" if near else f"the categories are {', '.join(CATEGORIES)}"
            message = f"the entry of `{name}` has an unknown category `{_text(value_node)}`; {hint}"
            yield CapabilityMistake(message, *tree.place(value_node))
        elif key != "category" and not isinstance(value, bool):
            message = f"`{key}` of `{name}` must be True or False, and is `{_text(value_node)}`"
            yield CapabilityMistake(message, *tree.place(value_node))


def _nearest(name: str, known: Iterable[str]) -> str | None:
    import difflib

    matches = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return matches[0] if matches else None
