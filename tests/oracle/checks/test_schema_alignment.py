from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_packs import BACKEND, LOOK, TOOLS, Smallest, assert_earned, failures, write

from averment.oracle.catalog.definitions import REASONS as SCHEMA_REASONS
from averment.oracle.checks.schema_alignment import CHECK


def look(**schema: Any) -> list[dict[str, Any]]:
    """The catalog, `box_id` declared otherwise."""
    function = {**LOOK["function"], "parameters": {"type": "object", "properties": {"box_id": schema}}}
    return [{**LOOK, "function": function}, TOOLS[1]]


def text(old: str, new: str) -> dict[str, Any]:
    assert old in BACKEND
    return {"backend": BACKEND.replace(old, new)}


SMALLEST = {
    "backend_import_failed": Smallest(
        {"also": "import no_such_module"},
        "backend.py",
        "import no_such_module",
        {"trouble": "raised", "op": "import"},
    ),
    "backend_signature_mismatch": Smallest(
        text("def reset(*, ctx, fixtures=None):\n", "def reset(fixtures):\n"),
        "backend.py",
        "def reset(",
        {"symbol": "reset"},
    ),
    "list_tools_failed": Smallest(
        {"also": "def list_tools():\n    return 1 / 0"},
        "backend.py",
        "return 1 / 0",
        {"trouble": "raised", "op": "list_tools"},
    ),
    "schema_without_implementation": Smallest(
        text('return ["look", "put"]', 'return ["look"]'), "tools.json", "$[1]", {"tool": "put"}
    ),
    "unsupported_schema_keyword": Smallest(
        {"tools": look(type="string", minProperties=1)},
        "tools.json",
        "$[0].function.parameters.properties.box_id.minProperties",
        {"tool": "look"},
    ),
    "inconsistent_schema_bounds": Smallest(
        {"tools": look(type="string", minLength=2, maxLength=1)},
        "tools.json",
        "$[0].function.parameters.properties.box_id.minLength",
        {"tool": "look"},
    ),
}


@pytest.mark.parametrize("reason", SMALLEST)
def test_each_reason_has_its_smallest_pack(tmp_path: Path, reason: str) -> None:
    """One mistake is one failure, at its place."""
    smallest = SMALLEST[reason]
    root = write(tmp_path / "pack", **smallest.change)
    assert_earned(failures(root, "3"), reason, smallest, root)


@pytest.mark.parametrize("name", ["list_tools", "reset", "call_tool", "get_state"])
@pytest.mark.parametrize("how", ["del {}", "{} = 3"])
def test_a_function_that_is_not_there_has_no_line(tmp_path: Path, name: str, how: str) -> None:
    """Missing, or something that can't be called; nothing else is asked of the backend then."""
    (failure,) = failures(write(tmp_path / "pack", also=how.format(name)), "3")
    assert (failure.reason, failure.file, failure.line) == ("missing_backend_symbol", "backend.py", None)
    assert failure.facts == {"symbol": name}


def test_a_tool_that_the_catalog_lacks_has_no_place_in_it(tmp_path: Path) -> None:
    """The oracle's file is told, and the name that was probably meant."""
    change = text('return ["look", "put"]', 'return ["look", "put", "pot"]')
    (failure,) = failures(write(tmp_path / "pack", **change), "3")
    assert (failure.reason, failure.file) == ("implementation_without_schema", "backend.py")
    assert failure.message.endswith("; did you mean `put`?")
    assert failure.facts == {"tool": "pot"}


@pytest.mark.parametrize("answer", ['{"look": 1, "put": 2}', "None", '["look", "put", 3]', '"look"'])
def test_what_is_no_list_of_names_is_none(tmp_path: Path, answer: str) -> None:
    """However it looks in Python."""
    (failure,) = failures(write(tmp_path / "pack", also=f"def list_tools():\n    return {answer}"), "3")
    assert (failure.reason, failure.file, failure.facts) == ("list_tools_failed", "backend.py", {})
    assert "must give a list of names" in failure.message


def test_the_names_may_come_in_any_order_and_twice(tmp_path: Path) -> None:
    """They are a set."""
    change = text('return ["look", "put"]', 'return ["put", "look", "put"]')
    assert failures(write(tmp_path / "pack", **change), "3") == []


def test_mistakes_of_the_catalog_do_not_hide_those_of_the_oracle(tmp_path: Path) -> None:
    """The catalog's first, in its order."""
    tools = [*look(type="text"), {**LOOK, "function": {"name": "find"}}]
    found = failures(write(tmp_path / "pack", tools=tools), "3")
    told = [(failure.reason, failure.facts["tool"]) for failure in found]
    assert told[0] == ("invalid_schema_type", "look")
    assert told[-1] == ("schema_without_implementation", "find")


def test_the_reasons_are_the_catalogs_and_those_tested_here() -> None:
    """None is left without a test."""
    untold = {"missing_backend_symbol", "implementation_without_schema"}
    own = set(CHECK.reasons) - set(SCHEMA_REASONS)
    assert own == untold | (set(SMALLEST) - set(SCHEMA_REASONS))
    assert (CHECK.id, CHECK.name) == ("3", "backend_schema_alignment")


def test_the_good_pack_passes(tmp_path: Path) -> None:
    """Nothing is reported."""
    assert failures(write(tmp_path / "pack"), "3") == []
