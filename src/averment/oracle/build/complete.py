"""A folder that holds a complete build: when it is the one that is asked for, and how its last two files are written.

It is the one where the manifest is of this very build, made on such a machine, and every file is as the manifest and the
environment say. Then at most formats are added or removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
EVERY: Final = (
    MANIFEST,
    _ENVIRONMENT,
    ROWS,
    DROPPED,
    KILLS,
    REPORT,
    *(n for f in FILES.values() for n in f),
)
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
    if tuple(manifest.exports) == run.formats.names:
        (run.folder / JOURNAL).unlink(missing_ok=True)
        return manifest
    return _reformatted(run, manifest, told)


def _reformatted(run: Run, manifest: RunManifest, told: Environment) -> RunManifest:
    """The same build in other formats."""
    artifacts = run.artifacts
    others = [name for files in FILES.values() for name in files]
    artifacts.remove([MANIFEST, *others])
    artifacts.same.update(_kept(manifest.artifacts, others))
    artifacts.local.update(_kept(told.artifacts, others))
    run.formats.write(artifacts, lambda: rows_in(run.folder))
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


def _kept(artifacts: Mapping[str, Artifact], but: Iterable[str]) -> dict[str, str]:
    left = artifacts.keys() - set(but)
    return {name: artifacts[name].content_hash for name in left}


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
