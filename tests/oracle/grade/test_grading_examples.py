from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest
from example_packs import NAMES, ROOT
from graded_packs import chat, evidence, rows_of, steps_of

from averment.oracle.catalog.samples.values import sample_arguments
from averment.oracle.grade.grading import Grader
from averment.oracle.grade.metrics import METRICS, metrics
from averment.oracle.grade.report import GradedRun
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.running import running


class Example(msgspec.Struct, frozen=True):
    """An example pack with all its tasks."""

    name: str
    rows: list[dict[str, Any]]
    grader: Grader
    by_trace: Grader

    def graded(self, runs: list[Any], *, trace_only: bool = False) -> list[GradedRun]:
        """What runs are graded, side by side."""
        grader = self.by_trace if trace_only else self.grader
        with ThreadPoolExecutor(max_workers=2) as pool:
            return list(pool.map(lambda run: grader.grade(evidence(run), label="run"), runs))


@pytest.fixture(scope="module", params=NAMES)
def example(request: pytest.FixtureRequest) -> Iterator[Example]:
    """A pack at work."""
    with running(load_pack(ROOT / request.param), Options()) as at_work:
        rows = rows_of(at_work)
        by_id = {row["task_id"]: row for row in rows}
        yield Example(request.param, rows, Grader(at_work, by_id), Grader(at_work, by_id, trace_only=True))


def failing(graded: GradedRun) -> list[tuple[str, str | None, str | None]]:
    return [(gate.name, gate.why, gate.detail) for gate in graded.gates if gate.status == "failed"]


def test_every_task_of_gold_passes_when_its_calls_are_made_again(example: Example) -> None:
    """All gates, of outcome and of path, and every metric that has a value is whole."""
    found = example.graded([chat(row, steps_of(row)) for row in example.rows])
    assert [(run.task_id, failing(run)) for run in found if run.success != "passed"] == []
    assert {run.outcome.mode for run in found} == {"executable"}
    assert [call for run in found for call in run.outcome.executed if call.differs_at] == []
    for metric in metrics(found):
        assert (metric.numerator, metric.undecided) == (metric.denominator, 0), metric.name
        assert (metric.value is None) == (metric.reason is not None) == (metric.denominator == 0)


def test_every_task_of_gold_passes_where_its_trace_decides(example: Example) -> None:
    """Nothing is made again; what asks for the state stays open, and no gate fails."""
    found = example.graded([chat(row, steps_of(row)) for row in example.rows], trace_only=True)
    assert [(run.task_id, failing(run)) for run in found if run.success == "failed"] == []
    decided = [run for run in found if run.success == "passed"]
    assert len(decided) >= 5
    for run in found:
        statuses = {verdict.status for verdict in run.outcome.assertions}
        assert (run.success == "passed") == ("not_run" not in statuses)
        assert (run.path.status, run.outcome.mode) == ("passed", "trace")


def test_no_fixed_agent_passes_a_task_that_expects_calls(example: Example) -> None:
    """One that is silent, one that declines, one that calls every tool once: each fails by its own doing."""
    silent = [chat(row, steps_of(row)[:1]) for row in example.rows]
    declining = [chat(row, [steps_of(row)[0], "I am sorry, I can't help with that."]) for row in example.rows]
    busy = [chat(row, [steps_of(row)[0], *_every_tool(row), "That is all."]) for row in example.rows]
    expects = [bool(row["expected_tool_calls"]) for row in example.rows]
    assert any(expects)
    assert not all(expects)
    for name, runs in (("silent", silent), ("declining", declining), ("busy", busy)):
        for is_expecting, graded in zip(expects, example.graded(runs), strict=True):
            if is_expecting or name != "declining":
                assert (graded.success, graded.attribution) == ("failed", "candidate"), (name, graded.task_id)
                assert failing(graded)


def _every_tool(row: dict[str, Any]) -> list[Any]:
    functions = [tool["function"] for tool in json.loads(row["tools"])]
    return [[(each["name"], sample_arguments(each["parameters"]).arguments)] for each in functions]


def test_a_run_of_another_task_passes_none(example: Example) -> None:
    """Each task's gold, graded as the next task of its template."""
    pairs = [
        (row, other)
        for row, other in zip(example.rows, example.rows[1:] + example.rows[:1], strict=True)
        if row["expected_tool_calls"]
    ]
    runs = []
    for row, other in pairs:
        run = chat(row, steps_of(row))
        runs.append(run | {"metadata": {"task_id": other["task_id"]}})
    for (row, other), graded in zip(pairs, example.graded(runs), strict=True):
        assert graded.success == "failed", (row["task_id"], other["task_id"])


def test_metrics_are_all_there_in_order_and_none_is_called_a_score(example: Example) -> None:
    """Integers over integers; nothing sums them up."""
    row = example.rows[0]
    (graded,) = example.graded([chat(row, steps_of(row))])
    found = metrics([graded])
    assert [metric.name for metric in found] == list(METRICS)
    assert all(type(number) is int for each in found for number in (each.numerator, each.denominator))
    keys = set(_keys(msgspec.to_builtins([graded, found])))
    assert [key for key in keys if "score" in key] == []


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for part in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    ):
        yield from _keys(part)
