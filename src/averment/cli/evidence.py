"""`averment evidence`.

See what averment reads of a recorded conversation, or write it in another shape.

`show` prints how the format was recognised, what the file can and can't show, what happened, and every note. Of a file
that holds many conversations it prints a list; `--conversation ID` shows one, `--all` every one.
`convert` writes a conversation as averment's own evidence file (which loses nothing), as a voice_trace.v1 trace, or
as OpenAI chat messages; what the other shape can't hold is told on standard error.
`formats` lists every format that is read.

Examples:
  averment evidence show call.json
  averment evidence show export.otlp.json --format json
  averment evidence convert vapi-report.json --to averment --output call.evidence.json
  averment evidence formats
"""

from __future__ import annotations

import argparse

from averment.cli.inputs import add_reading, reading, refuse_twice
from averment.cli.outputs import refuse_overwriting
from averment.cli.parser import Parser
from averment.errors import ExitCode, Problem, UsageError

__all__ = ["configure", "execute"]


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "action", metavar="ACTION", choices=["show", "convert", "formats"], help="show, convert or formats"
    )
    parser.add_argument("files", metavar="FILE", nargs="*", help="what was recorded; `-` is standard input")
    add_reading(parser)
    about = "show or convert only this conversation of a file that holds many"
    parser.add_argument("--conversation", metavar="ID", dest="wanted", help=about)
    about = "show or convert every conversation of a file that holds many"
    parser.add_argument("--all", dest="every", action="store_true", help=about)
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help="how `show` prints; text by default"
    )
    parser.add_argument("--to", choices=["averment", "voice_trace", "openai"], help="what `convert` writes")
    parser.add_argument("--output", metavar="FILE", help="write to this file, not to standard output")


def execute(args: argparse.Namespace) -> int:
    """Shows, converts or lists."""
    if args.action == "formats":
        return _formats()
    refuse_twice(*args.files)
    refuse_overwriting({"--output": args.output}, (*args.files, args.mapping))
    if not args.files:
        message = f"`averment evidence {args.action}` needs a file"
        raise UsageError(Problem(code="usage", message=message, mend="See `averment evidence --help`."))
    if args.action == "show" and args.to is not None:
        mend = "Use `averment evidence convert`."
        raise UsageError(Problem(code="usage", message="`show` takes no `--to`", mend=mend))
    if args.action == "convert":
        return _convert(args)
    return _show(args)


def _formats() -> int:
    from averment.cli.outputs import say
    from averment.evidence.formats import FORMATS

    width = max(len(form.name) for form in FORMATS)
    say("".join(f"{form.name:<{width}}  {form.title}\n" for form in FORMATS))
    return ExitCode.YES


def _show(args: argparse.Namespace) -> int:
    from averment.cli.inputs import load_conversations
    from averment.cli.outputs import writing
    from averment.report.evidence import as_object, as_text, listed
    from averment.text.jsontext import canonical_known
    from averment.text.shown import inert_json

    with writing(args.output or "-") as write:
        for number, name in enumerate(args.files):
            found = load_conversations(name, reading(args), wanted=args.wanted)
            if args.format == "json":
                for label, evidence in found:
                    write(inert_json(canonical_known(as_object(evidence, label))) + b"\n")
                continue
            if len(found) > 1 and not args.every:
                text = listed([evidence for _, evidence in found], name)
            else:
                text = "\n".join(as_text(evidence, label) for label, evidence in found)
            write(f"{chr(10) if number else ''}{text}".encode("utf-8", "backslashreplace"))
    return ExitCode.YES


def _convert(args: argparse.Namespace) -> int:
    from averment.cli.inputs import load_conversations
    from averment.cli.outputs import say, writing
    from averment.errors import EvidenceError
    from averment.evidence.write import WRITERS
    from averment.text.shown import brief, inert

    if args.to is None:
        message = "what the conversation is to be converted to is missing"
        mend = "Add `--to averment`, `--to voice_trace` or `--to openai`."
        raise UsageError(Problem(code="usage", message=message, mend=mend))
    in_lines = args.every or len(args.files) > 1
    if args.to == "voice_trace" and len(args.files) > 1:
        message = "a trace holds one conversation, so several files can't be written as one"
        raise UsageError(Problem(code="usage", message=message, mend="Convert them one by one."))
    with writing(args.output or "-") as write:
        for name in args.files:
            found = load_conversations(name, reading(args), wanted=args.wanted)
            if len(found) > 1 and (not args.every or args.to == "voice_trace"):
                mend = "Choose one with `--conversation ID`"
                mend += "." if args.to == "voice_trace" else ", or take all with `--all`, one in each line."
                message = f"the file holds {len(found):,} conversations"
                raise EvidenceError(
                    Problem(code="several_conversations", message=message, file=name, mend=mend)
                )
            for label, evidence in found:
                if args.to == "averment":
                    write(evidence.to_json() + (b"\n" if in_lines else b""))
                    continue
                data, lost = WRITERS[args.to](evidence.model)
                write(data)
                if lost:
                    say(inert(f"{brief(label, 240)}: `{args.to}` can't hold {'; '.join(lost)}\n"), err=True)
    return ExitCode.YES
