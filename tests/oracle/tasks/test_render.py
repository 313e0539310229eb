from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from averment.errors import PackError
from averment.oracle.model.loading import load_pack
from averment.oracle.model.pack import Pack
from averment.oracle.tasks.budget import bind, budget_of
from averment.oracle.tasks.plan import plan
from averment.oracle.tasks.render import Called, Conversation, Said, render
from averment.oracle.tasks.wording import MAX_TURN, Text, wording_of

Handmade = Callable[..., Pack]
EXAMPLES = Path(__file__).parents[3] / "examples" / "packs"

CALL: dict[str, Any] = {"type": "tool_call", "tool": "get_book"}
FINAL = {"type": "final_answer"}


def slot(source: str, *, visible: bool = True, **fields: Any) -> dict[str, Any]:
    return {"source": source, "visible_in_first_turn": visible, **fields}


def template(first: str, **fields: Any) -> dict[str, Any]:
    return {
        "turn_policy": "single_turn",
        "user_turn_templates": {"en": first},
        "assistant_milestones": [CALL],
        **fields,
    }


def rendered(pack: Pack, language: str | None = None) -> list[Conversation]:
    plans = {each.template_id: plan(each) for each in pack.templates}
    wording = wording_of(pack, plans, language=language)
    return [render(wording, task) for task in bind(pack, plans, budget_of(pack)).tasks]


def spoken(pack: Pack) -> list[str]:
    """What user and assistant say in the pack's one conversation."""
    (conversation,) = rendered(pack)
    return [turn.content for turn in conversation.turns[1:] if isinstance(turn, Said)]


def test_a_conversation_is_the_system_prompt_and_the_steps_of_the_plan(handmade: Handmade) -> None:
    """Calls keep their place; which arguments they have is for the gold calls to say."""
    pack = handmade(
        [
            template(
                "Lend {book_id}.",
                turn_policy="confirmation",
                slots={"book_id": slot("literal:B-1")},
                assistant_milestones=[
                    {**CALL, "call_group": 9},
                    {**CALL, "call_group": 9},
                    {"type": "ask_confirm", "content_template": {"en": "Sure?"}},
                    CALL,
                    {**FINAL, "content_template": {"en": "Done."}},
                ],
                user_simulator_turns=[{"after": "ask_confirm", "content_template": {"en": "Yes."}}],
            )
        ]
    )
    (conversation,) = rendered(msgspec.structs.replace(pack, system_prompt="Be kind."))
    assert conversation.turns == (
        Said("system", "Be kind."),
        Said("user", "Lend B-1."),
        Called(0, 0, (0, 1)),
        Said("assistant", "Sure?"),
        Said("user", "Yes."),
        Called(1, 2, (3,)),
        Said("assistant", "Done."),
    )
    assert conversation.user_turns == ("Lend B-1.", "Yes.")
    assert conversation.language == "en"
    assert conversation.task_id == conversation.base_task_id
    assert conversation.task_id.startswith("library__t0__")
    assert conversation.accepted


def test_texts_have_the_values_that_are_in_force(handmade: Handmade) -> None:
    """The old one before the correction, the new one in it and after it; the alias in its turn only."""
    pack = handmade(
        [
            template(
                "Take {n}.",
                turn_policy="correction",
                slots={"n": slot("literal:1"), "m": slot("literal:7", visible=False)},
                assistant_milestones=[
                    {"type": "ask_confirm", "content_template": {"en": "{n}?"}},
                    {"type": "ask_confirm", "id": "again", "content_template": {"en": "So {n}, {m}?"}},
                    CALL,
                ],
                user_simulator_turns=[
                    {"after": "again", "content_template": {"en": "Yes, {n}."}},
                    {
                        "after": "ask_confirm@0",
                        "content_template": {"en": "No, {new}, {n} {m}!"},
                        "slot_updates": {"n": {"source": "literal:2", "bind_as": "new"}},
                    },
                ],
            )
        ]
    )
    assert spoken(pack) == ["Take 1.", "1?", "No, 2, 2 7!", "So 2, 7?", "Yes, 2."]


def test_an_alias_may_have_the_name_of_another_slot(handmade: Handmade) -> None:
    """In its turn it stands for the new value; the other slot keeps its own."""
    pack = handmade(
        [
            template(
                "{n} {m}",
                turn_policy="correction",
                slots={"n": slot("literal:1"), "m": slot("literal:7")},
                assistant_milestones=[
                    {"type": "ask_confirm"},
                    CALL,
                    {**FINAL, "content_template": {"en": "{n} {m}"}},
                ],
                user_simulator_turns=[
                    {
                        "after": "ask_confirm",
                        "content_template": {"en": "{m}!"},
                        "slot_updates": {"n": {"source": "literal:2", "bind_as": "m"}},
                    }
                ],
            )
        ]
    )
    assert spoken(pack) == ["1 7", "...", "2!", "2 7"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("literal:200000", "200000"),
        ("literal:2.50", "2.5"),
        ("literal:True", "True"),
        ("literal:None", "None"),
        ("literal:[[1, 'a']]", "[1, 'a']"),
        ("literal:['{x} {}']", "{x} {}"),
    ],
)
def test_values_are_inserted_as_python_writes_them(handmade: Handmade, source: str, text: str) -> None:
    """And not looked at again: braces in a value are text."""
    assert spoken(handmade([template("{x}; {X y} { x} {{x}}", slots={"x": slot(source)})])) == [
        f"{text}; {{X y}} {{ x}} {{{text}}}"
    ]


@given(st.lists(st.text("ab{}_ ", max_size=6), min_size=1, max_size=4), st.text("a{}x", max_size=5))
def test_a_text_is_filled_in_one_pass(literals: list[str], value: str) -> None:
    """Whatever literals and values hold."""
    pieces = "\0".join(literals).replace("\0", "\0x\0").split("\0")
    assert Text("templates", (), tuple(pieces)).filled({"x": value}) == value.join(literals)


def test_the_texts_of_a_milestone_win(handmade: Handmade) -> None:
    """Its own, else the template's for its type, else the manifest's."""
    own = {**FINAL, "content_template": {"en": "own"}}
    block = {"assistant_turn_templates": {"final_answer": {"en": "template"}}}
    for milestone, fields, said in [
        (own, block, "own"),
        (FINAL, block, "template"),
        (own, {}, "own"),
        (FINAL, {}, "..."),
    ]:
        pack = handmade([template("Hello.", assistant_milestones=[CALL, milestone], **fields)])
        assert spoken(pack)[1] == said


@pytest.mark.parametrize(
    ("slots", "asked", "called"),
    [
        ({"n": slot("literal:1", visible=False)}, {}, "n"),
        ({"n": slot("literal:1", visible=False, label={"en": "house number"})}, {}, "house number"),
        (
            {"n": slot("literal:1", visible=False, label={"en": "{m} {x"}), "m": slot("literal:2")},
            {},
            "{m} {x",
        ),
        (
            {
                "n": slot("literal:1", visible=False),
                "m": slot("literal:2", visible=False, label={"en": "M."}),
            },
            {"slot": "m"},
            "M.",
        ),
        ({"slot_name": slot("literal:1", visible=False, label={"en": "no"})}, {}, "1"),
    ],
)
def test_a_question_calls_the_slot_by_its_label(
    handmade: Handmade, slots: dict[str, Any], asked: dict[str, Any], called: str
) -> None:
    """Or by its name; a slot that is itself called `slot_name` has its value there."""
    ask = {"type": "ask_for_slot", "content_template": {"en": "The {slot_name}?"}, **asked}
    pack = handmade([template("Hm.", turn_policy="clarify_only", slots=slots, assistant_milestones=[ask])])
    assert spoken(pack)[1] == f"The {called}?"


def test_a_turn_that_comes_out_blank_is_refused(handmade: Handmade) -> None:
    """With the place of its text and the task; the guards never see it."""
    pack = handmade([template(" {x}\n", slots={"x": slot("literal:[' ']")})])
    with pytest.raises(PackError) as caught:
        rendered(pack)
    (problem,) = caught.value.problems
    assert (problem.code, problem.file, problem.path) == (
        "blank_turn",
        "task_templates.yaml",
        "$[0].user_turn_templates.en",
    )
    assert problem.line
    assert problem.mend
    assert "library__t0__" in problem.message


def test_a_blank_text_of_the_manifest_is_refused_there(handmade: Handmade) -> None:
    """It is the assistant's turn here."""
    pack = handmade(
        [template("Hello.", assistant_milestones=[CALL, FINAL])],
        manifest={"assistant_turn_templates": {"final_answer": {"en": " "}}},
    )
    with pytest.raises(PackError) as caught:
        rendered(pack)
    assert caught.value.problems[0].file == "manifest.yaml"


def test_a_turn_that_would_be_huge_is_not_made(handmade: Handmade) -> None:
    """Ten thousand times ten thousand characters are counted, and not written."""
    first = template("{x}" * 10_000, slots={"x": slot(f"literal:{'y' * 10_000}")})
    with pytest.raises(PackError) as caught:
        rendered(handmade([first]))
    assert caught.value.problems[0].code == "turn_too_long"
    assert Text("templates", (), ("", "x", "")).filled({"x": "y" * MAX_TURN}) == "y" * MAX_TURN
    assert Text("templates", (), ("", "x", "z")).filled({"x": "y" * MAX_TURN}) is None


def test_violations_are_told_and_are_no_error(handmade: Handmade) -> None:
    """The conversation is there, for the table of what was dropped."""
    (conversation,) = rendered(handmade([template("Use get_book.", slots={"x": slot("literal:1")})]))
    assert not conversation.accepted
    assert msgspec.to_builtins(conversation.violations) == (
        {"guard": "must_preserve", "slot": "x"},
        {"guard": "must_not_mention", "tool": "get_book"},
    )
    assert len(conversation.turns) == 3


def test_a_conversation_is_json(handmade: Handmade) -> None:
    """As it is."""
    (conversation,) = rendered(handmade([template("Hello.")]))
    turns = json.loads(msgspec.json.encode(conversation))["turns"]
    assert turns[1:] == [
        {"role": "user", "content": "Hello."},
        {"call_group": 0, "turn_index": 0, "milestones": [0]},
    ]


@pytest.mark.parametrize(
    ("name", "language"), [("library_lending", "en"), ("bilingual_clinic", "en"), ("bilingual_clinic", "es")]
)
def test_the_example_packs_render_and_keep_their_guards(name: str, language: str) -> None:
    """Every task of every template, in each language of the pack."""
    pack = load_pack(EXAMPLES / name)
    plans = {each.template_id: plan(each) for each in pack.templates}
    wording = wording_of(pack, plans, language=language)
    tasks = bind(pack, plans, budget_of(pack, tasks_per_category=30)).tasks
    conversations = [render(wording, task) for task in tasks]
    assert len(conversations) > 50
    assert all(conversation.accepted for conversation in conversations)
    assert {conversation.language for conversation in conversations} == {language}
    assert not any("{" in text for conversation in conversations for text in conversation.user_turns)
