"""`averment schema`.

Print the JSON Schema (2020-12) of assertion documents, suites, envelopes, lines of results, comparisons of runs, evidence,
mapping files, a file of oracle packs, a report on one, or a file of its benchmark.
"""

from __future__ import annotations

import argparse

from averment.cli.parser import Parser
from averment.errors import ExitCode

__all__ = ["NAMES", "configure", "execute"]

NAMES = (
    *("document", "suite", "envelope", "results", "diff", "evidence", "mapping"),
    *("pack-manifest", "pack-tools", "pack-templates", "pack-cases"),
    *("pack-fixtures", "pack-held-out", "pack-endpoint", "pack-options", "pack-report", "pack-grade"),
    *("pack-row", "pack-dropped-row", "pack-run-manifest", "pack-build-environment"),
)
"""Whose schema there is; written out, because the modules that make them take long to import."""


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("name", choices=NAMES, help="whose schema")


def execute(args: argparse.Namespace) -> int:
    """Prints the schema."""
    from averment.cli.outputs import say
    from averment.report.schemas import schema
    from averment.text.jsontext import pretty

    say(pretty(schema(args.name)))
    return ExitCode.YES
