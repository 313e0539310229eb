from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from averment.errors import PackError, Problem
from averment.oracle.model.pack import Pack
from averment.oracle.tasks.codes import CODES
from averment.oracle.tasks.languages import BUILT_IN_PROMPT
from averment.oracle.tasks.plan import plan
from averment.oracle.tasks.wording import Wording, wording_of

Handmade = Callable[..., Pack]

ASK = {"type": "ask_for_slot"}
CALL: dict[str, Any] = {"type": "tool_call", "tool": "get_book"}
FINAL = {"type": "final_answer"}


def template(*languages: str, **fields: Any) -> dict[str, Any]:
    """A template with a first turn in these languages, and no text of the assistant."""
    return {
        "turn_policy": "single_turn",
        "user_turn_templates": dict.fromkeys(languages, "Hello."),
        "assistant_milestones": [CALL],
        **fields,
    }


def asking(text: str, *languages: str, **fields: Any) -> dict[str, Any]:
    """A template whose assistant asks for the hidden slot `book_id` in this way."""
    return (
        template(
            *languages,
            turn_policy="missing_slot",
            slots={"book_id": {"source": "literal:B-1", "visible_in_first_turn": False}},
            assistant_milestones=[{**ASK, "content_template": dict.fromkeys(languages, text)}, CALL],
            user_simulator_turns=[
                {"after": "ask_for_slot", "content_template": dict.fromkeys(languages, "{book_id}")}
            ],
        )
        | fields
    )


def worded(pack: Pack, language: str | None = None) -> Wording:
    return wording_of(pack, {each.template_id: plan(each) for each in pack.templates}, language=language)


def refused(pack: Pack, language: str | None = None) -> list[Problem]:
    with pytest.raises(PackError) as caught:
        worded(pack, language)
    for problem in caught.value.problems:
        assert problem.code in CODES
        assert problem.severity == "error"
        assert problem.mend
    return list(caught.value.problems)


def prompted(pack: Pack, prompt: str = "Be kind.") -> Pack:
    return msgspec.structs.replace(pack, system_prompt=prompt)


@pytest.mark.parametrize(
    ("asked", "manifest", "chosen"),
    [
        ("vi", {"default_language": "en", "languages": ["en"]}, "vi"),
        (None, {"default_language": "vi", "languages": ["en"]}, "vi"),
        (None, {"languages": ["de", "vi", "en"]}, "vi"),
        (None, {"languages": ["en", "vi"]}, "en"),
    ],
)
def test_the_language_is_asked_for_or_declared(
    handmade: Handmade, asked: str | None, manifest: dict[str, Any], chosen: str
) -> None:
    """In this order: the run's options, the default, the first declared one that has a first turn."""
    pack = prompted(handmade([template("en", "vi")], manifest=manifest))
    assert worded(pack, asked).language == chosen


def test_the_only_language_needs_no_declaration(handmade: Handmade) -> None:
    """Nor does one that the manifest forgets."""
    assert worded(prompted(handmade([template("vi")], manifest={"languages": []}))).language == "vi"
    assert worded(prompted(handmade([template("vi")], manifest={"languages": ["de"]}))).language == "vi"


def test_a_language_that_no_first_turn_has_is_refused(handmade: Handmade) -> None:
    """At the manifest's key, or without a place where the options ask for it; with the nearest one."""
    pack = handmade([template("en-GB"), template("fr")])
    (problem,) = refused(pack, "en-GV")
    assert (problem.code, problem.file, problem.nearest) == ("language_not_available", None, "en-GB")
    assert problem.expected == "one of `en-GB`, `fr`"
    (problem,) = refused(handmade([template("en")], manifest={"default_language": "vi"}))
    assert (problem.file, problem.path) == ("manifest.yaml", "$.default_language")
    assert problem.line


def test_several_languages_and_no_choice_are_refused(handmade: Handmade) -> None:
    """What there is stands in the message."""
    (problem,) = refused(handmade([template("vi", "fr")], manifest={"languages": []}))
    assert problem.code == "language_undetermined"
    assert problem.message == "the templates have first turns in `fr`, `vi`"
    (problem,) = refused(handmade([template()], manifest={"languages": []}))
    assert problem.message == "no template has a first turn"


def test_the_pack_says_what_the_agent_is_told(handmade: Handmade) -> None:
    """Without spaces around it; the id is 16 digits of its digest."""
    prompt = worded(prompted(handmade([template("en")]), "\n Be kind. \n")).system_prompt
    assert prompt.text == "Be kind."
    assert prompt.id == "sha256:" + hashlib.sha256(b"Be kind.").hexdigest()[:16]


@pytest.mark.parametrize("language", ["en", "en-GB", "EN_us"])
def test_english_has_a_built_in_prompt(handmade: Handmade, language: str) -> None:
    """Of any country."""
    assert worded(handmade([template(language)])).system_prompt.text == BUILT_IN_PROMPT


@pytest.mark.parametrize("language", ["vi", "eng", "e"])
def test_other_languages_need_a_prompt_of_their_own(handmade: Handmade, language: str) -> None:
    """The built-in one would speak another language than the user."""
    (problem,) = refused(handmade([template(language)]))
    assert (problem.code, problem.file) == ("system_prompt_missing", "manifest.yaml")


def test_exempt_names_are_names_of_tools(handmade: Handmade) -> None:
    """What loading warns of is a mistake for conversations."""
    (problem,) = refused(
        handmade([template("en")], manifest={"surface_guards": {"tool_names_exempt": ["lend_bok"]}})
    )
    assert (problem.code, problem.nearest) == ("unknown_exempt_tool", "lend_book")
    assert problem.path == "$.surface_guards.tool_names_exempt[0]"


def test_all_gaps_of_all_templates_are_told_at_once(handmade: Handmade) -> None:
    """First turns, turns of the user, texts of the assistant, shared ones once; and the system prompt with them."""
    labelled = {
        "source": "literal:1",
        "visible_in_first_turn": False,
        "label": {"en": "number"},
    }
    pack = handmade(
        [
            template("en", "vi"),
            template("en", assistant_milestones=[CALL, FINAL]),
            template("vi", assistant_milestones=[CALL, FINAL]),
            asking("Which {slot_name}?", "en", "vi", slots={"n": labelled}),
            asking("Which?", "en", user_turn_templates={"vi": "?"}),
        ]
    )
    problems = refused(pack, "vi")
    assert [(each.file, each.code, each.path) for each in problems] == [
        ("manifest.yaml", "system_prompt_missing", None),
        ("manifest.yaml", "language_gap", "$.assistant_turn_templates.final_answer"),
        ("task_templates.yaml", "language_gap", "$[1].user_turn_templates"),
        ("task_templates.yaml", "language_gap", "$[3].slots.n.label"),
        ("task_templates.yaml", "unknown_placeholder", "$[3].user_simulator_turns[0].content_template.vi"),
        ("task_templates.yaml", "language_gap", "$[4].assistant_milestones[0].content_template"),
        ("task_templates.yaml", "language_gap", "$[4].user_simulator_turns[0].content_template"),
    ]
    assert all(problem.line for problem in problems)
    assert problems[1].message == ("the manifest has no `vi` for `final_answer` (used by `t1`, `t2`)")
    assert [problem.message for problem in problems[2:4] + problems[5:]] == [
        "the template `t1` has no `vi` for the first turn",
        "the template `t3` has no `vi` for the label of `n`",
        "the template `t4` has no `vi` for `ask_for_slot`",
        "the template `t4` has no `vi` for what the user says after `ask_for_slot`",
    ]


def test_a_label_that_is_not_said_may_have_gaps(handmade: Handmade) -> None:
    """Only `{slot_name}` says it."""
    slot = {"source": "literal:1", "visible_in_first_turn": False, "label": {"en": "number"}}
    pack = prompted(handmade([asking("Which?", "vi", slots={"book_id": slot})]))
    assert worded(pack).language == "vi"


def test_a_text_that_is_nowhere_is_told_at_its_milestone(handmade: Handmade) -> None:
    """An empty block of the template hides the manifest's, as a block with texts would."""
    first = template("en", assistant_milestones=[CALL, FINAL], assistant_turn_templates={"final_answer": {}})
    pack = handmade([first, template("en", assistant_milestones=[CALL, FINAL])])
    (problem,) = refused(pack)
    assert (problem.code, problem.path) == ("missing_text", "$[0].assistant_milestones[1]")
    assert problem.message == "there is no text for `final_answer`"


def test_placeholders_without_a_value_are_told_where_they_stand(handmade: Handmade) -> None:
    """To the character; in the language that is rendered only; a shared text once, with its templates."""
    slots = {"book_id": {"source": "literal:1", "visible_in_first_turn": True}}
    texts = {"en": "Is {bok_id} in {slot_name}?", "vi": "{nonsense}"}
    shared = {"final_answer": {"en": "Here: {book_id}"}}
    pack = handmade(
        [
            template("en", slots=slots, user_turn_templates=texts),
            template("en", assistant_milestones=[CALL, FINAL]),
            template("en", assistant_milestones=[CALL, FINAL], slots=slots),
            template("en", assistant_milestones=[CALL, FINAL]),
        ],
        manifest={"assistant_turn_templates": shared},
    )
    problems = refused(pack)
    assert [(each.path, each.nearest) for each in problems] == [
        ("$[0].user_turn_templates.en", "book_id"),
        ("$[0].user_turn_templates.en", None),
        ("$.assistant_turn_templates.final_answer.en", None),
    ]
    first, second, _ = [each.column or 0 for each in problems]
    assert second - first == len("{bok_id} in ")
    assert problems[-1].message == ("the text uses `{book_id}`, which has no value here (used by `t1`, `t3`)")


def test_an_alias_has_a_value_in_its_own_turn_only(handmade: Handmade) -> None:
    """Not in the texts after it."""
    update = {"x": {"source": "literal:2", "bind_as": "new"}}
    pack = handmade(
        [
            template(
                "en",
                turn_policy="correction",
                slots={"x": {"source": "literal:1", "visible_in_first_turn": True}},
                assistant_milestones=[
                    {"type": "ask_confirm", "content_template": {"en": "?"}},
                    CALL,
                    {**FINAL, "content_template": {"en": "{new}"}},
                ],
                user_simulator_turns=[
                    {"after": "ask_confirm", "content_template": {"en": "{new}"}, "slot_updates": update}
                ],
            )
        ]
    )
    (problem,) = refused(pack)
    assert problem.path == "$[0].assistant_milestones[2].content_template.en"


def test_a_question_must_be_about_one_slot(handmade: Handmade) -> None:
    """Where its text says `{slot_name}`: the milestone's slot, or the only hidden one."""
    hidden = {"source": "literal:1", "visible_in_first_turn": False}
    clarify = {"turn_policy": "clarify_only", "user_simulator_turns": []}
    ask = {**ASK, "content_template": {"en": "Which {slot_name}?"}}
    several = asking("", "en", slots={"a": hidden, "b": hidden}, assistant_milestones=[ask], **clarify)
    none = asking("", "en", slots={}, assistant_milestones=[ask], **clarify)
    unknown = asking("", "en", slots={"aa": hidden}, assistant_milestones=[{**ask, "slot": "a"}], **clarify)
    problems = refused(handmade([several, none, unknown]))
    assert [problem.code for problem in problems] == ["unknown_placeholder"] * 3
    assert [problem.message.partition(", and ")[2] for problem in problems] == [
        "2 slots are hidden and the milestone names none",
        "no slots are hidden and the milestone names none",
        "the milestone's slot `a` is none of the template's",
    ]


def test_a_template_without_a_plan_is_not_asked_for(handmade: Handmade) -> None:
    """Its gaps are nobody's."""
    pack = handmade([template("en"), template("vi")])
    wording = wording_of(pack, {"t0": plan(pack.templates[0])})
    assert list(wording.scripts) == ["t0"]
