r"""Untrusted text in GitHub-flavoured Markdown: it arrives as the text that it is, whatever stands in it.

Escaping is not enough. Mentions (`@name`), references (`#1`, `GH-1`, `owner/repo#1`, `!1`, commit hashes), emoji
(`:name:`) and formulas (`$x$`) are looked for by GitHub and GitLab in the text that comes *out* of the Markdown, where no
backslash and no character reference is left. What keeps them off is code: none of the two looks into it. So every word
that is not plainly a word stands in a code span, and what is code-like altogether, ids and names of files, always does.

Markdown has nothing here to hold on to either: a code span's fence is longer than any run of backticks in it, and text
has no line breaks, because `visible` has escaped them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from averment.text.shown import printable

__all__ = ["code", "fenced", "html_code", "prose", "table"]

_PLAIN = re.compile(
    r"""[("]?(?:[A-Za-zÀ-ÖØ-öø-ž]+(?:['\u2019-][A-Za-zÀ-ÖØ-öø-ž]+)*|\d{1,6})?[")]?[,.;:!?]?\Z"""
)
"""A word or a number, and the punctuation around it."""

_LINKED = re.compile(r"[0-9a-f]{7}|www", re.IGNORECASE)
"""What may be a commit, or the beginning of an address."""

_ENDS = (",", ";", ":")
"""Punctuation that ends a span of code, and stands behind it."""

_QUOTED = re.compile(r"`([^`]+)`")
_TICKS = re.compile("`+")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}


def code(text: str, limit: int = 160) -> str:
    """A code span with the text: redacted, made visible, and cut to `limit` characters."""
    return _span(printable(text, limit))


def prose(text: str, limit: int = 600) -> str:
    """A sentence: words as words, what stands in backticks and all that is not plainly a word as code.

    It may stand behind other text only: what is at the beginning of a line has a meaning of its own.
    """
    shown = printable(text, limit)
    pieces: list[str] = []
    at = 0
    for quoted in _QUOTED.finditer(shown):
        pieces += (_words(shown[at : quoted.start()]), _span(quoted[1]))
        at = quoted.end()
    return _joined([*pieces, _words(shown[at:])])


def html_code(text: str, limit: int = 160) -> str:
    """Code inside of HTML, as in a `<summary>`, into which Markdown does not look."""
    return f"<code>{''.join(_HTML.get(char, char) for char in printable(text, limit))}</code>"


def fenced(lines: Iterable[str], language: str = "text") -> str:
    """A block of code, whose fence no line can close. The lines are shown already (`printable`)."""
    body = "\n".join(lines)
    fence = "`" * max(3, _longest(body) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def table(head: Sequence[str], align: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already.

    Args:
        head: the names of the columns.
        align: for each of them `---` or `---:`.
        rows: the cells; a bar in them is kept from ending one.
    """
    written = (" | ".join(_cell(cell) for cell in row) for row in (head, align, *rows))
    return "\n".join(f"| {row} |" for row in written)


def _cell(cell: str) -> str:
    # What a bar behind a backslash means in a cell differs from one reader of Markdown to the next.
    return cell.replace("\\|", "\\\\u007c").replace("|", "\\|")


def _longest(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def _span(text: str) -> str:
    fence = "`" * (_longest(text) + 1)
    # One space inside of each end is taken off again, if there is anything else.
    padded = text.startswith(("`", " ")) or text.endswith(("`", " "))
    return f"{fence} {text} {fence}" if padded and text.strip(" ") else f"{fence}{text or ' '}{fence}"


def _words(text: str) -> str:
    """Plain words as they are, and runs of others as one span of code."""
    pieces: list[str] = []
    others: list[str] = []
    for word in text.split(" "):
        is_plain = not word or _is_plain(word)
        if not is_plain:
            others.append(word)
        if others and (is_plain or word.endswith(_ENDS)):
            pieces.append(_others(" ".join(others)))
            others = []
        if is_plain:
            pieces.append(word)
    return " ".join([*pieces, *([_others(" ".join(others))] if others else [])])


def _is_plain(word: str) -> bool:
    return _PLAIN.match(word) is not None and _LINKED.search(word) is None


def _others(text: str) -> str:
    kept = text.rstrip("".join(_ENDS)) or text
    return _span(kept) + text[len(kept) :]


def _joined(pieces: Sequence[str]) -> str:
    """The pieces one after the other; two spans of code that touch would be one."""
    text = ""
    for piece in pieces:
        text += " " if text.endswith("`") and piece.startswith("`") else ""
        text += piece
    return text
