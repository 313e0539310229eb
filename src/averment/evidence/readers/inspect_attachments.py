"""Long texts of an Inspect log that stand apart from where they belong: `attachment://<hash>`, before `tc://<hash>`."""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft

__all__ = ["Attachments"]

_PROTOCOLS = ("attachment://", "tc://")
_MAX_CHARACTERS = 2**26
"""So much text is put back into one sample: a text may be referred to any number of times."""


class Attachments:
    """The texts that stand apart in one sample.

    Args:
        sample: the sample; logs before 2025 have them under `transcript`, as `content`.
        draft: where missing ones are noted.
    """

    def __init__(self, sample: dict[str, Any], draft: Draft) -> None:
        texts = sample.get("attachments")
        transcript = sample.get("transcript")
        if type(texts) is not dict and type(transcript) is dict:
            texts = transcript.get("content")
        self._texts: dict[str, Any] = texts if type(texts) is dict else {}
        self._draft = draft
        self._left = _MAX_CHARACTERS
        self.missing = False
        """Whether a text was looked for and not found."""

    def resolved(self, value: Any, loc: str) -> Any:
        """The value with the texts put back; null for a text that is missing."""
        kind = type(value)
        if kind is str:
            return self._text(value, loc) if value.startswith(_PROTOCOLS) else value
        if kind is list:
            return [self.resolved(each, loc) for each in value]
        if kind is dict:
            return {key: self.resolved(each, loc) for key, each in value.items()}
        return value

    def _text(self, reference: str, loc: str) -> str | None:
        text = self._texts.get(reference.partition("://")[2])
        if type(text) is str and len(text) <= self._left:
            self._left -= len(text)
            return text
        self.missing = True
        self._draft.note(
            "attachment_missing", loc, "a text that stands apart is missing, or there is too much of it"
        )
        return None
