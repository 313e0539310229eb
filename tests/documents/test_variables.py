"""`vars`: what `{{name}}` stands for, and that mistakes are told where they were written."""

from __future__ import annotations

import importlib
import re

import msgspec
import pytest
from drafts import HEAD, PLAIN, at, fields_of, of, places, problems_of
from hypothesis import given, settings
from hypothesis import strategies as st

from averment import Evidence, run
from averment.assertions import KINDS, kind
from averment.documents import Document
from averment.documents import expand as expanding
from averment.errors import DocumentError


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
