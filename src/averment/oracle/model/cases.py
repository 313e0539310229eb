"""`validation_cases.yaml`: probes, direct calls of the oracle with what must come of them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from averment.errors import nearest
from averment.oracle.model.problems import Problems
from averment.oracle.model.shapes import INTERNAL, Text, at_path, tidy
from averment.text.source import Source
from averment.text.structs import describe

__all__ = ["EXAMPLE", "EXPECT_KEYS", "RESULT_CLASSES", "Case", "read_cases"]

RESULT_CLASSES = ("success", "structured_error", "awaiting_confirmation")
"""What a result can be."""

EXPECT_KEYS = ("result_class", "error_code", "state_unchanged")
"""The keys of `expect` that are no fields of the result."""

EXAMPLE = """\
- id: lends_an_available_book
  tool: lend_book
  arguments: {book_id: BK-1, confirm: true}
  expect: {result_class: success, status: lent}

- id: refuses_a_book_that_is_lent
  tool: lend_book
  arguments: {book_id: BK-1, confirm: true}
  reset_before: false
  expect: {result_class: structured_error, error_code: not_available, state_unchanged: true}
  notes: "Continues the case above."
"""

_EXPECT: dict[str, Any] = {
    "properties": {
        "result_class": {"enum": list(RESULT_CLASSES), "description": "What kind of result comes back."},
        "error_code": {
            "type": ["string", "null"],
            "description": "The code of the structured error; null asks for a result without one.",
        },
        "state_unchanged": {"const": True, "description": "The call leaves the state as it was."},
    },
    "description": "Any other key must equal the field of that name at the top of the result.",
}


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the list that the file is: a probe.

    Every tool needs at least one case that succeeds with legal arguments, and one that is negative: a structured
    error, a result that awaits confirmation, or `coverage: negative` where a miss looks like a success. A tool that
    needs confirmation also needs a case with its parameter set to false.

    In `expect`, three keys have a meaning of their own; any other is the name of a field at the top of the result,
    whose value must be equal. `state_unchanged: false` checks nothing and is a warning.
    """

    id: Annotated[Text, Meta(description="Unique in the file.")]
    tool: Annotated[Text, Meta(description="The tool to call.")]
    arguments: Annotated[
        Any, Meta(description="Its arguments; a negative probe may give malformed ones.")
    ] = msgspec.field(default_factory=dict)
    reset_before: Annotated[
        bool, Meta(description="False continues with the state that the case before it left.")
    ] = True
    expect: Annotated[
        dict[str, Any], Meta(description="What must come of the call.", extra_json_schema=_EXPECT)
    ] = msgspec.field(default_factory=dict)
    coverage: Annotated[
        str | None,
        Meta(
            description="`negative`: it counts as negative whatever the result looks like.",
            extra_json_schema={"enum": ["negative", None]},
        ),
    ] = None
    notes: Annotated[Any, Meta(description="For people.")] = None
    index: Annotated[int, INTERNAL] = 0


class _Expect(msgspec.Struct, frozen=True):
    state_unchanged: bool = False


def read_cases(source: Source, problems: Problems) -> list[Case]:
    """The probes, in the order of the file; those with mistakes are left out."""
    if not problems.root(source, list, "probes"):
        return []
    cases = []
    first: dict[str, int] = {}
    for index, entry in enumerate(source.value):
        if problems.is_full:
            break
        case = problems.convert(source, (index,), Case)
        name = at_path(entry, ("id",))
        if isinstance(name, str) and first.setdefault(name, index) != index:
            problems.error(
                source,
                "duplicate_case",
                f"the id `{name}` is used twice",
                (index, "id"),
                expected="an id of its own for every probe",
                found=f"the same id in entry {first[name]}",
            )
        if isinstance(at_path(entry, ("expect",)), dict):
            _check_expect(source, index, entry["expect"], problems)
        if case is not None:
            if case.coverage not in (None, "negative"):
                problems.warning(
                    source,
                    "unknown_coverage",
                    f"`coverage: {case.coverage[:60]}` says nothing",
                    (index, "coverage"),
                    expected="`negative`",
                    nearest=nearest(case.coverage, ["negative"]),
                )
            arguments = {} if case.arguments is None else case.arguments
            cases.append(msgspec.structs.replace(case, arguments=arguments, index=index))
    return cases


def _check_expect(source: Source, index: int, expect: dict[str, Any], problems: Problems) -> None:
    """What is wrong with, or odd about, the keys of `expect` that have a meaning of their own."""
    path = (index, "expect")
    for name in expect:
        near = nearest(name, EXPECT_KEYS) if name not in EXPECT_KEYS else None
        if near is not None:
            problems.warning(
                source,
                "unknown_key",
                f"`{name}` asks for a field of the result, and looks like `{near}`",
                (*path, name),
                key=True,
                nearest=near,
                mend=f"Write `{near}` if that is meant.",
            )
    wanted = expect.get("result_class", RESULT_CLASSES[0])
    if wanted not in RESULT_CLASSES:
        problems.error(
            source,
            "unknown_result_class",
            "no result can be of this class",
            (*path, "result_class"),
            expected=f"one of {', '.join(RESULT_CLASSES)}",
            found=describe(wanted),
            nearest=nearest(wanted, RESULT_CLASSES) if isinstance(wanted, str) else None,
        )
    unchanged = {
        name: value for name, value in expect.items() if name == "state_unchanged" and value is not None
    }
    problems.mistakes(source, path, tidy(unchanged, _Expect).mistakes, "error")
    if expect.get("state_unchanged") is False:
        message = "`state_unchanged: false` checks nothing"
        problems.warning(source, "state_unchanged_false", message, (*path, "state_unchanged"))
