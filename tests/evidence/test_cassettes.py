from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from averment.errors import EvidenceError
from averment.evidence.cassettes import MAX_VALUES, read_yaml


def problem_of(data: bytes) -> Any:
    """The one problem of a text."""
    with pytest.raises(EvidenceError) as error:
        read_yaml(data, "tape.yaml")
    return error.value.problems[0]


def test_values_are_those_of_json() -> None:
    """Quoted numbers stay texts, bytes are what they say, an alias is what it repeats."""
    text = b"""\
interactions:
- &one {code: 200, length: '326', ok: true, none: ~, part: 1.5, 12: twelve, date: 2026-01-05}
- *one
- [!!binary aGk=, !!binary //8=, !!str 5]
"""
    one = {
        "code": 200,
        "length": "326",
        "ok": True,
        "none": None,
        "part": 1.5,
        "12": "twelve",
        "date": "2026-01-05",
    }
    value, nesting = read_yaml(text, None)
    assert value == {"interactions": [one, one, ["hi", {"base64_string": "//8="}, "5"]]}
    assert nesting == 3


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        (b"interactions: &a [*a]", "yaml_alias", (1, 19)),
        (b"interactions: !!python/object/apply:os.system [x]", "yaml_tag", (1, 15)),
        (b"interactions: !!python/name:os.system x", "yaml_tag", (1, 15)),
        (b"interactions:\n- {a: 1, a: 2}", "duplicate_key", (2, 10)),
        (b"interactions: {[a]: 1}", "yaml_key", (1, 16)),
        (b"interactions: 1\n---\nb: 2", "yaml_documents", (2, 1)),
        (b"interactions: !!binary '*'", "yaml_binary", (1, 15)),
        (b"interactions: [\n", "yaml_syntax", None),
        (b"interactions: \xff", "invalid_encoding", (1, 15)),
    ],
)
def test_what_is_refused_is_told_with_its_place(
    text: bytes, code: str, place: tuple[int, int] | None
) -> None:
    """By line and column, and nothing of it is quoted."""
    problem = problem_of(text)
    assert problem.code == code
    if place is not None:
        assert (problem.line, problem.column) == place


def test_depth_is_bounded() -> None:
    """Also where an alias makes it."""
    assert problem_of(b"interactions: " + b"[" * 300 + b"]" * 300).code == "evidence_too_deep"
    steps = b"".join(b"- &a%d [%s*a%d%s]\n" % (i + 1, b"[" * 30, i, b"]" * 30) for i in range(10))
    assert problem_of(b"interactions:\n- &a0 [x]\n" + steps).code == "evidence_too_deep"


def test_aliases_are_bounded_by_what_they_repeat() -> None:
    """A few lines stand for more values than fit anywhere."""
    lines = b"".join(b"- &a%d [%s]\n" % (i + 1, b",".join([b"*a%d" % i] * 10)) for i in range(12))
    problem = problem_of(b"interactions:\n- &a0 [x]\n" + lines)
    assert problem.code == "too_many_values"
    assert f"{MAX_VALUES:,}" in problem.message


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """No other error comes out."""
    try:
        read_yaml(b"interactions: " + data, None)
    except EvidenceError:
        return
