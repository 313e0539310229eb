"""`averment kinds`.

List all kinds of assertions, or show one with its rule and its fields.
"""

from __future__ import annotations

import argparse

from averment.cli.parser import Parser
from averment.errors import ExitCode, Problem, UsageError, nearest

__all__ = ["configure", "execute"]


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="the kind to show")
    about = "how to print a kind; markdown is what the reference pages are made of"
    parser.add_argument("--format", choices=["text", "markdown"], default="text", help=about)


def execute(args: argparse.Namespace) -> int:
    """Prints the list, or the kind."""
    from averment.assertions import KINDS
    from averment.cli.outputs import say
    from averment.report.kinds import as_markdown, as_text, headline

    if args.name is None:
        width = max(map(len, KINDS))
        say("".join(f"{kind:<{width}}  {headline(kind)}\n" for kind in KINDS))
        return ExitCode.YES
    if args.name not in KINDS:
        raise UsageError(
            Problem(
                code="unknown_kind",
                message=f"there is no kind `{args.name}`",
                expected=f"one of {', '.join(KINDS)}",
                nearest=nearest(args.name, KINDS),
            )
        )
    say(as_markdown(args.name) if args.format == "markdown" else as_text(args.name))
    return ExitCode.YES
