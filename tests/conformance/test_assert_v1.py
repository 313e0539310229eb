"""The recorded cases of the reference, read where the project's shared folder is beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from averment.assert_v1 import build_context, run_assertions, run_assertions_from_yaml
from averment.errors import AvermentError

CASES = Path(__file__).parents[3] / "shared" / "conformance" / "assert-v1.jsonl"

EXCEPTIONS: Mapping[str, str] = {}
"""Cases that contradict the differences of assert-v1.md or the definitions, with the row that they follow."""


def _cases() -> Iterator[Any]:
    if not CASES.is_file():
        yield pytest.param(
            None, id="absent", marks=pytest.mark.skip(reason=f"the conformance cases are absent: {CASES}")
        )
        return
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        yield pytest.param(case, id=case["name"])


@pytest.mark.parametrize("case", list(_cases()))
def test_case_gives_the_recorded_verdict_and_grounds(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Statuses, exit code and recorded grounds are those of the reference, or a reasoned exception."""
    if case["name"] in EXCEPTIONS:
        pytest.xfail(EXCEPTIONS[case["name"]])
    monkeypatch.chdir(tmp_path)
    for name, content in case.get("files", {}).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    expected = case["expected"]
    if expected.get("usage_error"):
        with pytest.raises(AvermentError) as caught:
            _run(case, tmp_path)
        assert caught.value.problems
        return
    envelope = _run(case, tmp_path)
    assert envelope["exit_code"] == expected["exit_code"]
    for result, recorded in zip(envelope["results"], expected["results"], strict=True):
        assert {key: result.get(key) for key in recorded} == recorded, result.get("reason")


def _run(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    context = dict(case["context"])
    arguments: dict[str, Any] = {name: context[name] for name in ("spans", "timing", "state", "transcript")}
    for key, argument, name in (
        ("transcript_file", "transcript_path", "transcript.json"),
        ("trace_jsonl", "trace_path", "trace.jsonl"),
    ):
        if key in context:
            content = context[key]
            (folder / name).write_text(
                content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
            )
            arguments[argument] = folder / name
    evidence = build_context(**arguments)
    policy = case.get("inconclusive_policy")
    if "document_text" in case:
        return run_assertions_from_yaml(case["document_text"], evidence, policy)
    return run_assertions(case["document"], evidence, policy)
