"""The fuzzer, for a bounded number of runs from a fixed seed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None, reason="atheris has no wheel for this platform"
)
def test_no_mutated_input_breaks_a_run(tmp_path: Path) -> None:
    """Documents, policies, conversations and their parts, mutated towards new code: read, or refused with problems."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    done = subprocess.run(
        [
            sys.executable,
            Path(__file__).parent / "fuzz_inputs.py",
            "-runs=10000",
            "-seed=1",
            "-max_len=4000",
            corpus,
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "Done 10000 runs" in done.stderr
