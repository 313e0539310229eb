"""The peer's part, run by the interpreter of a side environment: averment's own process never imports hotato.

    python side.py CONVERSATIONS.jsonl DOCUMENT

Each line on standard input names a task, and one line of JSON answers it: for `statuses` the status of every
assertion for every conversation, for the others the CPU seconds that they took. Paths in the document are relative
to the working folder, as hotato reads them.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

from hotato.assert_ import (  # type: ignore[import-not-found]
    build_context,
    parse_assertions_yaml,
    run_assertions,
    validate_assertions_doc,
)
from hotato.state_adapter import MockStateAdapter  # type: ignore[import-not-found]


def _judge(document: Any, record: Any) -> Any:
    state = record.get("state")
    context = build_context(
        transcript=record.get("transcript"),
        spans=record.get("spans"),
        timing=record.get("timing"),
        state_adapter=None if state is None else MockStateAdapter(state),
    )
    return run_assertions(document, context)


def main() -> None:
    """Answer tasks until standard input ends."""
    lines = Path(sys.argv[1]).read_bytes().splitlines()
    records = [json.loads(line) for line in lines]
    text = Path(sys.argv[2]).read_text("utf-8")
    document = parse_assertions_yaml(text)

    def statuses() -> Any:
        return [[result["status"] for result in _judge(document, record)["results"]] for record in records]

    def judge() -> None:
        for record in records:
            _judge(document, record)

    def whole() -> None:
        for line in lines:
            json.dumps(_judge(document, json.loads(line)), indent=2, ensure_ascii=False).encode()

    def validate() -> None:
        validate_assertions_doc(parse_assertions_yaml(text))

    measured = {"judge": judge, "whole": whole, "validate": validate}
    for line in sys.stdin:
        task = line.strip()
        if task == "statuses":
            answer = statuses()
        else:
            gc.collect()
            start = time.process_time()
            measured[task]()
            answer = time.process_time() - start
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
