"""The items of the Responses API: what is said, asked for and answered in a list of them.

They stand in requests and responses, in the run states of the Agents SDK and in Codex logs alike.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.model import ArgsState, ToolCallStatus
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.messages import result_of, text_or_none
from averment.evidence.readers.shortfalls import UNKNOWN_TYPE
from averment.evidence.readers.transcript import role_of

__all__ = ["Items", "is_items"]

_TRIED = 50
_TEXTS = frozenset({"input_text", "output_text"})
_NOT_ITEMS = frozenset({"is_error", "created_at", "interrupted", "tool_calls", "uuid", "sessionId"})
_CALLS = frozenset(
    {
        *(
            "function_call",
            "custom_tool_call",
            "web_search_call",
            "file_search_call",
            "mcp_call",
            "computer_call",
        ),
        *(
            "code_interpreter_call",
            "image_generation_call",
            "local_shell_call",
            "shell_call",
            "apply_patch_call",
        ),
        *("tool_search_call", "program"),
    }
)
_OUTPUTS = {
    **{
        f"{kind}_output": "output"
        for kind in ("function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call")
    },
    "apply_patch_call_output": "output",
    "program_output": "result",
    "tool_search_output": "tools",
}
_OUTCOMES = {
    "web_search_call": None,
    "image_generation_call": "result",
    "file_search_call": "results",
    "code_interpreter_call": "outputs",
}
"""The calls that the server makes itself, with the key of what came of them, where the item has one."""

_SIGNS = _CALLS | _OUTPUTS.keys() | {"reasoning", "mcp_approval_request", "mcp_list_tools"}
_DROPPED = {
    "reasoning": "a reasoning part",
    "mcp_list_tools": "a list of tools",
    "compaction": "a summary of the history",
    "item_reference": "a reference to an item",
}
_ITEM_KEYS = frozenset(
    {
        "type",
        "id",
        "call_id",
        "status",
        "role",
        "content",
        "phase",
        "caller",
        "internal_chat_message_metadata_passthrough",
    }
)
_STATUSES: dict[str, ToolCallStatus] = {
    "failed": "error",
    "incomplete": "cancelled",
    "cancelled": "cancelled",
}


def is_items(value: Any) -> bool:
    """Whether this is a list of items, as far as its first ones tell; plain texts by roles are not enough."""
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value[:_TRIED]):
        return False
    signs = 0
    for item in value[:_TRIED]:
        kind = item.get("type")
        if not _NOT_ITEMS.isdisjoint(item) or not (kind is None or isinstance(kind, str)):
            return False
        if kind in (None, "message"):
            if not isinstance(item.get("role"), str) or "content" not in item:
                return False
            signs += _has_own_parts(item["content"])
        elif kind in _SIGNS:
            signs += 1
        elif kind not in _DROPPED and not kind.endswith(("_call", "_output", "_response")):
            return False
    return signs > 0


def _has_own_parts(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(part, dict) and isinstance(part.get("type"), str) and part["type"] in _TEXTS
        for part in content[:_TRIED]
    )


class Items:
    """A list of items, or the text that stands for the only one, on the way into a dialogue.

    Args:
        part: the list.
        dialogue: what it is read into.
        draft: what notes are written to.
    """

    def __init__(self, part: Part, dialogue: Dialogue, draft: Draft) -> None:
        self._part = part
        self._dialogue = dialogue
        self._draft = draft
        self._approved: frozenset[str] = frozenset()
        self.shows_tools = False
        """Whether an item is of a kind that only a source with calls has."""
        self.refers = False
        """Whether an item stands for others that are not here."""

    def read(self) -> int:
        """Read all items in order; how many of them could be read."""
        value = self._part.value
        if type(value) is str:
            self._dialogue.turn("user", value, self._part.loc())
            return 1
        if not isinstance(value, list):
            self._draft.note("message_unreadable", self._part.loc(), f"the items are {kind_of(value)}")
            return 0
        self.expect(value)
        return sum(self.item(item, loc) for item, loc in zip(value, self._part.locs(), strict=True))

    def expect(self, items: list[Any]) -> None:
        """Look ahead for calls whose approval was asked for: such a call is one with the asking."""
        asked = (
            item.get("approval_request_id")
            for item in items
            if isinstance(item, dict) and item.get("type") == "mcp_call"
        )
        self._approved = frozenset(own for own in asked if type(own) is str)

    def item(
        self,
        item: Any,
        loc: str,
        *,
        start_ns: int | None = None,
        said: bool = True,
        speaker: str | None = None,
        status: ToolCallStatus | None = None,
    ) -> bool:
        """Read one item.

        Args:
            item: the item.
            loc: where it stands.
            start_ns: when it was written, since 1970, where the source says so.
            said: False for a message that is no utterance.
            speaker: the name of who speaks, where the source has it apart from the item.
            status: how far a call came, where the source says so apart from it.
        """
        if type(item) is not dict:
            self._draft.note("message_unreadable", loc, f"an item is {kind_of(item)}, so it is left out")
            return False
        kind = item.get("type")
        if kind is None or kind == "message":
            return self._message(item, loc, start_ns, said=said, speaker=speaker)
        if type(kind) is not str:
            self._draft.note(
                "message_unreadable", loc, f"an item's type is {kind_of(kind)}, so it is left out"
            )
            return False
        self.shows_tools = self.shows_tools or kind in _SIGNS
        if kind in _OUTPUTS or kind.endswith("_call_output"):
            self._output(item, kind, loc, status)
        elif kind == "mcp_approval_request":
            own = item.get("id")
            if type(own) is not str or own not in self._approved:
                self._dialogue.request(
                    item.get("name"), item.get("arguments"), loc, own=own, start_ns=start_ns, clock="epoch"
                )
        elif kind == "mcp_approval_response":
            if item.get("approve") is False:
                reason = item.get("reason")
                self._dialogue.answer(
                    None, loc, own=item.get("approval_request_id"), error=reason, status="denied"
                )
        elif kind in _CALLS or kind.endswith("_call"):
            self._call(item, kind, loc, start_ns, status)
        elif kind in _DROPPED:
            self.refers = self.refers or kind in ("item_reference", "compaction")
            self._draft.drop(_DROPPED[kind], loc)
        else:
            self._draft.note(UNKNOWN_TYPE, loc, "an item is of a type that is not known, so it is left out")
            return False
        return True

    def _message(
        self, item: dict[str, Any], loc: str, start_ns: int | None, *, said: bool, speaker: str | None
    ) -> bool:
        role = item.get("role")
        if type(role) is not str:
            if role is not None:
                self._draft.note("role_not_text", loc, f"the role is {kind_of(role)}, so it is unknown")
            role = None
        if role_of(role) == "agent":
            self._dialogue.step()
        self._draft.drop_rest(item, _ITEM_KEYS, loc)
        text = text_or_none(item.get("content"), f"{loc}.content", self._draft)
        if not said:
            role = "meta"  # nobody's words, whatever role they were put under
        said = said and role_of(role) != "system"
        own = item.get("id")
        self._dialogue.turn(
            role, text or "", loc, own=own, said=said, start_ns=start_ns, clock="epoch", speaker=speaker
        )
        return True

    def _call(
        self, item: dict[str, Any], kind: str, loc: str, start_ns: int | None, status: ToolCallStatus | None
    ) -> None:
        name = item.get("name") if kind in _NAMED else kind.removesuffix("_call")
        own = item.get("call_id")
        own = item.get("id") if own is None and kind in _SERVED else own
        is_text = kind == "custom_tool_call"
        arguments = item.get("input") if is_text else _arguments(item, kind)
        self._dialogue.request(
            name, arguments, loc, own=own, status=status, start_ns=start_ns, clock="epoch", parse=not is_text
        )
        if kind in _SERVED and status is None:
            self._outcome(item, kind, loc, own=own, name=name if type(name) is str else None)

    def _outcome(self, item: dict[str, Any], kind: str, loc: str, *, own: Any, name: str | None) -> None:
        """What came of a call that the server made itself, as far as its item says."""
        result, error = item.get(_SERVED[kind] or ""), item.get("error")
        written = item.get("status")
        written = written if type(written) is str else ""
        if error is None and result is None and written not in ("completed", *_STATUSES):
            return
        status: ToolCallStatus = "error" if error is not None else _STATUSES.get(written, "ok")
        state: ArgsState = "absent" if result is None and status == "ok" else "recorded"
        self._dialogue.answer(result, loc, own=own, name=name, error=error, status=status, state=state)

    def _output(self, item: dict[str, Any], kind: str, loc: str, given: ToolCallStatus | None) -> None:
        own = item.get("call_id")
        own = item.get("id") if own is None and kind == "local_shell_call_output" else own
        result = result_of(item.get(_OUTPUTS.get(kind, "output")), f"{loc}.output", self._draft)
        status: ToolCallStatus = "executed"
        if item.get("status") == "failed" or (type(result) is dict and result.get("isError") is True):
            status = "error"
        elif kind == "apply_patch_call_output":
            status = "ok"
        status = given or status
        name = (
            kind.removesuffix("_output").removesuffix("_call")
            if own is None and kind in _UNNUMBERED
            else None
        )
        self._dialogue.answer(result, loc, own=own, name=name, status=status)


_NAMED = frozenset({"function_call", "custom_tool_call", "mcp_call"})
_SERVED = {**_OUTCOMES, "mcp_call": "output"}
_UNNUMBERED = frozenset({"tool_search_output"})
_ARGUMENTS = {
    "computer_call": ("action", "actions"),
    "local_shell_call": ("action",),
    "shell_call": ("action",),
    "apply_patch_call": ("operation",),
    "web_search_call": ("action",),
}
_NOT_ARGUMENTS = frozenset(
    {"type", "id", "call_id", "status", "output", "outputs", "result", "results", "error", "fingerprint"}
    | {"container_id", "execution", "caller", "name"}
)


def _arguments(item: dict[str, Any], kind: str) -> Any:
    """What a call was given: its arguments, its action, or the keys that say what is to be done."""
    if "arguments" in item or kind == "function_call":
        return item.get("arguments")
    for key in _ARGUMENTS.get(kind, ()):
        if item.get(key) is not None:
            return item[key]
    return {key: each for key, each in item.items() if key not in _NOT_ARGUMENTS} or None
