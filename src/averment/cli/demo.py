"""`averment demo`.

Catch an agent that said it issued a refund and never did.

Writes a document and a conversation to a folder, judges the one by the other and keeps the envelope there. It replaces
no file that you have changed.
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

    from averment.cli.outputs import look, say, writing
    from averment.documents import Document
    from averment.engine import run
    from averment.evidence import Evidence
    from averment.report.terminal import render

    target = Path(args.into)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the folder can't be made: {error.strerror}"
        mend = "Give another with `--into`."
        raise UsageError(
            Problem(code="output_unwritable", message=message, file=args.into, mend=mend)
        ) from None
    bundled = {target / name: files("averment.demo").joinpath(name).read_bytes() for name in _FILES}
    changed = [path for path, data in bundled.items() if path.is_file() and path.read_bytes() != data]
    if changed:
        message = "the file was changed since, and would be overwritten"
        mend = "Give another folder with `--into`, or remove the file."
        raise UsageError(
            Problem(code="output_exists", message=message, file=str(path), mend=mend) for path in changed
        )
    for path, data in bundled.items():
        with writing(str(path)) as write:
            write(data)
    document, conversation = bundled
    evidence = Evidence.load(conversation)
    checked = Document.load(document)
    envelope = run(checked, evidence)
    output = target / "envelope.json"
    with writing(str(output)) as write:
        write(envelope.to_json())
    say(render(envelope, checked, evidence.model, source=str(conversation), look=look()))
    say(
        f"\nThe envelope with all results and their grounds: {output}\n"
        f"The same again, with the exit code that would have stopped a pull request:\n"
        f"  averment run {document} {conversation}; echo $?\n"
    )
    return ExitCode.YES
