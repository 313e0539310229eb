"""Subtitles: WebVTT, SRT and SBV. Each cue is a turn; its lines are joined by spaces, as their breaks are layout.

WebVTT names speakers by voice tags (`<v Ana Ruiz>`), and a cue with several voices is several turns. Other tags,
settings, styles and notes are no speech. In roll-up captions, as YouTube makes them, each cue shows lines of the one
before again; these are taken once, and a note tells.

Known gaps: a sentence that runs over several cues stands in several turns. Names that stand in the text itself
(`[Alba]`, `- Hello`, `AGENT:`) are text. Word times inside of cues are not read. Where a voice is called by a role
(`<v Agent>`), that is its role; otherwise who is who is for the document to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import msgspec

from averment.evidence.draft import Draft, Part, kind_of, place_of
from averment.evidence.readers.cues import Cue, Subtitles, kind_of_text
from averment.evidence.readers.speech import Speech, Utterance
from averment.evidence.readers.transcript import role_of

__all__ = ["fits", "read"]

_TITLES = {"vtt": "WebVTT", "srt": "SRT", "sbv": "SBV"}
_TAG = re.compile(r"(<[^<>]*>)")
_VOICE = re.compile(r"<v[. \t]|</v>")
_WORD_TIME = re.compile(r"<\d[\d:.]*>", re.ASCII)
_STYLE = re.compile(r"</?(?:[ibus]|font[^<>]*)>|\{\\[^{}]*\}", re.IGNORECASE)
_MAX_WINDOW = 8
"""So many lines are shown at a time in roll-up captions, at most."""
_NEAR_NS = 50_000_000
"""A cue that shows lines again begins where the one before it ends, give or take this."""


def fits(value: Any) -> str | None:
    """Why this text is a subtitle file."""
    kind = kind_of_text(value) if isinstance(value, str) else None
    return None if kind is None else f"it begins like {_TITLES[kind]}"


def read(part: Part, draft: Draft) -> None:
    """Read one file."""
    kind = kind_of_text(part.value) if isinstance(part.value, str) else None
    if kind is None:
        problem = part.problem("wrong_type", "this is no subtitle file", found=kind_of(part.value))
        draft.problems.append(problem)
        return
    subtitles = Subtitles.of(part.value, kind)
    for mistake in subtitles.mistakes:
        place = msgspec.structs.replace(part, line=mistake.line)
        mend = "Mend this line, or export the file again."
        draft.problems.append(place.problem(mistake.code, mistake.message, mend=mend))
    for _ in range(subtitles.asides):
        draft.drop("a line of a header, style or note", place_of(part.source, 1))
    cues = subtitles.cues
    speech = Speech(part, draft)
    for cue in _without_repeats(cues, part, draft):
        loc = place_of(part.source, cue.line)
        if cue.settings:
            draft.drop("the settings of a cue", loc)
        if _has_word_times(cue):
            draft.drop("the word times of a cue", loc)
        for voice, text in _voices(cue.lines) if kind == "vtt" else _plain(cue.lines):
            known = role_of(voice)
            speech.say(
                Utterance(
                    text=text,
                    loc=loc,
                    label=voice,
                    role="unknown" if known == "other" else known,
                    start_ns=cue.start_ns,
                    end_ns=cue.end_ns,
                    own=cue.own,
                )
            )
    speech.finish(records=len(cues), read=len(cues))


def _plain(lines: list[str]) -> Iterator[tuple[None, str]]:
    """The text of an SRT or SBV cue, without the tags that players know."""
    yield None, " ".join([text for line in lines if (text := _without_styles(line).strip())])


def _without_styles(line: str) -> str:
    return _STYLE.sub("", line) if "<" in line or "{" in line else line


def _voices(lines: list[str]) -> Iterator[tuple[str | None, str]]:
    """What each voice says in a WebVTT cue; tags of other kinds are left out."""
    voice: str | None = None
    texts: list[str] = []
    text = "\n".join(lines)
    for piece in _TAG.split(text) if "<" in text else (text,):
        if piece[:1] != "<" or not _TAG.fullmatch(piece):
            texts.append(piece)
        elif _VOICE.match(piece):
            if said := _joined(texts):
                yield voice, said
            texts = []
            voice = unescape(piece[1:-1].partition(" ")[2].strip()) or None
    if said := _joined(texts):
        yield voice, said


def _joined(texts: list[str]) -> str:
    return " ".join([line for each in unescape("".join(texts)).split("\n") if (line := each.strip())])


def _shown(cue: Cue) -> list[str]:
    """The lines of a cue as they are shown."""
    return [text for line in cue.lines if (text := " ".join(_without_tags(line).split()))]


def _without_tags(line: str) -> str:
    return _TAG.sub("", line) if "<" in line else line


def _without_repeats(cues: list[Cue], part: Part, draft: Draft) -> list[Cue]:
    """The cues, of roll-up captions without the lines that the cue before has shown."""
    shown = [_shown(cue) for cue in cues]
    repeats = [0] * len(cues)
    for index in range(1, len(cues)):
        if abs(cues[index].start_ns - cues[index - 1].end_ns) <= _NEAR_NS:
            repeats[index] = _overlap(shown[index - 1], shown[index])
    count = sum(map(bool, repeats))
    is_usual = count > 1 and count * 2 >= len(cues) - 1
    if not count or not (is_usual or any(map(_has_word_times, cues))):
        return cues
    loc = place_of(part.source, cues[0].line)
    draft.note(
        "roll_up_merged", loc, f"{count} cues show lines of the cue before again; they count once", "info"
    )
    return [_rest(cue, repeated) for cue, repeated in zip(cues, repeats, strict=True)]


def _has_word_times(cue: Cue) -> bool:
    return any("<" in line and _WORD_TIME.search(line) for line in cue.lines)


def _rest(cue: Cue, repeated: int) -> Cue:
    """A cue without its first lines that are shown."""
    if not repeated:
        return cue
    lines = [line for line in cue.lines if _without_tags(line).split()]
    return msgspec.structs.replace(cue, lines=lines[repeated:])


def _overlap(before: list[str], after: list[str]) -> int:
    """How many of the first lines are the last ones of the cue before."""
    longest = min(len(before), len(after), _MAX_WINDOW)
    return next((size for size in range(longest, 0, -1) if before[-size:] == after[:size]), 0)
