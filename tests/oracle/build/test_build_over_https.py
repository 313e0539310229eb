"""A benchmark of a pack whose oracle is a service; that such packs are certified has tests of its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from example_packs import ROOT
from services import BUNDLE, IDENTITY, serve
from small_builds import certified, files, lines

from averment.errors import PackError
from averment.oracle.build import building
from averment.oracle.build.building import build
from averment.oracle.certify import Certification
from averment.oracle.model.options import Options

LENDING = ROOT / "library_lending"
OPTIONS = Options()


def test_a_service_gives_the_rows_of_its_backend_and_is_asked_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it says that it is stands in the manifest; and when it is gone, no task is dropped for that."""

    def checked(path: str, options: Options, **named: Any) -> Certification:
        return msgspec.structs.replace(certified(path, options, **named), endpoint_metadata=IDENTITY)

    monkeypatch.setattr(building, "certify", checked)
    pack = tmp_path / "library"
    shutil.copytree(LENDING, pack, ignore=shutil.ignore_patterns("backend.py", "__pycache__"))
    manifest = (pack / "manifest.yaml").read_text("utf-8")
    (pack / "manifest.yaml").write_text(
        manifest.replace("backend: backend.py", "endpoint: endpoint_config.yaml"), "utf-8"
    )
    with serve(LENDING / "backend.py") as service:
        config = {
            "protocol_version": IDENTITY["protocol_version"],
            "base_url": service.base_url,
            "expected": {name: value for name, value in IDENTITY.items() if name != "protocol_version"},
            "tls": {"ca_bundle_path": BUNDLE},
        }
        shutil.copy(service.ca_path, pack / BUNDLE)
        (pack / "endpoint_config.yaml").write_text(json.dumps(config), "utf-8")
        built = build(pack, tmp_path / "out", OPTIONS)
        assert (built.manifest.oracle_kind, built.manifest.endpoint_metadata) == ("endpoint", IDENTITY)
        before = files(tmp_path / "out")
        assert not build(pack, tmp_path / "out", OPTIONS).was_complete
        assert files(tmp_path / "out") == before
        assert service.sessions == {}
    build(LENDING, tmp_path / "local", OPTIONS)
    assert lines(tmp_path / "out") == lines(tmp_path / "local")
    with pytest.raises(PackError) as caught:
        build(pack, tmp_path / "out", OPTIONS)
    assert caught.value.problems[0].code == "oracle_unusable"
    assert sorted(files(tmp_path / "out")) == [".journal.jsonl"]
