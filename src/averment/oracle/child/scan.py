"""What Python code of a pack reads or changes of the world around it, as far as its text shows.

An oracle that reads the clock, draws unseeded randomness or asks the environment gives another answer tomorrow, on
another machine, or in the next process. Certification finds that by running packs in two worlds that differ; the scan
names the line. It reports what it is sure of: names are followed through imports, aliases, plain assignments and
shadowing, and what can't be followed is passed over. So a clean scan proves nothing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from averment.oracle.child import scan_names as known
from averment.oracle.child.bindings import Names, Scope, Visit
from averment.oracle.child.scan_names import CODES
from averment.oracle.child.syntax import UnparsableError, parse

__all__ = ["CODES", "scan"]

_SAYS = {
    "reads_clock": "reads the clock",
    "unseeded_random": "is randomness that follows from no seed",
    "reads_environment": "depends on the machine or the process",
    "reads_file": "looks at a file that is not found from the module's own place",
    "writes_file": "writes files",
    "uses_network": "uses the network",
    "starts_process": "starts a process",
    "starts_thread": "starts a thread",
    "native_code": "calls native code",
}
_EXCEPTIONS = ("Error", "Exception", "Timeout", "Warning", "Expired")
_OWN_SETTINGS = frozenset({"sys.dont_write_bytecode", "sys.path"})
_ORDERS = frozenset({"builtins.list", "builtins.tuple", "builtins.enumerate", "builtins.iter"})
_ORDER_IS_NO_MATTER = frozenset(
    f"builtins.{name}" for name in ("sorted", "set", "frozenset", "len", "sum", "min", "max", "any", "all")
) | {"collections.Counter"}
_SET_OPERATORS = (ast.Sub, ast.BitAnd, ast.BitOr, ast.BitXor)
_PRINTS = frozenset(f"builtins.{name}" for name in ("str", "repr", "hex", "format"))
_IN_MEMORY = (":memory:", "file::memory:")
_MOST_HOPS = 20  # steps and assignments on the way to what a path is made from
_TELLING = (ast.Name, ast.Lambda, ast.comprehension)  # the parts of a place that may leave it open

_Found = tuple[ast.expr, str, str, str]
"""The node, the code, the name and the sentence."""


def scan(source: str, local: Collection[str] = ()) -> list[dict[str, Any]]:
    """What a file reads or changes of the world.

    Args:
        source: the text of the file; the caller bounds its size.
        local: top-level names of the pack's own modules, which may be called like one of Python's.

    Returns:
        `{code, line, column, name, message}` in the order of the text; codes are those of `CODES`, lines and columns
        start at 1, the message is one sentence without a full stop. A file that is not Python has one, `unparsable`.
    """
    try:
        tree = parse(source)
    except UnparsableError as error:
        return [_entry("unparsable", (error.line, error.column), "", error.message)]
    entries = {
        (*tree.place(node), code, name): _entry(code, tree.place(node), name, message)
        for node, code, name, message in _Scan(Names(tree.module, local)).findings()
    }
    return [entries[key] for key in sorted(entries)]


def _entry(code: str, place: tuple[int, int], name: str, message: str) -> dict[str, Any]:
    return {"code": code, "line": place[0], "column": place[1], "name": name, "message": message}


class _Scan:
    """The rules, applied to one file."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._foreign: dict[ast.expr, bool] = {}
        calls = [visit for visit in names.visits if isinstance(visit.node, ast.Call)]
        seeds = {
            self._called(visit.node, visit.scope)
            for visit in calls
            if isinstance(visit.node, ast.Call) and _is_seeded(visit.node)
        }
        self._shared_is_seeded = "random.seed" in seeds
        self._numpy_is_seeded = "numpy.random.seed" in seeds
        self._sorted_later = {name for visit in names.visits for name in self._sorted(visit)}

    def findings(self) -> Iterator[_Found]:
        """Everything that is found, in no particular order."""
        for visit in self._names.visits:
            node = visit.node
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                yield from self._reference(node, visit.scope)
            elif isinstance(node, ast.Call):
                yield from self._call(node, visit)
            elif isinstance(node, (ast.Attribute, ast.Subscript)):
                yield from self._patched(node, visit.scope)
            elif isinstance(node, ast.ListComp) and self._is_set(node.generators[0].iter, visit.scope):
                yield from self._set_order(node.generators[0].iter, visit)

    def _called(self, node: ast.Call, scope: Scope) -> str:
        return self._names.full_name(node.func, scope) or ""

    def _reference(self, node: ast.Name | ast.Attribute, scope: Scope) -> Iterator[_Found]:
        # An alias made by an assignment was reported where it was made.
        name = self._names.full_name(node, scope, through_values=isinstance(node, ast.Attribute)) or ""
        code = known.REFERENCES.get(name)
        if name in known.RANDOM_FUNCTIONS and not self._shared_is_seeded:
            code = "unseeded_random"
        if code is not None:
            yield node, code, name, _says(code, name)

    def _call(self, node: ast.Call, visit: Visit) -> Iterator[_Found]:
        scope = visit.scope
        name = self._called(node, scope)
        code = self._code(node, name) or self._file_code(node, name, scope)
        if code:
            yield node, code, name, _says(code, name)
        elif isinstance(node.func, ast.Attribute):
            yield from self._method(node, node.func, scope)
        if name == "builtins.hash" and not scope.within("__hash__") and not _is_number(node.args):
            yield node, "hash_order", "hash", "`hash` of anything with strings differs in every process"
        elif name == "builtins.id" and self._is_printed(visit) and not scope.within("__repr__"):
            yield node, "hash_order", "id", "`id` is a place in memory, and differs in every process"
        elif name in {"builtins.setattr", "builtins.delattr"} and len(node.args) > 1:
            owner = self._names.full_name(node.args[0], scope)
            if owner is not None and _is_of_python(owner):
                yield node, "patches_module", owner, f"`{owner}` is changed for the whole process"
        if self._makes_order(node, name, scope):
            yield from self._set_order(node, visit)

    def _code(self, node: ast.Call, name: str) -> str | None:
        """The code of a call that its name and the number of its arguments decide."""
        if name in known.CALLS:
            return known.CALLS[name]
        if name in known.SEEDED:
            return None if _is_seeded(node) else "unseeded_random"
        if name in known.WITHOUT_ARGUMENTS:
            needed, without, with_all = known.WITHOUT_ARGUMENTS[name]
            if any(isinstance(each, ast.Starred) for each in node.args):
                return None
            return (without if _given(node) < needed else with_all) or None
        if name in known.HARMLESS or name in known.REFERENCES or "()" in name or name.endswith(_EXCEPTIONS):
            return None
        if name.startswith("numpy.random.") and self._numpy_is_seeded:
            return None
        package = name
        while "." in package:
            package = package.rpartition(".")[0]
            if package in known.PACKAGES:
                return known.PACKAGES[package]
        return None

    def _file_code(self, node: ast.Call, name: str, scope: Scope) -> str | None:
        """The code of a call of a function that opens or looks at files."""
        if name in known.OPENERS and node.args:
            if _writes(node, 1):
                return "writes_file"
            return "reads_file" if self._is_foreign(node.args[0], scope) else None
        if name in known.READS_OF_FILES and all(self._is_foreign(each, scope) for each in node.args):
            return "reads_file"
        if name == "sqlite3.connect" and node.args and isinstance(node.args[0], ast.Constant):
            place = node.args[0].value
            in_memory = not place or (isinstance(place, str) and place.startswith(_IN_MEMORY))
            return None if in_memory else "writes_file"
        return None

    def _method(self, node: ast.Call, method: ast.Attribute, scope: Scope) -> Iterator[_Found]:
        """Methods that are told by their names, or by what they are called on."""
        if method.attr == "astimezone" and not node.args and not node.keywords:
            message = "`astimezone` without an argument depends on the time zone of the machine"
            yield node, "reads_environment", "datetime.datetime.astimezone", message
        if method.attr not in {"open", *known.PATH_READS, *known.PATH_WRITES}:
            return
        is_path = self._is_path(method.value, scope)
        writes = method.attr in known.PATH_WRITES or (method.attr == "open" and _writes(node, 0))
        code = None
        if (is_path and writes) or method.attr in known.METHODS_THAT_WRITE:
            code = "writes_file"
        elif is_path and self._is_foreign(method.value, scope):
            code = "reads_file"
        if code is not None:
            name = f"pathlib.Path.{method.attr}"
            yield node, code, name, _says(code, name)

    def _is_path(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression is made from a call of `pathlib.Path`."""
        for _ in range(_MOST_HOPS):
            name = self._names.full_name(node, scope)
            if name is not None:
                return name.startswith("pathlib.Path()")
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                node = node.left
            elif isinstance(node, ast.Call):
                node = node.func
            elif isinstance(node, (ast.Attribute, ast.Subscript)):
                node = node.value
            elif isinstance(node, ast.Name):
                found = self._names.meaning(node.id, scope)
                if found is None or not isinstance(found[0], ast.expr):
                    return False
                node, scope = found[0], found[1]
            else:
                return False
        return False

    def _is_foreign(self, node: ast.expr, scope: Scope, hops: int = 0) -> bool:
        """Whether a place of a file is known, and not told from `__file__` or by the caller of a function."""
        known_answer = self._foreign.get(node)
        if known_answer is not None:
            return known_answer
        self._foreign[node] = False  # for a name that is assigned in terms of itself
        answer = hops < _MOST_HOPS and all(
            self._part_is_foreign(part, scope, hops) for part in ast.walk(node) if isinstance(part, _TELLING)
        )
        self._foreign[node] = answer
        return answer

    def _part_is_foreign(self, part: ast.AST, scope: Scope, hops: int) -> bool:
        if not isinstance(part, ast.Name):
            return False
        meaning, owner = self._names.meaning(part.id, scope) or (None, scope)
        if isinstance(meaning, ast.expr):
            return self._is_foreign(meaning, owner, hops + 1)
        return meaning is not None and not meaning.startswith(("builtins.__", "importlib", "inspect"))

    def _patched(self, node: ast.Attribute | ast.Subscript, scope: Scope) -> Iterator[_Found]:
        """Assignments to attributes of Python's own modules, and to the tables behind them."""
        if isinstance(node.ctx, ast.Load):
            return
        owner = self._names.full_name(node.value, scope)
        if owner is None or not _is_of_python(owner):
            return
        if isinstance(node, ast.Attribute):
            name = f"{owner}.{node.attr}"
            if name not in _OWN_SETTINGS:
                yield node, "patches_module", name, f"`{name}` is changed for the whole process"
        elif owner == "sys.modules" or owner.endswith(".__dict__"):
            yield node, "patches_module", owner, f"`{owner}` is changed for the whole process"

    def _is_set(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression is surely a set, of things that may well be strings."""
        if isinstance(node, ast.Set):
            return any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in node.elts)
        if isinstance(node, ast.SetComp):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, _SET_OPERATORS):
            sides = (node.left, node.right)
            return any(not isinstance(side, ast.BinOp) and self._is_set(side, scope) for side in sides)
        return (
            isinstance(node, ast.Call)
            and bool(node.args)
            and self._called(node, scope) in {"builtins.set", "builtins.frozenset"}
        )

    def _makes_order(self, node: ast.Call, name: str, scope: Scope) -> bool:
        """Whether a call puts what a set holds into the order in which it holds it."""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if isinstance(node.func, ast.Attribute) and method == "pop" and not node.args:
            return self._is_set(node.func.value, scope)
        return bool(node.args) and (name in _ORDERS or method == "join") and self._is_set(node.args[0], scope)

    def _set_order(self, node: ast.expr, visit: Visit) -> Iterator[_Found]:
        parent = visit.parent
        if isinstance(parent, ast.Call) and self._called(parent, visit.scope) in _ORDER_IS_NO_MATTER:
            return
        targets = parent.targets if isinstance(parent, ast.Assign) else []
        if any(isinstance(each, ast.Name) and each.id in self._sorted_later for each in targets):
            return
        yield node, "hash_order", "set", "the order of a set of strings differs in every process"

    def _sorted(self, visit: Visit) -> Iterator[str]:
        """Names whose values are put into an order somewhere."""
        node = visit.node
        if not isinstance(node, ast.Call):
            return
        if isinstance(node.func, ast.Attribute) and node.func.attr == "sort":
            if isinstance(node.func.value, ast.Name):
                yield node.func.value.id
        elif self._called(node, visit.scope) in _ORDER_IS_NO_MATTER:
            yield from (each.id for each in node.args if isinstance(each, ast.Name))

    def _is_printed(self, visit: Visit) -> bool:
        if isinstance(visit.parent, ast.FormattedValue):
            return True
        return isinstance(visit.parent, ast.Call) and self._called(visit.parent, visit.scope) in _PRINTS


def _says(code: str, name: str) -> str:
    return f"`{name.removeprefix('builtins.')}` {_SAYS[code]}"


def _given(node: ast.Call) -> int:
    """How many arguments a call gives; None at the end is what leaving it out is."""
    values = [*node.args, *(each.value for each in node.keywords)]
    while values and isinstance(values[-1], ast.Constant) and values[-1].value is None:
        values.pop()
    return len(values)


def _is_seeded(node: ast.Call) -> bool:
    return _given(node) > 0


def _is_number(nodes: Sequence[ast.expr]) -> bool:
    return all(isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) for node in nodes)


def _writes(node: ast.Call, place: int) -> bool:
    """Whether the mode of a call that opens a file lets it write."""
    given = [each.value for each in node.keywords if each.arg == "mode"] or node.args[place : place + 1]
    mode = given[0] if given else None
    return (
        isinstance(mode, ast.Constant)
        and isinstance(mode.value, str)
        and not set("wax+").isdisjoint(mode.value)
    )


def _is_of_python(name: str) -> bool:
    """Whether a name is a module of the standard library or something in one, and no new object."""
    return name.partition(".")[0] in sys.stdlib_module_names and "()" not in name
