"""`defaults`: which assertions take them, and where their mistakes are told."""

from __future__ import annotations

from drafts import HEAD, PLAIN, fields_of, of, places, problems_of


def test_defaults_reach_what_has_the_field_and_does_not_set_it() -> None:
    """An assertion's own value wins, null too; a kind without the field is left alone."""
    document = of(
        {"kind": "phrase", "regex": "x"},
        {"kind": "phrase", "regex": "x", "role": None, "severity": "note"},
        {"kind": "tool_call", "name": "t"},
        defaults={"role": "{{who}}", "severity": "warning", "tags": ["nightly"], "owner": "payments"},
        vars={"who": "agent"},
    )
    assert [(a.severity, a.owner, a.tags) for a in document.assertions] == [
        ("warning", "payments", ["nightly"]),
        ("note", "payments", ["nightly"]),
        ("warning", "payments", ["nightly"]),
    ]
    assert [fields_of(document, index).get("role") for index in range(3)] == ["agent", None, None]


def test_a_default_is_not_blamed_for_an_assertion_without_a_kind() -> None:
    """Which fields there are hangs on the kind, so its absence is the only mistake."""
    text = HEAD + "defaults: {severity: note}\nassertions:\n  - {id: a, regex: hi}\n"
    assert [(p.code, p.path) for p in problems_of(text)] == [("missing_field", "$.assertions[0]")]


def test_a_wrong_default_is_told_once_where_it_stands() -> None:
    """However many assertions take it."""
    text = (
        HEAD + "defaults:\n  severity: eror\n  tags: [1]\nassertions:\n"
        "  - {id: a, kind: phrase, regex: x}\n  - {id: b, kind: phrase, regex: x}\n"
    )
    assert places(problems_of(text)) == [("not_allowed", "d.yaml", 3, 13), ("wrong_type", "d.yaml", 4, 10)]


def test_a_default_that_nothing_can_take_is_a_mistake() -> None:
    """A misspelt field names the nearest; ids, kinds, conditions and examples are each assertion's own."""
    text = HEAD + "defaults: {sevrity: note, id: x, when: y}\n" + PLAIN.removeprefix(HEAD)
    found = problems_of(text)
    assert [(p.code, p.path, p.nearest) for p in found] == [
        ("unknown_field", "$.defaults.sevrity", "severity"),
        ("not_allowed", "$.defaults.id", None),
        ("not_allowed", "$.defaults.when", None),
    ]
