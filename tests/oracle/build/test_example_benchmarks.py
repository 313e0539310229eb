"""The benchmarks of the example packs, built with workers as a shell builds them, and pinned.

`golden/` has the digest of every row of the library's benchmark and three rows in full. Where a row is meant to change:

    averment pack build examples/packs/library_lending --out /tmp/out
    python tests/oracle/build/golden/pin.py /tmp/out
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from example_packs import ROOT
from small_builds import files, lines

from averment.cli.schema import NAMES
from averment.oracle.build.building import Built, build
from averment.oracle.build.schemas import BUILD_SCHEMAS
from averment.oracle.checks.bench import Bench
from averment.oracle.grade.gold import gold_tasks
from averment.oracle.model.options import Options
from averment.report.schemas import schema
from averment.text.jsontext import pretty, sha256

GOLDEN = Path(__file__).parent / "golden"
BUILDS = {
    "library_lending": ("library_lending", "en"),
    "clinic_en": ("bilingual_clinic", "en"),
    "clinic_es": ("bilingual_clinic", "es"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("benchmarks")


@pytest.fixture(scope="module")
def builts(folder: Path) -> dict[str, Built]:
    """Every benchmark, each in a folder of its name.

    The kill table of the clinic takes longer than all else, and certification has tests of its own.
    """
    found = {}
    for name, (pack, language) in BUILDS.items():
        with pytest.MonkeyPatch.context() as patch:
            if pack == "bilingual_clinic":
                patch.setattr(Bench, "kill_table", {})
            found[name] = build(ROOT / pack, folder / name, Options(language=language))
    return found


@pytest.mark.parametrize("name", BUILDS)
def test_a_pack_builds_a_gold_benchmark_without_a_dropped_task(
    builts: dict[str, Built], folder: Path, name: str
) -> None:
    """In each of its languages: every task that is bound is a row, and no assertion is vacuous."""
    manifest = builts[name].manifest
    assert (manifest.tier, manifest.drops, manifest.notes) == ("gold", {}, [])
    assert manifest.stage_counts.published == manifest.stage_counts.expanded > 10
    assert manifest.vacuous_assertions == []
    rows = lines(folder / name)
    assert {row["metadata"]["language"] for row in rows} == {BUILDS[name][1]}
    assert {row["tier"] for row in rows} == {"gold"}
    assert len({row["task_id"] for row in rows}) == len(rows)


def test_languages_have_the_same_tasks_in_other_words(builts: dict[str, Built], folder: Path) -> None:
    """The same ids and gold calls; not one first turn of the user."""
    assert builts
    pairs = list(zip(lines(folder / "clinic_en"), lines(folder / "clinic_es"), strict=True))
    for one, other in pairs:
        same = ("task_id", "expected_tool_calls", "slots", "tools", "seed_hex")
        assert [one[key] for key in same] == [other[key] for key in same]
        said = [next(each for each in row["messages"] if each["role"] == "user") for row in (one, other)]
        assert said[0]["content"] != said[1]["content"]


@pytest.mark.parametrize("name", BUILDS)
def test_files_fit_their_schemas(builts: dict[str, Built], folder: Path, name: str) -> None:
    """The published ones; a key more or less is told."""
    assert builts
    written = {
        "pack-row": lines(folder / name),
        "pack-run-manifest": [json.loads((folder / name / "run_manifest.json").read_text("utf-8"))],
        "pack-build-environment": [json.loads((folder / name / "build_environment.json").read_text("utf-8"))],
    }
    for each, values in written.items():
        validator = jsonschema.Draft202012Validator(schema(each))
        for value in values:
            validator.validate(value)
            assert not validator.is_valid({**value, "extra": 1})
            assert not validator.is_valid(dict(list(value.items())[:-1]))


def test_schemas_are_offered_and_every_field_of_a_row_is_described() -> None:
    """`averment schema pack-row` and the others."""
    for name in BUILD_SCHEMAS:
        assert name in NAMES
        jsonschema.Draft202012Validator.check_schema(schema(name))
    for name in ("pack-row", "pack-dropped-row"):
        properties = schema(name)["properties"]
        assert [key for key, each in properties.items() if "description" not in each] == []


@pytest.mark.parametrize("name", BUILDS)
def test_rows_are_read_by_grading(builts: dict[str, Built], folder: Path, name: str) -> None:
    """What one part of averment writes, the other takes."""
    count = builts[name].manifest.stage_counts.published
    assert len(gold_tasks((folder / name / "benchmark.jsonl").read_bytes())) == count


def test_the_rows_are_the_pinned_ones(builts: dict[str, Built], folder: Path) -> None:
    """Three in full, to be read in a diff; all by their digests."""
    assert builts
    rows = lines(folder / "library_lending")
    pinned: list[dict[str, Any]] = json.loads((GOLDEN / "library_rows.json").read_text("utf-8"))
    ids = [row["task_id"] for row in pinned]
    assert [row for row in rows if row["task_id"] in ids] == pinned
    written = (folder / "library_lending" / "benchmark.jsonl").read_bytes().splitlines()
    digests = {row["task_id"]: sha256(line) for row, line in zip(rows, written, strict=True)}
    assert pretty(digests) == (GOLDEN / "library_digests.json").read_bytes()


def test_a_copy_elsewhere_under_another_hash_seed_and_number_of_jobs_gives_the_same_bytes(
    builts: dict[str, Built], folder: Path, tmp_path: Path
) -> None:
    """From a shell, in another working folder, whatever the environment."""
    assert builts
    whole = files(folder / "library_lending")
    del (
        whole["oracle_validation_report.json"],
        whole["build_environment.json"],
    )  # they say that no language was given
    binary = str(Path(sys.executable).parent / "averment")
    alike: dict[str, dict[str, bytes]] = {}
    for seed, jobs, zone in (("1", "1", "UTC"), ("2", "4", "Asia/Kolkata"), ("77", "3", "America/Chicago")):
        here = tmp_path / seed / "deeper" / "pack"
        shutil.copytree(ROOT / "library_lending", here, ignore=shutil.ignore_patterns("__pycache__"))
        command = [binary, "pack", "build", "deeper/pack", "--out", "out", "-j", jobs]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C"}
        done = subprocess.run(command, cwd=tmp_path / seed, env=environment, check=False, capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")
        found = files(tmp_path / seed / "out")
        assert {name: found[name] for name in whole} == whole
        said = {name: content for name, content in found.items() if name not in whole}
        assert said == alike.setdefault("said", said)


def test_nothing_of_this_machine_is_in_what_every_machine_makes_alike(
    builts: dict[str, Built], folder: Path
) -> None:
    """No path, no version of Python, no name of a host."""
    assert builts
    found = files(folder / "library_lending")
    del found["build_environment.json"], found["oracle_validation_report.json"]
    for content in found.values():
        for text in (str(ROOT.parent), str(folder), sys.platform, os.uname().nodename, os.uname().release):
            assert text.encode() not in content
