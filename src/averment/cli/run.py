"""`averment run`.

Judge conversations by the assertion document DOC: a file, or `policy:NAME` for a bundled one.

A CONVERSATION is a file in any format that `averment evidence formats` lists, recognised by what it holds;
single parts come from files of their own through the options, and further records of the same conversation
through --evidence, which joins them by ids that both have. `-` is standard input. Several conversations give
one envelope each, in order, and the worst exit code. With -d every other argument is a CONVERSATION; with
--pack DOC may be left out.

Without arguments it runs the suite of the working folder: averment.yaml, or [tool.averment] in pyproject.toml.

Examples:
  averment run
  averment run --suite nightly.yaml --only 'refund-*' --jobs 4
  averment run refunds.yaml call.json --html report.html
  averment run refunds.yaml --transcript call.json --trace trace.jsonl --state orders.sqlite
  averment run refunds.yaml calls.jsonl --all --format json
  averment run -d refunds.yaml -d policy:pii-leak call.json
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from averment.cli.parser import Options, Parser
from averment.errors import AvermentError, DocumentError, Problem, UsageError

if TYPE_CHECKING:
    from averment.evidence import Evidence
    from averment.evidence.load import Reading

__all__ = ["configure", "execute"]

_PARTS = {
    "transcript": "the transcript, in any format that has one",
    "trace": "the trace: voice_trace.v1 JSON Lines, a list of spans, or any format with tool calls",
    "timing": "timing events: a list, or an envelope with `events`",
    "state": "the system of record: a JSON fixture or an SQLite file",
}


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    from averment.cli.suites import add_suite_options
    from averment.cli.verdicts import add_reports

    parser.add_argument("document", metavar="DOC", nargs="?", help="the assertion document, YAML or JSON")
    parser.add_argument("conversations", metavar="CONVERSATION", nargs="*", help="what was recorded")
    _add_inputs(parser.add_argument_group("what is judged"))
    add_suite_options(parser.add_argument_group("suites"))
    printed = parser.add_argument_group("what is printed")
    printed.add_argument(
        "--format", choices=["text", "json"], default="text", help="how to print; text by default"
    )
    how_much = printed.add_mutually_exclusive_group()
    how_much.add_argument("--verbose", action="store_true", help="show the grounds of passes as well")
    how_much.add_argument("-q", "--quiet", action="store_true", help="show only what is not a pass")
    printed.add_argument(
        "--compat",
        action="store_true",
        help="repeat the redacted transcript in each pii result, as the contract does",
    )
    written = parser.add_argument_group("what is written (`-` is standard output)")
    written.add_argument("--output", metavar="FILE", help="also write the envelopes (JSON) to this file")
    written.add_argument(
        "--results",
        metavar="FILE",
        help="also write a line of JSON for each conversation: its case and its envelope, for `averment diff`",
    )
    add_reports(written)


def _add_inputs(options: Options) -> None:
    from averment.cli.inputs import add_reading

    options.add_argument(
        *("-d", "--document"),
        metavar="DOC",
        dest="documents",
        action="append",
        default=[],
        help="a document; repeat it to judge by several at once, under the first one's policy",
    )
    options.add_argument(
        "--pack",
        metavar="NAME",
        dest="packs",
        action="append",
        default=[],
        help="add the bundled document NAME, see `averment policies`; repeatable",
    )
    for name, about in _PARTS.items():
        options.add_argument(f"--{name}", metavar="FILE", help=about)
    options.add_argument(
        "--evidence",
        metavar="FILE",
        action="append",
        default=[],
        help="a further record of the same conversation, joined by the ids that both have; repeatable",
    )
    options.add_argument(
        "--clock-offset",
        metavar="SECONDS",
        type=float,
        help="when the clock of the --evidence files reads zero, in seconds on the CONVERSATION's clock",
    )
    options.add_argument(
        "--conversation",
        metavar="ID",
        dest="wanted",
        help="judge only this conversation of a file that holds many",
    )
    options.add_argument(
        "--all", dest="every", action="store_true", help="judge every conversation of a file that holds many"
    )
    add_reading(options)
    options.add_argument(
        "--inconclusive-policy",
        choices=["report", "fail", "refuse"],
        help="what INCONCLUSIVE does to the exit code; the document's own, or report",
    )


def execute(args: argparse.Namespace) -> int:
    """Judges, prints and writes; returns the worst exit code."""
    from averment.cli.inputs import load_documents, reading, refuse_twice
    from averment.cli.outputs import refuse_overwriting
    from averment.cli.verdicts import named_outputs, verdicts
    from averment.engine import compile_plan, run_plan

    if args.suite is not None or _is_bare(args):
        from averment.cli.suites import run_suite

        return run_suite(args)
    if args.only or args.jobs or args.keep:
        from averment.cli.suites import refuse_suite_options

        refuse_suite_options(args)
    given = {name: file for name in _PARTS if (file := getattr(args, name)) is not None}
    documents, conversations = _sorted_out(args, bool(given))
    refuse_twice(*documents, *conversations, *given.values(), *args.evidence)
    read = (*documents, *conversations, *given.values(), *args.evidence, args.mapping)
    refuse_overwriting(named_outputs(args), read)
    if args.evidence and not conversations and not given:
        conversations, args.evidence = args.evidence[:1], args.evidence[1:]
    _refuse_nothing(documents, conversations, given)
    _refuse_offset(args)
    from_format = reading(args)
    try:
        plan = compile_plan(load_documents(documents))
    except DocumentError:
        _explain_swap(documents[0], conversations)
        raise
    with verdicts(args, total=None if args.every else len(conversations)) as taken:
        for name in conversations or (None,):
            for evidence, label in _found(args, name, given, from_format):
                envelope = run_plan(plan, evidence, inconclusive_policy=args.inconclusive_policy)
                taken.take(envelope, plan.document, evidence, label)
        return taken.finish()


def _found(
    args: argparse.Namespace, name: str | None, given: Mapping[str, str], how: Reading | None
) -> Iterator[tuple[Evidence, str]]:
    """The conversations to judge, each with the name to show for it; a large file is read as they are asked for."""
    from averment.cli.inputs import load_evidence

    if args.every and name is not None and not given and not args.evidence:
        from averment.cli.runs import each_run

        for label, found in each_run(name, how, wanted=args.wanted):
            if isinstance(found, AvermentError):
                raise found
            yield found, label
        return
    yield from load_evidence(
        name,
        given,
        wanted=args.wanted,
        every=args.every,
        from_format=how,
        others=args.evidence,
        clock_offset=args.clock_offset,
    )


def _is_bare(args: argparse.Namespace) -> bool:
    """Whether nothing is named to judge, or to judge by: then the suite in the working folder is meant."""
    named = (args.document, args.conversations, args.documents, args.packs, args.evidence)
    return not any(named) and all(getattr(args, name) is None for name in _PARTS)


def _sorted_out(args: argparse.Namespace, has_parts: bool) -> tuple[list[str], list[str]]:
    """Which arguments are documents, and which are conversations."""
    from averment.policies import POLICY

    words = [*([] if args.document is None else [args.document]), *args.conversations]
    packs = [POLICY + name for name in args.packs]
    if args.documents or (
        words and packs and not _is_document(words[0], alone=len(words) == 1 and not has_parts)
    ):
        return [*args.documents, *packs], words
    if not words and not packs:
        message = "the following arguments are required: DOC"
        raise UsageError(Problem(code="usage", message=message, mend="See `averment run --help`."))
    return [*words[:1], *packs], words[1:]


def _is_document(word: str, *, alone: bool) -> bool:
    """Whether the first argument is a document, where packs would do without one."""
    from averment.cli.inputs import looks_like_document
    from averment.policies import POLICY

    if word == "-":
        return not alone  # alone, it must be the evidence
    return word.startswith(POLICY) or word.endswith((".yaml", ".yml")) or looks_like_document(word)


def _refuse_nothing(documents: Sequence[str], conversations: Sequence[str], parts: Mapping[str, str]) -> None:
    if not conversations and not parts:
        from averment.cli.inputs import looks_like_suite

        suite = next((name for name in documents if looks_like_suite(name)), None)
        raise UsageError(
            Problem(
                code="nothing_to_evaluate",
                message="there is no evidence to judge",
                expected="a CONVERSATION, or parts of one by --transcript, --trace, --timing or --state",
                mend="Try `averment demo` to see one."
                if suite is None
                else f"This is a suite: run it with `averment run --suite {suite}`.",
            )
        )
    if parts and len(conversations) > 1:
        raise UsageError(
            Problem(
                code="ambiguous_parts",
                message=f"{', '.join('--' + name for name in parts)} can't belong to {len(conversations)} conversations",
                mend="Run them one by one, or put the parts into the conversation files.",
            )
        )


def _refuse_offset(args: argparse.Namespace) -> None:
    if args.clock_offset is None:
        return
    if not args.evidence:
        message, mend = "there is no other clock to relate", "Give the other record with `--evidence`."
        raise UsageError(Problem(code="usage", message=message, mend=mend))
    if not -9e9 < args.clock_offset < 9e9:  # NaN is in no range
        message, expected = "the clock offset is no time", "a number of seconds, of less than 285 years"
        raise UsageError(Problem(code="usage", message=message, expected=expected))


def _explain_swap(document: str, conversations: Sequence[str]) -> None:
    """Tells swapped arguments as such: what was given as a conversation is a document, and the other way round."""
    from averment.cli.inputs import looks_like_document

    swapped = next((name for name in conversations if name != "-" and looks_like_document(name)), None)
    if swapped is not None and not looks_like_document(document):
        raise UsageError(
            Problem(
                code="swapped_arguments",
                message=f"`{swapped}` is an assertion document, and `{document}` is not",
                expected="the document first, then the conversations",
                mend=f"Run `averment run {swapped} {document}`.",
            )
        )
