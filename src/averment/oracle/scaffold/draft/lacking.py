"""What a draft lacks: a list of tools says what they are called and take, not what they do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from averment.oracle.scaffold.draft.calls import CONFIRM, Call
from averment.oracle.scaffold.draft.texts import inline
from averment.oracle.scaffold.given.tools import Given
from averment.oracle.scaffold.identity import Identity
from averment.oracle.scaffold.subset.changes import EFFECTS, Effect, grouped

__all__ = ["Lack", "changed", "lacking", "section"]

_MAX_PLACES: dict[Effect, int] = {"same": 5, "note": 2}
"""How many places are told of changes that allow the same calls as before; of others, all."""


class Lack(msgspec.Struct, frozen=True):
    """One thing to do.

    Attributes:
        about: an imperative sentence without a full stop, Markdown.
        names: what it is to be done to, as written in the files.
    """

    about: str
    names: tuple[str, ...] = ()


def lacking(identity: Identity, given: Given, calls: Sequence[Call]) -> list[Lack]:
    """All that is to be done before the pack can be gold, in a good order; nothing is left out."""
    return [lack for lack in _lacking(identity, given, calls) if lack.names != ("",)]


def changed(given: Given) -> Iterator[str]:
    """What was changed in the schemas: one line of Markdown each, the gravest first."""
    for (effect, about), places in grouped(given.changes).items():
        shown = places[: _MAX_PLACES.get(effect, len(places))]
        more = f", and {len(places) - len(shown):,} more" if len(shown) < len(places) else ""
        yield f"{about} ({EFFECTS[effect]}): {', '.join(map(inline, shown))}{more}"


def section(lacks: Iterable[Lack], given: Given) -> str:
    """The end of the pack's README.md."""
    lines = ["", "## Missing for gold", ""]
    for number, lack in enumerate(lacks, 1):
        lines.append(f"{number}. {lack.about}{':' if lack.names else '.'}")
        lines += [f"   - {inline(name)}" for name in lack.names]
    if given.remarks:
        lines += ["", "## Left out or renamed", "", *(f"- {remark}" for remark in given.remarks)]
    changes = list(changed(given))
    if changes:
        lines += [
            "",
            "## Changed in the schemas",
            "",
            "The tools of packs are written in a subset of JSON Schema. What it has no words for was left out or said in",
            "other words; the places are those in the file that the draft was made from.",
            "",
            *(f"- {change}" for change in changes),
        ]
    return "\n".join([*lines, ""])


def _lacking(identity: Identity, given: Given, calls: Sequence[Call]) -> Iterator[Lack]:
    names = tuple(call.tool.name for call in calls)
    if identity.transport == "python":
        yield Lack("Implement each tool in `backend.py`; now each answers `not_implemented`", names)
    else:
        yield Lack("Fill in `endpoint_config.yaml`, and have the service implement each tool", names)
    yield Lack(
        "Fill `fixtures.json` with the rows that the tools work on, and name their keys (`primary_keys`) and ids that"
        " no row has (`absent_ids`) in `manifest.yaml`"
    )
    unknown = [call for call in calls if call.tool.mutates is None]
    yield _about(
        unknown, "Say in `tools.json` which of these change something (`x-mutates`): the file didn't"
    )
    guessed = [call for call in calls if call.tool.guessed is not None]
    yield Lack(
        "Look whether `x-mutates` is right: it was taken from what the file says of",
        tuple(
            f"{call.tool.name}: {'changes something' if call.tool.mutates else 'changes nothing'}"
            for call in guessed
        )
        or ("",),
    )
    wordless = [
        call
        for call in calls
        if not call.waits and (call.tool.requires_confirmation or call.tool.destructive)
    ]
    about = f"Let these wait for the user's word, with a boolean `{CONFIRM}` and `x-requires-confirmation`, if they should"
    yield _about(wordless, about)
    yield Lack(
        "In `validation_cases.yaml`, call each tool with what your fixtures have, and expect fields of the result",
        tuple(f"{call.name}_success" for call in calls),
    )
    unfit = [call for call in calls if not call.fits]
    yield Lack(
        "Write arguments that the schema allows: none were found for",
        tuple(f"{call.name}_success" for call in unfit) or ("",),
    )
    yield Lack(
        "Expect the code of each refusal (`error_code`)", tuple(f"{call.name}_refused" for call in calls)
    )
    yield Lack(
        "Write a call that is refused: the schema allows every call of",
        tuple(f"{call.name}_refused" for call in calls if not call.is_refused) or ("",),
    )
    yield Lack(
        "In `task_templates.yaml`, write what users say, in their words, and take slots from the fixtures",
        tuple(f"draft_{call.name}" for call in calls),
    )
    yield Lack(
        "In `assertions.py`, say of each what must be true at the end, of results and state; now it says that the call"
        " was made",
        tuple(f"assert_{call.name}_called" for call in calls),
    )
    if identity.held_out:
        yield Lack("Reserve rows and templates in `held_out.yaml`; it reserves none yet")
    if any(change.effect in {"wider", "narrower"} for change in given.changes):
        yield Lack(
            "Look through what was changed in the schemas, below, and have the oracle refuse what they no longer refuse"
        )


def _about(calls: Sequence[Call], about: str) -> Lack:
    return Lack(about, tuple(call.tool.name for call in calls) or ("",))
