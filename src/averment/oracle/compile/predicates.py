"""The code that specs become: an `assertions.py` of predicates on the trace (contract, 8.2).

The text depends on the specs alone, down to the byte. It needs nothing but Python, and stands as `ruff format` would
leave it at any usual length of lines: what could be too long for one is written one item per line, with a comma after
the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from averment.oracle.compile.prose import one_line
from averment.oracle.compile.specs import Spec

__all__ = ["assertions_module"]

_LINE: Final = 88

_HEADER = '''\
"""Assertions about which tools were called, compiled from declarative specs.

Written by `averment pack compile`: change the specs and compile them again.
An assertion of order is not applicable where one of its tools was not called, which
fails a gold replay: name it only in templates that call both.
"""


def _called(trace):
    """The names of the tools that were called, in the order of the calls."""
    return [call["tool"] for call in trace]
'''

_HELPERS = {
    "tool_called": """\
def _require_called(trace, tool):
    names = _called(trace)
    if tool not in names:
        others = list(dict.fromkeys(names))
        more = f" and {len(others) - 10} more" if len(others) > 10 else ""
        listed = ", ".join(others[:10]) + more or "no tool"
        raise AssertionError(f"{tool} was never called; called: {listed}")
""",
    "tool_not_called": """\
def _require_not_called(trace, tool):
    names = _called(trace)
    if tool in names:
        at = f"call {names.index(tool) + 1} of {len(names)}"
        raise AssertionError(f"{tool} must not be called, and was: {at}")
""",
    "tool_called_after": """\
def _require_order(trace, earlier, later):
    names = _called(trace)
    if earlier not in names or later not in names:
        detail = f"{earlier} and {later} were not both called"
        return {"status": "not_applicable", "detail": detail}
    first, second = names.index(earlier) + 1, names.index(later) + 1
    if first > second:
        found = f"{later} was call {second}, and {earlier} only call {first}"
        raise AssertionError(f"{earlier} must be called before {later}: {found}")
    return None
""",
}


def assertions_module(specs: Sequence[Spec]) -> str:
    """The text of an `assertions.py` with one predicate for each spec.

    Args:
        specs: at least one, as `read_specs` lets them pass.
    """
    ordered = sorted(specs, key=lambda spec: spec.assertion_id)
    used = {spec.predicate for spec in ordered}
    parts = [
        _HEADER,
        *(text for predicate, text in _HELPERS.items() if predicate in used),
        *(_function(spec) for spec in ordered),
        _mappings(ordered),
    ]
    return "\n\n".join(parts)


def _function(spec: Spec) -> str:
    target, tool = _literal(spec.target), _literal(spec.tool or "")
    if spec.predicate == "tool_called_after":
        statement = _fitted("    return _require_order(", ("trace", tool, target), ")")
    else:
        helper = {"tool_called": "_require_called", "tool_not_called": "_require_not_called"}[spec.predicate]
        statement = _fitted(f"    {helper}(", ("trace", target), ")")
    head = _fitted(f"def {spec.name}(", ("*", "state", "trace", "task", "ctx"), "):")
    return f"{head}    # Rationale: {one_line(spec.rationale) or 'none was given.'}\n{statement}"


def _fitted(opening: str, items: Iterable[str], closing: str) -> str:
    """A line, or one line for each item where it would be too long."""
    line = f"{opening}{', '.join(items)}{closing}"
    if len(line) <= _LINE:
        return f"{line}\n"
    indent = " " * (len(opening) - len(opening.lstrip()))
    inside = "".join(f"{indent}    {item},\n" for item in items)
    return f"{opening}\n{inside}{indent}{closing}\n"


def _mappings(specs: Iterable[Spec]) -> str:
    exported = "".join(f'    "{spec.name}": {spec.name},\n' for spec in specs)
    capabilities = "".join(
        f'    "{spec.name}": {{\n'
        '        "trace": True,\n        "executable": True,\n        "category": "path",\n    },\n'
        for spec in specs
    )
    return f"ASSERTIONS = {{\n{exported}}}\n\nASSERTION_CAPABILITIES = {{\n{capabilities}}}\n"


def _literal(text: str) -> str:
    r"""A string literal that reads the same everywhere: printable ASCII, anything else and quotes as escapes."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(char: str) -> str:
    if char == "\\":
        return "\\\\"
    if " " <= char <= "~" and char != '"':
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
