from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Fixture = Callable[..., Any]


def test_a_timing_contract_is_inconclusive_until_its_lane_exists(judge: Fixture, tmp_path: Path) -> None:
    """Difference 20: no bundle is read, so no verdict depends on where one stands."""
    for bundle in ("no/such.bundle", str(tmp_path)):
        result = judge({"kind": "timing_contract", "bundle": bundle}, timing=[{"a": 1}], transcript=[])
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "timing_lane")
        assert result["reason"].startswith("timing contracts are verified from sound")
        assert "contracts" not in result


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, [("missing_field", "")]),
        ({"bundle": ""}, [("empty_value", "bundle")]),
        ({"bundle": "b", "max": 1}, [("unknown_field", "max")]),
    ],
)
def test_a_bundle_must_be_named(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """The document is checked as if the lane were there."""
    assert problems_of({"kind": "timing_contract", **fields}) == expected
