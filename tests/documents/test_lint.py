from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import averment
from averment.documents.lint import CODES, lint

Fields = Mapping[str, Any]

TRUE, FALSE = "a or not a", "a and not a"
CALL = {"kind": "tool_call", "name": "refund"}
NO_CALL = {**CALL, "absent": True}
SAID = {"kind": "phrase", "regex": "refund"}
SAVED = {"kind": "state", "resource": "orders", "filters": {"id": 7}, "expect": {"status": "paid"}}
NEVER = {"kind": "phrase", "regex": "$x"}


def _document(*assertions: Fields, **fields: Any) -> averment.Document:
    named = [{"id": "abcdefgh"[index], **assertion} for index, assertion in enumerate(assertions)]
    return averment.Document.of({"version": 1, "assertions": named, **fields})


def _warnings(*assertions: Fields, **fields: Any) -> list[tuple[str, str]]:
    problems = lint(_document(*assertions, **fields))
    assert all(problem.severity == "warning" and problem.mend for problem in problems)
    return [(problem.code, (problem.path or "").removeprefix("$.")) for problem in problems]


def _at(code: str, place: str, *assertions: Fields) -> Any:
    return pytest.param(code, place, assertions, id=f"{code}-{place}-{assertions[-1]['kind']}")


FIRING = [
    # A pattern that is found in every text, or in none.
    _at("matches_everything", "[0].regex", {"kind": "phrase", "regex": ".*"}),
    _at("matches_everything", "[0].regex", {"kind": "phrase", "regex": "|a", "absent": True}),
    _at("matches_everything", "[0].phrase", {"kind": "count", "phrase": "x*", "count": {"max": 3}}),
    _at("matches_everything", "[0].after", {"kind": "order", "before": "a", "after": "(?:)"}),
    _at("matches_everything", "[0].says", {"kind": "claim", "says": ".*", "tool": "refund"}),
    _at("matches_everything", "[0].error_matches", {**CALL, "kind": "tool_error", "error_matches": ".*"}),
    _at(
        "matches_everything",
        "[0].steps[1].phrase",
        {"kind": "sequence", "steps": [{"tool": "a"}, {"phrase": "x?"}]},
    ),
    _at(
        "matches_nothing",
        "[0].any_of[0].phrase",
        {"kind": "outcome", "any_of": [{"phrase": "$x"}, {"tool_called": "refund"}]},
    ),
    _at(
        "matches_nothing",
        "[0].steps[1].phrase",
        {"kind": "sequence", "steps": [{"tool": "a"}, {"phrase": "$x", "absent": True}]},
    ),
    _at("matches_nothing", "[0].before", {"kind": "order", "before": "$x", "after": "a", "guard": True}),
    # What nothing can make fail.
    _at("cannot_fail", "[0].regex", {"kind": "phrase", "regex": r"a\bb", "absent": True}),
    _at("cannot_fail", "[0].count", {**CALL, "count": {"min": 0}}),
    _at("cannot_fail", "[0].count", {**CALL, "count": {"min": None, "max": None}}),
    _at("cannot_fail", "[0].count", {**CALL, "count": {"min": -2}}),
    _at("cannot_fail", "[0].count", {"kind": "count", "tool": "refund", "count": {"min": 0}}),
    _at("cannot_fail", "[0].phrase", {"kind": "count", "phrase": "$x", "count": {"max": 2}}),
    _at(
        "cannot_fail", "[0].never_before", {"kind": "tool_call", "never_before": {"tool": "a", "until": "a"}}
    ),
    _at("cannot_fail", "[0].after", {"kind": "order", "before": "a", "after": "$x", "guard": True}),
    _at("cannot_fail", "[0].before", {"kind": "order", "before": "$x", "after": "a"}),
    _at("cannot_fail", "[0].says", {"kind": "claim", "says": "$x", "tool": "refund"}),
    _at("cannot_fail", "[0].error_matches", {**NO_CALL, "kind": "tool_error", "error_matches": "$x"}),
    _at("cannot_fail", "[1].expr", SAID, {"kind": "formula", "expr": TRUE}),
    _at("cannot_fail", "[1].expr", SAID, {"kind": "formula", "expr": "0.5*a >= 0"}),
    # What nothing can make pass.
    _at("cannot_pass", "[0].regex", NEVER),
    _at("cannot_pass", "[0].count", {**CALL, "count": -1}),
    _at("cannot_pass", "[0].count", {**CALL, "count": {"max": -1}, "require_order": ["a", "b"]}),
    _at("cannot_pass", "[0].phrase", {"kind": "count", "phrase": "$x", "count": {"min": 1}}),
    _at("cannot_pass", "[0].before", {"kind": "order", "before": "$x", "after": "a", "must_occur": "both"}),
    _at("cannot_pass", "[0].says", {"kind": "claim", "says": "$x", "tool": "t", "must_occur": True}),
    _at("cannot_pass", "[0].error_matches", {**CALL, "kind": "tool_error", "error_matches": "$x"}),
    _at(
        "cannot_pass",
        "[0].all_of[1].phrase",
        {"kind": "outcome", "all_of": [{"tool_called": "a"}, {"phrase": "$x"}]},
    ),
    _at("cannot_pass", "[0].any_of[0].phrase", {"kind": "outcome", "any_of": [{"phrase": "$x"}]}),
    _at(
        "cannot_pass", "[0].steps[1].phrase", {"kind": "sequence", "steps": [{"tool": "a"}, {"phrase": "$x"}]}
    ),
    _at("cannot_pass", "[1].expr", SAID, {"kind": "formula", "expr": FALSE}),
    _at("cannot_pass", "[1].expr", SAID, {"kind": "formula", "expr": "0.5*a >= 1"}),
    # Bounds that bind nothing.
    _at("senseless_bounds", "[0].count.min", {**CALL, "count": {"min": -1, "max": 2}}),
    _at("senseless_bounds", "[0].count", {**CALL, "count": {"min": 0}, "require_order": ["a", "b"]}),
    _at("senseless_bounds", "[0].max_ms", {"kind": "latency", "tool": "refund", "max_ms": -1}),
    # A condition that never holds.
    _at("when_never_holds", "[1].when[0]", {"kind": "human_rubric"}, {**SAID, "when": ["a"]}),
    _at("when_never_holds", "[1].when", {"kind": "timing_contract", "bundle": "b"}, {**SAID, "when": "a"}),
    _at(
        "when_never_holds",
        "[2].when[1]",
        {**CALL, "severity": "note"},
        {**NO_CALL, "severity": "note"},
        {**SAID, "when": ["a", "b"]},
    ),
    # Two assertions that can't both pass.
    _at("contradiction", "[1]", SAID, {**SAID, "absent": True}),
    _at("contradiction", "[1]", {**SAID, "absent": True, "role": "agent"}, {**SAID, "role": "agent"}),
    _at("contradiction", "[1]", {**SAID, "absent": True}, {**SAID, "position": "last"}),
    _at("contradiction", "[1]", CALL, NO_CALL),
    _at("contradiction", "[1]", CALL, {**CALL, "count": 0}),
    _at("contradiction", "[1]", {**CALL, "count": {"min": 3}}, {**CALL, "count": {"max": 2}}),
    _at("contradiction", "[1]", {**CALL, "count": 1}, {**CALL, "count": 2}),
    _at("contradiction", "[1]", NO_CALL, {**CALL, "args": {"amount": 5}}),
    _at("contradiction", "[1]", {**CALL, "args": {"amount": 5}}, NO_CALL),
    _at("contradiction", "[1]", {**CALL, "args": {"n": 5}}, {**NO_CALL, "args": {"n": 5}}),
    _at("contradiction", "[1]", {**CALL, "args_subset": {}}, NO_CALL),
    _at("contradiction", "[1]", {**NO_CALL, "args_subset": {}}, CALL),
    _at(
        "senseless_bounds",
        "[0].count",
        {**CALL, "count": {"min": 0}, "never_before": {"tool": "a", "until": "b"}},
    ),
    _at("contradiction", "[1]", {"kind": "tool_call", "require_order": ["lookup", "refund"]}, NO_CALL),
    _at(
        "contradiction",
        "[1]",
        {**CALL, "count": 1},
        {"kind": "tool_call", "require_order": ["refund", "refund"]},
    ),
    _at("contradiction", "[1]", {**CALL, "kind": "tool_result"}, {**NO_CALL, "kind": "tool_result"}),
    _at(
        "contradiction",
        "[1]",
        {"kind": "count", "span_type": "dtmf", "count": 2},
        {"kind": "count", "span_type": "dtmf", "count": {"max": 1}},
    ),
    _at(
        "contradiction",
        "[1]",
        {"kind": "handoff", "to": "billing"},
        {"kind": "handoff", "to": "billing", "absent": True},
    ),
    _at("contradiction", "[1]", SAVED, {**SAVED, "expect": {"total": 1, "status": "open"}}),
    _at("contradiction", "[1]", SAVED, {**SAVED, "expect": {"status": None}}),
    _at("contradiction", "[1]", {**SAVED, "expect": {"n": 1}}, {**SAVED, "expect": {"n": True}}),
    _at("contradiction", "[2]", SAID, CALL, {**NO_CALL, "when": "a"}),
    _at("contradiction", "[1]", SAID, {**NO_CALL, "when": "a"}, CALL),
    _at("contradiction", "[2]", SAID, {**CALL, "when": "a"}, {**NO_CALL, "when": ["a"]}),
    # A role that nobody knows.
    _at("unknown_role", "[0].role", {**SAID, "role": "agnet"}),
    _at(
        "unknown_role",
        "[0].role",
        {"kind": "pii", "detectors": ["ssn"], "mode": "must_not_leak", "role": "b0t"},
    ),
    _at("unknown_role", "[0].all_of[0].role", {"kind": "outcome", "all_of": [{"phrase": "a", "role": "x1"}]}),
    _at("unknown_role", "[0].steps[0].role", {"kind": "sequence", "steps": [{"phrase": "a", "role": "x1"}]}),
    # The same once more.
    _at("duplicate_assertion", "[1]", CALL, {**CALL, "owner": "pay", "tags": ["t"], "description": "again"}),
    _at(
        "duplicate_assertion",
        "[1]",
        {**CALL, "args": {"a": 1, "b": 2}},
        {**CALL, "args": {"b": 2, "a": 1}},
    ),
]

SILENT: dict[str, list[Fields]] = {
    "an_ordinary_pattern": [SAID],
    "any_text_but_none": [{"kind": "phrase", "regex": "."}, {"kind": "phrase", "regex": ".+"}],
    "an_edge": [{"kind": "phrase", "regex": r"\brefund\b"}, {"kind": "phrase", "regex": "^$"}],
    "an_option_that_is_dead": [{"kind": "phrase", "regex": "$x|refund"}],
    "a_bound_of_one": [{**CALL, "count": {"min": 1}}],
    "no_upper_bound_but_an_order": [{**CALL, "require_order": ["a", "b"]}],
    "a_lower_bound_of_nothing_with_an_upper_one": [{**CALL, "count": {"min": 0, "max": 3}}],
    "no_tool_before_itself_beside_something": [{**CALL, "never_before": {"tool": "a", "until": "a"}}],
    "an_order_and_no_tool_before_itself": [
        {"kind": "tool_call", "require_order": ["a"], "never_before": {"tool": "a", "until": "a"}}
    ],
    "patterns_for_any_case": [{"kind": "tool_error", "name": "refund", "error_matches": "(?=a)A"}],
    "one_of_two_tools": [{"kind": "tool_call", "never_before": {"tool": "a", "until": "b"}}],
    "an_order_that_may_fail": [{"kind": "order", "before": "a", "after": "b"}],
    "a_limit_of_nothing": [{"kind": "latency", "measure": "overlap", "max_ms": 0}],
    "a_formula": [SAID, CALL, {"kind": "formula", "expr": "not a or b"}],
    "a_sum": [SAID, CALL, {"kind": "formula", "expr": "0.5*a + 0.5*b >= 0.5"}],
    "a_condition": [SAID, {**CALL, "when": "a"}],
    "two_conditions": [SAID, CALL, {"kind": "handoff", "when": ["a", "b"]}],
    "other_roles": [{**SAID, "role": "agent"}, {**SAID, "role": "caller", "absent": True}],
    "other_case": [{**SAID, "case_sensitive": True}, {**SAID, "absent": True}],
    "other_words": [SAID, {**SAID, "regex": "refunds", "absent": True}],
    "other_tools": [CALL, {**NO_CALL, "name": "cancel"}],
    "one_call_is_not_with_those_arguments": [CALL, {**NO_CALL, "args": {"amount": 5}}],
    "other_arguments": [{**CALL, "args": {"n": 5}}, {**NO_CALL, "args": {"n": 6}}],
    "no_arguments_are_arguments": [{**CALL, "count": 1}, {**CALL, "args_exact": {}, "absent": True}],
    "other_readings": [CALL, {**NO_CALL, "requestor": "user"}],
    "bounds_that_meet": [{**CALL, "count": {"min": 2}}, {**CALL, "count": {"max": 2}}],
    "called_and_no_result_like_that": [CALL, {**NO_CALL, "kind": "tool_result", "result": {"ok": False}}],
    "other_records": [SAVED, {**SAVED, "filters": {"id": 8}, "expect": {"status": "open"}}],
    "other_fields": [SAVED, {**SAVED, "expect": {"state": "open"}}],
    "an_operator": [SAVED, {**SAVED, "expect": {"status": {"$ne": "open"}}}],
    "equal_numbers": [{**SAVED, "expect": {"n": 1}}, {**SAVED, "expect": {"n": 1.0}}],
    "notes_for_a_formula": [
        {**CALL, "severity": "note"},
        {**NO_CALL, "severity": "note"},
        {"kind": "formula", "expr": "a or b and a"},
    ],
    "a_note_beside_a_rule": [{**CALL, "severity": "note"}, NO_CALL],
    "each_under_its_own_condition": [
        SAID,
        {"kind": "handoff"},
        {**CALL, "when": "a"},
        {**NO_CALL, "when": "b"},
    ],
    "each_for_its_own_calls": [
        {**CALL, "applies_if": {"labels": {"state": "CA"}}},
        {**NO_CALL, "applies_if": {"labels": {"state": "TX"}}},
    ],
    "known_roles": [
        {**SAID, "role": role} for role in ("agent", "Assistant", "user", "HUMAN", "supervisor", "system")
    ],
    "arguments_named_role": [{**CALL, "args": {"role": "x1"}}],
    "one_under_a_condition": [SAID, CALL, {**CALL, "when": "a"}],
    "an_order_within_its_own_bounds": [{**NO_CALL, "require_order": ["refund"]}],
    "other_severities": [CALL, {**CALL, "severity": "warning"}],
    "other_sides_of_a_number": [{**CALL, "args": {"n": 1}}, {**CALL, "args": {"n": "1"}}],
}


@pytest.mark.parametrize(("code", "place", "assertions"), FIRING)
def test_each_warning_has_its_code_and_place(code: str, place: str, assertions: Sequence[Fields]) -> None:
    """The one warning, at the field that settles it."""
    assert _warnings(*assertions) == [(code, f"assertions{place}")]


@pytest.mark.parametrize("name", SILENT)
def test_what_is_only_near_is_not_warned_about(name: str) -> None:
    """What can fail, can pass and says something of its own is left in peace."""
    assert _warnings(*SILENT[name]) == []


def test_every_code_is_earned() -> None:
    """The list of codes has those that a case above gives, and the one of variables."""
    assert sorted({case.values[0] for case in FIRING} | {"unused_variable"}) == list(CODES)


def test_a_condition_that_can_never_pass_is_told_with_what_waits_for_it() -> None:
    """The premise is told for itself, and each assertion that names it."""
    assert _warnings(NEVER, {**SAID, "when": "a"}, {**CALL, "when": ["b", "a"]}) == [
        ("cannot_pass", "assertions[0].regex"),
        ("when_never_holds", "assertions[1].when"),
        ("when_never_holds", "assertions[2].when[1]"),
    ]


def test_unused_variables_come_first() -> None:
    """The document's own warnings are among them."""
    assert _warnings(CALL, CALL, vars={"left": 1}) == [
        ("unused_variable", "vars.left"),
        ("duplicate_assertion", "assertions[1]"),
    ]


def test_a_document_of_ones_own_roles() -> None:
    """`roles` makes names known; those of the built-in table that transcripts use stay so."""
    said = [{**SAID, "role": role} for role in ("Broker", "desk", "agent")]
    assert _warnings(*said, roles={"broker": ["DESK"]}) == []
    assert _warnings({**SAID, "role": "broker"}) == [("unknown_role", "assertions[0].role")]


def test_the_nearest_role_is_named() -> None:
    """A misspelled role gets the right one, in whatever case."""
    (problem,) = lint(_document({**SAID, "role": "Agnet"}))
    assert problem.nearest == "agent"
    assert "`Agnet`" in problem.message


def test_the_earliest_of_several_is_named() -> None:
    """Of equals, the one that a reader meets first."""
    problems = lint(
        _document(CALL, {**CALL, "dimension": "policy"}, NO_CALL, {**NO_CALL, "dimension": "policy"}, CALL)
    )
    told = [problem.message.split("`")[1] for problem in problems if problem.code == "contradiction"]
    assert told == ["a", "a", "c"]


def test_a_warning_has_its_place_in_the_text() -> None:
    """Line and column, and the line of the other assertion."""
    text = "version: 1\nassertions:\n- {id: a, kind: phrase, regex: x}\n- {id: b, kind: phrase, regex: x, absent: true}\n"
    (problem,) = lint(averment.Document.parse(text, name="d.yaml"))
    assert (problem.file, problem.line, problem.column) == ("d.yaml", 4, 3)
    assert "`a` (line 3)" in problem.message


def test_the_other_assertion_may_stand_in_another_file(tmp_path: Path) -> None:
    """Documents that are included are linted as parts of the whole."""
    inner = tmp_path / "inner.yaml"
    inner.write_text("version: 1\nassertions:\n- {id: a, kind: tool_call, name: refund}\n")
    outer = tmp_path / "outer.yaml"
    outer.write_text(
        "version: 1\ninclude: [inner.yaml]\nassertions:\n"
        "- {id: a, kind: tool_call, name: refund}\n- {id: b, kind: tool_call, name: refund, absent: true}\n"
    )
    first, second, third = lint(averment.Document.load(outer))
    assert (first.code, first.line) == ("contradiction", 5)
    assert (second.code, second.file, second.line) == ("contradiction", str(inner), 3)
    assert (third.code, third.file) == ("duplicate_assertion", str(inner))


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ([], "cannot_fail"),
        ([{"type": "banned", "regex": "$x"}], "cannot_fail"),
        ([{"type": "required_disclosure", "regex": "$x"}, {"type": "banned", "regex": "a"}], "cannot_pass"),
        ([{"type": "banned", "regex": "$x"}, {"type": "banned", "regex": "a"}], "matches_nothing"),
        ([{"type": "banned", "regex": "a|"}], "matches_everything"),
        ([{"type": "banned", "regex": "a", "role": "agnet"}], "unknown_role"),
        ([{"type": "banned", "regex": "(?=a)A", "role": "agent"}], None),
    ],
)
def test_the_rules_of_a_policy_are_looked_at(
    rules: list[dict[str, Any]], code: str | None, tmp_path: Path
) -> None:
    """Each rule once, at the first assertion that names the policy."""
    policy = {"rules": [{"id": f"r{number}", **rule} for number, rule in enumerate(rules)]}
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(policy), encoding="utf-8")
    found = _warnings(
        {"kind": "policy", "pack_path": str(path)},
        {"kind": "policy", "pack_path": str(path), "severity": "note"},
    )
    settled = [("cannot_fail", "assertions[1].pack_path"), ("cannot_pass", "assertions[1].pack_path")]
    expected = [] if code is None else [(code, "assertions[0].pack_path")]
    assert [warning for warning in found if warning not in settled] == expected


def test_a_long_formula_is_left_alone() -> None:
    """The truth table of more than twelve assertions is not worked out."""
    said = [{"id": f"s{n}", "kind": "phrase", "regex": f"word {n}"} for n in range(13)]
    for count, expected in ((12, ["cannot_fail"]), (13, [])):
        expr = " or ".join(["not s0", *(f"s{n}" for n in range(count))])
        document = {"version": 1, "assertions": [*said, {"id": "f", "kind": "formula", "expr": expr}]}
        assert [problem.code for problem in lint(averment.Document.of(document))] == expected


def test_thousands_that_contradict_each_other_are_told_once_each() -> None:
    """Every one after the first names one that it fights, not all of them."""
    calls = [{"id": f"a{n}", **CALL, "count": n} for n in range(1, 2001)]
    problems = lint(averment.Document.of({"version": 1, "assertions": calls}))
    assert [problem.code for problem in problems] == ["contradiction"] * 1999


_TOOLS = st.sampled_from(["a", "b"])
_PATTERNS = st.sampled_from(["x", "x*", "$x", "^", "y|", r"x\by", "."])
_COUNTS = st.one_of(
    st.integers(-1, 2),
    st.fixed_dictionaries({"min": st.integers(-1, 1)}),
    st.fixed_dictionaries({"max": st.integers(-1, 1)}),
)
_ARGS = st.sampled_from(
    [{}, {"args": {"n": 1}}, {"args_subset": {"n": 1}}, {"args_subset": {}}, {"args_exact": {}}]
)
_ABSENT = st.fixed_dictionaries({}, optional={"absent": st.booleans()})
_EXPECTED = st.sampled_from([1, 1.0, True, "1", None, {"$gt": 0}])
_ASSERTIONS = st.one_of(
    st.builds(lambda r, a: {"kind": "phrase", "regex": r, **a}, _PATTERNS, _ABSENT),
    st.builds(lambda t, g, a: {"kind": "tool_call", "name": t, **g, **a}, _TOOLS, _ARGS, _ABSENT),
    st.builds(lambda t, g, c: {"kind": "tool_call", "name": t, **g, "count": c}, _TOOLS, _ARGS, _COUNTS),
    st.builds(lambda o: {"kind": "tool_call", "require_order": o}, st.lists(_TOOLS, min_size=1, max_size=3)),
    st.builds(lambda t, u: {"kind": "tool_call", "never_before": {"tool": t, "until": u}}, _TOOLS, _TOOLS),
    st.builds(lambda t, a: {"kind": "tool_result", "name": t, **a}, _TOOLS, _ABSENT),
    st.builds(lambda p, c: {"kind": "count", "phrase": p, "count": c}, _PATTERNS, _COUNTS),
    st.builds(lambda t, c: {"kind": "count", "tool": t, "count": c}, _TOOLS, _COUNTS),
    st.builds(
        lambda b, a, g, m: {"kind": "order", "before": b, "after": a, "guard": g, **m},
        _PATTERNS,
        _PATTERNS,
        st.booleans(),
        st.fixed_dictionaries({}, optional={"must_occur": st.sampled_from(["before", "after", "both"])}),
    ),
    st.builds(
        lambda s, t, m: {"kind": "claim", "says": s, "tool": t, "must_occur": m, "timing": "anywhere"},
        _PATTERNS,
        _TOOLS,
        st.booleans(),
    ),
    st.builds(lambda e: {"kind": "state", "resource": "r", "expect": {"n": e}}, _EXPECTED),
    st.builds(
        lambda e: {"kind": "formula", "expr": e}, st.sampled_from([TRUE, FALSE, "a", "not a or 2*a >= 1"])
    ),
)
_CALLS = st.lists(
    st.builds(
        lambda t, n: {"type": "tool_call", "name": t, "arguments": n, "result": {"ok": True}},
        _TOOLS,
        st.sampled_from([{}, {"n": 1}, {"n": 2}]),
    ),
    max_size=4,
)
_TEXTS = st.lists(st.sampled_from(["", "x", "xy", "x y", "z"]), max_size=3)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(_ASSERTIONS, min_size=1, max_size=5), _CALLS, _TEXTS, st.sampled_from([1, "1", True, None, 5])
)
def test_what_is_warned_of_is_so(
    assertions: list[Fields], calls: list[Fields], texts: list[str], value: object
) -> None:
    """No evidence gives the verdict that a warning rules out."""
    document = _document({"kind": "phrase", "regex": "z"}, *(a for a in assertions))
    evidence = averment.Evidence(
        transcript=[{"role": "agent", "text": text} for text in texts],
        trace=calls,
        state={"r": [{"n": value}]},
    )
    results = averment.run(document, evidence).to_dict()["results"]
    status = {result["id"]: result["status"] for result in results}
    for problem in lint(document):
        one = "abcdefgh"[int((problem.path or "").removeprefix("$.assertions[").partition("]")[0])]
        if problem.code == "cannot_fail":
            assert status[one] != "FAIL"
        elif problem.code == "cannot_pass":
            assert status[one] != "PASS"
        elif problem.code in {"contradiction", "duplicate_assertion"}:
            other = problem.message.split("`")[1]
            if problem.code == "contradiction":
                assert (status[one], status[other]) != ("PASS", "PASS")
            else:
                assert status[one] == status[other]
