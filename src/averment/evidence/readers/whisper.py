"""Whisper transcripts: openai-whisper and its API (`verbose_json`), whisper-timestamped, faster-whisper, WhisperX.

`{text, segments: [{start, end, text, ...}], language}`: each segment is a turn, its times are seconds. WhisperX names
a `speaker` for each segment when it tells speakers apart (`SPEAKER_00`).

Known gaps: words, their times and confidences are not read. Where words of one segment have other speakers than the
segment, the segment's counts, and a note tells. The files of whisper.cpp have another shape and are not recognised.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.readers.speech import Speech, Utterance, label_of, not_read
from averment.evidence.times import SECOND

__all__ = ["fits", "read"]

_FILE_KEYS = frozenset({"text", "segments", "language", "duration", "task", "word_segments", "words"})
_METADATA = ("language", "duration", "task")
_SEGMENT_KEYS = frozenset({"id", "start", "end", "text", "speaker", "words"})
_ENGINE_KEYS = frozenset(
    {"seek", "tokens", "temperature", "avg_logprob", "compression_ratio", "no_speech_prob", "words"}
)


def fits(value: Any) -> str | None:
    """Why this is a transcript of Whisper's."""
    if not isinstance(value, dict) or not isinstance(value.get("segments"), list):
        return None
    segments = value["segments"]
    if not segments:
        return "it has `segments`, `text` and `language`" if {"text", "language"} <= value.keys() else None
    first = segments[0]
    if not isinstance(first, dict) or not {"start", "end", "text"} <= first.keys() or "role" in first:
        return None
    for key in ("language", "word_segments"):
        if key in value:
            return f"it has `segments` and `{key}`"
    if isinstance(value.get("text"), str) or not _ENGINE_KEYS.isdisjoint(first):
        return "its `segments` are those of a speech engine"
    return None


def read(part: Part, draft: Draft) -> None:
    """Read the segments."""
    value = part.value
    segments = value.get("segments") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(segments, list):
        problem = part.problem("wrong_type", "there must be a list of `segments`", found=kind_of(value))
        draft.problems.append(problem)
        return
    draft.metadata = {key: value[key] for key in _METADATA if value.get(key) is not None}
    draft.drop_rest(value, _FILE_KEYS, part.loc())
    speech = Speech(part, draft)
    read = 0
    for loc, segment in zip(part.at("segments").locs(), segments, strict=True):
        if type(segment) is not dict:
            not_read(draft, segment, loc)
            continue
        read += _read_segment(segment, loc, speech, draft)
    speech.finish(records=len(segments), read=read)


def _read_segment(segment: dict[str, Any], loc: str, speech: Speech, draft: Draft) -> bool:
    draft.drop_rest(segment, _SEGMENT_KEYS, loc)
    text = segment.get("text")
    if type(text) is not str:
        draft.note("text_not_string", loc, f"the text of a segment is {kind_of(text)}, and is not read")
        return False
    speaker = label_of(segment.get("speaker"))
    words = segment.get("words")
    if type(words) is list and words:
        draft.drop("a segment's list of words", loc)
        speakers = {label_of(word.get("speaker")) for word in words if type(word) is dict} - {None}
        if speakers - {speaker}:
            draft.note("several_speakers", loc, "words of a segment have other speakers than the segment")
    speech.say(
        Utterance(
            text=text.strip(),
            loc=loc,
            label=speaker,
            start_ns=speech.time(segment.get("start"), SECOND, loc),
            end_ns=speech.time(segment.get("end"), SECOND, loc),
        )
    )
    return True
