from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mappings import (
    SAMPLES,
    TURNS,
    mapping,
)

from averment.errors import DocumentError
from averment.evidence.mapping import (
    Answers,
    Calls,
    Channel,
    Mapping,
    Rule,
    Spans,
    Turns,
    mapping_schema,
)
from averment.text.source import read_source
from samples import sample

SCHEMA = jsonschema.Draft202012Validator(mapping_schema())


def refusals(text: str) -> list[tuple[str, str | None]]:
    """The mistakes of a mapping, as code and path."""
    with pytest.raises(DocumentError) as caught:
        Mapping.parse(text, "m.yaml")
    return [(problem.code, problem.path) for problem in caught.value.problems]


def test_a_mapping_is_read_from_yaml_and_json_and_has_one_digest(tmp_path: Path) -> None:
    """The digest is of what it says."""
    path = tmp_path / "acme.json"
    path.write_text(json.dumps(read_source(sample("mapping/acme.yaml").read_bytes()).value))
    assert Mapping.load(path).sha256 == Mapping.load(sample("mapping/acme.yaml")).sha256
    assert Mapping.load(path).sha256 != mapping(turns=TURNS).sha256


def test_all_mistakes_are_reported_at_once() -> None:
    """With line and column, what was expected and found, and the nearest name."""
    text = (
        "version: 1\nname: acme\nturns:\n  items: events\n  text: /text\n  start: /at\n"
        "  role: {pointer: /who, values: {bot: agnet}}\nshows: [timing]\n"
    )
    with pytest.raises(DocumentError) as caught:
        Mapping.parse(text, "acme.yaml")
    found = [(each.code, each.line, each.column, each.path, each.nearest) for each in caught.value.problems]
    assert found == [
        ("wrong_pointer", 4, 10, "$.turns.items", "/events"),
        ("missing_field", 6, 10, "$.turns.start", None),
        ("not_allowed", 7, 39, "$.turns.role.values.bot", "agent"),
        ("not_allowed", 8, 9, "$.shows[0]", None),
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("{}", ("missing_field", "$")),
        ("turn: {text: /t}", ("unknown_field", "$.turn")),
        ("turns: {text: /t, starts: /at}", ("unknown_field", "$.turns.starts")),
        ("turns: {role: /r}", ("missing_field", "$.turns")),
        ("turns: {text: 5}", ("wrong_type", "$.turns.text")),
        ("turns: {text: []}", ("empty_value", "$.turns.text")),
        ("turns: {text: [/a, b]}", ("wrong_pointer", "$.turns.text[1]")),
        ("turns: {text: /a~2}", ("wrong_pointer", "$.turns.text")),
        ("turns: {text: {const: 5}}", ("not_allowed", "$.turns.text.const")),
        ("turns: {text: {}}", ("fields_exclude", "$.turns.text")),
        ("turns: {text: {pointer: /a, const: b}}", ("fields_exclude", "$.turns.text")),
        ("turns: {text: {const: b, values: {}}}", ("fields_exclude", "$.turns.text.values")),
        ("turns: {text: {outer: /a}}", ("fields_exclude", "$.turns.text.outer")),
        ("turns: {text: {pointer: /a, unit: ms}}", ("unknown_field", "$.turns.text.unit")),
        ("turns: {text: /t, final: {const: 1}}", ("not_allowed", "$.turns.final.const")),
        ("turns: {text: /t, where: {a: 1}}", ("wrong_pointer", "$.turns.where.a")),
        ("turns: {text: /t, where: {/a: []}}", ("empty_value", '$.turns.where["/a"]')),
        ("turns: {text: /t, where: {/a: {}}}", ("fields_exclude", '$.turns.where["/a"]')),
        ("turns: {text: /t, start: /s}\nunit: ms", ("missing_field", "$.turns.start")),
        ("turns: {text: /t, start: /s}\nclock: epoch", ("missing_field", "$.turns.start")),
        ("turns: {text: /t, duration: /s}\nunit: iso", ("missing_field", "$.turns.duration")),
        ("turns: {text: /t}\nunit: iso\nclock: monotonic", ("fields_exclude", "$.clock")),
        ("calls: {name: /n, status: {const: fine}}", ("not_allowed", "$.calls.status.const")),
        ("calls: {name: /n, requestor: {const: bot}}", ("not_allowed", "$.calls.requestor.const")),
        ("answers: {id: /i, result: /r}", ("missing_field", "$.answers")),
        (
            "calls: {name: /n, id: /i}\nanswers: {items: /o, result: /r}",
            ("missing_field", "$.answers"),
        ),
        ("spans: {type: handof}", ("not_allowed", "$.spans.type")),
        ("spans: {type: handoff, fields: {to: x}}", ("wrong_pointer", "$.spans.fields.to")),
        ("turns: {text: /t}\nignore: {}", ("empty_value", "$.ignore")),
        ("turns: {text: /t}\ngroup_by: ''", ("empty_value", "$.group_by")),
        ("turns: {text: /t}\nmetadata: {a: b}", ("wrong_pointer", "$.metadata.a")),
        ("turns: {text: /t}\nshows: [results]", ("not_allowed", "$.shows[0]")),
    ],
)
def test_mistakes_are_refused(fields: str, expected: tuple[str, str]) -> None:
    """Each mistake at its place."""
    text = "version: 1\nname: m\n" + ("" if fields == "{}" else fields)
    code, path = expected
    assert refusals(text) == [(code, None if path == "$" else path)]


def test_a_name_that_can_not_be_one_of_a_format_is_refused() -> None:
    """It stands in every source and every gap."""
    assert refusals("version: 1\nname: a b\nturns: {text: /t}") == [("wrong_value", "$.name")]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_schema_takes_what_the_check_takes(name: str) -> None:
    """An editor accepts what is accepted."""
    SCHEMA.validate(read_source(sample(f"mapping/{name}.yaml").read_bytes()).value)


@pytest.mark.parametrize(
    "fields",
    [
        {"turn": {}},
        {"turns": {"text": "t"}},
        {"turns": {"text": "/t", "where": {"a": 1}}},
        {"turns": {"text": "/t", "txt": "/t"}},
        {"spans": {"type": "handof"}},
        {"shows": ["calls"]},
        {"name": "a b"},
    ],
)
def test_the_schema_marks_what_the_check_refuses(fields: dict[str, Any]) -> None:
    """An editor marks misspelt names, pointers that are none, and values that are not allowed."""
    value = {"version": 1, "name": "m", "turns": {"text": "/t"}, **fields}
    assert not SCHEMA.is_valid(value)
    with pytest.raises(DocumentError):
        Mapping.of(value)


def test_every_field_has_a_description() -> None:
    """Editors show what a field is for."""
    schema = mapping_schema()
    for name, definition in {"Mapping": schema, **schema["$defs"]}.items():
        bare = [key for key, field in definition["properties"].items() if not field.get("description")]
        assert not bare, name


def test_the_page_on_mapping_names_every_field_note_and_channel() -> None:
    """Whatever can be written, and whatever is noted, is explained."""
    page = (Path(__file__).parents[2] / "docs" / "map-a-format.md").read_text(encoding="utf-8")
    fields = {name for kind in (Mapping, Turns, Calls, Answers, Spans) for name in kind.__struct_fields__}
    assert [name for name in sorted(fields) if f"`{name}`" not in page] == []
    assert [
        name for name in ("pointer", "outer", "const", "values", "default", "unit") if name not in page
    ] == []
    assert [channel for channel in get_args(Channel) if channel not in page] == []


def test_rules_name_what_they_map() -> None:
    """What is no value of an item is no field that can be found."""
    assert Rule.field_names() == ()


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["/a", "", "a", "~", "iso", "agent"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["items", "text", "where", "pointer", "const", "values", "/a", "type", "name", "id"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(Mapping.__struct_fields__), _PLAIN, max_size=6))
@settings(max_examples=200, deadline=None)
def test_any_mapping_is_taken_or_refused(fields: dict[str, Any]) -> None:
    """Whatever stands in a mapping file, its mistakes are reported; and what the schema marks, the check refuses."""
    value = {"version": 1, "name": "m", "turns": {"text": "/t"}, **fields}
    try:
        found = Mapping.of(value)
    except DocumentError:
        return
    assert SCHEMA.is_valid(value)
    assert msgspec.convert(msgspec.to_builtins(found), Mapping) == found
