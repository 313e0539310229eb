"""Where a suite stands: `averment.yaml`, or the table `[tool.averment]` of `pyproject.toml`."""

from __future__ import annotations

import os
import re
from typing import Any

import msgspec

from averment.errors import DocumentError, Problem, UsageError
from averment.text.source import MAX_DOCUMENT_BYTES, Source, read_source, source_of

__all__ = ["SuiteSource", "find_suite", "read_suite", "without_dots"]

_NAMES = ("averment.yaml", "averment.yml", "averment.json")
_PYPROJECT = "pyproject.toml"
_TABLE = ("tool", "averment")


class SuiteSource(msgspec.Struct, frozen=True):
    """The text of a suite.

    Attributes:
        source: the values, with their places.
        base: the path of the suite in them.
        folder: the folder that paths in it are relative to; empty for the working folder.
    """

    source: Source
    base: tuple[str, ...]
    folder: str


def find_suite(folder: str = "") -> str | None:
    """The suite file of a folder: `averment.yaml`, else a `pyproject.toml` that has `[tool.averment]`.

    A `pyproject.toml` that can't be read is none: it is most often not about averment.
    """
    for name in _NAMES:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    path = os.path.join(folder, _PYPROJECT)
    if not os.path.isfile(path):
        return None
    try:
        return path if _table(_toml(path)) is not None else None
    except UsageError:
        return None


def read_suite(path: str) -> SuiteSource:
    """The text of the suite in a file, or of that in a folder.

    Raises:
        UsageError: there is none, or it can't be read; with every mistake that can be found in its text.
    """
    if os.path.isdir(path):
        found = find_suite(path)
        if found is None:
            message = "the folder has no suite"
            expected = f"{', '.join(_NAMES)}, or {_PYPROJECT} with [tool.averment]"
            raise UsageError(
                Problem(
                    code="no_suite",
                    message=message,
                    file=path,
                    expected=expected,
                    mend="Start one with `averment init`.",
                )
            )
        path = os.path.join(without_dots(path), os.path.basename(found))
    folder = without_dots(os.path.dirname(path))
    try:
        if path.endswith(".toml"):
            table = _table(_toml(path))
            if table is None:
                message = "the file has no table [tool.averment]"
                raise UsageError(
                    Problem(
                        code="no_suite",
                        message=message,
                        file=path,
                        mend="Start a suite with `averment init`.",
                    )
                )
            return SuiteSource(source_of({"tool": {"averment": table}}, name=path), _TABLE, folder)
        return SuiteSource(read_source(_read(path), name=path), (), folder)
    except DocumentError as error:
        raise UsageError(error.problems) from None


def without_dots(path: str) -> str:
    """The same path without steps that go nowhere; `..` stays, which may lead out of a link."""
    return os.sep.join(step for step in path.split(os.sep) if step != os.curdir)


def _table(values: dict[str, Any]) -> Any:
    tool = values.get("tool")
    return tool.get("averment") if isinstance(tool, dict) else None


def _toml(path: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(_read(path).decode("utf-8"))
    except UnicodeDecodeError:
        problem = Problem(
            code="invalid_encoding", message="the file is not UTF-8", file=path, mend="Save it as UTF-8."
        )
        raise UsageError(problem) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        # Its place is in the text of the error alone, before Python 3.14.
        why, _, place = str(error).partition(" (at ")
        numbers = [int(number) for number in re.findall(r"\d+", place)]
        line, column = numbers if len(numbers) == 2 else (None, None)
        raise UsageError(
            Problem(
                code="toml_syntax", message=f"this is no TOML: {why}", file=path, line=line, column=column
            )
        ) from None


def _read(path: str) -> bytes:
    from averment.errors import EvidenceError
    from averment.evidence.load import read_input

    try:
        data, _ = read_input(path)
    except EvidenceError as error:
        raise UsageError(error.problems) from None
    if len(data) > MAX_DOCUMENT_BYTES:
        raise UsageError(
            Problem(
                code="document_too_large",
                message="the file is too large for a suite",
                file=path,
                expected=f"at most {MAX_DOCUMENT_BYTES // 2**20} MB",
            )
        )
    return data
