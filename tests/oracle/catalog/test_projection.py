from __future__ import annotations

from averment.oracle.catalog.projection import projected


def test_the_model_sees_the_tool_without_the_packs_own_keys() -> None:
    """Only type, name, description, parameters and strict are left, in this order; the type is filled in."""
    function = {"strict": True, "parameters": {}, "x-note": 1, "description": "d", "name": "f"}
    shown = projected({"x-mutates": True, "function": function})
    assert shown == {
        "type": "function",
        "function": {"name": "f", "description": "d", "parameters": {}, "strict": True},
    }
    assert list(shown["function"]) == ["name", "description", "parameters", "strict"]


def test_what_is_not_declared_is_not_invented() -> None:
    """A tool without a description has none."""
    assert projected({"function": {"name": "f"}}) == {"type": "function", "function": {"name": "f"}}
