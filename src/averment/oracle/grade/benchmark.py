"""The rows of a benchmark, read for grading: whole, of this pack, and made under these options."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from averment.errors import PackError, Problem
from averment.oracle.grade.gold import gold_rows
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.text.jsontext import MAX_EVIDENCE_BYTES, sha256

__all__ = ["Benchmark", "load_benchmark"]

_MANIFEST = "run_manifest.json"


class Benchmark(msgspec.Struct, frozen=True):
    """A benchmark.

    Attributes:
        rows: by task id, in their order.
        content_hash: of its file.
    """

    rows: dict[str, dict[str, Any]]
    content_hash: str


def load_benchmark(path: str, pack: Pack, options: Options) -> Benchmark:
    """Read a benchmark.

    Where the manifest of its build lies beside it, it must have been built of the pack as it is now, and under the clock of
    these options: gold of another world would blame agents for the difference.

    Args:
        path: of `benchmark.jsonl`.
        pack: the pack.
        options: the run's options.

    Raises:
        PackError: with every mistake in it, or because it is of something else.
    """
    data = _read(path)
    rows = {task.task_id: found for task, found in gold_rows(data, file=path)}
    if not rows:
        raise _problem(
            "benchmark_empty", "the benchmark has no row", path, "Give the `benchmark.jsonl` of a build."
        )
    identity = (pack.manifest.pack_id, pack.manifest.version)
    for found in rows.values():
        if (found.get("pack_id"), found.get("pack_version")) != identity:
            other = f"{found.get('pack_id')} {found.get('pack_version')}"
            raise _other("the benchmark is of another pack", path, " ".join(identity), other)
    found_hash = sha256(data)
    _refuse_other_build(path, found_hash, pack, options)
    return Benchmark(rows, found_hash)


def _read(path: str) -> bytes:
    try:
        if not os.path.isfile(path):
            why = "there is no such file" if not os.path.lexists(path) else "this is no regular file"
            raise _problem(
                "benchmark_unreadable", f"the benchmark can't be read: {why}", path, "Check the path."
            )
        with open(path, "rb") as file:
            data = file.read(MAX_EVIDENCE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a usable name"
        raise _problem("benchmark_unreadable", f"the benchmark can't be read: {why}", path) from None
    if len(data) > MAX_EVIDENCE_BYTES:
        message = f"the benchmark is larger than {MAX_EVIDENCE_BYTES:,} bytes"
        raise _problem("benchmark_unreadable", message, path, "Split it, and grade the runs of each part.")
    return data


class _Pack(msgspec.Struct):
    content_hash: str


class _Artifact(msgspec.Struct):
    content_hash: str


class _Manifest(msgspec.Struct):
    pack: _Pack
    oracle_clock: str
    artifacts: dict[str, _Artifact]


def _refuse_other_build(path: str, content_hash: str, pack: Pack, options: Options) -> None:
    """Refuse rows that were built in another world, where their build says so."""
    try:
        with open(os.path.join(os.path.dirname(path), _MANIFEST), "rb") as file:
            built = msgspec.json.decode(file.read(MAX_EVIDENCE_BYTES), type=_Manifest)
    except (OSError, msgspec.DecodeError):
        return  # rows may be kept without it
    if content_hash not in {each.content_hash for each in built.artifacts.values()}:
        return  # that of other rows
    if built.pack.content_hash != pack.fingerprint:
        message = "the benchmark was built when the pack was another"
        raise _other(message, path, pack.fingerprint, built.pack.content_hash)
    if built.oracle_clock != options.clock:
        raise _problem(
            "other_options",
            f"the benchmark was built with the clock at {built.oracle_clock}, and it is {options.clock} now",
            path,
            "Give the options of the build with `--config`.",
        )


def _other(message: str, path: str, expected: str, found: str) -> PackError:
    return PackError(
        Problem(
            code="other_pack",
            message=message,
            file=path,
            expected=expected,
            found=found[:200],
            mend="Give the pack that it was built of, or build it anew.",
        )
    )


def _problem(code: str, message: str, path: str, mend: str | None = None) -> PackError:
    return PackError(Problem(code=code, message=message, file=path, mend=mend))
