"""The cues of subtitle files: WebVTT (W3C), SRT and SBV, as lines with times.

The libraries for these formats are lenient in ways that lose evidence: they pass over a cue whose times can't be read,
and tell no line. So this is a parser of its own. It reads each line once, and names each line that it can't read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from averment.evidence.draft import MAX_PROBLEMS

__all__ = ["Cue", "Mistake", "Subtitles", "kind_of_text"]

Kind = Literal["vtt", "srt", "sbv"]

_MILLISECOND = 1_000_000
_BREAK = re.compile(r"\r\n|\n|\r")
_TIME = r"(?:(\d{1,6}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_ARROW = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}(?:[ \t](.*))?", re.ASCII)
_COMMA = re.compile(rf"[ \t]*{_TIME},{_TIME}[ \t]*()", re.ASCII)
_LIKE_SBV = re.compile(r"\S{1,30},\d{1,6}:\d\d:\d\d", re.ASCII)
_STARTS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("vtt", re.compile(r"\s{0,64}WEBVTT(?=[ \t\r\n]|\Z)")),
    ("srt", re.compile(r"\s{0,64}\d{1,10}[ \t]*\r?\n\d\d:\d\d:\d\d[,.]\d{3}[ \t]*-->", re.ASCII)),
    ("sbv", re.compile(r"\s{0,64}\d:\d\d:\d\d\.\d{3},\d:\d\d:\d\d\.\d{3}[ \t]*\r?\n", re.ASCII)),
)
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t]|\Z)")


class Cue(msgspec.Struct):
    """Lines that are shown from one time to another.

    Attributes:
        line: the 1-based line of its times.
        start_ns: from when.
        end_ns: until when.
        own: its identifier, or number.
        settings: where it is shown, as written.
        lines: what is shown.
    """

    line: int
    start_ns: int
    end_ns: int
    own: str | None
    settings: str
    lines: list[str] = []


class Mistake(msgspec.Struct, frozen=True):
    """A line that can't be read, and why."""

    line: int
    code: str
    message: str


class Subtitles(msgspec.Struct):
    """What a subtitle file holds; `asides` are the lines of headers, notes and styles."""

    cues: list[Cue] = []
    mistakes: list[Mistake] = []
    asides: int = 0

    @classmethod
    def of(cls, text: str, kind: Kind) -> Subtitles:
        """The cues in a text, or the mistakes that keep them from being read."""
        found = cls(cues=[], mistakes=[])
        for index, block in enumerate(_blocks(text, kind)):
            if kind == "vtt" and (index == 0 or _ASIDE.match(block[0][1])):
                found._set_aside(block, kind)
            else:
                found._read_block(block, kind)
        return found

    def _set_aside(self, block: list[tuple[int, str]], kind: Kind) -> None:
        """A header, a note or a style; a line of times ends it even so (WebVTT, 6.1)."""
        for position, (_, line) in enumerate(block):
            if "-->" in line:
                self._read_block(block[position:], kind)
                return
            self.asides += line.strip() != "WEBVTT"

    def _read_block(self, block: list[tuple[int, str]], kind: Kind) -> None:
        """Times, perhaps behind an identifier, and lines up to the end or, in WebVTT, to the next times."""
        times = _COMMA if kind == "sbv" else _ARROW
        identified = len(block) > 1 and kind != "sbv" and "-->" not in block[0][1] and "-->" in block[1][1]
        own = block[0][1].strip() if identified else None
        cue: Cue | None = None
        for position, (number, line) in enumerate(block[1:] if identified else block):
            if position > 0 and (kind != "vtt" or "-->" not in line):
                if cue is not None:
                    cue.lines.append(line)
                continue
            cue = None
            found = times.fullmatch(line)
            start = end = None
            if found is not None:
                *parts, settings = found.groups()
                start, end = _time(*parts[:4]), _time(*parts[4:])
            if start is not None and end is not None:
                cue = Cue(number, start, end, own, (settings or "").strip(), lines=[])
                self.cues.append(cue)
            elif found is not None or "-->" in line or _LIKE_SBV.match(line):
                self._fail(
                    number, "wrong_cue_times", f"these times can't be read; expected {_EXPECTED[kind]}"
                )
            else:
                self._fail(
                    number, "cue_without_times", "a text stands here without the times at which it is shown"
                )
                return
            own = None

    def _fail(self, line: int, code: str, message: str) -> None:
        if len(self.mistakes) < MAX_PROBLEMS:
            self.mistakes.append(Mistake(line, code, message))


_EXPECTED = {
    "vtt": "`00:00:00.000 --> 00:00:00.000`",
    "srt": "`00:00:00,000 --> 00:00:00,000`",
    "sbv": "`0:00:00.000,0:00:00.000`",
}


def kind_of_text(text: str) -> Kind | None:
    """Which of the formats a text begins like."""
    return next((kind for kind, start in _STARTS if start.match(text)), None)


def _blocks(text: str, kind: Kind) -> Iterator[list[tuple[int, str]]]:
    """Lines with no blank line between them, each with its number; a line of spaces is blank but in WebVTT."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate(_BREAK.split(text) if "\r" in text else text.split("\n"), 1):
        if not line or (line.isspace() and (kind != "vtt" or not block)):
            if block:
                yield block
            block = []
        else:
            block.append((number, line))
    if block:
        yield block


def _time(hours: str | None, minutes: str, seconds: str, fraction: str) -> int | None:
    """Nanoseconds of hours, minutes, seconds and a fraction of one to three digits."""
    minute, second = int(minutes), int(seconds)
    if minute > 59 or second > 59:
        return None
    whole = (int(hours or 0) * 60 + minute) * 60 + second
    return (whole * 1000 + int(fraction.ljust(3, "0"))) * _MILLISECOND
