from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.model import EvidenceModel, ToolCall

META = b'{"_meta": true, "schema": "hotato.voice_trace.v1", "call_id": "c-1", "deployment": {"stack": "x"}}\n'


def read(*spans: Any) -> EvidenceModel:
    """The model of a trace of these spans."""
    return Evidence(trace=list(spans)).model


def call(**fields: Any) -> ToolCall:
    """The call that a single tool_call span of these fields is read as."""
    calls = read({"type": "tool_call", "name": "x", **fields}).calls
    assert calls is not None
    return calls[0]


def calls_of(*spans: dict[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of a trace."""
    calls = read(*spans).calls
    assert calls is not None
    return calls


def test_a_meta_line_alone_is_an_empty_trace() -> None:
    """A trace file without spans is empty, not absent; what it says of itself stays with its source."""
    model = Evidence.from_bytes(META).model
    assert (model.spans, model.calls, model.conversation_id) == ((), (), "c-1")
    assert model.sources[0].header is not None
    assert model.sources[0].header["deployment"] == {"stack": "x"}
    assert model.coverage.executions.state == "empty"


def test_lines_are_spans_in_file_order() -> None:
    """Spans keep the order of the file, whatever their times, and know their lines; blank lines are passed over."""
    model = Evidence.from_bytes(
        META + b'{"type": "b", "time_sec": 9}\n\n{"type": "a", "time_sec": 1}\n'
    ).model
    assert [(span.id, span.type, span.loc) for span in model.spans or ()] == [
        ("s_0", "b", "src_0#line 2"),
        ("s_1", "a", "src_0#line 4"),
    ]


def test_a_meta_line_of_another_schema_is_refused() -> None:
    """Only the schema that this reader knows is read."""
    with pytest.raises(EvidenceError) as error:
        Evidence.from_bytes(META.replace(b"trace.v1", b"trace.v9") + b'{"type": "a"}\n')
    assert error.value.problems[0].code == "wrong_schema"


def test_the_single_object_form_is_read() -> None:
    """The schema's form with a list of spans inside is the same trace."""
    model = Evidence.from_bytes(
        b'{"schema": "hotato.voice_trace.v1", "call_id": null, "spans": [{"type": "a"}]}'
    ).model
    assert [span.type for span in model.spans or ()] == ["a"]


@pytest.mark.parametrize("span", [5, "x", None, [], {}, {"type": None}, {"type": 5}, {"name": "x"}])
def test_an_item_that_is_no_span_is_an_error(span: Any) -> None:
    """An item without a type in text is named by its position."""
    with pytest.raises(EvidenceError) as error:
        read({"type": "a"}, span)
    assert [problem.path for problem in error.value.problems] == ["$.trace[1]"]


def test_every_other_key_of_a_span_is_kept() -> None:
    """Top-level keys stay as written, attributes stand apart, and lookups take the top level first."""
    span = (
        read({"type": "handoff", "to": None, "n": 0, "attributes": {"to": "billing", "n": 1}}).spans or ()
    )[0]
    assert span.fields == {"to": None, "n": 0}
    assert span.attrs == {"to": "billing", "n": 1}
    assert (span.field("to"), span.field("n"), span.field("x", "to"), span.field("x")) == (
        "billing",
        0,
        "billing",
        None,
    )


def test_attributes_that_are_no_object_are_kept_and_noted() -> None:
    """A list of attributes can't be looked up; it stays among the fields."""
    model = read({"type": "a", "attributes": [1]})
    assert (model.spans or ())[0].fields == {"attributes": [1]}
    assert [note.code for note in model.notes] == ["attributes_not_object"]


@pytest.mark.parametrize(
    ("fields", "times"),
    [
        ({"start_sec": 0.1, "end_sec": 1.5}, (100_000_000, 1_500_000_000)),
        ({"time_sec": 2}, (2_000_000_000, 2_000_000_000)),
        ({"start_sec": None, "time_sec": 2}, (2_000_000_000, 2_000_000_000)),
        ({"start_sec": "soon", "end_sec": 1}, (None, 1_000_000_000)),
        ({}, (None, None)),
    ],
)
def test_intervals_and_points_in_time_are_read(
    fields: dict[str, Any], times: tuple[int | None, int | None]
) -> None:
    """Seconds become nanoseconds; a point starts and ends at once; what is no number is left out."""
    span = (read({"type": "a", **fields}).spans or ())[0]
    assert (span.start_ns, span.end_ns) == times
    assert (span.clock is None) == (times == (None, None))


@pytest.mark.parametrize(
    ("fields", "args"),
    [
        ({}, {}),
        ({"arguments": None}, {}),
        ({"arguments": {}, "attributes": {"arguments": {"a": 1}}}, {}),
        ({"attributes": {"arguments": {"a": 1}}}, {"a": 1}),
        ({"arguments": [1]}, [1]),
        ({"arguments": 5}, 5),
    ],
)
def test_arguments_at_the_top_win_over_attributes(fields: dict[str, Any], args: Any) -> None:
    """Arguments at the top count even when empty, and none at all are recorded as none."""
    read_call = call(**fields)
    assert (read_call.args, read_call.args_state, read_call.args_raw) == (args, "recorded", None)


def test_arguments_in_text_are_parsed_once_and_kept() -> None:
    """JSON text becomes its value beside the text; a string inside it stays a string."""
    read_call = call(arguments='{"a": "{}"}')
    assert (read_call.args, read_call.args_raw) == ({"a": "{}"}, '{"a": "{}"}')


@pytest.mark.parametrize("text", ["", "{", "order 5", '{"a": 1} x'])
def test_arguments_that_are_no_json_are_never_an_empty_object(text: str) -> None:
    """Text that can't be parsed is kept, the arguments are unset, and a note tells why."""
    read_call = call(arguments=text)
    assert (read_call.args, read_call.args_raw) == (UNSET, text)
    assert read_call.args_error
    assert [note.code for note in read({"type": "tool_call", "arguments": text}).notes] == [
        "arguments_unreadable"
    ]


@pytest.mark.parametrize(
    ("result", "value", "raw"),
    [
        ({"a": 1}, {"a": 1}, None),
        (' {"a": 1}', {"a": 1}, ' {"a": 1}'),
        ("[1]", [1], "[1]"),
        ("done", "done", None),
        ("5", "5", None),
        ("{done}", "{done}", None),
        (0, 0, None),
        (None, UNSET, None),
    ],
)
def test_results_in_json_text_are_decoded(result: Any, value: Any, raw: str | None) -> None:
    """Text of an object or list is decoded once; other text is an answer in words, and null is no result."""
    read_call = call(result=result)
    assert (read_call.result, read_call.result_raw) == (value, raw)


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        ({}, "executed", UNSET),
        ({"result": 0}, "ok", UNSET),
        ({"ok": True}, "ok", UNSET),
        ({"status": "OK"}, "ok", UNSET),
        ({"error": "boom", "result": {}}, "error", "boom"),
        ({"error": {}}, "error", {}),
        ({"error": ""}, "executed", UNSET),
        ({"error": False}, "executed", UNSET),
        ({"error": 0}, "executed", UNSET),
        ({"attributes": {"error": "boom"}}, "error", "boom"),
        ({"status": "ERROR"}, "error", UNSET),
        ({"status": 503}, "error", UNSET),
        ({"status": 503.0}, "error", UNSET),
        ({"status": "503"}, "executed", UNSET),
        ({"status": True}, "executed", UNSET),
        ({"status_code": 404, "message": "gone"}, "error", "gone"),
        ({"status_code": 200}, "executed", UNSET),
        ({"ok": False, "error_message": "no"}, "error", "no"),
        ({"ok": 0}, "executed", UNSET),
        ({"result": {"isError": True}}, "error", UNSET),
        ({"result": {"isError": 1}}, "ok", UNSET),
        ({"status": "timed_out"}, "timeout", UNSET),
        ({"status": "cancelled", "error": "user left"}, "error", "user left"),
        ({"status": "rejected"}, "executed", UNSET),
    ],
)
def test_how_a_call_went_is_read_by_plain_rules(fields: dict[str, Any], status: str, error: Any) -> None:
    """Errors are what difference 13 says they are, and an outcome that nobody recorded is `executed`."""
    read_call = call(**fields)
    assert (read_call.status, read_call.error) == (status, error)


def test_a_retry_names_the_call_it_repeats() -> None:
    """An attempt above 1 repeats the attempt before it, the one with the same arguments where there are several."""
    calls = calls_of(
        {"type": "tool_call", "name": "x", "arguments": {"a": 1}},
        {"type": "tool_call", "name": "x", "arguments": {"a": 2}},
        {"type": "tool_call", "name": "x", "arguments": {"a": 3}},
        {"type": "tool_call", "name": "x", "arguments": {"a": 2}, "attempt": 2},
        {"type": "tool_call", "name": "y", "attempt": 2},
        {"type": "tool_call", "name": "x", "arguments": {"a": 9}, "attempt": 2},
        {"type": "tool_call", "name": "x", "arguments": {"a": 2}, "attempt": 3},
    )
    assert [each.retry_of for each in calls] == [None, None, None, "c_1", None, None, "c_3"]


def test_a_retry_marker_numbers_the_next_call() -> None:
    """After a tool_retry the next call of that name is a retry, with the number that the marker has or the next one."""
    calls = calls_of(
        {"type": "tool_call", "name": "x"},
        {"type": "tool_retry", "name": "x"},
        {"type": "tool_call", "name": "y"},
        {"type": "tool_call", "name": "x"},
    )
    assert [(each.attempt, each.retry_of) for each in calls] == [(None, None), (None, None), (2, "c_0")]


def test_a_timeout_marks_the_call_that_has_no_answer() -> None:
    """A tool_timeout decides the outcome of its attempt only where none is recorded."""
    timeout = {"type": "tool_timeout", "name": "x", "attempt": 1}
    assert calls_of({"type": "tool_call", "name": "x"}, timeout)[0].status == "timeout"
    assert calls_of({"type": "tool_call", "name": "x", "result": 1}, timeout)[0].status == "ok"
    assert calls_of({"type": "tool_call", "name": "x", "attempt": 2}, timeout)[0].status == "executed"
    assert (
        calls_of({"type": "tool_call", "name": "x"}, {"type": "tool_timeout", "name": "x"})[0].status
        == "timeout"
    )
    assert calls_of(timeout, {"type": "tool_timeout"}) == ()


@pytest.mark.parametrize("latency", ["5", True, None, 10**400, 1e300])
def test_a_latency_that_is_no_duration_is_left_out(latency: Any) -> None:
    """Only a number of a sane size is the call's own latency; the field stays as written."""
    read_call = call(latency_ms=latency)
    assert read_call.latency_ms is None
    assert call(latency_ms=1.5).latency_ms == 1.5


def test_span_ids_are_kept_where_they_are_unique() -> None:
    """An id that is taken, or could be that of another span, gives way to the position, with a note."""
    model = read(*({"type": "tool_call", "span_id": own} for own in ("a", "a", "s_0", 5, None, "s_5", "s_x")))
    assert [span.id for span in model.spans or ()] == ["a", "s_1", "s_2", "s_3", "s_4", "s_5", "s_x"]
    assert [each.span_id for each in model.calls or ()] == ["a", "s_1", "s_2", "s_3", "s_4", "s_5", "s_x"]
    assert [note.code for note in model.notes] == ["span_id_unusable"] * 3


def test_the_number_of_spans_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """More spans than the limit are refused before any is read."""
    monkeypatch.setattr("averment.evidence.readers.voice_trace.MAX_SPANS", 2)
    assert len(read({"type": "a"}, {"type": "a"}).spans or ()) == 2
    with pytest.raises(EvidenceError) as error:
        read({"type": "a"}, {"type": "a"}, {"type": "a"})
    assert error.value.problems[0].code == "too_many_spans"


def test_coverage_tells_empty_from_present() -> None:
    """A trace shows every channel of deeds; those in which nothing happened are empty."""
    coverage = read({"type": "dtmf", "digits": "1"}).coverage
    assert msgspec.to_builtins(coverage) == {
        "requests": {"state": "empty"},
        "executions": {"state": "empty"},
        "results": {"state": "empty"},
        "errors": {"state": "empty"},
        "http": {"state": "empty"},
        "handoff": {"state": "empty"},
        "dtmf": {"state": "present"},
        "termination": {"state": "empty"},
    }


def test_hostile_retries_cost_no_quadratic_time() -> None:
    """Thousands of calls that all may repeat each other are linked within a bounded search."""
    first = [{"type": "tool_call", "name": "x", "arguments": {"n": n}} for n in range(3000)]
    second = [{"type": "tool_call", "name": "x", "arguments": {"n": -1}, "attempt": 2} for _ in range(3000)]
    assert all(each.retry_of is None for each in calls_of(*first, *second)[:3000])


def test_a_result_that_begins_like_json_and_is_none_is_noted() -> None:
    """A cut-off result stays text, and the note tells that nothing inside it could be looked at."""
    model = read({"type": "tool_call", "result": '{"status": "ok'})
    assert [each.result for each in model.calls or ()] == ['{"status": "ok']
    assert [note.code for note in model.notes] == ["result_unreadable"]
