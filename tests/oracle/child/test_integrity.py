from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
import types
from typing import Any

import pytest

from averment.oracle.child.integrity import Integrity


@pytest.mark.parametrize(
    ("module", "name"),
    [(json, "dumps"), (json, "loads"), (os, "write"), (os, "getpid"), (time, "time"), (random, "random")],
)
def test_a_replaced_function_is_named(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
    """Whoever replaces what results pass through is told of, by the name of what was replaced."""
    integrity = Integrity()
    assert list(integrity.replaced()) == []
    monkeypatch.setattr(module, name, lambda *_: None)
    assert list(integrity.replaced()) == [f"{module.__name__}.{name}"]


def test_a_replaced_builtin_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """`len` that says what the pack likes."""
    integrity = Integrity()
    monkeypatch.setattr("builtins.len", lambda _: 7)
    assert list(integrity.replaced()) == ["builtins.len"]


def test_a_replaced_class_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock of the pack's own, in the place of Python's."""
    integrity = Integrity()
    monkeypatch.setattr("datetime.datetime", object)
    assert list(integrity.replaced()) == ["datetime.datetime"]


def test_a_replaced_module_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who imports `json` later would get the pack's."""
    integrity = Integrity()
    monkeypatch.setitem(sys.modules, "json", types.ModuleType("json"))
    assert list(integrity.replaced()) == ["sys.modules['json']"]


def test_a_removed_function_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Taking away is replacing."""
    integrity = Integrity()
    monkeypatch.delattr(json, "dumps")
    assert list(integrity.replaced()) == ["json.dumps"]


def test_what_programs_set_in_earnest_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks for exceptions, streams and new names in a module are no patches."""
    integrity = Integrity()
    monkeypatch.setattr(sys, "excepthook", print)
    monkeypatch.setattr(sys, "stdout", sys.stderr)
    monkeypatch.setattr(json, "an_own_name", print, raising=False)
    assert list(integrity.replaced()) == []


def _is_left(code: str) -> str:
    """What a process of its own, without threads of other tests, says of itself."""
    asks = "from averment.oracle.child.integrity import is_thread_left; import threading, time\n"
    command = [sys.executable, "-c", f"{asks}{code}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_thread_that_stays_is_seen() -> None:
    """One that waits for something that does not come is left running, until it ends."""
    code = """
done = threading.Event()
thread = threading.Thread(target=done.wait)
thread.start()
print(is_thread_left())
done.set()
thread.join()
print(is_thread_left())
"""
    assert _is_left(code).split() == ["True", "False"]


def test_a_thread_that_is_about_to_end_may_end() -> None:
    """A thread that the step did not wait for, and that needs no more than a moment, is not left running."""
    code = """
from averment.oracle.child import integrity
integrity._GRACE_S = 60
threading.Thread(target=time.sleep, args=(0.02,)).start()
print(is_thread_left())
"""
    assert _is_left(code) == "False"
