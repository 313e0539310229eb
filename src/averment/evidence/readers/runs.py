"""Runs of a tracing platform, Langfuse's observations and LangSmith's runs, as one conversation.

Model calls are read in the order of their start, each with the history that it was given; wrappers that hold another
model call are only read where the inner one shows nothing of what the model said. Runs of tools are executions.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from averment.evidence.draft import OF_CALLS, Draft, Part, quoted
from averment.evidence.model import CoverageState
from averment.evidence.readers.any_message import read_any, unwrapped
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.histories import Execution, Histories

__all__ = ["Run", "converse"]

_LONGEST_LITERAL = 10_000


class Run(msgspec.Struct, kw_only=True):
    """One run.

    Attributes:
        id: its id.
        parent: the id of the run that it is part of.
        kind: a call of a model, a tool's, one that may be a tool's, an event in the life of a tool's call that does
            not say which call that is, or something else.
        type: what the platform calls it.
        name: its name; for a tool the tool's.
        own: the id of the call that it executes.
        input: what it was given, as written.
        output: what it gave.
        start_ns: when it began, since 1970.
        end_ns: when it ended.
        failed: whether the platform says that it failed.
        error: what went wrong.
        loc: where it stands.
        input_loc: where its input stands.
        output_loc: where its output stands.
    """

    id: str
    parent: str | None = None
    kind: Literal["model", "tool", "maybe", "event", "other"]
    type: str
    name: str | None
    own: Any = None
    input: Any
    output: Any
    start_ns: int | None = None
    end_ns: int | None = None
    failed: bool = False
    error: Any = UNSET
    loc: str
    input_loc: str
    output_loc: str


def converse(
    runs: Sequence[Run], part: Part, draft: Draft, *, platform: str, how: str, is_whole: bool = True
) -> None:
    """Write the conversation that runs are of to the draft.

    Args:
        runs: all runs of it.
        part: where they stand.
        draft: what it is written to.
        platform: the platform's name.
        how: how to record inputs and outputs in it.
        is_whole: False where the export itself says that there are runs which it does not hold.
    """
    _Trace(runs, part, draft, platform, how, is_whole=is_whole).read()


class _Trace:
    def __init__(
        self, runs: Sequence[Run], part: Part, draft: Draft, platform: str, how: str, *, is_whole: bool
    ) -> None:
        timed = all(run.start_ns is not None for run in runs)
        self._runs = sorted(runs, key=lambda run: run.start_ns or 0) if timed else list(runs)
        self._by_id = {run.id: run for run in runs}
        self._draft = draft
        self._part = part
        self._platform = platform
        self._how = how
        self._histories = Histories(draft, part)
        self._unread: list[str] = []
        self._empty = 0
        self._shows_tools = False
        self._is_whole = is_whole
        self._read = 0

    def read(self) -> None:
        draft = self._draft
        wrappers = self._wrappers()
        models = [run for run in self._runs if run.kind == "model"]
        for run in models:
            if run.id not in wrappers:
                self._model(run)
                if self._histories.replies == 0 and (wrapper := self._wrapper_of(run, wrappers)) is not None:
                    wrappers.discard(wrapper.id)
                    self._model(wrapper)
                if self._histories.replies == 0 and not run.failed:
                    self._empty += 1
        for run in models:
            if run.id in wrappers:
                draft.drop("a model call that wraps another one", run.loc)
        executions = [self._execution(run) for run in self._runs if run.kind in ("tool", "maybe")]
        tools = [each for each in executions if each.is_sure]
        is_from_root = not self._histories.turns and self._root()
        dialogue = Dialogue(draft, self._part)
        all_shown = self._histories.tell(dialogue, executions)
        for run in self._runs:
            if run.kind in ("maybe", "event", "other"):
                draft.drop(f"a run of type {quoted(run.type)}", run.loc)
        self._read += len(tools)
        dialogue.finish(flags_failures=all_shown, how_arguments=self._how)
        draft.account(self._part.source, records=len(self._runs), read=self._read)
        self._limit(has_tools=bool(tools), is_from_root=is_from_root)

    def _wrappers(self) -> set[str]:
        """The model calls that hold another one."""
        holding: set[str] = set()
        for run in self._runs:
            if run.kind != "model":
                continue
            above = run.parent
            while above is not None and above not in holding:
                holding.add(above)
                above = self._by_id[above].parent if above in self._by_id else None
        return {run.id for run in self._runs if run.kind == "model" and run.id in holding}

    def _wrapper_of(self, run: Run, wrappers: set[str]) -> Run | None:
        """The nearest model call around this one that has not been read."""
        seen: set[str] = set()
        above = self._by_id.get(run.parent or "") if wrappers else None
        while above is not None and above.id not in seen and len(seen) < _MAX_ABOVE:
            if above.id in wrappers:
                return above
            seen.add(above.id)
            above = self._by_id.get(above.parent or "")
        return None

    def _model(self, run: Run) -> None:
        """Read what a model call was given and what it gave."""
        self._read += 1
        recorder, scratch = self._histories.recorder()
        given = unwrapped(run.input, run.input_loc, scratch)
        gave = unwrapped(run.output, run.output_loc, scratch)
        gave = None if gave == "None" else gave  # Python's, printed
        if run.failed:
            self._draft.note("model_error", run.loc, "the model call failed")
        self._shows_tools = self._shows_tools or _has_tools(given)
        understood = True
        if isinstance(given, str) and given:
            # One text may hold a prompt and a whole dialogue; who said what in it would be a guess.
            recorder.turn("prompt", given, run.input_loc, role="other", said=False)
            understood = False
        elif given is not None:
            understood = read_any(given, run.input_loc, recorder, scratch, role="user")
        count = len(recorder.deeds)
        if gave is not None:
            recorder.step()
            understood &= read_any(gave, run.output_loc, recorder, scratch, role="assistant")
        if not understood:
            self._unread.append(run.loc)
        self._histories.add(recorder, scratch, given=count, start_ns=run.start_ns, end_ns=run.end_ns)

    def _execution(self, run: Run) -> Execution:
        scratch = Draft()
        given = _literal(unwrapped(run.input, run.input_loc, scratch))
        if isinstance(given, dict) and given.keys() == {"input"}:
            inner = _literal(unwrapped(given["input"], run.input_loc, scratch))
            given = inner if isinstance(inner, dict) else given
        result = _result(unwrapped(run.output, run.output_loc, scratch))
        failed = run.failed or (isinstance(result, _Failed))
        if isinstance(result, _Failed):
            result = result.result
        self._draft.nesting = max(self._draft.nesting, scratch.nesting)
        return Execution(
            name=run.name,
            arguments=given,
            result=UNSET if result is None else result,
            failed=True if failed else None,
            error=run.error if run.failed else UNSET,
            own=run.own,
            start_ns=run.start_ns,
            end_ns=run.end_ns,
            loc=run.loc,
            is_sure=run.kind == "tool",
            is_over=run.end_ns is not None or run.output is not None or failed,
            shows_result=run.output is not None or failed,
        )

    def _root(self) -> bool:
        """Read what the outermost run was given and gave, where no model call tells; whether there was anything."""
        root = next((run for run in self._runs if run.parent not in self._by_id and run.kind != "tool"), None)
        if root is None:
            return False
        recorder, scratch = self._histories.recorder()
        sides = (
            (root.input, root.input_loc, "user"),
            (root.output, root.output_loc, "assistant"),
        )
        for value, loc, role in sides:
            said = _literal(unwrapped(value, loc, scratch))
            if isinstance(said, str):
                recorder.turn(role, said, loc)
            elif said is not None:
                read_any(said, loc, recorder, scratch, role=role)
        self._histories.add(recorder, scratch, given=len(recorder.deeds))
        return len(recorder.deeds) > 0

    def _limit(self, *, has_tools: bool, is_from_root: bool) -> None:
        draft = self._draft
        models = [run for run in self._runs if run.kind == "model"]
        for loc in self._unread:
            draft.note(
                "model_call_unreadable", loc, "not all that the model was given or gave has a known shape"
            )
        if self._empty:
            is_bare = self._empty == len(models) and not draft.turns
            state: CoverageState = "redacted" if is_bare else "partial"
            self._bound(
                ("transcript", *OF_CALLS), state, "model calls are recorded without what the model said"
            )
        elif is_from_root or not models:
            reason = "no model call shows what was said, only the outermost run"
            self._bound(("transcript",), "partial", reason)
        elif self._unread:
            self._bound(
                ("transcript", *OF_CALLS), "partial", "some model calls are recorded in no known shape"
            )
        has_events = any(run.kind == "event" for run in self._runs)
        if has_events:
            self._bound(OF_CALLS, "partial", "runs of tools are recorded that do not say what was called")
        if not draft.calls and not has_tools and not self._shows_tools and not has_events:
            reason = "no run is a tool's, and nothing says which tools there were"
            for channel in OF_CALLS:
                draft.limit(channel, "absent", reason, self._how)
        missing = [run for run in self._runs if run.parent is not None and run.parent not in self._by_id]
        if missing:
            draft.note("parent_missing", missing[0].loc, "a run belongs to one that the export does not hold")
        if missing or not self._is_whole:
            self._bound(
                ("transcript", *OF_CALLS), "partial", "the export does not hold all runs of the trace"
            )
        if any(call.status == "executed" for call in draft.calls or ()):
            self._bound(("errors",), "partial", "nothing says of some runs of tools how they ended")
        if any(call.result_state == "absent" for call in draft.calls or ()):
            self._bound(("results",), "partial", "some runs of tools are recorded without their output")
        if not draft.turns:
            reason = f"{self._platform} recorded nothing that was said"
            draft.limit("transcript", "redacted" if self._empty else "absent", reason, self._how)
            draft.turns = None

    def _bound(self, channels: Sequence[str], state: CoverageState, reason: str) -> None:
        for channel in channels:
            if self._draft.coverage[channel].state in ("present", "empty", "partial"):
                self._draft.limit(channel, state, reason, self._how)


_MAX_ABOVE = 1000


class _Failed(msgspec.Struct):
    """The result of a tool that says by itself that it failed, in LangChain's words."""

    result: Any


def _result(value: Any) -> Any:
    """What a tool gave, out of LangChain's `{output}` and `ToolMessage`."""
    if isinstance(value, dict) and value.keys() == {"output"}:
        value = value["output"]
    message = value
    if isinstance(value, dict) and isinstance(value.get("kwargs"), dict) and "lc" in value:
        message = value["kwargs"]
    is_tools = isinstance(message, dict) and (message is not value or message.get("type") == "tool")
    if not is_tools or "content" not in message:
        return value
    content = message["content"]
    return _Failed(content) if message.get("status") == "error" else content


def _literal(value: Any) -> Any:
    """A printed Python object as what it is, since some SDKs print what they are given."""
    if not isinstance(value, str) or not value.startswith(("{", "[")) or len(value) > _LONGEST_LITERAL:
        return value
    try:
        read = ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return value
    return read if _is_json(read) else value


def _is_json(value: Any, depth: int = 0) -> bool:
    if isinstance(value, dict):
        return depth < 50 and all(
            type(key) is str and _is_json(each, depth + 1) for key, each in value.items()
        )
    if isinstance(value, list):
        return depth < 50 and all(_is_json(each, depth + 1) for each in value)
    return value is None or type(value) in (str, int, bool) or (type(value) is float and value - value == 0)


def _has_tools(given: Any) -> bool:
    if not isinstance(given, dict):
        return False
    config = given.get("config")
    holders = (given, config if isinstance(config, dict) else {})
    return any(isinstance(each.get(key), list) for each in holders for key in ("tools", "functions"))
