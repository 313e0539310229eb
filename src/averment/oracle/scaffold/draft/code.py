"""The Python of a draft: a stub for each tool, and an assertion that it was called."""

from __future__ import annotations

from collections.abc import Iterable

from averment.oracle.scaffold.draft.calls import Call
from averment.oracle.scaffold.draft.texts import quoted

__all__ = ["assertion_name", "assertions", "backend"]

_SIGNATURE = "*, state: Mapping[str, Any], trace: Trace, task: Mapping[str, Any], ctx: Any"


def assertion_name(call: Call) -> str:
    """The assertion about the call."""
    return f"assert_{call.name}_called"


def backend(skeleton: str, calls: Iterable[Call]) -> str:
    """`backend.py`, from its skeleton."""
    drafted = list(calls)
    stubs = "\n\n\n".join(
        f"def tool_{call.name}(arguments: Mapping[str, Any], ctx: Any) -> dict[str, Any]:\n"
        f"    # TODO: what does it do?\n"
        f'    return _refusal("not_implemented", id={quoted(call.tool.name)})'
        for call in drafted
    )
    entries = "\n".join(f"    {quoted(call.tool.name)}: tool_{call.name}," for call in drafted)
    return skeleton.replace("# __STUBS__", stubs).replace("    # __TOOLS__", entries)


def assertions(skeleton: str, calls: Iterable[Call]) -> str:
    """`assertions.py`, from its skeleton."""
    drafted = list(calls)
    names = [assertion_name(call) for call in drafted]
    entries = "\n".join(f'    "{name}": {name},' for name in names)
    capabilities = "\n".join(
        f'    "{name}": {{"category": "path", "trace": True, "executable": True}},' for name in names
    )
    return (
        skeleton.replace("# __CALLED__", "\n\n\n".join(map(_called, drafted)))
        .replace("    # __ASSERTIONS__", entries)
        .replace("    # __CAPABILITIES__", capabilities)
    )


def _called(call: Call) -> str:
    said = ", ".join(f'{quoted(slot.argument)}: slots["{slot.name}"]' for slot in call.slots)
    given = '    slots = task["slots"]\n' if call.slots else ""
    return (
        f"def {assertion_name(call)}({_SIGNATURE}) -> None:\n"
        f'    """The tool was called once, with what the user said, and nothing else was."""\n'
        f"{given}"
        f"    _called_with(trace, {quoted(call.tool.name)}, {{{said}}})"
    )
