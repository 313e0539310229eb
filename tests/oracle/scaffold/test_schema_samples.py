"""Arguments that satisfy a schema: taken from it, or made up, and always the same."""

from __future__ import annotations

from typing import Any

import pytest

from averment.oracle.catalog.arguments import argument_failures
from averment.oracle.catalog.samples.values import sample_arguments
from averment.oracle.catalog.samples.words import word_of
from averment.text.patterns import compile_pattern

Found = dict[str, Any]


def _sample(schema: Found, **more: Any) -> Any:
    """The value of the required argument `x`, which must satisfy its schema."""
    parameters = {"type": "object", "properties": {"x": schema}, "required": ["x"], **more}
    sample = sample_arguments(parameters)
    assert sample.fits
    assert argument_failures(parameters, sample.arguments) == []
    return sample.arguments["x"]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "sample"),
        ({"type": "string", "minLength": 8}, "samplexx"),
        ({"type": "string", "maxLength": 3}, "sam"),
        ({"type": "string", "maxLength": 0}, ""),
        ({"type": "string", "format": "date"}, "2026-01-01"),
        ({"type": "string", "format": "uuid"}, "00000000-0000-4000-8000-000000000001"),
        ({"type": "string", "format": "date", "maxLength": 4}, "samp"),
        ({"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$"}, "AAA-0"),
        ({"type": "string", "pattern": "^[a-z]+$", "minLength": 4}, "aaaa"),
        ({"type": "string", "pattern": "^(GET|POST)$"}, "GET"),
        ({"type": "string", "pattern": "b$", "minLength": 5}, "aaaab"),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 7}, 7),
        ({"type": "integer", "maximum": -7}, -7),
        ({"type": "number", "minimum": 0.5}, 1),
        ({"type": "number", "minimum": 1.25, "maximum": 1.75}, 1.25),
        ({"minimum": 3}, 3),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"type": ["null", "integer"]}, 1),
        ({"type": "array"}, ["sample"]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 3}, [1, 1, 1]),
        ({"type": "array", "maxItems": 0}, []),
        ({"items": {"enum": ["a"]}}, ["a"]),
        ({"type": "object"}, {}),
        ({"properties": {"a": {"const": 3}, "b": {}}, "required": ["a"]}, {"a": 3}),
        ({}, "sample"),
        ({"const": {"a": 1}}, {"a": 1}),
        ({"enum": ["first", "second"]}, "first"),
        ({"type": "string", "examples": ["Rex"]}, "Rex"),
        ({"type": "string", "examples": [1, "Rex"], "default": "Tom"}, "Rex"),
        ({"type": "string", "default": "Tom"}, "Tom"),
        ({"type": "string", "default": "T", "minLength": 2}, "sample"),
        ({"enum": ["a", "bb"], "minLength": 2}, "bb"),
        ({"allOf": [{"type": "string"}, {"minLength": 7}, {"maxLength": 8}]}, "samplex"),
        ({"allOf": [{"type": "integer", "minimum": 5}, {"type": "number", "maximum": 5}]}, 5),
    ],
    ids=str,
)
def test_a_value_satisfies_its_schema(schema: Found, value: Any) -> None:
    """An example or a default where it fits, else the simplest value of the type."""
    assert _sample(schema) == value


def test_references_are_followed() -> None:
    """Their schemas apply too."""
    assert _sample({"$ref": "#/$defs/A"}, **{"$defs": {"A": {"type": "integer", "minimum": 4}}}) == 4


def test_only_what_is_required_is_there_and_what_was_asked_for() -> None:
    """Optional arguments stay out."""
    parameters = {"type": "object", "properties": {"a": {}, "b": {"type": "boolean"}}, "required": ["a"]}
    assert sample_arguments(parameters, {"b": True}).arguments == {"a": "sample", "b": True}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^a$", "minLength": 2},
        {"enum": ["a"], "type": "integer"},
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "array", "items": {"allOf": [{"const": 1}, {"const": 2}]}, "minItems": 1},
    ],
    ids=str,
)
def test_what_nothing_satisfies_is_told(schema: Found) -> None:
    """There is something to begin with all the same, and the argument is there."""
    sample = sample_arguments({"type": "object", "properties": {"x": schema}, "required": ["x"]})
    assert not sample.fits
    assert "x" in sample.arguments


def test_shared_parts_don_t_make_it_endless() -> None:
    """Forty levels that each hold the next one twice."""
    definitions: Found = {"N40": {"type": "string"}}
    for level in range(40):
        following = {"$ref": f"#/$defs/N{level + 1}"}
        definitions[f"N{level}"] = {
            "type": "object",
            "properties": {"a": following, "b": following},
            "required": ["a", "b"],
        }
    parameters = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/N0"}},
        "required": ["x"],
        "$defs": definitions,
    }
    assert not sample_arguments(parameters).fits


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "",
            "^$",
            "a",
            "^a{3}$",
            "^[^a]$",
            r"^\d{4}-\d{2}$",
            r"^\w+@\w+\.com$",
            "(?i)^ABC$",
            "^(?:a|b)+c?$",
        ),
        *("^(?=.*x)x$", r"^\S+\s\S+$", "^.{5}$", "[€-₿]", "^(?!a)b$", "^[+-]?[0-9]+(?:[.][0-9]+)?$"),
        r"^#(?:[0-9a-fA-F]{3}){1,2}$",
    ],
)
def test_a_pattern_is_found_in_its_word(pattern: str) -> None:
    """Whatever it is made of."""
    word = word_of(pattern)
    assert word is not None
    assert compile_pattern(pattern).test(word)


@pytest.mark.parametrize("pattern", ["(", "a^b", "[^\\s\\S]", "^a{2000}$"])
def test_a_pattern_without_a_word_has_none(pattern: str) -> None:
    """It is broken, can't match, or asks for too much."""
    assert word_of(pattern) is None


@pytest.mark.parametrize(("least", "most"), [(0, 3), (2, None), (3, 3), (10, 12), (40, 40)])
def test_a_word_has_the_length_asked_for(least: int, most: int | None) -> None:
    """Where what repeats can be repeated."""
    word = word_of("^[a-f0-9]+$", least, most)
    assert word is not None
    assert least <= len(word)
    assert most is None or len(word) <= most
