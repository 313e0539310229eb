from __future__ import annotations

from pathlib import Path

import pytest

COUNTER = """
state = {}

def list_tools():
    return ["add", "fail"]

def reset(*, ctx, fixtures=None):
    state.clear()
    state.update(fixtures or {}, seed=ctx.seed)

def call_tool(name, arguments, *, ctx):
    if name == "fail":
        raise RuntimeError("a text that nobody should see")
    state["total"] = state.get("total", 0) + arguments["by"]
    return {"total": state["total"], "turn": ctx.turn_index}

def get_state():
    return dict(state)
"""


@pytest.fixture
def backend(tmp_path: Path) -> Path:
    """The file of a backend that adds up."""
    path = tmp_path / "backend.py"
    path.write_text(COUNTER, encoding="utf-8")
    return path


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A pack's directory."""
    path = tmp_path / "pack"
    path.mkdir()
    return path


@pytest.fixture(autouse=True)
def connections_may_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection is kept though the machine is slow: how many are opened is no matter of time."""
    monkeypatch.setattr("averment.oracle.endpoint.transport._MAX_REST_S", 600.0)
