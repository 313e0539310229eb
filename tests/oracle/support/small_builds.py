"""Packs with many quick tasks, what a build of them leaves in its folder, and building without a single process.

counting(folder, 5000)            # a gold pack with up to so many tasks
with_no_workers(monkeypatch)      # `build` runs the pack's code in this process from here on, and certifies nothing
"""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from example_packs import context
from small_packs import BACKEND, CASES, TEMPLATES, TOOLS, case, write

from averment.oracle.build import building
from averment.oracle.certify import Certification
from averment.oracle.findings import Row
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.oracle.worker.isolation import isolation

__all__ = ["ASSERTION", "InProcess", "certified", "counting", "files", "lines", "with_no_workers"]

LOOK = (
    'return {"double": 2 * arguments["box_id"]} if arguments["box_id"] else {"error": {"code": "not_found"}}'
)
ASSERTION = """\
def assert_looked(*, state, trace, task, ctx):
    assert [call["arguments"] for call in trace] == [{"box_id": task["slots"]["box_id"]}]
"""


def counting(root: Path, count: int, **more: Any) -> Path:
    """A gold pack whose one template has so many tasks, each a call that returns at once; `more` as `write` takes it."""
    tools = json.loads(json.dumps(TOOLS))
    tools[0]["function"]["parameters"]["properties"]["box_id"] = {"type": "integer"}
    slot = {"source": f"range:{{min: 1, max: {count}}}", "visible_in_first_turn": True}
    pack: dict[str, Any] = {
        "backend": BACKEND.replace('return find(arguments) or {"error": {"code": "not_found"}}', LOOK),
        "cases": [case("found", box=1), case("none", box=0), *CASES[2:]],
        "tools": tools,
        "templates": [{**TEMPLATES[0], "slots": {"box_id": slot}}],
        "assertions": ASSERTION,
    }
    return write(root, **{**pack, **more})


def lines(folder: Path, name: str = "benchmark.jsonl") -> list[dict[str, Any]]:
    """The values of a file's lines."""
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path, those that are hidden among them."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class InProcess:
    """A pack's oracle and assertions in this process, one episode at a time; nothing is shut in."""

    kind = "backend"

    def __init__(self, pack: Pack) -> None:
        self._fixtures = json.dumps(pack.fixtures)
        self._backend = _module(pack, "backend")
        self._assertions = _module(pack, "assertions")
        self._lock = threading.Lock()
        self.oracle = self.runner = self
        self.episodes = 0

    def isolation(self, _: str | None = None) -> Any:
        """None, whatever is required."""
        return isolation([])

    @contextmanager
    def episode(self, *_: object) -> Iterator[InProcess]:
        """With all others waiting."""
        with self._lock:
            self.episodes += 1
            yield self

    @contextmanager
    def jury(self, *_: object) -> Iterator[InProcess]:
        """Itself."""
        yield self

    def reset(self) -> None:
        """From the fixtures."""
        self._backend.reset(ctx=context(), fixtures=json.loads(self._fixtures))

    def call(self, name: str, arguments: Mapping[str, Any], **_: object) -> Any:
        """With copies."""
        return self._backend.call_tool(name, dict(arguments), ctx=context())

    def state(self) -> Any:
        """As it is now."""
        return json.loads(json.dumps(self._backend.get_state()))

    def judge(self, names: Sequence[str], **evidence: Any) -> list[dict[str, Any]]:
        """What the assertions say."""
        verdicts = []
        del evidence["turn_index"]
        for name in names:
            detail = None
            try:
                getattr(self._assertions, name)(**evidence, ctx=context())
            except AssertionError as error:
                detail = str(error)
            status = "passed" if detail is None else "failed"
            verdicts.append(
                {"name": name, "status": status, "passed": not detail, "detail": detail, "line": None}
            )
        return verdicts


def _module(pack: Pack, role: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"built_{role}", pack.root / pack.files[role])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    code = (pack.root / pack.files[role]).read_text("utf-8")
    exec(compile(code, role, "exec"), module.__dict__)  # noqa: S102 - the test's own pack; writes no bytecode into it
    return module


def with_no_workers(monkeypatch: pytest.MonkeyPatch, *, oracle: Any = None) -> None:
    """Let `build` run a pack's code in this process, and take its pack for gold as it is.

    Args:
        monkeypatch: undoes it.
        oracle: what is asked instead, made of the pack.
    """

    @contextmanager
    def running(pack: Pack, *_: Any, **__: Any) -> Iterator[Any]:
        yield (oracle or InProcess)(pack)

    monkeypatch.setattr(building, "running", running)
    monkeypatch.setattr(building, "certify", certified)


def certified(path: str | Path, options: Options, **_: Any) -> Certification:
    """A certification in which every check has passed, and none was made."""
    pack = load_pack(path)
    rows = (Row("1", "template_tool_names", "pass", ()),)
    return Certification(pack=pack, options=options, rows=rows, assertions=1)
