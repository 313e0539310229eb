# ruff: noqa: INP001 - a script, not part of a package
"""The reference pages of oracle packs: a page for each file with a schema.

`docs/build.py` asks for them. Fields come from the JSON Schemas that editors get, and so from the structs that loading
reads files into. The two files that are Python, `backend.py` and `assertions.py`, have pages written by hand, in
`docs/packs/`. Checks and codes are in `code_reference.py`.
"""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from averment.oracle.model.fixtures import read_fixtures
from averment.oracle.model.options import Options
from averment.oracle.model.schemas import pack_schema

__all__ = ["BY_HAND", "FILES", "File", "pages"]

_MARKDOWN = runpy.run_path(str(Path(__file__).with_name("markdown.py")))
documentation, fenced, table = (_MARKDOWN[name] for name in ("documentation", "fenced", "table"))


class File(NamedTuple):
    """A file with a schema: its page, its name, the schema's name, and the module that reads it."""

    page: str
    title: str
    schema: str
    module: str


FILES = (
    File("manifest", "manifest.yaml", "pack-manifest", "manifest"),
    File("tools", "tools.json", "pack-tools", "tools"),
    File("endpoint_config", "endpoint_config.yaml", "pack-endpoint", "endpoint"),
    File("fixtures", "fixtures.json", "pack-fixtures", "fixtures"),
    File("task_templates", "task_templates.yaml", "pack-templates", "templates"),
    File("validation_cases", "validation_cases.yaml", "pack-cases", "cases"),
    File("held_out", "held_out.yaml", "pack-held-out", "held_out"),
    File("run_options", "Run options", "pack-options", "options"),
)

BY_HAND = {"backend.py": "backend", "assertions.py": "assertions"}
"""Files without a schema, and the pages below `docs/packs/` that are about them."""

_ROOTS = {"pack-tools": "Each entry", "pack-templates": "Each entry", "pack-cases": "Each entry"}
_LINKS = {
    "endpoint_config": "[Put a service behind a pack](../../packs/endpoint.md) says what the service must do.",
    "task_templates": "[The author's guide](../../packs/from-scaffold-to-gold.md#templates) has what each policy needs.",
    "validation_cases": "[The author's guide](../../packs/from-scaffold-to-gold.md#probes) says how to write them.",
    "run_options": "None of them is part of a pack. `averment pack check DIR --config FILE` reads them.",
}


def pages() -> dict[str, str]:
    """The Markdown of every page, by its path below `docs/reference/packs/`."""
    return {"index.md": _index(), **{f"{file.page}.md": _file(file) for file in FILES}}


# Files.


def _index() -> str:
    rows = [(f"[`{file.title}`]({file.page}.md)", f"`{file.schema}`", _about(file)) for file in FILES[:-1]]
    rows[2:2] = [("[`backend.py`](../../packs/backend.md)", "", "the oracle as a Python module")]
    rows[-2:-2] = [("[`assertions.py`](../../packs/assertions.md)", "", "what must be true after a task")]
    options = FILES[-1]
    rows.append((f"[run options]({options.page}.md)", f"`{options.schema}`", _about(options)))
    return "\n".join(
        [
            "# The files of a pack",
            "",
            *table(("file", "schema", "what it holds"), rows),
            "",
            "[Checks](checks.md) has what is asked of them, [all codes](codes.md) what can be wrong.",
            "",
            "## In your editor",
            "",
            "`averment schema NAME` prints the JSON Schema of a file, for completion and for marks while you type:",
            "",
            *fenced("console", "$ averment schema pack-templates > ../schemas/pack-templates.json\n"),
            "",
            (
                "Keep schemas beside the pack, not in it, where they would be a part of its fingerprint. YAML files name "
                "their schema in a comment on the first line, which editors with the YAML language server understand:"
            ),
            "",
            *fenced("yaml", "# yaml-language-server: $schema=../schemas/pack-templates.json\n"),
            "",
            (
                "For JSON files, map the schema to the file's name in the editor's settings: `tools.json` is a list and has no "
                "place for a `$schema`, and in `fixtures.json` it would be a value that `reset` gets. Schemas close every mapping, so an editor marks keys that "
                "mean nothing, which loading only warns of. What a schema can't say, such as names that must be unique or "
                "exist elsewhere, `averment pack check` does."
            ),
        ]
    )


def _about(file: File) -> str:
    """The first sentence of its module's documentation, without the name and the full stop."""
    text = documentation(import_module(f"averment.oracle.model.{file.module}")).split("\n\n")[0]
    return text.replace("\n", " ").partition(": ")[2].rstrip(".")


def _file(file: File) -> str:
    module = import_module(f"averment.oracle.model.{file.module}")
    schema = pack_schema(file.schema)
    about = _about(file)
    title = f"`{file.title}`" if "." in file.title else file.title
    lines = [f"# {title}", "", f"{about[0].upper()}{about[1:]}.", ""]
    lines += [_LINKS[file.page], ""] if file.page in _LINKS else []
    language = "json" if file.title.endswith(".json") else "yaml"
    lines += ["## Example", "", *fenced(language, module.EXAMPLE), ""]
    if file.schema == "pack-fixtures":
        lines += ["## Shape", "", documentation(read_fixtures), ""]
    else:
        lines += [line for section in _sections(file, schema) for line in section]
    if file.schema == "pack-tools":
        lines += _subset(schema["$defs"]["schema"])
    lines += [
        "## Schema",
        "",
        f"`averment schema {file.schema}` prints it; [how editors use it](index.md#in-your-editor).",
    ]
    return "\n".join(lines)


def _sections(file: File, schema: dict[str, Any]) -> Iterator[list[str]]:
    """A section for the file, and for each mapping in it, in the order in which they are met."""
    definitions = schema.get("$defs", {})
    top = definitions[_reference(schema["items"])] if schema["type"] == "array" else schema
    pending: list[tuple[str, dict[str, Any]]] = [("", top)]
    while pending:
        place, definition = pending.pop(0)
        heading = f"`{place}`" if place else _ROOTS.get(file.schema, "Fields")
        yield [f"## {heading}", "", definition["description"], "", *_fields(file, definition), ""]
        for name, field in definition["properties"].items():
            inner = _inner(field)
            if inner in definitions and inner != "parameters":
                pending.append((f"{place}.{name}".lstrip("."), definitions[inner]))


def _fields(file: File, definition: dict[str, Any]) -> list[str]:
    required = definition.get("required", [])
    rows = [
        (
            f"`{name}`",
            _type(field),
            "required" if name in required else _default(file, name, field),
            field.get("description", ""),
        )
        for name, field in definition["properties"].items()
        if name in required or "default" in field
    ]
    return table(("field", "type", "default", "meaning"), rows)


def _default(file: File, name: str, field: Mapping[str, Any]) -> str:
    value = field["default"]
    if file.schema == "pack-options":
        value = getattr(Options(), name, None)
    if value is None:
        return "none"
    if _inner(field) and isinstance(value, dict):
        return "see below"
    return "empty" if value in ({}, []) else f"`{json.dumps(value, ensure_ascii=False)}`"


def _inner(field: Mapping[str, Any]) -> str | None:
    """The definition that the values of a field have, however deep it stands."""
    reference = _reference(field)
    if reference is not None:
        return reference
    inside = [field.get("items"), field.get("additionalProperties"), *field.get("anyOf", ())]
    return next((found for each in inside if isinstance(each, dict) and (found := _inner(each))), None)


def _reference(schema: Mapping[str, Any]) -> str | None:
    return str(schema["$ref"]).rpartition("/")[2] if "$ref" in schema else None


def _type(schema: Mapping[str, Any]) -> str:
    """A schema in a few words."""
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"] if each is not None)
    if "const" in schema:
        return f"`{schema['const']}`"
    if "$ref" in schema:
        return "a JSON Schema" if schema["$ref"].endswith("parameters") else "mapping"
    if "anyOf" in schema:
        kinds = [each for each in schema["anyOf"] if each.get("type") != "null"]
        return " or ".join(map(_type, kinds))
    if isinstance(schema.get("type"), list):
        return " or ".join(_NAMES.get(each, each) for each in schema["type"] if each != "null")
    if schema.get("type") == "array":
        return f"list of {_plural(_type(schema['items']))}" if schema.get("items") else "list"
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties")
        return f"mapping of {_plural(_type(inner))}" if isinstance(inner, dict) and inner else "mapping"
    return str(schema.get("type", "any value"))


_NAMES = {"array": "list", "object": "mapping"}


def _plural(noun: str) -> str:
    if " or " in noun:
        return f"({noun})"
    return noun if noun.startswith(("`", "any")) else re.sub(r"^\w+", lambda word: f"{word[0]}s", noun)


def _subset(schema: dict[str, Any]) -> list[str]:
    """The keywords that `parameters` may have."""
    words = ", ".join(f"`{name}`" for name in schema["properties"])
    return [
        "## `function.parameters`",
        "",
        "A subset of JSON Schema, so that every argument that is declared is also checked. These keywords exist:",
        "",
        f"{words}.",
        "",
        (
            "All others, `anyOf`, `oneOf` and `not` among them, are refused by [check 3](checks.md#3-backend_schema_alignment). "
            "`format` is for people and never checked. `pattern` is searched for, not matched from end to end. `$ref` leads "
            "to a place inside the same `parameters`. `true` is no number, `1.0` no integer, and equality is exact: `1`, "
            '`1.0` and `"1"` are three values. Defaults are never filled in before a call.'
        ),
        "",
    ]
