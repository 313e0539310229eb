from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from averment.text.jsontext import canonical

SCRIPT = """
import io, json, sys
from averment.oracle.build.exports.bfcl import bfcl_lines
from averment.oracle.build.exports.chat import chat_line, prompt_line
from averment.oracle.build.exports.parquet import write_parquet
from averment.text.jsontext import canonical, sha256

rows = [json.loads(line) for line in open(sys.argv[1], "rb")]
sink = io.BytesIO()
write_parquet(rows, sink)
chat = b"".join(canonical(make(row)) for row in rows for make in (chat_line, prompt_line))
bfcl = b"".join(canonical(line) for line in bfcl_lines(rows))
print(sha256(sink.getvalue()), sha256(chat), sha256(bfcl))
"""


def test_exports_are_the_same_under_every_hash_seed(gold_rows: list[dict[str, Any]], tmp_path: Path) -> None:
    """Three interpreters with three seeds write the same bytes."""
    pytest.importorskip("pyarrow", reason="Parquet needs the extra `corpus`")
    file = tmp_path / "benchmark.jsonl"
    file.write_bytes(b"".join(canonical(row) + b"\n" for row in gold_rows))
    found = set()
    for seed in ("0", "1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(file)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        found.add(done.stdout)
    (digests,) = found
    assert len(set(digests.split())) == 3
