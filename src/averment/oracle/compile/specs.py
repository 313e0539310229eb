"""A file of specs: read, and held against the tools that are published (contract, 8.1 and 8.2).

The file is a list of specs, or an object with the list as `assertions` or `specs`:

    {"resolved": ["tool_dependencies"],
     "assertions": [{"assertion_id": "loan_after_lookup", "subject": "trace", "predicate": "tool_called_after",
                     "target": "lend_book", "tool": "find_book", "rationale": "...", "blocked_on": []}]}

What has been observed of the oracle is `resolved`, and every other unknown is open. Where neither the file nor the
caller says what is resolved, an empty `blocked_on` is taken at its word.

Specs are compiled all together or not at all: every refusal of every spec is told at once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.errors import DocumentError, Problem, nearest
from averment.oracle.catalog.schema import OutOfStepsError, Schemas
from averment.oracle.compile.prose import hidden_character
from averment.oracle.compile.refusals import REFUSALS
from averment.text.jsonvalue import show
from averment.text.shown import printable
from averment.text.source import Source
from averment.text.structs import Mistake, convert, describe

__all__ = ["PREDICATES", "UNKNOWNS", "Predicate", "Spec", "read_specs"]

Unknown = Literal[
    "observed_result_shapes",
    "observed_error_codes",
    "state_deltas",
    "confirmation_behavior",
    "fixture_samples",
    "tool_dependencies",
]
UNKNOWNS: Final[tuple[str, ...]] = get_args(Unknown)
"""What may not have been observed yet of an oracle."""

_ID = re.compile(r"[a-z0-9][a-z0-9_]{2,63}")


class Predicate(msgspec.Struct, frozen=True, kw_only=True):
    """One predicate of the vocabulary.

    Attributes:
        subject: what it is about.
        about: what it says, in words.
        depends_on: the unknown that must be resolved before it can be trusted.
        compiles: whether there is code for it.
    """

    subject: Literal["result", "state", "trace"]
    about: str
    depends_on: str | None = None
    compiles: bool = False


PREDICATES: Final[dict[str, Predicate]] = {
    "tool_called": Predicate(subject="trace", about="the tool `target` is called", compiles=True),
    "tool_not_called": Predicate(subject="trace", about="the tool `target` is never called", compiles=True),
    "tool_called_after": Predicate(
        subject="trace",
        about="where both are called, the tool `target` is first called after the first call of `tool`",
        depends_on="tool_dependencies",
        compiles=True,
    ),
    "field_present": Predicate(
        subject="result", about="a result has the field `target`", depends_on="observed_result_shapes"
    ),
    "field_equals_argument": Predicate(
        subject="result",
        about="the field `target` of a result equals `argument` of the call of `tool`",
        depends_on="observed_result_shapes",
    ),
    "collection_size_changed": Predicate(
        subject="state", about="the collection `target` gains or loses rows", depends_on="state_deltas"
    ),
}
"""The vocabulary."""


class Spec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One assertion as declared."""

    assertion_id: str
    subject: Literal["result", "state", "trace"]
    predicate: Literal[
        "tool_called",
        "tool_not_called",
        "tool_called_after",
        "field_present",
        "field_equals_argument",
        "collection_size_changed",
    ]
    target: Annotated[str, Meta(min_length=1)]
    rationale: str
    argument: str | None = None
    tool: str | None = None
    blocked_on: list[Unknown] = []

    @property
    def name(self) -> str:
        """What the assertion is called in `assertions.py`, and by templates."""
        return f"assert_{self.assertion_id}"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    assertions: list[Any] | UnsetType = UNSET
    specs: list[Any] | UnsetType = UNSET
    resolved: list[Unknown] | UnsetType = UNSET


def read_specs(
    source: Source,
    *,
    tools: Mapping[str, object] | None = None,
    resolved: Collection[str] | None = None,
) -> list[Spec]:
    """The specs in a file, when all of them can be compiled.

    Args:
        source: the file.
        tools: the `parameters` of each published tool by its name; None, and no name of a tool is checked.
        resolved: the unknowns that have been observed, with those that the file names; None says nothing of them.

    Raises:
        DocumentError: with every refusal, in the order of the text.
    """
    problems: list[Problem] = []
    at: tuple[str | int, ...] = ()
    drafts: Any = source.value
    known = None if resolved is None else set(resolved)
    if not isinstance(drafts, list):
        file = convert(source, (), _File, problems)
        if file is None:
            raise DocumentError(problems)
        if file.resolved is not UNSET:
            known = (known or set()).union(file.resolved)
        at = ("specs",) if file.assertions is UNSET else ("assertions",)
        drafts = file.specs if file.assertions is UNSET else file.assertions
        if (file.specs is UNSET) is (file.assertions is UNSET):
            message = "the specs are one list, `assertions` or `specs`"
            raise DocumentError(source.problem("no_specs", message, mend=REFUSALS["no_specs"].mend))
    if not drafts:
        reason = REFUSALS["no_specs"]
        raise DocumentError(source.problem("no_specs", reason.about, at, mend=reason.mend))
    specs = [convert(source, (*at, index), Spec, problems) for index in range(len(drafts))]
    seen: set[object] = set()
    for index, draft in enumerate(drafts):
        if isinstance(draft, dict):
            found = _Grounding(draft, tools, known).mistakes(seen)
            problems += [mistake.at(source, (*at, index)) for mistake in found]
    if problems:
        raise DocumentError(sorted(problems, key=lambda each: (each.line or 0, each.column or 0)))
    return [spec for spec in specs if spec is not None]


def _refusal(code: str, path: tuple[str | int, ...], message: str | None = None, **more: Any) -> Mistake:
    reason = REFUSALS[code]
    return Mistake(code, message or reason.about, path, mend=reason.mend, **more)


class _Grounding:
    """One spec as written, which may have mistakes of shape: what has the wrong type is passed over here."""

    def __init__(
        self, draft: dict[str, Any], tools: Mapping[str, object] | None, resolved: Collection[str] | None
    ) -> None:
        self._draft = draft
        self._tools = tools
        self._resolved = resolved
        name = self._text("predicate")
        self._name = name
        self._predicate = None if name is None else PREDICATES.get(name)
        blocked_on = draft.get("blocked_on")
        self._blocked_on = blocked_on if isinstance(blocked_on, list) else []

    def mistakes(self, seen: set[object]) -> Iterator[Mistake]:
        """Every reason to refuse the spec; `seen` has the ids of those before it."""
        yield from self._id(seen)
        yield from self._hidden()
        yield from self._kind()
        yield from self._tool_names()
        yield from self._unknowns()

    def _text(self, field: str) -> str | None:
        value = self._draft.get(field)
        return value if isinstance(value, str) and value else None

    def _id(self, seen: set[object]) -> Iterator[Mistake]:
        name = self._text("assertion_id")
        if name is None:
            if self._draft.get("assertion_id") == "":
                yield _refusal("malformed_assertion_id", ("assertion_id",), found="an empty string")
            return
        if not _ID.fullmatch(name):
            yield _refusal("malformed_assertion_id", ("assertion_id",), found=describe(name))
        if name in seen:
            yield _refusal("duplicate_assertion_id", ("assertion_id",), found=describe(name))
        seen.add(name)

    def _hidden(self) -> Iterator[Mistake]:
        for field in ("rationale", "target", "tool", "argument"):
            text = self._text(field)
            index = None if text is None else hidden_character(text)
            if text is not None and index is not None:
                found = f"U+{ord(text[index]):04X}"
                yield _refusal("hidden_character", (field,), offset=index, found=found)

    def _kind(self) -> Iterator[Mistake]:
        predicate, subject = self._predicate, self._text("subject")
        if predicate is None:
            return
        if subject in {"result", "state", "trace"} and subject != predicate.subject:
            message = f"`{self._name}` applies to the {predicate.subject}, not to the {subject}"
            yield _refusal("wrong_subject", ("subject",), message, expected=predicate.subject)
        if not predicate.compiles:
            compiled = (name for name, each in PREDICATES.items() if each.compiles)
            expected = f"one of {', '.join(compiled)}"
            yield _refusal(
                "not_compiled", ("predicate",), f"`{self._name}` does not compile", expected=expected
            )

    def _tool_names(self) -> Iterator[Mistake]:
        target, tool = self._text("target"), self._text("tool")
        if self._predicate is not None and self._predicate.subject == "trace":
            yield from self._published("target", target)
        if self._name == "tool_called_after":
            if tool is None:
                yield _refusal("missing_earlier_tool", ())
            elif tool == target:
                yield _refusal("order_with_itself", ("tool",), found=describe(tool))
            else:
                yield from self._published("tool", tool)
        if self._name == "field_equals_argument":
            yield from self._argument_of(tool)

    def _argument_of(self, tool: str | None) -> Iterator[Mistake]:
        argument = self._text("argument")
        if tool is None:
            yield _refusal("missing_tool", ())
        if argument is None:
            yield _refusal("missing_argument", ())
        if tool is None:
            return
        yield from self._published("tool", tool)
        if argument is None or self._tools is None or tool not in self._tools:
            return
        declared = _parameters(self._tools[tool])
        if declared is not None and argument not in declared:
            message = f"the tool {show(tool)} declares no parameter {show(argument)}"
            near = _near(argument, declared)
            expected = _one_of(declared) if declared else "a tool with parameters"
            yield _refusal("unknown_argument", ("argument",), message, expected=expected, nearest=near)

    def _published(self, field: str, name: str | None) -> Iterator[Mistake]:
        if name is not None and self._tools is not None and name not in self._tools:
            message = f"there is no published tool {show(name)}"
            near = _near(name, self._tools)
            expected = _one_of(self._tools) if self._tools else "a catalog with tools"
            yield _refusal("unknown_tool", (field,), message, expected=expected, nearest=near)

    def _unknowns(self) -> Iterator[Mistake]:
        needed = None if self._predicate is None else self._predicate.depends_on
        if self._resolved is not None:
            if needed is not None and needed not in self._resolved and needed not in self._blocked_on:
                message = f"`{self._name}` depends on `{needed}`, which is still unknown"
                yield _refusal("undeclared_unknown", ("blocked_on",), message)
            for index, name in enumerate(self._blocked_on):
                if isinstance(name, str) and name in self._resolved:
                    message = f"`{name}` is not an open unknown: it has been resolved"
                    yield _refusal("resolved_unknown", ("blocked_on", index), message)
        if self._blocked_on:
            names = ", ".join(f"`{name}`" for name in self._blocked_on if isinstance(name, str))
            yield _refusal("blocked", ("blocked_on",), f"the spec is blocked on {names or 'something'}")


def _near(name: str, known: Iterable[str]) -> str | None:
    found = nearest(name, known)
    return None if found is None else printable(found, 80)


def _one_of(names: Collection[str]) -> str:
    shown = ", ".join(printable(name, 80) for name in sorted(names)[:20])
    return f"one of {shown}{', ...' if len(names) > 20 else ''}"


def _parameters(parameters: object) -> Collection[str] | None:
    """The names of a tool's parameters; None where its schema makes that impossible to say."""
    if not isinstance(parameters, dict):
        return None
    try:
        schemas = Schemas(parameters).conjuncts(parameters).outer_first
    except OutOfStepsError:
        return None
    declared = [each["properties"] for each in schemas if isinstance(each.get("properties"), dict)]
    return {name for properties in declared for name in properties}
