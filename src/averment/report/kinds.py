"""What can be asserted, for people: each kind with its rule and fields, made from the kind's own class."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import msgspec

from averment.assertions import kind
from averment.assertions.base import Assertion

__all__ = ["as_markdown", "as_text", "headline"]


_EXPECTED = {"expected": "any expected value", "expected_fields": "mapping of expected values"}


class _Field(msgspec.Struct, frozen=True):
    name: str
    type: str
    default: str
    about: str


def headline(name: str) -> str:
    """The first sentence of a kind's documentation."""
    return _documentation(name).split("\n\n")[0].replace("\n", " ").strip()


def as_text(name: str) -> str:
    """A kind for the terminal."""
    own, common = _fields(name)
    width = max(len(field.name) for field in (*own, *common))
    lines = [f"kind: {name}", "", _documentation(name), ""]
    for title, fields in (("Fields:", own), ("Fields of every kind:", common)):
        lines += [title, *(line for field in fields for line in _row(field, width)), ""]
    lines += ["Codes:", *(f"  {code.value:<24}  {code.meaning}" for code in kind(name).codes), ""]
    lines += ["Example:", "", *(f"  {line}" for line in kind(name).example.splitlines())]
    return "\n".join(lines) + "\n"


def as_markdown(name: str) -> str:
    """A kind as a reference page."""
    own, common = _fields(name)
    lines = [f"# `{name}`", "", *_paragraphs(_documentation(name)), ""]
    lines += ["## Example", "", "`averment check` tries the `examples` of a document; these hold.", ""]
    lines += ["```yaml", kind(name).example.rstrip("\n"), "```", ""]
    for title, fields in (("Fields", own), ("Fields of every kind", common)):
        lines += [f"## {title}", "", "| field | type | default | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{f.name}` | `{_cell(f.type)}` | {_cell(f.default)} | {_cell(f.about)} |" for f in fields
        ]
        lines.append("")
    lines += ["## Codes", "", "Besides those that any assertion can get from missing evidence.", ""]
    lines += [
        "| code | meaning |",
        "|---|---|",
        *(f"| `{c.value}` | {c.meaning} |" for c in kind(name).codes),
        "",
    ]
    return "\n".join(lines)


def _documentation(name: str) -> str:
    return inspect.cleandoc(kind(name).__doc__ or "")


def _paragraphs(text: str) -> Iterator[str]:
    """Markdown: each verdict's rule starts a paragraph of its own."""
    for line in text.split("\n"):
        verdict, colon, rest = line.partition(":")
        if colon and verdict in {"PASS", "FAIL", "INCONCLUSIVE"}:
            yield ""
            yield f"**{verdict}**:{rest}"
        else:
            yield line


def _row(field: _Field, width: int) -> Iterator[str]:
    yield f"  {field.name:<{width}}  {field.type}{f', default {field.default}' if field.default != 'required' else ', required'}"
    if field.about:
        yield f"  {'':<{width}}  {field.about}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _fields(name: str) -> tuple[list[_Field], list[_Field]]:
    """The kind's own fields, and those of every kind."""
    cls = kind(name)
    (_, definitions) = msgspec.json.schema_components([cls])
    properties = definitions[cls.__name__]["properties"]
    shared = {field.name for field in msgspec.structs.fields(Assertion)}
    described = {
        field.name: _Field(
            field.encode_name,
            _type(properties[field.encode_name], definitions),
            _default(field),
            properties[field.encode_name].get("description", ""),
        )
        for field in msgspec.structs.fields(cls)
    }
    inherited = {field.name for base in cls.__mro__[1:2] for field in msgspec.structs.fields(base)}
    own = [field for key, field in described.items() if key not in inherited]
    own += [field for key, field in described.items() if key in inherited and key not in shared]
    return own, [field for key, field in described.items() if key in shared]


def _type(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """A JSON Schema in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        if name in _EXPECTED:
            return _EXPECTED[name]
        return f"{{{', '.join(definitions[name]['properties'])}}}"
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    if "anyOf" in schema:
        return " or ".join(_type(option, definitions) for option in schema["anyOf"])
    kind_of = schema.get("type")
    if kind_of == "array":
        return f"list of ({_type(schema['items'], definitions)})" if schema.get("items") else "list"
    if kind_of == "object":
        return "mapping"
    return str(kind_of) if kind_of else "any value"


def _default(field: Any) -> str:
    if field.required:
        return "required"
    if field.default_factory is not msgspec.NODEFAULT:
        return str(field.default_factory())
    if field.default is msgspec.UNSET or field.default is None:
        return "none"
    return str(field.default).lower() if isinstance(field.default, bool) else str(field.default)
