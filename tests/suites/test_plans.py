from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from averment.documents import Document
from averment.suites import plans
from averment.suites.plans import Plans, document_path
from averment.suites.tables import Row


def _rows(*values: dict[str, Any]) -> list[Row]:
    return [Row(f"case {number}", number, each, {}) for number, each in enumerate(values, 1)]


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The values of each time that a document was loaded."""
    seen: list[Any] = []
    load: Callable[..., Document] = Document.load

    def counted(path: str, *, values: Any) -> Document:
        seen.append(values)
        return load(path, values=values)

    monkeypatch.setattr(Document, "load", counted)
    return seen


def _document(folder: Path, text: str) -> str:
    (folder / "v.yaml").write_text(f"version: 1\nassertions:\n{text}", encoding="utf-8")
    return "v.yaml"


def test_a_document_is_compiled_once_for_all_cases_that_fill_it_alike(folder: Path, loads: list[Any]) -> None:
    """What other columns say makes no other document."""
    made = Plans([_document(folder, "  - {id: a, kind: phrase, regex: '{{word}}'}\n")])
    rows = _rows({"word": "x", "n": 1}, {"word": "x", "n": 2}, {"word": "y", "n": 3}, {"word": "x", "n": 4})
    assert made.check(rows) == []
    assert len(loads) == 2
    found = [made.plan(row.values) for row in rows]
    assert found[0] is found[1] is found[3]
    assert found[0] is not found[2]
    assert len(loads) == 4


def test_values_that_differ_in_type_fill_it_differently(folder: Path) -> None:
    """1, 1.0, true and "1" are four values."""
    made = Plans([_document(folder, "  - {id: a, kind: tool_call, name: x, args_subset: {n: '{{n}}'}}\n")])
    assert len({id(made.plan({"n": value})) for value in (1, 1.0, True, "1")}) == 4


def test_a_document_that_asks_for_nothing_is_compiled_once(folder: Path, loads: list[Any]) -> None:
    """However many cases there are."""
    assert folder.is_dir()
    made = Plans(["d.yaml"])
    assert made.check(_rows(*({"n": number} for number in range(50)))) == []
    assert len(loads) == 1


def test_plans_are_bounded(folder: Path, loads: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that was used longest ago is made again."""
    monkeypatch.setattr(plans, "_MAX_KEPT", 2)
    made = Plans([_document(folder, "  - {id: a, kind: phrase, regex: '{{word}}'}\n")])
    first = made.plan({"word": "a"})
    made.plan({"word": "b"})
    assert made.plan({"word": "a"}) is first
    made.plan({"word": "c"})
    assert made.plan({"word": "a"}) is first
    made.plan({"word": "b"})
    assert len(loads) == 4


def test_several_documents_are_one(folder: Path) -> None:
    """Joined, in their order; a bundled one among them."""
    path = _document(folder, "  - {id: a, kind: phrase, regex: '{{word}}'}\n")
    plan = Plans([path, "d.yaml", document_path("policy:pii-leak", "sub")]).plan({"word": "x"})
    assert [entry.id for entry in plan.entries][:2] == ["a", "said"]
    assert len(plan.entries) > 2
    assert document_path("d.yaml", "sub") == "sub/d.yaml"


def test_mistakes_of_every_case_are_told_once_and_of_none(folder: Path) -> None:
    """What is wrong whatever the values are is no case's fault; of all documents at once."""
    path = _document(folder, "  - {id: a, kind: nonsense}\n  - {id: b, kind: phrase, regex: '{{word}}'}\n")
    problems = Plans([path, "none.yaml"]).check(_rows({"word": "x"}, {"word": "y"}, {"word": "z"}))
    assert [(problem.code, problem.line) for problem in problems] == [
        ("unknown_kind", 3),
        ("file_not_found", None),
    ]
    assert not any("case" in problem.message for problem in problems)


def test_mistakes_of_one_case_name_it(folder: Path) -> None:
    """A value that fits not everywhere is told with its case; the other cases are right."""
    path = _document(folder, "  - {id: a, kind: tool_call, name: x, count: '{{n}}'}\n")
    for values in ([1, "many", 2], ["many", 1, 2]):
        problems = Plans([path]).check(_rows(*({"n": value} for value in values)))
        number = values.index("many") + 1
        assert len(problems) == 1
        assert problems[0].line == 3
        assert problems[0].message.endswith(f" (with the values of the case `case {number}`)")


def test_looking_for_mistakes_ends(folder: Path, loads: list[Any]) -> None:
    """After twenty cases with mistakes, whoever mends them looks again."""
    path = _document(folder, "  - {id: a, kind: tool_call, name: x, count: '{{n}}'}\n")
    problems = Plans([path]).check(_rows(*({"n": f"x{number}"} for number in range(100))))
    assert len(loads) == 20
    assert len(problems) == 20


def test_a_document_without_cases_is_checked_by_itself(folder: Path) -> None:
    """A variable that nobody gives is a mistake there."""
    path = _document(folder, "  - {id: a, kind: phrase, regex: '{{word}}'}\n")
    problems = Plans([path]).check([Row(None, 0, {}, {})])
    assert [problem.code for problem in problems] == ["unknown_variable"]
