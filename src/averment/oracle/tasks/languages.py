"""Which language the conversations of a pack are in, and what the agent is told before they start."""

from __future__ import annotations

from typing import Final

import msgspec

from averment.errors import Problem
from averment.oracle.model.pack import Pack
from averment.oracle.model.problems import Problems
from averment.oracle.tasks.codes import CODES, problem_at
from averment.oracle.tasks.naming import near, some
from averment.text.jsontext import sha256
from averment.text.structs import Mistake

__all__ = ["BUILT_IN_PROMPT", "SystemPrompt", "language_of", "system_prompt_of"]

BUILT_IN_PROMPT: Final = (
    "You serve the user by means of the tools that you are given. Base what you do on what the user has said and what "
    "tools have returned, and make nothing up. Where an action needs the user's agreement, ask for it first. If no tool "
    "does what the user wants, say that you can't help with it."
)
"""The system prompt of packs without one."""

_BUILT_IN_LANGUAGE: Final = "en"
_DIGITS: Final = 16


class SystemPrompt(msgspec.Struct, frozen=True):
    """What the agent is told first, and the id of that text: `sha256:` and 16 hexadecimal digits."""

    text: str
    id: str


def language_of(pack: Pack, asked: str | None, problems: Problems) -> str | None:
    """The language to render (contract, section 6.6), or None after reporting why there is none.

    It is the one that is asked for; else the manifest's `default_language`; else the first of its `languages` that has a
    first turn; else the only one that has. Only languages in which some template has a first turn can be rendered.

    Args:
        pack: the pack.
        asked: the language that the run's options name.
        problems: where the problem goes.
    """
    manifest = pack.manifest
    spoken = sorted({language for template in pack.templates for language in template.user_turn_templates})
    wanted = asked or manifest.default_language
    if wanted:
        if wanted in spoken:
            return wanted
        message = f"no template has a first turn in `{wanted}`"
        expected = f"one of {some(spoken)}" if spoken else None
        mistake = Mistake(
            "language_not_available",
            message,
            ("default_language",),
            expected=expected,
            nearest=near(wanted, spoken),
        )
        problems.report(_asked(mistake) if asked else problem_at(pack, "manifest", mistake))
        return None
    preferred = [language for language in manifest.languages if language in spoken]
    if preferred or len(spoken) == 1:
        return [*preferred, *spoken][0]
    message = (
        f"the templates have first turns in {some(spoken)}" if spoken else "no template has a first turn"
    )
    problems.report(problem_at(pack, "manifest", Mistake("language_undetermined", message)))
    return None


def system_prompt_of(pack: Pack, language: str, problems: Problems) -> SystemPrompt:
    """What the pack tells the agent, or the built-in prompt, which is reported where the language is not English."""
    declared = pack.system_prompt
    if declared is None and language.replace("_", "-").lower().split("-")[0] != _BUILT_IN_LANGUAGE:
        message = f"the pack has no system prompt, and the built-in one is not in `{language}`"
        problems.report(problem_at(pack, "manifest", Mistake("system_prompt_missing", message)))
    text = (BUILT_IN_PROMPT if declared is None else declared).strip()
    return SystemPrompt(text, sha256(text.encode("utf-8", "backslashreplace"))[: len("sha256:") + _DIGITS])


def _asked(mistake: Mistake) -> Problem:
    """The problem that a mistake of the run's options is: it has no place in the pack."""
    return Problem(
        code=mistake.code,
        message=mistake.message,
        expected=mistake.expected,
        nearest=mistake.nearest,
        mend=CODES[mistake.code].mend,
    )
