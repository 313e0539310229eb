from __future__ import annotations

import pytest

from averment.text.patterns import tree
from averment.text.patterns.tree import (
    Atomic,
    Chars,
    Choice,
    Condition,
    Edge,
    Look,
    Reference,
    Repeat,
    UnknownConstructError,
    read,
    walk,
)


@pytest.mark.parametrize(
    ("source", "kind", "least", "most"),
    [
        ("a", Chars, 1, 1),
        (".", Chars, 1, 1),
        ("ab|c", Choice, 1, 2),
        ("(?:ab){2,3}", Repeat, 4, 6),
        ("a+?", Repeat, 1, None),
        ("(?:)*", Repeat, 0, 0),
        ("a*+", Atomic, 0, None),
        ("(?>ab)", Atomic, 2, 2),
        ("(?=abc)", Look, 0, 0),
        (r"\b", Edge, 0, 0),
        ("(?!)", (Choice, Look), 0, 0),
    ],
)
def test_nodes_know_what_they_consume(
    source: str, kind: type | tuple[type, ...], least: int, most: int | None
) -> None:
    """Every construct has its node, with the bounds on its width."""
    root = read(source, ignore_case=False)[0].root
    assert isinstance(root, kind)
    assert (root.least, root.most) == (least, most)


def test_flags_are_resolved_where_they_stand() -> None:
    """Inline and scoped flags end up in the sets and edges that they reach."""
    nodes = [*walk(read(r"(?im)a(?-i:b)(?a:\b\w)$", ignore_case=False)[0].root)]
    sets = [node for node in nodes if isinstance(node, Chars)]
    assert [(node.ignore_case, node.ascii_only) for node in sets] == [
        (True, False),
        (False, False),
        (True, True),
    ]
    assert [node.kind for node in nodes if isinstance(node, Edge)] == [r"\ba", "$m"]


def test_references_and_conditions_are_read() -> None:
    """Groups are kept by number, for those who refer to them."""
    found, _ = read(r"(ab)(?P<c>d)?(?(c)x|yz)(?i:\1)", ignore_case=False)
    nodes = {type(node): node for node in walk(found.root)}
    assert found.groups[1].most == 2
    reference = nodes[Reference]
    assert isinstance(reference, Reference)
    assert (reference.group, reference.ignore_case, reference.most) == (1, True, 2)
    assert (nodes[Condition].least, nodes[Condition].most) == (1, 2)


def test_an_unknown_construct_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a future `re` parses and this version doesn't know is never guessed at."""
    monkeypatch.setattr(tree, "_EDGES", {})
    with pytest.raises(UnknownConstructError, match="AT_BEGINNING"):
        read("^a", ignore_case=False)
    monkeypatch.setattr(tree, "_CATEGORIES", {})
    with pytest.raises(UnknownConstructError, match="CATEGORY"):
        read(r"\d", ignore_case=False)
