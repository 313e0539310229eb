"""Langfuse: traces with their observations, as exported from its pages, its API (`{data: [...]}`) or its SDKs.

Traces of one session are one conversation, others are one each. What observations of type GENERATION were given and
gave is united into one history (`histories`); a generation that wraps another one is not read again. Observations of
type TOOL are executions; one of type SPAN is one where its OpenTelemetry attributes say so, or where a request of its
name and arguments is open. `input`, `output` and `metadata` may be JSON text, also twice. The level ERROR is a failure.

Known gaps: `latency` is in seconds or milliseconds, by the version of the export, so it is not read; durations come
from start and end, in whole milliseconds, and where both are alike there is none. Only what a model said has times,
those of its call. Scores, costs, usage and prompts are not read. Handoffs between agents are not told from calls. In
an input that is one text, who said what is not known. Words that were said twice in calls that do not repeat the
history, with nothing between them to tell, are read once.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.readers.any_message import unwrapped
from averment.evidence.readers.messages import keep
from averment.evidence.readers.runs import Run, converse
from averment.evidence.times import instant

__all__ = ["fits", "read", "split"]

_HOW = "Record inputs and outputs in Langfuse (no masking), and export the trace with all its observations."
_TYPES = frozenset(
    {"SPAN", "EVENT", "GENERATION", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING"}
)
_ALL_TYPES = _TYPES | {"GUARDRAIL"}
_PREFIXES = ("execute_tool ", "running tool: ", "tool.", "tool:")
_ABOUT = ("id", "name", "sessionId", "userId", "tags", "release", "version", "environment")
_TRIED = 5


class _Trace(msgspec.Struct):
    """A trace, and its observations with where each stands; of a page, others may stand on the next."""

    about: dict[str, Any]
    observations: list[tuple[Any, str]]
    loc: str
    is_page: bool = False


def fits(value: Any) -> str | None:
    """Why this looks like an export of Langfuse, or None."""
    if isinstance(value, dict):
        if _is_trace(value):
            return "it has `observations` of Langfuse"
        trace = value.get("trace")
        if isinstance(trace, dict) and _is_trace({**trace, **value}):
            return "it has a `trace` with `observations` of Langfuse"
        value = value.get("data")
    if isinstance(value, list) and value:
        if all(_is_observation(item) for item in value[:_TRIED]):
            return "its items are observations of Langfuse"
        if all(isinstance(item, dict) and _is_trace(item) for item in value[:_TRIED]):
            return "its items are traces of Langfuse"
    return None


def split(part: Part) -> list[Part]:
    """The conversations: the traces of each session, and each trace that names none."""
    groups: dict[tuple[str, str], list[_Trace]] = {}
    for trace in _traces(part):
        session, own = trace.about.get("sessionId"), trace.about.get("id")
        named = ("session", session) if isinstance(session, str) and session else ("trace", str(own))
        groups.setdefault(named, []).append(trace)
    return [msgspec.structs.replace(part, value=group, lines=None) for group in groups.values()] or [part]


def read(part: Part, draft: Draft) -> None:
    """Read the traces of one conversation."""
    traces = part.value
    if not isinstance(traces, list) or not all(isinstance(each, _Trace) for each in traces):
        draft.problems.append(
            part.problem("wrong_type", "this is no trace of Langfuse", found=kind_of(part.value))
        )
        return
    traces = sorted(traces, key=lambda trace: instant(trace.about.get("timestamp")) or 0)
    runs: list[Run] = []
    for trace in traces:
        runs += _runs(trace, draft)
        keep(draft, trace.about, _ABOUT)
        rest = {key: each for key, each in trace.about.items() if each not in ([], {}, "")}
        draft.drop_rest(rest, _KNOWN_TRACE, trace.loc)
    session = traces[0].about.get("sessionId") or traces[0].about.get("id")
    draft.conversation_id = session if isinstance(session, str) else None
    noted = {note.code for note in draft.notes}
    if any(trace.is_page for trace in traces):
        draft.note("more_pages", traces[0].loc, "the answer of the API is one page of several")
    is_whole = "observation_missing" not in noted and not any(trace.is_page for trace in traces)
    converse(runs, part, draft, platform="Langfuse", how=_HOW, is_whole=is_whole)


_KNOWN_TRACE = frozenset(
    {
        *_ABOUT,
        "timestamp",
        "observations",
        "input",
        "output",
        "metadata",
        "projectId",
        "createdAt",
        "updatedAt",
    }
    | {"bookmarked", "public", "latency", "totalCost", "htmlPath", "externalId"}
)


def _traces(part: Part) -> list[_Trace]:
    value, loc = part.value, part.loc()
    is_page = _is_page(value)
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        part = part.at("data")
        value = part.value
    if isinstance(value, dict):
        about = value["trace"] if isinstance(value.get("trace"), dict) else value
        where = f"{loc}.trace" if about is not value else loc
        listed = value.get("observations")
        place = f"{loc}.observations"
        if not isinstance(listed, list):
            listed, place = about.get("observations"), f"{where}.observations"
        return [_trace(about, where, listed, place)]
    if not isinstance(value, list):
        return []
    locs = part.locs()
    if value and not all(_is_observation(item) for item in value[:_TRIED]):
        return [
            _trace(item, place, item.get("observations"), f"{place}.observations")
            for item, place in zip(value, locs, strict=True)
            if isinstance(item, dict)
        ]
    by_trace: dict[str, _Trace] = {}
    for item, place in zip(value, locs, strict=True):
        own = item.get("traceId") if isinstance(item, dict) else None
        own = own if isinstance(own, str) else ""
        trace = by_trace.setdefault(own, _Trace({"id": own}, [], place, is_page))
        trace.observations.append((item, place))
    return list(by_trace.values())


def _is_page(value: Any) -> bool:
    """Whether this is one page of the API's answer, and not the only one."""
    meta = value.get("meta") if isinstance(value, dict) else None
    if not isinstance(meta, dict):
        return False
    pages, cursor = meta.get("totalPages"), meta.get("cursor")
    return (type(pages) is int and pages > 1) or isinstance(cursor, str)


def _trace(about: dict[str, Any], loc: str, listed: Any, place: str) -> _Trace:
    items = listed if isinstance(listed, list) else []
    return _Trace(about, [(item, f"{place}[{index}]") for index, item in enumerate(items)], loc)


def _runs(trace: _Trace, draft: Draft) -> list[Run]:
    """The observations of a trace as runs, each once, under the trace itself."""
    about = trace.about
    runs: dict[str, Run] = {}
    for index, (item, loc) in enumerate(trace.observations):
        if isinstance(item, str):
            draft.note("observation_missing", loc, "the export names an observation and does not hold it")
        elif not isinstance(item, dict):
            draft.note("observation_unreadable", loc, f"the observation is {kind_of(item)}")
        else:
            run = _run(item, index, loc, draft)
            if run.id in runs:
                draft.note("duplicate_observation", loc, "two observations have one id; the last one counts")
            runs[run.id] = run
    if not any(run.kind == "model" for run in runs.values()) and (about.get("input") or about.get("output")):
        # The trace repeats its outermost observation, and speaks where no observation is in the export.
        own = f"trace {about.get('id')}"
        root = Run(
            id=own,
            kind="other",
            type="trace",
            name=None,
            input=about.get("input"),
            output=about.get("output"),
            start_ns=instant(about.get("timestamp")),
            loc=trace.loc,
            input_loc=f"{trace.loc}.input",
            output_loc=f"{trace.loc}.output",
        )
        return [root, *runs.values()]
    return list(runs.values())


def _run(item: dict[str, Any], index: int, loc: str, draft: Draft) -> Run:
    kind, own = item.get("type"), item.get("id")
    kind = kind.upper() if isinstance(kind, str) else ""
    metadata = unwrapped(item.get("metadata"), f"{loc}.metadata", Draft())
    attrs = metadata.get("attributes") if isinstance(metadata, dict) else None
    attrs = unwrapped(attrs, f"{loc}.metadata", Draft()) if isinstance(attrs, str) else attrs
    attrs = attrs if isinstance(attrs, dict) else {}
    start, end = instant(item.get("startTime")), instant(item.get("endTime"))
    if (start is None and item.get("startTime") is not None) or (
        end is None and item.get("endTime") is not None
    ):
        draft.note("time_unreadable", loc, "a time that is no ISO 8601 text is left out")
    parent = item.get("parentObservationId")
    is_tool = kind == "TOOL" or _says_tool(attrs)
    name = _first(attrs, "gen_ai.tool.name", "tool.name", "ai.toolCall.name") if is_tool else None
    if name is None:
        name = item.get("name") if isinstance(item.get("name"), str) else None
        prefix = next((each for each in _PREFIXES if name is not None and name.startswith(each)), "")
        name = name[len(prefix) :] if name is not None else None
    failed = item.get("level") == "ERROR"
    is_event = is_tool and kind != "TOOL" and item.get("input") is None
    if is_event:
        name = None  # a framework's event in the life of a call, the name of which is no tool's
    return Run(
        id=own if isinstance(own, str) else f"observation {index}",
        parent=parent if isinstance(parent, str) and parent else None,
        kind=_kind(kind, is_tool=is_tool, is_event=is_event),
        type=kind or "none",
        name=name,
        own=_first(attrs, "gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool_call_id"),
        input=item.get("input"),
        output=item.get("output"),
        start_ns=start,
        end_ns=end,
        failed=failed,
        error=item.get("statusMessage") if failed and item.get("statusMessage") else msgspec.UNSET,
        loc=loc,
        input_loc=f"{loc}.input",
        output_loc=f"{loc}.output",
    )


def _kind(kind: str, *, is_tool: bool, is_event: bool) -> Literal["model", "tool", "maybe", "event", "other"]:
    if kind == "GENERATION":
        return "model"
    if is_tool:
        return "event" if is_event else "tool"
    return "maybe" if kind == "SPAN" else "other"


def _says_tool(attrs: dict[str, Any]) -> bool:
    return (
        attrs.get("openinference.span.kind") == "TOOL"
        or attrs.get("gen_ai.operation.name") == "execute_tool"
        or attrs.get("ai.operationId") == "ai.toolCall"
        or attrs.get("traceloop.span.kind") == "tool"
    )


def _first(attrs: dict[str, Any], *keys: str) -> str | None:
    return next((attrs[key] for key in keys if isinstance(attrs.get(key), str) and attrs[key]), None)


def _is_observation(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("type"), str) or "startTime" not in item:
        return False
    return item["type"].upper() in _ALL_TYPES and ("traceId" in item or "parentObservationId" in item)


def _is_trace(value: dict[str, Any]) -> bool:
    listed = value.get("observations")
    if not isinstance(listed, list):
        return False
    if listed and all(isinstance(item, str) for item in listed[:_TRIED]):
        return "timestamp" in value and ("projectId" in value or "sessionId" in value)
    return bool(listed) and all(_is_observation(item) for item in listed[:_TRIED])
