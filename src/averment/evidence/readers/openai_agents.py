"""Run states of the OpenAI Agents SDK, of Python (`generated_items`) and JavaScript (`generatedItems`).

What went in stands in `original_input`, what the agents did in `generated_items`, or in `session_items` where a
handoff filtered those; their `raw_item`s are Responses items. `model_responses` hold the same once more, and are read
only where there are no items. A call whose approval was rejected is `denied`. A handoff is a call of a tool and, when
it is done, a span of type `handoff`.

Known gaps: a run state has no times, and no flag for calls that failed. Guardrail results are kept as metadata;
pending approvals are calls without an answer. Where `previous_response_id` or `conversation_id` refers to a history
on the server, the coverage is partial.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.model import Span, ToolCallStatus
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.messages import Limits, finish, keep, limit_history
from averment.evidence.readers.response_items import Items

__all__ = ["fits", "read"]

_LIMITS = Limits(
    tools="Save the whole run state.",
    failures="A run state can't flag a failed call: export the trace of the run as well.",
    writes_arguments=True,
)
_KEPT = ("current_agent", "currentAgent", "trace", "usage", "current_turn", "currentTurn", "$schemaVersion")
_GUARDRAILS = tuple(
    f"{kind}_guardrail_results" for kind in ("input", "output", "tool_input", "tool_output")
) + tuple(f"{kind}GuardrailResults" for kind in ("input", "output", "toolInput", "toolOutput"))
_TYPES = {"function_call_result": "function_call_output", "computer_call_result": "computer_call_output"}
_KEYS = {"callId": "call_id", "providerData": "provider_data"}


def fits(value: Any) -> str | None:
    """Why this looks like a run state, or None."""
    if not isinstance(value, dict):
        return None
    for generated, original in (("generated_items", "original_input"), ("generatedItems", "originalInput")):
        if generated in value and original in value:
            return f"it has `{generated}` and `{original}`"
    return None


def read(part: Part, draft: Draft) -> None:
    """Read one run state."""
    if not isinstance(part.value, dict):
        found = kind_of(part.value)
        draft.problems.append(
            part.problem("wrong_type", "a run state must be an object", expected="an object", found=found)
        )
        return
    _State(part, draft).read()


class _State:
    """One run state, on the way into a dialogue."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._dialogue = Dialogue(draft, part)
        self._items = Items(part, self._dialogue, draft)
        self._spans: list[Span] = []
        self._rejected: set[str] = set()
        self._rejected_tools: set[str] = set()
        self._names: dict[str, str] = {}

    def read(self) -> None:
        draft, value = self._draft, self._part.value
        self._keep()
        generated = self._part_of("session_items", "sessionItems")
        other = self._part_of("generated_items", "generatedItems")
        if other is not None and (generated is None or len(other.value) >= len(generated.value)):
            generated = other
        records, count = self._originals(has_items=generated is not None and bool(generated.value))
        if generated is not None and generated.value:
            self._items.expect([_raw(item) for item in generated.value])
            records += len(generated.value)
            for item, loc in zip(generated.value, generated.locs(), strict=True):
                count += self._generated(item, loc)
        else:
            for item, loc in self._responses():
                records += 1
                count += self._item(item, loc, None)
        draft.spans = self._spans
        finish(self._dialogue, draft, _LIMITS, shows_tools=True, flags_some=True)
        draft.cover("handoff", len(self._spans))
        server = ("previous_response_id", "previousResponseId", "conversation_id", "conversationId")
        if any(value.get(key) is not None for key in server):
            reason = "the history is kept on the server, and only referred to"
            limit_history(draft, reason, "Export the items of the conversation as well.")
        draft.account(self._part.source, records=records, read=count)

    def _keep(self) -> None:
        """Read what the state says beside its items."""
        draft, value = self._draft, self._part.value
        keep(draft, value, _KEPT)
        keep(draft, value, [key for key in _GUARDRAILS if value.get(key)])
        own = value.get("conversation_id", value.get("conversationId"))
        draft.conversation_id = own if type(own) is str else None
        context = value.get("context")
        if isinstance(context, dict):
            keep(draft, context, ("usage", "context"))
            self._read_approvals(context.get("approvals"))

    def _read_approvals(self, approvals: Any) -> None:
        for tool, entry in approvals.items() if isinstance(approvals, dict) else ():
            rejected = entry.get("rejected") if isinstance(entry, dict) else None
            if rejected is True:
                self._rejected_tools.add(tool)
            elif isinstance(rejected, list):
                self._rejected.update(own for own in rejected if type(own) is str)

    def _part_of(self, *keys: str) -> Part | None:
        for key in keys:
            if isinstance(self._part.value.get(key), list):
                return self._part.at(key)
            if self._part.value.get(key) is not None:
                self._draft.note("message_unreadable", f"{self._part.loc()}.{key}", "this should be a list")
        return None

    def _originals(self, *, has_items: bool) -> tuple[int, int]:
        """Read what went into the run, but for items that the run owns and lists itself."""
        key = "original_input" if "original_input" in self._part.value else "originalInput"
        if self._part.value.get(key) is None:
            return 0, 0
        original = self._part.at(key)
        if not isinstance(original.value, list):
            return 1, Items(original, self._dialogue, self._draft).read()
        refs = self._part.value.get("nested_history_owned_session_item_refs")
        owned = {
            ref["input_index"]
            for ref in (refs if isinstance(refs, list) and has_items else ())
            if isinstance(ref, dict) and type(ref.get("input_index")) is int
        }
        count = 0
        for index, (item, loc) in enumerate(zip(original.value, original.locs(), strict=True)):
            if index in owned:
                self._draft.drop("an item that the run lists itself", loc)
            else:
                count += self._item(item, loc, None)
        return len(original.value), count

    def _responses(self) -> list[tuple[Any, str]]:
        """The items of the model's responses, each with its place."""
        responses = self._part_of("model_responses", "modelResponses")
        found = []
        for index, response in enumerate(responses.value if responses is not None else ()):
            output = response.get("output") if isinstance(response, dict) else None
            place = f"{responses.locs()[index]}.output" if responses is not None else ""
            found += [
                (item, f"{place}[{position}]")
                for position, item in enumerate(output if isinstance(output, list) else ())
            ]
        return found

    def _generated(self, item: Any, loc: str) -> bool:
        if type(item) is not dict:
            self._draft.note("message_unreadable", loc, f"an item is {kind_of(item)}, so it is left out")
            return False
        raw = _raw(item)
        kind = item.get("type")
        if kind == "tool_approval_item":
            self._draft.drop("an approval that is asked for", loc)
            return True
        agent = item.get("agent")
        name = agent.get("name") if isinstance(agent, dict) else None
        is_read = self._item(raw, f"{loc}.{'raw_item' if 'raw_item' in item else 'rawItem'}", name)
        if kind == "handoff_output_item":
            self._hand_over(item, loc)
        return is_read

    def _item(self, raw: Any, loc: str, speaker: Any) -> bool:
        raw = _plain(raw)
        status: ToolCallStatus | None = None
        if isinstance(raw, dict):
            own, name = raw.get("call_id", raw.get("id")), raw.get("name")
            if type(own) is str:
                if type(name) is str:
                    self._names[own] = name
                is_denied = own in self._rejected or self._names.get(own) in self._rejected_tools
                status = "denied" if is_denied else None
        return self._items.item(raw, loc, speaker=speaker if type(speaker) is str else None, status=status)

    def _hand_over(self, item: dict[str, Any], loc: str) -> None:
        fields = {}
        for field, keys in (
            ("from", ("source_agent", "sourceAgent")),
            ("to", ("target_agent", "targetAgent")),
        ):
            agent = next((item[key] for key in keys if isinstance(item.get(key), dict)), None)
            if agent is not None and type(agent.get("name")) is str:
                fields[field] = agent["name"]
        number, place = len(self._spans), self._dialogue.place()
        self._spans.append(Span(id=f"s_{number}", type="handoff", fields=fields, seq=place, loc=loc))


def _raw(item: Any) -> Any:
    """The Responses item in a run item."""
    return item.get("raw_item", item.get("rawItem")) if isinstance(item, dict) else None


def _plain(raw: Any) -> Any:
    """An item in the words of the Responses API; the JavaScript SDK has some of its own."""
    if not isinstance(raw, dict):
        return raw
    plain = {_KEYS.get(key, key): value for key, value in raw.items()}
    kind = plain.get("type")
    if isinstance(kind, str):
        plain["type"] = _TYPES.get(kind, kind)
    if kind == "hosted_tool_call":
        plain["type"] = "mcp_call"
    if kind == "function_call_result" and isinstance(plain.get("output"), dict):
        plain["output"] = [plain["output"]]
    return plain
