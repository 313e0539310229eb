"""Every task of the example packs, walked from its text to its verdict by a reading of the contract of its own.

The walk is the short version of what generation does: values of slots, texts of both languages, calls, results,
predicates. It draws every combination of values that the held-out file leaves.
"""

from __future__ import annotations

import copy
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from example_packs import NAMES, ROOT, ExamplePack, Played, context

from averment.oracle.catalog.arguments import argument_failures
from averment.oracle.model.loading import load_pack
from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import TURN_POLICIES, Milestone, Template
from averment.oracle.tasks.candidates import fixture_ref, resolve
from averment.oracle.tasks.plan import plan
from averment.oracle.tasks.sources import declared_sources, parse_source, source_kind
from averment.oracle.tasks.steps import CallsStep, Step, TextStep

PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
PACKS = {name: load_pack(ROOT / name, strict=True) for name in NAMES}
TEMPLATES = [
    pytest.param(pack, template, id=template.template_id)
    for pack in PACKS.values()
    for template in pack.templates
]


class Task(msgspec.Struct, frozen=True):
    """A template with values: those of the first turn, and those that corrections bring, by turn and slot."""

    pack: Pack
    template: Template
    initial: dict[str, Any]
    corrected: dict[tuple[int, str], Any]

    @property
    def final(self) -> dict[str, Any]:
        """The values in the end."""
        return self.initial | {slot: value for (_, slot), value in self.corrected.items()}


def _tasks(pack: Pack, template: Template) -> Iterator[Task]:
    held = pack.held_out.fixtures if pack.held_out else {}
    reserved = {fixture_ref(name, identifier) for name, ids in held.items() for identifier in ids}
    sources = list(declared_sources(template))
    drawn = [
        [
            candidate.value
            for candidate in resolve(
                parse_source(each.definition.source, each.definition.filter), pack, reserved=reserved
            )
        ]
        for each in sources
    ]
    for values in itertools.product(*drawn):
        bound = list(zip(sources, values, strict=True))
        initial = {each.slot: value for each, value in bound if each.entry is None}
        corrected = {(each.entry, each.slot): value for each, value in bound if each.entry is not None}
        if all(initial[slot] != value for (_, slot), value in corrected.items()):
            yield Task(pack, template, initial, corrected)


def _filled(text: str, values: dict[str, Any]) -> str:
    return PLACEHOLDER.sub(lambda match: str(values[match[1]]), text)


def _bound(argument: Any, values: dict[str, Any], results: dict[str, Any]) -> Any:
    """An argument with its placeholders and markers replaced."""
    if isinstance(argument, str):
        whole = PLACEHOLDER.fullmatch(argument)
        return values[whole[1]] if whole else _filled(argument, values)
    if isinstance(argument, dict):
        marker = argument.get("from_result")
        if marker is None:
            return {key: _bound(value, values, results) for key, value in argument.items()}
        found = results[marker["call"]]
        for token in marker["path"].split("."):
            found = found[int(token)] if isinstance(found, list) else found[token]
        return found
    return argument


class Conversation:
    """A task on its way: what is said in each language, what is called, what that comes to."""

    def __init__(self, task: Task, backend: Any) -> None:
        self.task, self.backend = task, backend
        self.languages = task.pack.manifest.languages
        self.values = dict(task.initial)
        self.results: dict[str, Any] = {}
        self.first: dict[str, str] = {}
        self.later: dict[str, list[str]] = {name: [] for name in self.languages}
        held = ExamplePack(task.pack.manifest.pack_id).fixtures(with_held_out=False)
        backend.reset(ctx=context(), fixtures=held)
        self.played = Played([], {}, backend.get_state())
        for step in plan(task.template).steps:
            self._take(step)
        self.played.state = backend.get_state()

    def _take(self, step: Step) -> None:
        template = self.task.template
        if isinstance(step, CallsStep):
            for index in step.milestones:
                self._call(template.assistant_milestones[index], step.turn)
        elif isinstance(step, TextStep):
            for name in self.languages:
                assert self._text(template.assistant_milestones[step.milestone], name).strip()
        elif step.entry is None:
            for name in self.languages:
                self.first[name] = _filled(template.user_turn_templates[name], self.values)
        else:
            turn = template.user_simulator_turns[step.entry]
            for slot, update in turn.slot_updates.items():
                self.values[slot] = self.task.corrected[step.entry, slot]
                self.values |= {update.bind_as: self.values[slot]} if update.bind_as else {}
            for name in self.languages:
                self.later[name].append(_filled(turn.content_template[name], self.values))

    def _text(self, milestone: Milestone, language: str) -> str:
        """What the assistant says."""
        template = self.task.template
        blocks = self.task.pack.manifest.assistant_turn_templates | template.assistant_turn_templates
        text = (milestone.content_template or blocks[milestone.type])[language]
        named = {}
        if "{slot_name}" in text:
            hidden = [name for name, slot in template.slots.items() if not slot.visible_in_first_turn]
            named = {"slot_name": template.slots[milestone.slot or hidden[0]].label[language]}
        return _filled(text, self.values | named)

    def _call(self, milestone: Milestone, turn: int) -> None:
        tool = self.task.pack.tool(milestone.tool or "")
        assert tool is not None
        arguments = {name: _bound(value, self.values, self.results) for name, value in milestone.args.items()}
        for name in tool.parameters["required"]:
            if name not in arguments:
                arguments[name] = self.values[name]
        result = self.backend.call_tool(tool.name, copy.deepcopy(arguments), ctx=context())
        if milestone.id is not None:
            self.results[milestone.id] = result
        entry = {"tool": tool.name, "arguments": arguments, "result": result, "turn_index": turn}
        self.played.trace.append(entry)


def _edge(character: str) -> str:
    """What a value must not touch at an edge: digits no digits, letters no characters of words."""
    if character.isdigit():
        return r"\d"
    return r"\w" if character == "_" or character.isalpha() else r"(?!)"


def _says(text: str, value: Any) -> bool:
    """Whether a value stands in a text as a word of its own."""
    said = str(value)
    pattern = f"(?<!{_edge(said[0])}){re.escape(said)}(?!{_edge(said[-1])})"
    return re.search(pattern, text) is not None


@pytest.mark.parametrize(
    ("text", "value", "says"),
    [
        ("for 30 days", 30, True),
        ("for 300 days", 30, False),
        ("APT-501.", "APT-501", True),
        ("APT-5012", "APT-501", False),
        ("dentally", "dental", False),
        ("(dental)", "dental", True),
    ],
)
def test_values_are_looked_for_as_words(text: str, value: object, *, says: bool) -> None:
    """The rule of surface guards that the tests below rest on."""
    assert _says(text, value) is says


@pytest.mark.parametrize(("pack", "template"), TEMPLATES)
def test_every_task_of_a_template_comes_out_right(pack: Pack, template: Template) -> None:
    """All the template's assertions pass, and the rows change exactly where `mutates` says so."""
    example = ExamplePack(pack.manifest.pack_id)
    backend, count = example.module("backend.py"), 0
    for task in _tasks(pack, template):
        talk = Conversation(task, backend)
        facts = {"template_id": template.template_id, "slots": task.final, "slots_initial": task.initial}
        said = example.verdicts(template.success_assertions, talk.played, facts)
        assert said == dict.fromkeys(template.success_assertions), task.final
        changed = talk.played.state != talk.played.before
        refused = template.turn_policy == "negative_path"
        assert changed == (template.mutates and not refused), task.final
        count += 1
    assert count > 1, "one task is no choice"
    called = {milestone.tool for milestone in template.assistant_milestones if milestone.type == "tool_call"}
    assert template.mutates == any(tool.mutates for tool in pack.tools if tool.name in called)


@pytest.mark.parametrize(("pack", "template"), TEMPLATES)
def test_the_calls_of_every_task_are_legal(pack: Pack, template: Template) -> None:
    """They fit the schemas, are shown to the agent, are confirmed where they say so, and come in the order."""
    confirmed_turns = plan(template).confirmed_call_turns
    parameter = pack.manifest.confirmation.parameter
    shown = template.tools_present or [tool.name for tool in pack.tools]
    backend = ExamplePack(pack.manifest.pack_id).module("backend.py")
    for task in itertools.islice(_tasks(pack, template), 8):
        talk = Conversation(task, backend)
        for call in talk.played.trace:
            tool = pack.tool(call["tool"])
            assert tool is not None
            assert tool.name in shown
            assert argument_failures(tool.parameters, call["arguments"]) == []
            assert call["arguments"].get(parameter) is not True or call["turn_index"] in confirmed_turns
        called = list(dict.fromkeys(call["tool"] for call in talk.played.trace))
        assert sorted(called) == sorted(template.required_tools)
        fixed = {"strict": None, "any": 0, "prefix": template.call_order_prefix}[template.call_order]
        assert called[:fixed] == template.required_tools[:fixed]


@pytest.mark.parametrize(("pack", "template"), TEMPLATES)
def test_the_user_says_what_is_visible_and_keeps_what_is_hidden(pack: Pack, template: Template) -> None:
    """In each language the first turn has every visible value and no hidden one, and no turn names a tool."""
    backend = ExamplePack(pack.manifest.pack_id).module("backend.py")
    phrases = template.paraphrase.must_not_mention if template.paraphrase else []
    for task in itertools.islice(_tasks(pack, template), 40):
        talk = Conversation(task, backend)
        for language in pack.manifest.languages:
            first, later = talk.first[language], talk.later[language]
            for name, slot in template.slots.items():
                assert _says(first, task.initial[name]) == slot.visible_in_first_turn, (first, name)
                if not slot.visible_in_first_turn:
                    assert any(_says(text, task.final[name]) for text in later), name
            for value in task.corrected.values():
                assert any(_says(text, value) for text in later)
            for text in (first, *later):
                assert text.strip()
                assert not any(_says(text.lower(), tool.name) for tool in pack.tools)
                assert not any(phrase.lower() in text.lower() for phrase in phrases if phrase != "tool_names")


@pytest.mark.parametrize("name", NAMES)
def test_every_block_of_text_has_every_language_and_no_other(name: str) -> None:
    """A template can be rendered in each language of its pack, labels included."""
    pack, languages = PACKS[name], set(PACKS[name].manifest.languages)
    blocks: list[dict[str, str]] = [*pack.manifest.assistant_turn_templates.values()]
    for template in pack.templates:
        blocks += [template.user_turn_templates, *template.assistant_turn_templates.values()]
        blocks += [turn.content_template for turn in template.user_simulator_turns]
        blocks += [each.content_template for each in template.assistant_milestones if each.content_template]
        blocks += [slot.label for slot in template.slots.values() if not slot.visible_in_first_turn]
    assert [block for block in blocks if set(block) != languages] == []
    assert pack.system_prompt


@pytest.mark.parametrize("name", NAMES)
def test_every_category_has_the_tasks_of_a_run(name: str) -> None:
    """With the budget of the widest category no category falls short, whatever is held out."""
    pack = PACKS[name]
    held = pack.held_out.templates if pack.held_out else []
    widest = max(Counter(template.category for template in pack.templates).values())
    tasks: Counter[Any] = Counter()
    for template in pack.templates:
        assert template.category
        assert template.intent
        assert template.difficulty in {"easy", "medium", "hard"}
        if template.template_id not in held:
            tasks[template.category] += sum(1 for _ in _tasks(pack, template))
    assert min(tasks.values()) >= widest
    assert set(tasks) == {template.category for template in pack.templates}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_a_pack_is_unused(name: str) -> None:
    """Each collection feeds a slot, each list of absent ids too, each tool is called by a template."""
    pack = PACKS[name]
    sources = [each.definition.source for template in pack.templates for each in declared_sources(template)]
    drawn = {source.split(":")[1].split(".")[0] for source in sources if source_kind(source) == "fixture"}
    assert drawn == set(pack.fixtures)
    absent = {source.split(":")[1] for source in sources if source_kind(source) == "absent"}
    assert absent == set(pack.manifest.absent_ids)
    called = {each.tool for template in pack.templates for each in template.assistant_milestones if each.tool}
    assert called == {tool.name for tool in pack.tools}


def test_the_clinic_covers_the_contract() -> None:
    """All turn policies, orders and kinds of sources, and what a template may have besides."""
    pack = PACKS["bilingual_clinic"]
    assert {template.turn_policy for template in pack.templates} == set(TURN_POLICIES)
    assert {template.call_order for template in pack.templates} == {"strict", "any", "prefix"}
    declared = [each for template in pack.templates for each in declared_sources(template)]
    kinds = {source_kind(each.definition.source) for each in declared}
    assert kinds == {"fixture", "enum", "literal", "range", "absent"}
    assert any(each.definition.filter for each in declared)
    assert any(template.edge_signatures for template in pack.templates)
    assert any(template.tools_present for template in pack.templates)
    assert any(template.paraphrase and template.paraphrase.must_omit for template in pack.templates)
    assert pack.held_out is not None
    assert pack.held_out.templates
    assert 20 <= len(pack.templates) <= 30


def test_the_library_is_small_and_has_what_it_promises() -> None:
    """Single turn, confirmation, parallel calls, a negative path, and a request that no tool serves."""
    pack = PACKS["library_lending"]
    policies = {template.turn_policy for template in pack.templates}
    assert policies == {"single_turn", "confirmation", "multi_tool", "negative_path", "irrelevant"}
    assert len(pack.tools) == 4
    assert any(each.call_group for template in pack.templates for each in template.assistant_milestones)
