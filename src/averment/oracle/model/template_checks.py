"""Reading `task_templates.yaml`: what the shape of one entry can't say alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from averment.oracle.model.problems import Problems, some
from averment.oracle.model.shapes import at_path
from averment.oracle.model.templates import Slot, SlotUpdate, Template, warn_of_text_types
from averment.text.source import Source
from averment.text.structs import describe

__all__ = ["read_templates", "template_ids"]

Path = tuple[str | int, ...]

_RENAMED = {
    "turn_policy": "unknown_turn_policy",
    "call_order": "unknown_call_order",
    "type": "unknown_milestone_type",
}
_ALIAS, _NAME = "first_turn_templates", "user_turn_templates"


def template_ids(source: Source) -> list[str]:
    """The ids of all templates of the file, of those with mistakes too."""
    entries = source.value if isinstance(source.value, list) else []
    ids = [at_path(entry, ("template_id",)) for entry in entries]
    return [name for name in ids if isinstance(name, str)]


def read_templates(source: Source, problems: Problems) -> list[Template]:
    """The templates, in the order of the file; those that don't fit the shape are left out."""
    if not problems.root(source, list, "templates"):
        return []
    templates = []
    first: dict[str, int] = {}
    for index, entry in enumerate(source.value):
        if problems.is_full:
            break
        template = problems.convert(
            source, (index,), Template, value=_with_name(source, index, entry, problems), renamed=_RENAMED
        )
        name = at_path(entry, ("template_id",))
        if isinstance(name, str) and first.setdefault(name, index) != index:
            problems.error(
                source,
                "duplicate_template",
                f"the id `{name}` is used twice",
                (index, "template_id"),
                expected="an id of its own for every template",
                found=f"the same id in entry {first[name]}",
            )
        warn_of_text_types(source, (index,), at_path(entry, ("assistant_turn_templates",)), problems)
        if template is not None:
            _check(source, index, template, problems)
            category = template.template_id if template.category is None else template.category
            edges = sorted(template.edge_signatures)
            templates.append(
                msgspec.structs.replace(template, index=index, category=category, edge_signatures=edges)
            )
    return templates


def _with_name(source: Source, index: int, entry: Any, problems: Problems) -> Any:
    """The entry with its first turn under the name that the struct has."""
    if not isinstance(entry, dict) or _ALIAS not in entry:
        return entry
    rest = {name: value for name, value in entry.items() if name != _ALIAS}
    if rest.get(_NAME):
        message = f"`{_ALIAS}` is ignored beside `{_NAME}`"
        problems.warning(source, "alias_ignored", message, (index, _ALIAS), key=True)
        return rest
    return {**rest, _NAME: entry[_ALIAS]}


def _check(source: Source, index: int, template: Template, problems: Problems) -> None:
    _check_tools(source, index, template, problems)
    _check_prefix(source, index, template, problems)
    _check_milestones(source, index, template, problems)
    for place, label in _repeated(template.edge_signatures):
        message = f"the label `{label}` stands twice"
        problems.error(source, "duplicate_edge_signature", message, (index, "edge_signatures", place))
    if template.paraphrase is not None and template.paraphrase.max_variants < 0:
        problems.error(
            source,
            "out_of_range",
            "`max_variants` is negative",
            (index, "paraphrase", "max_variants"),
            expected="0 or more",
            found=describe(template.paraphrase.max_variants),
        )
    for path, slot in _sourced(template):
        kind, colon, _ = slot.source.partition(":")
        if slot.filter is not None and colon and kind.strip() != "fixture":
            message = f"the filter of a source `{kind[:40]}:` is ignored"
            problems.warning(source, "filter_ignored", message, (index, *path, "filter"), key=True)


def _sourced(template: Template) -> Iterator[tuple[Path, Slot | SlotUpdate]]:
    """Everything with a source, and its place in the template."""
    for name, slot in template.slots.items():
        yield ("slots", name), slot
    for turn, said in enumerate(template.user_simulator_turns):
        for name, update in said.slot_updates.items():
            yield ("user_simulator_turns", turn, "slot_updates", name), update


def _check_tools(source: Source, index: int, template: Template, problems: Problems) -> None:
    if template.tools_present is None:
        return
    present = dict.fromkeys(template.tools_present)
    for place, tool in _repeated(template.tools_present):
        message = f"`tools_present` names `{tool}` twice"
        problems.error(source, "duplicate_tool_present", message, (index, "tools_present", place))
    for place, tool in enumerate(template.required_tools):
        if tool not in present:
            problems.error(
                source,
                "required_tool_not_present",
                f"the required tool `{tool}` is not in `tools_present`",
                (index, "required_tools", place),
                expected=some(present) if present else "no required tool",
            )


def _check_prefix(source: Source, index: int, template: Template, problems: Problems) -> None:
    prefix, most = template.call_order_prefix, len(template.required_tools)
    path = (index, "call_order_prefix")
    if template.call_order != "prefix":
        if prefix is not None:
            message = f"`call_order_prefix` means nothing with `call_order: {template.call_order}`"
            problems.error(source, "call_order_prefix_unused", message, path, key=True)
    elif prefix is None:
        message = "`call_order: prefix` needs `call_order_prefix`"
        problems.error(source, "call_order_prefix_missing", message, (index, "call_order"))
    elif not 1 <= prefix <= most:
        expected = f"an integer from 1 to {most}" if most else "some `required_tools`"
        message = "the prefix is not as long as some of the required tools"
        more = {"expected": expected, "found": describe(prefix)}
        problems.error(source, "call_order_prefix_out_of_range", message, path, **more)


def _check_milestones(source: Source, index: int, template: Template, problems: Problems) -> None:
    ids = [
        (place, each.id) for place, each in enumerate(template.assistant_milestones) if each.id is not None
    ]
    for at, name in _repeated([name for _, name in ids]):
        message = f"the id `{name}` is used twice"
        path_of = (index, "assistant_milestones", ids[at][0], "id")
        problems.error(source, "duplicate_milestone_id", message, path_of)
    for place, milestone in enumerate(template.assistant_milestones):
        path = (index, "assistant_milestones", place)
        if milestone.type == "tool_call" and milestone.tool is None:
            problems.error(source, "milestone_without_tool", "a `tool_call` names no tool", path)
        if isinstance(milestone.call_group, dict | list):
            message, found = "a `call_group` is no single value", describe(milestone.call_group)
            problems.error(source, "call_group_not_scalar", message, (*path, "call_group"), found=found)


def _repeated(names: Iterable[str]) -> list[tuple[int, str]]:
    """The names that stood earlier in the list already, with their places."""
    seen: set[str] = set()
    repeated = []
    for place, name in enumerate(names):
        if name in seen:
            repeated.append((place, name))
        seen.add(name)
    return repeated
