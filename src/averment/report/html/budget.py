"""How much of each conversation the page shows, so that it stays one that opens at once.

Nothing is dropped where there is room. Then texts are shown shorter, then only what results rest on with its
neighbours, then nothing but the cards; conversations in which everything passed give way first. What was dropped is
said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from averment.report.html.cards import grounds_of
from averment.report.html.conversation import Conversation, Level, conversation, transcript_only
from averment.verdicts.judged import Judged

__all__ = ["CONVERSATIONS", "LARGEST", "LEVELS", "MANY", "Budget"]

LARGEST = 1_800_000
"""Bytes of one conversation."""
CONVERSATIONS = 4_000_000
"""Bytes of all conversations together."""
LEVELS = (
    Level(text=4000, spans=600),
    Level(text=4000, spans=160),
    Level(text=1000, spans=0),
    Level(text=400, spans=0),
    Level(text=1000, spans=300, around=2),
    Level(text=200, spans=0, around=1),
)
"""From everything to least."""
MANY = 20
"""From so many conversations on, those in which everything passed keep only their cards."""


class Budget:
    """What is shown of each conversation.

    Args:
        entries: the conversations, worst first.
        keys: their keys in the page.
        size: how many bytes a conversation takes.

    Attributes:
        dropped: how many conversations keep only their cards, though there is evidence.
        items: how many turns, calls and spans are shown.
    """

    def __init__(
        self, entries: Sequence[Judged], keys: Sequence[str], size: Callable[[Conversation], int]
    ) -> None:
        self._shown: list[Conversation | None] = []
        self._missing: list[str | None] = []
        self.dropped = 0
        self.items = 0
        wanting = sum(not _gives_way(entry, len(entries)) for entry in entries)
        room = CONVERSATIONS
        for entry, key in zip(entries, keys, strict=True):
            if _has_nothing(entry):
                self._add(None, _NO_EVIDENCE)
            elif _gives_way(entry, len(entries)):
                self.dropped += 1
                self._add(None, _ALL_PASSED)
            else:
                found, used = _fitting(entry, key, min(LARGEST, room // max(1, wanting)), size)
                wanting -= 1
                room -= used
                self.dropped += found is None
                self._add(found, _TOO_LARGE if found is None else None)

    def _add(self, conversation: Conversation | None, missing: str | None) -> None:
        self._shown.append(conversation)
        self.items += 0 if conversation is None else len(conversation.items)
        self._missing.append(missing)

    def conversation(self, index: int) -> Conversation | None:
        """What is shown of a conversation; None for cards only."""
        return self._shown[index]

    def missing(self, index: int) -> str | None:
        """Why there are cards only."""
        return self._missing[index]


_NO_EVIDENCE = (
    "This page was made of the envelope alone: it has the cards, and not the conversation. "
    "Give the evidence to see what each verdict rests on."
)
_ALL_PASSED = "Everything passed here; among so many conversations only the verdicts are kept."
_TOO_LARGE = "The conversation is left out to keep the page small; its cards are complete."


def _has_nothing(entry: Judged) -> bool:
    return entry.evidence is None and _transcript(entry) is None


def _transcript(entry: Judged) -> object:
    """The redacted transcript of an envelope, wherever it stands."""
    found = entry.envelope.get("redacted_transcript")
    places = [found, *(result.get("redacted_transcript") for result in entry.results)]
    return next((place for place in places if isinstance(place, list) and place), None)


def _gives_way(entry: Judged, total: int) -> bool:
    return total > MANY and all(
        result["status"] == "PASS" or result.get("code") == "not_applicable" for result in entry.results
    )


def _fitting(
    entry: Judged, key: str, room: int, size: Callable[[Conversation], int]
) -> tuple[Conversation | None, int]:
    """The most that fits, and what it takes."""
    for level in LEVELS:
        made = _made(entry, key, level)
        used = size(made)
        if used <= room:
            return made, used
    return None, 0


def _made(entry: Judged, key: str, level: Level) -> Conversation:
    if entry.evidence is None:
        made = transcript_only(_transcript(entry), key, level)
        assert made is not None  # noqa: S101 - asked before
        return made
    whole = conversation(entry.evidence, key, level)
    if level.around is None:
        return whole
    wanted = [anchor for result in entry.results for anchor in grounds_of(result, whole.anchors)]
    return conversation(entry.evidence, key, level, wanted)
