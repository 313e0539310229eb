"""`vars`, `defaults` and `include` together, whatever they hold."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from averment.documents import Document
from averment.errors import DocumentError

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
