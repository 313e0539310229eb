"""The smallest pack that passes every check, and the bench that one check looks at it from.

write(folder, also="del reset")   # `also` is added to its backend.py
failures(folder, "5")             # what check 5 finds
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from averment.oracle.certify import check
from averment.oracle.checks.bench import Bench
from averment.oracle.findings import Failure
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.running import running

__all__ = [
    "BACKEND",
    "CASES",
    "PLANTED",
    "PUT",
    "TOOLS",
    "Smallest",
    "assert_earned",
    "bench",
    "case",
    "failures",
    "write",
]

BACKEND = """\
import copy

state = {}


def list_tools():
    return ["look", "put"]


def reset(*, ctx, fixtures=None):
    state.clear()
    state.update(copy.deepcopy(fixtures or {}))


def call_tool(name, arguments, *, ctx):
    return globals()[name](arguments, ctx)


def get_state():
    return state


def find(arguments):
    boxes = [box for box in state["boxes"] if box["box_id"] == arguments.get("box_id")]
    return boxes[0] if boxes else None


def look(arguments, ctx):
    return find(arguments) or {"error": {"code": "not_found"}}


def put(arguments, ctx):
    box = find(arguments)
    if box is None:
        return {"error": {"code": "not_found"}}
    if not arguments.get("confirm"):
        return {"status": "awaiting_confirmation"}
    box["item"] = arguments["item"]
    return box
"""


def _tool(name: str, properties: dict[str, Any], required: list[str], **marks: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "parameters": parameters}, **marks}


_BOX = {"box_id": {"type": "string"}}
_ITEM = {"item": {"type": "string"}, "confirm": {"type": "boolean"}}
LOOK = _tool("look", _BOX, ["box_id"])
PUT = _tool(
    "put", {**_BOX, **_ITEM}, ["box_id", "item"], **{"x-mutates": True, "x-requires-confirmation": True}
)
TOOLS = [LOOK, PUT]
FIXTURES = {"boxes": [{"box_id": "B-1", "item": "nail"}, {"box_id": "B-2", "item": "screw"}]}


def case(name: str, tool: str = "look", /, box: Any = "B-1", **more: Any) -> dict[str, Any]:
    """A probe; `arguments` replaces what it asks with."""
    return {"id": name, "tool": tool, "arguments": {"box_id": box}, **more}


def _put(name: str, confirm: bool) -> dict[str, Any]:
    return case(name, "put", arguments={"box_id": "B-1", "item": "bolt", "confirm": confirm})


CASES = [case("found"), case("none", box="B-0"), _put("asks", False), _put("puts", True)]
TEMPLATES = [
    {
        "template_id": "look_up",
        "turn_policy": "single_turn",
        "required_tools": ["look"],
        "slots": {"box_id": {"source": "fixture:boxes.box_id", "visible_in_first_turn": True}},
        "user_turn_templates": {"en": "What is in {box_id}?"},
        "assistant_milestones": [{"type": "tool_call", "tool": "look"}, {"type": "final_answer"}],
        "success_assertions": ["assert_looked"],
    }
]
ASSERTIONS = """\
def assert_looked(*, state, trace, task, ctx):
    assert [call["result"].get("box_id") for call in trace] == [task["slots"]["box_id"]]
"""
PLANTED: dict[str, Any] = {
    "backend": BACKEND.replace(
        '    box["item"] = arguments["item"]\n    return box\n',
        '    box["item"] = arguments["item"]\n    return {**box, "on": str(datetime.date.today())}\n',
    ).replace("import copy\n", "import copy\nimport datetime\n"),
    "assertions": ASSERTIONS
    + """

def assert_fine(*, state, trace, task, ctx):
    assert len(trace) < 99


def assert_looked_beside(*, state, trace, task, ctx):
    assert [call["result"].get("box_id") for call in trace] == ["B-1"]


def assert_put(*, state, trace, task, ctx):
    assert "bolt" in [box["item"] for box in state["boxes"]]
    assert [call["tool"] for call in trace] == ["put"]
""",
    "templates": [
        {**TEMPLATES[0], "template_id": "look_up", "success_assertions": ["assert_looked", "assert_fine"]},
        {
            **TEMPLATES[0],
            "template_id": "put_in",
            "turn_policy": "confirmation",
            "required_tools": ["put"],
            "user_turn_templates": {"en": "A bolt belongs into {box_id}, please."},
            "user_simulator_turns": [{"after": "ask_confirm", "content_template": {"en": "Yes."}}],
            "assistant_milestones": [
                {"type": "ask_confirm", "content_template": {"en": "Shall I?"}},
                {"type": "tool_call", "tool": "put", "args": {"item": "bolt", "confirm": True}},
                {"type": "final_answer"},
            ],
            "success_assertions": ["assert_put"],
        },
        {
            **TEMPLATES[0],
            "template_id": "look_beside",
            "slots": {"box_id": {"source": "literal:B-2", "visible_in_first_turn": True}},
            "user_turn_templates": {"en": "What is in the box beside {box_id}?"},
            "assistant_milestones": [
                {"type": "tool_call", "tool": "look", "args": {"box_id": "B-1"}},
                {"type": "final_answer"},
            ],
            "success_assertions": ["assert_looked_beside"],
        },
    ],
}
"""Three templates: one whose second assertion is vacuous, one whose call reads the date, one whose call asks for what
nobody says."""
MANIFEST = {
    "pack_id": "boxes",
    "version": "1",
    "languages": ["en"],
    "assistant_turn_templates": {"final_answer": {"en": "That."}},
}


def write(
    root: Path,
    *,
    also: str = "",
    backend: str = BACKEND,
    tools: Any = TOOLS,
    fixtures: Any = FIXTURES,
    cases: Any = CASES,
    templates: Any = TEMPLATES,
    assertions: str = ASSERTIONS,
    manifest: dict[str, Any] | None = None,
    files: dict[str, str] | None = None,
) -> Path:
    """The pack's folder, made of texts and values; `also` is added to the backend, `files` are further ones."""
    written = {
        "manifest.yaml": {**MANIFEST, **(manifest or {})},
        "tools.json": tools,
        "fixtures.json": fixtures,
        "validation_cases.yaml": cases,
        "task_templates.yaml": templates,
        "assertions.py": assertions,
        "backend.py": f"{backend}\n\n{textwrap.dedent(also)}" if also else backend,
        **(files or {}),
    }
    root.mkdir(parents=True, exist_ok=True)
    for name, content in written.items():
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        (root / name).write_text(text, encoding="utf-8")
    return root


@contextmanager
def bench(root: Path, **options: Any) -> Iterator[Bench]:
    """What checks look at the pack from, with workers of its own; nothing misses a deadline that is not among the options."""
    patient = {name: 60.0 for name in Options.__struct_fields__ if name.endswith("_timeout_s")}
    pack, chosen = load_pack(root), Options(**patient | options)
    with running(pack, chosen, both=False) as at_work:
        yield Bench(at_work, jobs=2)


def failures(root: Path, name: str, **options: Any) -> list[Failure]:
    """What one check finds; the probes are run first where it asks what was tried."""
    with bench(root, **options) as made:
        if name == "I1":
            assert made.observations.chains
        return list(check(name).run(made))


class Smallest(NamedTuple):
    """The smallest change of the pack that earns a reason.

    Attributes:
        change: what `write` is given.
        file: the file of the failure.
        path: its place there; for Python files a text that its line starts with.
        facts: what is known of it, all of it.
    """

    change: dict[str, Any]
    file: str
    path: str
    facts: dict[str, Any]


def assert_earned(found: list[Failure], reason: str, smallest: Smallest, root: Path) -> Failure:
    """The one failure that there is has this reason, this place and these facts; its place leads somewhere."""
    assert [failure.reason for failure in found] == [reason]
    (failure,) = found
    assert failure.file == smallest.file
    assert failure.line is not None
    lines = (root / smallest.file).read_text(encoding="utf-8").splitlines()
    if smallest.file.endswith(".py"):
        assert lines[failure.line - 1].strip().startswith(smallest.path)
    else:
        assert failure.path == smallest.path
        assert failure.column is not None
        assert failure.column <= len(lines[failure.line - 1])
    assert failure.facts == smallest.facts
    assert failure.message
    assert not failure.message.endswith(".")
    return failure
