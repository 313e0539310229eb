"""Plain transcripts: `[{role, text, start, end}]`, `{segments: [...]}`, `{transcript: {segments: [...]}}`.

Text is read from `text`, `content` or `message`, the role from `role` or `speaker` (difference 14 of assert-v1.md);
the first of them that is not null counts. `content` may be a list of parts, of which the texts are joined by line
breaks. Times are call-relative seconds.

Known gaps: word times, confidences and other keys are not read; a note counts each of them. Calls that chat
messages carry are no part of a transcript, and a list of messages that has some is not recognised as one.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, Part, kind_of, nanoseconds, own_id, quoted, too_long
from averment.evidence.model import MAX_TEXT_BYTES, Role, Turn

__all__ = ["fits", "read", "role_of"]


_READ = frozenset(
    {"id", "role", "speaker", "text", "content", "message", "start", "end", "interrupted", "final"}
)
_TEXTS = ("text", "content", "message")
_FOREIGN = frozenset({"type", "tool_calls", "tool_call_id", "tool_use_id", "function_call", "actions"})

_SHORT = MAX_TEXT_BYTES // 4
"""Characters that are under the limit in any case."""

_MAX_NAMED = 50
"""How many different keys the notes name; the rest are counted."""

_ROLES: dict[str, Role] = {
    **dict.fromkeys(("agent", "assistant", "bot", "ai", "model", "robot"), "agent"),
    **dict.fromkeys(("user", "caller", "customer", "human"), "user"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}


def fits(value: Any) -> str | None:
    """Why this looks like a transcript, or None; a speech engine's segments, which nobody is named for, don't."""
    if isinstance(value, dict):
        if value.get("segments") == []:
            return "it has a list of segments"
        value = value.get("segments")
    if not isinstance(value, list):
        return None
    turns = [item for item in value if isinstance(item, dict)]
    if any(not _FOREIGN.isdisjoint(item) or _has_other_parts(item.get("content")) for item in turns):
        return None
    if any(("role" in item or "speaker" in item) and not item.keys().isdisjoint(_TEXTS) for item in turns):
        return "its items have a role and a text"
    return None


def read(part: Part, draft: Draft) -> None:
    """Read the turns of a transcript in any of the three shapes."""
    while isinstance(part.value, dict):
        key = "segments" if "segments" in part.value else "transcript"
        if key not in part.value:
            draft.problems.append(
                part.problem(
                    "wrong_transcript",
                    "this is no transcript",
                    expected="a list of turns, or an object with a list `segments`",
                    found="an object without `segments`",
                )
            )
            return
        others = sorted(part.value.keys() - {key})
        if others:
            names = ", ".join(quoted(other) for other in others[:_MAX_NAMED])
            draft.note(
                "dropped_key", part.loc(), f"{len(others)} keys beside `{key}` are not read: {names}", "info"
            )
        part = part.at(key)
    if not isinstance(part.value, list):
        draft.problems.append(
            part.problem(
                "wrong_type",
                "a transcript must be a list of turns",
                expected="a list",
                found=kind_of(part.value),
            )
        )
        return
    _Turns(part, draft).read()


def role_of(role_raw: str | None) -> Role:
    """What the role's name is usually understood to be."""
    if role_raw is None:
        return "unknown"
    return _ROLES.get(role_raw) or _ROLES.get(role_raw.strip().casefold(), "other")


class _Turns:
    """The turns of one list, with what was dropped from them counted."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._dropped: dict[str, list[int]] = {}
        self._ids: set[str] = set()
        self._locs = part.locs()

    def read(self) -> None:
        turns = [self._turn(index, item) for index, item in enumerate(self._part.value)]
        self._draft.turns = [turn for turn in turns if turn is not None]
        self._draft.cover("transcript", len(turns))
        for what in sorted(self._dropped)[:_MAX_NAMED]:
            count, first = self._dropped[what]
            self._draft.note(
                "dropped_key", self._locs[first], f"{what} is not read (in {count} turns)", "info"
            )

        if len(self._dropped) > _MAX_NAMED:
            more = f"{len(self._dropped) - _MAX_NAMED} more keys are not read"
            self._draft.note("dropped_key", self._part.loc(), more, "info")

    def _turn(self, index: int, item: Any) -> Turn | None:
        if type(item) is not dict:
            self._problem(index, "wrong_type", "a turn must be an object", item, expected="an object")
            return None
        get = item.get
        text = get("text")
        if type(text) is not str or len(text) > _SHORT or "content" in item or "message" in item:
            text = self._text(index, item)
        role_raw = get("role")
        speaker = get("speaker")
        if role_raw is None:
            role_raw = speaker
        if role_raw is not None and type(role_raw) is not str:
            self._note(index, "role_not_text", f"the role is {kind_of(role_raw)}, so it is unknown")
            role_raw = None
        start, end = nanoseconds(get("start")), nanoseconds(get("end"))
        if start is None or end is None or end < start:
            self._check_times(index, item, start, end)
        for key in item:
            if key not in _READ:
                self._drop(quoted(key), index)
        own = get("id")
        interrupted = get("interrupted")
        return Turn(
            id=f"t_{index}" if own is None else self._id(index, own),
            role_raw=role_raw,
            role=_ROLES.get(role_raw or "") or role_of(role_raw),
            text=text,
            start_ns=start,
            end_ns=end,
            clock=None if start is None and end is None else "call_relative",
            speaker=speaker if type(speaker) is str else None,
            interrupted=interrupted if type(interrupted) is bool else None,
            final=get("final") is not False,
            loc=self._locs[index],
        )

    def _text(self, index: int, item: dict[str, Any]) -> str:
        """The turn's text; a problem is recorded for a value that can't be one."""
        chosen = next((key for key in _TEXTS if item.get(key) is not None), None)
        if chosen is None:
            return ""
        for other in _TEXTS:
            if other != chosen and item.get(other) is not None:
                self._drop(f"`{other}` beside `{chosen}`", index)
        value = item[chosen]
        if type(value) is list and chosen == "content":
            value = self._joined(index, value)
        if type(value) is not str:
            expected = "a string or a list of parts" if chosen == "content" else "a string"
            self._problem(
                index, "text_not_string", "a turn's text must be a string", value, chosen, expected=expected
            )
            return ""
        if too_long(value):
            limit = f"at most {MAX_TEXT_BYTES:,} bytes of UTF-8"
            self._draft.problems.append(
                self._part.problem(
                    "text_too_long", "a turn's text is too long", index, chosen, expected=limit
                )
            )
            return ""
        return value

    def _joined(self, index: int, parts: list[Any]) -> str:
        texts = []
        for position, part in enumerate(parts):
            text = part
            if type(part) is dict:
                if part.get("type") != "text":
                    self._drop("a part of `content` that is no text", index)
                    continue
                text = part.get("text", part.get("content"))
            if type(text) is not str:
                self._problem(
                    index, "text_not_string", "a text part must hold a string", text, "content", position
                )
                text = ""
            texts.append(text)
        return "\n".join(texts)

    def _check_times(self, index: int, item: dict[str, Any], start: int | None, end: int | None) -> None:
        """Note times that are written and can't be read, and an end before the start."""
        for key, time in (("start", start), ("end", end)):
            if time is None and item.get(key) is not None:
                self._note(
                    index,
                    "time_unreadable",
                    f"`{key}` is no number of seconds since the start; it is left out",
                )
        if start is not None and end is not None and end < start:
            self._note(index, "ends_before_start", "the turn ends before it starts")

    def _id(self, index: int, own: Any) -> str:
        position = f"t_{index}"
        kept = own_id(own, position, self._ids)
        if kept is None:
            self._drop("an `id` that is no string of its own", index)
        return kept or position

    def _drop(self, what: str, index: int) -> None:
        self._dropped.setdefault(what, [0, index])[0] += 1

    def _note(self, index: int, code: str, detail: str) -> None:
        self._draft.note(code, self._locs[index], detail)

    def _problem(
        self, index: int, code: str, message: str, found: Any, *inside: str | int, expected: str = "a string"
    ) -> None:
        self._draft.problems.append(
            self._part.problem(code, message, index, *inside, expected=expected, found=kind_of(found))
        )


def _has_other_parts(content: Any) -> bool:
    return type(content) is list and any(
        type(part) is not dict or part.get("type") != "text" for part in content
    )
