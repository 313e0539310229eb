"""The command line: `averment COMMAND`, and the one place where errors become exit codes.

Each command is a module of its own, imported when it is called, so that start-up pays for one command only.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from averment._version import __version__
from averment.cli.outputs import ReaderGoneError
from averment.errors import AvermentError, ExitCode

__all__ = ["app", "main"]

_COMMANDS = {
    "run": "Judge conversations by an assertion document.",
    "check": "Find every mistake in assertion documents.",
    "kinds": "What can be asserted: all kinds, or one with its fields.",
    "schema": "JSON Schemas of documents, envelopes and evidence.",
    "demo": "Catch an agent that said it issued a refund and never did.",
    "completion": "Print the completion script for a shell.",
}


class _Commands(click.Group):
    """The commands, by name; only the one that is called is imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"averment.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="averment", message="%(prog)s %(version)s")
def app() -> None:
    """Deterministic, evidence-bound verdicts for AI agents: what was done, not what was said.

    Exit codes, everywhere: 0 the gate says yes; 1 the gate says no; 2 no verdict (refusal, usage, bad input);
    3 internal error.
    """


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line and exits with its code."""
    sys.exit(_run(args))


def _run(args: Sequence[str] | None) -> int:
    try:
        code = app.main(
            args=None if args is None else list(args), prog_name="averment", standalone_mode=False
        )
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        _complain(f"error[usage]: {error.format_message()}", _hint(error))
        return ExitCode.NO_VERDICT
    except AvermentError as error:
        _complain(str(error))
        return ExitCode.NO_VERDICT
    except (KeyboardInterrupt, click.Abort):
        _complain("error[interrupted]: stopped before a verdict")
        return ExitCode.INTERNAL
    except ReaderGoneError:
        return ExitCode.NO_VERDICT
    except Exception as error:  # noqa: BLE001 - whatever else: exit 3, never a traceback
        _complain(
            f"error[internal_error]: {type(error).__name__}; this is a defect of averment, please report it",
            "    set AVERMENT_TRACEBACK=1 to see where; a traceback can show evidence",
        )
        _trace()
        return ExitCode.INTERNAL
    return code if isinstance(code, int) else ExitCode.YES


def _complain(*lines: str | None) -> None:
    text = "\n".join(line for line in lines if line)
    click.echo(text.encode("utf-8", "backslashreplace"), err=True)


def _hint(error: click.ClickException) -> str | None:
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"    see `{error.ctx.command_path} --help`"
    return None


def _trace() -> None:
    import os
    import traceback

    if os.environ.get("AVERMENT_TRACEBACK"):
        traceback.print_exc()
