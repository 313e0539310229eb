"""Verdicts that were kept: what is written is read again, and whatever else a file holds is told, not believed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

import averment
from averment.errors import UsageError
from averment.verdicts.judged import Case, Judged, Produced, judged, result_files, shown_file
from averment.verdicts.stored import completed, each_stored, gathered, line, read_stored

SAID = "refund for jane@example.com sent"
FORMS: Mapping[str, Any] = {
    "version": 1,
    "assertions": [
        {"id": "said", "kind": "phrase", "regex": "refund", "tags": ["a"], "owner": "ops"},
        {"id": "done", "kind": "tool_call", "name": "issue_refund"},
        {"id": "clean", "kind": "pii", "mode": "must_not_leak", "detectors": ["email"]},
    ],
}


@pytest.fixture
def document() -> averment.Document:
    """A document of three assertions."""
    return averment.Document.of(FORMS)


@pytest.fixture
def evidence() -> averment.Evidence:
    """A conversation with personal data and no trace."""
    return averment.Evidence(transcript=[{"role": "agent", "text": SAID}])


@pytest.fixture
def envelope(document: averment.Document, evidence: averment.Evidence) -> averment.Envelope:
    """What is stored."""
    return averment.run(document, evidence)


@pytest.fixture
def entry(envelope: averment.Envelope, document: averment.Document) -> Judged:
    """The same, judged as a case of a suite."""
    return judged(
        envelope,
        document,
        conversation="calls/a.json",
        case=Case(suite="support", name="A-17", repeat=2, repeats=3),
        produced=Produced(file="out/a.json", sha256="sha256:00"),
    )


def problems(data: bytes, name: str = "r.jsonl") -> list[averment.Problem]:
    """What is wrong with a file."""
    with pytest.raises(UsageError) as caught:
        read_stored(data, name)
    return list(caught.value.problems)


def written(entry: Judged, **changes: Any) -> bytes:
    """A line of results with other values."""
    return json.dumps({**json.loads(line(entry)), **changes}).encode() + b"\n"


def changed(envelope: averment.Envelope, **changes: Any) -> bytes:
    """An envelope with other values."""
    return json.dumps({**envelope.to_dict(), **changes}).encode()


def test_a_line_is_read_as_what_was_written(entry: Judged) -> None:
    """All but the evidence and the assertions, which are not stored."""
    data = line(entry)
    assert data.endswith(b"}\n")
    assert data.count(b"\n") == 1
    (read,) = read_stored(data, "r.jsonl")
    assert read == msgspec.structs.replace(entry, evidence=None, assertions=())
    assert line(read) == data


def test_personal_data_is_in_no_line(entry: Judged) -> None:
    """What is stored is what the envelope says, and that is redacted."""
    assert b"jane@" not in line(entry)


def test_files_are_written_once_where_they_are_the_same(entry: Judged) -> None:
    """And one for each result where they differ; both are read."""
    assert json.loads(line(entry))["files"] == ["the document"]
    several = msgspec.structs.replace(entry, files=["a.yaml", "b.yaml", "a.yaml"])
    assert json.loads(line(several))["files"] == ["a.yaml", "b.yaml", "a.yaml"]
    assert read_stored(line(several), "r.jsonl")[0].files == ["a.yaml", "b.yaml", "a.yaml"]


@pytest.mark.parametrize("between", [b"", b"\n", b" \t\r\n\n", b"\n\n\n"])
def test_envelopes_stand_one_after_the_other(envelope: averment.Envelope, between: bytes) -> None:
    """As `--output` writes them, or joined by hand, in one line or in many; they are called by their position."""
    for data in (envelope.to_json(), json.dumps(envelope.to_dict()).encode()):
        read = read_stored(data + between + data + between + data, "e.json")
        assert [each.conversation for each in read] == ["e.json", "e.json #2", "e.json #3"]
        assert all(each.envelope == envelope.to_dict() for each in read)
        assert not any(each.is_named for each in read)


def test_lines_and_envelopes_can_be_mixed(envelope: averment.Envelope, entry: Judged) -> None:
    """`cat` of whatever was kept is a file that can be read."""
    read = read_stored(line(entry) + envelope.to_json() + line(entry), "all")
    assert [each.conversation for each in read] == ["calls/a.json", "all #2", "calls/a.json"]
    assert [each.is_named for each in read] == [True, False, True]


def test_a_mark_at_the_beginning_is_no_mistake(entry: Judged, envelope: averment.Envelope) -> None:
    """Editors on Windows put it there."""
    assert len(read_stored(b"\xef\xbb\xbf" + line(entry), "r")) == 1
    assert len(read_stored(b"\xef\xbb\xbf" + envelope.to_json(), "r")) == 1


def test_an_envelope_of_a_document_without_a_name_is_read(envelope: averment.Envelope) -> None:
    """What has no name is called by what it is."""
    (read,) = read_stored(envelope.to_json(), "e.json")
    assert read.document == "the document"
    assert read.files == ["the document"] * 3
    assert read.case is None


@pytest.mark.parametrize("data", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(data: bytes) -> None:
    """Nothing kept is no verdict."""
    (problem,) = problems(data)
    assert (problem.code, problem.found, problem.file) == ("not_an_envelope", "the file is empty", "r.jsonl")


@pytest.mark.parametrize(
    "data",
    [
        *(b"no json", b"{", b"[", b"}", b"nul", b"NaN", b"[1,2]", b"{}", b"null", b"1", b'"assert.v1"'),
        *(
            b'{"schema": "assert.v1"',
            b'{"schema": "other.v1"}',
            b'{"schema": ["assert.v1"]}',
            b'{"schema": {}}',
        ),
        *(b"\xff\xfe\x00", b'{"a": "\xff"}', b"\x00", b"1e999", b"[" * 100_000, b"[" * 5000 + b"]" * 5000),
        *(b'{"a":' * 500 + b"1" + b"}" * 500, b"9" * 10_000, b'{"a": NaN}', b'{"a": Infinity}'),
    ],
    ids=lambda data: repr(data[:20]),
)
def test_what_is_no_verdict_is_refused_with_its_place(data: bytes) -> None:
    """No exception but ours, nothing quoted at length, and the next step."""
    for problem in problems(data):
        assert problem.code == "not_an_envelope"
        assert problem.found
        assert len(problem.render()) < 1000
        assert problem.mend == "Write them with `averment run`."


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"exit_code": 4}, "$.exit_code"),
        ({"exit_code": True}, "$.exit_code"),
        ({"inconclusive_policy": "maybe"}, "$.inconclusive_policy"),
        ({"document": {}}, "`sha256`"),
        ({"document": None}, "$.document"),
        ({"evidence_sha256": None}, "$.evidence_sha256"),
        ({"results": {}}, "$.results"),
        ({"results": [1]}, "$.results[0]"),
        ({"results": [{"id": "a", "kind": "k", "deterministic": False, "status": "PASS"}]}, "deterministic"),
        ({"results": [{"id": "a", "kind": "k", "deterministic": True, "status": "pass"}]}, "status"),
        ({"results": [{"id": 1, "kind": "k", "deterministic": True, "status": "PASS"}]}, "$.results[0].id"),
        (
            {"results": [{"id": "a", "kind": "k", "deterministic": True, "status": "PASS", "turns": [-1]}]},
            "$.results[0].turns[0]",
        ),
        (
            {
                "results": [
                    {"id": "a", "kind": "k", "deterministic": True, "status": "PASS", "at": {"line": 0}}
                ]
            },
            "$.results[0].at",
        ),
        (
            {"results": [{"id": "a", "kind": "k", "deterministic": True, "status": "PASS"}] * 2},
            "$.results[1].id",
        ),
        ({"summary": {}}, "$.summary"),
        ({"redacted_transcript": [1]}, "$.redacted_transcript"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_envelope_that_was_changed_is_told_with_the_path(
    envelope: averment.Envelope, changes: dict[str, Any], where: str
) -> None:
    """The keys that reporters rely on have the shape that the engine writes."""
    (problem,) = problems(changed(envelope, **changes))
    assert problem.code == "envelope_malformed"
    assert where in (problem.found or "")


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"files": []}, "$.files"),
        ({"files": ["a", "b"]}, "1 or 3 files"),
        ({"files": "a"}, "$.files"),
        ({"conversation": None}, "$.conversation"),
        ({"document": 1}, "$.document"),
        ({"envelope": None}, "$.envelope"),
        ({"envelope": {"schema": "assert.v1"}}, "$.envelope"),
        ({"case": {"name": "a"}}, "`suite`"),
        ({"case": {"suite": "s", "repeat": "1"}}, "$.case.repeat"),
        ({"produced": {}}, "`file`"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_line_that_was_changed_is_told_with_the_path(
    entry: Judged, changes: dict[str, Any], where: str
) -> None:
    """Nothing is guessed of a line that is not as it was written."""
    (problem,) = problems(written(entry, **changes))
    assert (problem.code, problem.line) == ("envelope_malformed", 1)
    assert where in (problem.found or "")


def test_a_file_that_is_cut_off_is_told_as_such(entry: Judged) -> None:
    """As a run that was killed, or a full disk, leaves it; wherever it ends."""
    data = line(entry)
    for kept in (len(data) // 2, len(data) - 2, 40):
        (problem,) = problems(data + data[:kept])
        assert problem.line == 2
        assert (problem.found or "").endswith("and the file ends: it is cut off"), problem.found
    (problem,) = problems(data + b"no JSON\n")
    assert "cut off" not in (problem.found or "")


def test_another_schema_is_told() -> None:
    """What it says it is, or that it says nothing."""
    assert problems(b'{"schema": "assert.v2"}')[0].found == 'an object whose `schema` is "assert.v2"'
    assert problems(b'{"a": 1}')[0].found == "an object without `schema`"


def test_all_mistakes_are_told_each_with_its_line(entry: Judged) -> None:
    """Every line that is wrong, and what stands behind the last that can be read."""
    data = line(entry) + written(entry, files=[]) + b"\n" + b"{}\n" + line(entry) + b"{broken\n"
    assert [(each.line, each.code) for each in problems(data)] == [
        (2, "envelope_malformed"),
        (4, "not_an_envelope"),
        (6, "not_an_envelope"),
    ]


def test_a_syntax_error_has_the_line_in_which_it_stands(envelope: averment.Envelope) -> None:
    """Not that of the value's beginning, from which it may be far."""
    data = envelope.to_json()
    lines = (data + data.replace(b'"summary":', b'"summary"')).decode().splitlines()
    (problem,) = problems("\n".join(lines).encode())
    assert problem.line == lines.index('  "summary" {') + 1


def test_a_million_mistakes_are_told_as_a_hundred() -> None:
    """A file of something else is not quoted line by line."""
    assert len(problems(b"{}\n" * 5000)) == 100


def test_a_wrong_value_is_not_quoted_at_length(envelope: averment.Envelope) -> None:
    """It may be a megabyte, or personal data."""
    result = {"id": "a", "kind": "k", "deterministic": True, "status": "jane@example.com " + "x" * 10**6}
    (problem,) = problems(changed(envelope, results=[result]))
    assert len(problem.render()) < 1000
    assert "jane@" not in problem.render()


def test_a_file_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch, entry: Judged) -> None:
    """Before anything of it is read."""
    monkeypatch.setattr("averment.verdicts.stored.MAX_EVIDENCE_BYTES", 100)
    (problem,) = problems(line(entry))
    assert problem.found == "the file is too large"


def test_values_that_nest_too_deep_are_refused(envelope: averment.Envelope) -> None:
    """Reporters go down into what is stored, and must come up again."""
    for depth, is_fine in ((150, True), (190, True), (200, False), (900, False)):
        deep: Any = 1
        for _ in range(depth):
            deep = [deep]
        result = {**envelope.to_dict()["results"][0], "id": "deep", "extra": deep}
        data = changed(envelope, results=[result])
        if is_fine:
            assert len(read_stored(data, "e")) == 1
        else:
            assert problems(data)[0].code in ("envelope_malformed", "not_an_envelope")


def test_lone_surrogates_are_read_and_written_again(entry: Judged) -> None:
    """As JSON escapes, which is how they were stored."""
    odd = msgspec.structs.replace(entry, conversation="a\ud800.json")
    data = line(odd)
    assert b"\\ud800" in data
    (read,) = read_stored(data + line(entry), "r")[:1]
    assert read.conversation == "a\ud800.json"
    assert line(read) == data


def test_texts_stay_what_they_are(entry: Judged) -> None:
    """Markup, escapes, direction marks and NUL go through; showing them is the reporters' affair."""
    name = "</script>]]>\x1b[31m\u202e\x00\u2028" + "w" * 10**6
    odd = msgspec.structs.replace(entry, conversation=name, document=name)
    data = line(odd)
    assert data.count(b"\n") == 1
    (read,) = read_stored(data, "r")
    assert (read.conversation, read.document) == (name, name)


def test_each_comes_before_the_next_is_read(entry: Judged) -> None:
    """What is right is given before a later mistake is told."""
    stream = each_stored(line(entry) + b"{broken", "r")
    assert next(stream).conversation == "calls/a.json"
    with pytest.raises(UsageError):
        next(stream)


def test_no_path_of_a_machine_is_kept(
    envelope: averment.Envelope, entry: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Absolute names become relative to the working folder, or lose their folders, also in lines that others wrote."""
    monkeypatch.chdir(tmp_path)
    inside = str(tmp_path / "calls" / "a.json")
    assert shown_file(inside) == os.path.join("calls", "a.json")
    assert shown_file("/elsewhere/secret/a.json") == "a.json"
    assert shown_file("calls/../a.json") == "calls/../a.json"
    (read,) = read_stored(
        written(entry, conversation=inside, document="/elsewhere/d.yaml", files=["/elsewhere/d.yaml"]), "r"
    )
    assert read.conversation == os.path.join("calls", "a.json")
    assert read.document == "d.yaml"
    assert set(read.files) == {"d.yaml"}
    (read,) = read_stored(
        changed(envelope, document={"name": "/elsewhere/d.yaml", "sha256": "x"}), "/elsewhere/e.json"
    )
    assert (read.conversation, read.document, set(read.files)) == ("e.json", "d.yaml", {"d.yaml"})


def test_files_of_included_assertions_stand_beside_the_document(envelope: averment.Envelope) -> None:
    """The envelope names them as the document does: relative to it."""
    stored = envelope.to_dict()
    stored["results"][1]["at"] = {"line": 1, "column": 1, "file": "shared/base.yaml"}
    stored["results"][2]["at"] = {"line": 1, "column": 1, "file": "/elsewhere/base.yaml"}
    expected = ["desk/d.yaml", "desk/shared/base.yaml", "base.yaml"]
    assert result_files(stored, "desk/d.yaml") == expected


def test_evidence_and_documents_are_known_by_their_digests(
    envelope: averment.Envelope,
    evidence: averment.Evidence,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was judged is put to the verdicts, in whatever order it is given; the rest stays without."""
    monkeypatch.chdir(tmp_path)
    Path("forms.json").write_text(json.dumps(FORMS), encoding="utf-8")
    document = averment.Document.load("forms.json")
    other = averment.Evidence(transcript=[])
    entries = read_stored(envelope.to_json() + averment.run(document, other).to_json(), "e.json")
    first, second = completed(entries, [evidence], [document])
    assert first.evidence is evidence.model
    assert second.evidence is None
    assert first.assertions == second.assertions == document.assertions
    assert first.document == "forms.json"
    assert set(first.files) == {"forms.json"}
    first, second = completed(entries, [other, evidence], [])
    assert first.evidence is evidence.model
    assert second.evidence is other.model
    assert first.assertions == ()


def test_evidence_and_documents_of_other_verdicts_are_refused(envelope: averment.Envelope) -> None:
    """All of them are named: a report that quotes another conversation would prove nothing."""
    entries = read_stored(envelope.to_json(), "e.json")
    other = averment.Document.of({"version": 1, "assertions": [{"id": "x", "kind": "phrase", "regex": "x"}]})
    with pytest.raises(UsageError) as caught:
        completed(entries, [averment.Evidence(transcript=[])], [other])
    assert [each.code for each in caught.value.problems] == ["other_evidence", "other_document"]


def test_reports_take_envelopes_in_each_form(
    envelope: averment.Envelope, document: averment.Document, evidence: averment.Evidence, entry: Judged
) -> None:
    """As the engine gives them, as plain values, and several that were judged, which are passed on."""
    made = gathered(envelope, evidence, document, "a call")
    assert made == gathered(envelope.to_dict(), evidence, document, "a call")
    assert (made[0].conversation, made[0].evidence, made[0].assertions) == (
        "a call",
        evidence.model,
        document.assertions,
    )
    assert gathered([entry], None, None, "ignored") == [entry]


@pytest.mark.parametrize("value", [{}, {"schema": "assert.v1"}, {"schema": "other"}, {"schema": None}])
def test_reports_refuse_what_is_no_envelope(value: dict[str, Any]) -> None:
    """With a problem, as the command line does."""
    with pytest.raises(UsageError, match=r"envelope_malformed|not_an_envelope"):
        gathered(value, None, None, "a call")


def test_a_judged_conversation_says_what_it_was_judged_by(
    envelope: averment.Envelope, document: averment.Document, evidence: averment.Evidence
) -> None:
    """Names of files are shown relative, results come in document order."""
    found = judged(envelope, document, conversation="/elsewhere/a.json", evidence=evidence.model)
    assert found.conversation == "a.json"
    assert [result["id"] for result in found.results] == ["said", "done", "clean"]
    assert found.is_named
    assert found.evidence is evidence.model
