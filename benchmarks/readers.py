"""How fast each reader is: megabytes and conversations a second, beside the floor of decoding the same bytes.

The files are the samples of the tests and, where they stand beside the project, the real files. A conversation of a few
lines would time what a file costs whatever it holds, so small ones are made as long as real ones are: the list that
most of the file is in is repeated until the file has about 20 KB. The floor is what any reader in Python must do first:
`json.loads` of the file or of each of its lines, PyYAML's C loader for a cassette, unpacking and `json.loads` for an
archive, finding cues and their times by a regular expression for subtitles, and the generated classes for protobuf.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.formats import FORMATS
from timing import Case, cpu, medians, table

__all__ = ["report"]

_ROOT = Path(__file__).parents[1]
_FOLDERS = (_ROOT / "tests" / "samples", _ROOT.parent / "shared" / "evidence")
_BYTES = 400_000
"""About so many bytes are read for one measurement."""

_USUAL = 20_000
"""The bytes of a usual conversation."""


def report(conversations: int, hotato: str | None) -> None:  # noqa: ARG001 - the sections are called alike
    """Print the table, the slowest reader first."""
    by_format: dict[str, list[bytes]] = {}
    counts: dict[str, int] = {}
    for data, form, count in _files():
        by_format.setdefault(form, []).append(data)
        counts[form] = counts.get(form, 0) + count
    cases: dict[str, Case] = {}
    sizes, times = {}, {}
    for form, files in by_format.items():
        size = sum(map(len, files))
        times[form] = max(1, round(_BYTES / size))
        sizes[form] = size * times[form]
        cases[form] = cpu(_repeated(files, times[form], Evidence.all_from_bytes))
        cases[f"{form} floor"] = cpu(_repeated(files, times[form], _floor))
    taken = medians(cases, rounds=5)
    rows = []
    for form in sorted(by_format, key=lambda name: -taken[name] / max(taken[f"{name} floor"], 1e-9)):
        seconds, floor = taken[form], max(taken[f"{form} floor"], 1e-9)
        rows.append(
            [
                form,
                f"{len(by_format[form])}",
                f"{sizes[form] / seconds / 1e6:.1f}",
                f"{counts[form] * times[form] / seconds:,.0f}",
                f"{sizes[form] / floor / 1e6:.1f}",
                f"{seconds / floor:.1f}",
            ]
        )
    header = ["format", "files", "MB/s", "conversations/s", "floor MB/s", "times the floor"]
    table("Readers: CPU from bytes to evidence, beside the floor of decoding", header, rows)
    missing = [form.name for form in FORMATS if form.name not in by_format]
    if missing:
        print(f"without a file: {', '.join(missing)}")


def _files() -> Iterator[tuple[bytes, str, int]]:
    """Every file that is read, with its format and how many conversations it holds."""
    for folder in _FOLDERS:
        for path in sorted(folder.rglob("*")) if folder.exists() else ():
            if not path.is_file() or path.suffix in {".py", ".pyc"} or path.name == "SOURCE.txt":
                continue
            for data in (_grown(path.read_bytes()), path.read_bytes()):
                try:
                    found = Evidence.all_from_bytes(data)
                except EvidenceError:
                    continue
                if found:
                    yield data, found[0].model.sources[0].format, len(found)
                    break


def _grown(data: bytes) -> bytes:
    """A small JSON file with its largest list of objects repeated; subtitles and lines repeated as they are."""
    times = _USUAL // max(len(data), 1)
    if times < 2 or data.startswith(b"PK"):
        return data
    try:
        value = json.loads(data)
    except ValueError:
        lines = data if data.endswith(b"\n") else data + b"\n"
        return (
            lines * times
            if data[:1] in {b"{", b"["}
            else data + b"\n" + data.partition(b"\n")[2] * (times - 1)
        )
    found: list[tuple[int, list[Any]]] = []
    _collect(value, found)
    if found:
        largest = max(found, key=lambda each: each[0])[1]
        largest *= times
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _collect(value: Any, found: list[tuple[int, list[Any]]]) -> None:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        found.append((len(json.dumps(value)), value))
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _collect(inner, found)


def _repeated(files: list[bytes], times: int, work: Callable[[bytes], object]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(times):
            for data in files:
                work(data)

    return run


def _floor(data: bytes) -> object:
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [_json(archive.read(name)) for name in archive.namelist() if name.endswith(".json")]
    try:
        return _json(data)
    except ValueError:
        pass
    if b"\ninteractions:" in data or data.startswith(b"interactions:"):
        return yaml.load(data, yaml.CSafeLoader)
    if data[:1] == b"\x0a" and b"\0" in data:
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

        return TracesData.FromString(data)
    return _CUE.findall(data.decode("utf-8", "replace"))


_CUE = re.compile(r"([\d:]+[.,]\d+)(?: --> |,)([\d:]+[.,]\d+).*\n((?:.+\n)*)")


def _json(data: bytes) -> object:
    try:
        return json.loads(data)
    except ValueError:
        return [json.loads(line) for line in data.splitlines() if line.strip()]
