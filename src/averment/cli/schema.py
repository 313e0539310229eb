"""`averment schema`: JSON Schemas for editors and consumers."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("schema")
@click.argument("name", type=click.Choice(["document", "envelope", "evidence"]))
def command(name: str) -> None:
    """Print the JSON Schema (2020-12) of assertion documents, envelopes or evidence."""
    from averment.cli.outputs import say
    from averment.report.schemas import schema
    from averment.text.jsontext import pretty

    say(pretty(schema(name)))
