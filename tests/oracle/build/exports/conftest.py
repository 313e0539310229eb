from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from averment.oracle.build.rows import row
from averment.oracle.gold.kitchen import Kitchen
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.worker.assertions import AssertionRunner
from averment.oracle.worker.backend import BackendOracle, Workers
from averment.oracle.worker.nursery import Nursery

Row = dict[str, Any]
MakeRow = Callable[..., Row]

PACKS = Path(__file__).parents[4] / "examples" / "packs"


@pytest.fixture(scope="session")
def gold_rows() -> list[Row]:
    """The gold rows of the example packs, the bilingual one's in Spanish, as they come back from their lines."""
    rows = [*_gold("library_lending", "en"), *_gold("bilingual_clinic", "es")]
    return [msgspec.json.decode(msgspec.json.encode(each)) for each in rows]


def _gold(name: str, language: str) -> list[Any]:
    pack = load_pack(PACKS / name)
    options = Options(language=language)
    fixtures = (pack.root / pack.files["fixtures"]).read_text(encoding="utf-8")
    with Nursery(pack.root, fixtures=fixtures) as nursery:
        nursery.start()
        workers = Workers(nursery, options)
        oracle = BackendOracle(workers, pack.files["backend"])
        kitchen = Kitchen.of(pack, options, oracle, AssertionRunner(workers, pack.files["assertions"]))
        with ThreadPoolExecutor(2) as pool:
            made = list(pool.map(kitchen.maker.make, kitchen.bound().tasks))
    return [row(each, pack, tier="gold") for each in made if each.drop is None]


@pytest.fixture
def make_row() -> MakeRow:
    return _row


def function(name: str, *required: str, **properties: Any) -> dict[str, Any]:
    """A tool as a row has it."""
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {
        "type": "function",
        "function": {"name": name, "description": "It helps.", "parameters": parameters},
    }


LOOK = function("look", "book", book={"type": "string"})


def _row(
    *groups: Sequence[tuple[str, dict[str, Any]]], tools: Sequence[Any] = (LOOK,), **changes: Any
) -> Row:
    """A row whose agent makes these groups of calls, one message after the other, and says a word in the end.

    Args:
        groups: of calls, `(tool, arguments)`.
        tools: what the agent sees.
        changes: keys of the row that are otherwise.
    """
    expected, messages = [], [_message("system", "Help."), _message("user", "Is *Momo* there? ¿Sí?")]
    for group, calls in enumerate(groups):
        written = []
        for position, (name, arguments) in enumerate(calls):
            texts = {key: _text(value) for key, value in arguments.items()}
            place = {"turn_index": group, "call_group": group, "position_in_group": position}
            expected.append({**place, "function_name": name, "arguments": texts})
            own = {"name": name, "arguments": _text(arguments)}
            written.append({"id": f"call_{len(expected) - 1}", "type": "function", "function": own})
        messages.append(_message("assistant", None) | {"tool_calls": written})
        messages += [_message("tool", '{"ok":true}') | {"tool_call_id": each["id"]} for each in written]
    made = {
        "schema_version": "1.1",
        "task_id": "p__t__0",
        "template_id": "t",
        "variant_index": 0,
        "messages": [*messages, _message("assistant", "Done.")],
        "tools": _text(list(tools)),
        "expected_tool_calls": expected,
        "success_assertions": ["assert_it"],
        "fixture_refs": ['["books","B-1"]'],
        "intent": "look",
        "category": "lookup",
        "difficulty": None,
        "required_tools": [],
        "required_tools_fingerprint": "[]",
        "tools_present": [tool["function"]["name"] for tool in tools],
        "turn_policy": "single_turn" if groups else "irrelevant",
        "is_multi_turn": False,
        "num_tool_calls": len(expected),
        "call_order": "strict",
        "call_order_prefix": None,
        "has_user_confirmation": False,
        "confirmed_call_turns": [],
        "slots": {"title": "Momo", "copies": 2, "rare": None},
        "slots_initial": {"title": "Momo", "copies": 2.0, "rare": None},
        "slot_updates": [{"entry_index": 1, "values": {"copies": 2}, "aliases": {"n": 2}}],
        "edge_signatures": [],
        "mutates": False,
        "system_prompt_id": "sha256:0",
        "tier": "gold",
        "gold_eligible": True,
        "validated_by": ["schema", "replay", "assertions"],
        "pack_id": "p",
        "pack_version": "1",
        "seed": 2**64 - 1,
        "seed_hex": "f" * 16,
        "paraphrase_model": None,
        "paraphrase_model_canonical": None,
        "held_out_hit": None,
        "src": "p:t",
        "metadata": {
            "language": "es",
            "expt_name": "p",
            "base_task_id": "p__t__0",
            "surface_source": "template",
            "profile_hash": None,
        },
    }
    assert changes.keys() <= made.keys()
    return made | changes


def _message(role: str, content: str | None) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": None, "tool_call_id": None}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
