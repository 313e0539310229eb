"""What one run of the command line costs, from the start of the process to its end."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path

from conversations import conversation, conversation_bytes
from peer import INSTALL, NOT_INSTALLED
from timing import medians, table, wall

__all__ = ["report"]

_SEED = 7
_ROUNDS = 21
_HERE = Path(__file__).parent
_DOCUMENT = "document.yaml"


def report(_: int, hotato: str | None) -> None:
    """Measure and print the section."""
    averment = str(Path(sys.executable).with_name("averment"))
    with tempfile.TemporaryDirectory() as folder:
        whole, transcript, trace = (
            str(Path(folder, name)) for name in ("c.json", "transcript.json", "trace.jsonl")
        )
        record = conversation(_SEED, 0)
        meta = {"_meta": True, "schema": "hotato.voice_trace.v1"}
        Path(whole).write_bytes(conversation_bytes(_SEED, 0))
        Path(transcript).write_text(json.dumps(record["transcript"]), "utf-8")
        Path(trace).write_text("\n".join(map(json.dumps, [meta, *record["spans"]])), "utf-8")
        parts = ["--transcript", transcript, "--trace", trace]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "averment --version": [averment, "--version"],
            "averment run DOC CONVERSATION": [averment, "run", _DOCUMENT, whole],
            "averment run DOC, two parts": [averment, "run", _DOCUMENT, *parts],
        }
        if importlib.util.find_spec("averment.__main__"):
            commands["python -m averment run"] = [sys.executable, "-m", "averment", "run", _DOCUMENT, whole]
        if hotato is not None:
            commands["python -c pass (hotato's)"] = [hotato, "-c", "pass"]
            script = str(Path(hotato).with_name("hotato"))
            commands["hotato assert run, two parts"] = [
                script,
                "assert",
                "run",
                "--assertions",
                _DOCUMENT,
                *parts,
            ]
        # Everyone's bytecode is cached, as it is after an installation; the round that doesn't count writes it.
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
        # hotato reads `pack_path` relative to the working folder.
        cases = {name: wall(command, _HERE, environment) for name, command in commands.items()}
        found = medians(cases, _ROUNDS)

    floor = found["python -c pass"]
    rows = [[name, f"{seconds * 1e3:.1f}", f"{seconds / floor:.1f}"] for name, seconds in found.items()]
    if hotato is None:
        rows.append([NOT_INSTALLED, "-", "-"])
    table("Start-up: one conversation, wall", ["", "ms", "x python"], rows)
    ours = found["averment run DOC, two parts"]
    print(
        f"averment run / python -c pass: {found['averment run DOC CONVERSATION'] / floor:.1f} (target: at most 8)"
    )
    if hotato is None:
        print(INSTALL)
    else:
        theirs = found["hotato assert run, two parts"]
        print(f"averment run / hotato assert run: {ours / theirs:.2f} (target: at most 0.5)")
