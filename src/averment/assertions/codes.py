"""Every code a result can carry: one closed enumeration, two causes never share one.

A code is what programs match on; the prose beside it may change, a code does not.
"""

from __future__ import annotations

import enum
from typing import Self

__all__ = ["Code"]


class Code(enum.StrEnum):
    """Why a result is not PASS. The value is what stands in the envelope; `meaning` is its documentation."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        """A member whose value is `value`, documented by `meaning`."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    # INCONCLUSIVE: something that the check needs is missing or can't be relied on.
    TRANSCRIPT_ABSENT = "transcript_absent", "No transcript was supplied."
    TRACE_ABSENT = "trace_absent", "No trace of tool calls and spans was supplied."
    HTTP_ABSENT = "http_absent", "The source does not show HTTP exchanges."
    HANDOFF_ABSENT = "handoff_absent", "The source does not show handoffs."
    DTMF_ABSENT = "dtmf_absent", "The source does not show keyed digits."
    TERMINATION_ABSENT = "termination_absent", "The source does not show how the conversation ended."
    TIMING_ABSENT = "timing_absent", "No timing evidence was supplied."
    STATE_ABSENT = "state_absent", "No system of record was supplied."
    SNAPSHOTS_ABSENT = "snapshots_absent", "The resource was not recorded both before and after."
    NOTHING_TO_COMPARE = (
        "nothing_to_compare",
        "The filters select no record before or none after, so there is no change to look at.",
    )
    STATE_UNREADABLE = "state_unreadable", "The system of record was supplied and could not be read."
    CHANNEL_UNREADABLE = "channel_unreadable", "The evidence was supplied and could not be read."
    CHANNEL_TRUNCATED = (
        "channel_truncated",
        "The evidence is incomplete, and the verdict rests on what is not in it.",
    )
    SPEAKERS_UNKNOWN = (
        "speakers_unknown",
        "The source labels speakers without saying who is who, and the verdict rests on a role.",
    )
    CALL_UNANSWERED = (
        "call_unanswered",
        "A call that matters was asked for and never answered, so whether it was executed is not known.",
    )
    ARGUMENTS_NOT_RECORDED = (
        "arguments_not_recorded",
        "The source does not show the arguments of a call that matters.",
    )
    ARGUMENTS_UNREADABLE = (
        "arguments_unreadable",
        "The arguments of a call that matters were recorded and can't be parsed.",
    )
    RESULTS_NOT_RECORDED = (
        "results_not_recorded",
        "The source does not show the result of a call that matters.",
    )
    RESULTS_REDACTED = (
        "results_redacted",
        "The result of a call that matters was removed before it reached us.",
    )
    TURN_TOO_LONG = (
        "turn_too_long",
        "A turn is too long for the groups of a pattern to be told in bounded time.",
    )
    BODIES_NOT_RECORDED = (
        "bodies_not_recorded",
        "The source does not show the response of an HTTP exchange that matters.",
    )
    ERRORS_NOT_RECORDED = (
        "errors_not_recorded",
        "The source does not show whether a call that matters went wrong, or with which error.",
    )
    NO_CLOCK = (
        "no_clock",
        "The order or distance of events can't be told: they have no times on a common clock.",
    )
    NO_MEASUREMENT = "no_measurement", "Nothing that could be measured was recorded."
    REFERENCE_INCONCLUSIVE = (
        "reference_inconclusive",
        "An assertion that the formula refers to is INCONCLUSIVE.",
    )
    NOT_APPLICABLE = (
        "not_applicable",
        "The conversation is not one that the assertion is about (`applies_if`).",
    )
    METADATA_ABSENT = "metadata_absent", "The labels or metadata that `applies_if` asks about are not there."
    SKIPPED = "skipped", "An assertion named in `when` did not pass, so the check was not run."
    RUBRIC_LANE = "rubric_lane", "A rubric asks for judgement, which no assertion decides."
    TIMING_LANE = "timing_lane", "Timing contracts are for the timing lane, which does not exist yet."
    NOT_PRODUCED = (
        "not_produced",
        "The command that was to produce the conversation failed, ran out of time, or wrote none that can be read.",
    )
    INTERNAL_ERROR = (
        "internal_error",
        "The check itself failed; this is a defect of averment, and the run exits 3.",
    )

    # FAIL: the evidence is there and says no.
    NOT_FOUND = "not_found", "What must occur does not."
    FOUND_BUT_FORBIDDEN = "found_but_forbidden", "What must not occur does."
    VALUE_MISMATCH = "value_mismatch", "It occurs, but not with the expected values."
    FIELD_MISSING = "field_missing", "The record has no such field."
    RECORD_NOT_FOUND = "record_not_found", "The system of record has no record that the filters select."
    COUNT_OUT_OF_BOUNDS = "count_out_of_bounds", "It occurs more or fewer times than allowed."
    OVER_LIMIT = "over_limit", "It takes longer, or is larger, than allowed."
    WRONG_ORDER = "wrong_order", "It occurs, but not in the required order."
    TOO_EARLY = "too_early", "A tool was called before the call that must precede it."
    PII_FOUND = "pii_found", "Personal data stands in the transcript."
    POLICY_VIOLATED = "policy_violated", "A rule of the policy is violated."
    OUTCOME_NOT_MET = "outcome_not_met", "Too few of the outcome's conditions hold."
    CLAIM_UNBACKED = (
        "claim_unbacked",
        "Something is said to be done, and no successful call of the tool backs it.",
    )
    FORMULA_FALSE = "formula_false", "The formula is false."
