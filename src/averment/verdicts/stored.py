"""Verdicts that are kept: lines of results that a run writes, and envelopes, read again for reports and comparisons.

`averment run --results FILE` writes one line of JSON for every conversation, schema `averment.results.v1`:

    {"schema", "document", "files", "conversation", "case"?, "produced"?, "envelope"}

`files` has one entry when all assertions stand in the same file, else one for every result. Envelopes themselves are
read as well: one in a file, or several one after the other, as `--output` writes them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NoReturn

import msgspec
from msgspec import Meta

from averment.documents import Document
from averment.engine import Envelope
from averment.errors import Problem, UsageError
from averment.evidence import Evidence
from averment.text.jsontext import MAX_EVIDENCE_BYTES, MAX_EVIDENCE_DEPTH, canonical_known
from averment.text.shown import printable
from averment.verdicts.judged import Case, Judged, Produced, result_files, shown_file

__all__ = ["SCHEMA", "completed", "each_stored", "gathered", "line", "read_stored"]

SCHEMA = "averment.results.v1"

_MOST_PROBLEMS = 100

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
    return list(each_stored(data, name))


def each_stored(data: bytes, name: str) -> Iterator[Judged]:
    """The same one by one, so that of many lines no more is held than is kept; arguments as for `read_stored`.

    Raises:
        UsageError: at the end, or where nothing more can be read; with the first hundred of what is wrong.
    """
    number = 0
    problems: list[Problem] = []
    try:
        for line_number, value in _values(data, name):
            number += 1
            try:
                yield _judged(value, name, number)
            except msgspec.ValidationError as error:
                problems += [_refused(name, line_number, value, str(error))][: _MOST_PROBLEMS - len(problems)]
    except UsageError as error:
        problems += error.problems
    if not number and not problems:
        problems.append(_refused(name, None, None, "the file is empty"))
    if problems:
        raise UsageError(problems)


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
    stream = io.BytesIO(data.removeprefix(b"\xef\xbb\xbf"))
    lines = 0
    for raw in stream:
        lines += 1
        if not raw.strip():
            continue
        try:
            yield lines, msgspec.json.decode(raw)
        except (msgspec.DecodeError, RecursionError):
            # Not a value by itself, or one that only the standard library reads, such as a lone surrogate.
            yield from _running(raw + stream.read(), name, lines)
            return


def _running(data: bytes, name: str, line_number: int) -> Iterator[tuple[int, Any]]:
    """The values of a text in which lines mean nothing; `line_number` is that of its beginning."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(_refused(name, None, None, "the file is not UTF-8")) from None
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    at = 0
    while True:
        start = at
        while at < len(text) and text[at] in _SPACE:
            at += 1
        line_number += text.count("\n", start, at)
        if at == len(text):
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            why = "no JSON that can be read"
            if isinstance(error, json.JSONDecodeError):
                line_number += text.count("\n", at, error.pos)
                is_cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
                why = f"no JSON: {error.msg}" + (", and the file ends: it is cut off" if is_cut else "")
            raise UsageError(_refused(name, line_number, None, why)) from None
        yield line_number, value
        line_number += text.count("\n", at, end)
        at = end


_SPACE = " \t\n\r"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}")


def _judged(value: Any, name: str, number: int) -> Judged:
    if _is_too_deep(value):
        raise msgspec.ValidationError(
            f"More than {MAX_EVIDENCE_DEPTH} objects and arrays stand inside each other"
        )
    if isinstance(value, Mapping) and value.get("schema") == SCHEMA:
        checked = msgspec.convert(value, _Line)
        envelope = value["envelope"]
        count = len(envelope["results"])
        _refuse_doubles(envelope)
        if len(checked.files) not in (1, count):
            raise msgspec.ValidationError(f"Expected 1 or {count} files - at `$.files`")
        short = {file: shown_file(file) for file in dict.fromkeys(checked.files)}
        files = [short[file] for file in checked.files] * (count if len(checked.files) == 1 else 1)
        return Judged(
            envelope=envelope,
            conversation=shown_file(checked.conversation),
            document=shown_file(checked.document),
            files=files,
            case=checked.case,
            produced=checked.produced,
        )
    checked_envelope = msgspec.convert(value, _Envelope)
    _refuse_doubles(value)
    shown = shown_file(name)
    return Judged(
        envelope=value,
        conversation=f"{shown} #{number}" if number > 1 else shown,
        document=shown_file(checked_envelope.document.name or "the document"),
        files=result_files(value),
        is_named=False,
    )


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_EVIDENCE_DEPTH + 1):
        level = [
            part
            for each in level
            for part in (each.values() if type(each) is dict else each if type(each) is list else ())
            if type(part) in (dict, list)
        ]
        if not level:
            return False
    return True


def _refuse_doubles(envelope: Mapping[str, Any]) -> None:
    """Verdicts are known by their ids, so no two may share one."""
    first: dict[str, int] = {}
    for index, result in enumerate(envelope["results"]):
        if first.setdefault(result["id"], index) != index:
            other = first[result["id"]]
            raise msgspec.ValidationError(
                f"Expected an id of its own, not that of result {other} - at `$.results[{index}].id`"
            )


def _refused(name: str | None, line_number: int | None, value: Any, why: str) -> Problem:
    is_ours = isinstance(value, Mapping) and value.get("schema") in ("assert.v1", SCHEMA)
    if isinstance(value, Mapping) and not is_ours:
        schema = value.get("schema")
        told = "without `schema`" if schema is None else f"whose `schema` is {json.dumps(schema)[:60]}"
        why = f"an object {told}"
    return Problem(
        code="envelope_malformed" if is_ours else "not_an_envelope",
        message="the envelope is not as it was written" if is_ours else "these are no verdicts",
        file=name,
        line=line_number,
        expected="an envelope (`averment run --output`), or lines of results (`averment run --results`)",
        found=printable(why, 300),
        mend="Write them with `averment run`.",
    )
