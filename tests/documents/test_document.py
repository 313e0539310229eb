"""From text to a checked document, or to every mistake in it with its place and its mend."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from drafts import problems_of
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.documents import Document
from averment.errors import DocumentError, Problem

MINIMAL = {"version": 1, "assertions": [{"id": "a", "kind": "phrase", "regex": "hello"}]}


def single(text: str) -> Problem:
    (problem,) = problems_of(text)
    return problem


def assertion(**fields: Any) -> dict[str, Any]:
    return {"version": 1, "assertions": [{"id": "a", **fields}]}


def codes(value: object) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        Document.of(value)
    return [problem.code for problem in caught.value.problems]


def test_every_mistake_is_reported_at_once_in_the_order_of_its_place() -> None:
    """One report holds them all: fields, values, patterns, references, of all assertions."""
    found = problems_of(
        "version: 2\n"
        "extra: 1\n"
        "assertions:\n"
        "  - id: a\n"
        "    kind: phrase\n"
        "    regx: refund\n"
        "    absent: maybe\n"
        "  - id: a\n"
        "    kind: tool_cal\n"
        "  - {id: c, kind: phrase, regex: '(', when: nobody}\n"
        "  - {id: d, kind: formula, expr: a and nobody}\n"
    )
    assert [(p.code, p.line, p.column, p.path) for p in found] == [
        ("not_allowed", 1, 10, "$.version"),
        ("unknown_field", 2, 1, "$.extra"),
        ("missing_field", 4, 5, "$.assertions[0]"),
        ("unknown_field", 6, 5, "$.assertions[0].regx"),
        ("wrong_type", 7, 13, "$.assertions[0].absent"),
        ("duplicate_id", 8, 9, "$.assertions[1].id"),
        ("unknown_kind", 9, 11, "$.assertions[1].kind"),
        ("bad_pattern", 10, 35, "$.assertions[2].regex"),
        ("unknown_reference", 10, 45, "$.assertions[2].when"),
        ("unknown_reference", 11, 40, "$.assertions[3].expr"),
    ]


def test_an_unknown_field_names_the_nearest_known_one() -> None:
    """A misspelt field is refused with a suggestion, never ignored."""
    problem = single("version: 1\nassertions:\n  - {id: a, kind: phrase, regex: x, abscent: true}\n")
    assert (problem.code, problem.nearest) == ("unknown_field", "absent")
    assert problem.expected is not None
    assert "case_sensitive" in problem.expected


def test_an_unknown_field_deep_inside_is_refused_with_its_path() -> None:
    """Unknown fields are mistakes at every level."""
    problem = single("version: 1\nassertions:\n  - {id: a, kind: tool_call, name: t, count: {mim: 1}}\n")
    assert (problem.code, problem.path, problem.nearest) == (
        "unknown_field",
        "$.assertions[0].count.mim",
        "min",
    )


def test_an_unknown_kind_names_the_nearest_one() -> None:
    """Kinds are case-sensitive; the nearest is offered."""
    problem = single("version: 1\nassertions:\n  - {id: a, kind: tool_cal, name: t}\n")
    assert (problem.code, problem.nearest) == ("unknown_kind", "tool_call")


def test_a_fault_inside_a_pattern_is_placed_to_the_character() -> None:
    """The column of a bad regular expression is that of the offending character, beside non-ASCII text too."""
    problem = single("version: 1\nassertions:\n  - {id: a, kind: phrase, regex: 'é👍 x(y'}\n")
    assert (problem.line, problem.column) == (3, 39)


def test_a_fault_inside_a_block_scalar_is_placed_to_the_character() -> None:
    """The place of a formula's mistake is exact inside a folded block."""
    problem = single(
        "version: 1\nassertions:\n  - id: a\n    kind: formula\n    expr: >-\n      b and\n      nobody\n  - {id: b, kind: phrase, regex: x}\n"
    )
    assert (problem.code, problem.line, problem.column) == ("unknown_reference", 7, 7)


def test_a_fault_in_json_is_placed_too() -> None:
    """JSON documents have lines and columns as YAML ones have."""
    problem = single('{"version": 1,\n "assertions": [\n  {"id": "a", "kind": "phrase", "regex": 7}]}')
    assert (problem.line, problem.column, problem.path) == (3, 42, "$.assertions[0].regex")


@pytest.mark.parametrize("value", [True, 1.0, "1", None, 2, [1]])
def test_the_version_is_the_integer_one(value: object) -> None:
    """No boolean, float or text passes for version 1."""
    assert codes({**MINIMAL, "version": value}) in (["not_allowed"], ["wrong_type"])


@pytest.mark.parametrize("policy", [None, "warn", 1, "Report"])
def test_the_inconclusive_policy_is_one_of_three(policy: object) -> None:
    """A policy that is none of report, fail and refuse is a mistake, null included."""
    assert codes({**MINIMAL, "inconclusive_policy": policy}) in (["not_allowed"], ["wrong_type"])


@pytest.mark.parametrize("value", [None, [], "x", 7, True, {}, {"transcript": []}])
def test_what_has_neither_version_nor_assertions_is_no_document(value: object) -> None:
    """The report says what a document is, and what was found."""
    assert codes(value) == ["not_a_document"]


def test_an_empty_list_of_assertions_is_refused() -> None:
    """A document that can't fail is no document."""
    assert codes({"version": 1, "assertions": []}) == ["empty_value"]


def test_a_reference_to_itself_is_told_as_such() -> None:
    """`when` and formulas may not refer to their own assertion."""
    assert codes(assertion(kind="phrase", regex="x", when="a")) == ["self_reference"]
    assert codes(assertion(kind="formula", expr="a or a")) == ["self_reference"]


def test_a_cycle_prints_the_cycle_and_no_innocent_dependant() -> None:
    """The cycle itself is told, in order, once."""
    items = [
        {"id": name, "kind": "phrase", "regex": "x", "when": other}
        for name, other in (("bystander", "a"), ("a", "b"), ("b", "c"), ("c", "a"))
    ]
    with pytest.raises(DocumentError) as caught:
        Document.of({"version": 1, "assertions": items})
    (problem,) = caught.value.problems
    assert problem.code == "reference_cycle"
    assert problem.message.endswith(": a -> b -> c -> a")


def test_ten_thousand_links_of_when_are_checked() -> None:
    """Long chains take linear time and no recursion."""
    size = 10_000
    items = [
        {
            "id": str(number),
            "kind": "phrase",
            "regex": "x",
            **({"when": str(number + 1)} if number + 1 < size else {}),
        }
        for number in range(size)
    ]
    assert Document.of({"version": 1, "assertions": items}).order[0] == size - 1


def test_an_id_may_hold_any_character() -> None:
    """Ids are free text; only formulas ask for quotes around odd ones."""
    document = Document.of(
        {
            "version": 1,
            "assertions": [
                {"id": "prüfung ✓", "kind": "phrase", "regex": "x"},
                {"id": "f", "kind": "formula", "expr": "'prüfung ✓'"},
            ],
        }
    )
    assert [item.id for item in document.assertions] == ["prüfung ✓", "f"]


def test_yaml_and_json_of_the_same_document_have_the_same_digest(tmp_path: Path) -> None:
    """The digest is over what the document says, not over how it is written, and not over its name."""
    yaml = tmp_path / "d.yaml"
    yaml.write_text(
        "# a comment\nversion: 1\nassertions:\n- kind: phrase\n  id: a\n  regex: 'hello'\n", encoding="utf-8"
    )
    digests = {
        Document.load(yaml).sha256,
        Document.of(MINIMAL).sha256,
        Document.parse(json.dumps(MINIMAL)).sha256,
    }
    assert len(digests) == 1


def test_the_digest_covers_what_a_policy_file_says(tmp_path: Path) -> None:
    """A changed rule changes the document's digest, although the document's text is the same."""
    document = tmp_path / "d.json"
    document.write_text(json.dumps(assertion(kind="policy", pack_path="p.json")), encoding="utf-8")
    digests = set()
    for regex in ("one", "two"):
        rules = [{"id": "r", "type": "banned", "regex": regex}]
        (tmp_path / "p.json").write_text(json.dumps({"rules": rules}), encoding="utf-8")
        digests.add(Document.load(document).sha256)
    assert len(digests) == 2


def test_paths_are_relative_to_the_document_and_to_the_working_folder_for_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where you stand does not matter for a file; for a text there is nothing else to go by."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "p.json").write_text('{"rules": []}', encoding="utf-8")
    text = json.dumps(assertion(kind="policy", pack_path="p.json"))
    (tmp_path / "sub" / "d.json").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert Document.load("sub/d.json").name == "d.json"
    with pytest.raises(DocumentError, match="does not exist"):
        Document.parse(text)
    monkeypatch.chdir(tmp_path / "sub")
    assert Document.parse(text).name is None


@pytest.mark.parametrize("name", ["", "nowhere.yaml", "folder", "bad\0name"])
def test_a_file_that_cannot_be_read_is_a_problem_with_its_name(tmp_path: Path, name: str) -> None:
    """Missing files, folders and impossible names are refused, not raised as something else."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(DocumentError) as caught:
        Document.load(os.path.join(tmp_path, name))
    assert caught.value.problems[0].code in {"not_a_file", "file_not_found", "file_unreadable"}


def test_a_fifo_is_refused_instead_of_blocking(tmp_path: Path) -> None:
    """Only regular files are read."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DocumentError, match="regular file"):
        Document.load(tmp_path / "pipe")


_FIELDS = st.sampled_from(
    [
        *(
            "id",
            "kind",
            "regex",
            "role",
            "absent",
            "name",
            "count",
            "args_subset",
            "steps",
            "expr",
            "when",
            "tool",
        ),
        *(
            "detectors",
            "mode",
            "pack",
            "rule_ids",
            "expect",
            "filters",
            "resource",
            "all_of",
            "phrase",
            "version",
        ),
    ]
)
_SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=True) | st.text(max_size=4)
_KINDS = st.sampled_from(
    ["phrase", "pii", "policy", "tool_call", "tool_result", "outcome", "state", "sequence", "formula"]
)
_VALUES = st.recursive(
    _SCALARS | _KINDS | st.sampled_from(["$gt", "must_not_leak", "ssn"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_FIELDS | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(
    st.lists(
        st.fixed_dictionaries({"kind": _KINDS | _VALUES}, optional={"id": _VALUES, "when": _VALUES})
        | _VALUES,
        max_size=3,
    ),
    _VALUES,
)
@settings(max_examples=200, deadline=None)
def test_any_values_are_a_document_or_a_list_of_problems(items: list[Any], version: object) -> None:
    """Whatever stands in a document, the answer is a document or a DocumentError with problems, nothing else."""
    try:
        Document.of({"version": version, "assertions": items})
    except DocumentError as error:
        assert error.problems  # noqa: PT017 - a value that is right raises nothing
        assert str(error)  # noqa: PT017 - as above


@given(st.dictionaries(_FIELDS, _VALUES, max_size=6), _KINDS)
@settings(max_examples=300, deadline=None)
def test_any_fields_of_a_kind_are_right_or_reported(fields: dict[str, Any], name: str) -> None:
    """The walk that explains mistakes finds one whenever the typed conversion refuses."""
    try:
        Document.of({"version": 1, "assertions": [{**fields, "id": "a", "kind": name}]})
    except DocumentError as error:
        assert all(problem.code != "wrong_value" for problem in error.problems), error  # noqa: PT017 - as above


def test_a_reference_is_checked_although_its_assertion_has_other_mistakes() -> None:
    """One report holds both the misspelt field and the unknown reference of the same assertion."""
    found = codes({"version": 1, "assertions": [{"id": "b", "kind": "phrase", "regx": "x", "when": "nope"}]})
    assert sorted(found) == ["missing_field", "unknown_field", "unknown_reference"]


def test_a_misspelt_field_hides_no_mistake_of_another() -> None:
    """What each field says by itself is checked beside wrong ones; how they go together is not."""
    found = problems_of(
        "version: 1\n"
        "assertions:\n"
        "  - {id: a, kind: phrase, regex: '(', abscent: true}\n"
        "  - {id: b, kind: policy, pack: defalt, rle_ids: []}\n"
        "  - {id: c, kind: tool_call, name: t, args: {x: {$gtt: 1}}, cont: 1}\n"
        "  - {id: d, kind: latency, tool: t, max_m: 5}\n"
        "  - {id: e, kind: tool_call, name: 5, count: 1}\n"
    )
    assert [(p.code, p.line) for p in found] == [
        ("bad_pattern", 3),
        ("unknown_field", 3),
        ("unknown_policy", 4),
        ("unknown_field", 4),
        ("bad_expected_value", 5),
        ("unknown_field", 5),
        ("unknown_field", 6),
        ("wrong_type", 7),
    ]
