"""The parts of a content of Google's ADK: texts, calls and responses, in snake_case or camelCase.

ADK's models are written out in either spelling: as Python's own names, or as its web API has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import UNSET

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.model import Span
from averment.evidence.readers.calls import tells_failure
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.shortfalls import UNKNOWN_TYPE

__all__ = ["Contents", "each_part", "key_of", "of", "own_key", "snake"]

_TRANSFERS = frozenset({"transfer_to_agent", "transfer_to_other_agent"})
_TEXT_KEYS = frozenset({"text", "thought"})
_OTHER_PARTS = frozenset(
    {"text", "thought", "thought_signature", "inline_data", "file_data", "video_metadata", "part_metadata"}
    | {"media_resolution", "executable_code", "code_execution_result", "function_call", "function_response"}
)


class Contents:
    """What sessions and eval cases share: the parts of a content."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self.part = part
        self.draft = draft
        self.dialogue = Dialogue(draft, part)
        self.spans: list[Span] = []
        self._transfers: dict[Any, Any] = {}
        self.last: dict[Any, str] = {}

    def content(self, content: Any, author: str, loc: str, time: int | None = None, **turn: Any) -> bool:
        """Read a content; whether there was anything in it."""
        if content is None:
            return False
        parts = content.get("parts") if isinstance(content, dict) else None
        if not isinstance(parts, list):
            self.draft.note("content_unreadable", loc, "the content has no list of parts")
            return False
        timed: dict[str, Any] = {} if time is None else {"start_ns": time, "clock": "epoch"}
        placed = list(each_part(parts, loc))
        texts = [text for part, place in placed if (text := self._text(part, place)) is not None]
        others = [
            (part, place)
            for part, place in placed
            if isinstance(part, dict) and not part.keys() <= _TEXT_KEYS  # most parts are texts
        ]
        is_user = author == "user"
        if not is_user:
            asks = any(isinstance(of(part, "function_call"), dict) for part, _ in others)
            if asks or texts:
                self.dialogue.step()
        if texts:
            self.dialogue.turn(
                "user" if is_user else "model",
                "\n".join(texts),
                loc,
                speaker=None if is_user else author,
                **timed,
                **turn,
            )
        found = len(texts) > 0
        for part, place in others:
            call, response = of(part, "function_call"), of(part, "function_response")
            if isinstance(call, dict):
                found = True
                self.call(call, f"{place}.{key_of(part, 'function_call')}", timed)
            elif isinstance(response, dict):
                found = True
                self.response(response, f"{place}.{key_of(part, 'function_response')}", author, time)
        return found

    def _text(self, part: Any, loc: str) -> str | None:
        """The text of a part that was said; what else a part holds is named."""
        if not isinstance(part, dict):
            self.draft.note("part_unreadable", loc, f"the part is {kind_of(part)}")
            return None
        text = part.get("text")
        if isinstance(text, str):
            if part.get("thought") is True:
                self.draft.drop("a reasoning part", loc)
                return None
            return text
        for key in ("function_call", "function_response"):
            if isinstance(of(part, key), dict):
                return None
        names = [name for name, value in part.items() if value is not None] or ["text"]
        if not {snake(name) for name in names} <= _OTHER_PARTS:
            self.draft.note(UNKNOWN_TYPE, loc, "a part is of a kind that is not known, so it is left out")
        self.draft.drop("a part of another kind than text and calls", loc)
        self.draft.drop_rest(dict.fromkeys(names, True), (), loc)
        return None

    def call(self, call: dict[str, Any], loc: str, timed: dict[str, Any]) -> None:
        """A call of a tool that the model asked for."""
        own, name, args = call.get("id"), call.get("name"), call.get("args", {})
        args = {} if args is None else args  # a call without arguments has none: the API leaves them out
        if isinstance(name, str) and name in _TRANSFERS and isinstance(args, dict):
            self._transfers[own_key(own)] = args.get("agent_name", args.get("agentName"))
        self.draft.drop_rest(call, {"id", "name", "args"}, loc)
        self.dialogue.request(name, args, loc, own=own, parse=False, **timed)

    def response(self, response: dict[str, Any], loc: str, author: str, time: int | None) -> None:
        """What a tool answered."""
        own, name, result = response.get("id"), response.get("name"), response.get("response")
        key = own_key(own)
        if key is not None and self.last.get(key, loc) != loc:
            self.draft.note(
                "interim_result", loc, "a long-running tool answers again later; that answer counts", "info"
            )
            return
        timed: dict[str, Any] = {} if time is None else {"end_ns": time, "clock": "epoch"}
        self.dialogue.answer(
            UNSET if result is None else result,
            loc,
            own=own,
            name=name if type(name) is str else None,
            **timed,
        )
        if isinstance(name, str) and name in _TRANSFERS and not tells_failure(result):
            self.hand_over(self._transfers.pop(key, None), author, loc, time)

    def hand_over(self, to: Any, author: str, loc: str, time: int | None) -> None:
        """A transfer to another agent took place."""
        self.spans.append(
            Span(
                id=f"s_{len(self.spans)}",
                type="handoff",
                start_ns=time,
                end_ns=time,
                clock=None if time is None else "epoch",
                fields={"from": author, **({"to": to} if isinstance(to, str) else {})},
                seq=self.dialogue.place(),
                loc=loc,
            )
        )


def each_part(parts: list[Any], loc: str) -> Iterator[tuple[Any, str]]:
    """The parts of a content that stands at `loc`, and where each stands."""
    return ((part, f"{loc}.parts[{index}]") for index, part in enumerate(parts))


def of(item: Any, *keys: str) -> Any:
    """The value under the first of the keys that has one, in snake_case or camelCase."""
    if not isinstance(item, dict):
        return None
    for key in keys:
        value = item.get(key)
        if value is None:
            value = item.get(_camel(key))
        if value is not None:
            return value
    return None


@lru_cache(maxsize=512)
def _camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(word.capitalize() for word in rest)


def key_of(item: Any, key: str) -> str:
    """How an object spells a key: in snake_case, or in camelCase."""
    return _camel(key) if isinstance(item, dict) and item.get(key) is None and _camel(key) in item else key


@lru_cache(maxsize=512)
def snake(key: str) -> str:
    """A camelCase key in snake_case."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


def own_key(own: Any) -> Any:
    """An id that calls can be looked up by, or None."""
    return own if type(own) in (str, int) else None
