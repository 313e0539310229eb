from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graded_packs import BACKEND, Desk, chat, evidence, grading, steps_of, write_desk
from services import BUNDLE, IDENTITY, Service, serve

from averment.errors import PackError
from averment.oracle.grade.grading import Grader
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.running import running


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for both packs, and the backend that the service runs."""
    folder = tmp_path_factory.mktemp("desks")
    (folder / "backend.py").write_text(BACKEND, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def service(root: Path) -> Iterator[Service]:
    with serve(root / "backend.py") as running_:
        yield running_


@pytest.fixture(scope="module")
def local(root: Path) -> Iterator[Desk]:
    """The pack with a backend of its own, and the rows of its tasks."""
    with grading(write_desk(root / "local")) as made:
        yield made


def remote(root: Path, service: Service, **changes: Any) -> Path:
    """The same pack, over the service."""
    folder = write_desk(root / "remote")
    (folder / "backend.py").unlink()
    config = {
        "protocol_version": IDENTITY["protocol_version"],
        "base_url": service.base_url,
        "expected": {name: value for name, value in IDENTITY.items() if name != "protocol_version"},
        "tls": {"ca_bundle_path": BUNDLE},
    }
    shutil.copy(service.ca_path, folder / BUNDLE)
    (folder / "endpoint_config.yaml").write_text(json.dumps(config | changes), encoding="utf-8")
    return folder


def test_runs_are_graded_over_a_service_as_with_its_backend(
    root: Path, service: Service, local: Desk
) -> None:
    """Gold and a planted fault, gate by gate; sessions are closed."""
    rows = {row["task_id"]: row for row in local.rows}
    with running(load_pack(remote(root, service)), Options()) as at_work:
        grader = Grader(at_work, rows)
        for row in local.rows:
            for steps in (steps_of(row), [*steps_of(row)[:1], [("drop", {"id": "I-2"})], *steps_of(row)[1:]]):
                run = evidence(chat(row, steps))
                assert grader.grade(run, label="run") == local.grader.grade(run, label="run")
    assert service.asked.count("POST /v1/sessions") == 2 * len(rows)
    assert service.sessions == {}


def test_a_service_that_is_not_there_is_told_before_any_run(
    root: Path, service: Service, local: Desk
) -> None:
    """It would fail all of them, and no agent is to blame; without it, traces can be graded."""
    pack = load_pack(remote(root, service, base_url="https://127.0.0.1:9"))
    rows = {row["task_id"]: row for row in local.rows}
    with running(pack, Options()) as at_work:
        with pytest.raises(PackError) as error:
            Grader(at_work, rows)
        assert [each.code for each in error.value.problems] == ["oracle_unreachable"]
        row = local.row("look_up")
        graded = Grader(at_work, rows, trace_only=True).grade(evidence(chat(row, steps_of(row))), label="run")
    assert (graded.success, graded.outcome.mode) == ("passed", "trace")
