from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from averment.oracle.model.options import Options
from averment.oracle.oracles import Context, OracleError
from averment.oracle.worker.assertions import AssertionRunner
from averment.oracle.worker.backend import Workers
from averment.oracle.worker.nursery import Nursery

SOURCE = """\
import sys

def assert_passes(*, state, trace, task, ctx):
    assert (ctx.seed, ctx.task_id, ctx.turn_index) == (7, "t", 2)
    assert ctx.clock.isoformat() == "2026-01-01T00:00:00+00:00"
    assert state == {"rows": [1]} and trace == [{"tool": "get"}] and task == {"slots": {}}

def assert_fails(*, state, trace, task, ctx):
    assert len(state["rows"]) == 2

def assert_changes_the_state(*, state, trace, task, ctx):
    state["rows"].append(2)

def assert_names_its_file(*, state, trace, task, ctx):
    raise AssertionError(__file__)

def assert_exits(*, state, trace, task, ctx):
    sys.exit(3)

def assert_hidden(*, state, trace, task, ctx):
    pass

ASSERTIONS = {name: value for name, value in globals().items() if name.startswith("assert_")}
del ASSERTIONS["assert_hidden"]
"""
RunAll = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunAll]:
    """Runs assertions of one file in a worker."""
    root = tmp_path_factory.mktemp("pack")
    Path(root, "assertions.py").write_text(SOURCE)
    with Nursery(root) as nursery:
        runner = AssertionRunner(Workers(nursery, Options()), "assertions.py")

        def run_all(*names: str) -> list[dict[str, Any]]:
            return runner.run(
                names,
                state={"rows": [1]},
                trace=[{"tool": "get"}],
                task={"slots": {}},
                context=Context(seed=7, task_id="t"),
                turn_index=2,
            )

        yield run_all


def test_predicates_run_in_a_worker_as_they_do_here(run: RunAll) -> None:
    """The context arrives, verdicts come back in the order of the names."""
    assert run("assert_fails", "assert_passes") == [
        {
            "name": "assert_fails",
            "status": "failed",
            "passed": False,
            "detail": '`assert len(state["rows"]) == 2` (line 9)',
            "line": 9,
        },
        {"name": "assert_passes", "status": "passed", "passed": True, "detail": None, "line": None},
    ]


def test_what_one_predicate_does_the_next_does_not_see(run: RunAll) -> None:
    """Each has copies of its own, and they are frozen."""
    first, second = run("assert_changes_the_state", "assert_passes")
    assert first["status"] == "infrastructure_error"
    assert first["detail"].startswith("FrozenError: `x.append(...)` was tried")
    assert second["passed"]


def test_a_detail_has_no_path_that_only_this_machine_has(run: RunAll) -> None:
    """Files of the pack are named as they are inside it."""
    [verdict] = run("assert_names_its_file")
    assert verdict["detail"] == "assertions.py"


def test_an_exit_ends_the_episode(run: RunAll) -> None:
    """It is no verdict."""
    with pytest.raises(OracleError) as caught:
        run("assert_exits", "assert_passes")
    assert (caught.value.trouble, caught.value.op) == ("raised", "run_assertion")
    assert (caught.value.error_type, caught.value.file, caught.value.line) == (
        "SystemExit",
        "assertions.py",
        18,
    )


@pytest.mark.parametrize("name", ["assert_hidden", "sys", "__builtins__"])
def test_what_is_not_exported_can_not_be_run(run: RunAll, name: str) -> None:
    """Names are looked up where exports are told, and nowhere else."""
    with pytest.raises(OracleError) as caught:
        run(name)
    assert caught.value.trouble == "missing_symbol"
