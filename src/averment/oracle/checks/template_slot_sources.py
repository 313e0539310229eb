"""Check 2: every slot, and every correction of one, has values.

Each `source` is read and looked up in the pack: its collection, its filter, its field and the key of its rows; the
parameter and its `enum`; the literal, the range; the absent ids. A correction has to replace a slot of the template
that the user states in the first turn, from the same kind of source. No code of the pack runs.

Failures have the facts `slot`, its name, and `correction`, the index of the user's turn, where the source is that of a
correction; others as the reason needs them: `collection`, `primary_key`, `rows` (indexes, the first twenty), `tool`,
`parameter`. A source of a kind that is none of the five is `unknown_source_kind:KIND`, with the kind as written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from averment.oracle.checks.base import Check
from averment.oracle.checks.template_failures import template_failure
from averment.oracle.findings import Failure, Reason
from averment.oracle.model.pack import Pack
from averment.oracle.tasks.candidates import resolve
from averment.oracle.tasks.corrections import correction_mistakes
from averment.oracle.tasks.sources import Declared, SourceError, declared_sources, parse_source

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["CHECK"]

REASONS = {
    "missing_source": Reason("A slot has no source.", "Say where its values come from: `source: KIND:REST`."),
    "bad_fixture_path": Reason(
        "A fixture source does not name a collection and a field.", "Write `fixture:COLLECTION.FIELD`."
    ),
    "unknown_collection": Reason(
        "A fixture source names a collection that the fixtures do not have as a list of rows.",
        "Correct the name, or add the collection to the fixtures.",
    ),
    "unevaluable_filter": Reason(
        "A filter is not in the language of filters, or compares what can't be compared.",
        "Write comparisons joined by `and`, each `field op literal`.",
    ),
    "filter_matches_zero": Reason(
        "No row of the collection has the field and passes the filter.",
        "Widen the filter, correct the field, or add such a row to the fixtures.",
    ),
    "primary_key_ambiguous": Reason(
        "Nothing says which field identifies a row of the collection.",
        "Declare the field under `primary_keys` in the manifest.",
    ),
    "fixture_row_missing_primary_key": Reason(
        "A row that the slot draws from has no value in its key.", "Give each such row its key."
    ),
    "bad_enum_path": Reason(
        "An enum source does not name a tool and a parameter.", "Write `enum:TOOL.PARAMETER`."
    ),
    "enum_missing": Reason(
        "The tool, its parameter, or the parameter's `enum` does not exist.",
        "Name a parameter that the catalog declares with an `enum`.",
    ),
    "invalid_source": Reason(
        "A literal, a range or an absent id can't be read, or has no value.",
        "Write `literal:['a', 'b']`, `range:{min: 1, max: 5}`, or `absent:COLLECTION` with ids in the manifest.",
    ),
    "unknown_source_kind": Reason(
        "The word before the colon is no kind of source; it stands in the code, after another colon.",
        "Write one of `fixture`, `enum`, `literal`, `range`, `absent`.",
    ),
    "invalid_slot_update": Reason(
        "A correction replaces a slot that it can't: none of the template, a hidden one, or one of another kind.",
        "Replace a slot that the user states in the first turn, from the same kind of source.",
    ),
}


def run(bench: Bench) -> Iterator[Failure]:
    """The failures, in the order of the templates, their slots, their corrections."""
    pack = bench.pack
    asked: dict[tuple[str, str | None], SourceError | None] = {}
    for template in pack.templates:
        wrong = {declared.path: mistake for declared, mistake in correction_mistakes(template)}
        for declared in declared_sources(template):
            facts = _facts(declared)
            if declared.path in wrong:
                yield template_failure(pack, template, wrong[declared.path], **facts)
            key = (declared.definition.source, declared.definition.filter)
            if key not in asked:
                asked[key] = _fault(pack, *key)
            error = asked[key]
            if error is not None:
                mistake = error.mistake.under(*declared.path)
                yield template_failure(pack, template, mistake, **facts, **error.facts)


def _fault(pack: Pack, source: str, filter_text: str | None) -> SourceError | None:
    """Why the source has no values; None where it has."""
    try:
        resolve(parse_source(source, filter_text), pack)
    except SourceError as error:
        return error
    return None


def _facts(declared: Declared) -> dict[str, Any]:
    facts: dict[str, Any] = {"slot": declared.slot}
    return facts if declared.entry is None else {**facts, "correction": declared.entry}


CHECK = Check(id="2", name="template_slot_sources", reasons=REASONS, run=run)
