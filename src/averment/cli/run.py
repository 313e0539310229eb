"""`averment run`: judge conversations by an assertion document."""

from __future__ import annotations

from typing import Any

import click

from averment.errors import DocumentError, ExitCode, Problem, UsageError

__all__ = ["command"]

_WORST_FIRST = (ExitCode.INTERNAL, ExitCode.NO_VERDICT, ExitCode.NO, ExitCode.YES)


@click.command("run")
@click.argument("document", metavar="DOC")
@click.argument("conversations", metavar="[CONVERSATION]...", nargs=-1)
@click.option("--transcript", metavar="FILE", help="The transcript (JSON).")
@click.option("--trace", metavar="FILE", help="The trace: voice_trace.v1 JSON Lines, or a list of spans.")
@click.option("--timing", metavar="FILE", help="Timing events: a list, or an envelope with `events`.")
@click.option("--state", metavar="FILE", help="The system of record: a JSON fixture or an SQLite file.")
@click.option(
    "--conversation", "wanted", metavar="ID", help="Judge only this conversation of a file that holds many."
)
@click.option("--all", "every", is_flag=True, help="Judge every conversation of a file that holds many.")
@click.option(
    "--inconclusive-policy",
    type=click.Choice(["report", "fail", "refuse"]),
    help="What INCONCLUSIVE does to the exit code; the document's own, or report.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="How to print; text by default.",
)
@click.option(
    "--compat", is_flag=True, help="Repeat the redacted transcript in each pii result, as the contract does."
)
@click.option("--output", metavar="FILE", help="Also write the envelopes (JSON) to this file.")
def command(
    *,
    document: str,
    conversations: tuple[str, ...],
    transcript: str | None,
    trace: str | None,
    timing: str | None,
    state: str | None,
    wanted: str | None,
    inconclusive_policy: Any,
    output_format: str,
    output: str | None,
    every: bool,
    compat: bool,
) -> int:
    """Judge conversations by the assertion document DOC.

    A CONVERSATION is a JSON file with a transcript, spans, timing and state, whichever it has; single parts come from
    files of their own through the options. `-` is standard input. Several conversations give one envelope each, in
    order, and the worst exit code.

    \b
    averment run refunds.yaml call.json
    averment run refunds.yaml --transcript call.json --trace trace.jsonl --state orders.sqlite
    averment run refunds.yaml calls.jsonl --all --format json
    """  # noqa: D301 - click keeps the lines of a paragraph that starts with a backspace
    from averment.cli.inputs import load_document, load_evidence, refuse_twice
    from averment.cli.outputs import say, wants_color, writing
    from averment.engine import compile_plan, run_plan

    parts = {"transcript": transcript, "trace": trace, "timing": timing, "state": state}
    given = {name: file for name, file in parts.items() if file is not None}
    refuse_twice(document, *conversations, *given.values())
    _refuse_nothing(conversations, given)
    try:
        plan = compile_plan(load_document(document))
    except DocumentError:
        _explain_swap(document, conversations)
        raise
    codes: list[int] = []
    with writing(output) as write:
        for name in conversations or (None,):
            for evidence, label in load_evidence(name, given, wanted=wanted, every=every):
                envelope = run_plan(plan, evidence, inconclusive_policy=inconclusive_policy)
                codes.append(int(envelope.exit_code))
                encoded = envelope.to_json(compat=compat) if output or output_format == "json" else b""
                write(encoded)
                if output_format == "text":
                    from averment.report.terminal import render

                    text = render(envelope, plan.document, evidence.model, source=label, color=wants_color())
                    say(text if len(codes) == 1 else f"\n{text}", err=output == "-")
                elif output != "-":
                    say(encoded)
    worst = next(code for code in _WORST_FIRST if code in codes)
    if len(codes) > 1 and output_format == "text":
        say(f"\n{len(codes)} conversations, the worst of them: exit {int(worst)}\n", err=output == "-")
    return worst


def _refuse_nothing(conversations: tuple[str, ...], parts: dict[str, str]) -> None:
    if not conversations and not parts:
        raise UsageError(
            Problem(
                code="nothing_to_evaluate",
                message="there is no evidence to judge",
                expected="a CONVERSATION, or parts of one by --transcript, --trace, --timing or --state",
                mend="Try `averment demo` to see one.",
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


def _explain_swap(document: str, conversations: tuple[str, ...]) -> None:
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
