"""`averment pack check`.

Certify an oracle pack: load it, run every check, and say which tier it has reached and what is in the way.

The pack's code runs in processes of its own, without network, without files outside the pack, in two made-up worlds that
differ in clock, time zone, locale, hash seed, folder and randomness; what reads the world gives two answers and is told.
`--only` checks one part: `manifest` and `templates` without running anything, `tools`, `assertions`, `cases` and `tasks`
with the pack's code.

The whole report is written to the output directory as oracle_validation_report.json; with `--format json` it is printed.
Exit 0: gold (with --only: nothing wrong). Exit 1: not gold. Exit 2: no verdict, because the pack can't be loaded, its
service not reached, or workers not shut in as well as required.

Examples:
  averment pack check lending
  averment pack check lending --only assertions
  averment pack check lending --require-isolation confined --format json
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from averment.cli.parser import Parser, positive
from averment.errors import ExitCode, PackError, Problem, UsageError

__all__ = ["configure", "execute"]

_REPORT = "oracle_validation_report.json"
_PARTS = ("manifest", "tools", "templates", "assertions", "cases", "tasks")


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("pack", metavar="DIR", help="the pack's directory")
    parser.add_argument("--only", choices=_PARTS, help="check this part alone")
    parser.add_argument(
        "--config", metavar="FILE", help="run options, YAML or JSON; the defaults apply without"
    )
    about = "where the report goes; .averment/NAME by default, and nowhere with --only"
    parser.add_argument("--output-dir", metavar="DIR", help=about)
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help="how to print; text by default"
    )
    parser.add_argument("--strict", action="store_true", help="take unknown keys for mistakes")
    about = "refuse to run code with less: `guarded` is a process with limits, `confined` the kernel's refusal as well"
    parser.add_argument("--require-isolation", metavar="LEVEL", choices=["guarded", "confined"], help=about)
    about = "episodes that run side by side; by default one for each processor, at most 8"
    parser.add_argument("-j", "--jobs", metavar="N", type=positive, help=about)


def execute(args: argparse.Namespace) -> int:
    """Certifies, writes the report, prints."""
    from averment.cli.outputs import say, wants_color
    from averment.oracle.certify import certify
    from averment.oracle.model.options import Options, load_options
    from averment.oracle.report import report
    from averment.report.packs import render_certification
    from averment.text.jsontext import pretty
    from averment.text.shown import printable

    try:
        options = Options() if args.config is None else load_options(args.config, strict=args.strict)
    except PackError as error:
        _refuse(args, _output(args), error)
        raise
    if options.warnings:
        say("".join(f"{warning.render()}\n" for warning in options.warnings), err=True)
    output = _output(args, options.output_dir)
    try:
        found = certify(
            args.pack,
            options,
            strict=args.strict,
            only=args.only,
            jobs=args.jobs or min(os.cpu_count() or 1, 8),
            require=args.require_isolation,
            progress=_progress,
        )
    except PackError as error:
        _refuse(args, output, error)
        raise
    finally:
        _progress(None)
    shown = pretty(report(found))
    _write(output, shown)
    if args.format == "json":
        say(shown)
    else:
        where = f"report: {printable(output, 1000)}\n" if output else ""
        say(render_certification(found, color=wants_color()) + where)
    return ExitCode.YES if found.passed else ExitCode.NO


def _refuse(args: argparse.Namespace, output: str | None, error: PackError) -> None:
    """The report of what could not be checked."""
    from averment.cli.outputs import say
    from averment.oracle.report import refusal
    from averment.text.jsontext import pretty

    shown = pretty(refusal(error.problems))
    _write(output, shown)
    if args.format == "json":
        say(shown)


def _output(args: argparse.Namespace, configured: str | None = None) -> str | None:
    """The report's path; None where none is written. The folder is made before any work is done."""
    folder = args.output_dir
    if folder is None and args.only is None:
        folder = configured
    if folder is None:
        if args.only is not None or not os.path.lexists(os.path.join(args.pack, "manifest.yaml")):
            return None  # what is no pack leaves no folder behind
        folder = os.path.join(".averment", os.path.basename(os.path.realpath(args.pack)))
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        message = f"the folder can't be made: {error.strerror}"
        mend = "Give another with `--output-dir`."
        raise UsageError(Problem(code="output_unwritable", message=message, file=folder, mend=mend)) from None
    return os.path.join(folder, _REPORT)


def _write(path: str | None, text: Any) -> None:
    from averment.cli.outputs import writing

    if path is not None:
        with writing(path) as write:
            write(text if isinstance(text, bytes) else text.encode())


def _progress(check: Any) -> None:
    """The check that runs, on a terminal and nowhere else."""
    if sys.stderr.isatty():
        text = "" if check is None else f"{check.id} {check.name} ..."
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
