from __future__ import annotations

from collections.abc import Callable

import pytest

from averment.errors import Problem
from averment.oracle.model.pack import Pack
from averment.oracle.tasks.codes import CODES, problem_at
from averment.text.structs import Mistake

Handmade = Callable[..., Pack]


def test_every_code_has_a_sentence_and_a_mend() -> None:
    """In the order of their names."""
    assert list(CODES) == sorted(CODES)
    assert all(reason.about.endswith(".") and reason.mend.endswith(".") for reason in CODES.values())


def test_a_problem_has_the_place_of_its_mistake(handmade: Handmade) -> None:
    """And the mend of its code, where it brings no better one."""
    pack = handmade([{"turn_policy": "single_turn", "assistant_milestones": [{"type": "decline"}]}])
    mistake = Mistake("missing_text", "there is none", (0, "turn_policy"))
    problem = problem_at(pack, "templates", mistake, severity="warning")
    assert (problem.file, problem.line, problem.path) == ("task_templates.yaml", 3, "$[0].turn_policy")
    assert (problem.mend, problem.severity) == (CODES["missing_text"].mend, "warning")
    assert problem_at(pack, "templates", Mistake("x", "y", mend="Do it.")).mend == "Do it."


@pytest.mark.parametrize(("role", "file"), [("system_prompt", "prompt.txt"), ("elsewhere", "elsewhere")])
def test_a_file_that_is_no_document_is_named(handmade: Handmade, role: str, file: str) -> None:
    """Or its role, where the pack does not have it."""
    pack = handmade(files={"system_prompt": "prompt.txt"})
    assert problem_at(pack, role, Mistake("x", "y", (1,))) == Problem(code="x", message="y", file=file)
