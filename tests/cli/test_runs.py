from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from averment.cli import runs
from averment.cli.runs import each_run
from averment.errors import EvidenceError
from averment.evidence import Evidence


def chat(number: int, text: str = "Hello.") -> dict[str, Any]:
    return {"id": f"run {number}", "messages": [{"role": "user", "content": text}]}


def lines(*values: Any) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def read(path: Path, how: Any = None, wanted: str | None = None) -> list[tuple[str, Any]]:
    """What comes out, models and codes instead of evidence and errors."""
    found: list[tuple[str, Any]] = []
    for label, run in each_run(str(path), how, wanted=wanted):
        name = label.replace(str(path.parent), "")
        if isinstance(run, EvidenceError):
            found.append((name, [(each.code, each.line) for each in run.problems]))
        else:
            found.append((name, run))
    return found


def shown(found: list[tuple[str, Any]]) -> list[Any]:
    """What a run is, without the digest of the bytes that it was read from and its place in them."""
    return [
        (label, run if isinstance(run, list) else (run.model.conversation_id, run.model.turns[0].text))
        for label, run in found
    ]


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Small parts; how many conversations each held."""
    sizes: list[int] = []
    whole = Evidence.load_all

    def load_all(source: Any, **more: Any) -> Any:
        found = whole(source, **more)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(Evidence, "load_all", load_all)
    monkeypatch.setattr(runs, "PART_BYTES", 300)
    return sizes


def test_conversation_records_are_read_in_parts_too(tmp_path: Path, parts: list[int]) -> None:
    """As every format of which a list is many conversations."""
    path = tmp_path / "runs.jsonl"
    turns = [{"role": "user", "text": "Hello."}]
    path.write_text(lines(*({"conversation_id": f"run {at}", "transcript": turns} for at in range(30))))
    assert [label for label, _ in read(path)] == [f"/runs.jsonl [run {at}]" for at in range(30)]
    assert max(parts) < 10


@pytest.mark.parametrize("how", [None, "openai_chat"])
def test_a_file_of_lines_is_read_in_parts_to_the_same_conversations(
    tmp_path: Path, parts: list[int], how: str | None
) -> None:
    """In their order, with the same names, blank lines and lines without an id among them."""
    path = tmp_path / "runs.jsonl"
    values: list[Any] = [chat(at, "x" * (at % 7) * 20) for at in range(40)]
    del values[17]["id"]
    path.write_text(lines(*values).replace("\n", "\n\n", 3))
    found = read(path, how)
    assert len(parts) > 5
    assert max(parts) < 6
    runs.PART_BYTES = 10**9
    assert shown(found) == shown(read(path, how))
    assert found[17][0] == "/runs.jsonl [#17]"


@pytest.mark.parametrize("at", [11, 20, 29])
def test_a_line_that_cannot_be_read_is_told_with_its_place_in_the_file(
    tmp_path: Path, parts: list[int], at: int
) -> None:
    """What stands before its part has come out by then; what comes after it is not guessed at."""
    path = tmp_path / "runs.jsonl"
    values = [json.dumps(chat(number)) for number in range(30)]
    values[at] = '{"messages": ['
    path.write_text("\n".join(values))
    found = read(path)
    assert found[-1] == ("/runs.jsonl", [("json_truncated", at + 1)])
    assert 5 <= len(found) <= at + 1
    assert len(parts) > 1


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([chat(at) for at in range(20)]).encode(),
        gzip.compress(lines(*(chat(at) for at in range(90))).encode(), mtime=0),
        lines(*({"role": "user", "content": f"{at}"} for at in range(60))).encode(),
        lines(*(chat(at) for at in range(20)), {"metadata": {"a": 1}}).encode(),
        json.dumps(chat(1, "x" * 900)).encode(),
    ],
    ids=["a list", "packed", "messages", "a log with more", "one"],
)
def test_everything_else_is_read_whole(tmp_path: Path, parts: list[int], content: bytes) -> None:
    """A conversation may stand in any of its lines."""
    path = tmp_path / "runs"
    path.write_bytes(content)
    assert len(content) > 300
    assert parts == []
    found = read(path)
    assert len(parts) == 1
    assert len(found) == parts[0]


def test_one_of_many_is_found_in_a_large_file(tmp_path: Path, parts: list[int]) -> None:
    """By its id; one that is not there is told."""
    path = tmp_path / "runs.jsonl"
    path.write_text(lines(*(chat(at) for at in range(30))))
    assert [label for label, _ in read(path, wanted="run 25")] == ["/runs.jsonl [run 25]"]
    assert read(path, wanted="run 99") == [("/runs.jsonl", [("conversation_not_found", None)])]
    assert parts == [30, 30]


def test_memory_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times as many runs take as much as one part of them."""
    monkeypatch.setattr(runs, "PART_BYTES", 20_000)
    peaks = []
    for count in (100, 100, 1000):
        path = tmp_path / f"{count}.jsonl"
        path.write_text(lines(*(chat(at, "x" * 500) for at in range(count))))
        tracemalloc.start()
        tracemalloc.clear_traces()  # of who has started it before
        try:
            assert sum(1 for _ in each_run(str(path), None, wanted=None)) == count
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[2] < 1.5 * peaks[1]
