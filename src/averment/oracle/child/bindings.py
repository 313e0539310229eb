"""Which name of which module an expression means, as far as the text of a file tells.

Imports and their aliases, attribute chains, plain assignments and shadowing are followed. Where a name is bound twice
in one scope, is a parameter, or comes out of anything else, nobody knows what it means, and nothing is said of it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from typing import NamedTuple

__all__ = ["Names", "Scope", "Visit"]

_MOST_HOPS = 10  # assignments that are followed
_MOST_PARTS = (
    30  # of a chain: every node of a chain is looked at, which must not take the square of its length
)
_BUILTINS = frozenset(dir(builtins))
_MAKES_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

Meaning = str | ast.expr | None
"""What a name is bound to: a full name by an import, the value of its one assignment, or something unknown."""


class Scope:
    """The names of a module, a class body, a function or a comprehension.

    Attributes:
        parent: the scope around it.
        name: the function's or the class's name.
        is_class: functions inside don't see its names.
        names: what each means.
    """

    __slots__ = ("is_class", "name", "names", "parent")

    def __init__(self, parent: Scope | None, name: str = "", *, is_class: bool = False) -> None:
        self.parent = parent
        self.name = name
        self.is_class = is_class
        self.names: dict[str, Meaning] = {}

    def bind(self, name: str, meaning: Meaning) -> None:
        """Add a binding; a second one that says something else leaves the name unknown."""
        known = self.names.get(name, meaning)
        self.names[name] = meaning if known == meaning else None

    def within(self, name: str) -> bool:
        """Whether this is, or lies in, a function or class of that name."""
        scope: Scope | None = self
        while scope is not None:
            if scope.name == name:
                return True
            scope = scope.parent
        return False


class Visit(NamedTuple):
    """A node of a file, the scope that it is evaluated in, and the node around it."""

    node: ast.AST
    scope: Scope
    parent: ast.AST | None


class Names:
    """The scopes of a file.

    Attributes:
        visits: the file's nodes in the order of the text, without annotations, and without what runs only where the
            file is a program (`if __name__ == "__main__"`).

    Args:
        module: the parsed file.
        local: top-level names of modules that stand beside the file; imports of those are not followed.
    """

    def __init__(self, module: ast.Module, local: Collection[str] = ()) -> None:
        self._local = frozenset(local)
        self._top = Scope(None)
        self.visits: list[Visit] = []
        waiting: list[Visit] = [Visit(module, self._top, None)]
        while waiting:  # by hand: a chain of a thousand operators is a thousand levels deep
            visit = waiting.pop()
            self.visits.append(visit)
            self._bind(visit)
            waiting += reversed([Visit(child, scope, visit.node) for child, scope in self._children(visit)])

    def full_name(self, node: ast.expr, scope: Scope, *, through_values: bool = True) -> str | None:
        """The full name that an expression means, `os.environ`, or None.

        A call inside stands as `()`: `Path("a").parent` is `pathlib.Path().parent`.

        Args:
            node: a name, an attribute or a call.
            scope: where it is evaluated.
            through_values: follow names that were assigned a value, not only imported ones.
        """
        parts: list[str] = []
        for _ in range(_MOST_HOPS):
            while not isinstance(node, ast.Name):
                if len(parts) == _MOST_PARTS:
                    return None
                if isinstance(node, ast.Attribute):
                    parts.append("." + node.attr)
                    node = node.value
                elif isinstance(node, ast.Call):
                    parts.append("()")
                    node = node.func
                else:
                    return None
            found = self.meaning(node.id, scope)
            if found is None:
                return None
            meaning, owner = found
            if isinstance(meaning, str):
                return meaning + "".join(reversed(parts))
            if meaning is None or not through_values:
                return None
            node, scope = meaning, owner
        return None

    def meaning(self, name: str, scope: Scope) -> tuple[Meaning, Scope] | None:
        """What a name means where it is read, and the scope that it is bound in; None for an unknown builtin."""
        current: Scope | None = scope
        while current is not None:
            if name in current.names and (current is scope or not current.is_class):
                return current.names[name], current
            current = current.parent
        return (f"builtins.{name}", self._top) if name in _BUILTINS else None

    def _children(self, visit: Visit) -> Iterator[tuple[ast.AST, Scope]]:
        """The parts that are evaluated, each with its scope."""
        node, scope, _ = visit
        if isinstance(node, _MAKES_SCOPE):
            yield from self._definition(node, scope)
        elif isinstance(node, _COMPREHENSIONS):
            inner = Scope(scope)
            yield from ((child, inner) for child in ast.iter_child_nodes(node))
        elif isinstance(node, ast.AnnAssign):
            yield from ((child, scope) for child in (node.target, node.value) if child is not None)
        elif isinstance(node, ast.If) and _is_main(node.test):
            yield from ((child, scope) for child in node.orelse)
        else:
            yield from ((child, scope) for child in ast.iter_child_nodes(node))

    def _definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef, scope: Scope
    ) -> Iterator[tuple[ast.AST, Scope]]:
        name = "" if isinstance(node, ast.Lambda) else node.name
        inner = Scope(scope, name, is_class=isinstance(node, ast.ClassDef))
        outside: list[ast.expr] = [] if isinstance(node, ast.Lambda) else list(node.decorator_list)
        if isinstance(node, ast.ClassDef):
            outside += [*node.bases, *(each.value for each in node.keywords)]
        else:
            arguments = node.args
            outside += [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
            for argument in every:
                inner.bind(argument.arg, None)
        yield from ((child, scope) for child in outside)
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
        yield from ((child, inner) for child in body)

    def _bind(self, visit: Visit) -> None:
        """Note the names that a node binds."""
        node, scope, parent = visit
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            scope.bind(node.id, _value_of(node, parent))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            scope.bind(node.name, None)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                scope.bind(name, self._followed(alias.name if alias.asname else name))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                module = None if node.level or node.module is None else self._followed(node.module)
                scope.bind(alias.asname or alias.name, module and f"{module}.{alias.name}")
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            for name in node.names:
                self._top.bind(name, None)
                scope.bind(name, None)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            scope.bind(node.name, None)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            scope.bind(node.rest, None)

    def _followed(self, module: str) -> str | None:
        return None if module.partition(".")[0] in self._local else module


def _value_of(node: ast.Name, parent: ast.AST | None) -> Meaning:
    """The value of a plain assignment to one name."""
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and parent.targets[0] is node:
        return parent.value
    if isinstance(parent, ast.AnnAssign) and parent.target is node:
        return parent.value
    return None


def _is_main(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and isinstance(test.ops[0], ast.Eq)
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value == "__main__"
    )
