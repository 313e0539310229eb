"""Google ADK: sessions, lists of events, eval sets and their results, and the older lists of `{query, reference}`.

In a session, an event's author is `user` or the name of an agent, which becomes the speaker of a turn in the role
`model`. Parts hold text, `function_call` and `function_response`; calls without ids are paired by name within a step.
Of a long-running tool the last response counts. `actions.transfer_to_agent`, or an answered `transfer_to_agent` call,
is a handoff. Times are epoch seconds or ISO texts. `state` and what else is said of the session is metadata. Keys are
read in snake_case and camelCase.

An eval case is no recording: its `tool_uses` and `final_response` are what an agent *should* do and say. They are read
as a conversation in which calls were only asked for, so that nothing passes as executed. Of an eval result, the session
is read, or else the actual invocations.

Known gaps: changes of state are not read, only the final state; no agent's turn to speak without a transfer (as in a
workflow) is a handoff. ADK has no mark for a failed call: an `error` in the response, or a `status` that says so, is
one. Executed code, grounding, usage, mocked outputs and logs of model requests are not read. Eval cases hold times of
their creation alone, and don't say whether an agent's intermediate text came before or after its calls.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.readers.adk_eval import Case
from averment.evidence.readers.adk_parts import Contents, each_part, key_of, of, own_key, snake
from averment.evidence.times import SECOND, instant, scaled

__all__ = ["fits", "read", "split"]

_ABOUT = ("app_name", "user_id", "state", "context", "current_agent_name", "last_update_time")
_KNOWN_SESSION = frozenset({"id", "events", *_ABOUT})
_KNOWN_EVENT = frozenset(
    {"id", "author", "invocation_id", "timestamp", "content", "actions", "partial", "interrupted", "branch"}
    | {"turn_complete", "long_running_tool_ids", "input_transcription", "output_transcription", "role"}
    | {"error_code", "error_message"}
)
_KNOWN_CASE = frozenset(
    {"eval_id", "case_id", "name", "initial_state", "session_input", "creation_timestamp"}
)
_TRIED = 5


def fits(value: Any) -> str | None:
    """Why this looks like evidence of ADK, or None."""
    if isinstance(value, dict):
        events, cases, conversation = (of(value, key) for key in ("events", "eval_cases", "conversation"))
        if isinstance(events, list) and (_are_events(events) or (not events and _is_about(value))):
            return "its `events` have an `author` and an invocation"
        if (
            isinstance(cases, list)
            and cases
            and all(isinstance(of(case, "conversation"), list) for case in cases[:_TRIED])
        ):
            return "it has `eval_cases` with a `conversation`"
        results = of(value, "eval_case_results")
        if (
            isinstance(results, list)
            and results
            and all(of(each, "eval_id") is not None for each in results[:_TRIED])
        ):
            return "it has `eval_case_results`"
        if isinstance(conversation, list) and of(value, "eval_id") is not None:
            return "it has an `eval_id` and a `conversation`"
        return None
    if not isinstance(value, list) or not value:
        return None
    if _are_events(value):
        return "its items are events with an `author` and an invocation"
    if all(_is_query(item) for item in value[:_TRIED]):
        return "its items have a `query` and what is expected"
    sets = [of(item, "data") for item in value[:_TRIED]]
    if all(isinstance(data, list) and bool(data) and _is_query(data[0]) for data in sets):
        return "its items have `data` with a `query` and what is expected"
    return None


def split(part: Part) -> list[Part]:
    """The conversations of an eval set or of its result."""
    value = part.value
    for key in ("eval_cases", "evalCases", "eval_case_results", "evalCaseResults"):
        if isinstance(value, dict) and isinstance(value.get(key), list):
            cases = part.at(key)
            return [cases.item(index) for index in range(len(cases.value))]
    if isinstance(value, list) and value and not _are_events(value) and not _is_query(value[0]):
        return [part.item(index) for index in range(len(value))]
    return [part]


def read(part: Part, draft: Draft) -> None:
    """Read one session, eval case or eval result."""
    value = part.value
    if isinstance(value, list):
        if value and _is_query(value[0]):
            Case(part, draft).read(part, is_reference=True)
        else:
            _Session(part, draft).read(part)
        return
    if not isinstance(value, dict):
        draft.problems.append(
            part.problem("wrong_type", "a session or an eval case is an object", found=kind_of(value))
        )
        return
    for key in ("session_details", "sessionDetails"):
        if isinstance(value.get(key), dict) and isinstance(value[key].get("events"), list):
            draft.drop_rest(value, {key}, part.loc())
            value, part = value[key], part.at(key)
    conversation = next((key for key in ("conversation", "data") if isinstance(value.get(key), list)), None)
    results = next((key for key in _RESULTS if isinstance(value.get(key), list)), None)
    if isinstance(value.get("events"), list):
        _about(value, part, draft, _KNOWN_SESSION)
        _Session(part, draft).read(part.at("events"))
    elif results is not None:
        draft.drop_rest(value, {results}, part.loc())
        Case(part, draft).read(part.at(results), is_reference=False)
    elif conversation is not None:
        about = of(value, "session_input")
        said = {**value, **(about if isinstance(about, dict) else {})}
        _about(said, part, draft, {conversation, *_KNOWN_CASE, *_ABOUT})
        Case(part, draft).read(part.at(conversation), is_reference=True)
    else:
        message = "this is neither a session nor an eval case"
        draft.problems.append(part.problem("wrong_type", message, expected="`events` or a `conversation`"))


_RESULTS = ("eval_metric_result_per_invocation", "evalMetricResultPerInvocation")


def _about(value: dict[str, Any], part: Part, draft: Draft, known: Any) -> None:
    """The id of a conversation, and what is said of it as a whole."""
    own = next((of(value, key) for key in ("id", "eval_id", "case_id", "name") if of(value, key)), None)
    draft.conversation_id = own if type(own) is str else None
    found = {key: each for key in (*_ABOUT, "initial_state") if (each := of(value, key)) is not None}
    draft.metadata = found or None
    draft.drop_rest({snake(key): each for key, each in value.items()}, known, part.loc())


class _Session(Contents):
    """The events of one session."""

    def read(self, events: Part) -> None:
        locs = events.locs()
        times = self._times(events)
        self._find_last(events.value, locs)
        unfinished: dict[str, str] = {}
        count = 0
        for event, loc, time in zip(events.value, locs, times, strict=True):
            if not isinstance(event, dict):
                self.draft.note("event_unreadable", loc, f"the event is {kind_of(event)}")
                continue
            author = event.get("author")
            if not isinstance(author, str):
                self.draft.note("author_missing", loc, "the event has no author, so its role is what it says")
                role = of(event.get("content"), "role")
                author = "user" if role == "user" else "model"
            if event.get("partial") is True:
                self.draft.drop("a partial event, which a later one repeats", loc)
                unfinished[author] = loc
                continue
            count += self._event(event, author, loc, time)
            if event.get("content") is not None or of(event, "output_transcription") is not None:
                unfinished.pop(author, None)
        self._finish(unfinished)
        self.draft.account(self.part.source, records=len(events.value), read=count)

    def _event(self, event: dict[str, Any], author: str, loc: str, time: int | None) -> bool:
        draft = self.draft
        interrupted = event.get("interrupted")
        turn: dict[str, Any] = {"own": event.get("id")}
        turn["interrupted"] = interrupted if isinstance(interrupted, bool) else None
        draft.drop_rest({snake(key): each for key, each in event.items()}, _KNOWN_EVENT, loc)
        found = self.content(event.get("content"), author, f"{loc}.content", time, **turn)
        for key, speaker in (("input_transcription", "user"), ("output_transcription", author)):
            said = of(event, key)
            text = said.get("text") if isinstance(said, dict) else None
            if isinstance(said, dict) and isinstance(text, str) and said.get("finished") is not False:
                found = True
                content = {"parts": [{"text": text}]}
                self.content(
                    content,
                    "user" if speaker == "user" else speaker,
                    f"{loc}.{key_of(event, key)}",
                    time,
                    **turn,
                )
            elif said is not None:
                draft.drop("an unfinished transcription", loc)
        code = of(event, "error_code")
        if code is not None:
            draft.note("model_error", loc, "the event is an error of the model")
        actions = event.get("actions")
        if isinstance(actions, dict):
            self._act(actions, author, loc, time)
        return found or code is not None

    def _act(self, actions: dict[str, Any], author: str, loc: str, time: int | None) -> None:
        to = of(actions, "transfer_to_agent", "transfer_agent")
        if isinstance(to, str) and not (self.spans and self.spans[-1].loc.startswith(f"{loc}.")):
            self.hand_over(to, author, f"{loc}.actions", time)
        rest = {snake(key): value for key, value in actions.items() if value not in ({}, [], False)}
        self.draft.drop_rest(rest, {"transfer_to_agent", "transfer_agent", "skip_summarization"}, loc)

    def _find_last(self, events: list[Any], locs: list[str]) -> None:
        """Where the last response to each call of a long-running tool stands."""
        long_running: set[Any] = set()
        for event in events:
            ids = of(event, "long_running_tool_ids")
            long_running |= (
                {each for each in ids if isinstance(each, str)} if isinstance(ids, list) else set()
            )
        if not long_running:
            return
        for event, loc in zip(events, locs, strict=True):
            parts = of(of(event, "content"), "parts")
            for part, place in each_part(parts if isinstance(parts, list) else [], f"{loc}.content"):
                own = own_key(of(of(part, "function_response"), "id"))
                if own in long_running:
                    self.last[own] = f"{place}.{key_of(part, 'function_response')}"

    def _times(self, events: Part) -> list[int | None]:
        """The time of each event; none at all where a number can't be seconds since 1970."""
        written = [of(event, "timestamp") for event in events.value]
        times = [
            instant(each) if isinstance(each, str) else None if each is None else scaled(each, SECOND)
            for each in written
        ]
        if any(
            each is not None and (time is None or time < _YEAR_1973)
            for each, time in zip(written, times, strict=True)
        ):
            self.draft.note(
                "time_unreadable", events.loc(), "not every time is in seconds since 1970; none is read"
            )
            return [None] * len(times)
        return times

    def _finish(self, unfinished: dict[str, str]) -> None:
        draft = self.draft
        self.dialogue.finish(flags_failures=False, writes_arguments=True)
        draft.spans = self.spans or None
        draft.cover("handoff", len(self.spans))
        for loc in unfinished.values():
            draft.note("cut_stream", loc, "no whole event follows the partial ones, so what was said is lost")
        if unfinished:
            how = "Export the events of a session, which are whole, and not those of a stream."
            draft.limit("transcript", "truncated", "the last event of a stream is missing", how)


_YEAR_1973 = 100_000_000 * SECOND


def _are_events(items: list[Any]) -> bool:
    return bool(items) and all(
        of(item, "author") is not None and of(item, "invocation_id") is not None for item in items[:_TRIED]
    )


def _is_about(value: dict[str, Any]) -> bool:
    return of(value, "app_name") is not None and of(value, "user_id") is not None


def _is_query(item: Any) -> bool:
    return isinstance(item, dict) and "query" in item and ("expected_tool_use" in item or "reference" in item)
