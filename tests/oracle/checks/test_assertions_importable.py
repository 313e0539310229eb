from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from averment.oracle.checks.assertions_importable import CHECK, WARNINGS, unnamed_assertion_warnings
from averment.oracle.checks.bench import Bench
from averment.oracle.child.assertions import inspect_exports
from averment.oracle.child.capabilities import CATEGORIES, DEFAULTS
from averment.oracle.child.scan import CODES
from averment.oracle.child.signatures import KEYWORDS
from averment.oracle.findings import Failure
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.oracle.oracles import OracleError

FILE = "assertions.py"
SOUND = "def assert_a(*, state, trace, task, ctx): ...\n"


class Inspection:
    """What a worker says of a file of assertions; the module is made here, as nothing in it is hostile."""

    def __init__(self, source: str) -> None:
        module = ModuleType("assertions")
        module.__file__ = FILE
        exec(compile(source, FILE, "exec"), vars(module))  # noqa: S102 - written here
        self.assertions = inspect_exports(module, source)


class FailedInspection:
    """A file that can't be imported."""

    @property
    def assertions(self) -> Any:
        raise OracleError(
            "load_failed", "import", "no module `pandas`", traceback="...", output="hm", file=FILE, line=3
        )


class Bench4:
    """Benches with templates that name assertions, and a file that exports some."""

    def __init__(self, handmade: Callable[..., Pack]) -> None:
        self._handmade = handmade

    def make(self, source: str | None, *named: Sequence[str]) -> Bench:
        templates = [
            {
                "turn_policy": "single_turn",
                "assistant_milestones": [{"type": "final_answer"}],
                "success_assertions": list(names),
            }
            for names in named
        ]
        pack = self._handmade(templates, files={"assertions": FILE})
        inspection = FailedInspection() if source is None else Inspection(textwrap.dedent(source))
        return cast("Bench", SimpleNamespace(pack=pack, options=Options(), inspection=inspection))

    def failures(self, source: str | None, *named: Sequence[str]) -> list[Failure]:
        found = list(CHECK.run(self.make(source, *named)))
        assert {failure.reason for failure in found} <= set(CHECK.reasons)
        return found

    def reasons(self, source: str | None, *named: Sequence[str]) -> list[str]:
        return [failure.reason for failure in self.failures(source, *named)]

    def warnings(self, source: str | None, *named: Sequence[str]) -> list[tuple[str, int | None]]:
        found = unnamed_assertion_warnings(self.make(source, *named))
        assert {(problem.severity, problem.file) for problem in found} <= {("warning", FILE)}
        assert all(problem.mend for problem in found)
        return [(problem.code, problem.line) for problem in found]


@pytest.fixture
def bench(handmade: Callable[..., Pack]) -> Bench4:
    """Makes benches."""
    return Bench4(handmade)


def test_sound_predicates_pass(bench: Bench4) -> None:
    """Every template names one that exists and keeps the contract."""
    assert bench.failures(SOUND, ["assert_a"], ["assert_a"]) == []
    assert bench.warnings(SOUND, ["assert_a"]) == []


def test_a_file_that_can_not_be_imported_is_one_failure(bench: Bench4) -> None:
    """With what the worker knows of it; of its exports nothing can be said, of templates all the same."""
    first, second = bench.failures(None, ["assert_a"], [])
    assert first.reason == "template_without_success_assertion"
    assert second == Failure(
        reason="assertions_import_failed",
        message="no module `pandas`",
        file=FILE,
        line=3,
        facts={"trouble": "load_failed", "op": "import"},
        output="hm",
        traceback="...",
    )
    assert bench.warnings(None, ["assert_a"]) == []


def test_a_template_without_an_assertion_is_told_at_its_place(bench: Bench4) -> None:
    """Whether the list is empty or missing."""
    [failure] = bench.failures(SOUND, ["assert_a"], [])
    assert failure.reason == "template_without_success_assertion"
    assert failure.facts == {"template_id": "t1"}
    assert (failure.file, failure.path) == ("task_templates.yaml", "$[1].success_assertions")
    assert failure.line is not None


def test_a_name_that_is_not_exported_is_told_at_each_place(bench: Bench4) -> None:
    """Once for every template that names it, however often."""
    found = bench.failures(SOUND, ["assert_a", "assert_zz", "assert_zz"], ["assert_zz"])
    assert [failure.reason for failure in found] == ["missing_assertion"] * 2
    assert [failure.path for failure in found] == ["$[0].success_assertions[1]", "$[1].success_assertions[0]"]
    assert [failure.facts for failure in found] == [
        {"template_id": "t0", "assertion": "assert_zz"},
        {"template_id": "t1", "assertion": "assert_zz"},
    ]
    assert found[0].message == "`assertions.py` exports no assertion `assert_zz`"
    assert found[0].line is not None
    assert found[0].column is not None


@pytest.mark.parametrize(
    ("source", "name", "mend"),
    [
        (SOUND, "a", "Write `assert_a`."),
        ("def assert_lent(**named): ...", "assert_lend", "Did you mean `assert_lent`?"),
        ("def assert_lent(**named): ...", "lend", "Did you mean `assert_lent`?"),
        (SOUND, "assert_book_was_lent", None),
        (
            "def assert_a(**named): ...\nASSERTIONS = {}",
            "assert_a",
            WARNINGS["assertion_not_exported"].mend,
        ),
        ("ASSERTIONS = {'assert_a': 'assert_a'}", "assert_a", WARNINGS["assertion_not_callable"].mend),
        (
            "def assert_a(**named): ...\nASSERTIONS = {}",
            "a",
            f"Write `assert_a`. {WARNINGS['assertion_not_exported'].mend}",
        ),
    ],
)
def test_the_mend_of_a_missing_assertion_says_what_was_meant(
    bench: Bench4, source: str, name: str, mend: str | None
) -> None:
    """The name with its prefix, one that is close, or why the one there is does not count."""
    [failure] = bench.failures(source, [name])
    assert (failure.reason, failure.mend) == ("missing_assertion", mend)


def test_a_signature_is_told_once_at_its_definition(bench: Bench4) -> None:
    """With every template that names it, and what does not fit."""
    source = "\n\ndef assert_a(*, state, limit): ...\n"
    [failure] = bench.failures(source, ["assert_a"], ["assert_a"])
    assert failure == Failure(
        reason="invalid_signature",
        message="`assert_a` can't be called as it will be: it does not take the keywords `trace`, `task`, `ctx` "
        "and it requires `limit` as well",
        file=FILE,
        line=3,
        facts={
            "assertion": "assert_a",
            "templates": ["t0", "t1"],
            "missing": ["trace", "task", "ctx"],
            "extras": ["limit"],
        },
    )


@pytest.mark.parametrize("source", ["async def assert_a(**named): ...", "def assert_a(**named): yield"])
def test_a_predicate_whose_call_runs_nothing_has_no_valid_signature(bench: Bench4, source: str) -> None:
    """It would never judge anything."""
    [failure] = bench.failures(source, ["assert_a"])
    assert failure.reason == "invalid_signature"
    assert "runs nothing of it" in failure.message


def test_a_mistake_in_the_capabilities_is_told_where_it_stands(bench: Bench4) -> None:
    """In the file of assertions."""
    source = SOUND + "ASSERTION_CAPABILITIES = {'assert_a': {'category': 'vibes'}}\n"
    [failure] = bench.failures(source, ["assert_a"])
    assert failure.reason == "invalid_assertion_capability"
    assert (failure.file, failure.line, failure.column) == (FILE, 2, 52)
    assert "unknown category `vibes`" in failure.message
    assert failure.facts == {"assertion": "assert_a", "templates": ["t0"]}


def test_a_mistake_in_the_whole_declaration_concerns_every_name(bench: Bench4) -> None:
    """An unknown name in it leaves no predicate with capabilities."""
    source = SOUND + SOUND.replace("assert_a", "assert_b") + "ASSERTION_CAPABILITIES = {'assert_ab': {}}\n"
    assert bench.reasons(source, ["assert_a", "assert_b"]) == ["invalid_assertion_capability"] * 2


def test_a_predicate_that_may_not_be_run_is_told_where_it_is_named(bench: Bench4) -> None:
    """For each template."""
    source = SOUND + "ASSERTION_CAPABILITIES = {'assert_a': {'executable': False}}\n"
    found = bench.failures(source, ["assert_a"], ["assert_a"])
    assert [failure.reason for failure in found] == ["assertion_not_executable_compatible"] * 2
    assert [failure.path for failure in found] == ["$[0].success_assertions[0]", "$[1].success_assertions[0]"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("ASSERTION_CAPABILITIES = 1", "missing_assertion"),
        ("def assert_a(): ...\nASSERTION_CAPABILITIES = 1", "invalid_signature"),
        (
            SOUND + "ASSERTION_CAPABILITIES = {'assert_a': {'executable': False, 'trace': 1}}",
            "invalid_assertion_capability",
        ),
        (
            SOUND + "ASSERTION_CAPABILITIES = {'assert_a': {'executable': False}}",
            "assertion_not_executable_compatible",
        ),
    ],
)
def test_of_several_reasons_the_first_is_told(bench: Bench4, source: str, reason: str) -> None:
    """Missing, then signature, then capabilities, then whether it may be run."""
    assert bench.reasons(source, ["assert_a"]) == [reason]


def test_predicates_that_no_template_names_are_looked_into_as_well(bench: Bench4) -> None:
    """What would fail the check if it were named is a warning; so is that nobody names it."""
    source = (
        SOUND
        + "def assert_b(*, state, trace, task, ctx): ...\n"
        + "def assert_c(): ...\n"
        + "def assert_d(*, state, trace, task, ctx): ...\n"
        + "def assert_e(*, state, trace, task, ctx): ...\n"
        + "ASSERTION_CAPABILITIES = {'assert_d': 1, 'assert_e': {'executable': False}}\n"
    )
    assert bench.failures(source, ["assert_a"]) == []
    assert bench.warnings(source, ["assert_a"]) == [
        ("unused_assertion", 2),
        ("invalid_signature", 3),
        ("invalid_assertion_capability", 6),
    ]


def test_a_mistake_in_the_whole_declaration_is_one_warning(bench: Bench4) -> None:
    """And none where the check tells it already."""
    source = SOUND + SOUND.replace("assert_a", "assert_b") + "ASSERTION_CAPABILITIES = dict(assert_a={})\n"
    assert bench.warnings(source) == [
        ("invalid_assertion_capability", 3),
        ("unused_assertion", 1),
        ("unused_assertion", 2),
    ]
    assert bench.warnings(source, ["assert_a"]) == [("unused_assertion", 2)]


def test_what_looks_like_a_predicate_and_is_none_is_a_warning(bench: Bench4) -> None:
    """Whether or not a template means it."""
    source = SOUND + "def assert_b(): ...\nASSERTIONS = {'assert_a': assert_a, 'assert_c': None}\n"
    assert bench.warnings(source, ["assert_a"]) == [
        ("assertion_not_callable", None),
        ("assertion_not_exported", 2),
    ]


def test_the_page_of_the_file_names_every_code() -> None:
    """Of the check, of the warnings and of the scan, and all that can be declared."""
    page = Path(__file__).parents[3].joinpath("docs/packs/assertions.md").read_text(encoding="utf-8")
    names = [*CHECK.reasons, *WARNINGS, *CODES, *CATEGORIES, *DEFAULTS, *KEYWORDS]
    assert [name for name in names if f"`{name}`" not in page] == []
