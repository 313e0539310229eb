from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_packs import CASES, FIXTURES, case, write

from averment.oracle.certify import certify
from averment.oracle.held_out import seen_fixtures, seen_tree
from averment.oracle.model.loading import load_pack

READER = """
import json
from pathlib import Path

def look(arguments, ctx):
    read = json.loads(Path(__file__).with_name("fixtures.json").read_text())
    return {name: [box["box_id"] for box in rows] for name, rows in (("read", read["boxes"]), ("given", state["boxes"]))}
"""


def reserving(root: Path, *ids: Any, in_state: bool = False, **change: Any) -> Path:
    """The good pack, with these boxes reserved."""
    held_out = {
        "version": "1",
        "fixtures": {"boxes": list(ids)},
        "policy": {"fixtures_in_backend_state": in_state},
    }
    return write(
        root,
        manifest={"held_out": "held_out.yaml"},
        files={"held_out.yaml": json.dumps(held_out)},
        **change,
    )


def test_reserved_rows_are_not_among_the_fixtures(tmp_path: Path) -> None:
    """Ids are compared as texts; other collections, and what is none, stay."""
    rows = [{"box_id": 1}, {"box_id": "2"}, {"box_id": 3}]
    fixtures = {"boxes": rows, "hours": {"open": 9}, "lids": [{"lid_id": 1}]}
    pack = load_pack(reserving(tmp_path / "pack", "1", 2, fixtures=fixtures))
    assert seen_fixtures(pack) == {**fixtures, "boxes": [{"box_id": 3}]}
    assert pack.fixtures == fixtures


def test_the_declared_key_tells_which_rows(tmp_path: Path) -> None:
    """As for slots."""
    fixtures = {"boxes": [{"code": "a", "id": 1}, {"code": "b", "id": 2}]}
    root = reserving(tmp_path / "pack", "a", fixtures=fixtures)
    manifest = json.loads((root / "manifest.yaml").read_text("utf-8"))
    (root / "manifest.yaml").write_text(json.dumps({**manifest, "primary_keys": {"boxes": "code"}}))
    assert seen_fixtures(load_pack(root)) == {"boxes": [{"code": "b", "id": 2}]}


@pytest.mark.parametrize("in_state", [True, None])
def test_where_rows_may_be_seen_the_pack_runs_where_it_lies(tmp_path: Path, in_state: bool | None) -> None:
    """By the policy, or without reservations."""
    root = reserving(tmp_path / "pack", "B-2", in_state=True) if in_state else write(tmp_path / "pack")
    pack = load_pack(root)
    assert seen_fixtures(pack) == FIXTURES
    with seen_tree(pack) as seen:
        assert seen == pack.root


def test_a_pack_without_fixtures_gives_none(tmp_path: Path) -> None:
    """There is nothing to keep from anybody."""
    root = write(tmp_path / "pack")
    (root / "fixtures.json").unlink()
    assert seen_fixtures(load_pack(root)) is None


def test_the_copy_is_the_pack_but_for_its_fixtures_and_goes_afterwards(tmp_path: Path) -> None:
    """Every file of the fingerprint, folders too, and nothing else."""
    root = reserving(tmp_path / "pack", "B-2")
    (root / "parts").mkdir()
    (root / "parts" / "part.txt").write_bytes(b"\xff\x00")
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "x.pyc").write_bytes(b"x")
    pack = load_pack(root)
    with seen_tree(pack) as seen:
        assert seen != pack.root
        files = {path.relative_to(seen).as_posix(): path for path in seen.rglob("*") if path.is_file()}
        assert {f"tree/{name}" for name in files} == set(pack.digests)
        differing = [name for name, path in files.items() if path.read_bytes() != (root / name).read_bytes()]
        assert differing == ["fixtures.json"]
        assert json.loads(files["fixtures.json"].read_text("utf-8")) == {"boxes": FIXTURES["boxes"][:1]}
    assert not seen.exists()


@pytest.mark.parametrize(("in_state", "ids"), [(False, ["B-1"]), (True, ["B-1", "B-2"])])
def test_the_packs_code_sees_no_reserved_row_in_a_reset_nor_in_the_file(
    tmp_path: Path, in_state: bool, ids: list[str]
) -> None:
    """It runs in the copy, where the file has none either."""
    probe = case("found", expect={"read": ids, "given": ids})
    root = reserving(tmp_path / "pack", "B-2", in_state=in_state, also=READER, cases=[probe, *CASES[2:]])
    found = certify(root, only="cases")
    assert [failure.reason for row in found.rows for failure in row.failures] == [
        "incomplete_validation_coverage"
    ]


def test_what_goes_wrong_in_the_copy_is_told_of_the_pack(tmp_path: Path) -> None:
    """Files and lines are its own, and no other folder is named."""
    also = "def look(arguments, ctx):\n    print(__file__)\n    raise KeyError(__file__)"
    root = reserving(tmp_path / "pack", "B-2", also=also)
    found = certify(root, only="cases")
    raised = next(failure for row in found.rows for failure in row.failures)
    lines = (root / "backend.py").read_text("utf-8").splitlines()
    assert (raised.file, lines[(raised.line or 0) - 1].strip()) == ("backend.py", "raise KeyError(__file__)")
    assert raised.message == "call_tool raised KeyError: 'backend.py'"
    assert raised.output == "backend.py"


def test_a_reserved_row_that_a_probe_asks_for_is_named(tmp_path: Path) -> None:
    """With what to do about it."""
    root = reserving(
        tmp_path / "pack", "B-2", cases=[*CASES, case("gone", box="B-2", expect={"item": "screw"})]
    )
    found = certify(root, only="cases")
    (failure,) = [failure for row in found.rows for failure in row.failures]
    assert failure.reason == "result_field_mismatch"
    assert failure.facts["held_out_fixture_arguments"] == [
        {"argument": "box_id", "value": "B-2", "collection": "boxes", "fixture_ref": '["boxes","B-2"]'}
    ]
    assert (
        failure.mend
        == "`box_id` names a reserved row of `boxes`, which the oracle is not given: probe another."
    )
