"""What readers of messages share about their content: a text, or a list of parts of which some are texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from averment.evidence.draft import Draft, kind_of
from averment.evidence.readers.shortfalls import NOT_TRANSCRIBED, UNKNOWN_TYPE

__all__ = ["objects_in", "text_of"]

_TEXT_TYPES = frozenset({"text", "input_text", "output_text", None})
_MEDIA = frozenset(
    {"image", "image_content", "image_url", "audio", "audio_content", "input_audio", "video", "document"}
    | {"file", "data"}
)
_HEARD = frozenset({"audio", "audio_content", "input_audio", "video"})
_THOUGHTS = frozenset({"reasoning", "thinking", "redacted_thinking"})


def objects_in(
    messages: Sequence[Any], locs: Sequence[str], draft: Draft
) -> Iterator[tuple[dict[str, Any], str]]:
    """The messages of a list that are objects, each with its place; the others are noted."""
    for loc, message in zip(locs, messages, strict=True):
        if type(message) is dict:
            yield message, loc
        else:
            found = kind_of(message)
            draft.note("message_not_object", loc, f"a message is {found}, and is not read")


def text_of(content: Any, loc: str, draft: Draft) -> str | None:
    """The text of a message's content, its parts joined by line breaks; None where it has no text.

    Parts that are no text are counted as dropped; a content that can't hold text is noted.
    """
    if content is None or type(content) is str:
        return content
    if type(content) is not list:
        draft.note("text_not_string", loc, f"the content is {kind_of(content)}, so it has no text")
        return None
    texts: list[str] = []
    for part in content:
        text = _part_text(part)
        if text is None:
            _note_other(part, loc, draft)
        else:
            texts.append(text)
    return "\n".join(texts) if texts else None


def _part_text(part: Any) -> str | None:
    if type(part) is str:
        return part
    if type(part) is not dict or not _is_in(part.get("type"), _TEXT_TYPES):
        return None
    text = part.get("text", part.get("content"))
    return text if type(text) is str else None


def _note_other(part: Any, loc: str, draft: Draft) -> None:
    """Say of a part that is no text what it is."""
    kind = part.get("type") if type(part) is dict else None
    if _is_in(kind, _THOUGHTS):
        draft.drop("a reasoning part", loc)
    elif type(kind) is str and kind in _MEDIA:
        draft.drop(f"a part of type `{kind}`", loc)
        if kind in _HEARD:
            draft.note(NOT_TRANSCRIBED, loc, f"a part of type `{kind}` has no transcript")
    else:
        draft.drop("a part that is no text", loc)
        if type(kind) is str and kind not in _TEXT_TYPES:
            draft.note(UNKNOWN_TYPE, loc, "a part is of a type that is not known, so it is left out")


def _is_in(kind: Any, kinds: frozenset[str | None] | frozenset[str]) -> bool:
    return (kind is None or type(kind) is str) and kind in kinds
