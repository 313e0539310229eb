"""The life of one worker: it seals itself, loads a module of the pack, and answers steps until it is ended.

A step is a message with an `op`; the answer is `{"ok": ...}`, or `{"err": {...}}` with what was raised and where. The
functions of a backend are called by the worker; the trace of calls is the parent's affair, and assertions run in a
worker of their own, which has no backend.
"""

from __future__ import annotations

import datetime as dt
import errno
import inspect
import json
import os
import resource
from collections.abc import Callable, Mapping
from types import ModuleType, TracebackType
from typing import Any

from averment.oracle.child import frames, loading
from averment.oracle.child.assertions import exports, inspect_exports, run_assertion
from averment.oracle.child.frozen import frozen
from averment.oracle.child.scan import scan

__all__ = ["RunContext", "Worker"]

_MOST_TEXT = 2000
_type_name: Callable[[type], str] = type.__dict__["__name__"].__get__  # a metaclass can't answer in its place
_SYMBOLS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "list_tools": ((), {}),
    "reset": ((), {"ctx": None, "fixtures": None}),
    "call_tool": (("name", {}), {"ctx": None}),
    "get_state": ((), {}),
}
"""The functions of a backend, and what they are called with."""


class RunContext:
    """What the pack's code is given as `ctx`; it can't be changed.

    Attributes:
        clock: an aware datetime.
        seed: an integer.
        timeout_s: the deadline of a tool, in seconds.
        task_id: the task.
        turn_index: the assistant's turn that issues the call, from 0; 0 at reset.
    """

    __slots__ = ("clock", "seed", "task_id", "timeout_s", "turn_index")

    clock: dt.datetime
    seed: int
    timeout_s: float
    task_id: str
    turn_index: int

    def __init__(self, given: Mapping[str, Any], turn_index: int) -> None:
        put = object.__setattr__
        put(self, "clock", dt.datetime.fromisoformat(given["clock"]))
        put(self, "seed", given["seed"])
        put(self, "timeout_s", given["timeout_s"])
        put(self, "task_id", given["task_id"])
        put(self, "turn_index", turn_index)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"ctx can't be changed: `{name}`")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"ctx can't be changed: `{name}`")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"RunContext({shown})"


class Worker:
    """Answers the steps of one episode.

    Args:
        root: the pack's folder.
        path: the module to load, or None.
        fixtures: the text of the fixtures, or None.
        most: the longest answer, in bytes.
    """

    def __init__(self, root: str, path: str | None, fixtures: str | None, most: int) -> None:
        self._root = root + os.sep
        self._folder = root
        self._scratch = os.getcwd()
        self._path = path
        self._fixtures = fixtures
        self._most = most
        self._module = ModuleType("nothing")
        self._context: dict[str, Any] = {}
        self._evidence: dict[str, Any] = {}
        self._turn = 0
        self._last_state = b""
        self._ops: dict[str, Callable[[dict[str, Any]], Any]] = {
            "import": self._import,
            "begin": self._begin,
            "inspect": self._inspect,
            "list_tools": lambda _: self._function("list_tools")(),
            "reset": self._reset,
            "call_tool": self._call,
            "get_state": lambda _: self._function("get_state")(),
            "inspect_assertions": self._inspect_assertions,
            "evidence": self._take_evidence,
            "run_assertion": self._run_assertion,
            "scan": self._scan,
            "hang": _hang,
        }

    def answer(self, step: dict[str, Any]) -> bytes:
        """The bytes of the answer to a step; what the pack raises is an answer too."""
        try:
            value = self._ops[step["op"]](step)
            if step["op"] == "get_state":
                return self._state_answer(value)
            return b'{"ok":' + frames.encode(value, self._most) + b"}"
        except BaseException as error:  # noqa: BLE001 - SystemExit as well: the pack says nothing to its parent itself
            return frames.encode({"err": self._described(error)}, self._most)

    def _state_answer(self, value: object) -> bytes:
        """The state, or that it is what it was: most calls change nothing, and states can be large."""
        data = frames.encode(value, self._most)
        if data == self._last_state:
            return b'{"same":true}'
        self._last_state = data
        return b'{"ok":' + data + b"}"

    def _import(self, _step: dict[str, Any]) -> None:
        if self._path is not None:
            stem = os.path.basename(self._path).removesuffix(".py")
            self._module = loading.load(self._path, self._folder, f"averment_pack_{stem}")

    def _begin(self, step: dict[str, Any]) -> None:
        self._context = step["context"]

    def _function(self, name: str) -> Callable[..., Any]:
        function = getattr(self._module, name, None)
        if not callable(function):
            raise _MissingError(f"there is no function `{name}`")
        return function  # type: ignore[no-any-return]

    def _reset(self, _step: dict[str, Any]) -> None:
        self._turn = 0
        fixtures = None if self._fixtures is None else json.loads(self._fixtures)
        self._function("reset")(ctx=RunContext(self._context, 0), fixtures=fixtures)

    def _call(self, step: dict[str, Any]) -> Any:
        self._turn = step["turn_index"]
        context = RunContext(self._context, self._turn)
        return self._function("call_tool")(step["name"], step["arguments"], ctx=context)

    def _inspect(self, _step: dict[str, Any]) -> dict[str, Any]:
        """For each function of a backend: whether it is there, and why it can't be called as it will be."""
        found: dict[str, Any] = {}
        for name, (args, named) in _SYMBOLS.items():
            function = getattr(self._module, name, None)
            found[name] = {"callable": callable(function), "line": _line(function), "mismatch": None}
            if callable(function):
                found[name]["mismatch"] = _mismatch(function, args, named)
        return found

    def _inspect_assertions(self, step: dict[str, Any]) -> Any:
        return inspect_exports(self._module, step["source"])

    def _take_evidence(self, step: dict[str, Any]) -> None:
        """What the next assertions are about; each gets copies of its own."""
        self._evidence = step

    def _run_assertion(self, step: dict[str, Any]) -> Any:
        name, evidence = step["name"], self._evidence
        known = exports(self._module)
        if name not in known:
            raise _MissingError(f"there is no assertion `{name}`")
        verdict = run_assertion(
            known[name],
            name,
            state=frozen(evidence["state"]),
            trace=frozen(evidence["trace"]),
            task=evidence["task"],
            ctx=RunContext(self._context, evidence["turn_index"]),
            unresolved=evidence.get("unresolved"),
            file=self._path,
        )
        if verdict["detail"] is not None:
            verdict["detail"] = self._shown(verdict["detail"])
        return verdict

    def _scan(self, step: dict[str, Any]) -> Any:
        sources = step["sources"]
        own = {part.removesuffix(".py") for name in sources for part in name.split("/")}
        return {name: scan(source, own) for name, source in sources.items()}

    def _described(self, error: BaseException) -> dict[str, Any]:
        """What was raised, without any path that only this machine has."""
        trouble = next((name for kind, name in _TROUBLES.items() if isinstance(error, kind)), "raised")
        frames_in_pack = self._frames(error.__traceback__)
        last = frames_in_pack[-1] if frames_in_pack else (None, None, None)
        file = str(error.filename) if isinstance(error, SyntaxError) else ""
        if isinstance(error, SyntaxError) and file.startswith(self._root):
            last = (self._inside(file), error.lineno, None)
        return {
            "trouble": trouble,
            "type": _type_name(type(error)),
            "message": self._message(error),
            "file": last[0],
            "line": last[1],
            "frames": [f"{file}:{line} in {function}" for file, line, function in frames_in_pack[-20:]],
        }

    def _message(self, error: BaseException) -> str:
        try:
            text = str.__str__(str(error.msg) if isinstance(error, SyntaxError) else str(error))
        except BaseException:  # noqa: BLE001 - an exception can be anything, and so can what its text raises
            text = "its text can't be had"
        if isinstance(error, OSError) and error.errno == errno.EFBIG:
            most = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
            text = f"more than {most} bytes were printed in one episode, or written to one file"
        return self._shown(text[:_MOST_TEXT].encode("utf-8", "backslashreplace").decode())

    def _shown(self, text: str) -> str:
        """A text of the pack without the paths that only this machine has."""
        return text.replace(self._root, "").replace(self._scratch, "<scratch>")

    def _frames(self, trace: TracebackType | None) -> list[tuple[str | None, int | None, str | None]]:
        found: list[tuple[str | None, int | None, str | None]] = []
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename.startswith(self._root):
                found.append((self._inside(code.co_filename), trace.tb_lineno, code.co_name))
            trace = trace.tb_next
        return found

    def _inside(self, path: str) -> str:
        return path[len(self._root) :].replace(os.sep, "/")


class _MissingError(Exception):
    """The module has no such function."""


_TROUBLES = {
    _MissingError: "missing_symbol",
    frames.NotJsonError: "result_not_json",
    frames.TooLargeError: "result_too_large",
}


def _hang(_step: dict[str, Any]) -> None:
    """The step of check T1: it keeps the processor busy and never returns."""
    while True:
        pass


def _line(function: object) -> int | None:
    code = getattr(function, "__code__", None)
    line = getattr(code, "co_firstlineno", None)
    return line if isinstance(line, int) else None


def _mismatch(function: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]) -> str | None:
    """Why the function can't be called with these arguments; proven by binding them."""
    try:
        inspect.signature(function, follow_wrapped=False).bind(*args, **named)
    except TypeError as error:
        return str(error)
    except ValueError:  # a function without a signature
        return None
    return None
