"""What readers of speech engines share: utterances with a label of the speaker, made of words where need be.

A label (`speaker_0`, `A`, `spk_1`) tells speakers apart and not who they are, so its role is unknown until a document
says so: `roles: {agent: [speaker_0]}`. A transcript of speech can't show calls of tools.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from averment.evidence.draft import OF_CALLS, Draft, Part, kind_of
from averment.evidence.model import Role
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.times import scaled

__all__ = ["Speech", "Utterance", "Word", "label_of", "not_read"]

_REASON = "a transcript of speech shows no calls of tools"
_HOW = "Add the trace of tool calls: `--trace FILE`."


class Utterance(msgspec.Struct, frozen=True, kw_only=True):
    """What one speaker said without a break.

    Attributes:
        text: the words.
        loc: where it stands.
        label: what the source calls the speaker.
        role: the speaker's role, where the source names it; unknown otherwise.
        start_ns: when it began, from the start of the recording.
        end_ns: when it ended.
        own: the source's id of it.
    """

    text: str
    loc: str
    label: str | None = None
    role: Role = "unknown"
    start_ns: int | None = None
    end_ns: int | None = None
    own: Any = None


class Word(msgspec.Struct, frozen=True):
    """One word; `glued` to the one before it when it is punctuation."""

    text: str
    loc: str
    label: str | None
    start_ns: int | None
    end_ns: int | None
    glued: bool = False


class Speech:
    """The utterances of one recording in the making.

    Args:
        part: the recording.
        draft: what they are written to, by `finish`.
    """

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._utterances: list[Utterance] = []

    def time(self, value: Any, unit: int, loc: str) -> int | None:
        """A time in that unit; None where there is none, which is noted when there should be one."""
        found = scaled(value, unit)
        if found is None and value is not None:
            self._draft.note("time_unreadable", loc, "a time is no number; it is left out")
        return found

    def say(self, utterance: Utterance) -> None:
        """The next utterance; one without a text is passed over."""
        start, end = utterance.start_ns, utterance.end_ns
        if start is not None and end is not None and end < start:
            self._draft.note("ends_before_start", utterance.loc, "what is said ends before it starts")
        if utterance.text.strip():
            self._utterances.append(utterance)

    def say_words(self, words: Iterable[Word]) -> None:
        """Words, of which those in a row with one label are an utterance."""
        group: list[Word] = []
        for word in words:
            if group and word.label != group[0].label:
                self._say_group(group)
                group = []
            group.append(word)
        if group:
            self._say_group(group)

    def _say_group(self, group: list[Word]) -> None:
        text = "".join(word.text if word.glued else f" {word.text}" for word in group)
        starts = [word.start_ns for word in group if word.start_ns is not None]
        ends = [word.end_ns for word in group if word.end_ns is not None]
        self.say(
            Utterance(
                text=text.strip(),
                loc=group[0].loc,
                label=group[0].label,
                start_ns=starts[0] if starts else None,
                end_ns=ends[-1] if ends else None,
            )
        )

    def finish(self, *, records: int, read: int, by_time: bool = False) -> None:
        """Write the turns to the draft.

        Args:
            records: how many records the source has of this recording.
            read: how many of them were read.
            by_time: whether to put the utterances in the order of their starts, as those of several channels.
        """
        utterances = self._utterances
        if by_time:
            if all(each.start_ns is not None for each in utterances):
                utterances = sorted(utterances, key=lambda each: each.start_ns or 0)
            else:
                loc = self._part.loc()
                self._draft.note(
                    "order_unknown",
                    loc,
                    "channels follow each other here, as not all that was said has a time",
                )
        dialogue = Dialogue(self._draft, self._part)
        for each in utterances:
            dialogue.turn(
                each.label,
                each.text,
                each.loc,
                role=each.role,
                speaker=each.label,
                own=each.own,
                start_ns=each.start_ns,
                end_ns=each.end_ns,
                clock="call_relative",
            )
        dialogue.finish()
        self._draft.calls = None
        for channel in OF_CALLS:
            self._draft.limit(channel, "absent", _REASON, _HOW)
        self._draft.account(self._part.source, records=records, read=read)


def label_of(value: Any, prefix: str = "speaker_") -> str | None:
    """The label of a speaker: text as written, a number with a prefix."""
    if type(value) is str:
        return value or None
    return f"{prefix}{value}" if type(value) is int else None


def not_read(draft: Draft, value: Any, loc: str) -> None:
    """Note an item without what makes one."""
    found = "has no text" if type(value) is dict else f"is {kind_of(value)}"
    draft.note("item_not_read", loc, f"an item {found}, and is not read")
