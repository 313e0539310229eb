from __future__ import annotations

import sys

import pytest


@pytest.fixture(params=["libyaml", "python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """PyYAML with libyaml and without, in turn."""
    name: str = request.param
    if name == "python":
        monkeypatch.setitem(sys.modules, "yaml._yaml", None)
    return name
