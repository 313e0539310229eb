"""The peer, hotato, in an environment of its own, spoken to through a pipe."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from timing import Case

__all__ = ["INSTALL", "NOT_INSTALLED", "Peer"]

NOT_INSTALLED = "hotato: not installed"
INSTALL = (
    "to compare: python -m venv SIDE && SIDE/bin/pip install hotato==1.20.0, then --hotato SIDE/bin/python"
)
_HERE = Path(__file__).parent


class Peer:
    """A running `side.py`, which holds the same conversations and the same document."""

    def __init__(self, interpreter: str, conversations: Path, document: Path) -> None:
        self._process = subprocess.Popen(
            [interpreter, str(_HERE / "side.py"), str(conversations), str(document)],
            cwd=_HERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def ask(self, task: str) -> Any:
        """What `side.py` answers to a task."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{task}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("the side environment's interpreter ended; what it says stands above")
        return json.loads(answer)

    def case(self, task: str) -> Case:
        """A task that answers with the CPU seconds it took."""
        return lambda: float(self.ask(task))
