"""A folder that holds a complete build: when it is the one that is asked for, and how its last two files are written.

It is the one where the manifest is of this very build, made on such a machine, and every file is as the manifest and the
environment say. Then at most formats are added or removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from averment.oracle.build.artifacts import Artifacts, digest_of
from averment.oracle.build.formats import FILES, Formats
from averment.oracle.build.manifest import Artifact, Environment, RunManifest, Subject
from averment.oracle.gold.kitchen import Kitchen
from averment.oracle.tasks.budget import Bound
from averment.text.jsontext import decode

__all__ = [
    "DROPPED",
    "EVERY",
    "JOURNAL",
    "KILLS",
    "MANIFEST",
    "REPORT",
    "ROWS",
    "TIERS",
    "Run",
    "complete",
    "conclude",
    "rows_in",
]

TIERS: Final = ("prototype", "silver", "gold")
"""From the lowest."""

MANIFEST: Final = "run_manifest.json"
_ENVIRONMENT: Final = "build_environment.json"
ROWS, DROPPED = "benchmark.jsonl", "dropped.jsonl"
KILLS, REPORT = "kill_table.json", "oracle_validation_report.json"
JOURNAL: Final = ".journal.jsonl"
_FORMATS: Final = tuple(name for names in FILES.values() for name in names)
EVERY: Final = (MANIFEST, _ENVIRONMENT, ROWS, DROPPED, KILLS, REPORT, *_FORMATS)
"""Every file that a build may write, the manifest first, because without it no other counts."""

S = TypeVar("S", bound=msgspec.Struct)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What one call of `build` has at hand."""

    kitchen: Kitchen
    bound: Bound
    subject: Subject
    environment: Environment
    formats: Formats
    artifacts: Artifacts
    folder: Path


def complete(run: Run, allow: str) -> RunManifest | None:
    """The manifest, if the folder holds this very build; with the formats that are asked for, and no others."""
    manifest = _read(run.folder / MANIFEST, RunManifest)
    told = _read(run.folder / _ENVIRONMENT, Environment)
    if manifest is None or told is None or manifest.run_id != run.subject.digest():
        return None
    if manifest.oracle_kind == "endpoint":  # what answers may be another service by now
        return None
    if TIERS.index(manifest.tier) < TIERS.index(allow):
        return None
    if msgspec.structs.replace(told, artifacts={}) != run.environment:
        return None
    for name, artifact in {**manifest.artifacts, **told.artifacts}.items():
        if name not in EVERY or _digest(run.folder / name) != artifact.content_hash:
            return None
    if tuple(manifest.exports) != run.formats.names:
        manifest = _reformatted(run, manifest, told)
    wanted = {name for each in run.formats.names for name in FILES[each]}
    run.artifacts.remove([JOURNAL, *(name for name in _FORMATS if name not in wanted)])
    return manifest


def _reformatted(run: Run, manifest: RunManifest, told: Environment) -> RunManifest:
    """The same build in other formats; at every moment, what the manifest vouches for is there."""
    artifacts = run.artifacts
    artifacts.same.update(_digests(manifest.artifacts))
    artifacts.local.update(_digests(told.artifacts))
    missing = [name for name in run.formats.names if name not in manifest.exports]
    Formats(tuple(missing)).write(artifacts, lambda: rows_in(run.folder))
    for name in set(manifest.exports).difference(run.formats.names):
        for file in FILES[name]:
            artifacts.same.pop(file, None)
            artifacts.local.pop(file, None)
    manifest = msgspec.structs.replace(
        manifest, exports=list(run.formats.names), artifacts=_listed(artifacts.same)
    )
    conclude(run, manifest)
    return manifest


def conclude(run: Run, manifest: RunManifest) -> None:
    """Write the last two files."""
    artifacts = run.artifacts
    environment = msgspec.structs.replace(run.environment, artifacts=_listed(artifacts.local))
    artifacts.write(_ENVIRONMENT, msgspec.to_builtins(environment), local=True)
    artifacts.write(MANIFEST, manifest.plain())


def _digests(artifacts: Mapping[str, Artifact]) -> dict[str, str]:
    return {name: artifact.content_hash for name, artifact in artifacts.items()}


def _listed(digests: Mapping[str, str]) -> dict[str, Artifact]:
    return {name: Artifact(content_hash=found) for name, found in sorted(digests.items())}


def _read(path: Path, kind: type[S]) -> S | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, ValueError, msgspec.DecodeError):
        return None


def _digest(path: Path) -> str | None:
    try:
        return digest_of(path)
    except OSError:
        return None


def rows_in(folder: Path) -> Iterator[dict[str, Any]]:
    """The rows of the benchmark, one after the other."""
    with open(folder / ROWS, "rb") as file:
        for line in file:
            yield decode(line).value
