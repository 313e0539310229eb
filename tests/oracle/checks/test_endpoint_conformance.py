from __future__ import annotations

from typing import Any

import pytest

from averment.oracle.checks.base import NotRunError
from averment.oracle.checks.endpoint_conformance import CHECK


def test_attestations_are_not_judged_yet() -> None:
    """The check says so of itself, and has no reason that it could give."""
    bench: Any = None
    with pytest.raises(NotRunError, match="not judged by this version"):
        list(CHECK.run(bench))
    assert (CHECK.id, CHECK.name, CHECK.reasons) == ("A1", "endpoint_conformance", {})
