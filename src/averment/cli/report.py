"""`averment report`.

Make reports of verdicts that were kept: an ENVELOPE that `averment run --output` wrote, or the lines of `--results`.

Without evidence a report has the results only, and says so. The evidence and the document that were judged are given
with --evidence and --document, and known by their digests: others are refused.

Examples:
  averment report envelope.json --html report.html
  averment report envelope.json --evidence call.json --document refunds.yaml --html report.html
  averment report results.jsonl --markdown - --junit verdicts.xml
"""

from __future__ import annotations

import argparse

from averment.cli.parser import Parser
from averment.errors import ExitCode, Problem, UsageError

__all__ = ["configure", "execute"]


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    from averment.cli.inputs import add_reading
    from averment.cli.verdicts import add_reports

    parser.add_argument(
        "envelopes", metavar="ENVELOPE", nargs="+", help="what was kept; `-` is standard input"
    )
    parser.add_argument(
        *("--evidence", "-e"),
        metavar="FILE",
        nargs="+",
        action="extend",
        default=[],
        help="what was recorded",
    )
    parser.add_argument(
        *("--document", "-d"),
        metavar="DOC",
        nargs="+",
        action="extend",
        default=[],
        help="what it was judged by",
    )
    add_reading(parser)
    add_reports(parser.add_argument_group("reports (`-` is standard output)"))


def execute(args: argparse.Namespace) -> int:
    """Reads what was kept, and writes the reports."""
    from averment.cli.inputs import load_conversations, load_document, read_bytes, reading, refuse_twice
    from averment.cli.outputs import refuse_overwriting
    from averment.cli.verdicts import REPORTS, named_outputs, reporting
    from averment.verdicts.stored import completed, read_stored

    refuse_twice(*args.envelopes, *args.evidence, *args.document)
    read = (*args.envelopes, *args.evidence, *args.document, args.mapping)
    refuse_overwriting(named_outputs(args), read)
    if all(getattr(args, name) is None for name in REPORTS) and not args.github:
        expected = f"one of {', '.join(f'--{name} FILE' for name in REPORTS)}, or --github"
        raise UsageError(Problem(code="usage", message="no report is asked for", expected=expected))
    with reporting(args) as report:
        problems: list[Problem] = []
        kept = []
        for name in args.envelopes:
            try:
                kept += read_stored(read_bytes(name), name)
            except UsageError as error:
                problems += error.problems
        if problems:
            raise UsageError(problems)
        how = reading(args)
        evidences = [
            evidence for name in args.evidence for _, evidence in load_conversations(name, how, wanted=None)
        ]
        report(completed(kept, evidences, [load_document(name) for name in args.document]))
    return ExitCode.YES
