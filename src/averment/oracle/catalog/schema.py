"""The subset of JSON Schema itself: its keywords, its types, and which schemas apply to one value together.

A value must satisfy a schema, what its `$ref` leads to, and every member of its `allOf`. Those together are found
once, as `Conjuncts`, and everything that looks at values (arguments, defaults) starts from them: so shared parts are
looked at once however often they are referred to, and a schema can't be made to take exponential time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from averment.oracle.catalog import canonical
from averment.text.jsonvalue import is_number, show

__all__ = [
    "KEYWORDS",
    "MAX_STEPS",
    "TYPES",
    "Conjuncts",
    "OutOfStepsError",
    "Schema",
    "Schemas",
    "children",
    "declared_types",
]

Schema = Mapping[str, Any]
Path = tuple[str | int, ...]

KEYWORDS: Final = (
    *("$defs", "definitions", "$ref", "allOf", "type", "description", "title", "default", "examples"),
    *("deprecated", "readOnly", "writeOnly", "format", "enum", "const", "properties", "required"),
    *("additionalProperties", "items", "pattern", "minLength", "maxLength", "minimum", "maximum"),
    *("minItems", "maxItems"),
)
"""The allowed keywords. A constraint that nobody checks would certify calls that nobody checked: others are refused."""

TYPES: Final[dict[str, Callable[[object], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
"""The types. Unlike JSON Schema's, `integer` has no `1.0`: by the canonical equality of packs it is not `1`."""

MAX_STEPS: Final = 1_000_000
"""How much of schemas may be looked at for one value; a pack of ordinary size takes some hundred steps."""


class OutOfStepsError(ValueError):
    """A schema and a value that together take more than `MAX_STEPS`."""

    def __init__(self) -> None:
        super().__init__(f"the schema takes more than {MAX_STEPS:,} steps to follow")


class Conjuncts(NamedTuple):
    """The schemas that apply to one value together.

    Attributes:
        outer_first: each before what its `$ref` leads to and the members of its `allOf`.
        inner_first: each after those.
        unresolved: what is wrong with each `$ref` that can't be followed, one sentence each.
    """

    outer_first: list[Schema]
    inner_first: list[Schema]
    unresolved: list[str]


class Schemas:
    """The schemas of one tool's `parameters`, and the steps that are left to follow them."""

    def __init__(self, parameters: Schema) -> None:
        self.root: Final = parameters
        self._steps = MAX_STEPS
        self._known: dict[tuple[int, ...], Conjuncts] = {}
        self._allowed: dict[int, frozenset[bytes | None]] = {}

    @property
    def is_exhausted(self) -> bool:
        """Whether the steps did not suffice."""
        return self._steps < 0

    def spend(self, steps: int) -> None:
        """Counts steps.

        Raises:
            OutOfStepsError: there are none left.
        """
        self._steps -= steps
        if self._steps < 0:
            raise OutOfStepsError

    def target(self, reference: object) -> Schema | None:
        """What a `$ref` leads to; None when it is not local or leads to nothing that could be a schema."""
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return None
        if "%" in reference:
            from urllib.parse import unquote

            reference = unquote(reference)
        value: Any = self.root
        for token in reference[2:].split("/"):
            name = token.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif isinstance(value, list) and name.isdecimal() and name.isascii() and len(name) < 10:
                value = value[int(name)] if int(name) < len(value) else None
            else:
                return None
        return value if isinstance(value, dict) else None

    def conjuncts(self, *schemas: Schema) -> Conjuncts:
        """All schemas that apply to a value to which these apply.

        Raises:
            OutOfStepsError: there are too many.
        """
        key = tuple(map(id, schemas))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._gather(schemas)
        self.spend(len(found.outer_first) + len(found.unresolved))
        return found

    def allowed(self, schema: Schema) -> frozenset[bytes | None]:
        """The canonical keys of the values in a schema's `enum`; the key of what is no JSON value is none of them."""
        found = self._allowed.get(id(schema))
        if found is None:
            found = self._allowed[id(schema)] = frozenset(map(canonical.key, schema["enum"])) - {None}
        return found

    def _gather(self, schemas: Sequence[Schema]) -> Conjuncts:
        found = Conjuncts([], [], [])
        is_open: dict[int, bool] = {}
        pending: list[tuple[Any, Schema | None, bool]] = [(None, each, False) for each in reversed(schemas)]
        while pending:
            reference, schema, is_left = pending.pop()
            if schema is None:
                found.unresolved.append(f"the `$ref` {show(reference)} leads to no schema of the tool")
            elif is_left:
                is_open[id(schema)] = False
                found.inner_first.append(schema)
            elif id(schema) in is_open:
                if is_open[id(schema)]:
                    found.unresolved.append("the schema leads back to itself")
            else:
                self.spend(1)
                is_open[id(schema)] = True
                found.outer_first.append(schema)
                pending.append((None, schema, True))
                members = schema.get("allOf")
                if isinstance(members, list):
                    pending += [(None, each, False) for each in reversed(members) if isinstance(each, dict)]
                reference = schema.get("$ref")
                if reference is not None:
                    pending.append((reference, self.target(reference), False))
        return found


def declared_types(schema: Schema) -> tuple[str, ...] | None:
    """The types that a schema declares: None for no declaration, empty for one that makes no sense."""
    declared = schema.get("type")
    if declared is None:
        return None
    names = [declared] if isinstance(declared, str) else declared
    if isinstance(names, list) and all(isinstance(name, str) and name in TYPES for name in names):
        return tuple(names)
    return ()


def children(schema: Schema) -> Iterator[tuple[Path, Schema]]:
    """The schemas that stand in a schema, each with its path in it, in the order of the text."""
    for keyword, value in schema.items():
        if keyword in {"properties", "$defs", "definitions"} and isinstance(value, dict):
            yield from (((keyword, name), part) for name, part in value.items() if isinstance(part, dict))
        elif keyword == "allOf" and isinstance(value, list):
            yield from (((keyword, at), part) for at, part in enumerate(value) if isinstance(part, dict))
        elif keyword == "items" and isinstance(value, dict):
            yield (keyword,), value
