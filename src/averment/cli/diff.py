"""`averment diff`.

Compare two runs, assertion by assertion and case by case.

OLD and NEW are what was kept of them: the lines of `averment run --results`, which name every case, or the envelopes of
`--output`, which are matched by their order. `-` is standard input.

Without --fail-on nothing is gated. With it, what NEW must not have is named, as a list or by repeating the option: broken,
newly_failing, flaky, still_failing, newly_inconclusive, still_inconclusive (or inconclusive for both), newly_inapplicable,
removed, added, fixed, newly_passing, still_passing, still_inapplicable; and missing or new for cases that only one run has.
Warnings and notes never gate.

Examples:
  averment diff main.jsonl pr.jsonl
  averment diff main.jsonl pr.jsonl --fail-on broken,newly_failing,missing
  averment diff main.jsonl pr.jsonl --fail-on broken --format markdown --output comment.md
  averment diff main.jsonl pr.jsonl --only fixed --format json
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from averment.cli.parser import Parser
from averment.errors import ExitCode, Problem, UsageError, nearest

if TYPE_CHECKING:
    from averment.verdicts.comparison import Comparison
    from averment.verdicts.judged import Judged

__all__ = ["configure", "execute"]

_TOGETHER = {"inconclusive": ("newly_inconclusive", "still_inconclusive")}


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("old", metavar="OLD", help="the run to compare with")
    parser.add_argument("new", metavar="NEW", help="the run that is compared")
    parser.add_argument(
        "--fail-on",
        metavar="CHANGES",
        action="append",
        default=[],
        help="exit 1 if one of these occurs, separated by commas; repeatable",
    )
    parser.add_argument(
        "--only",
        metavar="CHANGES",
        action="append",
        default=[],
        help="list only these; what is counted and what gates stays the same; repeatable",
    )
    parser.add_argument(
        "--format", choices=["text", "json", "markdown"], default="text", help="how to print; text by default"
    )
    parser.add_argument("--output", metavar="FILE", help="write it to this file, instead of printing it")
    parser.add_argument(
        "--verbose", action="store_true", help="list all cases of each assertion, and what still passes"
    )


def execute(args: argparse.Namespace) -> int:
    """Compares and tells."""
    from averment.cli.inputs import refuse_twice
    from averment.cli.outputs import look, refuse_overwriting, say, writing
    from averment.report.comparison import Told, as_json, as_text
    from averment.text.shown import inert, inert_json
    from averment.verdicts.comparison import GATES, compare

    refuse_twice(args.old, args.new)
    refuse_overwriting({"--output": args.output}, (args.old, args.new))
    problems: list[Problem] = []
    fail_on = _chosen("--fail-on", args.fail_on, GATES, problems)
    only = _chosen("--only", args.only, GATES, problems)
    if problems:
        raise UsageError(problems)
    told = Told(
        old=_shown(args.old), new=_shown(args.new), fail_on=fail_on, only=only or GATES, every=args.verbose
    )
    every = args.verbose or not {"still_passing", "still_inapplicable"}.isdisjoint(only)
    is_printed = args.output in (None, "-")
    is_read = is_printed and os.environ.get("GITHUB_ACTIONS") == "true"  # by the runner, line by line
    with writing(args.output or "-") as write:
        comparison = compare(_stored(args.old), _stored(args.new), every=every)
        _refuse_nothing(comparison)
        if args.format == "json":
            write(inert_json(as_json(comparison, told)))
        elif args.format == "markdown":
            from averment.report.comparison_markdown import as_markdown

            text = as_markdown(comparison, told)
            write((inert(text) if is_read else text).encode("utf-8", "backslashreplace"))
        elif is_printed:
            text = as_text(comparison, told, look=look())
            say(inert(text) if is_read else text)
        else:
            write(as_text(comparison, told).encode("utf-8", "backslashreplace"))
    return ExitCode.NO if any(map(comparison.count, fail_on)) else ExitCode.YES


def _stored(name: str) -> Iterator[Judged]:
    from averment.cli.inputs import read_bytes
    from averment.verdicts.stored import each_stored

    return each_stored(read_bytes(name), _shown(name))


def _shown(name: str) -> str:
    return "<stdin>" if name == "-" else name


def _chosen(
    option: str, lists: Iterable[str], known: Sequence[str], problems: list[Problem]
) -> tuple[str, ...]:
    """The changes that an option names, each once."""
    found: dict[str, None] = {}
    for name in (name.strip().replace("-", "_") for names in lists for name in names.split(",")):
        if name in _TOGETHER:
            found.update(dict.fromkeys(_TOGETHER[name]))
        elif name in known:
            found[name] = None
        else:
            problems.append(
                Problem(
                    code="unknown_change",
                    message=f"`{option}` names no change that there is: `{name[:60]}`",
                    expected=f"some of {', '.join([*known, *_TOGETHER])}, separated by commas",
                    nearest=nearest(name[:60], [*known, *_TOGETHER]),
                )
            )
    return tuple(found)


def _refuse_nothing(comparison: Comparison) -> None:
    """Refuses to compare runs that have no case in common: nothing could be broken then, whatever happened."""
    if comparison.cases:
        return
    old, new = comparison.missing[0], comparison.added[0]
    raise UsageError(
        Problem(
            code="nothing_to_compare",
            message=f"the runs have no case in common, of {len(comparison.missing)} old and {len(comparison.added)} new",
            expected=f"names that are in both, as `{old.label[:60]}` is in the old run",
            found=f"`{new.label[:60]}` in the new run",
            mend="Run both from the same folder, with the same suite or the same names of files.",
        )
    )
