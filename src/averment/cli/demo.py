"""`averment demo`: catch an agent that said it issued a refund and never did."""

from __future__ import annotations

import click

__all__ = ["command"]

_FILES = ("refunds.yaml", "conversation.json")


@click.command("demo")
@click.option(
    "--into", "folder", default="averment-demo", show_default=True, help="The folder to write the files to."
)
def command(folder: str) -> None:
    """Catch an agent that said it issued a refund and never did.

    Writes a document and a conversation to a folder, judges the one by the other and keeps the envelope there.
    """
    from importlib.resources import files
    from pathlib import Path

    from averment.cli.outputs import say, wants_color, writing
    from averment.documents import Document
    from averment.engine import run
    from averment.errors import Problem, UsageError
    from averment.evidence import Evidence
    from averment.report.terminal import render

    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the folder can't be made: {error.strerror}"
        raise UsageError(Problem(code="output_unwritable", message=message, file=folder)) from None
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
