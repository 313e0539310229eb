"""Every code of lint: what it means, and the next step where a warning says nothing better."""

from __future__ import annotations

from averment.oracle.findings import Reason

__all__ = ["CODES"]

CODES: dict[str, Reason] = {
    "absent_collection_unknown": Reason(
        "Ids are declared absent from a collection that the fixtures do not have, so nothing proves them absent.",
        "Correct the collection's name, or add its rows to the fixtures.",
    ),
    "absent_id_exists": Reason(
        "An id that is declared absent is the key of a row.",
        "Declare an id that no row has; a task that looks for this one finds it.",
    ),
    "call_order_mismatch": Reason(
        "The calls of a template do not come in the order that `required_tools` and `call_order` ask for.",
        "List `required_tools` in the order of the calls, or write `call_order: any`.",
    ),
    "confirmation_without_mutation": Reason(
        "A tool needs the user's word and declares that it changes nothing.",
        "Set `x-mutates: true`, or take `x-requires-confirmation` out.",
    ),
    "hidden_slot_stated": Reason(
        "The first turn states a slot that is hidden from it, so every task of the template is dropped.",
        "Take the placeholder out of the first turn, or set `visible_in_first_turn: true`.",
    ),
    "label_gap": Reason(
        "Some templates have a label and others have not, so that rows can't be grouped by it.",
        "Give every template the label, or none.",
    ),
    "language_gap": Reason(
        "A template lacks texts in a language of the pack, so it can't be rendered in it.",
        "Add the texts, or take the language out of the manifest's `languages`.",
    ),
    "missing_argument": Reason(
        "A call lacks a parameter that its tool requires: no argument gives it, and no slot has its name.",
        "Add it to the call's `args`, or name a slot so.",
    ),
    "missing_text": Reason(
        "The assistant says something for which there is no text, in the template or in the manifest.",
        "Add it under `assistant_turn_templates`, or as the milestone's `content_template`.",
    ),
    "mutates_label": Reason(
        "The `mutates` label of a template contradicts the tools that it calls.",
        "Correct the label, or `x-mutates` of the tool.",
    ),
    "repeated_assertion": Reason("A template names an assertion twice.", "Take one of the two out."),
    "repeated_probe": Reason(
        "A probe makes a call that another one made before in the same state.",
        "Merge the expectations of the two into one probe.",
    ),
    "required_tool_not_called": Reason(
        "A template requires a tool that its conversation never calls.",
        "Add the call, or take the tool out of `required_tools`.",
    ),
    "shadows_stdlib": Reason(
        "A module of the pack has the name of one of Python's own, and is imported instead of it.",
        "Rename the module.",
    ),
    "slot_not_stated": Reason(
        "The first turn does not state a slot that is visible in it, so every task of the template is dropped.",
        "Mention the slot in the first turn, or set `visible_in_first_turn: false`.",
    ),
    "stale_argument": Reason(
        "A call reads a slot before the user corrects it, so the template can't be expanded.",
        "Move the call after the correction.",
    ),
    "tool_not_exposed": Reason(
        "A template calls a tool that its `tools_present` does not show to the agent.",
        "Add the tool to `tools_present`.",
    ),
    "uncalled_tool": Reason(
        "No template calls a tool, so no task asks for it.",
        "Add a template that calls it; leave it if it is there to be chosen wrongly.",
    ),
    "unconfirmed_call": Reason(
        "A call says that the user has confirmed, and the user has not.",
        "Put an `ask_confirm` with the user's answer before the call.",
    ),
    "unknown_argument": Reason(
        "A call has an argument that its tool does not declare, and the tool takes no others.",
        "Correct or remove the argument.",
    ),
    "unknown_placeholder": Reason(
        "A text or an argument has a placeholder that no slot is called, so the template can't be rendered.",
        "Name a slot of the template.",
    ),
    "unknown_slot": Reason(
        "Something is said about a slot that the template does not declare, and so has no effect.",
        "Name a slot of the template.",
    ),
    "unused_absent_ids": Reason(
        "Ids are declared absent, and no slot and no probe uses one.",
        "Use one in an `absent:` slot or in a probe, or take them out of the manifest.",
    ),
    "unused_alias": Reason(
        "`bind_as` gives a corrected value a name that the user's turn does not use.",
        "Mention the name in the turn, or take `bind_as` out.",
    ),
    "unused_collection": Reason(
        "No slot draws from a collection, no probe names one of its rows, and no code of the pack mentions it.",
        "Take the collection out of the fixtures, or use it.",
    ),
    "unused_slot": Reason(
        "Nothing in a template's conversation uses a slot: no text, no argument, no required parameter.",
        "Use the slot, or take it out.",
    ),
}
