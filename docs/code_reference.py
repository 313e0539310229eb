# ruff: noqa: INP001 - a script, not part of a package
"""The reference pages of what is told of oracle packs: the checks, and every code with its mend.

`docs/build.py` asks for them. Checks and codes come from the tables that the checks themselves use.
"""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from averment.oracle.catalog.reasons import ARGUMENT_REASONS, DEFINITION_REASONS
from averment.oracle.certify import CHECKS, PARTS, check
from averment.oracle.checks.assertions_importable import WARNINGS
from averment.oracle.checks.representative_generation import WARNINGS as VACUOUS
from averment.oracle.child import audit, scan_names
from averment.oracle.compile.refusals import REFUSALS
from averment.oracle.findings import Reason
from averment.oracle.gold.reasons import REASONS as DROPPED
from averment.oracle.lint.codes import CODES as LINT
from averment.oracle.model.codes import CODES as LOADING
from averment.oracle.tasks.codes import CODES as TASKS
from averment.oracle.tasks.dependent import REASONS as UNDERIVED
from averment.oracle.tasks.trace_checks import REASONS as INVALID
from averment.oracle.tasks.trace_faults import FAULTS

__all__ = ["COMMANDS", "TROUBLES", "pages"]

_MARKDOWN = runpy.run_path(str(Path(__file__).with_name("markdown.py")))
documentation, table = _MARKDOWN["documentation"], _MARKDOWN["table"]


def pages() -> dict[str, str]:
    """The Markdown of both pages, by its path below `docs/reference/packs/`."""
    return {"checks.md": _checks(), "codes.md": _codes()}


# Checks.

_WITHOUT_CODE = {"1", "2"}
_PAGES = {
    "4": "[`assertions.py`](../../packs/assertions.md) has more on each reason.",
    "7": (
        "`replay_reason` and `drop_reason` are those of [dropped tasks](codes.md#dropped-tasks), `code` one of those that "
        "[stop a build](codes.md#no-tasks-can-be-made)."
    ),
}


def _checks() -> str:
    lines = [
        "# Checks",
        "",
        (
            "What `averment pack check` asks of a pack, in the order in which it asks. A pack is *gold* when every check passes. "
            "[What validation proves](../../packs/what-validation-proves.md) says what that means, and what it does not."
        ),
        "",
        (
            "Any check can be *skipped*, with the reason `not_run` and a sentence that says why; that is no pass. A check that "
            "needs another one to pass is skipped where that one does not."
        ),
        "",
    ]
    parts = {name: part for part, names in PARTS.items() for name in names}
    for name in CHECKS:
        each = check(name)
        about = documentation(import_module(f"averment.oracle.checks.{CHECKS[name]}"))
        text = about.partition(": ")[2]
        lines += [f"## {name} {each.name}", "", f"{text[0].upper()}{text[1:]}", ""]
        runs = (
            "reads the files alone"
            if name in _WITHOUT_CODE
            else "asks the oracle"
            if name == "A1"
            else "runs code"
        )
        alone = (
            f"`--only {parts[name]}` makes it without the others" if name in parts else "a whole run makes it"
        )
        lines += [f"It {runs}; {alone}. {_PAGES.get(name, '')}".rstrip(), ""]
        if each.reasons:
            lines += [*_reasons("reason", each.reasons), ""]
    return "\n".join(lines)


# Codes.

COMMANDS = {
    "not_tools": Reason(
        "`--tools` names a file that is no list of tools.",
        "Give an OpenAI list, an MCP answer, or OpenAPI 3.",
    ),
    "unsupported_openapi": Reason(
        "The OpenAPI description has another version.", "Convert it to 3.0 or 3.1."
    ),
    "no_tools": Reason("The file of tools has none.", "Give a file with at least one."),
    "too_many_tools": Reason("The file has too many tools.", "Keep those that the pack is about."),
    "tools_too_large": Reason(
        "The schemas of the tools are too large.", "Keep the tools that the pack is about."
    ),
    "not_a_function": Reason("An entry of an OpenAI list is no function.", "Take it out."),
    "invalid_tool_name": Reason("A tool has no usable name.", "Give it one."),
    "duplicate_tool": Reason("Two tools have one name.", "Rename or remove one of them."),
    "invalid_pack_name": Reason(
        "No pack id can be made of the name.", "Use letters, digits, spaces and `_`."
    ),
    "invalid_version": Reason("`--version` is no version.", "Write one as in `0.1.0`."),
    "invalid_language": Reason("`--language` is no language tag.", "Write one as in `en` or `pt-BR`."),
    "invalid_target": Reason("`--target` is no path.", "Give a folder to make."),
    "target_exists": Reason("Something is at the target; nothing of it was changed.", "Give another target."),
    "output_unwritable": Reason(
        "A pack or a report can't be written there.", "Make the folder above, or give another."
    ),
    "output_exists": Reason(
        "`pack compile` would replace a file that says something else.", "Give `--out`, or `--force`."
    ),
    "path_outside_pack": Reason(
        "The manifest's `paths.tools` leads out of the pack.", "Put the file into the pack."
    ),
    "file_unreadable": Reason("A file that a command was given can't be read.", "Check the path."),
    "oracle_unreachable": Reason(
        "The service behind a pack can't be reached.", "See that it runs at `base_url`."
    ),
    "isolation_too_weak": Reason(
        "Workers are shut in less than `--require-isolation` asks.",
        "Run where the kernel enforces it, or require less.",
    ),
    "pack_changed": Reason(
        "A file of the pack changed while it was checked, or built.",
        "Start again, with nobody writing to it.",
    ),
    "oracle_unusable": Reason(
        "The oracle gave no answer whatever was asked of it: its service is gone, or the machine has no room for workers.",
        "Give the same command again: a build goes on where it was.",
    ),
    "output_inside_pack": Reason("`--out` is a folder of the pack.", "Give a folder outside the pack."),
    "output_in_use": Reason(
        "Another build is at work in the folder.", "Wait for it to end, or give another folder."
    ),
    "tier_too_low": Reason(
        "Exit 1: the pack is below the tier that is built.",
        "See `averment pack check`, or give `--allow-tier silver`.",
    ),
    "nothing_gold": Reason(
        "Exit 1: every task was dropped.", "Read `dropped.jsonl`, and mend what it tells."
    ),
}
"""Why a command gives no verdict; the places that refuse say more."""

TROUBLES = {
    "raised": "the code raised, or the service answered with an error status",
    "timeout": "no answer within the deadline; the worker and all that it started were killed",
    "died": "the worker ended by itself: an exit, a signal, out of memory",
    "result_too_large": "an answer of more than 10 MiB of JSON, or than the endpoint's limit",
    "result_not_json": "an answer that is no JSON: NaN, an infinity, keys that are no texts, other objects",
    "load_failed": "the module can't be imported",
    "missing_symbol": "the module has no such function",
    "unreachable": "no connection, a failure of TLS, a redirect",
    "protocol": "an answer that the endpoint's protocol does not know",
    "identity_mismatch": "the service is not the one that the pack pins",
}
"""Why a step of an episode had no answer: the fact `trouble` of a failure."""


def _codes() -> str:
    scan = {name: Reason(each["about"], each["mend"]) for name, each in scan_names.CODES.items()}
    warnings = {name: each for name, each in LOADING.items() if _is_warning(each)}
    loading = {name: each for name, each in LOADING.items() if name not in warnings}
    sections: list[tuple[str, str, list[str]]] = [
        (
            "The pack can't be loaded",
            (
                "Exit 2: no check is made. All of them are told at once, under `findings` of the report. A file that is "
                "no YAML 1.2 or JSON has the codes of [the reader](../../yaml.md): `yaml_syntax`, `json_syntax`, "
                "`duplicate_key` and the like."
            ),
            _reasons("code", loading),
        ),
        (
            "Warnings of loading",
            "Under `lint` of the report; they change no tier. With `--strict` they are mistakes.",
            _reasons("code", warnings),
        ),
        (
            "Warnings of lint",
            "What is legal and looks wrong. Under `lint`; they change no tier.",
            _reasons("code", LINT),
        ),
        (
            "Warnings about assertions",
            (
                "Besides the reasons of [check 4](checks.md#4-assertions_importable), for assertions that no template names; and "
                "what [the kill table](../../packs/what-validation-proves.md#the-kill-table) says of those that templates do."
            ),
            _reasons("code", {**WARNINGS, **VACUOUS}),
        ),
        (
            "Warnings of the scan",
            (
                "What the text of the pack's Python files reads, changes or depends on; nothing was run for it. The scan is "
                "silent where it is not sure."
            ),
            _reasons("code", scan),
        ),
        (
            "Reasons of checks",
            "They stand [with their checks](checks.md): each row that fails has failures with one of its own reasons.",
            table(
                ("reason", "checks"),
                [(f"`{reason}`", ", ".join(each)) for reason, each in sorted(_by_reason().items())],
            ),
        ),
        (
            "Troubles of steps",
            "The fact `trouble` of `raised`, `list_tools_failed`, `assertions_import_failed` and check 7: why there is no answer.",
            table(("trouble", "what happened"), [(f"`{name}`", about) for name, about in TROUBLES.items()]),
        ),
        (
            "Attempts",
            (
                "Under `audit` of the report: what the pack's code tried while it ran, with file and line. Check I1 fails on "
                "those that leave the worker; the others are for you to read."
            ),
            table(("kind", "the pack"), [(f"`{name}`", about) for name, about in audit.KINDS.items()]),
        ),
        (
            "Arguments that a schema refuses",
            "Under `schema_failures` of `successful_validation_case_schema_mismatch`, and of gold calls.",
            _reasons("reason", ARGUMENT_REASONS),
        ),
        (
            "Specs that don't compile",
            "`averment pack compile`; exit 2, and nothing is written.",
            _reasons("code", REFUSALS),
        ),
        (
            "No tasks can be made",
            "`averment pack build`; exit 2. What check 1 and check 2 find stops it as well, with their reasons.",
            _reasons("code", {**TASKS, **FAULTS}),
        ),
        (
            "Dropped tasks",
            "`reason` of a line of [`dropped.jsonl`](../../packs/build.md#dropped-tasks).",
            _reasons("reason", DROPPED),
        ),
        (
            "Calls that can't be worked out",
            "Under `failures` of a task that is dropped as `trace_not_derived`.",
            _reasons("reason", UNDERIVED),
        ),
        (
            "Calls that are no gold",
            (
                "Under `failures` of a task that is dropped as `expected_trace_schema_mismatch`, with the reasons of "
                "[arguments](#arguments-that-a-schema-refuses)."
            ),
            _reasons("reason", {name: INVALID[name] for name in INVALID if name not in ARGUMENT_REASONS}),
        ),
        (
            "Commands that give no verdict",
            "`averment pack new`, `check`, `build` and `compile`; exit 2 but where it is said.",
            _reasons("code", COMMANDS),
        ),
    ]
    lines = [
        "# Codes",
        "",
        "Every finding has a code for programs, and each code has one meaning and a next step.",
        "",
    ]
    for heading, about, rows in sections:
        lines += [f"## {heading}", "", about, "", *rows, ""]
    return "\n".join(lines)


def _by_reason() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"not_run": ["any"]}
    for name in CHECKS:
        each = check(name)
        for reason in each.reasons:
            anchor = f"{name} {each.name}".lower().replace(" ", "-")
            found.setdefault(reason, []).append(f"[{name}](checks.md#{anchor})")
    for reason in DEFINITION_REASONS:
        found.setdefault(reason, ["3"])
    return found


def _is_warning(reason: Reason) -> bool:
    return reason.about.startswith("Warning: ")


def _reasons(first: str, reasons: Mapping[str, Reason]) -> list[str]:
    rows = [(f"`{name}`", _sentence(each.about), _sentence(each.mend)) for name, each in reasons.items()]
    return table((first, "it means", "what to do"), rows)


def _sentence(text: str) -> str:
    text = text.removeprefix("Warning: ")
    return f"{text[0].upper()}{text[1:].rstrip('.')}."
