from __future__ import annotations

from collections.abc import Callable

from averment.oracle.checks.places import case_failure, oracle_failure, raised, tool_failure
from averment.oracle.findings import Failure
from averment.oracle.model.pack import Pack
from averment.oracle.oracles import OracleError

Handmade = Callable[..., Pack]
CASES = "- id: a\n  tool: get_book\n- id: b\n  tool: get_book\n  expect: {result_class: success}\n"


def test_a_failure_of_a_probe_stands_where_the_file_says_it(handmade: Handmade) -> None:
    """With its id and its tool before all other facts."""
    pack = handmade(cases=CASES)
    failure = case_failure(pack, pack.cases[1], "wrong", "text", "expect", "result_class", more=1)
    assert (failure.file, failure.line, failure.column) == ("validation_cases.yaml", 5, 26)
    assert failure.path == "$[1].expect.result_class"
    assert failure.facts == {"case": "b", "tool": "get_book", "more": 1}


def test_a_failure_of_a_tool_stands_at_its_entry(handmade: Handmade) -> None:
    """By its index in the catalog."""
    pack = handmade()
    failure = tool_failure(pack, pack.tools[1], "wrong", "text", "parameters")
    assert (failure.file, failure.path) == ("tools.json", "$[1].parameters")
    assert failure.facts == {"tool": "lend_book"}


def test_what_was_raised_stands_where_the_packs_code_raised_it(handmade: Handmade) -> None:
    """With what it printed; the probe is a fact."""
    pack = handmade(cases=CASES)
    error = OracleError(
        "raised", "call_tool", "no", file="backend.py", line=7, output="hello", traceback="backend.py:7"
    )
    failure = raised(pack, pack.cases[0], error, repeated=True)
    assert (failure.reason, failure.message) == ("raised", "no")
    assert (failure.file, failure.line, failure.column, failure.path) == ("backend.py", 7, None, None)
    assert (failure.output, failure.traceback) == ("hello", "backend.py:7")
    assert failure.facts == {
        "case": "a",
        "tool": "get_book",
        "repeated": True,
        "trouble": "raised",
        "op": "call_tool",
    }


def test_what_has_no_place_in_code_stands_at_the_probe(handmade: Handmade) -> None:
    """A call that took too long, say."""
    pack = handmade(cases=CASES)
    failure = raised(pack, pack.cases[1], OracleError("timeout", "call_tool", "too long"))
    assert (failure.file, failure.line, failure.column) == ("validation_cases.yaml", 3, 3)
    assert failure.path == "$[1]"


def test_without_any_place_only_the_file_is_told() -> None:
    """Where a module was not even begun."""
    at = Failure(reason="", message="", file="backend.py")
    failure = oracle_failure("gone", OracleError("died", "import", "it died"), at)
    assert (failure.reason, failure.file, failure.line) == ("gone", "backend.py", None)
    assert failure.facts == {"trouble": "died", "op": "import"}
