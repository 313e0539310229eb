"""`averment run` of a suite: what `averment.yaml`, or `[tool.averment]` in pyproject.toml, lists."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager

from averment.cli.parser import Options, positive
from averment.errors import Problem, UsageError

__all__ = ["add_suite_options", "refuse_suite_options", "run_suite"]

_OF_SUITES = {"only": "--only", "jobs": "--jobs", "keep": "--keep"}
_OF_DOCUMENTS = {
    "document": "DOC",
    "conversations": "CONVERSATION",
    "documents": "--document",
    "packs": "--pack",
    "transcript": "--transcript",
    "trace": "--trace",
    "timing": "--timing",
    "state": "--state",
    "evidence": "--evidence",
    "clock_offset": "--clock-offset",
    "wanted": "--conversation",
    "every": "--all",
}
"""What makes no sense with a suite, which says itself what is judged by what."""


def add_suite_options(parser: Options) -> None:
    """Declares the options of suites."""
    parser.add_argument(
        "--suite",
        metavar="FILE",
        help="run this suite, or that of a folder; without arguments averment.yaml or pyproject.toml",
    )
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        default=[],
        help="of a suite only the entries and cases of that name; `*` for any text, ENTRY/CASE for both; repeatable",
    )
    parser.add_argument(
        *("-j", "--jobs"),
        metavar="N",
        type=positive,
        help="how many commands of a suite run at once; 1 by default. Verdicts come in the same order",
    )
    parser.add_argument(
        "--keep",
        metavar="FOLDER",
        help="keep what a suite's commands produce there; by default in .averment/produced beside the suite",
    )


def refuse_suite_options(args: argparse.Namespace) -> None:
    """Refuses options of suites where none is run."""
    _refuse(args, _OF_SUITES, "is for suites, and a document is given", "Leave it out, or DOC.")


def run_suite(args: argparse.Namespace) -> int:
    """Judges all that a suite lists, prints and writes; returns the worst exit code."""
    from averment.cli.inputs import reading
    from averment.cli.outputs import refuse_overwriting
    from averment.cli.verdicts import named_outputs, verdicts
    from averment.suites import Suite

    _refuse(args, _OF_DOCUMENTS, "makes no sense with a suite", "Say in the suite what is judged by what.")
    suite = Suite.load(_file(args), only=args.only, keep=args.keep, reading=reading(args))
    refuse_overwriting(named_outputs(args), (*suite.files(), args.mapping))
    judging = suite.judge(jobs=args.jobs or 1, inconclusive_policy=args.inconclusive_policy)
    with _ended_in_order(), verdicts(args, total=suite.count) as taken, closing(judging):
        for outcome in judging:
            taken.take(
                outcome.envelope,
                outcome.document,
                outcome.evidence,
                outcome.conversation,
                case=outcome.case,
                produced=outcome.produced,
            )
        return taken.finish()


def _file(args: argparse.Namespace) -> str:
    from averment.suites import find_suite

    file = args.suite or find_suite()
    if file is None:
        message = "the following arguments are required: DOC"
        expected = (
            "a document and conversations, or a suite: averment.yaml, or [tool.averment] in pyproject.toml"
        )
        mend = "See `averment run --help`, or start a suite with `averment init`."
        raise UsageError(Problem(code="usage", message=message, expected=expected, mend=mend))
    return str(file)


def _refuse(args: argparse.Namespace, names: dict[str, str], why: str, mend: str) -> None:
    given = [option for name, option in names.items() if _is_given(getattr(args, name))]
    if given:
        raise UsageError(Problem(code="usage", message=f"`{option}` {why}", mend=mend) for option in given)


def _is_given(value: object) -> bool:
    """Whether the value is no default; a clock's offset of 0 is none."""
    return value is not None and value is not False and value != []


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Ends the commands of a suite also where averment is asked to end: by CI that cancels a job, not by Ctrl-C alone."""
    import signal

    before = signal.getsignal(signal.SIGTERM)
    try:
        if before is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
    except ValueError:  # this is not the main thread, whose affair it is
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
