"""The packs under `examples/packs`, their code run in this process: backends, predicates, calls."""

from __future__ import annotations

import copy
import functools
import importlib.util
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from averment.oracle.child.frozen import frozen
from averment.text.source import read_source

ROOT = Path(__file__).parents[3] / "examples" / "packs"
NAMES = ("library_lending", "bilingual_clinic")
CLOCK = "2026-01-01T00:00:00+00:00"

Call = tuple[str, dict[str, Any]]


class Context(msgspec.Struct, frozen=True):
    """What pack code is given as `ctx`."""

    clock: datetime
    seed: int = 0
    timeout_s: float = 5.0
    task_id: str = "task"
    turn_index: int = 0


class Played(msgspec.Struct):
    """What calls came to: the trace and the state after them; `before` is the state that they started from."""

    trace: list[dict[str, Any]]
    state: dict[str, Any]
    before: dict[str, Any]


class ExamplePack:
    """One pack, read without the loader."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.root = ROOT / name

    def document(self, file: str) -> Any:
        """The value of a YAML or JSON file, a new one on each call."""
        return copy.deepcopy(_read(self.root / file))

    def cases(self) -> list[dict[str, Any]]:
        """The probes."""
        cases: list[dict[str, Any]] = self.document("validation_cases.yaml")
        return cases

    def chains(self) -> list[list[dict[str, Any]]]:
        """The probes, each reset with what follows it."""
        chains: list[list[dict[str, Any]]] = []
        for case in self.cases():
            if case.get("reset_before", True):
                chains.append([])
            chains[-1].append(case)
        return chains

    def templates(self) -> dict[str, dict[str, Any]]:
        """The templates by id."""
        return {entry["template_id"]: entry for entry in self.document("task_templates.yaml")}

    def tools(self) -> dict[str, dict[str, Any]]:
        """The entries of the catalog by the tool's name."""
        return {entry["function"]["name"]: entry for entry in self.document("tools.json")}

    def confirmation(self) -> dict[str, str]:
        """The words in which a tool waits for the user."""
        declared: dict[str, str] = self.document("manifest.yaml").get("confirmation", {})
        return {
            "parameter": "confirm",
            "status_field": "status",
            "pending_status": "awaiting_confirmation",
            **declared,
        }

    def fixtures(self, *, with_held_out: bool = True) -> dict[str, list[dict[str, Any]]]:
        """The rows, with or without those that are held out."""
        rows: dict[str, list[dict[str, Any]]] = self.document("fixtures.json")
        if with_held_out or not (self.root / "held_out.yaml").exists():
            return rows
        reserved = {str(name) for ids in self.document("held_out.yaml")["fixtures"].values() for name in ids}
        return {
            table: [row for row in entries if row[f"{table.removesuffix('s')}_id"] not in reserved]
            for table, entries in rows.items()
        }

    def module(self, file: str) -> ModuleType:
        """A new module of a file; nothing is written into the pack."""
        spec = importlib.util.spec_from_file_location(
            f"example_{self.name}_{Path(file).stem}", self.root / file
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            spec.loader.exec_module(module)
        finally:
            sys.dont_write_bytecode = writes
        return module

    @functools.cache  # noqa: B019 - as many packs as there are examples
    def predicates(self) -> dict[str, Callable[..., object]]:
        """The exported predicates by name; they keep nothing, so one module serves."""
        exported: dict[str, Callable[..., object]] = self.module("assertions.py").ASSERTIONS
        return exported

    def result_class(self, result: dict[str, Any]) -> str:
        """The class of a result, by the contract's rules."""
        words = self.confirmation()
        if isinstance(result.get("error"), dict):
            return "structured_error"
        if result.get(words["status_field"]) == words["pending_status"]:
            return "awaiting_confirmation"
        return "success"

    def play(self, calls: Sequence[Call], clock: str = CLOCK) -> Played:
        """Make calls from the fixtures, in a backend of their own."""
        backend, ctx = self.module("backend.py"), context(clock)
        backend.reset(ctx=ctx, fixtures=self.fixtures(with_held_out=False))
        before = backend.get_state()
        trace = []
        for turn, (tool, arguments) in enumerate(calls):
            result = backend.call_tool(tool, copy.deepcopy(arguments), ctx=ctx)
            trace.append({"tool": tool, "arguments": arguments, "result": result, "turn_index": turn})
        return Played(trace, backend.get_state(), before)

    def verdicts(
        self, names: Sequence[str], played: Played, task: dict[str, Any], clock: str = CLOCK
    ) -> dict[str, str | None]:
        """What each predicate says: None where it passes, else why it fails. Any other exception comes through."""
        exported = self.predicates()
        said: dict[str, str | None] = {}
        for name in names:
            try:
                returned = exported[name](
                    state=frozen(played.state),
                    trace=frozen(played.trace),
                    task=frozen(task),
                    ctx=context(clock),
                )
            except AssertionError as error:
                said[name] = str(error)
            else:
                assert returned is None
                said[name] = None
        return said


@functools.cache
def _read(path: Path) -> Any:
    return read_source(path.read_text(encoding="utf-8"), name=path.name).value


def context(clock: str = CLOCK) -> Context:
    """A context at that time."""
    return Context(datetime.fromisoformat(clock))
