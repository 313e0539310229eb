# ruff: noqa: INP001 - a script, not part of a package
"""The reference pages of oracle packs: a page for each file with a schema, the checks, and every code with its mend.

`docs/build.py` asks for them. Fields come from the JSON Schemas that editors get, and so from the structs that loading
reads files into; checks and codes come from the tables that the checks themselves use. The two files that are Python,
`backend.py` and `assertions.py`, have pages written by hand, in `docs/packs/`.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from averment.oracle.catalog.reasons import ARGUMENT_REASONS, DEFINITION_REASONS
from averment.oracle.certify import CHECKS, PARTS, check
from averment.oracle.checks.assertions_importable import WARNINGS
from averment.oracle.checks.representative_generation import WARNINGS as VACUOUS
from averment.oracle.child import audit, scan_names
from averment.oracle.compile.refusals import REFUSALS
from averment.oracle.findings import Reason
from averment.oracle.gold.reasons import REASONS as DROPPED
from averment.oracle.lint.codes import CODES as LINT
from averment.oracle.model.codes import CODES as LOADING
from averment.oracle.model.fixtures import read_fixtures
from averment.oracle.model.options import Options
from averment.oracle.model.schemas import pack_schema
from averment.oracle.tasks.codes import CODES as TASKS
from averment.oracle.tasks.dependent import REASONS as UNDERIVED
from averment.oracle.tasks.trace_checks import REASONS as INVALID
from averment.oracle.tasks.trace_faults import FAULTS

__all__ = ["BY_HAND", "COMMANDS", "FILES", "TROUBLES", "File", "pages"]


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
    found = {"index.md": _index(), **{f"{file.page}.md": _file(file) for file in FILES}}
    return {**found, "checks.md": _checks(), "codes.md": _codes()}


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
            *_table(("file", "schema", "what it holds"), rows),
            "",
            "[Checks](checks.md) has what is asked of them, [all codes](codes.md) what can be wrong.",
            "",
            "## In your editor",
            "",
            "`averment schema NAME` prints the JSON Schema of a file, for completion and for marks while you type:",
            "",
            *_fenced("console", "$ averment schema pack-templates > ../schemas/pack-templates.json\n"),
            "",
            (
                "Keep schemas beside the pack, not in it, where they would be a part of its fingerprint. YAML files name "
                "their schema in a comment on the first line, which editors with the YAML language server understand:"
            ),
            "",
            *_fenced("yaml", "# yaml-language-server: $schema=../schemas/pack-templates.json\n"),
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
    text = _documentation(import_module(f"averment.oracle.model.{file.module}")).split("\n\n")[0]
    return text.replace("\n", " ").partition(": ")[2].rstrip(".")


def _file(file: File) -> str:
    module = import_module(f"averment.oracle.model.{file.module}")
    schema = pack_schema(file.schema)
    about = _about(file)
    title = f"`{file.title}`" if "." in file.title else file.title
    lines = [f"# {title}", "", f"{about[0].upper()}{about[1:]}.", ""]
    lines += [_LINKS[file.page], ""] if file.page in _LINKS else []
    language = "json" if file.title.endswith(".json") else "yaml"
    lines += ["## Example", "", *_fenced(language, module.EXAMPLE), ""]
    if file.schema == "pack-fixtures":
        lines += ["## Shape", "", _documentation(read_fixtures), ""]
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
    return _table(("field", "type", "default", "meaning"), rows)


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


# Checks.

_WITHOUT_CODE = {"1", "2"}
_PAGES = {
    "4": "[`assertions.py`](../../packs/assertions.md) has more on each reason.",
    "7": (
        "`replay_reason` and `drop_reason` are those of [dropped tasks](codes.md#dropped-tasks), `code` one of those that "
        "[stop a build](codes.md#no-tasks-can-be-made)."
    ),
}


def _checks() -> str:
    lines = [
        "# Checks",
        "",
        (
            "What `averment pack check` asks of a pack, in the order in which it asks. A pack is *gold* when every check passes. "
            "[What validation proves](../../packs/what-validation-proves.md) says what that means, and what it does not."
        ),
        "",
        (
            "Any check can be *skipped*, with the reason `not_run` and a sentence that says why; that is no pass. A check that "
            "needs another one to pass is skipped where that one does not."
        ),
        "",
    ]
    parts = {name: part for part, names in PARTS.items() for name in names}
    for name in CHECKS:
        each = check(name)
        about = _documentation(import_module(f"averment.oracle.checks.{CHECKS[name]}"))
        text = about.partition(": ")[2]
        lines += [f"## {name} {each.name}", "", f"{text[0].upper()}{text[1:]}", ""]
        runs = (
            "reads the files alone"
            if name in _WITHOUT_CODE
            else "asks the oracle"
            if name == "A1"
            else "runs code"
        )
        alone = (
            f"`--only {parts[name]}` makes it without the others" if name in parts else "a whole run makes it"
        )
        lines += [f"It {runs}; {alone}. {_PAGES.get(name, '')}".rstrip(), ""]
        if each.reasons:
            lines += [*_reasons("reason", each.reasons), ""]
    return "\n".join(lines)


# Codes.

COMMANDS = {
    "not_tools": Reason(
        "`--tools` names a file that is no list of tools.",
        "Give an OpenAI list, an MCP answer, or OpenAPI 3.",
    ),
    "unsupported_openapi": Reason(
        "The OpenAPI description has another version.", "Convert it to 3.0 or 3.1."
    ),
    "no_tools": Reason("The file of tools has none.", "Give a file with at least one."),
    "too_many_tools": Reason("The file has too many tools.", "Keep those that the pack is about."),
    "tools_too_large": Reason(
        "The schemas of the tools are too large.", "Keep the tools that the pack is about."
    ),
    "not_a_function": Reason("An entry of an OpenAI list is no function.", "Take it out."),
    "invalid_tool_name": Reason("A tool has no usable name.", "Give it one."),
    "duplicate_tool": Reason("Two tools have one name.", "Rename or remove one of them."),
    "invalid_pack_name": Reason(
        "No pack id can be made of the name.", "Use letters, digits, spaces and `_`."
    ),
    "invalid_version": Reason("`--version` is no version.", "Write one as in `0.1.0`."),
    "invalid_language": Reason("`--language` is no language tag.", "Write one as in `en` or `pt-BR`."),
    "invalid_target": Reason("`--target` is no path.", "Give a folder to make."),
    "target_exists": Reason("Something is at the target; nothing of it was changed.", "Give another target."),
    "output_unwritable": Reason(
        "A pack or a report can't be written there.", "Make the folder above, or give another."
    ),
    "output_exists": Reason(
        "`pack compile` would replace a file that says something else.", "Give `--out`, or `--force`."
    ),
    "path_outside_pack": Reason(
        "The manifest's `paths.tools` leads out of the pack.", "Put the file into the pack."
    ),
    "file_unreadable": Reason("A file that a command was given can't be read.", "Check the path."),
    "oracle_unreachable": Reason(
        "The service behind a pack can't be reached.", "See that it runs at `base_url`."
    ),
    "isolation_too_weak": Reason(
        "Workers are shut in less than `--require-isolation` asks.",
        "Run where the kernel enforces it, or require less.",
    ),
    "pack_changed": Reason(
        "A file of the pack changed while it was checked, or built.",
        "Start again, with nobody writing to it.",
    ),
    "oracle_unusable": Reason(
        "The oracle gave no answer whatever was asked of it: its service is gone, or the machine has no room for workers.",
        "Give the same command again: a build goes on where it was.",
    ),
    "output_inside_pack": Reason("`--out` is a folder of the pack.", "Give a folder outside the pack."),
    "output_in_use": Reason(
        "Another build is at work in the folder.", "Wait for it to end, or give another folder."
    ),
    "tier_too_low": Reason(
        "Exit 1: the pack is below the tier that is built.",
        "See `averment pack check`, or give `--allow-tier silver`.",
    ),
    "nothing_gold": Reason(
        "Exit 1: every task was dropped.", "Read `dropped.jsonl`, and mend what it tells."
    ),
}
"""Why a command gives no verdict; the places that refuse say more."""

TROUBLES = {
    "raised": "the code raised, or the service answered with an error status",
    "timeout": "no answer within the deadline; the worker and all that it started were killed",
    "died": "the worker ended by itself: an exit, a signal, out of memory",
    "result_too_large": "an answer of more than 10 MiB of JSON, or than the endpoint's limit",
    "result_not_json": "an answer that is no JSON: NaN, an infinity, keys that are no texts, other objects",
    "load_failed": "the module can't be imported",
    "missing_symbol": "the module has no such function",
    "unreachable": "no connection, a failure of TLS, a redirect",
    "protocol": "an answer that the endpoint's protocol does not know",
    "identity_mismatch": "the service is not the one that the pack pins",
}
"""Why a step of an episode had no answer: the fact `trouble` of a failure."""


def _codes() -> str:
    scan = {name: Reason(each["about"], each["mend"]) for name, each in scan_names.CODES.items()}
    warnings = {name: each for name, each in LOADING.items() if _is_warning(each)}
    loading = {name: each for name, each in LOADING.items() if name not in warnings}
    sections: list[tuple[str, str, list[str]]] = [
        (
            "The pack can't be loaded",
            (
                "Exit 2: no check is made. All of them are told at once, under `findings` of the report. A file that is "
                "no YAML 1.2 or JSON has the codes of [the reader](../../yaml.md): `yaml_syntax`, `json_syntax`, "
                "`duplicate_key` and the like."
            ),
            _reasons("code", loading),
        ),
        (
            "Warnings of loading",
            "Under `lint` of the report; they change no tier. With `--strict` they are mistakes.",
            _reasons("code", warnings),
        ),
        (
            "Warnings of lint",
            "What is legal and looks wrong. Under `lint`; they change no tier.",
            _reasons("code", LINT),
        ),
        (
            "Warnings about assertions",
            (
                "Besides the reasons of [check 4](checks.md#4-assertions_importable), for assertions that no template names; and "
                "what [the kill table](../../packs/what-validation-proves.md#the-kill-table) says of those that templates do."
            ),
            _reasons("code", {**WARNINGS, **VACUOUS}),
        ),
        (
            "Warnings of the scan",
            (
                "What the text of the pack's Python files reads, changes or depends on; nothing was run for it. The scan is "
                "silent where it is not sure."
            ),
            _reasons("code", scan),
        ),
        (
            "Reasons of checks",
            "They stand [with their checks](checks.md): each row that fails has failures with one of its own reasons.",
            _table(
                ("reason", "checks"),
                [(f"`{reason}`", ", ".join(each)) for reason, each in sorted(_by_reason().items())],
            ),
        ),
        (
            "Troubles of steps",
            "The fact `trouble` of `raised`, `list_tools_failed`, `assertions_import_failed` and check 7: why there is no answer.",
            _table(("trouble", "what happened"), [(f"`{name}`", about) for name, about in TROUBLES.items()]),
        ),
        (
            "Attempts",
            (
                "Under `audit` of the report: what the pack's code tried while it ran, with file and line. Check I1 fails on "
                "those that leave the worker; the others are for you to read."
            ),
            _table(("kind", "the pack"), [(f"`{name}`", about) for name, about in audit.KINDS.items()]),
        ),
        (
            "Arguments that a schema refuses",
            "Under `schema_failures` of `successful_validation_case_schema_mismatch`, and of gold calls.",
            _reasons("reason", ARGUMENT_REASONS),
        ),
        (
            "Specs that don't compile",
            "`averment pack compile`; exit 2, and nothing is written.",
            _reasons("code", REFUSALS),
        ),
        (
            "No tasks can be made",
            "`averment pack build`; exit 2. What check 1 and check 2 find stops it as well, with their reasons.",
            _reasons("code", {**TASKS, **FAULTS}),
        ),
        (
            "Dropped tasks",
            "`reason` of a line of [`dropped.jsonl`](../../packs/build.md#dropped-tasks).",
            _reasons("reason", DROPPED),
        ),
        (
            "Calls that can't be worked out",
            "Under `failures` of a task that is dropped as `trace_not_derived`.",
            _reasons("reason", UNDERIVED),
        ),
        (
            "Calls that are no gold",
            (
                "Under `failures` of a task that is dropped as `expected_trace_schema_mismatch`, with the reasons of "
                "[arguments](#arguments-that-a-schema-refuses)."
            ),
            _reasons("reason", {name: INVALID[name] for name in INVALID if name not in ARGUMENT_REASONS}),
        ),
        (
            "Commands that give no verdict",
            "`averment pack new`, `check`, `build` and `compile`; exit 2 but where it is said.",
            _reasons("code", COMMANDS),
        ),
    ]
    lines = [
        "# Codes",
        "",
        "Every finding has a code for programs, and each code has one meaning and a next step.",
        "",
    ]
    for heading, about, table in sections:
        lines += [f"## {heading}", "", about, "", *table, ""]
    return "\n".join(lines)


def _by_reason() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"not_run": ["any"]}
    for name in CHECKS:
        each = check(name)
        for reason in each.reasons:
            anchor = f"{name} {each.name}".lower().replace(" ", "-")
            found.setdefault(reason, []).append(f"[{name}](checks.md#{anchor})")
    for reason in DEFINITION_REASONS:
        found.setdefault(reason, ["3"])
    return found


def _is_warning(reason: Reason) -> bool:
    return reason.about.startswith("Warning: ")


def _reasons(first: str, reasons: Mapping[str, Reason]) -> list[str]:
    rows = [(f"`{name}`", _sentence(each.about), _sentence(each.mend)) for name, each in reasons.items()]
    return _table((first, "it means", "what to do"), rows)


def _sentence(text: str) -> str:
    text = text.removeprefix("Warning: ")
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


# Markdown.


def _documentation(thing: object) -> str:
    return inspect.cleandoc(thing.__doc__ or "")


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    columns = list(head)
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    return [*lines, *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)]


def _fenced(language: str, text: str) -> list[str]:
    return [f"```{language}", text.rstrip("\n"), "```"]
