"""Deepgram transcripts: `{metadata, results: {channels: [{alternatives}], utterances?}}`.

Turns are the `utterances`, where there are some; else the paragraphs of each channel's first alternative, else its
words in a row by one speaker, else its text as a whole. Times are seconds. A speaker is a number, and labelled
`speaker_0`; of several channels each is a speaker, labelled `channel_0`, or `channel_0_speaker_1` when it has several.
Channels are put in the order of time.

Known gaps: further alternatives, word times and confidences are not read, nor what Deepgram makes of the text
(summaries, topics, intents, sentiments).
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.readers.speech import Speech, Utterance, Word, label_of, not_read
from averment.evidence.times import SECOND

__all__ = ["fits", "read"]

_METADATA = ("request_id", "created", "duration", "channels", "models", "model_info", "sha256")
_UTTERANCE_KEYS = frozenset({"id", "start", "end", "transcript", "speaker", "channel", "words"})
_ALTERNATIVE_KEYS = frozenset({"transcript", "words", "paragraphs"})


def fits(value: Any) -> str | None:
    """Why this is an answer of Deepgram's."""
    results = value.get("results") if isinstance(value, dict) else None
    channels = results.get("channels") if isinstance(results, dict) else None
    if isinstance(channels, list) and channels and isinstance(channels[0], dict):
        return "it has `results.channels` with `alternatives`" if "alternatives" in channels[0] else None
    return None


def read(part: Part, draft: Draft) -> None:
    """Read one recording."""
    results = part.value.get("results") if isinstance(part.value, dict) else None
    if not isinstance(results, dict) or not isinstance(results.get("channels"), list):
        problem = part.problem("wrong_type", "`results` must have `channels`", found=kind_of(results))
        draft.problems.append(problem)
        return
    draft.drop_rest(part.value, {"metadata", "results"}, part.loc())
    draft.drop_rest(results, {"channels", "utterances"}, part.at("results").loc())
    metadata = part.value.get("metadata")
    if isinstance(metadata, dict):
        draft.metadata = {key: metadata[key] for key in _METADATA if metadata.get(key) is not None}
        if type(metadata.get("request_id")) is str and metadata["request_id"]:
            draft.conversation_id = metadata["request_id"]
    recording = _Recording(part.at("results"), draft)
    if isinstance(results.get("utterances"), list) and results["utterances"]:
        recording.read_utterances()
    else:
        recording.read_channels()


class _Recording:
    """The channels of one recording."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._speech = Speech(part, draft)
        self._several = len(part.value["channels"]) > 1

    def read_utterances(self) -> None:
        part = self._part.at("utterances")
        read = 0
        for loc, item in zip(part.locs(), part.value, strict=True):
            if type(item) is not dict or type(item.get("transcript")) is not str:
                not_read(self._draft, item, loc)
                continue
            self._draft.drop_rest(item, _UTTERANCE_KEYS, loc)
            self._say(item, item["transcript"], loc, item.get("channel"))
            read += 1
        self._speech.finish(records=len(part.value), read=read)

    def read_channels(self) -> None:
        channels = self._part.at("channels")
        read = 0
        for index in range(len(channels.value)):
            read += self._read_channel(index, channels.item(index))
        self._speech.finish(records=len(channels.value), read=read, by_time=self._several)

    def _read_channel(self, index: int, channel: Part) -> bool:
        alternatives = channel.value.get("alternatives") if type(channel.value) is dict else None
        first = alternatives[0] if type(alternatives) is list and alternatives else None
        if type(first) is not dict:
            not_read(self._draft, first, channel.loc())
            return False
        part = channel.at("alternatives")
        for _ in part.value[1:]:
            self._draft.drop("a further alternative", part.loc())
        part = part.item(0)
        self._draft.drop_rest(first, _ALTERNATIVE_KEYS, part.loc())
        paragraphs = first.get("paragraphs")
        inner = paragraphs.get("paragraphs") if type(paragraphs) is dict else None
        words = first.get("words")
        if type(inner) is list and inner:
            self._read_paragraphs(part.at("paragraphs").at("paragraphs"), index)
        elif type(words) is list and words:
            self._read_words(part.at("words"), index)
        elif type(first.get("transcript")) is str:
            label = self._label(index, None)
            self._speech.say(Utterance(text=first["transcript"].strip(), loc=part.loc(), label=label))
        return True

    def _read_paragraphs(self, part: Part, channel: int) -> None:
        for loc, item in zip(part.locs(), part.value, strict=True):
            sentences = item.get("sentences") if type(item) is dict else None
            if type(sentences) is not list:
                not_read(self._draft, item, loc)
                continue
            texts = [each.get("text") for each in sentences if type(each) is dict]
            text = " ".join(each for each in texts if type(each) is str)
            self._say(item, text, loc, channel)

    def _read_words(self, part: Part, channel: int) -> None:
        words = []
        for loc, item in zip(part.locs(), part.value, strict=True):
            written = None
            if type(item) is dict:
                written = item.get("punctuated_word", item.get("word"))
            if type(written) is not str:
                not_read(self._draft, item, loc)
                continue
            start, end = (self._speech.time(item.get(key), SECOND, loc) for key in ("start", "end"))
            words.append(Word(written, loc, self._label(channel, item.get("speaker")), start, end))
        self._speech.say_words(words)

    def _say(self, item: dict[str, Any], text: str, loc: str, channel: Any) -> None:
        self._speech.say(
            Utterance(
                text=text.strip(),
                loc=loc,
                label=self._label(channel, item.get("speaker")),
                start_ns=self._speech.time(item.get("start"), SECOND, loc),
                end_ns=self._speech.time(item.get("end"), SECOND, loc),
                own=item.get("id"),
            )
        )

    def _label(self, channel: Any, speaker: Any) -> str | None:
        names = [label_of(channel, "channel_")] if self._several else []
        names.append(label_of(speaker))
        return "_".join(name for name in names if name is not None) or None
