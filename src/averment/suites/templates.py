"""Texts with placeholders: `{column}` in commands and globs; `{{` and `}}` are the braces themselves.

One pass, and what a value holds is never read again: a case can't smuggle in a placeholder, or an argument.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec

from averment.errors import nearest
from averment.text.structs import Mistake

__all__ = ["Template", "template"]

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Template(msgspec.Struct, frozen=True):
    """A text and its placeholders.

    Attributes:
        pieces: what it is made of, in order: text, and names of placeholders.
    """

    pieces: tuple[tuple[str, bool], ...]

    @property
    def text(self) -> str:
        """The text as people write it, placeholders in braces."""
        return "".join(f"{{{piece}}}" if is_name else piece for piece, is_name in self.pieces)

    @property
    def names(self) -> list[str]:
        """The placeholders, each once, in order."""
        return list(dict.fromkeys(piece for piece, is_name in self.pieces if is_name))

    def filled(self, values: Mapping[str, str], escape: Callable[[str], str] = str) -> str:
        """The text with a value in place of each placeholder, written as `escape` writes it."""
        return "".join(escape(values[piece]) if is_name else piece for piece, is_name in self.pieces)


def template(text: str, known: Collection[str], *, mend: str | None = None) -> tuple[Template, list[Mistake]]:
    """The template that a text is, and each of its mistakes, at their offset.

    Args:
        text: the text.
        known: the placeholders that it may have.
        mend: what to do about an unknown one.
    """
    pieces: list[tuple[str, bool]] = []
    mistakes: list[Mistake] = []
    end = 0
    for found in _TOKEN.finditer(text):
        pieces.append((text[end : found.start()], False))
        end = found.end()
        token, name = found.group(), found.group(1)
        if name is None and len(token) == 1:
            mistakes.append(_alone(token, found.start()))
        elif name is None:
            pieces.append((token[0], False))
        elif name in known:
            pieces.append((name, True))
        else:
            mistakes.append(_unknown(name, known, found.start(), mend))
    pieces.append((text[end:], False))
    return Template(tuple(piece for piece in pieces if piece[0])), mistakes


def _alone(brace: str, offset: int) -> Mistake:
    return Mistake(
        "bad_placeholder",
        f"the brace `{brace}` stands alone",
        offset=offset,
        expected="`{name}`",
        mend=f"For the brace itself write `{brace * 2}`.",
    )


def _unknown(name: str, known: Iterable[str], offset: int, mend: str | None) -> Mistake:
    names = sorted(set(known))
    shown = ", ".join(f"`{{{each[:60]}}}`" for each in names[:20]) + (", ..." if len(names) > 20 else "")
    return Mistake(
        "unknown_placeholder",
        f"there is no placeholder `{{{name[:60]}}}`",
        offset=offset,
        expected=f"one of {shown}" if names else "a text without placeholders",
        nearest=nearest(name[:60], names),
        mend=mend or "For braces themselves write `{{` and `}}`.",
    )
