"""What the tests of new packs share: making one as the command does, and running one without any of the machinery."""

from __future__ import annotations

import copy
import importlib.util
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from averment.cli import pack_new
from averment.cli.parser import Parser, parse
from averment.oracle.catalog.arguments import argument_failures
from averment.text.source import read_source

CTX = SimpleNamespace(clock=datetime.fromisoformat("2026-01-01T00:00:00+00:00"), seed=0, timeout_s=5.0)

New = Callable[..., Path]


@pytest.fixture
def new(tmp_path: Path) -> New:
    """Makes a pack in a folder of its own, as the command line does, and says where."""

    def make(name: str = "archive", *options: str, tools: object = None, target: str = "pack") -> Path:
        parser = Parser("averment pack new", "")
        pack_new.configure(parser)
        args = [name, "--target", str(tmp_path / target), *options]
        if tools is not None:
            file = tmp_path / f"{target}-tools.json"
            file.write_text(tools if isinstance(tools, str) else json.dumps(tools), encoding="utf-8")
            args += ["--tools", str(file)]
        assert pack_new.execute(parse(parser, args)) == 0
        return tmp_path / target

    return make


class Running:
    """A pack whose code runs here and now; only our own packs may."""

    def __init__(self, folder: Path) -> None:
        self.backend = _module(folder / "backend.py")
        self.assertions = _module(folder / "assertions.py")
        self.tools = {tool["function"]["name"]: tool for tool in _value(folder / "tools.json")}
        self.cases = _value(folder / "validation_cases.yaml")
        self.templates = {each["template_id"]: each for each in _value(folder / "task_templates.yaml")}
        self.fixtures = _value(folder / "fixtures.json")
        self.manifest = _value(folder / "manifest.yaml")

    def allows(self, tool: str, arguments: Any) -> bool:
        """Whether the tool's schema allows the arguments."""
        return not argument_failures(self.tools[tool]["function"]["parameters"], arguments)

    def reset(self) -> None:
        self.backend.reset(ctx=CTX, fixtures=copy.deepcopy(self.fixtures))

    def probes(self) -> Iterator[tuple[dict[str, Any], Any, bool]]:
        """Each probe with its result and whether the state is as before, in chains."""
        for case in self.cases:
            if case.get("reset_before", True):
                self.reset()
            before = self.backend.get_state()
            result = self.backend.call_tool(case["tool"], case["arguments"], ctx=CTX)
            yield case, result, before == self.backend.get_state()

    def tasks(self, template: str) -> Iterator[dict[str, Any]]:
        """The slots of each task of a template."""
        slots = self.templates[template].get("slots", {})
        for values in product(*(self._values(slot["source"]) for slot in slots.values())):
            yield {"slots": dict(zip(slots, values, strict=True))}

    def play(self, template: str, task: dict[str, Any], *, change: Any = None) -> list[dict[str, Any]]:
        """The trace of the template's calls; `change` may alter the calls before they are made."""
        calls = [
            (each["tool"], {name: _filled(value, task["slots"]) for name, value in each["args"].items()})
            for each in self.templates[template]["assistant_milestones"]
            if each["type"] == "tool_call"
        ]
        self.reset()
        return [
            {
                "tool": tool,
                "arguments": arguments,
                "result": self.backend.call_tool(tool, arguments, ctx=CTX),
                "turn_index": turn,
            }
            for turn, (tool, arguments) in enumerate(change(calls) if change else calls)
        ]

    def judge(self, template: str, task: dict[str, Any], trace: list[dict[str, Any]]) -> list[str]:
        """What the template's assertions have to say against the trace and the state that it led to."""
        said = []
        for name in self.templates[template]["success_assertions"]:
            try:
                verdict = self.assertions.ASSERTIONS[name](
                    state=self.backend.get_state(), trace=copy.deepcopy(trace), task=task, ctx=CTX
                )
                assert verdict is None
            except AssertionError as error:
                said.append(str(error))
        return said

    def _values(self, source: str) -> list[Any]:
        kind, _, rest = source.partition(":")
        name, _, field = rest.partition(".")
        if kind == "fixture":
            return [row[field] for row in self.fixtures[name]]
        if kind == "absent":
            return list(self.manifest["absent_ids"][name])
        if kind == "enum":
            return list(self.tools[name]["function"]["parameters"]["properties"][field]["enum"])
        assert kind == "literal"
        import ast

        return list(ast.literal_eval(rest))


@pytest.fixture
def running() -> type[Running]:
    """Runs a pack here and now."""
    return Running


def kind_of(result: Any) -> str:
    """The class of a result (contract, 5.2)."""
    if isinstance(result.get("error"), dict):
        return "structured_error"
    return "awaiting_confirmation" if result.get("status") == "awaiting_confirmation" else "success"


@pytest.fixture
def result_class() -> Callable[[Any], str]:
    """Says the class of a result."""
    return kind_of


def _filled(value: Any, slots: dict[str, Any]) -> Any:
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        return slots[value[1:-1]]
    return value


def _value(path: Path) -> Any:
    return read_source(path.read_bytes(), name=path.name).value


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"_pack_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
