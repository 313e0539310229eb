from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from averment.errors import Problem
from averment.oracle.lint import CODES, lint
from averment.oracle.model.pack import Pack

Handmade = Callable[..., Pack]

CONFIRM = {"type": "ask_confirm"}
LEND: dict[str, Any] = {"type": "tool_call", "tool": "lend_book", "args": {"confirm": True}}
FINAL = {"type": "final_answer"}


def slot(source: str = "fixture:books.book_id", *, visible: bool = True, **fields: Any) -> dict[str, Any]:
    return {"source": source, "visible_in_first_turn": visible, **fields}


def after(name: str, text: str = "Yes.", **fields: Any) -> dict[str, Any]:
    return {"after": name, "content_template": {"en": text}, **fields}


def template(**fields: Any) -> dict[str, Any]:
    """A template about which there is nothing to say; with `lending`, neither about any tool."""
    return {
        "turn_policy": "single_turn",
        "slots": {"book_id": slot()},
        "user_turn_templates": {"en": "Is {book_id} free?"},
        "assistant_milestones": [{"type": "tool_call", "tool": "get_book"}, FINAL],
        **fields,
    }


def lending(**fields: Any) -> dict[str, Any]:
    return (
        template(
            turn_policy="confirmation",
            mutates=True,
            assistant_milestones=[CONFIRM, LEND, FINAL],
            user_simulator_turns=[after("ask_confirm")],
        )
        | fields
    )


PROBE: dict[str, Any] = {"id": "missing", "tool": "get_book", "arguments": {"book_id": "B-0"}}


@pytest.fixture
def warnings_of(handmade: Handmade) -> Callable[..., list[Problem]]:
    """The warnings about a pack with a template, beside two that are in order; and with one probe."""

    def ask(changed: dict[str, Any] | None = None, *, templates: Any = None, **parts: Any) -> list[Problem]:
        listed = [template(**(changed or {})), lending(), template()] if templates is None else templates
        return lint(handmade(listed, **{"cases": [PROBE], **parts}))

    return ask


Ask = Callable[..., list[Problem]]


def only(problems: list[Problem]) -> Problem:
    """The one warning, as every warning has to be."""
    assert [problem.code for problem in problems] == [problems[0].code]
    (problem,) = problems
    assert problem.code in CODES
    assert problem.severity == "warning"
    assert problem.file
    assert problem.mend
    assert problem.mend.endswith(".")
    return problem


def test_a_pack_that_is_in_order_has_no_warnings(warnings_of: Ask) -> None:
    """The base of all other tests here."""
    assert warnings_of() == []


def test_every_code_has_a_meaning_and_a_mend() -> None:
    """In sentences."""
    assert list(CODES) == sorted(CODES)
    assert all(reason.about.endswith(".") and reason.mend.endswith(".") for reason in CODES.values())


CASES: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "unknown_placeholder",
        {"user_turn_templates": {"en": "Is {book_id} by {author} free?"}},
        "the text uses `{author}`, and no slot is called so",
        "$[0].user_turn_templates.en",
    ),
    (
        "unknown_placeholder",
        {"assistant_turn_templates": {"final_answer": {"en": "{title} it is."}}},
        "the text uses `{title}`, and no slot is called so",
        "$[0].assistant_turn_templates.final_answer.en",
    ),
    (
        "unknown_placeholder",
        {
            "assistant_milestones": [
                {"type": "tool_call", "tool": "get_book", "args": {"shelf": ["{shelf}"]}},
                FINAL,
            ]
        },
        "the argument uses `{shelf}`, and no slot is called so",
        "$[0].assistant_milestones[0].args.shelf[0]",
    ),
    (
        "unknown_placeholder",
        {"assistant_turn_templates": {"final_answer": {"en": "Which {slot_name}?"}}},
        "the text uses `{slot_name}`, and no slots are hidden and the milestone names none",
        "$[0].assistant_turn_templates.final_answer.en",
    ),
    (
        "unknown_placeholder",
        {
            "turn_policy": "clarify_only",
            "assistant_milestones": [
                {"type": "ask_for_slot", "slot": "reader", "content_template": {"en": "Which {slot_name}?"}}
            ],
        },
        "the text uses `{slot_name}`, and the milestone's slot `reader` is none of the template's",
        "$[0].assistant_milestones[0].content_template.en",
    ),
    (
        "unused_slot",
        {"slots": {"book_id": slot(), "reader": slot("literal:R-1")}},
        "nothing in the conversation uses the slot `reader`",
        "$[0].slots.reader",
    ),
    (
        "slot_not_stated",
        {"user_turn_templates": {"en": "Is it free?"}},
        "the first turn does not mention `{book_id}`, which the user states in it",
        "$[0].user_turn_templates.en",
    ),
    (
        "hidden_slot_stated",
        {"slots": {"book_id": slot(visible=False)}},
        "the first turn states `{book_id}`, which is hidden from it",
        "$[0].user_turn_templates.en",
    ),
    (
        "unused_alias",
        {
            "turn_policy": "correction",
            "user_simulator_turns": [
                after(
                    "final_answer", slot_updates={"book_id": {"source": "books.book_id", "bind_as": "other"}}
                )
            ],
            "assistant_milestones": [FINAL, {"type": "tool_call", "tool": "get_book"}],
        },
        "the turn does not mention `{other}`",
        "$[0].user_simulator_turns[0].slot_updates.book_id.bind_as",
    ),
    (
        "unknown_slot",
        {"paraphrase": {"must_preserve": ["book_id", "book"]}},
        "`must_preserve` guards `book`, and no slot is called so",
        "$[0].paraphrase.must_preserve[1]",
    ),
    (
        "missing_text",
        {"assistant_milestones": [{"type": "tool_call", "tool": "get_book"}, {"type": "decline"}]},
        "there is no text for `decline`",
        "$[0].assistant_milestones[1]",
    ),
    (
        "required_tool_not_called",
        {"required_tools": ["get_book", "lend_book"]},
        "`lend_book` is required, and the conversation never calls it",
        "$[0].required_tools[1]",
    ),
    (
        "tool_not_exposed",
        {"tools_present": ["lend_book"]},
        "`get_book` is called, and `tools_present` does not show it to the agent",
        "$[0].assistant_milestones[0].tool",
    ),
    (
        "missing_argument",
        {"slots": {"book": slot()}, "user_turn_templates": {"en": "Is {book} free?"}},
        "the call of `get_book` lacks `book_id`, and no slot is called so",
        "$[0].assistant_milestones[0]",
    ),
    (
        "repeated_assertion",
        {"success_assertions": ["assert_it", "assert_other", "assert_it"]},
        "the template names `assert_it` twice",
        "$[0].success_assertions[2]",
    ),
    (
        "mutates_label",
        {"mutates": True},
        "the template is labelled `mutates: true`, and calls no tool with `x-mutates`",
        "$[0].mutates",
    ),
    (
        "language_gap",
        {"user_turn_templates": {"de": "Ist {book_id} da?"}},
        "the template `t0` has no text for `en` in `user_turn_templates`",
        "$[0].template_id",
    ),
    (
        "language_gap",
        {"slots": {"book_id": slot(label={"de": "Buch"})}},
        "the template `t0` has no text for `en` in `slots.book_id.label`",
        "$[0].template_id",
    ),
]


@pytest.mark.parametrize(("code", "changed", "message", "path"), CASES)
def test_what_is_odd_in_a_template_is_told(
    warnings_of: Ask, code: str, changed: dict[str, Any], message: str, path: str
) -> None:
    """One change, one warning, at its place."""
    manifest = {
        "assistant_turn_templates": {name: {"en": "Fine."} for name in ("ask_confirm", "final_answer")}
    }
    problem = only(warnings_of(changed, manifest=manifest))
    assert (problem.code, problem.message, problem.path) == (code, message, path)
    assert problem.line


def test_a_placeholder_is_told_at_its_character(warnings_of: Ask) -> None:
    """And has the nearest slot."""
    problem = only(warnings_of({"user_turn_templates": {"en": "Is {book_id} or {bok_id} free?"}}))
    assert problem.nearest == "book_id"
    assert problem.column is not None
    plain = only(warnings_of({"user_turn_templates": {"en": "{bok_id} or {book_id}?"}}))
    assert plain.column is not None
    assert problem.column - plain.column == len("Is {book_id} or ")


def test_a_text_of_the_manifest_is_told_once(warnings_of: Ask) -> None:
    """With the templates that it has no value in."""
    texts = {"ask_confirm": {"en": "Sure?"}, "final_answer": {"en": "{title}, {book_id}"}}
    templates = [template(), template(), lending()]
    problem = only(warnings_of(templates=templates, manifest={"assistant_turn_templates": texts}))
    assert problem.message == "the text uses `{title}`, which has no value in `t0`, `t1`, `t2`"
    assert (problem.file, problem.path) == ("manifest.yaml", "$.assistant_turn_templates.final_answer.en")


def test_the_name_of_a_slot_is_known_where_one_is_asked_for(warnings_of: Ask) -> None:
    """By the milestone, or because it is the only hidden one; asking for a slot uses it."""
    hidden = {"book_id": slot(visible=False), "reader": slot("literal:R", visible=False)}
    text = {"en": "Which {slot_name}?"}
    asking = [{"type": "ask_for_slot", "slot": name, "id": name, "content_template": text} for name in hidden]
    several = template(
        turn_policy="missing_slot",
        slots=hidden,
        user_turn_templates={"en": "Is a book free?"},
        assistant_milestones=[*asking, {"type": "tool_call", "tool": "get_book"}],
        user_simulator_turns=[after(name, f"{{{name}}}") for name in hidden],
    )
    one = template(
        turn_policy="missing_slot",
        slots={"book_id": slot(visible=False)},
        user_turn_templates={"en": "Is a book free?"},
        assistant_milestones=[
            {"type": "ask_for_slot", "content_template": text},
            {"type": "tool_call", "tool": "get_book"},
        ],
        user_simulator_turns=[after("ask_for_slot", "{book_id}")],
    )
    assert warnings_of(templates=[several, one, lending()]) == []


def test_a_first_turn_under_its_other_name_is_found(warnings_of: Ask) -> None:
    """The place is in the key that the file has."""
    text = (
        "- turn_policy: single_turn\n"
        "  first_turn_templates: {en: 'Is {bok_id} free?'}\n"
        "  assistant_milestones: [{type: decline}]\n"
    )
    found = [problem for problem in warnings_of(templates=text) if problem.code == "unknown_placeholder"]
    assert [(problem.line, problem.path) for problem in found] == [(2, "$[0].first_turn_templates.en")]


def test_values_that_a_text_may_spell_out_need_no_placeholder(warnings_of: Ask) -> None:
    """A literal or an enum has few values; a slot that a call is filled from is used."""
    changed = {
        "slots": {"book_id": slot("literal:B-1"), "shelf": slot("enum:get_book.shelf")},
        "user_turn_templates": {"en": "Is B-1 on shelf A free?"},
        "assistant_milestones": [
            {"type": "tool_call", "tool": "get_book", "args": {"shelf": "{shelf}"}},
            FINAL,
        ],
    }
    assert warnings_of(changed) == []


def test_all_gaps_of_a_template_are_told_together(warnings_of: Ask) -> None:
    """By language, with every block that lacks it."""
    found = warnings_of(manifest={"languages": ["en", "de"], "default_language": "en"})
    first, final = "user_turn_templates", "assistant_turn_templates.final_answer"
    lacking = [
        [first, final],
        [first, "user_simulator_turns[0]", "assistant_turn_templates.ask_confirm", final],
        [first, final],
    ]
    assert [problem.message for problem in found] == [
        f"the template `t{index}` has no text for `de` in {', '.join(f'`{name}`' for name in names)}"
        for index, names in enumerate(lacking)
    ]


def test_without_declared_languages_those_of_any_first_turn_count(warnings_of: Ask) -> None:
    """A template that lacks one can't be rendered with the others."""
    changed = {"user_turn_templates": {"en": "{book_id}?", "de": "{book_id} da?"}}
    found = warnings_of(changed, manifest={"languages": []})
    assert {problem.code for problem in found} == {"language_gap"}
    assert len(found) == 3


@pytest.mark.parametrize(
    ("order", "prefix", "required", "odd"),
    [
        ("strict", None, ["lend_book", "get_book"], True),
        ("strict", None, ["get_book", "lend_book"], False),
        ("strict", None, [], False),
        ("any", None, ["lend_book", "get_book"], False),
        ("prefix", 1, ["lend_book", "get_book"], True),
        ("prefix", 1, ["get_book", "lend_book"], False),
    ],
)
def test_the_order_of_calls_is_held_against_the_required_tools(
    warnings_of: Ask, order: str, prefix: int | None, required: list[str], odd: bool
) -> None:
    """As far as the declared order reaches; a tool that is called twice counts where it is called first."""
    get = {"type": "tool_call", "tool": "get_book"}
    changed = lending(
        assistant_milestones=[get, CONFIRM, LEND, get, FINAL],
        call_order=order,
        call_order_prefix=prefix,
        required_tools=required,
    )
    found = warnings_of(templates=[changed])
    assert [problem.code for problem in found] == ["call_order_mismatch"] * odd
    if odd:
        assert "the tools are called as `get_book`" in found[0].message


def test_a_confirmation_that_nobody_gave_is_told(warnings_of: Ask) -> None:
    """Where the argument is true and no answer covers the call."""
    changed = lending(assistant_milestones=[LEND, FINAL], user_simulator_turns=[], turn_policy="single_turn")
    problem = only(warnings_of(templates=[template(), changed]))
    assert problem.code == "unconfirmed_call"
    assert problem.path == "$[1].assistant_milestones[0].args.confirm"


def test_a_call_that_reads_a_slot_before_its_correction_is_told(warnings_of: Ask) -> None:
    """Through a placeholder, or because a required parameter is called so; after the correction it may."""
    get = {"type": "tool_call", "tool": "get_book"}
    update = {"book_id": {"source": "books.book_id", "bind_as": "other"}}
    changed = template(
        turn_policy="correction",
        assistant_milestones=[get, {"type": "ask_for_slot"}, get, FINAL],
        user_simulator_turns=[after("ask_for_slot", "No, {other}.", slot_updates=update)],
    )
    problem = only(warnings_of(templates=[changed, lending()]))
    assert (problem.code, problem.path) == ("stale_argument", "$[0].assistant_milestones[0]")


@pytest.mark.parametrize(
    ("changed", "odd"),
    [
        ({"mutates": False}, True),
        ({"mutates": False, "assistant_milestones": [{"type": "tool_call", "tool": "lend_book"}]}, False),
        ({"mutates": False, "turn_policy": "negative_path"}, False),
        ({"mutates": True, "turn_policy": "negative_path"}, False),
    ],
)
def test_a_label_that_says_that_nothing_changes_is_held_against_calls_that_change(
    warnings_of: Ask, changed: dict[str, Any], odd: bool
) -> None:
    """Not against calls that only ask, or that must be refused."""
    found = warnings_of(templates=[template(), lending(**changed)])
    codes = [problem.code for problem in found if problem.code == "mutates_label"]
    assert codes == ["mutates_label"] * odd


def test_arguments_that_a_closed_tool_does_not_take_are_told(warnings_of: Ask) -> None:
    """With the nearest parameter; an open tool takes anything."""
    properties = {"book_id": {"type": "string"}, "shelf": {"type": "string"}}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": ["book_id"]}
    lend = {"name": "lend_book", "mutates": True, "requires_confirmation": True}
    call = {"type": "tool_call", "tool": "get_book", "args": {"shelv": "A"}}
    for closed in (False, True):
        extra: dict[str, Any] = {"additionalProperties": False} if closed else {}
        tools = [{"name": "get_book", "parameters": {**schema, **extra}}, lend]
        found = warnings_of({"assistant_milestones": [call, FINAL]}, tools=tools)
        assert [(problem.code, problem.nearest) for problem in found] == [
            ("unknown_argument", "shelf")
        ] * closed


def test_labels_that_some_templates_lack_are_told_together(warnings_of: Ask) -> None:
    """Those that all have, and those that none has, are in order."""
    templates = [template(intent="ask", category="c"), template(category="c"), lending(category="c")]
    problem = only(warnings_of(templates=templates))
    assert (problem.code, problem.message) == ("label_gap", "2 of 3 templates have no `intent`: `t1`, `t2`")


def test_a_tool_that_no_template_calls_is_told(warnings_of: Ask) -> None:
    """It may be there to be chosen wrongly, so the mend leaves that open."""
    problem = only(warnings_of(templates=[template()]))
    assert (problem.code, problem.message) == ("uncalled_tool", "no template calls `lend_book`")
    assert problem.file == "tools.json"


def test_a_tool_that_asks_before_it_changes_nothing_is_told(warnings_of: Ask) -> None:
    """The user's word is asked for changes."""
    tools = [{"name": "get_book"}, {"name": "lend_book", "requires_confirmation": True}]
    found = warnings_of(templates=[template(), lending(mutates=False)], tools=tools)
    assert only(found).code == "confirmation_without_mutation"


@pytest.mark.parametrize(
    ("second", "odd"),
    [
        ({}, True),
        ({"arguments": {"book_id": "B-1"}}, False),
        ({"tool": "lend_book"}, False),
        ({"reset_before": False}, False),
    ],
)
def test_a_probe_that_repeats_another_is_told(warnings_of: Ask, second: dict[str, Any], odd: bool) -> None:
    """The same call in the same state; a call continues a chain in another one."""
    found = warnings_of(cases=[PROBE, {**PROBE, "id": "again", **second}])
    assert [problem.code for problem in found] == ["repeated_probe"] * odd
    if odd:
        assert found[0].message == "the probe `again` makes the same calls as `missing`"


@pytest.mark.parametrize(
    ("second", "odd"),
    [
        (["get_book", "lend_book"], ["$[3].id"]),
        (["get_book", "get_book", "lend_book"], []),
        (["get_book"], ["$[2].id"]),
    ],
)
def test_chains_are_compared_from_their_reset(warnings_of: Ask, second: list[str], odd: list[str]) -> None:
    """The last call of a chain repeats one that came after the same calls; those before it set the state up."""
    tools = ["get_book", "lend_book", *second]
    cases = [
        {**PROBE, "id": str(index), "tool": tool, "reset_before": index in (0, 2)}
        for index, tool in enumerate(tools)
    ]
    assert [problem.path for problem in warnings_of(cases=cases)] == odd


def test_an_absent_id_that_a_row_has_is_told(warnings_of: Ask) -> None:
    """Ids are compared as text, with the key of the rows."""
    fixtures = {"books": [{"book_id": 7, "status": "free"}]}
    problem = only(warnings_of(fixtures=fixtures, manifest={"absent_ids": {"books": ["B-0", "7"]}}))
    assert problem.code == "absent_id_exists"
    assert problem.message == "`7` is declared absent, and row 0 of `books` is `7`"
    assert (problem.file, problem.path) == ("manifest.yaml", "$.absent_ids.books[1]")


def test_absent_ids_of_no_collection_are_told(warnings_of: Ask) -> None:
    """Nothing proves them absent."""
    problem = only(warnings_of(manifest={"absent_ids": {"book": "B-0"}}))
    assert (problem.code, problem.nearest) == ("absent_collection_unknown", "books")


def test_absent_ids_that_nothing_uses_are_told(warnings_of: Ask) -> None:
    """A slot that draws from them uses them, and so does a probe with one of them, at any depth."""
    assert only(warnings_of(cases=[])).code == "unused_absent_ids"
    assert warnings_of({"slots": {"book_id": slot("absent:books")}}, cases=[]) == []
    nested = {**PROBE, "arguments": {"filter": [{"id": "B-0"}]}}
    assert warnings_of(cases=[nested]) == []


def test_a_collection_that_nothing_uses_is_told(handmade: Handmade, tmp_path: Path) -> None:
    """No slot, no probe, and no module of the pack, wherever it lies."""
    fixtures = {
        "books": [{"book_id": "B-1"}],
        "readers": [{"reader_id": "R-1"}],
        "fines": [{"fine_id": "F-1"}],
        "shelves": [{"shelf_id": "S-1"}],
        "clock": "noon",
        "empty": [],
    }
    (tmp_path / "lib").mkdir()
    (tmp_path / "backend.py").write_text("from lib.more import *\n")
    (tmp_path / "lib" / "more.py").write_text("FINES = 'fines'\n")
    probe = {**PROBE, "id": "reader", "arguments": {"book_id": "B-0", "reader": "R-1"}}
    pack = handmade(
        [template(), lending()],
        cases=[probe],
        fixtures=fixtures,
        root=tmp_path,
        files={"backend": "backend.py"},
        digests={"tree/lib/more.py": "", "tree/backend.py": "", "tree/gone.py": ""},
    )
    problem = only(lint(pack))
    assert problem.message == "nothing in the pack uses the collection `shelves`"
    assert (problem.file, problem.path) == ("fixtures.json", "$.shelves")


def test_modules_that_hide_pythons_own_are_told(handmade: Handmade) -> None:
    """At the root and beside the backend, as a file or as a package; elsewhere a name is free."""
    digests = {
        f"tree/{path}": ""
        for path in (
            *("json.py", "helpers.py", "src/random/__init__.py", "src/logging.py", "src/deep/time.py"),
            *("src/email/part.py", "test.py", "data/json.txt"),
        )
    }
    pack = handmade([template(), lending()], cases=[PROBE], digests=digests, files={"assertions": "src/a.py"})
    found = lint(pack)
    assert {problem.code for problem in found} == {"shadows_stdlib"}
    assert [problem.file for problem in found] == ["json.py", "src/logging.py", "src/random/__init__.py"]
    assert found[0].message == "`json.py` is imported instead of Python's own module `json`"


def test_warnings_come_in_the_order_of_files_and_places(warnings_of: Ask) -> None:
    """Whatever rule finds them."""
    changed = {"mutates": True, "success_assertions": ["a", "a"], "required_tools": ["lend_book"]}
    found = warnings_of(changed, cases=[])
    assert [problem.file for problem in found] == ["manifest.yaml", *["task_templates.yaml"] * 3]
    assert [problem.line for problem in found[1:]] == sorted(problem.line or 0 for problem in found[1:])


def test_what_can_not_be_planned_or_read_is_left_to_the_checks(warnings_of: Ask) -> None:
    """Lint says nothing about it, and does not stumble."""
    changed = {"turn_policy": "multi_tool", "slots": {"book_id": slot("fixture:books")}}
    assert warnings_of(changed) == []
    assert warnings_of({"assistant_milestones": [{"type": "tool_call", "tool": "nothing"}, FINAL]}) == []
