"""`averment demo`.

Catch an agent that said it issued a refund and never did.

Writes a document and a conversation to a folder, judges the one by the other and keeps the envelope there.
"""

from __future__ import annotations

import argparse

from averment.cli.parser import Parser
from averment.errors import ExitCode, Problem, UsageError

__all__ = ["configure", "execute"]

_FILES = ("refunds.yaml", "conversation.json")


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    about = "the folder to write the files to; averment-demo by default"
    parser.add_argument("--into", metavar="FOLDER", default="averment-demo", help=about)


def execute(args: argparse.Namespace) -> int:
    """Writes the files, judges, reports; the demonstration succeeds when the gate says no."""
    from importlib.resources import files
    from pathlib import Path

    from averment.cli.outputs import say, wants_color, writing
    from averment.documents import Document
    from averment.engine import run
    from averment.evidence import Evidence
    from averment.report.terminal import render

    target = Path(args.into)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the folder can't be made: {error.strerror}"
        raise UsageError(Problem(code="output_unwritable", message=message, file=args.into)) from None
    document, conversation = (target / name for name in _FILES)
    for path in (document, conversation):
        with writing(str(path)) as write:
            write(files("averment.demo").joinpath(path.name).read_bytes())
    evidence = Evidence.load(conversation)
    checked = Document.load(document)
    envelope = run(checked, evidence)
    output = target / "envelope.json"
    with writing(str(output)) as write:
        write(envelope.to_json())
    say(render(envelope, checked, evidence.model, source=str(conversation), color=wants_color()))
    say(
        f"\nThe envelope with all results and their grounds: {output}\n"
        f"The same again, with the exit code that would have stopped a pull request:\n"
        f"  averment run {document} {conversation}; echo $?\n"
    )
    return ExitCode.YES
