"""`averment kinds`: what can be asserted."""

from __future__ import annotations

import click

from averment.errors import Problem, UsageError, nearest

__all__ = ["command"]


@click.command("kinds")
@click.argument("name", required=False)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "markdown"]),
    default="text",
    help="How to print; markdown is what the reference pages are made of.",
)
def command(name: str | None, output_format: str) -> None:
    """List all kinds of assertions, or show one with its rule and its fields."""
    from averment.assertions import KINDS
    from averment.cli.outputs import say
    from averment.report.kinds import as_markdown, as_text, headline

    if name is None:
        width = max(map(len, KINDS))
        say("".join(f"{kind:<{width}}  {headline(kind)}\n" for kind in KINDS))
        return
    if name not in KINDS:
        raise UsageError(
            Problem(
                code="unknown_kind",
                message=f"there is no kind `{name}`",
                expected=f"one of {', '.join(KINDS)}",
                nearest=nearest(name, KINDS),
            )
        )
    say(as_markdown(name) if output_format == "markdown" else as_text(name))
