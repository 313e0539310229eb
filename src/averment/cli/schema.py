"""`averment schema`.

Print the JSON Schema (2020-12) of assertion documents, envelopes, evidence or mapping files.
"""

from __future__ import annotations

import argparse

from averment.cli.parser import Parser
from averment.errors import ExitCode

__all__ = ["configure", "execute"]


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("name", choices=["document", "envelope", "evidence", "mapping"], help="whose schema")


def execute(args: argparse.Namespace) -> int:
    """Prints the schema."""
    from averment.cli.outputs import say
    from averment.report.schemas import schema
    from averment.text.jsontext import pretty

    say(pretty(schema(args.name)))
    return ExitCode.YES
