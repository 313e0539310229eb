"""`vars`, `defaults` and `include`: what they stand for, and that mistakes are told where they were written."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment import Evidence, run
from averment.assertions import KINDS, kind
from averment.documents import Document
from averment.documents import expand as expanding
from averment.errors import DocumentError, Problem

HEAD = "version: 1\n"
PLAIN = HEAD + "assertions:\n  - {id: a, kind: phrase, regex: hello}\n"


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(DocumentError) as caught:
        Document.parse(text, name="d.yaml")
    return caught.value.problems


def load_problems(path: Path) -> tuple[Problem, ...]:
    with pytest.raises(DocumentError) as caught:
        Document.load(path)
    return caught.value.problems


def places(problems: tuple[Problem, ...]) -> list[tuple[str, str, int | None, int | None]]:
    return [(p.code, Path(p.file or "").name, p.line, p.column) for p in problems]


def at(text: str, needle: str) -> tuple[int, int]:
    """The line and column where the needle stands in the text, once."""
    assert text.count(needle) == 1
    before = text[: text.index(needle)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def written(folder: Path, files: Mapping[str, str]) -> Path:
    """Writes files; the path of the first."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / next(iter(files))


def of(*assertions: Mapping[str, Any], **document: Any) -> Document:
    items = [{"id": f"a{index}", **assertion} for index, assertion in enumerate(assertions)]
    return Document.of({"version": 1, "assertions": items, **document})


def fields_of(document: Document, index: int = 0) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(document.assertions[index])
    return fields


# Variables.


def test_a_string_that_is_a_variable_takes_the_value_with_its_type() -> None:
    """`{{n}}` alone is the value itself; within a longer string it is text, as JSON writes it."""
    values = {"n": 5, "x": 1.5, "yes": True, "none": None, "word": "A-17"}
    document = of(
        {
            "kind": "tool_call",
            "name": "{{word}}",
            "args": {name: f"{{{{{name}}}}}" for name in values}
            | {"list": ["{{n}}", "n={{ n }},{{yes}}{{none}}"]},
            "count": {"min": "{{n}}"},
        },
        vars=values,
    )
    fields = fields_of(document)
    assert fields["name"] == "A-17"
    assert fields["args"] == {**values, "list": [5, "n=5,truenull"]}
    assert fields["count"] == {"min": 5}


def test_a_variable_in_a_regular_expression_matches_itself() -> None:
    """In a pattern, and in `$regex`, the value is escaped; elsewhere it is not."""
    document = of(
        {"kind": "phrase", "regex": "^{{price}}$"},
        {"kind": "phrase", "regex": "{{price}}"},
        {"kind": "tool_call", "name": "t", "args": {"a": {"$regex": "{{price}}"}, "regex": "{{price}}!"}},
        {"kind": "sequence", "steps": [{"phrase": "{{price}}"}, {"tool": "{{price}}"}]},
        {"kind": "phrase", "regex": r"\d{{{digits}}}"},
        vars={"price": "$4.50 (net)", "digits": 4},
    )
    escaped = re.escape("$4.50 (net)")
    assert fields_of(document, 0)["regex"] == f"^{escaped}$"
    assert fields_of(document, 1)["regex"] == escaped
    assert fields_of(document, 2)["args"] == {"a": {"$regex": escaped}, "regex": "$4.50 (net)!"}
    assert fields_of(document, 3)["steps"] == [{"phrase": escaped}, {"tool": "$4.50 (net)"}]
    assert fields_of(document, 4)["regex"] == r"\d{4}"
    envelope = run(document, Evidence(transcript=[{"role": "agent", "text": "$4.50 (net)"}]))
    assert envelope.results[0].status == "PASS"


@given(st.text(st.characters(exclude_characters="{}", exclude_categories=["Cs", "Cc"]), min_size=1))
@settings(deadline=None, max_examples=100)
def test_any_text_is_found_by_a_pattern_made_of_it(text: str) -> None:
    """Whatever a variable holds, the pattern `{{it}}` finds it and nothing is left of its special meaning."""
    document = of({"kind": "phrase", "regex": "^{{it}}$", "case_sensitive": True}, vars={"it": text})
    assert re.fullmatch(fields_of(document)["regex"], text)


@pytest.mark.parametrize("name", KINDS)
def test_every_regular_expression_of_a_kind_is_known_as_one(name: str) -> None:
    """Fields that hold a pattern have the type `Regex`, so that variables are escaped in them."""
    from averment.text.structs import is_marked

    document = Document.parse(kind(name).example or PLAIN)
    for use in document.assertions[0].patterns():
        assert is_marked(type(document.assertions[0]), use.path, "regex"), use.path
    for cls in vars(importlib.import_module(f"averment.assertions.{name}")).values():
        if (
            isinstance(cls, type)
            and issubclass(cls, msgspec.Struct)
            and cls.__module__.startswith("averment.assertions")
        ):
            for field in {"regex", "phrase", "says", "url_matches", "error_matches"} & {
                *cls.__struct_fields__
            }:
                assert is_marked(cls, (field,), "regex"), (cls, field)


def test_four_braces_stand_for_two() -> None:
    """`{{{{` writes the braces themselves; closing braces need nothing; keys are never touched."""
    document = of({"kind": "tool_call", "name": "t", "args": {"{{k}}": "{{{{name}} }}", "b": "}}}} {x}"}})
    assert fields_of(document)["args"] == {"{{k}}": "{{name}} }}", "b": "}}}} {x}"}


def test_an_unknown_variable_names_the_nearest_and_stands_at_its_character() -> None:
    """A misspelt variable is a mistake, and nothing else is said of that assertion."""
    text = (
        HEAD + "vars: {tool: x}\nassertions:\n  - {id: a, kind: tool_call, name: 'call {{tol}}', count: 3}\n"
    )
    (problem,) = problems_of(text)
    assert (problem.code, problem.nearest) == ("unknown_variable", "tool")
    assert (problem.line, problem.column) == at(text, "tol}}")


def test_without_vars_two_braces_are_told_too() -> None:
    """A placeholder that nobody fills is never passed on silently."""
    (problem,) = problems_of(HEAD + "assertions:\n  - {id: a, kind: phrase, regex: 'hello {{name}}'}\n")
    assert problem.code == "unknown_variable"
    assert "{{{{" in (problem.mend or "")


@pytest.mark.parametrize("written_text", ["x {{name", "x {{na}me}}", "{{", r"\{{name}}", r"\\\{{name}}"])
def test_a_placeholder_that_is_none_is_a_mistake(written_text: str) -> None:
    """Braces that are not closed, or that a backslash would change, are told with the way to write them."""
    text = HEAD + f"vars: {{name: b}}\nassertions:\n  - {{id: a, kind: phrase, regex: '{written_text}'}}\n"
    (problem,) = problems_of(text)
    assert problem.code == "bad_placeholder"
    assert (problem.line, problem.column) == at(text, "{{")


def test_an_escaped_backslash_before_a_variable_is_one() -> None:
    """Two backslashes are a backslash of the text, and the variable is one."""
    document = of({"kind": "phrase", "regex": r"\\{{name}}"}, vars={"name": "b"})
    assert fields_of(document)["regex"] == r"\\b"


def test_variables_do_not_nest() -> None:
    """A placeholder in a value is a mistake, not text that quietly stays."""
    text = HEAD + "vars: {a: x, b: '{{a}}'}\nassertions:\n  - {id: a, kind: phrase, regex: '{{b}}{{a}}'}\n"
    assert [problem.code for problem in problems_of(text)] == ["nested_variable"]


def test_a_kind_is_never_a_variable() -> None:
    """Which fields there are, and which of them are patterns, can be read off the document."""
    text = HEAD + "vars: {k: phrase}\nassertions:\n  - {id: a, kind: '{{k}}', regex: '{{k}}'}\n"
    assert places(problems_of(text)) == [("unknown_kind", "d.yaml", *at(text, "'{{k}}', "))]


def test_an_unused_variable_is_a_warning() -> None:
    """It is told at its name, and the document is right."""
    document = Document.parse(HEAD + "vars:\n  odd: 1\n" + PLAIN.removeprefix(HEAD), name="d.yaml")
    (warning,) = document.warnings
    assert (warning.code, warning.severity, warning.line, warning.column) == (
        "unused_variable",
        "warning",
        3,
        3,
    )


def test_a_fault_after_a_variable_stands_where_it_was_written() -> None:
    """Offsets into what a pattern became are led back to what was written."""
    text = (
        HEAD + "vars: {long: 'a much longer text than its name'}\nassertions:\n"
        "  - {id: a, kind: phrase, regex: '{{long}} and {{long}} (x'}\n"
        "  - {id: b, kind: formula, expr: 'a and {{long}}'}\n"
    )
    assert places(problems_of(text)) == [
        ("bad_pattern", "d.yaml", *at(text, "(x")),
        ("bad_formula", "d.yaml", *at(text, "{{long}}'}\n")),
    ]


def test_expansion_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document can't grow beyond the limit of documents by repeating a long value."""
    monkeypatch.setattr(expanding, "MAX_DOCUMENT_BYTES", 10_000)
    text = (
        HEAD
        + f"vars: {{x: '{'x' * 1000}'}}\nassertions:\n  - {{id: a, kind: phrase, regex: '{'{{x}}' * 20}'}}\n"
    )
    with pytest.raises(DocumentError) as caught:
        Document.parse(text)
    assert [(p.code, p.line) for p in caught.value.problems] == [("document_too_large", 4)]


# Defaults.


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


# Includes.

INNER = (
    HEAD + "assertions:\n  - {id: said, kind: phrase, regex: hello}\n"
    "  - {id: done, kind: tool_call, name: t, when: said}\n"
    "  - {id: both, kind: formula, expr: said and not 'done'}\n"
)


def test_included_assertions_follow_with_a_prefix(tmp_path: Path) -> None:
    """Ids and all that mentions them are prefixed by the file's name, or as asked; places name the file."""
    outer = written(
        tmp_path,
        {
            "outer.yaml": PLAIN + "include: [sub/inner.yaml, {path: sub/inner.yaml, as: 2nd}]\n",
            "sub/inner.yaml": INNER,
        },
    )
    document = Document.load(outer)
    assert [a.id for a in document.assertions] == [
        "a",
        *("inner.said", "inner.done", "inner.both"),
        *("2nd.said", "2nd.done", "2nd.both"),
    ]
    assert document.assertions[2].premises() == ("inner.said",)
    assert fields_of(document, 3)["expr"] == "inner.said and not inner.done"
    assert fields_of(document, 6)["expr"] == "'2nd.said' and not '2nd.done'"
    results = run(document, Evidence(transcript=[], trace=[])).to_dict()["results"]
    assert [result["at"] for result in results[:2]] == [
        {"line": 3, "column": 5},
        {"line": 3, "column": 5, "file": "sub/inner.yaml"},
    ]
    assert results[3]["refs"] == ["inner.said", "inner.done"]
    assert document.file_name(1) == str(tmp_path / "sub" / "inner.yaml")


def test_an_including_document_may_mention_what_it_includes(tmp_path: Path) -> None:
    """By the prefixed id, in `when` and formulas."""
    text = (
        HEAD
        + "include: [inner.yaml]\nassertions:\n  - {id: a, kind: formula, expr: inner.said, when: inner.both}\n"
    )
    document = Document.load(written(tmp_path, {"outer.yaml": text, "inner.yaml": INNER}))
    assert [document.assertions[index].id for index in document.order][-1] == "a"


def test_a_document_may_consist_of_includes(tmp_path: Path) -> None:
    """Assertions may be left out where others are included, and only there."""
    outer = written(tmp_path, {"outer.yaml": HEAD + "include: [inner.yaml]\n", "inner.yaml": INNER})
    assert len(Document.load(outer).assertions) == 3
    with pytest.raises(DocumentError):
        Document.parse(HEAD + "include: []\n")


def test_mistakes_in_an_included_document_stand_in_its_file(tmp_path: Path) -> None:
    """All of them are told at once, at their own lines, with names as they are written there."""
    inner = (
        HEAD + "vars: {x: long text}\ndefaults: {dimensoin: policy}\nassertions:\n"
        "  - {id: a, kind: phrase, regx: x}\n"
        "  - {id: b, kind: formula, expr: \"{{x}} c and 'd'\"}\n"
        "  - {id: cc, kind: formula, expr: b and ccc, when: bb}\n"
        "  - {id: d, kind: phrase, regex: '{{x}}('}\n"
    )
    outer = written(
        tmp_path, {"outer.yaml": PLAIN + "extra: 1\ninclude: [inner.yaml]\n", "inner.yaml": inner}
    )
    found = load_problems(outer)
    assert places(found) == [
        ("unknown_field", "outer.yaml", 4, 1),
        ("unknown_field", "inner.yaml", *at(inner, "dimensoin")),
        ("missing_field", "inner.yaml", *at(inner, "{id: a")),
        ("unknown_field", "inner.yaml", *at(inner, "regx")),
        ("bad_formula", "inner.yaml", *at(inner, "{{x}} c")),
        ("unknown_reference", "inner.yaml", *at(inner, "ccc")),
        ("unknown_reference", "inner.yaml", *at(inner, "bb}")),
        ("bad_pattern", "inner.yaml", *at(inner, "('}")),
    ]
    assert found[6].message == "there is no assertion `bb`"


def test_an_unknown_id_in_a_prefixed_formula_stands_at_its_character(tmp_path: Path) -> None:
    """Prefixes before it don't move the place, and the suggestion is what one would write there."""
    inner = (
        HEAD
        + "assertions:\n  - {id: said, kind: phrase, regex: x}\n  - {id: f, kind: formula, expr: said and sad}\n"
    )
    outer = written(tmp_path, {"outer.yaml": PLAIN + "include: [inner.yaml]\n", "inner.yaml": inner})
    (problem,) = load_problems(outer)
    assert (problem.code, problem.line, problem.column) == ("unknown_reference", 4, 43)
    assert (problem.message, problem.nearest) == ("there is no assertion `sad`", "said")


def test_an_included_document_may_be_given_values_of_its_variables(tmp_path: Path) -> None:
    """They replace its own values; variables that it does not declare can't be given."""
    inner = (
        HEAD
        + "vars: {tool: t, n: 1}\nassertions:\n  - {id: a, kind: tool_call, name: '{{tool}}', count: {min: '{{n}}'}}\n"
    )
    files = {
        "outer.yaml": HEAD + "include:\n  - inner.yaml\n  - {path: inner.yaml, as: other, vars: {tool: u}}\n",
        "inner.yaml": inner,
        "wrong.yaml": HEAD + "include:\n  - {path: inner.yaml, vars: {tol: u, n: '{{x}}'}}\n",
    }
    document = Document.load(written(tmp_path, files))
    assert [(fields_of(document, i)["name"], fields_of(document, i)["count"]) for i in range(2)] == [
        ("t", {"min": 1}),
        ("u", {"min": 1}),
    ]
    found = load_problems(tmp_path / "wrong.yaml")
    assert [(p.code, p.nearest, p.line) for p in found if "outer" not in str(p.file)][:2] == [
        ("unknown_variable", "tool", 3),
        ("nested_variable", None, 3),
    ]


def test_policies_are_found_beside_the_document_that_names_them(tmp_path: Path) -> None:
    """`pack_path` is relative to the included file, and the policy's content is in the digest."""
    files = {
        "outer.yaml": HEAD + "include: [sub/inner.yaml]\n",
        "sub/inner.yaml": HEAD + "assertions:\n  - {id: a, kind: policy, pack_path: rules.yaml}\n",
        "sub/rules.yaml": "rules:\n  - {id: r, type: banned, regex: x}\n",
    }
    first = Document.load(written(tmp_path, files)).sha256
    written(tmp_path, {"sub/rules.yaml": "rules:\n  - {id: r, type: banned, regex: y}\n"})
    assert Document.load(tmp_path / "outer.yaml").sha256 != first


def test_the_digest_covers_what_is_included_and_not_its_path(tmp_path: Path) -> None:
    """The same content under another path has the same digest; other content another."""

    def digest(path: str, inner: str, **extra: Any) -> str:
        folder = tmp_path / str(len([*tmp_path.iterdir()]))
        outer = json.dumps({"version": 1, "include": [{"path": path, "as": "p", **extra}]})
        return Document.load(written(folder, {"outer.json": outer, path: inner})).sha256

    first = digest("inner.yaml", INNER)
    assert digest("x/moved.yaml", INNER + "# a comment\n") == first
    assert digest("inner.yaml", INNER.replace("hello", "bye")) != first
    given_value = HEAD + "vars: {x: y}\nassertions:\n  - {id: a, kind: phrase, regex: '{{x}}'}\n"
    assert digest("inner.yaml", given_value) != digest("inner.yaml", given_value, vars={"x": "z"})


def test_a_cycle_of_includes_is_printed(tmp_path: Path) -> None:
    """The mistake stands at the include that closes it."""
    outer = written(
        tmp_path,
        {"a.yaml": PLAIN + "include: [b.yaml]\n", "b.yaml": PLAIN + "include:\n  - sub/../a.yaml\n"},
    )
    (problem,) = load_problems(outer)
    assert problem.code == "include_cycle"
    assert re.search(r"a\.yaml -> \S*b\.yaml -> \S*a\.yaml$", problem.message)
    assert (Path(problem.file or "").name, problem.line) == ("b.yaml", 5)


def test_includes_are_bounded_in_depth_and_number(tmp_path: Path) -> None:
    """Beyond the limits nothing more is read."""
    chain = {f"{n}.yaml": PLAIN + f"include: [{n + 1}.yaml]\n" for n in range(expanding.MAX_INCLUDE_DEPTH)}
    last = f"{expanding.MAX_INCLUDE_DEPTH}.yaml"
    outer = written(tmp_path, {**chain, last: PLAIN})
    assert [problem.code for problem in load_problems(outer)] == ["too_many_includes"]
    assert len(Document.load(tmp_path / "1.yaml").assertions) == expanding.MAX_INCLUDE_DEPTH
    entries = ", ".join(f"{{path: {last}, as: p{n}}}" for n in range(expanding.MAX_INCLUDES + 1))
    many = written(tmp_path, {"many.yaml": HEAD + f"include: [{entries}]\n"})
    assert [problem.code for problem in load_problems(many)] == ["too_many_includes"]


def test_what_can_not_be_included_is_told_at_the_include(tmp_path: Path) -> None:
    """A file that isn't there, a folder, no document, a syntax error, a policy that doesn't exist, a name twice."""
    files = {
        "outer.yaml": HEAD
        + "include:\n  - nowhere.yaml\n  - sub\n  - list.yaml\n  - broken.yaml\n  - policy:pii-lek\n"
        "  - policy:default\n  - in.yaml\n  - sub/in.yaml\n  - {path: in.yaml, as: "
        + "x" * 101
        + "}\n  - 5\n",
        "sub/in.yaml": PLAIN,
        "in.yaml": PLAIN,
        "list.yaml": "[1]\n",
        "broken.yaml": "a: [\n",
    }
    found = load_problems(written(tmp_path, files))
    assert sorted((p.line or 0, p.code) for p in found if Path(p.file or "").name == "outer.yaml") == [
        (3, "file_not_found"),
        (4, "not_a_file"),
        (7, "unknown_policy"),
        (8, "unknown_policy"),
        (10, "duplicate_prefix"),
        (11, "prefix_too_long"),
        (12, "wrong_type"),
    ]
    assert [(Path(p.file or "").name, p.code) for p in found if Path(p.file or "").name != "outer.yaml"] == [
        ("list.yaml", "not_a_document"),
        ("broken.yaml", "yaml_syntax"),
    ]


def test_an_id_that_stands_twice_names_both_files(tmp_path: Path) -> None:
    """A duplicate across documents is told with both places."""
    text = HEAD + "assertions:\n  - {id: inner.said, kind: phrase, regex: x}\ninclude: [inner.yaml]\n"
    (problem,) = load_problems(written(tmp_path, {"outer.yaml": text, "inner.yaml": INNER}))
    assert problem.code == "duplicate_id"
    assert re.search(r"`inner\.said` is used twice \(first in \S*outer\.yaml, on line 3\)$", problem.message)
    assert (Path(problem.file or "").name, problem.line) == ("inner.yaml", 3)


def test_policy_and_roles_are_decided_once(tmp_path: Path) -> None:
    """An included document may repeat them, and not say otherwise."""
    files = {
        "outer.yaml": PLAIN + "inconclusive_policy: fail\ninclude: [same.yaml, other.yaml]\n",
        "same.yaml": PLAIN + "inconclusive_policy: fail\n",
        "other.yaml": PLAIN + "roles: {agent: [robot]}\ninconclusive_policy: report\n",
    }
    found = load_problems(written(tmp_path, files))
    assert places(found) == [("decided_twice", "other.yaml", 4, 8), ("decided_twice", "other.yaml", 5, 22)]


def test_a_joined_document_keeps_the_first_ones_decisions(tmp_path: Path) -> None:
    """Assertions follow one another, and ids are unique over all."""
    first = Document.parse(PLAIN + "inconclusive_policy: refuse\n", name="first.yaml")
    second = Document.load(written(tmp_path, {"second.yaml": PLAIN.replace("id: a", "id: b")}))
    both = first.joined(second, Document.load("policy:pii-leak"))
    assert [a.id for a in both.assertions] == ["a", "b", "pii-leak.no-pii"]
    assert (both.inconclusive_policy, both.name) == ("refuse", "first.yaml")
    assert [place.file for index in range(3) if (place := both.position(index))] == [
        None,
        "second.yaml",
        "policy:pii-leak",
    ]
    assert len({both.sha256, first.sha256, second.sha256}) == 3
    with pytest.raises(DocumentError, match=r"first in first\.yaml, on line 3"):
        first.joined(Document.parse(PLAIN, name="again.yaml"))


def test_a_document_may_say_what_it_is_about() -> None:
    """Name, title and description change nothing but the digest."""
    document = of({"kind": "phrase", "regex": "x"}, name="n", title="t", description="d")
    assert [a.id for a in document.assertions] == ["a0"]


# Whatever stands there.

_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["{{x}}", "{{", "{{{{", "{{y}}", "policy:pii-leak", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["x", "y", "path", "as", "vars", "role", "severity", "a"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "vars": _values,
            "defaults": _values,
            "include": _values,
            "assertions": _values,
            "title": _values,
        },
    ),
    st.dictionaries(st.sampled_from(["id", "kind", "regex", "when", "expr", "role", "tags"]), _values),
)
@settings(deadline=None, max_examples=200)
def test_any_document_is_right_or_reported(document: dict[str, Any], fields: dict[str, Any]) -> None:
    """Whatever the three fields hold, there is a document or a list of problems."""
    item = {"id": "a", "kind": "phrase", "regex": "{{x}}", **fields}
    value = {"version": 1, "assertions": [item, {"id": "f", "kind": "formula", "expr": "a"}], **document}
    try:
        assert Document.of(value).assertions
    except DocumentError as error:
        assert error.problems  # noqa: PT017 - either is right
