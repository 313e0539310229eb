"""Why no tasks can be made of a pack, or fewer than were asked for: every code, with its mend.

Beside these, a source without values is told with the reason of check 2, and a template without a plan with
`invalid_conversation_plan`.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from averment.errors import Problem
from averment.oracle.findings import Reason
from averment.oracle.model.pack import Pack
from averment.text.structs import Mistake

__all__ = ["CODES", "problem_at"]

CODES: Final[dict[str, Reason]] = {
    "blank_turn": Reason(
        "A turn comes out blank, because its text has nothing but spaces and values that are blank.",
        "Write words around the placeholder, or take the blank value out of its source.",
    ),
    "budget_too_small": Reason(
        "A category has more templates than it may have tasks, so some template would have none.",
        "Raise `tasks_per_category`, or put templates into categories of their own.",
    ),
    "category_short": Reason(
        "Warning: the templates of a category have fewer tasks than it may have.",
        "Add values to the sources of its slots, or templates, or lower `tasks_per_category`.",
    ),
    "correction_changes_nothing": Reason(
        "The corrections of a template replace every value by the same one, so nothing is corrected.",
        "Draw the corrections from a source with other values than the slots have.",
    ),
    "duplicate_task": Reason(
        "Two tasks of a template have the same values and the same rows, and so one id.",
        "Take the value that its source has twice out, or filter one of the rows.",
    ),
    "language_gap": Reason(
        "A text has no wording in the language that is rendered.",
        "Add the text, render another language, or take the language out of the manifest's `languages`.",
    ),
    "language_not_available": Reason(
        "No template has a first turn in the language that is asked for.",
        "Name a language of the templates, or add first turns in this one.",
    ),
    "language_undetermined": Reason(
        "The templates have several languages, and nothing says which is rendered.",
        "Declare `default_language` in the manifest, or name a language.",
    ),
    "missing_text": Reason(
        "The assistant says something for which there is no text, in the template or in the manifest.",
        "Add it under `assistant_turn_templates`, or as the milestone's `content_template`.",
    ),
    "reservations_leave_too_few": Reason(
        "A category has fewer tasks than were asked for, because rows or templates are held out.",
        "Add rows or templates, release some in the held-out file, or lower `tasks_per_category`.",
    ),
    "rows_reserved": Reason(
        "Every row that a slot could draw from is held out.",
        "Add rows to the fixtures, or release some in the held-out file.",
    ),
    "system_prompt_missing": Reason(
        "The pack has no system prompt, the built-in one is English, and another language is rendered.",
        "Add `system_prompt` or `system_prompt_path` to the manifest, in the language of the conversations.",
    ),
    "turn_too_long": Reason(
        "A turn comes out longer than any conversation needs.",
        "Shorten the text, or the values of its slots.",
    ),
    "unknown_exempt_tool": Reason(
        "`surface_guards.tool_names_exempt` names what is no tool of the catalog.",
        "Correct or remove the name.",
    ),
    "unknown_placeholder": Reason(
        "A text has a placeholder that has no value at that point of the conversation.",
        "Name a slot of the template; a name that `bind_as` gives counts in its own turn only.",
    ),
}


def problem_at(
    pack: Pack, role: str, mistake: Mistake, *, severity: Literal["error", "warning"] = "error"
) -> Problem:
    """The problem that a mistake is, with its place in the file of that role; its path is relative to the file."""
    source = pack.sources.get(role)
    file = pack.files.get(role, role)
    known = CODES.get(mistake.code)
    mend = mistake.mend or (known.mend if known else None)
    if source is None:
        return Problem(code=mistake.code, message=mistake.message, file=file, mend=mend, severity=severity)
    return msgspec.structs.replace(mistake.at(source, ()), file=file, mend=mend, severity=severity)
