"""Lists of tools of three kinds: told by their content, read alike, refused with every mistake."""

from __future__ import annotations

import json
from typing import Any

import pytest

from averment.errors import DocumentError, UsageError
from averment.oracle.catalog.definitions import definition_failures
from averment.oracle.scaffold.given.reading import read_tools
from averment.oracle.scaffold.given.tools import MAX_TOOLS, Given

OBJECT = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}


def _read(value: Any) -> Given:
    given = read_tools(json.dumps(value).encode(), name="tools.json")
    for tool in given.tools:
        entry = {"type": "function", "function": {"name": tool.name, "parameters": tool.parameters}}
        assert definition_failures(entry) == [], tool.name
    return given


def _refused(value: Any) -> list[tuple[str, str | None]]:
    with pytest.raises(UsageError) as refused:
        _read(value)
    assert all(each.file == "tools.json" for each in refused.value.problems)
    return [(each.code, each.path) for each in refused.value.problems]


def _api(operation: Any, *, method: str = "post", **more: Any) -> dict[str, Any]:
    return {"openapi": "3.1.0", "paths": {"/things/{id}": {method: operation}}, **more}


def _body(schema: Any, *, kind: str = "application/json", required: bool = True) -> dict[str, Any]:
    return {"required": required, "content": {kind: {"schema": schema}}}


ALIKE: list[tuple[str, Any]] = [
    ("an OpenAI list of tools", [{"type": "function", "function": {"name": "get", "parameters": OBJECT}}]),
    ("an OpenAI list of tools", [{"function": {"name": "get", "parameters": OBJECT}}]),
    ("an OpenAI list of tools", [{"type": "function", "name": "get", "parameters": OBJECT}]),
    (
        "an OpenAI list of tools",
        {"model": "m", "tools": [{"type": "function", "name": "get", "parameters": OBJECT}]},
    ),
    ("an MCP `tools/list` answer", {"tools": [{"name": "get", "inputSchema": OBJECT}]}),
    (
        "an MCP `tools/list` answer",
        {"jsonrpc": "2.0", "result": {"tools": [{"name": "get", "inputSchema": OBJECT}]}},
    ),
]


@pytest.mark.parametrize(("kind", "value"), ALIKE, ids=lambda each: str(each)[:40])
def test_the_content_tells_the_kind(kind: str, value: Any) -> None:
    """Alone, in a request, in a JSON-RPC message: the same tool."""
    given = _read(value)
    assert given.kind == kind
    assert [(tool.name, tool.parameters) for tool in given.tools] == [("get", OBJECT)]


def test_yaml_is_read_as_json_is() -> None:
    """OpenAPI is mostly written so."""
    text = b"openapi: 3.0.3\npaths:\n  /a:\n    get: {operationId: list_a}\n"
    given = read_tools(text, name="api.yaml")
    assert (given.kind, [tool.name for tool in given.tools]) == ("an OpenAPI description", ["list_a"])


@pytest.mark.parametrize("value", [{}, "tools", 3, {"tools": {}}, {"functions": []}, {"result": {}}])
def test_anything_else_is_refused_with_what_is_expected(value: Any) -> None:
    """All three kinds are named."""
    with pytest.raises(UsageError, match="not_tools") as refused:
        _read(value)
    assert all(word in str(refused.value) for word in ("OpenAI", "MCP", "OpenAPI"))


def test_what_is_no_text_of_ours_is_refused() -> None:
    """With the place."""
    with pytest.raises(DocumentError):
        read_tools(b"{", name="tools.json")


@pytest.mark.parametrize("value", [[], {"tools": []}, {"openapi": "3.0.0", "paths": {}}])
def test_a_list_without_tools_is_refused(value: Any) -> None:
    """There is nothing to draft from."""
    assert _refused(value) == [("no_tools", None)]


def test_more_tools_than_any_agent_is_given_are_refused() -> None:
    """The bound is the constant's."""
    tools = [{"type": "function", "name": f"t{index}"} for index in range(MAX_TOOLS + 1)]
    assert len(_read(tools[:-1]).tools) == MAX_TOOLS
    assert _refused(tools) == [("too_many_tools", None)]


def test_all_mistakes_are_told_in_the_order_of_the_file() -> None:
    """Names, kinds and schemas."""
    assert _refused(
        [
            {"type": "web_search"},
            {"type": "function", "function": {"parameters": {"properties": {"a": {"type": "any"}}}}},
            {"type": "function", "name": "a", "parameters": {"type": "array"}},
            {"type": "function", "name": "a"},
            {"type": "function", "function": "b"},
            {"type": "function", "name": "c", "parameters": []},
            3,
        ]
    ) == [
        ("not_a_function", "$[0]"),
        ("invalid_tool_name", "$[1].function.name"),
        ("invalid_schema_type", "$[1].function.parameters.properties.a.type"),
        ("parameters_not_object", "$[2].parameters"),
        ("duplicate_tool", "$[3].name"),
        ("invalid_tool_name", "$[4].function.name"),
        ("parameters_not_object", "$[5].parameters"),
        ("not_a_function", "$[6]"),
    ]


@pytest.mark.parametrize("name", ["a.b", "a-b", "ns/tool", "größe", "x" * 128])
def test_names_stay_as_they_are(name: str) -> None:
    """The agent calls the tool by it."""
    assert [tool.name for tool in _read([{"type": "function", "name": name}]).tools] == [name]


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\u202eb", "x" * 129, 3, None])
def test_names_that_are_none_are_refused(name: Any) -> None:
    """They stand in code and in texts."""
    assert _refused([{"type": "function", "name": name}]) == [("invalid_tool_name", "$[0].name")]


@pytest.mark.parametrize("parameters", [None, {}, {"type": "object"}])
def test_a_tool_without_parameters_takes_none(parameters: Any) -> None:
    """Left out, null or empty."""
    given = _read([{"type": "function", "name": "ping", "parameters": parameters}])
    assert given.tools[0].parameters == {"type": "object", "properties": {}}


def test_the_keys_of_packs_are_kept_and_others_told() -> None:
    """A pack's own `tools.json` is a list of tools too."""
    given = _read(
        [
            {
                "type": "function",
                "function": {"name": "a", "description": "d", "strict": True, "returns": 1},
                "x-mutates": True,
                "x-requires-confirmation": True,
                "x-cost": 3,
            }
        ]
    )
    (tool,) = given.tools
    assert (tool.description, tool.strict, tool.mutates, tool.requires_confirmation) == (
        "d",
        True,
        True,
        True,
    )
    assert [change.place for change in given.changes] == ["$[0].function.returns", '$[0]["x-cost"]']


@pytest.mark.parametrize(
    ("annotations", "mutates", "destructive"),
    [
        (None, None, False),
        ({}, None, False),
        ({"readOnlyHint": True}, False, False),
        ({"readOnlyHint": False}, True, False),
        ({"destructiveHint": True}, True, True),
        ({"readOnlyHint": True, "destructiveHint": True}, False, False),
        ({"destructiveHint": False}, None, False),
        ("read only", None, False),
    ],
)
def test_hints_of_mcp_say_what_a_tool_does(annotations: Any, mutates: bool | None, destructive: bool) -> None:
    """Where there are none, nobody knows."""
    given = _read({"tools": [{"name": "a", "inputSchema": {"type": "object"}, "annotations": annotations}]})
    assert (given.tools[0].mutates, given.tools[0].destructive) == (mutates, destructive)


def test_a_page_of_an_mcp_answer_says_that_there_are_more() -> None:
    """The list is not whole."""
    given = _read({"tools": [{"name": "a", "inputSchema": {"type": "object"}}], "nextCursor": "2"})
    assert "nextCursor" in given.remarks[0]


@pytest.mark.parametrize(
    "value", [{"swagger": "2.0"}, {"openapi": "2.0"}, {"openapi": 3}, {"openapi": "3.2.0"}]
)
def test_other_versions_of_openapi_are_refused(value: Any) -> None:
    """They say things in other places."""
    assert [code for code, _ in _refused({**value, "paths": {}})] == ["unsupported_openapi"]


@pytest.mark.parametrize(
    ("method", "mutates"),
    [("get", False), ("head", False), ("post", True), ("put", True), ("patch", True), ("delete", True)],
)
def test_the_method_says_whether_anything_changes(method: str, mutates: bool) -> None:
    """Which is only likely, and told as that."""
    (tool,) = _read(_api({}, method=method)).tools
    assert (tool.name, tool.mutates) == (f"{method}_things_id", mutates)
    assert (tool.guessed is not None) == mutates
    assert tool.destructive == (method == "delete")


@pytest.mark.parametrize(
    ("operation_id", "name"),
    [
        ("getThing", "getThing"),
        ("things/get", "things_get"),
        ("  ", "post_things_id"),
        ("ü", "operation"),
        ("x" * 70, "x" * 64),
    ],
)
def test_operations_have_names_that_models_may_call(operation_id: str, name: str) -> None:
    """Letters, digits, `_` and `-`, at most 64; a name that had to change is told."""
    given = _read(_api({"operationId": operation_id}))
    assert [tool.name for tool in given.tools] == [name]
    assert bool(given.remarks) == (operation_id.strip() not in {"", name})


def test_operations_of_one_name_are_told_apart() -> None:
    """A number is put behind it."""
    paths = {f"/{each}": {"get": {"operationId": "a b"}, "post": {"operationId": "a_b"}} for each in "xy"}
    assert [tool.name for tool in _read({"openapi": "3.0.0", "paths": paths}).tools] == [
        "a_b",
        "a_b_2",
        "a_b_3",
        "a_b_4",
    ]


def test_arguments_come_from_everywhere() -> None:
    """Path, query, headers, and the properties of a body; what an operation says of a parameter goes before its path."""
    given = _read(
        {
            "openapi": "3.0.1",
            "paths": {
                "/things/{id}": {
                    "parameters": [
                        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                        {"name": "limit", "in": "query", "schema": {"type": "string"}},
                    ],
                    "post": {
                        "summary": "Make one.",
                        "description": "With a name.",
                        "parameters": [
                            {
                                "name": "limit",
                                "in": "query",
                                "description": "How many",
                                "schema": {"type": "integer"},
                            },
                            {"$ref": "#/components/parameters/Trace"},
                            {
                                "name": "filter",
                                "in": "query",
                                "content": {"application/json": {"schema": {"type": "object"}}},
                            },
                            {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
                            {"name": "session", "in": "cookie", "schema": {"type": "string"}},
                        ],
                        "requestBody": {"$ref": "#/components/requestBodies/Thing"},
                    },
                }
            },
            "components": {
                "parameters": {"Trace": {"name": "X-Trace", "in": "header", "required": True, "schema": {}}},
                "requestBodies": {"Thing": _body({"$ref": "#/components/schemas/Thing"})},
                "schemas": {
                    "Thing": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string"},
                            "tags": {"$ref": "#/components/schemas/Tags"},
                        },
                    },
                    "Tags": {"type": "array", "items": {"type": "string"}},
                },
            },
        }
    )
    (tool,) = given.tools
    assert tool.description == "Make one.\n\nWith a name."
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "limit": {"type": "integer", "description": "How many"},
            "X-Trace": {},
            "filter": {"type": "object"},
            "name": {"type": "string"},
            "tags": {"$ref": "#/$defs/Tags"},
        },
        "required": ["id", "X-Trace", "name"],
        "additionalProperties": False,
        "$defs": {"Tags": {"type": "array", "items": {"type": "string"}}},
    }
    assert len(given.remarks) == 2
    assert [change.effect for change in given.changes] == ["narrower"]


@pytest.mark.parametrize(
    ("body", "required"),
    [
        (_body({"type": "array"}), ["body"]),
        (_body({"type": "object", "properties": {"a": {}}}, required=False), None),
        (_body({"type": "object", "properties": {"a": {}}, "additionalProperties": True}), ["body"]),
        (_body({"type": "object", "properties": {"q": {}}}), ["body"]),
        (_body({"type": "object"}, kind="application/vnd.api+json; charset=utf-8"), ["body"]),
        (_body({}, kind="*/*"), ["body"]),
    ],
)
def test_a_body_that_can_t_be_spread_is_one_argument(body: Any, required: Any) -> None:
    """It may be absent, is no plain object, or has a name that is taken."""
    parameters = [{"name": "q", "in": "query", "schema": {}}]
    (tool,) = _read(_api({"parameters": parameters, "requestBody": body})).tools
    assert list(tool.parameters["properties"]) == ["q", "body"]
    assert tool.parameters.get("required") == required


def test_parameters_of_one_name_are_told_apart() -> None:
    """By where they stand."""
    parameters: list[Any] = [
        {"name": "id", "in": place, "schema": {}} for place in ("path", "query", "header")
    ]
    given = _read(_api({"parameters": parameters}))
    assert list(given.tools[0].parameters["properties"]) == ["id", "id_query", "id_header"]
    assert len(given.remarks) == 2


@pytest.mark.parametrize("kind", ["multipart/form-data", "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_that_is_no_json_is_left_out_and_told(kind: str) -> None:
    """Tools take JSON."""
    given = _read(_api({"requestBody": _body({"type": "object"}, kind=kind)}))
    assert given.tools[0].parameters["properties"] == {}
    assert kind in given.remarks[0]


@pytest.mark.parametrize(
    "operation",
    [
        {"parameters": {"a": 1}, "requestBody": []},
        {"parameters": [3, {}, {"name": "a"}, {"name": 1, "in": "query"}, {"$ref": "#/nowhere"}]},
        {"parameters": [{"$ref": "#/paths/~1things~1{id}/post/parameters/0"}]},
        {"requestBody": {"content": {"application/json": None}}},
        {"requestBody": {"content": [1]}},
        {"operationId": 3, "summary": 4},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_passed_over_and_told(operation: Any) -> None:
    """The tool is there, with what does."""
    given = _read(_api(operation))
    assert len(given.tools) == 1
    assert given.remarks or given.changes or set(given.tools[0].parameters["properties"]) <= {"body"}


def test_schemas_that_come_to_too_much_are_refused() -> None:
    """Each tool has all definitions that it needs, so a few megabytes can become many."""
    schemas = {f"S{index}": {"type": "string", "description": "d" * 10_000} for index in range(100)}
    whole = {"properties": {name: {"$ref": f"#/components/schemas/{name}"} for name in schemas}}
    paths = {f"/{index}": {"post": {"requestBody": _body(whole)}} for index in range(20)}
    assert [
        code for code, _ in _refused({"openapi": "3.0.0", "paths": paths, "components": {"schemas": schemas}})
    ] == ["tools_too_large"]


def test_mistakes_in_shared_schemas_are_told_once() -> None:
    """At the place where they stand."""
    operation = {"requestBody": _body({"$ref": "#/components/schemas/A"})}
    api = _api(operation, components={"schemas": {"A": {"type": "text"}}})
    api["paths"]["/more"] = {"post": operation}
    assert _refused(api) == [("invalid_schema_type", "$.components.schemas.A.type")]


@pytest.mark.parametrize("value", [{"openapi": "3.0.0"}, {"openapi": "3.0.0", "paths": []}])
def test_a_description_without_paths_is_refused(value: Any) -> None:
    """Webhooks are not tools."""
    assert [code for code, _ in _refused(value)] == ["not_tools"]


def _nested(levels: int) -> list[dict[str, Any]]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return [{"type": "function", "name": "a", "parameters": schema}]


def test_schemas_are_as_deep_as_any_document_may_be() -> None:
    """Deeper ones are refused before anything looks at them."""
    assert len(_read(_nested(30)).tools) == 1
    with pytest.raises(DocumentError, match="document_too_deep"):
        _read(_nested(32))
