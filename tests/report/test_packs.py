from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from averment.errors import Problem
from averment.oracle.certify import Certification
from averment.oracle.findings import Failure, Row
from averment.oracle.model.manifest import Manifest
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import Template
from averment.oracle.model.tools import Tool
from averment.oracle.worker.isolation import isolation
from averment.report.packs import render_certification

WRONG = Failure(
    reason="error_code_mismatch",
    message='expected the code "gone", found "not_found"',
    file="validation_cases.yaml",
    line=12,
    column=5,
    path="$[3].expect.error_code",
    mend="Correct the oracle, or `expect.error_code`.",
    facts={"case": "none", "tool": "look"},
)
GOOD = Row("1", "template_tool_names", "pass")


def text(*rows: Row, color: bool = False, **more: Any) -> str:
    """The text on a pack with these rows, a template and a tool."""
    pack = Pack(
        root=Path("/nowhere"),
        files={},
        sources={},
        manifest=Manifest(pack_id="boxes", version="1"),
        tools=[Tool(name="look", parameters={})],
        fixtures={},
        templates=[Template(template_id="t", turn_policy="irrelevant", assistant_milestones=[])],
        cases=[],
    )
    fields = {"pack": pack, "options": Options(), "rows": rows, "assertions": 1, **more}
    return render_certification(Certification(**fields), color=color)


def test_a_gold_pack_is_a_line_for_each_check_and_the_tier() -> None:
    """And what could not be enforced."""
    assert text(GOOD, Row("D1", "determinism_check", "pass"), isolation=isolation(["limits"] * 3)) == (
        "boxes 1\n"
        "workers are guarded\n"
        "  not enforced here: no file outside the pack is read, none outside the scratch folder is written\n"
        "  not enforced here: no network, no new process, no signal to another process\n"
        "\n"
        "   1  template_tool_names  pass\n"
        "  D1  determinism_check    pass\n"
        "\n"
        "tier: gold\n"
    )


def test_what_failed_stands_below_the_table_with_its_place_and_what_to_do() -> None:
    """The table says how much, the last line what is in the way."""
    skipped = Row("A1", "endpoint_conformance", "skipped", (Failure(reason="not_run", message="not yet"),))
    assert text(GOOD, Row("5", "declared_validation_cases", "fail", (WRONG,)), skipped) == (
        "boxes 1\n"
        "\n"
        "   1  template_tool_names        pass\n"
        "   5  declared_validation_cases  FAIL  1 failure\n"
        "  A1  endpoint_conformance       skipped: not yet\n"
        "\n"
        "5 declared_validation_cases\n"
        "  validation_cases.yaml:12:5: error_code_mismatch, in the probe `none`\n"
        '    expected the code "gone", found "not_found"\n'
        "    -> Correct the oracle, or `expect.error_code`.\n"
        "\n"
        "tier: silver; in the way of gold: 5, A1 (skipped)\n"
    )


def test_what_several_failures_share_is_said_once() -> None:
    """After the last of those that stand together."""
    same = [Failure(reason="a", message=str(number), mend="Do this.") for number in range(3)]
    other = Failure(reason="b", message="other", mend="Do that.")
    shown = text(Row("5", "x", "fail", (*same, other, same[0])))
    assert re.findall(r"Do \w+|^    (?=\d|other)", shown, re.MULTILINE) == [
        *["    "] * 3,
        "Do this",
        "    ",
        "Do that",
        "    ",
        "Do this",
    ]


def test_a_failure_without_a_line_shows_its_path() -> None:
    """Otherwise the line is enough."""
    failure = Failure(reason="a", message="m", file="tools.json", path="$[0]")
    assert "  tools.json: a\n    m\n    at $[0]\n" in text(Row("3", "x", "fail", (failure,)))


def test_what_code_did_is_shown_with_the_failure() -> None:
    """Who called whom, what was printed, and what reads the world."""
    failure = Failure(
        reason="raised",
        message="call_tool raised KeyError: 1",
        file="backend.py",
        line=9,
        traceback="backend.py:3 in call_tool\nbackend.py:9 in look\nKeyError: 1",
        output="one\ntwo",
        facts={"suspects": ["backend.py:7: time.time"]},
    )
    assert (
        "  backend.py:9: raised\n"
        "    call_tool raised KeyError: 1\n"
        "    from: backend.py:3 in call_tool\n"
        "    printed: one\n"
        "    printed: two\n"
        "    reads the world: backend.py:7: time.time\n"
    ) in text(Row("5", "x", "fail", (failure,)))


@pytest.mark.parametrize("name", ["replay_reason", "drop_reason", "code"])
def test_a_fact_that_is_the_exact_reason_stands_with_the_reason(name: str) -> None:
    """What a build would say of it; a code that is no text is not shown."""
    for value, shown in (("exactly", "  tools.json: a (exactly)\n"), (7, "  tools.json: a\n")):
        failure = Failure(reason="a", message="m", file="tools.json", facts={name: value})
        assert shown in text(Row("7", "x", "fail", (failure,)))


def test_long_lists_are_cut() -> None:
    """The report has them all, and the text says so."""
    warnings = tuple(Problem(code=f"w{number}", message="odd", severity="warning") for number in range(21))
    shown = text(Row("5", "x", "fail", (WRONG,) * 25), warnings=warnings)
    assert shown.count("error_code_mismatch") == 20
    assert "FAIL  25 failures" in shown
    assert "  and 5 more; the report has them all\n" in shown
    assert "21 warnings\n" in shown
    assert "  and 1 more; the report has them all\n" in shown


def test_a_warning_is_shown_with_its_place_and_mend() -> None:
    """As problems are everywhere."""
    warning = Problem(code="w", message="odd", file="a.py", line=3, mend="Mend it.", severity="warning")
    assert "1 warning\n  a.py:3: warning[w]: odd\n      Mend it.\n" in text(GOOD, warnings=(warning,))


@pytest.mark.parametrize(
    ("rows", "more", "last"),
    [
        ((GOOD,), {"only": "tools"}, "tools: nothing wrong"),
        ((), {"only": "manifest"}, "manifest: nothing wrong"),
        ((Row("3", "x", "fail", (WRONG,)),), {"only": "tools"}, "tools: not right"),
        ((GOOD,), {"assertions": 0}, "tier: silver; in the way of gold: no assertion is exported"),
    ],
)
def test_the_last_line_is_the_verdict(rows: tuple[Row, ...], more: dict[str, Any], last: str) -> None:
    """A part has no tier; what is missing from gold is said where no row says it."""
    assert text(*rows, **more).splitlines()[-1] == last


def test_colours_only_colour() -> None:
    """Without them the text is the same, and no control character is in it."""
    rows = (
        GOOD,
        Row("5", "x", "fail", (WRONG,)),
        Row("A1", "y", "skipped", (Failure(reason="not_run", message="z"),)),
    )
    plain, colored = text(*rows), text(*rows, color=True)
    assert "\x1b" not in plain
    assert "\x1b[31;1mFAIL\x1b[0m" in colored
    assert re.sub("\x1b\\[[0-9;]*m", "", colored) == plain


def test_nothing_that_a_pack_says_commands_the_terminal() -> None:
    """Wherever it stands."""
    evil = "\x1b]0;x\x07\u202e\n\r"
    failure = Failure(
        reason="raised",
        message=evil,
        file=evil,
        path=evil,
        mend=evil,
        output=evil,
        traceback=f"{evil}\n{evil}\nX",
        facts={"case": evil, "suspects": [evil]},
    )
    warning = Problem(code="w", message=evil, file=evil, mend=evil, severity="warning")
    shown = text(Row("5", "x", "fail", (failure,)), warnings=(warning,))
    assert all(char.isprintable() or char == "\n" for char in shown)
