"""Where the verdicts of a run go: standard output, and the files that were asked for, each whole or not at all."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from averment.cli.outputs import look, say, writing
from averment.cli.parser import Options
from averment.cli.printing import Printing
from averment.cli.progress import Steps, progress
from averment.documents import Document
from averment.engine import Envelope
from averment.errors import ExitCode, Problem, UsageError
from averment.evidence import Evidence

if TYPE_CHECKING:
    from averment.verdicts.judged import Case, Judged, Produced

__all__ = ["REPORTS", "Verdicts", "add_reports", "named_outputs", "reporting", "verdicts"]

REPORTS = {
    "html": "a page for the browser, in one file",
    "markdown": "Markdown for a comment on a pull request or a step's summary",
    "junit": "JUnit XML for the CI's tab of tests",
    "sarif": "SARIF 2.1.0 for code scanning and editors",
}
"""File reports: their option, and what they are."""

_WORST_FIRST = (ExitCode.INTERNAL, ExitCode.NO_VERDICT, ExitCode.NO, ExitCode.YES)


def add_reports(parser: Options) -> None:
    """Declares the options for reports."""
    for name, about in REPORTS.items():
        parser.add_argument(f"--{name}", metavar="FILE", help=f"write {about}")
    parser.add_argument(
        "--github",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="print annotations for GitHub; by default within GitHub Actions",
    )


class Verdicts:
    """Takes the envelopes of a run one by one, prints them, and keeps what reports need; without reports, nothing.

    Args:
        args: the options of `averment run`.
        envelopes: writes an envelope's bytes.
        lines: writes a line of results.
        steps: is told of every conversation.
    """

    def __init__(
        self,
        args: argparse.Namespace,
        envelopes: Callable[[bytes], object],
        lines: Callable[[bytes], object],
        steps: Steps,
    ) -> None:
        self._format = args.format
        self._compat = args.compat
        self._writes_envelopes = args.output is not None
        self._writes_lines = args.results is not None
        self._envelopes = envelopes
        self._lines = lines
        self._steps = steps
        self._codes: set[int] = set()
        self._is_aside = "-" in named_outputs(args).values()
        self._reports = _wanted(args)
        self._keeps_evidence = not {"html", "markdown", "sarif"}.isdisjoint(self._reports)
        self._judged: list[Judged] = []
        self._printing = Printing(
            self._say, look(err=self._is_aside), verbose=args.verbose, quiet=getattr(args, "quiet", False)
        )

    def take(
        self,
        envelope: Envelope,
        document: Document,
        evidence: Evidence,
        name: str,
        *,
        case: Case | None = None,
        produced: Produced | None = None,
    ) -> None:
        """One conversation was judged."""
        code = int(envelope.exit_code)
        self._codes.add(code)
        self._steps.advance(failing=code != ExitCode.YES)
        encoded = b""
        if self._writes_envelopes or self._format == "json":
            encoded = envelope.to_json(compat=self._compat)
            if self._writes_envelopes:
                self._envelopes(encoded)
        if self._reports or self._writes_lines:
            from averment.verdicts.judged import judged

            entry = judged(
                envelope,
                document,
                conversation=name,
                evidence=evidence.model if self._keeps_evidence else None,
                case=case,
                produced=produced,
            )
            if self._writes_lines:
                from averment.verdicts.stored import line

                self._lines(line(entry))
            if self._reports:
                self._judged.append(entry)
        if self._format == "text":
            self._printing.take(
                envelope, document, evidence.model, name, case, is_produced=produced is not None
            )
        elif not self._is_aside:
            from averment.text.shown import inert_json

            self._steps.pause()
            say(inert_json(encoded))

    def finish(self) -> int:
        """All are taken: prints what they came to, where there were several, and returns the worst exit code.

        That is `no verdict` where nothing was judged at all.
        """
        self._printing.finish()
        return next((code for code in _WORST_FIRST if code in self._codes), ExitCode.NO_VERDICT)

    def flush(self) -> None:
        """Prints what waits to be printed, because the run ends early."""
        self._printing.flush()

    @property
    def judged(self) -> list[Judged]:
        """What the reports are about."""
        return self._judged

    def _say(self, text: str) -> None:
        """Prints for people: on standard error where standard output is a report."""
        self._steps.pause()
        say(text, err=self._is_aside)


@contextmanager
def verdicts(args: argparse.Namespace, *, total: int | None = None) -> Iterator[Verdicts]:
    """Takes the verdicts of a run; when all are taken, the reports are written.

    Args:
        args: the options of `averment run`.
        total: how many conversations there will be, for the progress; None where that is not known.

    Raises:
        UsageError: a file can't be written, told before anything is judged; or two outputs are standard output.
    """
    with ExitStack() as files:
        envelopes = files.enter_context(writing(args.output))
        lines = files.enter_context(writing(args.results))
        report = files.enter_context(reporting(args))
        is_quiet = args.format == "json" and sys.stdout.isatty()  # every step prints there
        steps = files.enter_context(progress(1 if is_quiet else total))
        taken = Verdicts(args, envelopes, lines, steps)
        try:
            yield taken
        finally:
            taken.flush()
        report(taken.judged)


@contextmanager
def reporting(args: argparse.Namespace) -> Iterator[Callable[[list[Judged]], None]]:
    """What writes the reports that were asked for; their files appear at the end, or not at all."""
    outputs = list(named_outputs(args).values())
    if outputs.count("-") > 1:
        message = "standard output, `-`, can be only one of the outputs"
        raise UsageError(Problem(code="stdout_twice", message=message, mend="Write the others to files."))
    with ExitStack() as files:
        writers = {name: files.enter_context(writing(getattr(args, name))) for name in REPORTS}

        def report(judged: list[Judged]) -> None:
            for name in _wanted(args):
                text = _rendered(name, judged)
                if name == "github":
                    say(text, err=getattr(args, "format", "text") == "json" or "-" in outputs)
                else:
                    writers[name](text.encode("utf-8", "backslashreplace"))

        yield report


def _rendered(name: str, judged: list[Judged]) -> str:
    import importlib

    rendered: str = importlib.import_module(f"averment.report.{name}").render(judged)
    return rendered


def _wanted(args: argparse.Namespace) -> list[str]:
    wanted = [name for name in REPORTS if getattr(args, name) is not None]
    in_actions = os.environ.get("GITHUB_ACTIONS") == "true"
    return [*wanted, "github"] if args.github or (args.github is None and in_actions) else wanted


def named_outputs(args: argparse.Namespace) -> dict[str, str]:
    """The outputs that were asked for, by their options."""
    return {
        f"--{option}": name
        for option in ("output", "results", *REPORTS)
        if (name := getattr(args, option, None)) is not None
    }
