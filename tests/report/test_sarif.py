"""SARIF, validated by the schema that OASIS publishes and read by a reader that others wrote."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import jsonschema
import msgspec
import pytest
import sarif_pydantic  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

import averment
from averment.assertions import KINDS
from averment.assertions.base import Status
from averment.engine import Envelope
from averment.engine.envelope import Result
from averment.report.identity import file_path
from averment.report.sarif import render
from averment.text.shown import visible
from averment.verdicts.judged import Case, Judged, judged

SARIF = importlib.import_module("averment.report.sarif")
VENDOR = Path(__file__).parents[1] / "vendor"
OPEN = Status.INCONCLUSIVE


def result(id_: str = "a", status: Status = Status.FAIL, **fields: Any) -> Result:
    """A result as the engine makes it, with what the document says of the assertion in `common`."""
    common = {"id": id_, "kind": "phrase", "deterministic": True, **fields.pop("common", {})}
    if status is not Status.PASS:
        fields = {"code": "not_found", "reason": "it says", "public_reason": "not found", **fields}
    return Result(id=id_, kind="phrase", status=status, common=common, **fields)


def entry(results: Sequence[Result], policy: str = "report", **fields: Any) -> Judged:
    """A conversation with these results."""
    envelope = Envelope(
        inconclusive_policy=policy,
        document_name="d.yaml",
        document_sha256="sha256:" + 64 * "0",
        evidence_sha256="sha256:" + 64 * "1",
        results=results,
    )
    files = fields.pop("files", ["evals/d.yaml"] * len(results))
    given_ = {"conversation": "call.json", "document": "evals/d.yaml", **fields}
    return Judged(envelope=envelope.to_dict(), files=files, **given_)


def changed(of: Judged, *, envelope: dict[str, Any] | None = None, **fields: Any) -> Judged:
    """An entry as somebody else might have stored it: any text anywhere in its one result, any name."""
    one = {**of.results[0], **fields.pop("result", {})}
    given_ = {"conversation": of.conversation, "document": of.document, "files": of.files, **fields}
    return Judged(envelope={**of.envelope, "results": [one], **(envelope or {})}, **given_)


def run_of(entries: Sequence[Judged]) -> dict[str, Any]:
    (run,) = json.loads(render(entries))["runs"]
    assert isinstance(run, dict)
    return run


def results_of(entries: Sequence[Judged]) -> list[dict[str, Any]]:
    found = run_of(entries)["results"]
    assert isinstance(found, list)
    return found


def fingerprints_of(entries: Sequence[Judged]) -> list[str]:
    return [each["partialFingerprints"]["avermentAssertion/v1"] for each in results_of(entries)]


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft4Validator:
    schema = json.loads((VENDOR / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())


DOCUMENT = """\
version: 1
assertions:
  - id: said
    kind: phrase
    regex: cancelled
  - {id: done, kind: tool_call, name: issue_refund, args: {amount: 5}}
  - {id: fine, kind: phrase, regex: refunded}
"""
CONVERSATION = {
    "transcript": [
        {"role": "caller", "text": "I want my money back, mail me at jo@example.com"},
        {"role": "agent", "text": "It was refunded."},
    ],
    "spans": [
        {"type": "tool_call", "id": "s1", "name": "issue_refund", "attributes": {"args": {"amount": 7}}}
    ],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a document and a conversation."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "d.yaml").write_text(DOCUMENT, encoding="utf-8")
    (tmp_path / "call.json").write_text(json.dumps(CONVERSATION), encoding="utf-8")
    return tmp_path


def judge(document: str = "evals/d.yaml", conversation: str = "call.json", *, blind: bool = False) -> Judged:
    """A document over a conversation, both in files; `blind` is without the evidence at hand."""
    checked = averment.Document.load(document)
    evidence = averment.Evidence.load(conversation)
    envelope = averment.run(checked, evidence)
    return judged(envelope, checked, conversation=conversation, evidence=None if blind else evidence.model)


def several() -> list[Judged]:
    """Conversations with every kind of result."""
    return [
        entry(
            [
                result("failed", common={"at": {"line": 3, "column": 5}, "tags": ["x", "x", "y"]}),
                result("warned", common={"severity": "warning", "owner": "me", "dimension": "policy"}),
                result("noted", common={"severity": "note"}, turns=[3], tool_calls=["c_0"], span_ids=["s"]),
                result("open", OPEN, code="trace_absent"),
                result("elsewhere", OPEN, code="not_applicable"),
                result("broken", OPEN, code="internal_error"),
                result("passed", Status.PASS),
            ]
        ),
        entry([result("failed")], "refuse", case=Case(suite="support", name="x", repeat=2, repeats=3)),
        entry([result("passed", Status.PASS)], conversation="other.json"),
    ]


@pytest.mark.usefixtures("folder")
def test_logs_fit_the_schema_that_oasis_publishes(validator: jsonschema.Draft4Validator) -> None:
    """Every object has its properties, and none that SARIF does not know."""
    for entries in (several(), [judge()], [judge(blind=True)], [entry([result("p", Status.PASS)])]):
        validator.validate(json.loads(render(entries)))


@pytest.mark.usefixtures("folder")
def test_a_reader_that_others_wrote_reads_the_same() -> None:
    """Rules are found by their index, levels and places by their names."""
    log = sarif_pydantic.Sarif.model_validate_json(render([judge()]))
    (run,) = log.runs
    rules = run.tool.driver.rules or []
    found = run.results or []
    assert [(each.rule_id, rules[each.rule_index or 0].id) for each in found] == [
        ("phrase", "phrase"),
        ("tool_call", "tool_call"),
    ]
    assert {each.level for each in found} == {sarif_pydantic.Level.ERROR}
    place = (found[1].locations or [])[0].physical_location
    assert place is not None
    assert place.artifact_location is not None
    assert place.region is not None
    assert place.artifact_location.uri == "evals/d.yaml"
    assert (place.region.start_line, place.region.start_column) == (6, 5)


@pytest.mark.usefixtures("folder")
def test_results_point_at_the_line_and_at_the_turn_or_call() -> None:
    """The primary location is the document's; what is in question is related, in the conversation's file."""
    done = results_of([judge()])[1]
    assert done["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "evals/d.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 6, "startColumn": 5},
    }
    (call,) = done["relatedLocations"]
    assert call["physicalLocation"] == {"artifactLocation": {"uri": "call.json", "uriBaseId": "%SRCROOT%"}}
    assert call["logicalLocations"] == [
        {
            "name": "call c_0 issue_refund",
            "fullyQualifiedName": "call.json#$.spans[0]",
            "kind": "call",
            "parentIndex": 0,
        }
    ]
    assert call["message"]["text"] == "call c_0 issue_refund, executed"
    assert done["message"]["text"].endswith("See [call c_0 issue_refund](1).")


@pytest.mark.usefixtures("folder")
def test_without_the_evidence_turns_and_calls_are_named() -> None:
    """Then no file is known for them, and code scanning refuses related locations without one."""
    done = results_of([judge(blind=True)])[1]
    assert "relatedLocations" not in done
    assert [each["name"] for each in done["locations"][0]["logicalLocations"]] == ["call.json", "call c_0"]
    assert "See [" not in done["message"]["text"]


def test_turns_are_quoted_without_personal_data(folder: Path) -> None:
    """Evidence is redacted before it is shown, and its line is told where records are lines."""
    lines = [{"role": "agent", "content": "hello"}, {"role": "user", "content": "I am jo@example.com"}]
    (folder / "chat.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")
    (folder / "p.yaml").write_text(
        "version: 1\nassertions:\n  - {id: no-mail, kind: pii, mode: must_not_leak, detectors: [email]}\n",
        encoding="utf-8",
    )
    text = render([judge("p.yaml", "chat.jsonl")])
    assert "jo@example.com" not in text
    (turn,) = json.loads(text)["runs"][0]["results"][0]["relatedLocations"]
    assert turn["message"]["text"].startswith('turn 1, user: "I am ')
    assert turn["physicalLocation"]["artifactLocation"]["uri"] == "chat.jsonl"
    assert turn["physicalLocation"]["region"] == {"startLine": 2}


def with_evidence(one: Result, **parts: Any) -> dict[str, Any]:
    """The second of two results, in a conversation with this evidence."""
    model = averment.Evidence(**parts).model
    named = [msgspec.structs.replace(each, name="call.json") for each in model.sources]
    model = msgspec.structs.replace(model, sources=tuple(named))
    first = entry([result("other")], conversation="first.json")
    return results_of([first, entry([one], evidence=model)])[1]


def test_some_of_many_grounds_are_shown() -> None:
    """The first ten, and how many more there are."""
    turns = [{"role": "agent", "text": str(index)} for index in range(13)]
    found = with_evidence(result(turns=list(range(13))), transcript=turns)
    assert [each["id"] for each in found["relatedLocations"]] == list(range(1, 11))
    assert found["message"]["text"].endswith("[turn 9](10) and 3 more.")


def test_turns_that_the_evidence_does_not_have_are_named() -> None:
    """An envelope that others made may name any."""
    found = with_evidence(result(turns=[0, 1]), transcript=[{"role": "agent", "text": "hi"}])
    assert [each["message"]["text"] for each in found["relatedLocations"]] == ['turn 0, agent: "hi"']
    assert [each["name"] for each in found["locations"][0]["logicalLocations"]] == ["call.json", "turn 1"]


def test_turns_belong_to_their_conversation() -> None:
    """Logical locations name it by its index in the run."""
    talk = [{"role": "agent", "text": "hi"}]
    found = with_evidence(result(turns=[0]), transcript=talk)
    (turn,) = found["relatedLocations"]
    assert turn["logicalLocations"][0]["parentIndex"] == 1
    assert found["locations"][0]["logicalLocations"][0]["index"] == 1


def test_properties_say_only_what_there_is() -> None:
    """What the document does not say of an assertion is left out."""
    (found,) = results_of([entry([result()])])
    assert found["properties"] == {
        "assertion": "a",
        "status": "FAIL",
        "code": "not_found",
        "severity": "error",
        "gates": True,
        "deterministic": True,
        "conversation": "call.json",
    }


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("conversation", "uri"),
    [
        ("calls/call.json", "calls/call.json"),
        ("calls/call.json [a [b]", "calls/call.json"),
        ("call.json", "call.json"),
        ("-", None),
        ("the conversation", None),
        ("calls/other.json", None),
        ("calls/call.json.gz", None),
    ],
)
def test_the_file_of_turns_is_the_one_that_the_conversation_is_named_by(
    conversation: str, uri: str | None
) -> None:
    """Evidence knows its source's name without folders; where there is no more, no file is made up."""
    done = results_of([msgspec.structs.replace(judge(), conversation=conversation)])[1]
    found = [each["physicalLocation"]["artifactLocation"]["uri"] for each in done.get("relatedLocations", ())]
    assert found == ([] if uri is None else [uri])


def test_parts_of_other_files_have_no_place_in_the_conversations_file(folder: Path) -> None:
    """A trace that was joined with a transcript may bear the same name in another folder."""
    (folder / "traces").mkdir()
    trace = {"conversation_id": "c1", "spans": CONVERSATION["spans"]}
    (folder / "traces" / "call.json").write_text(json.dumps(trace), encoding="utf-8")
    talk = {"conversation_id": "c1", "transcript": CONVERSATION["transcript"]}
    (folder / "call.json").write_text(json.dumps(talk), encoding="utf-8")
    evidence = averment.Evidence.load("call.json").merged(averment.Evidence.load("traces/call.json"))
    document = averment.Document.load("evals/d.yaml")
    envelope = averment.run(document, evidence)
    done = results_of([judged(envelope, document, conversation="call.json", evidence=evidence.model)])[1]
    assert "relatedLocations" not in done
    assert done["locations"][0]["logicalLocations"][1]["name"] == "call c_0 issue_refund"


def test_a_document_that_is_no_file_has_no_physical_location() -> None:
    """Nothing is made up for one that was given as values."""
    document = averment.Document.of(
        {"version": 1, "assertions": [{"id": "a", "kind": "phrase", "regex": "x"}]}
    )
    evidence = averment.Evidence(transcript=[{"role": "agent", "text": "y"}])
    envelope = averment.run(document, evidence)
    (one,) = json.loads(averment.report.sarif(envelope, evidence, document=document))["runs"][0]["results"]
    (location,) = one["locations"]
    assert list(location) == ["logicalLocations"]


@pytest.mark.parametrize(
    ("one", "policy", "kind", "level"),
    [
        (result(), "report", "fail", "error"),
        (result(common={"severity": "warning"}), "report", "fail", "warning"),
        (result(common={"severity": "note"}), "fail", "fail", "note"),
        (result("a", OPEN, code="trace_absent"), "report", "open", "none"),
        (result("a", OPEN, code="trace_absent"), "refuse", "open", "none"),
        (result("a", OPEN, code="internal_error"), "report", "open", "none"),
    ],
)
def test_fail_has_a_level_and_what_is_undecided_is_open(
    one: Result, policy: str, kind: str, level: str
) -> None:
    """SARIF wants the level `none` of everything that is not of kind `fail`."""
    (found,) = results_of([entry([one], policy)])
    assert (found["kind"], found["level"]) == (kind, level)
    assert found["message"]["text"].startswith("a: " if kind == "fail" else "a is INCONCLUSIVE: ")


def test_whether_a_result_gates_is_told() -> None:
    """The level can't tell it of what is undecided."""
    one = result("a", OPEN, code="trace_absent")
    assert [
        results_of([entry([one], policy)])[0]["properties"]["gates"]
        for policy in ("report", "fail", "refuse")
    ] == [False, True, True]


def test_passes_and_what_is_not_applicable_are_counted_and_left_out() -> None:
    """GitHub shows whatever is a result as an alert; and nothing is added up to one number."""
    run = run_of(several())
    assert [each["properties"]["assertion"] for each in run["results"]] == [
        *("failed", "warned", "noted", "open", "broken"),
        "failed",
    ]
    assert run["properties"] == {
        "conversations": 3,
        "deterministic": {"pass": 2, "fail": 2, "inconclusive": 2},
        "warnings": {"pass": 0, "fail": 2, "inconclusive": 0},
        "notApplicable": 1,
        "judge": {"pass": 0, "fail": 0},
        "leftOut": 0,
        "note": run["properties"]["note"],
    }
    assert "PASS" in run["properties"]["note"]


def test_an_internal_error_says_that_the_run_was_not_successful() -> None:
    """The notification names the rule and the place; without one, the run was."""
    (invocation,) = run_of(several())["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["exitCode"] == 3
    (told,) = invocation["toolExecutionNotifications"]
    assert told["level"] == "error"
    assert told["message"]["text"] == "broken: not found\nIn call.json."
    assert told["associatedRule"] == {"id": "phrase", "index": 0}
    assert told["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "evals/d.yaml"
    assert run_of(several()[1:])["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]
    many = [entry([result("b", OPEN, code="internal_error")], conversation=f"{i}.json") for i in range(103)]
    notifications = run_of(many)["invocations"][0]["toolExecutionNotifications"]
    assert len(notifications) == 101
    assert notifications[-1]["message"]["text"] == "3 more checks failed themselves."


EDITS: dict[str, Callable[[str], str]] = {
    "blank lines": lambda text: f"\n\n{text}".replace("assertions:\n", "assertions:\n\n\n"),
    "a comment": lambda text: text.replace("  - id: said", "  # it must be said\n  - id: said"),
    "an assertion above": lambda text: text.replace(
        "assertions:\n", "assertions:\n  - {id: new, kind: phrase, regex: refunded}\n"
    ),
    "an assertion above that fails": lambda text: text.replace(
        "assertions:\n", "assertions:\n  - {id: new, kind: phrase, regex: nowhere}\n"
    ),
    "another order": lambda text: re.sub(r"(  - id: said\n.*\n.*\n)(.*\n)", r"\2\1", text),
    "other wording": lambda text: text.replace("regex: cancelled", "regex: was cancelled"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_fingerprints_stay_when_the_document_is_edited_elsewhere(edit: str, folder: Path) -> None:
    """Lines move; the result is still the same one."""
    before = {each["properties"]["assertion"]: each for each in results_of([judge()])}
    text = EDITS[edit](DOCUMENT)
    assert text != DOCUMENT
    (folder / "evals" / "d.yaml").write_text(text, encoding="utf-8")
    after = {each["properties"]["assertion"]: each for each in results_of([judge()])}
    for name in ("said", "done"):
        assert after[name]["partialFingerprints"] == before[name]["partialFingerprints"]
    if "above" in edit or edit == "blank lines":
        moved = [each["done"]["locations"][0]["physicalLocation"]["region"] for each in (before, after)]
        assert moved[0] != moved[1]


def test_fingerprints_stay_when_the_folder_moves(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No path of a machine is in them, however files were given."""
    before = fingerprints_of([judge()])
    assert fingerprints_of([judge("./evals/../evals//d.yaml", "call.json")]) == before
    assert fingerprints_of([judge(str(folder / "evals" / "d.yaml"), str(folder / "call.json"))]) == before
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "checkout"
    folder.rename(elsewhere)
    folder.mkdir()
    monkeypatch.chdir(elsewhere)
    assert fingerprints_of([judge()]) == before
    assert fingerprints_of([judge(blind=True)]) == before


@pytest.mark.parametrize(
    "other",
    [
        {"result": {"id": "b"}},
        {"result": {"kind": "pii"}},
        {"result": {"code": "wrong_order"}},
        {"files": ["evals/e.yaml"]},
        {"conversation": "other.json"},
        {"case": Case(suite="support")},
        {"case": Case(suite="support", name="x")},
        {"result": {"at": {"line": 1, "column": 1, "file": "x.yaml"}}, "document": "e.yaml"},
    ],
)
def test_what_is_another_result_has_another_fingerprint(other: dict[str, Any]) -> None:
    """The file, the assertion, its kind, why, and the conversation."""
    base = entry([result()])
    assert fingerprints_of([base]) != fingerprints_of([changed(base, **other)])


def test_suite_case_and_repetition_are_in_fingerprints() -> None:
    """Each conversation of a suite has results of its own, whatever order it is judged in."""
    cases = [
        Case(suite=suite, name=name, repeat=repeat, repeats=3)
        for suite in ("support", "sales")
        for name in ("x", "y")
        for repeat in (1, 2)
    ]
    entries = [entry([result()], case=case) for case in cases]
    assert fingerprints_of(entries) == fingerprints_of(entries[::-1])[::-1]


def test_where_produced_files_are_kept_is_not_in_fingerprints() -> None:
    """Nor are the number of repetitions, the verdict's words and the evidence."""
    case = Case(suite="support", name="x", repeat=2, repeats=3)
    more = Case(suite="support", name="x", repeat=2, repeats=5)
    one = entry([result()], case=case, conversation="kept/1.json")
    other = entry([result(reason="else")], "fail", case=more, conversation="other/2.json")
    assert fingerprints_of([one]) == fingerprints_of([other])


NAMES = st.sampled_from(["a", "b", "a#2", "b: a", "\ud800"])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(NAMES, NAMES, st.none() | st.tuples(NAMES, st.none() | NAMES, st.integers(1, 3))),
        max_size=12,
    )
)
def test_no_two_results_have_the_same_fingerprint(
    found: list[tuple[str, str, tuple[str, str | None, int] | None]],
) -> None:
    """Not even if the same conversation is judged twice."""
    base = entry([result()])
    entries = [
        changed(
            base,
            result={"id": id_},
            conversation=name,
            case=None if case is None else Case(suite=case[0], name=case[1], repeat=case[2], repeats=3),
        )
        for id_, name, case in found
    ]
    made = fingerprints_of(entries)
    assert len(set(made)) == len(made) == len(found)


def test_a_conversation_of_the_same_name_keeps_its_own_fingerprint() -> None:
    """Which of them it is does not hang on what became of the others."""
    both = [entry([result()]), entry([result()])]
    fixed = [entry([result("a", Status.PASS)]), entry([result()])]
    other = [entry([result("a", OPEN, code="trace_absent")]), entry([result()])]
    assert fingerprints_of(both)[1:] == fingerprints_of(fixed) == fingerprints_of(other)[1:]


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("evals/d.yaml", "evals/d.yaml"),
        ("./d.yaml", "d.yaml"),
        ("a b.yaml", "a%20b.yaml"),
        ("a:b.yaml", "a%3Ab.yaml"),
        ("100%.yaml", "100%25.yaml"),
        ("a?b#c.yaml", "a%3Fb%23c.yaml"),
        ("a%20b.yaml", "a%2520b.yaml"),
        ("ü.yaml", "%C3%BC.yaml"),
        ("\udcff.yaml", "%FF.yaml"),
        ("\ud800.yaml", "%ED%A0%80.yaml"),
        ("a\x00\n\u202e.yaml", "a%00%0A%E2%80%AE.yaml"),
        ("javascript:alert(1)", "javascript%3Aalert%281%29"),
        ("//evil.example/x.yaml", "x.yaml"),
        ("/etc/passwd", "passwd"),
        ("../up.yaml", "../up.yaml"),
        ("<script>\"'", "%3Cscript%3E%22%27"),
    ],
)
def test_names_of_files_become_relative_uris(
    name: str, uri: str, validator: jsonschema.Draft4Validator
) -> None:
    """Every character stands for itself: none is a scheme, a host, a query or an escape."""
    log = json.loads(render([entry([result()], files=[name])]))
    validator.validate(log)
    physical = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": uri, "uriBaseId": "%SRCROOT%"}


@settings(deadline=None)
@given(st.text(st.characters(), min_size=1, max_size=20))
def test_a_uri_leads_back_to_the_name(name: str) -> None:
    """It is relative, without query and fragment, and in ASCII."""
    found = results_of([entry([result()], files=[name])])[0]["locations"][0]
    uri = found["physicalLocation"]["artifactLocation"]["uri"]
    parts = urlsplit(uri)
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("", "", "", "")
    assert uri.isascii()
    path = file_path(name)
    assert not path.startswith("/")
    assert unquote_to_bytes(uri) in {
        path.encode("utf-8", errors)
        for errors in ("surrogateescape", "surrogatepass")
        if errors == "surrogatepass" or not re.search("[\ud800-\udc7f\udd00-\udfff]", path)
    }


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


TEXTS = st.text(st.characters(), min_size=1, max_size=8)  # even escaped, none is cut


@settings(max_examples=60, deadline=None)
@given(id_=TEXTS, kind=TEXTS, code=TEXTS, reason=TEXTS, public=TEXTS, name=TEXTS, found=TEXTS, tag=TEXTS)
def test_any_text_anywhere_gives_a_valid_log_with_its_visible_form(
    validator: jsonschema.Draft4Validator,
    *,
    id_: str,
    kind: str,
    code: str,
    reason: str,
    public: str,
    name: str,
    found: str,
    tag: str,
) -> None:
    """Whatever stands in a document or in evidence is text, which can be seen."""
    one = changed(
        entry([result()]),
        result={
            "id": id_, "kind": kind, "code": code, "reason": reason, "public_reason": public,
            "description": reason, "owner": found, "dimension": tag, "tags": [tag, found],
            "tool_calls": [found], "span_ids": [name], "turns": [2],
            "mismatches": [{"path": name, "expected": found, "found": tag}],
        },
        document=name,
        files=[name],
        case=Case(suite=name, name=found),
    )  # fmt: skip
    text = render([one])
    text.encode("utf-8")
    log = json.loads(text)
    validator.validate(log)
    for string in strings(log):
        assert all(char.isprintable() or char == "\n" for char in string)
    (made,) = log["runs"][0]["results"]
    label = visible(f"{name}: {found}")
    assert made["properties"]["assertion"] == visible(id_)
    assert made["properties"]["conversation"] == label
    assert len(visible(kind)) > 60 or made["ruleId"] == visible(kind)
    assert [each["name"] for each in made["locations"][0]["logicalLocations"]] == [
        *(label, "turn 2", f"call {visible(found)}", f"span {visible(name)}")
    ]


@pytest.mark.parametrize(
    "text",
    ["[click](https://evil.example)", "{0} and {{1}}", 'args {"amount": {"gt": 5}}', "[a](1)", "![x](y)"],
)
def test_quoted_text_is_neither_a_link_nor_a_placeholder(text: str) -> None:
    """A reader that follows SARIF 3.11.5 and 3.11.6 shows what was quoted."""
    message = results_of([entry([result(text, reason=text, public_reason=text)])])[0]["message"]["text"]
    assert not re.search(r"\[[^\]]*\]\(", message)
    assert not re.search(r"\{[0-9]+\}", message.replace("{{", "").replace("}}", ""))
    shown = message.replace("{{", "{").replace("}}", "}")
    assert shown.splitlines() == [
        f"{text}: {text} (not_found).".replace("](", "] ("),
        "In call.json.",
        text.replace("](", "] ("),
    ]


def test_names_of_calls_cannot_end_a_link(folder: Path) -> None:
    """Brackets in the text of a link are escaped, as SARIF 3.11.6 wants it."""
    call = {
        "type": "tool_call",
        "id": "s1",
        "name": "a](https://evil.example)[\\",
        "attributes": {"args": {}},
    }
    (folder / "call.json").write_text(json.dumps({**CONVERSATION, "spans": [call]}), encoding="utf-8")
    text = DOCUMENT.replace(
        "name: issue_refund, args: {amount: 5}", "name: 'a](https://evil.example)[\\', absent: true"
    )
    (folder / "evals" / "d.yaml").write_text(text, encoding="utf-8")
    done = next(each for each in results_of([judge()]) if each["properties"]["assertion"] == "done")
    assert done["message"]["text"].endswith("See [call c_0 a\\](https://evil.example)\\[\\\\](1).")


def test_every_kind_has_a_rule_that_code_scanning_can_show(validator: jsonschema.Draft4Validator) -> None:
    """An id, a name and descriptions within its limits; kinds that we don't know have one as well."""
    base = entry([result()])
    kinds = [*reversed(KINDS), "unheard_of", "x" * 1_000, "x" * 1_001]
    log = json.loads(render([changed(base, result={"kind": kind}) for kind in kinds]))
    validator.validate(log)
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [*KINDS, "unheard_of", "x" * 57 + "..."]
    for rule in rules:
        assert 0 < len(rule["shortDescription"]["text"]) <= 1024
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert rule["help"]["text"]
    assert "not_found: What must occur does not." in rules[0]["help"]["text"]
    indexes = [each["ruleIndex"] for each in log["runs"][0]["results"]]
    assert [rules[index]["id"] for index in indexes[: len(KINDS)]] == list(reversed(KINDS))


def test_what_code_scanning_does_not_take_is_left_out_and_told(
    monkeypatch: pytest.MonkeyPatch, validator: jsonschema.Draft4Validator
) -> None:
    """Whatever fails for a reason of its own stands there before anything does twice, errors first; the order stays."""
    monkeypatch.setattr(SARIF, "MAX_RESULTS", 6)
    rows = [
        result("warned", common={"severity": "warning"}),
        result("often"),
        result("open", OPEN, code="trace_absent"),
    ]
    entries = [entry(rows, conversation=f"{index}.json") for index in range(3)]
    once = result("once", common={"severity": "note"})
    entries.append(entry([once, result("often", code="wrong_order")], conversation="last.json"))
    log = json.loads(render(entries))
    validator.validate(log)
    (run,) = log["runs"]
    told = [(each["properties"]["conversation"], each["properties"]["assertion"]) for each in run["results"]]
    assert told == [
        *(("0.json", "warned"), ("0.json", "often"), ("0.json", "open")),
        ("1.json", "often"),
        *(("last.json", "once"), ("last.json", "often")),
    ]
    assert run["properties"]["leftOut"] == 5
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["level"] == "warning"
    assert notification["message"]["text"].startswith("5 results of 11 are left out")
    assert run["invocations"][0]["executionSuccessful"] is True
    whole = {each["properties"]["conversation"] for each in run["results"]}
    assert {each["name"] for each in run["logicalLocations"]} == whole


def test_left_out_results_change_no_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told has the fingerprint that it has where all are."""
    entries = [entry([result()]) for _ in range(4)]
    everything = fingerprints_of(entries)
    monkeypatch.setattr(SARIF, "MAX_RESULTS", 2)
    assert fingerprints_of(entries) == everything[:2]


def test_logs_are_bounded_whatever_texts_are(validator: jsonschema.Draft4Validator) -> None:
    """A word of a megabyte is cut wherever it stands, and results stop before code scanning would refuse them."""
    word = "\u202e" * 2**20
    base = changed(
        entry([result()]),
        result={
            "id": word, "kind": word, "code": word, "reason": word, "public_reason": word, "owner": word,
            "description": word, "dimension": word, "tags": [word] * 3, "tool_calls": [word] * 50,
            "mismatches": [{"path": word, "expected": word, "found": word}] * 50,
        },
        files=[word],
        case=Case(suite=word, name=word),
    )  # fmt: skip
    text = render([base])
    validator.validate(json.loads(text))
    # The URI is the file's own name and can't be cut.
    assert len(text) - len(word.encode()) * 3 * text.count('"uri"') < 50_000


def test_results_stop_where_there_is_no_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes of all results are limited, whatever their number."""
    entries = [entry([result()], conversation=f"{index}.json") for index in range(20)]
    monkeypatch.setattr(SARIF, "MAX_BYTES", 5_000)
    run = run_of(entries)
    size = len(json.dumps(run["results"], separators=(",", ":")))
    assert 3_000 < size < 5_000 + 20
    assert run["properties"]["leftOut"] == 20 - len(run["results"])


def test_the_same_verdicts_give_the_same_bytes_everywhere(folder: Path) -> None:
    """Hash seeds, time zones, locales and working folders change nothing."""
    script = (
        "import averment, sys\n"
        "evidence = averment.Evidence.load('call.json')\n"
        "document = averment.Document.load('evals/d.yaml')\n"
        "log = averment.report.sarif(averment.run(document, evidence), evidence, document=document)\n"
        "sys.stdout.buffer.write(log.encode())\n"
    )
    other = folder / "moved"
    (other / "evals").mkdir(parents=True)
    for name in ("call.json", "evals/d.yaml"):
        (other / name).write_bytes((folder / name).read_bytes())
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=where,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale, "PYTHONUTF8": "0"},
            capture_output=True,
            check=True,
        ).stdout
        for where, seed, zone, locale in ((folder, "1", "UTC", "C"), (other, "2", "Asia/Tokyo", "C.UTF-8"))
    }
    (log,) = found
    assert log.endswith(b"}\n")
    assert str(folder).encode() not in log
    assert len(json.loads(log)["runs"][0]["results"]) == 2
