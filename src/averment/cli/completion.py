"""`averment completion`: the script that makes a shell complete commands and options."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    \b
    bash: averment completion bash >> ~/.bashrc
    zsh:  averment completion zsh >> ~/.zshrc
    fish: averment completion fish > ~/.config/fish/completions/averment.fish
    """  # noqa: D301 - click keeps the lines of a paragraph that starts with a backspace
    from click.shell_completion import get_completion_class

    from averment.cli.main import app
    from averment.cli.outputs import say

    script = get_completion_class(shell)
    if script is None:  # the choice above admits only shells that click knows
        raise click.UsageError(f"no completion for {shell}")
    say(script(app, {}, "averment", "_AVERMENT_COMPLETE").source())
