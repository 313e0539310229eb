"""AssemblyAI transcripts: `{id, status, text, words, utterances, acoustic_model, language_model, ...}`.

Turns are the `utterances`, where there are some; else the words in a row by one speaker; where nobody tells speakers
apart, the `text` as a whole. Times are milliseconds. A speaker is a letter, `A`; of recordings with several channels
it is the channel's number.

Known gaps: word times, confidences and what AssemblyAI makes of the text (chapters, summaries, sentiments, entities)
are not read.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.readers.speech import Speech, Utterance, Word, label_of, not_read
from averment.evidence.times import MILLISECOND

__all__ = ["fits", "read"]

_READ = frozenset({"id", "text", "words", "utterances"})
_SECRET = frozenset({"audio_url", "webhook_url", "webhook_auth_header_name"})
_UTTERANCE_KEYS = frozenset({"id", "start", "end", "text", "speaker", "channel", "words"})
_PENDING = "the transcription is not completed"
_HOW_PENDING = "Fetch the transcript again when its `status` is `completed`."
_REDACTED = "the transcript was made with `redact_pii`"
_HOW_REDACTED = "Transcribe without `redact_pii`, where that may be."


def fits(value: Any) -> str | None:
    """Why this is a transcript of AssemblyAI's."""
    if not isinstance(value, dict):
        return None
    for key in ("acoustic_model", "language_model"):
        if key in value and ("words" in value or "utterances" in value):
            return f"it has `{key}`, and `words` or `utterances`"
    if {"audio_url", "status", "utterances", "words"} <= value.keys():
        return "it has `audio_url`, `status`, `utterances` and `words`"
    return None


def read(part: Part, draft: Draft) -> None:
    """Read one recording."""
    value = part.value
    if not isinstance(value, dict):
        draft.problems.append(
            part.problem("wrong_type", "a transcript must be an object", found=kind_of(value))
        )
        return
    if type(value.get("id")) is str and value["id"]:
        draft.conversation_id = value["id"]
    simple = {key: each for key, each in value.items() if type(each) in (str, int, float, bool)}
    draft.metadata = {key: each for key, each in simple.items() if key not in _READ | _SECRET}
    others = {key: each for key, each in value.items() if each not in ([], {})}
    draft.drop_rest(others, _READ | draft.metadata.keys(), part.loc())
    speech = Speech(part, draft)
    utterances, words, text = value.get("utterances"), value.get("words"), value.get("text")
    records = read = 1
    if type(utterances) is list and utterances:
        records, read = len(utterances), _read_utterances(part.at("utterances"), speech, draft)
    elif type(words) is list and any(_speaker(word) is not None for word in words):
        records, read = len(words), _read_words(part.at("words"), speech, draft)
    elif type(text) is str:
        _read_text(part, speech)
    speech.finish(records=records, read=read)
    if value.get("status", "completed") != "completed":
        draft.turns = None
        draft.limit("transcript", "absent", _PENDING, _HOW_PENDING)
    elif value.get("redact_pii") is True:
        draft.limit("transcript", "redacted", _REDACTED, _HOW_REDACTED)


def _speaker(item: Any) -> str | None:
    if type(item) is not dict:
        return None
    return label_of(item.get("speaker")) or label_of(item.get("channel"), "channel_")


def _read_utterances(part: Part, speech: Speech, draft: Draft) -> int:
    read = 0
    for loc, item in zip(part.locs(), part.value, strict=True):
        if type(item) is not dict or type(item.get("text")) is not str:
            not_read(draft, item, loc)
            continue
        draft.drop_rest(item, _UTTERANCE_KEYS, loc)
        start, end = (speech.time(item.get(key), MILLISECOND, loc) for key in ("start", "end"))
        speech.say(
            Utterance(
                text=item["text"].strip(),
                loc=loc,
                label=_speaker(item),
                start_ns=start,
                end_ns=end,
                own=item.get("id"),
            )
        )
        read += 1
    return read


def _read_words(part: Part, speech: Speech, draft: Draft) -> int:
    words = []
    for loc, item in zip(part.locs(), part.value, strict=True):
        if type(item) is not dict or type(item.get("text")) is not str:
            not_read(draft, item, loc)
            continue
        start, end = (speech.time(item.get(key), MILLISECOND, loc) for key in ("start", "end"))
        words.append(Word(item["text"], loc, _speaker(item), start, end))
    speech.say_words(words)
    return len(words)


def _read_text(part: Part, speech: Speech) -> None:
    """The text as a whole, from the first word to the last."""
    words = part.value.get("words")
    timed = [word for word in words if type(word) is dict] if type(words) is list else []
    loc = part.at("text").loc()
    speech.say(
        Utterance(
            text=part.value["text"].strip(),
            loc=loc,
            start_ns=speech.time(timed[0].get("start"), MILLISECOND, loc) if timed else None,
            end_ns=speech.time(timed[-1].get("end"), MILLISECOND, loc) if timed else None,
        )
    )
