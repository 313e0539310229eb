"""The further formats of a build, written from its rows; and every file that a build may write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import IO, Any, Final

import msgspec

from averment.oracle.build.artifacts import Artifacts
from averment.oracle.build.exports import bfcl, chat, parquet
from averment.text.jsontext import canonical

__all__ = ["CHOICES", "FILES", "Formats"]

Rows = Callable[[], Iterator[Mapping[str, Any]]]

CHOICES: Final = ("chat", "bfcl")
"""What `--export` takes."""

_CHAT: Final = ("chat.jsonl", "chat_prompts.jsonl")
_PARQUET: Final = "benchmark.parquet"
_QUESTIONS: Final = [f"{bfcl.PREFIX}_{category}.json" for category in bfcl.CATEGORIES]

FILES: Final[dict[str, tuple[str, ...]]] = {
    "chat": _CHAT,
    "bfcl": tuple(
        f"bfcl/{name}"
        for name in (*_QUESTIONS, *(f"possible_answer/{each}" for each in _QUESTIONS), bfcl.TASKS)
    ),
    "parquet": (_PARQUET,),
}
"""The files that each format may have, below the folder of the build."""


class Formats(msgspec.Struct, frozen=True):
    """The formats that are asked for; `names` are of `FILES`, sorted."""

    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, exports: Iterable[str] = (), *, with_parquet: bool = False) -> Formats:
        """The formats of these exports.

        Raises:
            UsageError: `benchmark.parquet` is asked for and what writes it is not installed; told before any work.
        """
        if with_parquet:
            parquet.columns()
        return cls(tuple(sorted({*exports, *(["parquet"] if with_parquet else [])})))

    def write(self, artifacts: Artifacts, rows: Rows) -> None:
        """Write them.

        Args:
            artifacts: the files of the build.
            rows: gives the rows of the benchmark from the first, each time it is called.
        """
        for name in self.names:
            _WRITERS[name](artifacts, rows)


def _write_chat(artifacts: Artifacts, rows: Rows) -> None:
    for name, line_of in zip(_CHAT, (chat.chat_line, chat.prompt_line), strict=True):
        with artifacts.writing(name) as file:
            for row in rows():
                file.write(canonical(line_of(row)) + b"\n")


def _write_bfcl(artifacts: Artifacts, rows: Rows) -> None:
    files: dict[str, IO[bytes]] = {}
    with ExitStack() as stack:
        for name, value in bfcl.bfcl_lines(rows()):
            if name not in files:
                files[name] = stack.enter_context(artifacts.writing(f"bfcl/{name}"))
            files[name].write(canonical(value) + b"\n")


def _write_parquet(artifacts: Artifacts, rows: Rows) -> None:
    # Its bytes depend on the version of the library.
    with artifacts.writing(_PARQUET, local=True) as file:
        parquet.write_parquet(rows(), file)  # type: ignore[arg-type]


_WRITERS: Final[dict[str, Callable[[Artifacts, Rows], None]]] = {
    "bfcl": _write_bfcl,
    "chat": _write_chat,
    "parquet": _write_parquet,
}
