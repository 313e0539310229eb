"""What every assertion is, and the seam between kinds and the engine.

A kind is one frozen struct whose fields are the document's fields. Its seam has four parts:

* `needs`, the channels of evidence without which it can say nothing;
* `patterns()`, every regular expression it wants searched, so that the engine searches all of a document's
  patterns in one pass over each turn (no kind searches text itself);
* `compile(resolver)`, which resolves policies, references and expected values once and returns the check;
* the check, `(view, earlier) -> Finding`, called once per conversation.

The engine turns findings into results; only there are reasons built, redacted and written.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions.codes import Code
from averment.text.structs import Mistake

if TYPE_CHECKING:
    from averment.evidence.model import ToolCall
    from averment.evidence.view import View
    from averment.policies import Policy, PolicyShelf
    from averment.text.patterns import Pattern

__all__ = [
    "UNSET",
    "AppliesIf",
    "Assertion",
    "CaseSensitive",
    "Channel",
    "Check",
    "Earlier",
    "Examples",
    "Expected",
    "ExpectedFields",
    "Finding",
    "Gap",
    "NonEmpty",
    "PatternUse",
    "Reference",
    "Regex",
    "Resolver",
    "Role",
    "Status",
    "UnsetType",
    "failed",
    "inconclusive",
    "passed",
    "safe",
    "turn_list",
]

NonEmpty = Annotated[str, Meta(min_length=1)]
Regex = Annotated[
    str,
    Meta(
        min_length=1,
        extra={"regex": True},  # variables are escaped where they stand in one
        description="A regular expression in Python's `re` dialect; write it in single quotes.",
    ),
]
Role = Annotated[
    str | None,
    Meta(description="Only turns of this role; names match in any case and through the alias table."),
]
CaseSensitive = Annotated[bool, Meta(description="Letters match in their own case only.")]
Expected = Annotated[Any, Meta(extra_json_schema={"$ref": "#/$defs/expected"})]
"""An expected value of any shape, operators included (`values`)."""
ExpectedFields = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": "#/$defs/expected_fields"})]
"""A mapping of expected values."""
Channel = Literal["transcript", "executions", "http", "handoff", "dtmf", "termination", "timing", "state"]


class Status(enum.StrEnum):
    """The three verdicts."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


class Gap(msgspec.Struct, frozen=True):
    """Evidence that is missing: which channel, its state, and what would supply it."""

    channel: Channel | Literal["results", "errors", "speakers", "bodies"]
    state: str
    how: str


class Finding(msgspec.Struct, frozen=True, gc=False):
    """What a check found: the verdict and its grounds, with nothing rendered yet.

    Attributes:
        status: the verdict.
        code: why it is not PASS.
        reason: prose that may quote evidence; a callable, so that it is built only for a result somebody reads.
        public: prose that never quotes evidence, only the document's own safe names and counts.
        turns: indexes of the turns it rests on, ascending.
        calls: the tool calls it rests on, in trace order.
        spans: indexes of further spans it rests on.
        details: fields of the kind, in the order in which the envelope shows them.
        absence_of: the channel whose completeness the verdict needs: it says that something is *not* there.
        absent_tools: of which tools no execution may be missing; None for all that the assertion rests on.
        gap: the missing evidence, for INCONCLUSIVE.
    """

    status: Status
    code: Code | None = None
    reason: Callable[[], str] | None = None
    public: str | None = None
    turns: Sequence[int] = ()
    calls: Sequence[ToolCall] = ()
    spans: Sequence[int] = ()
    details: Mapping[str, Any] = {}
    absence_of: Channel | None = None
    absent_tools: tuple[str, ...] | None = None
    gap: Gap | None = None


Earlier = Mapping[str, Finding]
"""Findings of the assertions that were decided before this one, by id."""

Check = Callable[["View", Earlier], Finding]


class PatternUse(msgspec.Struct, frozen=True):
    """One regular expression of an assertion, and where in it the pattern stands."""

    path: tuple[str | int, ...]
    source: str
    ignore_case: bool


class Reference(msgspec.Struct, frozen=True):
    """One mention of another assertion, and where it stands."""

    path: tuple[str | int, ...]
    id: str
    offset: int | None = None


class Resolver(Protocol):
    """What a kind may ask for while it is compiled; each thing is resolved once per document."""

    def pattern(self, source: str, *, ignore_case: bool) -> Pattern:
        """The compiled pattern, whose hits the view answers."""

    def role(self, name: str | None) -> str | None:
        """The role's canonical name through the document's alias table."""

    def policy(self, pack: str | None, pack_path: str | None) -> Policy:
        """The policy that an assertion names."""


class AppliesIf(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the conversation's labels and metadata must hold for an assertion to be about it at all."""

    labels: Annotated[ExpectedFields | UnsetType, Meta(description="Expected labels.")] = UNSET
    metadata: Annotated[ExpectedFields | UnsetType, Meta(description="Expected metadata.")] = UNSET


class Examples(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Conversations that the assertion must pass and fail on; `averment check` tries them.

    An example is a conversation record, or a text: one turn, said by the assertion's role, else by the agent.
    """

    passing: Annotated[list[str | dict[str, Any]], Meta(description="It must PASS on each.")] = msgspec.field(
        default_factory=list, name="pass"
    )
    failing: Annotated[list[str | dict[str, Any]], Meta(description="It must FAIL on each.")] = msgspec.field(
        default_factory=list, name="fail"
    )


class Assertion(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag_field="kind",
):
    """The fields that every assertion has."""

    needs: ClassVar[tuple[Channel, ...]] = ()
    """The channels without which it can say nothing."""
    decides: ClassVar[bool] = True
    """Whether it ever gives PASS or FAIL; some kinds of the contract are accepted and left open."""
    codes: ClassVar[tuple[Code, ...]] = ()
    """Every code it can give, besides those that any assertion can get from the engine."""
    example: ClassVar[str] = ""
    """The worked example of its reference page: a document in YAML with one assertion of the kind, with `examples`."""

    id: Annotated[str, Meta(min_length=1, description="A name, unique in the document; results carry it.")]
    when: Annotated[
        Annotated[str, Meta(min_length=1)] | Annotated[list[NonEmpty], Meta(min_length=1)] | UnsetType,
        Meta(description="Run this check only if these assertions passed; otherwise it is skipped."),
    ] = UNSET
    applies_if: Annotated[
        AppliesIf | UnsetType,
        Meta(
            description="Labels and metadata that the conversation must have; otherwise it is not applicable."
        ),
    ] = UNSET
    dimension: Annotated[
        Literal["outcome", "policy", "conversation", "speech", "reliability"] | None,
        Meta(description="A heading to group results by; never a weight."),
    ] = None
    severity: Annotated[
        Literal["error", "warning", "note"],
        Meta(description="Only errors gate; warnings and notes are counted on their own."),
    ] = "error"
    tags: Annotated[list[NonEmpty], Meta(description="Free labels, carried to results and reports.")] = []
    owner: Annotated[str | None, Meta(description="Who looks after this assertion.")] = None
    description: Annotated[str | None, Meta(description="What this assertion is for, in a sentence.")] = None
    examples: Annotated[
        Examples | UnsetType,
        Meta(description="Conversations that it must pass and fail on, tried by `averment check`."),
    ] = UNSET

    def tools(self) -> Iterable[str]:
        """The tools whose executions the verdict rests on, by name; none where requests count as well."""
        return ()

    def reads_bodies(self) -> bool:
        """Whether it looks at what HTTP exchanges were answered, beyond the status."""
        return False

    def premises(self) -> tuple[str, ...]:
        """The ids in `when`, in the order written."""
        if self.when is UNSET:
            return ()
        return (self.when,) if isinstance(self.when, str) else tuple(self.when)

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002 - for the kinds that name policies
        """What the types of single fields can't say: fields that exclude or need one another, faulty values.

        Args:
            shelf: the policies that the document may name.

        Raises:
            DocumentError: a policy file has mistakes of its own.
        """
        return ()

    def patterns(self) -> Iterable[PatternUse]:
        """Every regular expression that this assertion wants searched in the transcript."""
        return ()

    def references(self) -> Iterable[Reference]:
        """Every assertion whose result this one reads, `when` apart."""
        return ()

    def compile(self, resolver: Resolver) -> Check:
        """The check, with all that does not depend on the conversation worked out."""
        raise NotImplementedError


def passed(**grounds: Any) -> Finding:
    """A PASS, with its grounds."""
    return Finding(Status.PASS, **grounds)


def failed(code: Code, reason: Callable[[], str], public: str, **grounds: Any) -> Finding:
    """A FAIL, with its code, its reason and its grounds."""
    return Finding(Status.FAIL, code, reason, public, **grounds)


def inconclusive(code: Code, reason: Callable[[], str], public: str, **grounds: Any) -> Finding:
    """An INCONCLUSIVE, with what is missing."""
    return Finding(Status.INCONCLUSIVE, code, reason, public, **grounds)


def safe(name: str | None) -> str | None:
    """The name if it may stand in a public reason (reference, section 9), else None."""
    if name and name.isascii() and all(c.isalnum() or c in "_.-" for c in name) and name not in _YAML_WORDS:
        return name
    return None


def turn_list(indexes: Sequence[int]) -> str:
    """Turns by their transcript indexes (0-based, as in the envelope), as people read them: the first few."""
    shown = ", ".join(str(index) for index in indexes[:5])
    more = f" and {len(indexes) - 5} more" if len(indexes) > 5 else ""
    return f"turn{'s' if len(indexes) > 1 else ''} {shown}{more}"


_YAML_WORDS = frozenset({"true", "false", "null"})
