"""`averment pack compile`.

Compile declarative specs of assertions to the predicates of an `assertions.py`, all of them or none.

SPECS is a list of specs, or an object with the list as `assertions` or `specs`, in JSON or YAML; `-` is standard input.
Tools that specs name must be published: give the catalog with --tools or --pack, and see which tools have an
assertion of their own. Every reason to refuse a spec is told, and then nothing is written.

An existing file is replaced with --force alone, unless it says the same already. Exit 0: the file is there.
Exit 2: something was refused.

Examples:
  averment pack compile specs.json --tools tools.json --out assertions.py
  averment pack compile specs.yaml --pack lending --resolved tool_dependencies --out lending/assertions.py
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from averment.cli.parser import Parser
from averment.errors import DocumentError, ExitCode, Problem, UsageError, nearest

__all__ = ["configure", "execute"]

_STDIN = "-"


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("specs", metavar="SPECS", help="a file of specs, JSON or YAML; `-` is standard input")
    parser.add_argument(
        "--out",
        metavar="FILE",
        default="assertions.py",
        help="the file to write, `assertions.py` by default; `-` is standard output",
    )
    catalog = parser.add_mutually_exclusive_group()
    catalog.add_argument("--tools", metavar="FILE", help="the catalog of published tools, a `tools.json`")
    catalog.add_argument("--pack", metavar="DIR", help="the pack whose catalog is meant")
    parser.add_argument(
        "--resolved",
        metavar="NAMES",
        help="what has been observed of the oracle, with commas: all other unknowns count as open",
    )
    parser.add_argument("--force", action="store_true", help="replace an existing file")
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help="how to report; text by default"
    )


def execute(args: argparse.Namespace) -> int:
    """Compiles, writes, reports."""
    import msgspec

    from averment.cli.outputs import say
    from averment.text.jsontext import pretty

    if args.out == "-" and args.format == "json":
        message = "standard output can't be both the code and the report"
        raise UsageError(Problem(code="usage", message=message, mend="Name a file with `--out`."))
    resolved = None if args.resolved is None else _unknowns(args.resolved)
    try:
        report = _compiled(args, resolved)
    except DocumentError as error:
        if args.format == "text":
            raise
        say(pretty({"ok": False, "problems": [msgspec.to_builtins(each) for each in error.problems]}))
        return ExitCode.NO_VERDICT
    if args.format == "json":
        say(pretty(report))
    else:
        say(_text(report), err=args.out == "-")
    return ExitCode.YES


def _compiled(args: argparse.Namespace, resolved: frozenset[str] | None) -> dict[str, Any]:
    """Writes the file, and says what is in it."""
    from averment.cli.outputs import writing
    from averment.oracle.compile.coverage import direct_coverage
    from averment.oracle.compile.predicates import assertions_module
    from averment.oracle.compile.published import published_tools
    from averment.oracle.compile.specs import read_specs
    from averment.text.source import read_source

    problems: list[Problem] = []
    tools, code, specs = None, b"", []
    try:
        catalog = args.tools if args.pack is None else _catalog_of(args.pack)
        tools = None if catalog is None else published_tools(read_source(_read(catalog), name=catalog))
    except DocumentError as error:
        problems += error.problems
    try:
        name = "<stdin>" if args.specs == _STDIN else args.specs
        specs = read_specs(read_source(_read(args.specs), name=name), tools=tools, resolved=resolved)
        code = assertions_module(specs).encode()
    except DocumentError as error:
        problems += error.problems
    if problems:
        raise DocumentError(problems)
    if not _says_already(args.out, code, force=args.force):
        with writing(args.out) as write:
            write(code)
    ordered = sorted(specs, key=lambda spec: spec.assertion_id)
    coverage = None if tools is None else direct_coverage(specs, tools)
    return {
        "ok": True,
        "output": args.out,
        "assertions": [
            {
                "name": spec.name,
                "predicate": spec.predicate,
                "tools": [*([spec.tool] if spec.predicate == "tool_called_after" else []), spec.target],
            }
            for spec in ordered
        ],
        "coverage": coverage,
        "uncovered": None if coverage is None else [name for name, by in coverage.items() if not by],
        "problems": [],
    }


def _unknowns(text: str) -> frozenset[str]:
    from averment.oracle.compile.specs import UNKNOWNS

    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in UNKNOWNS:
            raise UsageError(
                Problem(
                    code="usage",
                    message=f"`--resolved` names `{name}`, which is no unknown",
                    expected=f"some of {', '.join(UNKNOWNS)}",
                    nearest=nearest(name, UNKNOWNS),
                )
            )
    return frozenset(names)


def _catalog_of(pack: str) -> str:
    """The path of a pack's catalog: where its manifest says, or `tools.json`."""
    from averment.text.source import read_source

    manifest = os.path.join(pack, "manifest.yaml")
    value = read_source(_read(manifest), name=manifest).value
    paths = value.get("paths") if isinstance(value, dict) else None
    written = paths.get("tools") if isinstance(paths, dict) else None
    path = os.path.join(pack, written if isinstance(written, str) else "tools.json")
    root = os.path.realpath(pack)
    if os.path.commonpath([root, os.path.realpath(path)]) != root:
        message = "the manifest's `paths.tools` leads out of the pack"
        raise DocumentError(Problem(code="path_outside_pack", message=message, file=manifest))
    return path


def _read(name: str) -> bytes:
    from averment.text.source import MAX_DOCUMENT_BYTES

    if name == _STDIN:
        return sys.stdin.buffer.read(MAX_DOCUMENT_BYTES + 1)
    try:
        # A pipe or a device would block, or never end.
        if os.path.isfile(name):
            with open(name, "rb") as file:
                return file.read(MAX_DOCUMENT_BYTES + 1)
        why = "it is not a regular file" if os.path.exists(name) else "it does not exist"
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a usable name"
    raise DocumentError(
        Problem(
            code="file_unreadable",
            message=f"the file can't be read: {why}",
            file=name,
            mend="Check the path, which is relative to the working folder.",
        )
    )


def _says_already(name: str, code: bytes, *, force: bool) -> bool:
    """Whether the file holds this code; a file that holds something else is only replaced by force."""
    if name == "-" or not os.path.lexists(name):
        return False
    try:
        with open(name, "rb") as file:
            same = os.path.isfile(name) and file.read(len(code) + 1) == code
    except OSError:
        same = False
    if same or force:
        return same
    raise UsageError(
        Problem(
            code="output_exists",
            message="the file exists and says something else",
            file=name,
            mend="Give another with `--out`, or replace it with `--force`.",
        )
    )


def _text(report: dict[str, Any]) -> str:
    from averment.text.shown import printable

    assertions, coverage = report["assertions"], report["coverage"]
    rows = [(each["name"], each["predicate"], " -> ".join(each["tools"])) for each in assertions]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{report['output']}: {len(rows)} assertion{'' if len(rows) == 1 else 's'}"]
    lines += [f"  {name:<{widths[0]}}  {predicate:<{widths[1]}}  {tools}" for name, predicate, tools in rows]
    if coverage is None:
        lines.append("The names of tools were not checked; give the catalog with `--tools` or `--pack`.")
    else:
        covered = len(coverage) - len(report["uncovered"])
        lines.append(f"tools with a `tool_called` of their own: {covered} of {len(coverage)}")
        shown = {name: printable(name, 80) for name in coverage}
        width = max(map(len, shown.values()), default=0)
        lines += [f"  {shown[name]:<{width}}  {', '.join(by) or 'none'}" for name, by in coverage.items()]
    return "\n".join(lines) + "\n"
