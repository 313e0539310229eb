"""`averment check`.

Find every mistake in assertion documents, each with its place and its mend.

Nothing is evaluated. Exit 0: all documents are right. Exit 2: at least one is not. `-` is standard input.
"""

from __future__ import annotations

import argparse

from averment.cli.parser import Parser
from averment.errors import DocumentError, ExitCode

__all__ = ["configure", "execute"]


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("documents", metavar="DOC", nargs="+", help="an assertion document, YAML or JSON")
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help="how to print; text by default"
    )


def execute(args: argparse.Namespace) -> int:
    """Checks each document and reports."""
    import msgspec

    from averment.cli.inputs import load_document, refuse_twice
    from averment.cli.outputs import say
    from averment.text.jsontext import pretty

    refuse_twice(*args.documents)
    reports: list[dict[str, object]] = []
    mistakes = 0
    for name in args.documents:
        try:
            document = load_document(name)
        except DocumentError as error:
            mistakes += len(error.problems)
            reports.append(
                {"document": name, "ok": False, "problems": [msgspec.to_builtins(p) for p in error.problems]}
            )
            if args.format == "text":
                say(f"{error}\n", err=True)
        else:
            count = len(document.assertions)
            reports.append({"document": name, "ok": True, "assertions": count, "problems": []})
            if args.format == "text":
                say(f"{name}: ok, {_counted(count, 'assertion')}\n")
    if args.format == "json":
        say(pretty({"documents": reports}))
    elif mistakes:
        say(f"{_counted(mistakes, 'mistake')} in {_counted(len(reports), 'document')}\n", err=True)
    return ExitCode.NO_VERDICT if mistakes else ExitCode.YES


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
