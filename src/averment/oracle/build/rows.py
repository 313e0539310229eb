"""The rows of a benchmark (contract, 7.1, schema 1.1).

Arguments of expected calls are a map from names to canonical JSON texts, because columns of inferred structures would
turn what is absent into null. A seed is an unsigned integer of 64 bits, which many readers of JSON round: `seed_hex` has
it as text. Beside the contract's columns stand those that an assertion gets as `task`, so that a row is all that it
takes to judge a run of its task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from averment.oracle.catalog.projection import projected
from averment.oracle.gold.making import Made
from averment.oracle.model.pack import Pack
from averment.oracle.tasks.render import Said
from averment.oracle.tasks.task import Correction
from averment.oracle.tasks.trace import GoldCall
from averment.text.jsontext import canonical

__all__ = ["SCHEMA_VERSION", "ExpectedCall", "Row", "expected", "row", "text"]

SCHEMA_VERSION = "1.1"
"""The version of the contract's schema of rows."""


class Function(msgspec.Struct, frozen=True, kw_only=True):
    """A function and the JSON text of its arguments."""

    name: str
    arguments: str


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call in a message; ids are `call_0` and so on, one after the other in the whole row."""

    id: str
    type: Literal["function"] = "function"
    function: Function


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A chat message; the content of a `tool` is the canonical JSON of a result, that of calls is null."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None


class ExpectedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A gold call: the assistant's turn that makes it, from 0, its group, and its place in the group."""

    turn_index: int
    call_group: int
    position_in_group: int
    function_name: str
    arguments: Annotated[
        dict[str, str], Meta(description="The canonical JSON of each argument, by its name.")
    ]


class RowMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """Where the row comes from."""

    language: Annotated[str, Meta(description="The language of the conversation.")]
    expt_name: Annotated[str, Meta(description="The run: the pack's id.")]
    base_task_id: Annotated[str, Meta(description="The task whose wording this one varies; its own id here.")]
    surface_source: Annotated[Literal["template"], Meta(description="Who worded it.")] = "template"
    profile_hash: Annotated[None, Meta(description="Of a reference profile; there is none.")] = None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A gold task: what is said, what must be called, and what must be true in the end."""

    schema_version: Annotated[str, Meta(description="The version of the contract's schema of rows.")]
    task_id: Annotated[str, Meta(description="The pack, the template, and a digest of the task's values.")]
    template_id: Annotated[str, Meta(description="The template that it was made of.")]
    variant_index: Annotated[int, Meta(description="0: the template's own wording.")]
    messages: Annotated[
        list[Message], Meta(description="The whole gold conversation, with calls and results.")
    ]
    tools: Annotated[
        str, Meta(description="The tools that the agent sees, as canonical JSON of their schemas.")
    ]
    expected_tool_calls: Annotated[list[ExpectedCall], Meta(description="The gold calls, in their order.")]
    success_assertions: Annotated[list[str], Meta(description="What must pass in the end, in this order.")]
    fixture_refs: Annotated[list[str], Meta(description="The rows of the fixtures that its values are of.")]
    intent: Annotated[Any, Meta(description="A label of the template, as it stands there.")]
    category: Annotated[Any, Meta(description="A label of the template, which shares a budget of tasks.")]
    difficulty: Annotated[Any, Meta(description="A label of the template.")]
    required_tools: Annotated[list[str], Meta(description="The tools that must be called.")]
    required_tools_fingerprint: Annotated[str, Meta(description="The canonical JSON of their sorted names.")]
    tools_present: Annotated[list[str], Meta(description="The names of the tools that the agent sees.")]
    turn_policy: Annotated[str, Meta(description="The shape of the conversation, one of nine.")]
    is_multi_turn: Annotated[bool, Meta(description="Whether the user speaks more than once.")]
    num_tool_calls: Annotated[int, Meta(description="How many gold calls there are.")]
    call_order: Annotated[str, Meta(description="`strict`, `any` or `prefix`.")]
    call_order_prefix: Annotated[
        int | None, Meta(description="How many of the required tools come in order.")
    ]
    has_user_confirmation: Annotated[bool, Meta(description="Whether the user confirms a call.")]
    confirmed_call_turns: Annotated[list[int], Meta(description="The turns whose calls are confirmed.")]
    slots: Annotated[dict[str, Any], Meta(description="The values in the end, by slot.")]
    slots_initial: Annotated[dict[str, Any], Meta(description="The values in the first turn.")]
    slot_updates: Annotated[list[Correction], Meta(description="What the user corrects, in order.")]
    edge_signatures: Annotated[list[str], Meta(description="Labels of the template for its edge cases.")]
    mutates: Annotated[bool, Meta(description="Whether the template says that the task changes the state.")]
    system_prompt_id: Annotated[str, Meta(description="`sha256:` and 16 digits of the system prompt.")]
    tier: Annotated[Literal["gold", "silver"], Meta(description="The tier of the pack when it was built.")]
    gold_eligible: Annotated[bool, Meta(description="Whether the tier is gold.")]
    validated_by: Annotated[list[str], Meta(description="What it has passed: schema, replay, assertions.")]
    pack_id: Annotated[str, Meta(description="The pack.")]
    pack_version: Annotated[str, Meta(description="Its version.")]
    seed: Annotated[int, Meta(description="What `ctx.seed` says: unsigned, 64 bits.", ge=0)]
    seed_hex: Annotated[
        str, Meta(description="The same as text, for readers with 53 bits.", pattern="^[0-9a-f]{16}$")
    ]
    paraphrase_model: Annotated[None, Meta(description="No model words anything here.")] = None
    paraphrase_model_canonical: Annotated[None, Meta(description="Likewise null.")] = None
    held_out_hit: Annotated[
        bool | None,
        Meta(description="False: no reserved row is in it; null where the pack reserves nothing."),
    ]
    src: Annotated[str, Meta(description="`PACK:TEMPLATE`.")]
    metadata: Annotated[RowMetadata, Meta(description="Where it comes from.")]


def row(made: Made, pack: Pack, *, tier: Literal["gold", "silver"]) -> Row:
    """The row of a gold task.

    Args:
        made: the task.
        pack: its pack.
        tier: the pack's tier.
    """
    task = made.task
    shown = {tool.name: projected(tool.declared) for tool in pack.tools}
    return Row(
        schema_version=SCHEMA_VERSION,
        task_id=task.task_id,
        template_id=task.template_id,
        variant_index=task.variant_index,
        messages=_messages(made),
        tools=text([shown[tool] for tool in task.tools_present]),
        expected_tool_calls=expected(made.calls),
        success_assertions=list(task.success_assertions),
        fixture_refs=list(task.fixture_refs),
        intent=task.intent,
        category=task.category,
        difficulty=task.difficulty,
        required_tools=list(task.required_tools),
        required_tools_fingerprint=text(sorted(task.required_tools)),
        tools_present=list(task.tools_present),
        turn_policy=task.turn_policy,
        is_multi_turn=task.is_multi_turn,
        num_tool_calls=task.num_tool_calls,
        call_order=task.call_order,
        call_order_prefix=task.call_order_prefix,
        has_user_confirmation=task.has_user_confirmation,
        confirmed_call_turns=list(task.confirmed_call_turns),
        slots=task.slots,
        slots_initial=task.slots_initial,
        slot_updates=list(task.slot_updates),
        edge_signatures=list(task.edge_signatures),
        mutates=task.mutates,
        system_prompt_id=made.conversation.system_prompt_id,
        tier=tier,
        gold_eligible=tier == "gold",
        validated_by=["schema", "replay", "assertions"],
        pack_id=task.pack_id,
        pack_version=task.pack_version,
        seed=task.seed,
        seed_hex=task.seed_hex,
        held_out_hit=None if pack.held_out is None else False,
        src=f"{task.pack_id}:{task.template_id}",
        metadata=RowMetadata(
            language=made.conversation.language, expt_name=task.pack_id, base_task_id=task.base_task_id
        ),
    )


def expected(calls: Sequence[GoldCall]) -> list[ExpectedCall]:
    """Gold calls as rows have them."""
    return [
        ExpectedCall(
            turn_index=call.turn_index,
            call_group=call.call_group,
            position_in_group=call.position_in_group,
            function_name=call.function_name,
            arguments={key: text(value) for key, value in sorted(call.arguments.items())},
        )
        for call in calls
    ]


def text(value: Mapping[str, Any] | Any) -> str:
    """The canonical JSON of a value."""
    return canonical(value).decode()


def _messages(made: Made) -> list[Message]:
    """The conversation with its calls and their results, as chat messages."""
    messages: list[Message] = []
    results: Sequence[Any] = made.attempt.results if made.attempt is not None else ()
    issued = iter(enumerate(zip(made.calls, results, strict=True)))
    for turn in made.conversation.turns:
        if isinstance(turn, Said):
            messages.append(Message(role=turn.role, content=turn.content))
            continue
        batch = [next(issued) for _ in turn.milestones]
        calls = [
            ToolCall(
                id=f"call_{number}",
                function=Function(name=call.function_name, arguments=text(call.arguments)),
            )
            for number, (call, _) in batch
        ]
        messages.append(Message(role="assistant", tool_calls=calls))
        messages += [
            Message(role="tool", content=text(result), tool_call_id=f"call_{number}")
            for number, (_, result) in batch
        ]
    return messages
