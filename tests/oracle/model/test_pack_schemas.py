from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from averment.cli.schema import NAMES
from averment.oracle.build.schemas import BUILD_SCHEMAS
from averment.oracle.model import cases, endpoint, fixtures, held_out, manifest, options, templates, tools
from averment.oracle.model.loading import load_pack
from averment.oracle.model.schemas import PACK_SCHEMAS
from averment.report.schemas import schema
from averment.text.source import read_source

EXAMPLES = {
    "pack-manifest": manifest.EXAMPLE,
    "pack-tools": tools.EXAMPLE,
    "pack-templates": templates.EXAMPLE,
    "pack-cases": cases.EXAMPLE,
    "pack-fixtures": fixtures.EXAMPLE,
    "pack-held-out": held_out.EXAMPLE,
    "pack-endpoint": endpoint.EXAMPLE,
    "pack-options": options.EXAMPLE,
}
ROLES = {
    "manifest": "pack-manifest",
    "tools": "pack-tools",
    "templates": "pack-templates",
    "validation_cases": "pack-cases",
    "fixtures": "pack-fixtures",
    "held_out": "pack-held-out",
    "endpoint": "pack-endpoint",
}
PACKS = sorted((Path(__file__).parents[3] / "examples" / "packs").glob("*/manifest.yaml"))


def fits(name: str, text: str) -> bool:
    return jsonschema.Draft202012Validator(schema(name)).is_valid(read_source(text).value)


def test_the_command_line_offers_them_all() -> None:
    """`averment schema` lists what there is; what is written about a pack is no file of it."""
    written = {"pack-report", "pack-grade", *BUILD_SCHEMAS}
    listed = {name for name in NAMES if name.startswith("pack-")} - written
    assert set(PACK_SCHEMAS) == listed == set(EXAMPLES)


@pytest.mark.parametrize("name", PACK_SCHEMAS)
def test_each_is_a_schema_that_accepts_the_example(name: str) -> None:
    """What the reference shows, an editor accepts."""
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert fits(name, EXAMPLES[name])


@pytest.mark.parametrize("path", PACKS, ids=lambda path: path.parent.name)
def test_the_packs_of_the_repository_fit(path: Path) -> None:
    """Every document of every pack that we ship."""
    pack = load_pack(path.parent)
    for role, source in pack.sources.items():
        jsonschema.Draft202012Validator(schema(ROLES[role])).validate(source.value)


@pytest.mark.parametrize("name", [name for name in PACK_SCHEMAS if name != "pack-fixtures"])
def test_every_key_has_a_description(name: str) -> None:
    """Editors show what a key is for; what only loaders set is no key."""
    whole = schema(name)
    definitions = {name: whole, **whole["$defs"]}
    argument_schema = definitions.pop("schema", None)
    for definition in definitions.values():
        for key, value in definition.get("properties", {}).items():
            assert "description" in value or definition.get("$ref") == "#/$defs/schema", key
            assert key != "index"
    assert (argument_schema is not None) is (name == "pack-tools")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pack-manifest", "{pack_id: p, version: 1.5, absent_ids: {a: x, b: [1, y]}}"),
        ("pack-tools", '[{"function": {"name": "t"}, "x-mutates": false}]'),
        (
            "pack-tools",
            '[{"function": {"name": "t", "parameters": {"$defs": {"a": {"type": ["string", "null"]}}}}}]',
        ),
        (
            "pack-templates",
            (
                "[{template_id: a, turn_policy: irrelevant, first_turn_templates: {en: x}, "
                "assistant_milestones: [{type: decline}]}]"
            ),
        ),
        (
            "pack-templates",
            (
                "[{template_id: a, turn_policy: single_turn, call_order: prefix, call_order_prefix: 1, "
                "assistant_milestones: [{type: tool_call, tool: t, call_group: 0}]}]"
            ),
        ),
        ("pack-cases", "[{id: a, tool: t, arguments: [1], expect: {error_code: null, limit: {a: 1}}}]"),
        ("pack-fixtures", "{hours: 9-17, rows: []}"),
        (
            "pack-options",
            "{family: bfcl, oracle_runtime: {worker: process, allowed_roots: [x]}, random_seed: null}",
        ),
    ],
)
def test_what_loads_fits(name: str, text: str) -> None:
    """The contract's tolerances are no mistakes in an editor."""
    assert fits(name, text)


MISTAKES: dict[str, list[str]] = {
    "pack-manifest": [
        *(
            "[]",
            "{version: '1'}",
            "{pack_id: p}",
            "{pack_id: ' ', version: '1'}",
            "{pack_id: true, version: '1'}",
        ),
        *("{pack_id: p, version: '1', langages: [en]}", "{pack_id: p, version: '1', paths: {tool: x}}"),
        *("{pack_id: p, version: '1', confirmation: {param: x}}", "{pack_id: p, version: '1', held_out: ''}"),
        *(
            "{pack_id: p, version: '1', paths: {backend: a, endpoint: b}}",
            "{pack_id: p, version: '1', languages: en}",
        ),
        *("{pack_id: p, version: '1', assistant_turn_templates: {tool_call: {en: x}}}",),
        *("{pack_id: p, version: '1', absent_ids: {books: [{id: 1}]}}",),
    ],
    "pack-tools": [
        *(
            "{}",
            "[1]",
            "[{}]",
            "[{function: {}}]",
            "[{function: {name: ''}}]",
            "[{function: {name: t}, type: tool}]",
        ),
        *("[{function: {name: t}, x-mutates: yes}]", "[{function: {name: t}, x-mutate: true}]"),
        *(
            "[{function: {name: t, parameters: {type: array}}}]",
            "[{function: {name: t, parameters: {anyOf: []}}}]",
        ),
        *(
            "[{function: {name: t, parameters: {properties: {a: {type: text}}}}}]",
            "[{function: {name: t, strict: 1}}]",
        ),
        *("[{function: {name: t, parameters: {properties: {a: {$ref: 'https://x'}}}}}]",),
    ],
    "pack-templates": [
        *("{}", "[{turn_policy: irrelevant, assistant_milestones: [{type: decline}]}]"),
        *("[{template_id: a, turn_policy: x, assistant_milestones: [{type: decline}]}]",),
        *("[{template_id: a, turn_policy: irrelevant, assistant_milestones: []}]",),
        *("[{template_id: a, turn_policy: irrelevant, assistant_milestones: [{type: tool_call}]}]",),
        *(
            f"[{{template_id: a, turn_policy: irrelevant, assistant_milestones: [{{type: decline}}], {more}}}]"
            for more in (
                *(
                    "categry: x",
                    "index: 1",
                    "mutates: yes",
                    "slots: null",
                    "call_order: prefix",
                    "call_order_prefix: 1",
                ),
                *("slots: {s: {source: 'literal:1'}}", "edge_signatures: [a, a]", "tools_present: [a, a]"),
                *(
                    "slots: {s: {source: 'fixtures:a.b', visible_in_first_turn: true}}",
                    "edge_signatures: ['']",
                ),
                *("user_simulator_turns: [{after: decline}]", "paraphrase: {max_variants: -1}"),
            )
        ),
    ],
    "pack-cases": [
        *("{}", "[{tool: t}]", "[{id: a}]", "[{id: '', tool: t}]", "[{id: a, tool: t, coverage: negatve}]"),
        *(
            "[{id: a, tool: t, expect: {result_class: ok}}]",
            "[{id: a, tool: t, expect: {state_unchanged: false}}]",
        ),
        *(
            "[{id: a, tool: t, reset_before: no}]",
            "[{id: a, tool: t, note: x}]",
            "[{id: a, tool: t, index: 1}]",
        ),
    ],
    "pack-fixtures": ["[]", "{rows: [1]}"],
    "pack-held-out": [
        "{}",
        "{version: true}",
        "{version: 1, rows: {}}",
        "{version: 1, fixtures: {a: [null]}}",
    ],
    "pack-endpoint": [
        endpoint.EXAMPLE.replace(*change)
        for change in [
            ("https:", "http:"),
            ("example.com", "u@example.com"),
            ("sha256:0", "sha256:"),
            ("http-v1", "http-v2"),
            ("bearer_token_env: L", "bearer_token_env: 'sk-1'\n  # "),
            ("bearer_token_env", "bearer_token"),
            ("auth:", "auth:\n  bearer_token_ref: 'vault:a'"),
            ("X-Tenant", "HOST"),
            ("1048576", "0"),
        ]
    ],
    "pack-options": [
        *("[]", "clok: 1", "clock: 2026-01-01", "tool_timeout_s: 0", "random_seed: -1", "worker: thread"),
        *("tasks_per_category: 0", "oracle_runtime: {wrker: process}", f"random_seed: {2**64}"),
    ],
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in MISTAKES.items() for text in texts]
)
def test_what_does_not_load_or_means_nothing_is_marked(name: str, text: str) -> None:
    """Mistakes of shape, and keys without meaning, show in the editor already."""
    assert not fits(name, text)


def test_argument_schemas_in_the_catalog_may_be_deep() -> None:
    """The subset refers to itself."""
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(5):
        deep = {"type": "object", "properties": {"a": {"type": "array", "items": deep}}, "required": ["a"]}
    catalog = [{"function": {"name": "t", "parameters": deep}}]
    assert jsonschema.Draft202012Validator(schema("pack-tools")).is_valid(catalog)
    deep["properties"]["a"]["items"]["oneOf"] = []
    assert not jsonschema.Draft202012Validator(schema("pack-tools")).is_valid(catalog)
