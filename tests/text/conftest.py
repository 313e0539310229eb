from __future__ import annotations

import pytest

from averment.text import yamlread
from averment.text.yamlscan import PythonParser


@pytest.fixture(params=["libyaml", "python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both parsers of events in turn."""
    name: str = request.param
    if name == "python":
        monkeypatch.setattr(yamlread, "_new_parser", PythonParser)
    return name
