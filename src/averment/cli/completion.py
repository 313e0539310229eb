"""`averment completion`.

Print the script that makes a shell complete commands and options.

Examples:
  averment completion bash >> ~/.bashrc
  averment completion zsh > "${fpath[1]}/_averment"
  averment completion fish > ~/.config/fish/completions/averment.fish
"""

from __future__ import annotations

import argparse
from typing import Any

from averment.cli.parser import Parser
from averment.errors import ExitCode

__all__ = ["configure", "execute"]


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="the shell")


def execute(args: argparse.Namespace) -> int:
    """Prints the script; file names complete wherever an argument is one."""
    import shtab

    from averment.cli.main import COMMANDS, command_parser
    from averment.cli.outputs import say

    parser = argparse.ArgumentParser(prog="averment")
    parser.add_argument("--version", action="store_true", help="show the version")
    commands = parser.add_subparsers()
    groups: dict[str, Any] = {"": commands}
    for name, about in COMMANDS.items():
        known = command_parser(name)
        for action in known._actions:  # noqa: SLF001 - argparse has no public list of them
            if action.metavar in {"FILE", "DOC", "CONVERSATION", "SPECS", "DIR"}:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
        group, _, word = name.rpartition(" ")
        if group not in groups:
            groups[group] = commands.add_parser(group, help=f"commands of {group}").add_subparsers()
        groups[group].add_parser(word, parents=[known], add_help=False, help=about)
    say(shtab.complete(parser, shell=args.shell))
    return ExitCode.YES
