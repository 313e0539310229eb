from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from averment.errors import Problem, UsageError
from averment.suites import Outcome, Suite

DOCUMENT = "version: 1\nassertions:\n  - {id: said, kind: phrase, regex: refund}\n"
RECORD = {"transcript": [{"role": "agent", "text": "refund sent"}]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a document and two recordings."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.yaml").write_text(DOCUMENT, encoding="utf-8")
    (tmp_path / "recordings").mkdir()
    for name in ("a", "b"):
        (tmp_path / "recordings" / f"{name}.json").write_text(json.dumps(RECORD), encoding="utf-8")
    return tmp_path


@pytest.fixture
def write(folder: Path) -> Callable[..., None]:
    """`write(**fields)`: an `averment.yaml` of one entry, or `write(entry, entry)` of several."""

    def written(*entries: Mapping[str, Any], **fields: Any) -> None:
        suite = {"version": 1, "suite": [*entries, *([fields] if fields else [])]}
        (folder / "averment.yaml").write_text(json.dumps(suite, indent=1), encoding="utf-8")

    return written


@pytest.fixture
def script(folder: Path) -> Callable[[str], list[str]]:
    """`script(code)`: the command that runs Python code, with `out` and the columns as `given`, and `say(text)` to write."""

    def made(code: str, name: str = "agent") -> list[str]:
        head = (
            "import json, os, sys\n"
            "out, given = sys.argv[1], sys.argv[2:]\n"
            "def say(text, **more):\n"
            "    with open(out, 'w', encoding='utf-8') as file:\n"
            "        json.dump({'transcript': [{'role': 'agent', 'text': text}], **more}, file)\n"
        )
        (folder / f"{name}.py").write_text(head + code, encoding="utf-8")
        return [sys.executable, "-S", "-E", f"{name}.py", "{out}"]

    return made


@pytest.fixture
def judged() -> Callable[..., list[Outcome]]:
    """`judged(jobs=1, **options)`: all outcomes of the suite."""

    def outcomes(*, jobs: int = 1, policy: Any = None, **options: Any) -> list[Outcome]:
        return list(Suite.load("averment.yaml", **options).judge(jobs=jobs, inconclusive_policy=policy))

    return outcomes


@pytest.fixture
def refused() -> Callable[..., list[Problem]]:
    """`refused(**options)`: the problems of the suite."""

    def problems(path: str = "averment.yaml", **options: Any) -> list[Problem]:
        with pytest.raises(UsageError) as caught:
            Suite.load(path, **options)
        return list(caught.value.problems)

    return problems
