from __future__ import annotations

from typing import Any

import pytest

from averment.errors import EvidenceError
from averment.evidence import Evidence


@pytest.mark.parametrize(
    ("timing", "kept"),
    [
        ([{"a": 1}], [{"a": 1}]),
        ({"events": [{"a": 1}], "mode": "suite"}, [{"a": 1}]),
        ({"events": {"a": 1}}, {"events": {"a": 1}}),
        ({"signals": {}}, {"signals": {}}),
        ({"events": []}, []),
    ],
)
def test_only_the_envelope_of_a_list_of_events_is_removed(timing: Any, kept: Any) -> None:
    """A mapping with a list of events is that list; anything else stays as it is."""
    assert Evidence(timing=timing).model.timing == kept


@pytest.mark.parametrize("timing", [5, "x", True])
def test_a_scalar_is_no_timing(timing: Any) -> None:
    """A number can hold no measurement by name."""
    with pytest.raises(EvidenceError):
        Evidence(timing=timing)
