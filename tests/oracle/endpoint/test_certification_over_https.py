from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from services import BUNDLE, IDENTITY, Service, reply, serve

from averment.errors import PackError
from averment.oracle.certify import Certification, certify
from averment.oracle.endpoint.credentials import GRANTS

LENDING = Path(__file__).parents[3] / "examples" / "packs" / "library_lending"


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """The library's own backend, behind the protocol."""
    with serve(LENDING / "backend.py") as running:
        yield running


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """The library without its backend, and with a folder for what stands in its place."""
    root = tmp_path / "library"
    shutil.copytree(LENDING, root, ignore=shutil.ignore_patterns("backend.py", "__pycache__"))
    manifest = (root / "manifest.yaml").read_text("utf-8")
    assert "backend: backend.py" in manifest
    changed = manifest.replace("backend: backend.py", "endpoint: remote/endpoint_config.yaml")
    (root / "manifest.yaml").write_text(changed, "utf-8")
    (root / "remote").mkdir()
    return root


def certified(service: Service, library: Path, **changes: Any) -> Certification:
    """The library, checked over the service."""
    remote = library / "remote"
    config = {
        "protocol_version": IDENTITY["protocol_version"],
        "base_url": service.base_url,
        "expected": {name: value for name, value in IDENTITY.items() if name != "protocol_version"},
        "tls": {"ca_bundle_path": BUNDLE},
    }
    shutil.copy(service.ca_path, remote / BUNDLE)
    (remote / "endpoint_config.yaml").write_text(json.dumps(config | changes), "utf-8")
    return certify(library, strict=True)


def test_a_service_does_what_its_backend_does(service: Service, library: Path) -> None:
    """Every check but the attestation passes as it does with the backend itself, and no session is left."""
    found = certified(service, library)
    assert [row.id for row in found.rows if row.status != "pass"] == ["A1"]
    assert [row.id for row in found.rows if row.id != "A1"] == [row.id for row in certify(LENDING).rows]
    assert found.tier == "silver"
    assert found.endpoint_metadata == IDENTITY
    assert service.sessions == {}


def test_another_service_is_found_out(service: Service, library: Path) -> None:
    """The row of the catalog says what is different about it."""
    expected = {name: value for name, value in IDENTITY.items() if name != "protocol_version"}
    found = certified(service, library, expected=expected | {"oracle_version": "1.3.0"})
    row = next(row for row in found.rows if row.id == "3")
    assert row.status == "fail"
    assert "`oracle_version` is `1.2.0`, not `1.3.0`" in row.failures[0].message
    assert found.endpoint_metadata is None


def test_a_service_that_is_not_there_leaves_no_verdict(service: Service, library: Path) -> None:
    """A pack is not judged by what nobody answered."""
    with serve(LENDING / "backend.py") as gone:
        pass
    gone = gone._replace(ca_path=service.ca_path)
    with pytest.raises(PackError) as caught:
        certified(gone, library)
    assert [problem.code for problem in caught.value.problems] == ["oracle_unreachable"]


def test_a_secret_is_taken_from_the_environment(
    service: Service, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable and the grant are those of the person who checks."""
    auth = {"bearer_token_env": "LIBRARY_TOKEN"}
    monkeypatch.setenv("LIBRARY_TOKEN", "open sesame")
    with pytest.raises(PackError, match=f"LIBRARY_TOKEN@{service.base_url}"):
        certified(service, library, auth=auth)
    monkeypatch.setenv(GRANTS, f"LIBRARY_TOKEN@{service.base_url}")
    asked = len(service.requests)
    assert certified(service, library, auth=auth).tier == "silver"
    assert {request.headers.get("Authorization") for request in service.requests[asked:]} == {
        "Bearer open sesame"
    }


def test_a_call_that_fails_is_a_failure_of_its_probe(library: Path) -> None:
    """The service's status is told, its words are not."""
    replies = {"POST /v1/sessions/{id}/calls": reply(503, {"error": "not today"})}
    with serve(LENDING / "backend.py", replies=replies) as broken:
        found = certified(broken, library)
        assert broken.sessions == {}
    row = next(row for row in found.rows if row.id == "5")
    raised = [failure for failure in row.failures if failure.reason == "raised"]
    assert raised
    assert all("the answer is the error 503" in failure.message for failure in raised)
    assert b"not today" not in msgspec.json.encode(found.rows)
