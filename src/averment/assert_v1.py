"""The contract's own functions, thin: the names and shapes that code written for assert.v1 calls.

    from averment.assert_v1 import build_context, run_assertions_from_file

    context = build_context(transcript_path="call.json", trace_path="trace.jsonl")
    envelope = run_assertions_from_file("refunds.yaml", context)
    envelope["exit_code"]

Every mistake raises a `ValueError` (`averment.AvermentError`) that carries all problems. New code has
`averment.Document`, `averment.Evidence` and `averment.run`, which this module calls.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from averment.documents import Document, InconclusivePolicy
from averment.engine import run
from averment.errors import Problem, UsageError
from averment.evidence import Evidence

__all__ = [
    "build_context",
    "build_report_html",
    "build_report_md",
    "run_assertions",
    "run_assertions_from_file",
    "run_assertions_from_yaml",
]

PathLike = str | os.PathLike[str]


def build_context(
    *,
    transcript: Any = None,
    transcript_path: PathLike | None = None,
    spans: Any = None,
    trace_path: PathLike | None = None,
    timing: Any = None,
    state: Any = None,
    state_path: PathLike | None = None,
) -> Evidence:
    """The evidence of one conversation, from values or files; what is None is absent, what is empty is evidence.

    Args:
        transcript: a list of turns, `[{role, text, start, end}]`.
        transcript_path: a transcript file, instead.
        spans: a list of spans, `[{type, ...}]`.
        trace_path: a trace file, instead.
        timing: a list of timing events, or one object.
        state: records by resource, `{resource: rows}`.
        state_path: a JSON fixture or an SQLite file, instead.

    Raises:
        UsageError: a part is given both as a value and as a file.
        EvidenceError: something can't be read.
    """
    pairs = {
        "transcript": (transcript, transcript_path),
        "spans": (spans, trace_path),
        "state": (state, state_path),
    }
    problems = [
        Problem(
            code="given_twice",
            message=f"`{name}` is given both as a value and as a file",
            mend="Give one of them.",
        )
        for name, (value, path) in pairs.items()
        if value is not None and path is not None
    ]
    if problems:
        raise UsageError(problems)
    if transcript_path is None and trace_path is None and state_path is None:
        return Evidence(transcript=transcript, trace=spans, timing=timing, state=state)
    values = Evidence(transcript=transcript, trace=spans, timing=timing, state=state)
    return values.joined(transcript=transcript_path, trace=trace_path, state=state_path)


def run_assertions(
    doc: Mapping[str, Any], ctx: Evidence, inconclusive_policy: InconclusivePolicy | None = None
) -> dict[str, Any]:
    """The envelope, as a plain dict, of a document that is a mapping.

    Raises:
        DocumentError: the document has mistakes; nothing was evaluated.
        UsageError: there is no such policy.
    """
    return run(Document.of(doc), ctx, inconclusive_policy=inconclusive_policy).to_dict(compat=True)


def run_assertions_from_yaml(
    text: str | bytes, ctx: Evidence, inconclusive_policy: InconclusivePolicy | None = None
) -> dict[str, Any]:
    """The envelope of a document that is a text, YAML or JSON; raises as `run_assertions` does."""
    return run(Document.parse(text), ctx, inconclusive_policy=inconclusive_policy).to_dict(compat=True)


def run_assertions_from_file(
    path: PathLike, ctx: Evidence, inconclusive_policy: InconclusivePolicy | None = None
) -> dict[str, Any]:
    """The envelope of a document in a file; raises as `run_assertions` does."""
    return run(Document.load(path), ctx, inconclusive_policy=inconclusive_policy).to_dict(compat=True)


def build_report_html(
    *,
    assertions: Mapping[str, Any],
    conversation: Any = None,
    trace: Any = None,
    rubric: None = None,
    reliability: None = None,
) -> str:
    """The page about an envelope, in one file; without the conversation it has cards only, and says so.

    Args:
        assertions: the envelope, as `run_assertions` returns it.
        conversation: the evidence that was judged (`build_context`), or its transcript as a list of turns.
        trace: its list of spans, beside a transcript.
        rubric: judge-scored results; there are none, so this must be left out.
        reliability: results of repetitions; `averment.report` has them, so this must be left out.

    Raises:
        UsageError: `assertions` is no assert.v1 envelope, the conversation is another one than was judged, or
            something is given that must be left out.
    """
    from averment.report import html

    return html(assertions, _judged_evidence(conversation, trace, rubric=rubric, reliability=reliability))


def build_report_md(
    *,
    assertions: Mapping[str, Any],
    conversation: Any = None,
    trace: Any = None,
    rubric: None = None,
    reliability: None = None,
) -> str:
    """The same in Markdown; arguments and errors as for `build_report_html`."""
    from averment.report import markdown

    return markdown(assertions, _judged_evidence(conversation, trace, rubric=rubric, reliability=reliability))


def _judged_evidence(conversation: Any, trace: Any, **unknown: object) -> Evidence | None:
    """The evidence of a report, of what its caller has."""
    problems = [
        Problem(
            code="not_supported",
            message=f"`{name}` is given, and averment has no such results",
            mend=f"Leave `{name}` out: the shelf of model-judged results stays empty, and says so.",
        )
        for name, value in unknown.items()
        if value is not None
    ]
    if isinstance(conversation, Evidence) and trace is not None:
        message = "`trace` is given beside evidence, which has its own"
        problems.append(Problem(code="given_twice", message=message, mend="Leave `trace` out."))
    if problems:
        raise UsageError(problems)
    if isinstance(conversation, Evidence):
        return conversation
    if conversation is None and trace is None:
        return None
    return build_context(transcript=conversation, spans=trace)
