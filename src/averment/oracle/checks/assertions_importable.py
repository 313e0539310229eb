"""Check 4: every predicate that a template names exists, can be called, says right what it can, and may be run.

`assertions.py` is imported in a worker, and its exports are looked into: a signature is proven by binding the four
keywords, capabilities are read from the text of the file. Nothing is judged.

A name has one failure at most for each thing that is wrong about it: of `missing_assertion`, `invalid_signature`,
`invalid_assertion_capability` and `assertion_not_executable_compatible` the first that holds. What is wrong in a template
comes once for each that names it; what is wrong in `assertions.py` comes once, with the fact `templates`. The fact
`assertion` is the name.

Predicates that no template names are looked into as well, and what is found is a warning: the same codes, and
`unused_assertion`, `assertion_not_callable`, `assertion_not_exported`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from averment.errors import Problem
from averment.oracle.checks.base import Check
from averment.oracle.checks.places import oracle_failure, placed
from averment.oracle.findings import Failure, Reason
from averment.oracle.model.pack import Pack
from averment.oracle.oracles import OracleError
from averment.oracle.tasks.naming import near
from averment.text.jsonvalue import cut

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["CHECK", "WARNINGS", "unnamed_assertion_warnings"]

REASONS = {
    "assertions_import_failed": Reason(
        "The file of assertions can't be imported.",
        "Mend what the traceback shows; an import must need nothing but the pack and the standard library.",
    ),
    "template_without_success_assertion": Reason(
        "A template names no assertion, so nothing says whether its task was done.",
        "Name at least one under `success_assertions`.",
    ),
    "missing_assertion": Reason(
        "A template names an assertion that the file does not export.",
        "Write the function, or correct the name.",
    ),
    "invalid_signature": Reason(
        "An assertion can't be called with `state`, `trace`, `task` and `ctx` by keyword, or its call runs nothing.",
        "Write it as `def assert_...(*, state, trace, task, ctx):`.",
    ),
    "invalid_assertion_capability": Reason(
        "`ASSERTION_CAPABILITIES` is not what it has to be, for one assertion or as a whole.",
        "Write a literal mapping: exported name to `trace` and `executable`, True or False, and `category`.",
    ),
    "assertion_not_executable_compatible": Reason(
        "A template names an assertion that says of itself that it can't be run against an oracle.",
        "Take `executable: False` out of its capabilities, or name another one.",
    ),
}

WARNINGS = {
    "unused_assertion": Reason(
        "No template names an exported assertion.",
        "Name it under `success_assertions` of a template, or remove it.",
    ),
    "assertion_not_callable": Reason(
        "An entry of `ASSERTIONS` can't be called, and is no assertion.",
        "Put the function there, not its name or its result.",
    ),
    "assertion_not_exported": Reason(
        "The file defines a function `assert_...` that its `ASSERTIONS` does not have.",
        "Add it to `ASSERTIONS`, or give it a name that does not start with `assert_`.",
    ),
}
"""What is odd about a file of assertions and fails no check; what is broken has the codes of the check."""


def run(bench: Bench) -> Iterator[Failure]:
    """The failures: of templates in the order of their file, then of `assertions.py` in the order of its exports."""
    pack = bench.pack
    for template in pack.templates:
        if not template.success_assertions:
            message = f"the template `{cut(template.template_id, 60)}` names no assertion"
            facts = {"template_id": template.template_id}
            path = (template.index, "success_assertions")
            yield placed(pack, "templates", path, "template_without_success_assertion", message, facts=facts)
    try:
        inspected = bench.inspection.assertions
    except OracleError as error:
        at = Failure(reason="", message="", file=pack.files["assertions"])
        yield oracle_failure("assertions_import_failed", error, at)
        return
    exports = inspected["exports"]
    yield from _wrong_names(pack, inspected)
    named = _named(pack)
    for name, export in exports.items():
        if name in named:
            broken = _broken(name, export)
            if broken is not None:
                yield _failure(pack, name, named[name], broken)


def _named(pack: Pack) -> dict[str, list[str]]:
    """The templates that name each assertion."""
    found: dict[str, list[str]] = {}
    for template in pack.templates:
        for name in dict.fromkeys(template.success_assertions):
            found.setdefault(name, []).append(template.template_id)
    return found


def _wrong_names(pack: Pack, inspected: Mapping[str, Any]) -> Iterator[Failure]:
    """Names in templates that are not exported, or that may not be run; each where it stands."""
    exports = inspected["exports"]
    for template in pack.templates:
        facts = {"template_id": template.template_id}
        seen = set()
        for index, name in enumerate(template.success_assertions):
            path = (template.index, "success_assertions", index)
            if name in seen:
                continue
            seen.add(name)
            more: dict[str, Any] = {"facts": {**facts, "assertion": name}}
            shown = cut(name, 60)
            if name not in exports:
                message = f"`{pack.files['assertions']}` exports no assertion `{shown}`"
                more["mend"] = _mend_of_missing(name, inspected)
                yield placed(pack, "templates", path, "missing_assertion", message, **more)
            elif _broken(name, exports[name]) is None and not exports[name]["capabilities"]["executable"]:
                message = f"`{shown}` says `executable: False`, and a template names it"
                yield placed(pack, "templates", path, "assertion_not_executable_compatible", message, **more)


def _mend_of_missing(name: str, inspected: Mapping[str, Any]) -> str | None:
    prefixed = f"assert_{name}"
    if prefixed in inspected["exports"]:
        return f"Write `{cut(prefixed, 67)}`."
    for oddity in inspected["oddities"]:
        if oddity["name"] in (name, prefixed):
            correction = "" if oddity["name"] == name else f"Write `{cut(prefixed, 67)}`. "
            return correction + WARNINGS[oddity["code"]].mend
    meant = near(name, inspected["exports"]) or near(prefixed, inspected["exports"])
    return f"Did you mean `{cut(meant, 60)}`?" if meant else None


class _Broken(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with an export in its own file."""

    code: str
    message: str
    line: int | None
    column: int | None = None
    facts: dict[str, Any] = {}


def _broken(name: str, export: Mapping[str, Any]) -> _Broken | None:
    """The first thing that is wrong with an export in its own file."""
    signature = export["signature"]
    shown = cut(name, 60)
    if not signature["valid"]:
        return _Broken(
            code="invalid_signature",
            message=f"`{shown}` can't be called as it will be: {signature['detail']}",
            line=export["line"],
            facts={"missing": signature["missing"], "extras": signature["extras"]},
        )
    mistakes = export["capability_mistakes"]
    if mistakes:
        return _Broken(
            code="invalid_assertion_capability",
            message=f"`{shown}` has no capabilities: {export['capability_error']}",
            line=mistakes[0]["line"],
            column=mistakes[0]["column"],
        )
    return None


def _failure(pack: Pack, name: str, templates: list[str], broken: _Broken) -> Failure:
    return Failure(
        reason=broken.code,
        message=broken.message,
        file=pack.files["assertions"],
        line=broken.line,
        column=broken.column,
        facts={"assertion": name, "templates": templates, **broken.facts},
    )


def unnamed_assertion_warnings(bench: Bench) -> list[Problem]:
    """What is odd or broken about assertions that no template names, in the order of the file's exports.

    Nothing where the file can't be imported: the check says so. An assertion that says `executable: False` may well be
    named by no template; a mistake in the capabilities as a whole is told once.
    """
    pack = bench.pack
    try:
        inspected = bench.inspection.assertions
    except OracleError:
        return []
    named = _named(pack)
    file = pack.files["assertions"]
    found = []
    for mistake in inspected["capability_mistakes"]:
        if not any(name in named for name in inspected["exports"]):
            code = "invalid_assertion_capability"
            found.append(_warning(code, mistake["message"], file, mistake["line"], mistake["column"]))
    for name, export in inspected["exports"].items():
        if name in named:
            continue
        broken = _broken(name, export)
        whole = bool(inspected["capability_mistakes"])
        if broken is not None and not (whole and broken.code == "invalid_assertion_capability"):
            message = f"{broken.message}; no template names it"
            found.append(_warning(broken.code, message, file, broken.line, broken.column))
        elif broken is not None or export["capabilities"]["executable"]:
            message = f"no template names the assertion `{cut(name, 60)}`"
            found.append(_warning("unused_assertion", message, file, export["line"]))
    found += [_warning(each["code"], each["message"], file, each["line"]) for each in inspected["oddities"]]
    return found


def _warning(code: str, message: str, file: str, line: int | None, column: int | None = None) -> Problem:
    reason = REASONS.get(code) or WARNINGS[code]
    return Problem(
        code=code,
        message=message,
        file=file,
        line=line,
        column=column,
        mend=reason.mend,
        severity="warning",
    )


CHECK = Check(id="4", name="assertions_importable", reasons=REASONS, run=run)
