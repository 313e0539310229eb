from __future__ import annotations

from typing import Any

import pytest

from averment.oracle.build.exports.bfcl_answers import possible_answer
from averment.oracle.build.exports.bfcl_functions import NotExpressibleError, functions_of


def _answer(properties: dict[str, Any], arguments: dict[str, Any], *required: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    (function,) = functions_of(
        [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    ).values()
    found = possible_answer(function, arguments)
    assert found.keys() == {"f"}
    return found["f"]


TEXT = {"type": "string"}
DEEP = {
    "type": "object",
    "properties": {"inner": {"type": "object", "properties": {"k": {**TEXT, "default": "d"}}}},
}


@pytest.mark.parametrize(
    ("properties", "arguments", "required", "accepted"),
    [
        pytest.param({"p": TEXT}, {"p": "x"}, ["p"], {"p": ["x"]}, id="as gold has it"),
        pytest.param({"p": TEXT, "q": TEXT}, {"p": "x"}, ["p"], {"p": ["x"]}, id="never stated"),
        pytest.param({"p": {**TEXT, "default": "d"}}, {}, [], {"p": ["d", ""]}, id="default not stated"),
        pytest.param({"p": {**TEXT, "default": "d"}}, {"p": "d"}, [], {"p": ["d", ""]}, id="default stated"),
        pytest.param({"p": {**TEXT, "default": "d"}}, {"p": "x"}, [], {"p": ["x"]}, id="not the default"),
        pytest.param({"p": {**TEXT, "default": "d"}}, {"p": "d"}, ["p"], {"p": ["d"]}, id="required"),
        pytest.param({"p": {**TEXT, "default": ""}}, {}, [], {"p": [""]}, id="default is empty"),
        pytest.param({"p": TEXT}, {"p": ""}, ["p"], {"p": [""]}, id="empty and required"),
        pytest.param({"p": {"type": "number"}}, {"p": 5}, ["p"], {"p": [5.0]}, id="whole number"),
        pytest.param({"p": {"type": ["string", "null"]}}, {"p": None}, ["p"], {"p": [None]}, id="null"),
        pytest.param({"from": TEXT}, {"from": "x"}, ["from"], {"_from": ["x"]}, id="keyword"),
        pytest.param(
            {"p": {"type": "array", "items": TEXT}}, {"p": ["a", "b"]}, ["p"], {"p": [["a", "b"]]}, id="list"
        ),
        pytest.param(
            {"p": {"type": "object", "properties": {"a": TEXT, "b": {"type": "integer", "default": 1}}}},
            {"p": {"a": "x"}},
            ["p"],
            {"p": [{"a": ["x"], "b": [1, ""]}]},
            id="object",
        ),
        pytest.param(
            {"p": {"type": "array", "items": {"type": "object", "properties": {"a": TEXT}}}},
            {"p": [{"a": "x"}, {}]},
            ["p"],
            {"p": [[{"a": ["x"]}, {}]]},
            id="list of objects",
        ),
        pytest.param(
            {"p": DEEP},
            {"p": {"inner": {}}},
            ["p"],
            {"p": [{"inner": [{"k": "d"}, {}]}]},
            id="object in an object",
        ),
    ],
)
def test_accepted_values(
    properties: dict[str, Any], arguments: dict[str, Any], required: list[str], accepted: dict[str, Any]
) -> None:
    """The values that are as good as gold's; an empty text marks what may be left out."""
    found = _answer(properties, arguments, *required)
    assert found == accepted
    assert repr(found) == repr(accepted)  # 5 and 5.0 are the same to `==`


@pytest.mark.parametrize(
    ("properties", "arguments", "told"),
    [
        pytest.param({}, {"p": "x"}, "no argument that is not declared", id="undeclared"),
        pytest.param({"p": TEXT}, {"p": ""}, "may be left out, and it may not", id="empty text"),
        pytest.param(
            {"p": {"type": "object", "properties": {"a": TEXT}}},
            {"p": {"a": ""}},
            'the key "a" is an empty text',
            id="empty text in an object",
        ),
        pytest.param({"p": {"type": "number"}}, {"p": 2**53 + 1}, "floating point", id="large number"),
        pytest.param({"p": {"type": "number"}}, {"p": 10**400}, "floating point", id="huge number"),
        pytest.param(
            {"p": {"type": "array", "items": {"type": "number"}}},
            {"p": [1.5, 1]},
            "several types",
            id="numbers",
        ),
        pytest.param(
            {"p": {"type": "array", "items": {"type": ["object", "null"]}}},
            {"p": [None]},
            "an item is no object",
            id="null among objects",
        ),
    ],
)
def test_values_that_the_checker_can_not_tell_are_refused(
    properties: dict[str, Any], arguments: dict[str, Any], told: str
) -> None:
    """With the tool and the parameter."""
    with pytest.raises(NotExpressibleError, match=told) as refused:
        _answer(properties, arguments)
    assert refused.value.reason == "value_not_expressible"
    assert refused.value.detail.startswith("`f(p)`: ")
