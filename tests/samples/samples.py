"""Where the sample files of formats stand, and what tests count in them.

Samples made by hand stand beside this file, in a folder for each format. Real files stand outside the project; a test
of one is skipped where they are absent.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import UNSET

from averment.evidence import Evidence

REAL = Path(__file__).parents[3] / "shared" / "evidence"


def sample(name: str) -> Path:
    """A sample made by hand: `vapi/report.json`."""
    return Path(__file__).parent / name


def real(name: str) -> Path:
    """A real file: `vapi/futureagi_vapi_process_mapping_1.json`."""
    path = REAL / name
    if not path.exists():
        pytest.skip("the real files are not here")
    return path


def counts(evidence: Evidence) -> dict[str, int]:
    """How many turns, tool calls, results, errors and notes there are."""
    model = evidence.model
    calls = model.calls or ()
    return {
        "turns": len(model.turns or ()),
        "calls": len(calls),
        "results": sum(call.result is not UNSET for call in calls),
        "errors": sum(call.status == "error" for call in calls),
        "notes": len(model.notes),
    }


def all_counts(path: Path) -> list[dict[str, int]]:
    """The counts of every conversation in a file."""
    return [counts(evidence) for evidence in Evidence.load_all(path)]
