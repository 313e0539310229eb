"""What readers of message lists share: the texts in content parts, and what such a list can't show.

A list of messages says who said what and which calls were asked for and answered. It rarely says which tools there
were, whether a call failed, or what happened after its last message; where it doesn't, the coverage says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from averment.evidence.draft import OF_ANSWERS, OF_CALLS, Draft, Part, kind_of
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.shortfalls import NOT_TRANSCRIBED, UNKNOWN_TYPE

__all__ = [
    "Limits",
    "bodies",
    "finish",
    "in_turn",
    "keep",
    "limit_history",
    "no_list",
    "nothing_in",
    "part_text",
    "result_of",
    "text_of",
    "text_or_none",
]

_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal", "summary_text", "plain_text"})
_KINDS = {
    **dict.fromkeys(("image", "image_url", "input_image", "output_image"), "an image part"),
    **dict.fromkeys(("audio", "input_audio", "output_audio"), "an audio part"),
    **dict.fromkeys(("file", "input_file", "document", "file_url", "container_upload"), "a file part"),
    **dict.fromkeys(("video", "video_url", "input_video"), "a video part"),
    **dict.fromkeys(
        ("thinking", "redacted_thinking", "reasoning", "reasoning_text", "reasoning_content"),
        "a reasoning part",
    ),
}

_HEARD = frozenset({"an audio part", "a video part"})
_ASIDE = frozenset({"search_result", "tool_reference", "text-plain", "citation", "json"})
"""Parts that are neither speech nor calls."""


def part_text(part: Any, loc: str, draft: Draft) -> str | None:
    """The text of one content part, or None when it has none; what it is then is noted."""
    if type(part) is str:
        return part
    if type(part) is not dict:
        draft.note("text_not_text", loc, f"a content part is {kind_of(part)}, so it is left out")
        return None
    kind = part.get("type")
    if kind is None or (type(kind) is str and kind in _TEXT_TYPES):
        for key in ("text", "refusal", "content"):
            if type(part.get(key)) is str:
                text: str = part[key]
                return text
    elif type(part.get("transcript")) is str:  # audio, with what was said in it
        spoken: str = part["transcript"]
        return spoken
    what = _KINDS.get(kind) if type(kind) is str else "a part"
    if what is None and kind in _TEXT_TYPES | _ASIDE:
        what = "a part of `content` that is no text"
    if what is None:
        draft.note(UNKNOWN_TYPE, loc, "a content part is of a type that is not known, so it is left out")
        return None
    if what in _HEARD:
        draft.note(NOT_TRANSCRIBED, loc, f"{what} has no transcript, so what was said in it is not known")
    draft.drop(what, loc)
    return None


def text_or_none(content: Any, loc: str, draft: Draft) -> str | None:
    """What a message's content says: a text, or the texts of its parts joined by line breaks; None for nothing."""
    if content is None or type(content) is str:
        return content
    if type(content) is dict:
        return part_text(content, loc, draft)
    if type(content) is not list:
        draft.note("text_not_text", loc, f"the content is {kind_of(content)}, so it is left out")
        return None
    texts = [part_text(part, f"{loc}[{index}]", draft) for index, part in enumerate(content)]
    given = [text for text in texts if text is not None]
    return "\n".join(given) if given else None


def text_of(content: Any, loc: str, draft: Draft) -> str:
    """What a message's content says; the empty text for nothing."""
    return text_or_none(content, loc, draft) or ""


def result_of(content: Any, loc: str, draft: Draft) -> Any:
    """What a tool answered: the texts of content parts as one text, any other value as it is."""
    if type(content) is not list or not content:
        return content
    if any(type(part) is not dict or type(part.get("type")) is not str for part in content):
        return content
    if not any(part["type"] in _TEXT_TYPES for part in content):
        return content
    return text_of(content, loc, draft)


def keep(draft: Draft, value: dict[str, Any], keys: Iterable[str]) -> None:
    """Keep what a source says about itself as metadata, as written; what stands there already stays."""
    kept = {key: value[key] for key in keys if value.get(key) is not None}
    if kept:
        draft.metadata = kept | (draft.metadata or {})


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a format of messages can't show, and what to switch on in it.

    Attributes:
        tools: how to record which tools there were and what was called.
        failures: how to record failed calls; None where the format flags them.
        arguments: how to record what calls were given, where they lack it.
        writes_arguments: whether the format always has the arguments of a call, be they none.
    """

    tools: str
    failures: str | None = None
    arguments: str | None = None
    writes_arguments: bool = False


def finish(
    dialogue: Dialogue,
    draft: Draft,
    limits: Limits,
    *,
    shows_tools: bool,
    is_last_word: bool = True,
    flags_some: bool = False,
) -> None:
    """Write what was read to the draft, with what the source can't show of it.

    Args:
        dialogue: what was read.
        draft: what it is written to.
        limits: what the format can't show.
        shows_tools: whether the source would show a call if there were one.
        is_last_word: whether the source goes on after a call, so that one without an answer had none when it ended.
        flags_some: whether answers of some kinds are flagged, so that the reader has said of each how it went.
    """
    dialogue.finish(
        flags_failures=flags_some or limits.failures is None,
        writes_arguments=limits.writes_arguments,
        how_arguments=limits.arguments,
    )
    _finish(draft, limits, shows_tools=shows_tools, is_last_word=is_last_word)
    if any(note.code in _LOSSES for note in draft.notes):
        limit_history(
            draft, "some messages can't be read", "Export the conversation again, or mend the file."
        )
    elif any(note.code == "result_without_call" for note in draft.notes):
        reason, how = "an answer stands there without its call", "Save the messages from the first one on."
        limit_history(draft, reason, how)


def _finish(draft: Draft, limits: Limits, *, shows_tools: bool, is_last_word: bool) -> None:
    turns, calls = draft.turns or (), list(draft.calls or ())
    if not calls and not shows_tools:
        reason = "the messages hold no call, and nothing says which tools there were"
        for channel in OF_CALLS:
            draft.limit(channel, "absent", reason, limits.tools)
        draft.calls = None
        return
    last = turns[-1].seq if turns else None
    open_ = [call for call in calls if call.status in ("unanswered", "requested")]
    trailing = [call for call in open_ if last is None or (call.seq or 0) > last]
    requested = [call for call in calls if call.status == "requested"]
    if is_last_word and requested and len(requested) == len(calls) == len(trailing):
        calls = [msgspec.structs.replace(call, status="unanswered") for call in calls]
        requested = []
    if trailing and not requested:
        # Each of these calls leaves open what rests on its tool, and no more than that.
        for channel in OF_ANSWERS:
            if draft.coverage[channel].state == "absent":
                draft.cover(channel, len(calls))
    is_unflagged = any(call.status == "executed" for call in calls)
    if limits.failures is not None and is_unflagged and draft.coverage["errors"].state in _SHOWN:
        draft.limit("errors", "partial", "the messages have no flag for calls that failed", limits.failures)
    draft.calls = calls


_SHOWN = frozenset({"present", "partial"})
_LOSSES = frozenset({"message_unreadable", "calls_unreadable", "stream_cut"})
"""Notes of something that may have held turns or calls."""


def bodies(part: Part) -> tuple[Part, Part]:
    """The request and the response that a log keeps of a call of a model; either is the whole where it has no key."""
    value = part.value
    request = part.at("request") if isinstance(value.get("request"), dict) else part
    response = part.at("response") if isinstance(value.get("response"), dict) else part
    return request, response


def in_turn(messages: Part, draft: Draft, read: Callable[[Any, str], int]) -> int:
    """Read a list of messages one by one, each with its place; how many of them could be read."""
    if not isinstance(messages.value, list):
        draft.note("message_unreadable", messages.loc(), f"the messages are {kind_of(messages.value)}")
        return 0
    return sum(read(item, loc) for item, loc in zip(messages.value, messages.locs(), strict=True))


def no_list(part: Part, draft: Draft, what: str) -> None:
    """Refuse a value that is neither a list nor an object."""
    message = f"{what} must be a list, or stand in an object"
    found = kind_of(part.value)
    draft.problems.append(part.problem("wrong_type", message, expected="a list or an object", found=found))


def nothing_in(part: Part, draft: Draft, expected: str) -> None:
    """Refuse an object in which nothing of the format stands."""
    found = "an object without any of them"
    draft.problems.append(
        part.problem("no_messages", "there are no messages in this", expected=expected, found=found)
    )


def limit_history(draft: Draft, reason: str, how: str) -> None:
    """Say that the source begins in the middle of a conversation."""
    for channel in ("transcript", "requests", "executions", "results"):
        entry = draft.coverage.get(channel)
        if entry is not None and entry.state in ("present", "empty"):
            draft.limit(channel, "partial", reason, how)
