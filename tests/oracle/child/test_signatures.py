from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from averment.oracle.child.signatures import lines_of, read_signature
from averment.oracle.child.syntax import parse


class Threshold:
    """A callable object."""

    def __call__(self, *, state: Any, trace: Any, task: Any, ctx: Any) -> None: ...

    def method(self, *, state: Any, trace: Any, task: Any, ctx: Any) -> None: ...

    def short(self, *, state: Any) -> None: ...


def normative(*, state: Any, trace: Any, task: Any, ctx: Any) -> None: ...


def positional_or_keyword(ctx: Any, task: Any, trace: Any, state: Any) -> None: ...


def optional_extra(*, state: Any, trace: Any, task: Any, ctx: Any, limit: int = 3) -> None: ...


def any_keywords(**named: Any) -> None: ...


def any_arguments(*args: Any, state: Any, **named: Any) -> None: ...


def with_limit(*, state: Any, trace: Any, task: Any, ctx: Any, limit: int) -> None: ...


def closing_over(limit: int) -> Callable[..., None]:
    def inner(*, state: Any, trace: Any, task: Any, ctx: Any) -> None:  # noqa: ARG001
        assert limit

    return inner


@pytest.mark.parametrize(
    "function",
    [
        normative,
        positional_or_keyword,
        optional_extra,
        any_keywords,
        any_arguments,
        closing_over(3),
        functools.partial(with_limit, limit=3),
        Threshold(),
        Threshold().method,
    ],
)
def test_what_can_be_called_with_the_four_keywords_is_valid(function: Callable[..., Any]) -> None:
    """Functions, closures, partials, methods and callable objects alike."""
    found = read_signature(function)
    assert found["valid"]
    assert (found["missing"], found["extras"], found["detail"]) == ([], [], None)


def short(*, state: Any) -> None: ...


def positional_only(state: Any, /, trace: Any, task: Any, ctx: Any) -> None: ...


def hidden_hole(state: Any, /, **named: Any) -> None: ...


def both(state: Any, trace: Any, limit: Any, *, why: Any) -> None: ...


@pytest.mark.parametrize(
    ("function", "missing", "extras", "detail"),
    [
        (
            short,
            ["trace", "task", "ctx"],
            [],
            "it does not take the keywords `trace`, `task`, `ctx`",
        ),
        (positional_only, ["state"], [], "it does not take the keywords `state`"),
        (hidden_hole, ["state"], [], "it does not take the keywords `state`"),
        (with_limit, [], ["limit"], "it requires `limit` as well"),
        (
            both,
            ["task", "ctx"],
            ["limit", "why"],
            "it does not take the keywords `task`, `ctx` and it requires `limit`, `why` as well",
        ),
        (
            Threshold().short,
            ["trace", "task", "ctx"],
            [],
            "it does not take the keywords `trace`, `task`, `ctx`",
        ),
        (
            functools.partial(short, state=1),
            ["trace", "task", "ctx"],
            [],
            "it does not take the keywords `trace`, `task`, `ctx`",
        ),
    ],
)
def test_what_can_not_is_told_with_both_lists(
    function: Callable[..., Any], missing: list[str], extras: list[str], detail: str
) -> None:
    """What can't be given by keyword, and what would have to be given besides."""
    found = read_signature(function)
    assert not found["valid"]
    assert (found["missing"], found["extras"], found["detail"]) == (missing, extras, detail)


async def asynchronous(*, state: Any, trace: Any, task: Any, ctx: Any) -> None: ...


def generating(*, state: Any, trace: Any, task: Any, ctx: Any) -> Any:  # noqa: ARG001
    yield


async def streaming(*, state: Any, trace: Any, task: Any, ctx: Any) -> Any:  # noqa: ARG001
    yield


class AsyncCall:
    """A callable object whose call is a coroutine."""

    async def __call__(self, *, state: Any, trace: Any, task: Any, ctx: Any) -> None: ...


@pytest.mark.parametrize(
    ("function", "detail"),
    [
        (asynchronous, "it is `async`: a call runs nothing of it"),
        (streaming, "it is `async`: a call runs nothing of it"),
        (AsyncCall(), "it is `async`: a call runs nothing of it"),
        (functools.partial(asynchronous), "it is `async`: a call runs nothing of it"),
        (generating, "it has a `yield`: a call runs nothing of it"),
        (Threshold, "it is a class: a call makes an object, and an object is no outcome"),
        (ValueError, "it is a class: a call makes an object, and an object is no outcome"),
    ],
)
def test_a_call_that_can_have_no_outcome_is_invalid(function: Callable[..., Any], detail: str) -> None:
    """Such a predicate would be an error of its contract on every run."""
    found = read_signature(function)
    assert not found["valid"]
    assert found["detail"] == detail


def test_a_wrapper_is_judged_by_what_it_takes_itself() -> None:
    """`__wrapped__` tells of a function that is not the one called."""

    @functools.wraps(normative)
    def narrowing(*, state: Any, trace: Any) -> None: ...

    @functools.wraps(short)
    def widening(*args: Any, **named: Any) -> None: ...

    assert read_signature(narrowing)["missing"] == ["task", "ctx"]
    assert read_signature(widening)["valid"]


@pytest.mark.parametrize("wrap", [lambda f: f, functools.partial, lambda f: f.__get__(object())])
def test_a_signature_that_a_function_claims_is_not_believed(wrap: Callable[[Any], Any]) -> None:
    """`__signature__` may say anything."""
    import inspect

    def taker(*args: Any, state: Any) -> None: ...

    taker.__signature__ = inspect.signature(normative)  # type: ignore[attr-defined]
    assert read_signature(wrap(taker))["missing"] == ["trace", "task", "ctx"]


class Riddle:
    """Raises whatever it is asked."""

    def __getattribute__(self, name: str) -> Any:
        raise OSError(name)

    __call__ = property(lambda _: 1 / 0)


def test_an_object_that_refuses_to_be_looked_at_is_invalid() -> None:
    """Nothing that a pack exports stops the inspection."""
    found = read_signature(Riddle())
    assert not found["valid"]
    assert found["detail"].startswith("its signature can't be read")


def test_a_builtin_without_a_signature_says_what_to_do() -> None:
    """Some callables written in C don't tell what they take."""
    assert read_signature(dict.fromkeys)["valid"] is False
    assert read_signature(min)["detail"] == (
        "it has no signature that can be read: write a function in Python around it"
    )


def module_of(source: str, path: str = "/pack/assertions.py") -> ModuleType:
    """The module that a source makes."""
    module = ModuleType("pack")
    module.__file__ = path
    exec(compile(source, path, "exec"), vars(module))  # noqa: S102 - written here
    return module


def test_lines_are_those_of_the_definition() -> None:
    """Below decorators, through wrappers, and where a name is brought in if it is defined elsewhere."""
    source = (
        "import functools\n"
        "from unittest.mock import sentinel as assert_imported\n"
        "def wrapping(f):\n"
        "    @functools.wraps(f)\n"
        "    def wrapper(**named): return f(**named)\n"
        "    return wrapper\n"
        "def assert_plain(**named): ...\n"
        "@wrapping\n"
        "@wrapping\n"
        "def assert_wrapped(**named): ...\n"
        "assert_partial = functools.partial(assert_plain)\n"
        "assert_cached: object = functools.lru_cache(assert_plain)\n"
        "assert_builtin = print\n"
        "class Callable:\n"
        "    def __call__(self, **named): ...\n"
        "assert_object = Callable()\n"
        "globals()['assert_hidden'] = print\n"
    )
    module = module_of(source)
    functions = {name: value for name, value in vars(module).items() if name.startswith("assert_")}
    assert lines_of(module, functions, parse(source)) == {
        "assert_imported": 2,
        "assert_plain": 7,
        "assert_wrapped": 10,
        "assert_partial": 7,
        "assert_cached": 7,
        "assert_builtin": 13,
        "assert_object": 15,
        "assert_hidden": None,
    }
