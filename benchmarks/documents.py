"""What reading and checking a document of 5,000 assertions costs, in each of its spellings."""

from __future__ import annotations

import itertools
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from averment import Document
from averment.text.source import read_source
from peer import INSTALL, NOT_INSTALLED, Peer
from timing import Case, medians, table

__all__ = ["assertions", "report"]

_COUNT = 5_000
_ROUNDS = 3
_TARGET = 0.5

Text = Callable[[list[dict[str, Any]]], str]


def assertions(count: int, edition: int = 0) -> list[dict[str, Any]]:
    """Assertions of mixed kinds, three of five with a regular expression that no other edition has."""
    return [_assertion(index, f"{edition}x{index}") for index in range(count)]


def _assertion(index: int, mark: str) -> dict[str, Any]:
    common = {"id": f"check-{index}", "dimension": "policy"}
    kinds: tuple[dict[str, Any], ...] = (
        {"kind": "phrase", "regex": rf"\border(ed)? {mark}\b.{{0,40}}(refund|return)s?", "role": "agent"},
        {"kind": "tool_call", "name": f"tool_{mark}", "args_subset": {"channel": "email", "limit": 5}},
        {"kind": "phrase", "regex": rf"\b(sorry|afraid)[^.]*{mark}", "absent": True},
        {"kind": "tool_result", "name": f"tool_{mark}", "result_subset": {"status": "ok"}},
        {"kind": "outcome", "all_of": [{"phrase": rf"case \d+-{mark}"}, {"tool_called": "close_ticket"}]},
    )
    return {**common, **kinds[index % len(kinds)]}


def _block(items: list[dict[str, Any]]) -> str:
    body = yaml.dump(
        items, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False, width=2**20
    )
    return "version: 1\nassertions:\n" + "".join(f"  {line}\n" for line in body.splitlines())


def _flow(items: list[dict[str, Any]]) -> str:
    return "version: 1\nassertions:\n" + "".join(f"  - {_flow_value(item)}\n" for item in items)


def _flow_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow_value, value)) + "]"
    return f"'{value}'" if isinstance(value, str) else json.dumps(value)


def _json(items: list[dict[str, Any]]) -> str:
    return json.dumps({"version": 1, "assertions": items}, indent=2)


def report(_: int, hotato: str | None) -> None:
    """Measure and print the section."""
    editions = itertools.count()

    def fresh(text: Text, work: Callable[[str], object]) -> Case:
        """CPU seconds on a document whose patterns were never seen before: compiled ones are remembered."""

        def case() -> float:
            document = text(assertions(_COUNT, next(editions)))
            start = time.process_time()
            work(document)
            return time.process_time() - start

        return case

    spellings: dict[str, Text] = {"block YAML": _block, "flow YAML": _flow, "JSON": _json}
    cases = {"json.loads (floor)": fresh(_json, json.loads)}
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    cases["yaml.load, block YAML (floor)"] = fresh(_block, lambda text: yaml.load(text, Loader=loader))  # noqa: S506
    for name, text in spellings.items():
        cases[f"{name}: read the text"] = fresh(text, read_source)
        cases[f"{name}: read and check"] = fresh(text, Document.parse)
    if hotato is None:
        found = medians(cases, _ROUNDS)
    else:
        with tempfile.TemporaryDirectory() as folder:
            document, conversations = Path(folder, "document.json"), Path(folder, "none.jsonl")
            document.write_text(_json(assertions(_COUNT)), "utf-8")
            conversations.write_bytes(b"")
            with Peer(hotato, conversations, document) as peer:
                found = medians({**cases, "hotato, JSON: read and check": peer.case("validate")}, _ROUNDS)

    rows = [[name, f"{seconds:.3f}", f"{seconds / _COUNT * 1e6:.0f}"] for name, seconds in found.items()]
    if hotato is None:
        rows.append([NOT_INSTALLED, "-", "-"])
    table(f"Documents: {_COUNT:,} assertions, CPU", ["", "seconds", "us each"], rows)
    slowest = max(found[f"{name}: read and check"] for name in spellings)
    print(f"slowest spelling: {slowest:.2f} s (target: {_TARGET})")
    if hotato is None:
        print(INSTALL)
