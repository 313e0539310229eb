"""What one conversation costs in a process that judges many, against floors and a peer."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import averment
from conversations import conversation_bytes
from peer import INSTALL, NOT_INSTALLED, Peer
from timing import cpu, medians, table

__all__ = ["report"]

_SEED = 7
_ROUNDS = 7
_DOCUMENT = Path(__file__).parent / "document.yaml"


def report(conversations: int, hotato: str | None) -> None:
    """Measure and print the section."""
    lines = [conversation_bytes(_SEED, index) for index in range(conversations)]
    records = [json.loads(line) for line in lines]
    evidence = [averment.Evidence.from_bytes(line) for line in lines]
    plan = averment.compile_plan(averment.Document.load(_DOCUMENT))
    patterns = [re.compile(one.source, re.IGNORECASE if one.ignore_case else 0) for one in plan.patterns]
    texts = [[turn["text"] for turn in record["transcript"]] for record in records]

    def naive(turns: Sequence[str]) -> list[list[int]]:
        return [[i for i, text in enumerate(turns) if pattern.search(text)] for pattern in patterns]

    def whole(line: bytes) -> bytes:
        return averment.run_plan(plan, averment.Evidence.from_bytes(line)).to_json()

    envelopes = [averment.run_plan(plan, one) for one in evidence]
    cases = {
        "json.loads (decode floor)": _each(json.loads, lines),
        "Evidence.from_bytes": _each(averment.Evidence.from_bytes, lines),
        "Evidence.from_bytes and its digest": _each(
            lambda line: averment.Evidence.from_bytes(line).sha256, lines
        ),
        "naive loop of re searches": _each(naive, texts),
        "run_plan, evidence and digest ready": _each(lambda one: averment.run_plan(plan, one), evidence),
        "Envelope.to_json": _each(lambda one: one.to_json(), envelopes),
        "bytes in, envelope bytes out": _each(whole, lines),
    }
    measured = {name: cpu(work) for name, work in cases.items()}
    judge, everything = "hotato, evidence decoded", "hotato, bytes in, envelope bytes out"
    if hotato is None:
        found = medians(measured, _ROUNDS)
    else:
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            file.write(b"\n".join(lines))
            file.flush()
            with Peer(hotato, Path(file.name), _DOCUMENT) as peer:
                ours = [[result.status.value for result in envelope.results] for envelope in envelopes]
                _same(ours, peer.ask("statuses"), [assertion.id for assertion in plan.document.assertions])
                measured |= {judge: peer.case("judge"), everything: peer.case("whole")}
                found = medians(measured, _ROUNDS)

    total = found["bytes in, envelope bytes out"]
    rows = [
        [
            name,
            f"{seconds / conversations * 1e6:,.0f}",
            f"{conversations / seconds:,.0f}",
            f"{seconds / total:.2f}",
        ]
        for name, seconds in found.items()
    ]
    if hotato is None:
        rows.append([NOT_INSTALLED, "-", "-", "-"])
    size = sum(map(len, lines)) / conversations / 1000
    table(
        f"In process: {len(plan.entries)} assertions, {len(plan.patterns)} patterns, {conversations} conversations of "
        f"{size:.1f} KB, CPU",
        ["", "us each", "a second", "x whole"],
        rows,
    )
    statuses = [result.status.value for envelope in envelopes for result in envelope.results]
    print(
        "verdicts:", ", ".join(f"{statuses.count(name)} {name}" for name in ("PASS", "FAIL", "INCONCLUSIVE"))
    )
    if hotato is None:
        print(INSTALL)
    else:
        print(f"equal statuses: all {len(statuses)}")
        ratio = found[everything] / total
        lean = found[judge] / found["run_plan, evidence and digest ready"]
        print(f"hotato / averment: {ratio:.1f} from bytes to bytes (target: 10), {lean:.1f} judging alone")


def _each(work: Callable[[Any], object], items: Sequence[Any]) -> Callable[[], None]:
    def run() -> None:
        for item in items:
            work(item)

    return run


def _same(ours: list[list[str]], theirs: list[list[str]], names: list[str]) -> None:
    """Speed means nothing if the answers differ."""
    differences = [
        f"conversation {index}, {name}: {mine}, hotato {other}"
        for index, (left, right) in enumerate(zip(ours, theirs, strict=True))
        for name, mine, other in zip(names, left, right, strict=True)
        if mine != other
    ]
    if differences:
        raise SystemExit("statuses differ from the peer's:\n" + "\n".join(differences[:20]))
