"""Packs drafted from lists of tools: they load, every text in them holds, and they lack what they say."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from averment.errors import DocumentError, UsageError
from averment.oracle.catalog.definitions import definition_failures
from averment.oracle.model.loading import load_pack
from averment.oracle.scaffold.draft.draft import draft
from averment.oracle.scaffold.given.reading import read_tools
from averment.oracle.scaffold.identity import Identity
from averment.oracle.tasks.plan import plan
from averment.text.source import read_source

New = Callable[..., Path]


def _tool(name: str, **properties: Any) -> dict[str, Any]:
    required = [each for each in properties if not each.startswith("_")]
    parameters = {
        "type": "object",
        "properties": {each.lstrip("_"): schema for each, schema in properties.items()},
        "required": required,
        "additionalProperties": False,
    }
    return {"type": "function", "name": name, "parameters": parameters}


ORDINARY = [
    _tool(
        "get_order",
        order_id={"type": "string", "pattern": "^ORD-[0-9]{4}$"},
        _verbose={"type": "boolean"},
    ),
    {
        **_tool(
            "cancel_order",
            order_id={"type": "string"},
            reason={"type": "string", "enum": ["late", "broken"]},
            _confirm={"type": "boolean", "default": False},
        ),
        "x-mutates": True,
        "x-requires-confirmation": True,
    },
]

TRICKY = [
    _tool("orders.get", **{"order id": {"type": "integer"}, "order-id": {"type": "number", "minimum": 0.5}}),
    _tool("orders_get"),
    _tool("Orders.Get", a={"type": "string", "enum": ["{b}", "plain"]}),
    _tool("import", a={"type": "string", "default": 'it\'s "quoted" \\ {a} {from}'}),
    _tool("select", select={"type": "array", "items": {"const": "{a}"}}),
    _tool('say "hi"', a={"const": {"from_result": {"call": "x", "path": "y"}}}),
    _tool("kindly", a={"type": "null"}, b={"type": "boolean"}, c={"type": "object"}, d={"const": ""}),
    _tool("größe", größe={"type": "string", "examples": ["ü\u00a0x", " padded "]}),
    {"type": "function", "name": "open", "parameters": {"type": "object"}},
    _tool("never", a={"type": "string", "pattern": "^a$", "minLength": 2}),
    {"type": "function", "name": "word", "x-mutates": True, "x-requires-confirmation": True},
    _tool("_", **{"1": {"type": "string", "enum": ["no", "yes", "1"]}}),
    _tool("x" * 128, y={"type": "string", "default": "z" * 300}),
]


@pytest.mark.parametrize("tools", [ORDINARY, TRICKY], ids=["ordinary", "tricky"])
@pytest.mark.parametrize(
    "options",
    [(), ("--held-out",), ("--transport", "endpoint"), ("--language", "no", "--held-out")],
    ids=lambda each: " ".join(each) or "plain",
)
def test_a_draft_loads_strictly_without_a_warning(new: New, tools: Any, options: tuple[str, ...]) -> None:
    """Whatever the tools are called and take, and every conversation has the shape that its policy asks for."""
    folder = new("shop", *options, tools=tools)
    pack = load_pack(folder, strict=True)
    assert pack.warnings == ()
    assert [tool.name for tool in pack.tools] == [each["name"] for each in tools]
    assert [failure for tool in pack.tools for failure in definition_failures(tool.declared)] == []
    assert len(pack.templates) == len(tools) + 1
    assert all(plan(template).steps for template in pack.templates)
    expected = {
        "README.md",
        "assertions.py",
        "fixtures.json",
        "manifest.yaml",
        "task_templates.yaml",
        "tools.json",
    }
    expected |= {"validation_cases.yaml", "endpoint_config.yaml" if "endpoint" in options else "backend.py"}
    expected |= {"held_out.yaml"} if "--held-out" in options else set()
    assert {path.name for path in folder.iterdir()} == expected


@pytest.mark.parametrize("tools", [ORDINARY, TRICKY], ids=["ordinary", "tricky"])
def test_every_tool_has_a_stub_and_a_pair_of_probes(new: New, running: Any, tools: Any) -> None:
    """The stub refuses; what should succeed is allowed by the schema, what should be refused isn't."""
    pack = running(new("shop", tools=tools))
    pack.reset()
    assert pack.backend.list_tools() == list(pack.tools)
    unfit = {"never_success"}
    for case, result, unchanged in pack.probes():
        assert result == {"error": {"code": "not_implemented", "id": case["tool"]}}
        assert unchanged
        wanted = case["expect"]["result_class"]
        assert (wanted == "structured_error") == case["id"].endswith("_refused")
        if case["id"].endswith(("_success", "_unconfirmed")):
            assert pack.allows(case["tool"], case["arguments"]) == (case["id"] not in unfit), case["id"]
        elif case["tool"] not in {"open", "word"}:
            assert not pack.allows(case["tool"], case["arguments"]), case["id"]
    probed = [case["tool"] for case in pack.cases]
    assert all(probed.count(name) >= 2 for name in pack.tools)


@pytest.mark.parametrize("tools", [ORDINARY, TRICKY], ids=["ordinary", "tricky"])
def test_templates_and_assertions_hold_once_the_tools_work(new: New, running: Any, tools: Any) -> None:
    """With tools that answer, each task passes; with stubs, with another call or none, it doesn't."""
    pack = running(new("shop", tools=tools))
    for name, template in pack.templates.items():
        for task in pack.tasks(name):
            trace = pack.play(name, task)
            if not trace:
                assert pack.judge(name, task, trace) == []
                continue
            assert pack.judge(name, task, trace) != []
            answered = [{**call, "result": {"done": True}} for call in trace]
            assert pack.judge(name, task, answered) == []
            assert pack.judge(name, task, []) != []
            assert pack.judge(name, task, answered * 2) != []
            said = [f"{{{slot}}}" for slot in task["slots"]]
            args = template["assistant_milestones"][-2]["args"]
            for argument in (name for name, value in args.items() if value in said):
                other = {**answered[0], "arguments": {**answered[0]["arguments"], argument: "another"}}
                assert pack.judge(name, task, [other]) != []


def test_users_say_every_value_and_no_tool_s_name(new: New, running: Any) -> None:
    """As the guards of user turns ask for."""
    pack = running(new("shop", tools=TRICKY))
    names = [name.casefold() for name in pack.tools]
    for name, template in pack.templates.items():
        (text,) = template["user_turn_templates"].values()
        words = (
            text.casefold().replace("{", " ").replace("}", " ").replace(",", " ").replace(".", " ").split()
        )
        spoken = [
            word for word in words if word not in {slot.casefold() for slot in template.get("slots", {})}
        ]
        assert not set(spoken) & set(names), name
        assert all(f"{{{slot}}}" in text for slot in template.get("slots", {})), name


def test_an_enumeration_becomes_a_slot_with_all_its_values(new: New, running: Any) -> None:
    """So that each is tried."""
    pack = running(new("shop", tools=ORDINARY))
    slots = pack.templates["draft_cancel_order"]["slots"]
    assert slots["reason"]["source"] == "enum:cancel_order.reason"
    assert slots["order_id"]["source"] == "literal:['sample']"
    assert len(list(pack.tasks("draft_cancel_order"))) == 2


def test_a_tool_that_waits_is_asked_with_and_without_the_word(new: New, running: Any) -> None:
    """Three probes, and a conversation in which the user agrees."""
    pack = running(new("shop", tools=ORDINARY))
    said = {
        case["id"]: case["arguments"].get("confirm") for case in pack.cases if case["tool"] == "cancel_order"
    }
    assert said == {
        "cancel_order_success": True,
        "cancel_order_refused": True,
        "cancel_order_unconfirmed": False,
    }
    template = pack.templates["draft_cancel_order"]
    assert (template["turn_policy"], template["mutates"]) == ("confirmation", True)
    assert pack.tools["cancel_order"]["x-requires-confirmation"] is True


def test_a_tool_that_destroys_waits_where_it_can(new: New, running: Any) -> None:
    """An MCP hint and a boolean `confirm` together."""
    schemas = [{"type": "object", "properties": {"confirm": {"type": "boolean"}}}, {"type": "object"}]
    tools = [
        {"name": name, "inputSchema": schema, "annotations": {"destructiveHint": True}}
        for name, schema in zip(("wipe", "drop"), schemas, strict=True)
    ]
    folder = new("shop", tools={"tools": tools})
    pack = running(folder)
    assert [tool.get("x-requires-confirmation") for tool in pack.tools.values()] == [True, None]
    assert [tool["x-mutates"] for tool in pack.tools.values()] == [True, True]
    assert "wait for the user's word" in _section(folder, "Missing for gold")


def _section(folder: Path, title: str) -> str:
    return (
        (folder / "README.md")
        .read_text(encoding="utf-8")
        .partition(f"\n## {title}\n")[2]
        .partition("\n## ")[0]
    )


def test_the_readme_says_exactly_what_is_missing(new: New) -> None:
    """Each tool, probe, template and assertion that is only a draft, and what nobody can know."""
    missing = _section(new("shop", tools=[*ORDINARY, TRICKY[9], TRICKY[10]]), "Missing for gold")
    items = [line for line in missing.splitlines() if line[:1].isdigit()]
    assert [line.partition(". ")[0] for line in items] == [str(number) for number in range(1, len(items) + 1)]
    names = [line.strip("- `") for line in missing.splitlines() if line.startswith("   - ")]
    for stem in ("get_order", "cancel_order", "never", "word"):
        for name in (stem, f"{stem}_success", f"{stem}_refused", f"draft_{stem}", f"assert_{stem}_called"):
            assert name in names, name
    assert names.count("never_success") == 2  # to be written, and not even allowed
    assert names.count("word_refused") == 2  # its code is to be told, and its schema refuses nothing
    assert names.count("word") == 2  # to be implemented; and can't be told of the user's word
    assert "`fixtures.json`" in missing


def test_what_was_changed_in_the_schemas_is_told_with_its_places(new: New) -> None:
    """In the file that was given, not in the pack."""
    tools = [_tool("a", n={"type": "integer", "multipleOf": 5}), _tool("b", n={"not": {}})]
    changed = _section(new("shop", tools=tools), "Changed in the schemas")
    assert (
        "- `multipleOf` was left out (allows more than before): `$[0].parameters.properties.n.multipleOf`"
        in changed
    )
    assert "- `not` was left out (allows more than before): `$[1].parameters.properties.n.not`" in changed


def test_nothing_is_said_of_changes_where_there_were_none(new: New) -> None:
    """The section is not there."""
    folder = new("shop", tools=ORDINARY)
    assert "Changed in the schemas" not in (folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "hostile",
    [
        '"""\nimport os\n"""',
        "a`b",
        "</x>",
        "# __STUBS__",
        "__PACK_ID__",
        "{{a}}",
        "'; DROP",
        "\\N{DASH}",
        "${x}",
    ],
)
def test_no_text_of_the_file_becomes_code(hostile: str) -> None:
    """Not of names, not of descriptions, not of values."""
    name = "".join(each for each in hostile if each.isprintable())
    tools = [{**_tool(name, **{hostile: {"const": hostile}}), "description": hostile}]
    given = read_tools(json.dumps(tools).encode(), name="t.json")
    texts = draft(given, Identity(pack_id="p")).texts
    assert json.loads(texts["tools.json"])[0]["function"]["description"] == hostile
    backend, assertions = ast.parse(texts["backend.py"]), ast.parse(texts["assertions.py"])
    assert [ast.unparse(node) for node in ast.walk(backend) if isinstance(node, ast.Import)] == [
        "import copy"
    ]
    assert not [node for node in ast.walk(assertions) if isinstance(node, ast.Import)]
    constants = [node.value for node in ast.walk(backend) if isinstance(node, ast.Constant)]
    assert name in constants


def test_three_hundred_tools_are_drafted_in_time(new: New, running: Any) -> None:
    """As many as a large API has."""
    shared: dict[str, Any] = {
        f"S{index}": {"properties": {"a": {"$ref": f"#/components/schemas/S{index + 1}"}}}
        for index in range(50)
    }
    shared["S50"] = {"type": "string"}
    body = {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}},
    }
    paths = {f"/r{index}/{{id}}": {"get": {}, "put": {"requestBody": body}} for index in range(150)}
    folder = new("shop", tools={"openapi": "3.1.0", "paths": paths, "components": {"schemas": shared}})
    pack = load_pack(folder, strict=True)
    assert (len(pack.tools), len(pack.templates), len(pack.cases)) == (300, 301, 600)
    assert len(running(folder).assertions.ASSERTIONS) == 301


def test_the_same_file_gives_the_same_bytes_in_any_process(new: New, tmp_path: Path) -> None:
    """Whatever the hash seed."""
    folder = new("shop", tools=TRICKY)
    code = (
        "import sys; from averment.cli import pack_new; from averment.cli.parser import Parser, parse\n"
        "p = Parser('x', ''); pack_new.configure(p)\n"
        "pack_new.execute(parse(p, ['shop', '--target', sys.argv[1], '--tools', sys.argv[2]]))"
    )
    for seed in ("1", "2"):
        other = tmp_path / seed
        args = [sys.executable, "-c", code, str(other), str(tmp_path / "pack-tools.json")]
        subprocess.run(args, check=True, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True)
        for path in folder.iterdir():
            assert (other / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_draft_that_could_not_be_loaded_again_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the pack would be over the limit of documents, and is named."""
    monkeypatch.setattr("averment.oracle.scaffold.draft.draft.MAX_DOCUMENT_BYTES", 2_000)
    given = read_tools(json.dumps(ORDINARY).encode(), name="t.json")
    with pytest.raises(UsageError, match="tools_too_large") as refused:
        draft(given, Identity(pack_id="p"))
    assert "assertions.py" in str(refused.value)


def test_a_schema_that_would_stand_too_deep_in_the_pack_is_refused() -> None:
    """Packs have one level more around it than a list for responses has."""
    schema: dict[str, Any] = {"type": "string"}
    while True:
        deeper = {"items": schema}
        tools = [{"type": "function", "name": "a", "parameters": {"properties": {"a": deeper}}}]
        try:
            read_source(json.dumps(tools))
        except DocumentError:
            break
        schema = deeper
    tools = [{"type": "function", "name": "a", "parameters": {"properties": {"a": schema}}}]
    given = read_tools(json.dumps(tools).encode(), name="t.json")
    with pytest.raises(DocumentError, match="document_too_deep"):
        draft(given, Identity(pack_id="p"))
