"""`averment check`.

Find every mistake in assertion documents, each with its place and its mend.

The `examples` of each assertion are tried: it must pass and fail as they say. Nothing else is evaluated.
Checks that can't fail, contradictions and other oddities are warnings, or mistakes with `--strict`.
Exit 0: all documents are right. Exit 2: at least one is not. `-` is standard input.
"""

from __future__ import annotations

import argparse

from msgspec import UNSET

from averment.cli.parser import Parser
from averment.errors import DocumentError, ExitCode, Problem

__all__ = ["configure", "execute"]


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("documents", metavar="DOC", nargs="+", help="an assertion document, YAML or JSON")
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help="how to print; text by default"
    )
    parser.add_argument("--strict", action="store_true", help="take warnings for mistakes")


def execute(args: argparse.Namespace) -> int:
    """Checks each document and reports."""
    import msgspec

    from averment.cli.inputs import refuse_twice
    from averment.cli.outputs import say
    from averment.text.jsontext import pretty
    from averment.text.shown import brief, inert, inert_json

    refuse_twice(*args.documents)
    reports: list[dict[str, object]] = []
    mistakes = 0
    for name in args.documents:
        count, problems = _examine(name, strict=args.strict)
        found = sum(problem.severity == "error" for problem in problems)
        mistakes += found
        shown = [msgspec.to_builtins(problem) for problem in problems]
        reports.append({"document": name, "ok": not found, "assertions": count, "problems": shown})
        if args.format == "text":
            if problems:
                say(inert("\n".join(problem.render() for problem in problems) + "\n"), err=True)
            if not found:
                warned = f", {_counted(len(problems), 'warning')}" if problems else ""
                say(inert(f"{brief(name, 240)}: ok, {_counted(count, 'assertion')}{warned}\n"))
    if args.format == "json":
        say(inert_json(pretty({"documents": reports})))
    elif mistakes:
        say(f"{_counted(mistakes, 'mistake')} in {_counted(len(reports), 'document')}\n", err=True)
    return ExitCode.NO_VERDICT if mistakes else ExitCode.YES


def _examine(name: str, *, strict: bool) -> tuple[int, list[Problem]]:
    """How many assertions a document has, and all that is wrong with it."""
    from msgspec.structs import replace

    from averment.cli.inputs import load_document
    from averment.documents.lint import lint

    try:
        document = load_document(name)
    except DocumentError as error:
        return 0, list(error.problems)
    problems: list[Problem] = []
    if any(assertion.examples is not UNSET for assertion in document.assertions):
        from averment.engine.examples import try_examples

        problems += try_examples(document)
    problems += [replace(w, severity="error") if strict else w for w in lint(document)]
    return len(document.assertions), problems


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
