from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from small_packs import bench, write

from averment.oracle.checks import timeout_wiring
from averment.oracle.checks.timeout_wiring import CHECK
from averment.oracle.findings import Failure
from averment.oracle.model.options import Options
from averment.oracle.oracles import OracleError


def killed(_: float) -> None:
    raise OracleError("timeout", "hang", "it was killed")


def killed_late(_: float) -> None:
    time.sleep(0.02)
    killed(0)


def answers(_: float) -> None:
    """Nothing was ended: the step came back."""


def dies(_: float) -> None:
    raise OracleError("died", "hang", "the worker was ended by SIGBUS")


def found(hang: Any) -> list[Failure]:
    """What is found where workers hang like this."""
    made: Any = SimpleNamespace(options=Options(import_timeout_s=0.001), workers=SimpleNamespace(hang=hang))
    return list(CHECK.run(made))


@pytest.mark.parametrize(
    ("hang", "reason", "facts"),
    [
        (answers, "hung_call_was_not_terminated", {}),
        (killed_late, "timeout_overran_its_budget", {}),
        (dies, "timeout_worker_failed", {"trouble": "died"}),
    ],
)
def test_each_reason_has_its_smallest_worker(
    monkeypatch: pytest.MonkeyPatch, hang: Any, reason: str, facts: dict[str, str]
) -> None:
    """One that does otherwise than to be killed in time."""
    monkeypatch.setattr(timeout_wiring, "_GRACE_S", 0.0)
    (failure,) = found(hang)
    assert (failure.reason, failure.facts, failure.file) == (reason, facts, None)


def test_a_worker_that_is_killed_in_time_passes() -> None:
    """Half a second is its deadline; a few more are let pass on a machine that is busy."""
    asked: list[float] = []

    def hang(seconds: float) -> None:
        asked.append(seconds)
        killed(seconds)

    assert found(hang) == []
    assert asked == [0.5]


def test_real_workers_are_ended(tmp_path: Path) -> None:
    """On this machine."""
    with bench(write(tmp_path / "pack")) as made:
        assert list(CHECK.run(made)) == []


def test_every_reason_is_tested_here() -> None:
    """None is left without a test."""
    told = {"hung_call_was_not_terminated", "timeout_overran_its_budget", "timeout_worker_failed"}
    assert set(CHECK.reasons) == told
    assert (CHECK.id, CHECK.name) == ("T1", "timeout_wiring")
