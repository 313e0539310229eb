"""Whether a predicate can be called as it will be, and where in its file it stands.

That is proven on what is really called, by binding the four keywords: neither `__wrapped__` nor `__signature__` is
believed, which say what some other function takes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from averment.oracle.child.syntax import Tree

__all__ = ["KEYWORDS", "code_file", "lines_of", "read_signature", "underlying"]

KEYWORDS = ("state", "trace", "task", "ctx")
"""What a predicate is called with, each by keyword."""

_MOST_LAYERS = 20


def read_signature(function: Callable[..., Any]) -> dict[str, Any]:
    """Whether the four keywords can be bound, and what comes of the call whatever the body says.

    Returns:
        `valid`; `missing`, those of the four that can't be given by keyword; `extras`, parameters that would have to be
        given as well; `detail`, one sentence without a full stop where it is not valid, else None; `is_async` and
        `is_generator`, for functions whose call runs nothing.
    """
    found: dict[str, Any] = {
        "valid": False,
        "missing": [],
        "extras": [],
        "detail": None,
        "is_async": False,
        "is_generator": False,
    }
    try:
        _read(function, found)
    except Exception as error:  # noqa: BLE001 - objects of a pack can answer anything to questions about themselves
        found["detail"] = f"its signature can't be read ({type(error).__name__})"
    found["valid"] = found["detail"] is None
    return found


def _read(function: Callable[..., Any], found: dict[str, Any]) -> None:
    import inspect

    if isinstance(function, type):
        found["detail"] = "it is a class: a call makes an object, and an object is no outcome"
        return
    base = underlying(function)
    found["is_async"] = inspect.iscoroutinefunction(base) or inspect.isasyncgenfunction(base)
    found["is_generator"] = inspect.isgeneratorfunction(base)
    try:
        signature = inspect.signature(_bare(function), follow_wrapped=False)
    except ValueError:
        found["detail"] = "it has no signature that can be read: write a function in Python around it"
        return
    parameters = signature.parameters
    open_ended = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    positional_only = {name for name, each in parameters.items() if each.kind is each.POSITIONAL_ONLY}
    found["missing"] = [
        name for name in KEYWORDS if name in positional_only or (name not in parameters and not open_ended)
    ]
    found["extras"] = [
        name
        for name, each in parameters.items()
        if name not in KEYWORDS
        and each.default is each.empty
        and each.kind not in {each.VAR_POSITIONAL, each.VAR_KEYWORD}
    ]
    try:
        signature.bind(**dict.fromkeys(KEYWORDS))
        bound = True
    except TypeError:
        bound = False
    if not bound or found["missing"] or found["extras"]:
        found["detail"] = _why_not(found)
    elif found["is_async"]:
        found["detail"] = "it is `async`: a call runs nothing of it"
    elif found["is_generator"]:
        found["detail"] = "it has a `yield`: a call runs nothing of it"


def _why_not(found: Mapping[str, Any]) -> str:
    said = []
    if found["missing"]:
        said.append(f"it does not take the keywords {_listed(found['missing'])}")
    if found["extras"]:
        said.append(f"it requires {_listed(found['extras'])} as well")
    return " and ".join(said) or "the keywords can't be bound"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def underlying(function: Any) -> Any:
    """The Python function that a call arrives at: inside a partial, behind a method, a callable object's `__call__`."""
    import functools

    for _ in range(_MOST_LAYERS):
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, MethodType):
            function = function.__func__
        elif isinstance(function, (FunctionType, type)):
            break
        else:
            call = _python_call(function)
            if call is None:
                break
            function = call
    return function


def _python_call(value: object) -> FunctionType | None:
    call = getattr(type(value), "__call__", None)  # noqa: B004 - it is looked at, not asked for
    return call if isinstance(call, FunctionType) else None


def _bare(function: Any) -> Any:
    """The same call without what it says of itself: a function is made anew from its code."""
    import functools

    if isinstance(function, FunctionType):
        bare = FunctionType(
            function.__code__, {}, function.__name__, function.__defaults__, function.__closure__
        )
        bare.__kwdefaults__ = function.__kwdefaults__
        return bare
    if isinstance(function, MethodType) and isinstance(function.__func__, FunctionType):
        return MethodType(_bare(function.__func__), function.__self__)
    if isinstance(function, functools.partial) and isinstance(function.func, (FunctionType, MethodType)):
        return functools.partial(_bare(function.func), *function.args, **function.keywords)
    call = _python_call(function)
    return function if call is None else MethodType(_bare(call), function)


def _written(function: object) -> CodeType | None:
    """The code that the author wrote: a decorator's wrapper says by `__wrapped__` what it stands for."""
    layer = underlying(function)
    for _ in range(_MOST_LAYERS):
        wrapped = getattr(layer, "__dict__", {}).get("__wrapped__")
        if wrapped is None:
            break
        layer = underlying(wrapped)
    code = getattr(layer, "__code__", None)
    return code if isinstance(code, CodeType) else None


def code_file(function: object) -> str | None:
    """The file that a predicate was written in, as its code names it."""
    try:
        code = _written(function)
    except Exception:  # noqa: BLE001 - as in `read_signature`
        return None
    return None if code is None else code.co_filename


def lines_of(module: ModuleType, functions: Mapping[str, Any], tree: Tree | None) -> dict[str, int | None]:
    """The line of each exported predicate in the module's file.

    That of its `def` where it was written there, below its decorators if it has some; else that of the statement that
    brings its name in.

    Args:
        module: the imported module.
        functions: the predicates by exported name.
        tree: the parsed file, or None where it can't be parsed.
    """
    file = getattr(module, "__file__", None)
    definitions: dict[int, int] = {}
    statements: dict[str, int] = {}
    for node in ast.walk(tree.module) if tree is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            definitions[min([node.lineno, *(each.lineno for each in node.decorator_list)])] = node.lineno
    for node in tree.module.body if tree is not None else ():
        for name in _bound_names(node):
            statements[name] = node.lineno
    return {
        name: _line(function, name, file, definitions, statements) for name, function in functions.items()
    }


def _line(
    function: object,
    name: str,
    file: str | None,
    definitions: Mapping[int, int],
    statements: Mapping[str, int],
) -> int | None:
    try:
        code = _written(function)
    except Exception:  # noqa: BLE001 - as in `read_signature`
        code = None
    if code is not None and code.co_filename == file:
        return definitions.get(code.co_firstlineno, code.co_firstlineno)
    return statements.get(name)


def _bound_names(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name for alias in node.names]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []
