"""`averment pack new`.

Start an oracle pack: a small one that works, or a draft from a list of tools.

The pack is complete and passes every check. A draft has stubs where the list of tools doesn't say what they do, and a
list of what it lacks, here and at the end of its README.md.

Examples:
  averment pack new "library loans" --target library
  averment pack new clinic --target clinic --language vi --held-out
  averment pack new shop --target shop --tools openapi.yaml
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from averment.cli.parser import Parser
from averment.errors import AvermentError, ExitCode, Problem, UsageError

if TYPE_CHECKING:
    from averment.oracle.scaffold.given.tools import Given
    from averment.oracle.scaffold.new import NewPack

__all__ = ["configure", "execute"]

_SHOWN_NAMES = 8
_SHOWN_CHANGES = 12


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("name", metavar="NAME", help="what the pack is called; its id is made of it")
    parser.add_argument(
        "--target", metavar="DIR", required=True, help="the folder to make; it must not exist"
    )
    parser.add_argument(
        "--transport",
        choices=["python", "endpoint"],
        default="python",
        help="what the oracle is: Python code, or an HTTPS service; python by default",
    )
    parser.add_argument(
        "--language",
        metavar="TAG",
        default="en",
        help="the language of the texts, as in `pt-BR`; en by default",
    )
    parser.add_argument(
        "--version", metavar="VERSION", default="0.1.0", help="the pack's version; 0.1.0 by default"
    )
    parser.add_argument(
        "--held-out", action="store_true", help="reserve a row that no published task may use"
    )
    about = "draft from these tools: an OpenAI list, an MCP `tools/list` answer, or OpenAPI 3; JSON or YAML"
    parser.add_argument("--tools", metavar="FILE", help=about)


def execute(args: argparse.Namespace) -> int:
    """Writes the pack, and says what to do next."""
    from averment.oracle.scaffold.identity import identity
    from averment.oracle.scaffold.new import new_pack
    from averment.oracle.scaffold.writing import refusal, write_folder

    problems: list[Problem] = []
    pack = given = None
    try:
        pack = identity(
            args.name,
            version=args.version,
            language=args.language,
            transport=args.transport,
            held_out=args.held_out,
        )
    except AvermentError as error:
        problems += error.problems
    target = refusal(args.target)
    if target:
        problems.append(target)
    if args.tools is not None:
        from averment.oracle.scaffold.given.reading import read_tools

        try:
            given = read_tools(_bytes(args.tools), name=args.tools)
        except AvermentError as error:
            problems += error.problems
    if problems or pack is None:
        raise UsageError(problems)
    made = new_pack(pack, given)
    write_folder(args.target, made.files)
    from averment.cli.outputs import say

    say(_report(args.target, pack.pack_id, made, given))
    return ExitCode.YES


def _report(target: str, pack_id: str, made: NewPack, given: Given | None) -> str:
    import shlex

    lines = [target, f"  the pack `{pack_id}`, {len(made.files)} files: {', '.join(made.files)}"]
    if given is not None:
        count = len(given.tools)
        lines.append(f"  {count} tool{'' if count == 1 else 's'} from {given.kind}")
        lines += _changes(given)
    if made.lacks:
        lines += ["", "Missing for gold:"]
        for number, lack in enumerate(made.lacks, 1):
            names = ", ".join(lack.names[:_SHOWN_NAMES])
            more = len(lack.names) - _SHOWN_NAMES
            names += f", and {more} more (README.md)" if more > 0 else ""
            lines.append(f"  {number}. {lack.about}{': ' + names if names else ''}")
    lines += ["", "Next:", f"  averment pack check {shlex.quote(target)}"]
    return "\n".join(lines) + "\n"


def _changes(given: Given) -> list[str]:
    """What was changed on the way, each kind of change once; README.md has all of it."""
    from averment.oracle.scaffold.subset.changes import EFFECTS, grouped

    kinds = [
        f"    {about} ({EFFECTS[effect]}): {len(places)}"
        for (effect, about), places in grouped(given.changes).items()
    ]
    told = [*(f"    {remark}" for remark in given.remarks[:_SHOWN_CHANGES]), *kinds[:_SHOWN_CHANGES]]
    more = len(given.remarks) + len(kinds) - len(told)
    if not told:
        return []
    return [
        "  changed on the way:",
        *told,
        *([f"    and {more} more"] if more else []),
        "    README.md has the places",
    ]


def _bytes(path: str) -> bytes:
    from averment.text.source import MAX_DOCUMENT_BYTES

    try:
        with open(path, "rb") as file:
            return file.read(MAX_DOCUMENT_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a usable name"
        raise UsageError(
            Problem(
                code="file_unreadable",
                message=f"the tools can't be read: {why}",
                file=path,
                expected="a file with an OpenAI list of tools, an MCP `tools/list` answer, or OpenAPI 3",
            )
        ) from None
