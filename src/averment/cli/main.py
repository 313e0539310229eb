"""The command line: `averment COMMAND`, and the one place where errors become exit codes.

Each command is a module with `configure(parser)` and `execute(args)`, imported when it is called, so that start-up
pays for one command only.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from averment._version import __version__
from averment.cli.outputs import ReaderGoneError, say
from averment.cli.parser import Parser, parse
from averment.errors import AvermentError, ExitCode, Problem, UsageError, nearest

__all__ = ["COMMANDS", "command_parser", "main", "overview", "script"]

COMMANDS = {
    "run": "Judge conversations by an assertion document, or run a suite.",
    "report": "Make reports of verdicts that were kept: HTML, Markdown, JUnit, SARIF.",
    "diff": "Compare two runs, assertion by assertion and case by case.",
    "init": "Start a suite: a sample document, a conversation and a CI workflow.",
    "evidence": "See what is read of a recorded conversation, or convert it.",
    "check": "Find every mistake in assertion documents.",
    "pack new": "Start an oracle pack, from nothing or from a catalog of tools.",
    "pack check": "Certify an oracle pack, or check one part of it.",
    "pack build": "Build the benchmark of an oracle pack: gold tasks, and every other with its reason.",
    "pack grade": "Grade recorded runs of agents against the tasks of an oracle pack.",
    "pack compile": "Compile declarative specs to the predicates of an oracle pack.",
    "kinds": "What can be asserted: all kinds, or one with its fields.",
    "policies": "Bundled policies: all of them, or the text of one.",
    "schema": "JSON Schemas of documents, envelopes, evidence and mappings.",
    "demo": "Catch an agent that said it issued a refund and never did.",
    "completion": "Print the completion script for a shell.",
}


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line and exits with its code."""
    sys.exit(int(_guarded(sys.argv[1:] if args is None else list(args))))


def script() -> NoReturn:
    """What the installed command calls: `main`, for a process that does nothing else.

    A run makes few cycles and many objects, so the collector only costs time until there are very many. And at the
    end Python would take its modules apart one by one, which takes as long as a tenth of a run and changes nothing.
    """
    gc.set_threshold(200_000, 20, 20)
    code = int(_guarded(sys.argv[1:]))
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def command_parser(name: str) -> Parser:
    """The parser of one command."""
    module = _module(name)
    parser = Parser(f"averment {name}", (module.__doc__ or "").partition("\n\n")[2].strip())
    module.configure(parser)
    return parser


def overview() -> str:
    """What `averment --help` says."""
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:<{width}}  {about}" for name, about in COMMANDS.items())
    return (
        "usage: averment COMMAND ...\n\n"
        "Deterministic, evidence-bound verdicts for AI agents: what was done, not what was said.\n\n"
        f"commands:\n{commands}\n\n"
        "options:\n  -h, --help  Show this message, or with a command its own.\n  --version   Show the version.\n\n"
        "Exit codes, everywhere: 0 the gate says yes; 1 the gate says no; 2 no verdict (refusal, usage,\n"
        "bad input); 3 internal error.\n"
    )


def _guarded(args: list[str]) -> int:
    _open_streams()
    try:
        return _dispatch(args)
    except AvermentError as error:
        _complain(str(error))
        return ExitCode.NO_VERDICT
    except ReaderGoneError:
        return ExitCode.NO_VERDICT
    except KeyboardInterrupt:
        _complain("error[interrupted]: stopped before a verdict")
        return ExitCode.INTERNAL
    except Exception as error:  # noqa: BLE001 - whatever else: exit 3, never a traceback
        _complain(
            f"error[internal_error]: {type(error).__name__}; this is a defect of averment, please report it\n"
            "    set AVERMENT_TRACEBACK=1 to see where; a traceback can show evidence"
        )
        _trace()
        return ExitCode.INTERNAL


def _open_streams() -> None:
    """A stream that was closed before the process began (`>&-`) is as good as the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 - for as long as the process
            setattr(sys, name, stream)


def _dispatch(args: list[str]) -> int:
    name, args = _command(args)
    if name in {"-h", "--help"}:
        say(overview())
        return ExitCode.YES
    if name == "--version":
        say(f"averment {__version__}\n")
        return ExitCode.YES
    if name not in COMMANDS:
        raise _no_command(name)
    try:
        arguments = parse(command_parser(name), args)
    except SystemExit:  # `--help` has been shown
        return ExitCode.YES
    code: int = _module(name).execute(arguments)
    return code


def _no_command(name: str | None) -> UsageError:
    """What to say of a command that is missing, half said, or none."""
    first, _, second = (name or "").partition(" ")
    group = {each.partition(" ")[2]: each for each in COMMANDS if each.startswith(f"{first} ")}
    close = nearest(second, group) if second else None
    if name is None:
        message = "a command is missing"
    else:
        message = f"`{name}` is half a command" if group and not second else f"there is no command `{name}`"
    return UsageError(
        Problem(
            code="usage",
            message=message,
            expected=f"one of {', '.join(group.values() or COMMANDS)}",
            nearest=group[close] if close else nearest(first, COMMANDS) if first and not group else None,
            mend="See `averment --help`.",
        )
    )


def _command(args: list[str]) -> tuple[str | None, list[str]]:
    """The name of the command, which may be two words, and what comes after it."""
    if len(args) > 1 and f"{args[0]} {args[1]}" in COMMANDS:
        return f"{args[0]} {args[1]}", args[2:]
    if len(args) > 1 and args[0] == "pack" and args[1] not in {"-h", "--help"}:
        return f"pack {args[1]}", args[2:]
    if len(args) > 1 and args[0] == "pack":
        return args[1], []
    return (args[0], args[1:]) if args else (None, [])


def _module(name: str) -> Any:
    return importlib.import_module(f"averment.cli.{name.replace(' ', '_')}")


def _complain(text: str) -> None:
    from averment.text.shown import inert

    with suppress(ReaderGoneError):
        say(inert(f"{text}\n"), err=True)


def _trace() -> None:
    if os.environ.get("AVERMENT_TRACEBACK"):
        import traceback

        traceback.print_exc()
