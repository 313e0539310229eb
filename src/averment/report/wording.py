"""What reports for machines say of a result in words, as lines of plain text of bounded length.

Texts of an envelope are redacted already. Ids, descriptions and names of files are the author's own and stay as they
are, but for what can't be seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from averment.assertions.codes import Code
from averment.report.groups import gap_how, mismatches
from averment.text.shown import visible

__all__ = ["brief", "calls_of", "details", "gates", "headline", "place"]

_LINE = 1_000
_MANY = 20
_MEANINGS = {code.value: code.meaning for code in Code}


def brief(text: str, limit: int) -> str:
    """A text of at most `limit` characters in one line, with what can't be seen escaped."""
    shown = visible(text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def gates(result: Mapping[str, Any], policy: str) -> bool:
    """Whether a gate says something else than yes because of this result (definitions, "Exit codes").

    Args:
        result: the result.
        policy: the envelope's `inconclusive_policy`.
    """
    code = result.get("code")
    if code == "internal_error":
        return True
    if code == "not_applicable" or result.get("severity", "error") != "error":
        return False
    return result["status"] == "FAIL" or (result["status"] == "INCONCLUSIVE" and policy != "report")


def headline(result: Mapping[str, Any]) -> str:
    """Why it is not PASS, in a sentence that quotes no evidence if there is one."""
    told = result.get("public_reason") or result.get("reason") or _MEANINGS.get(result.get("code", ""))
    return brief(told or result["status"], _LINE)


def place(result: Mapping[str, Any], file: str) -> str:
    """Where the assertion stands: `file:line:column`, as editors understand it."""
    at = result.get("at")
    name = brief(file, _LINE)
    return f"{name}:{at['line']}:{at['column']}" if at else name


def calls_of(result: Mapping[str, Any]) -> list[str]:
    """The ids of the calls that a result rests on; the one that comes nearest to what was expected is one of them."""
    calls = list(result.get("tool_calls") or ())
    miss = result.get("nearest_miss")
    nearest = miss.get("tool_call") if isinstance(miss, Mapping) else None
    return [*calls, nearest] if isinstance(nearest, str) and nearest not in calls else calls


def details(result: Mapping[str, Any]) -> Iterator[str]:
    """The reason, what was expected and what was found, and what would supply missing evidence: a line each."""
    reason = brief(result.get("reason") or "", _LINE)
    if reason:
        yield reason
    found = mismatches(result)
    for path, expected, actual in found[:_MANY]:
        lead = f"{brief(path, 200)}: " if path else ""
        differs = f"{lead}expected {brief(expected, _LINE)}, found {brief(actual, _LINE)}"
        if differs not in reason:
            yield differs
    if len(found) > _MANY:
        yield f"... and {len(found) - _MANY} more that differ"
    how = gap_how(result)
    if how:
        yield f"to record it: {brief(how, _LINE)}"
