"""LangSmith: runs as its API and exports give them, and as its SDKs send them, `{post: [...], patch: [...]}`.

Of a batch, `post` begins runs and `patch` ends them; both are united by id. Runs of one thread (`session_id`,
`thread_id` or `conversation_id` in the metadata) are one conversation, else those of one trace. What runs of type
`llm` were given and gave is united into one history (`histories`), runs of type `tool` are executions, and an `error`
is a failure. `dotted_order` orders runs that have no start. Times are ISO texts, without an offset in UTC, or epoch
milliseconds as the SDK for JavaScript sends them.

Known gaps: only what a model said has times, those of its call. A run that was posted and never patched has no end:
its call was begun, and nobody knows how it went. Feedback, attachments, events, usage and the serialized object are not
read. Tool inputs that are printed Python objects are read as what they mean.
"""

from __future__ import annotations

from typing import Any

import msgspec

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.readers.runs import Run, converse
from averment.evidence.times import MILLISECOND, instant, scaled

__all__ = ["fits", "read", "split"]

_HOW = (
    "Trace with inputs and outputs (no `hide_inputs`, no `hide_outputs`), and export all runs of the trace."
)
_TYPES = frozenset({"tool", "chain", "llm", "retriever", "embedding", "prompt", "parser"})
_THREADS = ("session_id", "thread_id", "conversation_id")
_KNOWN = frozenset(
    {
        "id",
        "name",
        "run_type",
        "start_time",
        "end_time",
        "inputs",
        "outputs",
        "error",
        "parent_run_id",
        "trace_id",
    }
    | {
        "dotted_order",
        "extra",
        "child_runs",
        "child_run_ids",
        "parent_run_ids",
        "status",
        "tags",
        "session_name",
    }
    | {"session_id", "serialized", "execution_order", "app_path", "reference_example_id", "manifest_id"}
)
_TRIED = 5


class _Row(msgspec.Struct):
    """A run, where it stands, and where its patch does."""

    run: dict[str, Any]
    loc: str
    output_loc: str | None = None


def fits(value: Any) -> str | None:
    """Why this looks like runs of LangSmith, or None."""
    if isinstance(value, dict):
        batch = [*_listed(value, "post")[:_TRIED], *_listed(value, "patch")[:_TRIED]]
        if batch and all(_is_run(item) or _is_patch(item) for item in batch):
            return "its `post` and `patch` are runs of LangSmith"
        runs = _listed(value, "runs")
        if runs and all(_is_run(item) for item in runs[:_TRIED]):
            return "its `runs` are runs of LangSmith"
        return "it is a run of LangSmith: `run_type`" if _is_run(value) else None
    if isinstance(value, list) and value and all(_is_run(item) for item in value[:_TRIED]):
        return "its items are runs of LangSmith"
    return None


def split(part: Part) -> list[Part]:
    """The conversations: the runs of each thread, and of each trace that names none."""
    rows = _rows(part)
    threads: dict[str, str] = {}
    for row in rows:
        thread, trace = _thread_of(row.run), _trace_of(row.run)
        if thread is not None:
            threads.setdefault(trace, thread)
    groups: dict[tuple[bool, str], list[_Row]] = {}
    for row in rows:
        trace = _trace_of(row.run)
        key = (True, threads[trace]) if trace in threads else (False, trace)
        groups.setdefault(key, []).append(row)
    return [msgspec.structs.replace(part, value=group, lines=None) for group in groups.values()] or [part]


def read(part: Part, draft: Draft) -> None:
    """Read the runs of one conversation."""
    rows = part.value
    if not isinstance(rows, list) or not all(isinstance(each, _Row) for each in rows):
        draft.problems.append(
            part.problem("wrong_type", "these are no runs of LangSmith", found=kind_of(part.value))
        )
        return
    if all(isinstance(row.run.get("dotted_order"), str) for row in rows):
        rows = sorted(rows, key=lambda row: str(row.run["dotted_order"]))
    first = rows[0].run
    draft.conversation_id = next((each for row in rows if (each := _thread_of(row.run))), None) or _trace_of(
        first
    )
    about: dict[str, Any] = {key: first[key] for key in ("session_name", "tags") if first.get(key)}
    metadata = _metadata(first)
    draft.metadata = {**metadata, **about} or None
    runs = []
    for index, row in enumerate(rows):
        draft.drop_rest(
            {key: each for key, each in row.run.items() if each not in ([], {}, "")}, _KNOWN, row.loc
        )
        runs.append(_run(row, index, draft))
    held = {run.id for run in runs}
    named = {str(own) for row in rows for own in _listed(row.run, "child_run_ids")}
    is_whole = named <= held
    if not is_whole:
        draft.note("run_missing", rows[0].loc, "the export names runs and does not hold them")
    converse(runs, part, draft, platform="LangSmith", how=_HOW, is_whole=is_whole)


def _rows(part: Part) -> list[_Row]:
    """The runs of a file with where each stands, each once: what was posted with what was patched."""
    value = part.value
    listed: list[tuple[Any, str]] = []
    if isinstance(value, dict):
        keys = [key for key in ("post", "patch", "runs") if isinstance(value.get(key), list)]
        for key in keys:
            inner = part.at(key)
            listed += zip(inner.value, inner.locs(), strict=True)
        if not keys:
            listed.append((value, part.loc()))
    elif isinstance(value, list):
        listed += zip(value, part.locs(), strict=True)
    rows: dict[Any, _Row] = {}
    while listed:
        later: list[tuple[Any, str]] = []
        for item, loc in listed:
            if not isinstance(item, dict):
                continue
            own = item.get("id")
            if not isinstance(own, str):
                # The SDK for JavaScript names the run of a patch in the address alone; its order ends with the id.
                order = item.get("dotted_order")
                own = order.rpartition("Z")[2] if isinstance(order, str) else f"run {len(rows)}"
            children = item.get("child_runs")
            if isinstance(children, list):
                later += [(child, f"{loc}.child_runs[{index}]") for index, child in enumerate(children)]
            if own in rows:
                given = {key: each for key, each in item.items() if each not in (None, {}, [])}
                rows[own].run |= given
                if "outputs" in given:
                    rows[own].output_loc = loc
            else:
                rows[own] = _Row({**item, "id": own}, loc)
        listed = later
    return list(rows.values())


def _run(row: _Row, index: int, draft: Draft) -> Run:
    run, loc = row.run, row.loc
    kind, error = run.get("run_type"), run.get("error")
    start, end = _time(run.get("start_time")), _time(run.get("end_time"))
    for key, time in (("start_time", start), ("end_time", end)):
        if time is None and run.get(key) is not None:
            draft.note("time_unreadable", loc, f"`{key}` is no time that is known; it is left out")
    metadata = _metadata(run)
    own = next((metadata[key] for key in ("tool_call_id", "ls_tool_call_id") if metadata.get(key)), None)
    inputs = run.get("inputs")
    if isinstance(inputs, dict) and isinstance(inputs.get("tool_call_id"), str):
        own = inputs["tool_call_id"]
    parent, name = run.get("parent_run_id"), run.get("name")
    return Run(
        id=str(run.get("id", index)),
        parent=parent if isinstance(parent, str) and parent else None,
        kind="model" if kind == "llm" else "tool" if kind == "tool" else "other",
        type=kind if isinstance(kind, str) else "none",
        name=name if isinstance(name, str) else None,
        own=own if isinstance(own, str) else None,
        input=inputs or None,
        output=run.get("outputs") or None,
        start_ns=start,
        end_ns=end,
        failed=error is not None or run.get("status") == "error",
        error=msgspec.UNSET if error is None else error,
        loc=loc,
        input_loc=f"{loc}.inputs",
        output_loc=f"{row.output_loc or loc}.outputs",
    )


def _time(value: Any) -> int | None:
    return instant(value) if isinstance(value, str) else scaled(value, MILLISECOND)


def _metadata(run: dict[str, Any]) -> dict[str, Any]:
    extra = run.get("extra")
    metadata = extra.get("metadata") if isinstance(extra, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _thread_of(run: dict[str, Any]) -> str | None:
    metadata = _metadata(run)
    return next((metadata[key] for key in _THREADS if isinstance(metadata.get(key), str)), None)


def _trace_of(run: dict[str, Any]) -> str:
    trace = run.get("trace_id")
    return trace if isinstance(trace, str) else str(run.get("id"))


def _listed(value: dict[str, Any], key: str) -> list[Any]:
    listed = value.get(key)
    return listed if isinstance(listed, list) else []


def _is_run(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("run_type"), str):
        return False
    return item["run_type"] in _TYPES and not item.keys().isdisjoint(
        {"dotted_order", "trace_id", "start_time"}
    )


def _is_patch(item: Any) -> bool:
    return isinstance(item, dict) and "dotted_order" in item and ("end_time" in item or "outputs" in item)
