"""`averment diff`.

Not there yet.
"""

from __future__ import annotations

import argparse

from averment.cli.parser import Parser

__all__ = ["configure", "execute"]


def configure(parser: Parser) -> None:
    """Declares the arguments."""


def execute(args: argparse.Namespace) -> int:
    """Does nothing yet."""
    raise NotImplementedError(args)
