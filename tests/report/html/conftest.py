from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

import pytest

import averment
from averment.verdicts.judged import Judged, judged

VOID = frozenset({"meta", "input", "br", "rect", "path", "hr"})
"""Elements without an end tag; those of SVG end themselves."""


class Page(HTMLParser):
    """A page as a browser reads it: its elements with their attributes, and its text."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = source
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"style": [], "script": []}
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == [], "an element is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), f"an attribute of {tag} stands twice"
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"{tag} ends and was never opened"
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in self.raw:
            self.raw[self._open[-1]].append(data)
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        """What people read, with single spaces, also between elements."""
        return " ".join(" ".join(self.texts).split())

    @property
    def ids(self) -> list[str]:
        return [value for _, attrs in self.elements if (value := attrs.get("id")) is not None]

    @property
    def links(self) -> list[str]:
        return [value for _, attrs in self.elements if (value := attrs.get("href")) is not None]

    def having(self, name: str) -> list[dict[str, str | None]]:
        """Attributes of the elements of that class."""
        return [attrs for _, attrs in self.elements if name in (attrs.get("class") or "").split()]


@pytest.fixture(scope="session")
def read_page() -> Callable[[str], Page]:
    """`read_page(source)`: the page, whose elements are all closed where they should be."""
    return Page


@pytest.fixture(scope="session")
def entry_of() -> Callable[..., Judged]:
    """`entry_of(assertions, evidence=None, conversation="call.json", **parts)`: a conversation that was judged."""

    def made(
        assertions: Sequence[Mapping[str, Any]],
        evidence: averment.Evidence | None = None,
        *,
        conversation: str = "call.json",
        case: Any = None,
        **parts: Any,
    ) -> Judged:
        items = [{"id": f"a{index}", **assertion} for index, assertion in enumerate(assertions)]
        document = averment.Document.of({"version": 1, "assertions": items})
        heard = averment.Evidence.from_record(parts) if evidence is None else evidence
        envelope = averment.run(document, heard)
        return judged(envelope, document, conversation=conversation, evidence=heard.model, case=case)

    return made
