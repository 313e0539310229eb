from __future__ import annotations

from typing import Any

import pytest

from averment.oracle.child.capabilities import CATEGORIES, DEFAULTS, CapabilityMistake, read_capabilities

NAMES = ["assert_a", "assert_b"]


def mistakes(source: str, *, module_has_it: bool = True) -> dict[str | None, list[CapabilityMistake]]:
    return read_capabilities(source, NAMES, module_has_it=module_has_it)[1]


def test_a_predicate_that_declares_nothing_has_the_defaults() -> None:
    """With no declaration, and with one that leaves it out."""
    assert read_capabilities("", NAMES, module_has_it=False) == (dict.fromkeys(NAMES, DEFAULTS), {})
    source = 'ASSERTION_CAPABILITIES = {"assert_b": {"trace": True}}'
    assert read_capabilities(source, NAMES, module_has_it=True) == (
        {"assert_a": DEFAULTS, "assert_b": {"trace": True, "executable": True, "category": "unclassified"}},
        {},
    )


@pytest.mark.parametrize("category", CATEGORIES)
def test_what_is_declared_is_read(category: str) -> None:
    """All three fields, for every category."""
    entry = {"trace": True, "executable": False, "category": category}
    source = f"ASSERTION_CAPABILITIES: dict[str, object] = {{'assert_a': {entry!r}}}"
    assert read_capabilities(source, NAMES, module_has_it=True)[0]["assert_a"] == entry


def test_the_first_assignment_at_the_top_level_counts() -> None:
    """Not one inside a function, not a later one, not an annotation without a value."""
    source = (
        "def f():\n    ASSERTION_CAPABILITIES = 1\n"
        "ASSERTION_CAPABILITIES: dict\n"
        "ASSERTION_CAPABILITIES = {'assert_a': {'category': 'path'}}\n"
        "ASSERTION_CAPABILITIES = 2\n"
    )
    capabilities, found = read_capabilities(source, NAMES, module_has_it=True)
    assert capabilities["assert_a"]["category"] == "path"
    assert found == {}


@pytest.mark.parametrize(
    ("source", "line", "column", "message"),
    [
        ("x = (", 1, 5, "the file can't be parsed: "),
        ("a = 1\nb = '\0'", 2, 6, "the file can't be parsed: source code has a null character in it"),
        ("é = '\ud800'", 1, 6, "the file can't be parsed: source code has half of a surrogate pair in it"),
        (
            "ASSERTION_CAPABILITIES = dict.fromkeys(['assert_a'])",
            1,
            26,
            "`ASSERTION_CAPABILITIES` has a computed value; write it out as a literal",
        ),
        (
            "ASSERTION_CAPABILITIES = {\n 'assert_a': {'trace': bool(1)}}",
            2,
            24,
            "`ASSERTION_CAPABILITIES` has a computed value; write it out as a literal",
        ),
        (
            "ASSERTION_CAPABILITIES = {'assert_a': {}, **more}",
            1,
            45,
            "`ASSERTION_CAPABILITIES` has a computed value; write it out as a literal",
        ),
        (
            "ASSERTION_CAPABILITIES = ['assert_a']",
            1,
            26,
            "`ASSERTION_CAPABILITIES` must be a mapping, and is of type list",
        ),
        (
            "ASSERTION_CAPABILITIES = {'assert_a': {}, 'assert_aa': {}}",
            1,
            43,
            (
                "`ASSERTION_CAPABILITIES` names `assert_aa`, and the file exports no such assertion; "
                "did you mean `assert_a`?"
            ),
        ),
        (
            "ASSERTION_CAPABILITIES = {'überwiesen': {}}",
            1,
            27,
            "`ASSERTION_CAPABILITIES` names `überwiesen`, and the file exports no such assertion",
        ),
        (
            "from helpers import ASSERTION_CAPABILITIES",
            None,
            None,
            (
                "the module has `ASSERTION_CAPABILITIES`, and no top-level statement "
                "`ASSERTION_CAPABILITIES = {...}` in the file says so"
            ),
        ),
    ],
)
def test_a_mistake_in_the_whole_leaves_no_predicate_with_capabilities(
    source: str, line: int | None, column: int | None, message: str
) -> None:
    """Its place is where it stands, and the message says what it is."""
    capabilities, found = read_capabilities(source, NAMES, module_has_it=True)
    assert capabilities == {}
    assert list(found) == [None]
    [mistake] = found[None]
    assert mistake.message.startswith(message)
    assert (mistake.line, mistake.column) == (line, column)


@pytest.mark.parametrize(
    ("entry", "column", "message"),
    [
        ("[]", 39, "the entry of `assert_a` must be a mapping, and is of type list"),
        (
            "{'executble': True}",
            40,
            "the entry of `assert_a` has an unknown field `executble`; did you mean `executable`?",
        ),
        (
            "{7: True}",
            40,
            "the entry of `assert_a` has an unknown field `7`; the fields are trace, executable, category",
        ),
        ("{'trace': 1}", 49, "`trace` of `assert_a` must be True or False, and is `1`"),
        ("{'executable': 'no'}", 54, "`executable` of `assert_a` must be True or False, and is `no`"),
        (
            "{'category': 'results'}",
            52,
            "the entry of `assert_a` has an unknown category `results`; did you mean `result`?",
        ),
        (
            "{'category': {'b', 'a'}}",
            52,
            (
                "the entry of `assert_a` has an unknown category `{'b', 'a'}`; "
                "the categories are state, path, result, final_answer, unclassified"
            ),
        ),
    ],
)
def test_a_mistake_in_an_entry_concerns_that_predicate_alone(entry: str, column: int, message: str) -> None:
    """The others keep what they declare."""
    source = f"ASSERTION_CAPABILITIES = {{'assert_a': {entry}, 'assert_b': {{'category': 'path'}}}}"
    capabilities, found = read_capabilities(source, NAMES, module_has_it=True)
    assert found == {"assert_a": [CapabilityMistake(message, 1, column)]}
    assert capabilities == {"assert_b": {**DEFAULTS, "category": "path"}}


def test_all_mistakes_are_told_at_once() -> None:
    """Of one entry, and of several."""
    source = (
        "ASSERTION_CAPABILITIES = {\n"
        "    'assert_a': {'trace': 0, 'kind': 1, 'category': None},\n"
        "    'assert_b': 'path',\n"
        "}\n"
    )
    found = mistakes(source)
    assert [(each.line, each.column) for each in found["assert_a"]] == [(2, 27), (2, 30), (2, 53)]
    assert [(each.line, each.column) for each in found["assert_b"]] == [(3, 17)]
    several = mistakes("ASSERTION_CAPABILITIES = {'assert_x': f(), 'assert_y': g()}")
    assert [each.column for each in several[None]] == [39, 56]


@pytest.mark.parametrize(
    "source",
    [
        "ASSERTION_CAPABILITIES = {'assert_a': {'trace': " + "[" * 150 + "]" * 150 + "}}",
        "ASSERTION_CAPABILITIES = {'assert_a': {'trace': 0x" + "f" * 10_000 + "}}",
        "ASSERTION_CAPABILITIES = {'assert_a': {'trace': '" + "x" * 10_000 + "'}}",
    ],
    ids=["deep", "digits", "long"],
)
def test_a_hostile_value_is_a_mistake_like_any_other(source: str) -> None:
    """Nothing that can be written in a literal stops the reader."""
    found: dict[Any, list[CapabilityMistake]] = mistakes(source)
    [mistake] = found["assert_a"]
    assert mistake.message.startswith("`trace` of `assert_a` must be True or False, and is `")


def test_nothing_of_the_file_runs() -> None:
    """The file is read, not executed."""
    source = "raise SystemExit\nASSERTION_CAPABILITIES = {'assert_a': {'category': 'path'}}"
    assert read_capabilities(source, NAMES, module_has_it=True)[0]["assert_a"]["category"] == "path"
