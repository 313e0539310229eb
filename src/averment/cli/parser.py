"""The parser of command lines: `argparse`, with mistakes told as problems.

`argparse` and not a larger library, because every run pays for its import: 1 ms here against 13.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import NoReturn

from averment.errors import Problem, UsageError, nearest

__all__ = ["Options", "Parser", "parse", "positive"]

Options = argparse._ActionsContainer  # noqa: SLF001 - the name that typeshed has for it
"""What options are declared on: a parser, or a group of one under a heading of its own."""

_WIDTH = 100


class Parser(argparse.ArgumentParser):
    """A parser for one command; it never exits by itself on a mistake, and never guesses an abbreviation."""

    def __init__(self, prog: str, description: str) -> None:
        about, _, examples = description.partition("\n\nExamples:\n")
        super().__init__(
            prog=prog,
            description=about,
            epilog=f"examples:\n{examples}" if examples else None,
            formatter_class=_formatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Refuses the command line.

        Raises:
            UsageError: always.
        """
        if message.startswith("the following arguments are required"):
            # Parsing options and arguments intermixed, argparse lists what may be left out as well.
            required = [_name(a) for a in self._actions if not a.option_strings and a.nargs not in {"*", "?"}]
            message = f"the following arguments are required: {', '.join(required)}"
        raise UsageError(
            Problem(code="usage", message=message, nearest=_near(message), mend=f"See `{self.prog} --help`.")
        )


_INVALID_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)", re.DOTALL)


def _near(message: str) -> str | None:
    """The choice that was probably meant, where argparse says that something is none."""
    found = _INVALID_CHOICE.search(message)
    if found is None:
        return None
    return nearest(found[1], [choice.strip(" '") for choice in found[2].split(",")])


def _name(action: argparse.Action) -> str:
    """What the usage line calls an argument, with its choices."""
    name = str(action.metavar or action.dest.upper())
    return f"{name} (one of {', '.join(action.choices)})" if action.choices else name


def _formatter(prog: str) -> argparse.HelpFormatter:
    # A fixed width: the same help everywhere, and no need to load what asks the terminal.
    return argparse.RawDescriptionHelpFormatter(prog, width=_WIDTH)


def parse(parser: Parser, args: Sequence[str]) -> argparse.Namespace:
    """The arguments of a command; options may stand before, between and after the others.

    Raises:
        UsageError: something is missing, unknown or not allowed.
    """
    shape: dict[str | int | None, str] = {None: "{}", "*": "[{} ...]", "+": "{} ...", "?": "[{}]"}
    words = [a for a in parser._actions if not a.option_strings]  # noqa: SLF001 - argparse has no public list
    shown = [shape[action.nargs].format(action.metavar or action.dest.upper()) for action in words]
    # Left to argparse, the usage would be laid out for every run, errors or not.
    parser.usage = " ".join([parser.prog, "[options]", *shown])
    namespace, unknown = parser.parse_known_intermixed_args(args)
    if unknown:
        known = [option for action in parser._actions for option in action.option_strings]  # noqa: SLF001
        options = [name.partition("=")[0] for name in unknown if name.startswith("-") and name != "-"]
        name = options[0] if options else unknown[0]
        raise UsageError(
            Problem(
                code="usage",
                message=f"there is no option `{name}`" if options else f"unexpected argument `{name}`",
                nearest=nearest(name, known),
                mend=f"See `{parser.prog} --help`.",
            )
        )
    return namespace


def positive(text: str) -> int:
    """A whole number above zero, for `type=`.

    Raises:
        ArgumentTypeError: it is none.
    """
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, found `{text[:60]}`")
    return int(text)
