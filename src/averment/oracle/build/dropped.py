"""The table of dropped tasks: a row for each, with the stage that dropped it, the reason and the mend.

It takes the place of the contract's raw table (7.2). That one holds the rows that passed every stage but the guards of
what the user says. Here a task that breaks a guard is not replayed, so there is no row of it to keep: its user's turns
stand in this table instead, with those of every other dropped task and as far as it was made.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from averment.oracle.build.rows import SCHEMA_VERSION, ExpectedCall, expected, text
from averment.oracle.gold.making import Made
from averment.oracle.gold.reasons import REASONS, STAGES
from averment.oracle.model.pack import Pack
from averment.oracle.tasks.task import Correction

__all__ = ["DroppedRow", "dropped_row"]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What an assertion said of the first replay."""

    name: str
    status: str
    detail: str | None = None


class DroppedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A task that is not gold, as far as it was made, and why."""

    schema_version: Annotated[str, Meta(description="That of the rows that it is none of.")]
    task_id: Annotated[str, Meta(description="The task.")]
    template_id: Annotated[str, Meta(description="The template that it was made of.")]
    file: Annotated[str, Meta(description="The pack's file of templates.")]
    line: Annotated[int | None, Meta(description="The line of the template in it.")]
    category: Annotated[Any, Meta(description="The label of the template.")]
    turn_policy: Annotated[str, Meta(description="The shape of the conversation.")]
    stage: Annotated[
        str,
        Meta(
            description="The stage that dropped it.", extra_json_schema={"enum": sorted({*STAGES.values()})}
        ),
    ]
    reason: Annotated[str, Meta(description="Why.", extra_json_schema={"enum": sorted(REASONS)})]
    detail: Annotated[str, Meta(description="Why, in words about this task.")]
    mend: Annotated[str, Meta(description="What to do about it.")]
    failures: Annotated[
        list[dict[str, Any]],
        Meta(description="The particulars for programs, each with a `reason` or a `guard`."),
    ]
    fixture_refs: Annotated[list[str], Meta(description="The rows of the fixtures that its values are of.")]
    slots: Annotated[dict[str, Any], Meta(description="The values in the end, by slot.")]
    slots_initial: Annotated[dict[str, Any], Meta(description="The values in the first turn.")]
    slot_updates: Annotated[list[Correction], Meta(description="What the user corrects, in order.")]
    language: Annotated[str, Meta(description="The language of the conversation.")]
    seed_hex: Annotated[str, Meta(description="The task's seed.")]
    user_turns: Annotated[list[str], Meta(description="What the user says.")]
    expected_tool_calls: Annotated[
        list[ExpectedCall], Meta(description="The gold calls; empty where they could not be worked out.")
    ]
    tool_results: Annotated[
        list[str],
        Meta(description="The canonical JSON of their results in the first replay, if there was one."),
    ]
    assertions: Annotated[
        list[Verdict], Meta(description="What the assertions said of it, if they were asked.")
    ]


def dropped_row(made: Made, pack: Pack) -> DroppedRow:
    """The row of a task that is not gold."""
    task, drop = made.task, made.drop
    assert drop is not None  # noqa: S101 - the caller has looked
    index = next(each.index for each in pack.templates if each.template_id == task.template_id)
    place = pack.sources["templates"].position((index, "template_id"))
    attempt = made.attempt
    return DroppedRow(
        schema_version=SCHEMA_VERSION,
        task_id=task.task_id,
        template_id=task.template_id,
        file=pack.files["templates"],
        line=None if place is None else place.line,
        category=task.category,
        turn_policy=task.turn_policy,
        stage=drop.stage,
        reason=drop.reason,
        detail=drop.detail,
        mend=REASONS[drop.reason].mend,
        failures=list(drop.failures),
        fixture_refs=list(task.fixture_refs),
        slots=task.slots,
        slots_initial=task.slots_initial,
        slot_updates=list(task.slot_updates),
        language=made.conversation.language,
        seed_hex=task.seed_hex,
        user_turns=list(made.conversation.user_turns),
        expected_tool_calls=expected(made.calls),
        tool_results=[] if attempt is None else [text(result) for result in attempt.results],
        assertions=[]
        if attempt is None
        else [
            Verdict(name=said["name"], status=said["status"], detail=said["detail"])
            for said in attempt.verdicts
        ],
    )
