"""New packs in real workers: a starter is gold as it is, a draft fails where its stubs are and nowhere else."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from averment.oracle.certify import certify
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.oracles import Context
from averment.oracle.worker.assertions import AssertionRunner
from averment.oracle.worker.backend import BackendOracle, Workers
from averment.oracle.worker.nursery import Nursery

New = Callable[..., Path]

TOOLS = [
    {
        "type": "function",
        "name": "get_order",
        "parameters": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    },
    {
        "type": "function",
        "name": "cancel.order",
        "parameters": {
            "type": "object",
            "properties": {"id": {"type": "integer", "minimum": 5}, "confirm": {"type": "boolean"}},
            "required": ["id"],
        },
        "x-mutates": True,
        "x-requires-confirmation": True,
    },
]


@pytest.mark.parametrize(
    "options",
    [(), ("--held-out", "--language", "vi", "--version", "2.1.0")],
    ids=["plain", "with everything"],
)
def test_a_starter_is_gold_without_a_warning(new: New, options: tuple[str, ...]) -> None:
    """Every check passes, lint has nothing to say, and nothing was tried that is refused."""
    found = certify(new("archive", *options), strict=True)
    assert [(row.id, row.failures) for row in found.rows if row.status != "pass"] == []
    assert found.warnings == ()
    assert found.attempts == ()
    assert found.tier == "gold"


def test_a_copy_elsewhere_has_the_same_rows(new: New, tmp_path: Path) -> None:
    """Nothing of a pack says where it lies."""
    folder = new()
    copied = tmp_path / "moved"
    shutil.copytree(folder, copied)
    there, here = certify(copied, strict=True), certify(folder, strict=True)
    assert there.pack.fingerprint == here.pack.fingerprint
    assert there.rows == here.rows


def test_a_draft_fails_where_its_stubs_are_and_nowhere_else(new: New) -> None:
    """What the tools should do is what fails; names, schemas, sources and plans are right."""
    found = certify(new("shop", tools=TOOLS), strict=True)
    failed = {
        row.id: {failure.reason for failure in row.failures} for row in found.rows if row.status != "pass"
    }
    assert failed == {
        "5": {"result_class_mismatch", "incomplete_validation_coverage"},
        "6": {"confirm_false_bad_status"},
        "7": {"representative_replay_failed"},
        "M1": {"declared_mutation_not_observed"},
        "D1": {"no_success_case_to_repeat"},
    }
    assert found.warnings == ()
    assert found.tier == "silver"
    tasks = next(row.failures for row in found.rows if row.id == "7")
    assert [failure.facts["replay_reason"] for failure in tasks] == ["assertion_failed"] * 2
    assert all("the call was refused: {'code': 'not_implemented'" in failure.message for failure in tasks)


@pytest.fixture
def workers(new: New) -> Iterator[Workers]:
    """Workers for a starter."""
    folder = new()
    with Nursery(folder, fixtures=(folder / "fixtures.json").read_text(encoding="utf-8")) as nursery:
        nursery.start()
        yield Workers(nursery, Options())


def test_every_task_passes_on_evidence_that_can_t_be_changed(
    new: New, running: Any, workers: Workers
) -> None:
    """Played in workers, where assertions are given frozen copies of state and trace."""
    folder = new(target="again")
    pack = running(folder)
    loaded = load_pack(folder, strict=True)
    oracle = BackendOracle(workers, "backend.py")
    runner = AssertionRunner(workers, "assertions.py")
    for template in loaded.templates:
        task = next(pack.tasks(template.template_id))
        trace = []
        with oracle.episode(Context(task_id=template.template_id)) as episode:
            episode.reset()
            for call in pack.play(template.template_id, task):
                result = episode.call(call["tool"], call["arguments"], turn_index=call["turn_index"])
                trace.append({**call, "result": result})
            state = episode.state()
        verdicts = runner.run(
            template.success_assertions, state=state, trace=trace, task=task, context=Context()
        )
        assert [verdict["status"] for verdict in verdicts] == ["passed"], verdicts
