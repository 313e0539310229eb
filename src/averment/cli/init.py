"""`averment init`.

Start a suite: averment.yaml, a sample document with a recording that it passes, and a workflow for GitHub Actions.

Everything written is yours to change. Nothing is overwritten: where one of the files is there already, none is written.
Run it in the root of the repository, where GitHub looks for workflows.

Examples:
  averment init
  averment init --into my-agent
"""

from __future__ import annotations

import argparse

from averment.cli.parser import Parser
from averment.errors import ExitCode, Problem, UsageError

__all__ = ["FILES", "configure", "execute"]

FILES = {
    "averment.yaml": "averment.yaml",
    "assertions/refunds.yaml": "refunds.yaml",
    "recordings/refund.json": "refund.json",
    ".github/workflows/averment.yml": "workflow.yml",
}
"""What is written, and which of the bundled files it is."""


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    about = "the folder to write the files to; the working folder by default"
    parser.add_argument("--into", metavar="FOLDER", default="", help=about)


def execute(args: argparse.Namespace) -> int:
    """Writes the files, and says what to do next."""
    import os
    import shlex
    from importlib.resources import files

    from averment.cli.outputs import say
    from averment.suites import find_suite

    bundled = files("averment.suites").joinpath("starter")
    targets = {os.path.join(args.into, name): bundled.joinpath(source) for name, source in FILES.items()}
    there = [path for path in targets if os.path.lexists(path)]
    suite = find_suite(args.into)
    if suite is not None and suite not in there:
        there.insert(0, suite)
    if there:
        raise UsageError(_exists(path, is_suite=path == suite) for path in there)
    for path, source in targets.items():
        _write(path, source.read_bytes())
    command = f"averment run --suite {shlex.quote(args.into)}" if args.into else "averment run"
    written = "".join(f"  {path}\n" for path in targets)
    say(
        f"Written:\n{written}\n"
        f"Judge the recording, now and whenever something has changed:\n  {command}\n\n"
        "Then put recordings of your agent beside it, or let the suite produce them: averment.yaml shows how.\n"
    )
    return ExitCode.YES


def _exists(path: str, *, is_suite: bool) -> Problem:
    return Problem(
        code="output_exists",
        message="there is a suite already"
        if is_suite
        else "the file is there already, and would be overwritten",
        file=path,
        mend="Give another folder with `--into`, or move it away.",
    )


def _write(path: str, data: bytes) -> None:
    """Writes a file that is not there yet, with the folders that it stands in."""
    import os

    try:
        os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
        with open(path, "xb") as file:
            file.write(data)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a usable name"
        raise UsageError(
            Problem(
                code="output_unwritable",
                message=f"the file can't be written: {why}",
                file=path,
                expected="a folder that may be written to",
                mend="Give another with `--into`.",
            )
        ) from None
