from __future__ import annotations

import gzip
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from otel import START, flat

from averment.errors import EvidenceError
from averment.evidence import Evidence

TRACE, SPAN = bytes(range(16)), bytes(range(1, 9))


def request(**attributes: str) -> Any:
    """An export request of one execution of a tool."""
    made = ExportTraceServiceRequest()
    scope = made.resource_spans.add().scope_spans.add()
    tool = scope.spans.add(
        trace_id=TRACE, span_id=SPAN, name="execute_tool refund", start_time_unix_nano=START
    )
    tool.end_time_unix_nano = START + 5
    tool.status.code = 2
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund", **attributes}
    for key, value in attributes.items():
        tool.attributes.add(key=key).value.string_value = value
    tool.attributes.add(key="big").value.int_value = 2**53 + 1
    tool.attributes.add(key="raw").value.bytes_value = b"\x00\x01"
    return made


def refused(data: bytes) -> str:
    """The code of why these bytes can't be read."""
    with pytest.raises(EvidenceError) as error:
        Evidence.all_from_bytes(data)
    return error.value.problems[0].code


def test_an_export_request_is_a_trace() -> None:
    """Ids are hex, 64-bit numbers exact; gzip is unpacked first."""
    data = request(**{"gen_ai.tool.call.arguments": '{"order": 7}'}).SerializeToString()
    for packed in (data, gzip.compress(data)):
        (evidence,) = Evidence.all_from_bytes(packed)
        assert flat(evidence) == [("refund", {"order": 7}, "error")]
        (span,) = evidence.model.spans or ()
        assert (evidence.model.conversation_id, span.id) == (TRACE.hex(), SPAN.hex())
        assert (span.start_ns, span.end_ns, span.attrs["big"], span.attrs["raw"]) == (
            START,
            START + 5,
            2**53 + 1,
            "AAE=",
        )
        assert evidence.model.notes == ()


def test_logs_are_told_from_traces() -> None:
    """Both begin alike."""
    made = LogsData()
    record = made.resource_logs.add().scope_logs.add().log_records.add(trace_id=TRACE, span_id=SPAN)
    record.time_unix_nano, record.event_name = START, "gen_ai.user.message"
    record.body.kvlist_value.values.add(key="content").value.string_value = "Refund order 7."
    (evidence,) = Evidence.all_from_bytes(made.SerializeToString())
    assert flat(evidence) == [("user", "Refund order 7.")]


def test_metrics_are_refused() -> None:
    """They hold no conversation."""
    made = MetricsData()
    metric = made.resource_metrics.add().scope_metrics.add().metrics.add(name="calls")
    metric.sum.data_points.add(as_int=3, time_unix_nano=START)
    assert refused(made.SerializeToString()) == "protobuf_unreadable"


def test_without_the_extra_its_installation_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The import fails, as it does where the extra is not installed."""
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.trace.v1.trace_pb2", None)
    with pytest.raises(EvidenceError) as error:
        Evidence.all_from_bytes(request().SerializeToString())
    (problem,) = error.value.problems
    assert problem.code == "missing_extra"
    assert problem.mend is not None
    assert 'pip install "averment[otel]"' in problem.mend


@given(data=st.data())
def test_broken_bytes_are_read_or_refused(data: Any) -> None:
    """A message that is cut or changed anywhere."""
    whole = bytearray(request().SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(1, len(whole) - 1))] = data.draw(st.integers(0, 255))
    broken = bytes(whole[: data.draw(st.integers(2, len(whole)))])
    try:
        found = Evidence.all_from_bytes(broken)
    except EvidenceError:
        return
    for evidence in found:
        Evidence.from_bytes(evidence.to_json())
