"""`include` and joined documents: prefixes, bounds, and mistakes told in the file that holds them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from drafts import HEAD, PLAIN, at, fields_of, load_problems, of, places, written

from averment import Evidence, run
from averment.documents import Document
from averment.documents import expand as expanding
from averment.errors import DocumentError

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
