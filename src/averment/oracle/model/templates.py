"""`task_templates.yaml`: reusable shapes of conversations, with slots for their values."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from averment.oracle.model.problems import Problems
from averment.oracle.model.shapes import INTERNAL, Text, unknown
from averment.text.source import Source

__all__ = [
    "EXAMPLE",
    "MILESTONES",
    "TEXT_MILESTONES",
    "TURN_POLICIES",
    "Milestone",
    "Paraphrase",
    "SimulatorTurn",
    "Slot",
    "SlotUpdate",
    "Template",
    "warn_of_text_types",
]

EXAMPLE = """\
- template_id: lend_by_title
  intent: lend_book
  category: circulation
  difficulty: medium
  turn_policy: confirmation
  mutates: true
  required_tools: [lend_book]
  slots:
    book_id:
      source: fixture:books.book_id
      filter: status == 'available'
      visible_in_first_turn: true
      label: {en: book}
  success_assertions: [assert_book_lent]
  user_turn_templates: {en: "I'd like to borrow {book_id}."}
  assistant_milestones:
    - {type: ask_confirm, content_template: {en: "Shall I lend you {book_id}?"}}
    - {type: tool_call, tool: lend_book, args: {confirm: true}}
    - {type: final_answer}
  user_simulator_turns:
    - {after: ask_confirm, content_template: {en: "Yes, please."}}
  paraphrase: {allowed: true, max_variants: 2, must_preserve: [book_id]}
"""

TurnPolicy = Literal[
    "single_turn",
    "multi_tool",
    "missing_slot",
    "confirmation",
    "correction",
    "dependent_call",
    "negative_path",
    "clarify_only",
    "irrelevant",
]
TURN_POLICIES: tuple[str, ...] = TurnPolicy.__args__  # type: ignore[attr-defined]

MilestoneType = Literal["tool_call", "ask_for_slot", "ask_confirm", "decline", "final_answer"]
MILESTONES: tuple[str, ...] = MilestoneType.__args__  # type: ignore[attr-defined]

TEXT_MILESTONES = tuple(name for name in MILESTONES if name != "tool_call")
"""The milestones at which the assistant says something."""

Texts = dict[str, str]
"""One text per language."""

_SOURCE = Meta(
    description="Where the values come from: `fixture:<collection>.<field>`, `enum:<tool>.<parameter>`, "
    "`literal:<value>`, `literal:[<values>]`, `range:{'min': 1, 'max': 5}` or `absent:<collection>`.",
    extra_json_schema={"pattern": r"^(?:(?:fixture|enum|literal|range|absent):|[^:]*$)"},
)
_FILTER = Meta(
    description="For a fixture: only rows that fit, `status == 'open' and copies > 0`; `and` between comparisons with "
    "`==`, `!=`, `<`, `<=`, `>`, `>=`, `in` or `not in`. A row without the field never fits."
)


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    """A value of the template: where it comes from, and whether the user says it at once."""

    source: Annotated[Text, _SOURCE]
    visible_in_first_turn: Annotated[bool, Meta(description="Whether the first user turn says the value.")]
    filter: Annotated[str | None, _FILTER] = None
    label: Annotated[
        Texts,
        Meta(description="What to call the slot when asking for it, by language; else its key is printed."),
    ] = {}


class SlotUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """A correction: the slot's new value, and the name under which the turn that says it may use it."""

    source: Annotated[Text, _SOURCE]
    filter: Annotated[str | None, _FILTER] = None
    bind_as: Annotated[
        Text | None, Meta(description="A placeholder for the new value, in the turn of the correction only.")
    ] = None


class Milestone(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that the assistant does, a call or a text.

    Consecutive calls with one `call_group` are made in one turn, at the same time. An argument that is exactly
    `"{slot}"` has the slot's value with its type; required parameters that are not given are filled from slots of
    their name; `{from_result: {call: <id>, path: <path>}}` is what an earlier call returned.
    """

    type: Annotated[MilestoneType, Meta(description="What is done.")]
    id: Annotated[Text | None, Meta(description="A name to refer to it by, unique in the template.")] = None
    tool: Annotated[Text | None, Meta(description="For a `tool_call`: the tool.")] = None
    args: Annotated[dict[str, Any], Meta(description="For a `tool_call`: its arguments.")] = {}
    call_group: Annotated[
        Any,
        Meta(
            description="For a `tool_call`: calls in a row with one group are one batch.",
            extra_json_schema={"type": ["string", "number", "boolean", "null"]},
        ),
    ] = None
    slot: Annotated[
        Text | None, Meta(description="For an `ask_for_slot`: the slot, where several are hidden.")
    ] = None
    content_template: Annotated[
        Texts, Meta(description="For a text: what is said, by language, instead of the text of its type.")
    ] = {}


class SimulatorTurn(msgspec.Struct, frozen=True, kw_only=True):
    """What the user says after a milestone, named by its id, or by its type where that occurs once."""

    after: Annotated[Text, Meta(description="The milestone: its `id`, or its `type`.")]
    content_template: Annotated[Texts, Meta(description="What the user says, by language.")]
    slot_updates: Annotated[
        dict[str, SlotUpdate],
        Meta(description="The slots that the user corrects here, with policy `correction`."),
    ] = {}


class Paraphrase(msgspec.Struct, frozen=True, kw_only=True):
    """What a paraphrase of the user's turns may and may not do."""

    allowed: Annotated[bool, Meta(description="Whether user turns may be worded otherwise.")] = False
    max_variants: Annotated[
        int, Meta(description="How many wordings at most.", extra_json_schema={"minimum": 0})
    ] = 0
    must_preserve: Annotated[
        list[str], Meta(description="Slots whose values must stand somewhere in the user's turns.")
    ] = []
    must_omit: Annotated[
        list[str], Meta(description="Slots whose values may not stand in the first user turn.")
    ] = []
    must_not_mention: Annotated[
        list[str], Meta(description="What no user turn may say: `tool_names`, or phrases in any case.")
    ] = []


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the list that the file is: a conversation with slots for its values.

    Expansion binds the slots and makes tasks of it; its milestones are what a right assistant does, in order, and the
    tool calls among them are gold. The policy says what shape the conversation must have: `single_turn` one user turn
    and a call; `multi_tool` two calls; `missing_slot` a hidden slot that is asked for before any call; `confirmation`
    the user's word before a call; `correction` a value that the user takes back; `dependent_call` an argument from an
    earlier result; `negative_path` a call that must come to nothing; `clarify_only` no call but a question;
    `irrelevant` no call but a refusal.

    `first_turn_templates` is another name of `user_turn_templates`.

    Attributes:
        index: its place in the file, from 0; set by the loader, as is `category` where the file has none.
    """

    template_id: Annotated[Text, Meta(description="Unique in the file; part of the ids of its tasks.")]
    turn_policy: Annotated[TurnPolicy, Meta(description="What shape the conversation must have.")]
    assistant_milestones: Annotated[
        list[Milestone], Meta(min_length=1, description="What the assistant does, in order.")
    ]
    intent: Annotated[Any, Meta(description="A label, carried to the tasks.")] = None
    difficulty: Annotated[Any, Meta(description="A label, carried to the tasks.")] = None
    category: Annotated[
        Any, Meta(description="Templates of one category share a budget; its id if left out.")
    ] = None
    mutates: Annotated[bool, Meta(description="A label: a right conversation changes the state.")] = False
    call_order: Annotated[
        Literal["strict", "any", "prefix"],
        Meta(description="Whether calls must come in the order of `required_tools`, or the first of them."),
    ] = "strict"
    call_order_prefix: Annotated[
        int | None,
        Meta(
            description="With `call_order: prefix`: how many come in order.", extra_json_schema={"minimum": 1}
        ),
    ] = None
    required_tools: Annotated[list[str], Meta(description="The tools that must be called, in order.")] = []
    tools_present: Annotated[
        list[str] | None,
        Meta(
            description="The tools that the agent sees; all if left out.",
            extra_json_schema={"uniqueItems": True},
        ),
    ] = None
    slots: Annotated[
        dict[str, Slot], Meta(description="The values, by name; `{name}` in texts and arguments.")
    ] = {}
    success_assertions: Annotated[
        list[str], Meta(description="Names in `assertions.py`; all must hold. None at all fails check 4.")
    ] = []
    user_turn_templates: Annotated[Texts, Meta(description="The first user turn, by language.")] = {}
    user_simulator_turns: Annotated[
        list[SimulatorTurn], Meta(description="What the user says after milestones.")
    ] = []
    assistant_turn_templates: Annotated[
        dict[str, Texts],
        Meta(
            description="Texts by type of milestone and language, instead of the manifest's of that type.",
            extra_json_schema={"propertyNames": {"enum": list(TEXT_MILESTONES)}},
        ),
    ] = {}
    paraphrase: Annotated[Paraphrase | None, Meta(description="How the user's turns may be reworded.")] = None
    edge_signatures: Annotated[
        list[Text],
        Meta(
            description="Labels of rare behaviour, to be kept when tasks are balanced.",
            extra_json_schema={"uniqueItems": True},
        ),
    ] = []
    index: Annotated[int, INTERNAL] = 0


def warn_of_text_types(
    source: Source, path: tuple[str | int, ...], block: object, problems: Problems
) -> None:
    """Warn of texts for milestones that say none, in a block `assistant_turn_templates` of the mapping at `path`."""
    odd = [name for name in (block if isinstance(block, dict) else ()) if name not in TEXT_MILESTONES]
    mistakes = [unknown("unknown_key", name, TEXT_MILESTONES, ("assistant_turn_templates",)) for name in odd]
    problems.mistakes(source, path, mistakes, "warning")
