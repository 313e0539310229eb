"""Running a suite: not there yet."""

from __future__ import annotations

import argparse

__all__ = ["run_suite"]


def run_suite(args: argparse.Namespace) -> int:
    """Runs nothing yet."""
    raise NotImplementedError(args)
