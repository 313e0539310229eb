"""Arguments with the defaults that a tool's schema declares (contract, 1.4 and 9).

A default stands at a property, or is inherited by it through `$ref` and `allOf`, the property's own first. Where
several schemas of an object declare the same property, the inner one's default comes first. Objects and lists that
are there, or come from a default, get their own defaults inside.
"""

from __future__ import annotations

from typing import Any, Final

from averment.oracle.catalog.schema import OutOfStepsError, Schema, Schemas

__all__ = ["MAX_DEPTH", "declared_defaults", "with_defaults"]

MAX_DEPTH: Final = 200
"""How deep defaults may stand inside each other."""


def declared_defaults(parameters: object) -> dict[str, Any]:
    """What a call without arguments is taken to have said: each argument that has a default, by its name.

    Raises:
        OutOfStepsError: the schema takes too many steps to follow.
    """
    return with_defaults(parameters, {})


def with_defaults(parameters: object, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with the declared default of each that is not among them; the given ones are copied.

    Args:
        parameters: `function.parameters` as declared; what is no schema has no defaults.
        arguments: what a tool is called with.

    Raises:
        OutOfStepsError: the schema takes too many steps to follow.
    """
    if not isinstance(parameters, dict):
        return dict(arguments)
    filled: dict[str, Any] = _filled(Schemas(parameters), (parameters,), arguments, 0)
    return filled


def _filled(schemas: Schemas, applied: tuple[Schema, ...], value: Any, depth: int) -> Any:
    if not isinstance(value, dict | list):
        return value
    if depth > MAX_DEPTH:
        raise OutOfStepsError
    conjuncts = schemas.conjuncts(*applied).inner_first
    schemas.spend(len(value))
    if isinstance(value, list):
        items = tuple(each["items"] for each in conjuncts if isinstance(each.get("items"), dict))
        return [_filled(schemas, items, part, depth + 1) for part in value]
    declared: dict[str, list[Schema]] = {}
    for each in conjuncts:
        properties = each.get("properties")
        if isinstance(properties, dict):
            schemas.spend(len(properties))
            for name, schema in properties.items():
                if isinstance(schema, dict):
                    declared.setdefault(name, []).append(schema)
    filled = dict(value)
    for name, declaring in declared.items():
        if name not in filled:
            for schema in schemas.conjuncts(*declaring).outer_first:
                if "default" in schema:
                    filled[name] = schema["default"]
                    break
    return {
        name: _filled(schemas, tuple(declared.get(name, ())), part, depth + 1)
        for name, part in filled.items()
    }
