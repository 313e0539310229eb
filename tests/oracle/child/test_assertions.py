from __future__ import annotations

import json
import linecache
import textwrap
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import pytest

from averment.oracle.child.assertions import MOST_DETAIL, exports, inspect_exports, run_assertion

FILE = "/pack/assertions.py"
TASK = {"task_id": "t", "slots": {"book": "B-1"}, "slots_initial": {}, "slot_updates": []}
CTX = object()


@pytest.fixture(autouse=True)
def _forget_lines() -> Iterator[None]:
    """Lines of a module that a test has made are not those of the next test's."""
    yield
    linecache.cache.pop(FILE, None)


def module_of(source: str, path: str = FILE) -> ModuleType:
    """The module that a source makes, whose lines can be shown."""
    source = textwrap.dedent(source)
    module = ModuleType("pack")
    module.__file__ = path
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    exec(compile(source, path, "exec"), vars(module))  # noqa: S102 - written here
    return module


def inspected(source: str) -> dict[str, Any]:
    source = textwrap.dedent(source)
    found = inspect_exports(module_of(source), source)
    assert json.loads(json.dumps(found)) == found
    return found


def run(body: str, *, state: Any = None, task: Any = None, **more: Any) -> dict[str, Any]:
    """What a predicate with this body comes to."""
    source = f"def assert_x(*, state, trace, task, ctx):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n"
    function = exports(module_of(source))["assert_x"]
    state = {"rows": [{"id": 1}]} if state is None else state
    trace = [{"tool": "get", "arguments": {}, "result": {}, "turn_index": 0}]
    found = run_assertion(function, "assert_x", state=state, trace=trace, task=task or TASK, ctx=CTX, **more)
    assert json.loads(json.dumps(found)) == found
    assert found["name"] == "assert_x"
    assert found["passed"] is (found["status"] == "passed")
    return found


def error_of(body: str, **more: Any) -> str:
    """The detail of an infrastructure error."""
    found = run(body, **more)
    assert found["status"] == "infrastructure_error"
    return str(found["detail"])


# What is exported


def test_a_table_says_what_is_exported_and_under_which_name() -> None:
    """Names need no prefix, keys are text, what can't be called is left out."""
    module = module_of(
        """
        def assert_a(**named): ...
        def assert_left_out(**named): ...
        ASSERTIONS = {"first": assert_a, 2: assert_a, "data": 3}
        """
    )
    assert list(exports(module)) == ["first", "2"]


@pytest.mark.parametrize("table", ["", "ASSERTIONS = ['assert_a']", "ASSERTIONS = None"])
def test_without_a_table_the_prefix_says_it(table: str) -> None:
    """Imported names and objects count, and so do names that stand for data not."""
    module = module_of(
        f"""
        from unittest.mock import sentinel, call as assert_imported
        def assert_a(**named): ...
        def helper(**named): ...
        assert_data = 3
        {table}
        """
    )
    assert list(exports(module)) == ["assert_imported", "assert_a"]


def test_a_module_can_not_make_names_up() -> None:
    """`__getattr__` of a module and odd keys are no way round the table."""
    module = module_of(
        """
        def __getattr__(name):
            return print
        class Key:
            def __str__(self): raise OSError
        ASSERTIONS = {Key(): print}
        """
    )
    assert list(exports(module)) == ["Key"]
    assert exports(module_of("def __getattr__(name): return {'a': print}")) == {}


# What inspection finds


def test_inspection_tells_all_of_a_sound_predicate() -> None:
    """Its line, that it can be called, and what it declares."""
    found = inspected(
        """
        def assert_a(*, state, trace, task, ctx): ...
        ASSERTION_CAPABILITIES = {"assert_a": {"category": "state"}}
        """
    )
    assert found == {
        "exports": {
            "assert_a": {
                "line": 2,
                "is_async": False,
                "is_generator": False,
                "signature": {"valid": True, "missing": [], "extras": [], "detail": None},
                "capabilities": {"trace": False, "executable": True, "category": "state"},
                "capability_error": None,
                "capability_mistakes": [],
            }
        },
        "capability_mistakes": [],
        "oddities": [],
    }


def test_an_invalid_signature_leaves_the_default_capabilities() -> None:
    """The two are judged apart."""
    found = inspected("def assert_invalid(*, state): ...")["exports"]["assert_invalid"]
    assert not found["signature"]["valid"]
    assert found["signature"]["missing"] == ["trace", "task", "ctx"]
    assert found["capabilities"] == {"trace": False, "executable": True, "category": "unclassified"}


def test_a_bad_category_leaves_the_signature_valid() -> None:
    """There are no capabilities then, and the reason names the category."""
    found = inspected(
        """
        def assert_a(*, state, trace, task, ctx): ...
        ASSERTION_CAPABILITIES = {"assert_a": {"category": "vibes"}}
        """
    )["exports"]["assert_a"]
    assert found["signature"]["valid"]
    assert found["capabilities"] is None
    assert "unknown category `vibes`" in found["capability_error"]
    assert [(each["line"], each["column"]) for each in found["capability_mistakes"]] == [(3, 52)]


def test_a_computed_declaration_is_an_error_of_every_predicate() -> None:
    """And of the file as a whole."""
    found = inspected(
        """
        def assert_a(*, state, trace, task, ctx): ...
        def assert_b(*, state, trace, task, ctx): ...
        ASSERTION_CAPABILITIES = dict.fromkeys(["assert_a"], {"trace": True})
        """
    )
    assert [each["message"] for each in found["capability_mistakes"]] == [
        "`ASSERTION_CAPABILITIES` has a computed value; write it out as a literal"
    ]
    for each in found["exports"].values():
        assert "computed" in each["capability_error"]
        assert each["capabilities"] is None


def test_a_file_that_says_other_than_the_module_is_an_error_of_its_capabilities() -> None:
    """A module can be imported whose text can't be parsed: from bytecode, or when the file has changed since."""
    module = module_of("def assert_a(*, state, trace, task, ctx): ...")
    found = inspect_exports(module, "def assert_a(")["exports"]["assert_a"]
    assert found["signature"]["valid"]
    assert "can't be parsed" in found["capability_error"]


def test_what_looks_like_a_predicate_and_is_none_is_told() -> None:
    """Entries that can't be called, and functions that the table has forgotten; not the imported ones."""
    found = inspected(
        """
        from unittest.mock import call as assert_imported
        def assert_a(*, state, trace, task, ctx): ...
        def assert_b(*, state, trace, task, ctx): ...
        def assert_c(*, state, trace, task, ctx): ...
        ASSERTIONS = {"assert_a": assert_a, "renamed": assert_b, "assert_text": "assert_a"}
        """
    )
    assert [(each["code"], each["name"], each["line"]) for each in found["oddities"]] == [
        ("assertion_not_callable", "assert_text", None),
        ("assertion_not_exported", "assert_c", 5),
    ]


# What a run comes to


def test_returning_none_passes() -> None:
    """It has nothing to say besides."""
    assert run("assert state['rows']") == {
        "name": "assert_x",
        "status": "passed",
        "passed": True,
        "detail": None,
        "line": None,
    }


def test_an_assertion_error_fails_with_its_text_and_its_line() -> None:
    """The line is that of the predicate's file, however deep the raise was."""
    found = run(
        """
        def inner(): assert False, "no active loan"
        inner()
        """
    )
    assert (found["status"], found["detail"], found["line"]) == ("failed", "no active loan", 3)


def test_a_subclass_of_assertion_error_fails_too() -> None:
    """As `except AssertionError` has it."""
    found = run("class Mine(AssertionError): ...\nraise Mine('why')")
    assert (found["status"], found["detail"]) == ("failed", "why")


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("assert len(trace) == 2", "`assert len(trace) == 2` (line 2)"),
        ("raise AssertionError", "`raise AssertionError` (line 2)"),
        ("raise AssertionError('  ')", "`raise AssertionError('  ')` (line 2)"),
    ],
)
def test_a_failure_without_words_shows_the_statement(body: str, detail: str) -> None:
    """Somebody has to read why it failed."""
    assert run(body)["detail"] == detail


def test_a_failure_without_words_or_source_says_what_there_is() -> None:
    """Where the text of the file can't be had."""
    function = exports(module_of("def assert_x(**named): assert 0", "/nowhere/a.py"))["assert_x"]
    linecache.cache.pop("/nowhere/a.py")
    found = run_assertion(function, "assert_x", state={}, trace=[], task={}, ctx=CTX)
    assert (found["status"], found["detail"], found["line"]) == ("failed", "AssertionError", 1)


@pytest.mark.parametrize("body", ["raise AssertionError('é' * 10_000)", "raise ValueError('é' * 10_000)"])
def test_a_detail_has_an_end(body: str) -> None:
    """Two thousand characters, the last of which says that there was more."""
    detail = run(body)["detail"]
    assert len(detail) == MOST_DETAIL
    assert detail.endswith("é…")


def test_a_mapping_can_say_that_the_predicate_does_not_apply() -> None:
    """That is no pass; further keys do no harm."""
    found = run("return {'status': 'not_applicable', 'detail': 'no loan', 'more': 1}")
    assert (found["status"], found["passed"], found["detail"]) == ("not_applicable", False, "no loan")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("{'status': 'not_applicable'}", "it returned a mapping; the only one with a meaning is"),
        ("{'status': 'not_applicable', 'detail': ' '}", "it returned a mapping"),
        ("{'status': 'not_applicable', 'detail': 7}", "it returned a mapping"),
        ("{'status': 'passed', 'detail': 'yes'}", "it returned a mapping"),
        ("{}", "it returned a mapping"),
        ("True", "it returned True; a predicate passes by returning None"),
        ("False", "it returned False; a predicate passes by returning None"),
        ("0", "it returned a value of type int; a predicate passes by returning None"),
        ("'not_applicable'", "it returned a value of type str"),
        ("[]", "it returned a value of type list"),
        ("NotImplemented", "it returned a value of type NotImplementedType"),
    ],
)
def test_any_other_value_breaks_the_contract(value: str, said: str) -> None:
    """`return found` says neither pass nor fail."""
    assert error_of(f"return {value}").startswith(f"AssertionContractError: {said}")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("async def assert_x(**named): assert 0", "it returned a coroutine, and nothing of it ran"),
        ("def assert_x(**named):\n    yield\n    assert 0", "it returned a generator, and nothing of it ran"),
        ("async def assert_x(**named):\n    yield", "it returned a value of type async_generator"),
    ],
)
def test_a_function_that_runs_later_breaks_the_contract(source: str, said: str) -> None:
    """And Python has nothing to warn of: what was returned is closed."""
    function = exports(module_of(source))["assert_x"]
    found = run_assertion(function, "assert_x", state={}, trace=[], task={}, ctx=CTX)
    assert found["status"] == "infrastructure_error"
    assert found["detail"].startswith(f"AssertionContractError: {said}")


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("state['absent']", "KeyError: 'absent'"),
        ("raise OSError", "OSError"),
        ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded"),
        ("raise MemoryError", "MemoryError"),
        ("raise ExceptionGroup('two', [AssertionError('a')])", "ExceptionGroup: two (1 sub-exception)"),
    ],
)
def test_any_other_exception_is_an_error_of_the_predicate(body: str, detail: str) -> None:
    """It says nothing of what was to be judged."""
    found = run(body)
    assert found["status"] == "infrastructure_error"
    assert found["detail"].startswith(detail)
    assert found["line"] in {2, 3}


@pytest.mark.parametrize("kind", ["SystemExit", "KeyboardInterrupt", "GeneratorExit", "BaseException"])
def test_what_is_no_exception_is_not_caught(kind: str) -> None:
    """It ends the episode, and the worker says so."""
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - that it arrives is the point
        run(f"raise {kind}")
    assert type(caught.value).__name__ == kind


def test_an_exit_out_of_a_value_is_not_caught_either() -> None:
    """Reading what was returned runs the pack's code once more."""
    source = """
    class Lazy(dict):
        def get(self, key, default=None): raise SystemExit
    return Lazy()
    """
    with pytest.raises(SystemExit):
        run(source)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (
            "class E(AssertionError):\n    def __str__(self): raise OSError\nraise E",
            "its text can't be had (OSError)",
        ),
        (
            "class S(str): ...\nclass E(AssertionError):\n    def __str__(self): return S('odd')\nraise E",
            "odd",
        ),
        (
            "class E(AssertionError):\n    @property\n    def __traceback__(self): raise OSError\nraise E('a')",
            "a",
        ),
    ],
)
def test_a_hostile_failure_is_a_failure(body: str, detail: str) -> None:
    """An exception may refuse to be printed, or to be looked at."""
    found = run(body)
    assert (found["status"], found["detail"]) == ("failed", detail)


@pytest.mark.parametrize(
    "body",
    [
        "class M(dict):\n    def get(self, key, default=None): raise OSError\nreturn M()",
        "class M:\n    @property\n    def __class__(self): raise OSError\nreturn M()",
        "class T(type):\n    __name__ = property(lambda c: 1 / 0)\nclass V(metaclass=T): ...\nreturn V()",
    ],
)
def test_a_hostile_value_breaks_the_contract(body: str) -> None:
    """A value may refuse to be read, to say what it is, or what it is called."""
    assert error_of(body).startswith("AssertionContractError: ")


@pytest.mark.parametrize("what", ["state['rows'].append(1)", "trace.clear()", "task['slots']['book'] = 2"])
def test_a_predicate_that_changes_what_it_is_given_is_an_error(what: str) -> None:
    """It would judge something that the oracle never said."""
    state = {"rows": [1]}
    assert error_of(what, state=state).startswith("FrozenError: `x")
    assert state == {"rows": [1]}


def test_a_predicate_may_change_a_copy() -> None:
    """As the error says to."""
    assert run("import copy\ncopy.deepcopy(state)['rows'].append(1)")["passed"]


def test_the_context_is_given_as_it_is() -> None:
    """All four arguments arrive, by keyword."""
    seen: dict[str, Any] = {}
    found = run_assertion(seen.update, "n", state={"a": 1}, trace=[], task={"b": 2}, ctx=CTX)
    assert found["passed"]
    assert seen == {"state": {"a": 1}, "trace": [], "task": {"b": 2}, "ctx": CTX}


UNRESOLVED: Mapping[str, Any] = {"unresolved_slots": ["day", "hour"]}
UNKNOWN = "UnresolvedAssertionBinding: it reads what could not be reconstructed of the task: "


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("task['slots'].get('hour')", "`slots.hour`"),
        ("assert task['slots'].get('hour') == 3", "`slots.hour`"),
        ("task['slots']['hour']", "`slots.hour`"),
        ("return dict(task['slots'])", "`slots.day`, `slots.hour`"),
    ],
)
def test_a_read_of_a_slot_that_is_not_known_comes_before_all_else(body: str, detail: str) -> None:
    """A verdict on it, whichever, would be a guess."""
    assert error_of(body, unresolved=UNRESOLVED) == UNKNOWN + detail


def test_a_predicate_that_reads_other_slots_is_judged_as_ever() -> None:
    """Pass and fail."""
    assert run("assert (task.get('slots') or {})['book'] == 'B-1'", unresolved=UNRESOLVED)["passed"]
    assert run("assert task['slots']['book'] == 'B-2'", unresolved=UNRESOLVED)["status"] == "failed"


def test_lines_can_be_told_of_another_file() -> None:
    """A predicate that a helper makes is told at the line of the file that calls it, if it is asked for."""
    helper = module_of("def failing():\n    assert False, 'a'\n", "/pack/helper.py")
    module = module_of("def assert_x(**named):\n    make()\n")
    vars(module)["make"] = helper.failing
    given: dict[str, Any] = {"state": {}, "trace": [], "task": {}, "ctx": CTX}
    assert run_assertion(module.assert_x, "assert_x", **given)["line"] == 2
    assert run_assertion(helper.failing, "x", **given, file="/pack/helper.py")["line"] is None
    assert run_assertion(module.assert_x, "assert_x", **given, file="/pack/helper.py")["line"] == 2
