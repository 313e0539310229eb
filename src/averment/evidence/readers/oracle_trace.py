"""Oracle traces: `[{tool, arguments, result, turn_index}]`, alone or as the `trace` of `{trace, state, task, ctx}`.

An oracle writes down each call that it made, so every entry is an executed one; one without a `result` had none.
A result `{"error": {"code", …}}` is how a tool refuses: that call failed. The `state` is read as the system of record
where it is lists of rows by resource, and is the only snapshot there is; else it is kept as metadata, as are the
task and the context.

Known gaps: a trace has no times and no utterances.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.draft import OF_CALLS, Draft, Part, kind_of
from averment.evidence.model import StateSnapshot, ToolCall, ToolCallStatus
from averment.evidence.readers.calls import looks_structured, parsed

__all__ = ["fits", "read"]

_TRIED = 50
_ENTRY_KEYS = frozenset({"tool", "arguments", "result", "turn_index"})
_KEYS = frozenset({"trace", "state", "task", "ctx"})


def fits(value: Any) -> str | None:
    """Why this looks like an oracle's trace, or None."""
    if isinstance(value, list):
        return "its items are calls: `tool` with `arguments` or a `result`" if _is_trace(value) else None
    if not isinstance(value, dict) or not _KEYS.issuperset(value) or "trace" not in value:
        return None
    if _is_trace(value["trace"]) or (value["trace"] == [] and ("task" in value or "ctx" in value)):
        return "its `trace` is calls: `tool` with `arguments` or a `result`"
    return None


def _is_trace(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(item, dict)
            and isinstance(item.get("tool"), str)
            and ("arguments" in item or "result" in item)
            and "type" not in item
            and "role" not in item
            for item in value[:_TRIED]
        )
    )


def read(part: Part, draft: Draft) -> None:
    """Read the calls of one trace, and the state after them."""
    value = part.value
    if isinstance(value, dict):
        kept = {key: value[key] for key in ("task", "ctx") if value.get(key) is not None}
        task = value.get("task")
        if isinstance(task, dict) and type(task.get("task_id")) is str:
            draft.conversation_id = task["task_id"]
        if value.get("state") is not None:
            draft.states = _states(value["state"])
            if draft.states is None:
                kept["state"] = value["state"]
            else:
                draft.cover("state", len(draft.states))
        if kept:
            draft.metadata = kept
        draft.drop_rest(value, _KEYS, part.loc())
        part = part.at("trace") if "trace" in value else msgspec.structs.replace(part, value=None)
    if not isinstance(part.value, list):
        draft.problems.append(
            part.problem(
                "wrong_type",
                "an oracle's trace must be a list of calls",
                expected="a list",
                found=kind_of(part.value),
            )
        )
        return
    calls: list[ToolCall] = []
    for entry, loc in zip(part.value, part.locs(), strict=True):
        if type(entry) is dict:
            calls.append(_call(entry, loc, len(calls), draft))
        else:
            draft.note("call_unreadable", loc, f"an entry is {kind_of(entry)}, so it is left out")
    draft.calls = calls
    for channel in OF_CALLS:
        draft.cover(channel, len(calls))
    if len(calls) < len(part.value):
        for channel in OF_CALLS:
            draft.limit(channel, "partial", "some entries of the trace can't be read", "Mend the file.")
    draft.account(part.source, records=len(part.value), read=len(calls))


def _call(entry: dict[str, Any], loc: str, index: int, draft: Draft) -> ToolCall:
    draft.drop_rest(entry, _ENTRY_KEYS, loc)
    name = entry.get("tool")
    if type(name) is not str or not name:
        draft.note("call_without_name", loc, "the call names no tool")
        name = None
    args, args_raw, args_error = entry.get("arguments"), None, None
    if args is None:
        args = {}  # the oracle takes no arguments for empty ones
    elif type(args) is str:
        args_raw = args
        args, args_error = parsed(args_raw, f"{loc}.arguments", draft)
        if args_error is not None:
            draft.note("arguments_unreadable", loc, f"the arguments are text that is no JSON: {args_error}")
    result, result_raw = entry.get("result"), None
    if type(result) is str and looks_structured(result):
        value, problem = parsed(result, f"{loc}.result", draft)
        if problem is None:
            result, result_raw = value, result
    error = result.get("error") if type(result) is dict else None
    failed = error not in (None, False, "")
    status: ToolCallStatus = "error" if failed else "executed" if result is None else "ok"
    return ToolCall(
        id=f"c_{index}",
        name=name,
        args=args,
        args_raw=args_raw,
        args_error=args_error,
        result=UNSET if result is None else result,
        result_raw=result_raw,
        error=error if failed else UNSET,
        status=status,
        seq=index,
        loc=loc,
    )


def _states(state: Any) -> list[StateSnapshot] | None:
    """The state as rows by resource, or None when it is anything else."""
    if not isinstance(state, dict) or not state:
        return None
    if not all(isinstance(rows, list) and all(type(row) is dict for row in rows) for rows in state.values()):
        return None
    return [StateSnapshot(resource=name, rows=tuple(rows)) for name, rows in state.items()]
