"""The rows of a benchmark (contract, 7.1, schema 1.1), and those of the tasks that are not in it.

Arguments of expected calls are a map from names to canonical JSON texts, because columns of inferred structures would
turn what is absent into null. A seed is an unsigned integer of 64 bits, which many readers of JSON round: `seed_hex` has
it as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from averment.oracle.catalog.projection import projected
from averment.oracle.gold.making import Made
from averment.oracle.model.pack import Pack
from averment.oracle.tasks.render import Said
from averment.text.jsontext import canonical

__all__ = ["SCHEMA_VERSION", "dropped_row", "row"]

SCHEMA_VERSION = "1.1"


def row(made: Made, pack: Pack, *, tier: str, name: str) -> dict[str, Any]:
    """The row of a gold task.

    Args:
        made: the task.
        pack: its pack.
        tier: the pack's tier.
        name: of the run.
    """
    task = made.task
    shown = {tool.name: projected(tool.declared) for tool in pack.tools}
    return {
        "schema_version": SCHEMA_VERSION,
        "task_id": task.task_id,
        "template_id": task.template_id,
        "variant_index": task.variant_index,
        "messages": _messages(made),
        "tools": _text([shown[tool] for tool in task.tools_present]),
        "expected_tool_calls": [
            {
                "turn_index": call.turn_index,
                "call_group": call.call_group,
                "position_in_group": call.position_in_group,
                "function_name": call.function_name,
                "arguments": {key: _text(value) for key, value in sorted(call.arguments.items())},
            }
            for call in made.calls
        ],
        "success_assertions": list(task.success_assertions),
        "fixture_refs": list(task.fixture_refs),
        "intent": task.intent,
        "category": task.category,
        "difficulty": task.difficulty,
        "required_tools": list(task.required_tools),
        "required_tools_fingerprint": _text(sorted(task.required_tools)),
        "tools_present": list(task.tools_present),
        "turn_policy": task.turn_policy,
        "is_multi_turn": task.is_multi_turn,
        "num_tool_calls": task.num_tool_calls,
        "call_order": task.call_order,
        "call_order_prefix": task.call_order_prefix,
        "has_user_confirmation": task.has_user_confirmation,
        "confirmed_call_turns": list(task.confirmed_call_turns),
        "slots": task.slots,
        "slots_initial": task.slots_initial,
        "slot_updates": [msgspec.to_builtins(update) for update in task.slot_updates],
        "edge_signatures": list(task.edge_signatures),
        "mutates": task.mutates,
        "system_prompt_id": made.conversation.system_prompt_id,
        "tier": tier,
        "gold_eligible": tier == "gold",
        "validated_by": ["schema", "replay", "assertions"],
        "pack_id": task.pack_id,
        "pack_version": task.pack_version,
        "seed": task.seed,
        "seed_hex": task.seed_hex,
        "paraphrase_model": None,
        "paraphrase_model_canonical": None,
        "held_out_hit": None if pack.held_out is None else False,
        "src": f"{task.pack_id}:{task.template_id}",
        "metadata": {
            "language": made.conversation.language,
            "expt_name": name,
            "base_task_id": task.base_task_id,
            "surface_source": "template",
            "profile_hash": None,
        },
    }


def dropped_row(made: Made) -> dict[str, Any]:
    """The row of a task that is not gold: where it was dropped and why."""
    drop = made.drop
    assert drop is not None  # noqa: S101 - the caller has looked
    return {
        "task_id": made.task.task_id,
        "template_id": made.task.template_id,
        "category": made.task.category,
        "stage": drop.stage,
        "reason": drop.reason,
        "detail": drop.detail,
        "failures": list(drop.failures),
        "user_turns": list(made.conversation.user_turns),
        "expected_tool_calls": [
            {"function_name": call.function_name, "arguments": call.arguments} for call in made.calls
        ],
    }


def _messages(made: Made) -> list[dict[str, Any]]:
    """The conversation with its calls and their results, as chat messages."""
    messages: list[dict[str, Any]] = []
    results: Sequence[Any] = made.attempt.results if made.attempt is not None else ()
    issued = iter(enumerate(zip(made.calls, results, strict=True)))
    for turn in made.conversation.turns:
        if isinstance(turn, Said):
            messages.append(_message(turn.role, turn.content))
            continue
        batch = [next(issued) for _ in turn.milestones]
        calls = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": call.function_name, "arguments": _text(call.arguments)},
            }
            for number, (call, _) in batch
        ]
        messages.append({**_message("assistant", None), "tool_calls": calls})
        messages += [
            {**_message("tool", _text(result)), "tool_call_id": f"call_{number}"}
            for number, (_, result) in batch
        ]
    return messages


def _message(role: str, content: str | None) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": None, "tool_call_id": None}


def _text(value: Mapping[str, Any] | Any) -> str:
    return canonical(value).decode()
