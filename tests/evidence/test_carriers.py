"""What a file is wrapped in changes nothing, and a file that was cut is never taken for a shorter conversation."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from averment import EvidenceError
from averment.evidence import Evidence
from samples import sample

SAMPLES = sorted(
    path
    for path in sample(".").glob("*/*")
    if path.is_file() and path.parent.name not in {"mapping", "trajectories", "__pycache__"}
)
JSON = [path for path in SAMPLES if path.read_bytes()[:1] in {b"{", b"["}]

each_sample = pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
each_json = pytest.mark.parametrize("path", JSON, ids=lambda path: f"{path.parent.name}/{path.name}")


def digests(data: bytes) -> list[str]:
    return [evidence.sha256 for evidence in Evidence.all_from_bytes(data)]


def zipped(data: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a-name-that-says-nothing", data)
    return archive.getvalue()


def is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


@each_sample
def test_a_packed_file_is_the_file(path: Path) -> None:
    """Gzip and zip are transparent, whatever the format."""
    data = path.read_bytes()
    expected = digests(data)
    assert digests(gzip.compress(data)) == expected
    if not data.startswith(b"PK"):
        assert digests(zipped(data)) == expected


@each_json
@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-16"),
        lambda text: b"\xff\xfe\x00\x00" + text.encode("utf-32-le"),
        lambda text: b"\n " + text.encode() + b"\r\n\n",
    ],
    ids=["utf-8 mark", "utf-16", "utf-32", "space"],
)
def test_another_encoding_is_the_same_evidence(path: Path, encode: Callable[[str], bytes]) -> None:
    """A byte order mark, UTF-16, UTF-32 and space around the text change no digest."""
    data = path.read_bytes()
    assert digests(encode(data.decode())) == digests(data)


@each_json
def test_another_layout_is_the_same_evidence(path: Path) -> None:
    """Indentation, escapes and the order of lines' keys belong to no evidence."""
    data = path.read_bytes()
    if not is_json(data):
        data = b"\n".join(line for line in data.splitlines() if line.strip())
        lines: list[Any] = [json.loads(line) for line in data.splitlines()]
        laid_out = "\n".join(json.dumps(line, ensure_ascii=True) for line in lines).encode()
    else:
        laid_out = json.dumps(json.loads(data), indent=3, ensure_ascii=True).encode()
    assert digests(laid_out) == digests(data)


@each_json
def test_a_cut_file_is_refused(path: Path) -> None:
    """Wherever JSON is cut, it is no JSON: never a conversation with less in it. The problem names the byte."""
    data = path.read_bytes().rstrip()
    if not is_json(data):
        pytest.skip("lines that were cut at a line are whole lines")
    for end in range(1, len(data), max(1, len(data) // 60)):
        with pytest.raises(EvidenceError) as caught:
            Evidence.all_from_bytes(data[:end])
        problem = caught.value.problems[0]
        assert problem.code in {"json_truncated", "json_syntax", "json_extra_data"}, data[:end][-40:]
        if problem.code == "json_truncated":
            assert "after byte" in problem.message


def test_no_hash_seed_or_locale_changes_what_is_read() -> None:
    """Every sample comes to the same bytes, notes and problems included, whatever the seed of Python's hashes."""
    code = (
        "import sys\n"
        "from averment import Evidence, EvidenceError\n"
        "for path in sys.argv[1:]:\n"
        "    try:\n"
        "        for evidence in Evidence.load_all(path):\n"
        "            sys.stdout.buffer.write(evidence.to_json() + b'\\n')\n"
        "    except EvidenceError as error:\n"
        "        print(error)\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code, *map(str, SAMPLES)],
            env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale},
            capture_output=True,
            check=True,
        ).stdout
        for seed, locale in (("0", "C"), ("1", "C.UTF-8"), ("4242", "tr_TR.UTF-8"))
    }
    assert len(said) == 1
    assert len(said.pop()) > 100_000
