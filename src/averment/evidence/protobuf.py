"""OTLP as protobuf: the body of an export request, as the value that its JSON form would be.

The messages come from `opentelemetry-proto`, which is the extra `otel`; nothing of it is imported before such bytes
are met. Traces and logs begin alike in protobuf, so what they are is decided by the ids of what they hold.
"""

from __future__ import annotations

import binascii
from typing import Any

from averment.errors import EvidenceError, Problem

__all__ = ["read_protobuf"]

_NESTING = 150
"""What a message can nest at most as JSON: protobuf stops at 100 messages inside each other, and three make four."""

_TRACE_ID, _SPAN_ID = 16, 8


def read_protobuf(data: bytes, name: str | None) -> tuple[Any, int]:
    """The OTLP/JSON value that the bytes stand for, and an upper bound of how deep it nests.

    Raises:
        EvidenceError: they are no traces or logs, or the extra is not installed.
    """
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    except ImportError:
        message = "this looks like OTLP as protobuf, which needs the extra `otel`"
        mend = '`pip install "averment[otel]"`, or export OTLP/JSON.'
        raise EvidenceError(Problem(code="missing_extra", message=message, file=name, mend=mend)) from None
    for kind, is_it in ((TracesData, _are_traces), (LogsData, _are_logs)):
        message = kind()
        try:
            message.ParseFromString(data)
        except (DecodeError, UnicodeDecodeError):
            continue
        if is_it(message):
            try:
                value = MessageToDict(message)
            except (ValueError, RecursionError):
                continue
            return _with_hex_ids(value), _NESTING
    expected = "an ExportTraceServiceRequest or ExportLogsServiceRequest"
    raise EvidenceError(
        Problem(
            code="protobuf_unreadable",
            message="this is binary, and neither traces nor logs of OTLP",
            file=name,
            expected=expected,
            mend="Export traces, as protobuf or JSON; a file of several messages has to be taken apart first.",
        )
    )


def _are_traces(data: Any) -> bool:
    spans = [
        span for resource in data.resource_spans for scope in resource.scope_spans for span in scope.spans
    ]
    return bool(spans) and all(
        len(span.trace_id) == _TRACE_ID and len(span.span_id) == _SPAN_ID for span in spans
    )


def _are_logs(data: Any) -> bool:
    records = [
        record
        for resource in data.resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]
    return bool(records) and all(
        len(record.trace_id) in (0, _TRACE_ID)
        and len(record.span_id) in (0, _SPAN_ID)
        and (record.time_unix_nano or record.observed_time_unix_nano)
        for record in records
    )


_RECORDS = (("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords"))


def _with_hex_ids(value: Any) -> Any:
    """The ids in hex, as OTLP/JSON has them; protobuf's own JSON has base64."""
    for resources, scopes, records in _RECORDS:
        for resource in value.get(resources, ()):
            for scope in resource.get(scopes, ()):
                for record in scope.get(records, ()):
                    for key in ("traceId", "spanId", "parentSpanId"):
                        if key in record:
                            record[key] = binascii.a2b_base64(record[key]).hex()
    return value
