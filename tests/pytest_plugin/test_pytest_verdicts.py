"""What a verdict is to pytest: passed, failed, skipped, expected to fail, or an error; and how it is explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from averment import engine
from averment.assertions.phrase import Phrase
from averment.pytesting import collect

Lay = Callable[..., None]


def _one(fields: str, policy: str | None = None) -> str:
    """A document with one assertion, which stands on line 3, or on line 4 behind a policy."""
    head = "version: 1\n" if policy is None else f"version: 1\ninconclusive_policy: {policy}\n"
    return f"{head}assertions:\n  - {{id: the-id, {fields}}}\n"


def test_a_failure_is_explained_from_the_evidence(pytester: pytest.Pytester, lay: Lay) -> None:
    """The card names the document's line, the recording, what was expected and found, and what it rests on."""
    lay("good", document=_one("kind: tool_call, name: issue_refund, args_subset: {order: A-18}"))
    done = pytester.runpytest_inprocess()
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "*_ the-id over refunds/good.json _*",
            "refunds.averment.yaml over refunds/good.json",
            "FAIL  the-id  tool_call · refunds.averment.yaml:3",
            "    *A-18*A-17*",
            '    call *: issue_refund {"order":"A-17"}*',
            "    code: *",
            "FAILED refunds.averment.yaml::good.json::the-id - FAIL [[]*]: *",
        ]
    )
    assert ".py" not in done.stdout.str().partition("FAILURES")[2]


def test_a_failure_quotes_the_turns_it_rests_on(pytester: pytest.Pytester, lay: Lay) -> None:
    """What was said and must not be said stands below the verdict."""
    lay("bad", document=_one("kind: phrase, regex: refund, absent: true"))
    pytester.runpytest_inprocess().stdout.fnmatch_lines(['    turn 1, agent: "I sent the refund"'])


def test_the_summary_quotes_no_evidence(pytester: pytest.Pytester, lay: Lay) -> None:
    """One line, from the public reason: logs of CI are read by many."""
    lay("bad", document=_one("kind: phrase, regex: refund, absent: true"))
    done = pytester.runpytest_inprocess("-vv")
    line = "FAILED refunds.averment.yaml::bad.json::the-id - FAIL [[]found_but_forbidden]: a forbidden phrase is present"
    done.stdout.fnmatch_lines([line, "*1 failed*"], consecutive=True)


def test_the_place_of_a_failure_is_the_line_in_the_document(pytester: pytest.Pytester, lay: Lay) -> None:
    """Editors and other plugins are told the document's line, and that of an included one where it stands there."""
    inner = "version: 1\n\nassertions:\n\n  - {id: b, kind: phrase, regex: nothing}\n"
    outer = f"include: [{{path: more/inner.yaml}}]\n{_one('kind: phrase, regex: nothing')}"
    lay("good", document=outer, files={"more/inner.yaml": inner})
    pytester.runpytest_inprocess("--tb=line").stdout.fnmatch_lines(
        ["*/refunds.averment.yaml:4: FAIL*", "*/more/inner.yaml:5: FAIL*"]
    )
    items, _ = pytester.inline_genitems()
    assert [item.location[:2] for item in items] == [("refunds.averment.yaml", 3), ("more/inner.yaml", 4)]


def test_an_assertion_of_a_bundled_document_is_at_the_document_that_names_it(
    pytester: pytest.Pytester, lay: Lay
) -> None:
    """A file of averment's own is not where anybody would mend something."""
    lay("bad", document="version: 1\ninclude: [policy:pii-leak]\nassertions: []\n")
    items, _ = pytester.inline_genitems()
    assert {item.location[0] for item in items} == {"refunds.averment.yaml"}


@pytest.mark.parametrize(
    ("policy", "setting", "outcome"),
    [
        (None, None, "skipped"),
        ("report", None, "skipped"),
        ("fail", None, "failed"),
        ("refuse", None, "failed"),
        ("fail", "report", "skipped"),
        ("report", "refuse", "failed"),
    ],
)
def test_what_inconclusive_is_depends_on_the_policy(
    pytester: pytest.Pytester, lay: Lay, policy: str | None, setting: str | None, outcome: str
) -> None:
    """Skipped under `report`, failed under `fail` and `refuse`; the setting wins over the document."""
    lay("blind", document=_one("kind: tool_call, name: issue_refund", policy))
    args = ("-rsf",) if setting is None else ("-rsf", "-o", f"averment_inconclusive_policy={setting}")
    done = pytester.runpytest_inprocess(*args)
    done.assert_outcomes(**{outcome: 1})
    line = 3 if policy is None else 4
    public = "INCONCLUSIVE [[]trace_absent]: required trace evidence was missing"
    done.stdout.fnmatch_lines(
        [f"SKIPPED [[]1] refunds.averment.yaml:{line}: {public}"]
        if outcome == "skipped"
        else [f"    inconclusive_policy: {setting or policy}", f"FAILED *::the-id - {public}"]
    )


def test_a_policy_that_there_is_not_is_refused(pytester: pytest.Pytester) -> None:
    """Nothing is collected under a setting that says nothing."""
    done = pytester.runpytest_inprocess("-o", "averment_inconclusive_policy=ignore")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(
        ["*averment_inconclusive_policy: expected one of report, fail, refuse, found 'ignore'"]
    )


@pytest.mark.parametrize("severity", ["warning", "note"])
def test_a_lesser_severity_never_fails_a_run(pytester: pytest.Pytester, lay: Lay, severity: str) -> None:
    """FAIL is an expected failure with the reason, and INCONCLUSIVE skipped, under any policy and under --runxfail."""
    lay("bad", document=_one(f"kind: phrase, regex: nothing, severity: {severity}", "fail"))
    done = pytester.runpytest_inprocess("-rx", "--xfail-tb")
    done.assert_outcomes(xfailed=1)
    done.stdout.fnmatch_lines(
        [
            "FAIL  the-id  phrase · *",
            f"XFAIL *::the-id - {severity}: FAIL [[]not_found]: a required phrase is missing",
        ]
    )
    assert pytester.runpytest_inprocess("--runxfail").ret == pytest.ExitCode.OK
    lay("blind", document=_one(f"kind: tool_call, name: x, severity: {severity}", "fail"))
    (pytester.path / "refunds/bad.json").unlink()
    pytester.runpytest_inprocess().assert_outcomes(skipped=1)


@pytest.mark.parametrize("policy", ["report", "fail", "refuse"])
def test_what_is_not_applicable_is_skipped(pytester: pytest.Pytester, lay: Lay, policy: str) -> None:
    """An assertion that is not about the conversation neither passes nor fails."""
    lay("bad", document=_one("kind: phrase, regex: x, applies_if: {metadata: {a: 1}}", policy))
    (pytester.path / "refunds/bad.json").write_text('{"transcript": [], "metadata": {"a": 2}}')
    done = pytester.runpytest_inprocess("-rs")
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["SKIPPED *INCONCLUSIVE [[]not_applicable]*"])


def test_a_recording_that_cannot_be_read_is_an_error_of_its_tests(
    pytester: pytest.Pytester, lay: Lay, failed_reports: Callable[[], list[Any]]
) -> None:
    """Each of its tests is an error with the problem; other recordings are judged."""
    lay(
        "good",
        document=_one("kind: phrase, regex: refund"),
        files={"refunds/broken.json": '{\n"transcript": oops'},
    )
    (report,) = failed_reports()
    assert (report.when, report.nodeid) == ("setup", "refunds.averment.yaml::broken.json::the-id")
    crash = report.longrepr.reprcrash
    assert (crash.path, crash.lineno) == (str(pytester.path / "refunds/broken.json"), 2)
    assert crash.message == "error[json_syntax]: the text is not JSON"


def test_a_defect_of_averment_is_an_error_and_no_failure(
    pytester: pytest.Pytester, lay: Lay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check that breaks is told as such, whatever the policy."""

    def broken(*_: object) -> object:
        raise RuntimeError("broken")

    monkeypatch.setattr(Phrase, "compile", lambda *_: broken)
    lay("good", document=_one("kind: phrase, regex: refund, severity: warning"))
    done = pytester.runpytest_inprocess()
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        ["    *RuntimeError*please report it", "ERROR *::the-id - INCONCLUSIVE [[]internal_error]*"]
    )


def test_a_conversation_is_judged_once(
    pytester: pytest.Pytester, lay: Lay, monkeypatch: pytest.MonkeyPatch, several: str
) -> None:
    """All tests of a conversation share one evaluation of the whole document, and only of those that run."""
    judged = []
    run_plan = engine.run_plan

    def counted(*args: object, **options: object) -> object:
        judged.append(args[1])
        return run_plan(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(collect, "run_plan", counted)
    lay("good", files={"refunds/calls.jsonl": several})
    pytester.runpytest_inprocess().assert_outcomes(passed=9, failed=1, skipped=1, xfailed=1)
    assert len(judged) == 4
    judged.clear()
    pytester.runpytest_inprocess("refunds.averment.yaml::calls.jsonl::told[bad]").assert_outcomes(passed=1)
    assert len(judged) == 1
    judged.clear()
    pytester.runpytest_inprocess("--collect-only")
    assert judged == []


def test_the_xml_of_pytest_has_the_facts(pytester: pytest.Pytester, lay: Lay) -> None:
    """`--junitxml` gets kind, code and dimension as properties; FAIL is a failure, INCONCLUSIVE is skipped."""
    lay("bad", "blind")
    pytester.runpytest_inprocess("--junitxml=out.xml", "-o", "junit_family=xunit1")
    cases = {
        (case.get("classname"), case.get("name")): case
        for case in ET.parse(pytester.path / "out.xml").iter("testcase")  # noqa: S314 - made by pytest
    }
    case = cases["refunds.averment.yaml.bad.json", "refund-issued"]
    properties = {prop.get("name"): prop.get("value") for prop in case.iter("property")}
    assert properties == {"kind": "tool_call", "dimension": "outcome", "code": "not_found"}
    assert (case.get("file"), case.get("line")) == ("refunds.averment.yaml", "2")
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == "FAIL [not_found]: calls of issue_refund are not as required"
    assert "tools called: `look_up`" in (failure.text or "")
    skipped = cases["refunds.averment.yaml.blind.json", "refund-issued"].find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "INCONCLUSIVE [trace_absent]: required trace evidence was missing"


def test_personal_data_of_a_conversation_is_not_shown(pytester: pytest.Pytester, lay: Lay) -> None:
    """Neither its id in the ids of tests nor what was said is shown as it is."""
    line = (
        '{"conversation_id": "%s", "transcript": [{"role": "agent", "text": "write to ada@example.com"}]}\n'
    )
    lay(
        document=_one("kind: phrase, regex: write, absent: true"),
        files={"refunds/calls.jsonl": line % "ada@example.com" + line % "c2"},
    )
    done = pytester.runpytest_inprocess("-v")
    done.assert_outcomes(failed=2)
    assert "write to" in done.stdout.str()
    assert "ada@" not in done.stdout.str()
