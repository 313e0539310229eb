"""Failures of probes and tools, each at its place in the pack's files."""

from __future__ import annotations

from typing import Any

from averment.oracle.findings import Failure
from averment.oracle.model.cases import Case
from averment.oracle.model.pack import Pack
from averment.oracle.model.tools import Tool
from averment.oracle.oracles import OracleError

__all__ = ["case_failure", "oracle_failure", "placed", "raised", "tool_failure"]

_Path = tuple[str | int, ...]


def placed(pack: Pack, role: str, path: _Path, reason: str, message: str, **more: Any) -> Failure:
    """A failure at a place of one of the pack's documents; `more` are fields of `Failure`."""
    problem = pack.sources[role].problem(reason, message, path)
    return Failure(
        reason=reason,
        message=message,
        file=pack.files[role],
        line=problem.line,
        column=problem.column,
        path=problem.path,
        **more,
    )


def case_failure(
    pack: Pack, case: Case, reason: str, message: str, *path: str | int, **facts: Any
) -> Failure:
    """A failure of a probe; `path` is relative to it, `facts` come after its id and its tool."""
    where = {"case": case.id, "tool": case.tool, **facts}
    return placed(pack, "validation_cases", (case.index, *path), reason, message, facts=where)


def tool_failure(
    pack: Pack, tool: Tool, reason: str, message: str, *path: str | int, **facts: Any
) -> Failure:
    """A failure of a tool of the catalog; `path` is relative to its entry."""
    return placed(pack, "tools", (tool.index, *path), reason, message, facts={"tool": tool.name, **facts})


def raised(pack: Pack, case: Case, error: OracleError, **facts: Any) -> Failure:
    """The failure of a probe that got no answer: where the pack's code raised it, and what it printed."""
    return oracle_failure("raised", error, case_failure(pack, case, "raised", ""), **facts)


def oracle_failure(reason: str, error: OracleError, at: Failure | None = None, **facts: Any) -> Failure:
    """What an oracle's error comes to: the place is where the pack's code raised, else that of `at`."""
    known = {} if at is None else at.facts
    return Failure(
        reason=reason,
        message=error.message,
        file=error.file if error.file or at is None else at.file,
        line=error.line if error.file or at is None else at.line,
        column=None if error.file or at is None else at.column,
        path=None if error.file or at is None else at.path,
        facts={**known, **facts, "trouble": error.trouble, "op": error.op},
        output=error.output,
        traceback=error.traceback,
    )
