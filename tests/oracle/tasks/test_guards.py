from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from averment.oracle.model.pack import Pack
from averment.oracle.tasks.expansion import expand
from averment.oracle.tasks.guards import Violation, guarded_names, guards_of, violations
from averment.oracle.tasks.mentions import Surface, names_tool
from averment.oracle.tasks.plan import plan

Handmade = Callable[..., Pack]


def slot(source: str = "literal:red", *, visible: bool = True) -> dict[str, Any]:
    return {"source": source, "visible_in_first_turn": visible}


def rows(
    handmade: Handmade,
    turns: Sequence[str],
    slots: dict[str, Any],
    *,
    paraphrase: dict[str, Any] | None = None,
    updates: dict[str, Any] | None = None,
    exempt: Sequence[str] = (),
    **flags: bool,
) -> list[dict[str, str]]:
    """The violations of a task whose user says these turns, as rows of the table."""
    said = {"after": "ask_confirm", "content_template": {"en": "."}, "slot_updates": updates or {}}
    template = {
        "turn_policy": "correction" if updates else "confirmation",
        "slots": slots,
        "paraphrase": paraphrase,
        "assistant_milestones": [{"type": "ask_confirm"}, {"type": "tool_call", "tool": "get_book"}],
        "user_simulator_turns": [said],
    }
    pack = handmade([template], manifest={"surface_guards": {"tool_names_exempt": list(exempt)}})
    (task,) = expand(pack.templates[0], plan(pack.templates[0]), pack, limit=1)
    guards = guards_of(pack.templates[0], guarded_names(pack), **flags)
    return [msgspec.to_builtins(each) for each in violations(guards, task, turns)]


@pytest.mark.parametrize(
    ("text", "value", "stated"),
    [
        ("take 4 books", "4", True),
        ("take 400000 books", "4", False),
        ("take 40 of 4", "4", True),
        ("444", "44", False),
        ("200000đ", "200000", True),
        ("v4", "4", True),
        ("the status", "us", False),
        ("us, please", "us", True),
        ("us_", "us", False),
        ("us2", "us", False),
        ("_us", "_us", True),
        ("a_us", "_us", False),
        ("BK-100", "BK-10", False),
        ("BK-100.", "BK-100", True),
        ("XBK-100", "BK-100", False),
        ("bk-100", "BK-100", False),
        ("at -5 degrees", "-5", True),
        ("3-5", "-5", True),
        ("4.5", "4", True),
        ("C++!", "C++", True),
        ("C+++", "C++", True),
        ("thẻ xanh", "thẻ", True),
        ("thẻxanh", "thẻ", False),
        ("aaa aa", "aa", True),
        ("aaa", "aa", False),
        ("", "x", False),
        ("x", "", False),
        ("500.000", "500000", True),
        ("500,000", "500000", True),
        ("500 000", "500000", True),
        ("500\u00a0000 and 1\u202f000", "1000", True),
        ("1.500.000", "1500000", True),
        ("1.500.000", "500000", False),
        ("1, 2, 3", "123", False),
        ("50.00", "5000", False),
        ("5000.000", "5000000", False),
        ("1500.000", "500000", False),
        ("500.0000", "500000", False),
        ("500.000", "500.000", True),
        ("0.500", "0500", True),
        ("500.000", "-500000", False),
        ("12²", "12", True),
        ("1²", "²", False),
        ("x²", "²", True),
    ],
)
def test_a_value_is_stated_as_a_token_of_its_own(text: str, value: str, stated: bool) -> None:
    """What may stand beside it depends on the character at its edge; groups of three digits are one number."""
    assert Surface(text).states(value) is stated


ALPHABET = "aZ_09²đ٣ .,-\u00a0\u202f"


def by_pattern(text: str, value: str) -> bool:
    """The rule written as regular expressions."""

    def edge(character: str, around: str) -> str:
        if character.isdigit():
            return around.format(r"\d")
        return around.format(r"\w") if character.isalpha() or character == "_" else ""

    pattern = edge(value[0], "(?<!{})") + re.escape(value) + edge(value[-1], "(?!{})")
    groups = re.findall(r"(?<!\d)\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+(?!\d)", text) if value.isdigit() else []
    return bool(re.search(pattern, text)) or value in {re.sub(r"\D", "", group) for group in groups}


@given(st.text(ALPHABET, max_size=14), st.text(ALPHABET, min_size=1, max_size=4))
def test_values_are_found_as_the_rule_says(text: str, value: str) -> None:
    """Compared with the rule as patterns."""
    assert Surface(text).states(value) == by_pattern(text, value)


@given(st.integers(0, 10**12), st.sampled_from(".,\u00a0\u202f "), st.sampled_from(["", "đ", "!", " x"]))
def test_a_grouped_number_states_its_value_and_no_longer_one(number: int, sign: str, after: str) -> None:
    """However it is grouped, and whatever is written against it."""
    text = f"pay {number:,}{after}".replace(",", sign)
    assert Surface(text).states(str(number))
    assert not Surface(text).states(str(number) + "0")


@given(st.text(ALPHABET, min_size=1, max_size=5), st.text(ALPHABET, max_size=5))
def test_a_value_between_spaces_is_always_stated(value: str, other: str) -> None:
    """Nothing far from it matters."""
    assert Surface(f"{other} {value} {other}").states(value)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("use get_book now", True),
        ("get_book", True),
        ("get_books", False),
        ("forget_book", False),
        ("get_book2", False),
        ("(get_book)", True),
        ("get book", False),
    ],
)
def test_a_tool_is_named_as_a_word(text: str, named: bool) -> None:
    """Not inside a longer one."""
    assert names_tool(text, "get_book") is named


def test_a_conversation_that_says_what_it_should_violates_nothing(handmade: Handmade) -> None:
    """The usual case."""
    assert rows(handmade, ["A red one.", "Yes."], {"x": slot()}) == []


def test_visible_slots_are_stated_in_the_first_turn(handmade: Handmade) -> None:
    """A later turn does not make up for it; slots come in the order of their names."""
    slots = {"y": slot("literal:blue"), "x": slot()}
    assert rows(handmade, ["Well.", "red, blue"], slots) == [
        {"guard": "must_preserve", "slot": "x"},
        {"guard": "must_preserve", "slot": "y"},
    ]


def test_the_run_may_leave_visible_slots_alone(handmade: Handmade) -> None:
    """A slot that the template names is looked for all the same, anywhere."""
    slots = {"x": slot(), "y": slot("literal:blue")}
    paraphrase = {"must_preserve": ["x"]}
    flags: dict[str, Any] = {"preserve_slot_values": False}
    assert rows(handmade, ["Well.", "Hm."], slots, paraphrase=paraphrase, **flags) == [
        {"guard": "must_preserve", "slot": "x"}
    ]
    assert rows(handmade, ["Well.", "red"], slots, paraphrase=paraphrase, **flags) == []


def test_declared_slots_are_stated_anywhere(handmade: Handmade) -> None:
    """A hidden slot that must be preserved comes in a later turn; a name that no slot has guards nothing."""
    paraphrase = {"must_preserve": ["x", "nothing"]}
    hidden = {"x": slot(visible=False)}
    assert rows(handmade, ["Well.", "red"], hidden, paraphrase=paraphrase) == []
    assert rows(handmade, ["Well.", "Hm."], hidden, paraphrase=paraphrase) == [
        {"guard": "must_preserve", "slot": "x"}
    ]


def test_corrections_are_stated_as_well_as_what_they_replace(handmade: Handmade) -> None:
    """The first value in the first turn, the new one anywhere."""
    updates = {"x": {"source": "literal:blue"}}
    assert rows(handmade, ["red", "No, blue"], {"x": slot()}, updates=updates) == []
    missing = {"guard": "must_preserve", "slot": "x"}
    assert rows(handmade, ["red", "No!"], {"x": slot()}, updates=updates) == [missing]
    assert rows(handmade, ["blue", "No, blue"], {"x": slot()}, updates=updates) == [missing]
    assert rows(handmade, ["Well.", "No!"], {"x": slot()}, updates=updates) == [missing, missing]


def test_hidden_and_declared_slots_are_kept_out_of_the_first_turn(handmade: Handmade) -> None:
    """A later turn may say them; it is the last value that counts."""
    slots = {"x": slot(visible=False), "y": slot("literal:blue")}
    assert rows(handmade, ["red or blue?", "red"], slots) == [{"guard": "must_omit", "slot": "x"}]
    assert rows(handmade, ["blue?", "red"], slots) == []
    updates = {"y": {"source": "literal:green"}}
    paraphrase = {"must_omit": ["y", "nothing"]}
    assert rows(handmade, ["blue?", "green"], {"y": slots["y"]}, updates=updates, paraphrase=paraphrase) == []
    assert rows(
        handmade, ["blue or green?", "green"], {"y": slots["y"]}, updates=updates, paraphrase=paraphrase
    ) == [{"guard": "must_omit", "slot": "y"}]


def test_no_turn_names_a_tool(handmade: Handmade) -> None:
    """In any case and any turn; all tools of the catalog count, the exempt ones don't."""
    turns = ["GET_BOOK!", "And lend_book."]
    assert rows(handmade, turns, {}) == [
        {"guard": "must_not_mention", "tool": "get_book"},
        {"guard": "must_not_mention", "tool": "lend_book"},
    ]
    assert rows(handmade, turns, {}, exempt=["lend_book"]) == [
        {"guard": "must_not_mention", "tool": "get_book"}
    ]


def test_the_run_may_leave_names_of_tools_alone(handmade: Handmade) -> None:
    """A template that says `tool_names` keeps the rule."""
    flags: dict[str, Any] = {"prevent_tool_name_leakage": False}
    assert rows(handmade, ["get_book"], {}, **flags) == []
    assert rows(handmade, ["get_book"], {}, paraphrase={"must_not_mention": ["tool_names"]}, **flags) == [
        {"guard": "must_not_mention", "tool": "get_book"}
    ]


def test_phrases_are_not_mentioned_in_any_case(handmade: Handmade) -> None:
    """As parts of words too, beside the rule about tools; turns are not read as one."""
    paraphrase = {"must_not_mention": ["The Database", "sql"]}
    assert rows(handmade, ["In THE DATABASE", "MySQL, get_book"], {}, paraphrase=paraphrase) == [
        {"guard": "must_not_mention", "tool": "get_book"},
        {"guard": "must_not_mention", "phrase": "The Database"},
        {"guard": "must_not_mention", "phrase": "sql"},
    ]
    assert rows(handmade, ["the", "database"], {}, paraphrase=paraphrase) == []


def test_values_are_compared_as_they_are_rendered(handmade: Handmade) -> None:
    """Numbers as digits; a value that is empty is never stated, and never leaked."""
    assert rows(handmade, ["For 1,200.", "Yes."], {"x": slot("literal:1200")}) == []
    assert rows(handmade, ["For 12000.", "Yes."], {"x": slot("literal:1200")}) == [
        {"guard": "must_preserve", "slot": "x"}
    ]
    empty = "literal:['']"
    assert rows(handmade, ["Well."], {"x": slot(empty), "y": slot(empty, visible=False)}) == [
        {"guard": "must_preserve", "slot": "x"}
    ]


def test_a_row_says_only_what_it_is_about() -> None:
    """`{guard, slot}`, `{guard, tool}` or `{guard, phrase}`."""
    assert msgspec.json.encode(Violation("must_omit", slot="x")) == b'{"guard":"must_omit","slot":"x"}'
