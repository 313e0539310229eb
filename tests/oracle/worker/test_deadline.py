from __future__ import annotations

import time

import pytest

from averment.oracle.worker.deadline import Deadline


def test_a_deadline_counts_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left shrinks with the monotonic clock, and never below nothing."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    deadline = Deadline(2.5)
    assert deadline.remaining() == 2.5
    now[0] = 102.0
    assert deadline.remaining() == 0.5
    now[0] = 103.0
    assert deadline.remaining() == 0.0
