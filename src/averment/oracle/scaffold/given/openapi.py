"""OpenAPI 3.0 and 3.1: every operation is a tool.

A tool is called as its `operationId`, or its method and path; what is no letter, digit, `_` or `-` becomes `_`. Its
arguments are the parameters of path, query and headers and the body: the properties of a body that must be there and is
a plain object stand beside the parameters, any other body is the argument `body`. `GET` and its like change nothing,
other methods may.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from averment.oracle.scaffold.given.tools import Given, GivenTool
from averment.oracle.scaffold.subset.changes import Change, Path
from averment.oracle.scaffold.subset.narrowing import Narrowing
from averment.oracle.scaffold.subset.parameters import as_object
from averment.oracle.scaffold.subset.shared import place_of, value_at
from averment.oracle.scaffold.subset.unions import ANNOTATIONS
from averment.text.source import Source
from averment.text.structs import describe

__all__ = ["METHODS", "read"]

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_SAFE: Final = frozenset({"get", "head", "options", "trace"})
_IGNORED_HEADERS: Final = frozenset({"accept", "content-type", "authorization"})
_MAX_NAME: Final = 64
_MAX_BYTES: Final = 10 * 2**20
"""What all parameters of all tools may come to; more could not be loaded again."""


class _Argument(msgspec.Struct, frozen=True):
    name: str
    place: str
    schema: dict[str, Any]
    required: bool
    path: Path


class _Operation(msgspec.Struct, frozen=True):
    method: str
    name: str
    description: str | None
    path: Path
    arguments: list[_Argument]
    body: _Argument | None


def read(source: Source) -> Given:
    """The operations of the description."""
    reader = _Reader(source)
    version = source.value.get("openapi")
    if not isinstance(version, str) or not re.match(r"3\.[01](\.|$)", version):
        reader.given.problems.append(
            source.problem(
                "unsupported_openapi",
                "this version of OpenAPI can't be read",
                ("openapi",) if version is not None else (),
                expected="`openapi: 3.0.x` or `3.1.x`",
                found=describe(version if version is not None else source.value.get("swagger")),
                mend="Convert it first.",
            )
        )
        return reader.given
    return reader.read()


class _Reader:
    """Reads one description."""

    def __init__(self, source: Source) -> None:
        self.given = Given(kind="an OpenAPI description")
        self._source = source
        self._narrowing = Narrowing(source, is_request=True)
        self._taken: set[str] = set()
        self._bytes = 0

    def read(self) -> Given:
        """All operations: first each with schemas that still refer to others, then each closed."""
        operations = list(self._operations())
        self._narrowing.settle()
        self.given.problems += self._narrowing.problems
        if not self.given.problems:
            for operation in operations:
                tool = self._tool(operation)
                if self._bytes > _MAX_BYTES:
                    problem = self._source.problem(
                        "tools_too_large",
                        "the tools' schemas are too large",
                        operation.path,
                        expected=f"at most {_MAX_BYTES // 2**20} MB with all that each refers to",
                        mend="Keep the operations that the pack is about.",
                    )
                    self.given.problems.append(problem)
                    break
                self.given.tools.append(tool)
        self.given.changes += self._narrowing.changes
        return self.given

    def _operations(self) -> Iterator[_Operation]:
        paths = self._source.value.get("paths")
        for url, item, place in self._members(paths, ("paths",)):
            for method in METHODS:
                if isinstance(item.get(method), dict):
                    yield self._operation(url, method, item, place)

    def _operation(self, url: str, method: str, item: Mapping[str, Any], outer: Path) -> _Operation:
        operation, path = item[method], (*outer, method)
        name = self._name(operation.get("operationId"), f"{method}_{url}")
        found: dict[tuple[str, str], _Argument] = {}
        for holder, place in ((item, outer), (operation, path)):
            listed = holder.get("parameters")
            for index, entry in enumerate(listed if isinstance(listed, list) else []):
                argument = self._parameter(entry, (*place, "parameters", index), name)
                if argument is not None:
                    found[argument.place, argument.name] = argument
        said = [operation.get(key) for key in ("summary", "description")]
        sentences = dict.fromkeys(text.strip() for text in said if isinstance(text, str) and text.strip())
        return _Operation(
            method=method,
            name=name,
            description="\n\n".join(sentences) or None,
            path=path,
            arguments=list(found.values()),
            body=self._body(operation.get("requestBody"), (*path, "requestBody"), name),
        )

    def _name(self, operation_id: object, fallback: str) -> str:
        given = operation_id if isinstance(operation_id, str) and operation_id.strip() else fallback
        odd = r"[^A-Za-z0-9_-]+" if given is operation_id else r"[^A-Za-z0-9-]+"
        stem = (re.sub(odd, "_", given).strip("_") or "operation")[:_MAX_NAME]
        name, number = stem, 2
        while name in self._taken:
            name, number = f"{stem[: _MAX_NAME - 5]}_{number}", number + 1
        self._taken.add(name)
        if given is operation_id and name != given:
            self.given.remarks.append(f"The operation `{given}` is the tool `{name}`.")
        return name

    def _parameter(self, entry: object, path: Path, tool: str) -> _Argument | None:
        parameter, path = self._resolved(entry, path)
        name, place = parameter.get("name"), parameter.get("in")
        if not isinstance(name, str) or not name or place not in {"path", "query", "header", "cookie"}:
            self._remark(tool, "a parameter without a name or a place was left out")
            return None
        if place == "cookie" or (place == "header" and name.lower() in _IGNORED_HEADERS):
            self._remark(tool, f"the {place} parameter `{name}` was left out: it is no business of the agent")
            return None
        schema, where = parameter.get("schema"), (*path, "schema")
        if schema is None:
            schema, where = self._content(parameter, path)
        narrowed = self._narrowing.schema({} if schema is None else schema, where)
        description = parameter.get("description")
        if isinstance(description, str) and "description" not in narrowed:
            narrowed["description"] = description
        required = parameter.get("required") is True or place == "path"
        return _Argument(name, place, narrowed, required, path)

    def _body(self, entry: object, path: Path, tool: str) -> _Argument | None:
        if entry is None:
            return None
        body, path = self._resolved(entry, path)
        schema, where = self._content(body, path)
        if schema is None:
            kinds = ", ".join(body["content"]) if isinstance(body.get("content"), dict) else "nothing"
            self._remark(tool, f"the body was left out: it is no JSON, but {kinds or 'nothing'}")
            return None
        narrowed = self._narrowing.schema(schema, where)
        return _Argument("body", "body", narrowed, body.get("required") is True, path)

    def _content(self, holder: Mapping[str, Any], path: Path) -> tuple[Any, Path]:
        """The schema of what has JSON for content, and where it stands; None where nothing has."""
        content = holder.get("content")
        for kind, media in content.items() if isinstance(content, dict) else ():
            if re.fullmatch(
                r"\*/\*|application/([\w.-]+\+)?(json|\*)", kind.partition(";")[0].strip().lower()
            ):
                schema = media.get("schema") if isinstance(media, dict) else None
                return {} if schema is None else schema, (*path, "content", kind, "schema")
        return None, path

    def _tool(self, operation: _Operation) -> GivenTool:
        properties: dict[str, Any] = {}
        required: list[str] = []
        for argument in [*operation.arguments, *self._of_body(operation)]:
            name, number = argument.name, 2
            if name in properties:
                name = f"{argument.name}_{argument.place}"
            while name in properties:
                name, number = f"{argument.name}_{argument.place}_{number}", number + 1
            if name != argument.name:
                about = f"the {argument.place} parameter `{argument.name}` is the argument `{name}`"
                self._remark(operation.name, about)
            properties[name] = argument.schema
            if argument.required:
                required.append(name)
        parameters: dict[str, Any] = {"type": "object", "properties": properties}
        parameters |= {"required": required} if required else {}
        parameters |= {"additionalProperties": False}
        closed = self._narrowing.closed(parameters, operation.path)
        self._bytes += len(msgspec.json.encode(closed))
        safe = operation.method in _SAFE
        return GivenTool(
            name=operation.name,
            description=operation.description,
            parameters=closed,
            mutates=not safe,
            guessed=None if safe else f"the method is `{operation.method.upper()}`",
            destructive=operation.method == "delete",
        )

    def _of_body(self, operation: _Operation) -> list[_Argument]:
        """The arguments that a body comes to: its properties, or itself."""
        body = operation.body
        if body is None:
            return []
        plain = as_object(body.schema, self._narrowing.shared) if body.required else None
        taken = {argument.name for argument in operation.arguments}
        if (
            plain is None
            or not plain["properties"]
            or plain.keys() - ANNOTATIONS - {"type", "properties", "required", "additionalProperties"}
            or plain.get("additionalProperties", False) is True
            or taken & plain["properties"].keys()
        ):
            return [body]
        if "additionalProperties" not in plain:
            about = "further properties of a body, which the description doesn't name, are not allowed"
            self._narrowing.changes.append(Change("narrower", about, body.path))
        required = plain.get("required", [])
        return [
            _Argument(name, "body", schema, name in required, body.path)
            for name, schema in plain["properties"].items()
        ]

    def _members(self, holder: object, path: Path) -> Iterator[tuple[str, Mapping[str, Any], Path]]:
        if not isinstance(holder, dict):
            problem = self._source.problem("not_tools", "`paths` is missing or no mapping", path[:-1])
            self.given.problems.append(problem)
            return
        for name, entry in holder.items():
            if not name.startswith("x-"):
                member, place = self._resolved(entry, (*path, name))
                yield name, member, place

    def _resolved(self, entry: object, path: Path) -> tuple[dict[str, Any], Path]:
        """What stands there, or what its `$ref` leads to; empty where that is nothing."""
        seen: set[Path] = set()
        while isinstance(entry, dict) and isinstance(entry.get("$ref"), str) and path not in seen:
            seen.add(path)
            place = place_of(entry["$ref"], self._source.value)
            if place is None:
                about = "a `$ref` that leads to nothing in this file was left out"
                self._narrowing.changes.append(Change("wider", about, (*path, "$ref")))
                return {}, path
            entry, path = value_at(place, self._source.value), place
        return entry if isinstance(entry, dict) else {}, path

    def _remark(self, tool: str, about: str) -> None:
        self.given.remarks.append(f"`{tool}`: {about}.")
