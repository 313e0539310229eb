from __future__ import annotations

import importlib
from types import FunctionType

import pytest

import averment


@pytest.mark.parametrize("name", averment.report.__all__)
def test_reports_can_be_made_more_than_once(name: str) -> None:
    """The function keeps its name when the module that has the same name is imported."""
    module = importlib.import_module(f"averment.report.{name}")
    assert isinstance(getattr(averment.report, name), FunctionType)
    assert isinstance(module.render, FunctionType)
