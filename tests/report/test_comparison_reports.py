"""Comparisons as text, Markdown and JSON: what broke first, hostile texts as text, and a shape that is published."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import jsonschema
import pytest
from markdown_it import MarkdownIt

from averment.report.comparison import Told, as_json, as_text
from averment.report.comparison_markdown import MARKER, as_markdown
from averment.report.schemas import schema
from averment.verdicts.comparison import Comparison, compare
from averment.verdicts.judged import Case, Judged, Produced

TOLD = Told(old="main.jsonl", new="pr.jsonl", fail_on=("broken", "missing"))
SCHEMA = jsonschema.Draft202012Validator(schema("diff"))
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "]]> --> <!-- averment diff -->",
    "\x1b[31mred\x1b[0m \x00 \x07 \u202eabc \ud800 \u2028",
    "a | b `c` ``` @octocat #1\n# heading\n::error::x",
    "w" * 10**6,
]


def entry(name: str, *letters: str, case: Case | None = None, **fields: Any) -> Judged:
    """A conversation with an assertion for each letter: P, F, I."""
    words = {"P": "PASS", "F": "FAIL", "I": "INCONCLUSIVE"}
    results = [
        {
            "id": fields.get("id", f"a{index}"),
            "kind": fields.get("kind", "phrase"),
            "deterministic": True,
            "at": {"line": index + 1, "column": 1},
            **({"severity": fields["severity"]} if "severity" in fields else {}),
            "status": words[letter],
            **(
                {} if letter == "P" else {"code": "not_found", "reason": fields.get("reason", f"{name}: why")}
            ),
        }
        for index, letter in enumerate(letters)
    ]
    return Judged(
        envelope={
            "engine": {"version": fields.get("engine", "1")},
            "document": {"sha256": fields.get("sha256", "x")},
            "evidence_sha256": name,
            "results": results,
        },
        conversation=name,
        document=fields.get("document", "d.yaml"),
        files=[fields.get("document", "d.yaml")] * len(results),
        case=case,
        produced=None if case is None else Produced(file=name),
    )


def repeated(letters: str) -> list[Judged]:
    """A case of a suite, repeated."""
    return [
        entry(f"out/{index}.json", each, case=Case(suite="s", name="c", repeat=index, repeats=len(letters)))
        for index, each in enumerate(letters, 1)
    ]


@pytest.fixture
def comparison() -> Comparison:
    """Something of everything."""
    return compare(
        [
            entry("a", "P", "F", "P"),
            entry("gone", "P"),
            entry("w", "P", severity="warning"),
            *repeated("PPPF"),
        ],
        [
            entry("a", "F", "P", "P", sha256="y", engine="2"),
            entry("fresh", "P"),
            entry("w", "F", severity="warning"),
            *repeated("PFFF"),
        ],
    )


def test_text_tells_what_broke_first_and_each_with_its_reason(comparison: Comparison) -> None:
    """The whole of it, for people: facts, changes by assertion and case, gaps, counts, and the gate."""
    assert as_text(comparison, TOLD) == (
        "main.jsonl -> pr.jsonl: 3 cases in both\n"
        "  the document is another in 1 of 3 cases\n"
        "  averment 1 judged the old run, and 1, 2 the new one\n"
        "  the evidence is the same in 3 of 3 cases\n"
        "\n"
        "BROKEN: never failed before, and fails now\n"
        "  a0  phrase · d.yaml:1\n"
        "    a: PASS before, FAIL now\n"
        "      now: a: why\n"
        "  a0  phrase · warning · d.yaml:1\n"
        "    w: PASS before, FAIL now\n"
        "      now: w: why\n"
        "\n"
        "FLAKY: passes and fails by turns\n"
        "  a0  phrase · d.yaml:1\n"
        "    s: c: 3 of 4 PASS before, 1 of 4 PASS now (by chance alone: 0.242858)\n"
        "      now: out/2.json: why (out/2.json)\n"
        "      before: out/4.json: why (out/4.json)\n"
        "\n"
        "FIXED: never passed before, and passes now\n"
        "  a1  phrase · d.yaml:2\n"
        "    a: FAIL before, PASS now\n"
        "      before: a: why\n"
        "\n"
        "missing cases, which only the old run has: 1\n"
        "  gone\n"
        "\n"
        "new cases, which only the new run has: 1\n"
        "  fresh\n"
        "\n"
        "1 broken · 1 flaky · 1 fixed · 1 still passing\n"
        "warnings and notes, which never gate: 1 broken\n"
        "exit 1: the gate says no: 1 broken, 1 missing\n"
    )


@pytest.mark.parametrize(
    ("fail_on", "last"),
    [
        ((), "exit 0: nothing is gated: no `--fail-on` is given"),
        (("removed",), "exit 0: the gate says yes: nothing is removed"),
        (("removed", "newly_failing"), "exit 0: the gate says yes: nothing is removed or newly failing"),
        (("fixed",), "exit 1: the gate says no: 1 fixed"),
    ],
)
def test_the_last_line_is_what_the_gate_says(
    comparison: Comparison, fail_on: Sequence[str], last: str
) -> None:
    """With what it looked for."""
    text = as_text(comparison, Told(old="o", new="n", fail_on=fail_on))
    assert text.splitlines()[-1] == last
    assert json.loads(as_json(comparison, Told(old="o", new="n", fail_on=fail_on)))["exit_code"] == int(
        last.split(":", maxsplit=1)[0][-1]
    )


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("PP", "IF", "2 of 2 PASS before, 0 of 1 PASS, 1 INCONCLUSIVE now"),
        ("PP", "II", "2 of 2 PASS before, 2 INCONCLUSIVE now"),
        ("P", "I", "PASS before, INCONCLUSIVE now"),
    ],
)
def test_repeats_are_counted_by_what_they_decided(before: str, after: str, line: str) -> None:
    """What is undecided stands beside, and in no denominator."""
    assert f"    s: c: {line}" in as_text(compare(repeated(before), repeated(after)), TOLD)


def test_only_what_is_asked_for_is_listed_and_all_is_counted(comparison: Comparison) -> None:
    """A filter for the eye changes no number and no gate."""
    told = Told(old="o", new="n", fail_on=("broken",), only=("fixed",))
    text = as_text(comparison, told)
    assert "FIXED" in text
    assert "BROKEN" not in text
    assert "gone" not in text
    assert "1 broken" in text
    written = json.loads(as_json(comparison, told))
    assert [each["change"] for each in written["differences"]] == ["fixed"]
    assert written["missing_cases"] == written["new_cases"] == []
    assert written["summary"]["deterministic"]["broken"] == written["summary"]["missing"] == 1
    assert "### Broken" not in as_markdown(comparison, told)


def test_of_many_cases_the_first_are_shown_and_the_rest_counted() -> None:
    """Unless all are asked for; JSON has all of them."""
    found = compare([entry(f"c{i}", "P") for i in range(50)], [entry(f"c{i}", "F") for i in range(50)])
    text = as_text(found, TOLD)
    assert "    ... and 30 more cases; --verbose shows all\n" in text
    assert "c49" not in text
    assert "c49" in as_text(found, Told(old="o", new="n", every=True))
    assert "... and 30 more cases." in as_markdown(found, TOLD)
    assert len(json.loads(as_json(found, TOLD))["differences"]) == 50


def test_json_fits_the_published_schema(comparison: Comparison) -> None:
    """And has what programs need: each difference with its case, sides, counts and chance."""
    written = json.loads(as_json(comparison, TOLD))
    SCHEMA.validate(written)
    flaky = next(each for each in written["differences"] if each["change"] == "flaky")
    assert flaky == {
        "change": "flaky",
        "case": {"suite": "s", "name": "c", "number": 1},
        "id": "a0",
        "kind": "phrase",
        "file": "d.yaml",
        "line": 1,
        "gates": True,
        "old": {
            "pass": 3,
            "fail": 1,
            "inconclusive": 0,
            "not_applicable": 0,
            "severity": "error",
            "code": "not_found",
            "reason": "out/4.json: why",
            "conversation": "out/4.json",
        },
        "new": {
            "pass": 1,
            "fail": 3,
            "inconclusive": 0,
            "not_applicable": 0,
            "severity": "error",
            "code": "not_found",
            "reason": "out/2.json: why",
            "conversation": "out/2.json",
        },
        "chance": 0.242858,
    }


def test_markdown_has_the_grave_changes_in_its_heading(comparison: Comparison) -> None:
    """The marker comes first, by which a bot finds its comment."""
    text = as_markdown(comparison, TOLD)
    assert text.startswith(f"{MARKER}\n## averment diff: 1 broken, 1 flaky\n")
    assert "The gate says no: 1 broken, 1 missing." in text
    assert "| `s: c` | 3 of 4 PASS | 1 of 4 PASS | 0.242858 |" in text
    assert "### Missing cases, which only the old run has\n\n- `gone`" in text
    same = compare([entry("a", "P")], [entry("a", "P")])
    assert "## averment diff: nothing fails that did not before\n" in as_markdown(same, TOLD)


def test_markdown_keeps_to_its_limit_and_says_what_is_left_out() -> None:
    """By whole assertions; the head always stands."""
    letters = "P" * 400, "F" * 400
    found = compare(
        [entry(f"c{i}", *letters[0]) for i in range(3)], [entry(f"c{i}", *letters[1]) for i in range(3)]
    )
    for limit in (3_000, 20_000, 60_000):
        text = as_markdown(found, TOLD, limit=limit)
        assert limit / 3 < len(text.encode()) <= limit
        shown = text.count("| FAIL |")
        (left,) = re.findall(r"\*\*Left out here, for there was not enough room:\*\* (\d+) lines", text)
        assert shown + int(left) == 1200


def test_what_is_left_out_is_what_comes_last() -> None:
    """A smaller assertion does not slip in before a larger one that is graver."""
    found = compare(
        [*(entry(f"c{i}", "P", "P", "F") for i in range(15)), entry("z", "P", "P", "F")],
        [*(entry(f"c{i}", "F", "F", "F") for i in range(15)), entry("z", "P", "P", "P")],
    )
    for limit in range(600, 6_000, 200):
        text = as_markdown(found, TOLD, limit=limit)
        assert len(text.encode()) <= max(limit, 900)
        places = [text.find(mark) for mark in ("#### `a0`", "#### `a1`", "#### `a2`", "### Fixed")]
        shown = [place for place in places if place >= 0]
        assert shown == places[: len(shown)] == sorted(shown)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
@pytest.mark.parametrize("field", ["name", "id", "kind", "reason", "document", "engine"])
def test_hostile_texts_arrive_as_text(field: str, text: str) -> None:
    """In each field: no control character, no markup, no line of its own, bounded in size."""
    fields: dict[str, Any] = {} if field == "name" else {field: text}
    name = text if field == "name" else "a"
    found = compare(
        [entry(name, "P", **fields), entry("b", "P"), entry(f"gone {name}", "P")],
        [
            entry(name, "F", **{**fields, "engine": f"2{text}"} if field == "engine" else fields),
            entry("b", "P"),
        ],
    )
    assert found.cases == 2
    plain = as_text(found, TOLD)
    assert all(char.isprintable() or char == "\n" for char in plain)
    assert not any(line.startswith(("::", "#")) for line in plain.splitlines())
    assert len(plain) < 10_000
    written = as_markdown(found, TOLD)
    assert len(written) < 10_000
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(written)
    flat = [inner for token in tokens for inner in (token, *(token.children or ()))]
    assert [each.content.strip() for each in flat if each.type.startswith("html")] == [MARKER]
    assert not any(each.type in ("link_open", "image") for each in flat)
    assert not any("@octocat" in each.content for each in flat if each.type == "text")
    assert sum(each.type == "heading_open" for each in flat) == written.count("\n#")
    encoded = as_json(found, TOLD)
    SCHEMA.validate(json.loads(encoded))
    assert b"\x1b" not in encoded


def test_personal_data_in_reasons_is_removed() -> None:
    """Whoever wrote the envelope: it is redacted before it is cut."""
    for lead in ("", "x" * 290):
        found = compare([entry("a", "P")], [entry("a", "F", reason=f"{lead} call jane.doe@example.com")])
        for text in (as_text(found, TOLD), as_markdown(found, TOLD), as_json(found, TOLD).decode()):
            assert "jane" not in text


def test_facts_say_what_else_may_be_why() -> None:
    """Severities that were changed, and envelopes that were matched by their order."""
    import msgspec

    old, new = entry("a", "P"), entry("a", "F", severity="note")
    found = compare(
        [msgspec.structs.replace(old, is_named=False)], [msgspec.structs.replace(new, is_named=False)]
    )
    text = as_text(found, TOLD)
    assert "  the severity of `a0` was error and is note, in 1 case\n" in text
    assert "matched by their order" in text
    assert "    conversation: PASS before, FAIL now\n" in text
    assert "  the new run has fewer repeats in 1 of 1 case\n" in as_text(
        compare(repeated("PP"), repeated("P")), TOLD
    )


def test_the_same_comparison_gives_the_same_bytes(comparison: Comparison) -> None:
    """In each form."""
    for form in (as_text, as_markdown, as_json):
        assert form(comparison, TOLD) == form(comparison, TOLD)
