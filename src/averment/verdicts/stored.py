"""Verdicts that are kept: lines of results that a run writes, and envelopes, read again for reports and comparisons.

`averment run --results FILE` writes one line of JSON for every conversation, schema `averment.results.v1`:

    {"schema", "document", "files", "conversation", "case"?, "produced"?, "envelope"}

`files` has one entry when all assertions stand in the same file, else one for every result. Envelopes themselves are
read as well: one in a file, or several one after the other, as `--output` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from averment.documents import Document
from averment.engine import Envelope
from averment.errors import Problem, UsageError
from averment.evidence import Evidence
from averment.verdicts.judged import Case, Judged, Produced, result_files, shown_file
from averment.text.jsontext import MAX_EVIDENCE_BYTES, canonical_known

__all__ = ["SCHEMA", "completed", "gathered", "line", "read_stored"]

SCHEMA = "averment.results.v1"

_Index = Annotated[int, Meta(ge=0)]


class _Place(msgspec.Struct):
    line: Annotated[int, Meta(ge=1)]
    column: Annotated[int, Meta(ge=1)]
    file: str | None = None


class _Result(msgspec.Struct):
    """The keys of a result that reporters rely on; whatever else it has is the kind's own."""

    id: str
    kind: str
    deterministic: Literal[True]
    status: Literal["PASS", "FAIL", "INCONCLUSIVE"]
    at: _Place | None = None
    dimension: str | None = None
    severity: Literal["error", "warning", "note"] = "error"
    tags: list[str] = []
    owner: str | None = None
    description: str | None = None
    turns: list[_Index] = []
    tool_calls: list[str] = []
    span_ids: list[str] = []
    code: str | None = None
    evidence_gap: dict[str, str] | None = None
    reason: str | None = None
    public_reason: str | None = None


class _Document(msgspec.Struct):
    sha256: str
    name: str | None = None


class _Summary(msgspec.Struct):
    deterministic: dict[str, _Index]
    warnings: dict[str, _Index]
    not_applicable: _Index
    note: str


class _Envelope(msgspec.Struct):
    """The keys of an envelope that reporters rely on."""

    schema: Literal["assert.v1"]
    exit_code: Literal[0, 1, 2, 3]
    inconclusive_policy: Literal["report", "fail", "refuse"]
    document: _Document
    evidence_sha256: str
    results: list[_Result]
    summary: _Summary
    engine: dict[str, str] = {}
    redacted_transcript: list[dict[str, Any]] | None = None


class _Line(msgspec.Struct):
    schema: Literal["averment.results.v1"]
    document: str
    files: Annotated[list[str], Meta(min_length=1)]
    conversation: str
    envelope: _Envelope
    case: Case | None = None
    produced: Produced | None = None


def line(entry: Judged) -> bytes:
    """One line of results, with its end."""
    files = list(entry.files)
    value: dict[str, Any] = {
        "schema": SCHEMA,
        "document": entry.document,
        "files": files[:1] if len(set(files)) == 1 else files,
        "conversation": entry.conversation,
    }
    if entry.case is not None:
        value["case"] = msgspec.to_builtins(entry.case)
    if entry.produced is not None:
        value["produced"] = msgspec.to_builtins(entry.produced)
    return canonical_known({**value, "envelope": entry.envelope}) + b"\n"


def read_stored(data: bytes, name: str) -> list[Judged]:
    """The conversations of a file of results, or of envelopes.

    Args:
        data: the file's bytes.
        name: its name, for problems and for conversations that have none.

    Raises:
        UsageError: something in it is neither a line of results nor an envelope; all of them are named.
    """
    found: list[Judged] = []
    problems: list[Problem] = []
    for number, (line_number, value) in enumerate(_values(data, name), 1):
        try:
            found.append(_judged(value, name, number))
        except msgspec.ValidationError as error:
            problems.append(_refused(name, line_number, value, str(error)))
    if not found and not problems:
        problems.append(_refused(name, None, None, "the file is empty"))
    if problems:
        raise UsageError(problems)
    return found


def gathered(
    envelope: Envelope | Mapping[str, Any] | Sequence[Judged],
    evidence: Evidence | None,
    document: Document | None,
    conversation: str,
) -> Sequence[Judged]:
    """The conversations that a report is about, of what its caller has.

    Raises:
        UsageError: this is no envelope, or one of other evidence or of another document.
    """
    if isinstance(envelope, Envelope):
        written: Any = envelope.to_dict()
    elif isinstance(envelope, Mapping):
        written = envelope
    else:
        return envelope
    try:
        entry = _judged(written, conversation, 1)
    except msgspec.ValidationError as error:
        raise UsageError(_refused(None, None, written, str(error))) from None
    return completed([entry], [] if evidence is None else [evidence], [] if document is None else [document])


def completed(
    entries: Sequence[Judged], evidences: Sequence[Evidence], documents: Sequence[Document]
) -> list[Judged]:
    """The same conversations with the evidence and the documents that they were judged by, known by digest.

    Raises:
        UsageError: an evidence or a document is given that none of the envelopes is about.
    """
    models = {each.sha256: each.model for each in evidences}
    sources = {each.sha256: each for each in documents}
    wanted = {entry.envelope["evidence_sha256"] for entry in entries}
    problems = [
        _other("evidence", each.model.sources[0].name) for each in evidences if each.sha256 not in wanted
    ]
    wanted = {entry.envelope["document"]["sha256"] for entry in entries}
    problems += [_other("document", each.display_name) for each in documents if each.sha256 not in wanted]
    if problems:
        raise UsageError(problems)
    found = [
        msgspec.structs.replace(entry, evidence=models.get(entry.envelope["evidence_sha256"], entry.evidence))
        for entry in entries
    ]
    return [_placed(entry, sources.get(entry.envelope["document"]["sha256"])) for entry in found]


def _placed(entry: Judged, document: Document | None) -> Judged:
    if document is None:
        return entry
    files = [shown_file(document.file_name(index)) for index in range(len(document.assertions))]
    return msgspec.structs.replace(
        entry, document=shown_file(document.display_name), files=files, assertions=document.assertions
    )


def _other(what: str, name: str | None) -> Problem:
    return Problem(
        code=f"other_{what}",
        message=f"no envelope is about this {what}: its digest is another",
        file=name,
        mend=f"Give the {what} that was judged, unchanged; or leave it out.",
    )


def _values(data: bytes, name: str) -> Iterator[tuple[int, Any]]:
    """The JSON values that stand one after the other, each with the line on which it starts."""
    if len(data) > MAX_EVIDENCE_BYTES:
        raise UsageError(_refused(name, None, None, "the file is too large"))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(_refused(name, None, None, "the file is not UTF-8")) from None
    decoder = json.JSONDecoder()
    at, lines = 0, 1
    while True:
        start = at
        while at < len(text) and text[at].isspace():
            at += 1
        lines += text.count("\n", start, at)
        if at == len(text):
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            why = (
                f"no JSON: {error.msg}"
                if isinstance(error, json.JSONDecodeError)
                else "no JSON that can be read"
            )
            raise UsageError(_refused(name, lines, None, why)) from None
        yield lines, value
        lines += text.count("\n", at, end)
        at = end


def _judged(value: Any, name: str, number: int) -> Judged:
    if isinstance(value, Mapping) and value.get("schema") == SCHEMA:
        checked = msgspec.convert(value, _Line)
        envelope = value["envelope"]
        count = len(envelope["results"])
        if len(checked.files) not in (1, count):
            raise msgspec.ValidationError(f"Expected 1 or {count} files - at `$.files`")
        files = checked.files * count if len(checked.files) == 1 else checked.files
        return Judged(
            envelope=envelope,
            conversation=checked.conversation,
            document=checked.document,
            files=files,
            case=checked.case,
            produced=checked.produced,
        )
    checked_envelope = msgspec.convert(value, _Envelope)
    return Judged(
        envelope=value,
        conversation=f"{name} #{number}" if number > 1 else name,
        document=checked_envelope.document.name or "the document",
        files=result_files(value),
    )


def _refused(name: str | None, line_number: int | None, value: Any, why: str) -> Problem:
    is_ours = isinstance(value, Mapping) and value.get("schema") in ("assert.v1", SCHEMA)
    return Problem(
        code="envelope_malformed" if is_ours else "not_an_envelope",
        message="the envelope is not as it was written" if is_ours else "these are no verdicts",
        file=name,
        line=line_number,
        expected="an envelope (`averment run --output`), or lines of results (`averment run --results`)",
        found=why,
        mend="Write them with `averment run`.",
    )
