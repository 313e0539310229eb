"""AWS speech: Amazon Transcribe jobs, Contact Lens and Call Analytics, and audio of Bedrock Data Automation.

A job has `results.items`: words with times in seconds as text, and punctuation without times, which belongs to the
word before it. The speaker of an item is its `speaker_label`, or that of the item of `speaker_labels` that begins at
the same time; with `channel_labels` the channel is the speaker. Words in a row by one speaker are a turn; without
speakers the `transcripts` are one. Lists of such items alone are read as well.

Contact Lens has `Transcript` `[{ParticipantRole, Content, BeginOffsetMillis, ...}]`: its roles are the turns' roles.
Bedrock Data Automation has `audio_segments` with a text, times in milliseconds and a label.

Known gaps: word times, confidences, alternatives, sentiments and summaries are not read. Offsets of Contact Lens chats,
which are no audio, are taken for what they are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.readers.speech import Speech, Utterance, Word, label_of, not_read
from averment.evidence.readers.transcript import role_of
from averment.evidence.times import MILLISECOND, SECOND

__all__ = ["fits", "read"]

_JOB_METADATA = (
    "jobName",
    "status",
    "isRedacted",
    "LanguageCode",
    "JobName",
    "JobStatus",
    "ConversationCharacteristics",
)
_JOB_KEYS = frozenset(
    {
        "results",
        "Transcript",
        "Participants",
        "CustomerMetadata",
        "audio_segments",
        "ContentMetadata",
        *_JOB_METADATA,
    }
)
_RESULT_KEYS = frozenset({"items", "transcripts", "speaker_labels", "channel_labels"})
_TURN_KEYS = frozenset(
    {"Id", "ParticipantId", "ParticipantRole", "Content", "BeginOffsetMillis", "EndOffsetMillis"}
)
_SEGMENT_KEYS = frozenset(
    {
        *(
            "segment_index",
            "type",
            "text",
            "start_timestamp_millis",
            "end_timestamp_millis",
            "speaker",
            "channel",
        ),
        "audio_item_indices",
    }
)
_REDACTED = "what was redacted in the transcript could be anything"
_HOW_REDACTED = "Transcribe without content redaction, where that may be."


def fits(value: Any) -> str | None:
    """Why this is a transcript of one of AWS's services."""
    if isinstance(value, list):
        return "its items have `alternatives`, `type` and `start_time`" if _is_item(value[:1]) else None
    if not isinstance(value, dict):
        return None
    results, turns = value.get("results"), value.get("Transcript")
    if isinstance(results, dict) and isinstance(results.get("items"), list) and "transcripts" in results:
        return "it has `results` with `items` and `transcripts`"
    if isinstance(turns, list) and turns and isinstance(turns[0], dict) and "Content" in turns[0]:
        for key in ("ParticipantRole", "ParticipantId"):
            if key in turns[0]:
                return f"it has `Transcript` with `{key}` and `Content`"
    if isinstance(value.get("audio_segments"), list) and "audio_items" in value:
        return "it has `audio_segments` and `audio_items`"
    return None


def _is_item(items: Any) -> bool:
    """Whether the one item of a list is an item of a job."""
    return all(
        isinstance(item, dict)
        and isinstance(item.get("alternatives"), list)
        and {"type", "start_time"} <= item.keys()
        for item in items
    ) and bool(items)


def read(part: Part, draft: Draft) -> None:
    """Read one recording."""
    value = part.value
    speech = Speech(part, draft)
    if isinstance(value, list):
        _Job(part, speech, draft).read_items(part)
        return
    if not isinstance(value, dict):
        draft.problems.append(part.problem("wrong_type", "this is no transcript", found=kind_of(value)))
        return
    _describe(value, draft)
    draft.drop_rest(value, _JOB_KEYS, part.loc())
    results = value.get("results")
    if isinstance(results, dict) and isinstance(results.get("items"), list):
        draft.drop_rest(results, _RESULT_KEYS, part.at("results").loc())
        _Job(part.at("results"), speech, draft).read()
    elif isinstance(value.get("Transcript"), list):
        _read_contact(part, speech, draft)
    elif isinstance(value.get("audio_segments"), list):
        _read_segments(part.at("audio_segments"), speech, draft)
    else:
        draft.problems.append(part.problem("wrong_type", "this is no transcript", found="an object"))
        return
    content = value.get("ContentMetadata")
    is_redacted = isinstance(content, dict) and content.get("Output") == "Redacted"
    if is_redacted or value.get("isRedacted") is True:
        draft.limit("transcript", "redacted", _REDACTED, _HOW_REDACTED)


def _describe(value: dict[str, Any], draft: Draft) -> None:
    draft.metadata = {key: value[key] for key in _JOB_METADATA if value.get(key) is not None}
    contact = value.get("CustomerMetadata")
    own = contact.get("ContactId") if isinstance(contact, dict) else None
    for each in (own, value.get("JobName"), value.get("jobName")):
        if type(each) is str and each and draft.conversation_id is None:
            draft.conversation_id = each


class _Job:
    """The results of one job."""

    def __init__(self, part: Part, speech: Speech, draft: Draft) -> None:
        self._part = part
        self._speech = speech
        self._draft = draft
        self._labels: dict[str, str] = {}

    def read(self) -> None:
        """Read what the job has, with speakers where it has them."""
        results = self._part.value
        channels = results.get("channel_labels")
        inner = channels.get("channels") if type(channels) is dict else None
        if type(inner) is list and len(inner) > 1:
            self._read_channels(self._part.at("channel_labels").at("channels"))
            return
        self._labels = dict(_labels_by_start(results.get("speaker_labels")))
        self.read_items(self._part.at("items"))

    def read_items(self, part: Part) -> None:
        words = list(self._words(part))
        if type(self._part.value) is dict and all(word.label is None for word in words):
            self._read_whole(words)
        else:
            self._speech.say_words(words)
        self._speech.finish(records=len(part.value), read=len(words))

    def _read_channels(self, channels: Part) -> None:
        """Read each channel for itself, then put all that was said in the order of time."""
        records = read = 0
        words: list[Word] = []
        for index in range(len(channels.value)):
            channel = channels.item(index)
            items = channel.value.get("items") if type(channel.value) is dict else None
            if type(items) is not list:
                not_read(self._draft, channel.value, channel.loc())
                continue
            label = label_of(channel.value.get("channel_label")) or f"channel_{index}"
            found = list(self._words(channel.at("items"), label))
            records, read = records + len(items), read + len(found)
            words += found
        self._speech.say_words(self._in_time(words))
        self._speech.finish(records=records, read=read)

    def _in_time(self, words: list[Word]) -> list[Word]:
        """Words of several channels by their starts, punctuation behind its word."""
        starts: list[int] = []
        for word in words:
            if word.start_ns is None and not (word.glued and starts):
                loc = self._part.loc()
                self._draft.note(
                    "order_unknown", loc, "channels follow each other here, as a word has no time"
                )
                return words
            starts.append(starts[-1] if word.start_ns is None else word.start_ns)
        return [words[index] for index in sorted(range(len(words)), key=starts.__getitem__)]

    def _read_whole(self, words: list[Word]) -> None:
        """Read the text as it stands, which nobody is named for."""
        texts = self._part.value.get("transcripts")
        items = (
            [each.get("transcript") for each in texts if type(each) is dict] if type(texts) is list else []
        )
        written = [each for each in items if type(each) is str and each.strip()]
        if not written:
            self._speech.say_words(words)
            return
        starts = [word.start_ns for word in words if word.start_ns is not None]
        ends = [word.end_ns for word in words if word.end_ns is not None]
        self._speech.say(
            Utterance(
                text="\n".join(written),
                loc=self._part.at("transcripts").loc(),
                start_ns=starts[0] if starts else None,
                end_ns=ends[-1] if ends else None,
            )
        )

    def _words(self, part: Part, channel: str | None = None) -> Iterator[Word]:
        before = channel
        for loc, item in zip(part.locs(), part.value, strict=True):
            alternatives = item.get("alternatives") if type(item) is dict else None
            first = alternatives[0] if type(alternatives) is list and alternatives else None
            content = first.get("content") if type(first) is dict else None
            if type(content) is not str:
                not_read(self._draft, item, loc)
                continue
            is_mark = item.get("type") == "punctuation"
            label = channel or label_of(item.get("speaker_label"))
            if label is None and type(item.get("start_time")) is str:
                label = self._labels.get(item["start_time"])
            if label is None and is_mark:
                label = before
            before = label
            start, end = (self._speech.time(item.get(key), SECOND, loc) for key in ("start_time", "end_time"))
            yield Word(content, loc, label, start, end, is_mark)


def _labels_by_start(labels: Any) -> Iterator[tuple[str, str]]:
    """The speaker of each item, by the text of its start time."""
    segments = labels.get("segments") if type(labels) is dict else None
    for segment in segments if type(segments) is list else ():
        items = segment.get("items") if type(segment) is dict else None
        for item in items if type(items) is list else ():
            if type(item) is dict:
                start, label = item.get("start_time"), label_of(item.get("speaker_label"))
                if type(start) is str and label is not None:
                    yield start, label


def _read_contact(part: Part, speech: Speech, draft: Draft) -> None:
    """Read the turns of Contact Lens or Call Analytics."""
    participants = part.value.get("Participants")
    roles = {
        each["ParticipantId"]: each.get("ParticipantRole")
        for each in (participants if type(participants) is list else ())
        if type(each) is dict and type(each.get("ParticipantId")) is str
    }
    turns = part.at("Transcript")
    read = 0
    for loc, item in zip(turns.locs(), turns.value, strict=True):
        if type(item) is not dict or type(item.get("Content")) is not str:
            not_read(draft, item, loc)
            continue
        draft.drop_rest(item, _TURN_KEYS, loc)
        own = item.get("ParticipantId")
        role = item.get("ParticipantRole") or (roles.get(own) if type(own) is str else None) or own
        label = role if type(role) is str else None
        known = role_of(label)
        start, end = (
            speech.time(item.get(key), MILLISECOND, loc) for key in ("BeginOffsetMillis", "EndOffsetMillis")
        )
        speech.say(
            Utterance(
                text=item["Content"],
                loc=loc,
                label=label,
                role="unknown" if known == "other" else known,
                start_ns=start,
                end_ns=end,
                own=item.get("Id"),
            )
        )
        read += 1
    speech.finish(records=len(turns.value), read=read)


def _read_segments(part: Part, speech: Speech, draft: Draft) -> None:
    """Read the segments of Bedrock Data Automation."""
    read = 0
    for loc, item in zip(part.locs(), part.value, strict=True):
        if type(item) is not dict or type(item.get("text")) is not str:
            not_read(draft, item, loc)
            continue
        draft.drop_rest(item, _SEGMENT_KEYS, loc)
        labels = [
            label_of(holder.get(key))
            for holder, key in (
                (item.get("speaker"), "speaker_label"),
                (item.get("channel"), "channel_label"),
            )
            if type(holder) is dict
        ]
        start, end = (
            speech.time(item.get(key), MILLISECOND, loc)
            for key in ("start_timestamp_millis", "end_timestamp_millis")
        )
        speech.say(
            Utterance(
                text=item["text"].strip(),
                loc=loc,
                label=next((label for label in labels if label is not None), None),
                start_ns=start,
                end_ns=end,
            )
        )
        read += 1
    speech.finish(records=len(part.value), read=read)
