"""What missing evidence means for a verdict, decided in one place.

A channel that is absent or unreadable can answer nothing. One that is truncated, partial or redacted still proves
what it shows, and never that something is not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from averment.assertions.base import Channel, Finding, Gap, Status, inconclusive
from averment.assertions.codes import Code
from averment.evidence.view import View

__all__ = ["absent_finding", "may_lack", "weighed"]

_ABSENT: Mapping[str, tuple[Code, str, str]] = {
    "transcript": (
        Code.TRANSCRIPT_ABSENT,
        "transcript",
        "Supply the transcript: `--transcript FILE`, or `transcript` in the conversation.",
    ),
    "executions": (
        Code.TRACE_ABSENT,
        "trace",
        "Supply the trace of tool calls: `--trace FILE`, or `spans` in the conversation.",
    ),
    "http": (
        Code.HTTP_ABSENT,
        "HTTP",
        "Record HTTP exchanges in the trace, as spans of type `http_exchange`.",
    ),
    "handoff": (
        Code.HANDOFF_ABSENT,
        "handoff",
        "Record handoffs in the trace, as spans of type `handoff`.",
    ),
    "dtmf": (
        Code.DTMF_ABSENT,
        "keypad",
        "Record keyed digits in the trace, as spans of type `dtmf`.",
    ),
    "termination": (
        Code.TERMINATION_ABSENT,
        "termination",
        "Record the end of the conversation in the trace, as a span of type `call_ended`.",
    ),
    "timing": (
        Code.TIMING_ABSENT,
        "timing",
        "Supply timing events: `--timing FILE`, or `timing` in the conversation.",
    ),
    "state": (
        Code.STATE_ABSENT,
        "state-adapter",
        "Supply the system of record: `--state FILE`, or `state` in the conversation.",
    ),
}


_OF_TRACE = frozenset({"http", "handoff", "dtmf", "termination"})


def absent_finding(view: View, channel: Channel, details: Mapping[str, Any] | None = None) -> Finding:
    """INCONCLUSIVE, because the channel can answer nothing; says what would supply it."""
    if channel in _OF_TRACE and view.is_missing("executions"):
        channel = "executions"  # there is no trace at all, which is what to say
    code, noun, how = _ABSENT[channel]
    state, why = view.coverage(channel)
    if state != "absent":
        code = Code.STATE_UNREADABLE if channel == "state" else Code.CHANNEL_UNREADABLE
        how = "Mend the source, or supply another."
    how = view.how(channel) or how
    return inconclusive(
        code,
        lambda: f"the {noun} evidence is {state}" + (f": {why}" if why else "") + f". {how}",
        f"required {noun} evidence was missing",
        details=details or {},
        gap=Gap(channel, state, how),
    )


def may_lack(view: View, channel: Channel) -> bool:
    """Whether something may have happened that the channel does not show; `weighed` knows what that leaves open."""
    return (
        view.is_incomplete(channel)
        or (channel == "executions" and bool(view.unanswered))
        or (channel == "http" and view.lacks_bodies)
    )


def weighed(
    view: View,
    finding: Finding,
    *,
    asks_role: bool = False,
    tools: frozenset[str] = frozenset(),
    reads_bodies: bool = False,
) -> Finding:
    """The finding, or INCONCLUSIVE when it rests on something not being in evidence that is incomplete.

    Args:
        view: the evidence.
        finding: what the check found.
        asks_role: whether the check looked at what somebody in a role said, and not at what was said.
        tools: the tools whose executions it rests on.
        reads_bodies: whether it looks at what HTTP exchanges were answered.
    """
    channel = finding.absence_of
    if channel is None or finding.status is Status.INCONCLUSIVE:
        return finding
    if channel == "transcript" and asks_role and view.has_unknown_speakers:
        return _incomplete(view, finding, "speakers", Code.SPEAKERS_UNKNOWN, "speaker")
    if view.is_incomplete(channel):
        return _incomplete(view, finding, channel, Code.CHANNEL_TRUNCATED, _ABSENT[channel][1])
    if channel == "http" and reads_bodies and view.lacks_bodies:
        return _incomplete(view, finding, "bodies", Code.BODIES_NOT_RECORDED, "response")
    if finding.absent_tools is not None:
        tools = tools.intersection(finding.absent_tools)
    if channel == "executions" and not view.unanswered.isdisjoint(tools):
        return _unanswered(view, finding, sorted(view.unanswered & tools))
    return finding


def _unanswered(view: View, finding: Finding, tools: Sequence[str]) -> Finding:
    calls = [call for call in view.calls if call.status == "unanswered" and call.name in tools]
    verdict = finding.status.value
    how = "Record the tool's answer, or count what was asked for with `reading: requested`."
    return msgspec.structs.replace(
        finding,
        status=Status.INCONCLUSIVE,
        code=Code.CALL_UNANSWERED,
        reason=lambda: (
            f"{', '.join(f'`{name}`' for name in tools[:5])} was asked for and never answered, so it may have been "
            f"executed all the same; {verdict} would rest on its not being. {how}"
        ),
        public="a call was never answered",
        calls=calls[:20],
        gap=Gap("executions", "partial", how),
    )


def _incomplete(
    view: View, finding: Finding, channel: Channel | Literal["speakers", "bodies"], code: Code, noun: str
) -> Finding:
    state, why = view.coverage(channel)
    verdict = finding.status.value
    how = view.how(channel) or "Record this evidence completely in its source."
    return msgspec.structs.replace(
        finding,
        status=Status.INCONCLUSIVE,
        code=code,
        reason=lambda: (
            f"the {noun} evidence is {state}{f' ({why})' if why else ''}; "
            f"{verdict} would rest on what is not in it. {how}"
        ),
        public=f"required {noun} evidence was incomplete",
        gap=Gap(channel, state, how),
    )
