"""JUnit XML, validated by the schemas that others wrote and read by a reader that others wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import junitparser
import pytest
import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as st

import averment
from averment.assertions.base import Status
from averment.engine import Envelope
from averment.engine.envelope import Result
from averment.report.junit import render
from averment.text.shown import visible
from averment.verdicts.judged import Case, Judged, judged

VENDOR = Path(__file__).parents[1] / "vendor"
HOSTILE = "a\x00b \x1b[31m]]> </failure>&amp; \u202e \ud800 \ufffe \U0001f600\r\n\t\"'"


def result(id_: str = "a", status: Status = Status.FAIL, **fields: Any) -> Result:
    """A result as the engine makes it, with what the document says of the assertion in `common`."""
    common = {"id": id_, "kind": "phrase", "deterministic": True, **fields.pop("common", {})}
    if common.get("severity") == "error":
        del common["severity"]  # an envelope has it only where it is another
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
    given = {"conversation": "call.json", "document": "evals/d.yaml", **fields}
    return Judged(envelope=envelope.to_dict(), files=["evals/d.yaml"] * len(results), **given)


def parsed(entries: Sequence[Judged]) -> ET.Element:
    return ET.fromstring(render(entries))  # noqa: S314 - it is our own


def cases_of(entries: Sequence[Judged]) -> list[ET.Element]:
    return list(parsed(entries).iter("testcase"))


def names_of(entries: Sequence[Judged]) -> list[tuple[str | None, str | None]]:
    return [(case.get("classname"), case.get("name")) for case in cases_of(entries)]


@pytest.fixture(scope="module")
def jenkins() -> xmlschema.XMLSchema:
    """The schema of Jenkins' xunit plugin."""
    return xmlschema.XMLSchema(str(VENDOR / "junit-10.xsd"))


@pytest.fixture(scope="module")
def ant() -> xmlschema.XMLSchema:
    """The schema of what Apache Ant writes."""
    return xmlschema.XMLSchema(str(VENDOR / "junit-windyroad.xsd"))


OPEN = Status.INCONCLUSIVE
VERDICTS: list[tuple[Status, str | None, str, str, str | None]] = [
    (Status.PASS, None, "error", "report", None),
    (Status.PASS, None, "note", "refuse", None),
    (Status.FAIL, "not_found", "error", "report", "failure"),
    (Status.FAIL, "not_found", "error", "refuse", "failure"),
    (Status.FAIL, "not_found", "warning", "fail", "skipped"),
    (Status.FAIL, "not_found", "note", "report", "skipped"),
    (OPEN, "trace_absent", "error", "report", "skipped"),
    (OPEN, "trace_absent", "error", "fail", "error"),
    (OPEN, "trace_absent", "error", "refuse", "error"),
    (OPEN, "not_produced", "error", "refuse", "error"),
    (OPEN, "trace_absent", "warning", "fail", "skipped"),
    (OPEN, "not_applicable", "error", "report", "skipped"),
    (OPEN, "not_applicable", "error", "fail", "skipped"),
    (OPEN, "not_applicable", "error", "refuse", "skipped"),
    (OPEN, "internal_error", "error", "report", "error"),
    (OPEN, "internal_error", "note", "report", "error"),
]


@pytest.mark.parametrize(("status", "code", "severity", "policy", "tag"), VERDICTS)
def test_every_verdict_is_what_a_gate_would_say(
    status: Status, code: str | None, severity: str, policy: str, tag: str | None
) -> None:
    """FAIL fails, INCONCLUSIVE is skipped or, where it gates, an error; what never gates is never a failure."""
    one = result(status=status, common={"severity": severity}, **({"code": code} if code else {}))
    suite = parsed([entry([one], policy)])[0]
    (case,) = suite.iter("testcase")
    assert [child.tag for child in case] == ([tag] if tag else [])
    assert [int(suite.get(f"{name}", "")) for name in ("tests", "failures", "errors", "skipped")] == [
        1,
        tag == "failure",
        tag == "error",
        tag == "skipped",
    ]
    if tag:
        assert case[0].get("type") == code


def test_the_message_says_which_kind_of_skip_it_is() -> None:
    """What is skipped is told apart: undecided, not applicable, or a warning that failed."""
    several = [
        result("a", OPEN, code="trace_absent", public_reason="there is no trace"),
        result("b", OPEN, code="not_applicable", public_reason="another language"),
        result("c", common={"severity": "warning"}, public_reason="too slow"),
    ]
    assert [bool(case[0].text) for case in cases_of([entry(several)])] == [True, False, True]
    assert [case[0].get("message") for case in cases_of([entry(several)])] == [
        "INCONCLUSIVE: there is no trace",
        "not applicable: another language",
        "FAIL, but a warning never gates: too slow",
    ]


def test_a_failure_has_reason_place_and_what_was_expected_and_found() -> None:
    """The text names the line, says why, and shows each difference once."""
    place = {"at": {"line": 4, "column": 5}, "description": "The order says so."}
    differs = {"mismatches": [{"path": "status", "expected": '"refunded"', "found": '"none"'}]}
    gap = {"channel": "state", "state": "absent", "source_format": "voice", "how": "dump the orders"}
    one = result(common=place, details=differs, turns=[3], tool_calls=["c_0"], evidence_gap=gap)
    (case,) = cases_of([entry([one])])
    assert case[0].get("message") == "not found"
    assert (case[0].text or "").splitlines() == [
        "FAIL at evals/d.yaml:4:5",
        "The order says so.",
        "it says",
        'status: expected "refunded", found "none"',
        "to record it: dump the orders",
        "turns: 3",
        "calls: c_0",
    ]


def test_a_difference_that_the_reason_tells_is_not_told_again() -> None:
    """Most reasons name what was expected and found."""
    differs = {"mismatches": [{"path": "a", "expected": "1", "found": "2"}]}
    (case,) = cases_of([entry([result(reason="the row: a: expected 1, found 2", details=differs)])])
    assert (case[0].text or "").splitlines()[1:] == ["the row: a: expected 1, found 2"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"public_reason": "public", "reason": "quotes"}, "public"),
        ({"public_reason": None, "reason": "quotes"}, "quotes"),
        ({"public_reason": None, "reason": None}, "What must occur does not."),
        ({"public_reason": None, "reason": None, "code": "unheard_of"}, "FAIL"),
    ],
)
def test_the_message_quotes_no_evidence_where_there_is_one_that_does_not(
    fields: dict[str, Any], message: str
) -> None:
    """Lists of tests are widely seen; the text has the rest."""
    # Put together by hand: an envelope of ours has no code that nobody has heard of.
    found = entry([result()])
    results = [{**found.results[0], **fields}]
    changed = Judged(
        envelope={**found.envelope, "results": results},
        conversation="call.json",
        document="d.yaml",
        files=["d.yaml"],
    )
    assert cases_of([changed])[0][0].get("message") == message


STATUSES = st.sampled_from(
    [(status, code, severity) for status, code, severity, _, _ in VERDICTS],
)


@settings(max_examples=40, deadline=None)
@given(st.lists(STATUSES, max_size=6), st.sampled_from(["report", "fail", "refuse"]))
def test_there_is_a_failure_or_an_error_exactly_where_the_exit_code_is_not_zero(
    found: list[tuple[Status, str | None, str]], policy: str
) -> None:
    """A tab of tests is green when the gate is, and red when it is not; and counts are exact."""
    results = [
        result(f"a{index}", status, common={"severity": severity}, **({"code": code} if code else {}))
        for index, (status, code, severity) in enumerate(found)
    ]
    judged_ = entry(results, policy)
    suite = junitparser.JUnitXml.fromstring(render([judged_]).encode())
    (only,) = suite
    assert bool(only.failures + only.errors) is (judged_.envelope["exit_code"] != 0)
    states = [type(state) for case in only for state in case.result]
    assert (only.tests, only.failures, only.errors, only.skipped) == (
        len(results),
        states.count(junitparser.Failure),
        states.count(junitparser.Error),
        states.count(junitparser.Skipped),
    )
    assert sum(not case.result for case in only) == sum(status is Status.PASS for status, *_ in found)


def several() -> list[Judged]:
    """Conversations with every verdict, one of a suite, one without results."""
    results = [
        result(f"a{index}", status, common={"severity": severity}, **({"code": code} if code else {}))
        for index, (status, code, severity, _, _) in enumerate(VERDICTS)
    ]
    return [
        entry(results),
        entry(results, "refuse", case=Case(suite="support", name="lost parcel", repeat=2, repeats=3)),
        entry([], "fail", conversation="empty.json"),
        entry([result(HOSTILE, common={"description": HOSTILE}, reason=HOSTILE)], conversation=HOSTILE),
    ]


def test_reports_fit_the_schema_of_jenkins(jenkins: xmlschema.XMLSchema) -> None:
    """Nothing is added to it, nothing left out."""
    jenkins.validate(render(several()))


def test_reports_fit_the_schema_of_ant_but_for_when_and_where(ant: xmlschema.XMLSchema) -> None:
    """It wants a time of day and a host, which a report that depends on neither does not make up."""
    root = parsed(several())
    for suite in root:
        assert "timestamp" not in suite.attrib
        assert "hostname" not in suite.attrib
        suite.attrib |= {"timestamp": "1970-01-01T00:00:00", "hostname": "nowhere"}
    ant.validate(root)


def test_no_time_is_told() -> None:
    """What takes time is the conversation, not the verdict."""
    root = parsed(several())
    assert {each.get("time") for each in root.iter() if each.tag in ("testsuite", "testcase")} == {"0"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b", "a\\u0000b"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("]]>", "]]>"),
        ("</failure><x/>", "</failure><x/>"),
        ("&lt; &#0;", "&lt; &#0;"),
        ("\u202eevil", "\\u202eevil"),
        ("\ud800", "\\ud800"),
        ("\udcff", "\\udcff"),
        ("\ufffe\uffff", "\\ufffe\\uffff"),
        ("a\r\nb\tc", "a\\u000d\\u000ab\\u0009c"),
        ("  two  spaces ", "  two  spaces "),
        ("\U0001f600 ü", "\U0001f600 ü"),
    ],
)
def test_what_xml_cannot_hold_is_shown_as_an_escape(text: str, shown: str) -> None:
    """Control characters and lone surrogates become text that can be seen; markup is text anyway."""
    one = result(text, reason=text, public_reason=text, common={"description": text})
    (case,) = cases_of([entry([one])])
    assert case.get("name") == f"{shown} [call.json]"
    assert case[0].get("message") == shown
    assert (case[0].text or "").split("\n") == ["FAIL at evals/d.yaml", shown, shown]


TEXTS = st.text(st.characters(), min_size=1, max_size=8)  # even escaped, none is cut


@settings(max_examples=100, deadline=None)
@given(
    id_=TEXTS, code=TEXTS, reason=TEXTS, public=TEXTS, description=TEXTS, name=TEXTS, path=TEXTS, found=TEXTS
)
def test_any_text_anywhere_is_well_formed_and_comes_back_as_it_is_shown(  # noqa: PLR0917 - by keyword
    id_: str, code: str, reason: str, public: str, description: str, name: str, path: str, found: str
) -> None:
    """Whatever stands in a document or in evidence, a reader gets its visible form, byte for byte."""
    base = entry([result()])
    one = {
        **base.results[0],
        "id": id_,
        "code": code,
        "reason": reason,
        "public_reason": public,
        "description": description,
        "at": {"line": 1, "column": 2},
        "tool_calls": [found],
        "mismatches": [{"path": path, "expected": found, "found": found}],
        "not_scanned": [found],
    }
    changed = Judged(
        envelope={**base.envelope, "results": [one]},
        conversation="call.json",
        document=f"evals/{name.replace('/', '')}.yaml",
        files=["d.yaml"],
        case=Case(suite=name, name=found),
    )
    render([changed]).encode("utf-8")
    suite = parsed([changed])[0]
    (case,) = suite.iter("testcase")
    assert case.get("name") == f"{visible(id_)} [{visible(f'{name}: {found}')}]"
    assert case[0].get("message") == visible(public)
    assert case[0].get("type") == visible(code)
    lines = (case[0].text or "").split("\n")
    assert lines[:3] == ["FAIL at d.yaml:1:2", visible(description), visible(reason)]
    assert lines[-1] == f"calls: {visible(found)}"
    assert f"{visible(id_)} did not look at: {visible(found.replace('_', ' '))}" in (
        suite.findtext("system-out") or ""
    ).split("\n")


def test_reports_are_bounded_whatever_texts_are() -> None:
    """A word of a megabyte is cut wherever it stands."""
    word = "\x01" * 2**20
    one = result(
        word,
        code=None,
        reason=word,
        public_reason=word,
        common={"description": word, "at": {"line": 1, "column": 1}},
        turns=list(range(100_000)),
        tool_calls=[word] * 3,
        details={"mismatches": [{"path": word, "expected": word, "found": word}] * 100},
    )
    base = entry([result()])
    long = Judged(
        envelope={**base.envelope, "results": [one.to_dict()]},
        conversation=word,
        document=word,
        files=[word],
        case=Case(suite=word, name=word),
    )
    text = render([long])
    assert len(text) < 80_000
    assert "... and 80 more that differ" in text
    assert "and 99980 more" in text


def of_suite(names: Iterable[str], *, repeats: int = 1) -> list[Judged]:
    return [
        entry([result()], case=Case(suite="support", name=name, repeat=repeat, repeats=repeats))
        for name in names
        for repeat in range(1, repeats + 1)
    ]


def test_a_test_is_known_by_document_assertion_and_conversation() -> None:
    """`classname` and `name` have no line, no folder of this machine, and no extension that dots would split."""
    assert names_of([entry([result("refund-is-real")])]) == [("evals.d", "refund-is-real [call.json]")]
    assert names_of([entry([result()], document="./evals//d.yaml + x/e.yml")]) == [
        ("evals.d + x.e", "a [call.json]")
    ]
    absolute = str(Path("evals/d.yaml").absolute())
    elsewhere = entry([result()], document=absolute, conversation="/other/call.json")
    assert names_of([elsewhere]) == [("evals.d", "a [call.json]")]
    assert "/other" not in render([elsewhere])
    assert absolute not in render([elsewhere])


def test_repetitions_keep_their_names_when_others_are_added() -> None:
    """A test has a history only while its name stays."""
    once, thrice = names_of(of_suite(["x", "y"])), names_of(of_suite(["x", "y"], repeats=3))
    assert [name for _, name in thrice] == [
        *("a [support: x]", "a [support: x #2]", "a [support: x #3]"),
        *("a [support: y]", "a [support: y #2]", "a [support: y #3]"),
    ]
    assert set(once) < set(thrice)


def test_no_two_tests_have_the_same_name() -> None:
    """Conversations of the same name, names that look numbered, and those that are alike where they are cut."""
    long = [entry([result("x" * 1_000 + end)]) for end in "ab"]
    alike = [entry([result("a", OPEN), result("b")], conversation="[c].json") for _ in range(3)]
    tricky = [entry([result()], conversation=name) for name in ("c", "c] (2)", "c")]
    entries = [*long, *alike, *tricky, *of_suite(["x", "x"], repeats=2)]
    assert len(set(names_of(entries))) == len(names_of(entries)) == 2 + 6 + 3 + 4
    suites = [suite.get("name") for suite in parsed(entries)]
    assert len(set(suites)) == len(suites)


def test_suites_say_what_was_not_looked_at_and_by_what_they_were_judged() -> None:
    """Their output has the envelope's note; the digests stand in properties."""
    looked = result("pii", Status.PASS, details={"not_scanned": ["spoken_digits", "state"]})
    case = Case(suite="support", name="x", repeat=2, repeats=3)
    suite = parsed([entry([looked], "fail", case=case)])[0]
    told = (suite.findtext("system-out") or "").splitlines()
    assert told[0].startswith("inconclusive_policy fail: 1 pass, 0 fail, 0 inconclusive of 1")
    assert told[0].endswith("0 judge-scored assertions ran.")
    assert told[1:] == ["pii did not look at: spoken digits, state"]
    assert {each.get("name"): each.get("value") for each in suite.iter("property")} == {
        "document": "evals/d.yaml",
        "document_sha256": "sha256:" + 64 * "0",
        "conversation": "call.json",
        "evidence_sha256": "sha256:" + 64 * "1",
        "suite": "support",
        "case": "x",
        "repeat": "2 of 3",
        "inconclusive_policy": "fail",
        "exit_code": "0",
    }


def test_a_document_and_a_conversation_are_reported_as_they_were_judged() -> None:
    """What the engine writes is what a reader of the report sees."""
    document = averment.Document.of(
        {
            "version": 1,
            "assertions": [
                {"id": "said", "kind": "phrase", "regex": "refund"},
                {"id": "done", "kind": "tool_call", "name": "issue_refund"},
            ],
        }
    )
    evidence = averment.Evidence(transcript=[{"role": "agent", "text": "refund sent"}])
    envelope = averment.run(document, evidence)
    read = junitparser.JUnitXml.fromstring(averment.report.junit(envelope, document=document).encode())
    ((said, done),) = read
    assert said.is_passed
    assert done.is_skipped
    assert (said.name, said.classname) == ("said [the conversation]", "the document")
    (skipped,) = done.result
    assert skipped.type == "trace_absent"
    assert render([judged(envelope, document, conversation="the conversation")]) == averment.report.junit(
        envelope, document=document
    )


def test_the_call_that_comes_nearest_is_told() -> None:
    """What rests on no call at all may still have one that nearly was as required."""
    near = {
        "nearest_miss": {
            "tool_call": "c_7",
            "mismatches": [{"path": "amount", "expected": "5", "found": "7"}],
        }
    }
    ((case,), (twice,)) = (
        cases_of([entry([result(details=near, tool_calls=calls)])]) for calls in ([], ["c_7"])
    )
    told = ["FAIL at evals/d.yaml", "it says", "amount: expected 5, found 7", "calls: c_7"]
    assert (case[0].text or "").splitlines() == (twice[0].text or "").splitlines() == told


def test_the_same_verdicts_give_the_same_bytes_everywhere(tmp_path: Path) -> None:
    """Hash seeds, time zones, locales and working folders change nothing."""
    (tmp_path / "e.json").write_text(json.dumps(several()[0].envelope), encoding="utf-8")
    (tmp_path / "sub").mkdir()
    script = "import averment, json, sys; sys.stdout.buffer.write(averment.report.junit(json.load(open(sys.argv[1], 'rb'))).encode())"
    found = {
        subprocess.run(
            [sys.executable, "-c", script, file],
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale, "PYTHONUTF8": "0"},
            capture_output=True,
            check=True,
        ).stdout
        for folder, file, seed, zone, locale in (
            (tmp_path, "e.json", "1", "UTC", "C"),
            (tmp_path / "sub", "../e.json", "2", "Asia/Tokyo", "C.UTF-8"),
        )
    }
    assert len(found) == 1
    assert next(iter(found)).startswith(b'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')
